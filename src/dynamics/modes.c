// modes.c: frequencies, damping ratios and shapes from eigenvalues.
#include "dynamics/sampled.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { SMALL = 300, SOME = 20 }; // freedoms of a small model; modes of a large one that are found by default
enum { FEW = 4 };                // of long mechanisms: so many times fewer modes than freedoms are few

static const double AS_LARGE = 1e-9; // of a component: of those that are as large, the first counts
static const double SAME = 1e-9;     // of a frequency, an eigenvalue: their difference is rounding
static const double UNDAMPED = 1e-9; // of an eigenvalue: a real part that is rounding
static const double TURN = 6.283185307179586; // 2 pi

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
    qsort(modes->mode, (size_t)modes->count, sizeof *modes->mode, by_speed);
    for (int i = 1; i < modes->count; ++i)
        for (int k = i; k > 0; --k) {
            carom_mode *x = &modes->mode[k - 1], *y = x + 1, faster = *x;
            if (x->re >= y->re || y->frequency - x->frequency > SAME * y->frequency) break;
            *x = *y, *y = faster;
        }
}

static const double ANOTHER = 1e-4;  // of a shape: what is left of one beside others
static const double SLOW = 1e-5;     // of the fastest mode: a mode that may be rigid

// y += (re + i im) x,  complex shapes
static void add_shape(double *y, double re, double im, const double *x, int nv) {
    for (int i = 0; i < nv; ++i) {
        y[i] += re * x[i] - im * x[nv + i];
        y[nv + i] += re * x[nv + i] + im * x[i];
    }
}

// x, y: to where y has no component i, by a rotation of both
static void rotate(double *x, double *y, int i, int nv) {
    const double a = x[i], b = x[nv + i], c = y[i], d = y[nv + i], size = hypot(hypot(a, b), hypot(c, d));
    for (int k = 0; k < nv && hypot(c, d) > 0; ++k) {
        const double re = x[k], im = x[nv + k], Re = y[k], Im = y[nv + k];
        x[k] = (a * re + b * im + c * Re + d * Im) / size;
        x[nv + k] = (a * im - b * re + c * Im - d * Re) / size;
        y[k] = (-c * re + d * im + a * Re - b * Im) / size;
        y[nv + k] = (-c * im - d * re + a * Im + b * Re) / size;
    }
}

// Is x, less what it has of the others, another shape?  Then it becomes a unit vector.
static bool orthogonal(double *x, const carom_mode *others, int count, int nv) {
    const double size = carom_length(x, 2 * nv);
    for (int k = 0; k < count; ++k) {
        const double *y = others[k].shape;
        add_shape(x, -carom_dot(y, x, 2 * nv), carom_dot(y + nv, x, nv) - carom_dot(y, x + nv, nv), y, nv);
    }
    const double left = carom_length(x, 2 * nv);
    for (int i = 0; i < 2 * nv && left > ANOTHER * size; ++i) x[i] /= left;
    return left > ANOTHER * size;
}

// The component of which shapes of unit length have most together, whatever shapes of their space they are.
static int most_of(const carom_mode *mode, int count, int nv) {
    double most = 0;
    int at = 0;
    for (int i = 0; i < nv; ++i) {
        double size = 0;
        for (int k = 0; k < count; ++k) size = hypot(size, hypot(mode[k].shape[i], mode[k].shape[nv + i]));
        if (size > (1 + AS_LARGE) * most) most = size, at = i;
    }
    return at;
}

// (MOD-5)  Shapes of one eigenvalue: any that span their space.  Each gets a component that the others do not have, the
//          largest there is.  Those that hardly span more than one shape stay.
static void part(carom_mode *mode, int count, double *was, int nv) {
    bool good = true;
    for (int k = 0; k < count; ++k) carom_copy(was + 2 * (size_t)k * (size_t)nv, mode[k].shape, 2 * nv);
    for (int k = 0; k < count; ++k) good = good && orthogonal(mode[k].shape, mode, k, nv);
    for (int k = 0; k < count && !good; ++k) carom_copy(mode[k].shape, was + 2 * (size_t)k * (size_t)nv, 2 * nv);
    for (int k = 0; k < count && good; ++k) {
        const int at = most_of(mode + k, count - k, nv);
        for (int j = k + 1; j < count; ++j) rotate(mode[k].shape, mode[j].shape, at, nv);
        const double *x = mode[k].shape, size = x[at] * x[at] + x[nv + at] * x[nv + at];
        for (int j = 0; j < k; ++j) {
            double *y = mode[j].shape;
            const double re = y[at], im = y[nv + at];
            add_shape(y, -(re * x[at] + im * x[nv + at]) / size, -(im * x[at] - re * x[nv + at]) / size, x, nv);
        }
    }
    for (int k = 0; k < count && good; ++k) normalise(mode[k].shape, nv);
}

static void part_all(carom_modes *modes, double *was) {
    for (int i = 0, n; i < modes->count; i += n) {
        const carom_mode *m = &modes->mode[i];
        const double size = hypot(m->re, m->im);
        for (n = 1; i + n < modes->count && size > 0; ++n)
            if (hypot(m[n].re - m->re, m[n].im - m->im) > SAME * size) break;
        if (n > 1) part(&modes->mode[i], n, was, modes->nv);
    }
}

