// contacts.c: constraints and contacts: gaps, slips, names, and whose law they obey.
#include "base/tolerance.h"
#include "derive/laws.h"
#include "base/option.h"
#include "derive/soft.h"
#include "expr/parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static carom_status no_rates(resolver *r, const carom_datum *n, carom_node x, const char *what, const char *remedy) {
    if (!carom_graph_depends(r->m->graph, x, CAROM_VELOCITY, -1)) return CAROM_OK;
    CAROM_TRY(carom_no_states(r, n, x, what));
    return carom_fault(r, n, 0, "%s depends on rates; %s", what, remedy);
}

// An expression that is linear in the rates, and holds some.
static carom_status read_rate(resolver *r, const carom_datum *n, const char *what, const char *instead, carom_node *x) {
    carom_graph *g = r->m->graph;
    CAROM_TRY(carom_resolve_expression(r, n, SCOPE_STATE, what, x));
    CAROM_TRY(carom_no_states(r, n, *x, what));
    for (int i = 0; i < r->m->visible.nv; ++i) {
        if (!carom_graph_depends(g, *x, CAROM_VELOCITY, i)) continue;
        if (carom_graph_depends(g, carom_graph_diff(g, *x, CAROM_VELOCITY, i), CAROM_VELOCITY, -1))
            return carom_fault(r, n, 0, "%s is not linear in the rates; write it as a sum of factors times rates",
                               what);
    }
    if (!carom_graph_depends(g, *x, CAROM_VELOCITY, -1))
        return carom_fault(r, n, 0, "%s holds no rate; write %s", what, instead);
    return CAROM_OK;
}

static carom_status read_slip(resolver *r, const carom_datum *n, bool rate, constraint *c) {
    const int k = c->tangents++;
    c->rate[k] = rate;
    if (rate) return read_rate(r, n, "the slip rate", "`slip` for a displacement", &c->slip[k]);
    CAROM_TRY(carom_resolve_expression(r, n, SCOPE_STATE, "the slip", &c->slip[k]));
    return no_rates(r, n, c->slip[k], "the slip", "it is a displacement: write `slip rate` instead");
}

static carom_status read_slips(resolver *r, const carom_mech_contact *of, constraint *c) {
    const carom_datum *slip = carom_given(&of->slip), *rate = carom_given(&of->slip_rate);
    if (slip && rate)
        return carom_fault(r, rate->key, 0, "contact '%s' has both slip and slip rate; give only one", c->name);
    const carom_datum *n = slip ? slip : rate;
    if (!n) return CAROM_OK;
    if (n->kind != CAROM_LIST) return read_slip(r, n, n == rate, c);
    if (n->count < 1 || n->count > CAROM_TANGENTS)
        return carom_fault(
            r, n, 0, "a contact has one slip (planar), two (spatial) or up to %d (with rolling and spinning), not %d",
            CAROM_TANGENTS, n->count);
    for (const carom_datum *item = carom_first(n); item != carom_end(n); ++item)
        CAROM_TRY(read_slip(r, item, n == rate, c));
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

static carom_status add_slips(resolver *r, const constraint *c) {
    for (int k = 0; k < c->tangents; ++k) {
        char part[24] = "slip";
        if (c->tangents > 1) snprintf(part, sizeof part, "slip%d", k + 1);
        CAROM_TRY(add_quantity(r, c, part, c->rate[k] ? CAROM_NONE : c->slip[k], c->rate[k] ? c->slip[k] : CAROM_NONE));
    }
    return CAROM_OK;
}

static carom_status add_quantities(resolver *r, const constraint *c) {
    if (c->on_rates) return add_quantity(r, c, "rate", c->slip[0], CAROM_NONE);
    CAROM_TRY(add_quantity(r, c, "gap", c->gap, CAROM_NONE));
    return add_slips(r, c);
}

// `point`, `side` and `radius` belong to `along`, and take the place of gap and slip.
static carom_status check_sweep(resolver *r, const carom_mech_contact *of) {
    const carom_datum *const own[] = {&of->side, &of->radius}, *const others[] = {&of->gap, &of->slip, &of->slip_rate},
                             *point = carom_given(&of->point);
    if (point && !carom_given(&of->along))
        return carom_fault(r, point->key, 0,
                           "a point touches a flexible member: add `along:` with its name, or give a gap");
    for (int k = 0; k < 2; ++k)
        if (!point && carom_given(own[k]))
            return carom_fault(r, own[k]->key, 0, "`%s` belongs to `point:`", own[k]->key->text);
    for (int k = 0; k < 3; ++k)
        if (point && carom_given(others[k]))
            return carom_fault(r, others[k]->key, 0, "`%s` follows from `point:`; give only one", others[k]->key->text);
    return CAROM_OK;
}

static carom_status read_swept(resolver *r, const carom_mech_contact *of, const law *fallback, constraint *c) {
    law l = *fallback;
    CAROM_TRY(carom_derive_sweep(r, of, &r->m->members[r->along - r->m->members], r->along_node, c));
    CAROM_TRY(carom_law_of(r, of, &l));
    if (!carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1)) {
        *c = (constraint){.name = c->name, .gap = CAROM_NONE}; // an element that is held, and a place that stays
        return CAROM_OK;
    }
    if (l.ellipse)
        return carom_fault(r, l.mu, 0, "contact '%.60s' has one slip; two coefficients of friction need two", c->name);
    CAROM_TRY(add_quantities(r, c));
    return carom_law_put(r, r->m->nc, &l, c, l.c.friction > 0);
}

