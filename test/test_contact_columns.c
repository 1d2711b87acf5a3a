// test_contact_columns.c: columns of contacts are the same, in name and value, whether pairs of shapes are always there
// or come and go.
#define _POSIX_C_SOURCE 200809L
#include "io/recording.h"
#include "model_text.h"

// Families whose others, far away, decide how pairs are kept.
typedef struct family {
    const char *name, *text; // %d: how many others
    const char *columns[5];  // on request
    int sizes[4];
    double tol, end;
} family;

static const family families[] = {
    {"circles",
     "carom: 1\ngravity: [0, -10]\nbodies:\n"
     "  a: {mass: 1, inertia: 0.01, at: [0, 0.4], velocity: [0.3, 0], shape: {circle: 0.1}}\n"
     "  d: {mass: 1, inertia: 0.01, at: [0.05, 0.9], shape: {circle: 0.1}}\n"
     "  o: {repeat: %d, index: i, body: {mass: 1, inertia: 0.01, at: [9 + i, 9], shape: {circle: 0.1}}}\n"
     "shapes: {floor: {plane: [0, 1]}}\ncontacts:\n"
     "  all: {among: [a, d, o], restitution: 0.6, friction: 0.1}\n"
     "  h: {between: [[a, d], floor], restitution: 0.5, friction: 0.2}\n  one: {between: [a, d], friction: 0.3}\n"
     "  g: {between: [o, floor]}\n",
     {"d-a.*", "a-d.gap", "o.0-o.*.gap", "floor-o.1.*"},
     {3, 9, 11, 34},
     1e-12, 0.6},
    {"polygons", // corners of both on the other: their numbers do not depend on the order of the list
     "carom: 1\ngravity: [0, -10]\nbodies:\n"
     "  a: {mass: 1, inertia: 0.01, at: [0, 0.4], angle: 0.3, shape: {box: [0.2, 0.1]}}\n"
     "  d: {mass: 1, inertia: 0.01, at: [0.05, 0.7], angle: 1, shape: {polygon: [[0, 0], [0.1, 0], [0, 0.1]]}}\n"
     "  o: {repeat: %d, index: i, body: {mass: 1, inertia: 0.01, at: [9 + i, 9], shape: {circle: 0.1}}}\n"
     "shapes: {floor: {plane: [0, 1]}}\ncontacts:\n"
     "  two: {between: [d, a], friction: 0.2}\n  h: {between: [floor, [d, a]], friction: 0.2}\n"
     "  g: {among: [o, a]}\n",
     {"a-d.*", "o.*-a.gap"},
     {2, 10, 13, 33},
     1e-12, 0.6},
    {"spheres",
     "carom: 1\ngravity: [0, 0, -10]\nbodies:\n"
     "  a: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0, 0.4], spin: [1, 2, 3], shape: {sphere: 0.1}}\n"
     "  d: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.05, 0.02, 0.9], shape: {sphere: 0.1}}\n"
     "  o: {repeat: %d, index: i, body: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [9 + i, 0, 9], "
     "shape: {sphere: 0.1}}}\n"
     "shapes: {floor: {plane: [0, 0, 1]}, roof: {plane: [0, 0, -1], at: [0, 0, 50]}}\ncontacts:\n"
     "  all: {among: [a, d, o], restitution: 0.6, friction: 0.1}\n"
     "  h: {between: [[a, d], [floor, roof]], restitution: 0.5, "
     "friction: {along: 0.2, across: 0.1, direction: [1, 0, 0]}}\n",
     {"a-d.*", "a-roof.*", "o.*-d.force"},
     {2, 9, 12, 33},
     1e-12, 0.6},
    {"boxes in space", // a list from three pairs on: the others are not among them
     "carom: 1\ngravity: [0, 0, -10]\nbodies:\n"
     "  a: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0, 0.4], spin: [1, 2, 3], shape: {box: [0.2, 0.2, 0.1]}}\n"
     "  o: {repeat: %d, index: i, body: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [9 + i, 0, 9], "
     "shape: {sphere: 0.1}}}\n"
     "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts:\n"
     "  h: {between: [a, floor], friction: 0.3}\n  far: {between: [a, o]}\n",
     {"a-floor.*", "a-o.0.*"},
     {1, 2, 5, 9},
     1e-12, 0.3}, // before it rests on four corners, whose shares are not determined
};

