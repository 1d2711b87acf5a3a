// test_load.c: large inputs take time in proportion to their size and bounded memory; temporary files follow no links;
// a run that is told to stop by any of the usual signals saves; what is complete is reported as such.
#define _GNU_SOURCE // wait4, mkdtemp
#include "cli_rig.h"
#include "quick.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 // as gcc says it
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

// The program as a child, without a shell: its process number.
static pid_t start(const char *const *argv) {
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) return pid;
    const int to = open("child.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(to, 1), dup2(to, 2);
    execv(CAROM_BINARY_DIR "/carom", (char *const *)argv);
    _exit(127);
}

typedef struct spent { double seconds; long kilobytes; } spent;

static spent measure(const char *const *argv) {
    int status = 0;
    struct rusage used;
    const pid_t pid = start(argv);
    assert_int_equal(wait4(pid, &status, 0, &used), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        get("child.txt", out, sizeof out);
        fail_msg("carom %s %s: status %d\n%.1000s", argv[1], argv[2], status, out);
    }
    return (spent){(double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec, used.ru_maxrss};
}

// -- sums -------------------------------------------------------------------------------------------------------------

// A model in which an energy or a force is a sum of n terms.
static void put_sum(const char *file, const char *term, bool energy, int n) {
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    fputs("carom: 1\ncoordinates: {x: {at: 1}}\n", f);
    fputs(energy ? "energy:\n  kinetic: 1/2*x'^2\n  potential: \"" : "energy: {kinetic: 1/2*x'^2}\nforces:\n  x: \"",
          f);
    for (int i = 0; i < n; ++i) {
        if (i) fputs(" + ", f);
        for (const char *c = term; *c; ++c)
            if (*c == '#') fprintf(f, "%d", i + 1);
            else fputc(*c, f);
    }
    fputs("\"\nsimulation: {scheme: moreau-jean, step: 0.01, end: 0.1}\n", f);
    fclose(f);
}

// What a run with a sum of n terms takes.
static double seconds_of(const char *term, bool energy, int n) {
    put_sum("sum.yaml", term, energy, n);
    return measure((const char *const[]){"carom", "run", "sum.yaml", "-o", "sum.csv", "--force", "--compile", "off",
                                         NULL})
        .seconds;
}

// Eight times the terms: at most twice eight times the time, once what every run takes is subtracted.  A quadratic
// share would take 64 times as much.  A busy machine lends its caches and its clock to others: one good measurement of
// ATTEMPTS is enough, for no quadratic share would let it happen.
static void sums_take_time_in_proportion(void **state) {
    (void)state;
    static const struct { const char *term; bool energy; } sums[] = {
        {"sin(#*x)*1e-9", true},    {"abs(x - #e-5)*1e-9", false},      {"1e-9*max(x - #e-6, 0)^2", true},
        {"1e-9*min(x', #)", false}, {"1e-9*tanh(#*(t - 0.05))", false}, {"1e-9*exp(-#*t)*x", false},
    };
    enum { FEW = BRIEF ? 800 : 1500, MANY = 8 * FEW, ATTEMPTS = 5 };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; ++i)
        for (int k = 1;; ++k) {
            const double none = seconds_of(sums[i].term, sums[i].energy, 1);
            const double few = seconds_of(sums[i].term, sums[i].energy, FEW) - none;
            const double many = seconds_of(sums[i].term, sums[i].energy, MANY) - none;
            if (many <= 16 * few + 0.2) break;
            if (k == ATTEMPTS)
                fail_msg("a sum of %d terms %s takes %.3f s, one of %d takes %.3f s", FEW, sums[i].term, few, MANY,
                         many);
        }
}

// -- memory -----------------------------------------------------------------------------------------------------------

static void pictures_of_large_results_take_little_memory(void **state) {
    (void)state;
    if (SANITIZED) skip(); // sanitizers take memory of their own
    put("ball.yaml", ball);
    const char *const run[] = {"carom", "run", "ball.yaml", "-o", "ball.h5", "--force", "--end", "200", NULL};
    measure((const char *const[]){"carom", "run", "ball.yaml", "-o", "small.h5", NULL});
    const spent small = measure((const char *const[]){"carom", "plot", "small.h5", "-o", "-", NULL});
    measure(run); // 200 000 rows of 15 columns
    const spent large = measure((const char *const[]){"carom", "plot", "ball.h5", "-o", "-", NULL});
    if (large.kilobytes > small.kilobytes + 12000)
        fail_msg("plot of 1000 rows takes %ld kB, of 200 000 rows %ld kB", small.kilobytes, large.kilobytes);
    // text: five million numbers
    FILE *f = fopen("table.csv", "wb");
    assert_non_null(f);
    fputs("t", f);
    for (int i = 1; i < 50; ++i) fprintf(f, ",x%d", i);
    for (int r = 0; r < 100000; ++r) {
        fprintf(f, "\n%d", r);
        for (int i = 1; i < 50; ++i) fputs(r == 77777 && i == 7 ? ",9" : ",1", f);
    }
    fputs("\n", f);
    fclose(f);
    const spent text = measure((const char *const[]){"carom", "plot", "table.csv", "--of", "x7", "-o", "-", NULL});
    if (text.kilobytes > small.kilobytes + 36000)
        fail_msg("plot of a table of 40 MB takes %ld kB more than one of 1000 rows", text.kilobytes - small.kilobytes);
    get("child.txt", out, sizeof out);
    assert_says(out, "9.4"); // the one row that differs is in the picture
    // what is read from the temporary file is what the table holds
    carom_result *t = load("table.csv");
    carom_error err = {0};
    double row[2][50], x[3];
    assert_null(carom_result_values(t));
    assert_int_equal(carom_result_rows(t), 100000);
    assert_int_equal(carom_result_read_rows(t, 77776, 2, row[0], &err), CAROM_OK);
    assert_true(row[0][0] == 77776 && row[0][7] == 1 && row[1][0] == 77777 && row[1][7] == 9 && row[1][8] == 1);
    assert_int_equal(carom_result_read(t, 0, 99997, 3, x, &err), CAROM_OK);
    assert_true(x[0] == 99997 && x[2] == 99999);
    carom_result_close(t);
}

