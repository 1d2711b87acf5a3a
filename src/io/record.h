// record.h (private): the recorder's insides, shared by its parts: columns (record_columns.c), rows (record.c), saved
// state (record_state.c).
#pragma once
#include "io/result.h"
#include "flex/member.h"
#include "io/sides.h"
#include "io/spacing.h"
#include "model/columns.h"
#include <stdint.h>

struct carom_record {
    const carom_model *model;
    const carom_system *sys;
    carom_sim *sim;
    carom_error err;
    char warnings[CAROM_WARNINGS_ROOM];
    const char *estimate; // NULL: none
    double h, end;
    long every;
    double dt_out;
    bool event_rows;
    sides sides;
    double *side_gap, *unknown;  // of such rows: gaps; NaN for reactions
    int side_links, side_rows;   // they have room for
    int ndir, nwatched, nout;
    int nc;                      // contacts that are always there
    column_table columns;
    char **column;               // their names
    char **unit;                 // of them; "": unknown
    char **role;                 // of them: texts that are not its own
    const double *extra;         // values of the caller's columns
    h5_field_def *field;         // what is recorded along flexible members
    struct { int member; carom_field kind; } *field_of;
    int nfield;
    double *acc, *u, *gap, *low, *high; // acc, low, high lie in one block: they are saved
    double *out;                 // nout: values of all outputs
    const char *unmatched;       // a pattern of columns that no name matches; NULL: none
    const char *crowded;         // one that too many pairs of shapes match; NULL: none
    contact_groups *groups;        // contacts that are one to readers
    double *group_acc;           // their impulses since the last row; lies behind high
    double *force;               // of the last step that succeeded
    double *turned;              // 2 ndir: reactions and multipliers in the frames of joints; NULL: no need
    long rows, events, step;     // step: last one seen, -1: none
    double snapshots;            // time between snapshots of contacts; 0: none
    long contacts, snapped;      // their rows; snapshots that were due so far
    long row_step, k;            // step of the last row; next multiple of dt_out
    long next;                   // step of the next row when these are counted in steps
    long quiet_step;             // neither a row nor the end of the run comes before this step
    double quiet_t;              // and this time
    bool positions;              // there are multipliers on position level
    bool reacted;                // force may differ from zero
    bool frozen;                 // the state in the file is the one to go on from
    bool packed;                 // no, the one in `state` is: it is not in the file yet
    uint64_t about;              // checksum of what the run is: model, parameters, scheme, options, step
    double saved;                // time of the last flush that succeeded
    uint64_t sequence;
    unsigned char *state;        // room to pack it, on its way to the file
    size_t state_size;
    h5_file *h5;
    csv_file *csv;
    carom_result *memory;        // rows stay here, if anywhere
    char **constraint;           // names, by id
    bool extended;               // the system has more than the model's, or there is no model
};

// -- record_columns.c --

/// Names of constraints; the table of columns; fields along members.  false: no memory.
bool record_describe(carom_record *r, const carom_record_def *def);
/// Name of a constraint; NULL: none.
const char *record_name(const carom_record *r, long long id);
/// Reactions x as they are recorded: those of joints in the joints' frames, in `turned` where that differs.
const double *record_reactions(const carom_record *r, const carom_now *now, const double *x, double *turned);
/// One row, at the state of now, with these impulses.
carom_status record_fill(carom_record *r, double *row, const carom_now *now, const double *impulse);
carom_status record_fields(carom_record *r, const carom_now *now);

// -- record_state.c --

/// Changes whenever the simulation or the recorder keeps something else: an older state cannot be continued.
enum { RECORD_STATE_FORMAT = 5 };

/// Bytes of a saved state in which the simulation has so many.
size_t record_state_size(const carom_record *r, size_t bytes);
/// Numbers of the recorder itself in it.
int record_doubles(const carom_record *r);
/// The checksum of what the run is.  false: no memory.
bool record_identify(carom_record *r, const carom_record_def *def);
/// A list as one text, a line each; to be freed.  NULL: no memory.
char *record_join(const char *const *list);
/// The state as of now is the next one to go into the file.
carom_status record_pack_state(carom_record *r, carom_error *err);
/// The packed state, or the one as of now, into the file.
carom_status record_put_state(carom_record *r, carom_error *err);
/// Back to the state in the file, and cut the file to it.
carom_status record_get_state(carom_record *r, const char *file, carom_error *err);
/// What the file says of itself: r's identity, and its ledger, if known.
carom_status record_recall(carom_record *r, const char *file, carom_ledger *l, bool *known, carom_error *err);
