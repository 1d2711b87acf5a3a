// test_elements.c: springs, dampers, bushings, motors and loads: motion and books against formulas.
#include "model_text.h"

static carom_ledger run(const carom_model *m, double h, double end, double *q, double *v) {
    carom_error err = {0};
    carom_sim_def d = carom_sim_default();
    static const char *const options[] = {"order=6", NULL};
    d.system = carom_model_system(m);
    d.scheme = "mixed";
    d.options = options;
    d.h = h;
    d.t_end = end;
    d.q0 = carom_model_q0(m);
    d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    carom_copy(q, carom_sim_now(sim).q, d.system->nq);
    carom_copy(v, carom_sim_now(sim).v, d.system->nv);
    carom_sim_destroy(sim);
    return l;
}

static void count_faults(void *user, carom_finding kind, const char *sentence) {
    if (kind != CAROM_FAULT) return;
    print_message("    %s\n", sentence);
    ++*(int *)user;
}

static void sound(const carom_model *m) {
    int faults = 0;
    carom_error err;
    carom_model_examine(m, count_faults, &faults, &err);
    assert_int_equal(faults, 0);
}

#define TWO                                                                                                            \
    "carom: 1\nbodies:\n"                                                                                              \
    "  a: {mass: 2, inertia: [0.2, 0.3, 0.4], axis: [1, 2, 3], angle: 0.7, spin: [0.5, 2, -1], points: {p: [0.1, "     \
    "0.2, 0]}}\n"                                                                                                      \
    "  b: {mass: 1, inertia: [0.1, 0.15, 0.2], at: [1, 0.3, -0.2], velocity: [0, 1, 0], points: {p: [0, 0.1, "         \
    "-0.1]}}\n"

static void a_spring_is_its_energy_and_a_damper_its_force(void **state) {
    (void)state;
    carom_model *m = good(
        TWO "springs: {s: {between: [a, b], points: [p, [0, 0.1, -0.1]], stiffness: 40, length: 0.7, damping: 0.3}}\n"
            "outputs: {l: s.length, pull: s.force, stored: s.energy}\n");
    carom_model *k = good(TWO "let: {x: b.p.x - a.p.x, y: b.p.y - a.p.y, z: b.p.z - a.p.z, l: sqrt(x^2 + y^2 + "
                              "z^2)}\nenergy: {potential: 20*(l - 0.7)^2}\n");
    double q[14], v[12], p[14], u[12];
    sound(m);
    const carom_ledger one = run(m, 5e-3, 1, q, v);
    assert_true(one.energy.damping > 0.01);
    assert_close(one.energy.balance, 0, 1e-8);
    assert_close(one.energy.external, 0, 0);
    carom_model_destroy(m);
    m = good(TWO "springs: {s: {between: [a, b], points: [p, p], stiffness: 40, length: 0.7}}\n");
    run(m, 5e-3, 1, q, v);
    run(k, 5e-3, 1, p, u);
    for (int i = 0; i < 14; ++i) assert_close(q[i], p[i], 1e-11);
    for (int i = 0; i < 12; ++i) assert_close(v[i], u[i], 1e-10);
    carom_model_destroy(m);
    carom_model_destroy(k);
}

static double output(const carom_model *m, carom_sim *sim, const char *name) {
    const carom_now now = carom_sim_now(sim);
    double out[32];
    assert_in_range(carom_model_count(m).outputs, 1, 32);
    carom_model_outputs(m, carom_sim_work(sim), now.t, now.q, now.v, out);
    for (int i = 0; i < carom_model_count(m).outputs; ++i)
        if (strcmp(carom_model_output(m, i), name) == 0) return out[i];
    fail_msg("there is no '%s'", name);
    return NAN;
}

