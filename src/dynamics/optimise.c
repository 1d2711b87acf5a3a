// optimise.c: parameters between bounds with which a result of a run is least.
//
// Searches run in u = (x - low)/(high - low) (NLopt): SLSQP up to 50 names, CCSAQ beyond, with exact derivatives;
// COBYLA where there are none, and from the best point on where the gradient does not vanish: at a change of the
// sequence of events it may jump.
#include "dynamics/optimise.h"
#include "base/grow.h"
#include "base/text.h"
#include "dynamics/lapack.h"
#include "model/rewrite.h"
#include <carom/event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANY = 50,
    STALE = 20
}; // names: more are left to CCSAQ; runs without progress that end a search by derivatives, as at a kink
static const double TOLERANCE = 1e-7;  // of a distance of bounds
static const double STATIONARY = 1e-4; // of the objective over the distance of the bounds: a gradient below vanishes
static const double ACTIVE = 1e-6;     // of a distance of bounds, of a constraint's size: it is active
static const double ADMISSIBLE = 1e-7; // of a constraint's size: an equality holds
static const double ASIDE = 1e-8;      // of a constraint's size: searches stay so far inside an inequality, which they
                                       // meet to this accuracy, so that it holds as it is written
static const double BESIDE = 1e-3;     // of the distance of bounds: first step of a search from the best point on

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an optimum");
}

// -- history ------------------------------------------------------------------------------------------------------

