// follow_events.c: events at which a smooth branch bifurcates or turns back, between the two ends of a step.
//
//     fold: tau_p = 0;  branch: det [F_x F_p; tau'] = 0;  period-doubling: det(P + 1) = 0  (FOL-4)
//
// change their signs there; a pair that crosses changes the number of unstable eigenvalues by two and none of these.
#include "dynamics/follow.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double VANISHED = 1e-13; // of a test at the ends of the step: zero
static const double SETTLED = 1e-13;  // of a step: an event that is located
static const double MISSED = 0.1;     // of a bracket: a point that is farther from where it should be
static const double LEAPS = 0.01;     // of a test at the ends of the step: where it changes its sign and does not
                                      // vanish, the ends lie on two branches
static const double LOCATED = 1e-10;  // of the parameter, or of the step: a crossing of branches that is located
static const double TRUSTED = 10;     // of its estimated error: it is not larger
static const double SHORT_ENOUGH = FOLLOW_STEP * FOLLOW_FIRST; // a step in which an event can be located, if ever
static const double APART = 2.5e-3, NEARBY = 0.1; // (FOL-5)  distance of the points beside a crossing of branches; of
                                                  // the test at the ends of the step: such a crossing is near

static double value_of(carom_signed x, double reference) { return x.sign * exp(fmin(x.log_size - reference, 300)); }

bool follow_differs(const follow_spot *a, const follow_spot *b, int k) {
    return a->look.test[k].sign * b->look.test[k].sign < 0;
}

// How many of the tests that have signs change them; *which: the last of them.
static int changes(const follow_spot *a, const follow_spot *b, int *which) {
    int n = 0;
    for (int k = CAROM_FOLD; k < CAROM_PAIR; ++k)
        if (follow_differs(a, b, k)) ++n, *which = k;
    return n;
}

// Where the number of unstable eigenvalues changes and no test does: by the eigenvalue that is nearest to its border.
// One alone is real behind it, though it may have been one of a pair that meets there.
static int kind_of(follow_walk *w, const carom_curve_look *l, bool single) {
    double least = INFINITY;
    int kind = single ? CAROM_BRANCH : CAROM_PAIR;
    for (int i = 0; i < l->n; ++i) {
        const double off = fabs(w->k.beyond(w->k.user, l->re[i], l->im[i]));
        if (off < least && !(single && l->im[i] != 0))
            least = off, kind = l->im[i] != 0 ? CAROM_PAIR : w->orbits && l->re[i] < 0 ? CAROM_DOUBLING : CAROM_BRANCH;
    }
    return kind;
}

// How far apart two rows are: parameter, coordinates and rates, each of its range in the table.
static double between_rows(const follow_walk *w, long r, long k) {
    const carom_table *t = &w->f->branch;
    double most = 0;
    for (int i = 1; i < FOLLOW_COLUMNS + w->nq + w->nv - w->hidden - w->hidden_v; i = i == 1 ? FOLLOW_COLUMNS : i + 1) {
        const double *x = t->column[i].real;
        double low = x[r], high = x[r];
        for (long n = 0; n < t->rows; ++n) low = fmin(low, x[n]), high = fmax(high, x[n]);
        if (high > low) most = fmax(most, fabs(x[r] - x[k]) / (i == 1 ? w->size : high - low));
    }
    return most;
}

static bool is_crossing(const follow_walk *w, long r) {
    return strncmp(w->f->branch.column[5].text[r], "branch", 6) == 0 && !strchr(w->f->branch.column[5].text[r], '?');
}

// The row in which the crossing of the last row was met before; -1: it is new.
static long known_crossing(const follow_walk *w) {
    const long last = w->f->branch.rows - 1;
    for (long r = 0; r < last; ++r)
        if (is_crossing(w, r) && between_rows(w, r, last) < FOLLOW_KNOWN) return r;
    return -1;
}

static carom_status put_text(follow_walk *w, long r, const char *format, long row) {
    carom_table *t = &w->f->branch;
    char text[60];
    snprintf(text, sizeof text, format, t->column[0].integer[row]);
    char *more = realloc(t->column[5].text[r], strlen(text) + 1);
    if (!more) return follow_no_memory(w->err);
    t->column[5].text[r] = strcpy(more, text);
    return CAROM_OK;
}

