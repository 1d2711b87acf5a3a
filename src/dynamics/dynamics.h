// dynamics.h (private): a model at one point: its matrices, constraints and contacts, as equilibria and modes need
// them.
#pragma once
#include "base/tolerance.h"
#include "dynamics/joined.h"
#include "system/difference.h"
#include "system/independent.h"
#include <carom/run.h>
#include <carom/dynamics.h>
#include <carom/problem.h>
#include <carom/variation.h>

/// Part of the length of a direction that is left of it beside others, and less of one that depends on them.
#define CAROM_DEPENDENT 1e-9

/// A zero between a and b, where f has other signs, by regula falsi (Illinois): an end that stays for two cuts counts
/// half.
typedef struct carom_bracket { double a, b, f_a, f_b; int side; } carom_bracket; // side: 0 at first
static inline double carom_bracket_next(const carom_bracket *k) {
    return (k->a * k->f_b - k->b * k->f_a) / (k->f_b - k->f_a);
}
/// f at x, which lies before the zero or behind it.
static inline void carom_bracket_cut(carom_bracket *k, double x, double f, bool before) {
    if (before) {
        k->a = x, k->f_a = f;
        if (k->side == 1) k->f_b /= 2;
    } else {
        k->b = x, k->f_b = f;
        if (k->side == -1) k->f_a /= 2;
    }
    k->side = before ? 1 : -1;
}

/// Everything at (t, q, v).  One block of memory.
typedef struct carom_point {
    const carom_model *model;
    carom_independent independent; // without redundant constraints
    carom_system sys;         // independent, with contacts of its own: friction is that at (t, q, v)
    carom_contact *contacts;  // nc
    void *work;
    carom_arena mem;
    int nq, nv, ne, nc, n;    // n: recorded directions
    int redundant;            // constraints of the model that are left out
    double t, *q, *v;         // where
    bool still;               // for states of rest: values of first-order states stand in place of positions (STA-3)
    double noise;             // a velocity below this is rounding; 0 unless the caller knows better
    double *g, *f, *law;      // gaps, forces, CAROM_FRICTION_LAW nc
    carom_local L;            // the constraints that take part
    carom_matrix M, K, C;     // K = -df/dq, C = -df/dv
    carom_difference difference;
} carom_point;

/// Can a point be made of this model?  CAROM_UNSUPPORTED: no, and why.
carom_status carom_point_supports(const carom_model *m, carom_error *err);
/// CAROM_UNSUPPORTED: it has controllers, and `what` does not know how to linearise these.
carom_status carom_point_uncontrolled(const carom_model *m, const char *what, carom_error *err);
/// At the initial state of the model, at rest.  p must stay where it is.
carom_status carom_point_open(carom_point *p, const carom_model *m, carom_error *err);
void carom_point_close(carom_point *p);

/// The largest of n positions or velocities x, first-order states left out.
double carom_point_largest(const carom_point *p, const double *x, int n);
/// Gaps, forces, mass matrix and coefficients of friction at (t, q, v).
carom_status carom_point_look(carom_point *p, carom_error *err);
/// Directions W and w of the constraints in L->id, L->nb of them.
carom_status carom_point_directions(carom_point *p, carom_local *L, carom_error *err);
/// K and C there; reactions lambda of L (NULL: none) stiffen: K = -d(f + W lambda)/dq.
carom_status carom_point_tangent(carom_point *p, const double *lambda, carom_error *err);
/// Which constraint of the model is constraint id here?
static inline int carom_point_id(const carom_point *p, int id) { return carom_independent_id(&p->independent, id); }
/// What velocity i is the rate of, for messages.
const char *carom_point_rate(const carom_point *p, int i);
/// kappa of every direction of L: d/dt (W'v + w) without W'v'.
carom_status carom_point_curvature(carom_point *p, double *kappa, carom_error *err);
/// Of a contact that takes part as block b of L: does it slide?  Then the unit direction of its friction force goes to
/// d (tangents), which is zero before and stays so where there is no friction at present, as in a released brake.
bool carom_point_slides(const carom_point *p, int b, double *d);

