// model.h (private): what a model holds, and what it answers.
//
//   names.c  its names  answers.c  names, counts, outputs, for records and messages
//   system.c    the functions schemes call                           storage.c   in what storage the matrices are
//   visible.c   which unknowns of members expressions see            signals.c   inputs and controllers at work
//   checks.c    names of the ledger, checks, what is observed        terms.c     sparse lists of expressions
//   move.c  moving along velocities  assemble.c  joints closed at the start; settle.c: overlaps opened
//   free.c      bodies that no expression knows                      pairs.h     shapes, and contacts of pairs of them
//
// derive/ fills it; what is here needs no mechanism and derives nothing.
#pragma once
#include "mech/datum.h"
#include "expr/expr.h"
#include "mech/pool.h"
#include "model/names.h"
#include "system/system.h"
#include <carom/flex.h>
#include <carom/model.h>
#include <stdarg.h>

/// A sparse list of expressions with up to three subscripts.
typedef struct terms {
    carom_node *node;
    int *i, *j, *l;
    int n;
} terms;

enum { // groups of the tape
    GROUP_MASS,
    GROUP_FORCE,
    GROUP_GAPS,
    GROUP_DIRECTIONS,
    GROUP_RATES,
    GROUP_CURVATURE,
    GROUP_TANGENT,
    GROUP_MASS_GRADIENT,
    GROUP_REACTION_GRADIENT,
    GROUP_RATE_GRADIENT,
    GROUP_ENERGY,
    GROUP_POWER,
    GROUP_ALONG,       // power in parts: what does not depend on the velocity along which it is asked, of both; then
                       // factors of velocities
    GROUP_OBSERVE,     // power, then gaps
    GROUP_MOTION,      // forces, then M
    GROUP_MOTION_GAPS, // the same, then gaps
    GROUP_MOTION_DIRECTIONS, // the same, then W, all of it by columns, then w: of small models whose expressions are
                             // all there is; else empty
    GROUP_ROW,         // energies, rates, outputs: what a row of a record asks for
    GROUP_OUTPUTS,
    GROUP_EXACT,
    GROUP_WATCH,
    GROUP_FRAMES, // nine of every joint, for records
    GROUP_ELEMENTS, // powers of springs, motors and loads, then their energies
    GROUP_BOUNDS, // of the gaps of every pair of shapes
    GROUP_BOUND_RATES, // how fast they change
    GROUP_ASKED, // arguments of tables
    GROUP_CONTROL, // outputs and next states of controllers
    GROUP_KINKS, // functions at whose zeros forces have kinks
    GROUP_DRIVEN, // where bodies are that move with time or with others, among outlines: centres, then frames by rows
    GROUP_BELTS, // surface velocities of shapes whose pairs come and go, and how fast they change
    GROUP_COUNT
};


/// A constraint (one direction) or a contact (normal and tangents), as written.
typedef struct constraint {
    const char *name;
    const carom_datum *place; // of its gap
    carom_node gap;
    int condition;      // under which it is there, from 1; 0: always
    bool on_rates;      // it has none, and its gap is 0: slip[0] stays 0, linear in the rates
    int tangents;
    bool rate[CAROM_TANGENTS];       // tangent given as slip rate
    carom_node slip[CAROM_TANGENTS]; // slip or slip rate
    int dir, ndir;      // first local direction, and how many take part in contact problems
    int joint, part;    // of a joint: which, and its row, from 1; part 0: no joint
    bool redundant;     // at the start: follows from those before it
    int parts;          // of the first of several contacts of one gap: how many; else 0
} constraint;

/// Where the constraints from some id on start in lists over all of them.
typedef struct span { int links, dir, W, w, dW, dw; } span;

typedef enum space { EITHER, PLANAR, SPATIAL } space; // the ground is what its partners are

