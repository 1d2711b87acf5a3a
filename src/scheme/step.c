// step.c: evaluations of a step: what a scheme asks of the system, one line of a paper each; see scheme.h for the
// contracts.
#include "scheme/inside.h"
#include "base/number.h"
#include "base/team.h"
#include "linalg/matrix.h"
#include "scheme/step.h"
#include <carom/team.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Call a function of the system; a failure of the user's model is reported with the time.
#define CALL(call, failure)                      \
    do {                                         \
        const carom_status status_ = (call);     \
        if (status_ != CAROM_OK) return failure; \
    } while (0)
#define SYSTEM(call, what) CALL(call, failed(s, status_, what))

// Forces or gaps are evaluated in every loop, so a request to stop is seen there inside a step, however long that is.
static inline bool stopped(const carom_step *s) {
    s->inside->calls += 1;
    return s->inside->stop && s->inside->stop(s->inside->stop_user);
}
static carom_status stop(carom_step *s) { return carom_fail(s->err, CAROM_STOPPED, "t = %.9g: stopped", s->t); }

static carom_status failed(carom_step *s, carom_status status, const char *what) {
    if (status == CAROM_RETRY) return carom_retry(s, "evaluation of the model's %s failed", what);
    return carom_fail(s->err, status, "t = %.9g: the model failed to compute its %s", s->t, what);
}

// The first of n numbers that is none; n: all are finite.
static int not_finite(const double *x, int n) {
    int i = 0;
    while (i < n && isfinite(x[i])) ++i;
    return i;
}

static const char *value(double x) { return isnan(x) ? "not a number" : "infinite"; }

static const char *pushed(const carom_step *s, int i) { return carom_is_state(s->sys, i) ? "rate of" : "force on"; }

static carom_status force_failed(carom_step *s, carom_status status, double t, const double *f) {
    char text[80];
    const int i = not_finite(f, s->sys->nv);
    if (status != CAROM_USER || i == s->sys->nv) return failed(s, status, "forces");
    return carom_fail(s->err, status, "t = %.9g: the %s %s is %s", t, pushed(s, i),
                      carom_rate_text(s, i, text, sizeof text), value(f[i]));
}

static carom_status tangent_failed(carom_step *s, carom_status status, carom_matrix K, carom_matrix C) {
    char force[80], by[80];
    int i, j;
    const double *x = carom_matrix_not_finite(K, &i, &j);
    if (!x) x = carom_matrix_not_finite(C, &i, &j);
    if (status != CAROM_USER || !x) return failed(s, status, "force derivatives");
    return carom_fail(s->err, status,
                      "t = %.9g: the derivative of the %s %s by %s is %s; roots, lengths and powers below 1 have none "
                      "at 0 (x/sqrt(abs(x) + d) with a small d replaces sign(x)*sqrt(abs(x)))",
                      s->t, pushed(s, i), carom_rate_text(s, i, force, sizeof force),
                      carom_rate_text(s, j, by, sizeof by), value(*x));
}

static carom_status gaps_failed(carom_step *s, carom_status status, double t, const double *g) {
    char text[40];
    const int all = s->sys->ne + s->sys->nc, id = not_finite(g, all);
    if (status != CAROM_USER || id == all) return failed(s, status, "gaps");
    return carom_fail(s->err, status, "t = %.9g: the gap of '%s' is %s", t,
                      carom_constraint_text(s, id, text, sizeof text), value(g[id]));
}

carom_status carom_retry(carom_step *s, const char *format, ...) {
    char what[512];
    va_list args;
    va_start(args, format);
    carom_vformat(what, sizeof what, format, args);
    va_end(args);
    return carom_fail(s->err, CAROM_RETRY, "t = %.9g: %s", s->t, what);
}

// -- evaluations -----------------------------------------------------------------------------------

void carom_move(const carom_step *s, double *q1, const double *q0, double h, const double *v) {
    if (s->sys->move)
        s->sys->move(s->sys->model, q1, q0, h, v);
    else if (s->sys->nq == 1) // small and often
        q1[0] = q0[0] + h * v[0];
    else if (s->sys->nq == 3)
        for (int i = 0; i < 3; ++i) q1[i] = q0[i] + h * v[i];
    else
        carom_add(q1, q0, h, v, s->sys->nq);
}

