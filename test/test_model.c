// test_model.c: the system that comes out of a model file, against formulas derived by hand and against differences.
#include "linalg/matrix.h"
#include "model/answers.h"
#include "model_text.h"
#include "system/difference.h"

static double next(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

// -- slider-crank ----------------------------------------------------------------------------------------

static const double l1 = 0.153, l2 = 0.306, a = 0.05, b = 0.025, c = 0.001, m1 = 0.038, m2 = 0.038, m3 = 0.076;
static const double J1 = 7.4e-5, J2 = 5.9e-4, J3 = 2.7e-6, grav = 9.81;

static void random_state(unsigned *seed, double *q, double *v) {
    for (int i = 0; i < 3; ++i) q[i] = 3 * next(seed), v[i] = 100 * next(seed);
}

static void mass_and_force_of_the_slider_crank_match_the_hand_formulas(void **state) {
    (void)state;
    carom_model *m = shipped_model("slider-crank");
    void *work = work_of(m);
    const carom_system *s = carom_model_system(m);
    assert_int_equal(s->mass_shape.storage, CAROM_DENSE);
    const double B = l1 * l2 * (m2 / 2 + m3), M11 = J1 + l1 * l1 * (m1 / 4 + m2 + m3),
                 M22 = J2 + l2 * l2 * (m2 / 4 + m3);
    unsigned seed = 1;
    for (int trial = 0; trial < 100; ++trial) {
        double q[3], v[3], M[9] = {0}, f[3] = {0}, T, V;
        random_state(&seed, q, v);
        assert_int_equal(s->mass(s->model, work, 0, q, (carom_matrix){s->mass_shape, M}), CAROM_OK);
        const double exact[9] = {M11, B * cos(q[0] - q[1]), 0, B * cos(q[0] - q[1]), M22, 0, 0, 0, J3};
        for (int k = 0; k < 9; ++k) assert_close(M[k], exact[k], 1e-13 * M22);
        assert_int_equal(s->force(s->model, work, 0, q, v, f), CAROM_OK);
        const double d = sin(q[0] - q[1]);
        assert_close(f[0], -B * d * v[1] * v[1] - grav * l1 * cos(q[0]) * (m1 / 2 + m2 + m3), 1e-13 * B * 1e4);
        assert_close(f[1], B * d * v[0] * v[0] - grav * l2 * cos(q[1]) * (m2 / 2 + m3), 1e-13 * B * 1e4);
        assert_close(f[2], 0, 0);
        assert_int_equal(s->energy(s->model, work, 0, q, v, &T, &V), CAROM_OK);
        double kinetic = 0;
        for (int k = 0; k < 9; ++k) kinetic += 0.5 * exact[k] * v[k / 3] * v[k % 3];
        assert_close(T, kinetic, 1e-13 * M22 * 3e4);
        assert_close(V, grav * ((m1 / 2 + m2 + m3) * l1 * sin(q[0]) + (m2 / 2 + m3) * l2 * sin(q[1])), 1e-14);
    }
    double T, V;
    s->energy(s->model, work, 0, carom_model_q0(m), carom_model_v0(m), &T, &V);
    assert_close(T + V, 7.49554875, 1e-13);
    free(work);
    carom_model_destroy(m);
}

static void contacts_of_the_slider_crank_match_the_hand_formulas(void **state) {
    (void)state;
    carom_model *m = shipped_model("slider-crank");
    void *work = work_of(m);
    const carom_system *s = carom_model_system(m);
    carom_arena mem;
    carom_local L = local_of(m, &mem);
    assert_int_equal(L.at[4], 8); // friction: a normal and a tangent each
    assert_true(s->flags & CAROM_TIMELESS_GAPS);
    assert_false(s->flags & (CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS));
    static const double sigma[4] = {-1, 1, -1, 1}, varsigma[4] = {1, 1, -1, -1};
    unsigned seed = 2;
    for (int trial = 0; trial < 50; ++trial) {
        double q[3], v[3], g[4], kappa[8];
        random_state(&seed, q, v);
        assert_int_equal(s->gaps(s->model, work, 0, q, g), CAROM_OK);
        assert_int_equal(s->directions(s->model, work, 0, q, &L), CAROM_OK);
        assert_int_equal(s->curvature(s->model, work, 0, q, v, &L, kappa), CAROM_OK);
        const double y3 = l1 * sin(q[0]) + l2 * sin(q[1]), s3 = sin(q[2]), c3 = cos(q[2]);
        for (int k = 0; k < 4; ++k) {
            const double sg = sigma[k], vs = varsigma[k], *N = L.W.a + 6 * k, *T = N + 3;
            assert_close(g[k], b + c - vs * y3 - vs * sg * a * s3 - b * c3, 1e-15);
            const double n[3] = {-vs * l1 * cos(q[0]), -vs * l2 * cos(q[1]), -vs * sg * a * c3 + b * s3};
            const double t[3] = {-l1 * sin(q[0]), -l2 * sin(q[1]), -sg * a * s3 - vs * b * c3};
            for (int i = 0; i < 3; ++i) assert_close(N[i], n[i], 1e-15), assert_close(T[i], t[i], 1e-15);
            const double curve = vs * l1 * sin(q[0]) * v[0] * v[0] + vs * l2 * sin(q[1]) * v[1] * v[1] +
                                 (vs * sg * a * s3 + b * c3) * v[2] * v[2];
            assert_close(kappa[2 * k], curve, 1e-13 * 1e4);
            assert_close(L.w[2 * k], 0, 0);
        }
    }
    assert_close(carom_model_system(m)->contacts[2].friction, 0.01, 0);
    assert_close(carom_model_system(m)->contacts[2].restitution, 0.4, 0);
    free(mem.base);
    free(work);
    carom_model_destroy(m);
}

// Central differences have a relative error of 1e-9 or so; entries are compared to the largest one.
static void compare_matrices(const carom_matrix A, const carom_matrix B, double floor) {
    double scale = floor;
    for (size_t e = 0; e < carom_shape_size(A.shape); ++e) scale = fmax(scale, fabs(A.a[e]));
    for (size_t e = 0; e < carom_shape_size(A.shape); ++e) assert_close(A.a[e], B.a[e], 1e-7 * scale);
}

// K, C, d(Mx)/dq, d(W lambda)/dq, d(W'v + w)/dq and kappa against differences at a state.
static void compare_derivatives(const carom_model *m, double t, const double *q, const double *v) {
    const carom_system *s = carom_model_system(m);
    void *work = work_of(m);
    carom_arena mem, count = {0};
    carom_local L = local_of(m, &mem);
    carom_allocate_difference(&count, s);
    carom_arena more = {.base = aligned_alloc(64, count.used + 64), .size = count.used + 64};
    memset(more.base, 0, more.size);
    carom_difference d = carom_allocate_difference(&more, s);
    const size_t n = carom_shape_size(s->tangent_shape), nd = (size_t)L.at[L.nb];
    double *x = calloc(4 * n + nd * 2 + 2 * nd * (size_t)s->nv + (size_t)s->nv, sizeof *x);
    const carom_matrix A = {s->tangent_shape, x}, B = {s->tangent_shape, x + n}, C = {s->tangent_shape, x + 2 * n},
                       D = {s->tangent_shape, x + 3 * n};
    double *k1 = x + 4 * n, *k2 = k1 + nd, *y = k2 + nd, *columns = y + s->nv;
    const double floor = 1e-3 * carom_norm_max(v, s->nv);
    s->tangent(s->model, work, t, q, v, A, B);
    carom_difference_tangent(&d, s, work, t, q, v, C, D);
    compare_matrices(A, C, floor);
    compare_matrices(B, D, floor);
    memset(x, 0, 4 * n * sizeof *x);
    for (int i = 0; i < s->nv; ++i) y[i] = 1 + 0.3 * i;
    s->mass_gradient(s->model, work, t, q, y, 2, A);
    carom_difference_mass_gradient(&d, s, work, t, q, y, 2, C);
    compare_matrices(A, C, 1e-3);
    if (nd) {
        s->directions(s->model, work, t, q, &L);
        for (size_t k = 0; k < nd; ++k) k1[k] = 1 + 0.2 * (double)k;
        s->reaction_gradient(s->model, work, t, q, &L, k1, 0.5, B);
        carom_difference_reaction_gradient(&d, s, work, t, q, &L, k1, 0.5, D);
        compare_matrices(B, D, 1e-3);
        s->curvature(s->model, work, t, q, v, &L, k1);
        carom_difference_curvature(&d, s, work, t, q, v, &L, k2);
        const double vv = carom_norm_max(v, s->nv);
        for (size_t k = 0; k < nd; ++k) assert_close(k1[k], k2[k], 1e-7 * (fabs(k1[k]) + vv * vv));
        if (!L.W.row) {
            carom_columns P = {.rows = s->nv, .n = (int)nd, .stride = s->nv, .a = columns}, Q = P;
            Q.a += nd * (size_t)s->nv;
            s->rate_gradient(s->model, work, t, q, v, &L, &P);
            carom_difference_rate_gradient(&d, s, work, t, q, v, &L, &Q);
            for (size_t e = 0; e < nd * (size_t)s->nv; ++e) assert_close(P.a[e], Q.a[e], 1e-7 * vv);
        }
    }
    free(x);
    free(more.base);
    free(mem.base);
    free(work);
}

static void derivatives_of_all_shipped_models_agree_with_differences(void **state) {
    (void)state;
    unsigned seed = 3;
    for (int k = 0; shipped[k]; ++k) {
        carom_model *m = shipped_model(shipped[k]);
        const int n = carom_model_count(m).coordinates;
        for (int trial = 0; trial < 5; ++trial) {
            double q[3], v[3];
            for (int i = 0; i < n; ++i) q[i] = carom_model_q0(m)[i] + 0.5 * next(&seed), v[i] = 10 * next(&seed);
            compare_derivatives(m, 0.3, q, v);
        }
        carom_model_destroy(m);
    }
}

// -- time, forces, tangents -----------------------------------------------------------------------------------

static void walls_that_move_bring_their_velocity_and_acceleration(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nparameters: {A: 0.1, w: 7}\ncoordinates: {x: 1}\nenergy: {kinetic: x'^2/2}\n"
                          "contacts: {wall: {gap: x - A*sin(w*t), slip: x*t, friction: 0.2}}\n");
    const carom_system *s = carom_model_system(m);
    void *work = work_of(m);
    carom_arena mem;
    carom_local L = local_of(m, &mem);
    const double t = 0.4, q = 1.5, v = 3;
    double kappa[2];
    assert_false(s->flags & CAROM_TIMELESS_GAPS);
    s->directions(s->model, work, t, &q, &L);
    s->curvature(s->model, work, t, &q, &v, &L, kappa);
    assert_close(L.W.a[0], 1, 0);
    assert_close(L.w[0], -0.7 * cos(2.8), 1e-15);
    assert_close(kappa[0], 4.9 * sin(2.8), 1e-14);
    assert_close(L.W.a[1], t, 0); // slip x t: u = t x' + x, and its derivative is 2 x'
    assert_close(L.w[1], q, 0);
    assert_close(kappa[1], 2 * v, 1e-15);
    compare_derivatives(m, t, &q, &v);
    free(mem.base);
    free(work);
    carom_model_destroy(m);
}

static void slip_rates_give_rolling_and_conveyor_belts(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nparameters: {R: 0.3}\ncoordinates: {x: 0, y: 0, th: 0}\n"
                          "energy: {kinetic: (x'^2 + y'^2 + th'^2)/2}\ncontact defaults: {friction: 0.5}\n"
                          "contacts:\n  belt: {gap: y, slip rate: x' - R*cos(th)*th' - 2*t + y}\n  disc: {gap: 1 - y, "
                          "slip: [x, th*y]}\n  oil: {gap: y + 1, slip: x, friction: 0}\n");
    const carom_system *s = carom_model_system(m);
    void *work = work_of(m);
    carom_arena mem;
    carom_local L = local_of(m, &mem);
    assert_int_equal(L.at[1], 2);
    assert_int_equal(L.at[2], 5);
    assert_int_equal(L.at[3], 6); // no friction: the normal alone
    assert_int_equal(s->contacts[2].tangents, 0); // and nothing tangential to record
    const double q[3] = {0.1, 0.2, 0.4}, v[3] = {1, 2, 3}, t = 0.5;
    s->directions(s->model, work, t, q, &L);
    const double *T = L.W.a + 3, *D2 = L.W.a + 12;
    assert_close(T[0], 1, 0);
    assert_close(T[1], 0, 0);
    assert_close(T[2], -0.3 * cos(0.4), 1e-15);
    assert_close(L.w[1], -1 + 0.2, 1e-15);
    assert_close(D2[1], 0.4, 0);
    assert_close(D2[2], 0.2, 0);
    double kappa[6];
    s->curvature(s->model, work, t, q, v, &L, kappa);
    assert_close(kappa[1], 0.3 * sin(0.4) * 9 - 2 + 2, 1e-14);
    compare_derivatives(m, t, q, v);
    // A set of its own order: only the requested constraints, in the places that L tells.
    L.nb = 2, L.id[0] = 1, L.id[1] = 2, L.at[1] = 3, L.at[2] = 4;
    s->directions(s->model, work, t, q, &L);
    assert_close(L.W.a[1], -1, 0);
    assert_close(L.W.a[3 * 3 + 1], 1, 0);
    assert_close(L.W.a[3 * 3 + 0], 0, 0);
    free(mem.base);
    free(work);
    carom_model_destroy(m);
}

