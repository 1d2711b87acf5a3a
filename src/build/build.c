// build.c: mechanisms from C calls.
//
// Every call adds a record to the mechanism; what it holds is given by the element ("joints.main"), which messages
// name.
#include "base/grow.h"
#include "build/build.h"
#include "mech/datum.h"
#include "mech/pool.h"
#include <carom/build.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct handle {
    int index, space; // of bodies and joints: where it is, 2 planar, 3 spatial
    const char *name; // of shapes: as contacts call them
} handle;

typedef struct list {
    handle *at;
    int count;
} list;

struct carom_build {
    carom_mech *mech;
    double gravity[3];
    bool heavy;
    list bodies, joints, solids;
    const char *of;    // the element that is being added
    char *text;
    carom_error error; // the first mistake
};

// -- data ------------------------------------------------------------------------------------------------------

static void wrong(carom_build *b, const char *what) {
    if (b->error.code == CAROM_OK) carom_fail(&b->error, CAROM_BAD_INPUT, "%.130s: %s", b->of, what);
}

static void *no_memory(carom_build *b) {
    if (b->error.code == CAROM_OK) carom_fail(&b->error, CAROM_NO_MEMORY, "not enough memory for the model");
    return NULL;
}

static void *take(carom_build *b, size_t bytes) {
    void *p = carom_pool_take(b->mech->memory, bytes);
    return p ? p : no_memory(b);
}

// From here on everything is given by the element section.name.
static void begin(carom_build *b, const char *section, const char *name) {
    char of[140];
    snprintf(of, sizeof of, "%.60s%s%.60s", section, name && *name ? "." : "", name ? name : "");
    const char *copy = carom_pool_text(b->mech->memory, of, strlen(of));
    b->of = copy ? copy : no_memory(b);
    if (!copy) b->of = "builder";
}

static carom_datum text(carom_build *b, const char *key, const char *x) {
    carom_datum d = {.kind = x ? CAROM_TEXT : CAROM_ABSENT, .text = "", .of = b->of};
    if (!x) return d;
    char *copy = take(b, strlen(x) + 1);
    d.text = copy ? strcpy(copy, x) : "";
    d.length = strlen(d.text);
    carom_datum *name = key ? take(b, sizeof *name) : NULL;
    if (name) *name = text(b, NULL, key);
    d.key = name;
    return d;
}

static carom_datum number(carom_build *b, const char *key, double x) {
    carom_datum d = text(b, key, "");
    if (!isfinite(x)) wrong(b, "holds a number that is not finite");
    d.kind = CAROM_NUMBER;
    d.number = x;
    return d;
}

static carom_datum list_of(carom_build *b, const char *key, int n) {
    carom_datum d = text(b, key, "");
    d.kind = CAROM_LIST;
    d.item = take(b, (size_t)(n > 0 ? n : 1) * sizeof *d.item);
    d.count = d.item && n > 0 ? n : 0;
    return d;
}

static carom_datum vector(carom_build *b, const char *key, const double *x, int n) {
    if (!x) return (carom_datum){0};
    carom_datum d = list_of(b, key, n);
    for (int i = 0; i < d.count; ++i) d.item[i] = number(b, NULL, x[i]);
    return d;
}

// Two vectors, one for each body.
static carom_datum vectors(carom_build *b, const char *key, const double *const x[2], int n) {
    if (!x[0] != !x[1]) wrong(b, "one vector for each of the two bodies is needed, one is missing");
    if (!x[0] || !x[1]) return (carom_datum){0};
    carom_datum d = list_of(b, key, 2);
    for (int i = 0; i < d.count; ++i) d.item[i] = vector(b, NULL, x[i], n);
    return d;
}

static carom_datum texts(carom_build *b, const char *key, const char *const *x, int n) {
    carom_datum d = list_of(b, key, n);
    for (int i = 0; i < d.count; ++i) d.item[i] = text(b, NULL, x[i] ? x[i] : "0");
    return d;
}

// One more datum of a map; its key is its name there.
static void put_named(carom_build *b, carom_datum *map, const char *key, carom_datum x) {
    carom_datum more = list_of(b, key, 1);
    more.kind = CAROM_MAP;
    if (more.item) *more.item = x;
    if (!carom_datum_add(b->mech, map, &more)) no_memory(b);
}

