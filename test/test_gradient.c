// test_gradient.c: carom gradient: derivatives in closed form, against differences, and where there are none.
#define _DEFAULT_SOURCE // mkdtemp
#include "model_text.h"
#include <carom/dynamics.h>
#include <carom/result.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static carom_gradient_def define(const char *text, const char *of, const char *const *by, double end) {
    carom_gradient_def d = {.of = of, .by = by};
    d.model.text = text, d.model.length = strlen(text), d.model.file = "model.yaml";
    d.run = carom_run_nothing();
    d.run.end = end;
    return d;
}

static carom_gradient gradient(const char *text, const char *of, const char *const *by, double end) {
    carom_gradient g;
    carom_error err = {0};
    const carom_gradient_def d = define(text, of, by, end);
    if (carom_gradient_find(&g, &d, &err) != CAROM_OK) fail_msg("%s: %s", of, err.text);
    return g;
}

static void refused(const char *text, const char *of, const char *const *by, double end, carom_status status,
                    const char *words) {
    carom_gradient g;
    carom_error err = {0};
    const carom_gradient_def d = define(text, of, by, end);
    assert_int_equal(carom_gradient_find(&g, &d, &err), status);
    carom_gradient_free(&g);
    if (!strstr(err.text, words)) fail_msg("'%s' is not in: %s", words, err.text);
}

#define BALL                                                                                                           \
    "carom: 1\nparameters: {g: 10, e: 0.5}\ncoordinates: {y: {at: 1, rate: 0}}\nenergy: {kinetic: y'^2/2, potential: " \
    "g*y}\ncontacts: {floor: {gap: y, restitution: e}}\n"

// Dropped from Y: it hits at T = sqrt(2 Y/g) with u = sqrt(2 Y g) and is at y = e u s - g s^2/2, s = t - T, until it
// hits again. With Y = 1, g = 10, r = sqrt(5): T = r/5, u = 2 r; dT/dY = r/10, dT/dg = -r/100, du/dY = r, du/dg = r/10.
static void ball_once(void **state) {
    (void)state;
    static const char *const by[] = {"g", "e", "y", "y'", NULL};
    const double r = sqrt(5), t = 0.6, T = r / 5, u = 2 * r, e = 0.5, s = t - T, v = e * u - 10 * s;
    carom_gradient g = gradient(BALL, "y", by, t);
    assert_close(g.value, e * u * s - 5 * s * s, 1e-11);
    assert_close(g.gradient[0], e * r / 10 * s - s * s / 2 + v * r / 100, 1e-9);
    assert_close(g.gradient[1], u * s, 1e-9);
    assert_close(g.gradient[2], e * r * s - v * r / 10, 1e-9);
    // thrown with V: u = sqrt(V^2 + 2 g Y), T = (V + u)/g: at V = 0 du = 0, dT = 1/g
    assert_close(g.gradient[3], -v / 10, 1e-9);
    carom_gradient_free(&g);
    // the integral of y: Y T - g T^3/6 over the fall, e u s^2/2 - g s^3/6 behind it
    g = gradient(BALL, "integral(y)", by, t);
    assert_close(g.value, T - 10 * T * T * T / 6 + e * u * s * s / 2 - 10 * s * s * s / 6, 1e-10);
    assert_close(g.gradient[1], u * s * s / 2, 1e-9);
    assert_close(g.gradient[2], T - r / 10 * (e * u * s - 5 * s * s) + e * r * s * s / 2, 1e-9);
    carom_gradient_free(&g);
    // the fastest fall is that before the impact; the top behind it, e^2 Y, lies inside a step
    g = gradient(BALL, "min(y')", by, t);
    assert_close(g.value, -u, 1e-11);
    assert_close(g.gradient[2], -r, 1e-9);
    assert_close(g.gradient[0], -r / 10, 1e-9);
    carom_gradient_free(&g);
    // t > 0.4 alone: behind T = 0.447 it is e^2 Y at T + e u/g = 0.67
    g = gradient(BALL, "max(y*(1 - 1/(1 + (t/0.4)^400)))", by, 0.85);
    assert_close(g.value, e * e, 1e-9);
    assert_close(g.gradient[1], 2 * e, 1e-7);
    assert_close(g.gradient[2], e * e, 1e-7);
    carom_gradient_free(&g);
}

// After the accumulation at t_a = T (1 + e)/(1 - e) = 3 T the ball rests: nothing changes it.
static void ball_rests(void **state) {
    (void)state;
    static const char *const by[] = {"g", "e", "y", NULL};
    carom_gradient g = gradient(BALL, "y + y'", by, 2);
    for (int i = 0; i < 3; ++i) assert_close(g.gradient[i], 0, 1e-8);
    carom_gradient_free(&g);
    // the integral: falls and flights: Y T (2/3) + sum over k of (2/3) height_k time_k = (2/3) Y T (1 + 2 e^3/(1 -
    // e^3)), which goes with Y^(3/2)
    g = gradient(BALL, "integral(y)", by, 2);
    const double value = 2 * sqrt(0.2) / 3 * (1 + 2 * 0.125 / 0.875);
    assert_close(g.value, value, 1e-8);
    assert_close(g.gradient[2], 1.5 * value, 1e-7);
    assert_close(g.gradient[0], -0.05 * value, 1e-7);
    carom_gradient_free(&g);
}

// A held input is no parameter: x = p t^2/2 with p = F^2, and A does not enter.
static void held_inputs(void **state) {
    (void)state;
    static const char *const by[] = {"A", "F", NULL};
    carom_gradient g = gradient("carom: 1\nparameters: {A: 0.01, F: 3}\ninputs: {push: F^2, pull: 0}\ncoordinates: {x: "
                                "0}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: push - 2*pull}\noutputs: {z: A*x}\n",
                                "x", by, 2);
    assert_close(g.value, 18, 1e-9);
    assert_close(g.gradient[0], 0, 1e-12);
    assert_close(g.gradient[1], 12, 1e-8);
    carom_gradient_free(&g);
}

