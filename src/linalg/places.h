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

/// The widest band of a banded matrix where there are sparse factors, and the largest dense matrix that has zeros: they
/// decide the cost alone (docs/limits.md).
enum { CAROM_WIDEST_BAND = 48, CAROM_SMALLEST_SPARSE = 64 };
/// The storage of n unknowns with entries in a band: diagonal, banded where the matrix is not small and the band is
/// narrow, else dense.  sparse: sparse factors exist; without them any band is banded.  False: a sparse matrix may be
/// better than a dense one.
bool carom_band_shape(int n, int band, bool sparse, carom_shape *shape);
