// test_view.c: `carom view`: one file, whole, true to the result, whatever is in it.  What a browser makes of it is
// tested by page/test.
#define _DEFAULT_SOURCE // mkdtemp
#include "json.h"
#include "model_text.h"
#include "own_folder.h"
#include "program.h"
#include <carom/draw.h>
#include <sys/stat.h>

static const char ball[] =
    "carom: 1\nname: Ball\nparameters: {R: 0.1, e: 0.8}\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 1}}\n"
    "energy: {kinetic: 1/2*(x'^2 + y'^2), potential: 9.81*y}\n"
    "contacts: {ground: {gap: y - R, slip: x, restitution: e, friction: 0.1}}\n"
    "draw: {floor: {wall: [[0, 0], [1, 0]]}, ball: {circle: R, at: [x, y]}, contacts: {ground: [x, y - R]}}\n"
    "simulation: {scheme: moreau-midpoint, step: 1e-3, end: 3}\n";

// A whole file, NUL behind it, for free().
static char *whole(const char *name, size_t *size) {
    FILE *f = fopen(name, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) != 0) fail_msg("cannot open %s", name);
    char *text = malloc((size_t)st.st_size + 1);
    assert_non_null(text);
    *size = fread(text, 1, (size_t)st.st_size, f);
    text[*size] = 0;
    fclose(f);
    return text;
}

// -- reading a page -----------------------------------------------------------------------------------------

typedef struct opened {
    char *text;
    size_t size;
    char *json;           // a copy
    unsigned char *block; // decoded
    long rows, of, events, events_of, stored;
} opened;

static long number_at(const char *json, const char *key) {
    const char *at = strstr(json, key);
    if (!at) fail_msg("no %s", key);
    return strtol(at + strlen(key), NULL, 10);
}

static char *between_marks(const char *text, const char *from, const char *to) {
    const char *start = strstr(text, from);
    if (!start) fail_msg("no %s", from);
    start += strlen(from);
    const char *end = strstr(start, to);
    assert_non_null(end);
    return strndup(start, (size_t)(end - start));
}

static unsigned char *decode(const char *text) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *out = malloc(strlen(text) + 4);
    size_t n = 0;
    unsigned bits = 0;
    int count = 0;
    assert_non_null(out);
    for (; *text && *text != '='; ++text) {
        if (*text == '\n') continue;
        const char *at = strchr(letters, *text);
        if (!at) fail_msg("'%c' is no letter of base64", *text);
        bits = bits << 6 | (unsigned)(at - letters);
        if (++count == 4) {
            for (int k = 2; k >= 0; --k) out[n++] = (unsigned char)(bits >> 8 * k);
            bits = 0;
            count = 0;
        }
    }
    bits <<= 6 * (4 - count);
    for (int k = 0; k < count - 1; ++k) out[n++] = (unsigned char)(bits >> 8 * (2 - k));
    return out;
}

static opened open_page(const char *file) {
    opened p = {.text = NULL};
    p.text = whole(file, &p.size);
    p.json = between_marks(p.text, "id=\"carom-page\">\n", "</script>");
    char *data = between_marks(p.text, "id=\"carom-data\">\n", "</script>");
    p.block = decode(data);
    free(data);
    p.rows = number_at(p.json, "\"rows\":");
    p.of = number_at(p.json, "\"of\":");
    p.stored = number_at(p.json, "\"stored\":");
    p.events = number_at(p.json, "\"events\":{\"count\":");
    p.events_of = number_at(strstr(p.json, "\"events\":"), "\"of\":");
    return p;
}

static void close_page(opened *p) {
    free(p->text);
    free(p->json);
    free(p->block);
}

static double time_of(const opened *p, long i) {
    double x;
    memcpy(&x, p->block + 8 * i, sizeof x);
    return x;
}

static double event_time(const opened *p, long i) { return time_of(p, p->rows + i); }

