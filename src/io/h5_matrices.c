// h5_matrices.c: the matrices of a model in its result: /matrices/NAME, the bytes of the file as they were given.
//
// With them a result can be continued and drawn wherever it is.  Reading believes no size that the file cannot hold.
#define _POSIX_C_SOURCE 200809L
#include "base/missing.h"
#include "io/result.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_MATRICES = 1000 }; // chosen: a safeguard against damaged files

// A name may be the way to a file: in HDF5 a slash would be a group.
static void exchange(char *name, char from, char to) {
    for (; *name; ++name)
        if (*name == from) *name = to;
}

static bool put(hid_t group, const carom_matrix_text *t) {
    const hsize_t size = t->length;
    char *name = strdup(t->name);
    if (!name) return false;
    exchange(name, '/', '\\');
    const hid_t space = size ? H5Screate_simple(1, &size, NULL) : -1;
    const hid_t set = H5Dcreate2(group, name, H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = set >= 0 && H5Dwrite(set, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, t->text) >= 0 &&
                      h5_put_text(set, "file", t->file, strlen(t->file));
    h5_close(set);
    h5_close(space);
    free(name);
    return good;
}

bool h5_put_matrices(hid_t file, const carom_matrix_text *list, int n) {
    if (n == 0) return true;
    const hid_t group = H5Gcreate2(file, "matrices", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int i = 0; good && i < n; ++i) good = put(group, &list[i]);
    h5_close(group);
    return good;
}

// One set of bytes, with a NUL behind them.
static bool take(hid_t group, const char *name, double most, carom_matrix_text *t) {
    const hid_t set = strchr(name, '/') ? -1 : h5_open_set(group, name), space = set >= 0 ? H5Dget_space(set) : -1,
                type = set >= 0 ? H5Dget_type(set) : -1;
    hsize_t size = 0;
    double number;
    char *text = NULL, *file = NULL;
    bool good = space >= 0 && type >= 0 && H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 1 &&
                H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_dims(space, &size, NULL) == 1 &&
                (double)size <= most && (text = calloc(1, (size_t)size + 1)) != NULL &&
                H5Dread(set, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (good && !h5_get(set, "file", 4096, &number, &file)) file = strdup(name);
    char *own = good ? strdup(name) : NULL;
    good = good && own && file;
    if (good) exchange(own, '\\', '/');
    h5_close(type);
    h5_close(space);
    h5_close(set);
    if (good) return *t = (carom_matrix_text){.name = own, .text = text, .length = (size_t)size, .file = file}, true;
    free(text);
    free(file);
    free(own);
    return false;
}

typedef struct shelf {
    carom_result *r;
    double most;
    bool good;
} shelf;

static herr_t keep(hid_t group, const char *name, const H5L_info_t *info, void *user) {
    (void)info;
    shelf *s = user;
    s->good = s->r->nmatrix < MOST_MATRICES && take(group, name, s->most, &s->r->matrix[s->r->nmatrix]);
    s->r->nmatrix += s->good;
    return s->good ? 0 : -1;
}

carom_status carom_result_matrices(carom_result *r, const carom_matrix_text **list, int *n, carom_error *err) {
    if (!r || !list || !n) return CAROM_MISSING(err);
    *n = r->nmatrix;
    *list = r->matrix;
    if (r->matrix || r->h5 < 0) return CAROM_OK;
    struct stat about;
    shelf s = {.r = r, .most = stat(r->file, &about) == 0 ? (double)about.st_size : 0, .good = true};
    r->matrix = calloc(MOST_MATRICES, sizeof *r->matrix);
    if (!r->matrix) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the matrices in %s", r->file);
    h5_hush h;
    h5_hush_begin(&h);
    const hid_t group = h5_open_group(r->h5, "matrices");
    if (group >= 0) H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, keep, &s);
    else s.good = !h5_has(r->h5, "matrices");
    h5_close(group);
    h5_hush_end(&h);
    if (!s.good) result_drop_matrices(r); // asked again it fails again
    *n = r->nmatrix;
    *list = r->matrix;
    return s.good ? CAROM_OK : carom_fail(err, CAROM_IO, "%s: what is in /matrices is damaged", r->file);
}
