// cmd_gradient.c: carom gradient: exact derivatives of a result of a run.
#include "cli/cli.h"
#include "io/json.h"
#include <math.h>
#include <stdlib.h>

static const cli_option options[] = {
    {"of", 0, "EXPR",
     "quantity to differentiate: an expression at the end of the run, in which integral(x), mean(x), rms(x), max(x), "
     "min(x) run over it; `time of CONTACT.impact[N]`, `EXPR at CONTACT.impact[N]` (after it) "
     "or `EXPR before CONTACT.impact[N]`, N = 1, 2, ...; also close, open, stick, slip",
     false},
    {"by", 0, "NAME,NAME",
     "differentiate with respect to: parameters, x for the initial value and x' for the initial rate of a coordinate",
     true},
    {"scheme", 0, "NAME", "event-driven (default, regardless of the model), mixed or auto", false},
    {"step", 0, "H", "step size; of event-driven and auto the time between rows (default: 500 rows)", false},
    {"end", 0, "T", "end time: a number, one with a unit, or an expression of parameters", false},
    CLI_OPTION,
    CLI_MODEL,
    {"start", 0, "FILE", "initial state from `carom equilibrium --save FILE`, or from the last row of a result", false},
    {"out", 'o', "FILE",
     "the run as a result, .h5 or .csv, with columns `EXPR` and `EXPR by NAME`, as if the run ended at each row, and "
     "`x by NAME` of every coordinate and rate",
     false},
    {"one-sided", 0, NULL, "accept derivatives at a grazing contact, which are valid on one side only", false},
    {"json", 0, NULL,
     "{value, gradient: {NAME: number}, distance: {NAME: number}, t, scheme} as JSON on standard output", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

static void print_text(const carom_gradient *g, const cli_args *a) {
    cli_print("%s: %s = %.12g, t = %.9g, with %s\n", a->word[0], cli_value(a, "of"), g->value, g->t, g->scheme);
    for (int i = 0; i < g->n; ++i) {
        cli_print("  by %-20s %20.12g", g->name[i], g->gradient[i]);
        if (isfinite(g->distance[i]))
            printf("   another sequence of events beyond changes of about %.3g", g->distance[i]);
        puts("");
    }
}

static void print_json(const carom_gradient *g) {
    carom_json(stdout, "{\"value\": %g, \"gradient\": ", g->value);
    carom_json_named(stdout, g->name, g->gradient, g->n);
    fputs(", \"distance\": ", stdout), carom_json_named(stdout, g->name, g->distance, g->n);
    carom_json(stdout, ", \"t\": %g, \"scheme\": %s}\n", g->t, g->scheme);
}

static int gradient(const cli_args *a, const carom_gradient_def *def) {
    carom_gradient g;
    carom_error err = {0};
    cli_signals_begin();
    const carom_status status = carom_gradient_find(&g, def, &err);
    cli_signals_end();
    if (status != CAROM_OK) cli_say_of(a->word[0], err.text);
    if (status == CAROM_OK && g.note[0]) cli_say("warning: %s", g.note);
    if (status == CAROM_OK && cli_has(a, "json")) print_json(&g);
    else if (status == CAROM_OK && !cli_has(a, "quiet")) print_text(&g, a);
    carom_gradient_free(&g);
    return cli_exit(status);
}

static int run(const cli_args *a) {
    carom_gradient_def d = {.of = cli_value(a, "of"), .one_sided = cli_has(a, "one-sided"), .stop = cli_signals_asked};
    const char *out = cli_value(a, "out");
    d.file = out;
    if (out && !carom_ends(out, ".h5") && !carom_ends(out, ".csv"))
        return cli_say("-o: '%s' ends neither in .h5 nor in .csv", out), CLI_USAGE;
    if (!d.of || !cli_has(a, "by")) return cli_say("gradient: give --of EXPR and --by NAME,NAME"), CLI_USAGE;
    d.run = cli_run_given(a);
    if (!cli_run_duration(a, "step", &d.run.step) || !cli_run_duration(a, "end", &d.run.end) ||
        cli_wants_model(a->word[0]) || !cli_writable(out))
        return CLI_USAGE;
    char *own = NULL;
    const char **by = cli_names(a, "by", &own);
    cli_source s;
    const bool good = cli_source_read_pairs(&s, a) && cli_source_start(&s, a);
    d.model = s.def, d.run.options = s.options, d.start = s.start, d.by = by;
    const int code = good ? gradient(a, &d) : CLI_USAGE;
    cli_source_free(&s);
    free(by), free(own);
    return code;
}

const cli_verb cli_gradient = {
    .name = "gradient",
    .arguments = "MODEL",
    .about = "compute exact derivatives of a simulation result with respect to parameters and initial values, through "
             "impacts, stick and slip",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .text = "The linearised equations are integrated along the motion, and jump at impacts, where contacts open, stick "
            "and slip. Where the motion has no derivative,\n"
            "e.g. at grazing, a message replaces the number and the exit status is 1. Each derivative is printed with "
            "the change of the name, to first order, at which a contact is grazed.",
};
