// moreau_jean.c: the theta scheme of Moreau and Jean, implicit by Newton where the system is nonlinear.
//
// Spec: docs/METHODS.md, section MJ.  The smooth forces are taken by the theta rule, all reactions as one
// impulse on velocity level, at the new position, at q_theta or at the old position.  First order; theta = 1/2 makes
// only the smooth part
// second order.  theta = 0 is explicit.
#include "base/tolerance.h"
#include "linalg/matrix.h"
#include "linalg/sum.h"
#include "scheme/inside.h"
#include "scheme/moreau/moreau.h"
#include <math.h>

enum { OPT_THETA, OPT_GAMMA, OPT_AT, OPT_GAP, OPT_IDENTITY };
static const carom_option options[] = {
    {.name = "theta", .kind = CAROM_REAL, .fallback = 0.5, .low = 0, .high = 1,
     .about = "weight of the new state in the theta rule"},
    {.name = "gamma", .kind = CAROM_REAL, .fallback = 0.5, .low = 0, .high = 1,
     .about = "forecast: contacts closed at q_0 + gamma h v_0 are active"},
    {.name = "at", .kind = CAROM_CHOICE, .choices = "end|theta|start",
     .about = "mass and contact directions at q_1, or at q_0 + theta (q_1 - q_0); start: mass at q_1, directions at "
              "q_0, so that they are constant in a step"},
    {.name = "gap", .kind = CAROM_CHOICE, .choices = "position|update",
     .about = "forecast gaps: those at the position forecast; or the gap before, updated with the velocities along "
              "the directions at q_0 alone, so that it drifts from the position where they turn"},
    {.name = "identity", .kind = CAROM_CHOICE, .choices = "on|off",
     .about = "check the discrete energy balance at every step of a linear system"},
    {0},
};

static void allocate_past(carom_theta *w, carom_arena *keep, const carom_system *sys) {
    w->past = NULL;
    if (!keep || !(w->theta > 0 && w->theta < 1) || w->inside || w->N.constant) return; // theta = 1 needs no M_0
    // joints act always, and in a world of many bodies something touches nearly always
    if (sys->ne > 0 || sys->contact_list->search) return;
    w->past = (carom_theta_past *)carom_allocate(keep, sizeof *w->past / sizeof(double));
    CAROM_ALLOCATE(keep, (size_t)sys->nv, &w->s_1, &w->s_2);
}

void carom_theta_allocate(carom_theta *w, carom_theta_rule rule, carom_arena *mem, carom_arena *keep,
                          const carom_system *sys) {
    const size_t nv = (size_t)sys->nv;
    w->theta = rule.theta;
    w->gamma = rule.gamma;
    w->inside = rule.inside;
    w->start = rule.start;
    w->gap = NULL;
    if (keep && rule.updates) {
        const size_t nb = (size_t)(sys->ne + sys->nc);
        w->gap = carom_allocate(keep, nb);
        w->gap_1 = carom_allocate(mem, nb);
        w->L_all = carom_allocate_local(mem, sys);
        w->U = carom_allocate(mem, (size_t)w->L_all.W.n);
    }
    w->have_M = false;
    w->I = carom_allocate_identity(mem, sys, rule.identity);
    w->N = carom_allocate_newton(mem, keep, sys);
    w->F_0 = carom_allocate_factor(mem, sys->mass_shape, true);
    w->L_0 = carom_allocate_local(mem, sys);
    w->bent = carom_allocate_bent(mem, sys);
    w->N.M = w->M = carom_allocate_matrix(mem, sys->mass_shape);
    w->K = carom_allocate_matrix(mem, sys->tangent_shape);
    w->C = carom_allocate_matrix(mem, sys->tangent_shape);
    w->D = carom_allocate_columns(mem, sys->nv, w->L_0.W.n, sys->column_stride);
    if (w->inside) {
        w->D_0 = carom_allocate_columns(mem, sys->nv, w->L_0.W.n, sys->column_stride);
        w->f_0 = carom_allocate(mem, nv);
        w->q_theta = carom_allocate(mem, (size_t)sys->nq);
    }
    CAROM_ALLOCATE(mem, nv, &w->s_0, &w->v_m);
    w->q_1 = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, nv, &w->v_1, &w->y, &w->f);
    w->g = carom_allocate(mem, (size_t)(sys->ne + sys->nc));
    w->u_0 = carom_allocate(mem, (size_t)w->L_0.W.n);
    w->jump = w->strikes = NULL;
    if (!w->inside && !w->start && !(sys->flags & CAROM_TIMELESS_GAPS))
        w->jump = carom_allocate(mem, (size_t)w->L_0.W.n),
        w->strikes = carom_allocate(mem, (size_t)(sys->ne + sys->nc));
    allocate_past(w, keep, sys);
}

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    const carom_theta_rule rule = {.theta = opt[OPT_THETA],
                                   .gamma = opt[OPT_GAMMA],
                                   .inside = opt[OPT_AT] == 1,
                                   .start = opt[OPT_AT] == 2,
                                   .updates = opt[OPT_GAP] == 1,
                                   .identity = opt[OPT_IDENTITY] == 0};
    carom_theta_allocate(memory, rule, mem, keep, sys);
}