// The last row is a crossing that row `known` has.  What begins there is followed already, or by this branch as it goes
// on; along prongs the other half is followed from their other end.
static carom_status meet_again(follow_walk *w, long known, bool prongs) {
    const long last = w->f->branch.rows - 1;
    bool waits = false;
    for (int i = w->ntasks - 1; i > 0; --i) {
        double *t = follow_task_at(w, i);
        if (t[0] == 0 && t[2] == FOLLOW_CROSS && (long)t[6] == known) waits = true, t[1] = 0;
    }
    if (!(w->def->switches & CAROM_SWITCH_BRANCH) || (waits && !prongs))
        return put_text(w, last, "crosses branch %lld", known);
    for (int i = w->ntasks - 1; i > 0; --i) { // its other half, on which this branch has come
        const double *t = follow_task_at(w, i);
        if (t[0] == 0 && t[2] == FOLLOW_START && (long)t[6] == -2 - known) follow_skip_task(w, i);
    }
    w->joined = true;
    return put_text(w, last, "joins branch %lld", known);
}

// What bifurcates at the event of the last row is followed later.
static carom_status add_switch(follow_walk *w, int branch, const follow_spot *at, int kind) {
    const int wanted = w->def->switches;
    const bool doubles =
        kind == CAROM_DOUBLING && wanted & CAROM_SWITCH_DOUBLING && w->k.doubles && w->k.doubles(w->k.user);
    const bool crosses = kind == CAROM_BRANCH && wanted & CAROM_SWITCH_BRANCH,
               grows = kind == CAROM_PAIR && w->k.pair && wanted & CAROM_SWITCH_HOPF;
    if (!(doubles || crosses || grows) || w->ntasks >= 16) return CAROM_OK;
    CAROM_TRY(follow_add_task(w, 0, w->longest * FOLLOW_FIRST,
                              doubles   ? FOLLOW_DOUBLE
                              : crosses ? FOLLOW_CROSS
                                        : FOLLOW_FROM_HOPF,
                              at->tau));
    if (doubles) follow_task_at(w, w->ntasks - 1)[5] = branch;
    return CAROM_OK;
}

static carom_status add_event(follow_walk *w, int branch, const follow_spot *at, int kind, bool prongs, bool located,
                              double low, double high) {
    char text[60];
    snprintf(text, sizeof text, "%s%s", w->k.test[kind], located ? "" : "?");
    if (w->joined) snprintf(text, sizeof text, "joins branch %d%s", w->parent, located ? "" : "?");
    if (!located) w->low_event = fmin(low, high), w->high_event = fmax(low, high);
    CAROM_TRY(follow_add_row(w, branch, &at->look, text));
    if (!located || w->joined) return CAROM_OK;
    const long known = kind == CAROM_BRANCH ? known_crossing(w) : -1;
    if (known >= 0 && known >= w->f->branch.rows - 3 && w->f->branch.column[0].integer[known] == branch)
        return free(w->f->branch.column[5].text[--w->f->branch.rows]), CAROM_OK; // the branch is still beside it
    return known >= 0 ? meet_again(w, known, prongs) : add_switch(w, branch, at, kind);
}

// The solution at s inside the bracket k, from the nearest one that is known: a, b, or, if `again`, that in *to.
//
// A period and an energy that are free bend the way along a tangent, so that s is missed by the square of its length.
static carom_status solve_inside(follow_walk *w, const follow_spot *a, const follow_spot *b, const carom_bracket *k,
                                 double s, bool again, follow_spot *to) {
    enum { TIMES = 4 };
    carom_status status = CAROM_NOT_CONVERGED;
    if (again && fabs(s - to->s) < fmin(s - a->s, b->s - s)) status = follow_solve_at(w, to, s, to);
    if (status != CAROM_OK && !follow_fatal(status)) status = follow_solve_between(w, a, b, s, to);
    for (int i = 0; i < TIMES && status == CAROM_OK && fabs(to->s - s) > MISSED * (k->b - k->a); ++i)
        status = follow_solve_at(w, to, s, to);
    return status;
}