// What an element says of itself, at a state that is given, by hand: forces k (x - x_0) + c x', energies of springs,
// and the power of everything else.  p_a = (0.1, 0.2), p_b = (1, 0.4) + (-0.1, -0.2) for the angle pi/2; velocities by
// v + omega x r.
static void quantities_of_elements_are_their_formulas(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\nbodies:\n  a: {mass: 1, inertia: 0.3, velocity: [0.3, -0.2], spin: 0.7, points: {p: [0.1, 0.2]}}\n"
        "  b: {mass: 2, inertia: 1, at: [1, 0.4], angle: pi/2, velocity: [-0.1, 0.4], spin: -1.1, points: {p: [-0.2, "
        "0.1]}}\n"
        "  c: {mass: 1, inertia: 0.2, at: [3, 0], spin: 2}\n  d: {mass: 1, inertia: 1, at: [5, 0], velocity: [0.7, "
        "0]}\n"
        "joints:\n  j: {type: revolute, between: [ground, c], at: [3, 0]}\n"
        "  s: {type: prismatic, between: [ground, d], at: [5, 0], axis: [1, 0]}\n"
        "springs:\n  line: {between: [a, b], points: [p, p], stiffness: 40, length: 0.7, damping: 0.3}\n"
        "  turn: {joint: j, stiffness: 12, damping: 0.5, rest: 0.1}\n"
        "  shift: {joint: s, stiffness: 7, damping: 0.2, rest: -0.3}\n"
        "motors: {m: {joint: j, torque: 0.6}, push: {joint: s, force: -1.5}}\n"
        "loads: {jet: {on: a, point: p, force: [2, -3]}, twist: {on: b, torque: 0.8}}\n"
        "outputs: {l: line.length, F: line.force, V: line.energy, P: line.power, tF: turn.force, tV: turn.energy, tP: "
        "turn.power, sF: shift.force, sV: shift.energy, sP: shift.power, mP: m.power, pP: push.power, jP: jet.power, "
        "wP: "
        "twist.power}\n");
    carom_sim *sim = model_sim(m, "moreau-jean", NULL, 1e-3, 1);
    const double v_a[2] = {0.3 - 0.7 * 0.2, -0.2 + 0.7 * 0.1}, r_b[2] = {-0.1, -0.2},
                 v_b[2] = {-0.1 + 1.1 * r_b[1], 0.4 - 1.1 * r_b[0]}, d[2] = {1 + r_b[0] - 0.1, 0.4 + r_b[1] - 0.2},
                 l = hypot(d[0], d[1]), rate = (d[0] * (v_b[0] - v_a[0]) + d[1] * (v_b[1] - v_a[1])) / l;
    const struct { const char *name; double x; } want[] = {
        {"l", l},
        {"F", 40 * (l - 0.7) + 0.3 * rate},
        {"V", 20 * (l - 0.7) * (l - 0.7)},
        {"P", -0.3 * rate * rate},
        {"tF", 12 * (0 - 0.1) + 0.5 * 2},
        {"tV", 6 * 0.1 * 0.1},
        {"tP", -0.5 * 2 * 2},
        {"sF", 7 * 0.3 + 0.2 * 0.7},
        {"sV", 3.5 * 0.3 * 0.3},
        {"sP", -0.2 * 0.7 * 0.7},
        {"mP", 0.6 * 2},
        {"pP", -1.5 * 0.7},
        {"jP", 2 * v_a[0] - 3 * v_a[1]},
        {"wP", 0.8 * -1.1},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; ++i) {
        const double x = output(m, sim, want[i].name);
        if (!(fabs(x - want[i].x) <= 1e-12)) fail_msg("%s is %.15g, not %.15g", want[i].name, x, want[i].x);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// J phi'' = -k phi - c phi': a damped oscillation about a joint's axis.
static void a_torsion_spring_turns_its_joint_back(void **state) {
    (void)state;
    const double J = 0.3, k = 12, c = 0.5, w = sqrt(k / J - c * c / (4 * J * J)), t = 2;
    carom_model *m = good("carom: 1\nbodies: {a: {mass: 1, inertia: [0.1, 0.2, 0.3], spin: [0, 0, 4]}}\n"
                          "joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}\n"
                          "springs: {s: {joint: j, stiffness: 12, damping: 0.5}}\n");
    double q[8], v[6];
    sound(m);
    const carom_ledger l = run(m, 2e-3, t, q, v);
    assert_close(q[7], 4 / w * exp(-c / (2 * J) * t) * sin(w * t), 1e-8);
    assert_close(l.energy.balance, 0, 1e-7);
    assert_close(l.energy.damping, l.energy.start - l.energy.end, 1e-7);
    carom_model_destroy(m);
}

static void a_motor_does_external_work(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\nparameters: {M: 0.6}\nbodies: {a: {mass: 1, inertia: 0.3}, b: {mass: 2, inertia: 1, at: [0, 1]}}\n"
        "joints:\n  j: {type: revolute, between: [ground, a], at: [0, 0]}\n  s: {type: prismatic, between: [ground, "
        "b], at: [0, 1], axis: [1, 0]}\n"
        "motors: {turn: {joint: j, torque: M}, shift: {joint: s, force: 4*cos(t)}}\n");
    double q[6], v[6];
    sound(m);
    const carom_ledger l = run(m, 1e-2, 3, q, v);
    assert_close(q[2], 0.5 * 2 * 9, 1e-9);       // M/J = 2
    assert_close(q[3], 2 * (1 - cos(3)), 1e-9);  // 4/2
    assert_close(l.energy.external, 0.5 * 0.3 * 36 + 0.5 * 2 * 4 * sin(3) * sin(3), 1e-8);
    assert_close(l.energy.balance, 0, 1e-8);
    carom_model_destroy(m);
}

