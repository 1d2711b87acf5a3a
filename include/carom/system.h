// system.h: the mechanical system that a scheme sees.
//
//     q' = Y(q) v,     M(t,q) v' = f(t,q,v) + W(t,q) lambda                         (SYS-1)
//
// with bilateral constraints g_j(t,q) = 0, unilateral gaps g_j(t,q) >= 0 and, at a gap, up to five
// tangential directions with Coulomb friction: two of sliding, three of rolling and spinning.  Constraints are numbered
// by one id:
//
//     id = 0 .. ne-1        bilateral            one local direction
//     id = ne .. ne+nc-1    unilateral contact   one normal direction, then 0 to 5 tangential ones
//
// The local velocity of constraint id is u = W'v + w, where the columns of W are the directions in
// which its reactions act and w = dg/dt (and d slip/dt) is there only when time enters explicitly.
//
// A system is a struct of sizes and functions, and of extensions: groups of optional functions, each with a contract of
// its own.  A three-line example in C, a model file and a thousand bodies are the same to a scheme.  The system and the
// model are constant during a run; functions use `work` as scratch memory, of which every simulation has its
// own.  Functions are pure: the same arguments give the same bits.
//
// Derivatives "by q" are always taken along velocities: column j of d()/dq is the derivative along
// q(s) = move(q, s e_j), so they are nv wide also when nq differs from nv.
#pragma once
#include <carom/matrix.h>
#include <carom/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CAROM_TANGENTS = 5 }; // most tangential directions of a contact
enum { CAROM_FRICTION_LAW = 2 + CAROM_TANGENTS }; // coefficient of a contact that slips, of one that sticks, tangential
                                                  // velocities

typedef enum carom_impact_law { CAROM_NEWTON, CAROM_POISSON, CAROM_ENERGETIC, CAROM_FREMOND } carom_impact_law;

typedef struct carom_contact {
    double restitution;            // normal, in [0, 1]; varies: at approach speed 0
    double tangential_restitution; // Newton's law only, tangential, in [0, 1]
    double friction;               // Coulomb's mu >= 0
    int tangents;                  // tangential directions known: 0, 1 (planar), 2 (spatial), with rolling and spinning
                                   // up to CAROM_TANGENTS
    carom_impact_law impact;       // what restitution means
    bool sequential;               // resolve impacts one contact at a time instead of simultaneously; always so for the
                                   // energetic law
    bool friction_varies;          // friction depends on the slip, on the state or on reactions: carom_system.friction
    bool friction_reacts;          // on reactions
    bool friction_only;            // friction-only contact: closed by a unit load of 1 N; its coefficient is the limit
                                   // of the friction force
    int disc[2];                   // tangents of sliding and of rolling, where these and the rest (spinning) are
                                   // bounded one by one; 0, 0: by one ball
    double ellipse[2];             // factors of the first two tangents, at most 1, whose coefficients differ; 0: they
                                   // do not
    bool varies;                   // restitution depends on the approach speed: carom_system.restitution
} carom_contact;

/// The local frame of a set of constraints at one point (t, q).  Ids ascend.  A contact whose
/// friction is zero brings its normal direction only.
typedef struct carom_local {
    int nb;          // constraints in the set
    int *id;         // nb: their ids
    int *at;         // nb + 1: first local direction of each
    carom_columns W; // nv x at[nb]
    double *w;       // at[nb]: the part of u that is there at v = 0
    const double *lever; // of the system
} carom_local;

enum { // what does not change; each lets a scheme save work
    CAROM_CONSTANT_MASS = 1,       // M is a constant matrix
    CAROM_CONSTANT_DIRECTIONS = 2, // W is constant
    CAROM_TIMELESS_GAPS = 4,       // time does not enter gaps and constraints: w = 0
    CAROM_LINEAR = 8,              // M, K and C are constant: f = f(t) - K q - C v, and nq = nv without move()
    CAROM_FORCE_SETS = 16          // force() writes every entry of f: f is undefined on entry
};