static void a_list_of_slips_makes_as_many_tangents(void **state) {
    (void)state;
    for (int n = 1; n <= CAROM_TANGENTS; ++n) {
        static const char *const list[] = {"x", "x, z", "x, z, a", "x, z, a, b", "x, z, a, b, c"};
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: 0, y: 0, z: 0, a: 0, b: 0, c: 0}\n"
                 "energy: {kinetic: (x'^2 + y'^2 + z'^2 + a'^2 + b'^2 + c'^2)/2}\ncontacts: {floor: {gap: y, slip: "
                 "[%s], friction: 0.5}}\n"
                 "outputs: {last: floor.slip%.0d}\n",
                 list[n - 1], n > 1 ? n : 0);
        carom_model *m = good(text);
        const carom_system *s = carom_model_system(m);
        void *work = work_of(m);
        assert_int_equal(s->contacts[0].tangents, n);
        assert_int_equal(carom_system_directions(s, 0), 1 + n);
        double u[1 + CAROM_TANGENTS], last;
        const double q[6] = {1, 0, 2, 3, 4, 5}, v[6] = {10, 60, 20, 30, 40, 50};
        s->speed->rates(s->model, work, 0, q, v, u);
        assert_close(u[0], 60, 0);
        for (int k = 1; k <= n; ++k) assert_close(u[k], 10 * k, 0);
        carom_model_outputs(m, work, 0, q, v, &last);
        assert_close(last, n, 0);
        free(work);
        carom_model_destroy(m);
    }
}