// A thruster fixed in a planar body: constant torque, the force turns with the body.  And a world torque on a spatial
// one.
static void loads_act_at_their_points_in_their_frames(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nbodies:\n  a: {mass: 2, inertia: 0.5}\n  s: {mass: 1, inertia: [0.4, 0.4, 0.4], "
                          "axis: [1, 0, 0], angle: 1}\n"
                          "loads:\n  jet: {on: a, point: [0, -0.25], force: [2, 0], frame: body}\n"
                          "  twist: {on: s, torque: [0, 0, 0.8], force: [0, 3, 0]}\n");
    double q[10], v[9];
    sound(m);
    const carom_ledger l = run(m, 5e-3, 1, q, v);
    assert_close(q[2], 0.5, 1e-9);  // torque 0.25 x 2 on 0.5
    assert_close(v[2], 1, 1e-9);
    // v' = (cos, sin)(t^2/2): Fresnel's integrals at 1, by their series
    double x = 0, y = 0, term = 1;
    for (int n = 0; n < 20; ++n, term *= -1.0 / ((2 * n - 1) * (2 * n))) {
        x += term * pow(0.5, 2 * n) / (4 * n + 1);
        y += term * pow(0.5, 2 * n + 1) / ((2 * n + 1) * (4 * n + 3));
    }
    assert_close(v[0], x, 1e-9);
    assert_close(v[1], y, 1e-9);
    assert_close(v[4], 3, 1e-10);
    // a sphere turned by t^2 about z of the world, from its first position
    const double half = 0.5;
    assert_close(q[6], cos(half) * cos(0.5), 1e-9);
    assert_close(q[9], sin(half) * cos(0.5), 1e-9);
    assert_close(l.energy.balance, 0, 1e-8);
    carom_model_destroy(m);
}

