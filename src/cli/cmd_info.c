// cmd_info.c: summarise a model, result or sweep.
#include "cli/cli.h"
#include "flex/member.h"
#include "io/recording.h"
#include "io/table.h"
#include "model/answers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    CLI_MODEL,
    {NULL, 0, NULL, NULL, false},
};

// -- models -------------------------------------------------------------------------------------------

static void put_value(const carom_model *m, const char *name, double value) {
    char unit[40];
    const bool known = carom_model_unit(m, name, false, unit, sizeof unit) && strcmp(unit, "1") != 0;
    cli_print("  %-20s %.12g%s%s\n", name, value, known ? " " : "", known ? unit : "");
}

static void parameters(const carom_model *m, int n) {
    if (n) puts("\nparameters");
    for (int i = 0; i < n; ++i) {
        double value = NAN;
        const char *name = carom_model_parameter(m, i, &value);
        put_value(m, name, value);
    }
}

// Those that are set from outside, with their values at the start; those that follow a signal.
static void inputs(const carom_model *m) {
    const char *name;
    double value;
    if (carom_model_input(m, 0, &value) || carom_model_following(m, 0)) puts("\ninputs");
    for (int i = 0; (name = carom_model_input(m, i, &value)); ++i) put_value(m, name, value);
    for (int i = 0; (name = carom_model_following(m, i)); ++i) cli_print("  %-20s follows its signal\n", name);
}

static void coordinates(const carom_model *m, int n) {
    const double *q = carom_model_q0(m), *v = carom_model_v0(m);
    const carom_system *sys = carom_model_system(m);
    if (sys->nq == sys->nv) {
        bool any = false;
        for (int i = 0; i < n; ++i) any = any || carom_model_recorded(m, i);
        if (any) puts("\ncoordinates            at              rate");
        for (int i = 0; i < n; ++i)
            if (carom_model_recorded(m, i))
                cli_print("  %-20s %-15.9g %.9g\n", carom_model_coordinate(m, i), q[i], v[i]);
        return;
    }
    puts("\npositions              at");
    for (int i = 0; i < n; ++i)
        if (carom_model_recorded(m, i)) cli_print("  %-20s %.9g\n", carom_model_coordinate(m, i), q[i]);
    puts("\nvelocities             at the start");
    for (int i = 0; i < sys->nv; ++i)
        if (carom_model_velocity_recorded(m, i) && !carom_model_state(m, i))
            cli_print("  %-20s %.9g\n", carom_model_velocity(m, i), v[i]);
}

static void states(const carom_model *m) {
    const carom_system *sys = carom_model_system(m);
    if (sys->nstates) puts("\nstates                 at the start");
    for (int i = sys->first_state; i < sys->first_state + sys->nstates; ++i)
        put_value(m, carom_model_velocity(m, i), carom_model_v0(m)[i]);
}

static void members(const carom_model *m, int n) {
    if (n) puts("\nflexible members       unknowns        elements        length");
    for (int i = 0; i < n; ++i) {
        const carom_model_member b = carom_model_member_at(m, i);
        const int elements = carom_member_field_rows(b.flex, CAROM_FIELD_STRESS);
        if (carom_member_kind_of(b.flex) == CAROM_MATRICES)
            cli_print("  %-20s %-15d matrices\n", b.name, carom_member_unknowns(b.flex));
        else cli_print("  %-20s %-15d %-15d %.9g\n", b.name, carom_member_unknowns(b.flex), elements,
               carom_member_field_place(b.flex, CAROM_FIELD_DISPLACEMENT, elements));
    }
}

static void put_law(const char *name, const carom_contact *k) {
    if (k->varies) cli_print("  %-20s %-15s ", name, "varies");
    else cli_print("  %-20s %-15.9g ", name, k->restitution);
    char friction[40] = "varies";
    if (!k->friction_varies) snprintf(friction, sizeof friction, "%.9g", k->friction);
    if (k->tangents)
        printf("%-15s %d direction%s, restitution %g\n", friction, k->tangents, k->tangents == 1 ? "" : "s",
               k->tangential_restitution);
    else puts("none");
}