// Weight and springs have a potential: schemes that book powers need not ask.
static void forces_with_a_potential_have_no_power(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: x'^2/2, potential: 9.81*x + "
                          "3*x^2}\ncontacts: {floor: {gap: x}}\n");
    assert_null(carom_model_system(m)->power);
    carom_model_destroy(m);
}

static void forces_split_into_external_and_damping_power(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\nparameters: {c: 2}\ncoordinates: {x: 0}\nenergy: {kinetic: (1 + 3*t)*x'^2/2, potential: 5*x*t^2}\n"
        "forces: {x: 4*cos(x) - c*x' - x'*abs(x')}\n");
    const carom_system *s = carom_model_system(m);
    void *work = work_of(m);
    const double t = 2, q = 0.3, v = -1.5;
    double external, damping, f = 0, M = 0;
    s->power(s->model, work, t, &q, &v, &external, &damping);
    // 4 cos x v from the force, 10 x t from the potential, -3/2 v^2 from the growing mass
    assert_close(external, 4 * cos(q) * v + 10 * q * t - 1.5 * v * v, 1e-14);
    assert_close(damping, 2 * v * v + v * v * fabs(v), 1e-14);
    s->force(s->model, work, t, &q, &v, &f);
    assert_close(f, 4 * cos(q) - 2 * v - v * fabs(v) - 3 * v - 5 * t * t, 1e-14);
    s->mass(s->model, work, t, &q, (carom_matrix){s->mass_shape, &M});
    assert_close(M, 7, 0);
    assert_false(s->flags & CAROM_CONSTANT_MASS);
    compare_derivatives(m, t, &q, &v);
    free(work);
    carom_model_destroy(m);
}

