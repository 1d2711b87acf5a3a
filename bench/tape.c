// tape.c: what does a model evaluation cost on the tape, against C written by hand?
//
// The slider-crank of the papers: M (lower triangle), f, g and W = dg/dq by Lagrange's equations from its energies,
// compiled to a tape with one group each and a fifth group of all.  The yardstick computes the same 25 numbers in one
// function, with the cancellations done by hand.  Thread CPU time, minimum over batches.
#define _POSIX_C_SOURCE 200809L
#include "expr/expr.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 3, NM = 6, NG = 4, OUTPUTS = 25, GROUPS = 5, EVALS = 200000, BATCHES = 15 };

static const struct { const char *name; double value; } parameters[] = {
    {"l1", 0.153}, {"l2", 0.306}, {"a", 0.05}, {"b", 0.025}, {"c", 0.001}, {"m1", 0.038}, {"m2", 0.038}, {"m3", 0.076},
    {"J1", 7.4e-5}, {"J2", 5.9e-4}, {"J3", 2.7e-6}, {"grav", 9.81}, {"damp", 0},
};
enum { NP = sizeof parameters / sizeof parameters[0] };

static const struct { const char *name, *text; } lets[] = {
    {"x2", "l1*cos(th1) + l2/2*cos(th2)"}, {"y2", "l1*sin(th1) + l2/2*sin(th2)"},
    {"x3", "l1*cos(th1) + l2*cos(th2)"}, {"y3", "l1*sin(th1) + l2*sin(th2)"},
};
enum { NLETS = sizeof lets / sizeof lets[0] };

static const char *const kinetic =
    "1/2*(J1 + m1*l1^2/4)*th1'^2 + 1/2*J2*th2'^2 + 1/2*m2*(x2'^2 + y2'^2) + 1/2*J3*th3'^2 + 1/2*m3*(x3'^2 + y3'^2)";
static const char *const potential = "grav*(m1*l1/2*sin(th1) + m2*y2 + m3*y3)";
static const char *const force[N] = {"-damp*th1'", "0", "0"};
static const char *const gap[NG] = {
    "b + c - y3 + a*sin(th3) - b*cos(th3)", "b + c - y3 - a*sin(th3) - b*cos(th3)",
    "b + c + y3 - a*sin(th3) - b*cos(th3)", "b + c + y3 + a*sin(th3) - b*cos(th3)",
};

typedef struct { carom_node let[NLETS]; int known; } names;

static bool is(const char *text, size_t length, const char *name) {
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

static carom_node lookup(void *user, carom_graph *g, const char *name, size_t length, int primes, carom_error *err) {
    const names *n = user;
    if (length == 3 && memcmp(name, "th", 2) == 0)
        return carom_graph_input(g, primes ? CAROM_VELOCITY : CAROM_POSITION, name[2] - '1');
    for (int i = 0; i < n->known; ++i)
        if (is(name, length, lets[i].name)) return primes ? carom_graph_rate(g, n->let[i], N) : n->let[i];
    for (int i = 0; i < NP; ++i)
        if (is(name, length, parameters[i].name)) return carom_graph_input(g, CAROM_PARAMETER, i);
    carom_fail(err, CAROM_BAD_INPUT, "no name '%.*s'", (int)length, name);
    return CAROM_NONE;
}

static carom_node parse(carom_graph *g, names *n, const char *text) {
    const carom_scope scope = {lookup, NULL, n};
    size_t offset = 0;
    carom_error err;
    const carom_node x = carom_parse(g, text, strlen(text), &scope, &offset, &err);
    if (x == CAROM_NONE) {
        fprintf(stderr, "%s: byte %zu: %s\n", text, offset, err.text);
        exit(1);
    }
    return x;
}

static void fail(const carom_error *err) {
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

// M v' = f = h(T) - dV/dq + F.
static carom_tape *compile(carom_graph *g) {
    names n = {.known = 0};
    carom_error err;
    for (int i = 0; i < NLETS; ++i) {
        n.let[i] = parse(g, &n, lets[i].text);
        n.known = i + 1;
    }
    const carom_node T = parse(g, &n, kinetic), V = parse(g, &n, potential);
    carom_node full[N * N], all[OUTPUTS], *M = all, *f = M + NM, *gaps = f + N, *W = gaps + NG, *m = M;
    if (carom_graph_lagrange(g, T, N, full, f, &err) != CAROM_OK) fail(&err);
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j <= i; ++j) *m++ = full[i * N + j];
        f[i] = carom_graph_apply(g, CAROM_OP_SUB, f[i], carom_graph_diff(g, V, CAROM_POSITION, i), CAROM_NONE);
        f[i] = carom_graph_apply(g, CAROM_OP_ADD, f[i], parse(g, &n, force[i]), CAROM_NONE);
    }
    for (int i = 0; i < NG; ++i) {
        gaps[i] = parse(g, &n, gap[i]);
        for (int j = 0; j < N; ++j) W[i * N + j] = carom_graph_diff(g, gaps[i], CAROM_POSITION, j);
    }
    const carom_group groups[GROUPS] = {{.count = NM, .nodes = M},
                                        {.count = N, .nodes = f},
                                        {.count = NG, .nodes = gaps},
                                        {.count = NG * N, .nodes = W},
                                        {.count = OUTPUTS, .nodes = all}};
    carom_tape *tape = carom_tape_compile(g, groups, GROUPS, N, N, NP, &err);
    if (!tape) fail(&err);
    return tape;
}

