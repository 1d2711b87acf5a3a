// follow.c: pseudo-arclength continuation of orbits and states of rest.
//
//     u_1 = u + ds tau,  F(u_1 + du) = 0,  tau du = 0  (FOL-1)
//
// with u the solution and the parameter, tau the tangent.  Where a number of eigenvalues beyond a border of stability
// changes, where the parameter turns back, and where contacts do something else, the point is located between the two
// sides of it.
#include "base/missing.h"
#include "base/number.h"
#include "dynamics/curve.h"
#include "dynamics/endless.h"
#include "io/table.h"
#include "scheme/advice.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// steps: the longest, of it the first, the shortest; where an event of contacts is located
static const double STEP = 0.05, FIRST = 1.0 / 40, SMALLEST = 1e-6, EXACT = 1e-10;
static const double NOUGHT = 1e-9;    // of a tangent: a part of it that is rounding
static const double VANISHED = 1e-13; // of a test at the ends of the step: zero
static const double SETTLED = 1e-13;  // of a step: an event that is located
static const double APART = 2.5e-3, NEARBY = 0.1; // (FOL-5)  distance of the points beside a crossing of branches; of
                                                  // the test at the ends of the step: such a crossing is near
static const double NEAR_GRAZING = 0.02; // of the parameter's range: how far ahead an orbit that grazes may lie
static const double ASTRAY = 0.15;    // of a step: farther from where the points before and behind lead is another
                                      // branch
static const double STRAIGHT = 0.02;  // turn of the chord against the tangents, for which steps may grow
static const double FURTHER[] = {1e-6, 1e-5, 1e-4}; // of a step: how far behind an event another solution is looked for
static const double ROUNDED = 1e-13;  // of the range: a value on its edge
static const double ARRIVED = 1e-12;  // of a step: the edge of the range
static const double SHORT = 1e-4;     // of a step: the tangent may turn by more
static const double AWAY = 1e-3, SLANT = 10; // (SWI-1)  how far from a crossing other branches are looked for at first;
                                             // of that: they are no farther
static const double MIRROR = 1e-4;    // of the way to both halves of a branch, and of eigenvalues: they are alike
static const double ONE_EVENT = 1e-6;  // of the parameter: an end so near to an event belongs to it
static const double AGREE = 0.2;       // of a coefficient: that of the normal form and that of the first orbits
static const double FELT = 1e-5, NOTICED = 1e-9; // of the parameter's range: the way to the first orbit beside a Hopf
                                                 // point; what rounding does not make
static const double SIDEWAYS[] = {1e-6, 1e-5, 1e-4}, FARTHER = 10, NOT_FAR = 1e3; // of the range: how far from the end
                                      // of a branch its other side is looked for; of that, states; and where they lie
// (HOP-3)  of the widest orbit of the branch: it may vanish in the next step; amplitudes there, in typical sizes
static const double SHRUNK = 0.3, SMALL_ORBIT = 0.02;
static const double BESIDE = 1e-4;    // of the range: how far beside an event eigenvalues are looked at
static const double LINGERS = 0.05, LONGER = 1.5; // (END-1)  of its largest rate: so slow is an orbit beside an
                                                  // equilibrium; of the shortest period: it has grown
static const double DEEP = 1e-3;      // of its largest rate: an orbit that is as near to an equilibrium as makes sense
static const double SPACED = 0.012;   // of the period: points that tell it are so far apart
static const double NEARLY = 1e-8, ENOUGH = 2e-7; // of the range: a limit that is known; where more points do not help
static const double KNOWN = 1e-5;     // of the parameter's range and of sizes: the same point
static const double NEAR_BORDER = 1.2, TURN = 0.5236, GROW = 1; // of multipliers near their border, in logarithms: how
                                                                // far they may turn and grow in a step
enum { COLUMNS = 6 };

typedef enum kind { GO_ON, DOUBLE, CROSS, FROM_HOPF, START } kind;

/// A solution on the way from the last point: s along its tangent.
typedef struct spot { double s, *place, *tau; carom_curve_look look; } spot;
typedef enum spot_name { HERE, THERE, TRIED, MIDDLE, LOWEST, SPOTS } spot_name;

typedef struct walk {
    carom_branch *f;
    const carom_follow_def *def;
    carom_curve k, curve[2];     // k: that of the branch, equilibria or orbits
    bool orbits;                 // k is that of orbits
    carom_follow_def grown;      // of orbits from Hopf points
    int neig;                    // of orbits, in the table
    const carom_model *m;
    int nq, nv, head, length, ntasks;  // head: of a task, before tau, bend, place; length: of a task
    double *task, low, high, size, longest;
    int kept_tasks, kept_branches; // when the last point was complete: what an interruption leaves behind
    long kept_rows;
    int parent;                  // the branch whose orbits are doubled; 0: none
    bool joined;                 // it has come back to that branch
    int failures;                // steps to go until they may grow again
    double before;               // length of the step before; 0: none
    carom_signed last[CAROM_TESTS]; // tests at the point before
    spot spot[SPOTS];            // the last point, the next one, and those in between
    bool strayed, locating;      // the curve has left the end of the step; an event is being located
    double *half, *half_1;       // of a doubled orbit: from its start to the state after half its period, at the last
                                 // point and at the next one
    double *tau, *bend, *tau_1, *by, *place, *place_1, *x, *least, *most; // tau, place: those of the last point
    double low_event, high_event; // the interval of the event of the next row
    int hidden, hidden_v;        // positions and velocities without a column
    long room;
    carom_error *err;
} walk;

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a branch");
}

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

// Of a row: branch, parameter, period, stable, multiplier, event; coordinates and rates; ranges; all multipliers; where
// the event lies; its coefficient.
static int columns(const walk *w) {
    return COLUMNS + 3 * (w->nq - w->hidden) + w->nv - w->hidden_v + 2 * w->neig + 3 +
           (w->def->response ? CAROM_RESPONSES : 0);
}

// Have position i, velocity i a column?
static bool shown(const walk *w, int i) { return !carom_model_hidden(w->m, i); }
static bool shown_v(const walk *w, int i) { return !carom_model_presses(w->m, i); }

static carom_status make_table(walk *w) {
    carom_table *t = &w->f->branch;
    t->name = malloc(sizeof "branch");
    t->column = calloc((size_t)columns(w) + 1, sizeof *t->column);
    if (!t->name || !t->column) return no_memory(w->err);
    strcpy(t->name, "branch");
    bool good =
        name_column(t, CAROM_COLUMN_INTEGER, "%s", "branch") && name_column(t, CAROM_COLUMN_REAL, "%s", w->def->by) &&
        name_column(t, CAROM_COLUMN_REAL, "%s", "period") && name_column(t, CAROM_COLUMN_INTEGER, "%s", "stable") &&
        name_column(t, CAROM_COLUMN_REAL, "%s", w->def->period ? "multiplier" : "growth") &&
        name_column(t, CAROM_COLUMN_TEXT, "%s", "event");
    for (int i = 0; i < w->nq; ++i)
        good = good && (!shown(w, i) || name_column(t, CAROM_COLUMN_REAL, "%s", carom_model_coordinate(w->m, i)));
    for (int i = 0; i < w->nv; ++i)
        good = good && (!shown_v(w, i) || name_column(t, CAROM_COLUMN_REAL, "%s", carom_model_velocity(w->m, i)));
    for (int i = 0; i < w->nq; ++i)
        good = good && (!shown(w, i) || name_column(t, CAROM_COLUMN_REAL, "min(%s)", carom_model_coordinate(w->m, i)));
    for (int i = 0; i < w->nq; ++i)
        good = good && (!shown(w, i) || name_column(t, CAROM_COLUMN_REAL, "max(%s)", carom_model_coordinate(w->m, i)));
    for (int i = 0; i < 2 * w->neig; ++i) {
        char text[30];
        snprintf(text, sizeof text, "mu%d.%s", 1 + i / 2, i % 2 ? "im" : "re");
        good = good && name_column(t, CAROM_COLUMN_REAL, "%s", text);
    }
    good = good && name_column(t, CAROM_COLUMN_REAL, "%s", "event.low") &&
           name_column(t, CAROM_COLUMN_REAL, "%s", "event.high") &&
           name_column(t, CAROM_COLUMN_REAL, "%s", "coefficient");
    for (int i = 0; i < CAROM_RESPONSES && w->def->response; ++i) {
        char name[180];
        if (i < 3)
            snprintf(name, sizeof name, "%.140s.%s", w->def->response,
                     i == 0   ? "mean"
                     : i == 1 ? "amplitude"
                              : "phase");
        else snprintf(name, sizeof name, "%.140s.h%d%s", w->def->response, (i + 1) / 2, i % 2 ? "" : ".phase");
        good = good && name_column(t, CAROM_COLUMN_REAL, "%s", name);
    }
    return good ? CAROM_OK : no_memory(w->err);
}

// Distance of two multipliers, relative to their sizes.
static double unlike(double re, double im, double x, double y) {
    return hypot(re - x, im - y) / fmax(hypot(re, im) + hypot(x, y), CAROM_NOT_ZERO);
}

// Multipliers in the order of the row before: each follows the nearest one that is left.  Those that closed contacts
// take are 0.
static void put_multipliers(walk *w, long r, int branch, int at, const carom_curve_look *l) {
    carom_table *t = &w->f->branch;
    const int n = w->k.neig;
    const bool tracked = r > 0 && t->column[0].integer[r - 1] == branch;
    double *re = w->by, *im = w->by + n;
    for (int i = 0; i < n; ++i) re[i] = i < l->n ? l->re[i] : 0, im[i] = i < l->n ? l->im[i] : 0;
    for (int i = 0; i < n; ++i) {
        int best = i;
        const double x = tracked ? t->column[at + 2 * i].real[r - 1] : 0,
                     y = tracked ? t->column[at + 2 * i + 1].real[r - 1] : 0;
        for (int k = i + 1; k < n; ++k) {
            const double a = tracked ? -unlike(re[k], im[k], x, y) : hypot(re[k], im[k]),
                         b = tracked ? -unlike(re[best], im[best], x, y) : hypot(re[best], im[best]);
            if (a > b) best = k;
        }
        const double u = re[best], v = im[best];
        for (int k = best; k > i; --k) re[k] = re[k - 1], im[k] = im[k - 1];
        re[i] = u, im[i] = v;
        t->column[at + 2 * i].real[r] = u, t->column[at + 2 * i + 1].real[r] = v;
    }
}

static carom_status add_row(walk *w, int branch, const carom_curve_look *l, const char *event) {
    carom_table *t = &w->f->branch;
    if (!carom_curve_room(t, &w->room)) return no_memory(w->err);
    const long r = t->rows;
    double period = 0, response[CAROM_RESPONSES];
    for (int i = 0; i < CAROM_RESPONSES; ++i) response[i] = NAN;
    if (w->k.response) CAROM_TRY(w->k.response(w->k.user, response));
    w->k.save(w->k.user, w->place_1);
    CAROM_TRY(w->k.row(w->k.user, &period, w->x, w->least, w->most));
    char *text = malloc(strlen(event) + 1);
    if (!text) return no_memory(w->err);
    strcpy(text, event);
    t->column[0].integer[r] = branch, t->column[1].real[r] = w->place_1[0], t->column[2].real[r] = period,
    t->column[3].integer[r] = l->stable, t->column[5].text[r] = text;
    // beside equilibria: the growth of orbits
    t->column[4].real[r] = w->orbits && !w->def->period ? log(l->largest) / period : l->largest;
    int at = COLUMNS;
    for (int i = 0; i < w->nq + w->nv; ++i)
        if (i < w->nq ? shown(w, i) : shown_v(w, i - w->nq)) t->column[at++].real[r] = w->x[i];
    for (int i = 0; i < w->nq; ++i)
        if (shown(w, i)) t->column[at++].real[r] = w->least[i];
    for (int i = 0; i < w->nq; ++i)
        if (shown(w, i)) t->column[at++].real[r] = w->most[i];
    if (w->orbits) put_multipliers(w, r, branch, at, l);
    for (int i = 0; i < 2 * w->neig && !w->orbits; ++i) t->column[at + i].real[r] = NAN;
    at += 2 * w->neig;
    t->column[at++].real[r] = isnan(w->low_event) ? w->place_1[0] : w->low_event,
    t->column[at++].real[r] = isnan(w->high_event) ? w->place_1[0] : w->high_event;
    t->column[at++].real[r] = NAN;
    for (int i = 0; i < CAROM_RESPONSES && w->def->response; ++i) t->column[at + i].real[r] = response[i];
    w->low_event = w->high_event = NAN;
    ++t->rows;
    w->f->value = w->place_1[0];
    return CAROM_OK;
}

