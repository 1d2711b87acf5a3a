// test_sweep.c: contacts of flexible members: places that sweep along them, and beams that hit stops.
#include "model_text.h"
#include <carom/event.h>

static carom_ledger ledger_of(carom_sim *s) {
    carom_error err = {0};
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(s, &l, &err), CAROM_OK);
    return l;
}

static int index_of(const carom_model *m, const char *name) {
    for (int i = 0; i < carom_model_count(m).coordinates; ++i)
        if (strcmp(carom_model_coordinate(m, i), name) == 0) return i;
    fail_msg("there is no %s", name);
    return -1;
}

// -- geometry -----------------------------------------------------------------------------------------------------

static void tell(void *user, carom_finding kind, const char *sentence) {
    if (kind == CAROM_FAULT) fail_msg("%s", sentence);
    if (strstr(sentence, "derivatives agree")) *(bool *)user = true;
}

// Nodes at (0, 0), (3, 4), (3, 14); the place is right of the first element by 1, one third along it.
static void gaps_are_distances_to_the_elements(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\nparameters: {k: 1.5}\ncoordinates: {X: {at: 1 + 0.8, rate: 2}, Y: {at: 4/3 - 0.6, rate: -1}}\n"
        "flexible: {b: {type: exact beam, length: 15, elements: 2, density: 1, modulus: 9, area: 1, inertia: 1, shear "
        "modulus: 4, shear area: 1,\n"
        "  at: {x: \"if(s < 1, 0, 3)\", y: \"if(s < 1, 0, if(s < 10, 4, 14))\", angle: 0}, rate: {x: 0.3, y: 0.1*s}}}\n"
        "energy: {kinetic: 1/2*(X'^2 + Y'^2)}\n"
        "contacts: {c: {along: b, point: [X, Y], side: right, radius: 0.25, friction: 0.5}}\n");
    const carom_system *s = carom_model_system(m);
    assert_int_equal(s->nc, 2);
    assert_string_equal(carom_model_constraint(m, 0), "c.0");
    void *work = work_of(m);
    double g[2], u[4];
    assert_int_equal(s->gaps(s->model, work, 0, carom_model_q0(m), g), CAROM_OK);
    assert_close(g[0], 0.75, 1e-14);
    assert_close(g[1], -1.2 - 0.25 + 7.5, 1e-14); // within half of the second element before it: the distance to its
                                                  // line, and its length
    // Normal and slip velocities by hand: d = (0.6, 0.8), n = (0.8, -0.6) to the right; the member there moves with
    // (0.3, 1/3 0.75).
    assert_int_equal(s->speed->rates(s->model, work, 0, carom_model_q0(m), carom_model_v0(m), u), CAROM_OK);
    const double vx = 2 - 0.3, vy = -1 - 0.1 * 7.5 / 3;
    assert_close(u[1], 0.6 * vx + 0.8 * vy, 1e-14);
    // The element turns as well: with the place one away from it, the gap's rate has the part of the turn.
    const double turn = (0.6 * 0.1 * 7.5) / 5;
    assert_close(u[0], 0.8 * vx - 0.6 * vy + turn * (0.6 * (1.8 - 1) + 0.8 * (4.0 / 3 - 0.6 - 4.0 / 3)), 1e-13);
    bool agree = false;
    carom_error err = {0};
    assert_int_equal(carom_model_examine(m, tell, &agree, &err), 0);
    assert_true(agree);
    free(work);
    carom_model_destroy(m);
}

