// derive.c: from energies, forces, gaps and slips to every expression that a scheme may ask for.
//
// With p = dT/dv and v constant in all derivatives by q and t:
//     M = dp/dv,   f = dT/dq - (dp/dq) v - dp/dt - dV/dq + F,
//     W = dg/dq (normal), ds/dq or the coefficients of the slip rate (tangential),   w = dg/dt, ds/dt or the slip rate
//     at v = 0, kappa = (du/dq) v + du/dt  of  u = W'v + w,   K = -df/dq,   C = -df/dv.
// Only entries that are not zero by structure are kept.
#include "model/watch.h"
#include "expr/graph.h"
#include "derive/shapes/shapes.h"
#include <stdlib.h>
#include <string.h>

static carom_status derive_mass(carom_model *m, const carom_node *M, carom_error *err) {
    carom_graph *g = m->graph;
    const carom_node none = carom_graph_number(g, 0); // most of them: of many bodies each has its own
    for (int i = 0; i < m->nkin; ++i) {
        const char *a = i < m->visible.nv_own ? carom_model_freedom(m, i) : NULL;
        for (int j = 0; j <= i; ++j) {
            const carom_node x = M[i * m->nkin + j];
            if (x == none && i != j) continue;
            if (carom_node_zero(g, x) && i == j && a)
                return carom_model_fault(m, err, m->energy,
                                         "coordinate '%.60s' has no mass: the kinetic energy must contain %.60s'^2", a,
                                         a);
            if (carom_node_zero(g, x)) continue;
            if (!carom_terms_add(&m->mass, x, i, j, 0) || !carom_terms_gradient(m, &m->dM, x, CAROM_POSITION, 1, i, j))
                return carom_model_no_memory(m, err);
        }
    }
    return CAROM_OK;
}

static carom_node cross(carom_graph *g, const carom_node *a, const carom_node *b, int i) {
    return n_sub(g, n_mul(g, a[(i + 1) % 3], b[(i + 2) % 3]), n_mul(g, a[(i + 2) % 3], b[(i + 1) % 3]));
}

// (BOD-5)  M = diag(m, m, m, J),  f = (0, -w x p)  with p = J w + dT/dw: angular velocities are no rates of
//          coordinates,
// and what `energy` says of them (T) is changed by turning with them
static void derive_bodies(carom_model *m, carom_node *M, carom_node *f) {
    carom_graph *g = m->graph;
    const int n = m->nkin;
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v < 0 || b->free) continue;
        const int linear = b->space == SPATIAL ? 3 : 2, angular = b->space == SPATIAL ? 3 : 1;
        for (int k = 0; k < linear; ++k) {
            carom_node *entry = &M[(b->v + k) * (n + 1)];
            *entry = n_add(g, *entry, b->mass_node);
        }
        carom_node w[3], p[3];
        for (int k = 0; k < angular; ++k) {
            const int row = b->v + linear + k;
            if (angular == 3) {
                w[k] = carom_graph_input(g, CAROM_VELOCITY, row);
                p[k] = carom_node_derivative(g, m->energy_of.own_kinetic, CAROM_VELOCITY, row);
            }
            for (int l = 0; l < angular; ++l) {
                const carom_node J = b->J_node[angular == 3 ? carom_inertia_at[3 * k + l] : 2];
                carom_node *entry = &M[row * n + b->v + linear + l];
                *entry = n_add(g, *entry, J);
                if (angular == 3)
                    p[k] = n_add(g, p[k], n_mul(g, J, carom_graph_input(g, CAROM_VELOCITY, b->v + 3 + l)));
            }
        }
        for (int k = 0; k < angular && angular == 3; ++k)
            f[b->v + 3 + k] = n_sub(g, f[b->v + 3 + k], cross(g, w, p, k));
    }
}

// dV/dq_i of V = c V' with c that nothing moves: d is that of V'.
static carom_node scaled(carom_graph *g, carom_node V, carom_node inner, carom_node d) {
    const carom_vertex v = g->node[V];
    if (V == inner) return d;
    if (v.op == CAROM_OP_NEG) return n_fun(g, CAROM_OP_NEG, scaled(g, v.a, inner, d));
    return carom_graph_inputs(g, v.a) ? n_mul(g, scaled(g, v.a, inner, d), v.b)
                                      : n_mul(g, v.a, scaled(g, v.b, inner, d));
}

