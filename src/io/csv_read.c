// csv_read.c: tables of numbers from text that nobody vouches for.
#define _POSIX_C_SOURCE 200809L
#include "base/grow.h"
#include "base/number.h"
#include "io/csv.h"
#include "io/scratch.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// as in HDF5; bytes: a file without line ends must not fill the memory
enum { MOST_COLUMNS = 1 << 24, LONGEST_LINE = 1 << 26, END = -1, TOO_LONG = -2 };

// getline() for a file that may have no line ends at all.
static ssize_t next_line(char **line, size_t *size, FILE *f) {
    size_t n = 0;
    for (int c = 0; c != '\n' && (c = getc_unlocked(f)) != EOF;) {
        if (n + 2 > *size) {
            const size_t room = *size ? 2 * *size : 256;
            char *more = room <= LONGEST_LINE ? realloc(*line, room) : NULL;
            if (!more) return TOO_LONG;
            *line = more, *size = room;
        }
        (*line)[n++] = (char)c;
    }
    if (n > 0) (*line)[n] = 0;
    return n > 0 ? (ssize_t)n : END;
}

// Cut the field at *at out of its line, in place; *at moves behind the comma, or becomes NULL at the end.
static char *field(char **at) {
    char *from = *at, *to = from, *out = from;
    if (*from != '"') {
        to = from + strcspn(from, ",");
        *at = *to ? to + 1 : NULL;
        *to = 0;
        return from;
    }
    for (to = from + 1; *to; ++to) {
        if (*to == '"' && to[1] != '"') break;
        if (*to == '"') ++to;
        *out++ = *to;
    }
    if (*to) ++to;
    *at = *to == ',' ? to + 1 : NULL;
    *out = 0;
    return from;
}

static void chomp(char *line, ssize_t length) {
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = 0;
}

static carom_status header(csv_table *t, char *line, const char *file, carom_error *err) {
    for (char *at = line; at;) {
        if (t->columns == MOST_COLUMNS || !CAROM_GROW(t->column, t->columns))
            return carom_fail(err, CAROM_NO_MEMORY, "%.400s: too many columns", file);
        t->column[t->columns] = strdup(field(&at));
        if (!t->column[t->columns++]) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %.400s", file);
    }
    return CAROM_OK;
}

// Where the next row goes: behind the others, or to x, from where it is spilt.
static double *next_row(csv_table *t, double *x) {
    if (t->spill) return x;
    const bool room = carom_grow(&t->value, (size_t)t->rows, (size_t)t->columns * sizeof *t->value);
    return room ? t->value + (size_t)t->rows * (size_t)t->columns : NULL;
}

static carom_status cannot_spill(const char *file, carom_error *err) {
    return carom_fail(err, CAROM_IO, "cannot write a temporary file for the rows of %.400s: %s", file, strerror(errno));
}

// All rows so far go to a temporary file, and all that follow.
static carom_status begin_spill(csv_table *t, const char *file, carom_error *err) {
    t->spill = scratch_file();
    const size_t bytes = (size_t)t->columns * sizeof *t->value, rows = (size_t)t->rows;
    if (!t->spill || fwrite(t->value, bytes, rows, t->spill) != rows) return cannot_spill(file, err);
    free(t->value);
    t->value = NULL;
    return CAROM_OK;
}

static carom_status row(csv_table *t, double *spilt, char *line, const char *file, carom_error *err) {
    double *x = next_row(t, spilt);
    if (!x) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the rows of %.400s", file);
    char *at = line;
    for (int i = 0; i < t->columns; ++i) {
        if (!at)
            return carom_fail(err, CAROM_IO, "%.400s:%ld: %d values where the header names %d", file, t->rows + 2, i,
                              t->columns);
        char *text = field(&at), *end = NULL;
        x[i] = carom_number(text, &end);
        if (end == text || *end)
            return carom_fail(err, CAROM_IO, "%.400s:%ld: '%.40s' in column %d is not a number", file, t->rows + 2,
                              text, i + 1);
    }
    if (at)
        return carom_fail(err, CAROM_IO, "%.400s:%ld: more values than the header names (%d)", file, t->rows + 2,
                          t->columns);
    if (t->spill && fwrite(x, sizeof *x, (size_t)t->columns, t->spill) != (size_t)t->columns)
        return cannot_spill(file, err);
    ++t->rows;
    return CAROM_OK;
}

