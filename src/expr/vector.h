// vector.h: vectors of expressions.  What is planar has a third component that is the number 0 and costs nothing.
#pragma once
#include "expr/expr.h"

typedef struct vec { carom_node c[3]; } vec;

static inline carom_node n_num(carom_graph *g, double x) { return carom_graph_number(g, x); }
static inline carom_node n_op(carom_graph *g, carom_op op, carom_node a, carom_node b) {
    return carom_graph_apply(g, op, a, b, CAROM_NONE);
}
static inline carom_node n_fun(carom_graph *g, carom_op op, carom_node a) { return n_op(g, op, a, CAROM_NONE); }
static inline carom_node n_add(carom_graph *g, carom_node a, carom_node b) { return n_op(g, CAROM_OP_ADD, a, b); }
static inline carom_node n_sub(carom_graph *g, carom_node a, carom_node b) { return n_op(g, CAROM_OP_SUB, a, b); }
static inline carom_node n_mul(carom_graph *g, carom_node a, carom_node b) { return n_op(g, CAROM_OP_MUL, a, b); }
static inline carom_node n_div(carom_graph *g, carom_node a, carom_node b) { return n_op(g, CAROM_OP_DIV, a, b); }
static inline carom_node n_less(carom_graph *g, carom_node a, carom_node b) { return n_op(g, CAROM_OP_LT, a, b); }
static inline carom_node n_if(carom_graph *g, carom_node c, carom_node a, carom_node b) {
    return carom_graph_apply(g, CAROM_OP_IF, c, a, b);
}
static inline carom_node n_abs(carom_graph *g, carom_node x) { return n_fun(g, CAROM_OP_ABS, x); }
/// -1 or 1, which 0 has.
static inline carom_node n_sign(carom_graph *g, carom_node x) {
    return n_if(g, n_less(g, x, n_num(g, 0)), n_num(g, -1), n_num(g, 1));
}
/// x, but between -l and l.
static inline carom_node n_clamp(carom_graph *g, carom_node x, carom_node l) {
    const carom_node low = n_fun(g, CAROM_OP_NEG, l);
    return n_if(g, n_less(g, l, x), l, n_if(g, n_less(g, x, low), low, x));
}
static inline bool n_zero(const carom_graph *g, carom_node x) {
    double value;
    return carom_graph_is_number(g, x, &value) && value == 0;
}
/// Both, of conditions; at least one; not.
static inline carom_node n_and(carom_graph *g, carom_node a, carom_node b) { return n_mul(g, a, b); }
static inline carom_node n_or(carom_graph *g, carom_node a, carom_node b) { return n_op(g, CAROM_OP_MAX, a, b); }
static inline carom_node n_not(carom_graph *g, carom_node a) { return n_sub(g, n_num(g, 1), a); }

static inline vec v_num(carom_graph *g, const double *x) {
    return (vec){{n_num(g, x[0]), n_num(g, x[1]), n_num(g, x[2])}};
}
static inline vec v_add(carom_graph *g, vec a, vec b) {
    for (int i = 0; i < 3; ++i) a.c[i] = n_add(g, a.c[i], b.c[i]);
    return a;
}
static inline vec v_sub(carom_graph *g, vec a, vec b) {
    for (int i = 0; i < 3; ++i) a.c[i] = n_sub(g, a.c[i], b.c[i]);
    return a;
}
static inline vec v_scale(carom_graph *g, vec a, carom_node s) {
    for (int i = 0; i < 3; ++i) a.c[i] = n_mul(g, a.c[i], s);
    return a;
}
static inline vec v_if(carom_graph *g, carom_node c, vec a, vec b) {
    for (int i = 0; i < 3; ++i) a.c[i] = n_if(g, c, a.c[i], b.c[i]);
    return a;
}
static inline carom_node v_dot(carom_graph *g, vec a, vec b) {
    return n_add(g, n_add(g, n_mul(g, a.c[0], b.c[0]), n_mul(g, a.c[1], b.c[1])), n_mul(g, a.c[2], b.c[2]));
}
static inline vec v_cross(carom_graph *g, vec a, vec b) {
    vec x;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        x.c[i] = n_sub(g, n_mul(g, a.c[j], b.c[k]), n_mul(g, a.c[k], b.c[j]));
    }
    return x;
}
/// R a and R'a, R by rows.
static inline vec v_turn(carom_graph *g, const carom_node *R, vec a) {
    vec x;
    for (int i = 0; i < 3; ++i) x.c[i] = v_dot(g, (vec){{R[3 * i], R[3 * i + 1], R[3 * i + 2]}}, a);
    return x;
}
static inline vec v_back(carom_graph *g, const carom_node *R, vec a) {
    vec x;
    for (int i = 0; i < 3; ++i) x.c[i] = v_dot(g, (vec){{R[i], R[3 + i], R[6 + i]}}, a);
    return x;
}
