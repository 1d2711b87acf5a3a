// test_cli_run.c: `carom run` as a person uses it: what a run leaves and prints, how it is stopped and goes on.
#define _DEFAULT_SOURCE // mkdtemp, usleep
#include "cli_rig.h"
#include "json.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

static double *column(carom_result *r, int c) {
    const long n = carom_result_rows(r);
    double *x = malloc(sizeof *x * (size_t)n + 8);
    carom_error err = {0};
    if (carom_result_read(r, c, 0, n, x, &err) != CAROM_OK) fail_msg("%s", err.text);
    return x;
}

static void assert_same(const char *a, const char *b) {
    carom_result *x = load(a), *y = load(b);
    assert_int_equal(carom_result_columns(x), carom_result_columns(y));
    assert_int_equal(carom_result_rows(x), carom_result_rows(y));
    assert_int_equal(carom_result_event_count(x), carom_result_event_count(y));
    for (int c = 0; c < carom_result_columns(x); ++c) {
        double *p = column(x, c), *q = column(y, c);
        assert_memory_equal(p, q, sizeof(double) * (size_t)carom_result_rows(x));
        free(p);
        free(q);
    }
    carom_result_close(x);
    carom_result_close(y);
}

static double last_time(const char *file) {
    carom_result *r = load(file);
    double *t = column(r, 0);
    const double last = t[carom_result_rows(r) - 1];
    free(t);
    carom_result_close(r);
    return last;
}

// -- run ----------------------------------------------------------------------------------------------

static void a_run_leaves_a_result_and_prints_a_ledger(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml"), 0);
    assert_says(out, "steps        1000");
    assert_says(out, "penetration");
    assert_says(out, "check ok     penetration < 1");
    assert_string_equal(complaints, "");
    assert_null(strchr(out, '\r'));   // no bar into a pipe
    assert_null(strchr(out, '\x1b')); // no colours
    carom_result *r = load("ball.h5");
    assert_int_equal(carom_result_rows(r), 1001);
    carom_result_close(r);
    assert_int_equal(carom("run ball.yaml --quiet --end 0.5 --out short.h5"), 0);
    assert_string_equal(out, "");
    assert_true(last_time("short.h5") == 0.5);
    assert_int_equal(carom("info ball.h5"), 0);
    static const char *const words[] = {"moreau-midpoint",         "1001 rows", "t = 0 .. 1",
                                        "ground.friction_impulse", "impact ",   "penetration"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) assert_says(out, words[i]);
}

// Options of the solvers do not belong to the scheme: they stay where another one is named.
static void another_scheme_keeps_options_of_the_solvers(void **state) {
    (void)state;
    static const char bouncing[] =
        "carom: 1\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: 1/2*x'^2, potential: 9.81*x}\ncontacts: {c: {gap: x, "
        "restitution: 0.5}}\n"
        "simulation: {scheme: moreau-jean, options: {theta: 1, gamma: 0.25, tol: 1e-7, accept: 1e-6, solver: newton, "
        "newton-tol: 1e-9, closed: strict}, step: 1e-2, end: 1}\n";
    static const char *const kept[] = {"tol=1e-07", "accept=1e-06", "solver=newton", "newton-tol=1e-09",
                                       "closed=nonstrict"};
    put("bouncing.yaml", bouncing);
    assert_int_equal(carom("run bouncing.yaml --scheme half-explicit --quiet -o o.h5"), 0);
    carom_result *r = load("o.h5");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) assert_says(carom_result_text(r, "options"), kept[i]);
    carom_result_close(r);
    assert_int_equal(carom("run bouncing.yaml --scheme half-explicit --option tol=1e-11 --quiet -o o.h5"), 0);
    r = load("o.h5");
    assert_says(carom_result_text(r, "options"), " tol=1e-11");
    carom_result_close(r);
    assert_int_equal(carom("run bouncing.yaml --quiet -o o.h5"), 0);
    r = load("o.h5");
    assert_says(carom_result_text(r, "options"), "theta=1");
    assert_says(carom_result_text(r, "options"), "closed=strict");
    carom_result_close(r);
}

