// scheme.h: for authors of schemes: the step, its vocabulary, and the table a scheme is.
//
// A scheme is one small file that reads like its equations and ends in a const carom_scheme.  Its
// step() takes (q, v) from t to t + h with the words below.  See docs/add-a-scheme.md.
#pragma once
#include <carom/option.h>
#include <carom/problem.h>
#include <carom/difference.h>
#include <carom/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Work that contact reactions do in one step, for the ledger (J).
typedef struct carom_account {
    double impact;   // taken by normal impulses of contacts, and by bilateral ones in impacts
    double friction; // taken by tangential impulses and forces
    double external; // given by moving walls and driven joints
    double damping;  // taken by forces without potential; only from schemes that book it (`powers` in their table)
    // Impulses of contacts, all of an impact together, split by sign.  Part of impact and friction above.
    double lost, created;
    double gain;     // largest energy that one impact created; 0: none
    int gain_id;     // the contact that gave most of it
    double gain_t;   // when
} carom_account;

/// a += b, of impacts split by sign alone.
void carom_account_split(carom_account *a, const carom_account *b);

enum { CAROM_NEWTON_COUNTED = 60 };

/// What the words have to count; the simulation adds it to the ledger.
typedef struct carom_counts {
    long problems, iterations, fallbacks; // contact problems
    double residual;                      // largest contact residual, velocity units
    int residual_id;                      // constraint it belongs to, -1: none
    long accepted;                        // steps with a contact problem that was accepted above tolerance (TOL-3)
    double accepted_residual;             // largest residual of these over the scale of its step
    long newton;                          // Newton iterations, all steps
    int newton_max;                       // most in one step
    double newton_max_t;
    long newton_many;                     // steps that needed more than 20
    long newton_steps[CAROM_NEWTON_COUNTED + 1]; // steps by their iterations; the last: that many and more
    int newton_median;                    // of them; in ledgers
    long switches;                        // changes of method on the way
    double violation, terms;              // of the scheme's energy balance: largest violation, largest sum of its terms (J)
    long inner, inner_rejected;           // steps that schemes took inside their steps; attempts at them that were rejected
} carom_counts;

typedef enum carom_event_kind { CAROM_IMPACT, CAROM_CLOSE, CAROM_OPEN, CAROM_STICK, CAROM_SLIP, CAROM_ACCUMULATION } carom_event_kind;

typedef struct carom_event {
    double t;
    int contact; // 0 .. nc-1
    carom_event_kind kind;
    double before, after, impulse; // normal velocities and impulse (tangential velocities for stick and slip)
} carom_event;

typedef enum carom_side { CAROM_LEFT, CAROM_RIGHT } carom_side; // of a time at which velocities jump

/// What has to be multiplied for G = A'X with sparse columns, remembered while their rows stay the same.
typedef struct carom_products {
    int of_n;                 // rows of the problem that this is for
    bool symmetric, fits;     // X belongs to A: one triangle is enough; there was room for all products
    int n, room, *at, *end;   // entries of G, of each: where it stands, twice; the end of its products
    int *pair;                // products: an entry of A, an entry of X
    int *first;               // carom_problem.first
    int *known[2];            // counts and rows of A and W
    int *head, *next, *of;    // entries by unknown: first, next, the column of each
    int *count, *scratch;     // n, 2 nv
} carom_products;

/// G = a A'F^-1 W by blocks, for systems whose contacts come and go.  Constraint b acts on the parts link_part[first[b] .. first[b + 1] - 1].
typedef struct carom_assembly {
    int nparts, largest;
    const int *part;          // of the system
    bool begun;
    double *inverse;          // of F, part by part
    size_t *inverse_at;       // nparts
    const carom_factor *F;    // what the inverse belongs to
    long count;
    int *part_of;             // nv
    double *x;                // nv
    int nb, *first;           // constraints of the last problem; nb + 1
    int *link_part, *link_of; // part and constraint of each
    size_t *link_at;          // where its directions start in A and X, by rows
    int *head, *next;         // links of each part, in the order of constraints
    int *place;               // nb: scratch
    double *A, *X;            // directions; a F^-1 W
    double scale;             // a
    int *start, *col, *at, *diagonal;
    double *value;
    carom_block_rows rows;
    carom_parts parts;
    int *link_body, *body_of; // number of each part among those that take part; nparts
    size_t links, numbers, blocks, values; // room
} carom_assembly;

