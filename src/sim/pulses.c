// pulses.c: does the model have a pulse in time that is shorter than a step, which a scheme that does not locate events
// misses, or takes for one as long as a step?  Or a wall that moves in a pulse of too few steps?
#include "scheme/friction.h"
#include "base/option.h"
#include "sim/sim.h"
#include <math.h>
#include <stdlib.h>

enum { TIMES = 64, MOST = 500, PLACES = 4 }; // times that show the size of forces; jumps or parts that are looked at;
                                             // places in a part

// Forces, gaps and, where they vary, coefficients of friction at the present state, as functions of time alone.
typedef struct look {
    const carom_sim *sim;
    int n;
    double *x, *left, *right, *scale; // n: at a time, a step before and behind it; largest of the run
    carom_pulse *best;
    double share;                     // of the scale, that the best one rises by
} look;

static bool evaluate(const look *z, double t, double *x) {
    const carom_system *sys = z->sim->sys;
    void *work = z->sim->step.sys_work;
    const double from = z->sim->t0, to = z->sim->t_end;
    t = fmin(fmax(t, from), to);
    carom_zero(x, z->n);
    const int gaps = sys->ne + sys->nc;
    if (sys->force(sys->model, work, t, z->sim->q, z->sim->v, x) != CAROM_OK ||
        (gaps > 0 && sys->gaps(sys->model, work, t, z->sim->q, x + sys->nv) != CAROM_OK))
        return false;
    carom_zero(x + sys->nv + gaps - sys->listed, sys->listed); // they do not depend on time
    return z->n == sys->nv + gaps ||
           sys->friction(sys->model, work, t, z->sim->q, z->sim->v, z->sim->step.inside->friction->force,
                         x + sys->nv + gaps) == CAROM_OK;
}

// How far entry i at t is outside of what it is at both sides.
static double outside(const look *z, int i) {
    return fmax(0, fmax(z->x[i] - fmax(z->left[i], z->right[i]), fmin(z->left[i], z->right[i]) - z->x[i]));
}

// What entry i is judged by: the largest force, or coefficient; of gaps the largest position, too, which they round
// with.
static double scale_of(const look *z, int i) {
    const carom_system *sys = z->sim->sys;
    const int to_gaps = sys->nv + sys->ne + sys->nc,
              from = i < sys->nv   ? 0
                     : i < to_gaps ? sys->nv
                                   : to_gaps,
              to = i < sys->nv   ? sys->nv
                   : i < to_gaps ? to_gaps
                                 : z->n;
    const double most = fmax(carom_norm_max(z->x + from, to - from), carom_norm_max(z->left + from, to - from));
    return i >= sys->nv && i < to_gaps ? fmax(most, carom_size_moving(sys, z->sim->q, sys->nq)) : most;
}

// (JT-6)  Is there an entry with a value at t alone?  It is outside of those e before and behind, by more than
//         rounding, and by as much as of those that are WIDER e away: no kink. Where the run begins or ends there is
//         one side.
static bool beside(look *z, double t, double e) {
    const double before = t - e, behind = t + e;
    return evaluate(z, before < z->sim->t0 ? behind : before, z->left) &&
           evaluate(z, behind > z->sim->t_end ? before : behind, z->right);
}

static bool alone(look *z, double t, double e, int *which) {
    // of the range of a function; a value that stands alone does so eight times as wide, too
    static const double ROUNDING = 1e-9, WIDER = 8;
    if (!evaluate(z, t, z->x) || !beside(z, t, e)) return false;
    for (*which = 0; *which < z->n; ++*which) {
        const double near = outside(z, *which);
        if (!(near > ROUNDING * scale_of(z, *which))) continue;
        return beside(z, t, WIDER * e) && near > 0.5 * outside(z, *which);
    }
    return false;
}

// The entry that rises most over a step before and behind t, relative to its scale.
static void consider(look *z, double t) {
    const double h = z->sim->h;
    if (!evaluate(z, t, z->x) || !evaluate(z, t - h, z->left) || !evaluate(z, t + h, z->right)) return;
    for (int i = 0; i < z->n; ++i) {
        z->scale[i] = fmax(z->scale[i], fabs(z->x[i]));
        const double share = z->scale[i] < HUGE_VAL && z->scale[i] > 0 ? outside(z, i) / z->scale[i] : 0;
        if (share > z->share) z->share = share, z->best->i = i, z->best->t = t;
    }
}

