// decide.c: what happens at an event: impact, then who stays, sticks, slides or leaves.
//
// Newton's law acts on all contacts at the wall at once (EV-9); those that are left without normal velocity enter the
// laws on acceleration level (EV-5), and those decide.  Where acceleration and reaction both vanish, the laws
// are asked again a moment later (EV-11).
#include "event/event.h"
#include <float.h>
#include <math.h>

enum { LONG_RUN = 50 }; // impacts in a row, each sooner than the one before

// Velocities up to this count as none: of the normal, of slip.
static double still(const event_work *w, const carom_step *s, const carom_local *L, int k) {
    return event_still(w, s, L, k) + 64 * DBL_EPSILON * carom_local_magnitude(L, k, w->v);
}

static double still_slip(const event_work *w, const carom_step *s, const carom_local *L, int k) {
    return event_still_slip(w, s, L, k) + 64 * DBL_EPSILON * carom_local_magnitude(L, k, w->v);
}

// A step that has used up most of its events hands over sooner: a long run of impacts that will end within the step, by
// its own restitution, is ended now.
static bool hand_over(const event_work *w, const carom_step *s, int contact) {
    const carom_run *r = w->runs.run + contact;
    const double e = s->sys->contacts[contact].restitution, rest = e < 1 ? r->flight * e / (1 - e) : HUGE_VAL;
    const bool late = w->events > 0.75 * s->opt[OPT_EVENTS] || s->nevents > 0.75 * s->most_events;
    return late && w->f.mode[contact] == CAROM_MODE_OPEN && r->count >= LONG_RUN && w->hit[2 * contact] && w->t + rest <= s->t + s->h;
}

// (EV-14)  Flights so short, after a run of ever shorter ones, have accumulated: whatever velocity is left, the limit
// has none, because a velocity that changes sign infinitely often before one instant tends to zero there.  Contacts that take turns are
// left to carom_accumulation_limit().
static void find_accumulated(event_work *w, const carom_step *s) {
    const double shortest = s->opt[OPT_TIME] * w->head.size_q / w->head.size_v;
    const carom_run *run = w->runs.run;
    for (int i = 0; i < s->sys->nc; ++i) {
        bool alone = true;
        for (int j = 0; j < s->sys->nc; ++j) alone = alone && (j == i || run[j].count == 0 || run[j].t < run[i].t - run[i].flight);
        w->over[i] = w->runs.over[i] || hand_over(w, s, i) ||
                     (alone && w->f.mode[i] == CAROM_MODE_OPEN && run[i].count >= CAROM_RUN && w->t - run[i].t <= shortest);
    }
}

carom_status event_limit(event_work *w, carom_step *s, bool *found) {
    carom_accumulation *z = &w->runs;
    for (int c = 0; c < s->sys->nc; ++c) z->closed[c] = w->f.mode[c] != CAROM_MODE_OPEN;
    CAROM_TRY(carom_accumulation_limit(z, s, w->t, s->opt[OPT_RTOL], event_ahead, w, found));
    if (!*found) return CAROM_OK;
    carom_copy(w->y, w->y_1, w->ny);
    carom_copy(w->q, z->q, s->sys->nq);
    w->t = z->t;
    for (int c = 0; c < s->sys->nc; ++c) w->hit[2 * c] = z->over[c];
    return CAROM_OK;
}

