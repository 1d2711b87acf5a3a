// floating.c: flexible members with a frame of their own, which moves and turns as it likes: floating frame of
// reference.
//
// The frame is a body without mass of its own; unknowns of nodes are small displacements d and rotations th in it.
// Velocities of nodes in the axes of the frame, with a = R'r' and X the place of the node,
//     V = a + w x (X + d) + d'                                                                                (FLX-20)
//     Omega_y = w_y + th_y' - w_x th_z,   Omega_z = w_z + th_z' + w_x th_y                                    (FLX-21)
//     Omega_x = w_x + th_x' + w_y th_z - w_z th_y - w_x (th_y^2 + th_z^2)/2 - (th_y th_z' - th_z th_y')/2
// are interpolated by the element's own shape functions, so that the mass matrix M of the member at rest serves at all
// times:
//     T = 1/2 (V, Omega)' M (V, Omega),  potential 1/2 x'K x + sum_e N_e - g.(mass r + R sum_i p_i (X_i + d_i))
//     (FLX-22)
// with p the consistent weights of gravity, x the unknowns.  (FLX-21) is at once the slope of V along the member, so
// that bending that turns with the frame has the right velocity between nodes, and the angular velocity of a section in
// its own axes: M has its rotary inertia, a spinning member its gyroscopic moments.  Bending makes an element shorter
// by n; the energy of its strain has the parts
//     N_e = E A (2 (u_2 - u_1) n + n^2)/(2 l),     n = 1/2 integral (v'^2 + w'^2) ds                          (FLX-23)
// beyond K: axial forces, those of spins too, make it stiffer or softer.
// T does not change under motions of everything as a rigid body: momenta are kept exactly.  Everything else comes by
// differentiation.  Points are bodies that are carried: r = r_f + R (X + d), R (1 + skew(th)); in the plane they turn
// by angle + th.
#include "base/three.h"
#include "derive/bodies/body.h"
#include "derive/members/member.h"
#include "flex/bending.h"
#include "flex/member.h"
#include <carom/flex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FLOATING = 60 }; // elements: expressions see all unknowns

/// One that is being read: n unknowns, fixed ones included, node by node.
typedef struct maker {
    draft d;
    body *b;
    carom_member *flex; // with nothing fixed
    int n, per, dim;    // dim: 2 planar, 3 spatial
    double *M, *K, *weight; // n x n, M with rotary inertia; dim x n: p of gravity along each axis
    carom_node *x, *y;  // unknowns and rates, 0 where fixed
    int *v;             // velocity of each, -1: fixed
    double *x0, *y0;
} maker;

static carom_graph *graph(const maker *k) { return k->d.r->m->graph; }
static carom_node num(const maker *k, double x) { return carom_graph_number(graph(k), x); }
static carom_node add(const maker *k, carom_node a, carom_node b) { return n_add(graph(k), a, b); }
static carom_node sub(const maker *k, carom_node a, carom_node b) { return n_sub(graph(k), a, b); }
static carom_node mul(const maker *k, carom_node a, carom_node b) { return n_mul(graph(k), a, b); }

static void *take(maker *k, size_t count, size_t size) {
    return carom_pool_take(&k->d.r->m->memory, (count ? count : 1) * size);
}

carom_status carom_floating_count(resolver *r, int *coordinates, int *bodies) {
    for (int i = 0; i < r->mech->nmembers; ++i) {
        const carom_mech_member *of = &r->mech->members[i];
        if (!carom_floating(of)) continue;
        double n = 0;
        if (carom_given(&of->elements) && of->elements.kind < CAROM_LIST)
            CAROM_TRY(carom_resolve_number(r, &of->elements, "elements", &n));
        if (n > MOST_FLOATING)
            return carom_fault(r, &of->elements, 0, "%g elements; with a floating frame there are at most %d", n,
                               MOST_FLOATING);
        *coordinates += 7 + 6 * ((n > 0 ? (int)n : 0) + 1);
        *bodies += 3 + of->points.count;
    }
    return CAROM_OK;
}