// The same by hand.
static void by_hand(const double *P, const double *q, const double *v, double *out) {
    const double l1 = P[0], l2 = P[1], a = P[2], b = P[3], c = P[4], m1 = P[5], m2 = P[6], m3 = P[7], grav = P[11];
    const double s1 = sin(q[0]), c1 = cos(q[0]), s2 = sin(q[1]), c2 = cos(q[1]), s3 = sin(q[2]), c3 = cos(q[2]);
    const double k = (0.5 * m2 + m3) * l1 * l2, S = k * (s1 * c2 - c1 * s2);
    const double W1 = l1 * c1, W2 = l2 * c2, y3 = l1 * s1 + l2 * s2, as = a * s3, ac = a * c3, bs = b * s3,
                 r = b + c - b * c3;
    double *M = out, *f = M + NM, *g = f + N, *W = g + NG;
    M[0] = P[8] + (0.25 * m1 + m2 + m3) * l1 * l1;
    M[1] = k * (c1 * c2 + s1 * s2);
    M[2] = P[9] + (0.25 * m2 + m3) * l2 * l2;
    M[3] = M[4] = 0;
    M[5] = P[10];
    f[0] = -S * v[1] * v[1] - grav * (0.5 * m1 + m2 + m3) * W1 - P[12] * v[0];
    f[1] = S * v[0] * v[0] - grav * (0.5 * m2 + m3) * W2;
    f[2] = 0;
    g[0] = r - y3 + as, g[1] = r - y3 - as, g[2] = r + y3 - as, g[3] = r + y3 + as;
    W[0] = W[3] = -W1, W[6] = W[9] = W1;
    W[1] = W[4] = -W2, W[7] = W[10] = W2;
    W[2] = W[11] = bs + ac, W[5] = W[8] = bs - ac;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// groups; tape NULL: by hand
typedef struct { const carom_tape *tape; void *work; const double *P; int first, last; } job;

static void evaluate(const job *j, double t, const double *q, const double *v, double *out) {
    static void (*volatile native)(const double *, const double *, const double *, double *) = by_hand; // not inlined
    static const int start[GROUPS] = {0, NM, NM + N, NM + N + NG, 0};
    if (!j->tape) native(j->P, q, v, out);
    else
        for (int i = j->first; i <= j->last; ++i) carom_tape_eval(j->tape, j->work, i, t, q, v, out + start[i]);
}

// ns per evaluation at ever new points; the next point waits for the last result.
static double measure(const job *j) {
    double best = INFINITY, out[OUTPUTS] = {0};
    for (int k = 0; k < BATCHES; ++k) {
        double q[N] = {0.3, -0.2, 0.01}, v[N] = {150, -75, 1};
        const double start = seconds();
        for (int i = 0; i < EVALS; ++i) {
            evaluate(j, 0, q, v, out);
            for (int d = 0; d < N; ++d) q[d] += 1e-7 * v[d] + 1e-12 * (out[NM] + out[NM + N] + out[NM + N + NG]);
        }
        best = fmin(best, (seconds() - start) / EVALS * 1e9);
    }
    return best;
}

int main(void) {
    carom_graph *g = carom_graph_create();
    carom_tape *tape = g ? compile(g) : NULL;
    void *work = tape ? malloc(carom_tape_work_size(tape)) : NULL;
    if (!work) return 1;
    double P[NP], x[OUTPUTS], y[OUTPUTS], worst = 0;
    for (int i = 0; i < NP; ++i) P[i] = parameters[i].value;
    carom_tape_work_init(tape, work, P);

    const job native = {NULL, NULL, P, 0, 0}, together = {tape, work, P, 4, 4}, apart = {tape, work, P, 0, 3};
    const double q[N] = {0.7, -0.4, 0.02}, v[N] = {150, -75, 3};
    evaluate(&native, 0, q, v, x);
    evaluate(&apart, 0, q, v, y);
    for (int i = 0; i < OUTPUTS; ++i) worst = fmax(worst, fabs(x[i] - y[i]) / fmax(1, fabs(x[i])));
    const double hand = measure(&native), one = measure(&together), four = measure(&apart);
    printf("slider-crank M f g W: difference %.1e, %d instructions\n", worst, carom_tape_instructions(tape, -1));
    printf("  by hand          %6.1f ns\n", hand);
    printf("  tape, one group  %6.1f ns  %5.2f x\n", one, one / hand);
    printf("  tape, M f g W    %6.1f ns  %5.2f x\n", four, four / hand);
    for (int i = 0; i < 4; ++i) {
        const job single = {tape, work, P, i, i};
        printf("  tape, %c alone    %6.1f ns  %3d instructions\n", "MfgW"[i], measure(&single),
               carom_tape_instructions(tape, i));
    }
    free(work);
    carom_tape_destroy(tape);
    carom_graph_destroy(g);
    return worst < 1e-12 ? 0 : 1;
}