// Friction alone: its normal force is given.
static carom_status read_pressed(resolver *r, const carom_mech_contact *of, const law *fallback, constraint *c) {
    const carom_datum *rest[] = {&of->gap, &of->stiffness, &of->point, &of->along};
    for (int i = 0; i < 4; ++i)
        if (carom_given(rest[i]))
            return carom_fault(r, rest[i]->key, 0,
                               "contact '%.60s' is friction with a given normal force; `%s` has no place there",
                               c->name, rest[i]->key->text);
    law l = *fallback;
    CAROM_TRY(carom_law_of(r, of, &l));
    if (!l.mu) return carom_fault(r, &of->name, 0, "contact '%.60s' has no friction; add `friction:`", c->name);
    if (l.ellipse) return carom_fault(r, l.mu, 0, "friction with a given normal force has one coefficient");
    carom_pressed press;
    CAROM_TRY(carom_derive_pressed(r, of, c, &press));
    if (!carom_given(&of->joint)) CAROM_TRY(read_slips(r, of, c));
    if (c->tangents == 0)
        return carom_fault(
            r, &of->name, 0,
            "contact '%.60s' has no slip; add `slip:`, for a brake of radius r on angle phi `slip: r*phi`", c->name);
    l.press = press.N;
    CAROM_TRY(carom_press(r, c, &press, &l.share));
    l.rub = l.mu;
    CAROM_TRY(carom_bind(r, l.from[2], BOUND_COEFFICIENT, 0, l.c.friction)); // it stands in expressions
    memset(l.from, 0, sizeof l.from);
    l.c = (carom_contact){.friction = 1, .friction_varies = true, .friction_only = true};
    CAROM_TRY(carom_law_put(r, r->m->nc, &l, c, c->tangents));
    return add_slips(r, c);
}

typedef struct gap_parts {
    resolver *r;
    const carom_datum *gap;
    carom_status status;
    carom_node part[CAROM_PARTS];
} gap_parts;

// The sign of a factor of parameters, which belongs to the structure then; 0: not known.
static int sign_of(void *user, carom_node x) {
    gap_parts *p = user;
    double value = 0;
    for (int i = p->r->m->np_own; i < p->r->m->np; ++i)
        if (carom_graph_depends(p->r->m->graph, x, CAROM_PARAMETER, i)) return 0; // an input changes while a model runs
    if (p->status == CAROM_OK) p->status = carom_resolve_start(p->r, p->gap, x, &value);
    return (value > 0) - (value < 0);
}

static carom_status read_gap(resolver *r, const carom_mech_contact *of, carom_node *x) {
    const carom_datum *gap = &of->gap;
    if (carom_contact_stop(r, of)) CAROM_TRY(carom_stop_gap(r, of, x));
    else CAROM_TRY(carom_resolve_expression(r, gap, SCOPE_STATE, "the gap", x));
    return no_rates(r, gap, *x, "the gap", "it is a distance, made of positions and time");
}

// (CP-1)  gap = min(g_1, g_2, ...) >= 0  <=>  every g_k >= 0: contacts of their own, which may be closed together
static carom_status split_gap(resolver *r, const carom_mech_contact *of, gap_parts *p, int *n) {
    carom_node x, *kink = NULL;
    constraint c = {.name = of->name.text};
    int bends = 0;
    *n = 1;
    // force of a contact that yields: that of the whole gap
    if (!p->gap || carom_contact_pressed(of) || carom_contact_soft(of) || carom_contact_stop(r, of) == STOP_ROPE)
        return CAROM_OK;
    CAROM_TRY(read_gap(r, of, &x));
    *n = carom_graph_parts(r->m->graph, x, sign_of, p, p->part);
    CAROM_TRY(p->status);
    if (*n == 1) return CAROM_OK;
    CAROM_TRY(read_slips(r, of, &c));
    for (int k = 0; k < c.tangents && bends == 0; ++k) {
        bends = carom_graph_kinks(r->m->graph, c.slip[k], &kink);
        free(kink);
    }
    if (bends > 0) *n = 1; // a slip that knows the kink is that of one contact
    return bends < 0 ? carom_fault_memory(r) : CAROM_OK;
}

