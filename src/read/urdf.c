// urdf.c: a robot description (URDF) becomes the text of a model file.
//
// Frames are those of the links at the start.  A body of carom has its centre of mass as origin and here the axes of
// its link.  Links that are fixed to each other are one body, with the name of the link nearest to the root; those that
// are fixed to a root without mass are part of the ground.
#include "read/robot.h"
#include "read/yaml.h"
#include "scheme/advice.h"
#include <stdio.h>
#include <string.h>

typedef enum type { FIXED, REVOLUTE, CONTINUOUS, PRISMATIC, FLOATING, PLANAR } type;
static const char *const types[] = {"fixed", "revolute", "continuous", "prismatic", "floating", "planar"};
enum { TYPES = 6 }; // of `type`

typedef struct link {
    const xml_element *e;
    const char *name, *own; // for carom; as given
    int joint;              // that moves it, -1: the root
    int child, next;        // of joints: first of those that start here; the next one from the same link
    int carrier;            // the link whose body it is part of; -1: the ground
    int part, last, more;   // of a carrier: its first and last links; the next one of the same carrier; -1: none
    int shapes;             // of a carrier: how many were written
    bool placed;
    mass own_mass, mass; // in its frame; of a carrier: of all its links
    frame at;
} link;

typedef struct joint {
    const xml_element *e;
    const char *name, *own;
    type type;
    int parent, child, next, mimics; // links; the next joint from the same parent; joint, -1: none
    double axis[3], lower, upper, q, multiplier, offset, damping, friction, effort;
    bool limited;
    frame origin;
} joint;

typedef struct robot {
    importing i;
    link *links;
    joint *joints;
    int nlinks, njoints, ground_shapes;
    bool fixed; // the root is welded to the ground
    int *order; // of links, parents first
    name_table link_of, joint_of;
    double total; // mass
} robot;

#define fail(r, ...) carom_import_fail(&(r)->i, __VA_ARGS__)
#define note(r, ...) carom_import_note(&(r)->i, __VA_ARGS__)
#define put(r, ...) carom_put(&(r)->i, __VA_ARGS__)

static carom_status no_memory(const robot *r) {
    return carom_fail(r->i.err, CAROM_NO_MEMORY, "not enough memory for a robot");
}

static carom_status numbers(const robot *r, const xml_element *e, const char *attribute, int n, double *x) {
    return carom_import_numbers(&r->i, e, attribute, n, x);
}

static carom_status origin_of(const robot *r, const xml_element *e, frame *f) {
    double rpy[3] = {0}, xyz[3] = {0};
    const xml_element *o = carom_xml_child(e, "origin");
    if (o) CAROM_TRY(numbers(r, o, "rpy", 3, rpy));
    if (o) CAROM_TRY(numbers(r, o, "xyz", 3, xyz));
    *f = carom_from_rpy(rpy, xyz);
    return CAROM_OK;
}

// A repair is a comment in the model, and a note.
static void repaired(const robot *r, const xml_element *e, const char *what, const char *name) {
    note(r, e, "repaired: %s '%.60s'", what, name);
    put(r, "# repaired: %s ", what);
    carom_put_quoted(&r->i, name);
    put(r, "\n");
}

// -- xacro ------------------------------------------------------------------------------------------------------------

// An element or attribute that xacro would have replaced; NULL: none.
static const xml_element *find_xacro(const xml_element *e) {
    if (strncmp(e->name, "xacro:", 6) == 0) return e;
    for (const xml_attribute *a = e->attributes; a; a = a->next)
        if (strstr(a->value, "${") || strstr(a->value, "$(")) return e;
    for (const xml_element *c = e->child; c; c = c->next) {
        const xml_element *found = find_xacro(c);
        if (found) return found;
    }
    return NULL;
}

// -- reading ----------------------------------------------------------------------------------------------------------

