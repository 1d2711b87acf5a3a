// ggl_midpoint.c: the unified Gear-Gupta-Leimkuhler midpoint scheme: one Newton iteration for both levels.
//
// Spec: docs/methods-ggl-newmark.md, section GM (Schoeder, Ulbrich, Schindler 2013, the unified scheme).  The implicit
// midpoint rule with the mass at an explicit midpoint; impulses Lambda make the velocities, multipliers Psi the
// positions meet the constraints at the end of the step, all in one semi-smooth Newton iteration.  Every iteration
// solves one contact problem that holds each active constraint twice: on velocity level with its friction, and on
// position level without.
//
// active=midpoint decides at q_0 + h/2 v_0 and may enter by h/2 |u| in an impact step; active=end decides at the end
// of the step and does not enter.  active=lasting decides at the midpoint, and at the end for contacts that last.
#include "base/tolerance.h"
#include "contact/residual.h"
#include "linalg/matrix.h"
#include "scheme/bent.h"
#include "scheme/friction.h"
#include "scheme/inside.h"
#include "scheme/newton.h"
#include "scheme/increments.h"
#include "system/system.h"
#include <math.h>

enum { MOST = 20 }; // Newton iterations

enum { OPT_LOCAL, OPT_ACTIVE, OPT_LEVELS, OPT_METRIC };
static const carom_option options[] = {
    {.name = "local", .kind = CAROM_CHOICE, .choices = "exact|paper",
     .about = "gaps and local velocities at the new position, or linearised from the old one with midpoint directions"},
    {.name = "active", .kind = CAROM_CHOICE, .choices = "lasting|midpoint|end",
     .about = "contacts closed at the explicit midpoint, with lasting ones that would be below zero at the end of "
              "the step; the former alone (the paper's, never rests with restitution); all that would be below zero "
              "at the end"},
    {.name = "levels", .kind = CAROM_CHOICE, .choices = "both|velocity",
     .about = "constraints on position and velocity level; velocity: Psi = 0, gaps and joints drift (for comparison)"},
    {.name = "metric", .kind = CAROM_CHOICE, .choices = "kinetic|euclidean",
     .about = "length of a position correction: by the mass matrix, in any unit; by the coordinates (the paper's), "
              "which depends on the unit of length"},
    {0},
};

typedef struct work {
    bool paper, lasting, end, velocity, kinetic; // options
    double *x, *v_1, *Lambda, *Psi; // displacement and velocity; impulses by row of W; Psi/h by constraint of the set
    // one evaluation
    double *v_M, *q_M, *q_T, *q_1, *f; // mean velocity; explicit and implicit midpoint; new position; forces
    double *phi_x, *phi_v, *size_v;    // residuals of (GM-3), (GM-4); sum of the magnitudes of the latter's terms
    double *g_0, *g, *sign, *u_0, *u;  // gaps at q_0, at q_1, and set, by id; local velocities at q_0, q_1 by row
    double *part, *dg;                 // rows that are being computed, and of position level
    double *g_start;                   // gaps at q_0, zero where they are rounding; those of the prediction
    carom_local L_0, L_T, L_1;         // directions at q_0, at the implicit midpoint, at q_1
    carom_matrix M, K, C, B, A;        // M, -df/dq, -df/dv; d(phi_x)/dx; d(phi_v)/d(x, v) reduced to v
    carom_columns D, D_x;              // d(W'y + w)/dq for the velocities; local=paper: for y = x
    carom_matrix Q;                    // metric=kinetic
    carom_factor F_B, F_A, F_Q;        // of B, A, Q
    bool shifted; // B is not the identity
    bool factored; // F_A is the factor of A
    bool have_M;  // M is constant and stands
    bool singular; // it has no inertia somewhere
    double h_A;   // step of a constant A, and P, that stand; 0: none
    double pace;  // velocity that counts as one, by its size: largest change of a velocity without reactions
    // columns (dv, dx) of the contact problem: those of Lambda, then those of Psi
    double *X_v, *X_x, *y_v, *y_x;
    carom_increments turn; // at x
    double *xi;      // T dx, the move of q_1
    int *id; // constraint of each block
    carom_bent bent;
    bool planes; // they keep their planes, too
    carom_saddle S;        // (GM-12): joints of both levels in the linear system
    carom_columns TW;      // T'D, T'N
    int *at;               // rows of contacts alone
    bool by_saddle;        // the last correction was made with it
    carom_chord chord;     // its factor
    carom_past past;
    double free;           // (TOL-1): velocities of joints without reactions, about
} work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    work *w = memory;
    const size_t nv = (size_t)sys->nv, nq = (size_t)sys->nq, nb = (size_t)(sys->ne + sys->nc);
    w->paper = opt[OPT_LOCAL] == 1;
    w->lasting = opt[OPT_ACTIVE] == 0;
    w->end = opt[OPT_ACTIVE] == 2;
    w->velocity = opt[OPT_LEVELS] == 1;
    w->kinetic = opt[OPT_METRIC] == 0;
    w->have_M = w->singular = false;
    w->h_A = 0;
    w->turn = carom_allocate_increments(mem, sys);
    w->L_0 = carom_allocate_local(mem, sys);
    w->L_T = carom_allocate_local(mem, sys);
    w->L_1 = carom_allocate_local(mem, sys);
    const size_t nl = (size_t)w->L_0.W.n;
    CAROM_ALLOCATE(mem, nv, &w->x, &w->v_1, &w->v_M, &w->f, &w->phi_x, &w->phi_v, &w->size_v, &w->y_v, &w->y_x, &w->xi);
    CAROM_ALLOCATE(mem, nq, &w->q_M, &w->q_T, &w->q_1);
    CAROM_ALLOCATE(mem, nb, &w->Psi, &w->g_0, &w->g_start, &w->g, &w->sign);
    CAROM_ALLOCATE(mem, nl, &w->Lambda, &w->u_0, &w->u, &w->part, &w->dg);
    w->M = carom_allocate_matrix(mem, sys->mass_shape);
    carom_matrix *tangents[] = {&w->K, &w->C, &w->B, &w->A};
    for (size_t i = 0; i < sizeof tangents / sizeof *tangents; ++i)
        *tangents[i] = carom_allocate_matrix(mem, sys->tangent_shape);
    w->D = carom_allocate_columns(mem, sys->nv, w->L_0.W.n, sys->column_stride);
    if (w->paper) w->D_x = carom_allocate_columns(mem, sys->nv, w->L_0.W.n, sys->column_stride);
    w->F_B = carom_allocate_factor(mem, sys->tangent_shape, false);
    w->F_A = carom_allocate_factor(mem, sys->tangent_shape, false);
    if (w->kinetic)
        w->Q = carom_allocate_matrix(mem, sys->tangent_shape),
        w->F_Q = carom_allocate_factor(mem, sys->tangent_shape, false);
    CAROM_ALLOCATE(mem, nv * (nl + nb), &w->X_v, &w->X_x);
    w->id = carom_allocate_ints(mem, 2 * nb);
    w->bent = carom_allocate_bent(mem, sys);
    const int *groups = w->paper || w->velocity ? NULL : carom_saddle_groups(sys);
    const carom_saddle_levels levels = {.velocities = 2,
                                        .reactions = 2,
                                        .A = {{true, true}, {true, true}},
                                        .W = {{true}, {false, true}},
                                        .V = {{true, true}, {true, true}},
                                        .absent = sys->nrates, // (GM-13)
                                        .lacks = {false, true}};
    w->S = carom_allocate_saddle(mem, sys->nv, sys->nparts, groups, sys->ne, sys->tangent_shape, sys->column_stride,
                                 &levels);
    if (w->S.on) w->past = carom_allocate_past(keep, sys), w->chord.whole = carom_allocate(keep, 1);
    if (w->S.on)
        w->TW = carom_allocate_columns(mem, sys->nv, w->L_0.W.n, sys->column_stride),
        w->at = carom_allocate_ints(mem, nb + 1);
    w->by_saddle = false;
}

