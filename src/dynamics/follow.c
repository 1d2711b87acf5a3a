// follow.c: pseudo-arclength continuation of orbits and states of rest.
//
//     u_1 = u + ds tau,  F(u_1 + du) = 0,  tau du = 0  (FOL-1)
//
// with u the solution and the parameter, tau the tangent.  Where a number of eigenvalues beyond a border of stability
// changes, where the parameter turns back, and where contacts do something else, the point is located between the two
// sides of it.
#include "base/missing.h"
#include "dynamics/follow.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// chosen: up to so many iterations, and beyond so many, steps change by sqrt(2)
enum { FEW = 6, MANY = 12 };
static const double LONGER = 1.4, SHORTER = 0.7;
static const double STRAIGHT = 0.02; // turn of the chord against the tangents, for which steps may grow
static const double ROUNDED = 1e-13; // of the range: a value on its edge
static const double ARRIVED = 1e-12; // of a step: the edge of the range
static const double CROWDED = 1e-3;   // steps beside a period without bound, where disturbances grow too much to go on
static const double NEAR_BORDER = 1.2, TURN = 0.5236, GROW = 1; // of multipliers near their border, in logarithms: how
                                                                // far they may turn and grow in a step

// -- a branch --------------------------------------------------------------------------------------------------------

// *known: there is nothing to follow.
static carom_status begin_task(follow_walk *w, double *t, bool *known) {
    int iterations;
    *known = false;
    follow_choose(w, t[7] != 0);
    CAROM_TRY(w->k.restore(w->k.user, t + w->head + 2 * w->k.ntau));
    carom_copy(w->tau, t + w->head, w->k.ntau), carom_copy(w->bend, t + w->head + w->k.ntau, w->k.ntau);
    w->failures = (int)t[3], w->before = t[4], w->parent = (int)t[5];
    follow_get_tests(t + FOLLOW_TASK, w->last);
    if (t[0] > 0) { // it goes on
        CAROM_TRY(w->k.linearise(w->k.user));
        follow_get_look(w, t + FOLLOW_FIXED, &w->spot[FOLLOW_HERE].look);
        return w->k.keep(w->k.user, w->tau);
    }
    const follow_kind what = (follow_kind)t[2];
    if (what == FOLLOW_DOUBLE) CAROM_TRY(follow_begin_doubled(w, t));
    else if (what == FOLLOW_CROSS) CAROM_TRY(follow_begin_crossing(w, t, known));
    else if (what == FOLLOW_FROM_HOPF) CAROM_TRY(follow_begin_grown(w, t));
    else if (what == FOLLOW_GO_ON) CAROM_TRY(w->k.correct(w->k.user, NULL, &iterations));
    else CAROM_TRY(w->k.linearise(w->k.user));
    if (*known) return CAROM_OK;
    t = w->task; // others may have been added
    if (what != FOLLOW_DOUBLE) CAROM_TRY(follow_turn_forward(w));
    CAROM_TRY(follow_stand(w));
    CAROM_TRY(w->k.keep(w->k.user, w->tau));
    CAROM_TRY(follow_add_row(w, w->f->branches + 1, &w->spot[FOLLOW_HERE].look, ""));
    t[0] = ++w->f->branches, t[2] = FOLLOW_GO_ON;
    return follow_accept(w, t, t[1]);
}

// The longest step here: that which was asked for, of the parameter, and of states in units of the solution, which may
// have grown; along a straight branch more, unless a step was asked for.
static double longest(follow_walk *w) {
    const double part = fabs(w->tau[w->k.ntau - 1]), most = w->longest * w->k.extent(w->k.user),
                 // chosen: five times as long where the branch bends by less than 0.02 over it
                 far = w->def->step > 0 ? most : 5 * most,
                 step = carom_length(w->bend, w->k.ntau) * far < 0.02 ? far : most;
    return part * step > w->longest ? w->longest / part : step;
}

// To the edge of the parameter's range, where the branch leaves it.
static carom_status to_edge(follow_walk *w, double sigma, double edge) {
    int iterations;
    CAROM_TRY(w->k.restore(w->k.user, w->place));
    CAROM_TRY(w->k.predict(w->k.user, w->tau, sigma));
    carom_zero(w->tau_1, w->k.ntau);
    w->tau_1[w->k.ntau - 1] = 1;
    CAROM_TRY(w->k.predict(w->k.user, w->tau_1, (edge - follow_value_now(w)) / w->size));
    return w->k.correct(w->k.user, NULL, &iterations);
}

