// test_flexible.c: flexible members in model files: unknowns, points, supports, loads, contacts, messages.
#define _POSIX_C_SOURCE 200809L
#include "linalg/matrix.h"
#include "model/answers.h"
#include "model_text.h"
#include <unistd.h>

// -- the same system, written twice ----------------------------------------------------------------------------

// A bar of three elements held on the left, with an element's own words and with coordinates.
#define BAR_NUMBERS                                                                                                    \
    "carom: 1\nparameters: {E: 300, A: 0.2, rho: 5, L: 1.5, l: L/3, k: E*A/l, m: rho*A*l/6, a: 0.3, b: 0.02, F: 4, "   \
    "M: 2}\n"
static const char bar_member[] = BAR_NUMBERS
    "flexible:\n"
    "  rod: {type: bar, length: L, elements: 3, density: rho, modulus: E, area: A, gravity: 9, fix: start,\n"
    "        damping: {mass: a, stiffness: b}, at: 0.1*s^2, rate: -s, load: 2*s, points: {p: 0.75}}\n"
    "energy: {kinetic: 1/2*M*rod.end.u'^2, potential: 3*rod.p.u^2}\n"
    "forces: {rod.p.u: F - rod.p.u'}\n"
    "contacts: {wall: {gap: (0.5 - rod.end.u)*(1 + rod.p.u^2)}}\n"
    "outputs: {T: kinetic, V: potential, sum: energy}\n";
// The load p = 2 s gives the integrals of p times the hat functions: 2 l s_i inside, 2 l (s_i/2 - l/6) at the end.
static const char bar_written[] =
    BAR_NUMBERS "coordinates:\n"
                "  u1: {at: 0.1*0.25, rate: -0.5}\n"
                "  u2: {at: 0.1, rate: -1}\n"
                "  u3: {at: 0.1*2.25, rate: -1.5}\n"
                "let: {p: (u1 + u2)/2, w: rho*A*9}\n"
                "energy:\n"
                "  kinetic: m*(u1'^2 + u1'^2 + u1'*u2' + u2'^2 + u2'^2 + u2'*u3' + u3'^2) + 1/2*M*u3'^2\n"
                "  potential: k/2*(u1^2 + (u2 - u1)^2 + (u3 - u2)^2) + 3*p^2 - w*l*(u1 + u2 + u3/2) - 2*l*(l*u1 + "
                "2*l*u2 + (3*l/2 - l/6)*u3)\n"
                "forces:\n"
                "  u1: -a*m*(4*u1' + u2') - b*k*(2*u1' - u2') + (F - p')/2\n"
                "  u2: -a*m*(u1' + 4*u2' + u3') - b*k*(2*u2' - u1' - u3') + (F - p')/2\n"
                "  u3: -a*m*(u2' + 2*u3') - b*k*(u3' - u2')\n"
                "contacts: {wall: {gap: (0.5 - u3)*(1 + p^2)}}\n"
                "outputs: {T: kinetic, V: potential, sum: energy}\n";

static double entry(carom_matrix A, int i, int j) {
    const double *x = carom_matrix_entry(A, i, j);
    return x ? *x : 0;
}

static carom_matrix blank(carom_shape shape, double *a) {
    memset(a, 0, carom_shape_size(shape) * sizeof *a);
    return (carom_matrix){shape, a};
}

