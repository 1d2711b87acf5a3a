// discs.h: contacts whose rolling and spinning have discs of their own (discs.c).
#pragma once
#include "contact/operator.h"
#include "scheme/step.h"

typedef struct carom_discs {
    int n, nb;             // of the problem that is solved
    int *row;              // by row: its row in the problem given; -1: a copy of a normal impulse
    int *normal;           // by row: the row of the normal that it copies
    int *of, *first;       // by block: its block in the problem given; and the other way round, nb + 1
    carom_block *block;
    int (*disc)[2];        // by block of the problem given
    double *G, *c, *p, *u; // n x n or NULL; n
    carom_rows_space space; // G by blocks
    carom_block_rows rows;
} carom_discs;

bool carom_discs_used(const carom_system *sys);
/// For problems up to n rows and nb blocks; blocks, values: room of their G by blocks, 0: it is dense.  NULL on the
/// first pass.
carom_discs *carom_allocate_discs(carom_arena *mem, const carom_system *sys, int n, int nb, size_t blocks,
                                  size_t values);
enum { CAROM_DISC_ROWS = 2, CAROM_DISC_BLOCKS = 3 }; // a contact gets at most so many rows more, and so many blocks
/// carom_problem.disc of these constraints.
const int (*carom_discs_find(carom_discs *x, const carom_system *sys, const int *id, int nb))[2];
/// The problem in which every disc is a block of its own; false: there is no room.
bool carom_discs_split(carom_discs *x, const carom_problem *from, carom_problem *to);
/// The answer of `to`, back in `from`.
void carom_discs_join(const carom_discs *x, const carom_problem *to, const carom_problem *from);
