// moreau_dissipative.c: the variant of Moreau-Jean whose discrete energy balance has the right sign.
//
// Spec: docs/METHODS.md, section MD.  Positions move with the mean velocity whatever theta is; theta only
// says where between q_0 and q_1 the forces are evaluated.
#include "scheme/identity.h"
#include "scheme/inside.h"
#include <carom/implicit.h>
#include <math.h>

enum { OPT_THETA, OPT_IDENTITY };
static const carom_option options[] = {
    {.name = "theta", .kind = CAROM_REAL, .fallback = 0.5, .low = 0, .high = 1,
     .about = "where the forces are evaluated: q_0 + theta (q_1 - q_0)"},
    {.name = "identity", .kind = CAROM_CHOICE, .choices = "on|off",
     .about = "check the discrete energy balance at every step of a linear system"},
    {0},
};

typedef struct work {
    carom_newton N;
    carom_matrix M, K, C;
    bool have_M;                      // M is constant and stands
    carom_columns D_0, D_1;           // d(W'v + w)/dq at q_M for v_0 and v_1
    double theta;
    double *v_M, *q_M, *q_theta, *v_1, *dv, *f, *g;
    carom_identity I;
} work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    work *w = memory;
    const size_t nv = (size_t)sys->nv;
    w->theta = opt[OPT_THETA];
    w->have_M = false;
    w->I = carom_allocate_identity(mem, sys, opt[OPT_IDENTITY] == 0);
    w->N = carom_allocate_newton(mem, keep, sys);
    w->N.M = w->M = carom_allocate_matrix(mem, sys->mass_shape);
    w->K = carom_allocate_matrix(mem, sys->tangent_shape);
    w->C = carom_allocate_matrix(mem, sys->tangent_shape);
    w->D_0 = carom_allocate_columns(mem, sys->nv, w->N.L.W.n, sys->column_stride);
    w->D_1 = carom_allocate_columns(mem, sys->nv, w->N.L.W.n, sys->column_stride);
    w->v_M = carom_allocate(mem, nv);
    CAROM_ALLOCATE(mem, (size_t)sys->nq, &w->q_M, &w->q_theta);
    CAROM_ALLOCATE(mem, nv, &w->v_1, &w->dv, &w->f);
    w->g = carom_allocate(mem, (size_t)(sys->ne + sys->nc));
}

static carom_status eval(void *memory, carom_step *s, carom_newton *N, const double *v_1, bool matrix) {
    work *w = memory;
    const int nv = s->sys->nv;
    const double h = s->h, theta = w->theta, t_M = s->t + 0.5 * h, t_theta = s->t + theta * h;

    if (!matrix) {
        // (MD-2)  v_M = (v_0 + v_1)/2,  q_M = q_0 + h/2 v_M,  q_theta = q_0 + theta h v_M
        for (int i = 0; i < nv; ++i) w->v_M[i] = 0.5 * (s->v[i] + v_1[i]);
        carom_move_iterate(s, w->q_M, s->q, 0.5 * h, w->v_M, N->k);
        carom_move_iterate(s, w->q_theta, s->q, theta * h, w->v_M, N->k);
        // (MD-3)  R = M(q_M) (v_1 - v_0) - h f(t_theta, q_theta, v_M)
        for (int i = 0; i < nv; ++i) w->dv[i] = v_1[i] - s->v[i];
        if (!w->have_M) CAROM_TRY(carom_mass(s, w->M, t_M, w->q_M));
        w->have_M = s->sys->flags & CAROM_CONSTANT_MASS;
        CAROM_TRY(carom_force(s, w->f, t_theta, w->q_theta, w->v_M));
        carom_matrix_mul(N->R, w->M, w->dv);
        carom_matrix_mul(N->size, w->M, v_1);
        carom_axpy(N->R, -h, w->f, nv);
        for (int i = 0; i < nv; ++i) N->size[i] = fabs(N->size[i]) + h * fabs(w->f[i]);
        // (MD-4)  u_0 = W(q_M)'v_0 + w,  u_1 = W(q_M)'v_1 + w
        CAROM_TRY(carom_directions(s, &N->L, t_M, w->q_M));
        carom_local_velocity(N->u_0, &N->L, s->v);
        carom_local_velocity(N->u_1, &N->L, v_1);
        return CAROM_OK;
    }
    // (MD-5)  A = M + h/2 C + theta h^2/2 K + h/4 (d(M dv)/dq - d(W p)/dq)
    CAROM_TRY(carom_tangent(s, w->K, w->C, t_theta, w->q_theta, w->v_M));
    N->K = w->K, N->q = w->q_theta, N->share = h;
    carom_matrix_zero(N->A);
    carom_matrix_add(N->A, 1, w->M);
    carom_matrix_add(N->A, 0.5 * h, w->C);
    carom_matrix_add(N->A, 0.5 * theta * h * h, w->K);
    CAROM_TRY(carom_mass_gradient(s, N->A, 0.25 * h, t_M, w->q_M, w->dv));
    CAROM_TRY(carom_reaction_gradient(s, N->A, -0.25 * h, &N->L, N->p, t_M, w->q_M));
    // (MD-6)  V = W + h/4 (d u_1/dq + e o d u_0/dq)
    CAROM_TRY(carom_rate_gradient(s, &w->D_1, &N->L, t_M, w->q_M, v_1));
    CAROM_TRY(carom_rate_gradient(s, &w->D_0, &N->L, t_M, w->q_M, s->v));
    carom_local_blend(&N->V, &N->L, 0.25 * h, &w->D_1);
    carom_local_blend_restitution(s, &N->V, 0.25 * h, &w->D_0);
    return CAROM_OK;
}

