// step.h (private): more functions of a step, for the schemes of this folder: iterations, rounding, sets, parts of
// contact problems.
#pragma once
#include <carom/implicit.h>
#include <math.h>

/// Does it hold nothing?  Where more was created than taken, `created` is not zero.
static inline bool carom_account_empty(const carom_account *a) {
    return a->impact == 0 && a->friction == 0 && a->external == 0 && a->damping == 0 && a->lost == 0 && a->created == 0;
}

/// a += b, of impacts split by sign alone.
static inline void carom_account_split(carom_account *a, const carom_account *b) {
    a->lost += b->lost;
    a->created += b->created;
    if (b->gain > a->gain) a->gain = b->gain, a->gain_id = b->gain_id, a->gain_t = b->gain_t;
}

/// q_0 = q, v_0 = v, q = q_0 (+) h v_0 of the step's state, in one pass: for schemes that change it in place, which put
/// it back when they fail.
void carom_move_keeping(const carom_step *s, double *q_0, double *v_0, double h);

/// Row r of `to` becomes row k of `from`; to's columns have room for it.
void carom_local_take_row(carom_local *to, int r, const carom_local *from, int k);

/// F = factor of s->M.  CAROM_SINGULAR: it is not positive definite, the error names the coordinate.
carom_status carom_mass_factorise(carom_step *s, carom_factor *F);

/// dx = rate of x with which q(x) = q0 (+) x moves with v.  Where (+) is not plain addition (rotations), schemes of
/// third and higher order add these instead of velocities.  dx may be v.
void carom_lift(const carom_step *s, double *dx, const double *x, const double *v);

/// g = gaps at the start of the step, (s->t, s->q): those that the simulation has, where it has them.
carom_status carom_gaps_before(carom_step *s, double *g);

/// Hold the features of contacts, or release them, as carom_system_events.freeze does.
carom_status carom_freeze_features(carom_step *s, carom_freeze what, double t, const double *q);
/// The same for contacts alone that are found by search (carom_system_list.freeze_searched).
carom_status carom_freeze_searched(carom_step *s, carom_freeze what, double t, const double *q);

/// L's set: all bilateral constraints and the contacts whose g is not positive, for schemes that keep sets by signs.
void carom_close(const carom_step *s, carom_local *L, const double *g);

#define CAROM_NOTICED 1e-6 // m: no gap rounds by so much; RULE_NOTICED of rules.inc


/// a = M^-1 f and gaps without the factor of M, where the system has a short way: *found.  Not where F is ready, which
/// serves as well.
carom_status carom_acceleration(carom_step *s, bool *found, const carom_factor *F, double *a, double *g, double t,
                                const double *q, const double *v);

/// carom_close_at() for a scheme that needs the directions at the point as well.  *known: L holds those of its set,
/// before the call and after it.
carom_status carom_close_knowing(carom_step *s, carom_local *L, double *g, bool *known, carom_evaluation_point at);

/// g of contacts, gaps at the point: of those that are closed there but leave (u_N > eps_u), it becomes 1.  L is
/// scratch.
carom_status carom_close_resting(carom_step *s, carom_local *L, double *g, carom_evaluation_point at);
/// (CL-11)  At the end of a step, for a scheme that takes gaps there by their signs: gaps of contacts that close within
///          an instant of one that closes become 0.  L: scratch.
carom_status carom_close_together(carom_step *s, carom_local *L, double *g, carom_evaluation_point at);

/// Contacts outside the set (sign not closed) that are below zero at the end of the step, g_1, take sign -1 if they
/// last: closed at its start, or reacted in the last one, or slower than the forces of a few steps make them.  some:
/// there are any, the step is to be taken again.  L and g_0 are scratch.
carom_status carom_close_thrown(carom_step *s, bool *some, double *sign, const double *g_1, carom_local *L, double *g_0,
                                carom_evaluation_point start);

/// Does a contact of L's set approach, by its normal velocity in u, faster than the forces of a few steps explain
/// (CL-4)?  L holds the directions at the point.  which, unless NULL: 1 for the constraints of the set that do, else 0.
carom_status carom_struck(carom_step *s, bool *some, double *which, const carom_local *L, const double *u,
                          carom_evaluation_point at);
/// The same with the curvatures of L's contacts at the point, kappa, in L's rows (NULL: not known).  *curved: were they
/// needed?
carom_status carom_struck_on(carom_step *s, bool *some, bool *curved, const carom_local *L, const double *u,
                             const double *kappa, carom_evaluation_point at);

