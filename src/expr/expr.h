// expr.h: expressions: text -> graph -> derivatives -> tape.
//
// The graph is append-only and shares equal sub-expressions (hash consing), so a node is a number and
// equality of nodes is equality of numbers.  Parameters stay symbols.  The tape is a compiled,
// constant list of instructions; what it computes lives in a work block of the caller, so one tape serves
// many threads.  A graph belongs to one thread at a time.
#pragma once
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_graph carom_graph;
typedef int carom_node; // >= 0; CAROM_NONE on failure
enum { CAROM_NONE = -1 }; // no node

typedef enum carom_input { CAROM_TIME, CAROM_PARAMETER, CAROM_POSITION, CAROM_VELOCITY } carom_input;

typedef enum carom_op {
    // leaves
    CAROM_OP_NUMBER, CAROM_OP_INPUT, CAROM_OP_SYMBOL,
    // arithmetic
    CAROM_OP_ADD, CAROM_OP_SUB, CAROM_OP_MUL, CAROM_OP_DIV, CAROM_OP_POW, CAROM_OP_NEG,
    // comparisons give 1 or 0; IF(c, a, b)
    CAROM_OP_LT, CAROM_OP_LE, CAROM_OP_GT, CAROM_OP_GE, CAROM_OP_EQ, CAROM_OP_NE, CAROM_OP_IF,
    // functions
    CAROM_OP_SIN, CAROM_OP_COS, CAROM_OP_TAN, CAROM_OP_ASIN, CAROM_OP_ACOS, CAROM_OP_ATAN, CAROM_OP_ATAN2,
    CAROM_OP_SINH, CAROM_OP_COSH, CAROM_OP_TANH, CAROM_OP_EXP, CAROM_OP_LOG, CAROM_OP_SQRT,
    CAROM_OP_ABS, CAROM_OP_SIGN, CAROM_OP_MIN, CAROM_OP_MAX, CAROM_OP_HYPOT, CAROM_OP_FLOOR,
    // two numbers as one argument, and what takes three of these: see carom_graph_nearest()
    CAROM_OP_PAIR, CAROM_OP_LINE_1, CAROM_OP_LINE_2, CAROM_OP_RING_1, CAROM_OP_RING_2,
    // a curve through points, or a derivative of it: see carom_graph_curve()
    CAROM_OP_CURVE,
    CAROM_OP_COUNT
} carom_op;

carom_graph *carom_graph_create(void);   // NULL: no memory
void carom_graph_destroy(carom_graph *g);

carom_node carom_graph_number(carom_graph *g, double value);
carom_node carom_graph_input(carom_graph *g, carom_input kind, int index);
/// a op b (unused arguments CAROM_NONE).  Folds constants (never parameters), removes 0 + x, 1 x, 0 x, x^1, ..., sorts
/// products, takes common factors out of sums: true for real numbers, not bit for bit what was written.
carom_node carom_graph_apply(carom_graph *g, carom_op op, carom_node a, carom_node b, carom_node c);

/// The angle phi of the place (cos phi, sin phi) of a ring that is nearest to a line or (ring) to a ring of radius 1,
/// given by
///     N = p[0] - p[1] cos phi - p[2] sin phi, the square of its distance from a point of the line or from the centre
///     of the other ring, z = p[3] cos phi + p[4] sin phi - p[5], how far that is along the line or the other ring's
///     axis;
/// of two nearest places the one farther along the line, or left of the centre (which = 0), or the other (1).
carom_node carom_graph_nearest(carom_graph *g, bool ring, int which, const carom_node *p);

/// A curve through n >= 2 points with x ascending: straight pieces, or a spline: the cubic with continuous second
/// derivatives that is one polynomial on the first two and on the last two pieces.  Beyond its ends it keeps the last
/// value (held) or has none (NaN).  At a knot, derivatives are those from the right.  numbers: carom_curve_size(n) of
/// them are written.
size_t carom_curve_size(int n);
carom_status carom_curve_make(int n, const double *x, const double *y, bool spline, bool held, double *numbers);
/// Make a curve known to the graph, which then has a number; CAROM_NONE: no memory.  The numbers must outlive the
/// graph; tapes have their own.
int carom_graph_curve(carom_graph *g, const double *numbers);
carom_node carom_graph_curve_at(carom_graph *g, int which, carom_node x);
const double *carom_graph_curve_numbers(const carom_graph *g, int which);
/// The curves of another graph, under the same numbers, in one that has none of its own.
void carom_graph_share_curves(carom_graph *g, const carom_graph *from);