static carom_status read_inertial(const robot *r, link *l) {
    static const char *const name[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const xml_element *e = carom_xml_child(l->e, "inertial"), *m = carom_xml_child(e, "mass"),
                      *i = carom_xml_child(e, "inertia");
    double x[6] = {0};
    mass own = {0};
    frame f;
    if (!e) return CAROM_OK;
    if (!m || !carom_xml_get(m, "value"))
        return fail(r, e, "link '%.60s' has an <inertial> without <mass value=\"...\"/>", l->own);
    CAROM_TRY(numbers(r, m, "value", 1, &own.m));
    if (own.m < 0) return fail(r, m, "the mass of link '%.60s' must be positive, got %g", l->own, own.m);
    if (i) // else it is checked with all that is fixed to it
        for (int k = 0; k < 6; ++k) CAROM_TRY(numbers(r, i, name[k], 1, &x[k]));
    CAROM_TRY(origin_of(r, e, &f));
    memcpy(own.J, (const double[]){x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2]}, sizeof own.J);
    carom_mass_add(&l->own_mass, &own, &f);
    return CAROM_OK;
}

static carom_status add_link(robot *r, int n, const xml_element *e, const char *own) {
    r->links[n] = (link){.e = e,
                         .own = own,
                         .name = carom_import_name(&r->i, own),
                         .joint = -1,
                         .child = -1,
                         .next = -1,
                         .part = -1,
                         .last = -1,
                         .more = -1};
    return r->links[n].name && carom_table_put(&r->i.memory, &r->link_of, own, n) ? CAROM_OK : no_memory(r);
}

static carom_status read_links(robot *r, const xml_element *root) {
    for (const xml_element *e = carom_xml_child(root, "link"); e; e = carom_xml_again(e)) ++r->nlinks;
    if (r->nlinks == 0) return fail(r, root, "the robot has no <link>");
    r->links = carom_pool_take(&r->i.memory, ((size_t)r->nlinks + 1) * sizeof *r->links); // perhaps `world`
    r->order = carom_pool_take(&r->i.memory, ((size_t)r->nlinks + 1) * sizeof *r->order);
    if (!r->links || !r->order) return no_memory(r);
    int n = 0;
    for (const xml_element *e = carom_xml_child(root, "link"); e; e = carom_xml_again(e), ++n) {
        link *l = &r->links[n];
        const char *own = carom_xml_get(e, "name");
        if (!own || !*own) return fail(r, e, "a link has no name");
        if (carom_table_get(&r->link_of, own) >= 0) return fail(r, e, "there are two links '%.60s'", own);
        CAROM_TRY(add_link(r, n, e, own));
        CAROM_TRY(read_inertial(r, l));
        r->total += l->own_mass.m;
    }
    return CAROM_OK;
}

static carom_status read_limits(const robot *r, joint *j) {
    const xml_element *e = carom_xml_child(j->e, "limit");
    if (e) CAROM_TRY(numbers(r, e, "effort", 1, &j->effort));
    if (j->type != REVOLUTE && j->type != PRISMATIC) return CAROM_OK;
    if (!e && !r->i.def->repair)
        return fail(r, j->e,
                    "joint '%.60s' has no <limit lower=... upper=.../>; a joint without limits is continuous, and "
                    "`repair` makes it one",
                    j->own);
    if (!e) return repaired(r, j->e, "no limits, of joint", j->own), CAROM_OK;
    j->limited = true; // lower and upper are 0 where they are left out, by the standard
    CAROM_TRY(numbers(r, e, "lower", 1, &j->lower));
    CAROM_TRY(numbers(r, e, "upper", 1, &j->upper));
    if (j->lower > j->upper)
        return fail(r, e, "the limits of joint '%.60s' are %g and %g; lower must not exceed upper", j->own, j->lower,
                    j->upper);
    if (!carom_xml_get(e, "lower") && !carom_xml_get(e, "upper"))
        note(r, e,
             "joint '%.60s' cannot move: its <limit> has neither lower nor upper, and both are 0 then; a joint without "
             "limits is continuous",
             j->own);
    j->q = fmin(fmax(0, j->lower), j->upper);
    return CAROM_OK;
}

