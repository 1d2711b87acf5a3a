// test_switches.c: contacts and bodies that are there only while a condition holds, in every scheme: closed forms,
// energy, lists, saved states, and what is refused.
#include "ends.h"
#include <carom/dynamics.h>
#include <stdlib.h>

static bool impacts(const carom_scheme *s) { return !(s->limitations & CAROM_NO_IMPACTS); }

// A ball rests until its floor vanishes at 0.5, then falls: y = -5 (t - 0.5)^2.  One that is thrown and comes at 0.3
// has the flight of its start, and then brings 1/2 2 (0.5^2 + 1^2) J.
static void by_time(void **state) {
    (void)state;
    const char *text = "carom: 1\ngravity: [0, -10]\nbodies:\n"
                       "  ball: {mass: 1, inertia: 0.004, at: [0, 0.1], shape: {circle: 0.1}}\n"
                       "  late: {mass: 2, inertia: 0.008, at: [1, 3], velocity: [0.5, 1], exists while: t > 0.3}\n"
                       "shapes: {floor: {plane: [0, 1]}}\n"
                       "contacts: {hatch: {between: [ball, floor], exists while: t < 0.5}}\n";
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        if (!impacts(s)) continue;
        const double h = 1e-3;
        const end e = run(text, s->name, h, 1, NAMES("ball.y", "ball.vy", "late.x", "late.y", "late.vy"));
        // what begins h late has fallen 10 0.5 h less
        const double late = fine(s, 1e-9, 10 * 0.5 * h + 10 * h * h);
        scheme_near(s->name, e.x[0], 0.1 - 5 * 0.25, late);
        scheme_near(s->name, e.x[1], -5, fine(s, 1e-8, 10 * h));
        scheme_near(s->name, e.x[2], 1 + 0.5 * 0.7, fine(s, 1e-9, 0.5 * h));
        scheme_near(s->name, e.x[3], 3 + 0.7 - 5 * 0.49, fine(s, 1e-9, 7 * h + 10 * h * h));
        scheme_near(s->name, e.ledger.energy.external, 1.25, fine(s, 1e-9, 1e-2));
        scheme_near(s->name, e.ledger.energy.balance, 0, fine(s, 1e-9, 0.1));
        scheme_true(s->name, e.ledger.penetration < 1e-6);
        assert_int_equal(e.ledger.impacts, 0);
    }
}

// x = t, y = 2 t.  The wall x = 1 comes at y = 0.8, t = 0.4, and is struck at 1 with e = 1/2: x(2) = 0.5.  The floor
// under z goes at y = 3, t = 1.5: z = -5 (t - 1.5)^2 from then on.
static void by_state(void **state) {
    (void)state;
    const char *text = "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0, rate: 2}, z: 0}\n"
                       "energy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 10*z}\n"
                       "contacts: {wall: {gap: 1 - x, restitution: 1/2, exists while: y - 0.8},\n"
                       "  floor: {gap: z, exists while: y < 3}}\n";
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        if (!impacts(s) || s->limitations & CAROM_NO_UNEQUAL_RESTITUTION) continue;
        const double h = 1e-3;
        const end e = run(text, s->name, h, 2, NAMES("x", "y", "z", "x'", "z'"));
        scheme_near(s->name, e.x[0], 0.5, fine(s, 1e-9, 2 * h));
        scheme_near(s->name, e.x[1], 4, 1e-9);
        scheme_near(s->name, e.x[2], -1.25, fine(s, 1e-9, 10 * 0.5 * 2 * h));
        scheme_near(s->name, e.x[3], -0.5, 1e-9);
        scheme_near(s->name, e.x[4], -5, fine(s, 1e-8, 20 * h));
        assert_int_equal(e.ledger.impacts, 1);
    }
}

// y = cos(2 t) passes the floor at pi/4, when it may not close, and comes back at 3 pi/4.  From x = t = 2.5 on it may:
// there y stops at 5 pi/4, and stays when the condition is gone again at 4.5, under a force of 1.
static void closes_while_in_every_scheme(void **state) {
    (void)state;
    const char *text = "carom: 1\ncoordinates: {y: 1, x: {at: 0, rate: 1}}\n"
                       "energy: {kinetic: 1/2*(x'^2 + y'^2), potential: 2*y^2}\nforces: {y: \"if(t > 4.2, -1, 0)\"}\n"
                       "contacts: {floor: {gap: y, closes while: (x - 2.5)*(4.5 - x)}}\n";
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        if (!impacts(s)) continue;
        const end e = run(text, s->name, 1e-3, 5, NAMES("y", "y'"));
        scheme_near(s->name, e.x[0], 0, fine(s, 1e-8, 3e-3));
        scheme_near(s->name, e.x[1], 0, fine(s, 1e-8, 5e-3));
        scheme_near(s->name, e.ledger.energy.impact, 2,
                    fine(s, 1e-6, 2 * 4 * 1e-3 * 4)); // auto: rtol; Euler: omega^2 h t
        scheme_true(s->name, e.ledger.penetration < 5e-3);
    }
}

