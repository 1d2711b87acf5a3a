// cmd_fit.c: carom fit: parameters and initial values from measurements.
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"
#include "cli/cli.h"
#include "cli/figure.h"
#include "io/json.h"
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"free", 0, "NAME,NAME",
     "unknowns of the fit: parameters, x for the initial value and x' for the initial rate of a coordinate; it starts "
     "from its value in the model",
     true},
    {"match", 0, "COLUMN=EXPR",
     "a column of the data is this expression of the model at the times of column t; `COLUMN=impact CONTACT`: it "
     "contains the times of impacts",
     true},
    {"bounds", 0, "NAME=LOW:HIGH", "keep a free name between bounds; either side may be empty", true},
    {"sigma", 0, "COLUMN=VALUE",
     "standard deviation of a column's entries (default: 1 for all, and errors follow from the scatter)", true},
    {"experiment", 0, "DATA.csv:NAME=VALUE,...",
     "parameters, initial values and signals of inputs (a number, an expression of t, a CSV file) of the run that this "
     "file is compared with (default: those of the model)",
     true},
    {"most", 0, "N", "stop after N residual evaluations (default: 200 for each free name)", false},
    {"scheme", 0, "NAME", "time-stepping scheme (default: the model's if it locates events, else event-driven)", false},
    {"step", 0, "H", "step size", false},
    CLI_OPTION,
    CLI_MODEL,
    {"adaptive", 0, NULL, "step sizes from error estimates", false},
    {"rtol", 0, "X", "tolerance relative to each coordinate and rate", false},
    {"atol", 0, "X", "absolute tolerance", false},
    {"start", 0, "FILE", "initial state from `carom equilibrium --save FILE`, or from the last row of a result", false},
    {"plot", 0, "FILE", "data and fit: .svg, .png or .pdf", false},
    {"out", 'o', "FILE.csv", "a table of all points: file, column, t, data, model", false},
    {"json", 0, NULL, "{parameters, covariance, residual, ...} as JSON on standard output", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

// -- what is said -------------------------------------------------------------------------------------------------

static void print_text(const carom_fit *f, const char *file) {
    cli_print("%s: %d point%s, %d free, %d runs with %s\n", file, f->npoints, f->npoints == 1 ? "" : "s", f->nfree,
              f->evaluations, f->scheme ? f->scheme : "no scheme");
    if (f->differences == 0) printf("  exact derivatives\n");
    else cli_print("  derivatives by differences, %d of %d times: %s\n", f->differences, f->jacobians, f->not_exact);
    printf("  residual (root mean square) %.6g, initially %.6g\n", f->residual, f->residual_start);
    printf("  %-20s %16s %14s %30s\n", "name", "value", "std. error", "95 % confidence");
    for (int i = 0; i < f->nfree; ++i)
        cli_print("  %-20s %16.9g %14.4g %14.7g .. %.7g\n", f->name[i], f->value[i], f->error[i], f->low[i],
                  f->high[i]);
}

static void print_json(const carom_fit *f, bool converged) {
    fputs("{\"parameters\": ", stdout), carom_json_named(stdout, f->name, f->value, f->nfree);
    fputs(",\n \"covariance\": [", stdout);
    for (int i = 0; i < f->nfree; ++i) {
        fputs(i ? ", [" : "[", stdout);
        for (int j = 0; j < f->nfree; ++j) carom_json(stdout, j ? ", %g" : "%g", f->covariance[i + j * f->nfree]);
        fputs("]", stdout);
    }
    carom_json(stdout, "],\n \"residual\": %g, \"residual_start\": %g,\n \"errors\": ", f->residual, f->residual_start);
    carom_json_named(stdout, f->name, f->error, f->nfree), fputs(",\n \"confidence\": {", stdout);
    for (int i = 0; i < f->nfree; ++i)
        carom_json(stdout, i ? ", %s: [%g, %g]" : "%s: [%g, %g]", f->name[i], f->low[i], f->high[i]);
    carom_json(stdout, "},\n \"points\": %d, \"evaluations\": %d, \"derivatives\": %s, ", f->npoints, f->evaluations,
               f->differences == 0 ? "exact" : "differences");
    carom_json(stdout, "\"converged\": %i, \"scheme\": %s}\n", converged, f->scheme);
}

static bool write_table(const carom_fit *f, const cli_args *a) {
    const char *file = cli_value(a, "out");
    if (!file) return true;
    whole_file w;
    if (!cli_begin(&w, file)) return false;
    FILE *s = w.f;
    fputs("file,column,t,data,model\n", s);
    for (int i = 0; i < f->npoints; ++i) {
        const carom_fit_point *p = &f->point[i];
        char row[120];
        carom_format(row, sizeof row, ",%.17g,%.17g,%.17g\n", p->t, p->data, p->model);
        fprintf(s, "%d,%s%s", p->file + 1, f->match[p->match], row);
    }
    return cli_end(&w, true);
}

// A panel for each column: points of the data, a line through the model's values.
static bool plot(const carom_fit *f, const char *const *match, const char *file) {
    FILE *s = gnuplot_begin();
    if (!s) return false;
    for (int k = 0; k < f->nmatch; ++k) {
        int last = -1;
        fprintf(s, "$d%d << EOD\n", k);
        for (int i = 0; i < f->npoints; ++i) {
            char row[120];
            const carom_fit_point *p = &f->point[i];
            if (p->match != k) continue;
            if (last >= 0 && p->file != last) fputs("\n", s); // another file, another line
            last = p->file;
            carom_format(row, sizeof row, "%.10g %.10g %.10g\n", p->t, p->data, p->model);
            fputs(row, s);
        }
        fputs("EOD\n", s);
    }
    gnuplot_terminal(s, gnuplot_kind(file), 800, 60 + 300 * f->nmatch);
    fprintf(s, "set multiplot layout %d,1\nset grid\n", f->nmatch);
    for (int k = 0; k < f->nmatch; ++k) {
        fprintf(s, "set xlabel '%s'\nset ylabel ", strstr(match[k], "=impact ") ? "number of the impact" : "t");
        gnuplot_quote(s, f->match[k]);
        fprintf(s,
                "\nplot $d%d using 1:2 with points pt 7 ps 0.4 lc rgb '#555555' title 'data', $d%d using 1:3 with "
                "lines lw 1.5 lc rgb '#d55e00' title 'fit'\n",
                k, k);
    }
    fputs("unset multiplot\n", s);
    return gnuplot_finish(s, file);
}

// -- usage --------------------------------------------------------------------------------------------------------

const char **cli_names(const cli_args *a, const char *option, char **own) {
    const char **given = cli_list(a, option);
    size_t bytes = 1, n = 1;
    for (int i = 0; given[i]; ++i) bytes += strlen(given[i]) + 1;
    char *at = *own = calloc(bytes, 1);
    if (!at) abort();
    for (int i = 0; given[i]; ++i) {
        if (i) *at++ = ',';
        at = strcpy(at, given[i]) + strlen(given[i]);
    }
    for (const char *c = *own; *c; ++c) n += *c == ',';
    const char **list = calloc(n + 1, sizeof *list);
    if (!list) abort();
    n = 0;
    for (char *word = *own; word && *word;) {
        char *comma = strchr(word, ',');
        if (comma) *comma++ = 0;
        list[n++] = word + strspn(word, " ");
        word = comma;
    }
    free(given);
    return list;
}

static int fit(const cli_args *a, const carom_fit_def *def) {
    carom_fit f;
    carom_error err = {0};
    cli_signals_begin();
    const carom_status status = carom_fit_find(&f, def, &err);
    cli_signals_end();
    const bool found = status == CAROM_OK, best = status == CAROM_NOT_CONVERGED;
    int code = cli_exit(status);
    if ((found || best) && cli_has(a, "json")) print_json(&f, found);
    else if ((found || best) && !cli_has(a, "quiet")) print_text(&f, a->word[0]);
    if ((found || best) && !write_table(&f, a)) code = CLI_FAILED;
    if (found && cli_has(a, "plot") && !plot(&f, def->match, cli_value(a, "plot"))) code = CLI_FAILED;
    if (!found) cli_say_of(a->word[0], err.text);
    carom_fit_free(&f);
    return code;
}

static bool read_usage(const cli_args *a, carom_fit_def *d) {
    const char *picture = cli_value(a, "plot");
    long most = 0;
    d->run = cli_run_given(a);
    d->run.adaptive = cli_has(a, "adaptive");
    d->stop = cli_signals_asked;
    if (!gnuplot_takes(picture)) return false;
    if (!cli_duration(a, "step", &d->run.step) || !cli_positive(a, "rtol", &d->run.rtol) ||
        !cli_positive(a, "atol", &d->run.atol) || !cli_whole(a, "most", 1000000000, &most))
        return false;
    for (int i = 0; i < a->n; ++i)
        if (cli_has(a, "out") && cli_same_file(a->word[i], cli_value(a, "out")))
            return cli_say("-o: %s is what is read; give another name", cli_value(a, "out")), false;
    d->max_evaluations = (int)most;
    return cli_writable(picture) && cli_writable(cli_value(a, "out"));
}

// DATA.csv:NAME=VALUE,... to the files that are so called; false: complained.
static bool read_experiment(const cli_args *a, const char *given, const char **list) {
    bool found = false;
    for (int i = 1; i < a->n; ++i) {
        const size_t n = strlen(a->word[i]);
        if (strncmp(given, a->word[i], n) != 0 || given[n] != ':') continue;
        if (*list[i - 1])
            return cli_say("--experiment %s: %s has settings already; join them with commas", given, a->word[i]), false;
        found = true;
        list[i - 1] = given + n + 1;
    }
    if (!found) cli_say("--experiment %s: write DATA.csv:NAME=VALUE,... with one of the data files", given);
    return found;
}

// Of every file, "" where there are none; NULL: complained.
static const char **read_experiments(const cli_args *a) {
    const char **given = cli_list(a, "experiment"), **list = calloc((size_t)a->n + 1, sizeof *list);
    if (!list) abort();
    bool good = true;
    for (int i = 1; i < a->n; ++i) list[i - 1] = "";
    for (int k = 0; given[k] && good; ++k) good = read_experiment(a, given[k], list);
    free(given);
    if (!good) free(list), list = NULL;
    return list;
}

static int run(const cli_args *a) {
    carom_fit_def d = {0};
    if (!read_usage(a, &d) || cli_wants_model(a->word[0])) return CLI_USAGE;
    char *own = NULL;
    const char **match = cli_list(a, "match"), **bounds = cli_list(a, "bounds"), **sigma = cli_list(a, "sigma"),
               **free_names = cli_names(a, "free", &own);
    const char **experiments = read_experiments(a);
    cli_source s = {0};
    bool good = experiments && cli_source_read(&s, a) && cli_source_start(&s, a);
    for (int i = 0; good && i + 1 < a->n; ++i) good = cli_signal_files(&s, experiments[i]);
    d.settings = experiments;
    d.model = s.def, d.run.options = s.options, d.start = s.start, d.signals = s.signals;
    d.data = (const char *const *)a->word + 1, d.match = match, d.bounds = bounds, d.sigma = sigma, d.free = free_names;
    const int code = good ? fit(a, &d) : CLI_USAGE;
    cli_source_free(&s);
    free(match), free(bounds), free(sigma), free(free_names), free(own), free(experiments);
    return code;
}

const cli_verb cli_fit = {
    .name = "fit",
    .arguments = "MODEL DATA.csv...",
    .about = "fit parameters and initial values to measurements: values, covariance, confidence",
    .least = 2,
    .most = 64,
    .options = options,
    .run = run,
    .text = "Levenberg-Marquardt least squares, with exact derivatives where the scheme locates events. The data are "
            "CSV files with a line of names; their column t is the time, which begins at 0 in every run.\n"
            "Entries that are `nan` do not count, but a row without the time of an impact is an impact. Files without "
            "--experiment are measurements of the same motion. The residual is the root of the mean square of (model - "
            "data)/sigma.",
};
