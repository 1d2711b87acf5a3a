// test_rest.c: what rests must rest, and lasting contact is no impact, with every scheme.
//
// Blocks on slopes below their angle of friction, 1e-6 to 1e3 m in size, at the origin and up to a million sizes away
// from it: after a thousand steps none has moved by more than 1e-9 of its size and 1e-12 of its distance from the
// origin.  Gaps of such blocks are rounding, and a contact that takes one for open lets its block fall, slide or hop.
#include "model_text.h"
#include "schemes.h"

typedef struct watch {
    double q_0[21], most; // start; largest motion of a position
    int n;
} watch;

static carom_status look(void *user, const carom_now *now) {
    watch *w = user;
    for (int i = 0; i < w->n; ++i) w->most = fmax(w->most, fabs(now->q[i] - w->q_0[i]));
    return CAROM_OK;
}

static carom_ledger run_model(const carom_model *m, const carom_scheme *s, double h, double t_end, watch *w) {
    carom_error err = {0};
    carom_sim_def d = sim_def(m, s->name, NULL, h, t_end);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s: %s", s->name, err.text);
    *w = (watch){.n = d.system->nq < 21 ? d.system->nq : 21};
    carom_copy(w->q_0, d.q0, w->n);
    if (carom_sim_run(sim, look, w, &err) != CAROM_OK) fail_msg("%s: %s", s->name, err.text);
    const carom_ledger l = sim_ledger(sim);
    carom_sim_destroy(sim);
    return l;
}

static carom_ledger run(const char *text, const carom_scheme *s, double h, double t_end, watch *w) {
    carom_model *m = good(text);
    const carom_ledger l = run_model(m, s, h, t_end, w);
    carom_model_destroy(m);
    return l;
}

// Numbers between 0 and 1, the same every time.
static double draw(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

static void blocks_rest(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_FRICTION)) continue;
        unsigned seed = 7;
        for (int i = 0; i < 16; ++i) {
            const double a = 0.05 + 1.15 * draw(&seed), size = pow(10, -6 + 9 * draw(&seed)),
                         far = draw(&seed) < 0.6 ? 0 : size * pow(10, 6 * draw(&seed));
            const double mass = pow(10, -3 + 6 * draw(&seed)), mu = tan(a) * (draw(&seed) < 0.5 ? 1.02 : 1.5),
                         e = i % 3 / 2.0, h = 0.1 * sqrt(size / 9.81);
            char text[700];
            watch w;
            snprintf(text, sizeof text,
                     "carom: 1\nparameters: {a: %.17g, m: %.17g, far: %.17g}\ncoordinates: {x: {at: far*cos(a)}, y: "
                     "{at: -far*sin(a)}}\n"
                     "energy: {kinetic: \"m/2*(x'^2 + y'^2)\", potential: m*9.81*y}\ncontacts: {plane: {gap: y*cos(a) "
                     "+ x*sin(a), slip: x*cos(a) - y*sin(a), "
                     "restitution: %g, friction: %.17g}}\n",
                     a, mass, far, e, mu);
            const carom_ledger l = run(text, s, h, 1000 * h, &w);
            scheme_near(s->name, w.most, 0, 1e-9 * size + 1e-12 * far);
            scheme_near(s->name, l.energy.balance, 0, mass * 9.81 * (1e-9 * size + 1e-12 * far));
            assert_int_equal(l.impacts, 0);
        }
    }
}

// In coordinates of the slope everything that could scale a gap is zero at the start.
static void a_block_at_the_origin_rests(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        watch w;
        if (skipped(s, CAROM_NO_FRICTION)) continue;
        run("carom: 1\ncoordinates: {s: 0, n: 0}\nenergy: {kinetic: 3/2*(s'^2 + n'^2), potential: 3*9.81*(n*cos(0.5) - "
            "s*sin(0.5))}\n"
            "contacts: {plane: {gap: n, slip: s, restitution: 0, friction: 0.6}}\n",
            s, 1e-3, 2, &w);
        scheme_near(s->name, w.most, 0, 1e-12);
    }
}

