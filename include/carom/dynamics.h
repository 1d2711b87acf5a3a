// dynamics.h: equilibria, modes, fits, gradients, optima, periodic orbits, basins, Lyapunov exponents, continuation.
//
// docs/dynamics.md defines the terms.  Everything here is at t = 0.
#pragma once
#include <carom/model.h>
#include <carom/run.h>
#include <carom/sweep.h>
#include <carom/table.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// -- states in files ----------------------------------------------------------------------------------------------

/// The state in a file: one that carom_state_write() wrote, or the last row of a result.  Every coordinate and velocity
/// of the model must be there by its name, and the state must fit the joints.  CAROM_BAD_INPUT: err gives the reason
/// and the name.
carom_status carom_state_read(const carom_model *m, const char *file, double *q, double *v, carom_error *err);
/// Every coordinate and velocity under its name: a table with one row, in full precision.
carom_status carom_state_write(const carom_model *m, const char *file, const double *q, const double *v,
                               carom_error *err);

// -- a state of rest ----------------------------------------------------------------------------------------------

/// One reaction at rest.
typedef struct carom_equilibrium_force {
    char name[80];     // as the column of a result: "floor.force", "floor.friction", "hinge.force2"
    int id;            // constraint
    double value;      // where forces are not unique, the smallest that are admissible
    double low, high;  // all admissible values, where known; else NaN
} carom_equilibrium_force;

typedef enum carom_equilibrium_kind {
    CAROM_EQUILIBRIUM_OPEN,
    CAROM_EQUILIBRIUM_CLOSED,
    CAROM_EQUILIBRIUM_STICKS,
    CAROM_EQUILIBRIUM_SLIDES
} carom_equilibrium_kind;

/// A state of rest, or the best one found.
typedef struct carom_equilibrium {
    int nq, nv, nforce, nc;
    double *q;                // nq; velocities are zero.  Of a first-order state: its value
    carom_equilibrium_force *force;  // nforce: all joints and constraints, all contacts
    carom_equilibrium_kind *contact; // nc; a contact over a moving surface slides at rest
    double residual;          // largest violation, relative: balance of forces, laws of the contacts, gaps
    int iterations;
    int free;                 // independent combinations of reactions that move nothing; 0: forces are unique
    int unbalanced;           // not at rest: velocity whose force is balanced least, and that force
    double force_left;
    int nsignals;             // of controllers: the system's ni less its nset
    double *signals;          // their values at rest
} carom_equilibrium;

/// Find an equilibrium near (q, 0), q NULL: near the initial state.  CAROM_NOT_CONVERGED: none was found; err gives the
/// reason and `rest` contains the best state.  Free it in every case.
carom_status carom_equilibrium_find(carom_equilibrium *rest, const carom_model *m, const double *q, carom_error *err);
void carom_equilibrium_free(carom_equilibrium *rest);
/// The least and the largest value of a coordinate among the equilibria that friction allows near this one, with the
/// same contacts closed and sticking.  Infinite: there is no limit.
carom_status carom_equilibrium_range(const carom_model *m, const carom_equilibrium *rest, int coordinate,
                                     double range[2], carom_error *err);

// -- modes --------------------------------------------------------------------------------------------------------

/// One solution exp(lambda t) of the linearised equations; of a conjugate pair the one with im > 0.
typedef struct carom_mode {
    double re, im;             // lambda, 1/s
    double frequency, damping; // |lambda|/(2 pi) in Hz; -re/|lambda|, 0 where lambda is 0
    double *shape;             // nv real parts, then nv imaginary ones, of the displacement along the velocities; the
                               // largest is 1
    bool rigid;                // a rigid-body mode: nothing is deformed, lambda is 0
} carom_mode;

typedef struct carom_modes {
    int nv, count;       // modes, slowest first
    carom_mode *mode;
    double *q, *v;       // where
    int joints, sticking, sliding; // constraints in force; closed contacts that stick (or have no friction) and that
                                   // slide
    double unbalanced;   // acceleration that is left, relative to that of the forces: 0 at an equilibrium
    const char *method;  // "lapack", "arpack"
    double *shapes;      // storage
    double sample;       // with controllers: the common period of their samples; lambda is log(multiplier)/sample, with
                         // |im| <= pi/sample, and shapes are those at t = 0.  0: there are none
    int forgotten;       // multipliers that are 0: what controllers compute anew
} carom_modes;

