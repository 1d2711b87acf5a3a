// examine_derivatives.c: `carom check`: are the derivatives of a model right, and its mass matrix positive?
//
// Exact derivatives are held against central differences (relative error about 1e-9 when both are right), at the
// initial state and at states near it.  A wrong term is wrong beside a state as well, and for any step; a kink (abs,
// if, min, max) is not: an entry counts with the least of its errors there.
#include "base/number.h"
#include "base/random.h"
#include "base/tolerance.h"
#include "derive/examine.h"
#include "flex/member.h"
#include "linalg/matrix.h"
#include "scheme/advice.h"
#include "scheme/registry.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATES = 4 }; // the start, and three beside it: wrong terms may vanish at one
static const double AGREE = 1e-5; // worse than any rounding, better than any wrong term
static const double LOST = 1e-4;       // of the differentiated quantity: entries below drown in the rounding of its
                                       // differences
static const double OTHER = 1e-3;      // weight of the other side of a comparison in its scale: a missing term must not
                                       // hide behind itself
static const double STEP = 6e-6;       // of central differences, where rounding and the error of third order are equal
static const double SHORT_STEP = 2e-7; // a second try, where a kink lies within STEP
static const double ENERGY = 1e-9;     // rounding of sums of energies
static const double BESIDE = 1e-2;     // how far the states beside the start lie from it
static const double APART = 1.2e-4;    // 20 steps of differences beside a state: away from its kinks, close for what is
                                       // smooth
static const double CANCELLED = 1e-13; // pivots of the mass matrix below this part of their diagonal entry have
                                       // cancelled...
static const double COUPLED = 1e-6;    // ...and are 0 only where nothing couples to them by more than this
static const double MASSLESS = 1e-12;  // lowest pivot of a coordinate that has inertia

// q_1 = q (+) h dq
static void beside(const exam *x, const double *q, double h, const double *dq) {
    const carom_system *s = &x->m->sys;
    if (s->move) s->move(s->model, x->q_1, q, h, dq);
    else carom_add(x->q_1, q, h, dq, s->nv);
}

static entry *next_entry(exam *x) {
    if (x->judged == x->room) {
        const size_t room = 2 * x->room + 1000;
        entry *more = realloc(x->at, room * sizeof *more);
        if (!more) return NULL;
        for (size_t k = x->room; k < room; ++k) more[k] = (entry){.error = INFINITY};
        x->at = more, x->room = room;
    }
    return &x->at[x->judged++];
}

// Keep the worst entry: d(what of name a)/d(coordinate by; -1: time).  A difference is known no better than that with
// another step.
static void judge(exam *x, double exact, double difference, double scale, const char *what, const char *a, int by) {
    entry *e = next_entry(x);
    if (!e) {
        x->full = true;
        return;
    }
    const double doubt = x->again ? 2 * fabs(difference - e->difference) : 0;
    const double error = fmax(0, fabs(exact - difference) - doubt) / (scale > 0 ? scale : 1);
    e->difference = difference;
    if (!isnan(exact - difference) && error < e->error) e->error = error;
    if (e->error <= x->worst.error) return;
    x->worst.error = e->error;
    carom_format(x->worst.entry, sizeof x->worst.entry, "%s of '%.60s' by '%.60s' (exact %.9g, difference %.9g)", what,
                 a, by < 0 ? "t" : carom_model_freedom(x->m, by), exact, difference);
}

// size_of_f is that of the differentiated quantity: entries far below it are lost in the rounding of differences.
static void judge_matrix(exam *x, carom_matrix A, carom_matrix B, double size_of_f, const char *what) {
    double scale = LOST * size_of_f;
    const size_t size = carom_shape_size(A.shape);
    for (size_t e = 0; e < size; ++e) scale = fmax(scale, fmax(fabs(A.a[e]), OTHER * fabs(B.a[e])));
    for (int j = 0; j < A.shape.n; ++j)
        for (int i = 0; i < A.shape.n; ++i) {
            const double *a = carom_matrix_entry(A, i, j), *b = carom_matrix_entry(B, i, j);
            if (a && b) judge(x, *a, *b, scale, what, carom_model_freedom(x->m, i), j);
        }
}

