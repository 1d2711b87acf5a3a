// draw_list.c: the list of drawn shapes and their numbers, to which figures, bodies, members and contacts add.
#include "base/grow.h"
#include "derive/draw/draw.h"
#include <stdlib.h>

enum { MOST_SHAPES = 20000, MOST_VALUES = 200000 }; // chosen: further shapes are not drawn; ten numbers each

carom_status carom_draw_value(resolver *r, const carom_datum *n, carom_node node) {
    struct drawn *d = r->m->drawn;
    if (d->values >= MOST_VALUES)
        return carom_fault(r, n, 0, "draw contains more than %d numbers; draw less", MOST_VALUES);
    if (!CAROM_GROW(d->node, d->values)) return carom_fault_memory(r);
    d->node[d->values++] = node;
    return CAROM_OK;
}

carom_status carom_draw_shape(resolver *r, const carom_datum *n, const char *name, carom_figure figure,
                              carom_drawn **s) {
    struct drawn *d = r->m->drawn;
    if (d->count >= MOST_SHAPES) return carom_fault(r, n, 0, "more than %d shapes; draw less", MOST_SHAPES);
    if (!CAROM_GROW(d->shape, d->count)) return carom_fault_memory(r);
    *s = &d->shape[d->count++];
    **s = (carom_drawn){.figure = figure, .name = name, .id = -1, .first = d->values};
    return CAROM_OK;
}

carom_status carom_draw_add_touch(resolver *r, touch **t) {
    struct drawn *d = r->m->drawn;
    if (!CAROM_GROW(d->touch, d->touches)) return carom_fault_memory(r);
    *t = &d->touch[d->touches++];
    **t = (touch){.shape = d->count - 1};
    return CAROM_OK;
}

carom_status carom_draw_touch(resolver *r, const carom_datum *n, const char *name, int id, int directions) {
    carom_drawn *s = NULL;
    touch *t = NULL;
    CAROM_TRY(carom_draw_shape(r, n, name, CAROM_CONTACT_MARKER, &s));
    s->id = id;
    s->points = 1 + directions;
    CAROM_TRY(carom_draw_add_touch(r, &t));
    for (int k = 0; k < 3; ++k) t->given[k] = true;
    t->directions = directions;
    return CAROM_OK;
}

bool carom_draw_named(const carom_mech *x, const char *name) {
    for (int i = 0; i < x->nfigures; ++i)
        if (carom_datum_is(&x->figures[i].name, name)) return true;
    return false;
}

bool carom_draw_placed(const carom_mech *x, const char *name) {
    for (int i = 0; i < x->ntouches; ++i)
        if (carom_datum_is(&x->touches[i].name, name)) return true;
    return false;
}

void carom_drawn_free(struct drawn *d) {
    if (!d) return;
    for (int i = 0; i < d->touches; ++i) {
        carom_terms_free(&d->touch[i].J);
        carom_terms_free(&d->touch[i].W);
    }
    free(d->touch);
    free(d->head);
    free(d->next);
    free(d->shape);
    free(d->node);
    free(d);
}