// All coordinates are 0 and the gap is rounding, -5.6e-17: it is made of lengths of 0.3, which are parameters, numbers,
// or sizes of shapes, and no overlap.  An overlap of 1e-8 of these is refused.
static void what_touches_to_rounding_starts_and_rests(void **state) {
    (void)state;
    static const struct { const char *text, *starts, *overlaps; } models[] = {
        {"parameters: {a: 0.1, b: 0.2, c: %s}\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2, potential: "
         "9.81*x}\ncontacts: {w: {gap: x - (a + b) + c}}\n",
         "0.3", "0.299999997"},
        {"parameters: {a: 0.1, b: 0.2}\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: (x'^2 + y'^2)/2, potential: "
         "9.81*y}\ncontacts: {w: {gap: \"%s - hypot(x, y - a - b)\"}}\n",
         "0.3", "0.299999997"},
        {"gravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1], at: [0, %s]}}\nbodies: {b: {mass: 1, inertia: 0.1, "
         "shape: {circle: 0.3}}}\ncontacts: {w: {between: [b, floor]}}\n",
         "-0.3 + 6e-17", "-0.299999997"},
        {"gravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1], at: [0, 0, %s]}}\nbodies: {b: {mass: 1, inertia: "
         "[0.1, 0.1, 0.1], shape: {ellipsoid: [0.3, 0.3, 0.3]}}}\ncontacts: {w: {between: [b, floor]}}\n",
         "-0.3 + 6e-17", "-0.299999997"},
    };
    for (int i = 0; i < 4; ++i) {
        char text[400] = "carom: 1\n";
        const carom_scheme *s;
        carom_error err = {0};
        watch w;
        snprintf(text + 9, sizeof text - 9, models[i].text, models[i].overlaps);
        assert_null(model_of(text, &err));
        if (!strstr(err.text, i < 2 ? "has a negative initial gap (-3e-09)" : "overlap initially (gap -3e-09)"))
            fail_msg("model %d: %s", i, err.text);
        snprintf(text + 9, sizeof text - 9, models[i].text, models[i].starts);
        carom_model *m = good(text);
        for (EACH_SCHEME(s)) {
            if (skipped(s, CAROM_NO_IMPACTS)) continue;
            const carom_ledger l = run_model(m, s, 1e-2, 0.2, &w);
            scheme_near(s->name, w.most, 0, 1e-9 * 0.3);
            assert_int_equal(l.impacts, 0);
        }
        carom_sim *sim = model_sim(m, i < 3 ? "event-driven" : "moreau-midpoint", NULL, 1e-2, 0.2);
        carom_warning list[CAROM_WARNINGS];
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
        const carom_ledger l = sim_ledger(sim);
        if (carom_sim_warnings(sim, &l, list)) fail_msg("model %d: %s", i, list[0].text);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Two feet in the plane, four in space: contacts that share a load.
static void boxes_rest(void **state) {
    (void)state;
    static const char *const models[] = {
        "carom: 1\ngravity: [0, -9.81]\nparameters: {a: 0.3}\nshapes: {floor: {plane: [sin(a), cos(a)]}}\nbodies:\n"
        "  b: {mass: 2, inertia: 0.02, at: [30*cos(a) + 0.05*sin(a), -30*sin(a) + 0.05*cos(a)], angle: -a, shape: "
        "{box: [0.3, 0.1]}}\n"
        "contacts: {c: {between: [floor, b], friction: 0.4, restitution: 0.5}}\n",
        "carom: 1\ngravity: [9.81*sin(0.3), 0, -9.81*cos(0.3)]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
        "  b: {mass: 2, inertia: [0.01, 0.02, 0.02], at: [30, 0, 0.05], shape: {box: [0.3, 0.2, 0.1]}}\n"
        "contacts: {c: {between: [floor, b], friction: 0.4, restitution: 0.5}}\n",
    };
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_FRICTION)) continue;
        for (int i = 0; i < 2; ++i) {
            watch w;
            assert_int_equal(run(models[i], s, 5e-3, 2.5, &w).impacts, 0);
            scheme_near(s->name, w.most, 0, 1e-9 * 0.3 + 1e-12 * 30);
        }
    }
}

