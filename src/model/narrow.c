// narrow.c: the tapes of pairs of shapes, and which of them are asked.
//
// A pair whose bound (SHP-10) is larger than its margin answers with the bound for its gaps, and costs nothing beyond
// it.  That depends on t and q alone, so the same arguments give the same bits, and no history is needed.  Everything
// else is computed for pairs that hold a contact of the set asked for.  Pairs of a kind take turns in the work blocks
// of their tape: what is there of another pair is computed anew.
#include "expr/tape.h"
#include "model/pairs.h"
#include <float.h>
#include <math.h>
#include <string.h>

span carom_model_span(const carom_model *m, int id) {
    const int dir = id < m->ne + m->nc ? m->links[id].dir : m->ndir;
    span s = {id, dir, m->place.W[dir], 0, m->place.dW[dir], m->place.dw[dir]};
    while (s.w < m->w.n && m->w.i[s.w] < dir) ++s.w;
    return s;
}

void carom_kind_sizes(const pair_kind *k, const pair *p, double *x) {
    const shape *const both[2] = {p->A, p->B};
    for (int i = 0; i < 2; ++i) {
        if (!k->sized[i]) continue;
        for (int j = 0; j < PIECE_NUMBERS && both[i]->piece; ++j) *x++ = both[i]->piece->x[j];
        if (both[i]->piece) continue;
        for (int j = 0; j < 3; ++j) *x++ = both[i]->kind == SHAPE_ROUND ? both[i]->radius : both[i]->half[j];
        *x++ = both[i]->bound_radius;
    }
}

// -- work -------------------------------------------------------------------------------------------------------------

static unsigned char *block(const carom_model *m, void *work, size_t offset) {
    return (void)m, (unsigned char *)work + offset;
}

// Head of their work: are all gaps exact? do answers belong to features that are held? are those of the point kept
// there known, 1 or, exactly, 2?
enum { EXACT, HELD, KNOWN, BOUNDS };

// By pair: the bounds, their rates, and which held block it has; by kind: how many are taken; t and q where they were
// held last.
static size_t head_size(const carom_model *m) {
    const bool holds = m->npairs || (m->near && m->near->held_size);
    return !holds ? BOUNDS : (size_t)(BOUNDS + 3 * m->npairs + m->nkinds + 1 + m->nq);
}

/// At the end of a block that several pairs use: whose sizes it has.
typedef struct last_pair { const shape *A, *B; } last_pair;

size_t carom_pairs_work(carom_model *m, size_t from) {
    enum { LINE = 63, FEW_SHAPES = 128, MOST_BLOCKS = 64 }; // a list of few pairs has a block for each
    static const size_t ROOM = (size_t)1 << 22; // bytes for the blocks of one kind
    size_t end = (from + LINE) & ~(size_t)LINE;
    for (int i = 0; i < m->nkinds; ++i) {
        pair_kind *k = &m->kinds[i];
        if (k->patch) continue;
        k->held_size = (carom_tape_held_size(k->two->pairs->own->tape) + LINE) & ~(size_t)LINE;
        if (k->first->listed && carom_tape_piecewise(k->two->pairs->own->tape) && k->held_size > m->near->held_size)
            m->near->held_size = k->held_size;
    }
    m->at.narrow = end;
    if (m->npairs || m->near) end += head_size(m) * sizeof(double);
    if (m->near) m->near->at = end, end += sizeof(double);
    if (m->near) m->near->belts_at = end, end += 6 * (size_t)m->near->nbelts * sizeof(double);
    m->lone_pairs = 0;
    for (int i = 0; i < m->npairs; ++i) {
        if (m->pairs[i].shares) continue;
        ++m->lone_pairs;
        m->pairs[i].own->work = end = (end + LINE) & ~(size_t)LINE;
        end += carom_tape_work_size(m->pairs[i].own->tape);
    }
    size_t listed = 1;
    for (int i = 0; i < m->nkinds; ++i) {
        pair_kind *k = &m->kinds[i];
        if (k->patch) continue;
        k->size = (carom_tape_work_size(k->two->pairs->own->tape) + sizeof(last_pair) + LINE) & ~(size_t)LINE;
        if (k->first->listed) listed += k->size;
    }
    if (m->near) {
        const size_t most = m->near->nshapes <= FEW_SHAPES ? MOST_BLOCKS : MOST_LANES, room = ROOM / listed;
        m->near->blocks = room > most ? (int)most : room > 1 ? (int)room : 1;
        m->near->lanes = m->near->blocks < MOST_LANES ? m->near->blocks : MOST_LANES;
        m->near->room = end = (end + LINE) & ~(size_t)LINE;
        end += (size_t)m->near->lanes * (size_t)m->pair_count * sizeof(double);
    }
    for (int i = 0; i < m->nkinds; ++i) {
        pair_kind *k = &m->kinds[i];
        if (k->patch) continue;
        k->blocks = k->first->listed             ? m->near->blocks
                    : k->count * k->size <= ROOM ? k->count
                    : k->size < ROOM             ? (int)(ROOM / k->size)
                                                 : 1;
        k->work = end = (end + LINE) & ~(size_t)LINE;
        end += (size_t)k->blocks * k->size;
    }
    for (int i = 0; i < m->npairs; ++i) { // apart: most runs never touch it
        if (m->pairs[i].shares) continue;
        m->pairs[i].own->held = end = (end + LINE) & ~(size_t)LINE;
        end += carom_tape_held_size(m->pairs[i].own->tape);
    }
    for (int i = 0; i < m->nkinds; ++i) {
        pair_kind *k = &m->kinds[i];
        if (k->patch || k->first->listed) continue; // those of a list are held there: near.c
        if (!carom_tape_piecewise(k->two->pairs->own->tape)) continue; // one feature alone: nothing is to be held
        k->held = end = (end + LINE) & ~(size_t)LINE;
        end += (size_t)k->count * k->held_size;
    }
    return end;
}

