// cycle_guess.c: where the search for a motion that repeats itself begins: typical sizes, whole turns, the first return
// of the motion.
#include "base/tolerance.h"
#include "base/pi.h"
#include "derive/variation.h"
#include "dynamics/cycle.h"
#include "dynamics/steady.h"
#include "model/forcing.h"
#include "scheme/step.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double EDGE = 0.05;       // of a period: a start is quiet for so long, and events so far from it
static const double NEAR_EVENT = 0.02; // of a period: a return so close to an event may lie on its other side
static const double TYPICAL = 1e-3; // of the largest: least size of a coordinate or rate
static const double SETTLED = 1e-4; // of the period: a guess that changes by less
static const double AT_REST = 1e-9; // in typical sizes: a motion that goes no further is only rounding
// states that decide whether a symmetry holds; others beside the start: chosen, one may agree by chance
// of a transient: the steps of a period, periods at most
enum { SAMPLES = 6, BESIDE = 3, PARTS = 100, PERIODS = 1000000 };

// States of a run at equal times.
typedef struct film { int n, room, nx, *closed; double *t, *x; const carom_cycle *c; } film;

static carom_status take(void *watch, double t, const double *q, const double *v, int closed) {
    film *f = watch;
    const carom_shooter *s = &f->c->s;
    if (f->n == f->room) return CAROM_OK;
    f->t[f->n] = t, f->closed[f->n] = closed;
    carom_copy(f->x + (size_t)f->n * (size_t)f->nx, q, s->nq),
        carom_copy(f->x + (size_t)f->n * (size_t)f->nx + s->nq, v, s->nv);
    carom_copy(f->x + (size_t)f->n * (size_t)f->nx + s->nq + s->nv,
               s->signal + carom_model_system(s->task.base)->signals->nset, s->nz);
    ++f->n;
    return CAROM_OK;
}

static carom_status film_open(film *f, const carom_cycle *c, double span, int steps) {
    const carom_system *sys = carom_model_system(c->s.task.base);
    double instants = 0; // steps end there, too
    for (int k = 0; k < sys->signals->nsamplers; ++k) instants += 2 * (span / sys->signals->samplers[k].sample + 1);
    steps += (int)fmin(instants, 1e6); // a bound of memory
    const size_t room = (size_t)steps + 2;
    *f = (film){.room = steps + 2, .nx = c->s.nx, .c = c};
    f->t = calloc(room, sizeof *f->t), f->closed = calloc(room, sizeof *f->closed),
    f->x = calloc(room * (size_t)f->nx, sizeof *f->x);
    return f->t && f->closed && f->x ? CAROM_OK : carom_orbit_no_memory(c->err);
}

static void film_close(film *f) { free(f->t), free(f->closed), free(f->x); }

static carom_status shoot_film(carom_cycle *c, film *f, double t_0, double span, const double *x, int steps) {
    carom_shooter *s = &c->s;
    carom_copy(s->signal + carom_model_system(s->task.base)->signals->nset, x + s->nq + s->nv, s->nz);
    take(f, t_0, x, x + s->nq, 0);
    s->on_state = take, s->watch = f;
    const carom_status status = carom_shoot(s, t_0, span, x, false, steps);
    s->on_state = NULL;
    if (f->n > 1) f->closed[0] = f->closed[1];
    return status;
}

// What controllers compute changes by y along `way` at the beginning of the film.  A derivative without a finite value
// says nothing of sizes.
static void differentiate(carom_cycle *c, const film *f, carom_direction way, double *y) {
    carom_shooter *s = &c->s;
    carom_zero(y, s->nz);
    if (carom_variation_control(s->x, f->t[0], f->x, f->x + s->nq, way, s->computed) == CAROM_OK)
        carom_steady_spread(s->task.base, s->computed, y);
}

// size_i = max(|C_ij| size_j), on ways of at most all signals: one that feeds itself and grows has no end.
static void pass_on(const double *C, int n, double *size) {
    bool more = true;
    for (int k = 1; k < n && more; ++k) {
        more = false;
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const double by = i == j ? 0 : fabs(C[i + j * n]) * size[j];
                if (by > size[i]) size[i] = by, more = true;
            }
    }
}