static int rows(const carom_local *L) { return L->at[L->nb]; }

// Constraints of the set that are met on position level.
static int held_gaps(const work *w) { return w->velocity ? 0 : w->L_T.nb; }

// (GM-11)  Q = M(q_M), the kinetic metric; where M is singular  Q = M + h/2 C + h^2/4 K,  at q_M
static carom_status make_metric(work *w, carom_step *s) {
    const double h = s->h, t_M = s->t + 0.5 * h;
    carom_matrix_zero(w->Q);
    carom_matrix_add(w->Q, 1, w->M);
    if (carom_factorise(&w->F_Q, w->Q, NULL) == CAROM_OK) return CAROM_OK;
    CAROM_TRY(carom_tangent(s, w->K, w->C, t_M, w->q_M, s->v));
    carom_matrix_add(w->Q, 0.5 * h, w->C);
    carom_matrix_add(w->Q, 0.25 * h * h, w->K);
    w->singular = true; // it depends on h
    return carom_iteration_factor(s, &w->F_Q, w->Q);
}

// y = Q^-1 y;  metric=euclidean: Q = I
static void measure(const work *w, double *y) {
    if (w->kinetic) carom_factor_solve(&w->F_Q, y);
}

// y -= Q^-1 N~ Psi;  xi is scratch
static void shift(work *w, const carom_step *s, double *y) {
    const int nv = s->sys->nv;
    carom_zero(w->xi, nv);
    for (int b = 0; b < w->L_T.nb; ++b) carom_column_axpy(w->xi, s->h * w->Psi[b], &w->L_T.W, w->L_T.at[b]);
    measure(w, w->xi);
    carom_axpy(y, -1, w->xi, nv);
}

// -- evaluation at (x, v_1, Lambda, Psi) ----------------------------------------------------------------------------

static void kinematics(work *w, carom_step *s, int k) {
    // (GM-2)  q_1 = q_0 + x,  q~ = q_0 + x/2,  v~ = (v_0 + v_1)/2
    for (int i = 0; i < s->sys->nv; ++i) w->v_M[i] = 0.5 * (s->v[i] + w->v_1[i]);
    carom_move_iterate(s, w->q_T, s->q, 0.5, w->x, k);
    carom_move_iterate(s, w->q_1, s->q, 1, w->x, k);
}

// Local velocities u and gaps g (by id) at the end of the step, for L_1's set.
static carom_status local(work *w, carom_step *s) {
    const double t_1 = s->t + s->h;
    CAROM_TRY(carom_directions(s, &w->L_1, t_1, w->q_1));
    CAROM_TRY(carom_gaps(s, w->g, t_1, w->q_1));
    carom_settle_gaps(s, w->g, &w->L_1, w->q_1, w->x);
    carom_bent_keep(&w->bent, &w->L_1);
    carom_bent_gaps(&w->bent, w->g, w->x);
    if (!w->paper) {
        // (GM-5)  local=exact:  g_1 = g(q_1),  u_1 = W(q_1)'v_1 + w
        carom_local_velocity(w->u, &w->L_1, w->v_1);
        return CAROM_OK;
    }
    // (GM-6)  local=paper:  g_1 = g(q_0) + N~'x + h w~,  u_1 = u_0 + W~'(v_1 - v_0)
    for (int b = 0; b < w->L_T.nb; ++b)
        w->g[w->L_T.id[b]] =
            w->g_0[w->L_T.id[b]] + carom_column_dot(&w->L_T.W, w->L_T.at[b], w->x) + s->h * w->L_T.w[w->L_T.at[b]];
    carom_add(w->y_v, w->v_1, -1, s->v, s->sys->nv);
    for (int k = 0; k < rows(&w->L_T); ++k) w->u[k] = w->u_0[k] + carom_column_dot(&w->L_T.W, k, w->y_v);
    return CAROM_OK;
}

