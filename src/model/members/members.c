// members.c: the section `flexible`: members, their points, supports and initial state.
//
// A member's numbers are expressions of parameters; what varies along it is an expression of the arc length s as well.
#include "expr/graph.h"
#include "model/bodies/bodies.h"
#include "model/members/members.h"
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"bar", "beam", "exact beam", "spatial beam", "shaft", "matrices", NULL};

static const char *list_item(const void *user, int i) { return ((const char *const *)user)[i]; }

static void *take(reader *r, size_t count, size_t size) {
    return carom_pool_take(&r->m->memory, (count ? count : 1) * size);
}

// Arc length of a node, and the number by which names call it.
static double arc_of(const member *b, int node) {
    return b->kind == CAROM_MATRICES ? node + 1 : carom_member_arc(b->flex, node);
}

static int number_of(const member *b, int node) { return node + (b->kind == CAROM_MATRICES); }

// -- what varies along a member --------------------------------------------------------------------------------

/// An expression of s, ready to be evaluated.
typedef struct profile {
    carom_tape *tape;
    void *work;
} profile;

static carom_status compile(reader *r, carom_node node, profile *p) {
    const carom_group group = {.count = 1, .nodes = &node};
    p->tape = carom_tape_compile(r->values, &group, 1, 0, 0, 0, r->err);
    p->work = p->tape ? calloc(1, carom_tape_work_size(p->tape) + 64) : NULL;
    if (!p->work) return carom_read_memory(r);
    carom_tape_work_init(p->tape, p->work, NULL);
    return CAROM_OK;
}

static double at(const profile *p, double s) {
    double x = 0;
    if (p->tape) carom_tape_eval(p->tape, p->work, 0, s, NULL, NULL, &x);
    return x;
}

static void release(profile *p) {
    if (p->tape) carom_tape_destroy(p->tape);
    free(p->work);
    *p = (profile){0};
}

static int component_of(const draft *d, const char *word) {
    for (int c = 0; c < carom_member_components(d->def.kind); ++c)
        if (strcmp(carom_member_component(d->def.kind, c), word) == 0) return c;
    return -1;
}

static carom_status unknown_component(draft *d, const carom_datum *n, const char *word) {
    char known[80] = "";
    for (int c = 0; c < carom_member_components(d->def.kind); ++c)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", c ? ", " : "",
                 carom_member_component(d->def.kind, c));
    return carom_read_fail(d->r, n, 0, "'%.60s' is no component of this member; it has %s", word, known);
}

// One expression of s for each component: `{u: .., w: ..}`, or a single one for the first component of a bar.  A beam's
// angle follows from its deflection when it is not given.
static carom_status read_profiles(draft *d, const char *key, bool slopes, profile *p) {
    reader *r = d->r;
    const carom_datum *n = carom_datum_get(d->map, key);
    carom_node node[CAROM_MEMBER_COMPONENTS];
    for (int c = 0; c < CAROM_MEMBER_COMPONENTS; ++c) node[c] = CAROM_NONE;
    if (!n || carom_datum_empty(n)) return CAROM_OK;
    if (n->kind == CAROM_TEXT && (d->def.kind == CAROM_BAR || d->def.kind == CAROM_MATRICES)) {
        CAROM_TRY(carom_read_expression(r, n, NAME_PARAMETER | SCOPE_VALUES | SCOPE_ARC, key, &node[0]));
    } else {
        const carom_datum *map = NULL;
        CAROM_TRY(carom_read_map(r, n, key, &map));
        for (const carom_datum *k = carom_first(map); k != carom_end(map); ++k) {
            const int c = component_of(d, k->key->text);
            if (c < 0) return unknown_component(d, k->key, k->key->text);
            CAROM_TRY(carom_read_expression(r, k, NAME_PARAMETER | SCOPE_VALUES | SCOPE_ARC, key, &node[c]));
        }
    }
    static const struct { carom_member_kind kind; int deflection, angle; double sign; } slope[] = {
        {CAROM_BEAM, 1, 2, 1}, {CAROM_SPATIAL_BEAM, 1, 5, 1}, {CAROM_SPATIAL_BEAM, 2, 4, -1}, {CAROM_SHAFT, 0, 4, 1}, {CAROM_SHAFT, 1, 3, -1}};
    for (size_t k = 0; slopes && k < sizeof slope / sizeof *slope; ++k) {
        const carom_node w = node[slope[k].deflection];
        if (slope[k].kind != d->def.kind || w == CAROM_NONE || node[slope[k].angle] != CAROM_NONE) continue;
        node[slope[k].angle] = carom_graph_times(r->values, carom_graph_number(r->values, slope[k].sign),
                                                 carom_graph_diff(r->values, w, CAROM_TIME, 0));
    }
    for (int c = 0; c < CAROM_MEMBER_COMPONENTS; ++c)
        if (node[c] != CAROM_NONE) CAROM_TRY(compile(r, node[c], &p[c]));
    return CAROM_OK;
}

