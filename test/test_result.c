// test_result.c: recorder, result files and their reader.
#define _DEFAULT_SOURCE // mkdtemp, usleep
#include "host.h"
#include "sim/ledger.h"
#include "json.h"
#include "quick.h"
#include "result_rig.h"
#include <carom/event.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

// The same in space, with a friction disc.
static const char disc[] =
    "carom: 1\n"
    "coordinates: {x: {at: 0, rate: 2}, y: {at: 0.3, rate: 0}, z: {at: 0, rate: 1}}\n"
    "energy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 9.81*y}\n"
    "contacts: {ground: {gap: y, slip: [x, z], restitution: 0.6, friction: 0.3}}\n";

// And with rolling and spinning: five directions.
static const char rolls[] =
    "carom: 1\n"
    "coordinates: {x: {at: 0, rate: 2}, y: 0, z: 0, a: 0, b: 0, c: 0}\n"
    "energy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2 + a'^2 + b'^2 + c'^2), potential: 9.81*y}\n"
    "contacts: {ground: {gap: y, slip rate: [x' - b', z' + a', 0.1*a', 0.1*b', 0.1*c'], friction: 0.3}}\n";

static void assert_columns(const char *file, const char *const *want) {
    carom_result *r = load(file);
    for (int i = 0; want[i]; ++i) assert_string_equal(carom_result_column(r, i), want[i]);
    int n = 0;
    while (want[n]) ++n;
    assert_int_equal(carom_result_columns(r), n);
    carom_result_close(r);
}

static void columns_are_those_of_the_interface(void **state) {
    (void)state;
    static const char *const planar[] = {"t",
                                         "x",
                                         "y",
                                         "z",
                                         "x'",
                                         "y'",
                                         "z'",
                                         "kinetic",
                                         "potential",
                                         "energy",
                                         "ground.gap",
                                         "ground.gap'",
                                         "ground.force",
                                         "ground.impulse",
                                         "ground.slip'",
                                         "ground.friction",
                                         "ground.friction_impulse",
                                         "wall.gap",
                                         "wall.gap'",
                                         "wall.force",
                                         "wall.impulse",
                                         "rail.gap",
                                         "rail.force",
                                         "rail.impulse",
                                         "height",
                                         "speed",
                                         NULL};
    static const char *const spatial[] = {"t",
                                          "x",
                                          "y",
                                          "z",
                                          "x'",
                                          "y'",
                                          "z'",
                                          "kinetic",
                                          "potential",
                                          "energy",
                                          "ground.gap",
                                          "ground.gap'",
                                          "ground.force",
                                          "ground.impulse",
                                          "ground.slip1'",
                                          "ground.slip2'",
                                          "ground.friction1",
                                          "ground.friction2",
                                          "ground.friction_impulse1",
                                          "ground.friction_impulse2",
                                          NULL};
    simulate(ball, "moreau-midpoint", "columns.h5", 1e-3, 0.1, 1, 0);
    assert_columns("columns.h5", planar);
    simulate(disc, "moreau-midpoint", "disc.csv", 1e-3, 0.1, 1, 0);
    assert_columns("disc.csv", spatial);
    simulate(rolls, "moreau-midpoint", "rolls.h5", 1e-3, 0.1, 1, 0);
    carom_result *r = load("rolls.h5");
    static const char *const part[] = {"slip%d'", "friction%d", "friction_impulse%d"};
    const int first = 1 + 12 + 3 + 4;
    for (int i = 0; i < 15; ++i) {
        char name[40] = "ground.";
        snprintf(name + 7, sizeof name - 7, part[i / 5], i % 5 + 1);
        assert_string_equal(carom_result_column(r, first + i), name);
    }
    assert_int_equal(carom_result_columns(r), first + 15);
    double *friction = column(r, "ground.friction_impulse1"), *lever = column(r, "ground.friction_impulse4"),
           *x = column(r, "x'"), *b = column(r, "b'");
    for (long i = 1; i < carom_result_rows(r); ++i) { // momentum and angular momentum of a step
        assert_true(fabs(x[i] - x[i - 1] - friction[i]) <= 1e-13);
        assert_true(fabs(b[i] - b[i - 1] + friction[i] - 0.1 * lever[i]) <= 1e-13);
    }
    double *const all[] = {friction, lever, x, b};
    for (int i = 0; i < 4; ++i) free(all[i]);
    carom_result_close(r);
}

static void values_agree_with_each_other(void **state) {
    (void)state;
    simulate(ball, "moreau-midpoint", "values.h5", 1e-3, 1, 1, 0);
    carom_result *r = load("values.h5");
    double *y = column(r, "y"), *gap = column(r, "ground.gap"), *height = column(r, "height"), *vy = column(r, "y'"),
           *vx = column(r, "x'");
    double *rate = column(r, "ground.gap'"), *slip = column(r, "ground.slip'");
    double *T = column(r, "kinetic"), *V = column(r, "potential"), *E = column(r, "energy");
    double *speed = column(r, "speed"), *impulse = column(r, "ground.impulse");
    for (long i = 0; i < carom_result_rows(r); ++i) {
        assert_true(y[i] == gap[i] && y[i] == height[i] && vy[i] == rate[i] && vx[i] == slip[i]);
        assert_true(fabs(T[i] - 0.75 * speed[i] * speed[i]) <= 1e-12 && V[i] == 1.5 * 9.81 * y[i] &&
                    E[i] == T[i] + V[i]);
        // Momentum balance of a step: m (v_1 - v_0) = -m g h + impulse.
        if (i) assert_true(fabs(1.5 * (vy[i] - vy[i - 1]) + 1.5 * 9.81 * 1e-3 - impulse[i]) <= 1e-13);
    }
    double *const all[] = {y, gap, height, vy, vx, rate, slip, T, V, E, speed, impulse};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free(all[i]);
    carom_result_close(r);
}

