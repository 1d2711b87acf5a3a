// frames.c: frames of bodies: what joints, force elements, shapes and members ask of them.
#include "base/option.h"
#include "derive/bodies/body.h"
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static carom_node call(resolver *r, carom_op op, carom_node a) {
    return carom_graph_apply(r->m->graph, op, a, CAROM_NONE, CAROM_NONE);
}

// -- vectors in the file -----------------------------------------------------------------------------------

carom_status carom_resolve_list(resolver *r, const carom_datum *n, const char *what, int size) {
    if (n->kind == CAROM_LIST && n->count == size) return CAROM_OK;
    return carom_fault(r, n, 0, "%s is a list of %d (`[%s]`), this is %s", what, size, size == 2 ? "x, y" : "x, y, z",
                       n->kind != CAROM_LIST ? "no list" : n->count < size ? "shorter" : "longer");
}

carom_status carom_resolve_vector(resolver *r, const carom_datum *n, const char *what, int size, double *x) {
    CAROM_TRY(carom_resolve_list(r, n, what, size));
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c)
        CAROM_TRY(carom_resolve_number(r, c, what, x++));
    return CAROM_OK;
}

carom_status carom_resolve_bound_vector(resolver *r, const carom_datum *n, const char *what, int size, bound_kind kind,
                                        int index, double *x) {
    CAROM_TRY(carom_resolve_list(r, n, what, size));
    for (int i = 0; i < size; ++i) CAROM_TRY(carom_resolve_bound(r, &n->item[i], what, kind, index + i, &x[i]));
    return CAROM_OK;
}

carom_status carom_resolve_nodes(resolver *r, const carom_datum *n, unsigned scope, const char *what, int size,
                                 carom_node *x) {
    CAROM_TRY(carom_resolve_list(r, n, what, size));
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c)
        CAROM_TRY(carom_resolve_expression(r, c, scope, what, x++));
    return CAROM_OK;
}

carom_status carom_resolve_direction(resolver *r, const carom_datum *n, const char *what, double *x) {
    CAROM_TRY(carom_resolve_vector(r, n, what, 3, x));
    const double size = hypot(hypot(x[0], x[1]), x[2]);
    if (!(size > 0)) return carom_fault(r, n, 0, "%s has no length; write a direction such as [0, 0, 1]", what);
    for (int i = 0; i < 3; ++i) x[i] /= size;
    return CAROM_OK;
}

// -- names -----------------------------------------------------------------------------------------------------

carom_status carom_body_name_taken(resolver *r, const body *b, const char *text, const name *other) {
    return carom_fault(r, b->place, 0, "'%s' of body '%s' is already defined as %s%s; rename one of them", text,
                       b->name, carom_name_kind(other->kind), carom_line_of(other->line).text);
}

carom_status carom_body_name(resolver *r, const body *b, const char *part, name_kind kind, int index, name **out) {
    carom_model *m = r->m;
    char text[140];
    snprintf(text, sizeof text, "%.60s.%.70s", b->name, part);
    const name *other = carom_names_find(&m->names, text, strlen(text));
    if (other) return carom_body_name_taken(r, b, text, other);
    const char *copy = carom_pool_text(&m->memory, text, strlen(text));
    *out = copy ? carom_names_add(&m->names, copy, kind, index, b->place->line) : NULL;
    if (!*out) return carom_fault_memory(r);
    (*out)->used = true;
    return CAROM_OK;
}

body_where carom_body_where(const body *b) {
    body_where w;
    snprintf(w.text, sizeof w.text, "%s '%.60s'", b->kind, b->name);
    return w;
}

// A position of the body; moves with velocity v when v >= 0.
static carom_status add_position(resolver *r, const body *b, const char *part, double at, int v, carom_node *node) {
    carom_model *m = r->m;
    name *n = NULL;
    CAROM_TRY(carom_body_name(r, b, part, NAME_COORDINATE, m->nq, &n));
    m->coordinate_name[m->nq] = (int)(n - m->names.at);
    m->velocity_of[m->nq] = v;
    m->q0[m->nq] = at;
    *node = n->node = carom_graph_input(m->graph, CAROM_POSITION, m->nq++);
    if (v < 0) return CAROM_OK;
    const carom_node one = r_num(r, 1);
    n->rate = carom_graph_input(m->graph, CAROM_VELOCITY, v);
    carom_graph_course(m->graph, *node, 1, &v, &one);
    return CAROM_OK;
}

static carom_status add_velocity(resolver *r, const body *b, const char *part, double at, bool given) {
    carom_model *m = r->m;
    name *n = NULL;
    CAROM_TRY(carom_body_name(r, b, part, NAME_VELOCITY, m->nv, &n));
    n->node = carom_graph_input(m->graph, CAROM_VELOCITY, m->nv);
    m->velocity[m->nv] = n->text;
    m->given[m->nv] = given;
    m->v0[m->nv++] = at;
    return CAROM_OK;
}

