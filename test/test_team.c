// test_team.c: threads of one simulation: every piece of work is done once, and results have the same bits for every
// number of threads.
#include "base/team.h"
#include "contact/residual.h"
#include "model_text.h"
#include "quick.h"
#include <stdatomic.h>

enum { PIECES = 10000 };
static atomic_int done[CAROM_TEAM];
static int sum[PIECES];

static void work(void *user, int part, int parts) {
    const int by = *(int *)user;
    atomic_fetch_add(&done[part], 1);
    for (int i = part; i < PIECES; i += parts) sum[i] += by;
}

static void every_thread_does_its_part_of_every_piece(void **state) {
    (void)state;
    carom_error err = {0};
    for (int n = 1; n <= 5; ++n) {
        carom_team *team = carom_team_create(n, &err);
        assert_non_null(team);
        memset(sum, 0, sizeof sum);
        for (int i = 0; i < n; ++i) atomic_store(&done[i], 0);
        for (int by = 1; by <= 40; ++by) carom_team_run(team, work, &by);
        for (int i = 0; i < n; ++i) assert_int_equal(atomic_load(&done[i]), 40);
        for (int i = 0; i < PIECES; ++i) assert_int_equal(sum[i], 40 * 41 / 2);
        carom_team_destroy(team);
    }
    assert_null(carom_team_create(CAROM_TEAM + 1, &err));
    assert_non_null(strstr(err.text, "a run has 1 to 64"));
}

enum { STEPS = 300 };
static unsigned row[STEPS + 1][CAROM_TEAM];

// Row k + 1 of each part is the sum of row k of all of them, and its own number.
static void add_rows(void *user, int part, int parts) {
    carom_team *team = user;
    row[0][part] = 1;
    for (int k = 0; k < STEPS; ++k) {
        team->signal(team, part, k + 1);
        team->wait(team, part, k + 1);
        unsigned all = (unsigned)part;
        for (int i = 0; i < parts; ++i) all += row[k][i];
        row[k + 1][part] = all;
    }
}

// S_k+1 = n S_k + n (n - 1)/2 of the sums of rows, S_0 = n, modulo 2^32; runs begin at step 0 again.
static void parts_that_wait_see_what_others_wrote(void **state) {
    (void)state;
    carom_error err = {0};
    for (int n = 2; n <= 8; n += 3) {
        carom_team *team = carom_team_create(n, &err);
        for (int again = 0; again < 3; ++again) {
            memset(row, 0, sizeof row);
            carom_team_run(team, add_rows, team);
            unsigned right = (unsigned)n;
            for (int k = 0; k <= STEPS; ++k, right = (unsigned)n * right + (unsigned)(n * (n - 1) / 2)) {
                unsigned all = 0;
                for (int i = 0; i < n; ++i) all += row[k][i];
                assert_int_equal(all, right);
            }
        }
        carom_team_destroy(team);
    }
}

// 72 balls that touch each other roll on a plate that falls on 72 balls on a floor: the plate has more contacts than
// there are colours, with balls of all threads.
static const char *const plate =
    "carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
    "  plate: {mass: 50, inertia: [5, 5, 10], at: [0.45, 0.45, 0.15], shape: {box: [1.2, 1.2, 0.1]}}\n"
    "  top: {repeat: [8, 9], body: {mass: 0.1, inertia: [1e-4, 1e-4, 1e-4], at: [0.1*i, 0.1*j, 0.2502], velocity: "
    "[0.3, 0.1, 0], shape: {sphere: 0.05}}}\n"
    "  low: {repeat: [8, 9], body: {mass: 0.1, inertia: [1e-4, 1e-4, 1e-4], at: [0.1*i, 0.1*j, 0.0498], shape: "
    "{sphere: 0.05}}}\n"
    "shapes: {floor: {plane: [0, 0, 1], at: [0, 0, -0.0003]}}\n"
    "contacts: {all: {among: [plate, top, low, floor], friction: 0.4, restitution: 0.1}}\n";

static int compared;

// The certificate by blocks of G, which are made for an observer, and by bodies alone.
static void look(void *user, double t, const carom_problem *pb, const carom_report *report) {
    (void)t;
    if (!report) return;
    if (report->iterations > *(int *)user) *(int *)user = report->iterations;
    static double p[6000], u[6000];
    carom_problem blocks = *pb, bodies = *pb;
    int worst;
    assert_true(pb->rows && pb->parts && pb->n <= 6000);
    if (!pb->parts->diagonal) return; // blocks were made at once
    ++compared;
    memcpy(p, pb->p, (size_t)pb->n * sizeof *p);
    blocks.p = bodies.p = p, blocks.u = bodies.u = u, bodies.rows = NULL;
    assert_true(fabs(carom_residual(&bodies, &worst) - report->residual) <= carom_rounding(pb));
    p[pb->block[worst].at] += 1; // no answer
    const double wrong = carom_residual(&blocks, NULL);
    assert_true(wrong > 0.01 && fabs(wrong - carom_residual(&bodies, NULL)) <= carom_rounding(&blocks));
}

// Tight and loose: with the second no blocks of G are made where nobody observes the problems, and the bits are the
// same. A step has some thousand points at which threads wait for each other. Where other programs have the processors,
// each of them takes as long as the one that is waited for waits for a processor: some milliseconds. With sanitizers
// one and three threads alone.
static void results_do_not_depend_on_the_number_of_threads(void **state) {
    (void)state;
    static const char *const options[2][4] = {{"tol=1e-9", "accept=1e-2", "solver=bodies"},
                                              {"tol=5e-5", "accept=1e-2", "solver=bodies"}};
    static double first[145 * 13];
    carom_error err = {0};
    carom_model *m = good(plate);
    const carom_system *sys = carom_model_system(m);
    for (int k = 0; k < 8; k += BRIEF ? 2 : 1) {
        const int n = (const int[]){1, 2, 3, 8}[k % 4], loose = k / 4;
        carom_team *team = carom_team_create(n, &err);
        carom_sim_def def = carom_sim_default();
        def.system = sys;
        def.scheme = "moreau-midpoint";
        def.h = 1e-3;
        def.t_end = 1;
        def.q0 = carom_model_q0(m);
        def.v0 = carom_model_v0(m);
        def.options = options[loose];
        carom_sim *sim = carom_sim_create(&def, &err);
        if (!sim || !team) fail_msg("%s", err.text);
        int most = 0;
        carom_sim_team(sim, team);
        if (n < 3) carom_sim_watch_problems(sim, look, &most);
        for (int i = 0; i < 12; ++i)
            if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
        assert_true(loose || n >= 3 || most > 40); // more than sweeps were needed
        assert_true(!loose || compared > 0);
        if (n == 1)
            memcpy(first, carom_sim_now(sim).q, (size_t)sys->nq * sizeof *first),
                memcpy(first + sys->nq, carom_sim_now(sim).v, (size_t)sys->nv * sizeof *first);
        assert_memory_equal(first, carom_sim_now(sim).q, (size_t)sys->nq * sizeof *first);
        assert_memory_equal(first + sys->nq, carom_sim_now(sim).v, (size_t)sys->nv * sizeof *first);
        carom_sim_destroy(sim);
        carom_team_destroy(team);
    }
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_does_its_part_of_every_piece),
        cmocka_unit_test(parts_that_wait_see_what_others_wrote),
        cmocka_unit_test(results_do_not_depend_on_the_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