void carom_move_keeping(const carom_step *s, double *q_0, double *v_0, double h) {
    if (!s->sys->move) {
        carom_add_keeping(q_0, v_0, s->q, h, s->v, s->sys->nv);
        return;
    }
    carom_copy(q_0, s->q, s->sys->nq);
    carom_copy(v_0, s->v, s->sys->nv);
    carom_move(s, s->q, q_0, h, v_0);
}

enum { SETTLED = 4 }; // iterates after which Newton's method has met its tolerance, or rounding keeps it from that

void carom_move_iterate(const carom_step *s, double *q1, const double *q0, double h, const double *v, int k) {
    if (k < SETTLED) {
        carom_move(s, q1, q0, h, v);
        return;
    }
    // (NEW-3)  |q_1 - q_1^(k-1)| <= eps max(|q_0|, |q_1|):  q_1 = q_1^(k-1), by components
    double *q = s->inside->difference.q;
    carom_move(s, q, q0, h, v);
    for (int i = 0; i < s->sys->nq; ++i)
        if (!(fabs(q[i] - q1[i]) <= DBL_EPSILON * fmax(fabs(q0[i]), fabs(q1[i])))) q1[i] = q[i];
}

void carom_lift(const carom_step *s, double *dx, const double *x, const double *v) {
    if (s->sys->lift)
        s->sys->lift(s->sys->model, dx, x, v);
    else if (dx != v)
        carom_copy(dx, v, s->sys->nv);
}

carom_status carom_mass(carom_step *s, carom_matrix M, double t, const double *q) {
    carom_matrix_zero(M);
    SYSTEM(s->sys->mass(s->sys->model, s->sys_work, t, q, M), "mass matrix");
    return CAROM_OK;
}

const char *carom_rate_text(const carom_step *s, int i, char *text, size_t size) {
    const char *name = s->inside->rate_name ? s->inside->rate_name(s->inside->name_user, i) : NULL;
    if (name) snprintf(text, size, "'%.60s'", name);
    else snprintf(text, size, "%d", i + 1);
    return text;
}

const char *carom_constraint_text(const carom_step *s, long long id, char *space, size_t size) {
    if (s->inside->name) return s->inside->name(s->inside->name_user, id);
    snprintf(space, size, "%s %lld", id < s->sys->ne ? "constraint" : "contact",
             1 + (id < s->sys->ne ? id : id - s->sys->ne));
    return space;
}

static carom_status indefinite(carom_step *s, int row) {
    char text[80];
    return carom_fail(s->err, CAROM_SINGULAR,
                      "t = %.9g: the mass matrix is not positive definite at coordinate %s; every coordinate needs "
                      "inertia (or use a scheme that allows singular mass)",
                      s->t, carom_rate_text(s, row, text, sizeof text));
}

void carom_factored(carom_step *s, int n) { s->inside->multiplied += (double)n * n * n / 3; }

carom_status carom_mass_factorise(carom_step *s, carom_factor *F) {
    int row = 0;
    if (carom_factorise(F, s->M, &row) != CAROM_OK) return indefinite(s, row);
    if (s->M.shape.storage == CAROM_DENSE) carom_factored(s, s->sys->nv);
    s->inside->mass_seen = true;
    F->ready = s->sys->flags & CAROM_CONSTANT_MASS;
    if (F->ready) F->count = CAROM_FACTOR_OF_MASS;
    return CAROM_OK;
}

carom_status carom_mass_factor(carom_step *s, carom_factor *F, double t, const double *q) {
    if (F->ready) return CAROM_OK;
    CAROM_TRY(carom_mass(s, s->M, t, q));
    return carom_mass_factorise(s, F);
}

enum { SMALL = 3 }; // rows whose pivots are written out
static const double PIVOT_ROUNDING = 1e-12; // of the largest entry on the diagonal: pivots of a singular mass are no
                                            // further below 0