static carom_status read_contact(resolver *r, const carom_mech_contact *of, const law *fallback, constraint *c) {
    char where[120];
    snprintf(where, sizeof where, "contact '%.60s'", c->name);
    const carom_datum *gap = carom_given(&of->gap);
    if (carom_contact_pressed(of)) return read_pressed(r, of, fallback, c);
    CAROM_TRY(check_sweep(r, of));
    if (carom_given(&of->point)) return read_swept(r, of, fallback, c);
    if (!gap)
        return carom_fault(r, &of->name, 0,
                           "%s needs `gap:` (a distance that must stay non-negative) or `between:` (two shapes)",
                           where);
    CAROM_TRY(read_gap(r, of, &c->gap));
    if (r->part) c->gap = *r->part;
    if (r->along && !carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1)) {
        c->gap = CAROM_NONE; // a node that is held: no contact there
        return CAROM_OK;
    }
    if (!carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1))
        return carom_fault(r, gap, 0,
                           "the gap of %s does not depend on any coordinate, so no force can act; remove the contact",
                           where);
    c->place = gap;
    CAROM_TRY(read_slips(r, of, c));
    law l = *fallback;
    CAROM_TRY(carom_law_of(r, of, &l));
    if (l.c.friction > 0 && c->tangents == 0) {
        char value[32] = "";
        if (!l.rub && !l.ellipse) snprintf(value, sizeof value, " %g", l.c.friction);
        return carom_fault(
            r, l.mu_here ? &of->friction : &of->name, 0,
            "%s has friction%s%s but no slip; add `slip:` (the tangential displacement), or `friction: 0`", where,
            value, l.mu_here ? "" : " (from contact defaults)");
    }
    if (l.ellipse && l.mu->kind != CAROM_LIST)
        return carom_fault(r, l.mu, 0,
                           "along, across and direction are for shapes; %s has slips of its own: write `friction: [a, "
                           "b]`, one for each",
                           where);
    if (l.ellipse && c->tangents != 2)
        return carom_fault(r, l.mu, 0, "%s has %d slip%s; two coefficients of friction need two", where, c->tangents,
                           c->tangents == 1 ? "" : "s");
    if (!carom_contact_soft(of)) CAROM_TRY(add_quantities(r, c));
    // without friction the slip says nothing
    return carom_law_put(r, r->m->nc, &l, c, l.c.friction > 0 ? c->tangents : 0);
}

static bool has_corners(const shape *s) {
    return s->kind == SHAPE_POLYGON || s->kind == SHAPE_BOX || s->kind == SHAPE_HULL || carom_shape_piece(s);
}
static bool is_ball(const shape *s) { return s->kind == SHAPE_ROUND; } // rolls on anything

// `rolling` and `spinning`: levers of the resistance, of round shapes that have friction.
static carom_status read_lever(resolver *r, const pair *p, const carom_datum *n, const law *l, double *lever) {
    if (!carom_given(n)) return CAROM_OK;
    const char *key = n->key->text;
    CAROM_TRY(carom_law_coefficient(r, n, CAROM_LARGEST, lever));
    if (*lever == 0) return CAROM_OK;
    if (l->rub || l->ellipse) return carom_fault(r, n, 0, "%s resistance needs a friction that is a number", key);
    if (lever == &l->spin && p->A->space != SPATIAL)
        return carom_fault(r, n, 0, "`spinning` requires a spatial contact");
    if (!(l->c.friction > 0)) return carom_fault(r, n, 0, "%s resistance needs friction; add `friction:`", key);
    if ((has_corners(p->A) && !is_ball(p->B)) || (has_corners(p->B) && !is_ball(p->A)))
        return carom_fault(r, n, 0,
                           "%s resistance requires round shapes; '%s' and '%s' touch with corners (%d contacts)", key,
                           p->A->name, p->B->name, p->count);
    return CAROM_OK;
}

static carom_status check_ellipse(resolver *r, const pair *p, const law *l) {
    if (!l->ellipse) return CAROM_OK;
    if (l->mu->kind == CAROM_LIST)
        return carom_fault(
            r, l->mu, 0,
            "the two coefficients of shapes need a direction: {along: 0.1, across: 0.5, direction: [1, 0, 0]}");
    if (p->A->space != SPATIAL)
        return carom_fault(
            r, l->mu, 0, "'%s' and '%s' are planar, where friction has one coefficient; two are for contacts in space",
            p->A->name, p->B->name);
    return CAROM_OK;
}

// (FV-6)  The direction is fixed in the member of the family that is one of the pair.
static carom_status choose_member(resolver *r, pair *p, law *l) {
    if (!l->ellipse || !l->ellipse->family) return CAROM_OK;
    const char *name = l->ellipse->family->text;
    const bool A = p->A->body && carom_body_called(p->A->body, name),
               B = p->B->body && carom_body_called(p->B->body, name);
    if (A && B)
        return carom_fault(r, l->ellipse->family, 0,
                           "both bodies of a pair of contact '%.60s' are members of '%.60s', and the direction of "
                           "friction is fixed in one; use `between`, or the name of a body",
                           p->entry->name.text, name);
    if (!A && !B)
        return carom_fault(r, l->ellipse->family, 0,
                           "the direction of friction is fixed in a member of '%.60s', and neither '%s' nor '%s' is "
                           "one; use an entry of its own for pairs of '%.60s'",
                           name, p->A->name, p->B->name, name);
    ellipse *own = carom_pool_take(&r->m->memory, sizeof *own);
    if (!own) return carom_fault_memory(r);
    *own = *l->ellipse;
    own->of = A ? p->A->body : p->B->body;
    own->family = NULL;
    l->ellipse = p->own->rub.ellipse = own;
    return CAROM_OK;
}