// V' of V = c V': a sum, where V is one times numbers.
static carom_node inner_sum(const carom_graph *g, carom_node V) {
    carom_node x = V;
    for (;;) {
        const carom_vertex *v = &g->node[x];
        if (v->op == CAROM_OP_NEG) x = v->a;
        else if (v->op == CAROM_OP_MUL && !carom_graph_inputs(g, v->a)) x = v->b;
        else if (v->op == CAROM_OP_MUL && !carom_graph_inputs(g, v->b)) x = v->a;
        else return carom_graph_sum(g, x) ? x : V;
    }
}

// d += sign dx/dq
static bool add_gradient(carom_graph *g, carom_node *d, carom_op sign, carom_node x) {
    int n, *way = carom_graph_ways(g, x, CAROM_POSITION, &n);
    for (int k = 0; way && k < n; ++k) {
        const carom_node own = carom_node_derivative(g, x, CAROM_POSITION, way[k]);
        d[way[k]] = sign == CAROM_OP_ADD ? n_add(g, d[way[k]], own) : n_sub(g, d[way[k]], own);
    }
    free(way);
    return way;
}

// f -= dV/dq.  V is a sum, of a term for each body as a rule: every term is differentiated along what moves it alone.
static bool subtract_gradient(carom_model *m, carom_node *f) {
    carom_graph *g = m->graph;
    const carom_node inner = inner_sum(g, m->potential);
    int terms = 1;
    for (carom_node x = inner; carom_graph_sum(g, x); x = g->node[x].a) ++terms;
    // the partial sums, the whole one last
    carom_node *sum = malloc(((size_t)terms + (size_t)m->visible.nv) * sizeof *sum), *d = sum + terms;
    if (!sum) return false;
    sum[terms - 1] = inner;
    for (int k = terms - 1; k > 0; --k) sum[k - 1] = g->node[sum[k]].a;
    for (int i = 0; i < m->visible.nv; ++i) d[i] = carom_graph_number(g, 0);
    bool good = add_gradient(g, d, CAROM_OP_ADD, sum[0]);
    for (int k = 1; good && k < terms; ++k) good = add_gradient(g, d, g->node[sum[k]].op, g->node[sum[k]].b);
    for (int i = 0; good && i < m->visible.nv; ++i) f[i] = n_sub(g, f[i], scaled(g, m->potential, inner, d[i]));
    free(sum);
    return good;
}

// M and f; f holds the forces of inertia first.
static carom_status derive_motion(carom_model *m, carom_node *f, carom_error *err) {
    carom_graph *g = m->graph;
    carom_node *M = calloc((size_t)m->nkin * (size_t)m->nkin + 1, sizeof *M);
    if (!M) return carom_model_no_memory(m, err);
    for (int i = 0; i < m->visible.nv; ++i) f[i] = carom_graph_number(g, 0);
    carom_status status = m->nkin ? carom_graph_lagrange(g, m->energy_of.own_kinetic, m->nkin, M, f, err) : CAROM_OK;
    if (status == CAROM_BAD_INPUT)
        carom_model_fault(
            m, err, m->energy,
            "the kinetic energy is not quadratic in the rates; every term must hold two rates as factors");
    if (status == CAROM_OK) {
        derive_bodies(m, M, f);
        status = derive_mass(m, M, err);
    }
    free(M);
    CAROM_TRY(status);
    if (!subtract_gradient(m, f)) return carom_model_no_memory(m, err);
    for (int i = 0; i < m->visible.nv_own; ++i)
        if (m->force[i] != CAROM_NONE) f[i] = n_add(g, f[i], m->force[i]);
    for (int k = 0; k < m->state.n; ++k) { // (STA-1)
        carom_node *own = &f[m->state.first + k];
        *own = n_add(g, *own, n_mul(g, n_num(g, m->state.mass[k]), m->state.rate[k]));
    }
    const terms *F = &m->point_force;
    for (int e = 0; e < F->n; ++e) f[F->i[e]] = n_add(g, f[F->i[e]], F->node[e]);
    return CAROM_OK;
}

