// hybrid.c: sweeps, ADMM, accelerated sweeps and Newton on a sparse matrix of blocks, one after the other.
//
// Spec: docs/solvers.md, "hybrid".  Each part starts from the best point so far, and is given about as much work as the
// next one would take.
#include "solver/choice.h"
#include "solver/hybrid.h"
#include "solver/sweep.h"

// Numbers in each of L and U, and of blocks of a dense G: all of them up to this number of rows, beyond it `PER_ROW`
// for each row; never more than `LARGEST`, since the address space is taken for all of them.
enum { ROWS = 3000, PER_ROW = 1100, LARGEST = 110000000 };

static size_t room(int n) {
    const size_t full = (size_t)ROWS * ROWS, sparse = PER_ROW * (size_t)n, more = sparse > full ? sparse : full;
    return more < LARGEST ? more : LARGEST;
}

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    carom_hybrid *w = work;
    const size_t m = (size_t)n, b = (size_t)nb;
    double **vectors[] = {&w->d, &w->f, &w->p, &w->u, &w->best, &w->rhs, &w->x, &w->r, &w->centre, &w->kept};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = carom_allocate(mem, m);
    CAROM_ALLOCATE(mem, CAROM_BLOCK_ROWS * m, &w->T, &w->S);
    carom_allocate_anderson(&w->anderson, mem, n, 8);
    w->limit = INFINITY;
    w->plain = carom_allocate_bytes(mem, b * sizeof *w->plain);
    w->size = carom_allocate_ints(mem, b);
    w->first = carom_allocate_ints(mem, b);
    carom_allocate_rows(&w->space, mem, n, nb, room(n));
    carom_allocate_block_lu(&w->lu, mem, n, nb, w->space.blocks, room(n));
}

// G by blocks, scales, and the start.  False: no room, or something is not a number.
static bool begin(carom_hybrid *w, const carom_problem *pb, double tol) {
    w->pb = *pb;
    w->pb.G = NULL;
    if (!pb->rows) {
        if (!carom_rows_gather(&w->space, pb, &w->rows)) return false;
        w->pb.rows = &w->rows;
    }
    w->speed = 0;
    for (int i = 0; i < pb->n; i++) w->speed = fmax(w->speed, fabs(pb->c[i]));
    for (int b = 0; b < pb->nb; b++) w->size[b] = carom_rows_of(pb->block + b), w->first[b] = pb->block[b].at;
    carom_problem_scales(&w->pb, w->d);
    w->error = INFINITY;
    w->iterations = 0;
    w->spent = 20 * carom_hybrid_sweep_work(w); // the blocks of G, and more
    w->tol = tol;
    w->target = CAROM_AIM * tol;
    for (int i = 0; i < pb->n; i++) w->p[i] = pb->p[i];
    if (carom_hybrid_look(w) < INFINITY) return true;
    for (int i = 0; i < pb->n; i++) w->p[i] = 0;
    return carom_hybrid_look(w) < INFINITY;
}

// G's pattern as the factorisation wants it.  False: it is too large to factorise.
static bool analyse(carom_hybrid *w) {
    const carom_block_rows *R = w->pb.rows;
    const carom_block_pattern pattern = {w->pb.nb, R->start, R->col, R->at, w->size, w->first, R->uniform};
    return carom_block_lu_analyse(&w->lu, &pattern);
}

// How many sweeps cost as much as four factorisations.
static int affordable(const carom_hybrid *w) {
    return (int)fmin(4 * carom_hybrid_factor_work(w) / carom_hybrid_sweep_work(w), 3000);
}

static void solve_sparse(carom_hybrid *w) {
    if (!analyse(w)) { // too large to factorise
        carom_hybrid_accelerate(w, 3000);
        return;
    }
    w->spent += 10 * carom_hybrid_sweep_work(w);
    if (w->spent + carom_hybrid_factor_work(w) > w->limit) return;
    // ADMM where a factorisation costs much more than an iteration, two triangular solutions.
    if (w->lu.work > 10.0 * (2.0 * w->lu.up[w->pb.nb] + w->pb.nb)) carom_hybrid_split(w, 15);
    const int sweeps = affordable(w);
    if (w->error > w->target && sweeps > 20) carom_hybrid_accelerate(w, sweeps);
    if (w->error > w->target) carom_hybrid_newton(w);
}

// (SOL-31)
static void polish(carom_hybrid *w) {
    if (analyse(w) && w->spent + carom_hybrid_factor_work(w) <= w->limit) carom_hybrid_polish(w);
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    carom_hybrid *w = work;
    if (!begin(w, pb, tol)) return (carom_report){.converged = false};
    if (carom_improvable(pb, w->error, w->target)) polish(w);
    if (w->error > w->target) {
        for (int k = 0; k < 5; k++) carom_sweep(&w->pb, w->p, 1);
        w->iterations += 5;
        w->spent += 5 * carom_hybrid_sweep_work(w);
        carom_hybrid_look(w);
    }
    if (w->error > w->target && !carom_hybrid_tired(w)) solve_sparse(w);
    for (int i = 0; i < pb->n; i++) pb->p[i] = w->best[i];
    return (carom_report){.converged = w->error <= tol, .iterations = w->iterations};
}

void carom_hybrid_limit(void *work, double limit) { ((carom_hybrid *)work)->limit = limit; }

double carom_hybrid_spent(const void *work) { return ((const carom_hybrid *)work)->spent; }

const carom_solver carom_solver_hybrid = {
    .name = "hybrid",
    .about = "sweeps, ADMM and Newton on sparse blocks; all laws, many contacts",
    .laws = CAROM_EVERY_LAW,
    .sparse = true,
    .work_size = sizeof(carom_hybrid),
    .allocate = allocate,
    .solve = solve,
};