static const char *link_of(const exam *x, int k) {
    int id = 0;
    while (x->L.at[id + 1] <= k) ++id;
    return x->m->links[id].name;
}

static void judge_columns(exam *x, const carom_columns *P, const carom_columns *Q, double size_of_f, const char *what) {
    for (int k = 0; k < x->L.at[x->L.nb]; ++k) {
        carom_column_expand(x->a, P, k);
        carom_column_expand(x->b, Q, k);
        const double scale =
            fmax(LOST * size_of_f, fmax(carom_norm_max(x->a, x->m->nv), OTHER * carom_norm_max(x->b, x->m->nv)));
        for (int i = 0; i < x->m->nv; ++i) judge(x, x->a[i], x->b[i], scale, what, link_of(x, k), i);
    }
}

// Which of the coordinates of this group does row k touch; the first of the group where none; -1: the group is time.
static int touched(const exam *x, int k, int group) {
    const carom_columns *W = &x->L.W;
    if (group < 0) return -1;
    for (int e = 0; W->count && e < W->count[k]; ++e) {
        const int j = carom_column_rows(W, k)[e];
        if (x->group[j] == group) return j;
    }
    int j = 0;
    while (x->group[j] != group) ++j;
    return j;
}

// Groups of coordinates of which no gap touches two: their differences are taken at once.  Dense columns: each is
// alone.
static int group_coordinates(exam *x) {
    const carom_columns *W = &x->L.W;
    const int nv = x->m->nv;
    int groups = 0;
    for (int j = 0; j < nv; ++j) {
        for (int g = 0; g <= groups; ++g) x->free[g] = W->count || g == j;
        for (int id = 0; W->count && id < x->L.nb; ++id) {
            const int k = x->L.at[id], *row = carom_column_rows(W, k);
            bool here = false;
            for (int e = 0; e < W->count[k]; ++e) here = here || row[e] == j;
            for (int e = 0; here && e < W->count[k]; ++e)
                if (row[e] < j) x->free[x->group[row[e]]] = false;
        }
        int g = 0;
        while (!x->free[g]) ++g;
        x->group[j] = g;
        if (g == groups) ++groups;
    }
    return groups;
}

// Normal columns of W and w against differences of the gaps.
static carom_status examine_gaps(exam *x, double t) {
    const carom_system *s = &x->m->sys;
    double *after = x->g, *before = x->g + x->L.nb;
    for (int g = -1; g < x->groups; ++g) {
        const double h_t = g < 0 ? x->step * fmax(1, t) : 0;
        for (int j = 0; j < s->nv; ++j)
            x->dq[j] = x->group[j] == g ? x->step * fmax(1, s->move ? carom_norm_max(x->q, s->nq) : fabs(x->q[j])) : 0;
        beside(x, x->q, 1, x->dq);
        CAROM_TRY(s->gaps(s->model, x->work, t + h_t, x->q_1, after));
        beside(x, x->q, -1, x->dq);
        CAROM_TRY(s->gaps(s->model, x->work, t - h_t, x->q_1, before));
        for (int id = 0; id < x->L.nb; ++id) {
            const int k = x->L.at[id], j = touched(x, k, g);
            if (x->m->links[id].on_rates) continue; // the gradient of nothing
            carom_column_expand(x->a, &x->L.W, k);
            const double scale = carom_norm_max(x->a, s->nv),
                         d = (after[id] - before[id]) / (2 * (j < 0 ? h_t : x->dq[j]));
            judge(x, j < 0 ? x->L.w[k] : x->a[j], d, fmax(scale, fabs(x->L.w[k])), "the gap", x->m->links[id].name, j);
        }
    }
    return CAROM_OK;
}

