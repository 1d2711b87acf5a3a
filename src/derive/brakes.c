// brakes.c: friction with a given normal force: brakes, clutches, friction in joints.
//
// Such a contact has a coordinate y of its own, of mass m and with a load F, that rests on its gap y >= 0: the normal
// reaction is F at all times, and with the coefficient mu N/F friction takes forces up to mu N (FV-5).  Every scheme
// and solver sees a contact like any other.  The motion does not depend on m and F; they have the size of the model's
// own masses and forces (FV-7), so that tolerances fit both, and are powers of two, which round nothing.
#include "base/grow.h"
#include "derive/shapes/shapes.h"
#include "expr/graph.h"
#include <float.h>
#include <math.h>
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
        if (carom_names_find(&m->names, text, strlen(text)))
            return carom_fault(r, n, 0, "'%s' is a coordinate that contact '%.60s' needs; rename yours", text, n->text);
        if (!carom_names_add(&m->names, copy, NAME_COORDINATE, m->first_pressed + m->npressed++, n->line))
            return carom_fault_memory(r);
    }
    return CAROM_OK;
}

carom_status carom_reaction_input(resolver *r, int id, carom_node *x) {
    carom_model *m = r->m;
    int i = 0;
    while (i < m->friction.nreacting && m->friction.reacting[i] != id) ++i;
    if (i == m->friction.nreacting) {
        if (!CAROM_GROW(m->friction.reacting, i)) return carom_fault_memory(r);
        m->friction.reacting[m->friction.nreacting++] = id;
    }
    *x = carom_graph_input(m->graph, CAROM_PARAMETER, m->np + i);
    return CAROM_OK;
}

