// Many contacts: elimination order, block LU, G by blocks, and the hybrid solver on walls of bricks and towers of
// boxes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// cmocka wants the three above first
#include "linalg/block_lu.h"
#include "linalg/dense.h"
#include "linalg/order.h"
#include "solver/solvers.h"
#include "walls.h"
#include <carom/team.h>
#include <cmocka.h>

// -- elimination ---------------------------------------------------------------------------------------------------

typedef struct { int n, *start, *col; } graph;

static void graph_free(graph *g) { free(g->start), free(g->col); }

// Rows with their neighbours and themselves, from a function that says who meets whom.
static graph graph_make(int n, bool (*meets)(int i, int j, int n)) {
    graph g = {n, calloc((size_t)n + 1, sizeof(int)), calloc((size_t)n * (size_t)n + 1, sizeof(int))};
    for (int i = 0; i < n; i++) {
        g.start[i + 1] = g.start[i];
        for (int j = 0; j < n; j++)
            if (i == j || meets(i, j, n)) g.col[g.start[i + 1]++] = j;
    }
    return g;
}

static bool star(int i, int j, int n) { return (void)n, i == 0 || j == 0; }
static bool line(int i, int j, int n) { return (void)n, i - j == 1 || j - i == 1; }
static bool grid(int i, int j, int n) {
    const int side = (int)lround(sqrt(n)), dx = i % side - j % side, dy = i / side - j / side;
    return dx * dx + dy * dy == 1;
}
static bool everything(int i, int j, int n) { return (void)n, (void)i, (void)j, true; }
static bool nothing(int i, int j, int n) { return (void)n, (void)i, (void)j, false; }

// Blocks above the diagonal after elimination in this order, counted the slow way.
static int fill_of(const graph *g, const int *perm) {
    const int n = g->n;
    bool *A = calloc((size_t)n * (size_t)n, sizeof *A);
    int fill = 0;
    for (int i = 0; i < n; i++)
        for (int k = g->start[i]; k < g->start[i + 1]; k++) A[i * n + g->col[k]] = A[g->col[k] * n + i] = true;
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            if (A[perm[i] * n + perm[k]])
                for (int j = k + 1; j < n; j++)
                    if (A[perm[k] * n + perm[j]]) A[perm[i] * n + perm[j]] = A[perm[j] * n + perm[i]] = true;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) fill += A[perm[i] * n + perm[j]];
    free(A);
    return fill;
}

typedef struct { carom_block_lu F; carom_arena mem; int *size, *first; } factors;

static factors factors_make(int n, int nb, size_t entries, size_t values) {
    factors f = {0};
    carom_allocate_block_lu(&f.F, &f.mem, n, nb, entries, values);
    const size_t size = f.mem.used + 64;
    f.mem = (carom_arena){.base = aligned_alloc(64, (size + 63) / 64 * 64), .size = size};
    memset(f.mem.base, 0xff, size);
    carom_allocate_block_lu(&f.F, &f.mem, n, nb, entries, values);
    f.size = calloc((size_t)nb + 1, sizeof(int)), f.first = calloc((size_t)nb + 1, sizeof(int));
    return f;
}

static void factors_free(factors *f) { free(f->mem.base), free(f->size), free(f->first); }

static void few_blocks_are_filled(void **state) {
    (void)state;
    const struct { bool (*meets)(int, int, int); int n, most; } cases[] = {
        // a grid in natural order: 7600
        {star, 50, 49}, {line, 60, 59}, {nothing, 20, 0}, {everything, 12, 66}, {grid, 400, 3400}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        graph g = graph_make(cases[c].n, cases[c].meets);
        factors f = factors_make(g.n, g.n, (size_t)g.start[g.n], 1 << 20);
        for (int i = 0; i < g.n; i++) f.size[i] = 1, f.first[i] = i;
        assert_true(
            carom_block_lu_analyse(&f.F, &(carom_block_pattern){g.n, g.start, g.col, g.col, f.size, f.first, 1}));
        int *seen = calloc((size_t)g.n, sizeof(int));
        for (int k = 0; k < g.n; k++) seen[f.F.order[k]]++;
        for (int k = 0; k < g.n; k++) assert_int_equal(seen[k], 1);
        assert_int_equal(f.F.up[g.n], fill_of(&g, f.F.order)); // the pattern is exactly what elimination fills
        assert_true(f.F.up[g.n] <= cases[c].most);
        free(seen);
        factors_free(&f);
        graph_free(&g);
    }
}

