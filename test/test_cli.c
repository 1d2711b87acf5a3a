// test_cli.c: the program as a person uses it: exit statuses, messages, files.
#define _DEFAULT_SOURCE // mkdtemp, usleep
#include "json.h"
#include "program.h"
#include <carom/carom.h>
#include <carom/result.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

static char folder[64];

static const char ball[] =
    "carom: 1\n"
    "name: Ball\n"
    "parameters: {m: 1, g: 9.81}\n"
    "coordinates: {x: {at: 0, rate: 1}, y: {at: 0.3}}\n"
    "energy: {kinetic: 1/2*m*(x'^2 + y'^2), potential: m*g*y}\n"
    "contacts: {ground: {gap: y, slip: x, restitution: 0.6, friction: 0.2}}\n"
    "outputs: {height: y}\n"
    "checks: [penetration < 1]\n"
    "simulation: {scheme: moreau-midpoint, step: 1e-3, end: 1}\n";

static bool there(const char *name) {
    return access(name, F_OK) == 0;
}

static carom_result *load(const char *file) {
    carom_error err = {0};
    carom_result *r = carom_result_open(file, &err);
    if (!r) fail_msg("%s", err.text);
    return r;
}

static long rows_of(const char *file) {
    carom_result *r = load(file);
    const long rows = carom_result_rows(r);
    carom_result_close(r);
    return rows;
}

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

// -- usage --------------------------------------------------------------------------------------------

static void help_and_version(void **state) {
    (void)state;
    assert_int_equal(carom("--version"), 0);
    assert_string_equal(out, "carom " CAROM_VERSION "\n");
    assert_int_equal(carom("help"), 0);
    static const char *const verbs[] = {"run", "check", "info", "schemes", "examples", "plot", "view", "help"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; ++i) {
        assert_int_equal(carom("help"), 0);
        char line[32];
        snprintf(line, sizeof line, "carom %s ", verbs[i]);
        assert_says(out, line);
        assert_int_equal(carom("help %s", verbs[i]), 0);
        assert_null(strstr(out, " \n")); // no blanks at the ends of lines
        snprintf(line, sizeof line, "usage: carom %s", verbs[i]);
        assert_says(out, line);
        assert_int_equal(carom("%s --help", verbs[i]), 0);
        assert_says(out, line);
    }
    assert_int_equal(carom("--help"), 0);
    assert_int_equal(carom("%s", ""), 2);
}

static void wrong_usage_is_exit_2_with_a_suggestion(void **state) {
    (void)state;
    static const struct { const char *line, *says; } cases[] = {
        {"rum ball.yaml", "did you mean 'run'"},
        {"run ball.yaml --stp 1e-3", "did you mean --step"},
        {"sweep ball.yaml --vary e=0.1,0.2 --observe q,impacts", "repeat the option for each"},
        {"run ball.yaml --step", "--step needs a value"},
        {"run ball.yaml --step abc", "'abc' is not a time; write a number of seconds"},
        {"run ball.yaml --step '2 mm'", "--step: '2 mm' is not a time"},
        {"run ball.yaml --end '2 furlong'", "--end: '2 furlong' is not a time"},
        {"run ball.yaml --end '1e999 s'", "--end: '1e999 s' is not a time"},
        {"run ball.yaml --dt-out '-1 ms'", "--dt-out: -1 ms is not above 0"},
        {"run ball.yaml --step -1", "not above 0"},
        {"run ball.yaml --step 1e-3 --step=1e-4", "given twice"},
        {"run ball.yaml --quiet=1", "takes no value"},
        {"run ball.yaml --every 2 --dt-out 0.1", "give one of them"},
        {"run ball.yaml --every 2.5", "not a whole number"},
        {"run ball.yaml --out - --json", "standard output"},
        {"run ball.yaml --out x.txt", "neither in .h5 nor in .csv"},
        {"run ball.yaml second.yaml", "second.yaml"},
        {"run", "needs a model"},
        {"run nowhere.yaml", "No such file"},
        {"run ball.yaml --scheme moreau-jeam", "did you mean 'moreau-jean'"},
        {"run ball.yaml --scheme moreau-mid", "did you mean 'moreau-midpoint'? `carom schemes` lists them"},
        {"run ball.yaml --option tets=1", "its options are"},
        {"run ball.yaml --scheme moreau-jean --rtol 1e-6", "--rtol belongs to adaptive steps; add --adaptive"},
        {"run ball.yaml --scheme splitting --atol 1e-6", "--atol belongs to adaptive steps; add --adaptive"}, // its atol does nothing without
        {"run ball.yaml --start ball.yaml", "ball.yaml is a model, not a state"},
        {"play kind.h5", "kind.h5 is a result, not a model"},
        {"view picture.png", "picture.png is not a result\n"},
        {"info damaged.h5", "cannot read damaged.h5, which may be damaged; run its model again"},
        {"plot damaged.h5", "cannot read damaged.h5, which may be damaged; run its model again"},
        {"view damaged.h5", "cannot read damaged.h5, which may be damaged; run its model again"},
        {"run damaged.h5", "damaged.h5 is a result, not a model"},
        {"check nowhere.h5", "cannot read nowhere.h5: No such file"},
        {"view ball.yaml", "ball.yaml is a model, not a result; `carom run ball.yaml` makes one"},
        {"run ball.yaml --set nothing=1", "nothing"},
        {"run ball.yaml --out nowhere/x.h5", "cannot create"},
        {"run ball.yaml --resume nowhere.h5", "No such file"},
        {"run --resume pipe.h5", "cannot read a result from pipe.h5: it is not a regular file"}, // nobody writes there: no verb waits
        {"run ball.yaml --start pipe.h5 --out never.h5", "cannot read a state from pipe.h5: it is not a regular file"},
        {"sweep --resume pipe.h5", "pipe.h5 is not a sweep"},
        {"merge pipe.h5 --out never.h5", "pipe.h5 has no table /runs"},
        {"sweep ball.yaml --vary g=9:10:2 --part 1/2 --out part.csv", "`carom merge` reads .h5 files; give --out PART.h5"},
        {"run ball.yaml --watch --out own.h5", "--watch would replace own.html, which carom did not write"},
        {"schemes moreau-jeam", "did you mean 'moreau-jean'"},
        {"examples bouncing-bal", "did you mean 'bouncing-ball'"},
        {"check", "check needs a MODEL; usage: carom check MODEL"},
        {"plot", "plot needs a RESULT; usage: carom plot RESULT..."},
        {"info", "info needs a FILE; usage: carom info FILE"},
        {"info nowhere.yaml", "No such file"},
        {"help plto", "did you mean 'plot'"},
        {"--verison", "there is no verb '--verison'; did you mean '--version'?"},
        {"--scheme auto", "there is no verb '--scheme'; options stand behind the verb"},
        {"examples slider", "did you mean 'slider-crank'?"}, // not one of the longer names
    };
    put("ball.yaml", ball);
    put("own.html", "<!doctype html>\n<title>A report</title>\n");
    assert_int_equal(mkfifo("pipe.h5", 0600), 0);
    put("picture.png", "\211PNG\r\n");
    put("damaged.h5", ball); // a result holds its model, which may outlast the head of the file
    assert_int_equal(carom("run ball.yaml --quiet --end 0.1 --out kind.h5"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (carom("%s", cases[i].line) != 2) fail_msg("carom %s: not exit 2; %s", cases[i].line, complaints);
        assert_says(complaints, cases[i].says);
        assert_string_equal(out, "");
    }
    assert_int_equal(carom("sweep ball.yaml --vary g=nowhere.csv:g --out part.csv"), 2);
    assert_string_equal(complaints, "carom: --vary g: cannot read nowhere.csv: No such file or directory\n");
    assert_false(there("ball.h5") || there("own.h5") || there("part.csv"));
    assert_int_equal(carom("run ball.yaml --watch --out own.h5 --force --quiet"), 0);
    assert_int_equal(carom("run ball.yaml --watch --out own.h5 --quiet"), 0); // it is a page of carom now
}

static void a_step_or_end_that_is_missing_is_asked_for(void **state) {
    (void)state;
    put("bare.yaml", "carom: 1\ncoordinates: {y: {at: 1}}\nenergy: {kinetic: 1/2*y'^2, potential: y}\n");
    assert_int_equal(carom("run bare.yaml --end 1"), 2);
    assert_says(complaints, "give --step");
    assert_int_equal(carom("run bare.yaml --step 0.1"), 2);
    assert_says(complaints, "give --end");
    assert_int_equal(carom("run bare.yaml --step=0.1 --end=1 --json"), 0); // and the default scheme
    assert_true(json_valid(out));
}

static void a_wrong_model_is_exit_2_with_its_place(void **state) {
    (void)state;
    put("wrong.yaml", "carom: 1\ncoordinates: {y: {at: 1}}\nenergy: {kinetic: 1/2*y'^2, potential: w*y}\n");
    static const char *const verbs[] = {"run", "check", "info"};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(carom("%s wrong.yaml", verbs[i]), 2);
        assert_says(complaints, "wrong.yaml:3:");
    }
}

