// moreau_midpoint.c: Moreau's midpoint rule.
//
// Spec: docs/METHODS.md, section MID.  Everything is seen once per step, half a step ahead; the cheapest
// scheme there is.  Forces take the old velocity, so it is first order where forces depend on velocity.
#include "scheme/moreau/moreau.h"
#include "linalg/matrix.h"
#include "scheme/step.h"

enum { OPT_LOCAL };
static const carom_option options[] = {
    {.name = "local", .kind = CAROM_CHOICE, .choices = "exact|paper",
     .about = "exact: one direction W_M for both local velocities; paper: u_0 at q_0, u_1 = u_0 + W_M'(v_1 - v_0)"},
    {0},
};

void carom_midpoint_allocate(carom_midpoint *w, carom_arena *mem, const carom_system *sys) {
    w->join = NULL;
    w->lasts = false;
    w->F = carom_allocate_factor(mem, sys->mass_shape, true);
    w->L = carom_allocate_local(mem, sys);
    w->L_0 = carom_allocate_local(mem, sys);
    w->q_0 = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &w->v_0, &w->a);
    w->g = carom_allocate(mem, (size_t)(sys->ne + sys->nc));
    const size_t nl = (size_t)w->L.W.n;
    CAROM_ALLOCATE(mem, nl, &w->u_0, &w->u);
}

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)keep, (void)opt;
    carom_midpoint_allocate(memory, mem, sys);
}

// (MID-4) to (MID-6): the velocity after contact, in place; s->q is q_M.
static carom_status contacts(carom_midpoint *w, carom_step *s, bool found, const double *q_0, const double *v_0,
                             bool paper) {
    const double h = s->h, t_M = s->t + 0.5 * h;
    double *v = s->v;
    // (MID-4)  p solves CP over I,  G = W_M' M_M^-1 W_M,  c = W_M' v_f + e o W_M' v_0
    if (!found) CAROM_TRY(carom_directions(s, &w->L, t_M, s->q));
    carom_local_velocity_shared(s, w->u_0, &w->L, v);
    carom_factor_advance(&w->F, v, h, w->a);
    carom_local_velocity_shared(s, w->u, &w->L, v);
    if (paper) {
        // (MID-5)  local=paper:  c = u_0 + W_M'(v_f - v_0) + e o u_0,  u_0 = W(q_0)' v_0
        const int n = w->L.at[w->L.nb];
        carom_axpy(w->u, -1, w->u_0, n);
        carom_local_same(&w->L_0, &w->L);
        CAROM_TRY(carom_directions(s, &w->L_0, s->t, q_0));
        carom_local_velocity_shared(s, w->u_0, &w->L_0, v_0);
        CAROM_TRY(carom_velocity_before(
            s, w->u_0, &w->L, (carom_evaluation_point){.t = t_M, .q = s->q, .v = v_0, .F = &w->F, .f = w->a}));
        carom_axpy(w->u, 1, w->u_0, n);
    }
    CAROM_TRY(carom_problem_step(s, &w->L, &w->F, w->u, w->u_0));

    // (MID-6)  v_1 = v_f + M_M^-1 W_M p
    carom_problem_apply(s, v, 1);
    carom_local_velocity_shared(s, w->u, &w->L, v);
    return CAROM_OK;
}

void carom_midpoint_account(const carom_midpoint *w, carom_step *s) {
    if (w->L.nb > 0) carom_account_impulses(s, &w->L, s->problem.p, w->u_0, w->u);
}

