// test_meshes.c: hulls of files as CAD programs write them, hulls of fewer corners, concave meshes as several solids,
// scales.
#include "derive/shapes/cloud.h"
#include "model_text.h"
#include <stdlib.h>

static unsigned next_random = 1;
static double random_in(double low, double high) {
    next_random = next_random * 1664525u + 1013904223u;
    return low + (high - low) * (next_random >> 8) / 16777216.0;
}

static void needs_qhull(void) {
    if (carom_cloud_any()) return;
    print_message("skipped: this carom was built without Qhull\n");
    skip();
}

// A prism, turned by a, with coordinates rounded to float32.
static int prism(int sides, double a, double where, double (*x)[3]) {
    const double c = cos(a), s = sin(a);
    for (int k = 0; k < 2 * sides; ++k) {
        const double phi = 2 * 3.14159265358979323846 * (k % sides) / sides,
                     p[3] = {0.05 * cos(phi), 0.05 * sin(phi), k < sides ? 0 : 0.2};
        const double u = p[0] * c - p[1] * s, v = p[0] * s + p[1] * c, q[3] = {u, v * c - p[2] * s, v * s + p[2] * c};
        for (int i = 0; i < 3; ++i) x[k][i] = (float)(q[i] + where);
    }
    return 2 * sides;
}

static void prisms_of_float32(void **state) {
    (void)state;
    needs_qhull();
    double(*x)[3] = malloc(1000 * sizeof *x), error;
    for (int sides = 3; sides <= 128; sides += sides < 20 ? 1 : 17)
        for (int k = 0; k < 4; ++k) {
            carom_hull h;
            const int n = prism(sides, random_in(0, 3), k * 0.3, x);
            assert_int_equal(carom_cloud_hull((const double(*)[3])x, n, CAROM_HULL_CORNERS, &h, &error), CAROM_HULL_OK);
            if (h.nv != n || h.nf != sides + 2 || h.ne != 3 * sides)
                fail_msg("%d sides: %d corners, %d faces, %d edges", sides, h.nv, h.nf, h.ne);
            double c[3], second[6];
            const double exact = sides / 2.0 * 0.05 * 0.05 * sin(2 * 3.14159265358979323846 / sides) * 0.2,
                         v = carom_hull_volume(&h, c, second);
            if (!(fabs(v - exact) < 1e-5 * exact && error <= 4e-6 * 0.2))
                fail_msg("%d sides: volume %g instead of %g, error %g", sides, v, exact, error);
            carom_hull_free(&h);
        }
    free(x);
}

// All points lie below all faces but for the error, and some point is that far outside.
static void fewer_corners(void **state) {
    (void)state;
    needs_qhull();
    enum { N = BRIEF ? 500 : 3000 };
    double(*x)[3] = malloc(N * sizeof *x), before = INFINITY;
    for (int i = 0; i < N; ++i) {
        double size = 0;
        while (!(size > 0.1 && size < 1)) {
            size = 0;
            for (int k = 0; k < 3; ++k) x[i][k] = random_in(-1, 1), size += x[i][k] * x[i][k];
        }
        for (int k = 0; k < 3; ++k) x[i][k] /= sqrt(size); // of a ball
    }
    for (int most = 8; most <= 256; most *= 2) {
        carom_hull h;
        double error = 0, far = 0;
        assert_int_equal(carom_cloud_hull((const double(*)[3])x, N, most, &h, &error), CAROM_HULL_OK);
        assert_in_range(h.nv, most / 2 + 1, most);
        for (int i = 0; i < N; ++i)
            for (int f = 0; f < h.nf; ++f)
                far = fmax(far, x[i][0] * h.normal[f][0] + x[i][1] * h.normal[f][1] + x[i][2] * h.normal[f][2] -
                                    h.offset[f]);
        if (!(far <= error * (1 + 1e-9) && error < 3 * far && error < before))
            fail_msg("%d corners: error %g, a point is %g above a face", most, error, far);
        // N corners at best have an error of about 2 pi/(sqrt(27) N): that of a regular triangulation of the sphere
        if (!(error < 4 * 1.21 / most + 0.02)) fail_msg("%d corners: error %g", most, error);
        before = error;
        carom_hull_free(&h);
    }
    free(x);
}

