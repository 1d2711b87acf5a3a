// carom_ledger.h: the account of a run; programs outside read it by name (carom/sim.h).
//
// Public headers look for this file to find out that carom itself is compiled.
#pragma once
#include <carom/scheme.h>
#include <carom/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A mode of the model, linearised: x'' + damping x' + stiffness x = 0.
typedef struct carom_pace {
    double stiffness, damping; // 1/s^2, 1/s
} carom_pace;

/// The account of a run.  Names and meaning are those of `carom run`'s ledger (docs/reference-ledger.md).
typedef struct carom_ledger {
    long steps, rejected;                 // steps done; attempts rejected for a smaller step
    long switches;                        // auto: changes of method on the way
    long undecided;                       // adaptive: impacts that no step size resolves
    double seconds, wall;                 // thread CPU time in the step loop; wall time
    long impacts, accumulations;
    double penetration;                   // largest max(0, -gap) at step ends
    long long penetration_id;             // constraint id, -1: never
    double penetration_t;
    struct {
        double overlap, t;                // largest overlap of contacts of finite stiffness at step ends, and when
        double start;                     // at the start
        long long which;                  // for carom_model_compliant(), -1: none overlapped, or the model has none
    } compliant;
    double drift;                         // largest |g| of a bilateral constraint at step ends
    int drift_id;
    double drift_t;
    struct {
        double start, end;                // total energy
        double impact, friction, damping; // taken
        double lost, created;             // by impacts, each as a whole, split by sign
        double external;                  // given
        double balance;                   // end - start - external + impact + friction + damping
        double identity;                  // largest violation of the scheme's own balance in a step, relative to its
                                          // terms; NaN: not checked
    } energy;
    struct {
        long falls, wakes;                // bodies that fell asleep, and that woke again, so often
        double energy;                    // kinetic energy that they had when they fell asleep; part of energy.damping
    } sleep;
    carom_counts counts;                  // contact and Newton counters
    double residual_t;                    // time of the largest contact residual
    // what the sizes above are compared with, see carom_sim_warnings
    carom_account impulses;               // of impacts split by sign: the largest gain
    double kinetic;                       // largest kinetic energy at some of the steps
    double gap;                           // largest gap at step ends
    double moved, moved_t;                // largest jump of a gap with signals, and when
    int moved_id;
    carom_pace pace[2];                   // fastest vibration and fastest decay, where they were slowest; of schemes
                                          // with steps of the size given
} carom_ledger;

/// The ledger as of now, energies included.
carom_status carom_sim_ledger(carom_sim *sim, carom_ledger *ledger, carom_error *err);

/// Contacts that come and go: those of the next step, so that carom_sim_state() keeps its size during it.
/// carom_sim_step() does this itself.
carom_status carom_sim_ready(carom_sim *sim, carom_error *err);

/// Names that belong to the ids of a ledger; NULL where there is none.
typedef struct carom_ledger_names {
    const char *penetration, *drift, *residual;
    const char *redundant; // redundant joints and constraints at the start, as one text; NULL: none
    const char *compliant; // contact of finite stiffness with the largest overlap; NULL: none
    const char *estimate;  // errors, as a JSON object (carom_estimate_text()); NULL: not estimated
    const char *warnings;  // as a JSON list of {kind, text, name, t}; NULL: none
} carom_ledger_names;

/// Line i; name is NULL after the last.
carom_ledger_line carom_ledger_line_at(const carom_ledger *l, const carom_ledger_names *names, int i);

/// A ledger with its names as a program has it (carom/sim.h), texts copied.  NULL: no memory.
carom_ledger *carom_ledger_keep(const carom_ledger *l, const carom_ledger_names *names, carom_error *err);

#ifdef __cplusplus
}
#endif