static void a_root_of_a_negative_number_is_reported_not_passed_on(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: x'^2/2}\nforces: {x: sqrt(x)}\ncontacts: "
                          "{g: {gap: log(x)}}\n");
    const carom_system *s = carom_model_system(m);
    void *work = work_of(m);
    const double q = -1, v = 0;
    double f = 0;
    assert_int_equal(s->force(s->model, work, 0, &q, &v, &f), CAROM_USER);
    assert_int_equal(s->gaps(s->model, work, 0, &q, &f), CAROM_USER);
    free(work);
    carom_model_destroy(m);
}

// -- several at once ---------------------------------------------------------------------------------------------

static void what_is_asked_together_has_the_bits_of_what_is_asked_alone(void **state) {
    (void)state;
    unsigned seed = 5;
    for (int k = 0; shipped[k]; ++k) {
        carom_model *m = shipped_model(shipped[k]);
        const carom_system *s = carom_model_system(m);
        void *work = work_of(m), *other = work_of(m);
        const size_t n = carom_shape_size(s->mass_shape) * sizeof(double), nf = (size_t)s->nv * sizeof(double),
                     ng = (size_t)(s->ne + s->nc) * sizeof(double);
        for (int trial = 0; trial < 6; ++trial) {
            double q[3], v[3], M[9] = {0}, f[3], g[8], M1[9], f1[3], g1[8];
            for (int i = 0; i < s->nv; ++i) q[i] = carom_model_q0(m)[i] + 0.5 * next(&seed), v[i] = 10 * next(&seed);
            for (int i = 0; i < 9; ++i) M1[i] = NAN; // what is there before does not matter
            assert_int_equal(s->mass(s->model, work, 0.3, q, (carom_matrix){s->mass_shape, M}), CAROM_OK);
            assert_int_equal(s->force(s->model, work, 0.3, q, v, f), CAROM_OK);
            if (s->gaps) assert_int_equal(s->gaps(s->model, work, 0.3, q, g), CAROM_OK);
            assert_int_equal(s->speed->motion(s->model, other, 0.3, q, v, (carom_matrix){s->mass_shape, M1}, f1,
                                              trial % 2 ? g1 : NULL),
                             CAROM_OK);
            assert_memory_equal(M, M1, n);
            assert_memory_equal(f, f1, nf);
            if (trial % 2 && ng) assert_memory_equal(g, g1, ng);
        }
        free(work);
        free(other);
        carom_model_destroy(m);
    }
}

