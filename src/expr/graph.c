// graph.c: storage of the graph: nodes, sharing, walks, dependence.
//
// Nodes are found by open hashing.  Walks use a stack of their own, so deep graphs (a sum of a million
// terms) are as good as flat ones.
#include "base/grow.h"
#include "expr/expr.h"
#include "expr/graph.h"
#include <stdlib.h>
#include <string.h>

enum { NODE_LIMIT = 1 << 22 }; // chosen: what a model may take of memory

carom_graph *carom_graph_create(void) {
    carom_graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->walk = calloc(1, sizeof *g->walk);
    g->mask = 1023;
    g->table = malloc(((size_t)g->mask + 1) * sizeof *g->table);
    if (!g->walk || !g->table) {
        carom_graph_destroy(g);
        return NULL;
    }
    for (int i = 0; i <= g->mask; ++i) g->table[i] = CAROM_NONE;
    return g;
}

void carom_graph_destroy(carom_graph *g) {
    if (!g) return;
    if (g->walk) {
        free(g->walk->order);
        free(g->walk->stack);
        free(g->walk->memo);
        free(g->walk->mark);
    }
    free(g->walk);
    carom_courses *c = &g->course;
    int *const lists[] = {c->of_position, c->of_symbol, c->start, c->velocity, c->factor};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) free(lists[i]);
    free(c->reach);
    free(g->curve);
    free(g->known);
    free(g->table);
    free(g->node);
    free(g);
}

carom_node carom_graph_fail(carom_graph *g) {
    g->failed = true;
    return CAROM_NONE;
}

bool carom_graph_failed(const carom_graph *g) { return g->failed; }
int carom_graph_count(const carom_graph *g) { return g->count; }

int carom_op_arity(carom_op op) {
    switch (op) {
    case CAROM_OP_NUMBER: case CAROM_OP_INPUT: case CAROM_OP_SYMBOL: case CAROM_OP_COUNT: return 0;
    case CAROM_OP_IF: case CAROM_OP_LINE_1: case CAROM_OP_LINE_2: case CAROM_OP_RING_1: case CAROM_OP_RING_2: return 3;
    case CAROM_OP_ADD: case CAROM_OP_SUB: case CAROM_OP_MUL: case CAROM_OP_DIV: case CAROM_OP_POW:
    case CAROM_OP_LT: case CAROM_OP_LE: case CAROM_OP_GT: case CAROM_OP_GE: case CAROM_OP_EQ: case CAROM_OP_NE:
    case CAROM_OP_ATAN2:
    case CAROM_OP_MIN:
    case CAROM_OP_MAX:
    case CAROM_OP_HYPOT:
    case CAROM_OP_PAIR:
    case CAROM_OP_CURVE: return 2;
    default: return 1;
    }
}

// -- sharing -----------------------------------------------------------------------------------------