/// A rigid body; v < 0: the ground, or one that moves as expressions of time say.
typedef struct body {
    const char *name;
    const carom_datum *place; // of its name
    const carom_datum *material; // of its shapes; NULL: none
    const char *kind;  // "body", "point" or "member", for messages
    space space;
    int v, orientation; // first velocity; the angle (planar) or first component of the quaternion (spatial)
    double mass, J[9];
    carom_node mass_node, J_node[6]; // the same for expressions: xx, yy, zz, xy, xz, yz
    carom_node r[3], R[9], angle; // centre of mass, body frame to world, angle (planar and moved)
    double centre[3];  // of mass where its shapes are written, when it has a density
    double axis[3];    // of that angle, when it is moved in space
    double r0[3], *R0;            // at the start; of a free one until the model is made
    bool floating;                // the frame of a floating member, whose energies are elsewhere
    bool carried;                 // a point of one: v < 0, but it moves with coordinates
    int driven;                   // its place in GROUP_DRIVEN, from 1; 0: none
    bool free;                    // no expression knows it: free.c
    int condition;                // under which it is there, from 1; 0: always
    struct body_start { double v[6], orientation[4]; } *start; // of a free one, until it has a place: velocities;
                                                               // angle or quaternion
    double angle0;                // carried and planar: at the start
    struct body_point { const char *name; double s[3]; } *points;
    int npoints;
} body;

/// Names of positions and velocities of free bodies, made when one is asked for: answers.c.
typedef struct free_names {
    _Atomic(char *) text; // `stride` bytes for each position, then for each velocity
    size_t stride;
} free_names;

/// "vx", ... "angle" of a planar (0) or spatial (1) body, velocities first; NULL behind the last.
extern const char *const carom_body_columns[2][14];

/// A joint: its frame in both bodies, its coordinates, its constraints.
typedef struct joint {
    const char *name;
    const carom_datum *place;
    int type;
    bool spatial, moving;      // moving: against a body that turns with time
    const body *A, *B;
    double s_A[3], s_B[3], X_A[9], X_B[9]; // points and axes (columns) in the frames of the bodies
    double way0[3], shift0, angle0;        // at the start: second point less first, in the frame of A; joint
                                           // coordinates
    carom_node angle, shift;   // CAROM_NONE: none, or not wanted yet
    carom_node play;           // of a gear: what its constraint keeps at 0
    bool shifts;               // of a gear: that is a length
    bool recorded;             // its coordinates are columns
    double lead;               // of a screw: way per radian
    int at;                    // spatial: position that holds the angle, -1: none
    int nrows, turned;         // constraints; the first `turned` are world components
    carom_node frame[9];       // turned > 0: x, y, z of the joint's frame in the world
    int first;                 // id of its first constraint
} joint;

/// What the books need of a spring, motor or load.
typedef struct element_book {
    const char *name, *kind;
    carom_node energy, power; // stored; given to the mechanism
} element_book;

/// A spring or rope between two points, as far as it is seen.
typedef struct strut {
    const char *name;
    const carom_datum *place;
    const body *A, *B;
    double s_A[3], s_B[3];
    bool rope; // else a spring
    struct strut *next;
} strut;

typedef struct check {
    const char *text;
    carom_op op;
    carom_node left, right;
} check;

/// A flexible member and its place among positions and velocities.
typedef struct member {
    const char *name;
    const carom_datum *at; // its name in the mechanism
    carom_member_kind kind;
    carom_member *flex;
    double length;
    int nodes, components;
    int q, v, count;    // first position and velocity; unknowns
    char *unknown_name; // count names of `stride` bytes, then the same with a prime
    size_t stride;
    bool unknowns;      // results have a column for each
    unsigned fields;    // 1 << carom_field: recorded
    int *visible;          // count: 1 + number among the unknowns that expressions see, 0: not seen
    const char **point; // npoint: named points, and their arc lengths
    double *place;
    int npoint;
} member;

/// Unknowns of members that expressions see.  A member may have a million; the graph and its derivatives know the few
/// that gaps, forces and outputs speak of.  The graph numbers positions from 0: first those of coordinates and bodies
/// (nq_own), then, in models with members, one that stands for the members' energies (position: potential, rate:
/// kinetic), then unknowns of members as they are first named; velocities alike.
typedef struct visible {
    int nq, nv;      // positions and velocities of the graph
    int nq_own, nv_own;
    int n;           // unknowns of members
    int compiled;    // of them, those that the tape knows; `draw` comes later and may see more
    int *q, *v;      // n: which position and velocity of the model each is
} visible;