static carom_status evaluate(work *w, carom_step *s, int k) {
    const int nv = s->sys->nv;
    const double h = s->h, t_M = s->t + 0.5 * h;
    kinematics(w, s, k);
    CAROM_TRY(carom_force(s, w->f, t_M, w->q_T, w->v_M));
    CAROM_TRY(carom_directions(s, &w->L_T, t_M, w->q_T));
    carom_bent_keep(&w->bent, &w->L_T); // (GM-10)

    // (GM-3)  phi_x = x - h v~ - Q^-1 N~ Psi
    for (int i = 0; i < nv; ++i) w->phi_x[i] = w->x[i] - h * w->v_M[i];
    shift(w, s, w->phi_x);
    // (GM-4)  phi_v = M(q_M) (v_1 - v_0) - h f(t_M, q~, v~) - W~ Lambda
    carom_add(w->y_v, w->v_1, -1, s->v, nv);
    carom_matrix_mul(w->phi_v, w->M, w->y_v);
    carom_matrix_mul(w->size_v, w->M, w->v_1);
    for (int i = 0; i < nv; ++i) w->size_v[i] = fabs(w->size_v[i]) + fabs(w->phi_v[i]) + h * fabs(w->f[i]);
    carom_axpy(w->phi_v, -h, w->f, nv);
    carom_local_react(w->phi_v, -1, &w->L_T, w->Lambda);
    return w->L_T.nb > 0 ? local(w, s) : CAROM_OK;
}

// -- Newton ---------------------------------------------------------------------------------------------------------

// (GM-7)  P = h/2 K - 1/2 d(W~ Lambda)/dq,  A = M + h/2 C + h/2 P
// The exact A has P B^-1 for P; the difference is of third order in h.  K becomes P.
static carom_status matrix_of_velocities(work *w, carom_step *s) {
    const double h = s->h, t_M = s->t + 0.5 * h;
    const bool constant = s->sys->flags & CAROM_LINEAR && (s->sys->flags & CAROM_CONSTANT_DIRECTIONS || w->L_T.nb == 0);
    if (constant && w->h_A == h) return CAROM_OK;
    w->h_A = 0;
    CAROM_TRY(carom_tangent(s, w->K, w->C, t_M, w->q_T, w->v_M));
    carom_matrix_zero(w->A);
    carom_matrix_add(w->A, 0.5 * h, w->K);
    CAROM_TRY(carom_reaction_gradient(s, w->A, -0.5, &w->L_T, w->Lambda, t_M, w->q_T));
    carom_matrix_zero(w->K);
    carom_matrix_add(w->K, 1, w->A); // P
    carom_matrix_zero(w->A);
    carom_matrix_add(w->A, 1, w->M);
    carom_matrix_add(w->A, 0.5 * h, w->C);
    carom_matrix_add(w->A, 0.5 * h, w->K);
    if (constant) w->h_A = h;
    w->factored = false;
    return CAROM_OK;
}

// (GM-7)  B = Q - 1/2 d(N~ Psi)/dq
static carom_status matrix_of_positions(work *w, carom_step *s) {
    const double h = s->h, t_M = s->t + 0.5 * h;
    carom_zero(w->u, rows(&w->L_T)); // Psi at the normal rows
    w->shifted = false;
    for (int b = 0; b < w->L_T.nb; ++b) {
        w->u[w->L_T.at[b]] = h * w->Psi[b];
        w->shifted = w->shifted || w->Psi[b] != 0;
    }
    w->shifted = w->shifted && !(s->sys->flags & CAROM_CONSTANT_DIRECTIONS);
    if (w->shifted) {
        carom_matrix_zero(w->B);
        if (w->kinetic) carom_matrix_add(w->B, 1, w->Q);
        for (int i = 0; !w->kinetic && i < s->sys->nv; ++i) *carom_matrix_entry(w->B, i, i) = 1;
        CAROM_TRY(carom_reaction_gradient(s, w->B, -0.5, &w->L_T, w->u, t_M, w->q_T));
    }
    return CAROM_OK;
}

// The factors of both, where joints are not in the linear system.
static carom_status factorise(work *w, carom_step *s) {
    if (!w->factored) CAROM_TRY(carom_iteration_factor(s, &w->F_A, w->A));
    w->factored = true;
    if (w->shifted && carom_factorise(&w->F_B, w->B, NULL) != CAROM_OK)
        return carom_retry(s, "the iteration matrix of the positions is singular");
    return CAROM_OK;
}

// r = B^-1 Q r
static void unshift(work *w, const carom_step *s, double *r) {
    if (w->kinetic) {
        carom_matrix_mul(w->xi, w->Q, r);
        carom_copy(r, w->xi, s->sys->nv);
    }
    carom_factor_solve(&w->F_B, r);
}

// (dv, dx) for right-hand sides r_v and r_x, in place:  dv = A^-1 (r_v - P B^-1 Q r_x),  dx = B^-1 Q (h/2 dv + r_x)
// still: r_x is zero.
static void respond(work *w, const carom_step *s, double *r_v, double *r_x, bool still) {
    const int nv = s->sys->nv;
    if (w->shifted && !still) unshift(w, s, r_x);
    if (!still) carom_matrix_muladd(r_v, -1, w->K, r_x);
    carom_factor_solve(&w->F_A, r_v);
    carom_copy(w->f, r_v, nv); // f is not needed until the next evaluation
    if (w->shifted) unshift(w, s, w->f);
    carom_axpy(r_x, 0.5 * s->h, w->f, nv);
}

// y = W'x + a D'z, n rows from `first` on
static void apply(const work *w, double *y, int first, int n, const carom_columns *W, const double *x, double a,
                  const carom_columns *D, const double *z) {
    carom_columns_dot(y, W, first, n, x);
    carom_columns_dot(w->part, D, first, n, z);
    for (int k = 0; k < n; ++k) y[k] += a * w->part[k];
}

