// contacts.c: what happened at each contact in the last step, for the ledger.
#include "sim/sim.h"
#include "linalg/matrix.h"
#include <math.h>
#include "scheme/rules.inc"

// (BK-3)  What a scheme knows as an impulse only is, in lasting contact, a force: impulse/h.  Not so in an impact, and
//         then for joints neither.
void carom_lasting_forces(carom_sim *sim, double h) {
    const carom_step *s = &sim->step;
    const int ne = sim->sys->ne, all = ne + sim->sys->nc, *dir = sim->dir;
    const double *impulse = sim->impulse, *force = sim->force;
    double *lasting = sim->lasting;
    bool impact = false;
    const bool as_they_are = !s->record.reacted || sim->scheme->emits_events;
    if (as_they_are || sim->list.slots) carom_copy(lasting, force, sim->nl); // also of slots that are not in use
    if (as_they_are) return;
    for (int i = 0; i < s->record.nevents; ++i)
        if (s->record.events[i].kind == CAROM_IMPACT) impact = sim->struck[s->record.events[i].contact] = true;
    // of joints, of one row each
    for (int k = 0; k < dir[ne]; ++k)
        lasting[k] = impulse[k] != 0 && force[k] == 0 && !impact ? impulse[k] / h : force[k];
    for (int id = ne; id < all; ++id) {
        const int d = dir[id], end = dir[id + 1];
        const bool lasts = impulse[d] != 0 && force[d] == 0 && sim->memory[id - ne].closed && !sim->struck[id - ne];
        for (int k = d; k < end; ++k) lasting[k] = lasts ? impulse[k] / h : force[k];
    }
    for (int i = 0; i < s->record.nevents; ++i)
        if (s->record.events[i].kind == CAROM_IMPACT) sim->struck[s->record.events[i].contact] = false;
}

// (FV-4)  The reactions on which friction of the next step depends: forces, or impulse/h.  An impact is no force: then
//         those before it remain, for joints too.
void carom_last_reactions(carom_sim *sim, double h) {
    const carom_step *s = &sim->step;
    const int ne = sim->sys->ne;
    bool impact = false;
    for (int i = 0; i < s->record.nevents; ++i)
        if (s->record.events[i].kind == CAROM_IMPACT) impact = sim->struck[s->record.events[i].contact] = true;
    for (int id = 0; id < ne + sim->sys->nc; ++id)
        for (int k = sim->dir[id]; k < sim->dir[id + 1]; ++k)
            if (sim->force[k] != 0 || sim->scheme->emits_events) sim->reaction[k] = sim->force[k];
            else if (!(id < ne ? impact : sim->struck[id - ne])) sim->reaction[k] = sim->impulse[k] / h;
    for (int i = 0; i < s->record.nevents; ++i)
        if (s->record.events[i].kind == CAROM_IMPACT) sim->struck[s->record.events[i].contact] = false;
}

// M^-1 f with the reactions of joints.
static carom_status acceleration(carom_sim *sim, double t, const double *q, const double *v) {
    carom_step *s = &sim->step;
    const carom_status status = carom_free_motion(s, &s->inside->F_free, s->inside->a_free, NULL, t, q, v);
    if (status != CAROM_SINGULAR)
        return status != CAROM_OK ? status : carom_resolution_joints(sim, s->inside->a_free, t, q, v);
    carom_zero(s->inside->a_free, s->sys->nv); // without inertia there is no such acceleration
    return CAROM_OK;
}

// theta of contact c at t in a step of h from t_0 on (CL-4); 0 where the model cannot tell.  known: M^-1 f there has
// been found.
static double threshold(carom_sim *sim, int c, double t, double t_0, double h, bool *known) {
    carom_step *s = &sim->step;
    double theta = 0;
    s->h = sim->control.on ? h : sim->plan.given; // the step of the run, also where its end or rows make one shorter
    const carom_evaluation_point at = {.t = t_0, .q = sim->undo.q, .v = sim->undo.v, .f = s->inside->a_free};
    bool (*const stop)(const void *) = s->inside->stop;
    s->inside->stop = NULL; // the step is done: a stop comes after its books
    const carom_memory *m = sim->memory + c;
    const bool flew = !m->closed && t - sim->t0 - m->touched > RULE_FLIGHT * s->h;
    carom_status status = *known ? CAROM_OK : acceleration(sim, at.t, at.q, at.v);
    if (status == CAROM_OK) status = carom_explained(s, &theta, &sim->all, s->sys->ne + c, flew, at);
    s->inside->stop = stop;
    if (status != CAROM_OK) return 0;
    *known = true;
    return theta;
}

