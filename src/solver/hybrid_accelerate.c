// hybrid_accelerate.c: Gauss-Seidel sweeps with Anderson acceleration.  Spec: docs/solvers.md, "hybrid".
#include "solver/hybrid.h"
#include "solver/sweep.h"

enum { CHECK = 10, PATIENCE = 60 }; // iterations between two residuals; without a gain

// (SOL-20) of sweeps.  A step that grows twofold starts afresh from the last sweep.
void carom_hybrid_accelerate(carom_hybrid *w, int most) {
    const int n = w->pb.n;
    double *x = w->x, *f = w->r, *g = w->p, mark = INFINITY;
    carom_anderson_reset(&w->anderson, n, NULL);
    for (int i = 0; i < n; i++) x[i] = w->best[i];
    for (int it = 1; it <= most && !carom_hybrid_tired(w); it++) {
        double size = 0;
        for (int i = 0; i < n; i++) g[i] = x[i];
        carom_sweep(&w->pb, g, 1);
        w->iterations++;
        w->spent += carom_hybrid_sweep_work(w);
        for (int i = 0; i < n; i++) f[i] = w->d[i] * (g[i] - x[i]), size += f[i] * f[i];
        if (it % CHECK == 0 || it == most) {
            const double before = w->error;
            carom_hybrid_look(w);
            if (w->error <= w->target || carom_stagnates(CAROM_AIM * w->pb.acceptable, before, w->error)) return;
            if (it % PATIENCE == 0) {
                if (w->error > 0.5 * mark) return; // not halved: (SOL-16) gains more
                mark = w->error;
            }
        }
        carom_anderson_next(&w->anderson, x, g, f, size, 4);
    }
}