// Mass, force and gap come from one evaluation; whichever is not a number is named.  x = 1.02 - t is still positive at
// the end of the tenth step and negative in the middle of the eleventh.
static void a_failure_among_several_is_told_by_name(void **state) {
    (void)state;
    static const struct {
        const char *mass, *potential, *gap, *told;
    } bad[] = {{"1 + 1e-9*sqrt(x)", "0", "x + 9", "the model failed to compute its mass matrix"},
               {"1 + 1e-9*x", "1e-9*x^1.5", "x + 9", "the force on 1 is not a number"},
               {"1 + 1e-9*x", "0", "9 + log(x)", "the gap of 'contact 1' is not a number"}};
    for (int k = 0; k < 3; ++k) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 1.02, rate: -1}}\nenergy: {kinetic: (%s)*x'^2/2, potential: %s}\n"
                 "contacts: {c: {gap: %s}}\n",
                 bad[k].mass, bad[k].potential, bad[k].gap);
        carom_model *m = good(text);
        carom_sim_def def = sim_def(m, "moreau-midpoint", NULL, 0.1, 5);
        carom_error err = {0};
        carom_sim *sim = carom_sim_create(&def, &err);
        assert_non_null(sim);
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_USER);
        const char *told = strstr(err.text, ": the ");
        assert_non_null(told);
        assert_string_equal(told + 2, bad[k].told);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// -- shapes ------------------------------------------------------------------------------------------------------