// Value of a channel in a row, as the page's script computes it.
static double value_of(const opened *p, int channel, long i) {
    const char *at = strstr(p->json, "\"channels\":[") + 12;
    for (int k = 0, depth = 0; k < channel; ++at) {
        depth += (*at == '[') - (*at == ']');
        k += *at == ',' && depth == 0;
    }
    if (channel == 0) return time_of(p, i);
    if (*at != '[') return strncmp(at, "null", 4) == 0 ? NAN : strtod(at, NULL);
    char *end = NULL;
    const long slot = strtol(at + 1, &end, 10);
    const double offset = strtod(end + 1, NULL);
    float x;
    memcpy(&x, p->block + 8 * (p->rows + p->events) + 4 * (slot * p->rows + i), sizeof x);
    return (double)x + offset;
}

static carom_result *result_of(const char *file) {
    carom_error err = {0};
    carom_result *r = carom_result_open(file, &err);
    if (!r) fail_msg("%s", err.text);
    return r;
}

static double *column(carom_result *r, int c) {
    const long n = carom_result_rows(r);
    double *x = malloc(sizeof *x * (size_t)(n + 1));
    carom_error err = {0};
    if (carom_result_read(r, c, 0, n, x, &err) != CAROM_OK) fail_msg("%s", err.text);
    return x;
}

// -- tests --------------------------------------------------------------------------------------------------

static void a_page_is_one_valid_file_that_loads_nothing(void **state) {
    (void)state;
    assert_int_equal(carom("view ball.h5"), 0);
    assert_string_equal(out, "ball.html\n");
    assert_string_equal(complaints, "");
    opened p = open_page("ball.html");
    assert_true(strncmp(p.text, "<!doctype html>\n", 16) == 0);
    const char *s = p.json;
    if (!json_value(&s, 0)) fail_msg("no JSON from here: %.60s", s);
    static const char *const parts[] = {"<title>Ball</title>",
                                        "Content-Security-Policy",
                                        "default-src 'none'",
                                        "</html>\n",
                                        "\"columns\":[\"t\",\"x\",\"y\",\"x'\",\"y'\"",
                                        "\"figure\":\"circle\",\"name\":\"ball\"",
                                        "\"figure\":\"contact\",\"name\":\"ground\"",
                                        "\"ledger\":{\"steps\": 3000"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) assert_says(p.text, parts[i]);
    // Outside of scripts and styles nothing names another file.
    char *frame = strdup(p.text);
    for (int k = 0; k < 2; ++k) {
        const char *open = k ? "<style" : "<script", *close = k ? "</style>" : "</script>";
        for (char *from; (from = strstr(frame, open)) != NULL;) {
            char *to = strstr(from, close) + strlen(close);
            memmove(from, to, strlen(to) + 1);
        }
    }
    assert_null(strstr(frame, "http:"));
    assert_null(strstr(frame, "https:"));
    assert_null(strstr(frame, "src="));
    assert_null(strstr(frame, "href="));
    assert_null(strstr(p.text, "<script src"));
    free(frame);
    close_page(&p);
}

static void numbers_come_back_as_they_were_recorded(void **state) {
    (void)state;
    opened p = open_page("ball.html");
    carom_result *r = result_of("ball.h5");
    assert_int_equal(p.rows, carom_result_rows(r));
    for (int c = 0; c < carom_result_columns(r); ++c) {
        double *x = column(r, c), low = INFINITY, high = -INFINITY;
        for (long i = 0; i < p.rows; ++i) low = fmin(low, x[i]), high = fmax(high, x[i]);
        for (long i = 0; i < p.rows; ++i) {
            // half a unit of a 32-bit float
            const double most = c == 0 ? 0 : fmax(0x1p-24 * fabs(x[i]), 0x1p-53 * fabs(x[i]));
            const double error = fabs(value_of(&p, c, i) - x[i]);
            if (error > most && error > 0x1p-24 * (high - low))
                fail_msg("%s, row %ld: %.17g is off by %g", carom_result_column(r, c), i, x[i], error);
        }
        free(x);
    }
    carom_result_event e;
    carom_error err = {0};
    assert_int_equal(p.events, carom_result_event_count(r));
    assert_true(p.events > 3);
    for (long i = 0; i < p.events; ++i) {
        assert_int_equal(carom_result_events(r, i, 1, &e, &err), CAROM_OK);
        assert_true(event_time(&p, i) == e.t);
    }
    carom_result_close(r);
    close_page(&p);
}

