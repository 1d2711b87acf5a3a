// shared.c: what pairs that share a tape give to schemes: columns of W and of its derivatives, rates, curvatures.
//
// Lists of a kind count the velocities of its two bodies; here they become those of the model.  Only pairs that hold a
// contact of the set asked for are computed, whatever the number of the others.
#include "model/pairs.h"
#include <math.h>

enum { MOST = 12 }; // velocities of two bodies

static double *room(const carom_model *m, void *work) {
    return carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv;
}

// The contacts *from .. *to - 1 of L, from *to on and before `end`, that belong to one such pair; NULL: there are no
// more.
static inline const pair *next(const carom_model *m, const void *work, const carom_local *L, int end, int *from,
                               int *to) {
    for (*from = *to; m->nkinds && *from < end; ++*from) {
        const pair *p = carom_pair_of(m, work, L->id[*from]);
        if (!p) continue;
        for (*to = *from + 1; *to < end && L->id[*to] < p->first + p->count;) ++*to;
        return p;
    }
    return NULL;
}

static int first_direction(const carom_model *two, const pair *p, int id) { return two->links[id - p->first].dir; }

static void rows(const pair_kind *k, const pair *p, const int *local, int n, int *row) {
    for (int e = 0; e < n; ++e) row[e] = carom_kind_velocity(k, p, local[e]);
}

typedef struct task {
    const carom_model *m;
    void *work;
    const double *q;
    carom_local *L;
    int bad[MOST_LANES];
} task;

// A direction of a pair: count entries, in the rows `of` of its kind, with the values slot[place[]], or where place is
// NULL slot[].
typedef struct column { int count; const int *of, *place; const double *slot; } column;

static inline column column_of(const carom_model *two, carom_values x, int d) {
    const int first = two->place.W[d];
    return (column){two->place.W[d + 1] - first, two->W.i + first, x.place ? x.place + first : NULL,
                    x.place ? x.slot : x.slot + first};
}

static inline double entry(const column *c, int e) { return c->slot[c->place ? c->place[e] : e]; }

// It becomes column k of W, which is zero where W is dense.  Returns the sum of its entries: where that is finite they
// are.
static inline double put_column(carom_columns *W, int k, const pair_kind *kind, const pair *p, column c) {
    const int n_A = kind->nv[0], shift_A = p->v_at[0], shift_B = p->v_at[1] - n_A;
    double *restrict a = W->a + (size_t)k * (size_t)W->stride, sum = 0;
    if (W->row) {
        int *restrict row = carom_column_own_rows(W, k, c.count);
        for (int e = 0; e < c.count; ++e)
            row[e] = c.of[e] + (c.of[e] < n_A ? shift_A : shift_B), sum += a[e] = entry(&c, e);
    } else if (c.count == W->rows) { // all of them, in order
        for (int e = 0; e < c.count; ++e) sum += a[e] = entry(&c, e);
    } else if (kind->nv[0] == 0 || kind->nv[1] == 0) { // one of the two does not move
        a += n_A > 0 ? shift_A : shift_B;
        for (int e = 0; e < c.count; ++e) sum += a[c.of[e]] = entry(&c, e);
    } else {
        for (int e = 0; e < c.count; ++e) sum += a[c.of[e] + (c.of[e] < n_A ? shift_A : shift_B)] = entry(&c, e);
    }
    return sum;
}

// The same with all velocities of both bodies, zeros as well: blocks of G are made of such columns where they stand
// (delassus_blocks.c).
static inline double put_whole(carom_columns *W, int k, int all, int share, column c) {
    double *restrict a = W->a + (size_t)k * (size_t)W->stride, sum = 0;
    carom_zero(a, all);
    for (int e = 0; e < c.count; ++e) sum += a[c.of[e]] = entry(&c, e);
    W->count[k] = all;
    W->share[k] = share;
    return sum;
}