/// A column of a contact of finite stiffness.
typedef struct soft_column {
    const char *contact, *name;
    carom_node node;
} soft_column;

/// A contact of finite stiffness, and which of the kinks is its gap.
typedef struct compliant_contact {
    const char *name;
    int kink;
} compliant_contact;

/// A number that the mechanism gives as an expression of parameters and that stands in one place of the model, where it
/// can be replaced.
typedef enum bound_kind {
    BOUND_POSITION, BOUND_RATE,                           // index: of the position, velocity
    BOUND_RESTITUTION, BOUND_TANGENTIAL, BOUND_FRICTION,  // of the contact
    BOUND_LISTED_RESTITUTION, BOUND_LISTED_TANGENTIAL, BOUND_LISTED_FRICTION, // of the kind of pairs of a list
    BOUND_STIFFNESS, BOUND_DAMPING, BOUND_STICTION,       // of a kind that yields; the last: its stiction speed
    BOUND_PLACE, BOUND_SPEED, BOUND_INERTIA,              // component, + 6 of the body: position; velocities; xx, yy,
                                                          // zz, xy, xz, yz
    BOUND_ANGLE, BOUND_MASS,                              // of the body; a planar one's angle
    BOUND_GRAVITY,                                        // component
    BOUND_NUMBER, BOUND_COEFFICIENT,                      // stand in expressions only; the second must not be negative
    BOUND_STEP, BOUND_END,
    BOUND_INPUT // signal
} bound_kind;
typedef struct bound {
    const carom_datum *from;
    bound_kind kind;
    int index;
    double value; // as it is now
} bound;

/// Where the signals of a controller are, among all signals; its expressions among those of all: outputs, then next
/// states.
typedef struct control { int state, nstates, output, noutputs, pending, first; } control;

/// carom_model_create(), whose messages name another setting for the observed expressions: `of` (derive/model.c).
carom_model *carom_model_observing(const carom_model_def *def, const char *observing, carom_error *err);
/// The model of a copy of the mechanism; see `apart` and `written` (derive/model.c).
carom_model *carom_model_apart(const carom_mech *mech, const char *const *observe, bool apart, bool pairs,
                               const char *observing, carom_error *err);

struct carom_model {
    pool memory;
    bool written;     // pairs of shapes are always there (carom_model_def.pairs)
    bool apart;       // pairs of shapes do not share tapes: all expressions are in its graph
    carom_mech *mech; // what it is made of
    bool units;       // it gives units somewhere
    const carom_mech *whole; // the same without families
    struct body_run *runs;   // those of its bodies that share a record
    int nruns;
    const char **observe;    // what was asked for beside it, NULL-terminated
    const char *observing;   // the setting that asked, for messages: `observe`
    const char *file, *name;
    carom_graph *graph;
    names names, outs; // outs: quantities and outputs, seen by outputs and checks only

