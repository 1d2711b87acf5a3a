// form.c: up to which number of pairs of shapes each is written out as formulas; more come and go (model/near.c).
//
// A crossover of cost.  Tests link a file of their own in its place that writes out all, or none, and compare what
// users see.
#include "derive/shapes/shapes.h"

enum { MOST_PAIRS = 80, FEW_BOXES = 2 }; // crossovers of cost: docs/limits.md

// Boxes in space: a pair has 25 formulas, a patch of the list 9 contacts.  10 boxes on each other take 2.6 ms a step by
// formulas and 0.12 as a list.
long carom_pairs_written(bool boxes) { return boxes ? FEW_BOXES : MOST_PAIRS; }
