// fclib_read.c: reading FCLIB files.  The file is not trusted: counts, indices and numbers are checked before use.
#define _POSIX_C_SOURCE 200809L
#include "contact/residual.h"
#include "io/fclib.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool fclib_probe(const char *file) {
    h5_hush hush;
    h5_hush_begin(&hush);
    const bool is = H5Fis_hdf5(file) > 0;
    h5_hush_end(&hush);
    return is;
}

typedef struct {
    hid_t at; // group
    const char *file;
    carom_error *err;
} place;

static carom_status wrong(const place *p, const char *what, const char *name) {
    return h5_fail(p->err, "%.200s: %s '%s'", p->file, what, name);
}

static bool has(const place *p, const char *name) { return H5Lexists(p->at, name, H5P_DEFAULT) > 0; }

// All numbers of a data set of one dimension, as `type`; to be freed.  They must be `count`, or at least that many if
// `more`.
static carom_status read_set(const place *p, const char *name, hid_t type, size_t size, size_t count, bool more,
                             void **x) {
    const hid_t set = h5_open_packed(p->at, name), space = set >= 0 ? H5Dget_space(set) : -1,
                kind = set >= 0 ? H5Dget_type(set) : -1;
    const H5T_class_t class = kind >= 0 ? H5Tget_class(kind) : H5T_NO_CLASS;
    const hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    carom_status status = CAROM_OK;
    *x = NULL;
    if (points < 0 || (class != H5T_INTEGER && class != H5T_FLOAT)) status = wrong(p, "no numbers in", name);
    else if (points > MOST_ENTRIES || (size_t)points < count || (!more && (size_t)points != count))
        status = carom_fail(p->err, CAROM_BAD_INPUT, "%.200s: '%s' has %lld numbers and should have %zu", p->file, name,
                            (long long)points, count);
    else if ((double)points > 1024 * (double)H5Dget_storage_size(set) + 4096) // no compression is that good
        status = carom_fail(p->err, CAROM_BAD_INPUT, "%.200s: '%s' claims %lld numbers, more than the file can contain",
                            p->file, name, (long long)points);
    else if (!(*x = calloc((size_t)points + 1, size))) status = problem_no_memory(p->err, p->file);
    else if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *x) < 0) status = wrong(p, "cannot read", name);
    h5_close(kind);
    h5_close(space);
    h5_close(set);
    return status;
}

static carom_status read_integers(const place *p, const char *name, size_t count, int **x) {
    return read_set(p, name, H5T_NATIVE_INT, sizeof(int), count, true, (void **)x);
}

static carom_status read_integer(const place *p, const char *name, int *x) {
    int *list = NULL;
    const carom_status status = read_integers(p, name, 1, &list);
    if (status == CAROM_OK) *x = list[0];
    free(list);
    return status;
}

static carom_status read_vector(const place *p, const char *name, size_t count, double **x) {
    free(*x);
    return read_set(p, name, H5T_NATIVE_DOUBLE, sizeof(double), count, false, (void **)x);
}

// nz >= 0: triplets with columns in p and rows in i, as in CSparse; -1: compressed columns; -2: compressed rows.
static carom_status unpack(const place *g, const char *name, int nz, const int *p, const int *i, const double *x,
                           fclib_matrix *A) {
    const int lines = nz == -1 ? A->n : A->m;
    if (!(A->entry = calloc(A->count + 1, sizeof *A->entry))) return problem_no_memory(g->err, g->file);
    for (size_t k = 0; nz >= 0 && k < A->count; ++k) A->entry[k] = (problem_entry){i[k], p[k], x[k]};
    for (int line = 0; nz < 0 && line < lines; ++line) {
        if (p[line] < 0 || p[line + 1] < p[line] || (size_t)p[line + 1] > A->count)
            return carom_fail(g->err, CAROM_BAD_INPUT, "%.200s: matrix %s: line %d has no valid place", g->file, name,
                              line);
        for (int k = p[line]; k < p[line + 1]; ++k)
            A->entry[k] = nz == -1 ? (problem_entry){i[k], line, x[k]} : (problem_entry){line, i[k], x[k]};
    }
    for (size_t k = 0; k < A->count; ++k) {
        const problem_entry *e = A->entry + k;
        if (e->row < 0 || e->row >= A->m || e->col < 0 || e->col >= A->n)
            return carom_fail(g->err, CAROM_BAD_INPUT, "%.200s: matrix %s of %d x %d has an entry at (%d, %d)", g->file,
                              name, A->m, A->n, e->row, e->col);
        if (!isfinite(e->x))
            return carom_fail(g->err, CAROM_BAD_INPUT, "%.200s: matrix %s has an entry that is not a finite number",
                              g->file, name);
    }
    return CAROM_OK;
}