// Models and results look alike to who has just begun: each verb says what the file is and which verb takes it.
static void a_file_of_the_other_kind_is_told_as_such(void **state) {
    (void)state;
    put("ball.yaml", ball);
    put("ball.txt", ball);
    assert_int_equal(carom("run ball.yaml --quiet --end 0.1 --out kind.h5"), 0);
    assert_int_equal(carom("plot ball.yaml"), 2);
    assert_says(complaints, "ball.yaml is a model, not a result; `carom run ball.yaml` makes one");
    assert_int_equal(carom("plot kind.h5 ball.txt"), 2);
    assert_says(complaints, "ball.txt is a model, not a result");
    assert_int_equal(carom("check kind.h5"), 2);
    assert_says(complaints, "kind.h5 is a result, not a model; `carom info kind.h5`");
    assert_int_equal(carom("run kind.h5"), 2);
    assert_says(complaints, "--resume kind.h5");
    assert_int_equal(carom("compare kind.h5"), 2);
    assert_says(complaints, "--reference kind.h5");
}

static void what_the_simulation_section_gets_wrong_has_its_place(void **state) {
    (void)state;
    static const struct { const char *section, *says; } cases[] = {
        {"{scheme: moreau-midpont, step: 1e-3, end: 1}", "wrong.yaml:5:22: there is no scheme 'moreau-midpont'"},
        {"{scheme: moreau-jean, options: {theta: 1, thta: 1}, step: 1e-3, end: 1}", "wrong.yaml:5:55: scheme moreau-jean has no option 'thta'"},
        {"{scheme: moreau-jean, options: {theta: 2}, step: 1e-3, end: 1}", "wrong.yaml:5:45: option theta: 2 is outside"},
        {"{scheme: schatzman-paoli, step: 1e-3, end: 1}", "wrong.yaml:5:22: scheme schatzman-paoli does not support friction"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[1000];
        snprintf(text, sizeof text, "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: y}\n"
                 "contacts: {ground: {gap: y, slip: x, friction: 1}}\nsimulation: %s\n", cases[i].section);
        put("wrong.yaml", text);
        assert_int_equal(carom("run wrong.yaml"), 2);
        assert_int_equal(strncmp(complaints, cases[i].says, strlen(cases[i].says)), 0);
        assert_int_equal(carom("check wrong.yaml"), 3);
        assert_says(out, cases[i].says);
        assert_int_equal(carom("compare wrong.yaml"), 2);
        assert_says(complaints, "wrong.yaml:5:");
        assert_int_equal(carom("run wrong.yaml --scheme half-explicit"), 0); // the file's is not asked
    }
    put("right.yaml", ball); // what the command line gets wrong has none
    assert_int_equal(carom("run right.yaml --option thta=1"), 2);
    assert_says(complaints, "carom: scheme moreau-midpoint has no option 'thta'");
}

static void messages_name_the_coordinate(void **state) {
    (void)state;
    put("light.yaml", "carom: 1\ncoordinates: {first: {at: 1}, second: {at: 0}}\nenergy: {kinetic: 1/2*first'^2 - second'^2, potential: first}\n"
                      "simulation: {step: 1e-3, end: 1}\n");
    assert_int_equal(carom("run light.yaml"), 1);
    assert_says(complaints, "not positive definite at coordinate 'second'");
    put("runaway.yaml", "carom: 1\ncoordinates: {calm: {at: 1}, wild: {at: 1}}\nenergy: {kinetic: 1/2*(calm'^2 + wild'^2), potential: calm}\n"
                        "forces: {wild: 1e9*wild}\nsimulation: {scheme: moreau-midpoint, step: 1e-3, end: 10}\n");
    assert_int_equal(carom("run runaway.yaml"), 1);
    assert_says(complaints, "the rate of coordinate 'wild' has grown");
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
    static const char *const words[] = {"moreau-midpoint", "1001 rows", "t = 0 .. 1", "ground.friction_impulse", "impact ", "penetration"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) assert_says(out, words[i]);
}

static void the_command_line_comes_before_the_file(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --scheme moreau-jean --option theta=1 --option=closed=strict --step 2e-3 --end 0.4 "
                           "--set m=2*3 --set g=10 --every 5 -o o.h5"), 0);
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