// T_i A_ij + S_i against a dense factorisation: blocks of one to six rows, some left out.
static void block_elimination_agrees_with_dense(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int kind = 0; kind < 4; kind++) { // blocks of 1, 2, 3 rows; of 1 to 6
        enum { NB = 40, MOST = 6 * NB };
        graph g = graph_make(NB, kind == 1 ? line : grid);
        int n = 0, at[NB * NB], used = 0;
        double *value = calloc(36 * NB * NB, sizeof(double)), *T = calloc(6 * MOST, sizeof(double)),
               *S = calloc(6 * MOST, sizeof(double));
        double *A = calloc(MOST * MOST, sizeof(double)), *b = calloc(MOST, sizeof(double)),
               *x = calloc(MOST, sizeof(double)), *y = calloc(MOST, sizeof(double));
        bool plain[NB];
        factors f = factors_make(MOST, NB, (size_t)g.start[NB], 1 << 20);
        for (int i = 0; i < NB; i++) f.size[i] = kind < 3 ? kind + 1 : 1 + i % 6, f.first[i] = n, n += f.size[i];
        for (int i = 0; i < NB; i++)
            for (int k = g.start[i]; k < g.start[i + 1]; k++) {
                at[k] = used;
                for (int q = 0; q < f.size[i] * f.size[g.col[k]]; q++) value[used++] = symmetric_uniform(&seed);
            }
        for (int i = 0; i < NB; i++) {
            plain[i] = i % 3 == 0;
            for (int q = 0; q < f.size[i] * f.size[i]; q++) {
                T[6 * f.first[i] + q] = symmetric_uniform(&seed);
                S[6 * f.first[i] + q] = (q % (f.size[i] + 1) == 0 ? 8 : 0) + symmetric_uniform(&seed);
            }
        }
        assert_true(carom_block_lu_analyse(
            &f.F, &(carom_block_pattern){NB, g.start, g.col, at, f.size, f.first, kind < 3 ? kind + 1 : 0}));
        for (int k = 0; k < NB; k++) f.F.skip[k] = f.F.order[k] % 7 == 3;
        for (int i = 0; i < n; i++) b[i] = y[i] = symmetric_uniform(&seed);
        for (int i = 0; i < NB; i++) {
            const int r = f.size[i];
            for (int k = g.start[i]; k < g.start[i + 1]; k++) {
                const int j = g.col[k];
                for (int c = 0; c < f.size[j]; c++)
                    for (int a = 0; a < r; a++) {
                        double sum = plain[i] ? value[at[k] + a + c * r] : 0;
                        for (int m = 0; m < r && !plain[i]; m++)
                            sum += T[6 * f.first[i] + a + m * r] * value[at[k] + m + c * r];
                        A[f.first[i] + a + (f.first[j] + c) * n] = sum;
                    }
            }
            for (int q = 0; q < r * r; q++) A[f.first[i] + q % r + (f.first[i] + q / r) * n] += S[6 * f.first[i] + q];
        }
        for (int i = 0; i < NB; i++) // left out: x = 0
            for (int a = f.first[i]; i % 7 == 3 && a < f.first[i] + f.size[i]; a++) {
                for (int j = 0; j < n; j++) A[a + j * n] = A[j + a * n] = 0;
                A[a * (n + 1)] = 1, y[a] = 0;
            }
        int pivot[MOST];
        assert_true(carom_dense_lu(A, n, n, 1e-14, pivot));
        carom_dense_lu_solve(A, n, n, pivot, y);
        assert_true(carom_block_lu_factor(&f.F, &(carom_block_values){value, T, S, plain}));
        carom_block_lu_solve(&f.F, b, x);
        for (int i = 0; i < n; i++) assert_true(fabs(x[i] - y[i]) < 1e-12);
        for (int q = 0; q < 6 * n; q++) S[q] = T[q] = 0; // nothing is left of some rows
        assert_false(carom_block_lu_factor(&f.F, &(carom_block_values){value, T, S, plain}));
        f.F.values = 10; // no room
        assert_false(carom_block_lu_analyse(&f.F, &(carom_block_pattern){NB, g.start, g.col, at, f.size, f.first, 0}));
        free(value), free(T), free(S), free(A), free(b), free(x), free(y);
        factors_free(&f);
        graph_free(&g);
    }
}

