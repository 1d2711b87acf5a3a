// jerk.c: the velocity of a driven joint jumps: an impact of the joints, for schemes that do not locate events.
#include "sim/sim.h"
#include "scheme/inside.h"
#include "scheme/step.h"
#include <math.h>

static const double ROUNDINGS = 64; // of a local velocity: less is no jump of one

// Rates of the joints at t, with the present state, in u.
static carom_status rates(carom_sim *sim, double t, double *u) {
    carom_step *s = &sim->step;
    s->t = t;
    carom_close_kinds(s, &sim->all, CAROM_JOINTS);
    CAROM_TRY(carom_directions(s, &sim->all, t, sim->q));
    carom_local_velocity(u, &sim->all, sim->v);
    return CAROM_OK;
}

bool carom_sim_jerked(carom_sim *sim, double before, double behind) {
    const carom_step *s = &sim->step;
    const int ne = s->sys->ne;
    double *u = sim->jerk, *u_behind = u + sim->nl;
    if (ne == 0 || !s->sys->events->next_jump || s->sys->flags & CAROM_TIMELESS_GAPS || sim->scheme->accounts_power ||
        sim->scheme->limitations & CAROM_NO_STEP_CHANGE)
        return false;
    if (rates(sim, before, u) != CAROM_OK || rates(sim, behind, u_behind) != CAROM_OK) return false;
    const double rounding = carom_local_velocity_rounding(s, &sim->all, sim->v);
    bool some = false;
    for (int b = 0; b < ne; ++b) some = some || fabs(u_behind[b] - u[b]) > ROUNDINGS * rounding;
    return some;
}

// (JT-4)  v+ = v + M^-1 W p,  W'v+ + w+ = 0 over all joints;  lost: -1/2 (u + u+) p,  work of the drive: -w+ p
static carom_status strike(carom_sim *sim, double t) {
    carom_step *s = &sim->step;
    carom_local *L = &sim->all;
    double *u = sim->jerk, *u_1 = u + sim->nl;
    s->scale = sim->kept->speed;
    s->contact.last = s->contact.most = s->contact.scale = s->contact.refused = 0;
    CAROM_TRY(rates(sim, t, u));
    CAROM_TRY(carom_mass_factor(s, &s->inside->F_free, t, sim->q));
    carom_problem_form(s, L, L, &s->inside->F_free, 1);
    carom_copy(s->c, u, L->at[L->nb]);
    CAROM_TRY(carom_problem_solve(s, L));
    carom_problem_apply(s, sim->v, 1);
    carom_local_velocity(u_1, L, sim->v);
    s->record.account = (carom_account){0};
    s->record.t = t;
    carom_account_impulses(s, L, s->problem.p, u, u_1);
    carom_account_struck_joints(s, L, s->problem.p, u, u_1);
    return CAROM_OK;
}

// Do the joints, whose rates behind the jump were computed last, move as they must there?  The step before has passed
// it.
static bool struck_already(const carom_sim *sim) {
    return carom_norm_max(sim->jerk + sim->nl, sim->step.sys->ne) <=
           ROUNDINGS * carom_local_velocity_rounding(&sim->step, &sim->all, sim->v);
}

carom_status carom_sim_jerk(carom_sim *sim, double before, double behind, carom_error *err) {
    if (!carom_sim_jerked(sim, before, behind) || struck_already(sim)) return CAROM_OK;
    const carom_status status = strike(sim, behind);
    if (status == CAROM_SINGULAR) return CAROM_OK; // without inertia: the scheme's business
    if (status != CAROM_OK)
        return carom_fail(err, status == CAROM_RETRY ? CAROM_NOT_CONVERGED : status, "%s", sim->error.text);
    carom_sim_account_step(sim);
    return CAROM_OK;
}