static carom_result *result_as(const family *f, int others, bool written, const char *const *columns, bool *listed) {
    char text[3000];
    const int length = snprintf(text, sizeof text, f->text, others);
    carom_error err = {0};
    carom_model *m = carom_model_create(
        &(carom_model_def){.text = text, .length = (size_t)length, .file = "test.yaml", .pairs = written}, &err);
    if (!m) fail_msg("%s, %d: %s", f->name, others, err.text);
    const carom_sim_def def = sim_def(m, "moreau-midpoint", NULL, 2e-3, f->end);
    carom_sim *sim = carom_sim_create(&def, &err);
    if (!sim) fail_msg("%s, %d: %s", f->name, others, err.text);
    carom_record *r = carom_record_create(
        &(carom_record_def){
            .sim = sim, .model = m, .memory = true, .step = 2e-3, .end = f->end, .every = 1, .columns = columns},
        &err);
    if (!r) fail_msg("%s, %d: %s", f->name, others, err.text);
    if (carom_record_advance(r, 0, 0, &err) != CAROM_OK) fail_msg("%s, %d: %s", f->name, others, err.text);
    carom_result *result = carom_record_result(r, &err);
    *listed = carom_model_lists(m);
    carom_record_destroy(r);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return result;
}

static carom_result *result_of(const family *f, int others, const char *const *columns, bool *listed) {
    return result_as(f, others, false, columns, listed);
}

// Of all models: those of other bodies are not compared.
static bool is_others(const char *name) {
    return strncmp(name, "o.", 2) == 0 || strstr(name, "-o.") || strcmp(name, "potential") == 0 ||
           strcmp(name, "kinetic") == 0 || strcmp(name, "energy") == 0;
}

static int compare(const family *f, carom_result *x, carom_result *y, const char *what) {
    const long rows = carom_result_rows(x);
    int n = 0;
    assert_int_equal(rows, carom_result_rows(y));
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < carom_result_columns(side ? y : x); ++i) {
            const char *name = carom_result_column(side ? y : x, i);
            if (!is_others(name) && carom_result_find(side ? x : y, name) < 0)
                fail_msg("%s, %s: column %s is in one of two alone", f->name, what, name);
        }
    for (int i = 0; i < carom_result_columns(x); ++i) {
        const char *name = carom_result_column(x, i);
        const int k = carom_result_find(y, name), nx = carom_result_columns(x), ny = carom_result_columns(y);
        if (is_others(name) && (k < 0 || strncmp(name, "o.0", 3) != 0)) continue;
        ++n;
        for (long row = 0; row < rows; ++row) {
            const double a = carom_result_values(x)[row * nx + i], b = carom_result_values(y)[row * ny + k];
            if (!(fabs(a - b) <= f->tol * (1 + fabs(a))))
                fail_msg("%s, %s: %s in row %ld: %.17g and %.17g", f->name, what, name, row, a, b);
        }
    }
    return n;
}

static void columns_do_not_depend_on_a_count(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; ++i)
        for (int asked = 0; asked < 2; ++asked) {
            const family *f = &families[i];
            bool listed, many = false;
            carom_result *first = result_of(f, f->sizes[0], asked ? f->columns : NULL, &listed);
            assert_false(listed);
            for (int k = 1; k < 4; ++k) {
                carom_result *x = result_of(f, f->sizes[k], asked ? f->columns : NULL, &listed);
                const int n = compare(f, first, x, asked ? "on request" : "by default");
                assert_true(n > 4);
                many = many || listed;
                carom_result_close(x);
            }
            if (!many) fail_msg("%s: not on both sides of the count", f->name);
            carom_result_close(first);
        }
}

