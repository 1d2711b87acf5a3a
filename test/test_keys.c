// test_keys.c: the table of keys, from which the model file's reference is made, says what the readers accept.
//
// A reader that meets an unknown key lists the known ones.  So every place is asked with a model that has a wrong key
// there, and the answer compared with the table.
#include "expr/graph.h"
#include "model/text/keys.h"
#include "model/text/names.h"
#include "sources.h"
#include <carom/model.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
// cmocka wants the above first
#include <cmocka.h>

#define BODIES "bodies: {b: {mass: 1, inertia: 1, at: [0, 1]}}\n"
#define JOINT "joints: {j: {type: revolute, between: [ground, b], at: [0, 0]}}\n"
#define POINT "coordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\ncontacts: {c: {gap: x}}\n"
#define MEMBER "flexible: {m: {type: bar, length: 1, elements: 2, density: 1, modulus: 1, area: 1, "
#define SHAFT "flexible: {m: {type: shaft, length: 1, elements: 2, density: 1, modulus: 1, shear modulus: 1, radius: 1, "
#define WRONG "xyzzyxyzzy: 0"

static const struct { const char *place, *text; } probes[] = {
    {"", POINT WRONG "\n"},
    {"coordinates.NAME", "coordinates: {x: {" WRONG "}}\nenergy: {kinetic: 1/2*x'^2}\n"},
    {"energy", "coordinates: {x: 0}\nenergy: {" WRONG "}\n"},
    {"contacts.NAME", "coordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\ncontacts: {c: {" WRONG "}}\n"},
    {"contacts.NAME, between", "shapes: {floor: {plane: [0, 1]}}\nbodies: {b: {mass: 1, inertia: 1, at: [0, 2], shape: {circle: 1}}}\ncontacts: {c: {between: [b, floor], " WRONG "}}\n"},
    {"contact defaults", POINT "contact defaults: {" WRONG "}\n"},
    {"simulation", POINT "simulation: {" WRONG "}\n"},
    {"bodies.NAME", "bodies: {b: {" WRONG "}}\n"},
    {"bodies.NAME.motion", "bodies: {b: {motion: {" WRONG "}}}\n"},
    {"bodies.NAME.shape", "bodies: {b: {mass: 1, inertia: 1, shape: {" WRONG "}}}\n"},
    {"joints.NAME", BODIES "joints: {j: {" WRONG "}}\n"},
    {"springs.NAME", BODIES "springs: {s: {" WRONG "}}\n"},
    {"springs.NAME, joint", BODIES JOINT "springs: {s: {joint: j, " WRONG "}}\n"},
    {"springs.NAME, type: bushing", BODIES "springs: {s: {type: bushing, " WRONG "}}\n"},
    {"motors.NAME", BODIES "motors: {s: {" WRONG "}}\n"},
    {"loads.NAME", BODIES "loads: {s: {" WRONG "}}\n"},
    {"flexible.NAME", "flexible: {m: {type: bar, " WRONG "}}\n"},
    {"flexible.NAME, type: beam", "flexible: {m: {type: beam, " WRONG "}}\n"},
    {"flexible.NAME, type: exact beam", "flexible: {m: {type: exact beam, " WRONG "}}\n"},
    {"flexible.NAME, type: spatial beam", "flexible: {m: {type: spatial beam, " WRONG "}}\n"},
    {"flexible.NAME, type: matrices", "flexible: {m: {type: matrices, " WRONG "}}\n"},
    {"flexible.NAME.damping", MEMBER "damping: {" WRONG "}}}\n"},
    {"flexible.NAME, frame: floating", "flexible: {m: {type: beam, frame: floating, " WRONG "}}\n"},
    {"flexible.NAME, type: shaft", "flexible: {m: {type: shaft, " WRONG "}}\n"},
    {"flexible.NAME.flywheels.POINT", SHAFT "flywheels: {end: {" WRONG "}}}}\n"},
    {"flexible.NAME.damping, type: shaft", SHAFT "damping: {" WRONG "}}}\n"},
    {"draw.NAME", POINT "draw: {s: {" WRONG "}}\n"},
    {"draw.contacts.NAME", POINT "draw: {contacts: {c: {" WRONG "}}}\n"},
};
enum { PROBES = sizeof probes / sizeof *probes };

