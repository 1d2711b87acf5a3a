// test_table.c: tables of sweeps, and what members of a model hold, as they are written and read.
#define _DEFAULT_SOURCE // mkdtemp
#include "json.h"
#include "io/table.h"
#include "result_rig.h"
#include <carom/table.h>

enum { ROWS = 4100 }; // more than are written at a time

static carom_table make_table(const char *name, long rows) {
    carom_error err = {0};
    carom_table t = {.name = strdup(name), .columns = 3, .column = calloc(3, sizeof *t.column)};
    static const char *const names[] = {"x, \"y\"", "count", "word"};
    for (int i = 0; i < 3; ++i) t.column[i].name = strdup(names[i]), t.column[i].kind = (carom_column_kind)i;
    assert_int_equal(carom_table_reserve(&t, rows, &err), CAROM_OK);
    for (long k = 0; k < rows; ++k) {
        t.column[0].real[k] = (k % 2 ? -1.0 : 1.0) / (3.0 + (double)k);
        t.column[1].integer[k] = k * k - 7;
        if (k % 3) t.column[2].text[k] = strdup(k % 2 ? "plain" : "two\nlines, \"quoted\"");
    }
    return t;
}

static void a_table_is_read_as_it_is_written(void **state) {
    (void)state;
    carom_error err = {0};
    carom_table t[2] = {make_table("runs", ROWS), make_table("few", 2)}, back;
    static char longest[3000];
    memset(longest, 'w', sizeof longest - 1);
    free(t[1].column[2].text[1]);
    t[1].column[2].text[1] = strdup(longest);
    const carom_table_note note = {"about", "what it is"};
    const char *file = path("tables.h5");
    assert_int_equal(carom_tables_write(file, t, 2, &note, 1, &err), CAROM_OK);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(carom_table_read(path("tables.h5"), t[i].name, &back, &err), CAROM_OK);
        assert_string_equal(back.name, t[i].name);
        assert_int_equal(back.rows, t[i].rows);
        assert_int_equal(back.columns, 3);
        for (int c = 0; c < 3; ++c) {
            assert_string_equal(back.column[c].name, t[i].column[c].name);
            assert_int_equal(back.column[c].kind, t[i].column[c].kind);
            assert_ptr_equal(carom_table_column(&back, t[i].column[c].name), &back.column[c]);
        }
        assert_null(carom_table_column(&back, "nothing"));
        assert_memory_equal(back.column[0].real, t[i].column[0].real, (size_t)t[i].rows * sizeof(double));
        assert_memory_equal(back.column[1].integer, t[i].column[1].integer, (size_t)t[i].rows * sizeof(long long));
        for (long k = 0; k < t[i].rows; ++k) {
            const char *text = t[i].column[2].text[k] ? t[i].column[2].text[k] : "";
            if (strlen(text) <= 1024) assert_string_equal(back.column[2].text[k], text);
            else
                assert_true(strlen(back.column[2].text[k]) == 1024 && strncmp(back.column[2].text[k], text, 1024) == 0);
        }
        carom_table_free(&back);
    }
    char *text = carom_table_note_read(path("tables.h5"), "about");
    assert_string_equal(text, "what it is");
    free(text);
    assert_null(carom_table_note_read(path("tables.h5"), "nothing"));
    assert_true(carom_table_probe(path("tables.h5"), "few"));
    assert_false(carom_table_probe(path("tables.h5"), "many"));
    assert_false(carom_table_probe(path("nothing.h5"), "few"));
    assert_int_equal(carom_table_read(path("tables.h5"), "many", &back, &err), CAROM_BAD_INPUT);
    assert_int_equal(carom_table_read(path("nothing.h5"), "few", &back, &err), CAROM_BAD_INPUT);
    for (int i = 0; i < 2; ++i) carom_table_free(&t[i]);
}

// With any byte changed a file is read or refused: HDF5 alone would follow the places of a column out of its row.
static void damaged_tables_are_read_or_refused(void **state) {
    (void)state;
    carom_error err = {0};
    carom_table t = make_table("few", 2), back;
    static unsigned char good[20000], bad[20000];
    assert_int_equal(carom_tables_write(path("damaged.h5"), &t, 1, NULL, 0, &err), CAROM_OK);
    carom_table_free(&t);
    FILE *f = fopen(path("damaged.h5"), "rb");
    const size_t n = fread(good, 1, sizeof good, f);
    fclose(f);
    int refused = 0;
    for (size_t i = 0; i < n; ++i) {
        // in the midst of nothing
        if (good[i] == 0 && i > 0 && i + 1 < n && good[i - 1] == 0 && good[i + 1] == 0 && i % 8) continue;
        memcpy(bad, good, n);
        bad[i] ^= 0x65;
        f = fopen(path("damaged.h5"), "wb");
        fwrite(bad, 1, n, f);
        fclose(f);
        refused += carom_table_read(path("damaged.h5"), "few", &back, &err) != CAROM_OK;
        carom_table_free(&back);
    }
    assert_true(refused > 100);
}

