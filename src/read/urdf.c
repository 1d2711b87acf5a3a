// urdf.c: a robot description (URDF) becomes the text of a model file.
//
// Frames are those of the links at the start.  A body of carom has its centre of mass as origin and here the axes of its link.  A link without mass that is
// fixed to another one is part of that; one at the root is part of the ground.
#include "base/number.h"
#include "read/urdf.h"
#include "read/xml.h"
#include "read/yaml.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct frame { double R[9], r[3]; } frame; // world = R local + r, R by rows

typedef enum type { FIXED, REVOLUTE, CONTINUOUS, PRISMATIC, FLOATING, PLANAR } type;
static const char *const types[] = {"fixed", "revolute", "continuous", "prismatic", "floating", "planar"};
enum { TYPES = 6 };

typedef struct link {
    const xml_element *e;
    const char *name, *own; // for carom; as given
    int joint;              // that moves it, -1: the root
    int carrier;            // the link whose body it is part of; -1: the ground
    bool heavy, placed;
    double mass, centre[3], J[9]; // in its frame
    frame at;
} link;

typedef struct joint {
    const xml_element *e;
    const char *name, *own;
    type type;
    int parent, child, mimics; // links; joint, -1: none
    double axis[3], lower, upper, q, multiplier, offset, damping, friction;
    bool limited;
    frame origin;
} joint;

typedef struct robot {
    const carom_urdf_def *def;
    carom_error *err;
    carom_write_text *write;
    void *user;
    pool memory;
    link *links;
    joint *joints;
    int nlinks, njoints, renamed; // renamed: names that were used already
} robot;

