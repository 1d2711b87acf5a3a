// test_model_input.c: no input, however broken or malicious, does more than fail with a sentence.
#include "model_text.h"

static unsigned random_number(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Reads a model; it loads, or fails with a place in the file.
static bool survives(const char *text, size_t length) {
    carom_error err = {0};
    carom_model *m = carom_model_create(&(carom_model_def){.text = text, .length = length, .file = "f"}, &err);
    if (m) {
        carom_model_destroy(m);
        return true;
    }
    assert_true(err.code != CAROM_OK);
    assert_true(strlen(err.text) > 10);
    return false;
}

static void refused(const char *text, size_t length, const char *error) {
    carom_error err = {0};
    carom_model *m = carom_model_create(&(carom_model_def){.text = text, .length = length, .file = "f"}, &err);
    assert_null(m);
    if (strncmp(err.text, error, strlen(error)) != 0) fail_msg("\n%s\nis not\n%s", err.text, error);
}

static void every_prefix_of_a_model_loads_or_fails_cleanly(void **state) {
    (void)state;
    size_t length = 0;
    char *text = shipped_text("bouncing-ball", &length);
    int loaded = 0;
    for (size_t n = 0; n <= length; ++n) {
        char *prefix = malloc(n + 1); // of exact size, so that reading beyond it is seen
        memcpy(prefix, text, n);
        loaded += survives(prefix, n);
        free(prefix);
    }
    assert_true(loaded > 1); // without its last sections it is still a model
    free(text);
    text = shipped_text("slider-crank", &length);
    for (size_t n = 0; n <= length; n += 23) survives(text, n);
    free(text);
}

static void flipped_bytes_never_crash(void **state) {
    (void)state;
    size_t length = 0;
    char *text = shipped_text("pendulum", &length), *copy = malloc(length);
    const size_t start = (size_t)(strstr(text, "carom: 1") - text);
    unsigned seed = 11;
    int loaded = 0, refused_ones = 0;
    for (int k = 0; k < 10000; ++k) {
        memcpy(copy, text, length);
        for (unsigned flips = 1 + random_number(&seed) % 3; flips > 0; --flips) {
            const size_t at = start + random_number(&seed) % (length - start);
            copy[at] = (char)(random_number(&seed) % 3 ? copy[at] ^ (1 << random_number(&seed) % 7)
                                                       : (int)(random_number(&seed) % 256));
        }
        if (survives(copy + start, length - start))
            ++loaded;
        else
            ++refused_ones;
    }
    assert_true(loaded > 100 && refused_ones > 100);
    free(copy);
    free(text);
}

static void shuffled_lines_never_crash(void **state) {
    (void)state;
    char *line[200], *text[3], *out = malloc(1 << 16);
    int lines = 0;
    static const char *const from[3] = {"slider-crank", "pendulum", "impacting-oscillator"};
    for (int k = 0; k < 3; ++k) {
        size_t length = 0;
        text[k] = shipped_text(from[k], &length);
        for (char *at = strtok(strstr(text[k], "name:"), "\n"); at && lines < 200; at = strtok(NULL, "\n"))
            line[lines++] = at;
    }
    unsigned seed = 12;
    for (int trial = 0; trial < 2000; ++trial) {
        size_t n = (size_t)sprintf(out, "carom: 1\n");
        const unsigned first = random_number(&seed) % (unsigned)lines, count = random_number(&seed) % 40;
        for (unsigned k = 0; k < count; ++k) {
            const unsigned pick =
                random_number(&seed) % 5 ? (first + k) % (unsigned)lines : random_number(&seed) % (unsigned)lines;
            n += (size_t)sprintf(out + n, "%s\n", line[pick]);
        }
        survives(out, n);
    }
    free(out);
    for (int k = 0; k < 3; ++k) free(text[k]);
}

static void binary_files_are_recognised(void **state) {
    (void)state;
    refused("carom: 1\nname: a\0b\n", 19, "f:2:8: a zero byte; a model file is plain text");
    refused("\x89HDF\r\n\x1a\n", 8, "f:1:1: this byte is not UTF-8 text");
    refused("carom: 1\nname: \xc3(\n", 18, "f:2:7: this byte is not UTF-8 text");
    refused("carom: \xed\xa0\x80\n", 11, "f:1:8: this byte is not UTF-8 text"); // a surrogate
    refused("carom: 1\x07\n", 10, "f:1:9: a control character");
    refused("\xff\xfe"
            "c\0",
            4, "f:1:1: this byte is not UTF-8 text"); // UTF-16
    const char *mark = "\xef\xbb\xbf"
                       "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2}\n";
    assert_true(survives(mark, strlen(mark))); // a byte order mark is harmless
    unsigned seed = 13;
    char noise[400];
    for (int k = 0; k < 500; ++k) {
        for (size_t i = 0; i < sizeof noise; ++i)
            noise[i] = (char)(random_number(&seed) % (k % 2 ? 256 : 96) + (k % 2 ? 0 : 32));
        assert_false(survives(noise, sizeof noise));
    }
}

// `count` times `piece` between head and tail.
static char *repeat(const char *head, const char *piece, size_t count, const char *tail, size_t *length) {
    const size_t h = strlen(head), p = strlen(piece), t = strlen(tail);
    char *text = malloc(h + p * count + t + 1), *at = text + h;
    assert_non_null(text);
    memcpy(text, head, h);
    for (size_t k = 0; k < count; ++k, at += p) memcpy(at, piece, p);
    memcpy(at, tail, t + 1);
    *length = h + p * count + t;
    return text;
}

static void huge_and_deep_files_are_refused_by_their_limits(void **state) {
    (void)state;
    size_t n = 0;
    char *text = repeat("carom: 1\n", "# 34567\n", 34000000, "", &n);
    refused(text, n, "f:1:1: the file is larger than 256 MB");
    free(text);
    text = repeat("carom: 1\nabout: [", "a,", 1100000, "]\n", &n); // values alone may be as many as fit
    refused(text, n, "f:2:");
    free(text);
    text = repeat("carom: 1\nabout: ", "[", 100000, "", &n);
    refused(text, n, "f:2:71: nested more than 64 deep");
    free(text);
    text = repeat("carom: 1\nabout: ", "{a: ", 100000, "", &n);
    refused(text, n, "f:2:");
    free(text);
    text = repeat("carom: 1\nabout:\n", "- ", 1000, "a\n", &n);
    refused(text, n, "f:3:");
    free(text);
}

#define BALL "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2}\n"

static void huge_and_deep_expressions_do_not_exhaust_the_machine(void **state) {
    (void)state;
    size_t n = 0;
    char *text = repeat(BALL "let:\n  a: ", "(", 1000000, "x\n", &n);
    assert_false(survives(text, n));
    free(text);
    text = repeat(BALL "let:\n  a: ", "-", 1000000, "x\n", &n);
    survives(text, n);
    free(text);
    text = repeat(BALL "let:\n  a: x", "^x", 300000, "\n", &n);
    survives(text, n);
    free(text);
    text = repeat(BALL "let:\n  a: x", " + x*x", 100000, "\n  b: a'\noutputs: {c: b}\n", &n);
    survives(text, n);
    free(text);
    text = repeat(BALL "let:\n  a: ", "sin(", 100000, "x\n", &n);
    assert_false(survives(text, n));
    free(text);
}

// name1: f(name0), name2: f(name1), ... in a section.
static char *ladder(const char *section, int count, const char *format, bool up) {
    char *text = malloc((size_t)count * 80 + 200), *at = text;
    at += sprintf(at, BALL "%s:\n", section);
    if (up) at += sprintf(at, "  a0: %s\n", strcmp(section, "let") ? "1" : "x");
    for (int i = 1; i < count; ++i) {
        at += sprintf(at, "  a%d: ", i);
        at += sprintf(at, format, up ? i - 1 : i + 1, up ? i - 1 : i + 1);
        *at++ = '\n';
    }
    if (!up) at += sprintf(at, "  a%d: 1\n", count);
    *at = 0;
    return text;
}

static void long_chains_of_names_are_computed_or_refused(void **state) {
    (void)state;
    char *text = ladder("parameters", 20000, "a%d + 0*a%d", true); // each is known before the next
    assert_true(survives(text, strlen(text)));
    free(text);
    text = ladder("parameters", 20000, "a%d + 0*a%d", false); // the first needs them all
    refused(text, strlen(text), "f:205:");
    free(text);
    text = ladder("let", 60, "a%d*a%d", true); // written out: 2^60 factors
    assert_true(survives(text, strlen(text)));
    free(text);
    text = ladder("let", 20000, "sin(a%d) + a%d", true);
    survives(text, strlen(text));
    free(text);
}

static void aliases_are_refused_whether_cyclic_or_exponential(void **state) {
    (void)state;
    const char *cyclic = "carom: 1\nabout: &a [*a, *a]\n";
    refused(cyclic, strlen(cyclic), "f:2:8: anchors (&name) are not used in model files");
    const char *laughs = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n";
    refused(laughs, strlen(laughs), "f:1:4: anchors (&name) are not used in model files");
    const char *merge = "carom: 1\n<<: *a\n";
    refused(merge, strlen(merge), "f:2:5: aliases (*name) are not used in model files");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix_of_a_model_loads_or_fails_cleanly),
        cmocka_unit_test(flipped_bytes_never_crash),
        cmocka_unit_test(shuffled_lines_never_crash),
        cmocka_unit_test(binary_files_are_recognised),
        cmocka_unit_test(huge_and_deep_files_are_refused_by_their_limits),
        cmocka_unit_test(huge_and_deep_expressions_do_not_exhaust_the_machine),
        cmocka_unit_test(long_chains_of_names_are_computed_or_refused),
        cmocka_unit_test(aliases_are_refused_whether_cyclic_or_exponential),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
