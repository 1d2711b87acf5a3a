// test_tape.c: the tape gives what its graph says, computes nothing twice and asks for no memory.
#define _POSIX_C_SOURCE 200809L
#include "expr/graph.h"
#include "expr/tape.h"
#include "expr/value.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { NQ = 3, NV = 3, NP = 3 };
typedef struct { double t, q[NQ], v[NV]; } point;
static double parameters[NP]; // set at run time: a compiler that knew them would call its own sinh

// The linker puts these in front of the heap (test/CMakeLists.txt).
static int requests;
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t m);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t m);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n) { return ++requests, __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t m) { return ++requests, __real_calloc(n, m); }
void *__wrap_realloc(void *p, size_t n) { return ++requests, __real_realloc(p, n); }

static carom_node q(carom_graph *g, int i) { return carom_graph_input(g, CAROM_POSITION, i); }
static carom_node v(carom_graph *g, int i) { return carom_graph_input(g, CAROM_VELOCITY, i); }
static carom_node par(carom_graph *g, int i) { return carom_graph_input(g, CAROM_PARAMETER, i); }
static carom_node f1(carom_graph *g, carom_op op, carom_node a) {
    return carom_graph_apply(g, op, a, CAROM_NONE, CAROM_NONE);
}
static carom_node f2(carom_graph *g, carom_op op, carom_node a, carom_node b) {
    return carom_graph_apply(g, op, a, b, CAROM_NONE);
}
static carom_node add(carom_graph *g, carom_node a, carom_node b) { return f2(g, CAROM_OP_ADD, a, b); }
static carom_node mul(carom_graph *g, carom_node a, carom_node b) { return f2(g, CAROM_OP_MUL, a, b); }

static uint64_t state = 7;
static double uniform(double low, double high) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(state >> 11) * 0x1p-53;
}

static point random_point(void) {
    point x = {.t = uniform(0, 1)};
    for (int i = 0; i < NQ; ++i) x.q[i] = uniform(0.1, 0.9);
    for (int i = 0; i < NV; ++i) x.v[i] = uniform(-2, 2);
    return x;
}

// All nodes of the graph, one by one.
static void plain(const carom_graph *g, const point *at, double *y) {
    for (int i = 0; i < g->count; ++i) {
        const carom_vertex *n = &g->node[i];
        if (n->op == CAROM_OP_NUMBER) y[i] = n->value;
        else if (n->op == CAROM_OP_INPUT)
            y[i] = n->a == CAROM_TIME        ? at->t
                   : n->a == CAROM_PARAMETER ? parameters[n->b]
                   : n->a == CAROM_POSITION  ? at->q[n->b]
                                             : at->v[n->b];
        else
            y[i] = carom_value((carom_op)n->op, y[n->a], n->b >= 0 ? y[n->b] : 0, n->c >= 0 ? y[n->c] : 0);
    }
}

typedef struct { carom_tape *tape; void *work; } machine;

static machine build(const carom_graph *g, const carom_group *groups, int n) {
    carom_error err = {0};
    machine m = {carom_tape_compile(g, groups, n, NQ, NV, NP, &err), NULL};
    if (!m.tape) fail_msg("%s", err.text);
    m.work = malloc(carom_tape_work_size(m.tape));
    assert_non_null(m.work);
    carom_tape_work_init(m.tape, m.work, parameters);
    return m;
}

static void destroy(machine m) {
    free(m.work);
    carom_tape_destroy(m.tape);
}

static void ask(machine m, int group, const point *at, double *out) {
    carom_tape_eval(m.tape, m.work, group, at->t, at->q, at->v, out);
}

// Instructions that asking for a group costs now.
static int price(machine m, int group, const point *at) {
    double out[64];
    const uint64_t before = ((carom_tape_state *)m.work)->executed;
    ask(m, group, at, out);
    return (int)(((carom_tape_state *)m.work)->executed - before);
}

static void every_operation_gives_its_value(void **unused) {
    (void)unused;
    for (int op = CAROM_OP_ADD; op < CAROM_OP_PAIR; ++op) { // those of pairs: test_ring.c
        carom_graph *g = carom_graph_create();
        const carom_node x = carom_graph_apply(g, (carom_op)op, q(g, 0), v(g, 1), par(g, 2));
        const carom_node y = carom_graph_apply(g, (carom_op)op, par(g, 0), par(g, 1), par(g, 2));
        const carom_node both[] = {x, y};
        const machine m = build(g, &(carom_group){.count = 2, .nodes = both}, 1);
        for (int k = 0; k < 10; ++k) {
            const point at = random_point();
            double out[2];
            ask(m, 0, &at, out);
            const double value = carom_value((carom_op)op, at.q[0], at.v[1], parameters[2]);
            const double fixed = carom_value((carom_op)op, parameters[0], parameters[1], parameters[2]);
            if (memcmp(&out[0], &value, sizeof value) && !(isnan(value) && isnan(out[0])))
                fail_msg("operation %d: %g, not %g", op, out[0], value);
            if (memcmp(&out[1], &fixed, sizeof fixed) && !(isnan(fixed) && isnan(out[1])))
                fail_msg("operation %d: %g, not %g", op, out[1], fixed);
        }
        destroy(m);
        carom_graph_destroy(g);
    }
}

