// test_rates.c: constraints on rates: closed forms of nonholonomic systems and orders of all schemes, work of
// prescribed velocities, columns, equilibria, gradients, `start: project`, and what is refused.
#include "ends.h"
#include <carom/dynamics.h>

// A knife edge on an incline (m = 2, s = g sin(slope)) turns with w; u' = s cos(w t) along the edge:
//     x = s/(2 w^2) sin^2(w t),   y = s/(2 w^2) (w t - sin(2 w t)/2),   a cycloid
#define CYCLOID                                                                                                        \
    "carom: 1\nparameters: {s: 2.9, w: 3}\ncoordinates: {x: 0, y: 0, th: {at: 0, rate: w}}\n"                          \
    "energy: {kinetic: x'^2 + y'^2 + 0.05*th'^2, potential: -2*s*x}\n"                                                 \
    "constraints: {knife: {rate: x'*sin(th) - y'*cos(th)}}\n"

// Chaplygin's sleigh, centre of mass a before the edge, I = J + m a^2:  u' = a w^2,  I w' = -m a u w:
//     u = U tanh(k (t + t0)),  w = sqrt(m/I) U/cosh(k (t + t0)),  k = m a U/I,  U^2 = u0^2 + I/m w0^2
#define SLEIGH                                                                                                         \
    "carom: 1\nparameters: {m: 2, J: 0.3, a: 0.4}\ncoordinates: {x: {at: 0, rate: 1}, y: 0, th: {at: 0, rate: 2}}\n"   \
    "let: {cx: x + a*cos(th), cy: y + a*sin(th)}\nenergy: {kinetic: 1/2*m*(cx'^2 + cy'^2) + 1/2*J*th'^2}\n"            \
    "constraints: {knife: {rate: x'*sin(th) - y'*cos(th)}}\noutputs: {forward: x'*cos(th) + y'*sin(th)}\n"

// A thin disc that leans by theta rolls in a circle: with A = m R^2/4, C = 2 A about its axis, W = psi', n = phi' and
// w3 = n + W cos(theta), the moment of its reaction about the centre turns its spin where
//     W sin(theta) ((C + m R^2) w3 - A W cos(theta)) + m g R cos(theta) = 0
#define DISC                                                                                                           \
    "carom: 1\nparameters: {m: 0.8, R: 0.3, g: 9.81, lean: 1.2, W: 2.5, A: m*R^2/4, C: m*R^2/2,\n"                     \
    "  w3: (W*cos(lean)*A - m*g*R*cos(lean)/(W*sin(lean)))/(C + m*R^2), n: w3 - W*cos(lean)}\n"                        \
    "coordinates: {x: {at: 0, rate: -R*n}, y: 0, psi: {at: 0, rate: W}, theta: lean, phi: {at: 0, rate: n}}\n"         \
    "let: {cx: x - R*cos(theta)*sin(psi), cy: y + R*cos(theta)*cos(psi), cz: R*sin(theta)}\nenergy:\n"                 \
    "  kinetic: 1/2*m*(cx'^2 + cy'^2 + cz'^2) + 1/2*A*(theta'^2 + psi'^2*sin(theta)^2) + 1/2*C*(phi' + "              \
    "psi'*cos(theta))^2\n  potential: m*g*cz\n"                                                                        \
    "constraints: {along: {rate: x' + R*phi'*cos(psi)}, across: {rate: y' + R*phi'*sin(psi)}}\n"

// A ball on a turntable that turns with W: its centre runs on a circle with 2/7 W.
#define TURNTABLE                                                                                                      \
    "carom: 1\nparameters: {m: 0.2, R: 0.05, W: 4, J: 2/5*m*R^2, v0: 0.3}\n"                                           \
    "coordinates: {x: 0.1, y: {at: 0, rate: v0}, a: {at: 0, rate: (W*0.1 - v0)/R}, b: 0, c: 0}\n"                      \
    "energy: {kinetic: 1/2*m*(x'^2 + y'^2) + 1/2*J*(a'^2 + b'^2 + c'^2)}\n"                                            \
    "constraints: {px: {rate: x' - R*b' + W*y}, py: {rate: y' + R*a' - W*x}}\n"