// How large signals become where positions and rates have their typical sizes, by what controllers make of them and of
// other signals.  0: what does not follow from the motion.
static carom_status follow_signals(carom_cycle *c, const film *f, double *size) {
    carom_shooter *s = &c->s;
    const int nz = s->nz, nset = carom_model_system(s->task.base)->signals->nset;
    double *e = calloc((size_t)(s->n + s->np + nz) + (size_t)nz * (size_t)(nz + 1) + 1, sizeof *e), *p = e + s->n,
           *y = p + s->np + nz, *C = y + nz;
    if (!e) return carom_orbit_no_memory(c->err);
    carom_copy(s->signal + nset, f->x + s->nq + s->nv, nz);
    carom_variation_hold(s->x, s->signal);
    for (int j = 0; j < 2 * s->nv; ++j) {
        e[j] = s->scale[j];
        differentiate(c, f, (carom_direction){0, e, e + s->nv, NULL}, y);
        for (int i = 0; i < nz; ++i) size[i] = fmax(size[i], fabs(y[i]));
        e[j] = 0;
    }
    for (int j = 0; j < nz; ++j) {
        p[s->np + j] = 1;
        differentiate(c, f, (carom_direction){0, NULL, NULL, p}, C + (size_t)j * (size_t)nz);
        p[s->np + j] = 0;
    }
    pass_on(C, nz, size);
    free(e);
    return CAROM_OK;
}

// Typical sizes of signals: what they are on the way, not below a thousandth of what follows from the motion, and at
// rest not below that itself.
static carom_status scale_signals(carom_cycle *c, const film *f, bool still) {
    carom_shooter *s = &c->s;
    if (s->nz == 0) return CAROM_OK;
    double *size = calloc((size_t)s->nz, sizeof *size);
    if (!size) return carom_orbit_no_memory(c->err);
    const carom_status status = follow_signals(c, f, size);
    for (int i = 0; i < s->nz; ++i) {
        const double z = c->z[2 * s->nv + i], made = size[i] > 0 ? size[i] : still || z == 0 ? 1 : 0;
        s->scale[2 * s->nv + i] = fmax(z, still || z == 0 ? made : TYPICAL * made);
    }
    free(size);
    return status;
}

static double in_lengths(const carom_shooter *s, const double *x, bool positions) {
    const carom_system *sys = carom_model_system(s->task.base);
    const int n = positions ? s->nq : s->nv;
    return sys->lever ? carom_size_in_lengths(sys, x, sys->lever + (positions ? s->nv : 0), n) : carom_norm_max(x, n);
}

// How far the positions of a film are from 0, or the model at its start, which moves on from there, as a length.
static double place_of(const carom_cycle *c, const film *f) {
    const carom_shooter *s = &c->s;
    double place = fmax(in_lengths(s, carom_model_q0(s->task.base), true),
                        c->T * in_lengths(s, carom_model_v0(s->task.base), false));
    for (int k = 0; k < f->n; ++k) place = fmax(place, in_lengths(s, f->x + (size_t)k * (size_t)f->nx, true));
    return place;
}

// (LV-3)  Of coordinate i at rest: an angle turns as far as its lever moves by a length.
static double rest_size(const carom_system *sys, int i, double place) {
    const double length = place > 0 ? place : 1;
    return length / carom_tolerance_lever(carom_lever(sys, i), length);
}

