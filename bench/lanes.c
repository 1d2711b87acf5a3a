// lanes.c: many runs at once: 4096 slider-cranks without friction, 200 steps of 1e-5 each, on one core.
//
// CPU time of the process, the least of several sweeps; everything that a sweep does is in it: values, laws and initial
// states of every run, its steps, its row.  Beside it the same runs one by one, of which every one makes its model
// anew.  Then longer sweeps of other models, in lanes and one by one, compiled.
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

typedef struct run { const char *text; size_t length; const char *name, *observe; double step, end; } run;

static size_t read_text(const char *name, char *text, size_t room) {
    FILE *f = fopen(name, "r");
    const size_t length = f ? fread(text, 1, room, f) : 0;
    if (f) fclose(f);
    return length;
}

// ns per system and step; NAN: failed.
static double measure(const run *r, const char *vary, carom_lanes_mode mode, int times) {
    const char *const what[] = {vary, NULL}, *const observe[] = {r->observe, NULL};
    carom_error err = {0};
    carom_sweep_def d = carom_sweep_default();
    d.model = (carom_model_def){.text = r->text, .length = r->length, .file = r->name};
    d.vary = what, d.observe = observe, d.lanes = mode, d.jobs = 1;
    d.run.scheme = "moreau-midpoint", d.run.step = r->step, d.run.end = r->end;
    carom_sweep *s = carom_sweep_create(&d, &err);
    double best = INFINITY;
    for (int i = 0; s && i < times; ++i) {
        long good = 0;
        const carom_sweep_watch watch = {.user = &good, .row = count};
        const double start = cpu();
        if (carom_sweep_run(s, &watch, &err) != CAROM_OK || good != carom_sweep_runs(s)) break;
        best = fmin(best, cpu() - start);
    }
    if (!s || !isfinite(best)) printf("%s: %s\n", r->name, err.text);
    const double ns = s && isfinite(best) ? best / (double)carom_sweep_runs(s) / (r->end / r->step) * 1e9 : NAN;
    carom_sweep_destroy(s);
    return ns;
}

// Lanes and single runs of one model, each with what it costs per system and step.
typedef struct subject { const char *model, *vary, *few, *observe; double step, end; } subject;

static void measure_model(const subject *x) {
    static char text[1 << 16];
    char name[500];
    snprintf(name, sizeof name, "%s/models/%s.yaml", CAROM_SOURCE_DIR, x->model);
    const size_t length = read_text(name, text, sizeof text);
    const run r = {text, length, x->model, x->observe, x->step, x->end};
    const double lanes = measure(&r, x->vary, CAROM_LANES_ON, 3), single = measure(&r, x->few, CAROM_LANES_OFF, 3);
    printf("  %-28s %8.1f %8.1f %8.1f\n", x->model, lanes, single, single / lanes);
}

int main(void) {
    static char text[1 << 16];
    const size_t length = read_text(CAROM_SOURCE_DIR "/models/slider-crank-frictionless.yaml", text, sizeof text);
    const run brief = {text, length, "slider-crank-frictionless.yaml", "th1", 1e-5, 200e-5};
    run all = brief;
    all.end = 0.1;
    const double lanes = measure(&brief, "th1'=140:160:4096", CAROM_LANES_ON, 15);
    const double longer = measure(&all, "th1'=140:160:256", CAROM_LANES_ON, 3);
    const double single = measure(&all, "th1'=140:160:8", CAROM_LANES_OFF, 3);
    printf("\nsweep of slider-cranks without friction, moreau-midpoint, one core, ns per system and step\n");
    printf("  4096 systems x 200 steps in lanes      %8.1f\n", lanes);
    printf("  256 systems x 10 000 steps in lanes    %8.1f\n", longer);
    printf("  8 systems x 10 000 steps one by one    %8.1f\n", single);
    static const subject subjects[] = {
        {"slider-crank-bodies", "m3=0.05:0.1:256", "m3=0.05:0.1:4", "slider.x", 1e-5, 0.15},
        {"slider-crank-clearance", "m3=0.05:0.1:256", "m3=0.05:0.1:4", "slider.x", 1e-5, 0.1},
        {"woodpecker", "y=0:0.001:256", "y=0:0.001:4", "bird", 1e-5, 0.3},
        {"rocking-block", "y'=0:0.1:256", "y'=0:0.1:4", "th", 1e-4, 1},
    };
    printf("\n  %-28s %8s %8s %8s\n", "moreau-midpoint, ns", "lanes", "singles", "ratio");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; ++i) measure_model(&subjects[i]);
    return isfinite(lanes) && isfinite(longer) && isfinite(single) ? 0 : 1;
}
