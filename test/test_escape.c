// test_escape.c: hostile texts in every field of every exporter: what is written compiles, parses, and sends no control
// characters to a terminal.
#define _DEFAULT_SOURCE // mkdtemp, setenv
#include "cli_rig.h"
#include "io/print.h"
#include "json.h"
#include "quick.h"
#include <carom/mech.h>
#include <dirent.h>
#include <stdbool.h>

static const char *const hostile[] = {"a\n#error one\n//",
                                      "a\r#error two",
                                      "*/ int evil( /*",
                                      "ends in \\",
                                      "?\?/\n#error three",
                                      "?\?/",
                                      "?\?\?\?/",
                                      "\"; system(\"touch owned\"); \"",
                                      "'; system('touch owned'); '",
                                      "''",
                                      "'",
                                      "`touch owned`",
                                      "$(touch owned)",
                                      "\x1b[31mred\x1b]0;title\x07",
                                      "\xc2\x9b"
                                      "2J",
                                      "\x9b"
                                      "2J",
                                      "\xff\xfe\xc0\xaf",
                                      "\xed\xa0\x80",
                                      "\xe2\x80\xae"
                                      "reversed",
                                      "\xe2\x80\xa8"
                                      "next line",
                                      "</script><script>alert(1)</script>",
                                      "<!--",
                                      "]]>",
                                      "<![CDATA[",
                                      "&amp;&lt;",
                                      "%s%n%s%n",
                                      "%",
                                      "\\n\\x1b\\u001b",
                                      "@macro",
                                      "{/Symbol a}_b^c",
                                      "\x7f\x01\x02",
                                      "\t\v\f\b",
                                      "\xef\xbf\xbe",
                                      "\xf4\x90\x80\x80",
                                      "/*DATA*/",
                                      "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                                      "\n\n\n",
                                      "\\",
                                      "a\nEOD\nsystem 'touch owned'\n",
                                      NULL};

typedef struct taken { char text[4096]; size_t n; } taken;

static void take(void *user, const char *text, size_t length) {
    taken *to = user;
    assert_true(to->n + length < sizeof to->text);
    memcpy(to->text + to->n, text, length);
    to->text[to->n += length] = 0;
}

static const char *escaped(taken *to, carom_target target, const char *text) {
    *to = (taken){.n = 0};
    carom_escape(target, text, strlen(text), take, to);
    return to->text;
}

// UTF-8 without controls, but for those in keep.
static bool clean(const char *text, const char *keep) {
    for (const unsigned char *s = (const unsigned char *)text; *s; ++s) {
        if ((*s < 0x20 || *s == 0x7F) && !strchr(keep, *s)) return false;
        if (*s == 0xC2 && s[1] >= 0x80 && s[1] < 0xA0) return false; // C1
        if (*s == 0xE2 && s[1] == 0x80 && s[2] >= 0xA8 && s[2] <= 0xAE) return false; // line separators, directions
        const int n = *s < 0x80                 ? 0
                      : *s >= 0xC2 && *s < 0xE0 ? 1
                      : (*s & 0xF0) == 0xE0     ? 2
                      : *s >= 0xF0 && *s < 0xF5 ? 3
                                                : -1;
        if (n < 0 || (*s == 0xED && s[1] > 0x9F) || (*s == 0xF4 && s[1] > 0x8F)) return false;
        for (int i = 0; i < n; ++i)
            if ((*++s & 0xC0) != 0x80) return false;
    }
    return true;
}

// Is this a value of an attribute?
static bool is_xml(const char *text) {
    if (!clean(text, "") || strpbrk(text, "<>\"")) return false;
    for (const char *s = text; (s = strchr(s, '&')); ++s)
        if (strncmp(s, "&amp;", 5) != 0 && strncmp(s, "&lt;", 4) != 0 && strncmp(s, "&gt;", 4) != 0 &&
            strncmp(s, "&quot;", 6) != 0 && strncmp(s, "&#", 2) != 0)
            return false;
    return true;
}