/// The contact problem at a point.  A contact that slides has one row: its normal gap moves along `in`, its normal
/// force with the friction that belongs to it acts along `out` = W_N + mu W_T d.  All others have the columns of W in
/// both.  Joints that are many are no rows: everything moves as they allow, and A^-1 is that of (JND-1).
typedef struct carom_grip {
    carom_point p;
    carom_arena mem, of_rows; // of_rows: arrays over all rows
    carom_factor A;           // what moves: M, or M/tau^2 + K
    carom_matrix B;           // tangent_shape
    carom_joined joined;      // motion and joints, where these are many
    int nj;                   // joints that are no rows: all, or 0
    double *in, *out, *X;     // nv x rows; A^-1 out
    double *G, *c, *x, *u;    // G = in'X; reactions by row
    double *Y, *joint;        // nj x rows: reactions of joints to X; nj: those without contacts
    double *spare;            // 7 room + room^2
    int room, *pivot;         // rows that there is room for: those of L since the last gather; room: scratch
    double *a;                // nv: A^-1 f
    carom_block *block_of;    // nb
    int rows, *row;           // nb + 1: first row of each block of L
    bool *slides, *with;      // nb; nc: the contacts that take part
    double *direction;        // nb x CAROM_TANGENTS: d of a contact that slides; 0: it has no friction
    double *lambda, *warm;    // reactions by direction of L, by recorded direction
    int *dir;                 // ne + nc + 1: first recorded direction
    carom_chain *chain;
    double length;            // typical size of positions and gaps
    carom_error *err;
} carom_grip;

#define CAROM_NO_FRICTION 1e-12 // a coefficient this small is none; it only keeps the tangents of its contact
#define CAROM_CLOSE 1e-9 // a gap of so many lengths counts as closed

carom_status carom_grip_open(carom_grip *s, const carom_model *m, carom_error *err);
void carom_grip_close(carom_grip *s);
/// The length, from positions and gaps seen so far.
void carom_grip_measure(carom_grip *s);
/// L: joints, and the contacts that take part, with their directions; room for their rows, which may be new.
carom_status carom_grip_gather(carom_grip *s);
/// Rows, blocks, `in` and `out`; X and G.
void carom_grip_lay_out(carom_grip *s);
void carom_grip_fill(carom_grip *s);
/// A = B.  CAROM_SINGULAR: it has no inverse, whatever joints depend on each other.
carom_status carom_grip_factor(carom_grip *s);
/// x = A^-1 x; joints (NULL: 0), where they are no rows: by how much they move, and then their reactions.
void carom_grip_solve(carom_grip *s, double *x, double *joints);
/// Row k of all, joints included: the direction in which it moves, and that in which its reaction acts (nv each).
static inline int carom_grip_all(const carom_grip *s) { return s->nj + s->rows; }
void carom_grip_row(const carom_grip *s, int k, double *in, double *out);
/// A = M, a = M^-1 f.
carom_status carom_grip_weigh(carom_grip *s);
/// All of this with A = M, and c: u = G x + c are the accelerations with the reactions x, (f + out x) = M a.
carom_status carom_grip_accelerate(carom_grip *s);
carom_problem carom_grip_problem(carom_grip *s);
/// lambda from x; warm from lambda; x from warm.
void carom_grip_spread(carom_grip *s);
void carom_grip_remember(carom_grip *s);
void carom_grip_recall(carom_grip *s);

/// The m signals z of controllers beside a point: at rest each is what its controller would compute, z = c(q, 0, z).
typedef struct carom_steady {
    int m;                    // 0: there are none
    carom_variation *x;
    double *all, *z;          // ni: inputs, then z
    double *computed;         // what controllers compute
    double *F, *H, *C;        // nv x m: of forces by z; m x nv: of c by q; m x m: of c by z
    double *V;                // m x nv: of c by v; NULL: not wanted
    double *X, *S;            // nv x m: A^-1 F; m x m: factors
    double *r, *dz, *moved;   // m: c - z; a change of z; what has changed in a step
    double *rows;             // m for each row of the contact problem
    double *unit;             // a direction: nv, then m
    int *pivot;
    double size;              // the largest signal so far
    double *before, *best;    // m: z at the start of a step; where least was left
} carom_steady;

