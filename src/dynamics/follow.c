// follow.c: pseudo-arclength continuation of orbits and states of rest.
//
//     u_1 = u + ds tau,    F(u_1 + du) = 0,  tau du = 0                                                           (FOL-1)
//
// with u the solution and the parameter, tau the tangent.  Where a number of eigenvalues beyond a border of stability changes, where the parameter turns
// back, and where contacts do something else, the point is located between the two sides of it.
#include "base/missing.h"
#include "base/number.h"
#include "dynamics/curve.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double STEP = 0.05, SMALLEST = 1e-6, EXACT = 1e-10, NOUGHT = 1e-9; // steps; where an event is located; a distance that is rounding
static const double VANISHED = 1e-11; // of what vanishes at an event
static const double CAUSE = 1e-4;     // distance from the unit circle of the eigenvalue that was followed there
static const double FURTHER[] = {1e-6, 1e-5, 1e-4}; // of a step: how far behind an event another solution is looked for
static const double ARRIVED = 1e-12;  // of a step: the edge of the range
static const double SHORT = 1e-4;     // of a step: the tangent may turn by more
enum { LOOK = 2 + 2 * CAROM_TESTS, HEAD = 4 + LOOK, COLUMNS = 6, FOLD = -1 }; // of a task: branch, step, kind, failures, look; then tau, bend, place

typedef enum kind { GO_ON, DOUBLE } kind;

typedef struct walk {
    carom_branch *f;
    const carom_follow_def *def;
    carom_curve k;
    const carom_model *m;
    int nq, nv, length, ntasks;  // length: of a task
    double *task, low, high, size, longest;
    int kept_tasks, kept_branches; // when the last point was complete: what an interruption leaves behind
    long kept_rows;
    int failures;                // steps to go until they may grow again
    double *tau, *bend, *tau_1, *place, *place_1, *x, *least, *most;
    carom_curve_look a, b;
    long room;
    carom_error *err;
} walk;

