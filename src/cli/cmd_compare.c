// cmd_compare.c: carom compare: schemes x step sizes or tolerances against a reference; table, CSV, picture.
//
// A row goes into the CSV file when its run has ended, so that a comparison that is interrupted keeps what is done.
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"
#include "cli/compare_plot.h"
#include "cli/figure.h"
#include "io/recording.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    {"schemes", 0, "NAME,NAME",
     "schemes, each with its options: moreau-jean:theta=1:closed=strict (default: the model's)", false},
    {"steps", 0, "H,H", "step sizes (default: the model's step times 8, 4, 2, 1)", false},
    {"tolerances", 0, "X,X",
     "rtol of adaptive runs.  With --steps: for the schemes with adaptive=on and those that choose their steps "
     "themselves; "
     "alone, for all",
     false},
    {"reference", 0, "WHAT",
     "SCHEME:STEP, a result FILE.h5, or exact (default: exact when the model has it, else the first scheme at "
     "a tenth of the smallest step, or a hundredth of the smallest tolerance)",
     false},
    {"over", 0, "WHAT",
     "ends (default): errors at step ends; dense: over the dense output, 8 states inside each step, of schemes that "
     "have one",
     false},
    {"norm", 0, "NORM",
     "l1 (default), l2, lP with a number P, linf, matrix, hausdorff; relative-l1 and so on: over the norm of the "
     "reference",
     false},
    {"of", 0, "NAME,NAME", "coordinates, rates (x') and outputs to compare (default: all coordinates)", false},
    {"csv", 0, "FILE", "write the rows to FILE as they are computed", false},
    {"plot", 0, "FILE", "error versus step (with --tolerances: number of steps) and versus time: .svg, .png or .pdf",
     false},
    {"end", 0, "T", "end time: a number, one with a unit, or an expression of parameters", false},
    {"option", 0, "KEY=VALUE", "an option for every scheme, the reference's included", true},
    CLI_MODEL,
    CLI_COMPILE,
    {"threads", 0, "N", "runs at a time (default: as many as there are cores)", false},
    {"strict", 0, NULL, "list runs with ledger warnings and exit with status 3", false},
    {"quiet", 'q', NULL, "print errors only, no table", false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct comparison {
    const cli_args *a;
    cli_source source;
    carom_model *model; // of source
    char *schemes_own, *of_own;
    const char **schemes, **of;
    double *steps, *tolerances, end;
    int nsteps, ntolerances, threads, rows; // rows done
    bool dense;
    const char *norm;
    carom_compile_mode compile;
    carom_compare *c;
    FILE *csv;
    bool quiet, stopped, csv_failed;
    cli_progress progress;
    carom_error err;
} comparison;

// -- what is wanted -----------------------------------------------------------------------------------

// Parts of text between commas, NULL-terminated; cuts *own, a copy.  Both are to be freed.
static const char **cut(const char *text, char **own) {
    *own = strdup(text);
    if (!*own) abort();
    return cli_split(*own, ',');
}

static bool read_norm(comparison *k) {
    carom_compare_def def;
    k->norm = cli_has(k->a, "norm") ? cli_value(k->a, "norm") : "l1";
    if (carom_compare_norm(&def, k->norm, &k->err) == CAROM_OK) return true;
    return cli_say("--norm: %s", k->err.text), false;
}

static bool read_over(comparison *k) {
    const char *word = cli_value(k->a, "over");
    k->dense = word && strcmp(word, "dense") == 0;
    if (!word || k->dense || strcmp(word, "ends") == 0) return true;
    return cli_say("--over: expected ends or dense, got '%s'", word), false;
}

// The numbers of --steps or --tolerances; to be freed.
static bool read_numbers(const char *option, bool time, const char *text, double **to, int *count) {
    char *own = NULL;
    const char **list = cut(text, &own);
    const int n = carom_list_length(list);
    double *x = *to = calloc((size_t)n + 1, sizeof *x);
    if (!x) abort();
    bool good = n > 0;
    if (!good) cli_say("--%s: no number in '%s'", option, text);
    for (; good && *count < n; ++*count) {
        char *end = NULL;
        if (time && !cli_read_time(option, list[*count], &x[*count])) { good = false; break; }
        if (!time) x[*count] = carom_number(list[*count], &end);
        good = (time || *end == 0) && x[*count] > 0 && isfinite(x[*count]);
        if (!good) cli_say("--%s: expected a positive number, got '%s'", option, list[*count]);
    }
    free(list);
    free(own);
    return good;
}

static bool read_threads(comparison *k) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long n = cores > 0 ? cores : 1;
    if (!cli_whole(k->a, "threads", 1024, &n)) return false;
    k->threads = (int)n;
    return true;
}