/// F^-1 W of a contact problem, and what is kept of it while F and W are constant: then a column of W'F^-1 W is computed
/// when its contact is closed for the first time, and never again.
typedef struct carom_delassus {
    carom_columns sparse, dense; // columns F^-1 W_k: of a diagonal F and sparse W; of the rest, as many as there is room for
    int *column;                 // by row of the problem: its column; -1: not stored, reactions are applied by solving
    const carom_factor *F;       // of the last problem
    const carom_local *L;
    double *x;                   // nv
    carom_columns source;        // of a constant mass: W_k of the columns of `dense` that are solved; a NULL: not remembered
    int sources;
    carom_products products[2];  // of sparse columns: A and W differ; the same
    bool keep, kept;             // the system's W is constant and large enough to keep columns; those of the last problem are kept
    const carom_factor *F_kept;  // what the rest belongs to; NULL: nothing yet
    long count;
    carom_local all;             // all constraints
    int stored;                  // columns of `dense` in use
    int *slot;                   // by direction of `all`: column of `dense`, or one of the marks of delassus.c
    int *from;                   // by row of the problem: its direction in `all`
    double *G;                   // W'F^-1 W over all directions, columns that are known
} carom_delassus;

/// Nothing mechanical is this large; energies of it are still numbers.
#define CAROM_GROWN 1e100

/// One step.  Arrays over "recorded directions" hold, for every constraint id, its normal and
/// all its tangential components from dir[id] on, active or not.
typedef struct carom_step {
    const carom_system *sys;
    void *sys_work;
    double t, h;         // from t to t + h
    long n;              // number of the step, from 0
    double *q, *v;       // in: state at t (right limits); out: state at t + h
    double *q_0, *v_0;   // for schemes that keep the state at t themselves (`keeps` in their table): where; NULL if not requested
    bool bounded;        // the scheme has seen on its way that all |v_i| at t + h are below CAROM_GROWN; false on entry
    const double *opt;   // values of the scheme's options, in the order of its list
    double tol;          // contact residual allowed, relative to `scale`
    double accept;       // where no solver does better: residual over contact.scale with which the step goes on and is counted
    double newton_tol;   // Newton residual allowed, relative
    struct carom_team *team; // threads that solvers may use; NULL: none
    struct {
        double safety;       // part of the step that an estimate allows
        double shrink, grow; // least and largest ratio of a step to the one before
    } control;           // of adaptive steps
    bool strict;         // a contact closes at g < 0 instead of g <= 0
    double *speed;       // largest local velocity met in this run (kept); scales tol
    double scale;        // speed, and what the problems of this step make of it
    struct {
        double scale;    // of this step: largest |c| of its contact problems so far (TOL-1)
        double last, most; // residual of its last problem, if that was accepted above tolerance, else 0; largest of such
        double refused;  // `scale` when a problem refused the step; 0: none did
    } contact;           // zero on entry

    const int *dir;      // ne + nc + 1: first recorded direction of each constraint
    double *impulse;     // recorded directions; zero on entry: impulse of this step not counted as force
    double *force;       // recorded directions; zero on entry: non-impulsive reaction at t + h
    double *nu;          // recorded directions, of schemes with a position level (`positions` in their table); zero on entry: its multipliers; else NULL
    double *u_before;    // recorded directions: local velocity before an impulse (only where impulse is set)
    double *u_after;     // recorded directions: local velocity after it, or where the force at the end acts
    double *lost;        // nc, kept; zero on entry: part of account.impact that normal impulses of each contact took
    bool reacted;        // something was booked in this step
    double *warm;        // recorded directions, kept: reaction of the last contact problem, to start the next
    const double *held;  // nc, kept: 1 for a contact that reacted in the last step
    carom_event *events;   // written by carom_tell
    int nevents, most_events;
    long parts;            // steps inside this one that were told with carom_inner
    carom_account account; // zero on entry
    double booked_t;       // time of the impulses that are booked; t + h on entry
    carom_status (*on_inner)(void *user, double t, const double *q, const double *v); // observer of inner steps; NULL: none
    carom_status (*on_event)(void *user, carom_side side, double t, const double *q, const double *v); // NULL if not requested
    void *inner_user, *event_user;
    /// Called before (report NULL) and after each contact problem; NULL if not requested.
    void (*on_problem)(void *user, double t, const carom_problem *pb, const carom_report *report);
    void *problem_user;
    bool (*stop)(const void *user); // asked at every call of the system: shall the run stop?  NULL: it shall not
    const void *stop_user;
    carom_counts *counts;

    // Scratch of the words.
    carom_matrix M;         // mass_shape
    carom_factor F_free;    // M, where a word needs it and the scheme has none
    double *a_free, *kappa; // nv: M^-1 f; by local direction: curvatures
    carom_delassus delassus; // F^-1 W of the last problem
    carom_assembly assembly; // the same by blocks
    carom_problem problem;
    carom_block *blocks;
    double *G, *c, *p, *u;  // storage of problem
    double a;               // scale of the impulses in problem: p acts as a p
    carom_difference difference;
    carom_chain *chain;
    struct carom_rubbing *rub;     // friction that varies (friction.c); NULL: none does
    struct carom_impacts *impacts; // laws of impact (impact.c); NULL: all contacts follow Newton's at once, with constant restitution
    const char *(*name)(const void *user, int id); // of a constraint, for messages; NULL: by number
    const void *name_user;
    const char *(*rate_name)(const void *user, int i); // of a velocity; NULL, or returns NULL: by number
    carom_error *err;
} carom_step;

