// moreau_midpoint.c: Moreau's midpoint rule.
//
// Spec: docs/METHODS.md, section MID.  Everything is seen once per step, half a step ahead; the cheapest
// scheme there is.  Forces take the old velocity, so it is first order where forces depend on velocity.
#include <carom/scheme.h>

enum { OPT_LOCAL };
static const carom_option options[] = {
    {.name = "local", .kind = CAROM_CHOICE, .choices = "exact|paper",
     .about = "exact: one direction W_M for both local velocities; paper: u_0 at q_0, u_1 = u_0 + W_M'(v_1 - v_0)"},
    {0},
};

typedef struct work {
    carom_factor F;            // M(q_M)
    carom_local L, L_0;        // directions at q_M; at q_0 (local=paper)
    double *q_M, *v_0, *a, *g; // midpoint; velocity before; forces; gaps
    double *u_0, *u_f, *u_1;   // local velocities: before, free, after
} work;

static void carve(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)keep, (void)opt;
    work *w = memory;
    w->F = carom_carve_factor(mem, sys->mass_shape, true);
    w->L = carom_carve_local(mem, sys);
    w->L_0 = carom_carve_local(mem, sys);
    w->q_M = carom_carve(mem, (size_t)sys->nq);
    w->v_0 = carom_carve(mem, (size_t)sys->nv);
    w->a = carom_carve(mem, (size_t)sys->nv);
    w->g = carom_carve(mem, (size_t)(sys->ne + sys->nc));
    const size_t nl = (size_t)w->L.W.n;
    w->u_0 = carom_carve(mem, nl);
    w->u_f = carom_carve(mem, nl);
    w->u_1 = carom_carve(mem, nl);
}

// (MID-4) to (MID-6): the velocity after contact, in place.
static carom_status contacts(work *w, carom_step *s) {
    const double h = s->h, t_M = s->t + 0.5 * h;
    double *v = s->v;
    // (MID-4)  p solves CP over I,  G = W_M' M_M^-1 W_M,  c = W_M' v_f + e o W_M' v_0
    CAROM_TRY(carom_directions(s, &w->L, t_M, w->q_M));
    carom_local_velocity(w->u_0, &w->L, v);
    carom_factor_advance(&w->F, v, h, w->a);
    carom_local_velocity(w->u_f, &w->L, v);
    if (s->opt[OPT_LOCAL] == 1) {
        // (MID-5)  local=paper:  c = u_0 + W_M'(v_f - v_0) + e o u_0,  u_0 = W(q_0)' v_0
        const int n = w->L.at[w->L.nb];
        carom_axpy(w->u_f, -1, w->u_0, n);
        carom_local_same(&w->L_0, &w->L);
        CAROM_TRY(carom_directions(s, &w->L_0, s->t, s->q));
        carom_local_velocity(w->u_0, &w->L_0, w->v_0);
        carom_axpy(w->u_f, 1, w->u_0, n);
    }
    carom_problem_form(s, &w->L, &w->L, &w->F, 1);
    carom_problem_restitution(s, &w->L, w->u_f, w->u_0);
    CAROM_TRY(carom_problem_solve(s, &w->L));

    // (MID-6)  v_1 = v_f + M_M^-1 W_M p
    carom_problem_apply(s, v, 1);
    carom_local_velocity(w->u_1, &w->L, v);
    carom_book_impulses(s, &w->L, s->problem.p, w->u_0, w->u_1);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    const int nv = s->sys->nv;
    const double h = s->h, t_M = s->t + 0.5 * h;
    double *q = s->q, *v = s->v;

    // (MID-1)  q_M = q_0 + h/2 v_0
    carom_move(s, w->q_M, q, 0.5 * h, v);

    // (MID-2)  v_f = v_0 + h M_M^-1 f(t_M, q_M, v_0)
    CAROM_TRY(carom_motion_factor(s, &w->F, w->a, w->g, t_M, w->q_M, v));

    // (MID-3)  I = { j : g_j(q_M) <= 0 }
    carom_close(s, &w->L, w->g);

    // Large systems go through as few passes as there can be: v changes in place, and is kept only where a contact
    // problem may fail.
    if (w->L.nb > 0) {
        carom_copy(w->v_0, v, nv);
        const carom_status status = contacts(w, s);
        if (status != CAROM_OK) return carom_copy(v, w->v_0, nv), status;
    } else {
        carom_factor_advance(&w->F, v, h, w->a);
    }
    // (MID-7)  q_1 = q_M + h/2 v_1
    carom_move(s, q, w->q_M, 0.5 * h, v);
    return CAROM_OK;
}

const carom_scheme carom_scheme_moreau_midpoint = {
    .name = "moreau-midpoint",
    .about = "Moreau's midpoint rule, one evaluation per step",
    .text = "q_M = q_0 + h/2 v_0\n"
            "active: g(q_M) <= 0\n"
            "v_1 = v_0 + M_M^-1 (h f(t_M, q_M, v_0) + W_M p),   Newton's law between W_M'v_0 and W_M'v_1\n"
            "q_1 = q_M + h/2 v_1\n\n"
            "The cheapest scheme.  Second order for forces of t and q with constant mass, first order when\n"
            "forces depend on velocity (a steady loss of energy of order h).  Closed gaps drift.",
    .order = 1,
    .stable = 2,
    .options = options,
    .work_size = sizeof(work),
    .carve = carve,
    .step = step,
};