static bool read_usage(comparison *k) {
    const cli_args *a = k->a;
    const char *plot = cli_value(a, "plot");
    k->end = NAN;
    k->quiet = cli_has(a, "quiet");
    if (!gnuplot_takes(plot)) return false;
    return cli_writable(plot) && read_norm(k) && read_over(k) && read_threads(k) && cli_compile_mode(a, &k->compile) &&
           cli_duration(a, "end", &k->end);
}

static bool default_steps(comparison *k, double step) {
    if (isnan(step)) return cli_say("no step sizes given; use --steps H,H,H"), false;
    k->steps = calloc(4, sizeof *k->steps);
    if (!k->steps) abort();
    for (k->nsteps = 0; k->nsteps < 4; ++k->nsteps) k->steps[k->nsteps] = step * (8 >> k->nsteps);
    return true;
}

static bool read_model(comparison *k) {
    const cli_args *a = k->a;
    if (carom_result_probe(a->word[0]))
        return cli_say("%s is a result, not a model; as a reference: --reference %s", a->word[0], a->word[0]), false;
    if (!cli_source_model(&k->source, a)) return false;
    k->model = k->source.model;
    const carom_model_run file = carom_model_simulation(k->model);
    const char *schemes = cli_value(a, "schemes"), *steps = cli_value(a, "steps"), *of = cli_value(a, "of");
    const char *tolerances = cli_value(a, "tolerances");
    if (!schemes) schemes = file.scheme ? file.scheme : carom_sim_default().scheme;
    k->schemes = cut(schemes, &k->schemes_own);
    if (of) k->of = cut(of, &k->of_own);
    if (isnan(k->end)) k->end = file.end;
    if (isnan(k->end))
        return cli_say("the end time is missing; give --end T, or `end:` in the simulation section of %s", a->word[0]),
               false;
    if (tolerances && !read_numbers("tolerances", false, tolerances, &k->tolerances, &k->ntolerances)) return false;
    if (steps) return read_numbers("steps", true, steps, &k->steps, &k->nsteps);
    return tolerances || default_steps(k, file.step);
}

static bool prepare(comparison *k) {
    carom_compare_def def = carom_compare_default();
    def.model = k->model;
    def.schemes = k->schemes;
    def.steps = k->steps;
    def.nsteps = k->nsteps;
    def.tolerances = k->tolerances;
    def.ntolerances = k->ntolerances;
    def.first = carom_model_simulation(k->model).step;
    def.end = k->end;
    def.options = k->source.options;
    def.reference = cli_value(k->a, "reference");
    def.dense = k->dense;
    carom_compare_norm(&def, k->norm, NULL); // read before
    def.of = k->of;
    def.threads = k->threads;
    k->c = carom_compare_create(&def, &k->err);
    const char *place = k->c || cli_has(k->a, "schemes") ? NULL : cli_blame(k->model, true, k->err.code);
    if (place) cli_say_at("%s: %s", place, k->err.text);
    else if (!k->c) cli_say("%s", k->err.text);
    return k->c != NULL;
}

// The reference has ten steps for one of the smallest.
static bool compile_model(const comparison *k) {
    double steps = 0, smallest = k->end;
    int schemes = 0;
    while (k->schemes[schemes]) ++schemes;
    for (int i = 0; i < k->nsteps; ++i) steps += k->end / k->steps[i], smallest = fmin(smallest, k->steps[i]);
    return cli_compile(k->model, k->compile, 2 * (schemes * steps + 10 * k->end / smallest));
}

static bool open_csv(comparison *k) {
    const char *file = cli_value(k->a, "csv");
    if (!file) return true;
    k->csv = fopen(file, "w");
    if (!k->csv) return cli_say("cannot create %s: %s", file, strerror(errno)), false;
    fprintf(k->csv, "scheme,step,error,order,steps,seconds,us_per_step%s\n",
            k->ntolerances > 0 ? ",tolerance,rejected" : "");
    fflush(k->csv);
    return true;
}

// -- rows ---------------------------------------------------------------------------------------------

static double us_per_step(const carom_compare_row *row) {
    return row->steps > 0 ? 1e6 * row->seconds / (double)row->steps : NAN;
}

// An empty field where there is no number.
static void field(FILE *f, const char *format, double x) {
    fputc(',', f);
    if (!isnan(x)) fprintf(f, format, x);
}

