// bound.c: numbers that the mechanism gives by parameters: bound to their place in the model, or fixed in its structure
// (set.c).
#include "base/grow.h"
#include "derive/resolver.h"
#include "expr/expr.h"
#include <stdlib.h>

carom_status carom_bind(resolver *r, const carom_datum *n, bound_kind kind, int index, double value) {
    carom_model *m = r->m;
    if (!n) return CAROM_OK;
    if (n->indices) { // members of a family may share it
        struct { carom_datum d; carom_indices indices; } *own = carom_pool_take(&m->memory, sizeof *own);
        if (!own) return carom_fault_memory(r);
        own->d = *n, own->indices = *n->indices, own->d.indices = &own->indices;
        n = &own->d;
    }
    if (!CAROM_GROW(m->bound, m->nbound)) return carom_fault_memory(r);
    m->bound[m->nbound++] = (bound){n, kind, index, value};
    return CAROM_OK;
}

carom_status carom_resolve_bound(resolver *r, const carom_datum *n, const char *what, bound_kind kind, int index,
                                 double *value) {
    r->loose = true;
    r->read = false;
    CAROM_TRY(carom_resolve_number(r, n, what, value));
    r->loose = false;
    return carom_bind(r, r->read ? n : NULL, kind, index, *value);
}

carom_status carom_resolve_term(resolver *r, const carom_datum *n, const char *what, bound_kind kind, int index,
                                double *value, carom_node *node) {
    CAROM_TRY(carom_resolve_bound(r, n, what, kind, index, value));
    if (r->read) return carom_resolve_expression(r, n, NAME_PARAMETER, what, node);
    *node = carom_graph_number(r->m->graph, *value);
    return CAROM_OK;
}

carom_status carom_fix(resolver *r, const carom_datum *n) {
    const bool loose = r->loose;
    carom_node x;
    if (!n) return CAROM_OK;
    r->loose = false;
    r->slip_speed = r->normal_force = carom_graph_number(r->values, 0);
    CAROM_TRY(carom_resolve_expression(r, n, SCOPE_BOUND, "this", &x));
    r->loose = loose;
    return CAROM_OK;
}

carom_status carom_fix_vector(resolver *r, const carom_datum *n) {
    for (const carom_datum *c = n ? carom_ones(n) : NULL; c && c != carom_ones_end(n); ++c) CAROM_TRY(carom_fix(r, c));
    return CAROM_OK;
}

carom_status carom_fix_bound(resolver *r, int first) {
    for (int i = first; i < r->m->nbound; ++i) CAROM_TRY(carom_fix(r, r->m->bound[i].from));
    r->m->nbound = first;
    return CAROM_OK;
}
