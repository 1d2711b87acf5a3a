// ggl_alpha.c: nonsmooth generalized-alpha with Gear-Gupta-Leimkuhler stabilisation.
//
// Spec: docs/METHODS.md, section GA (Bruels, Acary, Cardona 2014).  The motion is split into a smooth part
// (q~, v~, with the bilateral reactions lambda~ alone), a velocity jump w and a position correction U, so that
// constraints hold on position and on velocity level at every step end.  A semi-smooth Newton iteration solves
// all three together (newton=monolithic) or one after the other (newton=sequential).
//
// The linear system holds only what is active: in free flight without joints it is n x n.  The mass matrix may
// be singular where joints or stiffness hold what has no inertia.  Large systems: ggl_alpha_schur.c.
#include "base/tolerance.h"
#include "base/number.h"
#include "linalg/matrix.h"
#include "scheme/ggl/ggl_alpha.h"
#include "scheme/held.h"
#include "scheme/inside.h"
#include "scheme/newton.h"
#include <float.h>
#include <math.h>

enum { OPT_RHO, OPT_NEWTON, OPT_COMPLEMENTARITY, OPT_THETA, OPT_ACTIVE, OPT_PENALTY };
static const carom_option options[] = {
    CAROM_RHO_OPTION,
    {.name = "newton", .kind = CAROM_CHOICE, .choices = "monolithic|sequential",
     .about = "all unknowns at once; or smooth part, positions and velocities in turn (cheaper, fails on stiff "
              "systems)"},
    {.name = "complementarity", .kind = CAROM_CHOICE, .choices = "ggl|modified",
     .about = "gap against nu; modified: against nu - h Lambda, which chatters for ever after an accumulation "
              "(counter-example, always monolithic)"},
    {.name = "theta", .kind = CAROM_REAL, .fallback = 1, .low = 0.1, .high = 1,
     .about = "complementarity=modified: nu = h theta (mu_1 + Lambda) + h (1 - theta) mu_0, the gap against mu_1"},
    {.name = "active", .kind = CAROM_CHOICE, .choices = "corrected|smooth|start|forecast|end",
     .about = "closed on velocity level: g(q~) <= 0 or position corrected; g(q~) <= 0 alone; g(q_n) <= 0; g(q_n + h "
              "v_n) <= 0; g(q_n+1) = 0"},
    {.name = "penalty", .kind = CAROM_REAL, .fallback = 0, .low = 0, .high = 1e12,
     .about = "r of the augmented Lagrangian in Newton's residuals, in kg: another path to the same solution; 0: "
              "none (small systems)"},
    {0},
};

enum { MOST = 20, MOST_IN_TURN = 60, SOON = 8, LATE = 16 }; // iterations
enum { A_WHILE = 20 };                           // steps
static const double FAR = 30;                    // times the velocities before; times the first correction of positions

typedef enum how { MONOLITHIC, IN_TURN, SOLVERS } how; // to solve

typedef carom_ggl_alpha work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    work *w = memory;
    const carom_alpha_par a = carom_alpha_of_rho(opt[OPT_RHO]); // (GA-1)
    w->alpha_m = a.alpha_m, w->alpha_f = a.alpha_f, w->gamma = a.gamma, w->beta = a.beta;
    w->c = (1 - w->alpha_f) / (1 - w->alpha_m);
    w->modified = opt[OPT_COMPLEMENTARITY] == 1;
    w->theta = opt[OPT_THETA];
    w->active = (int)opt[OPT_ACTIVE];
    w->penalty = opt[OPT_PENALTY];
    w->sequential = opt[OPT_NEWTON] == 1 && !w->modified; // in turn, nu = h Lambda does not converge

    const size_t nv = (size_t)sys->nv, nq = (size_t)sys->nq, ne = (size_t)sys->ne, nb = ne + (size_t)sys->nc;
    CAROM_ALLOCATE(keep, nv, &w->a_n, &w->s_n);
    w->solvers = carom_allocate(keep, 1);
    w->h_n = carom_allocate(keep, 1);
    CAROM_ALLOCATE(keep, nb, &w->nu_n, &w->Lambda_n, &w->mu_n);
    CAROM_ALLOCATE(mem, nv, &w->a_p, &w->v_p, &w->x_p, &w->dv, &w->s, &w->U, &w->w, &w->x, &w->v_s, &w->v, &w->f);
    CAROM_ALLOCATE(mem, nb, &w->lambda, &w->nu, &w->Lambda, &w->g_s, &w->g, &w->g_0, &w->D, &w->closed);
    CAROM_ALLOCATE(mem, nq, &w->q_s, &w->q, &w->q_W);
    w->in_A = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->in_B = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->sticks = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->slipped = carom_allocate_ints(mem, nb);
    w->L = carom_allocate_local(mem, sys);
    w->L_0 = carom_allocate_local(mem, sys);
    w->bent = carom_allocate_bent(mem, sys);
    const size_t nl = (size_t)w->L.W.n;
    size_t recorded = 0;
    for (int id = 0; id < (int)nb; ++id) recorded += (size_t)carom_system_recorded(sys, id);
    w->T_n = carom_allocate(keep, recorded);
    CAROM_ALLOCATE(mem, nl, &w->u_0, &w->u, &w->u_s, &w->T, &w->slide, &w->b);
    w->M = carom_allocate_matrix(mem, sys->mass_shape);
    carom_matrix *tangents[] = {&w->K, &w->C, &w->P, &w->V};
    for (size_t i = 0; i < sizeof tangents / sizeof *tangents; ++i)
        *tangents[i] = carom_allocate_matrix(mem, sys->tangent_shape);
    w->D_s = carom_allocate_columns(mem, sys->nv, w->L.W.n, sys->column_stride);
    w->D_v = carom_allocate_columns(mem, sys->nv, w->L.W.n, sys->column_stride);
    carom_ggl_alpha_allocate_schur(w, mem, sys);
    if (w->schur.saddle.on) w->past = carom_allocate_past(keep, sys), w->schur.chord.whole = carom_allocate(keep, 1);
    const size_t all = 3 * nv + ne + nb + nl, N = w->schur.on ? (size_t)w->schur.room : all;
    w->have_M = w->have_K = false;
    CAROM_ALLOCATE(mem, N * N, &w->S, &w->S_copy);
    w->r = carom_allocate(mem, all);
    CAROM_ALLOCATE(mem, 2 * N, &w->x_N, &w->balance);
    w->unit = carom_allocate(mem, nv);
    w->scratch = carom_allocate(mem, 3 * all);
    w->pivot = carom_allocate_ints(mem, 2 * N);
    w->turn = carom_allocate_increments(mem, sys);
    carom_ggl_alpha_allocate_solver(w, mem, sys);
}