static char *copy_of(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

static carom_status name_history(search *k) {
    carom_table *t = &k->o->history;
    const int n = k->o->n, m = k->o->nsubject;
    t->columns = 6 + n + m;
    t->name = copy_of("history");
    t->column = calloc((size_t)t->columns, sizeof *t->column);
    if (!t->column || !t->name) return no_memory(k->err);
    for (int c = 0; c < t->columns; ++c) {
        static const char *const fixed[] = {"run", "search", "method", "status"};
        const char *name = c < 4           ? fixed[c]
                           : c < 4 + n     ? k->o->name[c - 4]
                           : c == 4 + n    ? k->def->of
                           : c < 5 + n + m ? k->def->subject[c - 5 - n]
                                           : "best";
        t->column[c].kind = c == 2                         ? CAROM_COLUMN_TEXT
                            : c < 4 || c == t->columns - 1 ? CAROM_COLUMN_INTEGER
                                                           : CAROM_COLUMN_REAL;
        t->column[c].name = copy_of(name);
        if (!t->column[c].name) return no_memory(k->err);
    }
    return CAROM_OK;
}

static carom_status add_row(search *k, int status, const double *x, double f, const double *subject, bool best) {
    carom_table *t = &k->o->history;
    const int n = k->o->n, m = k->o->nsubject;
    for (int c = 0; c < t->columns; ++c) {
        carom_column *to = &t->column[c];
        const size_t rows = (size_t)t->rows;
        if (c == 2                             ? !carom_grow(&to->text, rows, sizeof *to->text)
            : to->kind == CAROM_COLUMN_INTEGER ? !carom_grow(&to->integer, rows, sizeof *to->integer)
                                               : !carom_grow(&to->real, rows, sizeof *to->real))
            return no_memory(k->err);
        if (c == 2 && !(to->text[rows] = copy_of(k->method))) return no_memory(k->err);
        if (c == 0) to->integer[rows] = t->rows;
        if (c == 1) to->integer[rows] = k->o->search;
        if (c == 3) to->integer[rows] = status;
        if (c >= 4 && c < 4 + n) to->real[rows] = x[c - 4];
        if (c == 4 + n) to->real[rows] = f;
        if (c > 4 + n && c < 5 + n + m) to->real[rows] = subject[c - 5 - n];
        if (c == t->columns - 1) to->integer[rows] = best;
    }
    ++t->rows;
    return CAROM_OK;
}

// -- one evaluation -----------------------------------------------------------------------------------------------

// The largest violation of a constraint, in units of its size: inequalities hold as they are written, equalities to the
// tolerance.
static double violation_of(const search *k, const double *value) {
    double most = 0;
    for (int i = 0; i < k->o->nsubject; ++i) {
        const double x = value[1 + i] / (k->size[i] > 0 ? k->size[i] : 1);
        most = fmax(most, k->relation[i] != 0 ? x : fabs(x) > ADMISSIBLE ? fabs(x) : 0);
    }
    return most;
}

static bool is_better(const search *k, double f, double violation) {
    if (isnan(f)) return false;
    if (isnan(k->best_f)) return true;
    if (violation > 0 || k->o->violation > 0)
        return violation < k->o->violation || (violation == k->o->violation && f < k->best_f);
    return f < k->best_f;
}

// Objective (to be minimised) and constraints (<= 0, or = 0) from the results: the objective, then both sides of each
// constraint.
static void compose(search *k, const double *result, const double *slopes, bool derived) {
    const int m = k->o->nsubject;
    const size_t n = (size_t)k->o->n;
    k->value[0] = k->def->maximise ? -result[0] : result[0];
    for (size_t j = 0; derived && j < n; ++j)
        k->slope[j] = (k->def->maximise ? -slopes[j] : slopes[j]) * (k->o->high[j] - k->o->low[j]); // by u
    for (int i = 0; i < m; ++i) {
        const double left = result[1 + 2 * i], right = result[2 + 2 * i], sign = k->relation[i] > 0 ? -1 : 1;
        const double *by_left = slopes + (size_t)(1 + 2 * i) * n, *by_right = by_left + n;
        double *to = k->slope + (size_t)(1 + i) * n;
        k->value[1 + i] = sign * (left - right);
        for (size_t j = 0; derived && j < n; ++j)
            to[j] = sign * (by_left[j] - by_right[j]) * (k->o->high[j] - k->o->low[j]);
        if (fabs(left) > k->size[i]) k->size[i] = fabs(left);
        if (fabs(right) > k->size[i]) k->size[i] = fabs(right);
    }
}

static void keep_best(search *k, double violation) {
    carom_optimum *o = k->o;
    const int n = o->n;
    o->violation = violation, k->best_f = k->value[0], o->objective = k->def->maximise ? -k->value[0] : k->value[0];
    carom_copy(o->value, k->x, n);
    carom_copy(k->best_u, k->u, n);
    o->method = k->method, k->best_search = o->search;
    for (int i = 0; i < o->nsubject; ++i) o->subject[i] = k->relation[i] > 0 ? -k->value[1 + i] : k->value[1 + i];
    k->best_derived = k->derived;
    if (k->derived) carom_copy(k->best_slope, k->slope, (ptrdiff_t)n * (1 + o->nsubject));
    o->distance = k->distance;
}

// At u, unless it is what was evaluated last.  False: the search ends.
static bool evaluate(search *k, const double *u, bool derive) {
    carom_optimum *o = k->o;
    const int n = o->n;
    derive = derive || k->gradients; // they are asked for next
    if (k->known && memcmp(u, k->u, (size_t)n * sizeof *u) == 0 && (k->derived || !derive || k->failed))
        return k->status == CAROM_OK;
    if (k->def->stop && k->def->stop(k->def->stop_user))
        return k->status = carom_fail(k->err, CAROM_STOPPED, "stopped"), k->known = false;
    carom_copy(k->u, u, n);
    for (int j = 0; j < n; ++j)
        k->x[j] = fmin(fmax(o->low[j] + u[j] * (o->high[j] - o->low[j]), o->low[j]), o->high[j]);
    carom_error why = {0};
    k->derived = k->failed = false;
    carom_status status = CAROM_UNSUPPORTED;
    if (derive) {
        status = carom_evaluate_path(k, true, &why);
        k->derived = status == CAROM_OK;
        o->derivatives += k->derived;
        if (!k->derived && status != CAROM_STOPPED && !k->o->not_exact[0])
            snprintf(o->not_exact, sizeof o->not_exact, "%.390s", why.text);
    }
    if (!k->derived && status != CAROM_STOPPED) {
        k->failed = derive; // there are no derivatives here
        status = k->plain ? carom_evaluate_plain(k, &why) : carom_evaluate_path(k, false, &why);
    }
    if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY)
        return *k->err = why, k->status = status, k->known = false;
    ++o->runs;
    k->known = true;
    if (status == CAROM_OK)
        compose(k, k->result, k->slopes, k->derived);
    else {
        for (int i = 0; i <= o->nsubject; ++i) k->value[i] = NAN;
        if (!k->why.text[0]) k->why = why;
    }
    const double violation = status == CAROM_OK ? violation_of(k, k->value) : INFINITY;
    const bool better = status == CAROM_OK && is_better(k, k->value[0], violation);
    for (int i = 0; i < o->nsubject; ++i) k->shown[i] = k->relation[i] > 0 ? -k->value[1 + i] : k->value[1 + i];
    k->status =
        add_row(k, status == CAROM_OK ? 0 : 1, k->x, k->def->maximise ? -k->value[0] : k->value[0], k->shown, better);
    k->stale = better ? 0 : k->stale + 1;
    if (better) keep_best(k, violation);
    if (status == CAROM_OK && isnan(o->first) && o->runs == 1) o->first = k->def->maximise ? -k->value[0] : k->value[0];
    if (status == CAROM_OK && !(k->worst > k->value[0])) k->worst = k->value[0];
    if (k->def->on_run) k->def->on_run(k->def->user, o);
    return k->status == CAROM_OK;
}