static void impulses_since_the_last_row_lose_nothing(void **state) {
    (void)state;
    simulate(ball, "moreau-midpoint", "each.h5", 1e-3, 1.0005, 1, 0);
    simulate(ball, "moreau-midpoint", "tenth.h5", 1e-3, 1.0005, 10, 0);
    carom_result *a = load("each.h5"), *b = load("tenth.h5");
    double *p = column(a, "ground.friction_impulse"), *q = column(b, "ground.friction_impulse");
    assert_int_equal(carom_result_rows(a), 1002); // 1000 steps of 1e-3, one of 5e-4, and the start
    assert_int_equal(carom_result_rows(b), 102);  // every tenth, the start, and the last
    bool some = false;
    for (long i = 1; i < 101; ++i) {
        double sum = 0;
        for (long k = 10 * (i - 1) + 1; k <= 10 * i; ++k) sum += p[k];
        assert_true(sum == q[i]);
        some = some || sum != 0;
    }
    assert_true(some);
    free(p);
    free(q);
    carom_result_close(a);
    carom_result_close(b);
}

static void rows_come_at_the_first_step_end_at_or_after_k_T(void **state) {
    (void)state;
    simulate(ball, "moreau-midpoint", "dt.h5", 1e-3, 0.1, 0, 0.0105); // 11, 21, 32, 42, 53, 63, 74, 84, 95 ms
    static const double want[] = {0, 0.011, 0.021, 0.032, 0.042, 0.053, 0.063, 0.074, 0.084, 0.095, 0.1};
    carom_result *r = load("dt.h5");
    double *t = column(r, "t");
    assert_int_equal(carom_result_rows(r), 11);
    for (int i = 0; i < 11; ++i) assert_true(fabs(t[i] - want[i]) < 1e-12);
    free(t);
    carom_result_close(r);
    // a whole number of steps: rounding must not delay a row
    simulate(ball, "moreau-midpoint", "dt.h5", 1e-3, 0.1, 0, 0.01);
    r = load("dt.h5");
    assert_int_equal(carom_result_rows(r), 11);
    carom_result_close(r);
}

static void about_2000_rows_by_default(void **state) {
    (void)state;
    simulate(ball, "moreau-midpoint", "default.h5", 1e-4, 1.3, 0, 0); // 13000 steps
    carom_result *r = load("default.h5");
    assert_in_range(carom_result_rows(r), 1500, 2600);
    carom_result_close(r);
}

static void csv_and_hdf5_hold_the_same_bits(void **state) {
    (void)state;
    simulate(ball, "moreau-midpoint", "same.h5", 1e-3, 1, 3, 0);
    simulate(ball, "moreau-midpoint", "same.csv", 1e-3, 1, 3, 0);
    assert_same("same.h5", "same.csv");
    carom_result *r = load("same.h5");
    assert_true(carom_result_event_count(r) > 5);
    size_t length = 0;
    const char *text = carom_result_model(r, &length);
    assert_int_equal(length, strlen(ball));
    assert_string_equal(text, ball);
    assert_string_equal(carom_result_text(r, "scheme"), "moreau-midpoint");
    assert_string_equal(carom_result_text(r, "status"), "done");
    carom_result_close(r);
}

// Scheme s, stopped after each of n steps and resumed, gives the rows of one run.  In brief: at one of them.
static void parts_are_the_whole(const char *text, int s, double h, double end, const long *stops, size_t n) {
    const char *scheme = carom_scheme_at(s)->name;
    simulate(text, scheme, "whole.h5", h, end, 7, 0);
    for (size_t i = 0; i < n; ++i) {
        if (BRIEF && i != (size_t)s % n) continue;
        rig g = make(text, scheme, "parts.h5", h, end, 7, 0, false);
        g.stop = stops[i];
        finish(&g);
        g = make(text, scheme, "parts.h5", h, end, 0, 0, true);
        finish(&g);
        assert_same("whole.h5", "parts.h5");
    }
}

// Stops at awkward places: before the first row, on a row, between rows, after the last chunk of rows began.
static void resumed_runs_are_bit_identical_for_every_scheme(void **state) {
    (void)state;
    static const long stops[] = {1, 7, 350, 601, 999};
    for (int s = 0; carom_scheme_at(s); ++s) {
        const carom_scheme *scheme = carom_scheme_at(s);
        const char *text = scheme->limitations & (CAROM_NO_FRICTION | CAROM_NO_BILATERAL) ? NULL : ball;
        if (!text)
            text = "carom: 1\ncoordinates: {y: {at: 0.3}}\nenergy: {kinetic: 1/2*y'^2, potential: 9.81*y}\n"
                   "contacts: {ground: {gap: y, restitution: 0.6}}\n";
        parts_are_the_whole(text, s, 1e-3, 1, stops, sizeof stops / sizeof *stops);
    }
}