// In a list, where a contact knows the positions of its two bodies only.
static carom_status check_listed_direction(resolver *r, const pair *p, const law *l) {
    if (!l->ellipse) return CAROM_OK;
    const body *of = l->ellipse->of;
    if (of && of != p->A->body && of != p->B->body)
        return carom_fault(
            r, l->mu, 0,
            "a contact of a dynamic contact list depends on the positions of its own two bodies only, so a direction "
            "of friction must be fixed in the world or in one of the two, and not all pairs of '%.60s' have '%s'; use "
            "an entry of its own for those that do",
            p->entry->name.text, of->name);
    return CAROM_OK;
}

// Where the normal stays, the direction of friction must not be it.
static carom_status check_direction(resolver *r, const pair *p, const law *l) {
    if (!carom_pair_misaligned(r->m->graph, p)) return CAROM_OK;
    return carom_fault(
        r, l->mu, 0,
        "the direction of friction is the normal of '%s' and '%s'; give one that lies in the tangential plane",
        p->A->name, p->B->name);
}

// `resistance: discs`: how many tangents each has.
static carom_status read_resistance(resolver *r, const pair *p, law *l) {
    static const char *const words[] = {"ball", "discs", NULL};
    const carom_datum *n = &p->entry->resistance;
    const int sliding = p->A->space == SPATIAL ? 2 : 1;
    int k;
    CAROM_TRY(carom_law_word(r, n, words, &k));
    if (k < 0) return CAROM_OK;
    if (!carom_given(&p->entry->rolling) && !carom_given(&p->entry->spinning))
        return carom_fault(r, n->key, 0, "`resistance` requires `rolling` or `spinning`");
    if (k == 0 || !(l->roll > 0 || l->spin > 0)) return CAROM_OK;
    if (l->c.impact == CAROM_ENERGETIC)
        return carom_fault(r, n, 0,
                           "impact law energetic requires a single friction bound for all tangential directions; "
                           "remove `resistance: discs` or use impact law poisson");
    l->c.disc[0] = sliding;
    l->c.disc[1] = l->roll > 0 ? sliding : 0;
    return CAROM_OK;
}

static carom_status read_levers(resolver *r, pair *p, law *l) {
    CAROM_TRY(read_lever(r, p, &p->entry->rolling, l, &l->roll));
    CAROM_TRY(read_lever(r, p, &p->entry->spinning, l, &l->spin));
    CAROM_TRY(read_resistance(r, p, l));
    const double mu = l->c.friction;
    p->own->rub = (rubbing){mu > 0, mu > 0 ? l->roll / mu : 0, mu > 0 ? l->spin / mu : 0, l->ellipse};
    return l->roll > 0 || l->spin > 0 ? carom_fix(r, l->from[2]) : CAROM_OK;
}

// A contact whose expressions are elsewhere.
static constraint bare(const pair *p) {
    const int n = p->A->space == SPATIAL ? 2 : 1;
    constraint c = {.gap = CAROM_NONE,
                    .tangents = p->own->rub.slides ? n + (p->own->rub.roll > 0 ? n : 0) + (p->own->rub.spin > 0) : 0};
    for (int k = 0; k < CAROM_TANGENTS; ++k) c.slip[k] = CAROM_NONE, c.rate[k] = k < c.tangents;
    return c;
}

// Contact k of a pair, and its name.
static carom_status name_contact(resolver *r, const pair *p, int k, constraint *c, names *taken, int id) {
    const carom_datum *entry = &p->entry->name;
    char text[100];
    if (p->number) snprintf(text, sizeof text, "%.60s.%d", entry->text, p->number + k);
    else snprintf(text, sizeof text, "%.60s", entry->text);
    c->name = carom_pool_text(&r->m->memory, text, strlen(text));
    if (!c->name) return carom_fault_memory(r);
    c->place = entry;
    const name *other = carom_names_find(taken, c->name, strlen(c->name));
    if (other)
        return carom_fault(r, entry, 0, "duplicate contact '%.60s'%s; rename one", c->name,
                           carom_line_of(other->line).text);
    return carom_names_add(taken, c->name, NAME_QUANTITY, id, entry->line) ? CAROM_OK : carom_fault_memory(r);
}

static const double *factors(const law *l) { return l->ellipse ? l->ellipse->factor : NULL; }

static carom_status check_soft_friction(resolver *r, const carom_datum *mu, bool varies) {
    return !varies ? CAROM_OK
                   : carom_fault(r, mu, 0,
                                 "a compliant contact needs constant coefficients of friction; `stiction speed` "
                                 "regularises it");
}

