// The chain: which solver goes first, what happens when it fails, memory, warm starts, many contacts.
#define _DEFAULT_SOURCE // mincore
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// cmocka wants the three above first
#include "problems.h"
#include "solver/solvers.h"
#include <cmocka.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static carom_report chain_run(contact_problem *x, const char *first, double tol) {
    solver_memory m = memory_for_chain(first ? carom_solver_find(first) : NULL, x->pb.n, x->pb.nb);
    const carom_report r = carom_chain_solve(m.chain, &x->pb, tol);
    memory_free(&m);
    return r;
}

static void assert_first(contact_problem x, const char *name) {
    const carom_report r = chain_run(&x, NULL, 1e-12);
    assert_true(r.converged);
    assert_int_equal(r.fallbacks, 0);
    assert_string_equal(r.solver, name);
    problem_destroy(&x);
}

// One r for all rows: beyond 2/|G| the iteration does not converge, unless the natural monotonicity test halves it; an
// absolute tolerance of
// impulses ends it earlier.
static void prox_with_one_r_for_all_rows(void **state) {
    (void)state;
    const carom_solver *prox = carom_solver_find("prox");
    for (int large = 0; large < 2; ++large) {
        int iterations[4];
        for (int i = 0; i < 4; ++i) {
            contact_problem x = problem_random(6, CAROM_PLANAR, 0.3, 0.5, 3);
            double most = 0;
            for (int k = 0; k < x.pb.n; ++k) {
                double row = 0;
                for (int j = 0; j < x.pb.n; ++j) row += fabs(x.pb.G[k + (size_t)j * (size_t)x.pb.ld]);
                most = fmax(most, row);
            }
            const carom_prox_rule rules[] = {{.r = 1 / most, .test = CAROM_PROX_CONSTANT},
                                             {.r = 1 / most, .test = CAROM_PROX_NATURAL},
                                             {.r = 1 / most},
                                             {.r = 1 / most, .stop = 1e-4}};
            carom_prox_rule rule = rules[i];
            if (large) rule.r *= 1000;
            solver_memory m = memory_for_solver(prox, x.pb.n, x.pb.nb);
            carom_prox_set(m.work, &rule);
            const carom_report r = prox->solve(m.work, &x.pb, 1e-10);
            memory_free(&m);
            const double residual = carom_residual(&x.pb, NULL);
            iterations[i] = r.iterations;
            print_message("    r %s, rule %d: %d iterations, residual %.2g\n", large ? "1000/|G|" : "1/|G|", i,
                          r.iterations, residual);
            if (large && i == 0) assert_true(residual > 1e-3);
            else if (i == 3) assert_true(r.converged);
            else assert_true(residual <= 1e-10);
            problem_destroy(&x);
        }
        assert_true(iterations[3] < iterations[2]);
    }
}

static void the_default_follows_size_and_laws(void **state) {
    (void)state;
    assert_first(problem_random(1, CAROM_UNILATERAL, 0, 0.5, 3), "direct");
    assert_first(problem_random(2, CAROM_UNILATERAL, 0, 0.5, 3), "direct");
    assert_first(problem_random(2, CAROM_PLANAR, 0, 0.5, 3), "direct"); // mu = 0
    assert_first(problem_random(10, CAROM_UNILATERAL, 0, 0.5, 3), "lemke");
    assert_first(problem_random(40, CAROM_UNILATERAL, 0, 0.5, 3), "newton");
    assert_first(problem_random(1, CAROM_PLANAR, 0.3, 0.5, 3), "direct");
    assert_first(problem_random(1, CAROM_SPATIAL, 0.3, 0.5, 3), "direct");
    assert_first(problem_random(2, CAROM_PLANAR, 0.3, 0.5, 3), "newton");
    assert_first(problem_random(20, CAROM_SPATIAL, 0.3, 0.5, 3), "newton");
    assert_first(problem_random(6, CAROM_BILATERAL, 0, 0.5, 3), "joints");
    assert_first(problem_pile(60, 45, CAROM_PLANAR, 0.3, 3), "hybrid");
    assert_first(problem_pile(40, 30, CAROM_SPATIAL, 0.3, 3), "hybrid");
    assert_first(problem_random(60, CAROM_PLANAR, 0.3, 0.5, 3), "newton"); // G is full
}