// Of splitting, --adaptive is the scheme's own option: it divides steps, which stay what they were.  Other ways to say so are the same run.
static void adaptive_is_a_scheme_s_own_option_where_it_has_one(void **state) {
    (void)state;
    static const char *const on[] = {"--adaptive", "--option adaptive=on", "--adaptive --option adaptive=on"};
    put("ball.yaml", ball);
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(carom("run ball.yaml --scheme splitting %s --rtol 1e-7 --step 2e-2 --end 0.4 -o o%d.h5", on[i], i), 0);
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

// x'' = -k x, x(0) = 1, x'(0) = 0: after one step of the midpoint rule x = 1 - h^2 k/2.
static void a_model_says_how_it_is_swept(void **state) {
    (void)state;
    char table[4000];
    put("swept.yaml", "carom: 1\nparameters: {k: 1, m: 1}\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: \"1/2*m*x'^2\", potential: 1/2*k*x^2}\n"
                      "simulation: {scheme: moreau-midpoint, step: 0.5, end: 0.5}\nsweep: {vary: {k: '1:4:2', m: [1, 2]}, observe: [x, \"x'\"], zip: yes}\n");
    assert_int_equal(carom("sweep swept.yaml --out swept.csv"), 0);
    get("swept.csv", table, sizeof table);
    assert_string_equal(table, "run,k,m,status,message,x,x'\n0,1,1,0,,0.875,-0.5\n1,4,2,0,,0.75,-1\n");
    assert_int_equal(carom("sweep swept.yaml --vary k=4 --observe x --out swept.csv"), 0); // the command line wins
    get("swept.csv", table, sizeof table);
    assert_string_equal(table, "run,k,status,message,x\n0,4,0,,0.5\n");
    assert_int_equal(carom("export cuda swept.yaml -o swept.cu"), 0);
    assert_true(there("swept.cu"));
    put("wrong.yaml", "carom: 1\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: \"1/2*x'^2\"}\nsimulation: {step: 0.5, end: 0.5}\nsweep: {varied: 1}\n");
    assert_int_equal(carom("sweep wrong.yaml"), 2);
    assert_non_null(strstr(complaints, "wrong.yaml:5:9: sweep has no option 'varied'"));
    put("wrong.yaml", "carom: 1\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: \"1/2*x'^2\"}\nsimulation: {step: 0.5, end: 0.5}\nsweep: {vary: {x: '1,2'}, zip: 3}\n");
    assert_int_equal(carom("sweep wrong.yaml"), 2);
    assert_non_null(strstr(complaints, "`zip` in sweep is yes or no"));
    assert_int_equal(carom("export cuda swept.yaml --scheme mixed"), 2);
    assert_non_null(strstr(complaints, "lanes do not support the scheme mixed"));
    assert_int_equal(carom("export c swept.yaml --vary k=1,2"), 2);
    assert_non_null(strstr(complaints, "--vary belongs to sweeps"));
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

static void the_ledger_as_json(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --json"), 0);
    assert_true(json_valid(out));
    static const char *const names[] = {"\"steps\"", "\"seconds\"", "\"ns_per_step\"", "\"rejected\"", "\"impacts\"",
        "\"accumulations\"", "\"penetration\"", "\"penetration_contact\": \"ground\"", "\"penetration_time\"", "\"drift\"",
        "\"energy\": {", "\"start\"", "\"end\"", "\"impact\"", "\"friction\"", "\"damping\"", "\"external\"", "\"balance\"",
        "\"contact\": {", "\"problems\"", "\"iterations\"", "\"residual\"", "\"fallbacks\"", "\"newton\": {", "\"max\"",
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
    put("pole.yaml", "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2, potential: 0}\nforces: {x: x'^2}\n"
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
    const char *const arguments[] = {"carom", "run", "ball.yaml", "--end", "1e7", "--every", "1000", "--out", file, NULL};
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

static void a_killed_run_holds_all_but_the_last_second(void **state) {
    (void)state;
    put("ball.yaml", ball);
    const int status = strike("killed.h5", SIGKILL, 1.4);
    assert_true(WIFSIGNALED(status));
    struct stat st;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    assert_int_equal(stat("killed.h5", &st), 0);
    const double age = (double)(now.tv_sec - st.st_mtim.tv_sec) + 1e-9 * (double)(now.tv_nsec - st.st_mtim.tv_nsec);
    assert_true(age < 1);
    assert_true(last_time("killed.h5") > 10); // 10 000 steps of 1e-3 in a second at the least
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
                      "contacts: {stop: {gap: 0.1 - f.tip.u, restitution: 0.5}}\nsimulation: {scheme: moreau-jean, step: 1e-3, end: 1}\n");
    assert_int_equal(carom("check frame.yaml --matrix M=M.mtx --matrix K=K.mtx"), 0);
    assert_int_equal(carom("info frame.yaml --matrix M=M.mtx --matrix K=K.mtx"), 0);
    assert_says(out, "matrices");
    assert_int_equal(carom("run frame.yaml --matrix M=M.mtx --matrix K=K.mtx --end 0.5 --every 1 --out part.h5"), 0);
    assert_int_equal(carom("run frame.yaml --matrix M=M.mtx --matrix K=K.mtx --every 1 --out whole.h5"), 0);
    assert_int_equal(carom("run --resume part.h5 --end 1 --matrix K=K.mtx"), 2);
    assert_says(complaints, "holds its matrices");
    assert_int_equal(remove("K.mtx"), 0);
    assert_int_equal(carom("run --resume part.h5 --end 1"), 0);
    assert_same("part.h5", "whole.h5");
    assert_int_equal(carom("view part.h5 --out part.html"), 0);
    assert_string_equal(complaints, "");
    assert_int_equal(carom("compare frame.yaml --matrix M=M.mtx --matrix K=M.mtx --schemes newmark --steps 1e-2 --reference moreau-jean:1e-3 --end 0.2"), 0);
    assert_int_equal(carom("run frame.yaml"), 2);
    assert_says(complaints, "frame.yaml:2:38: no matrix 'M' is given; say where it is: --matrix M=FILE");
    assert_int_equal(carom("run frame.yaml --matrix M"), 2);
    assert_says(complaints, "'M' is not NAME=FILE");
    assert_int_equal(carom("run frame.yaml --matrix M=M.mtx --matrix K=K.mtx"), 2);
    assert_says(complaints, "K.mtx");
}

// Schemes with steps of their own need no --step.  What they take in its place must not depend on the end, or a run that goes on would differ from one to the later end.
static void with_rows_at_given_times_the_end_changes_nothing(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "auto"};
    put("swing.yaml", "carom: 1\ncoordinates: {x: 1, y: {at: 0.3, rate: 0}}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2)\", potential: 9.81*y + 20*x^2 + 5*x^2*y}\ncontacts: {floor: {gap: y, restitution: 0.7}}\n");
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(carom("run swing.yaml --scheme %s --dt-out 0.05 --end 0.4 --out first.h5 --force", schemes[i]), 0);
        assert_int_equal(carom("run swing.yaml --scheme %s --dt-out 0.05 --end 1 --out whole.h5 --force", schemes[i]), 0);
        assert_int_equal(carom("run --resume first.h5 --end 1"), 0);
        assert_same("first.h5", "whole.h5");
    }
}

// -- the other verbs ----------------------------------------------------------------------------------

// The state is saved before the last step; the time that the run took is not in it.
static void the_ledger_of_a_resumed_run_holds_all_its_time(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --quiet --step 1e-5 --out timed.h5"), 0);
    double seconds[3], wall[3];
    for (int i = 0; i < 3; ++i) {
        if (i > 0) assert_int_equal(carom("run --resume timed.h5 --quiet%s", i == 1 ? "" : " --end 1.5"), 0); // finished; and further on
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

// Sticking at e = 1 with slip against the drive of the impact: energy is created, see test_warnings.
static const char gains[] = "carom: 1\ncoordinates: {x: {at: 0, rate: 0.3}, y: {at: sin(0.6) + 1e-3, rate: -0.5}, th: {at: 0.6, rate: 0}}\n"
                            "energy: {kinetic: (x'^2 + y'^2 + 0.1*th'^2)/2}\ncontacts: {tip: {gap: y - sin(th), slip: x - cos(th), restitution: 1, friction: 5}}\n"
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
    assert_int_equal(carom("compare gains.yaml --schemes mixed --steps 1e-3 --reference event-driven:1e-3 --strict"), 3);
    assert_says(complaints, "mixed, step 0.001: energy-created");
    put("ball.yaml", ball); // nothing to say
    assert_int_equal(carom("run ball.yaml --strict --json"), 0);
    assert_says(out, "\"warnings\": []");
    assert_int_equal(carom("run ball.yaml --scheme auto --option max-step=1e-14"), 2);
    assert_says(complaints, "max-step=1e-14 would divide");
}

static void check_tells_sound_models_from_faulty_ones(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("check ball.yaml"), 0);
    assert_says(out, "0 faults");
    put("heavy.yaml", "carom: 1\ncoordinates: {x: {at: 0}, y: {at: 0}}\nenergy: {kinetic: 1/2*x'^2 - 1/2*y'^2, potential: 0}\n"
                      "simulation: {step: 1e-3, end: 1}\n");
    const int status = carom("check heavy.yaml"); // a negative mass
    assert_true(status == 3 || status == 2);
    assert_true(strstr(out, "fault") || strlen(complaints) > 0);
}

static void info_describes_models(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("info ball.yaml"), 0);
    static const char *const words[] = {"Ball", "2 coordinates", "ground", "0.6", "0.2", "9.81", "height", "moreau-midpoint", "0.001"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) assert_says(out, words[i]);
    put("hinged.yaml", "carom: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\njoints: {pin: {type: spherical, between: [ground, b], at: [1, 0, 0]}}\n");
    assert_int_equal(carom("info hinged.yaml"), 0);
    assert_says(out, "7 positions"); // four of a quaternion: there are six velocities
    assert_says(out, "constraints            equations\n  pin                  3\n");
    assert_int_equal(mkfifo("model.pipe", 0600), 0); // a pipe is read once
    static const char *const verbs[] = {"info", "check"};
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(system("cat ball.yaml >model.pipe &"), 0);
        assert_int_equal(carom("%s model.pipe", verbs[i]), 0);
    }
}

