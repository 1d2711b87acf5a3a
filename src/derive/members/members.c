// members.c: the section `flexible`: members, their points, supports and initial state.
//
// A member's numbers are expressions of parameters; what varies along it is an expression of the arc length s as well.
#include "expr/graph.h"
#include "base/option.h"
#include "derive/bodies/body.h"
#include "derive/members/member.h"
#include "flex/member.h"
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double SUM = 1e-9;  // of the length: rounding of sums of lengths that a person wrote

static const char *const types[] = {"bar", "beam", "exact beam", "spatial beam", "shaft", "matrices", NULL};

static const char *list_item(const void *user, int i) { return ((const char *const *)user)[i]; }

static void *take(resolver *r, size_t count, size_t size) {
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

static carom_status compile(resolver *r, carom_node node, profile *p) {
    const carom_group group = {.count = 1, .nodes = &node};
    p->tape = carom_tape_compile(r->values, &group, 1, 0, 0, 0, r->err);
    p->work = p->tape ? calloc(1, carom_tape_work_size(p->tape) + 64) : NULL;
    if (!p->work) return carom_fault_memory(r);
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
    return carom_fault(d->r, n, 0, "'%.60s' is not a component of this member; it has %s", word, known);
}

// One expression of s for each component: `{u: .., w: ..}`, or a single one for the first component of a bar.  A beam's
// angle follows from its deflection when it is not given.
static carom_status read_profiles(draft *d, const carom_datum *n, const char *key, bool slopes, profile *p) {
    resolver *r = d->r;
    carom_node node[CAROM_MEMBER_COMPONENTS];
    for (int c = 0; c < CAROM_MEMBER_COMPONENTS; ++c) node[c] = CAROM_NONE;
    if (!carom_given(n) || carom_datum_empty(n)) return CAROM_OK;
    if (n->kind < CAROM_LIST && (d->def.kind == CAROM_BAR || d->def.kind == CAROM_MATRICES)) {
        CAROM_TRY(carom_resolve_expression(r, n, NAME_PARAMETER | SCOPE_VALUES | SCOPE_ARC, key, &node[0]));
    } else {
        const carom_datum *map = NULL;
        CAROM_TRY(carom_resolve_map(r, n, key, &map));
        for (const carom_datum *k = carom_first(map); k != carom_end(map); ++k) {
            const int c = component_of(d, k->key->text);
            if (c < 0) return unknown_component(d, k->key, k->key->text);
            CAROM_TRY(carom_resolve_expression(r, k, NAME_PARAMETER | SCOPE_VALUES | SCOPE_ARC, key, &node[c]));
        }
    }
    static const struct {
        carom_member_kind kind; int deflection, angle; double sign;
    } slope[] = {{CAROM_BEAM, 1, 2, 1},
                 {CAROM_SPATIAL_BEAM, 1, 5, 1},
                 {CAROM_SPATIAL_BEAM, 2, 4, -1},
                 {CAROM_SHAFT, 0, 4, 1},
                 {CAROM_SHAFT, 1, 3, -1}};
    for (size_t k = 0; slopes && k < sizeof slope / sizeof *slope; ++k) {
        const carom_node w = node[slope[k].deflection];
        if (slope[k].kind != d->def.kind || w == CAROM_NONE || node[slope[k].angle] != CAROM_NONE) continue;
        node[slope[k].angle] = n_mul(r->values, carom_graph_number(r->values, slope[k].sign),
                                                 carom_graph_diff(r->values, w, CAROM_TIME, 0));
    }
    for (int c = 0; c < CAROM_MEMBER_COMPONENTS; ++c)
        if (node[c] != CAROM_NONE) CAROM_TRY(compile(r, node[c], &p[c]));
    return CAROM_OK;
}

// -- numbers -------------------------------------------------------------------------------------------------

// A list of up to three numbers; or one number for the first.
static carom_status numbers(draft *d, const carom_datum *n, int most, double *x) {
    if (!carom_given(n)) return CAROM_OK;
    const char *key = n->key->text;
    if (n->kind < CAROM_LIST) return carom_resolve_number(d->r, n, key, &x[0]);
    if (n->kind != CAROM_LIST || n->count > most)
        return carom_fault(d->r, n, 0, "%s is a list of at most %d numbers", key, most);
    int k = 0;
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c)
        CAROM_TRY(carom_resolve_number(d->r, c, key, &x[k++]));
    return CAROM_OK;
}

