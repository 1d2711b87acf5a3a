// cmd_equilibrium.c: carom equilibrium: a state of rest with contacts and joints.
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"
#include "io/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"from", 0, "FILE",
     "start the search at this state: a file from --save, or the last row of a result (default: near the initial "
     "state)",
     false},
    {"range", 0, "NAME,NAME",
     "admissible ranges of these coordinates: the equilibria that friction allows, with the same contacts sticking",
     true},
    {"save", 0, "FILE", "write the state as initial values for `carom run --start FILE`", false},
    CLI_MODEL,
    {"json", 0, NULL, "{state, forces, residual, ...} as JSON on standard output", false},
    {"quiet", 'q', NULL, "print errors only", false},
    {NULL, 0, NULL, NULL, false},
};

static const char *const kinds[] = {"open", "closed", "sticks", "slides"};

static void put(bool first, const char *name, double x) {
    carom_json(stdout, first ? "\n    %s: %g" : ",\n    %s: %g", name, x);
}
static void put_range(bool first, const char *name, double low, double high) {
    carom_json(stdout, first ? "\n    %s: [%g, %g]" : ",\n    %s: [%g, %g]", name, low, high);
}

// Coordinates of --range, and their ranges.
typedef struct ranges { const char **name; double (*of)[2]; char *own; int n; } ranges;

// What entry i of a state of rest is: a position, or the value of a first-order state.
static const char *name_of(const carom_model *m, int i) {
    return carom_model_state(m, i) ? carom_model_velocity(m, i) : carom_model_coordinate(m, i);
}

static bool held_by_friction(const carom_equilibrium *r) {
    bool sticks = false;
    for (int c = 0; c < r->nc; ++c) sticks = sticks || r->contact[c] == CAROM_EQUILIBRIUM_STICKS;
    return sticks;
}

static int coordinate_of(const carom_model *m, const carom_equilibrium *r, const char *name) {
    for (int i = 0; i < r->nq; ++i)
        if (!carom_model_hidden(m, i) && strcmp(carom_model_coordinate(m, i), name) == 0) return i;
    return -1;
}

static carom_status find_ranges(const carom_model *m, const carom_equilibrium *r, ranges *x, carom_error *err) {
    while (x->name[x->n]) ++x->n;
    x->of = calloc((size_t)x->n + 1, sizeof *x->of);
    if (!x->of) abort();
    for (int i = 0; i < x->n; ++i) {
        const int at = coordinate_of(m, r, x->name[i]);
        if (at < 0) return carom_fail(err, CAROM_BAD_INPUT, "--range: the model has no coordinate '%.60s'", x->name[i]);
        const carom_status status = carom_equilibrium_range(m, r, at, x->of[i], err);
        if (status != CAROM_OK) return status;
    }
    return CAROM_OK;
}

static void print_json(const carom_model *m, const carom_equilibrium *r, bool found, const ranges *x) {
    printf("{\n  \"found\": %s,\n  \"state\": {", found ? "true" : "false");
    for (int i = 0; i < r->nq; ++i)
        if (!carom_model_presses(m, i))
            put(i == 0, name_of(m, i), r->q[i]);
    for (int i = 0; i < r->nv; ++i)
        if (!carom_model_presses(m, i) && !carom_model_state(m, i))
            put(false, carom_model_velocity(m, i), 0);
    for (int i = 0; i < r->nsignals; ++i)
        if (cli_signal_shown(m, i)) put(false, cli_signal_name(m, i), r->signals[i]);
    fputs("\n  },\n  \"forces\": {", stdout);
    for (int i = 0; i < r->nforce; ++i) put(i == 0, r->force[i].name, r->force[i].value);
    fputs("\n  },\n  \"ranges\": {", stdout);
    for (int i = 0, n = 0; i < r->nforce; ++i)
        if (!isnan(r->force[i].low)) put_range(n++ == 0, r->force[i].name, r->force[i].low, r->force[i].high);
    fputs("\n  },\n  \"contacts\": {", stdout);
    const int ne = carom_model_system(m)->ne;
    for (int c = 0; c < r->nc; ++c)
        carom_json(stdout, c == 0 ? "\n    %s: %s" : ",\n    %s: %s", carom_model_constraint(m, ne + c),
                   kinds[r->contact[c]]);
    fputs("\n  },\n  \"range\": {", stdout);
    for (int i = 0; i < x->n; ++i) put_range(i == 0, x->name[i], x->of[i][0], x->of[i][1]);
    carom_json(stdout, "\n  },\n  \"unique\": %i, \"free\": %d, \"iterations\": %d, \"residual\": %g\n}\n",
               !(r->free || held_by_friction(r)), r->free, r->iterations, r->residual);
}

enum { SHOWN = 40 }; // lines of a list for a person

