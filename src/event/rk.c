// rk.c: see rk.h.
#include "event/rk.h"
#include "base/dormand.h"
#include <stddef.h>

static const carom_butcher tables[] = {
#define CAROM_BUTCHER(family, order, stages, a, b, low) {family, order, stages, a, b, low},
#include "event/rk.def"
#undef CAROM_BUTCHER
};

enum { TABLES = sizeof tables / sizeof *tables };

double carom_butcher_c(const carom_butcher *T, int i) {
    const bool lower = carom_butcher_explicit(T);
    const double *a = T->a + (lower ? i * (i - 1) / 2 : i * T->stages);
    double c = 0;
    for (int j = 0; j < (lower ? i : T->stages); ++j) c += a[j];
    return c;
}

const carom_butcher *carom_butcher_find(carom_rk_family family, int order) {
    const carom_butcher *last = NULL;
    for (int i = 0; i < TABLES; ++i) {
        if (tables[i].family != family) continue;
        last = tables + i;
        if (last->order >= order) return last;
    }
    return last;
}

const carom_butcher *carom_butcher_at(int i) { return i >= 0 && i < TABLES ? tables + i : NULL; }
