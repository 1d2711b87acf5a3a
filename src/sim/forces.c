// forces.c: what the forces of the present state can do in a step, as sizes that energies are compared with.
#include "sim/sim.h"
#include <math.h>
#include <stdlib.h>

carom_forces carom_sim_forces(const carom_sim *sim) {
    const carom_system *sys = sim->sys;
    double *v = sys->energy ? malloc((size_t)sys->nv * sizeof *v) : NULL, potential = 0;
    carom_forces x = {0};
    for (int i = 0; v && i < sys->nv; ++i) v[i] = 1;
    if (v && sys->energy(sys->model, sim->step.sys_work, sim->kept->t, sim->q, v, &x.unit, &potential) != CAROM_OK) x.unit = 0;
    if (v) carom_zero(v, sys->nv);
    if (x.unit > 0 && isfinite(x.unit) && sys->force(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->v, v) == CAROM_OK) {
        const double all = sys->nv * carom_norm_max(v, sys->nv);
        x.a = all / (2 * x.unit), x.work = all * carom_norm_max(sim->q, sys->nq);
    }
    free(v);
    return x;
}

double carom_sim_of_step(const carom_sim *sim, const carom_forces *x) {
    const double e = x->unit * sim->h * x->a * sim->h * x->a;
    return isfinite(e) ? e : 0;
}

double carom_sim_one_step(const carom_sim *sim) {
    const carom_forces x = carom_sim_forces(sim);
    return carom_sim_of_step(sim, &x);
}
