// resolver.h (private): a model in the making.
//
//   scope.c           names and expressions of a mechanism, and faults that point to where they are written
//   families.c        `repeat`: one entry for many parts; a body for its shapes
//   sections.c        parameters, coordinates, let, energy, forces, outputs, exact, simulation
//   bodies/           bodies, joints, springs, motors, loads
//   members/          flexible members, shafts, floating frames, matrices
//   shapes/           shapes, and the contacts that pairs of them make
//   draw/             what is drawn, derived last, and what draws itself
//   laws.c, contacts.c  laws; constraints and contacts  derive.c  nodes -> terms -> tape
//   stops.c           contacts that ropes and joints make
//   signals.c         inputs and controllers          start.c   is the initial state allowed?
//   checks.c          checks, the ledger's names      examine.c `carom check`
//   model.c           create, destroy                 ctext.c   `carom export c`
//   bound.c           numbers that parameters change  set.c     other values of parameters
//   directions.c      W, w and their derivatives      variation.c derivatives by parameters and by the state
//   lazy.c            names that are made when they are first used
#pragma once
#include "expr/vector.h"
#include "expr/expr.h"
#include "model/model.h"

/// Names that cost something are made when an expression first uses them: angles of joints in space, quantities of
/// pairs that share a tape, unknowns of members.
struct resolver;
typedef struct carom_lazy {
    carom_status (*angle)(struct resolver *r, joint *j, carom_node *node);
    carom_status (*quantity)(struct resolver *r, name *n);
    carom_node (*unknown)(struct resolver *r, const char *word, int primes); // CAROM_NONE: there is none
} carom_lazy;
extern const carom_lazy carom_lazy_names; // lazy.c

/// The state of making a model: names and expressions of a mechanism are resolved.
typedef struct resolver {
    carom_model *m;
    const carom_mech *mech;
    const char *const *observe; // expressions beside it, NULL-terminated; NULL: none
    carom_error *err;
    carom_graph *values;        // expressions of parameters, folded to numbers
    unsigned char *param_state; // np: 0 new, 1 being computed, 2 known
    int param_stack[200];       // parameters being computed, outermost first
    int param_depth;
    bool loose;          // parameters that are read do not become fixed: what is read is bound, or read once more
    bool read;           // a parameter was read
    const member *along; // the member whose nodes a contact runs along, and the node
    int along_node;
    const carom_node *part; // of a gap that is the least of several: the one that a contact has; NULL: all of it
    int most_contacts, contact_room; // contacts that there may be, and that m->links (behind the constraints),
                                     // m->contacts, bounce_of and rub_of have room for
    carom_node slip_speed, normal_force, joint_force; // what slip.speed and normal.force are in scope SCOPE_SLIP,
                                                      // joint.force in SCOPE_JOINT
    carom_node spring_length, spring_rate;            // length and rate in SCOPE_SPRING
    int first_stop;                  // of the contacts: from here on ropes and joints make them
    const struct carom_stop *stops;  // what each of these is; NULL: there are none
    carom_node *rope_gap;            // by rope
    bool arc_known; // the arc length s is this number, not a variable
    double arc;
    bool failed; // err->text has its place already
    const carom_lazy *lazy;
    pool brief; // what is needed until the model is made
    struct given_lists {
        carom_datum between, among, ignore;
        struct given_lists *next;
    } *given; // of each contact, the last one first, before families became members; NULL: there are no families
} resolver;

/// What an expression may use: kinds of names, and these.
enum {
    SCOPE_TIME = 64,
    SCOPE_VALUES = 128,
    SCOPE_EXACT = 256,
    SCOPE_OUTS = 512,
    SCOPE_LEDGER = 1024,
    SCOPE_ARC = 8192,
    SCOPE_AVERAGES = 16384,
    SCOPE_SPEED = 32768,
    SCOPE_SLIP = 65536,
    SCOPE_JOINT = 131072,
    SCOPE_SPRING = 262144
};
enum {
    SCOPE_STATE = NAME_PARAMETER | NAME_COORDINATE | NAME_VELOCITY | NAME_STATE | NAME_LET | NAME_POINT | NAME_INPUT |
                  SCOPE_TIME,
    SCOPE_MOTION = NAME_PARAMETER | NAME_INPUT | SCOPE_TIME
};

