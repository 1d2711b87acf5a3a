// reference.c: what runs are compared with: an exact solution, another run, or a result file.
#include "base/grow.h"
#include "base/option.h"
#include "base/tolerance.h"
#include "model/answers.h"
#include "study/norm.h"
#include "study/reference.h"
#include "study/trajectory.h"
#include <carom/option.h>
#include <carom/result.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void carom_reference_destroy(reference *r) { carom_trajectory_destroy(&r->tr); }

// The quantities of a state; a file has them as its coordinates.
static void values(const reference *r, scratch *w, double t, const double *q, const double *dq, double *x) {
    if (r->kind == REFERENCE_FILE)
        for (int j = 0; j < r->of->n; ++j) x[j] = r->of->at[j].kind == RATE ? dq[j] : q[j];
    else carom_quantities_eval(r->of, w, t, q, dq, x);
}

void carom_reference_at(const reference *r, scratch *w, double t, carom_side side, double *x) {
    if (r->kind == REFERENCE_EXACT) {
        carom_model_exact(r->of->model, w->work, t, w->q, w->v);
        carom_model_rates(r->of->model, w->q, w->v, w->dq);
    } else {
        carom_trajectory_at(&r->tr, t, side, &w->hint, w->q, w->dq);
    }
    values(r, w, t, w->q, w->dq, x);
}

// -- result files ---------------------------------------------------------------------------------------

static const char *column_name(const void *user, int i) { return carom_result_column(user, i); }

