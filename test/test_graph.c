// test_graph.c: sharing, algebra, dependence, derivatives, Lagrange's equations.
#include "expr/graph.h"
#include "expr/value.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct { double t, p[4], q[4], v[4]; } point;

static carom_node q(carom_graph *g, int i) { return carom_graph_input(g, CAROM_POSITION, i); }
static carom_node v(carom_graph *g, int i) { return carom_graph_input(g, CAROM_VELOCITY, i); }
static carom_node par(carom_graph *g, int i) { return carom_graph_input(g, CAROM_PARAMETER, i); }
static carom_node num(carom_graph *g, double x) { return carom_graph_number(g, x); }
static carom_node f1(carom_graph *g, carom_op op, carom_node a) {
    return carom_graph_apply(g, op, a, CAROM_NONE, CAROM_NONE);
}
static carom_node f2(carom_graph *g, carom_op op, carom_node a, carom_node b) {
    return carom_graph_apply(g, op, a, b, CAROM_NONE);
}
static carom_node add(carom_graph *g, carom_node a, carom_node b) { return f2(g, CAROM_OP_ADD, a, b); }
static carom_node sub(carom_graph *g, carom_node a, carom_node b) { return f2(g, CAROM_OP_SUB, a, b); }
static carom_node mul(carom_graph *g, carom_node a, carom_node b) { return f2(g, CAROM_OP_MUL, a, b); }
static carom_node neg(carom_graph *g, carom_node a) { return f1(g, CAROM_OP_NEG, a); }

// The value of x by plain evaluation of every node up to it: independent of the tape.
static double value(const carom_graph *g, carom_node x, const point *at) {
    assert_true(x >= 0);
    double *y = malloc(((size_t)x + 1) * sizeof *y);
    assert_non_null(y);
    for (int i = 0; i <= x; ++i) {
        const carom_vertex *n = &g->node[i];
        if (n->op == CAROM_OP_NUMBER) y[i] = n->value;
        else if (n->op == CAROM_OP_INPUT)
            y[i] = n->a == CAROM_TIME        ? at->t
                   : n->a == CAROM_PARAMETER ? at->p[n->b]
                   : n->a == CAROM_POSITION  ? at->q[n->b]
                                             : at->v[n->b];
        else
            y[i] = carom_value((carom_op)n->op, y[n->a], n->b >= 0 ? y[n->b] : 0, n->c >= 0 ? y[n->c] : 0);
    }
    const double result = y[x];
    free(y);
    return result;
}

static uint64_t state = 1;
static double uniform(double low, double high) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(state >> 11) * 0x1p-53;
}

static void equal_expressions_are_one_node(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node a = q(g, 0), b = q(g, 1), p = par(g, 0), x = v(g, 0);
    assert_int_equal(q(g, 0), a);
    assert_int_equal(f1(g, CAROM_OP_SIN, a), f1(g, CAROM_OP_SIN, a));
    assert_int_equal(add(g, a, b), add(g, b, a));
    assert_int_equal(mul(g, a, mul(g, p, x)), mul(g, mul(g, x, a), p));
    assert_int_equal(sub(g, a, b), neg(g, sub(g, b, a)));
    assert_int_equal(add(g, num(g, -3), a), sub(g, a, num(g, 3)));
    assert_int_equal(f2(g, CAROM_OP_GT, a, b), f2(g, CAROM_OP_LT, b, a));
    assert_int_equal(f1(g, CAROM_OP_COS, sub(g, a, b)), f1(g, CAROM_OP_COS, sub(g, b, a)));
    assert_int_not_equal(num(g, 0.0), num(g, -0.0));
    assert_int_equal(num(g, NAN), num(g, NAN));
    carom_graph_destroy(g);
}

