// draw.c: the `draw` section: shapes by name, and under `contacts` the places where contacts and constraints act.
//
// It is read after the model has been compiled: its expressions share the model's graph, and what was compiled before
// must not depend on them in any bit.
#include "derive/draw/draw.h"
#include "base/option.h"
#include "derive/draw/words.h"
#include "derive/shapes/shapes.h"
#include <carom/option.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCOPE_DRAW = SCOPE_STATE | SCOPE_OUTS };

static const char *const colours[] = {"blue", "orange", "green", "red", "purple", "sky", "yellow", "grey", NULL};

// How a figure is written: `word: value`, the value being sizes or points.
typedef struct form {
    const char *word;
    int least, most; // points of the list; 0: the value is sizes, the place is `at`
    int sizes[2];    // number of sizes in the plane and in space; 0: not there
} form;

static const form forms[] = {
    [CAROM_POINT] = {"point", 1, 1, {1, 1}},
    [CAROM_SEGMENT] = {"segment", 2, 2, {1, 1}},
    [CAROM_LINE] = {"line", 2, 100000, {1, 1}},
    [CAROM_POLYGON] = {"polygon", 3, 100000, {1, 0}},
    [CAROM_WALL] = {"wall", 2, 100000, {1, 0}},
    [CAROM_SPRING] = {"spring", 2, 2, {1, 1}},
    [CAROM_BOX] = {"box", 0, 0, {2, 3}},
    [CAROM_CIRCLE] = {"circle", 0, 0, {1, 0}},
    [CAROM_SPHERE] = {"sphere", 0, 0, {0, 1}},
    [CAROM_CYLINDER] = {"cylinder", 0, 0, {0, 2}},
};
enum { FORMS = sizeof forms / sizeof *forms };

const char *carom_figure_word(carom_figure f) {
    if (f == CAROM_CONTACT_MARKER) return "contact";
    if (f == CAROM_CONVEX) return "hull";
    if (f == CAROM_ELLIPSOID) return "ellipsoid";
    if (f == CAROM_SURFACE) return "surface";
    return (unsigned)f < FORMS ? forms[f].word : NULL;
}

static carom_status add_expression(resolver *r, const carom_datum *n, const char *what) {
    carom_node node = CAROM_NONE;
    CAROM_TRY(carom_resolve_expression(r, n, SCOPE_DRAW, what, &node));
    return carom_draw_value(r, n, node);
}

// -- points and numbers ---------------------------------------------------------------------------------

// YAML cuts [max(x, 0), y] into three: that is no point in space.
static carom_status whole(resolver *r, const carom_datum *list) {
    for (const carom_datum *c = carom_first(list); c != carom_end(list); ++c)
        if (c->kind == CAROM_TEXT && carom_datum_cut(c))
            return carom_fault(r, c, 0, "'%.60s' was split at a comma; %s", c->text, carom_advice_comma);
    return CAROM_OK;
}

// [x, y] or [x, y, z], in the frame of body `of`; the first one in the file decides which.
static carom_status add_point(resolver *r, const carom_datum *n, const char *what, int of) {
    struct drawn *d = r->m->drawn;
    int k = 0;
    CAROM_TRY(whole(r, n));
    if (n->kind != CAROM_LIST || n->count < 2 || n->count > 3 || n->item->kind != CAROM_TEXT)
        return carom_fault(r, n, 0, "%s is a point: [x, y] in the plane, [x, y, z] in space", what);
    if (!d->dim_from) d->dim = n->count, d->dim_from = n;
    if (n->count != d->dim)
        return carom_fault(r, n, 0,
                           "this point has %d coordinates, the one in line %d has %d; a drawing is planar or spatial",
                           n->count, d->dim_from->line, d->dim);
    carom_node p[3], world[3];
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c, ++k)
        CAROM_TRY(carom_resolve_expression(r, c, SCOPE_DRAW, what, &p[k]));
    if (of) carom_draw_in_body(r, &r->m->bodies[of], d->dim, p, world);
    for (int i = 0; i < k; ++i) CAROM_TRY(carom_draw_value(r, n, of ? world[i] : p[i]));
    return CAROM_OK;
}

