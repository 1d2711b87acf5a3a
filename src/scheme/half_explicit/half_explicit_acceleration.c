// half_explicit_acceleration.c: the half-explicit scheme with contact forces on acceleration level.
//
// Spec: docs/METHODS.md, section HA (Schindler, Rezaei, Kursawe, Acary 2015, section 3).  Kept for comparison:
// a closed contact keeps an approach velocity that is too small for an impact, and sinks.  half-explicit is the cure.
#include "scheme/step.h"

typedef struct work {
    carom_factor F_0, F_1;         // M(q_0), M(q_1)
    carom_local L_0, L_1;          // closed and not opening, at (q_0, v_0) and (q_1, v_1); closed in an impact
    double *q_1, *v_0, *v_1, *v_m; // v_0: after an impact at the start
    double *held;                  // nc: contacts that push at q_0
    double *g_0, *g_1;
    double *a_f, *a_0, *a_1;
    double *lambda_0, *lambda_1, *u, *u_1, *kappa;
} work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)keep, (void)opt;
    work *w = memory;
    w->F_0 = carom_allocate_factor(mem, sys->mass_shape, true);
    w->F_1 = carom_allocate_factor(mem, sys->mass_shape, true);
    w->L_0 = carom_allocate_local(mem, sys);
    w->L_1 = carom_allocate_local(mem, sys);
    w->q_1 = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &w->v_0, &w->v_1, &w->v_m, &w->a_f, &w->a_0, &w->a_1);
    w->held = carom_allocate(mem, (size_t)sys->nc);
    CAROM_ALLOCATE(mem, (size_t)(sys->ne + sys->nc), &w->g_0, &w->g_1);
    CAROM_ALLOCATE(mem, (size_t)w->L_0.W.n, &w->lambda_0, &w->lambda_1, &w->u, &w->u_1, &w->kappa);
}

// (HA-1)  I2 = { j : closed and u_j <= eps_u }: closed and not opening.  L holds all that are closed; found: with their
//         directions.
static carom_status choose(carom_step *s, carom_local *L, bool found, double *u, double t, const double *q,
                           const double *v) {
    if (!found) CAROM_TRY(carom_directions(s, L, t, q));
    carom_local_velocity(u, L, v);
    const double eps_u = carom_local_velocity_rounding(s, L, v) + carom_velocity_left(s);
    int opening = 0;
    for (int b = s->sys->ne; b < L->nb; ++b) opening += u[b] > eps_u;
    if (opening == 0) return CAROM_OK;
    int kept = s->sys->ne;
    for (int b = s->sys->ne; b < L->nb; ++b)
        if (u[b] <= eps_u) L->id[kept++] = L->id[b];
    L->nb = kept; // frictionless: one column each, so `at` still fits
    return carom_directions(s, L, t, q);
}

// (HA-2)  0 <= lambda _|_ W'a + kappa >= 0 over I2, a = M^-1 (f + W lambda); in velocity units, times h
static carom_status contact_force(work *w, carom_step *s, const carom_local *L, const carom_factor *F, double *lambda,
                                  double *a, double t, const double *q, const double *v) {
    if (L->nb == 0) return CAROM_OK;
    CAROM_TRY(carom_curvature(s, w->kappa, L, t, q, v));
    carom_problem_form(s, L, L, F, s->h);
    for (int k = 0; k < L->nb; ++k) s->c[k] = s->h * (carom_column_dot(&L->W, k, a) + w->kappa[k]);
    CAROM_TRY(carom_problem_solve(s, L));
    carom_copy(lambda, s->problem.p, L->nb);
    carom_problem_apply(s, a, 1);
    return CAROM_OK;
}