// Where entry i has fallen by half first on the way from t to `to`: it is looked at in distances that double, so that
// another pulse on the way is not taken for this one.
static double half_way(look *z, double t, double to, int i) {
    evaluate(z, t, z->x), evaluate(z, to, z->left); // they exist: consider() has looked there
    const double half = 0.5 * (z->x[i] + z->left[i]), side = z->x[i] - half, from = t, way = to - t;
    for (int k = 50; k > 0 && evaluate(z, from + ldexp(way, -k), z->x); --k) {
        *((z->x[i] - half) * side > 0 ? &t : &to) = from + ldexp(way, -k);
        if (to != from + way) break;
    }
    for (int k = 0; k < 60 && evaluate(z, 0.5 * (t + to), z->x); ++k)
        *((z->x[i] - half) * side > 0 ? &t : &to) = 0.5 * (t + to);
    return to;
}

int carom_sim_looked_at(const carom_sim *sim) {
    const carom_system *sys = sim->sys;
    return sys->nv + sys->ne + sys->nc + (sim->rubs ? CAROM_FRICTION_LAW * sys->nc : 0);
}

// The same at a time that is known to rounding.
static bool alone_at(look *z, double at, int *which) {
    const double e = carom_sim_instant(z->sim, at);
    return alone(z, fabs(at) <= 4 * e ? 0 : at, e, which) || alone(z, nextafter(at, -HUGE_VAL), e, which) ||
           alone(z, nextafter(at, HUGE_VAL), e, which);
}

bool carom_sim_alone(const carom_sim *sim, double at) {
    int which;
    if (sim->scheme->limitations & CAROM_NO_STEP_CHANGE) return false;
    look z = {.sim = sim, .n = carom_sim_looked_at(sim)};
    z.x = sim->alone, z.left = z.x + z.n, z.right = z.left + z.n;
    return alone_at(&z, at, &which);
}

// Two jumps within a step.
static void between_jumps(look *z, double t_1) {
    const carom_sim *sim = z->sim;
    double last = -HUGE_VAL, at = carom_sim_jump(sim, sim->t0, t_1);
    for (int k = 0; k < MOST && at < HUGE_VAL; ++k) {
        int which;
        if (sim->scheme->limitations & CAROM_NO_STEP_CHANGE && alone_at(z, at, &which)) {
            *z->best = (carom_pulse){.i = which, .t = at};
            z->share = HUGE_VAL;
            return;
        }
        if (at - last < sim->h) consider(z, 0.5 * (last + at));
        last = at;
        at = carom_sim_jump(sim, at + carom_sim_instant(sim, at), t_1);
    }
}

// Parts in which functions of time are even, where they are shorter than a step.
static void between_parts(look *z, double t_1) {
    const carom_sim *sim = z->sim;
    const double run[2] = {sim->t0, sim->t_end};
    double from = sim->t0;
    for (int k = 0; k < MOST && from < t_1; ++k) {
        const double to = sim->sys->events->limit_step(sim->sys->model, sim->step.sys_work, run, 1, from, t_1);
        for (int i = 1; to - from < sim->h && i <= PLACES; ++i) consider(z, from + (to - from) * i / PLACES);
        if (!(to > from)) return;
        from = to;
    }
}

bool carom_sim_short_pulse(const carom_sim *sim, carom_pulse *pulse) {
    static const double SEEN = 0.1; // of the largest of the run
    const carom_system *sys = sim->sys;
    if ((!sys->events->next_jump && !sys->events->limit_step) || sim->scheme->accounts_power || sim->control.on)
        return false;
    look z = {.sim = sim, .n = carom_sim_looked_at(sim), .best = pulse};
    z.x = calloc(4 * (size_t)z.n, sizeof *z.x);
    if (!z.x) return false;
    z.left = z.x + z.n, z.right = z.left + z.n, z.scale = z.right + z.n;
    for (int k = 0; k <= TIMES; ++k) {
        if (!evaluate(&z, sim->t0 + (sim->t_end - sim->t0) * k / TIMES, z.x)) continue;
        for (int i = 0; i < z.n; ++i) z.scale[i] = fmax(z.scale[i], fabs(z.x[i]));
    }
    if (sys->events->next_jump) between_jumps(&z, sim->kept->t);
    if (sys->events->limit_step) between_parts(&z, sim->kept->t);
    const bool found = z.share > SEEN;
    if (found && z.share < HUGE_VAL)
        pulse->width =
            half_way(&z, pulse->t, pulse->t + sim->h, pulse->i) - half_way(&z, pulse->t, pulse->t - sim->h, pulse->i);
    free(z.x);
    return found && pulse->width < sim->h;
}

