// order.h: the order in which rows of a sparse symmetric pattern are eliminated so that few new entries appear.
#pragma once
#include <stddef.h>

/// Integers of work for n rows and `entries` = start[n].
size_t carom_order_work(int n, size_t entries);
/// perm[k] is the row eliminated k-th, by approximate minimum degree.  Row i of the pattern has the entries
/// adj[start[i]] ..  adj[start[i + 1] - 1]: symmetric, without the diagonal, none twice.  Same pattern: same order.
void carom_order(int n, const int *start, const int *adj, int *perm, int *work);
