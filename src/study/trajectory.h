// trajectory.h: trajectories in memory.
#pragma once
#include <carom/study.h>

/// A motion in memory: states at nodes, and where rates jump.  Two nodes at one time are the two sides of a jump; other
/// nodes hold right limits.
typedef struct carom_trajectory {
    int n;          // coordinates, each with its rate
    long count, room;
    double *t;      // room, nondecreasing
    double *q, *v;  // room x n; a rate that is NaN is not known
    double *jump;   // room: time of a jump behind node k-1, at most t[k]; infinite: somewhere there; NaN: none
} carom_trajectory;
size_t carom_trajectory_bytes(int n, long room);
/// Allocate and touch memory for `room` nodes, so that recording only copies.
carom_status carom_trajectory_create(carom_trajectory *tr, int n, long room, carom_error *err);
/// Room for more nodes; what is there stays.
carom_status carom_trajectory_reserve(carom_trajectory *tr, long room, carom_error *err);
void carom_trajectory_destroy(carom_trajectory *tr);
/// Append a node at or after the time of the last one; jump is NaN, infinite, or a time after the last node and not
/// after t.
void carom_trajectory_add(carom_trajectory *tr, double t, const double *q, const double *v, double jump);
/// The state at t, clipped to the nodes' range.  *hint (start with 0) makes ascending times cheap.
///
/// Between nodes without a jump: cubics in (q, v), or straight lines where a rate is not known.  With a jump at a known
/// time: a parabola on either side with the rate of its node, meeting there.  With a jump somewhere, as a time-stepping
/// scheme has it: the rate runs straight from v_0 to v_1, and the position is the parabola with that curvature through
/// q_0 and q_1.  At a node the state is that of the node, on either side unless the node is double.
void carom_trajectory_at(const carom_trajectory *tr, double t, carom_side side, long *hint, double *q, double *v);