static void the_command_line_comes_before_the_file(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(
        carom("run ball.yaml --scheme moreau-jean --option theta=1 --option=closed=strict --step 2e-3 --end 0.4 "
              "--set m=2*3 --set g=10 --every 5 -o o.h5"),
        0);
    carom_result *r = load("o.h5");
    double step = 0;
    assert_string_equal(carom_result_text(r, "scheme"), "moreau-jean");
    assert_says(carom_result_text(r, "options"), "theta=1");
    assert_says(carom_result_text(r, "options"), "closed=strict");
    assert_true(carom_result_number(r, "step", &step) && step == 2e-3);
    assert_int_equal(carom_result_rows(r), 41);
    double *E = column(r, carom_result_find(r, "potential"));
    assert_true(fabs(E[0] - 6 * 10 * 0.3) < 1e-12);
    free(E);
    carom_result_close(r);
}

static double last_of(carom_result *r, const char *name, bool first) {
    double *x = column(r, carom_result_find(r, name));
    const double value = x[first ? 0 : carom_result_rows(r) - 1];
    free(x);
    return value;
}

// Times are expressions of parameters, too, and initial values can be set like these.
// Without a scheme `auto` looks for a world of bodies; a gear is a joint without bodies of its own.  Angles t and 2 t.
static void gears_run_without_a_scheme(void **state) {
    (void)state;
    put("gear.yaml", "carom: 1\nbodies: {a: {mass: 1, inertia: 1, spin: 1}, b: {mass: 1, inertia: 1, at: [3, 0], spin: "
                     "2}}\njoints: {p: {type: revolute, between: [ground, a], at: [0, 0]}, q: {type: revolute, "
                     "between: [ground, b], at: [3, 0]}, mesh: {type: gear, joints: [p, q], ratio: 2}}\n"
                     "checks: [abs(p.angle - 0.5) < 1e-9, abs(q.angle - 1) < 1e-9]\nsimulation: {end: 0.5}\n");
    assert_int_equal(carom("run gear.yaml -o gear.h5"), 0);
}

static void ends_and_initial_values_are_expressions(void **state) {
    (void)state;
    put("spring.yaml", "carom: 1\nparameters: {w: 2}\ncoordinates: {x: 1}\nbodies: {b: {mass: 1, inertia: 1, at: [0.5, "
                       "0], angle: 0.1}, c: {mass: 1, inertia: [1, 1, 1], at: [3, 0, 0], velocity: [1, 0, 0]}}\n"
                       "energy: {kinetic: \"1/2*x'^2\", potential: 1/2*w^2*x^2}\nsimulation: {scheme: event-driven, "
                       "step: 0.1, end: 1}\n");
    assert_int_equal(carom("run spring.yaml --set w=4 --set x=0.3*w --set \"x'=-w\" --set b.x=0.25*w --set b.angle=2 "
                           "--set b.vy=3 --set c.vz=-1 --end '3*2*pi/w' --step '2*pi/w/8' --quiet -o o.h5"),
                     0);
    carom_result *r = load("o.h5");
    assert_int_equal(carom_result_rows(r), 25);
    const double pi = 3.14159265358979323846, end = 6 * pi / 4, first[][2] = {{1.2, -4}, {1, 0}, {0, 3}};
    assert_true(fabs(last_of(r, "t", false) - end) < 1e-12);
    assert_true(last_of(r, "x", true) == first[0][0] && last_of(r, "x'", true) == first[0][1]);
    // after three periods
    assert_true(fabs(last_of(r, "x", false) - 1.2) < 1e-7 && fabs(last_of(r, "x'", false) + 4) < 1e-7);
    assert_true(last_of(r, "b.x", true) == first[1][0] && last_of(r, "b.vx", true) == first[1][1] &&
                last_of(r, "b.y", true) == first[2][0] && last_of(r, "b.vy", true) == first[2][1]);
    assert_true(last_of(r, "b.angle", true) == 2 && last_of(r, "c.vz", true) == -1 && last_of(r, "c.vx", true) == 1);
    carom_result_close(r);
    assert_int_equal(carom("run spring.yaml --end 2*q"), 2);
    assert_says(complaints, "'2*q' is not a time");
    assert_int_equal(carom("run spring.yaml --end x"), 2); // the state is no parameter
    assert_says(complaints, "'x' is not a time");
    assert_int_equal(carom("run spring.yaml --set b.vz=1"), 2);
    assert_says(complaints, "no parameter or initial value 'b.vz'");
}