// Of joints that have one.
static carom_status read_axis(const robot *r, joint *j) {
    const xml_element *axis = carom_xml_child(j->e, "axis");
    if (j->type == FIXED || j->type == FLOATING) return CAROM_OK;
    if (axis) CAROM_TRY(numbers(r, axis, "xyz", 3, j->axis));
    const double size = sqrt(j->axis[0] * j->axis[0] + j->axis[1] * j->axis[1] + j->axis[2] * j->axis[2]);
    if (!(size > 0 && size < INFINITY))
        return fail(r, axis, "the axis of joint '%.60s' has no length, or none that can be computed", j->own);
    for (int i = 0; i < 3; ++i) j->axis[i] /= size;
    return CAROM_OK;
}

static carom_status read_joint(robot *r, joint *j) {
    const xml_element *const e = j->e, *dynamics = carom_xml_child(e, "dynamics");
    const char *word = carom_xml_get(e, "type"), *parent = carom_xml_get(carom_xml_child(e, "parent"), "link"),
               *child = carom_xml_get(carom_xml_child(e, "child"), "link");
    int k = 0;
    while (word && k < TYPES && strcmp(types[k], word) != 0) ++k;
    if (!word || k == TYPES)
        return fail(
            r, e,
            "joint '%.60s' has the type '%.40s'; types are fixed, revolute, continuous, prismatic, floating, planar",
            j->own, word ? word : "");
    j->type = (type)k;
    j->parent = carom_table_get(&r->link_of, parent);
    if (j->parent < 0 && parent && strcmp(parent, "world") == 0) // as Gazebo has it: the ground
        CAROM_TRY(add_link(r, j->parent = r->nlinks++, e, parent));
    j->child = carom_table_get(&r->link_of, child);
    if (j->parent < 0)
        return fail(r, e,
                    parent ? "joint '%.60s' names the parent link '%.60s', which does not exist"
                           : "joint '%.60s' has no <parent link=\"...\"/>%.0s",
                    j->own, parent ? parent : "");
    if (j->child < 0)
        return fail(r, e,
                    child ? "joint '%.60s' names the child link '%.60s', which does not exist"
                          : "joint '%.60s' has no <child link=\"...\"/>%.0s",
                    j->own, child ? child : "");
    link *l = &r->links[j->child];
    if (l->joint >= 0)
        return fail(r, e, "link '%.60s' is the child of joints '%.60s' and '%.60s'; a URDF is a tree", l->own,
                    r->joints[l->joint].own, j->own);
    l->joint = (int)(j - r->joints);
    CAROM_TRY(read_axis(r, j));
    CAROM_TRY(origin_of(r, e, &j->origin));
    if (dynamics) CAROM_TRY(numbers(r, dynamics, "damping", 1, &j->damping));
    if (dynamics) CAROM_TRY(numbers(r, dynamics, "friction", 1, &j->friction));
    if (j->damping < 0 || j->friction < 0)
        return fail(r, dynamics, "damping and friction of joint '%.60s' must not be negative", j->own);
    return read_limits(r, j);
}

static carom_status read_mimic(const robot *r, joint *j) {
    const xml_element *e = carom_xml_child(j->e, "mimic");
    if (!e) return CAROM_OK;
    j->mimics = carom_table_get(&r->joint_of, carom_xml_get(e, "joint"));
    if (j->mimics < 0)
        return fail(r, e, "joint '%.60s' mimics '%.60s', which does not exist", j->own,
                    carom_xml_get(e, "joint") ? carom_xml_get(e, "joint") : "");
    const joint *of = &r->joints[j->mimics];
    const bool moves = j->type >= REVOLUTE && j->type <= PRISMATIC && of->type >= REVOLUTE && of->type <= PRISMATIC;
    if (!moves || of == j || carom_xml_child(of->e, "mimic"))
        return fail(
            r, e,
            "joint '%.60s' cannot mimic '%.60s'; both must turn or slide, and the second must not mimic another one",
            j->own, of->own);
    CAROM_TRY(numbers(r, e, "multiplier", 1, &j->multiplier));
    CAROM_TRY(numbers(r, e, "offset", 1, &j->offset));
    if (j->multiplier == 0)
        return fail(r, e, "the multiplier of the mimic of joint '%.60s' is 0; make the joint fixed", j->own);
    j->q = j->multiplier * of->q + j->offset;
    return CAROM_OK;
}

