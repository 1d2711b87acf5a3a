// friction.h: coefficients of friction that vary (friction.c).
#pragma once
#include <carom/scheme.h>

typedef struct carom_rubbing {
    carom_contact *contacts; // those of s->sys
    double *law;             // CAROM_FRICTION_LAW nc: what carom_system.friction gave
} carom_rubbing;

bool carom_friction_varies(const carom_system *sys);
carom_rubbing *carom_carve_rubbing(carom_arena *mem, const carom_system *sys, carom_contact *contacts);

/// Coefficients at a point, for contacts that stand still and for those that slip there.
carom_status carom_friction_at(carom_step *s, double t, const double *q, const double *v);
/// Did contact c stand still at that point?
bool carom_friction_still(const carom_step *s, int c);
/// The coefficient of contact c for a contact that sticks, or slips, at that point.
void carom_friction_set(const carom_step *s, int c, bool sticks);
/// carom_problem_run, and again where slip begins or ends with another coefficient.
carom_status carom_problem_rub(carom_step *s, const int *id);
