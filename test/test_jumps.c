// test_jumps.c: forces, walls and energies that jump or have a kink at a time: answers by hand, whatever the step.
#include "model_text.h"
#include "sim/sim.h"
#include "schemes.h"

typedef struct answer {
    const char *text;
    double end;
    double q, v;                       // of the last coordinate
    double external, impact, friction; // of the ledger
    double tolerance;                  // of mixed, which encloses events in an interval
    bool first;                        // of the first coordinate instead
    bool smooth;                       // nothing but the jump happens: splitting, too, is exact
} answer;

#define FREE "coordinates: {q: 0}\nenergy: {kinetic: q'^2/2}\n"
#define ROUNDING 1e-10

static void compare(const char *scheme, double h, const answer *a) {
    carom_model *m = good(a->text);
    carom_sim *sim = model_sim(m, scheme, NULL, h, a->end);
    const double tolerance = strcmp(scheme, "mixed") == 0 && a->tolerance > 0 ? a->tolerance
                             : strcmp(scheme, "auto") == 0                    ? 1e-7
                                                                              : ROUNDING;
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    const carom_ledger l = sim_ledger(sim);
    const int last = a->first ? 0 : carom_model_system(m)->nv - 1;
    const double is[] = {now.q[last],     now.v[last],       l.energy.external,
                         l.energy.impact, l.energy.friction, l.energy.balance};
    const double should[] = {a->q, a->v, a->external, a->impact, a->friction, 0};
    for (int i = 0; i < 6; ++i)
        if (!(fabs(is[i] - should[i]) <= tolerance))
            fail_msg("%s, step %g: number %d is %.17g, not %.17g\n%s", scheme, h, i, is[i], should[i], a->text);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void check(const answer *a) {
    static const double parts[] = {1, 0.5, 0.1, 0.0331};
    static const char *const schemes[] = {"event-driven", "mixed", "auto", "splitting"};
    for (size_t k = 0; k < 4; ++k)
        for (size_t i = 0; i < 4 && (k < 3 || a->smooth); ++i) compare(schemes[k], parts[i] * a->end, a);
}

// A pulse of -300 N over 0.1 ms, in flight; forces that begin at the end of a step, with > and with >=, on what stands
// in the origin; steps of floor().
static void in_flight(void **state) {
    (void)state;
    check(&(answer){"carom: 1\ncoordinates: {q: 10}\nenergy: {kinetic: q'^2/2}\nforces: {q: \"if((t >= 0.264)*(t < "
                    "0.2641), -300, 0)\"}\ncontacts: {c: {gap: q}}\n",
                    1, 10 - 0.03 * (1 - 0.26405), -0.03, .external = 0.00045, .smooth = true});
    check(&(answer){"carom: 1\n" FREE "forces: {q: \"if(t > 0.5, 2, 0)\"}\n", 1, 0.25, 1, .external = 0.5,
                    .smooth = true});
    check(&(answer){"carom: 1\n" FREE "forces: {q: \"2*(t >= 0.5)\"}\n", 1, 0.25, 1, .external = 0.5, .smooth = true});
    // x += v h + F h^2/2 over quarters with F = 0, 1, 2, 3
    check(&(answer){"carom: 1\n" FREE "forces: {q: floor(4*t)}\n", 1, (0.5 + 2 + 4.5) / 16, 1.5, .external = 1.125,
                    .smooth = true});
    // +1 and -1 by turns, 0.1 s each; the sine passes zero there
    check(&(answer){"carom: 1\n" FREE "forces: {q: sign(sin(10*pi*t))}\n", 1, 0.05, 0, .external = 0, .smooth = true});
}

// A spring becomes twice as stiff at 0.3 s: what that adds to its energy is external work.
static void energies(void **state) {
    (void)state;
    const double x = cos(0.3), v = -sin(0.3), w = sqrt(2), c = cos(0.7 * w), s = sin(0.7 * w);
    check(
        &(answer){"carom: 1\ncoordinates: {q: 1}\nenergy: {kinetic: q'^2/2, potential: \"if(t > 0.3, 2, 1)*q^2/2\"}\n",
                  1, x * c + v / w * s, v * c - x * w * s, .external = x * x / 2, .tolerance = 2e-2});
}

// Thrown upwards at rest; lifted while it slides (mu = 1/2); a brake that lets go; pushed while it slides.
static void in_contact(void **state) {
    (void)state;
#define SLIDES                                                                                                         \
    "carom: 1\ncoordinates: {q: 0, x: {at: 0, rate: 6}}\nenergy: {kinetic: (q'^2 + x'^2)/2, potential: "               \
    "10*q}\ncontacts: {g: {gap: q, slip: x, friction: 0.5}}\n"
    const double c = 0.503, way = 6 * c - 2.5 * c * c, u = 6 - 5 * c, r = 1 - c;
    // up with 20 m/s^2 over 10 ms, 1 mm; the work of 30 N is lost where it falls back
    check(&(answer){"carom: 1\ncoordinates: {q: 0}\nenergy: {kinetic: q'^2/2, potential: 10*q}\nforces: {q: \"if((t > "
                    "0.5)*(t < 0.51), 30, 0)\"}\ncontacts: {g: {gap: q}}\n",
                    1, 0, 0, .external = 0.03, .impact = 0.03, .tolerance = 1e-4});
    check(&(answer){SLIDES "forces: {q: \"if(t >= 0.503, 30, 0)\"}\n", 1, way + u * r, u, .external = 30 * 10 * r * r,
                    .friction = 5 * way, .smooth = true});
    check(&(answer){SLIDES "forces: {q: \"if(t > 0.503, -20, 0)\"}\n", 0.6, way + u * 0.097 - 7.5 * 0.097 * 0.097,
                    u - 15 * 0.097, .friction = 5 * way + 15 * (u * 0.097 - 7.5 * 0.097 * 0.097), .smooth = true});
    check(&(answer){"carom: 1\ncoordinates: {x: {at: 0, rate: 6}}\nenergy: {kinetic: x'^2/2}\ncontacts: {b: {normal "
                    "force: \"if(t >= 0.503, 0, 10)\", slip: x, friction: 0.5}}\n",
                    1, way + u * r, u, .friction = 5 * way, .first = true, .smooth = true});
}

// Laws that jump, 10 N on the contact: friction that falls while it slides, and below what holds a body; a brake that
// presses harder for a while; a belt that starts, and one that turns round; a motor that starts at once (J = 1/2, 2
// rad/s: the impulse 1 gives 2 J, half of it is lost); a plate that begins to rise, as `walls` below.
static void laws(void **state) {
    (void)state;
#define ON_BELT                                                                                                        \
    "carom: 1\ncoordinates: {q: 0, x: %s}\nenergy: {kinetic: (q'^2 + x'^2)/2, potential: 10*q}\n%scontacts: {g: "      \
    "{gap: q, %s, friction: \"%s\"}}\n"
    const double c = 0.503, way = 6 * c - 2.5 * c * c, u = 6 - 5 * c, r = 1 - c;
    char text[400];
    snprintf(text, sizeof text, ON_BELT, "{at: 0, rate: 6}", "", "slip: x", "if(t > 0.503, 0.2, 0.5)");
    check(
        &(answer){text, 1, way + u * r - r * r, u - 2 * r, .friction = 5 * way + 2 * (u * r - r * r), .smooth = true});
    snprintf(text, sizeof text, ON_BELT, "0", "forces: {x: 3}\n", "slip: x", "if(t > 0.503, 0.2, 0.5)");
    check(&(answer){text, 1, r * r / 2, r, .external = 1.5 * r * r, .friction = r * r, .smooth = true});
    // 5 N, then 20 N for 0.1 s, then 5 N: stops at 6/5 - 0.3 s
    const double v_1 = 6 - 5 * 0.303, v_2 = v_1 - 2;
    check(&(answer){"carom: 1\ncoordinates: {x: {at: 0, rate: 6}}\nenergy: {kinetic: x'^2/2}\ncontacts: {b: {normal "
                    "force: \"if((t >= 0.303)*(t < 0.403), 40, 10)\", slip: x, friction: 0.5}}\n",
                    1, (36 - v_1 * v_1) / 10 + (v_1 + v_2) / 2 * 0.1 + v_2 * v_2 / 10, 0, .friction = 18,
                    .tolerance = 1e-8, .first = true});
    // 0.4 s, 0.4 m until it sticks
    snprintf(text, sizeof text, ON_BELT, "0", "", "slip rate: \"x' - if(t > 0.303, 2, 0)\"", "0.5");
    check(&(answer){text, 1, 0.4 + 2 * 0.297, 2, .external = 4, .friction = 2, .tolerance = 1e-8});
    // 1 m/s after 0.1 m; 0.4 s to -1 m/s
    snprintf(text, sizeof text, ON_BELT, "0", "", "slip rate: \"x' - if(t > 0.303, if(t > 0.503, -1, 2), 0)\"", "0.5");
    check(&(answer){text, 1, 0.1 - 0.097, -1, .external = 2 + 2, .friction = 2 - 0.5 + 2, .tolerance = 1e-8});
    check(&(answer){"carom: 1\ngravity: [0, 0]\nbodies: {a: {mass: 1, inertia: 0.5}}\njoints: {j: {type: revolute, "
                    "between: [ground, a], at: [0, 0], motion: \"max(0, 2*(t - 0.303))\"}}\n",
                    1, 2 * 0.697, 2, .external = 2, .impact = 1, .smooth = true});
    // splitting finds the end of slip to its order; what it slides on is the belt that has started
    snprintf(text, sizeof text, ON_BELT, "0", "", "slip rate: \"x' - if(t > 0.303, 2, 0)\"", "0.5");
    compare("splitting", 0.1,
            &(answer){text, 0.6, 2.5 * 0.297 * 0.297, 5 * 0.297, .external = 10 * 0.297,
                      .friction = 10 * 0.297 - 12.5 * 0.297 * 0.297});
}

// A floor under a body at rest begins to rise with 2 m/s: the body leaves with 2 (1 + e); the floor gives 2 times that
// impulse, the impact takes 2 (1 - e^2).  And a wall that turns round at the start, towards what approaches it: u =
// -0.5, v = 0.2 + 0.5 e.
static void walls(void **state) {
    (void)state;
    const double c = 0.0503, r = 0.1 - c;
    const double radius = 0.1;
    static const char *const located[] = {"event-driven", "mixed", "auto", "splitting"};
    for (int k = 0; k < 4; ++k) {
        carom_model *m = good("carom: 1\ngravity: [0, -9.81]\nbodies:\n  plate: {shape: {box: [2, 0.2]}, motion: {at: "
                              "[0, \"-0.1 + max(0, 2*(t - 0.0503))\"]}}\n"
                              "  ball: {mass: 1, inertia: 0.005, shape: {circle: 0.1}, at: [0, 0.1]}\ncontacts: {all: "
                              "{between: [plate, ball], restitution: 0.5}}\n");
        carom_sim *sim = model_sim(m, located[k], NULL, 0.1, 0.1);
        model_sim_run(sim);
        assert_close(carom_sim_now(sim).q[1], radius + 3 * r - 4.905 * r * r, 1e-7);
        assert_close(sim_ledger(sim).energy.balance, 0, 1e-7);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    check(&(answer){"carom: 1\ncoordinates: {y: 0}\nenergy: {kinetic: y'^2/2, potential: 9.81*y}\ncontacts: {floor: "
                    "{gap: \"y - max(0, 2*(t - 0.0503))\", restitution: 0.5}}\n",
                    0.1, 3 * r - 4.905 * r * r, 3 - 9.81 * r, .external = 6, .impact = 1.5, .smooth = true});
    static const char *const wall[] = {"q - 0.2*abs(t)", "q - max(0, 0.2*t)"};
    for (int i = 0; i < 2; ++i) {
        char text[200];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {q: {at: 0, rate: -0.3}}\nenergy: {kinetic: q'^2/2}\ncontacts: {c: {gap: "
                 "\"%s\", restitution: 0.5}}\n",
                 wall[i]);
        check(&(answer){text, 1, 0.45, 0.45, .external = 0.15, .impact = 0.09375, .smooth = true});
        // steps that begin in a kink
        static const char *const others[] = {"half-explicit", "half-explicit-rk", "half-explicit-acceleration"};
        for (int k = 0; k < 3; ++k)
            compare(others[k], 0.1, &(answer){text, 1, 0.45, 0.45, .external = 0.15, .impact = 0.09375});
    }
    // (q_5 + e q_3)/(1 + e) is zero, to rounding, without an impulse: the impact comes one step later
    compare("schatzman-paoli", 0.125,
            &(answer){"carom: 1\ncoordinates: {q: {at: 0.2, rate: -0.3}}\nenergy: {kinetic: q'^2/2}\ncontacts: {c: "
                      "{gap: q, restitution: 0.5}}\n",
                      1.5, -0.025 + 0.125 * 0.15 * 6, 0.15, .impact = 0.03375});
}

// A stack of two, at rest on each other, on a floor that begins to rise with 0.8 m/s at 0.2503 s: both leave with 0.8
// (1 + e), every scheme to a step of gravity or two.
static void stacks(void **state) {
    (void)state;
    const double r = 0.32 - 0.2503, h = 1e-3;
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        if ((*s)->limitations & CAROM_NO_IMPACTS) continue;
        carom_model *m = good(
            "carom: 1\ncoordinates: {y: 0, z: 0}\nenergy: {kinetic: \"y'^2 + z'^2/2\", potential: 9.81*(2*y + z)}\n"
            "contacts: {f: {gap: \"y - max(0, 0.8*(t - 0.2503))\", restitution: 0.5}, g: {gap: z - y, restitution: "
            "0.5}}\n");
        carom_sim *sim = model_sim(m, (*s)->name, NULL, h, 0.32);
        model_sim_run(sim);
        for (int i = 0; i < 2; ++i)
            if (!(fabs(carom_sim_now(sim).v[i] - (1.2 - 9.81 * r)) <= 2 * 9.81 * h))
                fail_msg("%s: velocity %d is %g", (*s)->name, i, carom_sim_now(sim).v[i]);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// 2 kg and 3 kg, coupled, are driven at 2 m/s from 0.5003 s on.  The drive gives p w = 10 * 2 J, half of it is lost,
// also where the scheme cannot divide its steps.
static void drives(void **state) {
    (void)state;
    static const char *const contacts[] = {"", "contacts: {c: {gap: x + 9, restitution: 0.6}}\n"};
    static const char *const schemes[] = {"schatzman-paoli", "moreau-midpoint", "half-explicit", "ggl-midpoint"};
    for (int i = 0; i < 2; ++i)
        for (size_t k = 0; k < 4; ++k) {
            char text[300];
            snprintf(text, sizeof text,
                     "carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: \"x'^2 + 3/2*y'^2\"}\nconstraints: {d: "
                     "\"x - max(0, 2*(t - 0.5003))\", e: y - x}\n%s",
                     contacts[i]);
            carom_model *m = good(text);
            carom_sim *sim = model_sim(m, schemes[k], NULL, 1e-3, 1);
            model_sim_run(sim);
            const carom_ledger l = sim_ledger(sim);
            assert_close(carom_sim_now(sim).q[1], 2 * 0.4997, 1e-9);
            assert_close(l.energy.external, 20, 1e-9);
            assert_close(l.energy.impact, 10, 1e-9);
            assert_close(l.energy.balance, 0, 1e-9);
            carom_sim_destroy(sim);
            carom_model_destroy(m);
        }
}

// A cart of 1 kg and the pin of a rod (2 kg, 0.3 kg m2, 0.5 m below) are at rest and driven at 1.5 m/s from 0.2 s on.
// The rod takes p (1/2 + 0.25/0.3) = 1.5, p = 1.125; the impact takes (1 + 1.125/1.5) 1.5^2/2.  At rest every velocity
// is what rounding leaves of forces.
static void cart(void **state) {
    (void)state;
    static const char *const schemes[] = {"ggl-alpha",     "ggl-midpoint", "ggl-projection",
                                          "half-explicit", "moreau-jean",  "newmark"};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        carom_model *m = good("carom: 1\ngravity: [0, -10]\nbodies: {cart: {mass: 1, inertia: 1}, rod: {mass: 2, "
                              "inertia: 0.3, at: [0, -0.5]}}\n"
                              "joints:\n  drive: {type: prismatic, between: [ground, cart], at: [0, 0], axis: [1, 0], "
                              "motion: \"if(t < 0.2, 0, 1.5*(t - 0.2))\"}\n"
                              "  pin: {type: revolute, between: [cart, rod], at: [0, 0]}\n");
        carom_sim *sim = model_sim(m, schemes[k], NULL, 1e-3, 0.21);
        model_sim_run(sim);
        scheme_near(schemes[k], sim_ledger(sim).energy.impact, 1.75 * 1.125, 1e-9);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Values at a single instant, which ends a step, or is its middle, or the start or end of the run: forces, gaps, joints
// and friction go on as if they were not there, with every scheme.  One cannot divide its steps, and says so.
static void values_at_an_instant(void **state) {
    (void)state;
    static const struct { const char *text; double q; } models[] = {
        {"coordinates: {q: 1}\nenergy: {kinetic: q'^2/2}\nforces: {q: \"if(t == 0.5, 1e3, 0)\"}\n", 1},
        {"coordinates: {q: 1}\nenergy: {kinetic: q'^2/2}\nforces: {q: \"1e3*(t == 0) + 1e3*(t == 1)\"}\n", 1},
        {"coordinates: {q: 1}\nenergy: {kinetic: q'^2/2}\ncontacts: {c: {gap: \"q - if(t == 0.5, 2, 0)\", restitution: "
         "0.5}}\n",
         1},
        {"coordinates: {q: 1}\nenergy: {kinetic: q'^2/2}\nconstraints: {d: \"q - 1 - if(t == 0.5, 0.1, 0)\"}\n", 1},
        {"coordinates: {q: {rate: 1}, y: 0}\nenergy: {kinetic: q'^2/2 + y'^2/2, potential: 10*y}\ncontacts: {c: {gap: "
         "y, slip: q, friction: \"if(t == 0.5, 5, 0)\"}}\n",
         1},
    };
    static const double h[] = {0.1, 0.2};
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s)
        for (size_t i = 0; i < 10; ++i) {
            char text[400];
            const bool equal = (*s)->limitations & CAROM_NO_STEP_CHANGE;
            if ((i / 2 == 4 && (*s)->limitations & CAROM_NO_FRICTION) ||
                (i / 2 == 2 && (*s)->limitations & CAROM_NO_IMPACTS))
                continue;
            snprintf(text, sizeof text, "carom: 1\n%s", models[i / 2].text);
            carom_model *m = good(text);
            carom_sim *sim = model_sim(m, (*s)->name, NULL, h[i % 2], 1);
            carom_warning list[CAROM_WARNINGS];
            model_sim_run(sim);
            const carom_ledger l = sim_ledger(sim);
            const int n = carom_sim_warnings(sim, &l, list);
            bool said = false;
            for (int k = 0; k < n; ++k) said = said || strstr(list[k].text, "alone");
            if (equal) assert_true(said);
            else if (n > 0) fail_msg("%s: %s\n%s", (*s)->name, list[0].text, text);
            if (!equal) scheme_near((*s)->name, carom_sim_now(sim).q[0], models[i / 2].q, 1e-9);
            carom_sim_destroy(sim);
            carom_model_destroy(m);
        }
}

// A potential of 1 J before and 3 J behind T, without a force: at T = 0 the run starts with the 3 J, later the 2 J come
// from outside.  T = 0.1 is the end of a step, 0.13 lies inside one.
static void a_jump_at_the_start_belongs_to_the_start(void **state) {
    (void)state;
    static const struct { const char *scheme; bool inside; } schemes[] = {
        {"auto", true}, {"mixed", true}, {"event-driven", true}, {"splitting", true}, {"half-explicit", false}};
    static const double at[] = {0, 0.1, 0.13};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i)
        for (int k = 0; k < (schemes[i].inside ? 3 : 2); ++k) {
            char text[200];
            snprintf(
                text, sizeof text,
                "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2, potential: \"if(t > %g, "
                "3, 1)\"}\n",
                at[k]);
            carom_model *m = good(text);
            carom_sim *sim = model_sim(m, schemes[i].scheme, NULL, 0.1, 0.5);
            carom_error err = {0};
            carom_ledger l;
            model_sim_run(sim);
            assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
            if (!(fabs(l.energy.start - (k ? 1.5 : 3.5)) < 1e-12 && fabs(l.energy.external - (k ? 2 : 0)) < 1e-12))
                fail_msg("%s, a jump at %g: starts with %g J, %g J from outside", schemes[i].scheme, at[k],
                         l.energy.start, l.energy.external);
            carom_sim_destroy(sim), carom_model_destroy(m);
        }
}

// Smooth pulses of width w and impulse 0.3 at 0.3137 s, on a body in flight and on one that rests; steps are up to 1e5
// times longer.  And a force that rises from 0 to 10 N around 0.5 s: the two halves of tanh cancel.
static void pulses(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "auto", "mixed", "splitting"};
    static const double width[] = {1e-2, 1e-3, 1e-5}, steps[] = {1, 0.1, 0.04}, tolerance[] = {1e-8, 1e-7, 3e-4, 3e-4};
    char text[300];
    enum { STRIDE = BRIEF ? 5 : 1 }; // no multiple of 2, 3 or 4
    for (int n = 0; n < 72; n += STRIDE) {
        const double w = width[n % 3], h = steps[n / 3 % 3];
        const int k = n / 9 % 4;
        snprintf(text, sizeof text,
                 "carom: 1\n" FREE "forces: {q: %.17g*exp(-((t - 0.3137)/%g)^2)}\ncontacts: {g: {gap: q + %d}}\n",
                 0.3 / (w * sqrt(3.14159265358979323846)), w, n / 36);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, schemes[k], NULL, h, 1);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        if (!(fabs(*now.v - 0.3) <= tolerance[k] && fabs(*now.q - 0.3 * (1 - 0.3137)) <= tolerance[k]))
            fail_msg("%s, step %g, width %g: q = %.12g, v = %.12g", schemes[k], h, w, *now.q, *now.v);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    for (int n = 0; n < 12; ++n) { // in motion; at rest, where the force is rounding at first, in the origin and
                                   // elsewhere
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {q: {at: %d, rate: %d}}\nenergy: {kinetic: q'^2/2}\nforces: {q: \"5 + "
                 "5*tanh((t - 0.5)/1e-4)\"}\n",
                 n / 8, n / 4 % 2);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, schemes[n % 4], NULL, 0.1, 1);
        model_sim_run(sim);
        assert_close(*carom_sim_now(sim).v, 5 + n / 4 % 2, 1e-4);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    for (int n = 0; n < 2; ++n) { // the force is gone again before the run ends: its size is known by what it is
                                  // between
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {q: %d}\nenergy: {kinetic: q'^2/2}\nforces: {q: \"5*tanh((t - 0.3)/1e-2) - "
                 "5*tanh((t - 0.6)/1e-2)\"}\n",
                 n);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, "auto", NULL, 0.1, 1);
        model_sim_run(sim);
        assert_close(*carom_sim_now(sim).v, 3, 1e-5);
        assert_close(*carom_sim_now(sim).q, n + 3 * 0.55, 1e-5);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Works of single loads, where steps are cut: those of the two impulses, to the trapezoidal rule on pieces of the
// pulse.  A pulse inside a step at whose ends all rests is no false alarm.
static void works(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "auto", "mixed", "splitting"};
    carom_model *m = good("carom: 1\nbodies: {b: {mass: 1, inertia: 1, at: [0, 0]}}\nloads:\n  push: {on: b, force: "
                          "[\"300/sqrt(pi)*exp(-((t - 0.3137)/1e-3)^2)\", 0]}\n"
                          "  kick: {on: b, force: [0, \"if((t >= 0.264)*(t < 0.2641), -300, 0)\"]}\n");
    carom_model *rests = good("carom: 1\ncoordinates: {q: 0}\nenergy: {kinetic: q'^2/2, potential: 10*q}\nforces: {q: "
                              "\"if((t > 0.5)*(t < 0.51), 30, 0)\"}\ncontacts: {g: {gap: q}}\n");
    for (int k = 0; k < 4; ++k) {
        carom_sim *sim = model_sim(m, schemes[k], NULL, 0.1, 1);
        model_sim_run(sim);
        assert_close(carom_sim_works(sim)[0], 0.045, 0.01 * 0.045);
        assert_close(carom_sim_works(sim)[1], 0.00045, 1e-12);
        carom_sim_destroy(sim);
        sim = model_sim(rests, schemes[k], NULL, 0.1, 1);
        model_sim_run(sim);
        const carom_ledger l = sim_ledger(sim);
        carom_warning list[CAROM_WARNINGS];
        const int n = carom_sim_warnings(sim, &l, list);
        for (int i = 0; i < n; ++i) fail_msg("%s: %s", schemes[k], list[i].text);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
    carom_model_destroy(rests);
}

// Adaptive steps, too, end and begin beside jumps and meet pulses: the impulse is -0.03, then 0.3; works by the
// trapezoidal rule on each side are exact.
static void adaptive(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-jean", "half-explicit", "newmark", "ggl-alpha", "mixed"},
                             *const on[] = {"adaptive=on", NULL};
    carom_model *pulse = good("carom: 1\ncoordinates: {q: 10}\nenergy: {kinetic: q'^2/2}\nforces: {q: \"if((t >= "
                              "0.264)*(t < 0.2641), -300, 0)\"}\ncontacts: {c: {gap: q}}\n");
    carom_model *smooth =
        good("carom: 1\n" FREE "forces: {q: 300/sqrt(pi)*exp(-((t - 0.3137)/1e-3)^2)}\ncontacts: {c: {gap: q}}\n");
    for (int k = 0; k < 10; ++k) {
        carom_sim *sim = model_sim(k < 5 ? pulse : smooth, schemes[k % 5], on, k % 2 ? 0.1 : 0.264, 1);
        model_sim_run(sim);
        const double v = *carom_sim_now(sim).v, q = *carom_sim_now(sim).q;
        assert_close(v, k < 5 ? -0.03 : 0.3, k < 5 ? 1e-11 : 1e-3);
        assert_close(q, k < 5 ? 10 - 0.03 * (1 - 0.26405) : 0.3 * (1 - 0.3137), k < 5 ? 1e-11 : 1e-3);
        assert_close(sim_ledger(sim).energy.balance, 0, k < 5 ? 1e-14 : 1e-4);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(pulse);
    carom_model_destroy(smooth);
}

// A comparison that nearly changes at 0.5 needs a million looks; behind it lies a pulse of impulse 1.  And comparisons
// of what differs by rounding alone: a triple zero at 0.3, whose sign is open within 1e-5 of it, and a sign of zero.
static void looks(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "mixed", "auto", "splitting"};
    static const struct { const char *force; double v, tolerance; } x[] = {
        {"if(t^2 - t + 0.25 + 1e-12 < 0, 1, 0) + if((t > 0.7)*(t < 0.70001), 1e5, 0)", 1, 1e-9},
        {"if(t^3 - 0.9*t^2 + 0.27*t - 0.027 > 0, 1, 0)", 0.7, 1e-5},
        {"1 + sign(sin(t)^2 + cos(t)^2 - 1)", 1, 1},
        {"1 + sign(t - t) + (t > 0.3)", 1.7, 1e-10},
    };
    for (int i = 0; i < 16; ++i) {
        char text[300];
        snprintf(text, sizeof text, "carom: 1\n" FREE "forces: {q: \"%s\"}\n", x[i % 4].force);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, schemes[i / 4], NULL, 1, 1);
        model_sim_run(sim);
        assert_close(*carom_sim_now(sim).v, x[i % 4].v, x[i % 4].tolerance);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A value at one instant alone does nothing, at the start, inside steps and at their ends.  Forces whose derivatives
// are infinite at the start: t^1/2, t^5/2.
static void instants(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "mixed", "auto", "splitting"}, *const forces[] = {
                                                                                             "sign(t^2)",
                                                                                             "sign((t - 0.5)^2)",
                                                                                             "if(t == 0.25, 500, 1)",
                                                                                             "1 + 500*(t == 1)"};
    for (int i = 0; i < 32; ++i) {
        char text[200];
        snprintf(text, sizeof text, "carom: 1\n" FREE "forces: {q: \"%s\"}\n", forces[i % 4]);
        compare(schemes[i / 8], i / 4 % 2 ? 0.5 : 0.1, &(answer){text, 1, 0.5, 1, .external = 0.5});
    }
    for (int i = 0; i < 8; ++i) {
        carom_model *m =
            good(i % 2 ? "carom: 1\n" FREE "forces: {q: 3*sqrt(t)}\n" : "carom: 1\n" FREE "forces: {q: 3.5*t^2.5}\n");
        carom_sim *sim = model_sim(m, i / 4 ? "auto" : "event-driven", NULL, i / 2 % 2 ? 0.5 : 0.01, 1);
        model_sim_run(sim);
        assert_close(*carom_sim_now(sim).v, i % 2 ? 2 : 1, 1e-6);
        assert_close(*carom_sim_now(sim).q, i % 2 ? 0.8 : 1 / 4.5, 1e-6);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Pulses whose bounds over long intervals are infinite: a denominator that by its bounds may vanish.  v = (a + b)/pi
// with angles atan(x/w) at both sides, w = 1e-4.
static void unbounded(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "auto", "mixed", "splitting"};
    static const double tolerance[] = {1e-8, 1e-7, 5e-4, 1e-4};
    const double v = (atan(0.3137e4) + atan(0.6863e4)) / 3.14159265358979323846;
    carom_model *m = good("carom: 1\n" FREE "forces: {q: 1e-4/(t^2 - 0.6274*t + 0.3137^2 + 1e-8)/pi}\n");
    for (int i = 0; i < 8; ++i) {
        carom_sim *sim = model_sim(m, schemes[i % 4], NULL, i / 4 ? 0.1 : 1, 1);
        model_sim_run(sim);
        assert_close(*carom_sim_now(sim).v, v, tolerance[i % 4]);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// A run that goes on from its kept state, in a step that begins at a jump, is the same run.
static void goes_on(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\n" FREE "forces: {q: \"if(t > 0.5, 2, 0)\"}\n");
    for (int i = 0; i < 2; ++i) {
        carom_error err = {0};
        carom_sim *a = model_sim(m, i ? "auto" : "mixed", NULL, 0.125, 1),
                  *b = model_sim(m, i ? "auto" : "mixed", NULL, 0.125, 1);
        size_t size = 0;
        for (int k = 0; k < 4; ++k) assert_int_equal(carom_sim_step(a, &err), CAROM_OK);
        const void *kept = carom_sim_state(a, &size);
        assert_int_equal(carom_sim_restore(b, kept, size, &err), CAROM_OK);
        model_sim_run(a);
        model_sim_run(b);
        assert_true(*carom_sim_now(a).q == *carom_sim_now(b).q && *carom_sim_now(a).v == *carom_sim_now(b).v);
        carom_sim_destroy(a);
        carom_sim_destroy(b);
    }
    carom_model_destroy(m);
}

static const char *coordinate(const void *model, int i) {
    (void)model, (void)i;
    return "q";
}

// A force or gap without a value is named, with the time: at the start of the run, and later.
static void no_value(void **state) {
    (void)state;
    static const struct { const char *text, *error; } z[] = {
        {"carom: 1\n" FREE "forces: {q: 0.5/sqrt(t)}\n", "t = 0: the force on 'q' is infinite"},
        {"carom: 1\n" FREE "forces: {q: sqrt(0.5 - t)}\n", ": the force on 'q' is not a number"},
        {"carom: 1\n" FREE "contacts: {c: {gap: \"1 + q + 1e-3*sqrt(0.4321 - t)\"}}\n",
         ": the gap of 'c' is not a number"},
    };
    static const char *const schemes[] = {"moreau-jean", "half-explicit", "ggl-alpha"};
    for (int i = 0; i < 9; ++i) {
        carom_model *m = good(z[i / 3].text);
        carom_error err = {0};
        carom_sim_def d = carom_sim_default();
        d.system = carom_model_system(m), d.schemes = carom_schemes(), d.scheme = schemes[i % 3], d.h = 0.1,
        d.t_end = 1, d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
        d.name = (const char *(*)(const void *, long long))carom_model_constraint, d.rate_name = coordinate;
        d.name_user = m;
        carom_sim *sim = carom_sim_create(&d, &err);
        if (sim) carom_sim_run(sim, NULL, NULL, &err);
        if (!strstr(err.text, z[i / 3].error)) fail_msg("%s: %s, not %s", schemes[i % 3], err.text, z[i / 3].error);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A value at an instant is none of the motion.  A tent as narrow as it may be is: it is there a little before and
// behind, too.  So are a jump and a kink.
static void tents_are_no_instants(void **state) {
    (void)state;
    static const struct {
        const char *force;
        bool alone;
    } cases[] = {{"if(t == 0.5, 3, 0)", true},
                 {"if(t == 0.5, -3, 1)", true},
                 {"max(0, 3 - 1e12*abs(t - 0.5))", false},
                 {"if(t >= 0.5, 3, 0)", false},
                 {"if(t > 0.5, 3, 0)", false},
                 {"1e12*abs(t - 0.5)", false},
                 {"abs(t - 0.5)", false},
                 {"3", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: 0, y: 1}\nenergy: {kinetic: (x'^2 + y'^2)/2}\nforces: {x: 1, y: "
                 "'%s'}\ncontacts: {wall: {gap: x + 5}}\n",
                 cases[i].force);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, "moreau-jean", NULL, 0.1, 1);
        if (carom_sim_alone(sim, 0.5) != cases[i].alone)
            fail_msg("%s: %s", cases[i].force, cases[i].alone ? "no instant" : "an instant");
        assert_false(carom_sim_alone(sim, 0.25));
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_flight),
                                       cmocka_unit_test(energies),
                                       cmocka_unit_test(in_contact),
                                       cmocka_unit_test(laws),
                                       cmocka_unit_test(walls),
                                       cmocka_unit_test(stacks),
                                       cmocka_unit_test(drives),
                                       cmocka_unit_test(cart),
                                       cmocka_unit_test(values_at_an_instant),
                                       cmocka_unit_test(a_jump_at_the_start_belongs_to_the_start),
                                       cmocka_unit_test(pulses),
                                       cmocka_unit_test(works),
                                       cmocka_unit_test(adaptive),
                                       cmocka_unit_test(looks),
                                       cmocka_unit_test(instants),
                                       cmocka_unit_test(unbounded),
                                       cmocka_unit_test(goes_on),
                                       cmocka_unit_test(no_value),
                                       cmocka_unit_test(tents_are_no_instants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
