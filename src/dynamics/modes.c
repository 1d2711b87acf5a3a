// modes.c: frequencies, damping ratios and shapes from eigenvalues.
#include "dynamics/sampled.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { SMALL = 300, SOME = 20 }; // freedoms of a small model; modes of a large one that are found by default
enum { FEW = 4 };                // of long mechanisms: so many times fewer modes than freedoms are few

static const double AS_LARGE = 1e-9; // of a component: of those that are as large, the first counts
static const double UNDAMPED = 1e-9; // of an eigenvalue: a real part that is rounding
static const double TURN = 6.283185307179586;

// The largest component becomes 1.
static void normalise(double *shape, int nv) {
    double most = 0, re = 1, im = 0;
    for (int i = 0; i < nv; ++i) {
        const double size = hypot(shape[i], shape[nv + i]);
        if (size > (1 + AS_LARGE) * most) most = size, re = shape[i], im = shape[nv + i];
    }
    if (!(most > 0)) return;
    for (int i = 0; i < nv; ++i) {
        const double x = shape[i], y = shape[nv + i];
        shape[i] = (x * re + y * im) / (most * most);
        shape[nv + i] = (y * re - x * im) / (most * most);
    }
}

static int by_speed(const void *a, const void *b) {
    const carom_mode *x = a, *y = b;
    return (x->frequency > y->frequency) - (x->frequency < y->frequency);
}

// From the slowest to the fastest; of modes of one frequency, as in flutter, those that grow stand first, whatever
// rounding makes of their frequencies.
static void sort(carom_modes *modes) {
    static const double SAME = 1e-9; // of a frequency
    qsort(modes->mode, (size_t)modes->count, sizeof *modes->mode, by_speed);
    for (int i = 1; i < modes->count; ++i)
        for (int k = i; k > 0; --k) {
            carom_mode *x = &modes->mode[k - 1], *y = x + 1, faster = *x;
            if (x->re >= y->re || y->frequency - x->frequency > SAME * y->frequency) break;
            *x = *y, *y = faster;
        }
}

static const double ANOTHER = 1e-4;  // of a shape: what is left of one beside others
static const double SLOW = 1e-5, ROUNDED = 1e-8; // of the fastest mode: a mode that may be rigid; of the terms of a
                                                 // force: what the error of a shape leaves of it

// One mode of each pair of eigenvalues; of zeros, which come in pairs too, every second.
static void gather(carom_modes *modes, const carom_spectrum *s) {
    int zeros = 0;
    const size_t nv = (size_t)modes->nv;
    for (int k = 0; k < s->n; ++k) {
        const double size = hypot(s->re[k], s->im[k]);
        const bool zero = size <= s->tiny;
        if (zero ? zeros++ % 2 : s->im[k] < 0) continue;
        carom_mode *m = &modes->mode[modes->count];
        m->re = zero || fabs(s->re[k]) <= fmin(s->rounding, UNDAMPED * size) ? 0 : s->re[k],
        m->im = zero ? 0 : s->im[k];
        m->frequency = zero ? 0 : size / TURN;
        m->damping = m->re == 0 ? 0 : -m->re / size;
        m->shape = modes->shapes + 2 * nv * (size_t)modes->count++;
        carom_copy(m->shape, s->shape + 2 * nv * (size_t)k, 2 * modes->nv);
        normalise(m->shape, modes->nv);
    }
    sort(modes);
}

