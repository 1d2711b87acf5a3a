// test_fmu.c: FMUs in a small importer: the bits of `carom run`, states, events, coupling, wrong calls, descriptions.
#define _POSIX_C_SOURCE 200809L
#include "fmi_log.h"
#include "fmi_rules.h"

static void *instance(const rig *r, const fmi3 *f, bool events) {
    void *i = f->instantiate("one", r->token, r->resources, false, false, events, events, NULL, 0, NULL, on_log, NULL);
    if (!i) fail_msg("%s", log_text);
    return i;
}

static void *started(const rig *r, const fmi3 *f) {
    void *i = instance(r, f, false);
    assert_int_equal(f->enter(i, false, 0, 0, false, 0), 0);
    assert_int_equal(f->exit(i), 0);
    return i;
}

static void all_values(const rig *r, const fmi3 *f, void *i, double *x) {
    uint32_t ref[RIG_VARIABLES];
    for (int k = 0; k < r->n; ++k) ref[k] = (uint32_t)r->variable[k].ref;
    assert_int_equal(f->get(i, ref, (size_t)r->n, x, (size_t)r->n), 0);
}

static double value(const rig *r, const fmi3 *f, void *i, const char *name) {
    const uint32_t ref = rig_ref(r, name);
    double x;
    assert_int_equal(f->get(i, &ref, 1, &x, 1), 0);
    return x;
}

static int put(const rig *r, const fmi3 *f, void *i, const char *name, double x) {
    const uint32_t ref = rig_ref(r, name);
    return f->set(i, &ref, 1, &x, 1);
}

static int step(const fmi3 *f, void *i, double t, double h) {
    bool event, terminate, early;
    double last;
    return f->step(i, t, h, true, &event, &terminate, &early, &last);
}

static const char *write_model(const char *name, const char *text) {
    static char path[2][300];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], RIG_PLACE "%s.yaml", name);
    rig_write(path[turn], text, strlen(text));
    return path[turn];
}

// A ball with spin that bounces along the floor.
static const char ball[] =
    "carom: 1\nname: A ball <&'>\nparameters: {m: 2, g: 9.81, e: 0.8, r: 0.1, J: 2/5*m*r^2, F: 0}\n"
    "coordinates: {x: {at: 0, rate: 1}, y: {at: 0.3, rate: 0}, phi: {at: 0, rate: 20}}\n"
    "energy: {kinetic: 1/2*m*(x'^2 + y'^2) + 1/2*J*phi'^2, potential: m*g*y}\nforces: {x: F}\n"
    "contacts: {floor: {gap: y - r, slip: x + r*phi, restitution: e, friction: 0.3}}\n"
    "outputs: {height: y - r, speed: \"hypot(x', y')\"}\nsimulation: {scheme: moreau-jean, step: 1e-3, end: 1.5}\n";

// -- the bits of carom run --------------------------------------------------------------------------------------------

// Multipliers of the position level.
static bool not_exported(const char *column) { return strstr(column, ".nu"); }

// Column by column, row by row; the last row of a run is at its end time, which may differ from k h by rounding.
static void same_as_run(const char *name, const char *model, const char *arguments, double end, int every,
                        int version) {
    char command[1500], csv[400];
    snprintf(csv, sizeof csv, RIG_PLACE "%s.csv", name);
    snprintf(command, sizeof command, "%s/carom run %s %s --end %g --every %d --quiet --out %s", CAROM_BINARY_DIR,
             model, arguments, end, every, csv);
    const int status = rig_shell(command); // 3: a check of the model, which is about its whole run
    assert_true(status == 0 || status == 3);
    rig *r = rig_open(name, model, version, arguments);
    carom_error err = {0};
    carom_result *table = carom_result_open(csv, &err);
    if (!table) fail_msg("%s", err.text);
    const int n = carom_result_columns(table);
    const long rows = carom_result_rows(table);
    assert_true(rows > 3);
    unsigned ref[RIG_VARIABLES];
    double x[RIG_VARIABLES], y[RIG_VARIABLES];
    for (int k = 0; k < n; ++k)
        ref[k] = not_exported(carom_result_column(table, k)) ? 0 : rig_ref(r, carom_result_column(table, k));
    const fmi3 f = version == 3 ? rig_fmi3(r) : (fmi3){0};
    const fmi2 g = version == 2 ? rig_fmi2(r) : (fmi2){0};
    const fmi2_callbacks callbacks = {.log = on_log2};
    char uri[500];
    snprintf(uri, sizeof uri, "file://%s", r->resources);
    void *i = version == 3 ? started(r, &f) : g.instantiate("two", 1, r->token, uri, &callbacks, 0, 0);
    assert_non_null(i);
    if (version == 2) assert_int_equal(g.setup(i, 0, 0, 0, 0, 0) + g.enter(i) + g.exit(i), 0);
    const double H = every * r->variable[1].value;
    double t = 0;
    for (long row = 0; row < rows - 1; ++row) {
        if (row > 0) {
            if ((version == 3 ? step(&f, i, t, H) : g.step(i, t, H, 1)) != 0) fail_msg("%s", log_text);
            t += H; // as importers do: with rounding
        }
        assert_int_equal(version == 3 ? f.get(i, ref, (size_t)n, x, (size_t)n) : g.get(i, ref, (size_t)n, x), 0);
        assert_int_equal(carom_result_read_rows(table, row, 1, y, &err), CAROM_OK);
        for (int k = 0; k < n; ++k)
            if (!not_exported(carom_result_column(table, k)) && memcmp(&x[k], &y[k], sizeof *x) != 0)
                fail_msg("%s, row %ld, %s: %.17g, carom run has %.17g", name, row, carom_result_column(table, k), x[k],
                         y[k]);
    }
    if (version == 3) f.terminate(i), f.free(i);
    else g.terminate(i), g.free(i);
    carom_result_close(table);
    rig_close(r);
}