static void a_table_as_text(void **state) {
    (void)state;
    carom_error err = {0};
    carom_table t[2] = {make_table("runs", 4), make_table("few", 1)};
    assert_int_equal(carom_tables_write(path("tables.csv"), t, 2, NULL, 0, &err), CAROM_OK);
    static const char *const names
        [] = {"tables.csv", "tables.csv.few.csv"},
   *const texts[] = {
       "\"x, \"\"y\"\"\",count,word\n0.33333333333333331,-7,\n-0.25,-6,plain\n0.20000000000000001,-3,\"two\nlines, "
       "\"\"quoted\"\"\"\n-0.16666666666666666,2,\n",
       "\"x, \"\"y\"\"\",count,word\n0.33333333333333331,-7,\n"};
    for (int i = 0; i < 2; ++i) {
        char text[1000] = "";
        FILE *f = fopen(path(names[i]), "r");
        assert_non_null(f);
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        fclose(f);
        assert_string_equal(text, texts[i]);
        carom_table_free(&t[i]);
    }
    carom_table none = {0};
    assert_int_equal(carom_tables_write(path("no-such-folder/x.csv"), &none, 1, NULL, 0, &err), CAROM_IO);
    assert_int_equal(carom_tables_write(path("no-such-folder/x.h5"), &none, 1, NULL, 0, &err), CAROM_IO);
}

// A body on a spring is let go at 0.1 and pushed: x'' + 0.4 x' + 4 x = 0.5, x = 1/8 - exp(-t/5) (cos wt + sin wt/(5
// w))/40, w^2 = 3.96.
static const char spring[] =
    "carom: 1\nbodies: {b: {mass: 1, inertia: 1, at: [1.1, 0]}}\n"
    "springs: {s: {between: [ground, b], points: [[0, 0], [0, 0]], stiffness: 4, damping: 0.4, length: 1}}\n"
    "loads: {push: {on: b, force: [0.5, 0]}}\n";

static void elements_hold_their_energy(void **state) {
    (void)state;
    carom_error err = {0};
    rig g = make(spring, "moreau-midpoint", NULL, 1e-4, 1, 1, 0, false);
    while (!carom_sim_done(g.sim))
        if (carom_record_advance(g.r, 1, 0, &err) != CAROM_OK) fail_msg("%s", err.text);
    const double w = sqrt(3.96), fades = exp(-0.2) / 40, x = 0.125 - fades * (cos(w) + 0.2 * sin(w) / w),
                 v = fades * (w + 0.04 / w) * sin(w);
    const double stored = 2 * x * x, given = 0.5 * (x - 0.1), taken = given + 0.02 - stored - v * v / 2;
    char *json = NULL, *text = NULL, want[200];
    size_t length;
    FILE *f = open_memstream(&json, &length);
    fputs("{\"a\": 0", f), carom_elements_json(f, g.m, g.sim), fputs("}", f);
    fclose(f);
    assert_true(json_valid(json));
    double energy = NAN, work = NAN, load = NAN;
    const char *s = strstr(json, "\"s\": {\"kind\": \"spring\", \"energy\": "),
               *push = strstr(json, "\"push\": {\"kind\": \"load\", ");
    assert_non_null(s), assert_non_null(push);
    assert_int_equal(sscanf(s, "\"s\": {\"kind\": \"spring\", \"energy\": %lf, \"work\": %lf}", &energy, &work), 2);
    assert_non_null(strstr(push, "\"work\": "));
    assert_int_equal(sscanf(strstr(push, "\"work\": "), "\"work\": %lf}", &load), 1);
    assert_true(taken > 4e-4 && fabs(energy - stored) < 1e-6 && fabs(work + taken) < 1e-6 && fabs(load - given) < 1e-6);
    f = open_memstream(&text, &length);
    carom_elements_print(f, g.m, g.sim);
    fclose(f);
    snprintf(want, sizeof want, "s stores %.6g, has taken %.6g", energy, -work);
    assert_non_null(strstr(text, want));
    snprintf(want, sizeof want, "push has given %.6g", load);
    assert_non_null(strstr(text, want));
    free(json), free(text);
    carom_record_finish(g.r, "done", NULL, &err);
    carom_record_destroy(g.r);
    carom_sim_destroy(g.sim);
    carom_model_destroy(g.m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_read_as_it_is_written),
        cmocka_unit_test(damaged_tables_are_read_or_refused), cmocka_unit_test(a_table_as_text),
        cmocka_unit_test(elements_hold_their_energy),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
