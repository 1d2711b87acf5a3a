// soft.c: contacts of finite stiffness: forces instead of constraints.
//
//     d = max(0, -g),   V = k/(n + 1) d^(n+1),   F_N = k d^n max(0, 1 + c d')                                    (CC-1)
//     F_T = -mu F_N u_T/sqrt(|u_T|^2 + v_s^2)                                                                    (CC-2)
//
// The elastic part is a potential; damping (Hunt and Crossley) and regularised friction are forces without one.  The
// force never pulls.
#include "base/grow.h"
#include "derive/soft.h"
#include "expr/parts.h"
#include "system/narrow.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool carom_contact_soft(const carom_mech_contact *of) { return carom_given(&of->stiffness) != NULL; }

// Of F = k d^n: N/m^n.  A written gap may be an angle, and the force then a torque: N m, radians count as numbers.
static carom_status check_stiffness(resolver *r, const carom_mech_contact *of) {
    double n = 1;
    char unit[40], where[100];
    if (carom_given(&of->exponent)) CAROM_TRY(carom_resolve_number(r, &of->exponent, "exponent", &n));
    snprintf(where, sizeof where, "contact '%.60s' of exponent %g", of->name.text, n);
    snprintf(unit, sizeof unit, n == 1 ? "N/m" : "N/m^%.6g", n);
    return carom_check_unit(r, where, &of->stiffness, unit, carom_given(&of->gap) ? "N m" : NULL);
}

carom_status carom_check_soft(resolver *r, const carom_mech_contact *of) {
    const carom_datum *const own[] = {&of->exponent, &of->damping, &of->stiction_speed};
    const carom_datum *const rigid[] = {
        &of->restitution, &of->tangential_restitution, &of->impact_law, &of->impact_order, &of->rolling, &of->spinning};
    for (int i = 0; i < 3 && !carom_contact_soft(of); ++i)
        if (carom_given(own[i]))
            return carom_fault(r, own[i]->key, 0,
                               "contact '%.60s' has `%s` but no `stiffness`; add `stiffness:` for a contact that "
                               "yields, or remove `%s` from a rigid one",
                               of->name.text, own[i]->key->text, own[i]->key->text);
    if (carom_contact_soft(of) && carom_given(&of->exists_while))
        return carom_fault(r, of->exists_while.key, 0,
                           "contact '%.60s' has a stiffness; `exists while` belongs to rigid contacts: write a spring, "
                           "whose force may have if()",
                           of->name.text);
    for (int i = 0; i < 6 && carom_contact_soft(of); ++i)
        if (carom_given(rigid[i]))
            return carom_fault(
                r, rigid[i]->key, 0,
                "contact '%.60s' has a stiffness, so forces act and no impacts; `%s` belongs to rigid contacts",
                of->name.text, rigid[i]->key->text);
    return carom_contact_soft(of) && !carom_contact_stop(r, of) ? check_stiffness(r, of) : CAROM_OK;
}

static carom_status check_least(resolver *r, const carom_datum *n, double value, double least, bool above) {
    if (value > least || (!above && value == least)) return CAROM_OK;
    return carom_fault(r, n, 0, "%s is %g; it must %s %g", n->key->text, value, above ? "exceed" : "not be below",
                       least);
}

// A number that goes into the structure; it is not below `least`, and exceeds it with `above`.
static carom_status number(resolver *r, const carom_datum *n, double least, bool above, double *value) {
    CAROM_TRY(carom_resolve_number(r, n, n->key->text, value));
    return check_least(r, n, *value, least, above);
}

// The same as an expression of parameters, which may get other values.
static carom_status coefficient(resolver *r, const carom_datum *n, bool above, carom_node *node) {
    double value;
    CAROM_TRY(carom_resolve_term(r, n, n->key->text, BOUND_COEFFICIENT, 0, &value, node));
    return check_least(r, n, value, 0, above);
}

// A surface that moves with w where the bodies rest gives -F w, and friction takes -F u of the rate u.  The rule for
// forces, (u - w) F(v = 0) external and the rest damping, would count a block that moves with its belt as driven and
// damped.  False: it does not move.
static bool drive(resolver *r, carom_node u, carom_node F) {
    carom_graph *g = r->m->graph;
    const carom_node w = carom_graph_at_rest(g, u), rest = carom_graph_at_rest(g, F);
    double value;
    if (carom_graph_is_number(g, w, &value) && value == 0) return false;
    r->m->driven = n_sub(g, r->m->driven, n_add(g, n_mul(g, w, F), n_mul(g, n_sub(g, u, w), rest)));
    r->m->carried = n_sub(g, r->m->carried, n_mul(g, w, F));
    return true;
}