static void add_power(carom_graph *g, carom_node power[2], int i, carom_node F) {
    const carom_node v = carom_graph_input(g, CAROM_VELOCITY, i), rest = carom_graph_at_rest(g, F);
    power[0] = n_add(g, power[0], n_mul(g, v, rest));
    if (rest != F) power[1] = n_add(g, power[1], n_mul(g, v, n_sub(g, rest, F)));
}

// A force is external for what it is at v = 0 and damping for the rest; what moves energies in time is external too.
static void derive_power(carom_model *m, carom_node power[2]) {
    carom_graph *g = m->graph;
    power[0] = n_sub(g, carom_node_derivative(g, m->potential, CAROM_TIME, 0),
                     carom_node_derivative(g, m->kinetic, CAROM_TIME, 0));
    if (m->state.n) power[0] = n_add(g, power[0], carom_moved_by_states(m, m->potential));
    power[1] = carom_graph_number(g, 0);
    for (int i = 0; i < m->visible.nv_own; ++i)
        if (m->force[i] != CAROM_NONE) add_power(g, power, i, m->force[i]);
    for (int e = 0; e < m->point_force.n; ++e) add_power(g, power, m->point_force.i[e], m->point_force.node[e]);
    for (int i = 0; i < 2; ++i) power[i] = n_add(g, power[i], m->driven);
}

// Is a force other than linear in the velocities?  Linear ones are resolved wherever a step is stable.
static bool steep(carom_model *m, carom_node F) {
    for (int i = 0; i < m->visible.nv; ++i) {
        if (!carom_graph_depends(m->graph, F, CAROM_VELOCITY, i)) continue;
        const carom_node slope = carom_graph_diff(m->graph, F, CAROM_VELOCITY, i);
        for (int k = 0; k < m->visible.nv; ++k)
            if (carom_graph_depends(m->graph, slope, CAROM_VELOCITY, k)) return true;
    }
    return false;
}

// The power as sums of velocities x times factors:  external = dV/dt - dT/dt + carried + sum x_i (F_i(v=0) + drag_i),
// damping = carried + sum x_i (F_i(v=0) - F_i + drag_i).
static carom_group derive_along(carom_model *m) {
    const carom_group none = {.count = -1}, empty = {.count = 0, .nodes = m->power};
    carom_graph *g = m->graph;
    const int n = m->visible.nv;
    const terms *P = &m->point_force;
    bool asked = m->near && m->near->yields;
    for (int i = 0; i < m->visible.nv_own && !asked; ++i) asked = m->force[i] != CAROM_NONE && steep(m, m->force[i]);
    for (int e = 0; e < P->n && !asked; ++e) asked = steep(m, P->node[e]);
    if (!asked) return empty;
    carom_node *node = carom_pool_take(&m->memory, 2 * ((size_t)n + 1) * sizeof *node),
               *F = malloc(2 * ((size_t)n + 1) * sizeof *F);
    m->along = carom_pool_take(&m->memory, ((size_t)n + 1) * sizeof *m->along);
    if (!node || !F || !m->along) return free(F), none;
    carom_node *drag = F + n;
    for (int i = 0; i < n; ++i)
        F[i] = i < m->visible.nv_own ? m->force[i] : CAROM_NONE, drag[i] = carom_graph_number(g, 0);
    for (int e = 0; e < P->n; ++e)
        F[P->i[e]] = F[P->i[e]] == CAROM_NONE ? P->node[e] : n_add(g, F[P->i[e]], P->node[e]);
    for (int e = 0; e < m->drag.n; ++e) drag[m->drag.i[e]] = n_add(g, drag[m->drag.i[e]], m->drag.node[e]);
    node[0] = n_add(g,
                    n_sub(g, carom_node_derivative(g, m->potential, CAROM_TIME, 0),
                          carom_node_derivative(g, m->kinetic, CAROM_TIME, 0)),
                    m->carried);
    if (m->state.n) node[0] = n_add(g, node[0], carom_moved_by_states(m, m->potential));
    node[1] = m->carried;
    for (int i = 0; i < n; ++i) {
        if (F[i] == CAROM_NONE) continue;
        const carom_node given = n_add(g, carom_graph_at_rest(g, F[i]), drag[i]);
        node[2 + 2 * m->nalong] = given;
        node[3 + 2 * m->nalong] = n_sub(g, given, F[i]);
        m->along[m->nalong++] = i;
    }
    free(F);
    return (carom_group){.count = 2 + 2 * m->nalong, .nodes = node};
}