// The row with the most negative pivot of L D L', for a small dense M, or with the most negative entry on the diagonal,
// for any other; -1: none.
static int negative_row(carom_matrix M, int n) {
    const double *a = M.a;
    double least = HUGE_VAL, most = 0, pivot[SMALL];
    int row = -1;
    if (M.shape.storage == CAROM_DENSE && n <= SMALL) {
        const double x = n > 1 && a[0] > 0 ? a[1] / a[0] : 0, y = n > 2 && a[0] > 0 ? a[2] / a[0] : 0; // column 1 of L
        const double b = n > 2 ? a[2 + n] - y * a[1] : 0;
        pivot[0] = a[0];
        if (n > 1) pivot[1] = a[1 + n] - x * a[1];
        if (n > 2) pivot[2] = a[2 + 2 * n] - y * a[2] - (pivot[1] > 0 ? b * b / pivot[1] : 0);
    }
    for (int k = 0; k < n; ++k) {
        const double own = M.shape.storage != CAROM_DENSE ? *carom_matrix_entry(M, k, k)
                           : n <= SMALL                   ? pivot[k]
                                                          : a[k + (size_t)k * (size_t)n];
        if (own < least) least = own, row = k;
    }
    if (least >= 0) return -1;
    for (int k = 0; k < n; ++k) most = fmax(most, fabs(*carom_matrix_entry(M, k, k)));
    return least < -PIVOT_ROUNDING * most ? row : -1;
}

carom_status carom_mass_still_positive(carom_step *s, carom_matrix M) {
    const int n = s->sys->nv, row = s->sys->flags & CAROM_CONSTANT_MASS ? -1 : negative_row(M, n);
    return row < 0 ? CAROM_OK : indefinite(s, row);
}

carom_status carom_force(carom_step *s, double *f, double t, const double *q, const double *v) {
    if (!(s->sys->flags & CAROM_FORCE_SETS)) carom_zero(f, s->sys->nv);
    if (stopped(s)) return stop(s);
    CALL(s->sys->force(s->sys->model, s->sys_work, t, q, v, f), force_failed(s, status_, t, f));
    return CAROM_OK;
}

// Of `all` > 0 constraints.
static inline carom_status some_gaps(carom_step *s, double *g, int all, double t, const double *q) {
    if (all == 1) g[0] = 0;
    else carom_zero(g, all);
    CALL(s->sys->gaps(s->sys->model, s->sys_work, t, q, g), gaps_failed(s, status_, t, g));
    return CAROM_OK;
}

carom_status carom_gaps(carom_step *s, double *g, double t, const double *q) {
    const int all = s->sys->ne + s->sys->nc;
    if (all == 0) return CAROM_OK;
    if (stopped(s)) return stop(s);
    return some_gaps(s, g, all, t, q);
}

// What is at hand of a point belongs to the features that were frozen then.
static void count_freezes(carom_inside *in, carom_freeze what) {
    if (what == CAROM_FREEZE) in->freezes += 1;
    in->frozen = what == CAROM_RELEASE ? 0 : in->freezes;
}

carom_status carom_freeze_features(carom_step *s, carom_freeze what, double t, const double *q) {
    if (!s->sys->events->freeze) return CAROM_OK;
    count_freezes(s->inside, what);
    return s->sys->events->freeze(s->sys->model, s->sys_work, what, t, q);
}

carom_status carom_freeze_searched(carom_step *s, carom_freeze what, double t, const double *q) {
    if (!s->sys->contact_list->freeze_searched) return CAROM_OK;
    count_freezes(s->inside, what);
    return s->sys->contact_list->freeze_searched(s->sys->model, s->sys_work, what, t, q);
}

// Forces and, unless g is NULL, gaps: a request to stop is looked for once.
static carom_status force_and_gaps(carom_step *s, double *f, double *g, double t, const double *q, const double *v) {
    const int all = s->sys->ne + s->sys->nc;
    CAROM_TRY(carom_force(s, f, t, q, v));
    return g && all > 0 ? some_gaps(s, g, all, t, q) : CAROM_OK;
}

carom_status carom_gaps_before(carom_step *s, double *g) {
    s->inside->gaps_before = true;
    if (!s->inside->gaps) return carom_gaps(s, g, s->t, s->q);
    carom_copy(g, s->inside->gaps, s->sys->ne + s->sys->nc);
    return CAROM_OK;
}

