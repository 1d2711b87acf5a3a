// test_mech.c: a mechanism as data: copies, comparisons, hashes, and the file that describes it.
#include "mech/datum.h"
#include "build/build.h"
#include "mech/keys.h"
#include "mech/mech.h"
#include "model_text.h"
#include "sources.h"

static const key_group *const top[] = {&carom_key_top, NULL};

// Every kind of record, in every variant.
static const char everything[] =
    "carom: 1\nname: 'All: of \"it\"'\nabout: |\n  two\n  lines\n"
    "parameters: {E: 1e9, k: 2*E}\ncoordinates: {x: 0.3, y: {at: 1, rate: -2}}\ngravity: [0, 0, -9.81]\nassemble: no\n"
    "let: {z: 'max(x, y)'}\nenergy: {kinetic: x'^2 + y'^2, potential: z}\nforces: {x: -y'}\nconstraints: {guide: y - 1 "
    "+ x - 0.3}\n"
    "bodies:\n  a: {mass: 1, inertia: [1, 1, 2], at: [0, 0, 5], quaternion: [1, 0, 0, 0], points: {tip: [0, 0, 0.1]}, "
    "shapes: {x: {sphere: 0.1}, y: {box: [1, 1, 1], axis: [0, 0, 1], angle: 0.2}}}\n"
    "  m: {motion: {at: [0, 0, sin(t)], angle: t, axis: [0, 0, 1]}, shape: {plane: [0, 0, 1]}}\n"
    "  f: {repeat: [2, 2], index: [n, l], body: {mass: 1, inertia: [1, 1, 1], at: [n, l, 3], shape: {sphere: 0.1}}}\n"
    "shapes: {floor: {plane: [0, 0, 1], at: [0, 0, -9]}}\n"
    "joints: {j: {type: prismatic, between: [ground, a], at: [0, 0, 5], axis: [0, 0, 1]}, js: {repeat: 2, joint: "
    "{type: spherical, between: [ground, 'f[i, 0]'], at: [i, 0, 3]}}}\n"
    "springs: {s1: {between: [ground, a], points: [[0, 0, 0], tip], stiffness: 10}, s2: {joint: j, stiffness: 1, rest: "
    "0.1}, s3: {type: bushing, between: [ground, a], at: [0, 0, 0], stiffness: [1, 2, 3], torsion: 1}, ss: {repeat: 1, "
    "index: n, spring: {joint: j, stiffness: n}}}\n"
    "motors: {drive: {joint: j, force: 1 - j.shift'}}\nloads: {wind: {on: a, point: tip, force: [1, 0, 0], frame: "
    "body}}\n"
    "flexible:\n  bar: {type: bar, length: 1, elements: 2, density: 1, modulus: E, area: 1, fix: start, damping: "
    "{mass: 1}, load: s, at: 0, record: [unknowns]}\n"
    "  shaft: {type: shaft, length: 1, elements: {mid: 2, end: 2}, radius: 0.1, density: 1, modulus: E, shear modulus: "
    "E, points: {mid: 0.5}, flywheels: {mid: {mass: 1, inertia: 2}}, damping: {torsion: 0.1}, fix: {start: [v, w], "
    "end: all}}\n"
    "  free: {type: beam, frame: floating, length: 1, elements: 2, density: 1, modulus: E, area: 1, inertia: 1}\n"
    "  given: {type: matrices, mass: M, stiffness: K, damping: C}\n"
    "contact defaults: {restitution: 0.5}\n"
    "contacts: {stop: {gap: x + 10, slip: y, friction: 0.2}, pair: {between: [a.x, m], rolling: 0.01, friction: 0.3}, "
    "many: {among: [a.y, floor]}, cs: {repeat: 2, contact: {between: ['f[i, 1]', floor]}}}\n"
    "outputs: {o: a.x}\nexact: {x: t, y: 1}\nchecks: [drift < 1e-9, 'max(x, y) < 3']\n"
    "sweep: {vary: {E: '1:2:3'}, observe: [x], zip: yes}\n"
    "simulation: {scheme: half-explicit, step: 1e-3, end: 1, options: {tol: 1e-9}}\n"
    "draw: {ball: {sphere: 0.1, of: a, colour: red}, a: none, contacts: {stop: [x, 0, 0], pair: {at: [0, 0, 0], "
    "normal: [0, 0, 1]}}}\n";