static void the_asked_solver_goes_first(void **state) {
    (void)state;
    const char *names[] = {"enumerate", "newton", "gauss-seidel", "prox"};
    for (int k = 0; k < 4; k++) {
        contact_problem x = problem_random(3, CAROM_PLANAR, 0.3, 0.5, 3);
        const carom_report r = chain_run(&x, names[k], 1e-9);
        assert_true(r.converged);
        assert_string_equal(r.solver, names[k]);
        assert_int_equal(r.fallbacks, 0);
        problem_destroy(&x);
    }
}

static void others_go_on_when_the_asked_one_fails_or_cannot(void **state) {
    (void)state;
    contact_problem x = problem_random(3, CAROM_PLANAR, 0.3, 0.5, 3);
    carom_report r = chain_run(&x, "lemke", 1e-12); // no friction there
    assert_true(r.converged);
    assert_string_equal(r.solver, "newton");
    assert_int_equal(r.fallbacks, 1);
    problem_destroy(&x);
    // Two contacts so alike that a fixed point crawls.
    contact_problem y = problem_create(2, 2);
    problem_add(&y, CAROM_UNILATERAL, 0);
    problem_add(&y, CAROM_UNILATERAL, 0);
    y.G[0] = y.G[3] = 1, y.G[1] = y.G[2] = 1 - 1e-9;
    y.c[0] = -1, y.c[1] = -1 - 1e-10;
    r = chain_run(&y, "prox", 1e-13);
    assert_true(r.converged && r.fallbacks == 1 && r.residual <= 1e-13);
    problem_destroy(&y);
}

// A solver that lies is found out by the certificate.
static carom_report lie(void *work, carom_problem *pb, double tol) {
    (void)work, (void)tol;
    for (int i = 0; i < pb->n; i++) pb->p[i] = 42;
    return (carom_report){
        .converged = true, .residual = 0, .iterations = 1000, .fallbacks = 7, .worst_block = 99, .solver = "another"};
}

static void allocate_nothing(void *work, carom_arena *mem, int n, int nb) {
    (void)work, (void)mem, (void)n, (void)nb;
}

static void a_lie_is_found_out(void **state) {
    (void)state;
    const carom_solver liar = {.name = "liar", .laws = 15, .allocate = allocate_nothing, .work_size = 1, .solve = lie};
    contact_problem x = problem_random(4, CAROM_PLANAR, 0.3, 0.5, 3);
    solver_memory m = memory_for_chain(&liar, x.pb.n, x.pb.nb);
    const carom_report r = carom_chain_solve(m.chain, &x.pb, 1e-12);
    assert_true(r.converged && r.residual <= 1e-12 && r.fallbacks == 1);
    assert_string_not_equal(r.solver, "liar");
    assert_true(r.iterations > 1000 && r.iterations < 2000); // the work of both counts
    const carom_report alone = carom_solver_solve(&liar, NULL, &x.pb, 1e-12);
    assert_true(!alone.converged && alone.residual > 1 && alone.fallbacks == 0 && alone.worst_block >= 0 &&
                alone.worst_block < 4 && strcmp(alone.solver, "liar") == 0);
    memory_free(&m);
    problem_destroy(&x);
}

static void the_best_answer_comes_back_when_none_is_good(void **state) {
    (void)state;
    for (int law = CAROM_UNILATERAL; law < CAROM_LAWS; law++) {
        contact_problem x = problem_random(3, law, 0.3, 1, 3);
        const int at = x.block[1].at;
        for (int r = 0; r < carom_law_rows((carom_law)law); r++)
            for (int i = 0; i < x.pb.n; i++) PROBLEM_G(&x, at + r, i) = PROBLEM_G(&x, i, at + r) = 0;
        x.c[at] = -0.125;
        const carom_report r = chain_run(&x, NULL, 1e-12);
        assert_false(r.converged);
        assert_int_equal(r.worst_block, 1);
        assert_true(fabs(r.residual - 0.125) < 1e-6); // the other contacts are in order
        assert_true(r.fallbacks >= 2);
        assert_true(carom_residual(&x.pb, NULL) == r.residual);
        problem_destroy(&x);
    }
}

