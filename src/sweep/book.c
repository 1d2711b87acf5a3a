// book.c: the rows of a sweep, kept in memory and in a journal, and the tables they make in the end.
//
// The journal is a file of records, appended as runs end: length, bytes, checksum.  What a sweep that was killed leaves is read
// up to the first record that is not whole; the rest is cut off.  It begins with a text of the caller that says what the sweep is.
#define _POSIX_C_SOURCE 200809L
#include "sweep/sweep.h"
#include <carom/book.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char MAGIC[16] = "carom sweep 1\n\n";
enum { LARGEST = 1 << 30 }; // bytes of a record

typedef struct kept {
    bool there;
    int status;
    char *message;
    long points;
    double *x; // observed, section, end: one block
} kept;

struct carom_book {
    const carom_sweep *s;
    kept *row; // by run
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
    return fwrite(&length, sizeof length, 1, f) == 1 && (n == 0 || fwrite(bytes, n, 1, f) == 1) && fwrite(&sum, sizeof sum, 1, f) == 1;
}

// The next record, to be freed; NULL: there is none that is whole.
static unsigned char *get_record(FILE *f, size_t *n) {
    uint64_t length = 0, sum = 0;
    if (fread(&length, sizeof length, 1, f) != 1 || length > LARGEST) return NULL;
    unsigned char *bytes = malloc((size_t)length + 1);
    if (!bytes) return NULL;
    if ((length == 0 || fread(bytes, (size_t)length, 1, f) == 1) && fread(&sum, sizeof sum, 1, f) == 1 && sum == checksum(bytes, (size_t)length)) {
        bytes[length] = 0;
        *n = (size_t)length;
        return bytes;
    }
    free(bytes);
    return NULL;
}

typedef struct head { int64_t run, status, points, message; } head; // message: bytes

static size_t numbers(const carom_sweep *s, long points) {
    return (size_t)s->nobserve + (size_t)points * (1 + (size_t)s->nobserve) + (size_t)carom_sweep_state(s);
}

// -- rows in memory -----------------------------------------------------------------------------------------------------

static bool keep(carom_book *b, const head *h, const char *message, const double *x) {
    if (h->run < 0 || h->run >= b->s->runs || h->points < 0) return false;
    kept *r = &b->row[h->run];
    if (r->there) return true; // told twice: the first one counts
    const size_t n = numbers(b->s, (long)h->points);
    r->x = malloc((n + 1) * sizeof *r->x);
    r->message = malloc((size_t)h->message + 1);
    if (!r->x || !r->message) return false;
    memcpy(r->x, x, n * sizeof *x);
    memcpy(r->message, message, (size_t)h->message);
    r->message[h->message] = 0;
    r->there = true;
    r->status = (int)h->status;
    r->points = (long)h->points;
    b->rows += 1;
    b->points += r->points;
    b->failed += r->status != 0;
    return true;
}

bool carom_book_add(carom_book *b, const carom_sweep_row *row) {
    const carom_sweep *s = b->s;
    const head h = {row->run, row->status, row->points, (int64_t)strlen(row->message)};
    const size_t n = numbers(s, row->points), bytes = sizeof h + (size_t)h.message + n * sizeof(double);
    unsigned char *record = malloc(bytes), *at = record;
    double *x = malloc((n + 1) * sizeof *x);
    bool good = record && x;
    if (good) {
        const size_t points = (size_t)row->points * (1 + (size_t)s->nobserve);
        memcpy(x, row->observed, (size_t)s->nobserve * sizeof *x);
        if (points) memcpy(x + s->nobserve, row->section, points * sizeof *x);
        memcpy(x + (size_t)s->nobserve + points, row->end, (size_t)carom_sweep_state(s) * sizeof *x);
        memcpy(at, &h, sizeof h), at += sizeof h;
        memcpy(at, row->message, (size_t)h.message), at += h.message;
        memcpy(at, x, n * sizeof *x);
        good = keep(b, &h, row->message, x);
        if (good && b->f) good = put_record(b->f, record, bytes);
    }
    free(record);
    free(x);
    b->trouble = b->trouble || !good;
    return good;
}

// -- the journal -------------------------------------------------------------------------------------------------------

