// solvers.c: what a contact problem costs, chain and certificate included.
//
// Usage: bench_solvers [seconds per row].  Microseconds of thread CPU time per problem, the least of several
// batches.  Three kinds: A dense random, B pile with 1.5 degrees of freedom per contact normal, C hyperstatic pile with
// 0.6.  Warm: c changes by 1 % from problem to problem and p is the answer before.  Beside frictionless rows: what
// hand-written C took for the same kind and size (block-pivoting Newton, the better of it and Lemke when cold) on a
// Neoverse-V1 at 2.6 GHz.  Then newton against hybrid, each alone, on the same piles with friction; and hybrid on walls
// of bricks (planar) and towers of boxes (spatial) whose G is given by blocks: milliseconds to a tolerance relative to
// the largest |c|.
#define _POSIX_C_SOURCE 200809L
#include "../test/walls.h"
#include <stdio.h>
#include <time.h>

enum { VARIANTS = 64, BATCHES = 7 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
    double best; // us per problem
    long iterations, fallbacks, failed, problems;
    double residual;
} result;

// VARIANTS right-hand sides around x's own, c + G y with about 1 % of c: a change of c that a change of
// velocities makes, so that dependent contacts stay consistent.
static double *vary(const contact_problem *x, uint64_t seed) {
    const int n = x->pb.n;
    double *c = malloc((size_t)n * VARIANTS * sizeof(double)), size = 0, sum = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(x->c[i]));
    for (int i = 0; i < n; i++) {
        double row = 0;
        for (int j = 0; j < n; j++) row += PROBLEM_G(x, i, j) * PROBLEM_G(x, i, j);
        sum = fmax(sum, sqrt(row));
    }
    for (int k = 0; k < VARIANTS; k++) {
        for (int i = 0; i < n; i++) c[k * n + i] = x->c[i];
        for (int j = 0; j < n; j++) {
            const double y = 0.02 * size / sum * symmetric_uniform(&seed);
            for (int i = 0; i < n; i++) c[k * n + i] += PROBLEM_G(x, i, j) * y;
        }
    }
    return c;
}

static result measure(contact_problem *x, carom_chain *chain, bool warm, double budget) {
    const int n = x->pb.n;
    double *c = vary(x, 42);
    result r = {INFINITY, 0, 0, 0, 0, 0};
    problem_cold(x);
    carom_problem pb = x->pb;
    for (int batch = 0; batch < BATCHES + 1; batch++) { // the first one warms up
        long count = 0;
        const double start = seconds();
        double now;
        do {
            for (int k = 0; k < VARIANTS; k++) {
                if (!warm) problem_cold(x);
                pb.c = c + k * n;
                const carom_report report = carom_chain_solve(chain, &pb, 1e-12);
                r.iterations += report.iterations;
                r.fallbacks += report.fallbacks;
                r.failed += !report.converged;
                r.residual = fmax(r.residual, report.residual);
            }
            count += VARIANTS;
            now = seconds();
        } while (now - start < budget / (BATCHES + 1));
        r.problems += count;
        if (batch > 0) r.best = fmin(r.best, 1e6 * (now - start) / (double)count);
    }
    free(c);
    return r;
}

static contact_problem make(char kind, int contacts, carom_law law) {
    const uint64_t seed = 88172645463325252u + (uint64_t)contacts;
    const double mu = 0.3;
    if (kind == 'A') return problem_random(contacts, (int)law, mu, 0.02, seed);
    const int bodies = kind == 'B' ? (3 * contacts + 3) / 4 : (3 * contacts + 9) / 10;
    return problem_pile(contacts, bodies, law, mu, seed);
}

// Cold and warm floors, us; 0: not measured.
static const struct {
    char kind;
    int contacts;
    double cold, warm;
} FLOORS[] = {{'A', 1, 0.012, 0.018}, {'A', 4, 0.06, 0.05},  {'B', 4, 0.10, 0.10},  {'C', 4, 0.09, 0.10},
              {'A', 10, 0.37, 0.19},  {'B', 10, 0.55, 0.34}, {'C', 10, 0.42, 0.24}, {'A', 20, 1.3, 0.46},
              {'B', 20, 2.8, 0.95},   {'C', 20, 2.0, 0.68},  {'A', 40, 5.0, 1.5},   {'B', 40, 11.4, 3.5},
              {'C', 40, 13.7, 14},    {'A', 100, 45, 15},    {'B', 100, 116, 21},   {'C', 100, 186, 79}};

static double floor_of(char kind, int contacts, bool warm) {
    for (size_t i = 0; i < sizeof FLOORS / sizeof *FLOORS; i++)
        if (FLOORS[i].kind == kind && FLOORS[i].contacts == contacts) return warm ? FLOORS[i].warm : FLOORS[i].cold;
    return 0;
}