static int promised(const carom_scheme *s) { return s->promises.joint_order > 1 ? s->promises.joint_order : 1; }

// The slope of the errors over steps h, h/2, h/4; *last is that of the smallest.
static double observed(const char *text, const carom_scheme *s, double h, double t_end, const char *const *names,
                       const double *exact, double *last) {
    double steps[3], error[3] = {0};
    for (int k = 0; k < 3; ++k) {
        steps[k] = h / (1 << k);
        const end e = run(text, s->name, steps[k], t_end, names);
        for (int i = 0; names[i]; ++i) error[k] = fmax(error[k], fabs(e.x[i] - exact[i]));
    }
    *last = error[2];
    return slope(steps, error, 3);
}

// Orders that schemes promise with joints; those that choose their steps to their tolerances.
static void orders_on(const char *text, double h, double t_end, const char *const *names, const double *exact) {
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        double error;
        if (s->controls_own_steps) {
            const end e = run(text, s->name, h, t_end, names);
            for (int i = 0; names[i]; ++i) scheme_near(s->name, e.x[i], exact[i], 1e-7);
            continue;
        }
        // high orders meet rounding in small steps
        const double order = observed(text, s, s->order > 3 ? 4 * h : h, t_end, names, exact, &error);
        print_message("    %-28s order %.2f, error %.2g\n", s->name, order, error);
        scheme_true(s->name, order > promised(s) - 0.2);
    }
}

static void a_cycloid(void **state) {
    (void)state;
    const double s = 2.9 / 18, t = 1.5, exact[] = {s * pow(sin(3 * t), 2), s * (3 * t - sin(6 * t) / 2), 3 * t};
    orders_on(CYCLOID, 0.01, t, NAMES("x", "y", "th"), exact);
}

static void chaplygins_sleigh(void **state) {
    (void)state;
    const double I = 0.3 + 2 * 0.16, U = sqrt(1 + I / 2 * 4), k = 0.8 * U / I, z0 = atanh(1 / U), t = 1, z = z0 + k * t,
                 most = sqrt(2 / I) * U, exact[] = {U * tanh(z), most / cosh(z),
                 2 * most / k * (atan(tanh(z / 2)) - atan(tanh(z0 / 2)))};
    orders_on(SLEIGH, 0.01, t, NAMES("forward", "th'", "th"), exact);
}

static void a_disc_rolls_in_a_circle(void **state) {
    (void)state;
    const double m = 0.8, R = 0.3, A = m * R * R / 4, c = cos(1.2), W = 2.5,
                 w3 = (W * c * A - m * 9.81 * R * c / (W * sin(1.2))) / (6 * A), n = w3 - W * c, t = 1,
                 exact[] = {-R * n / W * sin(W * t), -R * n / W * (1 - cos(W * t)), W * t, 1.2, n * t};
    orders_on(DISC, 0.005, t, NAMES("x", "y", "psi", "theta", "phi"), exact);
}

static void a_ball_on_a_turntable(void **state) {
    (void)state;
    const double k = 8. / 7, t = 2, exact[] = {0.1 - 0.3 / k * (1 - cos(k * t)), 0.3 / k * sin(k * t)};
    orders_on(TURNTABLE, 0.01, t, NAMES("x", "y"), exact);
}

// The table does work.  With W'v + w = 0 it gives -w lambda: the balance is what steps leave.
static void work_of_a_turntable_is_external(void **state) {
    (void)state;
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        const end e = run(TURNTABLE, s->name, 1e-3, 2, NAMES("x"));
        const double gain = e.ledger.energy.end - e.ledger.energy.start;
        scheme_near(s->name, gain, 0.0645666632, s->controls_own_steps ? 1e-7 : 1e-3);
        scheme_near(s->name, e.ledger.energy.external, gain, s->emits_events ? 1e-7 : 2e-4);
        scheme_near(s->name, e.ledger.energy.damping + e.ledger.energy.friction, 0, 1e-12);
        assert_int_equal(e.ledger.drift == 0, 1);
    }
}

