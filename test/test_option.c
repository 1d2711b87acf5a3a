// test_option.c: described settings: found, read, checked, written; the nearest name.
#include "base/option.h"
#include <carom/option.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const carom_option LIST[] = {
    {.name = "theta", .kind = CAROM_REAL, .fallback = 0.5, .low = 0, .high = 1},
    {.name = "rho", .kind = CAROM_REAL, .fallback = 0.8, .low = 0, .high = 1, .open_high = true},
    {.name = "order", .kind = CAROM_INTEGER, .fallback = 3, .low = 2, .high = 5},
    {.name = "closed", .kind = CAROM_CHOICE, .fallback = 1, .choices = "nonstrict|strict|strictly"},
    {0},
};

static void names_are_found_whole(void **state) {
    (void)state;
    assert_int_equal(carom_option_count(LIST), 4);
    assert_int_equal(carom_option_count(NULL), 0);
    assert_int_equal(carom_option_find(LIST, "order", 5), 2);
    assert_int_equal(carom_option_find(LIST, "order=4", 5), 2);
    assert_int_equal(carom_option_find(LIST, "orde", 4), -1);
    assert_int_equal(carom_option_find(LIST, "orders", 6), -1);
    assert_int_equal(carom_option_find(NULL, "order", 5), -1);
    double value[4];
    carom_option_defaults(LIST, value);
    assert_true(value[0] == 0.5 && value[1] == 0.8 && value[2] == 3 && value[3] == 1);
}

static void reads(const carom_option *o, const char *text, double expected) {
    double x = -77;
    carom_error err = {0};
    if (carom_option_read(o, text, &x, &err) != CAROM_OK) fail_msg("%s=%s: %s", o->name, text, err.text);
    assert_true(x == expected);
}

static void refuses(const carom_option *o, const char *text, const char *because) {
    double x = -77;
    carom_error err = {0};
    if (carom_option_read(o, text, &x, &err) != CAROM_BAD_INPUT) fail_msg("%s=%s was taken", o->name, text);
    assert_true(x == -77);
    if (!strstr(err.text, because) || !strstr(err.text, o->name))
        fail_msg("%s=%s: '%s' does not say '%s'", o->name, text, err.text, because);
}

static void values_are_checked_by_their_description(void **state) {
    (void)state;
    reads(LIST + 0, "0", 0);
    reads(LIST + 0, "1", 1);
    reads(LIST + 0, "2.5e-1", 0.25);
    refuses(LIST + 0, "1.0000001", "outside [0, 1]");
    refuses(LIST + 0, "-1e-9", "outside");
    refuses(LIST + 0, "", "expected a number, got");
    refuses(LIST + 0, "0.5x", "expected a number, got");
    refuses(LIST + 0, "nan", "expected a number, got");
    refuses(LIST + 0, "inf", "expected a number, got");
    reads(LIST + 1, "0.999", 0.999);
    refuses(LIST + 1, "1", "outside [0, 1)");
    reads(LIST + 2, "5", 5);
    refuses(LIST + 2, "2.5", "expected an integer");
    refuses(LIST + 2, "6", "outside [2, 5]");
    reads(LIST + 3, "nonstrict", 0);
    reads(LIST + 3, "strict", 1);
    reads(LIST + 3, "strictly", 2);
    refuses(LIST + 3, "stric", "nonstrict|strict|strictly");
    refuses(LIST + 3, "", "expected one of");
    refuses(LIST + 3, "strict|strictly", "expected one of");
}

// A default that other options determine has a word of its own, which can be given.
static void a_derived_default_is_a_word(void **state) {
    (void)state;
    const carom_option o = {
        .name = "gamma", .kind = CAROM_REAL, .fallback = NAN, .derived = "by-alpha", .low = 0, .high = 1};
    char text[32];
    double x = 7;
    carom_error err = {0};
    carom_option_write(&o, o.fallback, text, sizeof text);
    assert_string_equal(text, "by-alpha");
    assert_int_equal(carom_option_read(&o, text, &x, &err), CAROM_OK);
    assert_true(isnan(x));
    carom_option_write(&o, 0.5, text, sizeof text);
    assert_string_equal(text, "0.5");
    refuses(&o, "nan", "expected a number, got");
    refuses(&o, "by-beta", "expected a number, got");
}

static void what_is_written_can_be_read(void **state) {
    (void)state;
    static const struct {
        int option;
        double value;
        const char *text;
    } cases[] = {
        {0, 0.5, "0.5"}, {0, 1, "1"}, {2, 4, "4"}, {3, 0, "nonstrict"}, {3, 2, "strictly"}, {1, 0.65, "0.65"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[32];
        carom_option_write(LIST + cases[i].option, cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].text);
        reads(LIST + cases[i].option, text, cases[i].value);
    }
    char tiny[4];
    carom_option_write(LIST + 3, 2, tiny, sizeof tiny); // cut, never beyond
    assert_string_equal(tiny, "str");
}

static const char *next(const void *user, int i) { return ((const char *const *)user)[i]; }

static void nearest_name_is_the_one_meant(void **state) {
    (void)state;
    static const char *const names[] = {"moreau-jean", "moreau-midpoint", "ggl-alpha", "theta", NULL};
    assert_string_equal(carom_nearest("moreau-jeam", next, names), "moreau-jean");
    assert_string_equal(carom_nearest("Moreau-Jean", next, names), "moreau-jean");
    assert_string_equal(carom_nearest("ggl-aplha", next, names), "ggl-alpha"); // neighbours swapped
    assert_string_equal(carom_nearest("theta1", next, names), "theta");
    assert_null(carom_nearest("event-driven", next, names));
    assert_null(carom_nearest("x", next, names));
    static const char *const none[] = {NULL};
    const char *const keys[] = {"M", "at", "rate", "spin", NULL};
    assert_string_equal(carom_nearest("rat", next, keys), "rate"); // as near as 'at', but starts alike
    assert_string_equal(carom_nearest("m", next, keys), "M");
    assert_string_equal(carom_nearest("MM", next, keys), "M");
    const char *const long_ones[] = {"slider-crank-bilateral", "slider-crank", "slider-crank-driven", NULL};
    // the shortest of those that start so
    assert_string_equal(carom_nearest("slider", next, long_ones), "slider-crank");
    const char *const fewer[] = {"at", "velocity", NULL};
    assert_null(carom_nearest("rate", next, fewer));
    assert_null(carom_nearest("theta", next, none));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_whole),
        cmocka_unit_test(values_are_checked_by_their_description),
        cmocka_unit_test(a_derived_default_is_a_word),
        cmocka_unit_test(what_is_written_can_be_read),
        cmocka_unit_test(nearest_name_is_the_one_meant),
    };
    return cmocka_run_group_tests_name("option", tests, NULL, NULL);
}