// Lasting contact that impulses carry step by step: the approach is not what the last impulse left but comes from
// directions that have changed since.  What the impulse takes is then the scheme's error.  The step after an impact may
// finish that.
static bool lasting(const carom_sim *sim, int c) {
    const carom_memory *m = sim->memory + c;
    const double u = sim->step.record.u_before[sim->step.dir[sim->step.sys->ne + c]];
    // half of it is new
    return sim->scheme->impulses && m->closed && m->impulsive == 1 && fabs(u - m->after) > 0.5 * fabs(u);
}

// (CL-6)  an impact: an impulse with u < -theta before it.  In lasting contact theta is kept for a while.
// there: the column of the contact is in sim->all.
static bool struck(carom_sim *sim, int c, double t_0, double h, bool *known, bool *there) {
    const int d = sim->step.dir[sim->step.sys->ne + c];
    carom_memory *m = sim->memory + c;
    const double approach = -sim->step.record.u_before[d];
    if (m->impulsive == 2) return false; // some schemes spread an impact over two steps
    // 4 tol V: (CL-2)
    if (!(sim->step.record.impulse[d] > 0 && approach > 4 * sim->step.tol * sim->kept->speed)) return false;
    if (m->reacting == 0 && sim->step.record.substeps > 0)
        return true; // landed in one of the steps inside this one, whose
                     // length says nothing
    if (rule_known(approach, m->theta, m->age)) return ++m->age, false;
    m->theta = threshold(sim, c, sim->kept->t, t_0, h, known);
    m->age = 0;
    *there = m->theta > 0;
    return approach > m->theta;
}

// Gaps at the start of the present step; NULL: nobody asked for them.
static const double *gaps_before(const carom_sim *sim) {
    const size_t at = (size_t)((const unsigned char *)sim->gaps.now - (const unsigned char *)sim->kept);
    return sim->undo.was.stale ? NULL : (const double *)(const void *)((const unsigned char *)sim->undo.block + at);
}

// A contact that was open at the start is met for the first time: that is no lasting contact, however fast forces of a
// few steps of this length are.
static bool lands(const carom_sim *sim, int c) {
    const int id = sim->sys->ne + c, d = sim->step.dir[id];
    const carom_memory *m = sim->memory + c;
    return c < carom_sim_fixed_contacts(sim) && sim->gaps.first[id] > sim->gaps.touches && !m->closed &&
           m->reacting == 0 &&
           sim->step.record.impulse[d] > 0 && sim->step.record.u_before[d] < 0;
}

// (BK-8)  A body that approaches with u- touches after g_0/|u-| and leaves with u+ from there on: at the end of a step
//         of h
//         g = min(g_0, 0) + (h - g_0/|u-|)+ max(u+, 0).
//         Where the impact has left it elsewhere, the step has moved it; no farther than it was going to move.
static void measure_way(carom_sim *sim, int c, double h) {
    const int id = sim->sys->ne + c, d = sim->step.dir[id];
    const double *before = gaps_before(sim), approach = -sim->step.record.u_before[d],
                 leave = fmax(0, sim->step.record.u_after[d]);
    if (!before || sim->gaps.stale || !(before[id] < HUGE_VAL && sim->gaps.now[id] < HUGE_VAL)) return;
    const double g = fmin(before[id], 0) + fmax(0, h - fmax(0, before[id]) / approach) * leave,
                 way = fmin(fabs(sim->gaps.now[id] - g), h * fmax(approach, leave));
    const long long known = carom_sim_known_as(sim, id);
    const double size = sim->size ? sim->size(sim->names.name_user, known) : 0;
    carom_kept *k = sim->kept;
    // of two, the one that is off by more of its length; where the one so far has none, the one that is off by more
    const double length = size > 0 ? size : k->ledger.gap, worst = k->off.size > 0 ? k->off.size : k->off.gap,
                 touches = sim->gaps.touches;
    if (!(k->off.way > 0 && worst > touches ? way * worst > k->off.way * length : way > k->off.way)) return;
    // a gap that this impact itself has opened was not there before it
    const bool own = fabs(before[id]) <= touches && k->ledger.gap <= way + touches;
    k->off.way = way, k->off.size = size, k->off.gap = own ? 0 : k->ledger.gap, k->off.t = k->t, k->off.id = known;
}