// Regula falsi (Illinois) on a test, or bisection on the number of unstable eigenvalues (kind CAROM_TESTS).  *to is the
// event.
static carom_status close_in(follow_walk *w, const follow_spot *a, const follow_spot *b, int kind, follow_spot *to,
                             carom_bracket *k, bool *located) {
    static const double part[] = {0, 0.38, 0.62};
    const bool counts = kind == CAROM_TESTS || (kind == CAROM_PAIR && !follow_differs(a, b, CAROM_PAIR));
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
            status = solve_inside(w, a, b, k, round ? k->a + part[round] * (k->b - k->a) : s, i > 0, to);
            if (follow_fatal(status)) return status;
        }
        if (status != CAROM_OK) {
            *located = k->b - k->a < FOLLOW_NOUGHT * width;
            return CAROM_OK;
        }
        s = to->s;
        const double x = counts ? to->look.unstable == before ? -1 : 1 : value_of(to->look.test[kind], reference);
        const bool settled = fabs(s - last) <= SETTLED * width || k->b - k->a <= SETTLED * width;
        const bool near = kind == CAROM_BRANCH && (fabs(x) <= NEARBY * size || k->b - k->a < APART);
        if (settled && kind < CAROM_PAIR && w->wary && w->orbits && fabs(x) > LEAPS * size) w->leapt = true;
        if ((!counts && fabs(x) <= VANISHED * size) || settled || near) return CAROM_OK;
        if (counts && k->b - k->a <= FOLLOW_EXACT * width) return CAROM_OK;
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
// The error of the interpolation is known from polynomials of lower degree; where it is too large, h is shortened.
enum { BESIDE = 4 };
typedef struct beside_crossing {
    double s, h, at[BESIDE];     // at: of each point, in units of h
    double *place, *left, *right;
    carom_signed test[BESIDE];
    double slope[BESIDE];        // of the parameter
} beside_crossing;

// The Lagrange polynomials of the first n points at y, and their slopes.
static void lagrange(const double *at, int n, double y, double *L, double *dL) {
    for (int i = 0; i < n; ++i) {
        L[i] = 1, dL[i] = 0;
        for (int k = 0; k < n; ++k) {
            if (k == i) continue;
            dL[i] = (dL[i] * (y - at[k]) + L[i]) / (at[i] - at[k]), L[i] *= (y - at[k]) / (at[i] - at[k]);
        }
    }
}

// Newton's method on the polynomial through the n points from the first one on, from y.  False: its zero is far away.
static bool zero_of(const double *at, const double *f, int n, double *y) {
    double by = INFINITY;
    for (int round = 0; round < 20 && fabs(by) > SETTLED; ++round) {
        double L[BESIDE], dL[BESIDE], value = 0, slope = 0;
        lagrange(at, n, *y, L, dL);
        for (int i = 0; i < n; ++i) value += L[i] * f[i], slope += dL[i] * f[i];
        by = -value / slope;
        if (!(fabs(*y + by) < 2)) return false;
        *y += by;
    }
    return true;
}

static carom_status look_around(follow_walk *w, const follow_spot *a, const follow_spot *b, beside_crossing *k,
                                follow_spot *to) {
    static const double at[BESIDE] = {-1, 1, -2, 2};
    for (int i = 0; i < BESIDE; ++i) {
        CAROM_TRY(follow_solve_between(w, a, b, k->s + at[i] * k->h, to));
        carom_copy(k->place + (size_t)i * (size_t)w->k.nplace, to->place, w->k.nplace);
        k->test[i] = to->look.test[CAROM_BRANCH], k->at[i] = (to->s - k->s) / k->h;
        k->slope[i] = to->tau[w->k.ntau - 1];
    }
    return CAROM_OK;
}

// The zero y of f at the points; *error: of it, in units of h.  False: it is far away.
static bool cubic_zero(const beside_crossing *k, const double *f, double *y, double *error) {
    double line = *y, parabola;
    bool good = zero_of(k->at, f, 2, &line);
    parabola = line;
    good = good && zero_of(k->at, f, 3, &parabola);
    *y = parabola;
    good = good && zero_of(k->at, f, BESIDE, y);
    const double second = fabs(parabola - line), third = fabs(*y - parabola);
    *error = third * fmin(1, second > 0 ? third / second : 1);
    return good;
}

// That of the test, or of the product of null vectors.
static carom_status interpolated_zero(follow_walk *w, beside_crossing *k, bool products, double *y, double *error) {
    double f[BESIDE], reference = -INFINITY;
    for (int i = 0; i < BESIDE; ++i) reference = fmax(reference, k->test[i].log_size);
    for (int i = 0; i < BESIDE; ++i) {
        f[i] = value_of(k->test[i], reference);
        if (!products) continue;
        CAROM_TRY(w->k.restore(w->k.user, k->place + (size_t)i * (size_t)w->k.nplace));
        CAROM_TRY(w->k.projected(w->k.user, k->left, k->right, &f[i]));
    }
    return cubic_zero(k, f, y, error)
               ? CAROM_OK
               : carom_fail(w->err, CAROM_NOT_CONVERGED, "a crossing of branches cannot be located");
}

