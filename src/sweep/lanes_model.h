// lanes_model.h (private): a model as text for many systems at once, which differ in parameters and initial values.
#pragma once
#include "expr/lanes.h"
#include <carom/model.h>

/// What may depend on parameters besides the tape: the expressions by which other parameters, initial values and laws
/// are given.
typedef enum carom_lane_kind {
    CAROM_LANE_PARAMETER, CAROM_LANE_POSITION, CAROM_LANE_RATE, // index: of the parameter, position, velocity
    CAROM_LANE_RESTITUTION, CAROM_LANE_TANGENTIAL, CAROM_LANE_FRICTION, // of the contact
    CAROM_LANE_RANGE, // of what is bound: it stands in expressions, which hold for a range of it
    CAROM_LANE_STEP, CAROM_LANE_END
} carom_lane_kind;

typedef struct carom_lane_value { carom_lane_kind kind; int index; const carom_datum *from; } carom_lane_value;

/// At most `room` of them (list NULL: count only); returns how many there are.
int carom_lane_values(const carom_model *m, carom_lane_value *list, int room);

/// What the text is for.  The model was created with observe = the observed expressions, the section's if there is one,
/// those of carom_lane_values().
typedef struct carom_lane_request {
    const carom_lane_value *vary; // parameters, initial positions and rates that differ; `from` is not used
    int nvary, nobserve;
    // what the section's expression is; PLAIN: there is none
    enum { CAROM_LANES_PLAIN, CAROM_LANES_CROSSING, CAROM_LANES_PERIOD } section;
    bool jean;                    // derivatives of forces, mass and directions, too
    bool step, end;               // these are the model's own
    double h, until;              // step size, latest end
    bool beside;                  // steps begin and end beside jumps in time
} carom_lane_request;

/// Does an observed expression use this name of the ledger?
bool carom_lanes_observe(const carom_model *m, const carom_lane_request *r, const char *name);
/// Do contacts follow other laws of impact than Newton's, for all at once and with a constant restitution?
bool carom_lanes_other_laws(const carom_model *m);
/// CAROM_BAD_INPUT: this model cannot run in lanes, and err gives the reason: its size, of any model of the mechanism;
/// then of one whose pairs of shapes are apart (carom_model_apart): its parts; all the rest.
carom_status carom_lanes_size(const carom_model *m, carom_error *err);
carom_status carom_lanes_parts(const carom_model *m, carom_error *err);
carom_status carom_lanes_check(const carom_model *m, const carom_lane_request *r, carom_error *err);
/// Declarations and tables; then what is in terms of `real` and T(), to be written once for every type; then what is
/// for single systems.
carom_status carom_lanes_write(const carom_model *m, const carom_lane_request *r, int part, carom_write_text *write,
                               void *user, carom_error *err);
enum { CAROM_LANES_TABLES, CAROM_LANES_TYPED, CAROM_LANES_SINGLE };
