// test_locale.c: in a host program with a decimal comma everything reads and writes as in one without.
//
// The locale is made by localedef in the test's folder; where that is not possible one of the system's is looked for.
#define _DEFAULT_SOURCE // mkdtemp, setenv
#include "base/number.h"
#include "result_rig.h"
#include <carom/build.h>
#include <carom/flex.h>
#include <float.h>
#include <locale.h>
#include <stdio.h>

static bool comma_here(const char *name) {
    return setlocale(LC_ALL, name) && strtod("1,5", NULL) == 1.5 && strtod("1.5", NULL) == 1;
}

// False: there is no locale with a decimal comma, and none could be made.
static bool decimal_comma(void) {
    char command[400];
    FILE *f = fopen(path("comma.src"), "w");
    fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n", f);
    fclose(f);
    snprintf(command, sizeof command, "localedef -c -i %s -f ANSI_X3.4-1968 %s >/dev/null 2>&1", path("comma.src"),
             path("comma"));
    const int made = system(command); // it complains about what it lacks, and makes it
    (void)made;
    setenv("LOCPATH", folder, 1);
    if (comma_here("comma")) return true;
    unsetenv("LOCPATH");
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "fr_FR.utf8",
                                        "es_ES.UTF-8", "it_IT.UTF-8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (comma_here(names[i])) return true;
    setlocale(LC_ALL, "C");
    return false;
}

// -- everything that has numbers ----------------------------------------------------------------------------