static void the_drawing_is_that_of_the_model(void **state) {
    (void)state;
    opened p = open_page("ball.html");
    carom_result *r = result_of("ball.h5");
    const int columns = carom_result_columns(r);
    carom_result_close(r);
    const char *at = strstr(p.json, "\"figure\":\"circle\"");
    const int first = (int)number_at(at, "\"at\":");
    assert_true(first >= columns);
    for (long i = 0; i < p.rows; i += 7) {
        assert_close(value_of(&p, first, i), 0.1, 0);
        assert_close(value_of(&p, first + 1, i), value_of(&p, 1, i), 0);
        assert_close(value_of(&p, first + 2, i), value_of(&p, 2, i), 0);
    }
    at = strstr(p.json, "\"figure\":\"contact\"");
    const int touch = (int)number_at(at, "\"at\":");
    assert_close(value_of(&p, touch + 1, 0), 0.9, 1e-7);
    assert_close(value_of(&p, touch + 3, 5), 1, 1e-12); // the normal
    assert_close(value_of(&p, touch + 4, 5), 1, 1e-12); // the tangent
    close_page(&p);
}

static void overrides_of_the_run_hold_for_the_drawing(void **state) {
    (void)state;
    assert_int_equal(carom("run ball.yaml --set R=0.3 --out other.h5 -q"), 0);
    assert_int_equal(carom("view other.h5 -o other.html"), 0);
    opened p = open_page("other.html");
    assert_close(value_of(&p, (int)number_at(strstr(p.json, "\"figure\":\"circle\""), "\"at\":"), 3), 0.3, 0);
    close_page(&p);
}

static void the_slider_crank_fits_well_into_a_page(void **state) {
    (void)state;
    assert_int_equal(carom("run " CAROM_SOURCE_DIR "/models/slider-crank.yaml --dt-out 7.5e-5 --out crank.h5 -q"), 0);
    assert_int_equal(carom("view crank.h5"), 0);
    opened p = open_page("crank.html");
    assert_int_equal(p.rows, 2001);
    assert_true(p.size < 1500000);
    close_page(&p);
}

static void a_long_result_is_thinned_without_losing_what_happened(void **state) {
    (void)state;
    assert_int_equal(carom("run ball.yaml --step 2e-5 --every 1 --out long.h5 -q"), 0);
    assert_int_equal(carom("view long.h5 --rows 600"), 0);
    opened p = open_page("long.html");
    carom_result *r = result_of("long.h5");
    const long n = carom_result_rows(r);
    assert_int_equal(n, 150001);
    assert_int_equal(p.of, n);
    assert_true(p.rows <= 600 && p.rows > 200);
    assert_int_equal(p.events, carom_result_event_count(r));
    double *t = column(r, 0);
    assert_true(time_of(&p, 0) == t[0] && time_of(&p, p.rows - 1) == t[n - 1]);
    for (int c = 1; c < carom_result_columns(r); ++c) {
        double *x = column(r, c), low = INFINITY, high = -INFINITY, sum = 0, kept_low = INFINITY, kept_high = -INFINITY,
               kept_sum = 0;
        for (long i = 0; i < n; ++i) low = fmin(low, x[i]), high = fmax(high, x[i]), sum += x[i];
        for (long i = 0; i < p.rows; ++i) {
            const double y = value_of(&p, c, i);
            kept_low = fmin(kept_low, y), kept_high = fmax(kept_high, y), kept_sum += y;
        }
        if (strstr(carom_result_column(r, c), "impulse")) {
            assert_close(kept_sum, sum, 1e-6 * fabs(sum) + 1e-300); // what was left out went to the next row
        } else {
            assert_close(kept_low, low, 1e-7 * (high - low) + 1e-7 * fabs(low));
            assert_close(kept_high, high, 1e-7 * (high - low) + 1e-7 * fabs(high));
        }
        free(x);
    }
    // Both rows beside every impact are there: one step apart.
    long beside = 0;
    for (long e = 0; e < p.events; ++e)
        for (long i = 1; i < p.rows; ++i)
            if (time_of(&p, i) >= event_time(&p, e) * (1 - 1e-12)) {
                beside += time_of(&p, i) - time_of(&p, i - 1) < 3e-5;
                break;
            }
    assert_true(beside >= number_at(strstr(p.json, "\"ledger\""), "\"impacts\": "));
    free(t);
    carom_result_close(r);
    close_page(&p);
}