static void a_member_is_the_system_that_coordinates_would_make(void **state) {
    (void)state;
    enum { N = 3 };
    carom_model *both[2] = {good(bar_member), good(bar_written)};
    double M[2][N * N], K[2][N * N], C[2][N * N], f[2][N], g[2][1], D[2][N * N], W[2][N], kappa[2][1], out[2][40],
        power[2][2], E[2][2];
    for (int k = 0; k < 2; ++k) {
        const carom_system *s = carom_model_system(both[k]);
        void *work = work_of(both[k]);
        carom_arena mem;
        carom_local L = local_of(both[k], &mem);
        assert_int_equal(s->nv, N);
        const double q[N] = {0.03, -0.2, 0.11}, v[N] = {0.7, 0.4, -0.9}, lambda = 1.7;
        double a[N * N], b[N * N];
        carom_matrix X = blank(s->mass_shape, a);
        assert_int_equal(s->mass(s->model, work, 0, q, X), CAROM_OK);
        for (int i = 0; i < N * N; ++i) M[k][i] = entry(X, i % N, i / N);
        X = blank(s->tangent_shape, a);
        carom_matrix Y = blank(s->tangent_shape, b);
        assert_int_equal(s->tangent(s->model, work, 0, q, v, X, Y), CAROM_OK);
        for (int i = 0; i < N * N; ++i) K[k][i] = entry(X, i % N, i / N), C[k][i] = entry(Y, i % N, i / N);
        carom_zero(f[k], N);
        assert_int_equal(s->force(s->model, work, 0, q, v, f[k]), CAROM_OK);
        assert_int_equal(s->gaps(s->model, work, 0, q, g[k]), CAROM_OK);
        assert_int_equal(s->directions(s->model, work, 0, q, &L), CAROM_OK);
        carom_column_expand(W[k], &L.W, 0);
        assert_int_equal(s->curvature(s->model, work, 0, q, v, &L, kappa[k]), CAROM_OK);
        X = blank(s->tangent_shape, a);
        assert_int_equal(s->reaction_gradient(s->model, work, 0, q, &L, &lambda, 1, X), CAROM_OK);
        for (int i = 0; i < N * N; ++i) D[k][i] = entry(X, i % N, i / N);
        assert_int_equal(s->power(s->model, work, 0, q, v, &power[k][0], &power[k][1]), CAROM_OK);
        assert_int_equal(s->energy(s->model, work, 0, q, v, &E[k][0], &E[k][1]), CAROM_OK);
        carom_model_outputs(both[k], work, 0, q, v, out[k]);
        assert_close(out[k][0], E[k][0], 1e-14);
        assert_close(out[k][1], E[k][1], 1e-14);
        assert_close(out[k][2], E[k][0] + E[k][1], 1e-14);
        free(work);
        free(mem.base);
    }
    for (int i = 0; i < N * N; ++i) {
        assert_close(M[0][i], M[1][i], 1e-15);
        assert_close(K[0][i], K[1][i], 1e-12);
        assert_close(C[0][i], C[1][i], 1e-13);
        assert_close(D[0][i], D[1][i], 1e-14);
    }
    for (int i = 0; i < N; ++i) {
        assert_close(f[0][i], f[1][i], 1e-12);
        assert_close(W[0][i], W[1][i], 1e-15);
        assert_close(carom_model_q0(both[0])[i], carom_model_q0(both[1])[i], 1e-16);
        assert_close(carom_model_v0(both[0])[i], carom_model_v0(both[1])[i], 0);
    }
    assert_close(g[0][0], g[1][0], 1e-16);
    assert_close(kappa[0][0], kappa[1][0], 1e-14);
    for (int i = 0; i < 2; ++i) {
        assert_close(power[0][i], power[1][i], 1e-13);
        assert_close(E[0][i], E[1][i], 1e-13);
    }
    for (int k = 0; k < 2; ++k) carom_model_destroy(both[k]);
}

// -- names -----------------------------------------------------------------------------------------------------

static void unknowns_and_points_have_names(void **state) {
    (void)state;
    carom_model *m = good(bar_member);
    assert_string_equal(carom_model_coordinate(m, 0), "rod.u1");
    assert_string_equal(carom_model_coordinate(m, 2), "rod.u3");
    assert_false(carom_model_recorded(m, 0));
    const carom_model_sizes n = carom_model_count(m);
    assert_int_equal(n.members, 1);
    assert_string_equal(carom_model_member_at(m, 0).name, "rod");
    int found = 0;
    for (int i = 0; i < n.outputs; ++i)
        found += strcmp(carom_model_output(m, i), "rod.p.u") == 0 ||
                 strcmp(carom_model_output(m, i), "rod.end.u'") == 0 ||
                 strcmp(carom_model_output(m, i), "rod.start.u") == 0; // held: no column
    assert_int_equal(found, 2);
    carom_model_destroy(m);
    m = good("carom: 1\nflexible: {r: {type: bar, length: 1, elements: 2, density: 1, modulus: 1, area: 1, record: "
             "unknowns}}\n"
             "outputs: {a: r.u1 - r.u0, b: r.u2'}\n");
    assert_true(carom_model_recorded(m, 2));
    void *work = work_of(m);
    double out[20];
    carom_model_outputs(m, work, 0, (double[]){1, 5, 2}, (double[]){0, 0, 7}, out);
    assert_close(out[0], 4, 0);
    assert_close(out[1], 7, 0);
    free(work);
    carom_model_destroy(m);
}