/// Is a joint of L's set struck: is its velocity in u, which is 0 while it holds, larger than the forces of a few steps
/// explain (CL-4)?
carom_status carom_joints_struck(carom_step *s, bool *some, const carom_local *L, const double *u,
                                 carom_evaluation_point at);

/// theta of constraint id at the point (CL-4); of a contact that comes from a flight the curvature explains nothing.  L
/// is scratch.
carom_status carom_explained(carom_step *s, double *theta, carom_local *L, int id, bool flew,
                             carom_evaluation_point at);

/// u, local velocities of L's set before an impact, as seen at the start of a step: a contact whose directions jump on
/// the way to the point (a kink), where L has them, takes those at the point (CL-5).  v is the velocity before.
carom_status carom_velocity_before(carom_step *s, double *u, const carom_local *L, carom_evaluation_point at);

/// Does a contact that is open by g_0 close by g_1?
bool carom_closes(const carom_step *s, const double *g_0, const double *g_1);

/// As carom_system_directions(), without a call.
static inline int carom_directions_of(const carom_system *sys, int id) {
    const carom_contact *c = sys->contacts + (id - sys->ne);
    return id >= sys->ne && c->friction > 0 ? 1 + c->tangents : 1;
}

/// L's set: all bilateral constraints, of one row each.
static inline void carom_join_joints(const carom_system *sys, carom_local *L) {
    int *restrict id = L->id, *restrict at = L->at;
    const int ne = sys->ne;
    for (int k = 0; k < ne; ++k) id[k] = at[k] = k;
    at[ne] = L->nb = ne;
}

/// Are all gaps of contacts far from closed, and did none of them react (held)?  Then, in flight, nothing else has to
/// be evaluated.
bool carom_many_open(const double *g, const double *held, int nc);
static inline bool carom_all_open(const double *g, const double *held, int nc) {
    enum { FEW = 8 }; // fewer are sooner compared one by one than several at once
    int c = 0;
    if (nc >= FEW) return carom_many_open(g, held, nc);
    while (c < nc && g[c] >= CAROM_NOTICED && held[c] == 0) ++c;
    return c == nc;
}

/// The gaps g at q decide what is closed in this step: for the simulation.
void carom_note_gaps(const carom_step *s, const double *g, const double *q);

/// Where nothing is near (held: see carom_evaluation_point), L's set is that of the joints; false: carom_close_near()
/// finds it. Apart, so that no carom_evaluation_point is made where none is needed.
static inline bool carom_close_open(const carom_step *s, carom_local *L, const double *g, const double *held) {
    if (!carom_all_open(g + s->sys->ne, held ? held : s->active, s->sys->nc)) return false;
    carom_join_joints(s->sys, L);
    return true;
}
carom_status carom_close_near(carom_step *s, carom_local *L, double *g, const carom_evaluation_point *at);
/// As carom_close_at(), which see, without a call where nothing is near.
static inline carom_status carom_close_place(carom_step *s, carom_local *L, double *g, carom_evaluation_point at) {
    carom_note_gaps(s, g, at.q);
    return carom_close_open(s, L, g, at.active) ? CAROM_OK : carom_close_near(s, L, g, &at);
}

/// L's set: that of another frame.
void carom_local_same(carom_local *L, const carom_local *like);
/// (HE-12)  Directions of one set at a position and at the next one: a contact without a normal at the first, as where
/// corners coincide, has those at the next one.  True: there was one.
bool carom_local_complete(carom_local *L, const carom_local *next, int ne);

/// Do they have the same set?
bool carom_local_alike(const carom_local *A, const carom_local *B);

/// y[rows of L] = x[rows of Lx], for a set that is part of Lx's.
void carom_local_pick(double *y, const carom_local *L, const double *x, const carom_local *Lx);

/// sum_i |W_ik x_i|: a local quantity made of x is a small difference of terms of this size, and rounds with it.
double carom_local_magnitude(const carom_local *L, int k, const double *x);
/// The same for columns 0 .. n - 1, to y.
void carom_local_magnitudes(double *y, const carom_local *L, int n, const double *x);