// Mechanisms whose joints are part of the linear system: what Newton's method begins with, increments and reactions of
// the steps before, goes on, too.  Before the stop is struck, in that step, and behind it.
static void resumed_mechanisms_are_bit_identical_for_every_scheme(void **state) {
    (void)state;
    enum { LINKS = 5 };
    static const long stops[] = {2, 38, 52};
    char text[2000];
    int used = snprintf(text, sizeof text,
                        "carom: 1\nparameters: {m: 0.1, l: 0.1}\ngravity: [0, 0, -9.81]\nbodies:\n");
    for (int i = 1; i <= LINKS; ++i)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  b%d: {mass: m, inertia: [m*l^2/200, m*l^2/12, m*l^2/12], at: [%d*l - l/2, 0, 0]}\n", i, i);
    used += snprintf(text + used, sizeof text - (size_t)used, "joints:\n");
    for (int i = 1; i <= LINKS; ++i) {
        char before[8] = "ground";
        if (i > 1) snprintf(before, sizeof before, "b%d", i - 1);
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  j%d: {type: revolute, between: [%s, b%d], at: [%d*l, 0, 0], axis: [0, 1, %d]}\n", i, before,
                         i, i - 1, (i + 1) % 2);
    }
    snprintf(text + used, sizeof text - (size_t)used, "contacts: {stop: {gap: b5.z + 0.03, restitution: 0.3}}\n");
    for (int s = 0; carom_scheme_at(s); ++s) {
        const carom_scheme *scheme = carom_scheme_at(s);
        if (scheme->limitations & CAROM_NO_BILATERAL) continue;
        parts_are_the_whole(text, s, 2e-3, 0.16, stops, sizeof stops / sizeof *stops);
    }
}

static void a_finished_run_can_be_extended_bit_identically(void **state) {
    (void)state;
    simulate(ball, "moreau-midpoint", "whole.h5", 1e-3, 1, 0, 0.0103);
    static const double ends[] = {0.5, 0.5004, 0.70001, 0.0005}; // whole, and with a shortened last step
    for (int i = 0; i < 4; ++i) {
        simulate(ball, "moreau-midpoint", "parts.h5", 1e-3, ends[i], 0, 0.0103);
        rig g = make(ball, "moreau-midpoint", "parts.h5", 1e-3, 1, 0, 0, true);
        finish(&g);
        assert_same("whole.h5", "parts.h5");
    }
}

static void a_result_of_another_model_is_not_resumed(void **state) {
    (void)state;
    simulate(disc, "moreau-midpoint", "other.h5", 1e-3, 0.1, 1, 0);
    rig g = make(ball, "moreau-midpoint", "mine.h5", 1e-3, 0.1, 1, 0, false);
    carom_error err = {0};
    carom_record_def rd = {.model = g.m,
                           .sim = g.sim,
                           .file = path("other.h5"),
                           .step = 1e-3,
                           .end = 0.2,
                           .text = ball,
                           .length = strlen(ball)};
    assert_null(carom_record_resume(&rd, &err));
    assert_non_null(strstr(err.text, "not a result of this model"));
    finish(&g);
}

// Programs of HDF5 lock a file as a whole: while one writes it, it is not resumed; while others only read it, it is.
static void a_result_that_others_write_is_not_resumed(void **state) {
    (void)state;
    simulate(ball, "moreau-midpoint", "whole.h5", 1e-3, 0.2, 1, 0);
    simulate(ball, "moreau-midpoint", "parts.h5", 1e-3, 0.1, 1, 0);
    const int other = open(path("parts.h5"), O_RDWR);
    assert_true(other >= 0 && flock(other, LOCK_EX) == 0);
    rig g = make(ball, "moreau-midpoint", "mine.h5", 1e-3, 0.2, 1, 0, false);
    carom_error err = {0};
    carom_record_def rd = {.model = g.m,
                           .sim = g.sim,
                           .file = path("parts.h5"),
                           .step = 1e-3,
                           .end = 0.2,
                           .text = ball,
                           .length = strlen(ball)};
    assert_null(carom_record_resume(&rd, &err));
    assert_non_null(strstr(err.text, "another run is writing it"));
    finish(&g);
    assert_int_equal(flock(other, LOCK_SH), 0);
    g = make(ball, "moreau-midpoint", "parts.h5", 1e-3, 0.2, 0, 0, true);
    finish(&g);
    close(other);
    assert_same("whole.h5", "parts.h5");
}