static carom_status add_points(resolver *r, const carom_datum *n, const form *f, int of, int *count) {
    char what[60];
    snprintf(what, sizeof what, "the %s", f->word);
    *count = 1;
    if (f->most == 1) return add_point(r, n, what, of);
    if (n->kind != CAROM_LIST || n->count < f->least || n->count > f->most)
        return carom_fault(r, n, 0, "a %s is a list of %s%d points: %s: [[0, 0], [x, y]]", f->word,
                           f->most > f->least ? "at least " : "", f->least, f->word);
    *count = n->count;
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c) CAROM_TRY(add_point(r, c, what, of));
    return CAROM_OK;
}

// An expression, or a list of `most` of them.
static carom_status add_sizes(resolver *r, const carom_datum *n, const form *f, int most) {
    char what[60];
    snprintf(what, sizeof what, "the size of a %s", f->word);
    if (most == 1) return add_expression(r, n, what);
    if (n->kind != CAROM_LIST || n->count != most)
        return carom_fault(r, n, 0, "a %s needs %d sizes in a list, e.g. %s", f->word, most,
                           most == 2 ? "[0.2, 0.1]" : "[0.2, 0.1, 0.1]");
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c) CAROM_TRY(add_expression(r, c, what));
    return CAROM_OK;
}

// The dimension that a shape placed by `at` lives in: that of `at`.
static int dim_of(const struct drawn *d, const carom_datum *at) {
    return d->dim_from ? d->dim : at && at->kind == CAROM_LIST && at->count == 3 ? 3 : 2;
}

static carom_status add_centre(resolver *r, const carom_datum *n, const body *b, int dim) {
    struct drawn *d = r->m->drawn;
    if (!d->dim_from) d->dim = dim, d->dim_from = n;
    for (int i = 0; i < dim; ++i) CAROM_TRY(carom_draw_value(r, n, b->r[i]));
    return CAROM_OK;
}

// Turned with its body; in the plane by an angle of its own as well.
static carom_status add_turn_of(resolver *r, const carom_datum *name, const carom_datum *angle, const carom_datum *turn,
                                int dim, carom_drawn *s) {
    carom_node own = CAROM_NONE, x[4];
    if (turn)
        return carom_fault(r, turn->key, 0, "'%.60s' turns with its body; draw what is turned otherwise by points",
                           s->name);
    s->rotation = carom_draw_turn(r, &r->m->bodies[s->of], dim, x);
    if (angle) {
        CAROM_TRY(carom_resolve_expression(r, angle, SCOPE_DRAW, "the angle", &own));
        x[0] = n_add(r->m->graph, x[0], own);
    }
    for (int i = 0; i < s->rotation; ++i) CAROM_TRY(carom_draw_value(r, angle ? angle : name, x[i]));
    return CAROM_OK;
}

static carom_status add_placed(resolver *r, const carom_mech_figure *of, carom_drawn *s) {
    const form *f = &forms[s->figure];
    const carom_datum *value = &of->size, *at = carom_given(&of->at), *angle = carom_given(&of->angle),
                      *turn = carom_given(&of->turn);
    const int dim = at || r->m->drawn->dim_from || !s->of  ? dim_of(r->m->drawn, at)
                    : r->m->bodies[s->of].space == SPATIAL ? 3
                                                           : 2;
    if (!at && !s->of)
        return carom_fault(r, &of->name, 0, "the %s '%.60s' has no place; add `at: [x, y]`", f->word, s->name);
    CAROM_TRY(whole(r, at));
    s->sizes = f->sizes[dim - 2];
    if (s->sizes == 0)
        return carom_fault(r, value->key, 0, "there is no %s in %s; %s", f->word, dim == 2 ? "the plane" : "space",
                           s->figure == CAROM_CIRCLE   ? "write `sphere`"
                           : s->figure == CAROM_SPHERE ? "write `circle`"
                                                       : "write `box`");
    CAROM_TRY(add_sizes(r, value, f, s->sizes));
    s->points = 1;
    if (at) CAROM_TRY(add_point(r, at, "at", s->of));
    else CAROM_TRY(add_centre(r, value, &r->m->bodies[s->of], dim));
    if (angle && dim == 3)
        return carom_fault(r, angle->key, 0, "in space a shape is turned by `turn`, not by an angle");
    if (turn && dim == 2) return carom_fault(r, turn->key, 0, "in the plane a shape is turned by `angle`");
    if (s->of) return add_turn_of(r, &of->name, angle, turn, dim, s);
    if (angle) {
        s->rotation = 1;
        return add_expression(r, angle, "the angle");
    }
    if (!turn) return CAROM_OK;
    if (turn->kind != CAROM_LIST || turn->count < 3 || turn->count > 4)
        return carom_fault(r, turn, 0,
                           "turn is a rotation vector (axis times angle) [x, y, z] or a quaternion [w, x, y, z]");
    s->rotation = turn->count;
    for (const carom_datum *c = carom_first(turn); c != carom_end(turn); ++c)
        CAROM_TRY(add_expression(r, c, "the turn"));
    return CAROM_OK;
}