// A block slides with V on a rough floor and stops after V/(mu g), having gone V^2/(2 mu g).
static void block_stops(void **state) {
    (void)state;
    static const char *const by[] = {"mu", "x'", NULL};
    carom_gradient g = gradient("carom: 1\nparameters: {mu: 0.5}\ncoordinates: {x: {at: 0, rate: 2}, y: {at: 0, rate: "
                                "0}}\nenergy: {kinetic: (x'^2 + y'^2)/2, potential: 10*y}\n"
                                "contacts: {floor: {gap: y, slip: x, friction: mu}}\n",
                                "x", by, 1);
    assert_close(g.value, 0.4, 1e-10);
    assert_close(g.gradient[0], -0.8, 1e-9);
    assert_close(g.gradient[1], 0.4, 1e-9);
    carom_gradient_free(&g);
}

// A block on a belt with V, pulled by a spring: it breaks away where k x = mu_s, x = V t, and slides with mu_k from
// there: x = c + A cos(w s) + B sin(w s), c = mu_k/k, A = mu_s/k - c, B = V/w, w = sqrt(k), unit mass and load; s = t -
// mu_s/(k V).
static void block_breaks_away(void **state) {
    (void)state;
    static const char *const by[] = {"ms", "mk", NULL};
    carom_gradient g = gradient("carom: 1\nparameters: {ms: 0.6, mk: 0.4}\ncoordinates: {x: {at: 0, rate: 1}, y: {at: "
                                "0, rate: 0}}\nenergy: {kinetic: (x'^2 + y'^2)/2, potential: y + 2*x^2}\n"
                                "contacts: {belt: {gap: y, slip: x - t, friction: {static: ms, kinetic: mk}}}\n",
                                "x", by, 0.5);
    const double s = 0.5 - 0.15, A = 0.05, B = 0.5, rate = -2 * A * sin(2 * s) + 2 * B * cos(2 * s);
    assert_close(g.value, 0.1 + A * cos(2 * s) + B * sin(2 * s), 1e-9);
    assert_close(g.gradient[0], cos(2 * s) / 4 - rate / 4, 1e-8);
    assert_close(g.gradient[1], (1 - cos(2 * s)) / 4, 1e-8);
    carom_gradient_free(&g);
}

// Impact with friction: a disk falls on a rough floor while it slides: v_x loses mu (1 + e) u if it slides on; e and mu
// enter by their product.
static void oblique_impact(void **state) {
    (void)state;
    static const char *const by[] = {"mu", "e", "y", NULL};
    carom_gradient g = gradient("carom: 1\nparameters: {mu: 0.2, e: 0.5}\ncoordinates: {x: {at: 0, rate: 5}, y: {at: "
                                "1, rate: 0}}\nenergy: {kinetic: (x'^2 + y'^2)/2, potential: 10*y}\n"
                                "contacts: {floor: {gap: y, slip: x, friction: mu, restitution: e}}\n",
                                "x", by, 0.6);
    const double r = sqrt(5), s = 0.6 - r / 5, u = 2 * r, jump = 0.2 * 1.5 * u;
    assert_close(g.value, 3 - jump * s, 1e-10);
    assert_close(g.gradient[0], -1.5 * u * s, 1e-9);
    assert_close(g.gradient[1], -0.2 * u * s, 1e-9);
    assert_close(g.gradient[2], -0.2 * 1.5 * (r * s - u * r / 10), 1e-9);
    carom_gradient_free(&g);
}

#define PLANE                                                                                                          \
    "carom: 1\nparameters: {mu: 0.5, F: 8, a: 0.7, V: 2}\ncoordinates: {x: {at: 0, rate: V}, y: {at: 0, rate: 1.5}, "  \
    "z: 0}\n"                                                                                                          \
    "energy: {kinetic: \"1/2*(x'^2 + y'^2 + z'^2)\", potential: 10*z}\ncontacts: {floor: {gap: z, slip: [x, y], "      \
    "friction: mu}}\n"

// In the plane it stops after going (V, W) |(V, W)|/(2 mu g).
static void stops_in_the_plane(void **state) {
    (void)state;
    static const char *const by[] = {"mu", "V", "y'", NULL};
    carom_gradient g = gradient(PLANE, "x", by, 1);
    const double V = 2, W = 1.5, speed = 2.5, k = 10; // 2 mu g
    assert_close(g.value, V * speed / k, 1e-9);
    assert_close(g.gradient[0], -V * speed / k / 0.5, 1e-8);
    assert_close(g.gradient[1], (speed + V * V / speed) / k, 1e-8);
    assert_close(g.gradient[2], V * W / speed / k, 1e-8);
    carom_gradient_free(&g);
}

// Pulled by F t in direction a from rest: it breaks away at mu g/F and goes D = F s^3/6, s = t - mu g/F.  The direction
// turns with a.
static void begins_in_the_plane(void **state) {
    (void)state;
    static const char *const by[] = {"mu", "F", "a", NULL};
    carom_gradient g;
    carom_error err = {0};
    carom_gradient_def def =
        define("carom: 1\nparameters: {mu: 0.5, F: 8, a: 0.7}\ncoordinates: {x: 0, y: 0, z: 0}\nenergy: {kinetic: "
               "\"1/2*(x'^2 + y'^2 + z'^2)\", potential: 10*z}\n"
               "forces: {x: F*t*cos(a), y: F*t*sin(a)}\ncontacts: {floor: {gap: z, slip: [x, y], friction: mu}}\n",
               "x", by, 1);
    def.run.step = 1;
    if (carom_gradient_find(&g, &def, &err) != CAROM_OK) fail_msg("%s", err.text);
    const double s = 1 - 5. / 8, D = 8 * s * s * s / 6, c = cos(0.7);
    assert_close(g.value, D * c, 1e-8);
    assert_close(g.gradient[0], -10 * s * s / 2 * c, 1e-6);
    assert_close(g.gradient[1], (s * s * s / 6 + 5. / 8 * s * s / 2) * c, 1e-6);
    assert_close(g.gradient[2], -D * sin(0.7), 1e-6);
    carom_gradient_free(&g);
}