// -- what NLopt asks for ------------------------------------------------------------------------------------------

// A run that fails counts as worse than all others; a search by derivatives ends there.
static double objective(unsigned n, const double *u, double *slope, void *user) {
    search *k = user;
    if (!evaluate(k, u, slope != NULL) || (slope && !k->derived) || (k->gradients && k->stale > STALE + k->o->n))
        return k->nlopt.force_stop(k->opt), 0;
    if (slope)
        for (unsigned j = 0; j < n; ++j) slope[j] = k->slope[j] / k->scale;
    return isfinite(k->value[0]) ? k->value[0] / k->scale : fmax(0, k->worst / k->scale) + 10;
}

static void constraints(unsigned m, double *value, unsigned n, const double *u, double *slope, search *k, bool equal) {
    if (!evaluate(k, u, slope != NULL) || (slope && !k->derived)) k->nlopt.force_stop(k->opt);
    unsigned at = 0;
    for (int i = 0; i < k->o->nsubject && at < m; ++i) {
        if ((k->relation[i] == 0) != equal) continue;
        const double size = k->size[i] > 0 ? k->size[i] : 1;
        value[at] = isfinite(k->value[1 + i]) ? k->value[1 + i] / size + (equal ? 0 : ASIDE) : 10;
        for (unsigned j = 0; slope && j < n; ++j) slope[at * n + j] = k->slope[(size_t)(1 + i) * n + j] / size;
        ++at;
    }
}
static void inequalities(unsigned m, double *value, unsigned n, const double *u, double *slope, void *user) {
    constraints(m, value, n, u, slope, user, false);
}
static void equalities(unsigned m, double *value, unsigned n, const double *u, double *slope, void *user) {
    constraints(m, value, n, u, slope, user, true);
}

