// result.c: reading results, in memory or in files.
#define _POSIX_C_SOURCE 200809L
#include "base/missing.h"
#include "base/text.h"
#include "sim/ledger.h"
#include "io/recording.h"
#include "io/result.h"
#include "mech/mech.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool carom_result_probe(const char *file) {
    if (!file) return false;
    if (carom_ends(file, ".csv")) return true;
    static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[8] = {0};
    struct stat st;
    // looking into a pipe would wait, and take its first bytes
    if (stat(file, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    if (carom_ends(file, ".h5")) return true; // without the mark: a damaged one
    FILE *f = fopen(file, "rb");
    const bool same = f && fread(head, 1, sizeof head, f) == sizeof head && memcmp(head, mark, sizeof mark) == 0;
    if (f) fclose(f);
    return same;
}

// Of equal names the first comes first.
static int by_name(const void *a, const void *b) {
    char *const *x = *(char *const *const *)a, *const *y = *(char *const *const *)b;
    const int order = strcmp(*x, *y);
    return order ? order : (x > y) - (x < y);
}

static int same_name(const void *name, const void *place) { return strcmp(name, **(char *const *const *)place); }

// Columns by name, where looking at one after the other takes long; without memory that is done all the same.
static void sort_names(carom_result *r) {
    enum { FEW = 64 };
    const int n = r->table.columns;
    r->by_name = n > FEW ? malloc((size_t)n * sizeof *r->by_name) : NULL;
    for (int i = 0; r->by_name && i < n; ++i) r->by_name[i] = &r->table.column[i];
    if (r->by_name) qsort(r->by_name, (size_t)n, sizeof *r->by_name, by_name);
}

carom_result *carom_result_open(const char *file, carom_error *err) {
    if (!file) return carom_fail(err, CAROM_BAD_INPUT, "a result needs a file name"), NULL;
    carom_result *r = calloc(1, sizeof *r);
    if (r) r->h5 = r->data = r->event_set = r->contact_set = -1, r->file = strdup(file);
    if (!r || !r->file) {
        free(r);
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory to read %.400s", file);
        return NULL;
    }
    struct stat st;
    carom_status status = CAROM_OK;
    if (carom_ends(file, ".csv")) {
        status = csv_read(&r->table, file, err);
        if (status == CAROM_OK) status = csv_read_events(file, &r->event, &r->events, err);
        if (status == CAROM_OK) status = csv_read_contacts(file, &r->contact, &r->contacts, err);
    } else if (stat(file, &st) == 0 && !S_ISREG(st.st_mode)) {
        status = carom_fail(err, CAROM_BAD_INPUT, "cannot read a result from %.400s: it is not a regular file", file);
    } else {
        status = result_h5_open(r, err);
    }
    if (status == CAROM_OK) sort_names(r);
    if (status != CAROM_OK) {
        carom_result_close(r);
        return NULL;
    }
    return r;
}

void carom_result_close(carom_result *r) {
    if (!r) return;
    result_h5_close(r);
    result_drop_attributes(r->run, &r->nrun);
    result_drop_attributes(r->ledger, &r->nledger);
    csv_free(&r->table);
    free(r->by_name);
    free(r->event);
    free(r->contact);
    free(r->model);
    carom_mech_destroy(r->mech);
    result_drop_matrices(r);
    free(r->file);
    free(r);
}

bool carom_result_unit(carom_result *r, const char *column, char *text, size_t size) {
    if (!r) return false;
    carom_error err;
    if (!r->mech && r->model) r->mech = carom_mech_read(r->model, r->model_length, r->file ? r->file : "model", &err);
    return r->mech && carom_mech_unit(r->mech, column, text, size);
}

int carom_result_columns(const carom_result *r) {
    if (!r) return 0;
    return r->table.columns;
}

const char *carom_result_column(const carom_result *r, int i) {
    if (!r) return NULL;
    return i >= 0 && i < r->table.columns ? r->table.column[i] : NULL;
}

int carom_result_find(const carom_result *r, const char *column) {
    if (!r || !column) return -1;
    if (!r->by_name) {
        for (int i = 0; i < r->table.columns; ++i)
            if (strcmp(r->table.column[i], column) == 0) return i;
        return -1;
    }
    char ***at = bsearch(column, r->by_name, (size_t)r->table.columns, sizeof *r->by_name, same_name);
    while (at && at > r->by_name && strcmp(*at[-1], column) == 0) --at;
    return at ? (int)(*at - r->table.column) : -1;
}

long carom_result_rows(const carom_result *r) {
    if (!r) return 0;
    return r->table.rows;
}

// `columns` columns from this one on.
static carom_status read_block(carom_result *r, int column, int columns, long first, long count, double *out,
                               carom_error *err) {
    if (!r || !out) return carom_fail(err, CAROM_BAD_INPUT, "null result or output buffer");
    const csv_table *t = &r->table;
    if (column < 0 || column >= t->columns || first < 0 || count < 0 || count > t->rows || first > t->rows - count)
        return carom_fail(err, CAROM_BAD_INPUT, "%ld rows of column %d from row %ld on are not in %.400s", count,
                          column, first, r->file);
    if (count == 0) return CAROM_OK;
    if (r->h5 < 0 && !t->value) return csv_rows(t, column, columns, first, count, out, err);
    if (r->h5 < 0) {
        for (long i = 0; i < count; ++i)
            carom_copy(out + (size_t)i * (size_t)columns,
                       t->value + (size_t)(first + i) * (size_t)t->columns + (size_t)column, columns);
        return CAROM_OK;
    }
    return result_h5_rows(r, column, columns, first, count, out, err);
}

carom_status carom_result_read(carom_result *r, int column, long first, long count, double *out, carom_error *err) {
    return read_block(r, column, 1, first, count, out, err);
}

carom_status carom_result_read_rows(carom_result *r, long first, long count, double *out, carom_error *err) {
    return read_block(r, 0, r ? r->table.columns : 0, first, count, out, err);
}

const double *carom_result_values(const carom_result *r) {
    if (!r) return NULL;
    return r->table.value;
}

long carom_result_event_count(const carom_result *r) {
    if (!r) return 0;
    return r->events;
}

// Are these among the n that the result has?
static carom_status among(const carom_result *r, long first, long count, long n, const char *what, carom_error *err) {
    if (!r) return CAROM_MISSING(err);
    if (first >= 0 && count >= 0 && count <= n && first <= n - count) return CAROM_OK;
    return carom_fail(err, CAROM_BAD_INPUT, "%ld %s from number %ld on are not in %.400s", count, what, first, r->file);
}

carom_status carom_result_events(carom_result *r, long first, long count, carom_result_event *out, carom_error *err) {
    CAROM_TRY(among(r, first, count, carom_result_event_count(r), "events", err));
    if (count == 0) return CAROM_OK;
    if (r->h5 < 0) return memcpy(out, r->event + first, sizeof *out * (size_t)count), CAROM_OK;
    return result_h5_events(r, first, count, out, err);
}

long carom_result_contact_count(const carom_result *r) {
    if (!r) return 0;
    return r->contacts;
}

carom_status carom_result_contacts(carom_result *r, long first, long count, carom_result_contact *out,
                                   carom_error *err) {
    CAROM_TRY(among(r, first, count, carom_result_contact_count(r), "contacts", err));
    if (count == 0) return CAROM_OK;
    if (r->h5 < 0) return memcpy(out, r->contact + first, sizeof *out * (size_t)count), CAROM_OK;
    return result_h5_contacts(r, first, count, out, err);
}

static const result_attribute *look(const result_attribute *a, int n, const char *name) {
    for (int i = 0; i < n; ++i)
        if (strcmp(a[i].name, name) == 0) return &a[i];
    return NULL;
}

const char *carom_result_text(const carom_result *r, const char *name) {
    if (!r || !name) return NULL;
    const result_attribute *a = look(r->run, r->nrun, name);
    return a ? a->text : NULL;
}

bool carom_result_number(const carom_result *r, const char *name, double *value) {
    if (!r || !name) return false;
    const result_attribute *a = look(r->run, r->nrun, name);
    if (!a || a->text) return false;
    *value = a->number;
    return true;
}

const char *carom_result_attribute(const carom_result *r, int i) {
    if (!r) return NULL;
    return i >= 0 && i < r->nrun ? r->run[i].name : NULL;
}

const char *carom_result_model(const carom_result *r, size_t *length) {
    if (!r || !length) return NULL;
    *length = r->model_length;
    return r->model;
}

bool carom_result_ledger(const carom_result *r, carom_ledger *l, carom_ledger_names *names) {
    if (!r || !l || !names) return false;
    *l = (carom_ledger){.penetration_id = -1, .drift_id = -1};
    l->counts.residual_id = -1;
    *names = (carom_ledger_names){0};
    for (const ledger_entry *e = ledger_table; e->name; ++e) {
        const result_attribute *a = look(r->ledger, r->nledger, e->name);
        if (!a || ledger_is_text(e) != (a->text != NULL)) continue;
        if (!ledger_is_text(e))
            ledger_set(l, e, a->number);
        else if (a->text[0])
            *(const char **)((char *)names + e->at) = a->text;
    }
    return r->nledger > 0;
}