static carom_status no_column(carom_result *f, const char *file, const char *name, carom_error *err) {
    const char *near = carom_nearest(name, column_name, f);
    return carom_fail(err, CAROM_BAD_INPUT,
                      "the reference %.200s has no column '%.60s'%s%.60s%s; compare what it has with `of NAME,NAME`",
                      file, name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// Column c into every stride-th place from out on.
static carom_status spread(carom_result *f, int c, long rows, double *column, double *out, int stride,
                           carom_error *err) {
    CAROM_TRY(carom_result_read(f, c, 0, rows, column, err));
    for (long k = 0; k < rows; ++k) out[k * stride] = column[k];
    return CAROM_OK;
}

// Quantity j: its values, and their rates where the file has them (coordinates).
static carom_status read_quantity(reference *r, carom_result *f, const char *file, int j, double *column,
                                  carom_error *err) {
    const quantity *x = &r->of->at[j];
    char name[256], rate[260];
    snprintf(name, sizeof name, "%s", x->kind == RATE ? carom_model_coordinate(r->of->model, x->index) : x->name);
    snprintf(rate, sizeof rate, "%s'", name);
    const int value = carom_result_find(f, name),
              slope = x->kind == OUTPUT || x->kind == VELOCITY ? -1 : carom_result_find(f, rate);
    if (value < 0) return no_column(f, file, name, err);
    if (slope < 0 && x->kind == RATE) return no_column(f, file, rate, err);
    CAROM_TRY(spread(f, value, r->tr.room, column, r->tr.q + j, r->tr.n, err));
    if (slope >= 0) return spread(f, slope, r->tr.room, column, r->tr.v + j, r->tr.n, err);
    for (long k = 0; k < r->tr.room; ++k) r->tr.v[k * r->tr.n + j] = NAN;
    return CAROM_OK;
}

static carom_status read_times(reference *r, carom_result *f, const char *file, double end, carom_error *err) {
    carom_trajectory *tr = &r->tr;
    const int t = carom_result_find(f, "t");
    if (t < 0) return no_column(f, file, "t", err);
    CAROM_TRY(carom_result_read(f, t, 0, tr->room, tr->t, err));
    for (long k = 1; k < tr->room; ++k) {
        if (!(tr->t[k] > tr->t[k - 1]))
            return carom_fail(err, CAROM_BAD_INPUT, "the times in the reference %.200s do not increase at row %ld",
                              file, k);
        r->apart = fmax(r->apart, tr->t[k] - tr->t[k - 1]);
    }
    if (!(tr->t[0] <= CAROM_INSTANT * end))
        return carom_fail(err, CAROM_BAD_INPUT, "the reference %.200s begins at t = %.9g, after the start", file,
                          tr->t[0]);
    if (!(tr->t[tr->room - 1] >= end * (1 - CAROM_INSTANT)))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "the reference %.200s ends at t = %.9g, before %.9g; compare until then with `end %.9g`",
                          file, tr->t[tr->room - 1], end, tr->t[tr->room - 1]);
    return CAROM_OK;
}

// The row at or after t; rows: none.
static long row_of(const carom_trajectory *tr, double t) {
    long low = 0, high = tr->room;
    while (low < high) {
        const long middle = low + (high - low) / 2;
        if (tr->t[middle] >= t) high = middle;
        else low = middle + 1;
    }
    return low;
}

// impact[k] = the time of the only impact between rows k-1 and k; infinite: several, NaN: none.
static carom_status read_impacts(const carom_trajectory *tr, carom_result *f, double *impact, carom_error *err) {
    enum { BLOCK = 256 };
    const long events = carom_result_event_count(f);
    carom_result_event e[BLOCK];
    for (long k = 0; k < tr->room; ++k) impact[k] = NAN;
    for (long i = 0; i < events; i += BLOCK) {
        const long n = events - i < BLOCK ? events - i : BLOCK;
        CAROM_TRY(carom_result_events(f, i, n, e, err));
        for (long j = 0; j < n; ++j) {
            const long k = strcmp(e[j].kind, "impact") == 0 && e[j].t > tr->t[0] ? row_of(tr, e[j].t) : tr->room;
            if (k < tr->room) impact[k] = isnan(impact[k]) || impact[k] == e[j].t ? e[j].t : INFINITY;
        }
    }
    return CAROM_OK;
}

// A row with an impulse has a jump before it: at its impact when there was just one, else somewhere.
static carom_status read_jumps(reference *r, carom_result *f, double *column, carom_error *err) {
    carom_trajectory *tr = &r->tr;
    for (long k = 0; k < tr->room; ++k) tr->jump[k] = NAN;
    for (int c = 0; c < carom_result_columns(f); ++c) {
        const char *name = carom_result_column(f, c), *dot = strrchr(name, '.');
        if (!dot || strncmp(dot, ".impulse", 8) != 0) continue;
        CAROM_TRY(carom_result_read(f, c, 0, tr->room, column, err));
        for (long k = 1; k < tr->room; ++k)
            if (column[k] != 0) tr->jump[k] = INFINITY;
    }
    CAROM_TRY(read_impacts(tr, f, column, err));
    for (long k = 1; k < tr->room; ++k)
        if (!isnan(column[k])) tr->jump[k] = column[k];
    return CAROM_OK;
}

static carom_status fill(reference *r, carom_result *f, const char *file, double end, size_t most, carom_error *err) {
    const long rows = carom_result_rows(f);
    if (rows < 2) return carom_fail(err, CAROM_BAD_INPUT, "the reference %.200s has fewer than two rows", file);
    const size_t bytes = carom_trajectory_bytes(r->of->n, rows);
    if (bytes > most)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "the %ld rows of the reference %.200s take %.3g GB, more than the limit of %.3g GB; record "
                          "fewer",
                          rows, file, 1e-9 * (double)bytes, 1e-9 * (double)most);
    CAROM_TRY(carom_trajectory_create(&r->tr, r->of->n, rows, err));
    CAROM_TRY(read_times(r, f, file, end, err));
    double *column = calloc((size_t)rows, sizeof *column);
    if (!column) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %ld rows", rows);
    carom_status status = CAROM_OK;
    for (int j = 0; j < r->of->n && status == CAROM_OK; ++j) status = read_quantity(r, f, file, j, column, err);
    if (status == CAROM_OK) status = read_jumps(r, f, column, err);
    free(column);
    r->tr.count = rows;
    return status;
}

carom_status carom_reference_read(reference *r, const quantities *of, const char *file, double end, size_t most,
                                  carom_error *err) {
    *r = (reference){.kind = REFERENCE_FILE, .of = of};
    carom_result *f = carom_result_open(file, err);
    if (!f) return err ? err->code : CAROM_IO;
    const carom_status status = fill(r, f, file, end, most, err);
    carom_result_close(f);
    return status;
}

// -- graphs ---------------------------------------------------------------------------------------------

