// test_survivors.c: faults that were once planted in the sources and that no test noticed; here each is noticed.
#define _DEFAULT_SOURCE // mkdtemp
#include "io/publish.h"
#include "dynamics/names.h"
#include "io/recording.h"
#include "io/sides.h"
#include "io/table.h"
#include "mech/mech.h"
#include "problems.h"
#include "result_rig.h"
#include "sim/sim.h"
#include "solver/local.h"
#include "sweep/book.h"
#include <carom/build.h>
#include <carom/compile.h>
#include <carom/draw.h>
#include <carom/dynamics.h>
#include <carom/event.h>
#include <carom/problem_file.h>
#include <carom/study.h>
#include <carom/sweep.h>
#include <carom/variation.h>
#include <fcntl.h>
#include <hdf5.h>

static void copy(const char *from, const char *to) {
    char command[400];
    snprintf(command, sizeof command, "cp %s %s", path(from), path(to));
    assert_int_equal(system(command), 0);
}

// A run that goes on and takes no step adds no row: the step of the last row was restored.
static void going_on_without_a_step_adds_no_row(void **state) {
    (void)state;
    rig g = make(ball, "moreau-midpoint", "still.h5", 1e-3, 1, 1, 0, false);
    g.stop = 5;
    finish(&g);
    g = make(ball, "moreau-midpoint", "still.h5", 1e-3, 1, 1, 0, true);
    carom_error err = {0};
    assert_int_equal(carom_record_finish(g.r, "interrupted", NULL, &err), CAROM_OK);
    carom_record_destroy(g.r);
    carom_sim_destroy(g.sim);
    carom_model_destroy(g.m);
    carom_result *r = load("still.h5");
    assert_int_equal(carom_result_rows(r), 6);
    carom_result_close(r);
}

// -- the saved state ------------------------------------------------------------------------------------

