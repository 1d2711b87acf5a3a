// near.c: pairs of many shapes come and go.
//
// Where shapes could make many pairs (derive/shapes/form.c), once a step a search over bounding boxes finds those that
// may touch during it, and these have contacts.  A contact is computed by the tape of its kind (kinds.c), evaluated at
// the positions of two bodies.  Contacts are in slots of a list (carom_list); a pair takes as many slots in a row as it
// has contacts, and keeps them while it stays near.  The key of a slot: 1 + (A nshapes + B) nrules + rule for the first
// contact of a pair, minus that for its others.
#include "collide/broad.h"
#include "model/conditions.h"
#include "base/team.h"
#include "model/pairs.h"
#include "system/system.h"
#include <carom/team.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/meet.inc"

// Do two shapes meet by this rule?
bool carom_near_meet(const struct near_pairs *x, int rule, int a, int b) {
    return shapes_meet(x->side + (size_t)rule * (size_t)x->nshapes, x->rule[rule].ignore, x->rule[rule].nignored,
                       x->nshapes, a, b);
}

// The one whose velocities come first is A; what stands still is B.
bool carom_near_swapped(const shape *a, const shape *b) {
    return b->body->v >= 0 && (a->body->v < 0 || b->body->v < a->body->v);
}

pair_own *carom_pair_own(carom_model *m, rubbing rub) {
    pair_own *own = carom_pool_take(&m->memory, sizeof *own);
    if (own) *own = (pair_own){.rub = rub, .bound = CAROM_NONE};
    return own;
}

void carom_pair_place(const carom_model *m, pair *p) {
    const body *of[2];
    carom_pair_order(p, of);
    const pair_kind *k = &m->kinds[p->kind];
    for (int i = 0; i < 2; ++i) {
        p->q_at[i] = k->nq[i] ? of[i]->orientation - (of[i]->space == SPATIAL ? 3 : 2) : 0;
        p->v_at[i] = k->nv[i] ? of[i]->v : 0;
    }
}

// -- what is near -----------------------------------------------------------------------------------------------------

/// The system's part of a list: what its slots hold, and scratch of the search.
typedef struct live {
    int npairs;
    pair *pair;          // slots
    int *pair_of;        // slots
    long long *found;    // slots: codes, sorted; during a search those of each thread stand where the pairs will be
    long long *before;   // slots: what they held
    carom_bounds *box, *room; // nshapes; in the place of `found` and `before`, which are written after the search over
                              // boxes
    double *centre;      // 3 nshapes
    double *skin;        // nshapes: how far it may come while the list is in use
    double *q, *v, h, reach; // nq, nv: where the list was made, for a step of h, and list->reach then
    int *root;           // nbodies
    double *calm;        // 2 nbodies: scratch of sleep.c
    patch *patch;        // of every pair, where some are found by search
    unsigned char *held; // held_size bytes of every pair: its tape, held on its features; NULL: they are not followed
} live;

// A pair has a slot at least.
static size_t patch_count(const struct near_pairs *x, size_t slots) { return x->patches ? slots : 0; }

static size_t round_up(size_t n) { return (n + 63) & ~(size_t)63; }

// Of `found` and `before`, or of `box` and `room`.
static size_t search_size(size_t slots, size_t shapes) {
    const size_t codes = 2 * slots * sizeof(long long), boxes = 2 * shapes * sizeof(carom_bounds);
    return round_up(codes > boxes ? codes : boxes);
}

static size_t held_size(const struct near_pairs *x, const carom_list *list) {
    return list->freezes ? (size_t)list->slots * x->held_size : 0;
}

static size_t list_work(const void *model, const carom_list *list) {
    const carom_model *m = model;
    const struct near_pairs *x = m->near;
    const size_t n = (size_t)list->slots, shapes = (size_t)x->nshapes, bodies = (size_t)m->nbodies;
    return round_up(bodies * sizeof(int)) + round_up(2 * bodies * sizeof(double)) + round_up(sizeof(live)) +
           round_up(n * sizeof(pair)) + round_up(n * sizeof(int)) + search_size(n, shapes) +
           round_up(4 * shapes * sizeof(double)) + round_up((size_t)(m->nq + m->nv) * sizeof(double)) +
           round_up(patch_count(x, n) * sizeof(patch)) + held_size(x, list);
}

static live *open_list(const carom_model *m, const carom_list *list) {
    const size_t n = (size_t)list->slots, shapes = (size_t)m->near->nshapes;
    live *l = list->work;
    unsigned char *at = (unsigned char *)list->work + round_up(sizeof *l);
    l->pair = (void *)at, at += round_up(n * sizeof *l->pair);
    l->pair_of = (void *)at, at += round_up(n * sizeof *l->pair_of);
    l->found = (void *)at, l->before = l->found + n;
    l->box = (void *)at, l->room = l->box + shapes, at += search_size(n, shapes);
    l->centre = (void *)at, l->skin = l->centre + 3 * shapes, at += round_up(4 * shapes * sizeof(double));
    l->q = (void *)at, l->v = l->q + m->nq, at += round_up((size_t)(m->nq + m->nv) * sizeof *l->q);
    l->root = (void *)at, at += round_up((size_t)m->nbodies * sizeof *l->root);
    l->calm = (void *)at, at += round_up(2 * (size_t)m->nbodies * sizeof *l->calm);
    l->patch = (void *)at, at += round_up(patch_count(m->near, n) * sizeof *l->patch);
    l->held = list->freezes && m->near->held_size ? at : NULL;
    return l;
}

static const double SLACK = 0.01; // of the radius: for velocities that change during the step

static bool round_shape(const shape *s) { return s->kind == SHAPE_ROUND || s->kind == SHAPE_POINT; }

// A shape turns about the origin of its body; a round one does not change by that.
static double arm_of(const shape *s) {
    return sqrt(carom_dot(s->at, s->at, 3)) + (round_shape(s) ? 0 : s->bound_radius);
}

