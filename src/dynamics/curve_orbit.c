// curve_orbit.c: periodic orbits as a curve over a parameter.
#include "dynamics/border.h"
#include "dynamics/curve.h"
#include "dynamics/graze.h"
#include "linalg/dense.h"
#include "model/answers.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double GRAZES = 1e-3; // of the other impacts: a contact that is struck by less is nearly grazed
static const double ASIDE = 1e-3;  // along the multiplier of -1: where the orbit of twice the period is looked for
static const double LINEAR = 1e-9, PRECISE = 1e-12; // tolerances of the linearised motion: looser than for one orbit,
                                                    // points of a branch are many; where events are located
static const double TIGHT = 1e-13; // of the scheme there
static const double NOISE = 30;    // of the tolerance of the linearised motion and its growth: errors of multipliers
static const double BRIEF = 1e-3;  // of the period: a phase that is about to vanish
static const double WEAK = 0.1;    // of typical speeds: an impact that may soon graze
static const double ALIKE = 0.01, UNLIKE = 1e-3; // of the weakest impact, and of typical speeds: others are as weak
// of typical speeds: the first impact behind grazing (of several the product, by which errors grow); how the next ones
// grow; the last one
static const double FIRST_SPEED = 1e-3, GROWS = 2, FASTEST = 0.3;
static const double CALM = 50;     // a multiplier for which the branch can be followed as usual
static const double CLEARANCE = 1e-6; // of typical sizes: the first gap beside grazing
static const double OUTGROWN = 10; // of typical sizes: these are measured again
static const double SHRUNK = 1e-3; // of the largest sizes on the way: smaller ones are not measured, as in them the
                                   // errors of runs would count where the orbit vanishes
static const double ABSENT = 1e-9; // of all harmonics together: what errors of orbits make of one that is not there
static const double STILL = 1e-12; // of the widest orbit: what rounding moves where friction holds everything
static const double CLEAR = 1e-7;  // of a step: behind an event, where it has happened

typedef struct orbits {
    carom_cycle c;
    const carom_follow_def *def;
    double size;              // of the parameter
    double rtol;              // of the scheme
    double *re, *im, *vectors, *x;
    carom_hit *hit;           // of the solution that was kept
    int nhits;
    double *mode;             // of the contacts at its start
    double *widest;           // nq: how far positions have moved in the solutions that were kept, at most
    int *crossed;             // of contacts of finite stiffness
    bool *soft_closed;
    carom_graze g;            // an orbit that touches, and those beside it
    bool struck;              // on the side that the branch comes from
    bool edge;                // there the parameter leaves its range before the impact vanishes, or becomes fast
    bool fresh;               // response() has just linearised the orbit
    double before;            // parameter of the last orbit on the other side
    carom_error *err;
} orbits;

enum { HEAD = 7 }; // numbers before the state
enum { MOST_PERIODS = 16 }; // of the first orbit, in one that was doubled

static const char *const tests[CAROM_TESTS] = {"fold", "branch", "period-doubling", "neimark-sacker"};

// -- places: parameter, T, t_0, fold, nsym, timeless, noise, x, shift, scale, sym -------------------------------------

static int place_size(const carom_shooter *s) { return HEAD + s->nx + s->nq + s->n + s->n * s->n; }

static void save(void *user, double *place) {
    const carom_cycle *c = &((orbits *)user)->c;
    const carom_shooter *s = &c->s;
    const double head[HEAD] = {s->value, c->T, c->t_0, c->fold, c->nsym, c->timeless, c->noise};
    carom_copy(place, head, HEAD), place += HEAD;
    carom_copy(place, c->x, s->nx), place += s->nx;
    carom_copy(place, c->shift, s->nq), place += s->nq;
    carom_copy(place, s->scale, s->n), place += s->n;
    carom_copy(place, c->sym, (ptrdiff_t)s->n * s->n);
}

static carom_status restore(void *user, const double *place) {
    carom_cycle *c = &((orbits *)user)->c;
    carom_shooter *s = &c->s;
    const double *x = place + HEAD, *shift = x + s->nx, *scale = shift + s->nq;
    c->noise = fmax(1, place[6]);
    if (s->linear && place[0] == s->value && place[1] == c->T && place[2] == c->t_0 && place[3] == c->fold &&
        memcmp(x, c->x, (size_t)s->nx * sizeof *x) == 0 &&
        memcmp(scale, s->scale, (size_t)s->n * sizeof *scale) == 0)
        return CAROM_OK; // it is there, and its linearisation is good
    if (!(place[1] > 0 && place[3] >= 1 && place[3] < 1e6 && place[4] >= 0 && place[4] <= s->nv && place[6] > 0))
        return carom_fail(((orbits *)user)->err, CAROM_BAD_INPUT, "the branch to resume is damaged");
    c->fold = (int)place[3], c->nsym = (int)place[4], c->timeless = place[5] != 0;
    CAROM_TRY(carom_cycle_set(c, place[0]));
    c->T = place[1], c->t_0 = place[2];
    place += HEAD;
    carom_copy(c->x, place, s->nx), place += s->nx;
    carom_copy(c->shift, place, s->nq), place += s->nq;
    carom_copy(s->scale, place, s->n), place += s->n;
    carom_copy(c->sym, place, (ptrdiff_t)s->n * s->n);
    s->linear = false;
    return CAROM_OK;
}

static carom_status predict(void *user, const double *tau, double sigma) {
    orbits *o = user;
    carom_cycle *c = &o->c;
    carom_shooter *s = &c->s;
    for (int i = 0; i < s->n; ++i) o->x[i] = sigma * tau[i];
    carom_copy(c->y, c->x, s->nx);
    if (!c->expression) c->T += sigma * tau[s->n] * c->T;
    if (tau[s->n + 1] != 0) CAROM_TRY(carom_cycle_set(c, s->value + sigma * tau[s->n + 1] * o->size));
    return carom_shooter_move(s, c->y, o->x, c->x); // closed contacts are closed with the new parameter
}

static carom_status correct(void *user, const double *tau, int *iterations) {
    orbits *o = user;
    const carom_status status = carom_cycle_solve(&o->c, tau, o->size);
    *iterations = o->c.iterations;
    return status;
}

static bool tangent(void *user, double *tau, carom_signed *border) {
    return carom_cycle_tangent(&((orbits *)user)->c, ((orbits *)user)->size, tau, border ? &border->sign : NULL,
                               border ? &border->log_size : NULL);
}

static void apart(void *user, const double *place, double *by) {
    const orbits *o = user;
    const carom_cycle *c = &o->c;
    const carom_shooter *s = &c->s;
    carom_shooter_apart(s, place + HEAD, c->x, by);
    by[s->n] = c->expression ? 0 : log(c->T / place[1]), by[s->n + 1] = (s->value - place[0]) / o->size;
}