// A pair of shapes that yield: forces, and no contacts.
static carom_status read_soft_pair(resolver *r, pair *p, const law *fallback, names *taken) {
    constraint *room = &r->m->links[r->m->ne + r->m->nc];
    law l = *fallback;
    CAROM_TRY(carom_law_between(r, p, &l));
    p->own->rub = (rubbing){.slides = l.c.friction > 0, .ellipse = l.ellipse};
    CAROM_TRY(check_soft_friction(r, l.mu, l.c.friction_varies));
    CAROM_TRY(check_ellipse(r, p, &l));
    CAROM_TRY(choose_member(r, p, &l));
    CAROM_TRY(carom_law_fix(r, &l));
    CAROM_TRY(carom_pair_express(r, p, room));
    CAROM_TRY(check_direction(r, p, &l));
    for (int k = 0; k < p->count; ++k) {
        CAROM_TRY(name_contact(r, p, k, &room[k], taken, 0));
        carom_law_scale(r, &l, &room[k]);
        CAROM_TRY(carom_derive_soft(r, p->entry, &room[k], l.c.friction, factors(&l)));
        room[k] = (constraint){0};
    }
    return CAROM_OK;
}

// Those that yield leave the list.
static carom_status read_soft_pairs(resolver *r, const law *fallback, names *taken) {
    carom_model *m = r->m;
    int rigid = 0;
    for (int i = 0; i < m->npairs; ++i) {
        CAROM_TRY(carom_check_soft(r, m->pairs[i].entry));
        if (carom_contact_soft(m->pairs[i].entry)) CAROM_TRY(read_soft_pair(r, &m->pairs[i], fallback, taken));
        else m->pairs[rigid++] = m->pairs[i];
    }
    m->npairs = rigid;
    return CAROM_OK;
}

// `exists while` of an entry of contacts.
static carom_status read_existence(resolver *r, const carom_mech_contact *of, int *number) {
    const carom_datum *n = carom_given(&of->exists_while);
    return n ? carom_add_condition(r, n, of->name.text, -1, -1, number) : CAROM_OK;
}

// The contacts of a pair of shapes.
static carom_status read_pair(resolver *r, pair *p, const law *fallback, names *taken) {
    carom_model *m = r->m;
    law l = *fallback;
    CAROM_TRY(carom_law_between(r, p, &l));
    CAROM_TRY(read_levers(r, p, &l));
    CAROM_TRY(check_ellipse(r, p, &l));
    CAROM_TRY(choose_member(r, p, &l));
    int unused;
    CAROM_TRY(read_existence(r, p->entry, &unused));
    p->shares = !l.rub && !l.ellipse && carom_pair_may_share(m, p);
    carom_pair_bound(m->graph, p);
    if (!p->shares) CAROM_TRY(carom_pair_express(r, p, &m->links[p->first]));
    CAROM_TRY(check_direction(r, p, &l));
    for (int k = 0; k < p->count; ++k) {
        constraint *c = &m->links[p->first + k];
        if (p->shares) *c = bare(p);
        CAROM_TRY(name_contact(r, p, k, c, taken, p->first + k));
        CAROM_TRY(add_quantities(r, c));
        CAROM_TRY(carom_law_put(r, p->first + k - m->ne, &l, c, c->tangents));
    }
    return CAROM_OK;
}

// Friction of pairs that come and go, by slip speed, normal force and the state.
static carom_status express_listed(resolver *r, const law *l, carom_node *x, carom_contact *of) {
    carom_graph *g = r->m->graph;
    const int np = r->m->np;
    const carom_node speed = carom_graph_input(g, CAROM_PARAMETER, np);
    if (l->rub->kind == CAROM_MAP) return carom_law_curve(r, g, l->rub, speed, &x[0], &x[1]);
    r->normal_force = carom_graph_input(g, CAROM_PARAMETER, np + 1);
    for (int k = 0; k < 2; ++k) {
        r->slip_speed = k ? carom_graph_number(g, 0) : speed;
        CAROM_TRY(carom_resolve_expression(r, l->rub, SCOPE_STATE | SCOPE_SLIP, "friction", &x[k]));
        of->friction_reacts = of->friction_reacts || carom_graph_depends(g, x[k], CAROM_PARAMETER, np + 1);
        if (r->m->near->sleep > 0 &&
            (carom_graph_depends(g, x[k], CAROM_TIME, 0) || carom_graph_depends(g, x[k], CAROM_POSITION, -1) ||
             carom_graph_depends(g, x[k], CAROM_VELOCITY, -1)))
            return carom_fault(r, l->rub, 0,
                               "friction that depends on time or state cannot be combined with `sleep`; remove "
                               "`sleep`, or use only slip.speed and normal.force");
    }
    return carom_add_kinks_of_friction(r, l->rub);
}

