// lanes.h: tapes as text for many systems at once (private).
//
// The text is C in terms of a type `real` and functions T(name) of that type: of(), lt(), if(), sincos(), sqrt(), ...
// Whoever uses it defines these, once for vectors and once for single numbers.
#pragma once
#include "expr/expr.h"

/// What is known of a tape when some of its parameters differ between systems and the others have these values.
typedef struct carom_lane {
    const carom_tape *tape;
    int nk;          // places of k used so far
    bool pairs;      // it asks for the nearest place of a ring, which has no text
    int *place;      // by slot: place in k; -1: computed; -2: a number, in known
    double *known;
    bool *constant;  // by slot: computed from parameters alone
} carom_lane;

/// varies: by parameter.  nk: places of k that are taken already.
carom_status carom_lane_open(carom_lane *l, const carom_tape *tape, const bool *varies, const double *parameter,
                             int nk);
void carom_lane_close(carom_lane *l);

/// Names of inputs and results.  input: true if it is of type real, false if it is a number; output: false if it is not
/// wanted.
typedef struct carom_lane_names {
    void *user;
    bool (*input)(void *user, carom_input kind, int index, char text[CAROM_SLOT_NAME]);
    bool (*output)(void *user, int index, char text[CAROM_SLOT_NAME]);
    bool far; // sincos() collects in `far` what it cannot do
} carom_lane_names;

/// Statements that compute the results of a group.  whole: k is not used, what depends on parameters is computed on the
/// spot.
carom_status carom_lane_write_group(const carom_lane *l, int group, const carom_lane_names *names, bool whole,
                                    carom_write_text *write, void *user);
/// Statements that fill k.
carom_status carom_lane_write_constants(const carom_lane *l, const carom_lane_names *names, carom_write_text *write,
                                        void *user);