static void steps_have_the_bits_of_a_run(void **state) {
    (void)state;
    same_as_run("crank", CAROM_SOURCE_DIR "/models/slider-crank.yaml", "", 0.02, 10, 3);
    same_as_run("crank", CAROM_SOURCE_DIR "/models/slider-crank.yaml", "--set e=0.7", 0.005, 7, 2);
    same_as_run("bodies", CAROM_SOURCE_DIR "/models/four-bar.yaml", "--step 1e-3", 0.05, 5, 3);
    same_as_run("top", CAROM_SOURCE_DIR "/models/spinning-top.yaml", "--step 1e-3", 0.02, 1, 3);
    // two contacts, and the columns of the whole gap
    static const char groove[] =
        "carom: 1\ncoordinates: {x: {at: 0.2, rate: 1}, y: 0.5}\nenergy: {kinetic: (x'^2 + y'^2)/2, potential: "
        "9.81*y}\n"
        "contacts: {floor: {gap: y + 1, slip: x, friction: 0.1}, v: {gap: y - abs(x), slip: x, friction: 0.2, "
        "restitution: 0.3}}\nsimulation: {scheme: moreau-jean, step: 2e-3, end: 1}\n";
    same_as_run("groove", write_model("groove", groove), "", 0.8, 1, 3);
    same_as_run("located", write_model("ball", ball), "--scheme event-driven --step 0.01", 0.7, 1, 3);
    // contacts that come and go
    static const char crowd[] = "carom: 1\ngravity: [0, -10]\nbodies:\n  b: {repeat: 40, index: i, body: {mass: 1, "
                                "inertia: 0.01, at: [0.19*i, 0.3 + 0.1*i], shape: {circle: 0.09}}}\n"
                                "shapes: {floor: {plane: [0, 1]}}\ncontacts: {c: {among: [b, floor], restitution: 0.5, "
                                "friction: 0.2}}\nsimulation: {scheme: mixed, step: 5e-3, end: 1}\n";
    same_as_run("crowd", write_model("crowd", crowd), "", 0.4, 2, 3);
}

// Bodies and contacts that are there only while a condition holds: by time, by the state, in located time; and from a
// state that was kept before one of them came, back and once more.
static void parts_come_and_go(void **state) {
    (void)state;
    static const char hatch[] =
        "carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1]}, deck: {plane: [0, 1], at: [0, 0.4]}}\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: 0.01, at: [0, 0.6], shape: {circle: 0.1}}\n"
        "  late: {mass: 2, inertia: 0.01, at: [1, 0.6], velocity: [0.5, 1], shape: {circle: 0.1}, "
        "exists while: t > 0.305}\n"
        "  spent: {mass: 1, inertia: 0.01, at: [2, 0.9], velocity: [0, 1], shape: {circle: 0.1}, "
        "exists while: spent.y > 0.5}\n"
        "contacts:\n  land: {between: [[a, late, spent], floor], restitution: 0.5, friction: 0.2}\n"
        "  hatch: {between: [a, deck], restitution: 0.3, exists while: t < 0.4}\n"
        "simulation: {scheme: moreau-midpoint, step: 1e-3, end: 1}\n";
    const char *file = write_model("hatch", hatch);
    same_as_run("hatch", file, "", 0.8, 5, 3);
    same_as_run("hatch", file, "--scheme ggl-midpoint", 0.5, 5, 2);
    same_as_run("hatch", file, "--scheme event-driven --step 0.01", 0.8, 1, 3);
    rig *r = rig_open("hatch", file, 3, "");
    const fmi3 f = rig_fmi3(r);
    void *a = started(r, &f), *kept = NULL;
    double x[RIG_VARIABLES], y[RIG_VARIABLES];
    for (int k = 0; k < 30; ++k) assert_int_equal(step(&f, a, 0.01 * k, 0.01), 0);
    assert_int_equal(f.save(a, &kept), 0);
    for (int again = 0; again < 2; ++again) { // the late one comes, the hatch opens, the spent one goes
        if (again) assert_int_equal(f.restore(a, kept), 0);
        for (int k = 30; k < 60; ++k) assert_int_equal(step(&f, a, 0.01 * k, 0.01), 0);
        all_values(r, &f, a, again ? y : x);
    }
    assert_memory_equal(x, y, sizeof *y * (size_t)r->n);
    f.drop(a, &kept);
    f.free(a);
    rig_close(r);
}

