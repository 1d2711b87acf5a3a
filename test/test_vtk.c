// test_vtk.c: `carom export vtk` and `csv`: files that keep the rules of VTK's format, with the places, velocities and
// forces of the result.
#define _DEFAULT_SOURCE // mkdtemp
#include "own_folder.h"
#include "program.h"
#include <math.h>


// -- reading a file of cells ----------------------------------------------------------------------------------

typedef struct grid { char *text, *block; size_t size; int points, cells; double t; } grid;

static double attribute(const char *from, const char *name) {
    const char *at = strstr(from, name);
    if (!at) fail_msg("no %s", name);
    return strtod(at + strlen(name), NULL);
}

static grid open_grid(const char *name) {
    grid g = {.text = malloc(1 << 22)};
    FILE *f = fopen(name, "rb");
    if (!f || !g.text) fail_msg("cannot open %s", name);
    g.size = fread(g.text, 1, (1 << 22) - 1, f);
    g.text[g.size] = 0;
    fclose(f);
    g.block = strstr(g.text, "<AppendedData encoding=\"raw\">\n_");
    assert_non_null(g.block);
    g.block += strlen("<AppendedData encoding=\"raw\">\n_");
    g.points = (int)attribute(g.text, "NumberOfPoints=\"");
    g.cells = (int)attribute(g.text, "NumberOfCells=\"");
    g.t = attribute(g.text, "format=\"ascii\">");
    assert_memory_equal(g.text + g.size - strlen("</VTKFile>\n"), "</VTKFile>\n", strlen("</VTKFile>\n"));
    return g;
}

// An array by name; how many bytes it has.
static const void *array_of(const grid *g, const char *name, uint64_t *bytes) {
    char word[80];
    snprintf(word, sizeof word, "Name=\"%s\"", name);
    const char *at = strstr(g->text, word);
    if (!at || at > g->block) fail_msg("no array %s", name);
    const char *data = g->block + (size_t)attribute(at, "offset=\"");
    memcpy(bytes, data, sizeof *bytes);
    assert_true(data + sizeof *bytes + *bytes <= g->text + g->size);
    return data + sizeof *bytes;
}

static float point_of(const grid *g, const char *name, int i, int c) {
    uint64_t bytes;
    float x;
    const char *at = array_of(g, name, &bytes);
    assert_int_equal(bytes, (uint64_t)g->points * 3 * sizeof x);
    memcpy(&x, at + ((size_t)i * 3 + (size_t)c) * sizeof x, sizeof x);
    return x;
}

static int whole_of(const grid *g, const char *name, int i) {
    uint64_t bytes;
    int32_t x;
    memcpy(&x, (const char *)array_of(g, name, &bytes) + (size_t)i * sizeof x, sizeof x);
    return x;
}

static double double_of(const grid *g, const char *name, int i) {
    uint64_t bytes;
    double x;
    memcpy(&x, (const char *)array_of(g, name, &bytes) + (size_t)i * sizeof x, sizeof x);
    return x;
}

// Sizes agree, corners are points, ends ascend, every cell has as many corners as its type.
static void check_grid(const grid *g) {
    uint64_t corners, bytes;
    const unsigned char *type = array_of(g, "types", &bytes);
    assert_int_equal(bytes, g->cells);
    array_of(g, "offsets", &bytes);
    assert_int_equal(bytes, (uint64_t)g->cells * 4);
    array_of(g, "connectivity", &corners);
    corners /= 4;
    int before = 0;
    for (int i = 0; i < g->cells; ++i) {
        const int end = whole_of(g, "offsets", i), n = end - before;
        assert_true(type[i] == 1 ? n == 1 : type[i] == 4 ? n >= 2 : type[i] == 5 ? n == 3 : type[i] == 7 && n >= 3);
        for (int k = before; k < end; ++k) assert_in_range(whole_of(g, "connectivity", k), 0, g->points - 1);
        before = end;
    }
    assert_int_equal(before, corners);
}

static void run_model(const char *text, const char *options) {
    put("m.yaml", text);
    if (carom("run m.yaml --quiet --force %s", options) != 0) fail_msg("%s", complaints);
}

// -- solids that fly and turn ------------------------------------------------------------------------------------

