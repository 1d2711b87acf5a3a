// fit.c: least squares: free names such that the model matches measurements.
//
//     minimise sum_i r_i^2,   r_i = (EXPR(t_i) - data_i)/sigma_i                                                (FIT-1)
//     covariance (J'J)^-1, times |r|^2/(m - n) where no sigma is given                                         (FIT-2)
//
// by Levenberg and Marquardt (cminpack).  Bounds by substitution: x = low + (high - low)(1 + sin u)/2, or x = low - 1 +
// sqrt(1 + u^2).
#include "base/number.h"
#include "base/option.h"
#include "base/pi.h"
#include "base/text.h"
#include "dynamics/dynamics.h"
#include "io/csv.h"
#include "linalg/dense.h"
#include "model/answers.h"
#include "scheme/advice.h"
#include "sim/inspect.h"
#include <carom/event.h>
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef CAROM_HAS_CMINPACK
#include <cminpack.h>
static const double FLAT = 1e-12, STAYS = 1e-10; // of the sum of squares, of the values: what an iteration changes at
                                                 // the end
#endif

static const double COUNTED = 1e-7;    // of the run: an impact with derivatives is the one that was counted
static const double DIFFERENCE = 1e-5; // of a value: central differences, good to some digits
static const double ON_BOUND = 1e-6;   // of the distance of the bounds
static const double APART = 1e-13;     // of a pivot: combinations of names with less influence change nothing
static const double RTOL = 1e-10, ATOL = 1e-12; // of a scheme that is chosen here: errors of the run stay far below
                                                // those of data

// observed: expression, -1: times of impacts of contact
typedef struct match { char *column; int observed; long long contact; double sigma; } match;

typedef struct bound { double low, high; } bound; // infinite: none

typedef struct fitting {
    const carom_fit_def *def;
    carom_fit *fit;
    carom_task task;
    match *match;
    const char **expression; // of the model, NULL-terminated
    csv_table *table;
    int **point;             // by file: point of every row and match, -1: none
    int files, *experiment;  // by file: which experiment it belongs to
    struct experiment { carom_free_name *set; int nset; } *experiments; // the first one: the model as it is
    int nexperiments, now;   // now: the one that is run
    bound *bound;
    double end;              // of runs
    bool located;            // the scheme locates events to rounding
    int m, n;                // points, free names
    double *x, *r, *J, *y;   // n, m, m x n, scratch m
    carom_status failed;     // of the last run
    carom_error *err;
} fitting;

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a fit");
}

// -- residuals ----------------------------------------------------------------------------------------------------

typedef struct watch {
    fitting *k;
    carom_task_run run;
    carom_average *average;
    double *value, *x;       // observed; positions and velocities
    unsigned char *before, *room;
    int *next, *hits;        // by file: first row not reached; by match: impacts so far
} watch;

static long place(const csv_table *t, const char *name) {
    for (int i = 0; i < t->columns; ++i) {
        const char *at = t->column[i] + strspn(t->column[i], " \t");
        const size_t n = strlen(name);
        if (strncmp(at, name, n) == 0 && at[n + strspn(at + n, " \t")] == 0) return i;
    }
    return -1;
}

// The values of all rows at times up to that of `now`, inside the step that began at `before`.
static carom_status put_rows(watch *w, const carom_now *now, double began) {
    fitting *k = w->k;
    const carom_ledger nothing = {0};
    const int nq = carom_model_system(w->run.model)->nq;
    for (int f = 0; f < k->files; ++f) {
        const csv_table *t = &k->table[f];
        const long column = k->experiment[f] == k->now ? place(t, "t") : -1;
        for (; column >= 0 && w->next[f] < t->rows; ++w->next[f]) {
            const double at = t->value[(long)w->next[f] * t->columns + column];
            if (at > now->t) break;
            const double *q = now->q, *v = now->v;
            if (at < now->t && at > began) {
                CAROM_TRY(carom_sim_between(w->run.sim, w->before, at, w->x, w->x + nq, w->room, k->err));
                q = w->x, v = w->x + nq;
            } else if (at < now->t) {
                q = w->x, v = w->x + nq; // the state that the step began with
            }
            carom_model_observe(w->run.model, w->average, &nothing, carom_sim_work(w->run.sim), at, q, v, w->value);
            for (int i = 0; i < k->fit->nmatch; ++i) {
                const int point = k->point[f][(long)w->next[f] * k->fit->nmatch + i];
                if (point >= 0 && k->match[i].observed >= 0) k->y[point] = w->value[k->match[i].observed];
            }
        }
    }
    return CAROM_OK;
}

// Does this contact belong to match i?
static bool strikes(const fitting *k, int i, long long contact) {
    return carom_model_contact_is(k->task.base, k->match[i].contact, contact);
}

static void put_impacts(watch *w, const carom_now *now) {
    fitting *k = w->k;
    for (int i = 0; i < k->fit->nmatch; ++i) {
        double last = NAN; // contacts of one entry that are struck at once are one impact
        for (int e = 0; e < now->nevents && k->match[i].observed < 0; ++e) {
            const carom_event *x = &now->events[e];
            if (x->kind != CAROM_IMPACT || !strikes(k, i, x->contact) || x->t == last) continue;
            last = x->t;
            ++w->hits[i];
            for (int p = 0; p < k->m; ++p)
                if (k->experiment[k->fit->point[p].file] == k->now && k->fit->point[p].match == i &&
                    k->fit->point[p].t == w->hits[i])
                    k->y[p] = x->t;
        }
    }
}