// (BK-9)  The time of an impact is known to a step, and so is the flight between two: one of k steps to 1/k of it.
//         Where an impact has changed the approach |u| of a contact that rebounds by d, and k <= FEW steps later this
//         one finds that, as much of d is unknown; what was unknown there of impacts before counts as well.  Of its
//         energy of approach  E = p min(|u|, |d|)/(2 (1 + e))  is unknown each time: (sum E^2)^1/2 in all, as of
//         independent errors, which in a crowd cancel.  The column of the contact is the one in sim->all.
static void measure_flight(carom_sim *sim, int c, double h) {
    enum { FEW = 4 };
    const int id = sim->sys->ne + c, d = sim->step.dir[id], nv = sim->sys->nv;
    const carom_entries W = carom_entries_of(&sim->all.W, 0);
    carom_kept *k = sim->kept;
    const double e = sim->sys->contacts[c].restitution, now = k->t - sim->t0, approach = -sim->step.record.u_before[d];
    double change = 0;
    for (int j = 0; j < W.n; ++j) {
        const int i = carom_entry_row(&W, j);
        double *at = sim->pushed + i, *all = at + nv, *before = all + nv;
        if (W.a[j] == 0) continue;
        if (*at < now) {
            *before = now - *at < (FEW + 0.5) * h ? *all * fmin(1, h / (now - *at)) : 0;
            *all = *before + sim->v[i] - sim->undo.v[i];
            *at = now;
        }
        change += W.a[j] * *before;
    }
    const double energy = e > 0 ? 0.5 * sim->step.record.impulse[d] * fmin(approach, fabs(change)) / (1 + e) : 0;
    k->brief.squares += energy * energy;
    if (energy > k->brief.most) k->brief.most = energy, k->brief.t = k->t, k->brief.id = carom_sim_known_as(sim, id);
}

// When did the contact of a located event touch last?
static void remember(carom_sim *sim, const carom_event *e) {
    carom_memory *m = sim->memory + e->contact;
    if (e->kind == CAROM_CLOSE || e->kind == CAROM_OPEN) m->closed = e->kind == CAROM_CLOSE;
    m->touched = e->t - sim->t0;
}

void carom_contacts_update(carom_sim *sim, double t_0, double h) {
    carom_step *s = &sim->step;
    carom_ledger *l = &sim->kept->ledger;
    const bool emits_events = sim->scheme->emits_events;
    bool known = false;
    sim->kept->busy = 0;
    for (int c = 0; c < sim->sys->nc && !emits_events; ++c) {
        if (carom_memory_idle(sim->memory + c, s, c)) continue;
        bool there = false;
        const bool impact = struck(sim, c, t_0, h, &known, &there);
        if ((impact || lands(sim, c)) && !sim->control.on) measure_way(sim, c, h);
        if (impact && there && !sim->control.on) measure_flight(sim, c, h);
        if (!impact && lasting(sim, c)) l->energy.impact -= s->record.lost[c]; // it remains in the balance
        carom_memory_update(sim->memory + c, s, sim->kept->t, c, impact);
        if (sim->memory[c].reacting) sim->memory[c].touched = sim->kept->t - sim->t0;
        sim->kept->busy += sim->memory[c].reacting > 0 || sim->memory[c].closed;
    }
    for (int i = 0; i < s->record.nevents; ++i) {
        const carom_event *e = s->record.events + i;
        if (e->kind == CAROM_IMPACT) l->impacts += 1;
        if (e->kind == CAROM_ACCUMULATION) l->accumulations += 1;
        if (emits_events) remember(sim, e);
    }
}