// Volume within the triangles of a shape: outward faces make it positive.
static double volume(const grid *g, int shape) {
    double sum = 0;
    for (int i = 0, k = 0; i < g->cells; k = whole_of(g, "offsets", i), ++i) {
        if (whole_of(g, "shape", i) != shape) continue;
        double p[3][3];
        for (int c = 0; c < 9; ++c)
            p[c / 3][c % 3] = point_of(g, "Points", whole_of(g, "connectivity", k + c / 3), c % 3);
        for (int c = 0; c < 3; ++c)
            sum += p[0][c] * (p[1][(c + 1) % 3] * p[2][(c + 2) % 3] - p[1][(c + 2) % 3] * p[2][(c + 1) % 3]) / 6;
    }
    return sum;
}

// Six bodies without forces, each with velocity (1, 2, 3) and angular velocity (0, 0, 2) about its centre (3 i, 0, 0) +
// t (1, 2, 3): equal moments of inertia, so it turns steadily.
static void test_solids(void **state) {
    (void)state;
    static const char *const solid[] = {
        "sphere: 0.5",
        "box: [1, 0.4, 0.2]",
        "capsule: [0.2, 1]",
        "cylinder: [0.3, 1]",
        "ellipsoid: [0.5, 0.3, 0.2]",
        "hull: [[0.5, 0, 0], [-0.5, 0, 0], [0, 0.5, 0], [0, -0.5, 0], [0, 0, 0.5], [0, 0, -0.5]]"};
    const double pi = acos(-1.0),
                 exact[] = {pi / 6, 0.08, pi * 0.04 * 1 + 4 * pi / 3 * 0.008, pi * 0.09, 4 * pi / 3 * 0.03, 1.0 / 6},
                 h = 0.5;
    char text[2000];
    int n = snprintf(text, sizeof text, "carom: 1\nbodies:\n");
    for (int i = 0; i < 6; ++i)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  b%d: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [%d, 0, 0], velocity: [1, 2, 3], spin: [0, 0, "
                      "2], shape: {%s}}\n",
                      i, 3 * i, solid[i]);
    snprintf(text + n, sizeof text - (size_t)n, "simulation: {scheme: moreau-midpoint, step: 1e-3, end: %g}\n", h);
    run_model(text, "");
    assert_int_equal(carom("export vtk m.h5 --rows 3"), 0);
    assert_says(out, "m.pvd: 3 rows");
    assert_int_equal(access("m.vtk/shapes-00003.vtu", F_OK), -1);
    assert_int_equal(access("m.contacts.pvd", F_OK), -1); // there are none
    const grid g = open_grid("m.vtk/shapes-00002.vtu");
    check_grid(&g);
    assert_true(fabs(g.t - h) < 1e-12);
    for (int s = 0; s < 6; ++s) { // a polyhedron in a round solid is smaller, by some percent
        const double v = volume(&g, s), least = s == 1 || s == 5 ? 1 - 1e-5 : 0.95;
        if (!(v > least * exact[s] && v < (1 + 1e-5) * exact[s]))
            fail_msg("shape %d: volume %g, exact %g", s, v, exact[s]);
    }
    for (int i = 0, k = 0; i < g.cells; k = whole_of(&g, "offsets", i), ++i) {
        const int p = whole_of(&g, "connectivity", k), s = whole_of(&g, "shape", i);
        const double x = point_of(&g, "Points", p, 0) - 3 * s - h, y = point_of(&g, "Points", p, 1) - 2 * h,
                     u[3] = {1 - 2 * y, 2 + 2 * x, 3};
        assert_int_equal(whole_of(&g, "body", i), s + 1);
        for (int c = 0; c < 3; ++c)
            if (!(fabs(point_of(&g, "velocity", p, c) - u[c]) < 1e-5))
                fail_msg("shape %d: velocity %d is %g, not %g", s, c, point_of(&g, "velocity", p, c), u[c]);
    }
    free(g.text);
    char list[2000];
    get("m.vtk/shapes.csv", list, sizeof list);
    assert_says(list, "shape,name,figure,body\n0,\"b0\",sphere,1\n1,\"b1\",box,2\n");
    get("m.pvd", list, sizeof list);
    assert_says(list, "<DataSet timestep=\"0.5\" part=\"0\" file=\"m.vtk/shapes-00002.vtu\"/>");
}

// -- contacts ---------------------------------------------------------------------------------------------------------