// at=theta, all but the forces at q_theta:
// (MJ-7)  q_theta = q_0 + theta h ((1 - theta) v_0 + theta v_1)
//         R = M(q_theta) (v_1 - v_0) - h ((1 - theta) f_0 + theta f(t_1, q_1, v_1)),  u_0, u_1 = W(q_theta)'(v_0, v_1)
//         + w
static carom_status residual_inside(carom_theta *w, carom_step *s, carom_newton *N, const double *v_1) {
    const int nv = s->sys->nv;
    const double h = s->h, theta = w->theta, t_theta = s->t + theta * h;
    carom_move_iterate(s, w->q_theta, s->q, theta * h, w->v_m, N->k);
    carom_add(w->y, v_1, -1, s->v, nv);
    if (!w->have_M) CAROM_TRY(carom_mass(s, w->M, t_theta, w->q_theta));
    w->have_M = s->sys->flags & CAROM_CONSTANT_MASS;
    carom_zero(w->f, nv);
    if (theta > 0) CAROM_TRY(carom_force(s, w->f, s->t + h, w->q_1, v_1));
    carom_matrix_mul(N->R, w->M, w->y);
    carom_matrix_mul(N->size, w->M, v_1);
    for (int i = 0; i < nv; ++i) {
        N->R[i] -= h * ((1 - theta) * w->f_0[i] + theta * w->f[i]);
        N->size[i] = fabs(N->size[i]) + h * ((1 - theta) * fabs(w->f_0[i]) + theta * fabs(w->f[i]));
    }
    CAROM_TRY(carom_directions(s, &N->L, t_theta, w->q_theta));
    carom_local_velocity_shared(s, N->u_0, &N->L, s->v);
    carom_local_velocity_shared(s, N->u_1, &N->L, v_1);
    return CAROM_OK;
}

// (MJ-8)  A = M + h theta (C + h theta K + theta (d(M y)/dq - d(W p)/dq)),  V = W + h theta^2 (d u_1/dq + e o d
//         u_0/dq)
static carom_status matrix_inside(carom_theta *w, carom_step *s, carom_newton *N, const double *v_1) {
    const double h = s->h, theta = w->theta, t_theta = s->t + theta * h, share = theta * theta * h;
    carom_matrix_zero(N->A);
    carom_matrix_add(N->A, 1, w->M);
    carom_local_blend(&N->V, &N->L, 0, NULL);
    if (theta == 0) return CAROM_OK;
    CAROM_TRY(carom_tangent(s, w->K, w->C, s->t + h, w->q_1, v_1));
    N->K = w->K, N->q = w->q_1, N->share = h * theta;
    carom_matrix_add(N->A, h * theta, w->C);
    carom_matrix_add(N->A, h * h * theta * theta, w->K);
    CAROM_TRY(carom_mass_gradient(s, N->A, share, t_theta, w->q_theta, w->y));
    CAROM_TRY(carom_reaction_gradient(s, N->A, -share, &N->L, N->p, t_theta, w->q_theta));
    CAROM_TRY(carom_rate_gradient(s, &w->D, &N->L, t_theta, w->q_theta, v_1));
    CAROM_TRY(carom_rate_gradient(s, &w->D_0, &N->L, t_theta, w->q_theta, s->v));
    carom_local_blend(&N->V, &N->L, share, &w->D);
    carom_local_blend_restitution(s, &N->V, share, &w->D_0);
    return CAROM_OK;
}

