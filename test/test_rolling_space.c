// test_rolling_space.c: rolling and spinning resistance of round shapes in space, with every scheme that has friction.
//
// A ball of radius r and inertia m j that rolls with levers rho (rolling) and sigma (spinning), lambda = rho/mu, has
// the slip rates s = v - r w and lambda w.  Friction -mu m g (s, lambda w)/|(s, lambda w)| keeps their ratio s = kappa
// w when
//     r kappa^2 + (r^2 + j - lambda^2) kappa - lambda^2 r = 0,
// and then all velocities fall linearly, v' = -a = -mu g kappa/(kappa^2 + lambda^2)^1/2, to zero at the same time.  A
// step of any length is exact.
#include "model_text.h"

enum { X, Y, Z, WX = 3, WY, WZ };

static const double G = 9.81;

typedef struct ball { double r, m, j, mu, rho; } ball;

static double creep(const ball *b) {
    const double l = b->rho / b->mu, p = (b->r * b->r + b->j - l * l) / (2 * b->r);
    return -p + sqrt(p * p + l * l);
}

static double slowing(const ball *b) {
    const double k = creep(b);
    return b->mu * G * k / hypot(k, b->rho / b->mu);
}

static const ball wood = {.r = 0.1, .m = 2, .j = 0.4 * 0.01, .mu = 0.3, .rho = 1e-3};

typedef void visit(const char *scheme);

static void with_every_scheme(visit *run, const char *const *but) {
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        bool left_out = ((*s)->limitations & CAROM_NO_FRICTION) != 0;
        for (int i = 0; but && but[i]; ++i) left_out = left_out || strcmp(but[i], (*s)->name) == 0;
        if (!left_out) run((*s)->name);
    }
}

// A model and its motion; what a test wants to know at the end.
typedef struct motion {
    carom_model *m;
    carom_sim *sim;
    const double *q, *v;
    carom_ledger ledger;
} motion;

static motion move(const char *text, const char *scheme, double h, double end) {
    carom_error err = {0};
    motion x = {.m = good(text)};
    x.sim = model_sim(x.m, scheme, NULL, h, end);
    model_sim_run(x.sim);
    x.q = carom_sim_now(x.sim).q;
    x.v = carom_sim_now(x.sim).v;
    if (carom_sim_ledger(x.sim, &x.ledger, &err) != CAROM_OK) fail_msg("%s", err.text);
    return x;
}

static void end(motion *x) {
    carom_sim_destroy(x->sim);
    carom_model_destroy(x->m);
}

static void near(const char *scheme, const char *what, double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%s: %s is %.17g, expected %.17g, to %g", scheme, what, a, b, tolerance);
}

// The plane's normal and two directions in it, turned by two angles; spins of bodies are written in their frames, which
// are the world's at the start.
static void frame(double tilt, double heading, double n[3], double t[3], double s[3]) {
    n[0] = sin(tilt), n[1] = 0, n[2] = cos(tilt);
    t[0] = cos(heading) * cos(tilt), t[1] = sin(heading), t[2] = -cos(heading) * sin(tilt);
    // n x t: a ball that rolls along t turns about it
    for (int i = 0; i < 3; ++i) s[i] = n[(i + 1) % 3] * t[(i + 2) % 3] - n[(i + 2) % 3] * t[(i + 1) % 3];
}

// Beyond the limit p_0 = -mu N d by a part e, the slip rates grow along d by beta = e mu N/(d G^-1 d); v = s + r w.
static double start_of_rolling(const ball *b, double N, double e) {
    const double l = b->rho / b->mu, T = 1, M = T * b->r / l, size = hypot(T, M), ds = T / size, dw = M / size / l;
    const double v = ds + b->r * dw;
    return e * b->mu * N / (b->m * (v * v + b->j * dw * dw)) * v;
}