// -- matrices ------------------------------------------------------------------------------------------------------

static carom_status fail(maker *k, const carom_error *err) {
    return carom_fault(k->d.r, &k->d.of->name, 0, "%s: %s", k->d.where, err->text);
}

// The member with its supports must not be able to move in its frame.
static carom_status check_held(maker *k) {
    carom_error err = {0};
    carom_member *held = carom_member_create(&k->d.def, &err);
    if (!held) return fail(k, &err);
    double omega = 0;
    const int found = carom_member_frequencies(held, 1, &omega);
    carom_member_destroy(held);
    if (found >= 1 && omega > 0) return CAROM_OK;
    return carom_fault(k->d.r, &k->d.of->fix, 0,
                       "%s can move in its frame without bending; `fix` must hold it there, as `fix: start` or `fix: "
                       "{start: [%s], end: %s}` do",
                       k->d.where, k->dim == 2 ? "u, w" : "u, v, w, rx", k->dim == 2 ? "w" : "[v, w]");
}

// Weights of gravity along own axis `axis`: the force of a unit acceleration.
static carom_status weigh(maker *k, int axis, const double axes[9]) {
    carom_member_def def = k->d.def;
    carom_error err = {0};
    def.fixed = NULL;
    for (int i = 0; i < 3; ++i) def.gravity[i] = axes[3 * i + axis];
    carom_member *m = carom_member_create(&def, &err);
    if (!m) return fail(k, &err);
    carom_member_force(m, k->x0, k->x0, k->weight + axis * k->n); // x0 is still zero
    carom_member_destroy(m);
    return CAROM_OK;
}

// G of integral v'^2 ds = x'G x over an element, x = (v_1, slope_1, v_2, slope_2).
static void slopes(double l, double G[16]) {
    carom_flex_slopes(l, G);
    for (int e = 0; e < 16; ++e) G[e] /= 30 * l;
}

static int planes(const maker *k) { return k->dim - 1; } // of bending

// The unknowns (v_1, slope_1, v_2, slope_2) of element e in plane p, and the sign of each: ry = -dw/ds.
static void bent(const maker *k, int e, int p, int at[4], double sign[4]) {
    const int v = e * k->per + 1 + p, r = e * k->per + (k->dim == 2 ? 2 : 5 - p);
    for (int i = 0; i < 4; ++i) {
        at[i] = (i % 2 ? r : v) + i / 2 * k->per;
        sign[i] = i % 2 && p == 1 ? -1 : 1;
    }
}

static double element_length(const maker *k, int e) {
    return carom_member_arc(k->flex, e + 1) - carom_member_arc(k->flex, e);
}

// Rotary inertia of the sections: M += rho I G.
static void add_rotary(maker *k) {
    const carom_member_def *d = &k->d.def;
    for (int e = 0; e < d->elements; ++e)
        for (int p = 0; p < planes(k); ++p) {
            double G[16], sign[4];
            int at[4];
            slopes(element_length(k, e), G);
            bent(k, e, p, at, sign);
            const double I = k->dim == 3 && p == 0 ? d->inertia_v : d->inertia;
            for (int j = 0; j < 4; ++j)
                for (int i = 0; i < 4; ++i)
                    k->M[at[i] + (size_t)at[j] * (size_t)k->n] += d->density * I * sign[i] * sign[j] * G[i + 4 * j];
        }
}