// -- frames ----------------------------------------------------------------------------------------------------

bool carom_body_turned(resolver *r, body *b, const double *R0) {
    b->R0 = carom_pool_take(b->free ? &r->brief : &r->m->memory, 9 * sizeof *b->R0);
    if (b->R0) memcpy(b->R0, R0, 9 * sizeof *b->R0);
    return b->R0;
}

// R of a unit quaternion, row by row.
static void rotation(const double *e, double *R) {
    const double w = e[0], x = e[1], y = e[2], z = e[3];
    const double M[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, M, sizeof M);
}

// (BOD-2)  R_ij = (2/|e|^2) (e_i e_j -+ w e_k) off the diagonal, 1 - (2/|e|^2) (e_j^2 + e_k^2) on it
static void rotation_nodes(resolver *r, const carom_node *e, carom_node *R) {
    carom_node square[4], norm = r_num(r, 0);
    for (int i = 0; i < 4; ++i) norm = r_add(r, norm, square[i] = r_mul(r, e[i], e[i]));
    const carom_node s = carom_graph_apply(r->m->graph, CAROM_OP_DIV, r_num(r, 2), norm, CAROM_NONE);
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        R[4 * i] = r_sub(r, r_num(r, 1), r_mul(r, s, r_add(r, square[1 + j], square[1 + k])));
        const carom_node both = r_mul(r, e[1 + i], e[1 + j]), turn = r_mul(r, e[0], e[1 + k]);
        R[3 * i + j] = r_mul(r, s, r_sub(r, both, turn));
        R[3 * j + i] = r_mul(r, s, r_add(r, both, turn));
    }
    for (int i = 0; i < 9; ++i) R[i] = carom_graph_symbol(r->m->graph, R[i]);
}

// (BOD-1)  e' = 1/2 e o (0, w),  D_k R = R skew(e_k): column k+1 of R turns into column k+2, that into minus column k+1
static void spatial_courses(resolver *r, const body *b, const carom_node *e) {
    carom_graph *g = r->m->graph;
    const int k[3] = {b->v + 3, b->v + 4, b->v + 5};
    const int from[4][3] = {{1, 2, 3}, {0, 3, 2}, {3, 0, 1}, {2, 1, 0}};
    const double sign[4][3] = {{-1, -1, -1}, {1, -1, 1}, {1, 1, -1}, {-1, 1, 1}};
    carom_node c[3];
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 3; ++j) c[j] = r_mul(r, r_num(r, 0.5 * sign[i][j]), e[from[i][j]]);
        carom_graph_course(g, e[i], 3, k, c);
    }
    for (int i = 0; i < 9; ++i) {
        const int row = i / 3, j = i % 3, next = (j + 1) % 3, last = (j + 2) % 3;
        const int by[2] = {k[next], k[last]};
        const carom_node f[2] = {call(r, CAROM_OP_NEG, b->R[3 * row + last]), b->R[3 * row + next]};
        carom_graph_course(g, b->R[i], 2, by, f);
    }
}

void carom_body_planar_frame(resolver *r, body *b) {
    const carom_node c = call(r, CAROM_OP_COS, b->angle), s = call(r, CAROM_OP_SIN, b->angle);
    const carom_node o = r_num(r, 0), R[9] = {c, call(r, CAROM_OP_NEG, s), o, s, c, o, o, o, r_num(r, 1)};
    memcpy(b->R, R, sizeof R);
}

void carom_body_frame(resolver *r, body *b, int position) {
    carom_graph *g = r->m->graph;
    const int n = b->space == SPATIAL ? 3 : 2;
    const carom_node one = r_num(r, 1);
    for (int i = 0; i < n; ++i) {
        const int v = b->v + i;
        b->r[i] = carom_graph_input(g, CAROM_POSITION, position + i);
        carom_graph_course(g, b->r[i], 1, &v, &one);
    }
    b->orientation = position + n;
    if (n == 2) {
        const int v = b->v + 2;
        b->angle = carom_graph_input(g, CAROM_POSITION, b->orientation);
        carom_graph_course(g, b->angle, 1, &v, &one);
        b->r[2] = r_num(r, 0);
        carom_body_planar_frame(r, b);
        return;
    }
    carom_node e[4];
    for (int i = 0; i < 4; ++i) e[i] = carom_graph_input(g, CAROM_POSITION, b->orientation + i);
    rotation_nodes(r, e, b->R);
    spatial_courses(r, b, e);
}