// Typical sizes: how far each position and velocity moves, not below a thousandth of the largest of its kind.
static carom_status measure(carom_cycle *c, const film *f) {
    carom_shooter *s = &c->s;
    const carom_system *sys = carom_model_system(s->task.base);
    double *to = c->by;
    for (int i = 0; i < s->n; ++i) s->scale[i] = 1;
    for (int i = 0; i < s->n; ++i) c->z[i] = 0;
    for (int k = 0; k < f->n; ++k) {
        carom_shooter_apart(s, f->x, f->x + (size_t)k * (size_t)f->nx, to);
        for (int i = 0; i < s->nv; ++i)
            c->z[i] = fmax(c->z[i], fabs(to[i])),
            c->z[s->nv + i] = fmax(c->z[s->nv + i], fabs(f->x[(size_t)k * (size_t)f->nx + (size_t)(s->nq + i)]));
        for (int i = 2 * s->nv; i < s->n; ++i)
            c->z[i] = fmax(c->z[i], fabs(f->x[(size_t)k * (size_t)f->nx + (size_t)(s->nq - s->nv + i)]));
    }
    // where nothing moves but by rounding, the place is the size
    const double place = s->nz > 0 ? place_of(c, f) : 0;
    const bool still = s->nz > 0 && in_lengths(s, c->z, false) <= AT_REST * place &&
                       in_lengths(s, c->z + s->nv, false) * c->T <= AT_REST * place;
    for (int half = 0; half < 2; ++half) {
        const double most = carom_point_largest(&s->p, c->z + half * s->nv, s->nv);
        for (int i = half * s->nv; i < (half + 1) * s->nv; ++i)
            s->scale[i] = still ? rest_size(sys, i - half * s->nv, place) / (half ? c->T : 1)
                                : fmax(c->z[i], most > 0 ? TYPICAL * most : 1);
    }
    for (int i = sys->first_state; i < sys->first_state + sys->nstates; ++i) // states: by their scales
        s->scale[s->nv + i] = fmax(c->z[s->nv + i], 1 / sys->lever[i]);
    CAROM_TRY(scale_signals(c, f, still));
    for (int i = 0; i < s->nv && s->nq == s->nv; ++i)
        if (c->shift[i] != 0) s->scale[i] = fmin(s->scale[i], PI);
    for (int i = 0; i < s->n; ++i) s->scale[i] = fmax(s->scale[i], c->least[i]);
    return CAROM_OK;
}

// x without what goes along sym, and without whole turns that the model does not feel.
static double distance(carom_cycle *c, const double *a, const double *b) {
    carom_shooter *s = &c->s;
    carom_copy(c->y, b, s->nx);
    carom_cycle_exchange(c, c->y);
    carom_shooter_apart(s, a, c->y, c->r);
    for (int i = 0; i < s->nv && s->nq == s->nv; ++i)
        if (c->shift[i] != 0) c->r[i] = remainder(c->r[i] * s->scale[i], fabs(c->shift[i])) / s->scale[i];
    for (int k = 0; k < c->nsym; ++k)
        carom_axpy(c->r, -carom_dot(cycle_column(c->sym, k, s->n), c->r, s->n), cycle_column(c->sym, k, s->n), s->n);
    return carom_norm_max(c->r, s->n);
}

// The model does not depend on position i at all.
static bool is_free(const carom_cycle *c, int i) {
    double part = 0;
    for (int k = 0; k < c->nsym; ++k) part += pow(cycle_column(c->sym, k, c->s.n)[i], 2);
    return part > 1 - CAROM_SAME;
}

// Which positions are angles, whole turns of which change nothing, though other angles do?  2 pi at those, for now.
static carom_status find_turns(carom_cycle *c, const double *x, bool *some) {
    carom_shooter *s = &c->s;
    double *dq = calloc((size_t)s->nq + 1, sizeof *dq);
    if (!dq) return carom_orbit_no_memory(c->err);
    carom_status status = CAROM_OK;
    for (int i = 0; i < s->nq && status == CAROM_OK; ++i) {
        bool same = false, moves = s->nq == s->nv && s->scale[i] > PI && !is_free(c, i);
        c->shift[i] = 0;
        dq[i] = 2 * PI;
        if (moves) status = carom_shooter_same(s, c->T, x, 0, dq, &same);
        if (same) c->shift[i] = 2 * PI, *some = true;
        dq[i] = 0;
    }
    free(dq);
    return status;
}