static char notes[4000];
static void on_note(void *user, int status, const char *category, const char *message) {
    (void)user, (void)status, (void)category;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", message);
}

// The compiled model is used, gives the bits of a run, and gives way to the interpreter where a parameter changes the
// structure or the file is not one.
static void compiled_models_have_the_bits_of_a_run(void **state) {
    (void)state;
    static const char boxes[] = "carom: 1\nparameters: {w: 0.2}\ngravity: [0, -9.81]\nbodies: {b: {mass: 1, inertia: "
                                "0.01, at: [0, 0.3], angle: 0.3, shape: {box: [w, 0.1]}}}\n"
                                "shapes: {floor: {plane: [0, 1]}}\ncontacts: {c: {between: [b, floor], restitution: "
                                "0.5, friction: 0.3}}\nsimulation: {scheme: moreau-jean, step: 1e-3, end: 1}\n";
    const char *model = write_model("boxes", boxes);
    same_as_run("boxes", model, "--compile on", 0.5, 5, 3);
    same_as_run("boxes", model, "--compile on --set w=0.25", 0.5, 5, 2);
    rig *r = rig_open("boxes", model, 3, "--compile on");
    const fmi3 f = rig_fmi3(r);
    char path[600];
    double last[2];
    for (int k = 0; k < 4; ++k) { // compiled; another structure; without the file; with another one in its place
        if (k == 2) {
            snprintf(path, sizeof path, "rm %s/model-*.so", r->resources);
            assert_int_equal(rig_shell(path), 0);
        }
        if (k == 3) {
            snprintf(path, sizeof path, "for m in aarch64 x86_64; do echo no object >%s/model-$m-linux.so; done",
                     r->resources);
            assert_int_equal(rig_shell(path), 0);
        }
        notes[0] = 0;
        void *i = f.instantiate("one", r->token, r->resources, false, true, false, false, NULL, 0, NULL, on_note, NULL);
        assert_non_null(i);
        if (k == 1) assert_int_equal(put(r, &f, i, "w", 0.3), 0);
        assert_int_equal(f.enter(i, false, 0, 0, false, 0) + f.exit(i) + step(&f, i, 0, 0.4), 0);
        if (k != 1) last[k > 0] = value(r, &f, i, "b.y");
        if (k == 0) assert_non_null(strstr(notes, "3 of 3 parts of the model are compiled"));
        if (k == 1) assert_null(strstr(notes + (strstr(notes, "\n") - notes) + 1, "3 of 3"));
        if (k >= 2) assert_non_null(strstr(notes, "0 of 3 parts of the model are compiled"));
        if (k >= 2) assert_memory_equal(&last[0], &last[1], sizeof *last);
        f.free(i);
    }
    rig_close(r);
}

// The library that is built from the files that the description lists, without any other setting: the bits of the one
// inside.
static void sources_build_the_same_library(void **state) {
    (void)state;
    rig *r = rig_open("built", CAROM_SOURCE_DIR "/models/slider-crank.yaml", 2, "--compile on");
    char command[2000], path[600];
    double last[2];
    snprintf(command, sizeof command,
             "cd %s && unzip -qo ../fmu-built-2.fmu && cd sources && sed -n 's/.*<File name=\"\\(.*\\)\"\\/>.*/\\1/p' "
             "../modelDescription.xml >list && "
             "cc -std=c17 -O0 -w -fPIC -shared -ffp-contract=off -fno-math-errno -Isrc -Iinclude $(cat list) -o "
             "../built.so -lm",
             r->folder);
    if (rig_shell("command -v unzip >/dev/null") != 0) skip();
    assert_int_equal(rig_shell(command), 0);
    for (int k = 0; k < 2; ++k) {
        if (k == 1) {
            dlclose(r->library);
            snprintf(path, sizeof path, "%s/built.so", r->folder);
            r->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (!r->library) fail_msg("%s", dlerror());
        }
        const fmi2 g = rig_fmi2(r);
        const fmi2_callbacks callbacks = {.log = on_log2};
        char uri[500];
        snprintf(uri, sizeof uri, "file://%s", r->resources);
        void *i = g.instantiate("two", 1, r->token, uri, &callbacks, 0, 0);
        assert_non_null(i);
        const unsigned ref = rig_ref(r, "th3");
        assert_int_equal(g.setup(i, 0, 0, 0, 0, 0) + g.enter(i) + g.exit(i) + g.step(i, 0, 0.02, 1) +
                             g.get(i, &ref, 1, &last[k]),
                         0);
        g.free(i);
    }
    assert_memory_equal(&last[0], &last[1], sizeof *last);
    rig_close(r);
}