static carom_status matrices(maker *k, const double axes[9]) {
    carom_member_def def = k->d.def;
    carom_error err = {0};
    const size_t n = (size_t)k->n;
    def.fixed = NULL;
    def.damping_mass = def.damping_stiffness = 0;
    k->flex = carom_member_create(&def, &err);
    if (!k->flex) return fail(k, &err);
    k->M = take(k, n * n, sizeof *k->M);
    k->K = take(k, n * n, sizeof *k->K);
    k->weight = take(k, 3 * n, sizeof *k->weight);
    k->x = take(k, n, sizeof *k->x);
    k->y = take(k, n, sizeof *k->y);
    k->v = take(k, n, sizeof *k->v);
    k->x0 = take(k, n, sizeof *k->x0);
    k->y0 = take(k, n, sizeof *k->y0);
    double *C = take(k, n * n, sizeof *C);
    if (!k->M || !k->K || !k->weight || !k->x || !k->y || !k->v || !k->x0 || !k->y0 || !C)
        return carom_fault_memory(k->d.r);
    const carom_shape shape = {.storage = CAROM_DENSE, .n = k->n};
    carom_member_mass(k->flex, (carom_matrix){shape, k->M}, 0);
    add_rotary(k);
    carom_member_tangent(k->flex, k->x0, k->x0, (carom_matrix){shape, k->K}, (carom_matrix){shape, C}, 0);
    for (int i = 0; i < k->dim; ++i) CAROM_TRY(weigh(k, i, axes));
    return CAROM_OK;
}

// -- the frame --------------------------------------------------------------------------------------------------------

// Own axes as columns: x along the member, z in the plane of x and up.
static void own_axes(const carom_member_def *d, int dim, double A[9]) {
    double x[3], z[3] = {0, 0, 1}, size = 0, along = 0;
    for (int i = 0; i < 3; ++i) size += d->direction[i] * d->direction[i];
    for (int i = 0; i < 3; ++i) x[i] = d->direction[i] / sqrt(size);
    for (int i = 0; i < 3 && dim == 3; ++i) z[i] = d->up[i];
    for (int i = 0; i < 3; ++i) along += x[i] * z[i];
    for (int i = 0; i < 3; ++i) z[i] -= along * x[i];
    size = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
    for (int i = 0; i < 3; ++i) A[3 * i] = x[i], A[3 * i + 2] = z[i] / size;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        A[3 * i + 1] = A[3 * j + 2] * x[l] - A[3 * l + 2] * x[j];
    }
}

static carom_status frame(maker *k, const double axes[9]) {
    resolver *r = k->d.r;
    const carom_datum *velocity = carom_given(&k->d.of->velocity), *spin = carom_given(&k->d.of->spin);
    double v[6] = {0}, e[4];
    memcpy(k->b->r0, k->d.def.origin, sizeof k->b->r0);
    if (velocity) CAROM_TRY(carom_resolve_vector(r, velocity, "the velocity", k->dim, v));
    if (spin && k->dim == 3) CAROM_TRY(carom_resolve_vector(r, spin, "the spin", 3, v + 3));
    if (spin && k->dim == 2) CAROM_TRY(carom_resolve_number(r, spin, "the spin", &v[2]));
    if (k->dim == 2) return carom_body_planar(r, k->b, atan2(axes[3], axes[0]), v, velocity != NULL, spin != NULL);
    quaternion_of(axes, e);
    return carom_body_spatial(r, k->b, e, v, velocity != NULL, spin != NULL);
}

// -- unknowns ---------------------------------------------------------------------------------------------------------