// A chain of n masses; every mass has a stop.
static carom_model *chain(int n) {
    char *text = calloc(1, 1 << 16), *at = text;
    assert_non_null(text);
    at += sprintf(at, "carom: 1\ncoordinates:\n");
    for (int i = 0; i < n; ++i) at += sprintf(at, "  x%d: %d\n", i, i);
    at += sprintf(at, "energy:\n  kinetic: 0");
    for (int i = 0; i < n; ++i) at += sprintf(at, " + x%d'^2", i);
    at += sprintf(at, "\n  potential: 0");
    for (int i = 1; i < n; ++i) at += sprintf(at, " + (x%d - x%d - 1)^4", i, i - 1);
    at += sprintf(at, "\ncontacts:\n");
    for (int i = 1; i < n; ++i) at += sprintf(at, "  c%d: {gap: (x%d - x%d)^2}\n", i, i, i - 1);
    carom_model *m = good(text);
    free(text);
    return m;
}

static void a_chain_gets_a_diagonal_mass_a_banded_tangent_and_sparse_columns(void **state) {
    (void)state;
    carom_model *m = chain(20);
    const carom_system *s = carom_model_system(m);
    carom_error err;
    assert_int_equal(carom_system_check(s, &err), CAROM_OK);
    assert_int_equal(s->mass_shape.storage, CAROM_DIAGONAL);
    assert_int_equal(s->tangent_shape.storage, CAROM_BANDED);
    assert_int_equal(s->tangent_shape.band, 1);
    assert_int_equal(s->column_stride, 2);
    assert_true(s->flags & CAROM_CONSTANT_MASS);
    double q[20], v[20];
    unsigned seed = 5;
    for (int i = 0; i < 20; ++i) q[i] = i + 0.3 * next(&seed), v[i] = next(&seed);
    compare_derivatives(m, 0, q, v);
    carom_arena mem;
    carom_local L = local_of(m, &mem);
    void *work = work_of(m);
    s->directions(s->model, work, 0, q, &L);
    assert_int_equal(L.W.count[4], 2);
    assert_int_equal(L.W.row[8], 4);
    assert_int_equal(L.W.row[9], 5);
    assert_close(L.W.a[9], 2 * (q[5] - q[4]), 1e-14);
    free(work);
    free(mem.base);
    carom_model_destroy(m);
    m = chain(3);
    assert_int_equal(carom_model_system(m)->tangent_shape.storage, CAROM_DENSE);
    assert_int_equal(carom_model_system(m)->column_stride, 3);
    carom_model_destroy(m);
}

static void full_mass_matrices_of_several_angles_are_right(void **state) {
    (void)state;
    // A triple pendulum with a mass that depends on all angles exercises every branch of the inertia forces.
    carom_model *m =
        good("carom: 1\ncoordinates: {a: 0.1, b: 0.2, c: 0.3}\n"
             "let:\n  x: cos(a) + cos(b)*c\n  y: sin(a)*b + sin(c)\n"
             "energy: {kinetic: x'^2 + y'^2 + (1 + a^2*b)*(a' + c')^2 + b'^2*(2 + sin(t)) + c'^2, potential: x*y}\n");
    unsigned seed = 9;
    const carom_system *s = carom_model_system(m);
    void *work = work_of(m);
    for (int trial = 0; trial < 10; ++trial) {
        double q[3], v[3], f[3] = {0}, T[2], V, power, damping;
        for (int i = 0; i < 3; ++i) q[i] = next(&seed), v[i] = next(&seed);
        compare_derivatives(m, 0.2, q, v);
        // Lagrange's equation by differences: f_i = dT/dq_i - dV/dq_i - (d/ds p_i along q' = v, t' = 1)
        s->force(s->model, work, 0.2, q, v, f);
        for (int i = 0; i < 3; ++i) {
            const double h = 1e-5;
            double sum = 0, p[2];
            for (int side = 0; side < 2; ++side) {
                double r[3], M[9] = {0}, E;
                for (int k = 0; k < 3; ++k) r[k] = q[k] + (side ? -h : h) * (k == i);
                s->energy(s->model, work, 0.2, r, v, &T[side], &V);
                sum += (side ? -1 : 1) * (T[side] - V);
                for (int k = 0; k < 3; ++k) r[k] = q[k] + (side ? -h : h) * v[k];
                s->mass(s->model, work, 0.2 + (side ? -h : h), r, (carom_matrix){s->mass_shape, M});
                E = 0;
                for (int k = 0; k < 3; ++k) E += M[i + 3 * k] * v[k];
                p[side] = E;
            }
            assert_close(f[i], (sum - (p[0] - p[1])) / (2 * h), 1e-8);
        }
        s->power(s->model, work, 0.2, q, v, &power, &damping);
        assert_close(power, -v[1] * v[1] * cos(0.2), 1e-14);
    }
    free(work);
    carom_model_destroy(m);
}