// Is there a builder, which memory may have been short for, and what it shall add?
static bool given(carom_build *b, const void *def, const char *section) {
    if (!b || def) return b != NULL;
    begin(b, section, NULL);
    wrong(b, "there is nothing to add: its definition is NULL");
    return false;
}

// -- elements ------------------------------------------------------------------------------------------------------

// A new record; its name comes first.  NULL: no memory.
static void *add(carom_build *b, const char *section, const char *name, void *list, int *count, size_t size) {
    begin(b, section, name);
    unsigned char *record = carom_mech_extend(b->mech, list, *count, 1, size);
    if (!record) return no_memory(b);
    if (!name || !*name) wrong(b, "an element without a name");
    for (int i = 0; i < *count; ++i)
        if (carom_datum_is((const carom_datum *)(const void *)(*(unsigned char **)list + (size_t)i * size),
                           name ? name : ""))
            wrong(b, "already exists");
    *(carom_datum *)(void *)record = text(b, NULL, name ? name : "");
    ++*count;
    return record;
}

static int add_handle(carom_build *b, list *l, handle h) {
    if (!CAROM_GROW(l->at, l->count)) return no_memory(b), 0;
    l->at[l->count] = h;
    return ++l->count;
}

static bool known(carom_build *b, const list *l, int id, const char *what) {
    if (id >= 1 && id <= l->count) return true;
    wrong(b, what);
    return false;
}

static const char *name_of(carom_build *b, carom_body body) {
    if (body.id == 0) return "ground";
    return known(b, &b->bodies, body.id, "a body that this builder does not have")
               ? b->mech->bodies[b->bodies.at[body.id - 1].index].name.text
               : "";
}

static const char *joint_of(carom_build *b, carom_joint joint, const char *what) {
    return known(b, &b->joints, joint.id, what) ? b->mech->joints[b->joints.at[joint.id - 1].index].name.text : "";
}

static int space_of(const carom_build *b, carom_body body) {
    return body.id >= 1 && body.id <= b->bodies.count ? b->bodies.at[body.id - 1].space : 0;
}

// The kind of two bodies, one of which may be the ground; 2 where nothing tells.
static int space_between(const carom_build *b, const carom_body *between) {
    const int first = space_of(b, between[0]), second = space_of(b, between[1]);
    if (first && second) return first < second ? first : second;
    return first ? first : second ? second : 2;
}

static carom_datum between(carom_build *b, const carom_body *both) {
    const char *const names[2] = {name_of(b, both[0]), name_of(b, both[1])};
    return texts(b, "between", names, 2);
}

static carom_mech_body *add_body(carom_build *b, const char *name) {
    return add(b, "bodies", name, &b->mech->bodies, &b->mech->nbodies, sizeof(carom_mech_body));
}

static carom_body body_handle(carom_build *b, int space) {
    return (carom_body){add_handle(b, &b->bodies, (handle){.index = b->mech->nbodies - 1, .space = space})};
}

carom_body carom_build_planar(carom_build *b, const carom_planar_def *def) {
    if (!given(b, def, "bodies")) return (carom_body){0};
    carom_mech_body *x = add_body(b, def->name);
    if (!x) return (carom_body){0};
    x->mass = number(b, "mass", def->mass);
    x->inertia = number(b, "inertia", def->inertia);
    x->at = vector(b, "at", def->at, 2);
    x->angle = number(b, "angle", def->angle);
    x->velocity = vector(b, "velocity", def->velocity, 2);
    if (def->spin) x->spin = number(b, "spin", *def->spin);
    return body_handle(b, 2);
}

carom_body carom_build_spatial(carom_build *b, const carom_spatial_def *def) {
    if (!given(b, def, "bodies")) return (carom_body){0};
    carom_mech_body *x = add_body(b, def->name);
    if (!x) return (carom_body){0};
    const double *c = def->quaternion, *J = def->inertia;
    x->mass = number(b, "mass", def->mass);
    x->inertia = vector(b, "inertia", J, J[3] != 0 || J[4] != 0 || J[5] != 0 ? 6 : 3);
    x->at = vector(b, "at", def->at, 3);
    if (c[0] != 0 || c[1] != 0 || c[2] != 0 || c[3] != 0) x->quaternion = vector(b, "quaternion", c, 4);
    x->velocity = vector(b, "velocity", def->velocity, 3);
    x->spin = vector(b, "spin", def->spin, 3);
    return body_handle(b, 3);
}

