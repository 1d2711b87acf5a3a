// test_skins.c: shapes of flexible members: skins and rounds at their points.
#include "model_text.h"

#define BEAM "{type: exact beam, length: 1, elements: 4, density: 1000, area: 1e-3, inertia: 1e-7, modulus: 1e7, shear modulus: 4e6, points: {mid: 0.4}"
#define SPACE "{type: spatial beam, length: 1, elements: 4, density: 1000, area: 1e-3, inertia: [1e-7, 1e-7], torsion: 2e-7, modulus: 1e9, shear modulus: 4e8, direction: [0, 1, 0]"

#define SHAFT "{type: shaft, length: 0.5, elements: 3, radius: 0.01, density: 7850, modulus: 2.1e11, shear modulus: 8e10, gravity: [0, 0, -9.81], rate: {rx: 50}}"

static void note(void *user, carom_finding kind, const char *sentence) {
    if (kind == CAROM_FINE) return;
    print_message("    %s\n", sentence);
    ++*(int *)user;
}

static carom_sim *run(const carom_model *m, const char *scheme, double h, double end) {
    carom_sim *sim = model_sim(m, scheme, NULL, h, end);
    model_sim_run(sim);
    return sim;
}

static void derivatives_agree_with_differences(void **state) {
    (void)state;
    static const char *const texts[] = {
        "carom: 1\nflexible: {b: " BEAM "}}\nbodies: {ball: {mass: 1, inertia: 0.01, at: [0.6, 0.3], spin: 3, shape: {circle: 0.1}}}\n"
        "shapes: {hide: {skin: 0.02, of: b}}\ncontacts: {c: {between: [ball, hide], friction: 0.3}}\n",
        "carom: 1\nflexible: {b: " BEAM "}}\nbodies: {block: {mass: 1, inertia: 0.01, at: [0.6, 0.4], angle: 0.3, shape: {box: [0.3, 0.2]}}}\n"
        "shapes: {hide: {skin: 0.02, of: b}, knob: {circle: 0.05, of: b.mid}, f: {plane: [0, 1], at: [0, -0.3]}}\n"
        "contacts: {c: {between: [hide, block], friction: 0.3}, k: {between: [knob, block], friction: 0.3}, g: {between: [f, hide], friction: 0.1}}\n",
        "carom: 1\nflexible: {b: " SPACE "}}\nbodies: {ball: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.1, 0.6, 0.3], spin: [1, 2, 3], shape: {sphere: 0.1}}}\n"
        "shapes: {hide: {skin: 0.02, of: b}, journal: {sphere: 0.02, of: b.start}, bush: {bore: 0.03, axis: [0, 1, 0], at: [0.005, 0, 0.002]}}\n"
        "contacts: {c: {between: [ball, hide], friction: 0.3}, j: {between: [journal, bush], friction: 0.3}}\n",
        "carom: 1\nflexible: {b: " SHAFT "}\nshapes: {journal: {sphere: 0.01, of: b.start}, bush: {bore: 0.0102, axis: [1, 0, 0], at: [0, 1e-4, 0]}}\n"
        "contacts: {j: {between: [journal, bush], friction: 0.1}}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        carom_model *m = good(texts[i]);
        carom_error err = {0};
        int found = 0;
        assert_int_equal(carom_model_examine(m, note, &found, &err), 0);
        carom_model_destroy(m);
    }
}

