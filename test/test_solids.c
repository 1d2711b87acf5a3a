// test_solids.c: mass, centre and inertia that follow from a density, against sums over points that are inside.
//
// Here a shape is nothing but the question whether a point is inside, asked at points that fill a box evenly
// (Kronecker's sequence with powers of the plastic number, which no face is aligned with): no formula of a volume or a
// moment is used.  Each point stands for a cell; cells that the surface cuts count wholly or not at all, with a
// deviation of 1/2.  Of N cells inside some 12 N^(2/3) are cut, if the shape is twice as long as wide; sums of N cells
// are off by 1.7 N^(1/3), and 5 N^(-2/3) is three deviations.  In the plane some 6 N^(1/2) are cut, 1.2 N^(-3/4), and
// 4 N^(-3/4) is allowed.
#include "linalg/matrix.h"
#include "model_text.h"

enum { POINTS = 200000 };

typedef struct moments {
    double cells, mass, centre[3], J[3][3];
} moments; // about the centre

typedef struct solid {
    const char *shapes;                     // of the model
    bool (*inside)(const double *x, int k); // the k-th part, of parts
    int parts;
    double low[3], high[3]; // the grid
} solid;

// -- shapes as questions ----------------------------------------------------------------------------------------------

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// The distance from the axis (unit vector u through p), and the place along it.
static double from_axis(const double *x, const double *p, const double *u, double *along) {
    const double d[3] = {x[0] - p[0], x[1] - p[1], x[2] - p[2]};
    *along = dot(d, u);
    return sqrt(fmax(0, dot(d, d) - *along * *along));
}

// Coordinates of x in a frame at p that is turned by `angle` about the unit vector u (Rodrigues, turned back).
static void turned_back(const double *x, const double *p, const double *u, double angle, double *y) {
    const double d[3] = {x[0] - p[0], x[1] - p[1], x[2] - p[2]}, c = cos(angle), s = -sin(angle), k = dot(u, d);
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        y[i] = c * d[i] + s * (u[j] * d[l] - u[l] * d[j]) + (1 - c) * k * u[i];
    }
}

static bool ball(const double *x, int k) {
    (void)k;
    const double d[3] = {x[0] - 0.1, x[1] + 0.2, x[2] - 0.3};
    return dot(d, d) < 0.25 * 0.25;
}

static bool brick(const double *x, int k) {
    (void)k;
    const double u[3] = {0, 0.6, 0.8}, p[3] = {0.1, 0, -0.05};
    double y[3];
    turned_back(x, p, u, 0.7, y);
    return fabs(y[0]) < 0.1 && fabs(y[1]) < 0.15 && fabs(y[2]) < 0.25;
}

static bool can(const double *x, int k) {
    (void)k;
    const double u[3] = {0.6, 0, 0.8}, p[3] = {0, 0.1, 0};
    double along;
    return from_axis(x, p, u, &along) < 0.12 && fabs(along) < 0.25;
}

static bool pill(const double *x, int k) {
    (void)k;
    const double u[3] = {0, 0.8, 0.6}, p[3] = {-0.1, 0, 0};
    double along;
    const double r = from_axis(x, p, u, &along), over = fmax(0, fabs(along) - 0.15);
    return r * r + over * over < 0.1 * 0.1;
}

static bool egg(const double *x, int k) {
    (void)k;
    const double u[3] = {0.8, 0, 0.6}, p[3] = {0, 0, 0.1};
    double y[3];
    turned_back(x, p, u, 0.4, y);
    y[0] /= 0.1, y[1] /= 0.2, y[2] /= 0.3;
    return dot(y, y) < 1;
}

static bool wedge(const double *x, int k) { // the corner x/0.3 + y/0.25 + z/0.4 < 1 of the first octant
    (void)k;
    return x[0] > 0 && x[1] > 0 && x[2] > 0 && x[0] / 0.3 + x[1] / 0.25 + x[2] / 0.4 < 1;
}

static bool hammer(const double *x, int k) { // parts that overlap count twice
    const double u[3] = {1, 0, 0}, p[3] = {0, 0, 0};
    double along;
    if (k == 0) return fabs(x[0] - 0.3) < 0.05 && fabs(x[1]) < 0.06 && fabs(x[2] - 0.02) < 0.15;
    return from_axis(x, p, u, &along) < 0.04 && fabs(along) < 0.35;
}

