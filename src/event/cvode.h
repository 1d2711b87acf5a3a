// cvode.h: the integrator of SUNDIALS: variable order and step.  cvode.c is the only file that needs it.
#pragma once
#include "event/phase.h"

/// Its state is y = (q, v, one witness per contact (EV-15), three works (EV-3)).
extern const carom_integrator carom_integrator_cvode;

typedef struct carom_cvode_limits {
    double longest;                // internal step; 0: no limit
    double atol, size_v, p, works; // part of sizes that is the absolute tolerance; sizes of velocities, impulses, works
} carom_cvode_limits;

/// Its objects, for a phase: made at the start of a simulation, w->memory.
carom_status carom_cvode_create(carom_phase *w, carom_step *s, double rtol, bool stiff);
void carom_cvode_destroy(carom_phase *w);
/// What the next phase is integrated with.
void carom_cvode_limit(carom_phase *w, carom_cvode_limits limits);
/// Attempts that it has rejected in this phase.
long carom_cvode_rejected(const carom_phase *w);