static carom_status add_lined(resolver *r, const carom_mech_figure *of, carom_drawn *s) {
    const form *f = &forms[s->figure];
    const carom_datum *value = &of->size,
                      *width = carom_given(&of->width), *const wrong[] = {&of->at, &of->angle, &of->turn};
    for (int k = 0; k < 3; ++k)
        if (carom_given(wrong[k]))
            return carom_fault(r, wrong[k]->key, 0, "a %s is placed by its points; remove `%s`", f->word,
                               wrong[k]->key->text);
    s->sizes = width ? 1 : 0;
    if (width) CAROM_TRY(add_expression(r, width, "the width"));
    CAROM_TRY(add_points(r, value, f, s->of, &s->points));
    if (f->sizes[r->m->drawn->dim - 2] == 0)
        return carom_fault(r, value->key, 0, "there is no %s in space; write `line` or `box`", f->word);
    return CAROM_OK;
}

// -- looks ------------------------------------------------------------------------------------------------

static const char *colour_at(const void *user, int i) { return (void)user, colours[i]; }

static carom_status read_colour(resolver *r, const carom_datum *n, const char **colour) {
    if (n->kind != CAROM_TEXT || n->length == 0) return carom_fault(r, n, 0, "a colour is a word or \"#rrggbb\"");
    bool good = n->length == 7 && n->text[0] == '#';
    for (size_t i = 1; good && i < 7; ++i) good = isxdigit((unsigned char)n->text[i]);
    for (int k = 0; !good && colours[k]; ++k) good = strcmp(colours[k], n->text) == 0;
    *colour = n->text;
    if (good) return CAROM_OK;
    const char *near = carom_nearest(n->text, colour_at, NULL);
    if (near) return carom_fault(r, n, 0, "unknown colour '%.40s'; did you mean '%s'?", n->text, near);
    return carom_fault(
        r, n, 0,
        "unknown colour '%.40s'; expected one of blue, orange, green, red, purple, sky, yellow, grey and \"#rrggbb\"",
        n->text);
}

static carom_status read_looks(resolver *r, const carom_datum *colour, const carom_datum *other, carom_drawn *s) {
    if (carom_given(colour) && carom_given(other))
        return carom_fault(r, other->key, 0, "`colour` and `color` are synonyms; give only one");
    if (!carom_given(colour)) colour = other;
    return carom_given(colour) ? read_colour(r, colour, &s->colour) : CAROM_OK;
}

static carom_status read_trace(resolver *r, const carom_datum *n, carom_drawn *s) {
    s->trace = carom_datum_is(n, "yes");
    if (!carom_given(n) || s->trace || carom_datum_is(n, "no")) return CAROM_OK;
    return carom_fault(r, n, 0, "trace is yes or no");
}

// -- shapes -----------------------------------------------------------------------------------------------

// `of: BODY`: places are in that body's frame.
static carom_status read_of(resolver *r, const carom_datum *n, carom_drawn *s) {
    const body *b = NULL;
    if (!n) return CAROM_OK;
    CAROM_TRY(carom_find_body(r, n, &b));
    s->of = (int)(b - r->m->bodies);
    return CAROM_OK;
}

// Something that draws itself, and that `NAME: none` hides?
static bool is_part(const carom_model *m, const char *name) {
    for (int i = 1; i < m->nbodies; ++i)
        if (strcmp(m->bodies[i].name, name) == 0) return true;
    for (int i = 0; i < m->njoints; ++i)
        if (strcmp(m->joints[i].name, name) == 0) return true;
    for (const strut *s = m->struts; s; s = s->next)
        if (strcmp(s->name, name) == 0) return true;
    for (int i = 0; i < m->nmember; ++i)
        if (strcmp(m->members[i].name, name) == 0) return true;
    return false;
}