// Mean velocity and the bracket of (MJ-4), for n velocities.
static inline void form_increments(carom_theta *w, const carom_step *s, const double *restrict v_1, int n) {
    const double h = s->h, theta = w->theta, *restrict v = s->v, *restrict s_0 = w->s_0;
    double *restrict v_m = w->v_m, *restrict y = w->y;
    for (int i = 0; i < n; ++i) {
        v_m[i] = (1 - theta) * v[i] + theta * v_1[i];
        y[i] = v_1[i] - v[i] - h * (1 - theta) * s_0[i];
    }
}

// The forces of (MJ-4), for n velocities.
static inline void subtract_forces(const carom_theta *w, carom_newton *N, double share, int n) {
    const double *restrict f = w->f;
    double *restrict R = N->R, *restrict size = N->size;
    for (int i = 0; i < n; ++i) R[i] += -share * f[i];
    for (int i = 0; N->k > 0 && i < n; ++i) size[i] = fabs(size[i]) + share * fabs(f[i]);
}

// (MJ-5)   u_1 = W(q_1)'v_1 + w;  u_0 with what contacts that meet a kink on the way see
// (MJ-12)  at=start:  u_1 = W(q_0)'v_1 + w
static carom_status local_velocities(carom_theta *w, carom_step *s, carom_newton *N, const double *v_1) {
    const bool first = N->k == 0;
    if (first) w->bent.some = false;
    if (N->L.nb == 0) return CAROM_OK;
    if (!w->start) CAROM_TRY(carom_directions(s, &N->L, s->t + s->h, w->q_1));
    else if (first) CAROM_TRY(carom_directions(s, &N->L, s->t, s->q));
    if (!w->start && !first) carom_bent_keep(&w->bent, &N->L);
    if (!w->start && first) {
        const carom_evaluation_point at = {
            .t = s->t + s->h, .q = w->q_1, .v = s->v, .f = w->theta < 1 ? w->s_0 : NULL};
        CAROM_TRY(carom_bent_find(&w->bent, s, w->u_0, &N->L, at));
        CAROM_TRY(carom_bent_leave(&w->bent, s, w->u_0, &N->L, at));
    }
    carom_local_velocity_shared(s, N->u_1, &N->L, v_1);
    carom_copy(N->u_0, w->u_0, N->L.at[N->L.nb]);
    return CAROM_OK;
}

// (MJ-4)  R = M_1 (v_1 - v_0 - h (1 - theta) s_0) - h theta f(t_1, q_1, v_1)
static carom_status residual(carom_theta *w, carom_step *s, carom_newton *N, const double *v_1) {
    const int nv = s->sys->nv;
    const double h = s->h, theta = w->theta, t_1 = s->t + h;
    if (theta > 0 && !w->have_M) CAROM_TRY(carom_motion(s, w->M, w->f, NULL, t_1, w->q_1, v_1));
    else if (theta > 0) CAROM_TRY(carom_force(s, w->f, t_1, w->q_1, v_1));
    else if (!w->have_M) CAROM_TRY(carom_mass(s, w->M, t_1, w->q_1));
    w->have_M = s->sys->flags & CAROM_CONSTANT_MASS;
    carom_matrix_mul(N->R, w->M, w->y);
    if (N->k > 0) carom_matrix_mul(N->size, w->M, v_1); // the first guess is never the answer
    if (theta > 0 && nv == 3) subtract_forces(w, N, h * theta, 3);
    else if (theta > 0) subtract_forces(w, N, h * theta, nv);
    return local_velocities(w, s, N, v_1);
}

// (MJ-6)  A = M_1 + h theta (C + h theta K + d(M y)/dq - d(W p)/dq),   V = W + h theta d(W'v_1 + w)/dq;  at=start:
//         dW/dq = 0
static carom_status matrix(carom_theta *w, carom_step *s, carom_newton *N, const double *v_1) {
    const double h = s->h, theta = w->theta, t_1 = s->t + h;
    const bool turns = theta > 0 && !w->start;
    if (theta == 0) carom_matrix_zero(N->A);
    if (theta > 0) {
        CAROM_TRY(carom_tangent(s, w->K, w->C, t_1, w->q_1, v_1));
        N->K = w->K, N->q = w->q_1, N->share = h * theta;
        carom_matrix_sum(N->A, h * theta, w->C, h * h * theta * theta, w->K);
        CAROM_TRY(carom_mass_gradient(s, N->A, h * theta, t_1, w->q_1, w->y));
    }
    if (turns) {
        CAROM_TRY(carom_reaction_gradient(s, N->A, -h * theta, &N->L, N->p, t_1, w->q_1));
        CAROM_TRY(carom_rate_gradient(s, &w->D, &N->L, t_1, w->q_1, v_1));
        carom_bent_rates(&w->bent, &w->D, &N->L);
    }
    carom_matrix_add(N->A, 1, w->M);
    if (N->L.nb > 0) carom_local_blend(&N->V, &N->L, turns ? h * theta : 0, &w->D);
    return CAROM_OK;
}

