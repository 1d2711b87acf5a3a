// system.c: the system that schemes see, computed by the model's tape.
//
// Work block: the tape's, the check tape's, then scratch for the largest group, then those of pairs of shapes.
#include "expr/tape.h"
#include "flex/member.h"
#include "linalg/matrix.h"
#include "model/answers.h"
#include "model/conditions.h"
#include "model/pairs.h"
#include "model/soft_gaps.h"
#include "system/narrow.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Inputs of the tape of friction, behind its work: parameters, then the reactions that it uses.
static double *rub_inputs(const carom_model *m, void *work) {
    double *input = (double *)(void *)((unsigned char *)work + m->at.friction + carom_tape_work_size(m->friction.tape));
    carom_copy(input, carom_model_given(m, work), m->np);
    return input;
}

static void work_init(const void *model, void *work) {
    const carom_model *m = model;
    carom_copy(carom_model_given(m, work), m->parameter, m->np);
    carom_tape_work_init(m->tape, work, m->parameter);
    carom_pairs_work_init(m, work);
    if (m->bounce.tape) carom_tape_work_init(m->bounce.tape, (unsigned char *)work + m->at.bounce, m->parameter);
    carom_times_work_init(m, work, m->parameter);
    if (m->friction.tape)
        carom_tape_work_init(m->friction.tape, (unsigned char *)work + m->at.friction, rub_inputs(m, work));
    if (m->near && m->near->rub_tape)
        carom_tape_work_init(m->near->rub_tape, (unsigned char *)work + m->near->rub_work, carom_near_inputs(m, work));
}

static const double *eval(const carom_model *m, void *work, int group, double t, const double *q, const double *v) {
    double *x = carom_model_scratch(m, work);
    carom_model_eval(m, work, group, t, q, v, x);
    return x;
}

// Infinities and NaN must not travel on: a root of a negative number, a division by zero.
static carom_status finite(const double *x, int n) {
    int bad = 0; // no chain of additions: the tests run side by side
    for (int i = 0; i < n; ++i) bad |= !(fabs(x[i]) <= DBL_MAX);
    return bad ? CAROM_USER : CAROM_OK;
}

// Nonzero when one is not finite.
static inline int take(double *to, carom_values x, int first, int n) { return !carom_values_take(x, first, n, to); }

static carom_values values(const carom_model *m, void *work, int group, double t, const double *q, const double *v) {
    if (m->nmember) carom_model_look(m, work, &q, &v, group == GROUP_ROW);
    return carom_tape_values(m->tape, work, group, t, q, v);
}

// The lists of a group.
static bool fill(const carom_model *m, void *work, int group, double t, const double *q, const double *v, double *a,
                 double *b, double *c) {
    if (m->nmember) carom_model_look(m, work, &q, &v, false);
    return carom_tape_fill(m->tape, work, group, t, q, v, (double *const[3]){a, b, c});
}

static void put_mass(const carom_model *m, const double *x, carom_matrix M) {
    const int *i = m->mass.i, *j = m->mass.j, n = m->mass.n;
    if (M.shape.storage == CAROM_DENSE) // small and often: no need to ask for the storage at every entry
        for (int e = 0; e < n; ++e) M.a[i[e] + j[e] * m->nv] = M.a[j[e] + i[e] * m->nv] = x[e];
    else
        for (int e = 0; e < n; ++e)
            M.a[carom_model_place(M.shape, i[e], j[e])] = M.a[carom_model_place(M.shape, j[e], i[e])] = x[e];
}

static carom_status mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    const carom_model *m = model;
    const double *x = eval(m, work, GROUP_MASS, t, q, m->v0);
    put_mass(m, x, M);
    for (int k = 0; k < m->nmember; ++k) carom_member_mass(m->members[k].flex, M, m->members[k].v);
    carom_free_mass(m, M);
    return finite(x, m->mass.n);
}

// Forces of the model on top of those of members that write all of theirs; members that add theirs to what is there.
static carom_status force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    const carom_model *m = model;
    double *own = m->nmember ? carom_model_scratch(m, work) : f;
    const bool good = fill(m, work, GROUP_FORCE, t, q, v, own, NULL, NULL);
    carom_free_force(m, v, f);
    if (m->sys.contact_list->sleeps) carom_near_still(m, work, f);
    if (m->nmember == 0) return carom_soft_force(m, work, t, q, v, f) || !good ? CAROM_USER : CAROM_OK;
    const int n = m->visible.nv_own + 1 + m->visible.compiled;
    carom_zero(f, m->visible.nv_own);
    for (int k = 0; k < m->nmember; ++k) { // forces of members are finite in finite states, and states are watched
        const member *b = &m->members[k];
        if (carom_member_streams(b->flex)) carom_member_stream(b->flex, q + b->q, f + b->v);
        else carom_zero(f + b->v, b->count);
    }
    for (int k = 0; k < n; ++k) {
        const int i = carom_model_visible(m, k);
        if (i >= 0) f[i] += own[k];
    }
    for (int k = 0; k < m->nmember; ++k) {
        const member *b = &m->members[k];
        if (!carom_member_streams(b->flex)) carom_member_force(b->flex, q + b->q, v + b->v, f + b->v);
    }
    return carom_soft_force(m, work, t, q, v, f) || !good ? CAROM_USER : CAROM_OK;
}

