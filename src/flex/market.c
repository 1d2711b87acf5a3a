// market.c: Matrix Market files: `%%MatrixMarket matrix coordinate|array real|integer
// general|symmetric|skew-symmetric`.
//
// The text is untrusted: whatever is wrong is reported with its line, and no size that it promises is believed before
// the text is long enough for it.  Symmetric files come out with both triangles.
#include "base/number.h"
#include <carom/flex.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// of the format; rows: a safeguard against mistakes; words of a line that count
enum { MOST_LINE = 1024, MOST_ROWS = 100000000, MOST_WORDS = 6 };

typedef enum symmetry { GENERAL, SYMMETRIC, SKEW } symmetry;

typedef struct lines {
    const char *at, *end, *file;
    long line;                // number of the one in text
    char text[MOST_LINE + 1]; // cut at white space
    char *word[MOST_WORDS];
    int words;
    carom_error *err;
} lines;

static carom_status wrong(const lines *s, const char *what) {
    return carom_fail(s->err, CAROM_BAD_INPUT, "%.300s:%ld: %s", s->file, s->line, what);
}

// The next line; false: there is none, or it is too long (words < 0) .
static bool take_line(lines *s) {
    if (s->at >= s->end) return false;
    const char *stop = memchr(s->at, '\n', (size_t)(s->end - s->at));
    if (!stop) stop = s->end;
    const size_t length = (size_t)(stop - s->at);
    ++s->line;
    s->words = -1;
    if (length > MOST_LINE || memchr(s->at, 0, length)) return false;
    memcpy(s->text, s->at, length);
    s->text[length] = 0;
    s->at = stop < s->end ? stop + 1 : stop;
    s->words = 0;
    for (char *c = s->text; *c;) {
        while (*c == ' ' || *c == '\t' || *c == '\r') *c++ = 0;
        if (*c && s->words < MOST_WORDS) s->word[s->words++] = c;
        while (*c && *c != ' ' && *c != '\t' && *c != '\r') ++c;
    }
    return true;
}

// The next line that is neither empty nor a comment.
static carom_status next(lines *s, const char *wanted) {
    s->words = 0;
    while (take_line(s))
        if (s->words > 0 && s->word[0][0] != '%') return CAROM_OK;
    if (s->words < 0) return wrong(s, "this line is no text of at most 1024 characters");
    ++s->line;
    char what[120];
    snprintf(what, sizeof what, "the file ends where %.80s should stand", wanted);
    return wrong(s, what);
}

static bool is(const char *word, const char *like) {
    for (; *word && *like; ++word, ++like)
        if (carom_lower((unsigned char)*word) != *like) return false;
    return !*word && !*like;
}

static carom_status read_header(lines *s, bool *array, symmetry *kind) {
    if (!take_line(s) || s->words != 5 || !is(s->word[0], "%%matrixmarket") || !is(s->word[1], "matrix"))
        return s->line = 1, wrong(s, "the first line of a Matrix Market file is, for instance, `%%MatrixMarket matrix "
                                     "coordinate real symmetric`");
    *array = is(s->word[2], "array");
    if (!*array && !is(s->word[2], "coordinate")) return wrong(s, "the format is neither `coordinate` nor `array`");
    if (!is(s->word[3], "real") && !is(s->word[3], "integer"))
        return wrong(s, "the entries are neither `real` nor `integer`");
    *kind = is(s->word[4], "symmetric") ? SYMMETRIC : is(s->word[4], "skew-symmetric") ? SKEW : GENERAL;
    if (*kind == GENERAL && !is(s->word[4], "general"))
        return wrong(s, "the matrix is neither `general`, `symmetric` nor `skew-symmetric`");
    return CAROM_OK;
}

static bool whole(const char *word, double most, double *x) {
    char *end;
    *x = carom_number(word, &end);
    return word[0] >= '0' && word[0] <= '9' && !*end && strspn(word, "0123456789") == strlen(word) && *x <= most;
}

static bool real(const char *word, double *x) {
    char *end;
    *x = carom_number(word, &end);
    return !*end && strspn(word, "0123456789+-.eE") == strlen(word) && fabs(*x) <= DBL_MAX;
}

// Rows, columns, entries in the file.
static carom_status read_size(lines *s, bool array, symmetry kind, carom_triplets *t, size_t *count) {
    CAROM_TRY(next(s, "the size"));
    double rows, cols, entries = 0;
    if (s->words != (array ? 2 : 3) || !whole(s->word[0], MOST_ROWS, &rows) || !whole(s->word[1], MOST_ROWS, &cols) ||
        // a whole number of a double
        (!array && !whole(s->word[2], 1e15, &entries)) || rows < 1 || cols < 1)
        return wrong(s, array ? "the size of an array is two integers: rows, columns (up to 1e8)"
                              : "the size is three integers: rows, columns (up to 1e8), entries");
    if (kind != GENERAL && rows != cols) return wrong(s, "a symmetric matrix has as many rows as columns");
    if (array)
        entries = kind == GENERAL ? rows * cols : kind == SYMMETRIC ? rows * (rows + 1) / 2 : rows * (rows - 1) / 2;
    if (entries > rows * cols) return wrong(s, "there are more entries than the matrix has places");
    if (entries * (array ? 2 : 6) - 1 > (double)(s->end - s->at))
        return wrong(s, "the file is too short for the number of entries");
    t->rows = (int)rows;
    t->cols = (int)cols;
    *count = (size_t)entries;
    return CAROM_OK;
}