static carom_status examine_local(exam *x, double t) {
    const carom_system *s = &x->m->sys;
    if (x->L.nb == 0) return CAROM_OK;
    const int n = x->L.at[x->L.nb];
    CAROM_TRY(s->directions(s->model, x->work, t, x->q, &x->L));
    if (x->groups == 0) x->groups = group_coordinates(x);
    CAROM_TRY(examine_gaps(x, t));
    CAROM_TRY(s->curvature(s->model, x->work, t, x->q, x->v, &x->L, x->a));
    CAROM_TRY(carom_difference_curvature(&x->difference, s, x->work, t, x->q, x->v, &x->L, x->b));
    const double speed = carom_norm_max(x->v, s->nv);
    double W = 0;
    for (int k = 0; k < n; ++k) {
        carom_column_expand(x->W, &x->L.W, k);
        W = fmax(W, carom_norm_max(x->W, s->nv));
    }
    for (int k = 0; k < n; ++k)
        judge(x, x->a[k], x->b[k], fmax(fabs(x->a[k]), OTHER * W * speed * speed), "the local acceleration",
              link_of(x, k), -1);
    CAROM_TRY(s->rate_gradient(s->model, x->work, t, x->q, x->v, &x->L, &x->P));
    CAROM_TRY(carom_difference_rate_gradient(&x->difference, s, x->work, t, x->q, x->v, &x->L, &x->Q));
    if (s->column_stride >= s->nv) judge_columns(x, &x->P, &x->Q, speed * W, "the local velocity");
    for (int k = 0; k < n; ++k) x->a[k] = 1 + 0.1 * k;
    carom_matrix_zero(x->A);
    carom_matrix_zero(x->B);
    CAROM_TRY(s->reaction_gradient(s->model, x->work, t, x->q, &x->L, x->a, 1, x->A));
    for (int k = 0; k < n; ++k) x->b[k] = 1 + 0.1 * k;
    CAROM_TRY(carom_difference_reaction_gradient(&x->difference, s, x->work, t, x->q, &x->L, x->b, 1, x->B));
    judge_matrix(x, x->A, x->B, W * n, "the reaction");
    return CAROM_OK;
}

// The energies where the state has moved for the time h along q' = v at constant v; first-order states along z' =
// r/M_z, r the forces on them in x->b.
static carom_status energies_beside(exam *x, double t, double h, double *T, double *V) {
    const carom_model *m = x->m;
    const carom_system *s = &m->sys;
    double *z = x->v + m->state.first, *kept = x->a + m->state.first;
    beside(x, x->q, h, x->v);
    carom_copy(kept, z, m->state.n);
    for (int k = 0; k < m->state.n; ++k) z[k] += h * x->b[m->state.first + k] / m->state.mass[k];
    const carom_status status = s->energy(s->model, x->work, t + h, x->q_1, x->v, T, V);
    carom_copy(z, kept, m->state.n);
    return status;
}