carom_status carom_midpoint_take(carom_midpoint *w, carom_step *s, bool paper) {
    const int nq = s->sys->nq, nv = s->sys->nv;
    const double h = s->h, t_M = s->t + 0.5 * h;
    double *q = s->q, *v = s->v, *q_0 = w->q_0, *v_0 = w->v_0;

    // Large systems go through as few passes as there can be: q and v change in place, and come back when the step
    // fails.
    // (MID-1)  q_M = q_0 + h/2 v_0
    if (s->sys->move) {
        carom_copy(q_0, q, nq);
        carom_copy(v_0, v, nv);
        carom_move(s, q, q_0, 0.5 * h, v_0);
    } else {
        carom_add_keeping(q_0, v_0, q, 0.5 * h, v, nv);
    }

    // (MID-2)  v_f = v_0 + h M_M^-1 f(t_M, q_M, v_0); W_M as well where a set of contacts lasts, and no factor of M
    //          where nothing is near
    bool found = false, solved = false;
    if (s->sys->speed->motion_directions) carom_local_same(&w->L_0, &w->L);
    double *g = s->sys->nc ? w->g : NULL;
    carom_status status =
        w->lasts || w->join || s->sys->ne > 0 ? CAROM_OK : carom_acceleration(s, &solved, &w->F, w->a, w->g, t_M, q, v);
    solved = solved && carom_all_open(w->g, s->active, s->sys->nc);
    if (status == CAROM_OK && w->lasts) status = carom_motion_ahead(s, &w->F, w->a, g, &w->L_0, &found, t_M, q, v);
    else if (status == CAROM_OK && !solved) status = carom_motion_factor(s, &w->F, w->a, g, t_M, q, v);

    // (MID-3)  I = { j : g_j(q_M) <= 0 }, and those that join
    for (int id = s->sys->ne; w->join && id < s->sys->ne + s->sys->nc; ++id) w->g[id] = fmin(w->g[id], w->join[id]);
    if (status == CAROM_OK)
        status = carom_close_place(s, &w->L, w->g,
                                   (carom_evaluation_point){.t = t_M, .q = q, .v = v, .F = &w->F, .f = w->a});
    w->lasts =
        status == CAROM_OK && s->sys->speed->motion_directions && w->L.nb > 0 && carom_local_alike(&w->L, &w->L_0);
    found = found && w->lasts;
    if (found) {
        const carom_local L = w->L;
        w->L = w->L_0;
        w->L_0 = L;
    }
    if (status == CAROM_OK && w->L.nb > 0) status = contacts(w, s, found, q_0, v_0, paper);
    else if (status == CAROM_OK && solved) carom_axpy(v, h, w->a, nv);
    else if (status == CAROM_OK) carom_factor_advance(&w->F, v, h, w->a);
    if (status != CAROM_OK) {
        carom_copy(q, q_0, nq);
        carom_copy(v, v_0, nv);
        return status;
    }

    // (MID-7)  q_1 = q_M + h/2 v_1
    if (s->sys->move) carom_move(s, q, q, 0.5 * h, v);
    else carom_axpy(q, 0.5 * h, v, nv);
    return CAROM_OK;
}

carom_status carom_midpoint_step(carom_midpoint *w, carom_step *s, bool paper) {
    CAROM_TRY(carom_midpoint_take(w, s, paper));
    carom_midpoint_account(w, s);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) { return carom_midpoint_step(memory, s, s->opt[OPT_LOCAL] == 1); }

const carom_scheme carom_scheme_moreau_midpoint = {
    .name = "moreau-midpoint",
    .about = "Moreau's midpoint rule, one evaluation per step",
    .text = "q_M = q_0 + h/2 v_0\n"
            "active: g(q_M) <= 0\n"
            "v_1 = v_0 + M_M^-1 (h f(t_M, q_M, v_0) + W_M p),   Newton's law between W_M'v_0 and W_M'v_1\n"
            "q_1 = q_M + h/2 v_1\n\n"
            "The cheapest scheme.  Second order for forces of t and q with constant mass, first order when\n"
            "forces depend on velocity and with joints.  The energy is then off by order h, either way: a\n"
            "pendulum on a joint loses, a body that turns freely in space gains.  Closed gaps drift.",
    .order = 1,
    .promises = {.limited_steps = true,
                 .forces = CAROM_AT_MIDDLE, .gaps = CAROM_AT_MIDDLE, .directions = CAROM_AT_MIDDLE},
    .impulses = true,
    .stable = 2,
    .lanes = CAROM_LANE_MOREAU_MIDPOINT,
    .options = options,
    .work_size = sizeof(carom_midpoint),
    .allocate = allocate,
    .step = step,
};
