// soft.h: contacts of finite stiffness, see soft.c.
#pragma once
#include "derive/resolver.h"
#include "model/pairs.h"

bool carom_contact_soft(const carom_mech_contact *of);
/// Keys that are mutually exclusive.
carom_status carom_check_soft(resolver *r, const carom_mech_contact *of);
/// The gap of a contact (-1: forces; CAROM_CLOSES_WHILE) has a kink where x changes its sign; all kinks that x has
/// itself.
carom_status carom_add_kink(resolver *r, carom_node x, int contact);
carom_status carom_add_kinks_of(resolver *r, carom_node x, int contact);
/// Kinks of forces as they are written, and of those of the potential, where positions decide and forces are
/// continuous.
carom_status carom_derive_bends(resolver *r);
/// Where forces, as they are written or of the potential, and rates of states jump with the state.
carom_status carom_derive_jumps(resolver *r);
/// Those of a coefficient of friction as it is written, and where it jumps: a body passes such a place with a velocity,
/// or rests.  r->normal_force is what that is there; r->slip_speed is left without a meaning.
carom_status carom_add_kinks_of_friction(resolver *r, const carom_datum *rub);
/// The law of contacts of kind `kind`, which come and go; NULL: they are rigid.  mu, factor: as below.
carom_status carom_read_yielding(resolver *r, const carom_mech_contact *of, double mu, const double *factor, int kind,
                                 yielding **law);
/// Forces of a contact whose gap and slips are known; mu: its friction; factor: of the slips, which have it already
/// (FV-6), NULL: none.
carom_status carom_derive_soft(resolver *r, const carom_mech_contact *of, const constraint *c, double mu,
                               const double *factor);