static carom_status steps(watch *w) {
    carom_sim *sim = w->run.sim;
    const carom_system *sys = carom_model_system(w->run.model);
    carom_now now = carom_sim_now(sim);
    CAROM_TRY(put_rows(w, &now, -1));
    while (!carom_sim_done(sim)) {
        if (w->k->def->stop && w->k->def->stop(w->k->def->user)) return carom_fail(w->k->err, CAROM_STOPPED, "stopped");
        size_t bytes;
        const double began = now.t;
        const void *state = carom_sim_state(sim, &bytes);
        memcpy(w->before, state, bytes);
        carom_copy(w->x, now.q, sys->nq);
        carom_copy(w->x + sys->nq, now.v, sys->nv);
        CAROM_TRY(carom_sim_step(sim, w->k->err));
        now = carom_sim_now(sim);
        put_impacts(w, &now); // between() loses the events of the step
        CAROM_TRY(put_rows(w, &now, began));
    }
    return CAROM_OK;
}

// The run of experiment e comes next.
static void begin_experiment(fitting *k, int e) {
    k->now = e;
    k->task.fixed = k->experiments[e].set, k->task.nfixed = k->experiments[e].nset;
}

// Model values of all points of one experiment, to k->y.
static carom_status run_experiment(fitting *k, const double *x) {
    watch w = {.k = k};
    carom_status status = carom_task_begin(&k->task, x, k->end, &w.run, k->err);
    if (status == CAROM_OK) {
        const carom_system *sys = carom_model_system(w.run.model);
        size_t bytes;
        carom_sim_state(w.run.sim, &bytes);
        w.average = calloc((size_t)carom_model_watched(w.run.model) + 1, sizeof *w.average);
        w.value = calloc((size_t)carom_model_observed(w.run.model) + 1, sizeof *w.value);
        w.x = calloc((size_t)sys->nq + (size_t)sys->nv, sizeof *w.x);
        w.before = malloc(bytes + 1), w.room = malloc(bytes + 1);
        w.next = calloc((size_t)k->files + 1, sizeof *w.next),
        w.hits = calloc((size_t)k->fit->nmatch + 1, sizeof *w.hits);
        status = w.average && w.value && w.x && w.before && w.room && w.next && w.hits ? steps(&w) : no_memory(k->err);
        k->fit->scheme = carom_sim_scheme(w.run.sim)->name;
    }
    free(w.average), free(w.value), free(w.x), free(w.before), free(w.room), free(w.next), free(w.hits);
    carom_task_end(&w.run);
    return status;
}

// r at x.  A point that the run does not reach, an impact that does not happen, counts as if at the end.
static carom_status residuals(fitting *k, const double *x, double *r) {
    for (int i = 0; i < k->m; ++i) k->y[i] = k->end;
    ++k->fit->evaluations;
    carom_status status = CAROM_OK;
    for (int e = 0; e < k->nexperiments && status == CAROM_OK; ++e)
        begin_experiment(k, e), status = run_experiment(k, x);
    for (int i = 0; i < k->m && status == CAROM_OK; ++i) {
        r[i] = (k->y[i] - k->fit->point[i].data) / k->match[k->fit->point[i].match].sigma;
        if (!isfinite(r[i]))
            status = carom_fail(k->err, CAROM_USER, "'%.60s' is not a number at t = %.9g",
                                k->match[k->fit->point[i].match].column, k->fit->point[i].t);
    }
    return status;
}

// -- derivatives --------------------------------------------------------------------------------------------------

typedef struct slopes {
    fitting *k;
    carom_task_run run;
    carom_path path;
    double *J, *value;       // value: derivatives of what is observed
    int *next, *hits;        // by file: first row not reached; by match: impacts so far
} slopes;

// Of all rows at times up to t, at this state.
static carom_status slopes_at(slopes *s, int f, int row, double t, const double *q, const double *v, const double *y) {
    fitting *k = s->k;
    const size_t nv = (size_t)carom_model_system(s->run.model)->nv;
    for (int j = 0; j < k->n; ++j) {
        const double *dq = y + (size_t)j * 2 * nv;
        if (carom_variation_observed(s->path.x, t, q, v,
                                     (carom_direction){0, dq, dq + nv, k->task.dp + (size_t)j * (size_t)k->task.np},
                                     s->value) != CAROM_OK)
            return carom_fail(k->err, CAROM_USER, "t = %.9g: the derivatives of what is matched are not finite", t);
        for (int i = 0; i < k->fit->nmatch; ++i) {
            const int point = k->point[f][(long)row * k->fit->nmatch + i];
            if (point >= 0 && k->match[i].observed >= 0)
                s->J[point + (size_t)j * (size_t)k->m] = s->value[k->match[i].observed] / k->match[i].sigma;
        }
    }
    return CAROM_OK;
}

