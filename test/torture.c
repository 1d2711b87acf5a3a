// torture.c: runs that are killed at random times, and requests for memory that fail one by one.
//
//     torture [ROUNDS] [SEED] [TEST]      kills (default 6); every n-th request fails, n = 1, 2, ... (with few rounds
//     not
//                                         every n); only tests of this name, with * and ?
//
// Each time the result opens, holds the beginning of the run that nothing happened to, and goes on to the same bits:
// HDF5 and text files, and sweeps. That writes fail is for results the business of test_storage.c, for sweeps it is
// here.
#define _DEFAULT_SOURCE // mkdtemp, usleep
#include "result_rig.h"
#include "sweep/book.h"
#include <carom/event.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static int rounds = 6;

// -- kills ------------------------------------------------------------------------------------------------------

static const char slow[] =
    "carom: 1\n"
    "coordinates: {x: {at: 0, rate: 1}, y: {at: 0.3}, z: {at: 1, rate: 0.5}}\n"
    "energy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 9.81*y + 2*z^2}\n"
    "contacts: {ground: {gap: y, slip: x, restitution: 0.8, friction: 0.2}, wall: {gap: z + 0.5, restitution: 1}}\n"
    "simulation: {scheme: moreau-midpoint, step: 2e-6, end: 2}\n";

static rlim_t largest = RLIM_INFINITY;    // file of programs that are started
static const char *printed = "/dev/null"; // where their standard output goes

static pid_t start(const char *const *arguments) {
    const pid_t child = fork();
    if (child != 0) return child;
    const struct rlimit limit = {largest, largest};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(98);
    if (chdir(folder) != 0) _exit(99);
    dup2(open(printed, O_WRONLY | O_CREAT | O_TRUNC, 0666), 1);
    dup2(open("/dev/null", O_WRONLY), 2);
    execv(CAROM_BINARY_DIR "/carom", (char *const *)(size_t)arguments);
    _exit(99);
}

static int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno == ECHILD) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned long seed = 2463534242;
static double draw(void) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(seed >> 33) / (double)(1ul << 31);
}

static void kills_cost_a_second_at_most(void **state) {
    (void)state;
    static const char *const whole[] = {"carom", "run", "slow.yaml", "--out", "whole.h5", "--every", "100", "-q", NULL};
    static const char *const part[] = {"carom",   "run", "slow.yaml", "--out",   "part.h5",
                                       "--every", "100", "-q",        "--force", NULL};
    static const char *const resume[] = {"carom", "run", "--resume", "part.h5", "-q", NULL};
    FILE *f = fopen(path("slow.yaml"), "w");
    fputs(slow, f);
    fclose(f);
    const double begun = seconds();
    assert_int_equal(wait_for(start(whole)), 0);
    const double length = seconds() - begun;
    int killed = 0, resumed = 0;
    for (int i = 0; i < rounds; ++i) {
        unlink(path("part.h5"));
        pid_t child = start(part);
        for (bool first = true;; first = false) { // also while it goes on, again and again
            usleep((useconds_t)(1e6 * 0.7 * length * draw()));
            kill(child, SIGKILL);
            const int status = wait_for(child);
            killed += status != 0;
            if (access(path("part.h5"), F_OK) != 0) break; // too early for a file
            carom_result *r = load("part.h5");
            assert_true(carom_result_rows(r) >= 1);
            double *t = column(r, "t");
            for (long k = 0; k < carom_result_rows(r); ++k) assert_true(isfinite(t[k]));
            free(t);
            carom_result_close(r);
            if (!first && draw() < 0.6) {
                assert_int_equal(wait_for(start(resume)), 0);
                assert_same("whole.h5", "part.h5");
                ++resumed;
                break;
            }
            child = start(resume);
        }
        char command[160];
        snprintf(command, sizeof command, "rm -f %s/*.part", folder);
        assert_int_equal(system(command), 0);
    }
    print_message("%d kills, %d runs gone on with to the same bits\n", killed, resumed);
    assert_true(killed > 0 && resumed > 0);
}