/// What rounding may leave in W_k'x, and in a gap that moves along W_k at q = x: 16 eps sum |W_ik x_i|  (n = nv or nq).
double carom_local_rounding(const carom_local *L, int k, const double *x, int n);
/// The same where the largest |x_i| is known: positions that are no velocities may all enter.
double carom_local_rounding_within(const carom_local *L, int k, const double *x, int n, double size);
/// (LV-4)  The length by which the velocity of a joint along direction k of L counts beside velocities: of a row that
///         moves angles alone min lever_i/|W_ik|, to a power of two; else 1.
double carom_row_lever(const carom_step *s, const carom_local *L, int k);
/// By how much gap k of L changes at most where no coordinate (times its lever) changes by more than 1:  sum |W|.
double carom_local_reach(const carom_step *s, const carom_local *L, int k);
/// (CL-12)  Contacts that a scheme keeps closed without asking for their gaps, and that have run off the features they
///          had at the start of the step (or where else they were closed):  g - g by those features > 1e-6 sum |W|
///          size_q, far above drift.  Nothing is there that could push, and keeps[id] becomes false.  Both points: t
///          and q; g: gaps at the latter, by id; held: scratch, by id.
carom_status carom_run_off(carom_step *s, const carom_local *L, carom_evaluation_point from, carom_evaluation_point at,
                           const double *g, double *held, bool *keeps);

/// Gaps of L's contacts at the end of a step, q = q_0 (+) x with the directions there, that are no larger than their
/// rounding: contacts that share a load must not contradict each other by it.  They become 0, or the displacement W'x +
/// h w where that is as small (CL-8).
void carom_settle_gaps(const carom_step *s, double *g, const carom_local *L, const double *q, const double *x);

/// Is there a contact in L's set?  They come last.
static inline bool carom_some_contact(const carom_step *s, const carom_local *L) {
    return L->nb > 0 && L->id[L->nb - 1] >= s->sys->ne;
}
/// carom_local_velocity of the rows of contacts alone; those of joints, which come first, stay as they are.
void carom_contact_velocity(const carom_step *s, double *u, const carom_local *L, const double *v);
/// carom_local_velocity, by all threads of the team.
void carom_local_velocity_shared(const carom_step *s, double *u, const carom_local *L, const double *v);

/// What rounding may leave in the local velocities u = W'v + w of L's set: 16 eps max_k (|w_k| + sum_i |W_ik v_i|).
double carom_local_velocity_rounding(const carom_step *s, const carom_local *L, const double *v);

/// What rounding of large impulses leaves of a local velocity: 16 r, r the largest residual so far, or 1e-8 V where
/// that is less.  Where impulses are large against velocities, as under a heavy body, it is more than tol V (CP-10); r
/// is one draw of it, and the sums that make velocities of impulses draw some more.  A larger residual was accepted,
/// and is an error, not rounding (TOL-3).
double carom_impulse_rounding(const carom_step *s);
/// The largest residual of the run so far, where it is more than rounding; else 0.
double carom_residual_accepted(const carom_step *s);
/// What contact solvers may leave of a local velocity: 4 tol V and the rounding of impulses.
double carom_velocity_left(const carom_step *s);

/// (LV-2)  The size of positions, max |q_i| lever_i, and of rates: one length, one speed for all that moves, in any
///         unit of length.  lever: carom_system.lever.
static inline double carom_lever(const carom_system *sys, int velocity) {
    return sys->lever ? sys->lever[velocity] : 1;
}
static inline double carom_position_lever(const carom_system *sys, int position) {
    return sys->lever ? sys->lever[sys->nv + position] : 1;
}
/// Is velocity i a first-order state?  Position i is its integral then.
static inline bool carom_is_state(const carom_system *sys, int i) {
    return i >= sys->first_state && i < sys->first_state + sys->nstates;
}
/// The largest of n positions or velocities in its own unit, first-order states left out (STA-2).
static inline double carom_size_moving(const carom_system *sys, const double *x, int n) {
    if (sys->nstates == 0) return carom_norm_max(x, n);
    const int behind = sys->first_state + sys->nstates;
    const double a = carom_norm_max(x, sys->first_state), b = carom_norm_max(x + behind, n - behind);
    return a <= b ? b : a;
}
/// (LV-3)  The length by which a position or rate counts in tolerances: its lever, of an angle no less than size_q, so
/// that an angle's tolerance is at most that of 1 rad.  A lever of exactly 1 is that of a length.
static inline double carom_tolerance_lever(double lever, double size_q) { return lever == 1 ? 1 : fmax(lever, size_q); }
/// An absolute tolerance of position or rate i: atol of `size` over that length, and of a first-order state atol of its
/// scale (STA-2).
static inline double carom_tolerance_of(const carom_system *sys, bool position, int i, double atol, double size,
                                        double size_q) {
    const double lever = position ? carom_position_lever(sys, i) : carom_lever(sys, i);
    return carom_is_state(sys, i) ? atol / lever : atol * size / carom_tolerance_lever(lever, size_q);
}
static inline double carom_size_in_lengths(const carom_system *sys, const double *x, const double *lever, int n) {
    double most = 0;
    for (int i = 0; i < n; ++i) {
        const double y = fabs(x[i]) * lever[i];
        most = y <= most || (carom_is_state(sys, i) && y == y) ? most : y; // not a number stays
    }
    return most;
}
static inline double carom_size_of_rates(const carom_system *sys, const double *v) {
    return sys->lever ? carom_size_in_lengths(sys, v, sys->lever, sys->nv) : carom_norm_max(v, sys->nv);
}
/// The same with first-order states, by their scales: for iterations, which have to end in all of them.
static inline double carom_size_of_motion(const carom_system *sys, const double *v) {
    double most = carom_size_of_rates(sys, v);
    for (int i = sys->first_state; i < sys->first_state + sys->nstates; ++i) {
        const double x = fabs(v[i]) * sys->lever[i];
        most = x <= most ? most : x;
    }
    return most;
}
static inline double carom_size_of_positions(const carom_system *sys, const double *q) {
    return sys->lever ? carom_size_in_lengths(sys, q, sys->lever + sys->nv, sys->nq) : carom_norm_max(q, sys->nq);
}

