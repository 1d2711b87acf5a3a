// solids.c: shapes: `shape: {circle: 0.1}` or `shapes: {nose: {...}, tail: {...}}` of a body, and those of the ground.
#include "base/option.h"
#include "derive/shapes/shapes.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// How a shape is written: `word: value`.
static const struct form {
    const char *word;
    shape_kind kind;
    bool planar, spatial;
    const char *value;
} forms[] = {
    {"point", SHAPE_POINT, true, true, "[x, y] or [x, y, z]"},
    {"circle", SHAPE_ROUND, true, false, "a radius"},
    {"sphere", SHAPE_ROUND, false, true, "a radius"},
    {"capsule", SHAPE_CAPSULE, true, true, "[radius, length]"},
    {"polygon", SHAPE_POLYGON, true, false, "a list of points [x, y]"},
    {"outline", SHAPE_LINE, true, false, "a list of points [x, y], arcs, splines and involutes"},
    {"gear", SHAPE_LINE, true, false, "{teeth: n, module: m}"},
    {"box", SHAPE_BOX, true, true, "two edges, in space three"},
    {"cylinder", SHAPE_CYLINDER, false, true, "[radius, length]"},
    {"hull", SHAPE_HULL, false, true, "a list of points [x, y, z], or a file"},
    {"mesh", SHAPE_HULL, false, true, "a file, or a list of hulls"},
    {"ellipsoid", SHAPE_ELLIPSOID, false, true, "three half axes [a, b, c]"},
    {"heights", SHAPE_HEIGHTS, false, true, "rows of heights, or a CSV file of them"},
    {"plane", SHAPE_PLANE, true, true, "the normal [x, y] or [x, y, z] that points away from the solid side"},
    {"hole", SHAPE_HOLE, true, true, "a radius"},
    {"slot", SHAPE_SLOT, true, true, "[radius, length]"},
    {"bore", SHAPE_BORE, false, true, "a radius"},
    {"skin", SHAPE_SKIN, true, true, "a radius"},
};
enum { FORMS = sizeof forms / sizeof *forms };

const char *carom_shape_word(shape_kind kind) {
    if (kind == SHAPE_ROUND) return "circle or sphere";
    if (kind == SHAPE_ELEMENT) return "skin";
    if (kind == SHAPE_ARC || kind == SHAPE_HOLLOW) return "outline";
    for (int i = 0; i < FORMS; ++i)
        if (forms[i].kind == kind) return forms[i].word;
    return "shape";
}

// -- values -----------------------------------------------------------------------------------------------------

static carom_status read_size(resolver *r, const carom_datum *n, const char *what, double *x) {
    CAROM_TRY(carom_resolve_number(r, n, what, x));
    if (*x > 0) return CAROM_OK;
    return carom_fault(r, n, 0, "%s must be positive, got %g", what, *x);
}

// [radius, length]
static carom_status read_long(resolver *r, const carom_datum *n, const char *word, shape *s) {
    char what[60];
    if (n->kind != CAROM_LIST || n->count != 2) return carom_fault(r, n, 0, "a %s is [radius, length]", word);
    snprintf(what, sizeof what, "the radius of a %s", word);
    CAROM_TRY(read_size(r, n->item, what, &s->radius));
    snprintf(what, sizeof what, "the length of a %s", word);
    CAROM_TRY(read_size(r, n->item + 1, what, &s->half[0]));
    s->half[0] /= 2;
    return CAROM_OK;
}

static carom_status read_box(resolver *r, const carom_datum *n, shape *s) {
    if (n->kind != CAROM_LIST || n->count < 2 || n->count > 3)
        return carom_fault(r, n, 0, "a box has two edges ([0.2, 0.1]), in space three");
    int i = 0;
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c) {
        CAROM_TRY(read_size(r, c, "the edge of a box", &s->half[i]));
        s->half[i++] /= 2;
    }
    return CAROM_OK;
}