// -- words ---------------------------------------------------------------------------------------
// Each word is one line of a paper.  Outputs first.  Words that can fail return a status for CAROM_TRY.
// A step that fails leaves q, v and its kept memory as they were: compute into scratch, write at the end.
// (What it booked is undone.)

/// q1 = q0 (+) h v.  q1 may be q0.
void carom_move(const carom_step *s, double *q1, const double *q0, double h, const double *v);

/// The same for iterate k = 0, 1, ... of an implicit step, q1 being the position of the iterate before: from the fourth on,
/// components that would change by one unit in their last place stay.  docs/METHODS.md, "When the position rounds".
void carom_move_iterate(const carom_step *s, double *q1, const double *q0, double h, const double *v, int k);

/// dx = rate of x with which q(x) = q0 (+) x moves with v.  Where (+) is no sum, schemes of third and higher order add these
/// instead of velocities.  dx may be v.
void carom_lift(const carom_step *s, double *dx, const double *x, const double *v);

/// M(t, q) into M.
carom_status carom_mass(carom_step *s, carom_matrix M, double t, const double *q);

/// F = factor of M(t, q); a constant mass is factorised once.
carom_status carom_mass_factor(carom_step *s, carom_factor *F, double t, const double *q);

carom_status carom_force(carom_step *s, double *f, double t, const double *q, const double *v);

/// M(t, q), f(t, q, v) and, unless g is NULL, g(t, q): cheaper than one by one.
carom_status carom_motion(carom_step *s, carom_matrix M, double *f, double *g, double t, const double *q, const double *v);

/// The same with F = factor of M; a constant mass is factorised once.
carom_status carom_motion_factor(carom_step *s, carom_factor *F, double *f, double *g, double t, const double *q, const double *v);

/// The same with a = M^-1 f instead of f.
carom_status carom_free_motion(carom_step *s, carom_factor *F, double *a, double *g, double t, const double *q, const double *v);

/// g[id], id = 0 .. ne+nc-1.
carom_status carom_gaps(carom_step *s, double *g, double t, const double *q);

/// Is a contact with this gap closed: g <= 0 (option closed: g < 0)?
static inline bool carom_closed(const carom_step *s, double g) { return s->strict ? g < 0 : g <= 0; }

/// Where a scheme stands, for the words that judge contacts: position, velocity, and M^-1 f there.
typedef struct carom_place {
    double t;
    const double *q, *v;
    const carom_factor *F; // factor of M where f are forces; NULL: f is M^-1 f already
    const double *f;       // NULL: found when needed
    const double *held;    // nc: 1 for contacts that reacted just before; NULL: in the last step
    double drift;          // part of the motion of a step by which a contact that reacted may drift open; 0: only rounding
} carom_place;