/// A piece of a motion: it lasts h, from (q_0, v_0) to (q_1, v_1).
typedef struct carom_way { const double *q_0, *v_0, *q_1, *v_1; double h; } carom_way;

/// Dynamic contact list: of many possible pairs, only those in proximity are contacts.  The last contacts of a system
/// are slots; from step to step a slot has the same contact, or none (its gap is infinite), or another one (is_new).
typedef struct carom_list {
    int slots;            // capacity
    int used;             // slots in use: contacts are among the first `used`
    int pairs;            // of bodies that are near each other; a pair may have several contacts
    long long *key;       // slots, saved with the state: the contact of each slot, in the system's own code; 0: none
    bool *is_new;         // slots: has another contact than before
    bool *stays;          // slots: keeps its contact, near or not; NULL: none does
    double *sleep_timers; // 1 + nparts + 2 nv, saved with the state: end of the counted interval; time below the sleep
                          // speed and velocity integrals of each part; NULL: sleeping is off
    int *asleep;          // nparts, saved with the state: 0: awake; else the number of the group with which such a part
                          // wakes.  Until then it has no contacts and no forces
    carom_contact *law;   // slots
    void *work;           // work_size(slots) bytes; the system's
    struct carom_team *team; // threads that may share the work of these contacts; NULL: none.  Set before adopt()
    bool freezes;         // features of its pairs are frozen: work_size() has room for that
    double margin;        // a length, added to the distance that the velocities at the start of the step give
    const bool *off;      // nswitches: switches of the simulation that are off; NULL: none is
    const carom_way *ahead; // a motion from there that is decided already; NULL: none
    bool has_fast_bodies; // bodies move far relative to their size in the step of the list; see may_tunnel()
    bool measured;        // margin_for() may be called
} carom_list;

/// A pair of a list: its contacts, slots first .. first + count - 1, and the velocities that move its two bodies, v[i]
/// .. v[i] + nv[i] - 1; nv[i] = 0: that one does not move.
typedef struct carom_list_pair { int first, count, v[2], nv[2]; } carom_list_pair;

/// A controller: it computes at the times offset + k sample, and its outputs take effect `delay` later.
typedef struct carom_sampler { const char *name; double sample, offset, delay; } carom_sampler;

#define CAROM_CLOSES_WHILE(c) (-2 - (c)) // in kink_of; it is its own inverse

/// Bounds of the gaps of all contacts that hold for every q, of a system without constraints whose gaps do not depend
/// on time (nq = nv).
typedef struct carom_gap_bounds {
    double *slope;  // nv: |dg/dq_k| <= slope[k]; zero on entry
    double *bend;   // nv: sum over l of |d2g/dq_k dq_l| <= bend[k]; zero on entry
    double size;    // |g| <= size + sum slope[k] |q_k|
    bool powerless; // power() gives zeros, whatever the state is
} carom_gap_bounds;

typedef enum carom_freeze { CAROM_RELEASE, CAROM_FREEZE, CAROM_FREEZE_AGAIN } carom_freeze;

// -- extensions: groups of optional functions, by purpose.  Every function may be NULL. ----------------------------

