// forces.c: what the forces of the present state can do in a step, as sizes that energies are compared with.
//
// Coordinates may be lengths and angles, and the unit of length is anybody's choice: energies are sums over coordinates
// of terms that are energies each.
#include "sim/sim.h"
#include <math.h>
#include <stdlib.h>

// (BK-6)  nv max 1/2 f_i^2/M_ii: the kinetic energy that forces give to what is at rest, over the square of the time,
// had every coordinate as much as that which has most.
static double power_of(const carom_sim *sim, const double *f) {
    carom_step s = sim->step;
    carom_error ignored = {0};
    double most = 0;
    s.err = &ignored;
    if (carom_mass(&s, s.M, sim->kept->t, sim->q) != CAROM_OK) return 0;
    for (int i = 0; i < sim->sys->nv; ++i) {
        const double m = *carom_matrix_entry(s.M, i, i);
        if (m > 0) most = fmax(most, 0.5 * f[i] * f[i] / m);
    }
    return sim->sys->nv * most;
}

carom_forces carom_sim_forces(const carom_sim *sim) {
    const carom_system *sys = sim->sys;
    double *v = sys->energy ? malloc((size_t)sys->nv * sizeof *v) : NULL, potential = 0;
    carom_forces x = {0};
    for (int i = 0; v && i < sys->nv; ++i) v[i] = 1;
    if (v && sys->energy(sys->model, sim->step.sys_work, sim->kept->t, sim->q, v, &x.unit, &potential) != CAROM_OK)
        x.unit = 0;
    if (v) carom_zero(v, sys->nv);
    if (x.unit > 0 && isfinite(x.unit) &&
        sys->force(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->v, v) == CAROM_OK) {
        const double all = sys->nv * carom_size_moving(sys, v, sys->nv);
        x.a = all / (2 * x.unit), x.work = all * carom_size_moving(sys, sim->q, sys->nq);
        x.power = power_of(sim, v);
    }
    free(v);
    return x;
}

double carom_sim_of_step(const carom_sim *sim, const carom_forces *x) {
    const double e = sim->h * sim->h * x->power;
    return isfinite(e) ? e : 0;
}

double carom_sim_one_step(const carom_sim *sim) {
    const carom_forces x = carom_sim_forces(sim);
    return carom_sim_of_step(sim, &x);
}