static carom_status precise(void *user, bool on) {
    carom_cycle *c = &((orbits *)user)->c;
    bool changed;
    c->s.rtol = on ? PRECISE : LINEAR, c->rtol = on ? fmin(TIGHT, ((orbits *)user)->rtol) : ((orbits *)user)->rtol;
    c->s.linear = false, c->precise = on;
    return carom_shooter_tolerance(&c->s, c->rtol, &changed);
}

static carom_status linearise(void *user) { return carom_cycle_shoot(&((orbits *)user)->c, true); }

static double extent(void *user) {
    const carom_shooter *s = &((orbits *)user)->c.s;
    double most = 1;
    for (int i = 0; i < s->nq && s->nq == s->nv; ++i)
        if (!carom_model_state(s->task.base, i)) most = fmax(most, (s->most[i] - s->least[i]) / s->scale[i]);
    return most;
}

static double slowest(void *user) {
    const carom_cycle *c = &((orbits *)user)->c;
    return c->timeless && !c->expression ? c->s.slow / c->s.fast : INFINITY;
}

// The orbit near where the motion from the start is after `transient`.
static carom_status from_guess(orbits *o, double transient, double window, double guess) {
    carom_cycle *c = &o->c;
    const carom_shooter *s = &c->s;
    CAROM_TRY(carom_cycle_guess(c, o->x, transient, window, guess));
    const double value = s->value, ends[2] = {o->def->from, o->def->to};
    // the period may change with the parameter, and --period must say so
    for (int i = 0; i < 2 && c->expression && !c->timeless; ++i) {
        if (carom_cycle_set(c, ends[i]) != CAROM_OK) continue;
        const carom_status status = carom_cycle_time(c, o->x);
        if (status == CAROM_BAD_INPUT)
            return carom_fail(o->err, CAROM_BAD_INPUT,
                              "with %.60s = %.9g the model does not repeat itself after %.9g: give its period as an "
                              "expression, `period EXPR`",
                              o->def->by, ends[i], c->T);
        CAROM_TRY(status);
    }
    CAROM_TRY(carom_cycle_set(c, value));
    carom_cycle_expect(c, false);
    carom_status status = carom_cycle_solve(c, NULL, 1);
    if (status == CAROM_NOT_CONVERGED && carom_cycle_rephase(c) == CAROM_OK) status = carom_cycle_solve(c, NULL, 1);
    return status;
}

static carom_status begin(void *user) {
    orbits *o = user;
    carom_cycle *c = &o->c;
    carom_shooter *s = &c->s;
    const carom_model *m = s->task.base;
    carom_shooter_begin(s, o->def->start, o->x);
    const double guess = o->def->guess, end = carom_model_simulation(m).end,
                 window = !isnan(guess) ? 1.6 * guess
                          : isnan(end)  ? 100
                                        : end;
    carom_status status = from_guess(o, 0, window, guess);
    const bool unfound = status == CAROM_NOT_CONVERGED || status == CAROM_UNSUPPORTED || status == CAROM_SINGULAR;
    // where the motion leads: near an orbit, if that is stable
    if (unfound && !c->expression && !c->conservative && !o->def->start) {
        const carom_error kept = *c->err;
        const carom_status later = from_guess(o, window, window, guess);
        if (later == CAROM_OK || later == CAROM_STOPPED) status = later;
        else *c->err = kept;
    }
    carom_cycle_expect(c, true);
    bool more;
    return status == CAROM_OK ? carom_cycle_measure(c, &more) : status;
}

// -- what it is like ------------------------------------------------------------------------------------------------

static double beyond(void *user, double re, double im) { return (void)user, hypot(re, im) - 1; }

static carom_status look(void *user, carom_curve_look *l) {
    orbits *o = user;
    const carom_shooter *s = &o->c.s;
    int trivial, lost;
    CAROM_TRY(carom_cycle_multipliers(&o->c, l->re, l->im, NULL, &l->n, &trivial, &lost));
    l->largest = 0, l->unstable = 0;
    l->noise = NOISE * s->rtol * fmax(1, carom_norm_max(s->Y, s->n * s->m));
    if (o->c.conservative) l->noise = sqrt(l->noise); // of pairs that meet on the circle
    double nearest = INFINITY, log_size = 0;
    int sign = 1;
    for (int i = 0; i < l->n; ++i) {
        const double size = hypot(l->re[i], l->im[i]), off = hypot(l->re[i] + 1, l->im[i]);
        l->largest = fmax(l->largest, size);
        l->unstable += size > 1 + l->noise;
        if (l->im[i] != 0 && fabs(size - 1) < fabs(nearest)) nearest = size - 1;
        if (l->im[i] == 0 && l->re[i] < -1) sign = -sign;
        log_size += log(off);
    }
    l->test[CAROM_DOUBLING] = (carom_signed){isfinite(log_size) ? sign : 0, log_size};
    if (o->c.conservative) nearest = INFINITY; // pairs stay on the circle
    l->test[CAROM_PAIR] =
        isfinite(nearest) ? (carom_signed){nearest < 0 ? -1 : nearest > 0, log(fabs(nearest))} : (carom_signed){0, 0};
    l->stable = l->unstable == 0;
    return CAROM_OK;
}

static carom_status keep(void *user, double *tau) {
    orbits *o = user;
    (void)tau;
    const carom_shooter *s = &o->c.s;
    carom_hit *more = realloc(o->hit, ((size_t)s->nhits + 1) * sizeof *more);
    if (!more) return carom_fail(o->err, CAROM_NO_MEMORY, "not enough memory for orbits");
    o->hit = more, o->nhits = s->nhits;
    if (s->nhits > 0) memcpy(o->hit, s->hit, (size_t)s->nhits * sizeof *more);
    carom_copy(o->mode, s->mode_0, s->p.nc);
    for (int i = 0; i < s->nq; ++i) o->widest[i] = fmax(o->widest[i], s->most[i] - s->least[i]);
    for (int i = 0; i < s->n; ++i) o->c.least[i] = fmax(o->c.least[i], SHRUNK * s->scale[i]);
    for (int i = 0; i < s->soft; ++i) o->crossed[i] = s->crossed[i], o->soft_closed[i] = s->soft_closed[i];
    return CAROM_OK;
}

// The contact of finite stiffness that opens and closes more or less often, or is closed instead of open; -1: none.
static int soft_changed(const orbits *o) {
    const carom_shooter *s = &o->c.s;
    for (int i = 0; i < s->soft; ++i)
        if (s->crossed[i] != o->crossed[i] || (s->crossed[i] == 0 && s->soft_closed[i] != o->soft_closed[i])) return i;
    return -1;
}

static bool roughly(void *user) { return soft_changed(user) >= 0; }

