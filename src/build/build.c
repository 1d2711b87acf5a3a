// build.c: mechanisms from C calls, gathered as entries of a model file.
//
// Every element becomes one line of text, so the line of a message tells the element.  Texts and names are quoted: whatever a
// caller hands over is one scalar.
#include <carom/build.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct words {
    char *text;
    size_t length, room;
} words;

typedef struct entry {
    words section, name, text; // name may be empty
    words points, shapes;      // of a body
    bool one;                  // the shape of the body has no name of its own
    int head, line;            // in the text: of its section, its own
} entry;

typedef struct handle {
    int entry, space; // of bodies and joints: 2 planar, 3 spatial
    words name;       // of shapes: as contacts call them
} handle;

typedef struct list {
    handle *at;
    int count;
} list;

struct carom_build {
    words name, text;
    double gravity[3];
    bool heavy;
    entry *entries;
    int count;
    list bodies, joints, solids;
    carom_error error; // the first mistake
};

// -- texts -------------------------------------------------------------------------------------------

static void wrong(carom_build *b, const entry *e, const char *what) {
    if (b->error.code != CAROM_OK) return;
    const char *name = e && e->name.text ? e->name.text : "";
    carom_fail(&b->error, CAROM_BAD_INPUT, "%.60s%s%.60s: %s", e ? e->section.text : "builder", *name ? "." : "", name, what);
}

static void no_memory(carom_build *b) {
    if (b->error.code == CAROM_OK) carom_fail(&b->error, CAROM_NO_MEMORY, "no memory for the model");
}

static void append(carom_build *b, words *w, const char *text, size_t length) {
    if (w->length + length + 1 > w->room) {
        const size_t room = 2 * (w->length + length) + 32;
        char *more = realloc(w->text, room);
        if (!more) {
            no_memory(b);
            return;
        }
        w->text = more;
        w->room = room;
    }
    memcpy(w->text + w->length, text, length);
    w->text[w->length += length] = 0;
}

static void say(carom_build *b, words *w, const char *text) { append(b, w, text, strlen(text)); }

// A scalar in quotes.
static void quote(carom_build *b, words *w, const char *text) {
    append(b, w, "\"", 1);
    for (; text && *text; ++text) {
        if (*text == '"' || *text == '\\') append(b, w, "\\", 1);
        append(b, w, text, 1);
    }
    append(b, w, "\"", 1);
}

static void number(carom_build *b, const entry *e, words *w, double x) {
    char text[40];
    if (!isfinite(x)) wrong(b, e, "holds a number that is not finite");
    append(b, w, text, (size_t)snprintf(text, sizeof text, "%.17g", x));
}

static void numbers(carom_build *b, const entry *e, words *w, const double *x, int n) {
    for (int i = 0; i < n; ++i) {
        say(b, w, i ? ", " : "[");
        number(b, e, w, x[i]);
    }
    say(b, w, "]");
}

static void key(carom_build *b, words *w, const char *name) {
    if (w->length) say(b, w, ", ");
    say(b, w, name);
    say(b, w, ": ");
}

static void put_number(carom_build *b, entry *e, const char *name, double x) {
    key(b, &e->text, name);
    number(b, e, &e->text, x);
}

static void put_vector(carom_build *b, entry *e, const char *name, const double *x, int n) {
    if (!x) return;
    key(b, &e->text, name);
    numbers(b, e, &e->text, x, n);
}

static void put_text(carom_build *b, entry *e, const char *name, const char *text) {
    if (!text) return;
    key(b, &e->text, name);
    quote(b, &e->text, text);
}

// Two vectors, one for each body.
static void put_pair(carom_build *b, entry *e, const char *name, const double *const x[2], int n) {
    if (!x[0] && !x[1]) return;
    if (!x[0] || !x[1]) {
        wrong(b, e, "one vector for each of the two bodies is needed, one is missing");
        return;
    }
    key(b, &e->text, name);
    for (int i = 0; i < 2; ++i) {
        say(b, &e->text, i ? ", " : "[");
        numbers(b, e, &e->text, x[i], n);
    }
    say(b, &e->text, "]");
}

static void put_expressions(carom_build *b, entry *e, const char *name, const char *const *x, int n) {
    key(b, &e->text, name);
    for (int i = 0; i < n; ++i) {
        say(b, &e->text, i ? ", " : "[");
        quote(b, &e->text, x[i] ? x[i] : "0");
    }
    say(b, &e->text, "]");
}

