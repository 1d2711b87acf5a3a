// draw.h: drawings of a model: the shapes of its `draw` section, placed at a state (docs/model-file.md).
//
// A drawing is compiled apart from the model that simulates, so that a model moves and costs the same whether it
// draws or not.  Planar drawings have two coordinates per point, spatial ones three.
#pragma once
#include <carom/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum carom_figure {
    CAROM_POINT,
    CAROM_SEGMENT,  // two points; of bodies that draw themselves also more
    CAROM_LINE,     // two or more
    CAROM_POLYGON,  // three or more, closed and filled; planar
    CAROM_WALL,     // two or more; solid on the right-hand side when walking from the first point to the last; planar
    CAROM_SPRING,   // between two points
    CAROM_BOX,      // edge lengths
    CAROM_CIRCLE,   // radius; planar
    CAROM_SPHERE,   // radius; spatial
    CAROM_CYLINDER, // radius, length along its own z; spatial
    CAROM_CONTACT_MARKER,    // where a contact or constraint acts, and into which directions
    CAROM_CONVEX,   // the hull of its fixed points; spatial
    CAROM_ELLIPSOID, // half axes; spatial
    CAROM_SURFACE   // heights over a grid: nx, ny, x, y of the first, the cell, the heights by rows; spatial
} carom_figure;

/// One shape.  At a state it is the numbers [first, first + sizes + points * dim + rotation) that carom_drawing_eval()
/// gives: sizes (edges, radius; width of a line), then points, then the rotation: 1 an angle, 3 a rotation vector, 4 a
/// quaternion (w, x, y, z), 0 none.  Of a CAROM_CONTACT_MARKER the first point is the place, the others are the
/// directions of the normal force and of friction, so that place and force are points[0] and force * points[1] +
/// friction * points[2]
/// ...
typedef struct carom_drawn {
    carom_figure figure;
    const char *name;
    const char *colour;       // a word (docs/model-file.md) or #rrggbb; NULL: none given
    bool trace;               // show the path, too
    bool endless;             // a floor or wall without an end: as large as the image requires
    int id;                   // CAROM_CONTACT_MARKER: the constraint's id; else -1
    int of;                   // the body it moves with; 0: none is named
    int first, sizes, points, rotation;
    const double *fixed;      // numbers that never change, of CAROM_CONVEX and CAROM_SURFACE
    int nfixed;
} carom_drawn;

typedef struct carom_drawing carom_drawing;

/// What the model's text draws; NULL: no memory.  A model without `draw` has an empty drawing.  The model must outlive
/// it; drawings of one model are not created in two threads at once.
carom_drawing *carom_drawing_create(const carom_model *m, carom_error *err);
void carom_drawing_destroy(carom_drawing *d);
int carom_drawing_dim(const carom_drawing *d);    // 2 or 3
int carom_drawing_shapes(const carom_drawing *d);
carom_drawn carom_drawing_shape(const carom_drawing *d, int i);
int carom_drawing_values(const carom_drawing *d); // how many numbers a state gives
/// Inputs and signals of controllers, which a drawing may depend on: the name of signal i, NULL after the last; and its
/// value from now on, at first that of the model's start.
const char *carom_drawing_signal(const carom_drawing *d, int i);
void carom_drawing_set_signal(carom_drawing *d, int i, double value);
/// The numbers of all shapes at a state.  What has no value there is not finite.
void carom_drawing_eval(carom_drawing *d, double t, const double *q, const double *v, double *out);

/// Results of models with flexible members do not contain every position: the column of position i all the same
/// (a named point at that node), NULL: none.  Its rate is the column of that name with a prime.
const char *carom_drawing_column(const carom_drawing *d, int i);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

const carom_drawn *carom_drawing_shape_view(const carom_drawing *d, int i);
#ifndef CAROM_INSIDE
#define carom_drawing_shape(...) (*carom_drawing_shape_view(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