// The same events in the same order, whichever comes first.
static bool same(void *user) {
    const orbits *o = user;
    const carom_shooter *s = &o->c.s;
    const int n = s->nhits;
    if (n != o->nhits || soft_changed(o) >= 0) return false;
    for (int first = 0; first < n || first == 0; ++first) {
        bool all = true;
        for (int i = 0; i < n && all; ++i) {
            const carom_hit *a = &s->hit[i], *b = &o->hit[(i + first) % n];
            all = a->kind == b->kind && a->contact == b->contact;
        }
        if (all) return true;
    }
    return false;
}

static const char *contact_name(const carom_shooter *s, int contact) {
    return carom_model_constraint(s->task.base, carom_model_system(s->task.base)->ne + contact);
}

// Which contact has more or fewer events of some kinds; -1: none.
static int changed(const carom_shooter *s, const carom_hit *a, int n, const carom_hit *b, int m, bool impacts) {
    for (int c = 0; c < s->p.nc; ++c) {
        int more = 0;
        for (int i = 0; i < n; ++i) more += a[i].contact == c && (a[i].kind == CAROM_HIT_IMPACT) == impacts;
        for (int i = 0; i < m; ++i) more -= b[i].contact == c && (b[i].kind == CAROM_HIT_IMPACT) == impacts;
        if (more != 0) return c;
    }
    return -1;
}

// Is contact c always closed?
static bool rests(const double *mode, const carom_hit *hit, int n, int c) {
    for (int i = 0; i < n; ++i)
        if (hit[i].contact == c && hit[i].kind <= CAROM_HIT_OPEN) return false;
    return mode[c] != CAROM_MODE_OPEN;
}

// -- sliding bifurcations ---------------------------------------------------------------------------------------------
//
// Phases of one contact around the orbit: o open, 0 stick, + and - slip.
//
//     - + becomes - 0 +: crossing  + becomes + 0 +: grazing  - 0 becomes - + 0: switching  0 becomes 0 + 0: adding
//     (SLD-1)

// Words do not tell them apart: 0 + 0 + comes from 0 + by grazing and by adding.  What was inserted is brief.

enum { PHASES = 64 };

// Phases of one contact in order, and how long they last.
typedef struct phases { int n; char kind[PHASES]; double lasts[PHASES]; } phases;

// A contact to which nothing happens has one; n 0: too many.
static void read_phases(const carom_hit *hit, int n, double mode, int c, double period, phases *to) {
    double t[PHASES];
    to->n = 0;
    for (int i = 0; i < n; ++i) {
        if (hit[i].contact != c || hit[i].kind == CAROM_HIT_IMPACT) continue;
        if (to->n == PHASES) {
            to->n = 0;
            return;
        }
        t[to->n] = hit[i].t, to->kind[to->n++] = hit[i].after;
    }
    for (int i = 0; i < to->n; ++i) to->lasts[i] = i + 1 < to->n ? t[i + 1] - t[i] : t[0] + period - t[i];
    if (to->n > 0) return;
    to->n = 1, to->lasts[0] = period;
    to->kind[0] = mode == CAROM_MODE_OPEN ? 'o' : mode == CAROM_MODE_STICK ? '0' : '+';
}

static bool slips(char x) { return x == '+' || x == '-'; }

// The same phases, whichever comes first; of a contact that always slips the sense does not count.
static bool same_phases(const phases *a, const phases *b) {
    const int n = a->n;
    if (n == 1 && slips(a->kind[0]) && slips(b->kind[0])) return true;
    for (int first = 0; first < n; ++first) {
        bool same = true;
        for (int k = 0; k < n && same; ++k) same = a->kind[k] == b->kind[(first + k) % n];
        if (same) return true;
    }
    return false;
}

typedef enum sliding_rule { CROSSING, GRAZING, SWITCHING, ADDING, RULES } sliding_rule;
static const char *const sliding_name[RULES] = {"crossing-sliding", "grazing-sliding", "switching-sliding",
                                                "adding-sliding"};

// (SLD-1)  How many phases from phase i on has this event inserted?  0: it has not.
static int inserts(sliding_rule rule, const phases *w, int i) {
    const int n = w->n;
    const char before = w->kind[(i + n - 1) % n], now = w->kind[i], next = w->kind[(i + 1) % n];
    if (n < 2) return 0;
    switch (rule) {
    case CROSSING: return now == '0' && slips(before) && slips(next) && before != next;
    case GRAZING: return now == '0' && slips(before) && before == next ? n == 2 ? 1 : 2 : 0;
    case SWITCHING: return slips(now) && slips(before) && before != now && next == '0';
    case ADDING: return slips(now) && before == '0' && next == '0' ? n == 2 ? 1 : 2 : 0;
    case RULES: break;
    }
    return 0;
}

// w without what was inserted at phase i.
static phases without(const phases *w, int i, int inserted) {
    phases left = {.n = w->n - inserted};
    for (int k = 0; k < left.n; ++k)
        left.kind[k] = w->kind[(i + inserted + k) % w->n], left.lasts[k] = w->lasts[(i + inserted + k) % w->n];
    for (int k = 0; k < inserted; ++k) left.lasts[left.n - 1] += w->lasts[(i + k) % w->n];
    return left;
}

// Do events of one kind, one or several at once as on a symmetric orbit, make w of the other one?  How long the longest
// of the phases lasts that they insert; INFINITY: they do not.
static double made_by(sliding_rule rule, const phases *w, const phases *shorter) {
    double least = INFINITY;
    if (w->n == shorter->n) return same_phases(w, shorter) ? 0 : INFINITY;
    for (int i = 0; i < w->n && w->n > shorter->n; ++i) {
        const int more = inserts(rule, w, i);
        if (more == 0 || w->lasts[i] >= least) continue;
        const phases left = without(w, i, more);
        least = fmin(least, fmax(w->lasts[i], made_by(rule, &left, shorter)));
    }
    return least;
}

// By name; NULL: it is another change.
static const char *sliding(const phases *a, const phases *b) {
    if (a->n == 0 || b->n == 0 || a->n == b->n || abs(a->n - b->n) > 8) return NULL;
    const char *name = NULL;
    double least = INFINITY;
    for (int rule = CROSSING; rule < RULES; ++rule) {
        const double lasts =
            a->n > b->n ? made_by((sliding_rule)rule, a, b) : made_by((sliding_rule)rule, b, a);
        if (lasts < least) least = lasts, name = sliding_name[rule];
    }
    return name;
}

// A phase that is about to vanish, if that has a name.
static const char *brief_phase(const phases *w, double period) {
    const char *name = NULL;
    double least = BRIEF * period;
    for (int i = 0; i < w->n; ++i)
        for (int rule = CROSSING; rule < RULES; ++rule)
            if (w->lasts[i] < least && inserts((sliding_rule)rule, w, i) > 0)
                least = w->lasts[i], name = sliding_name[rule];
    return name;
}