// A force F along x(q), or along what moves with the slip rate x.
static carom_status push(resolver *r, carom_node x, bool rate, carom_node F) {
    carom_graph *g = r->m->graph;
    const bool moves = drive(r, rate ? x : carom_graph_rate(g, x, r->m->visible.nv), F);
    for (int k = 0; k < r->m->visible.nv; ++k) {
        if (!(rate ? carom_graph_depends(g, x, CAROM_VELOCITY, k) : carom_graph_moves(g, x, k))) continue;
        const carom_node d = rate ? carom_graph_diff(g, x, CAROM_VELOCITY, k) : carom_graph_along(g, x, k);
        if (!carom_terms_add(&r->m->point_force, n_mul(g, d, F), k, 0, 0)) return carom_fault_memory(r);
        if (moves &&
            !carom_terms_add(&r->m->drag, n_sub(g, carom_graph_number(g, 0), n_mul(g, d, carom_graph_at_rest(g, F))), k,
                             0, 0))
            return carom_fault_memory(r);
    }
    return CAROM_OK;
}

static const char *column(resolver *r, const char *name, const char *part, int number, const char *prime) {
    char text[160];
    if (number) snprintf(text, sizeof text, "%.100s.%s%d%s", name, part, number, prime);
    else snprintf(text, sizeof text, "%.100s.%s%s", name, part, prime);
    return carom_pool_text(&r->m->memory, text, strlen(text));
}

// A column of results, and a name for outputs and checks.
static carom_status show(resolver *r, const constraint *c, const char *part, int number, const char *prime,
                         carom_node node) {
    carom_model *m = r->m;
    if (!CAROM_GROW(m->soft, m->nsoft)) return carom_fault_memory(r);
    const char *text = column(r, c->name, part, number, prime);
    if (!text) return carom_fault_memory(r);
    m->soft[m->nsoft++] = (soft_column){c->name, text, node};
    if (*prime || carom_names_find(&m->names, text, strlen(text)) || carom_names_find(&m->outs, text, strlen(text)))
        return CAROM_OK;
    name *n = carom_names_add(&m->outs, text, NAME_QUANTITY, 0, c->place->line);
    if (!n) return carom_fault_memory(r);
    n->node = node;
    return CAROM_OK;
}

carom_status carom_add_kink(resolver *r, carom_node x, int contact) {
    carom_model *m = r->m;
    if (!CAROM_GROW(m->kink, m->nkinks) || !CAROM_GROW(m->kink_of, m->nkinks)) return carom_fault_memory(r);
    m->kink[m->nkinks] = x;
    m->kink_of[m->nkinks++] = contact;
    return CAROM_OK;
}

carom_status carom_add_kinks_of(resolver *r, carom_node x, int contact) {
    carom_node *list;
    carom_status status = CAROM_OK;
    const int n = carom_graph_kinks(r->m->graph, x, &list);
    if (n < 0) return carom_fault_memory(r);
    for (int i = 0; i < n && status == CAROM_OK; ++i) status = carom_add_kink(r, list[i], contact);
    free(list);
    return status;
}

// Does the state decide, and for `places` positions alone?  Reactions and slip speeds, inputs np and after, are for
// friction alone.
static bool by_state(const carom_model *m, carom_node k, bool places) {
    const carom_graph *g = m->graph;
    const bool moves = carom_graph_depends(g, k, CAROM_VELOCITY, -1);
    for (int i = m->np; i <= m->np + m->friction.nreacting + 1; ++i)
        if (carom_graph_depends(g, k, CAROM_PARAMETER, i)) return false;
    return places ? !moves && carom_graph_depends(g, k, CAROM_POSITION, -1)
                  : moves || carom_graph_depends(g, k, CAROM_POSITION, -1);
}

