// test_structure.c: systems of flexible members made in C: the same as those of model files.
#include "model_text.h"
#include <carom/event.h>
#include <carom/structure.h>

// A bar along y that stands on a planar beam, joined to its middle; the beam's end slides on the ground with friction.
static const char written[] = "carom: 1\n"
                              "flexible:\n"
                              "  beam: {type: beam, length: 2, elements: 6, density: 5, modulus: 4000, area: 0.1, "
                              "inertia: 0.02, fix: {start: [u, w]}, gravity: [0, -9.81], damping: {stiffness: 1e-4}}\n"
                              "  bar: {type: bar, length: 1, elements: 4, density: 2, modulus: 300, area: 0.1, "
                              "direction: pi/2, origin: [1, 0], gravity: [0, -9.81], mass: lumped}\n"
                              "constraints: {joined: 2*beam.w3 - 2*bar.start.u}\n"
                              "contacts:\n"
                              "  ground: {gap: beam.end.w + 0.1 + 0.5*beam.w5, slip: beam.end.u + 0.05*beam.end.angle, "
                              "friction: 0.3, restitution: 0.2}\n"
                              "  top: {gap: 1.01 - bar.end.y, restitution: 0.4}\n";

typedef struct parts {
    carom_member *member[2];
    carom_structure *structure;
} parts;

static bool fixed[3 * 7] = {true, true, false};

static parts build(carom_error *err) {
    parts p = {0};
    carom_member_def d = carom_member_default(CAROM_BEAM);
    d.length = 2, d.elements = 6, d.density = 5, d.modulus = 4000, d.area = 0.1, d.inertia = 0.02, d.fixed = fixed,
    d.gravity[1] = -9.81, d.damping_stiffness = 1e-4;
    p.member[0] = carom_member_create(&d, err);
    d = carom_member_default(CAROM_BAR);
    d.length = 1, d.elements = 4, d.density = 2, d.modulus = 300, d.area = 0.1, d.direction[0] = 0, d.direction[1] = 1,
    d.origin[0] = 1, d.gravity[1] = -9.81, d.lumped = true;
    p.member[1] = carom_member_create(&d, err);
    if (!p.member[0] || !p.member[1]) fail_msg("%s", err->text);
    static const carom_sum_term joined[] = {{.member = 0, .s = 1, .component = 1, .factor = 2},
                                         {.member = 1, .s = 0, .component = 0, .factor = -2}};
    static const carom_sum_term below[] = {{.member = 0, .s = 2, .component = 1, .factor = 1},
                                        {.member = 0, .s = 2 * 5 / 6.0, .component = 1, .factor = 0.5}};
    static const carom_sum_term along[] = {{.member = 0, .s = 2, .component = 0, .factor = 1},
                                        {.member = 0, .s = 2, .component = 2, .factor = 0.05}};
    static const carom_sum_term above = {.member = 1, .s = 1, .component = 1, .place = true, .factor = -1};
    static const carom_sum constraint = {.point = joined, .n = 2};
    static const carom_structure_contact contact[] = {
        {.gap = {0.1, below, 2}, .slip = {0, along, 2}, .law = {.friction = 0.3, .restitution = 0.2}},
        {.gap = {1.01, &above, 1}, .law = {.restitution = 0.4}}};
    const carom_structure_def def = {.members = (const carom_member *const[]){p.member[0], p.member[1]},
                                     .nmembers = 2,
                                     .constraints = &constraint,
                                     .ne = 1,
                                     .contacts = contact,
                                     .nc = 2};
    p.structure = carom_structure_create(&def, err);
    if (!p.structure) fail_msg("%s", err->text);
    return p;
}

static void drop(parts *p) {
    carom_structure_destroy(p->structure);
    carom_member_destroy(p->member[0]);
    carom_member_destroy(p->member[1]);
}

static carom_sim *sim_of(const carom_system *s, const double *q, const double *v, const char *scheme, double h,
                         double end) {
    carom_sim_def d = carom_sim_default();
    carom_error err = {0};
    d.system = s, d.schemes = carom_schemes(), d.scheme = scheme, d.h = h, d.t_end = end, d.q0 = q, d.v0 = v;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s: %s", scheme, err.text);
    return sim;
}