// The curve to the interpolated solution at y, from the first point; tau: its tangent there, NULL: not wanted.
static carom_status to_interpolated(follow_walk *w, const beside_crossing *k, double y, double *tau) {
    const int n = w->k.ntau;
    double L[BESIDE], dL[BESIDE];
    lagrange(k->at, BESIDE, y, L, dL);
    carom_zero(w->tau_1, n);
    if (tau) carom_zero(tau, n);
    for (int i = 1; i < BESIDE; ++i) {
        CAROM_TRY(w->k.restore(w->k.user, k->place + (size_t)i * (size_t)w->k.nplace));
        w->k.apart(w->k.user, k->place, w->by);
        carom_axpy(w->tau_1, L[i], w->by, n);
        if (tau) carom_axpy(tau, dL[i], w->by, n);
    }
    const double length = tau ? carom_length(tau, n) : 0;
    for (int i = 0; i < n && length > 0; ++i) tau[i] /= length;
    CAROM_TRY(w->k.restore(w->k.user, k->place));
    CAROM_TRY(w->k.predict(w->k.user, w->tau_1, 1));
    return w->k.linearise(w->k.user);
}

// *turns: the parameter turns back there too, as far as can be told; then it is known well from points that are not
// near, as it changes with the square of the distance.  NULL: not wanted.
static carom_status interpolate(follow_walk *w, const follow_spot *a, const follow_spot *b, double s, follow_spot *to,
                                bool *turns) {
    enum { ROUNDS = 4 };
    const size_t n = (size_t)w->k.ntau, places = BESIDE * (size_t)w->k.nplace;
    double *own = calloc(2 * places + 2 * n + 1, sizeof *own), least = INFINITY, best = 0;
    const double apart = w->orbits ? APART : APART / 10; // equilibria are known to rounding
    beside_crossing k = {.s = s, .h = turns ? apart : fmin(APART, (b->s - a->s) / 8)}, kept = {.h = 0};
    carom_status status = own ? CAROM_OK : follow_no_memory(w->err);
    k.place = own, kept.place = own + places, k.left = own + 2 * places, k.right = k.left + n;
    for (int round = 0; round < (turns ? 1 : ROUNDS) && status == CAROM_OK; ++round) {
        double y = 0, error = INFINITY;
        status = look_around(w, a, b, &k, to);
        if (status == CAROM_OK) status = interpolated_zero(w, &k, false, &y, &error);
        if (status == CAROM_OK && w->k.critical) {
            status = to_interpolated(w, &k, y, NULL);
            if (status == CAROM_OK && w->k.critical(w->k.user, w->tau, k.left, k.right))
                status = interpolated_zero(w, &k, true, &y, &error);
        }
        // farther away than the error before allows: the points are now too near for their own errors
        if (status != CAROM_OK || (kept.h > 0 && fabs(k.s + y * k.h - kept.s - best * kept.h) > TRUSTED * least)) break;
        if (k.h * error < least) {
            double *place = kept.place;
            least = k.h * error, best = y;
            kept = k, kept.place = k.place, k.place = place;
        }
        // of the parameter, in units of its range
        if (least < LOCATED * fmax(fabs(a->place[0]) / w->size, b->s - a->s)) break;
        k.s += y * k.h, k.h /= 4;
    }
    double *tau = turns && own ? own + 2 * places : NULL; // in place of the null vectors
    if (turns) {
        double y = best, error = INFINITY;
        *turns = kept.h > 0 && cubic_zero(&kept, kept.slope, &y, &error) &&
                 kept.h * (fabs(y - best) + error) + least < FOLLOW_KNOWN;
    }
    if (!follow_fatal(status) && kept.h > 0) status = to_interpolated(w, &kept, best, tau);
    if (status == CAROM_OK) status = follow_look_at(w, to);
    if (status == CAROM_SINGULAR) status = CAROM_OK;
    if (status == CAROM_OK && tau) carom_copy(to->tau, tau, w->k.ntau);
    free(own);
    return status;
}

static double zero_between(const follow_spot *tried, carom_bracket *k) {
    return tried->look.test[CAROM_BRANCH].sign == 0 || !(k->b > k->a) ? tried->s : carom_bracket_next(k);
}