    int np_own; // parameters
    int np, nq, nv, ne, nc, nlet, nout, nchecks, nwatch, ndir;
    member *members;
    int nmember;
    bool *matrix_used; // of those of the mechanism
    visible visible;
    bool member_energies; // outputs or checks ask for them
    int nkin;             // velocities of the graph when the kinetic energy had been read
    double *parameter;    // np: parameters, then signals as they start: inputs, states and outputs of controllers
    int *parameter_name;  // np: index in names
    bool *fixed;          // np: its value went into the structure
    bool scaled;          // numbers on which no motion depends went there, too: another value needs another structure,
                          // but derivatives do not see it
    struct {
        int n, nset;            // signals; of them inputs that are set from outside
        carom_sampler *sampler; // of controllers
        control *control;
        int ncontrols;
        carom_node *node;       // what controllers compute, in order
        int nnodes;
    } signal;
    bound *bound;         // what else depends on parameters and is no expression of the graph
    int nbound;
    double *lever;        // nv + nq: see carom_system
    bool followed;        // where it starts does not matter (carom_model_follow)
    double *start;        // nq + nv: initial state as given, before it is assembled; NULL: there are no parameters
    int first_coordinate; // of section coordinates, index in names
    int *coordinate_name; // nq
    int *velocity_of;     // nq: the velocity that is this position's rate, -1: none
    const char **velocity; // nv: their columns in results
    bool *given;          // nv: given, not to be completed
    double *q0, *v0;
    const carom_datum *energy; // the kinetic energy, for messages
    carom_node kinetic, potential;           // all of it
    carom_node power[2];                     // of external forces; that damping takes
    carom_node driven;                       // of surfaces that move by themselves under yielding contacts: external,
                                             // and taken by damping
    carom_node carried;                      // driven = carried + sum drag_k v_k
    terms drag;
    int *along, nalong;                      // velocities on which forces without potential act; NULL: these are linear
                                             // in velocities
    struct {
        carom_node own_kinetic;                  // as written in `energy`
        carom_node body_kinetic, body_potential; // of `bodies` and `springs`
        carom_node floating_kinetic, floating_potential;
    } energy_of;
    double gravity[3];
    carom_node gravity_node[3];
    int nfree, *free_body; // bodies that no expression knows: which they are, in the order of their columns
    free_names *free_names;
    body *bodies; // the ground first, those of the section, then frames and points of floating members
    int nbodies;
    struct floating *floating; // floating.c
    int nfloating;
    joint *joints;
    int njoints;
    strut *struts; // the last one first
    element_book *elements; // springs, motors, loads, in this order
    int nelements;
    constraint *rows; // of joints, until they become links
    int nrows;
    int nrates;              // of the constraints the last ones: on rates
    struct {
        struct condition *list; // n, see conditions.h
        struct carom_conditional *system; // NULL: there are none
        int n, room, first;     // the first one among what controllers compute
    } condition;
    bool assemble;
    double moved, completed; // largest violation before assembling; largest velocity that completion has added
    int nredundant;
    const char *redundant; // their names
    struct shape *shapes;
    int nshapes;
    struct carom_mesh *meshes; // of files that shapes name, by matrix; nt = 0: not read
    int nmeshes;
    struct kept_points *kept;  // of their hulls and solids
    struct kept_outline *outlines; // as they are written
    struct pair *pairs; // their contacts are the last ones
    int npairs, pair_room, lone_pairs; // lone: with a tape of their own
    const char **idle_entry; // names of rigid entries that happen to have no pair
    int nidle;
    bool *unrecorded_q, *unrecorded_v; // of bodies without columns; NULL: all have them
    bool project;            // `start: project`
    bool settle;             // bodies that overlap at the start are moved apart
    char settled[300];       // what that did; "": nothing
    double snapshots;        // time between snapshots of contacts; 0: none
    double sleep;            // speed below which bodies fall asleep; 0: never
    struct near_pairs *near; // those that come and go; NULL: none
    names shape_names;
    struct pair_kind *kinds; // of those that share tapes
    int nkinds;
    int *pair_of;       // of contacts from that of the first pair on
    carom_node *force;  // of coordinates and bodies: forces without potential, by velocity; CAROM_NONE: none
    terms point_force;  // the same on points of members: i velocity of the graph
    terms as_written;   // forces, and potentials (i 1), of the author: what jumps there is an event
    constraint *links; // ne + nc, by id
    carom_contact *contacts;
    struct {
        int first, n;         // velocities that are first-order states
        double *scale, *mass; // of each (STA-1)
        carom_node *rate;
    } state;
    int first_pressed, npressed; // contacts that are friction alone: each has a coordinate, after those of the section
    struct {
        carom_node *node; // CAROM_FRICTION_LAW nodes of every contact whose friction varies
        int *of, n;       // nc: which of them it is
        carom_tape *tape; // NULL: none varies
        int *reacting, nreacting; // constraints whose (first) reactions it uses: inputs np, np + 1, ... of its tape
    } friction;
    soft_column *soft; // soft.c
    int nsoft;
    compliant_contact *compliant;
    int ncompliant;
    struct asked { int table; carom_node at; } *asked; // arguments of tables in expressions of the state
    int nasked;
    carom_node *kink;  // functions at whose zeros forces or gaps have kinks
    int *kink_of, nkinks; // contact whose gap it is; -1: forces; CAROM_JUMPS: friction; CAROM_CLOSES_WHILE: of what
                          // lets it close
    struct {
        int *of, n;       // nc: which of them is its restitution, where that varies
        carom_node *node; // functions of the approach speed, which is the time of their tape
        carom_tape *tape; // NULL: none varies
    } bounce;
    const char **output; // nout
    carom_node *output_node;
    carom_node *exact; // nq, or NULL
    check *checks;
    carom_node *watch; // nwatch
    carom_node *observed; // nobserved
    int nobserved;
    const char *scheme, *scheme_place;
    const char **options, **option_places;
    double step, end;
    struct drawn *drawn; // what `draw` says, draw.h

