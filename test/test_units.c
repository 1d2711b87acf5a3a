// test_units.c: units of numbers in models: what they are in SI, and where they do not fit.
#include "model_text.h"
#include "base/unit.h"

static void conversions(void **state) {
    (void)state;
    static const struct { const char *text; double si; const char *unit; } good_ones[] = {{"5 mm", 0.005, "m"},
                     {"-3 kN/m", -3000, "kg/s^2"},
                     {"30 deg", 0.52359877559829887, "rad"},
                     {"60 rpm", 6.2831853071795862, "rad/s"},
                     {"2.5e2 g", 0.25, "kg"},
                     {"7850 kg/m^3", 7850, "kg/m^3"},
                     {"210 GPa", 210e9, "kg/m/s^2"},
                     {"9.81 m/s^2", 9.81, "m/s^2"},
                     {"36 km/h", 10, "m/s"},
                     {"1 in", 0.0254, "m"},
                     {"12 N m/rad", 12, "kg m^2/s^2/rad"},
                     {"3 cm^2", 3e-4, "m^2"},
                     {"1 t", 1000, "kg"},
                     {"5 %", 0.05, "1"},
                     {"4 ms", 0.004, "s"},
                     {"2 min", 120, "s"},
                     {"8 N*s/m", 8, "kg/s"},
                     {"1 1/s", 1, "1/s"},
                     {"3mm", 0.003, "m"},
                     {"0.1 kg m^2", 0.1, "kg m^2"},
                     {"2 N/m^1.5", 2, "kg/m^0.5/s^2"},
                     {"4 N/mm^1.5", 4 * 31622.776601683792, "kg/m^0.5/s^2"},
                     {"3 N/m^(3/2)", 3, "kg/m^0.5/s^2"},
                     {"5 %/s", 0.05, "1/s"},
                     {"6 N/m^2.2", 6, "kg/m^1.2/s^2"}};
    for (size_t i = 0; i < sizeof good_ones / sizeof *good_ones; ++i) {
        double x = NAN;
        size_t at;
        carom_unit u;
        char text[60];
        assert_int_equal(carom_quantity_read(good_ones[i].text, strlen(good_ones[i].text), &x, &u, &at),
                         CAROM_QUANTITY_READ);
        carom_unit_write(&u, false, text, sizeof text);
        if (!(fabs(x - good_ones[i].si) <=
              (u.power[CAROM_RAD] != 0 || u.power[CAROM_M] == -0.5 ? 4e-16 * fabs(x) : 0)) ||
            strcmp(text, good_ones[i].unit) != 0)
            fail_msg("%s is %.17g %s", good_ones[i].text, x, text);
    }
    static const char *const fmi[][2] = {{"3 N s", "N.s"},
                                         {"1 MPa", "Pa"},
                                         {"2 kg/m/s^3", "kg/(m.s3)"},
                                         {"1 m/s^2", "m/s2"},
                                         {"1 1/s", "1/s"},
                                         {"4 N m s/rad", "N.m.s/rad"},
                                         {"5 %", "1"},
                                         {"1 m^2/s/rad", "m2/(s.rad)"}};
    for (size_t i = 0; i < sizeof fmi / sizeof *fmi; ++i) {
        double x;
        size_t at;
        carom_unit u;
        char text[60];
        assert_int_equal(carom_quantity_read(fmi[i][0], strlen(fmi[i][0]), &x, &u, &at), CAROM_QUANTITY_READ);
        carom_unit_label(&u, true, text, sizeof text);
        assert_string_equal(text, fmi[i][1]);
    }
    static const char *const none[] = {"5", "5*m", "m", "2 + 3", "1e-3", "5 < x", "", "-x", "3 - m", "2^2", ".5"};
    static const char *const wrong[] = {"5 furlong", "5 kgg", "5 m^",   "5 mm mm^x", "5 m//s",    "2 x",
                                        "5 kkg",     "5 m^0", "5 m^1.", "5 m^.5",    "5 m^1.5.2", "5 m^(3/2",
                                        "5 m^(3/0)", "5 % m", "5 % 1",  "5 % * m"};
    for (int k = 0; k < 2; ++k)
        for (size_t i = 0; i < (k ? sizeof wrong / sizeof *wrong : sizeof none / sizeof *none); ++i) {
            double x;
            size_t at;
            carom_unit u;
            const char *text = k ? wrong[i] : none[i];
            if (carom_quantity_read(text, strlen(text), &x, &u, &at) !=
                (k ? CAROM_QUANTITY_WRONG : CAROM_QUANTITY_NONE))
                fail_msg("'%s'", text);
        }
}

