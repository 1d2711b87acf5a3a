// test_arguments.c: every function of the public headers with each of its pointers missing in turn.
//
// The calls are made from the headers when the test is built (arguments.awk), so that a new function is tested without
// a line here.  Each call runs in a process of its own.  The contract, carom/status.h: a missing argument ends no
// process; a function that returns a status fails with CAROM_BAD_INPUT, others return nothing, NULL, false, 0 or NaN.
// What may be missing is listed below, with the reason.
#define _GNU_SOURCE
#include "sweep/book.h"
#include <carom/carom.h>
#include <carom/implicit.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct function {
    const char *header, *name;
    int pointers;
    const char *names;         // of the pointers, one space between
    int (*call)(int missing);  // a status, or -1: it returns none
} function;

// -- exceptions -------------------------------------------------------------------------------------------------------

// Headers whose functions are called in the inner loops of schemes, solvers and elements, with arguments that carom or
// a scheme has made.
static const struct { const char *header, *reason; } inner[] = {
    {"arena.h", "allocation inside create functions: the arena is the caller's own"},
    {"matrix.h", "arithmetic of the step loop"},
    {"difference.h", "derivatives inside a step"},
    {"implicit.h", "functions of a step, for schemes"},
    {"scheme.h", "functions of a step, for schemes"},
    {"problem.h", "contact problems of a step, for solvers"},
    {"expr.h", "nodes and tapes: derivation, and evaluation in every step"},
    {"flex.h", "elements, evaluated in every step"},
    {"system.h", "functions of a step, for schemes"},
};

// Pointers that may be missing: "function argument", or "* argument" for all functions.
static const struct { const char *what, *reason; } optional[] = {
    {"* err", "the caller needs no message"},
    {"* user", "handed to a callback as it is"},
    {"carom_model_compile compiled", "not requested"},
    {"carom_model_set derived", "not requested"},
    {"carom_equilibrium_find q", "the initial state"},
    {"carom_modes_find def", "the defaults"},
    {"carom_equilibrium_find_sized q", "the initial state"},
    {"carom_modes_find_sized def", "the defaults"},
    {"carom_run_resolve_sized m", "a system without a model"},
    {"carom_compare_run_sized watch", "no observer"},
    {"carom_sweep_run_sized watch", "no observer"},
    {"carom_model_timeless by", "no parameter changes"},
    {"carom_model_write_c text", "the file holds no copy of the model"},
    {"carom_model_row gap", "needed where there are pairs of shapes"},
    {"carom_problems_add start", "zero"},
    {"carom_state_keep signals", "the system has no controllers"},
    {"carom_problems_add title", "none"},
    {"carom_record_finish why", "no reason"},
    {"carom_compare_run watch", "no observer"},
    {"carom_sweep_run watch", "no observer"},
    {"carom_variation_restitution p", "no parameters are varied"},
    {"carom_variation_laws restitution", "not requested"},
    {"carom_variation_laws tangential", "not requested"},
    {"carom_variation_laws slip", "not requested"},
    {"carom_variation_laws stick", "not requested"},
    {"carom_variation_start p", "no parameters are varied"},
};

// -- values -----------------------------------------------------------------------------------------------------------

static const char text[] = "carom: 1\nparameters: {m: 1}\ninputs: {u: 0}\ncoordinates: {x: {at: 0}, y: {at: "
                           "1}}\nenergy: {kinetic: 1/2*m*(x'^2 + y'^2), potential: 9.81*m*y}\n"
                           "forces: {x: u}\ncontacts: {ground: {gap: y, slip: x, restitution: 0.5, friction: "
                           "0.2}}\noutputs: {height: y}\ndraw: {ball: {circle: 0.1, at: [x, y]}}\n"
                           "simulation: {scheme: moreau-jean, step: 0.01, end: 1}\n";

static struct given {
    carom_error error;
    carom_model_def model_def;
    carom_model *model;
    carom_run_given run_given;
    carom_run run;
    carom_sim_def sim_def;
    carom_sim *sim;
    carom_mech *mech;
    carom_build *build;
    carom_record *record;
    carom_result *result;
    carom_sweep_def sweep_def;
    carom_sweep *sweep;
    carom_journal *book;
    carom_drawing *drawing;
    carom_variation *variation;
    carom_compare_def compare_def;
    carom_compare *compare;
    carom_functions *functions;
    carom_ledger ledger;
    carom_now now;
} given;

static double numbers[4096];

// Zeroed memory, other than that of other arguments.
static void *spare(int i) {
    static _Alignas(64) char memory[16][1 << 16];
    return memory[i % 16];
}

static void write_nowhere(void *user, const char *words, size_t length) { (void)user, (void)words, (void)length; }

#define VALUE_char "x"
#define VALUE_double (numbers)
#define VALUE_FILE stderr
#define VALUE_carom_error &given.error
#define VALUE_carom_write_text write_nowhere
#define VALUE_carom_model given.model
#define VALUE_carom_model_def &given.model_def
#define VALUE_carom_run_given &given.run_given
#define VALUE_carom_run &given.run
#define VALUE_carom_sim_def &given.sim_def
#define VALUE_carom_sim given.sim
#define VALUE_carom_mech given.mech
#define VALUE_carom_build given.build
#define VALUE_carom_record given.record
#define VALUE_carom_result given.result
#define VALUE_carom_sweep_def &given.sweep_def
#define VALUE_carom_sweep given.sweep
#define VALUE_carom_book given.book
#define VALUE_carom_drawing given.drawing
#define VALUE_carom_variation given.variation
#define VALUE_carom_compare_def &given.compare_def
#define VALUE_carom_compare given.compare
#define VALUE_carom_functions given.functions
#define VALUE_carom_system carom_model_system(given.model)
#define VALUE_carom_ledger &given.ledger
#define VALUE_carom_now &given.now

