// pairs.h (private): shapes of bodies, and the contacts that pairs of them make, at work.
//
//   narrow.c  tapes of pairs, and which of them are evaluated at all  shared.c  what pairs of a kind give to schemes
//   near.c  pairs of many shapes come and go  sleep.c  bodies that fall asleep among them
//   patches.c  pairs of hulls, found by search (collide/)  yielding.c, belts.c  contacts of stiffness, and surfaces
//   that move
//
// derive/shapes/ makes them: expressions of gaps and slips, and tapes of these.
#pragma once
#include "collide/outline.h"
#include "collide/patch.h"
#include "expr/vector.h"
#include "model/model.h"
#include "system/system.h"

typedef enum shape_kind {
    // solid, finite
    SHAPE_POINT,
    SHAPE_ROUND,
    SHAPE_CAPSULE,
    SHAPE_POLYGON,
    SHAPE_BOX,
    SHAPE_CYLINDER,
    SHAPE_HULL,
    SHAPE_HEIGHTS,
    SHAPE_ELLIPSOID,
    // pieces of outlines, planar: a line, an arc or corner, a concave arc
    SHAPE_LINE,
    SHAPE_ARC,
    SHAPE_HOLLOW,
    // the same, between two nodes of a member
    SHAPE_ELEMENT,
    SHAPE_PLANE, // solid, endless
    SHAPE_HOLE,
    SHAPE_SLOT,
    SHAPE_BORE, // others move inside
    SHAPE_SKIN  // of rounds and elements
} shape_kind;

enum { MOST_CORNERS = 64 }; // one formula each

/// A shape in the frame of its body.
typedef struct shape {
    const char *name;  // as written in `between`
    const carom_datum *place;
    const body *body;
    space space;       // PLANAR or SPATIAL
    shape_kind kind;
    double radius;     // of rounds, capsules, cylinders, holes, slots, bores
    double at[3];      // centre; a point of a plane
    const double *X;   // own axes: columns of nine numbers by rows, which shapes may share
    double half[3];    // half edges of a box, half axes of an ellipsoid; [0]: half length of capsules, slots, cylinders
    int axis;          // which own axis is the long one, or the normal of a plane
    int ncorners;      // of a planar polygon or box, counterclockwise
    double (*corner)[2];
    struct carom_hull *hull; // of a hull, and of whatever may touch one; in the body's frame
    const struct carom_grid *grid; // of heights
    int parts;         // of a mesh or an outline: so many more shapes behind this one belong to it
    carom_outline_piece *piece; // of an outline, in the body's frame
    const struct contour *contour; // of the first piece of an outline: all of it
    const carom_mech_material *material; // NULL: none
    double bound_radius;      // radius of a ball round `at` that holds it; infinite: none
    const carom_node *size; // of a box in the model of a kind: half edges and reach; of a piece: its numbers; NULL:
                            // those numbers
    const member *member; // of a flexible member; else NULL
    vec spin;          // its angular velocity there
    const body *next;  // of an element: the frame of its second node, `body` is that of the first
    struct shape *part; // of a skin: `nodes` rounds, then the elements between them
    int nodes;
    const vec *belt;   // velocity of its surface in the frame of its body; NULL: none
} shape;

/// X of shapes that are not turned; of points.
static const double carom_shape_upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, carom_shape_no_axes[9] = {0};

static inline bool carom_shape_finite(const shape *s) { return s->kind <= SHAPE_ELEMENT; }
static inline bool carom_shape_piece(const shape *s) { return s->kind >= SHAPE_LINE && s->kind <= SHAPE_HOLLOW; }

/// What is small for it: its radius, of a piece that of its whole outline.
static inline double carom_shape_extent(const shape *s) {
    return carom_shape_piece(s) ? s->piece->x[PIECE_SIZE] : s->bound_radius;
}

/// An outline in the frame of its body: points along it, and its stretches.
typedef struct contour {
    double (*point)[2];
    int npoints;
    carom_stretch *stretch;
    int n;
    bool closed, hollow;
    double error; // how far it lies from the splines that it stands for
} contour;

/// One contact of a pair, as expressions.
typedef struct touching {
    carom_node gap;
    vec normal, point; // from the second shape to the first; where reactions act
} touching;