// -- temporary files --------------------------------------------------------------------------------------------------

// Whatever the program writes as NAME.PID.part: a link of that name to another file leaves that file as it is.
static void links_in_the_place_of_temporary_files_are_not_followed(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml -o ball.h5"), 0);
    assert_int_equal(carom("run ball.yaml -o half.h5 --end 0.5"), 0);
    static const struct { const char *arguments, *out; } calls[] = {
        {"run ball.yaml --end 0.1 -o x.h5", "x.h5"},
        {"run ball.yaml --end 0.1 -o x.csv", "x.csv"},
        {"run --resume half.h5 --end 0.6 -o y.h5", "y.h5"},
        {"plot ball.h5 -o x.svg", "x.svg"},
        {"view ball.h5 -o x.html", "x.html"},
        {"export c ball.yaml -o x.c", "x.c"},
        {"sweep ball.yaml --vary m=1:2:2 --observe y --end 0.01 -o s.h5 --jobs 1", "s.h5"},
        {"sweep ball.yaml --vary m=1:2:2 --observe y --end 0.01 -o s.csv --jobs 1", "s.csv"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        if (strncmp(calls[i].arguments, "plot", 4) == 0 && system("command -v gnuplot >/dev/null 2>&1") != 0) continue;
        put("victim.txt", "untouched");
        // the shell's number is that of the program that it becomes
        char command[1000];
        snprintf(command, sizeof command, "ln -s victim.txt %s.$$.part && exec %s/carom %s >stdout.txt 2>stderr.txt",
                 calls[i].out, CAROM_BINARY_DIR, calls[i].arguments);
        const int status = system(command);
        get("stderr.txt", complaints, sizeof complaints);
        if (status != 0) fail_msg("carom %s: %s", calls[i].arguments, complaints);
        char text[40];
        get("victim.txt", text, sizeof text);
        if (strcmp(text, "untouched") != 0)
            fail_msg("carom %s has written to the file that a link names", calls[i].arguments);
        struct stat st;
        assert_int_equal(lstat(calls[i].out, &st), 0);
        assert_true(S_ISREG(st.st_mode));
    }
}

// -- signals and runs that go on --------------------------------------------------------------------------------------

static void nap(double seconds) {
    nanosleep(
        &(struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))},
        NULL);
}

static void every_signal_to_stop_saves(void **state) {
    (void)state;
    static const int signals[] = {SIGTERM, SIGUSR1, SIGUSR2, SIGINT};
    put("ball.yaml", ball);
    for (int i = 0; i < 4; ++i) {
        remove("long.h5");
        const pid_t pid = start((const char *const[]){"carom", "run", "ball.yaml", "-o", "long.h5", "--end", "100000",
                                                      "--every", "1000", NULL});
        for (int k = 0; k < 6000 && !there("long.h5"); ++k) nap(0.01); // a busy machine starts it late
        nap(0.1);
        assert_int_equal(kill(pid, signals[i]), 0);
        int status = 0;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 130) fail_msg("signal %d: status %d", signals[i], status);
        get("child.txt", out, sizeof out);
        assert_says(out, "and saved; continue with: carom run --resume long.h5");
    }
}

static void complete_runs_are_reported(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(carom("run ball.yaml -o ball.h5"), 0);
    assert_null(strstr(complaints, "complete"));
    assert_int_equal(carom("run --resume ball.h5"), 0);
    assert_says(complaints, "ball.h5 is complete: the run ended at t = 1; use --end to continue it");
    assert_int_equal(carom("run --resume ball.h5 --end 1.1"), 0);
    assert_null(strstr(complaints, "complete"));
}

// A sweep that is done before the signal comes (a busy machine may hold the sender back) says nothing: twice as many
// runs then.
static void a_resumed_sweep_keeps_its_plot(void **state) {
    (void)state;
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) skip();
    put("ball.yaml", ball);
    int status = 0;
    for (int runs = BRIEF ? 50 : 200;; runs *= 2) {
        char vary[40];
        snprintf(vary, sizeof vary, "m=1:2:%d", runs);
        const pid_t pid = start((const char *const[]){"carom", "sweep", "ball.yaml", "--vary", vary, "--observe", "y",
                                                      "--end", "20", "--jobs", "1", "-o", "s.h5", "--plot", "s.svg",
                                                      NULL});
        for (int k = 0; k < 6000 && !there("s.h5.journal") && !there("s.h5"); ++k) nap(0.01);
        nap(0.1);
        kill(pid, SIGUSR1);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 130) break;
        assert_true(WEXITSTATUS(status) == 0 && runs < 4000);
        remove("s.h5"), remove("s.svg");
    }
    assert_false(there("s.svg"));
    assert_int_equal(carom("sweep --resume s.h5 --jobs 2"), 0);
    assert_true(there("s.h5") && there("s.svg"));
    assert_int_equal(carom("sweep --resume s.h5 --plot again.svg"), 0);
    assert_says(complaints, "s.h5 is complete");
    assert_true(there("again.svg"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums_take_time_in_proportion, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(pictures_of_large_results_take_little_memory, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(links_in_the_place_of_temporary_files_are_not_followed, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(every_signal_to_stop_saves, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(complete_runs_are_reported, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_resumed_sweep_keeps_its_plot, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
