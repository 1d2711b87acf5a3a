// cmd_basins.c: carom basins: which initial values lead to which attractor.
#define _POSIX_C_SOURCE 200809L
#include "cli/figure.h"
#include "cli/sweep_plot.h"
#include "cli/sweep_words.h"
#include "io/json.h"
#include "io/table.h"
#include <carom/dynamics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    {"vary", 0, "NAME=SPEC",
     "initial value x or rate x' of a coordinate, or a parameter; SPEC as of `carom sweep`: a:b:n (both ends "
     "included), a,b,c, ... Several make a grid; the last runs fastest",
     true},
    {"section", 0, "SECTION",
     "'every EXPR', 'NAME = VALUE [rising|falling]' or 'impact CONTACT' (default: every period of the forcing; without "
     "forcing, states of rest at the end of runs)",
     false},
    {"observe", 0, "EXPR",
     "expressions that distinguish section points (default: all coordinates and rates); sin(x) and cos(x) of an angle "
     "that turns",
     true},
    {"count", 0, "N", "maximum number of section points of a run (default: 400)", false},
    {"transient", 0, "T", "start observing at this time", false},
    {"jobs", 0, "N", "threads (default: as many as there are cores)", false},
    {"lanes", 0, "auto|on|off",
     "run many systems per SIMD vector: off (default), on, or auto: where model and scheme allow it; all --count "
     "points of every run are then computed",
     false},
    {"gpu", 0, NULL, "lanes on a GPU, compiled by $CAROM_NVCC or nvcc", false},
    {"zip", 0, NULL, "pair the lists of --vary element by element instead of forming a grid", false},
    SWEEP_RUN_OPTIONS,
    CLI_MODEL,
    {"adaptive", 0, NULL, "step sizes from error estimates", false},
    {"rtol", 0, "X", "tolerance relative to each coordinate and rate", false},
    {"atol", 0, "X", "absolute tolerance", false},
    {"out", 'o', "FILE",
     "tables `runs` and `attractors`: .h5 (default: the model's file name with .basins.h5, in this directory) or .csv "
     "(attractors go to FILE.attractors.csv)",
     false},
    {"plot", 0, "FILE", "map of labels over the last two --vary: .svg, .png or .pdf", false},
    {"json", 0, NULL,
     "{attractors: [{label, kind, period, count, multiplier, points}], runs, out} as JSON on standard output", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct watcher {
    bool on, shown;
    double began;
} watcher;

static bool tick(void *user, long done, long total) {
    watcher *w = user;
    if (w->on && cli_clock() - w->began > 0.3) { // a short run needs no line
        const double rate = (double)done / (cli_clock() - w->began);
        fprintf(stderr, "\r%ld of %ld runs, %.3g runs/s, %.0f s left   ", done, total, rate,
                rate > 0 ? (double)(total - done) / rate : 0);
        fflush(stderr), w->shown = true;
    }
    return !cli_signals_take();
}

// -- output -------------------------------------------------------------------------------------------------------

enum { LABEL, KIND, PERIOD, COUNT, MULTIPLIER, EXPONENT, POINT, FIRST }; // columns of attractors

static void print_text(const carom_basins *b, const char *file, const char *out) {
    const carom_table *t = &b->attractors;
    cli_print("%s: %ld run%s; tables in %s\n", file, b->runs.rows, b->runs.rows == 1 ? "" : "s", out);
    printf("  %5s %-10s %6s %8s %12s", "label", "kind", "period", "runs", "multiplier");
    for (int c = FIRST; c < t->columns; ++c) cli_print(" %14s", t->column[c].name);
    puts("");
    for (long r = 0; r < t->rows; ++r) {
        const carom_column *c = t->column;
        if (c[POINT].integer[r] == 1)
            printf("  %5lld %-10s %6lld %8lld", c[LABEL].integer[r], c[KIND].text[r], c[PERIOD].integer[r],
                   c[COUNT].integer[r]);
        else
            printf("  %5s %-10s %6s %8s", "", "", "", "");
        isnan(c[MULTIPLIER].real[r]) || c[POINT].integer[r] > 1 ? printf(" %12s", "")
                                                                : printf(" %12.6g", c[MULTIPLIER].real[r]);
        for (int i = FIRST; i < t->columns; ++i)
            isnan(c[i].real[r]) ? printf(" %14s", "-") : printf(" %14.8g", c[i].real[r]);
        puts("");
    }
}

static void print_json(const carom_basins *b, const char *out) {
    const carom_table *t = &b->attractors;
    const carom_column *c = t->column;
    fputs("{\"attractors\": [", stdout);
    for (long r = 0; r < t->rows;) {
        printf("%s\n  {\"label\": %lld, \"kind\": \"%s\", \"period\": %lld, \"count\": %lld", r ? "," : "",
               c[LABEL].integer[r], c[KIND].text[r], c[PERIOD].integer[r], c[COUNT].integer[r]);
        carom_json(stdout, ", \"multiplier\": %g, \"exponent\": %g, \"points\": [", c[MULTIPLIER].real[r],
                   c[EXPONENT].real[r]);
        do {
            fputs(c[POINT].integer[r] > 1 ? ", {" : "{", stdout);
            for (int i = FIRST; i < t->columns; ++i)
                carom_json(stdout, i > FIRST ? ", %s: %g" : "%s: %g", c[i].name, c[i].real[r]);
            fputs("}", stdout);
            ++r;
        } while (r < t->rows && c[POINT].integer[r] > 1);
        fputs("]}", stdout);
    }
    carom_json(stdout, "],\n \"runs\": %ld, \"out\": %s}\n", b->runs.rows, out);
}

static bool write_out(const carom_basins *b, const char *file) {
    carom_error err = {0};
    const carom_table tables[] = {b->runs, b->attractors};
    const carom_table_note notes[] = {{"carom", CAROM_VERSION}, {"kind", "basins"}};
    if (carom_tables_write(file, tables, 2, notes, 2, &err) == CAROM_OK) return true;
    return cli_say("%s", err.text), false;
}

// -- usage --------------------------------------------------------------------------------------------------------

static int find(const cli_args *a, const carom_basins_def *def, const char *out) {
    carom_basins b;
    carom_error err = {0};
    cli_signals_begin();
    const carom_status status = carom_basins_find(&b, def, &err);
    cli_signals_end();
    const watcher *w = def->user;
    if (w->shown) fputs("\r\033[K", stderr);
    int code = cli_exit(status);
    if (status != CAROM_OK)
        cli_say_of(a->word[0], err.text);
    else if (!write_out(&b, out))
        code = CLI_FAILED;
    else if (cli_has(a, "json"))
        print_json(&b, out);
    else if (!cli_has(a, "quiet"))
        print_text(&b, a->word[0], out);
    if (code == CLI_DONE && cli_has(a, "plot")) code = sweep_plot(out, "label", cli_value(a, "plot"));
    carom_basins_free(&b);
    return code;
}

static int run(const cli_args *a) {
    static const char *const endings[] = {".yaml", ".yml", NULL};
    carom_basins_def d = {.tick = tick};
    sweep_words words = {0};
    cli_source s = {0};
    const char *plot = cli_value(a, "plot");
    if (cli_wants_model(a->word[0]) || !gnuplot_takes(plot) || !cli_writable(plot)) return CLI_USAGE;
    if (!cli_has(a, "vary")) return cli_say("basins: give --vary NAME=SPEC"), CLI_USAGE;
    char *own = cli_has(a, "out") ? NULL : cli_rename(a->word[0], endings, ".basins.h5");
    const char *out = own ? own : cli_value(a, "out");
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long jobs = cores > 0 ? cores : 1;
    bool good = true;
    if (!carom_ends(out, ".h5") && !carom_ends(out, ".csv"))
        cli_say("-o: '%s' ends neither in .h5 nor in .csv", out), good = false;
    if (good && plot && !carom_ends(out, ".h5"))
        cli_say("--plot: plots are made from .h5 files; give -o FILE.h5"), good = false;
    good = good && cli_writable(out) && sweep_words_read(a, &words, &d.sweep) && cli_whole(a, "jobs", 1024, &jobs) &&
           cli_source_read(&s, a);
    watcher w = {.on = !cli_has(a, "quiet") && isatty(STDERR_FILENO), .began = cli_clock()};
    d.user = &w;
    d.sweep.jobs = (int)jobs;
    d.sweep.model = s.def;
    const int code = good ? find(a, &d, out) : CLI_USAGE;
    cli_source_free(&s);
    sweep_words_free(&words);
    free(own);
    return code;
}

const cli_verb cli_basins = {
    .name = "basins",
    .arguments = "MODEL",
    .about = "find the attractors of a grid of initial values and label each run by the attractor that it reaches",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .text = "A run ends when its section points repeat themselves with a period of at most 16, or after --count of "
            "them. Runs whose points coincide have the same label; labels are numbered by the\n"
            "count of runs, and 0 is a run that failed or ran away. Of periodic attractors the largest multiplier is "
            "computed, of irregular ones the largest Lyapunov exponent.",
};