// Corners of a planar box, or those listed, turned counterclockwise; they must make a convex polygon.
static carom_status read_polygon(resolver *r, const carom_datum *n, shape *s) {
    if (n->kind != CAROM_LIST || n->count < 3 || n->count > MOST_CORNERS)
        return carom_fault(r, n, 0, "a polygon is a list of three to %d points [x, y]", MOST_CORNERS);
    s->corner = carom_pool_take(&r->m->memory, (size_t)n->count * sizeof *s->corner);
    if (!s->corner) return carom_fault_memory(r);
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c)
        CAROM_TRY(carom_resolve_vector(r, c, "a corner of a polygon", 2, s->corner[s->ncorners++]));
    double area = 0;
    for (int i = 0; i < s->ncorners; ++i) {
        const double *a = s->corner[i], *b = s->corner[(i + 1) % s->ncorners];
        area += a[0] * b[1] - a[1] * b[0];
    }
    for (int i = 0, j = s->ncorners - 1; area < 0 && i < j; ++i, --j)
        for (int k = 0; k < 2; ++k) {
            const double x = s->corner[i][k];
            s->corner[i][k] = s->corner[j][k];
            s->corner[j][k] = x;
        }
    double turned = 0;
    for (int i = 0; i < s->ncorners; ++i) {
        const double *a = s->corner[i], *b = s->corner[(i + 1) % s->ncorners], *c = s->corner[(i + 2) % s->ncorners];
        const double x = b[0] - a[0], y = b[1] - a[1], u = c[0] - b[0], v = c[1] - b[1];
        const double cross = x * v - y * u, size = hypot(x, y) * hypot(u, v);
        static const double STRAIGHT = 1e-9; // sine: a corner that turns by less is none
        if (!(cross > STRAIGHT * size))
            return carom_fault(r, n, 0,
                               "this polygon is not convex, or has corners that coincide or lie on a line (at [%g, "
                               "%g]); make it of several convex ones",
                               b[0], b[1]);
        turned += atan2(cross, x * u + y * v);
    }
    if (turned > 6.3) // 2 pi, with room for rounding
        return carom_fault(r, n, 0, "this polygon winds round itself more than once; list the corners in order");
    return CAROM_OK;
}

// Room for its own axes, which are as they were; NULL: no memory
static double *own_axes(resolver *r, shape *s) {
    double *X = carom_pool_take(&r->m->memory, 9 * sizeof *X);
    if (X) memcpy(X, s->X, 9 * sizeof *X), s->X = X;
    return X;
}

static carom_status read_normal(resolver *r, const carom_datum *n, shape *s) {
    if (n->kind != CAROM_LIST || n->count < 2 || n->count > 3)
        return carom_fault(r, n, 0,
                           "a plane is written by its normal, which points away from the solid side: plane: [0, 1]");
    double a[3] = {0};
    CAROM_TRY(carom_resolve_vector(r, n, "the normal of a plane", n->count, a));
    const double size = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (!(size > 0))
        return carom_fault(
            r, n, 0,
            "the normal of a plane has no length; write a direction, as in `plane: [0, 1]` or, in space, `[0, 0, 1]`");
    double *X = own_axes(r, s);
    if (!X) return carom_fault_memory(r);
    for (int i = 0; i < 3; ++i) X[3 * i] = a[i] / size; // the first column; the others are not used
    return CAROM_OK;
}

// -- place ------------------------------------------------------------------------------------------------------

void carom_shape_axes_along(const double *n, double *X) {
    const int k = fabs(n[0]) < 0.6 ? 0 : 1;
    double x[3] = {-n[k] * n[0], -n[k] * n[1], -n[k] * n[2]};
    x[k] += 1;
    const double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int i = 0; i < 3; ++i) x[i] /= size;
    for (int i = 0; i < 3; ++i) {
        X[3 * i] = x[i];
        X[3 * i + 1] = n[(i + 1) % 3] * x[(i + 2) % 3] - n[(i + 2) % 3] * x[(i + 1) % 3];
        X[3 * i + 2] = n[i];
    }
}

static void axes_turned(const double *n, double phi, double *X) {
    const double c = cos(phi), s = sin(phi);
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        X[4 * i] = c + n[i] * n[i] * (1 - c);
        X[3 * i + j] = n[i] * n[j] * (1 - c) - n[k] * s;
        X[3 * j + i] = n[i] * n[j] * (1 - c) + n[k] * s;
    }
}