// Energies of a linear bar that is struck with V go with V^2.
static void energies_of_a_bar(void **state) {
    (void)state;
    static const char *const by[] = {"V", NULL}, *const of[] = {"kinetic", "potential", "3*energy"};
    for (int i = 0; i < 3; ++i) {
        carom_gradient g = gradient("carom: 1\nparameters: {V: 0.1}\nflexible: {bar: {type: bar, length: 1, elements: "
                                    "4, area: 2, density: 3, modulus: 50, fix: start, rate: V}}\n",
                                    of[i], by, 0.1);
        assert_true(g.value > 1e-4);
        assert_close(g.gradient[0], 2 * g.value / 0.1, 1e-9);
        carom_gradient_free(&g);
    }
}

// Two balls that do not couple hit the floor at the same time: each has its own derivative.
static void together(void **state) {
    (void)state;
    static const char *const by[] = {"y", "z", NULL};
    const double r = sqrt(5), s = 0.6 - r / 5, u = 2 * r, e = 0.5, d = e * r * s - (e * u - 10 * s) * r / 10;
    carom_gradient g =
        gradient("carom: 1\ncoordinates: {y: 1, z: 1}\nenergy: {kinetic: y'^2/2 + z'^2/2, potential: 10*(y + z)}\n"
                 "contacts: {a: {gap: y, restitution: 0.5}, b: {gap: z, restitution: 0.5}}\n",
                 "y + 3*z", by, 0.6);
    assert_close(g.gradient[0], d, 1e-9);
    assert_close(g.gradient[1], 3 * d, 1e-9);
    carom_gradient_free(&g);
    g = gradient("carom: 1\ncoordinates: {y: 1, z: 1}\nenergy: {kinetic: y'^2/2 + z'^2/2, potential: 10*(y + z)}\n"
                 "contacts: {a: {gap: y, restitution: 0.5}, b: {gap: z, restitution: 0.5}}\n", "integral(y)", by, 0.6);
    const double T = r / 5;
    assert_close(g.gradient[0], T - r / 10 * (e * u * s - 5 * s * s) + e * r * s * s / 2, 1e-9); // as of one ball
    assert_close(g.gradient[1], 0, 1e-9);
    carom_gradient_free(&g);
}

// The same by `mixed`, as accurate as its steps.
static void with_mixed(void **state) {
    (void)state;
    static const char *const by[] = {"e", "y", NULL};
    const double r = sqrt(5), s = 0.6 - r / 5, u = 2 * r, e = 0.5, v = e * u - 10 * s;
    carom_gradient g;
    carom_error err = {0};
    carom_gradient_def d = define(BALL, "y", by, 0.6);
    d.run.scheme = "mixed", d.run.step = 1e-2;
    if (carom_gradient_find(&g, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_string_equal(g.scheme, "mixed");
    assert_close(g.gradient[0], u * s, 1e-7);
    assert_close(g.gradient[1], e * r * s - v * r / 10, 1e-7);
    carom_gradient_free(&g);
}

// A row for every step: y = Y - g t^2/2 before the first impact.
static void keeps_rows(void **state) {
    (void)state;
    static const char *const by[] = {"g", "y", NULL};
    carom_gradient g;
    carom_error err = {0};
    carom_gradient_def d = define(BALL, "y", by, 0.4);
    d.run.step = 0.1, d.rows = true;
    assert_int_equal(carom_gradient_find(&g, &d, &err), CAROM_OK);
    assert_int_equal(g.rows, 4);
    for (int i = 0; i < 4; ++i) {
        const double *row = g.row + 4 * i, t = 0.1 * (i + 1);
        assert_close(row[0], t, 1e-12);
        assert_close(row[1], 1 - 5 * t * t, 1e-11);
        assert_close(row[2], -t * t / 2, 1e-11);
        assert_close(row[3], 1, 1e-11);
    }
    carom_gradient_free(&g);
}

// A block on two feet that friction holds: nothing moves, whatever pushes.  What is left of forces that grow from zero
// is rounding, and costs no steps.
static void held(void **state) {
    (void)state;
    static const char *const by[] = {"A", "w", NULL};
    carom_gradient g = gradient("carom: 1\nparameters: {A: 2, w: 6}\nbodies: {block: {mass: 1, inertia: 0.1, at: [0, "
                                "0.5], points: {l: [-0.2, -0.5], r: [0.2, -0.5]}}}\nforces: {block.x: A*sin(w*t)}\n"
                                "gravity: [0, -9.81]\ncontacts: {left: {gap: block.l.y, slip: block.l.x, friction: "
                                "0.9}, right: {gap: block.r.y, slip: block.r.x, friction: 0.9}}\n",
                                "block.x", by, 1.1);
    for (int i = 0; i < 2; ++i) assert_close(g.gradient[i], 0, 1e-12);
    carom_gradient_free(&g);
}

// The surface of a jump that the motion does not reach does not matter, also where it starts in equilibrium: between
// neighbours of the start the force changes its sign, but does not jump.
static void jumps_elsewhere(void **state) {
    (void)state;
    static const char *const by[] = {"x", NULL};
    carom_gradient g = gradient("carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: x'^2/2, potential: "
                                "x^2/2}\nforces: {x: 'if(x > 2, -1, 0)'}\n",
                                "x", by, 1);
    assert_close(g.gradient[0], cos(1), 1e-9);
    carom_gradient_free(&g);
}

static void no_number(void **state) {
    (void)state;
    static const char *const by[] = {"x", NULL}, *const y[] = {"y", NULL}, *const nobody[] = {"z", NULL};
    // an oscillator that just touches its wall at x = -1
    refused("carom: 1\ncoordinates: {x: {at: 1, rate: 0}}\nenergy: {kinetic: x'^2/2, potential: x^2/2}\ncontacts: "
            "{wall: {gap: x + 1 - 1e-10, restitution: 0.5}}\n",
            "x", by, 5, CAROM_NOT_CONVERGED, "grazing contact at 'wall'");
    static const char *const jumps[] = {"-sign(x)",   "-(x > 0.3)",        "if(x > 0, -1, 1)",
                                        "floor(3*x)", "if(t > 1.2, 1, 0)", "-0.01*sign(x)",
                                        "if(t >= 1.2, 1, 0)", "-0.01*sign(x - 1)"};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 1, rate: 0}}\nenergy: {kinetic: x'^2/2, potential: x^2/2}\nforces: "
                 "{x: \"%s\"}\n",
                 jumps[i]);
        refused(text, "x", by, 3, CAROM_UNSUPPORTED, "forces jump");
    }
    refused(BALL, "y", y, sqrt(0.2), CAROM_NOT_CONVERGED, "an event falls on the end of the run");
    refused(BALL, "energy.impact", y, 1, CAROM_UNSUPPORTED, "ledger");
    refused(BALL, "y at floor", y, 1, CAROM_BAD_INPUT, "CONTACT.impact[N]");
    refused(BALL, "y at floor.impact[0]", y, 1, CAROM_BAD_INPUT, "CONTACT.impact[N]");
    refused(BALL, "time of flor.impact[1]", y, 1, CAROM_BAD_INPUT, "did you mean 'floor'?");
    refused(BALL, "time of floor.impact[3]", y, 0.5, CAROM_NOT_CONVERGED, "has 1 event 'impact'");
    refused(BALL, "y at floor.impact[1] + 1", y, 1, CAROM_BAD_INPUT, "in parentheses inside of another expression");
    refused(BALL, "2*time of flor.impact[1]", y, 1, CAROM_BAD_INPUT, "did you mean 'floor'?");
    refused(BALL, "1 - time of floor.impact[3]", y, 0.5, CAROM_NOT_CONVERGED, "has 1 event 'impact'");
    refused(BALL, "1 + (max(y) at floor.impact[1])", y, 1, CAROM_UNSUPPORTED, "not to an event");
    refused(BALL, "lifetime of - 1", y, 1, CAROM_BAD_INPUT, "unknown name 'lifetime'");
    refused(BALL, "max(y) at floor.impact[1]", y, 1, CAROM_UNSUPPORTED, "not to an event");
    refused(BALL, "y", nobody, 1, CAROM_BAD_INPUT, "no parameter");
    // it lies on the floor: raised it would fall, lowered there is no motion
    refused("carom: 1\ncoordinates: {y: {at: 0, rate: 0}}\nenergy: {kinetic: y'^2/2, potential: 10*y}\ncontacts: "
            "{floor: {gap: y}}\n",
            "y", y, 1, CAROM_BAD_INPUT, "closed at the start");
    // two particles arrive at the same time, coupled: which comes first decides
    refused("carom: 1\ncoordinates: {y: {at: 1, rate: 0}, z: {at: 1, rate: 0}}\nenergy: {kinetic: y'^2/2 + z'^2/2 + "
            "y'*z'/4, potential: 10*(y + z)}\n"
            "contacts: {a: {gap: y, restitution: 0.5}, b: {gap: z, restitution: 0.5}}\n",
            "y", y, 1, CAROM_NOT_CONVERGED, "at the same time");
}

