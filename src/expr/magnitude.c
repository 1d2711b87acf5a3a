// magnitude.c: bounds of expressions that hold everywhere.
#include "expr/graph.h"
#include <math.h>

// 0 times anything is 0.
static double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

static carom_magnitude of_input(const carom_vertex *v, const double *parameter, int fixed, double position) {
    if (v->a == CAROM_PARAMETER && v->b < fixed) return (carom_magnitude){fabs(parameter[v->b]), fabs(parameter[v->b])};
    return (carom_magnitude){0, v->a == CAROM_POSITION ? position : HUGE_VAL};
}

static carom_magnitude magnitude(const carom_vertex *v, const carom_magnitude *x) {
    switch (v->op) {
    case CAROM_OP_SYMBOL:
    case CAROM_OP_NEG: return x[v->a];
    case CAROM_OP_ADD:
    case CAROM_OP_SUB: return (carom_magnitude){0, x[v->a].most + x[v->b].most};
    case CAROM_OP_MUL: return (carom_magnitude){x[v->a].least * x[v->b].least, product(x[v->a].most, x[v->b].most)};
    case CAROM_OP_DIV: return (carom_magnitude){0, x[v->b].least > 0 ? x[v->a].most / x[v->b].least : HUGE_VAL};
    case CAROM_OP_SIN:
    case CAROM_OP_COS: return (carom_magnitude){0, 1};
    default: return (carom_magnitude){0, HUGE_VAL};
    }
}

void carom_graph_magnitudes(const carom_graph *g, const double *parameter, int fixed, double position, carom_magnitude *x, int n) {
    for (int i = 0; i < n; ++i) {
        const carom_vertex *v = &g->node[i];
        if (v->op == CAROM_OP_NUMBER) x[i] = (carom_magnitude){fabs(v->value), fabs(v->value)};
        else x[i] = v->op == CAROM_OP_INPUT ? of_input(v, parameter, fixed, position) : magnitude(v, x);
    }
}
