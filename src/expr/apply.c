// apply.c: the algebra: what a new node is turned into before it is stored.
//
// Numbers are folded, parameters never.  Every rule is exact in floating point or true for real numbers; sums
// and products are brought to one form so that equal things are found equal:
//   - a sign stands outside of a product; x - y is stored once, y - x is its negative;
//   - a product is (number * parameters) * (positions * velocities), each part sorted, so that what is
//     computed rarely is multiplied first;
//   - common factors of the two sides of a sum are taken out, s^2 + c^2 = 1, a term and its negative cancel.
// This is what makes the mass matrix and the inertia forces of a linkage as short as written by hand.
#include "expr/curve.h"
#include "expr/expr.h"
#include "expr/graph.h"
#include "expr/value.h"

// chosen, each bounds work per operation: factors of a product that are compared; powers that are multiplied out; nodes
// visited for a term that cancels; rules that call each other
enum { FACTORS = 16, POWER_LIMIT = 8, CANCEL_BUDGET = 24, SUM_DEPTH = 6 };

// A product k f[0] f[1] ..., f sorted by (class, index).
typedef struct { double k; int n; carom_node f[FACTORS]; } product;

static carom_node sum(carom_graph *g, carom_node a, carom_node b, int sign);

static bool number(const carom_graph *g, carom_node x, double *value) { return carom_graph_is_number(g, x, value); }

static carom_node make(carom_graph *g, carom_op op, carom_node a, carom_node b) {
    if (a == CAROM_NONE || (b == CAROM_NONE && carom_op_arity(op) > 1)) return carom_graph_fail(g);
    return carom_graph_intern(g, op, a, b, CAROM_NONE);
}

static carom_node make_sorted(carom_graph *g, carom_op op, carom_node a, carom_node b) {
    return a < b ? make(g, op, a, b) : make(g, op, b, a);
}

static carom_node negative(carom_graph *g, carom_node a) {
    double k;
    if (a == CAROM_NONE) return carom_graph_fail(g);
    if (number(g, a, &k)) return carom_graph_number(g, -k);
    if (g->node[a].op == CAROM_OP_NEG) return g->node[a].a;
    if (g->node[a].op == CAROM_OP_SUB) {
        const carom_node swapped = carom_graph_find(g, CAROM_OP_SUB, g->node[a].b, g->node[a].a);
        if (swapped != CAROM_NONE) return swapped;
    }
    return make(g, CAROM_OP_NEG, a, CAROM_NONE);
}

// -- products ----------------------------------------------------------------------------------------

static bool before(const carom_graph *g, carom_node x, carom_node y) {
    const int cx = carom_vertex_class(&g->node[x]), cy = carom_vertex_class(&g->node[y]);
    return cx != cy ? cx < cy : x < y;
}

// Multiply p by x, taken apart into its factors; false when they are too many.
static bool gather(const carom_graph *g, carom_node x, product *p) {
    carom_node stack[FACTORS + 2];
    int depth = 0;
    for (stack[depth++] = x; depth > 0;) {
        const carom_node y = stack[--depth];
        const carom_vertex *v = &g->node[y];
        if (v->op == CAROM_OP_NUMBER) {
            p->k *= v->value;
        } else if (v->op == CAROM_OP_NEG) {
            p->k = -p->k;
            stack[depth++] = v->a;
        } else if (v->op == CAROM_OP_MUL) {
            if (depth + 2 > FACTORS + 2) return false;
            stack[depth++] = v->a;
            stack[depth++] = v->b;
        } else {
            if (p->n == FACTORS) return false;
            int i = p->n++;
            for (; i > 0 && before(g, y, p->f[i - 1]); --i) p->f[i] = p->f[i - 1];
            p->f[i] = y;
        }
    }
    return true;
}

static carom_node times(carom_graph *g, carom_node a, carom_node b) {
    return a == CAROM_NONE ? b : b == CAROM_NONE ? a : make_sorted(g, CAROM_OP_MUL, a, b);
}

// x^n by squaring.
static carom_node power(carom_graph *g, carom_node x, int n) {
    if (n == 1) return x;
    const carom_node half = power(g, x, n / 2), square = times(g, half, half);
    return n % 2 ? times(g, square, x) : square;
}

