// states.c: first-order states, z' = r(t, q, v, z): currents, pressures, what filters and controllers remember.
//
//     M_z z' = M_z r,   M_z = 1/s^2                                                                            (STA-1)
//
// A state is a velocity with a mass of its own, s its scale, and no energy: every scheme integrates it as it does
// velocities, with its own order, and impacts, which act along gaps, leave it as it is.  The position that belongs to
// it, its integral, is in no expression, and has a name that none can write.
#include "derive/resolver.h"
#include "expr/graph.h"
#include "mech/mech.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 4000 }; // chosen: a safeguard against mistakes

carom_status carom_no_states(resolver *r, const carom_datum *d, carom_node x, const char *what) {
    const carom_model *m = r->m;
    for (int k = 0; k < m->state.n; ++k)
        if (carom_graph_depends(m->graph, x, CAROM_VELOCITY, m->state.first + k))
            return carom_fault(r, d, 0,
                               "%s cannot depend on a state such as '%.60s': forces, friction and outputs can", what,
                               m->velocity[m->state.first + k]);
    return CAROM_OK;
}

// The power of two next to x > 0, so that masses do not round.
static double power_of_two(double x) {
    int e;
    return frexp(x, &e) > 0.70710678118654752 ? ldexp(1, e) : ldexp(1, e - 1);
}

static bool fits(double scale) { return scale > 0 && isfinite(scale * scale) && isfinite(1 / (scale * scale)); }

// The scale that is given; 0: none.
static carom_status read_scale(resolver *r, const carom_mech_state *of, double *scale) {
    const carom_datum *given = carom_given(&of->scale);
    *scale = 0;
    if (!given) return CAROM_OK;
    CAROM_TRY(carom_resolve_number(r, given, "the scale", scale));
    if (!fits(*scale)) return carom_fault(r, given, 0, "the scale of a state must be positive, got %g", *scale);
    return CAROM_OK;
}

// (STA-6)  Scales that are not given: s = max(|z|, |r/(dr/dz)|) at the start, where a state that is left alone would go
//          from there; 1 where that is 0.
static carom_status find_scales(resolver *r) {
    carom_model *m = r->m;
    const int n = m->state.n;
    bool asked = false;
    for (int k = 0; k < n; ++k) asked = asked || m->state.scale[k] == 0;
    if (!asked) return CAROM_OK;
    carom_node *x = malloc(2 * (size_t)n * sizeof *x);
    double *value = calloc(2 * (size_t)n, sizeof *value);
    for (int k = 0; x && k < n; ++k) {
        x[2 * k] = m->state.rate[k];
        x[2 * k + 1] = carom_node_derivative(m->graph, m->state.rate[k], CAROM_VELOCITY, m->state.first + k);
    }
    const bool good = x && value && !carom_graph_failed(m->graph) && carom_values_at_start(m, x, 2 * n, value);
    for (int k = 0; good && k < n; ++k) {
        if (m->state.scale[k] > 0) continue;
        const double z = fabs(m->v0[m->state.first + k]), way = fabs(value[2 * k] / value[2 * k + 1]);
        m->state.scale[k] = fits(way) && way > z ? way : fits(z) ? z : 1;
        m->scaled = true; // the initial state may depend on any parameter; but motions do not depend on scales
    }
    free(x);
    free(value);
    return good ? CAROM_OK : carom_fault_memory(r);
}

// Units of at, rate and scale belong together.
static carom_status check_units(resolver *r, const carom_mech_state *of) {
    char unit[80], rate[96], where[100];
    if (!carom_mech_unit(r->mech, of->name.text, unit, sizeof unit)) return CAROM_OK;
    snprintf(where, sizeof where, "states.%.60s", of->name.text);
    const bool none = strcmp(unit, "1") == 0;
    snprintf(rate, sizeof rate, "%s/s", unit);
    CAROM_TRY(carom_check_unit(r, where, &of->rate, rate, NULL));
    return none ? CAROM_OK : carom_check_unit(r, where, &of->scale, unit, NULL);
}