// The cosine of the angle between a direction and the way from the crossing, where the curve stands, to a spot.
static double along(follow_walk *w, const follow_spot *to, const double *direction) {
    w->k.apart(w->k.user, to->place, w->by);
    return fabs(carom_dot(w->by, direction, w->k.ntau)) / fmax(carom_length(w->by, w->k.ntau), CAROM_NOT_ZERO);
}

// (FOL-7)  From the curve's place to the crossing, which lies between a and b; to->tau: the branch that was followed.
//          *kink: a lies on one branch and b on the other.
static carom_status cross_between(follow_walk *w, const follow_spot *a, const follow_spot *b, follow_spot *to,
                                  bool *kink) {
    const int n = w->k.ntau;
    double *first = malloc(2 * (size_t)n * sizeof *first), *second = first + n;
    if (!first) return follow_no_memory(w->err);
    *kink = false;
    carom_status status = follow_cross_exactly(w, w->tau, first, second);
    if (status == CAROM_OK) status = follow_look_at(w, to);
    if (status == CAROM_SINGULAR) status = CAROM_OK;
    if (status == CAROM_OK && !(to->s > a->s - (b->s - a->s) && to->s < b->s + (b->s - a->s)))
        status = carom_fail(w->err, CAROM_NOT_CONVERGED, "a crossing of branches cannot be located");
    if (status == CAROM_OK) {
        const double on_a = along(w, a, first) - along(w, a, second), on_b = along(w, b, first) - along(w, b, second),
                     *own = on_a + on_b > 0 ? first : second, sense = carom_dot(own, w->tau, n) < 0 ? -1 : 1;
        *kink = on_a * on_b < 0;
        for (int i = 0; i < n; ++i) to->tau[i] = sense * own[i];
    }
    free(first);
    return status;
}

// At a fold the equations bordered by the tangent are regular.  Where they are not, a crossing may be as near, and if a
// lies on one of its branches and b on the other, the parameter only seems to turn back: w->leapt.
static carom_status not_a_kink(follow_walk *w, const follow_spot *a, const follow_spot *b, follow_spot *to) {
    const carom_signed x = a->look.test[CAROM_BRANCH], y = to->look.test[CAROM_BRANCH], z = b->look.test[CAROM_BRANCH];
    if (y.sign != 0 && y.log_size > fmin(x.log_size, z.log_size) + log(NEARBY)) return CAROM_OK;
    const carom_error before = *w->err;
    double *place = malloc((size_t)w->k.nplace * sizeof *place);
    if (!place) return follow_no_memory(w->err);
    carom_copy(place, to->place, w->k.nplace);
    carom_status status = cross_between(w, a, b, to, &w->leapt);
    w->leapt = w->leapt && status == CAROM_OK;
    if (!w->leapt && !follow_fatal(status)) {
        *w->err = before;
        status = w->k.restore(w->k.user, place);
        if (status == CAROM_OK) status = w->k.linearise(w->k.user);
        if (status == CAROM_OK) status = follow_look_at(w, to);
        if (status == CAROM_SINGULAR) status = CAROM_OK;
    }
    free(place);
    return status;
}

carom_status follow_locate(follow_walk *w, int branch, const follow_spot *a, const follow_spot *b, int kind) {
    follow_spot *to = &w->spot[FOLLOW_TRIED];
    carom_bracket k;
    bool located = true;
    if (w->k.precise) CAROM_TRY(w->k.precise(w->k.user, true));
    w->locating = true;
    carom_status status = close_in(w, a, b, kind, to, &k, &located);
    if (status == CAROM_OK && located && !w->leapt && kind == CAROM_FOLD && w->orbits && w->wary)
        status = not_a_kink(w, a, b, to);
    if (status == CAROM_OK && w->leapt) {
        w->locating = false;
        return w->k.precise ? w->k.precise(w->k.user, false) : CAROM_OK;
    }
    if (kind == CAROM_TESTS && status == CAROM_OK)
        kind = kind_of(w, &to->look, (b->look.unstable - a->look.unstable) % 2 != 0);
    if (status == CAROM_OK && located && kind == CAROM_BRANCH) {
        bool kink;
        status = w->orbits ? cross_between(w, a, b, to, &kink) : CAROM_NOT_CONVERGED;
        if (status != CAROM_OK && !follow_fatal(status))
            status = interpolate(w, a, b, zero_between(to, &k), to, NULL);
        if (status != CAROM_OK && !follow_fatal(status)) status = CAROM_OK, located = false;
    }
    w->locating = false;
    if (status == CAROM_OK && !located && w->wary && w->orbits && w->spot[FOLLOW_THERE].s > SHORT_ENOUGH) {
        w->leapt = true; // from nearer by it may be
        return w->k.precise ? w->k.precise(w->k.user, false) : CAROM_OK;
    }
    if (status == CAROM_OK && !located) { // the last point before it that was found
        status = w->k.restore(w->k.user, a->place);
        if (status == CAROM_OK) status = w->k.linearise(w->k.user);
        if (status == CAROM_OK) status = follow_look_at(w, to);
        if (status == CAROM_SINGULAR) status = CAROM_OK;
    }
    const double there = (b->place[0] - a->place[0]) / (b->s - a->s);
    if (status == CAROM_OK)
        status = add_event(w, branch, to, kind, false, located,
                           a->place[0] + (k.a - a->s) * there, a->place[0] + (k.b - a->s) * there);
    if (w->k.precise && !follow_fatal(status)) CAROM_TRY(w->k.precise(w->k.user, false));
    return status;
}

