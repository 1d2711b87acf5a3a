// moreau_midpoint.c: Moreau's midpoint rule.
//
// Spec: docs/METHODS.md, section MID.  Everything is seen once per step, half a step ahead; the cheapest
// scheme there is.  Forces take the old velocity, so it is first order where forces depend on velocity.
#include "scheme/moreau/moreau.h"
#include "scheme/stepping.h"

enum { OPT_LOCAL };
static const carom_option options[] = {
    {.name = "local", .kind = CAROM_CHOICE, .choices = "exact|paper",
     .about = "exact: one direction W_M for both local velocities; paper: u_0 at q_0, u_1 = u_0 + W_M'(v_1 - v_0)"},
    {0},
};

void carom_midpoint_allocate(carom_midpoint *w, carom_arena *mem, const carom_system *sys) {
    w->M = carom_allocate_stage(mem, sys, false);
    w->q_0 = carom_allocate(mem, (size_t)sys->nq);
    w->v_0 = carom_allocate(mem, (size_t)sys->nv);
    w->opened = carom_allocate(mem, (size_t)sys->nc);
    CAROM_ALLOCATE(mem, (size_t)w->M.L.W.n, &w->u_0, &w->u);
}

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)keep, (void)opt;
    carom_midpoint_allocate(memory, mem, sys);
}

// (MID-9)  Steps in which a gap of (MID-8) returns.  Closed in one it would leave as much residual in the velocities of
//          the next one, and no step would be solved by its start.
static const double RETURN = 20;

// (MID-8)  j reacted in the last step,  0 < g_j <= T h r:  j is closed, and g_j kept in `opened`
static void step_join(carom_midpoint *w, const carom_step *s) {
    const double r = carom_residual_accepted(s);
    double *g = w->M.g + s->sys->ne;
    w->returns = false;
    if (s->strict || !(r > 0)) return;
    for (int c = 0; c < s->sys->nc; ++c) {
        w->opened[c] = s->active[c] != 0 && g[c] > 0 && g[c] <= RETURN * s->h * r ? g[c] : 0;
        if (w->opened[c] > 0) g[c] = 0, w->returns = true;
    }
}

// (MID-5)  local=paper:  c = u_0 + W_M'(v_f - v_0) + e o u_0,  u_0 = W(q_0)' v_0
// (MID-9)  c_j += g_j/(T h)  for those of (MID-8)
static carom_status step_velocities_before(carom_midpoint *w, carom_step *s) {
    const carom_local *L = &w->M.L;
    double *u_0 = w->u_0, *u = w->u;
    if (w->paper) {
        carom_local *L_0 = &w->M.L_known; // free until the next step
        carom_local_velocity_shared(s, u_0, L, w->v_0);
        carom_axpy(u, -1, u_0, L->at[L->nb]);
        carom_local_same(L_0, L);
        CAROM_TRY(carom_directions(s, L_0, s->t, w->q_0));
        carom_local_velocity_shared(s, u_0, L_0, w->v_0);
        CAROM_TRY(carom_velocity_before(s, u_0, L, (carom_evaluation_point){.t = w->M.t, .q = s->q, .v = w->v_0}));
        carom_axpy(u, 1, u_0, L->at[L->nb]);
    }
    for (int b = s->sys->ne; b < L->nb && w->returns; ++b)
        u[L->at[b]] += w->opened[L->id[b] - s->sys->ne] / (RETURN * s->h);
    return CAROM_OK;
}

typedef carom_midpoint step_work;
#include "scheme/moreau/moreau_midpoint.inc"

void carom_midpoint_account(const carom_midpoint *w, carom_step *s) {
    if (w->M.L.nb > 0) carom_account_impulses(s, &w->M.L, s->problem.p, w->u_0, w->u);
}

carom_status carom_midpoint_take(carom_midpoint *w, carom_step *s, bool paper) {
    w->paper = paper;
    const carom_status status = step_whole(w, s);
    if (status == CAROM_OK) return CAROM_OK;
    carom_copy(s->q, w->q_0, s->sys->nq);
    carom_copy(s->v, w->v_0, s->sys->nv);
    return status;
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