// -- G by blocks -----------------------------------------------------------------------------------------------------

static double *dense_of(block_problem *x) {
    double *G = malloc(sizeof(double) * ((size_t)x->pb.n * (size_t)x->pb.n + 1));
    carom_problem_expand(block_view(x), G, x->pb.n);
    return G;
}

// A wall with towers, ties, frictionless contacts and friction together: blocks of one, two and three rows.
static wall mixture(void) {
    wall w = wall_of_bricks(4, 3, 0.4, 11);
    wall_tie(&w, 0, 5, true);
    wall_tie(&w, 2, 9, false);
    wall_touch(&w, 11, -1, CAROM_UNILATERAL, 0, (double[]){1, -0.5, 0}, (double[]){0, 0, 0});
    wall_touch(&w, 10, -1, CAROM_SPATIAL, 0.2, (double[]){-1, -0.5, 0}, (double[]){0, 0, 0});
    wall_touch(&w, 9, -1, CAROM_PLANAR, 0, (double[]){-1, -0.5, 0}, (double[]){0, 0, 0});
    return w;
}

static void the_certificate_is_the_same_for_both_forms(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        wall w = kind == 0 ? wall_of_bricks(3, 3, 0.3, 5) : kind == 1 ? wall_of_towers(2, 3, 0.5, 5) : mixture();
        block_problem x = wall_problem(&w);
        double *G = dense_of(&x);
        carom_problem dense = x.pb;
        dense.G = G, dense.rows = NULL;
        uint64_t seed = 3;
        for (int i = 0; i < x.pb.n; i++) x.p[i] = symmetric_uniform(&seed);
        int worst[2];
        const double a = carom_residual(block_view(&x), worst), b = carom_residual(&dense, worst + 1);
        assert_true(fabs(a - b) <= 1e-13 * b && worst[0] == worst[1] && a > 0.01);
        assert_true(fabs(carom_rounding(&x.pb) - carom_rounding(&dense)) <= 1e-13 * carom_rounding(&dense));
        for (int i = 0; i < w.contacts; i++) // the generator's own lists against a search of all pairs
            for (int j = 0; j < w.contacts; j++)
                assert_true(wall_meet(w.contact + i, w.contact + j) ||
                            G[x.block[i].at + (size_t)x.block[j].at * (size_t)x.pb.n] == 0);
        x.value[2] = NAN;
        assert_true(carom_residual(&x.pb, NULL) == INFINITY);
        free(G);
        block_problem_destroy(&x);
        wall_destroy(&w);
    }
}

static carom_report solve(const char *name, carom_problem *pb, double tol) {
    solver_memory m =
        name ? memory_for_solver(carom_solver_find(name), pb->n, pb->nb) : memory_for_chain(NULL, pb->n, pb->nb);
    const carom_report r =
        name ? carom_solver_solve(carom_solver_find(name), m.work, pb, tol) : carom_chain_solve(m.chain, pb, tol);
    memory_free(&m);
    return r;
}