static const char slope[] = // a block slides down: normal force m g cos, friction mu m g cos against the motion
    "carom: 1\nparameters: {a: 0.5, mu: 0.2}\ncoordinates: {x: {rate: 1}, y: {at: 0}}\n"
    "energy: {kinetic: x'^2 + y'^2, potential: 2*9.81*(y*cos(a) - x*sin(a))}\n"
    "contacts: {floor: {gap: y, slip: x, friction: mu}}\n"
    "draw: {block: {box: [0.2, 0.1], at: [x*cos(a) + y*sin(a), y*cos(a) - x*sin(a)], angle: -a}, contacts: {floor: "
    "[x*cos(a) + y*sin(a), y*cos(a) - x*sin(a)]}}\n"
    "simulation: {scheme: half-explicit, step: 1e-3, end: 1}\n";

static void test_contacts(void **state) {
    (void)state;
    run_model(slope, "");
    assert_int_equal(carom("export vtk m.h5 --from 0.5 --to 0.9 --rows 5 -o s.pvd"), 0);
    assert_says(out, "s.pvd: 5 rows; s.contacts.pvd: 5 rows");
    const grid g = open_grid("s.vtk/contacts-00004.vtu");
    const double n = 2 * 9.81 * cos(0.5), e[2] = {sin(0.5), cos(0.5)}, d[2] = {cos(0.5), -sin(0.5)};
    check_grid(&g);
    assert_int_equal(g.points, 1);
    assert_true(fabs(g.t - 0.9) < 1e-9);
    for (int c = 0; c < 2; ++c) assert_true(fabs(double_of(&g, "force", c) - n * (e[c] - 0.2 * d[c])) < 1e-6);
    assert_true(double_of(&g, "force", 2) == 0);
    free(g.text);
}

// A ball that falls by 1 m and bounces: the impulse of the impact is in the file of the row behind it, also where the
// rows around it are left out.
static void test_impulse(void **state) {
    (void)state;
    run_model("carom: 1\ncoordinates: {y: {at: 1}}\nenergy: {kinetic: y'^2/2, potential: 9.81*y}\ncontacts: {floor: "
              "{gap: y, restitution: 0.5}}\n"
              "draw: {ball: {circle: 0.1, at: [0, y]}, contacts: {floor: [0, y]}}\nsimulation: {scheme: mixed, step: "
              "1e-3, end: 0.6}\n",
              "");
    assert_int_equal(carom("export vtk m.h5 --rows 2"), 0);
    const grid g = open_grid("m.vtk/contacts-00001.vtu");
    const double u = sqrt(2 * 9.81);
    assert_true(fabs(double_of(&g, "impulse", 1) - 1.5 * u) < 1e-9 && double_of(&g, "impulse", 0) == 0);
    free(g.text);
}

// Snapshots of a world have files of their own, at their own times; a weight rests on two others.
static void test_snapshots(void **state) {
    (void)state;
    run_model("carom: 1\ngravity: [0, -10]\nbodies:\n  b: {repeat: 3, body: {mass: 1, inertia: 0.01, at: [0, 0.1 + "
              "0.2*i], shape: {circle: 0.1}}}\nshapes: {floor: {plane: [0, 1]}}\n"
              "contacts: {among: {among: b}, ground: {between: [b, floor]}}\nrecord: {contacts: 0.05}\nsimulation: "
              "{scheme: moreau-midpoint, step: 1e-3, end: 0.2}\n",
              "");
    assert_int_equal(carom("export vtk m.h5"), 0);
    const grid g = open_grid("m.vtk/contacts-00003.vtu");
    double lowest = 1, f = 0;
    for (int i = 0; i < g.points; ++i) {
        const double y = double_of(&g, "Points", 3 * i + 1);
        if (y < lowest) lowest = y, f = fabs(double_of(&g, "force", 3 * i + 1));
    }
    assert_true(g.points == 3 && fabs(lowest) < 1e-3 && fabs(f - 30) < 1e-6);
    free(g.text);
}

// A body that is moved by an input is where the input says, in every row.
static void test_input(void **state) {
    (void)state;
    run_model("carom: 1\ninputs: {place: 0}\ncoordinates: {x: {at: 0}}\nenergy: {kinetic: x'^2/2}\ndraw: {hand: "
              "{circle: 0.1, at: [place, 0]}}\n"
              "simulation: {scheme: moreau-midpoint, step: 1e-2, end: 1}\n",
              "--input place=3*t");
    assert_int_equal(carom("export vtk m.h5 --rows 2"), 0);
    const grid g = open_grid("m.vtk/shapes-00001.vtu");
    double sum = 0;
    for (int i = 0; i < g.points; ++i) sum += point_of(&g, "Points", i, 0) / (double)g.points;
    assert_true(fabs(sum - 3) < 1e-5);
    free(g.text);
}