static void check_all(const char *text) {
    taken x, y;
    assert_true(clean(escaped(&x, CAROM_FOR_TERMINAL, text), ""));
    assert_string_equal(escaped(&y, CAROM_FOR_TERMINAL, x.text), x.text); // again: no change
    escaped(&x, CAROM_FOR_C_COMMENT, text);
    if (!clean(x.text, "\t") || strpbrk(x.text, "\\") || strstr(x.text, "?\?") || strstr(x.text, "*/") ||
        strstr(x.text, "/*"))
        fail_msg("in a comment: %s", x.text);
    escaped(&x, CAROM_FOR_C_STRING, text);
    assert_true(clean(x.text, ""));
    for (const char *s = x.text; *s; ++s) {
        assert_true(*s != '"' && *s != '?');
        if (*s == '\\') ++s, assert_true(*s && strchr("\"\\?01234567", *s));
    }
    assert_true(is_xml(escaped(&x, CAROM_FOR_XML, text)));
    assert_true(is_xml(escaped(&x, CAROM_FOR_HTML, text)) && !strchr(x.text, '*'));
    char quoted[sizeof x.text + 2];
    snprintf(quoted, sizeof quoted, "\"%s\"", escaped(&x, CAROM_FOR_JSON, text));
    const char *s = quoted;
    if (!json_string(&s) || *s || !clean(quoted, "")) fail_msg("no JSON: %s", quoted);
    escaped(&y, CAROM_FOR_SCRIPT, quoted);
    s = y.text;
    assert_true(!strpbrk(y.text, "<*") && json_string(&s) && !*s);
    escaped(&x, CAROM_FOR_GNUPLOT, text);
    assert_true(clean(x.text, "") && !strpbrk(x.text, "`@\""));
    for (s = x.text; (s = strchr(s, '\\')); s += 2) assert_true(s[1] == '\\' || strspn(s + 1, "01234567") >= 3);
    assert_true(clean(escaped(&x, CAROM_FOR_PLOT_DATA, text), "") && !strpbrk(x.text, "\"\\`"));
    assert_true(clean(escaped(&x, CAROM_FOR_CSV, text), ""));
    for (s = x.text; (s = strchr(s, '"')); s += 2) assert_true(s[1] == '"');
}

static void test_targets(void **state) {
    (void)state;
    for (int i = 0; hostile[i]; ++i) check_all(hostile[i]);
    unsigned seed = 7;
    for (int i = 0; i < 20000; ++i) {
        static const char often[] = "\\?/*\"'`<>&%\n\r\t\x1b\xc2\x9b\xe2\x80\xae";
        char text[24];
        seed = seed * 1664525u + 1013904223u;
        const int n = (int)(seed >> 8) % 23;
        for (int k = 0; k < n; ++k) {
            seed = seed * 1664525u + 1013904223u;
            const unsigned r = seed >> 8;
            text[k] = r % 4 == 0 ? (char)(1 + r / 4 % 255) : often[r / 4 % (sizeof often - 1)];
        }
        text[n] = 0;
        check_all(text);
    }
}

// Formats: the same as printf() where texts are harmless; widths, stars, lengths.
static void test_formats(void **state) {
    (void)state;
    char a[200], b[200];
    FILE *f = fmemopen(a, sizeof a, "w");
#define SAME(...)                                                                                                      \
    (rewind(f), carom_safe_file(f, __VA_ARGS__), fputc(0, f), fflush(f), snprintf(b, sizeof b, __VA_ARGS__),           \
     assert_string_equal(a, b))
    SAME("%d %i %5d|%-5d|%05d %+d %ld %lld %zu %u %x %X %o %c %%", 1, -2, 3, 4, 5, 6, 7L, -8LL, (size_t)9, 10u, 255u,
         255u, 8u, 'c');
    SAME("%g %.3g %12.4e %-12.3f| %.17g %a %G %*.*g|%-*s|%.*s|%8s|%-8s|", 1.5, 2.0 / 3, 1e-9, 1e9, 0.1, 1.0, 1e30, 9, 3,
         1.0 / 3, 6, "ab", 2, "abcdef", "x", "y");
    SAME("%.0f %5.1f%% %s %hd %jd", 0.4, 99.5, "", (short)3, (intmax_t)-4);
#undef SAME
    fclose(f);
    carom_error err;
    // three bytes: one letter and a half
    carom_fail(&err, CAROM_BAD_INPUT, "'%s' and '%.3s' at %d", "a\n\x1b[0m\x9b", "\xc3\xa4\xc3\xa4", 3);
    assert_string_equal(err.text, "'a\\n\\u001b[0m\\x9b' and '\xc3\xa4' at 3");
    char longest[2000];
    for (size_t i = 0; i + 1 < sizeof longest; i += 2) memcpy(longest + i, "\xc3\xa4", 2);
    longest[sizeof longest - 2] = 0;
    carom_fail(&err, CAROM_BAD_INPUT, "x%s", longest);
    assert_true(strlen(err.text) <= sizeof err.text - 1 && strlen(err.text) >= sizeof err.text - 3 &&
                clean(err.text, ""));
    assert_string_equal(err.text + strlen(err.text) - 2, "\xc3\xa4");
}

