// mjcf_bodies.c: geometries, bodies, joints and masses of MJCF.
//
// A body with one joint is a body of carom.  Without a joint it is part of its parent's; with several joints it hangs
// on a chain of helpers, one for each joint but the last, which take a thousandth of its mass each.
#include "base/pi.h"
#include "base/three.h"
#include "read/mjcf.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

// -- geometries -------------------------------------------------------------------------------------------------------

// Of density 1.
static double solid(const geom *g, mass *x) {
    const double a = g->x[0], l = g->n > 1 ? g->x[1] : 0;
    double v = 0, J[3] = {0}; // J/v
    if (strcmp(g->kind, "sphere") == 0) v = 4 * PI / 3 * a * a * a, J[0] = J[1] = J[2] = 0.4 * a * a;
    if (strcmp(g->kind, "box") == 0) {
        v = g->x[0] * g->x[1] * g->x[2];
        for (int i = 0; i < 3; ++i)
            J[i] = (g->x[(i + 1) % 3] * g->x[(i + 1) % 3] + g->x[(i + 2) % 3] * g->x[(i + 2) % 3]) / 12;
    }
    if (strcmp(g->kind, "ellipsoid") == 0) {
        v = 4 * PI / 3 * g->x[0] * g->x[1] * g->x[2];
        for (int i = 0; i < 3; ++i)
            J[i] = (g->x[(i + 1) % 3] * g->x[(i + 1) % 3] + g->x[(i + 2) % 3] * g->x[(i + 2) % 3]) / 5;
    }
    if (strcmp(g->kind, "cylinder") == 0) v = PI * a * a * l, J[0] = J[1] = a * a / 4 + l * l / 12, J[2] = a * a / 2;
    if (strcmp(g->kind, "capsule") == 0) { // a cylinder and two half balls
        const double tube = PI * a * a * l, ball = 4 * PI / 3 * a * a * a;
        v = tube + ball;
        J[0] = J[1] = (tube * (a * a / 4 + l * l / 12) + ball * (0.4 * a * a + 0.375 * a * l + l * l / 4)) / v;
        J[2] = (tube * a * a / 2 + ball * 0.4 * a * a) / v;
    }
    *x = (mass){.m = v, .J = {v * J[0], 0, 0, 0, v * J[1], 0, 0, 0, v * J[2]}};
    return v;
}

// Sizes of a geometry in carom's words: whole edges and lengths.
static carom_status read_size(mjcf *m, const xml_element *e, const char *childclass, const char *type, geom *g,
                              frame *f) {
    double size[3] = {0}, ends[6];
    int n;
    bool there;
    CAROM_TRY(mjcf_some(m, e, childclass, "size", 3, size, &n));
    CAROM_TRY(mjcf_vector(m, e, childclass, "fromto", 6, ends, &there));
    double half = size[1];
    if (there) {
        double d[3], r[3];
        for (int i = 0; i < 3; ++i) d[i] = ends[3 + i] - ends[i], r[i] = (ends[i] + ends[3 + i]) / 2;
        const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (!mjcf_normalise(d)) return fail(m, e, "fromto of <geom> has no length");
        half = length / 2;
        *f = mjcf_along(d, r);
    }
    g->kind = type;
    if (strcmp(type, "sphere") == 0)
        g->n = 1, g->x[0] = size[0];
    else if (strcmp(type, "capsule") == 0 || strcmp(type, "cylinder") == 0)
        g->n = 2, g->x[0] = size[0], g->x[1] = 2 * half;
    else if (strcmp(type, "box") == 0 || strcmp(type, "ellipsoid") == 0) {
        const double whole = type[0] == 'b' ? 2 : 1;
        g->n = 3, g->x[0] = whole * size[0], g->x[1] = whole * (there ? size[0] : size[1]),
        g->x[2] = whole * (there ? half : size[2]);
    } else if (strcmp(type, "plane") == 0)
        g->n = 3, g->x[0] = f->R[2], g->x[1] = f->R[5], g->x[2] = f->R[8];
    return CAROM_OK;
}