// Where a family has one member, its entry has no pair, and columns all the same: without a gap, and without forces.
static void a_family_of_one_has_the_columns_of_two(void **state) {
    (void)state;
    static const family f = {
        .name = "one",
        .text = "carom: 1\ngravity: [0, -10]\nshapes: {floor: {plane: [0, 1]}}\n"
                "bodies: {o: {repeat: %d, body: {mass: 1, inertia: 1, at: [i, 1], shape: {circle: 0.1}}}}\n"
                "contacts: {c: {among: o}, g: {between: [o, floor]}}\n",
        .end = 0.01};
    static const char *const all[] = {"c.gap", "c.force", "c.impulse", "c.closed"};
    bool listed;
    carom_result *r[2] = {result_of(&f, 1, NULL, &listed), result_of(&f, 2, NULL, &listed)};
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < carom_result_columns(r[k]); ++i) {
            const char *name = carom_result_column(r[k], i);
            if (!is_others(name) && carom_result_find(r[!k], name) < 0) fail_msg("%s is in one of two alone", name);
        }
    for (int i = 0; i < 4; ++i) {
        const int k = carom_result_find(r[0], all[i]);
        assert_true(k >= 0);
        assert_true(i == 0 ? isnan(carom_result_values(r[0])[k]) : carom_result_values(r[0])[k] == 0);
    }
    carom_result_close(r[0]), carom_result_close(r[1]);
}

// Events have the same names and times, and contacts of families their numbers on request, whether pairs come and go or
// are written.
static void events_have_the_same_names_in_both_forms(void **state) {
    (void)state;
    static const char *const numbers[][3] = {{"all.1.gap", "g.2.force"}, {"g.3.gap"}, {"all.2.gap"}, {"far.1.gap"}};
    for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
        const family *f = &families[i];
        carom_error err = {0};
        carom_result *r[2];
        bool listed[2];
        for (int k = 0; k < 2; ++k) r[k] = result_as(f, f->sizes[2], k == 0, NULL, &listed[k]);
        assert_true(!listed[0] && listed[1]);
        const long n = carom_result_event_count(r[0]);
        assert_true(n > 0 && n == carom_result_event_count(r[1]));
        for (long e = 0; e < n; ++e) {
            carom_result_event x[2];
            for (int k = 0; k < 2; ++k) assert_int_equal(carom_result_events(r[k], e, 1, &x[k], &err), CAROM_OK);
            assert_string_equal(x[0].contact, x[1].contact);
            assert_true(fabs(x[0].t - x[1].t) <= 1e-12);
        }
        for (int k = 0; k < 2; ++k) carom_result_close(r[k]);
        for (int k = 0; k < 2; ++k) r[k] = result_as(f, f->sizes[2], k == 0, numbers[i], &listed[k]);
        assert_true(compare(f, r[0], r[1], "numbers") > 1);
        for (int k = 0; k < 2; ++k) carom_result_close(r[k]);
    }
}

// A pair that makes one contact has the numbers of the contact; the least gap of an entry is that of its pairs.
static void pairs_have_the_numbers_of_their_contacts(void **state) {
    (void)state;
    static const char *const all[] = {"all", NULL};
    for (int k = 0; k < 2; ++k) {
        bool listed;
        const family *f = &families[0];
        carom_result *r = result_of(f, f->sizes[k ? 3 : 0], all, &listed);
        const int n = carom_result_columns(r), gap = carom_result_find(r, "all.gap"),
                  one = carom_result_find(r, "h.1.friction"), pair = carom_result_find(r, "a-floor.friction"),
                  twice = carom_result_find(r, "a-d.closed");
        assert_true(gap > 0 && one > 0 && pair > 0 && twice > 0); // a and d are a pair of two entries
        for (long row = 0; row < carom_result_rows(r); ++row) {
            const double *x = carom_result_values(r) + row * n;
            double least = HUGE_VAL;
            assert_true(x[one] == x[pair]);
            for (int i = 0; i < n; ++i) {
                const char *name = carom_result_column(r, i), *dash = strchr(name, '-');
                if (dash && strcmp(strrchr(name, '.'), ".gap") == 0 && !strstr(name, "floor"))
                    least = fmin(least, x[i]);
            }
            assert_true(x[gap] == least);
        }
        carom_result_close(r);
    }
}