static carom_status gaps(const void *model, void *work, double t, const double *q, double *g) {
    const carom_model *m = model;
    const bool good = fill(m, work, GROUP_GAPS, t, q, m->v0, g, NULL, NULL);
    CAROM_TRY(carom_pairs_gaps(m, work, t, q, g));
    return good ? CAROM_OK : CAROM_USER;
}

void carom_model_gaps(const carom_model *m, void *work, double t, const double *q, double *g) {
    gaps(m, work, t, q, g);
}

// Two lists of one group, the second moved to where it starts in the lists over all constraints.
static void spread(double *x, int first, int second, int count) {
    if (first != second) memmove(x + second, x + first, (size_t)count * sizeof *x);
}

carom_status carom_model_directions(const carom_model *m, void *work, double t, const double *q, const int *id, int n,
                                    double *x) {
    carom_status own = CAROM_OK;
    if (m->own.W + m->own.w > 0) {
        carom_model_eval(m, work, GROUP_DIRECTIONS, t, q, m->v0, x);
        own = finite(x, m->own.W + m->own.w);
        spread(x, m->own.W, m->W.n, m->own.w);
    }
    CAROM_TRY(carom_pairs_eval(m, work, PAIR_DIRECTIONS, t, q, m->v0, id, n, x, m->W.n));
    return own;
}

// The same from the tape, where constraints are all the model's own.  Returns the sum of the values: where that is
// finite they are.
static inline double take_column(carom_columns *to, int k, const int *restrict row, const double *restrict slot,
                                 const int *restrict place, int count) {
    const size_t at = (size_t)k * (size_t)to->stride;
    double *restrict a = to->a + at, sum = 0;
    if (to->row) {
        int *restrict rows = carom_column_own_rows(to, k, count);
        for (int e = 0; e < count; ++e) rows[e] = row[e], a[e] = slot[place[e]], sum += a[e];
        return sum;
    }
    carom_zero(a, to->rows); // the place may have held another constraint's column
    for (int e = 0; e < count; ++e) {
        const double y = slot[place[e]];
        a[row[e]] = y;
        sum += y;
    }
    return sum;
}

// A full dense column of n entries.  For short columns the overhead of a vectorised loop exceeds its work.
static inline double take_full(double *restrict a, const double *restrict slot, const int *restrict place, int n) {
    double sum = 0;
    for (; n >= 3; n -= 3, a += 3, place += 3) {
        const double x = slot[place[0]], y = slot[place[1]], z = slot[place[2]];
        a[0] = x, a[1] = y, a[2] = z;
        sum += x + y + z;
    }
    if (n > 0) sum += a[0] = slot[place[0]];
    if (n > 1) sum += a[1] = slot[place[1]];
    return sum;
}

// Their sum is not finite; are they?
static bool finite_columns(const carom_local *L) {
    bool good = finite(L->w, L->at[L->nb]) == CAROM_OK;
    for (int k = 0; k < L->at[L->nb]; ++k)
        good =
            good && finite(L->W.a + (size_t)k * (size_t)L->W.stride, L->W.row ? L->W.count[k] : L->W.rows) == CAROM_OK;
    return good;
}

static carom_status own_directions(const carom_model *m, void *work, double t, const double *q, carom_local *L) {
    const carom_values x = values(m, work, GROUP_DIRECTIONS, t, q, m->v0);
    const int *restrict start = m->place.W, *restrict w_of = m->place.w, rows = L->W.row ? 0 : L->W.rows;
    double *restrict W = L->W.a, *restrict w = L->w, sum = 0;
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b], d = m->links[L->id[b]].dir, end = L->at[b + 1]; k < end; ++k, ++d) {
            const int first = start[d], count = start[d + 1] - first, *place = x.place + first;
            sum += count == rows ? take_full(W + (size_t)k * (size_t)rows, x.slot, place, count)
                                 : take_column(&L->W, k, m->W.i + first, x.slot, place, count);
            w[k] = w_of[d] < 0 ? 0 : x.slot[x.place[m->W.n + w_of[d]]];
            sum += w[k];
        }
    return sum - sum == 0 || finite_columns(L) ? CAROM_OK : CAROM_USER;
}

// Constraints of L that are the model's own; those of pairs that come and go are behind them.
static int own_of(const carom_model *m, const carom_local *L) {
    int n = L->nb;
    while (m->near && n > 0 && L->id[n - 1] >= m->ne + m->nc) --n;
    return n;
}

static carom_status directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    const carom_model *m = model;
    if (m->npairs == 0 && !m->near) return own_directions(m, work, t, q, L);
    double *x = carom_model_scratch(m, work);
    CAROM_TRY(carom_model_directions(m, work, t, q, L->id, L->nb, x));
    const int own = own_of(m, L);
    for (int b = 0; b < own; ++b) {
        if (m->nkinds && carom_pair_shared(m, L->id[b])) continue;
        for (int k = L->at[b], d = m->links[L->id[b]].dir; k < L->at[b + 1]; ++k, ++d) {
            carom_model_put_column(&L->W, k, m->W.i + m->place.W[d], x + m->place.W[d],
                                   m->place.W[d + 1] - m->place.W[d]);
            L->w[k] = m->place.w[d] < 0 ? 0 : x[m->W.n + m->place.w[d]];
        }
    }
    return m->nkinds ? carom_shared_directions(m, work, t, q, L) : CAROM_OK;
}