static void mistakes_are_told(void **state) {
    (void)state;
    static const struct { const char *contact, *say; } cases[] = {
        {"{along: b, point: [X], restitution: 0}", "point is a list of two"},
        {"{along: b, point: [X, X'], restitution: 0}", "depends on rates"},
        {"{along: b, point: [X, 0], side: above}", "side is `left` or `right`"},
        {"{along: b, point: [X, 0], radius: -1}", "must not be negative"},
        {"{along: b, point: [X, 0], gap: X}", "`gap` follows from `point:`"},
        {"{along: b, gap: b.x, side: left}", "`side` belongs to `point:`"},
        {"{point: [X, 0]}", "add `along:`"},
        {"{along: s, point: [X, 0]}", "planar members only"},
        {"{along: c, point: [1, 0]}", "names nothing that moves"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[1200];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {X: 0}\nenergy: {kinetic: X'^2}\nflexible:\n  b: {type: bar, length: 1, "
                 "elements: 2, density: 1, modulus: 1, area: 1}\n"
                 "  c: {type: bar, length: 1, elements: 2, density: 1, modulus: 1, area: 1, fix: [start, end], points: "
                 "{m: 0.5}}\n"
                 "  s: {type: spatial beam, length: 1, elements: 1, density: 1, modulus: 1, area: 1, inertia: 1, shear "
                 "modulus: 1, torsion: 1}\n"
                 "contacts: {k: %s}\n",
                 cases[k].contact);
        carom_model *m = model_of(text, &err);
        if (m && k + 1 == sizeof cases / sizeof *cases) { // the middle node can move: a contact there is one
            carom_model_destroy(m);
            continue;
        }
        if (m) fail_msg("no complaint about %s", cases[k].contact);
        if (!strstr(err.text, cases[k].say)) fail_msg("'%s' does not say '%s'", err.text, cases[k].say);
    }
}

// -- a load between nodes ---------------------------------------------------------------------------------------------

// A weight that rests on a simply supported beam at 0.4 L bends it there by P a^2 b^2/(3 E I L), to second order in the
// length of an element.
static void a_weight_between_nodes_bends_the_beam_as_the_theory_says(void **state) {
    (void)state;
    const double force = 0.5 * 9.81, EI = 20, exact = -force * 0.4 * 0.4 * 0.6 * 0.6 / (3 * EI),
                 kappa = force * 0.4 * 0.6 / EI;
    for (int k = 0; k < 3; ++k) {
        char text[900];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {y: 0}\nenergy: {kinetic: 1/2*0.5*y'^2, potential: 0.5*9.81*y}\n"
                 "flexible: {b: {type: beam, length: 1, elements: %d, density: 1000, modulus: 2e8, area: 1e-4, "
                 "inertia: 1e-7, fix: {start: [u, w], end: w}, damping: {mass: 300}}}\n"
                 "contacts: {c: {along: b, point: [0.4, y], restitution: 0}}\n",
                 4 << k);
        carom_model *m = good(text);
        carom_sim *s = model_sim(m, "moreau-jean", (const char *const[]){"theta=1", NULL}, 2e-3, 6);
        model_sim_run(s);
        // The chord is off by kappa l^2 r (1 - r)/2, and the load on its ends bends less by as much again.
        const int n = 4 << k;
        const double r = 0.4 * n - floor(0.4 * n), chord = kappa / n / n * r * (1 - r);
        assert_close(carom_sim_now(s).q[0], exact, 1.2 * chord);
        assert_true(fabs(carom_sim_now(s).q[0] - exact) > 0.5 * chord);
        assert_close(carom_sim_now(s).v[0], 0, 1e-9);
        carom_sim_destroy(s);
        carom_model_destroy(m);
    }
}

// A bead slides along a stiff straight bar through all its nodes: nothing happens at the start, where its gap is
// rounding, nor at the nodes.
static void nodes_are_passed_without_a_jolt(void **state) {
    (void)state;
    for (int side = 0; side < 2; ++side) {
        char text[900];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 0.05, rate: 1}, y: {at: %s}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), "
                 "potential: %s*y}\n"
                 "flexible: {b: {type: beam, length: 1, elements: 7, density: 1, modulus: 1e8, area: 1e-2, inertia: "
                 "1e-3, fix: [start, end], damping: {stiffness: 1e-2}}}\n"
                 "contacts: {c: {along: b, point: [x, y], side: %s, radius: 0.1, restitution: 0}}\n",
                 side ? "-0.1" : "0.1", side ? "-9.81" : "9.81", side ? "right" : "left");
        carom_model *m = good(text);
        carom_sim *s = model_sim(m, "moreau-jean", NULL, 1e-3, 0.9);
        model_sim_run(s);
        const carom_ledger l = ledger_of(s);
        assert_close(carom_sim_now(s).q[index_of(m, "x")], 0.95, 1e-4);
        assert_close(carom_sim_now(s).v[0], 1, 1e-3);
        assert_true(l.penetration < 1e-6);
        assert_close(l.energy.impact, 0, 1e-6); // a fall of one step would take (g h)^2 = 1e-4
        carom_sim_destroy(s);
        carom_model_destroy(m);
    }
}

