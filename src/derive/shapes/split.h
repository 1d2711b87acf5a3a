// split.h: a concave solid as several convex ones.
#pragma once
#include "read/mesh.h"

/// The points of one of them.
typedef struct carom_piece {
    int n;
    double (*x)[3];
} carom_piece;

/// Up to `most` pieces (parts of the mesh that are convex count) whose hulls hold the solid; their number, in memory to
/// be freed; -1: no memory. *volume: of the hulls together.
int carom_mesh_split(const carom_mesh *mesh, int most, carom_piece **pieces, double *volume);
void carom_pieces_free(carom_piece *pieces, int n);