// The longest time without events, of those with fewest closed contacts: its middle.  What is there already stays where
// it is good.
static double quiet(const carom_cycle *c, double from, double to, bool stays) {
    const carom_shooter *s = &c->s;
    double best = 0, at = from, longest[2] = {0, 0};
    // of the time; a short one is soon gone along a branch
    for (double share = 0.1; share > 0.01 && best == 0; share /= 5) {
        int fewest = 1 << 30;
        for (int round = 0; round < 2; ++round)
            for (int k = -1; k < s->nhits; ++k) {
                const double a = k < 0 ? from : s->hit[k].end, b = k + 1 < s->nhits ? s->hit[k + 1].t : to;
                const int closed = k >= 0 ? s->hit[k].closed : s->nhits > 0 ? -1 : 0;
                if (a < from || b > to || b - a < share * (to - from)) continue;
                const int n = closed < 0 ? s->closed : closed; // before the first event it is as behind the last one
                if (round == 0 && n < fewest) fewest = n;
                if (round == 1 && n == fewest && b - a > best)
                    // chosen: a little off the middle
                    best = b - a, at = a + 0.55 * (b - a), longest[0] = a, longest[1] = b;
            }
    }
    return best > 0 && longest[0] <= from && longest[1] - from > EDGE * (to - from) && stays ? from : at;
}

static carom_status sample(carom_cycle *c, const film *f) {
    double t[SAMPLES], *x = calloc((size_t)SAMPLES * (size_t)f->nx, sizeof *x);
    if (!x) return carom_orbit_no_memory(c->err);
    for (int k = 0; k < SAMPLES; ++k) {
        const int at = k * (f->n - 1) / (SAMPLES - 1);
        t[k] = f->t[at];
        carom_copy(x + (size_t)k * (size_t)f->nx, f->x + (size_t)at * (size_t)f->nx, f->nx);
    }
    const carom_status status = carom_cycle_symmetry(c, x, t, SAMPLES);
    free(x);
    return status;
}

// x becomes the state at t, with the contacts that are closed there exactly closed.
static carom_status go_on(carom_cycle *c, double t) {
    carom_shooter *s = &c->s;
    CAROM_TRY(carom_shoot(s, c->t_0, t - c->t_0, c->x, false, c->steps));
    carom_copy(c->x, s->end, s->nx);
    c->t_0 = c->timeless ? 0 : fmod(t, c->T);
    return carom_shooter_snap(s, c->t_0, c->x);
}

// Sizes, turns and what the model does not depend on, from the motion over `span`.
static carom_status survey(carom_cycle *c, film *f, double t_0, double span, int steps) {
    CAROM_TRY(film_open(f, c, span, steps));
    CAROM_TRY(shoot_film(c, f, t_0, span, c->x, steps));
    carom_zero(c->shift, c->s.nq);
    c->nsym = 0;
    CAROM_TRY(measure(c, f));
    if (!c->s.few) CAROM_TRY(sample(c, f)); // of large models, symmetries show as multipliers
    bool turns = false;
    CAROM_TRY(find_turns(c, c->x, &turns));
    if (!turns) return CAROM_OK;
    CAROM_TRY(measure(c, f)); // in units of turns
    return c->s.few ? CAROM_OK : sample(c, f);
}

carom_status carom_cycle_survey(carom_cycle *c, double span) {
    film f = {0};
    const carom_status status = survey(c, &f, c->t_0, span, 100);
    film_close(&f);
    return status;
}

// An orbit that is struck at t_0 itself is struck right behind the end of the run, too, which shows nothing of it.
static carom_status still_quiet(carom_cycle *c, int frames, bool *quiet) {
    carom_shooter *s = &c->s;
    const int closed = s->closed;
    carom_copy(c->y, s->end, s->nx);
    CAROM_TRY(carom_shoot(s, c->t_0 + c->T, EDGE * c->T, c->y, false, (int)fmax(1, EDGE * frames)));
    *quiet = !s->struck && s->nhits == 0 && s->closed == closed;
    return CAROM_OK;
}

