// steady.c: controllers where the mechanism rests.
//
//     A d - F dz = b,   -H d + ((1 + slow) 1 - C) dz = c - z - slow moved                                       (STD-1)
//
// with F = df/dz, H = dc/dq, C = dc/dz: Newton's method for f = 0 and z = c(q, 0, z), where A d = b is that of the
// mechanism alone.  slow > 0 lets z follow like c - z would move it in a time; an integrator, C = 1, needs that far
// away. By elimination of d:  ((1 + slow) 1 - C - H A^-1 F) dz = c - z - slow moved + H A^-1 b.
#include "dynamics/steady.h"
#include "derive/variation.h"
#include "linalg/dense.h"
#include "model/controls.h"
#include <math.h>
#include <stdlib.h>

static const double WEAK = 1e-3; // of the largest signal on the way: where all are smaller, errors are judged by this

carom_status carom_steady_open(carom_steady *s, const carom_point *p, bool rates, carom_error *err) {
    const carom_model *model = p->model;
    const carom_system *sys = carom_model_system(model);
    *s = (carom_steady){.m = sys->signals->nsamplers > 0 ? sys->signals->ni - sys->signals->nset : 0};
    if (s->m == 0) return CAROM_OK;
    const int link = carom_model_controlled_link(model);
    if (link >= 0)
        return carom_fail(err, CAROM_UNSUPPORTED,
                          "equilibria and modes are not supported where a controller moves a joint or a wall, as "
                          "'%.60s'",
                          carom_model_constraint(model, link));
    const size_t m = (size_t)s->m, nv = (size_t)p->nv;
    double **part[] = {&s->all, &s->computed, &s->F,     &s->H,    &s->C,    &s->V,      &s->X,   &s->S,
                       &s->r,   &s->dz,       &s->moved, &s->rows, &s->unit, &s->before, &s->best};
    const size_t size[] = {(size_t)sys->signals->ni, (size_t)carom_model_controlled(model),
                           nv * m,          m * nv,
                           m * m,           rates ? m * nv : 0,
                           nv * m,          m * m,
                           m,               m,
                           m,               m * (size_t)p->n,
                           nv + m,          m,
                           m};
    bool good = true;
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i)
        *part[i] = calloc(size[i] + 1, sizeof(double)), good = good && *part[i];
    int *chosen = calloc(m, sizeof *chosen);
    s->pivot = calloc(m, sizeof *s->pivot);
    if (!good || !chosen || !s->pivot)
        return free(chosen), carom_fail(err, CAROM_NO_MEMORY, "not enough memory for controllers at rest");
    if (!rates) free(s->V), s->V = NULL;
    s->z = s->all + sys->signals->nset;
    carom_copy(s->all, sys->signals->input, sys->signals->ni);
    for (int i = 0; i < s->m; ++i) chosen[i] = carom_model_count(model).parameters + sys->signals->nset + i;
    s->x = carom_variation_create(model, s->m, chosen, err);
    free(chosen);
    return s->x ? CAROM_OK : err->code;
}

void carom_steady_close(carom_steady *s) {
    double *part[] = {s->all, s->computed, s->F,     s->H,    s->C,    s->V,      s->X,   s->S,
                      s->r,   s->dz,       s->moved, s->rows, s->unit, s->before, s->best};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) free(part[i]);
    free(s->pivot);
    carom_variation_destroy(s->x);
    *s = (carom_steady){0};
}

void carom_steady_hold(carom_steady *s, carom_point *p) {
    if (s->m == 0) return;
    p->sys.signals->set(p->sys.model, p->work, s->all);
    carom_variation_hold(s->x, s->all);
}

void carom_steady_spread(const carom_model *m, const double *computed, double *to) {
    const carom_system *sys = carom_model_system(m);
    for (int k = 0; k < sys->signals->nsamplers; ++k) {
        const carom_control_place c = carom_model_control(m, k);
        const double *y = computed + c.first;
        for (int i = 0; i < c.noutputs; ++i) {
            to[c.output + i - sys->signals->nset] = y[i];
            if (c.delayed) to[c.pending + i - sys->signals->nset] = y[i];
        }
        for (int i = 0; i < c.nstates; ++i) to[c.state + i - sys->signals->nset] = y[c.noutputs + i];
    }
}

