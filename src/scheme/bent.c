// bent.c: see bent.h.
#include "scheme/bent.h"
#include <string.h>

carom_bent carom_allocate_bent(carom_arena *mem, const carom_system *sys) {
    carom_bent z = {.which = carom_allocate_bytes(mem, (size_t)(sys->ne + sys->nc) * sizeof *z.which), .L = carom_allocate_local(mem, sys)};
    z.u = carom_allocate(mem, (size_t)z.L.W.n);
    return z;
}

static void copy_directions(carom_local *to, const carom_local *from, int b) {
    const size_t stride = (size_t)(to->W.count ? to->W.stride : to->W.rows);
    for (int k = from->at[b]; k < from->at[b + 1]; ++k) {
        const size_t at = (size_t)k * stride;
        memcpy(to->W.a + at, from->W.a + at, stride * sizeof *to->W.a);
        to->w[k] = from->w[k];
        if (!to->W.count) continue;
        to->W.count[k] = from->W.count[k];
        memcpy(to->W.row + at, from->W.row + at, stride * sizeof *to->W.row);
    }
}

carom_status carom_bent_find(carom_bent *z, carom_step *s, double *u, const carom_local *L, carom_place at) {
    z->some = false;
    carom_copy(z->u, u, L->at[L->nb]);
    CAROM_TRY(carom_velocity_before(s, u, L, at));
    for (int b = 0; b < L->nb; ++b) {
        z->which[b] = u[L->at[b]] != z->u[L->at[b]];
        z->some = z->some || z->which[b];
    }
    if (!z->some) return CAROM_OK;
    carom_local_same(&z->L, L);
    for (int b = 0; b < L->nb; ++b)
        if (z->which[b]) copy_directions(&z->L, L, b);
    return CAROM_OK;
}

void carom_bent_keep(const carom_bent *z, carom_local *L) {
    for (int b = 0; z->some && b < L->nb; ++b)
        if (z->which[b]) copy_directions(L, &z->L, b);
}