// A period that the model prescribes: from where it is, begin where nothing happens.
static carom_status guess_forced(carom_cycle *c) {
    carom_shooter *s = &c->s;
    const int frames = s->few ? 100 : 400;
    film f = {0};
    carom_status status = survey(c, &f, c->t_0, c->T, frames);
    if (status == CAROM_OK) {
        for (int i = 0; i < s->nq; ++i)
            if (c->shift[i] != 0) c->shift[i] *= round((s->end[i] - c->x[i]) / c->shift[i]);
        const double first = s->nhits > 0 ? s->hit[0].t - c->t_0 : c->T,
                     last = s->nhits > 0 ? s->hit[s->nhits - 1].t - c->t_0 : 0;
        bool early = !s->struck && first > EDGE * c->T && last < (1 - EDGE) * c->T && (s->closed == 0 || s->nhits == 0);
        double t = quiet(c, c->t_0, c->t_0 + c->T, c->timeless) - c->t_0;
        if (early) status = still_quiet(c, frames, &early);
        if (early) t = 0;
        int k = (int)fmin(frames, fmax(0, round(t / c->T * frames)));
        while (s->nz > 0 && k > 0 && k + 1 < f.n && f.t[k] < c->t_0 + t) ++k; // frames stand at the instants, too
        if (k > 0 && k < f.n) status = go_on(c, f.t[k]);
    }
    film_close(&f);
    return status;
}

// The first return of the motion to a state at which nothing happens.
static carom_status first_return(carom_cycle *c, const film *f, double guess, bool stays, int *from, int *to) {
    const double t = quiet(c, f->t[0], f->t[0] + (f->t[f->n - 1] - f->t[0]) / 3, stays && !c->s.struck);
    *from = 0;
    while (*from + 1 < f->n && f->t[*from] < t) ++*from;
    const double *x = f->x + (size_t)*from * (size_t)f->nx;
    double most = 0, best = INFINITY;
    for (int k = 0; k < f->n; ++k) most = fmax(most, distance(c, x, f->x + (size_t)k * (size_t)f->nx));
    if (!(most > AT_REST))
        return carom_fail(c->err, CAROM_NOT_CONVERGED,
                          "the motion is at rest from t = %.6g on: there is no period; give %s", f->t[*from],
                          c->nearer);
    bool away = false;
    *to = -1;
    double d_0 = 0, d = 0;
    for (int k = *from + 1; k + 1 < f->n; ++k) {
        const double d_1 = distance(c, x, f->x + (size_t)(k + 1) * (size_t)f->nx);
        d = k == *from + 1 ? distance(c, x, f->x + (size_t)k * (size_t)f->nx) : d;
        // of the way across, chosen: it has left; 0.12: the first return so near is taken, else the nearest, up to half
        away = away || d > 0.2 * most;
        const bool lowest = away && d <= d_0 && d <= d_1;
        if (!isnan(guess)) {
            const double off = fabs(f->t[k] - f->t[*from] - guess);
            if (off < best) best = off, *to = k;
        } else if (lowest && d < 0.12 * most) {
            *to = k;
            break;
        } else if (lowest && d < 0.5 * best) best = d, *to = k;
        d_0 = d, d = d_1;
    }
    if (*to < 0 || (isnan(guess) && best < INFINITY && best > 0.5 * most && *to >= 0 &&
                    distance(c, x, f->x + (size_t)*to * (size_t)f->nx) > 0.5 * most))
        return carom_fail(c->err, CAROM_NOT_CONVERGED,
                          "the trajectory does not return to an earlier state before t = %.6g; give %s", f->t[f->n - 1],
                          c->nearer);
    return CAROM_OK;
}

