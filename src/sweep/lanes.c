// lanes.c: many runs at once on the processor.
#include "base/grow.h"
#include "base/number.h"
#include "sweep/lanes.h"
#include "compile/compile.h"
#include "sweep/shards.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/// What the compiled text takes; carom_lanes_job of lanes/head_c.inc.
typedef struct job {
    int n;
    const double *x;
    double *observed, *end;
    int *status;
    double *t;
    void (*point)(void *user, int run, double t, const double *observed);
    int (*stop)(void *user);
    void *user;
} job;

enum { SHORT = 1 };  // status: fewer section points than wanted
enum { BLOCK = 64 }; // LANES times VECTORS of the text

// -- compile ----------------------------------------------------------------------------------------------------------

// Ctrl-C and kill -9 lose a second at most: long runs go in smaller blocks.
static int block_of(const carom_lanes *l) {
    const double seconds = l->run.end / l->run.step * 5e-8; // of one run
    const double n = seconds > 0 ? 0.5 / seconds : BLOCK;
    return n >= BLOCK ? BLOCK : n <= 8 ? 8 : (int)n;
}

carom_status carom_lanes_compile(const carom_sweep *s, carom_lanes *l, carom_error *err) {
    // A long text is mostly straight-line code, which gains little from what takes the compiler longest.
    static const size_t LONG = 400000;
    static const char hurry[] = "#pragma GCC optimize(\"O1\")\n";
    carom_text b = {0};
    carom_status status = carom_lanes_text(s, l, false, carom_text_append, &b, err);
    if (status == CAROM_OK && b.n > LONG) {
        b.n = 0;
        carom_text_append(&b, hurry, sizeof hurry - 1);
        status = carom_lanes_text(s, l, false, carom_text_append, &b, err);
    }
    if (status == CAROM_OK && b.failed)
        status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the text of lanes");
    if (status == CAROM_OK) status = carom_object_open(b.at, b.n, &l->code, err);
    if (status == CAROM_OK) {
        *(void **)&l->work = dlsym(l->code, "carom_lanes_run");
        if (!l->work) status = carom_fail(err, CAROM_IO, "a compiled model cannot be loaded: %.400s", dlerror());
        l->block = block_of(l);
    }
    free(b.at);
    return status;
}

// -- a block of runs --------------------------------------------------------------------------------------------------

typedef struct block {
    carom_sweep *s;
    outcome *o[BLOCK];
    bool failed; // no memory
} block;

static int stop_asked(void *user) {
    const block *b = user;
    return b->failed || atomic_load(&b->s->stop);
}

static void add_point(void *user, int run, double t, const double *observed) {
    block *b = user;
    outcome *o = b->o[run];
    const size_t n = 1 + (size_t)b->s->nobserve;
    if (!carom_grow(&o->section, (size_t)o->points, n * sizeof *o->section)) {
        b->failed = true;
        return;
    }
    double *row = o->section + (size_t)o->points++ * n;
    row[0] = t;
    memcpy(row + 1, observed, (n - 1) * sizeof *row);
}

static double *copy(const double *x, size_t n) {
    double *y = malloc((n + 1) * sizeof *y);
    if (y) memcpy(y, x, n * sizeof *y);
    return y;
}

void carom_lanes_outcome(const carom_sweep *s, int status, double t, const double *observed, const double *end,
                         outcome *o) {
    if (status < 0) return;
    o->observed = copy(observed, (size_t)s->nobserve);
    o->end = copy(end, (size_t)carom_sweep_state(s));
    o->done = o->observed && o->end;
    if (status != SHORT) return;
    o->status = 1;
    o->message = malloc(120);
    // as the engine has it
    if (o->message)
        carom_format(o->message, 120, "only %ld of %ld section points until t = %.9g", o->points, s->def.count, t);
    o->done = o->done && o->message;
}

void carom_lanes_alone(carom_sweep *s, long run, outcome *o) {
    carom_outcome_free(o);
    atomic_fetch_add(&s->alone, 1);
    carom_sweep_single(s, run, NULL, o);
}

void carom_lanes_block(carom_sweep *s, long first, long last, outcome *out) {
    const size_t nx = (size_t)s->nvary, no = (size_t)s->nobserve, ns = (size_t)carom_sweep_state(s);
    block b = {.s = s};
    long run[BLOCK];
    int status[BLOCK], n = 0;
    double end_time[BLOCK];
    for (long i = first; i < last && n < BLOCK; ++i)
        if (!s->skip[i]) b.o[n] = &out[i - first], run[n] = i, status[n++] = -1;
    double *x = calloc(n * (nx + 1), sizeof *x), *observed = calloc(n * (no + 1), sizeof *observed),
           *end = calloc(n * ns + 1, sizeof *end);
    for (int i = 0; x && i < n; ++i) carom_sweep_values(s, run[i], x + (size_t)i * nx);
    const job j = {n, x, observed, end, status, end_time, add_point, stop_asked, &b};
    const bool done = x && observed && end && n > 0 && s->lanes->work(&j) && !b.failed;
    for (int i = 0; i < n && !atomic_load(&s->stop); ++i) {
        if (done)
            carom_lanes_outcome(s, status[i], end_time[i], observed + (size_t)i * (no > 0 ? no : 1),
                                end + (size_t)i * ns, b.o[i]);
        if (done && !b.o[i]->done) carom_lanes_alone(s, run[i], b.o[i]);
    }
    free(x);
    free(observed);
    free(end);
}