// Of splitting, --adaptive is the scheme's own option: it divides steps, which stay what they were.  Other ways to say
// so are the same run.
static void adaptive_is_a_scheme_s_own_option_where_it_has_one(void **state) {
    (void)state;
    static const char *const on[] = {"--adaptive", "--option adaptive=on", "--adaptive --option adaptive=on"};
    put("ball.yaml", ball);
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(
            carom("run ball.yaml --scheme splitting %s --rtol 1e-7 --step 2e-2 --end 0.4 -o o%d.h5", on[i], i), 0);
        assert_says(out, "splitting, step 0.02");
        assert_says(out, "steps of the scheme's own");
        char name[10];
        snprintf(name, sizeof name, "o%d.h5", i);
        carom_result *r = load(name);
        assert_says(carom_result_text(r, "options"), "adaptive=on rtol=1e-07");
        assert_int_equal(carom_result_rows(r), 21);
        carom_result_close(r);
    }
}

static void csv_goes_to_standard_output_and_the_ledger_beside_it(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --out - --every 10"), 0);
    assert_says(complaints, "steps        1000");
    put("piped.csv", out);
    assert_int_equal(carom("run ball.yaml --out file.csv --every 10"), 0);
    assert_int_equal(carom("run ball.yaml --out file.h5 --every 10"), 0);
    assert_true(there("file.csv.events.csv"));
    assert_same("file.csv", "file.h5");
    carom_result *a = load("piped.csv"), *b = load("file.h5");
    assert_int_equal(carom_result_rows(a), carom_result_rows(b));
    assert_int_equal(carom_result_columns(a), carom_result_columns(b));
    carom_result_close(a);
    carom_result_close(b);
    assert_int_equal(carom("info file.csv"), 0);
    assert_says(out, "101 rows");
}

// A model is not trusted: patterns that match in very many ways take no longer than others.
static void patterns_of_columns_end(void **state) {
    (void)state;
    put("globs.yaml", "carom: 1\ncoordinates: {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: 1}\n"
                      "energy: {kinetic: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'^2}\n"
                      "simulation: {step: 0.1, end: 0.2}\n");
    assert_int_equal(carom("run globs.yaml -q --columns 'a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b'"), 2);
    assert_int_equal(carom("run globs.yaml -q --columns '*a*a?*'"), 0);
}

static void errors_are_estimated(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --quiet --out plain.h5"), 0);
    assert_int_equal(carom("run ball.yaml --estimate --out estimated.h5"), 0);
    assert_says(out, "estimate     from runs with the steps");
    assert_says(out, "digit");
    assert_same("plain.h5", "estimated.h5"); // the result is that of the run itself
    assert_int_equal(carom("run ball.yaml --estimate --json --out estimated.h5"), 0);
    assert_true(json_valid(out));
    assert_says(out, "\"estimate\": {\"by\": \"step\"");
    assert_says(out, "\"name\": \"energy.impact\"");
    carom_result *r = load("estimated.h5");
    carom_ledger l;
    carom_ledger_names names;
    assert_true(carom_result_ledger(r, &l, &names));
    assert_non_null(names.estimate);
    if (!strstr(out, names.estimate)) fail_msg("the file has %s", names.estimate);
    carom_result_close(r);
    assert_int_equal(carom("run ball.yaml --json --out plain.h5"), 0);
    assert_says(out, "\"estimate\": null");
    assert_int_equal(carom("run ball.yaml --estimate --quiet"), 0);
    assert_string_equal(out, "");
    assert_int_equal(carom("run ball.yaml --estimate --out -"), 0); // rows on standard output, the ledger on the other
    assert_says(complaints, "estimate     from runs");
    assert_null(strstr(out, "estimate"));
    assert_int_equal(carom("run --resume plain.h5 --estimate"), 2);
    assert_says(complaints, "mutually exclusive");
    assert_int_equal(carom("run ball.yaml --scheme event-driven --rtol 1e-14 --estimate"),
                     1); // no tolerance is smaller; the run is done
    assert_says(complaints, "no estimate");
    put("swing.yaml", "carom: 1\ncoordinates: {a: 2.5, b: 2}\nenergy: {kinetic: a'^2 + b'^2/2 + a'*b'*cos(a - b), "
                      "potential: -9.81*(2*cos(a) + cos(b))}\n"
                      "simulation: {scheme: half-explicit, step: 1e-3, end: 20}\n");
    assert_int_equal(carom("run swing.yaml --estimate"), 0);
    assert_says(out, "valid      until t = ");
    assert_int_equal(carom("run swing.yaml --estimate --strict --quiet"), 3);
    assert_says(complaints, "large from t = ");
}

