// matrices.c: a linear member of any kind, given by its matrices.
//
//     f = load - K q - (C + a M + b K) v                                                                     (FLX-9)
//
// Rows are degrees of freedom, counted from 1 in names and as arc lengths; fixed ones are left out.  M and K are
// symmetric; C may be anything (its skew part does no work).
#include "base/tolerance.h"
#include "flex/flex.h"
#include "flex/member.h"
#include <math.h>
#include <stdlib.h>
#include "flex/matrices.inc"

static void free_rows(flex_rows *A) {
    free(A->start);
    free(A->col);
    free(A->value);
}

void carom_flex_matrices_free(flex_matrices *x) {
    if (!x) return;
    free_rows(&x->M);
    free_rows(&x->K);
    free_rows(&x->C);
    free(x);
}

// -- making --------------------------------------------------------------------------------------------------

static carom_status check_matrix(const carom_triplets *t, const char *what, int n, carom_error *err) {
    if (t->rows != t->cols)
        return carom_fail(err, CAROM_BAD_INPUT, "the %s matrix has %d rows and %d columns; it must be square", what,
                          t->rows, t->cols);
    if (t->rows != n)
        return carom_fail(err, CAROM_BAD_INPUT, "the %s matrix has %d rows, the mass matrix %d", what, t->rows, n);
    for (size_t k = 0; k < t->count; ++k)
        if (t->row[k] < 0 || t->row[k] >= n || t->col[k] < 0 || t->col[k] >= n || !isfinite(t->value[k]))
            return carom_fail(err, CAROM_BAD_INPUT, "entry %zu of the %s matrix lies outside it or is not a number",
                              k + 1, what);
    return CAROM_OK;
}

carom_status carom_flex_matrices_check(const carom_member_def *d, carom_error *err) {
    if (!d->mass || !d->stiffness) return carom_fail(err, CAROM_BAD_INPUT, "a mass and a stiffness matrix are needed");
    if (d->mass->rows < 1) return carom_fail(err, CAROM_BAD_INPUT, "the mass matrix has no rows");
    CAROM_TRY(check_matrix(d->mass, "mass", d->mass->rows, err));
    CAROM_TRY(check_matrix(d->stiffness, "stiffness", d->mass->rows, err));
    if (d->damping) CAROM_TRY(check_matrix(d->damping, "damping", d->mass->rows, err));
    if (!(d->damping_mass >= 0 && d->damping_stiffness >= 0) || !isfinite(d->damping_mass + d->damping_stiffness))
        return carom_fail(err, CAROM_BAD_INPUT, "damping must not be negative, got %g and %g", d->damping_mass,
                          d->damping_stiffness);
    return CAROM_OK;
}

// Rows of what is not fixed, columns ascending; entries that are zero are left out, those at one place are added.
static bool make_rows(flex_rows *A, const carom_triplets *t, const carom_member *m) {
    const size_t n = (size_t)m->n;
    A->start = calloc(n + 2, sizeof *A->start);
    A->col = malloc((t->count + 1) * sizeof *A->col);
    A->value = malloc((t->count + 1) * sizeof *A->value);
    size_t *first = calloc(n + 2, sizeof *first), *by_column = malloc((t->count + 1) * sizeof *by_column);
    const bool good = A->start && A->col && A->value && first && by_column;
    for (size_t k = 0; good && k < t->count; ++k) {
        const int i = m->unknown[t->row[k]], j = m->unknown[t->col[k]];
        if (i >= 0 && j >= 0 && t->value[k] != 0) ++first[j + 1], ++A->start[i + 2];
    }
    for (size_t i = 0; good && i < n; ++i) first[i + 1] += first[i], A->start[i + 2] += A->start[i + 1];
    for (size_t k = 0; good && k < t->count; ++k) { // by columns, then from there by rows: columns ascend
        const int i = m->unknown[t->row[k]], j = m->unknown[t->col[k]];
        if (i >= 0 && j >= 0 && t->value[k] != 0) by_column[first[j]++] = k;
    }
    for (size_t e = 0; good && n > 0 && e < first[n - 1]; ++e) {
        const size_t k = by_column[e], at = A->start[m->unknown[t->row[k]] + 1]++;
        A->col[at] = m->unknown[t->col[k]];
        A->value[at] = t->value[k];
    }
    free(first);
    free(by_column);
    if (!good) return false;
    size_t kept = 0; // those at one place
    for (size_t i = 0, from = 0; i < n; ++i) {
        const size_t begin = kept, end = A->start[i + 1];
        for (size_t e = from; e < end; ++e) {
            if (kept > begin && A->col[kept - 1] == A->col[e]) A->value[kept - 1] += A->value[e];
            else A->col[kept] = A->col[e], A->value[kept++] = A->value[e];
        }
        from = end;
        A->start[i] = begin;
    }
    A->start[n] = kept;
    return true;
}

static double at(const flex_rows *A, int i, int j) {
    size_t low = A->start[i], high = A->start[i + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (A->col[middle] == j) return A->value[middle];
        if (A->col[middle] < j) low = middle + 1;
        else high = middle;
    }
    return 0;
}