// The node of a product.  Runs of equal factors become powers; the number goes to the cheapest part.
static carom_node build(carom_graph *g, const product *p) {
    if (g->failed) return CAROM_NONE;
    if (p->k == 0) return carom_graph_number(g, 0);
    if (p->n == 0) return carom_graph_number(g, p->k);
    carom_node part[CAROM_CLASS_COUNT] = {CAROM_NONE, CAROM_NONE, CAROM_NONE, CAROM_NONE};
    const double k = fabs(p->k);
    if (k != 1) part[CAROM_CLASS_NUMBER] = carom_graph_number(g, k);
    for (int i = 0, run; i < p->n; i += run) {
        const int class = carom_vertex_class(&g->node[p->f[i]]);
        for (run = 1; i + run < p->n && p->f[i + run] == p->f[i];) ++run;
        part[class] = times(g, part[class], power(g, p->f[i], run));
        if (g->failed) return CAROM_NONE;
    }
    const carom_node constant = times(g, part[CAROM_CLASS_NUMBER], part[CAROM_CLASS_PARAMETER]);
    const carom_node rest = times(g, part[CAROM_CLASS_POSITION], part[CAROM_CLASS_VELOCITY]);
    const carom_node x = times(g, constant, rest);
    return p->k < 0 ? negative(g, x) : x;
}

static carom_node multiply(carom_graph *g, carom_node a, carom_node b) {
    if (a == CAROM_NONE || b == CAROM_NONE) return carom_graph_fail(g);
    product p = {.k = 1};
    if (gather(g, a, &p) && gather(g, b, &p)) return build(g, &p);
    return times(g, a, b);
}

// -- sums --------------------------------------------------------------------------------------------

// Are a and b the squares of sine and cosine of one argument?
static bool pythagoras(const carom_graph *g, carom_node a, carom_node b) {
    const carom_vertex *x = &g->node[a], *y = &g->node[b];
    if (x->op != CAROM_OP_MUL || x->a != x->b || y->op != CAROM_OP_MUL || y->a != y->b) return false;
    const carom_vertex *s = &g->node[x->a], *c = &g->node[y->a];
    return ((s->op == CAROM_OP_SIN && c->op == CAROM_OP_COS) || (s->op == CAROM_OP_COS && c->op == CAROM_OP_SIN)) &&
           s->a == c->a;
}

// a + sign b with the common factors in front; CAROM_NONE when there are none.
static carom_node factored(carom_graph *g, carom_node a, carom_node b, int sign) {
    if (g->node[a].op != CAROM_OP_MUL && g->node[b].op != CAROM_OP_MUL) return CAROM_NONE;
    product p = {.k = 1}, q = {.k = 1}, common = {.k = 1}, p1 = {.k = 1}, q1 = {.k = 1};
    if (!gather(g, a, &p) || !gather(g, b, &q)) return CAROM_NONE;
    int i = 0, j = 0;
    while (i < p.n || j < q.n) {
        if (i < p.n && j < q.n && p.f[i] == q.f[j]) {
            common.f[common.n++] = p.f[i];
            ++i, ++j;
        } else if (j == q.n || (i < p.n && before(g, p.f[i], q.f[j]))) {
            p1.f[p1.n++] = p.f[i++];
        } else {
            q1.f[q1.n++] = q.f[j++];
        }
    }
    if (fabs(p.k) == fabs(q.k)) common.k = p.k, q1.k = q.k == p.k ? 1 : -1;
    else p1.k = p.k, q1.k = q.k;
    if (common.n == 0 && fabs(common.k) == 1) return CAROM_NONE;
    const carom_node x = build(g, &p1), y = build(g, &q1);
    return multiply(g, build(g, &common), sum(g, x, y, sign));
}

// The sum x without its term y (that is x - sign y, where y stands with that sign in it), or CAROM_NONE.
static carom_node cancelled(carom_graph *g, carom_node x, carom_node y, int sign, int *budget) {
    const carom_vertex v = g->node[x];
    if ((v.op != CAROM_OP_ADD && v.op != CAROM_OP_SUB) || --*budget < 0) return CAROM_NONE;
    const int sign_b = v.op == CAROM_OP_ADD ? 1 : -1;
    if (v.a == y && sign == 1) return sign_b == 1 ? v.b : negative(g, v.b);
    if (v.b == y && sign == sign_b) return v.a;
    const carom_node a = cancelled(g, v.a, y, sign, budget);
    if (a != CAROM_NONE) return sum(g, a, v.b, sign_b);
    const carom_node b = cancelled(g, v.b, y, sign * sign_b, budget);
    return b != CAROM_NONE ? sum(g, v.a, b, sign_b) : CAROM_NONE;
}

