// diff.c: exact derivatives and substitution.
//
// Both go once over the nodes that may depend on the input, arguments first, and keep one result per node; equal
// results are shared by the graph.  |x|, min, max, sign, floor, if and comparisons are differentiated branch by
// branch: the jump itself is not seen.
#include "expr/curve.h"
#include "expr/graph.h"
#include "expr/ring.h"
#include "expr/vector.h"

// d(a^n) = n a^(n-1) da + a^n log(a) dn.  With n constant, x = 0 is harmless for n >= 1; with n varying, 0^n is taken
// to stay 0.
static carom_node d_power(carom_graph *g, carom_node x, carom_node a, carom_node n, carom_node da, carom_node dn) {
    carom_node d = n_num(g, 0);
    if (!n_zero(g, da)) d = n_mul(g, n_mul(g, n, n_op(g, CAROM_OP_POW, a, n_sub(g, n, n_num(g, 1)))), da);
    if (n_zero(g, dn)) return d;
    const carom_node at_zero = n_op(g, CAROM_OP_EQ, a, n_num(g, 0)), slope = n_mul(g, x, n_fun(g, CAROM_OP_LOG, a));
    return n_add(g, d, n_mul(g, carom_graph_apply(g, CAROM_OP_IF, at_zero, n_num(g, 0), slope), dn));
}

// df/da of a function of one argument; x is the node itself, f(a).
static carom_node slope(carom_graph *g, carom_op op, carom_node x, carom_node a) {
    const carom_node one = n_num(g, 1);
    switch (op) {
    case CAROM_OP_SIN: return n_fun(g, CAROM_OP_COS, a);
    case CAROM_OP_COS: return n_fun(g, CAROM_OP_NEG, n_fun(g, CAROM_OP_SIN, a));
    case CAROM_OP_TAN: return n_add(g, one, n_mul(g, x, x));
    case CAROM_OP_SINH: return n_fun(g, CAROM_OP_COSH, a);
    case CAROM_OP_COSH: return n_fun(g, CAROM_OP_SINH, a);
    case CAROM_OP_TANH: return n_sub(g, one, n_mul(g, x, x));
    case CAROM_OP_EXP: return x;
    case CAROM_OP_ABS:
        return g->sided ? carom_graph_apply(g, CAROM_OP_IF, n_op(g, CAROM_OP_LT, a, n_num(g, 0)), n_num(g, -1), one)
                        : n_fun(g, CAROM_OP_SIGN, a);
    default: return n_num(g, 0); // sign, floor
    }
}

// d of the node n whose arguments have the derivatives da, db, dc.
static carom_node rule(carom_graph *g, carom_node n, carom_node da, carom_node db, carom_node dc) {
    const carom_vertex v = g->node[n];
    const carom_op op = (carom_op)v.op;
    const carom_node a = v.a, b = v.b;
    switch (op) {
    case CAROM_OP_NEG: return n_fun(g, CAROM_OP_NEG, da);
    case CAROM_OP_ADD: return n_add(g, da, db);
    case CAROM_OP_SUB: return n_sub(g, da, db);
    case CAROM_OP_MUL:
        if (a == b) return n_mul(g, n_num(g, 2), n_mul(g, a, da));
        return n_add(g, n_mul(g, da, b), n_mul(g, a, db));
    case CAROM_OP_DIV: return n_div(g, n_sub(g, da, n_mul(g, n, db)), b);
    case CAROM_OP_POW: return d_power(g, n, a, b, da, db);
    case CAROM_OP_LT: case CAROM_OP_LE: case CAROM_OP_GT: case CAROM_OP_GE: case CAROM_OP_EQ: case CAROM_OP_NE:
        return n_num(g, 0);
    case CAROM_OP_IF: return carom_graph_apply(g, CAROM_OP_IF, a, db, dc);
    case CAROM_OP_MIN: return carom_graph_apply(g, CAROM_OP_IF, n_op(g, CAROM_OP_LT, a, b), da, db);
    case CAROM_OP_MAX: return carom_graph_apply(g, CAROM_OP_IF, n_op(g, CAROM_OP_GT, a, b), da, db);
    case CAROM_OP_HYPOT: return n_div(g, n_add(g, n_mul(g, a, da), n_mul(g, b, db)), n);
    case CAROM_OP_ATAN2: // a = y, b = x
        return n_div(g, n_sub(g, n_mul(g, b, da), n_mul(g, a, db)), n_add(g, n_mul(g, a, a), n_mul(g, b, b)));
    case CAROM_OP_ASIN: return n_div(g, da, n_fun(g, CAROM_OP_SQRT, n_sub(g, n_num(g, 1), n_mul(g, a, a))));
    case CAROM_OP_ACOS:
        return n_fun(g, CAROM_OP_NEG, n_div(g, da, n_fun(g, CAROM_OP_SQRT, n_sub(g, n_num(g, 1), n_mul(g, a, a)))));
    case CAROM_OP_ATAN: return n_div(g, da, n_add(g, n_num(g, 1), n_mul(g, a, a)));
    case CAROM_OP_LOG: return n_div(g, da, a);
    case CAROM_OP_SQRT: return n_div(g, n_mul(g, n_num(g, 0.5), da), n);
    case CAROM_OP_PAIR: return n_zero(g, da) && n_zero(g, db) ? da : n_op(g, CAROM_OP_PAIR, da, db);
    case CAROM_OP_LINE_1:
    case CAROM_OP_LINE_2:
    case CAROM_OP_RING_1:
    case CAROM_OP_RING_2: return carom_ring_rule(g, n, (carom_node[]){da, db, dc});
    case CAROM_OP_CURVE: return n_zero(g, da) ? da : n_mul(g, carom_curve_slope(g, a, b), da);
    default: return n_zero(g, da) ? da : n_mul(g, slope(g, op, n, a), da);
    }
}