// Rotation by an angle about a constant unit axis.
void carom_body_turned_frame(resolver *r, body *b, const double *n) {
    const carom_node c = call(r, CAROM_OP_COS, b->angle), s = call(r, CAROM_OP_SIN, b->angle),
                     d = r_sub(r, r_num(r, 1), c);
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        b->R[4 * i] = r_add(r, c, r_mul(r, r_num(r, n[i] * n[i]), d));
        const carom_node both = r_mul(r, r_num(r, n[i] * n[j]), d), turn = r_mul(r, r_num(r, n[k]), s);
        b->R[3 * i + j] = r_sub(r, both, turn);
        b->R[3 * j + i] = r_add(r, both, turn);
    }
}

void carom_body_point(resolver *r, const body *b, const double *s, carom_node *p) {
    const int n = b->space == PLANAR ? 2 : 3;
    for (int i = 0; i < 3; ++i) p[i] = b->r[i];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) p[i] = r_add(r, p[i], r_mul(r, b->R[3 * i + j], r_num(r, s[j])));
}

void carom_body_vector(resolver *r, const body *b, const double *s, carom_node *p) {
    body turned = *b;
    for (int i = 0; i < 3; ++i) turned.r[i] = r_num(r, 0);
    carom_body_point(r, &turned, s, p);
}

void carom_body_local(const body *b, const double *p, double *s) {
    for (int j = 0; j < 3; ++j) {
        s[j] = 0;
        for (int i = 0; i < 3; ++i) s[j] += b->R0[3 * i + j] * (p[i] - b->r0[i]);
    }
}

void carom_body_turn_back(const body *b, const double *a, double *s) {
    for (int j = 0; j < 3; ++j) {
        s[j] = 0;
        for (int i = 0; i < 3; ++i) s[j] += b->R0[3 * i + j] * a[i];
    }
}

// -- bodies ---------------------------------------------------------------------------------------------------

// What a free body starts with; it gets its place later.
static carom_status keep_start(resolver *r, body *b, const double *v, int nv, const double *turn, int n) {
    b->start = carom_pool_take(&r->brief, sizeof *b->start);
    if (!b->start) return carom_fault_memory(r);
    memcpy(b->start->v, v, (size_t)nv * sizeof *v);
    memcpy(b->start->orientation, turn, (size_t)n * sizeof *turn);
    return CAROM_OK;
}

carom_status carom_body_planar(resolver *r, body *b, double phi, const double *v, bool linear, bool angular) {
    static const char *const part[] = {"vx", "vy", "wz"};
    const double R0[9] = {cos(phi), -sin(phi), 0, sin(phi), cos(phi), 0, 0, 0, 1};
    if (!carom_body_turned(r, b, R0)) return carom_fault_memory(r);
    if (b->free) return keep_start(r, b, v, 3, &phi, 1);
    b->v = r->m->nv;
    for (int i = 0; i < 3; ++i) CAROM_TRY(add_velocity(r, b, part[i], v[i], i < 2 ? linear : angular));
    CAROM_TRY(add_position(r, b, "x", b->r0[0], b->v, &b->r[0]));
    CAROM_TRY(add_position(r, b, "y", b->r0[1], b->v + 1, &b->r[1]));
    b->orientation = r->m->nq;
    CAROM_TRY(add_position(r, b, "angle", phi, b->v + 2, &b->angle));
    b->r[2] = r_num(r, 0);
    carom_body_planar_frame(r, b);
    return CAROM_OK;
}

