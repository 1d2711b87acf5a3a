// fclib_write.c: writing FCLIB files: contacts with planar or spatial friction first, then equations.
#define _POSIX_C_SOURCE 200809L
#include "io/publish.h"
#include "contact/residual.h"
#include "io/fclib.h"
#include "io/h5_driver.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool put_set(hid_t at, const char *name, hid_t stored, hid_t type, size_t count, const void *x) {
    const hsize_t size = count;
    const hid_t space = H5Screate_simple(1, &size, NULL),
                set = space >= 0 ? H5Dcreate2(at, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    const bool good = set >= 0 && (count == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    h5_close(set), h5_close(space);
    return good;
}

static bool put_integers(hid_t at, const char *name, size_t count, const int *x) {
    return put_set(at, name, H5T_STD_I32LE, H5T_NATIVE_INT, count, x);
}
static bool put_integer(hid_t at, const char *name, int x) { return put_integers(at, name, 1, &x); }
static bool put_vector(hid_t at, const char *name, size_t count, const double *x) {
    return put_set(at, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, x);
}

static bool put_text(hid_t at, const char *name, const char *text) {
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    bool good = type >= 0 && space >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0;
    const hid_t set = good ? H5Dcreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    h5_close(set), h5_close(space), h5_close(type);
    return good;
}

// Part of G: rows from r0 to before r1, columns from c0 to before c1, in compressed columns.
static bool put_matrix(hid_t at, const char *name, const carom_problem *pb, int r0, int r1, int c0, int c1) {
    const size_t count = problem_entries(pb, NULL), columns = (size_t)(c1 - c0);
    problem_entry *entry = calloc(count + 1, sizeof *entry);
    int *start = calloc(columns + 2, sizeof *start), *row = calloc(count + 1, sizeof *row), n = 0;
    double *x = calloc(count + 1, sizeof *x);
    const hid_t group = H5Gcreate2(at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = entry && start && row && x && group >= 0;
    if (good) problem_entries(pb, entry);
    for (int pass = 0; good && pass < 2; ++pass) { // counts, then places; start[j + 1] is where column j goes on
        for (size_t k = 0; k < count; ++k) {
            const problem_entry *e = entry + k;
            if (e->row < r0 || e->row >= r1 || e->col < c0 || e->col >= c1) continue;
            if (pass == 0) {
                start[e->col - c0 + 2] += 1, ++n;
                continue;
            }
            const int to = start[e->col - c0 + 1]++;
            row[to] = e->row - r0, x[to] = e->x;
        }
        for (size_t j = 1; pass == 0 && j <= columns; ++j) start[j + 1] += start[j];
    }
    good = good && put_integer(group, "m", r1 - r0) && put_integer(group, "n", c1 - c0) &&
           put_integer(group, "nz", -1) && put_integer(group, "nzmax", n) &&
           put_integers(group, "p", columns + 1, start) && put_integers(group, "i", (size_t)n, row) &&
           put_vector(group, "x", (size_t)n, x);
    h5_close(group);
    free(entry), free(start), free(row), free(x);
    return good;
}

static bool put_answer(hid_t at, const carom_problem *pb, int rows) {
    return put_vector(at, "r", (size_t)rows, pb->p) && put_vector(at, "u", (size_t)rows, pb->u) &&
           (rows == pb->n || put_vector(at, "l", (size_t)(pb->n - rows), pb->p + rows));
}

static bool put_problem(hid_t file, const carom_problem *pb, int contacts, int rows, const char *title) {
    const hid_t at = H5Gcreate2(file, "fclib_local", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t vectors = at >= 0 ? H5Gcreate2(at, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    const hid_t info = vectors >= 0 ? H5Gcreate2(at, "info", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    double *mu = calloc((size_t)contacts + 1, sizeof *mu);
    for (int b = 0; mu && b < contacts; ++b) mu[b] = pb->block[b].mu;
    bool good = info >= 0 && mu && put_integer(at, "spacedim", contacts ? rows / contacts : 3) &&
                put_matrix(at, "W", pb, 0, rows, 0, rows) && put_vector(vectors, "q", (size_t)rows, pb->c) &&
                put_vector(vectors, "mu", (size_t)contacts, mu);
    if (good && rows < pb->n)
        good = put_matrix(at, "V", pb, 0, rows, rows, pb->n) && put_matrix(at, "R", pb, rows, pb->n, rows, pb->n) &&
               put_vector(vectors, "s", (size_t)(pb->n - rows), pb->c + rows);
    good = good && put_text(info, "title", title ? title : "") && put_text(info, "description", "written by carom") &&
           put_text(info, "math_info", "");
    free(mu);
    h5_close(info), h5_close(vectors), h5_close(at);
    return good;
}

static bool put_guess(hid_t file, const carom_problem *pb, int rows) {
    const hid_t all = H5Gcreate2(file, "guesses", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t one = all >= 0 ? H5Gcreate2(all, "1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    const bool good = one >= 0 && put_integer(all, "number_of_guesses", 1) && put_answer(one, pb, rows);
    h5_close(one), h5_close(all);
    return good;
}

static bool is_contact(carom_law law) { return law == CAROM_PLANAR || law == CAROM_SPATIAL; }

// The problem with its contacts before its equations; NULL: no memory.
static problem_data *contacts_first(const carom_problem *pb) {
    const size_t count = problem_entries(pb, NULL);
    carom_block *block = calloc((size_t)pb->nb + 1, sizeof *block);
    int *to = calloc((size_t)pb->n + 1, sizeof *to), n = 0, rows = 0;
    problem_entry *entry = calloc(count + 1, sizeof *entry);
    problem_data *d = NULL;
    if (block && to && entry) {
        for (int pass = 0; pass < 2; ++pass)
            for (int b = 0; b < pb->nb; ++b) {
                if (is_contact(pb->block[b].law) != (pass == 0)) continue;
                block[n++] = pb->block[b];
                for (int i = 0; i < carom_law_rows(pb->block[b].law); ++i) to[pb->block[b].at + i] = rows++;
            }
        problem_entries(pb, entry);
        for (size_t k = 0; k < count; ++k) entry[k].row = to[entry[k].row], entry[k].col = to[entry[k].col];
        d = problem_data_create(block, pb->nb, entry, count);
    }
    for (int i = 0; d && i < pb->n; ++i) d->c[to[i]] = pb->c[i], d->p[to[i]] = pb->p[i], d->u[to[i]] = pb->u[i];
    free(block), free(to), free(entry);
    return d;
}

static const double *find_block(const carom_problem *pb, int b, int c) {
    for (int k = pb->rows->start[b]; k < pb->rows->start[b + 1]; ++k)
        if (pb->rows->col[k] == c) return pb->rows->value + pb->rows->at[k];
    return NULL;
}

// Contacts of one kind, then equations, and V' opposite V.
static carom_status suits(const carom_problem *pb, const char *file, int *contacts, int *rows, carom_error *err) {
    static const char *const remedy = "name a file that ends neither in .h5 nor in .hdf5 for carom's text form";
    *contacts = *rows = 0;
    for (int b = 0; b < pb->nb; ++b) {
        const carom_law law = pb->block[b].law;
        if (is_contact(law) ? law != pb->block[0].law : law != CAROM_BILATERAL)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "cannot write %.200s: FCLIB supports contacts that are all planar or all spatial with "
                              "friction, and equations; %s",
                              file, remedy);
        if (is_contact(law)) *contacts += 1, *rows += carom_law_rows(law);
    }
    for (int b = 0; b < pb->nb; ++b) // from either side: the block across may be missing
        for (int k = pb->rows->start[b]; k < pb->rows->start[b + 1]; ++k) {
            const int c = pb->rows->col[k];
            if ((b < *contacts) == (c < *contacts)) continue;
            const double *across = find_block(pb, c, b), *g = pb->rows->value + pb->rows->at[k];
            for (int i = 0; i < *rows / *contacts; ++i)
                if (g[i] != (across ? across[i] : 0))
                    return carom_fail(err, CAROM_BAD_INPUT,
                                      "cannot write %.200s: FCLIB needs equations coupled to contacts symmetrically, "
                                      "and equation %d is not; %s",
                                      file, b < *contacts ? c : b, remedy);
        }
    return CAROM_OK;
}

static carom_status write_ordered(const carom_problem *pb, const char *file, const char *title, bool solution,
                                  carom_error *err) {
    int contacts, rows;
    CAROM_TRY(suits(pb, file, &contacts, &rows, err));
    char *part = part_name(file);
    if (!part) return problem_no_memory(err, file);
    h5_hush hush;
    h5_hush_begin(&hush);
    bool warm = false;
    for (int i = 0; i < pb->n; ++i) warm = warm || pb->p[i] != 0;
    unlink(part); // see part_open()
    const hid_t fapl = h5_driver_access(), out = H5Fcreate(part, H5F_ACC_EXCL, H5P_DEFAULT, fapl),
                group = solution && out >= 0 ? H5Gcreate2(out, "solution", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    const bool good = out >= 0 && put_problem(out, pb, contacts, rows, title) &&
                      (!solution || (group >= 0 && put_answer(group, pb, rows))) &&
                      (solution || !warm || put_guess(out, pb, rows)) && H5Fflush(out, H5F_SCOPE_LOCAL) >= 0 &&
                      h5_driver_commit(out);
    const char *reason = out >= 0 ? h5_driver_failed(out) : NULL;
    carom_status status = good     ? CAROM_OK
                          : reason ? carom_fail(err, CAROM_IO, "cannot write %.200s: %s", file, reason)
                                   : h5_fail(err, "cannot write %.200s", file);
    h5_close(group);
    h5_close(out);
    h5_close(fapl);
    if (status == CAROM_OK && rename(part, file) != 0)
        status = carom_fail(err, CAROM_IO, "cannot write %.200s: %s", file, strerror(errno));
    if (status != CAROM_OK) unlink(part);
    h5_hush_end(&hush);
    free(part);
    return status;
}

carom_status fclib_write(const carom_problem *pb, const char *file, const char *title, bool solution,
                         carom_error *err) {
    problem_data *d = contacts_first(pb);
    if (!d) return problem_no_memory(err, file);
    const carom_status status = write_ordered(&d->pb, file, title, solution, err);
    problem_data_destroy(d);
    return status;
}