// families.c
/// Families become records like all others: r->mech is one without families from then on.
carom_status carom_derive_families(resolver *r);
/// When nothing else is derived: lists of contacts are as they were given, and `brief` is gone.
void carom_forget_brief(resolver *r);
/// Body i of r->mech, i < r->mech->nbodies.  Members of a family whose records differ in their names and in what is
/// evaluated at once share one: it says what member i has until the next call.
const carom_mech_body *carom_body_given(const resolver *r, int i);
/// The name of body i, and where that, or the family's, is written; for as long as the model lives.
const char *carom_body_named(const resolver *r, int i);
const carom_datum *carom_body_written(const resolver *r, int i);
/// Where contacts list shapes, a body means all of its own, and ground those of the ground.
carom_status carom_derive_owners(resolver *r);

// tables.c
/// Tables become functions; first of all, so that parameters may use them.
carom_status carom_derive_tables(resolver *r);
/// When all expressions are known: where linear tables have knots, forces have kinks.
carom_status carom_derive_knots(resolver *r);

// scope.c
/// A mistake in what is given: "where: what; what to do".  offset: in bytes of the text.
carom_status carom_fault(resolver *r, const carom_datum *d, size_t offset, const char *format, ...) CAROM_FORMAT(4);
carom_status carom_fault_memory(resolver *r);
/// " (line 12)" for messages that name a second place; "" where there are no lines.
typedef struct carom_line { char text[24]; } carom_line;
carom_line carom_line_of(int line);
/// Expression of a datum; `what` names it in messages ("the gap").
carom_status carom_resolve_expression(resolver *r, const carom_datum *n, unsigned scope, const char *what,
                                      carom_node *node);
/// Is a quantity with a unit, here or as a parameter, one of this unit, or of the other (NULL: none)?
carom_status carom_check_unit(resolver *r, const char *where, const carom_datum *d, const char *unit,
                              const char *other);
carom_status carom_resolve_part(resolver *r, const carom_datum *n, size_t from, size_t to, unsigned scope,
                                const char *what, carom_node *node);
/// Number: an expression of parameters.
carom_status carom_resolve_number(resolver *r, const carom_datum *n, const char *what, double *value);
/// Between two bodies or shapes nobody holds a node of r->values: that graph begins anew where it has become large.
carom_status carom_fresh_values(resolver *r);
carom_status carom_resolve_parameter(resolver *r, int index);
/// All parameters, into m->parameter; r->param_state holds zeros.
carom_status carom_resolve_parameters(resolver *r);
/// n is a new name: valid, not reserved, not taken; empty: nothing is said of it.
carom_status carom_new_name(resolver *r, const carom_datum *n, bool empty, const names *others);
/// The same for what expressions know by its quantities only (NAME.gap): it may be called like a function.
carom_status carom_new_owner(resolver *r, const carom_datum *n, bool empty, const names *others);
/// The name of a part that need not be new: valid, at most 60 letters.
carom_status carom_part_name(resolver *r, const carom_datum *n);
/// n is a map, or empty (then *children is NULL).
carom_status carom_resolve_map(resolver *r, const carom_datum *n, const char *where, const carom_datum **children);
/// Value of an expression of time and parameters at t = 0.
carom_status carom_resolve_start(resolver *r, const carom_datum *n, carom_node x, double *value);

