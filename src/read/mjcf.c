// mjcf.c: a model of MuJoCo (MJCF) becomes the text of a model file.
//
// A body with one joint is a body of carom.  Without a joint it is part of its parent's; with several joints it hangs
// on a chain of helpers, one for each joint but the last, which take a thousandth of its mass each.  Elements that have
// no counterpart are counted and listed at the end of the model.
#include "base/number.h"
#include "base/pi.h"
#include "base/three.h"
#include "read/robot.h"
#include "read/yaml.h"
#include "scheme/advice.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST_INCLUDE = 8, MOST_OMITTED = 100, CLASSES = 512 };

typedef enum joint_type { HINGE, SLIDE, BALL, FREE } joint_type;

typedef struct class {
    const xml_element *e;
    const char *name;
    int parent;
} class;

typedef struct body {
    const char *name;
    int carrier; // index of the body whose part it is; -1: the ground
    frame at;
    mass mass;  // of a carrier: of all of it, in its frame
    bool given; // by an <inertial>
    const xml_element *e;
    const char *childclass;
    int parent, shapes;
    struct body *next;
} body;

typedef struct joint {
    const char *name, *own;
    joint_type type;
    const xml_element *e;
    const char *A, *B; // bodies of carom
    double at[3], axis[3], range[2], damping, stiffness, springref, ref, friction;
    bool limited, locked;
    struct joint *next;
} joint;

/// A geometry of a body, or of the ground.
typedef struct geom {
    const char *name, *kind; // key of carom
    const body *of;
    frame at; // in the frame of the carrier, or of the world
    double x[3], scale[3], friction;
    int n, contype, conaffinity;
    bool drawn; // it touches nothing
    char *path;
    struct geom *next;
} geom;

typedef struct helper {
    const char *name;
    mass mass;
    frame at;
    struct helper *next;
} helper;

typedef struct omitted {
    char what[80];
    int count;
} omitted;

typedef struct mjcf {
    importing i;
    class classes[CLASSES];
    int nclasses;
    double angle; // radians of its unit
    const char *eulerseq, *meshdir;
    bool autolimits, from_geoms_always, global; // global: positions are those in the world
    bool composite;                             // there are bodies that have no counterpart
    double gravity[3], timestep;
    name_table class_of, body_of, joint_of, mesh_of;
    const xml_element **meshes;
    int nmeshes, nbodies, nshapes_ground;
    body *first, **last;
    body **body_at; // by number
    int body_room;
    joint *joints, **last_joint;
    joint **joint_at;
    int njoints, joint_room;
    geom *geoms, **last_geom;
    helper *helpers, **last_helper;
    omitted omitted[MOST_OMITTED];
    int nomitted;
} mjcf;

#define fail(m, ...) carom_import_fail(&(m)->i, __VA_ARGS__)
#define note(m, ...) carom_import_note(&(m)->i, __VA_ARGS__)
#define put(m, ...) carom_put(&(m)->i, __VA_ARGS__)

static carom_status no_memory(const mjcf *m) {
    return carom_fail(m->i.err, CAROM_NO_MEMORY, "not enough memory for a robot");
}

static void omit(mjcf *m, const char *what) {
    int k = 0;
    while (k < m->nomitted && strcmp(m->omitted[k].what, what) != 0) ++k;
    if (k == MOST_OMITTED) return;
    if (k == m->nomitted) {
        snprintf(m->omitted[k].what, sizeof m->omitted[k].what, "%.79s", what);
        m->omitted[m->nomitted++].count = 0;
    }
    ++m->omitted[k].count;
}

static void omit_element(mjcf *m, const xml_element *e, const char *in) {
    char text[80];
    snprintf(text, sizeof text, "<%.30s>%s%.30s", e->name, *in ? " of " : "", in);
    omit(m, text);
}

// -- includes ---------------------------------------------------------------------------------------------------------

static void set_file(xml_element *e, const char *file) {
    e->file = file;
    for (xml_element *c = e->child; c; c = c->next) set_file(c, file);
}

// <include file="..."/> becomes the children of that file's root.
static carom_status include(mjcf *m, xml_element *parent, int depth) {
    for (xml_element **at = &parent->child; *at;) {
        xml_element *e = *at;
        if (strcmp(e->name, "include") != 0) {
            CAROM_TRY(include(m, e, depth));
            at = &e->next;
            continue;
        }
        const char *file = carom_xml_get(e, "file"), *text = NULL;
        char why[300] = "it cannot be read here";
        size_t length = 0;
        if (!file) return fail(m, e, "<include> has no file");
        if (depth == DEEPEST_INCLUDE) return fail(m, e, "files include each other more than %d deep", DEEPEST_INCLUDE);
        if (m->i.def->include) text = m->i.def->include(m->i.def->user, file, &length, why, sizeof why);
        if (!text) return fail(m, e, "the file '%.100s' is not included: %s", file, why);
        const char *name = carom_pool_text(&m->i.memory, file, strlen(file));
        if (!name) return no_memory(m);
        CAROM_TRY(carom_text_check(text, length, name, m->i.err));
        xml_element *root = carom_xml_read(&m->i.memory, text, length, name, m->i.err);
        if (!root) return m->i.err->code;
        set_file(root, name);
        CAROM_TRY(include(m, root, depth + 1));
        *at = root->child ? root->child : e->next;
        if (root->child) root->last->next = e->next;
        if (parent->last == e) parent->last = root->child ? root->last : NULL; // only `next` is used from here on
        while (root->child && *at != e->next) at = &(*at)->next;
    }
    return CAROM_OK;
}

// -- attributes and their defaults ------------------------------------------------------------------------------------

