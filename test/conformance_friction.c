// conformance_friction.c: every scheme with friction through the same physics: stick, slip, sliding, in the plane and
// in space.
#include "schemes.h"

// One contact on a slope holds when mu >= tan(angle).  A part in 1e9 on either side must be told apart, for bodies of a
// millimetre and of a kilometre.  Contact problems are solved to 1e-12 of the largest local velocity h g: after N steps
// a body that sticks has crept with at most N 1e-12 h g; one that slips has N h g (sin - mu cos) = N h g sin 1e-9, at
// least a hundred times that.
static void check_threshold(const carom_scheme *s, double L, double angle, double side, bool spatial) {
    enum { N = 100 };
    known k;
    const double mu = tan(angle) * (1 + side * 1e-9), h = 1e-2 * sqrt(L / 9.81), g = 9.81;
    if (spatial)
        known_slope_spatial(&k, L, angle, mu, 0.7);
    else
        known_slope(&k, L, angle, mu);
    carom_sim *sim = sim_of(&k, s->name, NULL, h, N * h);
    double v = NAN; // at the last step that saw the contact; a gap of rounding size may hide it for one
    long n = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        if (!(now.impulse[0] > 0 || now.force[0] > 0)) continue;
        n = now.step;
        v = now.v[0];
        if (spatial) { // along the line of steepest descent, 0.8 t1 + 0.6 t2
            v = 0;
            for (int i = 0; i < 3; ++i) v += now.v[i] * (0.8 * k.frame[3 + i] + 0.6 * k.frame[6 + i]);
        }
    }
    scheme_true(s->name, n > N - 3);
    const double rounding = N * 1e-12 * h * g, slip = side > 0 ? 0 : (double)n * h * g * (sin(angle) - mu * cos(angle));
    scheme_near(s->name, v, slip, rounding);
    if (side < 0) scheme_true(s->name, slip > 90 * rounding);
    carom_sim_destroy(sim);
}

static void slope_holds_or_lets_go_at_the_friction_angle(void **state) {
    (void)state;
    static const double sizes[] = {1e-3, 1, 1e3}, angles[] = {0.1, 0.5, 1.2};
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_FRICTION)) continue;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                for (int space = 0; space < 2; ++space) {
                    check_threshold(s, sizes[i], angles[j], 1, space);
                    check_threshold(s, sizes[i], angles[j], -1, space);
                }
    }
}

// On a level floor with constant weight the discrete sliding velocity is exact: v = v_0 - mu g t.  The position is
// wrong by at most one-sided sampling of that velocity, h/2 |v_0|.  At t = v_0/(mu g) it stops and stays.
static void sliding_slows_down_with_mu_g(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_FRICTION)) continue;
        known k;
        const double mu = 0.3, v_0 = 2, h = 1.7e-3, a = mu * 9.81;
        known_slope(&k, 1, 0, mu);
        k.v0[0] = v_0;
        carom_sim *sim = sim_of(&k, s->name, NULL, h, h * 600);
        bool stuck = false;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            const double stop = v_0 / a;
            if (now.t < stop - h) {
                scheme_near(s->name, now.v[0], v_0 - a * now.t, 1e-11);
                scheme_near(s->name, now.q[0], v_0 * now.t - 0.5 * a * now.t * now.t, h * v_0 / 2);
                scheme_near(s->name, now.impulse[1], -mu * now.impulse[0], 1e-13);
            } else if (now.t > stop + h) {
                scheme_near(s->name, now.v[0], 0, 1e-12);
                scheme_near(s->name, now.impulse[1], 0, 1e-12);
            }
            for (int i = 0; i < now.nevents; ++i)
                stuck = stuck || (now.events[i].kind == CAROM_STICK && fabs(now.t - stop) < 2.5 * h);
        }
        const carom_ledger l = sim_ledger(sim);
        scheme_true(s->name, stuck);
        // in the step that stops it speed and change of speed are below a h: its work is known to that
        scheme_near(s->name, l.energy.friction, 0.5 * v_0 * v_0, a * h * a * h);
        scheme_near(s->name, l.energy.impact, 0, 1e-12);
        carom_sim_destroy(sim);
    }
}