static carom_status eval(void *memory, carom_step *s, carom_newton *N, const double *v_1, bool linearise) {
    carom_theta *w = memory;
    const int nv = s->sys->nv;
    if (linearise) return w->inside ? matrix_inside(w, s, N, v_1) : matrix(w, s, N, v_1);
    // (MJ-3)  q_1 = q_0 + h ((1 - theta) v_0 + theta v_1)
    if (nv == 3) form_increments(w, s, v_1, 3); // a constant length unrolls the loop
    else form_increments(w, s, v_1, nv);
    carom_move_iterate(s, w->q_1, s->q, s->h, w->v_m, N->k);
    return w->inside ? residual_inside(w, s, N, v_1) : residual(w, s, N, v_1);
}

// The balance (EN-2), while s->q and s->v are still those of the start.
static carom_status check_identity(carom_theta *w, carom_step *s) {
    carom_identity *I = &w->I;
    const int nv = s->sys->nv;
    CAROM_TRY(carom_identity_begin(I, s));
    if (!I->on) return CAROM_OK;
    CAROM_TRY(carom_identity_loads(I, s, s->t, s->t + s->h));
    carom_zero(w->y, nv);
    carom_local_react(w->y, 1, &w->N.L, w->N.p);
    const carom_balance b = {
        .h = s->h, .q_0 = s->q, .v_0 = s->v, .q_1 = w->q_1, .v_1 = w->v_1, .f_0 = I->f_0, .f_1 = I->f_1, .r = w->y};
    double scale;
    const double off = carom_identity_theta(I, &b, w->theta, &scale);
    carom_account_identity(s, off, scale);
    if (!(s->sys->flags & CAROM_TIMELESS_GAPS)) return CAROM_OK; // walls that move give energy
    double e = 0; // of the contacts that react
    const carom_local *L = &w->N.L;
    for (int k = s->sys->ne; k < L->nb; ++k)
        if (w->N.p[L->at[k]] > 0) e = fmax(e, s->sys->contacts[L->id[k] - s->sys->ne].restitution);
    if (w->theta < 0.5 || w->theta * (1 + e) > 1 + CAROM_SAME)
        carom_account_rise(s, carom_rise_theta(I, &b, w->theta), CAROM_RULE_THETA, w->theta, 1 / (1 + e));
    return CAROM_OK;
}

// -- steps without contacts -------------------------------------------------------------------------------------------

enum { STEPS = 2, WAIT = 50 }; // steps to continue; after an attempt in vain the next WAIT steps are left to Newton's
                               // method, which keeps the loss below 2 %

static inline bool continues(const carom_theta *w, const carom_step *s) {
    return w->past && w->past->steps == STEPS && w->past->h == s->h;
}

// (MJ-10)  v_1 = v_0 + h ((1 - theta) s_0 + theta s_1),  where s_1 = M_1^-1 f_1 is about 3 s_0 - 3 s_-1 + s_-2;  for n
//          velocities.
static inline void continue_motion(carom_theta *w, const carom_step *s, int n) {
    const double h = s->h, theta = w->theta, *v = s->v, *s_0 = w->s_0;
    for (int i = 0; i < n; ++i)
        w->v_1[i] = v[i] + h * ((1 - theta) * s_0[i] + theta * (3 * (s_0[i] - w->s_1[i]) + w->s_2[i]));
}

// The step is done.  chord: the corrections of (MJ-10), 0 after an attempt in vain, -1: not attempted.
static inline void remember(carom_theta *w, const carom_step *s, int chord, int n) {
    carom_theta_past *past = w->past;
    if (!past) return;
    double *s_2 = w->s_2;
    if (past->steps > 0 && (w->N.L.nb > 0 || past->h != s->h)) past->steps = 0;
    if (chord == 0) past->steps = -WAIT;
    past->h = s->h;
    if (w->N.L.nb > 0) return; // s_0 says nothing of what follows
    for (int i = 0; i < n; ++i) {
        s_2[i] = w->s_1[i];
        w->s_1[i] = w->s_0[i];
    }
    if (past->steps < STEPS) past->steps += 1;
}

