// test_thresholds.c: where a body on a slope starts to slide: one contact within 1e-9 of the angle of friction, boxes
// on contacts that share their weight in many ways within 1e-6, from a millimetre to a kilometre.
#include "frictional.h"
#include "model_text.h"

enum { COUNT = sizeof FRICTION / sizeof *FRICTION - 1, STEPS = 25 };
static const double SIZES[] = {1e-3, 1, 1e3}, GRAVITY = 9.81;

typedef struct body { const char *shape, *slope; bool spatial, box; } body;
static const body POINT = {"{point: [0, 0, 0]}", "{plane: [0, 0, 1]}", true, false};
static const body PLANAR = {"{box: [L, L]}", "{plane: [0, 1]}", false, true},
                  PLANAR_ON_BOX = {"{box: [L, L]}", "{box: [20*L, 2*L], at: [0, -L]}", false, true};
static const body SPATIAL = {"{box: [L, L, L]}", "{plane: [0, 0, 1]}", true, true},
                  SPATIAL_ON_BOX = {"{box: [L, L, L]}", "{box: [20*L, 20*L, 2*L], at: [0, 0, -L]}", true, true};

// The slope is turned: gravity leans by `angle` against its normal.  The body starts at rest, `in` of its size inside.
static carom_model *on_slope(body B, double L, double angle, double mu, double in) {
    char text[800];
    const double height = (B.box ? 0.5 : 0) - in;
    if (B.spatial)
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {L: %.17g, al: %.17g, mu: %.17g}\ngravity: [9.81*sin(al), 0, "
                 "-9.81*cos(al)]\nbodies:\n"
                 "  b: {mass: 2, inertia: [L^2/3, L^2/3, L^2/3], at: [0.1*L, 0.2*L, L*%.17g], axis: [0, 0, 1], angle: "
                 "0.3, shape: %s}\n"
                 "shapes: {slope: %s}\ncontacts: {c: {between: [b, slope], friction: mu}}\n",
                 L, angle, mu, height, B.shape, B.slope);
    else
        snprintf(
            text, sizeof text,
            "carom: 1\nparameters: {L: %.17g, al: %.17g, mu: %.17g}\ngravity: [9.81*sin(al), -9.81*cos(al)]\nbodies:\n"
            "  b: {mass: 2, inertia: L^2/3, at: [0.1*L, L*%.17g], shape: %s}\n"
            "shapes: {slope: %s}\ncontacts: {c: {between: [b, slope], friction: mu}}\n",
            L, angle, mu, height, B.shape, B.slope);
    return good(text);
}

// With mu = tan(angle) (1 + excess) it sticks, or slides with g sin(angle) |excess| t downhill, not across and without
// turning.  Contact problems are solved to 1e-12 of h g; for an excess of 1e-9 at sin(0.5) that may make 1/480 of the
// speed, in all steps alike.  event-driven keeps the direction in which slip begins: the rounding of accelerations, eps
// g, is an angle eps/excess of it, by which friction is turned too: eps/excess^2 of the speed, 2e-4 for boxes (EV-26).
static void holds_or_slides(body B, double excess, double L, double angle, double in, const char *scheme, double h) {
    carom_model *m = on_slope(B, L, angle, tan(angle) * (1 + excess), in);
    carom_sim *sim = model_sim(m, scheme, NULL, h, STEPS * h);
    model_sim_run(sim);
    const double *v = carom_sim_now(sim).v;
    const double unit = GRAVITY * sin(angle) * fabs(excess) * STEPS * h, expected = excess < 0 ? unit : 0;
    const double across = B.spatial ? hypot(v[1], v[2]) : fabs(v[1]),
                 spin = L * (B.spatial ? hypot(v[3], hypot(v[4], v[5])) : fabs(v[2]));
    if (!(fabs(v[0] - expected) < 5e-3 * unit && across < 5e-3 * unit && (!B.box || spin < 1e-2 * unit)))
        fail_msg(
            "%s, step %g, %s on %s, L = %g, angle %g, start %g inside: slides at %g instead of %g; across %g, turns %g",
            scheme, h, B.shape, B.slope, L, angle, in, v[0], expected, across, spin);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void every_scheme(body B, double excess, double angle, double in) {
    for (int i = 0; i < COUNT; ++i)
        for (int k = 0; k < 3; ++k) {
            holds_or_slides(B, excess, SIZES[k], angle, in, FRICTION[i], 1e-3);
            holds_or_slides(B, -excess, SIZES[k], angle, in, FRICTION[i], 1e-3);
        }
}

static void a_single_contact_starts_to_slide_at_the_angle_of_friction(void **state) {
    (void)state;
    every_scheme(POINT, 1e-9, 0.5, 1e-12);
}

static void a_box_in_the_plane_on_two_contacts_does_so_too(void **state) {
    (void)state;
    every_scheme(PLANAR, 1e-6, 0.5, 1e-12);
}

static void a_box_in_space_on_four_dependent_contacts_does_so_too(void **state) {
    (void)state;
    every_scheme(SPATIAL, 1e-6, 0.5, 1e-12);
}

// Gaps that are zero but for rounding are closed, all of them or none.
static void boxes_that_start_on_the_slope_exactly_do_so_too(void **state) {
    (void)state;
    every_scheme(PLANAR, 1e-6, 0.2, 0);
    every_scheme(SPATIAL, 1e-6, 0.2, 0);
}

static void long_and_short_steps_and_slopes_that_are_boxes_change_nothing(void **state) {
    (void)state;
    for (int i = 0; i < COUNT; ++i)
        for (int side = -1; side <= 1; side += 2) {
            if (strcmp(FRICTION[i], "event-driven") == 0) continue; // steps are only records there
            holds_or_slides(SPATIAL, side * 1e-6, 1, 0.5, 0, FRICTION[i], 1e-5);
            holds_or_slides(SPATIAL, side * 1e-6, 1, 0.5, 0, FRICTION[i], 1e-2);
            holds_or_slides(PLANAR_ON_BOX, side * 1e-6, 1, 0.5, 0, FRICTION[i], 1e-3);
            holds_or_slides(SPATIAL_ON_BOX, side * 1e-6, 1, 0.5, 0, FRICTION[i], 1e-3);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_contact_starts_to_slide_at_the_angle_of_friction),
        cmocka_unit_test(a_box_in_the_plane_on_two_contacts_does_so_too),
        cmocka_unit_test(a_box_in_space_on_four_dependent_contacts_does_so_too),
        cmocka_unit_test(boxes_that_start_on_the_slope_exactly_do_so_too),
        cmocka_unit_test(long_and_short_steps_and_slopes_that_are_boxes_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
