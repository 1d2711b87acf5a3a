// tape.h: the inside of a tape, shared by compiler and interpreter.
//
//   (1) slots hold time, positions, velocities, parameters, numbers, then one result per instruction (a sine
//       with its cosine, a pair: two); no slot is used twice;
//   (2) a segment is a run of instructions that the same groups need and that depend on the same class of
//       inputs; it is computed as a whole or not at all;
//   (3) segments are ordered by class, then from many groups to few: whoever needs a result comes later;
//   (4) behind them stand plans: short segments that are often wanted together, once more as one.  Going from segment
//       to segment would cost as much as their instructions.
#pragma once
#include "expr/ring.h"
#include <stdint.h>

// Instructions are the operations of the graph and these.  Each rounds exactly as its parts would: the gain is one
// dispatch instead of two.  FUSED(NAME, value of A, B, C, D)
#define CAROM_FUSED(FUSED)                                                                         \
    FUSED(MUL_ADD, A * B + C) FUSED(MUL_SUB, A * B - C) FUSED(SUB_MUL, C - A * B)                  \
    FUSED(DOT_ADD, A * B + C * D) FUSED(DOT_SUB, A * B - C * D)                                    \
    FUSED(NEG_MUL, -(A * B)) FUSED(MUL_MUL, A * B * C) FUSED(ADD_MUL, (A + B) * C)                 \
    FUSED(DIF_MUL, (A - B) * C) FUSED(ADD_ADD, (A + B) + C) FUSED(ADD_SUB, (A + B) - C)            \
    FUSED(DIF_ADD, (A - B) + C) FUSED(DIF_SUB, (A - B) - C) FUSED(SUB_ADD, C - (A + B))            \
    FUSED(SUB_DIF, C - (A - B))

// CAROM_OP_CURVE: b is the slot of the first number of the curve, c which derivative.
enum {
    CAROM_TAPE_SINCOS = CAROM_OP_COUNT, // dst = sin a, b = slot of cos a
#define FUSED(name, value) CAROM_TAPE_##name,
    CAROM_FUSED(FUSED)
#undef FUSED
    CAROM_TAPE_END // of a segment
};

typedef struct carom_instruction { int32_t op, dst, a, b, c, d; } carom_instruction;

typedef struct carom_segment {
    int first, count; // instructions; a CAROM_TAPE_END follows
    uint32_t groups;  // who needs it
    int class;        // CAROM_CLASS_PARAMETER, _POSITION or _VELOCITY
} carom_segment;

// Some segments once more as one.
typedef struct carom_plan {
    int first;    // place in carom_tape.code; -1: there is none
    int length;   // instructions
    uint64_t set; // of segments, their first word
} carom_plan;

// What one evaluation reads of a group.
typedef struct carom_outputs {
    int first, count; // in carom_tape.output
    int reads;        // the highest class it depends on
    int list[CAROM_LISTS]; // lengths of its lists
    carom_plan all;   // when nothing is valid
    carom_plan rest;  // when what another group needs is valid; only where sets have one word
} carom_outputs;

struct carom_tape {
    int nq, nv, nparameters, nnumbers, nslots;
    int nsegments, ngroups, nwords; // nwords = number of segments / 64, rounded up, at least 1
    carom_instruction *code;
    carom_segment *segment;
    double *number;  // nnumbers
    uint64_t *needs; // sets of segments, nwords each: what every group needs beyond parameters, then the rest
    uint64_t *fades; // by class: the segments that a change of its inputs makes invalid
    uint64_t *pieces; // the segments that have an operation with pieces, whose value depends on which one it is held on
    int *piece, *piece_at; // these operations, in the order of the code; where those of each segment begin, nsegments +
                           // 1
    bool piecewise;  // there are some
    bool timed;      // time is an input of some instruction or output
    int *output;     // slots of all groups' outputs
    carom_outputs *group; // ngroups
    const carom_native *native; // compiled code; NULL: the interpreter runs
};

// Start of a work block; the set of valid segments and the slots follow.
typedef struct carom_tape_state {
    uint64_t executed; // instructions since the start
    uint64_t moves;    // changes of (t, q) or of parameters since the start; of the block that stays where it was held:
                       // those of the other when it agreed last
    uint64_t agreed;   // of the block that stays: segments whose pieces the other had then, first word; of the one that
                       // goes on: has it begun?
} carom_tape_state;

static inline double *carom_tape_slots(const carom_tape *tape, void *work) {
    return (double *)((uint64_t *)((carom_tape_state *)work + 1) + tape->nwords);
}

/// A group held as by carom_tape_eval_held(), where `work` is the block that was held: as long as it is on the same
/// pieces, what it has is the answer.
carom_values carom_tape_values_held(const carom_tape *tape, void *work, void *held, int group, double t,
                                    const double *q, const double *v);

/// The lists of a group that has more than three, each to its own place, where compiled code has them.  Nothing is
/// remembered of the point.  False: there is no such code, or a value may not be finite.
static inline bool carom_tape_once(const carom_tape *tape, void *work, int group, double t, const double *q,
                                   const double *v, double *const to[CAROM_LISTS]) {
    if (!tape->native || !tape->native->once[group]) return false;
    ((carom_tape_state *)work)->executed += (uint64_t)tape->group[group].all.length;
    return tape->native->once[group](carom_tape_slots(tape, work), carom_ring_nearest, t, q, v, to) == 0;
}

/// Of a group whose lists are f (nv), all of M by columns, and g: a = M^-1 f and g, where compiled code has them in one
/// go, with the bits of carom_factorise() and carom_factor_solve().  Nothing is remembered of the point.  False: there
/// is no such code, or something is not finite, or M not positive definite.
static inline bool carom_tape_free(const carom_tape *tape, void *work, int group, double t, const double *q,
                                   const double *v, double *a, double *g) {
    if (!tape->native || !tape->native->free[group]) return false;
    ((carom_tape_state *)work)->executed += (uint64_t)tape->group[group].all.length;
    return tape->native->free[group](carom_tape_slots(tape, work), carom_ring_nearest, t, q, v, a, g) == 0;
}