/// (NEW-5)  The size of velocities: max |v_i| sqrt(M_ii), as carom_momentum_size() measures momenta.
/// Coordinates without inertia count as the heaviest one does.
double carom_velocity_size(const double *v, carom_matrix M);

/// What rounding of the position may leave in a force with K = -df/dq, by its size: 8 eps (sum_j |K_ij q_j| + sum_j
/// |K_ij q_0j|), q_0 at the start of the step.  Members much stiffer than the loads on them have forces that are small
/// differences of large ones, and a scheme that damps a fast vibration makes a small position of two large terms.  y is
/// scratch (nv).
double carom_force_rounding(const carom_step *s, carom_matrix K, carom_matrix M, const double *q, double *y);

/// Blocks with their laws and the storage of the contact problem of the set; G and c are the scheme's business.
void carom_problem_blocks(carom_step *s, const carom_local *L);

/// s->G, to be written by the caller, n x n numbers: carom_problem_form() relies on zeros that it has left there.
double *carom_problem_matrix(carom_step *s, int n);
/// The number of the problem that carom_problem_form() has formed last.
long carom_problem_number(const carom_step *s);
/// As carom_problem_form.  Where the last problem has that number, its B is taken: it had the same F and columns of Lf,
/// or those and more behind them.  0: none has it.  Nobody has written G since then.
void carom_problem_form_as(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a,
                           long number);
/// As carom_problem_form.  Columns of Lf are not the system's: friction of a contact that slides is part of its normal.
void carom_problem_form_pushed(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F,
                               double a);

/// c -= G x.
void carom_problem_subtract(carom_step *s, const double *x);

/// Restitution of row k of block b of a set; 0 for joints.
static inline double carom_row_restitution(const carom_system *sys, const carom_local *L, int b, int k) {
    if (L->id[b] < sys->ne) return 0;
    const carom_contact *c = sys->contacts + (L->id[b] - sys->ne);
    return k == L->at[b] ? c->restitution : c->tangential_restitution;
}
/// Restitution of a contact (0 .. nc-1) that is hit with the normal velocity u_N.
double carom_restitution(const carom_step *s, int contact, double u_N);

/// c = u_free + e o u_before, e the restitutions of each row (zero for bilateral rows): Newton's law.  Where contacts
/// follow other laws c = u_free - b, b the local velocities that carom_problem_bounce() has found for this set.
void carom_problem_restitution(carom_step *s, const carom_local *L, const double *u_free, const double *u_before);

/// Before it, once a step and set, with the problem formed: where contacts follow other laws than Newton's, the impact
/// that u_before makes. For steps in which forces and impacts share one problem.
carom_status carom_problem_bounce(carom_step *s, const carom_local *L, const double *u_before);
/// The same, where some contacts give nothing back; plastic by constraint of L, NULL: none.
carom_status carom_problem_bounce_from(carom_step *s, const carom_local *L, const double *u_before,
                                       const bool *plastic);

enum { CAROM_WARM = 24 }; // rows beyond which a contact problem starts from reactions that are known

/// Solve (s->c set) from the warm start; p and u are in s->problem.  Solved, or accepted above tolerance and counted
/// (docs/solvers.md, "When a step is refused"); else CAROM_RETRY, the error names time and constraint.
carom_status carom_problem_solve(carom_step *s, const carom_local *L);

