// magnitude.c: bounds of expressions that hold everywhere; and the sizes of what they are made of at one place.
#include "expr/graph.h"
#include "expr/value.h"
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

void carom_graph_magnitudes(const carom_graph *g, const double *parameter, int fixed, double position,
                            carom_magnitude *x, int n) {
    for (int i = 0; i < n; ++i) {
        const carom_vertex *v = &g->node[i];
        if (v->op == CAROM_OP_NUMBER) x[i] = (carom_magnitude){fabs(v->value), fabs(v->value)};
        else x[i] = v->op == CAROM_OP_INPUT ? of_input(v, parameter, fixed, position) : magnitude(v, x);
    }
}

// Rounding of the arguments, sizes times eps, goes on with the derivative of the operation.
static double size_of(const carom_vertex *v, double value, const carom_sized *x) {
    const int arity = carom_op_arity(v->op);
    const carom_sized none = {0}, *a = arity > 0 ? &x[v->a] : &none, *b = arity > 1 ? &x[v->b] : &none;
    switch (v->op) {
    case CAROM_OP_ADD:
    case CAROM_OP_SUB:
    case CAROM_OP_NEG:
    case CAROM_OP_ABS:
    case CAROM_OP_MIN:
    case CAROM_OP_MAX:
    case CAROM_OP_HYPOT: return fmax(a->size, b->size);
    case CAROM_OP_IF: return a->value != 0 ? b->size : x[v->c].size;
    case CAROM_OP_MUL: return fmax(a->size * fabs(b->value), fabs(a->value) * b->size);
    case CAROM_OP_DIV: return fmax(a->size, fabs(value) * b->size) / fabs(b->value);
    case CAROM_OP_SIN: return fmax(fabs(value), fabs(cos(a->value)) * a->size);
    case CAROM_OP_SQRT: return value > 0 ? fmax(value, 0.5 * a->size / value) : sqrt(a->size);
    default: return fabs(value);
    }
}

void carom_graph_sizes(const carom_graph *g, const double *parameter, int np, const double *position, carom_sized *x,
                       int n) {
    for (int i = 0; i < n; ++i) {
        const carom_vertex *v = &g->node[i];
        if (v->op == CAROM_OP_SYMBOL) {
            x[i] = x[v->a];
            continue;
        }
        const int arity = carom_op_arity(v->op);
        double value = NAN;
        if (v->op == CAROM_OP_NUMBER) value = v->value;
        else if (v->op != CAROM_OP_INPUT)
            value = carom_value(v->op, arity > 0 ? x[v->a].value : 0, arity > 1 ? x[v->b].value : 0,
                                arity > 2 ? x[v->c].value : 0);
        else
            value = v->a == CAROM_PARAMETER && v->b < np ? parameter[v->b]
                    : v->a == CAROM_POSITION             ? position[v->b]
                    : v->a == CAROM_TIME                 ? 0
                                                         : NAN;
        x[i] = (carom_sized){value, size_of(v, value, x)};
    }
}