typedef struct carom_modes_def {
    const double *q, *v; // linearise here; q NULL: at the state of rest near the initial state; v NULL: at rest
    bool open;           // contacts do not act, closed or not
    int count;           // number of modes; 0: all of a small model, twenty of a large one
    const bool *closed;  // by contact: those that are closed, with force or without; NULL: found from gaps and forces
} carom_modes_def;

/// M x'' + C x' + K x = out mu, in'x = 0 about a state: joints and contacts that stick constrain normal and tangential
/// motion; contacts that slide constrain their normal motion, and their friction is proportional to its force.  Free it
/// in every case.
carom_status carom_modes_find(carom_modes *modes, const carom_model *m, const carom_modes_def *def, carom_error *err);
void carom_modes_free(carom_modes *modes);

/// One period of mode k as a result, which `carom view` plays.
typedef struct carom_play_def {
    const carom_model *model;
    const char *text;       // the model's, its length and file name, what was set: as in carom_record_def
    size_t length;
    const char *model_file;
    const char *const *set;
    const char *file;       // .h5 or .csv
    double scale;           // largest displacement; 0: a twentieth of the model's size
} carom_play_def;
carom_status carom_modes_play(const carom_modes *modes, int k, const carom_play_def *def, carom_error *err);

// -- fits ---------------------------------------------------------------------------------------------------------

typedef struct carom_fit_def {
    carom_model_def model;       // `observe` is not used here
    carom_run_given run;         // scheme, step, options
    const double *start;         // positions, velocities; NULL: the model's own
    const double *signals;       // at the start, as from carom_state_signals(); NULL: the model's own
    const char *const *free;     // names: parameters, `x` and `x'` for initial values; NULL-terminated
    const char *const *match;    // "COLUMN=EXPR", or "COLUMN=impact CONTACT": a column of times of impacts
    const char *const *bounds;   // "NAME=low:high", either may be empty; NULL: none
    const char *const *sigma;    // "COLUMN=VALUE": standard deviation of its entries; NULL: none, all weights are equal
    const char *const *data;     // CSV files with a column t, NULL-terminated
    const char *const *settings; // of each file: "NAME=VALUE,INPUT=SIGNAL", parameters, initial values and signals of
                                 // inputs of the run that it is compared with; "": those of the model.  NULL: all are
                                 // runs of the model
    int max_evaluations;         // evaluations of the model; 0: 200 times the number of free names
    bool (*stop)(const void *user); // NULL: none
    const void *user;
} carom_fit_def;

/// A point of the data, and what the fit makes of it.
// at impacts t is their number, from 1
typedef struct carom_fit_point { double t, data, model; int match, file; } carom_fit_point;

typedef struct carom_fit {
    int nfree, npoints, nmatch;
    char **name;              // nfree
    double *value, *start;    // nfree
    double *error;            // nfree: standard errors, NaN where there are as many free names as points; of one on its
                              // bound as if it had none, and others as if it were fixed
    double *low, *high;       // nfree: 95 % confidence, within the bounds
    double *covariance;       // nfree x nfree
    double confidence;        // 95 %: value +- confidence error
    double residual, residual_start; // root mean square of (model - data)/sigma
    carom_fit_point *point;
    char **match;             // nmatch: the columns
    int evaluations;          // runs without derivatives
    int jacobians, differences; // derivatives of all points; those of them by central differences, the others are exact
    char not_exact[400];      // why
    const char *scheme;       // in use
} carom_fit;

/// CAROM_NOT_CONVERGED: the iteration gave up, `fit` contains the best values.  Free it in every case.
carom_status carom_fit_find(carom_fit *fit, const carom_fit_def *def, carom_error *err);
void carom_fit_free(carom_fit *fit);

// -- gradients ----------------------------------------------------------------------------------------------------

typedef struct carom_gradient_def {
    carom_model_def model;       // `observe` is not used here
    carom_run_given run;         // scheme (NULL: event-driven), step, end, options
    const double *start;         // positions, velocities; NULL: the model's own
    const char *of;              // an expression at the end, in which integral(x), mean(x), rms(x), max(x) and min(x)
                                 // run over the run; "time of CONTACT.impact[N]", "EXPR at CONTACT.impact[N]"
    const char *const *by;       // names: parameters, `x` and `x'` for initial values; NULL-terminated
    bool rows;                   // keep a row at the end of every step, as if the run ended there
    bool one_sided;              // accept derivatives at a grazing contact
    const char *file;            // .h5 or .csv: write the run as a result with columns EXPR, `EXPR by NAME`, and `x by
                                 // NAME` of every coordinate and rate; NULL: none
    bool (*stop)(const void *user); // NULL: none
    const void *user;
} carom_gradient_def;

