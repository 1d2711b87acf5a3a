// hht.c: the scheme of Hilber, Hughes and Taylor, nonsmooth by splitting.
//
// Spec: docs/methods-ggl-newmark.md, section NM.  See newmark_family.h.
#include "scheme/newmark_family.h"

enum { OPT_ALPHA, OPT_CONTACT, OPT_ACTIVE, OPT_IDENTITY };
static const carom_option options[] = {
    {.name = "alpha",
     .kind = CAROM_REAL,
     .fallback = 0.1,
     .low = 0,
     .high = 1.0 / 3,
     .about = "weight of the old forces: 0 is Newmark's trapezoidal rule, more damps high frequencies"},
    CAROM_NEWMARK_OPTIONS,
    {0},
};

static void carve(void *w, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    // (NM-13)  alpha_m = 0,  alpha_f = alpha,  gamma = 1/2 + alpha,  beta = (1 + alpha)^2/4
    const double alpha = opt[OPT_ALPHA];
    const carom_newmark_par par = {.alpha_f = alpha,
                                   .gamma = 0.5 + alpha,
                                   .beta = 0.25 * (1 + alpha) * (1 + alpha),
                                   .contact = (carom_newmark_contact)opt[OPT_CONTACT],
                                   .half = opt[OPT_ACTIVE] == 1,
                                   .identity = opt[OPT_IDENTITY] == 0};
    carom_newmark_carve(w, par, mem, keep, sys);
}

static const char *warning(const double *opt) { return carom_newmark_warning((carom_newmark_contact)opt[OPT_CONTACT]); }

const carom_scheme carom_scheme_hht = {
    .name = "hht",
    .about = "Hilber, Hughes and Taylor's scheme with impulses split off",
    .text = "M s_1 = f(q_1, v_1),   a_1 = (1 - alpha) s_1 + alpha s_0,   gamma = 1/2 + alpha,  beta = (1 + alpha)^2/4\n"
            "v_1, q_1 and impulses as in newmark\n\n"
            "Second order without contacts and joints, damps high frequencies; a_1 is not the acceleration at the end "
            "of the\n"
            "step.  Otherwise as newmark.",
    .order = 2,
    .impulses = true,
    .options = options,
    .warning = warning,
    .work_size = sizeof(carom_newmark),
    .carve = carve,
    .start = carom_newmark_start,
    .step = carom_newmark_step,
};