static bool in_space(const draft *d) { return d->def.kind == CAROM_SPATIAL_BEAM || d->def.kind == CAROM_SHAFT; }

static carom_status read_direction(draft *d) {
    const carom_datum *n = carom_given(&d->of->direction);
    const bool spatial = in_space(d);
    if (!n) return CAROM_OK;
    if (n->kind < CAROM_LIST && !spatial) { // an angle
        double angle = 0;
        CAROM_TRY(carom_resolve_number(d->r, n, "direction", &angle));
        d->def.direction[0] = cos(angle);
        d->def.direction[1] = sin(angle);
        return CAROM_OK;
    }
    if (n->kind != CAROM_LIST || n->count != (spatial ? 3 : 2))
        return carom_fault(d->r, n, 0,
                           spatial ? "direction is a list of three numbers"
                                   : "direction is an angle, or a list of two numbers");
    for (int k = 0; k < 3; ++k) d->def.direction[k] = 0;
    return numbers(d, n, 3, d->def.direction);
}

static carom_status read_damping(draft *d) {
    const carom_mech_damping *x = d->of->damping;
    if (!x) return CAROM_OK;
    if (carom_given(&x->matrix))
        return carom_fault(d->r, &x->matrix, 0, "damping must be a map (`name: value`), got a single value");
    if (carom_given(&x->mass)) CAROM_TRY(carom_resolve_number(d->r, &x->mass, "damping", &d->def.damping_mass));
    if (carom_given(&x->stiffness))
        CAROM_TRY(carom_resolve_number(d->r, &x->stiffness, "damping", &d->def.damping_stiffness));
    if (carom_given(&x->torsion))
        CAROM_TRY(carom_resolve_number(d->r, &x->torsion, "damping", &d->def.damping_torsion));
    return CAROM_OK;
}

static carom_status read_mass(draft *d) {
    const carom_datum *n = carom_given(&d->of->mass);
    if (!n || carom_datum_empty(n)) return CAROM_OK;
    d->def.lumped = carom_datum_is(n, "lumped");
    if (d->def.lumped || carom_datum_is(n, "consistent")) return CAROM_OK;
    return carom_fault(d->r, n, 0, "mass is `consistent` or `lumped`");
}

