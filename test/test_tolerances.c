// test_tolerances.c: comparisons of adaptive runs: tolerances instead of steps, alone and beside them.
#define _DEFAULT_SOURCE // mkdtemp, usleep
#include "model_text.h"
#include "own_folder.h"
#include "program.h"
#include "study/trajectory.h"
#include <carom/study.h>
#include <fcntl.h>
#include <signal.h>

enum { MOST = 32 };

#define LIST(...) (const char *const[]) { __VA_ARGS__, NULL }
#define NUMBERS(...) (const double[]){__VA_ARGS__}, (int)(sizeof(double[]){__VA_ARGS__} / sizeof(double))

typedef struct outcome {
    int n;
    carom_compare_row row[MOST];
    int scheme[MOST]; // index of the row's scheme
    double order[MOST];
} outcome;

static carom_compare_def define(const carom_model *m, const char *const *schemes, const double *steps, int nsteps,
                                const double *tolerances, int n) {
    carom_compare_def def = carom_compare_default();
    def.model = m;
    def.schemes = schemes;
    def.steps = steps;
    def.nsteps = nsteps;
    def.tolerances = tolerances;
    def.ntolerances = n;
    def.end = carom_model_simulation(m).end;
    return def;
}

// All rows, scheme by scheme; texts are gone with the comparison.
static outcome compare(const carom_compare_def *def) {
    carom_error err = {0};
    outcome o = {0};
    carom_compare *c = carom_compare_create(def, &err);
    if (!c) fail_msg("%s", err.text);
    if (carom_compare_run(c, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    for (int i = 0; i < carom_compare_schemes(c); ++i) {
        o.order[i] = carom_compare_order(c, i);
        for (int k = 0; k < carom_compare_runs(c, i); ++k) {
            o.scheme[o.n] = i;
            o.row[o.n] = carom_compare_row_at(c, i, k);
            if (o.row[o.n].failure) fail_msg("%s", o.row[o.n].failure);
            ++o.n;
        }
    }
    carom_compare_destroy(c);
    return o;
}

// -- what a tolerance run is ----------------------------------------------------------------------------------

// rtol=X and atol in the proportion of the defaults, 1e-6/1e-4 for step doubling: bit for bit the run that these
// options make.
static void a_tolerance_sets_rtol_and_atol_in_proportion(void **state) {
    (void)state;
    carom_model *m = shipped_model("impacting-oscillator");
    carom_compare_def by = define(m, LIST("moreau-jean:adaptive=on"), NULL, 0, NUMBERS(1e-3, 1e-5));
    by.first = 1e-2;
    const outcome a = compare(&by);
    carom_compare_def with = define(m, LIST("moreau-jean:adaptive=on:rtol=1e-5:atol=1e-7"), NUMBERS(1e-2), NULL, 0);
    const outcome b = compare(&with);
    assert_true(a.row[1].error == b.row[0].error && a.row[1].steps == b.row[0].steps &&
                a.row[1].rejected == b.row[0].rejected);
    assert_true(isnan(a.row[1].step) && a.row[1].tolerance == 1e-5 && isnan(b.row[0].tolerance));
    // An atol that is given stays.
    by = define(m, LIST("moreau-jean:atol=1e-3"), NULL, 0, NUMBERS(1e-5));
    by.first = 1e-2;
    with = define(m, LIST("moreau-jean:adaptive=on:rtol=1e-5:atol=1e-3"), NUMBERS(1e-2), NULL, 0);
    assert_true(compare(&by).row[0].error == compare(&with).row[0].error);
    carom_model_destroy(m);
}

// With steps and tolerances each scheme runs as it is written; rows tell which is which.
static void steps_and_tolerances_go_to_the_schemes_they_are_for(void **state) {
    (void)state;
    carom_model *m = shipped_model("impacting-oscillator");
    const carom_compare_def def =
        define(m, LIST("moreau-jean", "moreau-jean:adaptive=on", "splitting", "splitting:adaptive=on", "event-driven"),
               NUMBERS(1e-2, 2e-2), NUMBERS(1e-3, 1e-4, 1e-5));
    const outcome o = compare(&def);
    const int runs[] = {2, 3, 2, 3, 3};
    int at = 0;
    for (int i = 0; i < 5; ++i)
        for (int k = 0; k < runs[i]; ++k, ++at) {
            const bool adaptive = runs[i] == 3;
            assert_int_equal(o.scheme[at], i);
            assert_true(adaptive ? isnan(o.row[at].step) : o.row[at].step == (k ? 1e-2 : 2e-2));
            if (adaptive) assert_close(o.row[at].tolerance, 1e-3 * pow(0.1, k), 1e-18);
            else assert_true(isnan(o.row[at].tolerance));
        }
    assert_int_equal(o.n, at);
    carom_model_destroy(m);
}

// Local errors of at most the tolerance, over 10 s, in N steps: 10 N X bounds the sum of |e| h where errors do not
// grow, and they halve at every impact.  A hundredth of the tolerance makes less than a tenth of the error.
static void errors_follow_the_tolerance(void **state) {
    (void)state;
    carom_model *m = shipped_model("impacting-oscillator");
    const carom_compare_def def =
        define(m, LIST("moreau-jean", "moreau-dissipative", "half-explicit", "mixed", "splitting", "event-driven"),
               NULL, 0, NUMBERS(1e-4, 1e-6, 1e-8));
    const outcome o = compare(&def);
    assert_int_equal(o.n, 18);
    for (int i = 0; i < 18; ++i) {
        assert_true(o.row[i].error < 10 * (double)o.row[i].steps * o.row[i].tolerance);
        if (i % 3 > 0) assert_true(o.row[i].error < 0.1 * o.row[i - 1].error && o.row[i].steps > o.row[i - 1].steps);
    }
    carom_model_destroy(m);
}

// The order of a row is the slope over the mean step, so that it can be set beside that of equal steps.
static void orders_are_over_the_mean_step(void **state) {
    (void)state;
    carom_model *m = shipped_model("impacting-oscillator");
    carom_compare_def def =
        define(m, LIST("moreau-jean:theta=0.5", "half-explicit-rk:order=3"), NULL, 0, NUMBERS(1e-9, 1e-10, 1e-11));
    def.end = 1.5; // smooth until pi/2
    const outcome o = compare(&def);
    for (int i = 0; i < 2; ++i) {
        const carom_compare_row *r = o.row + 3 * i;
        assert_true(isnan(r[0].order));
        for (int k = 1; k < 3; ++k)
            assert_close(r[k].order,
                         log(r[k - 1].error / r[k].error) / log((double)r[k].steps / (double)r[k - 1].steps), 1e-12);
        // The schemes' own orders, a little above: some ten steps of a hundred and more go into doubling the first one.
        assert_close(o.order[i], i == 0 ? 2 : 3, 0.15);
    }
    carom_model_destroy(m);
}

// -- steps inside steps ---------------------------------------------------------------------------------------

typedef struct watched { long n; double t, last; bool rising; } watched;

static carom_status see(void *user, double t, const double *q, const double *v) {
    watched *w = user;
    w->rising = w->rising && t >= w->t && isfinite(q[0]) && isfinite(v[0]);
    w->t = t;
    ++w->n;
    return w->t > w->last ? CAROM_STOPPED : CAROM_OK;
}

static void inner_steps_are_told_and_counted(void **state) {
    (void)state;
    carom_model *m = shipped_model("impacting-oscillator");
    const struct {
        const char *scheme, *const *options;
    } by[] = {{"event-driven", NULL}, {"splitting", LIST("adaptive=on")}};
    for (int i = 0; i < 2; ++i) {
        carom_error err = {0};
        carom_ledger l;
        watched w = {.rising = true, .last = INFINITY};
        carom_sim *sim = model_sim(m, by[i].scheme, by[i].options, 10, 10);
        carom_sim_watch_inner(sim, see, &w);
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_int_equal(l.steps, 1);
        assert_int_equal(l.counts.substeps, w.n);
        assert_true(w.n > 20 && w.rising);
        assert_close(w.t, 10, 1e-12);
        carom_sim_destroy(sim);
        // Who watches can end the run.
        w = (watched){.rising = true, .last = 3};
        sim = model_sim(m, by[i].scheme, by[i].options, 10, 10);
        carom_sim_watch_inner(sim, see, &w);
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_STOPPED);
        assert_true(w.t > 3 && w.t < 5);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Equal steps have nothing inside.
static void equal_steps_have_no_inner_ones(void **state) {
    (void)state;
    carom_model *m = shipped_model("impacting-oscillator");
    carom_sim *sim = model_sim(m, "splitting", NULL, 0.1, 10);
    carom_error err = {0};
    carom_ledger l;
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_int_equal(l.counts.substeps, 0);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Jumps that are told at the end of a long step belong to the nodes where they happened.  Nodes of event-driven are at
// most 0.2 apart; lines between them are off by at most 0.2^2/8 of |q'''| <= 1, and the parabola before an impact by as
// much.  A jump that is not seen would be off by its half, 0.19 at least.
static void graphs_jump_where_the_events_are(void **state) {
    (void)state;
    carom_model *m = shipped_model("impacting-oscillator");
    carom_compare_def def = define(m, LIST("event-driven", "splitting:adaptive=on"), NULL, 0, NUMBERS(1e-9));
    def.of = LIST("q'");
    def.norm = CAROM_NORM_HAUSDORFF;
    const outcome o = compare(&def);
    for (int i = 0; i < 2; ++i) assert_true(o.row[i].error > 0 && o.row[i].error < 0.02);
    carom_model_destroy(m);
}

// With friction a contact that slides slower than the integrator knows must stop, or stick and slip take turns for
// ever.
static void event_driven_takes_loose_tolerances(void **state) {
    (void)state;
    carom_model *m = shipped_model("slider-crank");
    carom_compare_def def = define(m, LIST("event-driven"), NULL, 0, NUMBERS(1e-3, 1e-5, 1e-7, 1e-9));
    def.end = 0.05;
    def.reference = "event-driven:1e-4";
    const outcome o = compare(&def);
    // of angles of order 1: measured 0.06, 0.0008, 0.6 and 1.8 of the tolerance, which is one of single steps
    for (int k = 0; k < 4; ++k) assert_true(o.row[k].error < (k < 3 ? 1 : 2) * o.row[k].tolerance);
    const char *const loose[] = {"rtol=1e-3", "rtol=1e-5", "rtol=1e-7", "rtol=1e-9"};
    for (int i = 0; i < 4; ++i) { // the same with outputs every millisecond
        carom_error err = {0};
        carom_sim *sim = model_sim(m, "event-driven", LIST(loose[i]), 1e-3, 0.05);
        if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Flights of the ball are parabolas, which every step of event-driven meets exactly, and impacts are nodes.  The error
// of a loose tolerance, a contact closed at 10 rtol = 0.1 of the largest jump of its speed, 3, lies between: bounces
// that are left out, up to 0.3^2/4 high.
static void what_happens_between_impacts_is_seen(void **state) {
    (void)state;
    carom_model *m = shipped_model("bouncing-ball");
    carom_compare_def def = define(m, LIST("event-driven"), NULL, 0, NUMBERS(1e-2));
    def.norm = CAROM_NORM_LINF;
    const outcome o = compare(&def);
    assert_true(o.row[0].error > 1e-3 && o.row[0].error < 0.0225);
    carom_model_destroy(m);
}

// -- references -----------------------------------------------------------------------------------------------

static void a_reference_may_be_adaptive(void **state) {
    (void)state;
    carom_model *m = shipped_model("impacting-oscillator");
    carom_compare_def def = define(m, LIST("moreau-jean"), NUMBERS(1e-2, 1e-3), NULL, 0);
    const outcome exact = compare(&def);
    def.reference = "mixed:adaptive=on:rtol=1e-8:atol=1e-10:1e-2";
    const outcome other = compare(&def);
    // Steps are some 0.05 long; cubics between them are off by 0.05^4/384 = 2e-8 at most, over 10 s.
    for (int k = 0; k < 2; ++k) assert_close(other.row[k].error, exact.row[k].error, 1e-6);
    carom_model_destroy(m);
}

static void without_an_exact_solution_a_tighter_tolerance_is_the_reference(void **state) {
    (void)state;
    carom_model *m = shipped_model("slider-crank");
    carom_compare_def def =
        define(m, LIST("splitting:adaptive=on", "half-explicit:adaptive=on"), NULL, 0, NUMBERS(1e-4, 1e-6));
    def.end = 0.02;
    carom_error err = {0};
    carom_compare *c = carom_compare_create(&def, &err);
    if (!c) fail_msg("%s", err.text);
    assert_string_equal(carom_compare_reference(c, NULL), "splitting:adaptive=on, tolerance 1e-08");
    assert_int_equal(carom_compare_run(c, NULL, &err), CAROM_OK);
    for (int i = 0; i < 2; ++i) {
        const carom_compare_row loose = carom_compare_row_at(c, i, 0), tight = carom_compare_row_at(c, i, 1);
        assert_null(tight.failure);
        assert_true(tight.error > 0 && tight.error < loose.error);
    }
    carom_compare_destroy(c);
    carom_model_destroy(m);
}

// -- threads, memory, stopping --------------------------------------------------------------------------------

static void threads_change_nothing(void **state) {
    (void)state;
    carom_model *m = shipped_model("slider-crank");
    carom_compare_def def = define(m, LIST("event-driven", "half-explicit", "splitting:adaptive=on"),
                                   NUMBERS(1e-4, 3e-5), NUMBERS(1e-10, 1e-11));
    def.end = 0.02;
    def.reference = "event-driven:1e-5";
    const outcome one = compare(&def);
    def.threads = 3;
    const outcome three = compare(&def);
    assert_int_equal(one.n, 6);
    for (int i = 0; i < 6; ++i)
        assert_true(one.row[i].error == three.row[i].error && one.row[i].steps == three.row[i].steps);
    carom_model_destroy(m);
}

// How long an adaptive run becomes is not known beforehand: what does not fit fails in its row, the others stand.
static void a_run_that_outgrows_the_memory_fails_alone(void **state) {
    (void)state;
    carom_model *m = shipped_model("impacting-oscillator");
    carom_compare_def def = define(m, LIST("moreau-jean"), NULL, 0, NUMBERS(1e-3, 1e-10));
    def.memory = carom_trajectory_bytes(1, 3000); // the first takes 150 steps, the second 12000
    carom_error err = {0};
    carom_compare *c = carom_compare_create(&def, &err);
    if (!c) fail_msg("%s", err.text);
    assert_int_equal(carom_compare_run(c, NULL, &err), CAROM_OK);
    assert_null(carom_compare_row_at(c, 0, 0).failure);
    assert_non_null(carom_compare_row_at(c, 0, 1).failure);
    assert_non_null(strstr(carom_compare_row_at(c, 0, 1).failure, "GB"));
    assert_true(isnan(carom_compare_row_at(c, 0, 1).error));
    carom_compare_destroy(c);
    carom_model_destroy(m);
}

static bool stop_at_once(void *user, double fraction) {
    (void)user;
    (void)fraction;
    return false;
}

// A few steps of event-driven make the whole run: it stops inside one.
static void a_run_in_few_steps_can_be_stopped(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: 1/2*x'^2, potential: 1/2*x^2}\nexact: {x: cos(t)}\n");
    carom_compare_def def = define(m, LIST("event-driven:most-steps=1e9"), NULL, 0, NUMBERS(1e-12));
    def.end = 1e7;
    carom_error err = {0};
    carom_compare *c = carom_compare_create(&def, &err);
    if (!c) fail_msg("%s", err.text);
    assert_int_equal(carom_compare_run(c, &(carom_compare_watch){.tick = stop_at_once}, &err), CAROM_STOPPED);
    assert_false(carom_compare_row_at(c, 0, 0).done);
    carom_compare_destroy(c);
    carom_model_destroy(m);
}

// -- what is wrong is said before anything runs -----------------------------------------------------------------

static void wrong_tolerances_are_refused(void **state) {
    (void)state;
    carom_model *m = shipped_model("bouncing-ball");
    const struct { const char *scheme; double step, tolerance; const char *says; } wrong[] = {
        {"half-explicit", 0, -1, "tolerance must be positive"},
        {"half-explicit", 0, 2, "rtol"},
        {"event-driven", 0, 0.1, "event-driven, tolerance 0.1: option rtol"},
        {"half-explicit:rtol=1e-3", 0, 1e-3, "rtol is given as an option and by the tolerances"},
        {"half-explicit:adaptive=off", 0, 1e-3, "adaptive=off"},
        {"schatzman-paoli", 0, 1e-3, "does not support adaptive step sizes"},
        {"half-explicit", 1e-3, 1e-3, "SCHEME:adaptive=on"},
        {"event-driven", 1e-3, 1e-3, "none of the schemes takes the step sizes"},
        {"half-explicit", 0, 0, "no step sizes and no tolerances"},
        {"nobody", 0, 1e-3, "unknown scheme 'nobody'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        carom_error err = {0};
        const carom_compare_def def = define(m, LIST(wrong[i].scheme), &wrong[i].step, wrong[i].step != 0,
                                             &wrong[i].tolerance, wrong[i].tolerance != 0);
        assert_null(carom_compare_create(&def, &err));
        if (!strstr(err.text, wrong[i].says)) fail_msg("'%s' is not in: %s", wrong[i].says, err.text);
    }
    carom_model_destroy(m);
}

// -- the program ----------------------------------------------------------------------------------------------

#define MODELS CAROM_SOURCE_DIR "/models/"

static void the_program_shows_both_kinds_in_one_table_file_and_picture(void **state) {
    (void)state;
    assert_int_equal(
        carom("compare " MODELS
              "impacting-oscillator.yaml --schemes moreau-jean,moreau-jean:adaptive=on,event-driven --steps 1e-2,1e-3 "
              "--tolerances 1e-3,1e-4 --csv rows.csv --plot picture.svg"),
        0);
    assert_string_equal(complaints, "");
    assert_says(out, "order      steps  rejected");
    assert_says(out, "moreau-jean              0.001");
    assert_says(out, "moreau-jean:adaptive=on  tol 0.001");
    assert_says(out, "event-driven             tol 0.0001");
    assert_says(out, "over the mean step");
    char text[1 << 16];
    get("rows.csv", text, sizeof text);
    assert_says(text, "scheme,step,error,order,steps,seconds,us_per_step,tolerance,rejected\nmoreau-jean,0.01,");
    assert_says(text, "\nmoreau-jean:adaptive=on,,"); // no step
    get("picture.svg", text, sizeof text);
    assert_says(text, "number of steps");
    assert_says(text, "moreau-jean:adaptive=on");
    // Alone, tolerances make every scheme adaptive.
    assert_int_equal(
        carom("compare " MODELS "impacting-oscillator.yaml --schemes half-explicit,splitting --tolerances 1e-3"), 0);
    assert_says(out, "half-explicit  tol 0.001");
    assert_says(out, "splitting      tol 0.001");
}

static void wrong_usage_of_the_program_is_status_2(void **state) {
    (void)state;
    static const struct { const char *arguments, *says; } wrong[] = {
        {MODELS "slider-crank.yaml --tolerances 1e-3,x", "--tolerances: expected a positive number, got 'x'"},
        {MODELS "slider-crank.yaml --tolerances ,", "--tolerances: no number"},
        {MODELS "slider-crank.yaml --schemes half-explicit --steps 1e-4 --tolerances 1e-3", "SCHEME:adaptive=on"},
        {MODELS "slider-crank.yaml --tolerance 1e-3", "did you mean --tolerances?"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_int_equal(carom("compare %s", wrong[i].arguments), 2);
        assert_says(complaints, wrong[i].says);
        assert_string_equal(out, "");
    }
}

static void an_interrupted_comparison_keeps_what_is_done(void **state) {
    (void)state;
    char csv[160], text[4096] = "", to_name[160];
    snprintf(csv, sizeof csv, "%s/partial.csv", folder);
    snprintf(to_name, sizeof to_name, "%s/partial.txt", folder);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const int to = open(to_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(to, 1);
        dup2(to, 2);
        execl(CAROM_BINARY_DIR "/carom", "carom", "compare", MODELS "impacting-oscillator.yaml", "--schemes",
              "moreau-jean:theta=1", "--tolerances", "1e-3,1e-14", "--option", "atol=1e-14", "--csv", csv, "--threads",
              "1", (char *)NULL);
        _exit(99);
    }
    for (int i = 0; i < 2000 && !strstr(text, ",0.001,"); ++i) {
        usleep(10000);
        if (access("partial.csv", R_OK) == 0) get("partial.csv", text, sizeof text);
    }
    kill(pid, SIGINT);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    get("partial.txt", out, sizeof out);
    assert_says(out, "moreau-jean:theta=1  tol 0.001");
    assert_says(out, "interrupted");
    assert_null(strstr(out, "tol 1e-14"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tolerance_sets_rtol_and_atol_in_proportion),
        cmocka_unit_test(steps_and_tolerances_go_to_the_schemes_they_are_for),
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(orders_are_over_the_mean_step),
        cmocka_unit_test(inner_steps_are_told_and_counted),
        cmocka_unit_test(equal_steps_have_no_inner_ones),
        cmocka_unit_test(graphs_jump_where_the_events_are),
        cmocka_unit_test(event_driven_takes_loose_tolerances),
        cmocka_unit_test(what_happens_between_impacts_is_seen),
        cmocka_unit_test(a_reference_may_be_adaptive),
        cmocka_unit_test(without_an_exact_solution_a_tighter_tolerance_is_the_reference),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_run_that_outgrows_the_memory_fails_alone),
        cmocka_unit_test(a_run_in_few_steps_can_be_stopped),
        cmocka_unit_test(wrong_tolerances_are_refused),
        cmocka_unit_test(the_program_shows_both_kinds_in_one_table_file_and_picture),
        cmocka_unit_test(wrong_usage_of_the_program_is_status_2),
        cmocka_unit_test(an_interrupted_comparison_keeps_what_is_done),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
