// more.h: details of comparisons for the parts of carom around them.
#pragma once
#include <carom/study.h>

#ifdef __cplusplus
extern "C" {
#endif

/// "l1", "l2", "linf", "matrix", "hausdorff"; NULL outside and for CAROM_NORM_LP, whose name has its exponent in it:
/// "l3".
const char *carom_norm_word(int kind);

#ifdef __cplusplus
}
#endif