// Stacks, in line and not, with equal masses and 1 : 100.  Corners in line lie on the corners of the other box:
// rounding must not choose between its faces.  Bodies on each other fall together where a scheme looks at the motion
// without contacts: they stay in contact.
static void stacks_rest(void **state) {
    (void)state;
#define TWO_IN_SPACE(shape) "carom: 1\ngravity: [0.5, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n" \
        "  a: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.1, 0.2, 0.1], shape: {" shape "}}\n" \
        "  b: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.1, 0.2, 0.3], shape: {" shape "}}\n" \
        "contacts: {c: {between: [a, floor], friction: 0.5}, d: {between: [a, b], friction: 0.5}}\n"
    static const struct { const char *text; double end; } models[] = {
        {"carom: 1\ngravity: [9.81*sin(0.2), -9.81*cos(0.2)]\nshapes: {floor: {plane: [0, 1]}}\nbodies:\n"
         "  a: {mass: 1, inertia: 0.0167, at: [0, 0.1], shape: {box: [0.4, 0.2]}}\n  b: {mass: 1, inertia: 0.0167, at: "
         "[0, 0.3], shape: {box: [0.4, 0.2]}}\n"
         "contacts: {c: {between: [a, floor], friction: 0.5, restitution: 0.5}, d: {between: [a, b], friction: 0.5, "
         "restitution: 0.5}}\n",
         0.1},
        {"carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1]}}\nbodies:\n"
         "  a: {mass: 1, inertia: 0.0167, at: [0, 0.1], shape: {box: [0.4, 0.2]}}\n  b: {mass: 100, inertia: 1.67, at: "
         "[0.01, 0.3], shape: {box: [0.4, 0.2]}}\n"
         "  d: {mass: 1, inertia: 0.0167, at: [0, 0.5], shape: {box: [0.4, 0.2]}}\n"
         "contacts: {c: {between: [a, floor], friction: 0.5}, e: {between: [a, b], friction: 0.5}, f: {between: [b, "
         "d], friction: 0.5}}\n",
         0.03},
        {TWO_IN_SPACE("box: [0.4, 0.4, 0.2]"), 0.02},
        {TWO_IN_SPACE("cylinder: [0.2, 0.2]"), 0.01},
        {"carom: 1\ngravity: [1.4, 0, -9.7]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
         "  a: {mass: 1, inertia: [0.02, 0.02, 0.03], at: [0.12, 0.21, 0.05], shape: {box: [0.4, 0.4, 0.1]}}\n  b: "
         "{mass: 100, inertia: [2, 2, 3], at: [0.08, 0.19, 0.15], shape: {box: [0.4, 0.4, 0.1]}}\n"
         "  d: {mass: 1, inertia: [0.02, 0.02, 0.03], at: [0.12, 0.21, 0.25], shape: {box: [0.4, 0.4, 0.1]}}\ncontact "
         "defaults: {friction: 0.5, restitution: 0.3}\n"
         "contacts: {c: {between: [a, floor]}, e: {between: [a, b]}, f: {between: [b, d]}}\n",
         0.02},
    };
    for (int i = 0; i < 5; ++i) {
        carom_model *m = good(models[i].text);
        const carom_scheme *s;
        for (EACH_SCHEME(s)) {
            watch w;
            if (skipped(s, CAROM_NO_FRICTION)) continue;
            // Rims that coincide have no direction in which they touch: schemes that differentiate it do not converge.
            if (i == 3 && strcmp(s->name, "newmark") != 0 && strcmp(s->name, "moreau-jean") != 0) continue;
            const carom_ledger l = run_model(m, s, 5e-3, models[i].end, &w);
            scheme_near(s->name, w.most, 0, 1e-9 * 0.4);
            scheme_near(s->name, l.energy.impact, 0, 1e-9);
            assert_int_equal(l.impacts, 0);
        }
        carom_model_destroy(m);
    }
}