// The law of pairs of one kind that come and go.
static carom_status read_listed(resolver *r, int kind, const law *fallback) {
    struct near_pairs *x = r->m->near;
    pair *p = &x->pairs[kind];
    law l = *fallback;
    CAROM_TRY(carom_law_between(r, p, &l));
    if (carom_contact_soft(p->entry)) CAROM_TRY(check_soft_friction(r, l.mu, l.c.friction_varies));
    CAROM_TRY(read_levers(r, p, &l));
    CAROM_TRY(check_ellipse(r, p, &l));
    CAROM_TRY(choose_member(r, p, &l));
    CAROM_TRY(check_listed_direction(r, p, &l));
    CAROM_TRY(carom_read_yielding(r, p->entry, l.c.friction, factors(&l), kind, &p->soft));
    if (p->soft && x->sleep > 0)
        return carom_fault(r, &p->entry->name, 0,
                           "contact '%.60s' has a stiffness, whose energy a body that falls asleep would lose; remove "
                           "`sleep`, or make the contact rigid",
                           p->entry->name.text);
    if (p->soft) x->yields = true;
    CAROM_TRY(p->soft ? carom_law_fix(r, &l) : carom_law_bind(r, &l, BOUND_LISTED_RESTITUTION, kind));
    if (l.rub) CAROM_TRY(express_listed(r, &l, x->rubs + 2 * (size_t)x->nrubs, &l.c));
    x->rub[kind] = l.rub ? x->nrubs++ : 0;
    x->bounce[kind] = l.bounce;
    x->law[kind] = l.c;
    x->law[kind].tangents = bare(p).tangents;
    if (l.ellipse) memcpy(x->law[kind].ellipse, l.ellipse->factor, sizeof l.ellipse->factor);
    return CAROM_OK;
}

static carom_status read_rule(resolver *r, int i, const law *fallback) {
    struct near_pairs *x = r->m->near;
    if (i == 0) CAROM_TRY(carom_near_belts(r));
    const int first = x->npairs;
    CAROM_TRY(carom_check_soft(r, x->rule[i].entry));
    CAROM_TRY(read_existence(r, x->rule[i].entry, &x->rule[i].condition));
    CAROM_TRY(carom_near_samples(r, i));
    for (int k = first; k < x->npairs; ++k) CAROM_TRY(read_listed(r, k, fallback));
    return CAROM_OK;
}

// {rate: EXPRESSION}: a constraint on rates.
static bool on_rates(const carom_datum *n) { return n->kind == CAROM_MAP; }

static carom_status read_rate_constraint(resolver *r, const carom_datum *n, constraint *c) {
    const carom_datum *rate = NULL;
    for (const carom_datum *x = carom_first(n); x != carom_end(n); ++x)
        if (carom_datum_is(x->key, "rate")) rate = x;
        else
            return carom_fault(r, x->key, 0, "unknown key '%.60s' in constraint '%.60s'; expected `rate`", x->key->text,
                               c->name);
    if (!rate || carom_datum_empty(rate))
        return carom_fault(r, n, 0, "constraint '%.60s' has no expression; write {rate: x'*sin(a) - y'*cos(a)}",
                           c->name);
    c->gap = carom_graph_number(r->m->graph, 0);
    c->on_rates = true;
    c->place = rate;
    r->m->nrates += 1;
    return read_rate(r, rate, "the rate of a constraint", "`NAME: expression` to hold a position", &c->slip[0]);
}

static carom_status read_constraint(resolver *r, const carom_datum *n, constraint *c) {
    if (on_rates(n)) return read_rate_constraint(r, n, c);
    CAROM_TRY(carom_resolve_expression(r, n, SCOPE_STATE, "the constraint", &c->gap));
    CAROM_TRY(no_rates(r, n, c->gap, "the constraint", "it is an expression of positions and time that "
                      "stays zero; one on rates is written {rate: expression}"));
    c->place = n;
    if (carom_graph_depends(r->m->graph, c->gap, CAROM_POSITION, -1)) return CAROM_OK;
    return carom_fault(r, n, 0, "constraint '%.60s' does not depend on any coordinate; remove it", c->name);
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
    return carom_fault(r, along, 0, "`along` needs the name of a flexible member%s%s%s", near ? "; did you mean '" : "",
                       near ? near : "", near ? "'?" : "");
}

