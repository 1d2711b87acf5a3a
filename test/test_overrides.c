// test_overrides.c: options that change a model or its run, in commands that have them: the output is that of a model
// file in which the same is written, and another one than without the option.
#define _POSIX_C_SOURCE 200809L
#include "model_text.h"
#include "own_folder.h"
#include "program.h"

// What the file says of each, and the option instead.
typedef struct change { const char *option, *name, *before, *after; } change;
static const change changes[] = {
    {"--set k=9", "--set", "k: 4", "k: 9"},
    {"--set x=0.5", "--set", "{at: 0.3,", "{at: 0.5,"},
    {"--set \"x'=0.7\"", "--set", "rate: 0.2", "rate: 0.7"},
    {"--input 'u=0.3*sin(2*t) + 0.1'", "--input", "{u: 0.2}", "{u: {signal: 0.3*sin(2*t) + 0.1}}"},
    {"--end 1.5", "--end", "end: 1}", "end: 1.5}"},
    {"--step 0.004", "--step", "step: 0.02", "step: 0.004"},
    {"--scheme mixed", "--scheme", "scheme: event-driven", "scheme: mixed"},
    {"--option rtol=1e-4", "--option", "end: 1}", "end: 1, options: {rtol: 1e-4}}"},
};
enum { CHANGES = sizeof changes / sizeof *changes };

static const char model[] = "carom: 1\n"
                            "name: Overrides\n"
                            "parameters: {k: 4, c: 0.2}\n"
                            "inputs: {u: 0.2}\n"
                            "coordinates: {x: {at: 0.3, rate: 0.2}, y: 0}\n"
                            "energy: {kinetic: 1/2*x'^2 + 1/2*y'^2, potential: 1/2*k*x^2 + 1/4*x^4 + y^2 + "
                            "1/2*(x - y)^2}\n"
                            "forces: {x: \"u - c*x'\", y: \"-0.3*y'\"}\n"
                            "simulation: {scheme: event-driven, step: 0.02, end: 1}\n";

