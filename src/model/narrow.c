// narrow.c: the tapes of pairs of shapes, and which of them are asked.
//
// A pair whose bound (SHP-10) is larger than its margin answers with the bound for its gaps, and costs nothing beyond it.  That
// depends on t and q alone, so the same arguments give the same bits, and no history is needed.  Everything else is computed for pairs that hold a
// contact of the set asked for.
#include "model/solids.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

span carom_model_span(const carom_model *m, int id) {
    const int dir = id < m->ne + m->nc ? m->links[id].dir : m->ndir;
    span s = {id, dir, m->W_at[dir], 0, m->dW_at[dir], m->dw_at[dir]};
    while (s.w < m->w.n && m->w.i[s.w] < dir) ++s.w;
    return s;
}

static carom_group two(carom_node *store, const carom_node *a, int na, const carom_node *b, int nb) {
    if (na) memcpy(store, a, (size_t)na * sizeof *store);
    if (nb) memcpy(store + na, b, (size_t)nb * sizeof *store);
    return (carom_group){.count = na + nb, .nodes = store};
}

// Place k of a list that may be empty, and NULL then.
static const carom_node *from(const carom_node *list, int k) { return list ? list + k : NULL; }

static carom_status compile(carom_model *m, pair *p, const carom_node *kappa, carom_error *err) {
    const span a = p->from = carom_model_span(m, p->first), b = p->to = carom_model_span(m, p->first + p->count);
    const int nW = b.W - a.W, nw = b.w - a.w, ndW = b.dW - a.dW, ndw = b.dw - a.dw, ndir = b.dir - a.dir;
    carom_node *store = calloc((size_t)(p->count + nW + nw + 2 * ndW + ndw + 1), sizeof *store);
    if (!store) return carom_fail(err, CAROM_NO_MEMORY, "no memory for the model %.200s", m->file);
    for (int k = 0; k < p->count; ++k) store[k] = m->links[p->first + k].gap;
    carom_node *at = store + p->count;
    const int both = nW + nw > ndW + ndw ? nW + nw : ndW + ndw;
    if (both > m->pair_count) m->pair_count = both;
    carom_group group[PAIR_GROUPS] = {[PAIR_GAPS] = {.count = p->count, .nodes = store},
                                      [PAIR_RATES] = {.count = ndir, .nodes = from(m->u, a.dir)},
                                      [PAIR_CURVATURE] = {.count = ndir, .nodes = from(kappa, a.dir)}};
    group[PAIR_DIRECTIONS] = two(at, from(m->W.node, a.W), nW, from(m->w.node, a.w), nw);
    group[PAIR_REACTION_GRADIENT] = two(at += nW + nw, from(m->dW.node, a.dW), ndW, NULL, 0);
    group[PAIR_RATE_GRADIENT] = two(at + ndW, from(m->dW.node, a.dW), ndW, from(m->dw.node, a.dw), ndw);
    p->tape = carom_tape_compile(m->graph, group, PAIR_GROUPS, m->seen.nq, m->seen.nv, m->np, err);
    free(store);
    return p->tape ? CAROM_OK : CAROM_NO_MEMORY;
}

carom_status carom_pairs_compile(carom_model *m, const carom_node *kappa, carom_error *err) {
    for (int i = 0; i < m->npairs; ++i) CAROM_TRY(compile(m, &m->pairs[i], kappa, err));
    return CAROM_OK;
}

// -- work ---------------------------------------------------------------------------------------------------------------

static unsigned char *block(const carom_model *m, void *work, size_t offset) { return (void)m, (unsigned char *)work + offset; }

// Head of their work: are all gaps exact? do answers belong to features that are held? then by pair the bounds, and whether it has one that is held.
enum { EXACT, HELD, BOUNDS };

size_t carom_pairs_work(carom_model *m, size_t from) {
    enum { LINE = 63 };
    size_t end = (from + LINE) & ~(size_t)LINE;
    m->narrow = end;
    if (m->npairs) end += (size_t)(2 * m->npairs + BOUNDS) * sizeof(double);
    for (int i = 0; i < m->npairs; ++i) {
        m->pairs[i].work = end = (end + LINE) & ~(size_t)LINE;
        end += carom_tape_work_size(m->pairs[i].tape);
    }
    for (int i = 0; i < m->npairs; ++i) { // apart: most runs never touch it
        m->pairs[i].held = end = (end + LINE) & ~(size_t)LINE;
        end += carom_tape_held_size(m->pairs[i].tape);
    }
    return end;
}

static double *head(const carom_model *m, void *work) { return (double *)(void *)block(m, work, m->narrow); }

void carom_pairs_work_init(const carom_model *m, void *work) {
    if (m->npairs) carom_zero(head(m, work), 2 * m->npairs + BOUNDS);
    for (int i = 0; i < m->npairs; ++i) carom_tape_work_init(m->pairs[i].tape, block(m, work, m->pairs[i].work), m->parameter);
}