typedef struct carom_gradient {
    int n;
    char **name;
    double value, *gradient, t;  // at the end t
    double *distance;            // how far each name may change until the sequence of events is another one, to first
                                 // order; infinite: unknown
    bool adjoint;                // found on the way back, as for more than 10 names where that is possible: distances
                                 // are unknown
    char note[400];              // a warning: a contact is nearly grazed, or two extremes are equal; empty: none
    long rows;
    double *row;                 // t, value and gradient: 2 + n numbers each
    const char *scheme;
} carom_gradient;

/// Exact derivatives of the motion, through impacts, opening, stick and slip.  CAROM_NOT_CONVERGED: there is no
/// derivative, as at grazing; err gives the event.  Free it in every case.
carom_status carom_gradient_find(carom_gradient *g, const carom_gradient_def *def, carom_error *err);
void carom_gradient_free(carom_gradient *g);

// -- optima -------------------------------------------------------------------------------------------------------

struct carom_optimum;
typedef struct carom_optimise_def {
    carom_model_def model;       // `observe` is not used here
    carom_run_given run;         // scheme (NULL: event-driven where it has derivatives, else the model's), step, end,
                                 // options
    const double *start, *signals; // positions and velocities, signals there; NULL: the model's own
    const char *of;              // what becomes least: an expression as in carom_gradient_def
    bool maximise;               // it becomes largest instead
    const char *const *by;       // "NAME=LOW:HIGH": parameters and their bounds; NULL-terminated
    const char *const *subject;  // "EXPR <= EXPR", also >= and =; NULL-terminated, NULL: none
    const char *method;          // NULL: by itself; slsqp, ccsaq, cobyla
    int restarts;                // searches from other points between the bounds besides the one from the model's
                                 // values
    int evaluations;             // of one search; 0: 100 and 20 for each name
    double tolerance;            // of each name, relative to the distance of its bounds; 0: 1e-7
    void (*on_run)(void *user, const struct carom_optimum *o); // after every evaluation; NULL: none
    void *user;
    bool (*stop)(const void *user); // NULL: none
    const void *stop_user;
} carom_optimise_def;

typedef struct carom_optimum {
    int n, nsubject;
    char **name;                 // n
    double *value, *low, *high, *begin; // n: the best; bounds; in the model
    double objective, first;     // at the best; with the model's values (NaN: no value)
    double *subject;             // nsubject: left side less right side
    double violation;            // largest violation of a constraint; 0: none beyond the tolerance
    double *gradient;            // n: of the objective there; NaN: unknown
    double *multiplier;          // nsubject: of active constraints; NaN: unknown
    int *bound;                  // n: -1 on its lower bound, 1 on its upper one, 0 between
    double slope;                // of the gradient, without active constraints and bounds, times the distance of the
                                 // bounds, relative to the objective; NaN: unknown
    double distance;             // least change of a name, relative to it, at which the sequence of events is another
                                 // one; infinite: unknown
    bool kink;                   // the best lies where the gradient jumps
    int runs, derivatives, search, searches; // evaluations; those with derivatives; the search that is running or has
                                             // found the best; all of them
    bool exact;                  // derivatives are those of carom_gradient_find()
    char not_exact[400];         // why not
    const char *method, *scheme; // that found the best
    carom_table history;         // run, search, method, status, names, objective, constraints as written, best
    char *text;                  // the model's text with the best values; NULL: there is none
} carom_optimum;

/// CAROM_NOT_CONVERGED: no admissible values were found, or evaluations ran out; o has the best.  Free it in every
/// case, also after a failure.
carom_status carom_optimise(carom_optimum *o, const carom_optimise_def *def, carom_error *err);
void carom_optimum_free(carom_optimum *o);

// -- periodic orbits ----------------------------------------------------------------------------------------------