// One search from u by one method.  Errors of NLopt, such as rounding, only end it.
static carom_status go(search *k, const char *algorithm, const char *method, double *u, double step, double tolerance,
                       int most) {
    const carom_nlopt *l = &k->nlopt;
    const unsigned n = (unsigned)k->o->n;
    unsigned equal = 0;
    double f, *tol = calloc((size_t)k->o->nsubject + 1, sizeof *tol);
    for (int i = 0; i < k->o->nsubject; ++i) equal += k->relation[i] == 0;
    const unsigned unequal = (unsigned)k->o->nsubject - equal;
    k->opt = tol ? l->create(l->algorithm(algorithm), n) : NULL;
    if (!k->opt) return free(tol), no_memory(k->err);
    for (int i = 0; i < k->o->nsubject; ++i) tol[i] = ASIDE;
    l->set_min_objective(k->opt, objective, k);
    if (unequal > 0) l->add_inequality_mconstraint(k->opt, unequal, inequalities, k, tol);
    if (equal > 0) l->add_equality_mconstraint(k->opt, equal, equalities, k, tol);
    l->set_lower_bounds1(k->opt, 0), l->set_upper_bounds1(k->opt, 1);
    l->set_xtol_abs1(k->opt, tolerance), l->set_maxeval(k->opt, most);
    if (step > 0) l->set_initial_step1(k->opt, step);
    k->method = method, k->gradients = strcmp(method, "cobyla") != 0, k->status = CAROM_OK, k->exhausted = false,
    k->stale = 0;
    const int code = l->optimize(k->opt, u, &f);
    enum { OUT_OF_RUNS = 5, INVALID = -2 }; // of NLopt
    k->exhausted = code == OUT_OF_RUNS;
    l->destroy(k->opt);
    k->opt = NULL, k->gradients = false;
    free(tol);
    if (code == INVALID) return carom_fail(k->err, CAROM_UNSUPPORTED, "`method %s` is not possible here", method);
    return k->status;
}

// -- how good it is -----------------------------------------------------------------------------------------------

// What is left of the gradient beside active constraints and bounds: grad f + sum lambda_i grad g_i = r over names
// between their bounds, the shortest r by orthogonalisation, lambda from it.
static carom_status inspect(search *k) {
    carom_optimum *o = k->o;
    const int n = o->n, m = o->nsubject;
    o->slope = NAN;
    for (int i = 0; i < m; ++i) o->multiplier[i] = NAN;
    for (int j = 0; j < n; ++j) {
        o->bound[j] = k->best_u[j] <= ACTIVE ? -1 : k->best_u[j] >= 1 - ACTIVE ? 1 : 0;
        o->gradient[j] =
            k->best_derived ? (k->def->maximise ? -1 : 1) * k->best_slope[j] / (o->high[j] - o->low[j]) : NAN;
    }
    if (!k->best_derived) return CAROM_OK;
    double *block = calloc((size_t)(m + 2) * (size_t)n + (size_t)m * (size_t)m + (size_t)m + 1, sizeof *block);
    int *at = calloc((size_t)m + 1, sizeof *at), active = 0;
    if (!block || !at) return free(block), free(at), no_memory(k->err);
    double *Q = block, *r = Q + (size_t)m * (size_t)n, *R = r + 2 * n, *c = R + (size_t)m * (size_t)m;
    bool *held = calloc((size_t)n + 1, sizeof *held);
    for (int j = 0; j < n && held; ++j) { // a bound that the objective presses against
        held[j] = (o->bound[j] < 0 && k->best_slope[j] >= 0) || (o->bound[j] > 0 && k->best_slope[j] <= 0);
        r[j] = held[j] ? 0 : k->best_slope[j];
    }
    for (int i = 0; i < m && held; ++i) {
        const double size = k->size[i] > 0 ? k->size[i] : 1, x = o->subject[i] / size;
        double *q = Q + (size_t)active * (size_t)n;
        if (k->relation[i] != 0 && fabs(x) > 10 * ACTIVE) continue;
        for (int j = 0; j < n; ++j) q[j] = held[j] ? 0 : k->best_slope[(size_t)(1 + i) * (size_t)n + (size_t)j];
        const double whole = carom_length(q, n);
        for (int a = 0; a < active; ++a)
            R[a + active * m] = carom_dot(Q + (size_t)a * (size_t)n, q, n),
                           carom_axpy(q, -R[a + active * m], Q + (size_t)a * (size_t)n, n);
        const double left = carom_length(q, n);
        if (!(left > CAROM_DEPENDENT * whole)) continue; // it follows from others
        R[active + active * m] = left;
        for (int j = 0; j < n; ++j) q[j] /= left;
        at[active++] = i;
    }
    for (int a = 0; a < active; ++a) c[a] = -carom_dot(Q + (size_t)a * (size_t)n, r, n);
    for (int a = 0; a < active; ++a) carom_axpy(r, c[a], Q + (size_t)a * (size_t)n, n);
    for (int a = active - 1; a >= 0; --a) {
        for (int b = a + 1; b < active; ++b) c[a] -= R[a + b * m] * c[b];
        c[a] /= R[a + a * m];
        o->multiplier[at[a]] = c[a];
    }
    o->slope = carom_norm_max(r, n) / fmax(fabs(o->objective), k->scale);
    const carom_status status = held ? CAROM_OK : no_memory(k->err);
    free(held), free(block), free(at);
    return status;
}