// -- events -------------------------------------------------------------------------------------------------------

// A ball dropped from h: impact n at T (1 + 2 e + ... + 2 e^(n - 1)), T = sqrt(2 h/g), the limit at T (1 + e)/(1 - e).
static void times_of_impacts(void **state) {
    (void)state;
    static const char *const by[] = {"e", "h", NULL};
    static const char ball[] = "carom: 1\nparameters: {e: 0.8, h: 1}\ncoordinates: {y: {at: h, rate: 0}}\nenergy: "
                               "{kinetic: y'^2/2, potential: 9.81*y}\ncontacts: {floor: {gap: y, restitution: e}}\n";
    const double e = 0.8, T = sqrt(2 / 9.81), u = 9.81 * T;
    carom_gradient g = gradient(ball, "time of floor.impact[3]", by, 5);
    assert_close(g.value, 1.75191172702, 1e-11);
    assert_close(g.gradient[0], 2.34792293313, 1e-10);
    assert_close(g.gradient[1], 0.875955863512, 1e-10);
    carom_gradient_free(&g);
    // inside of other expressions
    g = gradient(ball, "time of floor.impact[2] - time of floor.impact[1]", by, 5);
    assert_close(g.value, 2 * e * T, 1e-11);
    assert_close(g.gradient[0], 2 * T, 1e-10);
    assert_close(g.gradient[1], e * T, 1e-10);
    assert_true(g.t < 2 * e * T + T + 1e-6); // the rest of the run does not count
    carom_gradient_free(&g);
    g = gradient(ball, "-(y' at floor.impact[1])/(y' before floor.impact[1])", by, 5);
    assert_close(g.value, e, 1e-11);
    assert_close(g.gradient[0], 1, 1e-10);
    assert_close(g.gradient[1], 0, 1e-10);
    carom_gradient_free(&g);
    g = gradient(ball, "3*h + max(y) + (y' at floor.impact[2])^2*2 - 2*time of floor.impact + y'", by, 1.3);
    assert_close(g.value, 4 + 2 * pow(e * e * u, 2) - 2 * T + e * e * u - 9.81 * (1.3 - T * (1 + 2 * e)), 1e-9);
    assert_close(g.gradient[0], 8 * e * e * e * u * u + 2 * e * u + 2 * u, 1e-8);
    assert_close(g.gradient[1], 4 + 2 * pow(e, 4) * u * u - T + (e * e + 2 * e + 1) * u / 2, 1e-8);
    carom_gradient_free(&g);
    g = gradient(ball, "time of floor.close[1]", by, 5);
    assert_close(g.value, T * (1 + e) / (1 - e), 1e-10);
    assert_close(g.gradient[0], 2 * T / ((1 - e) * (1 - e)), 1e-8);
    assert_close(g.gradient[1], T * (1 + e) / (1 - e) / 2, 1e-8);
    carom_gradient_free(&g);
    g = gradient(ball, " y' at floor.impact[2] ", by, 5);
    assert_close(g.value, e * e * u, 1e-9);
    assert_close(g.gradient[0], 2 * e * u, 1e-9);
    assert_close(g.gradient[1], e * e * u / 2, 1e-9);
    carom_gradient_free(&g);
    g = gradient(ball, "y' + t before floor.impact", by, 5);
    assert_close(g.value, T - u, 1e-9);
    assert_close(g.gradient[0], 0, 1e-9);
    assert_close(g.gradient[1], (T - u) / 2, 1e-9);
    carom_gradient_free(&g);
}