static double *head(const carom_model *m, void *work) { return (double *)(void *)block(m, work, m->at.narrow); }

static size_t turn_of(const pair_kind *k, const pair *p) { return k->work + (size_t)(p->rank % k->blocks) * k->size; }

static last_pair *last_in(const pair_kind *k, void *turn) {
    return (last_pair *)(void *)((unsigned char *)turn + k->size) - 1;
}

// Every pair has a block of its own, which knows its sizes from the start.
static inline bool own_blocks(const pair_kind *k) { return !k->first->listed && k->blocks == k->count; }

void carom_pairs_work_init(const carom_model *m, void *work) {
    if (m->npairs || m->near) carom_zero(head(m, work), (ptrdiff_t)head_size(m));
    double size[MOST_SIZES];
    for (int i = 0; i < m->npairs; ++i) {
        const pair *p = &m->pairs[i];
        const pair_kind *k = p->shares ? &m->kinds[p->kind] : NULL;
        if (!k) carom_tape_work_init(p->own->tape, block(m, work, p->own->work), m->parameter);
        else if (!k->patch && own_blocks(k))
            carom_kind_sizes(k, p, size),
                carom_tape_work_init(k->two->pairs->own->tape, block(m, work, turn_of(k, p)), size);
    }
    for (int i = 0; i < m->nkinds; ++i) {
        const pair_kind *k = &m->kinds[i];
        if (k->patch || own_blocks(k)) continue;
        carom_kind_sizes(k, k->first, size);
        for (int b = 0; b < k->blocks; ++b) {
            void *turn = block(m, work, k->work + (size_t)b * k->size);
            carom_tape_work_init(k->two->pairs->own->tape, turn, size);
            *last_in(k, turn) = (last_pair){k->first->A, k->first->B};
        }
    }
}

void carom_pairs_parameters(const carom_model *m, void *work, const double *parameter) {
    if (m->npairs) head(m, work)[KNOWN] = 0;
    for (int i = 0; i < m->npairs; ++i)
        if (!m->pairs[i].shares)
            carom_tape_work_parameters(m->pairs[i].own->tape, block(m, work, m->pairs[i].own->work), parameter);
}

void carom_pairs_exact(const carom_model *m, void *work, bool exact) { if (m->npairs) head(m, work)[EXACT] = exact; }

void carom_pairs_unknown(const carom_model *m, void *work) { head(m, work)[KNOWN] = 0; }

// -- answers ----------------------------------------------------------------------------------------------------------

static int infinite(const double *x, int n) {
    int bad = 0;
    for (int i = 0; i < n; ++i) bad |= !(fabs(x[i]) <= DBL_MAX);
    return bad;
}

// Which held block pair i has, from 1 on; 0: its features are free; -1: it is held, and has one feature alone.
static double *held_of(const carom_model *m, void *work, int i) { return head(m, work) + BOUNDS + 2 * m->npairs + i; }