// Corners that stand in the description itself become a file.
static carom_status read_vertices(mjcf *m, const xml_element *asset, const char *name, char *path, size_t size,
                                  bool *left_out) {
    const char *text = mjcf_get(m, asset, NULL, "vertex");
    const size_t room = text ? strlen(text) / 2 + 1 : 0; // a digit and a space for each number at least
    char why[300] = "this program writes no files of meshes";
    int n = 0;
    if (!text) return mjcf_omit(m, "<mesh> without a file and without vertex"), CAROM_OK;
    double *x = carom_pool_take(&m->i.memory, room * sizeof *x);
    if (!x) return mjcf_no_memory(m);
    CAROM_TRY(mjcf_some(m, asset, NULL, "vertex", room < INT_MAX ? (int)room : INT_MAX, x, &n));
    if (n < 12 || n % 3 != 0)
        return fail(m, asset,
                    "vertex of the mesh '%.60s' has %d numbers; expected three for each of at least 4 corners", name,
                    n);
    if (m->i.def->corners) *left_out = !m->i.def->corners(m->i.def->user, name, x, n / 3, path, size, why, sizeof why);
    if (*left_out) note(m, asset, "the mesh '%.60s' is left out: %s", name, why);
    return CAROM_OK;
}

static carom_status read_mesh(mjcf *m, const xml_element *e, const char *childclass, geom *g, bool *left_out) {
    const char *name = mjcf_get(m, e, childclass, "mesh");
    const int k = carom_table_get(&m->mesh_of, name);
    if (k < 0) return fail(m, e, "<geom> names the mesh '%.60s', which is no asset", name ? name : "");
    const xml_element *asset = m->meshes[k];
    const char *file = mjcf_get(m, asset, NULL, "file");
    char given[1024], path[1024];
    bool there;
    g->kind = "hull", g->n = 0;
    CAROM_TRY(mjcf_vector(m, asset, NULL, "scale", 3, g->scale, &there));
    *left_out = true;
    if (!file) {
        CAROM_TRY(read_vertices(m, asset, name, path, sizeof path, left_out));
        if (*left_out) return CAROM_OK;
        g->path = carom_pool_text(&m->i.memory, path, strlen(path));
        return g->path ? CAROM_OK : mjcf_no_memory(m);
    }
    snprintf(given, sizeof given, "%s%s%s", m->meshdir,
             *m->meshdir && m->meshdir[strlen(m->meshdir) - 1] != '/' ? "/" : "", file);
    if (!carom_import_mesh(&m->i, e, given, path, sizeof path)) return CAROM_OK;
    *left_out = false;
    g->path = carom_pool_text(&m->i.memory, path, strlen(path));
    return g->path ? CAROM_OK : mjcf_no_memory(m);
}