static void a_killed_process_leaves_what_it_flushed(void **state) {
    (void)state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        rig g = make(ball, "moreau-midpoint", "killed.h5", 1e-4, 1e6, 1, 0, false);
        carom_error err;
        for (long n = 1; n <= 9000; ++n) { // more than a chunk; then more rows that nobody flushed
            if (carom_sim_step(g.sim, &err) != CAROM_OK) _exit(1);
            const carom_now now = carom_sim_now(g.sim);
            if (carom_record_step(g.r, &now) != CAROM_OK) _exit(1);
            if ((n == 700 || n == 5000) && carom_record_flush(g.r, &err) != CAROM_OK) _exit(1);
        }
        if (write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    char byte = 0;
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    carom_result *r = load("killed.h5");
    assert_int_equal(carom_result_rows(r), 5001);
    double *t = column(r, "t");
    for (long i = 0; i <= 5000; ++i) assert_true(fabs(t[i] - 1e-4 * (double)i) < 1e-12);
    free(t);
    assert_string_equal(carom_result_text(r, "status"), "running");
    carom_result_close(r);
    simulate(ball, "moreau-midpoint", "whole.h5", 1e-4, 0.6, 1, 0);
    rig g = make(ball, "moreau-midpoint", "killed.h5", 1e-4, 0.6, 0, 0, true);
    finish(&g);
    assert_same("whole.h5", "killed.h5");
}

static void a_file_that_cannot_be_made_says_why(void **state) {
    (void)state;
    rig g = make(ball, "moreau-midpoint", "mine.h5", 1e-3, 0.1, 1, 0, false);
    static const char *const names[] = {"nowhere/x.h5", "nowhere/x.csv"};
    for (int i = 0; i < 2; ++i) {
        carom_error err = {0};
        carom_record_def rd = {.model = g.m,
                               .sim = g.sim,
                               .file = path(names[i]),
                               .step = 1e-3,
                               .end = 0.1,
                               .text = ball,
                               .length = strlen(ball)};
        assert_null(carom_record_create(&rd, &err));
        assert_non_null(strstr(err.text, "cannot create"));
        assert_non_null(strstr(err.text, "No such file or directory"));
    }
    finish(&g);
}

static void the_ledger_table_knows_every_name_and_value(void **state) {
    (void)state;
    carom_ledger l;
    for (size_t i = 0; i < sizeof l / sizeof(long); ++i) ((long *)&l)[i] = 0;
    l.steps = 10, l.seconds = 2.5, l.rejected = 3, l.impacts = 4, l.accumulations = 5, l.penetration = 0.25,
    l.drift = 0.125;
    l.energy.start = 1, l.energy.end = 2, l.energy.impact = 3, l.energy.friction = 4, l.energy.damping = 5,
    l.energy.external = 6, l.energy.balance = 7;
    l.counts.problems = 8, l.counts.iterations = 9, l.counts.residual = 0.5, l.counts.fallbacks = 11;
    l.counts.newton = 12, l.counts.newton_max = 13;
    for (int i = 0; carom_ledger_name(i); ++i) {
        double want = NAN;
        assert_true(carom_ledger_value(&l, carom_ledger_name(i), &want));
        const ledger_entry *e = ledger_table;
        while (e->name && strcmp(e->name, carom_ledger_name(i)) != 0) ++e;
        if (!e->name) fail_msg("%s is missing", carom_ledger_name(i));
        assert_true(ledger_get(&l, e) == want);
    }
}

static void the_ledger_survives_the_file(void **state) {
    (void)state;
    rig g = make(ball, "moreau-jean", "ledger.h5", 1e-3, 1, 10, 0, false);
    carom_error err = {0};
    carom_ledger want, have;
    carom_ledger_names read;
    assert_int_equal(carom_sim_run(g.sim, on_step, &g, &err), CAROM_OK);
    assert_int_equal(carom_sim_ledger(g.sim, &want, &err), CAROM_OK);
    finish(&g);
    carom_result *r = load("ledger.h5");
    assert_true(carom_result_ledger(r, &have, &read));
    for (const ledger_entry *e = ledger_table; e->name; ++e) {
        const bool timed = e->kind == LEDGER_NS || strcmp(e->name, "seconds") == 0 || strcmp(e->name, "wall") == 0;
        if (!ledger_is_text(e) && !timed) assert_true(ledger_get(&want, e) == ledger_get(&have, e));
    }
    assert_string_equal(read.penetration, "ground");
    carom_result_close(r);
}

static void json_is_valid_whatever_the_numbers(void **state) {
    (void)state;
    carom_ledger l = {.penetration = INFINITY, .drift = NAN};
    l.energy.balance = -INFINITY;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fputs("{", f);
    carom_ledger_json(f, &l, (carom_ledger_names){.penetration = "a\"\\\x01\xff\xc3\xa9", .drift = "x"});
    fputs("}", f);
    fclose(f);
    assert_true(json_valid(text));
    assert_non_null(strstr(text, "\"penetration\": null"));
    assert_non_null(strstr(text, "\"energy\": {\"start\": 0"));
    assert_non_null(strstr(text, "\"balance\": null, \"identity\": 0}"));
    free(text);
    assert_false(json_valid("{\"a\": nan}"));
    assert_false(json_valid("{\"a\": 1,}"));
}

// -- damage -------------------------------------------------------------------------------------------

static unsigned char *slurp(const char *name, long *size) {
    FILE *f = fopen(path(name), "rb");
    fseek(f, 0, SEEK_END);
    *size = ftell(f);
    rewind(f);
    unsigned char *bytes = malloc((size_t)*size);
    assert_int_equal(fread(bytes, 1, (size_t)*size, f), *size);
    fclose(f);
    return bytes;
}

static void spill(const char *name, const unsigned char *bytes, long size) {
    FILE *f = fopen(path(name), "wb");
    fwrite(bytes, 1, (size_t)size, f);
    fclose(f);
}

// Read all that there is, as info, plot and resume do.
static void read_everything(const char *name) {
    carom_error err = {0};
    carom_result *r = carom_result_open(path(name), &err);
    if (!r) {
        if (strlen(err.text) < 10) _exit(1);
        return;
    }
    const long rows = carom_result_rows(r) < 100000 ? carom_result_rows(r) : 100000;
    double *x = malloc(sizeof *x * (size_t)rows + 8);
    for (int c = 0; c < carom_result_columns(r) && c < 50; ++c)
        if (carom_result_read(r, c, 0, rows, x, &err) != CAROM_OK) break;
    free(x);
    const long n = carom_result_event_count(r) < 10000 ? carom_result_event_count(r) : 10000;
    carom_result_event *e = malloc(sizeof *e * (size_t)n + 8);
    (void)carom_result_events(r, 0, n, e, &err);
    free(e);
    carom_ledger l;
    carom_ledger_names names;
    carom_result_ledger(r, &l, &names);
    carom_result_close(r);
}

static unsigned long seed = 12345;
static unsigned long draw(unsigned long n) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (seed >> 33) % n;
}