typedef struct carom_orbit_def {
    carom_model_def model;       // `observe` is not used here
    carom_run_given run;         // scheme (NULL: event-driven), options; end: maximum time until a return (free
                                 // periods), NAN: the model's
    const double *start;         // positions, velocities; NULL: the model's own
    const double *signals;       // there, as from carom_state_signals(); NULL: the model's own
    const char *period;          // an expression of parameters, or "free"
    const char *const *exchange; // "A=B": coordinates that have changed places after a period, as the legs of a walker
                                 // after a step; NULL: none
    int segments;                // pieces of multiple shooting; 0: one, and more where the motion grows too much for
                                 // that
    double transient;            // simulate this long before the search
    double guess;                // of a free period; NAN: the first return of the motion
    bool conservative;           // the model keeps its energy: that of the orbit is `energy`
    double energy;               // NAN: that of the start
    bool (*stop)(const void *user); // NULL: none
    const void *user;
} carom_orbit_def;

/// A multiplier whose modulus differs from 1 by no more than this lies on the unit circle: the orbit is neutral,
/// neither stable nor unstable to first order.
#define CAROM_ORBIT_NEUTRAL 1e-7

/// What a contact does on the orbit.
typedef struct carom_orbit_event {
    double t;         // of a chatter: of its first impact
    int contact;
    const char *kind; // impact, chatter, close, open, stick, slip, reverse
    int impacts;      // of a chatter: those that were followed; else 0
    double until;     // of a chatter: its limit, where the contact closes; else t
} carom_orbit_event;

typedef struct carom_orbit {
    int nq, nv, nmultipliers, nevents, nc;
    double period, residual;     // residual: largest difference of the state after a period, relative to how far each
                                 // part of it moves
    double *q, *v;               // at t = 0
    int nsignals;                // of controllers: the system's ni less its nset
    double *signals;             // at t = 0, before controllers compute there
    double *advance;             // nq: of positions after a period
    double *re, *im;             // nmultipliers, largest first; then the trivial ones, which are 1
    int trivial;                 // along the motion where time does not enter the model, along coordinates that do not
                                 // enter it
    int rank_loss;               // number of zero multipliers: directions eliminated by closed contacts
    double largest;              // modulus of the largest one that is not trivial; NAN: it did not converge (large
                                 // models)
    bool isolated;               // false: a multiplier that is not trivial is 1, there are other orbits near it
    carom_orbit_event *event;    // in the order of time
    int iterations;
    int segments;                // pieces of multiple shooting; 1: none
    double *node;                // segments > 1: positions, velocities and signals at t = k period/segments
    const char *scheme;
    int others;                  // large models: multipliers that are not there, none of them larger
} carom_orbit;

/// A periodic orbit.  CAROM_NOT_CONVERGED, CAROM_SINGULAR: none found; `orbit` has the best state.
/// Free it in every case.
carom_status carom_orbit_find(carom_orbit *orbit, const carom_orbit_def *def, carom_error *err);
void carom_orbit_free(carom_orbit *orbit);
/// One period of it as a result, .h5 or .csv.
carom_status carom_orbit_record(const carom_orbit *orbit, const carom_orbit_def *def, const char *file,
                                carom_error *err);

// -- basins of attraction -----------------------------------------------------------------------------------------

typedef struct carom_basins_def {
    carom_sweep_def sweep;       // what is varied, most of all initial values; section (NULL: every period of the
                                 // forcing, or states of rest); observe (NULL: the state); transient; count: most
                                 // section points of a run, 0: 400; jobs, lanes, gpu; no follow, no parts
    bool (*tick)(void *user, long done, long total); // ten times a second; false: stop.  NULL: none
    void *user;
} carom_basins_def;

typedef struct carom_basins {
    carom_table runs;            // run, varied names, status, message, label (0: it ran away), period (0: none), points
                                 // until that was known, observed expressions at the last point as end.EXPR
    carom_table attractors;      // label, kind (periodic, rest, chaotic, undecided, out), period, count of runs,
                                 // multiplier (largest modulus), exponent (the largest), point, observed expressions
                                 // there
} carom_basins;

/// Tables do not depend on the number of threads.  Free it in every case.
carom_status carom_basins_find(carom_basins *b, const carom_basins_def *def, carom_error *err);
void carom_basins_free(carom_basins *b);

// -- Lyapunov exponents -------------------------------------------------------------------------------------------