static carom_status read_geom(mjcf *m, const xml_element *e, body *of, const frame *at) {
    static const char *const types[] = {"sphere", "capsule", "cylinder", "box", "ellipsoid", "plane", "mesh"};
    const char *type = mjcf_get(m, e, of ? of->childclass : NULL, "type"), *childclass = of ? of->childclass : NULL;
    const bool mesh_named = mjcf_get(m, e, childclass, "mesh");
    geom g = {.scale = {1, 1, 1}, .friction = 1, .contype = 1, .conaffinity = 1};
    double own_mass = -1, density = 1000, contype = 1, conaffinity = 1;
    frame f;
    bool left_out = false;
    if (!type) type = mesh_named ? "mesh" : "sphere";
    int k = 0;
    while (k < 7 && strcmp(types[k], type) != 0) ++k;
    if (k == 7) {
        char text[60];
        snprintf(text, sizeof text, "<geom> of type %.30s", type);
        return mjcf_omit(m, text), CAROM_OK;
    }
    CAROM_TRY(mjcf_pose(m, e, childclass, &f));
    CAROM_TRY(mjcf_number(m, e, childclass, "mass", &own_mass));
    CAROM_TRY(mjcf_number(m, e, childclass, "density", &density));
    CAROM_TRY(mjcf_number(m, e, childclass, "friction", &g.friction));
    CAROM_TRY(mjcf_number(m, e, childclass, "contype", &contype));
    CAROM_TRY(mjcf_number(m, e, childclass, "conaffinity", &conaffinity));
    g.contype = (int)contype, g.conaffinity = (int)conaffinity;
    g.drawn = g.contype == 0 && g.conaffinity == 0;
    if (k == 6)
        CAROM_TRY(read_mesh(m, e, childclass, &g, &left_out));
    else
        CAROM_TRY(read_size(m, e, childclass, types[k], &g, &f));
    for (int i = 0; i < g.n && k < 5; ++i)
        if (!(g.x[i] > 0)) return fail(m, e, "the size of a <geom> of type %s must be positive", type);
    const bool moves = of && of->carrier >= 0;
    body *carrier = moves ? m->body_at[of->carrier] : NULL;
    const frame start = mjcf_start_frame(m), world = !at ? f : carom_compose(m->global ? &start : at, &f);
    if (moves) {
        const frame back = carom_inverse(&carrier->at);
        g.at = carom_compose(&back, &world);
    } else
        g.at = world;
    if (k == 5 && !moves) g.x[0] = world.R[2], g.x[1] = world.R[5], g.x[2] = world.R[8];
    if (k == 5 && moves) return mjcf_omit(m, "<geom> of type plane on a body that moves"), CAROM_OK;
    if (moves && !of->given) { // mass from geometries
        mass x = {0};
        double volume = 0;
        if (k < 5)
            volume = solid(&g, &x);
        else if (m->i.def->solid && g.path) {
            double c[3], J[9];
            volume = m->i.def->solid(m->i.def->user, g.path, g.scale, c, J);
            x.m = volume, memcpy(x.centre, c, sizeof c), memcpy(x.J, J, sizeof J);
        }
        const double factor = own_mass >= 0 && volume > 0 ? own_mass / volume : density;
        x.m *= factor;
        for (int i = 0; i < 9; ++i) x.J[i] *= factor;
        carom_mass_add(&carrier->mass, &x, &g.at);
    }
    if (left_out) return CAROM_OK;
    geom *kept = carom_pool_take(&m->i.memory, sizeof *kept);
    char *name = carom_pool_take(&m->i.memory, 40);
    if (!kept || !name) return mjcf_no_memory(m);
    if (moves)
        snprintf(name, 40, "%s%d", g.drawn ? "v" : "c", ++carrier->shapes);
    else
        snprintf(name, 40, "ground_%d", ++m->nshapes_ground);
    g.name = name, g.of = carrier;
    *kept = g;
    *m->last_geom = kept, m->last_geom = &kept->next;
    return CAROM_OK;
}

// -- bodies and joints ------------------------------------------------------------------------------------------------

