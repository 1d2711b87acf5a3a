// sim.h: a simulation (system, scheme, step size) and its ledger.
#pragma once
#include <carom/status.h>
#include <carom/types.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A warning about a run.
typedef struct carom_warning {
    const char *kind; // energy-created, unaccounted-energy, drift, penetration, missed-contact, moved, unconverged,
                      // resolution, scheme
    char text[600];   // what happened, where, what to do
    long long id;     // constraint, -1: none
    const char *name; // of it; NULL: none
    double t;         // when; NaN: no instant
} carom_warning;

enum { CAROM_WARNINGS = 9 }; // most that a run has: one of each kind

/// What an observer sees after every step (and once at the start, step 0).  Pointers are valid during the call.
typedef struct carom_now {
    double t;
    long step;             // steps done
    const double *q, *v;   // right limits
    const double *gap;     // ne + nc
    const int *dir;        // ne + nc + 1: first recorded direction of each constraint
    bool reacted;          // there was a reaction in the last step; else impulse and force are zero, as after a step
                           // that failed (lasting and nu are then those of the last good one)
    const double *impulse; // recorded directions: impulse of the last step (not counted as force)
    const double *force;   // recorded directions
    const carom_event *events;
    int nevents;           // events of the last step
    const double *nu;      // recorded directions: multipliers on position level of the last step, at normals and
                           // joints; NULL: the scheme has none
    const double *lasting; // recorded directions: force, or impulse/h where a lasting contact or a joint has an impulse
                           // only; for records
} carom_now;

typedef struct carom_sim carom_sim;

/// The account of a run.  Its entries are read by name; names and meaning: docs/reference-ledger.md.
typedef struct carom_ledger carom_ledger;

/// One entry of a ledger, as in docs/reference-ledger.md.  Its layout never changes.
typedef struct carom_ledger_line {
    const char *name;  // "energy.start"
    bool is_text;      // a name of a constraint; else a number
    const char *text;  // NULL: it never happened
    double value;      // NaN: unknown, or it never happened
    bool whole;        // value is a count
} carom_ledger_line;

typedef struct carom_sim_def {
    const carom_system *system;
    const char *scheme;         // name; NULL: the first one
    const carom_scheme *const *schemes; // to choose from, NULL-terminated; NULL: those of the core.  carom_schemes() of
                                        // carom/event.h: all
    const char *const *options; // "key=value" strings, NULL-terminated, later ones win; NULL: none
    double t0, h, t_end;        // with the option adaptive=on, h is the first step to try
    const double *q0, *v0;
    const double *input;        // the system's ni signals at the start; NULL: those of the system
    const char *(*name)(const void *user, long long id); // name of a constraint, for messages; NULL: "contact 3"
    const void *name_user;
    const char *(*rate_name)(const void *user, int i); // name of velocity i, with name_user; NULL, or returns NULL: "3"
    double (*size)(const void *user, long long id);    // length of what touches at contact id, with name_user; NULL, or
                                                       // returns 0: unknown
    double input_t;             // `input` is what a run left that ended at this time: controllers that sampled then do
                                // not sample again at t0; 0: none did
    bool input_whole;           // `input` has outputs of controllers that are on their way, too: those that were
                                // computed before t0 take effect at their time, also where controllers would
                                // begin after that.  input_t does not count then
    // before controller k computes at an instant, or (effect) its outputs take effect: signals as they are (ni); also
    // at t0, inside of carom_sim_create().  NULL: none
    carom_status (*on_sample)(void *user, int k, bool effect, double t, const double *q, const double *v,
                              const double *signals);
    void *sample_user;
    const char *choice;         // why the scheme was chosen, for carom_sim_choice(); it is copied.  NULL: it was named
} carom_sim_def;

carom_sim_def carom_sim_default(void);

/// NULL on failure: err gives the reason (for an unknown option it lists the known ones; for a scheme that does not
/// support a feature of the system, the schemes that do).
carom_sim *carom_sim_create(const carom_sim_def *def, carom_error *err);
void carom_sim_destroy(carom_sim *sim);

/// Advance by one step of h (the last one is shortened to end at t_end).  CAROM_END once t_end is reached.
carom_status carom_sim_step(carom_sim *sim, carom_error *err);

/// Stop callback, polled frequently, also within steps; it must be fast.  A step that is stopped did not take place,
/// and carom_sim_run returns CAROM_STOPPED.  NULL: none.
void carom_sim_stop_when(carom_sim *sim, bool (*stop)(const void *user), const void *user);

/// Steps until t_end, or until on_step (NULL allowed) returns another status than CAROM_OK.
carom_status carom_sim_run(carom_sim *sim, carom_status (*on_step)(void *user, const carom_now *now), void *user,
                           carom_error *err);

/// Another value of input i (0 .. nset-1 of the system; carom_model_input() has their names) from now on, between two
/// steps.  The value is constant until the next call, and part of the saved state.  Energy that the change brings
/// counts as external.
carom_status carom_sim_input(carom_sim *sim, int i, double value, carom_error *err);

carom_now carom_sim_now(const carom_sim *sim);
bool carom_sim_done(const carom_sim *sim);

/// Energies at the present state.
carom_status carom_sim_energy(carom_sim *sim, double *kinetic, double *potential, carom_error *err);

/// The ledger as of now, energies included.  The caller frees it.  NULL: err gives the reason.
carom_ledger *carom_ledger_of_sim(carom_sim *sim, carom_error *err);
void carom_ledger_free(carom_ledger *l);
/// Entry i, valid as long as the ledger; NULL after the last.
const carom_ledger_line *carom_ledger_entry(const carom_ledger *l, int i);
/// Entry by name ("energy.balance"): its number, NaN if unknown; its text, NULL if none.
double carom_ledger_number(const carom_ledger *l, const char *name);
const char *carom_ledger_text(const carom_ledger *l, const char *name);

/// Warnings about the run so far, from its ledger; returns how many of CAROM_WARNINGS were written.
int carom_sim_warnings(const carom_sim *sim, const carom_ledger *ledger, carom_warning *list);

/// Choices of a scheme that chooses its method, with times and reasons; empty: none.
void carom_sim_choice(const carom_sim *sim, char *text, size_t size);

/// Scratch of the system's functions that belongs to this simulation (for models' own outputs).
void *carom_sim_work(carom_sim *sim);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

const carom_sim_def *carom_sim_default_view(void);
carom_sim *carom_sim_create_sized(size_t size, const carom_sim_def *def, carom_error *err);
const carom_now *carom_sim_now_view(const carom_sim *sim);
int carom_sim_warnings_sized(int most, const carom_sim *sim, const carom_ledger *ledger, carom_warning *list);
#ifndef CAROM_INSIDE
#define carom_sim_default() (*carom_sim_default_view())
#define carom_sim_create(...) carom_sim_create_sized(sizeof(carom_sim_def), __VA_ARGS__)
#define carom_sim_now(...) (*carom_sim_now_view(__VA_ARGS__))
#define carom_sim_warnings(...) carom_sim_warnings_sized(CAROM_WARNINGS, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#ifdef CAROM_INSIDE
#include "sim/carom_ledger.h"
#include <carom/observe.h>
#include <carom/scheme.h>
#include <carom/system.h>
#endif