// A line of units behind the header: no numbers, but perhaps 1, and none at its start.
static bool is_units(const csv_table *t, const char *line) {
    char *copy = strdup(line), *at = copy;
    bool units = copy != NULL;
    for (int i = 0; units && i < t->columns; ++i) {
        if (!at) units = false;
        else {
            char *text = field(&at), *end = NULL;
            carom_number(text, &end);
            units = *text && (end == text || *end || (i > 0 && strcmp(text, "1") == 0)) &&
                    (*end || end == text || i > 0) && strcmp(text, "nan") != 0 && strcmp(text, "inf") != 0;
            if (units && i == 0) units = strspn(text, "-") == strlen(text) || (*text >= 'A' && *text <= 'z');
        }
    }
    units = units && !at;
    free(copy);
    return units;
}

carom_status csv_rows(const csv_table *t, int column, int columns, long first, long count, double *out,
                      carom_error *err) {
    enum { BLOCK = 1 << 16 }; // bytes
    const size_t width = (size_t)t->columns, bytes = width * sizeof *out;
    const long most = bytes < BLOCK ? (long)(BLOCK / bytes) : 1;
    double *block = malloc((size_t)most * bytes);
    bool good = block && fflush(t->spill) == 0;
    for (long done = 0, n; good && done < count; done += n) {
        n = count - done < most ? count - done : most;
        const ssize_t wanted = (ssize_t)((size_t)n * bytes);
        good = pread(fileno(t->spill), block, (size_t)wanted, (off_t)(first + done) * (off_t)bytes) == wanted;
        for (long i = 0; good && i < n; ++i)
            memcpy(out + (size_t)(done + i) * (size_t)columns, block + (size_t)i * width + column,
                   sizeof *out * (size_t)columns);
    }
    free(block);
    if (good) return CAROM_OK;
    return carom_fail(err, CAROM_IO, "cannot read the temporary file of a table: %s", strerror(errno));
}

carom_status csv_read(csv_table *t, const char *file, carom_error *err) { return csv_read_to(t, file, false, err); }

carom_status csv_read_to(csv_table *t, const char *file, bool whole, carom_error *err) {
    *t = (csv_table){0};
    FILE *f = fopen(file, "r");
    if (!f) return carom_fail(err, CAROM_IO, "cannot read %.400s: %s", file, strerror(errno));
    char *line = NULL;
    size_t size = 0;
    ssize_t length = next_line(&line, &size, f);
    carom_status status = CAROM_OK;
    if (length <= 0 || strlen(line) != (size_t)length) {
        status = carom_fail(err, CAROM_IO, "%.400s is not a table: no header line", file);
    } else {
        chomp(line, length);
        // without a byte order mark
        status = header(t, strncmp(line, "\xEF\xBB\xBF", 3) == 0 ? line + 3 : line, file, err);
    }
    if (status == CAROM_OK && !whole && t->columns > 1 && strcmp(t->column[0], "run") == 0)
        status = carom_fail(err, CAROM_IO,
                            "%.400s is the table of a sweep, not the result of a run; `carom plot` draws the HDF5 file "
                            "of a sweep",
                            file);
    bool second = false; // a line of units was seen
    double *spilt = status == CAROM_OK ? malloc(((size_t)t->columns + 1) * sizeof *spilt) : NULL;
    if (status == CAROM_OK && !spilt) status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %.400s", file);
    while (status == CAROM_OK && (length = next_line(&line, &size, f)) > 0) {
        // A killed run may leave half a line at the end.
        if (!whole && line[length - 1] != '\n') break;
        if (strlen(line) != (size_t)length)
            status = carom_fail(err, CAROM_IO, "%.400s:%ld: a zero byte; a table is plain text", file, t->rows + 2);
        chomp(line, length);
        if (status == CAROM_OK && *line && t->rows == 0 && !second && is_units(t, line)) second = true;
        else if (status == CAROM_OK && *line) status = row(t, spilt, line, file, err);
        const size_t held = (size_t)t->rows * (size_t)t->columns * sizeof *t->value;
        if (status == CAROM_OK && !whole && !t->spill && held > CSV_MEMORY) status = begin_spill(t, file, err);
    }
    free(spilt);
    if (status == CAROM_OK && length == TOO_LONG)
        status = carom_fail(err, CAROM_IO, "%.400s:%ld: the line is too long", file, t->rows + 2);
    if (status == CAROM_OK && ferror(f))
        status = carom_fail(err, CAROM_IO, "cannot read %.400s: %s", file, strerror(errno));
    free(line);
    fclose(f);
    if (status != CAROM_OK) csv_free(t);
    return status;
}

