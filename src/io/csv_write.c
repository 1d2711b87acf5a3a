// csv_write.c: rows and events as text; %.17g gives back every bit.
//
// A file holds whole lines at any time: what a failed write leaves of a line is cut off, and nothing is written behind
// it.
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"
#include "io/csv.h"
#include "io/publish.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 }; // bytes, for few calls of the system

// -- whole lines ---------------------------------------------------------------------------------------

static bool fail(csv_sink *s, int reason) {
    if (!s->failed) s->reason = reason;
    s->failed = true;
    return false;
}

// Bytes of text that end in a line.
static size_t whole_lines(const char *text, size_t size) {
    while (size > 0 && text[size - 1] != '\n') --size;
    return size;
}

// So many bytes of whole lines are in the file.  The last of them begins with its time, unless it is the header.
static void written(csv_sink *s, size_t size) {
    if (size == 0) return;
    char *const last = s->buffer + whole_lines(s->buffer, size - 1), *end = last;
    const double t = carom_number(last, &end); // ends at the end of its line at the latest
    if (end > last) s->last = t;
    s->sound += (off_t)size;
}

static bool write_out(csv_sink *s) {
    size_t done = 0;
    if (s->failed) return false;
    if (s->stream) {
        if (fwrite(s->buffer, 1, s->fill, s->stream) != s->fill || fflush(s->stream) != 0) return fail(s, errno);
        s->fill = 0;
        return true;
    }
    while (done < s->fill) {
        const ssize_t n = write(s->file, s->buffer + done, s->fill - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            const int reason = n == 0 ? ENOSPC : errno;
            written(s, whole_lines(s->buffer, done));
            // the reader leaves half a line out
            if (s->regular && ftruncate(s->file, s->sound) != 0) return fail(s, reason);
            return fail(s, reason);
        }
        done += (size_t)n;
    }
    written(s, done);
    s->fill = 0;
    return true;
}

static void put(csv_sink *s, const char *text, size_t size) {
    if (s->failed) return;
    if (s->fill + size > s->room) {
        const size_t room = 2 * (s->fill + size) + BUFFER;
        char *more = realloc(s->buffer, room);
        if (!more) {
            fail(s, ENOMEM);
            return;
        }
        s->buffer = more;
        s->room = room;
    }
    memcpy(s->buffer + s->fill, text, size);
    s->fill += size;
}

static bool end_line(csv_sink *s) {
    put(s, "\n", 1);
    if (s->fill >= BUFFER) write_out(s);
    return !s->failed;
}

static void put_name(csv_sink *s, const char *name) {
    if (!strpbrk(name, ",\"\n\r")) {
        put(s, name, strlen(name));
        return;
    }
    put(s, "\"", 1);
    for (; *name; ++name) {
        if (*name == '"') put(s, "\"", 1);
        put(s, name, 1);
    }
    put(s, "\"", 1);
}

static void put_number(csv_sink *s, double x) {
    char text[CAROM_EXACT];
    put(s, text, (size_t)carom_exact(text, x));
}

// A new file that has its name once its first line is written; what is no regular file is written as it is.
static bool sink_open(csv_sink *s, const char *name) {
    struct stat st;
    s->regular = stat(name, &st) != 0 || S_ISREG(st.st_mode);
    char *part = s->regular ? part_name(name) : NULL;
    if (s->regular && !part) return fail(s, ENOMEM);
    s->file = part ? part_open(part) : open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    free(part);
    if (s->file < 0) return fail(s, errno);
    if (s->regular) file_lock(s->file, FILE_WRITER, F_WRLCK, 0);
    return true;
}

static bool sink_publish(csv_sink *s, const char *name, bool keep, carom_error *err) {
    if (write_out(s)) return !s->regular || publish(name, keep, err) == CAROM_OK;
    if (s->regular) publish_not(name);
    carom_fail(err, CAROM_IO, "cannot create %s: %s", name, strerror(s->reason));
    return false;
}

static void sink_close(csv_sink *s) {
    if (s->fill) write_out(s);
    if (s->file >= 0 && close(s->file) != 0) fail(s, errno);
    free(s->buffer);
    s->buffer = NULL;
    s->file = -1;
}

// -- rows and events -------------------------------------------------------------------------------------

// The files of a result, by what their names end in.
enum { SINKS = 3 };
static const char *const ending[SINKS] = {"", ".events.csv", ".contacts.csv"};

static csv_sink *sink_at(csv_file *f, int i) {
    return i == 0 ? &f->rows : i == 1 ? f->has_events ? &f->events : NULL : f->snapshots ? &f->contacts : NULL;
}

static carom_status trouble(csv_file *f, carom_error *err) {
    for (int i = 0; i < SINKS; ++i)
        if (sink_at(f, i) && sink_at(f, i)->failed)
            return carom_fail(err, CAROM_IO, "cannot write %s%s: %s", f->name, ending[i],
                              strerror(sink_at(f, i)->reason));
    return CAROM_OK;
}

static char *sink_name(const csv_file *f, int i) {
    char *name = malloc(strlen(f->name) + strlen(ending[i]) + 1);
    return name ? strcat(strcpy(name, f->name), ending[i]) : NULL;
}