// M v against differences of T by v, and the balance v.f + dE/ds = external - damping along q' = v at constant v.
// First-order states have a mass and no energy.
static carom_status examine_energy(exam *x, double t) {
    const carom_system *s = &x->m->sys;
    double T1, T2, V1, V2, external = 0, damping = 0;
    carom_matrix M = x->difference.M;
    carom_matrix_zero(M);
    CAROM_TRY(s->mass(s->model, x->work, t, x->q, M));
    carom_matrix_mul(x->a, M, x->v);
    for (int i = 0; i < s->nv; ++i) {
        if (carom_model_state(x->m, i)) continue;
        const double v = x->v[i], h = fmax(1, fabs(v));
        x->v[i] = v + h;
        CAROM_TRY(s->energy(s->model, x->work, t, x->q, x->v, &T1, &V1));
        x->v[i] = v - h;
        CAROM_TRY(s->energy(s->model, x->work, t, x->q, x->v, &T2, &V2));
        x->v[i] = v;
        judge(x, x->a[i], (T1 - T2) / (2 * h), carom_norm_max(x->a, s->nv) + (fabs(T1) + fabs(T2)) / h,
              "the kinetic energy", "kinetic", i);
    }
    const double h = STEP * fmax(1, carom_norm_max(x->q, s->nq)) / fmax(1, carom_norm_max(x->v, s->nv));
    carom_zero(x->b, s->nv);
    CAROM_TRY(s->force(s->model, x->work, t, x->q, x->v, x->b));
    if (s->power) CAROM_TRY(s->power(s->model, x->work, t, x->q, x->v, &external, &damping));
    CAROM_TRY(energies_beside(x, t, h, &T1, &V1));
    CAROM_TRY(energies_beside(x, t, -h, &T2, &V2));
    carom_zero(x->b + x->m->state.first, x->m->state.n);
    double scale =
        ENERGY * (fabs(T1) + fabs(V1)) / h + fabs(external) + fabs(damping); // rounding of the energies, divided by h
    for (int i = 0; i < s->nv; ++i) scale += fabs(x->b[i] * x->v[i]);
    judge(x, external - damping - carom_dot(x->b, x->v, s->nv), (T1 + V1 - T2 - V2) / (2 * h), scale, "the power",
          "energy", -1);
    return CAROM_OK;
}

static carom_status examine_state(exam *x, double t) {
    const carom_system *s = &x->m->sys;
    carom_matrix *const all[] = {&x->A, &x->B, &x->C, &x->D};
    for (int k = 0; k < 4; ++k) carom_matrix_zero(*all[k]);
    CAROM_TRY(s->tangent(s->model, x->work, t, x->q, x->v, x->A, x->B));
    CAROM_TRY(carom_difference_tangent(&x->difference, s, x->work, t, x->q, x->v, x->C, x->D));
    double T = 0, V = 0;
    carom_zero(x->a, s->nv);
    CAROM_TRY(s->force(s->model, x->work, t, x->q, x->v, x->a));
    CAROM_TRY(s->energy(s->model, x->work, t, x->q, x->v, &T, &V));
    const double f = carom_norm_max(x->a, s->nv) + fabs(T);
    judge_matrix(x, x->A, x->C, f, "the force");
    judge_matrix(x, x->B, x->D, f, "the force (by rates)");
    for (int i = 0; i < s->nv; ++i) x->a[i] = 1 + 0.1 * i;
    carom_matrix_zero(x->A);
    carom_matrix_zero(x->B);
    CAROM_TRY(s->mass_gradient(s->model, x->work, t, x->q, x->a, 1, x->A));
    for (int i = 0; i < s->nv; ++i) x->b[i] = 1 + 0.1 * i;
    CAROM_TRY(carom_difference_mass_gradient(&x->difference, s, x->work, t, x->q, x->b, 1, x->B));
    double M = 0;
    carom_matrix_zero(x->difference.M);
    CAROM_TRY(s->mass(s->model, x->work, t, x->q, x->difference.M));
    for (size_t e = 0; e < carom_shape_size(s->mass_shape); ++e) M = fmax(M, fabs(x->difference.M.a[e]));
    judge_matrix(x, x->A, x->B, M * s->nv, "the mass matrix");
    CAROM_TRY(examine_energy(x, t));
    return examine_local(x, t);
}