// A table lifts its load where A w^2 cos(w t) = -g, with continuous forces; a block on it slips where 6 t = mu (g + A
// w^2 cos(w t)).
static void times_of_opening_and_slip(void **state) {
    (void)state;
    static const char *const by[] = {"A", "w", NULL}, *const mu[] = {"mu", NULL};
    static const char table[] =
        "carom: 1\nparameters: {A: 0.02, w: 30, mu: 0.3}\ncoordinates: {y: {at: 0, rate: 0}, x: {at: 0, rate: "
        "0}}\nenergy: {kinetic: x'^2/2 + y'^2/2, potential: 9.81*y}\n"
        "forces: {x: 6*t}\ncontacts: {floor: {gap: \"y - A*(1 - cos(w*t))\", slip: x, friction: mu}}\n";
    const double A = 0.02, w = 30, x = 9.81 / (A * w * w), t = acos(-x) / w, slope = 1 / (w * sqrt(1 - x * x));
    carom_gradient g = gradient(table, "time of floor.open[1]", by, 1);
    assert_close(g.value, t, 1e-9);
    assert_close(g.gradient[0], -x / A * slope, 1e-8);
    assert_close(g.gradient[1], -t / w - 2 * x / w * slope, 1e-8);
    carom_gradient_free(&g);
    carom_gradient_def d = define(table, "time of floor.slip[1]", mu, 1);
    d.model.set = (const char *const[]){"A=0.001", NULL};
    carom_error err = {0};
    assert_int_equal(carom_gradient_find(&g, &d, &err), CAROM_OK);
    const double N = 9.81 + 0.9 * cos(30 * g.value); // 6 t = mu N: dt = N dmu/(6 - mu N')
    assert_close(6 * g.value, 0.3 * N, 1e-9);
    assert_close(g.gradient[0], N / (6 + 0.3 * 27 * sin(30 * g.value)), 1e-8);
    carom_gradient_free(&g);
}

// Extremes, integrals and states in one expression.
static void composed(void **state) {
    (void)state;
    static const char *const by[] = {"w", "A", NULL};
    carom_gradient g = gradient("carom: 1\nparameters: {w: 2, A: 3}\ncoordinates: {x: {at: A, rate: 0}}\nenergy: "
                                "{kinetic: x'^2/2, potential: w^2*x^2/2}\n",
                                "x*max(x')^2 + A*integral(x)/min(x) + rms(w)*mean(x)", by, 4);
    const double w = 2, A = 3, T = 4, c = cos(w * T), s = sin(w * T); // x = A cos wt: A^3 w^2 c - A s/w + A s/T
    assert_close(g.value, A * A * A * w * w * c - A * s / w + A * s / T, 1e-8);
    assert_close(g.gradient[0], A * A * A * (2 * w * c - w * w * T * s) - A * T * c / w + A * s / (w * w) + A * c,
                 1e-7);
    assert_close(g.gradient[1], 3 * A * A * w * w * c - s / w + s / T, 1e-7);
    carom_gradient_free(&g);
}

// x'' + x = 0 from x = 0 with rate v and a stop at 1: it is grazed at v = 1.
static void near_grazing(void **state) {
    (void)state;
    static const char *const by[] = {"v", "z", NULL};
    static const double v[] = {1.01, 0.99, 1 + 1e-4, 1 - 1e-4, 1 + 5e-7, 1 - 5e-7};
    for (int i = 0; i < 6; ++i) {
        char text[400];
        carom_gradient g;
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {v: %.17g, z: 1}\ncoordinates: {x: {at: 0, rate: v}}\nenergy: {kinetic: "
                 "x'^2/2, potential: x^2/2}\ncontacts: {stop: {gap: z - x, restitution: 0.6}}\n",
                 v[i]);
        carom_gradient_def d = define(text, "x", by, 3);
        const carom_status status = carom_gradient_find(&g, &d, &err);
        assert_int_equal(status, i < 4 ? CAROM_OK : CAROM_NOT_CONVERGED);
        if (i >= 4) assert_non_null(strstr(err.text, "one-sided"));
        if (i < 4) assert_int_equal(g.note[0] != 0, i >= 2);
        carom_gradient_free(&g);
        d.one_sided = true;
        assert_int_equal(carom_gradient_find(&g, &d, &err), CAROM_OK);
        const double D = fabs(v[i] - 1);
        // v (v^2 - 1)/2 before the stop, 1 - v where it is missed
        if (!(fabs(g.distance[0] - D) < 1.6 * D * D + 1e-10)) fail_msg("v = %.9g: %.12g", v[i], g.distance[0]);
        assert_true(i < 2 || strstr(g.note, "'stop'"));
        carom_gradient_free(&g);
    }
}

// Two extremes of the same size have two gradients.
static void equal_extremes(void **state) {
    (void)state;
    static const char *const by[] = {"w", NULL};
    carom_gradient g = gradient("carom: 1\nparameters: {w: 2}\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: "
                                "x'^2/2, potential: w^2*x^2/2}\n",
                                "max(x)", by, 5);
    assert_non_null(strstr(g.note, "two extremes are equal"));
    carom_gradient_free(&g);
}