// The same now: 0 unless answers belong to features that are held.
static inline int held_block(const carom_model *m, void *work, const pair *p) {
    return head(m, work)[HELD] == 0 ? 0 : p->listed ? p->holds : (int)*held_of(m, work, (int)(p - m->pairs));
}

static void *held_tape(const carom_model *m, void *work, const pair *p, int held) {
    const pair_kind *k = &m->kinds[p->kind];
    return !p->shares  ? block(m, work, p->own->held)
           : p->listed ? p->held
                       : block(m, work, k->held + (size_t)(held - 1) * k->held_size);
}

// Held beyond where its formulas make sense (a distance from a corner that has come to zero), a contact has no
// direction.
static int checked(const carom_model *m, void *work, const pair *p, double *x, int n) {
    if (held_block(m, work, p) == 0) return infinite(x, n);
    for (int i = 0; i < n; ++i)
        if (!(fabs(x[i]) <= DBL_MAX)) x[i] = 0;
    return 0;
}

// Those of two bodies, one behind the other: n[0] from at[0] on, n[1] from at[1] on.
static inline const double *of_both(const double *x, const int at[2], const int n[2], double *room) {
    if (n[0] == 0) return x + at[1];
    if (n[1] == 0 || at[1] == at[0] + n[0]) return x + at[0];
    double *to = room;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < n[i]; ++j) *to++ = x[at[i] + j];
    return room;
}

static bool reads_velocities(pair_group group) {
    return group == PAIR_RATES || group == PAIR_CURVATURE || group == PAIR_RATE_GRADIENT;
}

static inline void take_sizes(const pair_kind *k, const pair *p, void *turn) {
    last_pair *of = last_in(k, turn);
    double size[MOST_SIZES];
    if (of->A == p->A && of->B == p->B) return;
    *of = (last_pair){p->A, p->B};
    carom_kind_sizes(k, p, size);
    carom_tape_work_parameters(k->two->pairs->own->tape, turn, size);
}

// The tape of a kind at the positions and velocities of the bodies of one of its pairs; held > 0: on the features of
// that block.
static inline carom_values ask_kind(const carom_model *m, void *work, const pair *p, int held, pair_group group,
                                    const double *q, const double *v) {
    const pair_kind *k = &m->kinds[p->kind];
    const carom_tape *tape = k->two->pairs->own->tape;
    void *turn = block(m, work, turn_of(k, p));
    double at[14], rate[12];
    if ((k->sized[0] || k->sized[1]) && !own_blocks(k)) take_sizes(k, p, turn);
    const double *q_two = of_both(q, p->q_at, k->nq, at),
                 *v_two = reads_velocities(group) ? of_both(v, p->v_at, k->nv, rate) : v;
    if (held > 0) return carom_tape_values_held(tape, turn, held_tape(m, work, p, held), group, 0, q_two, v_two);
    return carom_tape_values(tape, turn, group, 0, q_two, v_two);
}

static int group_count(const carom_model *two, const pair *p, pair_group group) {
    switch (group) {
    case PAIR_GAPS: return p->count;
    case PAIR_DIRECTIONS: return two->W.n;
    case PAIR_RATES: case PAIR_CURVATURE: return two->ndir;
    case PAIR_REACTION_GRADIENT: case PAIR_RATE_GRADIENT: return two->dW.n;
    case PAIR_PLACES: case PAIR_GROUPS: break;
    }
    return PAIR_PLACE * p->count;
}

static void take(carom_values values, int n, double *x) {
    for (int i = 0; i < n; ++i) x[i] = values.slot[values.place[i]];
}

static void ask(const carom_model *m, void *work, const pair *p, pair_group group, double t, const double *q,
                const double *v, double *x) {
    const int held = held_block(m, work, p);
    if (p->shares && m->kinds[p->kind].patch) carom_patch_eval(m, p, group, q, v, x);
    else if (p->shares) take(ask_kind(m, work, p, held, group, q, v), group_count(m->kinds[p->kind].two, p, group), x);
    else if (held > 0)
        take(carom_tape_values_held(p->own->tape, block(m, work, p->own->work), held_tape(m, work, p, held), group, t,
                                    q, v),
             p->own->tape->group[group].count, x);
    else carom_tape_eval(p->own->tape, block(m, work, p->own->work), group, t, q, v, x);
}