// Friction F = m g sin a and moment F r are inside (F/mu)^2 + (F r/rho)^2 <= N^2 as long as tan a <= 1/sqrt(1/mu^2 +
// r^2/rho^2).
static void slope_of(const char *scheme) {
    static const double size[] = {1e-3, 1, 1e3}, heading[] = {0, 0.7, 2.5};
    for (int k = 0; k < 3; ++k)
        for (int side = -1; side < 2; side += 2) {
            const ball b = {.r = size[k], .m = 2, .j = 0.4 * size[k] * size[k], .mu = 0.3, .rho = size[k] / 50};
            const double al = atan(1 / sqrt(1 / (b.mu * b.mu) + 2500) * (1 + side * 1e-9));
            double n[3], t[3], s[3];
            char text[900];
            frame(0.3 * k, heading[k], n, t, s);
            snprintf(text, sizeof text,
                     "carom: 1\ngravity: [%.17g, %.17g, %.17g]\nshapes: {f: {plane: [%.17g, %.17g, %.17g]}}\n"
                     "bodies: {b: {mass: %g, inertia: [%.17g, %.17g, %.17g], at: [%.17g, %.17g, %.17g], shape: "
                     "{sphere: %g}}}\n"
                     "contacts: {c: {between: [b, f], friction: %g, rolling: %.17g, spinning: %.17g}}\n",
                     G * (sin(al) * t[0] - cos(al) * n[0]), G * (sin(al) * t[1] - cos(al) * n[1]),
                     G * (sin(al) * t[2] - cos(al) * n[2]), n[0], n[1], n[2], b.m, b.m * b.j, b.m * b.j, b.m * b.j,
                     b.r * n[0] * (1 - 1e-12), b.r * n[1] * (1 - 1e-12), b.r * n[2] * (1 - 1e-12), b.r, b.mu, b.rho,
                     b.rho);
            motion x = move(text, scheme, 1e-3, 0.5);
            const double expected = 0.5 * start_of_rolling(&b, b.m * G * cos(al), 1e-9),
                         along = x.v[0] * t[0] + x.v[1] * t[1] + x.v[2] * t[2];
            near(scheme, side < 0 ? "speed below the limit" : "speed beyond the limit", along, side < 0 ? 0 : expected,
                 0.01 * expected);
            near(scheme, "speed aside", x.v[0] * s[0] + x.v[1] * s[1] + x.v[2] * s[2], 0, 0.01 * expected);
            end(&x);
        }
}

static void a_ball_on_a_slope_starts_to_roll_where_the_ellipse_ends(void **state) {
    QUICK_SKIPS();
    (void)state;
    // contacts open and close by rounding; decides no finer than 1e-9
    with_every_scheme(slope_of, (const char *[]){"ggl-projection", "event-driven", NULL});
}

static void rolling_text(char *text, size_t size, const ball *b, double v, double tilt, double heading) {
    double n[3], t[3], s[3];
    const double w = v / (b->r + creep(b));
    frame(tilt, heading, n, t, s);
    snprintf(text, size,
             "carom: 1\ngravity: [%.17g, %.17g, %.17g]\nshapes: {f: {plane: [%.17g, %.17g, %.17g]}}\n"
             "bodies: {b: {mass: %g, inertia: [%.17g, %.17g, %.17g], at: [%.17g, %.17g, %.17g], velocity: [%.17g, "
             "%.17g, %.17g], "
             "spin: [%.17g, %.17g, %.17g], shape: {sphere: %g}}}\ncontacts: {c: {between: [b, f], friction: %g, "
             "rolling: %g}}\n",
             -G * n[0], -G * n[1], -G * n[2], n[0], n[1], n[2], b->m, b->m * b->j, b->m * b->j, b->m * b->j,
             b->r * n[0], b->r * n[1], b->r * n[2], v * t[0], v * t[1], v * t[2], w * s[0], w * s[1], w * s[2], b->r,
             b->mu, b->rho);
}

static void roll_of(const char *scheme) {
    static const double tilt[] = {0, 0.6, 2.8}, heading[] = {0, 1.1, 4};
    const double v0 = 0.2, a = slowing(&wood), stop = v0 / a;
    const bool level = strcmp(scheme, "ggl-projection") == 0; // on an inclined plane its contacts open and close by
                                                              // rounding
    for (int k = 0; k < (level ? 1 : 3); ++k) {
        double n[3], t[3], s[3];
        char text[1200];
        frame(tilt[k], heading[k], n, t, s);
        rolling_text(text, sizeof text, &wood, v0, tilt[k], heading[k]);
        motion x = move(text, scheme, 1e-3, 2);
        for (int i = 0; i < 3; ++i) near(scheme, "velocity", x.v[i], (v0 - 2 * a) * t[i], 1e-9);
        // of first order: h a t/2
        near(scheme, "way", (x.q[0] * t[0] + x.q[1] * t[1] + x.q[2] * t[2]), 2 * v0 - 2 * a, 1.01e-3 * a);
        near(scheme, "certificate", x.ledger.counts.residual, 0, 1e-10);
        end(&x);
        if (k > 0) continue;
        x = move(text, scheme, 1e-3, stop + 0.3);
        const double lost = 0.5 * wood.m * (v0 * v0 + wood.j * v0 * v0 / pow(wood.r + creep(&wood), 2));
        for (int i = 0; i < 6; ++i) near(scheme, "velocity after the stop", x.v[i], 0, 1e-9);
        near(scheme, "way to the stop", x.q[0], v0 * v0 / (2 * a), 0.5e-3 * v0 + 1e-6); // the stop is met to a step
        near(scheme, "energy lost to friction", x.ledger.energy.friction, lost, 1e-6 * lost);
        near(scheme, "energy balance", x.ledger.energy.balance, 0, 1e-6 * lost);
        end(&x);
    }
}