carom_status carom_motion(carom_step *s, carom_matrix M, double *f, double *g, double t, const double *q,
                          const double *v) {
    const carom_system *sys = s->sys;
    if (stopped(s)) return stop(s);
    if (sys->speed->motion && sys->speed->motion(sys->model, s->sys_work, t, q, v, M, f, g) == CAROM_OK)
        return CAROM_OK;
    CAROM_TRY(carom_mass(s, M, t, q)); // one by one, also to tell which of them failed
    return force_and_gaps(s, f, g, t, q, v);
}

carom_status carom_motion_factor(carom_step *s, carom_factor *F, double *f, double *g, double t, const double *q,
                                 const double *v) {
    if (!F->ready) {
        CAROM_TRY(carom_motion(s, s->M, f, g, t, q, v));
        return carom_mass_factorise(s, F);
    }
    return force_and_gaps(s, f, g, t, q, v);
}

carom_status carom_motion_ahead(carom_step *s, carom_factor *F, double *f, double *g, carom_local *L, bool *found,
                                double t, const double *q, const double *v) {
    const carom_system *sys = s->sys;
    *found = false;
    if (F->ready || L->nb == 0 || !sys->speed->motion_directions) return carom_motion_factor(s, F, f, g, t, q, v);
    if (stopped(s)) return stop(s);
    *found = sys->speed->motion_directions(sys->model, s->sys_work, t, q, v, s->M, f, g, L) == CAROM_OK;
    return *found ? carom_mass_factorise(s, F) : carom_motion_factor(s, F, f, g, t, q, v);
}

carom_status carom_acceleration(carom_step *s, bool *found, const carom_factor *F, double *a, double *g, double t,
                                const double *q, const double *v) {
    const carom_system *sys = s->sys;
    *found = false;
    if (F->ready || !sys->speed->free_motion) return CAROM_OK;
    if (stopped(s)) return stop(s);
    *found = sys->speed->free_motion(sys->model, s->sys_work, t, q, v, a, g) == CAROM_OK;
    return CAROM_OK;
}

carom_status carom_free_motion(carom_step *s, carom_factor *F, double *a, double *g, double t, const double *q,
                               const double *v) {
    CAROM_TRY(carom_motion_factor(s, F, a, g, t, q, v));
    carom_factor_solve(F, a);
    return CAROM_OK;
}

void carom_local_same(carom_local *L, const carom_local *like) {
    L->nb = like->nb;
    if (L->nb == 0) {
        L->at[0] = like->at[0];
        return;
    }
    memcpy(L->id, like->id, (size_t)L->nb * sizeof *L->id);
    memcpy(L->at, like->at, (size_t)(L->nb + 1) * sizeof *L->at);
}

static bool is_zero(const carom_columns *W, int k) {
    const carom_entries x = carom_entries_of(W, k);
    int e = 0;
    while (e < x.n && x.a[e] == 0) ++e;
    return e == x.n;
}

bool carom_local_alike(const carom_local *A, const carom_local *B) {
    bool same = A->nb == B->nb;
    for (int b = 0; same && b < A->nb; ++b) same = A->id[b] == B->id[b];
    return same;
}

void carom_local_pick(double *y, const carom_local *L, const double *x, const carom_local *Lx) {
    for (int b = 0, a = 0; b < L->nb; ++b, ++a) {
        while (Lx->id[a] != L->id[b]) ++a;
        carom_copy(y + L->at[b], x + Lx->at[a], L->at[b + 1] - L->at[b]);
    }
}

// They come first, of one row each.
static int count_joints(const carom_step *s, const carom_local *L) {
    int n = L->nb;
    while (n > 0 && L->id[n - 1] >= s->sys->ne) n -= 1;
    return n;
}

carom_local carom_joints_of(const carom_step *s, const carom_local *L) {
    carom_local joints = *L;
    joints.nb = count_joints(s, L);
    return joints;
}

