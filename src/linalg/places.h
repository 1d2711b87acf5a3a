// places.h (private): places of entries, as they come, before there is a pattern.
#pragma once
#include <carom/matrix.h>

typedef struct carom_places {
    int *row, *col;
    int shift; // is added to rows and columns
    size_t n;
    bool failed;
} carom_places;

/// places: carom_places, as carom_member_entries() wants it.
void carom_places_put(void *places, int i, int j);
/// The pattern of n unknowns with these places, which are freed; NULL: no memory.
carom_pattern *carom_places_pattern(carom_places *p, int n, const carom_direct *direct);