static void algebra_removes_what_does_nothing(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node x = q(g, 0), y = q(g, 1), zero = num(g, 0), one = num(g, 1), p = par(g, 0);
    assert_int_equal(add(g, zero, x), x);
    assert_int_equal(sub(g, x, zero), x);
    assert_int_equal(sub(g, zero, x), neg(g, x));
    assert_int_equal(mul(g, one, x), x);
    assert_int_equal(mul(g, zero, x), zero);
    assert_int_equal(sub(g, x, x), zero);
    assert_int_equal(add(g, x, neg(g, x)), zero);
    assert_int_equal(neg(g, neg(g, x)), x);
    assert_int_equal(f2(g, CAROM_OP_POW, x, one), x);
    assert_int_equal(f2(g, CAROM_OP_POW, x, zero), one);
    assert_int_equal(f2(g, CAROM_OP_POW, x, num(g, 2)), mul(g, x, x));
    assert_int_equal(f2(g, CAROM_OP_POW, x, num(g, 0.5)), f1(g, CAROM_OP_SQRT, x));
    assert_int_equal(add(g, x, x), mul(g, num(g, 2), x));
    assert_int_equal(sub(g, add(g, x, y), y), x);
    assert_int_equal(sub(g, x, add(g, y, x)), neg(g, y));
    assert_int_equal(add(g, mul(g, p, x), mul(g, p, y)), mul(g, p, add(g, x, y)));
    const carom_node s = f1(g, CAROM_OP_SIN, x), c = f1(g, CAROM_OP_COS, x);
    assert_int_equal(add(g, mul(g, p, mul(g, s, s)), mul(g, p, mul(g, c, c))), p);
    assert_false(carom_graph_is_number(g, sub(g, mul(g, c, c), mul(g, s, s)), NULL));
    const carom_node other = f1(g, CAROM_OP_COS, y);
    assert_false(carom_graph_is_number(g, add(g, mul(g, s, s), mul(g, other, other)), NULL));
    // Numbers are folded, also to what is not finite; parameters are not.
    double k;
    assert_true(carom_graph_is_number(g, f2(g, CAROM_OP_DIV, one, zero), &k) && isinf(k));
    assert_true(carom_graph_is_number(g, f1(g, CAROM_OP_SQRT, num(g, 9)), &k) && k == 3);
    assert_false(carom_graph_is_number(g, f1(g, CAROM_OP_SQRT, p), NULL));
    assert_int_equal(f2(g, CAROM_OP_DIV, x, num(g, 3)), f2(g, CAROM_OP_DIV, x, num(g, 3)));
    assert_int_equal(g->node[f2(g, CAROM_OP_DIV, x, num(g, 3))].op, CAROM_OP_DIV);
    carom_graph_destroy(g);
}

// A random expression with its value computed alongside, straight from the operations.  No atan2: algebra may change
// the sign of a zero, and atan2 sees it at its cut.
typedef struct { carom_node x; double y; } pair;

static pair random_pair(carom_graph *g, const point *at, int depth) {
    static const carom_op ops[] = {CAROM_OP_ADD,   CAROM_OP_SUB, CAROM_OP_MUL, CAROM_OP_ADD, CAROM_OP_SUB,
                                   CAROM_OP_MUL,   CAROM_OP_DIV, CAROM_OP_NEG, CAROM_OP_SIN, CAROM_OP_COS,
                                   CAROM_OP_HYPOT, CAROM_OP_MIN, CAROM_OP_MAX, CAROM_OP_ABS};
    const int kind = (int)uniform(0, 5), i = (int)uniform(0, 2);
    if (depth == 0) {
        switch (kind) {
        case 0: return (pair){num(g, i + 1), i + 1};
        case 1: return (pair){par(g, i), at->p[i]};
        case 2: return (pair){v(g, i), at->v[i]};
        default: return (pair){q(g, i), at->q[i]};
        }
    }
    const carom_op op = ops[(int)uniform(0, sizeof ops / sizeof ops[0])];
    const pair a = random_pair(g, at, depth - 1);
    const pair b = carom_op_arity(op) == 1 ? (pair){CAROM_NONE, 0} : random_pair(g, at, depth - 1);
    const double y = carom_value(op, a.y, b.y, 0);
    return (pair){f2(g, op, a.x, b.x), isfinite(y) ? y : NAN}; // an infinity's sign may be that of a zero
}

static void algebra_keeps_the_value(void **unused) {
    (void)unused;
    int compared = 0;
    for (int k = 0; k < 20000; ++k) {
        carom_graph *g = carom_graph_create();
        point at = {.t = 0.3};
        // Numbers of few bits: sums and products of the small trees are exact, so that reordering must not show.
        for (int i = 0; i < 2; ++i) {
            at.p[i] = 1 + floor(uniform(0, 8)) / 4;
            at.q[i] = 1 + floor(uniform(0, 8)) / 4;
            at.v[i] = -1 - floor(uniform(0, 8)) / 4;
        }
        const pair r = random_pair(g, &at, 4);
        const double y = value(g, r.x, &at);
        // A quotient or sine in between rounds, and a later division may magnify: compare where sizes are moderate.
        if (isfinite(r.y) && fabs(r.y) > 1e-3 && fabs(r.y) < 1e6) {
            ++compared;
            if (fabs(y - r.y) > 1e-9 * fabs(r.y)) fail_msg("expression %d: %.17g, without algebra %.17g", k, y, r.y);
        }
        carom_graph_destroy(g);
    }
    assert_true(compared > 8000);
}