// -- tasks ----------------------------------------------------------------------------------------------------------

static double *task_at(const walk *w, int i) { return w->task + (size_t)i * (size_t)w->length; }

// At the end of the queue: from the place of the curve now.
static carom_status add_task(walk *w, int branch, double step, kind what, const double *tau) {
    double *task = realloc(w->task, (size_t)(w->ntasks + 1) * (size_t)w->length * sizeof *task);
    if (!task) return no_memory(w->err);
    w->task = task;
    double *t = task_at(w, w->ntasks++);
    carom_zero(t, w->length);
    t[0] = branch, t[1] = step, t[2] = what, t[6] = (double)(w->f->branch.rows - 1), t[7] = w->orbits;
    carom_copy(t + w->head, tau, w->k.ntau);
    w->k.save(w->k.user, t + w->head + 2 * w->k.ntau);
    return CAROM_OK;
}

// Of a task: branch, step, kind, failures, the step before, the branch that it doubles, the row of its event, orbits or
// equilibria, the tests of the step before, the look; then tau, bend, place.
enum { TASK = 8, FIXED = TASK + 2 * CAROM_TESTS, LOOK = 5 + 2 * CAROM_TESTS };
static int head_size(int neig) { return FIXED + LOOK + 2 * neig; }

static double *put_tests(double *to, const carom_signed *x) {
    for (int k = 0; k < CAROM_TESTS; ++k) *to++ = x[k].sign, *to++ = x[k].log_size;
    return to;
}

static const double *get_tests(const double *from, carom_signed *x) {
    for (int k = 0; k < CAROM_TESTS; ++k, from += 2)
        x[k] = (carom_signed){from[0] > 0 ? 1 : from[0] < 0 ? -1 : 0, from[1]};
    return from;
}

static void put_look(const walk *w, double *to, const carom_curve_look *l) {
    const double first[] = {l->stable, l->largest, l->unstable, l->noise, l->n};
    carom_copy(to, first, 5);
    to = put_tests(to + 5, l->test);
    carom_copy(to, l->re, w->k.neig), carom_copy(to + w->k.neig, l->im, w->k.neig);
}

static void get_look(const walk *w, const double *from, carom_curve_look *l) {
    l->stable = from[0] != 0, l->largest = from[1], l->unstable = (int)fmax(0, fmin(from[2], 1e6)), l->noise = from[3],
    l->n = (int)fmax(0, fmin(from[4], w->k.neig));
    from = get_tests(from + 5, l->test);
    carom_copy(l->re, from, w->k.neig), carom_copy(l->im, from + w->k.neig, w->k.neig);
}

static void mark(walk *w) {
    w->kept_tasks = w->ntasks, w->kept_branches = w->f->branches, w->kept_rows = w->f->branch.rows;
}

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
    bool good = c && c->kind == CAROM_COLUMN_REAL && t->rows % w->length == 0 && t->rows / w->length < 100 &&
                b->columns == columns(w) && strcmp(b->column[1].name, w->def->by) == 0;
    for (int i = 0; i < b->columns && good; ++i)
        good = b->column[i].kind == (i == 0 || i == 3 ? CAROM_COLUMN_INTEGER
                                     : i == 5         ? CAROM_COLUMN_TEXT
                                                      : CAROM_COLUMN_REAL);
    for (long k = 0; good && k < t->rows; ++k)
        good = k % w->length >= w->head
                   ? isfinite(c->real[k])
                   : (k % w->length >= 4 && k % w->length != 6 && k % w->length != 7) || fabs(c->real[k]) < 1e6;
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

static bool fatal(carom_status status) { return status == CAROM_STOPPED || status == CAROM_NO_MEMORY; }

// The curve stands at a solution: all that is known of it.
static carom_status look_at(walk *w, spot *to) {
    const int last = w->k.ntau - 1;
    carom_curve_look *l = &to->look;
    carom_signed border = {0, 0};
    carom_copy(to->tau, w->tau, w->k.ntau);
    const bool unique = w->k.tangent(w->k.user, to->tau, &border);
    if (!unique) carom_copy(to->tau, w->tau, w->k.ntau);
    if (!unique && !w->locating) border.sign = 0; // where an event is located it vanishes; else it does so everywhere
    CAROM_TRY(w->k.look(w->k.user, l));
    const double slope = to->tau[last];
    l->test[CAROM_FOLD] =
        (carom_signed){unique && fabs(slope) > NOUGHT ? slope > 0 ? 1 : -1 : 0, log(fmax(fabs(slope), CAROM_NOT_ZERO))};
    l->test[CAROM_BRANCH] = border;
    w->k.save(w->k.user, to->place);
    w->k.apart(w->k.user, w->place, w->by);
    to->s = carom_dot(w->tau, w->by, w->k.ntau);
    return unique ? CAROM_OK : CAROM_SINGULAR;
}

// The solution at s along the tangent of the last point, from a spot on the way.
static carom_status solve_at(walk *w, const spot *from, double s, spot *to) {
    int iterations;
    const double along = carom_dot(from->tau, w->tau, w->k.ntau);
    w->strayed = true;
    CAROM_TRY(w->k.restore(w->k.user, from->place));
    CAROM_TRY(w->k.predict(w->k.user, from->tau, (s - from->s) / fmax(along, 0.3)));
    CAROM_TRY(w->k.correct(w->k.user, w->tau, &iterations));
    if (!w->k.same(w->k.user)) return carom_fail(w->err, CAROM_NOT_CONVERGED, "the sequence of contacts changes");
    const carom_status status = look_at(w, to);
    return status == CAROM_SINGULAR ? CAROM_OK : status;
}

// The same from the nearer end, then from the other one.
static carom_status solve_between(walk *w, const spot *a, const spot *b, double s, spot *to) {
    const bool left = s - a->s <= b->s - s;
    carom_status status = solve_at(w, left ? a : b, s, to);
    if (status != CAROM_OK && !fatal(status)) status = solve_at(w, left ? b : a, s, to);
    return status;
}

// -- smooth events ----------------------------------------------------------------------------------------------------
//
//     fold: tau_p = 0;  branch: det [F_x F_p; tau'] = 0;  period-doubling: det(P + 1) = 0  (FOL-4)
//
// change their signs there; a pair that crosses changes the number of unstable eigenvalues by two and none of these.

static double value_of(carom_signed x, double reference) { return x.sign * exp(fmin(x.log_size - reference, 300)); }

static bool differs(const spot *a, const spot *b, int k) { return a->look.test[k].sign * b->look.test[k].sign < 0; }

// How many of the tests that have signs change them; *which: the last of them.
static int changes(const spot *a, const spot *b, int *which) {
    int n = 0;
    for (int k = CAROM_FOLD; k < CAROM_PAIR; ++k)
        if (differs(a, b, k)) ++n, *which = k;
    return n;
}

// Where the number of unstable eigenvalues changes and no test does: by the eigenvalue that is nearest to its border.
static int kind_of(walk *w, const carom_curve_look *l) {
    double least = INFINITY;
    int kind = CAROM_PAIR;
    for (int i = 0; i < l->n; ++i) {
        const double off = fabs(w->k.beyond(w->k.user, l->re[i], l->im[i]));
        if (off < least)
            least = off, kind = l->im[i] != 0 ? CAROM_PAIR : w->orbits && l->re[i] < 0 ? CAROM_DOUBLING : CAROM_BRANCH;
    }
    return kind;
}

// How far apart two rows are: parameter, coordinates and rates, each of its range in the table.
static double between_rows(const walk *w, long r, long k) {
    const carom_table *t = &w->f->branch;
    double most = 0;
    for (int i = 1; i < COLUMNS + w->nq + w->nv - w->hidden - w->hidden_v; i = i == 1 ? COLUMNS : i + 1) {
        const double *x = t->column[i].real;
        double low = x[r], high = x[r];
        for (long n = 0; n < t->rows; ++n) low = fmin(low, x[n]), high = fmax(high, x[n]);
        if (high > low) most = fmax(most, fabs(x[r] - x[k]) / (i == 1 ? w->size : high - low));
    }
    return most;
}

static bool is_crossing(const walk *w, long r) {
    return strncmp(w->f->branch.column[5].text[r], "branch", 6) == 0 && !strchr(w->f->branch.column[5].text[r], '?');
}

// Is the crossing in the last row one that another branch has met before?
static bool is_known(const walk *w) {
    const long last = w->f->branch.rows - 1;
    for (long r = 0; r < last; ++r)
        if (is_crossing(w, r) && between_rows(w, r, last) < KNOWN) return true;
    return false;
}

// What bifurcates at the event of the last row is followed later.
static carom_status add_switch(walk *w, int branch, const spot *at, int kind) {
    const int wanted = w->def->switches;
    const bool doubles =
        kind == CAROM_DOUBLING && wanted & CAROM_SWITCH_DOUBLING && w->k.doubles && w->k.doubles(w->k.user);
    const bool crosses = kind == CAROM_BRANCH && wanted & CAROM_SWITCH_BRANCH && !is_known(w),
               grows = kind == CAROM_PAIR && w->k.pair && wanted & CAROM_SWITCH_HOPF;
    if (!(doubles || crosses || grows) || w->ntasks >= 16) return CAROM_OK;
    CAROM_TRY(add_task(w, 0, w->longest * FIRST, doubles ? DOUBLE : crosses ? CROSS : FROM_HOPF, at->tau));
    if (doubles) task_at(w, w->ntasks - 1)[5] = branch;
    return CAROM_OK;
}

static carom_status add_event(walk *w, int branch, const spot *at, int kind, bool located, double low, double high) {
    char text[60];
    snprintf(text, sizeof text, "%s%s", w->k.test[kind], located ? "" : "?");
    if (w->joined) snprintf(text, sizeof text, "joins branch %d%s", w->parent, located ? "" : "?");
    if (!located) w->low_event = fmin(low, high), w->high_event = fmax(low, high);
    CAROM_TRY(add_row(w, branch, &at->look, text));
    return located && !w->joined ? add_switch(w, branch, at, kind) : CAROM_OK;
}