static void the_ledger_as_json(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --json"), 0);
    assert_true(json_valid(out));
    static const char *const names[] = {"\"steps\"",
                                        "\"seconds\"",
                                        "\"ns_per_step\"",
                                        "\"rejected\"",
                                        "\"impacts\"",
                                        "\"accumulations\"",
                                        "\"penetration\"",
                                        "\"penetration_contact\": \"ground\"",
                                        "\"penetration_time\"",
                                        "\"drift\"",
                                        "\"energy\": {",
                                        "\"start\"",
                                        "\"end\"",
                                        "\"impact\"",
                                        "\"friction\"",
                                        "\"damping\"",
                                        "\"external\"",
                                        "\"balance\"",
                                        "\"contact\": {",
                                        "\"problems\"",
                                        "\"iterations\"",
                                        "\"residual\"",
                                        "\"fallbacks\"",
                                        "\"newton\": {",
                                        "\"max\"",
                                        "\"met\": true"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) assert_says(out, names[i]);
}

static void a_failed_check_is_exit_3_and_the_result_is_kept(void **state) {
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, "%s", ball);
    *strstr(text, "penetration < 1") = 0;
    strcat(text, "max(y) < 0.2, penetration < 1]\nsimulation: {scheme: moreau-midpoint, step: 1e-3, end: 0.5}\n");
    put("strict.yaml", text);
    assert_int_equal(carom("run strict.yaml"), 3);
    assert_says(complaints, "check failed: max(y) < 0.2");
    assert_says(out, "check ok     penetration < 1");
    assert_true(last_time("strict.h5") == 0.5);
    assert_int_equal(carom("run strict.yaml --json --quiet"), 3);
    assert_true(json_valid(out));
    assert_says(out, "\"met\": false");
}

static void a_run_that_cannot_go_on_is_exit_1_and_saved(void **state) {
    (void)state;
    // The speed of a falling ball grows without bound: x'' = x'^2 has a pole at t = 1.
    put("pole.yaml",
        "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2, potential: 0}\nforces: {x: x'^2}\n"
        "simulation: {scheme: moreau-explicit, step: 1e-3, end: 3}\n");
    assert_int_equal(carom("run pole.yaml --every 1000"), 1); // the last good state is there although no row was due
    assert_says(complaints, "t = ");
    assert_says(complaints, "pole.h5");
    const double t = last_time("pole.h5");
    assert_true(t > 0.9 && t < 1.5);
    carom_result *r = load("pole.h5");
    assert_string_equal(carom_result_text(r, "status"), "failed");
    double *v = column(r, 2);
    for (long i = 0; i < carom_result_rows(r); ++i) assert_true(isfinite(v[i]));
    free(v);
    carom_result_close(r);
}

// Sticking at e = 1 with slip against the drive of the impact: energy is created, see test_warnings.
static const char gains[] =
    "carom: 1\ncoordinates: {x: {at: 0, rate: 0.3}, y: {at: sin(0.6) + 1e-3, rate: -0.5}, th: {at: 0.6, rate: 0}}\n"
    "energy: {kinetic: (x'^2 + y'^2 + 0.1*th'^2)/2}\ncontacts: {tip: {gap: y - sin(th), slip: x - cos(th), "
    "restitution: 1, friction: 5}}\n"
    "simulation: {scheme: mixed, step: 1e-4, end: 4e-3}\n";

