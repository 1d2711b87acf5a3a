// examine.c: `carom check`: what can be known about a model without running it.
//
// Exact derivatives are held against central differences (relative error about 1e-9 when both are right), at the
// initial state and at states near it.  A wrong term is wrong beside a state as well, and for any step; a kink (abs, if, min, max) is
// not: an entry counts with the least of its errors there.
#include "base/number.h"
#include "base/random.h"
#include "derive/shapes/shapes.h"
#include "scheme/step.h"
#include <carom/difference.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 4, LARGE = 400 }; // beyond LARGE coordinates differences are not taken
static const double AGREE = 1e-5; // worse than any rounding, better than any wrong term
static const double LOST = 1e-4;       // of the differentiated quantity: entries below drown in the rounding of its differences
static const double OTHER = 1e-3;      // weight of the other side of a comparison in its scale: a missing term must not hide behind itself
static const double STEP = 6e-6;       // of central differences, where rounding and the error of third order are equal
static const double SHORT_STEP = 2e-7; // a second try, where a kink lies within STEP
static const double ENERGY = 1e-9;     // rounding of sums of energies
static const double BESIDE = 1e-2;     // how far the states beside the start lie from it
static const double APART = 1.2e-4;    // 20 steps of differences beside a state: away from its kinks, close for what is smooth
static const double CANCELLED = 1e-13; // pivots of the mass matrix below this part of their diagonal entry have cancelled...
static const double COUPLED = 1e-6;    // ...and are 0 only where nothing couples to them by more than this
static const double MASSLESS = 1e-12;  // lowest pivot of a coordinate that has inertia
static const double APPROACHES = 1e-12; // of the speeds: rounding of a relative velocity
static const double FLAT = 1e-6;       // of the moments of inertia: figures of a thin body in a table are rounded

// An entry: its least error in the looks at a state and beside it; its last difference.
typedef struct entry {
    double error, difference;
} entry;

// The largest relative error of a derivative, and which entry has it.
typedef struct worst {
    double error;
    char entry[300];
} worst;

typedef struct exam {
    const carom_model *m;
    void (*report)(void *user, carom_finding kind, const char *sentence);
    void *user;
    int faults;
    void *work;
    double *q, *v, *q_1, *dq;  // state; a state beside it; a way there
    double *q_0, *v_0;         // the state while one beside it is examined
    double *g, *a, *b;         // gaps; two vectors as long as the longest side
    carom_local L;             // all constraints
    carom_difference difference;
    carom_factor F; // of M, for large models
    carom_matrix A, B, C, D; // tangent_shape
    carom_columns P, Q;
    double *W;    // nv: a column
    int *group;   // nv: coordinates whose differences of gaps are taken at once
    int groups;
    bool *free;   // nv + 1: groups that a coordinate may join
    double step;  // of differences, relative
    worst worst, most, lasting; // of a look; of all states; of those with an error also beside them
    entry *at; // every entry of a look, in the order in which they are judged
    size_t judged, room;
    bool full;  // no memory for more
    bool again; // the same look as before with another step
    int disagree, wrong; // states at which a derivative was wrong; those beside which it was wrong, too
} exam;