// -- all searches -------------------------------------------------------------------------------------------------

// Points of a lattice that fills the unit cube evenly: frac(i alpha^k), alpha the inverse of the root of x^(n + 1) = x
// + 1.
static void other_start(int i, int n, double *u) {
    double root = 1.5, alpha = 1;
    for (int a = 0; a < 60; ++a) root = pow(1 + root, 1.0 / (n + 1));
    for (int j = 0; j < n; ++j) {
        alpha /= root;
        const double x = 0.5 + i * alpha;
        u[j] = x - floor(x);
    }
}

static carom_status one_search(search *k, double *u) {
    const carom_optimise_def *d = k->def;
    const double tolerance = d->tolerance > 0 ? d->tolerance : TOLERANCE;
    const int most = d->evaluations > 0 ? d->evaluations : 100 + 20 * k->o->n;
    const char *method = d->method     ? d->method
                         : k->o->exact ? k->o->n > MANY && !k->equal ? "ccsaq" : "slsqp"
                                       : "cobyla";
    const double best = k->best_f;
    // 0.1: of the distance of bounds, the first step: chosen
    if (strcmp(method, "cobyla") == 0) return go(k, "LN_COBYLA", "cobyla", u, 0.1, tolerance, most);
    CAROM_TRY(go(k, strcmp(method, "ccsaq") == 0 ? "LD_CCSAQ" : "LD_SLSQP", method, u, 0, tolerance, most));
    CAROM_TRY(inspect(k));
    const bool ours = !(k->best_f >= best); // this search has found it
    if (d->method || !ours || (k->o->slope < STATIONARY && k->o->violation <= ADMISSIBLE))
        return CAROM_OK; // it may also have run out of runs at a kink
    carom_copy(u, k->best_u, k->o->n);
    return go(k, "LN_COBYLA", "cobyla", u, BESIDE, tolerance, most);
}

// The first evaluation decides what is possible.
static carom_status first_run(search *k, const double *u) {
    carom_optimum *o = k->o;
    carom_error why = {0};
    for (int j = 0; j < o->n; ++j) k->x[j] = o->begin[j];
    k->method = "start";
    carom_status status = carom_evaluate_path(k, true, &why);
    if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return *k->err = why, status;
    o->exact = status == CAROM_OK;
    if (status != CAROM_OK) {
        snprintf(o->not_exact, sizeof o->not_exact, "%.390s", why.text);
        carom_error other = {0};
        if (carom_evaluate_path(k, false, &other) == CAROM_OK)
            o->exact = status == CAROM_NOT_CONVERGED && !k->given; // no derivative here only
        else {
            k->plain = true;
            const carom_status plain = carom_evaluate_plain(k, &other);
            if (plain == CAROM_BAD_INPUT || plain == CAROM_UNSUPPORTED || plain == CAROM_STOPPED)
                return *k->err = other, plain;
        }
    }
    k->known = false;
    if (!evaluate(k, u, o->exact)) return k->status;
    k->scale = isfinite(k->value[0]) && k->value[0] != 0 ? fabs(k->value[0]) : 1;
    return CAROM_OK;
}