static void what_is_not_a_number_ends_at_once(void **state) {
    (void)state;
    for (int law = CAROM_BILATERAL; law < CAROM_LAWS; law++)
        for (int k = 0; k < 3; k++) {
            contact_problem x = problem_random(5, law, 0.3, 1, 3);
            if (k == 0) x.c[2] = NAN;
            if (k == 1) x.c[2] = INFINITY;
            if (k == 2) PROBLEM_G(&x, 1, 2) = NAN;
            const carom_report r = chain_run(&x, NULL, 1e-12);
            assert_false(r.converged);
            assert_true(r.residual == INFINITY);
            problem_destroy(&x);
        }
    // A start that is not a number is no reason to fail.
    contact_problem x = problem_random(5, CAROM_PLANAR, 0.3, 1, 3);
    x.p[3] = NAN;
    assert_true(chain_run(&x, NULL, 1e-12).converged);
    problem_destroy(&x);
}

static void a_warm_start_saves_iterations(void **state) {
    (void)state;
    for (int law = CAROM_UNILATERAL; law < CAROM_LAWS; law++) {
        int cold = 0, warm = 0;
        bool sweeps = false; // the hybrid begins with five sweeps, cold or warm
        for (uint64_t seed = 1; seed <= 20; seed++) {
            contact_problem x = problem_pile(30, 24, (carom_law)law, 0.3, seed * 7919);
            solver_memory m = memory_for_chain(NULL, x.pb.n, x.pb.nb);
            carom_report r = carom_chain_solve(m.chain, &x.pb, 1e-11);
            assert_true(r.converged);
            cold += r.iterations;
            for (int i = 0; i < x.pb.n; i++) x.c[i] *= 1.001;
            r = carom_chain_solve(m.chain, &x.pb, 1e-11);
            assert_true(r.converged);
            warm += r.iterations;
            sweeps = strcmp(r.solver, "hybrid") == 0;
            memory_free(&m);
            problem_destroy(&x);
        }
        assert_true((sweeps ? 1.2 : 2) * warm < cold);
    }
}

// Many random piles, static to hyperstatic.  Frictionless ones are convex: every one must be solved.  With friction and
// dependent contacts there is no such guarantee; one in a hundred may fail, and must say so.
static void piles_of_1_to_100_contacts_are_solved(void **state) {
    (void)state;
    const int sizes[] = {1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 30, 40, 100};
    for (int law = CAROM_UNILATERAL; law < CAROM_LAWS; law++) {
        int failed = 0, count = 0;
        for (int s = 0; s < 13; s++)
            for (int k = 0; k < (sizes[s] > 30 ? 2 : 10); k++)
                for (int loose = 0; loose < 2; loose++) {
                    const int n = sizes[s], bodies = loose ? (3 * n + 3) / 4 : (4 * n + 9) / 10;
                    if (n == 100 && law != CAROM_UNILATERAL && !loose) continue;
                    if (n > 20 && law > CAROM_SPATIAL) continue; // the same again, and long
                    const uint64_t seed = 1000003u * (uint64_t)(k + 1) + (uint64_t)n;
                    contact_problem x = problem_pile(n, bodies, (carom_law)law, 0.3, seed);
                    const carom_report r = chain_run(&x, NULL, 1e-11);
                    assert_true(r.converged == (r.residual <= 1e-11 || r.residual <= carom_rounding(&x.pb)));
                    assert_true(r.residual < 0.1);
                    failed += !r.converged;
                    count++;
                    problem_destroy(&x);
                }
        if (law == CAROM_UNILATERAL) assert_int_equal(failed, 0);
        assert_true(100 * failed <= count);
    }
}

static void a_smaller_problem_with_a_wider_G_is_the_same_problem(void **state) {
    (void)state;
    contact_problem x = problem_random(6, CAROM_PLANAR, 0.3, 0.2, 11), y = problem_create(40, 6);
    for (int k = 0; k < 6; k++) problem_add(&y, CAROM_PLANAR, 0.3);
    for (int i = 0; i < 12; i++) {
        y.c[i] = x.c[i];
        for (int j = 0; j < 12; j++) PROBLEM_G(&y, i, j) = PROBLEM_G(&x, i, j);
    }
    solver_memory m = memory_for_chain(NULL, 40, 20);
    assert_true(carom_chain_solve(m.chain, &x.pb, 1e-12).converged);
    assert_true(carom_chain_solve(m.chain, &y.pb, 1e-12).converged);
    assert_memory_equal(x.p, y.p, 12 * sizeof(double));
    memory_free(&m);
    problem_destroy(&x);
    problem_destroy(&y);
}