// -- elements ------------------------------------------------------------------------------------------

static bool same(const words *w, const char *text) { return w->text && strcmp(w->text, text) == 0; }

// NULL: no memory.
static entry *add(carom_build *b, const char *section, const char *name) {
    entry *more = realloc(b->entries, ((size_t)b->count + 1) * sizeof *more);
    if (!more) {
        no_memory(b);
        return NULL;
    }
    b->entries = more;
    entry *e = &more[b->count];
    *e = (entry){0};
    say(b, &e->section, section);
    if (name) say(b, &e->name, name);
    for (int i = 0; i < b->count; ++i)
        if (same(&more[i].section, section) && (!name || !more[i].name.text || same(&more[i].name, name))) wrong(b, e, "is there already");
    ++b->count;
    return e;
}

static entry *add_element(carom_build *b, const char *section, const char *name) {
    entry *e = add(b, section, name ? name : "");
    if (e && !(name && *name)) wrong(b, e, "an element without a name");
    return e;
}

static int add_handle(carom_build *b, list *l, int space) {
    handle *more = realloc(l->at, ((size_t)l->count + 1) * sizeof *more);
    if (!more) return no_memory(b), 0;
    l->at = more;
    more[l->count] = (handle){.entry = b->count - 1, .space = space};
    return ++l->count;
}

static bool known(carom_build *b, const entry *e, const list *l, int id, const char *what) {
    if (id >= 1 && id <= l->count) return true;
    wrong(b, e, what);
    return false;
}