static void a_structure_is_the_system_that_a_model_file_makes(void **state) {
    (void)state;
    static const char *const schemes[] = {"half-explicit", "moreau-midpoint", "moreau-jean", "generalized-alpha"};
    carom_error err = {0};
    carom_model *m = good(written);
    parts p = build(&err);
    const carom_system *a = carom_model_system(m), *b = carom_structure_system(p.structure);
    assert_int_equal(a->nq, b->nq);
    assert_int_equal(a->ne, b->ne);
    assert_int_equal(a->nc, b->nc);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->mass_shape.storage, b->mass_shape.storage);
    assert_int_equal(a->tangent_shape.storage, b->tangent_shape.storage);
    assert_int_equal(a->column_stride, b->column_stride);
    double q[40] = {0};
    carom_structure_rest(p.structure, q);
    for (int i = 0; i < a->nq; ++i) assert_true(q[i] == carom_model_q0(m)[i]);
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        carom_sim *x = sim_of(a, carom_model_q0(m), carom_model_v0(m), schemes[k], 2e-4, 0.5),
                  *y = sim_of(b, q, carom_model_v0(m), schemes[k], 2e-4, 0.5);
        assert_int_equal(carom_sim_run(x, NULL, NULL, &err), CAROM_OK);
        assert_int_equal(carom_sim_run(y, NULL, NULL, &err), CAROM_OK);
        carom_ledger l, n;
        assert_int_equal(carom_sim_ledger(x, &l, &err), CAROM_OK);
        assert_int_equal(carom_sim_ledger(y, &n, &err), CAROM_OK);
        assert_true(l.impacts > 0 && l.energy.friction > 0 && l.energy.damping > 0);
        assert_int_equal(l.impacts, n.impacts);
        assert_close(l.energy.damping, n.energy.damping, 1e-9);
        assert_close(l.energy.balance, n.energy.balance, 1e-9);
        for (int i = 0; i < a->nq; ++i) assert_close(carom_sim_now(x).q[i], carom_sim_now(y).q[i], 1e-10);
        for (int i = 0; i < 3; ++i) assert_close(carom_sim_now(x).gap[i], carom_sim_now(y).gap[i], 1e-10);
        carom_sim_destroy(x);
        carom_sim_destroy(y);
    }
    assert_int_equal(carom_structure_first(p.structure, 0), 0);
    assert_int_equal(carom_structure_first(p.structure, 1), carom_member_unknowns(p.member[0]));
    drop(&p);
    carom_model_destroy(m);
}

static void sums_of_points_are_their_gaps_and_rates(void **state) {
    (void)state;
    carom_error err = {0};
    parts p = build(&err);
    const carom_system *s = carom_structure_system(p.structure);
    double q[40], v[40], g[3] = {0};
    for (int i = 0; i < s->nq; ++i) q[i] = sin(i), v[i] = cos(2 * i);
    assert_int_equal(s->gaps(s->model, NULL, 0, q, g), CAROM_OK);
    const carom_sum_term above = {.member = 1, .s = 1, .component = 1, .place = true, .factor = -1};
    const carom_sum sum = {1.01, &above, 1};
    assert_close(g[2], carom_structure_value(p.structure, &sum, q), 1e-15);
    assert_close(carom_structure_value(p.structure, &sum, q), 1.01 - 1 - q[s->nq - 1], 1e-15);
    assert_close(carom_structure_rate(p.structure, &sum, v), -v[s->nv - 1], 1e-15);
    drop(&p);
}

// -- forces of time ---------------------------------------------------------------------------------------------

static void shake(void *user, double t, double *f) {
    const int *at = user;
    f[*at] += 3 * cos(7 * t);
}

// u'' = (3 cos(7 t) - k u)/m from rest, one unknown.
static void loads_act_and_their_work_is_booked(void **state) {
    (void)state;
    carom_error err = {0};
    carom_member_def d = carom_member_default(CAROM_BAR);
    bool held[2] = {true, false};
    d.length = 1, d.elements = 1, d.density = 2, d.modulus = 20, d.area = 1, d.lumped = true, d.fixed = held;
    carom_member *bar = carom_member_create(&d, &err);
    int at = 0;
    const carom_structure_def def = {
        .members = (const carom_member *const[]){bar}, .nmembers = 1, .load = shake, .load_user = &at};
    carom_structure *s = carom_structure_create(&def, &err);
    if (!s) fail_msg("%s", err.text);
    double q[1] = {0}, v[1] = {0};
    const double h = 1e-3, end = 2, m = 1, k = 20, w = sqrt(k / m), a = 3 / m / (w * w - 49);
    carom_sim *sim = sim_of(carom_structure_system(s), q, v, "moreau-jean", h, end);
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_close(carom_sim_now(sim).q[0], a * (cos(7 * end) - cos(w * end)), 5 * h * h); // second order
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_true(fabs(l.energy.external) > 0.01);
    assert_close(l.energy.end - l.energy.start, l.energy.external, 20 * h * h);
    carom_sim_destroy(sim);
    carom_structure_destroy(s);
    carom_member_destroy(bar);
}

// -- storage -------------------------------------------------------------------------------------------------------

