// joints.h: the factor of joints, for those who eliminate them before contacts; see joints.c.
#pragma once
#include <carom/problem.h>

/// In the work of carom_solver_joints: the factor of G of a problem of joints alone, which may depend on each other.
void carom_joints_factor(void *work, const carom_problem *pb);
/// x = G^- x, n numbers: an answer of G y = x, where there is one.
void carom_joints_solve(void *work, double *x, int n);
/// x = G^+ x of that problem: the shortest answer.  Nothing can be solved after it if joints depend on each other.
void carom_joints_answer(void *work, const carom_problem *pb, double *x);
