// switches.c: contacts and parts that are there only while a condition holds.
//
// A simulation holds which of them are on, and the system answers as if the rest were not there.  Schemes know nothing
// of it.
//
// (SW-1)  Switches change at the end of a step, c(t, q, v) > 0: on.  Schemes that locate events have their step cut
//         where the first one changes (between.c).
// (SW-2)  A gate lets an open contact close; one that is closed keeps it on.  Schemes that know gates themselves
//         (CAROM_CLOSES_WHILE) have it always on.
// (SW-3)  A part that comes has the velocities of its start, one that goes has none: what that does to the energy is
//         external.
#include "base/tolerance.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

void carom_sim_switches_allocate(carom_sim *sim, carom_arena *mem, carom_arena *keep) {
    const size_t n = (size_t)sim->sys->conditional->nswitches;
    sim->switches.some = n > 0 && !sim->scheme->closes_while;
    for (size_t i = 0; i < n; ++i) sim->switches.some = sim->switches.some || sim->sys->conditional->contact_of[i] < 0;
    sim->switches.on = carom_allocate(keep, n);
    CAROM_ALLOCATE(mem, n, &sim->switches.condition, &sim->switches.next, &sim->switches.wanted);
    sim->switches.off = n ? carom_allocate_bytes(mem, n * sizeof *sim->switches.off) : NULL;
}

carom_status carom_sim_conditions(carom_sim *sim, double t, bool *some, carom_error *err) {
    const carom_system *sys = sim->sys;
    *some = false;
    const carom_status status =
        sys->conditional->evaluate(sys->model, sim->step.sys_work, t, sim->q, sim->v, sim->switches.condition);
    if (status != CAROM_OK)
        return carom_fail(err, status, "t = %.9g: a condition (`exists while`, `closes while`) is not a number", t);
    for (int i = 0; i < sys->conditional->nswitches; ++i) {
        const int c = sys->conditional->contact_of[i];
        const bool stays = c >= 0 && (sim->scheme->closes_while ||
                                      (sim->switches.on[i] != 0 && sim->held[c] > 0)); // (SW-2)
        sim->switches.next[i] = stays || sim->switches.condition[i] > 0;
        *some = *some || sim->switches.next[i] != sim->switches.on[i];
    }
    return CAROM_OK;
}

// Inside what it meets nothing can begin.
static carom_status refuse_inside(const carom_sim *sim, double t, int id, carom_error *err) {
    char name[80];
    return carom_fail(err, CAROM_USER,
                      "t = %.9g: '%.60s' begins to be there, or may close again (`exists while`, `closes while`), but "
                      "its gap is %.6g: it must be positive there",
                      t, sim->names.name ? sim->names.name(sim->names.name_user, carom_sim_known_as(sim, id))
                                         : carom_constraint_text(&sim->step, id, name, sizeof name),
                      sim->gaps.now[id]);
}

carom_status carom_sim_switch(carom_sim *sim, double t, carom_error *err) {
    static const double INSIDE = 1e-6; // as (EV-24), of positions
    const carom_system *sys = sim->sys;
    bool some = sim->switches.decided;
    if (some) carom_copy(sim->switches.next, sim->switches.wanted, sys->conditional->nswitches);
    else CAROM_TRY(carom_sim_conditions(sim, t, &some, err));
    if (!some) return CAROM_OK;
    for (int i = 0; i < sys->conditional->nswitches; ++i)
        if (sim->switches.next[i] != sim->switches.on[i] && sys->conditional->contact_of[i] < 0)
            sys->conditional->velocities(sys->model, i, sim->switches.next[i] != 0, sim->v);
    double *before = sim->whole.gap;
    const int all = sys->ne + sys->nc;
    carom_zero(before, all);
    carom_status status = all > 0 ? sys->gaps(sys->model, sim->step.sys_work, t, sim->q, before) : CAROM_OK;
    carom_copy(sim->switches.on, sim->switches.next, sys->conditional->nswitches);
    carom_sim_tell(sim);
    carom_zero(sim->gaps.now, all);
    if (all > 0 && status == CAROM_OK) status = sys->gaps(sys->model, sim->step.sys_work, t, sim->q, sim->gaps.now);
    if (status != CAROM_OK) return carom_sim_failed(sim, status, "gaps", err);
    const double size = fmax(carom_size_moving(sys, sim->q, sys->nq), sim->h * carom_size_moving(sys, sim->v, sys->nv));
    for (int id = sys->ne; id < all; ++id) {
        if (sim->gaps.now[id] == before[id]) continue;
        carom_sim_blank(sim, id - sys->ne);
        if (sim->scheme->reset_contact)
            sim->scheme->reset_contact(sim->scheme_work, &sim->step, sim->step.sys->ne + id - sys->ne);
        if (sim->gaps.start) sim->gaps.start[id] = sim->gaps.now[id];
        if (sim->kept->n > 0 && sim->gaps.now[id] < -INSIDE * size) return refuse_inside(sim, t, id, err);
    }
    sim->kept->jumped = 1;
    sim->undo.quiet = false;
    return CAROM_OK;
}

carom_status carom_sim_switch_accounted(carom_sim *sim, carom_error *err) {
    carom_kept *k = sim->kept;
    double T[2], V[2];
    bool some;
    if (!sim->switches.some) return CAROM_OK;
    const double t = k->t + CAROM_INSTANT * sim->h; // a step that ends at the time of a change sees it
    CAROM_TRY(carom_sim_conditions(sim, t, &some, err));
    if (!some) return CAROM_OK;
    CAROM_TRY(carom_sim_energy(sim, &T[0], &V[0], err));
    CAROM_TRY(carom_sim_switch(sim, t, err));
    CAROM_TRY(carom_sim_energy(sim, &T[1], &V[1], err));
    *(k->n > 0 ? &k->ledger.energy.external : &k->ledger.energy.start) += (T[1] + V[1]) - (T[0] + V[0]); // (SW-3)
    CAROM_TRY(carom_sim_observe(sim, &k->power_in, &k->power_out, err));
    return carom_sim_account_works(sim, 0, err);
}
