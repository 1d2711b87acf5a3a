// laws.c: laws of contacts as they are written: restitution, impact, friction, materials.
#include "base/tolerance.h"
#include "base/grow.h"
#include "base/option.h"
#include "derive/laws.h"
#include "derive/soft.h"
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a number of the law was read from, if parameters are in it.
static const carom_datum *source(const resolver *r, const carom_datum *n) { return r->read ? n : NULL; }

static const char *word_at(const void *user, int i) { return ((const char *const *)user)[i]; }

carom_status carom_law_coefficient(resolver *r, const carom_datum *n, double high, double *value) {
    if (!carom_given(n)) return CAROM_OK;
    const char *key = n->key->text;
    CAROM_TRY(carom_resolve_number(r, n, key, value));
    if (*value >= 0 && *value <= high) return CAROM_OK;
    if (high == 1) return carom_fault(r, n, 0, "%s must lie between 0 and 1, got %g", key, *value);
    return carom_fault(r, n, 0, "%s must not be negative, got %g", key, *value);
}

// Restitution: a number, or a function of approach.speed.
static carom_status read_restitution(resolver *r, const carom_datum *n, law *l) {
    if (!carom_given(n)) return CAROM_OK;
    carom_model *m = r->m;
    carom_node x = CAROM_NONE;
    CAROM_TRY(carom_resolve_expression(r, n, NAME_PARAMETER | SCOPE_VALUES | SCOPE_SPEED, "restitution", &x));
    l->c.varies = carom_graph_depends(r->values, x, CAROM_TIME, 0);
    l->from[0] = l->c.varies ? NULL : source(r, n);
    if (l->c.varies) CAROM_TRY(carom_fix(r, n));
    if (!l->c.varies) { // perhaps it names the speed and does not depend on it
        if (!carom_graph_is_number(r->values, x, &l->c.restitution) || !isfinite(l->c.restitution))
            return carom_law_coefficient(r, n, 1, &l->c.restitution);
        if (l->c.restitution >= 0 && l->c.restitution <= 1) return CAROM_OK;
        return carom_fault(r, n, 0, "%s must lie between 0 and 1, got %g", n->key->text, l->c.restitution);
    }
    if (!CAROM_GROW(m->bounce.node, m->bounce.n)) return carom_fault_memory(r);
    l->bounce = m->bounce.n;
    m->bounce.node[m->bounce.n++] = x;
    const carom_node still = carom_graph_substitute(r->values, x, CAROM_TIME, 0, carom_graph_number(r->values, 0));
    if (carom_graph_is_number(r->values, still, &l->c.restitution) && l->c.restitution >= 0 && l->c.restitution <= 1)
        return CAROM_OK;
    return carom_fault(r, n, 0, "restitution must lie between 0 and 1 at every speed, got %g at approach.speed 0",
                       l->c.restitution);
}

// One of some words; -1: none of them was given.
carom_status carom_law_word(resolver *r, const carom_datum *n, const char *const *words, int *which) {
    *which = -1;
    if (!carom_given(n)) return CAROM_OK;
    for (int i = 0; words[i]; ++i)
        if (carom_datum_is(n, words[i])) *which = i;
    if (*which >= 0) return CAROM_OK;
    const char *near = n->kind == CAROM_TEXT ? carom_nearest(n->text, word_at, words) : NULL;
    char list[120] = "";
    for (int i = 0; words[i]; ++i)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ",
                 words[i]);
    return carom_fault(r, n, 0, "%s is %s%s%s%s", n->key->text, list, near ? "; did you mean '" : "", near ? near : "",
                       near ? "'?" : "");
}

static carom_status read_impact(resolver *r, const carom_datum *kind, const carom_datum *order, const carom_datum *et,
                                law *l) {
    static const char *const laws[] = {"newton", "poisson", "energetic", "fremond", NULL},
                      *const orders[] = {"simultaneous", "sequential", NULL};
    int k;
    CAROM_TRY(carom_law_word(r, kind, laws, &k));
    if (k >= 0) l->c.impact = (carom_impact_law)k;
    CAROM_TRY(carom_law_word(r, order, orders, &k));
    if (k >= 0) l->c.sequential = k == 1;
    if (k == 0 && l->c.impact == CAROM_ENERGETIC)
        return carom_fault(
            r, order, 0,
            "impact law energetic follows one contact after the other; leave `impact order` out, or write sequential");
    if (l->c.tangential_restitution > 0 && l->c.impact != CAROM_NEWTON)
        return carom_fault(r, carom_given(et) ? et : kind, 0,
                           "impact law %s has no tangential restitution; leave it out, or use impact law newton",
                           laws[l->c.impact]);
    return CAROM_OK;
}

