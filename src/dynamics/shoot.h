// shoot.h (private): the motion over a span of time as a map of states, with its linearisation: what orbits, exponents
// and continuation share.
#pragma once
#include "dynamics/dynamics.h"
#include "model/answers.h"

/// What happened to one contact on the way.
typedef enum carom_hit_kind {
    CAROM_HIT_IMPACT,
    CAROM_HIT_CHATTER,
    CAROM_HIT_CLOSE,
    CAROM_HIT_OPEN,
    CAROM_HIT_STICK,
    CAROM_HIT_SLIP,
    CAROM_HIT_REVERSE
} carom_hit_kind;
typedef struct carom_hit {
    double t, jump;      // jump: of velocities in an impact, in units of `scale`
    int contact, closed; // contacts that are closed behind it
    carom_hit_kind kind;
    char after;          // how the contact goes on: 'o' open, '0' it sticks, '+' and '-' it slips, along its first
                         // tangent
    double end;          // of a chatter: when it closes
    int impacts;         // in it, as far as they were followed
} carom_hit;
const char *carom_hit_word(carom_hit_kind kind);

/// A contact that is hardly touched: the state there, before an impact, and the modes of all contacts.
// jump: of an impact; contact -1: there is none
typedef struct carom_touching { int contact; double t, jump, *x, *mode; } carom_touching;

enum { CAROM_HARMONICS = 9 }; // chosen: the first ones carry most of a response

/// A controller that computes, or (effect) whose outputs take effect: state and signals before.
typedef struct carom_sampling { int k; bool effect; double t, *x; } carom_sampling;

typedef struct carom_shooter {
    // the caller's
    const char *response;  // an expression of the state; NULL: none
    bool respond;          // linearised runs: its integrals over the run
    double pitch;          // angular frequency of the first harmonic
    bool (*stop)(const void *user);
    const void *user;
    // plain runs: after every step; NULL: none
    carom_status (*on_state)(void *watch, double t, const double *q, const double *v, int closed);
    carom_status (*on_row)(void *watch, carom_path *w); // linearised runs: after every step, columns may be changed;
                                                        // NULL: none
    void *watch;
    double *scale;         // 2 nv: typical sizes of positions (along velocities) and velocities; 1
    bool lows;             // linearised runs: look for the lowest gaps of open contacts, and for the range of positions
    bool may_follow_few;   // of large models, one column at a time: carom_shooter_follow()
    double coast;          // linearised runs: for so long before their end no contact is struck
    double rtol;           // of one step of the linearised motion; 0: 1e-11
    double run_rtol;       // of one step of the scheme, as it is now
    bool given;            // it was given with the options of the run, and stays
    // the model
    carom_task task;       // base is the model; free[0], where there is one, its parameter
    carom_run run;
    const char **options;  // of the run, with decide: what accelerations decide at events
    char decide[48];
    carom_point p;
    carom_variation *x;
    // a state is x = (q, v, signals of controllers), before what controllers do at its time; dx is along velocities
    int nq, nv, nz, nx, n, parameter; // nx = nq + nv + nz, n = 2 nv + nz; parameter -1: none
    double value;
    // two parameters: they are at + value way; with one, way is 1 and at is 0
    const char *also;      // the caller's: the second one; NULL: none
    int np, *index;        // np + nz: these parameters, then the signals of controllers
    double at[2], *way;    // way: np + nz, of signals 0
    // the last run
    double t_0, span; // begun at, to last
    double *start, *end;   // nx
    bool few;              // one column at a time, m is 1, Z and Y have one
    int m;                 // dimension of the states beside the start
    double *Z, *Y;         // n x m in units of `scale`: an orthonormal basis of them, and what becomes of it
    double *p_0, *p_1;     // n: how start and end change with the parameter, in units of `scale`
    double *rate_0, *rate_1; // n: the motion at both ends, in units of `scale`
    double *mode_0, *mode_1; // nc
    bool linear;           // Z, Y, ... are those of the last run
    carom_hit *hit;
    int nhits, closed;
    char after;            // of the hit that comes next
    bool struck;           // at the very start, in a plain run
    carom_touching *weakest;  // nc, linearised runs: of the impacts of each contact
    carom_touching *nearest;  // nc, with `lows`: where open contacts came nearest
    int soft, *crossed;    // contacts of finite stiffness; with `lows`: how often each gap went through 0
    double *soft_gap;      // soft: scratch
    bool *soft_closed, *soft_now; // at the start; now
    double *low;           // nc: lowest gap at which an open contact turned back; infinite: none did
    double *least, *most;  // nq: range of positions; like `low`, of the last linearised run
    double slow, fast;     // the least and the largest rate of change, in units of `scale`; likewise
    double mean, harmonic[2 * CAROM_HARMONICS]; // integrals of the response, and of it times cos(k pitch t), sin(k
                                                // pitch t)
    int observed;          // which observed expression the response is
    carom_average *averages; // of observed expressions: none of them has any
    // inside
    carom_path path;
    bool opened;
    double *rows, *dp, *block, *scratch;
    double *mode, *touches;
    double *signal, *computed; // ni; what controllers compute
    carom_sampling *sampling;  // since the columns have jumped last
    int nsampling;
    double sim_end;        // of the run at hand; controllers do nothing at it
    bool ended;            // one would do something there: the signals of `end` are known
    carom_error *err;
} carom_shooter;