// -- evaluation at the present iterate -----------------------------------------------------------------------

static void kinematics(work *w, carom_step *s, int k) {
    const int nv = s->sys->nv;
    const double h = s->h;
    for (int i = 0; i < nv; ++i) {
        // (GA-3)  v~ = v_p + dv,  s = dv/(h gamma c),  q~ = q_n + x_p + h beta/gamma dv
        w->v_s[i] = w->v_p[i] + w->dv[i];
        w->s[i] = w->dv[i] / (h * w->gamma * w->c);
        w->x[i] = w->x_p[i] + h * w->beta / w->gamma * w->dv[i];
        // (GA-4)  v = v~ + w
        w->v[i] = w->v_s[i] + w->w[i];
    }
    carom_move_iterate(s, w->q_s, s->q, 1, w->x, k);
    carom_axpy(w->x, 1, w->U, nv); // (GA-5)  q = q~ + U
    carom_move_iterate(s, w->q, s->q, 1, w->x, k);
}

// Bilateral constraints and the contacts that are, or may become, active.
static void candidates(work *w, const carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    for (int id = ne; id < ne + nc; ++id) {
        const bool in = carom_closed(s, w->g_s[id]) || carom_closed(s, w->g[id]) || carom_closed(s, w->g_0[id]) ||
                        w->nu[id] > 0 || w->Lambda[id] > 0;
        w->scratch[id] = in ? -1 : 1;
    }
    carom_close(s, &w->L, w->scratch);
}

// u_0 = W(q_n)'v_n + w of every constraint, once per step and only when needed.
static carom_status before(work *w, carom_step *s) {
    if (w->have_u_0) return CAROM_OK;
    carom_close_kinds(s, &w->L_0, CAROM_JOINTS | CAROM_CONTACTS);
    CAROM_TRY(carom_directions(s, &w->L_0, s->t, s->q));
    carom_local_velocity(w->u_0, &w->L_0, s->v);
    w->have_u_0 = true;
    return CAROM_OK;
}

// u_0 along the directions at q where a contact of L meets a kink; where nothing else leads to an answer it keeps them,
// and their plane (CL-10).
static carom_status kinks(work *w, carom_step *s) {
    const carom_evaluation_point at = {.t = s->t + s->h, .q = w->q, .v = s->v};
    bool all;
    carom_local_pick(w->u, &w->L, w->u_0, &w->L_0);
    if (w->seeks) {
        CAROM_TRY(carom_bent_find(&w->bent, s, w->u, &w->L, at));
        CAROM_TRY(carom_bent_plane(&w->bent, s, &all, w->g, w->x, s->q));
        w->bent.some = w->bent.some && all;
    } else {
        CAROM_TRY(carom_velocity_before(s, w->u, &w->L, at));
    }
    for (int b = 0; b < w->L.nb; ++b)
        carom_copy(w->u_0 + w->L_0.at[w->L.id[b]], w->u + w->L.at[b], w->L.at[b + 1] - w->L.at[b]);
    return CAROM_OK;
}

static int count(const work *w, const bool *in) {
    int n = 0;
    for (int b = 0; b < w->L.nb; ++b) n += in[w->L.id[b]];
    return n;
}

// Rows of the velocity level: normals, and tangents of what sticks.
static int jump_rows(const work *w) {
    int n = 0;
    for (int b = 0; b < w->L.nb; ++b)
        if (w->in_B[w->L.id[b]]) n += 1 + (w->sticks[w->L.id[b]] ? carom_ggl_alpha_tangents(w, b) : 0);
    return n;
}

// Does friction act?
static bool rubbed(const work *w, const carom_step *s) {
    for (int b = s->sys->ne; b < w->L.nb; ++b)
        if (w->in_B[w->L.id[b]] && s->sys->contacts[w->L.id[b] - s->sys->ne].friction > 0 &&
            carom_ggl_alpha_tangents(w, b) > 0)
            return true;
    return false;
}

// Position correction and velocity jump are there for their sets: without one they are zero.
static bool moved(const work *w, const carom_step *s) {
    return count(w, w->in_A) > 0 || (w->modified && count(w, w->in_B) > 0) || rubbed(w, s);
}
static bool jumped(const work *w) { return count(w, w->in_B) > 0; }

static bool same(const double *x, const double *y, int n) {
    int i = 0;
    while (i < n && x[i] == y[i]) ++i;
    return i == n;
}

