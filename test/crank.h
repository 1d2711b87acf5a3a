// crank.h: the slider-crank by a discrete map against printed values: h = 1e-4, e = 0.4.
//
// Perturbing the start by 1e-13 changes the printed values by less than 4e-12 (absolute); rounding of 1000 steps stays
// below that.  1e-10 leaves room for another order of operations.
#pragma once
#include "schemes.h"

typedef struct crank_values {
    double th1_a, E_a;        // t = 0.0026
    double th1_b, th2_b, E_b; // t = 0.05
    double th1_c, E_c;        // t = 0.1
} crank_values;

static inline void check_crank(const char *scheme, const char *const *options, double mu, crank_values r) {
    known k;
    known_slider_crank(&k, 1e-3, 0.4, mu, true);
    carom_sim *sim = sim_of(&k, scheme, options, 1e-4, 0.1);
    const double *q = carom_sim_now(sim).q;
    sim_to(sim, 0.0026);
    check_near(q[0], r.th1_a, 1e-12);
    check_near(sim_energy(sim), r.E_a, 1e-11);
    sim_to(sim, 0.05);
    check_near(q[0], r.th1_b, 1e-10);
    check_near(q[1], r.th2_b, 1e-10);
    check_near(sim_energy(sim), r.E_b, 1e-10);
    sim_to(sim, 0.1);
    check_near(q[0], r.th1_c, 1e-10);
    check_near(sim_energy(sim), r.E_c, 1e-10);
    assert_true(fabs(q[2]) < 1e-11); // both corners of a side close together: the slider never turns
    carom_sim_destroy(sim);
}