static const solid solids[] = {
    {"ball: {sphere: 0.25, at: [0.1, -0.2, 0.3]}", ball, 1, {-0.2, -0.5, 0}, {0.4, 0.1, 0.6}},
    {"brick: {box: [0.2, 0.3, 0.5], at: [0.1, 0, -0.05], axis: [0, 0.6, 0.8], angle: 0.7}",
     brick,
     1,
     {-0.3, -0.4, -0.45},
     {0.5, 0.4, 0.35}},
    {"can: {cylinder: [0.12, 0.5], at: [0, 0.1, 0], axis: [0.6, 0, 0.8]}",
     can,
     1,
     {-0.3, -0.05, -0.3},
     {0.3, 0.25, 0.3}},
    {"pill: {capsule: [0.1, 0.3], at: [-0.1, 0, 0], axis: [0, 4, 3]}",
     pill,
     1,
     {-0.25, -0.25, -0.25},
     {0.05, 0.25, 0.25}},
    {"egg: {ellipsoid: [0.1, 0.2, 0.3], at: [0, 0, 0.1], axis: [0.8, 0, 0.6], angle: 0.4}",
     egg,
     1,
     {-0.3, -0.3, -0.25},
     {0.3, 0.3, 0.45}},
    {"wedge: {hull: [[0, 0, 0], [0.3, 0, 0], [0, 0.25, 0], [0, 0, 0.4]]}",
     wedge,
     1,
     {-0.02, -0.02, -0.02},
     {0.32, 0.27, 0.42}},
    {"head: {box: [0.1, 0.12, 0.3], at: [0.3, 0, 0.02]}, shaft: {cylinder: [0.04, 0.7], axis: [1, 0, 0]}",
     hammer,
     2,
     {-0.4, -0.1, -0.2},
     {0.4, 0.1, 0.2}},
};

static bool disc(const double *x, int k) {
    (void)k;
    return hypot(x[0] - 0.1, x[1] + 0.05) < 0.2;
}

static bool tile(const double *x, int k) {
    (void)k;
    const double a = x[0] - 0.1, b = x[1], c = cos(0.4), s = sin(0.4);
    return fabs(c * a + s * b) < 0.1 && fabs(-s * a + c * b) < 0.15;
}

static bool stick(const double *x, int k) { // a capsule lies along x, turned by 0.3
    (void)k;
    const double c = cos(0.3), s = sin(0.3), along = c * x[0] + s * x[1], over = fmax(0, fabs(along) - 0.15);
    return hypot(over, -s * x[0] + c * x[1]) < 0.08;
}

static bool kite(const double *x, int k) { // crossings of a ray with the sides
    static const double p[4][2] = {{0, 0}, {0.3, 0.05}, {0.2, 0.4}, {-0.1, 0.2}};
    (void)k;
    bool in = false;
    for (int i = 0, j = 3; i < 4; j = i++)
        if ((p[i][1] > x[1]) != (p[j][1] > x[1]) &&
            x[0] < p[i][0] + (p[j][0] - p[i][0]) * (x[1] - p[i][1]) / (p[j][1] - p[i][1]))
            in = !in;
    return in;
}

// A square whose right side is a half circle; and one with all that is within 0.02.
static bool arch(const double *x, int k) {
    (void)k;
    return (x[0] > 0 && x[0] < 0.2 && fabs(x[1]) < 0.1) || (x[0] >= 0.2 && hypot(x[0] - 0.2, x[1]) < 0.1);
}
static bool soft(const double *x, int k) {
    (void)k;
    return hypot(fmax(0, fabs(x[0] - 0.1) - 0.1), fmax(0, fabs(x[1]) - 0.1)) < 0.02;
}

static bool pair(const double *x, int k) {
    return k == 0 ? hypot(x[0] - 0.2, x[1]) < 0.1 : fabs(x[0]) < 0.2 && fabs(x[1] - 0.05) < 0.05;
}

static const solid plates[] = {
    {"disc: {circle: 0.2, at: [0.1, -0.05]}", disc, 1, {-0.15, -0.3, 0}, {0.35, 0.2, 0}},
    {"tile: {box: [0.2, 0.3], at: [0.1, 0], angle: 0.4}", tile, 1, {-0.12, -0.22, 0}, {0.32, 0.22, 0}},
    {"stick: {outline: [[-0.15, 0], [0.15, 0]], round: 0.08, angle: 0.3}", stick, 1, {-0.3, -0.2, 0}, {0.3, 0.2, 0}},
    {"kite: {polygon: [[0, 0], [0.3, 0.05], [0.2, 0.4], [-0.1, 0.2]]}", kite, 1, {-0.12, -0.02, 0}, {0.32, 0.42, 0}},
    {"arch: {outline: [[0, -0.1], [0.2, -0.1], {arc: [0.2, 0.1], radius: 0.1}, [0, 0.1]]}",
     arch,
     1,
     {-0.02, -0.12, 0},
     {0.32, 0.12, 0}},
    {"soft: {outline: [[0, -0.1], [0.2, -0.1], [0.2, 0.1], [0, 0.1]], round: 0.02}",
     soft,
     1,
     {-0.04, -0.14, 0},
     {0.24, 0.14, 0}},
    {"a: {circle: 0.1, at: [0.2, 0]}, b: {box: [0.4, 0.1], at: [0, 0.05]}",
     pair,
     2,
     {-0.22, -0.12, 0},
     {0.32, 0.12, 0}},
};