static carom_status look(work *w, carom_step *s, int k) {
    const double t_1 = s->t + s->h;
    kinematics(w, s, k);
    CAROM_TRY(carom_gaps(s, w->g_s, t_1, w->q_s));
    // Boxes of a stack fall together in q~: whether one touches the next must not be chance.
    CAROM_TRY(carom_close_place(s, &w->L, w->g_s, (carom_evaluation_point){.t = t_1, .q = w->q_s, .v = s->v}));
    if (w->have_M) {
        CAROM_TRY(carom_force(s, w->f, t_1, w->q, w->v));
        // in flight; no gap was rounded
        if (w->L.nb == s->sys->ne && same(w->q, w->q_s, s->sys->nq)) carom_copy(w->g, w->g_s, s->sys->ne + s->sys->nc);
        else CAROM_TRY(carom_gaps(s, w->g, t_1, w->q));
    } else {
        CAROM_TRY(carom_motion(s, w->M, w->f, w->g, t_1, w->q, w->v));
    }
    w->have_M = s->sys->flags & CAROM_CONSTANT_MASS;
    candidates(w, s);
    if (w->L.nb == 0) return CAROM_OK;
    const bool first = !w->have_u_0;
    CAROM_TRY(before(w, s));
    // (GA-19)  The contact solvers in turn: from iterate LATE on directions stay.  Dependent contacts share a load in
    //          several ways, and with directions that move by rounding the solution goes from one to the other; with
    //          constant ones the velocity level does not depend on positions.
    if (w->way != SOLVERS || k <= LATE) carom_copy(w->q_W, w->q, s->sys->nq);
    CAROM_TRY(carom_directions(s, &w->L, t_1, w->q_W));
    carom_settle_gaps(s, w->g, &w->L, w->q, w->x);
    if (first || (w->seeks && !w->bent.some)) CAROM_TRY(kinks(w, s));
    carom_bent_keep(&w->bent, &w->L);
    carom_bent_gaps(&w->bent, w->g, w->x);
    carom_local_velocity(w->u, &w->L, w->v);
    carom_local_velocity(w->u_s, &w->L, w->v_s);
    if (s->impacts) CAROM_TRY(carom_ggl_alpha_bounce(w, s, first));
    carom_ggl_alpha_sets(w, s);
    return CAROM_OK;
}

// The present iterate; when the last contact of a set has left it, looked at again without what that contact did.
static carom_status evaluate(work *w, carom_step *s, int k) {
    const int nv = s->sys->nv;
    CAROM_TRY(look(w, s, k));
    const bool stale_U = !moved(w, s) && carom_norm_max(w->U, nv) > 0,
               stale_w = !jumped(w) && carom_norm_max(w->w, nv) > 0;
    if (stale_U) carom_zero(w->U, nv);
    if (stale_w) carom_zero(w->w, nv);
    return stale_U || stale_w ? look(w, s, k) : CAROM_OK;
}

// -- residual and matrix ------------------------------------------------------------------------------------

// Which blocks take part, and where their rows stand.  An empty active set makes its block trivial.
static int layout(work *w, const carom_step *s, int blocks) {
    const int nv = s->sys->nv, nA = count(w, w->in_A), nB = jump_rows(w);
    if (!moved(w, s)) blocks &= ~POSITION;
    if (!jumped(w)) blocks &= ~VELOCITY;
    w->at_l = blocks & SMOOTH ? nv : 0;
    w->at_U = blocks & SMOOTH ? nv + s->sys->ne : 0;
    w->at_nu = w->at_U + (blocks & POSITION ? nv : 0);
    w->at_w = w->at_nu + (blocks & POSITION ? nA : 0);
    w->at_L = w->at_w + (blocks & VELOCITY ? nv : 0);
    w->N = w->at_L + (blocks & VELOCITY ? nB : 0);
    return blocks;
}

// (GA-10)  r1 = h (M s - f - W_E lambda~)   r2 = u~_E          r3 = (M U - W nu)/h - 1/2 W_T Lambda_T
//          r4 = g_A/h                       r6 = M w - W Lambda  r7 = u_B + e u_0B
static void residual(work *w, const carom_step *s, int blocks) {
    const int nv = s->sys->nv, ne = s->sys->ne;
    const double h = s->h;
    double *r = w->r;
    carom_zero(r, w->N);
    if (blocks & SMOOTH) {
        carom_matrix_muladd(r, h, w->M, w->s);
        carom_axpy(r, -h, w->f, nv);
        for (int b = 0; b < ne; ++b) {
            carom_column_axpy(r, -h * w->lambda[b], &w->L.W, b);
            r[w->at_l + b] = w->u_s[b];
        }
    }
    if (blocks & POSITION) carom_matrix_muladd(r + w->at_U, 1 / h, w->M, w->U);
    if (blocks & VELOCITY) carom_matrix_muladd(r + w->at_w, 1, w->M, w->w);
    for (int b = 0, a = w->at_nu, l = w->at_L; b < w->L.nb; ++b) {
        const int id = w->L.id[b], k = w->L.at[b], tangents = carom_ggl_alpha_tangents(w, b);
        if (blocks & POSITION && w->in_A[id]) {
            carom_column_axpy(r + w->at_U, -w->nu[id] / h, &w->L.W, k);
            r[a++] = w->g[id] / h;
        } else if (blocks & POSITION && w->nu[id] != 0) {
            carom_column_axpy(r + w->at_U, -w->nu[id] / h, &w->L.W, k);
        }
        for (int i = 1; blocks & POSITION && i <= tangents; ++i)
            carom_column_axpy(r + w->at_U, -0.5 * w->T[w->L_0.at[id] + i], &w->L.W, k + i);
        if (blocks & VELOCITY && w->in_B[id]) {
            carom_column_axpy(r + w->at_w, -w->Lambda[id], &w->L.W, k);
            for (int i = 1; i <= tangents; ++i)
                carom_column_axpy(r + w->at_w, -w->T[w->L_0.at[id] + i], &w->L.W, k + i);
            r[l++] = id < s->sys->ne ? w->u[k] : carom_ggl_alpha_law_velocity(w, s, b, 0);
            for (int i = 1; i <= tangents && w->sticks[id]; ++i) r[l++] = carom_ggl_alpha_law_velocity(w, s, b, i);
        }
    }
}

// What (GA-23) takes from multipliers of constraint b: r times its residual, on the level of by_id.
static double taken(const work *w, const carom_step *s, int b, const double *by_id) {
    const int id = w->L.id[b];
    if (w->penalty == 0) return 0;
    if (by_id == w->nu) return w->in_A[id] ? w->penalty * w->g[id] : 0;
    if (!w->in_B[id]) return 0;
    return w->penalty * (id < s->sys->ne ? w->u[w->L.at[b]] : carom_ggl_alpha_law_velocity(w, s, b, 0));
}