// One mode of each pair of eigenvalues; of zeros, which come in pairs too, every second.
static void gather(carom_modes *modes, carom_spectrum *s) {
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
    part_all(modes, s->shape); // these have been copied
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

// Shapes (nv each) that span the same space: each has a component 1, number one[k], where the others have 0.  Those
// that move states are left out, as the integral of a state is in no force.
static int simplify(double *shapes, int count, const carom_point *p, int *one) {
    const int nv = p->nv, first = p->sys.first_state, last = first + p->sys.nstates;
    int kept = 0;
    for (int n = 0; n < count; ++n) {
        int at = -1, pivot = -1;
        double most = 0;
        for (int pass = 0; pass < 2 && pivot < 0; ++pass) // states first
            for (int k = kept; k < count; ++k)
                for (int i = 0; i < nv; ++i) {
                    const double size = fabs(shapes[(size_t)k * (size_t)nv + (size_t)i]);
                    const bool state = i >= first && i < last;
                    if (state == (pass == 0) && size > (1 + AS_LARGE) * most && (pass == 1 || size > ANOTHER))
                        most = size, at = k, pivot = i;
                }
        if (pivot < 0) break;
        double *x = shapes + (size_t)at * (size_t)nv;
        const double by = x[pivot];
        for (int i = 0; i < nv; ++i) x[i] /= by;
        for (int k = 0; k < count; ++k) {
            double *y = shapes + (size_t)k * (size_t)nv;
            if (k != at) carom_axpy(y, -y[pivot], x, nv);
        }
        if (pivot >= first && pivot < last) {
            carom_copy(x, shapes + (size_t)--count * (size_t)nv, nv), --n;
            continue;
        }
        for (int i = 0; i < nv && at != kept; ++i) {
            double *y = shapes + (size_t)kept * (size_t)nv;
            const double z = x[i];
            x[i] = y[i], y[i] = z;
        }
        one[kept++] = pivot;
    }
    return kept;
}

// What is left of a shape, real and imaginary part, beside those of simplify(), of the size of both parts: one of them
// may be rounding alone.
static double beside(const double *shapes, int count, const int *one, const double *x, double *y, int nv) {
    const double size = carom_length(x, 2 * nv);
    double most = 0;
    for (const double *part = x; part <= x + nv; part += nv) {
        carom_copy(y, part, nv);
        for (int k = 0; k < count; ++k) carom_axpy(y, -part[one[k]], shapes + (size_t)k * (size_t)nv, nv);
        most = fmax(most, carom_length(y, nv));
    }
    return size > 0 ? most / size : 0;
}

// (MOD-4)  Rigid-body modes: K x = 0 up to the rounding of its terms.  Eigenvalues are zeros that rounding has made
//          sqrt(eps) of the fastest, with shapes that are no better; the null space of K takes their place.
static carom_status find_rigid(carom_modes *modes, const carom_linear *l, carom_error *err) {
    const size_t nv = (size_t)modes->nv;
    double fastest = 0, *shapes = calloc(nv * (nv + 2) + 1, sizeof *shapes), *y = shapes + nv * (nv + 1);
    int rigid = 0, kept = 0, *one = calloc(nv + 1, sizeof *one);
    if (!shapes || !one) {
        free(shapes), free(one);
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the modes");
    }
    carom_status status = carom_linear_motionless(l, shapes, &rigid, err);
    rigid = simplify(shapes, rigid, &l->grip.p, one);
    for (int i = 0; i < modes->count; ++i) fastest = fmax(fastest, hypot(modes->mode[i].re, modes->mode[i].im));
    for (int i = 0; i < modes->count && rigid > 0; ++i) {
        const carom_mode m = modes->mode[i];
        if (hypot(m.re, m.im) <= SLOW * fastest &&
            beside(shapes, rigid, one, m.shape, y, modes->nv) < ANOTHER)
            continue;
        modes->mode[kept++] = m;
    }
    if (rigid > 0 && status == CAROM_OK) { // behind the shapes that are there
        carom_mode *more = realloc(modes->mode, (size_t)(kept + rigid + 1) * sizeof *more);
        double *room = calloc(2 * nv * (size_t)(kept + rigid) + 1, sizeof *room);
        if (more) modes->mode = more;
        if (!more || !room) status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the modes");
        for (int i = 0; i < kept + rigid && status == CAROM_OK; ++i) {
            double *shape = room + 2 * nv * (size_t)i;
            if (i < kept) carom_copy(shape, modes->mode[i].shape, 2 * modes->nv);
            else carom_copy(shape, shapes + (size_t)(i - kept) * nv, modes->nv);
            if (i >= kept) modes->mode[i] = (carom_mode){.rigid = true};
            modes->mode[i].shape = shape;
        }
        if (status == CAROM_OK) {
            free(modes->shapes);
            modes->shapes = room, modes->count = kept + rigid;
            for (int i = kept; i < modes->count; ++i) normalise(modes->mode[i].shape, modes->nv);
            sort(modes);
        } else free(room);
    }
    free(shapes), free(one);
    return status;
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
    if (!modes || !m) return carom_fail(err, CAROM_BAD_INPUT, "modes need a model and a result pointer");
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