static void memory_grows_with_the_square_and_is_described_once(void **state) {
    (void)state;
    for (int n = 10; n <= 3000; n *= 3) {
        carom_arena count = {0};
        assert_null(carom_allocate_chain(&count, n, n, n, NULL));
        // 60000: colours x threads of `bodies`, and what is of no size; 3 n^2: joints before contacts
        assert_true(count.used < 8.0 * (9.0 * n * n + 150.0 * n) + 60000);
        if (n > 100) continue;
        unsigned char *base = aligned_alloc(64, count.used);
        carom_arena real = {.base = base, .size = count.used};
        assert_non_null(carom_allocate_chain(&real, n, n, n, NULL));
        assert_true(real.used == count.used);
        free(base);
    }
}

static void no_contact_is_no_problem(void **state) {
    (void)state;
    contact_problem x = problem_create(0, 0);
    const carom_report r = chain_run(&x, NULL, 1e-12);
    assert_true(r.converged && r.residual == 0 && r.fallbacks == 0);
    problem_destroy(&x);
}

static void joints_alone_are_a_linear_system(void **state) {
    (void)state;
    for (int blocks = 1; blocks <= 30; blocks += 7) {
        contact_problem x = problem_random(blocks, CAROM_BILATERAL, 0, 0.1, 77);
        assert_true(chain_run(&x, NULL, 1e-12).converged);
        for (int i = 0; i < x.pb.n; i++) assert_true(fabs(x.u[i]) <= 1e-12);
        problem_destroy(&x);
    }
}

// Joints in a row, each between two neighbours, and contacts in the middle and at the end: eliminated first (SOL-30),
// they get the impulses that a solver of all rows finds.
static void joints_are_eliminated_before_contacts(void **state) {
    (void)state;
    enum { JOINTS = 60, DOF = 3 * (JOINTS + 1), CONTACTS = 3 };
    for (int kind = 0; kind < 4; ++kind) { // symmetric or not; with an envelope or not
        const bool symmetric = kind % 2 == 0, envelope = kind / 2 == 0;
        uint64_t seed = 5;
        contact_problem x = problem_create(JOINTS + 3 * CONTACTS, JOINTS + CONTACTS);
        for (int j = 0; j < JOINTS; ++j) problem_add(&x, CAROM_BILATERAL, 0);
        for (int c = 0; c < CONTACTS; ++c) problem_add(&x, CAROM_SPATIAL, 0.3);
        const int n = x.pb.n;
        double *W = calloc((size_t)(DOF * n), sizeof *W), *A = calloc((size_t)(DOF * n), sizeof *A), w[DOF], v[DOF];
        int first[JOINTS + 3 * CONTACTS];
        assert_true(W && A);
        for (int k = 0; k < DOF; ++k) w[k] = 1 + uniform(&seed), v[k] = symmetric_uniform(&seed);
        for (int i = 0; i < n; ++i) {
            const int from = i < JOINTS ? 3 * i : (i - JOINTS) / 3 * (DOF - 6) / (CONTACTS - 1);
            for (int k = from; k < from + 6; ++k) {
                double *a = W + k + (size_t)i * DOF;
                *a = symmetric_uniform(&seed);
                A[k + (size_t)i * DOF] = symmetric ? *a : *a * (1 + 0.01 * symmetric_uniform(&seed));
            }
        }
        problem_from_directions(&x, DOF, A, W, w, v);
        for (int c = 0; c < CONTACTS; ++c) x.c[JOINTS + 3 * c] -= 2; // they approach
        for (int i = 0; i < n; ++i)
            for (first[i] = 0; first[i] < i && PROBLEM_G(&x, i, first[i]) == 0 && PROBLEM_G(&x, first[i], i) == 0;)
                first[i]++;
        x.pb.symmetric = symmetric;
        x.pb.first = envelope ? first : NULL;
        carom_arena mem = {0};
        carom_allocate_chain(&mem, n, x.pb.nb, JOINTS, NULL);
        mem = (carom_arena){.base = aligned_alloc(64, (mem.used + 127) / 64 * 64), .size = mem.used + 64};
        assert_non_null(mem.base);
        memset(mem.base, 0xff, mem.size);
        carom_chain *chain = carom_allocate_chain(&mem, n, x.pb.nb, JOINTS, NULL);
        const carom_report r = carom_chain_solve(chain, &x.pb, 1e-11);
        assert_true(r.converged && r.residual <= 1e-11);
        double *p = calloc((size_t)n, sizeof *p), pushes = 0;
        assert_non_null(p);
        memcpy(p, x.p, (size_t)n * sizeof *p);
        for (int c = 0; c < CONTACTS; ++c) pushes += p[JOINTS + 3 * c] > 0;
        assert_true(pushes > 0);
        problem_cold(&x);
        solver_memory m = memory_for_solver(carom_solver_find("hybrid"), n, x.pb.nb);
        assert_true(carom_solver_solve(carom_solver_find("hybrid"), m.work, &x.pb, 1e-11).converged);
        for (int i = 0; i < n; ++i) assert_true(fabs(p[i] - x.p[i]) <= 1e-9);
        memory_free(&m);
        free(mem.base), free(p), free(W), free(A);
        problem_destroy(&x);
    }
}

