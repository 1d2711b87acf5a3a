// contacts.c: the sections `constraints`, `contact defaults` and `contacts`.
#include "model/shapes/solids.h"
#include <carom/option.h>
#include <stdio.h>
#include <string.h>

typedef struct law { // restitution, tangential restitution, friction, levers of rolling and spinning resistance: values, and where friction was said
    double e, et, mu, roll, spin;
    bool mu_here;
} law;

static carom_status read_coefficient(reader *r, const carom_datum *map, const char *key, double high, double *value) {
    const carom_datum *n = carom_datum_get(map, key);
    if (!n) return CAROM_OK;
    CAROM_TRY(carom_read_number(r, n, key, value));
    if (*value >= 0 && *value <= high) return CAROM_OK;
    if (high == 1) return carom_read_fail(r, n, 0, "%s is %g; it must lie between 0 and 1", key, *value);
    return carom_read_fail(r, n, 0, "%s is %g; it must not be negative", key, *value);
}

static carom_status read_law(reader *r, const carom_datum *map, law *c) {
    CAROM_TRY(read_coefficient(r, map, "restitution", 1, &c->e));
    CAROM_TRY(read_coefficient(r, map, "tangential restitution", 1, &c->et));
    CAROM_TRY(read_coefficient(r, map, "friction", 1e300, &c->mu));
    c->mu_here = carom_datum_get(map, "friction") != NULL;
    return CAROM_OK;
}

static carom_status no_rates(reader *r, const carom_datum *n, carom_node x, const char *what, const char *remedy) {
    if (!carom_graph_depends(r->m->graph, x, CAROM_VELOCITY, -1)) return CAROM_OK;
    return carom_read_fail(r, n, 0, "%s depends on rates; %s", what, remedy);
}

static carom_status read_slip(reader *r, const carom_datum *n, bool rate, constraint *c) {
    carom_graph *g = r->m->graph;
    const int k = c->tangents++;
    c->rate[k] = rate;
    if (!rate) {
        CAROM_TRY(carom_read_expression(r, n, SCOPE_STATE, "the slip", &c->slip[k]));
        return no_rates(r, n, c->slip[k], "the slip", "it is a displacement: write `slip rate` instead");
    }
    CAROM_TRY(carom_read_expression(r, n, SCOPE_STATE, "the slip rate", &c->slip[k]));
    for (int i = 0; i < r->m->seen.nv; ++i) {
        if (!carom_graph_depends(g, c->slip[k], CAROM_VELOCITY, i)) continue;
        if (carom_graph_depends(g, carom_graph_diff(g, c->slip[k], CAROM_VELOCITY, i), CAROM_VELOCITY, -1))
            return carom_read_fail(
                r, n, 0, "the slip rate is not linear in the rates; write it as a sum of factors times rates");
    }
    if (!carom_graph_depends(g, c->slip[k], CAROM_VELOCITY, -1))
        return carom_read_fail(r, n, 0, "the slip rate holds no rate; write `slip` for a displacement");
    return CAROM_OK;
}

static carom_status read_slips(reader *r, const carom_datum *map, constraint *c) {
    const carom_datum *slip = carom_datum_get(map, "slip"), *rate = carom_datum_get(map, "slip rate");
    if (slip && rate)
        return carom_read_fail(r, rate->key, 0, "contact '%s' has both slip and slip rate; keep one", c->name);
    const carom_datum *n = slip ? slip : rate;
    if (!n) return CAROM_OK;
    if (n->kind != CAROM_LIST) return read_slip(r, n, n == rate, c);
    if (n->count < 1 || n->count > CAROM_TANGENTS)
        return carom_read_fail(r, n, 0, "a contact has one slip (planar), two (spatial) or up to %d (with rolling and spinning), not %d", CAROM_TANGENTS, n->count);
    for (const carom_datum *item = carom_first(n); item != carom_end(n); ++item) CAROM_TRY(read_slip(r, item, n == rate, c));
    return CAROM_OK;
}