// Two lists of nodes behind each other, as a group.
static carom_group join(carom_model *m, const carom_node *a, int na, const carom_node *b, int nb) {
    carom_node *node = carom_pool_take(&m->memory, ((size_t)na + (size_t)nb + 1) * sizeof *node);
    if (!node) return (carom_group){.count = -1, .nodes = NULL};
    if (na) memcpy(node, a, (size_t)na * sizeof *node);
    if (nb) memcpy(node + na, b, (size_t)nb * sizeof *node);
    return (carom_group){.count = na + nb, .nodes = node};
}

// Velocities of the exact solution: rates of its positions, for angular velocities w = 2 conj(e) o e'.
static void exact_rates(carom_model *m, carom_node *rate) {
    carom_graph *g = m->graph;
    for (int i = 0; i < m->nq; ++i)
        if (i < m->visible.nq_own && m->velocity_of[i] >= 0)
            rate[m->velocity_of[i]] = carom_node_derivative(g, m->exact[i], CAROM_TIME, 0);
    for (int i = m->visible.nq_own; i < m->nq; ++i) // unknowns of members
        rate[i - m->visible.nq_own + m->visible.nv_own] = carom_node_derivative(g, m->exact[i], CAROM_TIME, 0);
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v < 0 || b->space != SPATIAL) continue;
        const carom_node *e = m->exact + b->orientation;
        carom_node d[4];
        for (int k = 0; k < 4; ++k) d[k] = carom_node_derivative(g, e[k], CAROM_TIME, 0);
        for (int k = 0; k < 3; ++k) {
            const carom_node x = n_sub(g, n_mul(g, e[0], d[1 + k]), n_mul(g, d[0], e[1 + k]));
            rate[b->v + 3 + k] = n_mul(g, carom_graph_number(g, 2), n_sub(g, x, cross(g, e + 1, d + 1, k)));
        }
    }
}

// Forces and masses.  A dense M stands there whole, zeros too, so that taking it is one copy.
static carom_group join_motion(carom_model *m, const carom_node *f) {
    const int n = m->visible.nv;
    m->whole_mass = carom_model_mass_whole(m);
    if (!m->whole_mass) return join(m, f, n, m->mass.node, m->mass.n);
    carom_node *node = carom_pool_take(&m->memory, ((size_t)n + (size_t)n * (size_t)n) * sizeof *node), *M = node + n;
    if (!node) return (carom_group){.count = -1, .nodes = NULL};
    memcpy(node, f, (size_t)n * sizeof *node);
    const carom_node nothing = carom_graph_number(m->graph, 0);
    for (int i = 0; i < n * n; ++i) M[i] = nothing;
    for (int e = 0; e < m->mass.n; ++e) {
        const int i = m->mass.i[e], j = m->mass.j[e];
        M[i + j * n] = M[j + i * n] = m->mass.node[e];
    }
    return (carom_group){.count = n + n * n, .nodes = node};
}

// The same with gaps and directions, where expressions are all there is and W is small: zeros of W are stored as well.
static carom_group join_directions(carom_model *m, carom_group motion, const carom_node *gap) {
    enum { MOST = 64 }; // entries of W.  Beyond that its zeros cost more than the second call
    const int n = m->visible.nv, ndir = m->own.dir, links = m->own.links, all = motion.count + links + (n + 1) * ndir;
    m->only_expressions = m->nmember == 0 && m->whole_mass && !m->nfree && !m->near && m->npairs == 0;
    if (!m->only_expressions || ndir == 0 || n * ndir > MOST) return (carom_group){.count = 0, .nodes = motion.nodes};
    carom_node *node = carom_pool_take(&m->memory, (size_t)all * sizeof *node), *W = node + motion.count + links,
               *w = W + n * ndir;
    if (!node) return (carom_group){.count = -1, .nodes = NULL};
    memcpy(node, motion.nodes, (size_t)motion.count * sizeof *node);
    memcpy(node + motion.count, gap, (size_t)links * sizeof *node);
    for (int k = 0; k < (n + 1) * ndir; ++k) W[k] = carom_graph_number(m->graph, 0);
    for (int d = 0; d < ndir; ++d) {
        for (int e = m->place.W[d]; e < m->place.W[d + 1]; ++e) W[m->W.i[e] + d * n] = m->W.node[e];
        if (m->place.w[d] >= 0) w[d] = m->w.node[m->place.w[d]];
    }
    return (carom_group){.count = all, .nodes = node, .list = {n, motion.count - n, links, n * ndir, ndir}};
}

