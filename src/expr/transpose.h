// transpose.h (private): gradients of linear expressions, backwards.
#pragma once
#include "expr/expr.h"

/// x_j = sum_i w_i dy_i/dv_j by velocities first .. first + count - 1, in which y is linear.  CAROM_UNSUPPORTED: an
/// expression is not made of sums and multiples alone, as of nearest places of rings.
carom_status carom_graph_transpose(carom_graph *g, int n, const carom_node *y, const carom_node *w, int first,
                                   int count, carom_node *x);