static carom_status no_memory(carom_error *err) { return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a branch"); }

// -- rows -----------------------------------------------------------------------------------------------------------

static bool name_column(carom_table *t, carom_column_kind kind, const char *format, const char *name) {
    char text[200];
    snprintf(text, sizeof text, format, name);
    carom_column *c = &t->column[t->columns];
    c->name = malloc(strlen(text) + 1);
    c->kind = kind;
    if (!c->name) return false;
    strcpy(c->name, text);
    ++t->columns;
    return true;
}

static carom_status make_table(walk *w) {
    carom_table *t = &w->f->branch;
    t->name = malloc(sizeof "branch");
    t->column = calloc((size_t)COLUMNS + 4 * (size_t)w->nq + (size_t)w->nv, sizeof *t->column);
    if (!t->name || !t->column) return no_memory(w->err);
    strcpy(t->name, "branch");
    bool good = name_column(t, CAROM_COLUMN_INTEGER, "%s", "branch") && name_column(t, CAROM_COLUMN_REAL, "%s", w->def->by) && name_column(t, CAROM_COLUMN_REAL, "%s", "period") &&
                name_column(t, CAROM_COLUMN_INTEGER, "%s", "stable") && name_column(t, CAROM_COLUMN_REAL, "%s", w->def->period ? "multiplier" : "growth") && name_column(t, CAROM_COLUMN_TEXT, "%s", "event");
    for (int i = 0; i < w->nq; ++i) good = good && name_column(t, CAROM_COLUMN_REAL, "%s", carom_model_coordinate(w->m, i));
    for (int i = 0; i < w->nv; ++i) good = good && name_column(t, CAROM_COLUMN_REAL, "%s", carom_model_velocity(w->m, i));
    for (int i = 0; i < w->nq; ++i) good = good && name_column(t, CAROM_COLUMN_REAL, "min(%s)", carom_model_coordinate(w->m, i));
    for (int i = 0; i < w->nq; ++i) good = good && name_column(t, CAROM_COLUMN_REAL, "max(%s)", carom_model_coordinate(w->m, i));
    return good ? CAROM_OK : no_memory(w->err);
}

static bool grow(void **p, size_t n, size_t size) {
    void *more = realloc(*p, n * size);
    if (more) *p = more;
    return more != NULL;
}

static carom_status add_row(walk *w, int branch, const carom_curve_look *l, const char *event) {
    carom_table *t = &w->f->branch;
    if (t->rows >= w->room) {
        const size_t room = (size_t)(2 * t->rows + 64);
        bool good = true;
        for (int i = 0; i < t->columns && good; ++i) {
            carom_column *c = &t->column[i];
            good = c->kind == CAROM_COLUMN_REAL ? grow((void **)&c->real, room, sizeof *c->real) : c->kind == CAROM_COLUMN_INTEGER ? grow((void **)&c->integer, room, sizeof *c->integer) : grow((void **)&c->text, room, sizeof *c->text);
        }
        if (!good) return no_memory(w->err);
        w->room = (long)room;
    }
    const long r = t->rows;
    double period = 0;
    w->k.save(w->k.user, w->place_1);
    CAROM_TRY(w->k.row(w->k.user, &period, w->x, w->least, w->most));
    char *text = malloc(strlen(event) + 1);
    if (!text) return no_memory(w->err);
    strcpy(text, event);
    t->column[0].integer[r] = branch, t->column[1].real[r] = w->place_1[0], t->column[2].real[r] = period, t->column[3].integer[r] = l->stable, t->column[4].real[r] = l->largest, t->column[5].text[r] = text;
    int at = COLUMNS;
    for (int i = 0; i < w->nq + w->nv; ++i) t->column[at++].real[r] = w->x[i];
    for (int i = 0; i < w->nq; ++i) t->column[at++].real[r] = w->least[i];
    for (int i = 0; i < w->nq; ++i) t->column[at++].real[r] = w->most[i];
    ++t->rows;
    w->f->value = w->place_1[0];
    return CAROM_OK;
}

// -- tasks ----------------------------------------------------------------------------------------------------------

static double *task_at(const walk *w, int i) { return w->task + (size_t)i * (size_t)w->length; }

// At the end of the queue: from the place of the curve now.
static carom_status add_task(walk *w, int branch, double step, kind what, const double *tau) {
    if (!grow((void **)&w->task, (size_t)(w->ntasks + 1) * (size_t)w->length, sizeof *w->task)) return no_memory(w->err);
    double *t = task_at(w, w->ntasks++);
    carom_zero(t, w->length);
    t[0] = branch, t[1] = step, t[2] = what;
    carom_copy(t + HEAD, tau, w->k.ntau);
    w->k.save(w->k.user, t + HEAD + 2 * w->k.ntau);
    return CAROM_OK;
}

static void put_look(double *to, const carom_curve_look *l) {
    to[0] = l->stable, to[1] = l->largest;
    for (int k = 0; k < CAROM_TESTS; ++k) to[2 + k] = l->count[k], to[2 + CAROM_TESTS + k] = l->distance[k];
}

static carom_curve_look get_look(const double *from) {
    carom_curve_look l = {.stable = from[0] != 0, .largest = from[1]};
    for (int k = 0; k < CAROM_TESTS; ++k) l.count[k] = (int)fmax(0, fmin(from[2 + k], 1e6)), l.distance[k] = from[2 + CAROM_TESTS + k];
    return l;
}

static void mark(walk *w) { w->kept_tasks = w->ntasks, w->kept_branches = w->f->branches, w->kept_rows = w->f->branch.rows; }

// Back to the last point that was complete: what was found behind it is found again when the branch goes on.
static void forget_unfinished(walk *w) {
    carom_table *t = &w->f->branch;
    for (; t->rows > w->kept_rows; --t->rows) free(t->column[5].text[t->rows - 1]);
    w->ntasks = w->kept_tasks, w->f->branches = w->kept_branches;
}

static void drop_task(walk *w) {
    --w->ntasks;
    memmove(w->task, w->task + w->length, (size_t)w->ntasks * (size_t)w->length * sizeof *w->task);
    mark(w);
}

// What is left to do, where a file can hold it.
static carom_status write_queue(walk *w) {
    carom_table *t = &w->f->queue;
    carom_table_free(t);
    t->name = malloc(sizeof "queue"), t->column = calloc(1, sizeof *t->column);
    if (!t->name || !t->column) return no_memory(w->err);
    strcpy(t->name, "queue");
    if (!name_column(t, CAROM_COLUMN_REAL, "%s", "number")) return no_memory(w->err);
    CAROM_TRY(carom_table_reserve(t, (long)w->ntasks * w->length, w->err));
    if (t->rows > 0) memcpy(t->column[0].real, w->task, (size_t)t->rows * sizeof *w->task);
    return CAROM_OK;
}

// Nothing in the file is trusted.
static carom_status read_queue(walk *w) {
    const carom_table *t = &w->f->queue, *b = &w->f->branch;
    const carom_column *c = carom_table_column(t, "number");
    bool good = c && c->kind == CAROM_COLUMN_REAL && t->rows % w->length == 0 && t->rows / w->length < 100 && b->columns == COLUMNS + 3 * w->nq + w->nv && strcmp(b->column[1].name, w->def->by) == 0;
    for (int i = 0; i < b->columns && good; ++i) good = b->column[i].kind == (i == 0 || i == 3 ? CAROM_COLUMN_INTEGER : i == 5 ? CAROM_COLUMN_TEXT : CAROM_COLUMN_REAL);
    for (long k = 0; good && k < t->rows; ++k) good = k % w->length >= HEAD ? isfinite(c->real[k]) : k % w->length >= 4 || fabs(c->real[k]) < 1e6;
    if (!good)
        return carom_fail(w->err, CAROM_BAD_INPUT, "the branch to go on with is not that of this model and parameter");
    w->ntasks = (int)(t->rows / w->length);
    w->task = malloc(((size_t)t->rows + 1) * sizeof *w->task);
    if (!w->task) return no_memory(w->err);
    if (t->rows > 0) memcpy(w->task, c->real, (size_t)t->rows * sizeof *w->task);
    w->room = w->f->branch.rows;
    mark(w);
    return CAROM_OK;
}

// -- one step ---------------------------------------------------------------------------------------------------------

// The solution `sigma` along tau from a place.
static carom_status go(walk *w, const double *place, const double *tau, double sigma, int *iterations) {
    CAROM_TRY(w->k.restore(w->k.user, place));
    carom_add(w->tau_1, tau, sigma / 2, w->bend, w->k.ntau);
    CAROM_TRY(w->k.predict(w->k.user, w->tau_1, sigma));
    return w->k.correct(w->k.user, tau, iterations);
}

static double value_now(walk *w) {
    w->k.save(w->k.user, w->place_1);
    return w->place_1[0];
}

// What a smooth event is zero of: the parameter's part of the tangent, or the distance of an eigenvalue from its border.
static carom_status test(walk *w, int which, double *x) {
    if (which != FOLD) {
        CAROM_TRY(w->k.look(w->k.user, &w->b));
        *x = w->b.distance[which];
        return CAROM_OK;
    }
    carom_copy(w->tau_1, w->tau, w->k.ntau);
    w->k.tangent(w->k.user, w->tau_1);
    *x = w->tau_1[w->k.ntau - 1];
    return CAROM_OK;
}

// Regula falsi (Illinois) between the place, where the test is x_a, and ds beyond it; the curve ends at the event.
static carom_status locate(walk *w, int which, double ds, double x_a, double x_b) {
    carom_bracket k = {.b = ds, .f_a = x_a, .f_b = x_b};
    int iterations;
    const bool sides = (x_a < 0) != (x_b < 0) && fmin(fabs(x_a), fabs(x_b)) > NOUGHT; // else it lies on its border for a while, as without damping: by counting
    for (int i = 0; i < 60 && k.b - k.a > EXACT; ++i) {
        double sigma = sides ? carom_bracket_next(&k) : (k.a + k.b) / 2, x;
        if (i > 40 || !(sigma > k.a && sigma < k.b)) sigma = (k.a + k.b) / 2;
        CAROM_TRY(go(w, w->place, w->tau, sigma, &iterations));
        CAROM_TRY(test(w, which, &x));
        if (sides && fabs(x) < VANISHED) return CAROM_OK;
        carom_bracket_cut(&k, sigma, x, sides ? (x < 0) == (k.f_a < 0) : which != FOLD && w->b.count[which] == w->a.count[which]);
        if (fabs(k.f_a) < CAROM_NOT_ZERO || fabs(k.f_b) < CAROM_NOT_ZERO) k.side = 0;
    }
    return CAROM_OK;
}

static carom_status smooth_events(walk *w, int branch, double ds) {
    carom_copy(w->tau_1, w->tau, w->k.ntau);
    const bool forward = w->k.tangent(w->k.user, w->tau_1);
    const double turn[2] = {w->tau[w->k.ntau - 1], w->tau_1[w->k.ntau - 1]};
    const carom_curve_look end = w->b;
    const bool fold = forward && turn[0] * turn[1] < 0;
    for (int which = FOLD; which < CAROM_TESTS; ++which) {
        if (which == FOLD ? !fold : end.count[which] == w->a.count[which]) continue;
        // at a fold one eigenvalue crosses too; of two that cross at once each is looked at
        if (which == CAROM_TESTS - 1 && fold) continue;
        int other = 0;
        for (int k = 0; k < CAROM_TESTS; ++k) other += end.count[k] - w->a.count[k];
        if (which != FOLD && other == 0) continue; // eigenvalues have met, none has crossed
        const carom_status status = which == FOLD ? locate(w, FOLD, ds, turn[0], turn[1]) : locate(w, which, ds, w->a.distance[which], end.distance[which]);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (status != CAROM_OK) continue;
        carom_curve_look at;
        CAROM_TRY(w->k.look(w->k.user, &at));
        if (which != FOLD && !(fabs(at.distance[which]) < CAUSE)) continue; // another eigenvalue has come nearer
        CAROM_TRY(add_row(w, branch, &at, which == FOLD ? "fold" : w->k.test[which]));
        if (which == 0 && w->def->switches && w->k.doubles && w->k.doubles(w->k.user) && w->ntasks < 16) {
            carom_zero(w->tau_1, w->k.ntau);
            CAROM_TRY(add_task(w, 0, w->longest / 4, DOUBLE, w->tau_1));
        }
    }
    return CAROM_OK;
}

// Reasons are kept for the caller, as many as there is room for.
static void note_end(walk *w, int branch, const carom_error *why) {
    const carom_error before = w->f->note;
    if (why->code == CAROM_OK) return;
    carom_fail(&w->f->note, why->code, "%.450s%sbranch %d ends at %.60s = %.9g: %.380s", before.code == CAROM_OK ? "" : before.text, before.code == CAROM_OK ? "" : "; ", branch, w->def->by,
               w->f->value, why->text);
}

// The curve stands at a solution: its tangent, in the direction of w->tau.
static carom_status turn_forward(walk *w) {
    return w->k.tangent(w->k.user, w->tau) ? CAROM_OK : carom_fail(w->err, CAROM_SINGULAR, "the branch has no unique tangent at %s = %.9g", w->def->by, value_now(w));
}

// Better coordinates of the solution, in which the branch goes the same way.
static carom_status settle(walk *w, bool *moved) {
    const int last = w->k.ntau - 1;
    CAROM_TRY(w->k.settle(w->k.user, moved));
    if (!*moved) return CAROM_OK;
    const double way = w->tau[last] < 0 ? -1 : 1;
    carom_zero(w->tau, w->k.ntau), carom_zero(w->bend, w->k.ntau);
    w->tau[last] = way;
    return turn_forward(w);
}

// Is there a solution with other contacts just behind sigma?  Where an event has only begun it is hard to find: a little further on, too.  The curve ends there.
static carom_status look_behind(walk *w, double sigma, double ds, bool *found, double *at, carom_error *why) {
    enum { TIMES = 5 };
    const double further[TIMES] = {w->k.clear, 0, FURTHER[0], FURTHER[1], FURTHER[2]}; // events that come at nearly the same time are told apart first
    *found = false;
    for (int i = w->k.clear > 0 ? 0 : 1; i < (w->k.clear > 0 ? TIMES : 2) && !*found; ++i) {
        int iterations;
        *at = sigma + further[i];
        if (i > 1 && *at > fmax(ds, sigma + w->k.clear)) break;
        const carom_status status = go(w, w->place, w->tau, *at, &iterations);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (status != CAROM_OK) *why = *w->err;
        *found = status == CAROM_OK && !w->k.same(w->k.user);
    }
    return CAROM_OK;
}

// Contacts do something else before ds, or there is no solution: bisection.  *ended: there is none behind it; else the curve ends just behind it.
static carom_status sudden_event(walk *w, int branch, double ds, bool *ended) {
    double a = 0, b = ds, behind = 0;
    bool found = false;
    int iterations;
    char text[120] = "end";
    carom_error why = {.code = CAROM_NOT_CONVERGED, .text = "the sequence of contacts changes, and no solution with another one was found behind it"};
    for (int i = 0; i < 60 && b - a > EXACT; ++i) {
        const double sigma = (a + b) / 2;
        const carom_status status = go(w, w->place, w->tau, sigma, &iterations);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (status != CAROM_OK) why = *w->err;
        if (status == CAROM_OK && w->k.same(w->k.user)) a = sigma;
        else b = sigma;
    }
    if (a > SMALLEST) { // is it the start of the orbit that meets an event, and nothing else?
        bool moved = false;
        CAROM_TRY(go(w, w->place, w->tau, a, &iterations));
        CAROM_TRY(settle(w, &moved));
        if (moved) return CAROM_OK;
    }
    CAROM_TRY(look_behind(w, b, ds, &found, &behind, &why));
    if (found) w->k.describe(w->k.user, false, text, sizeof text);
    CAROM_TRY(go(w, w->place, w->tau, a, &iterations));
    if (!found) w->k.describe(w->k.user, true, text, sizeof text);
    carom_curve_look at;
    CAROM_TRY(w->k.look(w->k.user, &at));
    CAROM_TRY(add_row(w, branch, &at, text));
    *ended = !found;
    if (!found) note_end(w, branch, &why);
    return found ? go(w, w->place, w->tau, behind, &iterations) : CAROM_OK;
}

// -- a branch ---------------------------------------------------------------------------------------------------------

// A point is complete: all that the next one depends on goes into the task, so that a branch that goes on later is the same branch.
static carom_status accept(walk *w, double *t, double step) {
    t[1] = step, t[3] = w->failures;
    put_look(t + 4, &w->a);
    carom_copy(t + HEAD, w->tau, w->k.ntau), carom_copy(t + HEAD + w->k.ntau, w->bend, w->k.ntau);
    w->k.save(w->k.user, t + HEAD + 2 * w->k.ntau);
    mark(w);
    w->f->value = value_now(w);
    if (!w->def->on_point) return CAROM_OK;
    CAROM_TRY(write_queue(w));
    return w->def->on_point(w->def->user, w->f);
}

static carom_status begin_task(walk *w, double *t) {
    int iterations;
    CAROM_TRY(w->k.restore(w->k.user, t + HEAD + 2 * w->k.ntau));
    carom_copy(w->tau, t + HEAD, w->k.ntau), carom_copy(w->bend, t + HEAD + w->k.ntau, w->k.ntau);
    w->failures = (int)t[3];
    if (t[0] > 0) { // it goes on
        CAROM_TRY(w->k.linearise(w->k.user));
        w->a = get_look(t + 4);
        return w->k.keep(w->k.user, w->tau);
    }
    if (t[2] == DOUBLE) CAROM_TRY(w->k.twice(w->k.user, w->tau));
    else {
        CAROM_TRY(w->k.correct(w->k.user, NULL, &iterations));
        CAROM_TRY(turn_forward(w));
    }
    CAROM_TRY(w->k.look(w->k.user, &w->a));
    CAROM_TRY(w->k.keep(w->k.user, w->tau));
    CAROM_TRY(add_row(w, w->f->branches + 1, &w->a, ""));
    t[0] = ++w->f->branches, t[2] = GO_ON;
    return accept(w, t, t[1]);
}

// The longest step here: that which was asked for, of the parameter, and of states in units of the solution, which may have grown; along a straight branch more, unless a step was asked for.
static double longest(walk *w) {
    const double part = fabs(w->tau[w->k.ntau - 1]), most = w->longest * w->k.extent(w->k.user), far = w->def->step > 0 ? most : 5 * most, step = carom_length(w->bend, w->k.ntau) * far < 0.02 ? far : most;
    return part * step > w->longest ? w->longest / part : step;
}

// To the edge of the parameter's range, where the branch leaves it.
static carom_status to_edge(walk *w, double sigma, double edge) {
    int iterations;
    CAROM_TRY(w->k.restore(w->k.user, w->place));
    CAROM_TRY(w->k.predict(w->k.user, w->tau, sigma));
    carom_zero(w->tau_1, w->k.ntau);
    w->tau_1[w->k.ntau - 1] = 1;
    CAROM_TRY(w->k.predict(w->k.user, w->tau_1, (edge - value_now(w)) / w->size));
    return w->k.correct(w->k.user, NULL, &iterations);
}

// Events of the step over ds, and back to its end.
static carom_status pass_smooth_events(walk *w, int branch, double ds, int *iterations) {
    w->k.save(w->k.user, w->place_1);
    double *place = malloc((size_t)w->k.nplace * sizeof *place);
    if (!place) return no_memory(w->err);
    carom_copy(place, w->place_1, w->k.nplace);
    const long rows = w->f->branch.rows;
    carom_status status = smooth_events(w, branch, ds);
    if (status == CAROM_OK && w->f->branch.rows > rows) status = w->k.restore(w->k.user, place);
    if (status == CAROM_OK && w->f->branch.rows > rows) status = w->k.correct(w->k.user, NULL, iterations);
    free(place);
    return status;
}

// *more: as many points as are wanted were found before its end.
static carom_status march(walk *w, double *t, bool *more) {
    const int most = w->def->most > 0 ? w->def->most : 2000, last = w->k.ntau - 1;
    CAROM_TRY(begin_task(w, t));
    double step = w->task[1];
    while (w->f->branch.rows < most) {
        const int branch = (int)w->task[0];
        w->k.save(w->k.user, w->place);
        const double from = w->place[0], slope = w->tau[last] * w->size, to = from + step * slope;
        double edge = to > w->high ? w->high : to < w->low ? w->low : NAN, ds = isnan(edge) ? step : fabs(slope) > 0 ? fmax(0, (edge - from) / slope) : step;
        int iterations = 0;
        if (!isnan(edge) && ds < ARRIVED) return CAROM_OK; // it is there
        carom_status status = isnan(edge) ? go(w, w->place, w->tau, ds, &iterations) : to_edge(w, ds, edge);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        bool good = status == CAROM_OK;
        const double there = good ? value_now(w) : from;
        if (good && isnan(edge) && (there > w->high || there < w->low)) { // it bends over the edge
            edge = there > w->high ? w->high : w->low;
            ds *= (edge - from) / (there - from);
            status = to_edge(w, ds, edge);
            if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
            good = status == CAROM_OK;
        }
        const bool same = good && w->k.same(w->k.user);
        if (good && same) {
            carom_copy(w->tau_1, w->tau, w->k.ntau);
            good = w->k.tangent(w->k.user, w->tau_1) && (carom_dot(w->tau, w->tau_1, w->k.ntau) > 0.5 || step < SHORT);
        }
        if (!good && step > SMALLEST) {
            step /= 3, w->failures = 3;
            CAROM_TRY(w->k.restore(w->k.user, w->place));
            continue;
        }
        if (!good || !same) {
            bool ended = false;
            CAROM_TRY(sudden_event(w, branch, ds, &ended));
            if (ended) return CAROM_OK;
            carom_zero(w->bend, w->k.ntau);
            CAROM_TRY(w->k.keep(w->k.user, w->tau));
            CAROM_TRY(turn_forward(w));
            CAROM_TRY(w->k.look(w->k.user, &w->a));
            CAROM_TRY(accept(w, w->task, step));
            continue;
        }
        CAROM_TRY(w->k.look(w->k.user, &w->b));
        const carom_curve_look here = w->b;
        CAROM_TRY(pass_smooth_events(w, branch, ds, &iterations));
        w->a = here;
        carom_copy(w->bend, w->tau, w->k.ntau);
        CAROM_TRY(turn_forward(w));
        for (int i = 0; i <= last; ++i) w->bend[i] = (w->tau[i] - w->bend[i]) / ds;
        CAROM_TRY(add_row(w, branch, &here, ""));
        if (!isnan(edge)) return CAROM_OK;
        bool moved = false;
        CAROM_TRY(settle(w, &moved));
        if (w->failures > 0) --w->failures;
        else if (iterations <= 6) step = fmin(longest(w), 1.4 * step);
        else if (iterations > 12) step *= 0.7;
        CAROM_TRY(w->k.keep(w->k.user, w->tau));
        CAROM_TRY(accept(w, w->task, step));
    }
    *more = true;
    return CAROM_OK;
}

// -- all of it --------------------------------------------------------------------------------------------------------

static carom_status begin(walk *w) {
    CAROM_TRY(make_table(w));
    w->k.save(w->k.user, w->place);
    if (!(w->place[0] >= w->low && w->place[0] <= w->high))
        return carom_fail(w->err, CAROM_BAD_INPUT, "--by: %.60s is %.9g in the model, which does not lie between %.9g and %.9g; set it with --set", w->def->by, w->place[0], w->low, w->high);
    CAROM_TRY(w->k.begin(w->k.user));
    const double way[2] = {w->def->to > w->def->from ? 1 : -1, w->def->to > w->def->from ? -1 : 1};
    for (int i = 0; i < 2; ++i) {
        if (w->place[0] == (way[i] > 0 ? w->high : w->low)) continue;
        carom_zero(w->tau, w->k.ntau);
        w->tau[w->k.ntau - 1] = way[i];
        CAROM_TRY(add_task(w, 0, w->longest / 4, GO_ON, w->tau));
    }
    mark(w);
    return CAROM_OK;
}

// Why a branch could not be followed further, at its last point.
static void give_up(walk *w) {
    carom_branch *f = w->f;
    carom_table *t = &f->branch;
    const bool begun = w->task[0] > 0;
    const carom_error why = *w->err;
    if (begun) note_end(w, (int)w->task[0], &why);
    else if (f->note.code == CAROM_OK) carom_fail(&f->note, why.code, "the doubled orbits at %.60s = %.9g were not found: %.600s", w->def->by, w->task[HEAD + 2 * w->k.ntau], why.text);
    if (begun && t->rows > 0 && t->column[5].text[t->rows - 1][0] == 0) {
        char *text = realloc(t->column[5].text[t->rows - 1], sizeof "end");
        if (text) t->column[5].text[t->rows - 1] = strcpy(text, "end");
    }
}

static carom_status follow(walk *w) {
    const carom_follow_def *def = w->def;
    if (!(def->from != def->to) || !isfinite(def->from) || !isfinite(def->to)) return carom_fail(w->err, CAROM_BAD_INPUT, "--by: give NAME=A:B with two different numbers");
    w->low = fmin(def->from, def->to), w->high = fmax(def->from, def->to), w->size = w->high - w->low;
    w->longest = def->step > 0 ? def->step : STEP;
    CAROM_TRY(def->period ? carom_curve_orbits(&w->k, def, &w->m, &w->f->scheme, w->err) : carom_curve_rests(&w->k, def, &w->m, &w->f->scheme, w->err));
    const carom_system *s = carom_model_system(w->m);
    w->nq = s->nq, w->nv = s->nv, w->length = HEAD + 2 * w->k.ntau + w->k.nplace;
    double **part[] = {&w->tau, &w->bend, &w->tau_1, &w->place, &w->place_1, &w->x, &w->least, &w->most};
    const size_t size[] = {(size_t)w->k.ntau, (size_t)w->k.ntau, (size_t)w->k.ntau, (size_t)w->k.nplace, (size_t)w->k.nplace, (size_t)(w->nq + w->nv), (size_t)w->nq, (size_t)w->nq};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        *part[i] = calloc(size[i] + 1, sizeof **part[i]);
        if (!*part[i]) return no_memory(w->err);
    }
    CAROM_TRY(w->f->branch.columns > 0 ? read_queue(w) : begin(w));
    while (w->ntasks > 0 && w->f->branch.rows < (def->most > 0 ? def->most : 2000)) {
        bool more = false;
        const carom_status status = march(w, w->task, &more);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (status != CAROM_OK && w->f->branch.rows == 0) return status;
        if (status != CAROM_OK) give_up(w);
        if (more) return write_queue(w); // the rest is for --resume
        drop_task(w);
        CAROM_TRY(write_queue(w));
    }
    return CAROM_OK;
}

