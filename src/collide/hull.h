// hull.h: convex polyhedra: the hull of points, its faces and edges, its volume and moments.  Pure geometry: no model,
// no shape.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#ifndef TABLE
#define TABLE // in the C text of a model: const
#endif
#include "collide/hull.inc"

#define CAROM_HULL_THINNEST 1e-4  // of the size: solids that are thinner are flat
#define CAROM_HULL_LARGEST 1e100 // sizes are below it, so that their cubes are finite

typedef enum carom_hull_fault {
    CAROM_HULL_OK,
    CAROM_HULL_FLAT,
    CAROM_HULL_LARGE,
    CAROM_HULL_ROUGH,
    CAROM_HULL_MEMORY
} carom_hull_fault;

/// The hull of n points.  Points within 1e-6 of its size of a face are in that face.  On success it owns memory until
/// carom_hull_free().
carom_hull_fault carom_hull_make(const double (*points)[3], int n, carom_hull *hull);
void carom_hull_free(carom_hull *hull);
/// A copy in `memory` of carom_hull_size() bytes, which is not to be freed.
size_t carom_hull_size(const carom_hull *hull);
carom_hull carom_hull_copy(const carom_hull *hull, void *memory);
/// Volume, centre of volume, and the integrals of x_i x_j about the centre: xx, yy, zz, xy, xz, yz.
double carom_hull_volume(const carom_hull *hull, double *centre, double *second);