// Multipliers of the candidates in the order of L: by_id, and a times those of friction.
static const double *gather(work *w, const carom_step *s, const double *by_id, double a, bool newton) {
    for (int b = 0; b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        w->scratch[w->L.at[b]] = by_id[id] - (newton ? taken(w, s, b, by_id) : 0);
        for (int i = 1; i <= carom_ggl_alpha_tangents(w, b); ++i)
            w->scratch[w->L.at[b] + i] = a * w->T[w->L_0.at[id] + i];
    }
    return w->scratch;
}

static carom_status gradients(work *w, carom_step *s, int blocks) {
    const double t_1 = s->t + s->h;
    // K_t = -df/dq + d(M s)/dq - d(W_E lambda~)/dq
    carom_local joints = w->L; // they come first
    joints.nb = s->sys->ne;
    if (blocks & SMOOTH) {
        if (w->schur.on ? carom_ggl_alpha_wants_tangent(w, s) : !w->have_K) {
            CAROM_TRY(carom_tangent(s, w->K, w->C, t_1, w->q, w->v));
            CAROM_TRY(carom_mass_gradient(s, w->K, 1, t_1, w->q, w->s));
            for (int b = 0; b < joints.nb; ++b) w->scratch[b] = w->lambda[b] - w->penalty / s->h * w->u_s[b]; // (GA-23)
            CAROM_TRY(carom_reaction_gradient(s, w->K, -1, &joints, w->scratch, t_1, w->q));
            w->have_K = s->sys->flags & CAROM_LINEAR && (s->sys->flags & CAROM_CONSTANT_DIRECTIONS || joints.nb == 0);
        }
        CAROM_TRY(carom_rate_gradient(s, &w->D_s, &joints, t_1, w->q, w->v_s));
    }
    if (blocks & POSITION && !w->schur.on) {
        carom_matrix_zero(w->P);
        CAROM_TRY(carom_mass_gradient(s, w->P, 1, t_1, w->q, w->U));
        CAROM_TRY(carom_reaction_gradient(s, w->P, -1, &w->L, gather(w, s, w->nu, 0.5 * s->h, true), t_1, w->q));
    }
    if (blocks & VELOCITY && !w->schur.on) {
        carom_matrix_zero(w->V);
        CAROM_TRY(carom_mass_gradient(s, w->V, 1, t_1, w->q, w->w));
        CAROM_TRY(carom_reaction_gradient(s, w->V, -1, &w->L, gather(w, s, w->Lambda, 1, true), t_1, w->q));
    }
    if (blocks & VELOCITY) CAROM_TRY(carom_rate_gradient(s, &w->D_v, &w->L, t_1, w->q, w->v));
    return CAROM_OK;
}

static void update(work *w, const carom_step *s, int blocks) {
    const int nv = s->sys->nv;
    const double h = s->h, *x = w->r;
    if (blocks & SMOOTH) {
        carom_axpy(w->dv, 1, x, nv);
        for (int b = 0; b < s->sys->ne; ++b) w->lambda[b] -= x[w->at_l + b] / h;
    }
    if (blocks & POSITION) carom_axpy(w->U, h, x + w->at_U, nv);
    if (blocks & VELOCITY) carom_axpy(w->w, 1, x + w->at_w, nv);
    for (int b = 0, a = w->at_nu, l = w->at_L; b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        if (blocks & POSITION && w->in_A[id]) w->nu[id] -= h * x[a++];
        if (!(blocks & VELOCITY && w->in_B[id])) continue;
        w->Lambda[id] -= x[l++];
        for (int i = w->L_0.at[id] + 1; i <= w->L_0.at[id] + carom_ggl_alpha_tangents(w, b); ++i) {
            if (w->sticks[id])
                w->T[i] -= x[l++];
            else
                w->T[i] = w->slide[i] * w->Lambda[id];
        }
    }
}

// One correction of the given blocks.
static carom_status correct(work *w, carom_step *s, int blocks) {
    blocks = layout(w, s, blocks);
    if (blocks == 0) return CAROM_OK;
    residual(w, s, blocks);
    carom_chord_note(&w->schur.chord, carom_norm_max(w->r, w->N));
    const bool again = w->schur.on && w->schur.joints_alone && w->L.nb == s->sys->ne && blocks == ALL &&
                       carom_chord_serves(&w->schur.chord); // one factor serves a step while it contracts
    if (!again) CAROM_TRY(gradients(w, s, blocks));
    if (w->schur.on) {
        CAROM_TRY(carom_ggl_alpha_schur(w, s, blocks, again));
    } else {
        carom_ggl_alpha_assemble(w, s, blocks);
        if (w->penalty > 0) carom_ggl_alpha_augment(w, s, blocks);
        carom_ggl_alpha_solve(w, w->N, w->r);
    }
    update(w, s, blocks);
    return CAROM_OK;
}

// -- when is it done ---------------------------------------------------------------------------------------------

// (NEW-5)  unit_i = 1/sqrt(M_ii), or of M + h C + h^2 K where there is no inertia; where there is nothing, the least of
//          all.
static void find_units(work *w, const carom_step *s) {
    const int nv = s->sys->nv;
    const double h = s->h;
    double least = HUGE_VAL;
    for (int i = 0; i < nv; ++i) {
        double m = *carom_matrix_entry(w->M, i, i);
        if (!(m > 0)) m = h * fabs(*carom_matrix_entry(w->C, i, i)) + h * h * fabs(*carom_matrix_entry(w->K, i, i));
        w->unit[i] = m > 0 ? 1 / sqrt(m) : 0;
        if (m > 0) least = fmin(least, w->unit[i]);
    }
    for (int i = 0; i < nv; ++i)
        if (w->unit[i] == 0) w->unit[i] = least < HUGE_VAL ? least : 1;
}