/// Two coefficients of friction, as factors of the larger one: along a direction in the frame of `of` (NULL: the
/// world), and across it.
typedef struct ellipse {
    double factor[2], direction[3];
    const body *of;
    const carom_datum *family; // whose member of the pair becomes `of`; NULL: that is known
    carom_datum place; // a copy of what gives it, for messages
} ellipse;

/// Friction of a pair: the levers rho/mu and sigma/mu that make slip rates of rolling and spinning; 0: none.
typedef struct rubbing {
    bool slides;
    double roll, spin;
    const ellipse *ellipse; // NULL: none
} rubbing;

/// (CC-1), (CC-2)  a contact that yields: stiffness k, exponent n, damping c, friction mu, stiction speed v_s;
/// factors of its tangents (FV-6).
typedef struct yielding { double stiffness, exponent, damping, friction, speed, factor[2]; } yielding;

/// What is the same of all pairs of a kind that come and go, or belongs to a pair with a tape of its own.
typedef struct pair_own {
    rubbing rub;
    touching *touch;     // count; NULL: not wanted yet
    carom_node bound;    // at most every gap; CAROM_NONE: none is known
    double margin;       // beyond it the bound is taken for the gaps
    carom_tape *tape;    // of its contacts; NULL: it shares one
    span from, to;       // its part of lists over all constraints
    size_t work, held;   // offsets in the model's work block: of its tape; of the same held on one feature
} pair_own;

/// Two shapes that may touch, and their contacts: ids first .. first + count - 1.  Worlds of many contacts have one for
/// each.
typedef struct pair {
    const shape *A, *B;
    const carom_mech_contact *entry;
    yielding *soft;  // of one that comes and goes; NULL: it is rigid
    pair_own *own;
    struct patch *patch; // patches.c: where its features are kept
    void *held;          // of one that comes and goes: its tape, held on its features; NULL: it is not followed
    int number;          // of its first contact under the entry's name, from 1; 0: the name alone
    int entry_number;    // of its entry, among those of pairs that are always there; of one of a list: its rule
    int first, count;
    bool named;          // its entry names all shapes one by one, and its contacts are corners of these: they have
                         // columns of their own
    bool shares;         // has a tape in common with pairs of its kind
    bool listed;         // comes and goes: near.c
    signed char holds;   // then: how its features are held, as head() of narrow.c has it for those that are always
                         // there
    int kind;            // then: which, and where the positions and velocities of its bodies start, in the order of
                         // velocities
    int rank;            // its number within the kind
    int q_at[2], v_at[2];
} pair;

/// What the tape of a pair answers.
typedef enum pair_group {
    PAIR_GAPS,
    PAIR_DIRECTIONS,
    PAIR_RATES,
    PAIR_CURVATURE,
    PAIR_REACTION_GRADIENT,
    PAIR_RATE_GRADIENT,
    PAIR_PLACES,
    PAIR_GROUPS
} pair_group;
enum { PAIR_PLACE = 12 }; // of a contact: point, normal, directions of friction

/// The features of a pair at one position.
typedef struct patch {
    bool known, held;
    carom_frame r[2];
    carom_feature f[CAROM_PATCH], keep[CAROM_PATCH]; // found last; those of the position where they were held
                                                     // (CAROM_FREEZE)
} patch;

// -- kinds.c: pairs of equal shapes of bodies of equal kind have one tape, which is asked with the positions of two
// bodies. ----

/// A model of its own with two bodies (one, where the other stands still) and their pair.
typedef struct pair_kind {
    const pair *first; // the pair that it was made for
    int count;         // pairs
    carom_model *two;  // its lists count positions and velocities of these bodies from 0; its graph is gone
    int nq[2], nv[2];  // positions and velocities of the bodies that move, in the order of velocities
    bool patch;        // its contacts are found by search: patches.c
    bool sized[2];     // half edges and reach of A, of B are parameters
    bool constant;     // directions do not change
    bool couples[12][12]; // does some dW_i/dq_l differ from zero?
    int blocks;        // work blocks; pairs take turns
    size_t size, work; // of one block; offset of the first
    size_t held_size, held; // of a block in which a pair is held on its features; offset of the first
} pair_kind;