// Regula falsi (Illinois) on a test, or bisection on the number of unstable eigenvalues (kind CAROM_TESTS).  *to is the
// event.
static carom_status close_in(walk *w, const spot *a, const spot *b, int kind, spot *to, carom_bracket *k,
                             bool *located) {
    static const double part[] = {0, 0.38, 0.62};
    const bool counts = kind == CAROM_TESTS || (kind == CAROM_PAIR && !differs(a, b, CAROM_PAIR));
    const double reference = counts ? 0 : fmax(a->look.test[kind].log_size, b->look.test[kind].log_size),
                 width = b->s - a->s;
    *k = (carom_bracket){.a = a->s,
                         .b = b->s,
                         .f_a = counts ? -1 : value_of(a->look.test[kind], reference),
                         .f_b = counts ? 1 : value_of(b->look.test[kind], reference)};
    const double size = fabs(k->f_a) + fabs(k->f_b);
    const int before = a->look.unstable;
    double last = INFINITY;
    bool halve = counts;
    *located = true;
    for (int i = 0; i < 80; ++i) {
        double s = halve ? (k->a + k->b) / 2 : carom_bracket_next(k);
        if (!(s > k->a && s < k->b)) s = (k->a + k->b) / 2;
        carom_status status = CAROM_NOT_CONVERGED;
        for (int round = 0; round < 3 && status != CAROM_OK; ++round) {
            status = solve_between(w, a, b, round ? k->a + part[round] * (k->b - k->a) : s, to);
            if (fatal(status)) return status;
        }
        if (status != CAROM_OK) {
            *located = k->b - k->a < NOUGHT * width;
            return CAROM_OK;
        }
        s = to->s;
        const double x = counts ? to->look.unstable == before ? -1 : 1 : value_of(to->look.test[kind], reference);
        const bool settled = fabs(s - last) <= SETTLED * width || k->b - k->a <= SETTLED * width;
        const bool near = kind == CAROM_BRANCH && (fabs(x) <= NEARBY * size || k->b - k->a < APART);
        if ((!counts && fabs(x) <= VANISHED * size) || settled || near) return CAROM_OK;
        if (counts && k->b - k->a <= EXACT * width) return CAROM_OK;
        halve = counts || (i > 30 && i % 2);
        carom_bracket_cut(k, s, x, (x < 0) == (k->f_a < 0));
        last = s;
    }
    return CAROM_OK;
}

// Where branches cross, a solution is known to eps/d at the distance d only: the equations are singular there.  So the
// test and the solution are interpolated from four points beside it,
//
//     u(s) = sum_i L_i(s) u(s_i),  s_i = s_0 + (-2, -1, 1, 2) h  (FOL-5)
//
// with h such that their error, eps/h, is about that of the interpolation, h^4.  The curve ends there.
static carom_status interpolate(walk *w, const spot *a, const spot *b, double s, spot *to) {
    static const double at[] = {-2, -1, 1, 2};
    const int n = w->k.ntau;
    const double h = fmin(APART, (b->s - a->s) / 8);
    double f[4], u[4], reference = -INFINITY, *d = calloc(4 * (size_t)n + (size_t)w->k.nplace + 1, sizeof *d),
                       *place = d + 4 * n;
    carom_signed x[4];
    carom_status status = d ? CAROM_OK : no_memory(w->err);
    for (int i = 0; i < 4 && status == CAROM_OK; ++i) {
        status = solve_between(w, a, b, s + at[i] * h, to);
        if (status != CAROM_OK) break;
        if (i == 0) carom_copy(place, to->place, w->k.nplace);
        w->k.apart(w->k.user, place, d + i * n);
        x[i] = to->look.test[CAROM_BRANCH], u[i] = (to->s - s) / h;
        reference = fmax(reference, x[i].log_size);
    }
    for (int i = 0; i < 4; ++i) f[i] = status == CAROM_OK ? value_of(x[i], reference) : 0;
    double y = 0;
    for (int round = 0; round < 20 && status == CAROM_OK; ++round) { // Newton's method on the cubic through them
        double value = 0, slope = 0;
        for (int i = 0; i < 4; ++i) {
            double L = 1, dL = 0;
            for (int k = 0; k < 4; ++k) {
                if (k == i) continue;
                dL = (dL * (y - u[k]) + L) / (u[i] - u[k]), L *= (y - u[k]) / (u[i] - u[k]);
            }
            value += L * f[i], slope += dL * f[i];
        }
        const double by = -value / slope;
        if (!(fabs(y + by) < 2)) status = CAROM_NOT_CONVERGED;
        y += by;
        if (fabs(by) < SETTLED) break;
    }
    if (status == CAROM_OK) {
        carom_zero(w->tau_1, n);
        for (int i = 0; i < 4; ++i) {
            double L = 1;
            for (int k = 0; k < 4; ++k) L *= k == i ? 1 : (y - u[k]) / (u[i] - u[k]);
            carom_axpy(w->tau_1, L, d + i * n, n);
        }
        status = w->k.restore(w->k.user, place);
        if (status == CAROM_OK) status = w->k.predict(w->k.user, w->tau_1, 1);
        if (status == CAROM_OK) status = w->k.linearise(w->k.user);
        if (status == CAROM_OK) status = look_at(w, to);
        if (status == CAROM_SINGULAR) status = CAROM_OK;
    }
    free(d);
    return status;
}

static carom_status locate(walk *w, int branch, const spot *a, const spot *b, int kind) {
    spot *to = &w->spot[TRIED];
    carom_bracket k;
    bool located = true;
    if (w->k.precise) CAROM_TRY(w->k.precise(w->k.user, true));
    w->locating = true;
    carom_status status = close_in(w, a, b, kind, to, &k, &located);
    if (status == CAROM_OK && located && kind == CAROM_BRANCH) {
        const double s = to->look.test[kind].sign == 0 || !(k.b > k.a) ? to->s : carom_bracket_next(&k);
        status = interpolate(w, a, b, s, to);
        if (status != CAROM_OK && !fatal(status)) status = CAROM_OK, located = false;
    }
    w->locating = false;
    if (status == CAROM_OK && !located) { // the last point before it that was found
        status = w->k.restore(w->k.user, a->place);
        if (status == CAROM_OK) status = w->k.linearise(w->k.user);
        if (status == CAROM_OK) status = look_at(w, to);
        if (status == CAROM_SINGULAR) status = CAROM_OK;
    }
    const double there = (b->place[0] - a->place[0]) / (b->s - a->s);
    if (status == CAROM_OK)
        status = add_event(w, branch, to, kind == CAROM_TESTS ? kind_of(w, &to->look) : kind, located,
                           a->place[0] + (k.a - a->s) * there, a->place[0] + (k.b - a->s) * there);
    if (w->k.precise && !fatal(status)) CAROM_TRY(w->k.precise(w->k.user, false));
    return status;
}

// A branch that comes back to a crossing turns round there: does it go through one that is in the table between the
// last row and b?
static carom_status comes_back(walk *w, int branch, const spot *b, bool *back) {
    carom_table *t = &w->f->branch;
    *back = false;
    if (!(w->def->switches & CAROM_SWITCH_BRANCH) || t->rows == 0) return CAROM_OK;
    const long here = t->rows - 1;
    CAROM_TRY(w->k.restore(w->k.user, b->place));
    CAROM_TRY(w->k.linearise(w->k.user));
    CAROM_TRY(add_row(w, branch, &b->look, "")); // for now
    long found = -1;
    for (long r = 0; r < here && found < 0; ++r)
        if (is_crossing(w, r) && between_rows(w, r, here) < 2 * between_rows(w, here + 1, here) + KNOWN) found = r;
    if (found >= 0) {
        char text[60];
        snprintf(text, sizeof text, "joins branch %lld", t->column[0].integer[found]);
        char *more = realloc(t->column[5].text[here + 1], strlen(text) + 1);
        if (!more) return no_memory(w->err);
        t->column[5].text[here + 1] = strcpy(more, text);
        for (int i = 1; i < t->columns; ++i) // it ends there
            if (t->column[i].kind == CAROM_COLUMN_REAL && i != 4)
                t->column[i].real[here + 1] = t->column[i].real[found];
        *back = w->joined = true;
        return CAROM_OK;
    }
    free(t->column[5].text[--t->rows]);
    return CAROM_OK;
}

// All events between two solutions: halved until each part has one.
static carom_status find_events(walk *w, int branch, const spot *a, const spot *b, int depth) {
    int which = CAROM_TESTS;
    const int n = changes(a, b, &which), more = abs(b->look.unstable - a->look.unstable);
    if (n == 0 && more == 0) return CAROM_OK;
    const bool pair = n == 0 && more == 2;
    if ((n == 1 && more <= 1) || pair) return locate(w, branch, a, b, pair ? CAROM_PAIR : which);
    if (n == 0 && more == 1) return locate(w, branch, a, b, CAROM_TESTS); // a test has no sign here
    if (differs(a, b, CAROM_FOLD) && differs(a, b, CAROM_BRANCH)) {
        bool back = false;
        CAROM_TRY(comes_back(w, branch, b, &back));
        if (back) return CAROM_OK;
    }
    enum { DEEPEST = 36 };
    double *place = malloc(((size_t)w->k.nplace + (size_t)w->k.ntau + 2 * (size_t)w->k.neig + 1) * sizeof *place);
    if (!place) return no_memory(w->err);
    spot mid = {.place = place, .tau = place + w->k.nplace};
    mid.look.re = mid.tau + w->k.ntau, mid.look.im = mid.look.re + w->k.neig;
    carom_status status = depth < DEEPEST ? solve_between(w, a, b, (a->s + b->s) / 2, &mid) : CAROM_NOT_CONVERGED;
    if (status == CAROM_OK) {
        status = find_events(w, branch, a, &mid, depth + 1);
        if (status == CAROM_OK && !w->joined) status = find_events(w, branch, &mid, b, depth + 1);
    } else if (!fatal(status)) { // they cannot be told apart
        status = CAROM_OK;
        for (int k = CAROM_FOLD; k < CAROM_PAIR && status == CAROM_OK; ++k)
            if (differs(a, b, k)) status = locate(w, branch, a, b, k);
        if (status == CAROM_OK && more > n) status = locate(w, branch, a, b, CAROM_PAIR);
    }
    free(place);
    return status;
}

// Through values at -h, 0 and d: how far the parabola leaves the chord between the last two.
static double bulge(double f_h, double f_0, double f_d, double h, double d) {
    const double curvature = ((f_d - f_0) / d - (f_0 - f_h) / h) / (d + h);
    return fabs(curvature) * d * d / 4;
}

// May a test vanish twice between two points that have the same sign of it?
static bool may_hide(const walk *w, const spot *a, const spot *b) {
    for (int k = CAROM_FOLD; k < CAROM_TESTS; ++k) {
        const carom_signed x = w->last[k], y = a->look.test[k], z = b->look.test[k];
        if (x.sign == 0 || y.sign != x.sign || z.sign != x.sign) continue;
        const double reference = fmax(x.log_size, fmax(y.log_size, z.log_size)), f_0 = value_of(y, reference),
                     f_d = value_of(z, reference);
        if (fmin(fabs(f_0), fabs(f_d)) < 2 * bulge(value_of(x, reference), f_0, f_d, w->before, b->s)) return true;
    }
    return false;
}

// Is the middle where both ends with their tangents lead (Hermite)?  Else they lie on two branches.
static bool leads_there(walk *w, const spot *a, const spot *b, const spot *mid) {
    const int n = w->k.ntau;
    double off = 0, whole = 0;
    w->k.restore(w->k.user, b->place), w->k.apart(w->k.user, a->place, w->by);
    for (int i = 0; i < n; ++i)
        w->tau_1[i] = w->by[i] / 2 + b->s / 8 * (a->tau[i] - b->tau[i]), whole += w->by[i] * w->by[i];
    w->k.restore(w->k.user, mid->place), w->k.apart(w->k.user, a->place, w->by);
    for (int i = 0; i < n; ++i) off += pow(w->by[i] - w->tau_1[i], 2);
    return off <= ASTRAY * ASTRAY * whole;
}