// Where no expression knows time, another one makes nothing new.
static void time_counts_where_it_is_used(void **unused) {
    (void)unused;
    for (int timed = 0; timed < 2; ++timed) {
        carom_graph *g = carom_graph_create();
        const carom_node nodes[] = {carom_graph_apply(g, CAROM_OP_SIN, q(g, 0), CAROM_NONE, CAROM_NONE),
                                    timed ? carom_graph_input(g, CAROM_TIME, 0) : q(g, 1)};
        const machine m = build(g, &(carom_group){.count = 2, .nodes = nodes}, 1);
        point at = random_point();
        double out[2];
        assert_int_equal(price(m, 0, &at), 1);
        at.t += 1;
        assert_int_equal(price(m, 0, &at), timed);
        ask(m, 0, &at, out);
        assert_true(out[0] == sin(at.q[0]) && out[1] == (timed ? at.t : at.q[1]));
        at.q[1] += 1;
        assert_int_equal(price(m, 0, &at), 1);
        destroy(m);
        carom_graph_destroy(g);
    }
}

static carom_node random_node(carom_graph *g, int depth) {
    static const carom_op ops[] = {CAROM_OP_ADD, CAROM_OP_SUB, CAROM_OP_MUL, CAROM_OP_NEG,
                                   CAROM_OP_SIN, CAROM_OP_COS, CAROM_OP_DIV};
    if (depth == 0) {
        const int i = (int)uniform(0, 3);
        switch ((int)uniform(0, 5)) {
        case 0: return par(g, i);
        case 1: return v(g, i);
        case 2: return i ? carom_graph_number(g, i + 0.3) : carom_graph_input(g, CAROM_TIME, 0);
        default: return q(g, i);
        }
    }
    const carom_node a = random_node(g, depth - 1), b = random_node(g, depth - 1);
    return f2(g, ops[(int)uniform(0, sizeof ops / sizeof ops[0])], a, b);
}

// Fused instructions round like their parts, so tape and graph agree exactly, whatever was asked before.
static void tape_equals_graph_in_any_order_of_questions(void **unused) {
    (void)unused;
    enum { GROUPS = 32, EACH = 4 };
    int words = 0, plans[2] = {0, 0};
    for (int k = 0; k < 40; ++k) {
        carom_graph *g = carom_graph_create();
        carom_node node[GROUPS][EACH];
        carom_group group[GROUPS];
        const int n = k % 2 ? GROUPS : 3;
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < EACH; ++j) // some outputs, and parts of them, belong to several groups
                node[i][j] =
                    i > 0 && uniform(0, 1) < 0.5 ? add(g, node[(int)uniform(0, i)][j], q(g, j % 3)) : random_node(g, 5);
            group[i] = (carom_group){.count = EACH, .nodes = node[i], .after = (int)uniform(0, n + 1)};
        }
        const machine m = build(g, group, n);
        if (m.tape->nwords > words) words = m.tape->nwords;
        for (int i = 0; i < n; ++i)
            plans[0] += m.tape->group[i].all.first >= 0, plans[1] += m.tape->group[i].rest.first >= 0;
        double *y = malloc((size_t)g->count * sizeof *y);
        point at = random_point();
        for (int round = 0; round < 200; ++round) {
            const point other = random_point();
            switch ((int)uniform(0, 5)) {
            case 0: at = other; break;
            case 1: memcpy(at.v, other.v, sizeof at.v); break;
            case 2: at.t = other.t; break;
            case 3: at.q[2] = other.q[2]; break;
            default: break;
            }
            plain(g, &at, y);
            double out[EACH];
            const int i = (int)uniform(0, n);
            ask(m, i, &at, out);
            for (int j = 0; j < EACH; ++j) {
                const double expected = y[node[i][j]];
                if (out[j] != expected && !(isnan(out[j]) && isnan(expected)))
                    fail_msg("tape %d, round %d: %.17g, not %.17g", k, round, out[j], expected);
            }
        }
        free(y);
        destroy(m);
        carom_graph_destroy(g);
    }
    assert_true(words > 1); // the sets of segments were longer than one word
    assert_true(plans[0] > 20 && plans[1] > 20);
}