// A bead with friction mu on an inclined member slides with g (sin a - mu cos a).
static void friction_acts_along_the_member(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nparameters: {a: 0.5}\ncoordinates: {x: {at: 0.2*cos(a) - 0.01*sin(a)}, y: {at: "
                          "-0.2*sin(a)*-1*-1 + 0.01*cos(a)}}\n"
                          "energy: {kinetic: 1/2*(x'^2 + y'^2), potential: 9.81*y}\n"
                          "flexible: {b: {type: beam, length: 2, elements: 6, density: 1, modulus: 1e9, area: 1e-2, "
                          "inertia: 1e-2, direction: -a, fix: [start, end], damping: {stiffness: 1e-3}}}\n"
                          "contacts: {c: {along: b, point: [x, y], restitution: 0, friction: 0.2}}\n");
    carom_sim *s = model_sim(m, "moreau-jean", NULL, 1e-3, 0.6);
    const carom_ledger before = ledger_of(s);
    double landed = 0, v = 0;
    carom_error err = {0};
    while (!carom_sim_done(s)) {
        assert_int_equal(carom_sim_step(s, &err), CAROM_OK);
        const carom_now now = carom_sim_now(s);
        const double along = now.v[0] * cos(0.5) - now.v[1] * sin(0.5);
        if (now.t > 0.3 && landed == 0) landed = now.t, v = along;
        if (landed > 0) assert_close(along - v, (now.t - landed) * 9.81 * (sin(0.5) - 0.2 * cos(0.5)), 2e-3);
    }
    const carom_ledger l = ledger_of(s);
    assert_true(l.energy.friction > 0 && l.energy.end < before.energy.start);
    carom_sim_destroy(s);
    carom_model_destroy(m);
}

// -- a cantilever against a stop --------------------------------------------------------------------------------------

static carom_model *cantilever(int elements, double e) {
    char text[900];
    snprintf(text, sizeof text,
             "carom: 1\nflexible: {b: {type: beam, length: 1, elements: %d, density: 7800, modulus: 2.1e11, area: "
             "1e-4, inertia: 1e-10, fix: start, rate: {w: -0.5*s^2},\n"
             "  points: {half: 0.5}}}\ncontacts: {stop: {gap: b.end.w + 1e-3, restitution: %g}}\n",
             elements, e);
    return good(text);
}

// Gap and impulse are complementary at every step end, and energy does not rise.
static void a_cantilever_hits_a_stop_without_entering_it_or_gaining_energy(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *option; bool position, passive;
    } schemes[] = {{"ggl-alpha", "rho=0.8", true, false},
                   {"ggl-projection", "active=midpoint", true, false},
                   {"moreau-jean", "theta=0.5", false, true},
                   {"moreau-jean", "theta=1", false, true},
                   {"newmark", NULL, false, false}};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        carom_model *m = cantilever(8, 0);
        const double h = strcmp(schemes[k].scheme, "ggl-projection") == 0 ? 2e-6 : 2e-5;
        carom_sim *s = model_sim(m, schemes[k].scheme, (const char *const[]){schemes[k].option, NULL}, h, 0.02);
        carom_error err = {0};
        double T, V, last, start, impulse = 0;
        assert_int_equal(carom_sim_energy(s, &T, &V, &err), CAROM_OK);
        start = last = T + V;
        while (!carom_sim_done(s)) {
            double u = 0;
            assert_int_equal(carom_sim_velocities(s, &u, &err), CAROM_OK);
            if (carom_sim_step(s, &err) != CAROM_OK) fail_msg("%s: %s", schemes[k].scheme, err.text);
            const carom_now now = carom_sim_now(s);
            const double p = now.impulse[0] + now.force[0] * h;
            assert_true(p >= 0);
            if (schemes[k].position) assert_true(now.gap[0] >= -1e-15 && p * now.gap[0] <= 1e-15);
            impulse += p;
            assert_int_equal(carom_sim_energy(s, &T, &V, &err), CAROM_OK);
            // The balance of the theta method: a reaction works with the mean of its velocities.
            if (schemes[k].passive) assert_true(T + V <= last + fmax(0, 0.5 * u * p) + 1e-12 * start);
            last = T + V;
        }
        const carom_ledger l = ledger_of(s);
        assert_true(l.impacts > 0 && impulse > 0);
        assert_true(last < start * (1 + 1e-9));
        assert_true(l.penetration <= (schemes[k].position ? 1e-15 : h * 1.0)); // a step's way at 1 m/s
        carom_sim_destroy(s);
        carom_model_destroy(m);
    }
}

// The stroke of the middle during the first contact, against the finest mesh: smaller differences with every
// refinement.
static void a_cantilever_against_a_stop_converges_with_the_mesh(void **state) {
    (void)state;
    enum { MESHES = 5, ROWS = 40 };
    double w[MESHES][ROWS], error[MESHES - 1];
    for (int k = 0; k < MESHES; ++k) {
        carom_model *m = cantilever(4 << k, 0);
        carom_sim *s = model_sim(m, "moreau-jean", NULL, 5e-6, 0.01);
        char name[24];
        snprintf(name, sizeof name, "b.w%d", 2 << k);
        const int i = index_of(m, name);
        carom_error err = {0};
        for (int row = 0, n = 0; !carom_sim_done(s);) {
            assert_int_equal(carom_sim_step(s, &err), CAROM_OK);
            if (++n % 50 == 0) w[k][row++] = carom_sim_now(s).q[i];
        }
        carom_sim_destroy(s);
        carom_model_destroy(m);
    }
    for (int k = 0; k + 1 < MESHES; ++k) {
        error[k] = 0;
        for (int row = 0; row < ROWS; ++row) error[k] += fabs(w[k][row] - w[MESHES - 1][row]) / ROWS;
    }
    for (int k = 0; k + 2 < MESHES; ++k)
        if (!(error[k + 1] < 0.7 * error[k]))
            fail_msg("%g with %d elements, %g with %d", error[k], 4 << k, error[k + 1], 8 << k);
    assert_true(error[MESHES - 2] < 1e-5); // of a stroke of half a millimetre
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_distances_to_the_elements),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(a_weight_between_nodes_bends_the_beam_as_the_theory_says),
        cmocka_unit_test(nodes_are_passed_without_a_jolt),
        cmocka_unit_test(friction_acts_along_the_member),
        cmocka_unit_test(a_cantilever_hits_a_stop_without_entering_it_or_gaining_energy),
        cmocka_unit_test(a_cantilever_against_a_stop_converges_with_the_mesh),
    };
    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