/// L's set: all bilateral constraints and the contacts that are closed at a point, g being the gaps there: by their sign, and
/// also when only rounding keeps them open, or when they reacted and do not leave (CL-3).  Those gaps become 0, so that
/// carom_closed says the same.  With option closed=strict by their sign alone.
static inline carom_status carom_close_at(carom_step *s, carom_local *L, double *g, carom_place at);

/// L's set: all bilateral constraints and the contacts whose g is not positive, for schemes that keep sets by signs.
void carom_close(const carom_step *s, carom_local *L, const double *g);

// Parts of carom_close_at: is a positive gap small, or did its contact react?  Then those that (CL-3) closes become 0.
bool carom_gaps_doubtful(const carom_step *s, const double *g, const double *held);
carom_status carom_round_gaps(carom_step *s, double *g, carom_local *L, const carom_place *at);
static inline carom_status carom_close_at(carom_step *s, carom_local *L, double *g, carom_place at) {
    if (!s->strict && carom_gaps_doubtful(s, g, at.held)) CAROM_TRY(carom_round_gaps(s, g, L, &at));
    carom_close(s, L, g);
    return CAROM_OK;
}

/// Does a contact of L's set approach, by its normal velocity in u, faster than the forces of a few steps explain (CL-4)?  L holds
/// the directions at the point.  which, unless NULL: 1 for the constraints of the set that do, else 0.
carom_status carom_struck(carom_step *s, bool *some, double *which, const carom_local *L, const double *u, carom_place at);

/// theta of constraint id at the point (CL-4).  L is scratch.
carom_status carom_explained(carom_step *s, double *theta, carom_local *L, int id, carom_place at);

/// u, local velocities of L's set before an impact, as seen at the start of a step: a contact whose directions jump on the way to the
/// point (a kink), where L has them, takes those at the point (CL-5).  v is the velocity before.
carom_status carom_velocity_before(carom_step *s, double *u, const carom_local *L, carom_place at);

/// L's set: all constraints; L's set: that of another frame.
void carom_close_all(const carom_step *s, carom_local *L);
void carom_local_same(carom_local *L, const carom_local *like);

/// y[rows of L] = x[rows of Lx], for a set that is part of Lx's.
void carom_local_pick(double *y, const carom_local *L, const double *x, const carom_local *Lx);

/// Directions of L's set at (t, q).
carom_status carom_directions(carom_step *s, carom_local *L, double t, const double *q);

/// u = W'v + w.
void carom_local_velocity(double *u, const carom_local *L, const double *v);

/// sum_i |W_ik x_i|: a local quantity made of x is a small difference of terms of this size, and rounds with it.
double carom_local_reach(const carom_local *L, int k, const double *x);

/// What rounding may leave in W_k'x, and in a gap that moves along W_k at q = x: 16 eps sum |W_ik x_i|  (n = nv or nq).
double carom_local_rounding(const carom_local *L, int k, const double *x, int n);
/// The same where the largest |x_i| is known: positions that are no velocities may all enter.
double carom_local_rounding_within(const carom_local *L, int k, const double *x, int n, double size);

/// What rounding may leave in the local velocities u = W'v + w of L's set: 16 eps max_k (|w_k| + sum_i |W_ik v_i|).
double carom_local_velocity_rounding(const carom_local *L, const double *v);

/// What rounding of the position may leave in a force with K = -df/dq: 8 eps max_i sum_j |K_ij q_j|.  Members much
/// stiffer than the loads on them have forces that are small differences of large ones.  y is scratch (nv).
double carom_force_rounding(const carom_step *s, carom_matrix K, const double *q, double *y);

/// V = W + a D, column by column; V = V + a e o D with e the restitution of each column.
void carom_local_blend(carom_local *V, const carom_local *L, double a, const carom_columns *D);
void carom_local_blend_restitution(const carom_step *s, carom_local *V, double a, const carom_columns *D);

/// y += s W p.
void carom_local_react(double *y, double s, const carom_local *L, const double *p);

carom_status carom_curvature(carom_step *s, double *kappa, const carom_local *L, double t, const double *q, const double *v);

