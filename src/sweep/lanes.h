// lanes.h (private): many runs at once.
//
//   lanes_write.c  the sweep as one C or CUDA text: the model's functions and the parts in lanes/*.inc
//   lanes.c        the C text compiled, and blocks of runs
//   gpu.c          the CUDA text compiled, and blocks of runs
#pragma once
#include "sweep/lanes_model.h"
#include "sweep/sweep.h"

struct carom_lanes {
    carom_model *model;          // of which the text is made
    carom_lane_value *vary;
    carom_lane_request request;
    carom_run run;               // scheme, step, end
    double theta, tol, accept, newton_tol; // accept: the residual at which a problem counts as solved in the end
    bool forces_at_end;
    int order;                   // of half-explicit-rk, and whether its stages have sets of their own
    bool by_stage;
    void *code;                  // of the C text; NULL: not compiled
    int (*work)(const void *job);
    int block;                   // runs that a thread takes at once
};

// lanes_write.c
/// CAROM_BAD_INPUT: this sweep cannot run in lanes, and err gives the reason.
carom_status carom_lanes_create(const carom_sweep *s, carom_lanes **lanes, carom_error *err);
void carom_lanes_destroy(carom_lanes *l);
/// The whole text.
carom_status carom_lanes_text(const carom_sweep *s, const carom_lanes *l, bool cuda, carom_write_text *write,
                              void *user, carom_error *err);

// lanes.c
/// What lanes leave of a run; o->section is there already.  Not o->done: they do not support it, or there is no memory.
void carom_lanes_outcome(const carom_sweep *s, int status, double t, const double *observed, const double *end,
                         outcome *o);
/// The engine does what lanes do not support, or says why it cannot be done.
void carom_lanes_alone(carom_sweep *s, long run, outcome *o);
carom_status carom_lanes_compile(const carom_sweep *s, carom_lanes *l, carom_error *err);
/// Runs first to before last, those that are skipped excepted; o: last - first outcomes.  A run that lanes leave is
/// done alone.
void carom_lanes_block(carom_sweep *s, long first, long last, outcome *o);

// gpu.c
carom_status carom_gpu_open(const carom_sweep *s, const carom_lanes *l, carom_gpu **gpu, carom_error *err);
void carom_gpu_close(carom_gpu *g);
carom_status carom_gpu_block(carom_sweep *s, long first, long last, outcome *o, carom_error *err);

extern const char carom_lanes_head_c[], carom_lanes_head_cuda[], carom_lanes_math[], carom_lanes_free[],
    carom_lanes_contact[], carom_lanes_impacts[], carom_lanes_signals[], carom_lanes_step[], carom_lanes_average[],
    carom_lanes_run[], carom_lanes_block_c[], carom_lanes_block_cuda[], carom_lanes_flight[], carom_lanes_free_step[],
    carom_lanes_strike[], carom_lanes_full[], carom_lanes_asked[];
// Texts over a type that the library compiles, too (base/scalar.inc, model/turn.inc, flex/exact_beam.inc).
extern const char carom_scalar_text[], carom_turn_text[], carom_lift_text[], carom_exact_beam_text[],
    carom_rules_text[], carom_natural_text[], carom_energetic_text[], carom_impact_text[],
    carom_moreau_midpoint_text[], carom_moreau_explicit_text[], carom_half_explicit_text[],
    carom_half_explicit_rk_text[];
