// parts.h: where expressions have kinks, an expression as the least of smoother ones, and bounds of parts of a tape.
#pragma once
#include "expr/expr.h"

/// x = min(part[0], part[1], ...): what min, -max and -abs of positions make of it, through sums and factors whose sign
/// is known (of factors of parameters `sign` gives -1, 1, or 0: not known).  The number of parts; 1: x is one part,
/// itself.  That is so, too, where there are more than CAROM_PARTS, or one could lack a value where others decide.
enum { CAROM_PARTS = 8 };
int carom_graph_parts(carom_graph *g, carom_node x, int (*sign)(void *user, carom_node factor), void *user,
                      carom_node part[CAROM_PARTS]);

/// Those of carom_graph_kinks() where x is continuous for certain, of abs, min and max; smooth: where its derivative
/// is, too, of powers of these.
int carom_graph_bends(carom_graph *g, carom_node x, bool smooth, carom_node **list);
/// Nodes at whose zeros x jumps with the state, velocities too: of comparisons, sign and floor; slope: or its
/// derivative, of abs, min and max that are no powers of these.
int carom_graph_jumps(carom_graph *g, carom_node x, bool slope, carom_node **list);

/// carom_tape_part_create() for slots that are also bounded one by one: those of slot place[i] alone, with its inputs
/// given, take time in proportion to its own instructions.  Where slots share most of these, the part is computed as a
/// whole.
carom_tape_part *carom_tape_part_of_each(const carom_tape *tape, const int *place, int n);
void carom_tape_range_of(const carom_tape *tape, const carom_tape_part *part, int i, const void *work, carom_range *x);