// Blocks that are given and blocks that are found in a dense G are the same: so are the bits of the answer.
static void both_forms_give_the_same_answer(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        wall w = kind == 0 ? wall_of_bricks(6, 4, 0.3, 5) : kind == 1 ? wall_of_towers(3, 3, 0.5, 5) : mixture();
        block_problem x = wall_problem(&w);
        for (int i = 0; i < x.at[x.start[x.pb.nb] - 1]; i++)
            if (x.value[i] == 0) x.value[i] = 1e-300; // so that no block is zero as a whole
        double *G = dense_of(&x), *p = malloc(sizeof(double) * (size_t)x.pb.n);
        assert_true(solve("hybrid", block_view(&x), 1e-11).converged);
        memcpy(p, x.p, sizeof(double) * (size_t)x.pb.n);
        memset(x.p, 0, sizeof(double) * (size_t)x.pb.n);
        x.pb.rows = NULL, x.pb.G = G;
        assert_true(solve("hybrid", &x.pb, 1e-11).converged);
        assert_memory_equal(p, x.p, sizeof(double) * (size_t)x.pb.n);
        free(G), free(p);
        block_problem_destroy(&x);
        wall_destroy(&w);
    }
}

// Dense solvers get a dense view of small problems; large ones go to those that can do without.
static void the_chain_takes_blocks(void **state) {
    (void)state;
    for (int columns = 1; columns <= 40; columns += 39) {
        wall w = wall_of_bricks(columns, 3, 0.3, 23);
        block_problem x = wall_problem(&w);
        const carom_report r = solve(NULL, block_view(&x), 1e-11);
        assert_true(r.converged && carom_residual(&x.pb, NULL) <= 1e-11);
        assert_string_equal(r.solver, columns == 1 ? "newton" : "hybrid");
        assert_true(columns == 1 || x.pb.n > CAROM_DENSE_ROWS);
        assert_true(carom_solver_fits(carom_solver_find("newton"), &x.pb) == false); // without the view
        block_problem_destroy(&x);
        wall_destroy(&w);
    }
}

static void iterations_work_on_blocks(void **state) {
    (void)state;
    const char *names[] = {"gauss-seidel", "prox"};
    for (int k = 0; k < 2; k++) {
        contact_problem x = problem_random(12, CAROM_SPATIAL, 0.3, 1, 3);
        block_problem y = {0};
        wall w = wall_of_towers(1, 1, 0.3, 3);
        y = wall_problem(&w);
        assert_true(solve(names[k], &x.pb, 1e-9).converged);
        assert_true(solve(names[k], block_view(&y), 1e-7).converged); // one box on the ground, by blocks alone
        problem_destroy(&x);
        block_problem_destroy(&y);
        wall_destroy(&w);
    }
}

// -- the hybrid ------------------------------------------------------------------------------------------------------

static void check_solved(wall *w, double tol, const char *what) {
    block_problem x = wall_problem(w);
    const carom_report r = solve("hybrid", block_view(&x), tol);
    if (!r.converged) fail_msg("%s: %d iterations, residual %.2e", what, r.iterations, r.residual);
    // The impulses must not create energy: p.(u + c)/2 <= 0 where c = W'v and nothing bounces.
    double work = 0, size = 0;
    for (int i = 0; i < x.pb.n; i++) work += 0.5 * x.p[i] * (x.u[i] + x.c[i]), size += fabs(x.p[i]);
    assert_true(w->skew != 0 || work <= 2 * tol * size);
    block_problem_destroy(&x);
    wall_destroy(w);
}

static void hyperstatic_walls_and_towers(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        wall bricks = wall_of_bricks(8, 8, 0.3 + 0.1 * (double)seed, seed),
             towers = wall_of_towers(6, 5, 0.1 * (double)seed, seed);
        check_solved(&bricks, 1e-11, "bricks");
        check_solved(&towers, 1e-11, "towers");
    }
}

static void no_friction_at_all(void **state) {
    (void)state;
    wall w = wall_of_bricks(8, 6, 0, 3), t = wall_of_towers(5, 5, 0, 3);
    check_solved(&w, 1e-11, "bricks without friction");
    check_solved(&t, 1e-11, "towers without friction");
}

static void redundant_joints_and_mixed_laws(void **state) {
    (void)state;
    wall w = mixture();
    check_solved(&w, 1e-11, "mixture");
    wall v = wall_of_towers(4, 4, 0.4, 9);
    for (int k = 0; k < 15; k++) wall_tie(&v, k, k + 1, k % 2 == 0);
    check_solved(&v, 1e-10, "towers tied together");
}