static void common_parts_are_computed_once(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node s = f1(g, CAROM_OP_SIN, q(g, 0)), c = f1(g, CAROM_OP_COS, q(g, 0));
    const carom_node first[] = {s, c, mul(g, s, v(g, 0))}, second[] = {mul(g, s, q(g, 1)), s};
    const carom_group groups[] = {{.count = 3, .nodes = first}, {.count = 2, .nodes = second}};
    const machine m = build(g, groups, 2);
    assert_int_equal(carom_tape_instructions(m.tape, -1), 3); // sine with cosine, two products
    assert_int_equal(carom_tape_instructions(m.tape, 0), 2);
    assert_int_equal(carom_tape_instructions(m.tape, 1), 2);
    point at = random_point();
    assert_int_equal(price(m, 0, &at), 2);
    assert_int_equal(price(m, 1, &at), 1);
    destroy(m);
    carom_graph_destroy(g);
}

// A plan runs the instructions that were missing, no more: the second group costs what it adds to the first.
static void a_group_after_another_costs_what_it_adds(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node s = f1(g, CAROM_OP_TAN, q(g, 0)), w = mul(g, s, v(g, 0));
    const carom_node first[] = {s}, second[] = {f1(g, CAROM_OP_EXP, s), f1(g, CAROM_OP_EXP, w)};
    const carom_group group[] = {{.count = 1, .nodes = first}, {.count = 2, .nodes = second, .after = 1}};
    const machine m = build(g, group, 2);
    assert_true(m.tape->group[1].rest.first >= 0);
    for (int k = 0; k < 3; ++k) {
        const point at = random_point();
        assert_int_equal(price(m, 0, &at), 1);
        assert_int_equal(price(m, 1, &at), 3);
        assert_int_equal(price(m, 1, &at), 0);
        const point other = random_point();
        assert_int_equal(price(m, 1, &other), 4);
        assert_int_equal(price(m, 0, &other), 0);
    }
    destroy(m);
    carom_graph_destroy(g);
}

static void write_text(void *user, const char *text, size_t length) { fwrite(text, 1, length, user); }

static char *text_of(const carom_tape *tape) {
    char *text = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&text, &length);
    assert_non_null(f);
    assert_int_equal(carom_native_write(tape, "tape", write_text, f), CAROM_OK);
    assert_int_equal(fclose(f), 0);
    return text;
}

// The same instructions and outputs, and another plan: another text.  The compiled form of one must not be taken for
// that of the other.
static void tapes_of_other_plans_have_other_names(void **unused) {
    (void)unused;
    static carom_native_piece *const none[16];
    static carom_native_lists *const lists[16];
    carom_graph *g = carom_graph_create();
    const carom_node s = f1(g, CAROM_OP_TAN, q(g, 0)), w = mul(g, s, v(g, 0));
    const carom_node first[] = {s}, second[] = {f1(g, CAROM_OP_EXP, s), f1(g, CAROM_OP_EXP, w)};
    const carom_group alone[] = {{.count = 1, .nodes = first}, {.count = 2, .nodes = second}};
    const carom_group after[] = {{.count = 1, .nodes = first}, {.count = 2, .nodes = second, .after = 1}};
    const machine m[] = {build(g, alone, 2), build(g, after, 2), build(g, after, 2)};
    char *text[] = {text_of(m[0].tape), text_of(m[1].tape), text_of(m[2].tape)};
    assert_string_not_equal(text[0], text[1]);
    assert_string_equal(text[1], text[2]);
    assert_true(carom_tape_fingerprint(m[0].tape) != carom_tape_fingerprint(m[1].tape));
    assert_true(carom_tape_fingerprint(m[1].tape) == carom_tape_fingerprint(m[2].tape));
    const carom_tape *tape = m[1].tape;
    const carom_native n = {.version = CAROM_NATIVE_VERSION,
                            .nsegments = tape->nsegments,
                            .ngroups = tape->ngroups,
                            .nslots = tape->nslots,
                            .fingerprint = carom_tape_fingerprint(tape),
                            .segment = none,
                            .plan = none,
                            .lists = lists};
    assert_false(carom_tape_attach(m[0].tape, &n));
    assert_true(carom_tape_attach(m[2].tape, &n));
    for (int i = 0; i < 3; ++i) free(text[i]), destroy(m[i]);
    carom_graph_destroy(g);
}