// A velocity that is prescribed: x' = 2 t, so x = t^2; its force, 3 x' + 2 m, has the work 4 t^3 + 2 t^2 (m = 1).  The
// expression has a kink in time, where the force jumps.
static void prescribed_velocities(void **state) {
    (void)state;
    const char *text = "carom: 1\ncoordinates: {x: 0, y: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2)}\n"
                       "forces: {x: -3*x'}\nconstraints: {drive: {rate: \"x' - 2*min(t, 1)\"}}\n";
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        const end e = run(text, s->name, 1e-3, 2, NAMES("x", "x'", "y"));
        scheme_near(s->name, e.x[0], 3, s->order > 1 && promised(s) > 1 ? 2e-5 : 2e-3);
        scheme_near(s->name, e.x[1], 2, 1e-9);
        scheme_near(s->name, e.x[2], 2, 1e-9);
        scheme_near(s->name, e.ledger.energy.external, 4 + 2 + 12, s->emits_events ? 1e-6 : 0.02);
    }
}

// Joints, contacts and rates together: a wheel of bodies that rolls, on a holonomic guide, against a wall with e = 1/2.
// m x'^2/2 + J w^2/2, x' = r w: the impact acts on m + J/r^2, the rate halves.
static void a_rolling_wheel_strikes_a_wall(void **state) {
    (void)state;
    const char *text = "carom: 1\nbodies:\n"
                       "  wheel: {mass: 2, inertia: 0.03, at: [0, 0.1], velocity: [1, 0], spin: -10}\n"
                       "constraints: {roll: {rate: wheel.vx + 0.1*wheel.wz}, floor: wheel.y - 0.1}\n"
                       "contacts: {wall: {gap: 0.5005 - wheel.x, restitution: 1/2}}\n";
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        if (s->limitations & CAROM_NO_IMPACTS) continue;
        const end e = run(text, s->name, 1e-3, 0.8, NAMES("wheel.vx", "wheel.wz", "wheel.y"));
        scheme_near(s->name, e.x[0], -0.5, 1e-8);
        scheme_near(s->name, e.x[1], 5, 1e-7);
        scheme_near(s->name, e.x[2], 0.1, 1e-9);
        scheme_near(s->name, e.ledger.energy.impact, 0.5 * 5 * 0.75, 1e-7);
    }
}

// More than 20 rows of joints are part of the linear system, those on rates with them: a chain of spatial links whose
// end drifts aside, and two of which turn alike.  The reference is event-driven, 1e-9.
static void rates_in_large_mechanisms(void **state) {
    (void)state;
    enum { LINKS = 8 };
    static const char *const schemes[] = {"ggl-midpoint", "ggl-alpha", "alpha-index3", "newmark", "moreau-jean"};
    char text[3000] = "carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n";
    for (int i = 0; i < LINKS; ++i)
        sprintf(text + strlen(text), "  b%d: {mass: 0.1, inertia: [1e-5, 1e-4, 2e-4], at: [%g, 0, 0]}\n", i,
                0.05 + 0.1 * i);
    strcat(text, "joints:\n  j0: {type: spherical, between: [ground, b0], at: [0, 0, 0]}\n");
    for (int i = 1; i < LINKS; ++i)
        sprintf(text + strlen(text), "  j%d: {type: spherical, between: [b%d, b%d], at: [%g, 0, 0]}\n", i, i - 1, i,
                0.1 * i);
    strcat(text, "constraints: {edge: {rate: b7.vy - 0.5*t}, turn: {rate: b4.wz - b3.wz}}\nstart: project\n");
    const char *const *names = NAMES("b7.x", "b7.y", "b7.z", "b4.y", "b3.wz");
    const end exact = run(text, "event-driven", 1e-3, 0.2, names);
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        double steps[3], error[3] = {0};
        for (int i = 0; i < 3; ++i) {
            steps[i] = 2e-3 / (1 << i);
            const end e = run(text, schemes[k], steps[i], 0.2, names);
            for (int j = 0; names[j]; ++j) error[i] = fmax(error[i], fabs(e.x[j] - exact.x[j]));
        }
        const double order = slope(steps, error, 3);
        print_message("    %-16s order %.2f, error %.2g\n", schemes[k], order, error[2]);
        scheme_true(schemes[k], order > promised(carom_scheme_find(schemes[k])) - 0.2);
    }
}