static carom_status unknowns(maker *k) {
    carom_model *m = k->d.r->m;
    CAROM_TRY(carom_draft_values(&k->d, &k->d.of->at, "at", k->x0));
    CAROM_TRY(carom_draft_values(&k->d, &k->d.of->rate, "rate", k->y0));
    for (int i = 0; i < k->n; ++i) {
        k->x[i] = k->y[i] = num(k, 0);
        k->v[i] = -1;
        if (k->d.def.fixed[i]) {
            k->x0[i] = k->y0[i] = 0;
            continue;
        }
        char part[40];
        name *n = NULL;
        snprintf(part, sizeof part, "%s%d", carom_member_component(k->d.def.kind, i % k->per), i / k->per);
        CAROM_TRY(carom_body_name(k->d.r, k->b, part, NAME_COORDINATE, m->nq, &n));
        const size_t size = strlen(n->text) + 2;
        char *rate = take(k, size, 1);
        if (!rate) return carom_fault_memory(k->d.r);
        snprintf(rate, size, "%s'", n->text);
        const int v = k->v[i] = m->nv++, q = m->nq++;
        const carom_node one = num(k, 1);
        m->coordinate_name[q] = (int)(n - m->names.at);
        m->velocity_of[q] = v;
        m->velocity[v] = rate;
        m->given[v] = true; // joints set the frame in motion, not vibrations
        m->q0[q] = k->x0[i];
        m->v0[v] = k->y0[i];
        k->x[i] = n->node = carom_graph_input(graph(k), CAROM_POSITION, q);
        k->y[i] = n->rate = carom_graph_input(graph(k), CAROM_VELOCITY, v);
        carom_graph_course(graph(k), n->node, 1, &v, &one);
    }
    return CAROM_OK;
}

// -- energies ---------------------------------------------------------------------------------------------------------

// (FLX-21)  of a section that is turned by th against the frame
static void turning(const maker *k, const carom_node w[3], const carom_node *th, const carom_node *rate,
                    carom_node Omega[3]) {
    const carom_node twist = sub(k, mul(k, w[1], th[2]), mul(k, w[2], th[1]));
    const carom_node tilt = add(k, mul(k, th[1], th[1]), mul(k, th[2], th[2])),
                     nod = sub(k, mul(k, th[1], rate[2]), mul(k, th[2], rate[1]));
    Omega[0] = sub(k, add(k, add(k, w[0], rate[0]), twist), mul(k, num(k, 0.5), add(k, mul(k, w[0], tilt), nod)));
    Omega[1] = sub(k, add(k, w[1], rate[1]), mul(k, w[0], th[2]));
    Omega[2] = add(k, add(k, w[2], rate[2]), mul(k, w[0], th[1]));
}

// (FLX-20)  velocities of all unknowns, in the axes of the frame
static void velocities(const maker *k, carom_node *V) {
    carom_graph *g = graph(k);
    const int dim = k->dim;
    carom_node a[3], w[3] = {num(k, 0), num(k, 0), num(k, 0)};
    for (int i = 0; i < dim; ++i) {
        a[i] = num(k, 0);
        for (int j = 0; j < dim; ++j)
            a[i] = add(k, a[i], mul(k, k->b->R[3 * j + i], carom_graph_input(g, CAROM_VELOCITY, k->b->v + j)));
    }
    for (int i = 0; i < (dim == 3 ? 3 : 1); ++i)
        w[dim == 3 ? i : 2] = carom_graph_input(g, CAROM_VELOCITY, k->b->v + dim + i);
    for (int node = 0; node * k->per < k->n; ++node) {
        const int at = node * k->per;
        carom_node p[3] = {num(k, 0), num(k, 0), num(k, 0)};
        for (int i = 0; i < dim; ++i) p[i] = k->x[at + i];
        p[0] = add(k, p[0], num(k, carom_member_arc(k->flex, node)));
        for (int i = 0; i < dim; ++i) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            V[at + i] = add(k, add(k, a[i], sub(k, mul(k, w[j], p[l]), mul(k, w[l], p[j]))), k->y[at + i]);
        }
        if (dim == 3) turning(k, w, &k->x[at + 3], &k->y[at + 3], &V[at + 3]);
        else V[at + 2] = add(k, w[2], k->y[at + 2]);
    }
}