static void a_bushing_holds_in_all_directions_and_keeps_energy(void **state) {
    (void)state;
    static const char *const texts[] = {
        TWO
        "springs: {s: {type: bushing, between: [a, b], at: [0.5, 0.1, 0], stiffness: [100, 200, 300], torsion: 5}}\n",
        "carom: 1\nbodies: {a: {mass: 1, inertia: 0.1, at: [1, 0], spin: 3}}\nsprings: {s: {type: bushing, between: "
        "[ground, a], at: [0.5, 0], stiffness: 50, torsion: 2}}\n",
    };
    for (int i = 0; i < 2; ++i) {
        carom_model *m = good(texts[i]);
        double q[14], v[12];
        sound(m);
        const carom_ledger l = run(m, 2e-3, 1, q, v);
        assert_close(l.energy.balance, 0, 1e-8 * l.energy.start);
        assert_close(l.energy.end, l.energy.start, 1e-8 * l.energy.start);
        carom_model_destroy(m);
    }
    // Pulled by hand: k x = F along x, kr sin(angle) = T.
    carom_model *m = good("carom: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"
                          "springs: {s: {type: bushing, between: [ground, a], at: [0, 0, 0], stiffness: 50, torsion: "
                          "2, damping: 30, torsion damping: 4}}\n"
                          "loads: {pull: {on: a, force: [5, 0, 0], torque: [0, 0, 1]}}\n");
    double q[7], v[6];
    run(m, 1e-2, 40, q, v);
    assert_close(q[0], 0.1, 1e-9);
    assert_close(sin(2 * asin(q[6])), 0.5, 1e-9);
    carom_model_destroy(m);
}

static int element_of(const carom_model *m, const char *name) {
    for (int i = 0; i < carom_model_elements(m); ++i)
        if (strcmp(carom_model_element(m, i, NULL), name) == 0) return i;
    fail_msg("no element %s", name);
    return -1;
}