// The same model with and without units: the same bits.
static void models(void **state) {
    (void)state;
    carom_model *a = good("carom: 1\nparameters: {k: 3 kN/m, g: 9.81 m/s^2}\nbodies:\n  block: {mass: 250 g, inertia: "
                          "20 g m^2, at: [5 mm, 20 cm], angle: 30 deg, spin: 60 rpm, shape: {box: [10 cm, 50 mm]}}\n"
                          "gravity: [0, -g]\nsprings: {s: {between: [ground, block], points: [[0, 1 m], [0, 0]], "
                          "stiffness: k, length: 70 cm}}\nshapes: {floor: {plane: [0, 1]}}\n"
                          "contacts: {c: {between: [block, floor], restitution: 0.5}}\nsimulation: {scheme: "
                          "moreau-jean, step: 1 ms, end: 0.3 s}\nchecks: [penetration < 10 mm]\n");
    carom_model *b = good("carom: 1\nparameters: {k: 3000, g: 9.81}\nbodies:\n  block: {mass: 0.25, inertia: 0.02, at: "
                          "[0.005, 0.2], angle: 30*pi/180, spin: 60*pi/30, shape: {box: [0.1, 0.05]}}\n"
                          "gravity: [0, -g]\nsprings: {s: {between: [ground, block], points: [[0, 1], [0, 0]], "
                          "stiffness: k, length: 0.7}}\nshapes: {floor: {plane: [0, 1]}}\n"
                          "contacts: {c: {between: [block, floor], restitution: 0.5}}\nsimulation: {scheme: "
                          "moreau-jean, step: 0.001, end: 0.3}\nchecks: [penetration < 0.01]\n");
    assert_true(carom_model_simulation(a).step == 0.001 && carom_model_simulation(a).end == 0.3);
    carom_sim *x = model_sim(a, "moreau-jean", NULL, 1e-3, 0.3), *y = model_sim(b, "moreau-jean", NULL, 1e-3, 0.3);
    model_sim_run(x);
    model_sim_run(y);
    for (int i = 0; i < 3; ++i)
        assert_true(carom_sim_now(x).q[i] == carom_sim_now(y).q[i] && carom_sim_now(x).v[i] == carom_sim_now(y).v[i]);
    carom_sim_destroy(x);
    carom_sim_destroy(y);
    carom_model_destroy(a);
    carom_model_destroy(b);
}

static carom_model *with(const char *text, const char *set, carom_error *err) {
    const char *const sets[] = {set, NULL};
    return carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml", .set = sets},
                              err);
}

#define REST                                                                                                           \
    "coordinates: {x: {at: 5 mm, rate: 2 m/s}, phi: {rate: 1 rpm}, y: 0}\nenergy: {kinetic: 1/2*m*(x'^2 + y'^2 + "     \
    "phi'^2)}\n"

