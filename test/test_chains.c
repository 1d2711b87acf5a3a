// test_chains.c: equilibria, modes and derivatives of mechanisms with so many joints that these belong to the linear
// system of motion.
#include "model_text.h"
#include <float.h>
#include <carom/dynamics.h>

static const double LINK = 0.1, WEIGHT = 0.1 * 9.81;

// n links in a row from the origin along x, in space, with hinges about y.
static char *chain(int n, const char *more) {
    char *text = calloc(1, (size_t)n * 260 + 4000), *at = text;
    assert_non_null(text);
    at += sprintf(at, "carom: 1\nparameters: {m: 0.1, l: 0.1, r: 0.01, g: 9.81}\ngravity: [0, 0, -g]\nbodies:\n");
    for (int i = 1; i <= n; ++i)
        at += sprintf(at, "  b%d: {mass: m, inertia: [m*r^2/2, m*l^2/12, m*l^2/12], at: [%d*l - l/2, 0, 0]}\n", i, i);
    at += sprintf(at, "joints:\n");
    for (int i = 1; i <= n; ++i)
        at += i == 1 ? sprintf(at, "  j1: {type: revolute, between: [ground, b1], at: [0, 0, 0], axis: [0, 1, 0]}\n")
                     : sprintf(at, "  j%d: {type: revolute, between: [b%d, b%d], at: [%d*l, 0, 0], axis: [0, 1, 0]}\n",
                               i, i - 1, i, i - 1);
    sprintf(at, "%s", more);
    return text;
}

