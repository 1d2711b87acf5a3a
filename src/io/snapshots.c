// snapshots.c: see snapshots.h.
#include "base/tolerance.h"
#include "io/snapshots.h"
#include "sim/inspect.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

long snapshots_due(double t, double dt, double h) {
    return (long)fmin(floor((t + CAROM_INSTANT * h) / dt), CAROM_MOST_STEPS);
}

// Force on the first shape: normal and friction; rolling and spinning give torques.
static void force_of(const carom_touch *x, const double *f, int directions, int dim, double *force) {
    for (int i = 0; i < 3; ++i) force[i] = f[0] * x->normal[i];
    for (int k = 1; k < directions && k < dim; ++k)
        for (int i = 0; i < 3; ++i) force[i] += f[k] * x->tangent[k - 1][i];
}

carom_status snapshot_take(const carom_model *m, carom_sim *sim, const carom_now *now, snapshot_put *put, void *to,
                           carom_error *err) {
    const carom_system *sys = carom_sim_system(sim);
    for (int id = sys->ne; id < sys->ne + sys->nc; ++id) {
        const double *f = now->lasting + now->dir[id];
        carom_touch x;
        if ((now->gap[id] > 0 && f[0] == 0) || !carom_model_touch(m, carom_sim_work(sim), now->t, now->q, id, &x))
            continue;
        carom_result_contact c = {.t = now->t, .gap = now->gap[id]};
        memcpy(c.point, x.point, sizeof c.point);
        memcpy(c.normal, x.normal, sizeof c.normal);
        force_of(&x, f, now->dir[id + 1] - now->dir[id],
                 x.tangent[1][0] != 0 || x.tangent[1][1] != 0 || x.tangent[1][2] != 0 ? 3 : 2, c.force);
        snprintf(c.contact, sizeof c.contact, "%s", carom_model_constraint(m, carom_sim_known_as(sim, id)));
        CAROM_TRY(put(to, &c, err));
    }
    return CAROM_OK;
}