static carom_status rates(const void *model, void *work, double t, const double *q, const double *v, double *u) {
    const carom_model *m = model;
    const int bad = take(u, values(m, work, GROUP_RATES, t, q, v), 0, m->own.dir);
    CAROM_TRY(carom_pairs_rates(m, work, t, q, v, u));
    return bad ? CAROM_USER : CAROM_OK;
}

static carom_status curvature(const void *model, void *work, double t, const double *q, const double *v,
                              const carom_local *L, double *kappa) {
    const carom_model *m = model;
    const int own = own_of(m, L);
    int first = 0; // that is not of a pair with a shared tape
    while (first < own && carom_pair_shared(m, L->id[first])) ++first;
    if (first < own) {
        const double *x = eval(m, work, GROUP_CURVATURE, t, q, v);
        CAROM_TRY(carom_pairs_eval(m, work, PAIR_CURVATURE, t, q, v, L->id, L->nb, carom_model_scratch(m, work), 0));
        for (int b = first; b < own; ++b)
            for (int k = L->at[b], d = m->links[L->id[b]].dir; k < L->at[b + 1]; ++k, ++d) kappa[k] = x[d];
        CAROM_TRY(finite(x, m->own.dir));
    }
    return carom_shared_curvature(m, work, t, q, v, L, kappa);
}

static carom_status hold(const void *model, void *work, carom_freeze what, double t, const double *q) {
    const carom_model *m = model;
    if (m->near) carom_near_freeze(m, work, what, q);
    int n;
    pair *listed = carom_near_pairs(m, work, &n);
    return m->npairs || (m->near && m->near->held_size) ? carom_pairs_freeze(m, work, what, t, q, listed, n) : CAROM_OK;
}

// Of those that are found by search alone.
static carom_status hold_searched(const void *model, void *work, carom_freeze what, double t, const double *q) {
    (void)t;
    carom_near_freeze(model, work, what, q);
    return CAROM_OK;
}

// Entries of a matrix, from value `first` of a group on.  False when one is not finite.
static bool put_terms(carom_matrix A, const terms *y, carom_values x, int first) {
    bool good = true;
    if (A.shape.storage == CAROM_DENSE) { // small and often: no need to ask for the storage at every entry
        const int *i = y->i, *j = y->j, *place = x.place + first, n = A.shape.n;
        double sum = 0; // finite if all values are; the chain of additions also keeps compilers from vectorising a
                        // short loop
        for (int e = 0; e < y->n; ++e) {
            const double value = x.slot[place[e]];
            A.a[i[e] + j[e] * n] = value;
            sum += value;
        }
        if (sum - sum == 0) return true;
    }
    for (int e = 0; e < y->n; ++e)
        good &= carom_values_take(x, first + e, 1, &A.a[carom_model_place(A.shape, y->i[e], y->j[e])]);
    return good;
}

static carom_status tangent(const void *model, void *work, double t, const double *q, const double *v, carom_matrix K,
                            carom_matrix C) {
    const carom_model *m = model;
    const carom_values x = values(m, work, GROUP_TANGENT, t, q, v);
    const bool good = put_terms(K, &m->K, x, 0) && put_terms(C, &m->C, x, m->K.n);
    for (int k = 0; k < m->nmember; ++k) {
        const member *b = &m->members[k];
        carom_member_tangent(b->flex, q + b->q, v + b->v, K, C, b->v);
    }
    carom_free_tangent(m, v, C);
    return good && !carom_soft_tangent(m, work, t, q, v, K, C) ? CAROM_OK : CAROM_USER;
}

static carom_status mass_gradient(const void *model, void *work, double t, const double *q, const double *y, double s,
                                  carom_matrix D) {
    const carom_model *m = model;
    if (m->dM.n == 0) return CAROM_OK;
    const carom_values x = values(m, work, GROUP_MASS_GRADIENT, t, q, m->v0);
    const int *restrict i = m->dM.i, *restrict j = m->dM.j, *restrict l = m->dM.l, n = D.shape.n;
    const bool dense = D.shape.storage == CAROM_DENSE;
    double *restrict a = D.a;
    int good = 1;
    for (int e = 0; e < m->dM.n; ++e) {
        const double d = x.slot[x.place[e]];
        good &= d - d == 0;
        a[dense ? (size_t)(i[e] + l[e] * n) : carom_model_place(D.shape, i[e], l[e])] += s * d * y[j[e]];
        if (i[e] != j[e])
            a[dense ? (size_t)(j[e] + l[e] * n) : carom_model_place(D.shape, j[e], l[e])] += s * d * y[i[e]];
    }
    return good ? CAROM_OK : CAROM_USER;
}

// Where constraints are all the model's own.
static carom_status own_reaction_gradient(const carom_model *m, void *work, double t, const double *q,
                                          const carom_local *L, const double *lambda, double s, carom_matrix D) {
    const carom_values x = values(m, work, GROUP_REACTION_GRADIENT, t, q, m->v0);
    int good = 1;
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b], d = m->links[L->id[b]].dir; k < L->at[b + 1]; ++k, ++d)
            for (int e = m->place.dW[d]; e < m->place.dW[d + 1]; ++e) {
                const double y = x.slot[x.place[e]];
                good &= y - y == 0;
                D.a[carom_model_place(D.shape, m->dW.i[e], m->dW.l[e])] += s * lambda[k] * y;
            }
    return good ? CAROM_OK : CAROM_USER;
}