static carom_node input_node(const carom_graph *g, carom_input kind, int index) {
    return carom_graph_find(g, CAROM_OP_INPUT, (int)kind, index);
}

// What the walk found for argument x, or `other` when x was not met.
static carom_node found(const carom_graph *g, carom_node x, carom_node other) {
    return x != CAROM_NONE && carom_walk_met(g, x) ? g->walk->memo[x] : other;
}

// Derivative along a direction: seed(n) is what the input or symbol n changes by.  `through`: symbols are looked into.
typedef carom_node seed(carom_graph *g, carom_node n, int user);

static carom_node seed_along(carom_graph *g, carom_node n, int k);

static carom_node derivative(carom_graph *g, carom_node x, uint64_t inputs, bool through, seed *of, int user) {
    const carom_node none = n_num(g, 0);
    if (g->failed || x < 0) return carom_graph_fail(g);
    const bool along = of == seed_along; // of these there are many, and they share their parts
    if (!(along ? carom_graph_walk_along(g, x, inputs, user) : carom_graph_walk(g, x, inputs, through)))
        return carom_graph_fail(g);
    for (int i = 0; i < g->walk->count; ++i) {
        const carom_node n = g->walk->order[i];
        const carom_vertex v = g->node[n];
        carom_node d;
        if (v.op == CAROM_OP_INPUT || (v.op == CAROM_OP_SYMBOL && !through)) d = of(g, n, user);
        else if (v.op == CAROM_OP_SYMBOL) d = found(g, v.a, none);
        else d = rule(g, n, found(g, v.a, none), found(g, v.b, none), found(g, v.c, none));
        g->walk->memo[n] = d;
        if (g->failed) return CAROM_NONE;
        if (along && !carom_vertex_leaf(&v)) carom_graph_know(g, n, user, d);
    }
    return found(g, x, none);
}

static carom_node seed_one(carom_graph *g, carom_node n, int input) { return n_num(g, n == input); }

// The terms from .. to - 1 of the course of a leaf; false: it has none.
static bool course_of(const carom_graph *g, const carom_vertex *leaf, int *from, int *to) {
    const carom_courses *c = &g->course;
    int course = 0;
    if (leaf->op == CAROM_OP_SYMBOL) course = c->of_symbol[leaf->b];
    else if (leaf->a == CAROM_POSITION && leaf->b < c->npositions) course = c->of_position[leaf->b];
    if (!course) return false;
    *from = c->start[course - 1];
    *to = c->start[course];
    return true;
}

// A leaf with a course moves with the velocities first, first + 1, ...; false: it has none.
static bool carried(carom_graph *g, const carom_vertex *v, int first, carom_node *rate) {
    int from, to;
    if (!course_of(g, v, &from, &to)) return false;
    *rate = n_num(g, 0);
    for (int i = from; i < to; ++i)
        *rate =
            n_add(g, *rate,
                  n_mul(g, g->course.factor[i], carom_graph_input(g, CAROM_VELOCITY, first + g->course.velocity[i])));
    return true;
}

static carom_node seed_change(carom_graph *g, carom_node x, int n) {
    const carom_vertex v = g->node[x];
    carom_node change;
    if (carried(g, &v, n, &change)) return change;
    if (v.op == CAROM_OP_SYMBOL) return n_num(g, 0);
    const int first[] = {
        [CAROM_TIME] = 3 * n, [CAROM_PARAMETER] = 3 * n + 1, [CAROM_POSITION] = n, [CAROM_VELOCITY] = 2 * n};
    return carom_graph_input(g, CAROM_VELOCITY, first[v.a] + v.b);
}