// Every kind of run: located, adaptive, own steps, compiled, with a controller, with elastic bodies, lists of contacts,
// threads.
static const char *const kinds[][9] = {
    {"slider-crank-bodies"},
    {"slider-crank", "--scheme", "half-explicit", "--step", "5e-6"},
    {"slider-crank", "--scheme", "moreau-midpoint", "--adaptive", "--rtol", "1e-4"},
    {"slider-crank", "--scheme", "auto", "--option", "rtol=1e-11", "--end", "1"},
    {"slider-crank", "--scheme", "event-driven", "--dt-out", "1e-5", "--event-rows"},
    {"slider-crank-bodies", "--scheme", "mixed", "--step", "1e-5"},
    {"slider-crank", "--scheme", "newmark", "--step", "1e-6", "--compile", "on"},
    {"gear-rattle", "--step", "5e-6"},
    {"gear-rattle", "--scheme", "splitting", "--step", "1e-5", "--adaptive"},
    {"gear-rattle", "--scheme", "event-driven", "--end", "1"},
    {"balancing-cart", "--end", "200"},
    {"balancing-cart", "--scheme", "auto", "--end", "100"},
    {"woodpecker", "--scheme", "ggl-alpha", "--step", "2e-5"},
    {"rocking-block", "--scheme", "moreau-jean", "--step", "5e-6"},
    {"two-ball-oscillator", "--scheme", "dg-plus", "--step", "1e-4"},
    {"elastic-bar", "--scheme", "generalized-alpha"},
    {"motor-current", "--scheme", "alpha-forces", "--step", "2e-5"},
    {"stones", "--threads", "3"},
    {"drum", "--end", "0.5"},
    {"dominoes", "--scheme", "auto", "--end", "0.4"},
};
enum { KINDS = sizeof kinds / sizeof *kinds, CHECKS_FAIL = 3 }; // a model's checks are for its own step and end

static const char **arguments_of(int kind, const char *file) {
    static const char *all[24];
    static char model[300];
    snprintf(model, sizeof model, "%s/models/%s.yaml", CAROM_SOURCE_DIR, kinds[kind][0]);
    int n = 0;
    for (const char *const *a = (const char *const[]){"carom", "run", model, "--json", "--force", "--out", file, NULL};
         *a; ++a)
        all[n++] = *a;
    for (int i = 1; i < 9 && kinds[kind][i]; ++i) all[n++] = kinds[kind][i];
    all[n] = NULL;
    return all;
}

// The ledgers that were printed, line by line, but for names and times of the clock.
static void assert_same_ledgers(const char *a, const char *b) {
    FILE *x = fopen(path(a), "r"), *y = fopen(path(b), "r");
    char p[4000], q[4000];
    int lines = 0;
    assert_true(x && y);
    while (fgets(p, sizeof p, x)) {
        ++lines;
        assert_non_null(fgets(q, sizeof q, y));
        const char *const word = p + strspn(p, " ");
        if (strncmp(word, "\"result\"", 8) == 0 || strncmp(word, "\"seconds\"", 9) == 0 ||
            strncmp(word, "\"ns_per_step\"", 13) == 0 || strncmp(word, "\"wall\"", 6) == 0)
            continue;
        assert_string_equal(p, q);
    }
    assert_null(fgets(q, sizeof q, y));
    assert_true(lines > 20);
    fclose(x);
    fclose(y);
}

// Killed (SIGKILL) or interrupted (SIGINT) at random times, up to three times: rows, events and ledger are those of the
// run that nothing happened to.
static void runs_of_every_kind_go_on_to_the_same_bits(void **state) {
    (void)state;
    static const char *const resume[] = {"carom", "run", "--resume", "part.h5", "--json", NULL};
    static double length[KINDS];
    int ended[2] = {0, 0}, stopped = 0;
    const int turns = rounds < 20 ? 2 : 2 * rounds, first = (int)(seed / 7919 % KINDS); // others with another seed
    for (int i = 0; i < turns; ++i) {
        const int kind = (first + i) % KINDS, signal_number = i / KINDS % 2 ? SIGINT : SIGKILL;
        char whole[40], ledger[40];
        snprintf(whole, sizeof whole, "whole-%d.h5", kind), snprintf(ledger, sizeof ledger, "whole-%d.json", kind);
        if (length[kind] == 0) {
            const double begun = seconds();
            printed = ledger;
            const int status = wait_for(start(arguments_of(kind, whole)));
            if (status != 0 && status != CHECKS_FAIL) fail_msg("%s: kind %d, status %d", kinds[kind][0], kind, status);
            length[kind] = seconds() - begun;
        }
        unlink(path("part.h5"));
        printed = "part.json";
        pid_t child = start(arguments_of(kind, "part.h5"));
        bool done = false;
        for (int times = 0; !done; ++times) {
            if (times < 3) {
                usleep((useconds_t)(1e6 * length[kind] * draw()));
                kill(child, signal_number);
            }
            const int status = wait_for(child);
            done = status == 0 || status == CHECKS_FAIL;
            stopped += !done;
            // a signal that comes before it is asked for ends the program
            if (!done && status != 1000 + signal_number && !(signal_number == SIGINT && status == 130))
                fail_msg("%s: kind %d, status %d", kinds[kind][0], kind, status);
            if (!done)
                child = access(path("part.h5"), F_OK) == 0 ? start(resume) : start(arguments_of(kind, "part.h5"));
        }
        assert_same(whole, "part.h5");
        assert_same_ledgers(ledger, "part.json");
        ++ended[signal_number == SIGINT];
    }
    printed = "/dev/null";
    print_message("%d runs with kills, %d with interrupts, stopped %d times: the same bits\n", ended[0], ended[1],
                  stopped);
}