static const double FLAT = 1e-3; // of the finest step: how far a chord may be from the exact graph
enum { DEPTH = 24 }; // halvings of the first spacing: a jump becomes that steep

typedef struct sampler {
    const reference *r;
    scratch *w;
    int j;
    double tol;
    carom_polyline p;
    bool good;
} sampler;

static double sample(sampler *s, double t) {
    carom_reference_at(s->r, s->w, t, CAROM_RIGHT, s->w->y);
    return s->w->y[s->j];
}

static void append(sampler *s, double t, double x) {
    s->good = s->good && CAROM_GROW(s->p.t, s->p.n) && CAROM_GROW(s->p.x, s->p.n);
    if (!s->good) return;
    s->p.t[s->p.n] = t;
    s->p.x[s->p.n++] = x;
}

// Does the graph leave the line at a place off the middle?  Flights of a ball come to rest at times that are halved
// like the intervals: a middle alone would often lie on the line by chance.
static bool bent(sampler *s, double t_0, double x_0, double t_1, double x_1, double part) {
    return fabs(sample(s, t_0 + part * (t_1 - t_0)) - x_0 - part * (x_1 - x_0)) > s->tol;
}

// What lies behind t_0 until t_1: halved until it lies on the line.
static void refine(sampler *s, double t_0, double x_0, double t_1, double x_1, int depth) {
    const double t = 0.5 * (t_0 + t_1), x = sample(s, t);
    const bool straight = fabs(x - 0.5 * (x_0 + x_1)) <= s->tol;
    // 0.18, 0.71: no parts of each other, nor of halves
    if (depth > 0 && s->good && (!straight || bent(s, t_0, x_0, t_1, x_1, 0.18) || bent(s, t_0, x_0, t_1, x_1, 0.71))) {
        refine(s, t_0, x_0, t, x, depth - 1);
        refine(s, t, x, t_1, x_1, depth - 1);
    } else {
        append(s, t, x);
        append(s, t_1, x_1);
    }
}

static carom_status exact_graph(carom_polyline *p, const reference *r, scratch *w, int j, double end, double fine,
                                carom_error *err) {
    sampler s = {.r = r, .w = w, .j = j, .tol = FLAT * fine, .good = true};
    const long n = (long)ceil(end / fine);
    double t_0 = 0, x_0 = sample(&s, 0);
    append(&s, 0, x_0);
    for (long k = 1; k <= n && s.good; ++k) {
        const double t_1 = k == n ? end : (double)k * fine, x_1 = sample(&s, t_1);
        refine(&s, t_0, x_0, t_1, x_1, DEPTH);
        t_0 = t_1;
        x_0 = x_1;
    }
    *p = s.p;
    return s.good ? CAROM_OK
                  : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the graph of the exact solution");
}

// The nodes, joined by lines; two at one time fill in a jump.  A file tells where a jump was between its rows, and the
// motion on either side is interpolated up to there.  A file may go on behind `end`; the graph stops there.
static carom_status stored_graph(carom_polyline *p, const reference *r, scratch *w, int j, double end,
                                 carom_error *err) {
    const carom_trajectory *tr = &r->tr;
    sampler s = {.r = r, .w = w, .j = j, .good = true};
    for (long k = 0; k < tr->count && s.good; ++k) {
        const size_t at = (size_t)k * (size_t)tr->n;
        const double t = tr->t[k], jump = tr->jump[k];
        if (k > 0 && jump < fmin(t, end)) {
            carom_reference_at(r, w, jump, CAROM_LEFT, w->y);
            append(&s, jump, w->y[j]);
            append(&s, jump, sample(&s, jump));
        }
        if (t > end * (1 + CAROM_QUOTIENT)) {
            append(&s, end, sample(&s, end));
            break;
        }
        values(r, w, t, tr->q + at, tr->v + at, w->y);
        append(&s, fmin(t, end), w->y[j]);
    }
    *p = s.p;
    return s.good ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the graph of a motion");
}

carom_status carom_reference_graph(carom_polyline *p, const reference *r, scratch *w, int j, double end, double fine,
                                   carom_error *err) {
    *p = (carom_polyline){0};
    w->hint = 0;
    return r->kind == REFERENCE_EXACT ? exact_graph(p, r, w, j, end, fine, err) : stored_graph(p, r, w, j, end, err);
}