// A branch that comes back to a crossing turns round there: does it go through one that is in the table between the
// last row and b?
static carom_status comes_back(follow_walk *w, int branch, const follow_spot *b, bool *back) {
    carom_table *t = &w->f->branch;
    *back = false;
    if (!(w->def->switches & CAROM_SWITCH_BRANCH) || t->rows == 0) return CAROM_OK;
    const long here = t->rows - 1;
    CAROM_TRY(w->k.restore(w->k.user, b->place));
    CAROM_TRY(w->k.linearise(w->k.user));
    CAROM_TRY(follow_add_row(w, branch, &b->look, "")); // for now
    long found = -1;
    for (long r = 0; r < here && found < 0; ++r)
        if (is_crossing(w, r) && between_rows(w, r, here) < 2 * between_rows(w, here + 1, here) + FOLLOW_KNOWN)
            found = r;
    if (found >= 0) {
        CAROM_TRY(put_text(w, here + 1, "joins branch %lld", found));
        for (int i = 1; i < t->columns; ++i) // it ends there
            if (t->column[i].kind == CAROM_COLUMN_REAL && i != 4)
                t->column[i].real[here + 1] = t->column[i].real[found];
        *back = w->joined = true;
        return CAROM_OK;
    }
    free(t->column[5].text[--t->rows]);
    return CAROM_OK;
}

// The one event between two solutions is a crossing of branches; along the prongs of a pitchfork the parameter turns
// back as well.  Both are then located together, as near to it solutions are not known well enough to tell them apart.
static bool may_be_crossing(const follow_spot *a, const follow_spot *b) {
    int which;
    return follow_differs(a, b, CAROM_BRANCH) && abs(b->look.unstable - a->look.unstable) <= 1 &&
           changes(a, b, &which) == 1 + follow_differs(a, b, CAROM_FOLD);
}

// *one: the crossing is in the table, and there is no other event.  *good false: a and b lie on two branches.
static carom_status at_crossing(follow_walk *w, int branch, const follow_spot *a, follow_spot *b, bool *one,
                                bool *good) {
    follow_spot *to = &w->spot[FOLLOW_TRIED];
    const bool prongs = follow_differs(a, b, CAROM_FOLD);
    *one = false;
    if (!may_be_crossing(a, b) || !(prongs || w->orbits)) return CAROM_OK;
    carom_bracket k;
    bool turns = false, kink = false;
    if (w->k.precise) CAROM_TRY(w->k.precise(w->k.user, true));
    w->locating = true;
    carom_status status = close_in(w, a, b, CAROM_BRANCH, to, &k, one);
    if (status == CAROM_OK && *one && w->orbits) {
        status = cross_between(w, a, b, to, &kink);
        turns = fabs(to->tau[w->k.ntau - 1]) < FOLLOW_KNOWN;
    } else if (status == CAROM_OK && *one)
        status = interpolate(w, a, b, zero_between(to, &k), to, &turns);
    w->locating = false;
    *one = *one && status == CAROM_OK && (turns || !prongs) && !kink;
    *good = !(kink && w->wary) && !w->leapt;
    *one = *one && *good;
    if (*one) {
        status = w->k.restore(w->k.user, to->place);
        if (status == CAROM_OK) status = w->k.linearise(w->k.user);
        if (status == CAROM_OK) status = add_event(w, branch, to, CAROM_BRANCH, turns, true, 0, 0);
        if (turns && !prongs) // b is so near that its tangent does not tell
            b->look.test[CAROM_FOLD].sign = -a->look.test[CAROM_FOLD].sign;
    } else if (!follow_fatal(status)) {
        status = CAROM_OK;
    }
    if (w->k.precise && !follow_fatal(status)) CAROM_TRY(w->k.precise(w->k.user, false));
    return status;
}

