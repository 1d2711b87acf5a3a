// shards.h: a sweep in parts; users: <carom/sweep.h>.
#pragma once
#include <carom/sweep.h>

int carom_sweep_state(const carom_sweep *s);             // numbers in carom_sweep_row.end
long carom_sweep_alone(const carom_sweep *s);            // runs so far that lanes left to the engine; -1: none are in
                                                         // lanes
/// This run is done already, by an earlier call; end: where it ended, for its follower.
void carom_sweep_skip(carom_sweep *s, long run, const double *end);
/// Inside tick(), for a process that lets others help: the next chains for another of the `processes`; false: none are
/// left.
bool carom_sweep_give(carom_sweep *s, int processes, long *first, long *last);
/// Inside tick(): a row that another process computed.  It goes to watch->row.
void carom_sweep_accept(carom_sweep *s, const carom_sweep_row *row);
