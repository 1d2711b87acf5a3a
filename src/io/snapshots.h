// snapshots.h: contacts between shapes as rows of a table, at chosen times.
#pragma once
#include <carom/model.h>
#include <carom/result.h>

/// How many snapshots are due up to t, with `dt` between two; rounding forgiven.
long snapshots_due(double t, double dt, double h);
/// Every contact between shapes that touches or carries a force, to put().
typedef carom_status snapshot_put(void *to, const carom_result_contact *c, carom_error *err);
carom_status snapshot_take(const carom_model *m, carom_sim *sim, const carom_now *now, snapshot_put *put, void *to,
                           carom_error *err);