    // Made by derive.c.
    carom_node *f;             // forces by velocity of the graph
    terms mass;                // M_ij, i >= j
    bool only_expressions;     // they are all there is: no members, free bodies or pairs of shapes, and whole_mass
    bool whole_mass;           // GROUP_MOTION has all of M as it is stored, not the terms
    terms W;                   // W_ik by column: i row, j direction
    carom_node *u;             // W'v + w of every direction
    terms w;                   // w_k that are not zero: i direction
    terms K, C;                // -df_i/dq_j, -df_i/dv_j
    terms dM;                  // dM_ij/dq_l, i >= j
    terms dW;                  // dW_ik/dq_l by column: i row, j direction, l
    terms dw;                  // dw_k/dq_l by column: i direction, j = l
    struct {
        int *W, *dW, *dw;  // ndir + 1: where each column starts
        int *w;            // ndir: index in w, -1: zero
        int *D, *D_row;    // pattern of d(W_k'v + w_k)/dq, by column
    } place;
    span own;                  // where pairs of shapes start, which have tapes of their own
    carom_tape *tape, *check_tape;
    struct {
        carom_tape *tape;         // switches: functions of time that change where expressions jump or have a kink;
                                  // pulses: functions of time that may have some; NULL: there are none
        carom_tape_part *part[2]; // of each
        int nswitches, npulses;
        carom_node *node;         // nswitches
    } times;
    int check_parameters; // np, then the ledger, then WATCH_COUNT of every watched expression
    carom_system sys;
    carom_extensions *extensions; // of sys, from memory
    carom_pattern *mass_pattern, *tangent_pattern; // of sparse matrices; NULL: none
    void *owned;                  // what it needs while it lives: compiled code
    void (*release)(void *owned); // NULL: nothing
    // where its parts are in the work block
    struct {
        size_t check, scratch, visible, narrow, bounce, friction, given, bounds, times, times_ranges, times_known;
        size_t off; // condition.n bools
    } at;
    carom_tape_part *bounds_part; // what bounds are made of: gaps that are written and their rates; NULL: none are
    carom_tape_part *force_part;  // the same of forces that may have narrow features; NULL: none may
    int scratch_count, pair_count; // of scratch: largest group; largest group of a pair
};

// system.c, storage.c: what schemes call, and in what storage the matrices are
carom_status carom_model_system_make(carom_model *m, carom_error *err);
/// bounds.c: size of a work block with room for bounds behind `from`; bounds of written gaps, as systems give them.
size_t carom_bounds_work(carom_model *m, bool gaps, bool forces, size_t from); // 0: no memory
carom_status carom_model_bounds(const void *model, void *work, double t_0, double t_1, const double *q_0,
                                const double *q_1, const double *v_0, const double *v_1, const double *v_off,
                                double *least, double *slowest, double *fastest, double *change);