// Rows that are held stand among contacts, and two of them are the same: they share what one would take, and the
// velocities are those that a solver of all rows finds.
static void rows_held_among_contacts_may_depend_on_each_other(void **state) {
    (void)state;
    enum { DOF = 5, ROWS = 9, FIRST = 1, SECOND = 4 };
    uint64_t seed = 11;
    contact_problem x = problem_create(ROWS, 6);
    problem_add(&x, CAROM_UNILATERAL, 0), problem_add(&x, CAROM_BILATERAL, 0), problem_add(&x, CAROM_PLANAR, 0.3);
    problem_add(&x, CAROM_BILATERAL, 0), problem_add(&x, CAROM_PLANAR, 0), problem_add(&x, CAROM_PLANAR, 0.1);
    double W[ROWS * DOF], w[DOF], v[DOF], u[ROWS];
    for (int i = 0; i < ROWS * DOF; ++i) W[i] = symmetric_uniform(&seed);
    for (int k = 0; k < DOF; ++k) W[SECOND * DOF + k] = W[FIRST * DOF + k], w[k] = 1 + uniform(&seed), v[k] = -1;
    problem_from_directions(&x, DOF, W, W, w, v);
    assert_true(chain_run(&x, NULL, 1e-12).converged);
    const double size = fabs(x.p[FIRST]);
    assert_true(size > 1e-3 && fabs(x.p[FIRST] - x.p[SECOND]) <= 1e-10 * size);
    memcpy(u, x.u, sizeof u);
    problem_cold(&x);
    solver_memory m = memory_for_solver(carom_solver_find("hybrid"), x.pb.n, x.pb.nb);
    assert_true(carom_solver_solve(carom_solver_find("hybrid"), m.work, &x.pb, 1e-12).converged);
    for (int i = 0; i < ROWS; ++i) assert_true(fabs(u[i] - x.u[i]) <= 1e-10);
    memory_free(&m);
    problem_destroy(&x);
}

// Bytes of these that are in memory.
static size_t resident(const unsigned char *from, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), skip = (page - (uintptr_t)from % page) % page,
                 n = (size - skip) / page;
    unsigned char *in = malloc(n);
    size_t count = 0;
    assert_non_null(in);
    assert_int_equal(mincore((void *)(uintptr_t)(from + skip), n * page, in), 0);
    for (size_t i = 0; i < n; i++) count += in[i] & 1;
    free(in);
    return count * page;
}