// a + sign b by one of the rules above, or CAROM_NONE.
static carom_node shorter(carom_graph *g, carom_node a, carom_node b, int sign) {
    if (sign > 0 && pythagoras(g, a, b)) return carom_graph_number(g, 1);
    const carom_node f = factored(g, a, b, sign);
    if (f != CAROM_NONE) return f;
    int budget = CANCEL_BUDGET;
    const carom_node x = cancelled(g, a, b, -sign, &budget);
    if (x != CAROM_NONE) return x;
    budget = CANCEL_BUDGET;
    const carom_node y = cancelled(g, b, a, -sign, &budget); // a + sign (y - sign a) = sign y
    return y == CAROM_NONE || sign > 0 ? y : negative(g, y);
}

// a + sign b for a, b that carry no sign and are different.  The rules call this again; the depth bounds it.
static carom_node plain_sum(carom_graph *g, carom_node a, carom_node b, int sign) {
    if (g->depth < SUM_DEPTH) {
        ++g->depth;
        const carom_node x = shorter(g, a, b, sign);
        --g->depth;
        if (x != CAROM_NONE || g->failed) return x;
    }
    if (sign > 0) return make_sorted(g, CAROM_OP_ADD, a, b);
    const carom_node swapped = carom_graph_find(g, CAROM_OP_SUB, b, a);
    return swapped != CAROM_NONE ? negative(g, swapped) : make(g, CAROM_OP_SUB, a, b);
}

static carom_node sum(carom_graph *g, carom_node a, carom_node b, int sign) {
    if (a == CAROM_NONE || b == CAROM_NONE) return carom_graph_fail(g);
    double x, y;
    const bool na = number(g, a, &x), nb = number(g, b, &y);
    if (na && nb) return carom_graph_number(g, x + sign * y);
    if (nb && y == 0) return a;
    if (na && x == 0) return sign > 0 ? b : negative(g, b);
    int sign_a = 1;
    if (g->node[a].op == CAROM_OP_NEG) sign_a = -1, a = g->node[a].a;
    if (g->node[b].op == CAROM_OP_NEG) sign = -sign, b = g->node[b].a;
    if (na && x < 0) sign_a = -1, a = carom_graph_number(g, -x); // -3 + x, x + (-3) and x - 3 are one node
    if (nb && y < 0) sign = -sign, b = carom_graph_number(g, -y);
    if (g->failed) return CAROM_NONE;
    if (a == b) return sign_a != sign ? carom_graph_number(g, 0) : multiply(g, carom_graph_number(g, 2 * sign), a);
    if (sign_a == sign) {
        const carom_node s = plain_sum(g, a, b, 1);
        return sign > 0 ? s : negative(g, s);
    }
    return sign_a > 0 ? plain_sum(g, a, b, -1) : plain_sum(g, b, a, -1);
}

// -- the rest ----------------------------------------------------------------------------------------

// Signs go to the front; a number in the denominator stays there, so that x/3 is rounded once.
static carom_node quotient(carom_graph *g, carom_node a, carom_node b) {
    double y;
    if (number(g, a, &y) && y == 0) return a;
    if (number(g, b, &y) && fabs(y) == 1) return y > 0 ? a : negative(g, a);
    int sign = 1;
    if (g->node[a].op == CAROM_OP_NEG) sign = -sign, a = g->node[a].a;
    if (g->node[b].op == CAROM_OP_NEG) sign = -sign, b = g->node[b].a;
    const carom_node x = make(g, CAROM_OP_DIV, a, b);
    return sign < 0 ? negative(g, x) : x;
}