// (EV-9)  I_c: contacts that were closed, that were reported, or that are at the wall.  One without a direction (corners that
// coincide) carries nothing.
static carom_status gather(event_work *w, carom_step *s, bool first) {
    const carom_system *sys = s->sys;
    CAROM_TRY(event_hold(s, CAROM_HOLD, w->t, w->q));
    CAROM_TRY(carom_gaps(s, w->g, w->t, w->q));
    carom_close_all(s, &w->all);
    CAROM_TRY(carom_directions(s, &w->all, w->t, w->q));
    find_accumulated(w, s);
    const double relative = first || w->switched ? fmax(s->opt[OPT_GAP], s->opt[OPT_RTOL]) : s->opt[OPT_GAP];
    for (int id = 0; id < sys->ne + sys->nc; ++id) {
        const int c = id - sys->ne;
        const double reach = carom_local_magnitude(&w->all, w->all.at[id], w->span);
        if (c >= 0) {
            w->was[c] = w->f.mode[c], w->left[c] = 0;
            w->in[c] = reach > 0 && (w->was[c] != CAROM_MODE_OPEN || w->hit[2 * c] || w->over[c] || w->g[id] <= relative * reach);
            if (!w->in[c]) w->f.mode[c] = CAROM_MODE_OPEN;
        }
        w->f.side[id] = c < 0 || w->in[c] ? -1 : 1;
    }
    carom_close(s, &w->C, w->f.side);
    return CAROM_OK;
}

static bool approaches(const event_work *w, const carom_step *s, bool first) {
    for (int b = 0; b < w->C.nb; ++b) {
        const int k = w->C.at[b];
        const double little = 1e-3 * event_still(w, s, &w->C, k) + 64 * DBL_EPSILON * carom_local_magnitude(&w->C, k, w->v);
        if (w->C.id[b] < s->sys->ne ? first && fabs(w->u_minus[k]) > little : w->u_minus[k] < -little) return true;
    }
    return false;
}

// Contacts of a run that has come too near to the wall for events of their own hit one after the other.
static bool in_turn(event_work *w, const carom_step *s) {
    carom_turns *z = &w->runs.turns;
    int n = 0;
    bool run = false;
    for (int b = s->sys->ne; b < w->C.nb; ++b) {
        const int c = w->C.id[b] - s->sys->ne;
        const carom_run *r = w->runs.run + c;
        w->slow[c] = still(w, s, &w->C, w->C.at[b]);
        z->among[c] = w->was[c] == CAROM_MODE_OPEN && !w->over[c];
        z->gap[c] = fmax(w->g[s->sys->ne + c], 0);
        z->eps[c] = carom_local_rounding(&w->C, w->C.at[b], w->q, s->sys->nq) + (r->count > 0 ? w->t - r->t : 0) * w->slow[c];
        n += z->among[c];
        run = run || (z->among[c] && r->count >= CAROM_RUN);
    }
    return run && n > 1;
}

static carom_status impact(event_work *w, carom_step *s) {
    bool some;
    for (int c = 0; c < s->sys->nc; ++c) w->runs.turns.among[c] = false;
    if (in_turn(w, s)) {
        CAROM_TRY(carom_directions(s, &w->all, w->t, w->q));
        CAROM_TRY(carom_flow_impact_in_turn(&w->f, s, w->t, w->q, w->v, w->in, w->slow, &w->runs.turns, &w->all, &some, w->before, w->after, w->impulse));
    } else {
        for (int c = 0; c < s->sys->nc; ++c) w->slow[c] = w->over[c] ? HUGE_VAL : 0;
        CAROM_TRY(carom_flow_impact(&w->f, s, w->t, w->q, w->v, w->in, w->slow, true, &some, w->before, w->after, w->impulse));
    }
    return carom_accumulation_impacts(&w->runs, s, w->t, &w->C, w->v, w->before, w->after, w->impulse);
}