static carom_equilibrium rest_of(const carom_model *m) {
    carom_equilibrium x;
    carom_error err = {0};
    if (carom_equilibrium_find(&x, m, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    return x;
}

static double force(const carom_equilibrium *x, const char *name) {
    for (int i = 0; i < x->nforce; ++i)
        if (strcmp(x->force[i].name, name) == 0) return x->force[i].value;
    fail_msg("no force %s", name);
    return 0;
}

// It falls from the level and hangs straight down.
static void hangs(void **state) {
    (void)state;
    enum { N = 60 };
    char *text = chain(N, "");
    carom_model *m = good(text);
    carom_equilibrium x = rest_of(m);
    assert_true(x.residual < 1e-10);
    for (int i = 0; i < N; ++i) {
        assert_close(x.q[7 * i], 0, 1e-8);
        assert_close(x.q[7 * i + 2], -(i + 0.5) * LINK, 1e-9);
    }
    double all = 0;
    for (int k = 0; k < x.nforce && strncmp(x.force[k].name, "j1.", 3) == 0; ++k)
        all = fmax(all, fabs(x.force[k].value));
    assert_close(all, N * WEIGHT, 1e-9 * N * WEIGHT);
    assert_int_equal(x.free, 0);
    carom_equilibrium_free(&x);
    carom_model_destroy(m);
    free(text);
}

// The last link lies on a stop: moments about every hinge vanish for all that hangs beyond it.
static void lies(void **state) {
    (void)state;
    enum { N = 40 };
    char *text = chain(N, "contacts: {stop: {gap: b40.z + 1, restitution: 0}}\n");
    carom_model *m = good(text);
    carom_equilibrium x = rest_of(m);
    const double push = force(&x, "stop.force");
    double hinge = 0;
    assert_true(x.residual < 1e-10 && push > 0.1 * WEIGHT);
    assert_close(x.q[7 * (N - 1) + 2], -1, 1e-12);
    for (int i = 0; i < N; ++i) {
        double moment = -push * (x.q[7 * (N - 1)] - hinge);
        for (int k = i; k < N; ++k) moment += WEIGHT * (x.q[7 * k] - hinge);
        assert_close(moment, 0, 1e-9 * N * WEIGHT * N * LINK);
        hinge = 2 * x.q[7 * i] - hinge;
    }
    carom_equilibrium_free(&x);
    carom_model_destroy(m);
    free(text);
}

static carom_modes modes_of(const carom_model *m, int count) {
    carom_modes x;
    carom_error err = {0};
    if (carom_modes_find(&x, m, &(carom_modes_def){.count = count}, &err) != CAROM_OK) fail_msg("%s", err.text);
    return x;
}

// A few of many modes are those that all have; the slowest is that of a rope, w = j/2 sqrt(g/L) with j = 2.404826, the
// first zero of Bessel's J_0, up to terms in 1/n^2.
static void swings(void **state) {
    (void)state;
    char *text = chain(80, "");
    carom_model *m = good(text);
    carom_modes all = modes_of(m, 0), few = modes_of(m, 15);
    assert_int_equal(all.count, 80);
    assert_int_equal(few.count, 15);
    assert_string_equal(all.method, "lapack");
    assert_string_equal(few.method, "arpack");
    for (int i = 0; i < 15; ++i) assert_close(few.mode[i].frequency, all.mode[i].frequency, 1e-8);
    const double rope = 2.404825557695773 / 2 * sqrt(9.81 / (80 * LINK));
    assert_close(few.mode[0].im, rope, rope / (80 * 80));
    carom_modes_free(&all), carom_modes_free(&few);
    carom_model_destroy(m);
    free(text);
    text = chain(200, "contacts: {stop: {gap: b200.z + 19, restitution: 0}}\n");
    m = good(text);
    few = modes_of(m, 20); // a thousand rows
    assert_int_equal(few.count, 20);
    assert_int_equal(few.joints, 1000);
    assert_int_equal(few.sticking, 1);
    assert_true(few.unbalanced < 1e-9);
    carom_modes_free(&few);
    carom_model_destroy(m);
    free(text);
}

static carom_gradient gradient(const char *text, const char *of, const char *const *by, double end) {
    carom_gradient_def d = {.of = of, .by = by};
    carom_gradient g;
    carom_error err = {0};
    d.model.text = text, d.model.length = strlen(text), d.model.file = "model.yaml";
    d.run = carom_run_nothing();
    d.run.end = end;
    if (carom_gradient_find(&g, &d, &err) != CAROM_OK) fail_msg("%s: %s", of, err.text);
    return g;
}

// Through an impact: against differences of runs.
static void falls_on_a_stop(void **state) {
    (void)state;
    const char *by[] = {"g", "l", "m", NULL}, *stop = "contacts: {stop: {gap: b8.z + 0.02, restitution: 0.3}}\n";
    char *text = chain(8, stop);
    carom_gradient g = gradient(text, "b8.x", by, 0.1);
    for (int i = 0; i < 2; ++i) {
        const double at = i == 0 ? 9.81 : 0.1, by_so_much = 1e-4 * at;
        double end[2];
        for (int side = 0; side < 2; ++side) {
            char set[60], *moved = chain(8, stop), *place = strstr(moved, i == 0 ? "g: 9.81" : "l: 0.1,");
            snprintf(set, sizeof set, "%c: %.12f", i == 0 ? 'g' : 'l', at + (side ? by_so_much : -by_so_much));
            const size_t old = i == 0 ? 7 : 6, length = strlen(set);
            memmove(place + length, place + old, strlen(place + old) + 1);
            memcpy(place, set, length);
            carom_gradient x = gradient(moved, "b8.x", by, 0.1);
            end[side] = x.value;
            carom_gradient_free(&x);
            free(moved);
        }
        assert_close(g.gradient[i], (end[1] - end[0]) / (2 * by_so_much), 2e-6 * fmax(1, fabs(g.gradient[i])));
    }
    assert_close(g.gradient[2], 0, 1e-9); // all masses alike move alike
    carom_gradient_free(&g);
    free(text);
}

// Many derivatives, on the way back through an impact, are those on the way forth.
static void falls_on_a_floor(void **state) {
    (void)state;
    enum { LINKS = 16 };
    const char *many[] = {"k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "k10", "k11", NULL},
               *few[] = {"k1", "k2", "k3", NULL};
    char *text = calloc(1, 8000), *at = text;
    assert_non_null(text);
    at += sprintf(at, "carom: 1\nparameters: {");
    for (int i = 1; i <= 11; ++i) at += sprintf(at, "k%d: %g%s", i, 1 + 0.1 * (i % 3), i < 11 ? ", " : "}\n");
    at += sprintf(at, "gravity: [0, -10]\nbodies:\n");
    for (int i = 1; i <= LINKS; ++i)
        at += sprintf(at, "  b%d: {mass: k%d, inertia: 0.1, at: [%d, 0]}\n", i, (i - 1) % 11 + 1, 2 * i - 1);
    at += sprintf(at, "joints:\n");
    for (int i = 1; i <= LINKS; ++i)
        at += i == 1 ? sprintf(at, "  j1: {type: revolute, between: [ground, b1], at: [0, 0]}\n")
                     : sprintf(at, "  j%d: {type: revolute, between: [b%d, b%d], at: [%d, 0]}\n", i, i - 1, i,
                               2 * i - 2);
    sprintf(at, "contacts: {floor: {gap: b%d.y + 0.2, restitution: 0.5}}\n", LINKS);
    carom_gradient back = gradient(text, "b16.x", many, 0.3), forth = gradient(text, "b16.x", few, 0.3);
    assert_true(back.adjoint && !forth.adjoint);
    assert_true(fabs(forth.gradient[0]) > 1e-6);
    for (int i = 0; i < 3; ++i) assert_close(back.gradient[i], forth.gradient[i], 1e-8);
    carom_gradient_free(&back), carom_gradient_free(&forth);
    free(text);
}

// A base on three slides with dampers of 1e11 N s/m carries six links and a stop that is closed, beside a rock whose
// contacts come and go, as robots of other programs have it: it sinks with its weight over the damping.
static void sinks_in_heavy_dampers(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double tolerance; // of the way: Newton's tolerance, of which 1e-8 of the momenta may be left
    } by[] = {{"moreau-jean", 0}, {"ggl-midpoint", 1e-5}, {"dg-plus", 1e-8}};
    enum { LINKS = 6, STEPS = 20 };
    char *text = calloc(1, 6000), *at = text;
    assert_non_null(text);
    at += sprintf(at, "carom: 1\ngravity: [0, 0, -10]\nbodies:\n");
    for (int i = 0; i < 3; ++i) at += sprintf(at, "  s%d: {mass: 0.1, inertia: [1e-3, 1e-3, 1e-3]}\n", i);
    for (int i = 1; i <= LINKS; ++i)
        at += sprintf(at, "  b%d: {mass: 1, inertia: [1e-2, 1e-2, 1e-3], at: [0, 0, %g]}\n", i, 0.5 - i);
    at += sprintf(at, "  rock: {density: 1000, at: [5, 0, 3], shape: {hull: [[0,0,0], [1,0,0], [0,1,0], [0,0,1]]}}\n"
                      "joints:\n");
    for (int i = 0; i < 3; ++i) {
        at += sprintf(at, "  x%d: {type: prismatic, between: [", i);
        at += i == 0 ? sprintf(at, "ground, s0]") : sprintf(at, "s%d, s%d]", i - 1, i);
        at += sprintf(at, ", at: [0, 0, 0], axis: [%d, %d, %d]}\n", i == 0, i == 1, i == 2);
    }
    for (int i = 1; i <= LINKS; ++i)
        at += sprintf(at, "  h%d: {type: revolute, between: [%c%d, b%d], at: [0, 0, %d], axis: [0, 1, 0]}\n", i,
                      i == 1 ? 's' : 'b', i == 1 ? 2 : i - 1, i, 1 - i);
    sprintf(at, "springs: {d0: {joint: x0, damping: 1e11}, d1: {joint: x1, damping: 1e11}, d2: {joint: x2, damping: "
                "1e11}}\nshapes: {floor: {plane: [0, 0, 1], at: [0, 0, -20]}}\n"
                "contacts: {c: {between: [rock, floor], friction: 1}, stop: {gap: h1.angle}}\n");
    carom_model *m = good(text);
    for (size_t i = 0; i < sizeof by / sizeof *by; ++i) {
        carom_error err = {0};
        carom_sim_def d = carom_sim_default();
        d.system = carom_model_system(m), d.scheme = by[i].scheme, d.h = 2e-3, d.t_end = STEPS * 2e-3;
        d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim) fail_msg("%s: %s", by[i].scheme, err.text);
        if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", by[i].scheme, err.text);
        const double way = (LINKS + 0.1) * 10 / 1e11 * STEPS * 2e-3,
                     rounding = DBL_EPSILON * 10 * 2e-3; // of what weight alone makes in a step: joints hold against it
        assert_close(carom_sim_now(sim).q[7 * 2 + 2], -way, by[i].tolerance * way + rounding * STEPS * 2e-3);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
    free(text);
}

// A chain that hangs in oil, with dampers in its hinges, is pulled to and fro at its tip and strikes a stop once in
// every period.  A run of another tolerance comes back to where the orbit begins: runs of 1e-10 are
// wrong by about 30 times that (ORB-10), in units of motions of 0.1 m and turns of 10 rad/s.
static void strikes_a_stop(int n) {
    char *text = calloc(1, (size_t)n * 400 + 1000), *at = text;
    assert_non_null(text);
    at += sprintf(at, "carom: 1\nparameters: {l: 0.1, m: 0.1, r: 0.01, g: 9.81, T: 0.5, J: m*l^2/12}\n");
    at += sprintf(at, "gravity: [0, 0, -g]\nbodies:\n");
    for (int i = 1; i <= n; ++i)
        at += sprintf(at, "  b%d: {mass: m, inertia: [J, J, m*r^2/2], at: [0, 0, (0.5 - %d)*l]}\n", i, i);
    at += sprintf(at, "joints:\n  j1: {type: revolute, between: [ground, b1], at: [0, 0, 0], axis: [0, 1, 0]}\n");
    for (int i = 2; i <= n; ++i)
        at += sprintf(at, "  j%d: {type: revolute, between: [b%d, b%d], at: [0, 0, -%d*l], axis: [0, 1, 0]}\n", i,
                      i - 1, i, i - 1);
    at += sprintf(at, "springs:\n");
    for (int i = 1; i <= n; ++i) at += sprintf(at, "  s%d: {joint: j%d, damping: 0.003}\n", i, i);
    at += sprintf(at, "loads:\n  pull: {on: b%d, force: [cos(2*pi*t/T), 0, 0]}\n", n);
    for (int i = 1; i <= n; ++i)
        at += sprintf(at, "  d%d: {on: b%d, force: [\"-10*m*b%d.x'\", 0, \"-10*m*b%d.z'\"]}\n", i, i, i, i);
    sprintf(at, "contacts: {stop: {gap: b%d.x + 0.005, restitution: 0.3}}\n", n);
    carom_orbit_def d = {.model = {.text = text, .length = strlen(text), .file = "model.yaml"},
                         .run = carom_run_nothing(), .period = "T", .transient = 5, .guess = NAN, .energy = NAN};
    carom_orbit o;
    carom_error err = {0};
    if (carom_orbit_find(&o, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_true(o.residual < 1e-8 && o.largest < 0.999);
    assert_int_equal(o.nevents, 1);
    assert_string_equal(o.event[0].kind, "impact");
    assert_int_equal(o.nmultipliers + o.others, 2 * n);
    assert_true(o.others > 0); // without a matrix
    carom_model *m = good(text);
    carom_sim_def sd = carom_sim_default();
    const char *const fine[] = {"rtol=1e-10", NULL};
    sd.system = carom_model_system(m), sd.schemes = carom_schemes(), sd.scheme = "event-driven", sd.options = fine;
    sd.h = o.period, sd.t_end = o.period, sd.q0 = o.q, sd.v0 = o.v;
    carom_sim *sim = carom_sim_create(&sd, &err);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    const carom_now now = carom_sim_now(sim);
    for (int i = 0; i < o.nq; ++i) assert_close(now.q[i], o.q[i], 1e-8);
    for (int i = 0; i < o.nv; ++i) assert_close(now.v[i], o.v[i], 1e-7);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    carom_orbit_free(&o);
    free(text);
}

static void strikes_a_stop_every_period(void **state) {
    (void)state;
    strikes_a_stop(24);
}

static void strikes_a_stop_every_period_200(void **state) {
    (void)state;
    strikes_a_stop(200);
}

int main(int argc, char **argv) {
    (void)argv;
    const struct CMUnitTest lasting[] = {
        cmocka_unit_test(strikes_a_stop_every_period),
        cmocka_unit_test(strikes_a_stop_every_period_200),
    };
    if (argc > 1) return cmocka_run_group_tests(lasting, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hangs),
        cmocka_unit_test(lies),
        cmocka_unit_test(swings),
        cmocka_unit_test(falls_on_a_stop),
        cmocka_unit_test(falls_on_a_floor),
        cmocka_unit_test(sinks_in_heavy_dampers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