// Commands, what they write, options that they take from the command line alone, and changes without
// effect: an equilibrium does not depend on where the search begins.
static const struct { const char *verb, *arguments, *file, *own, *idle; } commands[] = {
    {"run", "--quiet --every 1 -o out.csv", "out.csv", "", ""},
    {"sweep", "--quiet --vary c=0.1,0.4 --observe x --observe y --observe \"x'\" -o out.csv", "out.csv", "", ""},
    {"equilibrium", "--save out.txt", "out.txt", "", "x=0.5 x'=0.7"},
    {"modes", "-o out.csv", "out.csv", "", "x=0.5 x'=0.7"},
    {"gradient", "--of \"x + y\" --by \"c,x,x'\" -o out.csv", "out.csv", "--step --scheme", ""},
    {"lyapunov", "-o out.csv", "out.csv", "--step --scheme", "rtol=1e-4"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

// What a command prints and writes of a model.
static void ask(int k, const char *text, const char *option, char *print, char *file, size_t room) {
    put("model.yaml", text);
    const int status = carom("%s model.yaml %s %s", commands[k].verb, commands[k].arguments, option);
    if (status != 0) fail_msg("%s %s: %d, %s", commands[k].verb, option, status, complaints);
    strcpy(print, out);
    assert_true(get(commands[k].file, file, room) > 20 && remove(commands[k].file) == 0);
}

static void options_are_what_files_say(void **state) {
    (void)state;
    static char printed[1 << 20], written[1 << 22], print[1 << 20], file[1 << 22], help[1 << 20];
    int pairs = 0;
    for (int k = 0; k < COMMANDS; ++k) {
        assert_int_equal(carom("help %s", commands[k].verb), 0);
        strcpy(help, out);
        for (const change *c = changes; c < changes + CHANGES; ++c) {
            char text[2000];
            if (!strstr(help, c->name) || strstr(commands[k].own, c->name)) continue;
            const char *at = strstr(model, c->before), *value = c->option + strlen(c->name) + 1;
            assert_non_null(at);
            snprintf(text, sizeof text, "%.*s%s%s", (int)(at - model), model, c->after, at + strlen(c->before));
            ask(k, model, c->option, printed, written, sizeof written);
            ask(k, text, "", print, file, sizeof file);
            if (strcmp(printed, print) != 0 || strcmp(written, file) != 0)
                fail_msg("%s %s: not what a file with '%s' gives:\n%.900s\n%.900s", commands[k].verb, c->option,
                         c->after, printed, print);
            ask(k, model, "", print, file, sizeof file);
            char name[40];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(value + (*value == '"'), "\""), value + (*value == '"'));
            if (!strstr(commands[k].idle, name) && strcmp(printed, print) == 0 && strcmp(written, file) == 0)
                fail_msg("%s %s: no effect", commands[k].verb, c->option);
            ++pairs;
        }
    }
    assert_true(pairs >= 30);
}

// x = cos(w t) until 1 + 1/w: each run of a sweep has its own end, as a search has, and derivatives follow it.
static void ends_follow_parameters(void **state) {
    (void)state;
    double last[3];
    put("cos.yaml", "carom: 1\nparameters: {w: 1}\ncoordinates: {x: 1}\nenergy: {kinetic: 1/2*x'^2, potential: "
                    "1/2*w^2*x^2}\nsimulation: {scheme: event-driven, step: 0.05, end: 9}\n");
    assert_int_equal(carom("sweep cos.yaml --vary w=0.5,1,1.5 --end 1+1/w --observe x --observe t -q -o cos.csv"), 0);
    get("cos.csv", out, sizeof out);
    const char *line = out;
    for (int i = 0; i < 3; ++i) {
        const double w = 0.5 + 0.5 * i;
        line = strchr(line, '\n') + 1;
        assert_int_equal(sscanf(line, "%*d,%lf,0,,%lf,%lf", &last[0], &last[1], &last[2]), 3);
        assert_close(last[1], cos(w + 1), 1e-8);
        assert_close(last[2], 1 + 1 / w, 1e-12);
    }
    // a step that follows, too
    assert_int_equal(carom("sweep cos.yaml --vary w=1,1.5 --end '2*pi/w' --step '2*pi/w/50' --scheme moreau-midpoint "
                           "--observe steps -q -o cos.csv"),
                     0);
    get("cos.csv", out, sizeof out);
    assert_says(out, "0,1,0,,50\n1,1.5,0,,50\n");
    static const struct { const char *of; double by_w; } results[] = {
        {"x", -0.9092974268256817}, // -sin(w + 1)
        {"integral(x)", -0.4161468365471424 - 0.9092974268256817}, // of sin(w + 1)/w
        {"mean(x)", -0.4161468365471424 / 2 - 0.9092974268256817 / 4}, // of sin(w + 1)/(w + 1)
        {"rms(x)^2", -0.6536436208636119 / 4 + 0.7568024953079283 / 16}, // of 1/2 + sin(2 w + 2)/(4 (w + 1))
        {"min(x)", -0.9092974268256817}, // at the end
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; ++i) {
        assert_int_equal(carom("gradient cos.yaml --of '%s' --by w --end 1+1/w", results[i].of), 0);
        const char *by = strstr(out, "by w");
        assert_non_null(by);
        assert_close(strtod(by + 4, NULL), results[i].by_w, 1e-8);
    }
    assert_int_equal(carom("optimise cos.yaml --minimise '(x - 0.5)^2' --by w=0.01:1 --end 1+1/w --set w=0.5"), 0);
    assert_close(strtod(strstr(out, "\n  w ") + 4, NULL), acos(0.5) - 1, 1e-5);
    assert_int_equal(carom("sweep cos.yaml --vary w=1,2 --end 2*u --observe x -o cos.csv"), 2);
    assert_says(complaints, "--end 2*u: unknown name 'u'");
    assert_int_equal(carom("gradient cos.yaml --of x --by w --end 1-3*w"), 2);
    assert_says(complaints, "--end 1-3*w: the end time must be positive");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(options_are_what_files_say, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(ends_follow_parameters, enter_folder, leave_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
