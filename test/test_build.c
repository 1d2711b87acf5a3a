// test_build.c: mechanisms from C calls are those of model files, to the bit; mistakes name their element.
#include "model_text.h"

static carom_model *finish(carom_build *b) {
    carom_error err = {0};
    carom_model *m = carom_build_model(b, &err);
    if (!m) fail_msg("%s\n%s", err.text, carom_build_text(b) ? carom_build_text(b) : "");
    carom_build_destroy(b);
    return m;
}

// The same sizes, names, start and, after some steps, state.
static void check_same(carom_model *built, carom_model *written, const char *scheme, double h, int steps) {
    const carom_model_sizes a = carom_model_count(built), c = carom_model_count(written);
    assert_int_equal(a.coordinates, c.coordinates);
    assert_int_equal(a.velocities, c.velocities);
    assert_int_equal(a.constraints, c.constraints);
    assert_int_equal(a.contacts, c.contacts);
    assert_string_equal(carom_model_name(built), carom_model_name(written));
    for (int i = 0; i < a.coordinates; ++i)
        assert_string_equal(carom_model_coordinate(built, i), carom_model_coordinate(written, i));
    for (int i = 0; i < a.constraints + a.contacts; ++i)
        assert_string_equal(carom_model_constraint(built, i), carom_model_constraint(written, i));
    const carom_model *const both[] = {built, written};
    carom_sim *sim[2];
    for (int k = 0; k < 2; ++k) {
        carom_error err = {0};
        carom_sim_def d = sim_def(both[k], scheme, NULL, h, steps * h);
        sim[k] = carom_sim_create(&d, &err);
        if (!sim[k] || carom_sim_run(sim[k], NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    }
    assert_memory_equal(carom_sim_now(sim[0]).q, carom_sim_now(sim[1]).q, (size_t)a.coordinates * sizeof(double));
    assert_memory_equal(carom_sim_now(sim[0]).v, carom_sim_now(sim[1]).v, (size_t)a.velocities * sizeof(double));
    for (int k = 0; k < 2; ++k) carom_sim_destroy(sim[k]);
    carom_model_destroy(built);
    carom_model_destroy(written);
}

static void slider_crank_is_that_of_the_file(void **state) {
    (void)state;
    const double l1 = 0.153, l2 = 0.306, spin = 150;
    const carom_body ground = {0};
    carom_build *b = carom_build_create("Slider-crank from bodies and joints");
    carom_build_gravity(b, 0, -9.81, 0);
    const carom_body crank = carom_build_planar(
        b, &(carom_planar_def){.name = "crank", .mass = 0.038, .inertia = 7.4e-5, .at = {l1 / 2, 0}, .spin = &spin});
    const carom_body rod = carom_build_planar(
        b, &(carom_planar_def){.name = "rod", .mass = 0.038, .inertia = 5.9e-4, .at = {l1 + l2 / 2, 0}});
    const carom_body slider = carom_build_planar(
        b, &(carom_planar_def){.name = "slider", .mass = 0.076, .inertia = 2.7e-6, .at = {l1 + l2, 0}});
    carom_build_joint(
        b, &(carom_joint_def){.name = "main", .type = "revolute", .between = {ground, crank}, .at = (double[]){0, 0}});
    carom_build_joint(
        b, &(carom_joint_def){.name = "big", .type = "revolute", .between = {crank, rod}, .at = (double[]){l1, 0}});
    carom_build_joint(b,
                      &(carom_joint_def){
                          .name = "small", .type = "revolute", .between = {rod, slider}, .at = (double[]){l1 + l2, 0}});
    carom_build_joint(b, &(carom_joint_def){.name = "guide",
                                            .type = "prismatic",
                                            .between = {ground, slider},
                                            .at = (double[]){0, 0},
                                            .axis = (double[]){1, 0}});
    carom_build_entry(b, "outputs", "turn", "main.angle");
    carom_build_entry(b, "outputs", "stroke", "guide.shift");
    check_same(finish(b), shipped_model("slider-crank-bodies"), "ggl-midpoint", 1e-5, 50);
}

static void spatial_four_bar_is_that_of_the_file(void **state) {
    (void)state;
    const double c = cos(0.35), s = sin(0.35), r = 1 / sqrt(0.09 + 1 + 1);
    const carom_body ground = {0};
    carom_build *b = carom_build_create("Spatial four-bar");
    carom_build_gravity(b, 0, 0, -9.81);
    const carom_body crank = carom_build_spatial(b, &(carom_spatial_def){.name = "crank",
                                                                         .mass = 0.5,
                                                                         .inertia = {1e-4, 6e-4, 6e-4},
                                                                         .at = {0.05, 0, 0},
                                                                         .spin = (double[]){0, 0, 12}});
    const carom_body coupler =
        carom_build_spatial(b, &(carom_spatial_def){.name = "coupler",
                                                    .mass = 0.8,
                                                    .inertia = {3e-4, 8e-3, 8e-3},
                                                    .at = {0.2, 0.1, 0.1},
                                                    .quaternion = {c, s * 0.3 * r, -s * r, s * r}});
    const carom_body rocker = carom_build_spatial(
        b, &(carom_spatial_def){.name = "rocker", .mass = 0.6, .inertia = {3e-3, 2e-4, 3e-3}, .at = {0.3, 0.2, 0.1}});
    carom_build_joint(b, &(carom_joint_def){.name = "main",
                                            .type = "revolute",
                                            .between = {ground, crank},
                                            .at = (double[]){0, 0, 0},
                                            .axis = (double[]){0, 0, 1}});
    carom_build_joint(
        b, &(carom_joint_def){
               .name = "ball", .type = "spherical", .between = {crank, coupler}, .at = (double[]){0.1, 0, 0}});
    carom_build_joint(b, &(carom_joint_def){.name = "cross",
                                            .type = "universal",
                                            .between = {coupler, rocker},
                                            .at = (double[]){0.3, 0.2, 0.2},
                                            .axis = (double[]){0.5, -0.5, 0},
                                            .second_axis = (double[]){1, 1, 0}});
    carom_build_joint(b, &(carom_joint_def){.name = "swing",
                                            .type = "revolute",
                                            .between = {ground, rocker},
                                            .at = (double[]){0.3, 0.2, 0},
                                            .axis = (double[]){0, 1, 0}});
    carom_model *m = finish(b), *file = shipped_model("four-bar");
    for (int i = 0; i < 21; ++i) // the file gives an axis and an angle, and its outputs bring two more positions
        if (fabs(carom_model_q0(m)[i] - carom_model_q0(file)[i]) > 1e-15)
            fail_msg("%s: %.17g", carom_model_coordinate(m, i), carom_model_q0(m)[i]);
    for (int i = 0; i < 18; ++i) // completed from the joints
        if (fabs(carom_model_v0(m)[i] - carom_model_v0(file)[i]) > 1e-12 * 12)
            fail_msg("%s: %.17g", carom_model_velocity(m, i), carom_model_v0(m)[i]);
    carom_model_destroy(m);
    carom_model_destroy(file);
}

// Every kind of element, in the plane and in space.
static void elements_are_those_of_the_file(void **state) {
    (void)state;
    const carom_body ground = {0};
    carom_build *b = carom_build_create("All \"planar\" things");
    carom_build_parameter(b, "k", 20);
    const carom_body table = carom_build_moving(
        b, &(carom_moving_def){.name = "table", .at = {"0", "0.01*sin(5*t)"}, .angle = "0.1*min(t, 1)"});
    const carom_body arm = carom_build_planar(
        b,
        &(carom_planar_def){
            .name = "arm", .mass = 1, .inertia = 0.01, .at = {0.2, 0.5}, .angle = 0.3, .velocity = (double[]){0.5, 0}});
    const carom_body block =
        carom_build_planar(b, &(carom_planar_def){.name = "block", .mass = 2, .inertia = 0.02, .at = {-0.4, 0.5}});
    carom_build_point(b, arm, "tip", (double[]){0.2, 0});
    carom_build_point(b, arm, "tail", (double[]){-0.2, 0});
    const double length = 0.3;
    carom_build_joint(b, &(carom_joint_def){.name = "link",
                                            .type = "distance",
                                            .between = {arm, block},
                                            .points = {(double[]){-0.2, 0}, (double[]){0, 0}}});
    const carom_joint slide = carom_build_joint(b, &(carom_joint_def){.name = "slide",
                                                                      .type = "prismatic",
                                                                      .between = {table, block},
                                                                      .at = (double[]){0, 0.5},
                                                                      .axis = (double[]){1, 0}});
    carom_build_spring(b, &(carom_spring_def){.name = "strut",
                                              .between = {ground, arm},
                                              .points = {(double[]){0, 1}, (double[]){0.2, 0}},
                                              .stiffness = 30,
                                              .damping = 1,
                                              .length = &length});
    carom_build_spring(b, &(carom_spring_def){.name = "back", .joint = slide, .stiffness = 10, .rest = 0.1});
    carom_build_bushing(b, &(carom_bushing_def){.name = "mount",
                                                .between = {ground, arm},
                                                .at = (double[]){0.2, 0.5},
                                                .stiffness = {5, 6},
                                                .damping = {0.1, 0.2},
                                                .torsion = {0, 0, 3}});
    carom_build_motor(b, &(carom_motor_def){.name = "push", .joint = slide, .force = "k*sin(t) - slide.shift'"});
    carom_build_load(b, &(carom_load_def){.name = "wind",
                                          .on = arm,
                                          .point = (double[]){0.1, 0},
                                          .force = {"max(t, 0.1)", NULL},
                                          .torque = {[2] = "0.01"},
                                          .turns = true});
    const carom_solid ball = carom_build_solid(
        b, arm, &(carom_solid_def){.name = "ball", .type = "circle", .size = {0.05}, .at = (double[]){0.2, 0}});
    const carom_solid hat = carom_build_solid(
        b, arm,
        &(carom_solid_def){
            .name = "hat", .type = "polygon", .corners = (double[]){0, 0, 0.1, 0, 0, 0.1}, .ncorners = 3});
    const carom_solid brick = carom_build_solid(b, block, &(carom_solid_def){.type = "box", .size = {0.2, 0.1}});
    const carom_solid floor = carom_build_solid(
        b, ground, &(carom_solid_def){.name = "floor", .type = "plane", .size = {0, 1}, .at = (double[]){0, 0.35}});
    carom_build_contact(
        b, &(carom_contact_def){.name = "one", .between = {ball, floor}, .restitution = 0.5, .friction = 0.2});
    carom_build_contact(b, &(carom_contact_def){.name = "two", .between = {hat, brick}});
    carom_build_entry(b, "contacts", "three", "{gap: block.y, restitution: 0.1}");
    carom_build_gravity(b, 0, -9.81, 0);
    check_same(
        finish(b),
        good("carom: 1\n"
             "name: All \"planar\" things\n"
             "parameters: {k: 20}\n"
             "gravity: [0, -9.81]\n"
             "bodies:\n"
             "  table: {motion: {at: [0, 0.01*sin(5*t)], angle: \"0.1*min(t, 1)\"}}\n"
             "  arm: {mass: 1, inertia: 0.01, at: [0.2, 0.5], angle: 0.3, velocity: [0.5, 0], points: {tip: [0.2, 0], "
             "tail: [-0.2, 0]},\n"
             "        shapes: {ball: {circle: 0.05, at: [0.2, 0]}, hat: {polygon: [[0, 0], [0.1, 0], [0, 0.1]]}}}\n"
             "  block: {mass: 2, inertia: 0.02, at: [-0.4, 0.5], shape: {box: [0.2, 0.1]}}\n"
             "shapes: {floor: {plane: [0, 1], at: [0, 0.35]}}\n"
             "joints:\n"
             "  link: {type: distance, between: [arm, block], points: [tail, [0, 0]]}\n"
             "  slide: {type: prismatic, between: [table, block], at: [0, 0.5], axis: [1, 0]}\n"
             "springs:\n"
             "  strut: {between: [ground, arm], points: [[0, 1], tip], stiffness: 30, damping: 1, length: 0.3}\n"
             "  back: {joint: slide, stiffness: 10, rest: 0.1}\n"
             "  mount: {type: bushing, between: [ground, arm], at: [0.2, 0.5], stiffness: [5, 6], damping: [0.1, 0.2], "
             "torsion: 3}\n"
             "motors: {push: {joint: slide, force: k*sin(t) - slide.shift'}}\n"
             "loads: {wind: {on: arm, point: [0.1, 0], force: [\"max(t, 0.1)\", 0], torque: 0.01, frame: body}}\n"
             "contacts:\n"
             "  one: {between: [arm.ball, floor], restitution: 0.5, friction: 0.2}\n"
             "  two: {between: [arm.hat, block]}\n"
             "  three: {gap: block.y, restitution: 0.1}\n"),
        "moreau-jean", 1e-3, 300);

    b = carom_build_create("spatial");
    const carom_body post = carom_build_spatial(
        b, &(carom_spatial_def){
               .name = "post", .mass = 1, .inertia = {1, 2, 3, 0.1, 0.2, 0.3}, .velocity = (double[]){1, 2, 3}});
    const carom_body drum = carom_build_moving(
        b, &(carom_moving_def){.name = "drum", .at = {"0", "0", "t"}, .axis = (double[]){0, 1, 0}, .angle = "2*t"});
    const carom_body wheel =
        carom_build_spatial(b, &(carom_spatial_def){.name = "wheel", .mass = 1, .inertia = {1, 1, 1}, .at = {1, 0, 0}});
    const carom_joint axle =
        carom_build_joint(b, &(carom_joint_def){.name = "axle",
                                                .type = "revolute",
                                                .between = {post, wheel},
                                                .points = {(double[]){1, 0, 0}, (double[]){0, 0, 0}},
                                                .axes = {(double[]){0, 0, 1}, (double[]){0, 0, 1}}});
    const carom_body nut =
        carom_build_spatial(b, &(carom_spatial_def){.name = "nut", .mass = 1, .inertia = {1, 1, 1}, .at = {0, 2, 0}});
    const carom_joint thread = carom_build_joint(b, &(carom_joint_def){.name = "thread",
                                                                       .type = "screw",
                                                                       .between = {post, nut},
                                                                       .at = (double[]){0, 2, 0},
                                                                       .axis = (double[]){0, 1, 0},
                                                                       .pitch = 0.01});
    carom_build_joint(b, &(carom_joint_def){.name = "belt", .type = "gear", .joints = {axle, thread}, .ratio = -2});
    carom_build_bushing(b, &(carom_bushing_def){.name = "rubber",
                                                .between = {drum, post},
                                                .at = (double[]){0, 0, 0},
                                                .stiffness = {1, 2, 3},
                                                .torsion = {4, 5, 6},
                                                .torsion_damping = {0.1, 0.1, 0.1}});
    carom_build_load(b, &(carom_load_def){.name = "jet", .on = wheel, .torque = {"0", "0", "sin(t)"}});
    check_same(finish(b),
               good("carom: 1\n"
                    "name: spatial\n"
                    "bodies:\n"
                    "  post: {mass: 1, inertia: [1, 2, 3, 0.1, 0.2, 0.3], velocity: [1, 2, 3]}\n"
                    "  drum: {motion: {at: [0, 0, t], axis: [0, 1, 0], angle: 2*t}}\n"
                    "  wheel: {mass: 1, inertia: [1, 1, 1], at: [1, 0, 0]}\n"
                    "  nut: {mass: 1, inertia: [1, 1, 1], at: [0, 2, 0]}\n"
                    "joints:\n"
                    "  axle: {type: revolute, between: [post, wheel], points: [[1, 0, 0], [0, 0, 0]], axes: [[0, 0, "
                    "1], [0, 0, 1]]}\n"
                    "  thread: {type: screw, between: [post, nut], at: [0, 2, 0], axis: [0, 1, 0], pitch: 0.01}\n"
                    "  belt: {type: gear, joints: [axle, thread], ratio: -2}\n"
                    "springs: {rubber: {type: bushing, between: [drum, post], at: [0, 0, 0], stiffness: [1, 2, 3], "
                    "torsion: [4, 5, 6], torsion damping: 0.1}}\n"
                    "loads: {jet: {on: wheel, torque: [0, 0, sin(t)]}}\n"),
               "half-explicit", 1e-3, 100);
}

static void fails(carom_build *b, const char *expected) {
    carom_error err = {0};
    carom_model *m = carom_build_model(b, &err);
    if (m) fail_msg("made a model; expected '%s'", expected);
    if (!strstr(err.text, expected)) fail_msg("'%s' is not in '%s'", expected, err.text);
    carom_build_destroy(b);
}

static carom_build *with_body(carom_body *body) {
    carom_build *b = carom_build_create("wrong");
    *body = carom_build_planar(b, &(carom_planar_def){.name = "crank", .mass = 1, .inertia = 1});
    return b;
}

static void mistakes_name_their_element(void **state) {
    (void)state;
    carom_body body;
    const carom_body ground = {0}, stranger = {9};
    carom_build *b = with_body(&body);
    carom_build_joint(
        b, &(carom_joint_def){.name = "main", .type = "revolut", .between = {ground, body}, .at = (double[]){0, 0}});
    fails(b, "joints.main: ");
    b = with_body(&body);
    carom_build_joint(
        b,
        &(carom_joint_def){.name = "main", .type = "revolute", .between = {ground, stranger}, .at = (double[]){0, 0}});
    fails(b, "joints.main: a body that this builder does not have");
    b = with_body(&body);
    carom_build_motor(b, &(carom_motor_def){.name = "drive", .torque = "1"});
    fails(b, "motors.drive: a joint that this builder does not have");
    b = with_body(&body);
    carom_build_load(b, &(carom_load_def){.name = "push", .on = body, .force = {"omga*t", "0"}});
    fails(b, "loads.push: unknown name 'omga'");
    b = with_body(&body);
    carom_build_planar(b, &(carom_planar_def){.name = "crank", .mass = 1, .inertia = 1});
    fails(b, "bodies.crank: already exists");
    b = with_body(&body);
    carom_build_planar(b, &(carom_planar_def){.name = "rod", .mass = -1, .inertia = 1});
    fails(b, "bodies.rod: ");
    b = with_body(&body);
    carom_build_planar(b, &(carom_planar_def){.name = "rod", .mass = NAN, .inertia = 1});
    fails(b, "bodies.rod: holds a number that is not finite");
    b = with_body(&body);
    carom_build_planar(b, &(carom_planar_def){.mass = 1, .inertia = 1});
    fails(b, "without a name");
    b = with_body(&body);
    carom_build_solid(b, body, &(carom_solid_def){.type = "circle", .size = {1}});
    carom_build_solid(b, body, &(carom_solid_def){.name = "tip", .type = "circle", .size = {1}});
    fails(b, "bodies.crank: has several shapes");
    b = with_body(&body);
    carom_build_entry(b, "outputs", "x", "crank.x\n  y: 3");
    fails(b, "outputs.x: a text of several lines");
    b = with_body(&body);
    carom_build_entry(b, "outputs", "x", "{");
    fails(b, "outputs.x");
    b = with_body(&body);
    carom_build_entry(b, "outptus", "x", "crank.x");
    fails(b, "outptus");
    b = with_body(&body);
    carom_build_planar(b, &(carom_planar_def){.name = "a: {b\\\"", .mass = 1, .inertia = 1});
    fails(b, "bodies.a: {b");
    b = with_body(&body);
    carom_build_point(b, stranger, "tip", (double[]){0, 0});
    fails(b, "a point of a body that it does not have");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slider_crank_is_that_of_the_file),
        cmocka_unit_test(spatial_four_bar_is_that_of_the_file),
        cmocka_unit_test(elements_are_those_of_the_file),
        cmocka_unit_test(mistakes_name_their_element),
    };
    return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