// Entry k of an array, column by column; of symmetric ones the lower triangle.
static void place_of(const carom_triplets *t, symmetry kind, int *i, int *j) {
    if (++*i < t->rows) return;
    ++*j;
    *i = kind == GENERAL ? 0 : kind == SYMMETRIC ? *j : *j + 1;
}

static carom_status read_entries(lines *s, bool array, symmetry kind, size_t count, carom_triplets *t, long *line) {
    int i = kind == SKEW ? 0 : -1, j = 0;
    for (size_t k = 0; k < count; ++k) {
        CAROM_TRY(next(s, "another entry"));
        double row = 0, col = 0, x = 0;
        if (array) {
            place_of(t, kind, &i, &j);
            if (s->words != 1 || !real(s->word[0], &x))
                return wrong(s, "an entry of an array is one number on its line");
        } else {
            if (s->words != 3 || !whole(s->word[0], t->rows, &row) || !whole(s->word[1], t->cols, &col) || row < 1 ||
                col < 1 || !real(s->word[2], &x))
                return wrong(s, "an entry is its row and column, counted from 1 and inside the matrix, and a number");
            i = (int)row - 1, j = (int)col - 1;
        }
        if (kind != GENERAL && i < j)
            return wrong(s, "a symmetric file holds the lower triangle; this entry lies above the diagonal");
        if (kind == SKEW && i == j) return wrong(s, "a skew-symmetric matrix has no entries on its diagonal");
        if (x == 0 && array) continue;
        line[t->count] = s->line;
        t->row[t->count] = i, t->col[t->count] = j, t->value[t->count++] = x;
        if (kind == GENERAL || i == j) continue;
        line[t->count] = s->line;
        t->row[t->count] = j, t->col[t->count] = i, t->value[t->count++] = kind == SKEW ? -x : x;
    }
    while (take_line(s))
        if (s->words > 0 && s->word[0][0] != '%') return wrong(s, "the file continues after its last entry");
    return CAROM_OK;
}

typedef struct place { uint64_t at; size_t entry; } place; // at: column by column

static int by_place(const void *x, const void *y) {
    const place *a = x, *b = y;
    return a->at != b->at ? (a->at < b->at ? -1 : 1) : a->entry < b->entry ? -1 : 1;
}

// Entries of one place are neighbours when they are sorted.  Memory and time depend on their number, not on the size
// that the file claims.
static carom_status no_doubles(lines *s, const carom_triplets *t, const long *line) {
    place *all = malloc((t->count + 1) * sizeof *all);
    carom_status status =
        all ? CAROM_OK : carom_fail(s->err, CAROM_NO_MEMORY, "not enough memory to read %.300s", s->file);
    for (size_t k = 0; all && k < t->count; ++k)
        all[k] = (place){(uint64_t)t->col[k] * (uint64_t)t->rows + (uint64_t)t->row[k], k};
    if (all) qsort(all, t->count, sizeof *all, by_place);
    for (size_t k = 1; status == CAROM_OK && k < t->count; ++k)
        if (all[k].at == all[k - 1].at)
            s->line = line[all[k].entry], status = wrong(s, "duplicate entry");
    free(all);
    return status;
}

carom_status carom_triplets_read(const char *text, size_t length, const char *file, carom_triplets *t,
                                 carom_error *err) {
    if (!text || !t) return carom_fail(err, CAROM_BAD_INPUT, "a matrix or its text is missing");
    lines s = {.at = text, .end = text + length, .file = file ? file : "matrix", .err = err};
    bool array = false;
    symmetry kind = GENERAL;
    size_t count = 0;
    *t = (carom_triplets){0};
    CAROM_TRY(read_header(&s, &array, &kind));
    CAROM_TRY(read_size(&s, array, kind, t, &count));
    const size_t room = (kind == GENERAL ? count : 2 * count) + 1;
    t->row = malloc(room * sizeof *t->row);
    t->col = malloc(room * sizeof *t->col);
    t->value = malloc(room * sizeof *t->value);
    long *line = malloc(room * sizeof *line);
    carom_status status = t->row && t->col && t->value && line
                              ? CAROM_OK
                              : carom_fail(err, CAROM_NO_MEMORY, "not enough memory to read %.300s", s.file);
    if (status == CAROM_OK) status = read_entries(&s, array, kind, count, t, line);
    if (status == CAROM_OK && !array) status = no_doubles(&s, t, line);
    free(line);
    if (status != CAROM_OK) carom_triplets_free(t);
    return status;
}

void carom_triplets_free(carom_triplets *t) {
    if (!t) return;
    free(t->row);
    free(t->col);
    free(t->value);
    *t = (carom_triplets){0};
}
