// cmd_follow.c: carom follow: a branch of orbits or of states of rest over a parameter.
#include "base/number.h"
#include "cli/cli.h"
#include "cli/follow_curve.h"
#include "cli/follow_plot.h"
#include "cli/figure.h"
#include "io/json.h"
#include "io/recording.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"orbit", 0, "FILE",
     "follow the orbit in this file, of `carom orbit -o FILE`; initial: that from the model's start", false},
    {"equilibrium", 0, "FILE",
     "follow the equilibrium in this file, of `carom equilibrium --save FILE`; initial: the one near the initial state",
     false},
    {"by", 0, "NAME=A:B",
     "continuation parameter, from its value in the model towards B and towards A; twice with --curve", true},
    {"curve", 0, "KIND[:N]",
     "of a branch file instead of a model: the curve of its N-th (default first) event of this kind in two parameters: "
     "fold, branch, hopf, doubling, torus, grazing; quadrature: the response (--response) is a quarter of a period "
     "behind the excitation, the backbone of a damped system",
     false},
    {"period", 0, "EXPR|free",
     "as for `carom orbit` (default: free where time does not enter the model, else the period in the file, which then "
     "must not change)",
     false},
    {"switch", 0, "[all|branch|hopf|doubling|none]",
     "follow the branches that bifurcate, too: where branches cross, orbits from Hopf points, doubled orbits up to "
     "period 16 (without a value: doubling)",
     false},
    {"conservative", 0, NULL,
     "orbits of a conservative model over their energy: --by energy=A:B, from the linear mode of --mode at A, or from "
     "--orbit FILE",
     false},
    {"mode", 0, "K", "with --conservative: the mode, slowest first (default 1)", false},
    {"response", 0, "NAME",
     "of orbits: mean, amplitude, phase (degrees, against cos of the excitation) and harmonics up to the ninth of this "
     "coordinate, output or expression; --plot draws the amplitude",
     false},
    {"step", 0, "X",
     "longest step: of states in units of the motion, of the parameter in units of its range (default 0.05, of states "
     "more where the branch is straight)",
     false},
    {"points", 0, "N", "maximum number of points (default 2000)", false},
    {"exchange", 0, "A=B,C=D",
     "the orbit returns with these coordinates exchanged, as the legs of a walker after one step", true},
    {"scheme", 0, "NAME", "event-driven (default, regardless of the model) or auto", false},
    CLI_OPTION,
    CLI_MODEL,
    {"out", 'o', "FILE", "the points: .h5 (default: the model's file name with .branch.h5, in this directory) or .csv",
     false},
    {"resume", 0, "FILE.h5", "continue the interrupted branch in this file; requires the same model and options",
     false},
    {"strict", 0, NULL, "exit with status 3 if an event could not be located", false},
    {"plot", 0, "FILE", "plot: .svg, .png or .pdf", false},
    {"json", 0, NULL, "{by, branches, events: [{...}], columns: {...}, ...} as JSON on standard output", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct job {
    const cli_args *a;
    carom_follow_def def;
    carom_branch f;
    char *name, *own, *out;
    double *start;
    double saved;
    bool quiet, lost; // lost: a write failed
    cli_progress progress;
} job;

static bool to_file(job *j) {
    carom_error err = {0};
    if (carom_follow_write(&j->f, &j->def, j->out, &err) == CAROM_OK) return true;
    return cli_say("%s", err.text), j->lost = true, false;
}

static carom_status on_point(void *user, const carom_branch *f) {
    job *j = user;
    const double now = cli_clock();
    if (now - j->saved > 1) {
        j->saved = now;
        if (!to_file(j)) return CAROM_IO;
    }
    if (cli_progress_due(&j->progress) && f->branch.rows > 0) { // from the first point there, then back from it
        const double first = f->branch.column[1].real[0], there = fabs(j->def.to - first),
                     back = fabs(j->def.from - first), way = fabs(f->value - first);
        const double done = f->branches > 1 ? there + fmin(way, back) : fmin(way, there);
        cli_progress_show(
            &j->progress, done / (there + back),
            &(cli_live){.name = f->branch.column[1].name, .t = f->value, .energy = NAN, .steps = f->branch.rows});
    }
    return CAROM_OK;
}

static void print_text(const job *j) {
    const carom_table *t = &j->f.branch;
    long stable = 0;
    for (long r = 0; r < t->rows; ++r) stable += t->column[3].integer[r] != 0;
    cli_print("%s: %ld point%s on %d branch%s, %ld of them stable%s%s\n", j->a->word[0], t->rows,
              t->rows == 1 ? "" : "s", j->f.branches, j->f.branches == 1 ? "" : "es", stable,
              j->f.scheme && j->f.scheme[0] ? ", with " : "", j->f.scheme ? j->f.scheme : "");
    for (long r = 0; r < t->rows; ++r)
        if (t->column[5].text[r][0])
            cli_print("  branch %lld   %s = %-18.12g %-28s %s %.9g\n", t->column[0].integer[r], t->column[1].name,
                      t->column[1].real[r], t->column[5].text[r], t->column[4].name,
                      // the column has absolute values
                      strncmp(t->column[5].text[r], "period-doubling", 15) == 0 ? -t->column[4].real[r]
                                                                                : t->column[4].real[r]);
    cli_print("%s\n", j->out);
}

// Events as records with all columns, then all points by column.
static void print_json(const job *j, bool whole) {
    const carom_table *t = &j->f.branch;
    carom_json(stdout, "{\"by\": %s, \"branches\": %d, \"points\": %ld, ", j->def.by, j->f.branches, t->rows);
    carom_json(stdout, "\"unlocated\": %d, \"whole\": %i, \"file\": %s,\n \"note\": %s,\n ", j->f.unlocated, whole,
               j->out, j->f.note.code == CAROM_OK ? "" : j->f.note.text);
    follow_json(t, 5), puts("}");
}

// NAME=A:B, in units of the model's parameter.
static bool read_by(job *j, const carom_model *m) {
    const char *by = cli_value(j->a, "by"), *equals = by ? strchr(by, '=') : NULL,
               *colon = equals ? strchr(equals, ':') : NULL;
    if (!colon) return cli_say("follow: give --by NAME=A:B"), false;
    const size_t n = strlen(by) + 1;
    j->name = malloc(n);
    if (!j->name) abort();
    memcpy(j->name, by, n);
    j->name[equals - by] = 0, j->name[colon - by] = 0;
    carom_error err;
    if (cli_has(j->a, "conservative")) {
        j->def.by = j->name;
        if (strcmp(j->name, "energy") != 0)
            return cli_say("--conservative: expected --by energy=A:B, got %s", by), false;
        if (!carom_model_quantity(NULL, j->name, equals + 1, (size_t)(colon - equals - 1), &j->def.from, &err) ||
            !carom_model_quantity(NULL, j->name, colon + 1, strlen(colon + 1), &j->def.to, &err))
            return cli_say("--by: '%s' is not energy=A:B with two numbers: %s", by, err.text), false;
        return true;
    }
    if (!carom_model_quantity(m, j->name, equals + 1, (size_t)(colon - equals - 1), &j->def.from, &err) ||
        !carom_model_quantity(m, j->name, colon + 1, strlen(colon + 1), &j->def.to, &err))
        return cli_say("--by: '%s' is not NAME=A:B with two numbers: %s", by, err.text), false;
    j->def.by = j->name;
    return true;
}

static bool read_switch(job *j) {
    static const char *const word[] = {"", "doubling", "branch", "hopf", "all", "none"};
    static const int flag[] = {CAROM_SWITCH_DOUBLING, CAROM_SWITCH_DOUBLING, CAROM_SWITCH_BRANCH,
                               CAROM_SWITCH_HOPF,     CAROM_SWITCH_ALL,      0};
    const char *given = cli_value(j->a, "switch");
    int found = given ? -1 : 5;
    for (int i = 0; i < 6 && given; ++i)
        if (strcmp(given, word[i]) == 0) found = i;
    if (found < 0) return cli_say("--switch: expected all, branch, hopf, doubling or none, got '%s'", given), false;
    j->def.switches = flag[found];
    if (j->def.switches == CAROM_SWITCH_DOUBLING && cli_has(j->a, "equilibrium"))
        return cli_say("--switch doubling belongs to orbits; equilibria have --switch branch, hopf or all"), false;
    if (j->def.switches == CAROM_SWITCH_HOPF && cli_has(j->a, "orbit"))
        return cli_say("--switch hopf belongs to equilibria; orbits have --switch branch, doubling or all"), false;
    return true;
}

static bool read_usage(job *j) {
    const cli_args *a = j->a;
    static const char *const endings[] = {".yaml", ".yml", NULL};
    const char *out = cli_has(a, "resume") ? cli_value(a, "resume") : cli_value(a, "out"), *plot = cli_value(a, "plot");
    long points = 0;
    const char **by = cli_list(a, "by");
    const bool twice = by[0] && by[1];
    free(by);
    if (twice) return cli_say("--by is given twice; two parameters belong to --curve"), false;
    if (cli_has(a, "mode") && (!cli_has(a, "conservative") || cli_has(a, "orbit")))
        return cli_say("--mode belongs to --conservative without --orbit"), false;
    if (cli_has(a, "conservative") && (cli_has(a, "equilibrium") || cli_has(a, "period")))
        return cli_say("--conservative follows orbits of free period; leave --equilibrium and --period out"), false;
    if (!cli_has(a, "conservative") && cli_has(a, "orbit") == cli_has(a, "equilibrium"))
        return cli_say("follow: give --orbit FILE or --equilibrium FILE (or the word initial)"), false;
    static const char *const of_orbits[] = {"period", "exchange", "scheme", "option", "response", NULL};
    for (int i = 0; of_orbits[i] && cli_has(a, "equilibrium"); ++i)
        if (cli_has(a, of_orbits[i]))
            return cli_say("--%s belongs to orbits; leave it out, or give --orbit instead of --equilibrium",
                           of_orbits[i]),
                   false;
    if (!cli_positive(a, "step", &j->def.step) || !cli_whole(a, "points", 1000000, &points) ||
        cli_wants_model(a->word[0]))
        return false;
    if (!gnuplot_takes(plot)) return false;
    j->own = out ? NULL : cli_rename(a->word[0], endings, ".branch.h5");
    j->out = out ? (char *)(size_t)out : j->own;
    if (cli_has(a, "resume") && cli_has(a, "out"))
        return cli_say("--resume continues in its own file; leave --out out"), false;
    if (cli_has(a, "resume") && !carom_ends(j->out, ".h5"))
        return cli_say("--resume: '%s' does not end in .h5; only such branches can be resumed", j->out), false;
    if (!carom_ends(j->out, ".h5") && !(carom_ends(j->out, ".csv") && !cli_has(a, "resume")))
        return cli_say("'%s' ends neither in .h5 nor in .csv", j->out), false;
    if (plot && !carom_ends(j->out, ".h5"))
        return cli_say("--plot: plots are made from .h5 branches; give --out FILE.h5"), false;
    j->def.max_points = (int)points, j->def.response = cli_value(a, "response");
    if (!read_switch(j)) return false;
    j->def.run = cli_run_given(a);
    j->quiet = cli_has(a, "quiet");
    j->def.on_point = on_point, j->def.user = j, j->def.stop = cli_signals_asked;
    return cli_writable(j->out) && cli_writable(plot);
}

// The first orbit of a nonlinear mode: at the lower end of the energies, on the linear mode.
static bool begin_mode(job *j, const carom_model *m) {
    const carom_system *s = carom_model_system(m);
    long mode = 1;
    carom_error err = {0};
    if (!cli_whole(j->a, "mode", 1000000, &mode)) return false;
    j->start = calloc((size_t)(s->nq + s->nv) + 1, sizeof *j->start);
    if (!j->start) abort();
    if (carom_orbit_mode(m, (int)mode, fmin(j->def.from, j->def.to), j->start, &j->def.guess, &err) != CAROM_OK)
        return cli_say("%s", err.text), false;
    j->def.start = j->start, j->def.conservative = true, j->def.period = "free";
    return true;
}

// The state and the period in the file.
static bool read_start(job *j, const carom_model *m) {
    const bool conservative = cli_has(j->a, "conservative"), orbit = cli_has(j->a, "orbit") || conservative;
    if (conservative && !cli_has(j->a, "orbit")) return begin_mode(j, m);
    const char *file = cli_value(j->a, orbit ? "orbit" : "equilibrium"), *period = cli_value(j->a, "period");
    j->def.guess = NAN;
    static char fixed[40];
    if (strcmp(file, "initial") != 0) {
        j->start = cli_state(m, file);
        if (!j->start) return false;
        j->def.start = j->start, j->def.signals = j->start + carom_model_system(m)->nq + carom_model_system(m)->nv;
        carom_error err = {0};
        carom_result *r = orbit && carom_result_probe(file) ? carom_result_open(file, &err) : NULL;
        const long rows = r ? carom_result_rows(r) : 0;
        if (rows > 1) carom_result_read(r, 0, rows - 1, 1, &j->def.guess, &err);
        carom_result_close(r);
    }
    if (!orbit) return true;
    if (conservative) return j->def.conservative = true, j->def.period = "free", true;
    bool timeless = false;
    carom_error err = {0};
    if (!period && carom_model_timeless(m, j->def.by, &timeless, &err) != CAROM_OK)
        return cli_say("%s", err.text), false;
    if (!period && !timeless && isnan(j->def.guess))
        return cli_say("%s contains no period; give --period EXPR", file), false;
    carom_format(fixed, sizeof fixed, "%.17g", j->def.guess);
    j->def.period = period ? period : timeless ? "free" : fixed;
    return true;
}

static int follow(job *j) {
    carom_error err = {0};
    FILE *file = cli_has(j->a, "resume") ? fopen(j->out, "rb") : NULL;
    if (cli_has(j->a, "resume") && !file) return cli_say("cannot read %s: %s", j->out, strerror(errno)), CLI_USAGE;
    if (file) fclose(file);
    if (cli_has(j->a, "resume") && carom_follow_read(&j->f, &j->def, j->out, &err) != CAROM_OK)
        return cli_say("%s", err.text), CLI_USAGE;
    cli_signals_begin();
    j->saved = cli_clock();
    j->progress = cli_progress_begin(!j->quiet && !cli_has(j->a, "json"), 0);
    const carom_status status = carom_follow_run(&j->f, &j->def, &err);
    cli_progress_end(&j->progress);
    cli_signals_end();
    const bool lost = status == CAROM_IO && j->lost, some = j->f.branch.rows > 0 && !lost && to_file(j);
    int code = cli_exit(status);
    if (j->lost) code = CLI_FAILED;
    if (status != CAROM_OK && !lost)
        cli_say("%s: %s%s%s%s", j->a->word[0], status == CAROM_STOPPED ? "interrupted" : err.text,
                some ? "; the points so far are in " : "", some ? j->out : "",
                some && status == CAROM_STOPPED && carom_ends(j->out, ".h5") ? ", continue with --resume" : "");
    if (cli_has(j->a, "json") && j->f.branch.columns > 5) print_json(j, code == CLI_DONE && j->f.queue.rows == 0);
    else if (code == CLI_DONE && !j->quiet) print_text(j);
    if (status == CAROM_OK && j->f.note.code != CAROM_OK) cli_say("%s: %s", j->a->word[0], j->f.note.text);
    if (code == CLI_DONE && j->f.queue.rows > 0)
        cli_say("%s: stopped at %ld points; to continue, use %s more --points", j->a->word[0], j->f.branch.rows,
                carom_ends(j->out, ".h5") ? "--resume with" : "a run to an .h5 file with");
    if (code == CLI_DONE && j->f.unlocated > 0)
        cli_say("%s: %d event%s could not be located; columns event.low and event.high of the rows with a question "
                "mark contain the interval",
                j->a->word[0], j->f.unlocated, j->f.unlocated == 1 ? "" : "s");
    if (code == CLI_DONE && cli_has(j->a, "plot")) code = follow_plot(j->out, NULL, cli_value(j->a, "plot"), NULL);
    if (code == CLI_DONE && j->f.unlocated > 0 && cli_has(j->a, "strict")) code = CLI_CHECK;
    carom_branch_free(&j->f);
    return code;
}

static int run(const cli_args *a) {
    if (cli_has(a, "curve")) return follow_curve(a);
    job j = {.a = a};
    int code = CLI_USAGE;
    char *own = NULL;
    const char **exchange = cli_names(a, "exchange", &own);
    cli_source s = {0};
    if (read_usage(&j) && cli_source_pairs(&s, a)) {
        j.def.model = s.def, j.def.run.options = s.options, j.def.exchange = exchange;
        if (read_by(&j, s.model) && read_start(&j, s.model)) code = follow(&j);
    }
    cli_source_free(&s);
    free(exchange), free(own), free(j.start), free(j.name), free(j.own);
    return code;
}

const cli_verb cli_follow = {
    .name = "follow",
    .arguments = "MODEL|BRANCH.h5",
    .about = "continue a branch of periodic orbits or equilibria in a parameter: stability, folds, period doublings, "
             "grazing",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .text = "Continuation by arclength: the branch is followed around folds. Located to about 1e-10 of the parameter: "
            "fold, period-doubling, neimark-sacker and branch (a multiplier\n"
            "crosses the unit circle), grazing (a contact is touched, or just not touched any more), sticking (a phase "
            "of rest begins or ends), opening and closing (a contact that\n"
            "was always closed lifts off, or the reverse), sequence (other contacts, or another order).\n"
            "Equilibria: fold, branch, hopf, opening, closing. `carom plot FILE.h5 --of NAME` draws stable parts "
            "solid and unstable ones dashed. Ctrl-C stops; --resume continues.",
};
