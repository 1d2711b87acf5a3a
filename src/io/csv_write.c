// csv_write.c: rows and events as text; %.17g gives back every bit.
#define _POSIX_C_SOURCE 200809L
#include "io/csv.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void put_name(FILE *f, const char *name) {
    if (!strpbrk(name, ",\"\n\r")) {
        fputs(name, f);
        return;
    }
    fputc('"', f);
    for (; *name; ++name) {
        if (*name == '"') fputc('"', f);
        fputc(*name, f);
    }
    fputc('"', f);
}

static carom_status trouble(const csv_file *f, carom_error *err) {
    return carom_fail(err, CAROM_IO, "cannot write %s: %s", f->name, strerror(errno));
}

static FILE *open_events(const char *file) {
    static const char ending[] = ".events.csv";
    char *name = malloc(strlen(file) + sizeof ending);
    if (!name) return NULL;
    strcat(strcpy(name, file), ending);
    FILE *f = fopen(name, "w");
    free(name);
    if (f) fputs("time,contact,kind,velocity_before,velocity_after,impulse\n", f);
    return f;
}

csv_file *csv_create(const char *file, FILE *stream, int columns, char *const *column, carom_error *err) {
    csv_file *f = calloc(1, sizeof *f);
    if (f) {
        f->columns = columns;
        f->row = calloc((size_t)columns, sizeof(double));
        f->name = strdup(file ? file : "the output");
    }
    if (!f || !f->row || !f->name) {
        carom_fail(err, CAROM_NO_MEMORY, "no memory for %d columns", columns);
        if (f) csv_destroy(f, NULL);
        return NULL;
    }
    f->owned = file != NULL;
    f->rows = file ? fopen(file, "w") : stream;
    if (f->rows && file) f->events = open_events(file);
    if (!f->rows || (file && !f->events)) {
        carom_fail(err, CAROM_IO, "cannot create %s: %s", f->name, strerror(errno));
        csv_destroy(f, NULL);
        return NULL;
    }
    for (int i = 0; i < columns; ++i) {
        if (i) fputc(',', f->rows);
        put_name(f->rows, column[i]);
    }
    fputc('\n', f->rows);
    return f;
}

carom_status csv_row_done(csv_file *f, carom_error *err) {
    for (int i = 0; i < f->columns; ++i) fprintf(f->rows, i ? ",%.17g" : "%.17g", f->row[i]);
    return fputc('\n', f->rows) == EOF ? trouble(f, err) : CAROM_OK;
}

carom_status csv_put_event(csv_file *f, const carom_event *e, const char *contact, carom_error *err) {
    if (!f->events) return CAROM_OK;
    const char *kind = carom_event_word(e->kind);
    fprintf(f->events, "%.17g,", e->t);
    put_name(f->events, contact);
    return fprintf(f->events, ",%s,%.17g,%.17g,%.17g\n", kind ? kind : "", e->before, e->after, e->impulse) < 0 ? trouble(f, err)
                                                                                                            : CAROM_OK;
}

carom_status csv_flush(csv_file *f, carom_error *err) {
    return fflush(f->rows) || (f->events && fflush(f->events)) || ferror(f->rows) ? trouble(f, err) : CAROM_OK;
}

carom_status csv_destroy(csv_file *f, carom_error *err) {
    bool good = !f->rows || (fflush(f->rows) == 0 && !ferror(f->rows));
    if (f->owned && f->rows) good = fclose(f->rows) == 0 && good;
    if (f->events) good = fclose(f->events) == 0 && good;
    const carom_status status = good ? CAROM_OK : trouble(f, err);
    free(f->row);
    free(f->name);
    free(f);
    return status;
}
