// friction.c: coefficients of friction that depend on the slip and on the state.
//
// Spec: docs/METHODS.md, "Friction that varies".  Schemes read the coefficient of a contact from s->sys->contacts,
// which is theirs alone then: it is set at the start of a step, and by schemes that locate events at every point they
// look at.
#include "contact/residual.h"
#include "scheme/friction.h"
#include "scheme/inside.h"
#include <math.h>
#include "scheme/rules.inc"

enum { SLIP, STICK, RATE, EACH = CAROM_FRICTION_LAW }; // numbers of a contact: coefficients, tangential velocities
static const double LEAST = 1e-12;                     // a contact keeps its tangential directions

bool carom_friction_varies(const carom_system *sys) {
    for (int i = 0; i < sys->nc; ++i)
        if (sys->contacts[i].friction_varies) return true;
    return false;
}

bool carom_friction_reacts(const carom_system *sys) {
    for (int i = 0; i < sys->nc; ++i)
        if (sys->contacts[i].friction_reacts) return true;
    return false;
}

carom_varying_friction *carom_allocate_varying_friction(carom_arena *mem, const carom_system *sys,
                                                        carom_contact *contacts, bool reacts) {
    carom_varying_friction *rub = carom_allocate_bytes(mem, sizeof *rub);
    double *law = carom_allocate(mem, EACH * (size_t)sys->nc);
    int ndir = 0;
    for (int id = 0; id < sys->ne + sys->nc; ++id) ndir += carom_system_recorded(sys, id);
    double *force = reacts ? carom_allocate(mem, (size_t)ndir) : NULL;
    if (rub) *rub = (carom_varying_friction){contacts, law, force, ndir};
    return rub;
}

// (FV-3)  mu(lambda), lambda(mu): by turns, until lambda stays
carom_status carom_friction_settle(carom_step *s, const carom_local *L, const double *lambda, int round,
                                   bool *settled) {
    static const double SAME = 1e-13; // of the largest reaction: some roundings
    *settled = true;
    if (!s->inside->friction || !s->inside->friction->force) return CAROM_OK;
    double *force = s->inside->friction->force, most = 0, change = 0;
    int next = 0; // direction
    for (int b = 0; b < L->nb; ++b) {
        const int d = s->dir[L->id[b]];
        for (; next < d; ++next) change = fmax(change, fabs(force[next])), force[next] = 0;
        for (int k = L->at[b]; k < L->at[b + 1]; ++k, ++next) {
            change = fmax(change, fabs(lambda[k] - force[next]));
            most = fmax(most, fabs(lambda[k]));
            force[next] = lambda[k];
        }
    }
    for (; next < s->inside->friction->ndir; ++next) change = fmax(change, fabs(force[next])), force[next] = 0;
    *settled = change <= SAME * most;
    if (*settled || round < CAROM_FRICTION_ROUNDS) return CAROM_OK;
    return carom_retry(
        s, "fixed-point iteration between friction and reactions did not converge: last change %.3g of %.3g N", change,
        most);
}

bool carom_friction_still(const carom_step *s, int c) {
    return s->inside->friction && carom_length(s->inside->friction->law + EACH * c + RATE,
                                               // 4 tol V: (CL-2)
                                               s->sys->contacts[c].tangents) <= 4 * s->tol * *s->speed;
}

double carom_friction_static(const carom_step *s, int c) {
    const carom_contact *x = s->sys->contacts + c;
    return s->inside->friction && x->friction_varies ? fmax(s->inside->friction->law[EACH * c + STICK], LEAST)
                                                     : x->friction;
}

void carom_friction_set(const carom_step *s, int c, bool sticks) {
    if (s->inside->friction && s->sys->contacts[c].friction_varies)
        s->inside->friction->contacts[c].friction =
            fmax(s->inside->friction->law[EACH * c + (sticks ? STICK : SLIP)], LEAST);
}

bool carom_friction_laws(const carom_step *s, double t, const double *q, const double *v, double *law) {
    return s->inside->friction &&
           s->sys->friction(s->sys->model, s->sys_work, t, q, v, s->inside->friction->force, law) == CAROM_OK;
}

carom_status carom_friction_at(carom_step *s, double t, const double *q, const double *v) {
    if (!s->inside->friction) return CAROM_OK;
    if (s->sys->friction(s->sys->model, s->sys_work, t, q, v, s->inside->friction->force, s->inside->friction->law) !=
        CAROM_OK)
        return carom_retry(s, "a coefficient of friction is not a finite number");
    for (int c = 0; c < s->sys->nc; ++c) {
        const double *law = s->inside->friction->law + EACH * c;
        if (!s->sys->contacts[c].friction_varies) continue;
        if (!(law[SLIP] >= 0 && law[STICK] >= 0)) {
            char space[40];
            return carom_fail(s->err, CAROM_USER, "t = %.9g: friction of '%s' must not be negative, got %g", t,
                              carom_constraint_text(s, s->sys->ne + c, space, sizeof space),
                              fmin(law[SLIP], law[STICK]));
        }
        carom_friction_set(s, c, carom_friction_still(s, c));
    }
    return CAROM_OK;
}

static void choose(carom_step *s, int b, int c, bool sticks) {
    carom_friction_set(s, c, sticks);
    s->blocks[b].mu = s->sys->contacts[c].friction;
}

// Does the coefficient of block b change with the answer at hand?
static bool settle(carom_step *s, int b, int c, int round) {
    const carom_problem *pb = &s->problem;
    const double *law = s->inside->friction->law + EACH * c, *u = pb->u + pb->block[b].at + 1;
    const int tangents = carom_law_rows(pb->block[b].law) - 1;
    const bool held = s->sys->contacts[c].friction == fmax(law[STICK], LEAST);
    double along = 0;
    for (int i = 0; i < tangents; ++i) along += u[i] * law[RATE + i];
    const int sticks =
        rule_rubs(law[SLIP], law[STICK], held, round, carom_length(u, tangents), along, carom_velocity_left(s));
    if (tangents < 1 || sticks < 0) return false;
    choose(s, b, c, sticks);
    return true;
}

// (FV-1)  a contact that stood still has the static coefficient while it sticks; one that slid has that of its slip,
//         unless slip ends or reverses: then the static one decides whether it stays
carom_status carom_problem_rub(carom_step *s, const int *id) {
    for (int b = 0; s->inside->friction && b < s->problem.nb; ++b)
        if (id[b] >= s->sys->ne && s->sys->contacts[id[b] - s->sys->ne].friction_varies && s->blocks[b].mu > 0)
            choose(s, b, id[b] - s->sys->ne, carom_friction_still(s, id[b] - s->sys->ne));
    CAROM_TRY(carom_problem_run(s, id));
    for (int round = 0, again = s->inside->friction != NULL; again; ++round) {
        again = 0;
        for (int b = 0; b < s->problem.nb; ++b)
            if (id[b] >= s->sys->ne && s->sys->contacts[id[b] - s->sys->ne].friction_varies)
                again |= settle(s, b, id[b] - s->sys->ne, round);
        if (again) CAROM_TRY(carom_problem_run(s, id));
    }
    return CAROM_OK;
}