static carom_group join_asked(carom_model *m) {
    carom_node *at = carom_pool_take(&m->memory, ((size_t)m->nasked + 1) * sizeof *at);
    if (!at) return (carom_group){.count = -1};
    for (int i = 0; i < m->nasked; ++i) at[i] = m->asked[i].at;
    return (carom_group){.count = m->nasked, .nodes = at};
}

// Numbers of the largest group, with what pairs add.  False: a group has no memory.
static bool find_scratch(carom_model *m, const carom_group *group) {
    const int more[] = {2 * m->visible.nq,
                        m->W.n + m->w.n,
                        m->ndir,
                        m->dW.n + m->dw.n,
                        2 + m->ne + m->nc,
                        CAROM_FRICTION_LAW * m->friction.n,
                        2 * m->nchecks + m->nobserved};
    for (size_t k = 0; k < sizeof more / sizeof *more; ++k)
        if (more[k] > m->scratch_count) m->scratch_count = more[k];
    for (int k = 0; k < GROUP_COUNT; ++k) {
        if (group[k].count < 0) return false;
        if (group[k].count > m->scratch_count) m->scratch_count = group[k].count;
    }
    return true;
}

// sides: of checks, then what is observed.
static carom_status compile_tapes(carom_model *m, const carom_group *group, const carom_node *sides, carom_error *err) {
    carom_graph *g = m->graph;
    const int n = m->visible.nv;
    int ledger = 0;
    while (carom_ledger_name(ledger)) ++ledger;
    m->check_parameters = m->np + ledger + WATCH_COUNT * m->nwatch;
    const carom_group checks = {.count = 2 * m->nchecks + m->nobserved, .nodes = sides};
    m->tape = carom_tape_compile(g, group, GROUP_COUNT, m->visible.nq, n, m->np, err);
    m->check_tape = m->tape ? carom_tape_compile(g, &checks, 1, m->visible.nq, n, m->check_parameters, err) : NULL;
    const carom_group rub = {.count = CAROM_FRICTION_LAW * m->friction.n, .nodes = m->friction.node};
    if (m->friction.n)
        m->friction.tape = carom_tape_compile(g, &rub, 1, m->visible.nq, n, m->np + m->friction.nreacting, err);
    if (m->friction.n && !m->friction.tape) return CAROM_NO_MEMORY;
    if (m->near && m->near->nrubs) {
        const carom_group rubs = {.count = 2 * m->near->nrubs, .nodes = m->near->rubs};
        m->near->rub_tape = carom_tape_compile(g, &rubs, 1, m->visible.nq, n, m->np + 2, err);
        if (!m->near->rub_tape) return CAROM_NO_MEMORY;
    }
    return m->check_tape ? CAROM_OK : CAROM_NO_MEMORY;
}

// Nine numbers of each joint: x, y, z of its frame in the world; zero for axes that none of its constraints acts along.
// NULL: not enough memory.
static carom_node *joint_frames(carom_model *m) {
    carom_node *frames = carom_pool_take(&m->memory, (9 * (size_t)m->njoints + 1) * sizeof *frames);
    for (int i = 0; frames && i < 9 * m->njoints; ++i) {
        const joint *j = &m->joints[i / 9];
        frames[i] = i % 9 / 3 < j->turned ? j->frame[i % 9] : carom_graph_number(m->graph, 0);
    }
    return frames;
}

// Lower bounds of the gaps of pairs, then their rates.  NULL: not enough memory.
static carom_node *pair_bounds(carom_model *m) {
    carom_node *bound = carom_pool_take(&m->memory, (2 * (size_t)m->npairs + 1) * sizeof *bound);
    for (int i = 0; bound && i < m->npairs; ++i) {
        bound[i] = m->pairs[i].own->bound == CAROM_NONE ? carom_graph_number(m->graph, 0) : m->pairs[i].own->bound;
        bound[m->npairs + i] = carom_graph_motion(m->graph, bound[i]);
    }
    return bound;
}