// signals.c
/// Names of inputs and of the signals of controllers, behind the parameters; m->np counts them.  Then their values at
/// the start; then what controllers compute, when all names are known.
carom_status carom_declare_signals(resolver *r);
carom_status carom_derive_signals(resolver *r);
/// A condition under which a body (-1: none) is there, or a contact is or may close (gate; -1: no such); its number,
/// from 1.
carom_status carom_add_condition(resolver *r, const carom_datum *text, const char *name, int body, int gate,
                                 int *number);
carom_status carom_derive_controllers(resolver *r);

// bound.c
enum { SCOPE_BOUND = NAME_PARAMETER | SCOPE_VALUES | SCOPE_SPEED | SCOPE_SLIP };
/// A number that is bound to its place in the model.
carom_status carom_resolve_bound(resolver *r, const carom_datum *n, const char *what, bound_kind kind, int index,
                                 double *value);
/// The same of what was read already (r->loose); n NULL: nothing happens.
carom_status carom_bind(resolver *r, const carom_datum *n, bound_kind kind, int index, double value);
/// A number that is bound and stands in expressions: *node holds the parameters, where there are some.
carom_status carom_resolve_term(resolver *r, const carom_datum *n, const char *what, bound_kind kind, int index,
                                double *value, carom_node *node);
/// It went into the structure after all; n NULL: nothing happens.
carom_status carom_fix(resolver *r, const carom_datum *n);
carom_status carom_fix_vector(resolver *r, const carom_datum *n); // a number, or a list of them
/// Those bound from number `first` on.
carom_status carom_fix_bound(resolver *r, int first);

// moved.c
/// Does x depend on rates of positions?  On first-order states it may.
bool carom_depends_on_rates(const carom_model *m, carom_node x);
/// What x changes by per second because states do: sum dx/dz z'.
carom_node carom_moved_by_states(const carom_model *m, carom_node x);

/// Values of n nodes at the start, members and reactions at rest.  False: no memory.
bool carom_values_at_start(const carom_model *m, const carom_node *x, int n, double *value);

// states.c
/// First-order states, behind the coordinates; their rates, when all names are known; their masses, with the energies.
carom_status carom_derive_states(resolver *r);
carom_status carom_derive_state_rates(resolver *r);
carom_status carom_weigh_states(resolver *r);
/// x, `what` in messages, must not depend on them.
carom_status carom_no_states(resolver *r, const carom_datum *d, carom_node x, const char *what);

// stops.c
typedef enum stop_kind { STOP_NONE, STOP_LOWER, STOP_UPPER, STOP_ROPE, STOP_FRICTION, STOP_SECOND } stop_kind;
/// Ropes, limits, play and friction of joints become contacts, behind those that are written.
carom_status carom_derive_stops(resolver *r);
/// When bodies are known: what ropes leave.
carom_status carom_derive_ropes(resolver *r);
/// What made this contact; STOP_NONE: it is written.  STOP_SECOND: friction about the axis of a joint's second body.
stop_kind carom_contact_stop(const resolver *r, const carom_mech_contact *of);
/// The gap of one that ropes and joints make.
carom_status carom_stop_gap(resolver *r, const carom_mech_contact *of, carom_node *x);

// brakes.c
/// Is this contact friction alone?
static inline bool carom_contact_pressed(const carom_mech_contact *of) {
    return carom_given(&of->normal_force) || carom_given(&of->joint);
}
/// Names of their coordinates, after those of the section.
carom_status carom_declare_pressed(resolver *r);
typedef struct carom_pressed {
    int y;           // its coordinate
    carom_node N;    // its normal force
    int first, rows; // of a joint: the constraints whose reactions press
} carom_pressed;
/// Gap of one of them, slips where it rubs in a joint, and the rest.
carom_status carom_derive_pressed(resolver *r, const carom_mech_contact *of, constraint *c, carom_pressed *p);
/// Mass and load of its coordinate (FV-7), once its slips are known; share: N over the load.
carom_status carom_press(resolver *r, const constraint *c, const carom_pressed *p, carom_node *share);
/// The reaction of constraint id, for friction.
carom_status carom_reaction_input(resolver *r, int id, carom_node *x);

