// lanes.c: many runs at once: 4096 slider-cranks without friction, 200 steps of 1e-5 each, on one core.
//
// CPU time of the process, the least of several sweeps; everything that a sweep does is in it: values, laws and initial
// states of every run, its steps, its row.  Beside it the same runs one by one, of which every one makes its model
// anew.
#define _DEFAULT_SOURCE
#include <carom/carom.h>
#include <carom/sweep.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool count(void *user, const carom_sweep_row *row) { return *(long *)user += row->status == 0, true; }

// ns per system and step; NAN: failed.
static double measure(const char *text, size_t length, const char *vary, double end, carom_lanes_mode mode, int times) {
    const char *const what[] = {vary, NULL}, *const observe[] = {"th1", NULL};
    carom_error err = {0};
    carom_sweep_def d = carom_sweep_default();
    d.model = (carom_model_def){.text = text, .length = length, .file = "slider-crank-frictionless.yaml"};
    d.vary = what, d.observe = observe, d.lanes = mode;
    d.run.scheme = "moreau-midpoint", d.run.step = 1e-5, d.run.end = end;
    carom_sweep *s = carom_sweep_create(&d, &err);
    double best = INFINITY;
    for (int i = 0; s && i < times; ++i) {
        long good = 0;
        const carom_sweep_watch watch = {.user = &good, .row = count};
        const double start = cpu();
        if (carom_sweep_run(s, &watch, &err) != CAROM_OK || good != carom_sweep_runs(s)) break;
        best = fmin(best, cpu() - start);
    }
    if (!s || !isfinite(best)) printf("lanes: %s\n", err.text);
    const double ns = s && isfinite(best) ? best / (double)carom_sweep_runs(s) / (end / 1e-5) * 1e9 : NAN;
    carom_sweep_destroy(s);
    return ns;
}

int main(void) {
    static char text[1 << 16];
    FILE *f = fopen(CAROM_SOURCE_DIR "/models/slider-crank-frictionless.yaml", "r");
    const size_t length = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) fclose(f);
    const double lanes = measure(text, length, "th1'=140:160:4096", 200e-5, CAROM_LANES_ON, 15);
    const double longer = measure(text, length, "th1'=140:160:256", 0.1, CAROM_LANES_ON, 3);
    const double single = measure(text, length, "th1'=140:160:8", 0.1, CAROM_LANES_OFF, 3);
    printf("\nsweep of slider-cranks without friction, moreau-midpoint, one core, ns per system and step\n");
    printf("  4096 systems x 200 steps in lanes      %8.1f\n", lanes);
    printf("  256 systems x 10 000 steps in lanes    %8.1f\n", longer);
    printf("  8 systems x 10 000 steps one by one    %8.1f\n", single);
    return isfinite(lanes) && isfinite(longer) && isfinite(single) ? 0 : 1;
}