static void only_what_changed_is_computed_again(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node fixed = f1(g, CAROM_OP_EXP, par(g, 0)), place = f1(g, CAROM_OP_TAN, q(g, 0));
    const carom_node moving = f1(g, CAROM_OP_EXP, v(g, 0)),
                     clock = f1(g, CAROM_OP_EXP, carom_graph_input(g, CAROM_TIME, 0));
    const carom_node all[] = {fixed, place, clock, mul(g, place, moving)}, slow[] = {place};
    const carom_group groups[] = {
        {.count = 4, .nodes = all}, {.count = 1, .nodes = slow}, {.count = 1, .nodes = &fixed}};
    const machine m = build(g, groups, 3);
    assert_int_equal(carom_tape_instructions(m.tape, 0), 4); // tan, exp, exp, product
    assert_int_equal(carom_tape_instructions(m.tape, 2), 0);
    point at = random_point();
    double out[4];
    ask(m, 2, &at, out);
    assert_true(out[0] == exp(parameters[0]));
    assert_int_equal(price(m, 0, &at), 4);
    assert_int_equal(price(m, 0, &at), 0);
    assert_int_equal(price(m, 1, &at), 0);
    at.v[0] = 1;
    assert_int_equal(price(m, 1, &at), 0); // this group does not look at velocities
    assert_int_equal(price(m, 0, &at), 2);
    at.v[2] = 9;
    assert_int_equal(price(m, 0, &at), 2); // dependence is by class, not by coordinate
    at.t += 1;
    assert_int_equal(price(m, 1, &at), 1);
    assert_int_equal(price(m, 0, &at), 3);
    at.q[0] = NAN; // a NaN is a value like any other
    assert_int_equal(price(m, 0, &at), 4);
    assert_int_equal(price(m, 0, &at), 0);
    at.q[0] = 0;
    assert_int_equal(price(m, 0, &at), 4);
    at.q[0] = -0.0;
    assert_int_equal(price(m, 0, &at), 4);
    carom_tape_eval(m.tape, m.work, 1, at.t, at.q, NULL, out);
    assert_true(out[0] == 0 && signbit(out[0]));
    destroy(m);
    carom_graph_destroy(g);
}

// q0 q1 + v0 could be one instruction, but then the product would be computed again with every new velocity.
static void cheap_parts_stay_out_of_dear_instructions(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node x = add(g, mul(g, q(g, 0), q(g, 1)), v(g, 0)), y = add(g, mul(g, par(g, 0), par(g, 1)), q(g, 2));
    const carom_node both[] = {x, y};
    const machine m = build(g, &(carom_group){.count = 2, .nodes = both}, 1);
    point at = random_point();
    assert_int_equal(price(m, 0, &at), 3); // product, two sums; the product of parameters was computed at the start
    at.v[0] += 1;
    assert_int_equal(price(m, 0, &at), 1);
    destroy(m);
    carom_graph_destroy(g);
}

static void the_first_point_may_be_the_origin(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node x = f1(g, CAROM_OP_COS, q(g, 0)), y = f1(g, CAROM_OP_COS, v(g, 0)), both[] = {x, y};
    const machine m = build(g, &(carom_group){.count = 2, .nodes = both}, 1);
    const point origin = {0};
    double out[2] = {0, 0};
    ask(m, 0, &origin, out);
    assert_true(out[0] == 1 && out[1] == 1);
    destroy(m);
    carom_graph_destroy(g);
}

static void evaluation_asks_for_no_memory(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node a = random_node(g, 6), b = random_node(g, 6), x[] = {a, b};
    requests = 0;
    const machine m = build(g, &(carom_group){.count = 2, .nodes = x}, 1);
    assert_true(requests > 0); // the counter counts
    requests = 0;
    double out[2];
    for (int i = 0; i < 100; ++i) {
        const point at = random_point();
        ask(m, 0, &at, out);
    }
    assert_int_equal(requests, 0);
    destroy(m);
    carom_graph_destroy(g);
}

static void a_sum_of_a_million_terms_is_compiled(void **unused) {
    (void)unused;
    enum { TERMS = 1000000 };
    carom_graph *g = carom_graph_create();
    carom_node s = carom_graph_number(g, 0);
    for (int i = 0; i < TERMS; ++i) s = add(g, s, q(g, i));
    carom_error err;
    carom_tape *tape = carom_tape_compile(g, &(carom_group){.count = 1, .nodes = &s}, 1, TERMS, 0, 0, &err);
    assert_non_null(tape);
    void *work = malloc(carom_tape_work_size(tape));
    double *x = malloc(TERMS * sizeof *x), sum = 0;
    assert_true(work && x);
    carom_tape_work_init(tape, work, NULL);
    for (int i = 0; i < TERMS; ++i) x[i] = i % 10;
    carom_tape_eval(tape, work, 0, 0, x, NULL, &sum);
    assert_true(sum == 4.5 * TERMS);
    free(x);
    free(work);
    carom_tape_destroy(tape);
    carom_graph_destroy(g);
}