static carom_status read_place(resolver *r, const carom_mech_shape *x, shape *s, const char *where) {
    const carom_datum *at = carom_given(&x->at), *angle = carom_given(&x->angle), *axis = carom_given(&x->axis);
    const bool spatial = s->space == SPATIAL;
    double phi = 0, n[3] = {0, 0, 1};
    if (at && ((carom_given(&x->of) && s->body == r->m->bodies) || s->kind == SHAPE_SKIN))
        return carom_fault(r, at->key, 0, "%s is where its member is; remove `at`", where);
    const bool turns = s->kind == SHAPE_BOX || s->kind == SHAPE_ELLIPSOID || s->kind == SHAPE_HULL;
    if (at && (s->kind == SHAPE_POINT || s->kind == SHAPE_POLYGON))
        return carom_fault(r, at->key, 0, "%s is placed by its points; remove `at`", where);
    if (at) CAROM_TRY(carom_resolve_vector(r, at, "the place of a shape", spatial ? 3 : 2, s->at));
    if (angle) CAROM_TRY(carom_resolve_number(r, angle, "the angle of a shape", &phi));
    if (axis && !spatial) return carom_fault(r, axis->key, 0, "%s is planar and turned by `angle` alone", where);
    if (axis) CAROM_TRY(carom_resolve_direction(r, axis, "the axis of a shape", n));
    if (s->kind == SHAPE_PLANE || s->kind == SHAPE_POINT || s->kind == SHAPE_POLYGON || s->kind == SHAPE_ROUND ||
        s->kind == SHAPE_HOLE || s->kind == SHAPE_SKIN || s->kind == SHAPE_HEIGHTS) {
        if (angle || axis)
            return carom_fault(r, (angle ? angle : axis)->key, 0, "%s needs no %s", where, angle ? "angle" : "axis");
        return CAROM_OK;
    }
    double *X = own_axes(r, s);
    if (!X) return carom_fault_memory(r);
    if (!spatial || turns) {
        if (spatial && (angle != NULL) != (axis != NULL))
            return carom_fault(r, (angle ? angle : axis)->key, 0,
                               "%s is turned by `axis` and `angle`; one of the two is missing", where);
        axes_turned(n, phi, X);
        return CAROM_OK;
    }
    if (angle)
        return carom_fault(r, angle->key, 0, "%s is placed by the direction of its `axis`; remove `angle`", where);
    s->axis = 2;
    carom_shape_axes_along(n, X);
    return CAROM_OK;
}

// -- one shape ----------------------------------------------------------------------------------------------------

// What the value itself says of plane and space; EITHER: nothing.
static space space_of(const struct form *f, const carom_mech_shape *x) {
    if (!f->spatial) return PLANAR;
    if (!f->planar) return SPATIAL;
    const bool listed = f->kind == SHAPE_POINT || f->kind == SHAPE_BOX || f->kind == SHAPE_PLANE;
    const carom_datum *n = listed ? &x->size : &x->at;
    if (n->kind == CAROM_LIST) return n->count == 3 ? SPATIAL : PLANAR;
    return carom_given(&x->axis) ? SPATIAL : EITHER;
}

static carom_status read_value(resolver *r, const carom_datum *value, const struct form *f, shape *s) {
    char what[60];
    snprintf(what, sizeof what, "the radius of a %s", f->word);
    switch (s->kind) {
    case SHAPE_POINT: return carom_resolve_vector(r, value, "a point", s->space == SPATIAL ? 3 : 2, s->at);
    case SHAPE_ROUND: case SHAPE_HOLE: case SHAPE_BORE: case SHAPE_SKIN: return read_size(r, value, what, &s->radius);
    case SHAPE_CAPSULE: case SHAPE_SLOT: case SHAPE_CYLINDER: return read_long(r, value, f->word, s);
    case SHAPE_POLYGON: return read_polygon(r, value, s);
    case SHAPE_BOX: return read_box(r, value, s);
    case SHAPE_ELLIPSOID:
        CAROM_TRY(carom_resolve_list(r, value, "an ellipsoid, by its half axes,", 3));
        for (int k = 0; k < 3; ++k)
            CAROM_TRY(read_size(r, &value->item[k], "the half axis of an ellipsoid", &s->half[k]));
        return CAROM_OK;
    case SHAPE_PLANE: return read_normal(r, value, s);
    case SHAPE_HULL: case SHAPE_HEIGHTS: // when it has its place
    case SHAPE_LINE: case SHAPE_ARC: case SHAPE_HOLLOW:
    case SHAPE_ELEMENT: break;
    }
    return CAROM_OK;
}