// The turn of the chord against the mean of the tangents at both ends: of a smooth branch it is of the second order.
static double turn_of(follow_walk *w, const follow_spot *b) {
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
static bool too_far(follow_walk *w, const carom_curve_look *a, const carom_curve_look *b) {
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

// The end of a step: is it a good one?  Its events are then in the table, and the curve stands there.  *turn: of the
// chord.
static carom_status arrive(follow_walk *w, int branch, double step, bool *good, double *turn) {
    follow_spot *b = &w->spot[FOLLOW_THERE];
    const carom_status status = follow_look_at(w, b);
    if (status != CAROM_OK && status != CAROM_SINGULAR) return status;
    w->wary = w->leapt = false;
    *turn = turn_of(w, b);
    *good = carom_dot(w->tau, b->tau, w->k.ntau) > 0.5 || step < FOLLOW_SHORT;
    if (step > FOLLOW_SHORT)
        *good = *good && *turn < FOLLOW_ASTRAY && !too_far(w, &w->spot[FOLLOW_HERE].look, &b->look);
    if (!*good) return CAROM_OK;
    // both halves of a doubled orbit change places: between these points it was that of half the period, where the
    // branch turns round
    if (w->parent > 0) {
        w->k.half(w->k.user, w->half_1);
        w->joined = carom_dot(w->half, w->half_1, w->k.ntau) < 0;
        if (w->joined)
            return *good = true,
                   follow_locate(w, branch, &w->spot[FOLLOW_HERE], b,
                                 follow_differs(&w->spot[FOLLOW_HERE], b, CAROM_FOLD) ? CAROM_FOLD : CAROM_TESTS);
    }
    if (follow_has_shrunk(w, branch)) {
        CAROM_TRY(follow_vanishes(w, branch, &w->spot[FOLLOW_HERE], b, &w->joined));
        if (w->joined) return CAROM_OK;
        CAROM_TRY(w->k.restore(w->k.user, b->place));
        CAROM_TRY(w->k.linearise(w->k.user));
    }
    w->wary = step >= FOLLOW_SHORT;
    CAROM_TRY(follow_smooth_events(w, branch, good));
    if (!*good && !w->wary) *good = true;
    if (!w->strayed || !*good) return CAROM_OK;
    CAROM_TRY(w->k.restore(w->k.user, b->place));
    return w->k.linearise(w->k.user);
}

// From the last point to the next, ds away, or to the edge of the range.
static carom_status step_ahead(follow_walk *w, double *ds, double *edge, int *iterations) {
    const int last = w->k.ntau - 1;
    const double from = w->place[0], slope = w->tau[last] * w->size, to = from + *ds * slope;
    *edge = to > w->high ? w->high : to < w->low ? w->low : NAN;
    if (!isnan(*edge)) *ds = fabs(slope) > 0 ? fmax(0, (*edge - from) / slope) : *ds;
    if (!isnan(*edge) && *ds < ARRIVED) return CAROM_OK; // it is there
    CAROM_TRY(isnan(*edge) ? follow_go(w, w->place, w->tau, *ds, iterations) : to_edge(w, *ds, *edge));
    const double there = follow_value_now(w);
    if (!isnan(*edge) || (there <= w->high && there >= w->low)) return CAROM_OK;
    *edge = there > w->high ? w->high : w->low; // it bends over the edge
    *ds *= (*edge - from) / (there - from);
    return to_edge(w, *ds, *edge);
}

// The way back from the first point of a branch that has closed is known.
static void skip_backwards(follow_walk *w) {
    for (int i = w->ntasks - 1; i > 0; --i) {
        const double *t = follow_task_at(w, i);
        if (t[0] == 0 && t[2] == FOLLOW_GO_ON) follow_skip_task(w, i);
    }
}

// Back at the last point.  It may touch a contact by less than a run shows: then a little before it.
static carom_status stand_again(follow_walk *w) {
    static const double BACK[] = {1e-6, 1e-5, 1e-4}; // of the way, in units of the curve
    enum { TIMES = sizeof BACK / sizeof *BACK };
    int iterations;
    CAROM_TRY(w->k.restore(w->k.user, w->place));
    carom_status status = w->k.linearise(w->k.user);
    for (int i = 0; i < TIMES && status != CAROM_OK && !follow_fatal(status); ++i) {
        status = follow_go(w, w->place, w->tau, -BACK[i], &iterations);
        if (status == CAROM_OK) status = w->k.linearise(w->k.user);
        if (status == CAROM_OK) return follow_stand(w);
    }
    return status;
}

// *more: as many points as are wanted were found before its end.
static carom_status march(follow_walk *w, double *t, bool *more) {
    const int most = w->def->max_points > 0 ? w->def->max_points : 2000, last = w->k.ntau - 1;
    bool known;
    CAROM_TRY(begin_task(w, t, &known));
    if (known) return CAROM_OK;
    if (w->parent > 0) w->k.half(w->k.user, w->half);
    double step = w->task[1];
    while (w->f->branch.rows < most) {
        const int branch = (int)w->task[0];
        follow_spot *here = &w->spot[FOLLOW_HERE], *there = &w->spot[FOLLOW_THERE];
        w->k.save(w->k.user, w->place);
        carom_copy(here->place, w->place, w->k.nplace), carom_copy(here->tau, w->tau, w->k.ntau);
        here->s = 0;
        double ds = step, edge, turn = 0;
        int iterations = 0;
        if (follow_lingers(w)) CAROM_TRY(w->k.precise(w->k.user, true));
        carom_status status = step_ahead(w, &ds, &edge, &iterations);
        if (follow_fatal(status)) return status;
        if (status == CAROM_OK && !isnan(edge) && ds < ARRIVED) return CAROM_OK;
        bool good = status == CAROM_OK, closed = false;
        const bool same = good && w->k.same(w->k.user);
        if (same) CAROM_TRY(follow_closes(w, branch, &closed));
        if (same) {
            status = arrive(w, branch, step, &good, &turn);
            if (follow_fatal(status)) return status;
            good = good && status == CAROM_OK;
        }
        if (w->joined) return w->joined = false, CAROM_OK;
        if (!good && step > FOLLOW_SMALLEST) {
            step /= same ? 2 : 3, w->failures = same ? 1 : 3;
            CAROM_TRY(w->k.restore(w->k.user, w->place));
            continue;
        }
        if (!good || !same) {
            bool ended = false;
            double shorter = 0;
            CAROM_TRY(stand_again(w));
            CAROM_TRY(follow_look_for_end(w, branch, true, &ended));
            if (ended) return CAROM_OK;
            CAROM_TRY(follow_sudden_event(w, branch, ds, &shorter, &ended));
            if (ended) return CAROM_OK;
            if (shorter > 0) { // from the same point
                step = shorter, w->failures = 3;
                continue;
            }
            carom_zero(w->bend, w->k.ntau);
            w->before = 0;
            step = fmax(step, FOLLOW_FIRST * w->longest);
            if (w->parent > 0) w->k.half(w->k.user, w->half);
            CAROM_TRY(w->k.keep(w->k.user, w->tau));
            CAROM_TRY(follow_turn_forward(w));
            CAROM_TRY(follow_stand(w));
            CAROM_TRY(follow_accept(w, w->task, step));
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
        CAROM_TRY(follow_add_row(w, branch, &there->look, closed ? "closed" : ""));
        if (closed) return skip_backwards(w), CAROM_OK;
        const follow_spot swapped = *here;
        *here = *there, *there = swapped;
        if (!isnan(edge)) return CAROM_OK;
        bool moved = false, ended = false;
        CAROM_TRY(follow_look_for_end(w, branch, step < CROWDED, &ended));
        if (ended) return CAROM_OK;
        CAROM_TRY(follow_settle(w, &moved));
        if (moved) {
            step = fmin(step, longest(w)); // in new units
            CAROM_TRY(follow_stand(w));
            w->before = 0;
            if (w->parent > 0) w->k.half(w->k.user, w->half);
        }
        if (w->failures > 0) --w->failures;
        else if (iterations <= FEW && turn < STRAIGHT) step = fmin(longest(w), LONGER * step);
        else if (iterations > MANY || turn > 3 * STRAIGHT) step *= SHORTER;
        CAROM_TRY(w->k.keep(w->k.user, w->tau));
        CAROM_TRY(follow_accept(w, w->task, step));
    }
    *more = true;
    return CAROM_OK;
}

// -- all of it -------------------------------------------------------------------------------------------------------

static carom_status begin(follow_walk *w) {
    CAROM_TRY(follow_make_table(w));
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
        CAROM_TRY(follow_add_task(w, 0, w->longest * FOLLOW_FIRST, FOLLOW_GO_ON, w->tau));
    }
    follow_mark(w);
    return CAROM_OK;
}

// Why a branch could not be followed further, at its last point.
static void give_up(follow_walk *w) {
    carom_branch *f = w->f;
    carom_table *t = &f->branch;
    const bool begun = w->task[0] > 0;
    const carom_error why = *w->err;
    if (begun) follow_note_end(w, (int)w->task[0], &why);
    else if (f->note.code == CAROM_OK) {
        const double *place = w->task + w->head + 2 * w->curve[w->task[7] != 0 && w->task[2] != FOLLOW_FROM_HOPF].ntau;
        carom_fail(&f->note, why.code, "%s at %.60s = %.9g were not found: %.600s",
                   w->task[2] == FOLLOW_DOUBLE      ? "the doubled orbits"
                   : w->task[2] == FOLLOW_FROM_HOPF ? "the orbits"
                                             : "other solutions",
                   w->def->by, place[0], why.text);
    }
    if (begun && t->rows > 0 && t->column[5].text[t->rows - 1][0] == 0) {
        char *text = realloc(t->column[5].text[t->rows - 1], sizeof "end");
        if (text) t->column[5].text[t->rows - 1] = strcpy(text, "end");
    }
}

static carom_status follow(follow_walk *w) {
    const carom_follow_def *def = w->def;
    if (!(def->from != def->to) || !isfinite(def->from) || !isfinite(def->to))
        return carom_fail(w->err, CAROM_BAD_INPUT, "`by`: give NAME=A:B with two different numbers");
    w->low = fmin(def->from, def->to), w->high = fmax(def->from, def->to), w->size = w->high - w->low;
    w->longest = def->step > 0 ? def->step : FOLLOW_STEP;
    const carom_model *other;
    CAROM_TRY(def->period ? carom_curve_orbits(&w->curve[1], def, NULL, &w->m, &w->f->scheme, w->err)
                          : carom_curve_rests(&w->curve[0], def, NULL, &w->m, &w->f->scheme, w->err));
    if (!def->period && def->switches & CAROM_SWITCH_HOPF) {
        w->grown = *def;
        w->grown.period = "free", w->grown.start = NULL, w->grown.guess = NAN;
        CAROM_TRY(carom_curve_orbits(&w->curve[1], &w->grown, NULL, &other, &w->f->scheme, w->err));
    }
    follow_choose(w, def->period != NULL);
    const carom_system *s = carom_model_system(w->m);
    const carom_curve *k = w->curve;
    const int most_tau = k[0].ntau > k[1].ntau ? k[0].ntau : k[1].ntau,
              most_place = k[0].nplace > k[1].nplace ? k[0].nplace : k[1].nplace,
              most_eig = k[0].neig > k[1].neig ? k[0].neig : k[1].neig;
    w->nq = s->nq, w->nv = s->nv, w->neig = k[1].neig, w->head = follow_head_size(most_eig),
    w->length = w->head + 2 * most_tau + most_place;
    w->low_event = w->high_event = NAN;
    for (int i = 0; i < w->nq; ++i) w->hidden += !follow_shown(w, i);
    for (int i = 0; i < w->nv; ++i) w->hidden_v += !follow_shown_v(w, i);
    const size_t ntau = (size_t)most_tau, nplace = (size_t)most_place, neig = (size_t)most_eig;
    double **part[] = {&w->half,  &w->half_1,  &w->tau, &w->bend,  &w->tau_1, &w->by,
                       &w->place, &w->place_1, &w->x,   &w->least, &w->most};
    const size_t size[] = {
        ntau,          ntau,         ntau, ntau, ntau, ntau + 2 * neig, nplace, nplace, (size_t)(w->nq + w->nv),
        (size_t)w->nq, (size_t)w->nq};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        *part[i] = calloc(size[i] + 1, sizeof **part[i]);
        if (!*part[i]) return follow_no_memory(w->err);
    }
    for (int i = 0; i < FOLLOW_SPOTS; ++i) {
        follow_spot *x = &w->spot[i];
        x->place = calloc(nplace + ntau + 2 * neig + 1, sizeof *x->place);
        if (!x->place) return follow_no_memory(w->err);
        x->tau = x->place + nplace, x->look.re = x->tau + ntau, x->look.im = x->look.re + neig;
    }
    CAROM_TRY(w->f->branch.columns > 0 ? follow_read_queue(w) : begin(w));
    while (w->ntasks > 0 && w->f->branch.rows < (def->max_points > 0 ? def->max_points : 2000)) {
        bool more = false;
        const carom_status status = march(w, w->task, &more);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (status != CAROM_OK && w->f->branch.rows == 0) return status;
        if (status != CAROM_OK) give_up(w);
        if (more) return follow_write_queue(w); // the rest is for --resume
        follow_drop_task(w);
        CAROM_TRY(follow_write_queue(w));
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
    follow_walk w = {.f = f, .def = def, .err = err};
    const carom_status status = follow(&w);
    if (status == CAROM_STOPPED && f->branch.rows > 0) {
        carom_error kept = *err;
        follow_forget_unfinished(&w);
        if (follow_write_queue(&w) == CAROM_OK) *err = kept;
    }
    f->unlocated = f->branch.columns > 5 ? count_unlocated(&f->branch) : 0;
    carom_curve_orbits_close(&w.curve[1]);
    carom_curve_rests_close(&w.curve[0]);
    for (int i = 0; i < FOLLOW_SPOTS; ++i) free(w.spot[i].place);
    free(w.task), free(w.tau), free(w.bend), free(w.tau_1), free(w.half), free(w.half_1), free(w.by), free(w.place),
        free(w.place_1), free(w.x), free(w.least), free(w.most);
    return status;
}