// (LST-1)  Points of a body within `size` of `at` move from r_0 + R_0 x to r_1 + R_1 x, by |r_1 - r_0 + (R_1 - R_0) at|
//          + size |R_1 - R_0|/sqrt(2) at most: |R_1 - R_0|, of all entries, is sqrt(8) sin(phi/2) of a turn by phi.
//          spins: it may have turned farther than these positions show.
static double moved(const body *b, const double *at, double size, const double *q_0, const double *q_1, bool spins) {
    double r_0[3], R_0[9], r_1[3], R_1[9], way[3], turn = 0;
    carom_body_pose(b, q_0, r_0, R_0);
    carom_body_pose(b, q_1, r_1, R_1);
    for (int j = 0; j < 9; ++j) R_1[j] = spins ? 0 : R_1[j] - R_0[j], turn += R_1[j] * R_1[j];
    for (int j = 0; j < 3; ++j)
        way[j] = r_1[j] - r_0[j] + R_1[3 * j] * at[0] + R_1[3 * j + 1] * at[1] + R_1[3 * j + 2] * at[2];
    return sqrt(carom_dot(way, way, 3)) + (spins ? 2 * (sqrt(carom_dot(at, at, 3)) + size) : size * sqrt(0.5 * turn));
}

// (LST-2)  On a motion over h velocities differ from each other by D = 2 |v_1 - v_0| + max(|v_0|, |v_1|)/2 at most,
//          twice and more of what its ends show.  Then no point of it is farther than h D/4 from the straight way
//          between its ends, and none farther than that and the farther end from where it is at q.
static double body_strays(const body *b, const double *at, double size, const double *q, const carom_way *w) {
    if (b->v < 0) return 0;
    const int n = b->space == SPATIAL ? 6 : 3, lengths = n / 3 + n / 6; // 2 of 3, 3 of 6
    const double arm = sqrt(carom_dot(at, at, 3)) + size;
    double D[2] = {0}, most[2] = {0}, least[2] = {0};
    for (int i = 0; i < n; ++i) {
        const double x = w->v_0[b->v + i], y = w->v_1[b->v + i];
        D[i >= lengths] += (y - x) * (y - x), most[i >= lengths] += x * x, least[i >= lengths] += y * y;
    }
    for (int i = 0; i < 2; ++i) most[i] = sqrt(fmax(most[i], least[i])), D[i] = 2 * sqrt(D[i]) + 0.5 * most[i];
    const bool spins = arm > 0 && w->h * (most[1] + D[1]) > 2;
    const double far = fmax(moved(b, at, size, q, w->q_0, spins), moved(b, at, size, q, w->q_1, spins));
    return far + 0.25 * w->h * (D[0] + (spins ? 0 : D[1] * arm));
}

static double shape_strays(const shape *s, const double *q, const carom_way *w) {
    const double size = round_shape(s) ? 0 : s->bound_radius, far = body_strays(s->body, s->at, size, q, w);
    return s->next ? fmax(far, body_strays(s->next, (const double[3]){0}, s->bound_radius, q, w)) : far;
}

typedef struct search {
    const carom_model *m;
    carom_list *list;
    live *l;
    const double *q, *v;
    double h;
    int n, held;                                       // pairs found; slots up to the last in use
    struct { int n, apart[15]; } own[CAROM_BROAD_PARTS]; // by each thread; cache lines apart
    long contacts[CAROM_TEAM];                         // of a thread's share of the pairs
} search;

// Half the edges of the bounding box along axis i; A = R X.
static double extent(const shape *s, const double *A, int i) {
    if (s->kind == SHAPE_HULL || s->kind == SHAPE_HEIGHTS) return carom_patch_extent(s, A, i);
    if (s->kind == SHAPE_BOX && s->space == SPATIAL)
        return fabs(A[3 * i]) * s->half[0] + fabs(A[3 * i + 1]) * s->half[1] + fabs(A[3 * i + 2]) * s->half[2];
    if ((s->kind == SHAPE_CAPSULE || s->kind == SHAPE_CYLINDER) && s->space == SPATIAL)
        return fabs(A[3 * i + s->axis]) * s->half[0] + s->radius;
    return s->bound_radius;
}

// Where shape i is, and the box in which it stays during the step.
static void look_at(const search *f, int i, carom_bounds *box) {
    live *l = f->l;
    const shape *s = f->m->near->shape[i];
    const double *q = f->q;
    double r[3], R[9], A[9], *c = l->centre + 3 * (size_t)i;
    carom_body_pose(s->body, q, r, R);
    for (int j = 0; j < 3; ++j) c[j] = r[j] + R[3 * j] * s->at[0] + R[3 * j + 1] * s->at[1] + R[3 * j + 2] * s->at[2];
    if (!carom_shape_finite(s)) return;
    const bool round = round_shape(s);
    for (int j = 0; j < 9 && !round; ++j)
        A[j] = R[j / 3 * 3] * s->X[j % 3] + R[j / 3 * 3 + 1] * s->X[3 + j % 3] + R[j / 3 * 3 + 2] * s->X[6 + j % 3];
    double d = f->h * carom_body_speed(s->body, f->v, arm_of(s));
    if (f->list->ahead) d = fmax(d, shape_strays(s, q, f->list->ahead));
    d = l->skin[i] = d + SLACK * s->bound_radius + l->reach;
    for (int j = 0; j < 3; ++j) {
        const double half = round ? s->bound_radius : fmin(s->bound_radius, extent(s, A, j));
        box->low[j] = c[j] - half - d;
        box->high[j] = c[j] + half + d;
    }
    box->id = i;
}

// -- what may pass ----------------------------------------------------------------------------------------------------

// (PO-2)  Two shapes that move by more in the step, together, than this part of their half widths may pass each other
//         unseen.  What a shorter way passes it grazes: with balls whose radii are R together, a chord of R/2 is
//         nowhere deeper than R (1 - sqrt(15)/4) = 0.03 R.
static const double FAR = 0.5;

static double travel(const struct near_pairs *x, const live *l, int i) {
    return carom_shape_finite(x->shape[i]) ? l->skin[i] - SLACK * x->shape[i]->bound_radius - l->reach : 0;
}

static bool has_fast_bodies(const struct near_pairs *x, const live *l) {
    double most = 0, thinnest = INFINITY;
    for (int i = 0; i < x->nshapes; ++i)
        if (x->group[i] >= 0) most = fmax(most, travel(x, l, i)), thinnest = fmin(thinnest, x->thin[i]);
    return most > FAR * thinnest;
}

// Contacts with a stiffness do not stop anything; nodes of members have no shape of their own in q.
static bool may_tunnel(const void *model, const carom_list *list, int k, carom_list_pair *out) {
    const carom_model *m = model;
    const struct near_pairs *x = m->near;
    const live *l = list->work;
    const pair *p = &l->pair[k];
    const int a = (int)(p->A - x->shape[0]), b = (int)(p->B - x->shape[0]);
    if (p->soft || p->A->member || p->B->member ||
        !(travel(x, l, a) + travel(x, l, b) > FAR * (x->thin[a] + x->thin[b])))
        return false;
    const pair_kind *kind = &m->kinds[p->kind];
    *out = (carom_list_pair){.first = p->first - m->ne - m->nc,
                             .count = p->count,
                             .v = {p->v_at[0], p->v_at[1]},
                             .nv = {kind->nv[0], kind->nv[1]}};
    return true;
}