static void dependence_is_exact(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    carom_node sum = num(g, 0), x[200];
    for (int i = 0; i < 200; ++i) x[i] = mul(g, q(g, i), v(g, i));
    for (int i = 0; i < 200; i += 2) sum = add(g, sum, x[i]);
    for (int i = 0; i < 200; ++i) { // far more inputs than bits
        assert_int_equal(carom_graph_depends(g, sum, CAROM_POSITION, i), i % 2 == 0);
        assert_int_equal(carom_graph_depends(g, sum, CAROM_VELOCITY, i), i % 2 == 0);
        assert_true(carom_graph_depends(g, x[i], CAROM_POSITION, i));
        assert_false(carom_graph_depends(g, x[i], CAROM_POSITION, (i + 64) % 200));
        assert_int_equal(carom_graph_diff(g, sum, CAROM_POSITION, i), i % 2 == 0 ? v(g, i) : num(g, 0));
    }
    assert_true(carom_graph_depends(g, sum, CAROM_VELOCITY, -1));
    assert_false(carom_graph_depends(g, sum, CAROM_TIME, -1));
    assert_false(carom_graph_depends(g, sum, CAROM_PARAMETER, -1));
    assert_false(carom_graph_depends(g, sum, CAROM_POSITION, 1000));
    carom_graph_destroy(g);
}

// Central differences with step e have error e^2/6 f''' + eps/e; both are below 1e-7 for the functions and points here.
static void check_derivative(carom_graph *g, carom_node x, const point *at, int op) {
    const double e = 1e-5;
    for (int i = 0; i < 2; ++i) {
        const carom_node d = carom_graph_diff(g, x, CAROM_POSITION, i);
        point hi = *at, lo = *at;
        hi.q[i] += e;
        lo.q[i] -= e;
        const double exact = value(g, d, at), difference = (value(g, x, &hi) - value(g, x, &lo)) / (2 * e);
        if (!(fabs(exact - difference) < 1e-7 * (1 + fabs(exact))))
            fail_msg("operation %d, coordinate %d: derivative %.12g, difference %.12g", op, i, exact, difference);
        for (int j = 0; j < 2; ++j) {
            const carom_node dd = carom_graph_diff(g, d, CAROM_POSITION, j);
            point hj = *at, lj = *at;
            hj.q[j] += e;
            lj.q[j] -= e;
            const double second = value(g, dd, at), diff2 = (value(g, d, &hj) - value(g, d, &lj)) / (2 * e);
            if (!(fabs(second - diff2) < 1e-6 * (1 + fabs(second))))
                fail_msg("operation %d, second derivative %d %d: %.12g, difference %.12g", op, i, j, second, diff2);
        }
    }
}

static void derivatives_agree_with_differences(void **unused) {
    (void)unused;
    for (int op = CAROM_OP_ADD; op < CAROM_OP_PAIR; ++op) { // those of pairs: test_ring.c
        for (int k = 0; k < 20; ++k) {
            carom_graph *g = carom_graph_create();
            // Arguments in (0.2, 0.8), apart from each other: inside every domain, away from every kink.
            const double p = uniform(1.2, 2.5), q_0 = uniform(0.2, 0.4), q_1 = uniform(0.6, 0.8);
            const point at = {.p = {p}, .q = {q_0, q_1}};
            const carom_node a = mul(g, q(g, 0), add(g, num(g, 1), mul(g, num(g, 0.1), q(g, 1))));
            const carom_node b = sub(g, q(g, 1), mul(g, num(g, 0.1), mul(g, q(g, 0), q(g, 0))));
            carom_node x;
            if (op == CAROM_OP_IF)
                x = carom_graph_apply(g, CAROM_OP_IF, f2(g, CAROM_OP_LT, a, b), f1(g, CAROM_OP_SIN, a), b);
            else x = carom_graph_apply(g, (carom_op)op, k % 2 ? a : b, k % 2 ? b : a, CAROM_NONE);
            assert_true(x >= 0);
            check_derivative(g, x, &at, op);
            if (op == CAROM_OP_POW) { // parameter, number, and number in the base
                check_derivative(g, f2(g, CAROM_OP_POW, a, par(g, 0)), &at, op);
                check_derivative(g, f2(g, CAROM_OP_POW, a, num(g, -2.5)), &at, op);
                check_derivative(g, f2(g, CAROM_OP_POW, num(g, 3), a), &at, op);
                for (int n = -9; n <= 9; ++n) {
                    const carom_node y = f2(g, CAROM_OP_POW, b, num(g, n));
                    check_derivative(g, y, &(point){.q = {0.3, 1.1}}, op);
                    const double base = value(g, b, &at), error = fabs(value(g, y, &at) - pow(base, n));
                    assert_true(error < 1e-14 * pow(base, n));
                }
            }
            carom_graph_destroy(g);
        }
    }
}