typedef struct carom_lyapunov_def {
    carom_model_def model;       // `observe` is not used here
    carom_run_given run;         // scheme (NULL: event-driven), end, options; step: time between two
                                 // orthonormalisations, NAN: a two-thousandth of the end
    const double *start;         // positions, velocities; NULL: the model's own
    double transient;            // simulate this long before
    bool (*stop)(const void *user); // NULL: none
    const void *user;
} carom_lyapunov_def;

typedef struct carom_lyapunov {
    int n, rows;
    double *exponent;            // n, largest first, 1/s; -INFINITY: closed contacts have taken the direction
    double *error;               // n: standard errors, from ten parts of the run
    double *history;             // rows x (1 + n): time since the transient, exponents until then
    bool rests;                  // the motion is a state of rest
    double t, sum;               // how long; sum of the exponents: mean rate at which volumes of states grow
    const char *scheme;
} carom_lyapunov;

/// The spectrum along one motion.  Where it fails on the way, the exponents until there are in x.  Free it in every
/// case, also after a failure.
carom_status carom_lyapunov_find(carom_lyapunov *x, const carom_lyapunov_def *def, carom_error *err);
void carom_lyapunov_free(carom_lyapunov *x);

// -- continuation -------------------------------------------------------------------------------------------------

struct carom_branch;
/// Branches that are followed, too, where they bifurcate: doubled orbits up to sixteen periods, branches that cross,
/// orbits from Hopf points of equilibria.
enum { CAROM_SWITCH_DOUBLING = 1, CAROM_SWITCH_BRANCH = 2, CAROM_SWITCH_HOPF = 4, CAROM_SWITCH_ALL = 7 };
typedef struct carom_follow_def {
    carom_model_def model;       // `observe` is not used here
    carom_run_given run;         // scheme (NULL: event-driven), options
    const double *start;         // positions, velocities on the orbit (at t = 0), or at rest; NULL: the model's own
    const double *signals;       // there, as from carom_state_signals(); NULL: the model's own
    const char *period;          // as in carom_orbit_def; NULL: states of rest are followed
    double guess;                // of a free period
    const char *const *exchange; // as in carom_orbit_def
    const char *by;              // a parameter; the branch is followed from its value in the model
    double from, to;             // as long as it lies between these
    double step;                 // longest step: states in units of the motion, the parameter in units of its range; 0:
                                 // 0.05, and of states more where the branch is straight
    int max_points;              // 0: 2000
    int switches;                // CAROM_SWITCH_DOUBLING, ...; 0: none
    bool conservative;           // orbits of a conservative model: the energy is the parameter, `by` is its name in the
                                 // table, period is "free"
    const char *response;        // orbits: an expression of the state whose mean and harmonics are in the table; NULL:
                                 // none
    // after every point; anything but CAROM_OK ends it with that.  NULL: none
    carom_status (*on_point)(void *user, const struct carom_branch *f);
    void *user;
    bool (*stop)(const void *user); // NULL: none
} carom_follow_def;

/// Points in the order in which they were found, branch by branch.
typedef struct carom_branch {
    carom_table branch;  // branch, NAME, period, stable, multiplier (largest modulus; at rest: growth, the largest real
                         // part), event, coordinates, rates (at t = 0), min(x), max(x)
    carom_table queue;   // what is left to do
    int branches;        // begun
    double value;        // of the parameter at the last point
    const char *scheme;
    int unlocated;       // events with a question mark
    carom_error note;    // why a branch could not be followed to its end, or doubled orbits not be found, for the first
                         // ones; CAROM_OK: there was none
} carom_branch;

/// f is zero, or was read by carom_follow_read(): then the branch continues.  Events: fold, period-doubling,
/// neimark-sacker, branch, hopf; grazing, sticking, sequence, opening, closing, with the name of the contact; end:
/// the branch could not be followed further.  CAROM_STOPPED: f contains the points so far.  Free it in every case.
carom_status carom_follow_run(carom_branch *f, const carom_follow_def *def, carom_error *err);
// .h5 or .csv
carom_status carom_follow_write(const carom_branch *f, const carom_follow_def *def, const char *file, carom_error *err);
// def: what the branch must have been made with; NULL: anything
carom_status carom_follow_read(carom_branch *f, const carom_follow_def *def, const char *file, carom_error *err);
void carom_branch_free(carom_branch *f);