carom_status carom_follow_run(carom_branch *f, const carom_follow_def *def, carom_error *err) {
    if (!def) return CAROM_MISSING(err);
    walk w = {.f = f, .def = def, .err = err};
    const carom_status status = follow(&w);
    if (status == CAROM_STOPPED && f->branch.rows > 0) {
        carom_error kept = *err;
        forget_unfinished(&w);
        if (write_queue(&w) == CAROM_OK) *err = kept;
    }
    if (def->period) carom_curve_orbits_close(&w.k);
    else carom_curve_rests_close(&w.k);
    free(w.task), free(w.tau), free(w.bend), free(w.tau_1), free(w.place), free(w.place_1), free(w.x), free(w.least), free(w.most);
    return status;
}

// Of texts, as many digits as tell them apart (Fowler, Noll and Vo).
static char *put_sum(char *at, const carom_matrix_text *m) {
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < m->length; ++i) sum = (sum ^ (unsigned char)m->text[i]) * 1099511628211u;
    return at + sprintf(at, "%s %016" PRIx64 "\n", m->name, sum);
}

static size_t list_size(const char *const *list) {
    size_t size = 1;
    for (int i = 0; list && list[i]; ++i) size += strlen(list[i]) + 1;
    return size;
}

// A line for each; behind it.
static char *put_list(char *at, const char *const *list) {
    for (int i = 0; list && list[i]; ++i) at += sprintf(at, "%s\n", list[i]);
    return at + 1;
}