static carom_status read_type(draft *d) {
    const carom_datum *n = carom_given(&d->of->type);
    if (!n)
        return carom_fault(d->r, &d->of->name, 0,
                           "%s has no type; it is `bar`, `beam`, `exact beam`, `spatial beam`, `shaft` or `matrices`",
                           d->where);
    for (int k = 0; types[k]; ++k)
        if (carom_datum_is(n, types[k])) {
            d->def = carom_member_default((carom_member_kind)k);
            return CAROM_OK;
        }
    const char *near = n->kind == CAROM_TEXT ? carom_nearest(n->text, list_item, types) : NULL;
    return carom_fault(d->r, n, 0,
                       "there is no such member%s%s%s; types are bar, beam, exact beam, spatial beam, shaft, matrices",
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static carom_status read_matrices(draft *d) {
    const carom_mech_damping *damping = d->of->damping;
    const carom_datum *const given[] = {&d->of->mass, &d->of->stiffness, damping ? &damping->matrix : NULL};
    static const char *const name[] = {"mass", "stiffness", "damping"};
    for (int k = 0; k < 3; ++k) {
        const carom_datum *n = given[k] ? carom_given(given[k]) : NULL;
        if (!n && k < 2)
            return carom_fault(d->r, &d->of->name, 0,
                               "%s has no %s; add `%s: NAME` and give its file: `matrix NAME=FILE`", d->where,
                               name[k], name[k]);
        if (n) CAROM_TRY(carom_resolve_matrix(d->r, n, name[k], &d->matrix[k]));
    }
    if (!d->matrix[2].row) CAROM_TRY(read_damping(d));
    d->def.mass = &d->matrix[0];
    d->def.stiffness = &d->matrix[1];
    d->def.damping = d->matrix[2].row ? &d->matrix[2] : NULL;
    d->def.elements = d->matrix[0].rows - 1;
    return CAROM_OK;
}

// The section of a beam.
static carom_status read_section(draft *d) {
    const carom_member_kind kind = d->def.kind;
    double inertia[2] = {0};
    CAROM_TRY(carom_draft_number(d, &d->of->area, "area", true, &d->def.area));
    if (kind != CAROM_BAR && !carom_given(&d->of->inertia))
        CAROM_TRY(carom_draft_number(d, &d->of->inertia, "inertia", true, inertia));
    CAROM_TRY(numbers(d, &d->of->inertia, kind == CAROM_SPATIAL_BEAM ? 2 : 1, inertia));
    d->def.inertia = inertia[0];
    d->def.inertia_v = inertia[1] != 0 ? inertia[1] : inertia[0];
    d->def.shear_area = 5 * d->def.area / 6;
    CAROM_TRY(carom_draft_number(d, &d->of->shear_area, "shear area", false, &d->def.shear_area));
    CAROM_TRY(carom_draft_number(d, &d->of->torsion, "torsion", kind == CAROM_SPATIAL_BEAM, &d->def.torsion));
    return read_mass(d);
}

static carom_status read_numbers(draft *d) {
    const bool shaft = d->def.kind == CAROM_SHAFT;
    if (d->def.kind == CAROM_MATRICES) return read_matrices(d);
    const carom_datum *frame = carom_given(&d->of->frame);
    if (frame && d->def.kind != CAROM_BEAM && d->def.kind != CAROM_SPATIAL_BEAM)
        return carom_fault(d->r, frame->key, 0, "only `beam` and `spatial beam` have a frame; remove it");
    if (frame && !d->floating && !carom_datum_is(frame, "fixed"))
        return carom_fault(d->r, frame, 0, "frame is `fixed` (default) or `floating`");
    const carom_datum *elements = carom_given(&d->of->elements);
    double none = 0;
    if (!elements) return carom_draft_number(d, &d->of->elements, "elements", true, &none);
    if (!shaft) CAROM_TRY(carom_draft_count(d, elements, &d->def.elements));
    CAROM_TRY(carom_draft_number(d, &d->of->length, "length", true, &d->def.length));
    CAROM_TRY(carom_draft_number(d, &d->of->density, "density", true, &d->def.density));
    CAROM_TRY(carom_draft_number(d, &d->of->modulus, "modulus", true, &d->def.modulus));
    if (!shaft) CAROM_TRY(read_section(d));
    CAROM_TRY(carom_draft_number(d, &d->of->shear_modulus, "shear modulus", d->def.kind >= CAROM_EXACT_BEAM,
                                 &d->def.shear_modulus));
    CAROM_TRY(numbers(d, &d->of->origin, in_space(d) ? 3 : 2, d->def.origin));
    CAROM_TRY(read_direction(d));
    CAROM_TRY(numbers(d, &d->of->up, 3, d->def.up));
    CAROM_TRY(numbers(d, &d->of->gravity, in_space(d) ? 3 : 2, d->def.gravity));
    return read_damping(d);
}

// -- points and supports ---------------------------------------------------------------------------------------

static carom_status read_points(draft *d) {
    const carom_datum *points = &d->of->points;
    resolver *r = d->r;
    const int count = 2 + points->count;
    d->place = take(r, (size_t)count, sizeof *d->place);
    d->point = take(r, (size_t)count, sizeof *d->point);
    if (!d->place || !d->point) return carom_fault_memory(r);
    const bool rows = d->def.kind == CAROM_MATRICES;
    if (!rows) {
        d->point[0] = "start";
        d->point[1] = "end";
        d->place[1] = d->def.length;
        d->npoint = 2;
    }
    for (const carom_datum *p = carom_first(points); p != carom_end(points); ++p) {
        const char *text = p->key->text;
        if (!rows && (strcmp(text, "start") == 0 || strcmp(text, "end") == 0))
            return carom_fault(r, p->key, 0, "every member has the points start and end; choose another name");
        CAROM_TRY(carom_part_name(r, p->key));
        if (strchr(text, '.') || p->key->length > 40)
            return carom_fault(r, p->key, 0, "'%.60s' is not a name for a point; use letters, digits and _", text);
        double s = 0;
        CAROM_TRY(carom_resolve_number(r, p, "the place of a point", &s));
        if (rows && !(s >= 1 && s <= d->def.elements + 1 && s == floor(s)))
            return carom_fault(r, p, 0, "point '%s' is row %g, but the matrices have rows 1 to %d", text, s,
                               d->def.elements + 1);
        if (!rows && !(s >= -SUM * d->def.length && s <= (1 + SUM) * d->def.length))
            return carom_fault(r, p, 0, "point '%s' is at arc length %g, but the member reaches from 0 to %g", text, s,
                               d->def.length);
        d->point[d->npoint] = text;
        d->place[d->npoint++] = s;
    }
    return CAROM_OK;
}

static carom_status fix(draft *d, bool *fixed, int node, const carom_datum *what) {
    const int per = carom_member_components(d->def.kind);
    if (!what || carom_datum_empty(what) || carom_datum_is(what, "all")) {
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
    const carom_datum *n = carom_given(&d->of->fix);
    if (!n || carom_datum_empty(n)) return CAROM_OK;
    bool *fixed =
        take(d->r, (size_t)(d->def.elements + 1) * (size_t)carom_member_components(d->def.kind), sizeof *fixed);
    if (!fixed) return carom_fault_memory(d->r);
    d->def.fixed = fixed;
    for (const carom_datum *item = carom_ones(n); item != carom_ones_end(n); ++item) {
        int node = 0;
        CAROM_TRY(carom_draft_node(d, n->kind == CAROM_MAP ? item->key : item, &node));
        CAROM_TRY(fix(d, fixed, node, n->kind == CAROM_MAP ? item : NULL));
    }
    return CAROM_OK;
}

static carom_status read_massless(draft *d) {
    const carom_datum *n = carom_given(&d->of->massless);
    if (!n || carom_datum_empty(n)) return CAROM_OK;
    bool *light = take(d->r, (size_t)d->def.elements + 1, sizeof *light);
    if (!light) return carom_fault_memory(d->r);
    d->def.massless = light;
    if (n->kind == CAROM_MAP) return carom_fault(d->r, n, 0, "massless is a point or a list of points");
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
    const carom_datum *n = carom_given(&d->of->record);
    if (!n || carom_datum_empty(n)) return CAROM_OK;
    if (n->kind == CAROM_MAP)
        return carom_fault(d->r, n, 0, "record is a list of displacement, velocity, stress, unknowns");
    for (const carom_datum *item = carom_ones(n); item != carom_ones_end(n); ++item) {
        int k = 0;
        while (words[k] && (item->kind != CAROM_TEXT || strcmp(words[k], item->text) != 0)) ++k;
        const char *near = !words[k] && item->kind == CAROM_TEXT ? carom_nearest(item->text, list_item, words) : NULL;
        if (!words[k])
            return carom_fault(
                d->r, item, 0,
                "this cannot be recorded%s%s%s; expected one of displacement, velocity, stress, unknowns",
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        if (k == 2 && d->def.kind == CAROM_MATRICES)
            return carom_fault(d->r, item, 0, "stresses are not available in a member given by matrices");
        if (k == 3) b->unknowns = true;
        else b->fields |= 1u << k;
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

static double course_at(const course *x, int c, double s) {
    return x->column ? x->column[(int)s - 1] : at(&x->f[c], s);
}

static void load(void *user, double s, double *p) {
    const course *x = user;
    for (int c = 0; c < x->components; ++c) p[c] = course_at(x, c, s);
}

static carom_status read_course(draft *d, const carom_datum *n, const char *key, bool slopes, course *x) {
    x->components = carom_member_components(d->def.kind);
    if (n->kind != CAROM_MAP || d->def.kind != CAROM_MATRICES) return read_profiles(d, n, key, slopes, x->f);
    if (!n->item) return carom_fault(d->r, n, 0, "%s is empty; write {vector: NAME}, or an expression", key);
    if (n->count != 1 || !carom_datum_is(n->item->key, "vector"))
        return carom_fault(d->r, n->item->key, 0, "%s is an expression, or a column of a file: {vector: NAME}", key);
    x->column = calloc((size_t)d->def.elements + 1, sizeof *x->column);
    return x->column ? carom_resolve_matrix_column(d->r, n->item, key, d->def.elements + 1, x->column)
                     : carom_fault_memory(d->r);
}

static void release_course(course *x) {
    for (int c = 0; c < CAROM_MEMBER_COMPONENTS; ++c) release(&x->f[c]);
    free(x->column);
}

// Damping ratios: a number is that of the lowest modes.
static carom_status read_modal(draft *d, double *ratio) {
    enum { LOWEST = 10 };
    const carom_datum *n = carom_given(&d->of->modal_damping);
    if (!n) return CAROM_OK;
    if (n->kind == CAROM_MAP)
        return carom_fault(d->r, n, 0, "modal damping is a number, or a list: one for each of the lowest modes");
    const int count = n->kind == CAROM_LIST ? n->count : LOWEST;
    if (count > CAROM_MEMBER_MODES)
        return carom_fault(d->r, n, 0, "modal damping of %d modes; at most %d can be given", count, CAROM_MEMBER_MODES);
    for (int i = 0; i < count; ++i) {
        const carom_datum *item = n->kind == CAROM_LIST ? &n->item[i] : n;
        CAROM_TRY(carom_resolve_number(d->r, item, "modal damping", &ratio[i]));
        if (!(ratio[i] >= 0 && ratio[i] < 1))
            return carom_fault(d->r, item, 0, "the modal damping ratio must be at least 0 and less than 1, got %g",
                               ratio[i]);
    }
    d->def.modal = ratio;
    d->def.nmodal = count;
    return CAROM_OK;
}

static carom_status create(draft *d, member *b) {
    course x = {0};
    double ratio[CAROM_MEMBER_MODES];
    CAROM_TRY(read_modal(d, ratio));
    carom_status status = read_course(d, &d->of->load, "load", false, &x);
    carom_error err = {0};
    if (carom_given(&d->of->load)) {
        d->def.load = load;
        d->def.load_user = &x;
    }
    if (status == CAROM_OK) {
        b->flex = carom_member_create(&d->def, &err);
        if (!b->flex) status = carom_fault(d->r, &d->of->name, 0, "%s: %s", d->where, err.text);
    }
    release_course(&x);
    return status;
}

// Names of the unknowns: rod.u0, rod.u1, ...
static bool name_unknowns(member *b) {
    b->stride = strlen(b->name) + 20;
    b->unknown_name = malloc(2 * (size_t)b->count * b->stride);
    b->visible = calloc((size_t)b->count, sizeof *b->visible);
    for (int i = 0; b->unknown_name && i < b->count; ++i) {
        int node, c;
        carom_member_place(b->flex, i, &node, &c);
        char *text = b->unknown_name + (size_t)i * b->stride;
        const char *word = carom_member_component(b->kind, c);
        snprintf(text, b->stride, "%s.%s%d", b->name, word, number_of(b, node));
        snprintf(text + (size_t)b->count * b->stride, b->stride, "%s.%s%d'", b->name, word, number_of(b, node));
    }
    return b->unknown_name && b->visible;
}

static carom_status read_state(draft *d, const member *b, const carom_datum *n, const char *key, double *x) {
    course along = {0};
    carom_status status = read_course(d, n, key, true, &along);
    for (int i = 0; i < b->count && status == CAROM_OK; ++i) {
        int node, c;
        carom_member_place(b->flex, i, &node, &c);
        const double s = arc_of(b, node);
        if (along.f[c].tape || along.column) x[i] = course_at(&along, c, s);
        if (!isfinite(x[i])) status = carom_fault(d->r, n, 0, "no finite value at node %d (s = %g)", node, s);
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
        sum = n_add(g, sum, n_mul(g, carom_graph_number(g, weight[k]), kind == CAROM_POSITION ? x : y));
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
    const int axis = c - b->components, axes = b->kind == CAROM_EXACT_BEAM || b->kind == CAROM_MATRICES  ? 0
                                               : b->kind == CAROM_SPATIAL_BEAM || b->kind == CAROM_SHAFT ? 3
                                                                                                         : 2;
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
            if (!text || node == CAROM_NONE || rate == CAROM_NONE) return carom_fault_memory(d->r);
            snprintf(text, size, "%s.%s.%s", b->name, d->point[p], word);
            if (carom_names_find(&m->names, text, size - 1))
                return carom_fault(d->r, &d->of->name, 0, "'%s' is already defined as %s; rename one of them", text,
                                   carom_name_kind(carom_names_find(&m->names, text, size - 1)->kind));
            name *n = carom_names_add(&m->names, text, NAME_POINT, 0, b->at->line);
            if (!n) return carom_fault_memory(d->r);
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
        return carom_fault(d->r, &d->of->frame, 0, "a floating frame is for `beam` and `spatial beam`%s",
                           d->def.kind == CAROM_EXACT_BEAM ? "; an `exact beam` moves freely as it is"
                           : d->def.kind == CAROM_SHAFT    ? ", which spins and whirls too"
                                                           : "");
    CAROM_TRY(read_numbers(d));
    CAROM_TRY(read_points(d));
    if (d->def.kind == CAROM_SHAFT) CAROM_TRY(carom_derive_shaft(d));
    if (d->def.kind == CAROM_SHAFT) CAROM_TRY(carom_derive_flywheels(d));
    CAROM_TRY(read_fix(d));
    return read_massless(d);
}

carom_status carom_draft_values(draft *d, const carom_datum *n, const char *key, double *x) {
    course along = {0};
    const int per = carom_member_components(d->def.kind);
    carom_status status = read_course(d, n, key, true, &along);
    for (int i = 0; i < (d->def.elements + 1) * per && status == CAROM_OK; ++i) {
        const double s = d->def.length * (i / per) / d->def.elements;
        if (along.f[i % per].tape) x[i] = course_at(&along, i % per, s);
        if (!isfinite(x[i])) status = carom_fault(d->r, n, 0, "no finite value at node %d (s = %g)", i / per, s);
    }
    release_course(&along);
    return status;
}

static carom_status fill_member(draft *d, member *b) {
    resolver *r = d->r;
    carom_model *m = r->m;
    const carom_datum *n = &d->of->name;
    CAROM_TRY(carom_new_name(r, n, false, &m->names));
    if (!carom_names_add(&m->names, n->text, NAME_MEMBER, 0, n->line)) return carom_fault_memory(r);
    CAROM_TRY(carom_draft_read(d));
    *b = (member){.name = n->text,
                  .at = n,
                  .kind = d->def.kind,
                  .length = d->def.length,
                  .nodes = d->def.elements + 1,
                  .components = carom_member_components(d->def.kind),
                  .q = m->nq,
                  .v = m->nv,
                  .point = d->point,
                  .place = d->place,
                  .npoint = d->npoint};
    ++m->nmember; // from here on it is freed with the model
    CAROM_TRY(read_record(d, b));
    CAROM_TRY(create(d, b));
    b->count = carom_member_unknowns(b->flex);
    if (b->count > 500000000 - m->nv) return carom_fault(r, n, 0, "more than 5e8 unknowns; use fewer elements");
    double *q0 = take(r, (size_t)(m->nq + b->count), sizeof *q0), *v0 = take(r, (size_t)(m->nv + b->count), sizeof *v0);
    if (!q0 || !v0 || !name_unknowns(b)) return carom_fault_memory(r);
    carom_copy(q0, m->q0, m->nq);
    carom_copy(v0, m->v0, m->nv);
    m->q0 = q0;
    m->v0 = v0;
    carom_member_rest(b->flex, q0 + b->q);
    CAROM_TRY(read_state(d, b, &d->of->at, "at", q0 + b->q));
    CAROM_TRY(read_state(d, b, &d->of->rate, "rate", v0 + b->v));
    m->nq += b->count;
    m->nv += b->count;
    return name_points(d, b);
}

static carom_status read_member(resolver *r, const carom_mech_member *of, member *b) {
    draft d = {.r = r, .of = of};
    snprintf(d.where, sizeof d.where, "flexible member '%.60s'", of->name.text);
    const carom_status status = fill_member(&d, b);
    for (int k = 0; k < 3; ++k) carom_triplets_free(&d.matrix[k]);
    return status;
}

carom_status carom_derive_members(resolver *r) {
    carom_model *m = r->m;
    int count = 0;
    for (int i = 0; i < r->mech->nmembers; ++i) count += !carom_floating(&r->mech->members[i]);
    carom_model_visible_own(r->m, count > 0);
    m->members = take(r, (size_t)count, sizeof *m->members);
    if (!m->members) return carom_fault_memory(r);
    for (int i = 0; i < r->mech->nmembers; ++i)
        if (!carom_floating(&r->mech->members[i]))
            CAROM_TRY(read_member(r, &r->mech->members[i], &m->members[m->nmember]));
    return CAROM_OK;
}

// -- exact solutions ---------------------------------------------------------------------------------------------

// `exact: {rod.u: ..}`: an expression of s and t, for every unknown of that component.
carom_status carom_derive_member_exact(resolver *r, const carom_datum *n, unsigned scope, bool *taken) {
    carom_model *m = r->m;
    const char *dot = strrchr(n->key->text, '.');
    *taken = false;
    for (int k = 0; dot && k < m->nmember; ++k) {
        const member *b = &m->members[k];
        if (strlen(b->name) != (size_t)(dot - n->key->text) || strncmp(b->name, n->key->text, strlen(b->name)) != 0)
            continue;
        for (int i = 0; i < b->count; ++i) {
            int node, c;
            carom_member_place(b->flex, i, &node, &c);
            if (strcmp(carom_member_component(b->kind, c), dot + 1) != 0) continue;
            *taken = r->arc_known = true;
            r->arc = arc_of(b, node);
            const carom_status status =
                carom_resolve_expression(r, n, scope | SCOPE_ARC, "the exact solution", &m->exact[b->q + i]);
            r->arc_known = false;
            CAROM_TRY(status);
        }
    }
    return CAROM_OK;
}

// -- in expressions -------------------------------------------------------------------------------------------------

static carom_node node_value(resolver *r, member *b, int node, const char *word, int primes) {
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

carom_node carom_member_lookup(resolver *r, const char *word, int primes) {
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