static void contacts(const carom_model *m) {
    const carom_system *sys = carom_model_system(m);
    const carom_contact *law;
    const int nc = sys->nc - sys->listed;
    const char *entry;
    bool alike;
    if (nc || sys->listed) puts("\ncontacts               restitution     friction        tangential");
    for (int c = 0; c < nc; ++c) put_law(carom_model_constraint(m, sys->ne + c), &sys->contacts[c]);
    for (int i = 0; (entry = carom_model_list_entry(m, i, &law, &alike)); ++i) // each stands for all of its pairs
        if (law && alike) put_law(entry, law);
        else cli_print("  %-20s %s\n", entry, law ? "by materials" : "compliant");
    if (sys->ne) puts("\nconstraints            equations");
    for (int id = 0, n; id < sys->ne; id += n) {
        for (n = 1; id + n < sys->ne && strcmp(carom_model_constraint(m, id + n), carom_model_constraint(m, id)) == 0;)
            ++n;
        cli_print("  %-20s %d\n", carom_model_constraint(m, id), n);
    }
}

static void simulation(const carom_model *m) {
    const carom_model_run run = carom_model_simulation(m);
    cli_print("\nsimulation\n  scheme               %s\n", run.scheme ? run.scheme : "not given");
    for (int i = 0; run.options && run.options[i]; ++i) cli_print("  option               %s\n", run.options[i]);
    if (!isnan(run.step)) printf("  step                 %.12g\n", run.step);
    if (!isnan(run.end)) printf("  end                  %.12g\n", run.end);
}

static void info_model(const char *file, const carom_model *m) {
    const carom_model_sizes n = carom_model_count(m);
    const char *name = carom_model_name(m);
    const int nstates = carom_model_system(m)->nstates;
    const struct {
        int n;
        const char *word;
    } counts[] = {{n.coordinates - nstates, n.coordinates == n.velocities ? "coordinate" : "position"},
                  {n.contacts, "contact"},
                  {n.constraints, "constraint"},
                  {n.parameters, "parameter"},
                  {n.outputs, "output"},
                  {n.checks, "check"}};
    cli_print("%s: %s\n", file, name ? name : "a model");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
        printf("%s%d %s%s", i ? ", " : "", counts[i].n, counts[i].word, counts[i].n == 1 ? "" : "s");
    if (nstates) printf(", %d state%s", nstates, nstates == 1 ? "" : "s");
    puts(n.exact ? ", exact solution" : "");
    parameters(m, n.parameters);
    inputs(m);
    coordinates(m, n.coordinates);
    states(m);
    members(m, n.members);
    contacts(m);
    if (n.outputs) puts("\noutputs");
    for (int i = 0; i < n.outputs; ++i) cli_print("  %s\n", carom_model_output(m, i));
    simulation(m);
}

// -- results ------------------------------------------------------------------------------------------

static void attributes(const carom_result *r) {
    for (int i = 0; carom_result_attribute(r, i); ++i) {
        const char *name = carom_result_attribute(r, i), *text = carom_result_text(r, name);
        double x = NAN;
        if (text && !text[0]) continue;
        cli_print("  %-20s ", name);
        for (const char *s = text; s && *s; s += strcspn(s, "\n"), s += *s == '\n') // lines of a text on one
            cli_print("%.*s%s", (int)strcspn(s, "\n"), s, s[strcspn(s, "\n")] ? " " : "");
        if (!text && carom_result_number(r, name, &x)) printf("%.12g", x);
        putchar('\n');
    }
}

static void columns(const carom_result *r) {
    int at = 0;
    fputs("\ncolumns", stdout);
    for (int i = 0; i < carom_result_columns(r); ++i) {
        const char *name = carom_result_column(r, i);
        if (i == 0 || at + 2 + (int)strlen(name) > 100) fputs("\n ", stdout), at = 1;
        cli_print(" %s", name);
        at += 1 + (int)strlen(name);
    }
    putchar('\n');
}

static bool span(carom_result *r, carom_error *err) {
    const long rows = carom_result_rows(r);
    printf("\n%ld rows, %d columns", rows, carom_result_columns(r));
    if (rows > 0) {
        double from = NAN, to = NAN;
        if (carom_result_read(r, 0, 0, 1, &from, err) != CAROM_OK ||
            carom_result_read(r, 0, rows - 1, 1, &to, err) != CAROM_OK)
            return false;
        printf(", t = %.12g .. %.12g", from, to);
    }
    putchar('\n');
    return true;
}

// Snapshots of contacts: how many rows, and from when on.
static bool snapshots(carom_result *r, carom_error *err) {
    const long n = carom_result_contact_count(r);
    carom_result_contact ends[2];
    if (n == 0) return true;
    if (carom_result_contacts(r, 0, 1, &ends[0], err) != CAROM_OK ||
        carom_result_contacts(r, n - 1, 1, &ends[1], err) != CAROM_OK)
        return false;
    printf("%ld row%s of contacts, t = %.12g .. %.12g\n", n, n == 1 ? "" : "s", ends[0].t, ends[1].t);
    return true;
}