static carom_status unit_mass(void *user, double t, const double *q, double *M) {
    return (void)user, (void)t, (void)q, M[0] = 1, CAROM_OK;
}

static void give(void) {
    carom_error *err = &given.error;
    static const char *const vary[] = {"m=1:2:2", NULL}, *const observe[] = {"y", NULL},
                             *const schemes[] = {"moreau-jean", NULL};
    static const double steps[] = {0.1, 0.05};
    given.model_def = (carom_model_def){.text = text, .length = strlen(text), .file = "ball.yaml"};
    given.model = carom_model_create(&given.model_def, err);
    if (!given.model) fail_msg("%s", err->text);
    given.run_given = carom_run_nothing();
    assert_int_equal(carom_run_resolve(&given.run, given.model, &given.run_given, err), CAROM_OK);
    given.sim_def = carom_run_sim(&given.run, given.model);
    given.sim = carom_sim_create(&given.sim_def, err);
    given.mech = carom_mech_read(text, strlen(text), "ball.yaml", err);
    given.build = carom_build_create("built");
    carom_record_def record = carom_record_default();
    record.model = given.model, record.sim = given.sim, record.step = 0.01, record.end = 1, record.every = 1;
    record.memory = true;
    carom_record *done = carom_record_create(&record, err); // becomes the result
    if (!done || carom_record_finish(done, "done", NULL, err) != CAROM_OK) fail_msg("%s", err->text);
    given.result = carom_record_result(done, err);
    carom_record_destroy(done);
    given.record = carom_record_create(&record, err);
    if (!given.record || !given.result) fail_msg("%s", err->text);
    given.sweep_def = carom_sweep_default();
    given.sweep_def.model = given.model_def, given.sweep_def.vary = vary, given.sweep_def.observe = observe,
    given.sweep_def.jobs = 1;
    given.sweep = carom_sweep_create(&given.sweep_def, err);
    if (!given.sweep) fail_msg("%s", err->text);
    given.book = carom_journal_create(NULL, "", 1, err);
    if (!given.book || carom_journal_bind(given.book, given.sweep, err) != CAROM_OK) fail_msg("%s", err->text);
    given.drawing = carom_drawing_create(given.model, err);
    given.variation = carom_variation_create(given.model, 0, (const int[]){0}, err);
    given.compare_def = carom_compare_default();
    given.compare_def.model = given.model, given.compare_def.schemes = schemes, given.compare_def.steps = steps,
    given.compare_def.nsteps = 2, given.compare_def.end = 0.2, given.compare_def.threads = 1;
    given.compare = carom_compare_create(&given.compare_def, err);
    if (!given.compare) fail_msg("%s", err->text);
    const carom_functions_def functions = {.n = 1, .mass = unit_mass};
    given.functions = carom_functions_create(&functions, err);
    if (!given.functions) fail_msg("%s", err->text);
    given.now = carom_sim_now(given.sim);
    if (!given.sim || !given.mech || !given.build || !given.drawing || !given.variation) fail_msg("%s", err->text);
}

// -- calls ------------------------------------------------------------------------------------------------------------

#pragma GCC diagnostic ignored "-Wnonnull"
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wincompatible-pointer-types-discards-qualifiers"
#else
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"
#endif
#include "arguments.inc"
#include "own_folder.h"

// The name of a function's argument number k, from 1.
static const char *argument(const function *f, int k, char *name) {
    const char *s = f->names;
    while (--k > 0) s = strchr(s, ' ') + 1;
    snprintf(name, 60, "%.*s", (int)strcspn(s, " "), s);
    return name;
}

static bool may_be_missing(const function *f, const char *name) {
    char all[200], one[200];
    snprintf(all, sizeof all, "* %s", name);
    snprintf(one, sizeof one, "%s %s", f->name, name);
    for (size_t i = 0; i < sizeof optional / sizeof *optional; ++i)
        if (strcmp(optional[i].what, all) == 0 || strcmp(optional[i].what, one) == 0) return true;
    return false;
}

static bool is_inner(const function *f) {
    for (size_t i = 0; i < sizeof inner / sizeof *inner; ++i)
        if (strcmp(inner[i].header, f->header) == 0) return true;
    return false;
}

enum { NO_STATUS = 100, NAMES_NOTHING = 98 };

// Its exit status: that of the function, or NO_STATUS; 1000 + a signal.
static int call(const function *f, int missing) {
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        for (int s = 1; s < 32; ++s) signal(s, SIG_DFL); // cmocka has its own
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(99);
        alarm(10);
        const int status = f->call(missing);
        if (strstr(given.error.text, "(null)")) _exit(NAMES_NOTHING);
        _exit(status < 0 ? NO_STATUS : status);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void missing_arguments_are_errors(void **state) {
    (void)state;
    int faults = 0, calls = 0;
    give();
    for (const function *f = functions; f->name; ++f) {
        char name[60];
        for (int k = 1; k <= f->pointers && !is_inner(f); ++k, ++calls) {
            const bool optional_one = may_be_missing(f, argument(f, k, name));
            const int status = call(f, k);
            const char *what = status >= 1000                        ? "ends the process"
                               : status == NAMES_NOTHING             ? "is answered with (null)"
                               : !optional_one && status == CAROM_OK ? "is CAROM_OK"
                                                                     : NULL;
            if (!what) continue;
            print_message("%s %s %s: a call without it %s (%d)\n", f->header, f->name, name, what, status);
            ++faults;
        }
    }
    print_message("%d calls\n", calls);
    assert_true(calls > 300); // the headers were read
    assert_int_equal(faults, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(missing_arguments_are_errors)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder); // functions write files called VALUE_char
}
