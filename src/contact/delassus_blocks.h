// delassus_blocks.h: G = a V'F^-1 W by parts.  Private to the Delassus operator.
#pragma once
#include "contact/delassus.h"

carom_assembly carom_allocate_assembly(carom_arena *mem, const carom_system *sys, int nb, int n);
/// Links and inverses of a A'F^-1 W, A and W the directions of L and Lf.  False: there is no room.
bool carom_assembly_form(carom_assembly *x, const carom_local *L, const carom_local *Lf, const carom_factor *F,
                         double a, struct carom_team *team);
/// After it one of these: x->parts, where A and W are the same; G, n x n; x->rows.  False: there is no room.
void carom_assembly_diagonal(carom_assembly *x, struct carom_team *team);
void carom_assembly_dense(carom_assembly *x, double *G);
bool carom_assembly_rows(carom_assembly *x, struct carom_team *team);
/// v += a F^-1 W p, from the first row on.
void carom_assembly_react(const carom_assembly *x, const carom_local *L, double *v, double a, const double *p, int rows,
                          struct carom_team *team);
