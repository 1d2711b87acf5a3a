// newmark.c: Newmark's scheme, nonsmooth by splitting.
//
// Spec: docs/methods-ggl-newmark.md, section NM (Chen, Acary, Virlez, Bruels 2013; Acary's lecture).  See
// newmark_family.h.
#include "base/tolerance.h"
#include "scheme/newmark/newmark_family.h"
#include <math.h>

enum { OPT_GAMMA, OPT_BETA, OPT_CONTACT, OPT_ACTIVE, OPT_IDENTITY };
static const carom_option options[] = {
    {.name = "gamma", .kind = CAROM_REAL, .fallback = 0.5, .low = 0, .high = 1,
     .about = "weight of the new acceleration in the velocity; 1/2 for second order"},
    {.name = "beta", .kind = CAROM_REAL, .fallback = 0.25, .low = 0, .high = 1,
     .about = "half the weight of the new acceleration in the position; stable for 2 beta >= gamma >= 1/2"},
    CAROM_NEWMARK_OPTIONS,
    {0},
};

static carom_newmark_par parameters(const double *opt) {
    return (carom_newmark_par){.gamma = opt[OPT_GAMMA],
                               .beta = opt[OPT_BETA],
                               .contact = (carom_newmark_contact)opt[OPT_CONTACT],
                               .half = opt[OPT_ACTIVE] == 1,
                               .identity = opt[OPT_IDENTITY] == 0, .from_force = true};
}

CAROM_NEWMARK_FUNCTIONS

// q_{k+1} + q_{k-1} = 2 c q_k + ... has a root -1 at (h omega)^2 (gamma/2 - beta) = 1.
static double stable_of(const double *opt) {
    const double room = 0.5 * opt[OPT_GAMMA] - opt[OPT_BETA];
    return room > CAROM_SAME ? 1 / sqrt(room) : 0;
}

const carom_scheme carom_scheme_newmark = {
    .name = "newmark",
    .about = "Newmark's scheme with impulses split off",
    .text = "M a_1 = f(q_1, v_1)\n"
            "v_1 = v_0 + h ((1 - gamma) a_0 + gamma a_1) + dw\n"
            "q_1 = q_0 + h v_0 + h^2 ((1/2 - beta) a_0 + beta a_1) + h/2 dw\n"
            "M dw = W_1 p,   Newton's law between u(q_0, v_0) and u(q_1, v_1) for contacts closed at the end of the "
            "free step\n\n"
            "Second order for gamma = 1/2 without contacts and joints, first order across impacts.  No reaction enters "
            "the\n"
            "accelerations; joints are satisfied on velocity level and drift with order h.  For linear systems with\n"
            "2 beta >= gamma >= 1/2 an algorithmic energy does not grow (checked at every step: energy.identity).\n"
            "gamma = 1/2 and beta = 1/4: average acceleration; 1/6: linear acceleration, stable for omega h < 3.46; "
            "1/12: Fox and\n"
            "Goodwin, omega h < 2.45; 0: central differences, omega h < 2.",
    CAROM_NEWMARK_TABLE,
    .stable_of = stable_of,
};