// matrices.c
/// The matrix that n names; `what` is in messages.  A column of numbers.
carom_status carom_resolve_matrix(resolver *r, const carom_datum *n, const char *what, carom_triplets *t);
carom_status carom_resolve_matrix_column(resolver *r, const carom_datum *n, const char *what, int rows, double *x);
/// Has every one been named?
carom_status carom_matrices_used(resolver *r);

// sweep.c
/// Gap and slip of the contact that sweeps along a member, on one of its elements.
carom_status carom_derive_sweep(resolver *r, const carom_mech_contact *of, member *b, int element, constraint *c);

// members.c
carom_status carom_derive_members(resolver *r);
/// A line of `exact` for a member; *taken: it is one.
carom_status carom_derive_member_exact(resolver *r, const carom_datum *n, unsigned scope, bool *taken);
/// What `word` means as an unknown of a member (rod.u12), or along it; CAROM_NONE: nothing.
carom_node carom_member_lookup(resolver *r, const char *word, int primes);
/// Place of a member at arc length s: axis 0, 1, 2 for x, y, z; CAROM_NONE: no memory.
carom_node carom_member_where(carom_model *m, member *b, double s, int axis);
// pairs.c
bool carom_pairs_many(resolver *r); // so many pairs of shapes that they come and go
// rules.c
/// Outputs of compliant contacts that come and go: how many there may be; they are added to the model's.
int carom_near_soft_count(const carom_model *m);
carom_status carom_near_soft(resolver *r);
// free.c
/// Which bodies of the mechanism no expression names.
carom_status carom_free_find(resolver *r, bool *is_free);
/// By entry of `contacts`: expressions name gaps, slips or forces of its contacts, or their friction is that of a third
/// body.
carom_status carom_entries_named(resolver *r, bool *named);
/// Their positions and velocities, after all others.
carom_status carom_free_place(resolver *r);

// sections.c, bodies.c, joints.c, elements.c, contacts.c, checks.c, derive.c, start.c, draw.c
carom_status carom_derive_mechanism(resolver *r);
carom_status carom_derive_bodies(resolver *r);
carom_status carom_derive_joints(resolver *r);
carom_status carom_derive_elements(resolver *r);
carom_status carom_derive_shapes(resolver *r);
carom_status carom_derive_links(resolver *r);
carom_status carom_derive_checks(resolver *r);
carom_status carom_derive_observed(resolver *r);
carom_status carom_model_derive(carom_model *m, carom_error *err);
/// times.c: the switches of what has been derived.
carom_status carom_times_make(carom_model *m, carom_error *err);
/// directions.c: is a node the number 0?  Its derivative by an input; CAROM_POSITION: along velocity i.  All
/// derivatives that are not zero as terms, with the subscripts (i, j) of x, or i alone where j < 0.
bool carom_node_zero(const carom_graph *g, carom_node x);
carom_node carom_node_derivative(carom_graph *g, carom_node x, carom_input kind, int i);
bool carom_terms_gradient(carom_model *m, terms *t, carom_node x, carom_input kind, int sign, int i, int j);
/// Of all constraints and contacts: directions, their derivatives, and the curvatures.
carom_status carom_model_derive_directions(carom_model *m, carom_node **kappa, carom_error *err);
carom_status carom_model_start(carom_model *m, void *work, carom_error *err);
/// The initial state from m->start: put together, completed, checked.
carom_status carom_model_begin(carom_model *m, carom_error *err);
carom_status carom_derive_draw(resolver *r); // after the model is compiled
/// What is drawn, made when it is first asked for; NULL: no memory.
const struct drawn *carom_model_drawn(const carom_model *m, carom_error *err);
void carom_drawn_free(struct drawn *d);