// -- curves in two parameters ----------------------------------------------------------------------------------------

typedef enum carom_locus_kind {
    CAROM_LOCUS_FOLD,
    CAROM_LOCUS_BRANCH,
    CAROM_LOCUS_HOPF,
    CAROM_LOCUS_DOUBLING,
    CAROM_LOCUS_TORUS,
    CAROM_LOCUS_GRAZING,
    CAROM_LOCUS_QUADRATURE,
    CAROM_LOCUS_KINDS
} carom_locus_kind;

typedef struct carom_locus_def {
    carom_model_def model;       // with the parameters of the event
    carom_run_given run;         // scheme (NULL: event-driven), options
    carom_locus_kind kind;
    const double *start;         // positions, velocities at the event (at t = 0)
    const char *period;          // as in carom_orbit_def; NULL: of equilibria
    double guess;                // period of the orbit; of an expression, any whole multiple of it
    const char *const *exchange; // as in carom_orbit_def
    const char *response;        // quadrature: this expression is a quarter of a period from the excitation; else NULL
    const char *by[2];           // two parameters
    double from[2], to[2];       // the curve is followed as long as they lie between these
    double step;                 // longest step: states in units of the motion, parameters in units of their ranges; 0:
                                 // 0.05
    int max_points;              // 0: 1000
    bool (*stop)(const void *user); // NULL: none
    const void *user;
} carom_locus_def;

typedef struct carom_locus {
    carom_table curve;   // part (1 towards one side, 2 towards the other), both parameters, period, stable (apart from
                         // what happens on the curve), frequency, event, coefficient, coordinates, rates
    const char *scheme;
    carom_error note;    // why a part ends inside the ranges; CAROM_OK: none does
} carom_locus;

/// Events: cusp, bogdanov-takens, zero-hopf, double-hopf, bautin, fold-flip, fold-torus, flip-torus, double-flip,
/// generalised-doubling, resonance 1:1 to 1:4, degenerate-grazing; closed: back at the start; end: not found any
/// further.  Free it in every case.
carom_status carom_locus_run(carom_locus *l, const carom_locus_def *def, carom_error *err);
void carom_locus_free(carom_locus *l);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

carom_status carom_equilibrium_find_sized(size_t size, carom_equilibrium *x, const carom_model *m, const double *q,
                                          carom_error *err);
void carom_equilibrium_free_sized(size_t size, carom_equilibrium *x);
carom_status carom_equilibrium_range_sized(size_t size, const carom_model *m, const carom_equilibrium *x,
                                           int coordinate, double range[2], carom_error *err);
carom_status carom_modes_find_sized(size_t out, size_t in, carom_modes *x, const carom_model *m,
                                    const carom_modes_def *def, carom_error *err);
void carom_modes_free_sized(size_t size, carom_modes *x);
carom_status carom_modes_play_sized(size_t out, size_t in, const carom_modes *x, int k, const carom_play_def *def,
                                    carom_error *err);
carom_status carom_fit_find_sized(size_t out, size_t in, carom_fit *x, const carom_fit_def *def, carom_error *err);
void carom_fit_free_sized(size_t size, carom_fit *x);
carom_status carom_gradient_find_sized(size_t out, size_t in, carom_gradient *x, const carom_gradient_def *def,
                                       carom_error *err);
void carom_gradient_free_sized(size_t size, carom_gradient *x);
carom_status carom_optimise_sized(size_t out, size_t in, carom_optimum *x, const carom_optimise_def *def,
                                  carom_error *err);
void carom_optimum_free_sized(size_t size, carom_optimum *x);
carom_status carom_orbit_find_sized(size_t out, size_t in, carom_orbit *x, const carom_orbit_def *def,
                                    carom_error *err);
void carom_orbit_free_sized(size_t size, carom_orbit *x);
carom_status carom_basins_find_sized(size_t out, size_t in, carom_basins *x, const carom_basins_def *def,
                                     carom_error *err);
void carom_basins_free_sized(size_t size, carom_basins *x);
carom_status carom_lyapunov_find_sized(size_t out, size_t in, carom_lyapunov *x, const carom_lyapunov_def *def,
                                       carom_error *err);
void carom_lyapunov_free_sized(size_t size, carom_lyapunov *x);
carom_status carom_follow_run_sized(size_t out, size_t in, carom_branch *x, const carom_follow_def *def,
                                    carom_error *err);