// Contacts with a normal velocity leave; the others are candidates, sliding or perhaps sticking.
static void candidates(event_work *w, carom_step *s) {
    carom_local_velocity(w->u_plus, &w->C, w->v);
    for (int b = s->sys->ne; b < w->C.nb; ++b) {
        const int k = w->C.at[b], tangents = w->C.at[b + 1] - k - 1, contact = w->C.id[b] - s->sys->ne;
        double *mode = w->f.mode + contact;
        const double *u = w->u_plus + k;
        w->left[contact] = u[0];
        if (u[0] > still(w, s, &w->C, k)) {
            *mode = CAROM_MODE_OPEN;
            w->in[contact] = false;
            continue;
        }
        *mode = CAROM_MODE_STICK;
        if (tangents == 0) continue;
        const double size = carom_length(u + 1, tangents);
        const bool slid = w->was[contact] == CAROM_MODE_SLIP, young = slid && event_young(w, contact, tangents), event = slid && w->hit[2 * contact + 1];
        if (!(event && !young) && size > still_slip(w, s, &w->C, k + 1)) *mode = CAROM_MODE_SLIP;
        if (*mode == CAROM_MODE_SLIP && young && !event && size <= EVENT_YOUNG * event_still_slip(w, s, &w->C, k + 1)) continue;
        w->f.live[contact] = tangents > 1;
        for (int i = 0; *mode == CAROM_MODE_SLIP && i < tangents; ++i) w->f.dir[CAROM_TANGENTS * contact + i] = u[1 + i] / size;
    }
}

// (EV-10)  The velocities that are left are taken away by one last, plastic impulse.  It is booked where it is more
// than rounding.
static carom_status settle(event_work *w, carom_step *s) {
    CAROM_TRY(event_project_velocity(w, s, w->t, w->q, w->v, w->p));
    const carom_local *L = &w->f.L;
    bool some = false;
    for (int k = 0; k < L->at[L->nb]; ++k)
        some = some || fabs(w->f.u[k]) * (w->p[k] != 0) > 1024 * DBL_EPSILON * carom_local_magnitude(L, k, w->v);
    if (!some) return CAROM_OK;
    carom_copy(w->u_minus, w->f.u, L->at[L->nb]);
    carom_local_velocity(w->u_plus, L, w->v);
    s->booked_t = w->t;
    carom_book_impulses(s, L, w->p, w->u_minus, w->u_plus);
    return CAROM_OK;
}

// Contacts that come to rest may stop others with them, whose slip is coupled to theirs: those are candidates for
// sticking too.
static bool stopped_too(event_work *w, const carom_step *s) {
    bool some = false;
    carom_local_velocity(w->u_plus, &w->C, w->v);
    for (int b = s->sys->ne; b < w->C.nb; ++b) {
        const int k = w->C.at[b];
        const int contact = w->C.id[b] - s->sys->ne, tangents = w->C.at[b + 1] - k - 1;
        if (w->f.mode[contact] != CAROM_MODE_SLIP || event_young(w, contact, tangents) ||
            carom_length(w->u_plus + k + 1, tangents) > still_slip(w, s, &w->C, k + 1)) continue;
        w->f.mode[contact] = CAROM_MODE_STICK;
        some = true;
    }
    return some;
}

// What the laws say of block b: 1 holds, -1 lets go, 0 cannot say.  First for the normal, then for the tangents.
static int holds(const double *lambda, const double *Gamma, const double *noise, const double *D, double tol) {
    if (Gamma[0] > tol * noise[0]) return -1;
    return lambda[0] * D[0] > tol * noise[0] ? 1 : 0;
}

static int sticks(const double *lambda, const double *Gamma, const double *noise, const double *D, int tangents,
                  double mu, double tol) {
    if (carom_length(Gamma + 1, tangents) > tol * (noise[1] + noise[0])) return -1;
    return (mu * lambda[0] - carom_length(lambda + 1, tangents)) * D[1] > tol * (noise[1] + mu * noise[0]) ? 1 : 0;
}