bool carom_graph_is_number(const carom_graph *g, carom_node x, double *value); // value may be NULL
/// Does x depend on input (kind, index)?  index < 0: on any input of that kind.
bool carom_graph_depends(const carom_graph *g, carom_node x, carom_input kind, int index);
/// Nodes at whose zeros x has kinks or jumps: arguments of abs and sign, differences of those of min, max and
/// comparisons, knots of curves where their slope jumps (curves with few of these).  Those that change with positions
/// or time, each once, to a list that the caller frees; -1: no memory.
int carom_graph_kinks(carom_graph *g, carom_node x, carom_node **list);
/// Functions of time alone, each with a few values, that change them where some of these n nodes have kinks or jumps
/// whatever the state is: signs of the functions above, and floors.  To a list that the caller frees; -1: no memory.
int carom_graph_switches(carom_graph *g, int n, const carom_node *x, carom_node **list);
/// Functions of time alone in these n nodes that may change much in a short time and little before and after:
/// exponentials, quotients and the like.  As above.
int carom_graph_pulses(carom_graph *g, int n, const carom_node *x, carom_node **list);
/// Do expressions that a model writes hold a function of positions or velocities that may rise and fall within a short
/// way: an exponential, a quotient, a power; or these n nodes one that jumps, or a curve?  Without memory: yes.
bool carom_graph_narrow(const carom_graph *g, int n, const carom_node *x);
/// |x| lies between these.
typedef struct carom_magnitude { double least, most; } carom_magnitude;
/// Of the first n nodes, wherever time and velocities are: positions up to `position`, the first `fixed` parameters as
/// given, others anywhere. Sums, products, quotients, sines and cosines; of the rest nothing is known.
void carom_graph_magnitudes(const carom_graph *g, const double *parameter, int fixed, double position,
                            carom_magnitude *x, int n);
bool carom_graph_failed(const carom_graph *g); // out of memory or beyond the node limit, sticky
int carom_graph_count(const carom_graph *g);   // of nodes

/// A node with the value of x that derivatives along velocities treat as opaque: they use its declared motion.
/// Rotation matrices are such symbols: D R = R skew(e) is shorter than any polynomial of a quaternion.
carom_node carom_graph_symbol(carom_graph *g, carom_node x);
/// Declare how a leaf (a position or a symbol) moves: leaf' = sum c[i] v_{k[i]}, i < n.  At most once, and before the
/// leaf is differentiated.  A position without a declared motion moves with the velocity of its own index; a symbol
/// does not move.
void carom_graph_course(carom_graph *g, carom_node leaf, int n, const int *k, const carom_node *c);
/// Derivative of x along velocity k: by all positions and symbols that move with it.
carom_node carom_graph_along(carom_graph *g, carom_node x, int k);
/// May x change along velocity k?
bool carom_graph_moves(const carom_graph *g, carom_node x, int k);

/// d x / d input, exact (symbols are looked into).  |x|, min, max, sign, floor, if and comparisons are differentiated
/// branch by branch.
carom_node carom_graph_diff(carom_graph *g, carom_node x, carom_input kind, int index);
/// Total time derivative: dx/dt + sum_k D_k x v_k, D_k along velocity k < n (x must not depend on velocities).
carom_node carom_graph_rate(carom_graph *g, carom_node x, int n);
/// First variation of x (n velocities): time changes by the input velocity 3n, positions along velocity k by velocity n
/// + k, velocity k by velocity 2n + k, parameter i by velocity 3n + 1 + i.
carom_node carom_graph_change(carom_graph *g, carom_node x, int n);
/// x with input (kind, index) replaced by node y; symbols stay.
carom_node carom_graph_substitute(carom_graph *g, carom_node x, carom_input kind, int index, carom_node y);
/// x with all velocities 0.
carom_node carom_graph_at_rest(carom_graph *g, carom_node x);

/// Lagrange's equations of the kinetic energy T(t, q, v), quadratic in the n velocities: M = d2T/dv2 (n x n, by rows)
/// and the forces of inertia h = dT/dq - (dp/dq) v - dp/dt with p = dT/dv, so that M v' = h + other forces.  Of several
/// ways to write h the one with the fewest operations is taken.  CAROM_BAD_INPUT: T is not quadratic.
carom_status carom_graph_lagrange(carom_graph *g, carom_node T, int n, carom_node *M, carom_node *h, carom_error *err);