// -- the program -----------------------------------------------------------------------------------------------------

// The model with a text as its name and in its other free texts.
static void put_model(const char *file, const char *text) {
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    fputs("carom: 1\nname: \"", f), carom_escape_file(CAROM_FOR_YAML, f, text);
    fputs("\"\nabout: \"", f), carom_escape_file(CAROM_FOR_YAML, f, text);
    fputs("\"\nparameters: {e: 0.5}\ncoordinates: {x: {at: 0}, y: {at: 0.1, rate: -1}}\nenergy: {kinetic: 1/2*(x'^2 + "
          "y'^2), potential: 9.81*y + x^2}\n"
          "contacts: {ground: {gap: y, restitution: e}}\noutputs: {height: y}\nsimulation: {scheme: moreau-jean, step: "
          "1e-3, end: 0.05}\n",
          f);
    fputs("draw: {ball: {circle: 0.1, at: [x, y], color: red}}\n", f);
    fclose(f);
}

static bool tool(const char *name) {
    char command[100];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

static void shell(const char *what, const char *text) {
    if (system(what) != 0) {
        get("log.txt", out, sizeof out);
        taken x;
        fail_msg("with the name '%s': %s\n%.1500s", escaped(&x, CAROM_FOR_TERMINAL, text), what, out);
    }
}

static void quiet_terminal(const char *what) {
    if (!clean(out, "\n\t") || !clean(complaints, "\n\t"))
        fail_msg("%s sends control characters:\n%.1000s\n%.1000s", what, out, complaints);
    assert_false(there("owned"));
}

static void done(const char *what, const char *text) {
    taken x;
    if (carom("%s", what) != 0)
        fail_msg("carom %s with the name '%s': %s", what, escaped(&x, CAROM_FOR_TERMINAL, text), complaints);
    quiet_terminal(what);
}

static void json_output(const char *what, const char *text) {
    done(what, text);
    const char *s = out;
    if (!json_value(&s, 0)) fail_msg("carom %s: no JSON:\n%.1000s", what, out);
    json_space(&s);
    assert_int_equal(*s, 0);
}

static void test_names(void **state) {
    (void)state;
    static char page[1 << 22], plain[1 << 22];
    const bool xmllint = !BRIEF && tool("xmllint"), gnuplot = tool("gnuplot");
    put_model("model.yaml", "plain");
    done("run model.yaml -o result.h5 --force", "plain");
    done("view result.h5 -o plain.html", "plain");
    get("plain.html", plain, sizeof plain);
    int scripts = 0;
    for (const char *s = plain; (s = strstr(s, "</script")); ++s) ++scripts;
    for (int i = 0; hostile[i]; ++i) {
        put_model("model.yaml", hostile[i]);
        done("export c model.yaml -o model.c", hostile[i]);
        if (BRIEF) continue; // what other programs say to carom's files is no matter of sanitizers
        shell("cc -std=c17 -trigraphs -Wall -Wextra -Werror -fsyntax-only model.c >log.txt 2>&1", hostile[i]);
    }
    char text[2000] = "";
    for (int i = 0; hostile[i]; ++i) { // the others with several at once: one is enough to break out
        strcat(text, hostile[i]);
        if (i % (BRIEF ? 16 : 8) && hostile[i + 1]) continue;
        put_model("model.yaml", text);
        done("info model.yaml", text);
        done("check model.yaml", text);
        json_output("run model.yaml -o result.h5 --force --json", text);
        done("run model.yaml -o result.h5 --force", text);
        done("info result.h5", text);
        done("plot result.h5 -o -", text);
        done("view result.h5 -o page.html", text);
        get("page.html", page, sizeof page);
        assert_true(clean(page, "\n\t\r"));
        int ends = 0;
        for (const char *s = page; (s = strstr(s, "</script")); ++s) ++ends;
        assert_int_equal(ends, scripts);
        const char *json = strstr(page, "id=\"carom-page\">\n");
        assert_non_null(json);
        json = strchr(json, '\n');
        assert_true(json_value(&json, 0));
        done("export fmu model.yaml -o model.fmu --compile off", text);
        if (xmllint)
            shell("unzip -p model.fmu modelDescription.xml >d.xml 2>log.txt && xmllint --noout d.xml >log.txt 2>&1",
                  text);
        done("export vtk result.h5 -o result.pvd", text);
        if (xmllint) shell("xmllint --noout result.pvd >log.txt 2>&1", text);
        if (gnuplot) done("plot result.h5 -o result.svg", text);
        if (gnuplot && xmllint) shell("xmllint --noout result.svg >log.txt 2>&1", text);
        text[0] = 0;
    }
    assert_false(there("owned"));
}

// Names of files, keys, columns: in messages, scripts and tables.
static void test_words(void **state) {
    (void)state;
    const bool gnuplot = tool("gnuplot");
    for (int i = 0; hostile[i]; ++i) {
        if (BRIEF && i % 3) continue;
        FILE *f = fopen("bad.yaml", "wb");
        assert_non_null(f);
        fputs("carom: 1\n\"", f), carom_escape_file(CAROM_FOR_YAML, f, hostile[i]), fputs("\": 3\n", f); // a key
        fclose(f);
        assert_int_equal(carom("check bad.yaml"), CAROM_OK + 2);
        quiet_terminal("an unknown key");
        f = fopen("table.csv", "wb"); // a column
        assert_non_null(f);
        fputs("t,x,\"", f);
        for (const char *c = hostile[i]; *c; ++c) fputs(*c == '"' ? "\"\"" : (char[]){*c, 0}, f);
        fputs("\"\n0,1,2\n1,3,4\n", f);
        fclose(f);
        for (int k = 0; k < 3; ++k) {
            if (k == 2 && (!gnuplot || i % 3)) continue;
            const int code = carom(k == 0   ? "info table.csv"
                                   : k == 1 ? "plot table.csv -o -"
                                            : "plot table.csv -o table.svg");
            assert_true(code >= 0 && code <= 2);
            quiet_terminal("a column");
        }
    }
    // as a path, an option, a command
    setenv("hostile", "\x1b[31m\x9b\n\xc2\x9b", 1);
    static const char *const calls[] = {"run \"$hostile\"",
                                        "info \"$hostile\"",
                                        "check \"$hostile\"",
                                        "plot \"$hostile\"",
                                        "view \"$hostile\"",
                                        "export c \"$hostile\"",
                                        "sweep \"$hostile\"",
                                        "compare \"$hostile\"",
                                        "modes \"$hostile\"",
                                        "equilibrium \"$hostile\"",
                                        "\"$hostile\"",
                                        "run --\"$hostile\"",
                                        "run model.yaml --scheme \"$hostile\"",
                                        "run model.yaml --set \"$hostile\"=1",
                                        "run model.yaml --option \"$hostile\"=1",
                                        "help \"$hostile\"",
                                        "schemes \"$hostile\"",
                                        "examples \"$hostile\"",
                                        "import \"$hostile\"",
                                        "merge \"$hostile\"",
                                        "solve \"$hostile\"",
                                        "play \"$hostile\"",
                                        "fit \"$hostile\"",
                                        "orbit \"$hostile\"",
                                        "lyapunov \"$hostile\"",
                                        "gradient \"$hostile\"",
                                        "follow \"$hostile\"",
                                        "film \"$hostile\"",
                                        "sweep model.yaml --vary \"$hostile\"=1:2:3",
                                        "sweep model.yaml --vary e=0:1:2 --observe \"$hostile\"",
                                        "run model.yaml -o \"$hostile\"",
                                        NULL};
    put_model("model.yaml", "plain");
    for (int i = 0; calls[i]; ++i) {
        const int code = carom("%s", calls[i]);
        if (code < 1 || code > 3) fail_msg("carom %s ended with %d: %s", calls[i], code, complaints);
        quiet_terminal(calls[i]);
    }
}

// The bytes of a file between tags are well-formed XML as far as it goes: every `<` begins a tag, and attributes hold
// no `<`, no line and no quote that is not theirs.  Data that are appended (binary) end the text.
static void tags_are_whole(const char *file) {
    static char text[1 << 16];
    const size_t n = get(file, text, sizeof text);
    bool inside = false, quoted = false;
    for (size_t i = 0; i < n; ++i) {
        if (!inside && strncmp(text + i, "<AppendedData", 13) == 0) return;
        if (quoted ? text[i] == '<' || (unsigned char)text[i] < ' ' : inside && text[i] == '<')
            fail_msg("%s: byte %zu of %.200s", file, i, text);
        if (inside && text[i] == '"') quoted = !quoted;
        else if (!quoted && text[i] == '<') inside = true;
        else if (!quoted && text[i] == '>') inside = false;
    }
    assert_true(n > 0 && !inside && !quoted);
}

// Files with hostile names are written, and told without a raw byte; of a shape with such a name the table for ParaView
// has one line.
static void test_files(void **state) {
    (void)state;
    static const char name[] = "f\x1b[31m\n\"<&>'";
    static const char *const calls[] = {"run model.yaml -o \"$name.h5\"",
                                        "view \"$name.h5\" -o \"$name.html\"",
                                        "export vtk \"$name.h5\" -o \"$name.pvd\" --rows 2",
                                        "export csv \"$name.h5\" -o \"$name.csv\"",
                                        "export c model.yaml -o \"$name.c\"",
                                        "export fmu model.yaml -o \"$name.fmu\" --compile off",
                                        "info \"$name.h5\"",
                                        "sweep model.yaml --vary e=0.1,0.2 --observe height -o \"$name.s.csv\"",
                                        "equilibrium model.yaml --save \"$name.txt\"",
                                        "import \"$name.xml\"",
                                        NULL};
    char file[200], text[4000];
    setenv("name", name, 1);
    put_model("model.yaml", "plain");
    get("model.yaml", text, sizeof text);
    char *at = strstr(text, "ball:");
    FILE *f = fopen("model.yaml", "wb");
    assert_true(at && f);
    fprintf(f, "%.*s\"", (int)(at - text), text);
    carom_escape_file(CAROM_FOR_YAML, f, name);
    fprintf(f, "\"%s", at + 4);
    fclose(f);
    for (int i = 0; calls[i]; ++i) {
        const int code = carom("%s", calls[i]);
        if (calls[i + 1] ? code != 0 : code == 0) fail_msg("carom %s ended with %d: %s", calls[i], code, complaints);
        quiet_terminal(calls[i]);
    }
    snprintf(file, sizeof file, "%s.pvd", name);
    tags_are_whole(file);
    snprintf(file, sizeof file, "%s.vtk/shapes-00000.vtu", name);
    tags_are_whole(file);
    snprintf(file, sizeof file, "%s.vtk/shapes.csv", name);
    get(file, text, sizeof text);
    assert_string_equal(text, "shape,name,figure,body\n0,\"f [31m \"\"<&>'\",circle,0\n");
}

// A result holds its warnings as JSON: what is none, or more than a list, is left out.
static void test_lists(void **state) {
    (void)state;
    static const struct { const char *text; bool kept; } lists[] = {
        {"[]", true},
        {"[{\"kind\": \"a\", \"t\": -1.5e-3}, {\"x\": [true, null, 0]}]", true},
        {"[{\"kind\": \"\\u0041\\n\"}] ", true},
        {"[], \"evil\": 1", false},
        {"[}", false},
        {"{\"evil\": 1}", false},
        {"", false},
        {"[\"evil]", false},
        {"[1.]", false},
        {"[01]", false},
        {"[\"a\nb\"]", false},
        {"[\"\\q\"]", false},
        {"[[[[[[[[[[1]]]]]]]]]]", false},
        {"[1,]", false},
        {"[evil]", false},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);
        fputc('{', f);
        carom_ledger_json(f, &(carom_ledger){0}, (carom_ledger_names){.warnings = lists[i].text});
        fputc('}', f);
        fclose(f);
        const char *s = text;
        if (!json_value(&s, 0) || *s || strstr(text, "evil")) fail_msg("%s makes %s", lists[i].text, text);
        assert_true((strstr(text, lists[i].text) != NULL && lists[i].text[0]) == lists[i].kept);
        free(text);
    }
}

// A written model reads back as the same text.
static void test_yaml(void **state) {
    (void)state;
    for (int i = 0; hostile[i]; ++i) {
        carom_error err = {0};
        char text[2000], *once, *twice;
        taken x;
        snprintf(text, sizeof text, "carom: 1\nname: \"%s\"\ncoordinates: {x: 0}\n",
                 escaped(&x, CAROM_FOR_YAML, hostile[i]));
        carom_mech *m = carom_mech_read(text, strlen(text), "model", &err);
        if (!m) fail_msg("%s", err.text);
        assert_non_null(once = carom_mech_text(m));
        carom_mech *again = carom_mech_read(once, strlen(once), "model", &err);
        if (!again) fail_msg("%s\n%s", err.text, once);
        assert_non_null(twice = carom_mech_text(again));
        assert_string_equal(once, twice);
        free(once), free(twice);
        carom_mech_destroy(m), carom_mech_destroy(again);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_yaml),
        cmocka_unit_test_setup_teardown(test_files, enter_folder, leave_folder),
        cmocka_unit_test(test_lists),
        cmocka_unit_test_setup_teardown(test_names, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_words, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