// What the laws at the present state say, by *_0: does every contact hold, or does none decide what tol cannot see?
enum { UNSURE, SURE, ALL_HOLD };
static int say(const event_work *w, const carom_step *s, double tol) {
    int answer = ALL_HOLD;
    for (int b = s->sys->ne; b < w->f.L.nb && answer != UNSURE; ++b) {
        const int k = w->f.L.at[b], contact = w->f.L.id[b] - s->sys->ne;
        int here = holds(w->lambda_0 + k, w->Gamma_0 + k, w->noise_0 + k, w->D_0 + k, tol);
        if (here > 0 && w->f.mode[contact] == CAROM_MODE_STICK && w->f.L.at[b + 1] - k > 1)
            here = sticks(w->lambda_0 + k, w->Gamma_0 + k, w->noise_0 + k, w->D_0 + k, w->f.L.at[b + 1] - k - 1,
                          s->sys->contacts[contact].friction, tol);
        answer = here == 0 ? UNSURE : here < 0 ? SURE : answer;
    }
    return answer;
}

// No contact moves away: whoever carries nothing may yet share.
static bool none_leaves(const event_work *w, const carom_step *s, double tol) {
    for (int k = 0; k < w->f.L.at[w->f.L.nb]; ++k)
        if (fabs(w->Gamma_0[k]) > tol * w->noise_0[k]) return false;
    return w->f.L.nb > s->sys->ne;
}

// Laws at the present state go to *_0; where they do not decide, contacts that share may do so by sharing better.  Else the
// state is moved on by a moment, where the first derivative that is not zero has had its say.
static carom_status look_ahead(event_work *w, carom_step *s) {
    const int m = w->f.L.at[w->f.L.nb];
    carom_copy(w->lambda_0, w->f.lambda, m);
    carom_copy(w->Gamma_0, w->f.Gamma, m);
    carom_copy(w->noise_0, w->f.noise, m);
    carom_copy(w->D_0, w->f.D, m);
    const double tol = s->opt[OPT_DECIDE];
    if (say(w, s, tol) != UNSURE) return CAROM_OK;
    if (none_leaves(w, s, tol)) {
        event_inside(w, s, w->lambda_0);
        carom_copy(w->f.lambda, w->lambda_0, m);
        if (say(w, s, 1e-3 * tol) == ALL_HOLD) return CAROM_OK;
    }
    // (EV-11)  delta = 10 tol size_q/size_v
    const double delta = 10 * tol * w->head.size_q / w->head.size_v;
    carom_move(s, w->q_1, w->q, delta, w->v);
    carom_add(w->v_1, w->v, delta, w->f.a, s->sys->nv);
    return event_law(w, s, w->t + delta, w->q_1, w->v_1);
}

static void decide_block(event_work *w, const carom_step *s, int b) {
    const int k = w->f.L.at[b], contact = w->f.L.id[b] - s->sys->ne, tangents = w->f.L.at[b + 1] - k - 1;
    const double tol = s->opt[OPT_DECIDE], mu = s->sys->contacts[contact].friction;
    double *mode = w->f.mode + contact;
    int normal = holds(w->lambda_0 + k, w->Gamma_0 + k, w->noise_0 + k, w->D_0 + k, tol);
    if (normal == 0) normal = holds(w->f.lambda + k, w->f.Gamma + k, w->f.noise + k, w->f.D + k, 1e-3 * tol);
    if (normal < 0 || (normal == 0 && w->was[contact] != CAROM_MODE_OPEN && w->hit[2 * contact])) {
        *mode = CAROM_MODE_OPEN; // its reaction fell to zero
        return;
    }
    if (*mode != CAROM_MODE_STICK || tangents == 0) return;
    const double *Gamma = w->Gamma_0 + k;
    int tangential = sticks(w->lambda_0 + k, Gamma, w->noise_0 + k, w->D_0 + k, tangents, mu, tol);
    if (tangential == 0) {
        Gamma = w->f.Gamma + k;
        tangential = sticks(w->f.lambda + k, Gamma, w->f.noise + k, w->f.D + k, tangents, mu, 1e-3 * tol);
    }
    if (tangential >= 0) return;
    *mode = CAROM_MODE_SLIP;
    w->f.live[contact] = 0;
    for (int i = 0; i < tangents; ++i) w->f.dir[CAROM_TANGENTS * contact + i] = Gamma[1 + i] / carom_length(Gamma + 1, tangents);
}

