// bending.h (private): bending matrices of one plane, shared by planar and spatial beams.
#pragma once
#include <stdbool.h>

/// K and M (4 x 4) of (w1, slope1, w2, slope2), (FLX-3) and (FLX-4); mass is that of the element.
void carom_flex_bending(double l, double EI, double mass, bool lumped, double K[16], double M[16]);
/// 30 l times the matrix of the integral of w'^2 over an element, of the same unknowns.
void carom_flex_slopes(double l, double G[16]);
/// Shear force and moment of a deflection (w1, slope1, w2, slope2) in the middle of an element.
void carom_flex_section(double l, double EI, double w1, double a1, double w2, double a2, double *V, double *M);