static void help_is_told_written_as_pages_and_as_markdown(void **state) {
    (void)state;
    assert_int_equal(carom("help model"), 0);
    assert_says(out, "tangential restitution");
    assert_int_equal(carom("help --markdown"), 0);
    assert_says(out, "| `-o`, `--out FILE` |");
    assert_int_equal(carom("help run --markdown"), 2);
    assert_int_equal(carom("help mdoel"), 2);
    assert_says(complaints, "did you mean 'model'?");
    assert_int_equal(carom("help --man pages"), 0);
    assert_true(there("pages/carom.1") && there("pages/carom-run.1") && there("pages/carom-model.5"));
    get("pages/carom-run.1", out, sizeof out);
    assert_says(out, "\\-\\-step H");
    assert_int_equal(carom("help --man missing/pages"), 1);
}

static void schemes_are_listed_and_described(void **state) {
    (void)state;
    assert_int_equal(carom("schemes"), 0);
    assert_null(strstr(out, "lacks: -"));
    const carom_scheme *const *all = carom_schemes();
    for (int i = 0; all[i]; ++i) assert_says(out, all[i]->name);
    for (int i = 0; all[i]; ++i) {
        const carom_scheme *s = all[i];
        assert_int_equal(carom("schemes %s", s->name), 0);
        assert_says(out, s->about);
        assert_says(out, "newton-tol");
        for (int k = 0; s->options && s->options[k].name; ++k) assert_says(out, s->options[k].name);
    }
}