// A body that vanishes takes its kinetic energy with it, stands still, and comes again with the velocity of its start.
static void a_body_vanishes_and_comes_again(void **state) {
    (void)state;
    const char *text = "carom: 1\ngravity: [0, -10]\nbodies:\n"
                       "  a: {mass: 2, inertia: 1, at: [0, 0], velocity: [1, 0], spin: 3, exists while: abs(t - 0.6) > "
                       "0.2}\n"
                       "  b: {mass: 1, inertia: 1, at: [5, 0]}\n";
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        const double h = 1e-3;
        const end e = run(text, s->name, h, 1, NAMES("a.x", "a.y", "a.vx", "a.vy", "a.angle", "b.y"));
        const double tol = fine(s, 1e-9, 10 * h);
        scheme_near(s->name, e.x[0], 0.6, tol);
        scheme_near(s->name, e.x[1], -5 * (0.16 + 0.04), tol);
        scheme_near(s->name, e.x[2], 1, 1e-9);
        scheme_near(s->name, e.x[3], -2, 2 * tol);
        scheme_near(s->name, e.x[4], 3 * 0.6, 3 * tol);
        scheme_near(s->name, e.x[5], -5, tol);
        // it goes with 1/2 2 (1 + 16) + 1/2 9 and comes with 1/2 2 + 1/2 9
        scheme_near(s->name, e.ledger.energy.external, -16, fine(s, 1e-8, 0.2));
        scheme_near(s->name, e.ledger.energy.balance, 0, fine(s, 1e-8, 0.2));
    }
}

// Balls of a family come one after the other from the same place, as pairs of a dynamic list.
static void an_emitter(void **state) {
    (void)state;
    const char *text = "carom: 1\ngravity: [0, 0, -10]\nbodies:\n"
                       "  balls: {repeat: 4, body: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 1], velocity: [2, 0, "
                       "0], exists while: t >= 0.15*i, shape: {box: [0.1, 0.1, 0.1]}}}\n"
                       "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [balls, floor], friction: 0.3}}\n";
    static const char *const schemes[] = {"moreau-midpoint", "moreau-jean", "half-explicit", "event-driven"};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        const end e = run(text, schemes[k], 1e-3, 0.6, NAMES("balls.0.z", "balls.3.x", "balls.3.z", "balls.3.vx"));
        scheme_near(schemes[k], e.x[0], 0.05, 5e-3); // it strikes the floor with 4.4 m/s: h v
        scheme_near(schemes[k], e.x[1], 2 * 0.15, 2 * 1e-3 + 1e-9);
        scheme_near(schemes[k], e.x[2], 1 - 5 * 0.15 * 0.15, 1.5 * 1e-3 + 1e-5);
        scheme_near(schemes[k], e.x[3], 2, 1e-9);
        scheme_near(schemes[k], e.ledger.energy.external, 3 * 2, 1e-6);
    }
}

// A floor that goes and a ball that comes at times between steps, with few others far away and with so many that pairs
// come and go: the same motion in every scheme, located changes included.
static void a_list_changes_nothing(void **state) {
    (void)state;
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        end e[2];
        if (!impacts(s)) continue;
        for (int many = 0; many < 2; ++many) {
            char text[1200];
            snprintf(text, sizeof text,
                     "carom: 1\ngravity: [0, -10]\nbodies:\n"
                     "  ball: {mass: 2, inertia: 0.008, at: [0, 0.6], velocity: [0.3, 0], shape: {circle: 0.1}}\n"
                     "  late: {mass: 2, inertia: 0.008, at: [0.1, 1.3], velocity: [0.5, 1], exists while: t > 0.3137, "
                     "shape: {circle: 0.1}}\n"
                     "  o: {repeat: %d, body: {mass: 1, inertia: 0.01, at: [9 + i, 9], shape: {circle: 0.1}}}\n"
                     "shapes: {floor: {plane: [0, 1]}}\ncontacts:\n"
                     "  hatch: {between: [ball, floor], restitution: 0.5, exists while: t < 0.9123}\n"
                     "  other: {between: [late, floor], restitution: 0.5}\n"
                     "  both: {between: [ball, late], restitution: 0.5}\n  far: {among: o, restitution: 0.5}\n",
                     many ? 15 : 3);
            carom_model *m = good(text);
            assert_int_equal(carom_model_lists(m), many);
            carom_model_destroy(m);
            e[many] = run(text, s->name, 0.01, 1.2, NAMES("ball.x", "ball.y", "late.x", "late.y"));
        }
        for (int i = 0; i < 4; ++i) scheme_near(s->name, e[0].x[i], e[1].x[i], 1e-9);
        assert_int_equal(e[0].ledger.impacts, e[1].ledger.impacts);
    }
}

