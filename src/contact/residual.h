// residual.h: residuals of contact problems and the sizes of laws.
#pragma once
#include <carom/problem.h>

/// What the rounding of G p + c alone may leave in the residual,
/// (4 + n/4) eps max_i (|c_i| + sum_j |G_ij p_j|)                                        (CP-9)
double carom_rounding(const carom_problem *pb);
/// Is a residual good enough?  At most tol (velocity units), or at most what rounding leaves (CP-9), which counts only
/// up to
/// 1e-8 of the largest |c|: huge reactions that contradict each other must not excuse a velocity.  (CP-10)
bool carom_solved(const carom_problem *pb, double residual, double tol);
int carom_law_rows(carom_law law);       // 1, 1, 2, 3, 4, 5, 6
carom_law carom_law_friction(int tangents); // of a contact with so many tangential directions; 0: CAROM_UNILATERAL