static carom_status read_state(resolver *r, int k) {
    carom_model *m = r->m;
    const carom_mech_state *of = &r->mech->states[k];
    const carom_datum *at = carom_given(&of->at);
    const int i = m->nv;
    char text[80];
    if (!carom_given(&of->rate))
        return carom_fault(r, &of->name, 0,
                           "state '%.60s' has no rate; add `rate:`, an expression for its change per second",
                           of->name.text);
    snprintf(text, sizeof text, "integral of %.60s", of->name.text);
    const char *copy = carom_pool_text(&m->memory, text, strlen(text));
    name *hidden = copy ? carom_names_add(&m->names, copy, NAME_COORDINATE, i, of->name.line) : NULL;
    if (!hidden) return carom_fault_memory(r);
    hidden->node = carom_graph_input(m->graph, CAROM_POSITION, i);
    hidden->rate = carom_graph_input(m->graph, CAROM_VELOCITY, i);
    hidden->used = true;
    m->coordinate_name[i] = m->names.count - 1;
    name *own = carom_names_find(&m->names, of->name.text, of->name.length);
    own->index = i;
    own->node = carom_graph_input(m->graph, CAROM_VELOCITY, i);
    m->velocity_of[i] = i;
    m->velocity[i] = of->name.text;
    m->given[i] = true;
    if (at) CAROM_TRY(carom_resolve_bound(r, at, "the initial value", BOUND_RATE, i, &m->v0[i]));
    CAROM_TRY(check_units(r, of));
    CAROM_TRY(read_scale(r, of, &m->state.scale[k]));
    m->state.rate[k] = CAROM_NONE;
    ++m->nq, ++m->nv;
    return CAROM_OK;
}

carom_status carom_derive_states(resolver *r) {
    carom_model *m = r->m;
    const int n = r->mech->nstates;
    m->state.first = m->nv;
    if (n > MOST_STATES) return carom_fault(r, &r->mech->states->name, 0, "more than %d states", MOST_STATES);
    m->state.n = n;
    m->state.scale = carom_pool_take(&m->memory, (size_t)(n + 1) * sizeof *m->state.scale);
    m->state.mass = carom_pool_take(&m->memory, (size_t)(n + 1) * sizeof *m->state.mass);
    m->state.rate = carom_pool_take(&m->memory, (size_t)(n + 1) * sizeof *m->state.rate);
    if (!m->state.scale || !m->state.mass || !m->state.rate) return carom_fault_memory(r);
    m->graph->first_kept = m->state.first, m->graph->kept = n;
    for (int k = 0; k < n; ++k) CAROM_TRY(read_state(r, k));
    return CAROM_OK;
}

carom_status carom_derive_state_rates(resolver *r) {
    carom_model *m = r->m;
    for (int k = 0; k < m->state.n; ++k) {
        const carom_mech_state *of = &r->mech->states[k];
        CAROM_TRY(carom_resolve_expression(r, &of->rate, SCOPE_STATE, "the rate of a state", &m->state.rate[k]));
        double x = 0;
        if (carom_graph_is_number(m->graph, m->state.rate[k], &x) && !isfinite(x))
            return carom_fault(r, &of->rate, 0, "the rate of '%.60s' has no finite value", of->name.text);
        carom_names_find(&m->names, of->name.text, of->name.length)->rate = m->state.rate[k];
    }
    return CAROM_OK;
}

carom_status carom_weigh_states(resolver *r) {
    carom_model *m = r->m;
    carom_graph *g = m->graph;
    CAROM_TRY(find_scales(r));
    for (int k = 0; k < m->state.n; ++k) { // a mass, and no energy: `kinetic` is without it
        const carom_node z = carom_graph_input(g, CAROM_VELOCITY, m->state.first + k);
        const double s = power_of_two(m->state.scale[k]);
        m->state.mass[k] = 1 / (s * s);
        m->energy_of.own_kinetic =
            n_add(g, m->energy_of.own_kinetic, n_mul(g, n_num(g, 0.5 * m->state.mass[k]), n_mul(g, z, z)));
    }
    return CAROM_OK;
}