/// The pair that shares its tape and makes contact `id`, one of the model's own; NULL: none.
static inline const pair *carom_pair_shared(const carom_model *m, int id) {
    if (!m->pair_of || id < m->pairs[0].first) return NULL;
    const pair *p = &m->pairs[m->pair_of[id - m->pairs[0].first]];
    return p->shares ? p : NULL;
}
/// Parameters of a kind for one of its pairs.
enum { MOST_SIZES = 2 * PIECE_NUMBERS };
static inline int carom_shape_sizes(const shape *s) { return carom_shape_piece(s) ? PIECE_NUMBERS : 4; }
void carom_kind_sizes(const pair_kind *k, const pair *p, double *x);
/// Velocity i of a kind for one of its pairs.
static inline int carom_kind_velocity(const pair_kind *k, const pair *p, int i) {
    return i < k->nv[0] ? p->v_at[0] + i : p->v_at[1] + i - k->nv[0];
}

// -- near.c: pairs of many shapes come and go: those that are near each other have contacts. --------------------------

/// One entry of `contacts` whose pairs come and go.
typedef struct near_rule {
    const carom_mech_contact *entry;
    unsigned char *ignore; // nignored x nshapes: 1 and 2: in the first and second list of a pair of `ignore`
    int nignored;
    int condition;         // under which they are there, from 1; 0: always
} near_rule;

/// Contact `part` of shapes a and b, in the order of the list, of an entry that names all its shapes one by one: its
/// number under the entry's name, as if the pair were always there; 0: the name alone.  Not shown: of an entry with
/// members of families, whose contacts have the names of their two shapes; its number is known on request.
/// own: its number in the pair as the entry has it, whose shapes are `swapped` in the list.
typedef struct near_named { int rule, a, b, part, number, own; bool shown, swapped; } near_named;
typedef struct near_number { long long number; int named; } near_number; // of a contact, and which of `named` has it

/// Columns of contacts that yield, which are outputs: gap, its rate, force; slip rate and friction of every tangent.
typedef enum soft_part { SOFT_GAP, SOFT_RATE, SOFT_FORCE, SOFT_SLIP, SOFT_FRICTION } soft_part;
typedef struct soft_output { int named, tangent; soft_part part; } soft_output;

/// Shapes that take part, and what two of them make.  Shapes that formulas do not tell apart are a group.
struct near_pairs {
    const shape **shape;  // nshapes, in the order of the model's
    int nshapes, ngroups, nrules;
    int *group;           // nshapes
    const shape **sample; // ngroups: one of each
    near_rule *rule;
    unsigned char *side;  // nrules x nshapes: 1 and 2: in the first and second list of `between`; 4: in `among`
    int *kind;            // nrules x ngroups x ngroups: kind of A, B; -1: they do not meet
    near_named *named;    // nnamed: contacts with columns of their own
    near_number *number;  // nnamed, sorted: their numbers
    int nnamed, parts;    // parts: numbers that a pair has for its contacts
    soft_output *soft;    // nsoft: outputs of the model from number soft_from on, those of a contact in a row
    int nsoft, soft_from;
    pair *pairs;          // one for every kind
    carom_contact *law;   // of each of them
    carom_contact *laws;  // of all contacts of the system: its own, then those of slots to begin with
    int *bounce, *rub;    // of each: which of the model's `bounces` is its restitution, which of `rubs` its friction,
                          // where these vary
    carom_node *rubs;     // 2 nrubs: coefficients of a contact that slips and of one that sticks; slip speed and normal
                          // force are parameters np and np + 1 of their tape
    int nrubs;
    carom_tape *rub_tape; // NULL: none varies
    size_t rub_work;      // offset in the model's work block
    int npairs, kind_room; // kinds, and how many there is room for
    bool yields;          // some contacts have a stiffness
    int *belt, nbelts;    // nshapes: which surface velocity it has; -1: none
    carom_node *belts;    // 6 nbelts: velocity in the frame of the body, and its rate
    size_t belts_at;      // offset in the model's work block: values of these
    double sleep;         // speed below which bodies fall asleep; 0: never
    int *part_of;         // by body: its part of the system, where it is one that may sleep; -1: it may not
    int tangents;         // most of a contact
    int slots;            // to begin with
    double *thin;         // nshapes: half of the smallest width; infinite: nothing passes it
    bool patches;         // some contacts are found by search
    bool couples;         // derivatives have room for two bodies that touch each other
    bool numbered;        // some shape is an element of a member or a piece of an outline
    bool others;          // some shape is neither round nor a box nor a plane, and not found by search
    size_t at;            // offset in the model's work block: the list in use
    int lanes;            // threads that may ask tapes of its pairs at once: each has work blocks and a place for
                          // answers
    int blocks;           // work blocks of each kind, one for each thread at least
    size_t room;          // offset of these places, pair_count numbers each
    size_t held_size;     // bytes of a pair whose tape has several features, held on some; 0: none has
};

