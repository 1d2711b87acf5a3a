// FCLIB files against the library itself; built where libfclib is installed (Debian: libfclib-dev).
#define _DEFAULT_SOURCE // mkdtemp
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// cmocka wants the three above first
#include "own_folder.h"
#include "walls.h"
#include <carom/problem_file.h>
#include <cmocka.h>
#include <fclib.h>
#include <stdio.h>
#include <unistd.h>

static void solve(carom_problem *pb) {
    solver_memory m = memory_for_chain(NULL, pb->n, pb->nb);
    assert_true(carom_chain_solve(m.chain, pb, 1e-12).converged);
    memory_free(&m);
}

// What carom writes, the library reads: problem, solution, and its own measure of the error.
static void the_library_accepts_our_answers(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        wall w = kind == 0 ? wall_of_bricks(4, 3, 0.4, 3) : wall_of_towers(2, 3, 0.4, 3);
        if (kind == 2) wall_tie(&w, 1, 4, false);
        block_problem x = wall_problem(&w);
        carom_error err = {0};
        solve(block_view(&x));
        assert_true(carom_problem_write_answer(&x.pb, "answer.hdf5", &err) == CAROM_OK);
        struct fclib_local *problem = fclib_read_local("answer.hdf5");
        struct fclib_solution *solution = fclib_read_solution("answer.hdf5");
        assert_true(problem && solution);
        assert_int_equal(problem->spacedim, kind == 0 ? 2 : 3);
        assert_int_equal(problem->W->m, kind == 2 ? x.pb.n - 2 : x.pb.n);
        assert_true(problem->mu[0] == 0.4 && problem->q[0] == x.c[0] && solution->r[0] == x.p[0]);
        if (kind == 1) assert_true(fclib_merit_local(problem, MERIT_1, solution) < 1e-10);
        assert_true((problem->V != NULL) == (kind == 2));
        fclib_delete_local(problem);
        free(problem);
        fclib_delete_solutions(solution, 1);
        block_problem_destroy(&x);
        wall_destroy(&w);
    }
}

// And what the library writes, carom reads.
static void we_read_what_the_library_writes(void **state) {
    (void)state;
    int p[] = {0, 2, 4, 5}, i[] = {0, 1, 0, 1, 2};
    double v[] = {2, 0.5, 0.5, 3, 4}, mu[] = {0.3}, q[] = {-1, 0.25, 0};
    struct fclib_matrix W = {.nzmax = 5, .m = 3, .n = 3, .p = p, .i = i, .x = v, .nz = -2};
    struct fclib_info info = {.title = "three rows", .description = "d", .math_info = "m"};
    struct fclib_local local = {.W = &W, .mu = mu, .q = q, .spacedim = 3, .info = &info};
    carom_error err = {0};
    assert_int_equal(fclib_write_local(&local, "library.hdf5"), 1);
    carom_problem_list *list = carom_problems_read("library.hdf5", &err);
    if (!list) fail_msg("%s", err.text);
    double G[9];
    carom_problem_expand(carom_problems_at(list, 0), G, 3);
    assert_true(G[0] == 2 && G[1] == 0.5 && G[3] == 0.5 && G[4] == 3 && G[8] == 4 && G[2] == 0 &&
                carom_problems_at(list, 0)->block[0].mu == 0.3);
    assert_string_equal(carom_problems_title(list, 0), "three rows");
    carom_problems_destroy(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_library_accepts_our_answers),
                                       cmocka_unit_test(we_read_what_the_library_writes)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
