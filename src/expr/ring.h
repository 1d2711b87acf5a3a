// ring.h: the nearest place of a ring, for the interpreter and for derivatives; see ring.c.
#pragma once
#include "expr/expr.h"

/// The angle; p: six numbers.
double carom_ring_nearest(bool ring, int which, const double *p);
/// Derivative of such a node whose three arguments (pairs) have the derivatives d.
carom_node carom_ring_rule(carom_graph *g, carom_node phi, const carom_node *d);