// Whatever the number of rows: of every column the lowest and the highest value are there.
static void a_thinned_result_keeps_every_peak(void **state) {
    (void)state;
    char text[1200] = "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: \"1/2*x'^2\"}\nsimulation: "
                      "{scheme: moreau-midpoint, step: 2.5e-4, end: 1}\noutputs:\n";
    static const double at[] = {0.0907, 0.2113, 0.3471, 0.5189, 0.6733, 0.8317, 0.9511};
    enum { N = sizeof at / sizeof *at };
    for (int i = 0; i < N; ++i)
        snprintf(text + strlen(text), 80, "  p%d: %sexp(-(300*(x - %g))^2)\n", i, i % 2 ? "-" : "", at[i]);
    put("peaks.yaml", text);
    assert_int_equal(carom("run peaks.yaml --out peaks.h5 -q --every 1"), 0);
    carom_result *r = result_of("peaks.h5");
    const long n = carom_result_rows(r);
    assert_int_equal(n, 4001);
    for (int most = 60; most < 2000; most *= 3) {
        assert_int_equal(carom("view peaks.h5 --rows %d", most), 0);
        opened p = open_page("peaks.html");
        assert_true(p.rows <= most);
        for (int c = carom_result_columns(r) - N; c < carom_result_columns(r); ++c) {
            double *x = column(r, c), largest = 0, kept = 0;
            for (long i = 0; i < n; ++i) largest = fmax(largest, fabs(x[i]));
            for (long i = 0; i < p.rows; ++i) kept = fmax(kept, fabs(value_of(&p, c, i)));
            assert_true(largest > 0.99);
            if (fabs(kept - largest) > 1e-6) fail_msg("%s: %g of %g", carom_result_column(r, c), kept, largest);
            free(x);
        }
        close_page(&p);
    }
    carom_result_close(r);
}

static void hostile_text_cannot_leave_its_place(void **state) {
    (void)state;
    put("evil.yaml",
        "carom: 1\nname: \"</title></script><script>alert(1)</script><!-- & \\\" \\\\\"\nabout: \"<!--<script>\"\n"
        "coordinates: {y: 1}\nenergy: {kinetic: y'^2, potential: y}\ncontacts: {c: {gap: y}}\n"
        "draw: {\"</script><img src=x onerror=alert(2)>\": {point: [0, y]}}\nsimulation: {scheme: moreau-midpoint, "
        "step: 1e-2, end: 1}\n");
    assert_int_equal(carom("run evil.yaml -q"), 0);
    assert_int_equal(carom("view evil.h5"), 0);
    opened p = open_page("evil.html");
    const char *s = p.json;
    assert_true(json_value(&s, 0));
    int opens = 0, closes = 0;
    for (const char *at = p.text; (at = strstr(at, "<script")) != NULL; ++at) ++opens;
    for (const char *at = p.text; (at = strstr(at, "</script")) != NULL; ++at) ++closes;
    assert_int_equal(opens, 3); // names, numbers, the script
    assert_int_equal(closes, 3);
    assert_null(strstr(p.text, "<img"));
    assert_null(strstr(p.text, "<!--"));
    assert_says(p.text, "<title>&lt;/title&gt;&lt;/script&gt;");
    close_page(&p);
}

static void a_result_without_its_model_still_has_its_plots(void **state) {
    (void)state;
    assert_int_equal(carom("run ball.yaml --out ball.csv -q"), 0);
    assert_int_equal(carom("view ball.csv -o plain.html"), 0);
    opened p = open_page("plain.html");
    assert_says(p.json, "\"shapes\":[]");
    assert_says(p.json, "\"model\":null");
    assert_true(p.events > 3);
    close_page(&p);
    assert_int_equal(carom("view ball.csv --model ball.yaml -o drawn.html"), 0);
    p = open_page("drawn.html");
    assert_says(p.json, "\"figure\":\"circle\"");
    close_page(&p);
}