// What follows from sizes and place: corners of planar boxes, reach.
static carom_status complete(resolver *r, shape *s) {
    if (s->kind == SHAPE_BOX && s->space == PLANAR) {
        static const double sign[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
        s->corner = carom_pool_take(&r->m->memory, 4 * sizeof *s->corner);
        if (!s->corner) return carom_fault_memory(r);
        s->ncorners = 4;
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < 2; ++k)
                s->corner[i][k] =
                    s->at[k] + s->X[3 * k] * sign[i][0] * s->half[0] + s->X[3 * k + 1] * sign[i][1] * s->half[1];
    }
    if (s->kind == SHAPE_POLYGON)
        for (int i = 0; i < s->ncorners; ++i)
            for (int k = 0; k < 2; ++k) s->at[k] += s->corner[i][k] / s->ncorners;
    if (s->kind == SHAPE_HULL || s->kind == SHAPE_HEIGHTS || carom_shape_piece(s)) return CAROM_OK;
    s->bound_radius = INFINITY;
    if (s->kind == SHAPE_POINT || s->kind == SHAPE_ROUND) s->bound_radius = s->radius;
    if (s->kind == SHAPE_CAPSULE) s->bound_radius = s->radius + s->half[0];
    if (s->kind == SHAPE_ELLIPSOID) s->bound_radius = fmax(fmax(s->half[0], s->half[1]), s->half[2]);
    if (s->kind == SHAPE_CYLINDER) s->bound_radius = hypot(s->radius, s->half[0]);
    if (s->kind == SHAPE_BOX)
        s->bound_radius = sqrt(s->half[0] * s->half[0] + s->half[1] * s->half[1] + s->half[2] * s->half[2]);
    if (s->kind == SHAPE_POLYGON) {
        s->bound_radius = 0;
        for (int i = 0; i < s->ncorners; ++i)
            s->bound_radius = fmax(s->bound_radius, hypot(s->corner[i][0] - s->at[0], s->corner[i][1] - s->at[1]));
    }
    return CAROM_OK;
}

static const struct form *find_form(const carom_datum *size) {
    for (int i = 0; carom_given(size) && i < FORMS; ++i)
        if (carom_datum_is(size->key, forms[i].word)) return &forms[i];
    return NULL;
}

// The kind as written in the model; a point where there is none.
static shape_kind kind_of(const carom_mech_shape *x) {
    const struct form *f = find_form(&x->size);
    return f ? f->kind : SHAPE_POINT;
}

bool carom_patch_given(const carom_mech_shape *x) { return carom_patch_kind_of(kind_of(x)); }

// The body that `of` names, points of floating members included; NULL: none, a flexible member is meant.
static const body *body_of(const carom_model *m, const carom_datum *of) {
    for (int i = 1; of && of->kind == CAROM_TEXT && i < m->nbodies; ++i)
        if (!m->bodies[i].floating && strcmp(m->bodies[i].name, of->text) == 0) return &m->bodies[i];
    return NULL;
}

// The velocity of the surface of a conveyor.
static carom_status read_belt(resolver *r, const carom_datum *n, const carom_datum *of, shape *s) {
    vec *belt = carom_pool_take(&r->m->memory, sizeof *belt);
    if (!belt) return carom_fault_memory(r);
    if (of) return carom_fault(r, n->key, 0, "shapes of flexible members have no `surface velocity`");
    belt->c[2] = n_num(r->m->graph, 0);
    CAROM_TRY(carom_resolve_nodes(r, n, SCOPE_MOTION, "the surface velocity", s->space == SPATIAL ? 3 : 2, belt->c));
    s->belt = belt;
    return CAROM_OK;
}

static carom_status no_form(resolver *r, const carom_datum *name, const char *where) {
    char all[16 * FORMS] = "";
    for (int i = 0; i < FORMS; ++i)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i == 0          ? ""
                 : i < FORMS - 1 ? ", "
                                 : " or ",
                 forms[i].word);
    return carom_fault(r, name, 0, "%s has no form: %s", where, all);
}