// (FV-6)  Two coefficients a, b: friction lies in an ellipse with these half axes (times the normal force), and the
//         slip is an outward normal of it.  With
// directions and slips times a/mu, b/mu, mu the larger one, that is Coulomb's law with mu.
static carom_status read_axes(resolver *r, const carom_datum *const given[2], law *l, ellipse *e) {
    double mu[2];
    for (int i = 0; i < 2; ++i) {
        CAROM_TRY(carom_resolve_number(r, given[i], "friction", &mu[i]));
        if (!(mu[i] > 0))
            return carom_fault(r, given[i], 0,
                               "friction is %g here; where there are two coefficients, both must be positive", mu[i]);
    }
    l->c.friction = fmax(mu[0], mu[1]);
    for (int i = 0; i < 2; ++i) e->factor[i] = mu[i] / l->c.friction;
    l->ellipse = e;
    return CAROM_OK;
}

// `of`: a body, or a family of bodies.
static carom_status find_owner(resolver *r, const carom_datum *n, ellipse *e) {
    const carom_model *m = r->m;
    for (int i = 0; i < m->nbodies && n->kind == CAROM_TEXT && !e->family; ++i)
        if (carom_body_called(&m->bodies[i], n->text) && strcmp(m->bodies[i].name, n->text) != 0) e->family = n;
    if (e->family) return CAROM_OK;
    CAROM_TRY(carom_find_body(r, n, &e->of));
    if (e->of == m->bodies) e->of = NULL; // the ground is the world
    return CAROM_OK;
}

// {along, across, direction, of} of shapes; [along, across] of two slips.
static carom_status read_ellipse(resolver *r, const carom_datum *n, law *l) {
    static const char *const words[] = {"along", "across", "direction", "of", NULL};
    const carom_datum *given[4] = {NULL};
    ellipse *e = carom_pool_take(&r->m->memory, sizeof *e);
    if (!e) return carom_fault_memory(r);
    e->place = *n;
    if (n->kind == CAROM_LIST) {
        if (n->count != 2)
            return carom_fault(r, n, 0, "friction is one coefficient, or a list of two, one for each of two slips");
        return read_axes(r, (const carom_datum *const[]){n->item, n->item + 1}, l, e);
    }
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c) {
        int k = 0;
        while (words[k] && strcmp(words[k], c->key->text) != 0) ++k;
        if (!words[k])
            return carom_fault(r, c->key, 0, "friction by direction has along, across, direction and of, not '%.60s'",
                               c->key->text);
        given[k] = c;
    }
    if (!given[0] || !given[1] || !given[2])
        return carom_fault(r, n, 0,
                           "friction by direction needs `along`, `across` and `direction`: {along: 0.1, across: 0.5, "
                           "direction: [1, 0, 0]}");
    CAROM_TRY(carom_resolve_direction(r, given[2], "the direction of friction", e->direction));
    if (given[3]) CAROM_TRY(find_owner(r, given[3], e));
    return read_axes(r, given, l, e);
}