static carom_status gap_of_pair(const void *model, void *work, int k, const double *q0, double h, const double *v,
                                double *q, double *gap) {
    const carom_model *m = model;
    const pair *p = carom_near_at(carom_near_list(m, work), k);
    double *g = (double *)(void *)((unsigned char *)work + m->near->room);
    carom_body_move(p->A->body, q, q0, h, v);
    carom_body_move(p->B->body, q, q0, h, v);
    if (carom_pair_eval(m, work, p, PAIR_GAPS, q, m->v0, g)) return CAROM_USER;
    *gap = HUGE_VAL;
    for (int i = 0; i < p->count; ++i) *gap = fmin(*gap, g[i]);
    return CAROM_OK;
}

// -- the search -------------------------------------------------------------------------------------------------------

enum { MOST_SLOTS = 1 << 28 }; // six rows each are still an int

// Slots that contacts want: an eighth more than there are, so that rows of them are found, and that the list does not
// grow with every one that comes.
static long wanted(long contacts) { return contacts + contacts / 8; }

static void want_slots(carom_list *list, long slots) { list->used = (int)(slots < MOST_SLOTS ? slots : MOST_SLOTS); }

static int team_of(const carom_list *list) { return list->team ? list->team->n : 1; }

static int most_found(const search *f) { return f->list->slots; }

// Codes that a thread has found, in the place of pairs, which adopt() makes anew.
static long long *found_by(const search *f, int part) {
    _Static_assert(sizeof(pair) >= CAROM_BROAD_PARTS * sizeof(long long),
                   "a slot's pair has room for a code of every thread");
    return (long long *)(void *)f->l->pair + (size_t)part * (size_t)most_found(f);
}

// (CND-2)  Is the condition, from 1, not met?
static bool is_off(const bool *off, int condition) { return condition > 0 && off[condition - 1]; }

bool carom_near_off(const carom_model *m, const void *work, const pair *p) {
    if (!m->condition.system) return false;
    const bool *off = carom_conditions_off(m, work);
    return is_off(off, p->A->body->condition) || is_off(off, p->B->body->condition) ||
           is_off(off, m->near->rule[p->entry_number].condition);
}

// Pairs of a and b by all rules; those too many are counted, not written.
static void note(search *f, int part, int a, int b) {
    const struct near_pairs *x = f->m->near;
    const bool *off = f->list->off;
    if (x->shape[a]->body == x->shape[b]->body) return;
    if (off && (is_off(off, x->shape[a]->body->condition) || is_off(off, x->shape[b]->body->condition))) return;
    const bool swap = carom_near_swapped(x->shape[a], x->shape[b]);
    const int A = swap ? b : a, B = swap ? a : b;
    if (x->shape[A]->body->v < 0) return;
    for (int rule = 0; rule < x->nrules; ++rule) {
        if (*carom_near_kind_of(x, rule, x->group[A], x->group[B]) < 0) continue; // pieces that never touch
        if (!carom_near_meet(x, rule, A, B) || (off && is_off(off, x->rule[rule].condition))) continue;
        if (f->own[part].n > MOST_SLOTS) return;
        if (f->own[part].n < most_found(f))
            found_by(f, part)[f->own[part].n] = 1 + ((long long)A * x->nshapes + B) * x->nrules + rule;
        ++f->own[part].n;
    }
}

// Shapes of which none moves while both bodies sleep: they have no contact.
static bool both_rest(const search *f, const shape *a, const shape *b) {
    return carom_near_rests(f->m, f->list, a->body) && carom_near_rests(f->m, f->list, b->body);
}

// (SHP-10)  the balls of two shapes
static void found(void *user, int part, int a, int b) {
    search *f = user;
    const struct near_pairs *x = f->m->near;
    if (both_rest(f, x->shape[a], x->shape[b])) return;
    const double *c = f->l->centre + 3 * (size_t)a, *d = f->l->centre + 3 * (size_t)b,
                 way[3] = {c[0] - d[0], c[1] - d[1], c[2] - d[2]};
    const double most = x->shape[a]->bound_radius + x->shape[b]->bound_radius + f->l->skin[a] + f->l->skin[b];
    if (way[0] * way[0] + way[1] * way[1] + way[2] * way[2] <= most * most) note(f, part, a, b);
}

// A plane that moves: how far may its points at such a distance from the origin of its body come?
static double plane_skin(const search *f, const shape *s, double far) {
    const double own = f->h * carom_body_speed(s->body, f->v, far);
    return (f->list->ahead ? fmax(own, body_strays(s->body, (const double[3]){0}, far, f->q, f->list->ahead)) : own) +
           f->l->reach;
}

// Shape i, of which there is no end, against bounded ones: a plane against those near it, the others against all.
static void beside(search *f, int part, int i, int from, int to) {
    const struct near_pairs *x = f->m->near;
    const shape *s = x->shape[i];
    double r[3], R[9], n[3] = {0};
    carom_body_pose(s->body, f->q, r, R);
    for (int j = 0; j < 3; ++j) n[j] = R[3 * j] * s->X[0] + R[3 * j + 1] * s->X[3] + R[3 * j + 2] * s->X[6];
    for (int k = from; k < to; ++k) {
        const shape *o = x->shape[k];
        if (x->group[k] < 0 || !carom_shape_finite(o) || both_rest(f, s, o)) continue;
        const double *c = f->l->centre + 3 * (size_t)k, *p = f->l->centre + 3 * (size_t)i,
                     way[3] = {c[0] - p[0], c[1] - p[1], c[2] - p[2]};
        const double arm[3] = {c[0] - r[0], c[1] - r[1], c[2] - r[2]},
                     own = s->body->v < 0 ? 0 : plane_skin(f, s, sqrt(carom_dot(arm, arm, 3)) + o->bound_radius);
        if (s->kind != SHAPE_PLANE ||
            n[0] * way[0] + n[1] * way[1] + n[2] * way[2] <= o->bound_radius + f->l->skin[k] + own)
            note(f, part, i, k);
    }
}

// A thread's share of what has no end: all of those, against its part of the others.
static void all_beside(void *user, int part, int parts) {
    search *f = user;
    const struct near_pairs *x = f->m->near;
    int from, to;
    carom_broad_part(x->nshapes, part, parts, &from, &to);
    for (int i = 0; i < x->nshapes && from < to; ++i)
        if (x->group[i] >= 0 && !carom_shape_finite(x->shape[i])) beside(f, part, i, from, to);
}