// Where the parabola through three values of a test is nearest to zero, if that lies between them and may be beyond it.
static bool lowest(const spot *a, const spot *m, const spot *b, int k, double *s) {
    const carom_signed x = a->look.test[k], y = m->look.test[k], z = b->look.test[k];
    if (x.sign == 0 || y.sign != x.sign || z.sign != x.sign) return false;
    const double reference = fmax(x.log_size, fmax(y.log_size, z.log_size)), f = value_of(x, reference),
                 g = value_of(y, reference), h = value_of(z, reference);
    const double p = m->s - a->s, q = b->s - a->s, c = ((h - f) / q - (g - f) / p) / (q - p), l = (g - f) / p - c * p,
                 at = -l / (2 * c);
    *s = a->s + at;
    return x.sign * c > 0 && at > 0.02 * q && at < 0.98 * q &&
           x.sign * (f + at * (l + c * at)) < 0.5 * fmin(fabs(f), fabs(h));
}

// Events of the step, also those that undo each other.  *good false: the ends do not lie on one branch, or too much
// happens between them.
static carom_status smooth_events(walk *w, int branch, bool *good) {
    spot *a = &w->spot[HERE], *b = &w->spot[THERE], *mid = &w->spot[MIDDLE], *low = &w->spot[LOWEST];
    int which;
    *good = true;
    w->strayed = false;
    const bool change = changes(a, b, &which) > 0 || a->look.unstable != b->look.unstable;
    if (!change && w->before > 0 && !may_hide(w, a, b)) return CAROM_OK;
    carom_status status = solve_between(w, a, b, b->s / 2, mid);
    if (fatal(status)) return status;
    if (status != CAROM_OK) return change ? find_events(w, branch, a, b, 0) : CAROM_OK;
    *good = leads_there(w, a, b, mid);
    if (!*good) return CAROM_OK;
    double s = 0;
    bool more = false;
    for (int k = CAROM_FOLD; k < CAROM_TESTS && !more && !change && changes(a, mid, &which) == 0; ++k)
        more = lowest(a, mid, b, k, &s);
    if (more) status = solve_between(w, a, b, s, low);
    if (fatal(status)) return status;
    if (more && status == CAROM_OK) mid = low;
    CAROM_TRY(find_events(w, branch, a, mid, 0));
    return w->joined ? CAROM_OK : find_events(w, branch, mid, b, 0);
}

// Reasons are kept for the caller, as many as there is room for.
static void note_end(walk *w, int branch, const carom_error *why) {
    const carom_error before = w->f->note;
    if (why->code == CAROM_OK) return;
    carom_fail(&w->f->note, why->code, "%.450s%sbranch %d ends at %.60s = %.9g: %.380s",
               before.code == CAROM_OK ? "" : before.text, before.code == CAROM_OK ? "" : "; ", branch, w->def->by,
               w->f->value, why->text);
}