// (SHP-23)  The least gap of an entry whose shapes are scattered is that of all its pairs: radii from 0.02 to 0.1 in a
// cube, which touch nowhere, and one that has flown far away.
static void the_least_gap_is_that_of_all_pairs(void **state) {
    (void)state;
    static const char *const all[] = {"all", NULL};
    static const double edges[] = {6, 40, 3000};
    for (size_t k = 0; k < sizeof edges / sizeof *edges; ++k) {
        char text[1000];
        snprintf(text, sizeof text,
                 "carom: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1], at: [-1e4, 2e3, 5], shape: {sphere: 0.1}}\n"
                 "  o:\n    repeat: %%d\n    body: {mass: 1, inertia: [1, 1, 1], shape: {sphere: 0.02 + 0.002*i}, "
                 "velocity: [sin(i), cos(i), sin(3*i)], "
                 "at: [%g*sin(12.9*i)^2, %g*sin(78.2*i + 1)^2, %g*sin(37.7*i + 2)^2]}\n"
                 "contacts: {all: {among: [a, o]}}\n",
                 edges[k], edges[k], edges[k]);
        bool listed;
        carom_result *r = result_of(&(family){.name = "scattered", .text = text, .end = 0.02}, 40, all, &listed);
        const int n = carom_result_columns(r), gap = carom_result_find(r, "all.gap");
        assert_true(listed && gap > 0);
        for (long row = 0; row < carom_result_rows(r); ++row) {
            const double *x = carom_result_values(r) + row * n;
            double least = HUGE_VAL;
            int pairs = 0;
            for (int i = 0; i < n; ++i) {
                const char *name = carom_result_column(r, i);
                if (!strchr(name, '-') || strcmp(strrchr(name, '.'), ".gap") != 0) continue;
                least = fmin(least, x[i]), ++pairs;
            }
            assert_int_equal(pairs, 41 * 40 / 2);
            assert_true(x[gap] == least);
        }
        carom_result_close(r);
    }
}

// 32 names make 496 pairs, and every contact has columns; 33 make 528, and the entry alone has.
static void long_lists_of_names_have_columns_of_the_entry(void **state) {
    (void)state;
    for (int count = 32; count <= 33; ++count) {
        char text[6000], names[400] = "";
        int used = snprintf(text, sizeof text, "carom: 1\nbodies:\n"), listed_names = 0;
        for (int i = 0; i < count; ++i) {
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "  b%d: {mass: 1, inertia: [1, 1, 1], at: [%d, 0, 0], shape: {sphere: 0.1}}\n", i, i);
            listed_names += snprintf(names + listed_names, sizeof names - (size_t)listed_names, "b%d, ", i);
        }
        snprintf(text + used, sizeof text - (size_t)used,
                 "  o: {repeat: %%d, body: {mass: 1, inertia: [1, 1, 1], at: [0, 9 + i, 0], shape: {sphere: 0.1}}}\n"
                 "contacts: {all: {among: [%s]}, far: {among: o}}\n",
                 names);
        bool listed;
        carom_result *r = result_of(&(family){.name = "names", .text = text, .end = 4e-3}, 8, NULL, &listed);
        assert_true(listed && carom_result_find(r, "all.gap") > 0);
        assert_int_equal(carom_result_find(r, "all.496.gap") > 0, count == 32);
        assert_int_equal(carom_result_find(r, "all.1.gap") > 0, count == 32);
        carom_result_close(r);
    }
}

