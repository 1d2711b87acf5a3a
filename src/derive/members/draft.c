// draft.c: numbers, points and nodes of a flexible member while it is read.
#include "base/option.h"
#include "derive/members/member.h"
#include <carom/option.h>
#include <math.h>
#include <string.h>

static const double NODE = 1e-6; // of an element: a point so near to a node is the node

carom_status carom_draft_number(draft *d, const carom_datum *n, const char *key, bool needed, double *x) {
    if (carom_given(n)) return carom_resolve_number(d->r, n, key, x);
    if (!needed) return CAROM_OK;
    return carom_fault(d->r, &d->of->name, 0, "%s has no %s; add `%s:`", d->where, key, key);
}

carom_status carom_draft_count(draft *d, const carom_datum *n, int *count) {
    double x = 0;
    CAROM_TRY(carom_resolve_number(d->r, n, "elements", &x));
    if (!(x >= 1 && x <= 1e8 && x == floor(x))) // MOST_ELEMENTS of flex/member.c
        return carom_fault(d->r, n, 0, "elements must be an integer of at least 1, got %g", x);
    *count = (int)x;
    return CAROM_OK;
}

static const char *point_name(const void *user, int i) {
    const draft *d = user;
    return i < d->npoint ? d->point[i] : NULL;
}

carom_status carom_draft_point(draft *d, const carom_datum *n, int *point) {
    int k = 0;
    while (n->kind == CAROM_TEXT && k < d->npoint && strcmp(d->point[k], n->text) != 0) ++k;
    if (n->kind != CAROM_TEXT || k == d->npoint) {
        const char *near = n->kind == CAROM_TEXT ? carom_nearest(n->text, point_name, d) : NULL;
        return carom_fault(d->r, n, 0, "this is not a point of the member%s%s%s; name one of `points`%s",
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
                           d->def.kind == CAROM_MATRICES ? "" : ", start or end");
    }
    *point = k;
    return CAROM_OK;
}

carom_status carom_draft_node(draft *d, const carom_datum *n, int *node) {
    int k = 0;
    CAROM_TRY(carom_draft_point(d, n, &k));
    // in elements
    double at = d->def.kind == CAROM_MATRICES ? d->place[k] - 1 : d->place[k] / d->def.length * d->def.elements;
    if (d->arc) {
        int e = 0;
        while (e < d->def.elements - 1 && d->arc[e + 1] <= d->place[k]) ++e;
        at = e + (d->place[k] - d->arc[e]) / (d->arc[e + 1] - d->arc[e]);
    }
    *node = at >= 0 && at <= d->def.elements ? (int)round(at) : 0;
    if (fabs(at - *node) <= NODE) return CAROM_OK;
    return carom_fault(d->r, n, 0,
                       "point '%s' lies inside an element (%g of %d); supports are at nodes: change its place or the "
                       "number of elements, or write a constraint",
                       d->point[k], at, d->def.elements);
}

bool carom_floating(const carom_mech_member *of) { return carom_datum_is(&of->frame, "floating"); }