// Results have reactions and no gap; outputs know the rate.
static void columns(void **state) {
    (void)state;
    carom_model *m = good(CYCLOID "outputs: {off: knife.rate}\n");
    carom_sim *sim = model_sim(m, "event-driven", NULL, 0.01, 1);
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    assert_true(fabs(value(m, sim, &now, "off")) < 1e-12);
    // the edge holds m (s sin(th) + u w), u = s/w sin(w t): twice the same
    assert_true(fabs(fabs(now.force[now.dir[0]]) - 4 * 2.9 * fabs(sin(3.0))) < 1e-6);
    carom_sim_destroy(sim), carom_model_destroy(m);
}

// The derivatives of the closed form by v0 and by its angular velocity.
static void gradients(void **state) {
    (void)state;
    static const char *const by[] = {"v0", "W", NULL};
    carom_gradient_def d = {.of = "x", .by = by, .run = carom_run_nothing()};
    d.model.text = TURNTABLE, d.model.length = strlen(TURNTABLE), d.model.file = "m.yaml", d.run.end = 2;
    carom_gradient g;
    carom_error err = {0};
    if (carom_gradient_find(&g, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
    const double k = 8. / 7, by_k = 0.3 * ((1 - cos(2 * k)) / (k * k) - 2 * sin(2 * k) / k);
    assert_true(fabs(g.gradient[0] + (1 - cos(2 * k)) / k) < 1e-8);
    assert_true(fabs(g.gradient[1] - 2. / 7 * by_k) < 1e-8);
    carom_gradient_free(&g);
}

// A skate across an incline is held by its edge; along it nothing holds it.  A turntable lets nothing rest.
static void equilibria(void **state) {
    (void)state;
    static const struct { const char *text, *says; } cases[] = {
        {"carom: 1\ncoordinates: {x: 0, y: 0, th: pi/2}\nenergy: {kinetic: x'^2 + y'^2 + th'^2, potential: -2*x}\n"
         "constraints: {knife: {rate: x'*sin(th) - y'*cos(th)}}\n", NULL},
        {"carom: 1\ncoordinates: {x: 0, y: 0, th: 0}\nenergy: {kinetic: x'^2 + y'^2 + th'^2, potential: -2*x}\n"
         "constraints: {knife: {rate: x'*sin(th) - y'*cos(th)}}\n", "unbalanced force 2 on 'x'"},
        {TURNTABLE, "prescribes a velocity"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_model *m = good(cases[i].text);
        carom_equilibrium r;
        carom_error err = {0};
        const carom_status status = carom_equilibrium_find(&r, m, NULL, &err);
        if (cases[i].says ? status == CAROM_OK || !strstr(err.text, cases[i].says) : status != CAROM_OK)
            fail_msg("%zu: %s", i, err.text);
        if (status == CAROM_OK) carom_equilibrium_free(&r);
        carom_model_destroy(m);
    }
}

static void mistakes_are_told(void **state) {
    (void)state;
    static const struct { const char *constraint, *says; } cases[] = {
        {"{rate: x'^2 - y'}", "not linear in the rates"},
        {"{rate: x - y}", "holds no rate; write `NAME: expression` to hold a position"},
        {"{rat: x'}", "unknown key 'rat' in constraint 'k'; expected `rate`"},
        {"{}", "has no expression; write {rate:"},
        {"x' - y'", "one on rates is written {rate: expression}"},
        {"{rate: x' - z'}", "unknown name 'z'"},
        {"{rate: y'*cos(x)}", "initial velocities violate constraint 'k' (rate 1, expected 0)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        snprintf(text, sizeof text, "carom: 1\ncoordinates: {x: 0, y: {at: 0, rate: 1}}\n"
                 "energy: {kinetic: 1/2*(x'^2 + y'^2)}\nconstraints: {k: %s}\n", cases[i].constraint);
        carom_error err = {0};
        carom_model_def d = {.text = text, .length = strlen(text), .file = "m.yaml"};
        carom_model *m = carom_model_create(&d, &err);
        if (m || !strstr(err.text, cases[i].says)) fail_msg("%s: %s", cases[i].constraint, m ? "accepted" : err.text);
    }
}

// `start: project` moves positions out of a wall in any direction, whatever edge there is, and velocities onto it.
static void start_project(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: -0.01, rate: 0.3}, y: {at: 0, rate: 0.4}}\n"
                          "energy: {kinetic: 1/2*(x'^2 + y'^2)}\nstart: project\n"
                          "constraints: {rail: {rate: x'}}\ncontacts: {wall: {gap: x}}\n");
    assert_true(fabs(carom_model_q0(m)[0]) < 1e-12);
    assert_true(fabs(carom_model_v0(m)[0]) < 1e-12 && fabs(carom_model_v0(m)[1] - 0.4) < 1e-12);
    carom_model_destroy(m);
}