/// The linearised equations about a point, M x'' + C x' + K x = out mu with in'x = 0.
typedef struct carom_linear {
    carom_grip grip;          // M, C, K are those of grip.p; in and out: its rows, joints included
    carom_steady steady;      // of controllers
    int nrank;
    struct carom_rank { bool rate; double *left, *right; } *rank; // C (rate) or K += left right', by friction
    double *frame;            // nv x nv: x' = v - v_0 + frame x, where positions turn and v_0 is not zero; NULL: zero
    double *drift;            // nv x all rows: by how much in'v changes with x, at v_0; NULL: zero
    double unbalanced;
    int joints, sticking, sliding;
} carom_linear;

carom_status carom_linear_make(carom_linear *l, const carom_model *m, const carom_modes_def *def, carom_error *err);
void carom_linear_free(carom_linear *l);
/// y = A x with A = M, C or K, the friction's part included.
typedef enum carom_linear_part { CAROM_LINEAR_M, CAROM_LINEAR_C, CAROM_LINEAR_K } carom_linear_part;
void carom_linear_multiply(const carom_linear *l, carom_linear_part part, const double *x, double *y);

/// Eigenvalues of linear equations: n of them, and the displacement of each as columns of `shape`, real and imaginary
/// parts (2 nv).
typedef struct carom_spectrum {
    int n;
    double *re, *im, *shape;
    double tiny, rounding; // an eigenvalue below tiny counts as zero, a real part below rounding too
} carom_spectrum;
/// All of them, by LAPACK; the `count` slowest, by ARPACK, which uses B and the factor of the grip.
/// CAROM_UNSUPPORTED: that library cannot be loaded.
carom_status carom_spectrum_dense(carom_spectrum *s, const carom_linear *l, carom_error *err);
carom_status carom_spectrum_sparse(carom_spectrum *s, carom_linear *l, int count, carom_error *err);

/// Shapes of motions, nv each, by which no force changes: at most nv.
carom_status carom_linear_motionless(const carom_linear *l, double *shapes, int *count, carom_error *err);

/// The free motion as (y, y')' = A (y, y', z), A 2 m x (2 m + nz), for forces that change by F z (nv x nz);
/// displacements are Z y, Z nv x m.  A and Z are to be freed whatever happens.
carom_status carom_linear_reduce(const carom_linear *l, const double *F, int nz, int *m, double **A, double **Z,
                                 carom_error *err);

/// A model with free names: parameters, `x` for the initial value and `x'` for the initial rate of a coordinate, as in
/// sweeps.  What fits, gradients, orbits and continuation have in common.
typedef enum carom_free_kind {
    CAROM_FREE_PARAMETER,
    CAROM_FREE_POSITION,
    CAROM_FREE_RATE,
    CAROM_FREE_INPUT // never free, but set: to a signal
} carom_free_kind;
typedef struct carom_free_name {
    char *name;
    carom_free_kind kind;
    int index;
    double value; // in the model as given
    char *signal; // of an input: "NAME=SIGNAL"; else NULL
} carom_free_name;
typedef struct carom_task {
    carom_model_def model;   // text, set, matrices, observed expressions
    carom_run_given run;     // scheme, step, end, options
    const double *start;     // positions, velocities; NULL: the model's own
    const double *signals;   // there, as from carom_state_signals(); NULL: the model's own
    const char *option;      // that gave the observed expressions, for messages: `of`
    carom_model *base;       // with the parameters as given; owns compiled code that all others use
    carom_free_name *free;
    int nfree;
    const carom_free_name *fixed; // names with other values than the model's, for the next runs; NULL: none
    int nfixed;
    int *parameter, np;      // those among the free names, and their changes along every free name: nfree x np
    double *dp;
    const char **options;    // of the run, where some were added
} carom_task;

