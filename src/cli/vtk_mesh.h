// vtk_mesh.h: the shapes of a drawing as points and cells of VTK.
#pragma once
#include "collide/hull.h"
#include <carom/draw.h>
#include <stdint.h>

/// Zeros and `sides`: an empty mesh.  Cells refer to points by number.
typedef struct vtk_mesh {
    int sides;             // of circles, a multiple of 4
    double (*point)[3];
    int32_t *corner;       // points of all cells
    int32_t *end, *shape;  // of every cell: where its corners end, and the shape that it belongs to
    uint8_t *type;         // of every cell: 1 point, 4 line, 5 triangle, 7 polygon
    int points, point_room, corners, corner_room, cells, cell_room;
    bool failed;           // no memory
} vtk_mesh;

/// Shape `index` of a drawing with `dim` coordinates, at the numbers x that it has there.  hull: of the fixed points of
/// CAROM_CONVEX.  `like`: numbers of a nearby state that decide where there is a choice, so that equal points of two
/// meshes have equal numbers.
void vtk_mesh_add(vtk_mesh *m, const carom_drawn *s, int index, int dim, const double *x, const double *like,
                  const carom_hull *hull);
/// One point on its own.
void vtk_mesh_vertex(vtk_mesh *m, const double *p, int index);
void vtk_mesh_clear(vtk_mesh *m); // keeps memory
void vtk_mesh_free(vtk_mesh *m);
