// sweep.h: block after block of a problem whose G is given by blocks, each solved exactly (SOL-11).
#pragma once
#include "contact/law.h"

/// One sweep over pb->rows, in the order of blocks; p is improved in place with this relaxation.
void carom_sweep(const carom_problem *pb, double *p, double relax);