static void describe(void *user, bool failed, char *text, size_t size) {
    const orbits *o = user;
    const carom_shooter *s = &o->c.s;
    const int soft = failed ? -1 : soft_changed(o);
    if (soft >= 0) {
        const int was = o->crossed[soft], is = s->crossed[soft];
        // it was, or is, the same all the time
        const bool closes = is == 0 ? s->soft_closed[soft] : !o->soft_closed[soft];
        snprintf(text, size, "%s %.60s",
                 was > 0 && is > 0 ? "touching"
                 : closes          ? "closing"
                                   : "opening",
                 carom_model_compliant(s->task.base, soft));
        return;
    }
    for (int c = 0; c < s->p.nc && !failed; ++c) {
        const bool did = rests(o->mode, o->hit, o->nhits, c), does = rests(s->mode_0, s->hit, s->nhits, c);
        if (did == does) continue;
        snprintf(text, size, "%s %.60s", did ? "opening" : "closing", contact_name(s, c));
        return;
    }
    if (!failed) {
        phases before, after;
        for (int c = 0; c < s->p.nc; ++c) {
            read_phases(o->hit, o->nhits, o->mode[c], c, o->c.T, &before);
            read_phases(s->hit, s->nhits, s->mode_0[c], c, o->c.T, &after);
            const char *name = sliding(&before, &after);
            if (!name) continue;
            snprintf(text, size, "%s %.60s", name, contact_name(s, c));
            return;
        }
        const int sticks = changed(s, s->hit, s->nhits, o->hit, o->nhits, false),
                  hits = changed(s, s->hit, s->nhits, o->hit, o->nhits, true);
        if (sticks >= 0) snprintf(text, size, "sticking %.60s", contact_name(s, sticks));
        else if (hits >= 0) snprintf(text, size, "grazing %.60s", contact_name(s, hits));
        else snprintf(text, size, "sequence");
        return;
    }
    // the contact that is nearly grazed, from either side
    double least = GRAZES;
    int at = -1;
    for (int i = 0; i < s->nhits; ++i)
        if (s->hit[i].kind == CAROM_HIT_IMPACT && s->hit[i].jump < least)
            least = s->hit[i].jump, at = s->hit[i].contact;
    for (int c = 0; c < s->p.nc; ++c)
        if (fabs(s->low[c]) < least * carom_norm_max(s->scale, s->nv))
            least = fabs(s->low[c]) / carom_norm_max(s->scale, s->nv), at = c;
    const char *brief = NULL;
    int of = -1;
    for (int c = 0; c < s->p.nc && at < 0 && !brief; ++c) {
        phases w;
        read_phases(s->hit, s->nhits, s->mode_0[c], c, o->c.T, &w);
        brief = brief_phase(&w, o->c.T), of = c;
    }
    if (at >= 0) snprintf(text, size, "grazing %.60s", contact_name(s, at));
    else if (brief) snprintf(text, size, "%s %.60s", brief, contact_name(s, of));
    else snprintf(text, size, "end");
}

// -- grazing --------------------------------------------------------------------------------------------------------

// How hard contact c is struck, or, if it stays open, how near it comes: a gap is like the square of a speed.
static double touched(const carom_shooter *s, bool struck, int c) {
    if (struck) return s->weakest[c].contact >= 0 ? s->weakest[c].jump : INFINITY;
    return s->nearest[c].contact >= 0 ? sqrt(fmax(0, s->low[c] / carom_norm_max(s->scale, s->nv))) : INFINITY;
}

static int weakest_contact(const carom_shooter *s, bool struck, double *least) {
    int best = -1;
    for (int c = 0; c < s->p.nc; ++c)
        if (touched(s, struck, c) < *least) *least = touched(s, struck, c), best = c;
    return best;
}

// Impacts that are weak, or open contacts that come near, in this order: the weakest first, then those that are as weak
// as that, as on symmetric orbits.  Returns how many; 0: none.
static int hardly_touched(const orbits *o, const carom_touching **to, bool *struck) {
    const carom_shooter *s = &o->c.s;
    double least = WEAK;
    int first = weakest_contact(s, true, &least);
    const int open = weakest_contact(s, false, &least);
    *struck = open < 0;
    if (open >= 0) first = open;
    if (first < 0) return 0;
    const carom_touching *all = *struck ? s->weakest : s->nearest;
    int n = 0;
    to[n++] = &all[first];
    for (int c = 0; c < s->p.nc; ++c)
        if (c != first && touched(s, *struck, c) <= (1 + ALIKE) * least + UNLIKE) to[n++] = &all[c];
    return n;
}

static double fastest_multiplier(orbits *o) {
    int count, trivial, lost;
    double most = 0;
    if (carom_cycle_multipliers(&o->c, o->re, o->im, NULL, &count, &trivial, &lost) != CAROM_OK) return INFINITY;
    for (int i = 0; i < count; ++i) most = fmax(most, hypot(o->re[i], o->im[i]));
    return most;
}

// From a weak impact to that of no speed.
static carom_status slow_down(orbits *o, const double *range, bool *edge) {
    carom_status status = carom_graze_speed(&o->g);
    const double y = o->g.hit[0].y;
    for (int k = 3; k >= 0 && status == CAROM_OK && !*edge; --k)
        status = carom_graze_reach(&o->g, y * k / 4, range, edge);
    return status;
}

// The orbit that touches all of these, or that at the edge of the range.
static carom_status graze_together(orbits *o, const carom_touching *const *at, int n, const double *range) {
    carom_cycle *c = &o->c;
    carom_graze_close(&o->g);
    CAROM_TRY(carom_graze_open(&o->g, c, at, n, o->size));
    CAROM_TRY(precise(o, true));
    o->edge = false;
    const carom_status status = o->struck ? slow_down(o, range, &o->edge) : carom_graze_solve(&o->g, 0);
    o->before = c->s.value;
    const carom_status off = precise(o, false);
    return status != CAROM_OK ? status : off;
}

static void name_touched(const orbits *o, char *text, size_t size) {
    int at = 0;
    text[0] = 0;
    for (int i = 0; i < o->g.n && !o->edge && (size_t)at < size; ++i)
        at += snprintf(text + at, size - (size_t)at, "%s %.40s", i == 0 ? "grazing" : " and",
                       contact_name(&o->c.s, o->g.hit[i].contact));
}

// The cycle begins where the first contact is touched.
static void at_touch(orbits *o) {
    carom_cycle *c = &o->c;
    const carom_weak_impact *h = &o->g.hit[0];
    carom_copy(c->x, h->x, c->s.nx);
    c->T = o->g.T, c->t_0 = c->timeless ? 0 : fmod(h->t, c->T) + (h->t < 0 ? c->T : 0);
}