carom_body carom_build_moving(carom_build *b, const carom_moving_def *def) {
    if (!given(b, def, "bodies")) return (carom_body){0};
    carom_mech_body *x = add_body(b, def->name);
    carom_mech_motion *motion = x ? take(b, sizeof *motion) : NULL;
    if (!motion) return (carom_body){0};
    const int space = def->at[2] ? 3 : 2;
    x->motion = motion;
    motion->name = text(b, NULL, "motion");
    motion->at = texts(b, "at", def->at, space);
    motion->angle = text(b, "angle", def->angle);
    motion->axis = vector(b, "axis", def->axis, 3);
    return body_handle(b, space);
}

// The body that a point or shape belongs to; NULL: none.
static carom_mech_body *owner(carom_build *b, carom_body body, const char *what) {
    b->of = "builder";
    if (!known(b, &b->bodies, body.id, what)) return NULL;
    carom_mech_body *x = &b->mech->bodies[b->bodies.at[body.id - 1].index];
    b->of = x->name.of;
    return x;
}

void carom_build_point(carom_build *b, carom_body body, const char *name, const double *at) {
    if (!given(b, name, "points")) return;
    carom_mech_body *x = owner(b, body, "a point of a body that it does not have");
    if (x) put_named(b, &x->points, "points", vector(b, name ? name : "", at, space_of(b, body)));
}

carom_joint carom_build_joint(carom_build *b, const carom_joint_def *def) {
    if (!given(b, def, "joints")) return (carom_joint){0};
    carom_mech_joint *x = add(b, "joints", def->name, &b->mech->joints, &b->mech->njoints, sizeof *x);
    if (!x) return (carom_joint){0};
    const int space = space_between(b, def->between);
    x->type = text(b, "type", def->type ? def->type : "");
    if (def->joints[0].id || def->joints[1].id) {
        static const char what[] = "couples a joint that this builder does not have";
        const char *const names[2] = {joint_of(b, def->joints[0], what), joint_of(b, def->joints[1], what)};
        x->joints = texts(b, "joints", names, 2);
        x->ratio = number(b, "ratio", def->ratio);
    } else {
        x->between = between(b, def->between);
    }
    x->at = vector(b, "at", def->at, space);
    x->points = vectors(b, "points", def->points, space);
    if (def->second_axis) x->axis = vectors(b, "axis", (const double *const[2]){def->axis, def->second_axis}, space);
    else x->axis = vector(b, "axis", def->axis, space);
    x->axes = vectors(b, "axes", def->axes, space);
    x->motion = text(b, "motion", def->motion);
    if (def->length) x->length = number(b, "length", *def->length);
    if (def->pitch != 0) x->pitch = number(b, "pitch", def->pitch);
    return (carom_joint){add_handle(b, &b->joints, (handle){.index = b->mech->njoints - 1, .space = space})};
}

static carom_mech_spring *add_spring(carom_build *b, const char *name) {
    return add(b, "springs", name, &b->mech->springs, &b->mech->nsprings, sizeof(carom_mech_spring));
}

void carom_build_spring(carom_build *b, const carom_spring_def *def) {
    if (!given(b, def, "springs")) return;
    carom_mech_spring *x = add_spring(b, def->name);
    if (!x) return;
    if (def->joint.id) {
        x->joint = text(b, "joint", joint_of(b, def->joint, "a joint that this builder does not have"));
        x->rest = number(b, "rest", def->rest);
    } else {
        x->between = between(b, def->between);
        x->points = vectors(b, "points", def->points, space_between(b, def->between));
        if (def->length) x->length = number(b, "length", *def->length);
    }
    x->stiffness = number(b, "stiffness", def->stiffness);
    x->damping = number(b, "damping", def->damping);
}