// More of the shipped models, the first 40 steps.
static void shipped_models_have_the_bits_of_a_run(void **state) {
    (void)state;
    static const char *const names[] = {
        "bouncing-ball",       "ball-in-box",          "slider-crank-bilateral", "pendulum",
        "rocking-block",       "impacting-oscillator", "two-ball-oscillator",    "woodpecker",
        "slider-crank-bodies", "four-bar-clearance",   "newtons-cradle",         "euler-disk",
        "chain-drum",          "gear-rattle"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        carom_error err = {0};
        char path[300];
        size_t length;
        snprintf(path, sizeof path, CAROM_SOURCE_DIR "/models/%s.yaml", names[k]);
        char *text = rig_file(path, &length);
        carom_model *m = model_of(text, &err);
        assert_non_null(m);
        const double h = carom_model_simulation(m).step;
        carom_model_destroy(m);
        free(text);
        same_as_run(names[k], path, k % 3 ? "" : "--compile on", 40.5 * h, 2, 2 + (int)(k % 2));
    }
}

// -- states -----------------------------------------------------------------------------------------------------------

static void a_step_that_is_taken_back_and_repeated_has_the_same_bits(void **state) {
    (void)state;
    rig *r = rig_open("ball", write_model("ball", ball), 3, "--input F");
    const fmi3 f = rig_fmi3(r);
    void *a = started(r, &f), *b = instance(r, &f, false), *kept = NULL, *carried = NULL;
    double before[RIG_VARIABLES], x[RIG_VARIABLES], y[RIG_VARIABLES];
    size_t size;
    for (int k = 0; k < 33; ++k) assert_int_equal(step(&f, a, 0.01 * k, 0.01), 0); // the first impact is at 0.2 s
    assert_int_equal(put(r, &f, a, "F", 0.5), 0);
    assert_int_equal(f.save(a, &kept), 0);
    all_values(r, &f, a, before);
    for (int k = 33; k < 70; ++k) assert_int_equal(step(&f, a, 0.01 * k, 0.01), 0);
    all_values(r, &f, a, x);
    assert_int_equal(put(r, &f, a, "F", -3), 0);
    assert_int_equal(step(&f, a, 0.7, 0.01), 0);
    // back, and the same again
    assert_int_equal(f.restore(a, kept), 0);
    all_values(r, &f, a, y);
    assert_memory_equal(before, y, sizeof *y * (size_t)r->n);
    for (int k = 33; k < 70; ++k) assert_int_equal(step(&f, a, 0.01 * k, 0.01), 0);
    all_values(r, &f, a, y);
    assert_memory_equal(x, y, sizeof *y * (size_t)r->n);
    // as bytes, in another instance
    assert_int_equal(f.size(a, kept, &size), 0);
    uint8_t *bytes = malloc(size);
    assert_int_equal(f.write(a, kept, bytes, size), 0);
    assert_int_equal(f.read(b, bytes, size, &carried), 0);
    assert_int_equal(f.restore(b, carried), 0);
    for (int k = 33; k < 70; ++k) assert_int_equal(step(&f, b, 0.01 * k, 0.01), 0);
    all_values(r, &f, b, y);
    assert_memory_equal(x, y, sizeof *y * (size_t)r->n);
    // damaged bytes are refused, wherever
    assert_int_equal(f.drop(b, &carried), 0);
    for (size_t k = 0; k < size; k += 1 + size / 97) {
        bytes[k] ^= 4;
        assert_int_equal(f.read(b, bytes, size, &carried), 3);
        bytes[k] ^= 4;
    }
    assert_int_equal(f.read(b, bytes, size - 1, &carried), 3);
    free(bytes);
    f.drop(a, &kept);
    f.free(a);
    f.free(b);
    rig_close(r);
}

// -- events -----------------------------------------------------------------------------------------------------------

static int updates;
static void on_update(void *user, double t, bool set, bool get, bool finished, bool can_return, bool *requested,
                      double *at) {
    (void)user, (void)t, (void)set, (void)requested, (void)at;
    ++updates;
    assert_true(get && finished && can_return);
}