// Friction: a number, an expression of slip.speed, normal.force and the state, {static, kinetic, stribeck}, or by
// direction.  One that varies is read when the slip is known.
static carom_status read_friction(resolver *r, const carom_datum *n, law *l) {
    if (!carom_given(n)) return CAROM_OK;
    carom_graph *g = r->m->graph;
    carom_node x = CAROM_NONE;
    l->rub = l->from[2] = NULL;
    l->mu = n;
    l->ellipse = NULL;
    l->c.friction_varies = false;
    if (n->kind == CAROM_LIST || carom_datum_get(n, "along") || carom_datum_get(n, "across"))
        return r->loose = false, read_ellipse(r, n, l);
    l->c.friction_varies = n->kind == CAROM_MAP;
    if (n->kind != CAROM_MAP) {
        r->slip_speed = r->normal_force = carom_graph_input(g, CAROM_TIME, 0);
        CAROM_TRY(carom_resolve_expression(r, n, SCOPE_STATE | SCOPE_SLIP, "friction", &x));
        l->c.friction_varies = carom_graph_depends(g, x, CAROM_TIME, 0) ||
                               carom_graph_depends(g, x, CAROM_POSITION, -1) ||
                               carom_graph_depends(g, x, CAROM_VELOCITY, -1);
    }
    if (!l->c.friction_varies) { // perhaps it names the speed and does not depend on it
        r->slip_speed = r->normal_force = carom_graph_number(r->values, 0);
        CAROM_TRY(carom_resolve_expression(r, n, NAME_PARAMETER | SCOPE_VALUES | SCOPE_SLIP, "friction", &x));
        l->from[2] = source(r, n);
        if (!carom_graph_is_number(r->values, x, &l->c.friction) || !isfinite(l->c.friction))
            return carom_law_coefficient(r, n, CAROM_LARGEST, &l->c.friction);
        if (l->c.friction >= 0) return CAROM_OK;
        return carom_fault(r, n, 0, "%s must not be negative, got %g", n->key->text, l->c.friction);
    }
    l->rub = n;
    l->c.friction = 1; // until the first step
    return CAROM_OK;
}

// (FV-2)  {static, kinetic, stribeck}:  mu(u) = mu_k + (mu_s - mu_k) exp(-(u/v_s)^2), without stribeck mu_k
carom_status carom_law_curve(resolver *r, carom_graph *g, const carom_datum *n, carom_node speed, carom_node *slip,
                             carom_node *stick) {
    static const char *const words[] = {"static", "kinetic", "stribeck", NULL};
    double value[3] = {-1, -1, -1};
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c) {
        int k = 0;
        while (words[k] && strcmp(words[k], c->key->text) != 0) ++k;
        if (!words[k]) {
            const char *near = carom_nearest(c->key->text, word_at, words);
            return carom_fault(r, c->key, 0, "friction has static, kinetic and stribeck, not '%.60s'%s%s%s",
                               c->key->text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        }
        CAROM_TRY(carom_law_coefficient(r, c, CAROM_LARGEST, &value[k]));
    }
    if (value[0] < 0 || value[1] < 0)
        return carom_fault(r, n, 0, "friction needs `static` and `kinetic`: {static: 0.4, kinetic: 0.3}");
    if (value[0] < value[1])
        return carom_fault(r, n, 0, "static friction (%g) must not be less than kinetic friction (%g)", value[0],
                           value[1]);
    if (value[2] == 0)
        return carom_fault(r, n, 0,
                           "stribeck must be positive: the slip speed over which friction falls from static to "
                           "kinetic; omit it for a jump");
    *stick = carom_graph_number(g, value[0]);
    *slip = carom_graph_number(g, value[1]);
    if (value[2] < 0) return CAROM_OK;
    const carom_node x = n_mul(g, speed, carom_graph_number(g, 1 / value[2]));
    const carom_node fall =
        carom_graph_apply(g, CAROM_OP_EXP, n_sub(g, carom_graph_number(g, 0), n_mul(g, x, x)), CAROM_NONE, CAROM_NONE);
    *slip = n_add(g, *slip, n_mul(g, carom_graph_number(g, value[0] - value[1]), fall));
    return CAROM_OK;
}