static carom_status reaction_gradient(const void *model, void *work, double t, const double *q, const carom_local *L,
                                      const double *lambda, double s, carom_matrix D) {
    const carom_model *m = model;
    if (m->dW.n == 0) return carom_shared_reaction_gradient(m, work, q, L, lambda, s, D);
    if (m->npairs == 0 && !m->near) return own_reaction_gradient(m, work, t, q, L, lambda, s, D);
    const double *x = eval(m, work, GROUP_REACTION_GRADIENT, t, q, m->v0);
    CAROM_TRY(
        carom_pairs_eval(m, work, PAIR_REACTION_GRADIENT, t, q, m->v0, L->id, L->nb, carom_model_scratch(m, work), 0));
    for (int b = 0; b < own_of(m, L); ++b)
        for (int k = L->at[b], d = m->links[L->id[b]].dir; k < L->at[b + 1]; ++k, ++d)
            for (int e = m->place.dW[d]; e < m->place.dW[d + 1]; ++e)
                D.a[carom_model_place(D.shape, m->dW.i[e], m->dW.l[e])] += s * lambda[k] * x[e];
    CAROM_TRY(finite(x, m->own.dW));
    return carom_shared_reaction_gradient(m, work, q, L, lambda, s, D);
}

static carom_status own_rate_gradient(const carom_model *m, void *work, double t, const double *q, const double *v,
                                      const carom_local *L, carom_columns *D) {
    const carom_values x = values(m, work, GROUP_RATE_GRADIENT, t, q, m->v0);
    double *sum = carom_model_scratch(m, work) + m->scratch_count, *column = sum + m->nv;
    int good = 1;
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b], d = m->links[L->id[b]].dir; k < L->at[b + 1]; ++k, ++d) {
            const int *row = m->place.D_row + m->place.D[d], count = m->place.D[d + 1] - m->place.D[d];
            for (int e = 0; e < count; ++e) sum[row[e]] = 0;
            for (int e = m->place.dW[d]; e < m->place.dW[d + 1]; ++e) {
                const double y = x.slot[x.place[e]];
                good &= y - y == 0;
                sum[m->dW.l[e]] += y * v[m->dW.i[e]];
            }
            for (int e = m->place.dw[d]; e < m->place.dw[d + 1]; ++e) {
                const double y = x.slot[x.place[m->own.dW + e]];
                good &= y - y == 0;
                sum[m->dw.j[e]] += y;
            }
            for (int e = 0; e < count; ++e) column[e] = sum[row[e]];
            carom_model_put_column(D, k, row, column, count);
        }
    return good ? CAROM_OK : CAROM_USER;
}

static carom_status rate_gradient(const void *model, void *work, double t, const double *q, const double *v,
                                  const carom_local *L, carom_columns *D) {
    const carom_model *m = model;
    if (m->npairs == 0 && !m->near) return own_rate_gradient(m, work, t, q, v, L, D);
    double *x = carom_model_scratch(m, work), *sum = x + m->scratch_count, *column = sum + m->nv;
    carom_model_eval(m, work, GROUP_RATE_GRADIENT, t, q, m->v0, x);
    const carom_status own = finite(x, m->own.dW + m->own.dw);
    spread(x, m->own.dW, m->dW.n, m->own.dw);
    CAROM_TRY(carom_pairs_eval(m, work, PAIR_RATE_GRADIENT, t, q, m->v0, L->id, L->nb, x, m->dW.n));
    for (int b = 0; b < own_of(m, L); ++b)
        for (int k = L->at[b], d = m->links[L->id[b]].dir; k < L->at[b + 1]; ++k, ++d) {
            if (carom_pair_shared(m, L->id[b])) continue;
            const int *row = m->place.D_row + m->place.D[d], count = m->place.D[d + 1] - m->place.D[d];
            for (int e = 0; e < count; ++e) sum[row[e]] = 0;
            for (int e = m->place.dW[d]; e < m->place.dW[d + 1]; ++e) sum[m->dW.l[e]] += x[e] * v[m->dW.i[e]];
            for (int e = m->place.dw[d]; e < m->place.dw[d + 1]; ++e) sum[m->dw.j[e]] += x[m->dW.n + e];
            for (int e = 0; e < count; ++e) column[e] = sum[row[e]];
            carom_model_put_column(D, k, row, column, count);
        }
    CAROM_TRY(own);
    return carom_shared_rate_gradient(m, work, q, v, L, D);
}

static void add_member_energies(const carom_model *m, const double *q, const double *v, double *kinetic,
                                double *potential) {
    for (int k = 0; k < m->nmember; ++k) {
        const member *b = &m->members[k];
        double T, V;
        carom_member_energy(b->flex, q + b->q, v + b->v, &T, &V);
        *kinetic += T;
        *potential += V;
    }
    carom_free_energy(m, q, v, kinetic, potential);
}

static carom_status energy(const void *model, void *work, double t, const double *q, const double *v, double *kinetic,
                           double *potential) {
    const carom_model *m = model;
    const double *x = eval(m, work, GROUP_ENERGY, t, q, v);
    *kinetic = x[0];
    *potential = x[1];
    add_member_energies(m, q, v, kinetic, potential);
    carom_soft_energy(m, work, q, potential);
    const double both[2] = {*kinetic, *potential};
    return finite(both, 2);
}

// Power that the members' damping takes.
static double dissipation(const carom_model *m, const double *q, const double *v) {
    double sum = 0;
    for (int k = 0; k < m->nmember; ++k)
        sum += carom_member_dissipation(m->members[k].flex, q + m->members[k].q, v + m->members[k].v);
    return sum;
}