static carom_book *empty(const char *file, carom_error *err) {
    carom_book *b = calloc(1, sizeof *b);
    if (b && file) b->file = strdup(file);
    if (b && (!file || b->file)) return b;
    free(b);
    carom_fail(err, CAROM_NO_MEMORY, "no memory for a sweep");
    return NULL;
}

carom_book *carom_book_create(const char *file, const void *definition, size_t length, carom_error *err) {
    carom_book *b = empty(file, err);
    if (!b || !file) return b;
    b->f = fopen(file, "wbx");
    if (b->f && fwrite(MAGIC, sizeof MAGIC, 1, b->f) == 1 && put_record(b->f, definition, length) && fflush(b->f) == 0) return b;
    if (!b->f && errno == EEXIST)
        carom_fail(err, CAROM_BAD_INPUT, "%.400s is there: a sweep was interrupted; go on with --resume, or remove it", file);
    else carom_fail(err, CAROM_IO, "cannot create %.400s: %s", file, strerror(errno));
    if (b->f) unlink(file);
    carom_book_destroy(b);
    return NULL;
}

carom_book *carom_book_open(const char *file, char **definition, size_t *length, carom_error *err) {
    char magic[sizeof MAGIC] = "";
    carom_book *b = empty(file, err);
    if (!b) return NULL;
    b->f = fopen(file, "rb+");
    const bool ours = b->f && fread(magic, sizeof magic, 1, b->f) == 1 && memcmp(magic, MAGIC, sizeof magic) == 0;
    *definition = ours ? (char *)get_record(b->f, length) : NULL;
    if (*definition) return b;
    if (!b->f) carom_fail(err, CAROM_IO, "cannot open %.400s: %s", file, strerror(errno));
    else carom_fail(err, CAROM_BAD_INPUT, "%.400s is not the journal of a sweep, or its beginning is damaged", file);
    carom_book_destroy(b);
    return NULL;
}

// Rows that are in the journal; behind the last whole one it is cut.
static carom_status read_rows(carom_book *b, carom_sweep *s, carom_error *err) {
    long good = ftell(b->f);
    for (;;) {
        size_t n = 0;
        head h;
        unsigned char *record = get_record(b->f, &n);
        bool sound = record && n >= sizeof h;
        if (sound) {
            memcpy(&h, record, sizeof h);
            const size_t doubles = h.points >= 0 && h.points < LARGEST ? numbers(s, (long)h.points) : 0;
            sound = h.message >= 0 && h.message < LARGEST && h.points >= 0 && n == sizeof h + (size_t)h.message + doubles * sizeof(double);
            double *x = sound ? malloc((doubles + 1) * sizeof *x) : NULL;
            sound = x != NULL;
            if (sound) {
                memcpy(x, record + sizeof h + (size_t)h.message, doubles * sizeof *x);
                sound = keep(b, &h, (const char *)record + sizeof h, x);
                if (sound) carom_sweep_skip(s, (long)h.run, x + doubles - (size_t)carom_sweep_state(s));
            }
            free(x);
        }
        free(record);
        if (!sound) break;
        good = ftell(b->f);
    }
    if (fseek(b->f, good, SEEK_SET) != 0 || ftruncate(fileno(b->f), good) != 0)
        return carom_fail(err, CAROM_IO, "cannot write %.400s: %s", b->file, strerror(errno));
    return CAROM_OK;
}

carom_status carom_book_bind(carom_book *b, carom_sweep *s, carom_error *err) {
    b->s = s;
    b->row = calloc((size_t)s->runs, sizeof *b->row);
    if (!b->row) return carom_fail(err, CAROM_NO_MEMORY, "no memory for %ld runs", s->runs);
    return b->f ? read_rows(b, s, err) : CAROM_OK;
}

carom_status carom_book_flush(carom_book *b, carom_error *err) {
    if (b->trouble || (b->f && fflush(b->f) != 0)) {
        b->trouble = true;
        return carom_fail(err, CAROM_IO, "cannot write %.400s: %s", b->file ? b->file : "rows", strerror(errno));
    }
    return CAROM_OK;
}

long carom_book_rows(const carom_book *b) { return b->rows; }
long carom_book_failed(const carom_book *b) { return b->failed; }

const char *carom_book_message(const carom_book *b, long *run) {
    for (long k = 0; k < b->s->runs; ++k)
        if (b->row[k].there && b->row[k].status != 0) return *run = k, b->row[k].message;
    return NULL;
}

