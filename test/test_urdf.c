// test_urdf.c: robots from URDF: where links, inertias, shapes and limits are, by hand; a fall with a known end; what
// is wrong with a file.
#include "model_text.h"
#include "read/urdf.h"
#include <time.h>

static char text[40000], notes[4000];
static size_t used;

static void append(void *user, const char *part, size_t length) {
    (void)user;
    assert_true(used + length < sizeof text);
    memcpy(text + used, part, length);
    text[used += length] = 0;
}

static void forget(void *user, const char *part, size_t length) { (void)user, (void)part, (void)length; }

static void on_note(void *user, const char *sentence) {
    (void)user;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", sentence);
}

static carom_status import_as(carom_robot_def def, bool mjcf, const char *from, carom_error *err) {
    used = 0;
    text[0] = notes[0] = 0;
    def.text = from, def.length = strlen(from), def.file = mjcf ? "r.xml" : "r.urdf", def.gravity = 10,
    def.note = on_note;
    return mjcf ? carom_mjcf_write(&def, append, NULL, err) : carom_urdf_write(&def, append, NULL, err);
}

static carom_status import(const char *urdf, bool fixed, carom_error *err) {
    return import_as((carom_robot_def){.fixed = fixed}, false, urdf, err);
}

static carom_model *robot_as(carom_robot_def def, bool mjcf, const char *from) {
    carom_error err = {0};
    if (import_as(def, mjcf, from, &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_model *m = model_of(text, &err);
    if (!m) fail_msg("%s\n%s", err.text, text);
    return m;
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

#define ARM                                                                                                            \
    "<?xml version=\"1.0\"?>\n<!-- an arm -->\n<robot name=\"one &amp; only\">\n<link "                                \
    "name=\"base-link\"><collision><geometry><box size=\"1 1 0.1\"/></geometry></collision></link>\n"                  \
    "<link name=\"arm\"><inertial><origin xyz=\"0.5 0 0\" rpy=\"0 0 1.5707963267948966\"/><mass "                      \
    "value=\"2\"/><inertia ixx=\"0.3\" iyy=\"0.01\" izz=\"0.2\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>"            \
    "<collision><origin xyz=\"0.5 0 0\" rpy=\"0 1.5707963267948966 0\"/><geometry><cylinder radius=\"0.05\" "          \
    "length=\"1\"/></geometry></collision></link>\n"

// The arm hangs on a hinge about y at z = 2 and starts along x.  It falls a quarter turn onto its limit: w^2 = 2 m g
// l/(J + m l^2), where J about y is 0.3 after the inertial frame is turned by a right angle about z.
static void an_arm_falls_on_its_limit(void **s) {
    (void)s;
    carom_model *m = robot(
        ARM "<joint name=\"hinge\" type=\"revolute\"><parent link=\"base-link\"/><child link=\"arm\"/><origin xyz=\"0 "
            "0 2\"/><axis xyz=\"0 2 0\"/><limit lower=\"-1\" upper=\"1.5707963267948966\"/></joint>\n</robot>\n",
        false);
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

#define LINK(name, xyz)                                                                                                \
    "<link name=\"" name "\"><inertial><origin xyz=\"" xyz                                                             \
    "\"/><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n"
#define JOINT(name, type, parent, child, rest)                                                                         \
    "<joint name=\"" name "\" type=\"" type "\"><parent link=\"" parent "\"/><child link=\"" child "\"/>" rest         \
    "</joint>\n"

// Every type of joint, a link without mass between two others, a mimic, damping, friction, a limit that excludes 0.
static void all_joints(void **s) {
    (void)s;
    carom_model *m = robot(
        "<robot name='r'>\n" LINK("a", "0 0 0") LINK("b", "0 0 0") LINK("c", "1 0 0") LINK("d", "0 0 0")
            LINK("e", "0 0 0")
                LINK("f", "0 0 0") "<link name='plate'><collision><origin xyz='0 0 0.5'/><geometry><sphere "
                                   "radius='0.1'/></geometry></collision></link>\n" JOINT(
                                       "slide", "prismatic", "a", "b",
                                       "<origin xyz='1 0 0' rpy='0 0 1.5707963267948966'/><limit lower='0.25' "
                                       "upper='0.5'/><dynamics damping='3' friction='0.5'/>")
                                       JOINT("mount", "fixed", "b", "plate", "<origin xyz='0 0 1'/>")
                                           JOINT("turn", "continuous", "plate", "c", "<axis xyz='0 0 1'/>") JOINT(
                                               "copy", "continuous", "c", "d",
                                               "<axis xyz='0 0 1'/><mimic joint='turn' multiplier='-2' offset='0.5'/>")
                                               JOINT("fly", "floating", "a", "e", "<origin xyz='0 0 7'/>")
                                                   JOINT("glide", "planar", "a", "f",
                                                         "<origin xyz='0 3 0'/><axis xyz='0 0 1'/>") "</robot>\n",
        true);
    assert_close(state(m, "b.x"), 1, 1e-12); // slides along x of a frame turned to y, from its lower limit on
    assert_close(state(m, "b.y"), 0.25, 1e-12);
    assert_close(state(m, "c.x"), 1, 1e-12);
    assert_close(state(m, "c.y"), 1.25, 1e-12);
    assert_close(state(m, "c.z"), 1, 1e-12);
    assert_close(state(m, "e.z"), 7, 1e-12);
    assert_close(2 * acos(state(m, "d.qw")), 0.5 + 1.5707963267948966, 1e-9);
    static const char *const lines[] = {"c1: {sphere: 0.1, at: [0, 0, 1.5]}",
                                        "a_base: {type: weld, between: [ground, a]",
                                        "copy_mimic: {type: gear, joints: [turn, copy], ratio: -2}",
                                        "slide_damping: {joint: slide, damping: 3}",
                                        "slide_lower: {gap: slide.shift - (0)}",
                                        "slide_upper: {gap: 0.25 - slide.shift}",
                                        "slide_friction: {normal force: 0.5, slip: slide.shift, friction: 1}",
                                        "glide: {type: planar, between: [a, f]",
                                        "turn: {type: revolute, between: [b, c]"};
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
    carom_model *arm =
        robot("<robot name='r'>\n" LINK("a", "0 0 0") LINK("b", "0 0 0") LINK("c", "0 0 0")
                  JOINT("hip", "revolute", "a", "b", "<limit lower='-1' upper='1' effort='30' velocity='2'/>")
                      JOINT("knee", "continuous", "b", "c", "<limit effort='5'/>") "</robot>\n",
              true);
    assert_non_null(strstr(notes, "r.urdf:1: limits of velocity are left out: 'hip'\n"));
    assert_non_null(strstr(text, "inputs:\n  hip_effort: 0\n  knee_effort: 0\nmotors:\n  hip_motor: {joint: hip, "
                                 "torque: \"max(min(hip_effort, 30), -30)\"}\n"));
    assert_non_null(strstr(text, "hip_lower: {gap: ")); // those of position are contacts
    carom_model_destroy(arm);
    // The standard: lower and upper are 0 where they are left out.  The joint is locked.
    carom_model *locked = robot("<robot name='r'>\n" LINK("a", "0 0 0") LINK("b", "0 0 0") "\n" JOINT(
                                    "hip", "revolute", "a", "b", "<limit effort='30' velocity='2'/>") "</robot>\n",
                                true);
    assert_non_null(strstr(
        notes, "r.urdf:5: joint 'hip' cannot move: its <limit> has neither lower nor upper, and both are 0 then"));
    assert_non_null(strstr(text, "  hip: {type: weld"));
    carom_model_destroy(locked);
    carom_model *m =
        robot("<robot name='r'>\n<link name='9 lives'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
              "izz='1'/></inertial><visual/>\n"
              "<collision><geometry><mesh filename='package://p/m/arm.dae'/></geometry></collision></link></robot>\n",
              false);
    assert_non_null(
        strstr(notes, "r.urdf:2: the root link '9 lives' has a mass and moves freely; `fixed` welds it to the ground"));
    assert_non_null(strstr(notes, "r.urdf:3: the mesh 'm/arm.dae' is left out: carom reads STL and OBJ files"));
    assert_non_null(strstr(text, "  _9_lives: {mass: 1"));
    carom_model_destroy(m);
}

// Links that are fixed to each other are one body: mass 1 at 0 and mass 3 at 4 have their centre at 3 and the inertia
// m_1 m_2/(m_1 + m_2) 4^2 across, and neither inertia needs to be positive by itself.
static void fixed_links_are_one_body(void **s) {
    (void)s;
#define TWO                                                                                                            \
    "<robot name='r'><link name='w'/>\n<link name='a'><inertial><mass value='1'/><inertia ixx='0' iyy='0' "            \
    "izz='0'/></inertial></link>\n"                                                                                    \
    "<link name='b'><inertial><mass value='3'/><inertia ixx='0.5' iyy='0' "                                            \
    "izz='0'/></inertial><collision><geometry><sphere radius='0.1'/></geometry></collision></link>\n" JOINT(           \
        "turn", "continuous", "w", "a", "")                                                                            \
        JOINT("mount", "fixed", "a", "b", "<origin xyz='4 0 0'/><axis xyz='0 0 0'/>") "</robot>"
    carom_model *m = robot(TWO, false);
    if (!strstr(text, "  a: {mass: 4, inertia: [0.5, 12, 12, 0, 0, 0], at: [3, 0, 0], quaternion: [1, 0, 0, 0],\n    "
                      "shapes: {c1: {sphere: 0.1, at: [1, 0, 0]}}}\n"))
        fail_msg("%s", text);
    assert_null(strstr(text, "mount"));
    carom_model_destroy(m);
    carom_error err = {0};
    // w has no mass, and nothing that is fixed to it has
    assert_int_not_equal(import_as((carom_robot_def){.free = true}, false, TWO, &err), CAROM_OK);
    assert_non_null(strstr(err.text, "link 'w' has no mass; give it an <inertial>, or use `repair`"));
}

// What cannot move is replaced, and the model says so.
static void repairs(void **s) {
    (void)s;
    static const char bad[] =
        "<robot name='r'>\n<link name='base'/>\n<link name='dummy'/>\n<link name='arm'><inertial><mass "
        "value='2'/><inertia ixx='-1' iyy='0.5' izz='0'/></inertial></link>\n" JOINT("one", "continuous", "base",
                                                                                     "dummy", "")
            JOINT("two", "revolute", "dummy", "arm", "<origin xyz='0 0 1'/>") "</robot>";
    carom_error err = {0};
    assert_int_not_equal(import(bad, false, &err), CAROM_OK);
    assert_non_null(strstr(err.text, "joint 'two' has no <limit lower=... upper=.../>; a joint without limits is "
                                     "continuous, and `repair` makes it one"));
    carom_model *m = robot_as((carom_robot_def){.repair = true}, false, bad);
    static const char *const lines[] = {
        "# repaired: no limits, of joint \"two\"\n",
        "# repaired: no mass, 1/1000 of the robot's now, of link \"dummy\"\n",
        ("# repaired: inertia not positive definite, moments below those of a ball of 1 "
         "cm raised to these, of link \"arm\"\n"),
        "arm: {mass: 2, inertia: [8e-05, 0.5, 8e-05, 0, 0, 0]",
        "dummy: {mass: 0.002, inertia: [8e-08, 8e-08, 8e-08, 0, 0, 0]"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
        if (!strstr(text, lines[i])) fail_msg("no \"%s\" in\n%s", lines[i], text);
    assert_non_null(strstr(notes, "r.urdf:4: repaired: inertia not positive definite"));
    carom_model_destroy(m);
}

static void roots(void **s) {
    (void)s;
    static const char fixed[] = "<robot name='r'><link name='foot'/>\n" LINK("trunk", "0 0 0") LINK("arm", "0 0 0")
        JOINT("m", "fixed", "foot", "trunk", "<origin xyz='0 0 1'/>")
            JOINT("turn", "continuous", "trunk", "arm", "") "</robot>";
    carom_model *m = robot(fixed, false); // the trunk is part of the ground
    assert_null(strstr(text, "trunk: {mass"));
    assert_non_null(strstr(text, "turn: {type: revolute, between: [ground, arm], at: [0, 0, 1]"));
    carom_model_destroy(m);
    m = robot_as((carom_robot_def){.free = true, .at = {0, 0, 2}}, false, fixed);
    assert_non_null(strstr(text, "  foot: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], at: [0, 0, 3]"));
    assert_close(state(m, "arm.z"), 3, 1e-15);
    carom_model_destroy(m);
    m = robot_as((carom_robot_def){0}, false,
                 "<robot name='r'>\n" LINK("a", "0 0 0") JOINT("hold", "fixed", "world", "a", "<origin xyz='0 0 5'/>")
                     LINK("b", "0 0 0") JOINT("turn", "continuous", "a", "b", "") "</robot>");
    assert_non_null(strstr(text, "turn: {type: revolute, between: [ground, b], at: [0, 0, 5]"));
    carom_model_destroy(m);
    // A floor that shapes touch; visuals of links without collisions are drawn and touch nothing.
    m = robot_as(
        (carom_robot_def){.floor = true, .at = {0, 0, 1}}, false,
        "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
        "izz='1'/></inertial><collision><geometry><sphere "
        "radius='0.5'/></geometry></collision><collision><geometry><cone/></geometry></collision>"
        "<collision><geometry><box size='1 1 0'/></geometry></collision></link>\n<link name='b'><visual><geometry><box "
        "size='1 2 3'/></geometry></visual></link>" JOINT("m", "fixed", "a", "b", "") "</robot>");
    assert_non_null(strstr(text, "shapes: {c1: {sphere: 0.5, at: [0, 0, 0]}, v1: {box: [1, 2, 3], at: [0, 0, 0]}}"));
    assert_non_null(strstr(text, "on_floor: {friction: 0.8, between: [[a.c1], floor]}"));
    assert_non_null(strstr(notes, "its geometry is not known"));
    assert_non_null(strstr(notes, "its sizes must be positive"));
    carom_sim *sim = model_sim(m, "moreau-jean", NULL, 1e-3, 1);
    model_sim_run(sim);
    if (!(fabs(carom_sim_now(sim).q[2] - 0.5) < 1e-3 * sqrt(2 * 10 * 0.5))) fail_msg("at %g", carom_sim_now(sim).q[2]);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Twenty thousand links in time that grows with their number: ten times as many take about ten times as long.
static double seconds_for(int n) {
    char *urdf = malloc((size_t)n * 300), *p = urdf;
    carom_error err = {0};
    p += sprintf(p, "<robot name='r'>" LINK("b0", "0 0 0"));
    for (int i = 1; i < n; ++i)
        p += sprintf(p,
                     "<link name='b%d'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
                     "izz='1'/></inertial><collision><geometry><sphere radius='1'/></geometry></collision></link>"
                     "<joint name='j%d' type='continuous'><parent link='b%d'/><child link='b%d'/></joint>",
                     i, i, i - 1, i);
    sprintf(p, "</robot>");
    const clock_t begun = clock();
    const carom_robot_def def = {.text = urdf, .length = strlen(urdf), .file = "r.urdf", .gravity = 10};
    assert_int_equal(carom_urdf_write(&def, forget, NULL, &err), CAROM_OK);
    free(urdf);
    return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

// Where others have the processor one of them may take longer: one good measurement of ATTEMPTS is enough.
static void many_links(void **s) {
    (void)s;
    enum { ATTEMPTS = 4 };
    for (int k = 1;; ++k) {
        const double few = seconds_for(2000), many = seconds_for(20000);
        if (many < 40 * few + 0.2) break;
        if (k == ATTEMPTS) fail_msg("2000 links: %g s, 20000: %g s", few, many); // quadratic: 100 times
    }
}

// -- MuJoCo -----------------------------------------------------------------------------------------------------------

#define MJCF(head, world, rest) "<mujoco model='m'>" head "<worldbody>" world "</worldbody>" rest "</mujoco>"

// A pendulum of a capsule (mass by density and shape), and where a default, a class and an own attribute decide.
static void mjcf_bodies(void **s) {
    (void)s;
    carom_model *m = robot_as(
        (carom_robot_def){.at = {0, 0, 1}}, true,
        MJCF(
            "<compiler angle='degree'/><option gravity='0 0 -5' timestep='0.01'/><default><joint damping='2'/><geom "
            "density='500'/><default class='soft'><joint damping='7' stiffness='3'/></default></default>",
            "<geom type='plane' size='1 1 1' friction='0.3 0 0'/><body name='arm' pos='0 0 2' childclass='soft'><joint "
            "name='hip' axis='0 2 0' range='-90 45' ref='0'/><geom type='capsule' fromto='0 0 0 1 0 0' size='0.1'/>"
            "<body name='lamp' pos='1 0 0' euler='0 0 90'><geom name='g' size='0.2' mass='3' contype='0' "
            "conaffinity='0'/><body name='tip' pos='0.5 0 0'><joint name='knee' type='slide' axis='1 0 0' range='0.1 "
            "0.2' damping='1'/>"
            "<inertial pos='0 0 0' mass='2' fullinertia='1 2 3 0.1 0.2 0.3'/></body></body></body>",
            "<actuator><motor name='drive' joint='hip' gear='10' ctrlrange='-1 1'/><position joint='knee' kp='40' "
            "ctrllimited='false'/><cylinder joint='knee'/></actuator><sensor><touch site='x'/></sensor>"));
    const double tube = 500 * 3.14159265358979323846 * 0.01 * 1, ball = 500 * 4 * 3.14159265358979323846 / 3 * 0.001,
                 mass = tube + ball + 3;
    assert_close(atof(strstr(text, "  arm: {mass: ") + strlen("  arm: {mass: ")), mass, 1e-12);
    assert_close(state(m, "arm.x"), ((tube + ball) * 0.5 + 3) / mass, 1e-9);
    assert_close(state(m, "tip.x"), 1, 1e-12); // beyond a quarter turn of the lamp: along y, from its lower limit on
    assert_close(state(m, "tip.y"), 0.6, 1e-12);
    assert_close(state(m, "tip.z"), 3, 1e-12);
    static const char *const lines[] = {
        "gravity: [0, 0, -5]",
        "hip: {type: revolute, between: [ground, arm], at: [0, 0, 3], axis: [0, 1, 0]}",
        "hip_spring: {joint: hip, stiffness: 3, damping: 7}",
        "hip_lower: {gap: hip.angle - (-1.5707963267948966)}",
        "knee_lower: {gap: knee.shift - (0)}",
        "knee_upper: {gap: 0.1 - knee.shift}",
        "arm_c1_on_ground_1: {between: [arm.c1, ground_1], friction: 1}",
        ("inputs:\n  drive: 0\n  knee_control: 0\nmotors:\n"
         "  drive_motor: {joint: hip, torque: \"10*(max(min(drive, 1), -1))\"}\n"
         "  knee_control_motor: {joint: knee, force: \"(40*knee_control + (-40)*(knee.shift + (0.1)))\"}\n"),
        "step: 0.01",
        "#   <cylinder> that drives no hinge or slide (1)\n",
        "#   <touch> of sensor (1)\n",
        "#   contacts between bodies that move (1)\n",
        "v2: {sphere: 0.2"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
        if (!strstr(text, lines[i])) fail_msg("no \"%s\" in\n%s", lines[i], text);
    carom_model_destroy(m);
}

// Robots that begin in the floor stand on it.
static void begins_in_the_floor(void **s) {
    (void)s;
    carom_model *m = robot_as((carom_robot_def){0}, true,
                              MJCF("", "<geom type='plane' size='1 1 1'/><body name='ball' pos='0 0 0.06'><freejoint/>"
                                       "<geom size='0.1'/></body>", ""));
    assert_close(state(m, "ball.z"), 0.1, 1e-9);
    carom_model_destroy(m);
    m = robot_as((carom_robot_def){.floor = true}, false,
                 "<robot name='r'><link name='ball'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>"
                 "</inertial><collision><geometry><sphere radius='0.2'/></geometry></collision></link></robot>");
    assert_close(state(m, "ball.z"), 0.2, 1e-9);
    carom_model_destroy(m);
}

// A body with three joints hangs on helpers; equality constraints; a joint whose range excludes its reference starts at
// the nearest end.
static void mjcf_joints(void **s) {
    (void)s;
    carom_model *m = robot_as(
        (carom_robot_def){0}, true,
        MJCF("<compiler angle='radian'/>",
             "<body name='cart'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 "
             "1'/><joint name='turn' axis='0 1 0'/><geom size='0.1'/></body>"
             "<body name='a' pos='0 5 0'><joint name='p' axis='1 0 0' pos='0 0 1' range='0.5 1'/><geom "
             "size='0.1'/></body><body name='b' pos='0 6 0'><joint name='q' axis='1 0 0'/><geom size='0.1'/></body>"
             "<body name='c' pos='3 0 0'><freejoint/><geom type='box' size='1 2 3'/></body>",
             "<equality><joint joint1='p' joint2='q' polycoef='0 2'/><connect body1='b' body2='c' anchor='0 0 "
             "1'/><weld body1='cart'/><connect body1='world' body2='a' anchor='0 5 1'/></equality>"));
    static const char *const lines[] = {"cart_helper: {mass: ",
                                        "x: {type: prismatic, between: [ground, cart_helper]",
                                        "z: {type: prismatic, between: [cart_helper, cart_helper_",
                                        "turn: {type: revolute, between: [cart_helper_",
                                        "{type: gear, joints: [q, p], ratio: 2}",
                                        "{type: spherical, between: [c, b], at: [0, 6, 1]}",
                                        "{type: weld, between: [ground, cart]",
                                        "{type: spherical, between: [a, ground], at: [0, 5, 1]}",
                                        "c1: {box: [2, 4, 6]",
                                        "p_lower: {gap: p.angle - (0)}",
                                        "p_upper: {gap: 0.5 - p.angle}"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
        if (!strstr(text, lines[i])) fail_msg("no \"%s\" in\n%s", lines[i], text);
    assert_close(state(m, "a.y"), 5 + sin(0.5), 1e-12);
    assert_close(state(m, "a.z"), 1 - cos(0.5), 1e-12);
    carom_model_destroy(m);
}

static const char *included(void *user, const char *given, size_t *length, char *why, size_t size) {
    (void)user;
    static const char part[] =
        "<mujocoinclude>\n<body name='in'><joint/><geom size='0.1'/></body><include file='self.xml'/></mujocoinclude>",
                      self[] = "<mujoco>\n<include file='self.xml'/></mujoco>";
    const char *found = strcmp(given, "part.xml") == 0 ? part : strcmp(given, "self.xml") == 0 ? self : NULL;
    if (!found) return snprintf(why, size, "the file is not found"), NULL;
    *length = strlen(found);
    return found;
}

static void mjcf_mistakes(void **s) {
    (void)s;
    static const char *const wrong[][2] = {
        {"<robot/>", "use carom import urdf"},
        {"<mujoco/>", "no body has a joint"},
        {MJCF("", "<body><joint/></body>", ""),
         "body 'body_1' moves and has no mass; give it an <inertial> or a <geom>, or use `repair`"},
        {MJCF("", "<body><joint/><composite type='rope'/></body>", ""),
         "moves and has no mass (its <composite> has no counterpart); give it"},
        {MJCF("", "<body pos='0.2/2 0 1'><joint/></body>", ""), "must be numbers, got '/2 0 1'"},
        {MJCF("<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0'/></asset>", "<body><joint/><geom mesh='m'/></body>",
              ""),
         "vertex of the mesh 'm' has 9 numbers; expected three for each of at least 4 corners"},
        {MJCF("", "<body><joint name='a'/><geom size='1'/></body>", "<equality><weld body1='none'/></equality>"),
         "an equality names a body that does not exist"},
        {MJCF("", "<body><joint type='screw'/><geom size='1'/></body>", ""), "types are hinge, slide, ball and free"},
        {MJCF("", "<body pos='1 2'><joint/></body>", ""), "pos=\"1 2\" of <body> must be 3 numbers"},
        {MJCF("", "<body><joint axis='0 0 0'/><geom size='1'/></body>", ""), "has no length"},
        {MJCF("", "<body><joint/><geom type='mesh' mesh='m'/></body>", ""), "names the mesh 'm', which is no asset"},
        {MJCF("<compiler eulerseq='abc'/>", "", ""), "eulerseq"},
        {"<mujoco>\n<include file='none.xml'/></mujoco>",
         "r.xml:2: the file 'none.xml' is not included: the file is not found"},
        {MJCF("", "<include file='part.xml'/>", ""), "self.xml:2: files include each other more than 8 deep"},
        {MJCF("", "<body><joint name='a'/><geom size='1'/></body>", "<equality><joint joint1='b'/></equality>"),
         "an equality names a joint that does not exist"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        carom_error err = {0};
        assert_int_not_equal(import_as((carom_robot_def){.include = included}, true, wrong[i][0], &err), CAROM_OK);
        if (!strstr(err.text, wrong[i][1])) fail_msg("\"%s\" instead of \"%s\"", err.text, wrong[i][1]);
    }
    static const char good_one[] =
        MJCF("<default><geom size='1'/></default>", "<body name='a'><joint name='j'/><geom/></body>",
             "<actuator><motor joint='j'/></actuator>");
    char copy[sizeof good_one];
    for (size_t i = 0; i < sizeof good_one - 1; ++i) // damaged anywhere, it is read or refused
        for (int way = 0; way < 3; ++way) {
            carom_error err = {0};
            memcpy(copy, good_one, sizeof copy);
            copy[i] = way == 0 ? 0 : way == 1 ? '<' : '"';
            import_as((carom_robot_def){0}, true, copy, &err);
        }
}

// Names and paths are quoted: they add nothing to the model.
static void names_stay_names(void **s) {
    (void)s;
    carom_error err = {0};
    assert_int_equal(
        import(
            "<robot name='a&quot;\nb: {'>" LINK(
                "l", "0 0 0") "<link name='m'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
                              "<collision><geometry><mesh filename='x y.stl}}}\ncontacts: {q: {gap: l.z}} "
                              "#.stl'/></geometry></collision></link>" JOINT("j", "fixed", "l", "m", "") "</robot>",
            false, &err),
        CAROM_OK);
    assert_non_null(strstr(text, "name: \"a\\\" b: {\"\n"));
    assert_non_null(strstr(text, "hull: \"x y.stl}}} contacts: {q: {gap: l.z}} #.stl\""));
}

// Three thousand links that have one name in carom's letters get numbers, without a search through all of them for
// each.
static void many_names_are_told_apart(void **s) {
    (void)s;
    enum { N = 3000 };
    static const char same[] = "##################################################";
    char *const urdf = malloc(N * 300), *p = urdf;
    const clock_t begun = clock();
    assert_non_null(urdf);
    p += sprintf(p, "<robot name='r'><link name='base'/>");
    for (int i = 2; i < N; ++i)
        p += sprintf(
            p, "<link name='%s%d'/><joint name='%s%d' type='fixed'><parent link='base'/><child link='%s%d'/></joint>",
            same, i, same, i, same, i);
    sprintf(p,
            "<link name='%s'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>" JOINT(
                "j", "continuous", "base", "%s", "") "</robot>",
            same, same);
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
        {"<robot>\n" A "<link name='b'/>" JOINT("j", "continuous", "a", "b", "") "</robot>",
         "r.urdf:3: link 'b' moves with joint 'j' and has no mass"},
        {"<robot>\n" A B JOINT("j", "ball", "a", "b", "") "</robot>",
         "r.urdf:4: joint 'j' has the type 'ball'; types are fixed, revolute"},
        {"<robot>\n" A B JOINT("j", "fixed", "a", "c", "") "</robot>",
         "joint 'j' names the child link 'c', which does not exist"},
        {"<robot>\n" A B JOINT("j", "revolute", "a", "b", "") "</robot>",
         "joint 'j' has no <limit lower=... upper=.../>"},
        {"<robot>\n" A B JOINT("j", "revolute", "a", "b", "<limit lower='2' upper='1'/>") "</robot>",
         "lower must not exceed upper"},
        {"<robot>\n" A B JOINT("j", "continuous", "a", "b", "<axis xyz='0 0 0'/>") "</robot>",
         "the axis of joint 'j' has no length"},
        {"<robot>\n" A B JOINT("j", "continuous", "a", "b", "<axis xyz='1e200 0 0'/>") "</robot>",
         "the axis of joint 'j' has no length, or none that can be computed"},
        {"<robot name='\x01'/>", "r.urdf:1:14: a control character"},
        {"<robot name='\xff'/>", "r.urdf:1:14: this byte is not UTF-8 text"},
        {"<robot>\n" A B JOINT("j", "continuous", "a", "b", "<axis xyz='0 0'/>") "</robot>",
         "xyz=\"0 0\" of <axis> must be 3 numbers"},
        {"<robot>\n" A B JOINT("j", "fixed", "a", "b", "") JOINT("k", "fixed", "b", "a", "") "</robot>",
         "the joints form a circle"},
        {"<robot>\n" A B "</robot>", "links 'a' and 'b' both have no parent"},
        {"<robot>\n" A B JOINT("j", "continuous", "a", "b", "<mimic joint='x'/>") "</robot>",
         "joint 'j' mimics 'x', which does not exist"},
        {"<robot>\n<link name='a'><inertial><mass value='1'/></inertial></link></robot>",
         "link 'a' has a mass and no <inertia"},
        {"<robot>\n<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='-1' "
         "izz='1'/></inertial></link></robot>",
         "the inertia of link 'a' is not positive definite"},
        {"<robot xmlns:xacro='x'>\n<xacro:property name='a' value='1'/>" A "</robot>",
         "r.urdf:2: this is a xacro file: <xacro:property> is not expanded; run  xacro r.urdf >robot.urdf"},
        {"<robot>\n<link name='${prefix}a'/></robot>", "r.urdf:2: this is a xacro file: <link> is not expanded"},
        {"<mujoco/>", "use carom import mjcf"},
        {"<robot>\n<link name='a'/></robot>", "no link moves, so there is nothing to simulate; `free`"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        carom_error err = {0};
        assert_int_not_equal(import(wrong[i][0], false, &err), CAROM_OK);
        if (!strstr(err.text, wrong[i][1])) fail_msg("\"%s\" instead of \"%s\"", err.text, wrong[i][1]);
    }
}

// Cut off and changed anywhere, a file is read or refused.
static void damaged(void **s) {
    (void)s;
    static const char good_one[] = ARM "<joint name='h' type='continuous'><parent link='base-link'/><child "
                                       "link='arm'/><mimic joint='h'/></joint></robot>";
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_arm_falls_on_its_limit),
                                       cmocka_unit_test(all_joints),
                                       cmocka_unit_test(what_is_left_out),
                                       cmocka_unit_test(names_stay_names),
                                       cmocka_unit_test(fixed_links_are_one_body),
                                       cmocka_unit_test(repairs),
                                       cmocka_unit_test(roots),
                                       cmocka_unit_test(many_links),
                                       cmocka_unit_test(mjcf_bodies),
                                       cmocka_unit_test(begins_in_the_floor),
                                       cmocka_unit_test(mjcf_joints),
                                       cmocka_unit_test(mjcf_mistakes),
                                       cmocka_unit_test(many_names_are_told_apart),
                                       cmocka_unit_test(mistakes),
                                       cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