// What a branch depends on beside the model, for the file: texts that must be the same when it goes on.
enum { NOTES = 11, NUMBERS = 300 };
static bool take_notes(const carom_follow_def *def, carom_table_note note[NOTES], char **own) {
    size_t size = NUMBERS + list_size(def->model.set) + list_size(def->exchange) + list_size(def->run.options) + 1;
    for (int i = 0; i < def->model.nmatrices; ++i) size += strlen(def->model.matrices[i].name) + 20;
    char *text = *own = calloc(size, 1);
    if (!text) return false;
    char *range = text, *step = text + 200, *set = text + NUMBERS, *exchange = put_list(set, def->model.set), *options = put_list(exchange, def->exchange);
    carom_format(range, 200, "%.17g:%.17g", def->from, def->to);
    carom_format(step, NUMBERS - 200, "%.17g", def->step > 0 ? def->step : STEP);
    char *files = put_list(options, def->run.options), *at = files;
    for (int i = 0; i < def->model.nmatrices; ++i) at = put_sum(at, &def->model.matrices[i]);
    const carom_table_note all[NOTES] = {{"by", def->by}, {"model", def->model.text}, {"period", def->period ? def->period : ""}, {"range", range}, {"set", set}, {"exchange", exchange},
                                         {"options", options}, {"scheme", def->run.scheme ? def->run.scheme : "event-driven"}, {"step", step}, {"switch", def->switches ? "yes" : "no"}, {"files", files}};
    memcpy(note, all, sizeof all);
    return true;
}