// Planar bodies without coordinates of their own that are not at rest: twelve numbers each, where contours need them.
static carom_group driven_bodies(carom_model *m) {
    bool contours = false;
    for (int i = 0; i < m->nshapes; ++i) contours = contours || m->shapes[i].contour;
    carom_node *at = contours ? carom_pool_take(&m->memory, (12 * (size_t)m->nbodies + 1) * sizeof *at) : NULL;
    if (contours && !at) return (carom_group){.count = -1};
    int n = 0;
    for (int i = 0; i < m->nbodies && contours; ++i) {
        body *b = &m->bodies[i];
        if (b->v >= 0 || b->space != PLANAR || carom_body_fixed(m->graph, b)) continue;
        memcpy(at + 12 * n, b->r, sizeof b->r);
        memcpy(at + 12 * n + 3, b->R, sizeof b->R);
        b->driven = ++n;
    }
    return (carom_group){.count = 12 * n, .nodes = at};
}

// Powers of elements, then their energies.  NULL: not enough memory.
static carom_node *element_powers(carom_model *m) {
    carom_node *element = carom_pool_take(&m->memory, (2 * (size_t)m->nelements + 1) * sizeof *element);
    for (int i = 0; element && i < m->nelements; ++i)
        element[i] = m->elements[i].power, element[m->nelements + i] = m->elements[i].energy;
    return element;
}

// After which group each is evaluated most often, and the lists of those that give several quantities.
static void arrange(carom_group *group, int n, int mass, int links) {
    group[GROUP_ROW].after = group[GROUP_FORCE].after = 1 + GROUP_OBSERVE; // which ended the last step
    group[GROUP_DIRECTIONS].after = 1 + GROUP_MOTION_GAPS;
    group[GROUP_TANGENT].after = 1 + GROUP_MOTION; // in implicit steps
    group[GROUP_MASS_GRADIENT].after = 1 + GROUP_TANGENT;
    group[GROUP_REACTION_GRADIENT].after = 1 + GROUP_DIRECTIONS;
    const int lists[][1 + CAROM_LISTS] = {{GROUP_FORCE, n},
                                          {GROUP_GAPS, links},
                                          {GROUP_OBSERVE, 1, 1, links},
                                          {GROUP_MOTION, n, mass},
                                          {GROUP_MOTION_GAPS, n, mass, links}};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; ++k)
        memcpy(group[lists[k][0]].list, lists[k] + 1, sizeof group->list);
}