// Rows in (t, t + h]; at the start also those at 0.
static carom_status on_step(void *user, carom_path *w, double h) {
    slopes *s = user;
    fitting *k = s->k;
    for (int f = 0; f < k->files; ++f) {
        const csv_table *t = &k->table[f];
        const long column = k->experiment[f] == k->now ? place(t, "t") : -1;
        for (; column >= 0 && s->next[f] < t->rows; ++s->next[f]) {
            const double at = t->value[(long)s->next[f] * t->columns + column];
            if (at > w->t + h) break;
            if (at <= w->t) {
                CAROM_TRY(slopes_at(s, f, s->next[f], at, w->q, w->v, w->y));
                continue;
            }
            if (at - w->t != w->tried) CAROM_TRY(carom_path_try(w, at - w->t, NULL));
            CAROM_TRY(slopes_at(s, f, s->next[f], at, w->q_1, w->v_1, w->y_1));
        }
    }
    return CAROM_OK;
}

// The times of impacts.  Their numbers must be those of the run that gave the residuals.
static carom_status on_side(void *user, carom_path *w, carom_side side) {
    slopes *s = user;
    fitting *k = s->k;
    const int nc = carom_model_count(k->task.base).contacts;
    for (int i = 0; side == CAROM_LEFT && i < k->fit->nmatch; ++i) {
        bool hit = false;
        for (int c = 0; c < nc; ++c) hit = hit || (strikes(k, i, c) && w->change->impulse[c] > 0);
        if (k->match[i].observed >= 0 || !hit) continue;
        ++s->hits[i];
        for (int p = 0; p < k->m; ++p) {
            if (k->experiment[k->fit->point[p].file] != k->now || k->fit->point[p].match != i ||
                k->fit->point[p].t != s->hits[i])
                continue;
            if (fabs(k->y[p] - w->t) > COUNTED * k->end)
                return carom_fail(k->err, CAROM_UNSUPPORTED,
                                  "impacts of '%.60s' come too fast after each other to be counted",
                                  k->match[i].column);
            for (int j = 0; j < k->n; ++j) s->J[p + (size_t)j * (size_t)k->m] = w->dt[j] / k->match[i].sigma;
        }
    }
    return CAROM_OK;
}

static const char *label(void *user, int j) { return ((slopes *)user)->k->fit->name[j]; }

static carom_status exact_experiment(fitting *k, const double *x, double *J) {
    slopes s = {.k = k, .J = J};
    carom_path *w = &s.path;
    carom_status status = carom_task_begin(&k->task, x, k->end, &s.run, k->err);
    if (status == CAROM_OK) {
        s.value = calloc((size_t)carom_model_observed(s.run.model) + 1, sizeof *s.value);
        s.next = calloc((size_t)k->files + 1, sizeof *s.next),
        s.hits = calloc((size_t)k->fit->nmatch + 1, sizeof *s.hits);
        if (!s.value || !s.next || !s.hits) status = no_memory(k->err);
    }
    if (status == CAROM_OK) {
        w->user = &s, w->label = label, w->on_step = on_step, w->on_side = on_side;
        carom_sim_stop_when(s.run.sim, k->def->stop, k->def->user);
        status = carom_task_columns(&k->task, &s.run, w, 0, k->err);
    }
    if (status == CAROM_OK) status = carom_path_run(w);
    carom_path_close(w);
    carom_task_end(&s.run);
    free(s.value), free(s.next), free(s.hits);
    return status;
}

// J = dr/dx by the linearised motion (path.c).
static carom_status exact_jacobian(fitting *k, const double *x, double *J) {
    carom_status status = CAROM_OK;
    carom_zero(J, (ptrdiff_t)k->m * k->n);
    for (int e = 0; e < k->nexperiments && status == CAROM_OK; ++e)
        begin_experiment(k, e), status = exact_experiment(k, x, J);
    return status;
}

static const double SMALL = 1e-3;   // of the start: names nearer to zero count with that
static const double UNKNOWN = 1e-2; // size of names that start at zero

static carom_status difference_jacobian(fitting *k, const double *x, double *J) {
    double *up = k->J + (size_t)k->m * (size_t)k->n, *down = up + k->m, *z = down + k->m;
    for (int j = 0; j < k->n; ++j) {
        const double h = DIFFERENCE * fmax(fabs(x[j]), SMALL * fmax(fabs(k->fit->start[j]), UNKNOWN));
        carom_copy(z, x, k->n);
        z[j] = fmin(x[j] + h, k->bound[j].high);
        const double above = z[j];
        CAROM_TRY(residuals(k, z, up));
        z[j] = fmax(x[j] - h, k->bound[j].low);
        CAROM_TRY(residuals(k, z, down));
        for (int i = 0; i < k->m; ++i) J[i + (size_t)j * (size_t)k->m] = (up[i] - down[i]) / (above - z[j]);
    }
    return CAROM_OK;
}