// Bytes of a result changed in place.
static void forge(const char *from, const char *to, const char *old, const char *new) {
    size_t n = 0, k = strlen(old);
    char *bytes = whole(from, &n);
    size_t at = 0;
    while (at + k <= n && memcmp(bytes + at, old, k) != 0) ++at;
    assert_true(at + k <= n && strlen(new) == k);
    memcpy(bytes + at, new, k);
    FILE *f = fopen(to, "wb");
    fwrite(bytes, 1, n, f);
    fclose(f);
    free(bytes);
}

static void a_model_that_cannot_be_read_costs_the_drawing_only(void **state) {
    (void)state;
    forge("ball.h5", "forged.h5", "{circle: R", "{cirkle: R");
    assert_int_equal(carom("view forged.h5"), 0);
    assert_says(complaints, "the mechanism is not drawn");
    assert_says(complaints, "did you mean 'circle'?");
    opened p = open_page("forged.html");
    assert_says(p.json, "\"shapes\":[]");
    assert_says(p.json, "not drawn: ");
    close_page(&p);
    forge("ball.h5", "forged.h5", "coordinates: {x:", "coordinates: {z:");
    assert_int_equal(carom("view forged.h5"), 0);
    assert_says(complaints, "the mechanism is not drawn");
}

static void damaged_results_never_crash(void **state) {
    (void)state;
    size_t n = 0;
    char *bytes = whole("evil.h5", &n);
    unsigned seed = 5;
    for (int trial = 0; trial < 40; ++trial) {
        char *bad = malloc(n);
        memcpy(bad, bytes, n);
        for (int k = 0; k < 6; ++k) {
            seed = seed * 1664525u + 1013904223u;
            const size_t at = (seed >> 4) % n;
            seed = seed * 1664525u + 1013904223u;
            bad[at] = (char)(seed >> 16);
        }
        FILE *f = fopen("bad.h5", "wb");
        fwrite(bad, 1, trial % 8 == 7 ? n / 2 : n, f);
        fclose(f);
        free(bad);
        const int status = carom("view bad.h5 -o bad.html");
        if (status != 0 && status != 2) fail_msg("trial %d: status %d, %s", trial, status, complaints);
    }
    free(bytes);
}

