// model_files.c: the files that a model names: tables, meshes, heights, splines.  A model reads nothing outside of its
// directory.
#define _XOPEN_SOURCE 700
#include "base/missing.h"
#include "io/whole.h"
#include "mech/datum.h"
#include <carom/mech.h>
#include <carom/model.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILE = 64 << 20 }; // bytes: as for models

typedef struct search {
    const char *model; // its file
    carom_matrix_text **list;
    int *n;
    carom_error *err;
} search;

static carom_status complain(const search *s, const carom_datum *name, const char *path, const char *what) {
    return carom_fail(s->err, CAROM_BAD_INPUT, "%.300s:%d:%d: cannot read '%.300s': %s", s->model, name->line,
                      name->column, path, what);
}

// A file beside the model or in a directory below it.  Links are followed where they end inside it.
static carom_status find_inside(const search *s, const carom_datum *name, char *path, size_t size) {
    const char *slash = strrchr(s->model, '/');
    const int folder = slash ? (int)(slash - s->model) + 1 : 0;
    bool good = name->length > 0 && name->text[0] != '/' && strlen(name->text) == name->length &&
                (size_t)folder + name->length < size;
    for (const char *p = name->text; good && p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
        good = strncmp(p, "..", 2) != 0;
    if (!good) return complain(s, name, name->text, "it must be a file in the directory of the model or below it");
    snprintf(path, size, "%.*s", folder ? folder : 1, folder ? s->model : ".");
    char *top = realpath(path, NULL);
    snprintf(path, size, "%.*s%s", folder, s->model, name->text);
    char *file = realpath(path, NULL);
    const int error = errno;
    struct stat about;
    const size_t n = top ? strlen(top) : 0;
    const bool inside = top && file && strncmp(file, top, n) == 0 && (file[n] == '/' || strcmp(top, "/") == 0);
    const bool known = file && lstat(file, &about) == 0, fits = inside && strlen(file) < size;
    if (fits) snprintf(path, size, "%s", file); // what is read is what was checked
    free(top), free(file);
    if (!known) return complain(s, name, name->text, strerror(error));
    if (!inside)
        return complain(s, name, name->text, "it is a link out of the directory of the model; copy the file there");
    if (!fits) return complain(s, name, name->text, "its path is too long");
    return S_ISREG(about.st_mode) ? CAROM_OK : complain(s, name, path, "it is no file");
}

// The text of a file under the name that the model gives it, unless it is there already.
static carom_status add_file(const search *s, const carom_datum *name) {
    char path[4096];
    if (name->kind != CAROM_TEXT) return CAROM_OK;
    for (int i = 0; i < *s->n; ++i)
        if (strcmp((*s->list)[i].name, name->text) == 0) return CAROM_OK;
    CAROM_TRY(find_inside(s, name, path, sizeof path));
    size_t length = 0;
    char *text = whole_read(path, MOST_FILE, &length, s->err), *own = text ? strdup(name->text) : NULL;
    carom_matrix_text *list = own ? realloc(*s->list, ((size_t)*s->n + 2) * sizeof *list) : NULL;
    if (list) {
        list[*s->n] = (carom_matrix_text){.name = own, .text = text, .length = length, .file = own};
        *s->list = list;
        ++*s->n;
        return CAROM_OK;
    }
    free(text), free(own);
    return text ? carom_fail(s->err, CAROM_NO_MEMORY, "not enough memory for %.300s", path) : CAROM_IO;
}

// Files of the splines of an outline.
static carom_status add_splines(const search *s, const carom_datum *outline) {
    for (const carom_datum *c = carom_first(outline); c != carom_end(outline); ++c) {
        const carom_datum *file = carom_datum_get(c, "spline");
        if (file) CAROM_TRY(add_file(s, file));
    }
    return CAROM_OK;
}

static carom_status add_shapes(const search *s, const carom_mech_shape *list, int n) {
    for (int i = 0; i < n; ++i) {
        const carom_datum *key = list[i].size.key;
        if (key &&
            (strcmp(key->text, "hull") == 0 || strcmp(key->text, "mesh") == 0 || strcmp(key->text, "heights") == 0))
            CAROM_TRY(add_file(s, &list[i].size));
        if (key && strcmp(key->text, "outline") == 0) CAROM_TRY(add_splines(s, &list[i].size));
    }
    return CAROM_OK;
}

static carom_status add_all(const search *s, const carom_mech *x) {
    CAROM_TRY(add_shapes(s, x->shapes, x->nshapes));
    for (int i = 0; i < x->nbodies; ++i) {
        const carom_mech_body *b = x->bodies[i].body ? x->bodies[i].body : &x->bodies[i];
        if (b->shape) CAROM_TRY(add_shapes(s, b->shape, 1));
        CAROM_TRY(add_shapes(s, b->shapes, b->nshapes));
    }
    for (int i = 0; i < x->ntables; ++i) CAROM_TRY(add_file(s, &x->tables[i].file));
    return CAROM_OK;
}

carom_status carom_model_files(const char *text, size_t length, const char *file, carom_matrix_text **list, int *n,
                               carom_error *err) {
    if (!text || !file || !list || !n) return CAROM_MISSING(err);
    carom_error own, *const to = err ? err : &own;
    static const char *const words[] = {"hull", "mesh", "heights", "tables", "spline"};
    bool some = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) some = some || strstr(text, words[i]);
    carom_mech *x = some ? carom_mech_read(text, length, file, &(carom_error){0})
                         : NULL; // what is wrong with it is found elsewhere
    const search s = {file, list, n, to};
    const carom_status status = x ? add_all(&s, x) : CAROM_OK;
    carom_mech_destroy(x);
    return status;
}

void carom_model_files_free(carom_matrix_text *list, int n) {
    for (int i = 0; list && i < n; ++i) free((void *)(size_t)list[i].name), free((void *)(size_t)list[i].text);
    free(list);
}