// A run that is saved between two changes and goes on has the bits of one that never stopped.
static void a_saved_run_goes_on(void **state) {
    (void)state;
    const char *text = "carom: 1\ngravity: [0, -10]\nbodies:\n"
                       "  a: {mass: 2, inertia: 1, at: [0, 0.5], velocity: [1, 0], exists while: t > 0.1, shape: "
                       "{circle: 0.1}}\nshapes: {floor: {plane: [0, 1]}}\n"
                       "contacts: {floor: {between: [a, floor], restitution: 0.5, exists while: t < 0.55}}\n";
    static const char *const schemes[] = {"moreau-midpoint", "event-driven", "auto", "ggl-alpha"};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        double at[2][2];
        carom_model *m = good(text);
        carom_error err = {0};
        void *saved = NULL;
        size_t size = 0;
        for (int way = 0; way < 2; ++way) {
            carom_sim *sim = model_sim(m, schemes[k], NULL, 1e-2, 1);
            if (way && carom_sim_restore(sim, saved, size, &err) != CAROM_OK) fail_msg("%s: %s", schemes[k], err.text);
            while (!carom_sim_done(sim)) {
                sim_step(sim);
                if (way || carom_sim_now(sim).step != 30) continue;
                const void *now = carom_sim_state(sim, &size);
                saved = malloc(size);
                memcpy(saved, now, size);
            }
            at[way][0] = carom_sim_now(sim).q[1], at[way][1] = sim_ledger(sim).energy.external;
            carom_sim_destroy(sim);
        }
        free(saved);
        if (memcmp(at[0], at[1], sizeof *at) != 0)
            fail_msg("%s: %.17g, %.17g and not %.17g, %.17g", schemes[k], at[1][0], at[1][1], at[0][0], at[0][1]);
        carom_model_destroy(m);
    }
}

#define BALL "carom: 1\ngravity: [0, -10]\nbodies: {a: {mass: 1, inertia: 1, at: [0, 1], %s shape: {circle: 0.1}}}\n"
static void mistakes_are_told(void **state) {
    (void)state;
    static const struct { const char *body, *rest, *says; } cases[] = {
        {"exists while: tt > 1,", "", "unknown name 'tt'"},
        {"exists while: t > 1,", "joints: {j: {type: revolute, between: [ground, a], at: [0, 1]}}\n",
         "'j' holds body 'a', which is not always there"},
        {"exists while: t > 1,",
         "springs: {s: {between: [ground, a], points: [[0, 2], [0, 0]], stiffness: 1}}\n", "'s' holds body 'a'"},
        {"", "shapes: {f: {plane: [0, 1]}}\ncontacts: {c: {between: [a, f], stiffness: 1e4, exists while: t > 1}}\n",
         "has a stiffness; `exists while` belongs to rigid contacts"},
        {"", "contacts: {c: {slip: a.x, normal force: 3, friction: 1, exists while: t > 1}}\n",
         "unknown key 'exists while'"},
        {"exists while: t > 1,", "sleep: 0.1\n", "not supported in a model with `sleep`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[600];
        snprintf(text, sizeof text, BALL "%s", cases[i].body, cases[i].rest);
        carom_error err = {0};
        carom_model_def d = {.text = text, .length = strlen(text), .file = "m.yaml"};
        carom_model *m = carom_model_create(&d, &err);
        if (m || !strstr(err.text, cases[i].says)) fail_msg("%s: %s", cases[i].says, m ? "accepted" : err.text);
    }
}

// What comes inside an obstacle stops the run; what analyses cannot do they say.
static void refusals(void **state) {
    (void)state;
    const char *text = "carom: 1\ncoordinates: {x: {at: 1, rate: -1}}\nenergy: {kinetic: 1/2*x'^2}\n"
                       "contacts: {wall: {gap: x, exists while: t > 1.5}}\n";
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        if (!impacts(s)) continue;
        carom_model *m = good(text);
        carom_error err = {0};
        carom_sim_def d = sim_def(m, s->name, NULL, 1e-2, 2);
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim) fail_msg("%s: %s", s->name, err.text);
        scheme_true(s->name, carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK);
        if (!strstr(err.text, "begins to be there") || !strstr(err.text, "t = 1.5"))
            fail_msg("%s: %s", s->name, err.text);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
    carom_model *m = good(text);
    carom_equilibrium r;
    carom_error err = {0};
    assert_true(carom_equilibrium_find(&r, m, NULL, &err) != CAROM_OK);
    assert_non_null(strstr(err.text, "where parts come and go, as 'wall' does"));
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_time),
        cmocka_unit_test(by_state),
        cmocka_unit_test(closes_while_in_every_scheme),
        cmocka_unit_test(a_body_vanishes_and_comes_again),
        cmocka_unit_test(an_emitter),
        cmocka_unit_test(a_list_changes_nothing), cmocka_unit_test(a_saved_run_goes_on),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
