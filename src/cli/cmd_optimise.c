// cmd_optimise.c: carom optimise: parameters between bounds with which a result of a run is least or largest.
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"
#include "cli/cli.h"
#include "cli/figure.h"
#include "io/json.h"
#include "io/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    {"minimise", 0, "EXPR",
     "expression to minimise: as --of of `carom gradient`, e.g. max(x), integral(x^2) + c, `time of CONTACT.impact[1]`",
     false},
    {"maximise", 0, "EXPR", "expression to maximise", false},
    {"by", 0, "NAME=LOW:HIGH,...", "parameters to change, and their bounds; the search starts from the model's values",
     true},
    {"subject-to", 0, "EXPR <= VALUE", "constraint, also with >= or =; both sides are expressions", true},
    {"restarts", 0, "N", "further searches from other points between the bounds (default: 0)", false},
    {"method", 0, "slsqp|ccsaq|cobyla",
     "default: slsqp, for more than 50 names ccsaq; cobyla, without derivatives, where there are none", false},
    {"evaluations", 0, "N", "maximum number of runs of one search (default: 100, and 20 for each name)", false},
    {"tolerance", 0, "X", "accuracy of each name, relative to the distance of its bounds (default: 1e-7)", false},
    {"scheme", 0, "NAME", "time-stepping scheme (default: event-driven if the model has derivatives, else the model's)",
     false},
    {"step", 0, "H", "step size", false},
    {"end", 0, "T", "end time: a number, one with a unit, or an expression of parameters", false},
    CLI_OPTION,
    CLI_MODEL,
    {"start", 0, "FILE", "initial state from `carom equilibrium --save FILE`, or from the last row of a result", false},
    {"best", 0, "FILE", "model with the best values (default: MODEL.best.yaml next to the model)", false},
    {"out", 'o', "FILE",
     "table of all runs, .csv or .h5 (default: none): run, search, method, status, names, objective, constraints, best",
     false},
    {"plot", 0, "FILE", "objective and names versus runs: .svg, .png or .pdf", false},
    {"json", 0, NULL, "{parameters, objective, constraints, gradient, multipliers, ...} as JSON on standard output",
     false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct watcher {
    bool on, shown;
    double last;
} watcher;

static void show(void *user, const carom_optimum *o) {
    watcher *w = user;
    if (!w->on || cli_clock() - w->last < 0.1) return; // ten lines a second
    w->last = cli_clock(), w->shown = true;
    fprintf(stderr, "\rsearch %d of %d, run %d, best %.9g%s   ", o->search + 1, o->searches, o->runs, o->objective,
            o->violation > 0 ? " (constraints violated)" : "");
    fflush(stderr);
}

// -- output -------------------------------------------------------------------------------------------------------

// Initial values are no parameters: what --set gave them is not in the model that is written.
static void print_starts(const carom_optimise_def *d) {
    carom_error err = {0};
    carom_model *m = d->model.set ? carom_model_create(&d->model, &err) : NULL;
    for (int i = 0; m && d->model.set[i]; ++i) {
        const size_t length = strcspn(d->model.set[i], "=");
        bool parameter = false;
        for (int k = 0; k < carom_model_count(m).parameters; ++k) {
            const char *name = carom_model_parameter(m, k, NULL);
            parameter = parameter || (strlen(name) == length && strncmp(name, d->model.set[i], length) == 0);
        }
        if (!parameter) cli_print("  start it with --set \"%s\"\n", d->model.set[i]);
    }
    carom_model_destroy(m);
}

static void print_text(const carom_optimum *o, const carom_optimise_def *d, const char *file, const char *best) {
    cli_print("%s: %s %s = %.12g, initially %.9g\n", file, d->maximise ? "largest" : "least", d->of, o->objective,
              o->first);
    printf("  %d run%s, %d with derivatives, method %s", o->runs, o->runs == 1 ? "" : "s", o->derivatives, o->method);
    cli_print(", scheme %s", o->scheme);
    if (o->searches > 1) printf("; best of %d searches: number %d", o->searches, o->search + 1);
    puts("");
    if (!o->exact && o->not_exact[0]) cli_print("  no derivatives: %s\n", o->not_exact);
    printf("  %-20s %20s %14s %16s\n", "name", "value", "initially", "derivative");
    for (int j = 0; j < o->n; ++j) {
        cli_print("  %-20s %20.12g %14.6g", o->name[j], o->value[j], o->begin[j]);
        isnan(o->gradient[j]) ? printf(" %16s", "-") : printf(" %16.4g", o->gradient[j]);
        puts(o->bound[j] < 0 ? "   on its lower bound" : o->bound[j] > 0 ? "   on its upper bound" : "");
    }
    for (int i = 0; i < o->nsubject; ++i) {
        cli_print("  %s: left - right = %.6g", d->subject[i], o->subject[i]);
        if (!isnan(o->multiplier[i])) printf(", active, multiplier %.6g", o->multiplier[i]);
        puts("");
    }
    if (!isnan(o->slope)) printf("  gradient beside bounds and constraints: %.2g, relative\n", o->slope);
    if (o->kink) puts("  the best lies at a kink: the sequence of events changes here, and the gradient jumps");
    if (isfinite(o->distance) && !o->kink)
        printf("  the sequence of events changes when a parameter changes by %.2g of its value\n", o->distance);
    if (best) cli_print("  model with these values: %s\n", best), print_starts(d);
}

static void print_json(const carom_optimum *o, bool converged, const char *best) {
    fputs("{\"parameters\": ", stdout), carom_json_named(stdout, o->name, o->value, o->n);
    carom_json(stdout, ",\n \"objective\": %g, \"objective_start\": %g", o->objective, o->first);
    fputs(",\n \"constraints\": ", stdout), carom_json_list(stdout, o->subject, o->nsubject);
    fputs(",\n \"multipliers\": ", stdout), carom_json_list(stdout, o->multiplier, o->nsubject);
    fputs(",\n \"gradient\": ", stdout), carom_json_named(stdout, o->name, o->gradient, o->n);
    carom_json(stdout, ",\n \"slope\": %g, \"distance\": %g, \"kink\": %i", o->slope, o->distance, o->kink);
    carom_json(stdout, ", \"runs\": %d, \"derivatives\": %d, \"search\": %d, \"converged\": %i,\n \"method\": %s, ",
               o->runs, o->derivatives, o->search + 1, converged, o->method);
    carom_json(stdout, "\"scheme\": %s, \"best\": %s}\n", o->scheme ? o->scheme : "", best);
}

// A panel for the objective, and one for the names in units of their bounds.
static bool plot(const carom_optimum *o, const char *of, const char *file) {
    const carom_table *t = &o->history;
    const carom_column *f = &t->column[4 + o->n], *best = &t->column[t->columns - 1];
    FILE *s = gnuplot_begin();
    char row[80];
    if (!s) return false;
    fputs("$f << EOD\n", s);
    double least = NAN;
    for (long r = 0; r < t->rows; ++r) {
        if (best->integer[r]) least = f->real[r];
        if (!isfinite(f->real[r])) continue;
        carom_format(row, sizeof row, "%ld %.10g %.10g\n", r, f->real[r], least), fputs(row, s);
    }
    fputs("EOD\n", s);
    for (int j = 0; j < o->n && j < GNUPLOT_COLOURS; ++j) {
        fprintf(s, "$x%d << EOD\n", j);
        for (long r = 0; r < t->rows; ++r)
            carom_format(row, sizeof row, "%ld %.10g\n", r,
                         (t->column[4 + j].real[r] - o->low[j]) / (o->high[j] - o->low[j])),
                fputs(row, s);
        fputs("EOD\n", s);
    }
    gnuplot_terminal(s, gnuplot_kind(file), 800, 640);
    fputs("set multiplot layout 2,1\nset grid\nset xlabel 'run'\nset ylabel ", s), gnuplot_quote(s, of);
    fprintf(s,
            "\nplot $f using 1:2 with points pt 7 ps 0.4 lc rgb '#555555' title 'runs', $f using 1:3 with steps lw 1.5 "
            "lc rgb '%s' title 'best'\n",
            gnuplot_palette[0]);
    fputs("set ylabel '(value - lower bound)/(upper - lower bound)'\nset yrange [-0.02:1.02]\nplot ", s);
    for (int j = 0; j < o->n && j < GNUPLOT_COLOURS; ++j) {
        fprintf(s, "%s$x%d using 1:2 with linespoints pt 7 ps 0.3 lc rgb '%s' title ", j ? ", " : "", j,
                gnuplot_palette[j]);
        gnuplot_quote(s, o->name[j]);
    }
    fputs("\nunset multiplot\n", s);
    return gnuplot_finish(s, file);
}

static bool write_best(const carom_optimum *o, const char *file) {
    whole_file w;
    if (!cli_begin(&w, file)) return false;
    fputs(o->text, w.f);
    return cli_end(&w, true);
}

static bool write_history(const carom_optimum *o, const char *file) {
    carom_error err = {0};
    const carom_table_note notes[] = {{"carom", CAROM_VERSION}, {"kind", "optimise"}};
    if (carom_tables_write(file, &o->history, 1, notes, 2, &err) == CAROM_OK) return true;
    return cli_say("%s", err.text), false;
}

// -- usage --------------------------------------------------------------------------------------------------------

static int optimise(const cli_args *a, carom_optimise_def *d, const char *best) {
    carom_optimum o;
    carom_error err = {0};
    watcher w = {.on = !cli_has(a, "quiet") && isatty(STDERR_FILENO), .last = cli_clock()};
    d->on_run = show, d->user = &w, d->stop = cli_signals_asked;
    cli_signals_begin();
    const carom_status status = carom_optimise(&o, d, &err);
    cli_signals_end();
    if (w.shown) fputs("\r\033[K", stderr);
    int code = cli_exit(status);
    const bool some = o.history.rows > 0,
               found = o.value && !isnan(o.value[0]) &&
                       (status == CAROM_OK || status == CAROM_NOT_CONVERGED || status == CAROM_STOPPED);
    const char *written = o.text ? best : NULL;
    if (found && o.text && !write_best(&o, best)) code = CLI_FAILED;
    if (found && cli_has(a, "json"))
        print_json(&o, status == CAROM_OK, written);
    else if (found && !cli_has(a, "quiet"))
        print_text(&o, d, a->word[0], written);
    if (some && cli_has(a, "out") && !write_history(&o, cli_value(a, "out"))) code = CLI_FAILED;
    if (found && cli_has(a, "plot") && !plot(&o, d->of, cli_value(a, "plot"))) code = CLI_FAILED;
    if (status != CAROM_OK) cli_say_of(a->word[0], err.text);
    if (found && !o.text)
        cli_say("%s: the values are not single texts in the model file; no %s is written", a->word[0], best);
    carom_optimum_free(&o);
    return code;
}

static bool read_usage(const cli_args *a, carom_optimise_def *d) {
    const char *out = cli_value(a, "out"), *picture = cli_value(a, "plot");
    long restarts = 0, evaluations = 0;
    if (cli_has(a, "minimise") == cli_has(a, "maximise"))
        return cli_say("optimise: give --minimise EXPR or --maximise EXPR"), false;
    d->maximise = cli_has(a, "maximise"), d->of = cli_value(a, d->maximise ? "maximise" : "minimise");
    if (!cli_has(a, "by")) return cli_say("optimise: give --by NAME=LOW:HIGH"), false;
    if (out && !carom_ends(out, ".h5") && !carom_ends(out, ".csv"))
        return cli_say("-o: '%s' ends neither in .h5 nor in .csv", out), false;
    d->run = cli_run_given(a), d->method = cli_value(a, "method");
    if (!cli_run_duration(a, "step", &d->run.step) || !cli_run_duration(a, "end", &d->run.end) ||
        !cli_positive(a, "tolerance", &d->tolerance))
        return false;
    if (!cli_whole(a, "restarts", 100000, &restarts) || !cli_whole(a, "evaluations", 1000000, &evaluations) ||
        !gnuplot_takes(picture))
        return false;
    if (d->tolerance >= 1) return cli_say("--tolerance: expected a number below 1, got %g", d->tolerance), false;
    d->restarts = (int)restarts, d->evaluations = (int)evaluations;
    return !cli_wants_model(a->word[0]) && cli_writable(out) && cli_writable(picture);
}

// MODEL.best.yaml beside the model.
static char *name_best(const char *model) {
    size_t n = strlen(model);
    if (carom_ends(model, ".yaml"))
        n -= 5;
    else if (carom_ends(model, ".yml"))
        n -= 4;
    char *name = malloc(n + 11);
    if (!name) abort();
    memcpy(name, model, n);
    strcpy(name + n, ".best.yaml");
    return name;
}

static int run(const cli_args *a) {
    carom_optimise_def d = {0};
    if (!read_usage(a, &d)) return CLI_USAGE;
    char *own = NULL, *name = name_best(a->word[0]);
    const char *best = cli_has(a, "best") ? cli_value(a, "best") : name;
    const char **by = cli_names(a, "by", &own), **subject = cli_list(a, "subject-to");
    cli_source s = {0};
    bool good = cli_writable(best) && cli_source_read(&s, a) && cli_source_start(&s, a);
    if (good && cli_same_file(a->word[0], best))
        cli_say("--best: %s is the model; give another name", best), good = false;
    d.model = s.def, d.run.options = s.options, d.start = s.start, d.signals = s.signals, d.by = by,
    d.subject = subject;
    const int code = good ? optimise(a, &d, best) : CLI_USAGE;
    cli_source_free(&s);
    free(by), free(subject), free(own), free(name);
    return code;
}

const cli_verb cli_optimise = {
    .name = "optimise",
    .arguments = "MODEL",
    .about = "find parameters between bounds that minimise or maximise a result of a run, under constraints",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .text = "Searches use the exact derivatives of `carom gradient` where they exist (SLSQP or CCSAQ of NLopt), and "
            "none where they do not (COBYLA). The best values are written as a model\n"
            "that `carom run` accepts. Where the sequence of events changes at the optimum, the gradient may jump "
            "there; the summary reports this. Exit status 1: not converged, or no admissible values.",
};
