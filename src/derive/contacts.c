// contacts.c: constraints and contacts, and their laws.
#include "derive/shapes/solids.h"
#include <carom/option.h>
#include <stdio.h>
#include <string.h>

typedef struct law { // restitution, tangential restitution, friction, levers of rolling and spinning resistance: values, and where friction was said
    double e, et, mu, roll, spin;
    bool mu_here;
} law;

static carom_status read_coefficient(resolver *r, const carom_datum *n, double high, double *value) {
    if (!carom_given(n)) return CAROM_OK;
    const char *key = n->key->text;
    CAROM_TRY(carom_resolve_number(r, n, key, value));
    if (*value >= 0 && *value <= high) return CAROM_OK;
    if (high == 1) return carom_fault(r, n, 0, "%s is %g; it must lie between 0 and 1", key, *value);
    return carom_fault(r, n, 0, "%s is %g; it must not be negative", key, *value);
}

static carom_status read_law(resolver *r, const carom_datum *e, const carom_datum *et, const carom_datum *mu, law *c) {
    CAROM_TRY(read_coefficient(r, e, 1, &c->e));
    CAROM_TRY(read_coefficient(r, et, 1, &c->et));
    CAROM_TRY(read_coefficient(r, mu, 1e300, &c->mu));
    c->mu_here = carom_given(mu) != NULL;
    return CAROM_OK;
}

static carom_status law_of(resolver *r, const carom_mech_contact *of, law *c) {
    return read_law(r, &of->restitution, &of->tangential_restitution, &of->friction, c);
}

static carom_status no_rates(resolver *r, const carom_datum *n, carom_node x, const char *what, const char *remedy) {
    if (!carom_graph_depends(r->m->graph, x, CAROM_VELOCITY, -1)) return CAROM_OK;
    return carom_fault(r, n, 0, "%s depends on rates; %s", what, remedy);
}

static carom_status read_slip(resolver *r, const carom_datum *n, bool rate, constraint *c) {
    carom_graph *g = r->m->graph;
    const int k = c->tangents++;
    c->rate[k] = rate;
    if (!rate) {
        CAROM_TRY(carom_resolve_expression(r, n, SCOPE_STATE, "the slip", &c->slip[k]));
        return no_rates(r, n, c->slip[k], "the slip", "it is a displacement: write `slip rate` instead");
    }
    CAROM_TRY(carom_resolve_expression(r, n, SCOPE_STATE, "the slip rate", &c->slip[k]));
    for (int i = 0; i < r->m->seen.nv; ++i) {
        if (!carom_graph_depends(g, c->slip[k], CAROM_VELOCITY, i)) continue;
        if (carom_graph_depends(g, carom_graph_diff(g, c->slip[k], CAROM_VELOCITY, i), CAROM_VELOCITY, -1))
            return carom_fault(r, n, 0, "the slip rate is not linear in the rates; write it as a sum of factors times rates");
    }
    if (!carom_graph_depends(g, c->slip[k], CAROM_VELOCITY, -1))
        return carom_fault(r, n, 0, "the slip rate holds no rate; write `slip` for a displacement");
    return CAROM_OK;
}

static carom_status read_slips(resolver *r, const carom_mech_contact *of, constraint *c) {
    const carom_datum *slip = carom_given(&of->slip), *rate = carom_given(&of->slip_rate);
    if (slip && rate)
        return carom_fault(r, rate->key, 0, "contact '%s' has both slip and slip rate; keep one", c->name);
    const carom_datum *n = slip ? slip : rate;
    if (!n) return CAROM_OK;
    if (n->kind != CAROM_LIST) return read_slip(r, n, n == rate, c);
    if (n->count < 1 || n->count > CAROM_TANGENTS)
        return carom_fault(r, n, 0, "a contact has one slip (planar), two (spatial) or up to %d (with rolling and spinning), not %d", CAROM_TANGENTS, n->count);
    for (const carom_datum *item = carom_first(n); item != carom_end(n); ++item) CAROM_TRY(read_slip(r, item, n == rate, c));
    return CAROM_OK;
}