void carom_build_bushing(carom_build *b, const carom_bushing_def *def) {
    if (!given(b, def, "bushings")) return;
    carom_mech_spring *x = add_spring(b, def->name);
    if (!x) return;
    const int space = space_between(b, def->between), spatial = space == 3;
    x->type = text(b, "type", "bushing");
    x->between = between(b, def->between);
    x->at = vector(b, "at", def->at, space);
    x->points = vectors(b, "points", def->points, space);
    x->stiffness = vector(b, "stiffness", def->stiffness, space);
    x->damping = vector(b, "damping", def->damping, space);
    x->torsion = spatial ? vector(b, "torsion", def->torsion, 3) : number(b, "torsion", def->torsion[2]);
    x->torsion_damping = spatial ? vector(b, "torsion damping", def->torsion_damping, 3)
                                 : number(b, "torsion damping", def->torsion_damping[2]);
}

void carom_build_motor(carom_build *b, const carom_motor_def *def) {
    if (!given(b, def, "motors")) return;
    carom_mech_motor *x = add(b, "motors", def->name, &b->mech->motors, &b->mech->nmotors, sizeof *x);
    if (!x) return;
    x->joint = text(b, "joint", joint_of(b, def->joint, "a joint that this builder does not have"));
    x->torque = text(b, "torque", def->torque);
    x->force = text(b, "force", def->force);
}

void carom_build_load(carom_build *b, const carom_load_def *def) {
    if (!given(b, def, "loads")) return;
    carom_mech_load *x = add(b, "loads", def->name, &b->mech->loads, &b->mech->nloads, sizeof *x);
    if (!x) return;
    const int n = space_of(b, def->on) == 3 ? 3 : 2;
    const char *const *f = def->force, *const *T = def->torque;
    x->on = text(b, "on", name_of(b, def->on));
    x->point = vector(b, "point", def->point, n);
    if (f[0] || f[1] || f[2]) x->force = texts(b, "force", f, n);
    if (n == 3 && (T[0] || T[1] || T[2])) x->torque = texts(b, "torque", T, 3);
    else x->torque = text(b, "torque", T[2]);
    if (def->turns) x->frame = text(b, "frame", "body");
}

// -- shapes ----------------------------------------------------------------------------------------------

// Numbers that a shape has; 0: as many as space has dimensions.
static int sizes_of(const char *type, int space) {
    static const struct {
        const char *type;
        int n;
    } kinds[] = {{"circle", 1}, {"sphere", 1}, {"hole", 1}, {"bore", 1}, {"capsule", 2}, {"slot", 2}, {"cylinder", 2}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(type, kinds[i].type) == 0) return kinds[i].n;
    return space;
}

static int space_of_model(const carom_build *b) {
    for (int i = 0; i < b->bodies.count; ++i)
        if (b->bodies.at[i].space == 3) return 3;
    return 2;
}

static void describe(carom_build *b, carom_mech_shape *x, const carom_solid_def *def, int space) {
    const char *type = def->type ? def->type : "";
    const int n = sizes_of(type, space);
    if (strcmp(type, "polygon") == 0) {
        x->size = list_of(b, type, def->ncorners);
        for (int i = 0; i < x->size.count; ++i) x->size.item[i] = vector(b, NULL, def->corners + 2 * (size_t)i, 2);
    } else {
        x->size = n == 1 ? number(b, type, def->size[0]) : vector(b, type, def->size, n);
    }
    x->at = vector(b, "at", def->at, space);
    x->axis = vector(b, "axis", def->axis, 3);
    if (def->angle != 0) x->angle = number(b, "angle", def->angle);
}

// The only one of a body, or one that has a name.
static carom_mech_shape *shape_of(carom_build *b, carom_mech_body *body, const char *name) {
    if (body->shape || (body->nshapes && !name)) wrong(b, "has several shapes; give each a name");
    carom_mech_shape *x =
        name ? carom_mech_extend(b->mech, &body->shapes, body->nshapes, 1, sizeof *x) : take(b, sizeof *x);
    if (!x) return no_memory(b);
    x->name = text(b, NULL, name ? name : "shape");
    if (name) ++body->nshapes;
    else body->shape = x;
    return x;
}

