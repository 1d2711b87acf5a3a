// core_alone.c: a ball in C callbacks, simulated with nothing but carom_core, libc and libm.
//
// Dropped from height H with restitution e it stops bouncing at T = sqrt(2 H/g) (1 + e)/(1 - e); then it rests,
// and all its energy but the resting part is booked as impact loss.
#include <carom/sim.h>
#include <carom/system.h>
#include <math.h>
#include <stdio.h>

static const double g = 9.81, m = 2, H = 1;

static carom_status mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t, (void)q;
    *carom_matrix_entry(M, 0, 0) = m;
    return CAROM_OK;
}

static carom_status force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t, (void)q, (void)v;
    f[0] = -m * g;
    return CAROM_OK;
}

static carom_status gaps(const void *model, void *work, double t, const double *q, double *gap) {
    (void)model, (void)work, (void)t;
    gap[0] = q[0];
    return CAROM_OK;
}

static carom_status directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    for (int b = 0; b < L->nb; ++b) L->W.a[L->at[b]] = 1;
    return CAROM_OK;
}

int main(void) {
    const carom_contact contact = {.restitution = 0.5};
    carom_system sys = carom_system_default(1, 1, 0, 1);
    sys.contacts = &contact;
    sys.mass = mass;
    sys.force = force;
    sys.gaps = gaps;
    sys.directions = directions;

    const double q0 = H, v0 = 0, h = 1e-3, T = sqrt(2 * H / g) * 3;
    carom_sim_def def = carom_sim_default();
    def.system = &sys;
    def.scheme = "moreau-midpoint";
    def.h = h;
    def.t_end = 1.5 * T;
    def.q0 = &q0;
    def.v0 = &v0;
    carom_error err = {0};
    carom_sim *sim = carom_sim_create(&def, &err);
    const bool done = sim && carom_sim_run(sim, NULL, NULL, &err) == CAROM_OK;
    carom_ledger *ledger = done ? carom_ledger_of_sim(sim, &err) : NULL;
    if (!ledger) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    const carom_now now = carom_sim_now(sim);
    // It falls at most one step too deep at the largest speed, and rests where it came to rest.
    const double speed = sqrt(2 * g * H);
    const int fine = fabs(now.q[0]) <= h * speed && fabs(now.v[0]) <= 2 * g * h &&
                     carom_ledger_number(ledger, "accumulations") == 1;
    printf("height %g, velocity %g, %g impacts, %g accumulations\n", now.q[0], now.v[0],
           carom_ledger_number(ledger, "impacts"), carom_ledger_number(ledger, "accumulations"));
    carom_ledger_free(ledger);
    carom_sim_destroy(sim);
    return fine ? 0 : 1;
}