static carom_status read_link(resolver *r, const carom_mech_contact *of, const law *fallback, names *taken,
                              const char *name) {
    carom_model *m = r->m;
    const int id = m->ne + m->nc, bound = m->nbound;
    constraint *c = &m->links[id];
    c->name = name;
    if (!carom_names_add(taken, name, NAME_QUANTITY, id, of->name.line)) return carom_fault_memory(r);
    CAROM_TRY(carom_check_soft(r, of));
    CAROM_TRY(read_contact(r, of, fallback, c));
    if (c->gap == CAROM_NONE) return CAROM_OK;
    if (carom_given(&of->gap) && carom_contact_stop(r, of) != STOP_ROPE)
        CAROM_TRY(carom_add_kinks_of(r, c->gap, carom_contact_soft(of) ? -1 : m->nc));
    if (carom_contact_soft(of))
        CAROM_TRY(check_soft_friction(r, carom_given(&of->friction) ? &of->friction : &of->name,
                                      m->contacts[m->nc].friction_varies));
    if (carom_given(&of->closes_while)) {
        carom_node gate = CAROM_NONE;
        if (carom_contact_soft(of))
            return carom_fault(r, of->closes_while.key, 0,
                               "contact '%.60s' has a stiffness; `closes while` belongs to rigid contacts", c->name);
        CAROM_TRY(carom_resolve_expression(r, &of->closes_while, SCOPE_STATE, "`closes while`", &gate));
        CAROM_TRY(carom_add_kink(r, gate, CAROM_CLOSES_WHILE(m->nc)));
        int number;
        CAROM_TRY(carom_add_condition(r, &of->closes_while, c->name, -1, m->nc, &number));
    }
    CAROM_TRY(read_existence(r, of, &c->condition));
    if (carom_contact_soft(of)) {
        const constraint own = *c;
        const carom_contact *law = &m->contacts[m->nc];
        *c = (constraint){0};
        CAROM_TRY(carom_fix_bound(r, bound));
        return carom_derive_soft(r, of, &own, law->friction, law->ellipse[0] > 0 ? law->ellipse : NULL);
    }
    ++m->nc;
    return CAROM_OK;
}

// Room for n more contacts.
static carom_status make_room(resolver *r, int n) {
    carom_model *m = r->m;
    const int ne = m->nrows + r->mech->constraints.count, used = m->nc;
    r->most_contacts += n;
    if (m->links && r->most_contacts <= r->contact_room) return CAROM_OK;
    r->contact_room = m->links ? 2 * r->most_contacts : r->most_contacts;
    const size_t room = (size_t)r->contact_room + 1;
    constraint *links = carom_pool_take(&m->memory, ((size_t)ne + room) * sizeof *links);
    carom_contact *contacts = carom_pool_take(&m->memory, room * sizeof *contacts);
    int *bounce_of = carom_pool_take(&m->memory, room * sizeof *bounce_of),
        *rub_of = carom_pool_take(&m->memory, room * sizeof *rub_of);
    if (!links || !contacts || !bounce_of || !rub_of) return carom_fault_memory(r);
    if (m->links) memcpy(links, m->links, (size_t)(ne + used) * sizeof *links);
    if (used)
        memcpy(contacts, m->contacts, (size_t)used * sizeof *contacts),
            memcpy(bounce_of, m->bounce.of, (size_t)used * sizeof *bounce_of),
            memcpy(rub_of, m->friction.of, (size_t)used * sizeof *rub_of);
    m->links = links, m->contacts = contacts, m->bounce.of = bounce_of, m->friction.of = rub_of;
    return CAROM_OK;
}

// BASE.number for one of several contacts that are made of one.
static carom_status number_name(resolver *r, const carom_mech_contact *of, const names *taken, const char *base,
                                int number, const char *each, char **own) {
    const size_t size = strlen(base) + 12;
    *own = carom_pool_take(&r->m->memory, size);
    if (!*own) return carom_fault_memory(r);
    snprintf(*own, size, "%s.%d", base, number);
    const name *other = carom_names_find(taken, *own, strlen(*own));
    if (!other) return CAROM_OK;
    return carom_fault(r, &of->name, 0,
                       "'%s' becomes several contacts, one for each %s, and the name '%s' of one of them is already "
                       "used%s; rename one of them",
                       base, each, *own, carom_line_of(other->line).text);
}

// A name that is free.  One that another contact has, and that no contact before this one was given, comes from
// number_name().
static carom_status new_contact(resolver *r, const carom_mech_contact *of, const names *taken) {
    const carom_datum *n = &of->name;
    const name *other = carom_names_find(taken, n->text, n->length);
    const char *dot = strrchr(n->text, '.');
    bool made = other && dot && other->index >= r->m->ne;
    for (const carom_mech_contact *c = r->mech->contacts; made && c < of; ++c)
        made = strcmp(c->name.text, n->text) != 0;
    if (!made) return carom_new_owner(r, n, false, taken);
    return carom_fault(r, n, 0,
                       "'%s' is already one of the contacts that '%.*s'%s becomes, one for each part of its gap or "
                       "node of its member; rename one of them",
                       n->text, (int)(dot - n->text), n->text, carom_line_of(other->line).text);
}

