// turn.c: see turn.h.
#include "scheme/turn.h"
#include "linalg/dense.h"

static const double SINGULAR = 1e-13; // pivots that have cancelled to this, relatively

enum { LARGE = 100 }; // T costs nv^3

carom_turn carom_allocate_turn(carom_arena *mem, const carom_system *sys) {
    carom_turn t = {.on = sys->lift && sys->nv <= LARGE};
    const size_t nv = t.on ? (size_t)sys->nv : 0;
    CAROM_ALLOCATE(mem, nv * nv, &t.T, &t.A);
    t.e = carom_allocate(mem, nv);
    t.pivot = carom_allocate_ints(mem, nv);
    return t;
}

void carom_turn_at(carom_turn *t, const carom_step *s, const double *x) {
    const int nv = s->sys->nv;
    t->ready = false;
    if (!t->on) return;
    carom_zero(t->e, nv);
    carom_zero(t->T, (ptrdiff_t)nv * nv);
    for (int j = 0; j < nv; ++j) {
        t->e[j] = 1;
        carom_lift(s, t->A + (size_t)j * (size_t)nv, x, t->e);
        t->e[j] = 0;
        t->T[j + (size_t)j * (size_t)nv] = 1;
    }
    if (!carom_dense_lu(t->A, nv, nv, SINGULAR, t->pivot)) return;
    for (int j = 0; j < nv; ++j) carom_dense_lu_solve(t->A, nv, nv, t->pivot, t->T + (size_t)j * (size_t)nv);
    t->ready = true;
}

void carom_turn_increment(const carom_turn *t, double *y, const double *dx, int nv) {
    if (!t->ready) {
        carom_copy(y, dx, nv);
        return;
    }
    carom_zero(y, nv);
    for (int j = 0; j < nv; ++j)
        if (dx[j] != 0) carom_axpy(y, dx[j], t->T + (size_t)j * (size_t)nv, nv);
}

void carom_turn_row(const carom_turn *t, double *y, const double *w, int nv) {
    if (!t->ready) carom_copy(y, w, nv);
    for (int j = 0; t->ready && j < nv; ++j) y[j] = carom_dot(t->T + (size_t)j * (size_t)nv, w, nv);
}
