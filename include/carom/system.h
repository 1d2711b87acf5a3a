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
// A system is a struct of sizes and functions.  A three-line example in C, a model file
// and a thousand bodies look alike to a scheme.  The system and the model behind it are
// constant during a run; functions use `work` as scratch memory, of which every simulation
// has its own.  Functions are pure: the same arguments give the same bits.
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
    bool pressed;                  // friction-only contact: closed by a unit load of 1 N; its coefficient is the limit
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
    CAROM_FORCE_SETS = 16          // force() writes every entry of f: f may hold anything on entry
};

/// A piece of a motion: it lasts h, from (q_0, v_0) to (q_1, v_1).
typedef struct carom_way { const double *q_0, *v_0, *q_1, *v_1; double h; } carom_way;

/// Dynamic contact list: of many possible pairs, only those in proximity are contacts.  The
/// last contacts of a system are slots; from step to step a slot holds the same contact, or none (its gap is infinite),
/// or another one (fresh).
typedef struct carom_list {
    int slots;          // room
    int used;           // slots in use: contacts are among the first `used`
    int pairs;          // of bodies that are near each other; a pair may have several contacts
    long long *holds;   // slots; kept from step to step: what each slot holds, in the system's own code; 0: nothing
    bool *fresh;        // slots: does not hold what it held before
    bool *stays;        // slots: holds what it holds, near or not; NULL: none does, and strays() is not called
    double *calm;       // 1 + nparts + 2 nv, kept: end of the counted interval; time below the sleep speed and
                        // velocity integrals of each part; NULL: sleeping is off
    bool *asleep;       // nparts, kept: such a part has no contacts and no forces
    carom_contact *law; // slots
    void *work;         // list_work(slots) bytes; the system's
    struct carom_team *team; // threads that may share the work of these contacts; NULL: none.  Set before adopt()
    bool follows;       // features of its pairs are held (hold_list): list_work() has room for that
    double reach;       // a length, beyond what the velocities at the start of the step say: so much farther may shapes
                        // go
    const bool *off;    // nswitches: switches of the simulation that are off; NULL: none is
    const carom_way *ahead; // a motion from there that is known already; NULL: none
    bool has_fast_bodies; // bodies move far relative to their size in the step of the list; see may_tunnel()
} carom_list;

/// A pair of a list: its contacts, slots first .. first + count - 1, and the velocities that move its two bodies, v[i]
/// .. v[i] + nv[i] - 1; nv[i] = 0: that one stands still.
typedef struct carom_list_pair { int first, count, v[2], nv[2]; } carom_list_pair;

/// A controller: it computes at the times offset + k sample, and its outputs take effect `delay` later.
typedef struct carom_sampler { const char *name; double sample, offset, delay; } carom_sampler;

#define CAROM_GATE(c) (-2 - (c)) // in kink_of; it is its own inverse

/// Bounds of the gaps of all contacts that hold for every q, of a system without constraints whose gaps do not depend
/// on time (nq = nv).
typedef struct carom_reach {
    double *slope;  // nv: |dg/dq_k| <= slope[k]; zero on entry
    double *bend;   // nv: sum over l of |d2g/dq_k dq_l| <= bend[k]; zero on entry
    double size;    // |g| <= size + sum slope[k] |q_k|
    bool powerless; // power() gives zeros, whatever the state is
} carom_reach;

typedef enum carom_hold { CAROM_FREE, CAROM_HOLD, CAROM_HELD } carom_hold;