static carom_status read_joints(robot *r, const xml_element *root) {
    for (const xml_element *e = carom_xml_child(root, "joint"); e; e = carom_xml_again(e)) ++r->njoints;
    r->joints = carom_pool_take(&r->i.memory, ((size_t)r->njoints + 1) * sizeof *r->joints);
    if (!r->joints) return no_memory(r);
    int n = 0;
    for (const xml_element *e = carom_xml_child(root, "joint"); e; e = carom_xml_again(e), ++n) {
        const char *own = carom_xml_get(e, "name");
        if (!own || !*own) return fail(r, e, "a joint has no name");
        if (carom_table_get(&r->joint_of, own) >= 0) return fail(r, e, "there are two joints '%.60s'", own);
        r->joints[n] = (joint){.e = e,
                               .own = own,
                               .mimics = -1,
                               .axis = {1, 0, 0},
                               .multiplier = 1,
                               .name = carom_import_name(&r->i, own)};
        if (!r->joints[n].name || !carom_table_put(&r->i.memory, &r->joint_of, own, n)) return no_memory(r);
        CAROM_TRY(read_joint(r, &r->joints[n]));
    }
    for (int i = r->njoints - 1; i >= 0; --i) { // children in the order of the file
        r->joints[i].next = r->links[r->joints[i].parent].child;
        r->links[r->joints[i].parent].child = i;
    }
    for (int i = 0; i < r->njoints; ++i) CAROM_TRY(read_mimic(r, &r->joints[i]));
    return CAROM_OK;
}

// -- the tree ---------------------------------------------------------------------------------------------------------

static void place_link(robot *r, link *l) {
    const joint *j = &r->joints[l->joint];
    const link *p = &r->links[j->parent];
    const bool turns = j->type == REVOLUTE || j->type == CONTINUOUS;
    frame motion = carom_about(j->axis, turns ? j->q : 0), at = carom_compose(&p->at, &j->origin);
    for (int i = 0; i < 3 && j->type == PRISMATIC; ++i) motion.r[i] = j->axis[i] * j->q;
    if (j->type == FIXED || j->type == FLOATING) motion = carom_frame_none();
    l->at = carom_compose(&at, &motion);
    l->carrier = j->type == FIXED ? p->carrier : (int)(l - r->links);
}

// Links of one body, and their mass.
static void join(robot *r, int k) {
    link *l = &r->links[k];
    l->placed = true;
    if (l->carrier < 0) return;
    link *c = &r->links[l->carrier];
    if (c->part < 0)
        c->part = k;
    else
        r->links[c->last].more = k;
    c->last = k;
    const frame back = carom_inverse(&c->at), f = carom_compose(&back, &l->at);
    carom_mass_add(&c->mass, &l->own_mass, &f);
}

// A body moves: it needs mass and inertia.
static carom_status check_body(robot *r, link *l, bool root) {
    const xml_element *inertial = carom_xml_child(l->e, "inertial");
    const bool repair = r->i.def->repair;
    char with[100] = "";
    if (!root) snprintf(with, sizeof with, " moves with joint '%.60s' and", r->joints[l->joint].own);
    if (l->mass.m == 0 && !repair)
        return fail(r, l->e, "link '%.60s'%s has no mass; give it an <inertial>, or use `repair`", l->own, with);
    if (l->mass.m == 0) {
        l->mass.m = SLIGHT_MASS * (r->total > 0 ? r->total : 1);
        repaired(r, l->e, "no mass, 1/1000 of the robot's now, of link", l->own);
    }
    if (carom_positive(l->mass.J)) return CAROM_OK;
    if (!repair && inertial && !carom_xml_child(inertial, "inertia") && l->part == l->last)
        return fail(r, inertial,
                    "link '%.60s' has a mass and no <inertia ixx=... iyy=... izz=.../>; add it, or use `repair`",
                    l->own);
    if (!repair)
        return fail(r, inertial ? inertial : l->e,
                    "the inertia of link '%.60s'%s is not positive definite; correct it, or use `repair`", l->own,
                    l->part == l->last ? "" : " with those fixed to it");
    carom_mass_repair(&l->mass);
    repaired(r, l->e, "inertia not positive definite, moments below those of a ball of 1 cm raised to these, of link",
             l->own);
    return CAROM_OK;
}