static carom_status search_all(search *k) {
    carom_optimum *o = k->o;
    double *u = calloc((size_t)o->n + 1, sizeof *u);
    if (!u) return no_memory(k->err);
    for (int j = 0; j < o->n; ++j) u[j] = (o->begin[j] - o->low[j]) / (o->high[j] - o->low[j]);
    carom_status status = first_run(k, u);
    bool exhausted = false;
    o->searches = 1 + k->def->restarts;
    for (o->search = 0; o->search < o->searches && status == CAROM_OK; ++o->search) {
        if (o->search > 0) other_start(o->search, o->n, u);
        const double best = k->best_f;
        status = one_search(k, u);
        if (k->best_f != best || o->search == 0) exhausted = k->exhausted;
    }
    o->search = k->best_search;
    free(u);
    if (status != CAROM_OK) return status;
    if (isnan(k->best_f)) return carom_fail(k->err, CAROM_NOT_CONVERGED, "no run succeeded: %.400s", k->why.text);
    if (o->exact && !k->best_derived) { // the best of a search without derivatives may have some
        k->known = false;
        k->method = o->method;
        carom_copy(k->u, k->best_u, o->n);
        double *at = malloc((size_t)o->n * sizeof *at);
        if (!at) return no_memory(k->err);
        carom_copy(at, k->best_u, o->n);
        if (evaluate(k, at, true) && k->derived)
            k->best_derived = true, carom_copy(k->best_slope, k->slope, (ptrdiff_t)o->n * (1 + o->nsubject)),
            o->distance = k->distance;
        free(at);
    }
    CAROM_TRY(inspect(k));
    o->kink = o->exact && !(o->slope < STATIONARY);
    if (o->violation > ADMISSIBLE)
        return carom_fail(k->err, CAROM_NOT_CONVERGED,
                          "no values between the bounds satisfy all constraints: the best violates one by %.3g, "
                          "relative to its size; add `restarts` or widen bounds",
                          o->violation);
    return exhausted ? carom_fail(k->err, CAROM_NOT_CONVERGED,
                                  "the search has not converged after %d runs; increase `evaluations`", o->runs)
                     : CAROM_OK;
}

// -- usage --------------------------------------------------------------------------------------------------------

static carom_status read_bounds(search *k) {
    carom_optimum *o = k->o;
    for (int j = 0; j < o->n; ++j) {
        const char *text = k->def->by[j], *sign = strchr(text, '='), *colon = sign ? strchr(sign, ':') : NULL;
        if (!sign || !colon || sign == text)
            return carom_fail(k->err, CAROM_BAD_INPUT, "`by %.60s`: write NAME=LOW:HIGH", text);
        o->name[j] = calloc((size_t)(sign - text) + 1, 1);
        if (!o->name[j]) return no_memory(k->err);
        memcpy(o->name[j], text, (size_t)(sign - text));
    }
    CAROM_TRY(carom_evaluate_open(k));
    for (int j = 0; j < o->n; ++j) {
        const char *text = k->def->by[j], *sign = strchr(text, '='), *colon = strchr(sign, ':');
        carom_error why = {0};
        const carom_free_name *f = &k->task.free[j];
        if (f->kind != CAROM_FREE_PARAMETER)
            return carom_fail(
                k->err, CAROM_BAD_INPUT,
                "`by %.60s`: parameters are optimised; make the initial value a parameter, as in `%.40s: {at: %.40s0}`",
                text, o->name[j], o->name[j]);
        if (!carom_model_quantity(k->task.base, o->name[j], sign + 1, (size_t)(colon - sign - 1), &o->low[j], &why))
            return carom_fail(k->err, CAROM_BAD_INPUT, "`by %.60s`: the lower bound %.200s", text, why.text);
        if (!carom_model_quantity(k->task.base, o->name[j], colon + 1, strlen(colon + 1), &o->high[j], &why))
            return carom_fail(k->err, CAROM_BAD_INPUT, "`by %.60s`: the upper bound %.200s", text, why.text);
        if (!(o->low[j] < o->high[j] && isfinite(o->low[j]) && isfinite(o->high[j])))
            return carom_fail(k->err, CAROM_BAD_INPUT, "`by %.60s`: the lower bound must be below the upper one", text);
        o->begin[j] = fmin(fmax(f->value, o->low[j]), o->high[j]);
    }
    return CAROM_OK;
}