static void matrices_that_are_not_symmetric(void **state) {
    (void)state;
    wall w = wall_of_bricks(8, 5, 0.3, 13), t = wall_of_towers(4, 4, 0.3, 13);
    w.skew = t.skew = 0.02;
    check_solved(&w, 1e-10, "skew bricks");
    check_solved(&t, 1e-10, "skew towers");
}

static void a_thousand_contacts(void **state) {
    (void)state;
    wall w = wall_of_bricks(30, 10, 0.5, 17);
    assert_true(w.contacts > 1000);
    check_solved(&w, 1e-10, "large wall");
}

// Where a factorisation costs much, ADMM comes before all else: it takes a large wall to a tenth of its speed in ten
// iterations behind the five sweeps, whatever the memory held before.  Where it does not, others do the work, and more
// of it.
static void admm_takes_a_large_wall_to_a_tenth(void **state) {
    (void)state;
    wall w = wall_of_bricks(18, 14, 0.5, 4);
    block_problem x = wall_problem(&w);
    const size_t bytes = sizeof(double) * (size_t)x.pb.n;
    solver_memory m = memory_for_solver(carom_solver_find("hybrid"), x.pb.n, x.pb.nb);
    double *p = calloc(1, bytes);
    for (int again = 0; again < 2; again++) {
        memset(x.p, 0, bytes);
        const carom_report r = carom_solver_solve(carom_solver_find("hybrid"), m.work, block_view(&x), 0.1);
        assert_true(r.converged);
        if (r.iterations > 15) fail_msg("%d iterations", r.iterations);
        if (again) assert_memory_equal(p, x.p, bytes);
        memcpy(p, x.p, bytes);
    }
    free(p);
    memory_free(&m);
    block_problem_destroy(&x);
    wall_destroy(&w);
}

// The matrix of a wall by bodies, whose inverse masses are 1 and `turn`.
typedef struct {
    carom_parts parts;
    int *part, *first, *link;
    size_t *link_at, *inverse_at;
    double *A, *inverse;
} wall_bodies;

static wall_bodies bodies_of(const wall *w) {
    const size_t bodies = (size_t)w->bodies, contacts = (size_t)w->contacts;
    wall_bodies y = {.part = calloc(bodies + 1, sizeof(int)),
                     .first = calloc(contacts + 1, sizeof(int)),
                     .link = calloc(2 * contacts, sizeof(int)),
                     .link_at = calloc(2 * contacts, sizeof(size_t)),
                     .inverse_at = calloc(bodies, sizeof(size_t)),
                     .A = calloc(2 * 36 * contacts, sizeof(double)),
                     .inverse = calloc(6 * bodies, sizeof(double))};
    int n = 0;
    size_t at = 0;
    for (size_t k = 0; k < bodies; k++) {
        y.part[k + 1] = 6 * (int)(k + 1), y.inverse_at[k] = 6 * k;
        for (int i = 0; i < 6; i++) y.inverse[6 * k + (size_t)i] = i < 3 ? 1 : w->turn;
    }
    for (int b = 0; b < w->contacts; y.first[++b] = n)
        for (int s = 0; s < 2; s++) {
            const wall_contact *c = w->contact + b;
            if (c->body[s] < 0) continue;
            y.link[n] = c->body[s], y.link_at[n++] = at;
            for (int r = 0; r < carom_law_rows(c->law); r++)
                for (int i = 0; i < 6; i++) y.A[at++] = c->J[s][r][i];
        }
    y.parts = (carom_parts){.bodies = w->bodies,
                            .part = y.part,
                            .first = y.first,
                            .link_part = y.link,
                            .link_body = y.link,
                            .link_at = y.link_at,
                            .inverse_at = y.inverse_at,
                            .A = y.A,
                            .inverse = y.inverse,
                            .only_diagonal = true,
                            .scale = 1};
    return y;
}

static void bodies_destroy(wall_bodies *y) {
    free(y->part), free(y->first), free(y->link), free(y->link_at), free(y->inverse_at), free(y->A), free(y->inverse);
}

