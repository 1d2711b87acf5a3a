// draw.h (private): shapes as read, before they are placed.
#pragma once
#include "model/model.h"
#include <carom/draw.h>

/// Where a contact's forces point to is not asked from the user: with the place p(q), J its derivative along velocities and a column W of the
/// contact, the force f on the place does the same work as the reaction when J' f = W.  Entries that are not zero by structure.
typedef struct touch {
    int shape;      // its index
    terms J, W;     // J: i component, j velocity; W: i direction, j velocity
    bool given[3];  // this direction was written by the user
    int directions; // normal and up to two tangents
} touch;

carom_status carom_draw_value(reader *r, const carom_datum *n, carom_node node);
carom_status carom_draw_shape(reader *r, const carom_datum *n, const char *name, carom_figure figure, carom_drawn **s);
/// A point of the body's frame in the world; the body's turn, returns how many numbers it is (0: it has none).
void carom_draw_in_body(reader *r, const body *b, int dim, const carom_node *s, carom_node *p);
int carom_draw_turn(reader *r, const body *b, int dim, carom_node *turn);
/// Bodies of which `draw` (NULL: there is none) says nothing.
carom_status carom_draw_bodies(reader *r, const carom_datum *draw);
carom_status carom_draw_members(reader *r, const carom_datum *draw);
/// The column of results that holds position i of the model, when it is not called like it; NULL: none.
const char *carom_draw_alias(const carom_model *m, int i);

/// Shapes of a body (the ground) that `draw` does not name; *drawn: there were some.
carom_status carom_draw_shapes(reader *r, const body *b, const carom_datum *draw, bool *drawn);
/// Where contacts of shapes act, those that `contacts` of `draw` does not name.
carom_status carom_draw_pairs(reader *r, const carom_datum *contacts);
/// The place of constraint id: the numbers that follow are the place and all directions.
carom_status carom_draw_touch(reader *r, const carom_datum *n, const char *name, int id, int directions);

struct drawn {
    carom_drawn *shape;
    int count, room, dim;
    carom_node *node; // the numbers of all shapes; those of directions that are not given are zero
    int values, value_room;
    touch *touch;
    int touches, touch_room;
    const carom_datum *dim_from; // the first point, which decided dim
};