// CONTACT.gap, CONTACT.slip for outputs and checks.
static carom_status add_quantity(reader *r, const constraint *c, const char *part, carom_node node, carom_node rate) {
    const size_t size = strlen(c->name) + strlen(part) + 2;
    char *text = carom_pool_take(&r->m->memory, size);
    if (!text) return carom_read_memory(r);
    snprintf(text, size, "%s.%s", c->name, part);
    if (carom_names_find(&r->m->names, text, size - 1)) return CAROM_OK; // the model's own name of that kind wins
    name *n = carom_names_add(&r->m->outs, text, NAME_QUANTITY, (int)(c - r->m->links), c->line);
    if (!n) return carom_read_memory(r);
    n->node = node;
    n->rate = rate;
    return CAROM_OK;
}

static carom_status add_quantities(reader *r, const constraint *c) {
    CAROM_TRY(add_quantity(r, c, "gap", c->gap, CAROM_NONE));
    for (int k = 0; k < c->tangents; ++k) {
        char part[24] = "slip";
        if (c->tangents > 1) snprintf(part, sizeof part, "slip%d", k + 1);
        CAROM_TRY(add_quantity(r, c, part, c->rate[k] ? CAROM_NONE : c->slip[k], c->rate[k] ? c->slip[k] : CAROM_NONE));
    }
    return CAROM_OK;
}

// `point`, `side` and `radius` belong to `along`, and take the place of gap and slip.
static carom_status check_sweep(reader *r, const carom_datum *map) {
    static const char *const own[] = {"side", "radius"}, *const others[] = {"gap", "slip", "slip rate"};
    const carom_datum *point = carom_datum_get(map, "point");
    if (point && !carom_datum_get(map, "along")) return carom_read_fail(r, point->key, 0, "a point touches a flexible member: add `along:` with its name, or give a gap");
    for (int k = 0; k < 2; ++k)
        if (!point && carom_datum_get(map, own[k])) return carom_read_fail(r, carom_datum_get(map, own[k])->key, 0, "`%s` belongs to `point:`", own[k]);
    for (int k = 0; k < 3; ++k)
        if (point && carom_datum_get(map, others[k])) return carom_read_fail(r, carom_datum_get(map, others[k])->key, 0, "`%s` follows from `point:`; keep one of the two", others[k]);
    return CAROM_OK;
}

static carom_status read_swept(reader *r, const carom_datum *n, const law *fallback, constraint *c, carom_contact *out) {
    law l = *fallback;
    CAROM_TRY(carom_read_sweep(r, n, &r->m->members[r->along - r->m->members], r->along_node, c));
    CAROM_TRY(read_law(r, n, &l));
    if (!carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1)) {
        *c = (constraint){.name = c->name, .gap = CAROM_NONE}; // an element that is held, and a place that stays
        return CAROM_OK;
    }
    *out = (carom_contact){.restitution = l.e, .tangential_restitution = l.et, .friction = l.mu, .tangents = l.mu > 0};
    return CAROM_OK;
}

static carom_status read_contact(reader *r, const carom_datum *n, const law *fallback, constraint *c, carom_contact *out) {
    static const char *const keys[] = {"gap",         "slip",  "slip rate", "friction", "restitution", "tangential restitution",
                                       "along", "point", "side", "radius", "between", "among", NULL};
    char where[120];
    snprintf(where, sizeof where, "contact '%.60s'", c->name);
    const carom_datum *map = NULL;
    CAROM_TRY(carom_read_map(r, n, where, &map));
    if (map) CAROM_TRY(carom_read_keys(r, map, keys, where));
    const carom_datum *gap = carom_datum_get(map, "gap"), *point = carom_datum_get(map, "point");
    CAROM_TRY(check_sweep(r, map));
    if (point) return read_swept(r, n, fallback, c, out);
    if (!gap)
        return carom_read_fail(r, n->key, 0, "%s has no gap; add `gap:` with the distance that must not be negative, or "
                               "`between:` with two shapes", where);
    CAROM_TRY(carom_read_expression(r, gap, SCOPE_STATE, "the gap", &c->gap));
    CAROM_TRY(no_rates(r, gap, c->gap, "the gap", "it is a distance, made of positions and time"));
    if (r->along && !carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1)) {
        c->gap = CAROM_NONE; // a node that is held: no contact there
        return CAROM_OK;
    }
    if (!carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1))
        return carom_read_fail(
            r, gap, 0, "the gap of %s holds no coordinate, so no force can act there; remove the contact", where);
    c->line = gap->line;
    c->column = gap->column;
    CAROM_TRY(read_slips(r, map, c));
    law l = *fallback;
    CAROM_TRY(read_law(r, map, &l));
    if (l.mu > 0 && c->tangents == 0) {
        const carom_datum *place = l.mu_here ? carom_datum_get(map, "friction") : n->key;
        return carom_read_fail(
            r, place, 0,
            "%s has friction %g%s but no slip; add `slip:` (the tangential displacement), or `friction: 0`", where,
            l.mu, l.mu_here ? "" : " (from contact defaults)");
    }
    *out =
        (carom_contact){.restitution = l.e, .tangential_restitution = l.et, .friction = l.mu,
                        .tangents = l.mu > 0 ? c->tangents : 0}; // without friction the slip says nothing
    return CAROM_OK;
}

