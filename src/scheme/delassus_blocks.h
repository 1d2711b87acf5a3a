// delassus_blocks.h: W'F^-1 W by blocks.  Private to the words of a scheme.
#pragma once
#include "scheme/inside.h"

carom_assembly carom_allocate_assembly(carom_arena *mem, const carom_system *sys, int nb, int n);
/// x->parts: a A'F^-1 W by bodies, A and W the directions of L and Lf; with blocks, or where A and W differ, x->rows as well.  False: there is no room.
bool carom_assembly_form(carom_assembly *x, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a, int nv, bool blocks, struct carom_team *team);
/// x->rows: the same by blocks.  False: there is no room.
bool carom_assembly_rows(carom_assembly *x, struct carom_team *team);
/// v += a F^-1 W p, from the first row on.
void carom_assembly_react(const carom_assembly *x, const carom_local *L, double *v, double a, const double *p, int rows, struct carom_team *team);
