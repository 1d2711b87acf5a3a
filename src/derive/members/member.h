// member.h (private): a flexible member while it is read; members.c, shafts.c.
#pragma once
#include "derive/resolver.h"

/// A member being read.
typedef struct draft {
    resolver *r;
    const carom_mech_member *of;
    char where[100]; // "flexible member 'rod'"
    carom_member_def def;
    double *place;   // arc length of each point; `start` and `end` first
    const char **point;
    int npoint;
    carom_triplets matrix[3]; // mass, stiffness, damping
    bool floating;   // in a frame of its own
    double *arc;     // arc lengths of the nodes when elements differ; NULL: they are equal
} draft;

/// A number; `key` is what it is called.
carom_status carom_draft_number(draft *d, const carom_datum *n, const char *key, bool needed, double *x);
/// A whole number of elements.
carom_status carom_draft_count(draft *d, const carom_datum *n, int *count);
/// Which named point n is.
carom_status carom_draft_point(draft *d, const carom_datum *n, int *point);
/// The node at which a named point sits.
carom_status carom_draft_node(draft *d, const carom_datum *n, int *node);

/// Type, numbers, points, supports.
carom_status carom_draft_read(draft *d);
/// Values along the member (`key`: at or rate), node by node; zero where it says nothing.
carom_status carom_draft_values(draft *d, const carom_datum *n, const char *key, double *x);

// shafts.c
/// Elements, radii and bores of a shaft.
carom_status carom_derive_shaft(draft *d);
carom_status carom_derive_flywheels(draft *d);