// A thread's share of the shapes; boxes of bounded ones lie in a row.
static void look_at_all(void *user, int part, int parts) {
    const search *f = user;
    const struct near_pairs *x = f->m->near;
    int from, to;
    carom_broad_part(x->nshapes, part, parts, &from, &to);
    for (int i = 0, boxes = 0; i < to; ++i) {
        if (x->group[i] < 0) continue;
        if (i >= from) look_at(f, i, &f->l->box[boxes]);
        boxes += carom_shape_finite(x->shape[i]);
    }
}

// Boxes of shapes that rest are looked at where one that may move is about.
static int leave_resting(const search *f, carom_bounds *box, int n) {
    carom_bounds all = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, 0, 0};
    int kept = 0;
    for (int i = 0; i < n; ++i) {
        if (carom_near_rests(f->m, f->list, f->m->near->shape[box[i].id]->body)) continue;
        for (int k = 0; k < 3; ++k)
            all.low[k] = fmin(all.low[k], box[i].low[k]), all.high[k] = fmax(all.high[k], box[i].high[k]);
    }
    for (int i = 0; i < n; ++i)
        if (carom_bounds_meet(&box[i], &all)) box[kept++] = box[i];
    return kept;
}

static void sort_few(long long *code, int n) {
    for (int i = 1, k; i < n; ++i) {
        const long long x = code[i];
        for (k = i; k > 0 && code[k - 1] > x; --k) code[k] = code[k - 1];
        code[k] = x;
    }
}

// What the threads found, sorted by code, digit by digit.  False: it is too much, list->used says how much.
static bool gather(search *f) {
    enum { BITS = 8, DIGITS = 1 << BITS, FEW = 32 }; // a byte: its counters stay in the first cache
    long long *from = f->l->found, *to = f->l->before, most = 0;
    long all = 0;
    for (int part = 0; part < CAROM_BROAD_PARTS; ++part) all += f->own[part].n;
    if (all > most_found(f)) return want_slots(f->list, wanted(all)), false;
    for (int part = 0; part < CAROM_BROAD_PARTS; f->n += f->own[part++].n)
        memcpy(from + f->n, found_by(f, part), (size_t)f->own[part].n * sizeof *from);
    if (f->n <= FEW) return sort_few(from, f->n), true;
    for (int k = 0; k < f->n; ++k)
        if (from[k] > most) most = from[k];
    for (int shift = 0; shift < 63 && most >> shift; shift += BITS) {
        int at[DIGITS + 1] = {0};
        for (int k = 0; k < f->n; ++k) ++at[1 + (from[k] >> shift) % DIGITS];
        for (int d = 0; d < DIGITS; ++d) at[d + 1] += at[d];
        for (int k = 0; k < f->n; ++k) to[at[(from[k] >> shift) % DIGITS]++] = from[k];
        long long *swap = from;
        from = to, to = swap;
    }
    if (from != f->l->found) memcpy(f->l->found, from, (size_t)f->n * sizeof *from);
    return true;
}