carom_status carom_follow_write(const carom_branch *f, const carom_follow_def *def, const char *file, carom_error *err) {
    if (!f || !def || !file) return carom_fail(err, CAROM_BAD_INPUT, "a branch, its definition or the name of a file is missing");
    const size_t n = strlen(file);
    const bool csv = n > 4 && strcmp(file + n - 4, ".csv") == 0;
    char number[40];
    snprintf(number, sizeof number, "%d", f->branches);
    const carom_table tables[2] = {f->branch, f->queue};
    carom_table_note notes[NOTES + 1];
    char *own;
    if (!take_notes(def, notes, &own)) return no_memory(err);
    notes[NOTES] = (carom_table_note){"branches", number};
    const carom_status status = carom_tables_write(file, tables, csv || f->queue.columns == 0 ? 1 : 2, notes, csv ? 0 : NOTES + 1, err);
    free(own);
    return status;
}

// The file must be of the same model, parameter, range and settings.
static carom_status compare_notes(const carom_follow_def *def, const char *file, carom_error *err) {
    static const char *const word[NOTES] = {"parameter of --by", "model", "--period", "range of --by", "--set or --input", "--exchange", "--option", "--scheme", "--step", "choice of --switch", "--matrix or file of the model"};
    carom_table_note notes[NOTES];
    char *own;
    if (!take_notes(def, notes, &own)) return no_memory(err);
    carom_status status = CAROM_OK;
    for (int i = 0; i < NOTES && status == CAROM_OK; ++i) {
        char *was = carom_table_note_read(file, notes[i].name);
        if (strcmp(was ? was : "", notes[i].text) != 0) status = carom_fail(err, CAROM_BAD_INPUT, "%.200s was made with another %s; a branch goes on with what it began with", file, word[i]);
        free(was);
    }
    free(own);
    return status;
}

carom_status carom_follow_read(carom_branch *f, const carom_follow_def *def, const char *file, carom_error *err) {
    if (!f || !file) return carom_fail(err, CAROM_BAD_INPUT, "a branch or the name of its file is missing");
    *f = (carom_branch){0};
    CAROM_TRY(carom_table_read(file, "branch", &f->branch, err));
    CAROM_TRY(carom_table_read(file, "queue", &f->queue, err));
    if (def) CAROM_TRY(compare_notes(def, file, err));
    char *number = carom_table_note_read(file, "branches");
    f->branches = number ? atoi(number) : 0;
    free(number);
    return CAROM_OK;
}

void carom_branch_free(carom_branch *f) {
    if (!f) return;
    carom_table_free(&f->branch);
    carom_table_free(&f->queue);
    *f = (carom_branch){0};
}