// (MJ-11)  Walls and drives give -(w_0 + w_1)/2 p, as friction takes -(u_0 + u_1)/2 p; -w_1 p where a contact or a
//          drive is struck, or w jumps by more than theta (CL-4).
static carom_status mean_walls(carom_theta *w, carom_step *s) {
    carom_local *L = &w->N.L;
    const carom_evaluation_point at = {.t = s->t, .q = s->q, .v = s->v, .f = w->theta < 1 ? w->s_0 : NULL};
    bool some, joints;
    for (int k = 0; k < L->at[L->nb]; ++k) w->jump[k] = L->w[k] - w->L_0.w[k];
    CAROM_TRY(carom_joints_struck(s, &joints, &w->L_0, w->jump, at));
    for (int k = 0; k < L->at[L->nb]; ++k) w->jump[k] = fmin(w->u_0[k], -fabs(w->jump[k]));
    CAROM_TRY(carom_struck(s, &some, w->strikes, &w->L_0, w->jump, at));
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1] && !(L->id[b] < s->sys->ne ? joints : w->strikes[b] != 0); ++k)
            L->w[k] = 0.5 * (w->L_0.w[k] + L->w[k]);
    return CAROM_OK;
}

// The forecast of (MJ-1) into w->g, at q_1.
static carom_status forecast(carom_theta *w, carom_step *s) {
    const int all = s->sys->ne + s->sys->nc;
    const double h = s->h, gamma = w->gamma;
    carom_move(s, w->q_1, s->q, gamma * h, s->v);
    if (!w->gap) return carom_gaps(s, w->g, s->t + gamma * h, w->q_1);
    // (MJ-13)  gap=update:  g_j = g_j0 + gamma h u_j0 in (MJ-1),  g_j1 = g_j0 + h ((1 - theta) u_j0 + theta u_j1),  u =
    //          W(q_0)'v + w
    carom_copy(w->gap_1, w->gap, all);
    carom_close_kinds(s, &w->L_all, CAROM_JOINTS | CAROM_CONTACTS);
    CAROM_TRY(carom_directions(s, &w->L_all, s->t, s->q));
    carom_local_velocity(w->U, &w->L_all, s->v);
    for (int id = 0; id < all; ++id) w->g[id] = w->gap_1[id] + gamma * h * w->U[w->L_all.at[id]];
    return CAROM_OK;
}

// The second half of (MJ-13), w->U being those of v_0.
static void update_gaps(carom_theta *w, const carom_step *s) {
    const int all = s->sys->ne + s->sys->nc;
    const double h = s->h, theta = w->theta;
    for (int id = 0; id < all; ++id) w->gap_1[id] += h * (1 - theta) * w->U[w->L_all.at[id]];
    carom_local_velocity(w->U, &w->L_all, w->v_1);
    for (int id = 0; id < all; ++id) w->gap_1[id] += h * theta * w->U[w->L_all.at[id]];
    carom_copy(w->gap, w->gap_1, all);
}

// Only gap=update has a state of its own for every contact.
static carom_status start(void *memory, carom_step *s) {
    const carom_theta *w = memory;
    if (!w->gap) return CAROM_OK;
    if (s->sys->listed || s->sys->contact_list->search)
        return carom_fail(s->err, CAROM_BAD_INPUT, "gap=update needs contacts that are there all the time, got a "
                                                   "dynamic contact list: use gap=position");
    return carom_gaps(s, w->gap, s->t, s->q);
}