static carom_status power(const void *model, void *work, double t, const double *q, const double *v, double *external,
                          double *damping) {
    const double *x = eval(model, work, GROUP_POWER, t, q, v);
    const carom_status status = finite(x, 2);
    *external = x[0];
    *damping = x[1] + dissipation(model, q, v);
    carom_soft_power(model, work, t, q, v, external, damping);
    return status;
}

static carom_status power_along(const void *model, void *work, double t, const double *q, const double *v,
                                double weight, double *external, double *damping) {
    const carom_model *m = model;
    const double *x = eval(m, work, GROUP_ALONG, t, q, v);
    const int n = m->sys.nv;
    external[n] += weight * x[0];
    damping[n] += weight * (x[1] + dissipation(m, q, v));
    for (int k = 0; k < m->nalong; ++k) {
        external[m->along[k]] += weight * x[2 + 2 * k];
        damping[m->along[k]] += weight * x[3 + 2 * k];
    }
    const carom_status status = finite(x, 2 + 2 * m->nalong);
    carom_soft_along(m, work, t, q, v, weight, external, damping);
    return status;
}

// All forces have a potential that does not depend on time: there is nothing to ask at every stage of a step.
static bool powerless(const carom_model *m) {
    double external = 1, damping = 1;
    return m->nmember == 0 && !(m->near && m->near->yields) &&
           carom_graph_is_number(m->graph, m->power[0], &external) && external == 0 &&
           carom_graph_is_number(m->graph, m->power[1], &damping) && damping == 0;
}

static carom_status works(const void *model, void *work, double t, const double *q, const double *v, double *power) {
    const carom_model *m = model;
    return take(power, values(m, work, GROUP_ELEMENTS, t, q, v), 0, m->nelements) ? CAROM_USER : CAROM_OK;
}

// The tape looks at the point once instead of three times.
static carom_status motion(const void *model, void *work, double t, const double *q, const double *v, carom_matrix M,
                           double *f, double *g) {
    const carom_model *m = model;
    double *terms = m->whole_mass ? M.a : carom_model_scratch(m, work);
    const bool good = fill(m, work, g ? GROUP_MOTION_GAPS : GROUP_MOTION, t, q, v, f, terms, g);
    if (m->nfree) carom_free_force(m, v, f);
    if (m->sys.contact_list->sleeps) carom_near_still(m, work, f);
    if (!m->whole_mass) {
        carom_matrix_zero(M);
        put_mass(m, terms, M);
        carom_free_mass(m, M);
    }
    if (g) CAROM_TRY(carom_pairs_gaps(m, work, t, q, g));
    return carom_soft_force(m, work, t, q, v, f) || !good ? CAROM_USER : CAROM_OK;
}

// -- the same for models whose expressions are all there is

static carom_status whole_motion(const void *model, void *work, double t, const double *q, const double *v,
                                 carom_matrix M, double *f, double *g) {
    const carom_model *m = model;
    return carom_tape_fill(m->tape, work, g ? GROUP_MOTION_GAPS : GROUP_MOTION, t, q, v, (double *const[3]){f, M.a, g})
               ? CAROM_OK
               : CAROM_USER;
}

static carom_status whole_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    return carom_tape_fill(((const carom_model *)model)->tape, work, GROUP_FORCE, t, q, v, (double *const[3]){f})
               ? CAROM_OK
               : CAROM_USER;
}

static carom_status whole_gaps(const void *model, void *work, double t, const double *q, double *g) {
    const carom_model *m = model;
    return carom_tape_fill(m->tape, work, GROUP_GAPS, t, q, m->v0, (double *const[3]){g}) ? CAROM_OK : CAROM_USER;
}

static carom_status whole_observe(const void *model, void *work, double t, const double *q, const double *v, double *g,
                                  double *external, double *damping) {
    return carom_tape_fill(((const carom_model *)model)->tape, work, GROUP_OBSERVE, t, q, v,
                           (double *const[3]){external, damping, g})
               ? CAROM_OK
               : CAROM_USER;
}

static carom_status free_motion(const void *model, void *work, double t, const double *q, const double *v, double *a,
                                double *g) {
    const carom_model *m = model;
    return carom_tape_free(m->tape, work, GROUP_MOTION_GAPS, t, q, v, a, g) ? CAROM_OK : CAROM_RETRY;
}

// M, f, g and W by compiled code.  It writes the columns of all directions: into L if that has them all, else those of
// L are copied.
static carom_status motion_directions(const void *model, void *work, double t, const double *q, const double *v,
                                      carom_matrix M, double *f, double *g, carom_local *L) {
    const carom_model *m = model;
    const int n = m->nv, ndir = m->own.dir;
    if (!m->tape->native || L->W.row || L->W.stride != n) return CAROM_RETRY;
    const bool all = L->at[L->nb] == ndir; // ids ascend: every constraint with every direction; L lacks tangents that
                                           // are in records only
    double *scratch = carom_model_scratch(m, work), *W = all ? L->W.a : scratch, *w = all ? L->w : scratch + n * ndir,
           *gap = g ? g : scratch + (n + 1) * ndir;
    if (!carom_tape_once(m->tape, work, GROUP_MOTION_DIRECTIONS, t, q, v,
                         (double *const[CAROM_LISTS]){f, M.a, gap, W, w}))
        return CAROM_RETRY;
    for (int b = 0; b < L->nb && !all; ++b)
        for (int k = L->at[b], d = m->links[L->id[b]].dir; k < L->at[b + 1]; ++k, ++d) {
            for (int i = 0; i < n; ++i) L->W.a[k * n + i] = W[d * n + i];
            L->w[k] = w[d];
        }
    return CAROM_OK;
}