static void warnings_are_told_everywhere_and_strict_is_3(void **state) {
    (void)state;
    put("gains.yaml", gains);
    assert_int_equal(carom("run gains.yaml"), 0);
    assert_says(out, "warning      energy-created at tip: impacts created 0.0");
    assert_int_equal(carom("run gains.yaml --strict --quiet"), 3);
    assert_says(complaints, "energy-created: impacts created");
    assert_int_equal(carom("run gains.yaml --json"), 0);
    assert_says(out, "\"warnings\": [{\"kind\": \"energy-created\", \"text\": \"impacts created");
    assert_says(out, "\"name\": \"tip\", \"t\": 0.002");
    carom_result *r = load("gains.h5");
    carom_ledger l;
    carom_ledger_names names;
    assert_true(carom_result_ledger(r, &l, &names));
    assert_true(l.energy.created > 0.02);
    assert_says(names.warnings, "\"kind\": \"energy-created\"");
    carom_result_close(r);
    assert_int_equal(carom("compare gains.yaml --schemes mixed --steps 1e-3 --reference event-driven:1e-3"), 0);
    assert_int_equal(carom("compare gains.yaml --schemes mixed --steps 1e-3 --reference event-driven:1e-3 --strict"),
                     3);
    assert_says(complaints, "mixed, step 0.001: energy-created");
    put("ball.yaml", ball); // nothing to say
    assert_int_equal(carom("run ball.yaml --strict --json"), 0);
    assert_says(out, "\"warnings\": []");
    assert_int_equal(carom("run ball.yaml --scheme auto --option max-step=1e-14"), 2);
    assert_says(complaints, "max-step=1e-14 would divide");
}

// A point of weight 9.81 is pushed by 3 in a groove of slope 1: the sides carry 6.405 and 3.405, whose sum is the
// weight.  Results have the columns of the gap and of its parts.
static void a_gap_with_several_parts_keeps_its_columns(void **state) {
    (void)state;
    put("groove.yaml", "carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2)\", potential: "
                       "9.81*y}\nforces: {x: 3}\n"
                       "contacts: {groove: {gap: y - abs(x), slip: x, friction: 1e-9}}\nsimulation: {scheme: "
                       "event-driven, step: 0.1, end: 0.2}\n");
    assert_int_equal(carom("run groove.yaml --quiet --out groove.csv --every 1"), 0);
    get("groove.csv", out, sizeof out);
    static const struct {
        const char *name; double value;
    } column[] = {{",groove.gap,", 0},        {",groove.gap',", 0},     {",groove.force,", 9.81},
                  {",groove.impulse,", 0},    {",groove.friction,", 0}, {",groove.1.force,", 6.405},
                  {",groove.2.force,", 3.405}};
    for (size_t k = 0; k < sizeof column / sizeof *column; ++k) {
        const char *at = strstr(out, column[k].name), *row = strstr(out, "\n0.1");
        assert_true(at && row && at < strchr(out, '\n'));
        for (const char *c = out; c <= at; ++c)
            if (*c == ',') row = strchr(row + 1, ',');
        assert_true(fabs(strtod(row + 1, NULL) - column[k].value) < 1e-6);
    }
}

// -- stopping and going on ----------------------------------------------------------------------------