static void units_of_columns(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nparameters: {m: 2 kg, l: 3}\ninputs: {F: 0 N}\n" REST);
    static const char *const known[][3] = {{"m", "kg", "kg"},    {"F", "N", "N"},       {"x", "m", "m"},
                                           {"x'", "m/s", "m/s"}, {"phi", "rad", "rad"}, {"phi'", "rad/s", "rad/s"},
                                           {"t", "s", "s"},      {"energy", "J", "J"}};
    char text[60];
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        for (int fmi = 0; fmi < 2; ++fmi) {
            assert_true(carom_model_unit(m, known[i][0], fmi, text, sizeof text));
            assert_string_equal(text, known[i][1 + fmi]);
        }
    assert_false(carom_model_unit(m, "y", false, text, sizeof text) ||
                 carom_model_unit(m, "l", false, text, sizeof text) ||
                 carom_model_unit(m, "nothing", false, text, sizeof text));
    carom_model_destroy(m);
}

// Of bodies, and of contacts between shapes, however far inside a unit stands; an output is an expression, and a
// written gap may be anything.
static void units_of_parts(void **state) {
    (void)state;
    static const char *const unit[] = {"20 cm", "0.2"};
    for (int k = 0; k < 2; ++k) {
        char text[600], label[40];
        snprintf(text, sizeof text,
                 "carom: 1\nbodies:\n  ball: {mass: 1, inertia: 1, at: [0, %s], shape: {circle: 0.1}}\n  row: {repeat: "
                 "2, body: {mass: 1, inertia: 1, at: [i + 1, 1], shape: {circle: 0.1}}}\n"
                 "shapes: {floor: {plane: [0, 1]}}\ncontacts:\n  c: {between: [ball, floor], friction: 0.1}\n  rows: "
                 "{between: [row, floor]}\n  roll: {between: [ball, row], friction: 0.1, rolling: 0.01}\n  w: {gap: 5 "
                 "- ball.x}\n"
                 "outputs: {ball.z: ball.angle, gap.x: ball.x}\n",
                 unit[k]);
        carom_model *m = good(text);
        static const char *const known[][2] = {
            {"ball.x", "m"},      {"ball.vx", "m/s"},    {"ball.angle", "rad"},
            {"ball.wz", "rad/s"}, {"row.1.x", "m"},      {"c.gap", "m"},
            {"c.gap'", "m/s"},    {"c.force", "N"},      {"c.impulse", "N s"},
            {"c.slip'", "m/s"},   {"c.friction", "N"},   {"c.friction_impulse", "N s"},
            {"rows.2.gap", "m"},  {"roll.1.force", "N"}, {"t", "s"},
            {"kinetic", "J"}};
        static const char *const unknown[] = {"ball.z",  "gap.x",         "ball",      "ballast.x", "w.gap",
                                              "w.force", "roll.1.slip1'", "ball.mass", "x",         ".x"};
        for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
            const bool found = carom_model_unit(m, known[i][0], false, label, sizeof label);
            if (found != (k == 0) || (found && strcmp(label, known[i][1]) != 0)) fail_msg("%s", known[i][0]);
        }
        for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i)
            if (carom_model_unit(m, unknown[i], false, label, sizeof label)) fail_msg("%s", unknown[i]);
        carom_model_destroy(m);
    }
}

static void overrides(void **state) {
    (void)state;
    carom_error err = {0};
    double value = 0;
    carom_model *m = with("carom: 1\nparameters: {m: 2 kg}\n" REST, "m=300 g", &err);
    assert_non_null(m);
    carom_model_parameter(m, 0, &value);
    assert_true(value == 0.3);
    carom_model_destroy(m);
    assert_null(with("carom: 1\nparameters: {m: 2 kg}\n" REST, "m=300 mm", &err));
    assert_non_null(strstr(err.text, "`set` m=300 mm: 'm' is 2 kg in the model"));
}

static void refuse(const char *text, const char *message) {
    carom_error err = {0};
    assert_null(model_of(text, &err));
    if (!strstr(err.text, message)) fail_msg("\"%s\" instead of \"%s\"", err.text, message);
}

