// brakes.c: friction with a given normal force: brakes, clutches, friction in joints.
//
// Such a contact has a coordinate y of its own, of mass 1 kg and with a load of 1 N, that rests on its gap y >= 0: the normal reaction is 1 N at
// all times, and with the coefficient mu N friction takes forces up to mu N (FV-5).  Every scheme and solver sees a contact like any other.
#include "base/grow.h"
#include "derive/shapes/shapes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

carom_status carom_declare_pressed(resolver *r) {
    carom_model *m = r->m;
    m->first_pressed = r->mech->ncoordinates;
    for (int i = 0; i < r->mech->ncontacts; ++i) {
        const carom_datum *n = &r->mech->contacts[i].name;
        char text[80];
        if (!carom_contact_pressed(&r->mech->contacts[i])) continue;
        snprintf(text, sizeof text, "%.60s.press", n->text);
        const char *copy = carom_pool_text(&m->memory, text, strlen(text));
        if (!copy) return carom_fault_memory(r);
        if (carom_names_find(&m->names, text, strlen(text))) return carom_fault(r, n, 0, "'%s' is a coordinate that contact '%.60s' needs; rename yours", text, n->text);
        if (!carom_names_add(&m->names, copy, NAME_COORDINATE, m->first_pressed + m->npressed++, n->line)) return carom_fault_memory(r);
    }
    return CAROM_OK;
}

void carom_pressed_energy(resolver *r) {
    carom_model *m = r->m;
    carom_graph *g = m->graph;
    for (int i = m->first_pressed; i < m->first_pressed + m->npressed; ++i) {
        const carom_node v = carom_graph_input(g, CAROM_VELOCITY, i);
        m->own_kinetic = n_add(g, m->own_kinetic, n_mul(g, n_num(g, 0.5), n_mul(g, v, v)));
        m->potential = n_add(g, m->potential, carom_graph_input(g, CAROM_POSITION, i));
    }
}

carom_status carom_reaction_input(resolver *r, int id, carom_node *x) {
    carom_model *m = r->m;
    int i = 0;
    while (i < m->nreacting && m->reacting[i] != id) ++i;
    if (i == m->nreacting) {
        if (!CAROM_GROW(m->reacting, i)) return carom_fault_memory(r);
        m->reacting[m->nreacting++] = id;
    }
    *x = carom_graph_input(m->graph, CAROM_PARAMETER, m->np + i);
    return CAROM_OK;
}

// |R|, the reaction of a joint across its axis: its first rows.
static carom_status joint_force(resolver *r, const joint *j, int rows, carom_node *force) {
    carom_graph *g = r->m->graph;
    carom_node sum = n_num(g, 0), x;
    for (int i = 0; i < rows; ++i) {
        CAROM_TRY(carom_reaction_input(r, j->first + i, &x));
        sum = n_add(g, sum, n_mul(g, x, x));
    }
    *force = rows == 1 ? n_fun(g, CAROM_OP_ABS, x) : n_fun(g, CAROM_OP_SQRT, sum);
    return CAROM_OK;
}

static void slide(constraint *c, carom_node rate) {
    c->rate[c->tangents] = true;
    c->slip[c->tangents++] = rate;
}

// Slip rates of the surfaces of a joint: r w about its axis, the rate of its shift, or r w in a ball.
static carom_status joint_slips(resolver *r, const carom_mech_contact *of, const joint *j, carom_rub_of what, constraint *c) {
    carom_graph *g = r->m->graph;
    const carom_datum *n = carom_given(&of->radius);
    double radius = 0;
    if (!n && what.turns) return carom_fault(r, &of->name, 0, "contact '%.60s' is friction in a joint that turns; add `radius:`, that of the bearing", of->name.text);
    if (n && !what.turns) return carom_fault(r, n->key, 0, "joint '%s' does not turn; remove `radius`", j->name);
    if (n) CAROM_TRY(carom_resolve_number(r, n, "radius", &radius));
    if (n && !(radius > 0)) return carom_fault(r, n, 0, "radius must be positive, got %g", radius);
    const vec w = v_scale(g, v_sub(g, carom_shape_turning(g, r->m, &(shape){.body = j->B}), carom_shape_turning(g, r->m, &(shape){.body = j->A})), n_num(g, radius));
    const double s[3] = {j->X_A[2], j->X_A[5], j->X_A[8]};
    vec z;
    carom_body_vector(r, j->A, s, z.c);
    if (what.ball)
        for (int i = 0; i < 3; ++i) slide(c, w.c[i]);
    else if (what.turns) slide(c, j->spatial ? v_dot(g, z, w) : w.c[2]);
    if (what.slides) slide(c, carom_graph_rate(g, j->shift, r->m->visible.nv));
    return CAROM_OK;
}

carom_status carom_derive_pressed(resolver *r, const carom_mech_contact *of, constraint *c, carom_node *N) {
    carom_model *m = r->m;
    carom_graph *g = m->graph;
    const carom_datum *joint_of = carom_given(&of->joint), *force = carom_given(&of->normal_force);
    int k = m->first_pressed; // its coordinate
    for (const carom_mech_contact *x = r->mech->contacts; x != of; ++x) k += carom_contact_pressed(x);
    c->gap = carom_graph_input(g, CAROM_POSITION, k);
    c->place = joint_of ? joint_of : force;
    if (joint_of) {
        joint *j = NULL;
        carom_rub_of what;
        CAROM_TRY(carom_find_joint(r, joint_of, &j));
        CAROM_TRY(carom_joint_rubs(r, joint_of, j, &what));
        CAROM_TRY(joint_slips(r, of, j, what, c));
        CAROM_TRY(joint_force(r, j, what.rows, &r->joint_force));
    }
    *N = r->joint_force;
    if (force) CAROM_TRY(carom_resolve_expression(r, force, SCOPE_STATE | (joint_of ? SCOPE_JOINT : 0), "the normal force", N));
    *N = n_op(g, CAROM_OP_MAX, n_num(g, 0), *N);
    return CAROM_OK;
}