void carom_pairs_exact(const carom_model *m, void *work) {
    if (m->npairs) head(m, work)[EXACT] = 1;
}

// -- answers ------------------------------------------------------------------------------------------------------------

static int finite(const double *x, int n) {
    int bad = 0;
    for (int i = 0; i < n; ++i) bad |= !(fabs(x[i]) <= DBL_MAX);
    return bad;
}

static void ask(const carom_model *m, void *work, int i, pair_group group, double t, const double *q, const double *v, double *x) {
    const pair *p = &m->pairs[i];
    const double *h = head(m, work);
    if (h[HELD] != 0 && h[BOUNDS + m->npairs + i] != 0) carom_tape_eval_held(p->tape, block(m, work, p->held), group, t, q, v, x);
    else carom_tape_eval(p->tape, block(m, work, p->work), group, t, q, v, x);
}

carom_status carom_pairs_gaps(const carom_model *m, void *work, double t, const double *q, double *g) {
    if (m->npairs == 0) return CAROM_OK;
    double *exact = head(m, work) + EXACT, *bound = head(m, work) + BOUNDS;
    int bad = 0;
    const double *v = m->v0;
    carom_model_eval(m, work, GROUP_BOUNDS, t, q, v, bound);
    carom_model_look(m, work, &q, &v, false);
    for (int i = 0; i < m->npairs; ++i) {
        const pair *p = &m->pairs[i];
        double *to = g + p->first;
        if (bound[i] > p->margin && *exact == 0 && p->bound != CAROM_NONE)
            for (int k = 0; k < p->count; ++k) to[k] = bound[i];
        else ask(m, work, i, PAIR_GAPS, t, q, v, to);
        bad |= finite(to, p->count);
    }
    return bad ? CAROM_USER : CAROM_OK;
}

// Where the lists of a group lie for the contacts from some id on.
static void places(const span *s, pair_group group, int *first, int *second) {
    *second = group == PAIR_DIRECTIONS ? s->w : s->dw;
    *first = group == PAIR_GAPS ? s->links : group == PAIR_DIRECTIONS ? s->W : group == PAIR_RATES || group == PAIR_CURVATURE ? s->dir : s->dW;
}

static int eval(const carom_model *m, void *work, int i, pair_group group, double t, const double *q, const double *v, double *x, int second) {
    const span a = m->pairs[i].from, b = m->pairs[i].to;
    int at, rest, end, rest_end;
    places(&a, group, &at, &rest);
    places(&b, group, &end, &rest_end);
    const int count = end - at, more = group == PAIR_DIRECTIONS || group == PAIR_RATE_GRADIENT ? rest_end - rest : 0;
    double *all = more ? carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv : x + at;
    ask(m, work, i, group, t, q, v, all);
    const int bad = finite(all, count + more);
    if (more) {
        carom_copy(x + at, all, count);
        carom_copy(x + second + rest, all + count, more);
    }
    return bad;
}

carom_status carom_pairs_eval(const carom_model *m, void *work, pair_group group, double t, const double *q, const double *v, const int *id, int n,
                              double *x, int second) {
    int bad = 0, k = 0;
    if (m->npairs) carom_model_look(m, work, &q, &v, false);
    for (int i = 0; i < m->npairs; ++i) {
        const pair *p = &m->pairs[i];
        while (id && k < n && id[k] < p->first) ++k;
        if (id && k == n) break;
        if (id && id[k] >= p->first + p->count) continue;
        bad |= eval(m, work, i, group, t, q, v, x, second);
    }
    return bad ? CAROM_USER : CAROM_OK;
}

// Whatever a tape of a near pair has to say of (t, q) is asked for once, so that all its conditions have been met.
carom_status carom_pairs_hold(const carom_model *m, void *work, carom_hold what, double t, const double *q) {
    double *h = head(m, work), *held = h + BOUNDS + m->npairs;
    h[HELD] = 0;
    if (what == CAROM_HOLD) {
        double *x = carom_model_scratch(m, work);
        const double *v = m->v0;
        carom_model_eval(m, work, GROUP_BOUNDS, t, q, v, h + BOUNDS);
        carom_model_look(m, work, &q, &v, false);
        for (int i = 0; i < m->npairs; ++i) {
            const pair *p = &m->pairs[i];
            held[i] = !(h[BOUNDS + i] > p->margin && h[EXACT] == 0 && p->bound != CAROM_NONE);
            if (held[i] == 0) continue;
            carom_tape_eval(p->tape, block(m, work, p->work), PAIR_GAPS, t, q, v, x);
            eval(m, work, i, PAIR_DIRECTIONS, t, q, v, x, m->W.n);
            eval(m, work, i, PAIR_CURVATURE, t, q, v, x, 0);
            carom_tape_hold(p->tape, block(m, work, p->work), block(m, work, p->held));
        }
    }
    h[HELD] = what != CAROM_FREE;
    return CAROM_OK;
}