// A light box under one that is up to a million times as heavy: impulses of the weight M g h round by eps M g h, which
// moves the light box by more than the tolerance of contact problems, 1e-12 g h.  That is no reason to iterate for
// ever, to refuse a step, to let a contact go, or to warn.  No velocity of rounding is above 1e-8 g h, in 60 steps.
static void a_heavy_box_rests_on_a_light_one(void **state) {
    (void)state;
    static const double light[] = {1, 1, 1e-6}, heavy[] = {1e4, 1e6, 1};
    for (int i = 0; i < 3; ++i) {
        char text[700];
        snprintf(
            text, sizeof text,
            "carom: 1\ngravity: [0, -9.81]\nparameters: {m: %g, M: %g}\nshapes: {floor: {plane: [0, 1]}}\nbodies:\n"
            "  a: {mass: m, inertia: m/10, at: [0, 0.25], shape: {box: [0.5, 0.5]}}\n  b: {mass: M, inertia: M/10, at: "
            "[0.1, 0.75], shape: {box: [0.5, 0.5]}}\n"
            "contacts: {f: {between: [a, floor], friction: 0.5}, s: {between: [a, b], friction: 0.5}}\n",
            light[i], heavy[i]);
        carom_model *m = good(text);
        const carom_scheme *s;
        for (EACH_SCHEME(s)) {
            watch w;
            if (skipped(s, CAROM_NO_FRICTION)) continue;
            carom_error err = {0};
            carom_sim *sim = model_sim(m, s->name, NULL, 1e-3, 0.06);
            w = (watch){.n = 6};
            carom_copy(w.q_0, carom_sim_now(sim).q, 6);
            if (carom_sim_run(sim, look, &w, &err) != CAROM_OK)
                fail_msg("%s, 1 : %g: %s", s->name, heavy[i] / light[i], err.text);
            scheme_near(s->name, w.most, 0, 1e-8 * 9.81e-3 * 0.06);
            carom_warning list[CAROM_WARNINGS];
            const carom_ledger l = sim_ledger(sim);
            const int n = carom_sim_warnings(sim, &l, list);
            if (n > 0) fail_msg("%s, 1 : %g: %s", s->name, heavy[i] / light[i], list[0].text);
            carom_sim_destroy(sim);
        }
        carom_model_destroy(m);
    }
}

// Boxes in line on a slope, 1e8 of their edges from the origin: positions round by 1.5e-8 of an edge, gaps and the
// corners' sides too.  Three stay where they are to a few roundings; they take 40 steps, for velocities of rounding
// must not let a contact go either.
static void stacks_rest_far_away(void **state) {
    (void)state;
    const double a = 0.3, far = 1e8;
    char text[1200];
    int n = snprintf(text, sizeof text,
                     "carom: 1\ngravity: [0, -9.81]\nparameters: {a: %g, far: %g}\nshapes: {floor: {plane: [-sin(a), "
                     "cos(a)], at: [far, far]}}\nbodies:\n",
                     a, far);
    for (int k = 0; k < 3; ++k)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  b%d: {mass: 1000, inertia: 500/3, at: [far - %g*sin(a), far + %g*cos(a)], angle: a, shape: "
                      "{box: [1, 1]}}\n",
                      k, k + 0.5, k + 0.5);
    snprintf(text + n, sizeof text - (size_t)n,
             "contacts: {p: {between: [floor, b0, b1, b2], friction: 0.8, restitution: 0.3}}\n");
    carom_model *m = good(text);
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        watch w;
        if (skipped(s, CAROM_NO_FRICTION)) continue;
        const carom_ledger l = run_model(m, s, 1e-3, 0.04, &w);
        scheme_near(s->name, w.most, 0, 5e-8);
        assert_int_equal(l.impacts, 0);
    }
    carom_model_destroy(m);
}

// What follows its wall at up to v = 1.75 m/s, or 0.5 m/s, has no gap that an overlap could be compared with, and
// overlaps of a few h v are no reason to warn; neither is a contact that pushes a body round a curve, x' = 2 m/s.
// half-explicit-acceleration sinks for good, and says so.  The impulses of schatzman-paoli do their work at the time of
// its velocities: on a wall with the acceleration a, those of another time are off by h a, and left 8 % of the work
// that the cam and the table do unexplained.
static void a_follower_is_no_reason_to_warn(void **state) {
    (void)state;
    static const struct { const char *text; double h, end; } models[] = {
        {"carom: 1\ncoordinates: {y: 0}\nenergy: {kinetic: 0.05*y'^2, potential: 0.1*9.81*y + 500*(y + "
         "0.01)^2}\ncontacts: {face: {gap: y - 0.01*(1 - cos(175*t)), restitution: 0.3}}\n",
         1e-5, 0.2}, // works of the table are of first order: at 1e-4 11 % of the motion are unaccounted for
        {"carom: 1\ncoordinates: {y: 0}\nenergy: {kinetic: 1/2*y'^2, potential: 9.81*y}\ncontacts: {table: {gap: y - "
         "0.05*(1 - cos(10*t))}}\n",
         1e-4, 2},
        {"carom: 1\ncoordinates: {x: {at: 0, rate: 2}, y: 0}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2)\", potential: "
         "9.81*y}\ncontacts: {ground: {gap: y - 0.05*(cos(5*x) - 1)}}\n",
         1e-4, 1},
    };
    for (int i = 0; i < 3; ++i) {
        carom_model *m = good(models[i].text);
        const carom_scheme *s;
        for (EACH_SCHEME(s)) {
            carom_warning list[CAROM_WARNINGS];
            if (skipped(s, CAROM_NO_IMPACTS) || s->promises.joints == CAROM_ACCELERATION_LEVEL) continue;
            carom_sim *sim = model_sim(m, s->name, NULL, models[i].h, models[i].end);
            model_sim_run(sim);
            const carom_ledger l = sim_ledger(sim);
            if (carom_sim_warnings(sim, &l, list) > 0) fail_msg("%s, %d: %s", s->name, i, list[0].text);
            if (s->leads && i < 2)
                scheme_near(s->name, l.energy.balance, 0, 1e-2 * l.energy.external);
            carom_sim_destroy(sim);
        }
        carom_model_destroy(m);
    }
}