// The sizes of momenta, and of velocities.
static double momentum_size(const work *w, const double *p, int nv) {
    double most = 0;
    for (int i = 0; i < nv; ++i) {
        const double x = fabs(p[i]) * w->unit[i];
        if (!(x <= most)) most = x < HUGE_VAL ? x : HUGE_VAL; // or not a number
    }
    return most;
}

static double velocity_size(const work *w, const double *v, int nv) {
    double most = 0;
    for (int i = 0; i < nv; ++i) most = fmax(most, fabs(v[i]) / w->unit[i]);
    return most;
}

// The size of momenta that counts as one.
static double momentum(work *w, const carom_step *s) {
    const int nv = s->sys->nv;
    carom_matrix_mul(w->scratch, w->M, w->v);
    double p = momentum_size(w, w->scratch, nv);
    carom_matrix_mul(w->scratch, w->M, w->w);
    p = fmax(p, momentum_size(w, w->scratch, nv));
    carom_matrix_mul(w->scratch, w->M, w->U);
    p = fmax(p, momentum_size(w, w->scratch, nv) / s->h);
    carom_matrix_mul(w->scratch, w->M, w->s);
    return fmax(p, s->h * fmax(momentum_size(w, w->scratch, nv), momentum_size(w, w->f, nv)));
}

// The size of row k of L, as of a momentum.
static double reach(const work *w, int k) {
    const carom_entries W = carom_entries_of(&w->L.W, k);
    double most = 0;
    for (int e = 0; e < W.n; ++e) most = fmax(most, fabs(W.a[e]) * w->unit[carom_entry_row(&W, e)]);
    return most;
}

// What rounding of positions leaves in momenta, by its size, as carom_force_rounding() has it for forces.
static double rounding_of_forces(work *w, const carom_step *s) {
    static const double LOST = DBL_MIN / DBL_EPSILON; // numbers below have lost digits
    const int nv = s->sys->nv;
    if (s->sys->nq != nv) return LOST;
    carom_matrix_magnitude(w->scratch, w->K, w->q);
    const double here = momentum_size(w, w->scratch, nv);
    carom_matrix_magnitude(w->scratch, w->K, s->q);
    // of both places, as carom_force_rounding()
    return 8 * DBL_EPSILON * s->h * (here + momentum_size(w, w->scratch, nv)) + LOST;
}

// What solving for all velocities leaves in a local one: it counts where joints hold what is at rest.  There the
// velocities themselves are what solving with forces left: p, the momentum that counts as one, is worth |W_k'M^-1 p|,
// roughly.
static double solved_to(const work *w, const carom_step *s, double p) {
    const int nv = s->sys->nv;
    const double v = fmax(velocity_size(w, w->v_p, nv), fmax(velocity_size(w, w->dv, nv), velocity_size(w, w->w, nv)));
    double most = 0;
    for (int k = 0; k < w->L.at[w->L.nb]; ++k) {
        const double size = reach(w, k);
        most = fmax(most, fmax(size * v, size > 0 ? carom_ggl_alpha_mobility(w, k) / size * p : 0));
    }
    return CAROM_ROUNDING * most;
}

// What the contact solvers leave in an impulse whose law they meet to a velocity of tol: |W| tol/(W'M^-1 W).
static double impulses_to(const work *w, double tol) {
    double most = 0;
    for (int k = 0; k < w->L.at[w->L.nb]; ++k) {
        const double D = carom_ggl_alpha_mobility(w, k);
        if (D > 0) most = fmax(most, reach(w, k) * tol / D);
    }
    return most;
}

// Do both levels meet their laws, within tolerance or as well as the contact solvers could?
static bool lawful(work *w, const carom_step *s, double tol) {
    int id;
    return carom_ggl_alpha_residual(w, s, &id) <= (w->way == SOLVERS ? fmax(tol, 2 * w->accepted) : tol);
}

// Are all residuals within tolerance after k iterations?  Gaps also stop at their own rounding, which a small h makes
// visible in g/h.
static bool done(work *w, carom_step *s, int k) {
    const carom_system *sys = s->sys;
    const int nv = sys->nv, blocks = layout(w, s, ALL);
    residual(w, s, blocks);
    find_units(w, s);
    const double p = momentum(w, s);
    double tol_p = s->newton_tol * p;
    if (!(tol_p < HUGE_VAL)) return false; // a force or mass that is not a number
    if (!(momentum_size(w, w->r, nv) <= tol_p)) tol_p = fmax(tol_p, rounding_of_forces(w, s));
    double speed = *s->speed; // of an iterate; it counts for the run once the step has it for an answer
    for (int i = 0; i < w->L.at[w->L.nb]; ++i)
        speed = fmax(speed, fmin(carom_local_magnitude(&w->L, i, w->v_s), CAROM_LARGEST));
    const double tol_u = fmax(fmax(s->tol, CAROM_ROUNDING) * speed, solved_to(w, s, p));
    bool good = momentum_size(w, w->r, nv) <= tol_p && carom_norm_max(w->r + w->at_l, sys->ne) <= tol_u;
    if (w->judged) tol_p = fmax(tol_p, s->tol * p); // of impulses that are known to that
    if (w->way == SOLVERS && good) tol_p = fmax(tol_p, impulses_to(w, tol_u));
    if (blocks & POSITION) good = good && momentum_size(w, w->r + w->at_U, nv) <= tol_p;
    if (blocks & VELOCITY) good = good && momentum_size(w, w->r + w->at_w, nv) <= tol_p;
    if (w->judged) good = good && lawful(w, s, tol_u);
    // an iteration that begins well is not there yet where only rounding of gaps is left: the next one still gains
    enum { FEW = 3 };
    const double size = carom_size_of_positions(sys, w->q), share = k < FEW ? 0.1 : 1;
    for (int b = 0, a = w->at_nu, l = w->at_L; good && !w->judged && b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        if (blocks & POSITION && w->in_A[id]) {
            const double rounding = carom_local_rounding_within(&w->L, w->L.at[b], w->q, sys->nq, size);
            good = fabs(w->r[a++]) <= fmax(tol_u, share * rounding / s->h);
        }
        if (!(blocks & VELOCITY && w->in_B[id])) continue;
        for (int i = 0; i <= (w->sticks[id] ? carom_ggl_alpha_tangents(w, b) : 0); ++i)
            good = good && fabs(w->r[l++]) <= tol_u;
    }
    w->speed = speed;
    return good;
}