/// Callback of the parser to resolve names.  Returns the node of `name` (length bytes) followed by
/// `primes` primes, or CAROM_NONE with a sentence in err->text.
typedef carom_node carom_lookup(void *user, carom_graph *g, const char *name, size_t length, int primes,
                                carom_error *err);
/// How the parser asks about a call it does not know (min and max with one argument, in checks).
/// NULL: such a call is an error.
typedef carom_node carom_call(void *user, carom_graph *g, const char *name, size_t length, int nargs,
                              const carom_node *args, carom_error *err);

typedef struct carom_scope {
    carom_lookup *lookup;
    carom_call *call;
    void *user;
} carom_scope;

/// Parse text[0..length).  On failure CAROM_NONE, *offset is the byte where it went wrong and err->text the sentence
/// (without file, line and column: those are the caller's).  Names: letters, digits, _ and dots inside.
carom_node carom_parse(carom_graph *g, const char *text, size_t length, const carom_scope *scope, size_t *offset,
                       carom_error *err);
/// Is this the name of a function, `if` or `pi`, and so not free for anything else?
bool carom_parse_reserved(const char *name, size_t length);

// -- tape --------------------------------------------------------------------------------------------
// Outputs are asked for in groups (at most 32).  All groups share one list of instructions: each
// instruction is computed at most once per point (t, q, v), and only when a group that needs it is asked
// for.  The work block remembers the point; what depends on t and q alone stays valid when only v changes,
// and what depends on parameters alone is computed once.

typedef struct carom_tape carom_tape;

enum { CAROM_LISTS = 5 }; // forces, mass, gaps, directions, rates

typedef struct carom_group {
    int count;
    const carom_node *nodes;
    int after; // 1 + the group that is usually asked for before it at the same point: then it is faster; 0: none
    int list[CAROM_LISTS]; // its nodes as lists: how many there are in each; all 0: it is not asked for in that way.
                           // Three for carom_tape_fill(); one with more has
                           // them written by compiled code alone, which leaves the point that the work block remembers
                           // as it is
} carom_group;

carom_tape *carom_tape_compile(const carom_graph *g, const carom_group *groups, int ngroups,
                               int nq, int nv, int nparameters, carom_error *err);
void carom_tape_destroy(carom_tape *tape);
size_t carom_tape_work_size(const carom_tape *tape);                       // bytes, aligned as for double
void carom_tape_work_init(const carom_tape *tape, void *work, const double *parameters);
/// Other parameters from now on; nothing happens when they are those it has.
void carom_tape_work_parameters(const carom_tape *tape, void *work, const double *parameters);
/// out[i] = value of node i of the group at (t, q, v).  No allocation.  q, v may be NULL when n is 0, and v also when
/// no node of the group depends on velocities.
void carom_tape_eval(const carom_tape *tape, void *work, int group, double t, const double *q, const double *v,
                     double *out);
/// The same without copying: node i has the value slot[place[i]], until the next evaluation.
typedef struct carom_values { const double *slot; const int *place; } carom_values;
carom_values carom_tape_values(const carom_tape *tape, void *work, int group, double t, const double *q,
                               const double *v);
/// The lists of a group, each to its own place.  False: a value is not finite.
bool carom_tape_fill(const carom_tape *tape, void *work, int group, double t, const double *q, const double *v,
                     double *const to[3]);
/// to[i] = value of node first + i; false: one of these n is not finite.
static inline bool carom_values_take(carom_values x, int first, int n, double *to) {
    int good = 1; // no chain of additions: the tests run side by side
    for (int i = 0; i < n; ++i) {
        const double y = x.slot[x.place[first + i]];
        to[i] = y;
        good &= y - y == 0;
    }
    return good;
}
/// The point that a group was evaluated at last: time, positions, velocities.
const double *carom_tape_point(const carom_tape *tape, void *work);
/// What is piecewise (comparisons, abs, sign, min, max, floor) held on the piece where it was: hold() keeps the pieces
/// of the point of the last evaluations in `work`, for all groups; eval_held() then answers for any point as if these
/// pieces went on for ever. held: carom_tape_held_size() bytes. Does anything in it have pieces that it can be held on?
/// Without, held values are what the others are.
bool carom_tape_piecewise(const carom_tape *tape);
size_t carom_tape_held_size(const carom_tape *tape);
void carom_tape_hold(const carom_tape *tape, const void *work, void *held);
void carom_tape_eval_held(const carom_tape *tape, void *held, int group, double t, const double *q, const double *v,
                          double *out);