/// K = -df/dq, C = -df/dv; D += x d(M y)/dq; D += x d(W lambda)/dq; columns d(W'v + w)/dq.
/// By the system, or by differences where it has none.
carom_status carom_tangent(carom_step *s, carom_matrix K, carom_matrix C, double t, const double *q, const double *v);
carom_status carom_mass_gradient(carom_step *s, carom_matrix D, double x, double t, const double *q, const double *y);
carom_status carom_reaction_gradient(carom_step *s, carom_matrix D, double x, const carom_local *L, const double *lambda, double t, const double *q);
carom_status carom_rate_gradient(carom_step *s, carom_columns *D, const carom_local *L, double t, const double *q, const double *v);

/// Blocks with their laws and the storage of the contact problem of the set; G and c are the scheme's business.
void carom_problem_blocks(carom_step *s, const carom_local *L);

/// The contact problem of the set: blocks with their laws, G = a A' B with B = F^-1 W_f.  A are the constraint directions (W of L), W_f the force directions (W of Lf; the same set).
void carom_problem_form(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a);

/// c -= G x.
void carom_problem_subtract(carom_step *s, const double *x);

/// Restitution of a contact (0 .. nc-1) that is hit with the normal velocity u_N.
double carom_restitution(const carom_step *s, int contact, double u_N);

/// c = u_free + e o u_before, e the restitutions of each row (zero for bilateral rows): Newton's law.  Where contacts follow other laws
/// c = u_free - b, b the local velocities that carom_problem_bounce() has found for this set.
void carom_problem_restitution(carom_step *s, const carom_local *L, const double *u_free, const double *u_before);

/// Before it, once a step and set, with the problem formed: where contacts follow other laws than Newton's, the impact that u_before makes.
/// For steps in which forces and impacts share one problem.
carom_status carom_problem_bounce(carom_step *s, const carom_local *L, const double *u_before);

/// An impact of the set at local velocities u, by the laws of its contacts; the problem is formed.  Impulses are in s->problem.p.  u_back is
/// u, but 0 for contacts that give nothing back.
carom_status carom_problem_impact(carom_step *s, const carom_local *L, const double *u, const double *u_back);

/// Solve (s->c set) from the warm start; p and u are in s->problem.  Solved, or accepted above tolerance and counted (docs/solvers.md, "When a
/// step is refused"); else CAROM_RETRY, the error names time and constraint.
carom_status carom_problem_solve(carom_step *s, const carom_local *L);

/// The same for a problem of the scheme's own making (s->problem, start in its p) whose block b belongs to constraint id[b].
carom_status carom_problem_run(carom_step *s, const int *id);

/// Do the impulses in s->p and the velocities in s->c (u + e o u_0 of an iterate, not of its linearisation) meet the laws of
/// s->problem?  To tolerance, to the rounding given, to that of G p (CP-9), or as well as the last problem was solved.
bool carom_problem_met(carom_step *s, double rounding);

/// No solver came below tolerance: is a residual accepted in a step of this scale?  Then it is counted.
bool carom_problem_accepted(carom_step *s, double residual, double scale);

/// v += a B p, B from carom_problem_form; the same for other numbers than p, from the first row on.
void carom_problem_apply(carom_step *s, double *v, double a);
void carom_problem_react(carom_step *s, double *v, double a, const double *p, int rows);

carom_delassus carom_carve_delassus(carom_arena *mem, const carom_system *sys);

/// Book the impulses p of L's set with the local velocities before and after.
void carom_book_impulses(carom_step *s, const carom_local *L, const double *p, const double *u_before, const double *u_after);

/// Does the work of impulse b of L's set count as lost to impact?  That of a contact does; that of a bilateral constraint only
/// if a contact of the set is struck, else it stays in the balance.
bool carom_book_counts(const carom_step *s, const carom_local *L, int b, const double *p, const double *u_before);

/// Book forces lambda of L's set as acting during the time `weight` at local velocity u; as the
/// reaction at the end of the step too when `end`.  Tangential ones take energy by friction, normal ones of contacts by
/// impact, those of joints none.
void carom_book_forces(carom_step *s, const carom_local *L, const double *lambda, const double *u, double weight, bool end);

/// Book the multiplier of constraint id on position level, of a step that has succeeded.
void carom_book_position(carom_step *s, int id, double nu);

/// Tell an event at time t.  For schemes that find events themselves (`tells` in their table).
carom_status carom_tell(carom_step *s, carom_event event);

/// Tell the end of a step inside this one, with right limits.  For schemes that divide their steps by tolerances.  Fails if
/// the observer requests a stop.
carom_status carom_inner(carom_step *s, double t, const double *q, const double *v);

