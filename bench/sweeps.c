// sweeps.c: what a sweep costs beside its runs, and how it grows with threads and ranks.
//
// A ball on a vibrating table, 300 periods, `mixed`.  CPU time of single runs, which know nothing of sweeps, times the
// number of runs over the number of cores is what a sweep should take; beside it stands its wall time.  Other processes
// on the machine spoil these figures.  An argument is the number of runs.
#define _DEFAULT_SOURCE
#include <carom/carom.h>
#include <carom/compile.h>
#include <carom/sweep.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SINGLES = 10 }; // Gamma from 1.2 to 1.5: every orbit is periodic, so that runs take the same time

static const char text[] =
    "carom: 1\nparameters: {Gamma: 1.3, e: 0.5}\ncoordinates: {x: {at: 3, rate: 2}}\n"
    "energy: {kinetic: \"1/2*x'^2\", potential: x}\ncontacts: {table: {gap: x - Gamma*sin(t), restitution: e}}\n"
    "simulation: {scheme: mixed, step: 0.05, end: 600*pi}\n";

static double clock_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds of CPU of one run, the mean of some; compiled as in a sweep.  NAN: failed.
static double single(int runs) {
    carom_error err = {0};
    double sum = 0;
    for (int i = 0; i < SINGLES; ++i) {
        char set[40];
        snprintf(set, sizeof set, "Gamma=%.17g", 1.2 + 0.3 * i / (SINGLES - 1));
        const char *const sets[] = {set, NULL};
        const carom_model_def d = {.text = text, .length = sizeof text - 1, .file = "table.yaml", .set = sets};
        const carom_run_given given = carom_run_nothing();
        const double start = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        carom_run run;
        carom_model *m = carom_model_create(&d, &err);
        if (!m || carom_run_resolve(&run, m, &given, &err) != CAROM_OK) return printf("sweeps: %s\n", err.text), NAN;
        carom_model_compile(m, CAROM_COMPILE_AUTO, run.evaluations * runs, NULL, &err);
        const carom_sim_def sd = carom_run_sim(&run, m);
        carom_sim *sim = carom_sim_create(&sd, &err);
        if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) return printf("sweeps: %s\n", err.text), NAN;
        carom_sim_destroy(sim);
        carom_run_free(&run);
        carom_model_destroy(m);
        sum += clock_of(CLOCK_PROCESS_CPUTIME_ID) - start;
    }
    return sum / SINGLES;
}

static bool count(void *user, const carom_sweep_row *row) { return *(long *)user += row->status == 0, true; }

// Wall time in seconds; NAN: failed.
static double sweep(int runs, int jobs) {
    char spec[40];
    snprintf(spec, sizeof spec, "Gamma=1.2:1.5:%d", runs);
    const char *const vary[] = {spec, NULL}, *const observe[] = {"x", NULL};
    carom_error err = {0};
    carom_sweep_def d = carom_sweep_default();
    d.model = (carom_model_def){.text = text, .length = sizeof text - 1, .file = "table.yaml"};
    d.vary = vary, d.observe = observe, d.jobs = jobs;
    carom_sweep *s = carom_sweep_create(&d, &err);
    long good = 0;
    const carom_sweep_watch watch = {.user = &good, .row = count};
    const double start = clock_of(CLOCK_MONOTONIC);
    if (!s || carom_sweep_run(s, &watch, &err) != CAROM_OK || good != runs)
        return printf("sweeps: %s\n", err.text), NAN;
    carom_sweep_destroy(s);
    return clock_of(CLOCK_MONOTONIC) - start;
}

// The same by the program under mpirun, its start included.  NAN: there is no mpirun, or no MPI.
static double ranks(int runs, int n) {
    char command[600];
    FILE *f = fopen(CAROM_BENCH_DIR "/table.yaml", "w");
    if (!f) return NAN;
    fputs(text, f);
    fclose(f);
    snprintf(command, sizeof command,
             "cd '" CAROM_BENCH_DIR
             "' && rm -f ranks.csv.journal && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
             "mpirun -n %d ../carom sweep table.yaml --vary Gamma=1.2:1.5:%d --observe x --quiet --out ranks.csv "
             ">/dev/null 2>&1",
             n, runs);
    const double start = clock_of(CLOCK_MONOTONIC);
    return system(command) == 0 ? clock_of(CLOCK_MONOTONIC) - start : NAN;
}

int main(int argc, char **argv) {
    const int given = argc > 1 ? atoi(argv[1]) : 0, runs = given > 0 ? given : 40;
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    const int cores = n > 1 ? (int)n : 1;
    const double one = single(runs), alone = sweep(runs, 1), two = cores > 1 ? sweep(runs, 2) : NAN,
                 all = cores > 2    ? sweep(runs, cores)
                       : cores == 2 ? two
                                    : alone;
    const double rank1 = ranks(runs, 1), rank2 = cores > 1 ? ranks(runs, 2) : NAN;
    printf("\nsweep of a ball on a vibrating table, %d runs of 300 periods, mixed\n", runs);
    printf("  single run                             %8.2f ms of CPU time\n", 1e3 * one);
    printf("  single run x runs / %d cores            %8.2f s\n", cores, one * runs / cores);
    printf("  sweep, %d threads                       %8.2f s, %.2f of that\n", cores, all, all * cores / (one * runs));
    printf("  1 -> 2 threads                         %8.2f times as fast\n", alone / two);
    if (isfinite(rank2)) printf("  1 -> 2 ranks of mpirun, with its start %8.2f times as fast\n", rank1 / rank2);
    else printf("  1 -> 2 ranks of mpirun                 not measured: no mpirun, no MPI, or one core\n");
    return isfinite(one) && isfinite(alone) && isfinite(all) ? 0 : 1;
}