static carom_status graze(void *user, const double *range, char *text, size_t size) {
    orbits *o = user;
    carom_cycle *c = &o->c;
    const carom_touching **at = calloc((size_t)c->s.p.nc + 1, sizeof *at);
    double *place = malloc((size_t)place_size(&c->s) * sizeof *place);
    carom_status status = at && place ? CAROM_OK : carom_orbit_no_memory(o->err);
    const int n = status == CAROM_OK ? hardly_touched(o, at, &o->struck) : 0;
    if (status == CAROM_OK && n == 0) status = carom_fail(o->err, CAROM_NOT_CONVERGED, "no contact is nearly grazed");
    if (status == CAROM_OK && o->struck && c->conservative)
        status = carom_fail(o->err, CAROM_UNSUPPORTED,
                            "families of conservative orbits pass grazing towards impacts only");
    if (status == CAROM_OK) save(o, place), status = CAROM_NOT_CONVERGED;
    for (int m = n; m > 0 && status == CAROM_NOT_CONVERGED; m = m > 1 ? 1 : 0) {
        status = m < n ? restore(o, place) : CAROM_OK;
        if (status == CAROM_OK && m < n) status = linearise(o);
        if (status == CAROM_OK) status = graze_together(o, at, m, range);
    }
    free(at), free(place);
    CAROM_TRY(status);
    name_touched(o, text, size);
    at_touch(o);
    return CAROM_OK;
}

// The next orbit that is struck, faster than the last one.
static carom_status speed_up(orbits *o, const double *range) {
    const double before = o->g.hit[0].y, first = pow(FIRST_SPEED, 1.0 / o->g.n),
                 y = before > 0 ? GROWS * before : first * carom_graze_typical(&o->g);
    CAROM_TRY(precise(o, true));
    CAROM_TRY(carom_cycle_set(&o->c, o->before));
    const carom_status status = carom_graze_reach(&o->g, y, range, &o->edge);
    o->before = o->c.s.value;
    const carom_status off = precise(o, false);
    return status != CAROM_OK ? status : off;
}

// The cycle becomes the orbit beside grazing that was found.
static carom_status stand_beside(orbits *o, const double *range, double *tau) {
    carom_cycle *c = &o->c;
    carom_shooter *s = &c->s;
    const double from = o->before;
    const bool passed = o->struck && !o->edge;
    if (!o->struck) CAROM_TRY(speed_up(o, range));
    CAROM_TRY(carom_graze_orbit(&o->g, passed ? CLEARANCE * carom_norm_max(s->scale, s->nv) : 0));
    const int nearer = fabs(s->value - range[0]) < fabs(s->value - range[1]) ? 0 : 1;
    if (o->edge) CAROM_TRY(carom_cycle_set(c, range[nearer]));
    if (c->conservative) CAROM_TRY(carom_cycle_set(c, o->before));
    carom_cycle_expect(c, false);
    carom_status status = carom_cycle_solve(c, NULL, 1);
    carom_cycle_expect(c, true);
    // errors grow with the multipliers
    if (status == CAROM_NOT_CONVERGED) status = carom_cycle_solve(c, NULL, 1);
    CAROM_TRY(status);
    carom_zero(tau, s->n + 2);
    tau[s->n + 1] = (passed || c->conservative ? s->value > from : o->g.leads > 0) ? 1 : -1;
    return tangent(o, tau, NULL) || o->edge // where it ends
               ? CAROM_OK
               : carom_fail(o->err, CAROM_SINGULAR, "the orbit has no tangent");
}

static carom_status leave(void *user, const double *range, double *tau, bool *clear, bool *edge) {
    orbits *o = user;
    bool fast = false;
    carom_status status = CAROM_SINGULAR;
    // so near to grazing that errors grow too much: farther away
    for (bool again = true; again && (status == CAROM_SINGULAR || status == CAROM_NOT_CONVERGED);) {
        status = stand_beside(o, range, tau);
        fast = o->g.hit[0].y > FASTEST * carom_graze_typical(&o->g);
        again = !o->struck && !o->edge && !fast;
    }
    *edge = o->edge;
    CAROM_TRY(status);
    *clear = o->struck || fast || fastest_multiplier(o) < CALM;
    return CAROM_OK;
}

static bool held(void *user) {
    const orbits *o = user;
    const carom_shooter *s = &o->c.s;
    bool sticks = false;
    for (int c = 0; c < s->p.nc; ++c) sticks = sticks || s->mode_0[c] == CAROM_MODE_STICK;
    for (int i = 0; i < s->nq; ++i)
        if (s->most[i] - s->least[i] > STILL * o->widest[i]) sticks = false;
    return sticks;
}

static carom_status beside(void *user, const double *tau, double sigma, bool *other) {
    orbits *o = user;
    carom_cycle *c = &o->c;
    CAROM_TRY(predict(o, tau, sigma));
    CAROM_TRY(carom_cycle_shoot(c, false));
    *other = !same(o);
    if (!*other) return CAROM_OK;
    c->s.linear = false;
    carom_cycle_expect(c, false);
    const carom_status status = carom_cycle_solve(c, NULL, 1);
    carom_cycle_expect(c, true);
    return status;
}

// -- rows -----------------------------------------------------------------------------------------------------------

static carom_status row(void *user, double *period, double *x, double *least, double *most) {
    carom_cycle *c = &((orbits *)user)->c;
    carom_shooter *s = &c->s;
    *period = c->T;
    carom_copy(least, s->least, s->nq), carom_copy(most, s->most, s->nq);
    carom_copy(x, c->x, s->nq + s->nv);
    if (!(c->t_0 > 0)) return CAROM_OK;
    const bool linear = s->linear;
    const int nhits = s->nhits;
    carom_hit *const hit = s->hit;
    s->hit = NULL, s->nhits = 0;
    // the period may have become shorter than t_0
    const carom_status status = carom_shoot(s, c->t_0, c->T - fmod(c->t_0, c->T), c->x, false, c->steps);
    carom_copy(x, s->end, s->nq + s->nv);
    free(s->hit);
    s->hit = hit, s->nhits = nhits, s->linear = linear, s->t_0 = c->t_0;
    return status;
}

// Of the orbit here, whose linearisation stays.  Harmonics are those of the excitation, also of orbits of several of
// its periods.
static carom_status response(void *user, double *to) {
    carom_cycle *c = &((orbits *)user)->c;
    carom_shooter *s = &c->s;
    s->pitch = 8 * atan(1) * c->fold / c->T;
    const double rtol = s->rtol;
    s->respond = true, s->rtol = PRECISE;
    const carom_status status = carom_cycle_shoot(c, true);
    s->respond = false, s->rtol = rtol;
    ((orbits *)user)->fresh = status == CAROM_OK;
    double size = fabs(to[0] = s->mean / c->T);
    for (int k = 0; k < CAROM_HARMONICS; ++k) {
        const double re = 2 / c->T * s->harmonic[2 * k], im = -2 / c->T * s->harmonic[2 * k + 1];
        size += to[1 + 2 * k] = hypot(re, im), to[2 + 2 * k] = atan2(im, re) * 45 / atan(1);
    }
    for (int k = 0; k < CAROM_HARMONICS; ++k) // what is not there has no phase
        if (to[1 + 2 * k] <= ABSENT * size) to[2 + 2 * k] = NAN;
    return status;
}

