// follow_ends.c: ends of branches: those that close, orbits that shrink to an equilibrium, and periods without bound.
#include "dynamics/endless.h"
#include "dynamics/follow.h"
#include "dynamics/vanish.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// (HOP-3)  of the widest orbit of the branch: it may vanish in the next step; amplitudes there, in typical sizes
static const double SHRUNK = 0.3, SMALL_ORBIT = 0.02;
static const double LINGERS = 0.05, LONGER = 1.5; // (END-1)  of its largest rate: so slow is an orbit beside an
                                                  // equilibrium; of the shortest period: it has grown
static const double DEEP = 1e-3;    // of its largest rate: an orbit that is as near to an equilibrium as makes sense
static const double SPACED = 0.012; // of the period: points that tell it are so far apart
static const double NEARLY = 1e-8, ENOUGH = 2e-7; // of the range: a limit that is known; where more points do not help

// -- branches that close ----------------------------------------------------------------------------------------------

// The first row of a branch, whose rows are the last ones.
static long first_row(const follow_walk *w, int branch) {
    const carom_table *t = &w->f->branch;
    long r = t->rows;
    while (r > 0 && t->column[0].integer[r - 1] == branch) --r;
    return r;
}

// Is the solution of row r that where the curve stands?  Phases of orbits with a period of their own may differ: then
// the period and the range of every coordinate tell, else the state.
static carom_status is_row(follow_walk *w, long r, long last, bool *alike) {
    const carom_table *t = &w->f->branch;
    const bool timeless = w->orbits && w->k.slowest && isfinite(w->k.slowest(w->k.user));
    double period;
    int at = FOLLOW_COLUMNS;
    CAROM_TRY(w->k.row(w->k.user, &period, w->x, w->least, w->most));
    *alike = fabs(period - t->column[2].real[r]) <= FOLLOW_KNOWN * fabs(period);
    for (int part = 0; part < 4; ++part) {
        const double *from = part < 2 ? w->x + (part ? w->nq : 0) : part == 2 ? w->least : w->most;
        for (int i = 0; i < (part == 1 ? w->nv : w->nq); ++i) {
            if (!(part == 1 ? follow_shown_v(w, i) : follow_shown(w, i))) continue;
            const double *x = t->column[at++].real;
            double low = x[r], high = x[r];
            for (long k = r; k <= last; ++k) low = fmin(low, x[k]), high = fmax(high, x[k]);
            if (!(part < 2 && timeless) && fabs(from[i] - x[r]) > FOLLOW_KNOWN * (high - low)) *alike = false;
        }
    }
    return CAROM_OK;
}

carom_status follow_closes(follow_walk *w, int branch, bool *closed) {
    const carom_table *t = &w->f->branch;
    const long r = first_row(w, branch), last = t->rows - 1;
    const double from = w->place[0], to = follow_value_now(w);
    *closed = false;
    if (last - r < 3) return CAROM_OK;
    const double first = t->column[1].real[r], way = t->column[1].real[r + 1] - first;
    if (!(from != first && (from - first) * (to - first) <= 0 && (to - from) * way > 0)) return CAROM_OK;
    int iterations;
    double *there = malloc((size_t)w->k.nplace * sizeof *there);
    if (!there) return follow_no_memory(w->err);
    const carom_error before = *w->err;
    w->k.save(w->k.user, there);
    carom_zero(w->tau_1, w->k.ntau);
    w->tau_1[w->k.ntau - 1] = 1;
    carom_status status = w->k.predict(w->k.user, w->tau_1, (first - to) / w->size);
    if (status == CAROM_OK) status = w->k.correct(w->k.user, NULL, &iterations);
    if (status == CAROM_OK && w->k.same(w->k.user)) status = is_row(w, r, last, closed);
    if (!follow_fatal(status) && !*closed) {
        *w->err = before;
        status = w->k.restore(w->k.user, there);
        if (status == CAROM_OK) status = w->k.linearise(w->k.user);
    }
    free(there);
    return status;
}

// -- orbits that shrink to an equilibrium -----------------------------------------------------------------------------
//
// Beside a Hopf point the parameter, the period and the centre of orbits are functions of the square of the amplitude
// a, half the way across: they are interpolated at four amplitudes and continued to a = 0.  Of small orbits
//
//     log(mu)/T = Re c1 r^2/2  (HOP-3)
//
// with mu the multiplier that becomes 1.

enum { AMPLITUDES = 4 }; // chosen: errors of eighth order in a, from four orbits

static double nearest_to_one(const carom_curve_look *l) {
    double best = INFINITY;
    for (int i = 0; i < l->n; ++i)
        if (fabs(l->re[i] - 1) < fabs(best - 1) && l->im[i] == 0) best = l->re[i];
    return best;
}

