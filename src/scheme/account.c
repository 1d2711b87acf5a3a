// account.c: what a step reports: work of impulses and forces, events, its parts and its work, iterations.
#include "scheme/inside.h"
#include "linalg/matrix.h"
#include "scheme/step.h"
#include <math.h>

static const double APPROACH = 1e-9; // of the largest speed: a contact that lasts has u = 0 to rounding, of either sign

// Is contact b of the set struck: does it approach, and is it pushed?
static bool struck(const carom_step *s, const carom_local *L, int b, const double *p, const double *u_before) {
    return L->id[b] >= s->sys->ne && p[L->at[b]] > 0 && u_before[L->at[b]] < -APPROACH * s->scale;
}

// (BK-1)  Impact takes  - sum of 1/2 (u_before + u_after) p  over the normal impulses of contacts, and over those of
//         bilateral constraints in an impact: some contact of the set is struck.  Joints that nothing strikes have u =
//         0 before and after; what their reactions do all the same is the scheme's error, and stays in the balance.
bool carom_account_counts(const carom_step *s, const carom_local *L, int b, const double *p, const double *u_before) {
    if (L->id[b] >= s->sys->ne) return true;
    bool some = false;
    // contacts come last
    for (int k = L->nb - 1; k >= 0 && L->id[k] >= s->sys->ne && !some; --k) some = struck(s, L, k, p, u_before);
    return some;
}

// An impact creates energy when all its contacts together take a negative amount.  What is below this, relative to the
// terms of the sum, is the error of a step.
static const double GAIN = 1e-3;

// What row k of a set takes.
static inline double row_takes(int k, const double *p, const double *u_before, const double *u_after) {
    return -0.5 * (u_before[k] + u_after[k]) * p[k];
}

// Do several contacts of the set, from its block b on, push, and is one of them struck?  Only such an impact can create
// energy by restitution: what a contact that pushes alone gives, or contacts that forces of the step press on and none
// strikes, is the error of the step.
static bool impact_of_several(const carom_step *s, const carom_local *L, int b, const double *p,
                              const double *u_before) {
    int pushed = 0, hit = 0;
    for (; b < L->nb; ++b) pushed += p[L->at[b]] > 0, hit += struck(s, L, b, p, u_before);
    return pushed > 1 && hit > 0;
}

// (BK-12)  The contacts of the set, from its block b on, give together: is that more than the error of a step?  Then it
//          counts, at the contact that takes least.
static void book_created(carom_step *s, const carom_local *L, int b, const double *p, const double *u_before,
                         const double *u_after) {
    const bool several = impact_of_several(s, L, b, p, u_before);
    double size = 0, least = 0, created = 0;
    int id = -1;
    for (; b < L->nb; ++b) {
        double own = 0;
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) {
            const double part = row_takes(k, p, u_before, u_after);
            own += k == L->at[b] && !several ? fmax(part, 0) : part;
            size += 0.5 * (fabs(u_before[k]) + fabs(u_after[k])) * fabs(p[k]);
        }
        if (own < least) least = own, id = L->id[b];
        created -= own;
    }
    if (!(created > GAIN * size)) return;
    s->record.account.created += created;
    if (created > s->record.account.gain)
        s->record.account.gain = created, s->record.account.gain_id = id, s->record.account.gain_t = s->record.t;
}

