// pivots.h (private): KLU for matrices whose diagonal is no pivot.
#pragma once
#include <carom/sparse.h>

/// As carom_direct_klu(), ordered by columns (COLAMD): pivots may be found in any row of a column without more fill, as
/// in systems with joints, whose diagonals are zero.
const carom_direct *carom_direct_pivots(void);