/// The name, as a constant, of the scheme of this name, if that locates events to rounding with steps of its own; else
/// NULL.
const char *carom_shooter_scheme(const char *name);
/// task.model, task.run and the caller's part are set; by: a parameter, NULL: none.  To be closed whatever happens.
carom_status carom_shooter_open(carom_shooter *s, const char *by, carom_error *err);
void carom_shooter_close(carom_shooter *s);
/// Another tolerance of the scheme, not below what it allows.  *changed false: it stays as it is.
carom_status carom_shooter_tolerance(carom_shooter *s, double rtol, bool *changed);
/// Another line of two parameters, and the value on it.
carom_status carom_shooter_aim(carom_shooter *s, const double *at, const double *way, double value);
/// Another value of the parameter.
carom_status carom_shooter_set(carom_shooter *s, double value);
/// The state at which runs of the model begin: its own, or the caller's positions and velocities.
void carom_shooter_begin(const carom_shooter *s, const double *start, double *x);
/// From x at t_0 over `span`, with the linearisation or without, in so many steps.
carom_status carom_shoot(carom_shooter *s, double t_0, double span, const double *x, bool linear, int steps);
/// z, n numbers in units of `scale`, becomes a direction of states beside the start of the run that was kept; s->Y is
/// what becomes of it, projected onto such directions, too.
carom_status carom_shooter_follow(carom_shooter *s, double *z);
/// z becomes such a direction at the start of the run that a column followed last.
carom_status carom_shooter_tangent(carom_shooter *s, double *z);
/// y = x moved along n numbers in units of `scale`, with joints and the contacts that were closed at the start of the
/// last linearised run satisfied.
carom_status carom_shooter_move(carom_shooter *s, const double *x, const double *by, double *y);
/// Directions, velocities and masses at x, in s->path: of joints and of the contacts `with`, all of which are in these
/// modes.
carom_status carom_shooter_stand(carom_shooter *s, double t, const double *x, double *mode, const bool *with);
/// x satisfies joints and the contacts that are closed at the end of the last run exactly, at time t.
carom_status carom_shooter_snap(carom_shooter *s, double t, double *x);
/// From a to b, n numbers in units of `scale`.
void carom_shooter_apart(const carom_shooter *s, const double *a, const double *b, double *out);
/// The observed expression (task.model.observe), and its change with the parameter (NULL: not wanted).
carom_status carom_shooter_observe(carom_shooter *s, double *value, double *change);
/// At times over `span`, do forces, masses, gaps and directions have the same values at (t + dt, q + dq) as at (t, q)?
/// dq: nq, NULL: none.
carom_status carom_shooter_same(carom_shooter *s, double span, const double *x, double dt, const double *dq,
                                bool *same);

/// x less its part along `count` orthonormal vectors of n numbers; returns the length that is left.
double carom_basis_reject(const double *basis, int count, double *x, int n);
/// Complete `count` of them to a basis of n dimensions by unit vectors, those with most left first.  x: n, scratch.
void carom_basis_complete(double *basis, int count, int n, double *x);
/// Eigenvalues of A (m x m, spoilt), and a right vector of each pair (m x m as LAPACK has them, NULL: not wanted).
carom_status carom_eigen(double *A, int m, double *re, double *im, double *vectors, carom_error *err);
