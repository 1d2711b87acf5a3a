// moreau_explicit.c: the classic explicit time-stepping scheme of Moreau and Jean.
//
// Spec: docs/METHODS.md, section MEX.  Forces are seen at the old state, contacts at the new position;
// the velocity before the impact is taken at the old one.  First order everywhere, closed gaps drift,
// and oscillators gain energy: a forward Euler step stands behind it.  forces=end sees forces at the new position as
// well: then symplectic Euler stands behind it, and undamped oscillators are stable up to h omega = 2.
#include "scheme/bent.h"
#include "scheme/step.h"

enum { OPT_FORCES };
static const double STEPS = 1024; // in which a lasting contact may drift open, h^2/2 of its curvature in each
static const carom_option options[] = {
    {.name = "forces", .kind = CAROM_CHOICE, .choices = "start|end",
     .about = "forces are evaluated at the old position, or at the new one (with the old velocity): stable for "
              "oscillations, h omega < 2"},
    {0},
};

typedef struct work {
    carom_factor F_0, F_1;     // M(q_0), M(q_1)
    carom_local L_0, L_1;      // all constraints at q_0; the active ones at q_1
    double *q_1, *v_f, *a;     // new position, velocity if nothing touched, acceleration
    double *g;                 // forecast gaps
    double *g_1, *held;        // at q_0 + h/2 v_0; by the features at q_0
    bool *meets, *ends;        // by id: forecast as closed
    carom_bent bent;           // of L_1
    double *u_all;             // local velocities of all constraints at (q_0, v_0)
    double *u_0, *u;           // of the active ones: before; free, then after
} work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)keep, (void)opt;
    work *w = memory;
    w->F_0 = carom_allocate_factor(mem, sys->mass_shape, true);
    w->F_1 = carom_allocate_factor(mem, sys->mass_shape, true);
    w->L_0 = carom_allocate_local(mem, sys);
    w->L_1 = carom_allocate_local(mem, sys);
    w->bent = carom_allocate_bent(mem, sys);
    w->q_1 = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &w->v_f, &w->a);
    const size_t all = (size_t)(sys->ne + sys->nc);
    CAROM_ALLOCATE(mem, all, &w->g, &w->g_1, &w->held);
    w->meets = carom_allocate_bytes(mem, all * sizeof(bool));
    w->ends = carom_allocate_bytes(mem, all * sizeof(bool));
    const size_t nl = (size_t)w->L_0.W.n;
    CAROM_ALLOCATE(mem, nl, &w->u_all, &w->u_0, &w->u);
}

// (MEX-7)  A gap that is open at q_0 and forecast as closed belongs to features, which may end before they meet,
//          (CL-12): then the gap at q_0 + h/2 v_0 counts instead.
static carom_status look_ahead(work *w, carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    const double t = s->t + 0.5 * s->h;
    bool some = false;
    if (!s->sys->events->freeze) return CAROM_OK;
    for (int id = ne; id < ne + nc; ++id) {
        w->meets[id] = w->g[id] <= 0 && w->g[id] > 0.5 * s->h * w->u_all[w->L_0.at[id]];
        some = some || w->meets[id];
    }
    if (!some) return CAROM_OK;
    carom_move(s, w->q_1, s->q, 0.5 * s->h, s->v);
    CAROM_TRY(carom_gaps(s, w->g_1, t, w->q_1));
    for (int id = ne; id < ne + nc; ++id) w->ends[id] = w->meets[id];
    CAROM_TRY(carom_run_off(s, &w->L_0, (carom_evaluation_point){.t = s->t, .q = s->q},
                            (carom_evaluation_point){.t = t, .q = w->q_1}, w->g_1, w->held, w->meets));
    for (int id = ne; id < ne + nc; ++id)
        if (w->ends[id] && !w->meets[id]) w->g[id] = w->g_1[id];
    carom_move(s, w->q_1, s->q, s->h, s->v);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    const int nv = s->sys->nv, all = s->sys->ne + s->sys->nc;
    const double h = s->h, t_0 = s->t, t_1 = s->t + h;
    double *q = s->q, *v = s->v;

    // (MEX-1)  q_1 = q_0 + h v_0
    carom_move(s, w->q_1, q, h, v);

    // (MEX-3)  v_f = v_0 + h M_0^-1 f(t_0, q_0, v_0);  (MEX-6)  forces=end:  v_f = v_0 + h M_1^-1 f(t_1, q_1, v_0)
    const bool end = s->opt[OPT_FORCES] == 1;
    bool found = false;
    carom_close_kinds(s, &w->L_0, CAROM_JOINTS | CAROM_CONTACTS);
    if (end) CAROM_TRY(carom_motion_factor(s, &w->F_1, w->a, NULL, t_1, w->q_1, v));
    else CAROM_TRY(carom_motion_ahead(s, &w->F_0, w->a, all > 0 ? w->g : NULL, &w->L_0, &found, t_0, q, v));
    carom_factor_solve(end ? &w->F_1 : &w->F_0, w->a);
    carom_add(w->v_f, v, h, w->a, nv);

    // (MEX-2)  I = { j : g_j(q_0) + h/2 u_Nj(q_0, v_0) <= 0 }
    if (end) CAROM_TRY(carom_gaps(s, w->g, t_0, q));
    if (!found) CAROM_TRY(carom_directions(s, &w->L_0, t_0, q));
    carom_local_velocity_shared(s, w->u_all, &w->L_0, v);
    for (int id = 0; id < all; ++id) w->g[id] += 0.5 * h * w->u_all[w->L_0.at[id]];
    CAROM_TRY(look_ahead(w, s));
    CAROM_TRY(carom_close_place(s, &w->L_1, w->g,
                                (carom_evaluation_point){.t = t_0, .q = q, .v = v, .f = w->a, .steps = STEPS}));

    if (w->L_1.nb > 0) {
        // (MEX-4)  p solves CP over I,  G = W_1' M_1^-1 W_1,  c = W_1' v_f + e o u(q_0, v_0)
        if (!end) CAROM_TRY(carom_mass_factor(s, &w->F_1, t_1, w->q_1));
        CAROM_TRY(carom_directions(s, &w->L_1, t_1, w->q_1));
        carom_local_pick(w->u_0, &w->L_1, w->u_all, &w->L_0);
        const carom_evaluation_point at = {.t = t_1, .q = w->q_1, .v = v, .f = w->a};
        CAROM_TRY(carom_bent_find(&w->bent, s, w->u_0, &w->L_1, at));
        CAROM_TRY(carom_bent_leave(&w->bent, s, w->u_0, &w->L_1, at));
        carom_local_velocity_shared(s, w->u, &w->L_1, w->v_f);
        CAROM_TRY(carom_problem_step(s, &w->L_1, &w->F_1, w->u, w->u_0));

        // (MEX-5)  v_1 = v_f + M_1^-1 W_1 p
        carom_problem_apply(s, w->v_f, 1);
        carom_local_velocity_shared(s, w->u, &w->L_1, w->v_f);
        carom_account_impulses(s, &w->L_1, s->problem.p, w->u_0, w->u);
    }
    carom_copy(v, w->v_f, nv);
    carom_copy(q, w->q_1, s->sys->nq);
    return CAROM_OK;
}

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
    .work_size = sizeof(work),
    .allocate = allocate,
    .step = step,
};