// -- the step -----------------------------------------------------------------------------------------------------

// Reactions of contacts are impulses, which act on inertia.
static carom_status check_inertia(work *w, carom_step *s) {
    carom_close_kinds(s, &w->L, CAROM_JOINTS | CAROM_CONTACTS);
    CAROM_TRY(carom_directions(s, &w->L, s->t, s->q));
    for (int b = s->sys->ne; b < w->L.nb; ++b) {
        const int k = w->L.at[b];
        const carom_entries W = carom_entries_of(&w->L.W, k);
        if (carom_ggl_alpha_mobility(w, k) == 0 && carom_norm_max(W.a, W.n) > 0)
            return carom_fail(s->err, CAROM_BAD_INPUT,
                              "t = %.9g: '%s' acts on coordinates without inertia only; ggl-alpha allows them anywhere "
                              "but at contacts, "
                              "whose reactions are impulses: give them mass",
                              s->t, s->inside->name ? s->inside->name(s->inside->name_user, w->L.id[b]) : "a contact");
    }
    return CAROM_OK;
}

// [A W_E; W_E' 0] (s, -lambda~) = -w->r, in place.
static carom_status solve_start(work *w, carom_step *s) {
    if (w->schur.on) return carom_ggl_alpha_schur_start(w, s);
    carom_ggl_alpha_assemble_start(w, s);
    carom_ggl_alpha_solve(w, w->N, w->r);
    return CAROM_OK;
}

// (GA-2)  s_0 from the bilateral constraints alone: [A W_E; W_E' 0] (s, -lambda~) = (f, -kappa), then the same for (E
//         s, 0), the sum being s_0;
//         a_0 = s_0,  A = M + E,  E = h gamma c C + h^2 beta c K:  a stiff force that is not in balance accelerates as
//         over a step, not as
//         at its start, from where h^2 a would lead far away; what is not stiff has M s_0 = f + W_E lambda~ up to E^2
static carom_status start(void *memory, carom_step *s) {
    work *w = memory;
    const int nv = s->sys->nv, ne = s->sys->ne;
    const double h = s->h;
    if (w->penalty > 0 && w->schur.on)
        return carom_fail(s->err, CAROM_BAD_INPUT,
                          "penalty must be 0 for a model of this size (%d velocities): its joints and contacts are "
                          "eliminated first", nv);
    CAROM_TRY(carom_mass(s, w->M, s->t, s->q));
    CAROM_TRY(check_inertia(w, s));
    carom_close_kinds(s, &w->L, CAROM_JOINTS);
    CAROM_TRY(carom_directions(s, &w->L, s->t, s->q));
    CAROM_TRY(carom_force(s, w->r, s->t, s->q, s->v));
    if (ne > 0) CAROM_TRY(carom_curvature(s, w->r + nv, &w->L, s->t, s->q, s->v));
    if (!w->have_K && (!w->schur.on || carom_ggl_alpha_wants_tangent(w, s)))
        CAROM_TRY(carom_tangent(s, w->K, w->C, s->t, s->q, s->v));
    for (int i = 0; i < nv; ++i) w->r[i] = -w->r[i];
    CAROM_TRY(solve_start(w, s));
    carom_copy(w->s_n, w->r, nv);
    carom_zero(w->r, nv + ne);
    carom_matrix_muladd(w->r, -h * w->gamma * w->c, w->C, w->s_n);
    carom_matrix_muladd(w->r, -h * h * w->beta * w->c, w->K, w->s_n);
    CAROM_TRY(solve_start(w, s));
    carom_axpy(w->s_n, 1, w->r, nv);
    carom_copy(w->a_n, w->s_n, nv);
    w->h_n[0] = 0;
    carom_zero(w->mu_n, ne + s->sys->nc);
    return CAROM_OK;
}

// (GA-6)  prediction with s = 0:  a_p = (alpha_f s_n - alpha_m a_n)/(1 - alpha_m), v_p, x_p from it;  warm: contacts
//         that last begin with the reactions of the last step, so that their sets need not be found anew, in a stack
//         one layer after the other
// (GA-20)  a is the acceleration at a time that differs from t_n by a multiple of the step; after a step of
//          another size:  a_n <- s_n + (h/h_n) (a_n - s_n)
static void predict(work *w, const carom_step *s, bool warm) {
    const int nv = s->sys->nv, nb = s->sys->ne + s->sys->nc;
    const double h = s->h;
    const bool other = w->h_n[0] > 0 && w->h_n[0] != h;
    for (int i = 0; i < nv; ++i) {
        const double a = other ? w->s_n[i] + h / w->h_n[0] * (w->a_n[i] - w->s_n[i]) : w->a_n[i];
        w->a_p[i] = (w->alpha_f * w->s_n[i] - w->alpha_m * a) / (1 - w->alpha_m);
        w->v_p[i] = s->v[i] + h * ((1 - w->gamma) * a + w->gamma * w->a_p[i]);
        w->x_p[i] = h * s->v[i] + h * h * ((0.5 - w->beta) * a + w->beta * w->a_p[i]);
    }
    carom_zero(w->dv, nv);
    carom_zero(w->U, nv);
    carom_zero(w->w, nv);
    carom_zero(w->lambda, s->sys->ne);
    carom_zero(w->nu, nb);
    carom_zero(w->Lambda, nb);
    carom_zero(w->T, w->L.W.n);
    w->have_u_0 = w->bent.some = false;
    for (int id = 0; id < nb; ++id) w->slipped[id] = 0;
    w->first = 0;
    if (!warm && carom_past_continue(&w->past, s, s->sys->ne, w->v_s, w->lambda))
        carom_add(w->dv, w->v_s, -1, w->v_p, nv); // (NEW-7)
    if (!warm) return;
    carom_copy(w->nu, w->nu_n, nb);
    carom_copy(w->Lambda, w->Lambda_n, nb);
    carom_close_kinds(s, &w->L_0, CAROM_JOINTS | CAROM_CONTACTS);
    for (int id = 0; id < nb; ++id)
        carom_copy(w->T + w->L_0.at[id], w->T_n + s->dir[id], w->L_0.at[id + 1] - w->L_0.at[id]);
}

