// hybrid_look.c: how good a point is, for all parts of the hybrid solver.
#include "solver/hybrid.h"

double carom_hybrid_sweep_work(const carom_hybrid *w) {
    const double d = (double)w->pb.n / w->pb.nb, entries = w->pb.rows->start[w->pb.nb];
    // ns: of products of blocks, of a contact with friction or without, and of a row (SOL-28)
    return 0.3 * d * d * entries + (d > 2 ? 45 : 12) * w->pb.nb + 3.2 * w->pb.n;
}

double carom_hybrid_factor_work(const carom_hybrid *w) {
    const double d = (double)w->pb.n / w->pb.nb;
    // ns: of products of blocks, and of pivots
    return 0.35 * d * d * d * w->lu.work + 10 * (double)w->lu.up[w->pb.nb];
}

double carom_hybrid_look(carom_hybrid *w) {
    carom_rows_multiply(&w->pb, w->p, w->u);
    const double error = carom_problem_map(&w->pb, w->d, w->p, w->u, w->f, NULL);
    if (error < w->error) {
        w->error = error;
        for (int i = 0; i < w->pb.n; i++) w->best[i] = w->p[i];
    }
    return error < INFINITY ? error : INFINITY;
}