carom_status carom_body_spatial(resolver *r, body *b, const double *e0, const double *v, bool linear, bool angular) {
    static const char *const velocities[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    static const char *const places[] = {"x", "y", "z"}, *const parts[] = {"qw", "qx", "qy", "qz"};
    carom_node e[4];
    double R0[9];
    rotation(e0, R0);
    if (!carom_body_turned(r, b, R0)) return carom_fault_memory(r);
    if (b->free) return keep_start(r, b, v, 6, e0, 4);
    b->v = r->m->nv;
    for (int i = 0; i < 6; ++i) CAROM_TRY(add_velocity(r, b, velocities[i], v[i], i < 3 ? linear : angular));
    for (int i = 0; i < 3; ++i) CAROM_TRY(add_position(r, b, places[i], b->r0[i], b->v + i, &b->r[i]));
    b->orientation = r->m->nq;
    for (int i = 0; i < 4; ++i) CAROM_TRY(add_position(r, b, parts[i], e0[i], -1, &e[i]));
    rotation_nodes(r, e, b->R);
    spatial_courses(r, b, e);
    return CAROM_OK;
}

bool carom_inertia_positive(const double *J) {
    const double two = J[0] * J[4] - J[1] * J[1];
    const double three = J[8] * two - J[2] * (J[2] * J[4] - J[5] * J[1]) - J[5] * (J[5] * J[0] - J[2] * J[1]);
    return J[0] > 0 && two > 0 && three > 0;
}

static const char *body_name(const void *user, int i) {
    const carom_model *m = user;
    return i < m->nbodies ? m->bodies[i].name : NULL;
}

bool carom_body_called(const body *b, const char *name) {
    const size_t n = strlen(name);
    return strncmp(b->name, name, n) == 0 &&
           (!b->name[n] || (b->name[n] == '.' && b->name[n + 1] >= '0' && b->name[n + 1] <= '9'));
}

static const body *body_of(const resolver *r, const char *name, size_t length) {
    for (int i = 0; i < r->m->nbodies; ++i)
        if (strlen(r->m->bodies[i].name) == length && strncmp(r->m->bodies[i].name, name, length) == 0)
            return &r->m->bodies[i];
    return NULL;
}

carom_status carom_find_body(resolver *r, const carom_datum *n, const body **b) {
    if (n->kind != CAROM_TEXT)
        return carom_fault(r, n, 0, "expected the name of a body, got a %s", n->kind == CAROM_LIST ? "list" : "map");
    if ((*b = body_of(r, n->text, strlen(n->text))) != NULL) return CAROM_OK;
    const char *near = carom_nearest(n->text, body_name, r->m);
    return near
               ? carom_fault(r, n, 0, "unknown body '%.60s'; did you mean '%s'?", n->text, near)
               : carom_fault(r, n, 0, "unknown body '%.60s'; bodies are `ground` and those of section bodies", n->text);
}

static const char *point_name(const void *user, int i) {
    const body *b = user;
    return i < b->npoints ? b->points[i].name : NULL;
}

carom_status carom_find_end(resolver *r, const carom_datum *n, const body **b, const double **s) {
    const char *dot = n->kind == CAROM_TEXT ? strrchr(n->text, '.') : NULL;
    *s = NULL;
    // a body may have a dot in its name: a member of a family, the end of a flexible one
    const body *of = dot && !body_of(r, n->text, strlen(n->text)) ? body_of(r, n->text, (size_t)(dot - n->text)) : NULL;
    if (!of) return carom_find_body(r, n, b);
    *b = of;
    for (int p = 0; p < of->npoints; ++p)
        if (strcmp(of->points[p].name, dot + 1) == 0) {
            *s = of->points[p].s;
            return CAROM_OK;
        }
    const char *near = carom_nearest(dot + 1, point_name, of);
    return near ? carom_fault(r, n, 0, "body '%.60s' has no point '%.60s'; did you mean '%s'?", of->name, dot + 1, near)
                : carom_fault(r, n, 0, "body '%.60s' has no point '%.60s'; name it in `points` there", of->name,
                              dot + 1);
}

void carom_body_place(const body *b, const double *s, double *p) {
    for (int i = 0; i < 3; ++i) {
        p[i] = b->r0[i];
        for (int j = 0; j < 3; ++j) p[i] += b->R0[3 * i + j] * s[j];
    }
}

void carom_body_ends(const body *const of[2], const double *const named[2], bool meet, double *s_A, double *s_B) {
    double *const s[2] = {s_A, s_B}, p[3];
    for (int i = 0; i < 2; ++i) {
        if (named[i]) memcpy(s[i], named[i], 3 * sizeof *s[i]);
        else memset(s[i], 0, 3 * sizeof *s[i]);
    }
    for (int i = 0; meet && i < 2; ++i)
        if (!named[i]) {
            carom_body_place(of[1 - i], s[1 - i], p);
            carom_body_local(of[i], p, s[i]);
        }
}

carom_status carom_body_point_at(resolver *r, const carom_datum *n, const body *b, bool spatial, double *s) {
    if (n->kind != CAROM_TEXT) return carom_resolve_vector(r, n, "the point", spatial ? 3 : 2, s);
    for (int i = 0; i < b->npoints; ++i)
        if (strcmp(b->points[i].name, n->text) == 0) {
            memcpy(s, b->points[i].s, 3 * sizeof *s);
            return CAROM_OK;
        }
    return carom_fault(r, n, 0, "body '%s' has no point '%.60s'; write its coordinates, or name it in `points` there",
                       b->name, n->text);
}

carom_status carom_body_start_fixed(resolver *r, const body *b) {
    if (b->v < 0 || b->floating || !b->place) return CAROM_OK;
    const carom_mech_body *of = carom_body_given(r, (int)(b - r->m->bodies) - 1); // the ground is first
    CAROM_TRY(carom_fix_vector(r, carom_given(&of->at)));
    return carom_fix_vector(r, carom_given(&of->angle));
}

carom_status carom_body_angle(resolver *r, const carom_datum *place, const body *b, double *angle) {
    if (carom_body_prescribed(b)) return carom_resolve_start(r, place, b->angle, angle);
    *angle = b->carried ? b->angle0 : r->m->q0[b->orientation];
    return carom_body_start_fixed(r, b);
}