// Rows of the constraints applied to (dv, dx): du on velocity level, dg/h on position level.  With local=exact they
// are those at q_1, which moves by xi = T dx (NEW-4).
static void row_velocities(const work *w, double *du, int first, int n, const double *dv, const double *dx) {
    if (w->paper) apply(w, du, first, n, &w->L_T.W, dv, 0.5, &w->D, dx);
    else apply(w, du, first, n, &w->L_1.W, dv, 1, &w->D, dx);
}

static double *row_positions(const work *w, const carom_step *s, int first, int n, const double *dx) {
    if (w->paper) apply(w, w->dg, first, n, &w->L_T.W, dx, 0.5, &w->D_x, dx);
    else carom_columns_dot(w->dg, &w->L_1.W, first, n, dx);
    for (int k = 0; k < n; ++k) w->dg[k] /= s->h;
    return w->dg;
}

// Derivatives of the rows by the position.
static carom_status linearise(work *w, carom_step *s) {
    const carom_local *L = &w->L_T;
    if (w->paper) { // d u_1/dq is that of W~'(v_1 - v_0)
        carom_add(w->v_M, w->v_1, -1, s->v, s->sys->nv);
        CAROM_TRY(carom_rate_gradient(s, &w->D, L, s->t + 0.5 * s->h, w->q_T, w->v_M));
        CAROM_TRY(carom_rate_gradient(s, &w->D_x, L, s->t + 0.5 * s->h, w->q_T, w->x));
    } else {
        CAROM_TRY(carom_rate_gradient(s, &w->D, &w->L_1, s->t + s->h, w->q_1, w->v_1));
        carom_bent_rates(&w->bent, &w->D, &w->L_1);
    }
    w->turn.ready = false;
    if (L->nb > 0 && !w->paper) carom_increments_at(&w->turn, s, w->x);
    return CAROM_OK;
}

// Has constraint b of L a position level?  (GM-13)  Those on rates: Psi = 0 instead of a gap.
static bool has_gap(const carom_step *s, const carom_local *L, int b) { return !carom_on_rates(s->sys, L->id[b]); }

// What position level b says at the present iterate, as a velocity.
static double gap_rate(const work *w, const carom_step *s, const carom_local *L, int b) {
    return has_gap(s, L, b) ? w->g[L->id[b]] / s->h : 0;
}

// (GM-8)  the contact problem of the iteration in (Lambda, Psi/h):  rows (u_1 + e o u_0, g_1/h), columns from (GM-7)
static void form(work *w, carom_step *s) {
    const carom_local *L = &w->L_T;
    const int nv = s->sys->nv, n_v = rows(L), n_x = held_gaps(w), n = n_v + n_x;
    double *G = carom_problem_matrix(s, n);
    for (int k = 0; k < n; ++k) {
        double *dv = w->X_v + (size_t)k * (size_t)nv, *dx = w->X_x + (size_t)k * (size_t)nv;
        carom_zero(dv, nv);
        carom_zero(dx, nv);
        if (k < n_v)
            carom_column_axpy(dv, 1, &L->W, k);
        else {
            carom_column_axpy(dx, s->h, &L->W, L->at[k - n_v]);
            measure(w, dx);
        }
        respond(w, s, dv, dx, k < n_v);
        carom_increments_move(&w->turn, w->xi, dx, nv);
        row_velocities(w, G + k * (size_t)n, 0, n_v, dv, w->xi);
        const double *dg = n_x > 0 ? row_positions(w, s, 0, n_v, w->xi) : NULL;
        for (int b = 0; b < n_x; ++b) G[n_v + b + k * (size_t)n] = has_gap(s, L, b) ? dg[L->at[b]] : 0;
    }
    for (int b = 0; b < n_x; ++b)
        if (!has_gap(s, L, b)) { // D Psi = 0, with the D of its velocity level
            double *column = G + (size_t)(n_v + b) * (size_t)n;
            carom_zero(column, n);
            column[n_v + b] = G[(size_t)L->at[b] * (size_t)(n + 1)];
        }
}

// Blocks of the problem of L, all or contacts alone: those of the velocities, then normals alone for the positions.
static void blocks(work *w, carom_step *s, const carom_local *L) {
    const int n_v = rows(L), nb = L->nb, n_x = w->velocity ? 0 : nb;
    carom_problem_blocks(s, L);
    for (int b = 0; b < nb; ++b) w->id[b] = L->id[b];
    for (int b = 0; b < n_x; ++b) {
        s->blocks[nb + b] = (carom_block){L->id[b] < s->sys->ne ? CAROM_BILATERAL : CAROM_UNILATERAL, n_v + b, 0};
        w->id[nb + b] = L->id[b];
    }
    s->problem.n = s->problem.ld = n_v + n_x;
    s->problem.nb = nb + n_x;
}

// The constraints of L at the present iterate in c, behind `first` others, their multipliers in p.
static void present(work *w, carom_step *s, const carom_local *L, int first) {
    const int n_v = rows(L), n_x = w->velocity ? 0 : L->nb;
    carom_problem_restitution(s, L, w->u + first, w->u_0 + first);
    for (int b = 0; b < n_x; ++b) s->c[n_v + b] = gap_rate(w, s, L, b);
    carom_copy(s->p, w->Lambda + first, n_v);
    carom_copy(s->p + n_v, w->Psi + first, n_x);
}

// What rounding leaves in local velocities and in gaps over h.
static double rounding(const work *w, const carom_step *s) {
    const double size = carom_size_of_positions(s->sys, w->q_1);
    double most = carom_local_velocity_rounding(s, &w->L_T, w->v_1);
    for (int b = 0; b < held_gaps(w); ++b)
        most = fmax(most, carom_local_rounding_within(&w->L_T, w->L_T.at[b], w->q_1, s->sys->nq, size) / s->h);
    return most;
}