static void put_file(FILE *out, const char *name) {
    char line[4096];
    FILE *f = fopen(path(name), "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) fputs(line, out);
    fclose(f);
}

static void put_run(FILE *out) {
    carom_error err = {0};
    simulate(ball, "moreau-jean", "locale.csv", 1e-3, 0.5, 10, 0);
    put_file(out, "locale.csv");
    put_file(out, "locale.csv.events.csv");
    carom_result *r = load("locale.csv");
    double *x = column(r, "y");
    fwrite(x, sizeof *x, (size_t)carom_result_rows(r), out);
    free(x);
    carom_result_close(r);
    rig g = make(ball, "moreau-jean", "locale.h5", 1e-3, 0.5, 10, 0, false);
    carom_ledger l;
    carom_ledger_names names;
    assert_int_equal(carom_record_advance(g.r, 0, 0, &err), CAROM_OK);
    assert_int_equal(carom_record_ledger(g.r, &l, &names, &err), CAROM_OK);
    l.seconds = l.wall = 0.25; // the clock's part
    carom_ledger_print(out, &l, names);
    carom_ledger_json(out, &l, names);
    finish(&g);
    r = load("locale.h5");
    fprintf(out, "%s\n", carom_result_text(r, "options"));
    carom_result_close(r);
}

static void put_options(FILE *out) {
    static const char *const given[] = {"theta=0.75", "tol=2.5e-11", NULL};
    static const char *const wrong[] = {"theta=1.5", NULL}, *const comma[] = {"theta=0,75", NULL},
                             *const * lists[] = {given, wrong, comma};
    carom_error err = {0};
    const carom_model_def md = {.text = ball, .length = strlen(ball), .file = "model.yaml"};
    carom_model *m = carom_model_create(&md, &err);
    for (int i = 0; i < 3; ++i) {
        carom_sim_def sd = carom_sim_default();
        sd.system = carom_model_system(m);
        sd.scheme = "moreau-jean", sd.options = lists[i];
        sd.h = 1e-3, sd.t_end = 0.1;
        sd.q0 = carom_model_q0(m), sd.v0 = carom_model_v0(m);
        carom_sim *sim = carom_sim_create(&sd, &err);
        char text[2000] = "";
        assert_int_equal(sim != NULL, i == 0);
        if (sim) carom_sim_options_text(sim, text, sizeof text);
        fprintf(out, "%s\n", sim ? text : err.text);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

static void put_errors(FILE *out) {
    static const char *const texts[] = {
        "carom: 1\ncoordinates: {x: {at: 0.5, rate: 1.5}}\nenergy: {kinetic: x'^2*1.25.5}\n",
        "carom: 1\nparameters: {a: '1,5'}\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2}\n",
        "carom: 1\ncoordinates: {x: 0.125}\nenergy: {kinetic: 0.5*x'^2}\nconstraints: {c: x - 0.5}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        carom_error err = {0};
        const carom_model_def md = {.text = texts[i], .length = strlen(texts[i]), .file = "model.yaml"};
        assert_null(carom_model_create(&md, &err));
        fprintf(out, "%s\n", err.text);
    }
}

static void put_matrices(FILE *out) {
    static const char M[] = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1.5\n2 2 0.25e1\n";
    carom_triplets t = {0};
    carom_error err = {0};
    assert_int_equal(carom_triplets_read(M, strlen(M), "M.mtx", &t, &err), CAROM_OK);
    assert_true(t.value[0] == 1.5 && t.value[1] == 2.5);
    fwrite(t.value, sizeof *t.value, 2, out);
    carom_triplets_free(&t);
}

static void put_built(FILE *out) {
    carom_error err = {0};
    carom_build *b = carom_build_create("built");
    carom_build_gravity(b, 0, -9.81, 0);
    const double at[2] = {0.125, 1.5};
    const carom_planar_def def = {.name = "b", .mass = 1.25, .inertia = 0.5, .at = {at[0], at[1]}};
    carom_build_planar(b, &def);
    carom_model *m = carom_build_model(b, &err);
    if (!m) fail_msg("%s", err.text);
    fwrite(carom_model_q0(m), sizeof(double), 2, out);
    assert_true(carom_model_q0(m)[1] == 1.5);
    carom_model_destroy(m);
    carom_build_destroy(b);
}

static void put_text(void *user, const char *text, size_t length) { fwrite(text, 1, length, user); }

static void put_c(FILE *out) {
    carom_error err = {0};
    const carom_model_def md = {.text = ball, .length = strlen(ball), .file = "model.yaml"};
    carom_model *m = carom_model_create(&md, &err);
    assert_int_equal(carom_model_write_c(m, "ball", ball, strlen(ball), put_text, out, &err), CAROM_OK);
    carom_model_destroy(m);
}

static char *everything(size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    put_run(out);
    put_options(out);
    put_errors(out);
    put_matrices(out);
    put_built(out);
    put_c(out);
    fclose(out);
    return text;
}

static bool here;

static void numbers_do_not_depend_on_the_locale(void **state) {
    (void)state;
    size_t plain_size = 0, comma_size = 0;
    if (!here) skip();
    setlocale(LC_ALL, "C");
    char *plain = everything(&plain_size);
    assert_true(decimal_comma());
    char *comma = everything(&comma_size);
    char text[8];
    snprintf(text, sizeof text, "%g", 1.5);
    assert_string_equal(text, "1,5"); // and the host's locale is as it was
    setlocale(LC_ALL, "C");
    assert_true(plain_size > 10000);
    assert_int_equal(plain_size, comma_size);
    assert_memory_equal(plain, comma, plain_size);
    free(plain);
    free(comma);
}

static int begin_here(void **state) {
    const int status = begin(state);
    here = decimal_comma();
    if (!here) print_message("SKIPPED: this system has no locale with a decimal comma, and no localedef to make one\n");
    return status;
}

// The text of a number in rows is printf()'s to the last digit: numbers with all bits, with few, halfway between two
// decimals, beside powers of ten.
static void rows_have_the_digits_of_printf(void **state) {
    (void)state;
    uint64_t bits = UINT64_C(88172645463325252);
    const carom_locale l = carom_locale_begin();
    for (int i = 0; i < 200000; ++i) {
        double x;
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&x, &bits, sizeof x);
        const int kind = i % 4, power = (int)(bits >> 40) % 120;
        if (kind == 1)
            x = ldexp((double)(bits >> 11), -power);
        else if (kind == 2)
            x = ldexp((double)((int)(bits >> 20) % 4096), -power / 2);
        else if (kind == 3)
            x = pow(10, power / 2 - 30) * (1 + (double)((int)(bits >> 20) % 3) * DBL_EPSILON);
        char text[CAROM_EXACT], same[CAROM_EXACT];
        text[carom_exact(text, i == 0 ? -0.0 : i == 1 ? INFINITY : x)] = 0;
        snprintf(same, sizeof same, "%.17g", i == 0 ? -0.0 : i == 1 ? INFINITY : x);
        assert_string_equal(text, same);
    }
    carom_locale_end(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_have_the_digits_of_printf),
                                       cmocka_unit_test(numbers_do_not_depend_on_the_locale)};
    const int failed = cmocka_run_group_tests(tests, begin_here, end);
    return failed ? failed : here ? 0 : 77;
}