// -- wrong usage, and csv ---------------------------------------------------------------------------------------------

static void test_refused(void **state) {
    (void)state;
    run_model(slope, "");
    static const struct { const char *arguments, *words; } cases[] = {
        {"vtk m.h5 -o x.vtu", "'x.vtu' does not end in .pvd"},
        {"vtk m.yaml", "m.yaml is a model"},
        {"vtk m.h5 --rows 1.5", "--rows"},
        {"vtk m.h5 --from 5", "no row between 5 and"},
        {"vtk m.h5 --set a=1", "--set belongs to models"},
        {"c m.yaml --rows 3", "--rows belongs to results"},
        {"nix m.h5", "expected c, cuda or fmu (model), vtk or csv (result)"},
        {"csv m.h5 -o x.txt", "does not end in .csv"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const int status = carom("export %s", cases[i].arguments);
        if (status != 2) fail_msg("%s: exit status %d", cases[i].arguments, status);
        assert_says(complaints, cases[i].words);
    }
    assert_int_equal(carom("run m.yaml --quiet --out rows.csv --force"), 0);
    assert_int_equal(carom("export vtk rows.csv"), 2);
    assert_says(complaints, "rows.csv contains no model");
    assert_int_equal(carom("export vtk rows.csv --model m.yaml --rows 2"), 0);
    run_model("carom: 1\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: x'^2}\nsimulation: {scheme: moreau-midpoint, "
              "step: 0.1, end: 1}\n",
              "");
    assert_int_equal(carom("export vtk m.h5"), 2);
    assert_says(complaints, "nothing to export");
}

// Heights are those of the plane x/5 - y/2, on a grid with other numbers of points along x and y.
static void test_heights(void **state) {
    (void)state;
    run_model("carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n  b: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 5], shape: "
              "{sphere: 0.1}}\nshapes:\n  hill: {heights: [[0, 0.1, 0.2, 0.3], [-0.2, -0.1, 0, 0.1]], cell: [0.5, "
              "0.4], at: [2, 0, 0]}\nsimulation: {scheme: moreau-midpoint, step: 1e-3, end: 1e-3}\n",
              "");
    assert_int_equal(carom("export vtk m.h5 --rows 2"), 0);
    const grid g = open_grid("m.vtk/shapes-00000.vtu");
    check_grid(&g);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, over = NAN;
    int triangles = 0;
    for (int i = 0, k = 0; i < g.cells; k = whole_of(&g, "offsets", i), ++i) {
        if (whole_of(&g, "body", i) != 0) continue;
        triangles += whole_of(&g, "offsets", i) - k - 2;
        for (int e = k; e < whole_of(&g, "offsets", i); ++e) {
            double x[3];
            for (int c = 0; c < 3; ++c) {
                x[c] = point_of(&g, "Points", whole_of(&g, "connectivity", e), c);
                low[c] = fmin(low[c], x[c]), high[c] = fmax(high[c], x[c]);
            }
            const double d = x[2] - x[0] / 5 + x[1] / 2;
            if (isnan(over)) over = d;
            assert_true(fabs(d - over) < 1e-6);
        }
    }
    assert_int_equal(triangles, 6);
    assert_true(fabs(high[0] - low[0] - 1.5) < 1e-6 && fabs(high[1] - low[1] - 0.4) < 1e-6 &&
                fabs(high[2] - low[2] - 0.5) < 1e-6);
    free(g.text);
}

static void test_csv(void **state) {
    (void)state;
    run_model(slope, "--out a.csv");
    run_model(slope, "--out a.h5");
    assert_int_equal(carom("export csv a.h5 -o b.csv"), 0);
    assert_int_equal(system("cmp a.csv b.csv && cmp a.csv.events.csv b.csv.events.csv"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_solids),  cmocka_unit_test(test_contacts),
                                       cmocka_unit_test(test_impulse), cmocka_unit_test(test_snapshots),
                                       cmocka_unit_test(test_input),   cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_csv),    cmocka_unit_test(test_heights)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