// CONTACT.gap, CONTACT.slip for outputs and checks.
static carom_status add_quantity(resolver *r, const constraint *c, const char *part, carom_node node, carom_node rate) {
    const size_t size = strlen(c->name) + strlen(part) + 2;
    char *text = carom_pool_take(&r->m->memory, size);
    if (!text) return carom_fault_memory(r);
    snprintf(text, size, "%s.%s", c->name, part);
    if (carom_names_find(&r->m->names, text, size - 1)) return CAROM_OK; // the model's own name of that kind wins
    name *n = carom_names_add(&r->m->outs, text, NAME_QUANTITY, (int)(c - r->m->links), c->place->line);
    if (!n) return carom_fault_memory(r);
    n->node = node;
    n->rate = rate;
    return CAROM_OK;
}

static carom_status add_quantities(resolver *r, const constraint *c) {
    CAROM_TRY(add_quantity(r, c, "gap", c->gap, CAROM_NONE));
    for (int k = 0; k < c->tangents; ++k) {
        char part[24] = "slip";
        if (c->tangents > 1) snprintf(part, sizeof part, "slip%d", k + 1);
        CAROM_TRY(add_quantity(r, c, part, c->rate[k] ? CAROM_NONE : c->slip[k], c->rate[k] ? c->slip[k] : CAROM_NONE));
    }
    return CAROM_OK;
}

// `point`, `side` and `radius` belong to `along`, and take the place of gap and slip.
static carom_status check_sweep(resolver *r, const carom_mech_contact *of) {
    const carom_datum *const own[] = {&of->side, &of->radius}, *const others[] = {&of->gap, &of->slip, &of->slip_rate}, *point = carom_given(&of->point);
    if (point && !carom_given(&of->along)) return carom_fault(r, point->key, 0, "a point touches a flexible member: add `along:` with its name, or give a gap");
    for (int k = 0; k < 2; ++k)
        if (!point && carom_given(own[k])) return carom_fault(r, own[k]->key, 0, "`%s` belongs to `point:`", own[k]->key->text);
    for (int k = 0; k < 3; ++k)
        if (point && carom_given(others[k])) return carom_fault(r, others[k]->key, 0, "`%s` follows from `point:`; keep one of the two", others[k]->key->text);
    return CAROM_OK;
}

static carom_status read_swept(resolver *r, const carom_mech_contact *of, const law *fallback, constraint *c, carom_contact *out) {
    law l = *fallback;
    CAROM_TRY(carom_derive_sweep(r, of, &r->m->members[r->along - r->m->members], r->along_node, c));
    CAROM_TRY(law_of(r, of, &l));
    if (!carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1)) {
        *c = (constraint){.name = c->name, .gap = CAROM_NONE}; // an element that is held, and a place that stays
        return CAROM_OK;
    }
    *out = (carom_contact){.restitution = l.e, .tangential_restitution = l.et, .friction = l.mu, .tangents = l.mu > 0};
    return CAROM_OK;
}

static carom_status read_contact(resolver *r, const carom_mech_contact *of, const law *fallback, constraint *c, carom_contact *out) {
    char where[120];
    snprintf(where, sizeof where, "contact '%.60s'", c->name);
    const carom_datum *gap = carom_given(&of->gap);
    CAROM_TRY(check_sweep(r, of));
    if (carom_given(&of->point)) return read_swept(r, of, fallback, c, out);
    if (!gap)
        return carom_fault(r, &of->name, 0, "%s has no gap; add `gap:` with the distance that must not be negative, or `between:` with two shapes", where);
    CAROM_TRY(carom_resolve_expression(r, gap, SCOPE_STATE, "the gap", &c->gap));
    CAROM_TRY(no_rates(r, gap, c->gap, "the gap", "it is a distance, made of positions and time"));
    if (r->along && !carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1)) {
        c->gap = CAROM_NONE; // a node that is held: no contact there
        return CAROM_OK;
    }
    if (!carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1))
        return carom_fault(r, gap, 0, "the gap of %s holds no coordinate, so no force can act there; remove the contact", where);
    c->place = gap;
    CAROM_TRY(read_slips(r, of, c));
    law l = *fallback;
    CAROM_TRY(law_of(r, of, &l));
    if (l.mu > 0 && c->tangents == 0) {
        const carom_datum *place = l.mu_here ? &of->friction : &of->name;
        return carom_fault(r, place, 0, "%s has friction %g%s but no slip; add `slip:` (the tangential displacement), or `friction: 0`", where, l.mu,
                           l.mu_here ? "" : " (from contact defaults)");
    }
    *out =
        (carom_contact){.restitution = l.e, .tangential_restitution = l.et, .friction = l.mu,
                        .tangents = l.mu > 0 ? c->tangents : 0}; // without friction the slip says nothing
    return CAROM_OK;
}