// Coefficients and tangential velocities of a contact whose slips are known.
static carom_status express_friction(resolver *r, const law *l, const constraint *c, int contact) {
    carom_model *m = r->m;
    carom_graph *g = m->graph;
    if (!carom_grow(&m->friction.node, (size_t)m->friction.n, CAROM_FRICTION_LAW * sizeof *m->friction.node))
        return carom_fault_memory(r);
    m->friction.of[contact] = m->friction.n;
    carom_node *x = m->friction.node + (size_t)m->friction.n++ * CAROM_FRICTION_LAW, sum = carom_graph_number(g, 0);
    for (int k = 0; k < CAROM_TANGENTS; ++k) {
        x[2 + k] = k >= c->tangents ? carom_graph_number(g, 0)
                   : c->rate[k]     ? c->slip[k]
                                    : carom_graph_rate(g, c->slip[k], m->visible.nv);
        sum = n_add(g, sum, n_mul(g, x[2 + k], x[2 + k]));
    }
    const int input = m->np + m->friction.nreacting; // not yet taken
    r->normal_force = l->press != CAROM_NONE ? l->press : carom_graph_input(g, CAROM_PARAMETER, input);
    const carom_node speed = carom_graph_apply(g, c->tangents == 1 ? CAROM_OP_ABS : CAROM_OP_SQRT,
                                               c->tangents == 1 ? x[2] : sum, CAROM_NONE, CAROM_NONE);
    if (l->rub->kind == CAROM_MAP) CAROM_TRY(carom_law_curve(r, g, l->rub, speed, &x[0], &x[1]));
    for (int k = 0; k < 2 && l->rub->kind != CAROM_MAP; ++k) {
        r->slip_speed = k ? carom_graph_number(g, 0) : speed;
        CAROM_TRY(carom_resolve_expression(r, l->rub, SCOPE_STATE | SCOPE_SLIP, "friction", &x[k]));
    }
    carom_node unused;
    for (int k = 0; k < 2; ++k) {
        if (l->press != CAROM_NONE) x[k] = n_mul(g, x[k], l->share);
        else if (carom_graph_depends(g, x[k], CAROM_PARAMETER, input))
            CAROM_TRY(carom_reaction_input(r, m->ne + contact, &unused));
        for (int i = m->np; i < m->np + m->friction.nreacting; ++i)
            m->contacts[contact].friction_reacts |= carom_graph_depends(g, x[k], CAROM_PARAMETER, i);
    }
    return carom_add_kinks_of_friction(r, l->rub);
}

// Numbers of the law are bound to contacts when it becomes theirs.
carom_status carom_law_read(resolver *r, const carom_mech_law *of, law *l) {
    r->loose = true;
    r->read = false;
    CAROM_TRY(read_restitution(r, &of->restitution, l));
    r->read = false;
    CAROM_TRY(carom_law_coefficient(r, &of->tangential_restitution, 1, &l->c.tangential_restitution));
    if (carom_given(&of->tangential_restitution)) l->from[1] = source(r, &of->tangential_restitution);
    r->read = false;
    CAROM_TRY(read_friction(r, &of->friction, l));
    r->loose = false;
    l->mu_here = carom_given(&of->friction) != NULL;
    return read_impact(r, &of->impact_law, &of->impact_order, &of->tangential_restitution, l);
}

carom_status carom_law_of(resolver *r, const carom_mech_contact *of, law *l) {
    const carom_mech_law own = {of->name,     of->restitution, of->tangential_restitution,
                                of->friction, of->impact_law,  of->impact_order};
    CAROM_TRY(carom_law_read(r, &own, l));
    if (l->rub == &own.friction) l->rub = &of->friction;
    if (l->mu == &own.friction) l->mu = &of->friction;
    const carom_datum *const mine[3] = {&own.restitution, &own.tangential_restitution, &own.friction},
                             *const lasting[3] = {&of->restitution, &of->tangential_restitution, &of->friction};
    for (int k = 0; k < 3; ++k)
        if (l->from[k] == mine[k]) l->from[k] = lasting[k];
    return CAROM_OK;
}

carom_status carom_law_fix(resolver *r, const law *l) {
    for (int k = 0; k < 3; ++k) CAROM_TRY(carom_fix(r, l->from[k]));
    return CAROM_OK;
}

carom_status carom_law_bind(resolver *r, const law *l, bound_kind first, int i) {
    const double value[3] = {l->c.restitution, l->c.tangential_restitution, l->c.friction};
    for (int k = 0; k < 3; ++k) CAROM_TRY(carom_bind(r, l->from[k], first + (bound_kind)k, i, value[k]));
    return CAROM_OK;
}