static double place(const carom_model *m, const char *name) {
    for (int i = 0; i < carom_model_count(m).coordinates; ++i)
        if (strcmp(carom_model_coordinate(m, i), name) == 0) return carom_model_q0(m)[i];
    fail_msg("no %s", name);
    return 0;
}

static double rate(const carom_model *m, const char *name) {
    for (int i = 0; i < carom_model_count(m).velocities; ++i)
        if (strcmp(carom_model_velocity(m, i), name) == 0) return carom_model_v0(m)[i];
    fail_msg("no %s", name);
    return 0;
}

// Where contacts come and go, too: hulls that reach 0.01 and 0.02 into a floor, one of them on a slide along
// (0, 3, 4)/5, move out by the shortest way that joints leave; the message for bodies with joints names what helps.
static void start_project_with_a_list(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\n%sbodies:\n  a: {mass: 3, inertia: [1, 2, 3], at: [0, 0, 0.49], shape: {hull: [[-0.5, -0.5, -0.5], "
        "[0.5, -0.5, -0.5], [-0.5, 0.5, -0.5], [0, 0, 0.5]]}}\n  b: {mass: 2, inertia: [1, 1, 1], at: [5, 0, 0.48], "
        "velocity: [0, 1, 0], shape: {hull: [[-0.5, -0.5, -0.5], [0.5, -0.5, -0.5], [-0.5, 0.5, -0.5], [0, 0, "
        "0.5]]}}\njoints: {g: {type: prismatic, between: [ground, b], at: [5, 0, 0], axis: [0, 3, 4]}}\n"
        "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {among: [a, b]}, d: {between: [[a, b], floor]}}\n";
    char whole[1200];
    snprintf(whole, sizeof whole, text, "");
    model_refused(whole, "move them, or use `start: project`");
    snprintf(whole, sizeof whole, text, "start: project\n");
    carom_model *m = good(whole);
    assert_true(carom_model_lists(m));
    check_near(place(m, "a.z"), 0.5, 1e-9);
    check_near(place(m, "b.z"), 0.5, 1e-9);
    check_near(place(m, "b.y"), 0.02 * 3 / 4, 1e-9);
    check_near(place(m, "b.x"), 5, 1e-12);
    check_near(rate(m, "b.vy"), 0.36, 1e-9);
    check_near(rate(m, "b.vz"), 0.48, 1e-9);
    if (!strstr(carom_model_settled(m), "was violated by 0.02; positions moved"))
        fail_msg("%s", carom_model_settled(m));
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycloid),
        cmocka_unit_test(chaplygins_sleigh),
        cmocka_unit_test(a_disc_rolls_in_a_circle),
        cmocka_unit_test(a_ball_on_a_turntable),
        cmocka_unit_test(work_of_a_turntable_is_external),
        cmocka_unit_test(prescribed_velocities),
        cmocka_unit_test(a_rolling_wheel_strikes_a_wall),
        cmocka_unit_test(rates_in_large_mechanisms),
        cmocka_unit_test(columns),
        cmocka_unit_test(gradients),
        cmocka_unit_test(equilibria),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(start_project),
        cmocka_unit_test(start_project_with_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