static void powers_have_derivatives_at_zero(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const double exponent[] = {1, 1.5, 2, 3, 5, 8, 9, 12};
    for (size_t i = 0; i < sizeof exponent / sizeof exponent[0]; ++i) {
        const point at = {.p = {exponent[i]}};
        const carom_node number = f2(g, CAROM_OP_POW, q(g, 0), num(g, exponent[i]));
        const carom_node parameter = f2(g, CAROM_OP_POW, q(g, 0), par(g, 0));
        const double expected = exponent[i] == 1;
        assert_true(value(g, carom_graph_diff(g, number, CAROM_POSITION, 0), &at) == expected);
        assert_true(value(g, carom_graph_diff(g, parameter, CAROM_POSITION, 0), &at) == expected);
    }
    const carom_node both = f2(g, CAROM_OP_POW, q(g, 0), q(g, 1)); // 0^n stays 0 when n moves
    assert_true(value(g, carom_graph_diff(g, both, CAROM_POSITION, 1), &(point){.q = {0, 2}}) == 0);
    assert_true(value(g, carom_graph_diff(g, f1(g, CAROM_OP_ABS, q(g, 0)), CAROM_POSITION, 0), &(point){.q = {-2}}) ==
                -1);
    carom_graph_destroy(g);
}

static void rate_and_substitution_follow_the_chain_rule(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node t = carom_graph_input(g, CAROM_TIME, 0);
    // x = t sin(q0) q1: x' = sin(q0) q1 + t cos(q0) q1 v0 + t sin(q0) v1
    const carom_node x = mul(g, t, mul(g, f1(g, CAROM_OP_SIN, q(g, 0)), q(g, 1)));
    const point at = {.t = 0.7, .q = {0.3, 1.1}, .v = {2, -3}};
    const double expected = sin(0.3) * 1.1 + 0.7 * cos(0.3) * 1.1 * 2 - 0.7 * sin(0.3) * 3;
    assert_true(fabs(value(g, carom_graph_rate(g, x, 2), &at) - expected) < 1e-15);
    assert_true(fabs(value(g, carom_graph_motion(g, x), &at) - expected) < 1e-15);
    const carom_node y = carom_graph_substitute(g, x, CAROM_POSITION, 1, add(g, q(g, 0), num(g, 2)));
    assert_false(carom_graph_depends(g, y, CAROM_POSITION, 1));
    assert_true(fabs(value(g, y, &at) - 0.7 * sin(0.3) * 2.3) < 1e-15);
    assert_int_equal(carom_graph_substitute(g, x, CAROM_POSITION, 1, num(g, 0)), num(g, 0));
    assert_int_equal(carom_graph_substitute(g, x, CAROM_VELOCITY, 1, num(g, 0)), x);
    carom_graph_destroy(g);
}