static uint64_t mix(uint64_t h) {
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

// Numbers are compared by their bits: 0 and -0 differ, a NaN equals itself.
static uint64_t hash(const carom_vertex *x) {
    uint64_t ab;
    memcpy(&ab, &x->value, sizeof ab);
    return mix(mix(ab + x->op) + (unsigned)x->c);
}

static bool equal(const carom_vertex *x, const carom_vertex *y) {
    return x->op == y->op && x->c == y->c && memcmp(&x->value, &y->value, sizeof x->value) == 0;
}

// Where x is or would be.
static int slot(const carom_graph *g, const carom_vertex *x) {
    int i = (int)(hash(x) & (unsigned)g->mask);
    while (g->table[i] != CAROM_NONE && !equal(&g->node[g->table[i]], x)) i = (i + 1) & g->mask;
    return i;
}

static bool grow_table(carom_graph *g) {
    const int mask = 2 * g->mask + 1;
    int *table = malloc(((size_t)mask + 1) * sizeof *table);
    if (!table) return false;
    for (int i = 0; i <= mask; ++i) table[i] = CAROM_NONE;
    free(g->table);
    g->table = table;
    g->mask = mask;
    for (int i = 0; i < g->count; ++i) table[slot(g, &g->node[i])] = i;
    return true;
}

static carom_node intern(carom_graph *g, carom_vertex x) {
    if (g->failed) return CAROM_NONE;
    const int at = slot(g, &x);
    if (g->table[at] != CAROM_NONE) return g->table[at];
    if (g->count >= NODE_LIMIT || !CAROM_GROW(g->node, g->count)) return carom_graph_fail(g);
    if (x.op == CAROM_OP_INPUT) {
        x.kinds = (uint8_t)(1u << x.a);
        x.inputs = (uint64_t)1 << (g->inputs++ & 63);
    } else if (x.op != CAROM_OP_NUMBER) {
        const int arg[3] = {x.a, x.op == CAROM_OP_SYMBOL ? CAROM_NONE : x.b, x.c};
        for (int i = 0; i < 3; ++i) {
            if (arg[i] == CAROM_NONE) continue;
            x.kinds |= g->node[arg[i]].kinds;
            x.inputs |= g->node[arg[i]].inputs;
        }
    }
    g->node[g->count] = x;
    g->table[at] = g->count++;
    const carom_node n = g->count - 1;
    if (2 * g->count > g->mask && !grow_table(g)) return carom_graph_fail(g);
    return n;
}

carom_node carom_graph_intern(carom_graph *g, carom_op op, carom_node a, carom_node b, carom_node c) {
    return intern(g, (carom_vertex){.op = (uint8_t)op, .a = a, .b = b, .c = c});
}

carom_node carom_graph_find(const carom_graph *g, carom_op op, carom_node a, carom_node b) {
    const carom_vertex x = {.op = (uint8_t)op, .a = a, .b = b, .c = CAROM_NONE};
    return g->table[slot(g, &x)];
}

carom_node carom_graph_number(carom_graph *g, double value) {
    return intern(g, (carom_vertex){.op = CAROM_OP_NUMBER, .c = CAROM_NONE, .value = value});
}

carom_node carom_graph_input(carom_graph *g, carom_input kind, int index) {
    if (index < 0) return carom_graph_fail(g);
    return carom_graph_intern(g, CAROM_OP_INPUT, (int)kind, index, CAROM_NONE);
}

bool carom_graph_is_number(const carom_graph *g, carom_node x, double *value) {
    if (x < 0 || g->node[x].op != CAROM_OP_NUMBER) return false;
    if (value) *value = g->node[x].value;
    return true;
}

// -- derivatives that are known -----------------------------------------------------------------------

// Those of one side have places of their own.
static int key(const carom_graph *g, int k) { return 2 * k + g->sided; }

static carom_known *known(const carom_graph *g, carom_node x, int k) {
    return &g->known[mix((uint64_t)(unsigned)x << 32 | (unsigned)key(g, k)) & (unsigned)g->known_mask];
}

static void forget(carom_graph *g) {
    free(g->known);
    g->known = NULL;
    g->known_count = 0;
}

// The table begins small and is begun anew twice as large when as much was written as it has places.
void carom_graph_know(carom_graph *g, carom_node x, int k, carom_node d) {
    enum { LEAST = (1 << 12) - 1, MOST = (1 << 19) - 1 };
    if (g->known_count > g->known_mask && g->known_mask < MOST) forget(g);
    if (!g->known) {
        g->known_mask = g->known_mask < LEAST ? LEAST : g->known_mask < MOST ? 2 * g->known_mask + 1 : MOST;
        g->known = calloc((size_t)g->known_mask + 1, sizeof *g->known);
        if (!g->known) return; // it is a convenience
    }
    g->known_count += g->known_mask < MOST;
    *known(g, x, k) = (carom_known){x + 1, key(g, k), d};
}

// Has x a derivative along k (k >= 0) already?
static bool recall(const carom_graph *g, carom_node x, int k) {
    if (k < 0 || !g->known) return false;
    const carom_known *e = known(g, x, k);
    if (e->node != x + 1 || e->k != key(g, k)) return false;
    g->walk->memo[x] = e->d;
    return true;
}

// -- courses -----------------------------------------------------------------------------------------

static bool room_for(void **p, int have, int want, size_t size) {
    if (want <= have) return true;
    void *q = realloc(*p, (size_t)want * size);
    if (!q) return false;
    memset((unsigned char *)q + (size_t)have * size, 0, (size_t)(want - have) * size);
    *p = q;
    return true;
}

carom_node carom_graph_symbol(carom_graph *g, carom_node x) {
    carom_courses *c = &g->course;
    if (g->failed || x < 0 || x >= g->count) return carom_graph_fail(g);
    if (!room_for((void **)&c->of_symbol, c->nsymbols, c->nsymbols + 1, sizeof *c->of_symbol))
        return carom_graph_fail(g);
    return carom_graph_intern(g, CAROM_OP_SYMBOL, x, c->nsymbols++, CAROM_NONE);
}

// The place where the course of a leaf is noted; NULL: no memory, or no such leaf.
static int *course_place(carom_graph *g, const carom_vertex *leaf) {
    carom_courses *c = &g->course;
    if (leaf->op == CAROM_OP_SYMBOL) return &c->of_symbol[leaf->b];
    if (leaf->op != CAROM_OP_INPUT || leaf->a != CAROM_POSITION) return NULL;
    if (!room_for((void **)&c->of_position, c->npositions, leaf->b + 1, sizeof *c->of_position)) return NULL;
    if (leaf->b >= c->npositions) c->npositions = leaf->b + 1;
    return &c->of_position[leaf->b];
}

void carom_graph_course(carom_graph *g, carom_node leaf, int n, const int *k, const carom_node *factor) {
    carom_courses *c = &g->course;
    if (g->failed || leaf < 0 || leaf >= g->count) {
        carom_graph_fail(g);
        return;
    }
    g->known_mask /= 2;
    forget(g); // derivatives follow courses
    int *place = course_place(g, &g->node[leaf]), widest = 0;
    for (int i = 0; i < n; ++i) widest = k[i] >= widest ? k[i] + 1 : widest;
    if (!place || *place ||
        !room_for((void **)&c->start, c->count ? c->count + 1 : 0, c->count + 2, sizeof *c->start) ||
        !room_for((void **)&c->velocity, c->terms, c->terms + n, sizeof *c->velocity) ||
        !room_for((void **)&c->factor, c->terms, c->terms + n, sizeof *c->factor) ||
        !room_for((void **)&c->reach, c->nreach, widest, sizeof *c->reach)) {
        carom_graph_fail(g);
        return;
    }
    if (widest > c->nreach) c->nreach = widest;
    for (int i = 0; i < n; ++i) {
        c->velocity[c->terms] = k[i];
        c->factor[c->terms++] = factor[i];
        c->reach[k[i]] |= g->node[leaf].inputs;
    }
    c->start[++c->count] = c->terms;
    *place = c->count;
}

// -- walks -------------------------------------------------------------------------------------------

static bool grow(void **p, size_t bytes) {
    void *q = realloc(*p, bytes);
    if (q) *p = q;
    return q != NULL;
}

static bool prepare(carom_walk *w, int nodes) {
    if (nodes > w->nodes) {
        const size_t n = (size_t)nodes + (size_t)nodes / 2 + 64;
        if (!grow((void **)&w->order, n * sizeof *w->order) || !grow((void **)&w->memo, n * sizeof *w->memo) ||
            !grow((void **)&w->mark, n * sizeof *w->mark))
            return false;
        memset(w->mark + w->nodes, 0, (n - (size_t)w->nodes) * sizeof *w->mark);
        w->nodes = (int)n;
    }
    if (++w->now == 0) { // the counter has gone round: forget all marks
        memset(w->mark, 0, (size_t)w->nodes * sizeof *w->mark);
        w->now = 1;
    }
    w->count = 0;
    return true;
}

// n, then what it is made of, on the stack.
static bool enter(carom_walk *w, const carom_vertex *v, int n, bool through, int *depth) {
    if (*depth + 4 > w->room) {
        if (!grow((void **)&w->stack, (2 * (size_t)w->room + 64) * sizeof *w->stack)) return false;
        w->room = 2 * w->room + 64;
    }
    w->stack[(*depth)++] = ~n;
    if (v->op == CAROM_OP_SYMBOL) {
        if (through) w->stack[(*depth)++] = v->a;
    } else if (!carom_vertex_leaf(v)) {
        const int arg[3] = {v->a, v->b, v->c};
        for (int i = 2; i >= 0; --i)
            if (arg[i] != CAROM_NONE) w->stack[(*depth)++] = arg[i];
    }
    return true;
}

static bool walk(const carom_graph *g, carom_node x, uint64_t inputs, bool through, int k) {
    carom_walk *w = g->walk;
    if (!prepare(w, x + 1)) return false;
    int depth = 0;
    for (int n = x;;) {
        // A node is entered once; ~n, met again above its arguments, puts it in order.
        if (n < 0) {
            w->order[w->count++] = ~n;
        } else if (w->mark[n] != w->now && (g->node[n].inputs & inputs)) {
            w->mark[n] = w->now;
            const carom_vertex *v = &g->node[n];
            if ((carom_vertex_leaf(v) || !recall(g, n, k)) && !enter(w, v, n, through, &depth)) return false;
        }
        if (depth == 0) return true;
        n = w->stack[--depth];
    }
}

bool carom_graph_walk(const carom_graph *g, carom_node x, uint64_t inputs, bool through) {
    return walk(g, x, inputs, through, -1);
}
bool carom_graph_walk_along(const carom_graph *g, carom_node x, uint64_t inputs, int k) {
    return walk(g, x, inputs, false, k);
}

bool carom_graph_depends(const carom_graph *g, carom_node x, carom_input kind, int index) {
    if (x < 0 || !(g->node[x].kinds & 1u << kind)) return false;
    if (index < 0) return true;
    const carom_node input = carom_graph_find(g, CAROM_OP_INPUT, (int)kind, index);
    if (input == CAROM_NONE || !(g->node[x].inputs & g->node[input].inputs)) return false;
    if (g->inputs <= 64) return true;
    // Several inputs share a bit: look.  Without memory to look, "perhaps" counts as yes.
    return !carom_graph_walk(g, x, g->node[input].inputs, true) || carom_walk_met(g, input);
}

static int by_index(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static bool add_way(int **list, int *n, int k) {
    if (!CAROM_GROW(*list, *n)) return false;
    (*list)[(*n)++] = k;
    return true;
}

// Append the velocities along which a leaf moves.
static bool add_course(const carom_graph *g, const carom_vertex *v, int **list, int *n) {
    const carom_courses *c = &g->course;
    const bool symbol = v->op == CAROM_OP_SYMBOL;
    const int course = symbol ? c->of_symbol[v->b] : v->b < c->npositions ? c->of_position[v->b] : 0;
    const int count = course ? c->start[course] - c->start[course - 1] : symbol ? 0 : 1;
    for (int i = 0; i < count; ++i)
        if (!add_way(list, n, course ? c->velocity[c->start[course - 1] + i] : v->b)) return false;
    return true;
}

int *carom_graph_ways(const carom_graph *g, carom_node x, carom_input kind, int *n) {
    *n = 0;
    if (x < 0 || !carom_graph_walk(g, x, UINT64_MAX, kind != CAROM_POSITION)) return NULL;
    const carom_walk *w = g->walk;
    int *list = NULL;
    bool good = CAROM_GROW(list, 0); // an empty list is one, too
    for (int i = 0; i < w->count && good; ++i) {
        const carom_vertex *v = &g->node[w->order[i]];
        const bool input = v->op == CAROM_OP_INPUT && v->a == (int)kind;
        if (!input && !(v->op == CAROM_OP_SYMBOL && kind == CAROM_POSITION)) continue;
        good = kind == CAROM_POSITION ? add_course(g, v, &list, n) : add_way(&list, n, v->b);
    }
    if (!good) return free(list), NULL;
    if (*n) qsort(list, (size_t)*n, sizeof *list, by_index);
    int kept = 0;
    for (int i = 0; i < *n; ++i)
        if (i == 0 || list[i] != list[i - 1]) list[kept++] = list[i];
    *n = kept;
    return list;
}

bool carom_graph_turns(const carom_graph *g, int position) {
    bool turns = false;
    for (int i = 0; i < g->count && !turns; ++i)
        turns = (g->node[i].op == CAROM_OP_SIN || g->node[i].op == CAROM_OP_COS) &&
                carom_graph_depends(g, g->node[i].a, CAROM_POSITION, position);
    return turns;
}