static carom_status read_joint(mjcf *m, const xml_element *e, const body *b, const char *own_name, joint *j) {
    static const char *const types[] = {"hinge", "slide", "ball", "free"};
    const char *word = strcmp(e->name, "freejoint") == 0 ? "free" : mjcf_get(m, e, b->childclass, "type"),
               *limited = mjcf_get(m, e, b->childclass, "limited"), *c = b->childclass;
    double pos[3] = {0}, axis[3] = {0, 0, 1}, unused = 0;
    bool range;
    int k = 0;
    while (word && k < 4 && strcmp(types[k], word) != 0) ++k;
    if (k == 4) return fail(m, e, "a joint has the type '%.40s'; types are hinge, slide, ball and free", word);
    *j = (joint){.type = (joint_type)k, .e = e};
    char given[100];
    const char *own = carom_xml_get(e, "name");
    snprintf(given, sizeof given, "%.80s_joint", own_name);
    j->own = own ? own : carom_pool_text(&m->i.memory, given, strlen(given));
    j->name = j->own ? carom_import_name(&m->i, j->own) : NULL;
    if (!j->name) return mjcf_no_memory(m);
    if (j->type == FREE) return CAROM_OK;
    CAROM_TRY(mjcf_vector(m, e, c, "pos", 3, pos, NULL));
    CAROM_TRY(mjcf_vector(m, e, c, "axis", 3, axis, NULL));
    CAROM_TRY(mjcf_vector(m, e, c, "range", 2, j->range, &range));
    CAROM_TRY(mjcf_number(m, e, c, "damping", &j->damping));
    CAROM_TRY(mjcf_number(m, e, c, "stiffness", &j->stiffness));
    CAROM_TRY(mjcf_number(m, e, c, "springref", &j->springref));
    CAROM_TRY(mjcf_number(m, e, c, "ref", &j->ref));
    CAROM_TRY(mjcf_number(m, e, c, "frictionloss", &j->friction));
    CAROM_TRY(mjcf_number(m, e, c, "armature", &unused));
    if (unused != 0) mjcf_omit(m, "armature of joints");
    if (!mjcf_normalise(axis)) return fail(m, e, "the axis of joint '%.60s' has no length", j->own);
    j->limited = limited && strcmp(limited, "auto") != 0 ? strcmp(limited, "true") == 0 : range && m->autolimits;
    const double unit = j->type == SLIDE ? 1 : m->angle;
    for (int i = 0; i < 2; ++i) j->range[i] *= unit;
    j->springref *= unit, j->ref *= unit;
    if (j->limited && j->type == BALL) j->limited = false, mjcf_omit(m, "limits of ball joints");
    if (j->limited && j->range[0] > j->range[1])
        return fail(m, e, "the range of joint '%.60s' is %g to %g; the first must not exceed the second", j->own,
                    j->range[0], j->range[1]);
    const frame f = m->global ? mjcf_start_frame(m) : b->at;
    carom_rotate_vector(f.R, axis, j->axis);
    carom_rotate_vector(f.R, pos, j->at);
    for (int i = 0; i < 3; ++i) j->at[i] += f.r[i];
    return CAROM_OK;
}

// A joint whose limits exclude its reference starts at the nearest limit: the body moves there, and the joint counts
// from there.
static void start_at_limit(mjcf *m, joint *j, body *b) {
    const double way = j->limited ? fmin(fmax(j->ref, j->range[0]), j->range[1]) - j->ref : 0;
    frame motion = carom_frame_none();
    if (way == 0 || (j->type != HINGE && j->type != SLIDE)) return;
    if (m->global)
        note(m, j->e,
             "joint '%.60s' starts outside of its limits, and coordinates are global: the model starts there, too",
             j->own);
    if (m->global) return;
    if (j->type == HINGE) motion = carom_about(j->axis, way);
    double r[3];
    carom_rotate_vector(motion.R, j->at, r);
    for (int i = 0; i < 3; ++i) motion.r[i] = j->type == SLIDE ? way * j->axis[i] : j->at[i] - r[i];
    b->at = carom_compose(&motion, &b->at);
    j->ref += way;
}

static carom_status add_joint(mjcf *m, const joint *j) {
    joint *kept = carom_pool_take(&m->i.memory, sizeof *kept);
    if (!kept) return mjcf_no_memory(m);
    *kept = *j;
    *m->last_joint = kept, m->last_joint = &kept->next;
    if (m->njoints == m->joint_room) {
        joint **list = carom_pool_take(&m->i.memory, (size_t)(m->joint_room ? 2 * m->joint_room : 64) * sizeof *list);
        if (!list) return mjcf_no_memory(m);
        if (m->njoints) memcpy(list, m->joint_at, (size_t)m->njoints * sizeof *list);
        m->joint_at = list, m->joint_room = m->joint_room ? 2 * m->joint_room : 64;
    }
    m->joint_at[m->njoints] = kept;
    return carom_table_put(&m->i.memory, &m->joint_of, kept->own, m->njoints++) ? CAROM_OK : mjcf_no_memory(m);
}

