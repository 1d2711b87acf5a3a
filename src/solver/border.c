// border.c: see border.h.
#include "solver/border.h"
#include "contact/operator.h"
#include "contact/residual.h"
#include "solver/joints.h"
#include "solver/solvers.h"

enum { FEW = 20 };   // joints up to which solvers take them as rows of their own, and no slower
enum { DENSE = 30 }; // S couples all contacts: where it has more entries than so many in each row of G, G is sparser

void carom_allocate_border(carom_border *w, carom_arena *mem, int n, int nb, int rigid) {
    const bool used = rigid > FEW && n > rigid;
    w->rows = used ? n - rigid : 0, w->blocks = used ? nb - rigid : 0, w->rigid = used ? rigid : 0;
    const size_t m = (size_t)w->rows, joints = (size_t)w->rigid;
    carom_solver_joints.allocate(w->joints, mem, w->rigid, w->rigid);
    w->block = carom_allocate_bytes(mem, (size_t)w->blocks * sizeof *w->block);
    w->S = carom_allocate(mem, m * m);
    CAROM_ALLOCATE(mem, m, &w->s, &w->u);
    w->R = carom_allocate(mem, m * joints);
    w->from = carom_allocate_ints(mem, m);
    w->to = carom_allocate_ints(mem, m);
    w->x = carom_allocate(mem, joints);
}

// Row k of G_cj: where its entries stand; contiguous in memory, from column `from` on.
static const double *row(const carom_border *w, const carom_problem *pb, int k) {
    return pb->symmetric ? pb->G + (size_t)(w->n + k) * (size_t)pb->ld : w->R + (size_t)k * (size_t)w->rigid;
}

static void look(carom_border *w, const carom_problem *pb, int k) {
    const size_t ld = (size_t)pb->ld, i = (size_t)(w->n + k);
    int from = pb->first ? pb->first[i] : 0, to = w->n;
    const double *g = pb->symmetric ? pb->G + i * ld : pb->G + i;
    const size_t step = pb->symmetric ? 1 : ld;
    while (from < to && g[(size_t)from * step] == 0) from++;
    while (to > from && g[(size_t)(to - 1) * step] == 0) to--;
    w->from[k] = from, w->to[k] = to;
    double *R = w->R + (size_t)k * (size_t)w->rigid;
    for (int j = from; j < to && !pb->symmetric; j++) R[j] = g[(size_t)j * step];
}

// y - G_cj x of row k
static double less(const carom_border *w, const carom_problem *pb, int k, double y) {
    const double *g = row(w, pb, k);
    for (int j = w->from[k]; j < w->to[k]; j++) y -= g[j] * w->x[j];
    return y;
}

static bool fits(carom_border *w, const carom_problem *pb) {
    if (w->rigid == 0) return false;
    const int rigid = carom_problem_joints(pb), joints = w->n = rigid < w->rigid ? rigid : w->rigid;
    if (!pb->G || pb->rows || carom_problem_narrow(pb) || joints <= FEW || joints == pb->nb) return false;
    const double rows = pb->n - joints;
    if (rows * rows > DENSE * (double)pb->n || pb->n - joints > w->rows || pb->nb - joints > w->blocks) return false;
    for (int b = rigid; b < pb->nb; b++) // contacts that are held come behind the joints, or nowhere
        if (pb->block[b].law == CAROM_BILATERAL) return false;
    return true;
}

bool carom_border_split(carom_border *w, const carom_problem *pb) {
    if (!fits(w, pb)) return false;
    const int n = w->n, m = pb->n - n, nb = pb->nb - n;
    const size_t ld = (size_t)pb->ld, all = (size_t)n, side = (size_t)m;
    carom_problem joints = *pb;
    joints.n = joints.nb = n;
    if (!carom_joints_factor(w->joints, &joints)) return false;
    for (int k = 0; k < m; k++) look(w, pb, k);
    // (SOL-30)
    for (int k = 0; k <= m; k++) {
        const double *column = k < m ? pb->G + (all + (size_t)k) * ld : pb->c;
        double *y = k < m ? w->S + (size_t)k * side : w->s;
        for (int j = 0; j < n; j++) w->x[j] = column[j];
        carom_joints_solve(w->joints, w->x, n);
        for (int i = k < m && pb->symmetric ? k : 0; i < m; i++) y[i] = less(w, pb, i, column[n + i]);
        for (int i = 0; i < k && k < m && pb->symmetric; i++) y[i] = w->S[(size_t)k + (size_t)i * side];
    }
    for (int b = 0; b < nb; b++) w->block[b] = pb->block[n + b], w->block[b].at -= n;
    w->contacts = (carom_problem){.n = m,
                                  .nb = nb,
                                  .ld = m,
                                  .block = w->block,
                                  .G = w->S,
                                  .c = w->s,
                                  .disc = pb->disc ? pb->disc + n : NULL,
                                  .symmetric = pb->symmetric,
                                  .team = pb->team,
                                  .acceptable = pb->acceptable,
                                  .p = pb->p + n,
                                  .u = w->u};
    return true;
}

double carom_border_join(carom_border *w, carom_problem *pb, double tol, int *worst) {
    enum { ROUNDS = 2 };
    const int n = w->n;
    const size_t ld = (size_t)pb->ld;
    for (int j = 0; j < n; j++) w->x[j] = pb->c[j];
    for (int k = n; k < pb->n; k++) {
        const double *column = pb->G + (size_t)k * ld, p = pb->p[k];
        for (int j = pb->first ? pb->first[k] : 0; j < n; j++) w->x[j] += column[j] * p;
    }
    carom_joints_solve(w->joints, w->x, n);
    for (int j = 0; j < n; j++) pb->p[j] = -w->x[j];
    double residual = carom_residual(pb, worst);
    for (int round = 0; round < ROUNDS && residual > 0.5 * tol && *worst >= 0 && *worst < n; round++) {
        for (int j = 0; j < n; j++) w->x[j] = pb->u[j]; // what rounding has left
        carom_joints_solve(w->joints, w->x, n);
        for (int j = 0; j < n; j++) pb->p[j] -= w->x[j];
        residual = carom_residual(pb, worst);
    }
    return residual;
}
