// trial.c: what a scheme makes of the fastest vibration and the fastest decay of the model.
//
// That is tried out: the scheme itself, with its options, steps the oscillator x'' + c x' + k x = 0 of that mode.
#include "diagnosis/diagnosis.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { TRIED = 200 };                // steps of the oscillator
static const double GROWS = 100;     // times, in TRIED steps
static const double SHORTEST = 1e-9; // of the step: what spoils even that is not cured by a shorter one
static const double VANISHED = DBL_EPSILON; // of the amplitude at the start: nothing is left that could grow

static carom_status unit_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t, (void)q;
    M.a[0] += 1;
    return CAROM_OK;
}

static carom_status spring(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)work, (void)t;
    const carom_pace *p = model;
    f[0] += -p->stiffness * q[0] - p->damping * v[0];
    return CAROM_OK;
}

static carom_status spring_tangent(const void *model, void *work, double t, const double *q, const double *v,
                                   carom_matrix K, carom_matrix C) {
    (void)work, (void)t, (void)q, (void)v;
    const carom_pace *p = model;
    K.a[0] += p->stiffness;
    C.a[0] += p->damping;
    return CAROM_OK;
}

// Steps that are refused again and again are halved down to the last, which takes long and tells no more: what was
// reached till then counts.
static carom_status tires(void *user, const carom_now *now) {
    (void)now;
    return ((const carom_sim *)user)->kept->ledger.rejected > TRIED ? CAROM_STOPPED : CAROM_OK;
}

// Does the scheme of sim, with its options and steps of h, blow the oscillator up?  fades: does it, over the run, damp
// an oscillator without damping to half its amplitude?
static bool spoils(const carom_sim *sim, carom_pace p, bool fades, double h) {
    if (!(p.stiffness >= 0 && p.damping >= 0)) return false; // the motion itself does
    if (fades) p.damping = 0;
    carom_system sys = carom_system_default(1, 1, 0, 0);
    sys.model = &p, sys.mass = unit_mass, sys.force = spring, sys.tangent = spring_tangent;
    char text[1000];
    const char *option[40] = {NULL};
    carom_sim_options_text(sim, text, sizeof text);
    int n = 0;
    for (char *word = text; word && n < 39; ++n) {
        option[n] = word;
        word = strchr(word, ' ');
        if (word) *word++ = 0;
    }
    const double omega = sqrt(p.stiffness), q0 = 1, v0 = fmax(omega, p.damping), size = v0;
    const carom_scheme *const schemes[] = {sim->scheme, NULL};
    carom_sim *trial = carom_sim_create(&(carom_sim_def){.system = &sys,
                                                         .scheme = sim->scheme->name,
                                                         .schemes = schemes,
                                                         .options = option,
                                                         .h = h,
                                                         .t_end = TRIED * h,
                                                         .q0 = &q0,
                                                         .v0 = &v0},
                                        NULL);
    if (!trial) return false;
    const carom_status status = carom_sim_run(trial, tires, trial, NULL);
    const bool lives = status == CAROM_OK || status == CAROM_STOPPED;
    const double left = hypot(trial->v[0], omega * trial->q[0]) / hypot(v0, omega * q0);
    const bool vanished = left <= VANISHED; // a step that fails after that says nothing
    const bool grown =
        (!lives && !vanished) || !(fabs(trial->v[0]) < GROWS * size) || !(omega * fabs(trial->q[0]) < GROWS * size);
    const bool faded = vanished || (lives && pow(left, (sim->t_end - sim->t0) / trial->kept->t) < 0.5);
    carom_sim_destroy(trial);
    return fades ? faded : grown;
}

bool carom_diagnosis_unresolved(const carom_sim *sim, const carom_pace pace[2], bool fades, carom_pace *worst,
                           double *longest) {
    for (int i = 0; i < (fades ? 1 : 2); ++i) { // a decay may fade
        if (!sim->resolution.on || carom_resolution_short_enough(sim, pace[i]) || !spoils(sim, pace[i], fades, sim->h))
            continue;
        double low = 0, high = sim->h;
        // chosen: to 2 %
        for (int k = 0; k < 40 && !(high < 1.02 * low); ++k) {
            const double h = low > 0 ? sqrt(low * high) : high / 4;
            if (low == 0 && !(h > SHORTEST * sim->h)) break;
            if (spoils(sim, pace[i], fades, h)) high = h;
            else low = h;
        }
        *worst = pace[i];
        *longest = low;
        return true;
    }
    return false;
}