// A pair's contacts of L, from number `from` to before `to`; s: how its belts move, NULL: it has none.  Returns the sum
// of the entries.
static double put_pair(const task *t, const pair *p, int from, int to, bool whole, carom_values x, const double *s) {
    const pair_kind *kind = &t->m->kinds[p->kind];
    const carom_model *two = kind->two;
    carom_local *L = t->L;
    double sum = 0;
    for (int b = from; b < to; ++b)
        for (int k = L->at[b], d = first_direction(two, p, L->id[b]); k < L->at[b + 1]; ++k, ++d) {
            const column c = column_of(two, x, d);
            sum +=
                whole ? put_whole(&L->W, k, kind->nv[0] + kind->nv[1], 1 + from, c) : put_column(&L->W, k, kind, p, c);
            const double w = s && k > L->at[b] ? carom_belt_along(two, p, d, x.slot, s) : 0;
            if (L->w[k] != w) L->w[k] = w; // zeros that were never written take no memory
        }
    return sum;
}

// The contacts of L from number `first` to before `end`.  x: room for a group of a pair.
static int put_directions(const task *t, int first, int end, double *x) {
    const carom_model *m = t->m;
    carom_local *L = t->L;
    int bad = 0, from, to = first;
    for (const pair *p; (p = next(m, t->work, L, end, &from, &to));) {
        const pair_kind *kind = &m->kinds[p->kind];
        double s[3], sum = HUGE_VAL;
        const bool belt = p->listed && carom_pair_belt(m, t->work, p, t->q, NULL, s, NULL);
        const int all = kind->nv[0] + kind->nv[1];
        const bool whole = p->listed && L->W.share && all <= L->W.stride;
        // of all columns of the pair: number 1 + from
        int *list = whole ? L->W.row + (size_t)(L->W.n + from) * (size_t)L->W.stride : NULL;
        for (int i = 0; i < all && whole; ++i) list[i] = carom_kind_velocity(kind, p, i);
        carom_values values;
        if (!belt && carom_pair_values(m, t->work, p, PAIR_DIRECTIONS, t->q, m->v0, &values))
            sum = put_pair(t, p, from, to, whole, values, NULL);
        if (sum - sum == 0) continue;
        // which looks at each of them; held beyond its feature a contact has no direction
        bad |= carom_pair_eval(m, t->work, p, PAIR_DIRECTIONS, t->q, m->v0, x);
        put_pair(t, p, from, to, whole, (carom_values){x, NULL}, belt ? s : NULL);
    }
    return bad;
}

