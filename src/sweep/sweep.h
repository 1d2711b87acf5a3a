// sweep.h (private): the insides of a sweep.
//
//   spec.c     "NAME=SPEC" -> a name and a list of values
//   runs.c     numbers, names and values of runs
//   section.c  "every ...", "... = ...", "impact ..." -> when the section is met
//   single.c   one run
//   sweep.c    create, threads, chains of runs that follow each other
//   book.c     rows: the journal, and the tables they make
#pragma once
#include <carom/sweep.h>
#include <stdatomic.h>
#include <stdint.h>

typedef enum varied_kind { VARY_PARAMETER, VARY_POSITION, VARY_RATE, VARY_OPTION } varied_kind;

/// One --vary.
typedef struct varied {
    char *name;      // as written: "mu", "x", "x'", "option.theta"
    const carom_model *model; // while values are read: its units
    varied_kind kind;
    int index;       // parameter, position, or velocity of a rate
    long n;
    double *value;   // n
    char **word;     // options that are words: n texts; NULL: numbers
} varied;

typedef enum section_kind { SECTION_NONE, SECTION_EVERY, SECTION_CROSSING, SECTION_IMPACT } section_kind;

typedef struct section {
    section_kind kind;
    long long contact; // SECTION_IMPACT: carom_model_contact() of the sweep's own model,
    char *name;        // and what it was called
    int direction;     // SECTION_CROSSING: +1 rising, -1 falling, 0 both
    char *expression;  // for carom_model_def.observe: the period, or what becomes zero; NULL: none
} section;

/// What a run leaves behind.
typedef struct outcome {
    bool done;
    int status;
    char *message;     // NULL: none
    double *observed;  // nobserve
    double *section;   // points x (1 + nobserve)
    long points;
    double *end;       // nstate
} outcome;

enum { IDLE_MODELS = 64 }; // chosen: more than most machines have threads; others are made anew

typedef struct carom_lanes carom_lanes;
typedef struct carom_gpu carom_gpu;

struct carom_sweep {
    carom_sweep_def def;
    carom_model *model;   // with the file's own parameters; owns compiled code that all runs use
    _Atomic(carom_model *) idle[IDLE_MODELS]; // of runs that are over, for the next ones; with the parameters of any
                                              // run
    varied *vary;
    int nvary, nobserve, nq, nv;
    const char **observe; // def.observe, then the section's expression; NULL-terminated
    section section;
    bool driven;             // with follow: time enters the model of some run, and goes on from run to run
    bool pieces;             // runs go on where they ended, piece by piece: transient and initial values count for the
                             // first
    long grid, length, runs; // points of the grid; of a chain; runs in all directions
    bool *skip;              // runs that are done already
    double **start;          // by run: where a skipped run ended; NULL: not known
    carom_lanes *lanes;      // NULL: one run at a time
    carom_gpu *gpu;          // NULL: none
    atomic_long alone;       // runs that lanes left to the engine
    struct crew *crew;       // while it runs: its threads
    atomic_bool stop;
};

/// Runs of a chain, in all its directions.
static inline long carom_sweep_chain(const carom_sweep *s) {
    return s->def.follow == CAROM_FOLLOW_BOTH ? 2 * s->length : s->length;
}

/// With follow, or piece by piece: does time enter the model of some run?
carom_status carom_sweep_look_for_time(carom_sweep *s, carom_error *err);

// spec.c
carom_status carom_vary_read(carom_sweep *s, varied *v, const char *text, carom_error *err);
void carom_vary_free(varied *v);
/// What a name stands for, and which one of its kind it is; false: the model has none of that name.
bool carom_vary_find(const carom_model *m, const char *name, varied_kind *kind, int *index);
/// The error about such a name; setting: that names it, NULL: none.
carom_status carom_vary_unknown(const carom_model *m, const char *setting, const char *name, carom_error *err);

// section.c
carom_status carom_section_read(carom_sweep *s, const char *text, carom_error *err);

// single.c
/// One run, from `start` (as in carom_sweep_row.end) or from the model's own initial state where that is NULL.
void carom_sweep_single(carom_sweep *s, long run, const double *start, outcome *o);
void carom_outcome_free(outcome *o);