// Contacts of families have numbers up to 500 pairs of an entry: exact names alone are accepted.
static void requests_that_cannot_be_met_are_errors(void **state) {
    (void)state;
    static const struct { const char *columns[2], *message; int others; } cases[] = {
        {{"all.3.gap"}, NULL, 5},
        {{"all.3.gap"}, NULL, 29},
        {{"all.3.gap"}, "no column matches 'all.3.gap'", 34},
        {{"all.*.gap"}, "no column matches 'all.*.gap'", 5},
        {{"a-nothing.gap"}, "no column matches 'a-nothing.gap'", 34},
        {{"o.0-o.0.gap"}, "no column matches 'o.0-o.0.gap'", 34},
        {{"*-*.gap"}, "'*-*.gap' matches more than a million pairs of shapes", 1500},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[3000];
        snprintf(text, sizeof text, families[0].text, cases[i].others);
        carom_model *m = good(text);
        carom_error err = {0};
        const carom_sim_def def = sim_def(m, "moreau-midpoint", NULL, 2e-3, 0.6);
        carom_sim *sim = carom_sim_create(&def, &err);
        if (!sim) fail_msg("%s", err.text);
        carom_record *r = carom_record_create(
            &(carom_record_def){
                .sim = sim, .model = m, .memory = true, .step = 2e-3, .end = 0.6, .columns = cases[i].columns},
            &err);
        if (!cases[i].message) {
            assert_non_null(r);
            assert_string_equal(carom_record_numbered(r), cases[i].columns[0]);
        } else if (r || !strstr(err.text, cases[i].message)) fail_msg("%s: %s", cases[i].columns[0], err.text);
        carom_record_destroy(r);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A slider with play between two guides, driven over joints: its ledger does not depend on others far away.  Corners
// that slide along a guide have gap rates of rounding, and their sign must not decide what counts as impact.
static void the_ledger_does_not_depend_on_a_count(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ngravity: [0, -9.81]\nbodies:\n"
        "  crank: {mass: 0.038, inertia: 7.4e-5, at: [0.0765, 0], spin: 150}\n"
        "  rod: {mass: 0.038, inertia: 5.9e-4, at: [0.306, 0], spin: -75}\n"
        "  slider: {mass: 0.076, inertia: 2.7e-6, at: [0.459, 0], shape: {box: [0.1, 0.05]}}\n"
        "  o: {repeat: %d, index: i, body: {mass: 1e-9, inertia: 1e-9, at: [90 + i, 90], shape: {circle: 0.1}}}\n"
        "shapes: {floor: {plane: [0, 1], at: [0, -0.026]}, ceiling: {plane: [0, -1], at: [0, 0.026]}}\njoints:\n"
        "  main: {type: revolute, between: [ground, crank], at: [0, 0]}\n"
        "  big: {type: revolute, between: [crank, rod], at: [0.153, 0]}\n"
        "  small: {type: revolute, between: [rod, slider], at: [0.459, 0]}\ncontacts:\n"
        "  guides: {between: [slider, [floor, ceiling]], restitution: 0.4, friction: 0.01}\n  far: {among: o}\n";
    carom_ledger l[2];
    for (int k = 0; k < 2; ++k) {
        char own[3000];
        snprintf(own, sizeof own, text, k ? 34 : 3);
        carom_model *m = good(own);
        carom_error err = {0};
        const carom_sim_def def = sim_def(m, "moreau-midpoint", NULL, 1e-5, 0.03);
        carom_sim *sim = carom_sim_create(&def, &err);
        if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
        assert_true(carom_model_lists(m) == (k == 1));
        assert_int_equal(carom_sim_ledger(sim, &l[k], &err), CAROM_OK);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    assert_true(l[0].impacts > 10 && l[0].impacts == l[1].impacts);
    if (!(fabs(l[0].energy.impact - l[1].energy.impact) <= 1e-9 * l[0].energy.impact &&
          fabs(l[0].energy.friction - l[1].energy.friction) <= 1e-9 * l[0].energy.friction))
        fail_msg("lost to impact %.12g and %.12g, to friction %.12g and %.12g", l[0].energy.impact, l[1].energy.impact,
                 l[0].energy.friction, l[1].energy.friction);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_do_not_depend_on_a_count),
                                       cmocka_unit_test(a_family_of_one_has_the_columns_of_two),
                                       cmocka_unit_test(events_have_the_same_names_in_both_forms),
                                       cmocka_unit_test(pairs_have_the_numbers_of_their_contacts),
                                       cmocka_unit_test(the_least_gap_is_that_of_all_pairs),
                                       cmocka_unit_test(long_lists_of_names_have_columns_of_the_entry),
                                       cmocka_unit_test(requests_that_cannot_be_met_are_errors),
                                       cmocka_unit_test(the_ledger_does_not_depend_on_a_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