// (STA-4)  The integral y of a first-order state, y' = z, is in no force: an eigenvalue 0 for each, with a shape of y
//          alone, is left out.  Of the others the shape has z = lambda y in its place.
static void forget_integrals(carom_spectrum *s, const carom_point *p) {
    const size_t nv = (size_t)p->nv;
    const int first = p->sys.first_state, n = p->sys.nstates;
    for (int round = 0; round < n && s->n > 0; ++round) {
        int best = 0;
        double least = HUGE_VAL;
        for (int k = 0; k < s->n; ++k) {
            const double *shape = s->shape + 2 * nv * (size_t)k, size = hypot(s->re[k], s->im[k]);
            const double moves =
                fmax(carom_point_largest(p, shape, p->nv), carom_point_largest(p, shape + nv, p->nv)) /
                fmax(carom_norm_max(shape, 2 * p->nv), DBL_MIN);
            const double far = size <= s->tiny ? moves : 1 + size / fmax(s->tiny, DBL_MIN);
            if (far < least) least = far, best = k;
        }
        --s->n;
        for (int k = best; k < s->n; ++k) {
            s->re[k] = s->re[k + 1], s->im[k] = s->im[k + 1];
            carom_copy(s->shape + 2 * nv * (size_t)k, s->shape + 2 * nv * (size_t)(k + 1), 2 * p->nv);
        }
    }
    for (int k = 0; k < s->n; ++k)
        for (int i = first; i < first + n && hypot(s->re[k], s->im[k]) > s->tiny; ++i) {
            double *re = s->shape + 2 * nv * (size_t)k + i, *im = re + nv;
            const double x = *re, y = *im;
            *re = s->re[k] * x - s->im[k] * y, *im = s->re[k] * y + s->im[k] * x;
        }
}

// Is A x nothing but rounding of its terms, beside the forces of constraints?  y: nv, terms: nv, basis: nv x rows.
static bool vanishes(const carom_linear *l, carom_linear_part part, const double *x, double *y, double *terms,
                     double *basis) {
    const carom_grip *g = &l->grip;
    const int nv = g->p.nv;
    int rank = 0;
    carom_zero(terms, nv);
    for (int j = 0; j < nv; ++j) {
        carom_zero(basis, nv);
        basis[j] = x[j];
        carom_linear_multiply(l, part, basis, y);
        for (int i = 0; i < nv; ++i) terms[i] += fabs(y[i]);
    }
    carom_linear_multiply(l, part, x, y);
    for (int k = 0; k < carom_grip_all(g); ++k) {
        double *b = basis + (size_t)rank * (size_t)nv;
        carom_grip_row(g, k, b + nv, b);
        const double size = carom_length(b, nv);
        for (int round = 0; round < 2; ++round)
            for (int i = 0; i < rank; ++i)
                carom_axpy(b, -carom_dot(basis + (size_t)i * (size_t)nv, b, nv), basis + (size_t)i * (size_t)nv, nv);
        const double left = carom_length(b, nv);
        if (!(left > CAROM_DEPENDENT * size)) continue;
        for (int i = 0; i < nv; ++i) b[i] /= left;
        ++rank;
    }
    for (int i = 0; i < rank; ++i)
        carom_axpy(y, -carom_dot(basis + (size_t)i * (size_t)nv, y, nv), basis + (size_t)i * (size_t)nv, nv);
    const double most = rank > 0 ? carom_norm_max(terms, nv) : 0;
    for (int i = 0; i < nv; ++i)
        if (fabs(y[i]) > ROUNDED * fmax(terms[i], most)) return false;
    return true;
}

// Is a shape independent of `rank` others?  Then it is one of them.
static bool adds(double *shapes, int *rank, const double *x, int nv) {
    double *to = shapes + (size_t)*rank * (size_t)nv;
    if (*rank == nv) return false;
    carom_copy(to, x, nv);
    const double size = carom_length(to, nv);
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < *rank; ++i)
            carom_axpy(to, -carom_dot(shapes + (size_t)i * (size_t)nv, to, nv), shapes + (size_t)i * (size_t)nv, nv);
    const double left = carom_length(to, nv);
    if (!(left > ANOTHER * size)) return false;
    for (int i = 0; i < nv; ++i) to[i] /= left;
    return ++*rank, true;
}