static pid_t start(const char *const *arguments) {
    const pid_t child = fork();
    if (child == 0) {
        const int sink = open("child.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(sink, 1);
        dup2(sink, 2);
        execv(CAROM_BINARY_DIR "/carom", (char *const *)arguments);
        _exit(127);
    }
    return child;
}

// Start an endless run, end it by a signal some seconds after its file is there; its wait status.
static int strike(const char *file, int signal, double seconds) {
    const char *const arguments[] = {"carom",   "run",  "ball.yaml", "--end", "1e7",
                                     "--every", "1000", "--out",     file,    NULL};
    remove(file);
    const pid_t child = start(arguments);
    for (int i = 0; i < 3000 && access(file, F_OK) != 0; ++i) usleep(10000); // a busy machine starts it late
    usleep((useconds_t)(1e6 * seconds));
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

// Go on to a common end and compare with a run that never stopped.
static void assert_goes_on(const char *file) {
    const double end = ceil(last_time(file)) + 2;
    assert_int_equal(carom("run --resume %s --end %.17g", file, end), 0);
    assert_int_equal(carom("run ball.yaml --end %.17g --every 1000 --out whole.h5", end), 0);
    assert_same(file, "whole.h5");
}

static void an_interrupted_run_is_saved_and_goes_on_bit_identically(void **state) {
    (void)state;
    put("ball.yaml", ball);
    static const int signals[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; ++i) {
        const int status = strike("int.h5", signals[i], 0.3);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 130);
        get("child.txt", out, sizeof out);
        assert_says(out, "carom run --resume int.h5");
        carom_result *r = load("int.h5");
        assert_string_equal(carom_result_text(r, "status"), "interrupted");
        carom_result_close(r);
        assert_goes_on("int.h5");
    }
}

// The file is at most a second old when the program is killed.  Where others have the processor at that moment it may
// be older: one good kill of ATTEMPTS is enough, for a program that writes more rarely would fail in all.
static void a_killed_run_holds_all_but_the_last_second(void **state) {
    (void)state;
    put("ball.yaml", ball);
    enum { ATTEMPTS = 5 };
    for (int k = 1;; ++k) {
        const int status = strike("killed.h5", SIGKILL, 1.4 + 0.35 * k);
        assert_true(WIFSIGNALED(status));
        struct stat st;
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        assert_int_equal(stat("killed.h5", &st), 0);
        const double age = (double)(now.tv_sec - st.st_mtim.tv_sec) + 1e-9 * (double)(now.tv_nsec - st.st_mtim.tv_nsec);
        const double t = last_time("killed.h5"); // 10 000 steps of 1e-3 in a second at the least
        if (age < 1 && t > 10) break;
        if (k == ATTEMPTS) fail_msg("%g s old, at t = %g", age, t);
    }
    assert_goes_on("killed.h5");
}

static void resume_to_another_file_leaves_the_first_alone(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --every 3 --end 0.4 --out first.h5 --set g=9"), 0);
    assert_int_equal(carom("run ball.yaml --every 3 --end 1 --out whole.h5 --set g=9"), 0);
    const double before = last_time("first.h5");
    assert_int_equal(carom("run ball.yaml --resume first.h5 --end 1 --out second.h5"), 0);
    assert_true(last_time("first.h5") == before);
    assert_same("second.h5", "whole.h5");
    assert_int_equal(carom("run --resume first.h5 --end 0.2"), 2);
    assert_says(complaints, "already at");
    assert_int_equal(carom("run --resume first.h5 --step 1e-4"), 2);
    assert_int_equal(carom("run --resume first.h5 --scheme moreau-jean"), 2);
    assert_int_equal(carom("run --resume first.h5 --set g=8"), 2);
    assert_int_equal(carom("run --resume first.h5 --out x.csv"), 2);
    put("other.yaml", "carom: 1\n");
    assert_int_equal(carom("run other.yaml --resume first.h5"), 2);
    assert_says(complaints, "is not the model in");
    assert_true(last_time("first.h5") == before);
}

static void matrices_come_from_the_command_line_and_stay_in_the_result(void **state) {
    (void)state;
    put("K.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 100\n2 1 -50\n2 2 50\n");
    put("M.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n0\n2\n");
    put("frame.yaml", "carom: 1\nflexible: {f: {type: matrices, mass: M, stiffness: K, rate: s, points: {tip: 2}}}\n"
                      "contacts: {stop: {gap: 0.1 - f.tip.u, restitution: 0.5}}\nsimulation: {scheme: moreau-jean, "
                      "step: 1e-3, end: 1}\n");
    assert_int_equal(carom("check frame.yaml --matrix M=M.mtx --matrix K=K.mtx"), 0);
    assert_int_equal(carom("info frame.yaml --matrix M=M.mtx --matrix K=K.mtx"), 0);
    assert_says(out, "matrices");
    assert_int_equal(carom("run frame.yaml --matrix M=M.mtx --matrix K=K.mtx --end 0.5 --every 1 --out part.h5"), 0);
    assert_int_equal(carom("run frame.yaml --matrix M=M.mtx --matrix K=K.mtx --every 1 --out whole.h5"), 0);
    assert_int_equal(carom("run --resume part.h5 --end 1 --matrix K=K.mtx"), 2);
    assert_says(complaints, "contains its matrices");
    assert_int_equal(remove("K.mtx"), 0);
    assert_int_equal(carom("run --resume part.h5 --end 1"), 0);
    assert_same("part.h5", "whole.h5");
    assert_int_equal(carom("view part.h5 --out part.html"), 0);
    assert_string_equal(complaints, "");
    assert_int_equal(carom("compare frame.yaml --matrix M=M.mtx --matrix K=M.mtx --schemes newmark --steps 1e-2 "
                           "--reference moreau-jean:1e-3 --end 0.2"),
                     0);
    assert_int_equal(carom("run frame.yaml"), 2);
    assert_says(complaints, "frame.yaml:2:38: no matrix 'M' is given; give its file: --matrix M=FILE");
    assert_int_equal(carom("run frame.yaml --matrix M"), 2);
    assert_says(complaints, "'M' is not NAME=FILE");
    assert_int_equal(carom("run frame.yaml --matrix M=M.mtx --matrix K=K.mtx"), 2);
    assert_says(complaints, "K.mtx");
}

// Schemes with steps of their own need no --step.  What they take in its place must not depend on the end, or a run
// that goes on would differ from one to the later end.
static void with_rows_at_given_times_the_end_changes_nothing(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "auto"};
    put("swing.yaml", "carom: 1\ncoordinates: {x: 1, y: {at: 0.3, rate: 0}}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2)\", "
                      "potential: 9.81*y + 20*x^2 + 5*x^2*y}\ncontacts: {floor: {gap: y, restitution: 0.7}}\n");
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(carom("run swing.yaml --scheme %s --dt-out 0.05 --end 0.4 --out first.h5 --force", schemes[i]),
                         0);
        assert_int_equal(carom("run swing.yaml --scheme %s --dt-out 0.05 --end 1 --out whole.h5 --force", schemes[i]),
                         0);
        assert_int_equal(carom("run --resume first.h5 --end 1"), 0);
        assert_same("first.h5", "whole.h5");
    }
}