// -- backwards ----------------------------------------------------------------------------------------------------

// Of more than ten names derivatives come on the way back; they must be those of each name alone, which come forwards.
static void same_backwards(const char *text, const char *of, const char *const *by, double end, double tolerance) {
    carom_gradient g = gradient(text, of, by, end);
    if (!g.adjoint) fail_msg("%s: not backwards", of);
    double most = 0;
    for (int j = 0; j < g.n; ++j) most = fmax(most, fabs(g.gradient[j]));
    for (int j = 0; j < g.n; ++j) {
        carom_gradient one = gradient(text, of, (const char *const[]){by[j], NULL}, end);
        assert_true(!one.adjoint);
        if (!(fabs(one.value - g.value) <= 1e-9 * fmax(1, fabs(g.value))))
            fail_msg("%s: %.12g backwards, %.12g forwards", of, g.value, one.value);
        if (!(fabs(one.gradient[0] - g.gradient[j]) <= tolerance * fmax(most, 1)))
            fail_msg("%s by %s: %.12g backwards, %.12g forwards", of, by[j], g.gradient[j], one.gradient[0]);
        carom_gradient_free(&one);
    }
    carom_gradient_free(&g);
}

static void backwards(void **state) {
    (void)state;
    QUICK_SKIPS();
    // impacts of two masses with a spring, restitution of an expression, masses that enter all
    static const char *const by[] = {"m1", "m2", "k1", "k2", "c", "e", "stop", "F", "w", "x", "y", "x'", "y'", NULL};
    static const char masses[] =
        "carom: 1\nparameters: {m1: 1, m2: 1.5, k1: 4, k2: 3, c: 0.1, e: 0.6, stop: 0.3, F: 0.8, w: 1.3, e2: "
        "e^2}\ncoordinates: {x: {at: 0.2, rate: 1}, y: {at: 0, rate: -0.5}}\n"
        "energy: {kinetic: m1*x'^2/2 + m2*y'^2/2 + 0.1*m1*x*x'*y', potential: k1*x^2/2 + k2*(x - y)^2/2}\nforces: {x: "
        "F*cos(w*t) - c*x', y: -c*y'}\n"
        "contacts: {wall: {gap: stop - x, restitution: e}, each: {gap: 0.5 + x - y, restitution: e2}}\n";
    same_backwards(masses, "x*y + k1*y'", by, 6, 1e-8);
    same_backwards(masses, "integral(x^2 + F*y) + m1*rms(y')*mean(x)", by, 6, 1e-8);
    same_backwards(masses, "time of wall.impact[2]", by, 10, 1e-8);
    same_backwards(masses, "x' + k2*y at wall.impact[2]", by, 10, 1e-8);
    same_backwards(masses, "x'*y before wall.impact[2]", by, 10, 1e-8);
    // a block on a belt: slides, sticks, breaks away; a joint holds it on a line, which is pressed
    static const char *const friction[] = {"m", "k", "v", "mu", "ms", "N", "a", "c", "x", "x'", "w", NULL};
    static const char belt[] = "carom: 1\nparameters: {m: 1, k: 2, v: 0.4, mu: 0.3, ms: 0.4, N: 3, a: 0.1, c: 0.05, w: "
                               "0.7}\ncoordinates: {x: {at: 0, rate: 0}, y: {at: 0, rate: 0}}\n"
                               "energy: {kinetic: m*x'^2/2 + m*y'^2/2, potential: k*x^2/2 + N*y}\nforces: {x: -c*x' + "
                               "a*cos(w*t), y: a*sin(x)}\n"
                               "contacts: {belt: {gap: y, slip rate: \"x' - v\", friction: mu/(1 + ms*slip.speed)}}\n";
    same_backwards(belt, "x + x'", friction, 9, 1e-7);
    same_backwards(belt, "integral(x^2)", friction, 9, 1e-7);
    same_backwards(belt, "time of belt.slip[1]", friction, 9, 1e-7);
    same_backwards(belt, "time of belt.stick[2]", friction, 20, 1e-7);
    // what has no way back goes forwards
    carom_gradient g = gradient(masses, "max(x)", by, 6);
    assert_true(!g.adjoint && g.n == 13);
    carom_gradient_free(&g);
    refused(masses, "x at wall.impact[99]", by, 6, CAROM_NOT_CONVERGED, "increase `end`");
}

// A pendulum with a rod that is a joint, onto a stop: constraints in masses and directions.
static void backwards_with_joints(void **state) {
    (void)state;
    static const char *const by[] = {"m", "l", "g", "e", "at", "c", "k", "s", "F", "w", "p", NULL};
    static const char pendulum[] =
        "carom: 1\nparameters: {m: 1, l: 1, g: 9.81, e: 0.5, at: 0.3, c: 0.1, k: 0.5, s: 0.1, F: 0.3, w: 2, p: "
        "0.2}\ncoordinates: {x: {at: 0.8}, y: {at: -0.6}}\n"
        "energy: {kinetic: m*(x'^2 + y'^2)/2, potential: m*g*y + k*(x - s)^2/2}\nforces: {x: -c*x' + F*cos(w*t + "
        "p)}\nconstraints: {rod: x^2 + y^2 - 1}\ncontacts: {wall: {gap: x + at, restitution: e}}\n";
    same_backwards(pendulum, "x + y'", by, 2, 1e-8);
    same_backwards(pendulum, "time of wall.impact[1]", by, 2, 1e-8);
}

// -- shipped models against differences: `test_gradient long` ------------------------------------------------------