void carom_book_remove(carom_book *b) {
    if (!b->f) return;
    fclose(b->f);
    b->f = NULL;
    unlink(b->file);
}

void carom_book_destroy(carom_book *b) {
    if (!b) return;
    if (b->f) fclose(b->f);
    for (long k = 0; b->row && k < b->s->runs; ++k) free(b->row[k].x), free(b->row[k].message);
    free(b->row);
    free(b->file);
    free(b);
}

// -- tables ---------------------------------------------------------------------------------------------------------------

static bool add_column(carom_table *t, const char *name, carom_column_kind kind) {
    t->column[t->columns].name = strdup(name);
    t->column[t->columns].kind = kind;
    return t->column[t->columns++].name != NULL;
}

// run, what is varied, direction, status, message, what is observed.
static carom_status runs_table(const carom_book *b, carom_table *t, carom_error *err) {
    const carom_sweep *s = b->s;
    const bool follow = s->def.follow != CAROM_FOLLOW_NONE;
    *t = (carom_table){.name = strdup("runs"), .column = calloc((size_t)s->nvary + (size_t)s->nobserve + 8, sizeof *t->column)};
    double *value = calloc((size_t)s->nvary + 1, sizeof *value);
    bool good = t->name && t->column && value && add_column(t, "run", CAROM_COLUMN_INTEGER);
    for (int i = 0; good && i < s->nvary; ++i) good = add_column(t, s->vary[i].name, s->vary[i].word ? CAROM_COLUMN_TEXT : CAROM_COLUMN_REAL);
    good = good && (!follow || add_column(t, "direction", CAROM_COLUMN_TEXT)) && add_column(t, "status", CAROM_COLUMN_INTEGER) && add_column(t, "message", CAROM_COLUMN_TEXT);
    for (int i = 0; good && i < s->nobserve; ++i) good = add_column(t, s->observe[i], CAROM_COLUMN_REAL);
    good = good && carom_table_reserve(t, b->rows, err) == CAROM_OK;
    for (long run = 0, k = 0; good && run < s->runs; ++run) {
        const kept *r = &b->row[run];
        if (!r->there) continue;
        const int direction = carom_sweep_values(s, run, value);
        carom_column *c = t->column;
        (c++)->integer[k] = run;
        for (int i = 0; i < s->nvary; ++i, ++c) {
            if (s->vary[i].word) good = good && (c->text[k] = strdup(s->vary[i].word[(long)value[i]]));
            else c->real[k] = value[i];
        }
        if (follow) good = good && ((c++)->text[k] = strdup(direction < 0 ? "down" : "up"));
        (c++)->integer[k] = r->status;
        good = good && ((c++)->text[k] = strdup(r->message));
        for (int i = 0; i < s->nobserve; ++i) (c++)->real[k] = r->x[i];
        ++k;
    }
    free(value);
    return good ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "no memory for the table of %ld runs", b->rows);
}

static carom_status section_table(const carom_book *b, carom_table *t, carom_error *err) {
    const carom_sweep *s = b->s;
    *t = (carom_table){.name = strdup("section"), .column = calloc((size_t)s->nobserve + 4, sizeof *t->column)};
    bool good = t->name && t->column && add_column(t, "run", CAROM_COLUMN_INTEGER) && add_column(t, "t", CAROM_COLUMN_REAL);
    for (int i = 0; good && i < s->nobserve; ++i) good = add_column(t, s->observe[i], CAROM_COLUMN_REAL);
    good = good && carom_table_reserve(t, b->points, err) == CAROM_OK;
    for (long run = 0, k = 0; good && run < s->runs; ++run) {
        const kept *r = &b->row[run];
        for (long p = 0; r->there && p < r->points; ++p, ++k) {
            const double *x = r->x + s->nobserve + p * (1 + s->nobserve);
            t->column[0].integer[k] = run;
            for (int i = 0; i <= s->nobserve; ++i) t->column[1 + i].real[k] = x[i];
        }
    }
    return good ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "no memory for the table of %ld section points", b->points);
}

carom_status carom_book_tables(const carom_book *b, carom_table tables[2], int *n, carom_error *err) {
    *n = 1;
    CAROM_TRY(runs_table(b, &tables[0], err));
    if (b->s->section.kind == SECTION_NONE) return CAROM_OK;
    *n = 2;
    return section_table(b, &tables[1], err);
}