static void on_row(void *user, const carom_compare_row *row) {
    comparison *k = user;
    ++k->rows;
    if (!k->csv) return;
    fprintf(k->csv, "%s", row->scheme);
    field(k->csv, "%.17g", row->step);
    field(k->csv, "%.17g", row->error);
    field(k->csv, "%.6g", row->order);
    fprintf(k->csv, ",%ld", row->steps);
    field(k->csv, "%.9g", row->seconds);
    field(k->csv, "%.6g", us_per_step(row));
    if (k->ntolerances > 0) {
        field(k->csv, "%.17g", row->tolerance);
        fprintf(k->csv, ",%ld", row->rejected);
    }
    fputc('\n', k->csv);
    if (fflush(k->csv) != 0) k->csv_failed = true;
}

static void show(comparison *k, double fraction) {
    if (!k->progress.on || cli_clock() - k->progress.start < 0.3) return; // a short run needs no line
    int runs = 0;
    for (int i = 0; i < carom_compare_schemes(k->c); ++i) runs += carom_compare_runs(k->c, i);
    fprintf(stderr, "\r%3.0f %%, %d of %d runs done ", 100 * fraction, k->rows, runs);
    fflush(stderr);
    k->progress.shown = true;
}

static bool on_tick(void *user, double fraction) {
    comparison *k = user;
    k->stopped = cli_signals_take() || k->stopped;
    show(k, fraction);
    return !k->stopped;
}

// -- the table ----------------------------------------------------------------------------------------

static void print_head(const comparison *k) {
    const char *name = carom_model_name(k->model);
    double apart = 0;
    const char *reference = carom_compare_reference(k->c, &apart);
    cli_print("%s: norm %s%s of ", name && name[0] ? name : k->a->word[0], k->norm,
              k->dense ? " over the dense output" : "");
    for (int i = 0; carom_compare_name(k->c, i); ++i) {
        if (i == 8) {
            fputs(", ...", stdout);
            break;
        }
        cli_print("%s%s", i ? ", " : "", carom_compare_name(k->c, i));
    }
    cli_print(", t = 0 .. %g\nreference: %s%s\n", k->end, reference,
              cli_has(k->a, "reference") ? "" : " (chosen; --reference takes another)");
    if (apart > 0)
        printf(
            "the reference is interpolated between rows up to %.3g apart; `carom run --every 1` records every step\n",
            apart);
}

static int width_of(const comparison *k) {
    size_t width = strlen("scheme");
    for (int i = 0; i < carom_compare_schemes(k->c); ++i) {
        const size_t n = strlen(carom_compare_row_at(k->c, i, 0).scheme);
        if (n > width) width = n;
    }
    return (int)width;
}

static void number(int width, const char *format, double x) {
    char text[40] = "";
    if (!isnan(x)) snprintf(text, sizeof text, format, x);
    printf("  %*s", width, text);
}

static void print_row(const comparison *k, const carom_compare_row *row, int width) {
    char step[40];
    snprintf(step, sizeof step, isnan(row->tolerance) ? "%g" : "tol %g",
             isnan(row->tolerance) ? row->step : row->tolerance);
    printf("%-*s  %-*s", width, row->scheme, k->ntolerances > 0 ? 11 : 9, step);
    if (row->failure) {
        cli_print("  failed: %s\n", row->failure);
        return;
    }
    number(10, "%.4e", row->error);
    number(6, "%.2f", row->order);
    printf("  %9ld", row->steps);
    if (k->ntolerances > 0) printf("  %8ld", row->rejected);
    number(10, "%.4g", row->seconds);
    number(8, "%.3g", us_per_step(row));
    fputc('\n', stdout);
}

// A reference that was not asked for is one of the schemes, which others may well be better than.
static void doubt_reference(const comparison *k) {
    static const double FLAT = 0.5; // an order: that of impacts is 1
    if (cli_has(k->a, "reference") || carom_model_count(k->model).exact) return;
    for (int i = 0; i < carom_compare_schemes(k->c); ++i)
        if (carom_compare_runs(k->c, i) > 2 && carom_compare_order(k->c, i) < FLAT)
            printf("\nthe errors of %s hardly fall with the step: they may be those of the reference; --reference "
                   "SCHEME:STEP takes another, for instance of event-driven\n",
                   carom_compare_row_at(k->c, i, 0).scheme);
}