/// Several quantities at one point in one call.  Contract: bit-identical to the functions that they replace.
typedef struct carom_system_speed {
    /// mass, force and (g not NULL) gaps, at a point where explicit schemes need them.  Replaces the contents of M, f
    /// and g.
    carom_status (*motion)(const void *model, void *work, double t, const double *q, const double *v, carom_matrix M,
                           double *f, double *g);
    /// M^-1 f and gaps, where nothing else is needed at a point.  CAROM_RETRY: not in this way, or not here.
    carom_status (*free_motion)(const void *model, void *work, double t, const double *q, const double *v, double *a,
                                double *g);
    /// mass, force, (g not NULL) gaps and the directions of L.  Replaces the contents of M, f, g and L's W and w.
    /// CAROM_RETRY: not in this way, or not here; they are called one by one then.
    carom_status (*motion_directions)(const void *model, void *work, double t, const double *q, const double *v,
                                      carom_matrix M, double *f, double *g, carom_local *L);
    /// u = W'v + w of every recorded direction, in the order of ids.  NULL: by way of directions.
    carom_status (*rates)(const void *model, void *work, double t, const double *q, const double *v, double *u);
    /// gaps and power, as they are accounted after every step.
    carom_status (*observe)(const void *model, void *work, double t, const double *q, const double *v, double *g,
                            double *external, double *damping);
} carom_system_speed;

/// The work of forces in detail.  Contract: sums are those of power().
typedef struct carom_system_accounts {
    int nworks;
    /// Power of each of nworks forces (motors, loads; dampers a negative one), accounted one by one.
    carom_status (*works)(const void *model, void *work, double t, const double *q, const double *v, double *power);
    /// power() as a linear form: along any velocity x the forces at (t, q, v) give external.x + external[nv] and take
    /// damping.x + damping[nv].  Adds weight times these nv + 1 numbers.  For schemes whose stages have other
    /// velocities than the motion.  NULL: unknown, or no force depends on velocities other than linearly.
    carom_status (*power_along)(const void *model, void *work, double t, const double *q, const double *v,
                                double weight, double *external, double *damping);
} carom_system_accounts;

/// For schemes that locate events.  Contract: a scheme misses nothing inside the bounds given here, and everything that
/// is not smooth is a kink, a jump or a change of features.
typedef struct carom_system_events {
    /// nk functions of the state; where one changes its sign the forces have a kink, and schemes that locate events
    /// begin anew there.
    int nk;
    carom_status (*kinks)(const void *model, void *work, double t, const double *q, const double *v, double *k);
    const int *kink_of; // nk: the contact (0 .. nc-1) whose gap has the kink, so that it counts while that is closed;
                        // -1: forces have it.  NULL: all are of forces
                        // CAROM_CLOSES_WHILE(c): nothing has a kink; an open contact c closes only while the function
                        // is positive
    /// The first time after t_0, not after t_1, up to which forces, gaps or their directions have jumped or had a
    /// kink, whatever the state is, to rounding; HUGE_VAL: they do not.  Steps of schemes that locate events end before
    /// such times and begin after them.  NULL: there are none.
    double (*next_jump)(const void *model, void *work, double t_0, double t_1);
    /// Latest end (at most t_1) of a step from t_0 that resolves all functions of time: no pulse shorter than the step,
    /// no change between its ends larger than `share` of the change over the whole run.  NULL: there are no such
    /// functions.
    double (*limit_step)(const void *model, void *work, const double *run, double share, double t_0, double t_1);
    /// A gap between shapes with several features (sides, corners, edges) switches formula when the active feature
    /// changes.  CAROM_FREEZE: from now on gaps, directions and curvature follow the formulas that are active at (t,
    /// q); CAROM_FREEZE_AGAIN: after CAROM_RELEASE, those once more, in a list with the features in addition that
    /// overlap at (t, q); CAROM_RELEASE: those of the point of each call, as usual.  NULL: formulas do not change.
    carom_status (*freeze)(const void *model, void *work, carom_freeze what, double t, const double *q);
    /// On a piece of a motion from (t_0, q_0, v_0) to (t_1, q_1, v_1) whose velocities are not farther than v_off from
    /// the straight lines between their ends: of every contact (0 .. nc-1) a bound least <= g, and slowest <= u - x
    /// change <= fastest for its normal velocity, x from 0 to 1 in time (infinite: g may jump).  least NaN: nothing is
    /// known of this contact.  NULL: of none.
    carom_status (*gap_bounds)(const void *model, void *work, double t_0, double t_1, const double *q_0,
                               const double *q_1, const double *v_0, const double *v_1, const double *v_off,
                               double *least, double *slowest, double *fastest, double *change);
    /// On such a piece, of the forces f: f[i] is not farther than off[i] from mid[i] + x slope[i], x from -1 to 1 in
    /// time.  off infinite: nothing is known.  Less the forces of compliant contacts of a dynamic list, which have
    /// kinks of their own (kinks_per_slot).  NULL: of none, or f has no narrow features.
    carom_status (*force_bounds)(const void *model, void *work, double t_0, double t_1, const double *q_0,
                                 const double *q_1, const double *v_0, const double *v_1, const double *v_off,
                                 double *mid, double *slope, double *off);
    /// Global bounds of the gaps; see carom_gap_bounds.  False, or NULL: unknown.
    bool (*global_bounds)(const void *model, void *work, carom_gap_bounds *bounds);
    /// Of the nk the last ones belong to a dynamic contact list, this number to each of its slots: kinks of forces.
    /// kink_of does not include them.
    int kinks_per_slot;
} carom_system_events;