enum { MOST_NEAR_SHAPES = 1 << 26, MOST_LANES = 8 }; // far above any memory, below 2^31; cost: docs/limits.md

/// Are all of its contacts forces, of a stiffness?  Is it that of a world (system/system.h)?
static inline bool carom_near_forces(const struct near_pairs *x) {
    for (int i = 0; i < x->npairs; ++i)
        if (!x->pairs[i].soft) return false;
    return true;
}
static inline bool carom_near_world(const carom_model *m) {
    return m->near && carom_world_size(m->nv, m->ne, carom_near_forces(m->near));
}

/// Is b the first of two shapes in the order of the list?
bool carom_near_swapped(const shape *a, const shape *b);
/// Do two shapes meet by this rule?  The kind that shapes of groups A and B make.
bool carom_near_meet(const struct near_pairs *x, int rule, int a, int b);
static inline int *carom_near_kind_of(const struct near_pairs *x, int rule, int A, int B) {
    return &x->kind[((size_t)rule * (size_t)x->ngroups + (size_t)A) * (size_t)x->ngroups + (size_t)B];
}
/// The pair that makes contact `id` of a list that is in use; NULL: none.
const pair *carom_near_pair(const carom_model *m, const void *work, int id);
/// (CND-2)  Is it in a list although a condition of its own, or of a body, does not hold?
bool carom_near_off(const carom_model *m, const void *work, const pair *p);
void carom_near_freeze(const carom_model *m, const void *work, carom_freeze what,
                     const double *q); // as carom_system_events.freeze
/// Call part(user, lane, from, to) for ranges of pairs that threads share, the contacts of each from id `from` to
/// before `to`; lane < lanes.  contacts: how many of them there is work for; a few are not shared.
void carom_near_share(const carom_model *m, const void *work, int contacts,
                      void (*part)(void *user, int lane, int from, int to), void *user);
/// sleep.c: bodies fall asleep and wake up; pairs of bodies asleep leave the n found.  True: some woke, and the search
/// has left out their pairs.  root: nbodies, calm: 2 nbodies: scratch.
bool carom_near_sleep(const carom_model *m, carom_list *list, int *root, double *calm, long long *found, int *n,
                      double t, double h, const double *v);
/// Does a body sleep, or never move?
static inline bool carom_near_rests(const carom_model *m, const carom_list *list, const body *b) {
    if (b->v < 0) return true;
    const int part = list->asleep ? m->near->part_of[b - m->bodies] : -1;
    return part >= 0 && list->asleep[part];
}
void carom_near_still(const carom_model *m, const void *work, double *f); // no force on a body asleep
/// The list in use; NULL: none.
static inline carom_list *carom_near_list(const carom_model *m, const void *work) {
    return *(carom_list *const *)(const void *)((const unsigned char *)work + m->near->at);
}
const pair *carom_near_at(const carom_list *list, int k); // pair k of list->pairs
pair *carom_near_pairs(const carom_model *m, const void *work, int *n); // those whose features are followed
/// The kind of what a slot holds.
int carom_near_kind(const carom_model *m, const void *work, int slot);
/// Friction of contacts whose coefficients vary, as carom_system.friction gives it.
/// Inputs of the tape of their friction, behind its work: parameters, then slip speed and normal force.
double *carom_near_inputs(const carom_model *m, void *work);
carom_status carom_near_friction(const carom_model *m, void *work, double t, const double *q, const double *v,
                                 const double *force, double *law);