static carom_status read_sparse(const place *g, const char *name, fclib_matrix *A) {
    int nz = 0, nzmax = 0, *p = NULL, *i = NULL;
    double *x = NULL;
    CAROM_TRY(read_integer(g, "m", &A->m));
    CAROM_TRY(read_integer(g, "n", &A->n));
    CAROM_TRY(read_integer(g, "nz", &nz));
    CAROM_TRY(read_integer(g, "nzmax", &nzmax));
    if (A->m < 0 || A->n < 0 || A->m > MOST_ROWS || A->n > MOST_ROWS || nz < -2 || nzmax < 0 || nzmax > MOST_ENTRIES ||
        nz > nzmax)
        return carom_fail(g->err, CAROM_BAD_INPUT,
                          "%.200s: matrix %s has impossible sizes (%d x %d, nz %d, nzmax %d)", g->file, name,
                          A->m, A->n, nz, nzmax);
    const size_t lines = nz >= 0 ? (size_t)nz : (size_t)(nz == -1 ? A->n : A->m) + 1;
    carom_status status = read_integers(g, "p", lines, &p);
    if (status == CAROM_OK && nz < 0 && (p[0] != 0 || p[lines - 1] < 0 || p[lines - 1] > nzmax))
        status = carom_fail(g->err, CAROM_BAD_INPUT, "%.200s: matrix %s: its lines do not fit into %d entries", g->file,
                            name, nzmax);
    if (status == CAROM_OK) {
        A->count = nz >= 0 ? (size_t)nz : (size_t)p[lines - 1];
        status = read_integers(g, "i", A->count, &i);
    }
    if (status == CAROM_OK) status = read_set(g, "x", H5T_NATIVE_DOUBLE, sizeof(double), A->count, true, (void **)&x);
    if (status == CAROM_OK) status = unpack(g, name, nz, p, i, x, A);
    free(p), free(i), free(x);
    return status;
}

static carom_status read_matrix(const place *p, const char *name, fclib_matrix *A) {
    const place inside = {h5_open_group(p->at, name), p->file, p->err};
    const carom_status status = inside.at < 0 ? wrong(p, "no matrix", name) : read_sparse(&inside, name, A);
    h5_close(inside.at);
    return status;
}

static carom_status misfit(const place *p, const char *what) {
    return carom_fail(p->err, CAROM_BAD_INPUT, "%.200s: %s does not fit the other matrices", p->file, what);
}

// Dimension of space and number of contacts, from the rows that belong to contacts.
static carom_status read_sizes(const place *p, int rows, fclib_local *l) {
    CAROM_TRY(read_integer(p, "spacedim", &l->spacedim));
    if (l->spacedim != 2 && l->spacedim != 3)
        return carom_fail(p->err, CAROM_BAD_INPUT, "%.200s: spacedim must be 2 or 3, got %d", p->file, l->spacedim);
    if (rows % l->spacedim != 0)
        return carom_fail(p->err, CAROM_BAD_INPUT, "%.200s: %d rows are not contacts of %d rows each", p->file, rows,
                          l->spacedim);
    l->nc = rows / l->spacedim;
    return CAROM_OK;
}

static carom_status read_local(const place *p, const place *vectors, fclib_local *l) {
    CAROM_TRY(read_matrix(p, "W", &l->W));
    if (l->W.m != l->W.n) return misfit(p, "W");
    CAROM_TRY(read_sizes(p, l->W.m, l));
    if (has(p, "V")) {
        CAROM_TRY(read_matrix(p, "V", &l->V));
        CAROM_TRY(read_matrix(p, "R", &l->R));
        l->ne = l->R.m;
        if (l->R.m != l->R.n || l->V.m != l->W.m || l->V.n != l->R.n) return misfit(p, "V or R");
        CAROM_TRY(read_vector(vectors, "s", (size_t)l->ne, &l->s));
    }
    CAROM_TRY(read_vector(vectors, "q", (size_t)l->W.m, &l->q));
    return read_vector(vectors, "mu", (size_t)l->nc, &l->mu);
}

typedef struct { fclib_matrix M, H, G; double *f, *w, *b; } global;

static carom_status read_global(const place *p, const place *vectors, global *g, fclib_local *l) {
    CAROM_TRY(read_matrix(p, "M", &g->M));
    CAROM_TRY(read_matrix(p, "H", &g->H));
    if (g->M.m != g->M.n || g->H.m != g->M.m) return misfit(p, "M or H");
    CAROM_TRY(read_sizes(p, g->H.n, l));
    if (has(p, "G")) {
        CAROM_TRY(read_matrix(p, "G", &g->G));
        if (g->G.m != g->M.m) return misfit(p, "G");
        l->ne = g->G.n;
        CAROM_TRY(read_vector(vectors, "b", (size_t)l->ne, &g->b));
    }
    CAROM_TRY(read_vector(vectors, "f", (size_t)g->M.m, &g->f));
    CAROM_TRY(read_vector(vectors, "w", (size_t)g->H.n, &g->w));
    CAROM_TRY(read_vector(vectors, "mu", (size_t)l->nc, &l->mu));
    return fclib_eliminate(l, &g->M, &g->H, &g->G, g->f, g->w, g->b, p->file, p->err);
}

