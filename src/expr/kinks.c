// kinks.c: where an expression has kinks.
#include "base/grow.h"
#include "expr/curve.h"
#include "expr/graph.h"
#include "expr/parts.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double BEND = 1e-9; // jump of a slope, relative: splines are continuous to rounding

enum { MOST = 64 }; // knots of a curve with kinks; one with more approximates something smooth

typedef struct found {
    carom_node *node;
    int count;
    bool failed;
    bool *known; // of long lists, by number of the node: it is in the list
    int room;    // of known
} found;

// Is node k not in the list yet?  Short lists are searched; one of n kinks takes time in proportion to n all the same.
static bool is_new(found *f, carom_node k) {
    enum { SHORT = 32 };
    if (f->count < SHORT) {
        for (int i = 0; i < f->count; ++i)
            if (f->node[i] == k) return false;
        return true;
    }
    if (k >= f->room) {
        const int room = k + k / 2 + 64;
        bool *more = realloc(f->known, (size_t)room * sizeof *more);
        if (!more) return f->failed = true, false;
        for (int i = f->room; i < room; ++i) more[i] = false;
        for (int i = 0; i < f->count; ++i)
            if (f->node[i] < room) more[f->node[i]] = true;
        f->known = more, f->room = room;
    }
    return !f->known[k];
}

// A node whose sign decides, if it changes with these kinds of inputs.
static void add_of(found *f, const carom_graph *g, carom_node k, unsigned kinds) {
    if (k < 0 || !(g->node[k].kinds & kinds)) return;
    if (!is_new(f, k)) return;
    if (!CAROM_GROW(f->node, f->count)) {
        f->failed = true;
        return;
    }
    f->node[f->count++] = k;
    if (k < f->room) f->known[k] = true;
}

// That of positions or time.
static void add(found *f, const carom_graph *g, carom_node k) {
    add_of(f, g, k, 1u << CAROM_POSITION | 1u << CAROM_TIME);
}

// Has the curve a kink at knot i?  Outside it is constant.
static bool bends(const double *d, int i) {
    const int n = (int)d[0];
    const double *knot = d + 4, left = i > 0 ? carom_curve_value(d, 1, knot[i - 1], knot[i]) : 0,
                 right = i < n - 1 ? carom_curve_value(d, 1, knot[i], knot[i]) : 0;
    return fabs(left - right) > BEND * (fabs(left) + fabs(right)) + DBL_MIN;
}

static void add_knots(found *f, carom_graph *g, carom_vertex x) {
    int which, k, count = 0;
    const double *d = carom_curve_of(g, x.b, &which, &k);
    for (int i = 0; i < (int)d[0]; ++i) count += bends(d, i);
    for (int i = 0; i < (int)d[0] && count <= MOST; ++i)
        if (bends(d, i))
            add(f, g, carom_graph_apply(g, CAROM_OP_SUB, x.a, carom_graph_number(g, d[4 + i]), CAROM_NONE));
}

static void look(found *f, carom_graph *g, carom_vertex x) {
    switch (x.op) {
    case CAROM_OP_ABS: case CAROM_OP_SIGN: add(f, g, x.a); break;
    case CAROM_OP_MIN: case CAROM_OP_MAX: case CAROM_OP_LT: case CAROM_OP_LE: case CAROM_OP_GT: case CAROM_OP_GE:
        add(f, g, carom_graph_apply(g, CAROM_OP_SUB, x.a, x.b, CAROM_NONE));
        break;
    case CAROM_OP_CURVE: add_knots(f, g, x); break;
    default: break;
    }
}

// Time alone decides about x.
static bool timed(const carom_vertex *x) {
    return x->kinds & 1u << CAROM_TIME && !(x->kinds & (1u << CAROM_POSITION | 1u << CAROM_VELOCITY));
}

// What n nodes are made of and changes with inputs of these kinds: live[i].
static bool *reach(const carom_graph *g, int n, const carom_node *x, unsigned kinds) {
    bool *live = calloc((size_t)g->count + 1, sizeof *live);
    for (int i = 0; live && i < n; ++i)
        if (x[i] >= 0) live[x[i]] = true;
    for (int i = g->count - 1; live && i >= 0; --i) { // arguments have smaller numbers
        const carom_vertex *y = &g->node[i];
        live[i] = live[i] && y->kinds & kinds;
        const int part[3] = {y->a, y->b, y->c}, parts = y->op == CAROM_OP_SYMBOL ? 1 : carom_op_arity((carom_op)y->op);
        for (int k = 0; live[i] && k < parts; ++k) live[part[k]] = true;
    }
    return live;
}

