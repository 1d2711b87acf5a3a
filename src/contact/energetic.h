// energetic.h: one impact with friction by energetic restitution (Stronge), followed through its normal impulse.
//
//     du/dp_N = g (1, f),  f = -mu u_T/|u_T|  where it slips,  |f| <= mu with u_T = 0 where it sticks  (IL-5)
//     compression: until u_N = 0, the normal impulse has done the work W_c = int u_N dp_N < 0
//     expansion:   until it has given back the part e^2 of it, W = (1 - e^2) W_c                               (IL-6)
//
// The impact takes |W| and what friction takes: never less than nothing.
#pragma once
#include <stdbool.h>

/// p of a contact that approaches with u, u_N < 0: normal, then `tangents` tangential components.  g = du/dp,
/// column-major with leading dimension ld, positive definite.  False: it is not, or numbers are not finite.
bool carom_energetic_impact(const double *g, int ld, int tangents, double mu, double e, const double *u, double *p);
