// cmd_merge.c: carom merge: join the parts of a sweep.
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"
#include "io/table.h"
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"out", 'o', "FILE", "the whole sweep: .h5 or .csv", false},
    {NULL, 0, NULL, NULL, false},
};

// One table of all parts: rows in the order of their runs.
typedef struct part { const char *file; carom_table t; long at; } part;

static bool same_columns(const part *a, const part *b) {
    bool same = a->t.columns == b->t.columns;
    for (int i = 0; same && i < a->t.columns; ++i)
        same = a->t.column[i].kind == b->t.column[i].kind && strcmp(a->t.column[i].name, b->t.column[i].name) == 0;
    if (!same) cli_say("%s and %s are not parts of one sweep: their columns differ", a->file, b->file);
    return same;
}

static void copy_row(carom_table *to, long k, carom_table *from, long row) {
    for (int i = 0; i < to->columns; ++i) {
        carom_column *c = &to->column[i], *d = &from->column[i];
        if (c->kind == CAROM_COLUMN_REAL) c->real[k] = d->real[row];
        else if (c->kind == CAROM_COLUMN_INTEGER) c->integer[k] = d->integer[row];
        else c->text[k] = d->text[row], d->text[row] = NULL;
    }
}

static bool gather(part *parts, int n, bool once, carom_table *whole) {
    long rows = 0;
    carom_error err;
    for (int i = 0; i < n; ++i) {
        if (i > 0 && !same_columns(&parts[0], &parts[i])) return false;
        rows += parts[i].t.rows;
        if (parts[i].t.columns < 1 || strcmp(parts[i].t.column[0].name, "run") != 0 ||
            parts[i].t.column[0].kind != CAROM_COLUMN_INTEGER)
            return cli_say("%s is not a sweep", parts[i].file), false;
    }
    *whole = (carom_table){.name = strdup(parts[0].t.name),
                           .columns = parts[0].t.columns,
                           .column = calloc((size_t)parts[0].t.columns, sizeof *whole->column)};
    if (!whole->name || !whole->column) abort();
    for (int i = 0; i < whole->columns; ++i) {
        whole->column[i] = (carom_column){.name = strdup(parts[0].t.column[i].name), .kind = parts[0].t.column[i].kind};
        if (!whole->column[i].name) abort();
    }
    if (carom_table_reserve(whole, rows, &err) != CAROM_OK) return cli_say("%s", err.text), false;
    for (long k = 0, last = -1; k < rows; ++k) {
        int next = -1;
        for (int i = 0; i < n; ++i)
            if (parts[i].at < parts[i].t.rows && (next < 0 || parts[i].t.column[0].integer[parts[i].at] <
                                                                  parts[next].t.column[0].integer[parts[next].at]))
                next = i;
        const long run = (long)parts[next].t.column[0].integer[parts[next].at];
        if (once && run == last)
            return cli_say("run %ld occurs in two parts, one of them %s", run, parts[next].file), false;
        if (once && run != last + 1) return cli_say("run %ld is missing from all parts", last + 1), false;
        last = run;
        copy_row(whole, k, &parts[next].t, parts[next].at++);
    }
    return true;
}

static bool merge(const cli_args *a, const char *name, bool once, carom_table *whole) {
    part *parts = calloc((size_t)a->n, sizeof *parts);
    carom_error err;
    bool good = parts != NULL;
    for (int i = 0; good && i < a->n; ++i) {
        parts[i].file = a->word[i];
        good = carom_table_read(a->word[i], name, &parts[i].t, &err) == CAROM_OK;
        if (!good) cli_say("%s", err.text);
    }
    good = good && gather(parts, a->n, once, whole);
    for (int i = 0; parts && i < a->n; ++i) carom_table_free(&parts[i].t);
    free(parts);
    return good;
}

// Do the parts hold all runs of their sweep?
static bool complete(const cli_args *a, long rows) {
    char *text = carom_table_note_read(a->word[0], "runs");
    const long runs = text ? strtol(text, NULL, 10) : 0;
    free(text);
    if (rows < runs) cli_say("the sweep has %ld runs, the parts only the first %ld", runs, rows);
    return rows >= runs;
}

static int run(const cli_args *a) {
    const char *out = cli_value(a, "out");
    if (!out || (!carom_ends(out, ".h5") && !carom_ends(out, ".csv")))
        return cli_say("merge needs -o FILE.h5 or -o FILE.csv"), CLI_USAGE;
    for (int i = 0; i < a->n; ++i)
        if (!carom_ends(a->word[i], ".h5"))
            return cli_say("%s: parts are .h5 files; write them with `carom sweep --part I/N --out PART.h5`",
                           a->word[i]),
                   CLI_USAGE;
    if (!cli_writable(out)) return CLI_USAGE;
    carom_table tables[2] = {{0}, {0}};
    int n = 1;
    bool good = merge(a, "runs", true, &tables[0]) && complete(a, tables[0].rows);
    if (good && carom_table_probe(a->word[0], "section")) n = 2, good = merge(a, "section", false, &tables[1]);
    int code = good ? CLI_DONE : CLI_USAGE;
    carom_error err;
    char runs[32];
    snprintf(runs, sizeof runs, "%ld", tables[0].rows);
    const carom_table_note notes[] = {{"carom", CAROM_VERSION}, {"kind", "sweep"}, {"runs", runs}};
    const carom_table_units units = {carom_table_unit_read, a->word[0]};
    if (good && carom_tables_write_units(out, tables, n, notes, 3, &units, &err) != CAROM_OK)
        cli_say("%s", err.text), code = CLI_FAILED;
    if (code == CLI_DONE) cli_print("%ld runs in %s\n", tables[0].rows, out);
    for (int i = 0; i < 2; ++i) carom_table_free(&tables[i]);
    return code;
}

const cli_verb cli_merge = {
    .name = "merge",
    .arguments = "PART...",
    .least = 1,
    .most = 1000000,
    .options = options,
    .run = run,
    .about = "join the parts of a sweep",
    .text = "PART are the files that `carom sweep --part I/N` wrote; every run must be in exactly one of them."};