static void print_text(const carom_model *m, const carom_equilibrium *r, const char *file, const ranges *x) {
    const char *name = carom_model_name(m);
    cli_print("%s: at rest after %d iteration%s, residual %.2g\n", name ? name : file, r->iterations,
              r->iterations == 1 ? "" : "s", r->residual);
    for (int i = 0; i < r->nq && i < SHOWN; ++i)
        if (!carom_model_presses(m, i)) cli_print("  %-24s %.12g\n", name_of(m, i), r->q[i]);
    for (int i = 0; i < r->nsignals && i < SHOWN; ++i)
        if (cli_signal_shown(m, i)) cli_print("  %-24s %.12g\n", cli_signal_name(m, i), r->signals[i]);
    if (r->nq > SHOWN) printf("  and %d more; --json or --save FILE has all\n", r->nq - SHOWN);
    const int ne = carom_model_system(m)->ne;
    for (int i = 0, n = 0; i < r->nforce; ++i) {
        const carom_equilibrium_force *f = &r->force[i];
        if (f->id >= ne && r->contact[f->id - ne] == CAROM_EQUILIBRIUM_OPEN) continue;
        if (n++ == 0) printf("forces\n");
        if (n > SHOWN) continue;
        cli_print("  %-24s %.9g", f->name, f->value);
        if (f->high - f->low > CLI_DIGITS * (fabs(f->low) + fabs(f->high)))
            printf("   any from %.9g to %.9g", f->low, f->high);
        if (f->id >= ne && (i == 0 || r->force[i - 1].id != f->id)) printf("   (%s)", kinds[r->contact[f->id - ne]]);
        putchar('\n');
    }
    for (int i = 0; i < x->n; ++i) cli_print("  %-24s any from %.12g to %.12g\n", x->name[i], x->of[i][0], x->of[i][1]);
    if (held_by_friction(r)) puts("  one of a set: friction holds, and a run may come to rest elsewhere");
    if (r->free)
        printf("  the forces are not unique: %d combination%s of them move%s nothing\n", r->free,
               r->free == 1 ? "" : "s", r->free == 1 ? "s" : "");
}

static bool save(const cli_args *a, const carom_model *m, const carom_equilibrium *r) {
    const char *file = cli_value(a, "save");
    if (!file) return true;
    double *v = calloc((size_t)r->nv + 1, sizeof *v);
    carom_error err = {0};
    if (!v) abort();
    carom_model_at_rest(m, r->q, v);
    const bool good = carom_state_keep(m, file, r->q, v, r->signals, &err) == CAROM_OK;
    if (!good) cli_say("%s", err.text);
    free(v);
    return good;
}

static int search(const cli_args *a, const carom_model *m) {
    double *from = cli_has(a, "from") ? cli_state(m, cli_value(a, "from")) : NULL;
    if (cli_has(a, "from") && !from) return CLI_USAGE;
    carom_equilibrium rest;
    carom_error err = {0};
    const carom_status status = carom_equilibrium_find(&rest, m, from, &err);
    const bool found = status == CAROM_OK, best = status == CAROM_NOT_CONVERGED;
    int code = found ? CLI_DONE : status == CAROM_UNSUPPORTED ? CLI_USAGE : CLI_FAILED;
    const bool saved = (found || best) && save(a, m, &rest);
    if ((found || best) && !saved) code = CLI_FAILED;
    ranges x = {0};
    x.name = cli_names(a, "range", &x.own);
    carom_status ranged = found ? find_ranges(m, &rest, &x, &err) : CAROM_OK;
    if (ranged != CAROM_OK) code = cli_exit(ranged), x.n = 0, cli_say_of(a->word[0], err.text);
    if ((found || best) && cli_has(a, "json")) print_json(m, &rest, found, &x);
    else if (found && ranged == CAROM_OK && !cli_has(a, "quiet")) print_text(m, &rest, a->word[0], &x);
    free(x.name), free(x.own), free(x.of);
    if (!found) cli_say_best(a, err.text, saved);
    carom_equilibrium_free(&rest);
    free(from);
    return code;
}

static int run(const cli_args *a) {
    if (cli_wants_model(a->word[0]) || !cli_writable(cli_value(a, "save"))) return CLI_USAGE;
    cli_source s;
    const int code = cli_source_pairs(&s, a) ? search(a, s.model) : CLI_USAGE;
    cli_source_free(&s);
    return code;
}

const cli_verb cli_equilibrium = {
    .name = "equilibrium",
    .arguments = "MODEL",
    .about = "find an equilibrium with contacts and joints: positions, reactions, uniqueness of the reactions",
    .least = 1,
    .most = 1,
    .options = options,
    .run = run,
    .text =
        "The search follows the forces downhill from the initial state, including friction, and finishes with Newton's "
        "method\n"
        "on the closed contacts. Forces that depend on time are those at t = 0. The residual is the largest relative "
        "violation of the balance of forces, of the laws\n"
        "of the contacts and of the gaps. Exit status 1: no equilibrium found; the message names the unbalanced force.",
};