static const char *get(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute) {
    const char *own = carom_xml_get(e, attribute), *word = carom_xml_get(e, "class");
    if (own) return own;
    int k = carom_table_get(&m->class_of, word ? word : childclass ? childclass : "main");
    const bool actuator = strcmp(e->name, "motor") == 0 || strcmp(e->name, "position") == 0 ||
                          strcmp(e->name, "velocity") == 0 || strcmp(e->name, "general") == 0;
    for (; k >= 0; k = m->classes[k].parent) {
        const char *found = carom_xml_get(carom_xml_child(m->classes[k].e, e->name), attribute);
        if (!found && actuator) found = carom_xml_get(carom_xml_child(m->classes[k].e, "general"), attribute);
        if (found) return found;
    }
    return NULL;
}

// Up to n numbers; how many there are, 0 without the attribute.
static carom_status some(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute, int most,
                         double *x, int *n) {
    const char *text = get(m, e, childclass, attribute), *p = text;
    *n = 0;
    while (p && *(p += strspn(p, " \t\r\n,"))) {
        char *end = NULL;
        const double value = carom_number(p, &end);
        if (end == p || !isfinite(value))
            return fail(m, e, "%s=\"%.60s\" of <%.40s> must be numbers, got '%.20s'", attribute, text, e->name, p);
        if (*n < most) x[(*n)++] = value;
        p = end;
    }
    return CAROM_OK;
}

static carom_status number(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute,
                           double *x) {
    int n;
    double value;
    CAROM_TRY(some(m, e, childclass, attribute, 1, &value, &n));
    if (n) *x = value;
    return CAROM_OK;
}

static carom_status vector(const mjcf *m, const xml_element *e, const char *childclass, const char *attribute, int want,
                           double *x, bool *there) {
    int n;
    double value[6];
    CAROM_TRY(some(m, e, childclass, attribute, want, value, &n));
    if (n && n != want)
        return fail(m, e, "%s=\"%.60s\" of <%.40s> must be %d numbers", attribute, get(m, e, childclass, attribute),
                    e->name, want);
    if (n) memcpy(x, value, (size_t)want * sizeof *x);
    if (there) *there = n > 0;
    return CAROM_OK;
}

static bool normalise(double *x) {
    const double size = unit(x);
    return size > 0 && isfinite(size);
}

// The frame whose z axis is along n: the shortest turn.
static frame along(double *n, const double *r) {
    static const double OPPOSITE = 1e-12; // 1 + cos: of directions that any half turn takes into each other
    const bool turns = 1 + n[2] > OPPOSITE;
    const double q[4] = {turns ? 1 + n[2] : 0, turns ? -n[1] : 1, turns ? n[0] : 0, 0};
    return carom_from_quaternion(q, r);
}

// pos, and one of quat, axisangle, euler, xyaxes, zaxis.
static carom_status pose(const mjcf *m, const xml_element *e, const char *childclass, frame *f) {
    double pos[3] = {0}, x[6];
    bool there;
    *f = carom_frame_none();
    CAROM_TRY(vector(m, e, childclass, "pos", 3, pos, NULL));
    CAROM_TRY(vector(m, e, childclass, "quat", 4, x, &there));
    if (there) *f = carom_from_quaternion(x, pos);
    CAROM_TRY(vector(m, e, childclass, "axisangle", 4, x, &there));
    if (there && !normalise(x)) return fail(m, e, "axisangle of <%.40s> has an axis without length", e->name);
    if (there) *f = carom_about(x, x[3] * m->angle);
    CAROM_TRY(vector(m, e, childclass, "euler", 3, x, &there));
    for (int i = 0; i < 3 && there; ++i) {
        const char c = m->eulerseq[i];
        const int k = (c | 32) - 'x';
        const double n[3] = {k == 0, k == 1, k == 2};
        const frame turn = carom_about(n, x[i] * m->angle);
        *f =
            c >= 'a' ? carom_compose(f, &turn) : carom_compose(&turn, f); // small letters turn about the axes that move
    }
    CAROM_TRY(vector(m, e, childclass, "xyaxes", 6, x, &there));
    if (there) {
        double y[3], z[3];
        if (!normalise(x)) return fail(m, e, "xyaxes of <%.40s> has an axis without length", e->name);
        const double dot = x[0] * x[3] + x[1] * x[4] + x[2] * x[5];
        for (int i = 0; i < 3; ++i) y[i] = x[3 + i] - dot * x[i];
        if (!normalise(y)) return fail(m, e, "xyaxes of <%.40s> are parallel", e->name);
        z[0] = x[1] * y[2] - x[2] * y[1], z[1] = x[2] * y[0] - x[0] * y[2], z[2] = x[0] * y[1] - x[1] * y[0];
        for (int i = 0; i < 3; ++i) f->R[3 * i] = x[i], f->R[3 * i + 1] = y[i], f->R[3 * i + 2] = z[i];
    }
    CAROM_TRY(vector(m, e, childclass, "zaxis", 3, x, &there));
    if (there && !normalise(x)) return fail(m, e, "zaxis of <%.40s> has no length", e->name);
    if (there) *f = along(x, pos);
    memcpy(f->r, pos, sizeof pos);
    return CAROM_OK;
}

static carom_status read_classes(mjcf *m, const xml_element *e, int parent) {
    const char *name = carom_xml_get(e, "class");
    if (!name) name = "main";
    int k = carom_table_get(&m->class_of, name);
    if (k < 0 || parent >= 0) {
        if (m->nclasses == CLASSES) return fail(m, e, "more than %d default classes", CLASSES);
        k = m->nclasses++;
        m->classes[k] = (class){e, name, parent};
        if (!carom_table_put(&m->i.memory, &m->class_of, name, k)) return no_memory(m);
    }
    for (const xml_element *c = carom_xml_child(e, "default"); c; c = carom_xml_again(c))
        CAROM_TRY(read_classes(m, c, k));
    return CAROM_OK;
}

