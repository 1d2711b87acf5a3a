// jumps.c: times at which forces, walls or energies jump or have a kink, as the system knows them.
//
// A comparison like t > c has its old value at c, t >= c the new one, and the slope of |t - c| neither.  So steps end before such times and begin behind them.
#include "sim/sim.h"
#include <float.h>
#include <math.h>

double carom_sim_instant(const carom_sim *sim, double t) { return 4 * DBL_EPSILON * fmax(fabs(t), 1e-3 * sim->h); }

double carom_sim_jump(const carom_sim *sim, double t_0, double t_1) {
    const carom_system *sys = sim->sys;
    return sys->jump ? sys->jump(sys->model, sim->step.sys_work, t_0, t_1) : HUGE_VAL;
}

double carom_sim_even(const carom_sim *sim, bool inside, double t_0, double t_1) {
    static const double MUCH = 0.5, LITTLE = 1.0 / 32;
    const carom_system *sys = sim->sys;
    const double run[2] = {sim->t0, sim->t_end};
    const bool follows = sim->control.on || (sim->scheme->own_steps && !sys->works); // a tolerance; works of single forces have none
    return sys->even && (follows || sim->scheme->powers) ? sys->even(sys->model, sim->step.sys_work, run, follows ? 1 : inside ? LITTLE : MUCH, t_0, t_1) : t_1;
}

// Power of forces that no scheme has booked: the trapezoidal rule over the h before a jump.
static carom_status book_power(carom_sim *sim, double h, carom_error *err) {
    carom_kept *k = sim->kept;
    double in, out;
    if (sim->scheme->powers) return CAROM_OK;
    CAROM_TRY(carom_sim_observe(sim, &in, &out, err));
    k->ledger.energy.external += 0.5 * h * (k->power_in + in);
    k->ledger.energy.damping += 0.5 * h * (k->power_out + out);
    k->power_in = in;
    k->power_out = out;
    return CAROM_OK;
}

// Books from one side to the other: what the jump adds to the energy is external work.
carom_status carom_sim_pass(carom_sim *sim, double h, double before, double behind, carom_error *err) {
    carom_kept *k = sim->kept;
    const double t = k->t;
    double T[2], V[2];
    k->t = before;
    carom_status status = carom_sim_book_works(sim, h, err);
    if (status == CAROM_OK) status = book_power(sim, h, err);
    if (status == CAROM_OK) status = carom_sim_energy(sim, &T[0], &V[0], err);
    k->t = behind;
    if (status == CAROM_OK) status = carom_sim_energy(sim, &T[1], &V[1], err);
    if (status == CAROM_OK) status = carom_sim_book_works(sim, 0, err);
    if (status == CAROM_OK) status = book_power(sim, 0, err);
    k->t = t;
    CAROM_TRY(status);
    const bool starts = k->n == 0 && behind <= t + 8 * carom_sim_instant(sim, t);
    *(!starts ? &k->ledger.energy.external : &k->ledger.energy.start) += (T[1] + V[1]) - (T[0] + V[0]);
    sim->behind = behind;
    return CAROM_OK;
}