static void print_table(const comparison *k) {
    const int width = width_of(k);
    print_head(k);
    printf("\n%-*s  %-*s  %10s  %6s  %9s%s  %10s  %8s\n", width, "scheme", k->ntolerances > 0 ? 11 : 9, "step", "error",
           "order", "steps", k->ntolerances > 0 ? "  rejected" : "", "seconds", "us/step");
    for (int i = 0; i < carom_compare_schemes(k->c); ++i)
        for (int s = 0; s < carom_compare_runs(k->c, i); ++s) {
            const carom_compare_row row = carom_compare_row_at(k->c, i, s);
            if (row.done) print_row(k, &row, width);
        }
    printf("\norder by least squares over all steps%s:\n",
           k->ntolerances > 0 ? " (of adaptive runs: over the mean step)" : "");
    for (int i = 0; i < carom_compare_schemes(k->c); ++i) {
        printf("%-*s", width, carom_compare_row_at(k->c, i, 0).scheme);
        const double order = carom_compare_order(k->c, i);
        if (isnan(order)) puts("  unknown");
        else printf("  %.2f\n", order);
    }
    doubt_reference(k);
    fflush(stdout);
}

// -- the run ------------------------------------------------------------------------------------------

static int failures(const comparison *k) {
    int n = 0;
    for (int i = 0; i < carom_compare_schemes(k->c); ++i)
        for (int s = 0; s < carom_compare_runs(k->c, i); ++s) n += carom_compare_row_at(k->c, i, s).failure != NULL;
    return n;
}

// Runs that have a warning, each in a line.
static int warnings(const comparison *k) {
    int n = 0;
    for (int i = 0; i < carom_compare_schemes(k->c); ++i)
        for (int s = 0; s < carom_compare_runs(k->c, i); ++s) {
            const carom_compare_row row = carom_compare_row_at(k->c, i, s);
            if (!row.warning) continue;
            const bool steps = isnan(row.tolerance);
            cli_say("%s, %s %g: %s: %s", row.scheme, steps ? "step" : "tolerance", steps ? row.step : row.tolerance,
                    row.warning->kind, row.warning->text);
            ++n;
        }
    return n;
}

static int finish(comparison *k, carom_status status) {
    int code = CLI_DONE;
    if (status == CAROM_OK || k->stopped) {
        if (!k->quiet) print_table(k);
        if (cli_has(k->a, "plot") && !compare_plot(k->c, carom_model_name(k->model), k->norm, cli_value(k->a, "plot")))
            code = CLI_FAILED;
    } else {
        cli_say("%s", k->err.text);
        code = CLI_FAILED;
    }
    if (k->csv && (fclose(k->csv) != 0 || k->csv_failed)) {
        cli_say("cannot write %s", cli_value(k->a, "csv"));
        code = CLI_FAILED;
    }
    k->csv = NULL;
    if (k->stopped) {
        cli_say("interrupted; %s", k->quiet ? "rows that were done are kept" : "the table holds what was done");
        return CLI_INTERRUPTED;
    }
    const int failed = status == CAROM_OK ? failures(k) : 0;
    if (failed) cli_say("%d run%s failed; see the table for the reasons", failed, failed == 1 ? "" : "s");
    if (!failed && code == CLI_DONE && cli_has(k->a, "strict") && warnings(k) > 0) return CLI_CHECK;
    return failed ? CLI_FAILED : code;
}

static int go(const cli_args *a) {
    comparison k = {.a = a};
    int code = CLI_USAGE;
    if (read_usage(&k) && read_model(&k) && compile_model(&k) && prepare(&k) && open_csv(&k)) {
        const carom_compare_watch watch = {.user = &k, .row = on_row, .tick = on_tick};
        k.progress = cli_progress_begin(!k.quiet, 0);
        cli_signals_begin();
        const carom_status status = carom_compare_run(k.c, &watch, &k.err);
        cli_progress_end(&k.progress);
        cli_signals_end();
        code = finish(&k, status);
    }
    if (k.csv) fclose(k.csv);
    carom_compare_destroy(k.c);
    cli_source_free(&k.source);
    free(k.schemes), free(k.schemes_own), free(k.of), free(k.of_own), free(k.steps), free(k.tolerances);
    return code;
}

const cli_verb cli_compare = {
    .name = "compare",
    .arguments = "MODEL",
    .least = 1,
    .most = 1,
    .options = options,
    .run = go,
    .about = "compare schemes over step sizes or tolerances against a reference: error, observed order, CPU time; "
             "work-precision table and plot",
    .text = "Every scheme runs with every step size, an adaptive one with every tolerance; the error is a norm of the "
            "differences at all\n"
            "step ends, the inner ones included.  The order of a row is the slope to the next larger step, of an "
            "adaptive run the mean\n"
            "one.  Seconds are CPU time of the run alone.  See docs/compare.md.",
};