// What the next step may begin with.  Contacts without friction are found in few iterations.
static void remember(work *w, const carom_step *s) {
    const int nb = s->sys->ne + s->sys->nc;
    carom_zero(w->nu_n, nb);
    carom_zero(w->Lambda_n, nb);
    carom_zero(w->T_n, s->dir[nb]);
    for (int b = s->sys->ne; b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        if (!carom_ggl_alpha_lasts(w, s, b) || !(s->sys->contacts[id - s->sys->ne].friction > 0)) continue;
        w->nu_n[id] = w->nu[id];
        w->Lambda_n[id] = w->Lambda[id];
        carom_copy(w->T_n + s->dir[id], w->T + w->L_0.at[id], 1 + carom_ggl_alpha_tangents(w, b));
    }
}

// Where forces are stiff and depend on large rotations the equations have other roots, far away; so have the gaps of a
// mechanism that can be folded the other way.
static bool astray(const work *w, const carom_step *s, int k) {
    const int nv = s->sys->nv;
    const double far = FAR * fmax(carom_norm_max(s->v, nv), carom_norm_max(w->v_p, nv));
    return (k > SOON && carom_norm_max(w->v, nv) > far) || carom_norm_max(w->U, nv) > fmax(s->h * far, FAR * w->first);
}

// One iteration: everything at once; or in turn smooth part, positions and velocities, these by Newton or by the
// contact solvers.
static carom_status improve(void *memory, carom_step *s, int k) {
    work *w = memory;
    const how way = (how)w->way;
    k += 1; // number of the iterate that it makes
    if (way == MONOLITHIC) return correct(w, s, ALL);
    CAROM_TRY(correct(w, s, SMOOTH));
    CAROM_TRY(evaluate(w, s, k));
    if (w->L.nb > 0) CAROM_TRY(way == SOLVERS ? carom_ggl_alpha_positions(w, s) : correct(w, s, POSITION));
    CAROM_TRY(evaluate(w, s, k));
    if (w->L.nb == 0) return CAROM_OK;
    return way == SOLVERS ? carom_ggl_alpha_velocities(w, s) : correct(w, s, VELOCITY);
}

static carom_status judge(void *memory, carom_step *s, int k, bool *answer) {
    work *w = memory;
    CAROM_TRY(evaluate(w, s, k));
    if (w->first == 0) w->first = carom_norm_max(w->U, s->sys->nv);
    *answer = k > 0 && carom_norm_max(w->v, s->sys->nv) < HUGE_VAL && done(w, s, k);
    if (*answer && astray(w, s, k)) return carom_retry(s, "Newton's method converged to another solution");
    return CAROM_OK;
}

static void detail(void *memory, carom_step *s, char *text, size_t size) {
    work *w = memory;
    int id;
    const double off = carom_ggl_alpha_residual(w, s, &id);
    if (id < 0 || !s->inside->name) return;
    carom_format(text, size, " (%d of %d candidate contacts active; the law of '%.60s' is off by %.3g)",
                 count(w, w->in_B) - s->sys->ne, w->L.nb - s->sys->ne, s->inside->name(s->inside->name_user, id), off);
}

static carom_status iterate(work *w, carom_step *s, how way, bool warm) {
    w->judged = way == SOLVERS && w->crowded;
    predict(w, s, warm || w->judged);
    w->way = way;
    w->schur.joints_alone = false;
    const carom_iteration I = {.method = "Newton's method",
                               .most = way == MONOLITHIC ? MOST : MOST_IN_TURN,
                               .x = w->v,
                               .n = s->sys->nv,
                               .evaluate = judge,
                               .correct = improve,
                               .detail = detail};
    return carom_iterate(&I, w, s, NULL);
}

// Newton's method as asked for, from the last step's contacts, then from none; where contacts keep it from an answer,
// with the contact solvers in it, which then come first for some steps.
static carom_status attempts(work *w, carom_step *s) {
    const how newton = w->sequential ? IN_TURN : MONOLITHIC;
    const bool solvers = w->solvers[0] > 0, warm = !solvers && carom_norm_max(w->Lambda_n, s->sys->ne + s->sys->nc) > 0;
    carom_status status = iterate(w, s, solvers ? SOLVERS : newton, warm);
    if (status == CAROM_RETRY && warm) status = iterate(w, s, newton, false);
    if (status == CAROM_OK && solvers) w->solvers[0] -= 1;
    if (status != CAROM_RETRY || w->L.nb == s->sys->ne || w->modified) return status;
    s->counts->fallbacks += 1;
    status = iterate(w, s, solvers ? newton : SOLVERS, false);
    if (status == CAROM_OK) w->solvers[0] = solvers ? 0 : A_WHILE;
    return status;
}