// The ball falls 0.2 m: t = sqrt(2 0.2/9.81) = 0.20193 s; steps of 1 ms.
static void impacts_end_steps_early(void **state) {
    (void)state;
    rig *r = rig_open("ball", write_model("ball", ball), 3, "");
    const fmi3 f = rig_fmi3(r);
    bool event, terminate, early, flag[5];
    double last, next, x[RIG_VARIABLES], y[RIG_VARIABLES];
    void *a = f.instantiate("events", r->token, r->resources, false, false, true, true, NULL, 0, NULL, on_log,
                            on_update),
         *b = started(r, &f);
    assert_non_null(a);
    assert_int_equal(f.enter(a, false, 0, 0, true, 1), 0);
    assert_int_equal(f.exit(a), 0);
    assert_int_equal(step(&f, a, 0, 0.1), 3); // first comes event mode
    assert_int_equal(f.update(a, &flag[0], &flag[1], &flag[2], &flag[3], &flag[4], &next), 0);
    assert_int_equal(f.step_mode(a), 0);
    updates = 0;
    assert_int_equal(f.step(a, 0, 1, true, &event, &terminate, &early, &last), 0);
    assert_true(event && early && !terminate);
    assert_true(fabs(last - sqrt(0.4 / 9.81)) < 2e-3);
    assert_int_equal(updates, (int)lround(last / 1e-3));
    assert_true(value(r, &f, a, "floor.impulse") > 0);
    assert_true(value(r, &f, a, "y'") > 0);
    int events = 0;
    while (last < 1 - 1e-9) {
        if (event) {
            ++events;
            assert_int_equal(f.event_mode(a), 0);
            assert_int_equal(f.update(a, &flag[0], &flag[1], &flag[2], &flag[3], &flag[4], &next), 0);
            assert_int_equal(f.step_mode(a), 0);
        }
        assert_int_equal(f.step(a, last, 1 - last, true, &event, &terminate, &early, &last), 0);
    }
    assert_true(events >= 3);
    assert_int_equal(step(&f, a, last, 0.1), 3); // beyond the stop time
    assert_int_equal(step(&f, b, 0, 1), 0);
    all_values(r, &f, a, x);
    all_values(r, &f, b, y);
    for (int k = 0; k < r->n; ++k) // impulses are those of the last communication step
        if (!strstr(r->variable[k].name, "impulse")) assert_memory_equal(&x[k], &y[k], sizeof *x);
    f.free(a);
    f.free(b);
    rig_close(r);
}

// -- settings, inputs -------------------------------------------------------------------------------------------------

// v = F/m t in free flight, exactly; steps that are no multiples of h end where they should.
static void parameters_initial_values_and_inputs_count(void **state) {
    (void)state;
    rig *r = rig_open("ball", write_model("ball", ball), 3, "--input F");
    const fmi3 f = rig_fmi3(r);
    void *i = instance(r, &f, false);
    assert_int_equal(put(r, &f, i, "g", 0), 0);
    assert_int_equal(put(r, &f, i, "m", 4), 0);
    assert_int_equal(f.enter(i, false, 0, 2, false, 0), 0);
    assert_int_equal(put(r, &f, i, "x'", 0), 0);
    assert_int_equal(put(r, &f, i, "y", 5), 0);
    assert_int_equal(put(r, &f, i, "simulation.step", 0.01), 0);
    assert_true(value(r, &f, i, "J") == 2.0 / 5 * 4 * 0.1 * 0.1 || fabs(value(r, &f, i, "J") - 0.016) < 1e-17);
    assert_int_equal(put(r, &f, i, "J", 1), 3);
    assert_int_equal(put(r, &f, i, "height", 1), 3);
    assert_int_equal(put(r, &f, i, "m", NAN), 3);
    assert_int_equal(f.exit(i), 0);
    assert_true(value(r, &f, i, "t") == 2 && value(r, &f, i, "height") == 4.9);
    assert_int_equal(put(r, &f, i, "m", 5), 3); // too late
    double t = 2, speed = 0;
    static const double H[] = {0.02, 0.0137, 0.003, 0.1, 0.00999, 0.05};
    for (int k = 0; k < 6; ++k) {
        assert_int_equal(put(r, &f, i, "F", k - 1.5), 0);
        assert_int_equal(step(&f, i, t, H[k]), 0);
        speed += (k - 1.5) / 4 * H[k];
        t += H[k];
        assert_true(fabs(value(r, &f, i, "t") - t) < 1e-14);
        assert_true(fabs(value(r, &f, i, "x'") - speed) < 1e-14);
    }
    assert_int_equal(step(&f, i, t + 0.5, 0.1), 3);
    assert_int_equal(step(&f, i, t, -0.1), 3);
    assert_int_equal(f.reset(i), 0);
    assert_int_equal(f.enter(i, false, 0, 0, false, 0), 0);
    assert_int_equal(f.exit(i), 0);
    assert_true(value(r, &f, i, "m") == 2 && value(r, &f, i, "y") == 0.3);
    f.free(i);
    rig_close(r);
}

