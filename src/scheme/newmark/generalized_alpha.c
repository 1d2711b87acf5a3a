// generalized_alpha.c: the generalized-alpha scheme, nonsmooth by splitting.
//
// Spec: docs/methods-ggl-newmark.md, section NM.  See newmark_family.h.
#include "scheme/newmark/newmark_family.h"
#include <math.h>

enum { OPT_RHO, OPT_ALPHA_M, OPT_ALPHA_F, OPT_GAMMA, OPT_BETA, OPT_CONTACT, OPT_ACTIVE, OPT_START };
static const carom_option options[] = {
    CAROM_RHO_OPTION,
    {.name = "alpha-m", .kind = CAROM_REAL, .fallback = NAN, .derived = "by-rho", .low = -1, .high = 1,
     .open_high = true,
     .about = "weight of the old acceleration"},
    {.name = "alpha-f", .kind = CAROM_REAL, .fallback = NAN, .derived = "by-rho", .low = 0, .high = 1,
     .open_high = true,
     .about = "weight of the old forces; stable for alpha-m <= alpha-f <= 1/2 and the default gamma and beta"},
    {.name = "gamma", .kind = CAROM_REAL, .fallback = NAN, .derived = "by-alphas", .low = 0, .high = 2,
     .about = "as in newmark; second order with the default only"},
    {.name = "beta", .kind = CAROM_REAL, .fallback = NAN, .derived = "by-gamma", .low = 0, .high = 2,
     .about = "as in newmark"},
    {.name = "contact", .kind = CAROM_CHOICE, .choices = "nonsmooth|position|velocity",
     .about = "nonsmooth: impulses apart from accelerations; the others put contact into the accelerations and are "
              "wrong at impacts"},
    {.name = "active", .kind = CAROM_CHOICE, .choices = "free|half",
     .about = "contacts closed at the end of the step without contact, or at q_0 + h/2 v_0"},
    {.name = "start", .kind = CAROM_CHOICE, .choices = "step|force",
     .about = "first acceleration: M^-1 f but for stiff forces, which have that over a step; or M^-1 f of all, with "
              "which rho=1 conserves the energy of linear systems exactly and stiff springs out of balance may blow "
              "up"},
    {0},
};

static double given(double value, double otherwise) { return isnan(value) ? otherwise : value; }

// (NM-5), each parameter from those before it unless given
static carom_newmark_par parameters(const double *opt) {
    carom_newmark_par par = carom_newmark_rho(opt[OPT_RHO]);
    if (!isnan(opt[OPT_ALPHA_M]) || !isnan(opt[OPT_ALPHA_F])) {
        par.alpha_m = given(opt[OPT_ALPHA_M], par.alpha_m);
        par.alpha_f = given(opt[OPT_ALPHA_F], par.alpha_f);
        par.gamma = 0.5 + par.alpha_f - par.alpha_m;
    }
    par.gamma = given(opt[OPT_GAMMA], par.gamma);
    par.beta = given(opt[OPT_BETA], 0.25 * (par.gamma + 0.5) * (par.gamma + 0.5));
    par.choose_beta = isnan(opt[OPT_BETA]);
    par.contact = (carom_newmark_contact)opt[OPT_CONTACT];
    par.half = opt[OPT_ACTIVE] == 1;
    par.from_force = opt[OPT_START] == 1;
    return par;
}

CAROM_NEWMARK_FUNCTIONS

const carom_scheme carom_scheme_generalized_alpha = {
    .name = "generalized-alpha",
    .about = "generalized-alpha scheme with impulses split off",
    .text =
        "M s_1 = f(q_1, v_1),   (1 - alpha_m) a_1 + alpha_m a_0 = (1 - alpha_f) s_1 + alpha_f s_0\n"
        "alpha_m = (2 rho - 1)/(rho + 1),  alpha_f = rho/(rho + 1),  gamma = 1/2 + alpha_f - alpha_m,  beta = (gamma + "
        "1/2)^2/4 (with joints gamma/2) unless given\n"
        "v_1, q_1 and impulses as in newmark\n\n"
        "Second order without contacts and joints; rho sets the damping of high frequencies.  A joint anywhere\n"
        "in the model changes beta for all of it; give beta to compare models with and without joints.  Otherwise as "
        "newmark.\n"
        "ggl-alpha is the variant without penetration and drift.",
    CAROM_NEWMARK_TABLE,
};
