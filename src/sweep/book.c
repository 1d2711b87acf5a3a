// book.c: the rows of a sweep, kept in memory and in a journal, and the tables they make in the end.
//
// The journal is a file of records, appended as runs end: length, bytes, checksum.  What a sweep that was killed leaves
// is read up to the first record that is not whole; the rest is cut off.  It begins with a text of the caller that says
// what the sweep is.
#define _POSIX_C_SOURCE 200809L
#include "base/missing.h"
#include "io/table.h"
#include "sweep/book.h"
#include "sweep/shards.h"
#include "sweep/sweep.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char MAGIC[16] = "carom sweep 2\n\n";
enum { LARGEST = 1 << 30 }; // bytes of a record

struct carom_journal {
    const carom_sweep *s;
    unsigned char **row; // by run: its record; NULL: not there
    long rows, failed, points;
    FILE *f;   // NULL: no journal
    char *file;
    bool trouble;
};

static uint64_t checksum(const void *bytes, size_t count) { // FNV-1a
    uint64_t h = 14695981039346656037u;
    for (const unsigned char *b = bytes, *end = b + count; b < end; ++b) h = (h ^ *b) * 1099511628211u;
    return h;
}

// -- records ---------------------------------------------------------------------------------------------------------

static bool put_record(FILE *f, const void *bytes, size_t n) {
    const uint64_t length = n, sum = checksum(bytes, n);
    return fwrite(&length, sizeof length, 1, f) == 1 && (n == 0 || fwrite(bytes, n, 1, f) == 1) &&
           fwrite(&sum, sizeof sum, 1, f) == 1;
}

// The next record, to be freed; NULL: there is none that is whole.
static unsigned char *get_record(FILE *f, size_t *n) {
    uint64_t length = 0, sum = 0;
    if (fread(&length, sizeof length, 1, f) != 1 || length > LARGEST) return NULL;
    unsigned char *bytes = malloc((size_t)length + 1);
    if (!bytes) return NULL;
    if ((length == 0 || fread(bytes, (size_t)length, 1, f) == 1) && fread(&sum, sizeof sum, 1, f) == 1 &&
        sum == checksum(bytes, (size_t)length)) {
        bytes[length] = 0;
        *n = (size_t)length;
        return bytes;
    }
    free(bytes);
    return NULL;
}

// A row as bytes: head; numbers observed, at section points, at the end; message with its final 0.
typedef struct head { int64_t run, status, points, message; } head; // message: bytes

static size_t numbers(const carom_sweep *s, long points) {
    return (size_t)s->nobserve + (size_t)points * (1 + (size_t)s->nobserve) + (size_t)carom_sweep_state(s);
}

unsigned char *carom_row_pack(const carom_sweep *s, const carom_sweep_row *row, size_t *n) {
    if (!s || !row || !n) return NULL;
    const head h = {row->run, row->status, row->points, (int64_t)strlen(row->message) + 1};
    const size_t observed = (size_t)s->nobserve, points = (size_t)row->points * (1 + observed),
                 state = (size_t)carom_sweep_state(s);
    *n = sizeof h + (observed + points + state) * sizeof(double) + (size_t)h.message;
    unsigned char *bytes = malloc(*n);
    if (!bytes) return NULL;
    double *x = (double *)(void *)(bytes + sizeof h);
    memcpy(bytes, &h, sizeof h);
    if (observed) memcpy(x, row->observed, observed * sizeof *x);
    if (points) memcpy(x + observed, row->section, points * sizeof *x);
    memcpy(x + observed + points, row->end, state * sizeof *x);
    memcpy(x + observed + points + state, row->message, (size_t)h.message);
    return bytes;
}

bool carom_row_unpack(const carom_sweep *s, const unsigned char *bytes, size_t n, carom_sweep_row *row) {
    head h;
    if (n < sizeof h) return false;
    memcpy(&h, bytes, sizeof h);
    if (h.run < 0 || h.run >= s->runs || h.points < 0 || h.points >= LARGEST || h.message < 1 || h.message >= LARGEST)
        return false;
    const size_t count = numbers(s, (long)h.points);
    if (n != sizeof h + count * sizeof(double) + (size_t)h.message || bytes[n - 1] != 0) return false;
    const double *x = (const double *)(const void *)(bytes + sizeof h), *end = x + count - (size_t)carom_sweep_state(s);
    *row = (carom_sweep_row){.run = (long)h.run,
                             .status = (int)h.status,
                             .points = (long)h.points,
                             .message = (const char *)(x + count),
                             .observed = x,
                             .section = x + s->nobserve,
                             .end = end};
    return true;
}

// -- rows in memory ---------------------------------------------------------------------------------------------------

// The row of a run that is there.
static carom_sweep_row row_of(const carom_journal *b, long run) {
    carom_sweep_row r;
    head h;
    memcpy(&h, b->row[run], sizeof h);
    carom_row_unpack(b->s, b->row[run], sizeof h + numbers(b->s, (long)h.points) * sizeof(double) + (size_t)h.message,
                     &r);
    return r;
}

