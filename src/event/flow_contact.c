// flow_contact.c: impacts, and which contacts stay closed after them; see flow.h.
#include "base/tolerance.h"
#include "event/flow.h"
#include <math.h>

double carom_flow_no_approach(const carom_step *s, const carom_local *L, int k, const double *v) {
    return 4 * s->tol * s->scale + CAROM_ROUNDING_SOLVED * (carom_local_magnitude(L, k, v) + fabs(L->w[k]));
}

// The touching contacts with their directions, u their velocities; the answer in *approaches.
static carom_status touch(carom_flow *f, carom_step *s, double t, const double *q, const double *v,
                          const bool *touching, bool *approaches) {
    const int ne = s->sys->ne;
    carom_local *L = &f->L;
    *approaches = false;
    carom_close_these(s, L, touching);
    if (L->nb == 0) return carom_flow_leave(f), CAROM_OK;
    CAROM_TRY(carom_flow_look(f, s, t, q, touching));
    carom_local_velocity(f->u, L, v);
    for (int b = ne; b < L->nb; ++b)
        *approaches = *approaches || f->u[L->at[b]] < -carom_flow_no_approach(s, L, L->at[b], v);
    return CAROM_OK;
}

// (MX-9)  M (v+ - v-) = W P,  0 <= u_N+ + e u_N- _|_ P_N >= 0 with Coulomb's law, over joints and touching contacts.  A
//         contact that separates already has no restitution to offer, one whose rebound would be lower than `slow`
//         none.
static carom_status strike(carom_flow *f, carom_step *s, double t, double *v, const double *slow, bool *some,
                           double *u_after, double *p) {
    const carom_system *sys = s->sys;
    const carom_local *L = &f->L;
    carom_copy(f->x, f->u, L->at[L->nb]);
    for (int b = sys->ne; b < L->nb; ++b) {
        const int c = L->id[b] - sys->ne;
        double *u = f->x + L->at[b];
        const double back = carom_restitution(s, c, u[0]) * -u[0];
        // (AC-7)  The limit of a run: slip that was reversed at every impact has come to rest, or goes on in one
        //         direction.
        if (back > 0 && back <= slow[c] && u[0] < -carom_flow_no_approach(s, L, L->at[b], v))
            carom_zero(u, L->at[b + 1] - L->at[b]);
        if (!(back > slow[c])) u[0] = 0;
    }
    carom_problem_form(s, L, L, &f->F, 1);
    CAROM_TRY(carom_problem_impact(s, L, f->u, f->x));
    carom_problem_apply(s, v, 1);
    carom_copy(f->lambda, s->problem.p, s->problem.n);
    carom_flow_shortest(f, s, f->lambda);
    carom_copy(f->x, f->u, L->at[L->nb]);
    carom_local_velocity(f->u, L, v);
    s->record.t = t;
    carom_account_impulses(s, L, f->lambda, f->x, f->u);
    for (int b = sys->ne; b < L->nb; ++b) {
        const int c = L->id[b] - sys->ne;
        u_after[c] = f->u[L->at[b]];
        p[c] = f->lambda[L->at[b]];
        *some = *some || p[c] > 0;
    }
    return CAROM_OK;
}

carom_status carom_flow_impact(carom_flow *f, carom_step *s, double t, const double *q, double *v, const bool *touching,
                               const double *slow, bool always, bool *some, double *u_before, double *u_after,
                               double *p) {
    bool approaches;
    *some = false;
    for (int c = 0; c < s->sys->nc; ++c) u_before[c] = u_after[c] = p[c] = 0;
    CAROM_TRY(touch(f, s, t, q, v, touching, &approaches));
    for (int b = s->sys->ne; b < f->L.nb; ++b)
        u_before[f->L.id[b] - s->sys->ne] = u_after[f->L.id[b] - s->sys->ne] = f->u[f->L.at[b]];
    return f->L.nb > 0 && (approaches || always) ? strike(f, s, t, v, slow, some, u_after, p) : CAROM_OK;
}

// Velocities of the turns; the answer is whether one approaches faster than slow.
static bool rates(carom_turns *z, const carom_step *s, const carom_local *all, const double *v, const double *slow) {
    bool fast = false;
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = all->at[s->sys->ne + c];
        z->u[c] = carom_column_dot(&all->W, k, v) + all->w[k];
        z->none[c] = carom_flow_no_approach(s, all, k, v);
        fast = fast || (z->among[c] && z->u[c] < -slow[c]);
    }
    return fast;
}

// (AC-6); what touches the wall and does not leave takes part in the first impact.
carom_status carom_flow_impact_in_turn(carom_flow *f, carom_step *s, double t, const double *q, double *v,
                                       const bool *touching, const double *slow, carom_turns *z, const carom_local *all,
                                       bool *some, double *u_before, double *u_after, double *p) {
    const int nc = s->sys->nc;
    bool one, limit = false, fast = rates(z, s, all, v, slow);
    *some = false;
    carom_zero(z->p, nc);
    carom_copy(z->before, z->u, nc);
    carom_copy(z->slow, slow, nc);
    for (int n = 0; !limit && carom_turns_next(z, nc, n == 0); ++n) {
        limit = n == CAROM_TURNS || !fast;
        for (int c = 0; c < nc; ++c) {
            if (limit && z->among[c]) z->slow[c] = HUGE_VAL;
            z->now[c] = z->now[c] || (touching[c] && (limit || !z->among[c] ||
                                                      (n == 0 && z->u[c] <= z->none[c] && z->gap[c] <= 4 * z->eps[c])));
        }
        CAROM_TRY(carom_flow_impact(f, s, t, q, v, z->now, z->slow, false, &one, u_before, u_after, p));
        carom_axpy(z->p, 1, p, nc);
        *some = *some || one;
        fast = rates(z, s, all, v, slow);
    }
    carom_copy(u_before, z->before, nc);
    carom_copy(u_after, z->u, nc);
    carom_copy(p, z->p, nc);
    return CAROM_OK;
}

static const double RESOLVED = 1e-10; // of the terms of an acceleration: what elimination with pivots down to
                                      // CAROM_FLOW_SINGULAR leaves, with room to spare

double carom_flow_resolution(const carom_flow *f, const carom_step *s, int k) {
    return RESOLVED * f->noise[k] + 4 * s->tol * s->scale / s->h;
}

carom_status carom_flow_finish(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool laws,
                               bool next) {
    if (carom_flow_free(f, s)) return CAROM_OK;
    CAROM_TRY(carom_flow_rate(f, s, t, q, v, laws));
    bool pulls = false;
    for (int b = s->sys->ne; b < f->L.nb; ++b)
        // within tolerance of letting go
        if (f->lambda[f->L.at[b]] < 0) carom_zero(f->lambda + f->L.at[b], f->L.at[b + 1] - f->L.at[b]), pulls = true;
    carom_account_forces(s, &f->L, f->lambda, f->u, 0, true);
    if (next && !laws && !pulls) carom_flow_remember(f, s, v);
    return CAROM_OK;
}
