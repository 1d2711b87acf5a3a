// cmd_check.c: is this model sound?
#include "cli/cli.h"
#include <math.h>

static const cli_option options[] = {
    CLI_MODEL,
    {"quiet", 'q', NULL, "print problems only", false},
    {NULL, 0, NULL, NULL, false},
};

typedef struct listener { bool quiet; int warnings; } listener;

static void report(void *user, carom_finding kind, const char *sentence) {
    static const char *const word[] = {"ok", "warning", "fault"};
    listener *l = user;
    l->warnings += kind == CAROM_WARNING;
    if (kind == CAROM_FINE && l->quiet) return;
    cli_print("%-8s %s\n", (unsigned)kind < 3 ? word[kind] : "", sentence);
}

// Can the scheme of the file, or the one that is chosen for it, take this model?
static int try_scheme(const carom_model *m, listener *l) {
    const carom_model_run file = carom_model_simulation(m);
    carom_run_given given = carom_run_nothing();
    if (isnan(file.end)) given.end = isnan(file.step) ? 1 : 1000 * file.step; // something to try it with
    if (isnan(file.step) && file.scheme) given.step = 1e-3;
    carom_run run = {0};
    carom_error err = {0};
    carom_sim *sim = NULL;
    if (carom_run_resolve(&run, m, &given, &err) == CAROM_OK) {
        const carom_sim_def def = carom_run_sim(&run, m);
        sim = carom_sim_create(&def, &err);
    }
    char text[400 + sizeof err.text];
    const char *place = sim ? NULL : cli_blame(m, true, err.code);
    if (sim && run.chosen[0])
        snprintf(text, sizeof text, "simulation: %s can run this model, step %g, chosen %s", run.scheme, run.step,
                 run.chosen);
    else if (sim) snprintf(text, sizeof text, "simulation: %s can run this model", run.scheme);
    else snprintf(text, sizeof text, "simulation: %.300s%s%s", place ? place : "", place ? ": " : "", err.text);
    report(l, sim ? CAROM_FINE : CAROM_FAULT, text);
    carom_sim_destroy(sim);
    carom_run_free(&run);
    return sim ? 0 : 1;
}

static int examine(const cli_args *a, const carom_model *m) {
    listener l = {.quiet = cli_has(a, "quiet")};
    carom_error err = {0};
    int faults = carom_model_examine(m, report, &l, &err);
    if (faults < 0 || err.code != CAROM_OK) return cli_say("%s", err.text), CLI_FAILED;
    faults += try_scheme(m, &l);
    if (!l.quiet)
        cli_print("%s: %d fault%s, %d warning%s\n", a->word[0], faults, faults == 1 ? "" : "s", l.warnings,
                  l.warnings == 1 ? "" : "s");
    return faults ? CLI_CHECK : CLI_DONE;
}

static int run(const cli_args *a) {
    if (cli_wants_model(a->word[0])) return CLI_USAGE;
    cli_source s;
    const int status = cli_source_model(&s, a) ? examine(a, s.model) : CLI_USAGE;
    cli_source_free(&s);
    return status;
}

const cli_verb cli_check = {
    .name = "check",
    .arguments = "MODEL",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .about = "check a model: derivatives, mass matrix, initial constraints, degrees of freedom, unused names"};