// A planar shape in space, or a spatial one in the plane.
static carom_status wrong_space(resolver *r, const carom_datum *key, const struct form *f, const char *where,
                                const body *b, space said) {
    char hint[120] = "";
    if (f->kind == SHAPE_ROUND) snprintf(hint, sizeof hint, "; write `%s`", said == PLANAR ? "sphere" : "circle");
    else if (f->planar && f->spatial) snprintf(hint, sizeof hint, "; `%s` is %s", f->word, f->value);
    return carom_fault(r, key, 0, "%s is %s, and %s is %s%s", where, said == PLANAR ? "planar" : "spatial",
                       carom_body_where(b).text, said == PLANAR ? "spatial" : "planar", hint);
}

carom_status carom_shape_parts(resolver *r, const carom_mech_shape *x, int *n) {
    return carom_outline_given(x) ? carom_outline_parts(r, x, n) : carom_mesh_parts(r, x, n);
}

carom_status carom_read_shape(resolver *r, const carom_mech_shape *x, const body *b, int part, shape *s,
                              const char *where) {
    const carom_datum *value = &x->size, *of = carom_given(&x->of);
    const struct form *f = find_form(value);
    if (!f) return no_form(r, &x->name, where);
    const body *named = b->place ? NULL : body_of(r->m, of);
    if (named) b = named, of = NULL;
    s->kind = f->kind;
    s->body = b;
    s->place = &x->name;
    s->X = carom_shape_upright;
    const space said = space_of(f, x);
    s->space = b->space != EITHER ? b->space : said;
    if (of && b->place)
        return carom_fault(r, of->key, 0, "%s belongs to %s; shapes of flexible members belong to section shapes",
                           where, carom_body_where(b).text);
    if (s->space == EITHER) s->space = carom_skin_space(r->m, of);
    if (s->space == EITHER) s->space = r->m->nbodies > 1 ? r->m->bodies[1].space : PLANAR;
    if (said != EITHER && said != s->space) return wrong_space(r, value->key, f, where, b, said);
    if ((value->kind == CAROM_MAP && !carom_outline_given(x)) || carom_datum_empty(value))
        return carom_fault(r, value->key, 0, "`%s` is %s", f->word, f->value);
    CAROM_TRY(read_value(r, value, f, s));
    CAROM_TRY(read_place(r, x, s, where));
    if (carom_given(&x->surface_velocity)) CAROM_TRY(read_belt(r, &x->surface_velocity, of, s));
    if (f->kind == SHAPE_HULL) CAROM_TRY(carom_read_hull(r, x, part, where, s));
    if (f->kind == SHAPE_HEIGHTS) CAROM_TRY(carom_read_heights(r, x, where, s));
    if (f->kind == SHAPE_LINE) CAROM_TRY(carom_read_outline(r, x, part, s));
    const carom_datum *const of_outlines[] = {&x->round, &x->repeat, &x->open, &x->hollow};
    for (int i = 0; i < 4 && f->kind != SHAPE_LINE; ++i)
        if (carom_given(of_outlines[i]))
            return carom_fault(r, of_outlines[i]->key, 0, "%s is no outline; `%s` belongs to these", where,
                               of_outlines[i]->key->text);
    const carom_datum *const of_points[] = {&x->scale, &x->corners, &x->solids};
    for (int i = 0; i < 3 && f->kind != SHAPE_HULL; ++i)
        if (carom_given(of_points[i]))
            return carom_fault(r, of_points[i]->key, 0, "%s is no hull or mesh; `%s` belongs to these", where,
                               of_points[i]->key->text);
    if (f->kind != SHAPE_HEIGHTS && carom_given(&x->cell))
        return carom_fault(r, x->cell.key, 0, "%s has no cells; `cell` belongs to heights", where);
    if (f->kind == SHAPE_SKIN) return carom_derive_skin(r, of, s);
    if (of && f->kind != SHAPE_POINT && f->kind != SHAPE_ROUND)
        return carom_fault(r, of->key, 0, "a flexible member has points, circles (spheres) and skins, no %s", f->word);
    if (of) CAROM_TRY(carom_derive_round_of(r, of, s));
    return complete(r, s);
}