static bool has_corners(const shape *s) { return s->kind == SHAPE_POLYGON || s->kind == SHAPE_BOX; }
static bool is_ball(const shape *s) { return s->kind == SHAPE_ROUND; } // rolls on anything

// `rolling` and `spinning`: levers of the resistance, of round shapes that have friction.
static carom_status read_lever(reader *r, const pair *p, const char *key, const law *l, double *lever) {
    const carom_datum *n = carom_datum_get(p->entry, key);
    if (!n) return CAROM_OK;
    CAROM_TRY(read_coefficient(r, p->entry, key, 1e300, lever));
    if (*lever == 0) return CAROM_OK;
    if (lever == &l->spin && p->A->space != SPATIAL)
        return carom_read_fail(r, n, 0, "nothing spins about a normal in the plane; `spinning` is for contacts in space");
    if (!(l->mu > 0)) return carom_read_fail(r, n, 0, "%s resistance wants friction; add `friction:`", key);
    if ((has_corners(p->A) && !is_ball(p->B)) || (has_corners(p->B) && !is_ball(p->A)))
        return carom_read_fail(r, n, 0, "%s resistance is for what is round; '%s' and '%s' have %d contacts, with corners", key, p->A->name, p->B->name, p->count);
    return CAROM_OK;
}

// A contact whose expressions are elsewhere.
static constraint bare(const pair *p) {
    const int n = p->A->space == SPATIAL ? 2 : 1;
    constraint c = {.gap = CAROM_NONE, .tangents = p->rub.slides ? n + (p->rub.roll > 0 ? n : 0) + (p->rub.spin > 0) : 0};
    for (int k = 0; k < CAROM_TANGENTS; ++k) c.slip[k] = CAROM_NONE, c.rate[k] = k < c.tangents;
    return c;
}

// The contacts of a pair of shapes.
static carom_status read_pair(reader *r, pair *p, const law *fallback, names *taken) {
    static const char *const keys[] = {"between", "among", "friction", "restitution", "tangential restitution", "rolling", "spinning", NULL};
    carom_model *m = r->m;
    const char *entry = p->entry->key->text;
    char text[100];
    snprintf(text, sizeof text, "contact '%.60s'", entry);
    CAROM_TRY(carom_read_keys(r, p->entry, keys, text));
    law l = *fallback;
    CAROM_TRY(read_law(r, p->entry, &l));
    CAROM_TRY(read_lever(r, p, "rolling", &l, &l.roll));
    CAROM_TRY(read_lever(r, p, "spinning", &l, &l.spin));
    p->rub = (rubbing){l.mu > 0, l.mu > 0 ? l.roll / l.mu : 0, l.mu > 0 ? l.spin / l.mu : 0};
    p->shares = carom_pair_may_share(m, p);
    carom_pair_bound(m->graph, p);
    if (!p->shares) CAROM_TRY(carom_pair_express(r, p, &m->links[p->first]));
    for (int k = 0; k < p->count; ++k) {
        constraint *c = &m->links[p->first + k];
        if (p->shares) *c = bare(p);
        if (p->number) snprintf(text, sizeof text, "%.60s.%d", entry, p->number + k);
        else snprintf(text, sizeof text, "%.60s", entry);
        c->name = carom_pool_text(&m->memory, text, strlen(text));
        if (!c->name) return carom_read_memory(r);
        c->line = p->entry->key->line;
        c->column = p->entry->key->column;
        const name *other = carom_names_find(taken, c->name, strlen(c->name));
        if (other)
            return carom_read_fail(r, p->entry->key, 0, "contact '%.60s' is made twice (line %d); rename one of the two", c->name, other->line);
        if (!carom_names_add(taken, c->name, NAME_QUANTITY, p->first + k, c->line)) return carom_read_memory(r);
        m->contacts[p->first + k - m->ne] = (carom_contact){
            .restitution = l.e, .tangential_restitution = l.et, .friction = l.mu, .tangents = c->tangents};
        CAROM_TRY(add_quantities(r, c));
    }
    return CAROM_OK;
}