static void wrong_usage_is_told(void **state) {
    (void)state;
    static const struct { const char *line, *says; } cases[] = {
        {"view", "view needs a RESULT"},
        {"view ball.h5 -o ball.txt", "does not end in .html"},
        {"view ball.h5 --rows 1", "expected an integer of at least 2, got"},
        {"view ball.h5 --rows 2.5", "expected an integer of at least 2, got"},
        {"view ball.yaml", "ball.yaml is a model, not a result; run `carom run ball.yaml` first"},
        {"view nothing.h5", "cannot read nothing.h5"},
        {"view ball.h5 --model nothing.yaml", "cannot read nothing.yaml"},
        {"view ball.h5 -o missing/ball.html", "cannot write missing/ball.html"},
        {"view ball.h5 --png 0.3", "is not a time like t=0.3"},
        {"view ball.h5 --png t=4", "has times from 0 to 3"},
        {"view ball.h5 --png t=1 --size 10x10", "is not a size like 1280x720"},
        {"view ball.h5 --png t=1 -o ball.jpg", "does not end in .png"},
        {"film", "film needs a RESULT"},
        {"film nothing.h5", "cannot read nothing.h5"},
        {"film ball.h5 -o ball.avi", "ends neither in .mp4 nor in .gif"},
        {"film ball.h5 --from 2 --to 1", "has times from 0 to 3, not 2 to 1"},
        {"film ball.h5 --from 1 --to 1", "--to must be later than --from"},
        {"film ball.h5 --fps 1000", "--fps must be at most 240"},
        {"film ball.h5 --fps 100 --speed 1e-6", "frames are too many"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const int status = carom("%s", cases[i].line);
        if (status != 2 && !(status == 1 && strstr(cases[i].line, "missing/")))
            fail_msg("%s: status %d", cases[i].line, status);
        assert_says(complaints, cases[i].says);
    }
    assert_int_equal(carom("view ball.h5 -o -"), 0);
    assert_says(out, "<!doctype html>");
}

// A film's name is a file, whatever it begins with: no option of ffmpeg, no address.  Two scripts stand for the browser
// and for ffmpeg.
static void names_of_films_are_files(void **state) {
    (void)state;
    char before[4096], path[5000];
    put("ffmpeg", "#!/bin/sh\nfor a; do last=$a; done\ncat >/dev/null\necho \"$last\" >>ffmpeg.txt\necho film "
                  ">\"${last#file:}\"\n");
    put("browser", "#!/bin/sh\nfor a; do last=$a; done\nn=${last#*#film=*,*,}\nn=${n%%,*}\nwhile [ $n -gt 0 ]; do echo "
                   "frame:AAAA; n=$((n - 1)); done\n");
    assert_int_equal(chmod("ffmpeg", 0700) | chmod("browser", 0700), 0);
    snprintf(before, sizeof before, "%s", getenv("PATH"));
    snprintf(path, sizeof path, "%s:%s", folder, before);
    setenv("PATH", path, 1);
    setenv("CHROMIUM", "./browser", 1);
    static const char *const names[] = {"-x.mp4", "tcp:127.0.0.1:9.mp4", "a b.gif"};
    for (size_t i = 0; i < 3; ++i) {
        const int status = carom("film ball.h5 --fps 2 --speed 1 -o '%s'", names[i]);
        if (status != 0) fail_msg("%s: status %d: %s", names[i], status, complaints);
        assert_int_equal(access(names[i], R_OK), 0);
    }
    setenv("PATH", before, 1);
    unsetenv("CHROMIUM");
    char text[400];
    get("ffmpeg.txt", text, sizeof text);
    assert_true(strncmp(text, "file:-x.mp4.", 12) == 0);
    assert_says(text, "\nfile:tcp:127.0.0.1:9.mp4.");
    assert_says(text, "\nfile:a b.gif.");
}

// A page that follows: it loads itself again until the run is over.
static void a_run_can_be_watched(void **state) {
    (void)state;
    assert_int_equal(carom("run ball.yaml --watch --quiet --out watched.h5"), 0);
    assert_says(complaints, "watch it in watched.html");
    size_t n = 0;
    char *page = whole("watched.html", &n);
    assert_null(strstr(page, "\"live\":true"));
    free(page);
    assert_int_equal(carom("view watched.h5 --live -o live.html"), 0);
    page = whole("live.html", &n);
    assert_says(page, "\"live\":true");
    free(page);
    assert_int_equal(carom("run ball.yaml --watch --out watched.csv"), 2);
    assert_says(complaints, "--watch follows an .h5 result");
}

static int setup(void **state) {
    if (enter_folder(state) != 0) return -1;
    put("ball.yaml", ball);
    return carom("run ball.yaml --every 5 -q");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_one_valid_file_that_loads_nothing),
        cmocka_unit_test(numbers_come_back_as_they_were_recorded),
        cmocka_unit_test(the_drawing_is_that_of_the_model),
        cmocka_unit_test(overrides_of_the_run_hold_for_the_drawing),
        cmocka_unit_test(the_slider_crank_fits_well_into_a_page),
        cmocka_unit_test(a_long_result_is_thinned_without_losing_what_happened),
        cmocka_unit_test(a_thinned_result_keeps_every_peak),
        cmocka_unit_test(hostile_text_cannot_leave_its_place),
        cmocka_unit_test(a_result_without_its_model_still_has_its_plots),
        cmocka_unit_test(a_model_that_cannot_be_read_costs_the_drawing_only),
        cmocka_unit_test(damaged_results_never_crash),
        cmocka_unit_test(names_of_films_are_files), cmocka_unit_test(a_run_can_be_watched),
        cmocka_unit_test(wrong_usage_is_told),
    };
    return cmocka_run_group_tests(tests, setup, leave_folder);
}