static void a_ball_on_the_level_slows_down_linearly_stops_and_stays(void **state) {
    (void)state;
    // they slide along the direction at the start of a step, which the stiff creep leaves
    with_every_scheme(roll_of, (const char *[]){"dg-plus", "dg-minus", NULL});
}

// J w' = -sigma N: it stops at w J/(sigma m g).
static void spin_of(const char *scheme) {
    const double w0 = 5, sigma = 2e-3, J = 0.4 * 2 * 0.01, rate = sigma * 2 * G / J, stop = w0 / rate;
    static const char *const other[] = {"", ", rolling: 1e-3"};
    for (int k = 0; k < 2; ++k) {
        char text[700];
        snprintf(text, sizeof text,
                 "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {f: {plane: [0, 0, 1]}}\nbodies: {b: {mass: 2, inertia: "
                 "[0.008, 0.008, 0.008], at: [0, 0, 0.1], "
                 "spin: [0, 0, %g], shape: {sphere: 0.1}}}\ncontacts: {c: {between: [b, f], friction: 0.3, spinning: "
                 "%g%s}}\n",
                 w0, sigma, other[k]);
        motion x = move(text, scheme, 1e-3, 0.5 * stop);
        near(scheme, "spin", x.v[WZ], 0.5 * w0, 1e-9 * w0);
        near(scheme, "certificate", x.ledger.counts.residual, 0, 1e-10);
        end(&x);
        x = move(text, scheme, 1e-3, stop + 0.2);
        for (int i = 0; i < 6; ++i) near(scheme, "velocity after the stop", x.v[i], 0, 1e-9);
        near(scheme, "energy lost to friction", x.ledger.energy.friction, 0.5 * J * w0 * w0, 1e-6 * J * w0 * w0);
        end(&x);
    }
}

static void a_spinning_ball_stops_at_its_time(void **state) {
    QUICK_SKIPS();
    (void)state;
    with_every_scheme(spin_of, NULL);
}

// The same data, started with much slip: first it slides, then it rolls.
static void wheel_and_ball(const char *scheme) {
    motion plane = move("carom: 1\ngravity: [0, -9.81]\nshapes: {f: {plane: [0, 1]}}\nbodies: {b: {mass: 2, inertia: "
                        "0.01, at: [0, 0.1], velocity: [1, 0], spin: 3, shape: {circle: 0.1}}}\n"
                        "contacts: {c: {between: [b, f], friction: 0.3, rolling: 2e-3}}\n",
                        scheme, 1e-3, 0.6);
    motion space = move("carom: 1\ngravity: [0, 0, -9.81]\nshapes: {f: {plane: [0, 0, 1]}}\n"
                        "bodies: {b: {mass: 2, inertia: [0.01, 0.01, 0.01], at: [0, 0, 0.1], velocity: [1, 0, 0], "
                        "spin: [0, -3, 0], shape: {sphere: 0.1}}}\n"
                        "contacts: {c: {between: [b, f], friction: 0.3, rolling: 2e-3}}\n",
                        scheme, 1e-3, 0.6);
    const double tol = strcmp(scheme, "auto") == 0 ? 1e-6 : 1e-9; // it takes other steps where positions are no sums
    near(scheme, "way of wheel and ball", space.q[X], plane.q[X], tol);
    near(scheme, "speed of wheel and ball", space.v[X], plane.v[X], tol);
    near(scheme, "spin of wheel and ball", space.v[WY], -plane.v[2], 10 * tol);
    near(scheme, "work on wheel and ball", space.ledger.energy.friction, plane.ledger.energy.friction, 10 * tol);
    assert_true(space.v[X] > 0.3 && fabs(space.v[X] - 0.1 * space.v[WY]) < 0.01); // it rolls by then
    end(&plane);
    end(&space);
}

static void a_ball_moves_as_the_wheel_in_the_plane(void **state) {
    QUICK_SKIPS();
    (void)state;
    with_every_scheme(wheel_and_ball, NULL);
}