/// Signals that are constant between steps.  Contract: functions see the values of the last set(), no others.
typedef struct carom_system_signals {
    int ni;              // number: inputs, then states and outputs of controllers
    int nset;            // of them the first ones: inputs, which carom_sim_input() sets
    const double *input; // ni: at the start
    /// From now on functions with this work block use these values.
    void (*set)(const void *model, void *work, const double *x);
    int nsamplers;
    const carom_sampler *samplers;
    /// Controller k at (t, q, v) changes signals in x.  effect: its outputs of the last sample take effect; else it
    /// computes.
    carom_status (*sample)(const void *model, void *work, int k, bool effect, double t, const double *q,
                           const double *v, double *x);
} carom_system_signals;

/// Contacts and bodies that exist only while a condition is met.  Contract: a contact that is off has a constant
/// positive gap and no directions, a body that is off no forces and no contacts.
typedef struct carom_system_conditions {
    int nswitches;         // on or off, in a simulation
    const int *contact_of; // nswitches: contact (0 .. nc-1) that may close only while it is on (CAROM_CLOSES_WHILE),
                           // -1: what is off is not there
    /// Switch i is on while c[i] is positive.
    carom_status (*evaluate)(const void *model, void *work, double t, const double *q, const double *v, double *c);
    /// From now on functions with this work block use these switches, 1: on, 0: off.
    void (*set)(const void *model, void *work, const double *on);
    /// Velocities of the body of switch i where it has just been switched: its initial ones, or none.
    void (*velocities)(const void *model, int i, bool on, double *v);
    /// Owner of switch i, for messages.
    const char *(*name)(const void *model, int i);
} carom_system_conditions;