static void beams_start_with_the_slope_of_their_deflection(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\nflexible: {b: {type: beam, length: 2, elements: 4, density: 1, modulus: 1, area: 1, inertia: 1,\n"
        "  fix: {start: [u, w]}, at: {w: s^3}, rate: {w: sin(s), angle: 0}, direction: pi/2, origin: [3, 4]}}\n"
        "outputs: {x: b.end.x, y: b.end.y}\n");
    const double *q = carom_model_q0(m), *v = carom_model_v0(m);
    assert_int_equal(carom_model_count(m).coordinates, 13);
    assert_string_equal(carom_model_coordinate(m, 0), "b.angle0");
    assert_close(q[12], 3 * 4, 1e-13);
    assert_close(q[11], 8, 1e-14);
    assert_close(v[11], sin(2), 1e-15);
    assert_close(v[12], 0, 0);
    double out[60];
    void *work = work_of(m);
    carom_model_outputs(m, work, 0, q, v, out);
    assert_close(out[0], 3 - 8, 1e-14);
    assert_close(out[1], 4 + 2, 1e-14);
    free(work);
    carom_model_destroy(m);
}

static void a_contact_along_a_member_is_one_for_each_node(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nflexible: {b: {type: exact beam, length: 2, elements: 4, density: 1, modulus: 1, "
                          "area: 1, inertia: 1,\n"
                          "  shear modulus: 1, fix: start, origin: [0, 1]}}\n"
                          "contacts: {ground: {along: b, gap: b.y - 0.1*b.s - 0.2*b.x^2, slip: b.x, friction: 0.3}, "
                          "top: {gap: 3 - b.end.y}}\n");
    const carom_system *s = carom_model_system(m);
    assert_int_equal(s->nc, 5); // the held node has none
    assert_string_equal(carom_model_constraint(m, 0), "ground.1");
    assert_string_equal(carom_model_constraint(m, 3), "ground.4");
    assert_string_equal(carom_model_constraint(m, 4), "top");
    void *work = work_of(m);
    double g[5];
    assert_int_equal(s->gaps(s->model, work, 0, carom_model_q0(m), g), CAROM_OK);
    for (int k = 1; k <= 4; ++k) assert_close(g[k - 1], 1 - 0.05 * k - 0.2 * 0.25 * k * k, 1e-15);
    free(work);
    carom_model_destroy(m);
}

// -- size -------------------------------------------------------------------------------------------------------

static void a_hundred_thousand_elements_are_a_chain(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nflexible: {rod: {type: bar, length: 1, elements: 100000, density: 1, modulus: 1, "
                          "area: 1, mass: lumped}}\n"
                          "contacts: {wall: {gap: 1 + rod.start.u}}\n");
    const carom_system *s = carom_model_system(m);
    assert_int_equal(s->nv, 100001);
    assert_int_equal(s->mass_shape.storage, CAROM_DIAGONAL);
    assert_int_equal(s->tangent_shape.storage, CAROM_BANDED);
    assert_int_equal(s->tangent_shape.band, 1);
    assert_int_equal(s->column_stride, 1);
    assert_true(s->flags & CAROM_LINEAR);
    assert_true(s->work_size < 4 * 8 * (size_t)s->nv);
    carom_model_destroy(m);
}

static void members_and_coordinates_that_couple_far_apart_are_sparse(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2, potential: (x - rod.end.u)^2}\n"
                          "flexible: {rod: {type: bar, length: 1, elements: 200, density: 1, modulus: 1, area: 1}}\n");
    const carom_system *s = carom_model_system(m);
    assert_int_equal(s->mass_shape.storage, CAROM_BANDED);
    assert_int_equal(s->tangent_shape.storage, CAROM_SPARSE);
    carom_model_destroy(m);
}

// -- motion -------------------------------------------------------------------------------------------------------

static void step_to(carom_sim *sim, double t) {
    carom_error err = {0};
    while (carom_sim_now(sim).t < t - 1e-12 * fabs(t))
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
}

#define ROD(mass, n)                                                                                                   \
    "carom: 1\nflexible: {bar: {type: bar, length: 1, elements: " n                                                    \
    ", density: 7800, modulus: 2.1e11, area: pi*1e-4, rate: -0.1, mass: " mass "}}\n"                                  \
    "contacts: {wall: {gap: 5.0005e-5 + bar.start.u, restitution: 0}}\n"

// Another program's numbers for the same discrete map: 50 elements, consistent mass, half-explicit, 1e-7 s.
static void the_impacting_bar_meets_its_reference_values(void **state) {
    (void)state;
    carom_model *m = good(ROD("consistent", "50"));
    carom_sim *sim = model_sim(m, "half-explicit", NULL, 1e-7, 1.2e-3);
    carom_error err = {0};
    double impulse = 0, impact = 0, open = 0, lowest = 0;
    carom_now now = carom_sim_now(sim);
    while (!carom_sim_done(sim)) {
        assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        now = carom_sim_now(sim);
        impulse += now.impulse[0];
        lowest = fmin(lowest, now.gap[0]);
        for (int i = 0; i < now.nevents; ++i) {
            if (now.events[i].kind == CAROM_IMPACT) impact = now.events[i].t;
            if (now.events[i].kind == CAROM_OPEN) open = now.events[i].t;
        }
        if (fabs(now.t - 8e-4) < 1e-12) {
            assert_close(now.v[50], 9.777200930831e-2, 1e-11);
            assert_close(now.force[0], 1336.552428, 1e-4);
        }
    }
    assert_close(impulse, 1.414763504103e-3, 1e-15);
    assert_close(open - impact, 3.8190e-4, 0.5e-8);
    assert_close(lowest, -5e-9, 1e-13);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_close(l.energy.start, 1.225221134900e-2, 1e-14);
    assert_close(l.energy.end, 1.218150407819e-2, 1e-14);
    assert_close(l.energy.impact, 7.073818e-5, 0.5e-11);
    assert_int_equal(l.impacts, 1);
    double momentum = 0, mass = 0; // by nodes: consistent mass has the row sums of the lumped one
    for (int i = 0; i <= 50; ++i) {
        const double w = i == 0 || i == 50 ? 0.5 : 1;
        momentum += w * now.v[i];
        mass += w;
    }
    assert_close(momentum / mass, 0.0979329447, 1e-10);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    // Lumped mass: the impulse is that of half an element.
    m = good(ROD("lumped", "50"));
    sim = model_sim(m, "half-explicit", NULL, 1e-7, 9.5e-4);
    impulse = 0;
    while (!carom_sim_done(sim)) {
        assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        now = carom_sim_now(sim);
        impulse += now.impulse[0];
        for (int i = 0; i < now.nevents; ++i)
            if (now.events[i].kind == CAROM_OPEN) open = now.events[i].t;
    }
    assert_close(impulse, 2.4504e-3, 0.5e-7);
    assert_close(open - impact, 3.890e-4, 1.01e-7);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Another program: 8th-order Runge-Kutta.  half-explicit-rk of order 5 at 5e-7 s is right to 1e-12 in the place of the
// tip.
static void the_beam_pendulum_falls_as_its_reference(void **state) {
    QUICK_SKIPS();
    (void)state;
    carom_model *m = good(
        "carom: 1\nparameters: {b: 0.01, E: 2.1e11}\nflexible:\n"
        "  beam: {type: exact beam, length: 1, elements: 4, density: 7800, area: b^2, inertia: b^4/12, modulus: E,\n"
        "         shear modulus: E/2.6, gravity: [0, -9.81], fix: {start: [x, y]}}\n");
    static const double r[7][4] = {{0.05, 0.9998307822901, -0.0183963728731, -0.018440450984},
                                   {0.10, 0.9972952306021, -0.0735003570740, -0.073633410107},
                                   {0.15, 0.9863541766308, -0.1646378394048, -0.165406444521},
                                   {0.20, 0.9572513419484, -0.2892579892639, -0.293477703686},
                                   {0.25, 0.8975390433586, -0.4409355346807, -0.456739309759},
                                   {0.30, 0.7944412452359, -0.6073415581508, -0.652815583096},
                                   {0.32, 0.7388095028427, -0.6739148691009, -0.739396064162}};
    carom_sim *sim = model_sim(m, "half-explicit-rk", (const char *const[]){"order=5", NULL}, 5e-7, 0.32);
    const double *q = carom_sim_now(sim).q;
    for (int k = 0; k < 7; ++k) {
        step_to(sim, r[k][0]);
        assert_close(q[10], r[k][1], 1e-11);
        assert_close(q[11], r[k][2], 1e-11);
        assert_close(q[12], r[k][3], 3e-9); // shear modes of 1e6 rad/s: at half the step it is 1e-11
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A hub that turns by a coordinate, a small mass on the tip, a support by constraints instead of `fix`.
static void a_beam_turns_with_a_hub(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nparameters: {w: 3, J: 0.5}\ncoordinates: {th: {rate: w}}\n"
                          "flexible: {arm: {type: exact beam, length: 1, elements: 3, density: 1000, area: 1e-4, "
                          "inertia: 1e-9, modulus: 2e11,\n"
                          "  shear modulus: 8e10, rate: {x: 0, y: w*s, angle: w}}}\n"
                          "energy: {kinetic: 1/2*J*th'^2 + 1/2*0.01*(arm.end.x'^2 + arm.end.y'^2)}\n"
                          "constraints: {x: arm.start.x, y: arm.start.y, a: arm.start.angle - th}\n");
    carom_sim *sim = model_sim(m, "half-explicit", NULL, 2e-7, 0.01);
    carom_error err = {0};
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_close(l.energy.start, 0.5 * 9 * (0.5 + 0.1 / 3 + 1000 * 1e-9 + 0.01), 1e-12);
    assert_close(l.energy.balance, 0, 1e-6);
    assert_true(l.drift < 1e-9);
    const double *q = carom_sim_now(sim).q;
    assert_close(q[0], 0.03, 1e-6);
    assert_close(q[10], cos(0.03), 1e-5); // stretched by the centrifugal force: rho w^2/(3E) and the tip mass
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A body that turns in space has seven positions and six velocities: unknowns of members are shifted against each
// other.
static void no_faults(void *user, carom_finding kind, const char *sentence) {
    (void)user;
    if (kind == CAROM_FAULT) fail_msg("%s", sentence);
}

static void a_bar_and_a_spatial_body_share_a_model(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\nbodies: {b: {mass: 2, inertia: [1, 2, 3], at: [0, 0, 1], spin: [0.1, 3, 0.2], points: {tip: [0.3, "
        "0.1, 0.2]}}}\n"
        "flexible: {rod: {type: bar, length: 1, elements: 2, density: 1, modulus: 4, area: 1, at: s/10, rate: 1 + s}}\n"
        "energy: {potential: 5*(b.tip.z - rod.end.x)^2 + b.tip.x^2}\n"
        "contacts: {c: {gap: 3 + b.tip.x - rod.start.u}}\noutputs: {E: energy}\n");
    const carom_system *s = carom_model_system(m);
    assert_int_equal(s->nq, 10);
    assert_int_equal(s->nv, 9);
    assert_string_equal(carom_model_coordinate(m, 7), "rod.u0");
    assert_string_equal(carom_model_velocity(m, 8), "rod.u2'");
    assert_close(carom_model_q0(m)[9], 0.1, 1e-16);
    assert_close(carom_model_v0(m)[8], 2, 0);
    carom_error err = {0};
    assert_int_equal(carom_model_examine(m, no_faults, NULL, &err), 0);
    carom_sim *sim = model_sim(m, "half-explicit-rk", (const char *const[]){"order=4", NULL}, 1e-3, 1);
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_close(l.energy.end, l.energy.start, 1e-8);
    double out[40];
    carom_model_outputs(m, carom_sim_work(sim), 1, carom_sim_now(sim).q, carom_sim_now(sim).v, out);
    assert_close(out[0], l.energy.end, 1e-12);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// -- results ---------------------------------------------------------------------------------------------------------

static void fields_are_recorded_with_every_row_also_after_going_on(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nflexible: {r: {type: bar, length: 2, elements: 4, density: 1, modulus: 3, area: 1, fix: start,\n"
        "  at: 0.1*s, rate: s, record: [displacement, velocity, stress]}}\n";
    char file[64] = "/tmp/carom-fields-XXXXXX";
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    carom_model *m = good(text);
    for (int part = 0; part < 2; ++part) {
        carom_sim *sim = model_sim(m, "half-explicit", NULL, 0.01, part ? 1 : 0.5);
        carom_record_def d = carom_record_default();
        d.model = m, d.sim = sim, d.step = 0.01, d.end = part ? 1 : 0.5, d.every = 5, d.file = file, d.text = text,
        d.length = sizeof text - 1;
        carom_error err = {0};
        carom_record *rec = part ? carom_record_resume(&d, &err) : carom_record_create(&d, &err);
        if (!rec) fail_msg("%s", err.text);
        assert_int_equal(carom_sim_run(sim, carom_record_step, rec, &err), CAROM_OK);
        assert_int_equal(carom_record_finish(rec, "done", NULL, &err), CAROM_OK);
        carom_record_destroy(rec);
        carom_sim_destroy(sim);
    }
    carom_error err = {0};
    carom_result *r = carom_result_open(file, &err);
    if (!r) fail_msg("%s", err.text);
    assert_int_equal(carom_result_rows(r), 21);
    assert_int_equal(carom_result_field_size(r, "r.displacement"), 5);
    assert_int_equal(carom_result_field_size(r, "r.velocity"), 5);
    assert_int_equal(carom_result_field_size(r, "r.stress"), 4);
    assert_int_equal(carom_result_field_size(r, "r.nothing"), -1);
    double u[5], s[4], end[21];
    assert_int_equal(carom_result_field_read(r, "r.stress", 0, s, &err), CAROM_OK);
    for (int e = 0; e < 4; ++e) assert_close(s[e], 0.3, 1e-15);
    assert_int_equal(carom_result_read(r, carom_result_find(r, "r.end.u"), 0, 21, end, &err), CAROM_OK);
    for (int row = 0; row < 21; ++row) {
        assert_int_equal(carom_result_field_read(r, "r.displacement", row, u, &err), CAROM_OK);
        assert_close(u[0], 0, 0);
        assert_close(u[4], end[row], 0);
    }
    assert_int_equal(carom_result_field_read(r, "r.displacement", 21, u, &err), CAROM_BAD_INPUT);
    carom_result_close(r);
    carom_model_destroy(m);
    remove(file);
}

// -- the bouncing bar -------------------------------------------------------------------------------------------------

// Energies at the end by another program, with the same schemes (two digits after the point were printed).
static void the_bouncing_bar_meets_its_reference_values(void **state) {
    (void)state;
    static const struct { const char *scheme, *option; double energy, penetration; } runs[] = {
        {"moreau-jean", "theta=0.555555555555555556", 476.92, 3.9e-3}, {"newmark", "active=half", 498.34, 1e-2},
        {"hht", "active=half", 495.41, 1e-2},                          {"generalized-alpha", "rho=0.6", 495.78, 1e-2},
        {"generalized-alpha", "rho=0.8", 497.44, 1e-2},                {"ggl-alpha", "rho=0.8", 497.54, 1e-13},
        {"ggl-alpha", "newton=sequential", 497.54, 1e-13},             {"moreau-jean", "theta=1", 430.94, 1.45e-2},
    };
    carom_model *m = shipped_model("bouncing-bar");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        carom_sim *sim = model_sim(m, runs[i].scheme, (const char *const[]){runs[i].option, NULL}, 2e-3, 1.5);
        carom_error err = {0};
        carom_ledger l;
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_close(l.energy.end, runs[i].energy, 0.006);
        assert_true(l.penetration <= runs[i].penetration * 1.01);
        assert_int_equal(l.impacts, 1); // damped by theta=1 the bar touches once more, hardly moving
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Nothing acts on the bar but the wall: its momentum changes by the impulse that is booked, in the step that opens the
// contact too, and the wall never pulls.
static void the_wall_gives_the_bar_its_momentum(void **state) {
    (void)state;
    static const char *const schemes[] = {"ggl-alpha",   "ggl-projection", "moreau-midpoint",
                                          "moreau-jean", "newmark",        "generalized-alpha"};
    carom_model *m = shipped_model("bouncing-bar");
    const int n = carom_model_system(m)->nv;
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        const bool explicit = k == 1 || k == 2; // they need a step that the mesh allows
        const double h = explicit ? 5e-4 : 2e-3;
        carom_sim *sim = model_sim(m, schemes[k], NULL, h, 1.5);
        carom_error err = {0};
        double momentum = -10 * 10, closed = 0;
        while (!carom_sim_done(sim)) {
            if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
            const carom_now now = carom_sim_now(sim);
            double after = 0;
            // 1'M v
            for (int i = 0; i < n; ++i) after += now.v[i] * (10.0 / (n - 1)) * (i == 0 || i == n - 1 ? 0.5 : 1);
            const double impulse = now.reacted ? now.impulse[0] + now.force[0] * h : 0;
            assert_true(impulse >= 0);
            assert_close(after - momentum, impulse, 1e-10);
            momentum = after;
            closed += impulse > 0;
        }
        assert_true(closed > 300);
        assert_close(momentum, 100, 5); // all of it would fly back with 10
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Contact from 0.5005 to 1.1672 with the force 300, then all of it flies back with 10: closer with a finer mesh.
static void the_bouncing_bar_converges_to_its_exact_solution(void **state) {
    (void)state;
    QUICK_SKIPS();
    double before[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    for (int n = 50; n <= 800; n *= 4) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\nflexible: {bar: {type: bar, length: 10, elements: %d, density: 1, modulus: 900, area: 1, "
                 "rate: -10}}\n"
                 "contacts: {wall: {gap: 5.005 + bar.start.u}}\n",
                 n);
        carom_model *m = good(text);
        const double h = 0.1 / n;
        carom_sim *sim = model_sim(m, "newmark", NULL, h, 1.5);
        carom_error err = {0};
        double impulse = 0, last = 0, momentum = 0;
        while (!carom_sim_done(sim)) {
            assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
            const carom_now now = carom_sim_now(sim);
            impulse += now.impulse[0];
            if (now.impulse[0] > 0) last = now.t;
        }
        const double *v = carom_sim_now(sim).v;
        for (int i = 0; i <= n; ++i) momentum += (i == 0 || i == n ? 0.5 : 1) * 10.0 / n * v[i];
        const double error[3] = {fabs(last - 1.167166666666667), fabs(impulse - 200), fabs(momentum / 10 - 10)};
        for (int k = 0; k < 3; ++k) {
            assert_true(error[k] < 0.5 * before[k]);
            before[k] = error[k];
        }
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    assert_true(before[0] < 5e-3 && before[1] < 0.5 && before[2] < 0.05);
}

// A beam falls flat on the ground and slides until friction has taken 1/2 m u^2; every node is a contact.  The impact
// takes mu times the impulse that stops the fall, then mu g acts.
static void a_beam_slides_to_rest(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nflexible:\n"
                          "  b: {type: beam, length: 1, elements: 22, density: 1000, area: 1e-3, inertia: 1e-8, "
                          "modulus: 1e8, gravity: [0, -10],\n"
                          "      at: {w: 0.01}, rate: {u: 1, w: -0.5}, damping: {stiffness: 1e-4}}\n"
                          "contacts: {ground: {along: b, gap: b.y, slip: b.x, friction: 0.3, restitution: 0}}\n");
    static const char *const schemes[] = {"ggl-alpha", "generalized-alpha"};
    for (int i = 0; i < 2; ++i) {
        const double h = 1e-3;
        carom_sim *sim = model_sim(m, schemes[i], NULL, h, 0.4);
        carom_error err = {0};
        double mean = 1;
        while (!carom_sim_done(sim)) {
            if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s: %s", schemes[i], err.text);
            const carom_now now = carom_sim_now(sim);
            double u = 0;
            for (int k = 0; k <= 22; ++k) u += now.v[3 * k] / 22 * (k == 0 || k == 22 ? 0.5 : 1);
            mean = u;
            // 17.1 ms of fall end with 0.671 m/s; steps hit it up to h late, and the bounce of parts is over
            if (fabs(now.t - 0.2) < 0.5 * h) assert_close(u, 1 - 0.3 * 0.671 - 3 * (0.2 - 0.0171), 3 * 4 * h);
        }
        assert_close(mean, 0, 1e-9);
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_close(l.energy.friction, 0.5, 5e-3); // what vibrates along the beam is damped instead
        if (i == 0) assert_true(l.penetration <= 1e-15 && l.counts.newton_max <= 6);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// -- messages -------------------------------------------------------------------------------------------------------

static void check_message(const char *text, const char *place, const char *part) {
    carom_error err = {0};
    carom_model *m = model_of(text, &err);
    if (m) fail_msg("accepted: %s", text);
    if (strncmp(err.text, place, strlen(place)) != 0 || !strstr(err.text, part))
        fail_msg("%s\n  gave: %s\n  expected: %s ... %s", text, err.text, place, part);
}

#define START "carom: 1\nflexible:\n  r: {type: bar, length: 1, elements: 4, density: 1, modulus: 1, area: 1"

// A bar held at both ends, N equal elements: u_j = sin(k pi j/N) is a mode, omega_k^2 = 6 E/(rho l^2) (1 - cos a)/(2 +
// cos a), a = k pi/N.  With the ratio zeta it decays as exp(-zeta omega t) (cos wd t + zeta/sqrt(1 - zeta^2) sin wd t),
// wd = omega sqrt(1 - zeta^2).
static void modes_decay_with_their_ratios(void **state) {
    (void)state;
    const double zeta[3] = {0.1, 0.02, 0}, E = 4, l = 0.1, t = 0.7;
    for (int k = 1; k <= 3; ++k)
        for (int way = 0; way < 2; ++way) { // a list; one number for all
            char text[600];
            snprintf(text, sizeof text,
                     "carom: 1\nflexible: {rod: {type: bar, length: 1, elements: 10, density: 1, modulus: 4, area: 1, "
                     "fix: [start, end], modal damping: %s, at: \"sin(%d*pi*s)\", points: {p: 0.3}}}\n",
                     way ? "0.05" : "[0.1, 0.02, 0]", k);
            carom_model *m = good(text);
            const double a = k * 3.14159265358979323846 / 10,
                         omega = sqrt(6 * E / (l * l) * (1 - cos(a)) / (2 + cos(a))), z = way ? 0.05 : zeta[k - 1],
                         wd = omega * sqrt(1 - z * z);
            const double decay = exp(-z * omega * t) * (cos(wd * t) + z / sqrt(1 - z * z) * sin(wd * t)),
                         u = sin(k * 3.14159265358979323846 * 0.3);
            const char *const schemes[] = {"event-driven", "generalized-alpha", "moreau-jean", "half-explicit-rk"};
            const double h[] = {0.05, 2e-3, 2e-3, 1e-3}, bound[] = {1e-9, 2e-3, 2e-3, 1e-5};
            for (int i = 0; i < 4; ++i) {
                carom_sim *sim = model_sim(m, schemes[i], NULL, h[i], t);
                model_sim_run(sim);
                assert_close(carom_sim_now(sim).q[2], u * decay, bound[i]); // the node at 0.3
                carom_ledger ledger;
                assert_int_equal(carom_sim_ledger(sim, &ledger, NULL), CAROM_OK);
                if (i == 0) assert_close(ledger.energy.balance, 0, 1e-6 * ledger.energy.start);
                carom_sim_destroy(sim);
            }
            carom_model_destroy(m);
        }
    carom_error err = {0};
#define DAMPED(type, ratios)                                                                                           \
    "carom: 1\nflexible: {rod: {type: " type                                                                           \
    ", length: 1, elements: 10, density: 1, modulus: 4, area: 1, fix: start, modal damping: " ratios "}}\n"
    assert_null(model_of(DAMPED("bar", "1.5"), &err));
    assert_non_null(strstr(err.text, "the modal damping ratio must be at least 0 and less than 1, got 1.5"));
    assert_null(model_of(DAMPED("exact beam, inertia: 1, shear modulus: 1", "0.1"), &err));
    assert_non_null(strstr(err.text, "modal damping is for linear members"));
    assert_null(model_of(DAMPED("bar", "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"), &err));
    assert_non_null(strstr(err.text, "modal damping of 17 modes; at most 16 can be given"));
}

static void mistakes_are_told_with_their_place(void **state) {
    (void)state;
    check_message("carom: 1\nflexible: {r: {type: rod}}\n", "m.yaml:2:22:", "types are bar");
    check_message("carom: 1\nflexible: {r: {type: beem}}\n", "m.yaml:2:22:", "did you mean 'beam'");
    check_message("carom: 1\nflexible: {r: {length: 1}}\n", "m.yaml:2:12:", "has no type");
    check_message("carom: 1\nflexible: {r: {type: bar, length: 1}}\n", "m.yaml:2:12:", "has no elements");
    check_message(START ", inertia: 1}\n", "m.yaml:3:75:", "unknown key 'inertia'");
    check_message(START ", densty: 1}\n", "m.yaml:3:75:", "did you mean 'density'");
    check_message("carom: 1\nflexible: {r: {type: bar, length: 1, elements: 2.5, density: 1, modulus: 1, area: 1}}\n",
                  "m.yaml:2:48:", "must be an integer");
    check_message("carom: 1\nflexible: {r: {type: bar, length: -1, elements: 2, density: 1, modulus: 1, area: 1}}\n",
                  "m.yaml:2:12:", "the length must be positive, got -1");
    check_message(START ", fix: top}\n", "m.yaml:3:80:", "not a point of the member");
    check_message(START ", fix: strat}\n", "m.yaml:3:80:", "did you mean 'start'");
    check_message(START ", fix: {start: [w]}}\n", "m.yaml:3:89:", "not a component");
    check_message(START ", points: {p: 0.3}, fix: p}\n", "m.yaml:3:98:", "inside an element");
    check_message(START ", points: {p: 1.3}}\n", "m.yaml:3:87:", "reaches from 0 to 1");
    check_message(START ", points: {end: 0.5}}\n", "m.yaml:3:84:", "choose another name");
    check_message(START ", fix: {start: u, end: all}, mass: heavy}\n", "m.yaml:3:", "mass is `consistent` or `lumped`");
    check_message(START ", at: {w: 1}}\n", "m.yaml:3:80:", "it has u");
    check_message(START ", at: 1/(s - 0.5)}\n", "m.yaml:3:79:", "no finite value at node 2");
    check_message(START ", at: t}\n", "m.yaml:3:79:", "cannot depend on time t");
    check_message("carom: 1\nparameters: {s: 1}\nflexible:\n  r: {type: bar, length: 1, elements: 4, density: 1, "
                  "modulus: 1, area: 1, at: s}\n",
                  "m.yaml:4:79:", "arc length");
    check_message(START ", record: [stres]}\n", "m.yaml:3:84:", "did you mean 'stress'");
    check_message(START ", massless: [start]}\noutputs: {a: r.tip.u}\n", "m.yaml:4:14:", "unknown name 'r.tip.u'");
    check_message(START "}\noutputs: {a: r.u9}\n", "m.yaml:4:14:", "unknown name");
    check_message(START "}\noutputs: {a: r}\n", "m.yaml:4:14:", "a flexible member");
    check_message(START "}\nforces: {r.end.v: 1}\n", "m.yaml:4:10:", "did you mean 'r.end.u'");
    check_message(START ", fix: start}\nforces: {r.start.u: 1}\n",
                  "m.yaml:4:10:", "is fixed, so this force has no effect");
    check_message(START "}\ncontacts: {c: {along: q, gap: r.u}}\n", "m.yaml:4:23:", "flexible member");
    check_message(START "}\ncontacts: {c: {along: r, gap: 1 + r.s}}\n", "m.yaml:4:", "names nothing that moves");
    check_message(START "}\ncoordinates: {r: 1}\nenergy: {kinetic: r'^2}\n",
                  "m.yaml:3:3:", "already defined as a coordinate");
    check_message(START "}\ncontacts: {c: {gap: r.start.u - 1}}\n", "m.yaml:4:21:", "negative initial gap (-1)");
    check_message(START ", fix: [start, end], gravity: [1, 2, 3]}\n", "m.yaml:3:", "at most 2");
}

static void count_large_steps(void *user, carom_finding kind, const char *sentence) {
    if (kind == CAROM_WARNING && strstr(sentence, "is too large for")) ++*(int *)user;
}

// `carom check` knows the largest step of a scheme with the options of the model.  Linear elements of length l: omega =
// 2 sqrt(3) c/l at most.
static void the_largest_step_follows_the_options(void **state) {
    (void)state;
    const double omega = 2 * sqrt(3) * 30 / 0.05;
    static const struct {
        const char *scheme, *options;
        double limit; // h omega; 0: none
    } cases[] = {{"half-explicit", "", 2},
                 {"newmark", "", 0},
                 {"newmark", "beta: 0", 2},
                 {"newmark", "beta: 0.2", 4.4721359549995794},
                 {"newmark", "{gamma: 0.8, beta: 0.3}", 3.1622776601683795},
                 {"schatzman-paoli", "", 2},
                 {"schatzman-paoli", "theta: 0.4", 4.4721359549995794},
                 {"schatzman-paoli", "theta: 0.5", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        for (int k = 0; k < 2; ++k) {
            char text[500];
            const double h = cases[i].limit > 0 ? cases[i].limit / omega * (k ? 1.001 : 0.999) : 10;
            const bool map = strchr(cases[i].options, '{');
            snprintf(text, sizeof text,
                     "carom: 1\nflexible:\n  bar: {type: bar, length: 10, elements: 200, density: 1, modulus: 900, "
                     "area: 1}\n"
                     "simulation: {scheme: %s, options: %s%s%s, step: %.17g, end: 100}\n",
                     cases[i].scheme, map ? "" : "{", cases[i].options, map ? "" : "}", h);
            carom_model *m = good(text);
            int warnings = 0;
            carom_error err;
            carom_model_examine(m, count_large_steps, &warnings, &err);
            if (warnings != (k && cases[i].limit > 0))
                fail_msg("%s {%s}, step %g: %d warnings", cases[i].scheme, cases[i].options, h, warnings);
            carom_model_destroy(m);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_the_system_that_coordinates_would_make),
        cmocka_unit_test(the_largest_step_follows_the_options),
        cmocka_unit_test(unknowns_and_points_have_names),
        cmocka_unit_test(beams_start_with_the_slope_of_their_deflection),
        cmocka_unit_test(a_contact_along_a_member_is_one_for_each_node),
        cmocka_unit_test(a_hundred_thousand_elements_are_a_chain),
        cmocka_unit_test(members_and_coordinates_that_couple_far_apart_are_sparse),
        cmocka_unit_test(the_impacting_bar_meets_its_reference_values),
        cmocka_unit_test(the_beam_pendulum_falls_as_its_reference),
        cmocka_unit_test(a_beam_turns_with_a_hub),
        cmocka_unit_test(a_bar_and_a_spatial_body_share_a_model),
        cmocka_unit_test(fields_are_recorded_with_every_row_also_after_going_on),
        cmocka_unit_test(the_bouncing_bar_meets_its_reference_values),
        cmocka_unit_test(the_wall_gives_the_bar_its_momentum),
        cmocka_unit_test(the_bouncing_bar_converges_to_its_exact_solution),
        cmocka_unit_test(a_beam_slides_to_rest),
        cmocka_unit_test(modes_decay_with_their_ratios),
        cmocka_unit_test(mistakes_are_told_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
