// gpu.c: a sweep on a GPU: the text of lanes through nvcc, and what its program writes as outcomes.
#include "base/grow.h"
#include "compile/compile.h"
#include "sweep/lanes.h"
#include "sweep/shards.h"
#include <stdlib.h>
#include <string.h>

struct carom_gpu { cuda_program program; };

carom_status carom_gpu_open(const carom_sweep *s, const carom_lanes *l, carom_gpu **gpu, carom_error *err) {
    carom_text b = {0};
    carom_gpu *g = calloc(1, sizeof *g);
    carom_status status = g ? carom_lanes_text(s, l, true, carom_text_append, &b, err) : CAROM_NO_MEMORY;
    if (!g || b.failed) status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the text of lanes");
    if (status == CAROM_OK) status = carom_cuda_open(&g->program, b.at, b.n, err);
    free(b.at);
    if (status == CAROM_OK) { // is there a card?
        char *bytes = NULL;
        size_t n = 0;
        status = carom_cuda_run(&g->program, 0, 0, &bytes, &n, err);
        free(bytes);
    }
    if (status == CAROM_OK) *gpu = g;
    else carom_gpu_close(g);
    return status;
}

void carom_gpu_close(carom_gpu *g) {
    if (!g) return;
    carom_cuda_close(&g->program);
    free(g);
}

// One run as the program wrote it: status, points, time, observed, end, section points.  Returns what follows; NULL:
// too short.
static const double *read_run(const carom_sweep *s, const double *at, const double *end, bool wanted, outcome *o) {
    enum { HEAD = 3 };
    const size_t no = (size_t)s->nobserve, ns = (size_t)carom_sweep_state(s), left = (size_t)(end - at);
    if (left < HEAD + no + ns || !(at[1] >= 0 && at[1] < (double)left)) return NULL;
    const size_t points = (size_t)at[1], count = points * (1 + no);
    if (left < HEAD + no + ns + count) return NULL;
    const double *x = at + HEAD;
    if (wanted) {
        o->section = malloc((count + 1) * sizeof *o->section);
        if (o->section) memcpy(o->section, x + no + ns, count * sizeof *x);
        o->points = o->section ? (long)points : 0;
        carom_lanes_outcome(s, (int)at[0], at[2], x, x + no, o);
        o->done = o->done && o->section;
    }
    return x + no + ns + count;
}

carom_status carom_gpu_block(carom_sweep *s, long first, long last, outcome *out, carom_error *err) {
    char *bytes = NULL;
    size_t n = 0;
    CAROM_TRY(carom_cuda_run(&s->gpu->program, first, last, &bytes, &n, err));
    const double *at = (const double *)(const void *)bytes, *end = at + n / sizeof *at;
    for (long i = first; i < last && at; ++i) at = read_run(s, at, end, !s->skip[i], &out[i - first]);
    free(bytes);
    if (!at) return carom_fail(err, CAROM_IO, "the sweep on the GPU left fewer results than it has runs");
    for (long i = first; i < last && !atomic_load(&s->stop); ++i)
        if (!s->skip[i] && !out[i - first].done) carom_lanes_alone(s, i, &out[i - first]);
    return CAROM_OK;
}
