// time.c: does time enter an expression, and how?
//
// Nodes are visited in the order of their numbers, arguments first.  Each has a value where it is made of numbers and
// parameters alone, and a slope da/dt where it is
//
//     a t + b,   b without time (TIM-1)
//
// The second pass goes back from the expressions that are asked about, through what is left after folding.
#include "expr/time.h"
#include "base/pi.h"
#include "expr/graph.h"
#include "expr/value.h"
#include <math.h>
#include <stdlib.h>

static const double SAME_RATE = 1e-9; // of a rate: two that are one, and ratios that are rational

enum { MOST_CYCLES = 64 }; // chosen: an orbit over a longer common period takes too long

typedef struct facts {
    double value;    // NaN: it depends on time or on the state
    double slope;    // NaN: not of the form (TIM-1)
    bool time;       // it changes with time
    bool fixed;      // its value stays when parameters change
    bool live;       // an expression that is asked about needs it
    carom_node only; // all that it needs: one of its arguments; CAROM_NONE: all of them
} facts;

static facts of_input(const carom_vertex *v, const double *parameter, const bool *changes, int np) {
    if (v->a == CAROM_TIME) return (facts){.value = NAN, .slope = 1, .time = true, .fixed = true, .only = CAROM_NONE};
    const bool known = v->a == CAROM_PARAMETER && v->b < np;
    return (facts){.value = known ? parameter[v->b] : NAN, .fixed = known && !changes[v->b], .only = CAROM_NONE};
}

static facts meaning(const facts *of, carom_node x) {
    facts f = of[x];
    f.only = x, f.live = false;
    return f;
}

static bool is(const facts *f, double value) { return f->fixed && f->value == value; }

static double slope_of(const carom_vertex *v, const facts *f) {
    const facts *a = &f[v->a], *b = carom_op_arity(v->op) > 1 ? &f[v->b] : NULL;
    switch (v->op) {
    case CAROM_OP_ADD: return a->slope + b->slope;
    case CAROM_OP_SUB: return a->slope - b->slope;
    case CAROM_OP_NEG: return -a->slope;
    case CAROM_OP_MUL: return a->time ? a->slope * b->value : b->slope * a->value;
    case CAROM_OP_DIV: return b->time ? NAN : a->slope / b->value;
    default: return NAN;
    }
}

static facts of_operation(const carom_vertex *v, const facts *f) {
    const int arity = carom_op_arity(v->op);
    if (v->op == CAROM_OP_MUL && (is(&f[v->a], 0) || is(&f[v->b], 0))) return meaning(f, is(&f[v->a], 0) ? v->a : v->b);
    if (v->op == CAROM_OP_DIV && is(&f[v->a], 0)) return meaning(f, v->a);
    if (v->op == CAROM_OP_IF && f[v->a].fixed && isfinite(f[v->a].value))
        return meaning(f, f[v->a].value != 0 ? v->b : v->c);
    const carom_node arg[] = {v->a, v->b, v->c};
    facts x = {.fixed = true, .only = CAROM_NONE};
    for (int k = 0; k < arity; ++k) x.time = x.time || f[arg[k]].time, x.fixed = x.fixed && f[arg[k]].fixed;
    x.value =
        x.time ? NAN : carom_value(v->op, f[v->a].value, arity > 1 ? f[v->b].value : 0, arity > 2 ? f[v->c].value : 0);
    x.slope = x.time ? slope_of(v, f) : 0;
    if (x.time && x.slope == 0) x.slope = NAN; // t - t: what cancels is no rate
    return x;
}

static void add_rate(carom_time_use *use, double rate) {
    for (int i = 0; i < use->n; ++i)
        if (fabs(use->rate[i] - rate) <= SAME_RATE * rate) return;
    if (use->n == CAROM_RATES) use->harmonic = false;
    else use->rate[use->n++] = rate;
}

// What a node that is needed makes of time: nothing yet where it is of the form (TIM-1) itself.
static void note_use(const carom_vertex *v, const facts *f, const facts *x, carom_time_use *use) {
    const carom_node arg[] = {v->a, v->b, v->c};
    for (int k = 0; k < carom_op_arity(v->op) && isnan(x->slope); ++k) {
        const facts *a = &f[arg[k]];
        if (!a->time || isnan(a->slope)) continue;
        if (v->op == CAROM_OP_SIN || v->op == CAROM_OP_COS) add_rate(use, fabs(a->slope));
        else use->harmonic = false;
    }
}

static carom_status decide(const carom_graph *g, int n, const carom_node *x, const double *parameter,
                           const bool *changes, int np, facts *f, carom_time_use *use) {
    for (int i = 0; i < g->count; ++i) {
        const carom_vertex *v = &g->node[i];
        if (v->op == CAROM_OP_NUMBER) f[i] = (facts){.value = v->value, .fixed = true, .only = CAROM_NONE};
        else
            f[i] = v->op == CAROM_OP_INPUT    ? of_input(v, parameter, changes, np)
                   : v->op == CAROM_OP_SYMBOL ? meaning(f, v->a)
                                              : of_operation(v, f);
    }
    for (int i = 0; i < n; ++i) {
        if (x[i] < 0 || !f[x[i]].time) continue;
        if (use->first < 0) use->first = i;
        if (!isnan(f[x[i]].slope)) use->harmonic = false; // it grows with time
        f[x[i]].live = true;
    }
    for (int i = g->count - 1; i >= 0; --i) {
        const carom_vertex *v = &g->node[i];
        if (!f[i].live) continue;
        if (f[i].only != CAROM_NONE) {
            f[f[i].only].live = true;
            continue;
        }
        note_use(v, f, &f[i], use);
        const carom_node arg[] = {v->a, v->b, v->c};
        for (int k = 0; k < carom_op_arity(v->op); ++k) f[arg[k]].live = f[arg[k]].live || f[arg[k]].time;
    }
    use->harmonic = use->harmonic && use->first >= 0;
    return CAROM_OK;
}

carom_status carom_graph_time(const carom_graph *g, int n, const carom_node *x, const double *parameter,
                              const bool *changes, int np, carom_time_use *use) {
    *use = (carom_time_use){.first = -1, .harmonic = true};
    facts *f = calloc((size_t)g->count + 1, sizeof *f);
    if (!f) return CAROM_NO_MEMORY;
    const carom_status status = decide(g, n, x, parameter, changes, np, f, use);
    free(f);
    return status;
}

double carom_time_period(const carom_time_use *use) {
    if (!use->harmonic || use->n == 0) return 0;
    const double first = use->rate[0];
    for (int k = 1; k <= MOST_CYCLES; ++k) { // k cycles of the first
        bool all = true;
        for (int i = 1; i < use->n && all; ++i) {
            const double cycles = k * use->rate[i] / first, whole = round(cycles);
            all = whole >= 1 && fabs(cycles - whole) <= SAME_RATE * cycles;
        }
        if (all) return k * 2 * PI / first;
    }
    return 0;
}