// The smallest pivot of M relative to its diagonal, and its coordinate.  A coordinate without inertia has the pivot 0;
// one that is coupled to others nevertheless makes M indefinite, and has the pivot -1.
static carom_status examine_mass(exam *x, double t, double *pivot, int *where) {
    const carom_system *s = &x->m->sys;
    const int n = s->nv;
    carom_matrix M = x->difference.M;
    carom_matrix_zero(M);
    CAROM_TRY(s->mass(s->model, x->work, t, x->q, M));
    if (n > LARGE) { // without the number
        *pivot = carom_factorise(&x->F, M, where) == CAROM_OK ? 1 : 0;
        return CAROM_OK;
    }
    double *A = calloc((size_t)n * (size_t)n, sizeof *A);
    if (!A) return CAROM_NO_MEMORY;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            const double *e = carom_matrix_entry(M, i, j);
            A[i + (size_t)j * (size_t)n] = e ? *e : 0;
        }
    *pivot = INFINITY;
    for (int k = 0; k < n && *pivot >= 0; ++k) {
        double *Ak = A + (size_t)k * (size_t)n;
        const double *e = carom_matrix_entry(M, k, k);
        double p = Ak[k] / fmax(fabs(*e), CAROM_NOT_ZERO);
        if (fabs(p) < CANCELLED) {
            double coupled = 0;
            for (int i = k + 1; i < n; ++i)
                coupled =
                    fmax(coupled, fabs(Ak[i]) / sqrt(fmax(fabs(*e * *carom_matrix_entry(M, i, i)), CAROM_NOT_ZERO)));
            p = coupled > COUPLED ? -1 : 0;
        }
        if (!(p >= *pivot)) *pivot = p, *where = k;
        if (p <= 0) continue;
        for (int j = k + 1; j < n; ++j)
            for (int i = j; i < n; ++i) A[i + (size_t)j * (size_t)n] -= Ak[i] * Ak[j] / Ak[k];
    }
    free(A);
    return CAROM_OK;
}

// One look at the derivatives at the state, or at one that lies `apart` from it.  Fails where the model has no value
// there.
static carom_status look(exam *x, double t, double step, double apart) {
    const carom_system *s = &x->m->sys;
    unsigned seed = 11;
    x->worst.error = 0, x->judged = 0;
    x->difference.step = x->step = step;
    carom_copy(x->q_0, x->q, s->nq);
    carom_copy(x->v_0, x->v, s->nv);
    for (int i = 0; i < s->nv; ++i) {
        x->dq[i] = apart * carom_random(&seed) * fmax(1, s->move ? carom_norm_max(x->q, s->nq) : fabs(x->q[i]));
        x->v[i] += apart * carom_random(&seed) * fmax(1, fabs(x->v[i]));
    }
    beside(x, x->q_0, 1, x->dq);
    if (apart != 0) carom_copy(x->q, x->q_1, s->nq);
    const carom_status status = examine_state(x, t + apart);
    carom_copy(x->q, x->q_0, s->nq);
    carom_copy(x->v, x->v_0, s->nv);
    return status;
}

static void keep(worst *to, const worst *w) { if (w->error > to->error) *to = *w; }

// Derivatives at a state, with a second step where lengths of the size of the first (the play of a pin) spoil
// differences.  Those that disagree are looked at beside it, too.
static carom_status compare(exam *x, double t) {
    for (size_t k = 0; k < x->room; ++k) x->at[k].error = INFINITY;
    x->again = false, x->groups = 0;
    CAROM_TRY(look(x, t, STEP, 0));
    if (x->worst.error > AGREE) CAROM_TRY(look(x, t, SHORT_STEP, 0));
    keep(&x->most, &x->worst);
    if (!(x->worst.error > AGREE)) return CAROM_OK;
    ++x->disagree;
    for (int side = -1; side <= 1; ++side) { // no value beside the state: no evidence from there
        x->again = false;
        if (look(x, t, STEP, side * APART) != CAROM_OK) continue;
        x->again = true;
        (void)look(x, t, SHORT_STEP, side * APART);
    }
    x->again = false;
    CAROM_TRY(look(x, t, STEP, 0));
    x->wrong += x->worst.error > AGREE;
    keep(&x->lasting, &x->worst);
    return CAROM_OK;
}

