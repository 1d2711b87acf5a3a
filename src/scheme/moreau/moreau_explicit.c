// moreau_explicit.c: the classic explicit time-stepping scheme of Moreau and Jean.
//
// Spec: docs/METHODS.md, section MEX.  Forces are seen at the old state, contacts at the new position;
// the velocity before the impact is taken at the old one.  First order everywhere, closed gaps drift,
// and oscillators gain energy: a forward Euler step stands behind it.  forces=end sees forces at the new position as
// well: then symplectic Euler stands behind it, and undamped oscillators are stable up to h omega = 2.
#include "scheme/bent.h"
#include "scheme/stepping.h"

enum { OPT_FORCES };
static const double STEPS = 1024; // in which a lasting contact may drift open, h^2/2 of its curvature in each
static const carom_option options[] = {
    {.name = "forces", .kind = CAROM_CHOICE, .choices = "start|end",
     .about = "forces are evaluated at the old position, or at the new one (with the old velocity): stable for "
              "oscillations, h omega < 2"},
    {0},
};

typedef struct step_work {
    carom_stage E;             // the active set at q_1; a: acceleration, g: forecast gaps
    carom_factor F_0;          // M(q_0)
    carom_local L_0;           // all constraints at q_0
    bool directed;             // L_0 has its directions
    double *q_1, *v_f;         // new position, velocity if nothing touched
    double *g_1, *held;        // at q_0 + h/2 v_0; by the features at q_0
    bool *meets, *ends;        // by id: forecast as closed
    carom_bent bent;           // of E
    double *u_all;             // local velocities of all constraints at (q_0, v_0)
    double *u_0, *u;           // of the active ones: before; free, then after
} step_work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)keep, (void)opt;
    step_work *w = memory;
    w->F_0 = carom_allocate_factor(mem, sys->mass_shape, true);
    w->E.F = carom_allocate_factor(mem, sys->mass_shape, true);
    w->L_0 = carom_allocate_local(mem, sys);
    w->E.L = carom_allocate_local(mem, sys);
    w->bent = carom_allocate_bent(mem, sys);
    w->q_1 = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &w->v_f, &w->E.a);
    const size_t all = (size_t)(sys->ne + sys->nc);
    CAROM_ALLOCATE(mem, all, &w->E.g, &w->g_1, &w->held);
    w->meets = carom_allocate_bytes(mem, all * sizeof(bool));
    w->ends = carom_allocate_bytes(mem, all * sizeof(bool));
    const size_t nl = (size_t)w->L_0.W.n;
    CAROM_ALLOCATE(mem, nl, &w->u_all, &w->u_0, &w->u);
}

// (MEX-7)  A gap that is open at q_0 and forecast as closed belongs to features, which may end before they meet,
//          (CL-12): then the gap at q_0 + h/2 v_0 counts instead.
static carom_status step_look_ahead(step_work *w, carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    const double t = s->t + 0.5 * s->h;
    bool some = false;
    if (!s->sys->events->freeze) return CAROM_OK;
    for (int id = ne; id < ne + nc; ++id) {
        w->meets[id] = w->E.g[id] <= 0 && w->E.g[id] > 0.5 * s->h * w->u_all[w->L_0.at[id]];
        some = some || w->meets[id];
    }
    if (!some) return CAROM_OK;
    carom_move(s, w->q_1, s->q, 0.5 * s->h, s->v);
    CAROM_TRY(carom_gaps(s, w->g_1, t, w->q_1));
    for (int id = ne; id < ne + nc; ++id) w->ends[id] = w->meets[id];
    CAROM_TRY(carom_run_off(s, &w->L_0, (carom_evaluation_point){.t = s->t, .q = s->q},
                            (carom_evaluation_point){.t = t, .q = w->q_1}, w->g_1, w->held, w->meets));
    for (int id = ne; id < ne + nc; ++id)
        if (w->ends[id] && !w->meets[id]) w->E.g[id] = w->g_1[id];
    carom_move(s, w->q_1, s->q, s->h, s->v);
    return CAROM_OK;
}

