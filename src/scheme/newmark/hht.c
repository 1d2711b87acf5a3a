// hht.c: the scheme of Hilber, Hughes and Taylor, nonsmooth by splitting.
//
// Spec: docs/methods-ggl-newmark.md, section NM.  See newmark_family.h.
#include "scheme/newmark/newmark_family.h"
#include <math.h>

enum { OPT_ALPHA, OPT_GAMMA, OPT_BETA, OPT_CONTACT, OPT_ACTIVE, OPT_IDENTITY };
static const carom_option options[] = {
    {.name = "alpha", .kind = CAROM_REAL, .fallback = 0.1, .low = 0, .high = 1.0 / 3,
     .about = "weight of the old forces: 0 is Newmark's trapezoidal rule, more damps high frequencies"},
    {.name = "gamma", .kind = CAROM_REAL, .fallback = NAN, .derived = "by-alpha", .low = 0, .high = 1,
     .about = "as in newmark; second order with the default only"},
    {.name = "beta", .kind = CAROM_REAL, .fallback = NAN, .derived = "by-alpha", .low = 0, .high = 1,
     .about = "as in newmark"},
    CAROM_NEWMARK_OPTIONS,
    {0},
};

// (NM-13)  alpha_m = 0,  alpha_f = alpha;  unless given gamma = 1/2 + alpha,  beta = (1 + alpha)^2/4
static carom_newmark_par parameters(const double *opt) {
    const double alpha = opt[OPT_ALPHA];
    return (carom_newmark_par){.alpha_f = alpha,
                               .gamma = isnan(opt[OPT_GAMMA]) ? 0.5 + alpha : opt[OPT_GAMMA],
                               .beta = isnan(opt[OPT_BETA]) ? 0.25 * (1 + alpha) * (1 + alpha) : opt[OPT_BETA],
                               .choose_beta = isnan(opt[OPT_BETA]),
                               .contact = (carom_newmark_contact)opt[OPT_CONTACT],
                               .half = opt[OPT_ACTIVE] == 1,
                               .identity = opt[OPT_IDENTITY] == 0, .from_force = true};
}

CAROM_NEWMARK_FUNCTIONS

const carom_scheme carom_scheme_hht = {
    .name = "hht",
    .about = "Hilber, Hughes and Taylor's scheme with impulses split off",
    .text = "M s_1 = f(q_1, v_1),   a_1 = (1 - alpha) s_1 + alpha s_0,   gamma = 1/2 + alpha,  beta = (1 + alpha)^2/4 "
            "(with joints gamma/2) unless given\n"
            "v_1, q_1 and impulses as in newmark\n\n"
            "Second order without contacts and joints, damps high frequencies; a_1 is not the acceleration at the end "
            "of the\n"
            "step.  A joint anywhere in the model changes beta for all of it; give beta to compare models with and "
            "without joints.\n"
            "Otherwise as newmark.",
    CAROM_NEWMARK_TABLE,
};
