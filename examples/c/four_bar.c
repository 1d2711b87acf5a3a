// four_bar.c: a mechanism from C calls: bodies, joints, a spring, a motor, a stop; run, and what the ledger says.
//
// A planar four-bar: a motor turns the crank, the rocker is held back by a spring and hits a stop.
//
//     cc four_bar.c $(pkg-config --cflags --libs carom) -lm && ./a.out
#include <carom/build.h>
#include <carom/carom.h>
#include <math.h>
#include <stdio.h>

// A thin rod from one point to another, pinned at nothing yet.
static carom_body rod(carom_build *b, const char *name, double x, double y, double X, double Y) {
    const double mass = 0.3, length = hypot(X - x, Y - y);
    return carom_build_planar(b, &(carom_planar_def){.name = name,
                                                     .mass = mass,
                                                     .inertia = mass * length * length / 12,
                                                     .at = {0.5 * (x + X), 0.5 * (y + Y)},
                                                     .angle = atan2(Y - y, X - x)});
}

static carom_joint pin(carom_build *b, const char *name, carom_body one, carom_body two, double x, double y) {
    return carom_build_joint(
        b, &(carom_joint_def){.name = name, .type = "revolute", .between = {one, two}, .at = (double[]){x, y}});
}

int main(void) {
    const carom_body ground = {0};
    carom_build *b = carom_build_create("Four-bar with a stop");
    carom_build_gravity(b, 0, -9.81, 0);
    const carom_body crank = rod(b, "crank", 0, 0, 0, 0.1), coupler = rod(b, "coupler", 0, 0.1, 0.3, 0.25),
                     rocker = rod(b, "rocker", 0.3, 0.25, 0.3, 0);
    const carom_joint main_pin = pin(b, "main", ground, crank, 0, 0);
    pin(b, "front", crank, coupler, 0, 0.1);
    pin(b, "back", coupler, rocker, 0.3, 0.25);
    const carom_joint swing = pin(b, "swing", ground, rocker, 0.3, 0);
    carom_build_motor(b, &(carom_motor_def){.name = "drive", .joint = main_pin, .torque = "0.8 - 0.02*main.angle'"});
    carom_build_spring(b, &(carom_spring_def){.name = "return", .joint = swing, .stiffness = 0.5, .damping = 0.002});

    // The middle of the rocker against a stop that stands upright at x = 0.33, solid on its right.
    const carom_solid knob = carom_build_solid(b, rocker, &(carom_solid_def){.type = "circle", .size = {0.01}});
    const carom_solid stop = carom_build_solid(
        b, ground, &(carom_solid_def){.name = "stop", .type = "plane", .size = {-1, 0}, .at = (double[]){0.33, 0}});
    carom_build_contact(
        b, &(carom_contact_def){.name = "bump", .between = {knob, stop}, .restitution = 0.6, .friction = 0.1});
    carom_build_entry(b, "outputs", "turn", "main.angle");

    carom_error err;
    carom_model *model = carom_build_model(b, &err);
    if (!model) return fprintf(stderr, "%s\n", err.text), 1;
    carom_sim_def def = carom_sim_default();
    def.system = carom_model_system(model);
    def.scheme = "half-explicit";
    def.q0 = carom_model_q0(model);
    def.v0 = carom_model_v0(model);
    def.h = 1e-4;
    def.t_end = 1;
    carom_sim *sim = carom_sim_create(&def, &err);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) return fprintf(stderr, "%s\n", err.text), 1;
    carom_ledger *ledger = carom_ledger_of_sim(sim, &err);
    if (!ledger) return fprintf(stderr, "%s\n", err.text), 1;
    double out[32] = {0}; // outputs, those that are written first, then coordinates of joints
    if (carom_model_count(model).outputs > 32) return 1;
    const carom_now now = carom_sim_now(sim);
    carom_model_outputs(model, carom_sim_work(sim), now.t, now.q, now.v, out);
    printf("%.2f turns, %g impacts, %.3f J lost in them, %.3f J from the motor\n", out[0] / (2 * acos(-1)),
           carom_ledger_number(ledger, "impacts"), carom_ledger_number(ledger, "energy.impact"),
           carom_ledger_number(ledger, "energy.external"));
    const bool sound = carom_ledger_number(ledger, "impacts") > 0 &&
                       fabs(carom_ledger_number(ledger, "energy.balance")) < 1e-2 &&
                       carom_ledger_number(ledger, "drift") < 1e-4;
    carom_ledger_free(ledger);
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_build_destroy(b);
    return sound ? 0 : 1;
}
