// test_iterations.c: how many iterations Newton's method needs in the models of models/, what they evaluate, and how
// that is told.
#include "model_text.h"
#include "scheme/increments.h"
#include "system/system.h"
#include <carom/result.h>

#ifndef CAROM_SHIPPED
#define CAROM_SHIPPED "" // names of models/, one space each; from CMake
#endif

enum { STEPS = 400, FEWER = 100, FLIGHT = 8000 }; // small and large models; bodies in space, which have to land

static carom_sim *start(const carom_model *m, const char *scheme) {
    const carom_model_run run = carom_model_simulation(m);
    carom_error err = {0};
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m), d.scheme = scheme, d.h = run.step,
    d.t_end = fmin(run.end, (carom_model_system(m)->nv > 20 ? FEWER
                             : carom_model_system(m)->move  ? FLIGHT
                                                            : STEPS) *
                                run.step);
    d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim && !strstr(err.text, "does not support")) fail_msg("%s", err.text);
    return sim;
}

static void half_of_all_steps_need_three_iterations_or_less(void **state) {
    (void)state;
    static const char *const schemes[] = {"ggl-alpha", "ggl-midpoint", "newmark", "hht", "generalized-alpha"};
    char names[] = CAROM_SHIPPED, *rest = names;
    int runs = 0, refused = 0;
    for (char *end; *rest; rest = end) {
        end = rest + strcspn(rest, " ");
        if (*end) *end++ = 0;
        // Of 336 contacts those that stick change in every iteration: ggl-alpha takes a dozen, ggl-midpoint stops.
        if (strcmp(rest, "crawler-track") == 0) continue;
        carom_model *m = shipped_model(rest);
        for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
            carom_error err = {0};
            carom_ledger l;
            carom_sim *sim = start(m, schemes[k]);
            if (!sim) {
                ++refused;
                continue;
            }
            // The trapezoidal rule does not get over the impacts of the beam with steps of this size.
            const bool stiff = strcmp(rest, "rotating-beam") == 0 && strcmp(schemes[k], "newmark") == 0;
            if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK && !stiff)
                fail_msg("%s, %s: %s", rest, schemes[k], err.text);
            assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
            long steps = 0;
            for (int i = 0; i <= CAROM_NEWTON_COUNTED; ++i) steps += l.counts.newton_steps[i];
            assert_true(steps >= l.steps);
            // Which of twenty contacts stick takes ggl-alpha some iterations to find out.  Newmark's family leaves what
            // ds does to the directions of dw to the next iteration; forces along the stiff rod turn by much in a step.
            // Directions of friction in space lag by an iteration.
            const int most = k == 0 && strcmp(rest, "stack") == 0          ? 5
                             : k == 0 && strcmp(rest, "billiards") == 0    ? 4
                             : k >= 2 && strcmp(rest, "flexible-rod") == 0 ? 4
                                                                           : 3;
            if (!(l.counts.newton_median >= 1 && l.counts.newton_median <= most))
                fail_msg("%s, %s: median %d", rest, schemes[k], l.counts.newton_median);
            carom_sim_destroy(sim);
            ++runs;
        }
        carom_model_destroy(m);
    }
    assert_true(runs >= 17 * 5 - refused && refused <= 12);
}

// -- what is constant -----------------------------------------------------------------------------------------------

static carom_system asked; // whose functions are called
static int masses, tangents;

static carom_status count_mass(const void *m, void *w, double t, const double *q, carom_matrix M) {
    return ++masses, asked.mass(m, w, t, q, M);
}
static carom_status count_motion(const void *m, void *w, double t, const double *q, const double *v, carom_matrix M,
                                 double *f, double *g) {
    return ++masses, asked.speed->motion(m, w, t, q, v, M, f, g);
}
static carom_status count_tangent(const void *m, void *w, double t, const double *q, const double *v, carom_matrix K,
                                  carom_matrix C) {
    return ++tangents, asked.tangent(m, w, t, q, v, K, C);
}

// How often `steps` steps ask for them.
static void ask(const carom_model *m, const char *scheme, int steps) {
    carom_error err = {0};
    carom_sim_def d = carom_sim_default();
    carom_system sys = asked = *carom_model_system(m);
    carom_extensions own;
    carom_system_extend(&sys, &own);
    sys.mass = count_mass, own.speed.motion = count_motion, sys.tangent = count_tangent;
    masses = tangents = 0;
    d.system = &sys, d.scheme = scheme, d.h = 1e-3, d.t_end = steps * d.h;
    d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
    carom_sim_destroy(sim);
}