// (MOD-4)  Rigid-body modes: K x = 0 up to the rounding of its terms.  Their eigenvalues are zeros that rounding has
//          made sqrt(eps) of the fastest: 0 again, and one mode for each independent shape.
static carom_status find_rigid(carom_modes *modes, const carom_linear *l, carom_error *err) {
    const size_t nv = (size_t)modes->nv;
    double fastest = 0, *y = calloc(nv * ((size_t)carom_grip_all(&l->grip) + 4 + nv) + 1, sizeof *y), *terms = y + nv,
           *shapes = terms + nv, *basis = shapes + nv * nv;
    if (!y) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the modes");
    for (int i = 0; i < modes->count; ++i) fastest = fmax(fastest, hypot(modes->mode[i].re, modes->mode[i].im));
    int kept = 0, rank = 0;
    for (int i = 0; i < modes->count; ++i) {
        carom_mode m = modes->mode[i];
        const double size = hypot(m.re, m.im);
        if (size <= SLOW * fastest) {
            m.rigid = vanishes(l, CAROM_LINEAR_K, m.shape, y, terms, basis);
            if (m.rigid) m.re = m.im = m.frequency = m.damping = 0;
            if (m.rigid && !adds(shapes, &rank, m.shape, modes->nv)) continue;
        }
        modes->mode[kept++] = m;
    }
    modes->count = kept;
    free(y);
    return CAROM_OK;
}

// The slowest modes alone, where all are too many, or few are asked for of a mechanism with many velocities.
static bool is_large(const carom_linear *l, int count) {
    const carom_point *p = &l->grip.p;
    const int freedoms = p->nv - carom_grip_all(&l->grip);
    if (l->frame || l->drift || p->sys.signals->nsamplers > 0) return false;
    if (freedoms > SMALL) return true;
    return p->nv > SMALL && l->grip.nj > 0 && p->sys.nstates == 0 && count > 0 && FEW * count < freedoms;
}

static carom_status find(carom_modes *modes, carom_linear *l, int count, carom_error *err) {
    const carom_point *p = &l->grip.p;
    carom_spectrum s = {.n = 0};
    const bool sampled = p->sys.signals->nsamplers > 0, large = is_large(l, count);
    const int wanted = p->sys.nstates + (count > 0 ? count : large ? SOME : p->nv);
    modes->method = large ? "arpack" : "lapack";
    modes->joints = l->joints, modes->sticking = l->sticking, modes->sliding = l->sliding;
    modes->unbalanced = l->unbalanced;
    carom_status status = sampled ? carom_spectrum_sampled(&s, l, &modes->sample, &modes->forgotten, err)
                          : large ? carom_spectrum_sparse(&s, l, wanted < p->nv / 2 ? wanted : p->nv / 2, err)
                                : carom_spectrum_dense(&s, l, err);
    modes->q = calloc((size_t)p->nq + (size_t)p->nv, sizeof *modes->q);
    modes->mode = calloc((size_t)s.n + 1, sizeof *modes->mode);
    modes->shapes = calloc(2 * (size_t)p->nv * ((size_t)s.n + 1), sizeof *modes->shapes);
    if (status == CAROM_OK && !(modes->q && modes->mode && modes->shapes))
        status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the modes");
    if (status == CAROM_OK) {
        modes->v = modes->q + p->nq;
        carom_copy(modes->q, p->q, p->nq);
        carom_copy(modes->v, p->v, p->nv);
        if (p->sys.nstates > 0) forget_integrals(&s, p);
        gather(modes, &s);
        if (!l->frame && !l->drift && !large && !sampled) status = find_rigid(modes, l, err);
        if (count > 0 && modes->count > count) modes->count = count;
    }
    free(s.re);
    free(s.im);
    free(s.shape);
    return status;
}

carom_status carom_modes_find(carom_modes *modes, const carom_model *m, const carom_modes_def *def, carom_error *err) {
    static const carom_modes_def usual = {0};
    carom_error own = {0};
    if (!err) err = &own;
    if (modes) *modes = (carom_modes){0};
    if (!modes || !m) return carom_fail(err, CAROM_BAD_INPUT, "modes need a model and a place for the answer");
    if (!def) def = &usual;
    *modes = (carom_modes){.nv = carom_model_system(m)->nv};
    carom_linear *l = calloc(1, sizeof *l); // must stay where it is, and is large
    if (!l) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the modes");
    carom_status status = carom_linear_make(l, m, def, err);
    if (status == CAROM_OK) status = find(modes, l, def->count, err);
    carom_linear_free(l);
    free(l);
    return status;
}

void carom_modes_free(carom_modes *modes) {
    if (!modes) return;
    free(modes->q);
    free(modes->mode);
    free(modes->shapes);
    *modes = (carom_modes){0};
}