void carom_account_impulses(carom_step *s, const carom_local *L, const double *restrict p,
                            const double *restrict u_before, const double *restrict u_after) {
    if (L->nb == 0) return;
    const int ne = s->sys->ne;
    const bool joints = carom_account_counts(s, L, 0, p, u_before);
    const bool alone = L->nb == 1 || L->id[L->nb - 2] < ne; // one contact
    double impact = s->record.account.impact, friction = s->record.account.friction,
           external = s->record.account.external;
    int b = 0;
    s->record.reacted = true;
    for (; b < L->nb && L->id[b] < ne; ++b) { // bilateral constraints come first, of one row each
        const int k = L->at[b];
        s->record.impulse[s->dir[L->id[b]]] += p[k];
        if (joints) impact += -0.5 * (u_before[k] + u_after[k]) * p[k];
        external -= L->w[k] * p[k];
    }
    const int contacts = b;
    double taken = 0;
    for (; b < L->nb; ++b) {
        const int first = L->at[b], id = L->id[b], d = s->dir[id] - first;
        const bool fresh = s->record.impulse[d + first] == 0;
        double own = 0;
        for (int k = first; k < L->at[b + 1]; ++k) {
            const double part = row_takes(k, p, u_before, u_after);
            if (fresh) s->record.u_before[d + k] = u_before[k]; // smaller steps may book into one record
            s->record.u_after[d + k] = u_after[k];
            s->record.impulse[d + k] += p[k];
            if (k > first) friction += part;
            else impact += part, s->record.lost[id - ne] += part;
            external -= L->w[k] * p[k];
            own += k == first && alone ? fmax(part, 0) : part;
        }
        taken += own;
    }
    s->record.account.impact = impact;
    s->record.account.friction = friction;
    s->record.account.external = external;
    if (taken >= 0) s->record.account.lost += taken;
    else book_created(s, L, contacts, p, u_before, u_after);
}

void carom_account_struck_joints(carom_step *s, const carom_local *L, const double *p, const double *u_before,
                                 const double *u_after) {
    const carom_local J = carom_joints_of(s, L);
    if (J.nb == 0 || carom_account_counts(s, L, 0, p, u_before)) return;
    for (int k = 0; k < J.at[J.nb]; ++k) s->record.account.impact -= 0.5 * (u_before[k] + u_after[k]) * p[k];
}

// (BK-2)  Forces of joints take nothing: u = 0 where they act, and what a scheme leaves of u is its error.  Normal
//         forces of contacts also stop an approach too slow for an impact: what they take is lost to impact.
void carom_account_forces(carom_step *s, const carom_local *L, const double *restrict lambda, const double *restrict u,
                          double weight, bool end) {
    if (L->nb == 0) return;
    const int joints = carom_joints_of(s, L).nb;
    double impact = s->record.account.impact, friction = s->record.account.friction,
           external = s->record.account.external;
    s->record.reacted = true;
    for (int b = 0; end && b < joints; ++b) {
        s->record.force[s->dir[L->id[b]]] = lambda[L->at[b]];
    }
    // else w = 0
    for (int b = 0; !(s->sys->flags & CAROM_TIMELESS_GAPS) && b < joints; ++b)
        external -= weight * L->w[L->at[b]] * lambda[L->at[b]];
    for (int b = joints; b < L->nb; ++b) {
        const int first = L->at[b], d = s->dir[L->id[b]];
        for (int k = first; k < L->at[b + 1]; ++k) {
            if (end) s->record.force[d + k - first] = lambda[k], s->record.u_after[d + k - first] = u[k];
            if (k > first) friction -= weight * lambda[k] * u[k];
            else impact -= weight * lambda[k] * u[k];
            external -= weight * L->w[k] * lambda[k];
        }
    }
    s->record.account.impact = impact;
    s->record.account.friction = friction;
    s->record.account.external = external;
}

void carom_power_begin(carom_step *s) {
    if (!s->sys->accounts->power_along) return;
    carom_zero(s->inside->power.given, s->sys->nv + 1);
    carom_zero(s->inside->power.taken, s->sys->nv + 1);
}

// (BK-4)  M (v_1 - v_0) = h sum b_l f_l:  1/2 v_1'M v_1 - 1/2 v_0'M v_0 = h sum b_l f_l . (v_0 + v_1)/2
void carom_account_power(carom_step *s, const double *v_0, const double *v_1) {
    const int nv = s->sys->nv;
    const double *given = s->inside->power.given, *taken = s->inside->power.taken;
    if (!s->sys->accounts->power_along) return;
    s->record.account.external += 0.5 * (carom_dot(given, v_0, nv) + carom_dot(given, v_1, nv)) + given[nv];
    s->record.account.damping += 0.5 * (carom_dot(taken, v_0, nv) + carom_dot(taken, v_1, nv)) + taken[nv];
    s->inside->power.accounted = true;
}