// The book owns the record from here on.
static void keep(carom_journal *b, const carom_sweep_row *r, unsigned char *record) {
    if (b->row[r->run]) { // added twice: the first one counts
        free(record);
        return;
    }
    b->row[r->run] = record;
    b->rows += 1;
    b->points += r->points;
    b->failed += r->status != 0;
}

bool carom_journal_add(carom_journal *b, const carom_sweep_row *row) {
    if (!b || !row) return false;
    size_t n = 0;
    unsigned char *record = carom_row_pack(b->s, row, &n);
    const bool good = record && (!b->f || put_record(b->f, record, n));
    if (record) keep(b, row, record);
    b->trouble = b->trouble || !good;
    return good;
}

// -- the journal ------------------------------------------------------------------------------------------------------

static carom_journal *empty(const char *file, carom_error *err) {
    carom_journal *b = calloc(1, sizeof *b);
    if (b && file) b->file = strdup(file);
    if (b && (!file || b->file)) return b;
    free(b);
    carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a sweep");
    return NULL;
}

carom_journal *carom_journal_create(const char *file, const void *definition, size_t length, carom_error *err) {
    if (!definition) return CAROM_MISSING(err), NULL;
    carom_journal *b = empty(file, err);
    if (!b || !file) return b;
    b->f = fopen(file, "wbx");
    if (b->f && fwrite(MAGIC, sizeof MAGIC, 1, b->f) == 1 && put_record(b->f, definition, length) && fflush(b->f) == 0)
        return b;
    if (!b->f && errno == EEXIST)
        carom_fail(err, CAROM_BAD_INPUT, "%.400s exists: a sweep was interrupted; continue with `resume`, or remove it",
                   file);
    else carom_fail(err, CAROM_IO, "cannot create %.400s: %s", file, strerror(errno));
    if (b->f) unlink(file);
    carom_journal_destroy(b);
    return NULL;
}

carom_journal *carom_journal_open(const char *file, char **definition, size_t *length, carom_error *err) {
    char magic[sizeof MAGIC] = "";
    if (!file || !definition || !length)
        return carom_fail(err, CAROM_BAD_INPUT, "the name of a journal, or a place for its definition, is missing"),
               NULL;
    carom_journal *b = empty(file, err);
    if (!b) return NULL;
    b->f = fopen(file, "rb+");
    const bool ours = b->f && fread(magic, sizeof magic, 1, b->f) == 1 && memcmp(magic, MAGIC, sizeof magic) == 0;
    *definition = ours ? (char *)get_record(b->f, length) : NULL;
    if (*definition) return b;
    if (!b->f) carom_fail(err, CAROM_IO, "cannot open %.400s: %s", file, strerror(errno));
    else carom_fail(err, CAROM_BAD_INPUT, "%.400s is not the journal of a sweep, or its beginning is damaged", file);
    carom_journal_destroy(b);
    return NULL;
}

// Rows that are in the journal; behind the last whole one it is cut.
static carom_status read_rows(carom_journal *b, carom_sweep *s, carom_error *err) {
    long good = ftell(b->f);
    for (;;) {
        size_t n = 0;
        carom_sweep_row r;
        unsigned char *record = get_record(b->f, &n);
        if (!record || !carom_row_unpack(s, record, n, &r)) {
            free(record);
            break;
        }
        carom_sweep_skip(s, r.run, r.end);
        keep(b, &r, record);
        good = ftell(b->f);
    }
    if (fseek(b->f, good, SEEK_SET) != 0 || ftruncate(fileno(b->f), good) != 0)
        return carom_fail(err, CAROM_IO, "cannot write %.400s: %s", b->file, strerror(errno));
    return CAROM_OK;
}

carom_status carom_journal_bind(carom_journal *b, carom_sweep *s, carom_error *err) {
    if (!b || !s) return CAROM_MISSING(err);
    b->s = s;
    b->row = calloc((size_t)s->runs, sizeof *b->row);
    if (!b->row) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %ld runs", s->runs);
    return b->f ? read_rows(b, s, err) : CAROM_OK;
}

carom_status carom_journal_flush(carom_journal *b, carom_error *err) {
    if (!b) return CAROM_MISSING(err);
    if (b->trouble || (b->f && fflush(b->f) != 0)) {
        b->trouble = true;
        return carom_fail(err, CAROM_IO, "cannot write %.400s: %s", b->file ? b->file : "rows", strerror(errno));
    }
    return CAROM_OK;
}

long carom_journal_rows(const carom_journal *b) { return b ? b->rows : 0; }
long carom_journal_failed(const carom_journal *b) { return b ? b->failed : 0; }

bool carom_journal_row(const carom_journal *b, long run, carom_sweep_row *row) {
    if (!b || !row) return false;
    if (b->row[run]) *row = row_of(b, run);
    return b->row[run] != NULL;
}

