// delassus_products.h: G of sparse columns and a diagonal F.  Private to the Delassus operator.
#pragma once
#include "contact/delassus.h"

carom_products carom_allocate_products(carom_arena *mem, int n, int nv, int stride);
/// d->G, d->ld and d->first, for the n rows, F and a that stand in d; solved: d->sparse, F^-1 W, is that of the last
/// operator.
void carom_products_form(carom_delassus *d, const carom_columns *V, const carom_columns *W, bool solved, bool narrow);