static void say(exam *x, carom_finding kind, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

static void say(exam *x, carom_finding kind, const char *format, ...) {
    char text[600];
    va_list args;
    va_start(args, format);
    carom_vformat(text, sizeof text, format, args);
    va_end(args);
    if (kind == CAROM_FAULT) ++x->faults;
    x->report(x->user, kind, text);
}

// The system without the slots of contacts that come and go: none of them is examined.
static carom_system without_list(const carom_system *s) {
    carom_system own = *s;
    own.nc -= own.listed;
    own.listed = 0;
    return own;
}

static void allocate(exam *x, carom_arena *mem) {
    const carom_system own = without_list(&x->m->sys), *s = &own;
    const int n = s->nv, links = s->ne + s->nc;
    x->work = carom_allocate_bytes(mem, s->work_size);
    x->L = carom_allocate_local(mem, s);
    const int longest = x->L.W.n > n ? x->L.W.n : n;
    CAROM_ALLOCATE(mem, (size_t)s->nq, &x->q, &x->q_0, &x->q_1);
    CAROM_ALLOCATE(mem, (size_t)n, &x->v, &x->v_0, &x->dq);
    x->g = carom_allocate(mem, 2 * (size_t)links + 1);
    CAROM_ALLOCATE(mem, (size_t)longest, &x->a, &x->b);
    x->difference = carom_allocate_difference(mem, s);
    if (n > LARGE) x->F = carom_allocate_factor(mem, s->mass_shape, true);
    x->A = carom_allocate_matrix(mem, s->tangent_shape);
    x->B = carom_allocate_matrix(mem, s->tangent_shape);
    x->C = carom_allocate_matrix(mem, s->tangent_shape);
    x->D = carom_allocate_matrix(mem, s->tangent_shape);
    x->P = carom_allocate_columns(mem, n, x->L.W.n, s->column_stride);
    x->Q = carom_allocate_columns(mem, n, x->L.W.n, s->column_stride);
    x->W = carom_allocate(mem, (size_t)n);
    x->group = carom_allocate_ints(mem, (size_t)n);
    x->free = carom_allocate_bytes(mem, (size_t)n + 1);
}

static void all_constraints(exam *x) {
    carom_local *L = &x->L;
    const carom_system *s = &x->m->sys;
    L->nb = s->ne + s->nc - s->listed;
    L->at[0] = 0;
    for (int id = 0; id < L->nb; ++id) {
        L->id[id] = id;
        L->at[id + 1] = L->at[id] + carom_system_directions(s, id);
    }
}

// -- derivatives -------------------------------------------------------------------------------------------

static const char *coordinate(const exam *x, int i) { return carom_model_freedom(x->m, i); }

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

// Keep the worst entry: d(what of name a)/d(coordinate by; -1: time).  A difference is known no better than that with another step.
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
    carom_format(x->worst.entry, sizeof x->worst.entry, "%s of '%.60s' by '%.60s' (exact %.9g, difference %.9g)", what, a, by < 0 ? "t" : coordinate(x, by), exact,
             difference);
}

// size_of_f is that of the differentiated quantity: entries far below it are lost in the rounding of differences.
static void judge_matrix(exam *x, carom_matrix A, carom_matrix B, double size_of_f, const char *what) {
    double scale = LOST * size_of_f;
    const size_t size = carom_shape_size(A.shape);
    for (size_t e = 0; e < size; ++e) scale = fmax(scale, fmax(fabs(A.a[e]), OTHER * fabs(B.a[e])));
    for (int j = 0; j < A.shape.n; ++j)
        for (int i = 0; i < A.shape.n; ++i) {
            const double *a = carom_matrix_entry(A, i, j), *b = carom_matrix_entry(B, i, j);
            if (a && b) judge(x, *a, *b, scale, what, coordinate(x, i), j);
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
        const int j = W->row[(size_t)k * (size_t)W->stride + (size_t)e];
        if (x->group[j] == group) return j;
    }
    int j = 0;
    while (x->group[j] != group) ++j;
    return j;
}