// A return that is nearest in time: x'_1 r = 0.  Without it, orbits that are not isolated would shrink to rest.
static carom_status tune_period(carom_cycle *c) {
    carom_shooter *s = &c->s;
    for (int k = 0; k < 3; ++k) {
        CAROM_TRY(carom_cycle_shoot(c, true));
        if (s->few) CAROM_TRY(carom_shooter_follow(s, s->Z)); // any column: the rate at the end is wanted
        const double dT = -carom_dot(s->rate_1, c->r, s->n) / carom_dot(s->rate_1, s->rate_1, s->n);
        if (!(fabs(dT) < 0.1 * c->T)) break; // farther, the rate at the end says nothing
        c->T += dT;
        s->linear = false;
        if (fabs(dT) < SETTLED * c->T) break;
    }
    return CAROM_OK;
}

static carom_status guess_free(carom_cycle *c, double window, double guess) {
    carom_shooter *s = &c->s;
    enum { STEPS = 1200 }; // of a window of four times T: 300 each
    film f = {0};
    int from = 0, to = 0;
    c->T = window / 4;
    carom_status status = survey(c, &f, 0, window, STEPS);
    if (status == CAROM_OK) status = first_return(c, &f, guess, true, &from, &to);
    for (int k = 0; k < s->nhits && status == CAROM_OK; ++k) // an event near the return: begin elsewhere
        if (fabs(s->hit[k].t - f.t[to]) < NEAR_EVENT * (f.t[to] - f.t[from])) {
            status = first_return(c, &f, guess, false, &from, &to);
            break;
        }
    if (status == CAROM_OK) {
        const double *a = f.x + (size_t)from * (size_t)f.nx, *b = f.x + (size_t)to * (size_t)f.nx;
        c->T = f.t[to] - f.t[from];
        for (int i = 0; i < s->nq; ++i)
            if (c->shift[i] != 0) c->shift[i] *= round((b[i] - a[i]) / c->shift[i]);
        // sizes of one period
        film part = {
            .n = to - from + 1, .nx = f.nx, .t = f.t + from, .x = f.x + (size_t)from * (size_t)f.nx, .c = c};
        double *old = calloc((size_t)s->n, sizeof *old);
        if (!old) status = carom_orbit_no_memory(c->err);
        else {
            carom_copy(old, s->scale, s->n);
            status = measure(c, &part);
            for (int k = 0; k < c->nsym; ++k) { // of the same directions in new units
                double *d = cycle_column(c->sym, k, s->n);
                for (int i = 0; i < s->n; ++i) d[i] *= old[i] / s->scale[i];
                for (int j = 0; j < k; ++j)
                    carom_axpy(d, -carom_dot(cycle_column(c->sym, j, s->n), d, s->n), cycle_column(c->sym, j, s->n),
                               s->n);
                const double length = carom_length(d, s->n);
                for (int i = 0; i < s->n; ++i) d[i] /= length;
            }
        }
        free(old);
        if (status == CAROM_OK && f.closed[from] > 0 && from > 0) status = go_on(c, f.t[from]);
        else carom_copy(c->x, a, f.nx);
    }
    film_close(&f);
    return status == CAROM_OK ? tune_period(c) : status;
}

// The period of a model whose expressions do not tell whether they repeat themselves: by values at the start, and at
// states beside it, where they may differ although they do not at rest.
static carom_status repeats(carom_cycle *c, const double *x, bool *same) {
    carom_shooter *s = &c->s;
    double *y = calloc((size_t)s->nx + 1, sizeof *y), *by = calloc((size_t)s->n + 1, sizeof *by);
    carom_status status = y && by ? CAROM_OK : carom_orbit_no_memory(c->err);
    *same = true;
    if (status == CAROM_OK) status = carom_shooter_same(s, c->T, x, c->T, NULL, same);
    for (int k = 1; k <= BESIDE && status == CAROM_OK && *same; ++k) {
        bool there = true;
        for (int i = 0; i < s->n; ++i) by[i] = cos(1.7 * k + 2.3 * i); // any directions, no two alike
        // there may be no such state
        if (carom_shooter_move(s, x, by, y) == CAROM_OK &&
            carom_shooter_same(s, c->T, y, c->T, NULL, &there) == CAROM_OK)
            *same = there;
    }
    free(y), free(by);
    return status;
}

