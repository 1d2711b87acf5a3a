// times.c: times of a run: what counts as one instant, where the system has jumps, kinks and short pulses, which step
// is the last.
#include "base/tolerance.h"
#include "sim/sim.h"
#include <math.h>

// Rounding of a few operations on a time; near 0 of a part of the step.
double carom_sim_instant(const carom_sim *sim, double t) {
    static const double NEAR_ZERO = 1e-3;
    return CAROM_ROUNDING * fmax(fabs(t), NEAR_ZERO * sim->h);
}

double carom_sim_jump(const carom_sim *sim, double t_0, double t_1) {
    const carom_system *sys = sim->sys;
    return sys->events->next_jump ? sys->events->next_jump(sys->model, sim->step.sys_work, t_0, t_1) : HUGE_VAL;
}

double carom_sim_even(const carom_sim *sim, bool inside, double t_0, double t_1) {
    // of what a function does in the run: in a step; in parts of it, by which works are accounted
    static const double MUCH = 0.5, LITTLE = 1.0 / 32;
    const carom_system *sys = sim->sys;
    const double run[2] = {sim->t0, sim->t_end};
    // a tolerance; works of single forces have none
    const bool follows = sim->control.on || (sim->scheme->controls_own_steps && !sys->accounts->works);
    return sys->events->limit_step && (follows || sim->scheme->accounts_power)
               ? sys->events->limit_step(sys->model, sim->step.sys_work, run,
                                         follows  ? 1
                                         : inside ? LITTLE
                                                  : MUCH,
                                         t_0, t_1)
               : t_1;
}

// T/h counts as whole when it is so up to CAROM_INSTANT.
long carom_sim_last_step(const carom_sim *sim, const carom_kept *k) {
    const double steps = (sim->t_end - k->from_t) / sim->h, nearest = round(steps);
    if (!(steps > -1 && steps < CAROM_MOST_STEPS)) return -1;
    const bool whole = (nearest >= 1 || k->from_n > 0) && fabs(steps - nearest) <= CAROM_INSTANT * fmax(1, nearest);
    return k->from_n + (long)(whole ? nearest : ceil(steps));
}