// -- numbers -------------------------------------------------------------------------------------------------

carom_status carom_draft_number(draft *d, const char *key, bool needed, double *x) {
    const carom_datum *n = carom_datum_get(d->map, key);
    if (n) return carom_read_number(d->r, n, key, x);
    if (!needed) return CAROM_OK;
    return carom_read_fail(d->r, d->map->key, 0, "%s has no %s; add `%s:`", d->where, key, key);
}

// A list of up to three numbers; or one number for the first.
static carom_status numbers(draft *d, const char *key, int most, double *x, bool *given) {
    const carom_datum *n = carom_datum_get(d->map, key);
    if (given) *given = n != NULL;
    if (!n) return CAROM_OK;
    if (n->kind == CAROM_TEXT) return carom_read_number(d->r, n, key, &x[0]);
    if (n->kind != CAROM_LIST || n->count > most)
        return carom_read_fail(d->r, n, 0, "%s is a list of at most %d numbers", key, most);
    int k = 0;
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c) CAROM_TRY(carom_read_number(d->r, c, key, &x[k++]));
    return CAROM_OK;
}

static bool in_space(const draft *d) { return d->def.kind == CAROM_SPATIAL_BEAM || d->def.kind == CAROM_SHAFT; }

static carom_status read_direction(draft *d) {
    const carom_datum *n = carom_datum_get(d->map, "direction");
    const bool spatial = in_space(d);
    if (!n) return CAROM_OK;
    if (n->kind == CAROM_TEXT && !spatial) { // an angle
        double angle = 0;
        CAROM_TRY(carom_read_number(d->r, n, "direction", &angle));
        d->def.direction[0] = cos(angle);
        d->def.direction[1] = sin(angle);
        return CAROM_OK;
    }
    if (n->kind != CAROM_LIST || n->count != (spatial ? 3 : 2))
        return carom_read_fail(d->r, n, 0, spatial ? "direction is a list of three numbers"
                                                   : "direction is an angle, or a list of two numbers");
    for (int k = 0; k < 3; ++k) d->def.direction[k] = 0;
    return numbers(d, "direction", 3, d->def.direction, NULL);
}

static carom_status read_damping(draft *d) {
    static const char *const shaft[] = {"mass", "stiffness", "torsion", NULL}, *const other[] = {"mass", "stiffness", NULL};
    const char *const *keys = d->def.kind == CAROM_SHAFT ? shaft : other;
    const carom_datum *n = carom_datum_get(d->map, "damping"), *map = NULL;
    if (!n) return CAROM_OK;
    CAROM_TRY(carom_read_map(d->r, n, "damping", &map));
    if (!map) return CAROM_OK;
    CAROM_TRY(carom_read_keys(d->r, map, keys, "damping"));
    const carom_datum *a = carom_datum_get(map, "mass"), *b = carom_datum_get(map, "stiffness"), *c = carom_datum_get(map, "torsion");
    if (a) CAROM_TRY(carom_read_number(d->r, a, "damping", &d->def.damping_mass));
    if (b) CAROM_TRY(carom_read_number(d->r, b, "damping", &d->def.damping_stiffness));
    if (c) CAROM_TRY(carom_read_number(d->r, c, "damping", &d->def.damping_torsion));
    return CAROM_OK;
}

static carom_status read_mass(draft *d) {
    const carom_datum *n = carom_datum_get(d->map, "mass");
    if (!n || carom_datum_empty(n)) return CAROM_OK;
    d->def.lumped = n->kind == CAROM_TEXT && strcmp(n->text, "lumped") == 0;
    if (d->def.lumped || (n->kind == CAROM_TEXT && strcmp(n->text, "consistent") == 0)) return CAROM_OK;
    return carom_read_fail(d->r, n, 0, "mass is `consistent` or `lumped`");
}

