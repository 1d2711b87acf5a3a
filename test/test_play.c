// test_play.c: `carom play`, and the engine that its page holds, here as a program of this machine.  What a browser
// makes of them is tested by page/test/play.mjs.
#define _DEFAULT_SOURCE // mkdtemp
#include "program.h"
#include <stdbool.h>
#include <sys/stat.h>

static const char ball[] = "carom: 1\nname: Ball </script> /*carom page.js*/\nparameters: {e: 0.5, m: 2}\ncoordinates: "
                           "{y: 1}\nenergy: {kinetic: m/2*y'^2, potential: 10*m*y}\n"
                           "contacts: {ground: {gap: y, restitution: e}}\ndraw: {ball: {circle: 0.1, at: [0, "
                           "y]}}\nsimulation: {scheme: mixed, step: 0.01, end: 0.6}\n";

// The engine with a model on its standard input.
static int engine(const char *arguments, const char *model) {
    char command[1000];
    snprintf(command, sizeof command, CAROM_BINARY_DIR "/carom_play %s <%s >stdout.txt 2>stderr.txt", arguments, model);
    const int status = system(command);
    get("stdout.txt", out, sizeof out);
    get("stderr.txt", complaints, sizeof complaints);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static void a_model_is_checked(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(engine("check", "ball.yaml"), 0);
    assert_says(out, "\"scheme\": \"mixed\", \"step\": 0.01");
    assert_says(out, "{\"name\": \"e\", \"value\": 0.5}, {\"name\": \"m\", \"value\": 2}");
    put("bad.yaml", "carom: 1\ncoordinates: {y: 1}\nenergi: {}\n");
    assert_int_equal(engine("check", "bad.yaml"), 2);
    assert_says(complaints, "{\"wrong\": \"model:3:1: unknown key 'energi'");
    assert_int_equal(engine("schemes", "/dev/null"), 0);
    assert_says(out, "\"name\": \"half-explicit\"");
}

// A fall from 1 m with g = 10 and 2 kg: 20 J at the impact at t = 0.447, of which 1 - e^2 = 3/4 are lost; the next
// impact is at 0.894.
static void a_run_gives_a_page(void **state) {
    (void)state;
    put("ball.yaml", ball);
    assert_int_equal(engine("run", "ball.yaml"), 0);
    assert_says(out, "<!doctype html>");
    const char *mark = strstr(out, "/*carom page.js*/");
    assert_true(mark && !strstr(mark + 1, "/*carom page.js*/")); // that of the page, not the model's
    assert_says(out, "\"title\":\"Ball \\u003c/script> /\\u002acarom page.js\\u002a/\"");
    assert_null(strstr(out, "Ball </script>"));
    assert_says(out, "\"impacts\": 1,");
    const char *at = strstr(out, "\"impact\": ");
    assert_non_null(at);
    const double impact = strtod(at + strlen("\"impact\": "), NULL);
    assert_true(impact > 15 - 1e-6 && impact < 15 + 1e-6); // mixed keeps its tolerance
    assert_int_equal(engine("run set:e=1 end=0.3 scheme=half-explicit step=1e-3", "ball.yaml"), 0);
    assert_says(out, "\"impacts\": 0,");
    assert_says(out, "\"scheme\":\"half-explicit\"");
}

static void wrong_calls_are_told(void **state) {
    (void)state;
    put("ball.yaml", ball);
    static const struct { const char *line, *says; } cases[] = {
        {"run step=-1", "step must be positive, got -1"},
        {"run step=2mm", "step: '2mm' is not a time"},
        {"run end=x", "'x' is not a time"},
        {"run scheme=mixde", "did you mean 'mixed'"},
        {"run set:g=1", "has no parameter or initial value 'g'"},
        {"run fast", "'fast' is not understood"},
        {"walk", "check, run or schemes?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(engine(cases[i].line, "ball.yaml"), 2);
        assert_says(complaints, cases[i].says);
    }
}

static void the_page_is_one_file(void **state) {
    (void)state;
    struct stat st;
    put("ball.yaml", ball);
    assert_int_equal(carom("play ball.yaml"), 0);
    assert_int_equal(stat("ball.html", &st), 0);
    assert_true(st.st_size < 2300000 && st.st_size > 500000);
    get("ball.html", out, sizeof out);
    assert_says(out, "\"own\":{\"name\":\"ball.yaml\"");
    assert_null(strstr(out, "Ball </script>"));
    assert_int_equal(carom("play"), 0);
    assert_int_equal(stat("play.html", &st), 0);
    put("bad.yaml", "carom: 1\nenergi: {}\n");
    assert_int_equal(carom("play bad.yaml"), 2);
    assert_says(complaints, "bad.yaml:2:1: unknown key 'energi'");
    assert_int_equal(carom("play ball.yaml -o page.txt"), 2);
    assert_int_equal(carom("play nothing.yaml"), 2);
    assert_says(complaints, "cannot read nothing.yaml");
    assert_int_equal(carom("play ball.yaml -o missing/page.html"), 2);
}

int main(void) {
    char folder[] = "/tmp/carom-play-XXXXXX", command[100];
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_checked),
        cmocka_unit_test(a_run_gives_a_page),
        cmocka_unit_test(wrong_calls_are_told),
        cmocka_unit_test(the_page_is_one_file),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? failed : 1;
}
