// friction.h: coefficients of friction that vary (friction.c).
#pragma once
#include "scheme/step.h"

typedef struct carom_varying_friction {
    carom_contact *contacts; // those of s->sys
    double *law;             // CAROM_FRICTION_LAW nc: what carom_system.friction gave
    double *force;           // recorded directions: the reactions that coefficients depend on; NULL: they depend on
                             // none
    int ndir;
} carom_varying_friction;

bool carom_friction_varies(const carom_system *sys);
bool carom_friction_reacts(const carom_system *sys); // does it depend on reactions?
carom_varying_friction *carom_allocate_varying_friction(carom_arena *mem, const carom_system *sys,
                                                        carom_contact *contacts, bool reacts);

// chosen: a fixed point that contracts by 0.7 gains 15 digits
enum { CAROM_FRICTION_ROUNDS = 100 };
/// Coefficients that depend on reactions, and reactions that depend on coefficients: lambda of L's set has been found
/// with the coefficients of the reactions before it.  Are these the same?  Else lambda takes their place, and the
/// caller finds it again; CAROM_RETRY after too many rounds.
carom_status carom_friction_settle(carom_step *s, const carom_local *L, const double *lambda, int round, bool *settled);

/// Coefficients at a point, for contacts that stand still and for those that slip there.
carom_status carom_friction_at(carom_step *s, double t, const double *q, const double *v);
/// The laws alone, CAROM_FRICTION_LAW nc numbers, with the reactions as they are; false: there are none, or they are
/// not finite.
bool carom_friction_laws(const carom_step *s, double t, const double *q, const double *v, double *law);
/// Did contact c stand still at that point?
bool carom_friction_still(const carom_step *s, int c);
/// The coefficient of contact c, were it at rest at that point.
double carom_friction_static(const carom_step *s, int c);
/// The coefficient of contact c for a contact that sticks, or slips, at that point.
void carom_friction_set(const carom_step *s, int c, bool sticks);
/// carom_problem_run, and again where slip begins or ends with another coefficient.
carom_status carom_problem_rub(carom_step *s, const int *id);