static void spatial_friction_opposes_the_motion(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_FRICTION)) continue;
        known k;
        const double mu = 0.3, speed = 2, h = 1e-3, way = 0.9;
        known_slope_spatial(&k, 1, 0, mu, 1.1);
        double d[3]; // direction of motion, turned by `way` against the first tangent
        for (int i = 0; i < 3; ++i) d[i] = cos(way) * k.frame[3 + i] + sin(way) * k.frame[6 + i];
        for (int i = 0; i < 3; ++i) k.v0[i] = speed * d[i];
        carom_sim *sim = sim_of(&k, s->name, NULL, h, 0.5);
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            // In a turned frame the gap is zero to rounding only.  A step that finds it open falls freely; the next one
            // makes up for it, so the velocity lags by the friction of one step at most.
            const double v = carom_dot(now.v, d, 3), v_N = carom_dot(now.v, k.frame, 3);
            scheme_near(s->name, v, speed - mu * 9.81 * now.t, 1.001 * mu * 9.81 * h);
            scheme_near(s->name, v_N, 0, 1.001 * 9.81 * h);
            for (int i = 0; i < 3; ++i) scheme_near(s->name, now.v[i] - v_N * k.frame[i], v * d[i], 1e-11);
            scheme_near(s->name, hypot(now.impulse[1], now.impulse[2]), mu * now.impulse[0], 1e-12);
        }
        carom_sim_destroy(sim);
    }
}

// Oblique impact on a level floor: sliding through the impact, the tangential impulse is mu times the normal one.
static void oblique_impact_slides_or_sticks(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_FRICTION)) continue;
        static const struct {
            double mu, v_x, expected;
        } cases[] = {
            {0.1, 3, 3 - 0.1 * 1.5}, // p_N = (1 + e) m |v_y| = 1.5, and slip remains
            {0.5, 0.4, 0},           // enough to stop it
            {0.1, -3, -3 + 0.1 * 1.5},
        };
        for (int i = 0; i < 3; ++i) {
            known k;
            known_slope(&k, 1, 0, cases[i].mu);
            k.par[3] = 0; // no gravity
            k.contact[0].restitution = 0.5;
            k.q0[1] = 0.1;
            k.v0[0] = cases[i].v_x;
            k.v0[1] = -1;
            carom_sim *sim = sim_of(&k, s->name, NULL, 0.0073, 0.0073 * 30);
            while (!carom_sim_done(sim)) sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            scheme_near(s->name, now.v[0], cases[i].expected, 1e-12);
            scheme_near(s->name, now.v[1], 0.5, 1e-12);
            const carom_ledger l = sim_ledger(sim);
            scheme_near(s->name, l.energy.impact, 0.5 * (1 - 0.25), 1e-12);
            scheme_near(s->name, l.energy.friction, 0.5 * (cases[i].v_x * cases[i].v_x - now.v[0] * now.v[0]), 1e-12);
            scheme_near(s->name, l.energy.balance, 0, 1e-12);
            carom_sim_destroy(sim);
        }
    }
}

// Energy with friction only falls in sliding contact, and impulses stay in the cone.
static void slider_crank_with_friction_loses_energy_at_the_walls(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_FRICTION)) continue;
        known k;
        known_slider_crank(&k, 1e-3, 0.4, 0.01, false);
        carom_sim *sim = sim_of(&k, s->name, NULL, 1e-5, 0.02);
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            for (int c = 0; c < 4; ++c) {
                const double *p = now.impulse + now.dir[c];
                scheme_true(s->name, p[0] >= 0 && fabs(p[1]) <= 0.01 * p[0] * (1 + 1e-9) + 1e-15);
            }
        }
        // reference by event-driven integration: E(0.01) = 7.4495 with, 7.4648 without friction
        const carom_ledger l = sim_ledger(sim);
        scheme_true(s->name, l.energy.friction > 5e-3 && l.energy.friction < 5e-2);
        carom_sim_destroy(sim);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slope_holds_or_lets_go_at_the_friction_angle),
        cmocka_unit_test(sliding_slows_down_with_mu_g),
        cmocka_unit_test(spatial_friction_opposes_the_motion),
        cmocka_unit_test(oblique_impact_slides_or_sticks),
        cmocka_unit_test(slider_crank_with_friction_loses_energy_at_the_walls),
    };
    return cmocka_run_group_tests_name("schemes: friction", tests, NULL, NULL);
}