double carom_steady_error(carom_steady *s, carom_point *p) {
    if (s->m == 0) return 0;
    double most = 0, size = 0;
    carom_model_compute(p->model, p->work, p->t, p->q, p->v, s->computed);
    carom_steady_spread(p->model, s->computed, s->r);
    for (int i = 0; i < s->m; ++i) {
        size = fmax(size, fmax(fabs(s->r[i]), fabs(s->z[i])));
        s->r[i] -= s->z[i];
        most = fmax(most, fabs(s->r[i]));
    }
    s->size = fmax(s->size, size);
    return most > 0 ? most / fmax(size, WEAK * s->size) : 0;
}

carom_status carom_steady_linearise(carom_steady *s, carom_point *p, carom_error *err) {
    const int nv = p->nv, m = s->m;
    double *q = s->unit, *z = q + nv;
    bool good = true;
    carom_zero(s->X, nv); // accelerations
    for (int i = 0; i < m && good; ++i) {
        carom_zero(s->unit, nv + m);
        z[i] = 1;
        good = carom_variation_motion(s->x, p->t, p->q, p->v, s->X, (carom_direction){0, NULL, NULL, z},
                                      s->F + (size_t)i * (size_t)nv) == CAROM_OK &&
               carom_variation_control(s->x, p->t, p->q, p->v, (carom_direction){0, NULL, NULL, z}, s->computed) ==
                   CAROM_OK;
        carom_steady_spread(p->model, s->computed, s->C + (size_t)i * (size_t)m);
    }
    for (int rate = 0; rate < (s->V ? 2 : 1); ++rate)
        for (int i = 0; i < nv && good; ++i) {
            carom_zero(s->unit, nv + m);
            q[i] = 1;
            const carom_direction d = {0, rate ? NULL : q, rate ? q : NULL, NULL};
            good = carom_variation_control(s->x, p->t, p->q, p->v, d, s->computed) == CAROM_OK;
            carom_steady_spread(p->model, s->computed, (rate ? s->V : s->H) + (size_t)i * (size_t)m);
        }
    return good ? CAROM_OK
                : carom_fail(err, CAROM_USER, "the derivatives of a controller have no finite value here");
}

// y = H x
static void apply(const carom_steady *s, int nv, const double *x, double *y) {
    for (int j = 0; j < nv; ++j) carom_axpy(y, x[j], s->H + (size_t)j * (size_t)s->m, s->m);
}

bool carom_steady_factor(carom_steady *s, carom_grip *grip, double slow) {
    const int nv = grip->p.nv, m = s->m;
    carom_copy(s->X, s->F, (ptrdiff_t)nv * m);
    for (int i = 0; i < m; ++i) {
        double *X = s->X + (size_t)i * (size_t)nv, *S = s->S + (size_t)i * (size_t)m;
        carom_grip_solve(grip, X, NULL);
        carom_zero(S, m);
        apply(s, nv, X, S);
        for (int k = 0; k < m; ++k) S[k] = (k == i ? 1 + slow : 0) - s->C[(size_t)i * (size_t)m + (size_t)k] - S[k];
    }
    return carom_dense_lu(s->S, m, m, 0, s->pivot);
}

void carom_steady_answer(const carom_steady *s, const carom_point *p, const double *r, double *x, double *dz) {
    const int nv = p->nv, m = s->m;
    if (r) carom_copy(dz, r, m);
    else carom_zero(dz, m);
    apply(s, nv, x, dz);
    carom_dense_lu_solve(s->S, m, m, s->pivot, dz);
    for (int i = 0; i < m; ++i) carom_axpy(x, dz[i], s->X + (size_t)i * (size_t)nv, nv);
}