// (FLX-23)
static carom_node stretching(const maker *k, int e) {
    const double l = element_length(k, e), EA = k->d.def.modulus * k->d.def.area;
    carom_node n = num(k, 0);
    for (int p = 0; p < planes(k); ++p) {
        double G[16], sign[4];
        int at[4];
        slopes(l, G);
        bent(k, e, p, at, sign);
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j <= i; ++j) {
                const double c = (i == j ? 0.5 : 1) * sign[i] * sign[j] * G[i + 4 * j];
                n = add(k, n, mul(k, num(k, c), mul(k, k->x[at[i]], k->x[at[j]])));
            }
    }
    const carom_node u = sub(k, k->x[(e + 1) * k->per], k->x[e * k->per]);
    return mul(k, num(k, EA / (2 * l)), mul(k, n, add(k, n, mul(k, num(k, 2), u))));
}

// (FLX-22)
static carom_status energies(maker *k, const double *gravity) {
    carom_model *m = k->d.r->m;
    carom_node *V = take(k, (size_t)k->n, sizeof *V), T = num(k, 0), U = num(k, 0);
    if (!V) return carom_fault_memory(k->d.r);
    velocities(k, V);
    for (int i = 0; i < k->n; ++i) {
        carom_node p = num(k, 0), f = num(k, 0); // rows of M V and K x up to the diagonal
        for (int j = 0; j <= i; ++j) {
            const double c = i == j ? 0.5 : 1, M = k->M[i + (size_t)j * (size_t)k->n],
                         K = k->K[i + (size_t)j * (size_t)k->n];
            if (M != 0) p = add(k, p, mul(k, num(k, c * M), V[j]));
            if (K != 0) f = add(k, f, mul(k, num(k, c * K), k->x[j]));
        }
        T = add(k, T, mul(k, V[i], p));
        U = add(k, U, mul(k, k->x[i], f));
    }
    for (int e = 0; e < k->d.def.elements; ++e) U = add(k, U, stretching(k, e));
    double mass = 0, moment = 0;
    for (int node = 0; node * k->per < k->n; ++node) {
        mass += k->weight[node * k->per];
        moment += k->weight[node * k->per] * carom_member_arc(k->flex, node);
    }
    for (int i = 0; i < k->dim; ++i) {
        if (gravity[i] == 0) continue;
        carom_node sum = mul(k, num(k, mass), k->b->r[i]);
        for (int j = 0; j < k->dim; ++j) {
            carom_node p = num(k, j == 0 ? moment : 0); // in the frame
            for (int l = 0; l < k->n; ++l)
                if (k->weight[j * k->n + l] != 0) p = add(k, p, mul(k, num(k, k->weight[j * k->n + l]), k->x[l]));
            sum = add(k, sum, mul(k, k->b->R[3 * i + j], p));
        }
        U = sub(k, U, mul(k, num(k, gravity[i]), sum));
    }
    m->energy_of.floating_kinetic = add(k, m->energy_of.floating_kinetic, T);
    m->energy_of.floating_potential = add(k, m->energy_of.floating_potential, U);
    return CAROM_OK;
}

// C = a M + b K between the unknowns: the frame's motion is not damped.
static carom_status damping(maker *k) {
    const double a = k->d.def.damping_mass, b = k->d.def.damping_stiffness;
    for (int i = 0; i < k->n && (a != 0 || b != 0); ++i) {
        if (k->v[i] < 0) continue;
        carom_node F = num(k, 0);
        for (int j = 0; j < k->n; ++j) {
            const double c = a * k->M[i + (size_t)j * (size_t)k->n] + b * k->K[i + (size_t)j * (size_t)k->n];
            if (c != 0 && k->v[j] >= 0) F = sub(k, F, mul(k, num(k, c), k->y[j]));
        }
        if (!carom_terms_add(&k->d.r->m->point_force, F, k->v[i], 0, 0)) return carom_fault_memory(k->d.r);
    }
    return CAROM_OK;
}

// -- points -----------------------------------------------------------------------------------------------------------