static void wrong_requests_get_a_sentence(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    carom_error err;
    const carom_node x = q(g, NQ), none = CAROM_NONE;
    carom_group many[33] = {{0}};
    assert_null(carom_tape_compile(g, &(carom_group){.count = 1, .nodes = &x}, 1, NQ, NV, NP, &err));
    assert_string_equal(err.text, "an expression uses position 3, but there are only 3");
    assert_null(carom_tape_compile(g, &(carom_group){.count = 1, .nodes = &none}, 1, NQ, NV, NP, &err));
    assert_string_equal(err.text, "output 0 of group 0 is not an expression");
    assert_null(carom_tape_compile(g, many, 33, NQ, NV, NP, &err));
    assert_string_equal(err.text, "a tape has at most 32 groups of outputs, not 33");
    assert_null(carom_tape_compile(g, &(carom_group){.after = 2}, 1, NQ, NV, NP, &err));
    assert_string_equal(err.text, "group 0 comes after group 1, but there are only 1");
    carom_tape *empty = carom_tape_compile(g, many, 32, 0, 0, 0, &err);
    assert_non_null(empty);
    void *work = malloc(carom_tape_work_size(empty));
    carom_tape_work_init(empty, work, NULL);
    carom_tape_eval(empty, work, 31, 0, NULL, NULL, NULL);
    free(work);
    carom_tape_destroy(empty);
    carom_graph_apply(g, CAROM_OP_ADD, x, CAROM_NONE, CAROM_NONE);
    assert_null(carom_tape_compile(g, many, 1, 0, 0, 0, &err));
    assert_int_equal(err.code, CAROM_NO_MEMORY);
    carom_graph_destroy(g);
}

// On the side of q0 < q1 the pieces are q0 + 2 q2, 3 q1, |q0 - q1| = q1 - q0 and so on; held there, they answer for the
// other side.
static void held_on_a_piece_it_goes_on_for_ever(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node a = q(g, 0), b = q(g, 1), c = q(g, 2), two = carom_graph_number(g, 2),
                     three = carom_graph_number(g, 3);
    const carom_node piece =
        carom_graph_apply(g, CAROM_OP_IF, f2(g, CAROM_OP_LT, a, b), add(g, a, mul(g, two, c)), mul(g, b, c));
    const carom_node out[] = {piece, mul(g, three, f2(g, CAROM_OP_MAX, a, b)), f2(g, CAROM_OP_MIN, mul(g, two, a), b),
                              f1(g, CAROM_OP_ABS, f2(g, CAROM_OP_SUB, a, b)), f1(g, CAROM_OP_SIN, mul(g, a, b))};
    enum { N = sizeof out / sizeof *out };
    const carom_group group = {.count = N, .nodes = out};
    carom_error err = {0};
    carom_tape *tape = carom_tape_compile(g, &group, 1, NQ, NV, NP, &err);
    assert_non_null(tape);
    void *work = calloc(1, carom_tape_work_size(tape)), *held = calloc(1, carom_tape_held_size(tape));
    carom_tape_work_init(tape, work, parameters);
    double y[N];
    const double at[3] = {1, 3, 5}, beyond[3] = {4, 3, 5}, v0[NV] = {0};
    carom_tape_eval(tape, work, 0, 0, at, v0, y);
    carom_tape_hold(tape, work, held);
    requests = 0;
    carom_tape_eval_held(tape, held, 0, 0, beyond, v0, y);
    assert_int_equal(requests, 0);
    const double wanted[N] = {4 + 2 * 5, 3 * 3, 2 * 4, -1, sin(12)};
    for (int i = 0; i < N; ++i) assert_true(y[i] == wanted[i]);
    carom_tape_eval(tape, work, 0, 0, beyond, v0, y); // the other block knows nothing of it
    const double as_is[N] = {15, 12, 3, 1, sin(12)};
    for (int i = 0; i < N; ++i) assert_true(y[i] == as_is[i]);
    carom_tape_eval_held(tape, held, 0, 0, at, v0, y);
    carom_tape_eval(tape, work, 0, 0, at, v0, (double[N]){0});
    assert_true(y[0] == 11 && y[1] == 9 && y[2] == 2 && y[3] == 2);
    free(work);
    free(held);
    carom_tape_destroy(tape);
    carom_graph_destroy(g);
}

