// increments.c: see turn.h.
#include "scheme/increments.h"
#include "linalg/matrix.h"
#include "linalg/dense.h"

static const double SINGULAR = 1e-13; // pivots that have cancelled to this, relatively

enum { LARGE = 100 }; // velocities of a part: T of it costs their cube

carom_increments carom_allocate_increments(carom_arena *mem, const carom_system *sys) {
    carom_increments t = {
        .on = sys->lift, .parts = sys->part ? sys->nparts : 1, .part = sys->part, .whole = {0, sys->nv}};
    size_t numbers = 0;
    for (int i = 0; i < t.parts; ++i) {
        const int n = sys->part ? sys->part[i + 1] - sys->part[i] : sys->nv;
        numbers += (size_t)n * (size_t)n;
        if (n > t.largest) t.largest = n;
    }
    t.on = t.on && t.largest <= LARGE;
    const size_t nv = t.on ? (size_t)sys->nv : 0, most = t.on ? (size_t)t.largest : 0;
    t.T = carom_allocate(mem, t.on ? numbers : 0);
    CAROM_ALLOCATE(mem, most * nv, &t.A);
    CAROM_ALLOCATE(mem, nv, &t.e);
    t.own = carom_allocate(mem, most * most);
    t.pivot = carom_allocate_ints(mem, most);
    t.of = carom_allocate_ints(mem, nv);
    t.turned = carom_allocate_ints(mem, nv);
    t.turns = carom_allocate_ints(mem, t.on ? (size_t)t.parts : 0);
    t.seen = carom_allocate_ints(mem, t.on ? (size_t)t.parts : 0);
    t.at = carom_allocate_bytes(mem, t.on ? (size_t)t.parts * sizeof *t.at : 0);
    size_t used = 0;
    for (int i = 0; nv > 0 && t.at && i < t.parts; ++i) {
        const int from = sys->part ? sys->part[i] : 0, to = sys->part ? sys->part[i + 1] : sys->nv;
        for (int j = from; j < to; ++j) t.of[j] = i;
        t.at[i] = used;
        used += (size_t)(to - from) * (size_t)(to - from);
    }
    return t;
}

static const int *parts_of(const carom_increments *t) { return t->part ? t->part : t->whole; }

// Velocities of a part of n, with columns of T^-1 at A, in which that is not 1: a body in space turns by three of six.
// Their number.
static int list_turned(const double *A, size_t nv, int n, int *turned) {
    int count = 0;
    for (int j = 0; j < n; ++j) {
        bool own = A[(size_t)j * nv + (size_t)j] == 1;
        for (int i = 0; i < n && own; ++i)
            own = i == j || (A[(size_t)j * nv + (size_t)i] == 0 && A[(size_t)i * nv + (size_t)j] == 0);
        if (!own) turned[count++] = j;
    }
    return count;
}

// T of part i of n velocities, from the columns of T^-1 at A.  False: it is singular.
static bool invert_part(carom_increments *t, int i, const double *A, size_t nv, int n, double *T) {
    int *turned = t->turned + parts_of(t)[i];
    const int m = t->turns[i] = list_turned(A, nv, n, turned);
    for (int k = 0; k < n * n; ++k) T[k] = k % (n + 1) == 0;
    for (int j = 0; j < m; ++j)
        for (int k = 0; k < m; ++k) t->own[j * m + k] = A[(size_t)turned[j] * nv + (size_t)turned[k]];
    if (m > 0 && !carom_dense_lu(t->own, m, m, SINGULAR, t->pivot)) return false;
    for (int j = 0; j < m; ++j) {
        for (int k = 0; k < m; ++k) t->e[k] = k == j;
        carom_dense_lu_solve(t->own, m, m, t->pivot, t->e);
        for (int k = 0; k < m; ++k) T[turned[j] * n + turned[k]] = t->e[k];
    }
    return true;
}