static carom_status place_all(robot *r) {
    const carom_robot_def *def = r->i.def;
    int root = -1, n = 0;
    for (int i = 0; i < r->nlinks; ++i) {
        if (r->links[i].joint >= 0) continue;
        if (root >= 0)
            return fail(r, r->links[i].e, "links '%.60s' and '%.60s' both have no parent; a URDF has one root",
                        r->links[root].own, r->links[i].own);
        root = i;
    }
    if (root < 0) return fail(r, r->links->e, "every link has a parent: the joints form a circle; a URDF is a tree");
    link *l = &r->links[root];
    l->at = carom_frame_none();
    memcpy(l->at.r, def->at, sizeof l->at.r);
    bool moving = false;
    for (int i = 0; i < r->njoints; ++i) moving = moving || r->joints[i].type != FIXED;
    r->fixed = def->fixed ||
               (!moving && !def->free && l->own_mass.m == 0 && r->total > 0); // nothing moves: one body, and a weld
    l->carrier = l->own_mass.m > 0 || def->free || r->fixed ? root : -1;
    if (def->fixed && l->own_mass.m == 0) r->fixed = false, l->carrier = -1; // the ground anyway
    r->order[n++] = root;
    for (int i = 0; i < n; ++i) { // the list grows by the children
        l = &r->links[r->order[i]];
        if (i > 0) place_link(r, l);
        join(r, r->order[i]);
        for (int k = l->child; k >= 0; k = r->joints[k].next) r->order[n++] = r->joints[k].child;
    }
    for (int i = 0; i < r->nlinks; ++i)
        if (!r->links[i].placed)
            return fail(r, r->links[i].e, "link '%.60s' is not connected to the root: its joints form a circle",
                        r->links[i].own);
    for (int i = 0; i < r->nlinks; ++i)
        if (r->links[i].carrier == i) CAROM_TRY(check_body(r, &r->links[i], i == root));
    l = &r->links[root];
    if (l->carrier == root && !r->fixed && !def->free)
        note(r, l->e, "the root link '%.60s' has a mass and moves freely; `fixed` welds it to the ground", l->own);
    return CAROM_OK;
}

// -- writing ----------------------------------------------------------------------------------------------------------

// Where a geometry lies in its body.
static frame in_body(const robot *r, const link *of, const frame *own) {
    frame f = carom_compose(&of->at, own);
    if (of->carrier < 0) return f;
    const link *b = &r->links[of->carrier];
    const frame back = carom_inverse(&b->at);
    f = carom_compose(&back, &f);
    for (int i = 0; i < 3; ++i) f.r[i] -= b->mass.centre[i];
    return f;
}

/// A geometry, and how it is written.
typedef struct geometry {
    const char *word;
    int n;
    double x[3], scale[3];
    char path[1024];
    const xml_element *e;
} geometry;

// False: it is left out, with a note, or wrong (err).
static bool read_geometry(const robot *r, const xml_element *e, const link *of, geometry *g) {
    static const struct {
        const char *name, *word;
    } known[] = {
        {"box", "box"}, {"sphere", "sphere"}, {"cylinder", "cylinder"}, {"capsule", "capsule"}, {"mesh", "hull"}};
    const xml_element *parent = carom_xml_child(e, "geometry");
    int k = 0;
    while (k < 5 && !carom_xml_child(parent, known[k].name)) ++k;
    if (k == 5)
        return note(r, e,
                    "a %.20s of link '%.60s' is left out: its geometry is not known; known are box, sphere, cylinder, "
                    "capsule and mesh",
                    e->name, of->own),
               false;
    *g = (geometry){.word = known[k].word,
                    .n = k == 0   ? 3
                         : k == 1 ? 1
                                  : 2,
                    .scale = {1, 1, 1},
                    .e = carom_xml_child(parent, known[k].name)};
    if (k == 4) {
        const char *path = carom_xml_get(g->e, "filename");
        if (!path) return fail(r, g->e, "<mesh> has no filename"), false;
        return numbers(r, g->e, "scale", 3, g->scale) == CAROM_OK &&
               carom_import_mesh(&r->i, g->e, path, g->path, sizeof g->path);
    }
    if ((k == 0 ? numbers(r, g->e, "size", 3, g->x) : numbers(r, g->e, "radius", 1, &g->x[0])) != CAROM_OK ||
        (k > 1 && numbers(r, g->e, "length", 1, &g->x[1]) != CAROM_OK))
        return false;
    for (int i = 0; i < g->n; ++i)
        if (!(g->x[i] > 0))
            return note(r, g->e, "a <%.20s> of link '%.60s' is left out: its sizes must be positive", g->e->name,
                        of->own),
                   false;
    return true;
}

