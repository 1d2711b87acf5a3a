// mesh.h: surfaces of solids from STL (text or binary) and OBJ files.
#pragma once
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>

/// Triangles, sorted by parts: pieces that share no corner, and objects and groups of an OBJ file.
typedef struct carom_mesh {
    int nv, nt, nparts;
    double (*v)[3];
    int (*t)[3];
    int *part_at;   // nparts + 1: triangles of each
} carom_mesh;

/// CAROM_BAD_INPUT: err gives the reason, and where in the file.  On success to be freed.
carom_status carom_mesh_read(const char *text, size_t length, const char *file, carom_mesh *mesh, carom_error *err);
void carom_mesh_free(carom_mesh *mesh);
/// Is every part closed, with triangles that are counterclockwise seen from outside?
carom_status carom_mesh_closed(const carom_mesh *mesh, const char *file, carom_error *err);
double carom_mesh_volume(const carom_mesh *mesh, int part);