// The state is saved before the last step; the time that the run took is not in it.
static void the_ledger_of_a_resumed_run_holds_all_its_time(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --quiet --step 1e-5 --out timed.h5"), 0);
    double seconds[3], wall[3];
    for (int i = 0; i < 3; ++i) {
        // finished; and further on
        if (i > 0) assert_int_equal(carom("run --resume timed.h5 --quiet%s", i == 1 ? "" : " --end 1.5"), 0);
        carom_ledger l;
        carom_ledger_names names;
        carom_result *r = load("timed.h5");
        assert_true(carom_result_ledger(r, &l, &names));
        seconds[i] = l.seconds;
        wall[i] = l.wall;
        carom_result_close(r);
    }
    assert_true(seconds[0] > 0 && wall[0] > 0);
    for (int i = 1; i < 3; ++i) assert_true(seconds[i] > seconds[i - 1] && wall[i] > wall[i - 1]);
    assert_true(seconds[1] < 1.5 * seconds[0]); // a single step was repeated
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_with_several_parts_keeps_its_columns),
        cmocka_unit_test(a_run_leaves_a_result_and_prints_a_ledger),
        cmocka_unit_test(another_scheme_keeps_options_of_the_solvers),
        cmocka_unit_test(the_command_line_comes_before_the_file),
        cmocka_unit_test(gears_run_without_a_scheme),
        cmocka_unit_test(ends_and_initial_values_are_expressions),
        cmocka_unit_test(adaptive_is_a_scheme_s_own_option_where_it_has_one),
        cmocka_unit_test(csv_goes_to_standard_output_and_the_ledger_beside_it),
        cmocka_unit_test(patterns_of_columns_end),
        cmocka_unit_test(errors_are_estimated), cmocka_unit_test(the_ledger_as_json),
        cmocka_unit_test(a_failed_check_is_exit_3_and_the_result_is_kept),
        cmocka_unit_test(a_run_that_cannot_go_on_is_exit_1_and_saved),
        cmocka_unit_test(an_interrupted_run_is_saved_and_goes_on_bit_identically),
        cmocka_unit_test(a_killed_run_holds_all_but_the_last_second),
        cmocka_unit_test(resume_to_another_file_leaves_the_first_alone),
        cmocka_unit_test(matrices_come_from_the_command_line_and_stay_in_the_result),
        cmocka_unit_test(the_ledger_of_a_resumed_run_holds_all_its_time),
        cmocka_unit_test(with_rows_at_given_times_the_end_changes_nothing),
        cmocka_unit_test(warnings_are_told_everywhere_and_strict_is_3),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