// A group that was never evaluated at the point is held on the pieces of the point, too: q0 < q1 gives q0 q2 + |q0 -
// q1| = q0 q2 + q1 - q0.
static void groups_are_held_before_they_are_asked_for(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node a = q(g, 0), b = q(g, 1), c = q(g, 2);
    const carom_node first = add(g, a, b),
                     piece = carom_graph_apply(g, CAROM_OP_IF, f2(g, CAROM_OP_LT, a, b), mul(g, a, c), mul(g, b, c));
    const carom_node second = add(g, piece, f1(g, CAROM_OP_ABS, f2(g, CAROM_OP_SUB, a, b)));
    const carom_group group[] = {{.count = 1, .nodes = &first}, {.count = 1, .nodes = &second}};
    carom_error err = {0};
    carom_tape *tape = carom_tape_compile(g, group, 2, NQ, NV, NP, &err);
    assert_non_null(tape);
    void *work = calloc(1, carom_tape_work_size(tape)), *held = calloc(1, carom_tape_held_size(tape));
    carom_tape_work_init(tape, work, parameters);
    const double at[3] = {1, 3, 5}, beyond[3] = {4, 3, 5}, v0[NV] = {0};
    double y;
    carom_tape_eval(tape, work, 1, 0, beyond, v0, &y); // what it was elsewhere does not count
    carom_tape_eval(tape, work, 0, 0, at, v0, &y);
    carom_tape_hold(tape, work, held);
    carom_tape_eval_held(tape, held, 1, 0, beyond, v0, &y);
    assert_true(y == 4 * 5 + 3 - 4);
    carom_tape_eval(tape, work, 1, 0, beyond, v0, &y);
    assert_true(y == 3 * 5 + 4 - 3);
    free(work);
    free(held);
    carom_tape_destroy(tape);
    carom_graph_destroy(g);
}

// As long as the block that was held is on the same pieces, its own answers are the held ones: nothing is computed
// twice.  Beyond, and back again, they are what carom_tape_eval_held() says, to the last bit; |q0 - q1| is 0 where the
// pieces meet, with the sign of the one that is held.
static void on_the_same_pieces_what_is_known_is_held(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node a = q(g, 0), b = q(g, 1), c = q(g, 2), apart = f1(g, CAROM_OP_ABS, f2(g, CAROM_OP_SUB, a, b));
    const carom_node out[] = {mul(g, c, f2(g, CAROM_OP_MAX, a, b)), f2(g, CAROM_OP_MIN, mul(g, a, c), b), apart,
                              f1(g, CAROM_OP_SIN, mul(g, apart, c))};
    enum { N = sizeof out / sizeof *out };
    const carom_group group[] = {{.count = 2, .nodes = out}, {.count = 2, .nodes = out + 2}};
    carom_error err = {0};
    carom_tape *tape = carom_tape_compile(g, group, 2, NQ, NV, NP, &err);
    assert_non_null(tape);
    void *work = calloc(1, carom_tape_work_size(tape)), *held = calloc(1, carom_tape_held_size(tape)),
         *other = calloc(1, carom_tape_held_size(tape));
    carom_tape_work_init(tape, work, parameters);
    const double v0[NV] = {0}, at[3] = {1, 3, 5},
                 points[][3] = {{1, 3, 5}, {1.5, 3, 4}, {4, 3, 5}, {3, 3, 2}, {1.5, 3, 4}, {2, 9, 0.1}};
    const bool known[][2] = {{true, true}, {true, true}, {false, false}, {true, false}, {true, true}, {false, true}};
    double x[2];
    for (int k = 0; k < 2; ++k) carom_tape_eval(tape, work, k, 0, at, v0, x);
    carom_tape_hold(tape, work, held);
    carom_tape_hold(tape, work, other);
    requests = 0;
    for (size_t i = 0; i < sizeof points / sizeof *points; ++i)
        for (int k = 0; k < 2; ++k) {
            const double *p = points[i];
            carom_tape_eval(tape, work, k, 0, p, v0, x);
            const uint64_t before = ((carom_tape_state *)work)->executed;
            const carom_values y = carom_tape_values_held(tape, work, held, k, 0, p, v0);
            assert_int_equal(((carom_tape_state *)work)->executed, before);
            assert_int_equal(y.slot == carom_tape_slots(tape, work), known[i][k]);
            carom_tape_eval_held(tape, other, k, 0, p, v0, x);
            for (int j = 0; j < 2; ++j) assert_memory_equal(y.slot + y.place[j], x + j, sizeof *x);
        }
    assert_int_equal(requests, 0);
    free(work);
    free(held);
    free(other);
    carom_tape_destroy(tape);
    carom_graph_destroy(g);
}