// The curve stands at a solution: its tangent, in the direction of w->tau.
static carom_status turn_forward(walk *w) {
    return w->k.tangent(w->k.user, w->tau, NULL)
               ? CAROM_OK
               : carom_fail(w->err, CAROM_SINGULAR, "the branch has no unique tangent at %s = %.9g", w->def->by,
                            value_now(w));
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

// Is there a solution with other contacts just behind sigma?  Where an event has only begun it is hard to find: a
// little further on, too.  The curve ends there.
static carom_status look_behind(walk *w, double sigma, double ds, bool *found, double *at, carom_error *why) {
    enum { TIMES = 5 };
    // events that come at nearly the same time are told apart first
    const double further[TIMES] = {w->k.clear, 0, FURTHER[0], FURTHER[1], FURTHER[2]};
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

// The curve stands at the point from which the next step goes: what it is like there.
static carom_status stand(walk *w) {
    w->k.save(w->k.user, w->place);
    const carom_status status = look_at(w, &w->spot[HERE]);
    return status == CAROM_SINGULAR ? CAROM_OK : status;
}

// The curve stands at a solution that nearly grazes a contact.  Through the orbit that does, to those on the other
// side, until the branch can be followed as usual; *passed: it could.
static carom_status pass_grazing(walk *w, int branch, const spot *at, bool *passed) {
    enum { MOST = 14 };
    const int last = w->k.ntau - 1;
    carom_table *t = &w->f->branch;
    char text[120] = "grazing";
    const double way = at->tau[last], from = at->place[0];
    *passed = false;
    carom_status status = w->k.graze(w->k.user, text, sizeof text);
    if (status == CAROM_OK && !(fabs(value_now(w) - from) <= NEAR_GRAZING * w->size)) status = CAROM_NOT_CONVERGED;
    if (status != CAROM_OK) return fatal(status) ? status : CAROM_OK;
    const long row = t->rows;
    CAROM_TRY(add_row(w, branch, &at->look, text));
    bool clear = false;
    for (int i = 0; i < MOST && !clear && status == CAROM_OK; ++i) {
        status = w->k.leave(w->k.user, w->tau, &clear);
        if (status == CAROM_OK) status = stand(w);
        if (status != CAROM_OK) break;
        if (i == 0 && way * w->tau[last] < 0) {
            strcat(text, " (nonsmooth fold)");
            char *more = realloc(t->column[5].text[row], strlen(text) + 1);
            if (!more) return no_memory(w->err);
            t->column[5].text[row] = strcpy(more, text);
        }
        status = add_row(w, branch, &w->spot[HERE].look, "");
    }
    *passed = status == CAROM_OK && clear;
    if (status == CAROM_OK || fatal(status)) return status;
    while (t->rows > row) free(t->column[5].text[--t->rows]); // as if it had not been tried
    return CAROM_OK;
}

// Between a and b contacts begin to do something else.  What the linearised motion alone has seen, and where no
// solution is found behind it, is located again with all accuracy there is.
static carom_status locate_sudden(walk *w, double ds, double *a, double *b, bool *exact) {
    double low = *a, high = *b;
    int iterations;
    if (!w->k.roughly) return CAROM_OK;
    carom_status status = go(w, w->place, w->tau, *b, &iterations);
    const bool none = status != CAROM_OK;
    if (fatal(status) || (!none && !w->k.roughly(w->k.user))) return fatal(status) ? status : CAROM_OK;
    CAROM_TRY(w->k.precise(w->k.user, true));
    bool before = false, behind = false;
    status = CAROM_OK;
    // a bracket of the more accurate event
    const double reach = none ? fmax(ds, SHORT) : ds;
    for (double by = 1e-7 * reach; by < 1e-3 * reach && !(before && behind) && status == CAROM_OK; by *= 10) {
        low = fmax(0, *a - by), high = *b + by;
        status = go(w, w->place, w->tau, low, &iterations);
        before = status == CAROM_OK && w->k.same(w->k.user);
        if (status == CAROM_OK) status = go(w, w->place, w->tau, high, &iterations);
        behind = none ? status != CAROM_OK : status == CAROM_OK && !w->k.same(w->k.user);
        if (none && !fatal(status)) status = CAROM_OK;
    }
    for (int i = 0; i < 60 && high - low > EXACT && before && behind && status == CAROM_OK; ++i) {
        const double sigma = (low + high) / 2;
        status = go(w, w->place, w->tau, sigma, &iterations);
        if (status == CAROM_OK && w->k.same(w->k.user)) low = sigma;
        else high = sigma;
        if (none && !fatal(status)) status = CAROM_OK;
    }
    // else it is where it was, or Newton's method has its limits there
    *exact = status == CAROM_OK && before && behind && fabs(low - *a) > 4 * EXACT;
    if (*exact) *a = low, *b = high;
    const carom_status off = w->k.precise(w->k.user, false);
    return fatal(status) ? status : off;
}

// No solution just behind a grazing-sliding: orbits with this phase of sticking and those without it meet there, and
// the branch turns back.
static bool turned_there(walk *w, int branch, double value) {
    static const char what[] = "grazing-sliding", word[] = " (nonsmooth fold)";
    carom_table *t = &w->f->branch;
    for (long r = t->rows - 1; r >= 0 && t->column[0].integer[r] == branch; --r) {
        const char *text = t->column[5].text[r];
        if (text[0] == 0) continue;
        const double off = fabs(t->column[1].real[r] - value);
        if (strncmp(text, what, sizeof what - 1) != 0 || strstr(text, word) ||
            !(off <= ONE_EVENT * fmax(fabs(value), w->size)))
            return false;
        char *more = realloc(t->column[5].text[r], strlen(text) + sizeof word);
        if (more) t->column[5].text[r] = strcat(more, word);
        return more != NULL;
    }
    return false;
}

// The curve stands at the last solution before contacts do something else, and there is none beyond it.  Solutions with
// other contacts may lie on either side of that value, as where a slip phase begins to stick: from states a little
// beside it, from which contacts do something else.  *found: the curve ends there, and w->tau leads on.
static carom_status look_beside_end(walk *w, const spot *at, bool *found, bool *back) {
    enum { MOST = 12 };
    const int last = w->k.ntau - 1, n = last - 1 < MOST ? last - 1 : MOST;
    const double way = at->tau[last] < 0 ? -1 : 1;
    for (int k = 0; k < 3; ++k)
        for (int turned = 0; turned < 2; ++turned)
            for (int i = 0; i < 2 * n; ++i) {
                const double by = SIDEWAYS[k] * (turned ? -way : way);
                bool other = false;
                CAROM_TRY(w->k.restore(w->k.user, at->place));
                carom_zero(w->tau_1, w->k.ntau);
                w->tau_1[last] = 1;
                carom_status status = w->k.predict(w->k.user, w->tau_1, by);
                w->tau_1[last] = 0, w->tau_1[i / 2] = 1;
                if (status == CAROM_OK)
                    status = w->k.beside(w->k.user, w->tau_1, (i % 2 ? -FARTHER : FARTHER) * fabs(by), &other);
                if (fatal(status)) return status;
                if (status != CAROM_OK || !other || w->k.same(w->k.user)) continue;
                w->k.apart(w->k.user, at->place, w->by);
                if (!(carom_length(w->by, w->k.ntau) < NOT_FAR * fabs(by))) continue;
                carom_zero(w->tau, w->k.ntau);
                w->tau[last] = turned ? -way : way;
                *found = true, *back = turned;
                return CAROM_OK;
            }
    return CAROM_OK;
}

// Contacts do something else before ds, or there is no solution: bisection.  *ended: there is none behind it; else the
// curve ends just behind it.
static carom_status sudden_event(walk *w, int branch, double ds, bool *ended) {
    double a = 0, b = ds, behind = 0;
    bool found = false;
    int iterations;
    char text[120] = "end";
    carom_error why = {.code = CAROM_NOT_CONVERGED,
                       .text =
                           "the sequence of contacts changes, and no solution with another one was found behind it"};
    for (int i = 0; i < 60 && b - a > EXACT; ++i) {
        const double sigma = (a + b) / 2;
        const carom_status status = go(w, w->place, w->tau, sigma, &iterations);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (status != CAROM_OK) why = *w->err;
        if (status == CAROM_OK && w->k.same(w->k.user)) a = sigma;
        else b = sigma;
    }
    bool exact = false;
    CAROM_TRY(locate_sudden(w, ds, &a, &b, &exact));
    if (a > SMALLEST) { // is it the start of the orbit that meets an event, and nothing else?
        bool moved = false;
        CAROM_TRY(go(w, w->place, w->tau, a, &iterations));
        CAROM_TRY(settle(w, &moved));
        if (moved) return CAROM_OK;
    }
    CAROM_TRY(look_behind(w, b, ds, &found, &behind, &why));
    if (found) w->k.describe(w->k.user, false, text, sizeof text);
    const bool touches = w->k.graze && (!found || strncmp(text, "grazing", 7) == 0);
    spot *at = &w->spot[THERE];
    if (exact) CAROM_TRY(w->k.precise(w->k.user, true));
    carom_status status = go(w, w->place, w->tau, a, &iterations);
    if (status == CAROM_OK) status = look_at(w, at);
    if (status != CAROM_OK && status != CAROM_SINGULAR) return status;
    if (exact) CAROM_TRY(w->k.precise(w->k.user, false));
    if (!found) w->k.describe(w->k.user, true, text, sizeof text);
    bool good;
    if (a > SMALLEST) CAROM_TRY(smooth_events(w, branch, &good)); // on the way there
    CAROM_TRY(w->k.restore(w->k.user, at->place));
    CAROM_TRY(w->k.linearise(w->k.user));
    bool passed = false;
    if (touches) CAROM_TRY(pass_grazing(w, branch, at, &passed));
    if (passed) return CAROM_OK;
    if (touches) CAROM_TRY(w->k.restore(w->k.user, at->place));
    if (touches) CAROM_TRY(w->k.linearise(w->k.user));
    bool beside = false, back = false;
    if (!found && turned_there(w, branch, at->place[0])) {
        for (int i = 0; i < w->k.ntau; ++i) w->tau[i] = -at->tau[i];
        return CAROM_OK;
    }
    if (!found && w->k.beside) CAROM_TRY(look_beside_end(w, at, &beside, &back));
    if (beside) {
        w->k.describe(w->k.user, false, text, sizeof text);
        if (back) strcat(text, " (nonsmooth fold)");
        w->k.save(w->k.user, w->spot[TRIED].place);
    }
    CAROM_TRY(w->k.restore(w->k.user, at->place));
    CAROM_TRY(w->k.linearise(w->k.user));
    CAROM_TRY(add_row(w, branch, &at->look, text));
    if (beside) {
        CAROM_TRY(w->k.restore(w->k.user, w->spot[TRIED].place));
        return w->k.linearise(w->k.user);
    }
    *ended = !found;
    if (!found) note_end(w, branch, &why);
    return found ? go(w, w->place, w->tau, behind, &iterations) : CAROM_OK;
}

// -- a branch ---------------------------------------------------------------------------------------------------------

// A point is complete: all that the next one depends on goes into the task, so that a branch that goes on later is the
// same branch.
static carom_status accept(walk *w, double *t, double step) {
    t[1] = step, t[3] = w->failures, t[4] = w->before, t[5] = w->parent;
    put_tests(t + TASK, w->last);
    put_look(w, t + FIXED, &w->spot[HERE].look);
    carom_copy(t + w->head, w->tau, w->k.ntau), carom_copy(t + w->head + w->k.ntau, w->bend, w->k.ntau);
    w->k.save(w->k.user, t + w->head + 2 * w->k.ntau);
    mark(w);
    w->f->value = value_now(w);
    if (!w->def->on_point) return CAROM_OK;
    CAROM_TRY(write_queue(w));
    return w->def->on_point(w->def->user, w->f);
}

// -- other branches -------------------------------------------------------------------------------------------------
//
// Where branches cross, the other one leaves the tangent tau along phi, [F_x F_p] phi = 0, tau.phi = 0.  Beside a Hopf
// point and a period doubling orbits have the amplitude r, or u:
//
//     u(s) = u_0 + s phi + ...: p - p_0 = a r^2;  sigma'(p - p_0) + Re c1 r^2/4 = 0;  -lambda'(p - p_0) = c u^2
//     (SWI-1)
//
// with sigma' and lambda' the changes of the eigenvalue along the branch that was followed.  Re c1 < 0, and c > 0:
// supercritical, the new orbits are beside solutions that have lost their stability.

static void choose(walk *w, bool orbits) { w->orbits = orbits, w->k = w->curve[orbits]; }

// The event of a row is named more closely.
static carom_status amend(walk *w, double row, const char *word, double coefficient) {
    carom_table *t = &w->f->branch;
    const long r = (long)row;
    if (!(row >= 0 && r < t->rows)) return CAROM_OK;
    const size_t n = strlen(t->column[5].text[r]);
    char *more = realloc(t->column[5].text[r], n + strlen(word) + 4);
    if (!more) return no_memory(w->err);
    t->column[5].text[r] = more;
    sprintf(more + n, " (%s)", word);
    t->column[t->columns - 1 - (w->def->response ? CAROM_RESPONSES : 0)].real[r] = coefficient;
    return CAROM_OK;
}

static const char *word_of(double supercritical) {
    return supercritical > 0 ? "supercritical" : supercritical < 0 ? "subcritical" : "undecided";
}

// Beside an event, s along the tangent: the parameter, how many eigenvalues are unstable, and the critical one: of
// orbits that nearest to -1, of equilibria the growth of the pair.
typedef struct beside { double value, critical; int unstable; } beside;

static carom_status look_beside(walk *w, const double *place, const double *tau, double s, beside *to) {
    carom_curve_look *l = &w->spot[TRIED].look;
    int iterations;
    CAROM_TRY(w->k.restore(w->k.user, place));
    CAROM_TRY(w->k.predict(w->k.user, tau, s));
    CAROM_TRY(w->k.correct(w->k.user, tau, &iterations));
    CAROM_TRY(w->k.look(w->k.user, l));
    *to = (beside){.value = value_now(w), .unstable = l->unstable};
    double least = INFINITY;
    for (int i = 0; i < l->n; ++i) {
        if ((l->im[i] != 0) == w->orbits) continue;
        const double off = w->orbits ? fabs(l->re[i] + 1) : fabs(l->re[i]);
        if (off < least) least = off, to->critical = l->re[i];
    }
    return CAROM_OK;
}

// Both sides of it.  False: there is none, or the parameter does not change.
static bool both_sides(walk *w, const double *place, const double *tau, beside side[2]) {
    const double slope = fabs(tau[w->k.ntau - 1]), s = BESIDE / fmax(slope, 0.1);
    for (int i = 0; i < 2; ++i)
        if (look_beside(w, place, tau, i ? s : -s, &side[i]) != CAROM_OK) return false;
    return fabs(side[1].value - side[0].value) > 0.01 * s * w->size;
}

static double slope_of(const beside side[2]) {
    return (side[1].critical - side[0].critical) / (side[1].value - side[0].value);
}

// One half of the branch that crosses: its place, parameter and look.
static carom_status cross_at(walk *w, const double *place, const double *phi, double s, bool *good, beside *to) {
    int iterations;
    *good = false;
    CAROM_TRY(w->k.restore(w->k.user, place));
    carom_status status = w->k.predict(w->k.user, phi, s);
    if (status == CAROM_OK) status = w->k.correct(w->k.user, phi, &iterations);
    if (status == CAROM_OK) status = w->k.look(w->k.user, &w->spot[TRIED].look);
    if (status != CAROM_OK) return fatal(status) ? status : CAROM_OK;
    *to = (beside){
        .value = value_now(w), .unstable = w->spot[TRIED].look.unstable, .critical = w->spot[TRIED].look.largest};
    w->k.apart(w->k.user, place, w->by);
    *good = carom_length(w->by, w->k.ntau) < SLANT * fabs(s);
    return CAROM_OK;
}

// Is the other half of a branch the image of the first one by a symmetry?  At the same parameter it then has the same
// eigenvalues.
static carom_status are_images(walk *w, const double *other, const beside *half, bool *alike) {
    carom_curve_look *l = &w->spot[TRIED].look;
    int iterations;
    *alike = false;
    CAROM_TRY(w->k.restore(w->k.user, other));
    carom_zero(w->tau_1, w->k.ntau);
    w->tau_1[w->k.ntau - 1] = 1;
    CAROM_TRY(w->k.predict(w->k.user, w->tau_1, (half->value - other[0]) / w->size));
    carom_status status = w->k.correct(w->k.user, NULL, &iterations);
    if (status == CAROM_OK) status = w->k.look(w->k.user, l);
    if (status != CAROM_OK) return fatal(status) ? status : CAROM_OK;
    *alike =
        l->unstable == half->unstable && fabs(l->largest - half->critical) <= MIRROR * fabs(half->critical) + l->noise;
    return CAROM_OK;
}

// Half the way between two solutions at t = 0, of the coordinate that has the longest one; the curve ends at b.
static carom_status largest_way(walk *w, const double *a, const double *b, double *r) {
    double period, *x = calloc((size_t)(w->nq + w->nv) + 1, sizeof *x);
    carom_status status = x ? w->k.restore(w->k.user, a) : no_memory(w->err);
    if (status == CAROM_OK) status = w->k.row(w->k.user, &period, x, w->least, w->most);
    if (status == CAROM_OK) status = w->k.restore(w->k.user, b);
    if (status == CAROM_OK) status = w->k.row(w->k.user, &period, w->x, w->least, w->most);
    for (int i = 0; i < w->nq && status == CAROM_OK; ++i) *r = fmax(*r, fabs(w->x[i] - x[i]) / 2);
    free(x);
    return status;
}

static carom_status begin_doubled(walk *w, double *t) {
    beside side[2];
    const double *place = t + w->head + 2 * w->k.ntau, value = place[0];
    const bool known = both_sides(w, place, w->tau, side);
    CAROM_TRY(w->k.restore(w->k.user, place));
    double by_normal_form = NAN;
    const carom_error before = *w->err;
    if (w->k.linearise(w->k.user) != CAROM_OK || w->k.keep(w->k.user, w->tau) != CAROM_OK ||
        w->k.first_lyapunov(w->k.user, &by_normal_form) != CAROM_OK)
        by_normal_form = NAN, *w->err = before;
    CAROM_TRY(w->k.restore(w->k.user, place));
    CAROM_TRY(w->k.twice(w->k.user, w->tau));
    const double off = value_now(w) - value;
    double *doubled = malloc((size_t)w->k.nplace * sizeof *doubled), u = 0;
    if (!doubled) return no_memory(w->err);
    carom_copy(doubled, w->place_1, w->k.nplace);
    carom_status status = largest_way(w, place, doubled, &u); // half of it
    const double orbits = known ? -slope_of(side) * off / (4 * u * u) : NAN,
                 c = fabs(by_normal_form - orbits) <= AGREE * fabs(orbits) ? by_normal_form : orbits;
    if (status == CAROM_OK) status = w->k.linearise(w->k.user);
    free(doubled);
    CAROM_TRY(status);
    return amend(w, t[6], word_of(isnan(c) || fabs(off) < NOTICED * w->size ? 0 : c), c);
}

static carom_status begin_crossing(walk *w, double *t) {
    const int n = w->k.ntau;
    enum { TIMES = 11 };
    double *place = malloc((3 * (size_t)w->k.nplace + (size_t)n + 1) * sizeof *place), *other = place + w->k.nplace,
           *first = other + w->k.nplace, *phi = first + w->k.nplace;
    if (!place) return no_memory(w->err);
    carom_copy(place, t + w->head + 2 * n, w->k.nplace);
    beside half[2] = {{0}}, side[2];
    bool good = false;
    carom_status status = w->k.linearise(w->k.user);
    if (status == CAROM_OK && !w->k.cross(w->k.user, w->tau, phi)) status = no_memory(w->err);
    bool felt = false;
    for (int i = 0; i < TIMES && !felt && status == CAROM_OK; ++i) { // as near as the parameter allows to tell
        const double by = AWAY * pow(10, i / 2.0);
        beside now[2] = {{0}};
        bool both = false;
        status = cross_at(w, place, phi, -by, &both, &now[1]);
        if (status == CAROM_OK && both)
            w->k.save(w->k.user, w->place), status = cross_at(w, place, phi, by, &both, &now[0]);
        if (status != CAROM_OK || !both) continue;
        good = true, half[0] = now[0], half[1] = now[1];
        carom_copy(other, w->place, w->k.nplace), w->k.save(w->k.user, first);
        felt = fabs(half[0].value - place[0]) + fabs(half[1].value - place[0]) > FELT * w->size;
    }
    if (status == CAROM_OK && !good)
        status = carom_fail(w->err, CAROM_NOT_CONVERGED, "the branch that crosses was not found");
    if (status == CAROM_OK) {
        const double up = half[0].value - place[0], down = half[1].value - place[0];
        double r = 0; // half the way between the two, of the coordinate that changes most
        status = largest_way(w, other, first, &r);
        const bool pitchfork = fabs(up - down) < fabs(up + down);
        bool alike = false;
        if (pitchfork && status == CAROM_OK) status = are_images(w, other, &half[0], &alike);
        char text[60] = "transcritical";
        if (pitchfork) {
            double sense = 0; // of the solutions that were followed, those on the side of the new ones have lost more
                              // or less of their stability than the others
            if (both_sides(w, place, w->tau, side))
                sense = (side[1].unstable - side[0].unstable) * (up + down) * (side[1].value - side[0].value);
            snprintf(text, sizeof text, "%s pitchfork", word_of(sense));
        }
        if (status == CAROM_OK) status = amend(w, t[6], text, pitchfork ? (up + down) / 2 / (r * r) : NAN);
        if (status == CAROM_OK && !alike && w->ntasks < 16) { // the other half
            status = w->k.restore(w->k.user, other);
            for (int i = 0; i < n; ++i) w->tau_1[i] = -phi[i];
            if (status == CAROM_OK) status = add_task(w, 0, w->longest * FIRST, START, w->tau_1);
            if (status == CAROM_OK) task_at(w, w->ntasks - 1)[6] = -1;
        }
    }
    if (status == CAROM_OK) carom_copy(w->tau, phi, n), status = w->k.restore(w->k.user, first);
    if (status == CAROM_OK) status = w->k.linearise(w->k.user);
    free(place);
    return status;
}

// The first orbit beside a Hopf point: as small as the parameter allows to tell.
static carom_status begin_grown(walk *w, double *t) {
    enum { TIMES = 9 };
    double *x = calloc((size_t)w->nq + 3 * (size_t)w->nv + 1, sizeof *x), *shape = x + w->nq + w->nv, rate = 0;
    if (!x) return no_memory(w->err);
    beside side[2];
    const double *place = t + w->head + 2 * w->k.ntau, value = place[0];
    carom_status status = w->k.pair(w->k.user, x, shape, &rate);
    const bool known = status == CAROM_OK && both_sides(w, place, w->tau, side);
    const double slope = known ? slope_of(side) : NAN;
    // by derivatives, where the contacts allow it; else from the orbits
    double by_normal_form = NAN;
    if (status == CAROM_OK) {
        const carom_error before = *w->err;
        status = w->k.restore(w->k.user, place);
        if (status == CAROM_OK && w->k.first_lyapunov &&
            w->k.first_lyapunov(w->k.user, &by_normal_form) != CAROM_OK)
            by_normal_form = NAN, *w->err = before;
        if (status == CAROM_OK) status = w->k.restore(w->k.user, place);
    }
    double size = 0.01 * fmax(carom_norm_max(x, w->nq), 1e-3), c[2] = {NAN, NAN}, off = 0;
    int most = 0, good = -1;
    for (int i = 0; i < w->nv; ++i)
        if (hypot(shape[i], shape[w->nv + i]) > hypot(shape[most], shape[w->nv + most])) most = i;
    choose(w, true);
    t[7] = 1;
    for (int i = 0; i < TIMES && status == CAROM_OK && good < 0; ++i) {
        const double by = size * pow(10, i / 2.0);
        status = w->k.grow(w->k.user, value, x, shape, rate, by, w->tau);
        if (fatal(status)) break;
        off = value_now(w) - value;
        if (status == CAROM_OK && (fabs(off) > FELT * w->size || i == TIMES - 1)) good = i, size = by;
        if (i < TIMES - 1) status = CAROM_OK;
    }
    if (status == CAROM_OK && good < 0)
        status = carom_fail(w->err, CAROM_NOT_CONVERGED, "no orbit was found beside the equilibrium");
    // amplitudes size/2 and size: c1 without its next term
    for (int half = 1; half >= 0 && status == CAROM_OK; --half) {
        double period;
        status = w->k.grow(w->k.user, value, x, shape, rate, half ? size / 2 : size, w->tau);
        if (status == CAROM_OK) status = w->k.row(w->k.user, &period, w->x, w->least, w->most);
        const double r = (w->most[most] - w->least[most]) / 2;
        if (status == CAROM_OK) off = value_now(w) - value, c[half] = -4 * slope * off / (r * r);
    }
    const double orbits = (4 * c[1] - c[0]) / 3,
                 c1 = fabs(by_normal_form - orbits) <= AGREE * fabs(orbits) ? by_normal_form : orbits;
    if (status == CAROM_OK) status = amend(w, t[6], word_of(isnan(c1) || fabs(off) < NOTICED * w->size ? 0 : -c1), c1);
    free(x);
    return status;
}

static carom_status begin_task(walk *w, double *t) {
    int iterations;
    choose(w, t[7] != 0);
    CAROM_TRY(w->k.restore(w->k.user, t + w->head + 2 * w->k.ntau));
    carom_copy(w->tau, t + w->head, w->k.ntau), carom_copy(w->bend, t + w->head + w->k.ntau, w->k.ntau);
    w->failures = (int)t[3], w->before = t[4], w->parent = (int)t[5];
    get_tests(t + TASK, w->last);
    if (t[0] > 0) { // it goes on
        CAROM_TRY(w->k.linearise(w->k.user));
        get_look(w, t + FIXED, &w->spot[HERE].look);
        return w->k.keep(w->k.user, w->tau);
    }
    const kind what = (kind)t[2];
    if (what == DOUBLE) CAROM_TRY(begin_doubled(w, t));
    else if (what == CROSS) CAROM_TRY(begin_crossing(w, t));
    else if (what == FROM_HOPF) CAROM_TRY(begin_grown(w, t));
    else if (what == GO_ON) CAROM_TRY(w->k.correct(w->k.user, NULL, &iterations));
    else CAROM_TRY(w->k.linearise(w->k.user));
    t = w->task; // others may have been added
    if (what != DOUBLE) CAROM_TRY(turn_forward(w));
    CAROM_TRY(stand(w));
    CAROM_TRY(w->k.keep(w->k.user, w->tau));
    CAROM_TRY(add_row(w, w->f->branches + 1, &w->spot[HERE].look, ""));
    t[0] = ++w->f->branches, t[2] = GO_ON;
    return accept(w, t, t[1]);
}

// The longest step here: that which was asked for, of the parameter, and of states in units of the solution, which may
// have grown; along a straight branch more, unless a step was asked for.
static double longest(walk *w) {
    const double part = fabs(w->tau[w->k.ntau - 1]), most = w->longest * w->k.extent(w->k.user),
                 far = w->def->step > 0 ? most : 5 * most,
                 step = carom_length(w->bend, w->k.ntau) * far < 0.02 ? far : most;
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

// The turn of the chord against the mean of the tangents at both ends: of a smooth branch it is of the second order.
static double turn_of(walk *w, const spot *b) {
    const int n = w->k.ntau;
    w->k.apart(w->k.user, w->place, w->by);
    carom_add(w->tau_1, w->tau, 1, b->tau, n);
    const double chord = carom_length(w->by, n), mean = carom_length(w->tau_1, n);
    double off = 0;
    for (int i = 0; i < n; ++i)
        off += pow(w->by[i] / fmax(chord, CAROM_NOT_ZERO) - w->tau_1[i] / fmax(mean, CAROM_NOT_ZERO), 2);
    return sqrt(off);
}

// Multipliers near their border must not move so far that two crossings could look like none.
static bool too_far(walk *w, const carom_curve_look *a, const carom_curve_look *b) {
    for (int i = 0; i < b->n && w->orbits; ++i) {
        const double size = hypot(b->re[i], b->im[i]);
        double least = INFINITY, turn = 0, grow = 0;
        if (!(fabs(log(size)) < NEAR_BORDER)) continue;
        for (int k = 0; k < a->n; ++k) {
            const double off = hypot(a->re[k] - b->re[i], a->im[k] - b->im[i]);
            if (off >= least) continue;
            least = off;
            turn = fabs(remainder(atan2(a->im[k], a->re[k]) - atan2(b->im[i], b->re[i]), 8 * atan(1))),
            grow = fabs(log(fmax(hypot(a->re[k], a->im[k]), CAROM_NOT_ZERO) / size));
        }
        if (isfinite(least) && (turn > TURN || grow > GROW)) return true;
    }
    return false;
}

// -- orbits that shrink to an equilibrium -----------------------------------------------------------------------------
//
// Beside a Hopf point the parameter, the period and the centre of orbits are functions of the square of the amplitude
// a, half the way across: they are interpolated at four amplitudes and continued to a = 0.  Of small orbits
//
//     log(mu)/T = Re c1 r^2/2  (HOP-3)
//
// with mu the multiplier that becomes 1.

enum { AMPLITUDES = 4 };

// Neville's scheme: the value at 0 of the polynomial through y over x; y is spoilt.
static double at_zero(const double *x, double *y, int n) {
    for (int k = 1; k < n; ++k)
        for (int i = 0; i + k < n; ++i) y[i] = (x[i + k] * y[i] - x[i] * y[i + 1]) / (x[i + k] - x[i]);
    return y[0];
}

static double nearest_to_one(const carom_curve_look *l) {
    double best = INFINITY;
    for (int i = 0; i < l->n; ++i)
        if (fabs(l->re[i] - 1) < fabs(best - 1) && l->im[i] == 0) best = l->re[i];
    return best;
}

// The row of the same Hopf point, if it is in the table as an event of equilibria; -1: it is not.
static long known_hopf(const walk *w, double value) {
    const carom_table *t = &w->f->branch;
    for (long r = 0; r < t->rows; ++r)
        if (strncmp(t->column[5].text[r], "hopf", 4) == 0 && t->column[2].real[r] == 0 &&
            fabs(t->column[1].real[r] - value) < KNOWN * w->size)
            return r;
    return -1;
}

// Orbits from a Hopf point that is reached from its other side are known.
static void forget_grown(walk *w, long row) {
    for (int i = w->ntasks - 1; i > 0; --i) {
        const double *t = task_at(w, i);
        if (t[2] != FROM_HOPF || t[0] > 0 || (long)t[6] != row) continue;
        --w->ntasks;
        memmove(task_at(w, i), task_at(w, i + 1), (size_t)(w->ntasks - i) * (size_t)w->length * sizeof *w->task);
    }
}

// The last row becomes that of the equilibrium: x is the centre, nq + nv numbers.
static carom_status put_hopf(walk *w, double value, double period, const double *x, double c1) {
    carom_table *t = &w->f->branch;
    const long r = t->rows - 1, known = known_hopf(w, value);
    char text[60] = "hopf";
    t->column[1].real[r] = w->f->value = value, t->column[2].real[r] = period;
    t->column[3].integer[r] = 0, t->column[4].real[r] = w->def->period ? 1 : 0;
    int at = COLUMNS;
    for (int i = 0; i < w->nq + w->nv; ++i)
        if (shown(w, i < w->nq ? i : i - w->nq)) t->column[at++].real[r] = i < w->nq ? x[i] : 0;
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < w->nq; ++i)
            if (shown(w, i)) t->column[at++].real[r] = x[i];
    at += 2 * w->neig;
    t->column[at].real[r] = t->column[at + 1].real[r] = value;
    if (known >= 0) {
        snprintf(text, sizeof text, "joins branch %lld", t->column[0].integer[known]);
        forget_grown(w, known);
        if (!strchr(t->column[5].text[known], '(')) CAROM_TRY(amend(w, (double)known, word_of(-c1), c1));
    }
    char *more = realloc(t->column[5].text[r], strlen(text) + 1);
    if (!more) return no_memory(w->err);
    t->column[5].text[r] = strcpy(more, text);
    return known >= 0 ? CAROM_OK : amend(w, (double)r, word_of(-c1), c1);
}

// Between the ends of the step the orbit turns itself over: it vanishes there.
static carom_status vanishes(walk *w, int branch, const spot *a, const spot *b, bool *vanished) {
    const int n = w->k.ntau, nx = w->nq + w->nv;
    spot *to = &w->spot[TRIED];
    *vanished = false;
    CAROM_TRY(w->k.restore(w->k.user, a->place));
    CAROM_TRY(w->k.across(w->k.user, w->half));
    CAROM_TRY(w->k.restore(w->k.user, b->place));
    CAROM_TRY(w->k.across(w->k.user, w->half_1));
    w->strayed = true;
    const double here = carom_length(w->half, n) / 2, there = carom_dot(w->half, w->half_1, n) / (4 * here);
    if (!(there < 0)) return CAROM_OK;
    const double zero = b->s * here / (here - there), by = fmin(SMALL_ORBIT, here / (AMPLITUDES + 1));
    double square[AMPLITUDES], value[AMPLITUDES], period[AMPLITUDES], c1[AMPLITUDES],
        *x = calloc((AMPLITUDES + 1) * (size_t)nx + 1, sizeof *x), *centre = x + nx;
    if (!x) return no_memory(w->err);
    carom_status status = w->k.precise(w->k.user, true);
    for (int i = 0; i < AMPLITUDES && status == CAROM_OK; ++i) {
        status = solve_at(w, i == 0 ? a : to, zero - zero / here * by * (AMPLITUDES - i), to);
        if (status != CAROM_OK) break;
        w->k.save(w->k.user, w->place_1);
        status = w->k.row(w->k.user, &period[i], x, w->least, w->most);
        double r = 0;
        for (int k = 0; k < w->nq; ++k) r = fmax(r, (w->most[k] - w->least[k]) / 2);
        for (int k = 0; k < nx; ++k) centre[i * nx + k] = k < w->nq ? (w->least[k] + w->most[k]) / 2 : 0;
        if (status == CAROM_OK) status = w->k.across(w->k.user, w->half_1);
        square[i] = pow(carom_length(w->half_1, n) / 2, 2), value[i] = w->place_1[0];
        c1[i] = 2 * log(fabs(nearest_to_one(&to->look))) / (period[i] * r * r);
    }
    if (status == CAROM_OK) status = add_row(w, branch, &to->look, "");
    if (status == CAROM_OK) {
        for (int k = 0; k < nx; ++k) {
            double y[AMPLITUDES];
            for (int i = 0; i < AMPLITUDES; ++i) y[i] = centre[i * nx + k];
            x[k] = at_zero(square, y, AMPLITUDES);
        }
        const double p = at_zero(square, value, AMPLITUDES), T = at_zero(square, period, AMPLITUDES);
        status = put_hopf(w, p, T, x, at_zero(square, c1, AMPLITUDES));
    }
    free(x);
    const carom_status off = w->k.precise(w->k.user, false);
    *vanished = status == CAROM_OK;
    return fatal(status) ? status : off;
}

// Has it shrunk so far, of what it was?
static bool has_shrunk(const walk *w, int branch) {
    const carom_table *t = &w->f->branch;
    const double now = w->orbits && w->k.width ? w->k.width(w->k.user) : INFINITY;
    const int least = COLUMNS + w->nq + w->nv - 2 * w->hidden, most = least + w->nq - w->hidden;
    double was = 0, is = 0;
    if (!isfinite(now)) return false;
    for (long r = t->rows - 1; r >= 0 && t->column[0].integer[r] == branch; --r) {
        double size = 0;
        for (int i = 0; i < w->nq - w->hidden; ++i)
            size = fmax(size, t->column[most + i].real[r] - t->column[least + i].real[r]);
        if (r == t->rows - 1) is = size;
        was = fmax(was, size);
    }
    return is < SHRUNK * was;
}

// The end of a step: is it a good one?  Its events are then in the table, and the curve stands there.  *turn: of the
// chord.
static carom_status arrive(walk *w, int branch, double step, bool *good, double *turn) {
    spot *b = &w->spot[THERE];
    const carom_status status = look_at(w, b);
    if (status != CAROM_OK && status != CAROM_SINGULAR) return status;
    *turn = turn_of(w, b);
    *good = carom_dot(w->tau, b->tau, w->k.ntau) > 0.5 || step < SHORT;
    if (step > SHORT) *good = *good && *turn < ASTRAY && !too_far(w, &w->spot[HERE].look, &b->look);
    if (!*good) return CAROM_OK;
    // both halves of a doubled orbit change places: between these points it was that of half the period, where the
    // branch turns round
    if (w->parent > 0) {
        w->k.half(w->k.user, w->half_1);
        w->joined = carom_dot(w->half, w->half_1, w->k.ntau) < 0;
        if (w->joined)
            return *good = true, locate(w, branch, &w->spot[HERE], b,
                                        differs(&w->spot[HERE], b, CAROM_FOLD) ? CAROM_FOLD : CAROM_TESTS);
    }
    if (has_shrunk(w, branch)) {
        CAROM_TRY(vanishes(w, branch, &w->spot[HERE], b, &w->joined));
        if (w->joined) return CAROM_OK;
        CAROM_TRY(w->k.restore(w->k.user, b->place));
        CAROM_TRY(w->k.linearise(w->k.user));
    }
    CAROM_TRY(smooth_events(w, branch, good));
    if (!*good && step < SHORT) *good = true;
    if (!w->strayed || !*good) return CAROM_OK;
    CAROM_TRY(w->k.restore(w->k.user, b->place));
    return w->k.linearise(w->k.user);
}

// From the last point to the next, ds away, or to the edge of the range.
static carom_status step_ahead(walk *w, double *ds, double *edge, int *iterations) {
    const int last = w->k.ntau - 1;
    const double from = w->place[0], slope = w->tau[last] * w->size, to = from + *ds * slope;
    *edge = to > w->high ? w->high : to < w->low ? w->low : NAN;
    if (!isnan(*edge)) *ds = fabs(slope) > 0 ? fmax(0, (*edge - from) / slope) : *ds;
    if (!isnan(*edge) && *ds < ARRIVED) return CAROM_OK; // it is there
    CAROM_TRY(isnan(*edge) ? go(w, w->place, w->tau, *ds, iterations) : to_edge(w, *ds, *edge));
    const double there = value_now(w);
    if (!isnan(*edge) || (there <= w->high && there >= w->low)) return CAROM_OK;
    *edge = there > w->high ? w->high : w->low; // it bends over the edge
    *ds *= (*edge - from) / (there - from);
    return to_edge(w, *ds, *edge);
}

// -- periods without bound ------------------------------------------------------------------------------------------

// Most of the period is spent where next to nothing moves: runs are then as accurate as they can be.
static bool lingers(const walk *w) { return w->orbits && w->k.slowest && w->k.slowest(w->k.user) < LINGERS; }

// (END-1)  By the last points of the branch that has just got a row.  sure: the branch ends here whatever this tells.
//          *ended: it is at its end, which is in the table.
static carom_status look_for_end(walk *w, int branch, bool sure, bool *ended) {
    enum { LAST = CAROM_ENDLESS };
    carom_table *t = &w->f->branch;
    double p[LAST], T[LAST], shortest = INFINITY;
    int n = LAST;
    if (!w->orbits || !w->k.slowest || !(w->k.slowest(w->k.user) < LINGERS)) return CAROM_OK;
    for (long r = t->rows - 1; r >= 0 && t->column[0].integer[r] == branch; --r) {
        shortest = fmin(shortest, t->column[2].real[r]);
        const bool usable = n > 0 && t->column[5].text[r][0] == 0 &&
                            (n == LAST || t->column[2].real[r] < (1 - SPACED) * T[n]);
        if (usable) --n, p[n] = t->column[1].real[r], T[n] = t->column[2].real[r];
    }
    carom_period_limit limit;
    if (n > 0 || !(T[LAST - 1] > LONGER * shortest) || !carom_endless(p, T, LAST, &limit)) return CAROM_OK;
    const bool known = limit.error <= NEARLY * w->size,
               told = limit.error <= ENOUGH * w->size && limit.error >= limit.before,
               deep = w->k.slowest(w->k.user) < DEEP; // beyond, errors grow too much
    if (!(known || told || ((deep || sure) && limit.error <= FELT * w->size))) return CAROM_OK;
    w->low_event = limit.value - limit.error, w->high_event = limit.value + limit.error;
    CAROM_TRY(add_row(w, branch, &w->spot[HERE].look, limit.saddle_node ? "saddle-node homoclinic" : "homoclinic"));
    t->column[1].real[t->rows - 1] = w->f->value = limit.value;
    carom_error why = {.code = CAROM_NOT_CONVERGED};
    if (limit.saddle_node)
        snprintf(why.text, sizeof why.text,
                 "the period grows without bound, like 1/sqrt(|%.60s - %.9g|), as the orbit approaches an equilibrium "
                 "that is about to appear (the last one has the period %.6g)",
                 w->def->by, limit.value, T[LAST - 1]);
    else
        snprintf(why.text, sizeof why.text,
                 "the period grows without bound, like -log(|%.60s - %.9g|)/%.6g, as the orbit approaches an unstable "
                 "equilibrium (the last one has the period %.6g)",
                 w->def->by, limit.value, limit.rate, T[LAST - 1]);
    note_end(w, branch, &why);
    *ended = true;
    return CAROM_OK;
}

// *more: as many points as are wanted were found before its end.
static carom_status march(walk *w, double *t, bool *more) {
    const int most = w->def->most > 0 ? w->def->most : 2000, last = w->k.ntau - 1;
    CAROM_TRY(begin_task(w, t));
    if (w->parent > 0) w->k.half(w->k.user, w->half);
    double step = w->task[1];
    while (w->f->branch.rows < most) {
        const int branch = (int)w->task[0];
        spot *here = &w->spot[HERE], *there = &w->spot[THERE];
        w->k.save(w->k.user, w->place);
        carom_copy(here->place, w->place, w->k.nplace), carom_copy(here->tau, w->tau, w->k.ntau);
        here->s = 0;
        double ds = step, edge, turn = 0;
        int iterations = 0;
        if (lingers(w)) CAROM_TRY(w->k.precise(w->k.user, true));
        carom_status status = step_ahead(w, &ds, &edge, &iterations);
        if (fatal(status)) return status;
        if (status == CAROM_OK && !isnan(edge) && ds < ARRIVED) return CAROM_OK;
        bool good = status == CAROM_OK;
        const bool same = good && w->k.same(w->k.user);
        if (same) {
            status = arrive(w, branch, step, &good, &turn);
            if (fatal(status)) return status;
            good = good && status == CAROM_OK;
        }
        if (w->joined) return w->joined = false, CAROM_OK;
        if (!good && step > SMALLEST) {
            step /= same ? 2 : 3, w->failures = same ? 1 : 3;
            CAROM_TRY(w->k.restore(w->k.user, w->place));
            continue;
        }
        if (!good || !same) {
            bool ended = false;
            CAROM_TRY(w->k.restore(w->k.user, w->place));
            CAROM_TRY(w->k.linearise(w->k.user));
            CAROM_TRY(look_for_end(w, branch, true, &ended));
            if (ended) return CAROM_OK;
            CAROM_TRY(sudden_event(w, branch, ds, &ended));
            if (ended) return CAROM_OK;
            carom_zero(w->bend, w->k.ntau);
            w->before = 0;
            step = fmax(step, FIRST * w->longest);
            if (w->parent > 0) w->k.half(w->k.user, w->half);
            CAROM_TRY(w->k.keep(w->k.user, w->tau));
            CAROM_TRY(turn_forward(w));
            CAROM_TRY(stand(w));
            CAROM_TRY(accept(w, w->task, step));
            continue;
        }
        for (int k = 0; k < CAROM_TESTS; ++k) { // where a test has no sign, that before it goes on
            w->last[k] = here->look.test[k];
            if (there->look.test[k].sign == 0) there->look.test[k].sign = here->look.test[k].sign;
        }
        w->before = there->s;
        if (w->parent > 0) carom_copy(w->half, w->half_1, w->k.ntau);
        for (int i = 0; i <= last; ++i) w->bend[i] = (there->tau[i] - w->tau[i]) / there->s;
        carom_copy(w->tau, there->tau, w->k.ntau);
        CAROM_TRY(add_row(w, branch, &there->look, ""));
        const spot swapped = *here;
        *here = *there, *there = swapped;
        if (!isnan(edge)) return CAROM_OK;
        bool moved = false, ended = false;
        CAROM_TRY(look_for_end(w, branch, false, &ended));
        if (ended) return CAROM_OK;
        CAROM_TRY(settle(w, &moved));
        if (moved) {
            CAROM_TRY(stand(w));
            w->before = 0;
            if (w->parent > 0) w->k.half(w->k.user, w->half);
        }
        if (w->failures > 0) --w->failures;
        else if (iterations <= 6 && turn < STRAIGHT) step = fmin(longest(w), 1.4 * step);
        else if (iterations > 12 || turn > 3 * STRAIGHT) step *= 0.7;
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
    if (!(w->place[0] >= w->low - ROUNDED * w->size && w->place[0] <= w->high + ROUNDED * w->size))
        return carom_fail(
            w->err, CAROM_BAD_INPUT,
            "`by`: %.60s is %.9g in the model, which does not lie between %.9g and %.9g; set it with `set`", w->def->by,
            w->place[0], w->low, w->high);
    CAROM_TRY(w->k.begin(w->k.user));
    const double way[2] = {w->def->to > w->def->from ? 1 : -1, w->def->to > w->def->from ? -1 : 1};
    for (int i = 0; i < 2; ++i) {
        if (fabs(w->place[0] - (way[i] > 0 ? w->high : w->low)) <= ROUNDED * w->size) continue;
        carom_zero(w->tau, w->k.ntau);
        w->tau[w->k.ntau - 1] = way[i];
        CAROM_TRY(add_task(w, 0, w->longest * FIRST, GO_ON, w->tau));
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
    else if (f->note.code == CAROM_OK) {
        const double *place = w->task + w->head + 2 * w->curve[w->task[7] != 0 && w->task[2] != FROM_HOPF].ntau;
        carom_fail(&f->note, why.code, "%s at %.60s = %.9g were not found: %.600s",
                   w->task[2] == DOUBLE      ? "the doubled orbits"
                   : w->task[2] == FROM_HOPF ? "the orbits"
                                             : "other solutions",
                   w->def->by, place[0], why.text);
    }
    if (begun && t->rows > 0 && t->column[5].text[t->rows - 1][0] == 0) {
        char *text = realloc(t->column[5].text[t->rows - 1], sizeof "end");
        if (text) t->column[5].text[t->rows - 1] = strcpy(text, "end");
    }
}

static carom_status follow(walk *w) {
    const carom_follow_def *def = w->def;
    if (!(def->from != def->to) || !isfinite(def->from) || !isfinite(def->to))
        return carom_fail(w->err, CAROM_BAD_INPUT, "`by`: give NAME=A:B with two different numbers");
    w->low = fmin(def->from, def->to), w->high = fmax(def->from, def->to), w->size = w->high - w->low;
    w->longest = def->step > 0 ? def->step : STEP;
    const carom_model *other;
    CAROM_TRY(def->period ? carom_curve_orbits(&w->curve[1], def, NULL, &w->m, &w->f->scheme, w->err)
                          : carom_curve_rests(&w->curve[0], def, NULL, &w->m, &w->f->scheme, w->err));
    if (!def->period && def->switches & CAROM_SWITCH_HOPF) {
        w->grown = *def;
        w->grown.period = "free", w->grown.start = NULL, w->grown.guess = NAN;
        CAROM_TRY(carom_curve_orbits(&w->curve[1], &w->grown, NULL, &other, &w->f->scheme, w->err));
    }
    choose(w, def->period != NULL);
    const carom_system *s = carom_model_system(w->m);
    const carom_curve *k = w->curve;
    const int most_tau = k[0].ntau > k[1].ntau ? k[0].ntau : k[1].ntau,
              most_place = k[0].nplace > k[1].nplace ? k[0].nplace : k[1].nplace,
              most_eig = k[0].neig > k[1].neig ? k[0].neig : k[1].neig;
    w->nq = s->nq, w->nv = s->nv, w->neig = k[1].neig, w->head = head_size(most_eig),
    w->length = w->head + 2 * most_tau + most_place;
    w->low_event = w->high_event = NAN;
    for (int i = 0; i < w->nq; ++i) w->hidden += !shown(w, i);
    for (int i = 0; i < w->nv; ++i) w->hidden_v += !shown_v(w, i);
    const size_t ntau = (size_t)most_tau, nplace = (size_t)most_place, neig = (size_t)most_eig;
    double **part[] = {&w->half,  &w->half_1,  &w->tau, &w->bend,  &w->tau_1, &w->by,
                       &w->place, &w->place_1, &w->x,   &w->least, &w->most};
    const size_t size[] = {
        ntau,          ntau,         ntau, ntau, ntau, ntau + 2 * neig, nplace, nplace, (size_t)(w->nq + w->nv),
        (size_t)w->nq, (size_t)w->nq};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        *part[i] = calloc(size[i] + 1, sizeof **part[i]);
        if (!*part[i]) return no_memory(w->err);
    }
    for (int i = 0; i < SPOTS; ++i) {
        spot *x = &w->spot[i];
        x->place = calloc(nplace + ntau + 2 * neig + 1, sizeof *x->place);
        if (!x->place) return no_memory(w->err);
        x->tau = x->place + nplace, x->look.re = x->tau + ntau, x->look.im = x->look.re + neig;
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

static int count_unlocated(const carom_table *t) {
    int n = 0;
    for (long r = 0; r < t->rows; ++r) {
        const char *text = t->column[5].text[r];
        n += text[0] && text[strlen(text) - 1] == '?';
    }
    return n;
}

carom_status carom_follow_run(carom_branch *f, const carom_follow_def *def, carom_error *err) {
    if (!f || !def) return CAROM_MISSING(err);
    walk w = {.f = f, .def = def, .err = err};
    const carom_status status = follow(&w);
    if (status == CAROM_STOPPED && f->branch.rows > 0) {
        carom_error kept = *err;
        forget_unfinished(&w);
        if (write_queue(&w) == CAROM_OK) *err = kept;
    }
    f->unlocated = f->branch.columns > 5 ? count_unlocated(&f->branch) : 0;
    carom_curve_orbits_close(&w.curve[1]);
    carom_curve_rests_close(&w.curve[0]);
    for (int i = 0; i < SPOTS; ++i) free(w.spot[i].place);
    free(w.task), free(w.tau), free(w.bend), free(w.tau_1), free(w.half), free(w.half_1), free(w.by), free(w.place),
        free(w.place_1), free(w.x), free(w.least), free(w.most);
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
enum { NOTES = 12, NUMBERS = 300 };
static bool take_notes(const carom_follow_def *def, carom_table_note note[NOTES], char **own) {
    size_t size = NUMBERS + list_size(def->model.set) + list_size(def->exchange) + list_size(def->run.options) + 1;
    for (int i = 0; i < def->model.nmatrices; ++i) size += strlen(def->model.matrices[i].name) + 20;
    char *text = *own = calloc(size, 1);
    if (!text) return false;
    char *range = text, *step = text + 200, *set = text + NUMBERS, *exchange = put_list(set, def->model.set),
         *options = put_list(exchange, def->exchange);
    carom_format(range, 200, "%.17g:%.17g", def->from, def->to);
    carom_format(step, 60, "%.17g", def->step > 0 ? def->step : STEP);
    snprintf(step + 60, NUMBERS - 260, "%d", def->switches);
    char *files = put_list(options, def->run.options), *at = files;
    for (int i = 0; i < def->model.nmatrices; ++i) at = put_sum(at, &def->model.matrices[i]);
    const carom_table_note all[NOTES] = {{"by", def->by},
                                         {"model", def->model.text},
                                         {"period", def->period ? def->period : ""},
                                         {"range", range},
                                         {"set", set},
                                         {"exchange", exchange},
                                         {"options", options},
                                         {"scheme", def->run.scheme ? def->run.scheme : CAROM_SCHEME_OF_DERIVATIVES},
                                         {"step", step},
                                         {"switch", step + 60},
                                         {"files", files},
                                         {"response", def->response ? def->response : ""}};
    memcpy(note, all, sizeof all);
    return true;
}

carom_status carom_follow_write(const carom_branch *f, const carom_follow_def *def, const char *file,
                                carom_error *err) {
    if (!f || !def || !file)
        return carom_fail(err, CAROM_BAD_INPUT, "a branch, its definition or the name of a file is missing");
    const size_t n = strlen(file);
    const bool csv = n > 4 && strcmp(file + n - 4, ".csv") == 0;
    char number[40];
    snprintf(number, sizeof number, "%d", f->branches);
    const carom_table tables[2] = {f->branch, f->queue};
    carom_table_note notes[NOTES + 1];
    char *own;
    if (!take_notes(def, notes, &own)) return no_memory(err);
    notes[NOTES] = (carom_table_note){"branches", number};
    const carom_status status =
        carom_tables_write(file, tables, csv || f->queue.columns == 0 ? 1 : 2, notes, csv ? 0 : NOTES + 1, err);
    free(own);
    return status;
}

// The file must be of the same model, parameter, range and settings.
static carom_status compare_notes(const carom_follow_def *def, const char *file, carom_error *err) {
    static const char *const word[NOTES] = {"parameter of `by`",
                                            "model",
                                            "`period`",
                                            "range of `by`",
                                            "`set` or `input`",
                                            "`exchange`",
                                            "`option`",
                                            "`scheme`",
                                            "`step`",
                                            "choice of `switch`",
                                            "`matrix` or file of the model",
                                            "`response`"};
    carom_table_note notes[NOTES];
    char *own;
    if (!take_notes(def, notes, &own)) return no_memory(err);
    carom_status status = CAROM_OK;
    for (int i = 0; i < NOTES && status == CAROM_OK; ++i) {
        char *was = carom_table_note_read(file, notes[i].name);
        if (strcmp(was ? was : "", notes[i].text) != 0)
            status =
                carom_fail(err, CAROM_BAD_INPUT,
                           "%.200s was made with another %s; a branch goes on with what it began with", file, word[i]);
        free(was);
    }
    free(own);
    return status;
}

carom_status carom_follow_read(carom_branch *f, const carom_follow_def *def, const char *file, carom_error *err) {
    if (!f || !file) return carom_fail(err, CAROM_BAD_INPUT, "a branch or the name of its file is missing");
    *f = (carom_branch){0};
    carom_status status = carom_table_read(file, "branch", &f->branch, err);
    if (status == CAROM_OK) status = carom_table_read(file, "queue", &f->queue, err);
    if (status == CAROM_OK && def) status = compare_notes(def, file, err);
    if (status != CAROM_OK) {
        carom_branch_free(f);
        return status;
    }
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