static carom_status put_shape(const robot *r, const xml_element *e, const link *of, const char *name, bool *first,
                              bool *written) {
    geometry g;
    frame f;
    *written = false;
    CAROM_TRY(origin_of(r, e, &f));
    if (!read_geometry(r, e, of, &g)) return r->i.err->code;
    f = in_body(r, of, &f);
    put(r, "%s%s: {%s: ", *first ? "" : ", ", name, g.word);
    *first = false, *written = true;
    if (g.path[0])
        carom_put_quoted(&r->i, g.path);
    else if (g.n == 1)
        carom_put_number(&r->i, g.x[0]);
    else
        carom_put_list(&r->i, "", g.x, g.n);
    if (g.scale[0] != 1 || g.scale[1] != 1 || g.scale[2] != 1) carom_put_list(&r->i, ", scale: ", g.scale, 3);
    carom_put_list(&r->i, ", at: ", f.r, 3);
    if (g.word[0] == 'c')
        carom_put_list(&r->i, ", axis: ", (const double[]){f.R[2], f.R[5], f.R[8]}, 3);
    else if (g.word[0] != 's')
        carom_put_turn(&r->i, f.R);
    put(r, "}");
    return CAROM_OK;
}

// Collisions of one link, or its visuals where it has none: these are drawn and touch nothing.
static carom_status put_link_shapes(robot *r, link *l, int *count, int *seen, const char *before, bool *first) {
    const bool collides = carom_xml_child(l->e, "collision");
    for (const xml_element *e = carom_xml_child(l->e, collides ? "collision" : "visual"); e; e = carom_xml_again(e)) {
        char name[80];
        bool written;
        int *number = collides ? count : seen;
        snprintf(name, sizeof name, "%s%s%s%d", *first ? before : "", l->carrier < 0 ? "ground_" : "",
                 !collides        ? "v"
                 : l->carrier < 0 ? ""
                                  : "c",
                 *number + 1);
        CAROM_TRY(put_shape(r, e, l, name, first, &written));
        *number += written;
    }
    return CAROM_OK;
}

static carom_status put_bodies(robot *r) {
    put(r, "bodies:\n");
    for (int i = 0; i < r->nlinks; ++i) {
        link *l = &r->links[i];
        bool first = true;
        int seen = 0;
        if (l->carrier != i) continue;
        carom_put_body(&r->i, l->name, &l->mass, &l->at);
        for (int k = l->part; k >= 0; k = r->links[k].more)
            CAROM_TRY(put_link_shapes(r, &r->links[k], &l->shapes, &seen, ",\n    shapes: {", &first));
        put(r, first ? "}\n" : "}}\n");
    }
    return CAROM_OK;
}

static carom_status put_ground(robot *r) {
    bool first = !r->i.def->floor;
    int seen = 0;
    if (r->i.def->floor) put(r, "shapes: {floor: {plane: [0, 0, 1]}");
    for (int i = 0; i < r->nlinks; ++i)
        if (r->links[i].carrier < 0)
            CAROM_TRY(put_link_shapes(r, &r->links[i], &r->ground_shapes, &seen, "shapes: {", &first));
    if (!first) put(r, "}\n");
    return CAROM_OK;
}

static const char *body_of(const robot *r, int link) {
    const int carrier = r->links[link].carrier;
    return carrier < 0 ? "ground" : r->links[carrier].name;
}