// A table that turns about the ball's place of contact: J w' = sigma m g up to the speed of the table.
static void turntable(const char *scheme) {
    static const char text[] = "carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n  table: {motion: {at: [0, 0, 0], axis: [0, "
                               "0, 1], angle: 3*t}, shape: {plane: [0, 0, 1]}}\n"
                               "  b: {mass: 2, inertia: [0.008, 0.008, 0.008], at: [0, 0, 0.1], shape: {sphere: 0.1}}\n"
                               "contacts: {c: {between: [b, table], friction: 0.3, spinning: 2e-3}}\n";
    motion x = move(text, scheme, 1e-3, 0.4);
    near(scheme, "spin on a turning table", x.v[WZ], 0.4 * 2e-3 * 2 * G / 0.008, 1e-8);
    end(&x);
    x = move(text, scheme, 1e-3, 1);
    near(scheme, "spin on a turning table", x.v[WZ], 3, 1e-8);
    end(&x);
}

static void a_turning_table_takes_the_ball_along(void **state) {
    (void)state;
    with_every_scheme(turntable, NULL);
}

// Moments act on both shapes: a ball on a free ball, whose total angular momentum about their common axis is kept.
static void moments_act_on_both(const char *scheme) {
    motion x = move("carom: 1\nbodies:\n  a: {mass: 2, inertia: [0.008, 0.008, 0.008], at: [0, 0, 0.2], spin: [0.5, 0, "
                    "4], shape: {sphere: 0.1}}\n"
                    "  b: {mass: 1, inertia: [0.003, 0.003, 0.003], at: [0, 0, 0], shape: {sphere: 0.1}}\n"
                    "loads:\n  push: {on: a, point: [0, 0, 0], force: [0, 0, -10]}\n  pull: {on: b, point: [0, 0, 0], "
                    "force: [0, 0, 10]}\n"
                    "contacts: {c: {between: [a, b], friction: 0.3, rolling: 3e-3, spinning: 2e-3}}\n",
                    scheme, 1e-3, 0.2);
    const double *a = x.v, *b = x.v + 6;
    near(scheme, "momentum", 2 * a[X] + b[X], 0, 1e-9);
    assert_true(b[WZ] > 0.1 && b[WZ] < a[WZ]);
    assert_true(a[WZ] < 4 - 0.1);
    end(&x);
}

static void rolling_and_spinning_turn_both_bodies(void **state) {
    (void)state;
    moments_act_on_both("moreau-midpoint");
    moments_act_on_both("newmark");
}

// The same law, written out with generalised coordinates: a, b, c are turns about x, y, z, as slow as the ball is
// isotropic.
static void a_list_of_five_slip_rates_is_the_same_law(void **state) {
    (void)state;
    motion own =
        move("carom: 1\nparameters: {r: 0.1, mu: 0.3, la: 2e-3/mu, sg: 1e-3/mu}\ncoordinates:\n  x: {at: 0, rate: 1}\n "
             " y: {at: 0, rate: 0.2}\n  z: 0.1\n"
             "  a: {at: 0, rate: 1}\n  b: {at: 0, rate: -3}\n  c: {at: 0, rate: 2}\nenergy:\n  kinetic: x'^2 + y'^2 + "
             "z'^2 + 0.005*(a'^2 + b'^2 + c'^2)\n  potential: 2*9.81*z\n"
             "contacts:\n  floor: {gap: z - r, slip rate: [x' - r*b', y' + r*a', la*a', la*b', sg*c'], friction: mu}\n",
             "event-driven", 1e-3, 0.6);
    motion pair = move("carom: 1\ngravity: [0, 0, -9.81]\nshapes: {f: {plane: [0, 0, 1]}}\n"
                       "bodies: {b: {mass: 2, inertia: [0.01, 0.01, 0.01], at: [0, 0, 0.1], velocity: [1, 0.2, 0], "
                       "spin: [1, -3, 2], shape: {sphere: 0.1}}}\n"
                       "contacts: {c: {between: [b, f], friction: 0.3, rolling: 2e-3, spinning: 1e-3}}\n",
                       "event-driven", 1e-3, 0.6);
    near("event-driven", "x", own.q[X], pair.q[X], 1e-9);
    near("event-driven", "y", own.q[Y], pair.q[Y], 1e-9);
    near("event-driven", "work of friction", own.ledger.energy.friction, pair.ledger.energy.friction, 1e-9);
    end(&own);
    end(&pair);
}