// Bricks thrown on a floor: edges and faces strike at once, and contacts that depend on each other slide in directions
// of their own.  In the end they lie on a face, with the energy m g/2 times an edge.
static void tumbling_bricks_come_to_rest(void **state) {
    (void)state;
    static const struct { const char *start; double mu, e; } throws[] = {
        {"axis: [0.8, -0.8, 0.1], angle: 2.2, velocity: [-0.1, -0.5, -1.7], spin: [4.4, -5.9, 0]", 0.1, 0.6},
        {"axis: [-0.5, 0.3, -1], angle: 2, velocity: [-0.6, -0.1, -1.2], spin: [-0.6, -1.1, 1.9]", 0.6, 0.3},
        {"axis: [-0.8, 0.5, -0.7], angle: 2.2, velocity: [0.8, 1.4, -1.6], spin: [6, -3.7, 2.1]", 0.6, 0.6},
    };
    for (int i = 0; i < 3; ++i) {
        char text[700];
        watch w;
        snprintf(
            text, sizeof text,
            "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
            "  b: {mass: 1, inertia: [0.0433, 0.0333, 0.0167], at: [0, 0, 0.6], %s, shape: {box: [0.2, 0.4, 0.6]}}\n"
            "contacts: {c: {between: [floor, b], friction: %g, restitution: %g}}\n",
            throws[i].start, throws[i].mu, throws[i].e);
        const double edge = run(text, carom_scheme_find("ggl-alpha"), 5e-3, 2.5, &w).energy.end / (0.5 * 9.81);
        scheme_near("ggl-alpha", edge, edge < 0.3 ? 0.2 : edge < 0.5 ? 0.4 : 0.6, 1e-9);
    }
}

// A follower pressed on its cam: the spring pulls down by more than the cam ever accelerates, k d0/m = 100 > A w^2 =
// 49.
static void a_follower_has_no_impacts(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        watch w;
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        const carom_ledger l = run("carom: 1\nparameters: {A: 0.01, w: 70}\ncoordinates: {y: 0}\n"
                                   "energy: {kinetic: 0.05*y'^2, potential: 0.1*9.81*y + 500*(y + 0.01)^2}\n"
                                   "contacts: {face: {gap: y - A*(1 - cos(w*t)), restitution: 0.3}}\n",
                                   s, 1e-4, 0.2, &w);
        if (l.impacts != 0) fail_msg("%s: %ld impacts", s->name, l.impacts);
        scheme_near(s->name, w.most, 0.02, 1e-4); // half-explicit-acceleration sinks a little
    }
}

// A ball on a floor that moves as A sin(w t).  With A w^2 < g it stays on it, whatever its restitution: no impact, and
// no gap but the scheme's drift, a step's part of the floor's motion at most, and h^2 of accelerations where the scheme
// is of second order or e = 1 makes it symmetric.  With A w^2 = 3/2 g it lifts off at sin(w t) = 2/3.
typedef struct on_floor { double A, w, above, below, pushed; } on_floor;

static carom_status look_at_floor(void *user, const carom_now *now) {
    on_floor *f = user;
    const double gap = now->q[0] - f->A * sin(f->w * now->t);
    f->above = fmax(f->above, gap), f->below = fmax(f->below, -gap);
    if (now->force[0] > 0 || now->impulse[0] > 0) f->pushed = now->t;
    return CAROM_OK;
}