// A skin of no more than a line's width falls on a plane like the nodes do by `along`.
static void a_skin_on_a_plane_is_its_nodes(void **state) {
    (void)state;
    static const char *const contact[2] = {"shapes: {hide: {skin: 0.01, of: b}, f: {plane: [0, 1], at: [0, -0.05]}}\ncontacts: {g: {between: [hide, f], friction: 0.2}}\n",
                                           "contacts: {g: {along: b, gap: b.y + 0.05 - 0.01, slip rate: b.x' + 0.01*b.angle', friction: 0.2}}\n"};
    double q[2][15];
    for (int k = 0; k < 2; ++k) {
        char text[700];
        snprintf(text, sizeof text, "carom: 1\nflexible: {b: " BEAM ", gravity: [3, -9.81], rate: {angle: 1, y: 0.3*s}}}\n%s", contact[k]);
        carom_model *m = good(text);
        carom_sim *sim = run(m, "moreau-jean", 5e-4, 0.3);
        memcpy(q[k], carom_sim_now(sim).q, sizeof q[k]);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    for (int i = 0; i < 15; ++i) assert_close(q[0][i], q[1][i], 1e-9);
    assert_true(q[0][1] < -0.0399 && q[0][1] > -0.042); // it lies there
}

// A journal at the end of a shaft: the sphere in a bore, and the same written out.  Friction brakes the shaft.
static void a_journal_of_a_shaft_runs_in_its_bore(void **state) {
    (void)state;
    static const char *const contact[3] = {"shapes: {j: {sphere: 0.01, of: b.start}, bush: {bore: 0.0102, axis: [1, 0, 0], at: [0, 1e-4, 0]}}\ncontacts: {c: {between: [j, bush]}}\n",
                                           "contacts: {c: {gap: 2e-4 - sqrt((b.start.y - 1e-4)^2 + b.start.z^2)}}\n",
                                           "shapes: {j: {sphere: 0.01, of: b.start}, bush: {bore: 0.0102, axis: [1, 0, 0], at: [0, 1e-4, 0]}}\ncontacts: {c: {between: [j, bush], friction: 0.2}}\n"};
    double q[3][20], spin[3];
    for (int k = 0; k < 3; ++k) {
        char text[900];
        snprintf(text, sizeof text, "carom: 1\nflexible: {b: " SHAFT "}\nenergy: {potential: 1e5*(b.end.v^2 + b.end.w^2)}\n%s", contact[k]);
        carom_model *m = good(text);
        carom_sim *sim = run(m, "half-explicit", 2e-6, 0.02);
        memcpy(q[k], carom_sim_now(sim).q, sizeof q[k]);
        spin[k] = carom_sim_now(sim).v[2];
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    for (int i = 0; i < 20; ++i) assert_close(q[0][i], q[1][i], 1e-9);
    assert_close(spin[0], 50, 1e-6);
    assert_true(spin[2] < 49.99);
}

// A free beam and a ball: reactions act at one point of each.
static void a_ball_on_a_skin_keeps_momentum(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nflexible: {b: " BEAM ", mass: lumped}}\n"
                          "bodies: {ball: {mass: 0.5, inertia: 0.01, at: [0.65, 0.3], velocity: [0.5, -2], spin: 5, shape: {circle: 0.1}}}\n"
                          "shapes: {hide: {skin: 0.02, of: b}}\ncontacts: {c: {between: [ball, hide], friction: 0.3, restitution: 0.5}}\n");
    const carom_system *s = carom_model_system(m);
    double before[2], after[2];
    for (int k = 0; k < 2; ++k) {
        carom_sim *sim = run(m, "moreau-midpoint", 1e-5, k ? 0.3 : 1e-5);
        const double *v = carom_sim_now(sim).v;
        double *x = k ? after : before;
        const int b = s->nv - 15; // bodies come first
        x[0] = 0.5 * v[0], x[1] = 0.5 * v[1];
        for (int i = 0; i < 5; ++i) {
            const double mass = 0.25 * (i % 4 ? 1 : 0.5), *u = v + b + 3 * i;
            x[0] += mass * u[0];
            x[1] += mass * u[1];
        }
        if (k) {
            carom_ledger ledger;
            carom_error err;
            assert_int_equal(carom_sim_ledger(sim, &ledger, &err), CAROM_OK);
            assert_true(ledger.impacts > 0);
        }
        carom_sim_destroy(sim);
    }
    for (int i = 0; i < 2; ++i) assert_close(after[i], before[i], 1e-10);
    carom_model_destroy(m);
}

static void wrong_skins_are_refused_with_the_place(void **state) {
    (void)state;
    static const struct { const char *shape, *contact, *message; } cases[] = {
        {"{skin: 0.1}", "", "belongs to a flexible member"},
        {"{skin: 0.1, of: c}", "", "there is no flexible member 'c'; did you mean 'b'?"},
        {"{skin: 0.1, of: b.end}", "", "covers all of 'b'"},
        {"{skin: -0.1, of: b}", "", "it must be positive"},
        {"{circle: 0.1, of: b}", "", "is a whole member"},
        {"{circle: 0.1, of: b.mod}", "", "has no point 'mod'; did you mean 'mid'?"},
        {"{box: [1, 1], of: b.mid}", "", "no box"},
        {"{circle: 0.1, of: b.mid, at: [0, 1]}", "", "remove `at`"},
        {"{skin: 0.1, of: b}", "{between: [x, knob]}", "belong to one member"},
        {"{skin: 0.1, of: b}", "{between: [x, x]}", "belong to one member"},
        {"{skin: 0.1, of: b}", "{between: [x, tight]}", "has no clearance"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[700];
        carom_error err = {0};
        snprintf(text, sizeof text, "carom: 1\nflexible: {b: " BEAM "}}\nshapes: {x: %s, knob: {circle: 0.1, of: b.end}, tight: {slot: [0.05, 2]}}\ncontacts: {%s%s}\n", cases[i].shape,
                 *cases[i].contact ? "c: " : "", cases[i].contact);
        carom_model *m = model_of(text, &err);
        if (m || !strstr(err.text, cases[i].message)) fail_msg("%s %s: %s", cases[i].shape, cases[i].contact, m ? "was taken" : err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(a_skin_on_a_plane_is_its_nodes),
        cmocka_unit_test(a_journal_of_a_shaft_runs_in_its_bore),
        cmocka_unit_test(a_ball_on_a_skin_keeps_momentum),
        cmocka_unit_test(wrong_skins_are_refused_with_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
