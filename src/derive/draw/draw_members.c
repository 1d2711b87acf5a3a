// draw_members.c: flexible members draw themselves, as bent bars through the places that results tell: all nodes when
// they record the unknowns, else the named points.
#include "derive/bodies/body.h"
#include "derive/draw/draw.h"
#include "flex/member.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 120 }; // stations of a drawn member

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Arc lengths to draw, in order; how many.
static int stations(const member *b, double *s) {
    if (b->unknowns) {
        const int n = b->nodes < MOST ? b->nodes : MOST;
        for (int k = 0; k < n; ++k) s[k] = n == b->nodes ? carom_member_arc(b->flex, k) : b->length * k / (n - 1);
        return n;
    }
    const int n = b->npoint < MOST ? b->npoint : MOST;
    memcpy(s, b->place, (size_t)n * sizeof *s);
    qsort(s, (size_t)n, sizeof *s, by_size);
    return n;
}

static carom_status draw(resolver *r, member *b, const carom_datum *place, int dim) {
    carom_drawn *shape = NULL;
    double s[MOST];
    const int n = stations(b, s), axes = b->kind == CAROM_SPATIAL_BEAM || b->kind == CAROM_SHAFT ? 3 : 2;
    CAROM_TRY(carom_draw_shape(r, place, b->name, CAROM_SEGMENT, &shape));
    shape->points = n;
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < dim; ++i) {
            const carom_node x = i < axes ? carom_member_where(r->m, b, s[k], i) : carom_graph_number(r->m->graph, 0);
            if (x == CAROM_NONE) return carom_fault_memory(r);
            CAROM_TRY(carom_draw_value(r, place, x));
        }
    }
    return CAROM_OK;
}

carom_status carom_draw_members(resolver *r) {
    carom_model *m = r->m;
    struct drawn *d = m->drawn;
    bool spatial = false;
    for (int i = 0; i < m->nmember; ++i)
        spatial = spatial || m->members[i].kind == CAROM_SPATIAL_BEAM || m->members[i].kind == CAROM_SHAFT;
    if (!d->dim_from && spatial) d->dim = 3;
    if (spatial && d->dim == 2) return CAROM_OK; // drawn in a plane of the file's choice
    for (int i = 0; i < m->nmember; ++i) {
        if (m->members[i].kind == CAROM_MATRICES) continue; // nothing is known of places
        if (carom_draw_named(r->mech, m->members[i].name)) continue;
        CAROM_TRY(draw(r, &m->members[i], m->members[i].at, d->dim));
        if (!d->dim_from) d->dim_from = m->members[i].at;
    }
    return CAROM_OK;
}

// Of unknowns that results do not hold, some are components of named points at nodes, which they do hold.
const char *carom_draw_alias(const carom_model *m, int i) {
    for (int k = 0; k < m->nmember; ++k) {
        const member *b = &m->members[k];
        if (i < b->q || i >= b->q + b->count) continue;
        for (int p = 0; p < b->npoint; ++p) {
            for (int c = 0; c < b->components; ++c) {
                int index[CAROM_MEMBER_POINT];
                double weight[CAROM_MEMBER_POINT], constant;
                const int n = carom_member_point(b->flex, b->place[p], c, index, weight, &constant);
                if (n != 1 || index[0] != i - b->q || weight[0] != 1 || constant != 0) continue;
                char text[200];
                const int length =
                    snprintf(text, sizeof text, "%s.%s.%s", b->name, b->point[p], carom_member_component(b->kind, c));
                const name *found = carom_names_find(&m->names, text, (size_t)length);
                if (found) return found->text;
            }
        }
    }
    return NULL;
}

carom_status carom_draw_floating(resolver *r, int dim) {
    carom_model *m = r->m;
    for (int i = 0; i < m->nfloating; ++i) {
        const struct floating *f = &m->floating[i];
        carom_drawn *shape = NULL;
        if (carom_draw_named(r->mech, f->name)) continue;
        CAROM_TRY(carom_draw_shape(r, f->place, f->name, CAROM_SEGMENT, &shape));
        shape->points = f->nodes;
        for (int k = 0; k < f->nodes; ++k)
            for (int c = 0; c < dim; ++c)
                CAROM_TRY(carom_draw_value(r, f->place,
                                           c < f->dim ? f->where[k * f->dim + c] : carom_graph_number(m->graph, 0)));
    }
    return CAROM_OK;
}
