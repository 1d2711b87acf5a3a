// torture.c: runs that are killed at random times, and requests for memory that fail one by one.
//
//     torture [ROUNDS]      kills (default 6); every n-th request fails, n = 1, 2, ... (with few rounds not every n)
//
// Each time the result opens, holds the beginning of the run that nothing happened to, and goes on to the same bits.  That writes fail
// is the business of test_storage.c.
#define _DEFAULT_SOURCE // mkdtemp, usleep
#include "result_rig.h"
#include <carom/event.h>
#include <fcntl.h>
#include <signal.h>
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

static pid_t start(const char *const *arguments) {
    const pid_t child = fork();
    if (child != 0) return child;
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    if (chdir(folder) != 0) _exit(99);
    execv(CAROM_BINARY_DIR "/carom", (char *const *)(size_t)arguments);
    _exit(99);
}

static int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) continue;
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
    static const char *const part[] = {"carom", "run", "slow.yaml", "--out", "part.h5", "--every", "100", "-q", "--force", NULL};
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
        good = carom_record_finish(r, status == CAROM_OK ? "done" : "failed", NULL, &err) == CAROM_OK && status == CAROM_OK;
    }
    if (!good && strlen(err.text) < 5) fail_msg("no reason given");
    carom_record_destroy(r);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return good;
}

static void refused_memory_is_told(void **state) {
    (void)state;
    static const struct { const char *scheme, *file; } lives[] = {
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
    const struct CMUnitTest tests[] = {
#ifndef OWN_HEAP
        cmocka_unit_test(refused_memory_is_told),
#endif
        cmocka_unit_test(kills_cost_a_second_at_most),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