// To rounding; what is nearly so would make energy.
static carom_status symmetric(const flex_rows *A, const carom_member *m, const char *what, carom_error *err) {
    for (int i = 0; i < m->n; ++i)
        for (size_t e = A->start[i]; e < A->start[i + 1]; ++e) {
            const double x = A->value[e], y = at(A, A->col[e], i);
            if (!(fabs(x - y) <= CAROM_SAME * (fabs(x) + fabs(y))))
                return carom_fail(
                    err, CAROM_BAD_INPUT, "the %s matrix is not symmetric: entry (%d, %d) is %.17g, (%d, %d) is %.17g",
                    what, m->place[i] + 1, m->place[A->col[e]] + 1, x, m->place[A->col[e]] + 1, m->place[i] + 1, y);
        }
    return CAROM_OK;
}

static int band_of(const flex_rows *A, int n, int band) {
    for (int i = 0; A->start && i < n; ++i)
        for (size_t e = A->start[i]; e < A->start[i + 1]; ++e)
            if (abs(A->col[e] - i) > band) band = abs(A->col[e] - i);
    return band;
}

carom_status carom_flex_matrices_make(carom_member *m, carom_error *err) {
    flex_matrices *x = m->matrices = calloc(1, sizeof *x);
    const carom_member_def *d = &m->def;
    bool good = x && make_rows(&x->M, d->mass, m) && make_rows(&x->K, d->stiffness, m) &&
                (!d->damping || make_rows(&x->C, d->damping, m));
    if (good && d->load) {
        m->load = calloc((size_t)m->n + 1, sizeof *m->load);
        good = m->load != NULL;
        for (int i = 0; good && i < m->n; ++i) d->load(d->load_user, m->place[i] + 1, &m->load[i]);
    }
    if (!good) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for matrices of %d rows", m->n);
    CAROM_TRY(symmetric(&x->M, m, "mass", err));
    CAROM_TRY(symmetric(&x->K, m, "stiffness", err));
    m->mass_band = band_of(&x->M, m->n, 0);
    m->band = band_of(&x->C, m->n, band_of(&x->K, m->n, m->mass_band));
    for (int i = 0; i < m->n; ++i) {
        const double mass = at(&x->M, i, i);
        if (mass < 0)
            return carom_fail(err, CAROM_BAD_INPUT, "the mass matrix has %g at (%d, %d); it must not be negative", mass,
                              m->place[i] + 1, m->place[i] + 1);
        m->light = m->light || mass == 0;
    }
    return CAROM_OK;
}

// -- mass, pattern ----------------------------------------------------------------------------------

void carom_flex_matrices_mass_add(const carom_member *m, double s, const double *x, double *y) {
    for (int i = 0; i < m->n; ++i) y[i] += s * row_dot(&m->matrices->M, i, x);
}

void carom_flex_matrices_mass(const carom_member *m, carom_matrix M, int at) {
    rows_scatter(&m->matrices->M, m->n, 1, M, at);
}

void carom_member_entries(const carom_member *m, bool mass, void *user, void (*entry)(void *user, int i, int j)) {
    const flex_matrices *x = m->matrices;
    const int band = mass ? m->mass_band : m->band;
    for (int i = 0; !mass && m->nmodal && i < m->n * m->n; ++i) entry(user, i / m->n, i % m->n);
    for (int i = 0; !x && i < m->n; ++i)
        for (int j = i > band ? i - band : 0; j <= i + band && j < m->n; ++j) entry(user, i, j);
    if (!x) return;
    const flex_rows *const all[3] = {&x->M, &x->K, &x->C};
    for (int k = 0; k < (mass ? 1 : 3); ++k)
        for (int i = 0; all[k]->start && i < m->n; ++i)
            for (size_t e = all[k]->start[i]; e < all[k]->start[i + 1]; ++e) entry(user, i, all[k]->col[e]);
}

// -- frequencies -------------------------------------------------------------------------------------------------

// With D = diag(M), M = D + E:  omega^2 <= |D^-1 K| / (1 - |D^-1 E|), the largest sums of absolute values in a row.
double carom_flex_matrices_fastest(const carom_member *m) {
    const flex_matrices *x = m->matrices;
    double stiff = 0, off = 0;
    for (int i = 0; i < m->n; ++i) {
        const double d = at(&x->M, i, i);
        double K = 0, E = -d;
        for (size_t e = x->K.start[i]; e < x->K.start[i + 1]; ++e) K += fabs(x->K.value[e]);
        for (size_t e = x->M.start[i]; e < x->M.start[i + 1]; ++e) E += fabs(x->M.value[e]);
        stiff = fmax(stiff, K / d);
        off = fmax(off, E / d);
    }
    return off < 1 ? sqrt(stiff / (1 - off)) : NAN;
}

// A frequency squared that a chain of this size would have at the lowest.
double carom_flex_matrices_typical(const carom_member *m) {
    const flex_matrices *x = m->matrices;
    double K = 0, M = 0;
    for (int i = 0; i < m->n; ++i) K += fabs(at(&x->K, i, i)), M += at(&x->M, i, i);
    return K > 0 && M > 0 ? K / M / m->n / m->n : 1;
}

const flex_kind carom_flex_matrices = {.component = {"u"}, .per = 1, .linear = true, .rule = MATRICES_RULE};