static long ride(const carom_scheme *s, double part, double e, double t_end, double h, on_floor *f) {
    char text[400];
    carom_error err = {0};
    *f = (on_floor){.A = part * 9.81 / 400, .w = 20};
    snprintf(text, sizeof text,
             "carom: 1\nparameters: {A: %.17g, w: %.17g}\ncoordinates: {y: {rate: A*w}}\nenergy: {kinetic: \"y'^2/2\", "
             "potential: 9.81*y}\n"
             "contacts: {floor: {gap: y - A*sin(w*t), restitution: %g}}\n",
             f->A, f->w, e);
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, s->name, NULL, h, t_end);
    if (carom_sim_run(sim, look_at_floor, f, &err) != CAROM_OK) fail_msg("%s: %s", s->name, err.text);
    const long impacts = sim_ledger(sim).impacts;
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return impacts;
}

static void a_ball_stays_on_a_floor_that_moves(void **state) {
    (void)state;
    const double h = 1e-3;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        on_floor f;
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        // Gaps drift on acceleration level, and where forces are those at the start of a step; gaps in the middle of a
        // step hold to first order.
        const bool sinks = s->promises.joints == CAROM_ACCELERATION_LEVEL,
                   explicit = sinks || s->promises.forces == CAROM_AT_START;
        const bool first = s->order == 1 || s->promises.gaps == CAROM_AT_MIDDLE;
        for (int i = 0; i < 6; ++i) {
            const double part = i < 3 ? 0.5 : 0.98, e = i % 3 / 2.0;
            const long impacts = ride(s, part, e, 0.7, h, &f);
            if (impacts != 0) fail_msg("%s, A w^2 = %g g, e = %g: %ld impacts", s->name, part, e, impacts);
            const double most = explicit || (first && e < 1) ? 2 * h * f.A * f.w : h * h * 9.81;
            if (f.above > most || (f.below > most && !sinks))
                fail_msg("%s, A w^2 = %g g, e = %g: %g above, %g below the floor, %g allowed", s->name, part, e,
                         f.above, f.below, most);
        }
        for (int i = 0; i < 3; ++i) {
            ride(s, 1.5, i / 2.0, 0.1, h, &f);
            // drift opens those a few steps before
            scheme_near(s->name, f.pushed, asin(2.0 / 3) / f.w, sinks || (first && i < 2) ? 8 * h : h);
        }
    }
}

// A pendulum in redundant coordinates swings against a wall at 45 degrees: gravity has no part along the gap, the pin
// does.  x'' = g l^2/2 m/(m l^2 + J) = 4.545, so impacts are faster than 4 h 4.545 = 0.0364; each has 0.8 of the speed
// of the one before, the first 2.963: 20 of them.
static void reactions_of_joints_explain_an_approach(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double off;
    } cases[] = {{"half-explicit", 2}, {"moreau-midpoint", 2}, {"ggl-midpoint", 2}, {"newmark", 2}};
    for (int i = 0; i < 4; ++i) {
        watch w;
        const carom_ledger l = run("carom: 1\ncoordinates: {x: {at: cos(pi/12)}, y: {at: sin(pi/12)}, th: {at: "
                                   "pi/12}}\nenergy: {kinetic: (x'^2 + y'^2 + 0.1*th'^2)/2, potential: 10*y}\n"
                                   "constraints: {pin_x: x - cos(th), pin_y: y - sin(th)}\ncontacts: {wall: {gap: x - "
                                   "sqrt(1/2), restitution: 0.8}}\n",
                                   carom_scheme_find(cases[i].scheme), 2e-3, 6, &w);
        scheme_near(cases[i].scheme, (double)l.impacts, 20, cases[i].off);
    }
}

// A ball from 1 m with e = 1/2 comes down with 4.43/2^n: seven times faster than 4 g h at h = 1e-3, four times at 1e-2.
// Schemes that locate events count all that they locate.
static void a_ball_has_the_same_impacts_with_every_scheme(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS) || s->emits_events) continue;
        static const struct { double h; long impacts; } runs[] = {{1e-3, 7}, {1e-2, 4}};
        for (int i = 0; i < 2; ++i) {
            watch w;
            const carom_ledger l = run("carom: 1\ncoordinates: {y: 1}\nenergy: {kinetic: 1/2*y'^2, potential: "
                                       "9.81*y}\ncontacts: {floor: {gap: y, restitution: 0.5}}\n",
                                       s, runs[i].h, 3, &w);
            // the last one falls on the threshold
            if (labs(l.impacts - runs[i].impacts) > 1)
                fail_msg("%s: %ld impacts, %ld expected", s->name, l.impacts, runs[i].impacts);
        }
    }
}