// The row of the same Hopf point, if it is in the table as an event of equilibria; -1: it is not.
static long known_hopf(const follow_walk *w, double value) {
    const carom_table *t = &w->f->branch;
    for (long r = 0; r < t->rows; ++r)
        if (strncmp(t->column[5].text[r], "hopf", 4) == 0 && t->column[2].real[r] == 0 &&
            fabs(t->column[1].real[r] - value) < FOLLOW_KNOWN * w->size)
            return r;
    return -1;
}

// Orbits from a Hopf point that is reached from its other side are known.
static void forget_grown(follow_walk *w, long row) {
    for (int i = w->ntasks - 1; i > 0; --i) {
        const double *t = follow_task_at(w, i);
        if (t[2] != FOLLOW_FROM_HOPF || t[0] > 0 || (long)t[6] != row) continue;
        follow_skip_task(w, i);
    }
}

// The last row becomes that of the equilibrium: x is the centre, nq + nv numbers.
static carom_status put_hopf(follow_walk *w, double value, double period, const double *x, double c1) {
    carom_table *t = &w->f->branch;
    const long r = t->rows - 1, known = known_hopf(w, value);
    char text[60] = "hopf";
    t->column[1].real[r] = w->f->value = value, t->column[2].real[r] = period;
    t->column[3].integer[r] = 0, t->column[4].real[r] = w->def->period ? 1 : 0;
    int at = FOLLOW_COLUMNS;
    for (int i = 0; i < w->nq + w->nv; ++i)
        if (follow_shown(w, i < w->nq ? i : i - w->nq)) t->column[at++].real[r] = i < w->nq ? x[i] : 0;
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < w->nq; ++i)
            if (follow_shown(w, i)) t->column[at++].real[r] = x[i];
    at += 2 * w->neig;
    t->column[at].real[r] = t->column[at + 1].real[r] = value;
    if (known >= 0) {
        snprintf(text, sizeof text, "joins branch %lld", t->column[0].integer[known]);
        forget_grown(w, known);
        if (!strchr(t->column[5].text[known], '(')) CAROM_TRY(follow_amend(w, (double)known, follow_word_of(-c1), c1));
    }
    char *more = realloc(t->column[5].text[r], strlen(text) + 1);
    if (!more) return follow_no_memory(w->err);
    t->column[5].text[r] = strcpy(more, text);
    return known >= 0 ? CAROM_OK : follow_amend(w, (double)r, follow_word_of(-c1), c1);
}

carom_status follow_vanishes(follow_walk *w, int branch, const follow_spot *a, const follow_spot *b, bool *vanished) {
    const int n = w->k.ntau, nx = w->nq + w->nv;
    follow_spot *to = &w->spot[FOLLOW_TRIED];
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
    if (!x) return follow_no_memory(w->err);
    carom_status status = w->k.precise(w->k.user, true);
    for (int i = 0; i < AMPLITUDES && status == CAROM_OK; ++i) {
        status = follow_solve_at(w, i == 0 ? a : to, zero - zero / here * by * (AMPLITUDES - i), to);
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
    if (status == CAROM_OK) status = follow_add_row(w, branch, &to->look, "");
    if (status == CAROM_OK) {
        for (int k = 0; k < nx; ++k) {
            double y[AMPLITUDES];
            for (int i = 0; i < AMPLITUDES; ++i) y[i] = centre[i * nx + k];
            x[k] = carom_value_at_zero(square, y, AMPLITUDES);
        }
        const double p = carom_value_at_zero(square, value, AMPLITUDES),
                     T = carom_value_at_zero(square, period, AMPLITUDES);
        status = put_hopf(w, p, T, x, carom_value_at_zero(square, c1, AMPLITUDES));
    }
    free(x);
    const carom_status off = w->k.precise(w->k.user, false);
    *vanished = status == CAROM_OK;
    return follow_fatal(status) ? status : off;
}

bool follow_has_shrunk(const follow_walk *w, int branch) {
    const carom_table *t = &w->f->branch;
    const double now = w->orbits && w->k.width ? w->k.width(w->k.user) : INFINITY;
    const int least = FOLLOW_COLUMNS + w->nq + w->nv - 2 * w->hidden, most = least + w->nq - w->hidden;
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

// -- periods without bound ------------------------------------------------------------------------------------------

bool follow_lingers(const follow_walk *w) { return w->orbits && w->k.slowest && w->k.slowest(w->k.user) < LINGERS; }

// (END-1)  Through the last points whose periods are far enough apart.
carom_status follow_look_for_end(follow_walk *w, int branch, bool sure, bool *ended) {
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
    const double size = fmax(w->size, fabs(limit.value));
    if (!(known || told || ((deep || sure) && limit.error <= FOLLOW_FELT * size))) return CAROM_OK;
    w->low_event = limit.value - limit.error, w->high_event = limit.value + limit.error;
    CAROM_TRY(follow_add_row(w, branch, &w->spot[FOLLOW_HERE].look,
                             limit.saddle_node ? "saddle-node homoclinic" : "homoclinic"));
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
    follow_note_end(w, branch, &why);
    *ended = true;
    return CAROM_OK;
}