// The title, and the first guess as a start; neither has to be there.
static void read_extras(const place *root, const place *p, fclib_local *l) {
    const hid_t info = h5_open_group(p->at, "info");
    const hid_t title = info >= 0 ? h5_open_packed(info, "title") : -1;
    const hid_t type = title >= 0 ? H5Dget_type(title) : -1, space = title >= 0 ? H5Dget_space(title) : -1;
    const size_t size =
        type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 ? H5Tget_size(type) : 0;
    if (size > 0 && size < 4096 && space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
        (l->title = calloc(1, size + 1)) && H5Dread(title, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, l->title) < 0)
        l->title[0] = 0;
    for (char *c = l->title; c && *c; ++c)
        if ((unsigned char)*c < 32) *c = ' ';
    h5_close(space), h5_close(type), h5_close(title), h5_close(info);
    carom_error ignored;
    const place guess = {h5_open_group(root->at, "guesses/1"), root->file, &ignored};
    if (guess.at >= 0 && read_vector(&guess, "r", (size_t)(l->nc * l->spacedim), &l->r) != CAROM_OK)
        free(l->r), l->r = NULL;
    if (guess.at >= 0 && l->ne > 0 && has(&guess, "l") && read_vector(&guess, "l", (size_t)l->ne, &l->l) != CAROM_OK)
        free(l->l), l->l = NULL;
    h5_close(guess.at);
}

// G = [W V; V' R], c = (q, s)
static problem_data *assemble(const fclib_local *l) {
    const int rows = l->nc * l->spacedim, nb = l->nc + l->ne;
    carom_block *block = calloc((size_t)nb + 1, sizeof *block);
    problem_entry *entry = calloc(l->W.count + 2 * l->V.count + l->R.count + 1, sizeof *entry);
    problem_data *d = NULL;
    size_t n = 0;
    if (block && entry) {
        for (int i = 0; i < nb; ++i)
            block[i] = (carom_block){.law = i < l->nc ? carom_law_friction(l->spacedim - 1) : CAROM_BILATERAL,
                                     .mu = i < l->nc ? l->mu[i] : 0};
        for (size_t k = 0; k < l->W.count; ++k) entry[n++] = l->W.entry[k];
        for (size_t k = 0; k < l->V.count; ++k) {
            const problem_entry e = l->V.entry[k];
            entry[n++] = (problem_entry){e.row, rows + e.col, e.x};
            entry[n++] = (problem_entry){rows + e.col, e.row, e.x};
        }
        for (size_t k = 0; k < l->R.count; ++k)
            entry[n++] = (problem_entry){rows + l->R.entry[k].row, rows + l->R.entry[k].col, l->R.entry[k].x};
        d = problem_data_create(block, nb, entry, n);
    }
    for (int i = 0; d && i < d->pb.n; ++i) {
        d->c[i] = i < rows ? l->q[i] : l->s[i - rows];
        d->p[i] = i < rows ? (l->r ? l->r[i] : 0) : (l->l ? l->l[i - rows] : 0);
    }
    free(block), free(entry);
    return d;
}

static carom_status check_friction(const fclib_local *l, const char *file, carom_error *err) {
    for (int i = 0; i < l->nc; ++i)
        if (!(l->mu[i] >= 0 && l->mu[i] < INFINITY))
            return carom_fail(err, CAROM_BAD_INPUT, "%.200s: contact %d has friction %g", file, i, l->mu[i]);
    return CAROM_OK;
}

static carom_status read_problem(carom_problem_list *list, const place *root) {
    const bool is_local = has(root, "fclib_local"), is_global = has(root, "fclib_global");
    if (!is_local && !is_global)
        return carom_fail(root->err, CAROM_BAD_INPUT,
                          "%.200s is an HDF5 file without a group fclib_local or fclib_global: not a contact problem",
                          root->file);
    const place p = {h5_open_group(root->at, is_local ? "fclib_local" : "fclib_global"), root->file, root->err};
    const place vectors = {p.at >= 0 ? h5_open_group(p.at, "vectors") : -1, root->file, root->err};
    fclib_local l = {0};
    global g = {0};
    carom_status status = vectors.at < 0 ? wrong(&p, "no group", "vectors")
                          : is_local     ? read_local(&p, &vectors, &l)
                                         : read_global(&p, &vectors, &g, &l);
    if (status == CAROM_OK) status = check_friction(&l, root->file, root->err);
    if (status == CAROM_OK) {
        read_extras(root, &p, &l);
        problem_data *d = assemble(&l);
        if (d) d->title = l.title, l.title = NULL;
        status = problem_list_append(list, d, root->err);
    }
    h5_close(vectors.at), h5_close(p.at);
    void *parts[] = {l.W.entry, l.V.entry, l.R.entry, l.q,       l.s, l.mu, l.r, l.l,
                     l.title,   g.M.entry, g.H.entry, g.G.entry, g.f, g.w,  g.b};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) free(parts[i]);
    return status;
}

carom_status fclib_read(carom_problem_list *list, const char *file, carom_error *err) {
    h5_hush hush;
    h5_hush_begin(&hush);
    const place root = {H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT), file, err};
    const carom_status status = root.at < 0 ? h5_fail(err, "cannot open %.200s", file) : read_problem(list, &root);
    h5_close(root.at);
    h5_hush_end(&hush);
    return status;
}
