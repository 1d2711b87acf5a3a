// test_cylinders.c: cylinders against boxes, capsules and cylinders: distances against a search with bounds,
// derivatives.
#include "model_text.h"
#include "linalg/matrix.h"
#include "poses.h"

static double next(unsigned *seed) { // -1 .. 1
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

// -- distances --------------------------------------------------------------------------------------------------------

// round: a cylinder; else r round a box or line
typedef struct solid { const char *word; bool round; double r, half[3]; } solid;

static const solid solids[] = {
    {"{cylinder: [0.2, 0.3]}", true, 0.2, {0, 0, 0.15}},     {"{cylinder: [0.05, 0.6]}", true, 0.05, {0, 0, 0.3}},
    {"{cylinder: [0.3, 0.05]}", true, 0.3, {0, 0, 0.025}},   {"{box: [0.5, 0.3, 0.2]}", false, 0, {0.25, 0.15, 0.1}},
    {"{box: [0.6, 0.1, 0.1]}", false, 0, {0.3, 0.05, 0.05}}, {"{capsule: [0.1, 0.5]}", false, 0.1, {0, 0, 0.25}},
};
enum { SOLIDS = sizeof solids / sizeof *solids };

static double reach_of(const solid *s) {
    const double l = sqrt(s->half[0] * s->half[0] + s->half[1] * s->half[1] + s->half[2] * s->half[2]);
    return s->round ? hypot(s->r, l) : s->r + l;
}

static void project(const solid *s, const pose *x, double *p) {
    double y[3], c[3], d = 0;
    for (int j = 0; j < 3; ++j)
        y[j] = x->R[j] * (p[0] - x->r[0]) + x->R[3 + j] * (p[1] - x->r[1]) + x->R[6 + j] * (p[2] - x->r[2]);
    if (s->round) {
        const double rho = hypot(y[0], y[1]);
        if (rho > s->r) y[0] *= s->r / rho, y[1] *= s->r / rho;
        y[2] = fmax(-s->half[2], fmin(s->half[2], y[2]));
    } else {
        for (int i = 0; i < 3; ++i)
            c[i] = fmax(-s->half[i], fmin(s->half[i], y[i])), d += (y[i] - c[i]) * (y[i] - c[i]);
        d = sqrt(d);
        for (int i = 0; i < 3 && d > s->r; ++i) y[i] = c[i] + (y[i] - c[i]) * s->r / d;
    }
    for (int i = 0; i < 3; ++i) p[i] = x->r[i] + x->R[3 * i] * y[0] + x->R[3 * i + 1] * y[1] + x->R[3 * i + 2] * y[2];
}

// How far it reaches along n from the origin of the world.
static double support(const solid *s, const pose *x, const double *n) {
    double y[3], sum = x->r[0] * n[0] + x->r[1] * n[1] + x->r[2] * n[2];
    for (int j = 0; j < 3; ++j) y[j] = x->R[j] * n[0] + x->R[3 + j] * n[1] + x->R[6 + j] * n[2];
    for (int j = 0; j < 3; ++j) sum += s->half[j] * fabs(y[j]);
    return sum + s->r * (s->round ? hypot(y[0], y[1]) : 1);
}

// Bounds of the distance: projections to and fro from above, the best direction met from below.  Apart: low > 0.
static void distance(const solid *a, const pose *xa, const solid *b, const pose *xb, double *low, double *high) {
    double p[3], q[3];
    memcpy(p, xa->r, sizeof p);
    *low = -HUGE_VAL;
    for (int k = 0; k < 20000; ++k) {
        memcpy(q, p, sizeof q);
        project(b, xb, q);
        memcpy(p, q, sizeof p);
        project(a, xa, p);
        const double d =
            sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
        *high = d;
        if (d < 1e-9) return;
        const double n[3] = {(q[0] - p[0]) / d, (q[1] - p[1]) / d, (q[2] - p[2]) / d}, m[3] = {-n[0], -n[1], -n[2]};
        *low = fmax(*low, -support(b, xb, m) - support(a, xa, n));
        if (*high - *low < 1e-11) return;
    }
}

// The least way on which shapes that overlap come apart: a search over directions.
static double depth(const solid *a, const pose *xa, const solid *b, const pose *xb) {
    double best = HUGE_VAL, n[3] = {1, 0, 0};
    unsigned seed = 5;
    for (int k = 0; k < 3000; ++k) {
        double m[3], l = 0;
        const double wide = k < 1000 ? 10 : pow(0.994, k - 1000);
        for (int i = 0; i < 3; ++i) m[i] = (k < 1000 ? 0 : n[i]) + wide * next(&seed), l += m[i] * m[i];
        for (int i = 0; i < 3; ++i) m[i] /= sqrt(l);
        const double back[3] = {-m[0], -m[1], -m[2]}, d = support(b, xb, back) + support(a, xa, m);
        if (d < best) best = d, memcpy(n, m, sizeof n);
    }
    return best;
}

static carom_model *two(const char *a, const char *b, const char *law) {
    char text[700];
    snprintf(text, sizeof text,
             "carom: 1\nbodies:\n  a: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0.9, 0, 0], shape: %s}\n  b: {mass: 3, "
             "inertia: [0.2, 0.2, 0.2], shape: %s}\n"
             "contacts: {c: {between: [a, b], %s}}\n",
             a, b, law);
    return good(text);
}

static void placed(const carom_system *s, const double *q0, double shift, unsigned *seed, double *q) {
    double v[12];
    for (int l = 0; l < 12; ++l) v[l] = (l % 6 < 3 ? 0.15 : 3) * next(seed);
    v[0] += shift;
    s->move(s->model, q, q0, 1, v);
}

// Exact when apart; overlapping by little, nearly the depth.
static void distances_of(const solid *a, const solid *b, unsigned seed, int poses, int *apart, int *inside) {
    carom_model *m = two(a->word, b->word, "restitution: 0");
    const carom_system *s = carom_model_system(m);
    void *work = work_of(m);
    const double reach[2] = {reach_of(a), reach_of(b)};
    for (int k = 0; k < poses; ++k) {
        double q[14], g[40], least = HUGE_VAL, low, high;
        pose x, y;
        placed(s, carom_model_q0(m), 0.45 * (reach[0] + reach[1]) - 0.9, &seed, q);
        assert_int_equal(s->gaps(s->model, work, 0, q, g), CAROM_OK);
        for (int l = 0; l < s->nc; ++l) least = fmin(least, g[l]);
        if (k % 2 && least > 0) { // so near that they just overlap, or nearly
            const double way[3] = {q[7] - q[0], q[8] - q[1], q[9] - q[2]},
                         l = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
            for (int i = 0; i < 3; ++i) q[i] += way[i] / l * (least + 1e-3);
            assert_int_equal(s->gaps(s->model, work, 0, q, g), CAROM_OK);
            least = HUGE_VAL;
            for (int i = 0; i < s->nc; ++i) least = fmin(least, g[i]);
        }
        pose_of(q, &x);
        pose_of(q + 7, &y);
        const double bound =
            sqrt(pow(x.r[0] - y.r[0], 2) + pow(x.r[1] - y.r[1], 2) + pow(x.r[2] - y.r[2], 2)) - reach[0] - reach[1];
        if (bound > fmin(reach[0], reach[1]) || least < -0.05) continue; // far, or deep
        distance(a, &x, b, &y, &low, &high);
        if (low > 1e-9) {
            ++*apart;
            if (least < low - 1e-9 || least > high + 1e-9)
                fail_msg("%s and %s: gap %.12g, distance %.12g to %.12g", a->word, b->word, least, low, high);
        } else if (high < 1e-9) {
            const double d = depth(a, &x, b, &y);
            if (d > 0.003) continue; // depths below faces differ from it by d/size
            ++*inside;
            if (least < -1.1 * d || least > -0.9 * d)
                fail_msg("%s and %s: gap %.12g, they overlap by %.12g", a->word, b->word, least, d);
        }
    }
    free(work);
    carom_model_destroy(m);
}

static void the_smallest_gap_is_the_distance(void **state) {
    (void)state;
    static const int chosen[][2] = {{0, 1}, {0, 2}, {2, 2}, {0, 3}, {4, 2}, {1, 4}, {0, 5}, {5, 2}, {1, 5}};
    int apart = 0, inside = 0;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; ++i)
        distances_of(&solids[chosen[i][0]], &solids[chosen[i][1]], 1 + (unsigned)i, 100, &apart, &inside);
    assert_true(apart > 300 && inside > 20);
}