carom_status carom_directions(carom_step *s, carom_local *L, double t, const double *q) {
    if (L->nb == 0) return CAROM_OK;
    const int n = L->at[L->nb];
    if (!(s->sys->flags & CAROM_TIMELESS_GAPS)) carom_zero(L->w, n); // else w is zero and stays so
    if (!L->W.count) carom_zero(L->W.a, (ptrdiff_t)n * L->W.rows);
    else for (int k = 0; k < n; ++k) L->W.count[k] = 0;
    SYSTEM(s->sys->directions(s->sys->model, s->sys_work, t, q, L), "contact directions");
    return CAROM_OK;
}

/// u of L's set at v, by threads.
typedef struct velocities { double *u; const carom_local *L; const double *v; } velocities;

static void some_velocities(void *user, int part, int parts) {
    const velocities *t = user;
    const long n = t->L->at[t->L->nb];
    const int from = (int)(n * part / parts), to = (int)(n * (part + 1) / parts);
    carom_columns_dot(t->u + from, &t->L->W, from, to - from, t->v);
    for (int k = from; k < to; ++k) t->u[k] += t->L->w[k];
}

void carom_local_velocity(double *u, const carom_local *L, const double *v) {
    if (L->nb == 0) return;
    if (L->at[L->nb] == 1) u[0] = carom_column_dot(&L->W, 0, v) + L->w[0]; // small and often
    else some_velocities(&(velocities){u, L, v}, 0, 1);
}

void carom_contact_velocity(const carom_step *s, double *u, const carom_local *L, const double *v) {
    const int first = L->at[count_joints(s, L)], n = L->at[L->nb];
    if (first == 0) {
        carom_local_velocity(u, L, v);
        return;
    }
    carom_columns_dot(u + first, &L->W, first, n - first, v);
    for (int k = first; k < n; ++k) u[k] += L->w[k];
}

void carom_local_velocity_shared(const carom_step *s, double *u, const carom_local *L, const double *v) {
    if (s->inside->team) carom_team_run(s->inside->team, some_velocities, &(velocities){u, L, v});
    else carom_local_velocity(u, L, v);
}

static inline double on_diagonal(carom_matrix M, int i) {
    const size_t k = (size_t)i, n = (size_t)M.shape.n, band = (size_t)M.shape.band;
    return M.shape.storage == CAROM_DIAGONAL ? M.a[k]
           : M.shape.storage == CAROM_DENSE  ? M.a[k * (n + 1)]
           : M.shape.storage == CAROM_BANDED ? M.a[k * (2 * band + 1) + band]
                                             : *carom_matrix_entry(M, i, i);
}

// What has no inertia counts as if it had that of the heaviest.
static double heaviest(carom_matrix M) {
    double most = 0;
    for (int i = 0; i < M.shape.n; ++i) most = fmax(most, on_diagonal(M, i));
    return most > 0 ? most : 1;
}

static inline double size_by_inertia(const double *y, carom_matrix M, bool momentum) {
    double most = 0;
    for (int i = 0; i < M.shape.n; ++i) {
        const double own = on_diagonal(M, i), m = own > 0 ? own : heaviest(M),
                     x = momentum ? y[i] * y[i] / m : y[i] * y[i] * m;
        if (!(x <= most)) most = x < HUGE_VAL ? x : HUGE_VAL; // or not a number
    }
    return sqrt(most);
}

double carom_momentum_size(const double *p, carom_matrix M) { return size_by_inertia(p, M, true); }
double carom_velocity_size(const double *v, carom_matrix M) { return size_by_inertia(v, M, false); }

double carom_force_rounding(const carom_step *s, carom_matrix K, carom_matrix M, const double *q, double *y) {
    static const double LOST = DBL_MIN / DBL_EPSILON; // numbers below have lost digits: a motion that a scheme has
                                                      // damped away
    if (s->sys->nq != s->sys->nv) return LOST;
    carom_matrix_magnitude(y, K, q);
    const double here = carom_momentum_size(y, M);
    carom_matrix_magnitude(y, K, s->q);
    // of both places
    return 8 * DBL_EPSILON * (here + carom_momentum_size(y, M)) + LOST;
}

void carom_local_react(double *y, double s, const carom_local *L, const double *p) {
    for (int k = 0; k < L->at[L->nb]; ++k) carom_column_axpy(y, s * p[k], &L->W, k);
}