carom_status carom_cycle_time(carom_cycle *c, const double *x) {
    const carom_shooter *s = &c->s;
    carom_forcing f;
    CAROM_TRY(carom_model_forcing(s->task.base, s->parameter, &f, c->err));
    c->timeless = !f.forced;
    char offer[100] = "the excitation period, `period EXPR`";
    if (f.period > 0) snprintf(offer, sizeof offer, "the excitation period, `period %.15g`", f.period);
    if (!c->expression && f.forced)
        return carom_fail(c->err, CAROM_BAD_INPUT, "the model depends on time: %s does; replace `period free` by %s",
                          f.where, offer);
    if (!f.forced) return CAROM_OK;
    bool known, same = carom_forcing_repeats(&f, c->T, &known);
    if (!known) CAROM_TRY(repeats(c, x, &same));
    if (!same && f.period > 0) snprintf(offer, sizeof offer, "%.15g", f.period);
    else snprintf(offer, sizeof offer, "the period of its excitation");
    return same ? CAROM_OK
                : carom_fail(c->err, CAROM_BAD_INPUT,
                             "`period`: the model does not repeat itself after %.9g: %s has another period; give %s, "
                             "or a multiple",
                             c->T, f.where, offer);
}

carom_status carom_cycle_guess(carom_cycle *c, const double *x, double transient, double window, double guess) {
    carom_shooter *s = &c->s;
    carom_copy(c->x, x, s->nx);
    c->t_0 = 0;
    CAROM_TRY(carom_cycle_time(c, x));
    if (transient > 0) {
        const double periods = ceil(transient / c->T - CAROM_INSTANT);
        CAROM_TRY(c->expression ? carom_shoot(s, 0, c->T * periods, c->x, false, (int)fmin(periods, PERIODS))
                                : carom_shoot(s, 0, transient, c->x, false, PARTS));
        carom_copy(c->x, s->end, s->nx);
        CAROM_TRY(carom_shooter_snap(s, 0, c->x));
    }
    carom_copy(c->first, c->x, s->nx);
    return c->expression ? guess_forced(c) : guess_free(c, window, guess);
}

carom_status carom_cycle_away(carom_cycle *c) {
    CAROM_TRY(carom_shoot(&c->s, c->t_0, c->T, c->x, false, c->steps));
    return go_on(c, quiet(c, c->t_0, c->t_0 + c->T, false));
}

carom_status carom_cycle_rephase(carom_cycle *c) {
    if (!c->timeless) return guess_forced(c);
    c->t_0 = 0;
    return carom_cycle_away(c);
}

// A motion that never settles comes near an orbit at times: where it comes back best after a period.
carom_status carom_cycle_near(carom_cycle *c) {
    enum { SEEN = 60 };
    carom_shooter *s = &c->s;
    film f;
    c->t_0 = 0;
    carom_status status = film_open(&f, c, SEEN * c->T, SEEN);
    if (status == CAROM_OK) status = shoot_film(c, &f, 0, SEEN * c->T, c->first, SEEN);
    int best = 0, whole = 0;
    double least = INFINITY;
    for (int k = 0; k < f.n && s->nz > 0; ++k) // without the instants of controllers in between
        if (fabs(remainder(f.t[k], c->T)) < SETTLED * c->T)
            carom_copy(f.x + (size_t)whole++ * (size_t)f.nx, f.x + (size_t)k * (size_t)f.nx, f.nx);
    if (s->nz > 0) f.n = whole;
    for (int k = 0; k + 1 < f.n && status == CAROM_OK; ++k) {
        const double d = distance(c, f.x + (size_t)k * (size_t)f.nx, f.x + (size_t)(k + 1) * (size_t)f.nx);
        if (d < least) least = d, best = k;
    }
    if (status == CAROM_OK) carom_copy(c->x, f.x + (size_t)best * (size_t)f.nx, f.nx);
    film_close(&f);
    s->linear = false;
    return status == CAROM_OK ? guess_forced(c) : status;
}