carom_status carom_model_force_bounds(const void *model, void *work, double t_0, double t_1, const double *q_0,
                                      const double *q_1, const double *v_0, const double *v_1, const double *v_off,
                                      double *mid, double *slope, double *off);
/// times.c: size of a work block with room for switches behind `from`; the first time behind t_0, not behind t_1, at
/// which one has changed, as systems give it.
size_t carom_times_work(carom_model *m, size_t from);
void carom_times_work_init(const carom_model *m, void *work, const double *given);
void carom_times_parameters(const carom_model *m, void *work, const double *given);
double carom_model_jump(const void *model, void *work, double t_0, double t_1);
double carom_model_travel(const void *model, int id, const double *q_0,
                          const double *q_1); // carom_system_checks.displacement_bound
double carom_model_even(const void *model, void *work, const double *run, double share, double t_0, double t_1);
carom_status carom_model_shapes(carom_model *m, carom_error *err);
/// Parts of the system: ranges of velocities that M and its derivatives couple, with `forces` also derivatives of
/// forces and of directions.
carom_status carom_model_couple(carom_model *m, bool forces, carom_error *err);
bool carom_model_mass_whole(const carom_model *m); // is M dense, and all of it made of terms?
/// The model's own scratch inside the work block.
static inline double *carom_model_scratch(const carom_model *m, void *work) {
    return (double *)(void *)((unsigned char *)work + m->at.scratch);
}
span carom_model_span(const carom_model *m, int id);
/// What the tape of the model and those of pairs give, in the order of lists over all constraints; of pairs the ones
/// that hold one of the ids (NULL: all).
void carom_model_gaps(const carom_model *m, void *work, double t, const double *q, double *g);
carom_status carom_model_directions(const carom_model *m, void *work, double t, const double *q, const int *id, int n,
                                    double *x);
/// Where entry (i, j) stands; it is inside the storage by construction of the shapes.
static inline size_t carom_model_place(carom_shape s, int i, int j) {
    switch (s.storage) {
    case CAROM_DENSE: return (size_t)i + (size_t)j * (size_t)s.n;
    case CAROM_BANDED: return (size_t)(s.band + i - j) + (size_t)j * (size_t)(2 * s.band + 1);
    case CAROM_SPARSE: return (size_t)carom_pattern_find(s.pattern, i, j);
    case CAROM_DIAGONAL: break;
    }
    return (size_t)i;
}
/// Column k of `to` = count entries x in the rows row[].
static inline void carom_model_put_column(carom_columns *to, int k, const int *row, const double *x, int count) {
    if (!to->row) {
        double *a = to->a + (size_t)k * (size_t)to->rows;
        if (count == to->rows) { // all of them, in order
            carom_copy(a, x, count);
            return;
        }
        carom_zero(a, to->rows); // the place may have held another constraint's column
        for (int e = 0; e < count; ++e) a[row[e]] = x[e];
        return;
    }
    double *a = to->a + (size_t)k * (size_t)to->stride;
    int *rows = carom_column_own_rows(to, k, count);
    for (int e = 0; e < count; ++e) rows[e] = row[e], a[e] = x[e];
}
bool carom_terms_constant(const carom_model *m, const terms *x);

// terms.c
bool carom_terms_add(terms *t, carom_node node, int i, int j, int l); // false: no memory
void carom_terms_free(terms *t);

// signals.c
void carom_signals_system(carom_model *m);
/// Does an expression change when signals do?
bool carom_depends_on_signals(const carom_model *m, carom_node x);
/// Parameters and signals of a work block, np.
static inline double *carom_model_given(const carom_model *m, void *work) {
    return (double *)(void *)((unsigned char *)work + m->at.given);
}