// (CP-10)  What rounding of large impulses leaves in velocities, by their size: that of a local velocity u_k is
//          |u_k|/sqrt(G_kk).
static double impulses_to(const carom_step *s) {
    const carom_problem *pb = &s->problem;
    double least = HUGE_VAL;
    for (int i = 0; i < pb->n; ++i) {
        const double d = s->G[(size_t)i * (size_t)(pb->n + 1)];
        if (d > 0) least = fmin(least, d);
    }
    return fmin(CAROM_EXCUSED * s->contact.scale, carom_rounding(pb)) / sqrt(least);
}

// The largest row of a joint, on both levels.
static double joints_left(const work *w, const carom_step *s) {
    double most = 0;
    for (int b = 0; b < s->sys->ne; ++b)
        most = fmax(most, w->S.lever[b] * fmax(fabs(w->u[b]), fabs(w->g[w->L_T.id[b]]) / s->h));
    return most;
}

static bool done(work *w, carom_step *s) {
    const double momentum = carom_momentum_size(w->phi_v, w->M), size = carom_momentum_size(w->size_v, w->M);
    const double speed = fmax(fmax(w->pace, carom_velocity_size(w->x, w->M) / s->h),
                              fmax(carom_velocity_size(w->v_1, w->M), carom_velocity_size(s->v, w->M)));
    const double left = carom_velocity_size(w->phi_x, w->M) / s->h;
    if (w->by_saddle) carom_chord_note(&w->chord, momentum / size + left / speed + joints_left(w, s) / s->scale);
    if (!carom_motion_met(s, momentum, size, 2, w->K, w->M, w->q_T, w->y_v)) return false;
    const int nj = w->by_saddle ? s->sys->ne : 0;
    if (!(left <= s->newton_tol * speed) && !(w->L_T.nb > nj && left <= impulses_to(s))) return false;
    if (w->L_T.nb == 0) return true;
    if (nj > 0) {
        const double most = joints_left(w, s);
        if (!(most <= fmax(s->tol * s->scale, rounding(w, s)))) return false;
    }
    if (w->L_T.nb == nj) return true;
    const carom_local L = nj > 0 ? carom_contacts_of(s, &w->L_T, w->at) : w->L_T;
    present(w, s, &L, nj);
    return carom_problem_met(s, w->id, rounding(w, s));
}

// -- joints in the linear system ------------------------------------------------------------------------------------

// (GM-12)  (M + h/2 C) dv + P dx - W~ dLambda = -phi_v,  B dx - h/2 Q dv - N~ dPsi = -Q phi_x,  W_1'dv + D'T dx = -u,
//          N_1'T dx = -g  of joints, for dv and z = dx - h/2 dv: what a correction of positions does to velocities, P z
//          and D'T z, is all there is above the diagonal of levels
// False: there is no factor.
static bool factorise_joints(work *w, carom_step *s, int k) {
    carom_saddle *S = &w->S;
    const int nv = s->sys->nv;
    const double h = s->h;
    const carom_columns *W = &w->L_T.W, *V = &w->L_1.W;
    if (!w->shifted) {
        carom_matrix_zero(w->B);
        if (w->kinetic) carom_matrix_add(w->B, 1, w->Q);
        for (int i = 0; !w->kinetic && i < nv; ++i) *carom_matrix_entry(w->B, i, i) = 1;
    }
    carom_increments_columns(&w->turn, &w->TW, &w->D, s->sys->ne);
    bool good = carom_saddle_begin(S, w->A, W, &w->TW) && carom_saddle_add_matrix(S, 0, 0, 1, w->A) &&
                carom_saddle_add_matrix(S, 0, 1, 1, w->K) && carom_saddle_add_matrix(S, 1, 1, 1, w->B) &&
                carom_saddle_add_rates(S, 0, 0, 1, V) && carom_saddle_add_rates(S, 0, 0, 0.5 * h, &w->TW) &&
                carom_saddle_add_rates(S, 0, 1, 1, &w->TW) && carom_saddle_add_forces(S, 0, 0, 1, W) &&
                carom_saddle_add_forces(S, 1, 1, h, W);
    if (w->shifted) { // else B = Q
        good = good && carom_saddle_add_matrix(S, 1, 0, 0.5 * h, w->B);
        if (w->kinetic) good = good && carom_saddle_add_matrix(S, 1, 0, -0.5 * h, w->Q);
        else if (good) { // Q = 1 in the place of A, which has been added
            carom_matrix_zero(w->A);
            for (int i = 0; i < nv; ++i) *carom_matrix_entry(w->A, i, i) = 1;
            good = carom_saddle_add_matrix(S, 1, 0, -0.5 * h, w->A);
            w->h_A = 0;
        }
    }
    carom_increments_columns(&w->turn, &w->TW, V, s->sys->ne);
    return good && carom_saddle_add_rates(S, 1, 0, 0.5, &w->TW) && carom_saddle_add_rates(S, 1, 1, 1 / h, &w->TW) &&
           carom_chord_finish(&w->chord, S, k == 0, w->L_T.nb > s->sys->ne);
}

// S->x = (dv, dx, ..) for the right-hand side in S->b.
static bool solve_joined(work *w, const carom_step *s, bool check) {
    carom_saddle *S = &w->S;
    const int nv = s->sys->nv;
    if (!check) carom_saddle_solve(S);
    else if (!carom_chord_solve_checked(&w->chord, S, carom_joints_small(s))) return false;
    carom_axpy(S->x + nv, 0.5 * s->h, S->x, nv); // z = dx - h/2 dv
    return true;
}

// y += s Q x
static void add_metric(const work *w, double *y, double s, const double *x, int nv) {
    if (w->kinetic) carom_matrix_muladd(y, s, w->Q, x);
    else carom_axpy(y, s, x, nv);
}