static char *bytes_of(const char *name, size_t *size) {
    enum { ROOM = 1 << 24 };
    char *bytes = malloc(ROOM);
    FILE *f = fopen(path(name), "rb");
    assert_non_null(bytes);
    *size = f ? fread(bytes, 1, ROOM, f) : 0;
    if (f) fclose(f);
    return bytes;
}

// Is `part` the beginning of `whole`, up to the end of a line?  exact: all of it?
static void assert_begins(const char *part, const char *whole, bool exact) {
    size_t a, b;
    char *x = bytes_of(part, &a), *y = bytes_of(whole, &b);
    assert_true(b > 0 && a <= b && memcmp(x, y, a) == 0);
    assert_true(exact ? a == b : a == 0 || x[a - 1] == '\n');
    free(x);
    free(y);
}

// A text file cannot be gone on with; its lines are whole and those of the run that nothing happened to (the last may
// be cut; readers leave it out).
static void killed_runs_leave_lines(void **state) {
    (void)state;
    static const char *const whole[] = {"carom",   "run", "slow.yaml", "--out", "whole.csv",
                                        "--every", "100", "-q",        NULL};
    static const char *const part[] = {"carom",   "run", "slow.yaml", "--out",   "part.csv",
                                       "--every", "100", "-q",        "--force", NULL};
    const double begun = seconds();
    assert_int_equal(wait_for(start(whole)), 0);
    const double length = seconds() - begun;
    carom_result *y = load("whole.csv");
    double *all = column(y, "y");
    for (int i = 0; i < (rounds + 2) / 3; ++i) {
        unlink(path("part.csv"));
        const pid_t child = start(part);
        usleep((useconds_t)(1e6 * length * draw()));
        kill(child, SIGKILL);
        wait_for(child);
        if (access(path("part.csv"), F_OK) != 0) continue;
        carom_result *x = load("part.csv");
        double *here = column(x, "y");
        assert_in_range(carom_result_rows(x), 0, carom_result_rows(y));
        for (long k = 0; k < carom_result_rows(x); ++k) assert_true(here[k] == all[k]);
        free(here);
        carom_result_close(x);
    }
    free(all);
    carom_result_close(y);
}

// -- sweeps -------------------------------------------------------------------------------------------------------

static const char many[] =
    "carom: 1\nparameters: {e: 0.5, g: 9.81}\ncoordinates: {y: {at: 0.3}}\nenergy: {kinetic: 1/2*y'^2, potential: "
    "g*y}\n"
    "contacts: {ground: {gap: y, restitution: e}}\nsimulation: {scheme: moreau-midpoint, step: 1e-4, end: 1}\n";
#define SWEEP(file)                                                                                                    \
    {                                                                                                                  \
        "carom", "sweep", "many.yaml", "--vary", "e=0:0.9:30", "--vary", "g=5,10", "--observe", "energy.lost",         \
            "--jobs", "2", "-q", "--out", file, NULL                                                                   \
    }
static const char *const whole_sweep[] = SWEEP("sweep.csv"), *const part_sweep[] = SWEEP("part-sweep.csv");
static const char *const resume_sweep[] = {"carom", "sweep", "--resume", "part-sweep.csv", "-q", NULL};

static void clean_sweep(void) {
    char command[200];
    snprintf(command, sizeof command, "rm -f %s/part-sweep.csv*", folder);
    assert_int_equal(system(command), 0);
}

// Nothing is left to continue with: it ended before it had begun.
static bool to_resume(void) {
    char command[200];
    snprintf(command, sizeof command, "ls %s/part-sweep.csv* >/dev/null 2>&1", folder);
    return system(command) == 0;
}