// A board on 80 balls has more contacts than there are colours.  The 16 that get none carry it on their side: they take
// their turn, too, whatever the number of threads.
static void a_board_on_many_balls(void **state) {
    (void)state;
    enum { BALLS = 80 };
    wall w = wall_create(BALLS + 1);
    for (int k = 0; k < BALLS; k++) {
        const double x = k < 64 ? -1 - k % 8 : 1 + k % 4, z = (double)(k / 4 % 4) - 1.5;
        wall_touch(&w, BALLS, k, CAROM_SPATIAL, 0.4, (double[]){x, -0.1, z}, (double[]){0, 0.5, 0});
        wall_touch(&w, k, -1, CAROM_SPATIAL, 0.4, (double[]){0, -0.5, 0}, (double[]){0, 0, 0});
        w.v[6 * k + 1] = -0.1, w.v[6 * k] = 0.02 * sin(k);
    }
    w.v[6 * BALLS + 1] = -1, w.v[6 * BALLS] = 0.3, w.v[6 * BALLS + 4] = 0.05;
    block_problem x = wall_problem(&w);
    wall_bodies y = bodies_of(&w);
    carom_problem *pb = block_view(&x);
    pb->parts = &y.parts;
    double p[6 * BALLS];
    assert_int_equal(pb->n, 6 * BALLS);
    for (int threads = 1; threads <= 3; threads += 2) {
        carom_error err = {0};
        pb->team = carom_team_create(threads, &err);
        assert_non_null(pb->team);
        memset(x.p, 0, sizeof p);
        const carom_report r = solve("bodies", pb, 1e-4);
        if (!r.converged) fail_msg("%d iterations, residual %.2e", r.iterations, r.residual);
        if (threads > 1) assert_memory_equal(p, x.p, sizeof p);
        memcpy(p, x.p, sizeof p);
        carom_team_destroy(pb->team);
    }
    bodies_destroy(&y);
    block_problem_destroy(&x);
    wall_destroy(&w);
}

// Solvers of many contacts: twice as many rows need twice the memory, not four times; three rows need some kilobytes.
static void memory_grows_with_the_rows(void **state) {
    (void)state;
    static _Alignas(64) unsigned char work[CAROM_SOLVER_WORK];
    int sparse = 0;
    for (int k = 0; carom_solver_at(k); k++) {
        const carom_solver *s = carom_solver_at(k);
        size_t used[3];
        for (int i = 0; i < 3; i++) {
            carom_arena count = {0}; // it only counts
            const int n = (const int[]){3, 100000, 200000}[i];
            s->allocate(work, &count, n, n / 3);
            used[i] = count.used;
        }
        if (!s->sparse) continue;
        sparse++;
        assert_true(used[0] < 100000 && used[2] <= 2 * used[1] + 100000);
    }
    assert_int_equal(sparse, 4);
}

// A box between floor and a ceiling that comes down: no impulse can help.
static void what_has_no_solution_is_refused(void **state) {
    (void)state;
    for (int bodies = 1; bodies <= 30; bodies += 29) {
        wall w = wall_of_towers(1, bodies, 0.3, 5);
        block_problem x;
        wall_contact *c = wall_add(&w, bodies - 1, -1, CAROM_UNILATERAL, 0);
        c->J[0][0][1] = -1;
        x = wall_problem(&w);
        for (int i = 0; i < x.pb.nb; i++) x.c[x.block[i].at] = -1; // every gap closes, the last one by itself
        const carom_report r = solve("hybrid", block_view(&x), 1e-10);
        assert_false(r.converged);
        assert_true(r.residual > 0.01);
        for (int i = 0; i < x.pb.n; i++) assert_true(isfinite(x.p[i]));
        block_problem_destroy(&x);
        wall_destroy(&w);
    }
}