/// Dynamic contact list; needed where carom_system.listed > 0.  Contract: search() finds all contacts that can close in
/// the step within the margin, and rows of one contact have the same key.
typedef struct carom_system_list {
    bool sleeps; // parts that are slow for long fall asleep
    /// Bytes of list->work for list->slots.
    size_t (*work_size)(const void *model, const carom_list *list);
    /// As carom_system_events.freeze, for features of all contacts of a list that freezes.  NULL: that one does so, or
    /// they have none.
    carom_status (*freeze)(const void *model, void *work, carom_freeze what, double t, const double *q);
    /// The same for those alone that are found by search: from one iterate to the next their slots change to other
    /// features, and CAROM_FREEZE_AGAIN adds those that overlap.  NULL: none is found by search.
    carom_status (*freeze_searched)(const void *model, void *work, carom_freeze what, double t, const double *q);
    /// The contacts of a step of h from (t, q, v) on: key, is_new and used.  CAROM_NO_MEMORY: there are too few slots,
    /// used is the number needed; nothing else has changed, but adopt() has to be called again.
    carom_status (*search)(const void *model, carom_list *list, double t, const double *q, const double *v, double h);
    /// The list->margin with which the list in use has all contacts that may close on a motion.  Where that is no more
    /// than its margin, it has them.  NULL: unknown.
    double (*margin_for)(const void *model, const void *work, const carom_way *motion);
    /// From now on functions with this work block are those of this list; fills in the laws.
    void (*adopt)(const void *model, void *work, carom_list *list);
    /// The number of the contact in a slot in messages, events and ledgers: ne + nc - listed and more.  It stays the
    /// same.
    long long (*number_of)(const void *model, const carom_list *list, int slot);
    /// May the bodies of pair k (0 .. list->pairs-1) pass each other in the step of the list, because they move far
    /// relative to their size?  Fills *pair then.  NULL: unknown.
    bool (*may_tunnel)(const void *model, const carom_list *list, int k, carom_list_pair *pair);
    /// The smallest gap of such a pair where its bodies have moved from q0 along v for the time h; other velocities are
    /// not read.  q: nq numbers of scratch.
    carom_status (*gap_of_pair)(const void *model, void *work, int k, const double *q0, double h, const double *v,
                                double *q, double *gap);
    bool forces; // its contacts are forces, and never close
} carom_system_list;

/// For warnings.  Contract: called after steps; results do not enter the motion.
typedef struct carom_system_checks {
    /// The largest overlap of compliant contacts, which are forces, at t and q, and which of them has it, in a number
    /// of the system's own; 0: none overlaps.  NULL: there are none.
    double (*compliant_overlap)(const void *model, void *work, double t, const double *q, long long *which);
    /// Bound of the relative displacement of the two shapes of contact id, one that is not of the list, on the shortest
    /// way from q_0 to q_1: its gap falls by no more.  HUGE_VAL, or NULL: unknown.
    double (*displacement_bound)(const void *model, int id, const double *q_0, const double *q_1);
} carom_system_checks;

// -- the system -------------------------------------------------------------------------------------------------------