// -- the rest of the file --------------------------------------------------------------------------------------

static void parameters_may_be_expressions_in_any_order_and_be_overridden(void **state) {
    (void)state;
    const char *text = "carom: 1\nparameters: {a: b*2, b: 'max(c, 1)', c: 1e1, d: 1/3}\ncoordinates: {x: {at: a, rate: "
                       "-d}}\nenergy: {kinetic: a*x'^2}\n";
    const char *const set[] = {"c=4*d", "d=2", NULL};
    carom_error err = {0};
    carom_model *m = good(text);
    double value = 0;
    assert_string_equal(carom_model_parameter(m, 0, &value), "a");
    assert_close(value, 20, 0);
    assert_close(carom_model_v0(m)[0], -1.0 / 3, 0);
    carom_model_destroy(m);
    m = carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m", .set = set}, &err);
    assert_non_null(m);
    assert_close(carom_model_q0(m)[0], 16, 0);
    carom_model_destroy(m);
}

static void the_simulation_section_is_handed_on_as_written(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\nname: no\nparameters: {h: 1e-3}\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2}\n"
             "simulation: {scheme: moreau-jean, options: {theta: 0.50, closed: strict}, step: h/2, end: 3}\n");
    const carom_model_run run = carom_model_simulation(m);
    assert_string_equal(carom_model_name(m), "no");
    assert_string_equal(run.scheme, "moreau-jean");
    assert_string_equal(run.scheme_place, "m.yaml:6:22");
    assert_string_equal(run.options[0], "theta=0.50");
    assert_string_equal(run.options[1], "closed=strict");
    assert_null(run.options[2]);
    assert_close(run.step, 5e-4, 0);
    assert_close(run.end, 3, 0);
    carom_model_destroy(m);
    m = good("carom: 1\ncoordinates: {x: }\nforces:\nenergy: {kinetic: x'^2}\n");
    assert_true(isnan(carom_model_simulation(m).step));
    assert_null(carom_model_simulation(m).scheme);
    assert_null(carom_model_simulation(m).options[0]);
    assert_string_equal(carom_model_name(m), "m.yaml");
    carom_model_destroy(m);
}

static void outputs_see_let_names_rates_and_quantities_of_contacts(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ncoordinates: {x: {at: 2, rate: 3}}\nlet: {y: x^2}\nenergy: {kinetic: x'^2, potential: x}\n"
             "contacts: {wall: {gap: 2*x, slip rate: 5*x'}}\nconstraints: {}\n"
             "outputs: {y: y, yv: y', g: wall.gap, gv: wall.gap', sv: wall.slip', E: energy, both: kinetic - "
             "potential, time: t}\n");
    void *work = work_of(m);
    double out[8];
    carom_model_outputs(m, work, 7, carom_model_q0(m), carom_model_v0(m), out);
    const double exact[8] = {4, 12, 4, 6, 15, 11, 7, 7};
    assert_int_equal(carom_model_count(m).outputs, 8);
    for (int i = 0; i < 8; ++i) assert_close(out[i], exact[i], 1e-15);
    assert_string_equal(carom_model_output(m, 3), "gv");
    free(work);
    carom_model_destroy(m);
}

// -- exact solutions ------------------------------------------------------------------------------------------

static void exact_at(const carom_model *m, void *work, double t, double q, double v, double tolerance) {
    double x = 0, y = 0;
    carom_model_exact(m, work, t, &x, &y);
    assert_close(x, q, tolerance);
    assert_close(y, v, tolerance);
}

static void the_exact_ball_is_the_published_formula(void **state) {
    (void)state;
    carom_model *m = shipped_model("bouncing-ball");
    void *work = work_of(m);
    exact_at(m, work, 0, 1, 0, 1e-13);
    exact_at(m, work, 0.7, 1 - 0.49, -1.4, 1e-12);
    for (int n = 0; n < 20; ++n) { // q = -(t-3)^2 - 3 2^-n (t-1) + 2^(1-n) (3 - 2^-n) on [3 - 2^(1-n), 3 - 2^-n)
        const double p = ldexp(1, -n);
        for (double s = 0.1; s < 1; s += 0.2) {
            const double t = 3 - 2 * p + s * p;
            exact_at(m, work, t, -(t - 3) * (t - 3) - 3 * p * (t - 1) + 2 * p * (3 - p), -2 * (t - 3) - 3 * p, 2e-15);
        }
    }
    exact_at(m, work, 3, 0, 0, 0);
    exact_at(m, work, 100, 0, 0, 0);
    free(work);
    carom_model_destroy(m);
}

