// between.c: steps of schemes that locate events, in pieces between changes of switches.
//
// (SW-1)  A step behind which a switch is another one is made again, up to the middle of the interval that holds the
//         change, until that is an instant; the rest of the step begins behind it.  A switch that changes twice in a
//         step is not seen.
#include "sim/sim.h"
#include <math.h>
#include <string.h>

typedef struct place { bool reacted, stale; int nevents; } place;

static place keep(carom_sim *sim) {
    memcpy(sim->switches.piece, sim->kept, sim->kept_size);
    return (place){sim->step.record.reacted, sim->gaps.stale, sim->step.record.nevents};
}

static void go_back(carom_sim *sim, place at) {
    memcpy(sim->kept, sim->switches.piece, sim->kept_size);
    sim->step.record.reacted = at.reacted, sim->step.record.nevents = at.nevents;
    sim->step.record.account = (carom_account){0};
    sim->gaps.stale = at.stale;
    carom_sim_tell(sim);
}

// From `from` to `to`.  *some: a switch is another one there.
static carom_status advance(carom_sim *sim, double from, double h, double to, bool *some, carom_error *err) {
    sim->unbooked = HUGE_VAL;
    CAROM_TRY(sim->sys->events->next_jump || sim->sys->events->limit_step ? carom_sim_pieces(sim, from, h, to, err)
                                               : carom_sim_advance_halving(sim, from, h, err));
    if (from > sim->kept->t && sim->unbooked == HUGE_VAL) sim->unbooked = to - from;
    return carom_sim_conditions(sim, to, some, err);
}

// Those who watch a run see no trials.
typedef struct watchers {
    carom_status (*dense)(void *, double, const double *, const double *);
    carom_status (*inner)(void *, double, const double *, const double *);
    carom_status (*event)(void *, carom_side, double, const double *, const double *);
    carom_status (*change)(void *, const carom_change *);
} watchers;

static watchers unwatch(carom_sim *sim) {
    const watchers had = {sim->callbacks.dense, sim->callbacks.inner, sim->inside.on_event, sim->inside.on_change};
    sim->callbacks.dense = NULL, sim->inside.on_event = NULL, sim->inside.on_change = NULL;
    carom_sim_watch_inner(sim, NULL, sim->callbacks.inner_user);
    return had;
}

static void watch(carom_sim *sim, watchers w) {
    sim->callbacks.dense = w.dense, sim->inside.on_event = w.event, sim->inside.on_change = w.change;
    carom_sim_watch_inner(sim, w.inner, sim->callbacks.inner_user);
}

// (SW-1)  *to becomes the end of the interval, which lies behind the first change; where it is the start of the piece,
//         the change is there.  `wanted` is what follows.
static carom_status locate(carom_sim *sim, place at, double from, double *to, carom_error *err) {
    const int n = sim->sys->conditional->nswitches;
    double low = from;
    carom_copy(sim->switches.wanted, sim->switches.next, n);
    while (*to - low > 2 * carom_sim_instant(sim, *to)) {
        const double middle = low + 0.5 * (*to - low);
        bool some;
        if (!(middle > low && middle < *to)) break;
        go_back(sim, at);
        CAROM_TRY(advance(sim, from, middle - from, middle, &some, err));
        if (some) *to = middle, carom_copy(sim->switches.wanted, sim->switches.next, n);
        else low = middle;
    }
    if (low == from) *to = from;
    return CAROM_OK;
}

carom_status carom_sim_between_switches(carom_sim *sim, double h, double t_1, carom_error *err) {
    enum { MOST = 10000 }; // changes in a step
    double from = sim->kept->t;
    for (int n = 0; n < MOST; ++n) {
        const place at = keep(sim);
        const watchers w = unwatch(sim);
        const bool watched = w.dense || w.inner || w.event || w.change;
        bool some;
        double to = t_1, length = n ? t_1 - from : h;
        carom_status status = advance(sim, from, length, to, &some, err);
        if (status == CAROM_OK && some) status = locate(sim, at, from, &to, err), length = to - from;
        watch(sim, w);
        CAROM_TRY(status);
        if (some || watched) {
            go_back(sim, at);
            bool there;
            if (to > from) CAROM_TRY(advance(sim, from, length, to, &there, err));
        }
        if (!some || to == t_1) return CAROM_OK; // at the end of the step: carom_sim_switch_accounted()
        sim->switches.decided = true; // whatever rounding makes of the condition there
        status = carom_sim_pass(sim, to - from, to, to, err);
        sim->switches.decided = false;
        CAROM_TRY(status);
        from = to;
    }
    return carom_fail(err, CAROM_NOT_CONVERGED,
                      "t = %.9g: conditions (`exists while`, `closes while`) change without end", from);
}