// Where the root is.
static frame start_frame(const mjcf *m) {
    frame f = carom_frame_none();
    memcpy(f.r, m->i.def->at, sizeof f.r);
    return f;
}

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
    CAROM_TRY(some(m, e, childclass, "size", 3, size, &n));
    CAROM_TRY(vector(m, e, childclass, "fromto", 6, ends, &there));
    double half = size[1];
    if (there) {
        double d[3], r[3];
        for (int i = 0; i < 3; ++i) d[i] = ends[3 + i] - ends[i], r[i] = (ends[i] + ends[3 + i]) / 2;
        const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (!normalise(d)) return fail(m, e, "fromto of <geom> has no length");
        half = length / 2;
        *f = along(d, r);
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
    const char *text = get(m, asset, NULL, "vertex");
    const size_t room = text ? strlen(text) / 2 + 1 : 0; // a digit and a space for each number at least
    char why[300] = "this program writes no files of meshes";
    int n = 0;
    if (!text) return omit(m, "<mesh> without a file and without vertex"), CAROM_OK;
    double *x = carom_pool_take(&m->i.memory, room * sizeof *x);
    if (!x) return no_memory(m);
    CAROM_TRY(some(m, asset, NULL, "vertex", room < INT_MAX ? (int)room : INT_MAX, x, &n));
    if (n < 12 || n % 3 != 0)
        return fail(m, asset,
                    "vertex of the mesh '%.60s' has %d numbers; expected three for each of at least 4 corners", name,
                    n);
    if (m->i.def->corners) *left_out = !m->i.def->corners(m->i.def->user, name, x, n / 3, path, size, why, sizeof why);
    if (*left_out) note(m, asset, "the mesh '%.60s' is left out: %s", name, why);
    return CAROM_OK;
}

static carom_status read_mesh(mjcf *m, const xml_element *e, const char *childclass, geom *g, bool *left_out) {
    const char *name = get(m, e, childclass, "mesh");
    const int k = carom_table_get(&m->mesh_of, name);
    if (k < 0) return fail(m, e, "<geom> names the mesh '%.60s', which is no asset", name ? name : "");
    const xml_element *asset = m->meshes[k];
    const char *file = get(m, asset, NULL, "file");
    char given[1024], path[1024];
    bool there;
    g->kind = "hull", g->n = 0;
    CAROM_TRY(vector(m, asset, NULL, "scale", 3, g->scale, &there));
    *left_out = true;
    if (!file) {
        CAROM_TRY(read_vertices(m, asset, name, path, sizeof path, left_out));
        if (*left_out) return CAROM_OK;
        g->path = carom_pool_text(&m->i.memory, path, strlen(path));
        return g->path ? CAROM_OK : no_memory(m);
    }
    snprintf(given, sizeof given, "%s%s%s", m->meshdir,
             *m->meshdir && m->meshdir[strlen(m->meshdir) - 1] != '/' ? "/" : "", file);
    if (!carom_import_mesh(&m->i, e, given, path, sizeof path)) return CAROM_OK;
    *left_out = false;
    g->path = carom_pool_text(&m->i.memory, path, strlen(path));
    return g->path ? CAROM_OK : no_memory(m);
}

static carom_status read_geom(mjcf *m, const xml_element *e, body *of, const frame *at) {
    static const char *const types[] = {"sphere", "capsule", "cylinder", "box", "ellipsoid", "plane", "mesh"};
    const char *type = get(m, e, of ? of->childclass : NULL, "type"), *childclass = of ? of->childclass : NULL;
    const bool mesh_named = get(m, e, childclass, "mesh");
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
        return omit(m, text), CAROM_OK;
    }
    CAROM_TRY(pose(m, e, childclass, &f));
    CAROM_TRY(number(m, e, childclass, "mass", &own_mass));
    CAROM_TRY(number(m, e, childclass, "density", &density));
    CAROM_TRY(number(m, e, childclass, "friction", &g.friction));
    CAROM_TRY(number(m, e, childclass, "contype", &contype));
    CAROM_TRY(number(m, e, childclass, "conaffinity", &conaffinity));
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
    const frame start = start_frame(m), world = !at ? f : carom_compose(m->global ? &start : at, &f);
    if (moves) {
        const frame back = carom_inverse(&carrier->at);
        g.at = carom_compose(&back, &world);
    } else
        g.at = world;
    if (k == 5 && !moves) g.x[0] = world.R[2], g.x[1] = world.R[5], g.x[2] = world.R[8];
    if (k == 5 && moves) return omit(m, "<geom> of type plane on a body that moves"), CAROM_OK;
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
    if (!kept || !name) return no_memory(m);
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
    const char *word = strcmp(e->name, "freejoint") == 0 ? "free" : get(m, e, b->childclass, "type"),
               *limited = get(m, e, b->childclass, "limited"), *c = b->childclass;
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
    if (!j->name) return no_memory(m);
    if (j->type == FREE) return CAROM_OK;
    CAROM_TRY(vector(m, e, c, "pos", 3, pos, NULL));
    CAROM_TRY(vector(m, e, c, "axis", 3, axis, NULL));
    CAROM_TRY(vector(m, e, c, "range", 2, j->range, &range));
    CAROM_TRY(number(m, e, c, "damping", &j->damping));
    CAROM_TRY(number(m, e, c, "stiffness", &j->stiffness));
    CAROM_TRY(number(m, e, c, "springref", &j->springref));
    CAROM_TRY(number(m, e, c, "ref", &j->ref));
    CAROM_TRY(number(m, e, c, "frictionloss", &j->friction));
    CAROM_TRY(number(m, e, c, "armature", &unused));
    if (unused != 0) omit(m, "armature of joints");
    if (!normalise(axis)) return fail(m, e, "the axis of joint '%.60s' has no length", j->own);
    j->limited = limited && strcmp(limited, "auto") != 0 ? strcmp(limited, "true") == 0 : range && m->autolimits;
    const double unit = j->type == SLIDE ? 1 : m->angle;
    for (int i = 0; i < 2; ++i) j->range[i] *= unit;
    j->springref *= unit, j->ref *= unit;
    if (j->limited && j->type == BALL) j->limited = false, omit(m, "limits of ball joints");
    if (j->limited && j->range[0] > j->range[1])
        return fail(m, e, "the range of joint '%.60s' is %g to %g; the first must not exceed the second", j->own,
                    j->range[0], j->range[1]);
    const frame f = m->global ? start_frame(m) : b->at;
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
    if (!kept) return no_memory(m);
    *kept = *j;
    *m->last_joint = kept, m->last_joint = &kept->next;
    if (m->njoints == m->joint_room) {
        joint **list = carom_pool_take(&m->i.memory, (size_t)(m->joint_room ? 2 * m->joint_room : 64) * sizeof *list);
        if (!list) return no_memory(m);
        if (m->njoints) memcpy(list, m->joint_at, (size_t)m->njoints * sizeof *list);
        m->joint_at = list, m->joint_room = m->joint_room ? 2 * m->joint_room : 64;
    }
    m->joint_at[m->njoints] = kept;
    return carom_table_put(&m->i.memory, &m->joint_of, kept->own, m->njoints++) ? CAROM_OK : no_memory(m);
}