// Column k of V += a D_k.  In space D has entries where W has none: V has those of both.  Where the columns of a
// system have no room for them, they are
// left out, and Newton's method converges linearly.
static void add_to_column(carom_columns *V, int k, double a, const carom_columns *D) {
    const size_t start = (size_t)k * (size_t)V->stride;
    if (!V->count) {
        carom_column_axpy(V->a + start, a, D, k);
        return;
    }
    int *row = carom_column_rows(V, k);
    const int *of = carom_column_rows(D, k);
    for (int e = 0, i = 0; e < D->count[k]; ++e, ++i) { // often in the same order: the search goes on behind the last
        if (i >= V->count[k] || row[i] != of[e]) i = 0;
        while (i < V->count[k] && row[i] != of[e]) ++i;
        if (i == V->stride) continue;
        if (i == V->count[k]) V->a[start + (size_t)i] = 0, row[i] = of[e], V->count[k] = i + 1;
        V->a[start + (size_t)i] += a * D->a[start + (size_t)e];
    }
}

void carom_local_blend(carom_local *V, const carom_local *L, double a, const carom_columns *D) {
    const int n = L->at[L->nb];
    for (int k = 0; k < n; ++k) {
        const carom_entries W = carom_entries_of(&L->W, k);
        carom_copy(V->W.a + (size_t)k * (size_t)V->W.stride, W.a, W.n);
        if (W.row) memcpy(carom_column_own_rows(&V->W, k, W.n), W.row, (size_t)W.n * sizeof *W.row);
        if (a != 0) add_to_column(&V->W, k, a, D);
    }
}

void carom_local_take_row(carom_local *to, int r, const carom_local *from, int k) {
    const carom_entries W = carom_entries_of(&from->W, k);
    double *a = to->W.a + (size_t)r * (size_t)to->W.stride;
    if (!to->W.count) {
        carom_column_expand(a, &from->W, k);
    } else {
        carom_copy(a, W.a, W.n);
        memcpy(carom_column_own_rows(&to->W, r, W.n), W.row, (size_t)W.n * sizeof *W.row);
    }
    to->w[r] = from->w[k];
}

bool carom_local_complete(carom_local *L, const carom_local *next, int ne) {
    bool some = false;
    for (int b = 0; b < L->nb; ++b) {
        if (L->id[b] < ne || !is_zero(&L->W, L->at[b])) continue;
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) carom_local_take_row(L, k, next, k);
        some = true;
    }
    return some;
}

void carom_local_blend_restitution(const carom_step *s, carom_local *V, double a, const carom_columns *D) {
    for (int b = 0; !s->impacts && b < V->nb; ++b) // what other laws ask for stays in the step
        for (int k = V->at[b]; k < V->at[b + 1]; ++k) {
            const double e = carom_row_restitution(s->sys, V, b, k);
            if (e != 0) add_to_column(&V->W, k, a * e, D);
        }
}

carom_status carom_curvature(carom_step *s, double *kappa, const carom_local *L, double t, const double *q,
                             const double *v) {
    const carom_system *sys = s->sys;
    carom_zero(kappa, L->at[L->nb]);
    SYSTEM(sys->curvature ? sys->curvature(sys->model, s->sys_work, t, q, v, L, kappa)
                          : carom_difference_curvature(&s->inside->difference, sys, s->sys_work, t, q, v, L, kappa),
           "gap curvatures");
    return CAROM_OK;
}

carom_status carom_tangent(carom_step *s, carom_matrix K, carom_matrix C, double t, const double *q, const double *v) {
    const carom_system *sys = s->sys;
    carom_matrix_zero(K);
    carom_matrix_zero(C);
    CALL(sys->tangent ? sys->tangent(sys->model, s->sys_work, t, q, v, K, C)
                      : carom_difference_tangent(&s->inside->difference, sys, s->sys_work, t, q, v, K, C),
         tangent_failed(s, status_, K, C));
    return CAROM_OK;
}