int carom_model_entry_rule(const carom_model *m, int entry); // its rule; negative: its pairs are always there
/// Names of contacts that come and go, by the number that stays; text is the caller's.
carom_status carom_near_system(carom_model *m, carom_error *err);
/// The system has the laws that the model and its kinds have now.
void carom_near_laws(carom_model *m);
enum { CAROM_CONTACT_NAME = 140 }; // bytes of a name: two names of 64 and what is between
const char *carom_near_name(const carom_model *m, long long id, char *text, size_t size);
/// The number of contact `part` of shapes a and b by a rule, behind ne + nc.
long long carom_near_pair_number(const carom_model *m, int a, int b, int rule, int part);
const char *carom_near_named_name(const struct near_pairs *x, const near_named *c, char *text, size_t size);
/// Body A of a list comes first, whether there is a list or not.
static inline bool carom_pair_in_order(const shape *a, const shape *b) {
    return !a->body || !b->body || !carom_near_swapped(a, b);
}
/// A-B in this order.
const char *carom_pair_name(const shape *a, const shape *b, char *text, size_t size);
/// nc and the number of a contact, or of all of the pair A-B; CAROM_NO_CONTACT - 1 - i: all pairs of rule i;
/// CAROM_NO_CONTACT: none of these.
long long carom_near_find(const carom_model *m, const char *name);
bool carom_near_is(const carom_model *m, long long found, long long number); // is that contact what was found?
bool carom_near_made_by(const carom_model *m, int rule, long long number);
double carom_near_size(const carom_model *m, long long id);
double carom_shape_thin(const shape *s); // thin.c: half of its smallest width; infinite: nothing passes it
/// Contacts that are near at a place, all with a gap below `reach` among them, with their gaps by id;
/// carom_near_close() afterwards.
typedef struct near_look { carom_list list; double *gap; } near_look;
carom_status carom_near_open(const carom_model *m, void *work, const double *q, double reach, near_look *x,
                             carom_error *err);
void carom_near_close(const carom_model *m, void *work, near_look *x);
const char *carom_near_slot_name(const carom_model *m, const near_look *x, int slot, char *text, size_t size);

/// The pair that shares its tape and makes contact `id`.
static inline const pair *carom_pair_of(const carom_model *m, const void *work, int id) {
    return m->near && id >= m->ne + m->nc ? carom_near_pair(m, work, id) : carom_pair_shared(m, id);
}

/// The bodies of a pair in the order of velocities, which is that of rows.
static inline bool carom_pair_swapped(const pair *p) { return p->B->body->v >= 0 && p->A->body->v > p->B->body->v; }
static inline void carom_pair_order(const pair *p, const body **b) {
    const bool swapped = carom_pair_swapped(p);
    b[0] = swapped ? p->B->body : p->A->body;
    b[1] = swapped ? p->A->body : p->B->body;
}
pair_own *carom_pair_own(carom_model *m, rubbing rub); // without tape and bound; NULL: no memory
void carom_pair_place(const carom_model *m, pair *p); // where its bodies have their positions and velocities

// -- yielding.c: forces of contacts that yield; belts.c: surfaces that move along their bodies. -----------------------

/// Places of their kinks, SOFT_KINKS of every slot; 1: none.
enum { SOFT_KINKS = 2 };
int carom_soft_kinks(const carom_model *m, void *work, const double *q, const double *v, double *k);
/// f += forces;  energy += potential;  external and damping power as carom_system.power tells them apart;  K and C +=
/// derivatives within each body.
int carom_soft_force(const carom_model *m, void *work, double t, const double *q, const double *v, double *f);
void carom_soft_energy(const carom_model *m, void *work, const double *q, double *energy);
void carom_soft_power(const carom_model *m, void *work, double t, const double *q, const double *v, double *external,
                      double *damping);
/// The power in parts, as carom_system_accounts.power_along adds them.
void carom_soft_along(const carom_model *m, void *work, double t, const double *q, const double *v, double weight,
                      double *external, double *damping);
/// Where a contact is deeper than *most: how deep, and m->ncompliant plus the number of its pair of shapes.
void carom_soft_deepest(const carom_model *m, void *work, const double *q, double *most, long long *which);
/// Outputs of contacts that come and go, wherever their shapes are: out[] of all outputs.
void carom_soft_outputs(const carom_model *m, void *work, double t, const double *q, const double *v, double *out);
int carom_soft_tangent(const carom_model *m, void *work, double t, const double *q, const double *v, carom_matrix K,
                       carom_matrix C);

void carom_belts_at(const carom_model *m, void *work, double t, const double *q); // values at time t, for what follows
/// Velocity s of the surface of A against that of B, beyond that of the bodies, and (v not NULL) its rate.  False:
/// there is none.
bool carom_pair_belt(const carom_model *m, const void *work, const pair *p, const double *q, const double *v, double *s,
                     double *rate);