static carom_status read_inertial(mjcf *m, const xml_element *e, body *b, body *carrier) {
    double diagonal[3], full[6];
    bool is_diagonal, is_full;
    mass x = {0};
    frame f;
    CAROM_TRY(number(m, e, NULL, "mass", &x.m));
    CAROM_TRY(vector(m, e, NULL, "diaginertia", 3, diagonal, &is_diagonal));
    CAROM_TRY(vector(m, e, NULL, "fullinertia", 6, full, &is_full));
    CAROM_TRY(pose(m, e, NULL, &f));
    if (x.m < 0) return fail(m, e, "the mass of a body must be positive, got %g", x.m);
    if (is_diagonal)
        for (int i = 0; i < 3; ++i) x.J[4 * i] = diagonal[i];
    if (is_full)
        memcpy(x.J, (const double[]){full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2]},
               sizeof x.J);
    const frame from = m->global ? start_frame(m) : b->at, back = carom_inverse(&carrier->at),
                at = carom_compose(&from, &f), own = carom_compose(&back, &at);
    carom_mass_add(&carrier->mass, &x, &own);
    return CAROM_OK;
}

static carom_status keep_body(mjcf *m, body *b, int *number) {
    if (m->nbodies == m->body_room) {
        body **list = carom_pool_take(&m->i.memory, (size_t)(m->body_room ? 2 * m->body_room : 64) * sizeof *list);
        if (!list) return no_memory(m);
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

static const char *carrier_name(const mjcf *m, int carrier) {
    return carrier < 0 ? "ground" : m->body_at[carrier]->name;
}

// The joints of a body: a chain of helpers up to the last.
static carom_status read_body_joints(mjcf *m, const xml_element *e, body *b, const char *own) {
    int n = 0, k = 0;
    for (const xml_element *c = e->child; c; c = c->next) n += is_joint(c);
    const char *A = carrier_name(m, b->parent);
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
            if (!h || !(h->name = carom_import_name(&m->i, text))) return no_memory(m);
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
    if (!b) return no_memory(m);
    *b = (body){.e = e, .childclass = word ? word : childclass, .parent = parent};
    CAROM_TRY(pose(m, e, NULL, &f));
    const frame start = start_frame(m);
    b->at = carom_compose(m->global ? &start : at, &f);
    if (!own)
        snprintf(number, sizeof number, "body_%d", m->nbodies + 1),
            own = carom_pool_text(&m->i.memory, number, strlen(number));
    if (!own || !(b->name = carom_import_name(&m->i, own))) return no_memory(m);
    CAROM_TRY(keep_body(m, b, &index));
    if (!carom_table_put(&m->i.memory, &m->body_of, own, index)) return no_memory(m);
    int joints = 0;
    for (const xml_element *c = e->child; c; c = c->next) joints += is_joint(c);
    b->carrier = joints ? index : parent;
    if (carom_xml_get(e, "mocap") && strcmp(carom_xml_get(e, "mocap"), "true") == 0)
        omit(m, "motion of mocap bodies: they are part of the ground");
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
            m->composite = m->composite || strcmp(c->name, "composite") == 0, omit_element(m, c, "bodies");
    }
    return CAROM_OK;
}

static carom_status read_world(mjcf *m, const xml_element *world) {
    const frame at = start_frame(m);
    for (const xml_element *c = world->child; c; c = c->next) {
        if (strcmp(c->name, "geom") == 0)
            CAROM_TRY(read_geom(m, c, NULL, NULL));
        else if (strcmp(c->name, "body") == 0)
            CAROM_TRY(read_body(m, c, -1, &at, carom_xml_get(world, "childclass")));
        else
            omit_element(m, c, "the world");
    }
    return CAROM_OK;
}

static carom_status check_masses(mjcf *m) {
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

// -- writing ----------------------------------------------------------------------------------------------------------

static void put_geom(const mjcf *m, const geom *g) {
    double at[3];
    for (int i = 0; i < 3; ++i) at[i] = g->at.r[i] - (g->of ? g->of->mass.centre[i] : 0);
    put(m, "%s: {%s: ", g->name, g->kind);
    if (g->path)
        carom_put_quoted(&m->i, g->path);
    else if (g->n == 1)
        carom_put_number(&m->i, g->x[0]);
    else
        carom_put_list(&m->i, "", g->x, g->n);
    if (g->scale[0] != 1 || g->scale[1] != 1 || g->scale[2] != 1) carom_put_list(&m->i, ", scale: ", g->scale, 3);
    carom_put_list(&m->i, ", at: ", at, 3);
    if (g->kind[0] == 'c')
        carom_put_list(&m->i, ", axis: ", (const double[]){g->at.R[2], g->at.R[5], g->at.R[8]}, 3);
    else if (strcmp(g->kind, "sphere") != 0 && strcmp(g->kind, "plane") != 0)
        carom_put_turn(&m->i, g->at.R);
    put(m, "}");
}

static void put_bodies(const mjcf *m) {
    put(m, "bodies:\n");
    for (const helper *h = m->helpers; h; h = h->next) carom_put_body(&m->i, h->name, &h->mass, &h->at), put(m, "}\n");
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = m->body_at[i];
        bool first = true;
        if (b->carrier != i) continue;
        carom_put_body(&m->i, b->name, &b->mass, &b->at);
        for (const geom *g = b->shapes ? m->geoms : NULL; g; g = g->next) {
            if (g->of != b) continue;
            put(m, first ? ",\n    shapes: {" : ", ");
            first = false;
            put_geom(m, g);
        }
        put(m, first ? "}\n" : "}}\n");
    }
    bool first = !m->i.def->floor;
    if (!first) put(m, "shapes: {floor: {plane: [0, 0, 1]}");
    for (const geom *g = m->geoms; g; g = g->next) {
        if (g->of) continue;
        put(m, first ? "shapes: {" : ", ");
        first = false;
        put_geom(m, g);
    }
    if (!first) put(m, "}\n");
}

static bool moves(const joint *j) { return (j->type == HINGE || j->type == SLIDE) && !j->locked; }
static const char *coordinate(const joint *j) { return j->type == SLIDE ? "shift" : "angle"; }

static void put_springs(const mjcf *m) {
    bool first = true;
    for (const joint *j = m->joints; j; j = j->next) {
        if (!moves(j) || (j->damping == 0 && j->stiffness == 0)) continue;
        put(m, "%s  %s_spring: {joint: %s", first ? "springs:\n" : "", j->name, j->name);
        first = false;
        if (j->stiffness != 0) put(m, ", stiffness: "), carom_put_number(&m->i, j->stiffness);
        if (j->stiffness != 0 && j->springref != j->ref)
            put(m, ", rest: "), carom_put_number(&m->i, j->springref - j->ref);
        if (j->damping != 0) put(m, ", damping: "), carom_put_number(&m->i, j->damping);
        put(m, "}\n");
    }
}

// Where shapes may touch planes the model starts beside them: MuJoCo lets them overlap, robots stand in the floor.
static void put_limits(const mjcf *m) {
    bool first = true, any = false, on_plane = false;
    for (const joint *j = m->joints; j; j = j->next) {
        if (!moves(j) || (!j->limited && j->friction == 0)) continue;
        if (first) put(m, "contacts:\n");
        first = false;
        if (j->limited) {
            put(m, "  %s_lower: {gap: %s.%s - (", j->name, j->name, coordinate(j)),
                carom_put_number(&m->i, j->range[0] - j->ref), put(m, ")}\n");
            put(m, "  %s_upper: {gap: ", j->name), carom_put_number(&m->i, j->range[1] - j->ref),
                put(m, " - %s.%s}\n", j->name, coordinate(j));
        }
        if (j->friction == 0) continue;
        put(m, "  %s_friction: {normal force: ", j->name), carom_put_number(&m->i, j->friction),
            put(m, ", slip: %s.%s, friction: 1}\n", j->name, coordinate(j));
    }
    // With planes of the world, by their masks; friction is the larger of the two.
    for (const geom *p = m->geoms; p; p = p->next) {
        if (p->of || strcmp(p->kind, "plane") != 0) continue;
        for (const geom *g = m->geoms; g; g = g->next) {
            if (!g->of || !((g->contype & p->conaffinity) || (p->contype & g->conaffinity))) continue;
            put(m, "%s  %s_%s_on_%s: {between: [%s.%s, %s], friction: ", first ? "contacts:\n" : "", g->of->name,
                g->name, p->name, g->of->name, g->name, p->name);
            carom_put_number(&m->i, fmax(g->friction, p->friction));
            put(m, "}\n");
            first = false, on_plane = true;
        }
    }
    for (const geom *g = m->i.def->floor ? m->geoms : NULL; g; g = g->next) {
        if (!g->of || g->drawn) continue;
        if (!any) put(m, "%s  on_floor: {friction: 0.8, between: [[", first ? "contacts:\n" : "");
        put(m, "%s%s.%s", any ? ", " : "", g->of->name, g->name);
        any = true;
    }
    if (any) put(m, "], floor]}\n");
    if (any || on_plane) put(m, "start: project\n");
}

// -- actuators --------------------------------------------------------------------------------------------------------

// An expression between two bounds.
static void put_cut(const mjcf *m, const char *text, bool cut, const double *range) {
    if (!cut) {
        put(m, "%s", text);
        return;
    }
    put(m, "max(min(%s, ", text), carom_put_number(&m->i, range[1]), put(m, "), "), carom_put_number(&m->i, range[0]),
        put(m, ")");
}

static bool is_limited(const mjcf *m, const xml_element *e, const char *attribute, bool range) {
    const char *word = get(m, e, NULL, attribute);
    return word && strcmp(word, "auto") != 0 ? strcmp(word, "true") == 0 : range && m->autolimits;
}

static carom_status put_actuator(mjcf *m, const xml_element *e, const joint *j, const char *name) {
    double gear[6] = {1}, gain[3] = {1}, bias[3] = {0}, control[2] = {0}, force[2] = {0}, kp = 1, kv = 0;
    const char *const c = coordinate(j);
    bool has_control, has_force;
    int n;
    CAROM_TRY(some(m, e, NULL, "gear", 6, gear, &n));
    CAROM_TRY(vector(m, e, NULL, "ctrlrange", 2, control, &has_control));
    CAROM_TRY(vector(m, e, NULL, "forcerange", 2, force, &has_force));
    CAROM_TRY(some(m, e, NULL, "gainprm", 3, gain, &n));
    CAROM_TRY(some(m, e, NULL, "biasprm", 3, bias, &n));
    const char *biastype = get(m, e, NULL, "biastype"), *gaintype = get(m, e, NULL, "gaintype");
    if (strcmp(e->name, "general") == 0 &&
        ((gaintype && strcmp(gaintype, "fixed") != 0) ||
         (biastype && strcmp(biastype, "none") != 0 && strcmp(biastype, "affine") != 0)))
        return omit(m, "gains and biases of <general> other than fixed and affine: their inputs drive nothing"),
               put(m, "  %s_motor: {joint: %s, %s: 0}\n", name, j->name, j->type == SLIDE ? "force" : "torque"),
               CAROM_OK;
    if (!biastype || strcmp(biastype, "affine") != 0) bias[0] = bias[1] = bias[2] = 0;
    if (strcmp(e->name, "motor") == 0) gain[0] = 1, bias[0] = bias[1] = bias[2] = 0;
    if (strcmp(e->name, "position") == 0) {
        CAROM_TRY(number(m, e, NULL, "kp", &kp));
        CAROM_TRY(number(m, e, NULL, "kv", &kv));
        gain[0] = kp, bias[0] = 0, bias[1] = -kp, bias[2] = -kv;
    }
    if (strcmp(e->name, "velocity") == 0) {
        kv = 1;
        CAROM_TRY(number(m, e, NULL, "kv", &kv));
        gain[0] = kv, bias[0] = bias[1] = 0, bias[2] = -kv;
    }
    put(m, "  %s_motor: {joint: %s, %s: \"", name, j->name, j->type == SLIDE ? "force" : "torque");
    const bool cut = is_limited(m, e, "forcelimited", has_force);
    if (gear[0] != 1) carom_put_number(&m->i, gear[0]), put(m, "*");
    put(m, cut ? "max(min(" : "(");
    if (gain[0] != 1) carom_put_number(&m->i, gain[0]), put(m, "*");
    put_cut(m, name, is_limited(m, e, "ctrllimited", has_control), control);
    if (bias[0] != 0) put(m, " + ("), carom_put_number(&m->i, bias[0]), put(m, ")");
    if (bias[1] != 0) {
        put(m, " + ("), carom_put_number(&m->i, bias[1] * gear[0]), put(m, ")*(%s.%s + (", j->name, c),
            carom_put_number(&m->i, j->ref), put(m, "))");
    }
    if (bias[2] != 0) put(m, " + ("), carom_put_number(&m->i, bias[2] * gear[0]), put(m, ")*%s.%s'", j->name, c);
    if (cut) put(m, ", "), carom_put_number(&m->i, force[1]), put(m, "), "), carom_put_number(&m->i, force[0]);
    put(m, ")\"}\n");
    return CAROM_OK;
}

// The joint that an actuator drives; NULL: none that moves.
static const joint *driven(const mjcf *m, const xml_element *e) {
    static const char *const known[] = {"motor", "position", "velocity", "general"};
    int k = 0;
    while (k < 4 && strcmp(known[k], e->name) != 0) ++k;
    const int at = k < 4 ? carom_table_get(&m->joint_of, get(m, e, NULL, "joint")) : -1;
    return at >= 0 && moves(m->joint_at[at]) ? m->joint_at[at] : NULL;
}

// Inputs first, then motors.
static carom_status put_actuators(mjcf *m, const xml_element *root) {
    int n = 0;
    for (const xml_element *s = carom_xml_child(root, "actuator"); s; s = carom_xml_again(s))
        for (const xml_element *e = s->child; e; e = e->next) ++n;
    const char **input = carom_pool_take(&m->i.memory, ((size_t)n + 1) * sizeof *input);
    if (!input) return no_memory(m);
    for (int pass = 0; pass < 2; ++pass) {
        bool first = true;
        int k = 0;
        for (const xml_element *s = carom_xml_child(root, "actuator"); s; s = carom_xml_again(s))
            for (const xml_element *e = s->child; e; e = e->next, ++k) {
                const joint *j = driven(m, e);
                char own[80];
                if (!j) {
                    snprintf(own, sizeof own, "<%.30s> that drives no hinge or slide", e->name);
                    if (pass == 0) omit(m, own);
                    continue;
                }
                if (pass == 0) {
                    const char *word = carom_xml_get(e, "name");
                    snprintf(own, sizeof own, "%.60s%s", word ? word : j->name, word ? "" : "_control");
                    if (!(input[k] = carom_import_name(&m->i, own))) return no_memory(m);
                    put(m, "%s  %s: 0\n", first ? "inputs:\n" : "", input[k]);
                } else {
                    put(m, "%s", first ? "motors:\n" : "");
                    CAROM_TRY(put_actuator(m, e, j, input[k]));
                }
                first = false;
            }
    }
    return CAROM_OK;
}

// -- equality ---------------------------------------------------------------------------------------------------------

static carom_status put_equality(mjcf *m, const xml_element *e, const char *name) {
    const char *active = get(m, e, NULL, "active");
    if (active && strcmp(active, "false") == 0) return omit(m, "equality constraints that are not active"), CAROM_OK;
    if (strcmp(e->name, "joint") == 0) {
        const char *one = carom_xml_get(e, "joint1"), *two = carom_xml_get(e, "joint2");
        const int a = carom_table_get(&m->joint_of, one), b = carom_table_get(&m->joint_of, two);
        double c[5] = {0, 1, 0, 0, 0};
        int n;
        CAROM_TRY(some(m, e, NULL, "polycoef", 5, c, &n));
        if (a < 0 || (two && b < 0)) return fail(m, e, "an equality names a joint that does not exist");
        if (!two || !moves(m->joint_at[a]) || !moves(m->joint_at[b]) || c[0] != 0 || c[1] == 0 || c[2] != 0 ||
            c[3] != 0 || c[4] != 0)
            return omit(m, "equality of joints that is not proportional"), CAROM_OK;
        put(m, "  %s: {type: gear, joints: [%s, %s], ratio: ", name, m->joint_at[b]->name, m->joint_at[a]->name),
            carom_put_number(&m->i, c[1]), put(m, "}\n");
        return CAROM_OK;
    }
    const bool weld = strcmp(e->name, "weld") == 0;
    const char *one = carom_xml_get(e, "body1"), *two = carom_xml_get(e, "body2");
    if ((!weld && strcmp(e->name, "connect") != 0) || !one) return omit_element(m, e, "equality"), CAROM_OK;
    // `world` and no name are the ground
    const bool ground_a = strcmp(one, "world") == 0, ground_b = !two || strcmp(two, "world") == 0;
    const int a = ground_a ? -1 : carom_table_get(&m->body_of, one),
              b = ground_b ? -1 : carom_table_get(&m->body_of, two);
    const bool missing = (a < 0 && !ground_a) || (b < 0 && !ground_b);
    if (missing && m->composite) return omit(m, "equality of bodies that belong to a <composite>"), CAROM_OK;
    if (missing) return fail(m, e, "an equality names a body that does not exist");
    const int A = a < 0 ? -1 : m->body_at[a]->carrier, B = b < 0 ? -1 : m->body_at[b]->carrier;
    if (A == B) return omit(m, "equality of two parts of one body"), CAROM_OK;
    double anchor[3] = {0}, at[3];
    CAROM_TRY(vector(m, e, NULL, "anchor", 3, anchor, NULL));
    const frame start = start_frame(m), *f = a < 0 ? &start : &m->body_at[a]->at;
    carom_rotate_vector(f->R, anchor, at);
    for (int i = 0; i < 3; ++i) at[i] += f->r[i];
    put(m, "  %s: {type: %s, between: [%s, %s]", name, weld ? "weld" : "spherical", carrier_name(m, B),
        carrier_name(m, A));
    carom_put_list(&m->i, ", at: ", at, 3);
    put(m, "}\n");
    if (weld && carom_xml_get(e, "relpose")) omit(m, "relpose of welds: bodies stay where they start");
    return CAROM_OK;
}

static carom_status put_all_joints(mjcf *m, const xml_element *root) {
    static const char *const word[] = {"revolute", "prismatic", "spherical", ""};
    put(m, "joints:\n");
    for (const joint *j = m->joints; j; j = j->next) {
        put(m, "  %s: {type: %s, between: [%s, %s]", j->name, word[j->type], j->A, j->B);
        carom_put_list(&m->i, ", at: ", j->at, 3);
        if (j->type != BALL) carom_put_list(&m->i, ", axis: ", j->axis, 3);
        put(m, "}\n");
        if (j->type == BALL && (j->damping != 0 || j->stiffness != 0 || j->friction != 0))
            omit(m, "damping, stiffness and friction of ball joints");
    }
    for (const xml_element *s = carom_xml_child(root, "equality"); s; s = carom_xml_again(s))
        for (const xml_element *e = s->child; e; e = e->next) {
            const char *own = carom_xml_get(e, "name"), *name = carom_import_name(&m->i, own ? own : "equality");
            if (!name) return no_memory(m);
            CAROM_TRY(put_equality(m, e, name));
        }
    return CAROM_OK;
}

// -- everything -------------------------------------------------------------------------------------------------------

static carom_status read_settings(mjcf *m, const xml_element *root) {
    for (const xml_element *e = carom_xml_child(root, "compiler"); e; e = carom_xml_again(e)) {
        const char *angle = carom_xml_get(e, "angle"), *euler = carom_xml_get(e, "eulerseq"),
                   *dir = carom_xml_get(e, "meshdir"), *assets = carom_xml_get(e, "assetdir"),
                   *limits = carom_xml_get(e, "autolimits"), *coordinate_word = carom_xml_get(e, "coordinate"),
                   *from = carom_xml_get(e, "inertiafromgeom");
        if (angle) m->angle = strcmp(angle, "radian") == 0 ? 1 : PI / 180;
        if (euler && (strlen(euler) != 3 || strspn(euler, "xyzXYZ") != 3))
            return fail(m, e, "eulerseq=\"%.20s\" must be three of x, y, z, X, Y, Z", euler);
        if (euler) m->eulerseq = euler;
        if (assets) m->meshdir = assets;
        if (dir) m->meshdir = dir;
        if (limits) m->autolimits = strcmp(limits, "true") == 0;
        if (from) m->from_geoms_always = strcmp(from, "true") == 0;
        if (coordinate_word) m->global = strcmp(coordinate_word, "global") == 0;
        if (carom_xml_get(e, "settotalmass")) omit(m, "settotalmass of <compiler>");
    }
    for (const xml_element *e = carom_xml_child(root, "option"); e; e = carom_xml_again(e)) {
        CAROM_TRY(vector(m, e, NULL, "gravity", 3, m->gravity, NULL));
        CAROM_TRY(number(m, e, NULL, "timestep", &m->timestep));
    }
    for (const xml_element *e = carom_xml_child(root, "default"); e; e = carom_xml_again(e))
        CAROM_TRY(read_classes(m, e, -1));
    for (const xml_element *a = carom_xml_child(root, "asset"); a; a = carom_xml_again(a))
        for (const xml_element *e = carom_xml_child(a, "mesh"); e; e = carom_xml_again(e)) ++m->nmeshes;
    m->meshes = carom_pool_take(&m->i.memory, ((size_t)m->nmeshes + 1) * sizeof *m->meshes);
    if (!m->meshes) return no_memory(m);
    int n = 0;
    for (const xml_element *a = carom_xml_child(root, "asset"); a; a = carom_xml_again(a))
        for (const xml_element *e = carom_xml_child(a, "mesh"); e; e = carom_xml_again(e), ++n) {
            const char *name = carom_xml_get(e, "name"), *file = carom_xml_get(e, "file");
            m->meshes[n] = e;
            if (!name && file) { // the name of the file without directory and ending
                const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file, *dot = strrchr(start, '.');
                name = carom_pool_text(&m->i.memory, start, dot ? (size_t)(dot - start) : strlen(start));
            }
            if (name && !carom_table_put(&m->i.memory, &m->mesh_of, name, n)) return no_memory(m);
        }
    return CAROM_OK;
}

static void list_omitted(mjcf *m, const xml_element *root) {
    static const char *const used[] = {"compiler", "option", "default", "worldbody", "actuator",
                                       "equality", "asset",  "size",    "statistic", "visual"};
    for (const xml_element *e = root->child; e; e = e->next) {
        size_t k = 0;
        while (k < sizeof used / sizeof *used && strcmp(used[k], e->name) != 0) ++k;
        if (k == sizeof used / sizeof *used)
            for (const xml_element *c = e->child; c; c = c->next) omit_element(m, c, e->name);
    }
    int moving = 0;
    for (int i = 0; i < m->nbodies; ++i) moving += m->body_at[i]->carrier == i;
    if (moving > 1) omit(m, "contacts between bodies that move");
    for (const geom *g = m->geoms; g; g = g->next)
        if (!g->of && strcmp(g->kind, "plane") != 0 && !g->drawn)
            omit(m, "contacts with geometries of the world other than planes");
    if (m->nomitted == 0) return;
    put(m, "# omitted:\n");
    for (int k = 0; k < m->nomitted; ++k) {
        put(m, "#   %s (%d)\n", m->omitted[k].what, m->omitted[k].count);
        note(m, root, "omitted: %s (%d)", m->omitted[k].what, m->omitted[k].count);
    }
}

static carom_status convert(mjcf *m) {
    const carom_robot_def *def = m->i.def;
    CAROM_TRY(carom_text_check(def->text, def->length, def->file, m->i.err));
    xml_element *root = carom_xml_read(&m->i.memory, def->text, def->length, def->file, m->i.err);
    if (!root) return m->i.err->code;
    if (strcmp(root->name, "robot") == 0) return fail(m, root, "this is a URDF; use carom import urdf");
    if (strcmp(root->name, "mujoco") != 0)
        return fail(m, root, "the file begins with <%.40s>; an MJCF file begins with <mujoco>", root->name);
    CAROM_TRY(include(m, root, 0));
    CAROM_TRY(read_settings(m, root));
    for (const xml_element *e = carom_xml_child(root, "worldbody"); e; e = carom_xml_again(e))
        CAROM_TRY(read_world(m, e));
    int moving = 0;
    for (int i = 0; i < m->nbodies; ++i) moving += m->body_at[i]->carrier == i;
    if (moving == 0) return fail(m, root, "no body has a joint, so there is nothing to simulate");
    CAROM_TRY(check_masses(m));
    carom_put_head(&m->i, carom_xml_get(root, "model"), m->gravity);
    put_bodies(m);
    CAROM_TRY(put_all_joints(m, root));
    put_springs(m);
    CAROM_TRY(put_actuators(m, root));
    put_limits(m);
    put(m, "simulation: {scheme: " CAROM_SCHEME_OF_IMPORTS ", step: ");
    carom_put_number(&m->i, m->timestep), put(m, ", end: 1}\n");
    list_omitted(m, root);
    return CAROM_OK;
}

carom_status carom_mjcf_write(const carom_robot_def *def, carom_write_text *write, void *user, carom_error *err) {
    carom_error own = {.code = CAROM_OK};
    mjcf m = {.i = {.def = def, .err = &own, .write = write, .user = user},
              .angle = PI / 180,
              .eulerseq = "xyz",
              .meshdir = "",
              .autolimits = true,
              .gravity = {0, 0, -9.81},
              .timestep = 2e-3 /* MuJoCo's */};
    m.last = &m.first, m.last_joint = &m.joints, m.last_geom = &m.geoms, m.last_helper = &m.helpers;
    const carom_status status = convert(&m);
    carom_pool_free(&m.i.memory);
    return status == CAROM_OK ? CAROM_OK : carom_fail(err, own.code, "%s", own.text);
}