static carom_status fail(const robot *r, const xml_element *e, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
static carom_status fail(const robot *r, const xml_element *e, const char *format, ...) {
    char text[600];
    va_list args;
    va_start(args, format);
    carom_vformat(text, sizeof text, format, args);
    va_end(args);
    return carom_fail(r->err, CAROM_BAD_INPUT, "%.300s:%d: %s", r->def->file, e->line, text);
}

static void note(const robot *r, const xml_element *e, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
static void note(const robot *r, const xml_element *e, const char *format, ...) {
    char text[600], all[900];
    va_list args;
    if (!r->def->note) return;
    va_start(args, format);
    carom_vformat(text, sizeof text, format, args);
    va_end(args);
    snprintf(all, sizeof all, "%.250s:%d: %s", r->def->file, e->line, text);
    r->def->note(r->def->user, all);
}

// -- numbers and frames --------------------------------------------------------------------------------------------------------

// n numbers of an attribute; where it is missing they stay.
static carom_status numbers(const robot *r, const xml_element *e, const char *attribute, int n, double *x) {
    const char *p = carom_xml_get(e, attribute);
    if (!p) return CAROM_OK;
    for (int i = 0; i < n; ++i) {
        char *end = NULL;
        x[i] = carom_number(p, &end);
        if (end == p || !isfinite(x[i])) return fail(r, e, "%s=\"%.60s\" of <%.40s> must be %d number%s", attribute, carom_xml_get(e, attribute), e->name, n, n == 1 ? "" : "s");
        p = end;
    }
    p += strspn(p, " \t\r\n");
    return *p ? fail(r, e, "%s=\"%.60s\" of <%.40s> has more than %d number%s", attribute, carom_xml_get(e, attribute), e->name, n, n == 1 ? "" : "s") : CAROM_OK;
}

static void times(const double *A, const double *B, double *C) {
    double X[9];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) X[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    memcpy(C, X, sizeof X);
}

static void turn(const double *R, const double *x, double *y) {
    const double a[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < 3; ++i) y[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

static void turn_back(const double *R, const double *x, double *y) {
    const double a[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < 3; ++i) y[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

static frame compose(const frame *a, const frame *b) {
    frame c;
    times(a->R, b->R, c.R);
    turn(a->R, b->r, c.r);
    for (int i = 0; i < 3; ++i) c.r[i] += a->r[i];
    return c;
}

// Roll, pitch and yaw about fixed axes.
static frame from_rpy(const double *rpy, const double *r) {
    const double a = cos(rpy[0]), b = sin(rpy[0]), c = cos(rpy[1]), d = sin(rpy[1]), e = cos(rpy[2]), f = sin(rpy[2]);
    return (frame){{e * c, e * d * b - f * a, e * d * a + f * b, f * c, f * d * b + e * a, f * d * a - e * b, -d, c * b, c * a}, {r[0], r[1], r[2]}};
}

static carom_status origin_of(const robot *r, const xml_element *e, frame *f) {
    double rpy[3] = {0}, xyz[3] = {0};
    const xml_element *o = carom_xml_child(e, "origin");
    if (o) CAROM_TRY(numbers(r, o, "rpy", 3, rpy));
    if (o) CAROM_TRY(numbers(r, o, "xyz", 3, xyz));
    *f = from_rpy(rpy, xyz);
    return CAROM_OK;
}

static frame about(const double *n, double angle) {
    const double c = cos(angle), s = sin(angle), k = 1 - c;
    return (frame){{c + n[0] * n[0] * k, n[0] * n[1] * k - n[2] * s, n[0] * n[2] * k + n[1] * s, n[1] * n[0] * k + n[2] * s, c + n[1] * n[1] * k, n[1] * n[2] * k - n[0] * s, n[2] * n[0] * k - n[1] * s,
                    n[2] * n[1] * k + n[0] * s, c + n[2] * n[2] * k}, {0, 0, 0}};
}

// w, x, y, z
static void quaternion(const double *R, double *q) {
    const double d[4] = {R[0] + R[4] + R[8], R[0] - R[4] - R[8], R[4] - R[0] - R[8], R[8] - R[0] - R[4]};
    int k = 0;
    for (int i = 1; i < 4; ++i)
        if (d[i] > d[k]) k = i;
    const double s = 2 * sqrt(1 + d[k]), o[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]}, p[3] = {R[1] + R[3], R[2] + R[6], R[5] + R[7]};
    q[k] = s / 4;
    for (int i = 0; i < 4; ++i)
        if (i != k) q[i] = (k == 0 ? o[i - 1] : i == 0 ? o[k - 1] : p[i + k - 3]) / s;
}

// -- names -----------------------------------------------------------------------------------------------------------------------

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// A name that carom allows: other letters become _.
static const char *name_of(robot *r, const char *own, bool (*used)(const robot *, const char *)) {
    const size_t size = strlen(own) + 16;
    char *name = carom_pool_take(&r->memory, size);
    if (!name) return NULL;
    snprintf(name, size, "%s%.50s", letter(own[0]) ? "" : "_", own);
    for (char *c = name; *c; ++c)
        if (!letter(*c) && !(*c >= '0' && *c <= '9')) *c = '_';
    const size_t end = strlen(name);
    while (used(r, name) || strcmp(name, "ground") == 0 || strcmp(name, "t") == 0 || strcmp(name, "pi") == 0) snprintf(name + end, size - end, "_%d", ++r->renamed + 1);
    return name;
}

static bool link_used(const robot *r, const char *name) {
    for (int i = 0; i < r->nlinks; ++i)
        if (r->links[i].name && strcmp(r->links[i].name, name) == 0) return true;
    return false;
}

static bool joint_used(const robot *r, const char *name) {
    for (int i = 0; i < r->njoints; ++i)
        if (r->joints[i].name && strcmp(r->joints[i].name, name) == 0) return true;
    return link_used(r, name);
}

static int find_link(const robot *r, const char *own) {
    for (int i = 0; own && i < r->nlinks; ++i)
        if (strcmp(r->links[i].own, own) == 0) return i;
    return -1;
}

static int find_joint(const robot *r, const char *own) {
    for (int i = 0; own && i < r->njoints; ++i)
        if (strcmp(r->joints[i].own, own) == 0) return i;
    return -1;
}

// -- reading ---------------------------------------------------------------------------------------------------------------------

static bool positive(const double *J) {
    const double two = J[0] * J[4] - J[1] * J[3];
    return J[0] > 0 && two > 0 && J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) + J[2] * (J[3] * J[7] - J[4] * J[6]) > 0;
}

static carom_status read_inertial(const robot *r, link *l) {
    static const char *const name[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const xml_element *e = carom_xml_child(l->e, "inertial"), *m = carom_xml_child(e, "mass"), *i = carom_xml_child(e, "inertia");
    double x[6] = {0}, A[9], T[9];
    frame f;
    if (!e) return CAROM_OK;
    if (!m || !carom_xml_get(m, "value")) return fail(r, e, "link '%.60s' has an <inertial> without <mass value=\"...\"/>", l->own);
    CAROM_TRY(numbers(r, m, "value", 1, &l->mass));
    if (l->mass == 0) return CAROM_OK;
    if (l->mass < 0) return fail(r, m, "the mass of link '%.60s' must be positive, got %g", l->own, l->mass);
    if (!i) return fail(r, e, "link '%.60s' has a mass and no <inertia ixx=... iyy=... izz=.../>", l->own);
    for (int k = 0; k < 6; ++k) CAROM_TRY(numbers(r, i, name[k], 1, &x[k]));
    CAROM_TRY(origin_of(r, e, &f));
    const double J[9] = {x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2]};
    if (!positive(J)) return fail(r, i, "the inertia of link '%.60s' is not positive definite", l->own);
    times(f.R, J, A);
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) T[3 * a + b] = f.R[3 * b + a];
    times(A, T, l->J);
    memcpy(l->centre, f.r, sizeof f.r);
    l->heavy = true;
    return CAROM_OK;
}

static carom_status read_links(robot *r, const xml_element *root) {
    for (const xml_element *e = carom_xml_child(root, "link"); e; e = carom_xml_again(e)) ++r->nlinks;
    if (r->nlinks == 0) return fail(r, root, "the robot has no <link>");
    r->links = carom_pool_take(&r->memory, (size_t)r->nlinks * sizeof *r->links);
    if (!r->links) return carom_fail(r->err, CAROM_NO_MEMORY, "not enough memory for a robot");
    int n = 0;
    for (const xml_element *e = carom_xml_child(root, "link"); e; e = carom_xml_again(e)) {
        link *l = &r->links[n++];
        const char *own = carom_xml_get(e, "name");
        const int all = r->nlinks;
        if (!own || !*own) return fail(r, e, "a link has no name");
        r->nlinks = n - 1; // those that are known
        if (find_link(r, own) >= 0) return fail(r, e, "there are two links '%.60s'", own);
        *l = (link){.e = e, .own = own, .name = name_of(r, own, link_used), .joint = -1};
        r->nlinks = all;
        if (!l->name) return carom_fail(r->err, CAROM_NO_MEMORY, "not enough memory for a robot");
        CAROM_TRY(read_inertial(r, l));
    }
    return CAROM_OK;
}

static carom_status read_limits(const robot *r, joint *j) {
    const xml_element *e = carom_xml_child(j->e, "limit");
    if (j->type != REVOLUTE && j->type != PRISMATIC) return CAROM_OK;
    if (!e) return fail(r, j->e, "joint '%.60s' has no <limit lower=... upper=.../>; a joint without limits is continuous", j->own);
    j->limited = true; // lower and upper are 0 where they are left out, by the standard
    CAROM_TRY(numbers(r, e, "lower", 1, &j->lower));
    CAROM_TRY(numbers(r, e, "upper", 1, &j->upper));
    if (j->lower > j->upper) return fail(r, e, "the limits of joint '%.60s' are %g and %g; lower must not exceed upper", j->own, j->lower, j->upper);
    if (!carom_xml_get(e, "lower") && !carom_xml_get(e, "upper"))
        note(r, e, "joint '%.60s' cannot move: its <limit> has neither lower nor upper, and both are 0 then; a joint without limits is continuous", j->own);
    j->q = fmin(fmax(0, j->lower), j->upper);
    return CAROM_OK;
}

static carom_status read_joint(robot *r, joint *j) {
    const xml_element *const e = j->e, *axis = carom_xml_child(e, "axis"), *dynamics = carom_xml_child(e, "dynamics");
    const char *word = carom_xml_get(e, "type"), *parent = carom_xml_get(carom_xml_child(e, "parent"), "link"), *child = carom_xml_get(carom_xml_child(e, "child"), "link");
    int k = 0;
    while (word && k < TYPES && strcmp(types[k], word) != 0) ++k;
    if (!word || k == TYPES) return fail(r, e, "joint '%.60s' has the type '%.40s'; types are fixed, revolute, continuous, prismatic, floating, planar", j->own, word ? word : "");
    j->type = (type)k;
    j->parent = find_link(r, parent);
    j->child = find_link(r, child);
    if (j->parent < 0) return fail(r, e, parent ? "joint '%.60s' names the parent link '%.60s', which does not exist" : "joint '%.60s' has no <parent link=\"...\"/>%.0s", j->own, parent ? parent : "");
    if (j->child < 0) return fail(r, e, child ? "joint '%.60s' names the child link '%.60s', which does not exist" : "joint '%.60s' has no <child link=\"...\"/>%.0s", j->own, child ? child : "");
    link *l = &r->links[j->child];
    if (l->joint >= 0) return fail(r, e, "link '%.60s' is the child of joints '%.60s' and '%.60s'; a URDF is a tree", l->own, r->joints[l->joint].own, j->own);
    l->joint = (int)(j - r->joints);
    if (axis) CAROM_TRY(numbers(r, axis, "xyz", 3, j->axis));
    const double size = sqrt(j->axis[0] * j->axis[0] + j->axis[1] * j->axis[1] + j->axis[2] * j->axis[2]);
    if (!(size > 0 && size < INFINITY)) return fail(r, axis, "the axis of joint '%.60s' has no length, or none that can be computed", j->own);
    for (int i = 0; i < 3; ++i) j->axis[i] /= size;
    CAROM_TRY(origin_of(r, e, &j->origin));
    if (dynamics) CAROM_TRY(numbers(r, dynamics, "damping", 1, &j->damping));
    if (dynamics) CAROM_TRY(numbers(r, dynamics, "friction", 1, &j->friction));
    if (j->damping < 0 || j->friction < 0) return fail(r, dynamics, "damping and friction of joint '%.60s' must not be negative", j->own);
    return read_limits(r, j);
}

static carom_status read_mimic(const robot *r, joint *j) {
    const xml_element *e = carom_xml_child(j->e, "mimic");
    if (!e) return CAROM_OK;
    j->mimics = find_joint(r, carom_xml_get(e, "joint"));
    if (j->mimics < 0) return fail(r, e, "joint '%.60s' mimics '%.60s', which does not exist", j->own, carom_xml_get(e, "joint") ? carom_xml_get(e, "joint") : "");
    const joint *of = &r->joints[j->mimics];
    const bool moves = j->type >= REVOLUTE && j->type <= PRISMATIC && of->type >= REVOLUTE && of->type <= PRISMATIC;
    if (!moves || of == j || carom_xml_child(of->e, "mimic")) return fail(r, e, "joint '%.60s' cannot mimic '%.60s'; both must turn or slide, and the second must not mimic another one", j->own, of->own);
    CAROM_TRY(numbers(r, e, "multiplier", 1, &j->multiplier));
    CAROM_TRY(numbers(r, e, "offset", 1, &j->offset));
    if (j->multiplier == 0) return fail(r, e, "the multiplier of the mimic of joint '%.60s' is 0; make the joint fixed", j->own);
    j->q = j->multiplier * of->q + j->offset;
    return CAROM_OK;
}

static carom_status read_joints(robot *r, const xml_element *root) {
    for (const xml_element *e = carom_xml_child(root, "joint"); e; e = carom_xml_again(e)) ++r->njoints;
    r->joints = carom_pool_take(&r->memory, ((size_t)r->njoints + 1) * sizeof *r->joints);
    if (!r->joints) return carom_fail(r->err, CAROM_NO_MEMORY, "not enough memory for a robot");
    const int all = r->njoints;
    int n = 0;
    for (const xml_element *e = carom_xml_child(root, "joint"); e; e = carom_xml_again(e)) {
        const char *own = carom_xml_get(e, "name");
        if (!own || !*own) return fail(r, e, "a joint has no name");
        r->njoints = n;
        if (find_joint(r, own) >= 0) return fail(r, e, "there are two joints '%.60s'", own);
        r->joints[n] = (joint){.e = e, .own = own, .mimics = -1, .axis = {1, 0, 0}, .multiplier = 1, .name = name_of(r, own, joint_used)};
        r->njoints = all;
        if (!r->joints[n].name) return carom_fail(r->err, CAROM_NO_MEMORY, "not enough memory for a robot");
        CAROM_TRY(read_joint(r, &r->joints[n++]));
    }
    for (int i = 0; i < r->njoints; ++i) CAROM_TRY(read_mimic(r, &r->joints[i]));
    return CAROM_OK;
}

// -- the tree ----------------------------------------------------------------------------------------------------------------------

static carom_status place_link(robot *r, link *l) {
    const joint *j = &r->joints[l->joint];
    const link *p = &r->links[j->parent];
    const bool turns = j->type == REVOLUTE || j->type == CONTINUOUS;
    frame motion = about(j->axis, turns ? j->q : 0), at = compose(&p->at, &j->origin);
    for (int i = 0; i < 3 && j->type == PRISMATIC; ++i) motion.r[i] = j->axis[i] * j->q;
    l->at = compose(&at, &motion);
    l->placed = true;
    l->carrier = l->heavy ? (int)(l - r->links) : p->carrier;
    if (!l->heavy && j->type != FIXED) return fail(r, l->e, "link '%.60s' moves with joint '%.60s' and has no mass; give it an <inertial>", l->own, j->own);
    return CAROM_OK;
}

static carom_status place_all(robot *r) {
    int root = -1, placed = 1;
    for (int i = 0; i < r->nlinks; ++i) {
        if (r->links[i].joint >= 0) continue;
        if (root >= 0) return fail(r, r->links[i].e, "links '%.60s' and '%.60s' both have no parent; a URDF has one root", r->links[root].own, r->links[i].own);
        root = i;
    }
    if (root < 0) return fail(r, r->links->e, "every link has a parent: the joints form a circle; a URDF is a tree");
    link *l = &r->links[root];
    const double none[3] = {0};
    l->at = from_rpy(none, none);
    l->placed = true;
    l->carrier = l->heavy ? root : -1;
    if (l->heavy && !r->def->fixed) note(r, l->e, "the root link '%.60s' has a mass and moves freely; --fixed welds it to the ground", l->own);
    for (int before = 0; placed > before;) {
        before = placed;
        for (int i = 0; i < r->nlinks; ++i) {
            if (r->links[i].placed || !r->links[r->joints[r->links[i].joint].parent].placed) continue;
            CAROM_TRY(place_link(r, &r->links[i]));
            ++placed;
        }
    }
    for (int i = 0; i < r->nlinks; ++i)
        if (!r->links[i].placed) return fail(r, r->links[i].e, "link '%.60s' is not connected to the root: its joints form a circle", r->links[i].own);
    return CAROM_OK;
}

// -- writing -----------------------------------------------------------------------------------------------------------------------

static void put(const robot *r, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
static void put(const robot *r, const char *format, ...) {
    char text[1200];
    va_list args;
    va_start(args, format);
    carom_vformat(text, sizeof text, format, args);
    va_end(args);
    r->write(r->user, text, strlen(text));
}

static void put_quoted(const robot *r, const char *text) {
    put(r, "\"");
    for (const char *c = text; *c; ++c) put(r, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c == '\r' || *c == '\n' || *c == '\t' ? ' ' : *c); // as XML reads it
    put(r, "\"");
}

// The shortest text of a number; what is only rounding of a turned frame is 0.
static void put_number(const robot *r, double x) {
    char text[40];
    if (fabs(x) < 1e-15) x = 0;
    carom_shortest(text, sizeof text, 12, x);
    put(r, "%s", text);
}

static void put_list(const robot *r, const char *before, const double *x, int n) {
    put(r, "%s[", before);
    for (int i = 0; i < n; ++i) {
        if (i) put(r, ", ");
        put_number(r, x[i]);
    }
    put(r, "]");
}

// angle and axis of a rotation, where it is one.
static void put_turn(const robot *r, const double *R) {
    double q[4];
    quaternion(R, q);
    const double s = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (s < 1e-14) return;
    put(r, ", angle: ");
    put_number(r, 2 * atan2(s, q[0]));
    put_list(r, ", axis: ", (const double[]){q[1] / s, q[2] / s, q[3] / s}, 3);
}

// The path of a mesh as the model names it; NULL: it cannot be used.
static const char *mesh_path(const robot *r, const xml_element *e) {
    const char *path = carom_xml_get(e, "filename"), *dot = path ? strrchr(path, '.') : NULL;
    double scale[3] = {1, 1, 1};
    if (numbers(r, e, "scale", 3, scale) != CAROM_OK) return NULL;
    if (!path) return fail(r, e, "<mesh> has no filename"), NULL;
    if (strncmp(path, "package://", 10) == 0) path = strchr(path + 10, '/') ? strchr(path + 10, '/') + 1 : path + 10;
    const char *what = scale[0] != 1 || scale[1] != 1 || scale[2] != 1 ? "it is scaled; scale the file itself"
                       : !dot || (strcmp(dot, ".stl") != 0 && strcmp(dot, ".STL") != 0 && strcmp(dot, ".obj") != 0 && strcmp(dot, ".OBJ") != 0) ? "carom reads STL and OBJ files"
                       : path[0] == '/' || strstr(path, "..") || strstr(path, "://") ? "a model reads files in its own folder and below; copy it there" : NULL;
    if (what) note(r, e, "the mesh '%.100s' is left out: %s", path, what);
    return what ? NULL : path;
}

// One collision element as a shape in the frame of its body; false: none was written.
static carom_status put_shape(const robot *r, const xml_element *e, const link *of, const char *name, bool *first) {
    const xml_element *g = carom_xml_child(e, "geometry"), *box = carom_xml_child(g, "box"), *sphere = carom_xml_child(g, "sphere"), *round = carom_xml_child(g, "cylinder"), *capsule = carom_xml_child(g, "capsule"),
                      *mesh = carom_xml_child(g, "mesh");
    frame f;
    double x[3] = {0}, at[3];
    CAROM_TRY(origin_of(r, e, &f));
    f = compose(&of->at, &f);
    if (of->carrier >= 0) { // into the frame of the body
        const link *b = &r->links[of->carrier];
        double centre[3], T[9];
        turn(b->at.R, b->centre, centre);
        for (int i = 0; i < 3; ++i) f.r[i] -= b->at.r[i] + centre[i];
        turn_back(b->at.R, f.r, f.r);
        for (int i = 0; i < 9; ++i) T[i] = b->at.R[3 * (i % 3) + i / 3];
        times(T, f.R, f.R);
    }
    memcpy(at, f.r, sizeof at);
    const double z[3] = {f.R[2], f.R[5], f.R[8]};
    const char *path = mesh ? mesh_path(r, mesh) : NULL;
    if (r->err->code != CAROM_OK) return r->err->code;
    if (!box && !sphere && !round && !capsule && !mesh) return fail(r, e, "link '%.60s' has a collision without a known geometry: box, sphere, cylinder, capsule or mesh", of->own);
    if (mesh && !path) return CAROM_OK;
    put(r, "%s%s: {", *first ? "" : ", ", name);
    *first = false;
    if (box) {
        CAROM_TRY(numbers(r, box, "size", 3, x));
        if (!(x[0] > 0 && x[1] > 0 && x[2] > 0)) return fail(r, box, "the size of a box of link '%.60s' must be three positive numbers", of->own);
        put_list(r, "box: ", x, 3);
    } else if (sphere || round || capsule) {
        const xml_element *s = sphere ? sphere : round ? round : capsule;
        CAROM_TRY(numbers(r, s, "radius", 1, &x[0]));
        CAROM_TRY(numbers(r, s, "length", 1, &x[1]));
        if (!(x[0] > 0) || (!sphere && !(x[1] > 0))) return fail(r, s, "radius and length of a <%.20s> of link '%.60s' must be positive", s->name, of->own);
        if (sphere) put(r, "sphere: "), put_number(r, x[0]);
        else put_list(r, round ? "cylinder: " : "capsule: ", x, 2);
    } else put(r, "hull: "), put_quoted(r, path);
    put_list(r, ", at: ", at, 3);
    if (round || capsule) put_list(r, ", axis: ", z, 3);
    else if (!sphere) put_turn(r, f.R);
    put(r, "}");
    return CAROM_OK;
}

// All shapes that belong to body `carrier`, or to the ground.
static carom_status put_shapes(const robot *r, int carrier, const char *before, const char *after) {
    bool first = true, some = false;
    int k = 0;
    for (int i = 0; i < r->nlinks; ++i)
        for (const xml_element *e = carom_xml_child(r->links[i].e, "collision"); e && r->links[i].carrier == carrier; e = carom_xml_again(e)) some = true;
    if (!some) return CAROM_OK;
    put(r, "%s", before);
    for (int i = 0; i < r->nlinks; ++i)
        for (const xml_element *e = carom_xml_child(r->links[i].e, "collision"); e && r->links[i].carrier == carrier; e = carom_xml_again(e)) {
            char name[80];
            snprintf(name, sizeof name, "%s%d", carrier < 0 ? "ground_" : "c", ++k);
            CAROM_TRY(put_shape(r, e, &r->links[i], name, &first));
        }
    put(r, "%s", after);
    return CAROM_OK;
}

static carom_status put_bodies(const robot *r) {
    put(r, "bodies:\n");
    for (int i = 0; i < r->nlinks; ++i) {
        const link *l = &r->links[i];
        double q[4], at[3];
        if (!l->heavy) continue;
        turn(l->at.R, l->centre, at);
        for (int k = 0; k < 3; ++k) at[k] += l->at.r[k];
        quaternion(l->at.R, q);
        put(r, "  %s: {mass: ", l->name);
        put_number(r, l->mass);
        put_list(r, ", inertia: ", (const double[]){l->J[0], l->J[4], l->J[8], l->J[1], l->J[2], l->J[5]}, 6);
        put_list(r, ", at: ", at, 3);
        put_list(r, ", quaternion: ", q, 4);
        CAROM_TRY(put_shapes(r, i, ",\n    shapes: {", "}"));
        put(r, "}\n");
    }
    return CAROM_OK;
}

static const char *body_of(const robot *r, int link) {
    const int carrier = r->links[link].carrier;
    return carrier < 0 ? "ground" : r->links[carrier].name;
}

// Does the joint have a coordinate in the model?
static bool moves(const joint *j) { return j->type >= REVOLUTE && j->type <= PRISMATIC && !(j->limited && j->lower == j->upper); }
static const char *coordinate(const joint *j) { return j->type == PRISMATIC ? "shift" : "angle"; }

static void put_joint(const robot *r, const joint *j) {
    const link *l = &r->links[j->child];
    const frame at = compose(&r->links[j->parent].at, &j->origin);
    double axis[3];
    if (!l->heavy || j->type == FLOATING) return;
    turn(at.R, j->axis, axis);
    const char *word = j->type == PLANAR ? "planar" : !moves(j) ? "weld" : j->type == PRISMATIC ? "prismatic" : "revolute";
    put(r, "  %s: {type: %s, between: [%s, %s]", j->name, word, body_of(r, j->parent), l->name);
    put_list(r, ", at: ", l->at.r, 3);
    if (j->type != FIXED && (moves(j) || j->type == PLANAR)) put_list(r, ", axis: ", axis, 3);
    put(r, "}\n");
}

static void put_joints(const robot *r) {
    put(r, "joints:\n");
    for (int i = 0; i < r->nlinks; ++i)
        if (r->links[i].joint < 0 && r->links[i].heavy && r->def->fixed) {
            put(r, "  %s_base: {type: weld, between: [ground, %s]", r->links[i].name, r->links[i].name);
            put_list(r, ", at: ", r->links[i].at.r, 3);
            put(r, "}\n");
        }
    for (int i = 0; i < r->njoints; ++i) put_joint(r, &r->joints[i]);
    for (int i = 0; i < r->njoints; ++i) {
        const joint *j = &r->joints[i];
        if (j->mimics < 0 || !moves(j) || !moves(&r->joints[j->mimics])) continue;
        put(r, "  %s_mimic: {type: gear, joints: [%s, %s], ratio: ", j->name, r->joints[j->mimics].name, j->name);
        put_number(r, j->multiplier);
        put(r, "}\n");
    }
}

static void put_dampers(const robot *r) {
    bool first = true;
    for (int i = 0; i < r->njoints; ++i) {
        const joint *j = &r->joints[i];
        if (!moves(j) || j->damping == 0) continue;
        put(r, "%s  %s_damping: {joint: %s, damping: ", first ? "springs:\n" : "", j->name, j->name);
        put_number(r, j->damping);
        put(r, "}\n");
        first = false;
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
            if (k) put_number(r, end), put(r, " - %s.%s}\n", j->name, coordinate(j));
            else put(r, "%s.%s - (", j->name, coordinate(j)), put_number(r, end), put(r, ")}\n");
        }
        if (j->friction == 0) continue;
        put(r, "  %s_friction: {normal force: ", j->name);
        put_number(r, j->friction);
        put(r, ", slip: %s.%s, friction: 1}\n", j->name, coordinate(j));
    }
}

// What motors can give is no part of a model: motors are the user's to add.
static void note_drives(const robot *r, const xml_element *root) {
    char names[300] = "";
    size_t used = 0;
    for (int k = 0; k < r->njoints && used < sizeof names; ++k) {
        const xml_element *e = carom_xml_child(r->joints[k].e, "limit");
        if (carom_xml_get(e, "effort") || carom_xml_get(e, "velocity")) used += (size_t)snprintf(names + used, sizeof names - used, "%s'%.60s'", used ? ", " : "", r->joints[k].own);
    }
    if (used) note(r, root, "limits of effort and velocity are left out: %s%s", names, used < sizeof names ? "" : "...");
}

static carom_status put_all(const robot *r, const xml_element *root) {
    int heavy = 0, visuals = 0;
    for (int i = 0; i < r->nlinks; ++i) heavy += r->links[i].heavy, visuals += carom_xml_child(r->links[i].e, "visual") && !carom_xml_child(r->links[i].e, "collision");
    if (heavy == 0) return fail(r, root, "no link has a mass, so there is nothing to simulate");
    const char *name = carom_xml_get(root, "name");
    put(r, "carom: 1\nname: ");
    put_quoted(r, name ? name : "robot");
    put(r, "\n");
    put_list(r, "gravity: ", (const double[]){0, 0, -r->def->gravity}, 3);
    put(r, "\n");
    CAROM_TRY(put_bodies(r));
    CAROM_TRY(put_shapes(r, -1, "shapes: {", "}\n"));
    put_joints(r);
    put_dampers(r);
    put_contacts(r);
    put(r, "simulation: {scheme: moreau-jean, step: 1e-3, end: 1}\n");
    note_drives(r, root);
    if (visuals) note(r, root, "%d link%s a visual and no collision; only collisions become shapes", visuals, visuals == 1 ? " has" : "s have");
    return CAROM_OK;
}

static carom_status convert(robot *r) {
    CAROM_TRY(carom_text_check(r->def->text, r->def->length, r->def->file, r->err));
    const xml_element *root = carom_xml_read(&r->memory, r->def->text, r->def->length, r->def->file, r->err);
    if (!root) return r->err->code;
    if (strcmp(root->name, "robot") != 0) return fail(r, root, "the file begins with <%.40s>; a URDF begins with <robot>", root->name);
    CAROM_TRY(read_links(r, root));
    CAROM_TRY(read_joints(r, root));
    CAROM_TRY(place_all(r));
    return put_all(r, root);
}

carom_status carom_urdf_write(const carom_urdf_def *def, carom_write_text *write, void *user, carom_error *err) {
    carom_error own = {.code = CAROM_OK};
    robot r = {.def = def, .err = &own, .write = write, .user = user};
    const carom_status status = convert(&r);
    carom_pool_free(&r.memory);
    return status == CAROM_OK ? CAROM_OK : carom_fail(err, own.code, "%s", own.text);
}