int carom_pair_eval(const carom_model *m, void *work, const pair *p, pair_group group, const double *q, const double *v,
                    double *x) {
    if (m->kinds[p->kind].patch) return carom_patch_eval(m, p, group, q, v, x);
    const carom_model *two = m->kinds[p->kind].two;
    if (held_block(m, work, p) == 0)
        return !carom_values_take(ask_kind(m, work, p, 0, group, q, v), 0, group_count(two, p, group), x);
    ask(m, work, p, group, 0, q, v, x);
    return checked(m, work, p, x, group_count(two, p, group));
}

bool carom_pair_values(const carom_model *m, void *work, const pair *p, pair_group group, const double *q,
                       const double *v, carom_values *x) {
    if (m->kinds[p->kind].patch) return false;
    *x = ask_kind(m, work, p, held_block(m, work, p), group, q, v);
    return true;
}

static double *bounds(const carom_model *m, void *work, double t, const double *q) {
    double *x = head(m, work) + BOUNDS;
    carom_model_eval(m, work, GROUP_BOUNDS, t, q, m->v0, x);
    return x;
}

// A pair that is held on its features is not far, wherever a long step has led: the gap of a closed contact shows there
// that it has run off.
static bool far(const carom_model *m, void *work, const pair *p, double bound) {
    return bound > p->own->margin && head(m, work)[EXACT] == 0 && p->own->bound != CAROM_NONE &&
           held_block(m, work, p) == 0;
}

carom_status carom_pairs_own_gaps(const carom_model *m, void *work, double t, const double *q, double *g) {
    if (m->npairs == 0) return CAROM_OK;
    int bad = 0;
    const double *v = m->v0, *bound = bounds(m, work, t, q);
    carom_model_look(m, work, &q, &v, false);
    for (int i = 0; i < m->npairs; ++i) {
        const pair *p = &m->pairs[i];
        double *to = g + p->first;
        if (far(m, work, p, bound[i])) { // NaN is not, and infinity stands once for all
            for (int k = 0; k < p->count; ++k) to[k] = bound[i];
            bad |= infinite(to, 1);
            continue;
        }
        if (p->shares && !m->kinds[p->kind].patch) {
            bad |= carom_pair_eval(m, work, p, PAIR_GAPS, q, v, to);
            continue;
        }
        ask(m, work, p, PAIR_GAPS, t, q, v, to);
        bad |= checked(m, work, p, to, p->count);
    }
    return bad ? CAROM_USER : CAROM_OK;
}

// Where the lists of a group lie for the contacts from some id on.
static void places(const span *s, pair_group group, int *first, int *second) {
    *second = group == PAIR_DIRECTIONS ? s->w : s->dw;
    *first = group == PAIR_GAPS                               ? s->links
             : group == PAIR_DIRECTIONS                       ? s->W
             : group == PAIR_RATES || group == PAIR_CURVATURE ? s->dir
                                                              : s->dW;
}

static int eval(const carom_model *m, void *work, const pair *p, pair_group group, double t, const double *q,
                const double *v, double *x, int second) {
    const span a = p->own->from, b = p->own->to;
    int at, rest, end, rest_end;
    places(&a, group, &at, &rest);
    places(&b, group, &end, &rest_end);
    const int count = end - at, more = group == PAIR_DIRECTIONS || group == PAIR_RATE_GRADIENT ? rest_end - rest : 0;
    double *all = more ? carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv : x + at;
    ask(m, work, p, group, t, q, v, all);
    const int bad = checked(m, work, p, all, count + more);
    if (more) {
        carom_copy(x + at, all, count);
        carom_copy(x + second + rest, all + count, more);
    }
    return bad;
}

carom_status carom_pairs_rates(const carom_model *m, void *work, double t, const double *q, const double *v,
                               double *u) {
    if (m->npairs == 0) return CAROM_OK;
    int bad = 0;
    const double *bound = bounds(m, work, t, q);
    double *rate = head(m, work) + BOUNDS + m->npairs;
    carom_model_eval(m, work, GROUP_BOUND_RATES, t, q, v, rate);
    carom_model_look(m, work, &q, &v, false);
    for (int i = 0; i < m->npairs; ++i) {
        const pair *p = &m->pairs[i];
        const constraint *c = &m->links[p->first];
        if (far(m, work, p, bound[i]))
            for (int k = 0; k < p->count; ++k)
                for (int j = 0; j < c[k].ndir; ++j) u[c[k].dir + j] = j ? 0 : rate[i];
        else if (p->shares) bad |= carom_pair_eval(m, work, p, PAIR_RATES, q, v, u + c->dir);
        else bad |= eval(m, work, p, PAIR_RATES, t, q, v, u, 0);
    }
    return bad ? CAROM_USER : CAROM_OK;
}