void carom_branch_free_sized(size_t size, carom_branch *x);
carom_status carom_locus_run_sized(size_t out, size_t in, carom_locus *x, const carom_locus_def *def, carom_error *err);
void carom_locus_free_sized(size_t size, carom_locus *x);
carom_status carom_orbit_record_sized(size_t out, size_t in, const carom_orbit *x, const carom_orbit_def *def,
                                      const char *file, carom_error *err);
carom_status carom_follow_write_sized(size_t out, size_t in, const carom_branch *x, const carom_follow_def *def,
                                      const char *file, carom_error *err);
carom_status carom_follow_read_sized(size_t out, size_t in, carom_branch *x, const carom_follow_def *def,
                                     const char *file, carom_error *err);
#ifndef CAROM_INSIDE
#define carom_equilibrium_find(...) carom_equilibrium_find_sized(sizeof(carom_equilibrium), __VA_ARGS__)
#define carom_equilibrium_free(...) carom_equilibrium_free_sized(sizeof(carom_equilibrium), __VA_ARGS__)
#define carom_equilibrium_range(...) carom_equilibrium_range_sized(sizeof(carom_equilibrium), __VA_ARGS__)
#define carom_modes_find(...) carom_modes_find_sized(sizeof(carom_modes), sizeof(carom_modes_def), __VA_ARGS__)
#define carom_modes_free(...) carom_modes_free_sized(sizeof(carom_modes), __VA_ARGS__)
#define carom_modes_play(...) carom_modes_play_sized(sizeof(carom_modes), sizeof(carom_play_def), __VA_ARGS__)
#define carom_fit_find(...) carom_fit_find_sized(sizeof(carom_fit), sizeof(carom_fit_def), __VA_ARGS__)
#define carom_fit_free(...) carom_fit_free_sized(sizeof(carom_fit), __VA_ARGS__)
#define carom_gradient_find(...) \
    carom_gradient_find_sized(sizeof(carom_gradient), sizeof(carom_gradient_def), __VA_ARGS__)
#define carom_gradient_free(...) carom_gradient_free_sized(sizeof(carom_gradient), __VA_ARGS__)
#define carom_optimise(...) carom_optimise_sized(sizeof(carom_optimum), sizeof(carom_optimise_def), __VA_ARGS__)
#define carom_optimum_free(...) carom_optimum_free_sized(sizeof(carom_optimum), __VA_ARGS__)
#define carom_orbit_find(...) carom_orbit_find_sized(sizeof(carom_orbit), sizeof(carom_orbit_def), __VA_ARGS__)
#define carom_orbit_free(...) carom_orbit_free_sized(sizeof(carom_orbit), __VA_ARGS__)
#define carom_basins_find(...) carom_basins_find_sized(sizeof(carom_basins), sizeof(carom_basins_def), __VA_ARGS__)
#define carom_basins_free(...) carom_basins_free_sized(sizeof(carom_basins), __VA_ARGS__)
#define carom_lyapunov_find(...) \
    carom_lyapunov_find_sized(sizeof(carom_lyapunov), sizeof(carom_lyapunov_def), __VA_ARGS__)
#define carom_lyapunov_free(...) carom_lyapunov_free_sized(sizeof(carom_lyapunov), __VA_ARGS__)
#define carom_follow_run(...) carom_follow_run_sized(sizeof(carom_branch), sizeof(carom_follow_def), __VA_ARGS__)
#define carom_branch_free(...) carom_branch_free_sized(sizeof(carom_branch), __VA_ARGS__)
#define carom_locus_run(...) carom_locus_run_sized(sizeof(carom_locus), sizeof(carom_locus_def), __VA_ARGS__)
#define carom_locus_free(...) carom_locus_free_sized(sizeof(carom_locus), __VA_ARGS__)
#define carom_orbit_record(...) carom_orbit_record_sized(sizeof(carom_orbit), sizeof(carom_orbit_def), __VA_ARGS__)
#define carom_follow_write(...) carom_follow_write_sized(sizeof(carom_branch), sizeof(carom_follow_def), __VA_ARGS__)
#define carom_follow_read(...) carom_follow_read_sized(sizeof(carom_branch), sizeof(carom_follow_def), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#ifdef CAROM_INSIDE
#include <carom/binding.h>
#endif