static double whole_sweep_done(void) {
    FILE *f = fopen(path("many.yaml"), "w");
    fputs(many, f);
    fclose(f);
    const double begun = seconds();
    unlink(path("sweep.csv"));
    assert_int_equal(wait_for(start(whole_sweep)), 0);
    return seconds() - begun;
}

static void killed_sweeps_go_on_to_the_same_bytes(void **state) {
    (void)state;
    const double length = whole_sweep_done();
    int resumed = 0;
    for (int i = 0; i < (rounds + 2) / 3; ++i) {
        clean_sweep();
        pid_t child = start(part_sweep);
        for (int again = 0; again < 3; ++again) {
            usleep((useconds_t)(1e6 * 0.6 * length * draw()));
            kill(child, SIGKILL);
            wait_for(child);
            if (!to_resume() || access(path("part-sweep.csv"), F_OK) == 0) break;
            child = start(resume_sweep);
            ++resumed;
        }
        const int status = wait_for(child); // a pid that is waited for already gives an error status, which does not
                                            // matter
        (void)status;
        if (access(path("part-sweep.csv"), F_OK) != 0)
            assert_int_equal(wait_for(start(to_resume() ? resume_sweep : part_sweep)), 0);
        assert_begins("part-sweep.csv", "sweep.csv", true);
    }
    print_message("%d sweeps gone on with\n", resumed);
    assert_true(resumed > 0);
}

// Files may not grow beyond so many bytes, as on a disk that is full: the sweep fails with status 1, and goes on when
// there is room again.
static void sweeps_survive_a_full_disk(void **state) {
    (void)state;
    whole_sweep_done();
    int failed = 0;
    const rlim_t step = rounds > 50 ? 61 : 1511;
    for (rlim_t most = 0; most < 6000; most += step) {
        clean_sweep();
        largest = most;
        const int status = wait_for(start(part_sweep));
        largest = RLIM_INFINITY;
        // 2: it looks before it begins
        if (status != 0 && status != 1 && !(status == 2 && !to_resume()))
            fail_msg("%lu bytes: status %d", (unsigned long)most, status);
        failed += status != 0;
        if (status != 0 && access(path("part-sweep.csv"), F_OK) != 0) {
            const int again = wait_for(start(to_resume() ? resume_sweep : part_sweep));
            // not even its definition was written
            if (again != 0) clean_sweep(), assert_int_equal(wait_for(start(part_sweep)), 0);
        }
        assert_begins("part-sweep.csv", "sweep.csv", true);
    }
    assert_true(failed > 1);
}

#ifndef OWN_HEAP

// -- memory -----------------------------------------------------------------------------------------------------

static long requests, refused_at; // refused_at 0: never
static bool refuse(void) { return ++requests == refused_at; }

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);
void *__wrap_malloc(size_t size) { return refuse() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return refuse() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *block, size_t size) { return refuse() ? NULL : __real_realloc(block, size); }
char *__wrap_strdup(const char *text) { return refuse() ? NULL : __real_strdup(text); }

// A whole life; true: it went through.
static bool live(const char *scheme, const char *file) {
    const carom_model_def md = {.text = ball, .length = strlen(ball), .file = "model.yaml"};
    carom_error err = {0};
    bool good = false;
    carom_model *m = carom_model_create(&md, &err);
    carom_sim_def sd = carom_sim_default();
    carom_record_def rd = carom_record_default();
    carom_sim *sim = NULL;
    carom_record *r = NULL;
    if (m) {
        sd.system = carom_model_system(m);
        sd.schemes = carom_schemes(), sd.scheme = scheme;
        sd.h = 1e-2, sd.t_end = 0.6;
        sd.q0 = carom_model_q0(m), sd.v0 = carom_model_v0(m);
        sim = carom_sim_create(&sd, &err);
    }
    if (sim) {
        rd.model = m, rd.sim = sim, rd.file = file, rd.memory = !file;
        rd.step = sd.h, rd.end = sd.t_end, rd.every = 1;
        rd.text = ball, rd.length = strlen(ball);
        r = carom_record_create(&rd, &err);
    }
    if (r) {
        carom_status status = CAROM_OK;
        while (status == CAROM_OK && !carom_sim_done(sim)) {
            status = carom_record_advance(r, 25, 0, &err);
            if (status == CAROM_OK) status = carom_record_flush(r, &err);
        }
        good = carom_record_finish(r, status == CAROM_OK ? "done" : "failed", NULL, &err) == CAROM_OK &&
               status == CAROM_OK;
    }
    if (!good && strlen(err.text) < 5) fail_msg("no reason given");
    carom_record_destroy(r);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return good;
}