// The right-hand side at the present iterate, with the reactions of the contacts L in p instead of those that stand;
// NULL: none.
static void right_hand_side(work *w, const carom_step *s, const carom_local *L, const double *p) {
    const int nv = s->sys->nv, ne = s->sys->ne, n_v = rows(L);
    double *b = w->S.b;
    for (int i = 0; i < nv; ++i) b[i] = -w->phi_v[i], b[nv + i] = 0;
    add_metric(w, b + nv, -1, w->phi_x, nv);
    for (int k = 0; k < n_v; ++k) carom_column_axpy(b, (p ? p[k] : 0) - w->Lambda[ne + k], &L->W, k);
    for (int k = 0; k < L->nb; ++k)
        carom_column_axpy(b + nv, s->h * ((p ? p[n_v + k] : 0) - w->Psi[ne + k]), &L->W, L->at[k]);
    for (int j = 0; j < ne; ++j) b[2 * nv + j] = -w->u[j], b[2 * nv + ne + j] = -w->g[w->L_T.id[j]] / s->h;
}

// (dv, dx) in S->x for its right-hand side; what they do to the rows of the contacts L, in y.
static void respond_joined(work *w, carom_step *s, const carom_local *L, double *y) {
    const int nv = s->sys->nv, ne = s->sys->ne, n_v = rows(L);
    carom_increments_move(&w->turn, w->xi, w->S.x + nv, nv);
    row_velocities(w, y, ne, n_v, w->S.x, w->xi);
    const double *dg = row_positions(w, s, ne, n_v, w->xi);
    for (int b = 0; b < L->nb; ++b) y[n_v + b] = dg[L->at[b]];
}

// The problem of the contacts L alone, both levels; the answer is in s->p.
static carom_status solve_contacts(work *w, carom_step *s, const carom_local *L) {
    carom_saddle *S = &w->S;
    const int nv = s->sys->nv, ne = s->sys->ne, n_v = rows(L), n = n_v + L->nb;
    double *c = w->X_v; // as scratch
    blocks(w, s, L);
    respond_joined(w, s, L, s->c);
    for (int i = 0; i < n_v; ++i) c[i] = w->u[ne + i] + s->c[i];
    for (int b = 0; b < L->nb; ++b) s->c[n_v + b] += w->g[L->id[b]] / s->h;
    carom_problem_restitution(s, L, c, w->u_0 + ne);
    double *G = carom_problem_matrix(s, n);
    for (int k = 0; k < n; ++k) {
        carom_zero(S->b, 2 * (nv + ne));
        carom_column_axpy(S->b + (k < n_v ? 0 : nv), k < n_v ? 1 : s->h, &L->W, k < n_v ? k : L->at[k - n_v]);
        solve_joined(w, s, false);
        respond_joined(w, s, L, G + (size_t)k * (size_t)n);
    }
    carom_zero(s->p, n);
    return carom_problem_rub(s, w->id);
}

// The correction with joints in the linear system.  *done is false where they are rows of the contact problem.
static carom_status correct_joints(work *w, carom_step *s, bool *done) {
    carom_saddle *S = &w->S;
    const int nv = s->sys->nv, ne = s->sys->ne;
    const carom_local L = carom_contacts_of(s, &w->L_T, w->at);
    *done = false;
    right_hand_side(w, s, &L, NULL);
    if (w->chord.age == 0) carom_joints_weigh(s, S, &w->L_T);
    if (!solve_joined(w, s, w->chord.age == 0)) return CAROM_OK;
    if (w->chord.age == 0) {
        w->free = carom_joints_free(S, &w->L_T.W, w->M, w->Lambda, S->x + 2 * nv, w->y_v);
        w->pace = fmax(w->pace, carom_velocity_size(w->y_v, w->M));
    }
    carom_problem_scale(s, &w->free, 1);
    s->counts->problems += L.nb == 0;
    if (L.nb > 0) {
        double *Lambda = w->Lambda + ne, *Psi = w->Psi + ne;
        const int n_v = rows(&L);
        CAROM_TRY(solve_contacts(w, s, &L));
        right_hand_side(w, s, &L, s->p);
        solve_joined(w, s, false);
        carom_copy(Lambda, s->p, n_v);
        carom_copy(Psi, s->p + n_v, L.nb);
    }
    for (int j = 0; j < ne; ++j) w->Lambda[j] -= S->x[2 * nv + j], w->Psi[j] -= S->x[2 * nv + ne + j];
    carom_axpy(w->v_1, 1, S->x, nv);
    carom_axpy(w->x, 1, S->x + nv, nv);
    *done = true;
    return CAROM_OK;
}

// The answer without reactions at the present iterate into y_v and y_x, its rows added to c.
static void without_reactions(work *w, carom_step *s, int n_v, int n_x) {
    const carom_local *L = &w->L_T;
    const int nv = s->sys->nv;
    for (int i = 0; i < nv; ++i) w->y_v[i] = -w->phi_v[i], w->y_x[i] = -w->phi_x[i]; // with Lambda = Psi = 0
    carom_local_react(w->y_v, -1, L, w->Lambda);
    shift(w, s, w->y_x);
    respond(w, s, w->y_v, w->y_x, false);
    w->pace = fmax(w->pace, carom_velocity_size(w->y_v, w->M));
    if (n_v + n_x == 0) return;
    carom_increments_move(&w->turn, w->xi, w->y_x, nv);
    row_velocities(w, w->dg, 0, n_v, w->y_v, w->xi);
    carom_axpy(s->c, 1, w->dg, n_v);
    const double *dg = row_positions(w, s, 0, n_v, w->xi);
    for (int b = 0; b < n_x; ++b)
        if (has_gap(s, L, b)) s->c[n_v + b] += dg[L->at[b]];
}

