// independent.h: a system as schemes see it: without its redundant bilateral constraints.
//
// Constraints 0 .. ne - k - 1 are the kept ones (redundant.h), contacts follow.  Everything else is the system's own.
// The work block is the system's, then scratch.
#pragma once
#include "system/redundant.h"
#include "system/system.h"

typedef struct carom_independent {
    carom_redundant rows; // which are kept; k = 0: all, and the rest is not in use
    carom_system sys;
    carom_extensions extensions; // of sys
    size_t scratch;       // place in the work block
    int ndir;             // recorded directions of the system
} carom_independent;

/// `I` must stay where it is while I->sys is in use.  I->rows is allocated by the caller.
void carom_independent_make(carom_independent *I, const carom_system *base, int k);

/// The system's constraint that the schemes call id.
static inline int carom_independent_id(const carom_independent *I, int id) {
    const int k = I->rows.k;
    return k == 0 || id < 0 ? id : id < I->rows.n - k ? I->rows.order[id] : id + k;
}