/// model, run and start are set; names is NULL-terminated.
carom_status carom_task_open(carom_task *t, const char *const *names, carom_error *err);
void carom_task_close(carom_task *t);
/// Does the scheme of the run (NULL: the model's) locate events to rounding, as derivatives need?  `mixed` gets the
/// option with which it does.
carom_status carom_task_locate(carom_task *t, bool *located, carom_error *err);
/// A run with derivatives: event-driven unless a scheme is given that locates events, in `rows` steps where it chooses
/// its own.
carom_status carom_task_derivable(carom_task *t, int rows, carom_error *err);
/// Names with values, "NAME=VALUE,INPUT=SIGNAL"; commas inside of parentheses belong to a signal.  The names and the
/// list are to be freed (carom_task_forget).
carom_status carom_task_settings(const carom_task *t, const char *text, carom_free_name **list, int *n,
                                 carom_error *err);
void carom_task_forget(carom_free_name *list, int n);
/// The model and a simulation of it, from its start to `end`, where the free names have these values.
typedef struct carom_task_run { carom_model *model; carom_sim *sim; carom_run run; double *x; } carom_task_run;
carom_status carom_task_begin(const carom_task *t, const double *value, double end, carom_task_run *r,
                              carom_error *err);
void carom_task_end(carom_task_run *r);

// -- a run together with its variations (path.c, crossing.c) ------------------------------------------------------

enum { CAROM_PATH_STAGES = 7 }; // of the pair of Dormand and Prince
// rates of positions, velocities, columns, integrals
typedef struct carom_path_stage { double *shift, *a, *y, *z; } carom_path_stage;
typedef struct carom_path_event { carom_change c; double *store; } carom_path_event;

/// n columns (dq, dv) along the motion of a simulation that locates events, each with changes dp of np parameters; nz
/// integrals beside them.
typedef struct carom_path {
    // the caller's, before the run
    void *user;
    // what is integrated
    carom_status (*rate)(void *user, struct carom_path *w, double t, const double *q, const double *v, const double *y,
                         double *z);
    // a step of h from (t, q, v, y) to (q_1, v_1, y_1); others may be tried, tried: its length
    carom_status (*on_step)(void *user, struct carom_path *w, double h);
    // of an event, whose time changes by dt; a_before and a_after are the accelerations
    carom_status (*on_side)(void *user, struct carom_path *w, carom_side side);
    // at the end (t, q, v, y) of a step of the simulation; columns may be changed
    carom_status (*on_row)(void *user, struct carom_path *w);
    // the phase at the start is known: columns may be set now
    carom_status (*on_start)(void *user, struct carom_path *w);
    carom_status (*on_cross)(void *user, struct carom_path *w, const carom_change *x); // behind an event
    // is dt of this event asked for, even where nothing jumps?
    bool (*asks)(void *user, const carom_change *x);
    const char *(*label)(void *user, int j);                                      // of column j, for messages
    bool plain;                // no columns: what has no derivatives is followed all the same
    double *y;                 // in: columns at the start
    double rtol;               // of one internal step; 0: 1e-10
    double longest;            // internal step; 0: any
    double *unit;              // n: typical size of what column j is the derivative by; 1
    // the motion
    double t, *q, *v, *q_1, *v_1, *y_1, *z, *z_1, *dt, *a_before, *a_after, tried;
    int n, np, nz;
    const double *dp;
    const carom_change *change; // the event, inside on_side
    double t_event;            // of the last one at which something jumps; before the first it is negative
    // inside
    carom_point p;
    const carom_model *model;
    carom_sim *sim;
    carom_variation *x;        // the caller's, where it is borrowed
    bool borrowed;
    carom_arena mem;
    carom_error *err;
    carom_factor F;
    carom_path_stage stage[CAROM_PATH_STAGES];
    double *phases, *phase, *phase_1;  // modes of the contacts, as schemes have them
    size_t phase_size;
    double h, span, size_q, size_v, drive; // drive: accelerations by the forces alone, at the point evaluated last
    double *side, *kink, *kink_1; // functions of kinks: as they were last, and scratch
    bool sided, ready, begun, separate; // sided: side is known; separate: the last event failed: its parts separate
    int n_rows, *row, *pivot, *at_full, nfull;      // at_full: by id here, place in arrays over all directions of the
                                                    // model
    double *u, *kappa, *lambda, *r, *rhs, *dlambda, *before, *a, *dv, *dx, *da, *shift, *b, *e, *X, *G, *S, *A,
        *scratch, *full, *full_0, *gaps, *scale_dt, *dmu, *de, *touched;
    carom_joined joined;       // motion and joints, where these are many
    int nj;                    // joints that are no rows: all, or 0; X and G are those of what moves as they allow
    double *joint, *Y;         // nj; nj x rows: reactions of joints to X
    carom_arena of_rows;       // arrays over rows of contacts that take part,
    int row_room;              // for so many of them
    double *LU;                // factors of G, where they are known
    int *pivots;
    bool factored, regular;    // they are; G has some
    bool *with, *young, *starts; // nc: young: slip along several tangents that is too slow to have a direction of its
                                 // own; starts: it began from stick
    double *first, *turn;      // nc x CAROM_TANGENTS: the direction in which it began; n times that: how this changes
    carom_path_event *pending;
    int npending;
    bool records;              // the caller's: the run is kept, and no column follows it yet
    double t_0, t_end, *q_0, *v_0, *q_end, *v_end; // of a run that was kept
} carom_path;

