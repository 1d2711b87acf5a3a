// graph.h: the inside of the expression graph, shared by the files of this layer.
//
//   (1) a node's arguments have smaller numbers than the node: index order is a topological order;
//   (2) two nodes are never equal in (op, arguments), so equality of nodes is equality of numbers;
//   (3) nodes are never changed nor removed.
// A graph belongs to one thread at a time, also when it is only asked: walks use marks kept in it.
#pragma once
#include "expr/expr.h"
#include <stdint.h>

typedef struct carom_vertex {
    uint8_t op;    // carom_op
    uint8_t kinds; // bit k: depends on some input of kind k
    bool written;  // in the text of a model, or a part of what it became
    int c;         // third argument
    union {
        struct { int a, b; }; // arguments, CAROM_NONE when unused; an input's kind and index; a symbol's meaning and
                              // number
        double value;         // of a number
    };
    uint64_t inputs; // bit i mod 64: may depend on the i-th input that was made (exact up to 64 inputs)
} carom_vertex;

// Memory of a walk.
typedef struct carom_walk {
    int *order;        // nodes met, arguments first
    int *stack;
    int *memo;         // one result per node, of whoever walks
    unsigned *mark;    // == now: met in this walk
    unsigned now;
    int count;         // of order
    int nodes, room;   // sizes of order, memo, mark; of stack
} carom_walk;

// How leaves move along velocities; see carom_graph_course().
typedef struct carom_courses {
    int *of_position, npositions; // course of a position + 1, 0: the velocity of its own index
    int *of_symbol, nsymbols;     // the same for symbols, 0: none
    int *start, count;            // course c is the terms start[c] .. start[c + 1] - 1
    int *velocity, terms;
    carom_node *factor;
    uint64_t *reach;              // per velocity: inputs that move with it by a course
    int nreach;
} carom_courses;

// Derivatives of nodes along velocities that were computed before: gradients of one pair of shapes share most of their
// parts. A later one overwrites an earlier one that has its place.
typedef struct carom_known { int node, k, d; } carom_known; // node + 1; 0: empty

struct carom_graph {
    carom_vertex *node;
    int count;
    int inputs;  // made so far
    int *table;  // open hashing: node or CAROM_NONE
    int mask;    // table size - 1
    int depth;   // of rules calling rules in a sum, see apply.c
    bool failed;
    int first_kept, kept; // velocities that are no rates of positions: carom_graph_at_rest() leaves them
    bool sided;  // the slope of |x| at 0 is that of one side, 1, and not 0 between both: for motions that turn back,
                 // which have the one or the other speed
    carom_walk *walk;
    carom_courses course;
    const double **curve; // numbers of curves, see curve.h
    int curves;
    carom_known *known; // NULL: none yet
    int known_mask;     // places - 1
    int known_count;    // written since they were all empty
};

// How dear a node is: what it depends on decides how often it is computed.
enum { CAROM_CLASS_NUMBER, CAROM_CLASS_PARAMETER, CAROM_CLASS_POSITION, CAROM_CLASS_VELOCITY, CAROM_CLASS_COUNT };

static inline int carom_vertex_class(const carom_vertex *x) {
    if (x->kinds & 1u << CAROM_VELOCITY) return CAROM_CLASS_VELOCITY;
    if (x->kinds & (1u << CAROM_POSITION | 1u << CAROM_TIME)) return CAROM_CLASS_POSITION;
    return x->kinds ? CAROM_CLASS_PARAMETER : CAROM_CLASS_NUMBER;
}

static inline bool carom_vertex_leaf(const carom_vertex *x) {
    return x->op == CAROM_OP_NUMBER || x->op == CAROM_OP_INPUT;
}

/// What a node stands for: itself, or what a symbol means.
static inline carom_node carom_graph_meaning(const carom_graph *g, carom_node x) {
    while (g->node[x].op == CAROM_OP_SYMBOL) x = g->node[x].a;
    return x;
}

/// Is it a + b or a - b?
static inline bool carom_graph_sum(const carom_graph *g, carom_node x) {
    return g->node[x].op == CAROM_OP_ADD || g->node[x].op == CAROM_OP_SUB;
}

/// Mark a node as written in a model, with its arguments: algebra may have made the node of another kind.
static inline void carom_graph_write(carom_graph *g, carom_node n) {
    carom_vertex *x = g->node + n;
    x->written = true;
    if (carom_vertex_leaf(x)) return;
    if (x->op != CAROM_OP_SYMBOL && x->a >= 0) g->node[x->a].written = true;
    if (x->op != CAROM_OP_SYMBOL && x->b >= 0) g->node[x->b].written = true;
}

/// The node (op, a, b, c) as it is, made if need be.  No algebra.
carom_node carom_graph_intern(carom_graph *g, carom_op op, carom_node a, carom_node b, carom_node c);
/// The node (op, a, b), or CAROM_NONE when it was never made.
carom_node carom_graph_find(const carom_graph *g, carom_op op, carom_node a, carom_node b);
/// Inputs that x may depend on, and those that move with velocity k, as sets of 64 places that many share: what has no
/// place in common does not depend.
static inline uint64_t carom_graph_inputs(const carom_graph *g, carom_node x) { return x < 0 ? 0 : g->node[x].inputs; }
uint64_t carom_graph_reach(const carom_graph *g, int k);
carom_node carom_graph_fail(carom_graph *g); // sets failed, returns CAROM_NONE

/// Collect in g->walk->order the nodes below and including x that may depend on an input of the set `inputs`,
/// arguments first, and mark them.  `through`: also what stands behind symbols.  False: no memory.
bool carom_graph_walk(const carom_graph *g, carom_node x, uint64_t inputs, bool through);
/// The same through nodes whose derivative along velocity k is not known; where it is, it is in memo.
bool carom_graph_walk_along(const carom_graph *g, carom_node x, uint64_t inputs, int k);
void carom_graph_know(carom_graph *g, carom_node x, int k, carom_node d);
static inline bool carom_walk_met(const carom_graph *g, carom_node x) {
    return x < g->walk->nodes && g->walk->mark[x] == g->walk->now;
}

/// Indices k, ascending, of the inputs (CAROM_VELOCITY) or velocities (CAROM_POSITION: x may move along k) that x
/// depends on; NULL: no memory.  The caller frees.
int *carom_graph_ways(const carom_graph *g, carom_node x, carom_input kind, int *n);

/// Derivative of x along t' = 1, leaves on their courses, v' = 0, in one pass.
carom_node carom_graph_motion(carom_graph *g, carom_node x);

/// Of the first n nodes at time 0 and these positions: the value, and the size of the largest part that was added to
/// others on the way to it, by which the value is rounded. NaN where it is made of curves, of velocities, or of
/// parameters beyond the first np.
typedef struct carom_sized { double value, size; } carom_sized;
void carom_graph_sizes(const carom_graph *g, const double *parameter, int np, const double *position, carom_sized *x,
                       int n);

/// Is there a sine or cosine of something that depends on this position?
bool carom_graph_turns(const carom_graph *g, int position);

/// Number of arguments of an operation, 0 for leaves and symbols.
int carom_op_arity(carom_op op);
