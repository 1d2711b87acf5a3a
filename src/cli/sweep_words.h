// sweep_words.h: the command line of `sweep` and `export cuda`.
#pragma once
#include "cli/cli.h"
#include <carom/sweep.h>

typedef struct sweep_words { const char **set, **vary, **observe, **options; } sweep_words;

/// d from the words of a, whose first argument is the model; false: complained.  d holds what w holds.
bool sweep_words_read(const cli_args *a, sweep_words *w, carom_sweep_def *d);
void sweep_words_free(sweep_words *w);
/// `typed` and behind it what the `sweep` section of the model says; `all` holds both, the text of values is in *own.
/// False: complained.
bool sweep_words_join(const cli_args *typed, const cli_verb *sweep, const char *text, size_t length, cli_args *all,
                      char **own);

// Options that both have.
#define SWEEP_OPTIONS                                                                                                  \
    {"vary", 0, "NAME=SPEC",                                                                                           \
     "varied quantity: a parameter, the initial value x or rate x' of a coordinate, or option.NAME. SPEC: a:b:n "      \
     "(both ends included), log:a:b:n, "                                                                               \
     "a,b,c, uniform:a:b:n:seed, normal:mean:sd:n:seed, or FILE.csv:column. Several make a grid; the last runs "       \
     "fastest",                                                                                                        \
     true},                                                                                                            \
        {"zip", 0, NULL, "pair the lists of --vary element by element instead of forming a grid", false},              \
        {"observe", 0, "EXPR",                                                                                         \
         "an expression of the model, of the ledger (impacts, energy.impact, ...), or max(x), min(x), mean(x), "       \
         "rms(x), integral(x) over all "                                                                               \
         "steps; its value at the end or, with --section, at every section point too",                                 \
         true},                                                                                                        \
        {"section", 0, "SECTION", "'every EXPR', 'NAME = VALUE [rising|falling]' or 'impact CONTACT'", false},         \
        {"count", 0, "N", "end each run after N section points, even beyond its end time", false}, {                   \
        "transient", 0, "T", "start observing at this time", false                                                     \
    }
#define SWEEP_RUN_OPTIONS \
    {"scheme", 0, "NAME", "time-stepping scheme; `carom schemes` lists them", false}, \
    {"step", 0, "H", "step size", false}, \
    {"end", 0, "T", "end time of every run: a time, or an expression of what is varied", false}, \
    {"option", 0, "KEY=VALUE", "an option of the scheme or contact solver", true}