static void the_exact_elastic_ball_hits_at_its_geometric_times(void **state) {
    (void)state;
    carom_model *m = shipped_model("bouncing-ball-b");
    void *work = work_of(m);
    const double t1 = sqrt(0.1602), e = 0.8;
    exact_at(m, work, 0, 1.001, 0, 1e-12);
    exact_at(m, work, 0.3, 1.001 - 5 * 0.09, -3, 1e-12);
    double t = t1, speed = 10 * t1;
    for (int k = 0; k < 30; ++k) {
        speed *= e;
        const double s = 0.3 * speed / 10; // somewhere in this flight
        exact_at(m, work, t + s, 0.2 + speed * s - 5 * s * s, speed - 10 * s, 1e-12);
        t += 2 * speed / 10;
    }
    exact_at(m, work, 9 * t1 + 1e-9, 0.2, 0, 1e-15);
    free(work);
    carom_model_destroy(m);
}

static void the_exact_oscillator_loses_half_its_amplitude_at_each_impact(void **state) {
    (void)state;
    carom_model *m = shipped_model("impacting-oscillator");
    void *work = work_of(m);
    const double pi = acos(-1);
    exact_at(m, work, 1, cos(1), -sin(1), 1e-15);
    for (int n = 1; n < 6; ++n) {
        const double t = (n - 0.5) * pi + 0.4, r = pow(0.5, n);
        exact_at(m, work, t, r * fabs(cos(t)), r * cos(t - (n - 0.5) * pi), 1e-14);
    }
    free(work);
    carom_model_destroy(m);
}

static void the_first_example_of_the_documentation_is_a_model(void **state) {
    (void)state;
    FILE *f = fopen(CAROM_SOURCE_DIR "/docs/model-file.md", "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    char *fence = strstr(text, "```yaml"), *start = fence ? strchr(fence, '\n') : NULL,
         *end = start ? strstr(start, "```") : NULL;
    assert_non_null(end);
    *end = 0;
    carom_model *m = good(start + 1);
    assert_int_equal(carom_model_count(m).outputs, 2);
    carom_model_destroy(m);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_and_force_of_the_slider_crank_match_the_hand_formulas),
        cmocka_unit_test(contacts_of_the_slider_crank_match_the_hand_formulas),
        cmocka_unit_test(derivatives_of_all_shipped_models_agree_with_differences),
        cmocka_unit_test(walls_that_move_bring_their_velocity_and_acceleration),
        cmocka_unit_test(slip_rates_give_rolling_and_conveyor_belts),
        cmocka_unit_test(a_list_of_slips_makes_as_many_tangents),
        cmocka_unit_test(forces_split_into_external_and_damping_power),
        cmocka_unit_test(forces_with_a_potential_have_no_power),
        cmocka_unit_test(a_root_of_a_negative_number_is_reported_not_passed_on),
        cmocka_unit_test(what_is_asked_together_has_the_bits_of_what_is_asked_alone),
        cmocka_unit_test(a_failure_among_several_is_told_by_name),
        cmocka_unit_test(a_chain_gets_a_diagonal_mass_a_banded_tangent_and_sparse_columns),
        cmocka_unit_test(full_mass_matrices_of_several_angles_are_right),
        cmocka_unit_test(parameters_may_be_expressions_in_any_order_and_be_overridden),
        cmocka_unit_test(the_simulation_section_is_handed_on_as_written),
        cmocka_unit_test(outputs_see_let_names_rates_and_quantities_of_contacts),
        cmocka_unit_test(the_exact_ball_is_the_published_formula),
        cmocka_unit_test(the_exact_elastic_ball_hits_at_its_geometric_times),
        cmocka_unit_test(the_first_example_of_the_documentation_is_a_model),
        cmocka_unit_test(the_exact_oscillator_loses_half_its_amplitude_at_each_impact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