static bool has_corners(const shape *s) { return s->kind == SHAPE_POLYGON || s->kind == SHAPE_BOX; }
static bool is_ball(const shape *s) { return s->kind == SHAPE_ROUND; } // rolls on anything

// `rolling` and `spinning`: levers of the resistance, of round shapes that have friction.
static carom_status read_lever(resolver *r, const pair *p, const carom_datum *n, const law *l, double *lever) {
    if (!carom_given(n)) return CAROM_OK;
    const char *key = n->key->text;
    CAROM_TRY(read_coefficient(r, n, 1e300, lever));
    if (*lever == 0) return CAROM_OK;
    if (lever == &l->spin && p->A->space != SPATIAL)
        return carom_fault(r, n, 0, "nothing spins about a normal in the plane; `spinning` is for contacts in space");
    if (!(l->mu > 0)) return carom_fault(r, n, 0, "%s resistance wants friction; add `friction:`", key);
    if ((has_corners(p->A) && !is_ball(p->B)) || (has_corners(p->B) && !is_ball(p->A)))
        return carom_fault(r, n, 0, "%s resistance is for what is round; '%s' and '%s' have %d contacts, with corners", key, p->A->name, p->B->name, p->count);
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
static carom_status read_pair(resolver *r, pair *p, const law *fallback, names *taken) {
    carom_model *m = r->m;
    const carom_datum *entry = &p->entry->name;
    char text[100];
    law l = *fallback;
    CAROM_TRY(law_of(r, p->entry, &l));
    CAROM_TRY(read_lever(r, p, &p->entry->rolling, &l, &l.roll));
    CAROM_TRY(read_lever(r, p, &p->entry->spinning, &l, &l.spin));
    p->rub = (rubbing){l.mu > 0, l.mu > 0 ? l.roll / l.mu : 0, l.mu > 0 ? l.spin / l.mu : 0};
    p->shares = carom_pair_may_share(m, p);
    carom_pair_bound(m->graph, p);
    if (!p->shares) CAROM_TRY(carom_pair_express(r, p, &m->links[p->first]));
    for (int k = 0; k < p->count; ++k) {
        constraint *c = &m->links[p->first + k];
        if (p->shares) *c = bare(p);
        if (p->number) snprintf(text, sizeof text, "%.60s.%d", entry->text, p->number + k);
        else snprintf(text, sizeof text, "%.60s", entry->text);
        c->name = carom_pool_text(&m->memory, text, strlen(text));
        if (!c->name) return carom_fault_memory(r);
        c->place = entry;
        const name *other = carom_names_find(taken, c->name, strlen(c->name));
        if (other)
            return carom_fault(r, entry, 0, "contact '%.60s' is made twice%s; rename one of the two", c->name, carom_line_of(other->line).text);
        if (!carom_names_add(taken, c->name, NAME_QUANTITY, p->first + k, entry->line)) return carom_fault_memory(r);
        m->contacts[p->first + k - m->ne] = (carom_contact){
            .restitution = l.e, .tangential_restitution = l.et, .friction = l.mu, .tangents = c->tangents};
        CAROM_TRY(add_quantities(r, c));
    }
    return CAROM_OK;
}

// The law of pairs that come and go.
static carom_status read_rule(resolver *r, int i, const law *fallback) {
    struct near_pairs *x = r->m->near;
    near_rule *rule = &x->rule[i];
    law l = *fallback;
    CAROM_TRY(law_of(r, rule->entry, &l));
    if (carom_given(&rule->entry->rolling)) CAROM_TRY(read_coefficient(r, &rule->entry->rolling, 1e300, &l.roll));
    if (carom_given(&rule->entry->spinning)) CAROM_TRY(read_coefficient(r, &rule->entry->spinning, 1e300, &l.spin));
    rule->rub = (rubbing){l.mu > 0, l.mu > 0 ? l.roll / l.mu : 0, l.mu > 0 ? l.spin / l.mu : 0};
    const int first = x->npairs;
    CAROM_TRY(carom_near_samples(r, i));
    for (int k = first; k < x->npairs; ++k) {
        CAROM_TRY(read_lever(r, &x->pairs[k], &rule->entry->rolling, &l, &l.roll));
        CAROM_TRY(read_lever(r, &x->pairs[k], &rule->entry->spinning, &l, &l.spin));
    }
    const constraint c = x->npairs > first ? bare(&x->pairs[first]) : (constraint){0};
    rule->law = (carom_contact){.restitution = l.e, .tangential_restitution = l.et, .friction = l.mu, .tangents = c.tangents};
    return CAROM_OK;
}

static carom_status read_constraint(resolver *r, const carom_datum *n, constraint *c) {
    CAROM_TRY(carom_resolve_expression(r, n, SCOPE_STATE, "the constraint", &c->gap));
    CAROM_TRY(no_rates(r, n, c->gap, "the constraint", "it is an expression of positions and time that stays zero"));
    c->place = n;
    if (carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1)) return CAROM_OK;
    return carom_fault(r, n, 0, "constraint '%.60s' holds no coordinate; remove it", c->name);
}

