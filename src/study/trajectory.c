// trajectory.c: a motion in memory, and its state at any time.
#include "base/missing.h"
#include "study/trajectory.h"
#include <carom/study.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAME = 1e-9; // times closer than this part of the spacing are the same

size_t carom_trajectory_bytes(int n, long room) { return (2 * (size_t)n + 2) * (size_t)room * sizeof(double); }

carom_status carom_trajectory_create(carom_trajectory *tr, int n, long room, carom_error *err) {
    if (!tr) return CAROM_MISSING(err);
    const size_t bytes = carom_trajectory_bytes(n, room), nodes = (size_t)room;
    *tr = (carom_trajectory){.n = n, .room = room, .t = malloc(bytes + 1)};
    if (!tr->t)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a trajectory of %ld states (%.3g GB)", room,
                          1e-9 * (double)bytes);
    memset(tr->t, 0, bytes);
    tr->jump = tr->t + nodes;
    tr->q = tr->jump + nodes;
    tr->v = tr->q + nodes * (size_t)n;
    return CAROM_OK;
}

carom_status carom_trajectory_reserve(carom_trajectory *tr, long room, carom_error *err) {
    if (!tr) return CAROM_MISSING(err);
    if (room <= tr->room) return CAROM_OK;
    carom_trajectory more;
    CAROM_TRY(carom_trajectory_create(&more, tr->n, room, err));
    const size_t nodes = (size_t)tr->count * sizeof *tr->t, states = nodes * (size_t)tr->n;
    more.count = tr->count;
    memcpy(more.t, tr->t, nodes);
    memcpy(more.jump, tr->jump, nodes);
    memcpy(more.q, tr->q, states);
    memcpy(more.v, tr->v, states);
    carom_trajectory_destroy(tr);
    *tr = more;
    return CAROM_OK;
}

void carom_trajectory_destroy(carom_trajectory *tr) {
    if (!tr) return;
    free(tr->t);
    *tr = (carom_trajectory){0};
}

void carom_trajectory_add(carom_trajectory *tr, double t, const double *q, const double *v, double jump) {
    if (!tr) return;
    const size_t at = (size_t)tr->count * (size_t)tr->n, bytes = (size_t)tr->n * sizeof *q;
    if (tr->count == tr->room) return;
    tr->t[tr->count] = t;
    tr->jump[tr->count++] = jump;
    memcpy(tr->q + at, q, bytes);
    memcpy(tr->v + at, v, bytes);
}

// The last node at or before t (not the last of all); near the hint first.
static long locate(const carom_trajectory *tr, double t, long hint) {
    const double *T = tr->t;
    const long last = tr->count - 2;
    long low = 0, high = last;
    if (hint < 0 || hint > last) hint = 0;
    if (T[hint] <= t) { // forward in growing strides
        low = hint;
        for (long stride = 1; low + stride <= last && T[low + stride] <= t; stride *= 2) low += stride;
    }
    while (low < high) {
        const long middle = low + (high - low + 1) / 2;
        if (T[middle] <= t) low = middle;
        else high = middle - 1;
    }
    return low;
}

typedef struct piece { double q_0, v_0, q_1, v_1, h; } piece;

static void line(const piece *p, double s, double *q, double *v) {
    *v = (p->q_1 - p->q_0) / p->h;
    *q = p->q_0 + *v * s;
}

static void cubic(const piece *p, double s, double *q, double *v) {
    const double x = s / p->h, y = 1 - x;
    *q = y * y * (1 + 2 * x) * p->q_0 + x * x * (1 + 2 * y) * p->q_1 + p->h * x * y * (y * p->v_0 - x * p->v_1);
    *v = 6 * x * y * (p->q_1 - p->q_0) / p->h + y * (1 - 3 * x) * p->v_0 + x * (1 - 3 * y) * p->v_1;
}

// A parabola on either side of the jump at j.  What is missing for them to meet goes into both curvatures, so that
// the sum of their squares is smallest.
static void parabolas(const piece *p, double j, bool behind, double s, double *q, double *v) {
    const double x = j / p->h, y = 1 - x;
    const double missing = p->q_1 - y * p->h * p->v_1 - p->q_0 - x * p->h * p->v_0;
    const double unit = 2 * missing / (p->h * p->h * (x * x * x * x + y * y * y * y));
    if (behind) {
        const double a = -unit * y * y, r = s - p->h;
        *q = p->q_1 + r * (p->v_1 + 0.5 * a * r);
        *v = p->v_1 + a * r;
    } else {
        const double a = unit * x * x;
        *q = p->q_0 + s * (p->v_0 + 0.5 * a * s);
        *v = p->v_0 + a * s;
    }
}

// v = v_0 + s (v_1 - v_0)/h,   q = q_0 + s (q_1 - q_0)/h - s (h - s)/2 (v_1 - v_0)/h
static void spread(const piece *p, double s, double *q, double *v) {
    const double a = (p->v_1 - p->v_0) / p->h;
    *v = p->v_0 + s * a;
    *q = p->q_0 + s * ((p->q_1 - p->q_0) / p->h - 0.5 * (p->h - s) * a);
}

static void node(const carom_trajectory *tr, long k, double *q, double *v) {
    const size_t at = (size_t)k * (size_t)tr->n, bytes = (size_t)tr->n * sizeof *q;
    memcpy(q, tr->q + at, bytes);
    memcpy(v, tr->v + at, bytes);
}

static void inside(const carom_trajectory *tr, long k, double t, carom_side side, double *q, double *v) {
    const double h = tr->t[k + 1] - tr->t[k], s = t - tr->t[k], jump = tr->jump[k + 1];
    const double j = jump - tr->t[k]; // NaN: none
    const bool behind = fabs(s - j) <= SAME * h ? side == CAROM_RIGHT : s > j;
    for (int i = 0; i < tr->n; ++i) {
        const size_t a = (size_t)k * (size_t)tr->n + (size_t)i, b = a + (size_t)tr->n;
        const piece p = {tr->q[a], tr->v[a], tr->q[b], tr->v[b], h};
        if (isnan(p.v_0) || isnan(p.v_1)) line(&p, s, &q[i], &v[i]);
        else if (isnan(j)) cubic(&p, s, &q[i], &v[i]);
        else if (isinf(j)) spread(&p, s, &q[i], &v[i]);
        else parabolas(&p, j, behind, s, &q[i], &v[i]);
    }
}

void carom_trajectory_at(const carom_trajectory *tr, double t, carom_side side, long *hint, double *q, double *v) {
    if (!tr || !hint || !q || !v) return;
    if (tr->count == 1) {
        node(tr, 0, q, v);
        return;
    }
    const long k = locate(tr, t, *hint);
    const double same = SAME * (tr->t[k + 1] - tr->t[k]);
    *hint = k;
    long at = t <= tr->t[k] + same ? k : t >= tr->t[k + 1] - same ? k + 1 : -1;
    if (at < 0) {
        inside(tr, k, t, side, q, v);
        return;
    }
    while (side == CAROM_RIGHT && at + 1 < tr->count && tr->t[at + 1] == tr->t[at]) ++at;
    while (side == CAROM_LEFT && at > 0 && tr->t[at - 1] == tr->t[at]) --at;
    node(tr, at, q, v);
}
