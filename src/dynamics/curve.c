// curve.c: what branches and curves of events share; see curve.h.
#include "dynamics/curve.h"
#include <stdlib.h>
#include <string.h>

static bool grow(void *list, size_t n, size_t size) { // list: the address of a pointer to any type
    void *at;
    memcpy(&at, list, sizeof at);
    void *more = realloc(at, n * size);
    if (more) memcpy(list, &more, sizeof more);
    return more != NULL;
}

bool carom_curve_room(carom_table *t, long *room) {
    if (t->rows < *room) return true;
    const size_t n = (size_t)(2 * t->rows + 64);
    bool good = true;
    for (int i = 0; i < t->columns && good; ++i) {
        carom_column *c = &t->column[i];
        good = c->kind == CAROM_COLUMN_REAL      ? grow(&c->real, n, sizeof *c->real)
               : c->kind == CAROM_COLUMN_INTEGER ? grow(&c->integer, n, sizeof *c->integer)
                                                 : grow(&c->text, n, sizeof *c->text);
    }
    if (good) *room = (long)n;
    return good;
}