/// Its part of the rate of direction d of a kind, whose columns are W.
double carom_belt_along(const carom_model *two, const pair *p, int d, const double *W, const double *s);
// u: rates of a pair, behind which there is room for W
void carom_belt_rates(const carom_model *m, void *work, const pair *p, const double *q, double *u);

// -- patches.c: pairs of convex solids, whose contacts are found by search. -------------------------------------------

/// Is one of the two a solid whose contacts are found by search?
bool carom_patch_kind_of(shape_kind kind);
bool carom_patch_pair(const shape *A, const shape *B);
/// The same where pairs come and go: there two boxes in space are hulls.  A corner that lies on an edge of the other
/// box has no nearest face of its own; a patch has one normal, and boxes that stand on each other in line are carried.
bool carom_patch_listed(const shape *A, const shape *B);
/// Half the bounding box of a hull along axis i; A: its axes in the world.
double carom_patch_extent(const shape *s, const double *A, int i);
/// Friction by direction, fixed in A (0), in B (1) or in the world (2).
int carom_patch_grain(const carom_model *m, const pair *p);
void carom_patch_freeze(const carom_model *m, const pair *p, carom_freeze what, const double *q);
int carom_patch_eval(const carom_model *m, const pair *p, pair_group group, const double *q, const double *v,
                     double *out);

// -- shared.c: their parts of what a system gives, for the contacts of L. ---------------------------------------------

carom_status carom_shared_directions(const carom_model *m, void *work, double t, const double *q, carom_local *L);
carom_status carom_shared_curvature(const carom_model *m, void *work, double t, const double *q, const double *v,
                                    const carom_local *L, double *kappa);
carom_status carom_shared_reaction_gradient(const carom_model *m, void *work, const double *q, const carom_local *L,
                                            const double *lambda, double s, carom_matrix D);
carom_status carom_shared_rate_gradient(const carom_model *m, void *work, const double *q, const double *v,
                                        const carom_local *L, carom_columns *D);

// -- narrow.c: the tapes of pairs.  Each answers for its contacts alone, and only when it is asked. -------------------

size_t carom_pairs_work(carom_model *m, size_t from); // places their work behind `from`; returns the end
void carom_pairs_work_init(const carom_model *m, void *work);
void carom_pairs_parameters(const carom_model *m, void *work, const double *parameter); // other values
/// g[id] of all contacts of pairs: exact when the shapes are near, else a bound.
carom_status carom_pairs_gaps(const carom_model *m, void *work, double t, const double *q, double *g);
// without those that come and go
carom_status carom_pairs_own_gaps(const carom_model *m, void *work, double t, const double *q, double *g);
/// u of all directions of pairs: exact when the shapes are near, else the rate of the bound, and no slip.
carom_status carom_pairs_rates(const carom_model *m, void *work, double t, const double *q, const double *v, double *u);
/// One group of the pairs with a tape of their own that hold one of the n ascending ids, each at its place in x: the
/// first list of the group from 0, the second from `second` on.
carom_status carom_pairs_eval(const carom_model *m, void *work, pair_group group, double t, const double *q,
                              const double *v, const int *id, int n, double *x, int second);
/// One group of a pair that shares its tape, all of it; nonzero: something is not finite.
int carom_pair_eval(const carom_model *m, void *work, const pair *p, pair_group group, const double *q, const double *v,
                    double *x);
/// The same without copying, until the tape is asked again.  False: use carom_pair_eval().
bool carom_pair_values(const carom_model *m, void *work, const pair *p, pair_group group, const double *q,
                       const double *v, carom_values *x);
/// Places of all its contacts, PAIR_PLACE numbers each.
void carom_pair_places(const carom_model *m, void *work, const pair *p, double t, const double *q, double *x);
/// Gaps and rates of far pairs as well are exact from now on for this work block, or bounds again.
void carom_pairs_exact(const carom_model *m, void *work, bool exact);
void carom_pairs_unknown(const carom_model *m, void *work); // those that come and go are others now: nothing is held
/// Features of pairs that are near: keep those of (t, q), answer with those kept, or with what is.
// listed: those of a list that are followed, n
carom_status carom_pairs_freeze(const carom_model *m, void *work, carom_freeze what, double t, const double *q,
                              pair *listed, int n);