static double value_with(const char *text, const char *of, const char *name, double p, double end) {
    char change[100];
    carom_gradient g;
    carom_error err = {0};
    carom_gradient_def d = define(text, of, (const char *const[]){name, NULL}, end);
    d.model.set = (const char *const[]){change, NULL};
    snprintf(change, sizeof change, "%s=%.17g", name, p);
    const double value = carom_gradient_find(&g, &d, &err) == CAROM_OK ? g.value : NAN;
    carom_gradient_free(&g);
    return value;
}

// (F(-2h) - 8 F(-h) + 8 F(h) - F(2h))/(12 h) for the step that comes nearest: its error falls with h and its noise
// grows.
static void compare(const char *model, double end, const char *name) {
    char of[400] = "0";
    size_t length;
    char *text = shipped_text(model, &length);
    carom_model *m = good(text);
    for (int i = 0; i < 5 && i < carom_model_system(m)->nq; ++i)
        snprintf(of + strlen(of), sizeof of - strlen(of), " + %d*%s", i + 1, carom_model_coordinate(m, i));
    double p = NAN;
    for (int i = 0; i < carom_model_count(m).parameters; ++i) {
        double value;
        if (strcmp(carom_model_parameter(m, i, &value), name) == 0) p = value;
    }
    carom_model_destroy(m);
    carom_gradient g = gradient(text, of, (const char *const[]){name, NULL}, end);
    double best = HUGE_VAL, nearest = NAN;
    for (double rel = 1e-4; rel > 1e-7 && best > 1e-8; rel /= 10) {
        const double h = rel * fabs(p);
        const double d = (value_with(text, of, name, p - 2 * h, end) - 8 * value_with(text, of, name, p - h, end) +
                          8 * value_with(text, of, name, p + h, end) - value_with(text, of, name, p + 2 * h, end)) /
                         (12 * h);
        const double wrong =
            fabs(d - g.gradient[0]) / fmax(fmax(fabs(d), fabs(g.gradient[0])), 1e-3 * fabs(g.value / p));
        if (wrong < best) best = wrong, nearest = d;
    }
    print_message("%-26s t = %-6g by %-8s %18.11g  differences %18.11g  %.1e\n", model, end, name, g.gradient[0],
                  nearest, best);
    if (!(best < 1e-6)) fail_msg("%s by %s at %g: %.12g, differences %.12g", model, name, end, g.gradient[0], nearest);
    carom_gradient_free(&g);
    free(text);
}