// |R|, the reaction of a joint across its axis: its first rows.
static carom_status joint_force(resolver *r, int first, int rows, carom_node *force) {
    carom_graph *g = r->m->graph;
    carom_node sum = n_num(g, 0), x;
    for (int i = 0; i < rows; ++i) {
        CAROM_TRY(carom_reaction_input(r, first + i, &x));
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
static carom_status joint_slips(resolver *r, const carom_mech_contact *of, joint *j, carom_sliding_surfaces what,
                                constraint *c) {
    carom_graph *g = r->m->graph;
    const carom_datum *n = carom_given(&of->radius);
    double radius = 0;
    if (!n && what.turns)
        return carom_fault(r, &of->name, 0,
                           "contact '%.60s' is friction in a joint that turns; add `radius:`, that of the bearing",
                           of->name.text);
    if (n && !what.turns) return carom_fault(r, n->key, 0, "joint '%s' does not turn; remove `radius`", j->name);
    if (n) CAROM_TRY(carom_resolve_number(r, n, "radius", &radius));
    if (n && !(radius > 0)) return carom_fault(r, n, 0, "radius must be positive, got %g", radius);
    const vec w = v_scale(g,
                          v_sub(g, carom_shape_turning(g, r->m, &(shape){.body = j->B}),
                                carom_shape_turning(g, r->m, &(shape){.body = j->A})),
                          n_num(g, radius));
    const double s[3] = {j->X_A[2], j->X_A[5], j->X_A[8]}, s_B[3] = {j->X_B[2], j->X_B[5], j->X_B[8]};
    const double pitch = what.thread ? atan2(j->lead, radius) : 0;
    const bool second = carom_contact_stop(r, of) == STOP_SECOND;
    vec z;
    carom_body_vector(r, second ? j->B : j->A, second ? s_B : s, z.c);
    if (what.thread) { // (FV-8)  along the helix: cos(l) r w + sin(l) s', tan(l) = lead/r
        const carom_node turn = n_mul(g, n_num(g, cos(pitch)), v_dot(g, z, w));
        slide(c, n_add(g, turn, n_mul(g, n_num(g, sin(pitch)), carom_graph_rate(g, j->shift, r->m->visible.nv))));
        return CAROM_OK;
    }
    for (int i = 0; i < 2 && what.plane; ++i) {
        static const char *const parts[] = {"shift1", "shift2"};
        bool shift;
        carom_node x;
        const carom_datum part = {.kind = CAROM_TEXT, .text = parts[i], .length = 6};
        CAROM_TRY(carom_joint_part(r, &of->name, j, &part, &x, &shift));
        slide(c, carom_graph_rate(g, x, r->m->visible.nv));
    }
    if (what.ball)
        for (int i = 0; i < 3; ++i) slide(c, w.c[i]);
    else if (what.turns) slide(c, j->spatial ? v_dot(g, z, w) : w.c[2]);
    if (what.slides) slide(c, carom_graph_rate(g, j->shift, r->m->visible.nv));
    return CAROM_OK;
}

enum { SCREW_ROW = 4 }; // of a screw: behind two that keep a point on the axis and two of parallel axes

carom_status carom_derive_pressed(resolver *r, const carom_mech_contact *of, constraint *c, carom_pressed *p) {
    carom_model *m = r->m;
    carom_graph *g = m->graph;
    const carom_datum *joint_of = carom_given(&of->joint), *force = carom_given(&of->normal_force);
    int k = m->first_pressed; // its coordinate
    for (const carom_mech_contact *x = r->mech->contacts; x != of; ++x) k += carom_contact_pressed(x);
    c->gap = carom_graph_input(g, CAROM_POSITION, k);
    c->place = joint_of ? joint_of : force;
    *p = (carom_pressed){.y = k};
    if (joint_of) {
        joint *j = NULL;
        carom_sliding_surfaces what;
        CAROM_TRY(carom_find_joint(r, joint_of, &j));
        CAROM_TRY(carom_joint_slides(r, joint_of, j, &what));
        CAROM_TRY(joint_slips(r, of, j, what, c));
        p->first = j->first + (what.thread ? SCREW_ROW : 0);
        p->rows = what.rows;
        CAROM_TRY(joint_force(r, p->first, p->rows, &r->joint_force));
        if (what.thread) { // (FV-8)  N = F/cos(l) of the axial force F
            double radius = 0;
            CAROM_TRY(carom_resolve_number(r, &of->radius, "radius", &radius));
            r->joint_force = n_mul(g, r->joint_force, n_num(g, hypot(1, j->lead / radius)));
        }
    }
    p->N = r->joint_force;
    if (force)
        CAROM_TRY(
            carom_resolve_expression(r, force, SCOPE_STATE | (joint_of ? SCOPE_JOINT : 0), "the normal force", &p->N));
    p->N = n_op(g, CAROM_OP_MAX, n_num(g, 0), p->N);
    return CAROM_OK;
}

// -- mass and load ----------------------------------------------------------------------------------------------------

// The power of two next to x > 0; 1 for anything else.
static double power_of_two(double x) {
    int e;
    if (!(x > DBL_MIN && x < DBL_MAX)) return 1;
    return frexp(x, &e) > 0.70710678118654752 ? ldexp(1, e) : ldexp(1, e - 1);
}

/// Nodes that are evaluated at the start, all at once.
typedef struct sample { carom_node *x; int n; double *value; } sample;

static carom_status evaluate(resolver *r, sample *s) {
    return carom_values_at_start(r->m, s->x, s->n, s->value) ? CAROM_OK : carom_fault_memory(r);
}

// d'M^-1 d with the diagonal of M, where it is known
static double mobility(const double *d, const double *M, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
        if (M[i] > 0 && d[i] * d[i] / M[i] < HUGE_VAL) sum += d[i] * d[i] / M[i];
    return sum;
}

// (FV-7)  1/m = w'M^-1 w,  (F/m)^2 = A/m,  A = max(f'M^-1 f, N^2/m, kappa_j^2/(W_j'M^-1 W_j)) at the start, kinetic
//         energy over (1 s)^2 where that is 0; w the direction of slip, j the rows of the joint that rubs, M by its
//         diagonal
carom_status carom_press(resolver *r, const constraint *c, const carom_pressed *p, carom_node *share) {
    carom_model *m = r->m;
    carom_graph *g = m->graph;
    const int n = m->visible.nv_own, rows = p->rows, total = n * (2 + c->tangents + rows) + rows + 2;
    sample s = {.x = malloc((size_t)total * sizeof *s.x), .value = calloc((size_t)total, sizeof *s.value)};
    if (!s.x || !s.value) {
        free(s.x);
        free(s.value);
        return carom_fault_memory(r);
    }
    for (int i = 0; i < n; ++i)
        s.x[s.n++] = carom_graph_diff(g, carom_graph_diff(g, m->kinetic, CAROM_VELOCITY, i), CAROM_VELOCITY, i);
    for (int i = 0; i < n; ++i) {
        const carom_node f = carom_graph_along(g, m->potential, i);
        s.x[s.n++] = m->force[i] == CAROM_NONE ? f : n_sub(g, f, m->force[i]);
    }
    for (int t = 0; t < c->tangents; ++t)
        for (int i = 0; i < n; ++i)
            s.x[s.n++] =
                c->rate[t] ? carom_graph_diff(g, c->slip[t], CAROM_VELOCITY, i) : carom_graph_along(g, c->slip[t], i);
    for (int j = 0; j < rows; ++j)
        for (int i = 0; i < n; ++i) s.x[s.n++] = carom_graph_along(g, m->links[p->first + j].gap, i);
    for (int j = 0; j < rows; ++j)
        s.x[s.n++] = carom_graph_motion(g, carom_graph_motion(g, m->links[p->first + j].gap));
    s.x[s.n++] = p->N;
    s.x[s.n++] = m->kinetic;
    const carom_status status = carom_graph_failed(g) ? carom_fault_memory(r) : evaluate(r, &s);
    m->scaled = true; // mass and load go into the structure, and the initial state may depend on any parameter; but
                      // motions do not depend on them
    const double *M = s.value, *f = M + n, *w = f + n, *W = w + n * c->tangents, *kappa = W + n * rows,
                 *rest = kappa + rows;
    double slip = 0, A = mobility(f, M, n);
    for (int t = 0; t < c->tangents; ++t) slip = fmax(slip, mobility(w + t * n, M, n));
    for (int j = 0; j < rows; ++j) {
        const double own = mobility(W + j * n, M, n);
        if (own > 0) A = fmax(A, kappa[j] * kappa[j] / own);
    }
    A = fmax(A, rest[0] * rest[0] * slip);
    if (!(A > 0)) A = 2 * rest[1];
    const double mass = power_of_two(1 / slip), load = power_of_two(sqrt(A / slip));
    free(s.x);
    free(s.value);
    CAROM_TRY(status);
    const carom_node v = carom_graph_input(g, CAROM_VELOCITY, p->y), T = n_mul(g, n_num(g, 0.5 * mass), n_mul(g, v, v));
    m->energy_of.own_kinetic = n_add(g, m->energy_of.own_kinetic, T);
    m->kinetic = n_add(g, m->kinetic, T);
    m->potential = n_add(g, m->potential, n_mul(g, n_num(g, load), carom_graph_input(g, CAROM_POSITION, p->y)));
    *share = n_mul(g, n_num(g, 1 / load), p->N);
    return CAROM_OK;
}