static const char *member_text(const void *user, int i) {
    const carom_model *m = user;
    return i < m->nmember ? m->members[i].name : NULL;
}

// The member that a contact runs along; NULL: none.
static carom_status find_along(resolver *r, const carom_datum *along, const member **b) {
    *b = NULL;
    for (int k = 0; along && along->kind == CAROM_TEXT && k < r->m->nmember; ++k)
        if (strcmp(r->m->members[k].name, along->text) == 0) *b = &r->m->members[k];
    if (!along || *b) return CAROM_OK;
    const char *near = along->kind == CAROM_TEXT ? carom_nearest(along->text, member_text, r->m) : NULL;
    return carom_fault(r, along, 0, "`along` wants the name of a flexible member%s%s%s", near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static carom_status read_link(resolver *r, const carom_mech_contact *of, const law *fallback, names *taken, const char *name) {
    carom_model *m = r->m;
    const int id = m->ne + m->nc;
    constraint *c = &m->links[id];
    c->name = name;
    if (!carom_names_add(taken, name, NAME_QUANTITY, id, of->name.line)) return carom_fault_memory(r);
    CAROM_TRY(read_contact(r, of, fallback, c, &m->contacts[m->nc]));
    if (c->gap == CAROM_NONE) return CAROM_OK;
    ++m->nc;
    return add_quantities(r, c);
}

// A constraint of a joint: read already.
static carom_status take_row(resolver *r, int id, names *taken) {
    carom_model *m = r->m;
    constraint *c = &m->links[id];
    *c = m->rows[id];
    joint *j = &m->joints[c->joint];
    if (c->part == 1) {
        CAROM_TRY(carom_new_name(r, j->place, false, taken));
        if (!carom_names_add(taken, c->name, NAME_QUANTITY, id, c->place->line)) return carom_fault_memory(r);
        j->first = id;
    }
    char part[24] = "gap";
    if (j->nrows > 1) snprintf(part, sizeof part, "gap%d", c->part);
    return add_quantity(r, c, part, c->gap, CAROM_NONE);
}

// One contact, or one for every node (element) of a member: NAME.0, NAME.1, ... by the numbers of the nodes.
static carom_status read_contacts(resolver *r, const carom_mech_contact *of, const law *fallback, names *taken) {
    const carom_datum *n = &of->name;
    CAROM_TRY(carom_new_owner(r, n, false, taken));
    CAROM_TRY(find_along(r, carom_given(&of->along), &r->along));
    if (!r->along) return read_link(r, of, fallback, taken, n->text);
    if (!carom_names_add(taken, n->text, NAME_QUANTITY, 0, n->line)) return carom_fault_memory(r);
    const int before = r->m->nc, last = r->along->nodes - (carom_given(&of->point) != NULL); // nodes, or elements
    for (r->along_node = 0; r->along_node < last; ++r->along_node) {
        const size_t size = n->length + 12;
        char *name = carom_pool_take(&r->m->memory, size);
        if (!name) return carom_fault_memory(r);
        snprintf(name, size, "%s.%d", n->text, r->along_node + (r->along->kind == CAROM_MATRICES)); // rows count from 1
        CAROM_TRY(read_link(r, of, fallback, taken, name));
        r->m->links[r->m->ne + r->m->nc] = (constraint){0};
    }
    const member *b = r->along;
    r->along = NULL;
    if (r->m->nc > before) return CAROM_OK;
    return carom_fault(r, carom_given(&of->gap) ? &of->gap : &of->point, 0, "the gap names nothing that moves along '%.60s'; write for instance %.60s.%s", b->name,
                       b->name, carom_member_component(b->kind, 0));
}

static bool of_shapes(const carom_mech_contact *of) { return carom_given(&of->between) || carom_given(&of->among); }

static int most_contacts(const resolver *r) {
    int most = 0;
    for (int i = 0; i < r->mech->ncontacts; ++i) {
        most += 1;
        for (int k = 0; k < r->m->nmember; ++k)
            if (carom_datum_is(&r->mech->contacts[i].along, r->m->members[k].name)) most += r->m->members[k].nodes;
    }
    return most;
}

static carom_status read_constraints(resolver *r, names *taken) {
    carom_model *m = r->m;
    const carom_datum *map = &r->mech->constraints;
    for (; m->ne < m->nrows; ++m->ne) CAROM_TRY(take_row(r, m->ne, taken));
    for (const carom_datum *n = carom_first(map); n != carom_end(map); ++n) {
        constraint *c = &m->links[m->ne];
        c->name = n->key->text;
        CAROM_TRY(carom_new_owner(r, n->key, carom_datum_empty(n), taken));
        if (!carom_names_add(taken, c->name, NAME_QUANTITY, m->ne, n->key->line)) return carom_fault_memory(r);
        CAROM_TRY(read_constraint(r, n, c));
        CAROM_TRY(add_quantities(r, c));
        ++m->ne;
    }
    return CAROM_OK;
}

// Constraints and contacts share their names, which live beside those of expressions.
static carom_status read_links(resolver *r, names *taken) {
    carom_model *m = r->m;
    const carom_mech_law *defaults = r->mech->defaults;
    law fallback = {0};
    if (defaults) CAROM_TRY(read_law(r, &defaults->restitution, &defaults->tangential_restitution, &defaults->friction, &fallback));
    fallback.mu_here = false;
    CAROM_TRY(read_constraints(r, taken));
    for (int i = 0; i < r->mech->ncontacts; ++i)
        if (!of_shapes(&r->mech->contacts[i])) CAROM_TRY(read_contacts(r, &r->mech->contacts[i], &fallback, taken));
    for (int i = 0; i < m->npairs; ++i) {
        m->pairs[i].first = m->ne + m->nc;
        CAROM_TRY(read_pair(r, &m->pairs[i], &fallback, taken));
        m->nc += m->pairs[i].count;
    }
    for (int i = 0; m->near && i < m->near->nrules; ++i) CAROM_TRY(read_rule(r, i, &fallback));
    return CAROM_OK;
}

carom_status carom_derive_links(resolver *r) {
    carom_model *m = r->m;
    int touching = 0;
    CAROM_TRY(carom_derive_pairs(r, &touching));
    const int ne = m->nrows + r->mech->constraints.count, nc = most_contacts(r) + touching;
    m->links = carom_pool_take(&m->memory, (size_t)(ne + nc + 1) * sizeof *m->links);
    m->contacts = carom_pool_take(&m->memory, (size_t)(nc + 1) * sizeof *m->contacts);
    if (!m->links || !m->contacts) return carom_fault_memory(r);
    names taken = {0};
    const carom_status status = read_links(r, &taken);
    carom_names_free(&taken);
    return status;
}
