// results.h (private): results of a run with their derivatives: expressions at its end, with extremes, averages and
// integrals in them; times of events and values there.
#pragma once
#include "dynamics/dynamics.h"
#include "model/answers.h"

typedef enum carom_at_word {
    CAROM_AT_IMPACT,
    CAROM_AT_CLOSE,
    CAROM_AT_OPEN,
    CAROM_AT_STICK,
    CAROM_AT_SLIP,
    CAROM_AT_COUNT
} carom_at_word;

/// "time of CONTACT.impact[N]", "EXPR at CONTACT.impact[N]" (right limit), "EXPR before CONTACT.impact[N]" (left
/// limit).
typedef struct carom_at_event {
    bool some; // else the result is an expression at the end
    bool time, before;
    carom_at_word word;
    char *contact;
    long long id;      // carom_model_contact()
    long number, seen; // from 1
    bool now, found;
} carom_at_event;

/// A result at an event inside of an expression, as `time of A.impact[2]` in a difference: an expression of its own
/// behind those of the results.  In the other one max(mark) stands for it, a number that is watched in its place.
typedef struct carom_term {
    double mark;
    int watch; // watched expression that it is
} carom_term;

/// The limit of a run of impacts, as its impacts predict it; gradient: of `value`, of the last two predictions.
typedef struct carom_limit {
    int impacts;
    double value, last, change, *gradient;
} carom_limit;

/// An extreme of a watched expression, and another one in the run that comes as near as rounding.
typedef struct carom_extreme {
    bool some, peak;
    double value, t, *gradient, rival, rival_t;
} carom_extreme;
typedef struct carom_watching {
    unsigned slots;
    carom_extreme low, high;
    int integral, square;
} carom_watching; // places in z; -1: none

/// How far a name may change until a contact is struck that was not, or the other way round, to first order.
typedef struct carom_grazing {
    double distance, t;
    int contact;
    bool struck;
} carom_grazing; // distance infinite: none is known

typedef struct carom_results {
    int n, all;              // results; with the terms inside them
    const char **expression; // all, for carom_model_def.observe; NULL-terminated
    const char **said;       // n: as they were given
    carom_at_event *event;   // all
    carom_term *term;        // all - n
    bool *told;              // n: terms and parameters alone, so that the end of the run does not count
    bool plain; // values alone: no columns
    // bound to a run
    const carom_model *model;
    carom_sim *sim;
    carom_path *path;
    carom_watching *watch;
    carom_average *average;
    double *x, *dx, *dwatch, *out, *dout; // watched; their changes; observed
    double *value, *gradient;             // of events that were found: all; all x columns
    carom_limit *limit;                   // all
    double *rate_0;                       // nc: gap rates at the start of a step
    carom_grazing *grazing;               // columns
    double *dT, *along;                   // changes of the end, by column; a column along the motion
    bool moves;                           // some of dT is not 0
    int nwatch, nz, columns;
    void *user; // the caller's
    carom_error *err;
    char *own;
} carom_results;

/// texts: NULL-terminated; option: for messages.  To be freed whatever happens.
carom_status carom_results_read(carom_results *r, const char *const *texts, const char *option, carom_error *err);
/// Which watched expressions stand for terms; carom_results_bind() does it.
void carom_results_find_terms(carom_results *r, const carom_model *m);
/// Of a model made with r->expression.  Sizes are known behind it.  derivatives false: figures of the ledger are
/// allowed.
carom_status carom_results_bind(carom_results *r, const carom_model *m, int columns, const char *option,
                                carom_error *err);
/// The path that follows the run; before carom_task_columns().
void carom_results_attach(carom_results *r, carom_path *w, carom_sim *sim);
/// The start of the run, behind carom_task_columns().
carom_status carom_results_start(carom_results *r, double t, const double *q, const double *v);
/// As if the run ended here.  value: n, gradient: n x columns (NULL: not wanted).  CAROM_NOT_CONVERGED: an event has
/// not happened.
carom_status carom_results_now(carom_results *r, double *value, double *gradient);
/// The same at the end of a run that takes its end from the model: derivatives follow it.
carom_status carom_results_end(carom_results *r, double *value, double *gradient);
/// Have all results been found, so that the rest of the run does not count?  The path ends then with CAROM_STOPPED.
bool carom_results_complete(const carom_results *r);
void carom_results_free(carom_results *r);