static const char *name_of(carom_build *b, const entry *e, carom_body body) {
    if (body.id == 0) return "ground";
    return known(b, e, &b->bodies, body.id, "a body that this builder does not have") ? b->entries[b->bodies.at[body.id - 1].entry].name.text : "";
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

static void put_between(carom_build *b, entry *e, const carom_body *between) {
    const char *const names[2] = {name_of(b, e, between[0]), name_of(b, e, between[1])};
    put_expressions(b, e, "between", names, 2);
}

static void put_joint(carom_build *b, entry *e, carom_joint joint) {
    if (known(b, e, &b->joints, joint.id, "a joint that this builder does not have"))
        put_text(b, e, "joint", b->entries[b->joints.at[joint.id - 1].entry].name.text);
}

carom_body carom_build_planar(carom_build *b, const carom_planar_def *def) {
    entry *e = add_element(b, "bodies", def->name);
    if (!e) return (carom_body){0};
    put_number(b, e, "mass", def->mass);
    put_number(b, e, "inertia", def->inertia);
    put_vector(b, e, "at", def->at, 2);
    put_number(b, e, "angle", def->angle);
    put_vector(b, e, "velocity", def->velocity, 2);
    if (def->spin) put_number(b, e, "spin", *def->spin);
    return (carom_body){add_handle(b, &b->bodies, 2)};
}

carom_body carom_build_spatial(carom_build *b, const carom_spatial_def *def) {
    entry *e = add_element(b, "bodies", def->name);
    if (!e) return (carom_body){0};
    const double *c = def->quaternion, *J = def->inertia;
    put_number(b, e, "mass", def->mass);
    put_vector(b, e, "inertia", J, J[3] != 0 || J[4] != 0 || J[5] != 0 ? 6 : 3);
    put_vector(b, e, "at", def->at, 3);
    if (c[0] != 0 || c[1] != 0 || c[2] != 0 || c[3] != 0) put_vector(b, e, "quaternion", c, 4);
    put_vector(b, e, "velocity", def->velocity, 3);
    put_vector(b, e, "spin", def->spin, 3);
    return (carom_body){add_handle(b, &b->bodies, 3)};
}

carom_body carom_build_moving(carom_build *b, const carom_moving_def *def) {
    entry *e = add_element(b, "bodies", def->name);
    if (!e) return (carom_body){0};
    const int space = def->at[2] ? 3 : 2;
    entry inner = {.section = e->section, .name = e->name};
    put_expressions(b, &inner, "at", def->at, space);
    put_text(b, &inner, "angle", def->angle);
    put_vector(b, &inner, "axis", def->axis, 3);
    say(b, &e->text, "motion: {");
    say(b, &e->text, inner.text.text ? inner.text.text : "");
    say(b, &e->text, "}");
    free(inner.text.text);
    return (carom_body){add_handle(b, &b->bodies, space)};
}

void carom_build_point(carom_build *b, carom_body body, const char *name, const double *at) {
    if (!known(b, NULL, &b->bodies, body.id, "a point of a body that it does not have")) return;
    const handle *h = &b->bodies.at[body.id - 1];
    entry *e = &b->entries[h->entry];
    if (e->points.length) say(b, &e->points, ", ");
    quote(b, &e->points, name);
    say(b, &e->points, ": ");
    numbers(b, e, &e->points, at, h->space);
}

carom_joint carom_build_joint(carom_build *b, const carom_joint_def *def) {
    entry *e = add_element(b, "joints", def->name);
    if (!e) return (carom_joint){0};
    const int space = space_between(b, def->between);
    put_text(b, e, "type", def->type ? def->type : "");
    if (def->joints[0].id || def->joints[1].id) {
        const char *names[2] = {"", ""};
        for (int i = 0; i < 2; ++i)
            if (known(b, e, &b->joints, def->joints[i].id, "couples a joint that this builder does not have"))
                names[i] = b->entries[b->joints.at[def->joints[i].id - 1].entry].name.text;
        put_expressions(b, e, "joints", names, 2);
        put_number(b, e, "ratio", def->ratio);
    } else {
        put_between(b, e, def->between);
    }
    put_vector(b, e, "at", def->at, space);
    put_pair(b, e, "points", def->points, space);
    if (def->second_axis) put_pair(b, e, "axis", (const double *const[2]){def->axis, def->second_axis}, space);
    else put_vector(b, e, "axis", def->axis, space);
    put_pair(b, e, "axes", def->axes, space);
    put_text(b, e, "motion", def->motion);
    if (def->length) put_number(b, e, "length", *def->length);
    if (def->pitch != 0) put_number(b, e, "pitch", def->pitch);
    return (carom_joint){add_handle(b, &b->joints, space)};
}

void carom_build_spring(carom_build *b, const carom_spring_def *def) {
    entry *e = add_element(b, "springs", def->name);
    if (!e) return;
    if (def->joint.id) {
        put_joint(b, e, def->joint);
        put_number(b, e, "rest", def->rest);
    } else {
        put_between(b, e, def->between);
        put_pair(b, e, "points", def->points, space_between(b, def->between));
        if (def->length) put_number(b, e, "length", *def->length);
    }
    put_number(b, e, "stiffness", def->stiffness);
    put_number(b, e, "damping", def->damping);
}

void carom_build_bushing(carom_build *b, const carom_bushing_def *def) {
    entry *e = add_element(b, "springs", def->name);
    if (!e) return;
    const int space = space_between(b, def->between), spatial = space == 3;
    put_text(b, e, "type", "bushing");
    put_between(b, e, def->between);
    put_vector(b, e, "at", def->at, space);
    put_pair(b, e, "points", def->points, space);
    put_vector(b, e, "stiffness", def->stiffness, space);
    put_vector(b, e, "damping", def->damping, space);
    if (spatial) put_vector(b, e, "torsion", def->torsion, 3);
    else put_number(b, e, "torsion", def->torsion[2]);
    if (spatial) put_vector(b, e, "torsion damping", def->torsion_damping, 3);
    else put_number(b, e, "torsion damping", def->torsion_damping[2]);
}

void carom_build_motor(carom_build *b, const carom_motor_def *def) {
    entry *e = add_element(b, "motors", def->name);
    if (!e) return;
    put_joint(b, e, def->joint);
    put_text(b, e, "torque", def->torque);
    put_text(b, e, "force", def->force);
}

void carom_build_load(carom_build *b, const carom_load_def *def) {
    entry *e = add_element(b, "loads", def->name);
    if (!e) return;
    const int space = space_of(b, def->on);
    const char *const *f = def->force, *const *T = def->torque;
    put_text(b, e, "on", name_of(b, e, def->on));
    put_vector(b, e, "point", def->point, space == 3 ? 3 : 2);
    if (f[0] || f[1] || f[2]) put_expressions(b, e, "force", f, space == 3 ? 3 : 2);
    if (space == 3 && (T[0] || T[1] || T[2])) put_expressions(b, e, "torque", T, 3);
    else put_text(b, e, "torque", T[2]);
    if (def->turns) put_text(b, e, "frame", "body");
}

// -- shapes ----------------------------------------------------------------------------------------------

// Numbers that a shape has; 0: as many as space has dimensions.
static int sizes_of(const char *type, int space) {
    static const struct { const char *type; int n; } kinds[] = {{"circle", 1}, {"sphere", 1}, {"hole", 1}, {"bore", 1}, {"capsule", 2}, {"slot", 2}, {"cylinder", 2}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(type, kinds[i].type) == 0) return kinds[i].n;
    return space;
}

static int space_of_model(const carom_build *b) {
    for (int i = 0; i < b->bodies.count; ++i)
        if (b->bodies.at[i].space == 3) return 3;
    return 2;
}

static void describe(carom_build *b, entry *e, const carom_solid_def *def, int space) {
    const char *type = def->type ? def->type : "";
    const int n = sizes_of(type, space);
    if (strcmp(type, "polygon") == 0) {
        key(b, &e->text, type);
        for (int i = 0; i < def->ncorners; ++i) {
            say(b, &e->text, i ? ", " : "[");
            numbers(b, e, &e->text, def->corners + 2 * (size_t)i, 2);
        }
        say(b, &e->text, def->ncorners > 0 ? "]" : "[]");
    } else if (n == 1) {
        put_number(b, e, type, def->size[0]);
    } else {
        put_vector(b, e, type, def->size, n);
    }
    put_vector(b, e, "at", def->at, space);
    put_vector(b, e, "axis", def->axis, 3);
    if (def->angle != 0) put_number(b, e, "angle", def->angle);
}

carom_solid carom_build_solid(carom_build *b, carom_body of, const carom_solid_def *def) {
    const bool ground = of.id == 0;
    if (!ground && !known(b, NULL, &b->bodies, of.id, "a shape of a body that it does not have")) return (carom_solid){0};
    entry *e = ground ? add_element(b, "shapes", def->name) : &b->entries[b->bodies.at[of.id - 1].entry];
    if (!e) return (carom_solid){0};
    entry shape = {.section = e->section, .name = e->name};
    describe(b, &shape, def, ground ? space_of_model(b) : space_of(b, of));
    const char *text = shape.text.text ? shape.text.text : "";
    if (ground) {
        say(b, &e->text, text);
    } else {
        if (e->shapes.length && (e->one || !def->name)) wrong(b, e, "has several shapes; give each a name");
        if (e->shapes.length) say(b, &e->shapes, ", ");
        if (def->name) quote(b, &e->shapes, def->name), say(b, &e->shapes, ": {");
        say(b, &e->shapes, text);
        if (def->name) say(b, &e->shapes, "}");
        e->one = !def->name;
    }
    free(shape.text.text);
    const int id = add_handle(b, &b->solids, 0);
    if (id == 0) return (carom_solid){0};
    handle *h = &b->solids.at[id - 1];
    say(b, &h->name, e->name.text ? e->name.text : "");
    if (!ground && def->name) say(b, &h->name, "."), say(b, &h->name, def->name);
    return (carom_solid){id};
}

void carom_build_contact(carom_build *b, const carom_touch_def *def) {
    entry *e = add_element(b, "contacts", def->name);
    if (!e) return;
    const char *names[2] = {"", ""};
    for (int i = 0; i < 2; ++i)
        if (known(b, e, &b->solids, def->between[i].id, "a shape that this builder does not have")) names[i] = b->solids.at[def->between[i].id - 1].name.text;
    put_expressions(b, e, "between", names, 2);
    put_number(b, e, "restitution", def->restitution);
    put_number(b, e, "tangential restitution", def->tangential_restitution);
    put_number(b, e, "friction", def->friction);
}

// -- the rest ----------------------------------------------------------------------------------------------

void carom_build_gravity(carom_build *b, double x, double y, double z) {
    b->gravity[0] = x, b->gravity[1] = y, b->gravity[2] = z;
    b->heavy = true;
}

void carom_build_parameter(carom_build *b, const char *name, double value) {
    entry *e = add_element(b, "parameters", name);
    if (e) number(b, e, &e->text, value);
}

void carom_build_entry(carom_build *b, const char *section, const char *name, const char *text) {
    entry *e = add(b, section ? section : "", name);
    if (!e) return;
    if (!section || !text) {
        wrong(b, e, "an entry without a section or a text");
        return;
    }
    if (strpbrk(text, "\n\r")) wrong(b, e, "a text of several lines; write it in one");
    say(b, &e->text, text);
}

carom_build *carom_build_create(const char *name) {
    carom_build *b = calloc(1, sizeof *b);
    if (b) say(b, &b->name, name ? name : "model");
    return b;
}

void carom_build_destroy(carom_build *b) {
    if (!b) return;
    for (int i = 0; i < b->count; ++i) {
        entry *e = &b->entries[i];
        free(e->section.text), free(e->name.text), free(e->text.text), free(e->points.text), free(e->shapes.text);
    }
    for (int i = 0; i < b->solids.count; ++i) free(b->solids.at[i].name.text);
    free(b->entries), free(b->bodies.at), free(b->joints.at), free(b->solids.at);
    free(b->name.text), free(b->text.text);
    free(b);
}

// -- the file ----------------------------------------------------------------------------------------------

// Is it an element with keys, or a value?
static bool has_keys(const entry *e) {
    static const char *const sections[] = {"bodies", "shapes", "joints", "springs", "motors", "loads", "contacts"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i)
        if (same(&e->section, sections[i])) return true;
    return false;
}

static void write_element(carom_build *b, entry *e, int head, int *line) {
    words *w = &b->text;
    e->head = head;
    const bool braces = has_keys(e) && e->text.text && e->text.text[0] != '{';
    e->line = ++*line;
    say(b, w, "  ");
    quote(b, w, e->name.text);
    say(b, w, braces ? ": {" : ": ");
    say(b, w, e->text.text ? e->text.text : "");
    if (e->points.length) say(b, w, ", points: {"), say(b, w, e->points.text), say(b, w, "}");
    if (e->shapes.length) say(b, w, e->one ? ", shape: {" : ", shapes: {"), say(b, w, e->shapes.text), say(b, w, "}");
    say(b, w, braces ? "}\n" : "\n");
}

static void write_section(carom_build *b, int first, int *line) {
    entry *e = &b->entries[first];
    words *w = &b->text;
    const int head = ++*line;
    quote(b, w, e->section.text);
    if (!e->name.text) {
        e->head = e->line = head;
        say(b, w, ": "), say(b, w, e->text.text ? e->text.text : ""), say(b, w, "\n");
        return;
    }
    say(b, w, ":\n");
    for (int i = first; i < b->count; ++i)
        if (same(&b->entries[i].section, e->section.text)) write_element(b, &b->entries[i], head, line);
}

const char *carom_build_text(carom_build *b) {
    if (b->error.code != CAROM_OK) return NULL;
    words *w = &b->text;
    int line = 2;
    w->length = 0;
    say(b, w, "carom: 1\nname: ");
    quote(b, w, b->name.text);
    say(b, w, "\n");
    if (b->heavy) {
        ++line;
        say(b, w, "gravity: ");
        numbers(b, NULL, w, b->gravity, space_of_model(b));
        say(b, w, "\n");
    }
    for (int i = 0; i < b->count; ++i) {
        bool seen = false;
        for (int k = 0; k < i && !seen; ++k) seen = same(&b->entries[k].section, b->entries[i].section.text);
        if (!seen && b->error.code == CAROM_OK) write_section(b, i, &line);
    }
    return b->error.code == CAROM_OK ? w->text : NULL;
}

static const char FILE_NAME[] = "builder";

// "builder:12:30: what" becomes "joints.main: what".
static void name_element(const carom_build *b, carom_error *err) {
    int line = 0, column = 0, used = 0;
    const size_t skip = sizeof FILE_NAME - 1;
    if (!err || strncmp(err->text, FILE_NAME, skip) != 0 || sscanf(err->text + skip, ":%d:%d: %n", &line, &column, &used) != 2 || used == 0) return;
    const entry *e = NULL; // the last that starts before: unbalanced brackets show later
    for (int i = 0, best = 0; i < b->count; ++i) {
        const entry *k = &b->entries[i];
        const int start = k->line <= line ? k->line : k->head;
        if (start <= line && start > best) e = k, best = start;
    }
    if (!e) return;
    char what[sizeof err->text];
    snprintf(what, sizeof what, "%s", err->text + skip + used);
    carom_fail(err, err->code, "%.60s%s%.60s: %.800s", e->section.text, e->name.text ? "." : "", e->name.text ? e->name.text : "", what);
}

carom_model *carom_build_model(carom_build *b, carom_error *err) {
    const char *text = carom_build_text(b);
    if (!text) {
        if (err) *err = b->error;
        return NULL;
    }
    carom_model *m = carom_model_create(&(carom_model_def){.text = text, .length = b->text.length, .file = FILE_NAME}, err);
    if (!m) name_element(b, err);
    return m;
}