// Does the joint have a coordinate in the model?
static bool moves(const joint *j) {
    return j->type >= REVOLUTE && j->type <= PRISMATIC && !(j->limited && j->lower == j->upper);
}
static const char *coordinate(const joint *j) { return j->type == PRISMATIC ? "shift" : "angle"; }

static void put_joint(const robot *r, const joint *j) {
    const link *l = &r->links[j->child];
    const frame at = carom_compose(&r->links[j->parent].at, &j->origin);
    double axis[3];
    if (j->type == FIXED || j->type == FLOATING) return;
    carom_rotate_vector(at.R, j->axis, axis);
    const char *word = j->type == PLANAR      ? "planar"
                       : !moves(j)            ? "weld"
                       : j->type == PRISMATIC ? "prismatic"
                                              : "revolute";
    put(r, "  %s: {type: %s, between: [%s, %s]", j->name, word, body_of(r, j->parent), l->name);
    carom_put_list(&r->i, ", at: ", l->at.r, 3);
    if (moves(j) || j->type == PLANAR) carom_put_list(&r->i, ", axis: ", axis, 3);
    put(r, "}\n");
}

static void put_joints(const robot *r) {
    put(r, "joints:\n");
    const link *root = &r->links[r->order[0]];
    if (root->carrier >= 0 && r->fixed) {
        put(r, "  %s_base: {type: weld, between: [ground, %s]", root->name, root->name);
        carom_put_list(&r->i, ", at: ", root->at.r, 3);
        put(r, "}\n");
    }
    for (int i = 0; i < r->njoints; ++i) put_joint(r, &r->joints[i]);
    for (int i = 0; i < r->njoints; ++i) {
        const joint *j = &r->joints[i];
        if (j->mimics < 0 || !moves(j) || !moves(&r->joints[j->mimics])) continue;
        put(r, "  %s_mimic: {type: gear, joints: [%s, %s], ratio: ", j->name, r->joints[j->mimics].name, j->name);
        carom_put_number(&r->i, j->multiplier);
        put(r, "}\n");
    }
}

static void put_dampers(const robot *r) {
    bool first = true;
    for (int i = 0; i < r->njoints; ++i) {
        const joint *j = &r->joints[i];
        if (!moves(j) || j->damping == 0) continue;
        put(r, "%s  %s_damping: {joint: %s, damping: ", first ? "springs:\n" : "", j->name, j->name);
        carom_put_number(&r->i, j->damping);
        put(r, "}\n");
        first = false;
    }
}

// Limits of effort: a motor, whose torque or force is an input that is cut off there.
static bool driven(const joint *j) { return moves(j) && j->mimics < 0 && j->effort > 0; }

static void put_motors(const robot *r) {
    for (int pass = 0; pass < 2; ++pass) {
        bool first = true;
        for (int i = 0; i < r->njoints; ++i) {
            const joint *j = &r->joints[i];
            if (!driven(j)) continue;
            put(r, "%s", !first ? "" : pass ? "motors:\n" : "inputs:\n");
            first = false;
            if (pass == 0)
                put(r, "  %s_effort: 0\n", j->name);
            else {
                put(r, "  %s_motor: {joint: %s, %s: \"max(min(%s_effort, ", j->name, j->name,
                    j->type == PRISMATIC ? "force" : "torque", j->name);
                carom_put_number(&r->i, j->effort), put(r, "), -"), carom_put_number(&r->i, j->effort),
                    put(r, ")\"}\n");
            }
        }
    }
}