static carom_status compile(carom_model *m, const carom_node *f, const carom_node *kappa, carom_error *err) {
    carom_graph *g = m->graph;
    const int n = m->visible.nv, links = m->ne + m->nc;
    carom_node *gap = carom_pool_take(&m->memory, ((size_t)links + 1) * sizeof *gap),
               *rate = carom_pool_take(&m->memory, ((size_t)(m->exact ? m->nv : 0) + 1) * sizeof *rate);
    carom_node *sides =
        carom_pool_take(&m->memory, (2 * (size_t)m->nchecks + (size_t)m->nobserved + 1) * sizeof *sides);
    if (!gap || !rate || !sides) return carom_model_no_memory(m, err);
    for (int id = 0; id < links; ++id) gap[id] = m->links[id].gap;
    if (m->exact) exact_rates(m, rate);
    for (int i = 0; i < m->nchecks; ++i) sides[2 * i] = m->checks[i].left, sides[2 * i + 1] = m->checks[i].right;
    for (int i = 0; i < m->nobserved; ++i) sides[2 * m->nchecks + i] = m->observed[i];
    const carom_node energy[2] = {m->kinetic, m->potential};
    carom_node *const frames = joint_frames(m), *const power = m->power;
    if (!frames) return carom_model_no_memory(m, err);
    derive_power(m, power);
    const span own = m->own = carom_model_span(m, m->npairs ? m->pairs[0].first : links);
    carom_node *const bound = pair_bounds(m);
    if (!bound) return carom_model_no_memory(m, err);
    carom_node *const element = element_powers(m);
    if (!element) return carom_model_no_memory(m, err);
    const carom_group motion = join_motion(m, f);
    const carom_group driven = driven_bodies(m);
    if (motion.count < 0 || driven.count < 0) return carom_model_no_memory(m, err);
    carom_group row = join(m, energy, 2, m->u, own.dir);
    if (row.count >= 0) row = join(m, row.nodes, row.count, m->output_node, m->nout);
    carom_group group[GROUP_COUNT] = {
        [GROUP_MASS] = join(m, m->mass.node, m->mass.n, NULL, 0),
        [GROUP_FORCE] = join(m, f, n, NULL, 0),
        [GROUP_GAPS] = join(m, gap, own.links, NULL, 0),
        [GROUP_DIRECTIONS] = join(m, m->W.node, own.W, m->w.node, own.w),
        [GROUP_RATES] = join(m, m->u, own.dir, NULL, 0),
        [GROUP_CURVATURE] = join(m, kappa, own.dir, NULL, 0),
        [GROUP_TANGENT] = join(m, m->K.node, m->K.n, m->C.node, m->C.n),
        [GROUP_MASS_GRADIENT] = join(m, m->dM.node, m->dM.n, NULL, 0),
        [GROUP_REACTION_GRADIENT] = join(m, m->dW.node, own.dW, NULL, 0),
        [GROUP_RATE_GRADIENT] = join(m, m->dW.node, own.dW, m->dw.node, own.dw),
        [GROUP_ENERGY] = join(m, energy, 2, NULL, 0),
        [GROUP_POWER] = join(m, power, 2, NULL, 0),
        [GROUP_ALONG] = derive_along(m),
        [GROUP_OBSERVE] = join(m, power, 2, gap, own.links),
        [GROUP_MOTION] = motion,
        [GROUP_MOTION_GAPS] = join(m, motion.nodes, motion.count, gap, own.links),
        [GROUP_MOTION_DIRECTIONS] = join_directions(m, motion, gap),
        [GROUP_ROW] = row,
        [GROUP_OUTPUTS] = join(m, m->output_node, m->nout, NULL, 0),
        [GROUP_EXACT] = join(m, m->exact, m->exact ? m->nq : 0, rate, m->exact ? m->nv : 0),
        [GROUP_WATCH] = join(m, m->watch, m->nwatch, NULL, 0),
        [GROUP_FRAMES] = join(m, frames, 9 * m->njoints, NULL, 0),
        [GROUP_ELEMENTS] = join(m, element, 2 * m->nelements, NULL, 0),
        [GROUP_BOUNDS] = join(m, bound, m->npairs, NULL, 0),
        [GROUP_ASKED] = join_asked(m),
        [GROUP_CONTROL] = join(m, m->signal.node, m->signal.nnodes, NULL, 0),
        [GROUP_KINKS] = join(m, m->kink, m->nkinks, NULL, 0),
        [GROUP_DRIVEN] = driven,
        [GROUP_BELTS] = join(m, m->near ? m->near->belts : NULL, m->near ? 6 * m->near->nbelts : 0, NULL, 0),
        [GROUP_BOUND_RATES] = join(m, bound + m->npairs, m->npairs, NULL, 0),
    };
    arrange(group, n, motion.count - n, own.links);
    if (!find_scratch(m, group)) return carom_model_no_memory(m, err);
    if (carom_graph_failed(g))
        return carom_fail(
            err, CAROM_NO_MEMORY,
            "%.200s: the derivatives of this model are too large; simplify it, or build the system with the C library",
            m->file);
    CAROM_TRY(compile_tapes(m, group, sides, err));
    return carom_pairs_compile(m, kappa, err);
}

carom_status carom_model_derive(carom_model *m, carom_error *err) {
    carom_node *f = carom_pool_take(&m->memory, ((size_t)m->visible.nv + 1) * sizeof *f), *kappa = NULL;
    if (!f) return carom_model_no_memory(m, err);
    m->f = f;
    CAROM_TRY(derive_motion(m, f, err));
    for (int i = 0; i < m->visible.nv; ++i)
        if (!carom_terms_gradient(m, &m->K, f[i], CAROM_POSITION, -1, i, -1) ||
            !carom_terms_gradient(m, &m->C, f[i], CAROM_VELOCITY, -1, i, -1))
            return carom_model_no_memory(m, err);
    CAROM_TRY(carom_kinds_make(m, err));
    CAROM_TRY(carom_near_make(m, err));
    CAROM_TRY(carom_model_derive_directions(m, &kappa, err));
    CAROM_TRY(compile(m, f, kappa, err));
    CAROM_TRY(carom_times_make(m, err));
    carom_model_renumber(m);
    return CAROM_OK;
}