// A ring of springs: its last row touches its first, so that no band is narrow.
static void rings_are_sparse_with_a_factoriser_and_dense_without(void **state) {
    (void)state;
    enum { N = 90 };
    carom_error err = {0};
    int row[3 * N], col[3 * N], same[N];
    double stiff[3 * N], one[N];
    for (int i = 0; i < N; ++i) {
        same[i] = i, one[i] = 1 + 0.01 * i;
        row[3 * i] = row[3 * i + 1] = row[3 * i + 2] = col[3 * i] = i;
        col[3 * i + 1] = (i + 1) % N, col[3 * i + 2] = (i + N - 1) % N;
        stiff[3 * i] = 25, stiff[3 * i + 1] = stiff[3 * i + 2] = -10;
    }
    const carom_triplets K = {N, N, 3 * N, row, col, stiff}, M = {N, N, N, same, same, one};
    carom_member_def d = carom_member_default(CAROM_MATRICES);
    d.mass = &M, d.stiffness = &K;
    carom_member *ring = carom_member_create(&d, &err);
    if (!ring) fail_msg("%s", err.text);
    const carom_sum_term p = {.s = 40, .factor = 1};
    const carom_structure_contact c = {.gap = {0.5, &p, 1}, .law = {.restitution = 0.5}};
    double q[N] = {0}, v[N], end[2][N];
    for (int i = 0; i < N; ++i) v[i] = -1 - sin(i);
    for (int k = 0; k < 2; ++k) {
        const carom_structure_def def = {.members = (const carom_member *const[]){ring},
                                         .nmembers = 1,
                                         .contacts = &c,
                                         .nc = 1,
                                         .direct = k ? carom_direct_klu() : NULL};
        carom_structure *s = carom_structure_create(&def, &err);
        if (!s) fail_msg("%s", err.text);
        assert_int_equal(carom_structure_system(s)->mass_shape.storage, CAROM_DIAGONAL);
        assert_int_equal(carom_structure_system(s)->tangent_shape.storage, k ? CAROM_SPARSE : CAROM_DENSE);
        carom_sim *sim = sim_of(carom_structure_system(s), q, v, "newmark", 1e-2, 3);
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
        memcpy(end[k], carom_sim_now(sim).q, sizeof end[k]);
        carom_sim_destroy(sim);
        carom_structure_destroy(s);
    }
    for (int i = 0; i < N; ++i) assert_close(end[0][i], end[1][i], 1e-11);
    carom_member_destroy(ring);
}

static void wrong_definitions_are_refused(void **state) {
    (void)state;
    carom_error err = {0};
    parts p = build(&err);
    const carom_member *const both[] = {p.member[0], p.member[1]};
    static const struct { carom_sum_term point; const char *say; } cases[] = {
        {{.member = 2, .s = 0, .factor = 1}, "on member 2; there are 2"},
        {{.member = 1, .s = 1.5, .factor = 1}, "at s = 1.5; member 1 reaches from 0 to 1"},
        {{.member = 1, .s = 1, .component = 1, .factor = 1}, "component 1; member 1 has 1"},
        {{.member = 0, .s = 1, .component = 3, .place = true, .factor = 1}, "component 3"},
        {{.member = 0, .s = 1, .factor = NAN}, "the factor nan"},
        {{.member = 0, .s = 0, .component = 1, .factor = 1}, "the gap of contact 0 names nothing that can move"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const carom_structure_contact c = {.gap = {0, &cases[k].point, 1}};
        assert_null(carom_structure_create(
            &(carom_structure_def){.members = both, .nmembers = 2, .contacts = &c, .nc = 1}, &err));
        if (!strstr(err.text, cases[k].say)) fail_msg("'%s' does not say '%s'", err.text, cases[k].say);
    }
    const carom_sum_term end = {.member = 0, .s = 2, .component = 1, .factor = 1};
    const carom_structure_contact rough = {.gap = {0, &end, 1}, .law = {.friction = 0.5}};
    assert_null(carom_structure_create(
        &(carom_structure_def){.members = both, .nmembers = 2, .contacts = &rough, .nc = 1}, &err));
    assert_non_null(strstr(err.text, "friction and no slip"));
    assert_null(carom_structure_create(&(carom_structure_def){0}, &err));
    assert_non_null(strstr(err.text, "needs a member"));
    drop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_structure_is_the_system_that_a_model_file_makes),
        cmocka_unit_test(sums_of_points_are_their_gaps_and_rates),
        cmocka_unit_test(loads_act_and_their_work_is_booked),
        cmocka_unit_test(rings_are_sparse_with_a_factoriser_and_dense_without),
        cmocka_unit_test(wrong_definitions_are_refused),
    };
    return cmocka_run_group_tests_name("structure", tests, NULL, NULL);
}