/// Emit the state on one side of an event that the scheme has located: before it the left limits, behind it the right ones, at the same t.
/// Fails if the observer requests a stop.
carom_status carom_beside(carom_step *s, carom_side side, double t, const double *q, const double *v);

/// Count the Newton iterations of this step.
void carom_book_newton(carom_step *s, int iterations);

/// Book by how much this step violates the scheme's own discrete energy balance, and the magnitude of its terms (J).
void carom_book_identity(carom_step *s, double violation, double terms);

/// Velocity i as messages call it: its name in quotes, or its number; in a buffer of the caller.
const char *carom_rate_text(const carom_step *s, int i, char *text, size_t size);

/// Fail this step: CAROM_RETRY with a sentence that starts with the time.
carom_status carom_retry(carom_step *s, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;


// -- the table -------------------------------------------------------------------------------------

enum { // what a scheme lacks
    CAROM_NO_FRICTION = 1,
    CAROM_NO_BILATERAL = 2,
    CAROM_NO_UNEQUAL_RESTITUTION = 4,
    CAROM_NO_STEP_CHANGE = 8, // all steps must be equal: no shortened last step, no smaller step on failure
    CAROM_NO_IMPACTS = 16,    // no impact law: contacts are declined, unless its option impacts=ignore says otherwise
    CAROM_NO_IMPACT_LAWS = 64, // Newton's law alone, for all contacts at once, with constant restitution
    CAROM_NO_ADAPTIVE = 32    // step doubling says nothing about it, or it controls its steps itself
};

enum { CAROM_MANY = 1 << 28 };

typedef struct carom_scheme {
    const char *name;          // as typed
    const char *about;         // one line
    const char *text;          // its equations and what to know of it, for `carom schemes NAME`
    int order;                 // on smooth motion with velocity-dependent forces; tested
    int (*order_of)(const double *opt); // when an option decides; else NULL
    unsigned lacks;
    bool own_steps;            // it controls its error itself: h is only the interval between records
    double stable;             // largest h omega of an undamped oscillator that does not blow up; 0: no limit, or none known
    double (*stable_of)(const double *opt); // when an option decides; else NULL
    bool tells;                // it tells its events with carom_tell; else they are read off the reactions
    bool massless;             // M may be singular where joints or stiffness hold what has no inertia
    bool positions;            // it has multipliers on position level and books them with carom_book_position
    bool impulses;             // impulses, step by step, carry lasting contact; else forces do, and every impulse is an impact
    bool keeps;                // its step first copies (q, v) to (s->q_0, s->v_0), which costs less along with its own work
    bool powers;               // it books the work of forces without potential itself; else the trapezoidal rule over steps does
    bool redundant;            // it sees redundant constraints too and shares reactions among them itself; else they are left out
    int levels;                // times that a constraint stands in a contact problem, once more without friction each; 0: once
    int (*levels_of)(const double *opt); // when an option decides; else NULL
    bool full_levels;          // with friction each time
    const carom_option *options;
    const char *(*warning)(const double *opt); // sentence about options not to be used for results, or NULL; for the ledger
    size_t work_size;
    /// Carve scratch from mem, and what must survive from step to step from keep (doubles only).
    void (*carve)(void *work, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt);
    carom_status (*start)(void *work, carom_step *s); // before the first step; NULL: nothing
    carom_status (*step)(void *work, carom_step *s);
    /// Dense output: the state at t + x h of the step just done, 0 < x < 1, as the scheme's own polynomials have it.  NULL: it has none.
    void (*dense)(void *work, const carom_step *s, double x, double *q, double *v);
    void (*say)(const void *work, char *text, size_t size); // what it chose and changed on the way, in words; NULL: nothing
    int many;                  // most contacts that come and go, CAROM_MANY: any number; 0: such systems are declined
    void (*forget)(void *work, carom_step *s, int id); // constraint id is another contact now: clear what is kept of it; NULL: nothing is
    void (*finish)(void *work); // gives back what start got from elsewhere; also after a failed or missing start; NULL: nothing
} carom_scheme;

const carom_scheme *carom_scheme_find(const char *name);
const carom_scheme *carom_scheme_at(int i); // NULL after the last

#ifdef __cplusplus
}
#endif