// (HA-5)  an impact: all contact forces are given up (joints keep theirs), then Newton's law over all closed contacts
static carom_status impact(work *w, carom_step *s) {
    const double h = s->h, t_1 = s->t + h;
    const int nv = s->sys->nv;
    w->L_0 = carom_joints_of(s, &w->L_0);
    carom_copy(w->a_0, w->a_f, nv);
    CAROM_TRY(contact_force(w, s, &w->L_0, &w->F_0, w->lambda_0, w->a_0, s->t, s->q, w->v_0));
    carom_close(s, &w->L_1, w->g_1);
    CAROM_TRY(carom_directions(s, &w->L_1, t_1, w->q_1));
    const carom_local joints = carom_joints_of(s, &w->L_1);
    CAROM_TRY(contact_force(w, s, &joints, &w->F_1, w->lambda_1, w->a_1, t_1, w->q_1, w->v_1));
    for (int i = 0; i < nv; ++i) w->v_m[i] = w->v_0[i] + 0.5 * h * (w->a_0[i] + w->a_1[i]);
    carom_account_power(s, w->v_0, w->v_m);
    CAROM_TRY(carom_impact(s, &w->L_1, &w->F_1, w->v_m, w->u, NULL, w->u_1));
    w->L_1 = joints;
    return CAROM_OK;
}

// (HE-6)  an impact at the start of the step; L_0 holds all closed contacts.
static carom_status impact_at_start(work *w, carom_step *s) {
    bool struck;
    CAROM_TRY(carom_directions(s, &w->L_0, s->t, s->q));
    carom_local_velocity(w->u, &w->L_0, w->v_0);
    CAROM_TRY(carom_struck(s, &struck, NULL, &w->L_0, w->u,
                           (carom_evaluation_point){.t = s->t, .q = s->q, .v = w->v_0, .f = w->a_f}));
    if (!struck) return CAROM_OK;
    CAROM_TRY(carom_impact(s, &w->L_0, &w->F_0, w->v_0, w->u, NULL, w->u_1));
    CAROM_TRY(carom_force(s, w->a_f, s->t, s->q, w->v_0));
    carom_factor_solve(&w->F_0, w->a_f);
    return CAROM_OK;
}

