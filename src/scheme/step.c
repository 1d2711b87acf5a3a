// step.c: the vocabulary of a step.  One line of a paper each; see scheme.h for the contracts.
#include "scheme/inside.h"
#include "base/number.h"
#include "base/team.h"
#include "base/tolerance.h"
#include "contact/operator.h"
#include "contact/residual.h"
#include "linalg/matrix.h"
#include "scheme/discs.h"
#include "scheme/impact.h"
#include "scheme/step.h"
#include "solver/solvers.h"
#include <carom/team.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
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

static carom_status force_failed(carom_step *s, carom_status status, double t, const double *f) {
    char text[80];
    const int i = not_finite(f, s->sys->nv);
    if (status != CAROM_USER || i == s->sys->nv) return failed(s, status, "forces");
    return carom_fail(s->err, status, "t = %.9g: the force on %s is %s", t, carom_rate_text(s, i, text, sizeof text),
                      value(f[i]));
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

static carom_status indefinite(carom_step *s, int row) {
    char text[80];
    return carom_fail(s->err, CAROM_SINGULAR,
                      "t = %.9g: the mass matrix is not positive definite at coordinate %s; every coordinate needs "
                      "inertia (or use a scheme that allows singular mass)",
                      s->t, carom_rate_text(s, row, text, sizeof text));
}

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

enum { SMALL = 3 };
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

carom_status carom_freeze_features(carom_step *s, carom_freeze what, double t, const double *q) {
    carom_inside *in = s->inside;
    if (!s->sys->events->freeze) return CAROM_OK;
    if (what == CAROM_FREEZE) in->freezes += 1;
    in->frozen = what == CAROM_RELEASE ? 0 : in->freezes;
    return s->sys->events->freeze(s->sys->model, s->sys_work, what, t, q);
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
    return M.shape.storage == CAROM_DIAGONAL ? M.a[i]
           : M.shape.storage == CAROM_DENSE  ? M.a[(size_t)i * (size_t)(M.shape.n + 1)]
                                             : *carom_matrix_entry(M, i, i);
}

// What has no inertia counts as if it had that of the heaviest.
static double heaviest(carom_matrix M) {
    double most = 0;
    for (int i = 0; i < M.shape.n; ++i) most = fmax(most, on_diagonal(M, i));
    return most > 0 ? most : 1;
}

double carom_momentum_size(const double *p, carom_matrix M) {
    double most = 0;
    for (int i = 0; i < M.shape.n; ++i) {
        const double m = on_diagonal(M, i), x = p[i] * p[i] / (m > 0 ? m : heaviest(M));
        if (!(x <= most)) most = x < HUGE_VAL ? x : HUGE_VAL; // or not a number
    }
    return sqrt(most);
}

double carom_velocity_size(const double *v, carom_matrix M) {
    double most = 0;
    for (int i = 0; i < M.shape.n; ++i) {
        const double m = on_diagonal(M, i), x = v[i] * v[i] * (m > 0 ? m : heaviest(M));
        if (!(x <= most)) most = x < HUGE_VAL ? x : HUGE_VAL;
    }
    return sqrt(most);
}

double carom_force_rounding(const carom_step *s, carom_matrix K, carom_matrix M, const double *q, double *y) {
    static const double LOST = DBL_MIN / DBL_EPSILON; // numbers below have lost digits: a motion that a scheme has
                                                      // damped away
    if (s->sys->nq != s->sys->nv) return LOST;
    carom_matrix_magnitude(y, K, q);
    const double here = carom_momentum_size(y, M);
    carom_matrix_magnitude(y, K, s->q);
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
    for (int e = 0; e < D->count[k]; ++e) {
        int i = 0;
        while (i < V->count[k] && row[i] != of[e]) ++i;
        if (i == V->stride) continue;
        if (i == V->count[k]) V->a[start + (size_t)i] = 0, row[i] = of[e], V->count[k] = i + 1;
        V->a[start + (size_t)i] += a * D->a[start + (size_t)e];
    }
}

void carom_local_blend(carom_local *V, const carom_local *L, double a, const carom_columns *D) {
    const int n = L->at[L->nb];
    const carom_columns *W = &L->W;
    for (int k = 0; k < n; ++k) {
        const size_t start = (size_t)k * (size_t)W->stride;
        const int count = W->count ? W->count[k] : W->rows;
        carom_copy(V->W.a + start, W->a + start, count);
        if (W->count)
            memcpy(carom_column_own_rows(&V->W, k, count), carom_column_rows(W, k), (size_t)count * sizeof *W->row);
        if (a != 0) add_to_column(&V->W, k, a, D);
    }
}

void carom_local_take_row(carom_local *to, int r, const carom_local *from, int k) {
    const carom_columns *W = &from->W;
    const size_t count = (size_t)(W->count ? W->count[k] : W->rows);
    double *a = to->W.a + (size_t)r * (size_t)to->W.stride;
    if (!to->W.count) {
        carom_column_expand(a, W, k);
    } else {
        memcpy(a, W->a + (size_t)k * (size_t)W->stride, count * sizeof *a);
        memcpy(carom_column_own_rows(&to->W, r, (int)count), carom_column_rows(W, k), count * sizeof *W->row);
    }
    to->w[r] = from->w[k];
}

// Restitution of row k of block b.
static double restitution(const carom_system *sys, const carom_local *L, int b, int k) {
    if (L->id[b] < sys->ne) return 0;
    const carom_contact *c = sys->contacts + (L->id[b] - sys->ne);
    return k == L->at[b] ? c->restitution : c->tangential_restitution;
}

void carom_local_blend_restitution(const carom_step *s, carom_local *V, double a, const carom_columns *D) {
    for (int b = 0; !s->impacts && b < V->nb; ++b) // what other laws ask for stays in the step
        for (int k = V->at[b]; k < V->at[b + 1]; ++k) {
            const double e = restitution(s->sys, V, b, k);
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
    SYSTEM(sys->tangent ? sys->tangent(sys->model, s->sys_work, t, q, v, K, C)
                        : carom_difference_tangent(&s->inside->difference, sys, s->sys_work, t, q, v, K, C),
           "force derivatives");
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

// -- the contact problem -----------------------------------------------------------------------------

double carom_row_lever(const carom_step *s, const carom_local *L, int k) {
    const carom_columns *W = &L->W;
    const double *a = W->a + (size_t)k * (size_t)W->stride;
    double most = 0;
    for (int e = 0; s->sys->lever && e < (W->count ? W->count[k] : W->rows); ++e) {
        const double lever = s->sys->lever[W->count ? carom_column_rows(W, k)[e] : e];
        if (a[e] == 0) continue;
        if (lever == 1) return 1;
        most = fmax(most, fabs(a[e]) / lever);
    }
    if (!(most > 0 && most < HUGE_VAL)) return 1;
    int power; // the nearest power of two
    const bool less = frexp(most, &power) < 0.70710678118654752;
    return ldexp(1, less - power);
}

double carom_joints_size(const carom_step *s, const carom_local *L, const double *u, int n) {
    double most = 0;
    for (int k = 0; k < n; ++k) most = fmax(most, u[k] != 0 ? carom_row_lever(s, L, k) * fabs(u[k]) : 0);
    return carom_norm_max(u, n) < HUGE_VAL ? most : HUGE_VAL;
}

void carom_problem_blocks(carom_step *s, const carom_local *L) {
    const int nb = L->nb, n = L->at[nb], ne = s->sys->ne, *restrict id = L->id, *restrict at = L->at;
    const carom_contact *contacts = s->sys->contacts;
    carom_block *restrict block = s->blocks;
    int b = 0;
    for (; b < nb && id[b] < ne; ++b) { // they come first
        block[b] = (carom_block){CAROM_BILATERAL, at[b], 0};
        s->inside->row_lever[id[b]] = carom_row_lever(s, L, at[b]);
    }
    for (; b < nb; ++b)
        block[b] =
            (carom_block){carom_law_with(carom_directions_of(s->sys, id[b]) - 1), at[b], contacts[id[b] - ne].friction};
    s->inside->a = 1;
    carom_problem *pb = &s->problem; // set in place: a struct that is built and then copied is read in other pieces
                                     // than it was written in, for which processors wait
    memset(pb, 0, sizeof *pb);
    pb->n = pb->ld = n;
    pb->nb = nb;
    pb->block = s->blocks;
    pb->G = s->G, pb->c = s->c;
    pb->p = s->p, pb->u = s->u;
    if (s->inside->discs) s->problem.disc = carom_discs_find(s->inside->discs, s->sys, L->id, L->nb);
}

void carom_problem_subtract(carom_step *s, const double *x) {
    carom_problem *pb = &s->problem;
    carom_problem_rows(pb);
    const carom_block_rows *R = pb->rows;
    const int n = pb->n;
    carom_span span = carom_span_begin(pb); // within the envelope, where that is known
    for (int i = n - 1; i >= 0 && pb->G; --i) {
        carom_span_of(&span, pb, i, i + 1);
        for (int k = span.from; k < span.last; ++k) s->c[i] -= s->G[i + k * (size_t)pb->ld] * x[k];
        for (int k = carom_span_more(&span, pb); k < n; ++k) s->c[i] -= s->G[i + k * (size_t)pb->ld] * x[k];
    }
    for (int b = 0; b < pb->nb && !pb->G && R; ++b) {
        const int at = pb->block[b].at, rows = (b + 1 < pb->nb ? pb->block[b + 1].at : n) - at;
        const double *g = R->value + R->at[R->start[b]];
        for (int k = R->start[b]; k < R->start[b + 1]; ++k) {
            const int c = R->col[k], from = pb->block[c].at, end = c + 1 < pb->nb ? pb->block[c + 1].at : n;
            for (int j = from; j < end; ++j, g += rows)
                for (int i = 0; i < rows; ++i) s->c[at + i] -= g[i] * x[j];
        }
    }
}

void carom_problem_restitution(carom_step *s, const carom_local *L, const double *u_free, const double *u_before) {
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) {
            const bool other = s->impacts && L->id[b] >= s->sys->ne;
            s->c[k] = u_free[k] + (other ? -s->impacts->b[k] : restitution(s->sys, L, b, k) * u_before[k]);
        }
}

const char *carom_constraint_text(const carom_step *s, long long id, char *space, size_t size) {
    if (s->inside->name) return s->inside->name(s->inside->name_user, id);
    snprintf(space, size, "%s %lld", id < s->sys->ne ? "constraint" : "contact",
             1 + (id < s->sys->ne ? id : id - s->sys->ne));
    return space;
}

// (TOL-3), (TOL-6)  The largest residual that is accepted, over contact.scale.
static double acceptable(const carom_step *s) {
    const carom_inside *x = s->inside;
    return carom_limited(x, s->problem.n) ? fmax(x->accept, x->limited_most) : x->accept;
}

// No solver came below tolerance: is a residual accepted in a step of this scale?  Then it is counted.
static bool accepted(carom_step *s, double residual, double scale) {
    if (!(residual <= acceptable(s) * scale)) return false;
    s->contact.last = residual;
    s->contact.most = fmax(s->contact.most, residual / scale);
    return true;
}

// Says what would help: an answer that is nearly one can be accepted, another cannot.
static carom_status refuse(carom_step *s, const carom_report *r, const int *id) {
    static const double NEARLY = 1e-6; // problems without an answer come as near as 3e-6
    const double scale = s->contact.scale;
    char space[40], advice[160];
    s->contact.refused = scale;
    if (r->residual <= NEARLY * scale)
        snprintf(advice, sizeof advice, "the option accept=%.0e accepts such residuals and counts them",
                 10 * r->residual / scale);
    else
        snprintf(advice, sizeof advice,
                 "its constraints may contradict each other, or contacts jam: look at '%s' at this time",
                 carom_constraint_text(s, id[r->worst_block], space, sizeof space));
    return carom_retry(
        s,
        "contact problem (%d constraints) not solved: residual %.3g at '%s', velocity scale %.3g, tolerance %.3g; %s",
        s->problem.nb, r->residual, carom_constraint_text(s, id[r->worst_block], space, sizeof space), scale,
        acceptable(s) * scale, advice);
}

// (TOL-2)
static carom_report solve_as_is(carom_step *s, carom_problem *pb) {
    if (!s->inside->on_problem) return carom_chain_solve(s->inside->chain, pb, s->tol * s->scale);
    carom_problem_rows(pb);
    s->inside->on_problem(s->inside->problem_user, s->t, pb, NULL);
    const carom_report r = carom_chain_solve(s->inside->chain, pb, s->tol * s->scale);
    s->inside->on_problem(s->inside->problem_user, s->t, pb, &r);
    return r;
}

static carom_report solve(carom_step *s, carom_problem *pb, const int *id) {
    carom_discs *discs = s->inside->discs;
    carom_problem parts;
    if (!discs) return solve_as_is(s, pb);
    pb->disc = carom_discs_find(discs, s->sys, id, pb->nb);
    if (!carom_problem_rows(pb) || !carom_discs_split(discs, pb, &parts))
        return (carom_report){.residual = INFINITY, .worst_block = 0};
    carom_report r = solve_as_is(s, &parts);
    carom_discs_join(discs, &parts, pb);
    if (r.worst_block >= 0) r.worst_block = discs->of[r.worst_block];
    return r;
}

void carom_problem_scale(carom_step *s, const double *c, int n) {
    const double size = carom_norm_max(c, n);
    if (size < HUGE_VAL) s->scale = fmax(s->scale, size), s->contact.scale = fmax(s->contact.scale, size); // (TOL-1)
    s->contact.last = 0;
}

// (LV-4)  Rows of angles as lengths, and back: powers of two, so that nothing is rounded.  Within the envelope alone:
//         beyond it a narrow G has no entries.
static void weigh(carom_step *s, const int *id, bool back) {
    carom_problem *pb = &s->problem;
    carom_span span = carom_span_begin(pb);
    for (int b = pb->nb - 1; b >= 0 && pb->G == s->G; --b) {
        if (id[b] >= s->sys->ne) continue;
        const double x = back ? 1 / s->inside->row_lever[id[b]] : s->inside->row_lever[id[b]];
        const int i = pb->block[b].at;
        carom_span_of(&span, pb, i, i + 1);
        if (x == 1) continue;
        for (int j = span.from; j < pb->n; ++j) {
            if (j == span.last) j = carom_span_more(&span, pb);
            if (j == pb->n) break;
            if (j > i && pb->first && pb->first[j] > i) continue;
            s->G[i + (size_t)j * (size_t)pb->ld] *= x;
            s->G[j + (size_t)i * (size_t)pb->ld] *= x;
        }
        s->c[i] *= x, s->u[i] *= x, s->p[i] /= x;
    }
}

// Joints alone: elimination does not ask for units, the certificate does.
static bool is_rigid(const carom_step *s, const carom_problem *pb) {
    return pb->G == s->G && pb->nb == s->sys->ne && pb->n == pb->nb && carom_problem_joints(pb) == pb->nb &&
           !carom_chain_chosen(s->inside->chain) && !s->inside->on_problem;
}

// As carom_problem_scale() of the velocities of joints.
static void scale_joints(carom_step *s, const carom_problem *pb) {
    double most = 0;
    for (int i = 0; i < pb->n; ++i) most = fmax(most, s->inside->row_lever[i] * fabs(s->c[i]));
    carom_problem_scale(s, carom_norm_max(s->c, pb->n) < HUGE_VAL ? &most : s->c, 1);
}

carom_status carom_problem_run(carom_step *s, const int *id) {
    carom_problem *pb = &s->problem;
    if (pb->n == 0) return CAROM_OK;
    if (!pb->G && !pb->rows && !pb->parts)
        return carom_fail(s->err, CAROM_NO_MEMORY, "t = %.9g: too many of %d contacts act on the same body", s->t,
                          pb->nb);
    const bool rigid = is_rigid(s, pb);
    if (rigid) scale_joints(s, pb);
    else weigh(s, id, false), carom_problem_scale(s, pb->c, pb->n);
    pb->lever = rigid ? s->inside->row_lever : NULL;
    pb->acceptable =
        fmax(s->inside->solved * s->scale, carom_acceptable(s->inside, pb->n) * s->contact.scale); // (TOL-5)
    carom_chain_set_prox(s->inside->chain, &s->inside->prox);
    carom_chain_set_choice(s->inside->chain, s->inside->choice);
    carom_report r = solve(s, pb, id);
    pb->lever = NULL;
    const bool again = rigid && !r.converged; // by others, which ask for units
    if (again) weigh(s, id, false), r = solve(s, pb, id);
    if (!rigid || again) weigh(s, id, true);
    carom_counts *counts = s->counts;
    counts->problems += 1;
    counts->iterations += r.iterations;
    carom_factored(s, pb->n);
    s->inside->multiplied += (double)r.iterations * pb->n * pb->n;
    counts->fallbacks += r.fallbacks;
    s->contact.last = 0;
    if (!r.converged && r.residual <= s->inside->solved * s->scale) s->contact.last = r.residual; // (TOL-2)
    else if (!r.converged && !accepted(s, r.residual, s->contact.scale)) return refuse(s, &r, id);
    if (r.residual > counts->residual) {
        counts->residual = r.residual;
        counts->residual_id = id[r.worst_block];
    }
    return CAROM_OK;
}

carom_traces carom_problem_traces(const carom_step *s) {
    return (carom_traces){.scale = s->scale,
                          .step_scale = s->contact.scale,
                          .most = s->contact.most,
                          .residual = s->counts->residual,
                          .residual_id = s->counts->residual_id};
}

void carom_problem_take_back(carom_step *s, const carom_traces *before) {
    s->scale = before->scale;
    s->contact.scale = before->step_scale;
    s->contact.most = before->most;
    s->counts->residual = before->residual;
    s->counts->residual_id = before->residual_id;
}

double carom_impulse_rounding(const carom_step *s) {
    return 16 * fmin(fmax(s->counts->residual, *s->inside->residual), CAROM_EXCUSED * s->scale);
}

double carom_velocity_left(const carom_step *s) { return 4 * s->tol * s->scale + carom_impulse_rounding(s); }

bool carom_problem_met(carom_step *s, const int *id, double rounding) {
    const carom_problem *pb = &s->problem;
    if (pb->n == 0) return true;
    carom_copy(s->u, s->c, pb->n);
    for (int b = 0; b < pb->nb; ++b) // (LV-4)
        if (id[b] < s->sys->ne) s->u[pb->block[b].at] *= s->inside->row_lever[id[b]];
    const double residual = carom_residual_at(pb, NULL);
    // (CP-10), but c is what is left of U
    return residual <= fmax(fmax(s->tol * s->scale, rounding), 2 * s->contact.last) ||
           (residual <= CAROM_EXCUSED * s->contact.scale && residual <= carom_rounding(pb));
}

// -- books ---------------------------------------------------------------------------------------------

static const double APPROACH = 1e-9; // of the largest speed: a contact that lasts has u = 0 to rounding, of either sign

// Is contact b of the set struck: does it approach, and is it pushed?
static bool struck(const carom_step *s, const carom_local *L, int b, const double *p, const double *u_before) {
    return L->id[b] >= s->sys->ne && p[L->at[b]] > 0 && u_before[L->at[b]] < -APPROACH * s->scale;
}

// (BK-1)  Impact takes  - sum of 1/2 (u_before + u_after) p  over the normal impulses of contacts, and over those of
//         bilateral constraints in an impact: some contact of the set is struck.  Joints that nothing strikes have u =
//         0 before and after; what their reactions do all the same is the scheme's error, and stays in the balance.
bool carom_account_counts(const carom_step *s, const carom_local *L, int b, const double *p, const double *u_before) {
    if (L->id[b] >= s->sys->ne) return true;
    bool some = false;
    // contacts come last
    for (int k = L->nb - 1; k >= 0 && L->id[k] >= s->sys->ne && !some; --k) some = struck(s, L, k, p, u_before);
    return some;
}

// An impact creates energy when all its contacts together take a negative amount.  What is below this, relative to the
// terms of the sum, is the error of a step.
static const double GAIN = 1e-3;

// What row k of a set takes.
static inline double row_takes(int k, const double *p, const double *u_before, const double *u_after) {
    return -0.5 * (u_before[k] + u_after[k]) * p[k];
}

// The contacts of the set, from its block b on, give `created` together: is that more than the error of a step?  Then
// it counts, at the contact that takes least. alone: one contact, whose restitution takes; where it gives, that is the
// error of a step.
static void book_created(carom_step *s, const carom_local *L, int b, bool alone, double created, const double *p,
                         const double *u_before, const double *u_after) {
    double size = 0, least = 0;
    int id = -1;
    for (; b < L->nb; ++b) {
        double own = 0;
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) {
            const double part = row_takes(k, p, u_before, u_after);
            own += k == L->at[b] && alone ? fmax(part, 0) : part;
            size += 0.5 * (fabs(u_before[k]) + fabs(u_after[k])) * fabs(p[k]);
        }
        if (own < least) least = own, id = L->id[b];
    }
    if (!(created > GAIN * size)) return;
    s->record.account.created += created;
    if (created > s->record.account.gain)
        s->record.account.gain = created, s->record.account.gain_id = id, s->record.account.gain_t = s->record.t;
}

void carom_account_impulses(carom_step *s, const carom_local *L, const double *restrict p,
                            const double *restrict u_before, const double *restrict u_after) {
    if (L->nb == 0) return;
    const int ne = s->sys->ne;
    const bool joints = carom_account_counts(s, L, 0, p, u_before);
    const bool alone = L->nb == 1 || L->id[L->nb - 2] < ne; // one contact
    double impact = s->record.account.impact, friction = s->record.account.friction,
           external = s->record.account.external;
    int b = 0;
    s->record.reacted = true;
    for (; b < L->nb && L->id[b] < ne; ++b) { // bilateral constraints come first, of one row each
        const int k = L->at[b], r = s->dir[L->id[b]];
        if (s->record.impulse[r] == 0) s->record.u_before[r] = u_before[k]; // smaller steps may book into one record
        s->record.u_after[r] = u_after[k];
        s->record.impulse[r] += p[k];
        if (joints) impact += -0.5 * (u_before[k] + u_after[k]) * p[k];
        external -= L->w[k] * p[k];
    }
    const int contacts = b;
    double taken = 0;
    for (; b < L->nb; ++b) {
        const int first = L->at[b], id = L->id[b], d = s->dir[id] - first;
        const bool fresh = s->record.impulse[d + first] == 0;
        double own = 0;
        for (int k = first; k < L->at[b + 1]; ++k) {
            const double part = row_takes(k, p, u_before, u_after);
            if (fresh) s->record.u_before[d + k] = u_before[k];
            s->record.u_after[d + k] = u_after[k];
            s->record.impulse[d + k] += p[k];
            if (k > first) friction += part;
            else impact += part, s->record.lost[id - ne] += part;
            external -= L->w[k] * p[k];
            own += k == first && alone ? fmax(part, 0) : part;
        }
        taken += own;
    }
    s->record.account.impact = impact;
    s->record.account.friction = friction;
    s->record.account.external = external;
    if (taken >= 0) s->record.account.lost += taken;
    else book_created(s, L, contacts, alone, -taken, p, u_before, u_after);
}

void carom_account_struck_joints(carom_step *s, const carom_local *L, const double *p, const double *u_before,
                              const double *u_after) {
    const carom_local J = carom_joints_of(s, L);
    if (J.nb == 0 || carom_account_counts(s, L, 0, p, u_before)) return;
    for (int k = 0; k < J.at[J.nb]; ++k) s->record.account.impact -= 0.5 * (u_before[k] + u_after[k]) * p[k];
}

// (BK-2)  Forces of joints take nothing: u = 0 where they act, and what a scheme leaves of u is its error.  Normal
//         forces of contacts also stop an approach too slow for an impact: what they take is lost to impact.
void carom_account_forces(carom_step *s, const carom_local *L, const double *restrict lambda, const double *restrict u,
                       double weight, bool end) {
    if (L->nb == 0) return;
    const int joints = count_joints(s, L);
    double impact = s->record.account.impact, friction = s->record.account.friction,
           external = s->record.account.external;
    s->record.reacted = true;
    for (int b = 0; end && b < joints; ++b) {
        const int k = L->at[b], d = s->dir[L->id[b]];
        s->record.force[d] = lambda[k], s->record.u_after[d] = u[k];
    }
    // else w = 0
    for (int b = 0; !(s->sys->flags & CAROM_TIMELESS_GAPS) && b < joints; ++b)
        external -= weight * L->w[L->at[b]] * lambda[L->at[b]];
    for (int b = joints; b < L->nb; ++b) {
        const int first = L->at[b], d = s->dir[L->id[b]];
        for (int k = first; k < L->at[b + 1]; ++k) {
            if (end) s->record.force[d + k - first] = lambda[k], s->record.u_after[d + k - first] = u[k];
            if (k > first) friction -= weight * lambda[k] * u[k];
            else impact -= weight * lambda[k] * u[k];
            external -= weight * L->w[k] * lambda[k];
        }
    }
    s->record.account.impact = impact;
    s->record.account.friction = friction;
    s->record.account.external = external;
}

void carom_power_begin(carom_step *s) {
    if (!s->sys->accounts->power_along) return;
    carom_zero(s->inside->power.given, s->sys->nv + 1);
    carom_zero(s->inside->power.taken, s->sys->nv + 1);
}

carom_status carom_power_stage(carom_step *s, double weight, double t, const double *q, const double *v) {
    if (!s->sys->accounts->power_along) return CAROM_OK;
    SYSTEM(s->sys->accounts->power_along(s->sys->model, s->sys_work, t, q, v, weight, s->inside->power.given,
                               s->inside->power.taken),
           "power");
    return CAROM_OK;
}

// (BK-4)  M (v_1 - v_0) = h sum b_l f_l:  1/2 v_1'M v_1 - 1/2 v_0'M v_0 = h sum b_l f_l . (v_0 + v_1)/2
void carom_account_power(carom_step *s, const double *v_0, const double *v_1) {
    const int nv = s->sys->nv;
    const double *given = s->inside->power.given, *taken = s->inside->power.taken;
    if (!s->sys->accounts->power_along) return;
    s->record.account.external += 0.5 * (carom_dot(given, v_0, nv) + carom_dot(given, v_1, nv)) + given[nv];
    s->record.account.damping += 0.5 * (carom_dot(taken, v_0, nv) + carom_dot(taken, v_1, nv)) + taken[nv];
    s->inside->power.accounted = true;
}

void carom_account_position(carom_step *s, int id, double nu) {
    if (s->record.nu)
        s->record.nu[s->dir[id]] += nu; // halves of a step add up; NULL: part of a scheme that has no position level
}

carom_status carom_emit_event(carom_step *s, carom_event event) {
    if (s->record.nevents == s->record.max_events)
        return carom_retry(s, "more than %d events in one step; reduce the step", s->record.max_events);
    s->record.events[s->record.nevents++] = event;
    return CAROM_OK;
}

carom_status carom_substep_done(carom_step *s, double t, const double *q, const double *v) {
    s->counts->substeps += 1;
    s->record.substeps += 1;
    if (!s->inside->on_substep) return CAROM_OK;
    const carom_status status = s->inside->on_substep(s->inside->substep_user, t, q, v);
    return status == CAROM_OK ? CAROM_OK : carom_fail(s->err, status, "t = %.9g: stopped", t);
}

void carom_list_suffices(carom_step *s, const carom_way *motion) {
    if (s->sys->contact_list->margin_for)
        s->inside->margin =
            fmax(s->inside->margin, s->sys->contact_list->margin_for(s->sys->model, s->sys_work, motion));
}

carom_status carom_limit_parts(carom_step *s, double parts, double most) {
    s->inside->spent += parts;
    if (s->inside->spent <= most) return CAROM_OK;
    return carom_fail(
        s->err, CAROM_NOT_CONVERGED,
        "t = %.9g: one step exceeded the work limit of %g internal steps: impacts or vibrations are too fast for it. "
        "Try a smaller step, or a scheme that does not follow them (moreau-jean, newmark)",
        s->t, most);
}

void carom_factored(carom_step *s, int n) { s->inside->multiplied += (double)n * n * n / 3; }

// (AU-19)  work = calls (1 + n/SMALL) + multiplications/MANY,  n = nv + ne + nc: in evaluations of a small model
double carom_work_done(const carom_step *s) {
    // so that runs of one mass and of forty end after the same CPU time
    static const double SMALL = 8, MANY = 300;
    const carom_inside *in = s->inside;
    return in->calls * (1 + (s->sys->nv + s->sys->ne + s->sys->nc) / SMALL) + in->multiplied / MANY;
}

carom_status carom_limit_work(carom_step *s, double most) {
    s->inside->calls += 1; // also where nothing is evaluated
    if (carom_work_done(s) <= most) return CAROM_OK;
    return carom_fail(
        s->err, CAROM_NOT_CONVERGED,
        "t = %.9g: one step exceeded the work limit, %.3g evaluations of a small model (here %.3g evaluations and "
        "factorisations of %.3g multiplications): impacts or vibrations are too fast for it. "
        "Try a smaller step, or a scheme that does not follow them (moreau-jean, newmark)",
        s->t, most, s->inside->calls, s->inside->multiplied);
}

carom_status carom_beside(carom_step *s, carom_side side, double t, const double *q, const double *v) {
    if (!s->inside->on_event) return CAROM_OK;
    const carom_status status = s->inside->on_event(s->inside->event_user, side, t, q, v);
    return status == CAROM_OK ? CAROM_OK : carom_fail(s->err, status, "t = %.9g: stopped", t);
}

void carom_account_newton(carom_step *s, int iterations) {
    carom_counts *c = s->counts;
    c->newton += iterations;
    c->newton_steps[iterations < 0 ? 0 : iterations > CAROM_NEWTON_COUNTED ? CAROM_NEWTON_COUNTED : iterations] += 1;
    if (iterations > 20) c->newton_many += 1;
    if (iterations > c->newton_max) {
        c->newton_max = iterations;
        c->newton_max_t = s->t + s->h;
    }
}

void carom_account_identity(carom_step *s, double violation, double terms) {
    carom_counts *c = s->counts;
    c->violation = fmax(c->violation, fabs(violation));
    c->terms = fmax(c->terms, terms);
}

void carom_account_rise(carom_step *s, double rise, int rule, double x, double y) {
    carom_rise *r = s->inside->rise;
    if (!r || !(rise > 0)) return;
    r->sum += rise;
    if (rise > r->most) *r = (carom_rise){.sum = r->sum, .most = rise, .t = s->t + s->h, .rule = rule, .x = x, .y = y};
}