// Pairs of joints with a light body between them and a heavy one behind it: G = a (1 -1; -1 1 + 1e-10).  Impulses are
// 1e10 times what they do, and leave 1e-6 of it by rounding: no solver can do better, and none must try for long:
// hybrid ends after 60 problems of its sequence without a gain, of a few steps each.
static void joints_that_round_are_given_up_soon(void **state) {
    (void)state;
    contact_problem x = problem_random(6, CAROM_BILATERAL, 0, 0.5, 3);
    const int n = x.pb.n, ld = x.pb.ld;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            x.G[i + k * ld] = i / 2 != k / 2 ? 0 : i != k ? -1e7 : i % 2 == 0 ? 1e7 : 1e7 * (1 + 1e-10);
    solver_memory m = memory_for_solver(carom_solver_find("hybrid"), n, x.pb.nb);
    const carom_report r = carom_solver_solve(carom_solver_find("hybrid"), m.work, &x.pb, 1e-12);
    assert_false(r.converged);
    if (r.iterations > 2 * 60 * 14) fail_msg("%d iterations", r.iterations);
    memory_free(&m);
    problem_destroy(&x);
}

// Contacts of bodies of their own, G = I: |p| = 1 along the normals.  The asked solver cannot, and hybrid goes on: its
// vectors, 192 KB each, are in memory no more when it has finished; the answer, the table of solvers and the best point
// are.
static void what_a_fallback_used_is_given_back(void **state) {
    (void)state;
    enum { NB = 8000, ROWS = 3, N = ROWS * NB };
    const carom_solver *first = carom_solver_find("lemke");
    carom_arena mem = {0};
    carom_allocate_chain(&mem, N, NB, 0, first);
    mem = (carom_arena){.base = aligned_alloc(64, mem.used + 64), .size = mem.used + 64};
    double *x = calloc((size_t)N * (3 + ROWS), sizeof *x), *c = x + N, *u = c + N, *value = u + N;
    int *list = calloc(4 * NB + 1, sizeof *list), *start = list, *col = start + NB + 1, *at = col + NB,
        *diagonal = at + NB;
    carom_block *block = calloc(NB, sizeof *block);
    assert_true(mem.base && x && list && block);
    for (int b = 0; b < NB; b++) {
        block[b] = (carom_block){.at = ROWS * b, .law = CAROM_SPATIAL, .mu = 0.3};
        start[b + 1] = b + 1, col[b] = diagonal[b] = b, at[b] = ROWS * ROWS * b;
        for (int i = 0; i < ROWS; i++) value[at[b] + i * (ROWS + 1)] = 1;
        c[ROWS * b] = -1;
    }
    const carom_block_rows rows = {
        .start = start, .col = col, .at = at, .diagonal = diagonal, .value = value, .uniform = ROWS};
    carom_problem pb = {.n = N, .nb = NB, .block = block, .rows = &rows, .c = c, .p = x, .u = u, .symmetric = true};
    carom_chain *chain = carom_allocate_chain(&mem, N, NB, 0, first);
    const carom_report r = carom_chain_solve(chain, &pb, 1e-12);
    assert_true(r.converged);
    assert_string_equal(r.solver, "hybrid");
    for (int i = 0; i < N; i++) assert_true(fabs(pb.p[i] - (i % ROWS == 0)) <= 1e-12);
    const size_t bytes = resident(mem.base, mem.size);
    print_message("in memory after a fallback: %zu KB\n", bytes / 1024);
    assert_true(bytes < 400000);
    free(mem.base);
    free(x);
    free(list);
    free(block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prox_with_one_r_for_all_rows),
        cmocka_unit_test(the_default_follows_size_and_laws),
        cmocka_unit_test(the_asked_solver_goes_first),
        cmocka_unit_test(others_go_on_when_the_asked_one_fails_or_cannot),
        cmocka_unit_test(a_lie_is_found_out),
        cmocka_unit_test(the_best_answer_comes_back_when_none_is_good),
        cmocka_unit_test(what_is_not_a_number_ends_at_once),
        cmocka_unit_test(a_warm_start_saves_iterations),
        cmocka_unit_test(piles_of_1_to_100_contacts_are_solved),
        cmocka_unit_test(a_smaller_problem_with_a_wider_G_is_the_same_problem),
        cmocka_unit_test(memory_grows_with_the_square_and_is_described_once),
        cmocka_unit_test(what_a_fallback_used_is_given_back),
        cmocka_unit_test(no_contact_is_no_problem),
        cmocka_unit_test(joints_alone_are_a_linear_system),
        cmocka_unit_test(joints_are_eliminated_before_contacts),
        cmocka_unit_test(rows_held_among_contacts_may_depend_on_each_other),
        cmocka_unit_test(joints_that_round_are_given_up_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