carom_status carom_pairs_eval(const carom_model *m, void *work, pair_group group, double t, const double *q,
                              const double *v, const int *id, int n, double *x, int second) {
    int bad = 0, k = 0;
    if (m->lone_pairs == 0) return CAROM_OK;
    carom_model_look(m, work, &q, &v, false);
    for (int i = 0; i < m->npairs; ++i) {
        const pair *p = &m->pairs[i];
        if (p->shares) continue;
        while (k < n && id[k] < p->first) ++k;
        if (k == n) break;
        if (id[k] >= p->first + p->count) continue;
        bad |= eval(m, work, p, group, t, q, v, x, second);
    }
    return bad ? CAROM_USER : CAROM_OK;
}

// Mostly only gaps of an open pair will be needed; of one that touches, all is evaluated before the tape is copied.
static bool touches(const double *g, int n) {
    static const double NEAR = 1e-6; // m: only the cost depends on it
    for (int i = 0; i < n; ++i)
        if (g[i] < NEAR) return true;
    return false;
}

// The tape of a near pair is held at (t, q).  Its pieces do not depend on velocities.
static void hold(const carom_model *m, void *work, const pair *p, int block_of, double t, const double *q,
                 const double *v) {
    double *x = carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv;
    ask(m, work, p, PAIR_GAPS, t, q, v, x);
    if (touches(x, p->count)) {
        ask(m, work, p, PAIR_DIRECTIONS, t, q, v, x);
        ask(m, work, p, PAIR_CURVATURE, t, q, v, x);
    }
    const pair_kind *k = &m->kinds[p->kind];
    if (!p->shares) carom_tape_hold(p->own->tape, block(m, work, p->own->work), held_tape(m, work, p, block_of));
    else carom_tape_hold(k->two->pairs->own->tape, block(m, work, turn_of(k, p)), held_tape(m, work, p, block_of));
}

carom_status carom_pairs_freeze(const carom_model *m, void *work, carom_freeze what, double t, const double *q,
                              pair *listed, int n) {
    double *h = head(m, work), *taken = held_of(m, work, m->npairs), *point = taken + m->nkinds;
    const size_t size = (size_t)m->nq * sizeof *q;
    h[HELD] = 0;
    if (what == CAROM_FREEZE && !(h[KNOWN] == 1 + h[EXACT] && point[0] == t && memcmp(point + 1, q, size) == 0)) {
        const double *v = m->v0, *from = q, *bound = bounds(m, work, t, q);
        carom_zero(taken, m->nkinds);
        carom_model_look(m, work, &q, &v, false);
        for (int i = 0; i < m->npairs; ++i) {
            const pair *p = &m->pairs[i];
            double *held = held_of(m, work, i);
            const carom_tape *tape = p->shares ? m->kinds[p->kind].two->pairs->own->tape : p->own->tape;
            *held = far(m, work, p, bound[i])             ? 0
                    : tape && !carom_tape_piecewise(tape) ? -1
                    : p->shares                           ? ++taken[p->kind]
                                                          : 1;
            if (*held > 0) hold(m, work, p, (int)*held, t, q, v);
        }
        for (int i = 0; i < n; ++i) {
            const carom_tape *tape = m->kinds[listed[i].kind].two->pairs->own->tape;
            if (m->kinds[listed[i].kind].patch) continue;
            listed[i].holds = 0; // free, while it is looked at
            if (carom_tape_piecewise(tape)) hold(m, work, &listed[i], 1, t, q, v);
            listed[i].holds = carom_tape_piecewise(tape) ? 1 : -1;
        }
        h[KNOWN] = 1 + h[EXACT];
        point[0] = t;
        memcpy(point + 1, from, size);
    }
    h[HELD] = what != CAROM_RELEASE;
    return CAROM_OK;
}

void carom_pair_places(const carom_model *m, void *work, const pair *p, double t, const double *q, double *x) {
    const double *v = m->v0;
    if (!p->shares) carom_model_look(m, work, &q, &v, false);
    ask(m, work, p, PAIR_PLACES, t, q, v, x);
}
