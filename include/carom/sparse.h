// sparse.h: how sparse matrices are factorised.
//
// A way to factorise is part of a pattern (carom/matrix.h): give it to carom_pattern_create() and use that pattern in
// the shapes of a system.  See docs/large-systems.md.
#pragma once
#include <carom/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

/// KLU of SuiteSparse: sparse LU with partial pivoting that prefers the diagonal, ordered by approximate minimum
/// degree.
const carom_direct *carom_direct_klu(void);

#ifdef __cplusplus
}
#endif