// Of the n nodes of a list, which is freed, those that the state decides.
static carom_status add_places(resolver *r, int n, carom_node *list, bool places, bool jumps) {
    carom_model *m = r->m;
    carom_node last = 0;
    carom_status status = CAROM_OK;
    if (n < 0) return carom_fault_memory(r);
    for (int i = 0; i < n; ++i) last = list[i] > last ? list[i] : last;
    int *known = n > 0 ? calloc((size_t)last + 1, sizeof *known) : NULL; // number, from 1
    if (n > 0 && !known) status = carom_fault_memory(r);
    for (int k = 0; known && k < m->nkinks; ++k)
        if (m->kink[k] <= last && carom_kink_is_of_forces(m->kink_of[k])) known[m->kink[k]] = k + 1;
    for (int i = 0; i < n && status == CAROM_OK; ++i) {
        int *at = known + list[i];
        if (*at == 0 && !by_state(m, list[i], places)) continue;
        if (*at == 0) status = carom_add_kink(r, list[i], -1), *at = m->nkinks;
        if (status == CAROM_OK && jumps) m->kink_of[*at - 1] = CAROM_JUMPS;
    }
    free(known);
    free(list);
    return status;
}

static carom_status add_bends(resolver *r, carom_node x, bool smooth) {
    carom_node *list = NULL;
    const int n = x == CAROM_NONE ? 0 : carom_graph_bends(r->m->graph, x, smooth, &list);
    return add_places(r, n, list, true, false);
}

static carom_status add_jumps(resolver *r, carom_node x, bool slope) {
    carom_node *list = NULL;
    const int n = x == CAROM_NONE ? 0 : carom_graph_jumps(r->m->graph, x, slope, &list);
    return add_places(r, n, list, false, true);
}

carom_status carom_derive_jumps(resolver *r) {
    carom_model *m = r->m;
    for (int i = 0; i < m->as_written.n; ++i) CAROM_TRY(add_jumps(r, m->as_written.node[i], m->as_written.i[i] != 0));
    for (int i = 0; i < m->state.n; ++i) CAROM_TRY(add_jumps(r, m->state.rate[i], false));
    return CAROM_OK;
}

carom_status carom_add_kinks_of_friction(resolver *r, const carom_datum *rub) {
    carom_node x, *list;
    if (rub->kind == CAROM_MAP) return CAROM_OK; // numbers
    r->slip_speed = carom_graph_input(r->m->graph, CAROM_PARAMETER, r->m->np + r->m->friction.nreacting + 1);
    CAROM_TRY(carom_resolve_expression(r, rub, SCOPE_STATE | SCOPE_SLIP, "friction", &x));
    const int n = carom_graph_kinks(r->m->graph, x, &list);
    return add_places(r, n, list, true, true);
}

carom_status carom_derive_bends(resolver *r) {
    CAROM_TRY(add_bends(r, r->m->potential, true));
    for (int i = 0; i < r->m->visible.nv_own; ++i) CAROM_TRY(add_bends(r, r->m->force[i], false));
    return CAROM_OK;
}

static carom_status needs_speed(resolver *r, const carom_mech_contact *of) {
    return carom_fault(r, carom_given(&of->friction) ? &of->friction : &of->name, 0,
                       "friction of a contact with stiffness is regularised; add `stiction speed:`, the slip speed "
                       "below which it falls to zero, or write `friction: 0`");
}

// Slips of two coefficients are scaled (FV-6): what is shown is u/factor and factor F.
static carom_status friction(resolver *r, const carom_mech_contact *of, const constraint *c, double mu,
                             const double *factor, carom_node F_N) {
    carom_graph *g = r->m->graph;
    carom_node u[CAROM_TANGENTS], sum, speed;
    if (!carom_given(&of->stiction_speed)) return needs_speed(r, of);
    CAROM_TRY(coefficient(r, &of->stiction_speed, true, &speed));
    sum = n_mul(g, speed, speed);
    for (int k = 0; k < c->tangents; ++k) {
        u[k] = c->rate[k] ? c->slip[k] : carom_graph_rate(g, c->slip[k], r->m->visible.nv);
        sum = n_add(g, sum, n_mul(g, u[k], u[k]));
    }
    const carom_node size = carom_graph_apply(g, CAROM_OP_SQRT, sum, CAROM_NONE, CAROM_NONE);
    const carom_node limit = n_mul(g, carom_graph_number(g, -mu), F_N);
    for (int k = 0; k < c->tangents; ++k) {
        const carom_node F = carom_graph_apply(g, CAROM_OP_DIV, n_mul(g, limit, u[k]), size, CAROM_NONE);
        CAROM_TRY(push(r, c->slip[k], c->rate[k], F));
        const int number = c->tangents > 1 ? k + 1 : 0;
        const double scale = factor ? factor[k] : 1;
        CAROM_TRY(show(r, c, "slip", number, "'", n_mul(g, u[k], carom_graph_number(g, 1 / scale))));
        CAROM_TRY(show(r, c, "friction", number, "", n_mul(g, F, carom_graph_number(g, scale))));
    }
    return CAROM_OK;
}