// -- all ------------------------------------------------------------------------------------------------------------

static const char *shape_name(const void *user, int i) {
    const carom_model *m = user;
    return i < m->nshapes ? m->shapes[i].name : NULL;
}

static carom_status count_shape(resolver *r, const shape *s) {
    return carom_names_add(&r->m->shape_names, s->name, NAME_QUANTITY, r->m->nshapes++, s->place ? s->place->line : 0)
               ? CAROM_OK
               : carom_fault_memory(r);
}

// With a density, shapes are written where they are, and the body's frame is at their centre of mass.
static void from_centre(shape *s) {
    if (!s->body) return; // a skin
    for (int k = 0; k < 3; ++k) s->at[k] -= s->body->centre[k];
    for (int i = 0; i < s->ncorners; ++i)
        for (int k = 0; k < 2; ++k) s->corner[i][k] -= s->body->centre[k];
    if (s->piece) carom_outline_piece_move(s->piece, (double[]){-s->body->centre[0], -s->body->centre[1]});
    for (int i = 0; s->hull && i < s->hull->nv; ++i)
        for (int k = 0; k < 3; ++k) s->hull->v[i][k] -= s->body->centre[k];
    for (int f = 0; s->hull && f < s->hull->nf; ++f)
        for (int k = 0; k < 3; ++k) s->hull->offset[f] -= s->hull->normal[f][k] * s->body->centre[k];
}

static const char *material_name(const void *user, int i) {
    const carom_mech *x = user;
    return i < x->nmaterials ? x->materials[i].own.name.text : NULL;
}

carom_status carom_material_find(resolver *r, const carom_datum *n, const carom_mech_material **material) {
    const carom_mech *x = r->mech;
    if (n->kind != CAROM_TEXT)
        return carom_fault(r, n, 0, "expected the name of a material, got a %s",
                           n->kind == CAROM_LIST ? "list" : "map");
    for (int i = 0; i < x->nmaterials; ++i)
        if (strcmp(x->materials[i].own.name.text, n->text) == 0) return *material = &x->materials[i], CAROM_OK;
    const char *near = carom_nearest(n->text, material_name, x);
    return carom_fault(r, n, 0, "unknown material '%.60s'%s%s%s", n->text,
                       near ? "; did you mean '" : "; materials stand in section materials", near ? near : "",
                       near ? "'?" : "");
}

// A shape is of its own material, or of the body's.
static carom_status read_material(resolver *r, const carom_datum *own, const body *b, shape *s) {
    const carom_datum *n = own && carom_given(own) ? own : b->material;
    if (n) CAROM_TRY(carom_material_find(r, n, &s->material));
    for (int i = 0; s->part && i < 2 * s->nodes - 1; ++i) s->part[i].material = s->material;
    return CAROM_OK;
}

static carom_status add_shape(resolver *r, const carom_mech_shape *x, const body *b, const char *part) {
    carom_model *m = r->m;
    char text[140], where[170];
    if (part) CAROM_TRY(carom_part_name(r, &x->name));
    if (part && b->place) snprintf(text, sizeof text, "%.60s.%.60s", b->name, part);
    else snprintf(text, sizeof text, "%.60s", part ? part : b->name);
    snprintf(where, sizeof where, "shape '%.130s'", text);
    const name *other = carom_names_find(&m->shape_names, text, strlen(text));
    if (other)
        return carom_fault(r, &x->name, 0, "duplicate %s%s; rename one of them", where,
                           carom_line_of(other->line).text);
    shape *s = &m->shapes[m->nshapes];
    s->name = part ? carom_pool_text(&m->memory, text, strlen(text)) : b->name;
    if (!s->name) return carom_fault_memory(r);
    CAROM_TRY(carom_shape_parts(r, x, &s->parts));
    --s->parts;
    for (int k = 0; k <= s->parts; ++k) {
        s[k].name = s->name;
        CAROM_TRY(carom_read_shape(r, x, b, k, &s[k], where));
        from_centre(&s[k]);
        CAROM_TRY(read_material(r, &x->material, b, &s[k]));
    }
    m->nshapes += s->parts;
    return carom_names_add(&m->shape_names, s->name, NAME_QUANTITY, (int)(s - m->shapes), s->place ? s->place->line : 0)
           ? ++m->nshapes,
           CAROM_OK : carom_fault_memory(r);
}

