// shafts.c: what only shafts have: stretches of elements, radii, flywheels.
//
// `elements`, `radius` and `bore` are one value, or one for each stretch, called by the point where it ends:
//     elements: {wheel: 2, end: 3}     two up to the point `wheel`, three more up to the end
#include "derive/members/member.h"
#include <math.h>
#include <string.h>

static const double SUM = 1e-9;  // of the length: rounding of sums of lengths that a person wrote
static const double NODE = 1e-6; // of the length: a stretch that ends so near to a node ends there

/// A list of stretches: where each ends, and what is said of it.
typedef struct stretch { double end; const carom_datum *value; } stretch;

static void *take(draft *d, size_t count, size_t size) {
    return carom_pool_take(&d->r->m->memory, (count ? count : 1) * size);
}

// The stretches of a key, from the start to the end; one value is one stretch.
static carom_status read_stretches(draft *d, const carom_datum *n, const char *key, stretch **list, int *count) {
    *count = n->kind == CAROM_MAP ? n->count : 1;
    *list = take(d, (size_t)*count, sizeof **list);
    if (!*list) return carom_fault_memory(d->r);
    if (n->kind == CAROM_LIST || *count == 0)
        return carom_fault(d->r, n, 0, "%s is one value, or one for each stretch: {POINT: value, end: value}", key);
    if (n->kind != CAROM_MAP) {
        **list = (stretch){.end = d->def.length, .value = n};
        return CAROM_OK;
    }
    int k = 0;
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c, ++k) {
        int point = 0;
        CAROM_TRY(carom_draft_point(d, c->key, &point));
        (*list)[k] = (stretch){.end = d->place[point], .value = c};
        if (!((*list)[k].end > (k ? (*list)[k - 1].end : 0)))
            return carom_fault(d->r, c->key, 0, "stretches come in order; '%s' (arc length %g) does not follow %g",
                               c->key->text, (*list)[k].end, k ? (*list)[k - 1].end : 0);
    }
    if (fabs((*list)[k - 1].end - d->def.length) > SUM * d->def.length)
        return carom_fault(d->r, n, 0, "%s reaches to arc length %g only; the last stretch is `end`", key,
                           (*list)[k - 1].end);
    return CAROM_OK;
}

static carom_status read_mesh(draft *d) {
    const carom_datum *n = &d->of->elements;
    stretch *list = NULL;
    int count = 0, all = 0;
    CAROM_TRY(read_stretches(d, n, "elements", &list, &count));
    int *elements = take(d, (size_t)count, sizeof *elements);
    if (!elements) return carom_fault_memory(d->r);
    for (int k = 0; k < count; ++k) {
        CAROM_TRY(carom_draft_count(d, list[k].value, &elements[k]));
        if (elements[k] > 100000000 - all)
            return carom_fault(d->r, list[k].value, 0, "more than 1e8 elements; use fewer");
        all += elements[k];
    }
    d->def.elements = all;
    d->arc = take(d, (size_t)all + 1, sizeof *d->arc);
    if (!d->arc) return carom_fault_memory(d->r);
    double from = 0;
    for (int k = 0, node = 0; k < count; ++k) {
        for (int i = 1; i <= elements[k]; ++i) d->arc[++node] = from + (list[k].end - from) * i / elements[k];
        from = list[k].end;
    }
    return CAROM_OK;
}

// radius or bore of every element
static carom_status read_radii(draft *d, const carom_datum *n, const char *key, carom_shaft_element *elements,
                               size_t offset) {
    stretch *list = NULL;
    int count = 0;
    if (!carom_given(n)) return CAROM_OK;
    CAROM_TRY(read_stretches(d, n, key, &list, &count));
    int e = 0;
    for (int k = 0; k < count; ++k) {
        double x = 0;
        CAROM_TRY(carom_resolve_number(d->r, list[k].value, key, &x));
        for (; e < d->def.elements && d->arc[e + 1] <= list[k].end * (1 + SUM); ++e)
            memcpy((unsigned char *)&elements[e] + offset, &x, sizeof x);
        if (fabs(d->arc[e] - list[k].end) > NODE * d->def.length)
            return carom_fault(
                d->r, list[k].value->key, 0,
                "%s changes at arc length %g, inside an element; let `elements` have a stretch that ends there", key,
                list[k].end);
    }
    return CAROM_OK;
}

carom_status carom_derive_shaft(draft *d) {
    double none = 0;
    if (!carom_given(&d->of->radius)) return carom_draft_number(d, &d->of->radius, "radius", true, &none);
    CAROM_TRY(read_mesh(d));
    carom_shaft_element *elements = take(d, (size_t)d->def.elements, sizeof *elements);
    if (!elements) return carom_fault_memory(d->r);
    for (int e = 0; e < d->def.elements; ++e) elements[e].length = d->arc[e + 1] - d->arc[e];
    d->def.shaft = elements;
    CAROM_TRY(read_radii(d, &d->of->radius, "radius", elements, offsetof(carom_shaft_element, radius)));
    return read_radii(d, &d->of->bore, "bore", elements, offsetof(carom_shaft_element, bore));
}

// `inertia: J` about the axis, half of it across, as of a thin disc; or `inertia: [about, across]`.
static carom_status read_inertia(draft *d, const carom_datum *n, carom_flywheel *w) {
    if (n->kind == CAROM_LIST && n->count != 2)
        return carom_fault(d->r, n, 0,
                           "the inertia of a flywheel is one number, or a list of two: about the axis and across it");
    const carom_datum *about = carom_ones(n);
    CAROM_TRY(carom_resolve_number(d->r, about, "inertia", &w->polar));
    w->diametral = w->polar / 2;
    return n->kind == CAROM_LIST ? carom_resolve_number(d->r, about + 1, "inertia", &w->diametral) : CAROM_OK;
}

carom_status carom_derive_flywheels(draft *d) {
    carom_flywheel *wheels = take(d, (size_t)d->of->nflywheels, sizeof *wheels);
    if (!wheels) return carom_fault_memory(d->r);
    d->def.flywheels = wheels;
    for (int i = 0; i < d->of->nflywheels; ++i) {
        const carom_mech_flywheel *of = &d->of->flywheels[i];
        carom_flywheel *w = &wheels[d->def.nflywheels++];
        CAROM_TRY(carom_draft_node(d, &of->name, &w->node));
        if (!carom_given(&of->mass) || !carom_given(&of->inertia))
            return carom_fault(d->r, &of->name, 0, "the flywheel at '%s' needs mass and inertia", of->name.text);
        CAROM_TRY(carom_resolve_number(d->r, &of->mass, "mass", &w->mass));
        CAROM_TRY(read_inertia(d, &of->inertia, w));
    }
    return CAROM_OK;
}