static void models(void **state) {
    (void)state;
    static const struct { const char *model; double end; const char *by[4]; } table[] = {
        {"compass-walker", 3, {"slope", "foot"}},
        {"compass-walker", 6, {"slope"}},
        {"four-bar-clearance", 0.03, {"play", "r"}},
        {"euler-disk", 0.1, {"m"}},
        {"chain-drum", 0.1, {"l"}},
        {"dominoes", 0.1, {"h"}},
        {"flexible-rod", 0.02, {"l1"}},
        {"ball-in-box", 0.3, {"width", "tilt"}},
        {"bouncing-ball", 0.4, {"m", "weight"}},
        {"bouncing-ball", 1.7, {"m", "weight", "e"}},
        {"bouncing-ball-b", 0.5, {"R", "grav"}},
        {"bouncing-ball-b", 2.5, {"R", "grav", "e"}},
        {"impacting-oscillator", 1, {"m", "k"}},
        {"impacting-oscillator", 5, {"m", "k", "e"}},
        {"pendulum", 0.6, {"m", "J", "grav"}},
        {"pendulum", 3, {"m", "J", "grav"}},
        {"four-bar", 0.1, {"a"}},
        {"four-bar", 0.5, {"a"}},
        {"spinning-top", 0.3, {"m", "l", "J1"}},
        {"spinning-top", 1.5, {"m"}},
        {"gear-rattle", 0.05, {"J", "r1", "drag"}},
        {"gear-rattle", 0.25, {"J", "r1", "r2"}},
        {"rocking-block", 0.5, {"width", "height"}},
        {"two-ball-oscillator", 0.5, {"m", "k", "l"}},
        {"woodpecker", 0.06, {"mM", "mS"}},
        {"woodpecker", 0.3, {"mM", "mS", "c"}},
        {"newtons-cradle", 0.08, {"r", "l"}},
        {"newtons-cradle", 0.4, {"r", "l"}},
        {"falling-top", 0.0025, {"m", "l"}},
        {"falling-top", 0.1, {"l"}},
        {"slider-crank-clearance", 0.0075, {"l1", "l2"}},
        {"slider-crank-clearance", 0.045, {"l1", "l2"}},
        {"slider-crank-frictionless", 0.0075, {"l1", "l2"}},
        {"slider-crank-frictionless", 0.045, {"l1", "l2"}},
        {"slider-crank", 0.0075, {"l1", "l2"}},
        {"slider-crank", 0.045, {"l1", "l2"}},
        {"slider-crank-bilateral", 0.0075, {"m1"}},
        {"slider-crank-bilateral", 0.045, {"m1"}},
        {"slider-crank-bodies", 0.0075, {"l1", "l2", "m1"}},
        {"slider-crank-bodies", 0.045, {"l1", "m1"}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        for (int k = 0; k < 4 && table[i].by[k]; ++k) compare(table[i].model, table[i].end, table[i].by[k]);
}

// A ball dropped from h: y' = -g t, then e g t_1 - g (t - t_1) with t_1 = sqrt(2 h/g); dy'/de = g t_1, dy'/dh = (1 + e)
// behind the impact times g dt_1/dh = sqrt(g/(2 h)). All of them are columns of a result.
static void columns(void **state) {
    (void)state;
    const char *const by[] = {"e", "y", NULL};
    const char *file = "gradient-columns.h5";
    carom_gradient_def d = {.of = "2*y", .by = by, .file = file, .run = carom_run_nothing()};
    d.model =
        (carom_model_def){.text = "carom: 1\nparameters: {e: 0.5}\ncoordinates: {y: {at: 0.8}}\nenergy: {kinetic: "
                                  "\"1/2*y'^2\", potential: 9.81*y}\ncontacts: {ground: {gap: y, restitution: e}}\n",
                          .file = "ball.yaml"};
    d.model.length = strlen(d.model.text), d.run.end = 0.6, d.run.step = 0.01;
    carom_gradient g;
    carom_error err = {0};
    if (carom_gradient_find(&g, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_result *r = carom_result_open(file, &err);
    assert_non_null(r);
    const long rows = carom_result_rows(r);
    assert_int_equal(rows, 61);
    static const char *const names[] = {"t", "2*y", "2*y by e", "2*y by y", "y by e", "y' by e", "y' by y"};
    double x[61][7];
    for (int i = 0; i < 7; ++i) {
        int at = 0;
        while (at < carom_result_columns(r) && strcmp(carom_result_column(r, at), names[i]) != 0) ++at;
        assert_true(at < carom_result_columns(r));
        for (long k = 0; k < rows; ++k) assert_int_equal(carom_result_read(r, at, k, 1, &x[k][i], &err), CAROM_OK);
    }
    const double t_1 = sqrt(1.6 / 9.81), dt_1 = sqrt(1 / (1.6 * 9.81));
    for (long k = 0; k < rows; ++k) {
        const bool behind = x[k][0] > t_1;
        const double since = x[k][0] - t_1;
        assert_close(
            x[k][1],
            behind ? 2 * (0.5 * 9.81 * t_1 * since - 9.81 / 2 * since * since) : 1.6 - 9.81 * x[k][0] * x[k][0], 1e-9);
        assert_close(x[k][2], behind ? 2 * 9.81 * t_1 * since : 0, 1e-8);
        assert_close(x[k][3], behind ? 2 * (1.5 * 9.81 * dt_1 * since - 0.5 * 9.81 * t_1 * dt_1) : 2, 1e-8);
        assert_close(x[k][4], x[k][2] / 2, 1e-12);
        assert_close(x[k][5], behind ? 9.81 * t_1 : 0, 1e-8);
        assert_close(x[k][6], behind ? 1.5 * 9.81 * dt_1 : 0, 1e-8);
    }
    assert_close(g.value, x[rows - 1][1], 1e-15);
    assert_close(g.gradient[1], x[rows - 1][3], 1e-15);
    carom_result_close(r);
    remove(file);
    carom_gradient_free(&g);
}

// Matrices are those of contacts that take part: 60 circles have 1830 pairs, of which none is closed.
static void room_for_what_takes_part(void **state) {
    (void)state;
#ifndef QUICK // sanitizers have a heap of their own
    enum { MOST = 150 << 10 }; // kB; with room for all contacts it is 200 MB
    struct rusage used;
    carom_gradient g = gradient("carom: 1\nparameters: {v: 0.3}\nbodies:\n"
                                "  o: {repeat: 60, index: i, body: {mass: 1, inertia: 0.01, at: [i, 0], "
                                "velocity: [v, 0], shape: {circle: 0.1}}}\n"
                                "contacts: {c: {among: [o]}}\nsimulation: {scheme: auto, step: 1e-2}\n",
                                "o.3.x", (const char *const[]){"v", NULL}, 0.1);
    assert_true(fabs(g.gradient[0] - 0.1) < 1e-9);
    carom_gradient_free(&g);
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    assert_in_range(used.ru_maxrss, 0, MOST);
#endif
}

// x'' + x'/10 + x - x^2 = P cos(0.85 t) near the saddle x = 1: y'' + y'/10 - y = 0, y (a - b) = a e^(bt) - b e^(at),
// a, b = -1/20 +- sqrt(1/400 + 1).  With P = 1e-12 forces are the rounding of terms that cancel; that must not shorten
// the steps.
static void rests_elsewhere(void **state) {
    (void)state;
    const double a = -0.05 + sqrt(1.0025), b = -0.05 - sqrt(1.0025), T = 7, P[] = {1e-6, 1e-12};
    double used[2] = {INFINITY, INFINITY};
    for (int i = 0; i < 6; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {P: %g}\ncoordinates: {x: 1}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
                 "x^2/2 - x^3/3}\nforces: {x: \"P*cos(0.85*t) - 0.1*x'\"}\n",
                 P[i % 2]);
        carom_gradient_def d = define(text, "x", (const char *const[]){"x", NULL}, T);
        d.run.options = (const char *const[]){"rtol=1e-12", NULL};
        carom_gradient g;
        carom_error err = {0};
        const clock_t start = clock();
        if (carom_gradient_find(&g, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
        used[i % 2] = fmin(used[i % 2], (double)(clock() - start));
        assert_close(g.gradient[0], (a * exp(b * T) - b * exp(a * T)) / (a - b), 500 * (P[i % 2] * 1e3 + 1e-8));
        carom_gradient_free(&g);
    }
    assert_true(used[1] < 5 * used[0]);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "long") == 0) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(models)};
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_once),
        cmocka_unit_test(rests_elsewhere),
        cmocka_unit_test(ball_rests),
        cmocka_unit_test(held_inputs),
        cmocka_unit_test(block_stops),
        cmocka_unit_test(block_breaks_away),
        cmocka_unit_test(oblique_impact),
        cmocka_unit_test(stops_in_the_plane),
        cmocka_unit_test(begins_in_the_plane),
        cmocka_unit_test(energies_of_a_bar),
        cmocka_unit_test(together),
        cmocka_unit_test(with_mixed),
        cmocka_unit_test(keeps_rows),
        cmocka_unit_test(columns),
        cmocka_unit_test(held),
        cmocka_unit_test(jumps_elsewhere),
        cmocka_unit_test(no_number),
        cmocka_unit_test(times_of_impacts),
        cmocka_unit_test(times_of_opening_and_slip),
        cmocka_unit_test(composed),
        cmocka_unit_test(near_grazing),
        cmocka_unit_test(equal_extremes),
        cmocka_unit_test(backwards),
        cmocka_unit_test(backwards_with_joints),
        cmocka_unit_test(room_for_what_takes_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
