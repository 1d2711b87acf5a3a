// density.c: mass, inertia and centre of a body that has a density, by the volumes of its shapes.
#include "derive/shapes/shapes.h"
#include "base/pi.h"
#include "model/contours.h"
#include <string.h>

// Volume, centre and second moments about it (xx, yy, zz, xy, xz, yz), in the body's frame; 0: it has none.
static double volume(const shape *s, double *centre, double *second) {
    double own[3] = {0}, v = 0; // second moments along its own axes, divided by the volume
    memcpy(centre, s->at, 3 * sizeof *centre);
    const double a = s->radius, l = 2 * s->half[0];
    if (s->kind == SHAPE_HULL) return carom_hull_volume(s->hull, centre, second);
    if (s->kind == SHAPE_ROUND) v = 4 * PI / 3 * a * a * a, own[0] = own[1] = own[2] = a * a / 5;
    if (s->kind == SHAPE_BOX) {
        v = 8 * s->half[0] * s->half[1] * s->half[2];
        for (int k = 0; k < 3; ++k) own[k] = s->half[k] * s->half[k] / 3;
    }
    if (s->kind == SHAPE_ELLIPSOID) {
        v = 4 * PI / 3 * s->half[0] * s->half[1] * s->half[2];
        for (int k = 0; k < 3; ++k) own[k] = s->half[k] * s->half[k] / 5;
    }
    if (s->kind == SHAPE_CYLINDER) v = PI * a * a * l, own[0] = own[1] = a * a / 4, own[2] = l * l / 12;
    if (s->kind == SHAPE_CAPSULE) { // a cylinder and two half balls, whose centres are 3/8 a beyond its ends
        const double tube = PI * a * a * l, ball = 4 * PI / 3 * a * a * a;
        v = tube + ball;
        own[0] = own[1] = (tube * a * a / 4 + ball * a * a / 5) / v;
        own[2] = (tube * l * l / 12 + ball * (a * a / 5 + 0.75 * a * l / 2 + l * l / 4)) / v;
    }
    static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
    for (int m = 0; m < 6; ++m) {
        second[m] = 0;
        for (int k = 0; k < 3; ++k) second[m] += v * own[k] * s->X[3 * I[m] + k] * s->X[3 * J[m] + k];
    }
    return v;
}

static carom_status add_volume(resolver *r, const carom_mech_shape *x, const body *b, int part, double *sum,
                               double *first, double *second) {
    static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
    shape s = {.name = b->name};
    double c[3], own[6];
    CAROM_TRY(carom_read_shape(r, x, b, part, &s, carom_body_where(b).text));
    const double v = volume(&s, c, own);
    if (!(v > 0))
        return carom_fault(r, &x->name, 0, "%s has a density, and a %s has no volume; give `mass` and `inertia`",
                           carom_body_where(b).text, carom_shape_word(s.kind));
    *sum += v;
    for (int k = 0; k < 3; ++k) first[k] += v * c[k];
    for (int m = 0; m < 6; ++m) second[m] += own[m] + v * c[I[m]] * c[J[m]];
    return CAROM_OK;
}

// -- in the plane -----------------------------------------------------------------------------------------------------

// What the kind of a shape says; EITHER: a point or capsule, which both have.
static space space_of_shape(const carom_mech_shape *x) {
    static const char *const planar[] = {"circle", "polygon", "outline", "gear"},
                      *const either[] = {"point", "capsule"};
    const carom_datum *key = carom_given(&x->size) ? x->size.key : NULL;
    for (size_t i = 0; key && i < sizeof planar / sizeof *planar; ++i)
        if (carom_datum_is(key, planar[i])) return PLANAR;
    for (size_t i = 0; key && i < sizeof either / sizeof *either; ++i)
        if (carom_datum_is(key, either[i])) return EITHER;
    return key && carom_datum_is(key, "box") && carom_count(&x->size) == 2 ? PLANAR : SPATIAL;
}

// A body without inertia, which would say so, is planar if its shapes are.  If all may be either, the rest of it
// decides, or gravity.
static space space_of(const resolver *r, const carom_mech_body *of) {
    const carom_datum *const lists[] = {&of->at, &of->velocity, &r->mech->gravity};
    for (int i = of->shape ? -1 : 0; i < of->nshapes; ++i) {
        const space s = space_of_shape(i < 0 ? of->shape : &of->shapes[i]);
        if (s != EITHER) return s;
    }
    if (carom_given(&of->axis) || carom_given(&of->quaternion)) return SPATIAL;
    if (carom_given(&of->thickness) || carom_given(&of->angle)) return PLANAR;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        if (carom_given(lists[i]) && lists[i]->kind == CAROM_LIST) return lists[i]->count == 2 ? PLANAR : SPATIAL;
    return SPATIAL;
}