// -- sums -------------------------------------------------------------------------------------------------------------

static moments sum_of(const solid *s, double density, double thickness) {
    const bool plane = thickness > 0;
    const double g = plane ? 1.32471795724474602596 : 1.22074408460575947536; // g^3 = g + 1, g^4 = g + 1
    const double a[3] = {1 / g, 1 / (g * g), 1 / (g * g * g)};
    double first[3] = {0}, second[3][3] = {{0}}, box = plane ? thickness : 1, count = 0;
    for (int i = 0; i < (plane ? 2 : 3); ++i) box *= s->high[i] - s->low[i];
    for (int k = 0; k < s->parts; ++k)
        for (int n = 1; n <= POINTS; ++n) {
            double x[3];
            for (int i = 0; i < 3; ++i) x[i] = s->low[i] + (s->high[i] - s->low[i]) * fmod(n * a[i], 1);
            if (!s->inside(x, k)) continue;
            ++count;
            for (int i = 0; i < 3; ++i) {
                first[i] += x[i];
                for (int j = 0; j < 3; ++j) second[i][j] += x[i] * x[j];
            }
        }
    const double cell = density * box / POINTS;
    moments m = {.cells = count, .mass = count * cell};
    for (int a = 0; a < 3; ++a) m.centre[a] = first[a] / count;
    double central[3][3], trace = 0;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) central[a][b] = cell * second[a][b] - m.mass * m.centre[a] * m.centre[b];
    for (int a = 0; a < 3; ++a) trace += central[a][a];
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) m.J[a][b] = (a == b ? trace : 0) - central[a][b];
    return m;
}

static void near(const char *shape, const char *what, double now, double sum, double size, double allowed) {
    if (!(fabs(now - sum) <= allowed * size)) fail_msg("%s: %s is %.6g, by a sum %.6g", shape, what, now, sum);
}

// The start is where the shapes put the centre; the mass matrix there has mass and inertia.
static void compare(const solid *s, bool plane) {
    char text[600];
    const int nv = plane ? 3 : 6;
    snprintf(text, sizeof text, "carom: 1\nbodies: {b: {density: 700%s, shapes: {%s}}}\n",
             plane ? ", thickness: 0.03" : "", s->shapes);
    carom_model *m = good(text);
    const carom_system *sys = carom_model_system(m);
    const moments sum = sum_of(s, 700, plane ? 0.03 : 0);
    const double allowed = plane ? 4 * pow(sum.cells, -0.75) : 5 * pow(sum.cells, -2.0 / 3);
    const double *q = carom_model_q0(m);
    double M[36] = {0}, size = s->high[0] - s->low[0];
    void *work = work_of(m);
    assert_int_equal(sys->nv, nv);
    carom_matrix A = {.shape = sys->mass_shape, .a = calloc(carom_shape_size(sys->mass_shape), sizeof *A.a)};
    assert_int_equal(sys->mass(sys->model, work, 0, q, A), CAROM_OK);
    for (int i = 0; i < nv; ++i)
        for (int j = 0; j < nv; ++j) {
            const double *a = carom_matrix_entry(A, i, j);
            M[i * nv + j] = a ? *a : 0;
        }
    for (int i = 0; i < (plane ? 2 : 3); ++i) {
        near(s->shapes, "the mass", M[i * nv + i], sum.mass, sum.mass, allowed);
        near(s->shapes, "the centre", q[i], sum.centre[i], size, allowed);
    }
    const double most = fmax(sum.J[0][0], fmax(sum.J[1][1], sum.J[2][2]));
    if (plane) near(s->shapes, "the inertia", M[8], sum.J[2][2], most, 2 * allowed);
    for (int a = 0; a < 3 && !plane; ++a)
        for (int b = 0; b < 3; ++b)
            near(s->shapes, "the inertia", M[(3 + a) * nv + 3 + b], sum.J[a][b], most, 2 * allowed);
    free(A.a);
    free(work);
    carom_model_destroy(m);
}

static void solids_have_the_moments_of_their_points(void **state) {
    QUICK_SKIPS(); // test_shapes and test_evaluated go the same ways
    (void)state;
    for (size_t i = 0; i < sizeof solids / sizeof *solids; ++i) compare(&solids[i], false);
}

static void plates_have_the_moments_of_their_points(void **state) {
    QUICK_SKIPS();
    (void)state;
    for (size_t i = 0; i < sizeof plates / sizeof *plates; ++i) compare(&plates[i], true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solids_have_the_moments_of_their_points),
                                       cmocka_unit_test(plates_have_the_moments_of_their_points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