static carom_node raised(carom_graph *g, carom_node a, carom_node b) {
    double n;
    if (!number(g, b, &n)) return make(g, CAROM_OP_POW, a, b);
    if (n == 0) return carom_graph_number(g, 1);
    if (n == 0.5) return make(g, CAROM_OP_SQRT, a, CAROM_NONE);
    if (n == -0.5) return quotient(g, carom_graph_number(g, 1), make(g, CAROM_OP_SQRT, a, CAROM_NONE));
    if (n != floor(n) || fabs(n) > POWER_LIMIT) return make(g, CAROM_OP_POW, a, b);
    carom_node x = a;
    for (int i = 1; i < (int)fabs(n); ++i) x = multiply(g, x, a);
    return n > 0 || g->failed ? x : quotient(g, carom_graph_number(g, 1), x);
}

// Functions of one argument: even and odd ones lose the sign of their argument.
static carom_node function(carom_graph *g, carom_op op, carom_node a) {
    const carom_vertex v = g->node[a];
    if (op == CAROM_OP_ABS && v.op == CAROM_OP_ABS) return a;
    if (v.op == CAROM_OP_NEG) {
        switch (op) {
        case CAROM_OP_COS: case CAROM_OP_COSH: case CAROM_OP_ABS: return function(g, op, v.a);
        case CAROM_OP_SIN: case CAROM_OP_TAN: case CAROM_OP_ASIN: case CAROM_OP_ATAN: case CAROM_OP_SINH:
        case CAROM_OP_TANH: case CAROM_OP_SIGN: return negative(g, function(g, op, v.a));
        default: break;
        }
    }
    return make(g, op, a, CAROM_NONE);
}

static carom_node choice(carom_graph *g, carom_node c, carom_node a, carom_node b) {
    double x;
    if (number(g, c, &x)) return x != 0 ? a : b;
    return a == b ? a : carom_graph_intern(g, CAROM_OP_IF, c, a, b);
}

// b: a number, which curve and which derivative.
static carom_node on_curve(carom_graph *g, carom_node a, carom_node b) {
    double x;
    int which, k;
    if (!number(g, a, &x)) return make(g, CAROM_OP_CURVE, a, b);
    const double *d = carom_curve_of(g, b, &which, &k);
    return carom_graph_number(g, carom_curve_value(d, k, x, x));
}

static bool folded(const carom_graph *g, carom_op op, const carom_node *arg, double *value) {
    double x[3] = {0, 0, 0};
    for (int i = 0; i < carom_op_arity(op); ++i)
        if (!number(g, arg[i], &x[i])) return false;
    *value = carom_value(op, x[0], x[1], x[2]);
    return true;
}

carom_node carom_graph_apply(carom_graph *g, carom_op op, carom_node a, carom_node b, carom_node c) {
    const carom_node arg[3] = {a, b, c};
    const int arity = carom_op_arity(op);
    if (g->failed || arity == 0) return carom_graph_fail(g);
    for (int i = 0; i < arity; ++i)
        if (arg[i] < 0 || arg[i] >= g->count) return carom_graph_fail(g);
    double value;
    if (op == CAROM_OP_CURVE) return on_curve(g, a, b);
    if (op != CAROM_OP_PAIR && folded(g, op, arg, &value)) return carom_graph_number(g, value);
    switch (op) {
    case CAROM_OP_ADD: return sum(g, a, b, 1);
    case CAROM_OP_SUB: return sum(g, a, b, -1);
    case CAROM_OP_MUL: return multiply(g, a, b);
    case CAROM_OP_DIV: return quotient(g, a, b);
    case CAROM_OP_POW: return raised(g, a, b);
    case CAROM_OP_NEG: return negative(g, a);
    case CAROM_OP_GT: return make(g, CAROM_OP_LT, b, a);
    case CAROM_OP_GE: return make(g, CAROM_OP_LE, b, a);
    case CAROM_OP_LT: case CAROM_OP_LE: case CAROM_OP_ATAN2: case CAROM_OP_PAIR: return make(g, op, a, b);
    case CAROM_OP_LINE_1:
    case CAROM_OP_LINE_2:
    case CAROM_OP_RING_1:
    case CAROM_OP_RING_2: return carom_graph_intern(g, op, a, b, c);
    case CAROM_OP_MIN: case CAROM_OP_MAX: return a == b ? a : make_sorted(g, op, a, b);
    case CAROM_OP_EQ: case CAROM_OP_NE: case CAROM_OP_HYPOT: return make_sorted(g, op, a, b);
    case CAROM_OP_IF: return choice(g, a, b, c);
    default: return function(g, op, a);
    }
}