// The motion of gaps in time alone, at the present positions.
typedef struct wall { // the last two turning points of a gap, the second with its time; the farthest behind them
    double range[2], base, peak, t_peak, now, t_now;
    bool shaped;
} wall;

typedef struct walls {
    const carom_sim *sim;
    int judged;
    double *g;    // ne + nc
    wall *of;     // nc
    carom_pulse *best;
    double speed; // of the best one
} walls;

static bool gaps_at(const walls *z, double t) {
    const carom_system *sys = z->sim->sys;
    return sys->gaps(sys->model, z->sim->step.sys_work, fmin(fmax(t, z->sim->t0), z->sim->t_end), z->sim->q, z->g) ==
           CAROM_OK;
}

static double gap_at(const walls *z, int c, double t) {
    return gaps_at(z, t) ? z->g[z->sim->sys->ne + c] : NAN;
}

// A gap of shapes is one of several between them, and turns where others are nearest.
static bool shaped(const carom_sim *sim, int c) {
    return sim->size && sim->size(sim->names.name_user, carom_sim_known_as(sim, sim->sys->ne + c)) > 0;
}

// The time at which gap c has come from t, where it is beyond the level, to the level; NAN: not within `far`.
static double reaches(const walls *z, int c, double t, double level, double sign, double far) {
    const double h = copysign(z->sim->h, far), from = t;
    double to = t + h;
    for (; sign * (gap_at(z, c, to) - level) > 0; t = to, to += h)
        if (fabs(to - from) > fabs(far)) return NAN;
    for (int k = 0; k < 30; ++k) *(sign * (gap_at(z, c, 0.5 * (t + to)) - level) > 0 ? &t : &to) = 0.5 * (t + to);
    return to;
}

static const double INSTANT = 1e-6; // of a step

// Does gap c change by much of the height of a pulse in an instant?  Walls that jump have no speed.
static bool leaps(const walls *z, int c, double t, double height) {
    // of the height: a smooth pulse of the width of a step rises by 4e-6 of it in an INSTANT
    static const double MUCH = 0.25;
    const double e = INSTANT * z->sim->h;
    return !(fabs(gap_at(z, c, t + e) - gap_at(z, c, t - e)) < MUCH * height);
}

// What does not turn by more, of all that a gap does, does not turn.
static double least(const wall *w) { return 0.1 * (w->range[1] - w->range[0]); }

// (JT-7)  A turning point of gap c between two others: a pulse of height H, by the lesser of both, is as wide as it is
//         beyond H/2.  In fewer than FEWEST steps, and with H/width above a part of the speed of contacts, its motion
//         decides and is not followed.
static void judge(walls *z, int c, double fewest) {
    static const double SEEN = 0.1; // of the speed of impacts: slower walls change them by less than a tenth
    const wall *w = z->of + c;
    const double sign = w->peak > w->now ? 1 : -1, h = z->sim->h, lowest = sign > 0 ? fmax(w->base, w->now)
                                                                                   : fmin(w->base, w->now);
    if (w->shaped || !(sign * (w->peak - lowest) > least(w)) || z->judged >= MOST) return;
    z->judged += 1;
    // `speed` is also of accelerations times the step, where forces are solved for: those of a wall may be far larger
    const double fast = fmin(z->sim->kept->speed, z->sim->kept->fastest);
    double a = w->t_peak - h, b = w->t_peak + h;
    for (int k = 0; k < 40; ++k) {
        const double x = a + (b - a) / 3, y = b - (b - a) / 3;
        if (sign * (gap_at(z, c, x) - gap_at(z, c, y)) > 0) b = y;
        else a = x;
    }
    double t = 0.5 * (a + b), peak = gap_at(z, c, t);
    if (!(sign * (peak - w->peak) > 0)) t = w->t_peak, peak = w->peak;
    const double height = fabs(peak - lowest), level = 0.5 * (peak + lowest);
    const double from = reaches(z, c, t, level, sign, -fewest * h), to = reaches(z, c, t, level, sign, fewest * h),
                 width = to - from;
    if (!(width < fewest * h && height > z->speed * width && height > SEEN * fast * width)) return;
    // splitting divides steps at pulses that are this short, and follows them
    if (z->sim->scheme->accounts_power && width < 2 * h) return;
    if (width < 4 * INSTANT * h || leaps(z, c, from, height) || leaps(z, c, to, height)) return;
    z->speed = height / width;
    *z->best = (carom_pulse){.i = z->sim->sys->nv + z->sim->sys->ne + c, .t = t, .width = width};
}