// Change a byte of the saved states: bit 0 of `slots` means slot 0, bit 1 slot 1.
static void damage_state(const char *name, unsigned slots, size_t from_end) {
    const hid_t file = H5Fopen(path(name), H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(file, "state", H5P_DEFAULT),
                space = H5Dget_space(set);
    hsize_t size[2];
    assert_int_equal(H5Sget_simple_extent_dims(space, size, NULL), 2);
    unsigned char *bytes = malloc((size_t)(size[0] * size[1]));
    assert_true(H5Dread(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
    for (unsigned i = 0; i < 2; ++i)
        if (slots >> i & 1) bytes[(i + 1) * size[1] - from_end] ^= 1;
    assert_true(H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
    free(bytes);
    H5Sclose(space), H5Dclose(set), H5Fclose(file);
}

// NULL: the run goes on, to the same bits; else why not.
static const char *resume(const char *name) {
    static carom_error err;
    rig g = make(ball, "moreau-midpoint", "mine.h5", 1e-3, 0.5, 1, 0, false);
    carom_record_def rd = {
        .model = g.m, .sim = g.sim, .file = path(name), .step = 1e-3, .end = 0.5, .text = ball, .length = strlen(ball)};
    err = (carom_error){0};
    carom_record *r = carom_record_resume(&rd, &err);
    const bool good = r != NULL;
    carom_record_destroy(r);
    finish(&g);
    if (!good) return err.text;
    g = make(ball, "moreau-midpoint", name, 1e-3, 0.5, 1, 0, true);
    finish(&g);
    assert_same("whole.h5", name);
    return NULL;
}

static void a_damaged_state_is_not_taken(void **state) {
    (void)state;
    simulate(ball, "moreau-midpoint", "whole.h5", 1e-3, 0.5, 1, 0);
    rig g = make(ball, "moreau-midpoint", "half.h5", 1e-3, 0.5, 1, 0, false);
    g.stop = 200;
    finish(&g);
    for (unsigned slots = 0; slots < 4; ++slots)
        for (size_t from_end = 1; from_end < 400; from_end += 57) {
            copy("half.h5", "bad.h5");
            damage_state("bad.h5", slots, from_end);
            const char *why = resume("bad.h5");
            if (slots == 3 ? !why || !strstr(why, "contains no state to resume from") : why != NULL)
                fail_msg("slots %u: %s", slots, why ? why : "goes on");
        }
}

static void put_text(const char *name, const char *attribute, const char *text) {
    const hid_t file = H5Fopen(path(name), H5F_ACC_RDWR, H5P_DEFAULT), run = H5Gopen2(file, "run", H5P_DEFAULT),
                type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text));
    H5Adelete(run, attribute);
    const hid_t space = H5Screate(H5S_SCALAR), a = H5Acreate2(run, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(a, type, text) >= 0);
    H5Aclose(a), H5Sclose(space), H5Tclose(type), H5Gclose(run), H5Fclose(file);
}

// What the file says of its run belongs to its state.
static void a_state_goes_with_its_own_run_only(void **state) {
    (void)state;
    static const struct { const char *name, *text, *why; } edits[] = {
        {"set", "g=1.62", "model, parameters or options were changed"},
        {"options_given", "tol=1e-3", "model, parameters or options were changed"},
        {"version", "0.0.1", "was computed by carom 0.0.1"},
        {"state_format", "2", "has the format of another release (0, this carom reads 5); begin at its last row"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; ++i) {
        copy("half.h5", "edited.h5");
        put_text("edited.h5", edits[i].name, edits[i].text);
        const char *why = resume("edited.h5");
        if (!why || !strstr(why, edits[i].why)) fail_msg("%s: %s", edits[i].name, why ? why : "goes on");
    }
}

static carom_sim *sim_of(const char *text, carom_model **m) {
    carom_error err = {0};
    const carom_model_def md = {.text = text, .length = strlen(text), .file = "model.yaml"};
    *m = carom_model_create(&md, &err);
    if (!*m) fail_msg("%s", err.text);
    carom_sim_def sd = carom_sim_default();
    sd.system = carom_model_system(*m);
    sd.h = 1e-3, sd.t_end = 1;
    sd.q0 = carom_model_q0(*m), sd.v0 = carom_model_v0(*m);
    carom_sim *sim = carom_sim_create(&sd, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

// What counts steps does not overflow: a contact that has reacted as often as its counter can tell is closed, and a
// forged state that counts more than there can be, or less than nothing, is refused.
static void counts_stay_in_range(void **state) {
    (void)state;
    carom_model *m;
    carom_sim *sim = sim_of(
        "carom: 1\ncoordinates: {y: 0}\nenergy: {kinetic: y'^2/2, potential: 10*y}\ncontacts: {floor: {gap: y}}\n", &m);
    carom_error err = {0};
    for (int i = 0; i < 5; ++i) assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
    assert_true(sim->memory[0].reacting > 0 && sim->memory[0].closed);
    sim->memory[0].reacting = SCHAR_MAX, sim->memory[0].closed = 0;
    assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
    assert_true(sim->memory[0].reacting > 0 && sim->memory[0].closed);
    size_t size;
    const void *now = carom_sim_state(sim, &size);
    carom_kept *k = test_malloc(size);
    long *const counts[] = {&k->n, &k->busy, &k->ledger.impacts, &k->ledger.counts.problems,
                            &k->ledger.counts.newton_steps[7]};
    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; ++i) {
        memcpy(k, now, size);
        assert_int_equal(carom_sim_restore(sim, k, size, &err), CAROM_OK);
        *counts[i / 2] = i % 2 ? LONG_MAX : -1;
        assert_int_equal(carom_sim_restore(sim, k, size, &err), CAROM_BAD_INPUT);
    }
    test_free(k);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A state of another friction or restitution is refused.
static void the_stamp_knows_the_laws_of_contacts(void **state) {
    (void)state;
    static const char form[] =
        "carom: 1\ncoordinates: {x: 0, y: 1}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 9.81*y}\n"
        "contacts: {c: {gap: y, slip: x, restitution: %s, friction: %s, tangential restitution: %s%s}}\n";
    static const char *const laws[][4] = {{"0.5", "0.3", "0", ""},
                                          {"0.5", "0.4", "0", ""},
                                          {"0.6", "0.3", "0", ""},
                                          {"0.5", "0.3", "0.1", ""},
                                          {"0.5", "0.3", "0", ", impact law: poisson"},
                                          {"0.5", "0.3", "0", ", impact law: energetic"},
                                          {"0.5", "0.3", "0", ", impact order: sequential"}};
    enum { LAWS = sizeof laws / sizeof *laws, SIMS = LAWS + 1 }; // the last is like the first
    carom_model *m[SIMS];
    carom_sim *sim[SIMS];
    for (int i = 0; i < SIMS; ++i) {
        char text[400];
        snprintf(text, sizeof text, form, laws[i % LAWS][0], laws[i % LAWS][1], laws[i % LAWS][2], laws[i % LAWS][3]);
        sim[i] = sim_of(text, &m[i]);
    }
    size_t bytes = 0;
    carom_error err;
    const void *saved = carom_sim_state(sim[0], &bytes);
    for (int i = 1; i < SIMS; ++i)
        assert_int_equal(carom_sim_restore(sim[i], saved, bytes, &err), i < LAWS ? CAROM_BAD_INPUT : CAROM_OK);
    for (int i = 0; i < SIMS; ++i) carom_sim_destroy(sim[i]), carom_model_destroy(m[i]);
}

// Between commits, and between the calls of a reader, nobody holds the file: others need not wait.
static void locks_are_given_back(void **state) {
    (void)state;
    carom_error err = {0};
    rig g = make(ball, "moreau-midpoint", "locked.h5", 1e-2, 1, 1, 0, false);
    const int fd = open(path("locked.h5"), O_RDWR);
    double x[10];
    assert_true(fd >= 0);
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(carom_record_advance(g.r, 20, 0, &err), CAROM_OK);
        assert_int_equal(carom_record_flush(g.r, &err), CAROM_OK);
        assert_true(file_lock(fd, FILE_COMMIT, F_WRLCK, 0) && file_lock(fd, FILE_COMMIT, F_UNLCK, 0));
        carom_result *r = load("locked.h5");
        for (int k = 0; k < 2; ++k) {
            assert_true(file_lock(fd, FILE_COMMIT, F_WRLCK, 0) && file_lock(fd, FILE_COMMIT, F_UNLCK, 0));
            assert_int_equal(carom_result_read(r, 1, 0, 10, x, &err), CAROM_OK);
        }
        carom_result_close(r);
        assert_false(file_lock(fd, FILE_WRITER, F_WRLCK, 0)); // the run has it
    }
    finish(&g);
    assert_true(file_lock(fd, FILE_WRITER, F_WRLCK, 0));
    close(fd);
}

// Steps that a controller makes irregular are not counted beforehand: where nothing is said there are 2000 intervals of
// equal time, else every n-th step has a row, and the last.
static void irregular_steps_have_2000_intervals(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: x'^2/2}\nforces: {x: "
                               "0*u}\ncontrollers: {c: {sample: 0.0301, outputs: {u: x}}}\n";
    for (long every = 0; every <= 3; every += 3) {
        simulate(text, "moreau-midpoint", "irregular.csv", 1e-3, 10, every, 0);
        carom_result *r = load("irregular.csv");
        carom_error err = {0};
        const long rows = carom_result_rows(r);
        double *t = test_malloc((size_t)rows * sizeof *t);
        assert_int_equal(carom_result_read(r, 0, 0, rows, t, &err), CAROM_OK);
        if (every == 0) assert_int_equal(rows, 2001);
        else assert_true(rows > 3300 && rows < 3500); // 31 steps in each of 332 samples, and one after another behind
                                                      // the last
        for (long i = 0; every == 0 && i < rows; ++i)
            assert_true(t[i] >= 0.005 * (double)i - 1e-9 && t[i] < 0.005 * (double)i + 1e-3);
        assert_true(t[rows - 1] == 10);
        test_free(t);
        carom_result_close(r);
    }
}

// Two models whose states have the same size; the mass of one varies.
static void the_stamp_knows_the_model(void **state) {
    (void)state;
    static const char *const texts[] = {
        "carom: 1\ncoordinates: {x: 0, y: 1}\nenergy: {kinetic: 1/2*(x'^2 + y'^2)}\n",
        "carom: 1\ncoordinates: {x: 0, y: 1}\nenergy: {kinetic: 1/2*(1 + y^2)*(x'^2 + y'^2)}\n"};
    carom_model *m[2];
    carom_sim *sim[2];
    carom_error err = {0};
    size_t bytes[2];
    const void *saved[2];
    for (int i = 0; i < 2; ++i) sim[i] = sim_of(texts[i], &m[i]), saved[i] = carom_sim_state(sim[i], &bytes[i]);
    assert_int_equal(bytes[0], bytes[1]);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(carom_sim_restore(sim[i], saved[1 - i], bytes[1 - i], &err), CAROM_BAD_INPUT);
        assert_non_null(strstr(err.text, "another scheme, other options or another model"));
    }
    for (int i = 0; i < 2; ++i) carom_sim_destroy(sim[i]), carom_model_destroy(m[i]);
}

// -- text, ledger, events, certificate --------------------------------------------------------------------

static void half_a_last_line_is_left_out(void **state) {
    (void)state;
    static const struct { const char *text; long rows; } files[] = {{"t,x\n0,1\n1,2\n", 2},
                 {"\xEF\xBB\xBFt,x\n0,1\n1,2\n", 2},
                 {"t,x\n0,1\n1,2", 1},
                 {"t,x\n0,1\n1,", 1},
                 {"t,x\n0,1\n1", 1},
                 {"t,x\n0,1", 0},
                 {"t,x\n", 0}};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        FILE *f = fopen(path("half.csv"), "w");
        fputs(files[i].text, f);
        fclose(f);
        carom_result *r = load("half.csv");
        assert_int_equal(carom_result_rows(r), files[i].rows);
        assert_string_equal(carom_result_column(r, 0), "t");
        carom_result_close(r);
    }
    FILE *zero = fopen(path("zero.csv"), "w");
    fwrite("t,x\n0,1\0""5\n1,2\n", 1, 14, zero);
    fclose(zero);
    carom_error err = {0};
    assert_null(carom_result_open(path("zero.csv"), &err));
    assert_non_null(strstr(err.text, "zero.csv:2: a zero byte"));
    // The same for events; half of one that reads like a whole one, 1.5 of 1.55, is the worst.
    FILE *f = fopen(path("half.csv.events.csv"), "w");
    fputs("time,contact,kind,velocity_before,velocity_after,impulse\n0.5,wall,impact,-1,1,2\n0.7,wall,impact,-1,1,1.5",
          f);
    fclose(f);
    carom_result *r = load("half.csv");
    assert_int_equal(carom_result_event_count(r), 1);
    carom_result_close(r);
}

// The second constraint is curved and drifts, because velocities satisfy it and positions follow; the first is exact.
static void drift_names_the_constraint_that_drifts(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {z: 0, x: {at: 1, rate: 0}, y: {at: 0, rate: 1}}\nenergy: "
                               "{kinetic: 1/2*(x'^2 + y'^2 + z'^2)}\n"
                               "constraints: {still: z, circle: x^4 + y^4 - 1}\n";
    rig g = make(text, "moreau-jean", NULL, 1e-2, 1, 1, 0, false);
    carom_error err = {0};
    carom_ledger l;
    carom_ledger_names names;
    assert_int_equal(carom_record_advance(g.r, 0, 0, &err), CAROM_OK);
    assert_int_equal(carom_record_ledger(g.r, &l, &names, &err), CAROM_OK);
    assert_true(l.drift > 1e-6);
    assert_int_equal(l.drift_id, 1);
    assert_string_equal(names.drift, "circle");
    finish(&g);
}

// A ball that falls from 1: impacts accumulate at (2/g)^1/2 (1 + e)/(1 - e), also where the run of them is cut short.
static void accumulations_end_where_the_series_does(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {y: 1}\nenergy: {kinetic: 1/2*y'^2, potential: "
                               "9.81*y}\ncontacts: {c: {gap: y, restitution: 0.9}}\n";
    static const char *const options[] = {"time-tol=0.01", NULL};
    carom_error err = {0};
    const carom_model_def md = {.text = text, .length = strlen(text), .file = "model.yaml"};
    carom_model *m = carom_model_create(&md, &err);
    carom_sim_def sd = carom_sim_default();
    sd.system = carom_model_system(m);
    sd.schemes = carom_schemes(), sd.scheme = "event-driven", sd.options = options;
    sd.h = 0.1, sd.t_end = 12;
    sd.q0 = carom_model_q0(m), sd.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&sd, &err);
    if (!sim) fail_msg("%s", err.text);
    double t = NAN;
    while (!carom_sim_done(sim)) {
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents; ++i)
            if (now.events[i].kind == CAROM_ACCUMULATION) t = now.events[i].t;
    }
    assert_true(fabs(t - sqrt(2 / 9.81) * 1.9 / 0.1) < 1e-8);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static double off; // how far the answer below is from the right one

static carom_report nearly(void *work, carom_problem *pb, double tol) {
    (void)work, (void)tol;
    pb->p[0] = 1 + off;
    return (carom_report){.converged = true, .fallbacks = 3, .worst_block = 9, .solver = "another"};
}

// G p + c = p - 1 with p > 0: the residual is |p - 1|, and at most tol is good enough.
static void the_certificate_is_as_sharp_as_it_says(void **state) {
    (void)state;
    const carom_solver solver = {.name = "nearly", .laws = 1u << CAROM_UNILATERAL, .solve = nearly};
    const carom_block block = {.law = CAROM_UNILATERAL};
    const double G = 1, c = -1, tol = 1e-6, factors[] = {0, 0.5, -0.5, 0.99, 1.01, 2, -2, 10, 90, 900};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; ++i) {
        double p = 0, u = 0;
        carom_problem pb = {
            .n = 1, .nb = 1, .ld = 1, .block = &block, .G = &G, .c = &c, .symmetric = true, .p = &p, .u = &u};
        off = factors[i] * tol;
        const carom_report report = carom_solver_solve(&solver, NULL, &pb, tol);
        assert_true(report.converged == (fabs(factors[i]) <= 1));
        assert_true(fabs(report.residual - fabs(off)) < 1e-12);
        // not what the solver says of itself
        assert_true(report.fallbacks == 0 && report.worst_block <= 0 && strcmp(report.solver, "nearly") == 0);
    }
}

// -- what a caller may get wrong ------------------------------------------------------------------------------

static void missing_arguments_are_told(void **state) {
    (void)state;
    carom_error err = {0};
    carom_model *m;
    carom_sim *sim = sim_of(ball, &m);
    assert_null(carom_model_create(NULL, &err));
    assert_null(carom_model_create(&(carom_model_def){.text = NULL}, &err));
    assert_null(carom_sim_create(NULL, &err));
    assert_null(carom_sim_create(&(carom_sim_def){.system = NULL}, NULL));
    assert_null(carom_result_open(NULL, &err));
    assert_false(carom_result_probe(NULL));
    assert_null(carom_record_create(NULL, &err));
    assert_null(carom_record_resume(NULL, &err));
    const carom_record_def defs[] = {{.sim = NULL},
                                     {.sim = sim},
                                     {.sim = sim, .memory = true},
                                     {.sim = sim, .memory = true, .step = 1e-3, .end = NAN},
                                     {.sim = sim, .memory = true, .step = 1e-3, .end = 1, .dt_out = 1e-300},
                                     {.sim = sim, .memory = true, .step = 1e-3, .end = 1, .every = -1}};
    for (size_t i = 0; i < sizeof defs / sizeof *defs; ++i) {
        err = (carom_error){0};
        assert_null(carom_record_create(&defs[i], &err));
        assert_true(strlen(err.text) > 10);
    }
    assert_null(carom_record_resume(&(carom_record_def){.sim = sim, .memory = true, .step = 1e-3, .end = 1}, &err));
    assert_null(carom_scheme_find(NULL));
    assert_null(carom_solver_find(NULL));
    assert_null(carom_sweep_create(NULL, &err));
    carom_build *b = carom_build_create(NULL);
    for (int i = 0; i < 2; ++i) { // the second time there was not enough memory for a builder
        carom_build_gravity(b, 0, 0, -1);
        carom_build_parameter(b, NULL, 1);
        carom_build_planar(b, NULL), carom_build_spatial(b, NULL), carom_build_moving(b, NULL);
        carom_build_point(b, (carom_body){0}, NULL, NULL);
        carom_build_joint(b, NULL), carom_build_spring(b, NULL), carom_build_bushing(b, NULL),
            carom_build_motor(b, NULL), carom_build_load(b, NULL);
        carom_build_solid(b, (carom_body){0}, NULL), carom_build_contact(b, NULL);
        carom_build_entry(b, NULL, NULL, NULL);
        err = (carom_error){0};
        assert_null(carom_build_model(b, &err));
        assert_non_null(strstr(err.text, i ? "no builder" : "parameters: there is nothing to add"));
        assert_null(carom_build_text(b));
        carom_build_destroy(b);
        b = NULL;
    }
    carom_result_close(NULL);
    carom_record_destroy(NULL);
    carom_sim_destroy(NULL);
    carom_model_destroy(NULL);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// The same of everything that finds, reads or writes something; what has failed may be freed, and a message need not be
// wanted.
static void missing_arguments_of_studies_are_told(void **state) {
    (void)state;
    carom_model *m;
    carom_sim *sim = sim_of(ball, &m);
    carom_error none = {0}, *const messages[] = {&none, NULL};
    double x[8] = {0};
    for (int i = 0; i < 2; ++i) {
        carom_error *err = messages[i];
        carom_equilibrium rest;
        carom_modes modes;
        carom_vary vary;
        carom_fit fit;
        carom_gradient gradient;
        carom_compile_mode mode;
        bool compiled;
        const carom_model_def text = {.text = ball, .length = strlen(ball)};
        assert_int_equal(carom_equilibrium_find(&rest, NULL, NULL, err), CAROM_BAD_INPUT),
            carom_equilibrium_free(&rest);
        assert_int_equal(carom_equilibrium_find(NULL, m, NULL, err), CAROM_BAD_INPUT), carom_equilibrium_free(NULL);
        assert_int_equal(carom_modes_find(&modes, NULL, NULL, err), CAROM_BAD_INPUT), carom_modes_free(&modes);
        assert_int_equal(carom_modes_find(NULL, m, NULL, err), CAROM_BAD_INPUT), carom_modes_free(NULL);
        assert_int_equal(carom_modes_play(NULL, 0, NULL, err), CAROM_BAD_INPUT);
        assert_int_equal(
            carom_modes_play(&(carom_modes){.count = 0}, 0, &(carom_play_def){.model = m, .file = "x.h5"}, err),
            CAROM_BAD_INPUT);
        assert_int_equal(carom_vary_of(&vary, NULL, "g=1", err), CAROM_BAD_INPUT), carom_vary_drop(&vary);
        assert_int_equal(carom_vary_of(&vary, m, NULL, err), CAROM_BAD_INPUT), carom_vary_drop(NULL);
        assert_int_equal(carom_fit_find(&fit, NULL, err), CAROM_BAD_INPUT), carom_fit_free(&fit);
        assert_int_equal(carom_fit_find(&fit, &(carom_fit_def){.model = text}, err), CAROM_BAD_INPUT),
            carom_fit_free(&fit), carom_fit_free(NULL);
        assert_int_equal(carom_gradient_find(&gradient, NULL, err), CAROM_BAD_INPUT), carom_gradient_free(&gradient);
        assert_int_equal(carom_gradient_find(&gradient, &(carom_gradient_def){.model = text, .of = "y"}, err),
                         CAROM_BAD_INPUT),
            carom_gradient_free(NULL);
        assert_int_equal(carom_state_read(m, NULL, x, x, err), CAROM_BAD_INPUT);
        assert_int_equal(carom_state_write(m, NULL, x, x, err), CAROM_BAD_INPUT);
        assert_int_equal(carom_state_write(m, path("no.csv"), NULL, NULL, err), CAROM_BAD_INPUT);
        assert_null(carom_compare_create(NULL, err));
        assert_null(carom_compare_create(&(carom_compare_def){.model = NULL}, err));
        assert_null(carom_problems_read(NULL, err));
        assert_int_equal(carom_problems_write(NULL, path("no.txt"), err), CAROM_BAD_INPUT);
        assert_int_equal(carom_problem_write_answer(NULL, path("no.txt"), err), CAROM_BAD_INPUT);
        assert_null(carom_drawing_create(NULL, err));
        assert_null(carom_variation_create(NULL, 0, NULL, err));
        assert_null(carom_variation_create(m, 1, NULL, err));
        assert_null(carom_model_of(NULL, NULL, err));
        assert_int_equal(carom_model_compile(NULL, CAROM_COMPILE_ON, 1, &compiled, err), CAROM_BAD_INPUT);
        assert_false(carom_compile_mode_find(NULL, &mode));
        carom_orbit orbit;
        carom_lyapunov lyapunov;
        carom_branch branch;
        carom_triplets triplets;
        carom_table table;
        assert_int_equal(carom_orbit_find(&orbit, NULL, err), CAROM_BAD_INPUT), carom_orbit_free(NULL);
        assert_int_equal(carom_orbit_find(NULL, &(carom_orbit_def){.period = NULL}, err), CAROM_BAD_INPUT);
        assert_int_equal(carom_lyapunov_find(&lyapunov, NULL, err), CAROM_BAD_INPUT), carom_lyapunov_free(NULL);
        assert_int_equal(carom_follow_read(&branch, NULL, NULL, err), CAROM_BAD_INPUT), carom_branch_free(NULL);
        assert_int_equal(carom_follow_write(NULL, NULL, path("no.h5"), err), CAROM_BAD_INPUT);
        assert_int_equal(carom_triplets_read(NULL, 0, NULL, &triplets, err), CAROM_BAD_INPUT),
            carom_triplets_free(NULL);
        assert_int_equal(carom_table_read(NULL, "a", &table, err), CAROM_BAD_INPUT), carom_table_free(NULL);
        assert_int_equal(carom_table_read(path("no.h5"), NULL, &table, err), CAROM_BAD_INPUT);
        assert_int_equal(carom_tables_write(path("no.h5"), NULL, 1, NULL, 0, err), CAROM_BAD_INPUT);
        assert_null(carom_journal_open(NULL, NULL, NULL, err));
        assert_null(carom_member_create(NULL, err));
        assert_null(carom_structure_create(NULL, err));
        assert_null(carom_functions_create(NULL, err));
        assert_null(carom_mech_read(NULL, 0, NULL, err));
        assert_null(carom_mech_copy(NULL));
        assert_int_equal(carom_model_write_c(m, NULL, NULL, 0, NULL, NULL, err), CAROM_BAD_INPUT);
        assert_int_equal(carom_model_find_input(m, NULL, err), -1);
        assert_int_equal(carom_sweep_write_cuda(NULL, NULL, NULL, err), CAROM_BAD_INPUT);
        assert_int_equal(carom_result_find(NULL, "x"), -1);
        assert_int_equal(carom_result_read(NULL, 0, 0, 1, x, err), CAROM_BAD_INPUT);
        assert_int_equal(carom_result_read_rows(NULL, 0, 1, x, err), CAROM_BAD_INPUT);
        assert_int_equal(carom_result_field_read(NULL, "x", 0, x, err), CAROM_BAD_INPUT);
        carom_run_free(NULL);
    }
    assert_true(strlen(none.text) > 10);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// What was added, as t and q in order; q is the number of the call.
static void assert_sides(const sides *s, const char *want) {
    char text[200] = "";
    for (int i = 0; i < s->count; ++i)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%g:%g ", s->t[i], s->x[2 * i]);
    assert_string_equal(text, want);
}

// Of several events at one time the left side of the first and the right side of the last stay; a step that is tried
// again begins before what is there.
static void sides_of_events_are_the_outer_ones(void **state) {
    (void)state;
    static const struct { carom_side side; double t; const char *after; } calls[] = {{CAROM_LEFT, 1, "1:0 "},
                 {CAROM_RIGHT, 1, "1:0 1:1 "},
                 {CAROM_LEFT, 1, "1:0 1:1 "},
                 {CAROM_RIGHT, 1, "1:0 1:3 "},
                 {CAROM_LEFT, 2, "1:0 1:3 2:4 "},
                 {CAROM_RIGHT, 2, "1:0 1:3 2:4 2:5 "},
                 {CAROM_RIGHT, 2, "1:0 1:3 2:4 2:6 "},
                 {CAROM_LEFT, 1.5, "1:0 1:3 1.5:7 "},
                 {CAROM_RIGHT, 1.5, "1:0 1:3 1.5:7 1.5:8 "},
                 {CAROM_LEFT, 0.5, "0.5:9 "}};
    sides s = {.nq = 1, .nv = 1};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        const double q = (double)i, v = 7;
        assert_int_equal(sides_add(&s, calls[i].side, calls[i].t, &q, &v), CAROM_OK);
        assert_sides(&s, calls[i].after);
        assert_true(s.x[2 * s.count - 1] == 7);
    }
    sides_clear(&s);
    for (int i = 0; i < 100; ++i)
        assert_int_equal(sides_add(&s, CAROM_LEFT, i, (const double[]){i}, (const double[]){-i}), CAROM_OK);
    for (int i = 0; i < 100; ++i) assert_true(s.t[i] == i && s.x[2 * i] == i && s.x[2 * i + 1] == -i);
    sides_free(&s);
}

// -- ties -----------------------------------------------------------------------------------------------------

// Lemke's method on  u = G p + c  with whole numbers, many ratios of which are equal; c raised by little^(i + 1).  The
// pivots that it takes.
static int pivots(uint64_t number, double little) {
    enum { N = 8, DOF = 6 };
    uint64_t seed = number * 7919;
    double W[DOF * N], v[DOF], w[DOF];
    contact_problem x = problem_create(N, N);
    for (int i = 0; i < N; ++i) problem_add(&x, CAROM_UNILATERAL, 0);
    for (int i = 0; i < DOF * N; ++i) W[i] = floor(3 * uniform(&seed)) - 1;
    for (int i = 0; i < DOF; ++i) v[i] = floor(3 * uniform(&seed)) - 1, w[i] = 1;
    problem_from_directions(&x, DOF, W, W, w, v);
    for (int i = 0; i < N; ++i) x.c[i] += pow(little, i + 1);
    solver_memory m = memory_for_solver(carom_solver_find("lemke"), N, N);
    const carom_report r = carom_solver_solve(carom_solver_find("lemke"), m.work, &x.pb, 1e-9);
    assert_true(r.converged);
    memory_free(&m);
    problem_destroy(&x);
    return r.iterations;
}

// (SOL-9)  Ties are broken as powers of a small number, added to the velocities, would: the path is that of such a
//          problem, which has none, up to where z_0 may leave.
static void ties_are_broken_as_by_a_perturbation(void **state) {
    (void)state;
    int same = 0;
    for (uint64_t k = 1; k <= 400; ++k) {
        const int tied = pivots(k, 0), raised = pivots(k, 1e-2);
        if (tied > raised) fail_msg("problem %d: %d pivots, without ties %d", (int)k, tied, raised);
        same += tied == raised;
    }
    assert_true(same > 300);
}

// A contact that slips in 3 to 5 directions: u_N = 0, |p_T| = mu p_N, and u_T is opposite to p_T, to the last bits.  c
// + G p are up to seven terms of size 4, which round by 3e-15; where u_T is 1 or more, its direction is known to twice
// that.
static void slip_has_its_direction_to_the_last_bits(void **state) {
    (void)state;
    enum { PROBLEMS = 4000, MOST = 1 + CAROM_TANGENTS };
    uint64_t seed = 5;
    int slips = 0;
    for (int i = 0; i < PROBLEMS; ++i) {
        const int k = 3 + i % (CAROM_TANGENTS - 2), n = 1 + k;
        double A[MOST * MOST], G[MOST * MOST], c[MOST], p[MOST], u[MOST], l = 0, speed = 0, worst = 0;
        const double mu = 0.1 + 0.5 * uniform(&seed);
        for (int a = 0; a < n * n; ++a) A[a] = symmetric_uniform(&seed);
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b) {
                G[a + b * n] = a == b ? 1 + n : 0;
                for (int d = 0; d < n; ++d) G[a + b * n] += A[a + d * n] * A[b + d * n];
            }
        for (int a = 0; a < n; ++a) c[a] = 4 * symmetric_uniform(&seed);
        c[0] = -1 - uniform(&seed);
        carom_local_ball(G, n, c, k, mu, CAROM_SLIP_EXACT, p);
        for (int a = 0; a < n; ++a) {
            u[a] = c[a];
            for (int b = 0; b < n; ++b) u[a] += G[a + b * n] * p[b];
            if (a > 0) l = hypot(l, p[a]), speed = hypot(speed, u[a]);
        }
        for (int j = -2; j <= 2; ++j) { // wherever alpha is thought to be, the answer is the same
            double q[MOST], off = 0;
            carom_local_ball(G, n, c, k, mu, (carom_slip){1e-15, pow(30, j)}, q);
            for (int a = 0; a < n; ++a) off = fmax(off, fabs(q[a] - p[a]));
            if (!(off < 1e-13)) fail_msg("problem %d: from alpha = %g off by %.3g", i, pow(30, j), off);
        }
        if (!(speed > 1)) continue; // it sticks, or nearly
        ++slips;
        for (int a = 1; a < n; ++a) worst = fmax(worst, fabs(u[a] / speed + p[a] / l));
        if (!(fabs(u[0]) < 1e-14 && fabs(l / (mu * p[0]) - 1) < 1e-14 && worst < 5e-15))
            fail_msg("problem %d: u_N %.3g, |p_T|/mu p_N - 1 = %.3g, slip off by %.3g", i, u[0], l / (mu * p[0]) - 1,
                     worst);
    }
    assert_true(slips > PROBLEMS / 2);
}

// -- looking on --------------------------------------------------------------------------------------------------

static carom_status until_600(void *user, const carom_now *now) {
    (void)user;
    return now->step == 600 ? CAROM_STOPPED : CAROM_OK;
}

// What carom_sim_now() points to follows single steps, also behind a run in which nobody asked for gaps.
static void gaps_follow_steps_behind_a_run(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ncoordinates: {x: {at: 0, rate: 20}, y: 1}\nenergy: {kinetic: (x'^2 + y'^2)/2}\ncontacts: {floor: "
        "{gap: 'y - 0.5*cos(x)'}, wall: {gap: '2 - y + 0.1*sin(x)'}}\n";
    rig g = make(text, "moreau-midpoint", NULL, 1e-3, 1, 1, 0, false);
    carom_sim *sim = g.sim;
    carom_error err = {0};
    const carom_now now = carom_sim_now(sim);
    assert_int_equal(carom_sim_run_lazily(sim, until_600, NULL, &err), CAROM_STOPPED);
    for (int i = 0; i < 300; ++i) {
        assert_true(fabs(now.gap[0] - (now.q[1] - 0.5 * cos(now.q[0]))) < 1e-12 &&
                    fabs(now.gap[1] - (2 - now.q[1] + 0.1 * sin(now.q[0]))) < 1e-12);
        assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
    }
    finish(&g);
}

// -- what is not there ---------------------------------------------------------------------------------------------

// Ranges (first, count) of n rows or events.
// first + n_first n, count + n_count n
static const struct range {
    long first, count, n_first, n_count; bool good;
} ranges[] = {{0, 0, 0, 1, true},         {0, 0, 1, 0, true},         {1, -1, 0, 1, true},
              {-1, 1, 1, 0, true},        {0, 0, 0, 0, true},         {-1, 1, 0, 0, false},
              {-1, 0, 0, 0, false},       {0, -1, 0, 0, false},       {0, 1, 0, 1, false},
              {0, 1, 1, 0, false},        {1, 0, 0, 1, false},        {1, 0, 1, 0, false},
              {LONG_MAX, 1, 0, 0, false}, {1, LONG_MAX, 0, 0, false}, {LONG_MAX, LONG_MAX, 0, 0, false}};

// Rows, columns, events and attributes that a result has are read, others are refused, in both formats and in memory.
static void what_a_result_does_not_have_is_refused(void **state) {
    (void)state;
    static const char *const files[] = {"ranges.h5", "ranges.csv"};
    for (int k = 0; k < 2; ++k) {
        simulate(ball, "moreau-midpoint", files[k], 1e-2, 1, 1, 0);
        carom_result *r = load(files[k]);
        carom_error err = {0};
        const long rows = carom_result_rows(r), events = carom_result_event_count(r);
        const int columns = carom_result_columns(r);
        double *x = test_malloc((size_t)(rows * columns) * sizeof *x);
        carom_result_event *e = test_malloc((size_t)events * sizeof *e);
        assert_true(rows == 101 && events > 3 && columns > 5);
        for (size_t i = 0; i < sizeof ranges / sizeof *ranges; ++i) {
            const struct range *a = ranges + i;
            const carom_status want = a->good ? CAROM_OK : CAROM_BAD_INPUT;
            assert_int_equal(
                carom_result_read(r, columns - 1, a->first + a->n_first * rows, a->count + a->n_count * rows, x, &err),
                want);
            assert_int_equal(
                carom_result_read_rows(r, a->first + a->n_first * rows, a->count + a->n_count * rows, x, &err), want);
            assert_int_equal(
                carom_result_events(r, a->first + a->n_first * events, a->count + a->n_count * events, e, &err), want);
            if (!a->good)
                assert_int_equal(carom_result_contacts(r, a->first, a->count + a->n_count, NULL, &err),
                                 a->first == 0 && a->count + a->n_count == 0 ? CAROM_OK : CAROM_BAD_INPUT);
        }
        assert_int_equal(carom_result_read(r, -1, 0, 1, x, &err), CAROM_BAD_INPUT);
        assert_int_equal(carom_result_read(r, columns, 0, 1, x, &err), CAROM_BAD_INPUT);
        assert_true(carom_result_column(r, 0) && carom_result_column(r, columns - 1) && !carom_result_column(r, -1) &&
                    !carom_result_column(r, columns));
        assert_int_equal(carom_result_find(r, carom_result_column(r, columns - 1)), columns - 1);
        assert_int_equal(carom_result_find(r, "no such column"), -1);
        int attributes = 0;
        while (carom_result_attribute(r, attributes)) ++attributes;
        assert_true(!carom_result_attribute(r, -1) && !carom_result_attribute(r, attributes + 1) &&
                    (k == 1 || attributes > 5));
        test_free(x), test_free(e);
        carom_result_close(r);
    }
    rig g = make(ball, "moreau-midpoint", NULL, 1e-2, 1, 1, 0, false);
    const int columns = carom_record_columns(g.r);
    assert_true(carom_record_column(g.r, 0) && carom_record_column(g.r, columns - 1) && !carom_record_column(g.r, -1) &&
                !carom_record_column(g.r, columns));
    assert_true(carom_record_row(g.r, 0) && !carom_record_row(g.r, -1) &&
                !carom_record_row(g.r, carom_record_rows(g.r)));
    finish(&g);
}

// Names of contacts take as much room in the rows of events as the longest needs.
static void names_of_contacts_have_room(void **state) {
    (void)state;
    static const int lengths[] = {1, 7, 60};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        char name[61] = "", text[300];
        memset(name, 'c', (size_t)lengths[i]), name[lengths[i]] = 0;
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {y: 0.01}\nenergy: {kinetic: y'^2/2, potential: 9.81*y}\ncontacts: {%s: {gap: "
                 "y, restitution: 0.5}}\n",
                 name);
        simulate(text, "moreau-midpoint", "names.h5", 1e-3, 0.1, 1, 0);
        const hid_t file = H5Fopen(path("names.h5"), H5F_ACC_RDONLY, H5P_DEFAULT),
                    set = H5Dopen2(file, "events", H5P_DEFAULT), type = H5Dget_type(set);
        const hid_t member = H5Tget_member_type(type, (unsigned)H5Tget_member_index(type, "contact"));
        assert_int_equal(H5Tget_size(member), lengths[i]);
        H5Tclose(member), H5Tclose(type), H5Dclose(set), H5Fclose(file);
        carom_result *r = load("names.h5");
        carom_result_event e;
        carom_error err = {0};
        assert_true(carom_result_event_count(r) > 0);
        assert_int_equal(carom_result_events(r, 0, 1, &e, &err), CAROM_OK);
        assert_string_equal(e.contact, name);
        assert_true(e.kind[0] && e.t > 0.04 && e.t < 0.05);
        carom_result_close(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(going_on_without_a_step_adds_no_row),
        cmocka_unit_test(a_damaged_state_is_not_taken),
        cmocka_unit_test(a_state_goes_with_its_own_run_only),
        cmocka_unit_test(the_stamp_knows_the_laws_of_contacts),
        cmocka_unit_test(the_stamp_knows_the_model),
        cmocka_unit_test(locks_are_given_back),
        cmocka_unit_test(irregular_steps_have_2000_intervals),
        cmocka_unit_test(half_a_last_line_is_left_out),
        cmocka_unit_test(sides_of_events_are_the_outer_ones),
        cmocka_unit_test(drift_names_the_constraint_that_drifts),
        cmocka_unit_test(accumulations_end_where_the_series_does),
        cmocka_unit_test(the_certificate_is_as_sharp_as_it_says),
        cmocka_unit_test(counts_stay_in_range),
        cmocka_unit_test(what_a_result_does_not_have_is_refused),
        cmocka_unit_test(names_of_contacts_have_room),
        cmocka_unit_test(ties_are_broken_as_by_a_perturbation),
        cmocka_unit_test(slip_has_its_direction_to_the_last_bits),
        cmocka_unit_test(gaps_follow_steps_behind_a_run),
        cmocka_unit_test(missing_arguments_are_told),
        cmocka_unit_test(missing_arguments_of_studies_are_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
