// draw.h (private): shapes as read, before they are placed.
#pragma once
#include "derive/resolver.h"
#include "expr/expr.h"
#include <carom/draw.h>

/// Where a contact's forces point to is not asked from the user: with the place p(q), J its derivative along velocities
/// and a column W of the contact, the force f on the place does the same work as the reaction when J' f = W.  Entries
/// that are not zero by structure.
typedef struct touch {
    int shape;      // its index
    terms J, W;     // J: i component, j velocity; W: i direction, j velocity
    bool given[3];  // this direction was written by the user
    int directions; // normal and up to two tangents
} touch;

carom_status carom_draw_value(resolver *r, const carom_datum *n, carom_node node);
carom_status carom_draw_shape(resolver *r, const carom_datum *n, const char *name, carom_figure figure,
                              carom_drawn **s);
/// A point of the body's frame in the world; the body's turn, returns how many numbers it is (0: it has none).
void carom_draw_in_body(resolver *r, const body *b, int dim, const carom_node *s, carom_node *p);
int carom_draw_turn(resolver *r, const body *b, int dim, carom_node *turn);
/// Is there a figure of this name?  Then the part of that name does not draw itself.
bool carom_draw_named(const carom_mech *x, const char *name);
/// Does the file say where the contact of this name acts?
bool carom_draw_placed(const carom_mech *x, const char *name);
/// What draws itself: bodies, members.
carom_status carom_draw_bodies(resolver *r);
carom_status carom_draw_floating(resolver *r, int dim);
carom_status carom_draw_members(resolver *r);
/// The column of results that holds position i of the model, when it is not called like it; NULL: none.
const char *carom_draw_alias(const carom_model *m, int i);

/// Shapes by body, so that the work is linear in their number: d->head[body], then d->next[shape], -1 ends; those of
/// members are with the ground.
bool carom_draw_sort(carom_model *m);
/// Shapes of a body (the ground) without a figure of their name; *drawn: there were some.
carom_status carom_draw_shapes(resolver *r, const body *b, bool *drawn);
/// Where contacts of shapes act, those of which the file does not say it.
carom_status carom_draw_pairs(resolver *r);
/// One more place where a contact acts, of the shape that was added last.
carom_status carom_draw_add_touch(resolver *r, touch **t);
/// The place of constraint id: the numbers that follow are the place and all directions.
carom_status carom_draw_touch(resolver *r, const carom_datum *n, const char *name, int id, int directions);

struct drawn {
    carom_drawn *shape;
    int count, dim;
    carom_node *node; // the numbers of all shapes; those of directions that are not given are zero
    int values;
    touch *touch;
    int touches;
    int *head, *next;            // shapes of the model by body, while bodies are drawn
    const carom_datum *dim_from; // the first point, which decided dim
};
