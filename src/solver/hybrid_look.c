// hybrid_look.c: how good a point is, for all parts of the hybrid solver.
#include "solver/hybrid.h"

double carom_hybrid_look(carom_hybrid *w) {
    carom_rows_multiply(&w->pb, w->p, w->u);
    const double error = carom_problem_map(&w->pb, w->d, w->p, w->u, w->f, NULL);
    if (error < w->error) {
        w->error = error;
        for (int i = 0; i < w->pb.n; i++) w->best[i] = w->p[i];
    }
    return error < INFINITY ? error : INFINITY;
}