// M^-1 f, (MEX-3);  (MEX-6)  forces=end:  v_f = v_0 + h M_1^-1 f(t_1, q_1, v_0)
static carom_status step_free_motion(step_work *w, carom_step *s) {
    const bool end = s->opt[OPT_FORCES] == 1;
    double *g = step_constraints(s) > 0 ? w->E.g : NULL;
    w->directed = false;
    carom_close_kinds(s, &w->L_0, CAROM_JOINTS | CAROM_CONTACTS);
    if (end) CAROM_TRY(carom_motion_factor(s, &w->E.F, w->E.a, NULL, s->t + s->h, w->q_1, s->v));
    else CAROM_TRY(carom_motion_ahead(s, &w->F_0, w->E.a, g, &w->L_0, &w->directed, s->t, s->q, s->v));
    carom_factor_solve(end ? &w->E.F : &w->F_0, w->E.a);
    return CAROM_OK;
}

// Gaps at q_0, and u(q_0, v_0) of all constraints.
static carom_status step_rates(step_work *w, carom_step *s) {
    if (s->opt[OPT_FORCES] == 1) CAROM_TRY(carom_gaps(s, w->E.g, s->t, s->q));
    if (!w->directed) CAROM_TRY(carom_directions(s, &w->L_0, s->t, s->q));
    carom_local_velocity_shared(s, w->u_all, &w->L_0, s->v);
    return CAROM_OK;
}
static int step_first_row(const step_work *w, int id) { return w->L_0.at[id]; }

static carom_status step_forecast(step_work *w, carom_step *s) {
    return carom_close_place(
        s, &w->E.L, w->E.g,
        (carom_evaluation_point){.t = s->t, .q = s->q, .v = s->v, .f = w->E.a, .steps = STEPS});
}

// M_1, W_1, and the velocities before of those that meet no kink on the way.
static carom_status step_arrive(step_work *w, carom_step *s) {
    const carom_evaluation_point at = {.t = s->t + s->h, .q = w->q_1, .v = s->v, .f = w->E.a};
    if (s->opt[OPT_FORCES] == 0) CAROM_TRY(carom_mass_factor(s, &w->E.F, at.t, w->q_1));
    CAROM_TRY(carom_directions(s, &w->E.L, at.t, w->q_1));
    carom_local_pick(w->u_0, &w->E.L, w->u_all, &w->L_0);
    CAROM_TRY(carom_bent_find(&w->bent, s, w->u_0, &w->E.L, at));
    return carom_bent_leave(&w->bent, s, w->u_0, &w->E.L, at);
}

#include "scheme/moreau/moreau_explicit.inc"

static carom_status step(void *memory, carom_step *s) { return step_whole(memory, s); }

const carom_scheme carom_scheme_moreau_explicit = {
    .name = "moreau-explicit",
    .about = "the classic explicit Moreau-Jean scheme, contact at the new position",
    .text = "q_1 = q_0 + h v_0\n"
            "active: g(q_0) + h/2 u_N(q_0, v_0) <= 0\n"
            "v_1 = v_0 + h M_0^-1 f_0 + M_1^-1 W_1 p,   Newton's law between u(q_0, v_0) and u(q_1, v_1)\n\n"
            "First order.  One force evaluation and one contact problem per step.  Energy grows in oscillations\n"
            "(forward Euler; not with forces=end), closed gaps drift linearly in time, contact forces appear only as\n"
            "impulses of each step.",
    .order = 1,
    .promises = {.limited_steps = true, .option = "forces=end",
                 .forces = CAROM_AT_START, .gaps = CAROM_AT_START, .directions = CAROM_AT_START | CAROM_AT_END},
    .impulses = true,
    .follows_features = true,
    .lanes = CAROM_LANE_MOREAU_EXPLICIT,
    .options = options,
    .work_size = sizeof(step_work),
    .allocate = allocate,
    .step = step,
};
