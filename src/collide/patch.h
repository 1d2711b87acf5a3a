// patch.h: where two convex solids touch: pairs of features (corner, edge, face), as many as carry.
//
// What is found depends on the two positions alone.  A contact has a place in the patch that it keeps while its feature
// stays the outermost one in its direction, so solvers that start from the last reactions find them.
#pragma once
#include "collide/hull.h"

#ifndef CAROM_PART
#define CAROM_PART // in the C text of a model, of which this is a part with posed.h and what it lists: static
#endif

/// Points over a grid in x and y; corner i, j of the surface is number j nx + i.  Every cell is two triangles.
typedef struct carom_grid {
    int nx, ny;
    double x, y, dx, dy; // of the first corner; cells
    TABLE int *edges;    // 3 for each corner: the edges that start there; -1: none
    TABLE int *star;     // 6 for each corner: its neighbours; -1: none
} carom_grid;

/// All that is within `radius` of a hull; a hull without faces is a point or a line.  A half-space has one face and no
/// corners.  With a grid: corners, faces and edges are those of a surface, which does not move, with the solid below.
typedef struct carom_convex {
    const carom_hull *hull;
    double radius;
    const carom_grid *grid;
    const double *axes, *X; // of an ellipsoid, round the first corner: half axes, and their directions as columns;
                            // NULL: none
} carom_convex;

typedef struct carom_frame { double r[3], R[9]; } carom_frame; // R by rows

typedef enum carom_feature_kind {
    CAROM_CORNER_FACE,
    CAROM_FACE_CORNER,
    CAROM_EDGE_EDGE,
    CAROM_CORNER_EDGE,
    CAROM_EDGE_CORNER,
    CAROM_CORNER_CORNER,
    CAROM_SMOOTH
} carom_feature_kind;

typedef struct carom_feature {
    carom_feature_kind kind; // of A, of B
    int a, b;                // which
    double sign;             // of two edges: the normal is sign (e_A x e_B)
    bool spare;              // another contact of the patch has this feature: this one is to count as open
} carom_feature;

/// One contact: the gap, the normal from B to A, the point in the middle of the gap.
typedef struct carom_patch_point { double gap, n[3], p[3]; } carom_patch_point;

enum { CAROM_PATCH = 9 }; // most contacts of two solids

/// Contacts of a patch; 0: neither has faces.
CAROM_PART int carom_patch_count(const carom_convex *A, const carom_convex *B);
/// The features of all of them, whether they touch or not.
CAROM_PART void carom_patch_find(const carom_convex *A, const carom_frame *a, const carom_convex *B,
                                 const carom_frame *b, carom_feature *f);
/// The contact of an ellipsoid with another one, a ball, a point or a half-space.
CAROM_PART void carom_smooth_place(const carom_convex *A, const carom_frame *a, const carom_convex *B,
                                   const carom_frame *b, carom_patch_point *t);
/// The contact of one feature, near the positions where it was found.
CAROM_PART void carom_patch_place(const carom_convex *A, const carom_frame *a, const carom_convex *B,
                                  const carom_frame *b, const carom_feature *f, carom_patch_point *t);