// In one go what is booked after every step; the tape looks at the point once instead of twice.
static carom_status observe(const void *model, void *work, double t, const double *q, const double *v, double *g,
                            double *external, double *damping) {
    const carom_model *m = model;
    const bool good = fill(m, work, GROUP_OBSERVE, t, q, v, external, damping, g);
    *damping += dissipation(m, q, v);
    carom_soft_power(m, work, t, q, v, external, damping);
    CAROM_TRY(carom_pairs_gaps(m, work, t, q, g));
    return good ? CAROM_OK : CAROM_USER;
}

carom_status carom_model_row(const carom_model *m, void *work, double t, const double *q, const double *v,
                             double energy[2], double *u, double *gap, double *out) {
    if (!m || !work || !q || !v || !energy || !u || !out || (m->npairs > 0 && !gap)) return CAROM_BAD_INPUT;
    const carom_values x = values(m, work, GROUP_ROW, t, q, v);
    const int bad = take(energy, x, 0, 2) | take(u, x, 2, m->own.dir);
    take(out, x, 2 + m->own.dir, m->nout); // an output may be what it is
    carom_soft_outputs(m, work, t, q, v, out);
    add_member_energies(m, q, v, &energy[0], &energy[1]);
    carom_soft_energy(m, work, q, &energy[1]);
    if (m->npairs == 0) return bad ? CAROM_USER : CAROM_OK;
    carom_pairs_exact(m, work, true);
    carom_status status = carom_pairs_own_gaps(m, work, t, q, gap);
    if (status == CAROM_OK) status = carom_pairs_rates(m, work, t, q, v, u);
    carom_pairs_exact(m, work, false);
    return bad ? CAROM_USER : status;
}

// Bounds from the graph: W holds the slopes of a gap, dW its second derivatives.
static bool reach_of(const carom_model *m, const double *given, carom_magnitude *x, int n, carom_gap_bounds *to) {
    static const double ROUNDED = 1e-9; // of a bound: many times what the sums of its terms lose
    const double up = 1 + ROUNDED;
    carom_graph_magnitudes(m->graph, given, m->np_own, HUGE_VAL, x, n);
    to->powerless = x[m->power[0]].most == 0 && x[m->power[1]].most == 0;
    double sum = 0;
    for (int id = 0; id < m->nc; ++id) {
        const int d = m->links[id].dir;
        for (int e = m->place.W[d]; e < m->place.W[d + 1]; ++e) {
            double *slope = &to->slope[m->W.i[e]];
            *slope = fmax(*slope, up * x[m->W.node[e]].most);
        }
        for (int k = 0; k < m->nv; ++k) {
            double bend = 0;
            for (int e = m->place.dW[d]; e < m->place.dW[d + 1]; ++e)
                if (m->dW.i[e] == k) bend += x[m->dW.node[e]].most;
            to->bend[k] = fmax(to->bend[k], up * bend);
        }
    }
    for (int k = 0; k < m->nv; ++k) sum += to->slope[k] + to->bend[k];
    carom_graph_magnitudes(m->graph, given, m->np_own, 0, x, n);
    for (int id = 0; id < m->nc; ++id) to->size = fmax(to->size, x[m->links[id].gap].most);
    return sum + to->size < HUGE_VAL;
}

static bool reach(const void *model, void *work, carom_gap_bounds *to) {
    enum { MOST = 100000 }; // nodes
    const carom_model *m = model;
    int n = 0;
    const carom_node *list[] = {m->W.node, m->dW.node, m->power};
    const int count[] = {m->W.n, m->dW.n, 2};
    for (int k = 0; k < 3; ++k)
        for (int e = 0; e < count[k]; ++e) n = list[k][e] >= n ? list[k][e] + 1 : n;
    for (int id = 0; id < m->nc; ++id) n = m->links[id].gap >= n ? m->links[id].gap + 1 : n;
    carom_magnitude *x = n <= MOST ? malloc((size_t)(n + 1) * sizeof *x) : NULL;
    const bool good = x && reach_of(m, carom_model_given(m, work), x, n, to);
    free(x);
    return good;
}

static carom_status kinks(const void *model, void *work, double t, const double *q, const double *v, double *k) {
    const carom_model *m = model;
    const double *x = m->nkinks ? eval(m, work, GROUP_KINKS, t, q, v) : NULL;
    int bad = carom_soft_kinks(m, work, q, v, k + m->nkinks);
    if (!x) return bad ? CAROM_USER : CAROM_OK;
    carom_copy(k, x, m->nkinks);
    return bad ? CAROM_USER : finite(x, m->nkinks);
}

static double compliant(const void *model, void *work, double t, const double *q, long long *which) {
    const carom_model *m = model;
    const double *x = m->ncompliant ? eval(m, work, GROUP_KINKS, t, q, m->v0) : NULL;
    double most = 0;
    for (int i = 0; i < m->ncompliant; ++i)
        if (-x[m->compliant[i].kink] > most) most = -x[m->compliant[i].kink], *which = i;
    carom_soft_deepest(m, work, q, &most, which);
    return most;
}

int carom_model_soft_count(const carom_model *m) { return m->ncompliant; }