static carom_node seed_motion(carom_graph *g, carom_node n, int user) {
    (void)user;
    const carom_vertex v = g->node[n];
    carom_node rate;
    if (carried(g, &v, 0, &rate)) return rate;
    if (v.op == CAROM_OP_SYMBOL) return n_num(g, 0);
    if (v.a == CAROM_TIME) return n_num(g, 1);
    return v.a == CAROM_POSITION ? carom_graph_input(g, CAROM_VELOCITY, v.b) : n_num(g, 0);
}

static carom_node seed_along(carom_graph *g, carom_node n, int k) {
    const carom_vertex v = g->node[n];
    int from, to;
    if (course_of(g, &v, &from, &to)) {
        for (int i = from; i < to; ++i)
            if (g->course.velocity[i] == k) return g->course.factor[i];
        return n_num(g, 0);
    }
    return n_num(g, v.op == CAROM_OP_INPUT && v.a == CAROM_POSITION && v.b == k);
}

uint64_t carom_graph_reach(const carom_graph *g, int k) {
    const carom_courses *c = &g->course;
    const uint64_t courses = k < c->nreach ? c->reach[k] : 0;
    const carom_node own = input_node(g, CAROM_POSITION, k);
    if (own == CAROM_NONE || (k < c->npositions && c->of_position[k])) return courses;
    return courses | g->node[own].inputs;
}

bool carom_graph_moves(const carom_graph *g, carom_node x, int k) {
    return x >= 0 && (g->node[x].inputs & carom_graph_reach(g, k)) != 0;
}

carom_node carom_graph_along(carom_graph *g, carom_node x, int k) {
    return derivative(g, x, carom_graph_reach(g, k), false, seed_along, k);
}

carom_node carom_graph_diff(carom_graph *g, carom_node x, carom_input kind, int index) {
    const carom_node input = input_node(g, kind, index);
    return input == CAROM_NONE ? n_num(g, 0) : derivative(g, x, g->node[input].inputs, true, seed_one, input);
}

carom_node carom_graph_motion(carom_graph *g, carom_node x) {
    return derivative(g, x, UINT64_MAX, false, seed_motion, 0);
}

carom_node carom_graph_change(carom_graph *g, carom_node x, int n) {
    return derivative(g, x, UINT64_MAX, false, seed_change, n);
}

// By gradients, not by carom_graph_motion: the gradient of a gap or of a point is wanted anyway and is shared.
carom_node carom_graph_rate(carom_graph *g, carom_node x, int n) {
    carom_node rate = carom_graph_diff(g, x, CAROM_TIME, 0);
    for (int i = 0; i < n && rate != CAROM_NONE; ++i) {
        if (!carom_graph_moves(g, x, i)) continue;
        const carom_node slope = carom_graph_along(g, x, i);
        rate = n_add(g, rate, n_mul(g, slope, carom_graph_input(g, CAROM_VELOCITY, i)));
    }
    return rate;
}

// x with the inputs n that `chosen` likes replaced by y.
typedef bool choose(const carom_vertex *input, carom_node n, int user);

static carom_node replaced(carom_graph *g, carom_node x, uint64_t inputs, choose *chosen, int user, carom_node y) {
    if (g->failed || x < 0 || y < 0) return carom_graph_fail(g);
    if (!carom_graph_walk(g, x, inputs, false)) return carom_graph_fail(g);
    for (int i = 0; i < g->walk->count; ++i) {
        const carom_node n = g->walk->order[i];
        const carom_vertex v = g->node[n];
        if (v.op == CAROM_OP_SYMBOL) g->walk->memo[n] = n;
        else if (v.op == CAROM_OP_INPUT) g->walk->memo[n] = chosen(&v, n, user) ? y : n;
        else
            g->walk->memo[n] =
                carom_graph_apply(g, (carom_op)v.op, found(g, v.a, v.a), found(g, v.b, v.b), found(g, v.c, v.c));
        if (g->failed) return CAROM_NONE;
        if (v.written) carom_graph_write(g, g->walk->memo[n]);
    }
    return found(g, x, x);
}

static bool choose_one(const carom_vertex *v, carom_node n, int input) {
    (void)v;
    return n == input;
}

// A velocity, and not one of those that are kept: from number kept & 0xffff, kept >> 16 of them.
static bool choose_rate(const carom_vertex *v, carom_node n, int kept) {
    (void)n;
    const int first = kept & 0xffff, count = kept >> 16;
    return v->a == CAROM_VELOCITY && !(v->b >= first && v->b < first + count);
}

carom_node carom_graph_substitute(carom_graph *g, carom_node x, carom_input kind, int index, carom_node y) {
    const carom_node input = input_node(g, kind, index);
    return input == CAROM_NONE ? x : replaced(g, x, g->node[input].inputs, choose_one, input, y);
}

carom_node carom_graph_at_rest(carom_graph *g, carom_node x) {
    return replaced(g, x, UINT64_MAX, choose_rate, g->first_kept | g->kept << 16, n_num(g, 0));
}