static carom_status read_type(draft *d) {
    const carom_datum *n = carom_datum_get(d->map, "type");
    if (!n)
        return carom_read_fail(d->r, d->map->key, 0,
                               "%s has no type; it is `bar`, `beam`, `exact beam`, `spatial beam`, `shaft` or `matrices`", d->where);
    for (int k = 0; types[k]; ++k)
        if (n->kind == CAROM_TEXT && strcmp(n->text, types[k]) == 0) {
            d->def = carom_member_default((carom_member_kind)k);
            return CAROM_OK;
        }
    const char *near = n->kind == CAROM_TEXT ? carom_nearest(n->text, list_item, types) : NULL;
    return carom_read_fail(d->r, n, 0, "there is no such member%s%s%s; types are bar, beam, exact beam, spatial beam, shaft, matrices",
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static carom_status read_matrices(draft *d) {
    static const char *const keys[] = {"type", "mass", "stiffness", "damping", "load", "at", "rate", "fix", "points", "record", NULL},
                            *const name[] = {"mass", "stiffness", "damping"};
    CAROM_TRY(carom_read_keys(d->r, d->map, keys, d->where));
    for (int k = 0; k < 3; ++k) {
        const carom_datum *n = carom_datum_get(d->map, name[k]);
        if (!n && k < 2) return carom_read_fail(d->r, d->map->key, 0, "%s has no %s; add `%s: NAME` and say where it is: --matrix NAME=FILE", d->where, name[k], name[k]);
        if (n && n->kind == CAROM_MAP && k == 2) CAROM_TRY(read_damping(d));
        else if (n) CAROM_TRY(carom_read_matrix(d->r, n, name[k], &d->matrix[k]));
    }
    d->def.mass = &d->matrix[0];
    d->def.stiffness = &d->matrix[1];
    d->def.damping = d->matrix[2].row ? &d->matrix[2] : NULL;
    d->def.elements = d->matrix[0].rows - 1;
    return CAROM_OK;
}

static carom_status check_keys(draft *d) {
    static const char *const common[] = {"type", "length", "elements", "density", "modulus", "damping", "gravity", "at",
                                         "rate", "fix",    "points",   "origin",  "direction", NULL};
    static const char *const fixed[] = {"load", "record", NULL}, *const floating[] = {"velocity", "spin", NULL};
    static const char *const bar[] = {"area", "mass", "massless", NULL}; // a floating one gives no mass away
    static const char *const shaft[] = {"radius", "bore", "shear modulus", "flywheels", "up", NULL};
    static const char *const beam[] = {"inertia", "frame", NULL}, *const exact[] = {"inertia", "shear modulus", "shear area", NULL},
                      *const spatial[] = {"inertia", "shear modulus", "torsion", "up", "frame", NULL};
    const carom_member_kind kind = d->def.kind;
    const char *const *own = kind == CAROM_BEAM ? beam : kind == CAROM_EXACT_BEAM ? exact
                                                     : kind == CAROM_SPATIAL_BEAM ? spatial
                                                     : kind == CAROM_SHAFT        ? shaft
                                                                                  : beam + 2;
    const char *keys[32];
    int n = 0;
    for (int k = 0; common[k]; ++k) keys[n++] = common[k];
    for (int k = 0; (d->floating ? floating : fixed)[k]; ++k) keys[n++] = (d->floating ? floating : fixed)[k];
    for (int k = 0; kind != CAROM_SHAFT && bar[k] && !(d->floating && k == 2); ++k) keys[n++] = bar[k];
    for (int k = 0; own[k]; ++k) keys[n++] = own[k];
    keys[n] = NULL;
    return carom_read_keys(d->r, d->map, keys, d->where);
}

carom_status carom_draft_count(draft *d, const carom_datum *n, int *count) {
    double x = 0;
    CAROM_TRY(carom_read_number(d->r, n, "elements", &x));
    if (!(x >= 1 && x <= 1e8 && x == floor(x))) return carom_read_fail(d->r, n, 0, "%g elements; write a whole number from 1 on", x);
    *count = (int)x;
    return CAROM_OK;
}

// The section of a beam.
static carom_status read_section(draft *d) {
    const carom_member_kind kind = d->def.kind;
    double inertia[2] = {0};
    CAROM_TRY(carom_draft_number(d, "area", true, &d->def.area));
    if (kind != CAROM_BAR && !carom_datum_get(d->map, "inertia")) CAROM_TRY(carom_draft_number(d, "inertia", true, inertia));
    CAROM_TRY(numbers(d, "inertia", kind == CAROM_SPATIAL_BEAM ? 2 : 1, inertia, NULL));
    d->def.inertia = inertia[0];
    d->def.inertia_v = inertia[1] != 0 ? inertia[1] : inertia[0];
    d->def.shear_area = 5 * d->def.area / 6;
    CAROM_TRY(carom_draft_number(d, "shear area", false, &d->def.shear_area));
    CAROM_TRY(carom_draft_number(d, "torsion", kind == CAROM_SPATIAL_BEAM, &d->def.torsion));
    return read_mass(d);
}

static carom_status read_numbers(draft *d) {
    const bool shaft = d->def.kind == CAROM_SHAFT;
    if (d->def.kind == CAROM_MATRICES) return read_matrices(d);
    CAROM_TRY(check_keys(d));
    const carom_datum *frame = carom_datum_get(d->map, "frame");
    if (frame && !d->floating && (frame->kind != CAROM_TEXT || strcmp(frame->text, "fixed") != 0))
        return carom_read_fail(d->r, frame, 0, "frame is `fixed` (default) or `floating`");
    const carom_datum *elements = carom_datum_get(d->map, "elements");
    double none = 0;
    if (!elements) return carom_draft_number(d, "elements", true, &none);
    if (!shaft) CAROM_TRY(carom_draft_count(d, elements, &d->def.elements));
    CAROM_TRY(carom_draft_number(d, "length", true, &d->def.length));
    CAROM_TRY(carom_draft_number(d, "density", true, &d->def.density));
    CAROM_TRY(carom_draft_number(d, "modulus", true, &d->def.modulus));
    if (!shaft) CAROM_TRY(read_section(d));
    CAROM_TRY(carom_draft_number(d, "shear modulus", d->def.kind >= CAROM_EXACT_BEAM, &d->def.shear_modulus));
    CAROM_TRY(numbers(d, "origin", in_space(d) ? 3 : 2, d->def.origin, NULL));
    CAROM_TRY(read_direction(d));
    CAROM_TRY(numbers(d, "up", 3, d->def.up, NULL));
    CAROM_TRY(numbers(d, "gravity", in_space(d) ? 3 : 2, d->def.gravity, NULL));
    return read_damping(d);
}

// -- points and supports ---------------------------------------------------------------------------------------

static carom_status read_points(draft *d) {
    const carom_datum *n = carom_datum_get(d->map, "points");
    reader *r = d->r;
    CAROM_TRY(carom_read_map(r, n, "points", &d->points));
    const int count = 2 + (d->points ? d->points->count : 0);
    d->place = take(r, (size_t)count, sizeof *d->place);
    d->point = take(r, (size_t)count, sizeof *d->point);
    if (!d->place || !d->point) return carom_read_memory(r);
    const bool rows = d->def.kind == CAROM_MATRICES;
    if (!rows) {
        d->point[0] = "start";
        d->point[1] = "end";
        d->place[1] = d->def.length;
        d->npoint = 2;
    }
    for (const carom_datum *p = carom_first(d->points); p != carom_end(d->points); ++p) {
        const char *text = p->key->text;
        if (!rows && (strcmp(text, "start") == 0 || strcmp(text, "end") == 0))
            return carom_read_fail(r, p->key, 0, "every member has the points start and end; choose another name");
        if (!carom_name_valid(text) || strchr(text, '.') || p->key->length > 40)
            return carom_read_fail(r, p->key, 0, "'%.60s' is not a name for a point; use letters, digits and _", text);
        double s = 0;
        CAROM_TRY(carom_read_number(r, p, "the place of a point", &s));
        if (rows && !(s >= 1 && s <= d->def.elements + 1 && s == floor(s)))
            return carom_read_fail(r, p, 0, "point '%s' is row %g, but the matrices have rows 1 to %d", text, s, d->def.elements + 1);
        if (!rows && !(s >= -1e-9 * d->def.length && s <= (1 + 1e-9) * d->def.length))
            return carom_read_fail(r, p, 0, "point '%s' is at arc length %g, but the member reaches from 0 to %g", text, s,
                                   d->def.length);
        d->point[d->npoint] = text;
        d->place[d->npoint++] = s;
    }
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
        return carom_read_fail(d->r, n, 0, "this is no point of the member%s%s%s; name one of `points`%s",
                               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
                               d->def.kind == CAROM_MATRICES ? "" : ", start or end");
    }
    *point = k;
    return CAROM_OK;
}

carom_status carom_draft_node(draft *d, const carom_datum *n, int *node) {
    int k = 0;
    CAROM_TRY(carom_draft_point(d, n, &k));
    double at = d->def.kind == CAROM_MATRICES ? d->place[k] - 1 : d->place[k] / d->def.length * d->def.elements; // in elements
    if (d->arc) {
        int e = 0;
        while (e < d->def.elements - 1 && d->arc[e + 1] <= d->place[k]) ++e;
        at = e + (d->place[k] - d->arc[e]) / (d->arc[e + 1] - d->arc[e]);
    }
    *node = (int)round(at);
    if (fabs(at - *node) <= 1e-6) return CAROM_OK;
    return carom_read_fail(d->r, n, 0,
                           "point '%s' lies inside an element (%g of %d); supports are at nodes: change its place or the "
                           "number of elements, or write a constraint",
                           d->point[k], at, d->def.elements);
}

static carom_status fix(draft *d, bool *fixed, int node, const carom_datum *what) {
    const int per = carom_member_components(d->def.kind);
    if (!what || carom_datum_empty(what) || (what->kind == CAROM_TEXT && strcmp(what->text, "all") == 0)) {
        for (int c = 0; c < per; ++c) fixed[node * per + c] = true;
        return CAROM_OK;
    }
    for (const carom_datum *item = carom_ones(what); item != carom_ones_end(what); ++item) {
        const int c = item->kind == CAROM_TEXT ? component_of(d, item->text) : -1;
        if (c < 0) return unknown_component(d, item, item->kind == CAROM_TEXT ? item->text : "this");
        fixed[node * per + c] = true;
    }
    return CAROM_OK;
}

// `fix: start`, `fix: [start, end]`, `fix: {start: [x, y], end: all}`.
static carom_status read_fix(draft *d) {
    const carom_datum *n = carom_datum_get(d->map, "fix");
    if (!n || carom_datum_empty(n)) return CAROM_OK;
    bool *fixed = take(d->r, (size_t)(d->def.elements + 1) * (size_t)carom_member_components(d->def.kind), sizeof *fixed);
    if (!fixed) return carom_read_memory(d->r);
    d->def.fixed = fixed;
    for (const carom_datum *item = carom_ones(n); item != carom_ones_end(n); ++item) {
        int node = 0;
        CAROM_TRY(carom_draft_node(d, n->kind == CAROM_MAP ? item->key : item, &node));
        CAROM_TRY(fix(d, fixed, node, n->kind == CAROM_MAP ? item : NULL));
    }
    return CAROM_OK;
}

static carom_status read_massless(draft *d) {
    const carom_datum *n = carom_datum_get(d->map, "massless");
    if (!n || carom_datum_empty(n)) return CAROM_OK;
    bool *light = take(d->r, (size_t)d->def.elements + 1, sizeof *light);
    if (!light) return carom_read_memory(d->r);
    d->def.massless = light;
    if (n->kind == CAROM_MAP) return carom_read_fail(d->r, n, 0, "massless is a point or a list of points");
    for (const carom_datum *item = carom_ones(n); item != carom_ones_end(n); ++item) {
        int node = 0;
        CAROM_TRY(carom_draft_node(d, item, &node));
        light[node] = true;
    }
    return CAROM_OK;
}

// `record: [unknowns, displacement, velocity, stress]`
static carom_status read_record(draft *d, member *b) {
    static const char *const words[] = {"displacement", "velocity", "stress", "unknowns", NULL};
    const carom_datum *n = carom_datum_get(d->map, "record");
    if (!n || carom_datum_empty(n)) return CAROM_OK;
    if (n->kind == CAROM_MAP) return carom_read_fail(d->r, n, 0, "record is a list of displacement, velocity, stress, unknowns");
    for (const carom_datum *item = carom_ones(n); item != carom_ones_end(n); ++item) {
        int k = 0;
        while (words[k] && (item->kind != CAROM_TEXT || strcmp(words[k], item->text) != 0)) ++k;
        const char *near = !words[k] && item->kind == CAROM_TEXT ? carom_nearest(item->text, list_item, words) : NULL;
        if (!words[k])
            return carom_read_fail(d->r, item, 0, "this cannot be recorded%s%s%s; known are displacement, velocity, stress, unknowns",
                                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        if (k == 2 && d->def.kind == CAROM_MATRICES) return carom_read_fail(d->r, item, 0, "nothing is known of stresses in a member of matrices");
        if (k == 3)
            b->unknowns = true;
        else
            b->fields |= 1u << k;
    }
    return CAROM_OK;
}

// -- making ------------------------------------------------------------------------------------------------------

/// Numbers along a member: expressions, or a column of a file.
typedef struct course {
    profile f[CAROM_MEMBER_COMPONENTS];
    double *column; // NULL: none
    int components;
} course;

static double course_at(const course *x, int c, double s) { return x->column ? x->column[(int)s - 1] : at(&x->f[c], s); }

static void load(void *user, double s, double *p) {
    const course *x = user;
    for (int c = 0; c < x->components; ++c) p[c] = course_at(x, c, s);
}

static carom_status read_course(draft *d, const char *key, bool slopes, course *x) {
    const carom_datum *n = carom_datum_get(d->map, key);
    x->components = carom_member_components(d->def.kind);
    if (!n || n->kind != CAROM_MAP || d->def.kind != CAROM_MATRICES) return read_profiles(d, key, slopes, x->f);
    static const char *const keys[] = {"vector", NULL};
    CAROM_TRY(carom_read_keys(d->r, n, keys, key));
    if (!n->item) return carom_read_fail(d->r, n, 0, "%s is empty; write {vector: NAME}, or an expression", key);
    x->column = calloc((size_t)d->def.elements + 1, sizeof *x->column);
    return x->column ? carom_read_matrix_column(d->r, n->item, key, d->def.elements + 1, x->column) : carom_read_memory(d->r);
}

static void release_course(course *x) {
    for (int c = 0; c < CAROM_MEMBER_COMPONENTS; ++c) release(&x->f[c]);
    free(x->column);
}

static carom_status create(draft *d, member *b) {
    course x = {0};
    carom_status status = read_course(d, "load", false, &x);
    carom_error err = {0};
    if (carom_datum_get(d->map, "load")) {
        d->def.load = load;
        d->def.load_user = &x;
    }
    if (status == CAROM_OK) {
        b->flex = carom_member_create(&d->def, &err);
        if (!b->flex) status = carom_read_fail(d->r, d->map->key, 0, "%s: %s", d->where, err.text);
    }
    release_course(&x);
    return status;
}

// Names of the unknowns: rod.u0, rod.u1, ...
static bool name_unknowns(member *b) {
    b->stride = strlen(b->name) + 20;
    b->unknown_name = malloc(2 * (size_t)b->count * b->stride);
    b->seen = calloc((size_t)b->count, sizeof *b->seen);
    for (int i = 0; b->unknown_name && i < b->count; ++i) {
        int node, c;
        carom_member_place(b->flex, i, &node, &c);
        char *text = b->unknown_name + (size_t)i * b->stride;
        const char *word = carom_member_component(b->kind, c);
        snprintf(text, b->stride, "%s.%s%d", b->name, word, number_of(b, node));
        snprintf(text + (size_t)b->count * b->stride, b->stride, "%s.%s%d'", b->name, word, number_of(b, node));
    }
    return b->unknown_name && b->seen;
}

static carom_status read_state(draft *d, const member *b, const char *key, double *x) {
    course along = {0};
    carom_status status = read_course(d, key, true, &along);
    for (int i = 0; i < b->count && status == CAROM_OK; ++i) {
        int node, c;
        carom_member_place(b->flex, i, &node, &c);
        const double s = arc_of(b, node);
        if (along.f[c].tape || along.column) x[i] = course_at(&along, c, s);
        if (!isfinite(x[i]))
            status = carom_read_fail(d->r, carom_datum_get(d->map, key), 0, "no finite value at node %d (s = %g)", node, s);
    }
    release_course(&along);
    return status;
}

// constant + sum of weights times inputs.
static carom_node linear(carom_model *m, member *b, carom_input kind, int n, const int *index, const double *weight,
                         double constant) {
    carom_graph *g = m->graph;
    carom_node sum = carom_graph_number(g, kind == CAROM_POSITION ? constant : 0);
    for (int k = 0; k < n; ++k) {
        carom_node x, y;
        if (carom_model_see(m, b, index[k], &x, &y) < 0) return CAROM_NONE;
        sum = carom_graph_plus(g, sum, carom_graph_times(g, carom_graph_number(g, weight[k]), kind == CAROM_POSITION ? x : y));
    }
    return sum;
}

carom_node carom_member_where(carom_model *m, member *b, double s, int axis) {
    int index[CAROM_MEMBER_POINT];
    double weight[CAROM_MEMBER_POINT], constant;
    const int n = carom_member_position(b->flex, s, axis, index, weight, &constant);
    return linear(m, b, CAROM_POSITION, n, index, weight, constant);
}

// Quantity c of the point at s: the components, then places that are no components; false: there is no such.
static bool quantity(carom_model *m, member *b, double s, int c, const char **word, carom_node *node,
                     carom_node *rate) {
    static const char *const place[] = {"x", "y", "z"};
    int index[CAROM_MEMBER_POINT], n;
    double weight[CAROM_MEMBER_POINT], constant;
    const int axis = c - b->components, axes = b->kind == CAROM_EXACT_BEAM || b->kind == CAROM_MATRICES ? 0 : b->kind == CAROM_SPATIAL_BEAM || b->kind == CAROM_SHAFT ? 3 : 2;
    if (axis >= axes) return false;
    if (axis < 0) {
        *word = carom_member_component(b->kind, c);
        n = carom_member_point(b->flex, s, c, index, weight, &constant);
    } else {
        *word = place[axis];
        n = carom_member_position(b->flex, s, axis, index, weight, &constant);
    }
    if (node) *node = linear(m, b, CAROM_POSITION, n, index, weight, constant);
    if (rate) *rate = linear(m, b, CAROM_VELOCITY, n, index, weight, constant);
    return true;
}

static carom_status name_points(draft *d, member *b) {
    carom_model *m = d->r->m;
    for (int p = 0; p < d->npoint; ++p) {
        const char *word;
        carom_node node, rate;
        for (int c = 0; quantity(m, b, d->place[p], c, &word, &node, &rate); ++c) {
            const size_t size = strlen(b->name) + strlen(d->point[p]) + strlen(word) + 3;
            char *text = take(d->r, size, 1);
            if (!text || node == CAROM_NONE || rate == CAROM_NONE) return carom_read_memory(d->r);
            snprintf(text, size, "%s.%s.%s", b->name, d->point[p], word);
            if (carom_names_find(&m->names, text, size - 1))
                return carom_read_fail(d->r, d->map->key, 0, "'%s' is already %s; rename one of the two", text,
                                       carom_name_kind(carom_names_find(&m->names, text, size - 1)->kind));
            name *n = carom_names_add(&m->names, text, NAME_POINT, 0, b->line);
            if (!n) return carom_read_memory(d->r);
            n->node = node;
            n->rate = rate;
            n->used = true;
        }
    }
    return CAROM_OK;
}

carom_status carom_draft_read(draft *d) {
    CAROM_TRY(read_type(d));
    if (d->floating && d->def.kind != CAROM_BEAM && d->def.kind != CAROM_SPATIAL_BEAM)
        return carom_read_fail(d->r, carom_datum_get(d->map, "frame"), 0, "a floating frame is for `beam` and `spatial beam`%s",
                               d->def.kind == CAROM_EXACT_BEAM ? "; an `exact beam` moves freely as it is" : d->def.kind == CAROM_SHAFT ? ", which spins and whirls too" : "");
    CAROM_TRY(read_numbers(d));
    CAROM_TRY(read_points(d));
    if (d->def.kind == CAROM_SHAFT) CAROM_TRY(carom_read_shaft(d));
    if (d->def.kind == CAROM_SHAFT) CAROM_TRY(carom_read_flywheels(d));
    CAROM_TRY(read_fix(d));
    return read_massless(d);
}

carom_status carom_draft_values(draft *d, const char *key, double *x) {
    course along = {0};
    const int per = carom_member_components(d->def.kind);
    carom_status status = read_course(d, key, true, &along);
    for (int i = 0; i < (d->def.elements + 1) * per && status == CAROM_OK; ++i) {
        const double s = d->def.length * (i / per) / d->def.elements;
        if (along.f[i % per].tape) x[i] = course_at(&along, i % per, s);
        if (!isfinite(x[i])) status = carom_read_fail(d->r, carom_datum_get(d->map, key), 0, "no finite value at node %d (s = %g)", i / per, s);
    }
    release_course(&along);
    return status;
}

static carom_status fill_member(draft *d, const carom_datum *n, member *b) {
    reader *r = d->r;
    carom_model *m = r->m;
    CAROM_TRY(carom_read_new_name(r, n, &m->names));
    if (!carom_names_add(&m->names, n->key->text, NAME_MEMBER, 0, n->key->line)) return carom_read_memory(r);
    CAROM_TRY(carom_read_map(r, n, d->where, &d->map));
    if (!d->map) return carom_read_fail(r, n->key, 0, "%s is empty; give its type, length, elements, ...", d->where);
    CAROM_TRY(carom_draft_read(d));
    *b = (member){.name = n->key->text, .line = n->key->line, .column = n->key->column, .kind = d->def.kind,
                  .length = d->def.length, .nodes = d->def.elements + 1, .components = carom_member_components(d->def.kind),
                  .q = m->nq, .v = m->nv, .point = d->point, .place = d->place, .npoint = d->npoint};
    ++m->nmember; // from here on it is freed with the model
    CAROM_TRY(read_record(d, b));
    CAROM_TRY(create(d, b));
    b->count = carom_member_unknowns(b->flex);
    if (b->count > 500000000 - m->nv) return carom_read_fail(r, n->key, 0, "more than 5e8 unknowns; use fewer elements");
    double *q0 = take(r, (size_t)(m->nq + b->count), sizeof *q0), *v0 = take(r, (size_t)(m->nv + b->count), sizeof *v0);
    if (!q0 || !v0 || !name_unknowns(b)) return carom_read_memory(r);
    carom_copy(q0, m->q0, m->nq);
    carom_copy(v0, m->v0, m->nv);
    m->q0 = q0;
    m->v0 = v0;
    carom_member_rest(b->flex, q0 + b->q);
    CAROM_TRY(read_state(d, b, "at", q0 + b->q));
    CAROM_TRY(read_state(d, b, "rate", v0 + b->v));
    m->nq += b->count;
    m->nv += b->count;
    return name_points(d, b);
}

static carom_status read_member(reader *r, const carom_datum *n, member *b) {
    draft d = {.r = r};
    snprintf(d.where, sizeof d.where, "flexible member '%.60s'", n->key->text);
    const carom_status status = fill_member(&d, n, b);
    for (int k = 0; k < 3; ++k) carom_triplets_free(&d.matrix[k]);
    return status;
}

carom_status carom_read_members(reader *r, const carom_datum *section) {
    carom_model *m = r->m;
    int count = 0;
    for (const carom_datum *c = carom_first(section); c != carom_end(section); ++c) count += !carom_floating_told(c);
    const bool any = count > 0;
    carom_model_see_own(r, any);
    if (!any) return carom_read_matrices_used(r);
    m->members = take(r, (size_t)count, sizeof *m->members);
    if (!m->members) return carom_read_memory(r);
    for (const carom_datum *c = carom_first(section); c != carom_end(section); ++c)
        if (!carom_floating_told(c)) CAROM_TRY(read_member(r, c, &m->members[m->nmember]));
    return carom_read_matrices_used(r);
}

// -- exact solutions ---------------------------------------------------------------------------------------------

// `exact: {rod.u: ..}`: an expression of s and t, for every unknown of that component.
carom_status carom_read_member_exact(reader *r, const carom_datum *n, unsigned scope, bool *taken) {
    carom_model *m = r->m;
    const char *dot = strrchr(n->key->text, '.');
    *taken = false;
    for (int k = 0; dot && k < m->nmember; ++k) {
        const member *b = &m->members[k];
        if (strlen(b->name) != (size_t)(dot - n->key->text) || strncmp(b->name, n->key->text, strlen(b->name)) != 0) continue;
        for (int i = 0; i < b->count; ++i) {
            int node, c;
            carom_member_place(b->flex, i, &node, &c);
            if (strcmp(carom_member_component(b->kind, c), dot + 1) != 0) continue;
            *taken = r->arc_known = true;
            r->arc = arc_of(b, node);
            const carom_status status = carom_read_expression(r, n, scope | SCOPE_ARC, "the exact solution", &m->exact[b->q + i]);
            r->arc_known = false;
            CAROM_TRY(status);
        }
    }
    return CAROM_OK;
}

// -- in expressions -------------------------------------------------------------------------------------------------

static carom_node node_value(reader *r, member *b, int node, const char *word, int primes) {
    carom_graph *g = r->m->graph;
    const char *name;
    carom_node x;
    if (strcmp(word, "s") == 0 && !primes) return carom_graph_number(g, arc_of(b, node));
    for (int c = 0; quantity(r->m, b, arc_of(b, node), c, &name, NULL, NULL); ++c) {
        if (strcmp(name, word) != 0) continue;
        quantity(r->m, b, arc_of(b, node), c, &name, primes ? NULL : &x, primes ? &x : NULL);
        return x;
    }
    return CAROM_NONE;
}

carom_node carom_member_lookup(reader *r, const char *word, int primes) {
    const char *dot = strrchr(word, '.');
    member *b = NULL;
    for (int k = 0; dot && k < r->m->nmember && !b; ++k)
        if (strlen(r->m->members[k].name) == (size_t)(dot - word) &&
            strncmp(r->m->members[k].name, word, (size_t)(dot - word)) == 0)
            b = &r->m->members[k];
    if (!b) return CAROM_NONE;
    if (r->along == b) {
        const carom_node x = node_value(r, b, r->along_node, dot + 1, primes);
        if (x != CAROM_NONE) return x;
    }
    char component[8] = "";
    const size_t length = strcspn(dot + 1, "0123456789");
    if (length == 0 || length >= sizeof component || dot[1 + length] == 0) return CAROM_NONE;
    memcpy(component, dot + 1, length);
    char *end;
    const long node = strtol(dot + 1 + length, &end, 10) - number_of(b, 0);
    if (*end || node < 0 || node >= b->nodes) return CAROM_NONE;
    for (int c = 0; c < b->components; ++c)
        if (strcmp(carom_member_component(b->kind, c), component) == 0)
            return node_value(r, b, (int)node, component, primes);
    return CAROM_NONE;
}
