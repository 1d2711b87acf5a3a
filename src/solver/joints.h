// joints.h: the factor of joints, for those who eliminate them before contacts; see joints.c.
#pragma once
#include <carom/problem.h>

/// In the work of carom_solver_joints: the factor of G of a problem of joints alone.  False: a pivot has cancelled.
bool carom_joints_factor(void *work, const carom_problem *pb);
/// x = G^-1 x, n numbers.
void carom_joints_solve(void *work, double *x, int n);