// The balance (EN-3), while s->q and s->v are still those of the start.
static carom_status check_identity(work *w, carom_step *s) {
    carom_identity *I = &w->I;
    CAROM_TRY(carom_identity_begin(I, s));
    if (!I->on) return CAROM_OK;
    CAROM_TRY(carom_identity_loads(I, s, s->t + w->theta * s->h, s->t + w->theta * s->h));
    carom_zero(w->dv, s->sys->nv);
    carom_local_react(w->dv, 1, &w->N.L, w->N.p);
    carom_move(s, w->q_M, s->q, s->h, w->v_M);
    const carom_balance b = {
        .h = s->h, .q_0 = s->q, .v_0 = s->v, .q_1 = w->q_M, .v_1 = w->v_1, .f_0 = I->f_0, .f_1 = I->f_0, .r = w->dv};
    double scale;
    const double off = carom_identity_dissipative(I, &b, w->theta, &scale);
    carom_account_identity(s, off, scale);
    if (w->theta < 0.5 && s->sys->flags & CAROM_TIMELESS_GAPS)
        carom_account_rise(s, carom_rise_dissipative(I, &b, w->theta), CAROM_RULE_MEAN, w->theta, 0);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    carom_newton *N = &w->N;

    // (MD-1)  I = { j : g_j(t_0 + h/2, q_0 + h/2 v_0) <= 0 }
    carom_move(s, w->q_M, s->q, 0.5 * s->h, s->v);
    CAROM_TRY(carom_gaps(s, w->g, s->t + 0.5 * s->h, w->q_M));
    const carom_evaluation_point M = {.t = s->t + 0.5 * s->h, .q = w->q_M, .v = s->v};
    CAROM_TRY(carom_close_at(s, &N->L, w->g, M));

    carom_copy(w->v_1, s->v, s->sys->nv);
    CAROM_TRY(carom_newton_solve(N, s, w->v_1, eval, w));
    CAROM_TRY(carom_mass_still_positive(s, w->M));

    // (MD-7)  q_1 = q_0 + h v_M; the last evaluation was at the answer
    carom_account_impulses(s, &N->L, N->p, N->u_0, N->u_1);
    if (w->I.asked) CAROM_TRY(check_identity(w, s));
    carom_move(s, s->q, s->q, s->h, w->v_M);
    carom_copy(s->v, w->v_1, s->sys->nv);
    return CAROM_OK;
}

static int order_of(const double *opt) { return opt[OPT_THETA] == 0.5 ? 2 : 1; }

const carom_scheme carom_scheme_moreau_dissipative = {
    .name = "moreau-dissipative",
    .about = "Moreau-Jean variant that moves with the mean velocity; dissipates for theta >= 1/2",
    .text =
        "v_M = (v_0 + v_1)/2,   q_1 = q_0 + h v_M\n"
        "active: g(q_0 + h/2 v_0) <= 0\n"
        "M(q_M) (v_1 - v_0) = h f(t_theta, q_theta, v_M) + W(q_M) p,   q_M halfway, q_theta = q_0 + theta (q_1 - q_0)\n"
        "Newton's law between W_M'v_0 and W_M'v_1\n\n"
        "For linear systems the energy balance of a step holds exactly, with impact loss 1/2 (u_0 + u_1).p and\n"
        "numerical loss (theta - 1/2) |q_1 - q_0|_K^2.  The impact loss has the right sign when u_0 <= 0.\n"
        "Second order without contacts and joints at theta = 1/2, first order with them.",
    .order = 2,
    .promises = {.forces = CAROM_AT_MIDDLE, .gaps = CAROM_AT_MIDDLE, .directions = CAROM_AT_MIDDLE},
    .impulses = true,
    .order_of = order_of,
    .options = options,
    .work_size = sizeof(work),
    .allocate = allocate,
    .step = step,
};