typedef struct carom_system {
    int nq, nv;                    // positions, velocities
    int ne, nc;                    // bilateral constraints, unilateral contacts
    int nrates;                    // of the ne the last ones: constraints on rates alone, W'v + w = 0, where W need be
                                   // no gradient; their gaps are 0
    int listed;                    // of the nc contacts the last ones: slots of a dynamic list, of which a simulation
                                   // has as many as it needs.  0: none
    int nparts;
    const int *part;               // nparts + 1: M and its derivatives couple velocities part[i] .. part[i + 1] - 1
                                   // with each other only; NULL: unknown
    int first_state, nstates;      // velocities that are first-order states z' = f/M, of their own unit, with the mass
                                   // 1/scale^2: their positions, of the same numbers, are in no expression.  0: none
    const double *lever;           // factors of velocities (nv), then of positions (nq) in the size of a state,
                                   // positive: 1 of a length, a radius of gyration of an angle.  NULL: all are 1
    unsigned flags;
    carom_shape mass_shape;        // storage of M
    carom_shape tangent_shape;     // storage of K, C and of all d()/dq; must contain mass_shape's pattern
    int column_stride;             // most entries a column of W has; >= nv: W is dense
    const carom_contact *contacts; // nc

    const void *model;             // argument of every function
    size_t work_size;              // bytes of scratch that the functions need
    void (*work_init)(const void *model, void *work); // may be NULL: work starts as zeros

    // -- required -------------------------------------------------------------------------------
    /// M is zero on entry, like every matrix and vector that is an output below (but see CAROM_FORCE_SETS).
    carom_status (*mass)(const void *model, void *work, double t, const double *q, carom_matrix M);
    carom_status (*force)(const void *model, void *work, double t, const double *q, const double *v, double *f);
    /// g[id] for all ne + nc constraints; NULL when there are none.
    carom_status (*gaps)(const void *model, void *work, double t, const double *q, double *g);
    /// Fill L->W (and L->w) for the constraints listed in L->id.
    carom_status (*directions)(const void *model, void *work, double t, const double *q, carom_local *L);

    // -- optional: NULL falls back to finite differences ------------------------------------------
    /// kappa: all that is in d/dt (W'v + w) except W'v'.  One entry per local direction of L.
    carom_status (*curvature)(const void *model, void *work, double t, const double *q, const double *v,
                              const carom_local *L, double *kappa);
    /// K = -df/dq, C = -df/dv.
    carom_status (*tangent)(const void *model, void *work, double t, const double *q, const double *v,
                            carom_matrix K, carom_matrix C);
    /// D += s d(M x)/dq for constant x.
    carom_status (*mass_gradient)(const void *model, void *work, double t, const double *q, const double *x,
                                  double s, carom_matrix D);
    /// D += s d(W lambda)/dq for constant lambda.
    carom_status (*reaction_gradient)(const void *model, void *work, double t, const double *q,
                                      const carom_local *L, const double *lambda, double s, carom_matrix D);
    /// Column k of D = d(W_k'v + w_k)/dq, for constant v.
    carom_status (*rate_gradient)(const void *model, void *work, double t, const double *q, const double *v,
                                  const carom_local *L, carom_columns *D);

    // -- optional -----------------------------------------------------------------------------------
    /// q1 = q0 moved along v for the time h.  NULL: q1 = q0 + h v (nq = nv).  q1 may be q0.
    void (*move)(const void *model, double *q1, const double *q0, double h, const double *v);
    /// How x in q(x) = move(q0, 1, x) must change for q to move with v: dx = x', exact in |x|.  Schemes of third and
    /// higher order add these.  NULL: dx = v, right where move is a sum.  dx may be v.
    void (*lift)(const void *model, double *dx, const double *x, const double *v);
    /// Energies, for the record only.  NULL: 1/2 v'Mv and 0.
    carom_status (*energy)(const void *model, void *work, double t, const double *q, const double *v,
                           double *kinetic, double *potential);
    /// Power of the non-conservative forces: v.f(t,q,0) is external, the rest damping
    /// (counted positive when it takes energy).  NULL: none.
    carom_status (*power)(const void *model, void *work, double t, const double *q, const double *v,
                          double *external, double *damping);
    /// Of every contact whose friction varies CAROM_FRICTION_LAW numbers, at law + CAROM_FRICTION_LAW c.  NULL: none
    /// varies.  force: reactions by recorded directions; NULL where no contact has friction_reacts.
    carom_status (*friction)(const void *model, void *work, double t, const double *q, const double *v,
                             const double *force, double *law);
    /// Restitution of a contact (0 .. nc-1) that `varies`, for its approach speed >= 0.  NULL: none varies.
    double (*restitution)(const void *model, void *work, int contact, double speed);
    /// Message that explains the last failure of a function with this work block.  False: unknown.  NULL: never
    /// available.
    bool (*explain)(const void *model, void *work, char *text, size_t size);

    // -- extensions: never NULL; carom_system_default() gives empty ones ----------------------------
    const carom_system_speed *speed;
    const carom_system_accounts *accounts;
    const carom_system_events *events;
    const carom_system_signals *signals;
    const carom_system_conditions *conditional;
    const carom_system_list *contact_list;
    const carom_system_checks *checks;
} carom_system;

/// A system with sizes, dense storage, no functions and empty extensions; fill in the rest.
carom_system carom_system_default(int nq, int nv, int ne, int nc);

/// Is the struct complete and sensible?  err names what is missing.
carom_status carom_system_check(const carom_system *sys, carom_error *err);

/// Local directions that constraint id has in records: its normal and all its tangents.
int carom_system_recorded(const carom_system *sys, int id);

/// Storage for the directions of constraints.
carom_local carom_allocate_local(carom_arena *mem, const carom_system *sys);

#ifdef __cplusplus
}
#endif