// J = dr/dx, m x n by columns: exact where the motion has a derivative and the scheme locates events.
static carom_status jacobian(fitting *k, const double *x, double *J) {
    carom_fit *fit = k->fit;
    ++fit->jacobians;
    if (k->located) {
        const carom_status status = exact_jacobian(k, x, J);
        if (status == CAROM_OK || status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        snprintf(fit->not_exact, sizeof fit->not_exact, "%.390s", k->err->text);
        if (status == CAROM_UNSUPPORTED || status == CAROM_BAD_INPUT) k->located = false; // it stays so
    }
    ++fit->differences;
    return difference_jacobian(k, x, J);
}

// -- bounds -------------------------------------------------------------------------------------------------------

#ifdef CAROM_HAS_CMINPACK

static double from_free(bound b, double u, double *slope) {
    const bool low = isfinite(b.low), high = isfinite(b.high);
    if (low && high) return *slope = 0.5 * (b.high - b.low) * cos(u), b.low + 0.5 * (b.high - b.low) * (1 + sin(u));
    const double root = sqrt(1 + u * u);
    if (low) return *slope = u / root, b.low - 1 + root;
    if (high) return *slope = -u / root, b.high + 1 - root;
    return *slope = 1, u;
}

// A value on its bound could never leave it: it starts beside.
static double to_free(bound b, double x) {
    static const double BESIDE = 1e-3; // of its size, or of 1
    const bool low = isfinite(b.low), high = isfinite(b.high);
    // as BESIDE: a bound has no slope
    if (low && high) return asin(fmax(-0.999, fmin(0.999, 2 * (x - b.low) / (b.high - b.low) - 1)));
    if (low || high) return sqrt(pow(fmax(low ? x - b.low : b.high - x, BESIDE * fmax(1, fabs(x))) + 1, 2) - 1);
    return x;
}

static const double REFUSED = 1e3; // times the residuals before: where no run is

static int evaluate(void *user, int m, int n, const double *u, double *r, double *J, int ld, int what) {
    fitting *k = user;
    double *slope = k->x + n;
    (void)ld; // m
    for (int j = 0; j < n; ++j) k->x[j] = from_free(k->bound[j], u[j], &slope[j]);
    const carom_status status = what == 1 ? residuals(k, k->x, r) : jacobian(k, k->x, J);
    if (status != CAROM_OK) {
        // Values that the model refuses, or a run that fails: the step was too long.
        if (what == 2 || status == CAROM_STOPPED || status == CAROM_NO_MEMORY || k->fit->evaluations == 1)
            return k->failed = status, -1;
        for (int i = 0; i < m; ++i) r[i] = REFUSED * (1 + fabs(k->r[i]));
    }
    for (int j = 0; what == 2 && j < n; ++j)
        for (int i = 0; i < m; ++i) J[i + (size_t)j * (size_t)m] *= slope[j];
    return 0;
}

static carom_status minimise(fitting *k) {
    const int m = k->m, n = k->n, most = k->def->max_evaluations > 0 ? k->def->max_evaluations : 200 * n;
    double *block = calloc((size_t)m * (size_t)(n + 2) + 7 * (size_t)n, sizeof *block);
    int *pivot = calloc((size_t)n, sizeof *pivot), nfev = 0, njev = 0;
    if (!block || !pivot) return free(block), free(pivot), no_memory(k->err);
    double *J = block, *r = J + (size_t)m * (size_t)n, *wa4 = r + m, *u = wa4 + m, *diag = u + n, *qtf = diag + n,
           *wa = qtf + n;
    for (int j = 0; j < n; ++j) u[j] = to_free(k->bound[j], k->fit->value[j]);
    const int info = lmder(evaluate, k, m, n, u, r, J, m, FLAT, STAYS, 0, most, diag, 1, 100, 0, &nfev, &njev, pivot,
                           qtf, wa, wa + n, wa + 2 * n, wa4);
    double slope;
    for (int j = 0; j < n; ++j) k->fit->value[j] = from_free(k->bound[j], u[j], &slope);
    free(block);
    free(pivot);
    if (info < 0) return k->failed;
    return info == 5
               ? carom_fail(
                     k->err, CAROM_NOT_CONVERGED,
                     "the fit did not converge in %d steps; the best values so far are reported, start from them", nfev)
               : CAROM_OK;
}

#else

static carom_status minimise(fitting *k) {
    return carom_fail(
        k->err, CAROM_UNSUPPORTED,
        "this carom was built without cminpack, which fits (Debian: libcminpack-dev); install it and build again");
}

#endif

// -- what is given ------------------------------------------------------------------------------------------------

static carom_status read_match(fitting *k, int i, const char *text) {
    const char *sign = strchr(text, '=');
    if (!sign || sign == text || !sign[1])
        return carom_fail(k->err, CAROM_BAD_INPUT, "`match %.60s`: write COLUMN=EXPR, or COLUMN=impact CONTACT", text);
    match *of = &k->match[i];
    of->column = calloc((size_t)(sign - text) + 1, 1);
    if (!of->column) return no_memory(k->err);
    memcpy(of->column, text, (size_t)(sign - text));
    k->fit->match[i] = of->column;
    k->fit->nmatch = i + 1;
    of->sigma = 1;
    of->observed = -1;
    if (strncmp(sign + 1, "impact ", 7) == 0) return of->contact = -1, CAROM_OK; // the model is not there yet
    of->observed = carom_list_length(k->expression);
    k->expression[of->observed] = sign + 1;
    return CAROM_OK;
}

static const char *contact_name(const void *user, int i) {
    const carom_model_sizes n = carom_model_count(user);
    return i < n.contacts ? carom_model_constraint(user, n.constraints + i) : NULL;
}

static carom_status find_contacts(fitting *k) {
    const carom_system *sys = carom_model_system(k->task.base);
    for (int i = 0; i < k->fit->nmatch; ++i) {
        const char *name = strchr(k->def->match[i], '=') + 8;
        if (k->match[i].observed >= 0) continue;
        k->match[i].contact = carom_model_contact(k->task.base, name);
        bool found = false;
        for (int c = 0; c < sys->nc - sys->listed; ++c) found = found || strikes(k, i, c);
        const char *near = carom_nearest(name, contact_name, k->task.base);
        if (!found)
            return carom_fail(k->err, CAROM_BAD_INPUT, "`match %.60s`: the model has no contact '%.60s'%s%s%s",
                              k->def->match[i], name, near ? "; did you mean '" : "", near ? near : "",
                              near ? "'?" : "");
    }
    return CAROM_OK;
}

// Free name or column of "NAME=..."; *rest is behind the sign.  -1: there is none.
static int named(const char *text, const char **rest, char *const *names, int n) {
    const char *sign = strchr(text, '=');
    *rest = sign ? sign + 1 : "";
    for (int i = 0; sign && i < n; ++i)
        if (strlen(names[i]) == (size_t)(sign - text) && strncmp(names[i], text, (size_t)(sign - text)) == 0) return i;
    return -1;
}

static carom_status read_bounds(fitting *k) {
    for (int i = 0; i < k->n; ++i) k->bound[i] = (bound){-HUGE_VAL, HUGE_VAL};
    for (int b = 0; b < carom_list_length(k->def->bounds); ++b) {
        const char *rest, *text = k->def->bounds[b];
        const int i = named(text, &rest, k->fit->name, k->n);
        const char *colon = strchr(rest, ':');
        if (i < 0 || !colon)
            return carom_fail(k->err, CAROM_BAD_INPUT,
                              "`bounds %.60s`: write NAME=low:high with a name of `free`; either side may be empty",
                              text);
        carom_error why;
        const char *name = k->fit->name[i];
        if (colon > rest &&
            !carom_model_quantity(k->task.base, name, rest, (size_t)(colon - rest), &k->bound[i].low, &why))
            return carom_fail(k->err, CAROM_BAD_INPUT, "`bounds %.60s`: the lower bound %.200s", text, why.text);
        if (colon[1] &&
            !carom_model_quantity(k->task.base, name, colon + 1, strlen(colon + 1), &k->bound[i].high, &why))
            return carom_fail(k->err, CAROM_BAD_INPUT, "`bounds %.60s`: the upper bound %.200s", text, why.text);
        if (!(k->bound[i].low < k->bound[i].high))
            return carom_fail(k->err, CAROM_BAD_INPUT, "`bounds %.60s`: the lower bound is not below the upper one",
                              text);
        if (!(k->fit->value[i] >= k->bound[i].low && k->fit->value[i] <= k->bound[i].high))
            return carom_fail(k->err, CAROM_BAD_INPUT,
                              "`bounds %.60s`: the model starts with %g, outside; change it with `set`", text,
                              k->fit->value[i]);
    }
    for (int b = 0; b < carom_list_length(k->def->sigma); ++b) {
        const char *rest, *text = k->def->sigma[b];
        char *end = NULL;
        const int i = named(text, &rest, k->fit->match, k->fit->nmatch);
        if (i >= 0) k->match[i].sigma = carom_number(rest, &end);
        if (i < 0 || end == rest || *end || !(k->match[i].sigma > 0) || !isfinite(k->match[i].sigma))
            return carom_fail(k->err, CAROM_BAD_INPUT,
                              "`sigma %.60s`: write COLUMN=VALUE with a column of `match` and a number above 0", text);
    }
    return CAROM_OK;
}

// -- data ---------------------------------------------------------------------------------------------------------

static int by_time(const void *a, const void *b) {
    const double *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

// Rows in the order of time, with t first.
static carom_status sort_rows(fitting *k, csv_table *t, const char *file) {
    const long at = place(t, "t");
    bool needed = false;
    for (int i = 0; i < k->fit->nmatch; ++i) needed = needed || k->match[i].observed >= 0;
    if (at < 0)
        return needed ? carom_fail(k->err, CAROM_BAD_INPUT, "%.200s has no column 't' with the times of its rows", file)
                      : CAROM_OK;
    for (long r = 0; r < t->rows; ++r) {
        double *row = t->value + r * t->columns, x = row[at];
        if (needed && !(x >= 0 && isfinite(x)))
            return carom_fail(k->err, CAROM_BAD_INPUT, "%.200s:%ld: t is %g; runs begin at t = 0", file, r + 2, x);
        row[at] = row[0], row[0] = x;
    }
    char *name = t->column[at];
    t->column[at] = t->column[0], t->column[0] = name;
    qsort(t->value, (size_t)t->rows, sizeof *t->value * (size_t)t->columns, by_time);
    return CAROM_OK;
}

// Points of one column; entries that are not numbers are left out.
static carom_status add_points(fitting *k, int f, int i) {
    const csv_table *t = &k->table[f];
    const long column = place(t, k->match[i].column), time = place(t, "t");
    if (column < 0)
        return carom_fail(k->err, CAROM_BAD_INPUT, "%.200s has no column '%.60s'", k->def->data[f], k->match[i].column);
    carom_fit_point *more = realloc(k->fit->point, ((size_t)k->m + (size_t)t->rows + 1) * sizeof *more);
    if (!more) return no_memory(k->err);
    k->fit->point = more;
    int hits = 0;
    for (long r = 0; r < t->rows; ++r) {
        const double x = t->value[r * t->columns + column];
        const bool impact = k->match[i].observed < 0;
        hits += impact; // one whose time was not measured is one, too
        k->point[f][r * k->fit->nmatch + i] = isfinite(x) ? k->m : -1;
        if (!isfinite(x)) continue;
        k->fit->point[k->m++] = (carom_fit_point){impact ? hits : t->value[r * t->columns + time], x, NAN, i, f};
        k->end = fmax(k->end, impact ? 1.5 * x : t->value[r * t->columns + time]); // a run may have its impact later
    }
    return CAROM_OK;
}

static const char *settings_of(const fitting *k, int f) {
    return f < carom_list_length(k->def->settings) ? k->def->settings[f] : "";
}

// Files with equal settings belong to one experiment.
static carom_status read_settings(fitting *k) {
    k->experiment = calloc((size_t)k->files + 1, sizeof *k->experiment),
    k->experiments = calloc((size_t)k->files + 1, sizeof *k->experiments);
    if (!k->experiment || !k->experiments) return no_memory(k->err);
    k->nexperiments = 0;
    for (int f = 0; f < k->files; ++f) {
        const char *text = settings_of(k, f);
        int same = -1;
        for (int i = 0; i < f; ++i)
            if (strcmp(text, settings_of(k, i)) == 0) same = i;
        k->experiment[f] = same >= 0 ? k->experiment[same] : k->nexperiments;
        if (same >= 0) continue;
        struct experiment *e = &k->experiments[k->nexperiments++];
        const carom_status status = carom_task_settings(&k->task, text, &e->set, &e->nset, k->err);
        if (status != CAROM_OK) {
            const carom_error why = *k->err;
            return carom_fail(k->err, status, "settings of %.200s: %.300s", k->def->data[f], why.text);
        }
    }
    return CAROM_OK;
}

static carom_status read_data(fitting *k) {
    k->files = carom_list_length(k->def->data);
    CAROM_TRY(read_settings(k));
    k->table = calloc((size_t)k->files + 1, sizeof *k->table);
    k->point = calloc((size_t)k->files + 1, sizeof *k->point);
    if (!k->table || !k->point) return no_memory(k->err);
    for (int f = 0; f < k->files; ++f) {
        CAROM_TRY(csv_read_to(&k->table[f], k->def->data[f], true, k->err));
        CAROM_TRY(sort_rows(k, &k->table[f], k->def->data[f]));
        k->point[f] = calloc((size_t)k->table[f].rows * (size_t)k->fit->nmatch + 1, sizeof **k->point);
        if (!k->point[f]) return no_memory(k->err);
        for (int i = 0; i < k->fit->nmatch; ++i) CAROM_TRY(add_points(k, f, i));
    }
    k->fit->npoints = k->m;
    if (k->m < k->n)
        return carom_fail(k->err, CAROM_BAD_INPUT,
                          "too few data: %d point%s for %d free name%s; give more rows, or free fewer names", k->m,
                          k->m == 1 ? "" : "s", k->n, k->n == 1 ? "" : "s");
    if (!(k->end > 0)) return carom_fail(k->err, CAROM_BAD_INPUT, "the data end at t = 0, where every run begins");
    return CAROM_OK;
}

// -- the answer ---------------------------------------------------------------------------------------------------

// The probability between -t and t of Student's distribution, with x = cos^2 of atan(t/sqrt(freedoms)): a finite sum.
static double within(double t, int freedoms) {
    const double angle = atan(t / sqrt(freedoms)), s = sin(angle), c = cos(angle);
    double term = freedoms % 2 ? c : 1, sum = freedoms == 1 ? 0 : term;
    for (int k = freedoms % 2 ? 3 : 2; k < freedoms; k += 2) sum += term *= c * c * (k - 1) / k;
    return freedoms % 2 ? 2 / PI * (angle + s * sum) : s * sum;
}

static const double NORMAL = 1.959963984540054; // quantile at 97.5 % of the normal distribution

// Student's quantile at 97.5 %: by bisection, or for so many freedoms that the next term of Cornish and Fisher's
// expansion is below 3e-8, by its first.
static double student(int freedoms) {
    const double z = NORMAL;
    if (freedoms > 10000) return z + (z * z * z + z) / (4.0 * freedoms);
    double low = z, high = 13;
    for (int i = 0; i < 60; ++i) {
        const double t = (low + high) / 2;
        if (within(t, freedoms) < 0.95) low = t; // both sides: 97.5 %
        else high = t;
    }
    return low;
}

// Is the value on one of its bounds?
static bool on_bound(const bound *b, double x) {
    const double near = ON_BOUND * (isfinite(b->low) && isfinite(b->high) ? b->high - b->low : fmax(1, fabs(x)));
    return x - b->low <= near || b->high - x <= near;
}

// (FIT-2)  Of the names that `take` part, into G; the others are as if fixed.  The number of combinations that have no
//          effect.
static int covariance(const fitting *k, const double *s, const bool *take, double scale, double *A, double *column,
                      double *G) {
    const int m = k->m, n = k->n;
    int at[64], *own = NULL, *of = at, count = 0;
    if (n > 64) of = own = calloc((size_t)n, sizeof *own);
    if (!of) return -1;
    for (int j = 0; j < n; ++j)
        if (take[j]) of[count++] = j;
    for (int j = 0; j < count; ++j)
        for (int i = 0; i < count; ++i)
            A[i + j * count] = carom_dot(k->J + (size_t)of[i] * (size_t)m, k->J + (size_t)of[j] * (size_t)m, m) /
                               (s[of[i]] * s[of[j]]);
    const int lost = carom_dense_ldl(A, count, count, APART, A + count * count);
    for (int j = 0; j < count && lost == 0; ++j) {
        for (int i = 0; i < count; ++i) column[i] = i == j;
        carom_dense_ldl_solve(A, count, count, column);
        for (int i = 0; i < count; ++i) G[of[i] + of[j] * n] = scale * column[i] / (s[of[i]] * s[of[j]]);
    }
    free(own);
    return lost;
}

static carom_status spread(fitting *k, double sum) {
    const int m = k->m, n = k->n;
    CAROM_TRY(jacobian(k, k->fit->value, k->J));
    double *G = k->fit->covariance, *s = k->x + n, *column = k->x;
    double *A = calloc((size_t)n * (size_t)n + (size_t)n, sizeof *A);
    bool *take = calloc((size_t)n, sizeof *take), free_one = false;
    if (!A || !take) return free(A), free(take), no_memory(k->err);
    carom_status status = CAROM_OK;
    for (int j = 0; j < n && status == CAROM_OK; ++j) {
        s[j] = sqrt(carom_dot(k->J + (size_t)j * (size_t)m, k->J + (size_t)j * (size_t)m, m));
        if (!(s[j] > 0))
            status = carom_fail(k->err, CAROM_SINGULAR,
                                "'%.60s' does not influence the matched quantities and cannot be estimated",
                                k->fit->name[j]);
    }
    const double scale = carom_list_length(k->def->sigma) > 0 ? 1 : m > n ? sum / (m - n) : NAN;
    for (int j = 0; j < n; ++j) take[j] = true;
    int lost = status == CAROM_OK ? covariance(k, s, take, scale, A, column, G) : 0;
    for (int j = 0; j < n; ++j)
        k->fit->error[j] = lost ? NAN : sqrt(G[j + j * n]), take[j] = !on_bound(&k->bound[j], k->fit->value[j]),
        free_one = free_one || take[j];
    bool all = true;
    for (int j = 0; j < n; ++j) all = all && take[j];
    if (!all && status == CAROM_OK) { // names on a bound do not vary with the others
        carom_zero(G, (ptrdiff_t)n * n);
        if (free_one) lost = covariance(k, s, take, scale, A, column, G);
        for (int j = 0; j < n; ++j)
            if (take[j]) k->fit->error[j] = lost ? NAN : sqrt(G[j + j * n]);
            else G[j + j * n] = k->fit->error[j] * k->fit->error[j];
    }
    if (status == CAROM_OK && lost < 0) status = no_memory(k->err);
    if (status == CAROM_OK && lost > 0)
        status =
            carom_fail(k->err, CAROM_SINGULAR,
                       "the free parameters are not identifiable from these data: a combination of them has no effect");
    free(A), free(take);
    CAROM_TRY(status);
    k->fit->confidence = m > n && carom_list_length(k->def->sigma) == 0 ? student(m - n) : NORMAL;
    for (int j = 0; j < n; ++j) {
        const double by = k->fit->confidence * k->fit->error[j];
        k->fit->low[j] = isnan(by) ? NAN : fmax(k->bound[j].low, k->fit->value[j] - by),
        k->fit->high[j] = isnan(by) ? NAN : fmin(k->bound[j].high, k->fit->value[j] + by);
    }
    return CAROM_OK;
}

static carom_status allocate(fitting *k) {
    const size_t n = (size_t)k->n, m = (size_t)k->m;
    k->x = calloc(2 * n + m + m + m * n + 2 * m + n, sizeof *k->x);
    if (!k->x) return no_memory(k->err);
    k->r = k->x + 2 * n, k->y = k->r + m, k->J = k->y + m;
    return CAROM_OK;
}

static carom_status prepare(fitting *k) {
    const carom_fit_def *def = k->def;
    const size_t matches = (size_t)carom_list_length(def->match);
    k->match = calloc(matches + 1, sizeof *k->match), k->expression = calloc(matches + 1, sizeof *k->expression),
    k->fit->match = calloc(matches + 1, sizeof *k->fit->match);
    if (!k->match || !k->expression || !k->fit->match) return no_memory(k->err);
    if (matches == 0) return carom_fail(k->err, CAROM_BAD_INPUT, "no quantity to match; give `match COLUMN=EXPR`");
    if (carom_list_length(def->free) == 0)
        return carom_fail(k->err, CAROM_BAD_INPUT, "nothing is free; give `free NAME,NAME`");
    for (int i = 0; i < (int)matches; ++i) CAROM_TRY(read_match(k, i, def->match[i]));
    k->task = (carom_task){.model = def->model, .run = def->run, .start = def->start, .signals = def->signals};
    k->task.model.observe = k->expression, k->task.option = "`match`";
    CAROM_TRY(carom_task_open(&k->task, def->free, k->err));
    k->n = k->fit->nfree = k->task.nfree;
    const size_t n = (size_t)k->n;
    k->fit->name = calloc(n, sizeof *k->fit->name), k->fit->value = calloc(5 * n + n * n, sizeof *k->fit->value),
    k->bound = calloc(n, sizeof *k->bound);
    if (!k->fit->name || !k->fit->value || !k->bound) return no_memory(k->err);
    k->fit->start = k->fit->value + n, k->fit->error = k->fit->start + n, k->fit->low = k->fit->error + n,
    k->fit->high = k->fit->low + n, k->fit->covariance = k->fit->high + n;
    for (int i = 0; i < k->n; ++i) {
        k->fit->value[i] = k->fit->start[i] = k->task.free[i].value;
        k->fit->name[i] = calloc(strlen(k->task.free[i].name) + 1, 1);
        if (!k->fit->name[i]) return no_memory(k->err);
        strcpy(k->fit->name[i], k->task.free[i].name);
    }
    return CAROM_OK;
}

// Derivatives want a scheme that locates events: the model's own, or event-driven with tight tolerances.  A step for
// every row is enough.
static carom_status choose_scheme(fitting *k) {
    carom_run_given *given = &k->task.run;
    const char *own = carom_model_simulation(k->task.base).scheme, *name = given->scheme ? given->scheme : own;
    const carom_scheme *s = name ? carom_schemes_find(name) : NULL;
    bool located = s && s->emits_events;
    if (!given->scheme && !located) {
        located = true;
        given->scheme = CAROM_SCHEME_OF_DERIVATIVES;
        if (isnan(given->rtol)) given->rtol = RTOL;
        if (isnan(given->atol)) given->atol = ATOL;
    }
    long rows = 200;
    for (int f = 0; f < k->files; ++f) rows = k->table[f].rows > rows ? k->table[f].rows : rows;
    if (isnan(given->step) && (located || !name || !own || given->scheme != name)) given->step = k->end / (double)rows;
    for (int i = 0; i < k->fit->nmatch && !located; ++i)
        if (k->match[i].observed < 0)
            return carom_fail(k->err, CAROM_BAD_INPUT,
                              "`match %.60s`: scheme %.40s does not locate impacts inside its steps, so that their "
                              "times change by whole steps; leave `scheme` out",
                              k->def->match[i], given->scheme);
    return CAROM_OK;
}

static double mean_square(const double *r, int m, double *sum) {
    *sum = carom_dot(r, r, m);
    return sqrt(*sum / m);
}

static carom_status find(fitting *k) {
    CAROM_TRY(find_contacts(k));
    CAROM_TRY(read_bounds(k));
    CAROM_TRY(read_data(k));
    CAROM_TRY(allocate(k));
    CAROM_TRY(choose_scheme(k));
    CAROM_TRY(carom_task_locate(&k->task, &k->located, k->err));
    if (!k->located)
        snprintf(k->fit->not_exact, sizeof k->fit->not_exact,
                 "the scheme does not locate events to rounding; schemes that do: " CAROM_LOCATING_EXACTLY);
    double sum;
    CAROM_TRY(residuals(k, k->fit->value, k->r));
    k->fit->residual_start = mean_square(k->r, k->m, &sum);
    const carom_status status = minimise(k);
    if (status != CAROM_OK && status != CAROM_NOT_CONVERGED) return status;
    const carom_error why = *k->err;
    CAROM_TRY(residuals(k, k->fit->value, k->r));
    k->fit->residual = mean_square(k->r, k->m, &sum);
    for (int i = 0; i < k->m; ++i) k->fit->point[i].model = k->y[i];
    CAROM_TRY(spread(k, sum));
    if (status != CAROM_OK) *k->err = why;
    return status;
}

carom_status carom_fit_find(carom_fit *fit, const carom_fit_def *def, carom_error *err) {
    carom_error own = {0};
    if (!err) err = &own;
    if (fit) *fit = (carom_fit){.residual = NAN};
    if (!fit || !def) return carom_fail(err, CAROM_BAD_INPUT, "a fit needs a definition and a result pointer");
    fitting k = {.def = def, .fit = fit, .err = err};
    carom_status status = prepare(&k);
    if (status == CAROM_OK) status = find(&k);
    for (int f = 0; f < k.files && k.table; ++f) csv_free(&k.table[f]);
    for (int f = 0; f < k.files && k.point; ++f) free(k.point[f]);
    for (int e = 0; e < k.nexperiments; ++e) carom_task_forget(k.experiments[e].set, k.experiments[e].nset);
    carom_task_close(&k.task);
    free(k.experiment), free(k.experiments);
    free(k.table), free(k.point), free(k.match), free(k.expression), free(k.bound), free(k.x);
    return status;
}

void carom_fit_free(carom_fit *fit) {
    if (!fit) return;
    for (int i = 0; fit->name && i < fit->nfree; ++i) free(fit->name[i]);
    for (int i = 0; i < fit->nmatch; ++i) free(fit->match[i]);
    free(fit->name), free(fit->match), free(fit->value), free(fit->point);
    *fit = (carom_fit){0};
}