// All events between two solutions: halved until each part has one.
static carom_status find_events(follow_walk *w, int branch, const follow_spot *a, follow_spot *b, int depth) {
    int which = CAROM_TESTS;
    const int n = changes(a, b, &which), more = abs(b->look.unstable - a->look.unstable);
    if (n == 0 && more == 0) return CAROM_OK;
    const bool pair = n == 0 && more == 2;
    if ((n == 1 && more <= 1) || pair) return follow_locate(w, branch, a, b, pair ? CAROM_PAIR : which);
    if (n == 0 && more == 1) return follow_locate(w, branch, a, b, CAROM_TESTS); // a test has no sign here
    if (follow_differs(a, b, CAROM_FOLD) && follow_differs(a, b, CAROM_BRANCH)) {
        bool back = false, good = true;
        CAROM_TRY(comes_back(w, branch, b, &back));
        if (!back && b->s - a->s > APART) CAROM_TRY(at_crossing(w, branch, a, b, &back, &good));
        if (back) return CAROM_OK;
    }
    enum { DEEPEST = 36 }; // halvings: 1.5e-11 of a step
    double *place = malloc(((size_t)w->k.nplace + (size_t)w->k.ntau + 2 * (size_t)w->k.neig + 1) * sizeof *place);
    if (!place) return follow_no_memory(w->err);
    follow_spot mid = {.place = place, .tau = place + w->k.nplace};
    mid.look.re = mid.tau + w->k.ntau, mid.look.im = mid.look.re + w->k.neig;
    carom_status status =
        depth < DEEPEST ? follow_solve_between(w, a, b, (a->s + b->s) / 2, &mid) : CAROM_NOT_CONVERGED;
    if (status == CAROM_OK) {
        status = find_events(w, branch, a, &mid, depth + 1);
        if (status == CAROM_OK && !w->joined && !w->leapt) status = find_events(w, branch, &mid, b, depth + 1);
    } else if (!follow_fatal(status)) { // they cannot be told apart
        status = CAROM_OK;
        for (int k = CAROM_FOLD; k < CAROM_PAIR && status == CAROM_OK && !w->leapt; ++k)
            if (follow_differs(a, b, k)) status = follow_locate(w, branch, a, b, k);
        if (status == CAROM_OK && more > n && !w->leapt) status = follow_locate(w, branch, a, b, CAROM_PAIR);
    }
    free(place);
    return status;
}

// Through values at -h, 0 and d: how far the parabola leaves the chord between the last two.
static double bulge(double f_h, double f_0, double f_d, double h, double d) {
    const double curvature = ((f_d - f_0) / d - (f_0 - f_h) / h) / (d + h);
    return fabs(curvature) * d * d / 4;
}

// Do the last two values of the test of crossings lead to zero in this step?
static bool nears_crossing(const follow_walk *w, const follow_spot *a, const follow_spot *b) {
    const carom_signed x = w->last[CAROM_BRANCH], y = a->look.test[CAROM_BRANCH];
    if (!(w->before > 0) || x.sign == 0 || x.sign != y.sign) return false;
    const double f_0 = exp(fmin(y.log_size - x.log_size, 300));
    return f_0 + (f_0 - 1) / w->before * b->s < 0;
}

