// inside.h (private): what the functions of carom/scheme.h keep between calls, and the simulation gives them.  No
// scheme looks in here.
#pragma once
#include "base/tolerance.h"
#include "contact/delassus.h"
#include "scheme/responses.h"
#include "solver/solvers.h"
#include "system/difference.h"
#include <math.h>

/// The gaps by which the scheme decided in this step what is closed, and where; for the simulation, which bounds those
/// at the end of the step by them.
typedef struct carom_noted {
    bool on;       // requested
    bool seen;     // in this step
    double *q, *g; // nq, nc
} carom_noted;

/// Rules of dissipation (EN-6).  Of steps outside the condition of their rule, kept: energy that they created.
enum { CAROM_RULE_NONE, CAROM_RULE_THETA, CAROM_RULE_MEAN, CAROM_RULE_NEWMARK };
typedef struct carom_rise {
    double sum, most, t; // all of it; in one step, and when
    double rule, x, y;   // which rule there, CAROM_RULE_*; theta and 1/(1 + e), or theta, or gamma and beta
} carom_rise;

typedef struct carom_inside {
    struct carom_team *team; // threads that solvers may use; NULL: none
    struct {
        double safety;       // part of the step that an estimate allows
        double shrink, grow; // least and largest ratio of a step to the one before
    } control;               // of adaptive steps
    struct carom_varying_friction *friction; // friction.c; NULL: none varies
    const char *(*name)(const void *user, long long id); // of a constraint, for messages; NULL: by number
    const void *name_user;
    // observer of substeps; NULL: none
    carom_status (*on_substep)(void *user, double t, const double *q, const double *v);
    double t_0, t_end;   // of the run
    double solved;       // residual over s->scale of a problem that counts as solved; s->tol: what direct solvers aim
                         // at
    carom_prox_rule prox;
    double accept;       // where no solver does better: residual over contact.scale with which the step goes on and is
                         // counted
    double limited, limited_most; // (TOL-6): the same for contacts that come and go: the chain of solvers ends with it;
                                  // the step goes on with it.  0: as for others
    carom_rise *rise;
    carom_choice *choice; // kept: which solver goes first on large problems
    const double *residual; // kept: largest one of contact problems before those of carom_step.counts
    double entered;      // of adaptive steps: largest depth from which contacts that closed were lifted; set to 0 there
    double spent;        // parts of the run's present step, with those of its halves and of all that was refused of it
    double calls, multiplied; // the same, as work (AU-19): evaluations of the model, multiplications of factorisations
    bool last;           // smaller steps have failed: contacts that meet a kink keep their plane (CL-10)
    const double *gaps;  // at the start of the step, as the simulation has them; NULL: it has none, or the system lacks
                         // some of its constraints
    double *warm;        // recorded directions, kept: reaction of the last contact problem, to start the next
    bool (*stop)(const void *user); // asked at every call of the system: shall the run stop?  NULL: it shall not
    const void *stop_user;
    // NULL if not requested
    carom_status (*on_event)(void *user, carom_side side, double t, const double *q, const double *v);
    // events of schemes that locate them; NULL if not requested
    carom_status (*on_change)(void *user, const carom_change *change);
    void *substep_user, *event_user, *change_user;
    /// Called before (report NULL) and after each contact problem; NULL if not requested.
    void (*on_problem)(void *user, double t, const carom_problem *pb, const carom_report *report);
    void *problem_user;
    const char *(*rate_name)(const void *user, int i); // of a velocity; NULL, or returns NULL: by number
    struct {
        bool accounted;         // the scheme has accounted the power of forces of this step
        double *given, *taken;  // nv + 1: carom_system_accounts.power_along, summed over the stages so far
    } power;
    carom_factor F_free;    // M, where a word needs it and the scheme has none
    bool mass_seen;         // M was factorised, so it is positive definite, since the simulation asked last
    double *a_free, *kappa; // nv: M^-1 f; by local direction: curvatures
    double *q_before, *kappa_before; // half a step before
    double *still;          // nv: zero
    carom_delassus delassus; // G and F^-1 W of the last problem
    long freezes, frozen; // how often features were frozen so far (CAROM_FREEZE); which of them are frozen now, 0: none
    double a;               // scale of the impulses in problem: p acts as a p
    carom_difference difference;
    double *row_lever;   // ne: (LV-4), of the last problem
    carom_chain *chain;
    carom_noted noted;
    bool gaps_before;       // the scheme has asked for gaps at the start of a step (carom_gaps_before)
    double margin;          // of the list of contacts: what the motion of this step has wanted so far
                            // (carom_list.margin)
    struct carom_discs *discs; // contacts with a disc for each of sliding, rolling, spinning (discs.c); NULL: there are
                               // none
} carom_inside;

/// (TOL-6)  Is the work on contact problems limited?
static inline bool carom_limited(const carom_inside *x) { return x->delassus.parts.blocks && x->limited > 0; }

/// (TOL-5)  With which residual over contact.scale does the chain of solvers end?
static inline double carom_acceptable(const carom_inside *x) {
    return carom_limited(x) ? x->limited : fmin(x->accept, CAROM_EXCUSED);
}