static carom_status read_figure(resolver *r, const carom_mech_figure *of) {
    const char *name = of->name.text;
    if (carom_datum_is(&of->none, "none") && is_part(r->m, name)) return CAROM_OK;
    char where[100];
    snprintf(where, sizeof where, "shape '%.60s'", name);
    if (carom_given(&of->none))
        return carom_fault(r, &of->none, 0, "%s must be a map (`name: value`), got a single value", where);
    carom_drawn *s = NULL;
    CAROM_TRY(carom_draw_shape(r, &of->name, name, CAROM_POINT, &s));
    CAROM_TRY(read_of(r, carom_given(&of->of), s));
    if (!carom_given(&of->size))
        return carom_fault(r, &of->name, 0,
                           "%s has no shape key; expected point, segment, line, polygon, wall, spring, box, circle, "
                           "sphere or cylinder",
                           where);
    for (int k = 0; k < FORMS; ++k)
        if (carom_datum_is(of->size.key, forms[k].word)) s->figure = (carom_figure)k;
    CAROM_TRY(read_looks(r, &of->colour, &of->color, s));
    CAROM_TRY(read_trace(r, &of->trace, s));
    if (carom_given(&of->width) && forms[s->figure].least < 2 && s->figure != CAROM_POINT)
        return carom_fault(r, of->width.key, 0, "a %s has its size already; remove `width`", forms[s->figure].word);
    return forms[s->figure].least ? add_lined(r, of, s) : add_placed(r, of, s);
}

// -- contacts ---------------------------------------------------------------------------------------------

static const char *link_name(const void *user, int i) {
    const carom_model *m = user;
    return i < m->ne + m->nc ? m->links[i].name : NULL;
}

// NAME of the contacts NAME.1, NAME.2, ... that are parts of one gap, the first of them being c?
static bool is_whole(const constraint *c, const char *name) {
    const size_t n = strlen(name);
    return c->parts > 0 && strncmp(c->name, name, n) == 0 && strcmp(c->name + n, ".1") == 0;
}

// *count contacts from *id on have this name: one, or the parts of a gap.
static carom_status find_links(resolver *r, const carom_datum *name, int *id, int *count) {
    const carom_model *m = r->m;
    for (*id = 0; *id < m->ne + m->nc; ++*id) {
        const constraint *c = &m->links[*id];
        *count = is_whole(c, name->text) ? c->parts : 1;
        if (*count > 1 || strcmp(c->name, name->text) == 0) return CAROM_OK;
    }
    const char *near = carom_nearest(name->text, link_name, m);
    if (near)
        return carom_fault(r, name, 0, "unknown contact or constraint '%.60s'; did you mean '%s'?", name->text, near);
    return carom_fault(r, name, 0, "unknown contact or constraint '%.60s'", name->text);
}

// Derivatives of x along all velocities (of a slip rate: by them) that are not zero.
static bool gradient(carom_model *m, terms *list, carom_node x, bool rate, int i) {
    carom_graph *g = m->graph;
    for (int j = 0; j < m->visible.nv; ++j) {
        if (!(rate ? carom_graph_depends(g, x, CAROM_VELOCITY, j) : carom_graph_moves(g, x, j))) continue;
        const carom_node d = rate ? carom_graph_diff(g, x, CAROM_VELOCITY, j) : carom_graph_along(g, x, j);
        double value = 1;
        if (carom_graph_is_number(g, d, &value) && value == 0) continue;
        if (!carom_terms_add(list, d, i, j, 0)) return false;
    }
    return true;
}

// Directions: `normal` and `tangent` as written, or zeros that carom_drawing_eval() replaces.
static carom_status add_direction(resolver *r, const carom_datum *n, const char *key, touch *t) {
    struct drawn *d = r->m->drawn;
    t->given[t->directions++] = carom_given(n) != NULL;
    if (carom_given(n)) return add_point(r, n, key, 0);
    for (int k = 0; k < d->dim; ++k) CAROM_TRY(carom_draw_value(r, n, carom_graph_number(r->m->graph, 0)));
    return CAROM_OK;
}