// Groups of coordinates of which no gap touches two: their differences are taken at once.  Dense columns: each is alone.
static int group_coordinates(exam *x) {
    const carom_columns *W = &x->L.W;
    const int nv = x->m->nv;
    int groups = 0;
    for (int j = 0; j < nv; ++j) {
        for (int g = 0; g <= groups; ++g) x->free[g] = W->count || g == j;
        for (int id = 0; W->count && id < x->L.nb; ++id) {
            const int k = x->L.at[id], *row = W->row + (size_t)k * (size_t)W->stride;
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
        for (int j = 0; j < s->nv; ++j) x->dq[j] = x->group[j] == g ? x->step * fmax(1, s->move ? carom_norm_max(x->q, s->nq) : fabs(x->q[j])) : 0;
        beside(x, x->q, 1, x->dq);
        CAROM_TRY(s->gaps(s->model, x->work, t + h_t, x->q_1, after));
        beside(x, x->q, -1, x->dq);
        CAROM_TRY(s->gaps(s->model, x->work, t - h_t, x->q_1, before));
        for (int id = 0; id < x->L.nb; ++id) {
            const int k = x->L.at[id], j = touched(x, k, g);
            carom_column_expand(x->a, &x->L.W, k);
            const double scale = carom_norm_max(x->a, s->nv), d = (after[id] - before[id]) / (2 * (j < 0 ? h_t : x->dq[j]));
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

// M v against differences of T by v, and the balance v.f + dE/ds = external - damping along q' = v at constant v.
static carom_status examine_energy(exam *x, double t) {
    const carom_system *s = &x->m->sys;
    double T1, T2, V1, V2, external = 0, damping = 0;
    carom_matrix M = x->difference.M;
    carom_matrix_zero(M);
    CAROM_TRY(s->mass(s->model, x->work, t, x->q, M));
    carom_matrix_mul(x->a, M, x->v);
    for (int i = 0; i < s->nv; ++i) {
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
    beside(x, x->q, h, x->v);
    CAROM_TRY(s->energy(s->model, x->work, t + h, x->q_1, x->v, &T1, &V1));
    beside(x, x->q, -h, x->v);
    CAROM_TRY(s->energy(s->model, x->work, t - h, x->q_1, x->v, &T2, &V2));
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

// The smallest pivot of M relative to its diagonal, and its coordinate.  A coordinate without inertia has the pivot 0; one that is coupled to others
// nevertheless makes M indefinite, and has the pivot -1.
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
        double p = Ak[k] / fmax(fabs(*e), 1e-300);
        if (fabs(p) < CANCELLED) {
            double coupled = 0;
            for (int i = k + 1; i < n; ++i) coupled = fmax(coupled, fabs(Ak[i]) / sqrt(fmax(fabs(*e * *carom_matrix_entry(M, i, i)), 1e-300)));
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

// One look at the derivatives at the state, or at one that lies `apart` from it.  Fails where the model has no value there.
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

// Derivatives at a state, with a second step where lengths of the size of the first (the play of a pin) spoil differences.  Those that
// disagree are looked at beside it, too.
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

static void derivatives_and_mass(exam *x) {
    const carom_model *m = x->m;
    unsigned seed = 7;
    double lowest = INFINITY;
    int where = 0, skipped = 0;
    for (int state = 0; state < (m->nv > LARGE ? 1 : STATES); ++state) {
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
        say(x, CAROM_FAULT,
            "the model has no finite value at the initial state; check divisions, roots and logarithms");
    else if (skipped)
        say(x, CAROM_WARNING,
            "no finite value at %d of %d states near the start; the motion may run into a root or division there",
            skipped, STATES);
    const worst *w = x->wrong > 1 ? &x->lasting : &x->most;
    char states[24] = "one state";
    if (x->disagree > 1) snprintf(states, sizeof states, "%d states", x->disagree);
    if (x->full) say(x, CAROM_WARNING, "derivatives are not compared with differences: not enough memory");
    else if (x->wrong > 1)
        say(x, CAROM_FAULT, "derivatives and differences disagree: %s, relative error %.2g", w->entry, w->error);
    else if (x->disagree)
        say(x, CAROM_WARNING, "derivatives and differences disagree at %s, as at a kink: %s, relative error %.2g", states, w->entry, w->error);
    else if (m->nv > LARGE)
        say(x, CAROM_FINE, "derivatives are not compared with differences: %d coordinates; try fewer elements", m->nv);
    else if (skipped < STATES)
        say(x, CAROM_FINE, "derivatives agree with differences: worst relative error %.1e%s%s", w->error, w->error > 0 ? ", " : "", w->entry);
    bool light = false;
    for (int k = 0; k < m->nmember; ++k) light = light || isinf(carom_member_fastest(m->members[k].flex));
    const carom_scheme *scheme = m->scheme ? carom_scheme_find(m->scheme) : carom_scheme_at(0);
    if (!(lowest > MASSLESS) && light)
        say(x, CAROM_WARNING, "the mass matrix is singular, with massless nodes of flexible members; most schemes need its inverse");
    else if (fabs(lowest) <= MASSLESS && scheme && scheme->massless)
        say(x, CAROM_WARNING, "coordinate '%s' has no inertia; %s allows that where joints or stiffness hold it, most schemes do not", coordinate(x, where),
            scheme->name);
    else if (fabs(lowest) <= MASSLESS)
        say(x, CAROM_FAULT, "coordinate '%s' has no inertia; give it some, or use ggl-alpha where joints or stiffness hold it", coordinate(x, where));
    else if (!(lowest > MASSLESS))
        say(x, CAROM_FAULT,
            "the mass matrix is not positive definite at coordinate '%s' (relative pivot %.2g); its kinetic energy "
            "needs more",
            coordinate(x, where), lowest);
    else if (m->nv > LARGE) say(x, CAROM_FINE, "the mass matrix is positive definite");
    else
        say(x, CAROM_FINE, "the mass matrix is positive definite: smallest relative pivot %.3g, at '%s'", lowest,
            coordinate(x, where));
}

// -- constraints -------------------------------------------------------------------------------------------

// Constraints that follow from others at the start, named once per joint.
static void redundant(exam *x) {
    const carom_model *m = x->m;
    for (int id = 0; id < m->ne; ++id) {
        const constraint *c = &m->links[id];
        int count = c->redundant;
        for (; c->part && id + 1 < m->ne && m->links[id + 1].part && m->links[id + 1].joint == c->joint; ++id) count += m->links[id + 1].redundant;
        if (count == 0) continue;
        if (c->part)
            say(x, CAROM_WARNING,
                "joint '%s': %d of its constraints %s redundant at the start; reactions of redundant joints are not unique, the "
                "smallest are taken", c->name, count, count == 1 ? "is" : "are");
        else
            say(x, CAROM_WARNING,
                "constraint '%s' is redundant at the start, or its gradient vanishes there; forces of "
                "redundant constraints are not unique", c->name);
    }
}

static void freedom(exam *x) {
    const carom_model *m = x->m;
    const int n = m->nv - m->npressed, rank = m->ne - m->nredundant;
    redundant(x);
    say(x, CAROM_FINE, "%d degree%s of freedom: %d coordinate%s, %d independent of %d constraint%s", n - rank,
        n - rank == 1 ? "" : "s", n, n == 1 ? "" : "s", rank, m->ne, m->ne == 1 ? "" : "s");
    if (m->moved > 0)
        say(x, CAROM_FINE, "positions were moved onto joints and constraints: the largest violation was %.3g", m->moved);
    if (m->completed > 0)
        say(x, CAROM_FINE, "velocities that are not given were completed from the joints: the largest change is %.6g", m->completed);
}

// Closed contacts that approach: an impact before anything else.
static void initial_impacts(exam *x) {
    enum { LISTED = 10 };
    const carom_model *m = x->m;
    int more = -LISTED;
    for (int id = m->ne; id < m->ne + m->nc; ++id) {
        const int k = x->L.at[id];
        const double u = carom_column_dot(&x->L.W, k, m->v0) + x->L.w[k], size = carom_local_magnitude(&x->L, k, m->v0) + fabs(x->L.w[k]);
        if (x->g[id] > carom_local_rounding(&x->L, k, m->q0, m->nq) || !(u < -APPROACHES * size)) continue;
        if (++more <= 0) say(x, CAROM_FINE, "the run starts with an impact: '%s' is closed and approaches with %.6g", m->links[id].name, -u);
    }
    if (more > 0) say(x, CAROM_FINE, "and %d more contact%s start%s with an impact", more, more == 1 ? "" : "s", more == 1 ? "s" : "");
}

static void start(exam *x) {
    const carom_model *m = x->m;
    double drift = 0, least = INFINITY;
    int first = -1, closed = 0;
    for (int id = 0; id < m->ne; ++id) drift = fmax(drift, fabs(x->g[id]));
    if (m->ne) say(x, CAROM_FINE, "constraints hold at the start: largest violation %.2g", drift);
    for (int id = m->ne; id < m->ne + m->nc; ++id) {
        closed += x->g[id] <= 0;
        if (x->g[id] < least) least = x->g[id], first = id;
    }
    if (m->nc)
        say(x, CAROM_FINE, "%d of %d contact%s closed at the start; smallest gap %.6g at '%s'", closed, m->nc,
            m->nc == 1 ? "" : "s", least, m->links[first].name);
    initial_impacts(x);
    for (int id = 0; id < m->ne + m->nc; ++id)
        for (int k = x->L.at[id]; k < x->L.at[id + 1]; ++k) {
            carom_column_expand(x->a, &x->L.W, k);
            if (carom_norm_max(x->a, m->nv) > 0) continue;
            say(x, CAROM_WARNING,
                "the %s of '%s' does not change with any coordinate at the start; no force can act there",
                k == x->L.at[id] ? "gap" : "slip", m->links[id].name);
        }
}

// No distribution of mass has a principal moment of inertia above the sum of the other two: tr(J)/2 - J, the integral of r r' dm,
// has no negative eigenvalue, and so no negative principal minor.
static bool solid(const double *J) {
    const double half = 0.5 * (J[0] + J[4] + J[8]), tiny = FLAT * half;
    double S[9];
    for (int i = 0; i < 9; ++i) S[i] = (i % 4 == 0 ? half : 0) - J[i];
    for (int i = 0; i < 3; ++i) {
        const int k = (i + 1) % 3;
        if (S[4 * i] < -tiny || S[4 * i] * S[4 * k] - S[3 * i + k] * S[3 * k + i] < -tiny * half) return false;
    }
    const double det = S[0] * (S[4] * S[8] - S[5] * S[7]) - S[1] * (S[3] * S[8] - S[5] * S[6]) + S[2] * (S[3] * S[7] - S[4] * S[6]);
    return det >= -tiny * half * half;
}

static void inertias(exam *x) {
    for (int i = 1; i < x->m->nbodies; ++i) {
        const body *b = &x->m->bodies[i];
        if (b->space == SPATIAL && b->mass > 0 && !solid(b->J))
            say(x, CAROM_WARNING, "no solid has the inertia of %s: one principal moment is larger than the sum of the others", b->where);
    }
}

// Largest h omega of the scheme with the options of the model; 0: no limit, or none known.
static double limit(const carom_model *m, const carom_scheme *s) {
    double opt[32], value;
    if (!s || !s->stable_of || carom_option_count(s->options) > 32) return s ? s->stable : 0;
    carom_option_defaults(s->options, opt);
    for (const char *const *text = (const char *const *)m->options; text && *text; ++text) {
        const size_t length = strcspn(*text, "=");
        const int i = carom_option_find(s->options, *text, length);
        if (i >= 0 && carom_option_read(&s->options[i], *text + length + ((*text)[length] == '='), &value, NULL) == CAROM_OK) opt[i] = value;
    }
    return s->stable_of(opt);
}

// Frequencies, and the step that explicit schemes allow.
static void members(exam *x) {
    const carom_model *m = x->m;
    const carom_scheme *scheme = m->scheme ? carom_scheme_find(m->scheme) : carom_scheme_at(0);
    const double stable = limit(m, scheme);
    for (int k = 0; k < m->nmember; ++k) {
        const member *b = &m->members[k];
        double omega[3] = {0};
        const int n = b->count <= 100000 ? carom_member_frequencies(b->flex, 3, omega) : 0;
        char text[200] = "";
        for (int i = 0; i < n; ++i)
            carom_format(text + strlen(text), sizeof text - strlen(text), "%s%.6g", i ? ", " : "; lowest frequencies ", omega[i] / 6.283185307179586);
        char highest[80] = "", parts[40] = "";
        const double fastest = carom_member_fastest(b->flex) / 6.283185307179586;
        if (!isnan(fastest)) carom_format(highest, sizeof highest, "; highest at most %.4g Hz", fastest);
        if (b->kind != CAROM_MATRICES) snprintf(parts, sizeof parts, "%d elements, ", b->nodes - 1);
        say(x, CAROM_FINE, "flexible member '%s': %s%d unknowns%s%s%s", b->name, parts, b->count, text, n > 0 ? " Hz" : "", highest);
        const double most = stable > 0 ? carom_member_step(b->flex, stable) : INFINITY;
        if (most > 0 && m->step > most)
            say(x, CAROM_WARNING, "the step %g is too large for '%s' with %s, which is stable up to %.4g; use a smaller one or an implicit scheme",
                m->step, b->name, scheme->name, most);
    }
}

static void laws(exam *x) {
    const carom_model *m = x->m;
    for (int i = 0; i < m->nc; ++i) {
        const carom_contact *c = &m->contacts[i];
        const char *name = m->links[m->ne + i].name;
        if (c->friction == 0 && c->tangential_restitution > 0)
            say(x, CAROM_WARNING, "tangential restitution of '%s' has no effect: its friction is 0", name);
        if (c->friction == 0 && m->links[m->ne + i].tangents)
            say(x, CAROM_FINE, "the slip of '%s' is not used: its friction is 0", name);
    }
    const carom_datum *sleep = carom_given(&m->mech->sleep);
    if (sleep && !m->near && !(sleep->kind == CAROM_TEXT && strcmp(sleep->text, "0") == 0))
        say(x, CAROM_WARNING, "sleep has no effect: it is for contacts that come and go, of more than 500 pairs of shapes or of hulls, meshes, ellipsoids and heights");
}

static bool rubs(const pair *p) { return p->rub.slides || (p->soft && p->soft->friction > 0); }

// Does a contact of this shape have friction?
static bool shape_rubs(const carom_model *m, const shape *s) {
    const struct near_pairs *n = m->near;
    for (int i = 0; i < m->npairs; ++i)
        if ((m->pairs[i].A == s || m->pairs[i].B == s) && rubs(&m->pairs[i])) return true;
    int a = 0;
    while (n && a < n->nshapes && n->shape[a] != s) ++a;
    for (int rule = 0; n && a < n->nshapes && rule < n->nrules; ++rule)
        for (int b = 0; b < n->nshapes; ++b) {
            if (b == a || n->group[a] < 0 || n->group[b] < 0 || !carom_near_meet(n, rule, a, b)) continue;
            const int kinds[] = {*carom_near_kind_of(n, rule, n->group[a], n->group[b]), *carom_near_kind_of(n, rule, n->group[b], n->group[a])};
            for (int k = 0; k < 2; ++k)
                if (kinds[k] >= 0 && rubs(&n->pairs[kinds[k]])) return true;
        }
    return false;
}

// Only friction knows that a surface moves.
static void belts(exam *x) {
    const carom_model *m = x->m;
    for (int i = 0; i < m->nshapes && m->nsoft == 0; ++i) // pairs that yield have left the list
        if (m->shapes[i].belt && !shape_rubs(m, &m->shapes[i]))
            say(x, CAROM_WARNING, "the surface velocity of '%s' has no effect: its contacts have no friction", m->shapes[i].name);
}

// A controller acts through its outputs.
static void idle_controllers(exam *x) {
    const carom_model *m = x->m;
    for (int i = 0; i < m->ncontrols; ++i) {
        const control *c = &m->controls[i];
        bool used = c->noutputs == 0; // its states are read elsewhere
        for (int k = 0; k < c->noutputs; ++k) used = used || m->names.at[m->parameter_name[m->np_own + c->output + k]].used;
        if (!used) say(x, CAROM_WARNING, "no expression uses the outputs of controller '%s'; they are only recorded", m->samplers[i].name);
    }
}

static void unused(exam *x) {
    const names *t = &x->m->names;
    for (int i = 0; i < t->count; ++i)
        if (!t->at[i].used && (t->at[i].kind & (NAME_PARAMETER | NAME_LET | NAME_HELPER | NAME_TABLE) || (t->at[i].kind == NAME_INPUT && t->at[i].index < x->m->nset)))
            say(x, CAROM_WARNING, "%s '%s'%s is not used anywhere", t->at[i].kind == NAME_INPUT ? "an input" : carom_name_kind(t->at[i].kind), t->at[i].text,
                carom_line_of(t->at[i].line).text);
    idle_controllers(x);
}

int carom_model_examine(const carom_model *m, void (*report)(void *user, carom_finding kind, const char *sentence),
                        void *user, carom_error *err) {
    exam x = {.m = m, .report = report, .user = user};
    const carom_system *s = &m->sys;
    carom_arena mem = {0};
    allocate(&x, &mem);
    enum { LINE = 64 };
    unsigned char *block = calloc(1, mem.used + LINE); // large models touch little of it
    if (!block) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory to examine the model");
        return 1;
    }
    mem = (carom_arena){.base = block + (LINE - (uintptr_t)block % LINE) % LINE, .size = mem.used};
    allocate(&x, &mem);
    s->work_init(m, x.work);
    carom_pairs_exact(m, x.work, true);
    all_constraints(&x);
    derivatives_and_mass(&x);
    if (x.L.nb && s->gaps(m, x.work, 0, m->q0, x.g) == CAROM_OK &&
        s->directions(m, x.work, 0, m->q0, &x.L) == CAROM_OK) {
        start(&x);
    }
    freedom(&x);
    members(&x);
    inertias(&x);
    laws(&x);
    belts(&x);
    unused(&x);
    free(x.at);
    free(block);
    return x.faults;
}