// May a test vanish twice between two points that have the same sign of it?
static bool may_hide(const follow_walk *w, const follow_spot *a, const follow_spot *b) {
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
static bool leads_there(follow_walk *w, const follow_spot *a, const follow_spot *b, const follow_spot *mid) {
    const int n = w->k.ntau;
    double off = 0, whole = 0;
    w->k.restore(w->k.user, b->place), w->k.apart(w->k.user, a->place, w->by);
    for (int i = 0; i < n; ++i)
        w->tau_1[i] = w->by[i] / 2 + b->s / 8 * (a->tau[i] - b->tau[i]), whole += w->by[i] * w->by[i];
    w->k.restore(w->k.user, mid->place), w->k.apart(w->k.user, a->place, w->by);
    for (int i = 0; i < n; ++i) off += pow(w->by[i] - w->tau_1[i], 2);
    return off <= FOLLOW_ASTRAY * FOLLOW_ASTRAY * whole;
}

// Where the parabola through three values of a test is nearest to zero, if that lies between them and may be beyond it.
// below: of the values at the ends.
static bool lowest(const follow_spot *a, const follow_spot *m, const follow_spot *b, int k, double below, double *s) {
    const carom_signed x = a->look.test[k], y = m->look.test[k], z = b->look.test[k];
    if (x.sign == 0 || y.sign != x.sign || z.sign != x.sign) return false;
    const double reference = fmax(x.log_size, fmax(y.log_size, z.log_size)), f = value_of(x, reference),
                 g = value_of(y, reference), h = value_of(z, reference);
    const double p = m->s - a->s, q = b->s - a->s, c = ((h - f) / q - (g - f) / p) / (q - p), l = (g - f) / p - c * p,
                 at = -l / (2 * c);
    *s = a->s + at;
    // inside: at an end the next piece finds it
    return x.sign * c > 0 && at > 0.02 * q && at < 0.98 * q &&
           x.sign * (f + at * (l + c * at)) < below * fmin(fabs(f), fabs(h));
}

// Where the test of crossings comes near to zero and turns back: if there is a crossing, the step has gone from one
// branch to another, as on one branch the test changes its sign there.
static carom_status jumps(follow_walk *w, const follow_spot *a, const follow_spot *b, const follow_spot *mid,
                          bool *kink) {
    const carom_error before = *w->err;
    follow_spot *to = &w->spot[FOLLOW_TRIED];
    if (w->k.precise) CAROM_TRY(w->k.precise(w->k.user, true));
    carom_status status = w->k.restore(w->k.user, mid->place);
    if (status == CAROM_OK) status = cross_between(w, a, b, to, kink);
    w->k.apart(w->k.user, mid->place, w->by);
    *kink = status == CAROM_OK && to->s > a->s && to->s < b->s && carom_length(w->by, w->k.ntau) < b->s;
    if (follow_fatal(status)) return status;
    *w->err = before;
    return w->k.precise ? w->k.precise(w->k.user, false) : CAROM_OK;
}

static carom_status smooth_events(follow_walk *w, int branch, bool *good) {
    follow_spot *a = &w->spot[FOLLOW_HERE], *b = &w->spot[FOLLOW_THERE], *mid = &w->spot[FOLLOW_MIDDLE],
                *low = &w->spot[FOLLOW_LOWEST];
    int which;
    *good = true;
    w->strayed = false;
    const bool change = changes(a, b, &which) > 0 || a->look.unstable != b->look.unstable;
    const bool nears = w->orbits && nears_crossing(w, a, b);
    if (!change && w->before > 0 && !nears && !may_hide(w, a, b)) return CAROM_OK;
    carom_status status = follow_solve_between(w, a, b, b->s / 2, mid);
    if (follow_fatal(status)) return status;
    if (status != CAROM_OK) return change ? find_events(w, branch, a, b, 0) : CAROM_OK;
    *good = leads_there(w, a, b, mid);
    if (!*good) return CAROM_OK;
    double s = 0;
    bool more = false, kink = false;
    const bool quiet = !change && changes(a, mid, &which) == 0;
    if (quiet && w->wary && w->orbits && (nears || lowest(a, mid, b, CAROM_BRANCH, 0.95, &s)))
        CAROM_TRY(jumps(w, a, b, mid, &kink));
    *good = !kink;
    if (kink) return CAROM_OK;
    for (int k = CAROM_FOLD; k < CAROM_TESTS && !more && quiet; ++k) more = lowest(a, mid, b, k, 0.5, &s);
    if (more) status = follow_solve_between(w, a, b, s, low);
    if (follow_fatal(status)) return status;
    if (more && status == CAROM_OK) mid = low;
    bool one = false;
    CAROM_TRY(at_crossing(w, branch, a, b, &one, good));
    if (one || !*good) return CAROM_OK;
    CAROM_TRY(find_events(w, branch, a, mid, 0));
    return w->joined || w->leapt ? CAROM_OK : find_events(w, branch, mid, b, 0);
}

carom_status follow_smooth_events(follow_walk *w, int branch, bool *good) {
    w->leapt = false;
    CAROM_TRY(smooth_events(w, branch, good));
    if (!w->leapt) return CAROM_OK;
    follow_forget_unfinished(w);
    return *good = w->joined = false, CAROM_OK;
}