static bool compares(const carom_vertex *x) { return x->op >= CAROM_OP_LT && x->op <= CAROM_OP_NE; }

static void add_timed(found *f, carom_graph *g, carom_node x) { if (x >= 0 && timed(&g->node[x])) add(f, g, x); }

int carom_graph_switches(carom_graph *g, int n, const carom_node *x, carom_node **list) {
    found f = {0}, at = {0};
    bool *live = reach(g, n, x, 1u << CAROM_TIME);
    const int count = g->count; // new nodes follow
    for (int i = 0; live && i < count; ++i) {
        const carom_vertex y = g->node[i];
        if (!live[i] || !timed(&y)) continue;
        look(&at, g, y);
        if (y.op == CAROM_OP_EQ || y.op == CAROM_OP_NE)
            add(&at, g, carom_graph_apply(g, CAROM_OP_SUB, y.a, y.b, CAROM_NONE));
        if (y.op == CAROM_OP_IF && !compares(&g->node[y.a])) add(&at, g, y.a);
        if (y.op == CAROM_OP_FLOOR) add_timed(&f, g, i);
    }
    for (int i = 0; i < at.count; ++i)
        add_timed(&f, g, carom_graph_apply(g, CAROM_OP_SIGN, at.node[i], CAROM_NONE, CAROM_NONE));
    const bool failed = !live || f.failed || at.failed;
    free(live);
    free(at.node), free(at.known), free(f.known);
    if (failed) free(f.node);
    *list = failed ? NULL : f.node;
    return failed ? -1 : f.count;
}

// Functions with short pulses or steep steps.  Polynomials, sines and cosines of these are as fast everywhere.
static bool steep(carom_op op) {
    switch (op) {
    case CAROM_OP_EXP:
    case CAROM_OP_TANH:
    case CAROM_OP_COSH:
    case CAROM_OP_SINH:
    case CAROM_OP_ATAN:
    case CAROM_OP_TAN:
    case CAROM_OP_LOG: return true;
    default: return false;
    }
}

// Can a function of time have a short pulse, or a steep step?
static bool uneven(const carom_vertex *x, const carom_graph *g) {
    switch (x->op) {
    case CAROM_OP_SQRT:
    case CAROM_OP_HYPOT: return true;
    case CAROM_OP_DIV:
    case CAROM_OP_POW: return timed(&g->node[x->b]) || (x->op == CAROM_OP_POW && timed(&g->node[x->a]));
    default: return steep(x->op);
    }
}

int carom_graph_pulses(carom_graph *g, int n, const carom_node *x, carom_node **list) {
    found f = {0};
    bool *live = reach(g, n, x, 1u << CAROM_TIME);
    const int count = g->count; // new nodes follow
    for (int i = 0; live && i < count; ++i) {
        const carom_vertex y = g->node[i];
        if (!live[i]) continue;
        if (timed(&y) && uneven(&y, g)) add(&f, g, i);
        else if (y.op == CAROM_OP_DIV && timed(&g->node[y.b])) // v/(1 + (t/w)^2) is v times a pulse
            add_timed(&f, g, carom_graph_apply(g, CAROM_OP_DIV, carom_graph_number(g, 1), y.b, CAROM_NONE));
    }
    const bool failed = !live || f.failed;
    free(live), free(f.known);
    if (failed) free(f.node);
    *list = failed ? NULL : f.node;
    return failed ? -1 : f.count;
}

// The same for functions of the state.  Small whole powers are polynomials.
static bool narrow(const carom_vertex *x, const carom_graph *g, unsigned kinds) {
    double n;
    if (x->op == CAROM_OP_DIV) return g->node[x->b].kinds & kinds;
    if (x->op == CAROM_OP_POW) return !(carom_graph_is_number(g, x->b, &n) && n >= 0 && n <= 4 && n == floor(n));
    return steep(x->op);
}

// What jumps, and curves: their knots may be close.
static bool jumps(const carom_vertex *x) {
    return compares(x) || x->op == CAROM_OP_IF || x->op == CAROM_OP_SIGN || x->op == CAROM_OP_FLOOR ||
           x->op == CAROM_OP_CURVE;
}

bool carom_graph_narrow(const carom_graph *g, int n, const carom_node *x) {
    const unsigned kinds = 1u << CAROM_POSITION | 1u << CAROM_VELOCITY;
    bool *live = reach(g, n, x, kinds), some = !live;
    for (int i = 0; live && i < g->count && !some; ++i) {
        const carom_vertex *y = &g->node[i];
        some = y->kinds & kinds && ((y->written && narrow(y, g, kinds)) || (live[i] && jumps(y)));
    }
    free(live);
    return some;
}