// "A <= B": both sides are results; relation -1: <=, 1: >=, 0: =.
static carom_status read_subject(search *k, int i) {
    char *text = copy_of(k->def->subject[i]), *sign = NULL;
    if (!text) return no_memory(k->err);
    k->own[i] = text;
    int depth = 0;
    for (char *c = text; *c && !sign; ++c) {
        depth += (*c == '(') - (*c == ')');
        if (depth == 0 && (*c == '<' || *c == '>' || *c == '=')) sign = c;
    }
    if (!sign)
        return carom_fail(k->err, CAROM_BAD_INPUT,
                          "`subject-to '%.80s'`: write EXPRESSION <= VALUE, also with >= or =", text);
    k->relation[i] = *sign == '<' ? -1 : *sign == '>' ? 1 : 0;
    k->equal = k->equal || *sign == '=';
    char *right = sign + 1 + (sign[1] == '=');
    while (sign > text && sign[-1] == ' ') --sign;
    *sign = 0;
    k->texts[1 + 2 * i] = text + strspn(text, " "), k->texts[2 + 2 * i] = right + strspn(right, " ");
    if (!*k->texts[1 + 2 * i] || !*k->texts[2 + 2 * i])
        return carom_fail(k->err, CAROM_BAD_INPUT,
                          "`subject-to '%.80s'`: write EXPRESSION <= VALUE, also with >= or =", k->def->subject[i]);
    return CAROM_OK;
}

static carom_status allocate(search *k) {
    carom_optimum *o = k->o;
    const size_t n = (size_t)o->n + 1, m = (size_t)o->nsubject + 1;
    double **part[] = {&o->value,      &o->low,    &o->high,   &o->begin,  &o->gradient, &o->subject,
                       &o->multiplier, &k->x,      &k->u,      &k->best_u, &k->value,    &k->slope,
                       &k->best_slope, &k->result, &k->slopes, &k->size,   &k->shown};
    const size_t size[] = {n, n, n, n, n, m, m, n, n, n, m, n * m, n * m, 2 * m, 2 * n * m, m, m};
    bool good = true;
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i)
        *part[i] = calloc(size[i], sizeof(double)), good = good && *part[i];
    o->name = calloc(n, sizeof *o->name), o->bound = calloc(n, sizeof *o->bound);
    k->relation = calloc(m, sizeof *k->relation), k->texts = calloc(2 * m, sizeof *k->texts),
    k->own = calloc(m, sizeof *k->own);
    return good && o->name && o->bound && k->relation && k->texts && k->own ? CAROM_OK : no_memory(k->err);
}

