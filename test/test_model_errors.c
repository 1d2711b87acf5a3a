// test_model_errors.c: every mistake in a model file gets its place and a sentence with a remedy.
#include "model_text.h"

#define H "carom: 1\ncoordinates: {x: 0, y: {at: 1}}\nenergy: {kinetic: x'^2 + y'^2}\n"

// Text, and the error after the file's name.  "..." at the end: the rest of the sentence belongs to libyaml or to
// expressions.
static const struct { const char *text, *error;
} cases[] = {
    {"", "1:1: the file is empty; a model starts with `carom: 1`"},
    {"# nothing\n", "1:1: the file is empty; a model starts with `carom: 1`"},
    {"- a\n- b\n", "1:1: a model is a map of sections (`carom: 1`, `coordinates:`, ...), this is something else"},
    {"hello\n", "1:1: a model is a map of sections (`carom: 1`, `coordinates:`, ...), this is something else"},
    {"name: x\n", "1:1: missing format version; start the file with `carom: 1`"},
    {"carom: 2\n", "1:8: unsupported format version; this carom reads `carom: 1`"},
    {H "contact: {}\n", "4:1: unknown key 'contact' in the model; did you mean 'contacts'?"},
    {H "ground: {}\n", "4:1: unknown key 'ground' in the model; shapes of the ground stand under `shapes`"},
    {H "zzzzzzzz: {}\n",
     "4:1: unknown key 'zzzzzzzz' in the model; expected one of carom, name, about, parameters, "
     "tables, inputs, controllers, coordinates, states, bodies, shapes, gravity, joints, start, assemble, "
     "sleep, settle, ropes, springs, motors, loads, flexible, let, energy, forces, constraints, contact "
     "defaults, materials, contacts, outputs, exact, checks, sweep, record, simulation, draw"},
    {H "---\ncarom: 1\n", "4:1: a second document starts here; a model file holds one model (remove the ---)"},
    {H "parameters: &p {a: 1}\n",
     "4:13: anchors (&name) are not used in model files; write the value where it is needed, or make it a parameter"},
    {H "parameters: *p\n", "4:13: aliases (*name) are not used in model files; write the value out, or put an "
                           "expression that starts with * in quotes"},
    {H "name: !!str x\n", "4:7: tags (!name) are not used in model files; remove it, or put the text in quotes"},
    {H "parameters: {a: 1, a: 2}\n", "4:20: duplicate key 'a' (first in line 4); remove one"},
    {H "let:\n\tz: 1\n", "5:1: ..."},
    {H "name: a: b\n", "4:8: ..."},
    {H "name: 'abc\n", "5:1: ..."},
    {H "let: {a: 1\n", "5:1: ..."},
    {H "let: {[a]: 1}\n", "4:7: a key must be a word, not a list or a map; check the brackets here"},
    {H "name: \"a\\0b\"\n", "4:7: a zero byte in a text; remove the \\0"},
    {"carom: 1\nenergy: {kinetic: 1}\n", "1:1: the model has no coordinates; add `coordinates: {x: {at: 0, rate: 0}}`"},
    {"carom: 1\ncoordinates: {x: 0}\n", "1:1: missing kinetic energy; add `energy: {kinetic: 1/2*m*x'^2}`"},
    {"carom: 1\ncoordinates: {x: 0}\nenergy: {potential: 1}\n",
     "3:1: missing kinetic energy; add `energy: {kinetic: 1/2*m*x'^2}`"},
    {"carom: 1\ncoordinates: {x: 0}\nenergy: {kinetik: x'^2}\n",
     "3:10: unknown key 'kinetik' in energy; did you mean 'kinetic'?"},
    {H "let: {velo: 2*velox + xx}\n", "4:15: unknown name 'velox'; define it in parameters, coordinates or let"},
    {"carom: 1\ncoordinates: {theta: 0}\nenergy: {kinetic: theta'^2, potential: 3 + sin(tehta)}\n",
     "3:48: unknown name 'tehta'; did you mean 'theta'?"},
    {"carom: 1\ncoordinates: {theta: 0}\nenergy: {kinetic: theta'^2, potential: '3 + sin(thetta)'}\n",
     "3:49: unknown name 'thetta'; did you mean 'theta'?"},
    {"carom: 1\ncoordinates: {theta: 0}\nenergy:\n  kinetic: theta'^2\n  potential: >\n    3 +\n    sin(foo)\n",
     "5:14: unknown name 'foo'; define it in parameters, coordinates or let"},
    {H "contacts: {floor: {gap: x}}\nchecks: [max(floor.force) < 3]\n",
     "5:14: expressions cannot use 'floor.force': reactions of rigid contacts and constraints are columns of results"},
    {H "let: {a: 2*(x + 3}\n", "4:12: unmatched '('; an expression with a comma inside { } or [ ] needs quotes"},
    {H "let:\n  a: 2*(x + 3\n", "5:8: ..."},
    {H "let:\n  a: 2*/x\n", "5:8: ..."},
    {H "let:\n  a: sine(x)\n", "5:6: ..."},
    {H "contacts: {c: {gap: max(x, 0)}}\n",
     "4:28: unknown key '0)' in contact 'c'; an expression with a comma inside { } or [ ] needs quotes"},
    {H "parameters: {p: max(1, 2)}\n",
     "4:24: '2)' is not a name; an expression with a comma inside { } or [ ] needs quotes"},
    {H "parameters: {p: 9,81}\n",
     "4:19: '81' is not a name; a comma parts entries inside { } and [ ]; decimals are written with a point: 9.81"},
    {H "contacts: {c: {gap: 1 - x, friction: 0,3}}\n", "4:40: unknown key '3' in contact 'c'; a comma parts entries "
                                                       "inside { } and [ ]; decimals are written with a point: 9.81"},
    {H "contacts:\n  c: {gap: 1 - sqrt(x^2)}\n",
     "5:12: the gap of 'c' has no finite derivative at the initial position; a root, or hypot of zeros, has none: "
     "start near that point"},
    {H "checks: [min(x, y) > 0]\n",
     "4:10: incomplete check; an expression with a comma inside { } or [ ] needs quotes"},
    {H "let: {a: x''}\n",
     "4:10: x'' is a second derivative, which expressions do not have; accelerations follow from energy and forces"},
    {H "let: {a: x', b: a'}\n",
     "4:17: a' would be an acceleration: 'a' is made of rates already; rates exist of positions only"},
    {H "parameters: {p: 1}\nlet: {b: p'}\n", "5:10: p' is always zero because 'p' is a parameter; remove it"},
    {H "let: {a: b, b: x}\n", "4:10: 'b' is used before its definition; move its line up"},
    {H "parameters: {p: x}\n", "4:17: 'x' is a coordinate, but parameter 'p' may only use numbers and parameters"},
    {H "parameters: {p: t}\n", "4:17: parameter 'p' must be constant; it cannot depend on time t"},
    {H "parameters: {a: b + 1, b: 2*c, c: a}\n",
     "4:17: circular definition of parameters: a -> b -> c -> a; set one of them to a number"},
    {H "parameters: {a: 1/0}\n", "4:17: parameter 'a' is not finite; check divisions, square roots and logarithms"},
    {H "parameters: {a: sqrt(-1)}\n",
     "4:17: parameter 'a' is not finite; check divisions, square roots and logarithms"},
    {H "parameters: {a: }\n", "4:14: parameter 'a' is empty; write an expression"},
    {H "parameters: {a: [1, 2]}\n", "4:17: parameter 'a' is an expression, not a list"},
    {H "parameters: {x: 1}\n", "2:15: 'x' is already defined as a parameter (line 4); rename one of them"},
    {H "let: {sin: 1}\n", "4:7: 'sin' is a reserved name; choose another"},
    {H "contacts: {pi: {gap: x}}\n", "4:12: 'pi' is a reserved name; choose another"},
    {"carom: 1\ncoordinates: {t: 0}\n", "2:15: 't' is a reserved name; choose another"},
    {H "let: {1a: 1}\n",
     "4:7: '1a' is not a name; names are letters, digits, _ and dots inside, and start with a letter"},
    {H "let: {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: 1}\n",
     "4:7: name 'aaaaaaaaaaaaaaaaaaaa...' is longer than 60 characters; shorten it"},
    {"carom: 1\ncoordinates: {x: {at: 0, speed: 1}}\n",
     "2:26: unknown key 'speed' in coordinate 'x'; expected one of at, rate"},
    {"carom: 1\ncoordinates: {x: [0, 1]}\n", "2:18: coordinate 'x' must be a map (`name: value`), got a list"},
    {"carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^3}\n",
     "3:19: the kinetic energy is not quadratic in the rates; every term must hold two rates as factors"},
    {"carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2 + 3*x'}\n",
     "3:19: the kinetic energy is not quadratic in the rates: it has a part with a single rate; every term must hold "
     "two rates as factors"},
    {"carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2 + 3*cos(x)}\n",
     "3:19: the kinetic energy is not quadratic in the rates: it has a part without rates; every term must hold two "
     "rates as factors, the rest belongs into potential"},
    {"carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: x'^2}\n",
     "3:19: coordinate 'y' has no mass: the kinetic energy must contain y'^2"},
    {"carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2, potential: x'}\n",
     "3:36: the potential energy depends on rates; put such terms into kinetic or forces"},
    {"carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/x}\n",
     "3:19: the kinetic energy has no finite value at the initial position; check divisions, roots and logarithms"},
    {H "forces: {z: 1}\n", "4:10: 'z' in forces is not a coordinate; forces are given by coordinate"},
    {"carom: 1\ncoordinates: {theta: 0}\nenergy: {kinetic: theta'^2}\nforces: {teta: 1}\n",
     "4:10: 'teta' in forces is not a coordinate; did you mean 'theta'?"},
    {H "forces: {x: -x'/abs(x')}\n",
     "4:13: this force has no finite value when all rates are zero; use sign(x') instead of x'/abs(x')"},
    {H "contacts: {c: {slip: x}}\n",
     "4:12: contact 'c' needs `gap:` (a distance that must stay non-negative) or `between:` (two shapes)"},
    {H "contacts: {c: {gap: x + y'}}\n",
     "4:21: the gap depends on rates; it is a distance, made of positions and time"},
    {H "contacts: {c: {gap: 1 + t}}\n",
     "4:21: the gap of contact 'c' does not depend on any coordinate, so no force can act; remove the contact"},
    {H "contacts: {c: {gap: x, restituion: 1}}\n",
     "4:24: unknown key 'restituion' in contact 'c'; did you mean 'restitution'?"},
    {H "contacts: {c: {gap: x, restitution: 1.5}}\n", "4:37: restitution must lie between 0 and 1, got 1.5"},
    {H "contact defaults: {friction: -1}\n", "4:30: friction must not be negative, got -1"},
    {H "contacts: {c: {gap: x, friction: 0.1}}\n",
     "4:34: contact 'c' has friction 0.1 but no slip; add `slip:` (the tangential displacement), or `friction: 0`"},
    {H "contact defaults: {friction: 0.1}\ncontacts:\n  c: {gap: x}\n",
     "6:3: contact 'c' has friction 0.1 (from contact defaults) but no slip; add `slip:` (the tangential "
     "displacement), or `friction: 0`"},
    {H "contacts: {c: {gap: x, slip: y, slip rate: y'}}\n",
     "4:33: contact 'c' has both slip and slip rate; give only one"},
    {H "contacts: {c: {gap: x, slip: [x, y, x, y, x, y]}}\n",
     "4:30: a contact has one slip (planar), two (spatial) or up to 5 (with rolling and spinning), not 6"},
    {H "contacts: {c: {gap: x, slip: y'}}\n",
     "4:30: the slip depends on rates; it is a displacement: write `slip rate` instead"},
    {H "contacts: {c: {gap: x, slip rate: y'^2}}\n",
     "4:35: the slip rate is not linear in the rates; write it as a sum of factors times rates"},
    {H "contacts: {c: {gap: x, slip rate: y}}\n", "4:35: the slip rate holds no rate; write `slip` for a displacement"},
    {H "contacts: [x]\n", "4:11: section contacts must be a map (`name: value`), got a list"},
    {H "constraints: {c: x}\ncontacts: {c: {gap: x}}\n",
     "5:12: 'c' is already defined as the name of a contact or constraint (line 4); rename one of them"},
    {H "contacts:\n  v: {gap: 1 - abs(x)}\n  v.1: {gap: y}\n",
     "6:3: 'v.1' is already one of the contacts that 'v' (line 5) becomes, one for each part of its gap or node of its "
     "member; rename one of them"},
    {H "contacts:\n  v.2: {gap: y}\n  v: {gap: 1 - abs(x)}\n",
     "6:3: 'v' becomes several contacts, one for each part of its gap, and the name 'v.2' of one of them is already "
     "used (line 5); rename one of them"},
    {H "constraints: {v.1: x}\ncontacts:\n  v: {gap: 1 - abs(x)}\n",
     "6:3: 'v' becomes several contacts, one for each part of its gap, and the name 'v.1' of one of them is already "
     "used (line 4); rename one of them"},
    {H "contacts:\n  v.1: {gap: y}\n  v: {repeat: 2, contact: {gap: y}}\n",
     "6:3: 'v.1' is already defined as the name of a contact or constraint (line 5); rename one of them"},
    {H "contacts:\n  v: {repeat: 2, contact: {gap: y}}\n  v.1: {gap: y}\n",
     "6:3: 'v.1' is already defined as the name of a contact or constraint (line 5); rename one of them"},
    {H "constraints: {v.1: x}\ncontacts: {v.1: {gap: x}}\n",
     "5:12: 'v.1' is already defined as the name of a contact or constraint (line 4); rename one of them"},
    {H "constraints: {c: t}\n", "4:18: constraint 'c' does not depend on any coordinate; remove it"},
    {H "constraints: {c: y}\n", "4:18: constraint 'c' is 1 at the initial position, not 0; change `at` of its "
                                "coordinates (an expression is allowed there)"},
    {"carom: 1\ncoordinates: {x: 0, y: {rate: 3}}\nenergy: {kinetic: x'^2 + y'^2}\nconstraints: {c: x + 2*y}\n",
     "4:18: initial velocities violate constraint 'c' (rate 6, expected 0); for example set y: {rate: 0}"},
    {H "constraints: {c: x - 2*t}\n",
     "4:18: initial velocities violate constraint 'c' (rate -2, expected 0); for example set x: {rate: 2}"},
    {H "contacts: {c: {gap: x - y}}\n",
     "4:21: contact 'c' has a negative initial gap (-1); change the initial positions (`at`) or the sign of the gap, "
     "or use `start: project`"},
    {H "contacts: {c: {gap: log(x)}}\n",
     "4:21: contact 'c' has no finite value at the initial position; check divisions, roots and logarithms"},
    {H "outputs: {x: 2*x}\n", "4:11: 'x' is already defined as a coordinate (line 2); rename one of them"},
    {H "outputs: {energy: 2*x}\n", "4:11: results have a column 'energy' already; choose another name"},
    {H "contacts: {c: {gap: x}}\noutputs: {c.force: x}\n",
     "5:11: names that start with 'c.' belong to that contact or constraint; choose another name"},
    {H "exact: {x: t}\n", "4:8: missing 'y' in section `exact`; give all coordinates or none"},
    {H "let: {a: x}\nexact: {x: t, y: a}\n",
     "5:18: 'a' is a let name, but the exact solution may only use time, parameters and names defined above in exact"},
    {H "exact: {x: y, y: t}\n", "4:12: the exact 'y' is not known yet here; exact is read in order, move its line up"},
    {H "checks: [penetration]\n", "4:10: check has no comparison; write for example `penetration < 1e-4`"},
    {H "checks: [0 < x < 1]\n", "4:16: a check has one comparison; write two checks"},
    {H "checks: [x = 1]\n", "4:12: '=' does not compare; write == or !="},
    {H "checks: [x => 1]\n", "4:12: '=>' does not compare; write >="},
    {H "checks: [x =< 1]\n", "4:12: '=<' does not compare; write <="},
    {H "checks: [penetratoin < 1]\n", "4:10: unknown name 'penetratoin'; did you mean 'penetration'?"},
    {H "checks: [max(min(x)) < 1]\n", "4:10: max(x) runs over all steps, and x here holds a name of the ledger or "
                                      "another such function; use states only"},
    {H "checks: {a: b}\n", "4:9: checks is a list: `checks: [penetration < 1e-4, drift < 1e-9]`"},
    {H "parameters: {steps: 3}\nchecks: [steps < 4]\n",
     "5:10: 'steps' is a name of this model and of the ledger; rename the model's 'steps'"},
    {H "let: {a: min(x)}\n", "4:10: ..."},
    {H "let: {a: 2 + pi(x)}\n",
     "4:14: pi is a number, not a function; for a product write '*' before the parenthesis"},
    {H "simulation: {shceme: a}\n", "4:14: unknown key 'shceme' in simulation; did you mean 'scheme'?"},
    {H "simulation: {step: 0}\n", "4:20: the step size must be positive, got 0"},
    {H "simulation: {end: -1}\n", "4:19: the end time must be positive (a run starts at t = 0), got -1"},
    {H "simulation: {options: {a: [1]}}\n", "4:24: option 'a' needs one value; write `a: value`"},
    {H "simulation: {scheme: }\n", "4:22: scheme is one word; `carom schemes` lists them"},
};