void carom_model_soft_gaps(const carom_model *m, void *work, double t, const double *q, double *g) {
    const double *x = m->ncompliant ? eval(m, work, GROUP_KINKS, t, q, m->v0) : NULL;
    for (int i = 0; i < m->ncompliant; ++i) g[i] = x[m->compliant[i].kink];
}

static carom_status friction(const void *model, void *work, double t, const double *q, const double *v,
                             const double *force, double *law) {
    const carom_model *m = model;
    if (m->near && m->near->rub_tape) CAROM_TRY(carom_near_friction(m, work, t, q, v, force, law));
    if (!m->friction.tape) return CAROM_OK;
    unsigned char *own = (unsigned char *)work + m->at.friction;
    double *x = carom_model_scratch(m, work), *input = rub_inputs(m, work);
    for (int i = 0; i < m->friction.nreacting; ++i)
        input[m->np + i] = force ? force[m->links[m->friction.reacting[i]].dir] : 0;
    carom_tape_work_parameters(m->friction.tape, own, input);
    carom_model_look(m, work, &q, &v, true);
    carom_tape_eval(m->friction.tape, own, 0, t, q, v, x);
    for (int c = 0; c < m->nc; ++c)
        if (m->contacts[c].friction_varies)
            carom_copy(law + CAROM_FRICTION_LAW * c, x + CAROM_FRICTION_LAW * m->friction.of[c], CAROM_FRICTION_LAW);
    return finite(x, CAROM_FRICTION_LAW * m->friction.n);
}

// The tape gives the restitutions of all contacts that have one of their own, behind its work.
static double restitution(const void *model, void *work, int contact, double speed) {
    const carom_model *m = model;
    const carom_values x =
        carom_tape_values(m->bounce.tape, (unsigned char *)work + m->at.bounce, 0, speed, NULL, NULL);
    return x.slot[x.place[contact < m->nc ? m->bounce.of[contact]
                                          : m->near->bounce[carom_near_kind(m, work, contact - m->nc)]]];
}

// -- the struct ---------------------------------------------------------------------------------------

bool carom_terms_constant(const carom_model *m, const terms *x) {
    for (int e = 0; e < x->n; ++e)
        if (carom_graph_depends(m->graph, x->node[e], CAROM_TIME, 0) ||
            carom_graph_depends(m->graph, x->node[e], CAROM_POSITION, -1) || carom_depends_on_signals(m, x->node[e]))
            return false;
    return true;
}

// f = f(t) - K q - C v?
static bool linear(const carom_model *m) {
    if (m->near && m->near->yields) return false;
    const terms *both[] = {&m->K, &m->C};
    for (int i = 0; i < 2; ++i)
        for (int e = 0; e < both[i]->n; ++e)
            if (carom_graph_depends(m->graph, both[i]->node[e], CAROM_VELOCITY, -1)) return false;
    for (int k = 0; k < m->nmember; ++k)
        if (!carom_member_linear(m->members[k].flex)) return false;
    return carom_terms_constant(m, &m->mass) && carom_terms_constant(m, &m->K) && carom_terms_constant(m, &m->C);
}

static bool steady_directions(const carom_model *m) {
    for (int k = 0; k < m->nkinds; ++k)
        if (!m->kinds[k].constant) return false;
    return carom_terms_constant(m, &m->W);
}

static bool timeless(const carom_model *m) {
    for (int id = 0; id < m->ne + m->nc; ++id)
        if (carom_graph_depends(m->graph, m->links[id].gap, CAROM_TIME, 0)) return false;
    return m->w.n == 0 && (!m->near || m->near->nbelts == 0);
}

// A block of `size` bytes behind the others, on a cache line of its own: where it starts.
static size_t place_block(size_t *end, size_t size) {
    enum { LINE = 63 };
    const size_t at = (*end + LINE) & ~(size_t)LINE;
    *end = at + size;
    return at;
}

static bool narrow_forces(const carom_model *m) {
    return carom_graph_narrow(m->graph, m->visible.nv_own, m->force) ||
           carom_graph_narrow(m->graph, 1, &m->potential) ||
           carom_graph_narrow(m->graph, m->state.n, m->state.rate);
}

// Where everything stands in the work block; its size.
static carom_status place_work(carom_model *m, carom_error *err) {
    static const unsigned STEADY = CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    size_t end = carom_tape_work_size(m->tape);
    m->at.check = place_block(&end, carom_tape_work_size(m->check_tape));
    const size_t of_pair = (size_t)m->pair_count * (m->near && m->near->yields ? 2 : 1); // (CC-3) asks for two groups
    m->at.scratch = place_block(
        &end, ((size_t)m->scratch_count + 2 * (size_t)m->nv + of_pair + (size_t)m->check_parameters) * sizeof(double));
    m->at.visible = end;
    m->visible.compiled = m->visible.n;
    end =
        carom_pairs_work(m, end + (m->nmember ? ((size_t)m->visible.nq + (size_t)m->visible.nv) * sizeof(double) : 0));
    if (m->bounce.tape) m->at.bounce = place_block(&end, carom_tape_work_size(m->bounce.tape));
    if (m->friction.tape)
        m->at.friction = place_block(&end, carom_tape_work_size(m->friction.tape) +
                                               (size_t)(m->np + m->friction.nreacting) * sizeof(double));
    if (m->near && m->near->rub_tape)
        m->near->rub_work =
            place_block(&end, carom_tape_work_size(m->near->rub_tape) +
                                  (size_t)(m->np + 2 + 2 * m->near->nrubs) * sizeof(double));
    m->at.given = place_block(&end, (size_t)m->np * sizeof(double));
    const bool gaps = m->own.links > m->ne && (m->sys.flags & STEADY) != STEADY, narrow = narrow_forces(m),
               forces = m->nmember == 0 && (narrow || m->nkinks > 0 || (m->times.tape && m->times.npulses > 0));
    if (gaps || forces) {
        end = carom_bounds_work(m, gaps, forces, end);
        if (!end) return carom_fail(err, CAROM_NO_MEMORY, "no memory for the bounds of gaps and forces");
        m->extensions->events.gap_bounds = gaps ? carom_model_bounds : NULL;
        m->extensions->events.force_bounds = forces ? carom_model_force_bounds : NULL;
        if (!narrow) m->sys.flags |= CAROM_NARROW_AT_EVENTS;
    }
    m->sys.work_size = m->times.tape ? carom_times_work(m, end) : end;
    return CAROM_OK;
}

