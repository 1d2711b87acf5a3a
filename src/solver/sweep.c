// sweep.c: see sweep.h.  The velocity of a block is summed up from its row when its turn comes, so a sweep costs one
// product with G.
#include "solver/sweep.h"
#include "solver/local.h"

void carom_sweep(const carom_problem *pb, double *p, double relax) {
    for (int b = 0; b < pb->nb; b++) {
        const carom_block *block = pb->block + b;
        const int rows = carom_rows_of(block);
        const double *g = carom_rows_diagonal_block(pb->rows, b);
        double *x = p + block->at, c[1 + CAROM_TANGENTS], q[1 + CAROM_TANGENTS];
        carom_rows_row(pb, b, p, c);
        if (carom_has_friction(block)) {
            for (int j = 0; j < rows; j++)
                for (int i = 0; i < rows; i++) c[i] -= g[i + j * rows] * x[j];
            carom_local_friction(g, rows, c, rows - 1, block->mu, CAROM_SLIP_EXACT, q);
        } else {
            q[0] = carom_local_normal(block->law, g[0], c[0], x[0]);
            for (int k = 1; k < rows; k++) q[k] = 0;
        }
        for (int k = 0; k < rows; k++) x[k] += relax * (q[k] - x[k]);
    }
}