static bool note(void *user, const carom_sweep_row *row) { return carom_journal_add(user, row); }

// A sweep with a journal.
static bool live_sweep(const char *journal) {
    carom_error err = {0};
    carom_sweep_def d = carom_sweep_default();
    d.model = (carom_model_def){.text = many, .length = strlen(many), .file = "m.yaml"};
    d.vary = (const char *const[]){"e=0,0.5,0.9", NULL};
    d.observe = (const char *const[]){"energy.lost", NULL};
    d.jobs = 1;
    carom_sweep *s = carom_sweep_create(&d, &err);
    carom_journal *book = s ? carom_journal_create(journal, "what", 4, &err) : NULL;
    carom_table t[2] = {{0}};
    int n = 0;
    const carom_sweep_watch watch = {.user = book, .row = note};
    const bool good = book && carom_journal_bind(book, s, &err) == CAROM_OK &&
                      carom_sweep_run(s, &watch, &err) == CAROM_OK && carom_journal_failed(book) == 0 &&
                      carom_journal_flush(book, &err) == CAROM_OK &&
                      carom_journal_tables(book, t, &n, &err) == CAROM_OK;
    for (int i = 0; good && i < n; ++i) carom_table_free(&t[i]);
    long run;
    const bool told = strlen(err.text) > 5 || (book && carom_journal_message(book, &run));
    if (!good && !told) fail_msg("no reason given");
    carom_journal_destroy(book);
    carom_sweep_destroy(s);
    return good;
}

static void refused_memory_in_sweeps_is_told(void **state) {
    (void)state;
    char journal[200];
    snprintf(journal, sizeof journal, "%s", path("memory.journal"));
    refused_at = requests = 0;
    assert_true(live_sweep(journal));
    const long all = requests, step = rounds > 50 ? 1 : 1 + all / 60;
    for (long n = 1; n <= all; n += step) {
        unlink(journal);
        refused_at = n, requests = 0;
        live_sweep(journal);
        refused_at = 0;
    }
    print_message("sweep: %ld requests for memory\n", all);
}

static void refused_memory_is_told(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *file;
    } lives[] = {
        {"moreau-midpoint", "memory.h5"}, {"mixed", "memory.csv"}, {"event-driven", "memory.h5"}, {"auto", NULL}};
    for (size_t i = 0; i < sizeof lives / sizeof *lives; ++i) {
        char file[200];
        if (lives[i].file) snprintf(file, sizeof file, "%s", path(lives[i].file));
        refused_at = requests = 0;
        assert_true(live(lives[i].scheme, lives[i].file ? file : NULL));
        const long all = requests, step = rounds > 50 ? 1 : 1 + all / 150;
        for (long n = 1; n <= all; n += step) {
            if (lives[i].file) unlink(file);
            refused_at = n, requests = 0;
            const bool good = live(lives[i].scheme, lives[i].file ? file : NULL);
            refused_at = 0;
            if (good || !lives[i].file || access(file, F_OK) != 0) continue;
            carom_error err = {0};
            carom_result *r = carom_result_open(file, &err); // what is there is sound
            if (!r) fail_msg("%s, request %ld: %s", lives[i].scheme, n, err.text);
            carom_result_close(r);
        }
        print_message("%s: %ld requests for memory\n", lives[i].scheme, all);
    }
}

#endif

int main(int argc, char **argv) {
    if (argc > 1) rounds = atoi(argv[1]);
    if (argc > 2) seed += strtoul(argv[2], NULL, 10) * 7919; // other times to be killed at
    if (argc > 3) cmocka_set_test_filter(argv[3]);
    const struct CMUnitTest tests[] = {
#ifndef OWN_HEAP
        cmocka_unit_test(refused_memory_is_told),      cmocka_unit_test(refused_memory_in_sweeps_is_told),
#endif
        cmocka_unit_test(kills_cost_a_second_at_most), cmocka_unit_test(runs_of_every_kind_go_on_to_the_same_bits),
        cmocka_unit_test(killed_runs_leave_lines),     cmocka_unit_test(killed_sweeps_go_on_to_the_same_bytes),
        cmocka_unit_test(sweeps_survive_a_full_disk),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