static void every_mistake_has_its_place_and_sentence(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_error err = {0};
        carom_model *m = model_of(cases[i].text, &err);
        if (m) fail_msg("this model should not load:\n%s", cases[i].text);
        assert_int_equal(err.code, CAROM_BAD_INPUT);
        const size_t n = strlen(cases[i].error);
        const bool open = n > 3 && strcmp(cases[i].error + n - 3, "...") == 0;
        assert_true(strncmp(err.text, "m.yaml:", 7) == 0);
        if (open ? strncmp(err.text + 7, cases[i].error, n - 3) : strcmp(err.text + 7, cases[i].error))
            fail_msg("\n%s\nis not\nm.yaml:%s", err.text, cases[i].error);
    }
}

static void overrides_are_checked_like_the_file(void **state) {
    (void)state;
    static const struct { const char *set, *error; } bad[] = {
        {"lenth=2", "`set` lenth=2: the model has no parameter or initial value 'lenth'; did you mean 'length'?"},
        {"y=2", "`set` y=2: the model has no parameter or initial value 'y'; `carom info` lists them"},
        {"length", "`set length`: expected NAME=VALUE"},
        {"=3", "`set =3`: expected NAME=VALUE"},
        {"length=2*mas", "`set` length=2*mas: unknown name 'mas'; did you mean 'mass'?"},
        {"length=length",
         "`set` length=length: circular definition of parameters: length -> length; set one of them to a number"},
        {"length=", "`set` length=: parameter 'length' is empty; write an expression"},
    };
    const char *text =
        "carom: 1\nparameters: {length: 1, mass: 2}\ncoordinates: {x: 0}\nenergy: {kinetic: mass*length*x'^2}\n";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        carom_error err = {0};
        const char *const set[] = {"mass=3", bad[i].set, NULL};
        assert_null(carom_model_create(
            &(carom_model_def){.text = text, .length = strlen(text), .file = "m", .set = set}, &err));
        assert_string_equal(err.text, bad[i].error);
    }
}