// Schemes that choose their own steps count the impacts that they locate, whatever rows are asked for.
static void rows_do_not_count(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {y: 1}\nenergy: {kinetic: 1/2*y'^2, potential: 9.81*y}\ncontacts: "
                          "{floor: {gap: y, restitution: 0.5}}\n");
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        carom_error err = {0};
        if (skipped(s, CAROM_NO_IMPACTS) || !s->controls_own_steps) continue;
        long impacts[2];
        for (int i = 0; i < 2; ++i) {
            carom_sim *sim = model_sim(m, s->name, NULL, 1e-2, 3);
            if (i == 1) carom_sim_stop_at(sim, 1e-3);
            if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", s->name, err.text);
            impacts[i] = sim_ledger(sim).impacts;
            carom_sim_destroy(sim);
        }
        assert_true(impacts[0] > 10);
        assert_int_equal(impacts[0], impacts[1]);
    }
    carom_model_destroy(m);
}

// A ball that flies past the middle of a peg turns by v^2/r on its surface, 4 h v^2/r = 25 m/s at the step of the first
// run: that is no reason for the 6 m/s of its approach, for it comes from a flight.  (Schemes that do not locate the
// impact need a step that sees the peg.)
static void an_impact_on_a_curved_wall_is_one(void **state) {
    (void)state;
    static const char model[] = "carom: 1\nshapes: {peg: {circle: 0.05}}\nbodies: {ball: {mass: 1, inertia: 1e-3, at: "
                                "[-5, 0.08], velocity: [10, 0], shape: {circle: 0.05}}}\n"
                                "contacts: {hit: {between: [ball, peg], restitution: 1}}\n";
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        watch w;
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        if (s->emits_events)
            scheme_near(s->name, (double)run(model, s, 1e-2, 1, &w).impacts, 1, 0);
        scheme_near(s->name, (double)run(model, s, 1e-3, 1, &w).impacts, 1, 0);
    }
}

// A block in space, tilted about two axes, comes to lie on a floor that is shaken with 8 m/s^2 at w = 20: there it
// slides, and friction of 0.3 g changes its speed by no more than 0.3 g pi/w in half a period.  Four corners share the
// load, and which of them slide and carry is a matter of rounding: that must not be an event each 1e-13 s.
static void a_block_comes_to_lie_on_a_shaken_floor(void **state) {
    (void)state;
    const double H = 0.5744, g = 9.81, v = 0.3 * g * acos(-1) / 20 / 2;
    watch w;
    const carom_ledger l = run("carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n  floor: {motion: {at: "
                               "['0.02*0.3579*sin(20*t)', '0.02*0.9338*sin(20*t)', 0]}, shape: {plane: [0, 0, 1]}}\n"
                               "  box: {mass: 1, inertia: [0.0403638, 0.0403638, 0.0257377], at: [0, 0, 0.352754], "
                               "angle: 0.2745, axis: [-0.0615, 0.1016, 0], shape: {box: [0.39297, 0.39297, 0.5744]}}\n"
                               "contacts: {c: {between: [box, floor], friction: 0.3}}\n",
                               carom_scheme_find("mixed"), 2e-3, 1.5, &w);
    assert_true(l.energy.end > g * H / 2 - 1e-6 && l.energy.end < g * H / 2 + v * v / 2);
    assert_close(l.energy.balance, 0, 1e-6);
    assert_true(l.counts.problems < 10 * l.steps);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_rest),
        cmocka_unit_test(a_block_at_the_origin_rests),
        cmocka_unit_test(what_touches_to_rounding_starts_and_rests),
        cmocka_unit_test(boxes_rest),
        cmocka_unit_test(stacks_rest),
        cmocka_unit_test(a_heavy_box_rests_on_a_light_one),
        cmocka_unit_test(stacks_rest_far_away),
        cmocka_unit_test(tumbling_bricks_come_to_rest),
        cmocka_unit_test(a_follower_has_no_impacts),
        cmocka_unit_test(a_follower_is_no_reason_to_warn),
        cmocka_unit_test(a_ball_stays_on_a_floor_that_moves),
        cmocka_unit_test(an_impact_on_a_curved_wall_is_one),
        cmocka_unit_test(reactions_of_joints_explain_an_approach),
        cmocka_unit_test(a_ball_has_the_same_impacts_with_every_scheme),
        cmocka_unit_test(rows_do_not_count),
        cmocka_unit_test(a_block_comes_to_lie_on_a_shaken_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