typedef struct carom_system {
    int nq, nv;                    // positions, velocities
    int ne, nc;                    // bilateral constraints, unilateral contacts
    int nrates;                    // of the ne the last ones: constraints on rates alone, W'v + w = 0, where W need be
                                   // no gradient; their gaps are 0
    unsigned flags;
    carom_shape mass_shape;        // storage of M
    carom_shape tangent_shape;     // storage of K, C and of all d()/dq; must hold mass_shape's pattern
    int column_stride;             // most entries a column of W has; >= nv: W is dense
    const carom_contact *contacts; // nc

    const void *model;             // handed to every function
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

    /// u = W'v + w of every recorded direction, in the order of ids.  NULL: by way of directions.
    carom_status (*rates)(const void *model, void *work, double t, const double *q, const double *v, double *u);

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
    /// power() in parts: along any velocity x the forces at (t, q, v) give external.x + external[nv] and take damping.x
    /// + damping[nv].  Adds weight times these nv + 1 numbers.  For schemes whose stages have other velocities than the
    /// motion.  NULL: not known, or no force depends on velocities other than linearly.
    carom_status (*power_along)(const void *model, void *work, double t, const double *q, const double *v,
                                double weight, double *external, double *damping);
    /// mass, force and (g not NULL) gaps together, as explicit schemes ask for them at one point.  Whatever M, f and
    /// g hold on entry is replaced.  NULL: they are called one by one.
    carom_status (*motion)(const void *model, void *work, double t, const double *q, const double *v, carom_matrix M,
                           double *f, double *g);
    /// M^-1 f and gaps, where nothing else is needed at a point.  CAROM_RETRY: not in this way, or not here.  NULL:
    /// never.
    carom_status (*free_motion)(const void *model, void *work, double t, const double *q, const double *v, double *a,
                                double *g);
    /// mass, force, (g not NULL) gaps and the directions of L together, where all of them are wanted at one point and
    /// nothing else.  Whatever M, f, g and L's W and w hold on entry is replaced.  CAROM_RETRY: not in this way, or not
    /// here; they are called one by one then.  NULL: never.
    carom_status (*motion_directions)(const void *model, void *work, double t, const double *q, const double *v,
                                      carom_matrix M, double *f, double *g, carom_local *L);
    /// Power that each of nworks forces gives (motors, loads; dampers a negative one), booked one by one.  NULL: none.
    int nworks;
    carom_status (*works)(const void *model, void *work, double t, const double *q, const double *v, double *power);
    /// gaps and power together, as they are booked after every step.  NULL: the two are called.
    carom_status (*observe)(const void *model, void *work, double t, const double *q, const double *v, double *g,
                            double *external, double *damping);
    /// Global bounds of the gaps; see carom_reach.  False: unknown.  NULL: never available.
    bool (*reach)(const void *model, void *work, carom_reach *reach);
    /// A gap between shapes with several features (sides, corners, edges) switches formula when the active feature
    /// changes.  CAROM_HOLD: from now on gaps, directions and curvature follow the formulas that hold at (t,
    /// q); CAROM_HELD: after CAROM_FREE, those once more, in a list with the features in addition that overlap at (t,
    /// q); CAROM_FREE: those of the point asked for, as always.  NULL: formulas do not change.
    carom_status (*hold)(const void *model, void *work, carom_hold what, double t, const double *q);
    /// On a piece of a motion from (t_0, q_0, v_0) to (t_1, q_1, v_1) whose velocities are not farther than v_off from
    /// the straight lines between their ends: of every contact (0 .. nc-1) a bound least <= g, and slowest <= u - x
    /// turn <= fastest for its normal velocity, x from 0 to 1 in time (infinite: g may jump).  least NaN: nothing is
    /// known of this contact.  NULL: of none.
    carom_status (*bounds)(const void *model, void *work, double t_0, double t_1, const double *q_0, const double *q_1,
                           const double *v_0, const double *v_1, const double *v_off, double *least, double *slowest,
                           double *fastest, double *turn);
    /// Of every contact whose friction varies CAROM_FRICTION_LAW numbers, at law + CAROM_FRICTION_LAW c.  NULL: none
    /// varies.  force: reactions by recorded directions; NULL where no contact has friction_reacts.
    carom_status (*friction)(const void *model, void *work, double t, const double *q, const double *v,
                             const double *force, double *law);
    /// Restitution of a contact (0 .. nc-1) that `varies`, for its approach speed >= 0.  NULL: none varies.
    double (*restitution)(const void *model, void *work, int contact, double speed);
    /// Message that explains the last failure of a function with this work block.  False: unknown.  NULL: never
    /// available.
    bool (*explain)(const void *model, void *work, char *text, size_t size);
    /// The largest overlap of contacts of finite stiffness, which are forces, at t and q, and which of them has it
    /// (carom_model_compliant() has its name); 0: none overlaps.  NULL: there are none.
    double (*compliant)(const void *model, void *work, double t, const double *q, long long *which);
    /// nk functions of the state; where one changes its sign the forces have a kink, and schemes that locate events
    /// begin anew there.
    int nk;
    carom_status (*kinks)(const void *model, void *work, double t, const double *q, const double *v, double *k);
    const int *kink_of; // nk: the contact (0 .. nc-1) whose gap has the kink, so that it counts while that is closed;
                        // -1: forces have it.  NULL: all are of forces
                        // CAROM_GATE(c): nothing has a kink; an open contact c closes only while the function is
                        // positive
    /// The first time behind t_0, not behind t_1, up to which forces, gaps or their directions have jumped or had a
    /// kink, whatever the state is, to rounding; HUGE_VAL: they do not.  Steps of schemes that locate events end before
    /// such times and begin behind them.  NULL: there are none.
    double (*jump)(const void *model, void *work, double t_0, double t_1);
    /// Latest end (at most t_1) of a step from t_0 that resolves all functions of time: no pulse shorter than the step,
    /// no change between its ends larger than `share` of the change over the whole run.  NULL: there
    /// are no such functions.
    double (*even)(const void *model, void *work, const double *run, double share, double t_0, double t_1);

    // -- optional: signals that are held between steps ----------------------------------------------
    int ni;                        // how many: inputs, then states and outputs of controllers
    int nset;                      // of them the first ones: inputs, which carom_sim_input() sets
    const double *input;           // ni: at the start
    /// From now on functions with this work block use these values.
    void (*inputs)(const void *model, void *work, const double *x);
    int nsamplers;
    const carom_sampler *samplers;
    /// Controller k at (t, q, v) changes signals in x.  effect: its outputs of the last sample take effect; else it
    /// computes.
    carom_status (*sample)(const void *model, void *work, int k, bool effect, double t, const double *q,
                           const double *v, double *x);

    // -- optional: contacts and parts that are there only while a condition holds --------------------
    int nswitches;                 // on or off, in a simulation
    const int *gate_of;            // nswitches: contact (0 .. nc-1) that may close only while it is on (CAROM_GATE),
                                   // -1: what is off is not there
    /// Switch i is to be on while c[i] is positive.
    carom_status (*conditions)(const void *model, void *work, double t, const double *q, const double *v, double *c);
    /// From now on functions with this work block use these switches, 1: on, 0: off.  A contact that is off has a
    /// constant positive gap and no directions, a part that is off no forces and no contacts.
    void (*switches)(const void *model, void *work, const double *on);
    /// Velocities of the part of switch i where it has just been switched: those at its start, or none.
    void (*switched)(const void *model, int i, bool on, double *v);
    /// What switch i belongs to, for messages.
    const char *(*switch_name)(const void *model, int i);

    // -- optional: dynamic contact list -------------------------------------------------------------
    bool sleeps;                   // parts that are slow for long fall asleep
    int listed;                    // of the nc contacts the last ones: slots of a list; a simulation has as many as it
                                   // needs.  0: none
    int nparts;
    const int *part;               // nparts + 1: M and its derivatives couple velocities part[i] .. part[i + 1] - 1
                                   // with each other only; NULL: not known
    /// Bytes of list->work for list->slots.
    size_t (*list_work)(const void *model, const carom_list *list);
    /// As hold(), for those that follow the features of all contacts that come and go, in a list that follows.  NULL:
    /// hold() does so, or they have none.
    carom_status (*hold_list)(const void *model, void *work, carom_hold what, double t, const double *q);
    /// The contacts of a step of h from (t, q, v) on: holds, fresh and used.  CAROM_NO_MEMORY: there are too few slots,
    /// used says how many it wants; nothing else has changed, but adopt() has to be called again.
    carom_status (*list)(const void *model, carom_list *list, double t, const double *q, const double *v, double h);
    /// The list->reach with which the list in use has all contacts that may close on a motion.  Where that is no more
    /// than what it was made with, it has them.  NULL: not known.
    double (*strays)(const void *model, const void *work, const carom_way *motion);
    /// From now on functions with this work block answer for what the list holds; fills in the laws.
    void (*adopt)(const void *model, void *work, carom_list *list);
    /// The number by which messages, events and ledgers know the contact in a slot: ne + nc - listed and more.  It
    /// stays the same.
    long long (*known_as)(const void *model, const carom_list *list, int slot);
    /// May the bodies of pair k (0 .. list->pairs-1) pass each other in the step that the list is for, because they
    /// travel far against their size?  Fills *pair then.  NULL: not known.
    bool (*may_tunnel)(const void *model, const carom_list *list, int k, carom_list_pair *pair);
    /// The smallest gap of such a pair where its bodies have moved from q0 along v for the time h; other velocities are
    /// not read.  q: nq numbers of scratch.
    carom_status (*gap_of_pair)(const void *model, void *work, int k, const double *q0, double h, const double *v,
                                double *q, double *gap);
    /// How far points of the two shapes of contact id, one that is always there, move together on the shortest way from
    /// q_0 to q_1: its gap falls by no more.  HUGE_VAL, or NULL: not known.
    double (*travel)(const void *model, int id, const double *q_0, const double *q_1);
    /// Lengths by which velocities (nv) and then positions (nq) are multiplied for the size of a state, positive: 1 of
    /// a length, a radius of gyration of an angle.  NULL: all are 1.
    const double *lever;
    /// Velocities that are first-order states z' = f/M, of their own unit, with the mass 1/scale^2: their positions are
    /// in no expression.  Positions have the same numbers.  0: none.
    int first_state, nstates;
    /// On a piece of a motion as of bounds(), of the forces f: f[i] is not farther than off[i] from mid[i] + x
    /// slope[i], x from -1 to 1 in time.  off infinite: nothing is known.  NULL: of none, or f has no narrow features.
    carom_status (*force_bounds)(const void *model, void *work, double t_0, double t_1, const double *q_0,
                                 const double *q_1, const double *v_0, const double *v_1, const double *v_off,
                                 double *mid, double *slope, double *off);
} carom_system;

/// A system with sizes, dense storage and no functions; fill in the rest.
carom_system carom_system_default(int nq, int nv, int ne, int nc);

/// Is the struct complete and sensible?  Says what is missing.
carom_status carom_system_check(const carom_system *sys, carom_error *err);

/// Local directions that constraint id has in records: its normal and all its tangents.
int carom_system_recorded(const carom_system *sys, int id);

/// Storage for the directions of constraints.
carom_local carom_allocate_local(carom_arena *mem, const carom_system *sys);

#ifdef __cplusplus
}
#endif