static carom_status correct(void *memory, carom_step *s, int k) {
    work *w = memory;
    const carom_local *L = &w->L_T;
    const int nv = s->sys->nv, ne = s->sys->ne, n_v = rows(L), n_x = held_gaps(w), n = n_v + n_x;
    const bool joints = w->S.on && !(s->impacts && L->nb > ne); // they may belong to the linear system
    if (joints && k > 0 && w->by_saddle && carom_chord_serves(&w->chord)) {
        w->chord.age += 1;
        return correct_joints(w, s, &w->by_saddle);
    }
    w->by_saddle = false;
    // matrix_of_positions() uses u as scratch: keep what belongs to the iterate in c.
    carom_copy(s->c, w->u, n_v);
    CAROM_TRY(matrix_of_velocities(w, s));
    CAROM_TRY(matrix_of_positions(w, s));
    carom_copy(w->u, s->c, n_v);
    CAROM_TRY(linearise(w, s));
    if (joints) {
        if (factorise_joints(w, s, k)) CAROM_TRY(correct_joints(w, s, &w->by_saddle));
        if (w->by_saddle) return CAROM_OK;
        CAROM_TRY(matrix_of_velocities(w, s));
    }
    CAROM_TRY(factorise(w, s));
    if (n > 0) {
        form(w, s);
        blocks(w, s, L);
        if (k == 0) CAROM_TRY(carom_problem_bounce(s, L, w->u_0));
        carom_problem_restitution(s, L, w->u, w->u_0);
        for (int b = 0; b < n_x; ++b) s->c[n_v + b] = gap_rate(w, s, L, b);
    }
    without_reactions(w, s, n_v, n_x);
    if (n > 0) {
        carom_zero(s->p, n);
        CAROM_TRY(carom_problem_rub(s, w->id));
        for (int i = 0; i < n; ++i) {
            carom_axpy(w->y_v, s->p[i], w->X_v + (size_t)i * (size_t)nv, nv);
            carom_axpy(w->y_x, s->p[i], w->X_x + (size_t)i * (size_t)nv, nv);
        }
        carom_copy(w->Lambda, s->p, n_v);
        carom_copy(w->Psi, s->p + n_v, n_x);
    }
    carom_axpy(w->v_1, 1, w->y_v, nv);
    carom_axpy(w->x, 1, w->y_x, nv);
    return CAROM_OK;
}

// u_0 along the directions that the law holds in where the contact meets a kink on the way.
static carom_status before(work *w, carom_step *s) {
    const double h = s->h;
    bool all;
    if (w->paper)
        return carom_velocity_before(s, w->u_0, &w->L_T,
                                     (carom_evaluation_point){.t = s->t + 0.5 * h, .q = w->q_T, .v = s->v});
    const carom_evaluation_point at = {.t = s->t + h, .q = w->q_1, .v = s->v};
    CAROM_TRY(carom_bent_find(&w->bent, s, w->u_0, &w->L_1, at));
    CAROM_TRY(carom_bent_leave(&w->bent, s, w->u_0, &w->L_1, at));
    if (w->bent.some) carom_local_velocity(w->u, &w->L_1, w->v_1);
    carom_bent_keep(&w->bent, &w->L_T);
    return w->planes ? carom_bent_plane(&w->bent, s, &all, w->g, w->x, s->q) : CAROM_OK;
}

static carom_status judge(void *memory, carom_step *s, int k, bool *answer) {
    work *w = memory;
    CAROM_TRY(evaluate(w, s, k));
    if (k == 0) return w->L_T.nb > 0 ? before(w, s) : CAROM_OK;
    *answer = done(w, s);
    if (*answer || !w->planes || w->bent.some) return CAROM_OK;
    return before(w, s); // an iterate that meets a kink which the first one did not
}

static carom_status attempt(work *w, carom_step *s, int *iterations) {
    carom_local_same(&w->L_0, &w->L_T);
    carom_local_same(&w->L_1, &w->L_T);
    CAROM_TRY(carom_directions(s, &w->L_0, s->t, s->q));
    carom_local_velocity(w->u_0, &w->L_0, s->v);
    for (int i = 0; i < s->sys->nv; ++i) w->v_1[i] = s->v[i], w->x[i] = s->h * s->v[i];
    carom_zero(w->Lambda, rows(&w->L_T));
    carom_zero(w->Psi, w->L_T.nb);
    if (carom_past_continue(&w->past, s, w->L_T.nb, w->v_1, w->Lambda))
        for (int i = 0; i < s->sys->nv; ++i) w->x[i] = 0.5 * s->h * (s->v[i] + w->v_1[i]);
    w->pace = 0;
    w->by_saddle = false;
    w->bent.some = false;
    const carom_iteration I = {
        .method = "Newton's method", .most = MOST, .x = w->v_1, .n = s->sys->nv, .evaluate = judge, .correct = correct};
    return carom_iterate(&I, w, s, iterations);
}

// The step for the set of L_T; where a contact meets a kink and the position level has no answer, with smaller steps
// neither, with the plane in which it met it (CL-10).
static carom_status solve(work *w, carom_step *s, int *iterations) {
    w->planes = false;
    const carom_status status = attempt(w, s, iterations);
    w->planes = status == CAROM_RETRY && s->inside->last && !w->paper;
    return w->planes ? attempt(w, s, iterations) : status;
}

// -- the step -------------------------------------------------------------------------------------------------------

// (GM-9)  active=end:  I grows from { g_j(q_0 + h v_0 + h^2/2 M^-1 f) <= 0 } by all that end below zero
// Where there is no inertia, from that without f.
static carom_status predict(work *w, carom_step *s, double *g) {
    const int nv = s->sys->nv;
    carom_matrix_zero(w->A);
    carom_matrix_add(w->A, 1, w->M);
    carom_copy(w->y_v, s->v, nv);
    w->h_A = 0;
    if (carom_factorise(&w->F_A, w->A, NULL) == CAROM_OK) {
        CAROM_TRY(carom_force(s, w->f, s->t + 0.5 * s->h, w->q_M, s->v));
        carom_factor_solve(&w->F_A, w->f);
        carom_axpy(w->y_v, 0.5 * s->h, w->f, nv);
    }
    carom_move(s, w->q_1, s->q, s->h, w->y_v);
    return carom_gaps(s, g, s->t + s->h, w->q_1);
}