// A block that gets other parameters answers as a fresh one with them, at the point where it was and elsewhere.
static void other_parameters_are_as_good_as_the_first(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    const carom_node p = carom_graph_input(g, CAROM_PARAMETER, 0), r = carom_graph_input(g, CAROM_PARAMETER, 1);
    const carom_node out[] = {mul(g, f1(g, CAROM_OP_EXP, add(g, p, r)), q(g, 0)), f1(g, CAROM_OP_SIN, mul(g, p, r)),
                              add(g, q(g, 1), r)};
    enum { N = sizeof out / sizeof *out };
    const carom_group group = {.count = N, .nodes = out};
    carom_error err = {0};
    carom_tape *tape = carom_tape_compile(g, &group, 1, NQ, NV, NP, &err);
    assert_non_null(tape);
    void *work = calloc(1, carom_tape_work_size(tape)), *fresh = calloc(1, carom_tape_work_size(tape));
    const double at[NQ] = {1, 3, 5}, v0[NV] = {0};
    double others[NP] = {0}, x[N], y[N];
    carom_tape_work_init(tape, work, others);
    carom_tape_eval(tape, work, 0, 0, at, v0, x);
    requests = 0;
    for (int i = 0; i < 5; ++i) {
        others[i % 2] = 0.3 * i - 0.5;
        carom_tape_work_parameters(tape, work, others);
        carom_tape_work_parameters(tape, work, others);
        carom_tape_work_init(tape, fresh, others);
        carom_tape_eval(tape, work, 0, 0, at, v0, x);
        carom_tape_eval(tape, fresh, 0, 0, at, v0, y);
        assert_memory_equal(x, y, sizeof x);
    }
    assert_int_equal(requests, 0);
    free(work);
    free(fresh);
    carom_tape_destroy(tape);
    carom_graph_destroy(g);
}

// Curves of both kinds and every operation: the values at points of a box, or beside a way, lie within the bounds and
// beside the line, and these are close where the box is small.
static void bounds_hold_and_tighten(void **unused) {
    (void)unused;
    carom_graph *g = carom_graph_create();
    double curves[2][5 * 5];
    for (int k = 0; k < 2; ++k)
        assert_int_equal(carom_curve_make(5, (const double[]){-9, -1, 0.2, 2, 9}, (const double[]){1, -2, 3, 0.5, 4}, k,
                                          true, curves[k]),
                         CAROM_OK);
    const carom_node a = q(g, 0), b = q(g, 1), c = v(g, 0), t = carom_graph_input(g, CAROM_TIME, 0), p = par(g, 0);
    carom_node out[100];
    int n = 0;
    static const carom_op one[] = {CAROM_OP_NEG,  CAROM_OP_SIN,  CAROM_OP_COS,  CAROM_OP_TAN,
                                   CAROM_OP_ATAN, CAROM_OP_SINH, CAROM_OP_COSH, CAROM_OP_TANH,
                                   CAROM_OP_EXP,  CAROM_OP_ABS,  CAROM_OP_SIGN, CAROM_OP_FLOOR};
    static const carom_op two[] = {CAROM_OP_ADD,   CAROM_OP_SUB, CAROM_OP_MUL, CAROM_OP_DIV,  CAROM_OP_LT,
                                   CAROM_OP_LE,    CAROM_OP_GT,  CAROM_OP_GE,  CAROM_OP_EQ,   CAROM_OP_NE,
                                   CAROM_OP_ATAN2, CAROM_OP_MIN, CAROM_OP_MAX, CAROM_OP_HYPOT};
    for (size_t i = 0; i < sizeof one / sizeof *one; ++i)
        out[n++] = f1(g, one[i], a), out[n++] = f1(g, one[i], mul(g, b, c));
    for (size_t i = 0; i < sizeof two / sizeof *two; ++i)
        out[n++] = f2(g, two[i], a, b), out[n++] = f2(g, two[i], add(g, a, p), c);
    const carom_node square = mul(g, a, a), positive = add(g, square, carom_graph_number(g, 0.1));
    out[n++] = f1(g, CAROM_OP_LOG, positive), out[n++] = f1(g, CAROM_OP_SQRT, square);
    out[n++] = f1(g, CAROM_OP_ASIN, f1(g, CAROM_OP_SIN, a)), out[n++] = f1(g, CAROM_OP_ACOS, f1(g, CAROM_OP_COS, b));
    for (int k = -3; k < 5; ++k) out[n++] = f2(g, CAROM_OP_POW, a, carom_graph_number(g, k));
    out[n++] = f2(g, CAROM_OP_POW, positive, b), out[n++] = f2(g, CAROM_OP_POW, positive, carom_graph_number(g, 1.5));
    out[n++] = carom_graph_apply(g, CAROM_OP_IF, f2(g, CAROM_OP_LT, a, b), c, t);
    for (int k = 0; k < 2; ++k) {
        const carom_node x = carom_graph_curve_at(g, carom_graph_curve(g, curves[k]), mul(g, a, t));
        out[n++] = x, out[n++] = carom_graph_diff(g, x, CAROM_POSITION, 0);
    }
    out[n++] = add(g, mul(g, a, a), mul(g, b, c)), out[n++] = f2(g, CAROM_OP_SUB, mul(g, a, b), mul(g, c, c)),
    out[n++] = f2(g, CAROM_OP_SUB, t, mul(g, a, b));
    out[n++] = mul(g, mul(g, a, b), c), out[n++] = mul(g, f2(g, CAROM_OP_SUB, a, b), c),
    out[n++] = f2(g, CAROM_OP_SUB, add(g, a, b), mul(g, t, c));
    const carom_group group = {.count = n, .nodes = out};
    const machine m = build(g, &group, 1);
    carom_range *x = calloc((size_t)carom_tape_range_size(m.tape), sizeof *x);
    const int *place = carom_tape_places(m.tape, 0);
    carom_tape_part *part = carom_tape_part_create(m.tape, place, n);
    assert_non_null(part);
    double y[100], start[1 + NQ + NV], way[1 + NQ + NV], off[1 + NQ + NV];
    for (int round = 0; round < 1000; ++round) {
        const double size = pow(10, uniform(-6, 1));
        for (int i = 0; i < 1 + NQ + NV; ++i) {
            const double from = uniform(-4, 4);
            way[i] = round % 2 ? uniform(-1, 1) * size : 0, off[i] = round % 2 ? size * size / 8 : size / 2,
            start[i] = from;
            x[i] = carom_range_along(from, from + way[i], off[i]);
        }
        requests = 0;
        carom_tape_range(m.tape, part, m.work, x);
        assert_int_equal(requests, 0);
        for (int k = 0; k < 20; ++k) {
            point at;
            double *in[] = {&at.t, at.q, at.q + 1, at.q + 2, at.v, at.v + 1, at.v + 2};
            const double along = k < 2 ? k : uniform(0, 1); // the way, and anywhere beside it
            for (int i = 0; i < 1 + NQ + NV; ++i)
                *in[i] = start[i] + along * way[i] + (k < 2 ? (k ? -1 : 1) : uniform(-1, 1)) * off[i];
            ask(m, 0, &at, y);
            for (int i = 0; i < n; ++i) {
                const carom_range r = x[place[i]];
                if (!isnan(y[i]) &&
                    !(y[i] >= r.low - 1e-14 * (1 + fabs(y[i])) && y[i] <= r.high + 1e-14 * (1 + fabs(y[i]))))
                    fail_msg("output %d: %.17g is not in [%.17g, %.17g]", i, y[i], r.low, r.high);
                if (!isnan(y[i]) && !(fabs(y[i] - r.mid - (2 * along - 1) * r.slope) <=
                                      r.off + 1e-14 * (1 + fabs(y[i]) + fabs(r.mid) + fabs(r.slope) + r.off)))
                    fail_msg("output %d: %.17g is farther than %.17g off the line %.17g + s %.17g, s = %.17g", i, y[i],
                             r.off, r.mid, r.slope, 2 * along - 1);
            }
        }
        for (int i = 0; i < n && size < 1e-4; ++i) { // what jumps says so; else bounds are not far off
            const carom_range r = x[place[i]];
            if (!r.jumps && fabs(r.low) < 10 && fabs(r.high) < 10 && !(r.high - r.low <= 1e3 * size))
                fail_msg("output %d: [%.17g, %.17g] in a box of %g", i, r.low, r.high, size);
        }
    }
    free(part);
    free(x);
    destroy(m);
    carom_graph_destroy(g);
}

