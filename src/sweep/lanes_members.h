// lanes_members.h (private): flexible members in the text of lanes.
#pragma once
#include "model/model.h"

/// The lower triangle of M: terms of the model, then what members add.
typedef struct carom_lane_mass {
    int n, *i, *j;
    int *term;     // of the model's; -1: none
    double *value; // that members add
} carom_lane_mass;

carom_status carom_lane_mass_find(const carom_model *m, carom_lane_mass *x);
void carom_lane_mass_free(carom_lane_mass *x);

/// Tables; then statements that make f of the members' forces, e[] being those of expressions, and that add to K and C.
void carom_lane_member_tables(const carom_model *m, carom_write_text *write, void *user);
carom_status carom_lane_member_forces(const carom_model *m, carom_write_text *write, void *user);
carom_status carom_lane_member_tangents(const carom_model *m, carom_write_text *write, void *user);
/// Is the text of exact beams wanted?
bool carom_lane_member_exact(const carom_model *m);