// Column j of T^-1 of all parts at once: lift() maps the velocities of each by themselves.
void carom_increments_at(carom_increments *t, const carom_step *s, const double *x) {
    const int nv = s->sys->nv, *part = parts_of(t);
    double *T = t->T;
    t->ready = false;
    if (!t->on) return;
    for (int j = 0; j < t->largest; ++j) {
        carom_zero(t->e, nv);
        for (int i = 0; i < t->parts; ++i)
            if (part[i] + j < part[i + 1]) t->e[part[i] + j] = 1;
        carom_lift(s, t->A + (size_t)j * (size_t)nv, x, t->e);
    }
    for (int i = 0; i < t->parts; ++i) {
        const int n = part[i + 1] - part[i];
        if (!invert_part(t, i, t->A + part[i], (size_t)nv, n, T)) return;
        T += (size_t)n * (size_t)n;
    }
    t->ready = true;
}

void carom_increments_move(const carom_increments *t, double *y, const double *dx, int nv) {
    const int *part = parts_of(t);
    const double *T = t->T;
    if (!t->ready) {
        carom_copy(y, dx, nv);
        return;
    }
    carom_zero(y, nv);
    for (int i = 0; i < t->parts; ++i)
        for (int j = part[i], n = part[i + 1] - part[i]; j < part[i + 1]; ++j, T += n)
            if (dx[j] != 0) carom_axpy(y + part[i], dx[j], T, n);
}

void carom_increments_row(const carom_increments *t, double *y, const double *w, int nv) {
    const int *part = parts_of(t);
    const double *T = t->T;
    if (!t->ready) carom_copy(y, w, nv);
    for (int i = 0; t->ready && i < t->parts; ++i)
        for (int j = part[i], n = part[i + 1] - part[i]; j < part[i + 1]; ++j, T += n)
            y[j] = carom_dot(T, w + part[i], n);
}

// Entries of column k of Y in part p, unless they are there already; e: W_k.
static void turn_part(const carom_increments *t, carom_columns *Y, int k, int p) {
    const int *part = parts_of(t), from = part[p], n = part[p + 1] - from, turns = t->turns[p];
    const int *turned = t->turned + from;
    const double *restrict T = t->T + t->at[p], *restrict w = t->e + from;
    double *restrict a = Y->a + (size_t)k * (size_t)Y->stride;
    int *restrict row = carom_column_rows(Y, k), count = Y->count[k];
    if (t->seen[p] == k) return;
    t->seen[p] = k;
    for (int j = 0, next = 0; j < n; ++j) {
        double y = w[j];
        if (next < turns && turned[next] == j) {
            const double *column = T + j * n;
            y = 0;
            for (int i = 0; i < turns; ++i) y += column[turned[i]] * w[turned[i]];
            ++next;
        }
        if (y == 0 || count == Y->stride) continue;
        a[count] = y, row[count++] = from + j;
    }
    Y->count[k] = count;
}

void carom_increments_columns(const carom_increments *t, carom_columns *Y, const carom_columns *W, int n) {
    if (t->ready) carom_zero(t->e, W->rows);
    for (int i = 0; t->ready && i < t->parts; ++i) t->seen[i] = -1;
    for (int k = 0; k < n; ++k) {
        const carom_entries w = carom_entries_of(W, k);
        double *y = Y->a + (size_t)k * (size_t)W->stride;
        if (!w.row) {
            carom_increments_row(t, y, w.a, W->rows);
            continue;
        }
        int *own = carom_column_own_rows(Y, k, t->ready ? 0 : w.n);
        for (int e = 0; !t->ready && e < w.n; ++e) own[e] = w.row[e], y[e] = w.a[e];
        for (int e = 0; t->ready && e < w.n; ++e) t->e[w.row[e]] = w.a[e];
        for (int e = 0, last = -1; t->ready && e < w.n; ++e) {
            const int p = t->of[w.row[e]];
            if (p != last) turn_part(t, Y, k, last = p);
        }
        for (int e = 0; t->ready && e < w.n; ++e) t->e[w.row[e]] = 0;
    }
}
