// cloud.h: hulls of points as files hold them: many, rounded, several times the same.
#pragma once
#include "collide/hull.h"

/// The hull of n points, with at most `most` corners.  Points within 1e-6 of its size of a face are in that face; more
/// where that does not make a polyhedron, as with numbers of few digits.  *error: how far points are outside of it at
/// most. Without Qhull: that of carom_hull_make(), which needs well separated points and has at most `most` corners, or
/// is CAROM_HULL_LARGE.
carom_hull_fault carom_cloud_hull(const double (*points)[3], int n, int most, carom_hull *hull, double *error);

/// Is Qhull there?
bool carom_cloud_any(void);

/// Volume of the hull of n points; 0: they are flat, or there is no Qhull.
double carom_cloud_volume(const double (*points)[3], int n);