// Turning points of each gap, by looks at every step from t to `to`.
static void follow(walls *z, double t, double to, double fewest) {
    static const double LOOKS = 1e6; // at most so many looks, however long the run is
    const double h = fmax(z->sim->h, (to - t) / LOOKS);
    const int ne = z->sim->sys->ne, nc = carom_sim_fixed_contacts(z->sim);
    bool begun = false;
    for (double k = 0; t + k * h <= to; ++k) {
        if (!gaps_at(z, t + k * h)) continue;
        for (int c = 0; c < nc; ++c) {
            const double y = z->g[ne + c];
            wall *w = z->of + c;
            if (!begun) w->base = w->peak = w->now = y, w->t_peak = w->t_now = t + k * h;
            const double sign = w->now > w->peak ? 1 : -1; // now: the farthest from the peak
            if (w->now == w->peak || sign * (y - w->now) > 0) w->now = y, w->t_now = t + k * h;
            else if (sign * (w->now - y) > least(w)) {
                judge(z, c, fewest);
                w->base = w->peak, w->peak = w->now, w->t_peak = w->t_now, w->now = y, w->t_now = t + k * h;
            }
        }
        begun = true;
    }
    for (int c = 0; begun && c < nc; ++c) judge(z, c, fewest);
}

// How far gaps move in n parts of the time from t to `to`; is it more than rounding?
static bool ranges(walls *z, double t, double to, int n) {
    static const double ROUNDING = 1e-9; // of the gap: functions of time in it are rounded, also far from zero
    const int ne = z->sim->sys->ne, nc = carom_sim_fixed_contacts(z->sim);
    bool moves = false;
    for (int c = 0; c < nc; ++c) z->of[c].range[0] = HUGE_VAL, z->of[c].range[1] = -HUGE_VAL;
    for (int k = 0; k <= n; ++k) {
        if (!gaps_at(z, t + (to - t) * k / n)) continue;
        for (int c = 0; c < nc; ++c) {
            wall *w = z->of + c;
            w->range[0] = fmin(w->range[0], z->g[ne + c]), w->range[1] = fmax(w->range[1], z->g[ne + c]);
            moves = moves || (!w->shaped &&
                              w->range[1] - w->range[0] > ROUNDING * fmax(fabs(w->range[1]), fabs(w->range[0])));
        }
    }
    return moves;
}

bool carom_sim_coarse_pulse(const carom_sim *sim, double fewest, carom_pulse *pulse) {
    static const double WIDE = 8; // a bell is not flat for so many times its width
    const carom_system *sys = sim->sys;
    const int divided = carom_option_find(sim->scheme->options, "adaptive", 8);
    if (carom_sim_fixed_contacts(sim) == 0 || sim->control.on || sim->scheme->emits_events ||
        sim->scheme->controls_own_steps || (divided >= 0 && sim->opt[divided] != 0))
        return false;
    walls z = {.sim = sim, .best = pulse};
    z.g = calloc((size_t)(sys->ne + sys->nc), sizeof *z.g);
    z.of = calloc((size_t)sys->nc, sizeof *z.of);
    const double run[2] = {sim->t0, sim->t_end}, t_1 = sim->kept->t, reach = fewest * sim->h;
    for (int c = 0; z.of && c < carom_sim_fixed_contacts(sim); ++c) z.of[c].shaped = shaped(sim, c);
    if (z.g && z.of && ranges(&z, sim->t0, t_1, TIMES)) follow(&z, sim->t0, t_1, fewest);
    else if (z.g && z.of && sys->events->limit_step) {
        double from = sim->t0;
        for (int k = 0; k < MOST && from < t_1; ++k) {
            const double to = sys->events->limit_step(sys->model, sim->step.sys_work, run, 1, from, t_1),
                         a = fmax(from - reach, run[0]), b = fmin(to + reach, t_1);
            if (to - from < WIDE * reach && ranges(&z, a, b, TIMES)) follow(&z, a, b, fewest);
            if (!(to > from)) break;
            from = to;
        }
    }
    free(z.g);
    free(z.of);
    return z.speed > 0;
}
