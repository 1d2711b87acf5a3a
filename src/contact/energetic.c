// energetic.c: see energetic.h.
#include "contact/energetic.h"
#include "base/dormand.h"
#include "base/tolerance.h"
#include <carom/system.h>
#include <math.h>

#define ENERGETIC_ROWS (1 + CAROM_TANGENTS)
#include "contact/energetic.inc"

bool carom_energetic_impact(const double *g, int ld, int tangents, double mu, double e, const double *u, double *p) {
    return energetic_impact(g, ld, tangents, mu, e, u, p);
}