carom_status carom_theta_step(void *memory, carom_step *s) {
    carom_theta *w = memory;
    carom_newton *N = &w->N;
    const int nv = s->sys->nv;
    const double h = s->h;

    // (MJ-2)  s_0 = M_0^-1 f(t_0, q_0, v_0),  u_0 = W(q_0)'v_0 + w
    carom_zero(w->s_0, nv);
    if (w->inside) carom_zero(w->f_0, nv);
    if (w->theta < 1 && w->inside) {
        CAROM_TRY(carom_motion_factor(s, &w->F_0, w->f_0, NULL, s->t, s->q, s->v));
        carom_copy(w->s_0, w->f_0, nv);
        carom_factor_solve(&w->F_0, w->s_0);
    } else if (w->theta < 1) {
        CAROM_TRY(carom_free_motion(s, &w->F_0, w->s_0, NULL, s->t, s->q, s->v));
    }

    // (MJ-1)  I = { j : g_j(t_0 + gamma h, q_0 + gamma h v_0) <= 0 }
    CAROM_TRY(forecast(w, s));
    const carom_evaluation_point M = {
        .t = s->t + w->gamma * h, .q = w->q_1, .v = s->v, .f = w->theta < 1 ? w->s_0 : NULL};
    CAROM_TRY(carom_close_place(s, &N->L, w->g, M));
    carom_local_same(&w->L_0, &N->L);
    CAROM_TRY(carom_directions(s, &w->L_0, s->t, s->q));
    carom_local_velocity_shared(s, w->u_0, &w->L_0, s->v);

    // Newton's method starts from the free motion; with joints, of whose reactions s_0 knows nothing, from v_0.
    int chord = -1;
    if (N->L.nb == 0 && continues(w, s)) {
        continue_motion(w, s, nv);
        chord = carom_newton_chord(N, s, w->v_1, &w->F_0, eval, w);
    }
    if (chord > 0) {
        carom_account_newton(s, chord);
    } else {
        carom_add(w->v_1, s->v, w->theta < 1 && s->sys->ne == 0 ? h : 0, w->s_0, nv);
        CAROM_TRY(carom_newton_solve(N, s, w->v_1, eval, w));
    }
    remember(w, s, chord, nv);

    // The last evaluation was at the answer: q_1 and u_1 stand.
    if (w->I.asked) CAROM_TRY(check_identity(w, s));
    if (w->gap) update_gaps(w, s);
    if (!w->inside && !w->start && N->L.nb > 0 && !(s->sys->flags & CAROM_TIMELESS_GAPS)) CAROM_TRY(mean_walls(w, s));
    carom_account_impulses(s, &N->L, N->p, w->inside ? N->u_0 : w->u_0, N->u_1);
    carom_copy(s->v, w->v_1, nv);
    carom_copy(s->q, w->q_1, s->sys->nq);
    return CAROM_OK;
}

static int order_of(const double *opt) { return opt[OPT_THETA] == 0.5 ? 2 : 1; }

const carom_scheme carom_scheme_moreau_jean = {
    .name = "moreau-jean",
    .about = "Moreau-Jean with the theta rule, implicit for theta > 0",
    .text =
        "active: g(q_0 + gamma h v_0) <= 0\n"
        "q_1 = q_0 + h ((1 - theta) v_0 + theta v_1)\n"
        "M_1 (v_1 - v_0 - h (1 - theta) M_0^-1 f_0) = h theta f_1 + W_1 p\n"
        "Newton's law between u(q_0, v_0) and u(q_1, v_1); bilateral constraints: u(q_1, v_1) = 0\n"
        "at=theta, as the lecture prints it:\n"
        "M(q_t) (v_1 - v_0) = h ((1 - theta) f_0 + theta f_1) + W(q_t) p,   q_t = q_0 + theta (q_1 - q_0)\n"
        "Newton's law between u(q_t, v_0) and u(q_t, v_1)\n"
        "at=start: W(q_0) for W_1, Newton's law between u(q_0, v_0) and u(q_0, v_1)\n\n"
        "First order across impacts and for joints, whose reactions are impulses; theta = 1/2 is second\n"
        "order without contacts and joints.  theta >= 1/2 is stable for stiff linear systems; stiff nonlinear\n"
        "structures with impacts want theta > 1/2.  Closed gaps and joints drift with order h.\n"
        "gamma: forecast of impacts; 1 finds every impact of the step, smaller values let fast ones end below zero.",
    .order = 2,
    .promises = {.forces = CAROM_AT_START | CAROM_AT_END,
                 .gaps = CAROM_AT_MIDDLE,
                 .directions = CAROM_AT_START | CAROM_AT_END},
    .impulses = true,
    .order_of = order_of,
    .second_order = "theta=0.5",
    .lanes = CAROM_LANE_MOREAU_JEAN,
    .follows_features = true,
    .options = options,
    .work_size = sizeof(carom_theta),
    .allocate = allocate,
    .start = start,
    .step = carom_theta_step,
};