int main(void) {
    volatile const double value[NP] = {0.7, 1.9, -0.4};
    for (int i = 0; i < NP; ++i) parameters[i] = value[i];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_counts_where_it_is_used),
        cmocka_unit_test(every_operation_gives_its_value),
        cmocka_unit_test(tape_equals_graph_in_any_order_of_questions),
        cmocka_unit_test(common_parts_are_computed_once),
        cmocka_unit_test(a_group_after_another_costs_what_it_adds),
        cmocka_unit_test(tapes_of_other_plans_have_other_names),
        cmocka_unit_test(only_what_changed_is_computed_again),
        cmocka_unit_test(cheap_parts_stay_out_of_dear_instructions),
        cmocka_unit_test(the_first_point_may_be_the_origin),
        cmocka_unit_test(evaluation_asks_for_no_memory),
        cmocka_unit_test(a_sum_of_a_million_terms_is_compiled),
        cmocka_unit_test(wrong_requests_get_a_sentence),
        cmocka_unit_test(held_on_a_piece_it_goes_on_for_ever),
        cmocka_unit_test(groups_are_held_before_they_are_asked_for),
        cmocka_unit_test(on_the_same_pieces_what_is_known_is_held),
        cmocka_unit_test(other_parameters_are_as_good_as_the_first),
        cmocka_unit_test(bounds_hold_and_tighten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