// (OUT-3)  area, first and second moments
static carom_status add_area(resolver *r, const carom_mech_shape *x, const body *b, double *sum) {
    shape s = {.name = b->name};
    const contour *c = NULL;
    carom_stretch side[MOST_CORNERS];
    double m[6] = {0};
    CAROM_TRY(carom_read_shape(r, x, b, 0, &s, carom_body_where(b).text));
    if (carom_shape_piece(&s)) {
        CAROM_TRY(carom_outline_contour(r, x, &c));
        if (c->closed) carom_outline_moments(c->stretch, c->n, m);
    } else
        carom_outline_moments(side, carom_shape_stretches(&s, side), m);
    if (!(m[0] > 0))
        return carom_fault(r, &x->name, 0, "%s has a density, and this %s has no area; give `mass` and `inertia`",
                           carom_body_where(b).text, carom_shape_word(s.kind));
    for (int k = 0; k < 6; ++k) sum[k] += m[k];
    return CAROM_OK;
}

static carom_status planar_mass(resolver *r, const carom_mech_body *of, body *b, double density) {
    double m[6] = {0}, thickness = 1;
    const carom_datum *n = carom_given(&of->thickness);
    b->space = PLANAR;
    if (n) CAROM_TRY(carom_resolve_number(r, n, "the thickness", &thickness));
    if (!(thickness > 0)) return carom_fault(r, n, 0, "the thickness must be positive, got %g", thickness);
    for (int i = of->shape ? -1 : 0; i < of->nshapes; ++i)
        CAROM_TRY(add_area(r, i < 0 ? of->shape : &of->shapes[i], b, m));
    for (int k = 0; k < 2; ++k) b->centre[k] = m[1 + k] / m[0];
    const double inertia = m[3] + m[4] - (m[1] * m[1] + m[2] * m[2]) / m[0];
    b->mass = density * thickness * m[0];
    b->mass_node = carom_graph_number(r->m->graph, b->mass);
    for (int k = 0; k < 6; ++k) b->J_node[k] = carom_graph_number(r->m->graph, 0);
    b->J[0] = b->J[4] = b->J[8] = density * thickness * inertia;
    b->J_node[2] = carom_graph_number(r->m->graph, b->J[8]);
    return CAROM_OK;
}

carom_status carom_solid_mass(resolver *r, const carom_mech_body *of, body *b) {
    static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
    double density = 0, sum = 0, first[3] = {0}, second[6] = {0};
    CAROM_TRY(carom_resolve_number(r, &of->density, "the density", &density));
    if (!(density > 0)) return carom_fault(r, &of->density, 0, "the density must be positive, got %g", density);
    if (!of->shape && of->nshapes == 0)
        return carom_fault(r, &of->density, 0, "%s has a density and no shape; add `shape:`", carom_body_where(b).text);
    if (space_of(r, of) == PLANAR) return planar_mass(r, of, b, density);
    if (carom_given(&of->thickness))
        return carom_fault(r, of->thickness.key, 0, "%s is spatial; `thickness` belongs to planar bodies",
                           carom_body_where(b).text);
    b->space = SPATIAL;
    for (int i = of->shape ? -1 : 0; i < of->nshapes; ++i) {
        const carom_mech_shape *x = i < 0 ? of->shape : &of->shapes[i];
        int parts = 1;
        CAROM_TRY(carom_shape_parts(r, x, &parts));
        for (int part = 0; part < parts; ++part) CAROM_TRY(add_volume(r, x, b, part, &sum, first, second));
    }
    for (int k = 0; k < 3; ++k) b->centre[k] = first[k] / sum;
    for (int m = 0; m < 6; ++m) second[m] = density * (second[m] - sum * b->centre[I[m]] * b->centre[J[m]]);
    b->mass = density * sum;
    const double trace = second[0] + second[1] + second[2];
    b->mass_node = carom_graph_number(r->m->graph, b->mass);
    for (int m = 0; m < 6; ++m) {
        b->J[3 * I[m] + J[m]] = b->J[3 * J[m] + I[m]] = (m < 3 ? trace : 0) - second[m];
        b->J_node[m] = carom_graph_number(r->m->graph, b->J[3 * I[m] + J[m]]);
    }
    return CAROM_OK;
}