// A named point of a body is a shape, too; i < 0: its origin.
static carom_status add_point(resolver *r, const body *b, int i) {
    carom_model *m = r->m;
    shape *s = &m->shapes[m->nshapes];
    char text[140];
    snprintf(text, sizeof text, "%.60s%s%.60s", b->name, i < 0 ? "" : ".", i < 0 ? "" : b->points[i].name);
    if (carom_names_find(&m->shape_names, text, strlen(text))) return CAROM_OK; // the shape wins
    s->name = carom_pool_text(&m->memory, text, strlen(text));
    if (!s->name) return carom_fault_memory(r);
    s->kind = SHAPE_POINT;
    s->X = carom_shape_no_axes;
    s->body = b;
    s->space = b->space;
    s->place = b->place;
    if (i >= 0) memcpy(s->at, b->points[i].s, sizeof s->at);
    CAROM_TRY(read_material(r, NULL, b, s));
    return count_shape(r, s);
}

static carom_status count_parts(resolver *r, const carom_mech_shape *list, int n, int *count) {
    for (int i = 0; i < n; ++i) {
        int parts = 1;
        CAROM_TRY(carom_shape_parts(r, &list[i], &parts));
        *count += parts;
    }
    return CAROM_OK;
}

static carom_status count_shapes(resolver *r, int *count) {
    const carom_model *m = r->m;
    CAROM_TRY(count_parts(r, r->mech->shapes, r->mech->nshapes, count));
    for (int i = 0; i < r->mech->nbodies; ++i) {
        const carom_mech_body *b = carom_body_given(r, i);
        if (b->shape) CAROM_TRY(count_parts(r, b->shape, 1, count));
        CAROM_TRY(count_parts(r, b->shapes, b->nshapes, count));
    }
    for (int i = 0; i < m->nbodies; ++i) *count += m->bodies[i].npoints;
    *count += m->nbodies; // points of floating members
    return CAROM_OK;
}

carom_status carom_derive_shapes(resolver *r) {
    carom_model *m = r->m;
    int count = 0;
    CAROM_TRY(count_shapes(r, &count));
    m->shapes = carom_pool_take(&m->memory, ((size_t)count + 1) * sizeof *m->shapes);
    if (!m->shapes) return carom_fault_memory(r);
    for (int i = 0; i < r->mech->nshapes; ++i)
        CAROM_TRY(add_shape(r, &r->mech->shapes[i], &m->bodies[0], r->mech->shapes[i].name.text));
    const body *b = m->bodies + 1;
    for (int k = 0; k < r->mech->nbodies; ++k, ++b) {
        const carom_mech_body *of = carom_body_given(r, k);
        CAROM_TRY(carom_fresh_values(r));
        if (of->shape) CAROM_TRY(add_shape(r, of->shape, b, NULL));
        for (int i = 0; i < of->nshapes; ++i) CAROM_TRY(add_shape(r, &of->shapes[i], b, of->shapes[i].name.text));
        for (int i = 0; i < b->npoints; ++i) CAROM_TRY(add_point(r, b, i));
    }
    for (; b < m->bodies + m->nbodies; ++b)
        if (b->carried) CAROM_TRY(add_point(r, b, -1));
    return CAROM_OK;
}

carom_status carom_find_shape(resolver *r, const carom_datum *n, const shape **s) {
    const carom_model *m = r->m;
    if (n->kind != CAROM_TEXT)
        return carom_fault(r, n, 0, "expected the name of a shape, got a %s", n->kind == CAROM_LIST ? "list" : "map");
    const name *found = carom_names_find(&m->shape_names, n->text, n->length);
    if (found) return *s = &m->shapes[found->index], CAROM_OK;
    const char *near = carom_nearest(n->text, shape_name, m);
    if (near) return carom_fault(r, n, 0, "unknown shape '%.60s'; did you mean '%s'?", n->text, near);
    return carom_fault(r, n, 0,
                       "unknown shape '%.60s'; shapes are BODY (its `shape`), BODY.NAME (one of its `shapes` or "
                       "`points`) and names of section shapes",
                       n->text);
}