// Section `inputs` beside a controller: m = 1, x'' = F + u, u sampled every 0.1 s; rolled back in the middle.
static void signals_are_inputs(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ninputs: {F: 1}\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: F + u}\n"
        "controllers: {c: {sample: 0.1, outputs: {u: -2*x - 3*x' - F}}}\nsimulation: {scheme: generalized-alpha, step: "
        "0.02, end: 1}\n";
    for (int version = 2; version <= 3; ++version) {
        rig *r = rig_open("signals", write_model("signals", text), version, "");
        assert_string_equal(r->variable[rig_ref(r, "F")].causality, "input");
        assert_string_equal(r->variable[rig_ref(r, "u")].causality, "output");
        rig_close(r);
    }
    rig *r = rig_open("signals", write_model("signals", text), 3, "");
    const fmi3 f = rig_fmi3(r);
    void *i = instance(r, &f, false), *kept = NULL;
    assert_int_equal(f.enter(i, false, 0, 0, false, 0), 0);
    assert_int_equal(put(r, &f, i, "F", 2), 0);
    assert_int_equal(f.exit(i), 0);
    assert_true(value(r, &f, i, "u") == -2 && value(r, &f, i, "F") == 2);
    double x = 0, v = 0, u = 0, F = 2, seen[2] = {0, 0};
    for (int k = 0; k < 20; ++k) { // communication points at half samples
        F = k < 7 ? 2 : 0.25 * k;
        if (k >= 7) assert_int_equal(put(r, &f, i, "F", F), 0);
        // the sample at the end of the last step saw that step's F
        if (k % 2 == 0) u = -2 * x - 3 * v - (k <= 6 ? 2 : 0.25 * (k - 1));
        if (k == 11) assert_int_equal(f.save(i, &kept), 0);
        assert_int_equal(step(&f, i, 0.05 * k, 0.05), 0);
        x += 0.05 * v + 0.00125 * (F + u);
        v += 0.05 * (F + u);
        assert_true(fabs(value(r, &f, i, "x") - x) < 1e-12 && fabs(value(r, &f, i, "x'") - v) < 1e-12);
        if (k == 12) seen[0] = value(r, &f, i, "x"), seen[1] = value(r, &f, i, "x'");
    }
    assert_int_equal(f.restore(i, kept), 0);
    assert_true(value(r, &f, i, "F") == 2.75);
    for (int k = 11; k <= 12; ++k) {
        assert_int_equal(put(r, &f, i, "F", 0.25 * k), 0);
        assert_int_equal(step(&f, i, 0.05 * k, 0.05), 0);
    }
    assert_true(value(r, &f, i, "x") == seen[0] && value(r, &f, i, "x'") == seen[1]);
    assert_int_equal(f.drop(i, &kept), 0);
    f.free(i);
    rig_close(r);
}

// A mass of 1 kg falls onto a table of 2 kg on a spring and a damper: two FMUs, the contact force goes one way, the
// table's height the other. At rest the contact carries 9.81 N and the spring is compressed by 3 9.81/500 m.
static void two_fmus_meet_in_a_contact(void **state) {
    (void)state;
    static const char mass[] = "carom: 1\nparameters: {table: 0, speed: 0, k: 4000, c: 40}\ncoordinates: {y: {at: "
                               "0.02, rate: 0}}\nenergy: {kinetic: 1/2*y'^2, potential: 9.81*y}\n"
                               "let: {depth: table - y, force: \"if(table > y, max(0, k*(table - y) + c*(speed - y')), "
                               "0)\"}\nforces: {y: force}\noutputs: {load: force}\n"
                               "simulation: {scheme: half-explicit, step: 1e-4, end: 1}\n";
    static const char table[] = "carom: 1\nparameters: {load: 0}\ncoordinates: {z: {at: -2*9.81/500, rate: "
                                "0}}\nenergy: {kinetic: 1/2*2*z'^2, potential: 1/2*500*z^2 + 2*9.81*z}\n"
                                "forces: {z: -load - 30*z'}\noutputs: {height: z, speed: z'}\nsimulation: {scheme: "
                                "half-explicit, step: 1e-4, end: 1}\n";
    rig *r[2] = {rig_open("mass", write_model("mass", mass), 3, "--input table --input speed"),
                 rig_open("table", write_model("table", table), 3, "--input load")};
    const fmi3 f[2] = {rig_fmi3(r[0]), rig_fmi3(r[1])};
    void *i[2] = {started(r[0], &f[0]), started(r[1], &f[1])};
    const double H = 2e-3;
    double largest = 0;
    for (int k = 0; k < 1200; ++k) {
        const double load = value(r[0], &f[0], i[0], "load");
        largest = fmax(largest, load);
        assert_int_equal(put(r[1], &f[1], i[1], "load", load), 0);
        assert_int_equal(put(r[0], &f[0], i[0], "table", value(r[1], &f[1], i[1], "height")), 0);
        assert_int_equal(put(r[0], &f[0], i[0], "speed", value(r[1], &f[1], i[1], "speed")), 0);
        for (int s = 0; s < 2; ++s) assert_int_equal(step(&f[s], i[s], k * H, H), 0);
    }
    assert_true(largest > 20); // it did fall
    assert_true(fabs(value(r[0], &f[0], i[0], "load") - 9.81) < 1e-3);
    assert_true(fabs(value(r[1], &f[1], i[1], "z") + 3 * 9.81 / 500) < 1e-5);
    for (int s = 0; s < 2; ++s) f[s].free(i[s]), rig_close(r[s]);
}