// (GA-17)  gaps at q_n or q_n + h v_n for active=start and forecast; else none is closed by them.
static carom_status forecast(work *w, carom_step *s) {
    const bool ahead = w->active == CAROM_GGL_FORECAST;
    for (int id = 0; id < s->sys->ne + s->sys->nc; ++id) w->g_0[id] = 1;
    if (!ahead && w->active != CAROM_GGL_START) return CAROM_OK;
    const double t = ahead ? s->t + s->h : s->t;
    carom_move(s, w->q_s, s->q, ahead ? s->h : 0, s->v);
    CAROM_TRY(carom_gaps(s, w->g_0, t, w->q_s));
    return carom_close_place(s, &w->L, w->g_0, (carom_evaluation_point){.t = t, .q = w->q_s, .v = s->v});
}

// Where they fail, and smaller steps have not helped, an iterate may have met a kink.
static carom_status answer(void *memory, carom_step *s) {
    work *w = memory;
    w->seeks = false;
    CAROM_TRY(forecast(w, s));
    const carom_status status = attempts(w, s);
    w->seeks = status == CAROM_RETRY && s->inside->last && s->sys->nc > 0;
    if (!w->seeks) return status;
    const carom_status again = attempts(w, s);
    return w->bent.some ? again : status;
}

// What the iteration leaves of gaps.
static double left_of_gaps(const void *memory, carom_step *s) {
    const work *w = memory;
    const int nq = s->sys->nq;
    const double size = carom_size_moving(s->sys, w->q, nq);
    double left = s->h * fmax(s->tol, CAROM_ROUNDING) * w->speed;
    for (int b = s->sys->ne; b < w->L.nb; ++b)
        left = fmax(left, carom_local_rounding_within(&w->L, w->L.at[b], w->q, nq, size));
    return left;
}

// (GA-22), the first features being those at the position without reactions, q_n + x_p.
static carom_status held_answer(work *w, carom_step *s) {
    predict(w, s, false);
    carom_move(s, w->q, s->q, 1, w->x_p);
    const carom_held_step z = {.solve = answer, .work = w, .q = w->q, .left = left_of_gaps, .g = w->scratch};
    return carom_held_solve(&z, s);
}

static void forget(void *memory, carom_step *s, int id) {
    work *w = memory;
    w->nu_n[id] = w->Lambda_n[id] = w->mu_n[id] = 0;
    carom_zero(w->T_n + s->dir[id], s->dir[id + 1] - s->dir[id]);
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    const int nv = s->sys->nv, ne = s->sys->ne;
    if (s->jumped) CAROM_TRY(start(w, s));
    CAROM_TRY(s->sys->contact_list->freeze_searched ? held_answer(w, s) : answer(w, s));
    *s->speed = w->speed;
    CAROM_TRY(carom_mass_still_positive(s, w->M));
    carom_ggl_alpha_certify(w, s);
    if (!w->modified) remember(w, s);
    else carom_ggl_alpha_next_mu(w, s);
    carom_past_note(&w->past, s, w->L.nb, w->v_s, w->lambda);
    for (int b = 0; b < w->L.nb; ++b) carom_account_position(s, w->L.id[b], w->nu[w->L.id[b]]);

    // (GA-7)  reactions: lambda~ is a force, Lambda an impulse
    if (w->L.nb > 0) {
        double *before = w->u_s; // not needed any more
        for (int b = 0; b < w->L.nb; ++b)
            for (int k = w->L.at[b]; k < w->L.at[b + 1]; ++k)
                before[k] = w->u_0[w->L_0.at[w->L.id[b]] + k - w->L.at[b]];
        carom_account_impulses(s, &w->L, gather(w, s, w->Lambda, 1, false), before, w->u);
        w->L.nb = ne;
        carom_account_forces(s, &w->L, w->lambda, w->u, s->h, true);
    }
    // (GA-8)  a_{n+1} = a_p + c s_{n+1}
    carom_add(w->a_n, w->a_p, w->c, w->s, nv);
    w->h_n[0] = s->h;
    carom_copy(w->s_n, w->s, nv);
    carom_copy(s->q, w->q, s->sys->nq);
    carom_copy(s->v, w->v, nv);
    return CAROM_OK;
}

static const char *warning(const double *opt) {
    if (opt[OPT_COMPLEMENTARITY] == 0) return NULL;
    return "complementarity=modified is a counter-example: bodies chatter for ever after an accumulation of impacts, "
           "or hover (theta <= 1/2); for comparison only";
}

const carom_scheme carom_scheme_ggl_alpha = {
    .name = "ggl-alpha",
    .about = "nonsmooth generalized-alpha, constraints on position and velocity level",
    .text =
        "q = q~ + U,  v = v~ + w:  smooth part, position correction, velocity jump\n"
        "M s = f + W_E lambda~,   W_E'v~ = 0            generalized-alpha in (q~, v~, s)\n"
        "M U = W nu + h/2 W_T Lambda_T,  g_E = 0,  0 <= g _|_ nu >= 0    position level\n"
        "M w = W Lambda,  u_E = 0,  g(q~) <= 0: 0 <= u + e u_0 _|_ Lambda >= 0, friction   velocity level\n\n"
        "No penetration and no drift at step ends, to Newton's tolerance.  Second order in smooth motion with\n"
        "joints, first order across impacts; accumulations are reached too early by order h.  rho sets the\n"
        "damping of high frequencies.  active=smooth is the rule of the paper; start closes contacts one step late.\n"
        "Unilateral reactions are impulses, bilateral ones lambda~ + Lambda/h.",
    .order = 2,
    .promises = {.contacts = CAROM_POSITION_LEVEL,
                 .joints = CAROM_POSITION_LEVEL,
                 .joint_order = 2,
                 .loss = 0.2,
                 .slow_piles = true,
                 .forces = CAROM_AT_END,
                 .gaps = CAROM_AT_END,
                 .directions = CAROM_AT_START | CAROM_AT_END},
    .massless = true,
    .positions = true,
    .impulses = true,
    .options = options,
    .warning = warning,
    .limitations = CAROM_NO_REST,
    .reset_contact = forget,
    .work_size = sizeof(work),
    .allocate = allocate,
    .start = start,
    .step = step,
};