// (EV-12)  The rest of a run that is closed now would have lasted 2 u/(Gamma (1 - e)), by its last flight T e/(1 - e).
static double rest_of_run(const event_work *w, const carom_step *s, int contact, double Gamma) {
    const double e = s->sys->contacts[contact].restitution, left = w->left[contact];
    if (e >= 1) return 0;
    if (w->over[contact]) return w->runs.run[contact].flight * e / (1 - e);
    return left > 0 && Gamma > 0 ? 2 * left / (Gamma * (1 - e)) : 0;
}

// Contacts that were closed or reported are put on the wall, also those that will leave: their gap is zero to rounding
// only.  Not so those that leave because they have run off their feature.
static carom_status touch(event_work *w, carom_step *s) {
    CAROM_TRY(carom_directions(s, &w->C, w->t, w->q));
    carom_local_velocity(w->u_minus, &w->C, w->v);
    for (int i = 0; i < s->sys->nc; ++i)
        w->f.mode[i] = w->in[i] && (w->was[i] != CAROM_MODE_OPEN || w->hit[2 * i]) ? CAROM_MODE_STICK : CAROM_MODE_OPEN;
    for (int b = s->sys->ne; b < w->C.nb && w->switched; ++b)
        if (w->u_minus[w->C.at[b]] > still(w, s, &w->C, w->C.at[b])) w->f.mode[w->C.id[b] - s->sys->ne] = CAROM_MODE_OPEN;
    CAROM_TRY(event_project_position(w, s, w->t, w->q));
    for (int i = 0; i < s->sys->nc; ++i) w->f.mode[i] = w->in[i] ? w->was[i] : CAROM_MODE_OPEN;
    CAROM_TRY(carom_directions(s, &w->C, w->t, w->q));
    carom_local_velocity(w->u_minus, &w->C, w->v);
    return CAROM_OK;
}

carom_status event_resolve(event_work *w, carom_step *s, bool first) {
    bool limit = false;
    for (int i = 0; i < s->sys->nc; ++i) limit = limit || w->runs.over[i];
    CAROM_TRY(carom_beside(s, CAROM_LEFT, w->t, w->q, w->v));
    CAROM_TRY(gather(w, s, first));
    CAROM_TRY(touch(w, s));
    if (approaches(w, s, first)) CAROM_TRY(impact(w, s));
    candidates(w, s);
    do {
        CAROM_TRY(settle(w, s));
    } while (stopped_too(w, s));
    CAROM_TRY(event_law(w, s, w->t, w->q, w->v));
    CAROM_TRY(look_ahead(w, s));
    for (int i = 0; i < s->sys->nc; ++i) w->pull[i] = 0;
    carom_zero(w->choice, w->all.at[w->all.nb]);
    for (int b = 0; b < w->f.L.nb; ++b)
        carom_copy(w->choice + w->all.at[w->f.L.id[b]], w->lambda_0 + w->f.L.at[b], w->f.L.at[b + 1] - w->f.L.at[b]);
    for (int b = s->sys->ne; b < w->f.L.nb; ++b) {
        const int k = w->f.L.at[b];
        w->pull[w->f.L.id[b] - s->sys->ne] = w->lambda_0[k] * w->D_0[k]; // what pulls it back to the wall
        decide_block(w, s, b);
    }
    for (int i = 0; i < s->sys->nc; ++i) w->pull[i] = rest_of_run(w, s, i, w->pull[i]);
    CAROM_TRY(carom_accumulation_changes(&w->runs, s, w->t, w->was, w->f.mode, w->left, w->pull));
    if (limit) carom_accumulation_end(&w->runs, s, w->q);
    CAROM_TRY(carom_beside(s, CAROM_RIGHT, w->t, w->q, w->v));
    return event_choose(w, s);
}