// A double pendulum on a cart that is driven by s = q0 + t^2/2, with all of M, b and T_0 present, against
// h = dT/dq - (dp/dq) v - dp/dt by differentiation alone.
static void lagrange_agrees_with_its_definition(void **unused) {
    (void)unused;
    enum { N = 3 };
    carom_graph *g = carom_graph_create();
    const carom_node t = carom_graph_input(g, CAROM_TIME, 0), half = num(g, 0.5);
    carom_node x = add(g, mul(g, q(g, 0), q(g, 0)), mul(g, half, mul(g, t, t))), y = num(g, 0), T = num(g, 0);
    for (int i = 0; i < N; ++i) {
        if (i > 0) {
            x = add(g, x, mul(g, par(g, i), f1(g, CAROM_OP_SIN, q(g, i))));
            y = sub(g, y, mul(g, par(g, i), f1(g, CAROM_OP_COS, q(g, i))));
        }
        const carom_node vx = carom_graph_rate(g, x, N), vy = carom_graph_rate(g, y, N);
        T = add(g, T, mul(g, half, mul(g, par(g, 0), add(g, mul(g, vx, vx), mul(g, vy, vy)))));
    }
    carom_node M[N * N], h[N];
    carom_error err;
    assert_int_equal(carom_graph_lagrange(g, T, N, M, h, &err), CAROM_OK);
    for (int k = 0; k < 50; ++k) {
        point at = {.t = uniform(-1, 1), .p = {1.3, 0.7, 0.4}};
        for (int i = 0; i < N; ++i) at.q[i] = uniform(-2, 2), at.v[i] = uniform(-2, 2);
        for (int i = 0; i < N; ++i) {
            const carom_node p = carom_graph_diff(g, T, CAROM_VELOCITY, i);
            double expected = value(g, carom_graph_diff(g, T, CAROM_POSITION, i), &at) -
                              value(g, carom_graph_diff(g, p, CAROM_TIME, 0), &at);
            for (int j = 0; j < N; ++j) {
                expected -= value(g, carom_graph_diff(g, p, CAROM_POSITION, j), &at) * at.v[j];
                assert_true(fabs(value(g, M[i * N + j], &at) -
                                 value(g, carom_graph_diff(g, p, CAROM_VELOCITY, j), &at)) < 1e-13);
            }
            // Terms of size 100 cancel in some 50 operations.
            if (fabs(value(g, h[i], &at) - expected) > 1e-12)
                fail_msg("h[%d] = %.17g, not %.17g", i, value(g, h[i], &at), expected);
        }
    }
    assert_int_equal(carom_graph_lagrange(g, mul(g, T, v(g, 0)), N, M, h, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "not quadratic"));
    carom_graph_destroy(g);
}

// p0 = -2, p1 free, |q| <= 3:  |4 sin(p1 q0) - p0 q1 / p0^2 (written p0*p0)| <= 4 + 2*3/4;  tan and p1 may be anything;
// 0 times that is 0.
static void magnitudes_are_bounds(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    carom_magnitude m[64];
    const double given[] = {-2, 0};
    const carom_node part = f2(g, CAROM_OP_DIV, mul(g, par(g, 0), q(g, 1)), mul(g, par(g, 0), par(g, 0)));
    const carom_node x = sub(g, mul(g, num(g, 4), f1(g, CAROM_OP_SIN, mul(g, par(g, 1), q(g, 0)))), part);
    const carom_node wild = add(g, x, f1(g, CAROM_OP_TAN, q(g, 0))), none = mul(g, par(g, 2), v(g, 0)),
                     over = f2(g, CAROM_OP_DIV, num(g, 1), q(g, 0));
    const int n = over + 1;
    assert_true(n > wild && n > none && n <= 64);
    carom_graph_magnitudes(g, given, 1, 3, m, n);
    assert_true(m[x].most == 5.5 && m[x].least == 0);
    assert_true(m[par(g, 0)].least == 2 && m[par(g, 0)].most == 2 && m[par(g, 1)].most == HUGE_VAL);
    assert_true(m[wild].most == HUGE_VAL && m[none].most == HUGE_VAL && m[over].most == HUGE_VAL);
    carom_graph_magnitudes(g, (const double[]){-2, 1, 0}, 3, 3, m, n);
    assert_true(m[none].most == 0);
    carom_graph_destroy(g);
}

