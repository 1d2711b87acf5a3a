// test_system.c: an incomplete or senseless system is refused with a sentence that says why.
#include "schemes.h"
#include "system/system.h"

static void refused(const carom_system *sys, const char *because) {
    carom_error err = {0};
    if (carom_system_check(sys, &err) != CAROM_BAD_INPUT) fail_msg("taken, although: %s", because);
    if (!strstr(err.text, because)) fail_msg("'%s' does not say '%s'", err.text, because);
}

static void complete_systems_are_taken(void **state) {
    (void)state;
    known k;
    carom_error err = {0};
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    assert_int_equal(carom_system_check(&k.sys, &err), CAROM_OK);
    known_double_pendulum(&k);
    assert_int_equal(carom_system_check(&k.sys, &err), CAROM_OK);
    known_pendulum(&k, 0.1);
    assert_int_equal(carom_system_check(&k.sys, &err), CAROM_OK);
}

#define REFUSED(change, because)                                                                                       \
    do {                                                                                                               \
        known k;                                                                                                       \
        known_slope(&k, 1, 0.1, 0.5);                                                                                  \
        change;                                                                                                        \
        refused(&k.sys, because);                                                                                      \
    } while (0)

static void what_is_missing_or_wrong_is_said(void **state) {
    (void)state;
    REFUSED(k.sys.nv = 0, "at least one coordinate");
    REFUSED(k.sys.nc = -1, "cannot be negative");
    REFUSED(k.sys.mass = NULL, "mass and force");
    REFUSED(k.sys.force = NULL, "mass and force");
    REFUSED(k.sys.gaps = NULL, "gaps and directions");
    REFUSED(k.sys.directions = NULL, "gaps and directions");
    REFUSED(k.sys.contacts = NULL, "contacts");
    REFUSED(k.sys.nq = 3, "move");
    REFUSED(k.sys.mass_shape.n = 3, "nv = 2");
    REFUSED(k.sys.tangent_shape = ((carom_shape){CAROM_DIAGONAL, 2, 0, NULL}), "tangent_shape");
    REFUSED(k.sys.column_stride = 0, "column_stride");
    REFUSED(k.contact[0].restitution = 1.5, "restitution 1.5");
    REFUSED(k.contact[0].restitution = NAN, "restitution");
    REFUSED(k.contact[0].tangential_restitution = -0.1, "tangential restitution");
    REFUSED(k.contact[0].friction = -1, "friction -1");
    REFUSED(k.contact[0].friction = INFINITY, "friction");
    REFUSED(k.contact[0].tangents = 6, "6 tangential");
    REFUSED(k.contact[0].tangents = 0, "no tangential direction");
}

static void frictionless_contacts_bring_their_normal_alone(void **state) {
    (void)state;
    known k;
    known_pendulum(&k, 0.1);
    k.contact[0].tangents = 2;
    assert_int_equal(carom_system_directions(&k.sys, 0), 1);
    assert_int_equal(carom_system_directions(&k.sys, 2), 1);
    assert_int_equal(carom_system_recorded(&k.sys, 0), 1);
    assert_int_equal(carom_system_recorded(&k.sys, 2), 3);
    k.contact[0].friction = 0.1;
    assert_int_equal(carom_system_directions(&k.sys, 2), 3);
}

static void a_banded_tangent_holds_a_narrower_mass(void **state) {
    (void)state;
    known k;
    carom_error err;
    known_two_balls(&k, 1e3);
    k.sys.mass_shape = (carom_shape){CAROM_DIAGONAL, 2, 0, NULL};
    k.sys.tangent_shape = (carom_shape){CAROM_BANDED, 2, 1, NULL};
    assert_int_equal(carom_system_check(&k.sys, &err), CAROM_OK);
    k.sys.mass_shape = (carom_shape){CAROM_BANDED, 2, 2, NULL};
    refused(&k.sys, "tangent_shape");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_systems_are_taken),
        cmocka_unit_test(what_is_missing_or_wrong_is_said),
        cmocka_unit_test(frictionless_contacts_bring_their_normal_alone),
        cmocka_unit_test(a_banded_tangent_holds_a_narrower_mass),
    };
    return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