static carom_status read_inertial(mjcf *m, const xml_element *e, body *b, body *carrier) {
    double diagonal[3], full[6];
    bool is_diagonal, is_full;
    mass x = {0};
    frame f;
    CAROM_TRY(mjcf_number(m, e, NULL, "mass", &x.m));
    CAROM_TRY(mjcf_vector(m, e, NULL, "diaginertia", 3, diagonal, &is_diagonal));
    CAROM_TRY(mjcf_vector(m, e, NULL, "fullinertia", 6, full, &is_full));
    CAROM_TRY(mjcf_pose(m, e, NULL, &f));
    if (x.m < 0) return fail(m, e, "the mass of a body must be positive, got %g", x.m);
    if (is_diagonal)
        for (int i = 0; i < 3; ++i) x.J[4 * i] = diagonal[i];
    if (is_full)
        memcpy(x.J, (const double[]){full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2]},
               sizeof x.J);
    const frame from = m->global ? mjcf_start_frame(m) : b->at, back = carom_inverse(&carrier->at),
                at = carom_compose(&from, &f), own = carom_compose(&back, &at);
    carom_mass_add(&carrier->mass, &x, &own);
    return CAROM_OK;
}

static carom_status keep_body(mjcf *m, body *b, int *number) {
    if (m->nbodies == m->body_room) {
        body **list = carom_pool_take(&m->i.memory, (size_t)(m->body_room ? 2 * m->body_room : 64) * sizeof *list);
        if (!list) return mjcf_no_memory(m);
        if (m->nbodies) memcpy(list, m->body_at, (size_t)m->nbodies * sizeof *list);
        m->body_at = list, m->body_room = m->body_room ? 2 * m->body_room : 64;
    }
    m->body_at[ *number = m->nbodies++] = b;
    *m->last = b, m->last = &b->next;
    return CAROM_OK;
}

static bool is_joint(const xml_element *e) {
    return strcmp(e->name, "joint") == 0 || strcmp(e->name, "freejoint") == 0;
}

const char *mjcf_carrier_name(const mjcf *m, int carrier) { return carrier < 0 ? "ground" : m->body_at[carrier]->name; }

// The joints of a body: a chain of helpers up to the last.
static carom_status read_body_joints(mjcf *m, const xml_element *e, body *b, const char *own) {
    int n = 0, k = 0;
    for (const xml_element *c = e->child; c; c = c->next) n += is_joint(c);
    const char *A = mjcf_carrier_name(m, b->parent);
    for (const xml_element *c = e->child; c; c = c->next) {
        joint j;
        if (!is_joint(c)) continue;
        CAROM_TRY(read_joint(m, c, b, own, &j));
        ++k;
        if (j.type == FREE) continue;
        start_at_limit(m, &j, b);
        j.A = A, j.B = b->name;
        if (k < n) {
            char text[100];
            helper *h = carom_pool_take(&m->i.memory, sizeof *h);
            snprintf(text, sizeof text, "%.60s_helper", b->name);
            if (!h || !(h->name = carom_import_name(&m->i, text))) return mjcf_no_memory(m);
            h->at = b->at;
            *m->last_helper = h, m->last_helper = &h->next;
            h->mass.m = -1; // set when the mass of the body is known
            memcpy(h->mass.centre, (const double[3]){0, 0, 0}, sizeof h->mass.centre);
            h->mass.J[0] = (double)b->carrier;
            A = j.B = h->name;
        }
        CAROM_TRY(add_joint(m, &j));
    }
    return CAROM_OK;
}