// p0 = 0.3, p1 = 0.1, p2 = 0.2, q0 = 2:  x = p0 - (p1 + p2) is rounding of parts of 0.3, and so are its products,
// quotients, roots and sines; a number alone is its own size, a curve has none.
static void sizes_are_those_of_the_parts(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    carom_sized s[64];
    const double given[] = {0.3, 0.1, 0.2}, at[] = {2};
    const carom_node x = sub(g, par(g, 0), add(g, par(g, 1), par(g, 2))), y = q(g, 0);
    const struct { carom_node node; double size; } known[] = {
        {x, 0.1 + 0.2},
        {mul(g, x, y), (0.1 + 0.2) * 2},
        {f2(g, CAROM_OP_DIV, x, y), (0.1 + 0.2) / 2},
        {f1(g, CAROM_OP_SIN, x), 0.1 + 0.2},
        {f1(g, CAROM_OP_SQRT, f1(g, CAROM_OP_ABS, x)), 0.15 / sqrt(5.5511151231257827e-17)},
        {f2(g, CAROM_OP_HYPOT, x, sub(g, x, x)), 0.1 + 0.2},
        {f1(g, CAROM_OP_COS, y), fabs(cos(2))},
        {num(g, -7), 7},
        {carom_graph_apply(g, CAROM_OP_IF, f2(g, CAROM_OP_LT, y, num(g, 0)), y, x), 0.1 + 0.2},
        {carom_graph_symbol(g, mul(g, x, y)), (0.1 + 0.2) * 2},
        {add(g, mul(g, num(g, 5), y), x), 10},
    };
    const int count = (int)(sizeof known / sizeof *known), n = known[count - 1].node + 1;
    assert_true(n <= 64);
    carom_graph_sizes(g, given, 3, at, s, n);
    assert_true(fabs(s[x].value) < 1e-16 && s[x].value != 0);
    for (int k = 0; k < count; ++k)
        if (!(known[k].node < n && fabs(s[known[k].node].size - known[k].size) <= 1e-12 * known[k].size))
            fail_msg("%d: size %.17g, expected %.17g", k, s[known[k].node].size, known[k].size);
    carom_graph_sizes(g, given, 3, at, s, v(g, 0) + 1);
    assert_true(isnan(s[v(g, 0)].value));
    const carom_node beyond = par(g, 3); // what a law of friction is given later
    carom_graph_sizes(g, given, 3, at, s, beyond + 1);
    assert_true(isnan(s[beyond].value));
    carom_graph_destroy(g);
}

static void sums_of_a_million_terms_do_not_overflow_the_stack(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    carom_node s = num(g, 0);
    for (int i = 0; i < 200000; ++i) s = f1(g, i % 2 ? CAROM_OP_ABS : CAROM_OP_SIN, add(g, s, q(g, i % 4)));
    assert_true(s >= 0);
    assert_true(carom_graph_depends(g, s, CAROM_POSITION, 3));
    const carom_node flat = carom_graph_substitute(g, s, CAROM_POSITION, 0, num(g, 1));
    assert_true(flat >= 0 && !carom_graph_failed(g));
    carom_graph_destroy(g);

    g = carom_graph_create();
    s = num(g, 0);
    for (int i = 0; i < 1000000; ++i) s = add(g, s, q(g, i));
    assert_int_equal(carom_graph_diff(g, s, CAROM_POSITION, 123456), num(g, 1));
    carom_graph_destroy(g);
}

static void too_many_nodes_fail_for_good(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    carom_node x = 0;
    int i = 0;
    for (; i < 5000000 && x >= 0; ++i) x = carom_graph_number(g, i);
    assert_int_equal(x, CAROM_NONE);
    assert_int_equal(i, (1 << 22) + 1);
    assert_true(carom_graph_failed(g));
    assert_int_equal(add(g, 0, 1), CAROM_NONE);
    assert_int_equal(carom_graph_number(g, 0), CAROM_NONE);
    assert_int_equal(carom_graph_diff(g, 0, CAROM_TIME, 0), CAROM_NONE);
    carom_graph_destroy(g);

    g = carom_graph_create(); // a missing argument fails as well
    assert_int_equal(add(g, num(g, 1), CAROM_NONE), CAROM_NONE);
    assert_true(carom_graph_failed(g));
    carom_graph_destroy(g);
    carom_graph_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_expressions_are_one_node),
        cmocka_unit_test(algebra_removes_what_does_nothing),
        cmocka_unit_test(algebra_keeps_the_value),
        cmocka_unit_test(dependence_is_exact),
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(powers_have_derivatives_at_zero),
        cmocka_unit_test(rate_and_substitution_follow_the_chain_rule),
        cmocka_unit_test(lagrange_agrees_with_its_definition),
        cmocka_unit_test(magnitudes_are_bounds),
        cmocka_unit_test(sizes_are_those_of_the_parts),
        cmocka_unit_test(sums_of_a_million_terms_do_not_overflow_the_stack),
        cmocka_unit_test(too_many_nodes_fail_for_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