// visible.c
/// Positions and velocities of coordinates and bodies; the others are those of members.
static inline int carom_model_named_q(const carom_model *m) { return m->nfree ? m->nq : m->visible.nq_own; }
static inline int carom_model_named_v(const carom_model *m) { return m->nfree ? m->nv : m->visible.nv_own; }
/// Unknown i of member b in expressions: the number of its velocity in the graph; -1: no memory.
int carom_model_see(carom_model *m, member *b, int i, carom_node *position, carom_node *velocity);
/// Velocity i of the graph among those of the model; -1: the members' energies.
static inline int carom_model_visible(const carom_model *m, int i) {
    return i < m->visible.nv_own ? i : i == m->visible.nv_own ? -1 : m->visible.v[i - m->visible.nv_own - 1];
}
/// *q and *v as the graph numbers them; energies: with those of the members.
void carom_model_look(const carom_model *m, void *work, const double **q, const double **v, bool energies);
/// Positions x and velocities y of the graph, all of them; without energies.
void carom_model_gather(const carom_model *m, const double *q, const double *v, double *x, double *y);
/// A group of the tape at (t, q, v).
void carom_model_eval(const carom_model *m, void *work, int group, double t, const double *q, const double *v,
                      double *out);
/// The subscripts of all terms become velocities of the model.
void carom_model_renumber(carom_model *m);
void carom_members_free(carom_model *m);
/// Begin: coordinates and bodies are known; are there members?
void carom_model_visible_own(carom_model *m, bool members);

// free.c: bodies that no expression knows
void carom_free_mass(const carom_model *m, carom_matrix M);
void carom_free_force(const carom_model *m, const double *v, double *f);
void carom_free_tangent(const carom_model *m, const double *v, carom_matrix C);
void carom_free_energy(const carom_model *m, const double *q, const double *v, double *kinetic, double *potential);

// move.c, assemble.c, settle.c: positions
/// The axes that make the angle of a joint: in the frames of its bodies, in the world where a body has no coordinates.
void carom_joint_axes(const joint *j, double x_A[3], double y_A[3], double x_B[3]);
void carom_body_pose(const body *b, const double *q, double *r, double *R); // where it is, and its rotation by rows
// largest of a point within `arm` of its centre of mass
double carom_body_speed(const body *b, const double *v, double arm);
// the longest way of such a point
double carom_body_travel(const body *b, const double *q0, const double *q1, double arm);
// it alone, as carom_model_move() does; q1 may be q0
void carom_body_move(const body *b, double *q1, const double *q0, double h, const double *v);
bool carom_model_turns(const carom_model *m); // is q + h v not enough?
void carom_model_move(const void *model, double *q1, const double *q0, double h, const double *v);
void carom_model_lift(const void *model, double *dx, const double *x, const double *v);
carom_status carom_model_assemble(carom_model *m, void *work, carom_error *err);
/// `start: project`: positions, or velocities, that fit; m->settled says what was done.
carom_status carom_model_project(carom_model *m, void *work, bool velocities, carom_error *err);
/// carom_system.lever at the initial position.
carom_status carom_model_levers(carom_model *m, void *work, carom_error *err);
/// settle.c: bodies whose shapes overlap at the start move apart, where the model says so.
carom_status carom_model_settle(carom_model *m, void *work, carom_error *err);

// answers.c, fault.c
void *carom_model_work(const carom_model *m, carom_error *err); // a work block of its own; NULL: no memory
/// What velocity i is the rate of, for messages: a coordinate, or "body.wx".
const char *carom_model_freedom(const carom_model *m, int i);
/// Which table has no value where it was asked last.
bool carom_tables_explain(const void *model, void *work, char *text, size_t size);
#if defined(__GNUC__)
#define CAROM_FORMAT(at) __attribute__((format(printf, at, at + 1)))
#else
#define CAROM_FORMAT(at)
#endif
/// A mistake in what is given, found when the model is made: "where: what; what to do".  offset: in bytes of the text.
carom_status carom_model_vfault(const carom_model *m, carom_error *err, const carom_datum *d, size_t offset,
                                const char *format, va_list args);
carom_status carom_model_fault(const carom_model *m, carom_error *err, const carom_datum *d, const char *format, ...)
    CAROM_FORMAT(4);
carom_status carom_model_no_memory(const carom_model *m, carom_error *err);

/// Does the mechanism give any unit?
bool carom_mech_has_units(const carom_mech *x);