static void every_example_is_written_and_sound(void **state) {
    (void)state;
    assert_int_equal(carom("examples"), 0);
    static char list[sizeof out];
    memcpy(list, out, sizeof list);
    int n = 0;
    for (char *line = strtok(list, "\n"); line && line[0] != '`'; line = strtok(NULL, "\n")) {
        char name[64], file[80];
        assert_int_equal(sscanf(line, "%63s", name), 1);
        assert_true(strlen(line) > 40); // it says what it is
        snprintf(file, sizeof file, "%s.yaml", name);
        assert_int_equal(carom("examples %s", name), 0);
        assert_true(there(file));
        assert_int_equal(carom("examples %s", name), 2);
        assert_says(complaints, "--force");
        assert_int_equal(carom("examples %s --force", name), 0);
        if (carom("check %s", file) != 0) fail_msg("%s: %s", file, out);
        ++n;
    }
    assert_true(n >= 8);
}

static bool starts(const char *file, const char *bytes) {
    char head[64] = "";
    get(file, head, sizeof head);
    return strncmp(head, bytes, strlen(bytes)) == 0;
}

static void pictures_are_made(void **state) {
    (void)state;
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) skip();
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --out b.h5 -q"), 0);
    assert_int_equal(carom("run ball.yaml --out b.csv -q --scheme moreau-jean"), 0);
    assert_int_equal(carom("plot b.h5"), 0);
    assert_true(starts("b.svg", "<?xml"));
    assert_int_equal(carom("plot b.h5 -o b.png --of y+height,ground.impulse --from 0.2 --to=0.6 --keep-script b.gp"), 0);
    assert_true(starts("b.png", "\x89PNG"));
    assert_true(starts("b.gp", "# Made by carom"));
    assert_int_equal(remove("b.png") + system("gnuplot -d b.gp"), 0); // the kept script stands on its own
    assert_true(starts("b.png", "\x89PNG"));
    assert_int_equal(carom("plot b.h5 b.csv -o b.pdf --of y --vs x"), 0);
    assert_true(starts("b.pdf", "%PDF"));
    assert_int_equal(carom("plot b.h5 --of ground.gpa"), 2);
    assert_says(complaints, "did you mean 'ground.gap'");
    assert_int_equal(carom("plot b.h5 -o b.gif"), 2);
    assert_int_equal(carom("plot b.h5 --from 7"), 2);
    assert_int_equal(carom("plot nowhere.h5"), 2);
}

static void hostile_names_run_nothing(void **state) {
    (void)state;
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) skip();
    put("evil.csv", "t,`touch owned`,'; system('touch owned') #,\"a\"\"b{x}_y^z@m\",%s%n\n0,1,2,3,4\n1,2,3,4,5\n");
    assert_int_equal(carom("plot evil.csv -o evil.svg --of '`touch owned`+'\\''; system('\\''touch owned'\\'') #+a\"b{x}_y^z@m+%%s%%n'"), 0);
    assert_false(there("owned"));
    assert_int_equal(carom("plot evil.csv -o '|touch owned.svg' --of %s", "'%s%n'"), 0);
    assert_false(there("owned.svg"));
    assert_true(there("|touch owned.svg"));
}

// The script that is kept is run by somebody, some day.
static void kept_scripts_run_nothing(void **state) {
    (void)state;
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) skip();
    put("plain.csv", "t,x\n0,1\n1,2\n");
    assert_int_equal(carom("plot plain.csv -o '|touch owned.svg' --of x --keep-script kept.gp"), 0);
    assert_int_equal(system("gnuplot kept.gp >/dev/null 2>&1"), 0);
    assert_false(there("owned.svg"));
    assert_true(there("|touch owned.svg"));
}

static int carom_into_full(const char *arguments) {
    char command[1000];
    snprintf(command, sizeof command, CAROM_BINARY_DIR "/carom %s >/dev/full 2>stderr.txt", arguments);
    const int status = system(command);
    get("stderr.txt", complaints, sizeof complaints);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void output_that_is_lost_is_a_failure(void **state) {
    (void)state;
    if (!there("/dev/full")) skip();
    static const char *const verbs[] = {"run ball.yaml --out full.h5", "run ball.yaml --out full.h5 --json", "run ball.yaml --out - -q",
                                        "compare ball.yaml --schemes moreau-jean --steps 1e-2,5e-3", "check ball.yaml", "info ball.yaml",
                                        "schemes", "schemes auto", "examples", "help", "help run", "--version"};
    put("ball.yaml", ball);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; ++i) {
        if (carom_into_full(verbs[i]) != 1) fail_msg("%s", verbs[i]);
        assert_says(complaints, "cannot write");
    }
}