// All files with their first lines, or none.
static bool create_files(csv_file *f, bool keep, carom_error *err) {
    char *name[SINKS] = {NULL};
    bool good = true;
    for (int i = 0; good && i < SINKS; ++i)
        if (!(name[i] = sink_name(f, i))) carom_fail(err, CAROM_NO_MEMORY, "no memory"), good = false;
    for (int i = 0; good && i < SINKS; ++i)
        if (sink_at(f, i) && !sink_open(sink_at(f, i), name[i]))
            carom_fail(err, CAROM_IO, "cannot create %s: %s", f->name, strerror(sink_at(f, i)->reason)), good = false;
    for (int i = 0; good && i < SINKS; ++i)
        if (sink_at(f, i)) good = sink_publish(sink_at(f, i), name[i], keep, err);
    for (int i = 0; i < SINKS; ++i) {
        if (!good && name[i] && sink_at(f, i) && sink_at(f, i)->regular) publish_not(name[i]);
        free(name[i]);
    }
    return good;
}

csv_file *csv_create(const char *file, bool keep, FILE *stream, int columns, char *const *column, char *const *unit,
                     bool snapshots, carom_error *err) {
    static const char head[] = "time,contact,kind,velocity_before,velocity_after,impulse",
                      contacts[] = "time,contact,x,y,z,nx,ny,nz,gap,fx,fy,fz";
    csv_file *f = calloc(1, sizeof *f);
    if (f) {
        f->columns = columns;
        f->row = calloc((size_t)columns, sizeof(double));
        f->name = strdup(file ? file : "the output");
        f->rows.file = f->events.file = f->contacts.file = -1;
        f->rows.stream = file ? NULL : stream;
        f->has_events = file != NULL;
        f->snapshots = snapshots && file;
    }
    if (!f || !f->row || !f->name) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d columns", columns);
        if (f) csv_destroy(f, NULL);
        return NULL;
    }
    for (int i = 0; i < columns; ++i) {
        if (i) put(&f->rows, ",", 1);
        put_name(&f->rows, column[i]);
    }
    put(&f->rows, "\n", 1);
    for (int i = 0; unit && i < columns; ++i) {
        if (i) put(&f->rows, ",", 1);
        put_name(&f->rows, *unit[i] ? unit[i] : "-");
    }
    if (unit) put(&f->rows, "\n", 1);
    if (f->has_events) put(&f->events, head, sizeof head - 1), put(&f->events, "\n", 1);
    if (f->snapshots) put(&f->contacts, contacts, sizeof contacts - 1), put(&f->contacts, "\n", 1);
    if (!file || create_files(f, keep, err)) return f;
    csv_destroy(f, NULL);
    return NULL;
}

carom_status csv_row_done(csv_file *f, carom_error *err) {
    const carom_locale locale = carom_locale_begin();
    for (int i = 0; i < f->columns; ++i) {
        if (i) put(&f->rows, ",", 1);
        put_number(&f->rows, f->row[i]);
    }
    carom_locale_end(locale);
    return end_line(&f->rows) ? CAROM_OK : trouble(f, err);
}

carom_status csv_put_event(csv_file *f, const carom_event *e, const char *contact, carom_error *err) {
    if (!f->has_events) return CAROM_OK;
    const char *kind = carom_event_word(e->kind);
    const double number[] = {e->before, e->after, e->impulse};
    csv_sink *s = &f->events;
    const carom_locale locale = carom_locale_begin();
    put_number(s, e->t);
    put(s, ",", 1);
    put_name(s, contact);
    put(s, ",", 1);
    put_name(s, kind ? kind : "");
    for (int i = 0; i < 3; ++i) put(s, ",", 1), put_number(s, number[i]);
    carom_locale_end(locale);
    return end_line(s) ? CAROM_OK : trouble(f, err);
}

carom_status csv_put_contact(csv_file *f, const carom_result_contact *c, carom_error *err) {
    if (!f->snapshots) return CAROM_OK;
    csv_sink *s = &f->contacts;
    const carom_locale locale = carom_locale_begin();
    put_number(s, c->t);
    put(s, ",", 1);
    put_name(s, c->contact);
    for (int i = 0; i < 10; ++i)
        put(s, ",", 1), put_number(s, i < 3    ? c->point[i]
                                      : i < 6  ? c->normal[i - 3]
                                      : i == 6 ? c->gap
                                               : c->force[i - 7]);
    carom_locale_end(locale);
    return end_line(s) ? CAROM_OK : trouble(f, err);
}

carom_status csv_flush(csv_file *f, carom_error *err) {
    bool good = true;
    for (int i = 0; i < SINKS; ++i)
        if (sink_at(f, i)) good = write_out(sink_at(f, i)) && good;
    return good ? CAROM_OK : trouble(f, err);
}

void csv_for_good(csv_file *f) {
    for (int i = 0; f->has_events && i < SINKS; ++i) {
        char *name = sink_at(f, i) ? sink_name(f, i) : NULL;
        if (name) publish_for_good(name);
        free(name);
    }
}

carom_status csv_destroy(csv_file *f, carom_error *err) {
    sink_close(&f->rows);
    sink_close(&f->events);
    sink_close(&f->contacts);
    const carom_status status = trouble(f, err);
    free(f->row);
    free(f->name);
    free(f);
    return status;
}