static void columns_count_characters_not_bytes(void **state) {
    (void)state;
    carom_error err = {0};
    assert_null(model_of("carom: 1\nname: {\xc3\xa4\xc3\xb6\xc3\xbc: 1}\n", &err));
    assert_string_equal(err.text, "m.yaml:2:7: the name of the model is a text; put it in quotes");
    assert_null(model_of("carom: 1\nname: M\nabout: {\xc3\xa4\xc3\xb6: 1, \xe2\x82\xac: 2, \xe2\x82\xac: 3}\n", &err));
    assert_string_equal(err.text, "m.yaml:3:22: duplicate key '\xe2\x82\xac' (first in line 3); remove one");
}

static void escapes_and_several_lines_point_at_the_start_of_the_text(void **state) {
    (void)state;
    carom_error err = {0};
    assert_null(model_of(H "let:\n  a: \"x \\x2b foo\"\n", &err));
    assert_string_equal(err.text, "m.yaml:5:6: unknown name 'foo'; define it in parameters, coordinates or let");
    assert_null(model_of(H "let:\n  a: x +\n    foo\n", &err));
    assert_string_equal(err.text, "m.yaml:5:6: unknown name 'foo'; define it in parameters, coordinates or let");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_has_its_place_and_sentence),
        cmocka_unit_test(overrides_are_checked_like_the_file),
        cmocka_unit_test(columns_count_characters_not_bytes),
        cmocka_unit_test(escapes_and_several_lines_point_at_the_start_of_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
