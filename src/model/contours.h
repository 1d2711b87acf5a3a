// contours.h (private): whole outlines, and other planar shapes as outlines, at one position of the model.
//
// Contacts of outlines are places of two contours that face each other (derive/shapes/pieces.c), one for each pair of
// pieces; pieces that do not face each other have gaps that keep steps going and mean nothing else.  Here is what a
// pair of whole shapes has: whether a gap is a distance of the two, and how deep one is in the solid of the other.
#pragma once
#include "model/pairs.h"

/// The stretches of a circle, capsule, slot, polygon or box, in the frame of its body; at most MOST_CORNERS.
int carom_shape_stretches(const shape *s, carom_stretch *out);
/// At q: is the gap of contact k of this pair one of the whole shapes?  Of pieces that do not overlap: the distance of
/// a place of one contour from a place of the other.
bool carom_contours_apart(const carom_model *m, void *work, const pair *p, int k, double gap, double t,
                          const double *q);

/// The same of the contact `id`.
bool carom_contours_show(const carom_model *m, void *work, int id, double gap, double t, const double *q);

/// The gap of two whole shapes where no contact shows it: how deep some point of one contour is in the solid of the
/// other, negative; else how far the nearest one is.
double carom_contours_gap(const carom_model *m, void *work, const shape *a, const shape *b, double t,
                          const double *q);

/// Rigid pairs of whole shapes, at least one an outline, once each: those that are there under the conditions of this
/// work block; NULL: all.
typedef struct contour_pair {
    const carom_mech_contact *entry;
    const shape *a, *b;
} contour_pair;
carom_status carom_contours_each(const carom_model *m, const void *work,
                                 carom_status (*visit)(void *user, const contour_pair *p), void *user);

/// At the start: does a body lie in the solid of an outline where contacts do not show it?  The message names it.
carom_status carom_contours_start(const carom_model *m, const void *work, double scale, carom_error *err);