static carom_mech *mech_of(const char *text) {
    carom_error err = {0};
    carom_mech *m = carom_mech_read(text, strlen(text), "m.yaml", &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

static carom_mech *all(void) {
    carom_mech *m = mech_of(everything);
    carom_error err = {0};
    assert_int_equal(carom_mech_add_matrix(m, &(carom_matrix_text){.name = "M", .text = "abc", .length = 3}, &err),
                     CAROM_OK);
    return m;
}

// What is written of both is the same.
static bool equal(const carom_mech *a, const carom_mech *b) {
    char *x = carom_mech_text(a), *y = carom_mech_text(b);
    bool same = x && y && strcmp(x, y) == 0 && a->nmatrices == b->nmatrices;
    for (int i = 0; same && i < a->nmatrices; ++i) {
        const carom_matrix_text *A = &a->matrices[i], *B = &b->matrices[i];
        same = strcmp(A->name, B->name) == 0 && A->length == B->length && memcmp(A->text, B->text, A->length) == 0;
    }
    free(x), free(y);
    return same;
}

static void same(const carom_mech *a, const carom_mech *b, const char *what) {
    if (!equal(a, b)) fail_msg("%s differ", what);
}

static void a_copy_is_equal_and_lives_alone(void **state) {
    (void)state;
    carom_mech *m = all(), *copy = carom_mech_copy(m), *other = all();
    assert_non_null(copy);
    same(m, copy, "a mechanism and its copy");
    carom_mech_destroy(m); // what the copy holds must be its own: sanitizers look
    same(copy, other, "a copy and a mechanism of the same text");
    assert_string_equal(copy->members[1].damping->torsion.text, "0.1");
    assert_int_equal(copy->joints[0].axis.line, other->joints[0].axis.line); // places are kept
    carom_mech_destroy(copy);
    carom_mech_destroy(other);
}

/// Change one field after the other, and back: each must be noticed.
typedef struct changing {
    carom_mech *m;
    const carom_mech *whole;
    void *record;
    bool brief; // one datum stands for the record: nothing else is in it
    int changed;
} changing;

static void find_brief(void *user, const carom_key *k) {
    changing *c = user;
    c->brief = c->brief || (!*k->name && carom_given(carom_key_field(c->record, k->at)));
}

static void change(void *user, const carom_key *k) {
    changing *c = user;
    if (strcmp(k->name, "carom") == 0) return; // the format of a file, not of what it says
    if (c->brief && *k->name) return;
    if (!carom_key_is_record(k)) {
        carom_datum *d = carom_key_field(c->record, k->at), before = *d;
        *d = (carom_datum){.kind = CAROM_TEXT, .text = "changed", .length = 7, .key = before.key};
        if (equal(c->m, c->whole)) fail_msg("a change of '%s' is not noticed", k->name);
        *d = before;
        ++c->changed;
        return;
    }
    unsigned char *list = *(void **)carom_key_field(c->record, k->at);
    const int count = k->kind == KEY_RECORD ? list != NULL : *(int *)carom_key_field(c->record, k->count);
    for (int i = 0; i < count; ++i) {
        changing inner = *c;
        inner.record = list + (size_t)i * (*k->groups)->size;
        carom_key_fields(k->groups, find_brief, &inner);
        carom_key_fields(k->groups, change, &inner);
        c->changed = inner.changed;
    }
}

static void every_field_counts(void **state) {
    (void)state;
    carom_mech *m = all(), *whole = all();
    changing c = {.m = m, .whole = whole, .record = m};
    carom_key_fields(top, change, &c);
    assert_true(c.changed > 200);
    same(m, whole, "what was changed back");
    m->nmatrices = 0;
    assert_false(equal(m, whole));
    carom_mech_destroy(m);
    carom_mech_destroy(whole);
}

static void round_trip(const char *text, const char *what) {
    carom_mech *m = mech_of(text);
    char *written = carom_mech_text(m);
    assert_non_null(written);
    carom_mech *again = mech_of(written);
    if (!equal(m, again)) fail_msg("%s, written and read again, is another mechanism:\n%s", what, written);
    free(written);
    carom_mech_destroy(m);
    carom_mech_destroy(again);
}

static void check_file(void *user, const char *path, char *text) {
    ++*(int *)user;
    round_trip(text, path);
}

static void a_written_mechanism_is_read_as_it_was(void **state) {
    (void)state;
    int files = 0;
    round_trip(everything, "everything");
    walk(CAROM_SOURCE_DIR "/models", ".yaml", check_file, &files);
    assert_true(files >= 30);
}

// Numbers are given as numbers by C calls, and written so that they are read as the same ones.
static void what_c_calls_give_is_written_to_the_bit(void **state) {
    (void)state;
    carom_error err = {0};
    carom_build *b = carom_build_create("pendulum");
    carom_build_gravity(b, 0, -9.81, 0);
    carom_build_parameter(b, "k", 0.1 + 0.2);
    const carom_body bob =
        carom_build_planar(b, &(carom_planar_def){.name = "bob", .mass = 1.0 / 3, .inertia = 1e-3, .at = {0.7, 0.1}});
    carom_build_point(b, bob, "tip", (double[]){0.1, 1e-17});
    carom_build_joint(
        b, &(carom_joint_def){.name = "pin", .type = "revolute", .between = {{0}, bob}, .at = (double[]){0, 0.3}});
    carom_build_load(b, &(carom_load_def){.name = "push", .on = bob, .force = {"k*max(t, 0.1)", NULL}});
    const carom_mech *mech = carom_build_mech(b, &err);
    if (!mech) fail_msg("%s", err.text);
    assert_int_equal(mech->bodies[0].mass.kind, CAROM_NUMBER);
    assert_true(mech->bodies[0].mass.number == 1.0 / 3);
    carom_model *built = carom_build_model(b, &err), *read = good(carom_build_text(b));
    assert_non_null(built);
    assert_memory_equal(carom_model_q0(built), carom_model_q0(read), 3 * sizeof(double));
    double x[2] = {0}, y[2] = {0};
    carom_model_parameter(built, 0, &x[0]), carom_model_parameter(read, 0, &x[1]);
    assert_memory_equal(&x[0], &x[1], sizeof(double));
    const carom_model *const both[] = {built, read};
    for (int k = 0; k < 2; ++k) {
        const carom_system *s = carom_model_system(both[k]);
        void *work = aligned_alloc(64, (s->work_size + 63) & ~(size_t)63);
        double f[3];
        s->work_init(s->model, work);
        assert_int_equal(s->force(s->model, work, 0.5, carom_model_q0(both[k]), carom_model_v0(both[k]), f), CAROM_OK);
        y[k] = f[0];
        free(work);
    }
    assert_memory_equal(&y[0], &y[1], sizeof(double));
    carom_model_destroy(built);
    carom_model_destroy(read);
    carom_build_destroy(b);
}

static void a_model_keeps_its_mechanism(void **state) {
    (void)state;
    carom_error err = {0};
    carom_mech *m = mech_of("carom: 1\nparameters: {m: 2}\ncoordinates: {x: {at: m}}\nenergy: {kinetic: "
                            "m*x'^2/2}\nsimulation: {scheme: half-explicit}\n");
    assert_int_equal(carom_mech_set(m, "m=3+1", &err), CAROM_OK);
    carom_model *model = carom_model_of(m, NULL, &err);
    assert_non_null(model);
    assert_true(carom_model_q0(model)[0] == 4);
    assert_int_equal(carom_mech_set(m, "m=quux", &err), CAROM_OK);
    assert_null(carom_model_of(m, NULL, &err));
    assert_string_equal(err.text, "`set` m=quux: unknown name 'quux'; define it in parameters");
    assert_int_equal(carom_mech_set(m, "mm=1", &err), CAROM_BAD_INPUT);
    assert_string_equal(err.text, "`set` mm=1: the model has no parameter or initial value 'mm'; did you mean 'm'?");
    carom_mech_destroy(m);
    assert_string_equal(carom_model_simulation(model).scheme, "half-explicit");
    assert_string_equal(carom_model_simulation(model).scheme_place, "m.yaml:5:22");
    carom_model_destroy(model);
}

// A parameter without a unit in the file is given one: it must be what the keys want whose value it is, alone, in
// lists, and in records of records.  One that stands in expressions alone may have any.
static void units_of_overrides_are_those_of_their_keys(void **state) {
    (void)state;
    static const char text[] = "carom: 1\nparameters: {M: 2, r: 0.1, h: 1, mu: 0.3, k: 100, c: 3}\nbodies: {a: {mass: "
                               "M, inertia: c*r^2, shapes: {s: {circle: r}}, at: [0, h]}}\n"
                               "springs: {s: {between: [ground, a], points: [[0, 2], [0, 0]], stiffness: k}}\nshapes: "
                               "{floor: {plane: [0, 1]}}\ncontacts: {c: {between: [a, floor], friction: mu}}\n";
    static const struct { const char *set, *says; } cases[] = {
        {"M=500 g", NULL},  {"M=1 s", "`set` M=1 s: 'M' is given for mass, which is in kg"},
        {"r=5 cm", NULL},   {"r=5 kg", "`set` r=5 kg: 'r' is given for circle, which is in m"},
        {"h=3 ft", NULL},   {"h=1 s", "`set` h=1 s: 'h' is given for at, which is in m"},
        {"mu=30 %", NULL},  {"mu=1 m", "`set` mu=1 m: 'mu' is given for friction, which is a number without a unit"},
        {"k=5 N/mm", NULL}, {"c=1 kg", NULL},
        {"M=2*c", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_error err = {0};
        carom_mech *m = mech_of(text);
        const carom_status status = carom_mech_set(m, cases[i].set, &err);
        if ((status == CAROM_OK) != (cases[i].says == NULL)) fail_msg("%s: %s", cases[i].set, err.text);
        if (cases[i].says) assert_string_equal(err.text, cases[i].says);
        carom_mech_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_equal_and_lives_alone),
        cmocka_unit_test(every_field_counts),
        cmocka_unit_test(a_written_mechanism_is_read_as_it_was),
        cmocka_unit_test(what_c_calls_give_is_written_to_the_bit),
        cmocka_unit_test(a_model_keeps_its_mechanism),
        cmocka_unit_test(units_of_overrides_are_those_of_their_keys),
    };
    return cmocka_run_group_tests_name("mech", tests, NULL, NULL);
}
