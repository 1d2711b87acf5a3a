// alpha_index3.c: generalized-alpha with all constraints on position level, as for smooth multibody systems.
//
// Spec: docs/methods-ggl-newmark.md, section AI (Bruels, Acary, Cardona 2014, equations 51-52).  For comparison: joints
// are met exactly and with second order, but an impact enters the accelerations and makes energy.
#include "scheme/newmark/newmark_family.h"

enum { OPT_RHO, OPT_IMPACTS };
static const carom_option options[] = {
    CAROM_RHO_OPTION,
    {.name = "impacts", .kind = CAROM_CHOICE, .choices = "refuse|ignore",
     .about = "refuse: models with contacts are declined; ignore: they run without an impact law, for comparison only"},
    {0},
};

// (AI-1)  M s_1 = f(q_1, v_1) + W(q_1) lambda,   g_E(q_1) = 0,   0 <= g(q_1) _|_ lambda >= 0
//         q_1, v_1, a_1 as generalized-alpha
static void allocate(void *w, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    carom_newmark_par par = carom_newmark_rho(opt[OPT_RHO]);
    par.contact = CAROM_NEWMARK_POSITION;
    carom_newmark_allocate(w, par, mem, keep, sys);
}

static const char *warning(const double *opt) {
    if (opt[OPT_IMPACTS] == 0) return NULL;
    return "alpha-index3 has no impact law: restitution is ignored and impacts make energy; for smooth motion with "
           "joints, and for comparison";
}

const carom_scheme carom_scheme_alpha_index3 = {
    .name = "alpha-index3",
    .about = "smooth generalized-alpha with constraints on position level; for comparison",
    .text =
        "M s_1 = f(q_1, v_1) + W_1 lambda,   g_E(q_1) = 0,   0 <= g(q_1) _|_ lambda >= 0\n"
        "(1 - alpha_m) a_1 + alpha_m a_0 = (1 - alpha_f) s_1 + alpha_f s_0;   v_1, q_1 from a_0, a_1 as Newmark\n\n"
        "Second order with joints, which are satisfied exactly on position level.  No impact law and no restitution: "
        "the\n"
        "reaction of an impact is O(1/h) and comes back through a_0 in the next step.  Energy is made at impacts, so\n"
        "models with contacts are declined; impacts=ignore runs them, as a counter-example.",
    .order = 2,
    .promises = {.contacts = CAROM_POSITION_LEVEL,
                 .joints = CAROM_POSITION_LEVEL,
                 .joint_order = 2,
                 .forces = CAROM_AT_END,
                 .gaps = CAROM_AT_END,
                 .directions = CAROM_AT_START | CAROM_AT_END},
    .limitations = CAROM_NO_FRICTION | CAROM_NO_IMPACTS | CAROM_NO_REST,
    .dense_operator = true,
    .options = options,
    .warning = warning,
    .work_size = sizeof(carom_newmark),
    .allocate = allocate,
    .start = carom_newmark_start,
    .step = carom_newmark_step,
};