// Limits count from the start; friction is that of a brake.
static void put_contacts(const robot *r) {
    bool first = true;
    for (int i = 0; i < r->njoints; ++i) {
        const joint *j = &r->joints[i];
        if (!moves(j) || (!j->limited && j->friction == 0)) continue;
        if (first) put(r, "contacts:\n");
        first = false;
        for (int k = 0; k < 2 && j->limited && j->mimics < 0; ++k) {
            const double end = (k ? j->upper : j->lower) - j->q;
            put(r, "  %s_%s: {gap: ", j->name, k ? "upper" : "lower");
            if (k)
                carom_put_number(&r->i, end), put(r, " - %s.%s}\n", j->name, coordinate(j));
            else
                put(r, "%s.%s - (", j->name, coordinate(j)), carom_put_number(&r->i, end), put(r, ")}\n");
        }
        if (j->friction == 0) continue;
        put(r, "  %s_friction: {normal force: ", j->name);
        carom_put_number(&r->i, j->friction);
        put(r, ", slip: %s.%s, friction: 1}\n", j->name, coordinate(j));
    }
    bool any = false;
    for (int i = 0; i < r->nlinks && r->i.def->floor; ++i)
        for (int k = 0; k < r->links[i].shapes && r->links[i].carrier == i; ++k) {
            if (!any) put(r, "%s  on_floor: {friction: 0.8, between: [[", first ? "contacts:\n" : "");
            put(r, "%s%s.c%d", any ? ", " : "", r->links[i].name, k + 1);
            any = true;
        }
    if (any) put(r, "], floor]}\nstart: project\n"); // feet often begin below 0
}

// Limits of velocity belong to the control of motors.
static void note_drives(const robot *r, const xml_element *root) {
    char names[300] = "";
    size_t used = 0;
    for (int k = 0; k < r->njoints && used < sizeof names; ++k) {
        const xml_element *e = carom_xml_child(r->joints[k].e, "limit");
        if (carom_xml_get(e, "velocity"))
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s'%.60s'", used ? ", " : "", r->joints[k].own);
    }
    if (used) note(r, root, "limits of velocity are left out: %s%s", names, used < sizeof names ? "" : "...");
}

static carom_status put_all(robot *r, const xml_element *root) {
    int bodies = 0, visuals = 0;
    for (int i = 0; i < r->nlinks; ++i)
        bodies += r->links[i].carrier == i,
            visuals += carom_xml_child(r->links[i].e, "visual") && carom_xml_child(r->links[i].e, "collision");
    if (bodies == 0)
        return fail(r, root, "no link moves, so there is nothing to simulate; `free` makes the root of the robot move");
    carom_put_head(&r->i, carom_xml_get(root, "name"), (const double[]){0, 0, -r->i.def->gravity});
    CAROM_TRY(put_bodies(r));
    CAROM_TRY(put_ground(r));
    put_joints(r);
    put_dampers(r);
    put_motors(r);
    put_contacts(r);
    put(r, "simulation: {scheme: " CAROM_SCHEME_OF_IMPORTS ", step: 1e-3, end: 1}\n");
    note_drives(r, root);
    if (visuals)
        note(r, root, "visuals of %d link%s are left out: collisions are drawn instead", visuals,
             visuals == 1 ? "" : "s");
    return CAROM_OK;
}

static carom_status convert(robot *r) {
    const carom_robot_def *def = r->i.def;
    CAROM_TRY(carom_text_check(def->text, def->length, def->file, r->i.err));
    const xml_element *root = carom_xml_read(&r->i.memory, def->text, def->length, def->file, r->i.err);
    if (!root) return r->i.err->code;
    if (strcmp(root->name, "mujoco") == 0) return fail(r, root, "this is a model of MuJoCo; use carom import mjcf");
    if (strcmp(root->name, "robot") != 0)
        return fail(r, root, "the file begins with <%.40s>; a URDF begins with <robot>", root->name);
    const xml_element *xacro = find_xacro(root);
    if (xacro)
        return fail(r, xacro,
                    "this is a xacro file: <%.40s> is not expanded; run  xacro %.100s >robot.urdf  and import that",
                    xacro->name, def->file);
    CAROM_TRY(read_links(r, root));
    CAROM_TRY(read_joints(r, root));
    CAROM_TRY(place_all(r));
    return put_all(r, root);
}

carom_status carom_urdf_write(const carom_robot_def *def, carom_write_text *write, void *user, carom_error *err) {
    carom_error own = {.code = CAROM_OK};
    robot r = {.i = {.def = def, .err = &own, .write = write, .user = user}};
    const carom_status status = convert(&r);
    carom_pool_free(&r.i.memory);
    return status == CAROM_OK ? CAROM_OK : carom_fail(err, own.code, "%s", own.text);
}