// (MAT-1)  materials a and b:  mu = sqrt(mu_a mu_b),  e = sqrt(e_a e_b), unless the pair is listed
static carom_status mix(resolver *r, const pair *p, const carom_mech_material *a, const carom_mech_material *b,
                        law *l) {
    law of[2] = {*l, *l};
    CAROM_TRY(carom_law_read(r, &a->own, &of[0]));
    CAROM_TRY(carom_law_read(r, &b->own, &of[1]));
    const carom_contact *x = &of[0].c, *y = &of[1].c;
    if (of[0].rub || of[1].rub || of[0].ellipse || of[1].ellipse || x->varies || y->varies || x->impact != y->impact ||
        x->sequential != y->sequential)
        return carom_fault(r, &p->entry->name, 0,
                           "'%s' (%s) touches '%s' (%s), and their laws have no mean: one varies or has directions, or "
                           "their impact laws differ; list the pair: materials: {%s: {with: {%s: ...}}}",
                           p->A->name, a->own.name.text, p->B->name, b->own.name.text, a->own.name.text,
                           b->own.name.text);
    for (int i = 0; i < 2; ++i) CAROM_TRY(carom_law_fix(r, &of[i])); // a mean is bound to no parameter
    *l = of[0];
    for (int k = 0; k < 3; ++k) l->from[k] = NULL;
    l->c.friction = sqrt(x->friction * y->friction);
    l->c.restitution = sqrt(x->restitution * y->restitution);
    l->c.tangential_restitution = sqrt(x->tangential_restitution * y->tangential_restitution);
    return CAROM_OK;
}

static const carom_mech_law *listed_with(const carom_mech_material *a, const carom_mech_material *b) {
    for (int i = 0; i < a->nwith; ++i)
        if (carom_datum_is(&a->with[i].name, b->own.name.text)) return &a->with[i];
    return NULL;
}

// What the contact itself says, else the materials of its shapes, else the defaults.
carom_status carom_law_between(resolver *r, const pair *p, law *l) {
    const carom_mech_material *a = p->A->material, *b = p->B->material;
    const carom_mech_contact *of = p->entry;
    if (!a != !b && !r->mech->defaults && !(carom_given(&of->friction) && carom_given(&of->restitution)))
        return carom_fault(
            r, &of->name, 0,
            "'%s' has a material and '%s' has none; give it one, or give the contact restitution and friction",
            a ? p->A->name : p->B->name, a ? p->B->name : p->A->name);
    if (a && b) {
        const carom_mech_law *pair = a == b ? &a->own : listed_with(a, b) ? listed_with(a, b) : listed_with(b, a);
        CAROM_TRY(pair ? carom_law_read(r, pair, l) : mix(r, p, a, b, l));
    }
    return carom_law_of(r, of, l);
}

// `with` names materials, and a pair once.
carom_status carom_materials_check(resolver *r) {
    const carom_mech *x = r->mech;
    for (int i = 0; i < x->nmaterials; ++i) CAROM_TRY(carom_part_name(r, &x->materials[i].own.name));
    for (int i = 0; i < x->nmaterials; ++i)
        for (int k = 0; k < x->materials[i].nwith; ++k) {
            const carom_datum *name = &x->materials[i].with[k].name;
            const carom_mech_material *other = NULL;
            CAROM_TRY(carom_material_find(r, name, &other));
            if (other == &x->materials[i])
                return carom_fault(r, name, 0,
                                   "`with: %.60s` names the material itself; remove it and set the law directly",
                                   name->text);
            if (listed_with(other, &x->materials[i]) && other > &x->materials[i])
                return carom_fault(r, name, 0,
                                   "the law of '%.60s' and '%.60s' is given in both materials; give only one",
                                   x->materials[i].own.name.text, name->text);
        }
    return CAROM_OK;
}

void carom_law_scale(resolver *r, const law *l, constraint *c) {
    for (int k = 0; l->ellipse && k < 2; ++k)
        c->slip[k] = n_mul(r->m->graph, c->slip[k], carom_graph_number(r->m->graph, l->ellipse->factor[k]));
}

// Contact i obeys law l with so many tangents.
carom_status carom_law_put(resolver *r, int i, const law *l, constraint *c, int tangents) {
    carom_law_scale(r, l, c);
    r->m->contacts[i] = l->c;
    r->m->contacts[i].tangents = tangents;
    r->m->bounce.of[i] = l->bounce;
    CAROM_TRY(carom_law_bind(r, l, BOUND_RESTITUTION, i));
    if (l->ellipse) memcpy(r->m->contacts[i].ellipse, l->ellipse->factor, sizeof l->ellipse->factor);
    return l->rub ? express_friction(r, l, c, i) : CAROM_OK;
}