carom_status carom_mass_gradient(carom_step *s, carom_matrix D, double x, double t, const double *q, const double *y) {
    const carom_system *sys = s->sys;
    if (sys->flags & CAROM_CONSTANT_MASS) return CAROM_OK;
    SYSTEM(sys->mass_gradient ? sys->mass_gradient(sys->model, s->sys_work, t, q, y, x, D)
                              : carom_difference_mass_gradient(&s->inside->difference, sys, s->sys_work, t, q, y, x, D),
           "mass derivatives");
    return CAROM_OK;
}

carom_status carom_reaction_gradient(carom_step *s, carom_matrix D, double x, const carom_local *L,
                                     const double *lambda, double t, const double *q) {
    const carom_system *sys = s->sys;
    if (L->nb == 0 || sys->flags & CAROM_CONSTANT_DIRECTIONS) return CAROM_OK;
    SYSTEM(sys->reaction_gradient
               ? sys->reaction_gradient(sys->model, s->sys_work, t, q, L, lambda, x, D)
               : carom_difference_reaction_gradient(&s->inside->difference, sys, s->sys_work, t, q, L, lambda, x, D),
           "reaction derivatives");
    return CAROM_OK;
}

carom_status carom_rate_gradient(carom_step *s, carom_columns *D, const carom_local *L, double t, const double *q,
                                 const double *v) {
    const carom_system *sys = s->sys;
    if (L->nb == 0) return CAROM_OK;
    const int n = L->at[L->nb];
    if (!D->count) carom_zero(D->a, (ptrdiff_t)n * D->rows);
    else for (int k = 0; k < n; ++k) D->count[k] = 0;
    if (sys->flags & CAROM_CONSTANT_DIRECTIONS && sys->flags & CAROM_TIMELESS_GAPS) return CAROM_OK;
    SYSTEM(sys->rate_gradient ? sys->rate_gradient(sys->model, s->sys_work, t, q, v, L, D)
                              : carom_difference_rate_gradient(&s->inside->difference, sys, s->sys_work, t, q, v, L, D),
           "gap rate derivatives");
    return CAROM_OK;
}

carom_status carom_power_stage(carom_step *s, double weight, double t, const double *q, const double *v) {
    if (!s->sys->accounts->power_along) return CAROM_OK;
    SYSTEM(s->sys->accounts->power_along(s->sys->model, s->sys_work, t, q, v, weight, s->inside->power.given,
                                         s->inside->power.taken),
           "power");
    return CAROM_OK;
}

carom_status carom_power(carom_step *s, double t, const double *q, const double *v, double *given, double *taken) {
    *given = *taken = 0;
    if (s->sys->power) SYSTEM(s->sys->power(s->sys->model, s->sys_work, t, q, v, given, taken), "power");
    return CAROM_OK;
}

// The power of two nearest to 1/x, by the exponent of x > 0: every row asks for one, at every iterate.
static double near_inverse(double x) {
    static const uint64_t ROOT_TWO = 0x6a09e667f3bcd; // fraction of its mantissa
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int power = (int)(bits >> 52) - 1022, to = 1023 - power + ((bits & 0xfffffffffffff) < ROOT_TWO);
    bits = (uint64_t)(to < 1 ? 1 : to) << 52;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double carom_row_lever(const carom_step *s, const carom_local *L, int k) {
    const carom_entries W = carom_entries_of(&L->W, k);
    const double *levers = s->sys->lever;
    double most = 0;
    for (int e = 0; levers && e < W.n; ++e) {
        if (W.a[e] == 0) continue;
        const double lever = levers[carom_entry_row(&W, e)];
        if (lever == 1) return 1;
        const double x = fabs(W.a[e]) / lever;
        most = x > most ? x : most;
    }
    return most > 0 && most < HUGE_VAL ? near_inverse(most) : 1;
}

static double largest_residual(const carom_step *s) { return fmax(s->counts->residual, *s->inside->residual); }

double carom_impulse_rounding(const carom_step *s) {
    return 16 * fmin(largest_residual(s), CAROM_EXCUSED * s->scale);
}

double carom_residual_accepted(const carom_step *s) {
    const double r = largest_residual(s);
    return r > CAROM_EXCUSED * s->scale ? r : 0;
}

double carom_velocity_left(const carom_step *s) { return 4 * s->tol * s->scale + carom_impulse_rounding(s); }