static void damage_and_read(void) {
    long size = 0;
    unsigned char *good = slurp("good.h5", &size), *bad = malloc((size_t)size);
    long meta = size < 16384 ? size : 16384; // where HDF5 keeps what it trusts
    for (int trial = 0; trial < 300; ++trial) {
        memcpy(bad, good, (size_t)size);
        for (unsigned long k = 1 + draw(8); k > 0; --k) {
            const unsigned char byte = (unsigned char)draw(256);
            bad[draw((unsigned long)(trial % 2 ? meta : size))] = byte;
        }
        spill("bad.h5", bad, trial % 10 == 9 ? (long)draw((unsigned long)size) : size);
        read_everything("bad.h5");
    }
    free(good);
    free(bad);
    good = slurp("good.csv", &size);
    bad = malloc((size_t)size);
    for (int trial = 0; trial < 300; ++trial) {
        memcpy(bad, good, (size_t)size);
        for (unsigned long k = 1 + draw(8); k > 0; --k) {
            const unsigned char byte = (unsigned char)draw(256);
            bad[draw((unsigned long)size)] = byte;
        }
        spill("bad.csv", bad, trial % 10 == 9 ? (long)draw((unsigned long)size) : size);
        read_everything("bad.csv");
    }
    free(good);
    free(bad);
}

// In a process of its own: HDF5 never frees what it had of a file that it could not open, and says so at exit.
static void damaged_results_are_told_not_crashed_on(void **state) {
    (void)state;
    simulate(ball, "moreau-midpoint", "good.h5", 1e-3, 0.5, 25, 0);
    simulate(ball, "moreau-midpoint", "good.csv", 1e-3, 0.5, 25, 0);
    const pid_t child = fork();
    if (child == 0) {
        damage_and_read();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

// Rows, events and columns that are not there are refused, in files and in memory; empty ranges are none.
static void ranges_outside_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"range.h5", "range.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        carom_error err = {0};
        simulate(ball, "moreau-midpoint", names[i], 1e-3, 1, 10, 0);
        carom_result *r = load(names[i]);
        const long rows = carom_result_rows(r), events = carom_result_event_count(r);
        const int columns = carom_result_columns(r);
        double *x = calloc((size_t)(rows + 1) * (size_t)columns, sizeof *x);
        carom_result_event *e = calloc((size_t)events + 1, sizeof *e);
        assert_true(rows > 40 && events > 1 && columns > 2);
        const struct {
            long first, count;
            bool good;
        } rows_of[] = {{0, rows, true}, {rows, 0, true},      {rows - 1, 1, true}, {-1, 1, false},
                       {0, -1, false},  {0, rows + 1, false}, {rows, 1, false},    {5, rows - 4, false}};
        for (size_t k = 0; k < sizeof rows_of / sizeof *rows_of; ++k) {
            assert_int_equal(carom_result_read(r, 1, rows_of[k].first, rows_of[k].count, x, &err) == CAROM_OK,
                             rows_of[k].good);
            assert_int_equal(carom_result_read_rows(r, rows_of[k].first, rows_of[k].count, x, &err) == CAROM_OK,
                             rows_of[k].good);
        }
        assert_true(carom_result_read(r, -1, 0, 1, x, &err) != CAROM_OK &&
                    carom_result_read(r, columns, 0, 1, x, &err) != CAROM_OK);
        const struct {
            long first, count;
            bool good;
        } events_of[] = {{0, events, true},      {events, 0, true},  {-1, 1, false},        {0, -1, false},
                         {0, events + 1, false}, {1, events, false}, {events + 1, 0, false}};
        for (size_t k = 0; k < sizeof events_of / sizeof *events_of; ++k)
            assert_int_equal(carom_result_events(r, events_of[k].first, events_of[k].count, e, &err) == CAROM_OK,
                             events_of[k].good);
        // A text is no number, a number no text, and what is not there neither.
        assert_false(carom_result_number(r, "nothing", x) || carom_result_number(r, "scheme", x));
        assert_true(!carom_result_text(r, "nothing") && !carom_result_text(r, "step") &&
                    carom_result_number(r, "step", x) == (i == 0));
        assert_true(i > 0 || (*x == 1e-3 && strcmp(carom_result_text(r, "scheme"), "moreau-midpoint") == 0));
        free(x), free(e);
        carom_result_close(r);
    }
}

static void files_that_are_no_results_are_told(void **state) {
    (void)state;
    static const char *const texts[] = {"",        "carom: 1\n", "\x89HDF\r\n\x1a\n", "t,x\n1,2\n3\n", "t,x\n1,two\n",
                                        "t\n1,2\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        const char *name = i < 3 ? "no.h5" : "no.csv";
        spill(name, (const unsigned char *)texts[i], (long)strlen(texts[i]));
        carom_error err = {0};
        assert_null(carom_result_open(path(name), &err));
        assert_true(strlen(err.text) > 10);
    }
    // Files without line ends: one that never ends, and one whose second row does not.
    carom_error err = {0};
    assert_int_equal(symlink("/dev/zero", path("endless.csv")), 0);
    assert_null(carom_result_open(path("endless.csv"), &err));
    spill("no.csv", (const unsigned char *)"t,x\n0,1\n", 8);
    assert_int_equal(truncate(path("no.csv"), 1 << 27), 0);
    assert_null(carom_result_open(path("no.csv"), &err));
    assert_non_null(strstr(err.text, "no.csv:3: the line is too long"));
}

// -- in memory ----------------------------------------------------------------------------------------