carom_solid carom_build_solid(carom_build *b, carom_body of, const carom_solid_def *def) {
    if (!given(b, def, "shapes")) return (carom_solid){0};
    carom_mech_body *body = of.id == 0 ? NULL : owner(b, of, "a shape of a body that it does not have");
    if (of.id && !body) return (carom_solid){0};
    carom_mech_shape *x = body ? shape_of(b, body, def->name)
                               : add(b, "shapes", def->name, &b->mech->shapes, &b->mech->nshapes, sizeof *x);
    if (!x) return (carom_solid){0};
    describe(b, x, def, body ? space_of(b, of) : space_of_model(b));
    char name[140];
    snprintf(name, sizeof name, "%.60s%s%.60s",
             body        ? body->name.text
             : def->name ? def->name
                         : "",
             body && def->name ? "." : "", body && def->name ? def->name : "");
    return (carom_solid){add_handle(b, &b->solids, (handle){.name = text(b, NULL, name).text})};
}

void carom_build_contact(carom_build *b, const carom_contact_def *def) {
    if (!given(b, def, "contacts")) return;
    carom_mech_contact *x = add(b, "contacts", def->name, &b->mech->contacts, &b->mech->ncontacts, sizeof *x);
    if (!x) return;
    const char *names[2] = {"", ""};
    for (int i = 0; i < 2; ++i)
        if (known(b, &b->solids, def->between[i].id, "a shape that this builder does not have"))
            names[i] = b->solids.at[def->between[i].id - 1].name;
    x->between = texts(b, "between", names, 2);
    x->restitution = number(b, "restitution", def->restitution);
    x->tangential_restitution = number(b, "tangential restitution", def->tangential_restitution);
    x->friction = number(b, "friction", def->friction);
}

// -- the rest ----------------------------------------------------------------------------------------------

void carom_build_gravity(carom_build *b, double x, double y, double z) {
    if (!given(b, "gravity", "gravity")) return;
    b->gravity[0] = x, b->gravity[1] = y, b->gravity[2] = z;
    b->heavy = true;
}

void carom_build_parameter(carom_build *b, const char *name, double value) {
    if (!given(b, name, "parameters")) return;
    begin(b, "parameters", name);
    if (!name || !*name) wrong(b, "an element without a name");
    else if (carom_datum_get(&b->mech->parameters, name)) wrong(b, "already exists");
    else put_named(b, &b->mech->parameters, "parameters", number(b, name, value));
}

void carom_build_entry(carom_build *b, const char *section, const char *name, const char *text) {
    if (!given(b, section, "builder")) return;
    begin(b, section ? section : "builder", name);
    if (!section || !text) wrong(b, "an entry without a section or a text");
    else if (strpbrk(text, "\n\r")) wrong(b, "a text of several lines; write it in one");
    else if (b->error.code == CAROM_OK) carom_mech_add_entry(b->mech, section, name, text, b->of, &b->error);
}

carom_build *carom_build_create(const char *name) {
    carom_build *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->mech = carom_mech_create("builder");
    b->of = "builder";
    if (b->mech) b->mech->name = text(b, "name", name ? name : "model");
    if (b->mech) return b;
    free(b);
    return NULL;
}

void carom_build_destroy(carom_build *b) {
    if (!b) return;
    carom_mech_destroy(b->mech);
    free(b->bodies.at), free(b->joints.at), free(b->solids.at);
    free(b->text);
    free(b);
}

const carom_mech *carom_build_mech(carom_build *b, carom_error *err) {
    if (!b)
        return carom_fail(err, CAROM_NO_MEMORY, "there is no builder: carom_build_create() had not enough memory"),
               NULL;
    b->of = "gravity";
    if (b->heavy) b->mech->gravity = vector(b, "gravity", b->gravity, space_of_model(b));
    if (b->error.code == CAROM_OK) return b->mech;
    if (err) *err = b->error;
    return NULL;
}

carom_model *carom_build_model(carom_build *b, carom_error *err) {
    const carom_mech *mech = carom_build_mech(b, err);
    return mech ? carom_model_of(mech, NULL, err) : NULL;
}

const char *carom_build_text(carom_build *b) {
    if (!b) return NULL;
    const carom_mech *mech = carom_build_mech(b, NULL);
    free(b->text);
    b->text = mech ? carom_mech_text(mech) : NULL;
    return b->text;
}