static carom_status add_touch(resolver *r, const carom_mech_touch *of, int id) {
    const carom_datum *const tangent[] = {&of->tangent, &of->tangent2}, *at = carom_given(&of->at);
    static const char *const words[] = {"tangent", "tangent2"};
    carom_model *m = r->m;
    struct drawn *d = m->drawn;
    char where[100];
    snprintf(where, sizeof where, "the place of '%.60s'", of->name.text);
    if (!at) return carom_fault(r, &of->name, 0, "%s is missing; write `%.60s: [x, y]`", where, of->name.text);
    carom_drawn *s = NULL;
    CAROM_TRY(carom_draw_shape(r, &of->name, m->links[id].name, CAROM_CONTACT_MARKER, &s));
    s->id = id;
    CAROM_TRY(read_looks(r, &of->colour, &of->color, s));
    CAROM_TRY(add_point(r, at, where, 0));
    touch *t = NULL;
    CAROM_TRY(carom_draw_add_touch(r, &t));
    const constraint *c = &m->links[id];
    CAROM_TRY(carom_pair_expressed(r, id));
    CAROM_TRY(add_direction(r, &of->normal, "normal", t));
    for (int k = 0; k + 1 < c->ndir && k < 2; ++k) CAROM_TRY(add_direction(r, tangent[k], words[k], t));
    s->points = 1 + t->directions;
    bool good = true, all = true;
    for (int k = 0; k < d->dim && good; ++k) good = gradient(m, &t->J, d->node[s->first + k], false, k);
    for (int k = 0; k < t->directions && good; ++k) {
        const bool rate = k && c->rate[k - 1];
        all = all && t->given[k];
        good = gradient(m, &t->W, k ? c->slip[k - 1] : c->gap, rate, k);
    }
    if (!good) return carom_fault_memory(r);
    if (t->J.n == 0 && !all)
        return carom_fault(
            r, at, 0, "%s moves with no coordinate, so the direction of its force is not known; add `normal: [0, 1]`%s",
            where, t->directions > 1 ? " and `tangent: [1, 0]`" : "");
    return CAROM_OK;
}

// The place of a gap is that of all its parts, except those that have one of their own.
static carom_status read_touch(resolver *r, const carom_mech_touch *of) {
    int id = 0, count = 0;
    CAROM_TRY(find_links(r, &of->name, &id, &count));
    for (const int end = id + count; id < end; ++id)
        if (count == 1 || !carom_draw_placed(r->mech, r->m->links[id].name)) CAROM_TRY(add_touch(r, of, id));
    return CAROM_OK;
}

carom_status carom_derive_draw(resolver *r) {
    carom_model *m = r->m;
    m->drawn = calloc(1, sizeof *m->drawn);
    if (!m->drawn) return carom_fault_memory(r);
    m->drawn->dim = 2;
    for (int i = 0; i < r->mech->nfigures; ++i) CAROM_TRY(read_figure(r, &r->mech->figures[i]));
    CAROM_TRY(carom_draw_bodies(r));
    CAROM_TRY(carom_draw_members(r));
    for (int i = 0; i < r->mech->ntouches; ++i) CAROM_TRY(read_touch(r, &r->mech->touches[i]));
    CAROM_TRY(carom_draw_pairs(r));
    if (carom_graph_failed(m->graph))
        return carom_fault(r, r->mech->nfigures ? &r->mech->figures->name : carom_mech_start(r->mech), 0,
                           "the shapes of draw make the model too large; draw less");
    return CAROM_OK;
}

// Bodies and members draw themselves, from what the model is now: there is no need for it before somebody looks.
const struct drawn *carom_model_drawn(const carom_model *m, carom_error *err) {
    if (m->drawn) return m->drawn;
    carom_model *own = (carom_model *)m; // its graph belongs to this thread, too
    resolver r = {.m = own, .mech = m->whole, .err = err, .lazy = &carom_lazy_names, .values = carom_graph_create()};
    carom_status status =
        r.values ? carom_derive_draw(&r) : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a drawing");
    if (r.values) carom_graph_destroy(r.values);
    if (status == CAROM_OK) return m->drawn;
    carom_drawn_free(own->drawn);
    own->drawn = NULL;
    return NULL;
}