// The model's text with the best values, and with those that parameters were set to beside the file.
static carom_status write_text(search *k) {
    carom_optimum *o = k->o;
    const int n = carom_model_count(k->task.base).parameters;
    carom_model_def plain = k->def->model; // where values stand in the text, a model knows that was not changed
    plain.set = NULL;
    carom_error why = {0};
    carom_model *m = carom_model_create(&plain, &why);
    int *index = calloc((size_t)n + 1, sizeof *index), count = 0;
    double *value = calloc((size_t)n + 1, sizeof *value), x;
    carom_status status = index && value ? CAROM_OK : no_memory(k->err);
    for (int i = 0; i < n && m && status == CAROM_OK; ++i) {
        const char *name = carom_model_parameter(k->task.base, i, &x);
        const size_t length = strlen(name);
        bool given = false;
        for (size_t j = 0; k->def->model.set && k->def->model.set[j]; ++j)
            given = given || (strncmp(k->def->model.set[j], name, length) == 0 && k->def->model.set[j][length] == '=');
        for (int j = 0; j < o->n; ++j)
            if (k->task.free[j].kind == CAROM_FREE_PARAMETER && k->task.free[j].index == i)
                given = true, x = o->value[j];
        if (given) index[count] = i, value[count++] = x;
    }
    if (m && status == CAROM_OK &&
        carom_model_rewrite(m, plain.text, plain.length, count, index, value, &o->text, &why) != CAROM_OK)
        free(o->text), o->text = NULL;
    carom_model_destroy(m);
    free(index), free(value);
    return status;
}

static carom_status find(search *k) {
    const carom_optimise_def *d = k->def;
    carom_optimum *o = k->o;
    static const char *const methods[] = {"slsqp", "ccsaq", "cobyla"};
    o->n = carom_list_length(d->by), o->nsubject = carom_list_length(d->subject);
    o->first = k->best_f = o->slope = NAN, o->distance = INFINITY, k->worst = -INFINITY;
    CAROM_TRY(allocate(k));
    if (o->n == 0) return carom_fail(k->err, CAROM_BAD_INPUT, "nothing to optimise; give `by NAME=LOW:HIGH`");
    bool known = !d->method;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i) known = known || strcmp(d->method, methods[i]) == 0;
    if (!known)
        return carom_fail(k->err, CAROM_BAD_INPUT, "unknown method '%.40s'; expected slsqp, ccsaq or cobyla",
                          d->method);
    CAROM_TRY(carom_nlopt_load(&k->nlopt, k->err));
    k->texts[0] = d->of;
    for (int i = 0; i < o->nsubject; ++i) CAROM_TRY(read_subject(k, i));
    CAROM_TRY(read_bounds(k));
    if (k->equal && d->method && strcmp(d->method, "ccsaq") == 0)
        return carom_fail(k->err, CAROM_BAD_INPUT, "`method ccsaq`: constraints with = need slsqp or cobyla");
    CAROM_TRY(name_history(k));
    const carom_status status = search_all(k);
    if (status == CAROM_OK || status == CAROM_NOT_CONVERGED || status == CAROM_STOPPED) {
        if (!isnan(k->best_f)) CAROM_TRY(write_text(k));
    }
    return status;
}

carom_status carom_optimise(carom_optimum *o, const carom_optimise_def *def, carom_error *err) {
    carom_error own = {0};
    if (!err) err = &own;
    if (o) *o = (carom_optimum){0};
    if (!o || !def || !def->of || !def->by)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "an optimum needs an expression, names with bounds and a result pointer");
    search k = {.o = o, .def = def, .err = err};
    const carom_status status = find(&k);
    for (int i = 0; k.own && i < o->nsubject; ++i) free(k.own[i]);
    free(k.x), free(k.u), free(k.best_u), free(k.value), free(k.slope), free(k.best_slope), free(k.result),
        free(k.slopes), free(k.size), free(k.shown);
    free(k.relation), free(k.texts), free(k.own);
    carom_task_close(&k.task);
    carom_task_close(&k.simple);
    return status;
}

void carom_optimum_free(carom_optimum *o) {
    if (!o) return;
    for (int j = 0; o->name && j < o->n; ++j) free(o->name[j]);
    free(o->name), free(o->value), free(o->low), free(o->high), free(o->begin), free(o->subject), free(o->gradient),
        free(o->multiplier), free(o->bound), free(o->text);
    carom_table_free(&o->history);
    *o = (carom_optimum){0};
}