/// (TOL-1)  c of n rows, velocities without reactions, counts for the scale of tolerances: of joints that a scheme
///          solves itself.
void carom_problem_scale(carom_step *s, const double *c, int n);

/// The same for a problem of the scheme's own making (s->problem, start in its p) whose block b belongs to constraint
/// id[b].
carom_status carom_problem_run(carom_step *s, const int *id);

/// A piece of the motion of this step, of a scheme that must not miss a contact on it.  Where the list of contacts is
/// too short for it, the step will be made again with a longer one.
void carom_list_suffices(carom_step *s, const carom_way *motion);

/// The step has as many parts more: internal steps, events.  CAROM_NOT_CONVERGED where the run's step has more than
/// `most`, with those of its halves and of all that was refused: a step that is refused for its many parts has as many
/// when it is halved, and would take for ever.
carom_status carom_limit_parts(carom_step *s, double parts, double most);
/// The same by work (AU-19), whatever it is spent on: evaluations of the model and factorisations so far.
carom_status carom_limit_work(carom_step *s, double most);
double carom_work_done(const carom_step *s);
void carom_factored(carom_step *s, int n); // a dense matrix of n rows

/// What contact problems leave behind in the step and in the counts of the run.  Far iterates and rejected attempts
/// have velocities that nothing ever had: what they leave is taken back.
typedef struct carom_traces {
    double scale, step_scale, most, residual;
    long long residual_id;
} carom_traces;
carom_traces carom_problem_traces(const carom_step *s);
void carom_problem_take_back(carom_step *s, const carom_traces *before);

/// Do the impulses in s->p and the velocities in s->c (u + e o u_0 of an iterate, not of its linearisation) meet the
/// laws of s->problem?  To tolerance, to the rounding given, to that of G p (CP-9), or as well as the last problem was
/// solved.
bool carom_problem_met(carom_step *s, const int *id, double rounding);

/// An impact of L's set by the laws of its contacts: v in place, accounted.  u_0, u_1: its local velocities before and
/// after.  u_back: as carom_problem_impact(), and may be u_1; NULL: u_0.
carom_status carom_impact(carom_step *s, const carom_local *L, const carom_factor *F, double *v, double *u_0,
                          const double *u_back, double *u_1);

/// As carom_problem_apply, for other numbers than p, from the first row on.
void carom_problem_react(carom_step *s, double *v, double a, const double *p, int rows);

/// Does the work of impulse b of L's set count as lost to impact?  That of a contact does; that of a bilateral
/// constraint only if a contact of the set is struck, else it stays in the balance.
bool carom_account_counts(const carom_step *s, const carom_local *L, int b, const double *p, const double *u_before);

/// Book what an impact of the joints of L's set takes, where carom_account_impulses() has left it in the balance: their
/// drive is struck, not a contact.
void carom_account_struck_joints(carom_step *s, const carom_local *L, const double *p, const double *u_before,
                              const double *u_after);

/// The power of forces without potential, for schemes whose stages have other velocities than the motion: forces that
/// are steep in the velocities (regularised friction) may be full at a stage and none at the end of the step.  Once
/// before the stages of a part of the step; at each stage, weight times its forces; then their work along the mean of
/// v_0 and v_1, between which they act.  Nothing, where the system has no power_along: then the simulation books the
/// power, from the ends of the step.
void carom_power_begin(carom_step *s);
/// What forces without potential give and take at a point; zeros, where the system has no power.
carom_status carom_power(carom_step *s, double t, const double *q, const double *v, double *given, double *taken);
carom_status carom_power_stage(carom_step *s, double weight, double t, const double *q, const double *v);
void carom_account_power(carom_step *s, const double *v_0, const double *v_1);

/// Emit the state on one side of an event that the scheme has located: before it the left limits, behind it the right
/// ones, at the same t. Fails if the observer requests a stop.
carom_status carom_beside(carom_step *s, carom_side side, double t, const double *q, const double *v);

/// Book by how much this step violates the scheme's own discrete energy balance, and the magnitude of its terms (J).
void carom_account_identity(carom_step *s, double violation, double terms);

/// A step outside the condition of its rule of dissipation (EN-6), with its numbers, by which energy rose beyond the
/// work of loads.
void carom_account_rise(carom_step *s, double rise, int rule, double x, double y);

/// Velocity i as messages call it: its name in quotes, or its number; in a buffer of the caller.
const char *carom_constraint_text(const carom_step *s, long long id, char *space, size_t size);
const char *carom_rate_text(const carom_step *s, int i, char *text, size_t size);
