// cmd_orbit.c: carom orbit: a motion that repeats itself, with its multipliers.
#include "cli/cli.h"
#include "io/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"period", 0, "EXPR|free",
     "the period of the excitation, or a multiple, as an expression of parameters; free: the model does not depend on "
     "time, and the period is found",
     false},
    {"transient", 0, "T", "simulate for time T first; the search starts from the final state", false},
    {"start", 0, "FILE",
     "initial state from `carom equilibrium --save FILE`, from an orbit, or from the last row of a result", false},
    {"guess", 0, "T", "of a free period: initial guess (default: the first return of the motion)", false},
    {"end", 0, "T", "of a free period: maximum time until a return of the motion (default: the model's end)", false},
    {"conservative", 0, NULL,
     "the model keeps its energy: the orbit of the energy of the initial state, or of --energy", false},
    {"energy", 0, "E", "with --conservative: the energy of the orbit", false},
    {"exchange", 0, "A=B,C=D",
     "the orbit returns with these coordinates exchanged, as the legs of a walker after one step", true},
    {"segments", 0, "N",
     "multiple shooting: cut the period into N pieces (default: 1, and more where small differences grow so much in a "
     "period that one piece cannot be closed)",
     false},
    {"scheme", 0, "NAME", "event-driven (default, regardless of the model) or auto", false},
    CLI_OPTION,
    CLI_MODEL,
    {"out", 'o', "FILE", "one period as a result: .h5 or .csv", false},
    {"save", 0, "FILE", "write the state at t = 0 as initial values for `carom run --start FILE`", false},
    {"json", 0, NULL, "{period, state, multipliers: [[re, im], ...], residual, ...} as JSON on standard output", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

static bool neutral(const carom_orbit *o) { return fabs(o->largest - 1) <= CAROM_ORBIT_NEUTRAL; }
static bool stable(const carom_orbit *o) { return o->largest < 1 && !neutral(o); }

static void print_text(const carom_orbit *o, const carom_model *m, const char *file) {
    const char *name = carom_model_name(m);
    const int ne = carom_model_system(m)->ne;
    cli_print("%s: period %.12g, residual %.2g, %d iteration%s of Newton's method", name ? name : file, o->period,
              o->residual, o->iterations, o->iterations == 1 ? "" : "s");
    if (o->segments > 1) printf(" on %d pieces", o->segments);
    printf(", with %s\n", o->scheme);
    for (int i = 0; i < o->nq; ++i) {
        if (carom_model_hidden(m, i)) continue;
        cli_print("  %-20s %20.12g", carom_model_coordinate(m, i), o->q[i]);
        if (o->nq == o->nv) printf("   rate %20.12g", o->v[i]);
        if (fabs(o->advance[i]) > CLI_DIGITS * (1 + fabs(o->q[i]))) printf("   %+.9g per period", o->advance[i]);
        putchar('\n');
    }
    for (int i = 0; i < o->nv; ++i)
        if (o->nq != o->nv || carom_model_state(m, i))
            cli_print("  %-20s %20.12g\n", carom_model_velocity(m, i), o->v[i]);
    puts("multipliers");
    for (int i = 0; i < o->nmultipliers; ++i) {
        printf("  %20.12g %+20.12g i   |%.9g|", o->re[i], o->im[i], hypot(o->re[i], o->im[i]));
        puts(i >= o->nmultipliers - o->trivial             ? "   trivial"
             : i >= o->nmultipliers - o->trivial - o->rank_loss ? "   closed contact"
                                                           : "");
    }
    if (o->others > 0) printf("  and %d others, none of them larger\n", o->others);
    printf("%s%s\n",
           isnan(o->largest) ? "whether it is stable is not known: the largest multiplier did not converge"
           : neutral(o)      ? "neutral: the largest multiplier lies on the unit circle"
           : stable(o)       ? "stable"
                             : "unstable",
           o->isolated ? "" : "; not isolated: there are other orbits near it");
    if (o->nevents > 0) puts("events");
    for (int i = 0; i < o->nevents && i < 60; ++i) {
        const carom_orbit_event *e = &o->event[i];
        cli_print("  t = %-16.9g %-20s %s", e->t, carom_model_constraint(m, ne + e->contact), e->kind);
        if (e->impacts > 0) printf(": %d impacts are followed, the limit is at t = %.9g", e->impacts, e->until);
        putchar('\n');
    }
    if (o->nevents > 60) printf("  and %d more\n", o->nevents - 60);
}

static void print_json(const carom_orbit *o, const carom_model *m, bool found) {
    const int ne = carom_model_system(m)->ne;
    static const char *const member[] = {"%s: %g", ", %s: %g"};
    carom_json(stdout, "{\"found\": %i, \"period\": %g,\n \"state\": {", found, o->period);
    for (int i = 0, n = 0; i < o->nq + o->nv; ++i) {
        const bool position = i < o->nq;
        if (position ? carom_model_hidden(m, i) : carom_model_presses(m, i - o->nq)) continue;
        carom_json(stdout, member[n++ > 0],
                   position ? carom_model_coordinate(m, i) : carom_model_velocity(m, i - o->nq),
                   position ? o->q[i] : o->v[i - o->nq]);
    }
    for (int i = 0; i < o->nsignals; ++i)
        if (cli_signal_shown(m, i)) carom_json(stdout, ", %s: %g", cli_signal_name(m, i), o->signals[i]);
    fputs("},\n \"advance\": {", stdout);
    for (int i = 0, n = 0; i < o->nq; ++i)
        if (!carom_model_hidden(m, i))
            carom_json(stdout, member[n++ > 0], carom_model_coordinate(m, i), o->advance[i]);
    fputs("},\n \"multipliers\": [", stdout);
    for (int i = 0; i < o->nmultipliers; ++i) carom_json(stdout, i ? ", [%g, %g]" : "[%g, %g]", o->re[i], o->im[i]);
    printf("],\n \"others\": %d, \"trivial\": %d, \"stable\": %s", o->others, o->trivial,
           isnan(o->largest) ? "null" : stable(o) ? "true" : "false");
    carom_json(stdout, ", \"neutral\": %i, \"isolated\": %i,\n \"events\": [", neutral(o), o->isolated);
    for (int i = 0; i < o->nevents; ++i) {
        const carom_orbit_event *e = &o->event[i];
        fputs(i ? ", " : "", stdout);
        carom_json(stdout, "{\"t\": %g, \"contact\": %s, \"kind\": %s", e->t,
                   carom_model_constraint(m, ne + e->contact), e->kind);
        if (e->impacts > 0) carom_json(stdout, ", \"impacts\": %d, \"until\": %g", e->impacts, e->until);
        putchar('}');
    }
    carom_json(stdout, "],\n \"segments\": %d, \"iterations\": %d, \"residual\": %g, \"scheme\": %s}\n", o->segments,
               o->iterations, o->residual, o->scheme);
}

// Whatever was found is kept, the best state too.
static bool keep(const cli_args *a, const carom_model *m, const carom_orbit *o, const carom_orbit_def *def,
                 bool found) {
    const char *save = cli_value(a, "save"), *out = cli_value(a, "out");
    carom_error err = {0};
    if (save && carom_state_keep(m, save, o->q, o->v, o->signals, &err) != CAROM_OK)
        return cli_say("%s", err.text), false;
    if (out && found && carom_orbit_record(o, def, out, &err) != CAROM_OK) return cli_say("%s", err.text), false;
    return true;
}

static int orbit(const cli_args *a, const carom_model *m, const carom_orbit_def *def) {
    carom_orbit o;
    carom_error err = {0};
    cli_signals_begin();
    const carom_status status = carom_orbit_find(&o, def, &err);
    const bool found = status == CAROM_OK, best = o.nevents >= 0 && o.q && o.period > 0;
    int code = cli_exit(status);
    const bool kept = best && keep(a, m, &o, def, found);
    if (best && !kept) code = CLI_FAILED;
    cli_signals_end();
    if (!found) cli_say_best(a, err.text, kept);
    if (best && cli_has(a, "json")) print_json(&o, m, found);
    else if (found && !cli_has(a, "quiet")) print_text(&o, m, a->word[0]);
    carom_orbit_free(&o);
    return code;
}

static bool read_usage(const cli_args *a, carom_orbit_def *d) {
    const char *out = cli_value(a, "out");
    d->run = cli_run_given(a);
    d->conservative = cli_has(a, "conservative"), d->energy = NAN;
    if (cli_has(a, "energy") && !d->conservative) return cli_say("--energy belongs to --conservative"), false;
    if (!cli_number(a, "energy", &d->energy)) return false;
    d->period = d->conservative && !cli_has(a, "period") ? "free" : cli_value(a, "period");
    d->guess = NAN;
    d->stop = cli_signals_asked;
    if (!d->period) return cli_say("orbit: give --period EXPR, or --period free"), false;
    static const char *const of_free[] = {"guess", "end", NULL};
    for (int i = 0; of_free[i] && strcmp(d->period, "free") != 0; ++i)
        if (cli_has(a, of_free[i])) return cli_say("--%s belongs to --period free; leave it out", of_free[i]), false;
    if (out && !carom_ends(out, ".h5") && !carom_ends(out, ".csv"))
        return cli_say("--out: '%s' ends neither in .h5 nor in .csv", out), false;
    long segments = 0;
    if (!cli_whole(a, "segments", 1000, &segments)) return false;
    d->segments = (int)segments;
    return cli_duration(a, "transient", &d->transient) && cli_duration(a, "guess", &d->guess) &&
           cli_duration(a, "end", &d->run.end) && !cli_wants_model(a->word[0]) && cli_writable(out) &&
           cli_writable(cli_value(a, "save"));
}

static int run(const cli_args *a) {
    carom_orbit_def d = {0};
    if (!read_usage(a, &d)) return CLI_USAGE;
    char *own = NULL;
    const char **exchange = cli_names(a, "exchange", &own);
    cli_source s;
    const bool good = cli_source_pairs(&s, a) && cli_source_start(&s, a);
    d.model = s.def, d.run.options = s.options, d.start = s.start, d.signals = s.signals, d.exchange = exchange;
    const int code = good ? orbit(a, s.model, &d) : CLI_USAGE;
    cli_source_free(&s);
    free(exchange), free(own);
    return code;
}

const cli_verb cli_orbit = {
    .name = "orbit",
    .arguments = "MODEL",
    .about = "find a periodic orbit with impacts, sticking and chatter: state, period, Floquet multipliers, contact "
             "sequence",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .text = "Shooting: Newton's method on the state after one period, with exact derivatives through all events. The "
            "residual is the largest difference of the state\n"
            "after a period, relative to how far each part of it moves. Coordinates that the model does not depend on "
            "may advance from period to period, and so may angles by\n"
            "whole turns. Exit status 1: no orbit was found; the message gives the reason, and --save keeps the "
            "best state.",
};
