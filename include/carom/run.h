// run.h: which scheme, step, end and options a run has.
//
// The command line, Python and sweeps all give some of these; the model's `simulation` section gives the rest.  The
// rules are here and nowhere else.
#pragma once
#include <carom/model.h>
#include <carom/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What is given; NULL and NAN: nothing is.
typedef struct carom_run_given {
    const char *scheme;
    double step, end;
    const char *const *options; // "key=value", NULL-terminated; they come after the model's
    bool adaptive;
    double rtol, atol;
    double interval; // time between rows; 0: not given
    const void *reserved[6]; // NULL: room for later fields, because other definitions contain this one
} carom_run_given;

carom_run_given carom_run_nothing(void);

/// What the run has.
typedef struct carom_run {
    const char *scheme;   // belongs to the model, to what was given, or is the default
    const carom_scheme *table; // NULL: there is no scheme of that name; carom_sim_create() then fails
    double step, end;
    const char **options; // NULL-terminated; carom_run_free()
    char *own;            // text of options made here
    bool from_file;       // scheme and options of the model's simulation section are in use
    double evaluations;   // of the model, about: is it worth compiling?
    char chosen[240];     // why `auto` is replaced by another scheme; empty: it is not
} carom_run;

/// m may be NULL: a system without a model.  CAROM_BAD_INPUT: a setting is missing, or settings are incompatible.
carom_status carom_run_resolve(carom_run *run, const carom_model *m, const carom_run_given *given, carom_error *err);
void carom_run_free(carom_run *run);
/// A simulation of the model from its initial state, whose messages have the model's names.  `run` must live
/// until it is made.
carom_sim_def carom_run_sim(const carom_run *run, const carom_model *m);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

const carom_run_given *carom_run_nothing_view(void);
carom_status carom_run_resolve_sized(size_t out, size_t in, carom_run *run, const carom_model *m,
                                     const carom_run_given *given, carom_error *err);
void carom_run_free_sized(size_t size, carom_run *x);
const carom_sim_def *carom_run_sim_view(size_t size, const carom_run *run, const carom_model *m);
#ifndef CAROM_INSIDE
#define carom_run_nothing() (*carom_run_nothing_view())
#define carom_run_resolve(...) carom_run_resolve_sized(sizeof(carom_run), sizeof(carom_run_given), __VA_ARGS__)
#define carom_run_free(...) carom_run_free_sized(sizeof(carom_run), __VA_ARGS__)
#define carom_run_sim(...) (*carom_run_sim_view(sizeof(carom_run), __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#ifdef CAROM_INSIDE
#include "run/more.h"
#include <carom/scheme.h>
#endif