// Every element has books of its own: what it stores, and what it has given or taken.  All of them together are the
// ledger's.
static void each_element_has_its_own_books(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
             "  a: {mass: 2, inertia: [0.2, 0.3, 0.4], axis: [1, 2, 3], angle: 0.7, points: {p: [0.1, 0.2, 0]}}\n"
             "  b: {mass: 1, inertia: [0.1, 0.15, 0.2], at: [1, 0.3, -0.2], velocity: [0, 1, 0], points: {p: [0, 0.1, "
             "-0.1]}}\n"
             "joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}\n"
             "springs:\n"
             "  strut: {between: [a, b], points: [p, p], stiffness: 40, length: 0.7, damping: 0.3}\n"
             "  coil: {joint: j, stiffness: 3, damping: 0.2}\n"
             "  rubber: {type: bushing, between: [ground, b], at: [1, 0.3, -0.2], stiffness: 100, damping: 2, torsion: "
             "5, torsion damping: 0.1}\n"
             "motors: {drive: {joint: j, torque: 0.4*cos(t) - 0.1*j.angle'}}\n"
             "loads: {wind: {on: b, force: [0, 1, 0], torque: [0, 0, 0.3]}, jet: {on: b, point: p, force: [0, 0, 2], "
             "torque: [0.1, 0, 0], frame: body}}\n");
    static const char *const kinds[] = {"spring", "spring", "spring", "motor", "load", "load"};
    assert_int_equal(carom_model_elements(m), 6);
    for (int i = 0; i < 6; ++i) {
        const char *kind;
        carom_model_element(m, i, &kind);
        assert_string_equal(kind, kinds[i]);
    }
    static const char *const schemes[] = {"half-explicit", "moreau-jean", "ggl-midpoint"};
    for (int k = 0; k < 3; ++k) {
        carom_error err = {0};
        carom_sim_def d = sim_def(m, schemes[k], NULL, 2e-3, 1);
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        const double *work = carom_sim_works(sim);
        double sum = 0, size = 0, energy[6];
        for (int i = 0; i < 6; ++i) sum += work[i], size += fabs(work[i]);
        assert_close(sum, l.energy.external - l.energy.damping, 1e-12 * size);
        for (int i = 0; i < 3; ++i) assert_true(work[i] < -1e-4);
        const carom_now now = carom_sim_now(sim);
        carom_model_stored(m, carom_sim_work(sim), now.t, now.q, now.v, energy);
        for (int i = 0; i < 3; ++i) assert_true(energy[i] > 0);
        for (int i = 3; i < 6; ++i) assert_close(energy[i], 0, 0);
        double T, V;
        assert_int_equal(carom_sim_energy(sim, &T, &V, &err), CAROM_OK);
        const double heights = 9.81 * (2 * now.q[2] + now.q[9]); // masses 2 and 1
        assert_close(energy[0] + energy[1] + energy[2] + heights, V, 1e-12 * (fabs(V) + fabs(heights)));
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// A disc that runs out, J w' = -c w, beside one that is turned by a constant torque: work by formula, trapezoidal rule
// at h^2/12.
static void books_of_elements_are_their_work(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\nbodies: {a: {mass: 1, inertia: 0.5, spin: 4}, b: {mass: 1, inertia: 0.25, at: [1, 0]}}\n"
             "joints:\n  ja: {type: revolute, between: [ground, a], at: [0, 0]}\n  jb: {type: revolute, between: "
             "[ground, b], at: [1, 0]}\n"
             "springs: {brake: {joint: ja, damping: 0.2}}\nmotors: {drive: {joint: jb, torque: 0.5}}\n"
             "outputs: {loss: brake.power}\n");
    carom_error err = {0};
    carom_sim_def d = carom_sim_default();
    static const char *const options[] = {"order=6", NULL};
    d.system = carom_model_system(m);
    d.scheme = "mixed";
    d.options = options;
    d.h = 1e-3;
    d.t_end = 2;
    d.q0 = carom_model_q0(m);
    d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    const double E = 0.5 * 0.5 * 16, lost = E * (1 - exp(-4 * 0.2 / 0.5)), w = 4 * exp(-2 * 0.2 / 0.5);
    // The rule errs by h^2/12 of the change of the power's rate, here below 16 x 0.2 x 0.8.
    assert_close(carom_sim_works(sim)[element_of(m, "brake")], -lost, 1e-6 / 12 * 16 * 0.2 * 0.8);
    assert_close(carom_sim_works(sim)[element_of(m, "drive")], 0.5 * 0.25 * 16, 1e-9); // its power grows evenly
    double out[8]; // the first is the one that is written; then coordinates of joints
    assert_in_range(carom_model_count(m).outputs, 1, 8);
    const carom_now now = carom_sim_now(sim);
    carom_model_outputs(m, carom_sim_work(sim), now.t, now.q, now.v, out);
    assert_close(out[0], -0.2 * w * w, 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

#define H                                                                                                              \
    "carom: 1\nbodies: {a: {mass: 1, inertia: 1}}\njoints: {j: {type: revolute, between: [ground, a], at: [0, 0]}}\n"

static void mistakes_in_elements_have_their_place_and_sentence(void **state) {
    (void)state;
    static const struct { const char *text, *error; } cases[] = {
        {H "springs: {s: {joint: j}}\n", "4:11: spring 's' has neither stiffness nor damping"},
        {H "springs: {s: {stiffness: 1}}\n",
         "4:11: spring 's' acts between two bodies (`between: [ground, NAME]`) or at a joint (`joint: NAME`)"},
        {H "springs: {s: {joint: k, stiffness: 1}}\n", "4:22: there is no joint 'k' above; joints are j"},
        {H "springs: {s: {joint: j, stiffness: -1}}\n", "4:36: stiffness must not be negative, got -1"},
        {H "springs: {s: {joint: j, stiffness: 1, length: 2}}\n",
         "4:39: unknown key 'length' in spring 's'; expected one of joint, stiffness, damping, rest, force, clearance, "
         "one-sided"},
        {H "springs: {s: {between: [ground, a], stiffness: 1}}\n",
         "4:11: spring 's' needs `points:` with one in the frame of each body, or BODY.POINT in `between`"},
        {H "springs: {s: {type: bushing, between: [a, a], stiffness: 1, at: [0, 0]}}\n",
         "4:39: spring 's' connects a body with itself"},
        {H "springs: {s: {type: leaf, stiffness: 1}}\n",
         "4:21: the type of a spring is `bushing`; others have none: they act between points or at a joint"},
        {H "motors: {m: {torque: 1}}\n", "4:10: motor 'm' has no joint; write `joint: NAME`"},
        {H "motors: {m: {joint: j, force: 1}}\n", "4:24: joint 'j' has no shift; write `torque:`"},
        {H "motors: {m: {joint: j}}\n", "4:10: motor 'm' needs `torque:` (at an angle) or `force:` (at a shift)"},
        {H "loads: {l: {on: a}}\n", "4:9: load 'l' has neither force nor torque"},
        {H "loads: {l: {on: ground, torque: 1}}\n",
         "4:17: the motion of 'ground' is prescribed; forces have no effect on it"},
        {H "loads: {l: {on: a, force: [1, 0, 0]}}\n", "4:27: the force is a list of 2 (`[x, y]`), this is longer"},
        {H "loads: {l: {on: a, torque: 1, frame: mine}}\n",
         "4:38: frame is `world` (default) or `body`: whose axes the components belong to"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_error err = {0};
        carom_model *m = model_of(cases[i].text, &err);
        if (m) fail_msg("no error: %s", cases[i].text);
        assert_string_equal(strncmp(err.text, "m.yaml:", 7) == 0 ? err.text + 7 : err.text, cases[i].error);
    }
}

// -- laws of springs --------------------------------------------------------------------------------------------------

static void end_of(const char *springs, double *q, double *v, carom_ledger *l) {
    char text[900];
    snprintf(text, sizeof text,
             "carom: 1\nparameters: {k: 50, c: 0.4}\nbodies: {b: {mass: 2, inertia: 1, at: [0.7, 0.1], velocity: [0.3, "
             "0.2]}}\nsprings: {%s}\n",
             springs);
    carom_model *m = good(text);
    sound(m);
    *l = run(m, 2e-3, 2, q, v);
    if (!(fabs(l->energy.balance) < 1e-8)) fail_msg("%s: balance %g", springs, l->energy.balance);
    carom_model_destroy(m);
}

#define LINE "between: [ground, b], points: [[0, 0], [0, 0]]"

// The same law as an expression and as a short form: the same motion.
static void laws_as_expressions(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"s: {" LINE ", stiffness: k, damping: c, length: 0.5}", "s: {" LINE ", force: k*(length - 0.5) + c*rate}"},
        {"s: {" LINE ", stiffness: k, length: 0.6, one-sided: tension}",
         "s: {" LINE ", force: \"k*max(0, length - 0.6)\"}"},
        {"s: {" LINE ", stiffness: k, length: 0.6, one-sided: compression}, t: {" LINE ", stiffness: 5, length: 0.1}",
         "s: {" LINE ", force: \"-k*max(0, 0.6 - length) + 5*(length - 0.1)\"}"},
        {"s: {" LINE ", stiffness: k, length: 0.5, clearance: 0.1}",
         "s: {" LINE ", force: \"k*(max(0, length - 0.6) - max(0, 0.4 - length))\"}"},
        {"s: {" LINE ", stiffness: k, damping: c, length: 0.6, one-sided: tension}",
         "s: {" LINE ", force: \"if(length > 0.6, max(0, k*(length - 0.6) + c*rate), 0)\"}"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; ++i) {
        double q[2][3], v[2][3];
        carom_ledger l[2];
        for (int k = 0; k < 2; ++k) end_of(same[i][k], q[k], v[k], &l[k]);
        for (int k = 0; k < 3; ++k)
            if (!(fabs(q[0][k] - q[1][k]) < 1e-8 && fabs(v[0][k] - v[1][k]) < 1e-7))
                fail_msg("%s: %g %g against %g %g", same[i][0], q[0][k], v[0][k], q[1][k], v[1][k]);
    }
}

// A free flight of 1 s between two ends of a clearance: x = 0.1 sin, then straight, in closed form.  A joint with a
// torsion spring that has play: the period of a swing is that of the spring, 2 pi sqrt(J/k), and 4 s/w for the way 4 s
// through the play at the speed w.
static void play_of_a_joint(void **state) {
    (void)state;
    const double k = 8, J = 2, s = 0.3, w = 0.5, T = 2 * 3.14159265358979323846 * sqrt(J / k) + 4 * s / w;
    char text[600];
    snprintf(text, sizeof text,
             "carom: 1\nbodies: {b: {mass: 1, inertia: %g, at: [0, 0], spin: %g}}\njoints: {j: {type: revolute, "
             "between: [ground, b], at: [0, 0]}}\n"
             "springs: {p: {joint: j, stiffness: %g, clearance: %g}}\n",
             J, w, k, s);
    carom_model *m = good(text);
    double q[3], v[3];
    run(m, 1e-3, T, q, v);
    if (!(fabs(q[2]) < 1e-7 && fabs(v[2] - w) < 1e-7)) fail_msg("after a period: %g, %g", q[2], v[2]);
    carom_model_destroy(m);
    snprintf(text, sizeof text,
             "carom: 1\nbodies: {b: {mass: 1, inertia: %g, at: [0, 0], spin: %g}}\njoints: {j: {type: revolute, "
             "between: [ground, b], at: [0, 0]}}\n"
             "springs: {p: {joint: j, force: \"%g*(max(0, length - %g) - max(0, -length - %g))\"}}\n",
             J, w, k, s, s);
    m = good(text);
    run(m, 1e-3, T, q, v);
    if (!(fabs(q[2]) < 1e-7 && fabs(v[2] - w) < 1e-7)) fail_msg("after a period: %g, %g", q[2], v[2]);
    carom_model_destroy(m);
}

static void mistakes_of_laws(void **state) {
    (void)state;
#define B "carom: 1\nparameters: {a: 1}\nbodies: {b: {mass: 2, inertia: 1, at: [0.7, 0.1]}}\n"
    static const char *const wrong[][2] = {
        {B "springs: {s: {" LINE ", force: 3*length, stiffness: 2}}\n",
         "`force` and `stiffness` are mutually exclusive"},
        {B "springs: {s: {" LINE ", stiffness: 2, one-sided: left}}\n", "`one-sided` is tension or compression"},
        {B "springs: {s: {" LINE ", stiffness: 2, clearance: -1}}\n", "clearance must not be negative, got -1"},
        {B "springs: {s: {" LINE ", stiffness: 2, clearance: 3 N}}\n",
         "'3 N' is a force, but clearance is a length, in m"},
        {B "springs: {s: {" LINE ", force: 3*lenght}}\n", "did you mean 'length'?"},
        {B "outputs: {z: length}\n", "unknown name 'length'"},
        {"carom: 1\nparameters: {length: 1}\nbodies: {b: {mass: 2, inertia: 1, at: [0.7, 0.1]}}\nsprings: {s: {" LINE
         ", force: 3*length}}\n",
         "'length' is that of the spring here"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        carom_error err = {0};
        assert_null(model_of(wrong[i][0], &err));
        if (!strstr(err.text, wrong[i][1])) fail_msg("\"%s\" instead of \"%s\"", err.text, wrong[i][1]);
    }
#undef B
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spring_is_its_energy_and_a_damper_its_force),
        cmocka_unit_test(quantities_of_elements_are_their_formulas),
        cmocka_unit_test(a_torsion_spring_turns_its_joint_back),
        cmocka_unit_test(a_motor_does_external_work),
        cmocka_unit_test(loads_act_at_their_points_in_their_frames),
        cmocka_unit_test(a_bushing_holds_in_all_directions_and_keeps_energy),
        cmocka_unit_test(each_element_has_its_own_books),
        cmocka_unit_test(books_of_elements_are_their_work),
        cmocka_unit_test(laws_as_expressions),
        cmocka_unit_test(play_of_a_joint),
        cmocka_unit_test(mistakes_of_laws),
        cmocka_unit_test(mistakes_in_elements_have_their_place_and_sentence),
    };
    return cmocka_run_group_tests_name("force elements", tests, NULL, NULL);
}
