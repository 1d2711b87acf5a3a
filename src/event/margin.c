// margin.c: closed contacts inside a step: a reaction, or what friction has left, that falls to zero and comes back;
// see phase.h.
#include "event/margin.h"
#include "event/watch.h"
#include "system/system.h"
#include <math.h>

static int first(const carom_step *s) { return s->sys->nc + s->sys->events->nk; } // of these functions in the scan

// A contact that has switched features at the end of the step ends the phase anyway; slip that is still young only
// waits for its speed.
static bool counts(const carom_phase *w, const carom_step *s, int j) {
    const int nc = s->sys->nc, c = j % nc;
    if (carom_phase_open(w, c) || !w->armed[j]) return false;
    return j < nc ? !(w->b.kink[c] < 0)
                  : w->f.mode[c] == CAROM_MODE_STICK ||
                        !carom_phase_young(w, c, carom_system_directions(s->sys, s->sys->ne + c) - 1);
}

// (SC-9)  A function whose values in and about the step stay within a factor of two has no zero between them.
void carom_phase_margins(carom_phase *w, const carom_step *s, bool wanted) {
    w->margins = w->crossed = false;
    bool closed = false;
    for (int c = 0; c < s->sys->nc; ++c) closed = closed || !carom_phase_open(w, c);
    if (!closed) wanted = false;
    for (int j = 0; j < 2 * s->sys->nc; ++j) {
        bool *watched = w->scan.watched + first(s) + j;
        *watched = false;
        if (!wanted || !counts(w, s, j)) continue;
        double low = w->b.phi[j], high = low;
        w->integrator->range(w, j, &low, &high);
        *watched = 2 * low < high;
        w->margins = w->margins || *watched;
        w->crossed = w->crossed || low < 0;
    }
}

// phi' and phi'' by the parabola through three points of the path that are w->nudge apart, inside the step.
carom_status carom_phase_margin_sample(carom_phase *w, carom_step *s, const carom_event_point *P, carom_sample *S) {
    const int n = 2 * s->sys->nc, at = first(s);
    const double e = w->nudge;
    const int shift = P->tau - e < w->from.tau ? 1 : P->tau + e > w->b.tau ? -1 : 0;
    double *phi = S->phi + at, *u = S->u + at, *gamma = S->gamma + at;
    if (!w->margins) return CAROM_OK;
    for (int j = 0; j < n; ++j) phi[j] = P->phi[j], u[j] = gamma[j] = 0, S->most[at + j] = HUGE_VAL;
    for (int k = -1; k <= 1; ++k) {
        const double tau = P->tau + (shift + k) * e, weight = k == 0 ? -2 : 1;
        CAROM_TRY(w->integrator->path(w, s, tau));
        carom_copy(w->aside.q, w->scan.q, s->sys->nq);
        carom_copy(w->aside.v, w->scan.v, s->sys->nv);
        w->aside.tau = tau;
        CAROM_TRY(carom_phase_watch(w, s, &w->aside));
        for (int j = 0; j < n; ++j)
            u[j] += k * w->aside.phi[j] / (2 * e), gamma[j] += weight * w->aside.phi[j] / (e * e);
    }
    for (int j = 0; j < n; ++j) u[j] -= shift * e * gamma[j];
    return CAROM_OK;
}

carom_status carom_phase_margin_ends(carom_phase *w, carom_step *s) {
    carom_scan *z = &w->scan;
    if (!w->margins) return CAROM_OK;
    CAROM_TRY(carom_phase_watch(w, s, &w->from));
    CAROM_TRY(carom_phase_margin_sample(w, s, &w->from, &z->left));
    for (int i = first(s); i < z->n; ++i) z->watched[i] = z->watched[i] && z->left.phi[i] >= 0;
    return carom_phase_margin_sample(w, s, &w->b, z->right);
}