static void a_warm_start_is_used_and_bits_repeat(void **state) {
    (void)state;
    wall w = wall_of_bricks(10, 8, 0.4, 29);
    block_problem x = wall_problem(&w);
    const size_t bytes = sizeof(double) * (size_t)x.pb.n;
    solver_memory m = memory_for_solver(carom_solver_find("hybrid"), x.pb.n, x.pb.nb);
    const carom_report cold = carom_solver_solve(carom_solver_find("hybrid"), m.work, block_view(&x), 1e-11);
    double *p = malloc(bytes);
    memcpy(p, x.p, bytes);
    const carom_report warm = carom_solver_solve(carom_solver_find("hybrid"), m.work, &x.pb, 1e-11);
    assert_true(cold.converged && warm.converged && warm.iterations == 0);
    memset(x.p, 0, bytes);
    carom_solver_solve(carom_solver_find("hybrid"), m.work, &x.pb, 1e-11);
    assert_memory_equal(p, x.p, bytes);
    x.p[0] = NAN; // no number, no start
    carom_solver_solve(carom_solver_find("hybrid"), m.work, &x.pb, 1e-11);
    assert_memory_equal(p, x.p, bytes);
    free(p);
    memory_free(&m);
    block_problem_destroy(&x);
    wall_destroy(&w);
}

// Random hyperstatic piles with friction: the proximal sequence adapts its weight, dense and sparse.
static void random_hyperstatic_piles_are_solved(void **state) {
    (void)state;
    const char *names[] = {"newton", "hybrid"};
    for (int k = 0; k < 2; k++)
        for (uint64_t seed = 1; seed <= 150; seed++) {
            contact_problem x = problem_pile(10, 4, CAROM_PLANAR, 0.3, seed * 104729);
            const carom_report r = solve(names[k], &x.pb, 1e-11);
            if (!r.converged)
                fail_msg("pile %d: %s stops at %.2e after %d iterations", (int)seed, names[k], r.residual,
                         r.iterations);
            problem_destroy(&x);
        }
}

// Lemke on degenerate problems of another kind than mechanics: two players, costs from 1 to 250 and probabilities that
// add up to 1.  Weak pivots that are avoided end in a cycle here.
static void lemke_solves_games(void **state) {
    (void)state;
    enum { K = 16, GROUP = 4, N = 2 * K + 2 * K / GROUP };
    for (uint64_t game = 1; game <= 20; game++) {
        uint64_t seed = game * 7919;
        contact_problem x = problem_create(N, N);
        for (int i = 0; i < N; i++) problem_add(&x, CAROM_UNILATERAL, 0);
        for (int i = 0; i < 2 * K; i++)
            for (int j = 0; j < 2 * K; j++)
                PROBLEM_G(&x, i, j) = (i < K) == (j < K) ? 1 : floor(1 + 250 * uniform(&seed));
        for (int i = 0; i < 2 * K; i++)
            PROBLEM_G(&x, i, 2 * K + i / GROUP) = -1, PROBLEM_G(&x, 2 * K + i / GROUP, i) = 1;
        for (int i = 2 * K; i < N; i++) x.c[i] = -1;
        const carom_report r = solve("lemke", &x.pb, 1e-10);
        if (!r.converged) fail_msg("game %d: residual %.2e after %d pivots", (int)game, r.residual, r.iterations);
        problem_destroy(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_blocks_are_filled),
        cmocka_unit_test(block_elimination_agrees_with_dense),
        cmocka_unit_test(the_certificate_is_the_same_for_both_forms),
        cmocka_unit_test(both_forms_give_the_same_answer),
        cmocka_unit_test(the_chain_takes_blocks),
        cmocka_unit_test(iterations_work_on_blocks),
        cmocka_unit_test(hyperstatic_walls_and_towers),
        cmocka_unit_test(no_friction_at_all),
        cmocka_unit_test(redundant_joints_and_mixed_laws),
        cmocka_unit_test(matrices_that_are_not_symmetric),
        cmocka_unit_test(a_thousand_contacts),
        cmocka_unit_test(admm_takes_a_large_wall_to_a_tenth),
        cmocka_unit_test(a_board_on_many_balls),
        cmocka_unit_test(memory_grows_with_the_rows),
        cmocka_unit_test(what_has_no_solution_is_refused),
        cmocka_unit_test(a_warm_start_is_used_and_bits_repeat),
        cmocka_unit_test(random_hyperstatic_piles_are_solved),
        cmocka_unit_test(lemke_solves_games),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
