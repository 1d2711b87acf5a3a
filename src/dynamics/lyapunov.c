// lyapunov.c: the spectrum of Lyapunov exponents.
//
//     Y = Q R at the end of every step, Q goes on:  lambda_k = sum log R_kk / t  (LYA-1)
//
// with the columns of (VAR-1) and (VAR-2).  The sum of all is the mean rate of volumes: that of the divergence and of
// log |det| of all jumps.
#include "base/missing.h"
#include "dynamics/shoot.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 10, ROWS = 200 }; // of the run, for standard errors; of the history
static const double RESTS = 1e-9; // of the positions, between two looks: what moves by less is at rest
static const double LOST = 1e-13; // of a column's length: nothing is left of it beside the others

typedef struct spectrum {
    carom_shooter s;
    carom_lyapunov *to;
    double *sum, *part; // n; PARTS x n: sums of logarithms
    long steps, done;
    double t_0, span;
} spectrum;

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for Lyapunov exponents");
}

// Largest first.
static void put_exponents(spectrum *k, double t, double *exponent) {
    for (int j = 0; j < k->to->n; ++j) {
        int i = j;
        for (; i > 0 && k->sum[j] / t > exponent[i - 1]; --i) exponent[i] = exponent[i - 1];
        exponent[i] = k->sum[j] / t;
    }
}

// (LYA-1)
static carom_status orthonormalise(void *watch, carom_path *w) {
    spectrum *k = watch;
    const int n = k->s.n, part = (int)(k->done * PARTS / k->steps);
    if (k->done == 0) k->to->n = k->s.m;
    for (int j = 0; j < k->to->n; ++j) {
        double *y = w->y + (size_t)j * (size_t)n;
        for (int i = 0; i < k->s.nv; ++i) // (STA-5)
            if (carom_model_state(k->s.task.base, i)) y[i] = 0;
        const double before = carom_length(y, n), left = carom_basis_reject(w->y, j, y, n);
        const bool lost = !(left > LOST * before);
        const double growth = lost ? -INFINITY : log(left);
        k->sum[j] += growth, k->part[part * n + j] += growth;
        for (int i = 0; i < n; ++i) y[i] = lost ? 0 : y[i] / left;
    }
    const double t = w->t - k->t_0;
    k->to->rests = (k->done == 0 || k->to->rests) &&
                   carom_norm_max(w->v, k->s.nv) * k->span <=
                       RESTS * fmax(carom_point_largest(&w->p, w->q, k->s.nq), DBL_MIN);
    ++k->done;
    if (k->done * ROWS / k->steps > k->to->rows) {
        double *row = k->to->history + (size_t)k->to->rows * (size_t)(1 + k->to->n);
        row[0] = t;
        put_exponents(k, t, row + 1);
        ++k->to->rows;
    }
    k->to->t = t;
    return CAROM_OK;
}

static void finish(spectrum *k) {
    carom_lyapunov *x = k->to;
    if (!(x->t > 0)) return;
    for (int j = 0; j < x->n; ++j) x->exponent[j] = k->sum[j] / x->t, x->sum += x->exponent[j];
    for (int j = 0; j < x->n; ++j) { // scatter of the parts about their mean
        double square = 0;
        for (int p = 0; p < PARTS; ++p) {
            const double off = k->part[p * k->s.n + j] * PARTS / x->t - x->exponent[j];
            square += off * off;
        }
        x->error[j] = k->done == k->steps ? sqrt(square / (PARTS * (PARTS - 1))) : NAN;
    }
    for (int j = 1; j < x->n; ++j)
        for (int i = j; i > 0 && x->exponent[i] > x->exponent[i - 1]; --i) {
            const double e = x->exponent[i], d = x->error[i];
            x->exponent[i] = x->exponent[i - 1], x->error[i] = x->error[i - 1], x->exponent[i - 1] = e,
            x->error[i - 1] = d;
        }
}

static carom_status find(spectrum *k, const carom_lyapunov_def *def, carom_error *err) {
    carom_shooter *s = &k->s;
    s->task.model = def->model, s->task.run = def->run;
    s->stop = def->stop, s->user = def->user;
    CAROM_TRY(carom_shooter_open(s, NULL, err));
    const carom_model *m = s->task.base;
    CAROM_TRY(carom_point_uncontrolled(m, "Lyapunov exponents", err));
    const size_t n = (size_t)s->n;
    const double end = isnan(def->run.end) ? carom_model_simulation(m).end : def->run.end;
    if (isnan(end))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "the end time is missing; give `end`, or `end:` in the model's simulation section");
    // a count below 2^31; 2000 steps unless a step is given
    k->steps = lround(fmax(PARTS, fmin(1e8, isnan(def->run.step) ? 2000 : ceil(end / def->run.step - CAROM_INSTANT))));
    carom_lyapunov *x = k->to;
    x->scheme = carom_shooter_scheme(s->run.scheme);
    x->exponent = calloc(n, sizeof *x->exponent), x->error = calloc(n, sizeof *x->error),
    x->history = calloc((ROWS + 1) * (n + 1), sizeof *x->history);
    k->sum = calloc(n, sizeof *k->sum), k->part = calloc(n * PARTS, sizeof *k->part);
    double *start = calloc(n + (size_t)s->nq, sizeof *start);
    if (!x->exponent || !x->error || !x->history || !k->sum || !k->part || !start) return free(start), no_memory(err);
    carom_copy(start, def->start ? def->start : carom_model_q0(m), s->nq);
    carom_copy(start + s->nq, def->start ? def->start + s->nq : carom_model_v0(m), s->nv);
    carom_status status = CAROM_OK;
    if (def->transient > 0) {
        status = carom_shoot(s, 0, def->transient, start, false, 200);
        carom_copy(start, s->end, s->nq + s->nv);
        if (status == CAROM_OK) status = carom_shooter_snap(s, def->transient, start);
    }
    k->t_0 = def->transient, k->span = end;
    s->on_row = orthonormalise, s->watch = k;
    if (status == CAROM_OK) status = carom_shoot(s, k->t_0, end, start, true, (int)k->steps);
    free(start);
    finish(k);
    return status;
}

carom_status carom_lyapunov_find(carom_lyapunov *x, const carom_lyapunov_def *def, carom_error *err) {
    carom_error own;
    if (!err) err = &own;
    if (!x || !def) return carom_fail(err, CAROM_BAD_INPUT, "a spectrum or its definition is missing");
    spectrum *k = calloc(1, sizeof *k);
    *x = (carom_lyapunov){0};
    if (!k) return no_memory(err);
    k->to = x;
    const carom_status status = find(k, def, err);
    carom_shooter_close(&k->s);
    free(k->sum), free(k->part), free(k);
    return status;
}

void carom_lyapunov_free(carom_lyapunov *x) {
    if (!x) return;
    free(x->exponent), free(x->error), free(x->history);
    *x = (carom_lyapunov){0};
}
