// sides.c: states beside events.
#include "io/sides.h"
#include <carom/matrix.h>
#include <stdlib.h>

void sides_clear(sides *s) { s->count = 0; }

void sides_free(sides *s) {
    free(s->t);
    free(s->x);
    s->t = s->x = NULL;
}

static bool grow(sides *s) {
    const size_t room = s->room ? 2 * (size_t)s->room : 16, width = (size_t)s->nq + (size_t)s->nv;
    double *t = realloc(s->t, room * sizeof *t);
    if (t) s->t = t;
    double *x = realloc(s->x, room * (width ? width : 1) * sizeof *x);
    if (x) s->x = x;
    if (t && x) s->room = (int)room;
    return t && x;
}

carom_status sides_add(void *user, carom_side side, double t, const double *q, const double *v) {
    sides *s = user;
    while (s->count > 0 && s->t[s->count - 1] > t) --s->count;
    const bool left = s->count > 0 && s->t[s->count - 1] == t, both = left && s->count > 1 && s->t[s->count - 2] == t;
    if (side == CAROM_LEFT && left) return CAROM_OK;
    if (side == CAROM_RIGHT && both) --s->count;
    if (s->count == s->room && !grow(s)) return s->failed = true, CAROM_NO_MEMORY;
    double *x = s->x + (size_t)s->count * ((size_t)s->nq + (size_t)s->nv);
    s->t[s->count++] = t;
    carom_copy(x, q, s->nq);
    carom_copy(x + s->nq, v, s->nv);
    return CAROM_OK;
}