static void row(char kind, int contacts, carom_law law, double budget) {
    contact_problem x = make(kind, contacts, law);
    solver_memory m = memory_for_chain(NULL, x.pb.n, x.pb.nb);
    const char *name = law == CAROM_UNILATERAL ? "frictionless" : law == CAROM_PLANAR ? "planar" : "spatial";
    printf("%-12s %c %4d", name, kind, contacts);
    for (int warm = 0; warm < 2; warm++) {
        const result r = measure(&x, m.chain, warm, budget);
        const double least = law == CAROM_UNILATERAL ? floor_of(kind, contacts, warm) : 0;
        printf("   %s %10.3f us", warm ? "warm" : "cold", r.best);
        if (least > 0) printf(" %5.1f x", r.best / least);
        else printf("        ");
        printf(" it %5.1f fb %4.2f", (double)r.iterations / (double)r.problems,
               (double)r.fallbacks / (double)r.problems);
        if (r.failed > 0) printf(" FAILED %ld (%.1e)", r.failed, r.residual);
    }
    printf("\n");
    fflush(stdout);
    memory_free(&m);
    problem_destroy(&x);
}

// One solver alone, cold, over a few piles.
static void duel(char kind, int contacts, carom_law law) {
    static const char *const names[] = {"newton", "hybrid"};
    printf("%-12s %c %4d", law == CAROM_PLANAR ? "planar" : "spatial", kind, contacts);
    for (int k = 0; k < 2; k++) {
        const carom_solver *s = carom_solver_find(names[k]);
        double sum = 0;
        int failed = 0;
        for (int v = 0; v < 5; v++) {
            contact_problem x = problem_pile(contacts, kind == 'B' ? (3 * contacts + 3) / 4 : (3 * contacts + 9) / 10,
                                             law, 0.3, 88172645463325252u + (uint64_t)(977 * v + contacts));
            solver_memory m = memory_for_solver(s, x.pb.n, x.pb.nb);
            double best = INFINITY;
            for (int repeat = 0; repeat < 3; repeat++) {
                problem_cold(&x);
                const double start = seconds();
                const bool good = carom_solver_solve(s, m.work, &x.pb, 1e-12).converged;
                best = fmin(best, seconds() - start);
                failed += repeat == 0 && !good;
            }
            sum += best / 5;
            memory_free(&m);
            problem_destroy(&x);
        }
        printf("   %s %10.1f us", names[k], 1e6 * sum);
        if (failed) printf(" FAILED %d", failed);
    }
    printf("\n");
    fflush(stdout);
}

static void large(bool towers, int wide, int high, double tol) {
    wall w = towers ? wall_of_towers(wide, high, 0.5, 5) : wall_of_bricks(wide, high, 0.5, 5);
    block_problem x = wall_problem(&w);
    const carom_solver *s = carom_solver_find("hybrid");
    carom_arena mem = {0};
    void *work = calloc(1, CAROM_SOLVER_WORK);
    s->allocate(work, &mem, x.pb.n, x.pb.nb); // untouched pages cost nothing, so the memory is not filled
    mem = (carom_arena){.base = aligned_alloc(64, (mem.used + 127) / 64 * 64), .size = mem.used};
    s->allocate(work, &mem, x.pb.n, x.pb.nb);
    double speed = 0, best = INFINITY;
    for (int i = 0; i < x.pb.n; i++) speed = fmax(speed, fabs(x.c[i]));
    carom_report r = {0};
    for (int repeat = 0; repeat < 3; repeat++) {
        memset(x.p, 0, (size_t)x.pb.n * sizeof(double));
        const double start = seconds();
        r = carom_solver_solve(s, work, block_view(&x), tol * speed);
        best = fmin(best, seconds() - start);
    }
    printf("%-7s %3d x %2d %6d contacts, tol %5.0e: %9.2f ms, %5d iterations, residual %.1e%s\n",
           towers ? "towers" : "bricks", wide, high, x.pb.nb, tol, 1e3 * best, r.iterations, r.residual / speed,
           r.converged ? "" : " FAILED");
    fflush(stdout);
    free(mem.base);
    free(work);
    block_problem_destroy(&x);
    wall_destroy(&w);
}

int main(int argc, char **argv) {
    const double budget = argc > 1 ? atof(argv[1]) : 0.2;
    const int sizes[] = {1, 2, 4, 10, 20, 40, 100};
    const carom_law laws[] = {CAROM_UNILATERAL, CAROM_PLANAR, CAROM_SPATIAL};
    for (int l = 0; l < 3; l++)
        for (const char *kind = "ABC"; *kind; kind++)
            for (int s = 0; s < 7; s++) row(*kind, sizes[s], laws[l], budget);
    const int many[] = {10, 20, 30, 40, 60, 100, 200};
    for (int l = 1; l < 3; l++)
        for (const char *kind = "BC"; *kind; kind++)
            for (int s = 0; s < 7; s++) duel(*kind, many[s], laws[l]);
    for (int k = 0; k < 3; k++) {
        const double tol[] = {1e-3, 1e-6, 1e-10};
        large(false, 10, 6, tol[k]), large(false, 20, 12, tol[k]), large(false, 40, 15, tol[k]),
            large(false, 100, 18, tol[k]);
        large(true, 5, 5, tol[k]), large(true, 16, 8, tol[k]), large(true, 50, 10, tol[k]);
    }
    return 0;
}