static carom_node power(carom_graph *g, carom_node x, double n) {
    return carom_graph_apply(g, CAROM_OP_POW, x, carom_graph_number(g, n), CAROM_NONE);
}

carom_status carom_derive_soft(resolver *r, const carom_mech_contact *of, const constraint *c, double mu,
                               const double *factor) {
    carom_model *m = r->m;
    carom_graph *g = m->graph;
    double n = 1;
    carom_node k, damping = CAROM_NONE;
    CAROM_TRY(coefficient(r, &of->stiffness, true, &k));
    if (carom_given(&of->exponent)) CAROM_TRY(number(r, &of->exponent, 1, false, &n));
    if (carom_given(&of->damping)) CAROM_TRY(coefficient(r, &of->damping, false, &damping));
    const carom_node zero = carom_graph_number(g, 0);
    const carom_node d = carom_graph_apply(g, CAROM_OP_MAX, zero, n_sub(g, zero, c->gap), CAROM_NONE);
    const carom_node elastic = n_mul(g, k, power(g, d, n)); // V with a power of its own: products of powers have
                                                            // derivatives 0/0 at d = 0
    const carom_node energy = n_mul(g, n_mul(g, k, power(g, d, n + 1)), carom_graph_number(g, 1 / (n + 1)));
    const carom_node rate = carom_graph_rate(g, c->gap, m->visible.nv);
    m->potential = n_add(g, m->potential, energy);
    CAROM_TRY(carom_add_kink(r, c->gap, -1));
    if (!CAROM_GROW(m->compliant, m->ncompliant)) return carom_fault_memory(r);
    m->compliant[m->ncompliant++] = (compliant_contact){c->name, m->nkinks - 1};
    carom_node F = elastic;
    if (damping != CAROM_NONE) {
        // F_N - k d^n = k d^n max(-1, c d')
        const carom_node part = carom_graph_apply(g, CAROM_OP_MAX, carom_graph_number(g, -1),
                                                  n_sub(g, zero, n_mul(g, damping, rate)), CAROM_NONE);
        CAROM_TRY(carom_add_kink(r, n_sub(g, carom_graph_number(g, 1), n_mul(g, damping, rate)), -1));
        const carom_node loss = n_mul(g, elastic, part);
        CAROM_TRY(push(r, c->gap, false, loss));
        F = n_add(g, elastic, loss);
    }
    CAROM_TRY(show(r, c, "gap", 0, "", c->gap));
    CAROM_TRY(show(r, c, "gap", 0, "'", rate));
    CAROM_TRY(show(r, c, "force", 0, "", F));
    return mu > 0 ? friction(r, of, c, mu, factor, F) : CAROM_OK;
}

// The exponent is of the structure, the others are numbers of the law of this kind.
carom_status carom_read_yielding(resolver *r, const carom_mech_contact *of, double mu, const double *factor, int kind,
                                 yielding **law) {
    *law = NULL;
    if (!carom_contact_soft(of)) return CAROM_OK;
    if (mu > 0 && !carom_given(&of->stiction_speed)) return needs_speed(r, of);
    yielding *x = carom_pool_take(&r->m->memory, sizeof *x);
    if (!x) return carom_fault_memory(r);
    *x = (yielding){.exponent = 1, .friction = mu, .factor = {1, 1}};
    if (factor) memcpy(x->factor, factor, sizeof x->factor);
    if (carom_given(&of->exponent)) CAROM_TRY(number(r, &of->exponent, 1, false, &x->exponent));
    const struct { const carom_datum *from; bound_kind bound; double *to; } list[] = {
        {&of->stiffness, BOUND_STIFFNESS, &x->stiffness},
        {&of->damping, BOUND_DAMPING, &x->damping},
        {&of->stiction_speed, BOUND_STICTION, &x->speed}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        const carom_datum *n = list[i].from;
        if (!carom_given(n)) continue;
        CAROM_TRY(carom_resolve_bound(r, n, n->key->text, list[i].bound, kind, list[i].to));
        CAROM_TRY(check_least(r, n, *list[i].to, 0, list[i].bound != BOUND_DAMPING));
    }
    *law = x;
    return CAROM_OK;
}