// Mass and derivatives of a linear model are constant: however many steps it flies, schemes ask for them in the first
// one alone.
static void iterations_ask_once_for_what_is_constant(void **state) {
    (void)state;
    static const char *const schemes[] = {"ggl-midpoint", "ggl-alpha", "dg-plus",
                                          "newmark",      "hht",       "generalized-alpha"};
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 10}, y: {at: 1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), "
                          "potential: 9.81*x + 5*y^2}\ncontacts: {floor: {gap: x, restitution: 0.5}}\n");
    const unsigned flags = carom_model_system(m)->flags;
    assert_true(flags & CAROM_LINEAR && flags & CAROM_CONSTANT_MASS && flags & CAROM_CONSTANT_DIRECTIONS);
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        ask(m, schemes[k], 20);
        const int masses_before = masses, tangents_before = tangents;
        ask(m, schemes[k], 400);
        if (!(tangents_before > 0 && tangents == tangents_before))
            fail_msg("%s: %d tangents in 20 steps, %d in 400", schemes[k], tangents_before, tangents);
        if (!(masses_before > 0 && masses == masses_before))
            fail_msg("%s: %d masses in 20 steps, %d in 400", schemes[k], masses_before, masses);
    }
    carom_model_destroy(m);
}

// -- what is told ---------------------------------------------------------------------------------------------------

static void the_ledger_tells_the_median_and_who_needed_many(void **state) {
    (void)state;
    carom_ledger l = {
        .steps = 10,
        .counts = {.newton = 57, .newton_median = 2, .newton_max = 31, .newton_max_t = 0.5, .newton_many = 2}};
    char text[4000] = "";
    FILE *f = tmpfile();
    assert_non_null(f);
    carom_ledger_print(f, &l, (carom_ledger_names){0});
    carom_ledger_json(f, &l, (carom_ledger_names){0});
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    assert_non_null(strstr(
        text, "newton       57 iterations, median 2, at most 31 in a step (t = 0.5); 2 steps needed more than 20"));
    assert_non_null(strstr(text, "\"median\": 2"));
    assert_non_null(strstr(text, "\"many\": 2"));
}

// Steps are counted one by one: 3 of one iteration, 1 of two, 2 of four, 1 of 25.
static void the_median_is_that_of_the_steps(void **state) {
    (void)state;
    static const int iterations[] = {1, 4, 1, 2, 25, 4, 1};
    carom_counts counts = {0};
    carom_step s = {.h = 1, .counts = &counts};
    for (size_t i = 0; i < sizeof iterations / sizeof *iterations; ++i) carom_account_newton(&s, iterations[i]);
    assert_true(counts.newton_steps[1] == 3 && counts.newton_steps[2] == 1 && counts.newton_steps[4] == 2 &&
                counts.newton_steps[25] == 1);
    carom_account_newton(&s, 1000);
    assert_int_equal(counts.newton_steps[CAROM_NEWTON_COUNTED], 1);
    assert_int_equal(counts.newton_many, 2);
    assert_int_equal(counts.newton, 1038);
}

// -- T ----------------------------------------------------------------------------------------------------------------

// q_0 (+) (x + d) and (q_0 (+) x) (+) T d are the same up to |d|^2.
static void turned_increments_are_moves_from_the_new_position(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nbodies: {b: {mass: 1, inertia: [1, 2, 3], at: [0, 0, 1], spin: [3, -1, 2]}, c: "
                          "{mass: 1, inertia: [1, 1, 1], at: [1, 0, 0], spin: [0, 0, 1]}}\n");
    const carom_system *sys = carom_model_system(m);
    const int nv = sys->nv;
    carom_step s = {.sys = sys};
    carom_arena mem = {0};
    carom_allocate_increments(&mem, sys);
    void *block = aligned_alloc(64, mem.used);
    mem = (carom_arena){.base = block, .size = mem.used};
    carom_increments t = carom_allocate_increments(&mem, sys);
    assert_true(t.on);
    double x[12], d[12], y[12], w[12], back[12], a[14], b[14], sum[12];
    assert_true(nv == 12 && sys->nq == 14);
    for (int i = 0; i < nv; ++i) x[i] = 0.7 * sin(i + 1), d[i] = 1e-5 * cos(3 * i), w[i] = cos(i);
    carom_increments_at(&t, &s, x);
    assert_true(t.ready);
    carom_increments_move(&t, y, d, nv);
    carom_add(sum, x, 1, d, nv);
    carom_move(&s, a, carom_model_q0(m), 1, sum);
    carom_move(&s, b, carom_model_q0(m), 1, x);
    carom_move(&s, b, b, 1, y);
    double without = 0;
    for (int i = 0; i < sys->nq; ++i) assert_close(a[i], b[i], 1e-9); // |d|^2 = 1e-10
    carom_move(&s, b, carom_model_q0(m), 1, x);
    carom_move(&s, b, b, 1, d);
    for (int i = 0; i < sys->nq; ++i) without = fmax(without, fabs(a[i] - b[i]));
    assert_true(without > 1e-7); // T is not 1
    carom_increments_row(&t, back, w, nv);
    assert_close(carom_dot(back, d, nv), carom_dot(w, y, nv), 1e-18);
    free(block);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_ask_once_for_what_is_constant),
        cmocka_unit_test(half_of_all_steps_need_three_iterations_or_less),
        cmocka_unit_test(the_ledger_tells_the_median_and_who_needed_many),
        cmocka_unit_test(the_median_is_that_of_the_steps),
        cmocka_unit_test(turned_increments_are_moves_from_the_new_position),
    };
    return cmocka_run_group_tests_name("iterations", tests, NULL, NULL);
}