// A file that reaches its limit is like a full disk: the run ends with exit 1 and leaves a result, or none, and no part.
static void a_limit_of_file_sizes_is_a_full_disk(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --step 1e-5 --every 1 --out whole.h5 -q"), 0);
    static const int limits[] = {0, 10, 64, 700, 2000, 5000}; // kB
    for (int csv = 0; csv < 2; ++csv)
        for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
            char command[400];
            const char *name = csv ? "limit.csv" : "limit.h5";
            unlink(name);
            snprintf(command, sizeof command, "bash -c 'ulimit -f %d; " CAROM_BINARY_DIR "/carom run ball.yaml --step 1e-5 --every 1 --out %s -q 2>said'",
                     limits[i], name);
            const int status = system(command);
            assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 2));
            assert_true(system("ls *.part >/dev/null 2>&1") != 0);
            if (!there(name)) continue;
            carom_result *r = load(name);
            double t = 0;
            if (carom_result_rows(r) > 0) assert_int_equal(carom_result_read(r, 0, carom_result_rows(r) - 1, 1, &t, NULL), CAROM_OK);
            carom_result_close(r);
            snprintf(command, sizeof command, "grep -q '^carom: what was computed until t = %.9g is in limit' said", t);
            if (csv) assert_int_equal(system(command), 0); // an .h5 file may hold a last row behind that
            if (csv) continue;
            assert_int_equal(carom("run --resume limit.h5 -q"), 0);
            assert_int_equal(rows_of("limit.h5"), 100001);
        }
}

// Files that are written at once get their name when they are whole: after a failed write the older one is there.  A pipe stays a pipe.
static void files_are_replaced_whole(void **state) {
    (void)state;
    static const struct { const char *verb, *file; } cases[] = {
        {"export c ball.yaml -o", "old.c"}, {"export fmu ball.yaml -o", "old.fmu"}, {"view shown.h5 -o", "old.html"}, {"equilibrium spring.yaml --save", "old.csv"}, {"solve tiny.txt --problem 1 --out", "old.txt"}};
    put("ball.yaml", ball);
    put("spring.yaml", "carom: 1\ncoordinates: {x: 0.1}\nenergy: {kinetic: 1/2*x'^2, potential: x^2}\n");
    assert_int_equal(carom("run ball.yaml --out shown.h5 -q"), 0);
    assert_int_equal(carom("run ball.yaml --out other.h5 --dump-problems tiny.txt -q --force"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char command[400], text[10];
        put(cases[i].file, "older\n");
        snprintf(command, sizeof command, "bash -c 'ulimit -f 0; " CAROM_BINARY_DIR "/carom %s %s >/dev/null 2>&1'", cases[i].verb, cases[i].file);
        const int status = system(command);
        get(cases[i].file, text, sizeof text);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || strcmp(text, "older\n") != 0) fail_msg("%s: status %d, the file holds %s", cases[i].verb, status, text);
        assert_true(system("ls *.part >/dev/null 2>&1") != 0);
        assert_int_equal(carom("%s %s", cases[i].verb, cases[i].file), 0);
        get(cases[i].file, text, sizeof text);
        assert_string_not_equal(text, "older\n");
    }
    struct stat pipe;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(system("cat pipe >got.c & " CAROM_BINARY_DIR "/carom export c ball.yaml -o pipe >/dev/null; wait"), 0);
    assert_true(lstat("pipe", &pipe) == 0 && S_ISFIFO(pipe.st_mode));
    assert_int_equal(system("cmp got.c old.c"), 0);
}

static void a_run_that_is_not_done_keeps_the_older_result(void **state) {
    (void)state;
    put("ball.yaml", ball);
    put("fails.yaml", "carom: 1\ncoordinates: {x: {at: 1, rate: -1}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: -sqrt(x)}\n"
                      "simulation: {scheme: moreau-midpoint, step: 1e-2, end: 9}\n");
    static const char *const names[] = {"keep.h5", "keep.csv"};
    for (int i = 0; i < 2; ++i) {
        char before[40];
        snprintf(before, sizeof before, "%s.before", names[i]);
        assert_int_equal(carom("run ball.yaml --out %s -q", names[i]), 0);
        assert_false(there(before));
        const long good = rows_of(names[i]);
        for (int k = 0; k < 2; ++k) { // a second failure does not take the first for good
            assert_int_equal(carom("run fails.yaml --out %s -q", names[i]), 1);
            assert_says(complaints, "the result of an earlier run is kept in");
            snprintf(before, sizeof before, "cp %s.before kept%s", names[i], names[i] + 4);
            assert_int_equal(system(before), 0);
            assert_int_equal(rows_of(i ? "kept.csv" : "kept.h5"), good);
        }
        snprintf(before, sizeof before, "%s.before", names[i]);
        assert_int_equal(carom("run ball.yaml --out %s -q", names[i]), 0);
        assert_false(there(before)); // it is done, and replaces the older one
        assert_int_equal(rows_of(names[i]), good);
        assert_int_equal(carom("run fails.yaml --out %s -q --force", names[i]), 1);
        assert_false(there(before));
    }
    assert_int_equal(carom("run nothing.yaml --out keep.h5 -q"), 2); // and one that never begins touches nothing
    assert_true(there("keep.h5"));
}

static void without_gnuplot_the_package_is_named(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --out b.h5 -q"), 0);
    assert_int_equal(system("PATH=/nowhere " CAROM_BINARY_DIR "/carom plot b.h5 2>stderr.txt"), 256);
    get("stderr.txt", complaints, sizeof complaints);
    assert_says(complaints, "gnuplot-nox");
}