static carom_status read_constraint(reader *r, const carom_datum *n, constraint *c) {
    CAROM_TRY(carom_read_expression(r, n, SCOPE_STATE, "the constraint", &c->gap));
    CAROM_TRY(no_rates(r, n, c->gap, "the constraint", "it is an expression of positions and time that stays zero"));
    c->line = n->line;
    c->column = n->column;
    if (carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1)) return CAROM_OK;
    return carom_read_fail(r, n, 0, "constraint '%.60s' holds no coordinate; remove it", c->name);
}

static const char *member_text(const void *user, int i) {
    const carom_model *m = user;
    return i < m->nmember ? m->members[i].name : NULL;
}

// The member that a contact runs along; NULL: none.
static carom_status find_along(reader *r, const carom_datum *n, const member **b) {
    const carom_datum *along = carom_datum_get(n, "along");
    *b = NULL;
    for (int k = 0; along && along->kind == CAROM_TEXT && k < r->m->nmember; ++k)
        if (strcmp(r->m->members[k].name, along->text) == 0) *b = &r->m->members[k];
    if (!along || *b) return CAROM_OK;
    const char *near = along->kind == CAROM_TEXT ? carom_nearest(along->text, member_text, r->m) : NULL;
    return carom_read_fail(r, along, 0, "`along` wants the name of a flexible member%s%s%s", near ? "; did you mean '" : "",
                           near ? near : "", near ? "'?" : "");
}

static carom_status read_link(reader *r, const carom_datum *n, const law *fallback, names *taken, const char *name) {
    carom_model *m = r->m;
    const int id = m->ne + m->nc;
    constraint *c = &m->links[id];
    c->name = name;
    if (!carom_names_add(taken, name, NAME_QUANTITY, id, n->key->line)) return carom_read_memory(r);
    CAROM_TRY(read_contact(r, n, fallback, c, &m->contacts[m->nc]));
    if (c->gap == CAROM_NONE) return CAROM_OK;
    ++m->nc;
    return add_quantities(r, c);
}

// A constraint of a joint: read already.
static carom_status take_row(reader *r, int id, names *taken) {
    carom_model *m = r->m;
    constraint *c = &m->links[id];
    *c = m->rows[id];
    joint *j = &m->joints[c->joint];
    if (c->part == 1) {
        CAROM_TRY(carom_read_new_name(r, &(carom_datum){.key = (carom_datum *)j->place}, taken));
        if (!carom_names_add(taken, c->name, NAME_QUANTITY, id, c->line)) return carom_read_memory(r);
        j->first = id;
    }
    char part[24] = "gap";
    if (j->nrows > 1) snprintf(part, sizeof part, "gap%d", c->part);
    return add_quantity(r, c, part, c->gap, CAROM_NONE);
}