// The stiffness of a contact is in N/m^n, n the exponent of its law; a written gap may also be an angle.
static void contact_stiffness(void **state) {
    (void)state;
#define SHAPES(law)                                                                                                    \
    "carom: 1\nparameters: {k: 2 kN/m, n: 1.5}\nbodies: {b: {mass: 1, inertia: 1, at: [0, 1], shape: {circle: "        \
    "0.1}}}\nshapes: {floor: {plane: [0, 1]}}\ncontacts: {c: {between: [b, floor], " law "}}\n"
#define GAP(law) "carom: 1\nparameters: {m: 1}\n" REST "contacts: {c: {gap: x, " law "}}\n"
    static const char *const fit[] = {SHAPES("stiffness: k"),
                                      SHAPES("stiffness: 2 N/mm"),
                                      SHAPES("stiffness: 2e5 N/m^1.5, exponent: 3/2"),
                                      SHAPES("stiffness: 3 MN/m^1.5, exponent: n"),
                                      SHAPES("stiffness: 1e5, exponent: 2"),
                                      SHAPES("stiffness: 1 GPa, exponent: 2"),
                                      GAP("stiffness: 5 N m/rad"),
                                      GAP("stiffness: 5 N m"),
                                      GAP("stiffness: 5 N/mm^1.5, exponent: 1.5"),
                                      GAP("stiffness: 5 N m/rad^1.5, exponent: 1.5")};
    for (size_t i = 0; i < sizeof fit / sizeof *fit; ++i) carom_model_destroy(good(fit[i]));
    refuse(SHAPES("stiffness: k, exponent: 1.5"),
           "contact 'c' of exponent 1.5: 'k' = 2 kN/m is a quantity of another kind; stiffness is in N/m^1.5 here");
    refuse(SHAPES("stiffness: 5 N/m^1.5"),
           "contact 'c' of exponent 1: '5 N/m^1.5' is a quantity of another kind; stiffness is in N/m here");
    refuse(SHAPES("stiffness: 5 N m/rad"), "stiffness is in N/m here");
    refuse(SHAPES("stiffness: 5 kg"), "stiffness is in N/m here");
    refuse(SHAPES("stiffness: 5 N/m^2, exponent: n"), "stiffness is in N/m^1.5 here");
    refuse(GAP("stiffness: 5 N/m^1.5"), "stiffness is in N/m here");
    refuse(GAP("stiffness: 5 N/m, exponent: 2"), "stiffness is in N/m^2 here");
}