// active=lasting: contacts that reacted in the last step and are below zero at the same prediction take part from the
// start.
static carom_status foresee(work *w, carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    bool some = false;
    for (int c = 0; c < nc; ++c) some = some || (s->active[c] != 0 && !carom_closed(s, w->sign[ne + c]));
    if (!some) return CAROM_OK;
    CAROM_TRY(predict(w, s, w->g_start));
    for (int c = 0; c < nc; ++c)
        if (s->active[c] != 0 && w->g_start[ne + c] < 0) w->sign[ne + c] = fmin(w->sign[ne + c], -1);
    carom_close(s, &w->L_T, w->sign);
    return CAROM_OK;
}

// (CL-9) with active=lasting.
static carom_status grow(work *w, carom_step *s, bool *more) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, w->q_1));
    if (!w->end)
        return carom_close_thrown(s, more, w->sign, w->g, &w->L_0, w->g_start,
                                  (carom_evaluation_point){.t = s->t, .q = s->q, .v = s->v});
    *more = false;
    for (int id = ne; id < ne + nc; ++id) {
        const bool in = carom_closed(s, w->sign[id]);
        // An active contact is above zero to tolerance; for the others any entering counts.
        if (!in && w->g[id] < 0) w->sign[id] = -1, *more = true;
    }
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    const double h = s->h, t_M = s->t + 0.5 * h;
    int iterations = 0;

    // (GM-1)  q_M = q_0 + h/2 v_0,  I = { j : g_j(q_M) <= 0 },  M = M(q_M)
    carom_move(s, w->q_M, s->q, 0.5 * h, s->v);
    if (!w->have_M) CAROM_TRY(carom_mass(s, w->M, t_M, w->q_M));
    if (w->kinetic && (!w->have_M || w->singular)) CAROM_TRY(make_metric(w, s));
    w->have_M = s->sys->flags & CAROM_CONSTANT_MASS;
    CAROM_TRY(carom_mass_still_positive(s, w->M));
    CAROM_TRY(carom_gaps_before(s, w->g_0));
    if (w->end)
        CAROM_TRY(predict(w, s, w->sign));
    else
        CAROM_TRY(carom_gaps(s, w->sign, t_M, w->q_M));
    const carom_evaluation_point at = {.t = w->end ? s->t + h : t_M, .q = w->end ? w->q_1 : w->q_M, .v = s->v};
    CAROM_TRY(carom_close_place(s, &w->L_T, w->sign, at));
    if (w->lasting) CAROM_TRY(foresee(w, s));
    CAROM_TRY(solve(w, s, &iterations));
    for (bool more = w->end || (w->lasting && s->sys->nc > 0); more;) {
        CAROM_TRY(grow(w, s, &more));
        if (!more) break;
        carom_close(s, &w->L_T, w->sign);
        CAROM_TRY(solve(w, s, &iterations));
    }
    carom_past_note(&w->past, s, w->L_T.nb, w->v_1, w->Lambda);
    carom_account_newton(s, iterations);
    carom_account_impulses(s, &w->L_T, w->Lambda, w->u_0, w->u);
    for (int b = 0; b < w->L_T.nb; ++b) carom_account_position(s, w->L_T.id[b], h * w->Psi[b]);
    carom_copy(s->q, w->q_1, s->sys->nq);
    carom_copy(s->v, w->v_1, s->sys->nv);
    return CAROM_OK;
}

const carom_scheme carom_scheme_ggl_midpoint = {
    .name = "ggl-midpoint",
    .about = "implicit midpoint rule, constraints on position and velocity level in one Newton iteration",
    .text = "active: g(q_0 + h/2 v_0) <= 0;  M at that point;  q~ = (q_0 + q_1)/2,  v~ = (v_0 + v_1)/2\n"
            "q_1 = q_0 + h v~ + Q^-1 N~ Psi,           0 <= Psi _|_ g(q_1) >= 0\n"
            "M (v_1 - v_0) = h f(q~, v~) + W~ Lambda,  Newton's law and friction between u(q_0, v_0) and u(q_1, v_1)\n"
            "joints: g(q_1) = 0 and u(q_1, v_1) = 0\n\n"
            "No drift.  May enter by half a step times the approach speed in an impact step; active=end does not.\n"
            "Contacts that last, closed at q_0 or pushing in the step before, are active too where q_1 would be below\n"
            "zero: bodies come to rest, which they never do with active=midpoint (the paper's) and restitution.\n"
            "The position correction has no friction.  metric=kinetic: Q = M, the shortest one for the inertia;\n"
            "metric=euclidean (the paper's): Q = I, which depends on the unit of length.  Second order in smooth\n"
            "motion, with joints too; first order across impacts.  levels=velocity leaves the position level out.",
    .order = 2,
    .promises = {.contacts = CAROM_POSITION_LEVEL,
                 .joints = CAROM_POSITION_LEVEL,
                 .joint_order = 2,
                 .gain = 0.1,
                 .loss = 0.1,
                 .slow_piles = true,
                 .option = "active=end",
                 .forces = CAROM_AT_MIDDLE,
                 .gaps = CAROM_AT_MIDDLE | CAROM_AT_END,
                 .directions = CAROM_AT_START | CAROM_AT_MIDDLE | CAROM_AT_END},
    .impulses = true,
    .levels = 2,
    .limitations = CAROM_NO_REST,
    .dense_operator = true,
    .positions = true,
    .follows_features = true,
    .options = options,
    .work_size = sizeof(work),
    .allocate = allocate,
    .step = step,
};