// -- wrong calls ------------------------------------------------------------------------------------------------------

static unsigned seed = 1;
static unsigned chance(unsigned n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void calls_in_any_order_return(void **state) {
    (void)state;
    rig *r = rig_open("ball", write_model("ball", ball), 3, "--input F"),
        *s = rig_open("ball", write_model("ball", ball), 2, "--input F");
    const fmi3 f = rig_fmi3(r);
    const fmi2 g = rig_fmi2(s);
    const fmi2_callbacks callbacks = {.log = on_log2};
    char uri[500];
    snprintf(uri, sizeof uri, "file:%s", s->resources);
    void *i = NULL, *c = NULL, *kept = NULL, *kept2 = NULL;
    double x[4] = {1, 2, 3, NAN};
    int right = 0, wrong = 0;
    for (int k = 0; k < 3000; ++k) {
        const uint32_t any = chance(40), ref[2] = {any, chance(200) ? 0 : 4000000000u};
        const double t = i && chance(9) ? NAN : 0.01 * chance(5), h = chance(9) ? 0.002 * chance(8) : INFINITY;
        bool b[5];
        double y;
        int status = 0, status2 = 0;
        unsigned luck[5]; // arguments of a call would be drawn in any order
        for (int l = 0; !i && l < 5; ++l) luck[l] = chance(l < 3 ? 8 : 2);
        const bool logs = !i && chance(2);
        if (!i)
            i = f.instantiate(luck[0] ? "a" : NULL, luck[1] ? r->token : "x", luck[2] ? r->resources : NULL, false,
                              true, luck[3], luck[4], NULL, 0, NULL, logs ? on_log : NULL, NULL);
        for (int l = 0; !c && l < 4; ++l) luck[l] = chance(l < 3 ? 8 : 3);
        if (!c)
            c = g.instantiate(luck[0] ? "a" : NULL, 1, luck[1] ? s->token : "x", luck[2] ? uri : NULL,
                              luck[3] ? &callbacks : NULL, 0, 1);
        switch (chance(16)) {
        case 0: status = f.enter(i, false, 0, chance(3) ? 0 : NAN, false, 0), status2 = c ? g.enter(c) : 3; break;
        case 1: status = f.exit(i), status2 = g.exit(c); break;
        case 2: status = f.event_mode(i), status2 = g.setup(c, 0, 0, 0, 0, 0); break;
        case 3: status = f.step_mode(i); break;
        case 4: status = chance(6) ? 0 : f.terminate(i), status2 = chance(6) ? 0 : g.terminate(c); break;
        case 5: status = chance(3) ? 0 : f.reset(i), status2 = chance(3) ? 0 : g.reset(c); break;
        case 6: status = f.update(i, chance(2) ? b : NULL, b + 1, b + 2, b + 3, b + 4, &y); break;
        case 7:
            for (int l = 0; l < 4; ++l) luck[l] = chance(l % 2 ? 3 : 5);
            status = f.get(i, luck[0] ? ref : NULL, luck[1], luck[2] ? x : NULL, luck[3]);
            for (int l = 0; l < 3; ++l) luck[l] = chance(l % 2 ? 3 : 5);
            status2 = g.get(c, luck[0] ? ref : NULL, luck[1], luck[2] ? x : NULL);
            break;
        case 8:
            status = f.set(i, ref, 2, x + chance(3), 2);
            luck[0] = chance(5), luck[1] = chance(3);
            status2 = g.set(c, luck[0] ? ref : NULL, 1, x + luck[1]);
            break;
        case 9: case 10: case 11: {
            double now = 0;
            const uint32_t time = 0;
            if (i && f.get(i, &time, 1, &now, 1) == 0 && chance(2))
                status = f.step(i, now, 0.004, true, b, b + 1, b + 2, &y);
            else status = f.step(i, t, h, true, b, NULL, b + 2, chance(2) ? &y : NULL);
            status2 = g.step(c, t, h, 1);
            break;
        }
        case 12: status = f.save(i, &kept), status2 = g.save(c, &kept2); break;
        case 13: status = f.restore(i, kept), status2 = g.restore(c, kept2); break;
        case 14: status = f.read(i, (const uint8_t *)"nothing at all", 14, &kept) == 0 ? 99 : 3; break;
        case 15:
            if (chance(4) == 0) f.free(i), i = NULL, g.free(c), c = NULL;
            break;
        }
        assert_true(status >= 0 && status <= 4 && status2 >= 0 && status2 <= 4);
        status + status2 ? ++wrong : ++right;
    }
    assert_true(wrong > 300 && right > 300);
    if (i || kept) {
        if (!i) i = instance(r, &f, false);
        f.drop(i, &kept);
    }
    if (kept2) {
        if (!c) c = g.instantiate("a", 1, s->token, uri, &callbacks, 0, 0);
        g.drop(c, &kept2);
    }
    f.free(i);
    g.free(c);
    f.free(NULL);
    assert_int_equal(f.exit(NULL), 3);
    rig_close(r);
    rig_close(s);
}

static void bad_packages_are_refused_with_a_sentence(void **state) {
    (void)state;
    rig *r = rig_open("ball", write_model("ball", ball), 3, "");
    const fmi3 f = rig_fmi3(r);
    char path[600];
    size_t length;
    assert_null(f.instantiate("a", "{other}", r->resources, false, false, false, false, NULL, 0, NULL, on_log, NULL));
    assert_non_null(strstr(log_text, "identifier"));
    assert_null(f.instantiate("a", r->token, "/nowhere", false, false, false, false, NULL, 0, NULL, on_log, NULL));
    assert_non_null(strstr(log_text, "/nowhere/token.txt"));
    snprintf(path, sizeof path, "%s/model.txt", r->resources);
    char *text = rig_file(path, &length);
    for (size_t cut = 0; cut < length; cut += 1 + length / 41) { // cut off anywhere
        rig_write(path, text, cut);
        void *i = f.instantiate("a", r->token, r->resources, false, false, false, false, NULL, 0, NULL, on_log, NULL);
        assert_true(i == NULL && log_text[0]);
    }
    free(text);
    rig_close(r);
    const char *model = write_model("ball", ball);
    static const char *const wrong[] = {"--fmi 4", "--input nothing", "--vary e=1,2", "--scheme alpha-index3",
                                        "--step 0"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        char command[800];
        snprintf(command, sizeof command, "%s/carom export fmu %s %s -o " RIG_PLACE "wrong.fmu 2>/dev/null",
                 CAROM_BINARY_DIR, model, wrong[k]);
        if (rig_shell(command) != 2) fail_msg("%s: exit status is not 2", wrong[k]);
    }
    assert_int_not_equal(access(RIG_PLACE "wrong.fmu", F_OK), 0);
}

// -- descriptions -----------------------------------------------------------------------------------------------------

static void descriptions_obey_the_standard(void **state) {
    (void)state;
    for (int version = 2; version <= 3; ++version) {
        rig *r = rig_open("ball", write_model("ball", ball), version, "--input F");
        fmi_check(r);
        assert_string_equal(r->variable[rig_ref(r, "F")].causality, "input");
        assert_string_equal(r->variable[rig_ref(r, "J")].causality, "calculatedParameter");
        assert_string_equal(r->variable[rig_ref(r, "height")].causality, "output");
        assert_non_null(strstr(r->description, "modelName=\"A ball &lt;&amp;'&gt;\""));
        char command[800];
        snprintf(command, sizeof command,
                 "if command -v xmllint >/dev/null; then xmllint --noout %s/modelDescription.xml; fi", r->folder);
        assert_int_equal(rig_shell(command), 0);
        rig_close(r);
    }
}

int main(int argc, char **argv) {
    (void)argv;
    const struct CMUnitTest all[] = {cmocka_unit_test(shipped_models_have_the_bits_of_a_run),
                                     cmocka_unit_test(sources_build_the_same_library)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_have_the_bits_of_a_run),
        cmocka_unit_test(parts_come_and_go),
        cmocka_unit_test(compiled_models_have_the_bits_of_a_run),
        cmocka_unit_test(a_step_that_is_taken_back_and_repeated_has_the_same_bits),
        cmocka_unit_test(impacts_end_steps_early),
        cmocka_unit_test(parameters_initial_values_and_inputs_count),
        cmocka_unit_test(signals_are_inputs),
        cmocka_unit_test(two_fmus_meet_in_a_contact),
        cmocka_unit_test(calls_in_any_order_return),
        cmocka_unit_test(bad_packages_are_refused_with_a_sentence),
        cmocka_unit_test(descriptions_obey_the_standard),
    };
    return argc > 1 ? cmocka_run_group_tests_name("test_fmu_long", all, NULL, NULL)
                    : cmocka_run_group_tests_name("test_fmu", tests, NULL, NULL);
}