static void damaged_results_end_no_verb_by_a_signal(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml --out good.h5 --every 20 -q"), 0);
    static unsigned char bytes[1 << 20], bad[1 << 20];
    FILE *f = fopen("good.h5", "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    unsigned long seed = 7;
    for (int trial = 0; trial < 20; ++trial) {
        memcpy(bad, bytes, size);
        for (int k = 0; k < 6; ++k) {
            seed = seed * 6364136223846793005ul + 1442695040888963407ul;
            bad[(seed >> 33) % (trial % 4 ? 12000 : size)] ^= (unsigned char)(1 + (seed >> 20) % 255);
        }
        f = fopen("bad.h5", "wb");
        fwrite(bad, 1, size, f);
        fclose(f);
        const int info = carom("info bad.h5");
        assert_true(info == 0 || info == 2);
        const int go = carom("run --resume bad.h5 --end 1.1 -q");
        assert_true(go == 0 || go == 1 || go == 2 || go == 3);
    }
}

static int begin(void **state) {
    (void)state;
    setenv("ASAN_OPTIONS", "detect_leaks=0", 0); // of the hundred processes below: the search takes seconds in each
    strcpy(folder, "/tmp/carom-test-XXXXXX");
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int end(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

// Units where numbers are given on the command line, and in labels of pictures; inputs and controllers; columns that are asked for twice.
static void units_inputs_and_controllers(void **state) {
    (void)state;
    static const char driven[] = "carom: 1\nparameters: {k: 2 N/m}\ninputs: {y: 0.1 m, idle: 1}\ncoordinates: {x: {at: 1 m}}\n"
                                 "controllers: {c: {sample: 0.1, states: {s: s + x}, outputs: {u: -k*x - s}}}\nenergy: {kinetic: x'^2/2, potential: k*(x - y)^2/2}\nforces: {x: u}\n"
                                 "simulation: {step: 1e-2, end: 0.95, scheme: moreau-jean}\n";
    static char text[1 << 16];
    put("driven.yaml", driven);
    assert_int_equal(carom("sweep driven.yaml --vary 'k=1 N/m:3 kN/m:3' --observe k --observe x --observe x --out units.csv"), 0);
    get("units.csv", text, sizeof text);
    assert_true(strncmp(text, "run,k,status,message,x\n0,1,0,", 29) == 0);
    assert_says(text, "\n1,1500.5,0,");
    static const struct { const char *arguments, *words; } cases[] = {
        {"sweep driven.yaml --vary 'k=1 N' --observe x", "'1 N' is a quantity of another kind than 'k', which is in N/m"}, {"sweep driven.yaml --vary 'k=1 foo' --observe x", "unit that is not known"},
        {"run driven.yaml --input q=3", "the model has no input 'q'"}, {"run driven.yaml --input 'y=2 kg'", "--input y=2 kg: 'y' is 0.1 m in the model"},
        {"import urdf", "import needs a FORM and a FILE: carom import urdf FILE"}, {"import robot.urdf", "carom import urdf robot.urdf"}, {"run joint.yaml", "joint.yaml:4:36: spring 's': '3 N/m' is a quantity of another kind; stiffness is in N m/rad here"},
        {"run flat.yaml", "flat.stl: the mesh is flat"}, {"follow driven.yaml --equilibrium initial --by 'k=1 m/q:2'", "'1 m/q' is a number with a unit that is not known"}};
    put("joint.yaml", "carom: 1\nbodies: {b: {mass: 1 kg, inertia: 1, at: [1, 0]}}\njoints: {p: {type: revolute, between: [ground, b], at: [0, 0]}}\nsprings: {s: {joint: p, stiffness: 3 N/m}}\n"
                      "simulation: {step: 1e-2, end: 0.1, scheme: moreau-jean}\n");
    put("flat.yaml", "carom: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1], shape: {mesh: flat.stl}}}\nsimulation: {step: 1e-2, end: 0.1, scheme: moreau-jean}\n");
    put("flat.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\n"
                    "endloop\nendfacet\nendsolid\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (carom("%s", cases[i].arguments) != 2) fail_msg("%s: not exit status 2; %s", cases[i].arguments, complaints);
        assert_says(complaints, cases[i].words);
    }
    static const char *const sweeps[] = {"view units.h5", "export csv units.h5", "export vtk units.h5", "film units.h5 -o x.gif", "run driven.yaml --start units.h5", "run --resume units.h5"};
    assert_int_equal(carom("sweep driven.yaml --vary 'k=1,2' --observe x --out units.h5"), 0);
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; ++i) {
        if (carom("%s", sweeps[i]) == 0) fail_msg("%s", sweeps[i]);
        assert_says(complaints, "units.h5 is a sweep, not the result of a run; `carom plot` draws it");
    }
    assert_int_equal(carom("run units.h5"), 2);
    assert_says(complaints, "units.h5 is a sweep, not a model; `carom info units.h5` tells what is in it");
    assert_int_not_equal(carom("view units.csv"), 0);
    assert_says(complaints, "units.csv is the table of a sweep, not the result of a run");
    assert_int_equal(carom("info driven.yaml"), 0);
    assert_says(out, "\ninputs\n  y                    0.1 m\n  idle                 1\n");
    assert_says(out, "\nparameters\n  k                    2 N/m\n");
    assert_says(out, "1 coordinate, 0 contacts, ");
    assert_int_equal(carom("info driven.yaml --input 'y=sin(t)'"), 0);
    assert_says(out, "\n  y                    follows its signal\n");
    assert_int_equal(carom("check driven.yaml"), 0);
    assert_says(out, "an input 'idle' (line 3) is not used anywhere");
    assert_true(strstr(out, "'y'") == NULL);
    assert_int_equal(carom("run driven.yaml --quiet --out driven.h5 --every 1"), 0);
    assert_int_equal(carom("view driven.h5 --size 300x200"), 2);
    assert_says(complaints, "--size belongs to a picture: carom view --png t=T");
    assert_int_equal(carom("view driven.h5 --png t=0 --live"), 2);
    assert_says(complaints, "--live belongs to a page, and --png makes a picture");
    assert_int_equal(carom("run driven.yaml --start driven.h5 --out again.csv --quiet"), 0); // the state of the controller is s + x at the first sample
    assert_int_equal(carom("run driven.yaml --quiet --out driven.csv --every 1"), 0);
    double end[10], begin_at[10]; // t, x, x', three energies, y, idle, s, u
    for (int k = 0; k < 2; ++k) {
        get(k ? "again.csv" : "driven.csv", text, sizeof text);
        char *line = strchr(text, '\n') + 1; // the first row of the second run, the last of the first
        for (char *next = line; !k && (next = strchr(line, '\n')) && next[1];) line = next + 1;
        for (int c = 0; c < 10; ++c) (k ? begin_at : end)[c] = strtod(line, &line), ++line;
    }
    assert_true(begin_at[1] == end[1] && end[8] != 0 && begin_at[8] == end[8] + end[1]);
    if (access("/usr/bin/gnuplot", X_OK) == 0) {
        assert_int_equal(carom("plot driven.h5 --of x,energy --keep-script units.gp -o units.svg"), 0);
        get("units.gp", text, sizeof text);
        assert_says(text, "'x (m)'");
        assert_says(text, "'energy (J)'");
    }
}

// A point of weight 9.81 is pushed by 3 in a groove of slope 1: the sides carry 6.405 and 3.405, whose sum is the weight.  Results have the columns of the gap and of its parts.
static void a_gap_with_several_parts_keeps_its_columns(void **state) {
    (void)state;
    put("groove.yaml", "carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2)\", potential: 9.81*y}\nforces: {x: 3}\n"
                       "contacts: {groove: {gap: y - abs(x), slip: x, friction: 1e-9}}\nsimulation: {scheme: event-driven, step: 0.1, end: 0.2}\n");
    assert_int_equal(carom("run groove.yaml --quiet --out groove.csv --every 1"), 0);
    get("groove.csv", out, sizeof out);
    static const struct { const char *name; double value; } column[] = {
        {",groove.gap,", 0}, {",groove.gap',", 0}, {",groove.force,", 9.81}, {",groove.impulse,", 0}, {",groove.friction,", 0}, {",groove.1.force,", 6.405}, {",groove.2.force,", 3.405}};
    for (size_t k = 0; k < sizeof column / sizeof *column; ++k) {
        const char *at = strstr(out, column[k].name), *row = strstr(out, "\n0.1");
        assert_true(at && row && at < strchr(out, '\n'));
        for (const char *c = out; c <= at; ++c)
            if (*c == ',') row = strchr(row + 1, ',');
        assert_true(fabs(strtod(row + 1, NULL) - column[k].value) < 1e-6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_with_several_parts_keeps_its_columns),
        cmocka_unit_test(units_inputs_and_controllers),
        cmocka_unit_test(help_and_version),
        cmocka_unit_test(wrong_usage_is_exit_2_with_a_suggestion),
        cmocka_unit_test(a_step_or_end_that_is_missing_is_asked_for),
        cmocka_unit_test(a_wrong_model_is_exit_2_with_its_place),
        cmocka_unit_test(a_file_of_the_other_kind_is_told_as_such),
        cmocka_unit_test(what_the_simulation_section_gets_wrong_has_its_place),
        cmocka_unit_test(messages_name_the_coordinate),
        cmocka_unit_test(a_run_leaves_a_result_and_prints_a_ledger),
        cmocka_unit_test(the_command_line_comes_before_the_file), cmocka_unit_test(adaptive_is_a_scheme_s_own_option_where_it_has_one),
        cmocka_unit_test(a_model_says_how_it_is_swept),
        cmocka_unit_test(csv_goes_to_standard_output_and_the_ledger_beside_it),
        cmocka_unit_test(the_ledger_as_json),
        cmocka_unit_test(a_failed_check_is_exit_3_and_the_result_is_kept),
        cmocka_unit_test(a_run_that_cannot_go_on_is_exit_1_and_saved),
        cmocka_unit_test(an_interrupted_run_is_saved_and_goes_on_bit_identically),
        cmocka_unit_test(a_killed_run_holds_all_but_the_last_second),
        cmocka_unit_test(resume_to_another_file_leaves_the_first_alone),
        cmocka_unit_test(matrices_come_from_the_command_line_and_stay_in_the_result),
        cmocka_unit_test(the_ledger_of_a_resumed_run_holds_all_its_time), cmocka_unit_test(with_rows_at_given_times_the_end_changes_nothing),
        cmocka_unit_test(warnings_are_told_everywhere_and_strict_is_3),
        cmocka_unit_test(check_tells_sound_models_from_faulty_ones),
        cmocka_unit_test(info_describes_models),
        cmocka_unit_test(help_is_told_written_as_pages_and_as_markdown),
        cmocka_unit_test(schemes_are_listed_and_described),
        cmocka_unit_test(every_example_is_written_and_sound),
        cmocka_unit_test(pictures_are_made),
        cmocka_unit_test(hostile_names_run_nothing),
        cmocka_unit_test(kept_scripts_run_nothing),
        cmocka_unit_test(output_that_is_lost_is_a_failure),
        cmocka_unit_test(a_limit_of_file_sizes_is_a_full_disk),
        cmocka_unit_test(files_are_replaced_whole),
        cmocka_unit_test(a_run_that_is_not_done_keeps_the_older_result),
        cmocka_unit_test(without_gnuplot_the_package_is_named),
        cmocka_unit_test(damaged_results_end_no_verb_by_a_signal),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
