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
    int directions; // normal and tangents
} touch;

struct drawn {
    carom_drawn *shape;
    int count, room, dim;
    carom_node *node; // the numbers of all shapes; those of directions that are not given are zero
    int values, value_room;
    touch *touch;
    int touches, touch_room;
    const tree *dim_from; // the first point, which decided dim
};
