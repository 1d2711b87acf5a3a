// test_urdf.c: robots from URDF: where links, inertias, shapes and limits are, by hand; a fall with a known end; what is wrong with a file.
#include "model_text.h"
#include "read/urdf.h"
#include <time.h>

static char text[20000], notes[2000];
static size_t used;

static void append(void *user, const char *part, size_t length) {
    (void)user;
    assert_true(used + length < sizeof text);
    memcpy(text + used, part, length);
    text[used += length] = 0;
}

static void on_note(void *user, const char *sentence) {
    (void)user;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", sentence);
}

static carom_status import(const char *urdf, bool fixed, carom_error *err) {
    used = 0;
    text[0] = notes[0] = 0;
    const carom_urdf_def def = {.text = urdf, .length = strlen(urdf), .file = "r.urdf", .fixed = fixed, .gravity = 10, .note = on_note};
    return carom_urdf_write(&def, append, NULL, err);
}

static carom_model *robot(const char *urdf, bool fixed) {
    carom_error err = {0};
    if (import(urdf, fixed, &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_model *m = model_of(text, &err);
    if (!m) fail_msg("%s\n%s", err.text, text);
    return m;
}

static double state(const carom_model *m, const char *name) {
    for (int i = 0; i < carom_model_count(m).coordinates; ++i)
        if (strcmp(carom_model_coordinate(m, i), name) == 0) return carom_model_q0(m)[i];
    fail_msg("no %s", name);
    return NAN;
}

#define ARM \
    "<?xml version=\"1.0\"?>\n<!-- an arm -->\n<robot name=\"one &amp; only\">\n<link name=\"base-link\"><collision><geometry><box size=\"1 1 0.1\"/></geometry></collision></link>\n" \
    "<link name=\"arm\"><inertial><origin xyz=\"0.5 0 0\" rpy=\"0 0 1.5707963267948966\"/><mass value=\"2\"/><inertia ixx=\"0.3\" iyy=\"0.01\" izz=\"0.2\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>" \
    "<collision><origin xyz=\"0.5 0 0\" rpy=\"0 1.5707963267948966 0\"/><geometry><cylinder radius=\"0.05\" length=\"1\"/></geometry></collision></link>\n"

// The arm hangs on a hinge about y at z = 2 and starts along x.  It falls a quarter turn onto its limit: w^2 = 2 m g l/(J + m l^2), where J about y is 0.3 after
// the inertial frame is turned by a right angle about z.
static void an_arm_falls_on_its_limit(void **s) {
    (void)s;
    carom_model *m = robot(ARM "<joint name=\"hinge\" type=\"revolute\"><parent link=\"base-link\"/><child link=\"arm\"/><origin xyz=\"0 0 2\"/><axis xyz=\"0 2 0\"/><limit lower=\"-1\" upper=\"1.5707963267948966\"/></joint>\n</robot>\n", false);
    assert_string_equal(carom_model_name(m), "one & only");
    assert_close(state(m, "arm.x"), 0.5, 1e-15);
    assert_close(state(m, "arm.z"), 2, 1e-15);
    carom_sim *sim = model_sim(m, "event-driven", NULL, 0.01, 2);
    const double w = sqrt(2 * 2 * 10 * 0.5 / (0.3 + 2 * 0.25));
    double hit = NAN;
    carom_error err = {0};
    while (isnan(hit) && carom_sim_step(sim, &err) == CAROM_OK) {
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents; ++i)
            if (now.events[i].kind == CAROM_IMPACT) hit = now.events[i].before;
    }
    assert_close(hit, -w, 1e-6);
    assert_non_null(strstr(text, "cylinder: [0.05, 1], at: [0, 0, 0], axis: [1, 0, 0]"));
    assert_non_null(strstr(text, "ground_1: {box: [1, 1, 0.1], at: [0, 0, 0]}"));
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

#define LINK(name, xyz) "<link name=\"" name "\"><inertial><origin xyz=\"" xyz "\"/><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n"
#define JOINT(name, type, parent, child, rest) "<joint name=\"" name "\" type=\"" type "\"><parent link=\"" parent "\"/><child link=\"" child "\"/>" rest "</joint>\n"

// Every type of joint, a link without mass between two others, a mimic, damping, friction, a limit that excludes 0.
static void all_joints(void **s) {
    (void)s;
    carom_model *m = robot("<robot name='r'>\n" LINK("a", "0 0 0") LINK("b", "0 0 0") LINK("c", "1 0 0") LINK("d", "0 0 0") LINK("e", "0 0 0") LINK("f", "0 0 0")
                           "<link name='plate'><collision><origin xyz='0 0 0.5'/><geometry><sphere radius='0.1'/></geometry></collision></link>\n"
                           JOINT("slide", "prismatic", "a", "b", "<origin xyz='1 0 0' rpy='0 0 1.5707963267948966'/><limit lower='0.25' upper='0.5'/><dynamics damping='3' friction='0.5'/>")
                           JOINT("mount", "fixed", "b", "plate", "<origin xyz='0 0 1'/>")
                           JOINT("turn", "continuous", "plate", "c", "<axis xyz='0 0 1'/>")
                           JOINT("copy", "continuous", "c", "d", "<axis xyz='0 0 1'/><mimic joint='turn' multiplier='-2' offset='0.5'/>")
                           JOINT("fly", "floating", "a", "e", "<origin xyz='0 0 7'/>") JOINT("glide", "planar", "a", "f", "<origin xyz='0 3 0'/><axis xyz='0 0 1'/>") "</robot>\n", true);
    assert_close(state(m, "b.x"), 1, 1e-12); // slides along x of a frame turned to y, from its lower limit on
    assert_close(state(m, "b.y"), 0.25, 1e-12);
    assert_close(state(m, "c.x"), 1, 1e-12);
    assert_close(state(m, "c.y"), 1.25, 1e-12);
    assert_close(state(m, "c.z"), 1, 1e-12);
    assert_close(state(m, "e.z"), 7, 1e-12);
    assert_close(2 * acos(state(m, "d.qw")), 0.5 + 1.5707963267948966, 1e-9);
    static const char *const lines[] = {"c1: {sphere: 0.1, at: [0, 0, 1.5]}", "a_base: {type: weld, between: [ground, a]", "copy_mimic: {type: gear, joints: [turn, copy], ratio: -2}",
                                        "slide_damping: {joint: slide, damping: 3}", "slide_lower: {gap: slide.shift - (0)}", "slide_upper: {gap: 0.25 - slide.shift}",
                                        "slide_friction: {normal force: 0.5, slip: slide.shift, friction: 1}", "glide: {type: planar, between: [a, f]", "turn: {type: revolute, between: [b, c]"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
        if (!strstr(text, lines[i])) fail_msg("no \"%s\" in\n%s", lines[i], text);
    assert_null(strstr(text, "fly:"));
    carom_sim *sim = model_sim(m, "moreau-jean", NULL, 1e-3, 0.1);
    model_sim_run(sim);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void what_is_left_out(void **s) {
    (void)s;
    carom_model *arm = robot("<robot name='r'>\n" LINK("a", "0 0 0") LINK("b", "0 0 0") LINK("c", "0 0 0") JOINT("hip", "revolute", "a", "b", "<limit lower='-1' upper='1' effort='30' velocity='2'/>")
                             JOINT("knee", "continuous", "b", "c", "<limit effort='5'/>") "</robot>\n", true);
    assert_non_null(strstr(notes, "r.urdf:1: limits of effort and velocity are left out: 'hip', 'knee'\n"));
    assert_non_null(strstr(text, "hip_lower: {gap: ")); // those of position are contacts
    carom_model_destroy(arm);
    // The standard: lower and upper are 0 where they are left out.  The joint is locked.
    carom_model *locked = robot("<robot name='r'>\n" LINK("a", "0 0 0") LINK("b", "0 0 0") "\n" JOINT("hip", "revolute", "a", "b", "<limit effort='30' velocity='2'/>") "</robot>\n", true);
    assert_non_null(strstr(notes, "r.urdf:5: joint 'hip' cannot move: its <limit> has neither lower nor upper, and both are 0 then"));
    assert_non_null(strstr(text, "  hip: {type: weld"));
    carom_model_destroy(locked);
    carom_model *m = robot("<robot name='r'>\n<link name='9 lives'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial><visual/>\n"
                           "<collision><geometry><mesh filename='package://p/m/arm.dae'/></geometry></collision></link></robot>\n", false);
    assert_non_null(strstr(notes, "r.urdf:2: the root link '9 lives' has a mass and moves freely; --fixed welds it to the ground"));
    assert_non_null(strstr(notes, "r.urdf:3: the mesh 'm/arm.dae' is left out: carom reads STL and OBJ files"));
    assert_non_null(strstr(text, "  _9_lives: {mass: 1"));
    carom_model_destroy(m);
}

// Names and paths are quoted: they add nothing to the model.
static void names_stay_names(void **s) {
    (void)s;
    carom_error err = {0};
    assert_int_equal(import("<robot name='a&quot;\nb: {'>" LINK("l", "0 0 0") "<link name='m'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
                            "<collision><geometry><mesh filename='x y.stl}}}\ncontacts: {q: {gap: l.z}} #.stl'/></geometry></collision></link>" JOINT("j", "fixed", "l", "m", "") "</robot>", false, &err), CAROM_OK);
    assert_non_null(strstr(text, "name: \"a\\\" b: {\"\n"));
    assert_non_null(strstr(text, "hull: \"x y.stl}}} contacts: {q: {gap: l.z}} #.stl\""));
}

// Three thousand links that have one name in carom's letters get numbers, without a search through all of them for each.
static void many_names_are_told_apart(void **s) {
    (void)s;
    enum { N = 3000 };
    static const char same[] = "##################################################";
    char *const urdf = malloc(N * 300), *p = urdf;
    const clock_t begun = clock();
    assert_non_null(urdf);
    p += sprintf(p, "<robot name='r'><link name='base'/>");
    for (int i = 2; i < N; ++i) p += sprintf(p, "<link name='%s%d'/><joint name='%s%d' type='fixed'><parent link='base'/><child link='%s%d'/></joint>", same, i, same, i, same, i);
    sprintf(p, "<link name='%s'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>" JOINT("j", "fixed", "base", "%s", "") "</robot>", same, same);
    carom_model_destroy(robot(urdf, false));
    assert_non_null(strstr(text, "_2999: {mass: 1"));
    assert_true(clock() - begun < 10 * CLOCKS_PER_SEC); // with a search for each: minutes
    free(urdf);
}

static void mistakes(void **s) {
    (void)s;
#define A LINK("a", "0 0 0")
#define B LINK("b", "0 0 0")
    static const char *const wrong[][2] = {
        {"", "r.urdf:1: there is no element"},
        {"<robot>\n<link name='a'>\n", "r.urdf:2: this element has no end"},
        {"<robot>\n<link name=a/></robot>", "r.urdf:2: an attribute needs a value in quotes"},
        {"<robot><link name='a'></robot>", "r.urdf:1: the end of another element is expected here"},
        {"<sdf/>", "r.urdf:1: the file begins with <sdf>; a URDF begins with <robot>"},
        {"<robot/>", "the robot has no <link>"},
        {"<robot>\n<link/></robot>", "r.urdf:2: a link has no name"},
        {"<robot>\n" A A "</robot>", "r.urdf:3: there are two links 'a'"},
        {"<robot>\n" A "<link name='b'/>" JOINT("j", "continuous", "a", "b", "") "</robot>", "r.urdf:3: link 'b' moves with joint 'j' and has no mass"},
        {"<robot>\n" A B JOINT("j", "ball", "a", "b", "") "</robot>", "r.urdf:4: joint 'j' has the type 'ball'; types are fixed, revolute"},
        {"<robot>\n" A B JOINT("j", "fixed", "a", "c", "") "</robot>", "joint 'j' names the child link 'c', which does not exist"},
        {"<robot>\n" A B JOINT("j", "revolute", "a", "b", "") "</robot>", "joint 'j' has no <limit lower=... upper=.../>"},
        {"<robot>\n" A B JOINT("j", "revolute", "a", "b", "<limit lower='2' upper='1'/>") "</robot>", "lower must not exceed upper"},
        {"<robot>\n" A B JOINT("j", "continuous", "a", "b", "<axis xyz='0 0 0'/>") "</robot>", "the axis of joint 'j' has no length"},
        {"<robot>\n" A B JOINT("j", "continuous", "a", "b", "<axis xyz='1e200 0 0'/>") "</robot>", "the axis of joint 'j' has no length, or none that can be computed"},
        {"<robot name='\x01'/>", "r.urdf:1:14: a control character"},
        {"<robot name='\xff'/>", "r.urdf:1:14: this byte is not UTF-8 text"},
        {"<robot>\n" A B JOINT("j", "continuous", "a", "b", "<axis xyz='0 0'/>") "</robot>", "xyz=\"0 0\" of <axis> must be 3 numbers"},
        {"<robot>\n" A B JOINT("j", "fixed", "a", "b", "") JOINT("k", "fixed", "b", "a", "") "</robot>", "the joints form a circle"},
        {"<robot>\n" A B "</robot>", "links 'a' and 'b' both have no parent"},
        {"<robot>\n" A B JOINT("j", "continuous", "a", "b", "<mimic joint='x'/>") "</robot>", "joint 'j' mimics 'x', which does not exist"},
        {"<robot>\n<link name='a'><inertial><mass value='1'/></inertial></link></robot>", "link 'a' has a mass and no <inertia"},
        {"<robot>\n<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='-1' izz='1'/></inertial></link></robot>", "the inertia of link 'a' is not positive definite"},
        {"<robot>\n<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial><collision><geometry><cone/></geometry></collision></link></robot>", "has a collision without a known geometry"},
        {"<robot>\n<link name='a'/></robot>", "no link has a mass, so there is nothing to simulate"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        carom_error err = {0};
        assert_int_not_equal(import(wrong[i][0], false, &err), CAROM_OK);
        if (!strstr(err.text, wrong[i][1])) fail_msg("\"%s\" instead of \"%s\"", err.text, wrong[i][1]);
    }
}

// Cut off and changed anywhere, a file is read or refused.
static void damaged(void **s) {
    (void)s;
    static const char good_one[] = ARM "<joint name='h' type='continuous'><parent link='base-link'/><child link='arm'/><mimic joint='h'/></joint></robot>";
    char copy[sizeof good_one];
    for (size_t i = 0; i < sizeof good_one - 1; ++i)
        for (int way = 0; way < 3; ++way) {
            carom_error err = {0};
            memcpy(copy, good_one, sizeof copy);
            if (way) copy[i] = way == 1 ? '<' : '"';
            else copy[i] = 0;
            import(copy, false, &err);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_arm_falls_on_its_limit), cmocka_unit_test(all_joints), cmocka_unit_test(what_is_left_out), cmocka_unit_test(names_stay_names), cmocka_unit_test(many_names_are_told_apart), cmocka_unit_test(mistakes), cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