// A contact, or one for each part of its gap: NAME.1, NAME.2, ...; NAME.gap is the least of theirs.
static carom_status read_parts(resolver *r, const carom_mech_contact *of, const law *fallback, names *taken,
                               const char *name) {
    gap_parts p = {.r = r, .gap = carom_given(&of->gap)};
    int n;
    CAROM_TRY(split_gap(r, of, &p, &n));
    if (n == 1) return read_link(r, of, fallback, taken, name);
    CAROM_TRY(make_room(r, n - 1));
    constraint *c = &r->m->links[r->m->ne + r->m->nc]; // for its quantities, then that of the first part
    *c = (constraint){.name = name, .place = p.gap};
    CAROM_TRY(read_gap(r, of, &c->gap));
    CAROM_TRY(read_slips(r, of, c));
    CAROM_TRY(add_quantities(r, c));
    *c = (constraint){0};
    if (!r->along && !carom_names_add(taken, name, NAME_QUANTITY, 0, of->name.line)) return carom_fault_memory(r);
    const int first = r->m->ne + r->m->nc;
    for (int k = 0; k < n; ++k) {
        char *own;
        CAROM_TRY(number_name(r, of, taken, name, k + 1, "part of its gap", &own));
        r->part = &p.part[k];
        CAROM_TRY(read_link(r, of, fallback, taken, own));
    }
    r->part = NULL;
    if (r->m->ne + r->m->nc > first) r->m->links[first].parts = r->m->ne + r->m->nc - first; // held nodes have none
    return CAROM_OK;
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
    CAROM_TRY(new_contact(r, of, taken));
    CAROM_TRY(find_along(r, carom_given(&of->along), &r->along));
    if (!r->along) return read_parts(r, of, fallback, taken, n->text);
    if (!carom_names_add(taken, n->text, NAME_QUANTITY, 0, n->line)) return carom_fault_memory(r);
    // nodes, or elements
    const int before = r->m->nc + r->m->nsoft, last = r->along->nodes - (carom_given(&of->point) != NULL);
    for (r->along_node = 0; r->along_node < last; ++r->along_node) {
        char *name;
        // rows count from 1
        CAROM_TRY(number_name(r, of, taken, n->text, r->along_node + (r->along->kind == CAROM_MATRICES),
                              "node of its member", &name));
        CAROM_TRY(read_parts(r, of, fallback, taken, name));
        r->m->links[r->m->ne + r->m->nc] = (constraint){0};
    }
    const member *b = r->along;
    r->along = NULL;
    if (r->m->nc + r->m->nsoft > before) return CAROM_OK;
    return carom_fault(r, carom_given(&of->gap) ? &of->gap : &of->point, 0,
                       "the gap names nothing that moves along '%.60s'; write for instance %.60s.%s", b->name, b->name,
                       carom_member_component(b->kind, 0));
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
    for (int i = 0; i < 2 * map->count; ++i) { // those on rates come last
        const carom_datum *n = map->item + i % map->count;
        if (on_rates(n) != (i >= map->count)) continue;
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

// Laws that no pair uses are judged, too.
static carom_status check_laws(resolver *r, const law *fallback) {
    const int bounces = r->m->bounce.n;
    for (int i = 0; i < r->mech->nmaterials; ++i) {
        const carom_mech_material *x = &r->mech->materials[i];
        for (int k = -1; k < x->nwith; ++k) {
            law unused = *fallback;
            CAROM_TRY(carom_law_read(r, k < 0 ? &x->own : &x->with[k], &unused));
        }
    }
    r->m->bounce.n = bounces;
    return CAROM_OK;
}

// Constraints and contacts share their names, which live beside those of expressions.
static carom_status read_links(resolver *r, names *taken) {
    carom_model *m = r->m;
    const carom_mech_law *defaults = r->mech->defaults;
    law fallback = {.press = CAROM_NONE, .share = CAROM_NONE};
    if (defaults) CAROM_TRY(carom_law_read(r, defaults, &fallback));
    CAROM_TRY(carom_materials_check(r));
    fallback.mu_here = false;
    CAROM_TRY(read_constraints(r, taken));
    for (int i = 0; i < r->mech->ncontacts; ++i)
        if (!of_shapes(&r->mech->contacts[i])) CAROM_TRY(read_contacts(r, &r->mech->contacts[i], &fallback, taken));
    CAROM_TRY(read_soft_pairs(r, &fallback, taken));
    for (int i = 0; i < m->npairs; ++i) {
        m->pairs[i].first = m->ne + m->nc;
        CAROM_TRY(read_pair(r, &m->pairs[i], &fallback, taken));
        m->nc += m->pairs[i].count;
    }
    for (int i = 0; m->near && i < m->near->nrules; ++i) CAROM_TRY(read_rule(r, i, &fallback));
    return check_laws(r, &fallback);
}

carom_status carom_derive_links(resolver *r) {
    carom_model *m = r->m;
    int touching = 0;
    CAROM_TRY(carom_derive_pairs(r, &touching));
    CAROM_TRY(make_room(r, most_contacts(r) + touching));
    names taken = {0};
    const carom_status status = read_links(r, &taken);
    carom_names_free(&taken);
    if (status != CAROM_OK || m->bounce.n == 0) return status;
    const carom_group group = {.count = m->bounce.n, .nodes = m->bounce.node};
    m->bounce.tape = carom_tape_compile(r->values, &group, 1, 0, 0, 0, r->err);
    return m->bounce.tape ? CAROM_OK : carom_fault_memory(r);
}