static int by_code(const void *a, const void *b) {
    const long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

static pair *kind_pair(const struct near_pairs *x, long long code) {
    const long long both = (code - 1) / x->nrules;
    const int rule = (int)((code - 1) % x->nrules), A = (int)(both / x->nshapes), B = (int)(both % x->nshapes);
    return &x->pairs[*carom_near_kind_of(x, rule, x->group[A], x->group[B])];
}

// Slots for `count` contacts in a row, from *from on; -1: there are none.
static int find_room(const carom_list *list, int count, int *from) {
    int run = 0;
    for (int i = *from; i < list->slots; ++i) {
        run = list->key[i] == 0 ? run + 1 : 0;
        if (run < count) continue;
        *from = i + 1;
        return i + 1 - count;
    }
    return -1;
}

// Its bodies sleep.
static bool pair_rests(const search *f, long long code) {
    const struct near_pairs *x = f->m->near;
    return f->list->asleep && carom_near_rests(f->m, f->list, x->shape[(code - 1) / x->nrules / x->nshapes]->body);
}

// A thread's share of the slots in use, whole pairs: those that stay are marked in what was found, those of others
// become free.
static void keep_near(void *user, int part, int parts) {
    const search *f = user;
    carom_list *list = f->list;
    long long last = 0, *at = NULL, *holds = list->key;
    int i = (int)((long)f->held * part / parts), to = (int)((long)f->held * (part + 1) / parts);
    while (i < to && f->l->before[i] < 0) ++i; // of a pair that begins before
    for (; i < f->held && (i < to || f->l->before[i] < 0); ++i) {
        const long long code = llabs(holds[i]);
        list->is_new[i] = false;
        if (!code) continue;
        if (code != last) at = bsearch(&code, f->l->found, (size_t)f->n, sizeof code, by_code), last = code;
        if (at) f->l->pair_of[at - f->l->found] = -1;
        else if (!list->stays || !list->stays[i] || pair_rests(f, code)) holds[i] = 0, list->is_new[i] = true;
    }
}

// Slots of pairs that are no longer near become free; new pairs take the first that fit.
static carom_status place(search *f) {
    const struct near_pairs *x = f->m->near;
    carom_list *list = f->list;
    int from[128] = {0}; // by count: where a search begins
    long long *holds = list->key;
    memcpy(f->l->before, holds, (size_t)list->slots * sizeof *holds);
    for (f->held = list->slots; f->held > 0 && !holds[f->held - 1];) list->is_new[--f->held] = false;
    carom_team_run(list->team, keep_near, f);
    for (int k = 0; k < f->n; ++k) {
        if (f->l->pair_of[k] == -1) continue;
        const long long code = f->l->found[k];
        const int count = kind_pair(x, code)->count, at = find_room(list, count, &from[count < 128 ? count : 0]);
        if (at < 0) { // too scattered
            memcpy(holds, f->l->before, (size_t)list->slots * sizeof *holds);
            want_slots(list, wanted(list->slots) + count);
            return CAROM_NO_MEMORY;
        }
        for (int j = 0; j < count; ++j) holds[at + j] = j ? -code : code, list->is_new[at + j] = true;
    }
    return CAROM_OK;
}

static void count_contacts(void *user, int part, int parts) {
    search *f = user;
    long n = 0;
    for (int k = (int)((long)f->n * part / parts); k < (int)((long)f->n * (part + 1) / parts); ++k) {
        n += kind_pair(f->m->near, f->l->found[k])->count;
        f->l->pair_of[k] = 0;
    }
    f->contacts[part] = n;
}

// The pairs that may touch, or how many slots they want; bodies fall asleep and wake.  *again: some woke, whose pairs
// are not among them.
static carom_status search_once(search *f, double t, bool *again) {
    const struct near_pairs *x = f->m->near;
    carom_list *list = f->list;
    int boxes = 0;
    f->n = f->held = 0;
    for (int part = 0; part < CAROM_BROAD_PARTS; ++part) f->own[part].n = 0;
    for (int i = 0; i < x->nshapes; ++i) boxes += x->group[i] >= 0 && carom_shape_finite(x->shape[i]);
    carom_team_run(list->team, look_at_all, f);
    carom_team_run(list->team, all_beside, f);
    if (list->asleep) boxes = leave_resting(f, f->l->box, boxes);
    carom_broad(f->l->box, boxes, f->l->room, list->team, found, f);
    list->has_fast_bodies = has_fast_bodies(x, f->l);
    if (!gather(f)) return CAROM_NO_MEMORY;
    long contacts = 0;
    carom_team_run(list->team, count_contacts, f);
    for (int i = 0; i < team_of(list); ++i) contacts += f->contacts[i];
    if (wanted(contacts) > list->slots && list->slots < MOST_SLOTS)
        return want_slots(list, wanted(contacts)), CAROM_NO_MEMORY;
    *again = list->asleep &&
             carom_near_sleep(f->m, list, f->l->root, f->l->calm, f->l->found, &f->n, t, f->h, f->v);
    return CAROM_OK;
}

static carom_status make_list(const void *model, carom_list *list, double t, const double *q, const double *v,
                              double h) {
    const carom_model *m = model;
    search f;
    f.m = m, f.list = list, f.l = open_list(m, list), f.q = q, f.v = v, f.h = h;
    f.l->reach = list->margin;
    f.l->h = h;
    if (list->measured) carom_copy(f.l->q, q, m->nq), carom_copy(f.l->v, v, m->nv);
    for (bool again = true; again;) CAROM_TRY(search_once(&f, t, &again));
    return place(&f);
}

// (LST-3)  The list has every pair that may touch as long as no shape is farther from where it was when the list was
//          made than its skin.  Planes that move have a skin against every bounded shape; other shapes without end are
//          in the list with all that they may touch.
static double strays(const void *model, const void *work, const carom_way *w) {
    const carom_model *m = model;
    const struct near_pairs *x = m->near;
    const carom_list *list = carom_near_list(m, work);
    const live *l = list->work;
    double most = -HUGE_VAL;
    for (int i = 0; i < x->nshapes; ++i) {
        const shape *s = x->shape[i];
        if (x->group[i] < 0 || s->body->v < 0) continue;
        if (carom_shape_finite(s)) most = fmax(most, shape_strays(s, l->q, w) - l->skin[i]);
        if (s->kind != SHAPE_PLANE) continue;
        const search f = {.list = &(carom_list){0}, .l = list->work, .q = l->q, .v = l->v, .h = l->h};
        double r[3], R[9];
        carom_body_pose(s->body, l->q, r, R);
        for (int k = 0; k < x->nshapes; ++k) {
            if (x->group[k] < 0 || !carom_shape_finite(x->shape[k])) continue;
            const double *c = l->centre + 3 * (size_t)k, arm[3] = {c[0] - r[0], c[1] - r[1], c[2] - r[2]},
                         far = sqrt(carom_dot(arm, arm, 3)) + x->shape[k]->bound_radius;
            most = fmax(most, body_strays(s->body, (const double[3]){0}, far, l->q, w) - plane_skin(&f, s, far));
        }
    }
    return most + l->reach;
}

// Pairs are shared among threads in ranges, each with its work blocks.
static int lanes_of(const struct near_pairs *x, const carom_list *list) {
    return !list->team ? 1 : list->team->n < x->lanes ? list->team->n : x->lanes;
}

static int first_of(const live *l, int lane, int lanes) { return (int)((long)l->npairs * lane / lanes); }

/// Slots of a list become pairs; threads have ranges of slots.
typedef struct adoption {
    const carom_model *m;
    carom_list *list;
    live *l;
    int lanes, first[CAROM_TEAM + 1]; // pairs before the range of each thread
} adoption;

static int first_slot(const adoption *a, int part, int parts) { return (int)((long)a->list->used * part / parts); }

static void count_pairs(void *user, int part, int parts) {
    adoption *a = user;
    int n = 0;
    for (int i = first_slot(a, part, parts); i < first_slot(a, part + 1, parts); ++i) n += a->list->key[i] > 0;
    a->first[part + 1] = n;
}

static void adopt_pairs(void *user, int part, int parts) {
    const adoption *a = user;
    const carom_model *m = a->m;
    const struct near_pairs *x = m->near;
    carom_list *list = a->list;
    live *l = a->l;
    const bool apart = a->lanes == 1 && l->npairs <= x->blocks; // the block of each still knows what was asked last
    int n = a->first[part], lane = 0;
    for (int i = first_slot(a, part, parts); i < first_slot(a, part + 1, parts); ++i) {
        if (list->key[i] > 0) {
            const long long both = (list->key[i] - 1) / x->nrules;
            pair *p = &l->pair[n++];
            *p = *kind_pair(x, list->key[i]);
            p->A = x->shape[both / x->nshapes];
            p->B = x->shape[both % x->nshapes];
            p->first = m->ne + m->nc + i;
            carom_pair_place(m, p);
            if (x->patches) p->patch = &l->patch[n - 1], p->patch->known = p->patch->held = false;
            p->held = l->held ? l->held + (size_t)(n - 1) * x->held_size : NULL;
            p->holds = 0;
            while (n > first_of(l, lane + 1, a->lanes)) ++lane;
            p->rank = apart ? n - 1 : lane;
        }
        l->pair_of[i] = list->key[i] ? n - 1 : -1;
        list->law[i] = x->law[list->key[i] ? kind_pair(x, llabs(list->key[i])) - x->pairs : 0];
    }
}

static void adopt(const void *model, void *work, carom_list *list) {
    const carom_model *m = model;
    const struct near_pairs *x = m->near;
    const int parts = team_of(list);
    adoption a;
    a.m = m, a.list = list, a.l = open_list(m, list), a.lanes = lanes_of(x, list), a.first[0] = 0;
    *(carom_list **)(void *)((unsigned char *)work + x->at) = list;
    carom_team_run(list->team, count_pairs, &a);
    for (int i = 0; i < parts; ++i) a.first[i + 1] += a.first[i];
    list->pairs = a.l->npairs = a.first[parts];
    carom_team_run(list->team, adopt_pairs, &a);
    carom_pairs_unknown(m, work);
}

// -- numbers and names ------------------------------------------------------------------------------------------------

// Contact c of shapes A and B by rule r has the number ((A nshapes + B) nrules + r) parts + c behind those that are
// always there, whatever else is in the list.  Features of a patch have no number of their own: c = 0.  c = parts - 1
// stands for all contacts of the two shapes.
static long long number_of(const struct near_pairs *x, long long code, int part) {
    return (code - 1) * x->parts + part;
}

long long carom_near_pair_number(const carom_model *m, int a, int b, int rule, int part) {
    const struct near_pairs *x = m->near;
    const bool patch = m->kinds[x->pairs[*carom_near_kind_of(x, rule, x->group[a], x->group[b])].kind].patch;
    return number_of(x, 1 + ((long long)a * x->nshapes + b) * x->nrules + rule, x->parts == 1 || patch ? 0 : part);
}

typedef struct contact_place { int a, b, rule, part; } contact_place;

static contact_place place_of(const struct near_pairs *x, long long number) {
    const long long code = number / x->parts, both = code / x->nrules;
    return (contact_place){.a = (int)(both / x->nshapes),
                           .b = (int)(both % x->nshapes),
                           .rule = (int)(code % x->nrules),
                           .part = (int)(number % x->parts)};
}

static long long known_as(const void *model, const carom_list *list, int slot) {
    const carom_model *m = model;
    const struct near_pairs *x = m->near;
    const long long code = llabs(list->key[slot]);
    int first = slot;
    if (!code) return m->ne + m->nc + slot;
    while (list->key[first] < 0) --first;
    const int part = x->parts == 1 || m->kinds[kind_pair(x, code)->kind].patch ? 0 : slot - first;
    return m->ne + m->nc + number_of(x, code, part);
}

static int by_number(const void *a, const void *b) {
    const near_number *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

// Numbers of contacts with names of their own, sorted.
static carom_status number_named(carom_model *m, carom_error *err) {
    struct near_pairs *x = m->near;
    x->parts = 2;
    for (int i = 0; i < x->npairs; ++i)
        if (!m->kinds[x->pairs[i].kind].patch && x->parts <= x->pairs[i].count) x->parts = x->pairs[i].count + 1;
    if ((double)x->nshapes * x->nshapes * x->nrules * x->parts > 1e18) x->parts = 1, x->nnamed = 0;
    x->number = carom_pool_take(&m->memory, ((size_t)x->nnamed + 1) * sizeof *x->number);
    if (!x->number) return carom_model_no_memory(m, err);
    for (int i = 0; i < x->nnamed; ++i) {
        const near_named *c = &x->named[i];
        const long long code = 1 + ((long long)c->a * x->nshapes + c->b) * x->nrules + c->rule;
        x->number[i] = (near_number){number_of(x, code, c->part), i};
    }
    qsort(x->number, (size_t)x->nnamed, sizeof *x->number, by_number);
    return CAROM_OK;
}

// Parts for contacts that come and go: in a world their inverses are dense.  Parts of mechanisms are bodies.
static carom_status find_parts(carom_model *m, carom_error *err) {
    enum { LARGEST = 1200 }; // 11 MB an inverse
    const bool world = carom_near_world(m);
    CAROM_TRY(carom_model_couple(m, world, err));
    for (int i = 0; world && i < m->sys.nparts; ++i) {
        const int n = m->sys.part[i + 1] - m->sys.part[i];
        if (n > LARGEST)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "%.200s: %d velocities are coupled by springs, members or energies; with a dynamic "
                              "contact list at most %d may be",
                              m->file, n, LARGEST);
    }
    return CAROM_OK;
}

// Bodies that nothing but contacts that come and go acts on.
static carom_status find_sleepers(carom_model *m, carom_error *err) {
    struct near_pairs *x = m->near;
    x->part_of = carom_pool_take(&m->memory, (size_t)m->nbodies * sizeof *x->part_of);
    if (!x->part_of) return carom_model_no_memory(m, err);
    for (int k = 0, part = 0; k < m->nbodies; ++k) {
        const body *b = &m->bodies[k];
        x->part_of[k] = -1;
        if (!b->free || b->v < 0) continue;
        while (m->sys.part[part] < b->v) ++part; // they come in order, behind all others
        x->part_of[k] = part;
    }
    m->extensions->list.sleeps = x->sleep > 0;
    for (int k = 0; k < m->nbodies && m->sys.contact_list->sleeps; ++k)
        if (x->part_of[k] >= 0) return CAROM_OK;
    if (!m->sys.contact_list->sleeps) return CAROM_OK;
    return carom_fail(err, CAROM_BAD_INPUT,
                      "%.200s: sleep has no effect: every body is named by an expression, joint or spring, or may "
                      "touch a flexible member or a body with `motion`; remove sleep",
                      m->file);
}

// Contacts that yield never close: schemes see neither friction nor an impact of their own.
static carom_contact rigid_law(const struct near_pairs *x, int kind) {
    if (!x->pairs[kind].soft) return x->law[kind];
    for (int k = 0; k < x->npairs; ++k)
        if (!x->pairs[k].soft) return (carom_contact){.restitution = x->law[k].restitution};
    return (carom_contact){0};
}

void carom_near_laws(carom_model *m) {
    const struct near_pairs *x = m->near;
    if (!x) return;
    if (m->nc) memcpy(x->laws, m->contacts, (size_t)m->nc * sizeof *x->laws);
    for (int k = 0; k < x->npairs; ++k) x->law[k] = rigid_law(x, k);
    for (int i = 0; i < x->slots; ++i) {
        x->laws[m->nc + i] = x->npairs ? x->law[i % x->npairs] : (carom_contact){0};
        x->laws[m->nc + i].tangents = x->tangents;
    }
}

carom_status carom_near_system(carom_model *m, carom_error *err) {
    carom_system *s = &m->sys;
    carom_extensions *e = m->extensions;
    struct near_pairs *x = m->near;
    x->laws = carom_pool_take(&m->memory, (size_t)(m->nc + x->slots) * sizeof *x->laws);
    x->thin = carom_pool_take(&m->memory, (size_t)x->nshapes * sizeof *x->thin);
    if (!x->laws || !x->thin) return carom_model_no_memory(m, err);
    for (int i = 0; i < x->nshapes; ++i) x->thin[i] = carom_shape_thin(x->shape[i]);
    carom_near_laws(m);
    s->contacts = x->laws;
    CAROM_TRY(number_named(m, err));
    CAROM_TRY(find_parts(m, err));
    CAROM_TRY(find_sleepers(m, err));
    s->nc = m->nc + m->near->slots;
    s->listed = m->near->slots;
    e->events.nk += e->events.kinks_per_slot * s->listed;
    e->list.work_size = list_work;
    e->list.search = make_list;
    e->list.margin_for = strays;
    e->list.adopt = adopt;
    e->list.number_of = known_as;
    e->list.may_tunnel = may_tunnel;
    e->list.gap_of_pair = gap_of_pair;
    e->list.forces = carom_near_forces(x);
    return CAROM_OK;
}

// -- answers ----------------------------------------------------------------------------------------------------------

const pair *carom_near_pair(const carom_model *m, const void *work, int id) {
    if (!carom_near_list(m, work)) return NULL;
    const live *l = carom_near_list(m, work)->work;
    const int k = l->pair_of[id - m->ne - m->nc];
    return k < 0 ? NULL : &l->pair[k];
}

const pair *carom_near_at(const carom_list *list, int k) { return &((const live *)list->work)->pair[k]; }

typedef struct task {
    const carom_model *m;
    void *work;
    const double *q;
    double *g;
    int bad[MOST_LANES];
    void (*part)(void *user, int lane, int from, int to);
    void *user;
    int lanes;
} task;

static void lane_gaps(void *user, int lane, int parts) {
    task *t = user;
    const live *l = carom_near_list(t->m, t->work)->work;
    (void)parts;
    if (lane >= t->lanes) return;
    for (int k = first_of(l, lane, t->lanes); k < first_of(l, lane + 1, t->lanes); ++k) {
        const pair *p = &l->pair[k];
        const bool never = p->soft || carom_near_off(t->m, t->work, p); // yielding.c; (CND-2)
        if (!never) t->bad[lane] |= carom_pair_eval(t->m, t->work, p, PAIR_GAPS, t->q, t->m->v0, t->g + p->first);
        for (int i = 0; never && i < p->count; ++i) t->g[p->first + i] = INFINITY;
    }
}

static carom_status gaps_of_list(const carom_model *m, void *work, const double *q, double *g) {
    const carom_list *list = carom_near_list(m, work);
    if (!list) return CAROM_OK;
    task t = {.m = m, .work = work, .q = q, .g = g, .lanes = lanes_of(m->near, list)};
    for (int i = 0; i < list->used; ++i)
        if (list->key[i] == 0) g[m->ne + m->nc + i] = INFINITY;
    carom_team_run(list->team, lane_gaps, &t);
    for (int i = 1; i < t.lanes; ++i) t.bad[0] |= t.bad[i];
    return t.bad[0] ? CAROM_USER : CAROM_OK;
}

void carom_near_freeze(const carom_model *m, const void *work, carom_freeze what, const double *q) {
    const carom_list *list = carom_near_list(m, work);
    const live *l = list ? list->work : NULL;
    for (int i = 0; l && i < l->npairs; ++i)
        if (m->kinds[l->pair[i].kind].patch) carom_patch_freeze(m, &l->pair[i], what, q);
}

pair *carom_near_pairs(const carom_model *m, const void *work, int *n) {
    const carom_list *list = m->near ? carom_near_list(m, work) : NULL;
    const live *l = list ? list->work : NULL;
    *n = l && l->held ? l->npairs : 0;
    return l ? l->pair : NULL;
}

carom_status carom_pairs_gaps(const carom_model *m, void *work, double t, const double *q, double *g) {
    if (m->near) CAROM_TRY(gaps_of_list(m, work, q, g));
    return carom_pairs_own_gaps(m, work, t, q, g);
}

static void run_lane(void *user, int lane, int parts) {
    const task *t = user;
    const carom_list *list = carom_near_list(t->m, t->work);
    const live *l = list->work;
    (void)parts;
    if (lane >= t->lanes) return;
    const int from = first_of(l, lane, t->lanes), to = first_of(l, lane + 1, t->lanes),
              end = t->m->ne + t->m->nc + list->used;
    if (from < to) t->part(t->user, lane, l->pair[from].first, to < l->npairs ? l->pair[to].first : end);
}

void carom_near_share(const carom_model *m, const void *work, int contacts,
                      void (*part)(void *user, int lane, int from, int to), void *user) {
    enum { FEW = 16 }; // contacts that take no longer than it takes to wake the others
    const carom_list *list = m->near ? carom_near_list(m, work) : NULL;
    if (!list) return;
    task t = {.m = m, .work = (void *)work, .part = part, .user = user, .lanes = lanes_of(m->near, list)};
    if (contacts > FEW) carom_team_run(list->team, run_lane, &t);
    for (int lane = 0; lane < t.lanes && contacts <= FEW; ++lane) run_lane(&t, lane, t.lanes);
}

int carom_near_kind(const carom_model *m, const void *work, int slot) {
    const long long code = llabs(carom_near_list(m, work)->key[slot]);
    return code ? (int)(kind_pair(m->near, code) - m->near->pairs) : 0;
}

double *carom_near_inputs(const carom_model *m, void *work) {
    double *input =
        (double *)(void *)((unsigned char *)work + m->near->rub_work + carom_tape_work_size(m->near->rub_tape));
    carom_copy(input, carom_model_given(m, work), m->np);
    input[m->np] = input[m->np + 1] = 0;
    return input;
}

carom_status carom_near_friction(const carom_model *m, void *work, double t, const double *q, const double *v,
                                 const double *force, double *law) {
    const struct near_pairs *x = m->near;
    const carom_list *list = carom_near_list(m, work);
    unsigned char *own = (unsigned char *)work + x->rub_work;
    double *u = carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv, *input = carom_near_inputs(m, work),
           *mu = input + m->np + 2;
    const double *q_seen = q, *v_seen = v;
    int bad = 0, first = 0;
    for (int id = 0; id < m->ne + m->nc; ++id) first += carom_system_recorded(&m->sys, id);
    carom_belts_at(m, work, t, q);
    carom_model_look(m, work, &q_seen, &v_seen, true);
    for (int k = 0; list && k < list->pairs; ++k) {
        const pair *p = carom_near_at(list, k);
        const int slot = p->first - m->ne - m->nc, kind = carom_near_kind(m, work, slot);
        if (!x->law[kind].friction_varies) continue;
        const constraint *c = m->kinds[p->kind].two->links;
        bad |= carom_pair_eval(m, work, p, PAIR_RATES, q, v, u);
        carom_belt_rates(m, work, p, q, u);
        for (int i = 0; i < p->count; ++i) {
            double *to = law + CAROM_FRICTION_LAW * (m->nc + slot + i);
            for (int j = 0; j < CAROM_TANGENTS; ++j) to[2 + j] = j + 1 < c[i].ndir ? u[c[i].dir + 1 + j] : 0;
            input[m->np] = carom_length(to + 2, CAROM_TANGENTS);
            input[m->np + 1] = force ? force[first + (slot + i) * (1 + x->tangents)] : 0;
            carom_tape_work_parameters(x->rub_tape, own, input);
            carom_tape_eval(x->rub_tape, own, 0, t, q_seen, v_seen, mu);
            for (int j = 0; j < 2; ++j) bad |= !isfinite(to[j] = mu[2 * x->rub[kind] + j]);
        }
    }
    return bad ? CAROM_USER : CAROM_OK;
}

const char *carom_pair_name(const shape *a, const shape *b, char *text, size_t size) {
    const bool first = carom_pair_in_order(a, b);
    snprintf(text, size, "%.60s-%.60s", (first ? a : b)->name, (first ? b : a)->name);
    return text;
}

const char *carom_near_named_name(const struct near_pairs *x, const near_named *c, char *text, size_t size) {
    const char *entry = x->rule[c->rule].entry->name.text;
    if (c->number) snprintf(text, size, "%.120s.%d", entry, c->number);
    else snprintf(text, size, "%.130s", entry);
    return text;
}

const char *carom_near_name(const carom_model *m, long long id, char *text, size_t size) {
    const struct near_pairs *x = m->near;
    const near_number wanted = {id - m->ne - m->nc, 0},
                      *found = bsearch(&wanted, x->number, (size_t)x->nnamed, sizeof wanted, by_number);
    const contact_place at = place_of(x, wanted.number);
    const int kind = *carom_near_kind_of(x, at.rule, x->group[at.a], x->group[at.b]);
    const bool yields = kind >= 0 && x->pairs[kind].soft; // its columns have numbers in any case
    if (found && (yields || x->named[found->named].shown))
        return carom_near_named_name(x, &x->named[found->named], text, size);
    return carom_pair_name(x->shape[at.a], x->shape[at.b], text, size);
}

long long carom_near_find(const carom_model *m, const char *name) {
    const struct near_pairs *x = m->near;
    char text[CAROM_CONTACT_NAME];
    for (int i = 0; i < x->nrules; ++i)
        if (strcmp(x->rule[i].entry->name.text, name) == 0) return CAROM_NO_CONTACT - 1 - i;
    for (int i = 0; i < x->nnamed; ++i)
        if (strcmp(carom_near_named_name(x, &x->named[x->number[i].named], text, sizeof text), name) == 0)
            return m->nc + x->number[i].number;
    const char *dash = strchr(name, '-');
    const struct name *a = dash ? carom_names_find(&m->shape_names, name, (size_t)(dash - name)) : NULL,
                      *b = a ? carom_names_find(&m->shape_names, dash + 1, strlen(dash + 1)) : NULL;
    if (!b) return CAROM_NO_CONTACT;
    const bool swap = carom_near_swapped(x->shape[a->index], x->shape[b->index]);
    const long long A = swap ? b->index : a->index, B = swap ? a->index : b->index, both = A * x->nshapes + B;
    for (int i = 0; i < x->nrules; ++i)
        if (carom_near_meet(x, i, (int)A, (int)B)) return m->nc + number_of(x, 1 + both * x->nrules, x->parts - 1);
    return CAROM_NO_CONTACT;
}

bool carom_near_is(const carom_model *m, long long found, long long number) {
    const contact_place a = place_of(m->near, found), b = place_of(m->near, number);
    return found == number || (a.part == m->near->parts - 1 && a.a == b.a && a.b == b.b);
}

bool carom_near_made_by(const carom_model *m, int rule, long long number) {
    return place_of(m->near, number).rule == rule;
}

double carom_near_size(const carom_model *m, long long id) {
    const struct near_pairs *x = m->near;
    const contact_place at = place_of(x, id - m->ne - m->nc);
    const double a = carom_shape_extent(x->shape[at.a]), b = carom_shape_extent(x->shape[at.b]),
                 size = fmin(a > 0 ? a : INFINITY, b > 0 ? b : INFINITY);
    return isfinite(size) ? size : 0;
}

// -- at the start -----------------------------------------------------------------------------------------------------

static void free_look(near_look *x) {
    free(x->list.key), free(x->list.is_new), free(x->list.law), free(x->list.work), free(x->gap);
}

void carom_near_close(const carom_model *m, void *work, near_look *x) {
    if (m->near) *(carom_list **)(void *)((unsigned char *)work + m->near->at) = NULL;
    free_look(x);
}

carom_status carom_near_open(const carom_model *m, void *work, const double *q, double reach, near_look *x,
                             carom_error *err) {
    carom_status status = CAROM_NO_MEMORY;
    *x = (near_look){.list = {.slots = m->near->slots}};
    while (status == CAROM_NO_MEMORY) {
        free_look(x);
        const size_t n = (size_t)x->list.slots;
        x->list = (carom_list){.slots = x->list.slots,
                               .margin = reach,
                               .off = m->condition.system ? carom_conditions_off(m, work) : NULL,
                               .key = calloc(n, sizeof *x->list.key),
                               .is_new = calloc(n, sizeof *x->list.is_new),
                               .law = calloc(n, sizeof *x->list.law)};
        x->list.work = aligned_alloc(64, round_up(list_work(m, &x->list)));
        x->gap = calloc((size_t)(m->ne + m->nc) + n, sizeof *x->gap);
        if (!x->list.key || !x->list.is_new || !x->list.law || !x->list.work || !x->gap) break;
        status = make_list(m, &x->list, 0, q, m->v0, 0);
        if (status == CAROM_NO_MEMORY) x->list.slots = x->list.used;
    }
    if (status != CAROM_OK) {
        free_look(x);
        return carom_model_no_memory(m, err);
    }
    x->list.used = x->list.slots;
    adopt(m, work, &x->list);
    gaps_of_list(m, work, q, x->gap);
    return CAROM_OK;
}

const char *carom_near_slot_name(const carom_model *m, const near_look *x, int slot, char *text, size_t size) {
    return carom_near_name(m, known_as(m, &x->list, slot), text, size);
}