// The first contact of L whose number is at least id.
static int find(const carom_local *L, int id) {
    int low = 0, high = L->nb;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (L->id[middle] < id) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void lane_directions(void *user, int lane, int from, int to) {
    task *t = user;
    double *x =
        (double *)(void *)((unsigned char *)t->work + t->m->near->room) + (size_t)lane * (size_t)t->m->pair_count;
    t->bad[lane] = put_directions(t, find(t->L, from), find(t->L, to), x);
}

carom_status carom_shared_directions(const carom_model *m, void *work, double t0, const double *q, carom_local *L) {
    task t = {.m = m, .work = work, .q = q, .L = L};
    carom_belts_at(m, work, t0, q);
    int bad = put_directions(&t, 0, m->near ? find(L, m->ne + m->nc) : L->nb, room(m, work));
    if (m->near) carom_near_share(m, work, L->nb, lane_directions, &t);
    for (int i = 0; i < MOST_LANES; ++i) bad |= t.bad[i];
    return bad ? CAROM_USER : CAROM_OK;
}

// (SHP-20)  w_T' = t . s' + t' . s of the contacts from `from` to before `to`
static int add_belt(const carom_model *m, void *work, const pair *p, const double *q, const double *v,
                    const carom_local *L, int from, int to, double *kappa) {
    const pair_kind *kind = &m->kinds[p->kind];
    const carom_model *two = kind->two;
    const int n = p->A->space == SPATIAL ? 3 : 2;
    double s[3], rate[3], *x = room(m, work);
    if (!carom_pair_belt(m, work, p, q, v, s, rate)) return 0;
    int bad = carom_pair_eval(m, work, p, PAIR_DIRECTIONS, q, v, x);
    for (int b = from; b < to; ++b)
        for (int k = L->at[b] + 1, d = first_direction(two, p, L->id[b]) + 1; k < L->at[b + 1]; ++k, ++d)
            kappa[k] += carom_belt_along(two, p, d, x, rate);
    bad |= carom_pair_eval(m, work, p, PAIR_REACTION_GRADIENT, q, m->v0, x);
    for (int b = from; b < to; ++b)
        for (int k = L->at[b] + 1, d = first_direction(two, p, L->id[b]) + 1; k < L->at[b + 1]; ++k, ++d)
            for (int e = two->place.dW[d]; e < two->place.dW[d + 1]; ++e)
                if (two->dW.i[e] < n)
                    kappa[k] += x[e] * s[two->dW.i[e]] * v[carom_kind_velocity(kind, p, two->dW.l[e])];
    return bad;
}

carom_status carom_shared_curvature(const carom_model *m, void *work, double t, const double *q, const double *v,
                                    const carom_local *L, double *kappa) {
    double *x = room(m, work);
    int bad = 0, from, to = 0;
    carom_belts_at(m, work, t, q);
    for (const pair *p; (p = next(m, work, L, L->nb, &from, &to));) {
        bad |= carom_pair_eval(m, work, p, PAIR_CURVATURE, q, v, x);
        for (int b = from; b < to; ++b)
            for (int k = L->at[b], d = first_direction(m->kinds[p->kind].two, p, L->id[b]); k < L->at[b + 1]; ++k, ++d)
                kappa[k] = x[d];
        bad |= add_belt(m, work, p, q, v, L, from, to, kappa);
    }
    return bad ? CAROM_USER : CAROM_OK;
}

carom_status carom_shared_reaction_gradient(const carom_model *m, void *work, const double *q, const carom_local *L,
                                            const double *lambda, double s, carom_matrix D) {
    double *x = room(m, work);
    int bad = 0, from, to = 0;
    for (const pair *p; (p = next(m, work, L, L->nb, &from, &to));) {
        const pair_kind *kind = &m->kinds[p->kind];
        const carom_model *two = kind->two;
        bad |= carom_pair_eval(m, work, p, PAIR_REACTION_GRADIENT, q, m->v0, x);
        for (int b = from; b < to; ++b)
            for (int k = L->at[b], d = first_direction(two, p, L->id[b]); k < L->at[b + 1]; ++k, ++d)
                for (int e = two->place.dW[d]; e < two->place.dW[d + 1]; ++e) {
                    // in a world there is no room, and Newton's method does without
                    if (p->listed && !m->near->couples &&
                        (two->dW.i[e] < kind->nv[0]) != (two->dW.l[e] < kind->nv[0]))
                        continue;
                    const int i = carom_kind_velocity(kind, p, two->dW.i[e]),
                              l = carom_kind_velocity(kind, p, two->dW.l[e]);
                    D.a[carom_model_place(D.shape, i, l)] += s * lambda[k] * x[e];
                }
    }
    return bad ? CAROM_USER : CAROM_OK;
}

carom_status carom_shared_rate_gradient(const carom_model *m, void *work, const double *q, const double *v,
                                        const carom_local *L, carom_columns *D) {
    double *x = room(m, work);
    int bad = 0, from, to = 0, row[MOST];
    for (const pair *p; (p = next(m, work, L, L->nb, &from, &to));) {
        const pair_kind *kind = &m->kinds[p->kind];
        const carom_model *two = kind->two;
        bad |= carom_pair_eval(m, work, p, PAIR_RATE_GRADIENT, q, m->v0, x);
        for (int b = from; b < to; ++b)
            for (int k = L->at[b], d = first_direction(two, p, L->id[b]); k < L->at[b + 1]; ++k, ++d) {
                const int *local = two->place.D_row + two->place.D[d], count = two->place.D[d + 1] - two->place.D[d];
                double sum[MOST] = {0}, column[MOST];
                for (int e = two->place.dW[d]; e < two->place.dW[d + 1]; ++e)
                    sum[two->dW.l[e]] += x[e] * v[carom_kind_velocity(kind, p, two->dW.i[e])];
                for (int e = 0; e < count; ++e) column[e] = sum[local[e]];
                rows(kind, p, local, count, row);
                carom_model_put_column(D, k, row, column, count);
            }
    }
    return bad ? CAROM_USER : CAROM_OK;
}