static void mistakes(void **state) {
    (void)state;
#define BODY(what) "carom: 1\nparameters: {a: 3 mm}\nbodies:\n  b: {" what "}\n"
    refuse(BODY("mass: 5 mm, inertia: 1"), "m.yaml:4:13: '5 mm' is a length, but mass is a mass, in kg");
    refuse(BODY("mass: a, inertia: 1"), "m.yaml:4:13: 'a' = 3 mm is a length, but mass is a mass, in kg");
    refuse(BODY("mass: 1, inertia: 1, at: [1 m, 2 s]"), "m.yaml:4:38: '2 s' is a time, but at is a length, in m");
    refuse(BODY("mass: 1, inertia: 1, spin: 5 Hz"), "'5 Hz' is a frequency, but spin is an angular velocity, in rad/s");
    refuse(BODY("mass: 1, inertia: 1, angle: 5 mm"), "'5 mm' is a length, but angle is an angle, in rad");
    refuse(BODY("mass: 1, inertia: 1, shape: {circle: 2 kg}"), "'2 kg' is a mass, but circle is a length, in m");
    refuse(BODY("mass: 1 foo, inertia: 1"), "m.yaml:4:15: 'foo' is not a unit; expected one of m, cm, mm");
    static const struct {
        const char *unit, *meant;
    } slips[] = {{"kgg", "kg"},        {"Kg", "kg"},       {"Nm", "N m"},          {"kNm/rad", "kN m"},
                 {"sec", "s"},         {"m/s2", "s^2"},    {"mm\xc2\xb3", "mm^3"}, {"degrees", "deg"},
                 {"N mm/rads", "rad"}, {"\xc2\xb0", "deg"}};
    for (size_t i = 0; i < sizeof slips / sizeof *slips; ++i) {
        char text[200], says[120];
        snprintf(text, sizeof text, "carom: 1\nparameters: {m: 1, a: 2 %s}\n" REST, slips[i].unit);
        snprintf(says, sizeof says, "m.yaml:2:25: '%s' is not a unit; did you mean '%s'?", slips[i].unit,
                 slips[i].meant);
        refuse(text, says);
    }
    refuse("carom: 1\nparameters: {m: 1, a: 2 mass}\n" REST, "'mass' is not a unit; expected one of");
    refuse("carom: 1\nparameters: {m: 1}\n" REST "outputs: {z: x+1 mm}\n",
           "m.yaml:5:18: a unit is only allowed after a number that is the entire value");
    refuse("carom: 1\nparameters: {m: 1}\n" REST "outputs: {z: 1 mm + x}\n",
           "m.yaml:5:16: a unit is only allowed after a number");
    refuse("carom: 1\nparameters: {m: 1}\n" REST "outputs: {z: 2*(1 mm)}\n", "a unit is only allowed after a number");
    refuse("carom: 1\nparameters: {m: 1}\n" REST "outputs: {z: x + 2 y}\n",
           "missing operator before 'y'; write '*' for a product");
    static const char *const remainders[] = {"5 mod 2", "5 % 2", "5 % x", "5 % 1"};
    for (size_t i = 0; i < sizeof remainders / sizeof *remainders; ++i) {
        char text[200];
        snprintf(text, sizeof text, "carom: 1\nparameters: {m: 1}\n" REST "outputs: {z: %s}\n", remainders[i]);
        refuse(text, "is not an operator; write x - y*floor(x/y)");
    }
    refuse("carom: 1\nparameters: {m: 1}\n" REST "outputs: {z: 5 if x > 0 else 3}\n",
           "m.yaml:5:16: 'if' is not an operator; write if(condition, then, else)");
    refuse("carom: 1\nparameters: {m: 1}\n" REST "outputs: {z: 5 or x}\n", "'or' is not an operator; write max(a, b)");
    static const char *const foreign[][2] = {
        {"LN(x)", "unknown function 'LN'; write log(x)"},
        {"2*|x|", "'|' is not an operator; an absolute value is written abs(x)"},
        {"e^x", "unknown name 'e'; write exp(1), or exp(x) for a power"},
        {"2 + true", "unknown name 'true'; write 1"},
        {"x\u00b2", "'\u00b2' is not allowed in an expression; write ^2"},
        {"3 \u2212 x", "'\u2212' is not allowed in an expression; write -"},
        {"m\u00b7x", "'\u00b7' is not allowed in an expression; write *"},
        {"x \u2264 2", "'\u2264' is not allowed in an expression; write <="},
    };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; ++i) {
        char text[200];
        snprintf(text, sizeof text, "carom: 1\nparameters: {m: 1}\n" REST "outputs: {z: \"%s\"}\n", foreign[i][0]);
        refuse(text, foreign[i][1]);
    }
    refuse("carom: 1\ntables: {T: {x: [0, 1], y: [0, 1]}}\nparameters: {m: 1}\n" REST "outputs: {z: T(x) + ln(x)}\n",
           "unknown function 'ln'; write log(x)");
    refuse("carom: 1\n" REST "contacts: {c: {gap: x, restitution: 5 mm}}\n",
           "restitution is a number without a unit, and '5 mm' has one");
    refuse("carom: 1\nparameters: {m: 1}\n" REST "simulation: {step: 1 mm}\n",
           "'1 mm' is a length, but step is a time, in s");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conversions),      cmocka_unit_test(models),
                                       cmocka_unit_test(units_of_columns), cmocka_unit_test(units_of_parts),
                                       cmocka_unit_test(overrides),        cmocka_unit_test(contact_stiffness),
                                       cmocka_unit_test(mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