/// w is zero but for the caller's functions; dp: n x np.  CAROM_UNSUPPORTED: the model has no variations.  To be closed
/// whatever happens.
carom_status carom_path_open(carom_path *w, const carom_model *m, carom_sim *sim, int n, const double *dp, int np,
                             const int *parameter, int nz, carom_error *err);
void carom_path_close(carom_path *w);
/// From the start of the simulation to its end.
carom_status carom_path_run(carom_path *w);
/// On from the end of the run to t_1, with the contacts as they are there: none is struck, opens, sticks or slips.
carom_status carom_path_coast(carom_path *w, double t_1);
/// Columns along a run that was kept, from its start.
carom_status carom_path_again(carom_path *w);
/// One event alone, from the state and the phase before it, with the columns w->y; touched is the caller's.
carom_status carom_path_jump(carom_path *w, const carom_change *x, double size_q, double size_v);
/// Does a contact arrive within this time?
carom_status carom_path_arrives(carom_path *w, double within, bool *arrives);
/// A step of h without accepting it, with its error over the tolerance (NULL: not wanted).
carom_status carom_path_try(carom_path *w, double h, double *error);
/// Variations of a run by all free names of its task: carom_path_open(), and the columns at the start.
carom_status carom_task_columns(const carom_task *t, const carom_task_run *r, carom_path *w, int nz, carom_error *err);
// Among these files:
void carom_path_solve(carom_path *w, const double *G, int n, double *x);
/// M x = x + B r over the rows, which move by r, and joints, which move by `joint` where these are no rows (NULL: 0):
/// x becomes the motion, r and joint the reactions.
void carom_path_push(carom_path *w, double *x, double *r, double *joint);
/// The same for joints alone: M x = x.
void carom_path_invert(carom_path *w, double *x, double *joint);
/// X and G of rows 0 .. n - 1, whose directions B stand in X; symmetric: B is W.
void carom_path_respond(carom_path *w, int n, bool symmetric);
/// Room for the rows of L.  Joints are rows, or, joined, none of them is.
carom_status carom_path_rows(carom_path *w, bool joined);
double carom_path_age(carom_path *w);
carom_status carom_path_grow_up(carom_path *w);
void carom_path_spread(carom_path *w, const double *x);
/// L with its directions and velocities; contacts that take part: those `with`, NULL: the closed ones.
carom_status carom_path_look(carom_path *w, double t, const double *q, const double *v, const bool *with);
/// And M factorised, with room for their rows.
carom_status carom_path_stand(carom_path *w, double t, const double *q, const double *v, const bool *with);
carom_status carom_path_evaluate(carom_path *w, double t, const double *q, const double *v);
// j: column, -1: none
carom_status carom_path_differentiate(carom_path *w, carom_direction d, int j, double *da, double *dlambda);
static inline double *carom_path_turn(const carom_path *w, int j, int c) {
    return w->turn + CAROM_TANGENTS * ((size_t)j * (size_t)w->p.nc + (size_t)c);
}
carom_status carom_path_cross(carom_path *w, const carom_change *x, bool first);