// Rows come one by one, as a stream would have them, and are those of the file in the end.
static carom_result *remember(const char *scheme, double h, double end, long every, double dt_out) {
    carom_error err = {0};
    rig g = make(ball, scheme, NULL, h, end, every, dt_out, false);
    long rows = carom_record_rows(g.r);
    assert_int_equal(rows, 1);
    while (!carom_sim_done(g.sim)) {
        if (carom_record_advance(g.r, 0, 1, &err) != CAROM_OK) fail_msg("%s", err.text);
        assert_true(carom_record_rows(g.r) == rows + 1 || carom_sim_done(g.sim));
        rows = carom_record_rows(g.r);
        assert_true(carom_record_row(g.r, rows - 1)[0] <= carom_sim_now(g.sim).t);
        assert_null(carom_record_row(g.r, rows));
    }
    carom_ledger ledger;
    carom_ledger_names names;
    assert_int_equal(carom_record_ledger(g.r, &ledger, &names, &err), CAROM_OK);
    assert_int_equal(carom_layout_size("carom_ledger"), 0); // it has no layout for others, they read it by name
    carom_ledger *read = carom_ledger_of_record(g.r, &err);
    assert_non_null(read);
    assert_true(carom_ledger_number(read, "impacts") == (double)ledger.impacts);
    assert_true(carom_ledger_number(read, "energy.balance") == ledger.energy.balance);
    assert_string_equal(carom_ledger_text(read, "penetration_contact"), names.penetration);
    assert_null(carom_ledger_text(read, "impacts"));
    carom_ledger_free(read);
    assert_int_equal(carom_layout_size("carom_now"), sizeof(carom_now));
    assert_int_equal(carom_layout_size("carom_nothing"), 0);
    assert_string_equal(names.penetration, ledger.penetration_id == 1 ? "ground" : "wall");
    double left, right;
    const char *text;
    assert_true(carom_record_check(g.r, 0, &text, &left, &right, &err));
    assert_string_equal(text, "max(y) < 0.31");
    assert_int_equal(carom_record_finish(g.r, "done", NULL, &err), CAROM_OK);
    carom_result *r = carom_record_result(g.r, &err);
    assert_non_null(r);
    assert_null(carom_record_result(g.r, &err)); // it is taken
    carom_record_destroy(g.r);
    carom_sim_destroy(g.sim);
    carom_model_destroy(g.m);
    return r;
}

static void same_result(carom_result *a, carom_result *b) {
    carom_error err = {0};
    const int columns = carom_result_columns(a);
    const long rows = carom_result_rows(a), events = carom_result_event_count(a);
    assert_int_equal(columns, carom_result_columns(b));
    assert_int_equal(rows, carom_result_rows(b));
    double *x = calloc((size_t)rows, sizeof *x);
    for (int i = 0; i < columns; ++i) {
        assert_string_equal(carom_result_column(a, i), carom_result_column(b, i));
        assert_int_equal(carom_result_read(b, i, 0, rows, x, &err), CAROM_OK);
        for (long k = 0; k < rows; ++k) assert_memory_equal(&x[k], carom_result_values(a) + k * columns + i, sizeof *x);
    }
    free(x);
    double *all = calloc((size_t)rows * (size_t)columns, sizeof *all);
    assert_int_equal(carom_result_read_rows(b, 1, rows - 1, all, &err), CAROM_OK);
    assert_memory_equal(all, carom_result_values(a) + columns, sizeof *all * (size_t)(rows - 1) * (size_t)columns);
    assert_int_equal(carom_result_read_rows(b, 1, rows, all, &err), CAROM_BAD_INPUT);
    free(all);
    assert_true(events > 2);
    assert_int_equal(events, carom_result_event_count(b));
    carom_result_event *e = calloc((size_t)events, sizeof *e), *own = calloc((size_t)events, sizeof *own);
    assert_int_equal(carom_result_events(b, 0, events, e, &err), CAROM_OK);
    assert_int_equal(carom_result_events(a, 0, events, own, &err), CAROM_OK);
    for (long k = 0; k < events; ++k) {
        const carom_result_event *f = own + k;
        assert_memory_equal(&e[k].t, &f->t, 4 * sizeof(double));
        assert_string_equal(e[k].contact, f->contact);
        assert_string_equal(e[k].kind, f->kind);
    }
    free(e), free(own);
}

// What /run says of options, version and times, in a file and in memory; the rest is written down in layout.txt.
static void a_result_tells_how_it_came_about(void **state) {
    (void)state;
    for (int memory = 0; memory < 2; ++memory) {
        const time_t before = time(NULL);
        rig g = make(ball, "moreau-midpoint", memory ? NULL : "about.h5", 1e-3, 0.5, 1, 0, false);
        carom_error err = {0};
        char options[4096] = "";
        double wall = -1;
        carom_ledger l;
        carom_ledger_names names;
        carom_sim_options_text(g.sim, options, sizeof options);
        assert_non_null(strstr(options, "tol"));
        assert_int_equal(carom_record_advance(g.r, 0, 0, &err), CAROM_OK);
        assert_int_equal(carom_record_finish(g.r, "done", "all is well", &err), CAROM_OK);
        carom_result *r = memory ? carom_record_result(g.r, &err) : load("about.h5");
        const time_t after = time(NULL);
        assert_string_equal(carom_result_text(r, "options"), options);
        assert_string_equal(carom_result_text(r, "version"), CAROM_VERSION);
        assert_string_equal(carom_result_text(r, "status"), "done");
        assert_string_equal(carom_result_text(r, "message"), "all is well");
        struct tm utc = {0};
        int used = 0;
        assert_int_equal(sscanf(carom_result_text(r, "started"), "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &utc.tm_year,
                                &utc.tm_mon, &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &used),
                         6);
        utc.tm_year -= 1900, utc.tm_mon -= 1;
        assert_true(used == (int)strlen(carom_result_text(r, "started")) && timegm(&utc) >= before &&
                    timegm(&utc) <= after);
        assert_true(carom_result_number(r, "wall", &wall) && wall > 0 && wall <= (double)(after - before) + 1);
        assert_true(carom_result_ledger(r, &l, &names) && l.wall >= wall && l.wall <= (double)(after - before) + 1 &&
                    l.seconds > 0 && l.seconds <= l.wall + 1);
        carom_result_close(r);
        carom_record_destroy(g.r), carom_sim_destroy(g.sim), carom_model_destroy(g.m);
    }
}