// (HE-7)  a kink: a contact of L_1 that was closed at q_0 has W(q_1)'v_0 + w < -theta.
static carom_status meets_kink(work *w, carom_step *s, bool *kink) {
    carom_local_velocity(w->u, &w->L_1, w->v_0);
    for (int b = s->sys->ne; b < w->L_1.nb; ++b)
        if (!carom_closed(s, w->g_0[w->L_1.id[b]])) w->u[b] = 0;
    return carom_struck(s, kink, NULL, &w->L_1, w->u,
                        (carom_evaluation_point){.t = s->t + s->h, .q = w->q_1, .v = w->v_0, .f = w->a_1});
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    const int nv = s->sys->nv, ne = s->sys->ne;
    const double h = s->h, t_1 = s->t + h;

    // (HA-3)  a_0 = M_0^-1 (f_0 + W_0 lambda+),  v_1 = v_0 + h a_0,  q_1 = q_0 + h/2 (v_0 + v_1)
    carom_copy(w->v_0, s->v, nv);
    CAROM_TRY(carom_free_motion(s, &w->F_0, w->a_f, w->g_0, s->t, s->q, w->v_0));
    CAROM_TRY(carom_close_place(s, &w->L_0, w->g_0,
                                (carom_evaluation_point){.t = s->t, .q = s->q, .v = w->v_0, .f = w->a_f}));
    const bool closed = w->L_0.nb > ne;
    if (closed) CAROM_TRY(impact_at_start(w, s));
    carom_power_begin(s);
    CAROM_TRY(carom_power_stage(s, 0.5 * h, s->t, s->q, w->v_0));
    if (w->L_0.nb > 0) CAROM_TRY(choose(s, &w->L_0, closed, w->u, s->t, s->q, w->v_0));
    carom_copy(w->a_0, w->a_f, nv);
    CAROM_TRY(contact_force(w, s, &w->L_0, &w->F_0, w->lambda_0, w->a_0, s->t, s->q, w->v_0));
    carom_zero(w->held, s->sys->nc);
    for (int b = ne; b < w->L_0.nb; ++b) w->held[w->L_0.id[b] - ne] = w->lambda_0[b] > 0;
    carom_add(w->v_1, w->v_0, h, w->a_0, nv);
    for (int i = 0; i < nv; ++i) w->v_m[i] = 0.5 * (w->v_0[i] + w->v_1[i]);
    carom_move(s, w->q_1, s->q, h, w->v_m);

    CAROM_TRY(carom_free_motion(s, &w->F_1, w->a_1, w->g_1, t_1, w->q_1, w->v_1));
    CAROM_TRY(carom_power_stage(s, 0.5 * h, t_1, w->q_1, w->v_1));
    CAROM_TRY(carom_close_place(
        s, &w->L_1, w->g_1,
        (carom_evaluation_point){.t = t_1, .q = w->q_1, .v = w->v_1, .f = w->a_1, .active = w->held}));
    if (w->L_1.nb > 0) CAROM_TRY(choose(s, &w->L_1, false, w->u, t_1, w->q_1, w->v_1));
    bool hits = false;
    if (w->L_1.nb > ne) CAROM_TRY(meets_kink(w, s, &hits));
    if (hits || carom_closes(s, w->g_0, w->g_1)) {
        CAROM_TRY(impact(w, s));
    } else {
        // (HA-4)  v = v_0 + h/2 (a_0 + M_1^-1 (f(q_1, v_1) + W_1 lambda-))
        CAROM_TRY(contact_force(w, s, &w->L_1, &w->F_1, w->lambda_1, w->a_1, t_1, w->q_1, w->v_1));
        for (int i = 0; i < nv; ++i) w->v_m[i] = w->v_0[i] + 0.5 * h * (w->a_0[i] + w->a_1[i]);
        carom_account_power(s, w->v_0, w->v_m);
    }
    carom_local_velocity(w->u, &w->L_0, w->v_0);
    carom_local_velocity(w->u_1, &w->L_1, w->v_m);
    carom_account_forces(s, &w->L_0, w->lambda_0, w->u, 0.5 * h, false);
    carom_account_forces(s, &w->L_1, w->lambda_1, w->u_1, 0.5 * h, true);
    carom_copy(s->q, w->q_1, s->sys->nq);
    carom_copy(s->v, w->v_m, nv);
    return CAROM_OK;
}

const carom_scheme carom_scheme_half_explicit_acceleration = {
    .name = "half-explicit-acceleration",
    .about = "half-explicit scheme on acceleration level; drifts, for comparison",
    .text =
        "lambda+ at (q_0, v_0) from 0 <= lambda _|_ W'v' + kappa >= 0 over contacts closed and not opening\n"
        "v_1 = v_0 + h M_0^-1 (f_0 + W_0 lambda+),   q_1 = q_0 + h/2 (v_0 + v_1),   lambda- likewise at (q_1, v_1)\n"
        "v = v_0 + h/2 (a_0 + a_1); a contact closes: all contact forces zero, then Newton's law\n\n"
        "Second order in smooth phases, first order across impacts.  A closed contact that approaches faster than\n"
        "the forces of a few steps explain is an impact.  It keeps a smaller approach velocity and sinks, linearly\n"
        "in time; the ledger shows it.  Use half-explicit.",
    .order = 2,
    .promises = {.contacts = CAROM_ACCELERATION_LEVEL,
                 .joints = CAROM_ACCELERATION_LEVEL,
                 .joint_order = 2,
                 .limited_steps = true,
                 .forces = CAROM_AT_START | CAROM_AT_END,
                 .gaps = CAROM_AT_START | CAROM_AT_END,
                 .directions = CAROM_AT_START | CAROM_AT_END},
    .stable = 2,
    .limitations = CAROM_NO_FRICTION,
    .work_size = sizeof(work),
    .allocate = allocate,
    .step = step,
};
