// parts.c: an expression as the least of smoother ones, -|x| = min(x, -x).
#include "expr/parts.h"
#include "expr/graph.h"
#include <math.h>

typedef struct splitter {
    carom_graph *g;
    int (*sign)(void *user, carom_node factor);
    void *user;
    int *left; // nodes that may still be looked at
} splitter;

enum { MOST = 1000 }; // of these

typedef struct parts {
    carom_node node[CAROM_PARTS];
    int n; // 0: too many
} parts;

static parts split(const splitter *s, carom_node x, bool least);

static bool moves(const carom_graph *g, carom_node x) { return g->node[x].kinds & 1u << CAROM_POSITION; }

static void add(parts *p, carom_node x) {
    for (int i = 0; i < p->n; ++i)
        if (p->node[i] == x) return;
    if (p->n < CAROM_PARTS) p->node[p->n++] = x;
    else p->n = 0;
}

// min(a, b) of the least of a and that of b: all of them
static parts join(parts a, parts b) {
    if (a.n == 0 || b.n == 0) return (parts){0};
    for (int i = 0; i < b.n && a.n > 0; ++i) add(&a, b.node[i]);
    return a;
}

// a op b of each with each
static parts combine(const splitter *s, carom_op op, parts a, parts b) {
    parts p = {0};
    for (int i = 0; i < a.n; ++i)
        for (int j = 0; j < b.n; ++j) {
            add(&p, carom_graph_apply(s->g, op, a.node[i], b.node[j], CAROM_NONE));
            if (p.n == 0) return p;
        }
    return p;
}

static parts one(carom_node x) { return (parts){.node = {x}, .n = 1}; }

static bool kinked(const carom_graph *g, carom_node x) {
    if (!carom_graph_walk(g, x, UINT64_MAX, true)) return false;
    for (int i = 0; i < g->walk->count; ++i) {
        const carom_vertex *v = &g->node[g->walk->order[i]];
        if ((v->op == CAROM_OP_MIN || v->op == CAROM_OP_MAX || v->op == CAROM_OP_ABS) &&
            v->kinds & 1u << CAROM_POSITION)
            return true;
    }
    return false;
}

static parts negated(const splitter *s, carom_node x, bool least) {
    parts p = split(s, x, !least);
    for (int i = 0; i < p.n; ++i) p.node[i] = carom_graph_apply(s->g, CAROM_OP_NEG, p.node[i], CAROM_NONE, CAROM_NONE);
    return p;
}

static int sign_of(const splitter *s, carom_node x) {
    double value;
    const carom_vertex *v = &s->g->node[x];
    if (carom_graph_is_number(s->g, x, &value)) return (value > 0) - (value < 0);
    return v->kinds & (1u << CAROM_POSITION | 1u << CAROM_TIME | 1u << CAROM_VELOCITY) ? 0 : s->sign(s->user, x);
}

// c x, x c or x/c
static parts scaled(const splitter *s, carom_node x, carom_vertex v, bool least) {
    const bool first = v.op == CAROM_OP_MUL && !moves(s->g, v.a); // the factor stands first
    const carom_node factor = first ? v.a : v.b, rest = first ? v.b : v.a;
    // a sign that decides nothing is not asked for
    if (!moves(s->g, rest) || moves(s->g, factor) || !kinked(s->g, rest)) return one(x);
    const int sign = sign_of(s, factor);
    if (sign == 0) return one(x);
    const parts p = split(s, rest, sign > 0 ? least : !least);
    return first ? combine(s, CAROM_OP_MUL, one(factor), p) : combine(s, (carom_op)v.op, p, one(factor));
}

// The least (else the greatest) of parts.
static parts split(const splitter *s, carom_node x, bool least) {
    x = carom_graph_meaning(s->g, x);
    const carom_vertex v = s->g->node[x]; // a copy: the graph grows
    if (!(v.kinds & 1u << CAROM_POSITION) || --*s->left < 0) return one(x);
    switch (v.op) {
    case CAROM_OP_NEG: return negated(s, v.a, least);
    case CAROM_OP_ADD: return combine(s, CAROM_OP_ADD, split(s, v.a, least), split(s, v.b, least));
    case CAROM_OP_SUB: return combine(s, CAROM_OP_SUB, split(s, v.a, least), split(s, v.b, !least));
    case CAROM_OP_MUL: case CAROM_OP_DIV: return scaled(s, x, v, least);
    case CAROM_OP_MIN:
    case CAROM_OP_MAX:
        return least == (v.op == CAROM_OP_MIN) ? join(split(s, v.a, least), split(s, v.b, least)) : one(x);
    case CAROM_OP_ABS: return least ? one(x) : join(split(s, v.a, false), negated(s, v.a, false)); // |a| = max(a, -a)
    default: return one(x);
    }
}

// Squares, roots, exponentials, and sums and products of these.
static bool positive(const carom_graph *g, carom_node x) {
    double value;
    x = carom_graph_meaning(g, x);
    const carom_vertex *v = &g->node[x];
    switch (v->op) {
    case CAROM_OP_NUMBER: return carom_graph_is_number(g, x, &value) && value >= 0;
    case CAROM_OP_ADD: return positive(g, v->a) && positive(g, v->b);
    case CAROM_OP_MUL: return v->a == v->b || (positive(g, v->a) && positive(g, v->b));
    case CAROM_OP_POW: return carom_graph_is_number(g, v->b, &value) && value > 0 && fmod(value, 2) == 0;
    case CAROM_OP_ABS: case CAROM_OP_SQRT: case CAROM_OP_EXP: case CAROM_OP_HYPOT: return true;
    default: return false;
    }
}

// Has this operation a value wherever its arguments have?
static bool defined(const carom_graph *g, const carom_vertex *v) {
    double value;
    switch (v->op) {
    case CAROM_OP_LOG: case CAROM_OP_ASIN: case CAROM_OP_ACOS: return false;
    case CAROM_OP_DIV: return !moves(g, v->b);
    case CAROM_OP_POW: return carom_graph_is_number(g, v->b, &value) && value > 0 && value == floor(value);
    case CAROM_OP_SQRT: return positive(g, v->a);
    default: return true;
    }
}

// A part that is there always: it moves, and it has a value everywhere.
static bool whole(const carom_graph *g, carom_node x) {
    if (!moves(g, x) || !carom_graph_walk(g, x, UINT64_MAX, true)) return false;
    for (int i = 0; i < g->walk->count; ++i)
        if (moves(g, g->walk->order[i]) && !defined(g, &g->node[g->walk->order[i]])) return false;
    return true;
}

int carom_graph_parts(carom_graph *g, carom_node x, int (*sign)(void *user, carom_node factor), void *user,
                      carom_node part[CAROM_PARTS]) {
    int left = MOST;
    const parts p = kinked(g, x) ? split(&(splitter){g, sign, user, &left}, x, true) : one(x);
    bool good = p.n > 1 && !g->failed;
    for (int i = 0; i < p.n && good; ++i) good = whole(g, p.node[i]);
    for (int i = 0; i < p.n && good; ++i) part[i] = p.node[i];
    if (!good) part[0] = x;
    return good ? p.n : 1;
}