static carom_status read_body(mjcf *m, const xml_element *e, int parent, const frame *at, const char *childclass) {
    const char *own = carom_xml_get(e, "name"), *word = carom_xml_get(e, "childclass");
    body *b = carom_pool_take(&m->i.memory, sizeof *b);
    char number[40];
    frame f;
    int index = 0;
    if (!b) return mjcf_no_memory(m);
    *b = (body){.e = e, .childclass = word ? word : childclass, .parent = parent};
    CAROM_TRY(mjcf_pose(m, e, NULL, &f));
    const frame start = mjcf_start_frame(m);
    b->at = carom_compose(m->global ? &start : at, &f);
    if (!own)
        snprintf(number, sizeof number, "body_%d", m->nbodies + 1),
            own = carom_pool_text(&m->i.memory, number, strlen(number));
    if (!own || !(b->name = carom_import_name(&m->i, own))) return mjcf_no_memory(m);
    CAROM_TRY(keep_body(m, b, &index));
    if (!carom_table_put(&m->i.memory, &m->body_of, own, index)) return mjcf_no_memory(m);
    int joints = 0;
    for (const xml_element *c = e->child; c; c = c->next) joints += is_joint(c);
    b->carrier = joints ? index : parent;
    if (carom_xml_get(e, "mocap") && strcmp(carom_xml_get(e, "mocap"), "true") == 0)
        mjcf_omit(m, "motion of mocap bodies: they are part of the ground");
    b->given = carom_xml_child(e, "inertial") && !m->from_geoms_always;
    if (joints) CAROM_TRY(read_body_joints(m, e, b, own));
    if (b->given && b->carrier >= 0)
        CAROM_TRY(read_inertial(m, carom_xml_child(e, "inertial"), b, m->body_at[b->carrier]));
    for (const xml_element *c = e->child; c; c = c->next) {
        if (strcmp(c->name, "geom") == 0)
            CAROM_TRY(read_geom(m, c, b, &b->at));
        else if (strcmp(c->name, "body") == 0)
            CAROM_TRY(read_body(m, c, b->carrier, &b->at, b->childclass));
        else if (!is_joint(c) && strcmp(c->name, "inertial") != 0)
            m->composite = m->composite || strcmp(c->name, "composite") == 0, mjcf_omit_element(m, c, "bodies");
    }
    return CAROM_OK;
}

carom_status mjcf_read_world(mjcf *m, const xml_element *world) {
    const frame at = mjcf_start_frame(m);
    for (const xml_element *c = world->child; c; c = c->next) {
        if (strcmp(c->name, "geom") == 0)
            CAROM_TRY(read_geom(m, c, NULL, NULL));
        else if (strcmp(c->name, "body") == 0)
            CAROM_TRY(read_body(m, c, -1, &at, carom_xml_get(world, "childclass")));
        else
            mjcf_omit_element(m, c, "the world");
    }
    return CAROM_OK;
}

carom_status mjcf_check_masses(mjcf *m) {
    const bool repair = m->i.def->repair;
    double total = 0;
    for (int i = 0; i < m->nbodies; ++i) total += m->body_at[i]->mass.m;
    for (int i = 0; i < m->nbodies; ++i) {
        body *b = m->body_at[i];
        if (b->carrier != i) continue;
        if (b->mass.m == 0 && !repair)
            return fail(m, b->e,
                        "body '%.60s' moves and has no mass%s; give it an <inertial> or a <geom>, or use `repair`",
                        b->name, carom_xml_child(b->e, "composite") ? " (its <composite> has no counterpart)" : "");
        const bool empty = b->mass.m == 0;
        if (empty) b->mass.m = SLIGHT_MASS * (total > 0 ? total : 1);
        if (!carom_positive(b->mass.J)) {
            if (!repair)
                return fail(m, b->e,
                            "the inertia of body '%.60s' is not positive definite; correct it, or use `repair`",
                            b->name);
            carom_mass_repair(&b->mass);
            note(m, b->e, "repaired: %s of body '%.60s'", empty ? "mass" : "inertia", b->name);
            put(m, "# repaired: %s of body %s\n",
                empty ? "no mass, 1/1000 of the robot's now"
                      : "inertia not positive definite, moments below those of a ball of 1 cm raised to these",
                b->name);
        }
    }
    for (helper *h = m->helpers; h; h = h->next) { // a thousandth of the mass and inertia of its body
        body *b = m->body_at[(int)h->mass.J[0]];
        h->mass = b->mass;
        h->mass.m *= SLIGHT_MASS;
        for (int i = 0; i < 9; ++i) h->mass.J[i] *= SLIGHT_MASS;
    }
    for (helper *h = m->helpers; h; h = h->next)
        put(m, "# helper of a body with several joints, with a thousandth of its mass: %s\n", h->name);
    return CAROM_OK;
}