const char *carom_journal_message(const carom_journal *b, long *run) {
    if (!b || !run) return NULL;
    for (long k = 0; k < b->s->runs; ++k)
        if (b->row[k] && row_of(b, k).status != 0) return *run = k, row_of(b, k).message;
    return NULL;
}

void carom_journal_remove(carom_journal *b) {
    if (!b) return;
    if (!b->f) return;
    fclose(b->f);
    b->f = NULL;
    unlink(b->file);
}

void carom_journal_destroy(carom_journal *b) {
    if (!b) return;
    if (b->f) fclose(b->f);
    for (long k = 0; b->row && k < b->s->runs; ++k) free(b->row[k]);
    free(b->row);
    free(b->file);
    free(b);
}

// -- tables -----------------------------------------------------------------------------------------------------------

static bool add_column(carom_table *t, const char *name, carom_column_kind kind) {
    t->column[t->columns].name = strdup(name);
    t->column[t->columns].kind = kind;
    return t->column[t->columns++].name != NULL;
}

// run, what is varied, direction, status, message, what is observed.
static carom_status runs_table(const carom_journal *b, carom_table *t, carom_error *err) {
    const carom_sweep *s = b->s;
    const bool follow = s->def.follow != CAROM_FOLLOW_NONE;
    *t = (carom_table){.name = strdup("runs"),
                       .column = calloc((size_t)s->nvary + (size_t)s->nobserve + 8, sizeof *t->column)};
    double *value = calloc((size_t)s->nvary + 1, sizeof *value);
    bool good = t->name && t->column && value && add_column(t, "run", CAROM_COLUMN_INTEGER);
    for (int i = 0; good && i < s->nvary; ++i)
        good = add_column(t, s->vary[i].name, s->vary[i].word ? CAROM_COLUMN_TEXT : CAROM_COLUMN_REAL);
    good = good && (!follow || add_column(t, "direction", CAROM_COLUMN_TEXT)) &&
           add_column(t, "status", CAROM_COLUMN_INTEGER) && add_column(t, "message", CAROM_COLUMN_TEXT);
    for (int i = 0; good && i < s->nobserve; ++i) good = add_column(t, s->observe[i], CAROM_COLUMN_REAL);
    good = good && carom_table_reserve(t, b->rows, err) == CAROM_OK;
    for (long run = 0, k = 0; good && run < s->runs; ++run) {
        if (!b->row[run]) continue;
        const carom_sweep_row r = row_of(b, run);
        const int direction = carom_sweep_values(s, run, value);
        carom_column *c = t->column;
        (c++)->integer[k] = run;
        for (int i = 0; i < s->nvary; ++i, ++c) {
            if (s->vary[i].word) good = (c->text[k] = strdup(s->vary[i].word[(long)value[i]])) && good;
            else c->real[k] = value[i];
        }
        if (follow) good = ((c++)->text[k] = strdup(direction < 0 ? "down" : "up")) && good;
        (c++)->integer[k] = r.status;
        good = ((c++)->text[k] = strdup(r.message)) && good;
        for (int i = 0; i < s->nobserve; ++i) (c++)->real[k] = r.observed[i];
        ++k;
    }
    free(value);
    return good ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the table of %ld runs", b->rows);
}

static carom_status section_table(const carom_journal *b, carom_table *t, carom_error *err) {
    const carom_sweep *s = b->s;
    *t = (carom_table){.name = strdup("section"), .column = calloc((size_t)s->nobserve + 4, sizeof *t->column)};
    bool good =
        t->name && t->column && add_column(t, "run", CAROM_COLUMN_INTEGER) && add_column(t, "t", CAROM_COLUMN_REAL);
    for (int i = 0; good && i < s->nobserve; ++i) good = add_column(t, s->observe[i], CAROM_COLUMN_REAL);
    good = good && carom_table_reserve(t, b->points, err) == CAROM_OK;
    for (long run = 0, k = 0; good && run < s->runs; ++run) {
        if (!b->row[run]) continue;
        const carom_sweep_row r = row_of(b, run);
        for (long p = 0; p < r.points; ++p, ++k) {
            const double *x = r.section + p * (1 + s->nobserve);
            t->column[0].integer[k] = run;
            for (int i = 0; i <= s->nobserve; ++i) t->column[1 + i].real[k] = x[i];
        }
    }
    return good ? CAROM_OK
                : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the table of %ld section points", b->points);
}

carom_status carom_journal_tables(const carom_journal *b, carom_table tables[2], int *n, carom_error *err) {
    if (!b || !tables || !n) return CAROM_MISSING(err);
    carom_error own;
    if (!err) err = &own;
    tables[0] = tables[1] = (carom_table){0};
    *n = 1;
    carom_status status = runs_table(b, &tables[0], err);
    if (status == CAROM_OK && b->s->section.kind != SECTION_NONE) {
        *n = 2;
        status = section_table(b, &tables[1], err);
    }
    for (; status != CAROM_OK && *n > 0; --*n) carom_table_free(&tables[*n - 1]);
    return status;
}