// One contact, or one for every node (element) of a member: NAME.0, NAME.1, ... by the numbers of the nodes.
static carom_status read_contacts(reader *r, const carom_datum *n, const law *fallback, names *taken) {
    CAROM_TRY(carom_read_new_owner(r, n, taken));
    CAROM_TRY(find_along(r, n, &r->along));
    if (!r->along) return read_link(r, n, fallback, taken, n->key->text);
    if (!carom_names_add(taken, n->key->text, NAME_QUANTITY, 0, n->key->line)) return carom_read_memory(r);
    const int before = r->m->nc, last = r->along->nodes - (carom_datum_get(n, "point") != NULL); // nodes, or elements
    for (r->along_node = 0; r->along_node < last; ++r->along_node) {
        const size_t size = n->key->length + 12;
        char *name = carom_pool_take(&r->m->memory, size);
        if (!name) return carom_read_memory(r);
        snprintf(name, size, "%s.%d", n->key->text, r->along_node + (r->along->kind == CAROM_MATRICES)); // rows count from 1
        CAROM_TRY(read_link(r, n, fallback, taken, name));
        r->m->links[r->m->ne + r->m->nc] = (constraint){0};
    }
    const carom_datum *place = carom_datum_get(n, carom_datum_get(n, "gap") ? "gap" : "point");
    const member *b = r->along;
    r->along = NULL;
    if (r->m->nc > before) return CAROM_OK;
    return carom_read_fail(r, place, 0, "the gap names nothing that moves along '%.60s'; write for instance %.60s.%s", b->name,
                           b->name, carom_member_component(b->kind, 0));
}

static int most_contacts(const reader *r, const carom_datum *contacts) {
    int most = 0;
    for (const carom_datum *n = carom_first(contacts); n != carom_end(contacts); ++n) {
        const carom_datum *along = carom_datum_get(n, "along");
        most += 1;
        for (int k = 0; along && along->kind == CAROM_TEXT && k < r->m->nmember; ++k)
            if (strcmp(r->m->members[k].name, along->text) == 0) most += r->m->members[k].nodes;
    }
    return most;
}

carom_status carom_read_links(reader *r) {
    static const char *const keys[] = {"restitution", "tangential restitution", "friction", NULL};
    carom_model *m = r->m;
    const carom_datum *constraints = NULL, *contacts = NULL, *defaults = NULL;
    CAROM_TRY(carom_read_map(r, carom_datum_get(r->root, "constraints"), "section constraints", &constraints));
    CAROM_TRY(carom_read_map(r, carom_datum_get(r->root, "contacts"), "section contacts", &contacts));
    CAROM_TRY(carom_read_map(r, carom_datum_get(r->root, "contact defaults"), "section contact defaults", &defaults));
    int touching = 0;
    CAROM_TRY(carom_read_pairs(r, contacts, &touching));
    const int ne = m->nrows + (constraints ? constraints->count : 0), nc = most_contacts(r, contacts) + touching;
    m->links = carom_pool_take(&m->memory, (size_t)(ne + nc + 1) * sizeof *m->links);
    m->contacts = carom_pool_take(&m->memory, (size_t)(nc + 1) * sizeof *m->contacts);
    if (!m->links || !m->contacts) return carom_read_memory(r);
    law fallback = {0};
    if (defaults) CAROM_TRY(carom_read_keys(r, defaults, keys, "contact defaults"));
    CAROM_TRY(read_law(r, defaults, &fallback));
    fallback.mu_here = false;
    names taken = {0}; // constraints and contacts share their names, which live beside those of expressions
    carom_status status = CAROM_OK;
    for (; m->ne < m->nrows && status == CAROM_OK; ++m->ne) status = take_row(r, m->ne, &taken);
    for (const carom_datum *n = carom_first(constraints); n != carom_end(constraints) && status == CAROM_OK; ++n) {
        constraint *c = &m->links[m->ne];
        c->name = n->key->text;
        status = carom_read_new_owner(r, n, &taken);
        if (status == CAROM_OK && !carom_names_add(&taken, c->name, NAME_QUANTITY, m->ne, n->key->line))
            status = carom_read_memory(r);
        if (status == CAROM_OK) status = read_constraint(r, n, c);
        if (status == CAROM_OK) status = add_quantities(r, c);
        ++m->ne;
    }
    for (const carom_datum *n = carom_first(contacts); n != carom_end(contacts) && status == CAROM_OK; ++n)
        if (!carom_datum_get(n, "between") && !carom_datum_get(n, "among")) status = read_contacts(r, n, &fallback, &taken);
    for (int i = 0; i < m->npairs && status == CAROM_OK; ++i) {
        m->pairs[i].first = m->ne + m->nc;
        status = read_pair(r, &m->pairs[i], &fallback, &taken);
        m->nc += m->pairs[i].count;
    }
    carom_names_free(&taken);
    return status;
}