// Component c at arc length s: an expression and its value at the start.
static carom_node component(const maker *k, double s, int c, double *start) {
    int index[CAROM_MEMBER_POINT];
    double weight[CAROM_MEMBER_POINT], constant;
    const int n = carom_member_point(k->flex, s, c, index, weight, &constant);
    carom_node x = num(k, 0);
    *start = 0;
    for (int i = 0; i < n; ++i) {
        x = add(k, x, mul(k, num(k, weight[i]), k->x[index[i]]));
        *start += weight[i] * k->x0[index[i]];
    }
    return x;
}

// Where the member is at s, in the world.
static void where(const maker *k, double s, carom_node *p, double *p0) {
    carom_node d[3];
    double d0[3];
    for (int j = 0; j < k->dim; ++j) d[j] = component(k, s, j, &d0[j]);
    d[0] = add(k, d[0], num(k, s));
    d0[0] += s;
    for (int i = 0; i < 3; ++i) {
        p[i] = k->b->r[i];
        p0[i] = k->b->r0[i];
        for (int j = 0; j < k->dim && i < k->dim; ++j) {
            p[i] = add(k, p[i], mul(k, k->b->R[3 * i + j], d[j]));
            p0[i] += k->b->R0[3 * i + j] * d0[j];
        }
    }
}

static void turn(const maker *k, double s, body *b) {
    const body *f = k->b;
    double th0[3] = {0};
    carom_node th[3];
    if (k->dim == 2) {
        b->angle = add(k, f->angle, component(k, s, 2, &th0[0]));
        b->angle0 = k->d.r->m->q0[f->orientation] + th0[0];
        carom_body_planar_frame(k->d.r, b);
        const double c = cos(b->angle0), sine = sin(b->angle0), R0[9] = {c, -sine, 0, sine, c, 0, 0, 0, 1};
        memcpy(b->R0, R0, sizeof R0);
        return;
    }
    for (int i = 0; i < 3; ++i) th[i] = component(k, s, 3 + i, &th0[i]);
    b->angle = num(k, 0);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) { // column j of R (1 + skew(th)): R e_j + R (th x e_j)
            const int l = (j + 1) % 3, m = (j + 2) % 3;
            b->R[3 * i + j] =
                add(k, f->R[3 * i + j], sub(k, mul(k, f->R[3 * i + l], th[m]), mul(k, f->R[3 * i + m], th[l])));
            b->R0[3 * i + j] = f->R0[3 * i + j] + f->R0[3 * i + l] * th0[m] - f->R0[3 * i + m] * th0[l];
        }
}

static carom_status name_part(maker *k, const body *b, const char *part, carom_node node) {
    name *n = NULL;
    CAROM_TRY(carom_body_name(k->d.r, b, part, NAME_POINT, 0, &n));
    n->node = node;
    n->rate = carom_graph_rate(graph(k), node, k->d.r->m->nv);
    return n->rate == CAROM_NONE ? carom_fault_memory(k->d.r) : CAROM_OK;
}

static carom_status point(maker *k, int i) {
    static const char *const axis[] = {"x", "y", "z"};
    carom_model *m = k->d.r->m;
    body *b = &m->bodies[m->nbodies];
    char text[120];
    snprintf(text, sizeof text, "%.60s.%.50s", k->b->name, k->d.point[i]);
    *b = (body){.name = carom_pool_text(&m->memory, text, strlen(text)),
                .place = k->b->place,
                .space = k->b->space,
                .v = -1,
                .carried = true};
    if (!b->name) return carom_fault_memory(k->d.r);
    b->kind = "point";
    if (!carom_body_turned(k->d.r, b, k->b->R0)) return carom_fault_memory(k->d.r);
    where(k, k->d.place[i], b->r, b->r0);
    turn(k, k->d.place[i], b);
    for (int c = 0; c < k->per; ++c) {
        double start;
        CAROM_TRY(name_part(k, b, carom_member_component(k->d.def.kind, c), component(k, k->d.place[i], c, &start)));
    }
    for (int c = 0; c < k->dim; ++c) CAROM_TRY(name_part(k, b, axis[c], b->r[c]));
    ++m->nbodies;
    return CAROM_OK;
}