// Functions that some models lack.
static void set_optional(carom_model *m, bool turns) {
    carom_system *s = &m->sys;
    carom_extensions *e = m->extensions;
    s->restitution = m->bounce.tape ? restitution : NULL;
    s->friction = m->friction.tape || (m->near && m->near->rub_tape) ? friction : NULL;
    e->events.next_jump = m->times.tape && m->times.nswitches ? carom_model_jump : NULL;
    e->events.limit_step = m->times.tape && m->times.npulses ? carom_model_even : NULL;
    s->explain = m->nasked ? carom_tables_explain : NULL;
    e->events.kinks_per_slot = m->near && m->near->yields ? SOFT_KINKS : 0;
    e->events.kinks = m->nkinks || e->events.kinks_per_slot ? kinks : NULL;
    e->checks.compliant_overlap = m->ncompliant || (m->near && m->near->yields) ? compliant : NULL;
    s->move = turns ? carom_model_move : NULL;
    s->lift = turns ? carom_model_lift : NULL;
    s->power = powerless(m) ? NULL : power;
    e->accounts.power_along = m->along ? power_along : NULL;
    const bool own = m->nc > 0 && m->ne == 0 && m->npairs == 0 && !m->near && m->nmember == 0 && !turns;
    e->events.global_bounds = own && s->flags & CAROM_TIMELESS_GAPS ? reach : NULL;
    e->events.freeze = m->npairs || (m->near && m->near->patches) ? hold : NULL;
    e->list.freeze = m->near && m->near->held_size ? hold : NULL;
    e->list.freeze_searched = m->near && m->near->patches ? hold_searched : NULL;
    e->checks.displacement_bound = m->npairs ? carom_model_travel : NULL;
    e->accounts.works = m->nelements ? works : NULL;
    e->speed.free_motion = m->only_expressions ? free_motion : NULL;
    e->speed.motion_directions = m->tape->group[GROUP_MOTION_DIRECTIONS].count > 0 ? motion_directions : NULL;
}

static void set_functions(carom_model *m) {
    carom_system *s = &m->sys;
    carom_extensions *e = m->extensions;
    const bool some = m->ne + m->nc > 0 || m->near,
               whole = m->nmember == 0 && m->nfree == 0 && m->npairs == 0 && !m->near;
    s->work_init = work_init;
    s->mass = mass;
    s->force = whole ? whole_force : force;
    s->gaps = !some ? NULL : whole ? whole_gaps : gaps;
    s->directions = some ? directions : NULL;
    e->speed.rates = some ? rates : NULL;
    s->curvature = curvature;
    s->tangent = tangent;
    s->mass_gradient = mass_gradient;
    s->reaction_gradient = reaction_gradient;
    s->rate_gradient = rate_gradient;
    s->energy = energy;
    e->speed.observe = whole ? whole_observe : observe;
    e->speed.motion = m->nmember ? NULL : m->only_expressions ? whole_motion : motion;
}

carom_status carom_model_system_make(carom_model *m, carom_error *err) {
    carom_system *s = &m->sys;
    carom_extensions *e = carom_pool_take(&m->memory, sizeof *e);
    if (!e) return carom_model_no_memory(m, err);
    m->extensions = e;
    *s = carom_system_default(m->nq, m->nv, m->ne, m->nc); // and those that come and go
    carom_system_extend(s, e);
    s->first_state = m->state.first, s->nstates = m->state.n;
    s->nrates = m->nrates;
    const bool turns = carom_model_turns(m);
    CAROM_TRY(carom_model_shapes(m, err));
    s->flags = (carom_terms_constant(m, &m->mass) ? CAROM_CONSTANT_MASS : 0u) |
               (steady_directions(m) ? CAROM_CONSTANT_DIRECTIONS : 0u) | (timeless(m) ? CAROM_TIMELESS_GAPS : 0u) |
               (linear(m) && !turns ? CAROM_LINEAR : 0u) | CAROM_FORCE_SETS;
    s->contacts = m->contacts;
    s->model = m;
    e->events.nk = m->nkinks;
    e->events.kink_of = m->kink_of;
    e->accounts.nworks = m->nelements;
    CAROM_TRY(place_work(m, err));
    carom_signals_system(m);
    set_functions(m);
    set_optional(m, turns);
    if (m->near) CAROM_TRY(carom_near_system(m, err));
    return carom_conditions_system(m, err);
}