// A line of numbers but for fields 1 and, of events, 2.
static bool read_event(void *row, char *line) {
    carom_result_event *e = row;
    char *at = line, *end = NULL;
    double *const number[] = {&e->t, NULL, NULL, &e->before, &e->after, &e->impulse};
    for (int i = 0; i < 6; ++i) {
        if (!at) return false;
        char *text = field(&at);
        if (i == 1) snprintf(e->contact, sizeof e->contact, "%s", text);
        if (i == 2) snprintf(e->kind, sizeof e->kind, "%s", text);
        if (!number[i]) continue;
        *number[i] = carom_number(text, &end);
        if (end == text || *end) return false;
    }
    return !at;
}

static bool read_contact(void *row, char *line) {
    carom_result_contact *c = row;
    char *at = line, *end = NULL;
    for (int i = 0; i < 12; ++i) {
        if (!at) return false;
        char *text = field(&at);
        if (i == 1) {
            snprintf(c->contact, sizeof c->contact, "%s", text);
            continue;
        }
        *(i == 0   ? &c->t
          : i < 5  ? &c->point[i - 2]
          : i < 8  ? &c->normal[i - 5]
          : i == 8 ? &c->gap
                   : &c->force[i - 9]) = carom_number(text, &end);
        if (end == text || *end) return false;
    }
    return !at;
}

// Rows of `bytes` each of the file with this ending beside a result; none when it is not there.
static carom_status read_beside(const char *file, const char *ending, const char *what,
                                bool (*read)(void *row, char *line), size_t bytes, void **rows, long *count,
                                carom_error *err) {
    *rows = NULL;
    *count = 0;
    char *name = malloc(strlen(file) + strlen(ending) + 1), *line = NULL;
    if (!name) return carom_fail(err, CAROM_NO_MEMORY, "no memory");
    FILE *f = fopen(strcat(strcpy(name, file), ending), "r");
    free(name);
    if (!f) return CAROM_OK;
    carom_status status = CAROM_OK;
    size_t size = 0;
    ssize_t length = next_line(&line, &size, f); // header
    while (status == CAROM_OK && (length = next_line(&line, &size, f)) > 0 && line[length - 1] == '\n') {
        chomp(line, length);
        if (!carom_grow(rows, (size_t)*count, bytes)) {
            status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the %ss of %.400s", what, file);
            break;
        }
        void *row = memset((char *)*rows + bytes * (size_t)(*count)++, 0, bytes);
        if (!read(row, line))
            status = carom_fail(err, CAROM_IO, "%.400s%s:%ld: not %s %s", file, ending, *count + 1,
                                *what == 'e' ? "an" : "a", what);
    }
    free(line);
    fclose(f);
    return status;
}

carom_status csv_read_events(const char *file, carom_result_event **event, long *count, carom_error *err) {
    void *rows = NULL;
    const carom_status status =
        read_beside(file, ".events.csv", "event", read_event, sizeof **event, &rows, count, err);
    *event = rows;
    return status;
}

carom_status csv_read_contacts(const char *file, carom_result_contact **contact, long *count, carom_error *err) {
    void *rows = NULL;
    const carom_status status =
        read_beside(file, ".contacts.csv", "contact", read_contact, sizeof **contact, &rows, count, err);
    *contact = rows;
    return status;
}