// A ball in a bowl comes to rest beside the lowest point, where the slope is within the limit.
static void a_ball_in_a_bowl_comes_to_rest_within_the_limit(void **state) {
    QUICK_SKIPS();
    (void)state;
    const double R = 0.5, r = 0.05, mu = 0.3, rho = 2e-3;
    motion x =
        move("carom: 1\ngravity: [0, 0, -9.81]\nshapes: {bowl: {hole: 0.5}}\n"
             "bodies: {b: {mass: 1, inertia: [0.001, 0.001, 0.001], at: [0.27, 0, -0.36], shape: {sphere: 0.05}}}\n"
             "contacts: {c: {between: [b, bowl], friction: 0.3, rolling: 2e-3, spinning: 1e-3}}\n",
             "moreau-midpoint", 1e-3, 20);
    const double away = hypot(x.q[0], x.q[1]) / (R - r);
    assert_true(away / sqrt(1 - away * away) < 1 / sqrt(1 / (mu * mu) + r * r / (rho * rho)));
    for (int i = 0; i < 6; ++i) near("moreau-midpoint", "velocity at rest", x.v[i], 0, 1e-9);
    const double lost = x.ledger.energy.start - x.ledger.energy.end;
    assert_true(lost > 0);
    near("moreau-midpoint", "energy lost to friction", x.ledger.energy.friction, lost, 0.02 * lost);
    end(&x);
}

// A cylinder that lies on two rims is a wheel: each of them has its lever.
static void a_cylinder_on_its_rims_rolls_as_the_wheel(void **state) {
    QUICK_SKIPS();
    (void)state;
    motion plane = move("carom: 1\ngravity: [0, -9.81]\nshapes: {f: {plane: [0, 1]}}\nbodies: {b: {mass: 2, inertia: "
                        "0.01, at: [0, 0.1], velocity: [1, 0], spin: -10, shape: {circle: 0.1}}}\n"
                        "contacts: {c: {between: [b, f], friction: 0.3, rolling: 2e-3}}\n",
                        "event-driven", 1e-3, 1);
    motion space = move("carom: 1\ngravity: [0, 0, -9.81]\nshapes: {f: {plane: [0, 0, 1]}}\n"
                        "bodies: {b: {mass: 2, inertia: [0.008, 0.008, 0.01], at: [0, 0, 0.1], axis: [1, 0, 0], angle: "
                        "-pi/2, velocity: [1, 0, 0], spin: [0, 0, 10], shape: {cylinder: [0.1, 0.2]}}}\n"
                        "contacts: {c: {between: [b, f], friction: 0.3, rolling: 2e-3}}\n",
                        "event-driven", 1e-3, 1);
    near("event-driven", "speed of wheel and cylinder", space.v[X], plane.v[X], 1e-9);
    near("event-driven", "spin of wheel and cylinder", fabs(space.v[WZ]), fabs(plane.v[2]), 1e-8);
    end(&plane);
    end(&space);
}

static void levers_that_make_no_sense_are_refused(void **state) {
    (void)state;
    static const struct { const char *shape, *contact, *message; } cases[] = {
        {"{sphere: 1}", "friction: 0.1, rolling: -1", "rolling must not be negative, got -1"},
        {"{sphere: 1}", "friction: 0.1, spinning: -2", "spinning must not be negative, got -2"},
        {"{sphere: 1}", "rolling: 1", "rolling resistance needs friction; add `friction:`"},
        {"{sphere: 1}", "spinning: 1", "spinning resistance needs friction; add `friction:`"},
        {"{box: [1, 1, 1]}", "friction: 1, spinning: 1",
         "spinning resistance requires round shapes; 'b' and 'f' touch with corners (8 contacts)"},
        {"{sphere: 1}", "friction: 1, spining: 1", "did you mean 'spinning'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\nshapes: {f: {plane: [0, 0, 1]}}\nbodies: {b: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 1], "
                 "shape: %s}}\ncontacts: {c: {between: [b, f], %s}}\n",
                 cases[i].shape, cases[i].contact);
        carom_model *m = model_of(text, &err);
        if (m || !strstr(err.text, cases[i].message)) fail_msg("%s: %s", cases[i].contact, m ? "was taken" : err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_on_a_slope_starts_to_roll_where_the_ellipse_ends),
        cmocka_unit_test(a_ball_on_the_level_slows_down_linearly_stops_and_stays),
        cmocka_unit_test(a_spinning_ball_stops_at_its_time),
        cmocka_unit_test(a_ball_moves_as_the_wheel_in_the_plane),
        cmocka_unit_test(a_turning_table_takes_the_ball_along),
        cmocka_unit_test(rolling_and_spinning_turn_both_bodies),
        cmocka_unit_test(a_list_of_five_slip_rates_is_the_same_law),
        cmocka_unit_test(a_ball_in_a_bowl_comes_to_rest_within_the_limit),
        cmocka_unit_test(a_cylinder_on_its_rims_rolls_as_the_wheel),
        cmocka_unit_test(levers_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
