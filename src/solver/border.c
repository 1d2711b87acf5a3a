// border.c: see border.h.
#include "solver/border.h"
#include "contact/operator.h"
#include "contact/residual.h"
#include "solver/joints.h"
#include "solver/solvers.h"

enum { DENSE = 30 };  // entries of S for each row of G up to which it is no dearer than a sparse G
enum { ROWS = 1500 }; // of contacts, and of joints that stand among them: a problem of more is taken as it is

void carom_allocate_border(carom_border *w, carom_arena *mem, int n, int rigid) {
    const int most = n < ROWS ? n : ROWS;
    w->rows = most, w->rigid = rigid > most ? rigid : most;
    const size_t m = (size_t)w->rows, joints = (size_t)w->rigid;
    carom_solver_joints.allocate(w->factor, mem, w->rigid, w->rigid);
    w->j = carom_allocate_ints(mem, joints), w->c = carom_allocate_ints(mem, m);
    w->room = n > ROWS ? 2 * m * m : m * m; // n^2 is enough: m^2 + m j + j^2 with m + j = n
    w->space = carom_allocate(mem, w->room);
    CAROM_ALLOCATE(mem, m, &w->s, &w->u, &w->p);
    w->from = carom_allocate_ints(mem, m);
    w->to = carom_allocate_ints(mem, m);
    CAROM_ALLOCATE(mem, joints, &w->x, &w->lever);
    w->block = carom_allocate_bytes(mem, m * sizeof *w->block);
    w->disc = carom_allocate_bytes(mem, m * sizeof *w->disc);
}

bool carom_border_pays(const carom_problem *pb, int joints) {
    const double rows = pb->n - joints;
    return rows * rows <= DENSE * (double)pb->n;
}

// Which rows are of joints, which of contacts; blocks of contacts.  False: there is no room.
static bool part(carom_border *w, const carom_problem *pb) {
    int nb = 0;
    w->n = w->m = 0;
    for (int b = 0; b < pb->nb; b++) {
        const carom_block *k = pb->block + b;
        const int rows = carom_rows_of(k);
        if (k->law == CAROM_BILATERAL) {
            if (w->n == w->rigid) return false;
            w->j[w->n++] = k->at;
            continue;
        }
        if (w->m + rows > w->rows) return false;
        w->block[nb] = (carom_block){k->law, w->m, k->mu};
        for (int i = 0; i < 2 && pb->disc; i++) w->disc[nb][i] = pb->disc[b][i];
        for (int i = 0; i < rows; i++) w->c[w->m++] = k->at + i;
        nb++;
    }
    const size_t m = (size_t)w->m, n = (size_t)w->n;
    w->S = w->space, w->R = w->S + m * m, w->G = w->R + m * n;
    w->contacts = (carom_problem){.n = w->m,
                                  .nb = nb,
                                  .ld = w->m,
                                  .block = w->block,
                                  .G = w->S,
                                  .c = w->s,
                                  .disc = pb->disc ? (const int (*)[2])w->disc : NULL,
                                  .symmetric = pb->symmetric,
                                  .team = pb->team,
                                  .acceptable = pb->acceptable,
                                  .p = w->p,
                                  .u = w->u};
    return true;
}

// The problem of joints alone: where they come first, G as it is.
static bool take_joints(carom_border *w, const carom_problem *pb) {
    const int n = w->n;
    const bool lead = w->j[n - 1] == n - 1;
    if ((size_t)(w->G - w->space) + (lead ? 0 : (size_t)n * (size_t)n) > w->room) return false;
    w->joints = *pb;
    w->joints.n = w->joints.nb = n;
    w->joints.c = w->x;
    for (int i = 0; i < n; i++) w->x[i] = pb->c[w->j[i]];
    if (lead) return true;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) w->G[i + k * n] = pb->G[w->j[i] + (size_t)w->j[k] * (size_t)pb->ld];
    for (int i = 0; i < n && pb->lever; i++) w->lever[i] = pb->lever[w->j[i]];
    w->joints.G = w->G, w->joints.ld = n, w->joints.first = NULL;
    if (pb->lever) w->joints.lever = w->lever;
    return true;
}

// Row k of G_cj, from its first entry to its last.
static void take_row(carom_border *w, const carom_problem *pb, int k) {
    const size_t ld = (size_t)pb->ld, i = (size_t)w->c[k];
    double *row = w->R + (size_t)k * (size_t)w->n;
    int from = 0, to = w->n;
    for (; pb->first && from < to && w->j[from] < pb->first[i]; from++) row[from] = 0;
    for (int j = from; j < to; j++) row[j] = pb->G[i + (size_t)w->j[j] * ld];
    while (from < to && row[from] == 0) from++;
    while (to > from && row[to - 1] == 0) to--;
    w->from[k] = from, w->to[k] = to;
}

// y - G_cj x of row k
static double less(const carom_border *w, int k, double y) {
    const double *row = w->R + (size_t)k * (size_t)w->n;
    for (int j = w->from[k]; j < w->to[k]; j++) y -= row[j] * w->x[j];
    return y;
}

bool carom_border_split(carom_border *w, const carom_problem *pb) {
    if (!pb->G || carom_problem_narrow(pb) || !part(w, pb) || !take_joints(w, pb)) return false;
    const int n = w->n, m = w->m;
    carom_joints_factor(w->factor, &w->joints);
    for (int k = 0; k < m; k++) take_row(w, pb, k);
    // (SOL-30)
    for (int k = 0; k <= m; k++) {
        const double *column = k < m ? pb->G + (size_t)w->c[k] * (size_t)pb->ld : pb->c;
        double *y = k < m ? w->S + (size_t)k * (size_t)m : w->s;
        for (int j = 0; j < n; j++) w->x[j] = column[w->j[j]];
        carom_joints_solve(w->factor, w->x, n);
        for (int i = k < m && pb->symmetric ? k : 0; i < m; i++) y[i] = less(w, i, column[w->c[i]]);
        for (int i = 0; i < k && k < m && pb->symmetric; i++) y[i] = w->S[(size_t)k + (size_t)i * (size_t)m];
    }
    for (int k = 0; k < m; k++) w->p[k] = pb->p[w->c[k]];
    return true;
}

double carom_border_join(carom_border *w, carom_problem *pb, double tol, int *worst) {
    enum { ROUNDS = 2 }; // chosen: refinements, each for a residual
    const int n = w->n;
    double residual = INFINITY;
    for (int j = 0; j < n; j++) w->x[j] = -pb->c[w->j[j]], pb->p[w->j[j]] = 0;
    for (int k = 0; k < w->m; k++) {
        const double *column = pb->G + (size_t)w->c[k] * (size_t)pb->ld, p = pb->p[w->c[k]] = w->p[k];
        for (int j = 0; j < n; j++) w->x[j] -= column[w->j[j]] * p;
    }
    for (int round = 0; round <= ROUNDS; round++) {
        carom_joints_answer(w->factor, &w->joints, w->x);
        for (int j = 0; j < n; j++) pb->p[w->j[j]] += w->x[j];
        residual = carom_residual(pb, worst);
        if (!(residual > CAROM_AIM * tol) || *worst < 0 || pb->block[*worst].law != CAROM_BILATERAL) break;
        for (int j = 0; j < n; j++) w->x[j] = -pb->u[w->j[j]]; // what rounding has left
    }
    return residual;
}