void carom_exam_derivatives(exam *x) {
    const carom_model *m = x->m;
    unsigned seed = 7;
    double lowest = INFINITY;
    int where = 0, skipped = 0;
    for (int state = 0; state < (m->nv > LARGE ? 1 : STATES); ++state) {
        // chosen: small, as the model may hold near its start only; 0.1: of values near 0
        const double t = state ? 0.01 * state : 0;
        for (int i = 0; i < m->nv; ++i) {
            x->dq[i] = state ? BESIDE * carom_random(&seed) * fmax(0.1, m->sys.move ? 1 : fabs(m->q0[i])) : 0;
            x->v[i] = m->v0[i] + (state ? carom_random(&seed) * fmax(1, 0.1 * fabs(m->v0[i])) : 0);
        }
        beside(x, m->q0, 1, x->dq);
        carom_copy(x->q, x->q_1, m->nq);
        double pivot = INFINITY;
        int row = 0;
        if (examine_mass(x, t, &pivot, &row) == CAROM_OK && !(pivot >= lowest)) lowest = pivot, where = row;
        if (m->nv <= LARGE && compare(x, t) != CAROM_OK) ++skipped;
    }
    if (skipped == STATES)
        carom_exam_say(x, CAROM_FAULT,
            "the model has no finite value at the initial state; check divisions, roots and logarithms");
    else if (skipped)
        carom_exam_say(x, CAROM_WARNING,
            "no finite value at %d of %d states near the start; the motion may run into a root or division there",
            skipped, STATES);
    const worst *w = x->wrong > 1 ? &x->lasting : &x->most;
    char states[24] = "one state";
    if (x->disagree > 1) snprintf(states, sizeof states, "%d states", x->disagree);
    if (x->full) carom_exam_say(x, CAROM_WARNING, "derivatives are not compared with differences: not enough memory");
    else if (x->wrong > 1)
        carom_exam_say(x, CAROM_FAULT, "derivatives and differences disagree: %s, relative error %.2g", w->entry,
                       w->error);
    else if (x->disagree)
        carom_exam_say(x, CAROM_WARNING,
                       "derivatives and differences disagree at %s, as at a kink: %s, relative error %.2g", states,
                       w->entry, w->error);
    else if (m->nv > LARGE)
        carom_exam_say(x, CAROM_FINE,
                       "derivatives are not compared with differences: %d coordinates; try fewer elements", m->nv);
    else if (skipped < STATES)
        carom_exam_say(x, CAROM_FINE, "derivatives agree with differences: worst relative error %.1e%s%s", w->error,
                       w->error > 0 ? ", " : "", w->entry);
    bool light = false;
    for (int k = 0; k < m->nmember; ++k) light = light || isinf(carom_member_fastest(m->members[k].flex));
    const carom_scheme *scheme = m->scheme ? carom_scheme_find(m->scheme) : NULL; // auto is none of the core
    if (!(lowest > MASSLESS) && light)
        carom_exam_say(
            x, CAROM_WARNING,
            "the mass matrix is singular, with massless nodes of flexible members; most schemes need its inverse");
    else if (fabs(lowest) <= MASSLESS && scheme && scheme->massless)
        carom_exam_say(
            x, CAROM_WARNING,
            "coordinate '%s' has no inertia; %s allows that where joints or stiffness hold it, most schemes do not",
            carom_model_freedom(x->m, where), scheme->name);
    else if (fabs(lowest) <= MASSLESS)
        carom_exam_say(
            x, CAROM_FAULT,
            "coordinate '%s' has no inertia; give it some, or use " CAROM_MASSLESS " where joints or stiffness hold it",
            carom_model_freedom(x->m, where));
    else if (!(lowest > MASSLESS))
        carom_exam_say(x, CAROM_FAULT,
            "the mass matrix is not positive definite at coordinate '%s' (relative pivot %.2g); its kinetic energy "
            "needs more",
            carom_model_freedom(x->m, where), lowest);
    else if (m->nv > LARGE) carom_exam_say(x, CAROM_FINE, "the mass matrix is positive definite");
    else
        carom_exam_say(x, CAROM_FINE, "the mass matrix is positive definite: smallest relative pivot %.3g, at '%s'",
                       lowest, carom_model_freedom(x->m, where));
}