static carom_status points(maker *k) {
    for (int i = 0; i < k->d.npoint; ++i) CAROM_TRY(point(k, i));
    return CAROM_OK;
}

// -- all --------------------------------------------------------------------------------------------------------------

static carom_status outline(maker *k, struct floating *f) {
    f->name = k->b->name;
    f->place = k->b->place;
    f->nodes = k->n / k->per;
    f->dim = k->dim;
    f->where = take(k, (size_t)(f->nodes * f->dim), sizeof *f->where);
    if (!f->where) return carom_fault_memory(k->d.r);
    for (int i = 0; i < f->nodes; ++i) {
        carom_node p[3];
        double p0[3];
        where(k, carom_member_arc(k->flex, i), p, p0);
        for (int c = 0; c < f->dim; ++c) f->where[i * f->dim + c] = p[c];
    }
    return CAROM_OK;
}

static carom_status build(maker *k, const double *gravity, struct floating *f) {
    double axes[9], own[3] = {0};
    CAROM_TRY(carom_draft_read(&k->d));
    k->dim = k->d.def.kind == CAROM_BEAM ? 2 : 3;
    k->per = carom_member_components(k->d.def.kind);
    k->n = k->per * (k->d.def.elements + 1);
    k->b->space = k->dim == 2 ? PLANAR : SPATIAL;
    if (!k->d.def.fixed) { // nothing said: it is clamped in its frame where it starts
        bool *fixed = take(k, (size_t)k->n, sizeof *fixed);
        if (!fixed) return carom_fault_memory(k->d.r);
        for (int i = 0; i < k->per; ++i) fixed[i] = true;
        k->d.def.fixed = fixed;
    }
    CAROM_TRY(check_held(k));
    own_axes(&k->d.def, k->dim, axes);
    CAROM_TRY(matrices(k, axes));
    CAROM_TRY(frame(k, axes));
    CAROM_TRY(unknowns(k));
    memcpy(own, carom_given(&k->d.of->gravity) ? k->d.def.gravity : gravity, sizeof own);
    CAROM_TRY(energies(k, own));
    CAROM_TRY(damping(k));
    CAROM_TRY(points(k));
    return outline(k, f);
}

static carom_status read_one(resolver *r, const carom_mech_member *of, const double *gravity) {
    carom_model *m = r->m;
    const carom_datum *n = &of->name;
    maker k = {.d = {.r = r, .of = of, .floating = true}, .b = &m->bodies[m->nbodies]};
    snprintf(k.d.where, sizeof k.d.where, "flexible member '%.60s'", n->text);
    CAROM_TRY(carom_new_name(r, n, false, &m->names));
    if (!carom_names_add(&m->names, n->text, NAME_MEMBER, 0, n->line)) return carom_fault_memory(r);
    *k.b = (body){.name = n->text, .place = n, .v = -1, .floating = true};
    k.b->mass_node = carom_graph_number(m->graph, 0); // mass and inertia are in its energies
    for (int i = 0; i < 6; ++i) k.b->J_node[i] = k.b->mass_node;
    k.b->kind = "member";
    ++m->nbodies;
    const carom_status status = build(&k, gravity, &m->floating[m->nfloating]);
    carom_member_destroy(k.flex);
    ++m->nfloating;
    return status;
}

carom_status carom_derive_floating(resolver *r, const double *gravity) {
    carom_model *m = r->m;
    m->energy_of.floating_kinetic = m->energy_of.floating_potential = carom_graph_number(m->graph, 0);
    m->floating = carom_pool_take(&m->memory, ((size_t)r->mech->nmembers + 1) * sizeof *m->floating);
    if (!m->floating) return carom_fault_memory(r);
    for (int i = 0; i < r->mech->nmembers; ++i)
        if (carom_floating(&r->mech->members[i])) CAROM_TRY(read_one(r, &r->mech->members[i], gravity));
    return CAROM_OK;
}