void carom_account_position(carom_step *s, int id, double nu) {
    if (s->record.nu)
        s->record.nu[s->dir[id]] += nu; // halves of a step add up; NULL: part of a scheme that has no position level
}

carom_status carom_emit_event(carom_step *s, carom_event event) {
    if (s->record.nevents == s->record.max_events)
        return carom_retry(s, "more than %d events in one step; reduce the step", s->record.max_events);
    s->record.events[s->record.nevents++] = event;
    return CAROM_OK;
}

carom_status carom_substep_done(carom_step *s, double t, const double *q, const double *v) {
    s->counts->substeps += 1;
    s->record.substeps += 1;
    if (!s->inside->on_substep) return CAROM_OK;
    const carom_status status = s->inside->on_substep(s->inside->substep_user, t, q, v);
    return status == CAROM_OK ? CAROM_OK : carom_fail(s->err, status, "t = %.9g: stopped", t);
}

void carom_list_suffices(carom_step *s, const carom_way *motion) {
    if (s->sys->contact_list->margin_for) // schemes that call this have `recalls`: carom_list.measured
        s->inside->margin =
            fmax(s->inside->margin, s->sys->contact_list->margin_for(s->sys->model, s->sys_work, motion));
}

carom_status carom_limit_parts(carom_step *s, double parts, double most) {
    s->inside->spent += parts;
    if (s->inside->spent <= most) return CAROM_OK;
    return carom_fail(
        s->err, CAROM_NOT_CONVERGED,
        "t = %.9g: one step exceeded the work limit of %g internal steps: impacts or vibrations are too fast for it. "
        "Try a smaller step, or a scheme that does not follow them (moreau-jean, newmark)",
        s->t, most);
}

// (AU-19)  work = calls (1 + n/SMALL) + multiplications/MANY,  n = nv + ne + nc: in evaluations of a small model
double carom_work_done(const carom_step *s) {
    // so that runs of one mass and of forty end after the same CPU time
    static const double SMALL = 8, MANY = 300;
    const carom_inside *in = s->inside;
    return in->calls * (1 + (s->sys->nv + s->sys->ne + s->sys->nc) / SMALL) + in->multiplied / MANY;
}

carom_status carom_limit_work(carom_step *s, double most) {
    s->inside->calls += 1; // also where nothing is evaluated
    if (carom_work_done(s) <= most) return CAROM_OK;
    return carom_fail(
        s->err, CAROM_NOT_CONVERGED,
        "t = %.9g: one step exceeded the work limit, %.3g evaluations of a small model (here %.3g evaluations and "
        "factorisations of %.3g multiplications): impacts or vibrations are too fast for it. "
        "Try a smaller step, or a scheme that does not follow them (moreau-jean, newmark)",
        s->t, most, s->inside->calls, s->inside->multiplied);
}

carom_status carom_beside(carom_step *s, carom_side side, double t, const double *q, const double *v) {
    if (!s->inside->on_event) return CAROM_OK;
    const carom_status status = s->inside->on_event(s->inside->event_user, side, t, q, v);
    return status == CAROM_OK ? CAROM_OK : carom_fail(s->err, status, "t = %.9g: stopped", t);
}

void carom_account_newton(carom_step *s, int iterations) {
    carom_counts *c = s->counts;
    c->newton += iterations;
    c->newton_steps[iterations < 0 ? 0 : iterations > CAROM_NEWTON_COUNTED ? CAROM_NEWTON_COUNTED : iterations] += 1;
    if (iterations > 20) c->newton_many += 1;
    if (iterations > c->newton_max) {
        c->newton_max = iterations;
        c->newton_max_t = s->t + s->h;
    }
}

void carom_account_identity(carom_step *s, double violation, double terms) {
    carom_counts *c = s->counts;
    c->violation = fmax(c->violation, fabs(violation));
    c->terms = fmax(c->terms, terms);
}

void carom_account_rise(carom_step *s, double rise, int rule, double x, double y) {
    carom_rise *r = s->inside->rise;
    if (!r || !(rise > 0)) return;
    r->sum += rise;
    if (rise > r->most) *r = (carom_rise){.sum = r->sum, .most = rise, .t = s->t + s->h, .rule = rule, .x = x, .y = y};
}