static int collect(carom_graph *g, carom_node x, void (*look_at)(found *f, carom_graph *g, carom_vertex x),
                   carom_node **list) {
    found f = {0};
    *list = NULL;
    if (x < 0 || !carom_graph_walk(g, x, UINT64_MAX, true)) return -1;
    const int n = g->walk->count;
    int *met = malloc(((size_t)n + 1) * sizeof *met);
    if (!met) return -1;
    for (int i = 0; i < n; ++i) met[i] = g->walk->order[i]; // new nodes may need walks of their own
    for (int i = 0; i < n; ++i) look_at(&f, g, g->node[met[i]]);
    free(met), free(f.known);
    if (f.failed) free(f.node);
    *list = f.failed ? NULL : f.node;
    return f.failed ? -1 : f.count;
}

// abs, min and max are continuous, and their powers above 1 have continuous derivatives.
static void look_bent(found *f, carom_graph *g, carom_vertex x) {
    if (x.op == CAROM_OP_ABS || x.op == CAROM_OP_MIN || x.op == CAROM_OP_MAX) look(f, g, x);
}

static bool smooths(const carom_graph *g, const carom_vertex *x) {
    double n;
    return (x->op == CAROM_OP_POW && carom_graph_is_number(g, x->b, &n) && n > 1) ||
           (x->op == CAROM_OP_MUL && x->a == x->b);
}

static void look_smooth(found *f, carom_graph *g, carom_vertex x) {
    if (smooths(g, &x)) look_bent(f, g, g->node[carom_graph_meaning(g, x.a)]);
}

static bool is_zero(const carom_graph *g, carom_node x) {
    double n;
    return x >= 0 && carom_graph_is_number(g, x, &n) && n == 0;
}

// max(0, y) > 0 where y > 0 is; but it is zero on a whole side, and no surface.
static carom_node surface(const carom_graph *g, carom_node x) {
    const carom_node k = x < 0 ? x : carom_graph_meaning(g, x);
    if (k < 0 || (g->node[k].op != CAROM_OP_MAX && g->node[k].op != CAROM_OP_MIN)) return x;
    return is_zero(g, g->node[k].a) ? g->node[k].b : is_zero(g, g->node[k].b) ? g->node[k].a : x;
}

static carom_node compared(carom_graph *g, const carom_vertex *x) {
    return is_zero(g, x->b)   ? surface(g, x->a)
           : is_zero(g, x->a) ? surface(g, x->b)
                              : carom_graph_apply(g, CAROM_OP_SUB, x->a, x->b, CAROM_NONE);
}

// What jumps.  A floor does where its argument is whole.
static void look_jumps(found *f, carom_graph *g, carom_vertex x) {
    static const double PI = 3.14159265358979323846;
    const unsigned state = 1u << CAROM_POSITION | 1u << CAROM_VELOCITY;
    if (x.op == CAROM_OP_SIGN) add_of(f, g, surface(g, x.a), state);
    else if (x.op >= CAROM_OP_LT && x.op <= CAROM_OP_GE) add_of(f, g, compared(g, &x), state);
    else if (x.op == CAROM_OP_FLOOR && g->node[x.a].kinds & state)
        add_of(f, g,
               carom_graph_apply(g, CAROM_OP_SIN,
                                 carom_graph_apply(g, CAROM_OP_MUL, carom_graph_number(g, PI), x.a, CAROM_NONE),
                                 CAROM_NONE, CAROM_NONE),
               state);
}

// Of a potential abs, min and max too, but for powers of these.
static void look_steps(found *f, carom_graph *g, carom_vertex x) {
    const int part[3] = {x.a, x.b, x.c}, parts = x.op == CAROM_OP_SYMBOL ? 0 : carom_op_arity((carom_op)x.op);
    look_jumps(f, g, x);
    for (int k = 0; k < parts && !smooths(g, &x); ++k) look_bent(f, g, g->node[carom_graph_meaning(g, part[k])]);
}

int carom_graph_kinks(carom_graph *g, carom_node x, carom_node **list) { return collect(g, x, look, list); }
int carom_graph_jumps(carom_graph *g, carom_node x, bool slope, carom_node **list) {
    const carom_node whole = slope && x >= 0 ? carom_graph_apply(g, CAROM_OP_NEG, x, CAROM_NONE, CAROM_NONE) : x;
    return collect(g, whole, slope ? look_steps : look_jumps, list);
}
int carom_graph_bends(carom_graph *g, carom_node x, bool smooth, carom_node **list) {
    return collect(g, x, smooth ? look_smooth : look_bent, list);
}