static void none(void **state) {
    (void)state;
    double x[40][3], error;
    carom_hull h;
    for (int i = 0; i < 40; ++i) x[i][0] = random_in(0, 1), x[i][1] = random_in(0, 1), x[i][2] = 0.5;
    assert_int_equal(carom_cloud_hull((const double(*)[3])x, 40, 256, &h, &error), CAROM_HULL_FLAT);
    assert_int_equal(carom_cloud_hull((const double(*)[3])x, 3, 256, &h, &error), CAROM_HULL_FLAT);
    for (int i = 0; i < 40; ++i) x[i][2] = 1e300 * x[i][0], x[i][0] = -1e300 * x[i][1];
    assert_int_not_equal(carom_cloud_hull((const double(*)[3])x, 40, 256, &h, &error), CAROM_HULL_OK);
}

// -- models -----------------------------------------------------------------------------------------------------------

static carom_model *with_file(const char *shape, const char *file, carom_error *err) {
    char text[400];
    snprintf(text, sizeof text,
             "carom: 1\nbodies: {b: {density: 1000, at: [0, 0, 9], shape: {%s}}}\nsimulation: {scheme: moreau-jean, "
             "step: 1e-3, end: 1}\n",
             shape);
    const carom_matrix_text given = {.name = "m.obj", .text = file, .length = strlen(file), .file = "m.obj"};
    return carom_model_create(
        &(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml", .matrices = &given, .nmatrices = 1},
        err);
}

static char found[4000];
static void note(void *user, carom_finding kind, const char *sentence) {
    (void)user, (void)kind;
    snprintf(found + strlen(found), sizeof found - strlen(found), "%s\n", sentence);
}

// Mass of the body: kinetic energy at unit velocity.
static double mass_of(carom_model *m) {
    const carom_system *s = carom_model_system(m);
    void *work = calloc(1, s->work_size + 64);
    double v[6] = {1}, kinetic = 0, potential = 0;
    if (s->work_init) s->work_init(s->model, work);
    assert_int_equal(s->energy(s->model, work, 0, carom_model_q0(m), v, &kinetic, &potential), CAROM_OK);
    free(work);
    return 2 * kinetic;
}

// Prisms over a polygon in the x-y plane, z from 0 to 1.
static void extrude(const double (*p)[2], int n, const int (*t)[3], int nt, char *text, size_t size) {
    size_t used = 0;
    for (int k = 0; k < 2 * n; ++k)
        used += (size_t)snprintf(text + used, size - used, "v %g %g %d\n", p[k % n][0], p[k % n][1], k / n);
    for (int k = 0; k < nt; ++k)
        used += (size_t)snprintf(text + used, size - used, "f %d %d %d\nf %d %d %d\n", t[k][0] + 1, t[k][2] + 1,
                                 t[k][1] + 1, t[k][0] + n + 1, t[k][1] + n + 1, t[k][2] + n + 1);
    for (int k = 0; k < n; ++k)
        used += (size_t)snprintf(text + used, size - used, "f %d %d %d %d\n", k + 1, (k + 1) % n + 1,
                                 (k + 1) % n + n + 1, k + n + 1);
}

static void points_alone_have_a_hull(void **state) {
    (void)state;
    needs_qhull();
    carom_error err = {0};
    carom_model *m = with_file("hull: m.obj", "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nv 0.1 0.1 0.1\n", &err);
    if (!m) fail_msg("%s", err.text);
    assert_true(fabs(mass_of(m) - 1000) < 1e-9);
    carom_model_destroy(m);
}

// Words of an STL file may be in capitals.
static void capitals(void **state) {
    (void)state;
    static const int facet[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
    char text[2000] = " SOLID  wedge\n";
    for (int i = 0; i < 4; ++i) {
        strcat(text, "FACET NORMAL 0 0 0\nOUTER LOOP\n");
        for (int k = 0; k < 3; ++k) {
            const double *x = corner[facet[i][k]];
            snprintf(text + strlen(text), 80, "VERTEX %.8E %.8E %.8E\n", x[0], x[1], x[2]);
        }
        strcat(text, "ENDLOOP\nENDFACET\n");
    }
    carom_error err = {0};
    carom_model *m = with_file("mesh: m.obj", strcat(text, "ENDSOLID wedge\n"), &err);
    if (!m) fail_msg("%s", err.text);
    assert_true(fabs(mass_of(m) - 1000) < 1e-9);
    carom_model_destroy(m);
}

static void an_angle_as_two_solids(void **state) {
    (void)state;
    needs_qhull();
    static const double p[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    static const int t[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    char file[2000];
    carom_error err = {0};
    extrude(p, 6, t, 4, file, sizeof file);
    assert_null(with_file("mesh: m.obj", file, &err));
    assert_non_null(strstr(err.text, "part 1 of 'm.obj' is not convex: it fills 0.857 of its hull; add `solids: 16`"));
    // as small, as large and turned inside out
    static const char *const alike[] = {"mesh: m.obj, scale: 0.001", "mesh: m.obj, scale: 1000",
                                        "mesh: m.obj, scale: [0.1, -0.2, 0.3]"};
    for (int i = 0; i < 3; ++i) {
        assert_null(with_file(alike[i], file, &err));
        assert_non_null(strstr(err.text, "is not convex: it fills 0.857 of its hull"));
    }
    static const struct {
        const char *shape;
        double mass;
        const char *says;
    } of[] = {
        {"mesh: m.obj, solids: 2", 3000,
         "'m.obj': 2 convex solids of at most 8 corners; no point is farther outside than 0, in the file's units; the "
         "mesh fills 1 of them"},
        {"mesh: m.obj, solids: 30", 3000, "2 convex solids"},
        {"mesh: m.obj, solids: 1", 3500, "1 convex solid of at most 10 corners"},
        {"hull: m.obj", 3500, ""},
        {"hull: m.obj, scale: 0.5", 3500 / 8.0, ""},
        {"hull: m.obj, scale: [1, -2, 3]", 3500 * 6, ""},
        {"mesh: m.obj, solids: 2, scale: [1, -2, 3]", 3000 * 6, ""},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
        carom_model *m = with_file(of[i].shape, file, &err);
        if (!m) fail_msg("%s: %s", of[i].shape, err.text);
        found[0] = 0;
        carom_model_examine(m, note, NULL, &err);
        if (!(fabs(mass_of(m) - of[i].mass) < 1e-9 * of[i].mass)) fail_msg("%s: mass %.17g", of[i].shape, mass_of(m));
        if (!strstr(found, of[i].says)) fail_msg("%s: '%s' does not say '%s'", of[i].shape, found, of[i].says);
        carom_model_destroy(m);
    }
    static const struct {
        const char *shape, *says;
    } wrong[] = {{"hull: m.obj, solids: 3", "`solids` belongs to a mesh; write `mesh: m.obj`"},
                 {"mesh: m.obj, solids: 0", "solids must be an integer from 1 to 1000, got 0"},
                 {"hull: m.obj, corners: 3", "corners must be an integer from 4 to 256, got 3"},
                 {"hull: m.obj, scale: 0", "a scale must not be 0"},
                 {"sphere: 1, corners: 9", "is no hull or mesh; `corners` belongs to these"},
                 {"hull: m.obj, scale: [1, 2]", "list of 3"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_null(with_file(wrong[i].shape, file, &err));
        if (!strstr(err.text, wrong[i].says)) fail_msg("%s: %s", wrong[i].shape, err.text);
    }
}

// Its pieces have corners of boxes inside of it; together they contain it, and more of them fit better.
static void a_ring_as_solids(void **state) {
    (void)state;
    needs_qhull();
    enum { N = 24, M = 12 };
    const double PI = 3.14159265358979323846;
    char *file = malloc(100000);
    size_t used = 0;
    double volume = 0, before = INFINITY;
    carom_error err = {0};
    for (int i = 0; i < N * M; ++i) {
        const double a = 2 * PI * (i / M) / N, b = 2 * PI * (i % M) / M, r = 1 + 0.4 * cos(b);
        used += (size_t)sprintf(file + used, "v %.9g %.9g %.9g\n", r * cos(a), r * sin(a), 0.4 * sin(b));
    }
    for (int i = 0; i < N; ++i)
        for (int k = 0; k < M; ++k) {
            const int a = i * M + k + 1, b = (i + 1) % N * M + k + 1, c = (i + 1) % N * M + (k + 1) % M + 1,
                      d = i * M + (k + 1) % M + 1;
            used += (size_t)sprintf(file + used, "f %d %d %d\nf %d %d %d\n", a, b, c, a, c, d);
        }
    for (int solids = 1; solids <= 16; solids *= 4) {
        char shape[60];
        snprintf(shape, sizeof shape, "mesh: m.obj, solids: %d, corners: 256", solids);
        carom_model *m = with_file(shape, file, &err);
        if (!m) fail_msg("%s: %s", shape, err.text);
        const double mass = mass_of(m);
        found[0] = 0;
        carom_model_examine(m, note, NULL, &err);
        const char *share = strstr(found, "the mesh fills ");
        assert_non_null(share);
        volume = atof(share + strlen("the mesh fills ")) * mass;
        if (!(mass < before && volume <= mass)) fail_msg("%d solids: %g, before %g, %s", solids, mass, before, found);
        before = mass;
        carom_model_destroy(m);
    }
    const double exact = 2 * PI * 1000 * M / 2.0 * sin(2 * PI / M) * 0.16 * N / (2 * PI) *
                         sin(2 * PI / N); // a little less: no ring of circles
    if (!(fabs(volume - exact) < 0.02 * exact && before < 1.2 * exact))
        fail_msg("volume %g, exact %g, of 16 solids %g", volume, exact, before);
    free(file);
}

// Lies on its side, and stays there.
static void a_prism_comes_to_rest(void **state) {
    (void)state;
    needs_qhull();
    double x[64][3];
    char file[6000] = "";
    size_t used = 0;
    carom_error err = {0};
    const int n = prism(32, 1.2, 0, x);
    for (int i = 0; i < n; ++i)
        used += (size_t)snprintf(file + used, sizeof file - used, "v %.9g %.9g %.9g\n", x[i][0], x[i][1], x[i][2]);
    for (int i = 1; i + 1 < n; ++i)
        used += (size_t)snprintf(file + used, sizeof file - used, "f 1 %d %d\n", i + 1, i + 2);
    const char *text =
        "carom: 1\ngravity: [0, 0, -9.81]\nbodies: {b: {density: 1000, at: [0, 0, 0.2], shape: {hull: "
        "m.obj}}}\nshapes: {floor: {plane: [0, 0, 1]}}\n"
        "contacts: {c: {between: [b, floor], friction: 0.5}}\nsimulation: {scheme: moreau-jean, step: 1e-3, end: 1}\n";
    const carom_matrix_text given = {.name = "m.obj", .text = file, .length = strlen(file), .file = "m.obj"};
    carom_model *m = carom_model_create(
        &(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml", .matrices = &given, .nmatrices = 1},
        &err);
    if (!m) fail_msg("%s", err.text);
    carom_sim *sim = model_sim(m, "moreau-jean", NULL, 1e-3, 2);
    model_sim_run(sim);
    // On a side: the centre is 0.05 cos(pi/32) above the floor, less the overlap of an impact, which is at most the way
    // of one step.
    const double way = 1e-3 * sqrt(2 * 9.81 * 0.2);
    if (!(fabs(carom_sim_now(sim).q[2] - 0.05 * cos(3.14159265358979323846 / 32)) < way))
        fail_msg("at %g", carom_sim_now(sim).q[2]);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prisms_of_float32),
        cmocka_unit_test(fewer_corners),
        cmocka_unit_test(none),
        cmocka_unit_test(points_alone_have_a_hull),
        cmocka_unit_test(capitals),
        cmocka_unit_test(an_angle_as_two_solids),
        cmocka_unit_test(a_ring_as_solids),
        cmocka_unit_test(a_prism_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