// An event that comes near the start: begin elsewhere.
static carom_status settle(void *user, bool *moved) {
    orbits *o = user;
    carom_cycle *c = &o->c;
    const carom_shooter *s = &c->s;
    *moved = false;
    if (extent(o) > OUTGROWN) { // its sizes are no longer those of the motion
        *moved = true;
        carom_copy(o->x, c->shift, s->nq);
        CAROM_TRY(carom_cycle_survey(c, c->T));
        carom_copy(c->shift, o->x, s->nq);
        c->s.linear = false;
        return carom_cycle_solve(c, NULL, 1);
    }
    for (int i = 0; i < s->nhits && !*moved; ++i) {
        const double since = s->hit[i].t - c->t_0, until = s->hit[i].end - c->t_0; // of a chatter
        *moved = since < 0.02 * c->T || until > 0.98 * c->T;
    }
    if (!*moved) return CAROM_OK;
    const double before = c->t_0;
    CAROM_TRY(carom_cycle_rephase(c));
    // the event is at the very end of the period, which a plain run may not see
    if (!c->timeless && c->t_0 == before) CAROM_TRY(carom_cycle_away(c));
    c->s.linear = false;
    return carom_cycle_solve(c, NULL, 1);
}

// Each doubling costs twice as much, and the next ones follow ever faster.
static bool doubles(void *user) { return ((orbits *)user)->c.fold < MOST_PERIODS; }

// From the start to the state after half the period.
static carom_status across(void *user, double *by) {
    orbits *o = user;
    carom_cycle *c = &o->c;
    carom_shooter *s = &c->s;
    carom_zero(by, s->n + 2);
    const bool linear = s->linear;
    const double span = s->span;
    const int nhits = s->nhits;
    carom_hit *const hit = s->hit; // those of the whole period stay
    s->hit = NULL, s->nhits = 0;
    const carom_status status = carom_shoot(s, c->t_0, c->T / 2, c->x, false, c->steps);
    for (int i = 0; i < s->nq; ++i) s->end[i] -= c->shift[i] / 2;
    if (status == CAROM_OK) carom_shooter_apart(s, c->x, s->end, by);
    for (int k = 0; k < c->nsym; ++k)
        carom_axpy(by, -carom_dot(cycle_column(c->sym, k, s->n), by, s->n), cycle_column(c->sym, k, s->n), s->n);
    free(s->hit);
    s->hit = hit, s->nhits = nhits, s->linear = linear, s->span = span;
    return status;
}

static void half(void *user, double *by) {
    const carom_cycle *c = &((orbits *)user)->c;
    if (c->fold % 2) carom_zero(by, c->s.n + 2);
    else across(user, by);
}

// In units of typical sizes; of orbits that cannot shrink to an equilibrium it is infinite.
static double width(void *user) {
    const carom_cycle *c = &((orbits *)user)->c;
    const carom_shooter *s = &c->s;
    double most = 0;
    if (!c->timeless || c->expression || s->nq != s->nv) return INFINITY;
    for (int i = 0; i < s->nq; ++i) {
        if (c->shift[i] != 0) return INFINITY;
        most = fmax(most, (s->most[i] - s->least[i]) / s->scale[i]);
    }
    return most;
}

// Twice around, started a little along the direction that turns over.  The orbit that is found must not be the single
// one, twice.
static carom_status twice(void *user, double *tau) {
    orbits *o = user;
    carom_cycle *c = &o->c;
    carom_shooter *s = &c->s;
    int count, trivial, lost, best = -1, iterations;
    CAROM_TRY(carom_cycle_shoot(c, true));
    CAROM_TRY(carom_cycle_multipliers(c, o->re, o->im, o->vectors, &count, &trivial, &lost));
    for (int i = 0; i < count; ++i)
        if (o->im[i] == 0 && (best < 0 || fabs(o->re[i] + 1) < fabs(o->re[best] + 1))) best = i;
    if (best < 0) return carom_fail(o->err, CAROM_NOT_CONVERGED, "no multiplier is near -1");
    double *way = calloc((size_t)s->n + 2 + (size_t)place_size(s), sizeof *way), *place = way + s->n + 2;
    if (!way) return carom_fail(o->err, CAROM_NO_MEMORY, "not enough memory for orbits");
    carom_copy(way, o->vectors + (size_t)best * (size_t)s->n, s->n);
    const double length = carom_length(way, s->n);
    for (int i = 0; i < s->n; ++i) way[i] /= length;
    c->fold *= 2, c->T *= 2;
    for (int i = 0; i < s->nq; ++i) c->shift[i] *= 2;
    save(o, place);
    carom_status status = CAROM_NOT_CONVERGED;
    for (int k = 0; k < 4 && status != CAROM_OK; ++k) {
        const double aside = ASIDE * (1 << (2 * k));
        s->linear = false;
        if (restore(o, place) != CAROM_OK || predict(o, way, aside) != CAROM_OK) continue;
        s->linear = false;
        status = correct(o, way, &iterations);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) break;
        if (status == CAROM_OK) half(o, tau);
        if (status == CAROM_OK && !(carom_norm_max(tau, s->n) > aside / 10))
            status =
                carom_fail(o->err, CAROM_NOT_CONVERGED, "the iteration leads back to the orbit of half the period");
    }
    carom_copy(tau, way, s->n + 2);
    free(way);
    CAROM_TRY(status);
    CAROM_TRY(carom_cycle_shoot(c, true));
    return tangent(o, tau, NULL) ? CAROM_OK : carom_fail(o->err, CAROM_SINGULAR, "the doubled orbit has no tangent");
}

// -- other branches -------------------------------------------------------------------------------------------------

static bool cross(void *user, const double *tau, double *other) {
    return carom_cycle_cross(&((orbits *)user)->c, ((orbits *)user)->size, tau, other);
}