static bool events(carom_result *r, carom_error *err) {
    enum { BLOCK = 1024, KINDS = 6 }; // events read at once: chosen, little memory; kinds of events
    carom_result_event *e = malloc(sizeof *e * BLOCK);
    long count[KINDS] = {0}, total = carom_result_event_count(r);
    bool good = e != NULL;
    for (long at = 0; good && at < total; at += BLOCK) {
        const long n = total - at < BLOCK ? total - at : BLOCK;
        good = carom_result_events(r, at, n, e, err) == CAROM_OK;
        for (long i = 0; good && i < n; ++i)
            for (int k = 0; k < KINDS; ++k) count[k] += strcmp(e[i].kind, carom_event_word((carom_event_kind)k)) == 0;
    }
    free(e);
    if (!good) return false;
    printf("\n%ld event%s", total, total == 1 ? "" : "s");
    for (int k = 0, first = 1; k < KINDS; ++k)
        if (count[k])
            printf("%s%s %ld", first ? ": " : ", ", carom_event_word((carom_event_kind)k), count[k]), first = 0;
    putchar('\n');
    return true;
}

static int info_result(const char *file) {
    carom_error err = {0};
    carom_result *r = carom_result_open(file, &err);
    bool good = r != NULL;
    if (good) {
        cli_print("%s: result of carom\n", file);
        attributes(r);
        good = span(r, &err);
    }
    if (good) {
        columns(r);
        good = events(r, &err) && snapshots(r, &err);
    }
    carom_ledger l;
    carom_ledger_names names;
    if (good && carom_result_ledger(r, &l, &names)) {
        puts("\nledger");
        carom_ledger_print(stdout, &l, names);
    }
    carom_result_close(r);
    if (!good) cli_say("%s", err.text);
    return good ? CLI_DONE : CLI_USAGE;
}

// A sweep: its columns, how its runs ended.
static int info_sweep(const char *file) {
    carom_table t;
    carom_error err;
    if (carom_table_read(file, "runs", &t, &err) != CAROM_OK) return cli_say("%s", err.text), CLI_FAILED;
    const carom_column *status = carom_table_column(&t, "status"), *message = carom_table_column(&t, "message");
    long failed = 0, first = -1;
    for (long k = 0; status && status->integer && k < t.rows; ++k)
        if (status->integer[k] != 0 && failed++ == 0) first = k;
    cli_print("%s: a sweep of %ld runs, %ld failed\ncolumns:", file, t.rows, failed);
    for (int i = 0; i < t.columns; ++i) cli_print("%s %s", i ? "," : "", t.column[i].name);
    if (first >= 0 && message && message->text) cli_print("\nrun %ld: %s", first, message->text[first]);
    carom_table_free(&t);
    if (carom_table_probe(file, "section") && carom_table_read(file, "section", &t, &err) == CAROM_OK) {
        printf("\n%ld section points", t.rows);
        carom_table_free(&t);
    }
    puts("\n`carom plot` draws it");
    return CLI_DONE;
}

// A branch: its columns, and whether something is left to do.
static int info_branch(const char *file, const char *table) {
    carom_table t;
    carom_error err;
    if (carom_table_read(file, table, &t, &err) != CAROM_OK) return cli_say("%s", err.text), CLI_FAILED;
    cli_print("%s: a %s of %ld points\ncolumns:", file, table, t.rows);
    for (int i = 0; i < t.columns; ++i) cli_print("%s %s", i ? "," : "", t.column[i].name);
    carom_table_free(&t);
    if (carom_table_probe(file, "queue") && carom_table_read(file, "queue", &t, &err) == CAROM_OK) {
        if (t.rows > 0) fputs("\nnot complete: continue with `carom follow --resume`", stdout);
        carom_table_free(&t);
    }
    puts("\n`carom plot` draws it");
    return CLI_DONE;
}

static int run(const cli_args *a) {
    if (carom_table_probe(a->word[0], "runs")) return info_sweep(a->word[0]);
    if (carom_table_probe(a->word[0], "branch")) return info_branch(a->word[0], "branch");
    if (carom_table_probe(a->word[0], "curve")) return info_branch(a->word[0], "curve");
    if (carom_result_probe(a->word[0])) return info_result(a->word[0]);
    cli_source s;
    const bool good = cli_source_model(&s, a);
    if (good) info_model(a->word[0], s.model);
    cli_source_free(&s);
    return good ? CLI_DONE : CLI_USAGE;
}

const cli_verb cli_info = {.name = "info",
                           .arguments = "FILE",
                           .about = "summarise a model, result or sweep",
                           .least = 1,
                           .most = 1,
                           .options = options,
                           .run = run};