static void a_record_in_memory_is_that_of_the_file(void **state) {
    (void)state;
    static const struct { const char *scheme; double h; long every; double dt_out; } cases[] = {
        {"moreau-midpoint", 1e-3, 7, 0}, {"half-explicit", 1e-3, 0, 0.0101}, {"moreau-jean", 3e-4, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        simulate(ball, cases[i].scheme, "file.h5", cases[i].h, 1, cases[i].every, cases[i].dt_out);
        carom_result *a = remember(cases[i].scheme, cases[i].h, 1, cases[i].every, cases[i].dt_out),
                     *b = load("file.h5");
        assert_null(carom_result_values(b));
        same_result(a, b);
        for (int k = 0; carom_result_attribute(b, k); ++k) { // /run says the same, but for the clock
            const char *name = carom_result_attribute(b, k), *text = carom_result_text(b, name);
            double x = 0, y = 0;
            if (strcmp(name, "wall") == 0 || strcmp(name, "started") == 0) continue;
            if (text) assert_string_equal(text, carom_result_text(a, name));
            else assert_true(carom_result_number(b, name, &x) && carom_result_number(a, name, &y) && x == y);
        }
        carom_ledger la, lb;
        carom_ledger_names na, nb;
        assert_true(carom_result_ledger(a, &la, &na) && carom_result_ledger(b, &lb, &nb));
        for (int k = 0; carom_ledger_line_at(&la, &na, k).name; ++k) {
            const carom_ledger_line p = carom_ledger_line_at(&la, &na, k), q = carom_ledger_line_at(&lb, &nb, k);
            if (strcmp(p.name, "seconds") == 0 || strcmp(p.name, "wall") == 0 || strcmp(p.name, "ns_per_step") == 0)
                continue;
            if (p.is_text) assert_true((!p.text && !q.text) || strcmp(p.text, q.text) == 0);
            else assert_true(p.value == q.value || (isnan(p.value) && isnan(q.value)));
        }
        size_t length = 0;
        assert_string_equal(carom_result_model(a, &length), ball);
        assert_int_equal(length, strlen(ball));
        carom_result_close(a);
        carom_result_close(b);
    }
}

// A system without a model: names are given, or numbers.
static carom_status one(void *user, double t, const double *q, double *M) {
    (void)user, (void)t, (void)q;
    M[0] = 1;
    return CAROM_OK;
}

static carom_status pull(void *user, double t, const double *q, const double *v, double *f) {
    (void)user, (void)t, (void)v;
    f[0] = -q[0];
    return CAROM_OK;
}

static carom_status stop_at_rest_length(void *user, double t, const double *q, double *g) {
    (void)user, (void)t;
    g[0] = q[0];
    return CAROM_OK;
}

#define ALPHABET "abcdefghijklmnopqrstuvwxyz"
static void a_system_without_a_model_is_recorded(void **state) {
    (void)state;
    static const char *const names[][2] = {{NULL}, {"s"}, {"\"s\", or \"t\""}, {"s"}},
                             *const stops[][2] = {
                                 {NULL}, {"stop"}, {"a,\"b"}, {ALPHABET ALPHABET ALPHABET ALPHABET ALPHABET}};
    const carom_contact contact = {.restitution = 0.5};
    const carom_functions_def fd = {
        .n = 1, .nc = 1, .contacts = &contact, .mass = one, .force = pull, .gaps = stop_at_rest_length};
    for (int named = 0; named < 4; ++named) {
        carom_error err = {0};
        const double q0 = 1, v0 = 0;
        carom_functions *f = carom_functions_create(&fd, &err);
        carom_sim_def sd = carom_sim_default();
        sd.system = carom_functions_system(f);
        sd.h = 1e-2, sd.t_end = 3;
        sd.q0 = &q0, sd.v0 = &v0;
        carom_sim *sim = carom_sim_create(&sd, &err);
        if (!sim) fail_msg("%s", err.text);
        carom_record_def rd = carom_record_default();
        rd.sim = sim, rd.memory = named != 2;
        if (!rd.memory) rd.file = path("odd.csv"); // with names that a table must quote
        rd.step = 1e-2, rd.end = 3;
        if (named) rd.coordinates = names[named], rd.constraints = stops[named];
        static const char *const columns[] = {"first", "second", NULL};
        double own[] = {2.5, -3.5}; // columns of the program's: what stands there when a row is written
        rd.extra = columns, rd.extra_value = own;
        carom_record *record = carom_record_create(&rd, &err);
        if (!record) fail_msg("%s", err.text);
        static const char *const want[4][4] = {{"q1", "q1'", "contact1.gap", "contact1"},
                                               {"s", "s'", "stop.gap", "stop"},
                                               {"\"s\", or \"t\"", "\"s\", or \"t\"'", "a,\"b.gap", "a,\"b"},
                                               // 127 letters of a name
                                               {"s", "s'", ALPHABET ALPHABET ALPHABET ALPHABET ALPHABET ".gap",
                                                ALPHABET ALPHABET ALPHABET ALPHABET "abcdefghijklmnopqrstuvw"}};
        assert_string_equal(carom_record_column(record, 1), want[named][0]);
        assert_string_equal(carom_record_column(record, 2), want[named][1]);
        assert_string_equal(carom_record_column(record, 6), want[named][2]);
        assert_int_equal(carom_record_advance(record, 250, 0, &err), CAROM_OK);
        assert_int_equal(carom_sim_now(sim).step, 250);
        own[1] = 7;
        assert_int_equal(carom_record_advance(record, 0, 0, &err), CAROM_OK);
        assert_true(carom_sim_done(sim));
        double T, V, v = carom_sim_now(sim).v[0];
        assert_int_equal(carom_sim_energy(sim, &T, &V, &err), CAROM_OK); // it knows its mass, 1, and no potential
        assert_true(v != 0 && T == v * v / 2 && V == 0);
        assert_int_equal(carom_record_finish(record, "done", NULL, &err), CAROM_OK);
        carom_result *r = rd.memory ? carom_record_result(record, &err) : load("odd.csv");
        assert_int_equal(carom_result_rows(r), 301);
        for (int k = 0; carom_record_column(record, k); ++k)
            assert_string_equal(carom_result_column(r, k), carom_record_column(record, k));
        double *first = column(r, "first"), *second = column(r, "second");
        for (int k = 0; k <= 300; ++k) assert_true(first[k] == 2.5 && second[k] == (k <= 250 ? -3.5 : 7));
        free(first), free(second);
        carom_result_event e;
        assert_int_equal(carom_result_events(r, 0, 1, &e, &err), CAROM_OK);
        assert_string_equal(e.contact, want[named][3]);
        assert_string_equal(e.kind, "impact");
        assert_float_equal(e.t, acos(0), 1e-2); // the end of the step that has the impact
        carom_result_close(r);
        carom_record_destroy(record);
        carom_sim_destroy(sim);
        carom_functions_destroy(f);
    }
}

// Rows beside events are those of the model's own system, by a scheme that locates events.
static void rows_beside_events_need_a_model_of_their_own(void **state) {
    (void)state;
    carom_error err = {0};
    const double q0 = 1, v0 = 0;
    const carom_contact contact = {.restitution = 0.5};
    const carom_functions_def fd = {
        .n = 1, .nc = 1, .contacts = &contact, .mass = one, .force = pull, .gaps = stop_at_rest_length};
    carom_functions *f = carom_functions_create(&fd, &err);
    carom_model *m =
        carom_model_create(&(carom_model_def){.text = ball, .length = strlen(ball), .file = "ball.yaml"}, &err);
    assert_true(f && m);
    for (int k = 0; k < 4; ++k) { // no model, another one, its own, and that without located events
        carom_sim_def sd = carom_sim_default();
        sd.system = k < 2 ? carom_functions_system(f) : carom_model_system(m);
        sd.schemes = carom_schemes(), sd.scheme = k == 3 ? "moreau-midpoint" : "event-driven";
        sd.h = 1e-2, sd.t_end = 0.1;
        sd.q0 = k < 2 ? &q0 : carom_model_q0(m), sd.v0 = k < 2 ? &v0 : carom_model_v0(m);
        carom_sim *sim = carom_sim_create(&sd, &err);
        if (!sim) fail_msg("%s", err.text);
        carom_record_def rd = carom_record_default();
        rd.sim = sim, rd.memory = true, rd.event_rows = true, rd.step = 1e-2, rd.end = 0.1, rd.model = k > 0 ? m : NULL;
        carom_record *record = carom_record_create(&rd, &err);
        assert_int_equal(record != NULL, k == 2);
        if (k < 2) assert_non_null(strstr(err.text, "rows at both sides of events are not supported"));
        if (k == 3) assert_non_null(strstr(err.text, "does not locate events"));
        carom_record_destroy(record);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
    carom_functions_destroy(f);
}

static int begin_all(void **state) { return begin(state) || host_begin(state); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_those_of_the_interface),
        cmocka_unit_test(values_agree_with_each_other),
        cmocka_unit_test(impulses_since_the_last_row_lose_nothing),
        cmocka_unit_test(rows_come_at_the_first_step_end_at_or_after_k_T),
        cmocka_unit_test(about_2000_rows_by_default),
        cmocka_unit_test(csv_and_hdf5_hold_the_same_bits),
        cmocka_unit_test(resumed_runs_are_bit_identical_for_every_scheme),
        cmocka_unit_test(resumed_mechanisms_are_bit_identical_for_every_scheme),
        cmocka_unit_test(a_finished_run_can_be_extended_bit_identically),
        cmocka_unit_test(a_result_of_another_model_is_not_resumed),
        cmocka_unit_test(a_result_that_others_write_is_not_resumed),
        cmocka_unit_test(a_killed_process_leaves_what_it_flushed),
        cmocka_unit_test(a_file_that_cannot_be_made_says_why),
        cmocka_unit_test(the_ledger_table_knows_every_name_and_value),
        cmocka_unit_test(the_ledger_survives_the_file),
        cmocka_unit_test(json_is_valid_whatever_the_numbers),
        cmocka_unit_test(damaged_results_are_told_not_crashed_on),
        cmocka_unit_test(files_that_are_no_results_are_told),
        cmocka_unit_test(ranges_outside_are_refused),
        cmocka_unit_test(a_record_in_memory_is_that_of_the_file),
        cmocka_unit_test(a_result_tells_how_it_came_about),
        cmocka_unit_test(a_system_without_a_model_is_recorded),
        cmocka_unit_test(rows_beside_events_need_a_model_of_their_own),
        cmocka_unit_test(the_host_is_as_before),
    };
    return cmocka_run_group_tests(tests, begin_all, end);
}