// (HOP-1)  x(0) = x_0 + size Re q,  x'(0) = -size rate Im q,  T = 2 pi/rate; the amplitude stays, the parameter is
//          found
static carom_status grow(void *user, double value, const double *x, const double *shape, double rate, double size,
                         double *tau) {
    orbits *o = user;
    carom_cycle *c = &o->c;
    carom_shooter *s = &c->s;
    const carom_system *sys = carom_model_system(s->task.base);
    double *by = o->x;
    CAROM_TRY(carom_cycle_set(c, value));
    CAROM_TRY(carom_cycle_time(c, x));
    c->fold = 1, c->nsym = 0, c->t_0 = 0, c->T = 8 * atan(1) / fabs(rate), c->noise = 1;
    for (int i = 0; i < s->nv; ++i) by[i] = size * shape[i], by[s->nv + i] = -size * rate * shape[s->nv + i];
    for (int i = sys->first_state; i < sys->first_state + sys->nstates; ++i) // (STA-4), (STA-5)
        by[s->nv + i] = by[i], by[i] = 0;
    if (sys->move) sys->move(sys->model, c->x, x, 1, by);
    else carom_add(c->x, x, 1, by, s->nv);
    carom_add(c->x + s->nq, x + s->nq, 1, by + s->nv, s->nv);
    for (int i = 0; i < s->n; ++i) tau[i] = by[i];
    carom_zero(c->least, s->n); // of another branch
    CAROM_TRY(carom_cycle_survey(c, c->T));
    carom_zero(c->shift, s->nq);
    for (int i = 0; i < s->n; ++i) tau[i] /= s->scale[i];
    tau[s->n] = tau[s->n + 1] = 0;
    const double length = carom_length(tau, s->n);
    for (int i = 0; i < s->n; ++i) tau[i] /= length;
    s->linear = false;
    carom_cycle_expect(c, false);
    const carom_status status = carom_cycle_solve(c, tau, o->size);
    carom_cycle_expect(c, true);
    CAROM_TRY(status);
    bool more;
    return carom_cycle_measure(c, &more);
}

// -- two parameters -------------------------------------------------------------------------------------------------

// The map over a period, from x moved by z: Z'(x_1 - x), with the same events.
static carom_status map_at(orbits *o, const double *x, const double *z, double *to) {
    carom_cycle *c = &o->c;
    carom_shooter *s = &c->s;
    const int n = s->n, hits = o->nhits;
    carom_zero(c->by, n);
    for (int j = 0; j < s->m; ++j) carom_axpy(c->by, z[j], cycle_column(s->Z, j, n), n);
    CAROM_TRY(carom_shooter_move(s, x, c->by, c->y));
    CAROM_TRY(carom_shoot(s, c->t_0, c->T, c->y, false, c->steps));
    if (s->nhits != hits)
        return carom_fail(o->err, CAROM_UNSUPPORTED, "the sequence of contacts changes near the orbit");
    carom_cycle_return(c, x, false, c->r);
    for (int j = 0; j < s->m; ++j) to[j] = carom_dot(cycle_column(s->Z, j, n), c->r, n);
    return CAROM_OK;
}

static const double BEND = 3e-3; // in typical sizes: differences of the map
static const double SINGULAR = 1e-12; // pivots of 1 - P, relatively: rounding

// How far q moves the coordinate that it moves most, at t = 0.
static carom_status largest_move(orbits *o, const double *x, const double *q, double *most) {
    carom_cycle *c = &o->c;
    carom_shooter *s = &c->s;
    double period, *at[2], *kept = malloc((size_t)(3 * s->nx + 2 * s->nq) * sizeof *kept);
    if (!kept) return carom_orbit_no_memory(o->err);
    at[0] = kept + s->nx, at[1] = at[0] + s->nx;
    carom_status status = CAROM_OK;
    carom_copy(kept, c->x, s->nx);
    for (int side = 0; side < 2 && status == CAROM_OK; ++side) {
        carom_zero(c->by, s->n);
        for (int j = 0; j < s->m; ++j) carom_axpy(c->by, side ? BEND * q[j] : 0, cycle_column(s->Z, j, s->n), s->n);
        status = carom_shooter_move(s, x, c->by, c->x);
        if (status == CAROM_OK) status = row(o, &period, at[side], at[1] + s->nx, at[1] + s->nx + s->nq);
    }
    *most = 0;
    for (int i = 0; i < s->nq && status == CAROM_OK; ++i) *most = fmax(*most, fabs(at[1][i] - at[0][i]) / BEND);
    carom_copy(c->x, kept, s->nx);
    free(kept);
    return status;
}

// P q = -q, P'p = -p, p.q = 1, q of length 1 in typical sizes, and in the end of size 1 in the coordinate that it moves
// most at t = 0:
//
//     c = p.[C(q, q, q) + 3 B(q, (1 - P)^-1 B(q, q))]/6  (DBL-1)
static carom_status cubic(orbits *o, const double *x, double *c) {
    const carom_shooter *s = &o->c.s;
    const int m = s->m;
    double *own = calloc((size_t)(m * m + 9 * m + 1), sizeof *own), *A = own, *q = A + m * m, *p = q + m, *w = p + m,
           *z = w + m;
    int *pivot = calloc((size_t)m + 1, sizeof *pivot);
    carom_status status = own && pivot ? CAROM_OK : carom_orbit_no_memory(o->err);
    for (int j = 0; j < m && status == CAROM_OK; ++j)
        for (int i = 0; i < m; ++i)
            A[i + j * m] = carom_dot(cycle_column(s->Z, i, s->n), cycle_column(s->Y, j, s->n), s->n) + (i == j);
    if (status == CAROM_OK && !(carom_null_vector(A, m, false, q) && carom_null_vector(A, m, true, p)))
        status = carom_orbit_no_memory(o->err);
    const double scale = status == CAROM_OK ? carom_dot(p, q, m) : 1;
    double *const f[4] = {z + m, z + 2 * m, z + 3 * m, z + 4 * m};
    static const int at[4] = {-2, -1, 1, 2};
    for (int i = 0; i < 4 && status == CAROM_OK; ++i) {
        for (int j = 0; j < m; ++j) z[j] = at[i] * BEND * q[j];
        status = map_at(o, x, z, f[i]);
    }
    if (status == CAROM_OK) {
        double third = 0;
        // the map of the orbit itself is 0
        for (int j = 0; j < m; ++j)
            third += p[j] * (f[3][j] - 2 * f[2][j] + 2 * f[1][j] - f[0][j]) / (2 * pow(BEND, 3)),
                w[j] = (f[1][j] + f[2][j]) / (BEND * BEND);
        for (int j = 0; j < m; ++j)
            for (int i = 0; i < m; ++i) A[i + j * m] = 2 * (i == j) - A[i + j * m]; // 1 - P
        if (!carom_dense_lu(A, m, m, SINGULAR, pivot)) status = carom_fail(o->err, CAROM_SINGULAR, "a multiplier is 1");
        else carom_dense_lu_solve(A, m, m, pivot, w);
        double second = 0;
        const double size = carom_length(w, m);
        for (int i = 0; i < 4 && status == CAROM_OK && size > 0; ++i) { // B(q, w) by four points
            const double a = i % 2 ? 1 : -1, b = i / 2 ? 1 : -1;
            for (int j = 0; j < m; ++j) z[j] = BEND * (a * q[j] + b * w[j] / size);
            status = map_at(o, x, z, f[0]);
            if (status == CAROM_OK) second += a * b * carom_dot(p, f[0], m) / (4 * BEND * BEND) * size;
        }
        *c = (third + 3 * second) / (6 * scale);
        double most = 1;
        if (status == CAROM_OK) status = largest_move(o, x, q, &most);
        *c /= most * most;
    }
    free(own), free(pivot);
    return status;
}