// What the reader says to this model, which is wrong.
static const char *complaint(const char *body) {
    static carom_error err;
    char text[600];
    snprintf(text, sizeof text, "carom: 1\n%s", body);
    const carom_model_def def = {.text = text, .length = strlen(text), .file = "probe"};
    carom_model *m = carom_model_create(&def, &err);
    if (m) fail_msg("no complaint about: %s", text);
    return err.text;
}

static bool listed(const char *list, const char *word) {
    const size_t n = strlen(word);
    for (const char *at = list; at; at = strstr(at, ", "), at = at ? at + 2 : NULL)
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == 0)) return true;
    return false;
}

static int items(const char *list) {
    int n = 1;
    for (const char *at = list; (at = strstr(at, ", ")); ++at) ++n;
    return n;
}

static void same_words(const char *place, const char *message, const key_word *words, const key_word *beside) {
    const char *list = strstr(message, "known are ");
    if (!list) fail_msg("'%s': %s", place, message);
    list += strlen("known are ");
    int n = 0;
    for (const key_word *w = beside; w && w->name; ++w) ++n;
    for (const key_word *w = words; w->name; ++w, ++n)
        if (!listed(list, w->name)) fail_msg("src/model/text/keys.c has '%s' in '%s', its reader does not know it: %s", w->name, place, message);
    if (items(list) != n) fail_msg("src/model/text/keys.c has %d keys in '%s', its reader knows more: %s", n, place, message);
}

static void readers_accept_the_keys_of_the_table_and_no_others(void **state) {
    (void)state;
    for (const key_group *g = carom_key_groups; g->place; ++g) {
        int p = 0;
        while (p < PROBES && strcmp(probes[p].place, g->place) != 0) ++p;
        if (p == PROBES) fail_msg("no model here asks about the keys of '%s'", g->place);
        same_words(g->place, complaint(probes[p].text), g->words, g->beside);
    }
}

static void count_calls(void *user, const char *path, char *text) {
    if (!strstr(path, "/model/")) return;
    blank(text, true);
    for (const char *at = text; (at = strstr(at, "carom_read_keys(")); ++at) ++*(int *)user;
}

// Three kinds of springs and four of members share a call; the definition is counted as well.
static void no_reader_is_forgotten(void **state) {
    (void)state;
    int calls = 0, groups = 0;
    walk(CAROM_SOURCE_DIR "/src", ".c", count_calls, &calls);
    while (carom_key_groups[groups].place) ++groups;
    const int shared = 2 + 3;
    if (calls - 1 > groups - shared) fail_msg("src/model reads keys at %d places, src/model/text/keys.c describes %d; describe the new place", calls - 1, groups - shared);
}

static void types_of_joints_are_those_of_the_reader(void **state) {
    (void)state;
    same_words("types of joints", complaint(BODIES "joints: {j: {type: xyzzyxyzzy, between: [ground, b], at: [0, 0]}}\n"), carom_key_joint_types, NULL);
}

static void functions_are_the_reserved_words(void **state) {
    (void)state;
    int n = 0, reserved = 0;
    for (const key_word *w = carom_key_functions; w->name; ++w, ++n) {
        int i = 0;
        while (carom_name_reserved(i) && strcmp(carom_name_reserved(i), w->name) != 0) ++i;
        if (!carom_name_reserved(i)) fail_msg("'%s' is no function", w->name);
    }
    while (carom_name_reserved(reserved)) ++reserved;
    assert_int_equal(n, reserved - 2); // t and pi
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_accept_the_keys_of_the_table_and_no_others),
        cmocka_unit_test(no_reader_is_forgotten),
        cmocka_unit_test(types_of_joints_are_those_of_the_reader),
        cmocka_unit_test(functions_are_the_reserved_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
