// diagnosis.h: reasons not to trust a run.  It observes the run and changes nothing: obstacles
// that a step passed (tunnelling.c) and forces inside it (impulses.c), forces and masses at which no method converges
// (discontinuity.c), vibrations that the step does not resolve (trial.c), and the warnings of all that (warnings.c).
#pragma once
#include "sim/sim.h"

void carom_diagnosis_after_step(carom_sim *sim, double t_0, bool stale, uint64_t near);
void carom_diagnosis_after_forces(carom_sim *sim, double t_0);
void carom_diagnosis_after_list(carom_sim *sim, double t_0);
void carom_diagnosis_after_impacts(carom_sim *sim, double h);

/// Numbers that after_forces() needs as scratch.
size_t carom_diagnosis_impulses_size(const carom_system *sys);

/// Is there a force that changes with a rate almost at once, at the present state?  Then which, and what to do.  jumps:
/// at once, whatever the step.
bool carom_diagnosis_discontinuity(const carom_sim *sim, bool jumps, char *text, size_t size);
/// Has the scheme taken millions of internal steps that neither rows nor events explain?
bool carom_diagnosis_toils(const carom_sim *sim, const carom_ledger *l);
/// Does the mass matrix stop being positive definite within a few steps at the present rates?  Then when, and at which
/// coordinate.
bool carom_diagnosis_massless(const carom_sim *sim, char *text, size_t size);

/// Is the fastest vibration or the fastest decay too fast for the scheme and its step?  Then it is *worst, and *longest
/// the longest step that does; 0: none does.  fades: so fast that the scheme damps the vibration away, instead of
/// making it grow.
bool carom_diagnosis_unresolved(const carom_sim *sim, const carom_pace pace[2], bool fades, carom_pace *worst,
                           double *longest);