static carom_status first_lyapunov(void *user, double *c) {
    orbits *o = user;
    carom_cycle *k = &o->c;
    const int n = k->s.nx;
    if (k->timeless || k->nsym > 0)
        return carom_fail(o->err, CAROM_UNSUPPORTED, "the coefficient is computed of driven orbits only");
    double *x = malloc((size_t)n * sizeof *x);
    if (!x) return carom_orbit_no_memory(o->err);
    carom_copy(x, k->x, n);
    const carom_status status = cubic(o, x, c), back = carom_cycle_shoot(k, true);
    free(x);
    return back == CAROM_OK ? status : back;
}

static carom_status multiple(void *user, int periods) {
    carom_cycle *c = &((orbits *)user)->c;
    c->fold = periods;
    return carom_cycle_refresh(c);
}

static carom_status aim(void *user, const double *at, const double *way, double value) {
    carom_cycle *c = &((orbits *)user)->c;
    CAROM_TRY(carom_shooter_aim(&c->s, at, way, value));
    return carom_cycle_refresh(c);
}

static carom_status equations(void *user, double *F, double *J, int *n) {
    orbits *o = user;
    if (!o->fresh) CAROM_TRY(carom_cycle_shoot(&o->c, true));
    o->fresh = false;
    *n = carom_cycle_equations(&o->c, o->size, F, J);
    return CAROM_OK;
}

// The orbit with the approach speed y at the contact that graze() has found, on the line of aim(), from the one before.
// first: that was found by graze().
static carom_status touch(void *user, double y) {
    orbits *o = user;
    carom_cycle *c = &o->c;
    o->g.size = o->size, o->g.T = c->T;
    CAROM_TRY(carom_graze_solve(&o->g, y));
    at_touch(o);
    return CAROM_OK;
}

// States and times where it touches, to be kept and put back.
static int touching(void *user, double *x, bool put) {
    orbits *o = user;
    const int n = o->c.s.nx;
    for (int i = 0; i < o->g.n && x; ++i, x += n + 1) {
        carom_weak_impact *h = &o->g.hit[i];
        if (put) carom_copy(h->x, x, n), h->t = x[n], h->y = 0;
        else carom_copy(x, h->x, n), x[n] = h->t;
    }
    if (put) o->g.T = o->c.T, at_touch(o);
    return o->g.n * (n + 1);
}

static double typical(void *user) { return carom_graze_typical(&((orbits *)user)->g); }

static double weakest(void *user, const char **contact) {
    const carom_shooter *s = &((orbits *)user)->c.s;
    double least = INFINITY;
    const int c = weakest_contact(s, true, &least);
    if (c >= 0) *contact = contact_name(s, c);
    return least;
}

static void spread(void *user, const double *z, double *tau) {
    carom_cycle_spread(&((orbits *)user)->c, ((orbits *)user)->size, z, tau);
}

// -- life -----------------------------------------------------------------------------------------------------------

carom_status carom_curve_orbits(carom_curve *k, const carom_follow_def *def, const char *also, const carom_model **m,
                                const char **scheme, carom_error *err) {
    orbits *o = calloc(1, sizeof *o);
    *k = (carom_curve){.user = o};
    if (!o) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for orbits");
    carom_shooter *s = &o->c.s;
    o->c.nearer = "`orbit FILE` with an orbit at this value of the parameter";
    o->def = def, o->err = err, o->size = fabs(def->to - def->from);
    s->task.model = def->model, s->task.run = def->run, s->task.signals = def->signals,
    s->stop = def->stop, s->user = def->user, s->lows = true,
    s->rtol = LINEAR, s->also = also, s->response = def->response;
    CAROM_TRY(carom_cycle_open(&o->c, def->period, def->exchange, def->conservative ? NULL : def->by, err));
    o->rtol = o->c.rtol;
    const size_t n = (size_t)s->n;
    o->re = calloc(n, sizeof *o->re), o->im = calloc(n, sizeof *o->im), o->vectors = calloc(n * n, sizeof *o->vectors),
    o->mode = calloc((size_t)s->p.nc + 1, sizeof *o->mode), o->widest = calloc((size_t)s->nq + 1, sizeof *o->widest),
    o->crossed = calloc((size_t)s->soft + 1, sizeof *o->crossed),
    o->soft_closed = calloc((size_t)s->soft + 1, sizeof *o->soft_closed),
    o->x = calloc(2 * n + (size_t)s->nq + 1, sizeof *o->x);
    carom_cycle_expect(&o->c, true);
    if (!o->re || !o->im || !o->vectors || !o->mode || !o->widest || !o->x || !o->crossed || !o->soft_closed)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for orbits");
    *k = (carom_curve){.user = o,
                       .ntau = s->n + 2,
                       .nplace = place_size(s),
                       .neig = s->n - carom_cycle_hidden(&o->c),
                       .test = tests,
                       .clear = CLEAR,
                       .begin = begin,
                       .save = save,
                       .restore = restore,
                       .predict = predict,
                       .correct = correct,
                       .linearise = linearise,
                       .tangent = tangent,
                       .look = look,
                       .beyond = beyond,
                       .apart = apart,
                       .roughly = roughly,
                       .held = held,
                       .precise = precise,
                       .settle = settle,
                       .row = row,
                       .same = same,
                       .keep = keep,
                       .extent = extent,
                       .slowest = slowest,
                       .describe = describe,
                       .graze = graze,
                       .leave = leave,
                       .beside = beside,
                       .half = half,
                       .across = across,
                       .width = width,
                       .doubles = doubles,
                       .twice = twice,
                       .cross = cross,
                       .grow = grow,
                       .aim = aim,
                       .equations = equations,
                       .spread = spread,
                       .touch = touch,
                       .touching = touching,
                       .typical = typical,
                       .weakest = weakest,
                       .multiple = multiple,
                       .first_lyapunov = first_lyapunov};
    if (def->response) k->response = response;
    if (def->conservative) { // the energy is the parameter
        carom_copy(o->x, def->start ? def->start : carom_model_q0(s->task.base), s->nq),
            carom_copy(o->x + s->nq, def->start ? def->start + s->nq : carom_model_v0(s->task.base), s->nv);
        o->c.conservative = true, o->c.target = s->value = carom_cycle_energy(&o->c, o->x);
    }
    *m = s->task.base;
    *scheme = carom_shooter_scheme(s->run.scheme);
    return CAROM_OK;
}

void carom_curve_orbits_close(carom_curve *k) {
    orbits *o = k->user;
    if (!o) return;
    carom_graze_close(&o->g);
    carom_cycle_close(&o->c);
    free(o->re), free(o->im), free(o->vectors), free(o->x), free(o->mode), free(o->hit), free(o->crossed),
        free(o->widest), free(o->soft_closed), free(o);
    k->user = NULL;
}
