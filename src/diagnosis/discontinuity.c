// discontinuity.c: why does a step fail?  Is there a force that changes with a rate almost at once, like dry friction
// written as sign(x')?  Does inertia vanish on the way? Implicit schemes find no answer there, and schemes with
// tolerances need millions of steps.
#include "base/option.h"
#include "scheme/advice.h"
#include "diagnosis/diagnosis.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 200 };                // rates that are tried
static const double NARROW = 1e-3;  // of the speed that a coordinate would have with all kinetic energy of the run; and
static const double FEW = 4;        // times what the forces make of it in a step: the jump is inside the step that
                                    // failed;
static const double WIDE = 0.1;     // but no more than this
static const double JUMP = 1e-6;    // a force that changes within this of the speed jumps, whatever the steps
static const double SUDDEN = 0.5;   // of the change over that speed takes place there
static const double MATTERS = 1e-2; // of the largest force
static const double TOIL = 1e6, EACH = 100; // internal steps: in all, and for each step and impact of the run

// y = f(v + e) - f(v - e), e at rate i alone.
static bool change(const carom_sim *sim, int i, double e, double *v, double *y, double *f) {
    const carom_system *sys = sim->sys;
    carom_copy(v, sim->v, sys->nv);
    for (int side = 0; side < 2; ++side) {
        double *to = side ? f : y;
        carom_zero(to, sys->nv);
        v[i] = sim->v[i] + (side ? -e : e);
        if (sys->force(sys->model, sim->step.sys_work, sim->kept->t, sim->q, v, to) != CAROM_OK) return false;
    }
    carom_axpy(y, -1, f, sys->nv);
    return carom_norm_max(y, sys->nv) < HUGE_VAL;
}

// The first force that changes suddenly with rate i, whose speed may be that large and whose inertia is m; -1: none
// does.  A state is neither: its rate may jump (a limiter, a relay) and is no friction.  jumps: at once.
static int sudden(const carom_sim *sim, int i, double speed, double m, bool jumps, double *space) {
    const carom_system *sys = sim->sys;
    const int nv = sys->nv;
    double *v = space, *f = v + nv, *narrow = f + nv, *wide = narrow + nv;
    if (!change(sim, i, speed, v, wide, f)) return -1;
    const double e =
        jumps ? JUMP * speed : fmin(NARROW * speed + FEW * sim->h * carom_size_moving(sys, f, nv) / m, WIDE * speed);
    if (!change(sim, i, e, v, narrow, f)) return -1;
    const double much = MATTERS * fmax(carom_size_moving(sys, wide, nv), carom_size_moving(sys, f, nv));
    for (int j = 0; j < nv; ++j)
        if (fabs(narrow[j]) > much && fabs(narrow[j]) > SUDDEN * fabs(wide[j]) && !carom_is_state(sys, j)) return j;
    return -1;
}

bool carom_diagnosis_discontinuity(const carom_sim *sim, bool jumps, char *text, size_t size) {
    carom_step s = sim->step;
    const int nv = sim->sys->nv;
    const double energy = sim->kept->ledger.kinetic;
    char rate[80], force[80];
    bool found = false;
    carom_error ignored = {0};
    s.err = &ignored;
    if (nv > MOST || !(energy > 0) || carom_mass(&s, s.M, sim->kept->t, sim->q) != CAROM_OK) return false;
    // the step loop asks the heap for nothing
    double *space = sim->sides ? sim->sides : malloc(4 * (size_t)nv * sizeof *space);
    for (int i = 0; space && i < nv && !found; ++i) {
        const double m = *carom_matrix_entry(s.M, i, i);
        const bool moves = m > 0 && !carom_is_state(sim->sys, i);
        const int j = moves ? sudden(sim, i, sqrt(2 * energy / m), m, jumps, space) : -1; // 1/2 m v^2 = energy
        found = j >= 0;
        if (found)
            snprintf(text, size,
                     "the force on %s jumps with the rate of %s, as dry friction does that is written as a force.  "
                     "Write it as friction of a contact with a `normal force`, or of a joint; where it has a `stiction "
                     "speed`, take a larger one, or an implicit scheme (" CAROM_IMPLICIT ")",
                     carom_rate_text(&s, j, force, sizeof force), carom_rate_text(&s, i, rate, sizeof rate));
    }
    if (!sim->sides) free(space);
    return found;
}

bool carom_diagnosis_toils(const carom_sim *sim, const carom_ledger *l) {
    const double inner = (double)l->counts.substeps;
    const int longest = carom_option_find(sim->scheme->options, "max-step", 8);
    if (longest >= 0 && sim->opt[longest] > 0) return false; // asked for
    return inner > TOIL && inner > EACH * ((double)l->steps + (double)l->impacts);
}

bool carom_diagnosis_massless(const carom_sim *sim, char *text, size_t size) {
    enum { PLACES = 32 }; // in FEW steps: accelerations grow where inertia vanishes, and the motion gets there before
                          // its present rates would
    const carom_system *sys = sim->sys;
    carom_step s = sim->step;
    carom_error found = {0};
    double *q = sys->flags & CAROM_CONSTANT_MASS ? NULL : malloc((size_t)sys->nq * sizeof *q);
    s.err = &found;
    for (int i = 0; q && i <= PLACES && found.code == CAROM_OK; ++i) {
        const double tau = FEW * sim->h * i / PLACES;
        s.t = sim->kept->t + tau;
        carom_move(&s, q, sim->q, tau, sim->v);
        if (carom_mass(&s, s.M, s.t, q) == CAROM_OK) carom_mass_still_positive(&s, s.M);
    }
    free(q);
    if (found.code != CAROM_SINGULAR) return false;
    snprintf(text, size, "at its present rates the motion loses its inertia: %.250s", found.text);
    return true;
}