/// What a value may be on a piece of a motion: between low and high, and not farther than off from the line mid + s
/// slope, s from -1 to 1 along the piece.  jumps: it may jump there.  Of what is in a box, not on a way, the slope is
/// 0.
// lined: the line is known
typedef struct carom_range { double low, high, mid, slope, off; bool jumps, lined; } carom_range;
carom_range carom_range_along(double from, double to, double off);
/// The part of a tape that n of its slots need; free() it.  NULL: no memory.
typedef struct carom_tape_part carom_tape_part;
carom_tape_part *carom_tape_part_create(const carom_tape *tape, const int *place, int n);
/// Slots of the inputs that it needs, by number: 0 is time, positions and velocities follow.
int carom_tape_part_inputs(const carom_tape_part *part, const int **slot);
/// Bounds of all that a part computes, up to rounding: x holds carom_tape_range_size() of them; those of its inputs are
/// given, parameters are those of `work`.  Those of node i of a group are then at x[carom_tape_places(tape, group)[i]].
/// No allocation.
int carom_tape_range_size(const carom_tape *tape);
const int *carom_tape_places(const carom_tape *tape, int group);
void carom_tape_range(const carom_tape *tape, const carom_tape_part *part, const void *work, carom_range *x);
int carom_tape_instructions(const carom_tape *tape, int group); // what evaluating a group costs; group < 0: all groups

// -- compiled tapes ------------------------------------------------------------------------------------
// A tape can be written as C text, compiled elsewhere and attached: the same operations in the same order, so the same
// bits, without the interpreter.  carom/compile.h does all of it for a model.

enum { CAROM_NATIVE_VERSION = 4 }; // of the layout below: compiled code of another one is not loaded

/// Callback of compiled code: nearest point of a ring, see carom_graph_nearest().
typedef double carom_native_nearest(bool ring, int which, const double *p);

typedef void carom_native_piece(double *slot, carom_native_nearest *nearest);
/// A group at a new point: what it needs, into slots; its lists, to their places.  Nonzero: a value may not be finite.
typedef int carom_native_lists(double *slot, carom_native_nearest *nearest, double t, const double *q, const double *v,
                               double *const *to);
/// The same of a group whose lists are f, all of M by columns, and g: a = M^-1 f by LDL', and g; slots stay as they
/// are.  Nonzero: a value may not be finite, or a pivot vanishes.
typedef int carom_native_free(const double *slot, carom_native_nearest *nearest, double t, const double *q,
                              const double *v, double *a, double *g);

/// The compiled form of one tape.  Pieces that are NULL are interpreted.
typedef struct carom_native {
    int version;                        // CAROM_NATIVE_VERSION
    int nsegments, ngroups, nslots;     // of the tape it was written for
    unsigned long long fingerprint;     // carom_tape_fingerprint() of it
    carom_native_piece *const *segment; // nsegments
    carom_native_piece *const *plan;    // 2 ngroups: all segments of a group as one; the rest of it
    carom_native_lists *const *lists;   // ngroups
    carom_native_lists *const *once;    // ngroups: of groups with more than three lists; slots stay as they are
    carom_native_free *const *free;     // ngroups
} carom_native;

/// Definitions that every C file with tapes begins with.
void carom_native_write_head(carom_write_text *write, void *user);
/// The tape as C: static functions, and `static const carom_native NAME`.  No allocation beyond its own scratch.
/// CAROM_NO_MEMORY: scratch was not to be had.
carom_status carom_native_write(const carom_tape *tape, const char *name, carom_write_text *write, void *user);
/// The statements of a C function that computes one group into out[], with names for the inputs: everything it needs is
/// in it. It may call two functions beside it: opaque(x), which gives x and keeps the compiler from knowing it
/// (exponents of pow), and nearest(ring, which, p).
enum { CAROM_SLOT_NAME = 128 };
typedef void carom_slot_name(void *user, carom_input kind, int index, char text[CAROM_SLOT_NAME]);
carom_status carom_tape_write_group(const carom_tape *tape, int group, carom_slot_name *slot_name,
                                    carom_write_text *write, void *user);
unsigned long long carom_tape_fingerprint(const carom_tape *tape);
/// Evaluate with compiled code from now on; NULL: interpret again.  False: it was written for another tape, nothing
/// changes.  Not while another thread evaluates.  The code must outlive the tape or be detached.
bool carom_tape_attach(carom_tape *tape, const carom_native *native);
const carom_native *carom_tape_native(const carom_tape *tape); // what is attached; NULL: nothing

#ifdef __cplusplus
}
#endif
