// patches.h: pairs of convex solids, whose contacts are found by search (patches.c).
#pragma once
#include "collide/patch.h"
#include "derive/shapes/solids.h"

/// The features of a pair at one position.
typedef struct patch {
    bool known;
    carom_frame r[2];
    carom_feature f[CAROM_PATCH];
} patch;

/// Is one of the two a solid whose contacts are found by search?  Does the file give one?
bool carom_patch_pair(const shape *A, const shape *B);
/// The same where pairs come and go: there two boxes in space are hulls.  A corner that lies on an edge of the other box has no nearest face of its own; a patch
/// has one normal, and boxes that stand on each other in line are carried.
bool carom_patch_listed(const shape *A, const shape *B);
bool carom_patch_given(const carom_mech_shape *x);
/// The hull of a shape that may touch one; false: no memory.
bool carom_patch_solid(carom_model *m, shape *s);
bool carom_patch_keep(carom_model *m, const carom_hull *h, shape *s);
/// Half the bounding box of a hull along axis i; A: its axes in the world.
double carom_patch_extent(const shape *s, const double *A, int i);
/// Contacts of such a pair; 0: there is no way to find them.
int carom_patch_contacts(const shape *A, const shape *B);
carom_status carom_patch_kind(carom_model *m, pair_kind *k, const constraint *links, carom_error *err);
int carom_patch_eval(const carom_model *m, const pair *p, pair_group group, const double *q, const double *v, double *out);