// -- derivatives ------------------------------------------------------------------------------------------------------

static void note(void *user, carom_finding kind, const char *sentence) {
    if (kind != CAROM_FAULT) return;
    print_message("    %s\n", sentence);
    ++*(int *)user;
}

static const char *const others[] = {"{cylinder: [0.15, 0.3]}", "{box: [0.4, 0.3, 0.2]}", "{capsule: [0.1, 0.4]}"};
static const char CYLINDER[] = "{cylinder: [0.2, 0.25], at: [0.02, 0.01, 0.03], axis: [0.2, 0.1, 1]}";

// Columns against differences of gaps, apart and overlapping; once in a while there is a kink between the two points of
// a difference.
static void gradients_agree_with_differences(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        carom_model *m = two(CYLINDER, others[i], "friction: 0.3");
        const carom_system *s = carom_model_system(m);
        void *work = work_of(m);
        carom_arena mem;
        carom_local L = local_of(m, &mem);
        carom_error err;
        unsigned seed = 3 + (unsigned)i;
        int faults = 0, wrong = 0;
        carom_model_examine(m, note, &faults, &err);
        assert_int_equal(faults, 0);
        for (int k = 0; k < 25; ++k) {
            double q[14], q_1[14], v[12], g[2][40], W[12];
            placed(s, carom_model_q0(m), -0.6, &seed, q);
            assert_int_equal(s->directions(s->model, work, 0, q, &L), CAROM_OK);
            bool bad = false;
            for (int j = 0; j < s->nv; ++j) {
                const double h = 1e-6;
                for (int l = 0; l < s->nv; ++l) v[l] = l == j;
                for (int side = 0; side < 2; ++side) {
                    s->move(s->model, q_1, q, side ? h : -h, v);
                    assert_int_equal(s->gaps(s->model, work, 0, q_1, g[side]), CAROM_OK);
                }
                if (g[0][0] == g[0][s->nc - 1]) continue; // the bound of a pair that is far apart
                for (int id = 0; id < s->nc; ++id) {
                    carom_column_expand(W, &L.W, L.at[id]);
                    bad = bad || fabs((g[1][id] - g[0][id]) / (2 * h) - W[j]) > 1e-6;
                }
            }
            wrong += bad;
        }
        if (wrong > 2) fail_msg("%s: wrong at %d poses", others[i], wrong);
        free(mem.base);
        free(work);
        carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_gap_is_the_distance),
        cmocka_unit_test(gradients_agree_with_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
