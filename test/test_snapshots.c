// test_snapshots.c: what `record` chooses: columns of bodies, and snapshots of contacts, in every form of a result.
#define _POSIX_C_SOURCE 200809L
#include "result_rig.h"
#include <time.h>

// `n` boxes (or balls, from 30 on) of 2 kg and a ball of 1 kg stand on a floor.
static const char *text_of(int n, const char *record) {
    static char text[2000];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, 0, -10]\n%s\nbodies:\n"
             "  s: {repeat: %d, body: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0, 0.5*i, 0.1], shape: {%s}}}\n"
             "  t: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 9, 0.1], shape: {sphere: 0.1}}\n"
             "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [s, t, floor], friction: 0.3}}\n",
             record, n, n < 30 ? "box: [0.2, 0.2, 0.2]" : "sphere: 0.1");
    return text;
}

static carom_result_contact *contacts(carom_result *r, long *n) {
    carom_error err = {0};
    *n = carom_result_contact_count(r);
    carom_result_contact *c = calloc((size_t)*n + 1, sizeof *c);
    assert_non_null(c);
    if (carom_result_contacts(r, 0, *n, c, &err) != CAROM_OK) fail_msg("%s", err.text);
    return c;
}

static carom_result *remembered(const char *text, const char *scheme, double h, double end) {
    carom_error err = {0};
    rig g = make(text, scheme, NULL, h, end, 0, 0, false);
    assert_int_equal(carom_sim_run(g.sim, on_step, &g, &err), CAROM_OK);
    assert_int_equal(carom_record_finish(g.r, "done", NULL, &err), CAROM_OK);
    carom_result *r = carom_record_result(g.r, &err);
    assert_non_null(r);
    carom_record_destroy(g.r);
    carom_sim_destroy(g.sim);
    carom_model_destroy(g.m);
    return r;
}

// Both are closed.
static void same_snapshots(carom_result *x, carom_result *y) {
    long n, m;
    carom_result_contact *p = contacts(x, &n), *q = contacts(y, &m);
    assert_int_equal(n, m);
    assert_memory_equal(p, q, sizeof *p * (size_t)n);
    for (long i = 0; i < n; ++i) { // one by one
        carom_result_contact one = {0};
        carom_error err = {0};
        assert_int_equal(carom_result_contacts(y, i, 1, &one, &err), CAROM_OK);
        assert_true(one.t == p[i].t && one.gap == p[i].gap && one.force[2] == p[i].force[2] &&
                    strcmp(one.contact, p[i].contact) == 0);
    }
    free(p), free(q);
    carom_result_close(x), carom_result_close(y);
}

static void same_contacts(const char *a, const char *b) { same_snapshots(load(a), load(b)); }

// Boxes stand on four corners, which carry 20 N, balls on one place; pairs are written out (few) or come and go (many).
static void snapshots_hold_places_and_forces(void **state) {
    (void)state;
    for (int n = 3; n <= 35; n += 32) {
        const char *text = text_of(n, "record: {contacts: 0.05}");
        simulate(text, "moreau-midpoint", "a.h5", 1e-3, 0.2, 0, 0);
        simulate(text, "moreau-midpoint", "a.csv", 1e-3, 0.2, 0, 0);
        same_contacts("a.h5", "a.csv");
        same_snapshots(load("a.h5"), remembered(text, "moreau-midpoint", 1e-3, 0.2));
        carom_result *r = load("a.h5");
        long rows;
        carom_result_contact *c = contacts(r, &rows);
        assert_int_equal(rows, 4 * ((n < 30 ? 4 : 1) * n + 1));
        for (int k = 1; k <= 4; ++k) {
            double weight = 0, ball = 0;
            for (long i = 0; i < rows; ++i) {
                if (fabs(c[i].t - 0.05 * k) > 1e-9) continue;
                if (!(fabs(c[i].gap) < 1e-9 && fabs(c[i].point[2]) < 1e-6))
                    fail_msg("%s: gap %g, z %g", c[i].contact, c[i].gap, c[i].point[2]);
                assert_true(fabs(c[i].gap) < 1e-9 && fabs(c[i].point[2]) < 1e-6 && fabs(c[i].normal[2] - 1) < 1e-12);
                weight += c[i].force[2];
                if (c[i].point[1] > 8.9 && fabs(c[i].point[0] - 0.5) < 1e-9) ball += c[i].force[2];
            }
            assert_true(fabs(weight - 20 * n - 10) < 1e-6);
            assert_true(fabs(ball - 10) < 1e-6);
        }
        free(c);
        carom_result_close(r);
    }
}

// Contacts of hulls are found by search; what they carry adds up to the weight, too, and settling moves hulls.
static void snapshots_of_hulls_carry_the_weight(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ngravity: [0, 0, -10]\nrecord: {contacts: 0.05}\nsettle: yes\nbodies:\n"
        "  s: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0.09], shape: {hull: [[-0.1, -0.1, -0.1], [0.1, -0.1, "
        "-0.1], [-0.1, 0.1, -0.1], [0.1, 0.1, -0.1],"
        " [-0.1, -0.1, 0.1], [0.1, -0.1, 0.1], [-0.1, 0.1, 0.1], [0.1, 0.1, 0.1]]}}\n"
        "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [s, floor], friction: 0.3}}\n";
    simulate(text, "moreau-midpoint", "hull.h5", 1e-3, 0.1, 0, 0);
    carom_result *r = load("hull.h5");
    long rows;
    carom_result_contact *c = contacts(r, &rows);
    assert_true(rows > 0);
    for (int k = 1; k <= 2; ++k) {
        double weight = 0;
        for (long i = 0; i < rows; ++i)
            if (fabs(c[i].t - 0.05 * k) < 1e-9) weight += c[i].force[2];
        assert_true(fabs(weight - 20) < 1e-6);
    }
    free(c);
    carom_result_close(r);
}

// A box of 2 kg slides with friction 0.3, in the plane and in space along (3, 4)/5: the ground pushes with 20 N and
// pulls back with 6 N; a ball that slides and rolls with resistance does the same, and its rolling moment is no force.
static void snapshots_have_friction(void **state) {
    (void)state;
    static const struct {
        const char *text; double force[3];
    } slides[] = {{"carom: 1\ngravity: [0, -10]\nrecord: {contacts: 0.05}\nbodies: {s: {mass: 2, inertia: 1, at: [0, "
                   "0.1], velocity: [-5, 0], shape: {box: [0.2, 0.2]}}}\n"
                   "shapes: {floor: {plane: [0, 1]}}\ncontacts: {c: {between: [s, floor], friction: 0.3}}\n",
                   {6, 20, 0}},
                  {"carom: 1\ngravity: [0, 0, -10]\nrecord: {contacts: 0.05}\nbodies: {s: {mass: 2, inertia: [1, 1, "
                   "1], at: [0, 0, 0.1], velocity: [3, 4, 0], shape: {box: [0.2, 0.2, 0.2]}}}\n"
                   "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {between: [s, floor], friction: 0.3}}\n",
                   {-3.6, -4.8, 20}},
                  {"carom: 1\ngravity: [0, 0, -10]\nrecord: {contacts: 0.05}\nbodies: {s: {mass: 2, inertia: [100, "
                   "100, 100], at: [0, 0, 0.1], velocity: [3, 4, 0], shape: {sphere: 0.1}}}\n"
                   "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {between: [s, floor], friction: 0.3, rolling: "
                   "0.01, spinning: 0.01}}\n",
                   {-3.6, -4.8, 20}}};
    for (size_t k = 0; k < sizeof slides / sizeof *slides; ++k) {
        simulate(slides[k].text, "moreau-midpoint", "slide.h5", 1e-3, 0.1, 0, 0);
        carom_result *r = load("slide.h5");
        long rows;
        carom_result_contact *c = contacts(r, &rows);
        double sum[3] = {0};
        for (long i = 0; i < rows; ++i)
            for (int j = 0; j < 3 && fabs(c[i].t - 0.1) < 1e-9; ++j) sum[j] += c[i].force[j];
        for (int j = 0; j < 3; ++j)
            if (!(fabs(sum[j] - slides[k].force[j]) < 1e-4))
                fail_msg("slide %zu: force %d is %g, not %g", k, j, sum[j], slides[k].force[j]);
        free(c);
        carom_result_close(r);
    }
}

static void a_resumed_run_repeats_its_snapshots(void **state) {
    (void)state;
    static const long stops[] = {1, 49, 50, 51, 130};
    const char *text = text_of(35, "record: {contacts: 0.05}");
    simulate(text, "moreau-midpoint", "whole.h5", 1e-3, 0.2, 7, 0);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; ++i) {
        rig g = make(text, "moreau-midpoint", "parts.h5", 1e-3, 0.2, 7, 0, false);
        g.stop = stops[i];
        finish(&g);
        g = make(text, "moreau-midpoint", "parts.h5", 1e-3, 0.2, 0, 0, true);
        finish(&g);
        same_contacts("whole.h5", "parts.h5");
        assert_same("whole.h5", "parts.h5");
    }
}

// A ball that bounces, and one that rests.
static const char *bouncing(double every, double restitution, const char *more) {
    static char text[1000];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, 0, -10]\nrecord: {contacts: %g}\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1], at: "
             "[0, 0, 0.105], shape: {sphere: 0.1}}\n"
             "  b: {mass: 1, inertia: [1, 1, 1], at: [1, 0, 0.1], shape: {sphere: 0.1}}\n%sshapes: {floor: {plane: [0, "
             "0, 1]}}\ncontacts: {c: {among: [a, b, floor], restitution: %g}}\n",
             every, more, restitution);
    return text;
}

// What a reader finds in the rows, events and snapshots that were there when it opened the file.
static carom_status read_all_of(carom_result *r, int what, double *sum, carom_error *err) {
    double x[400];
    carom_result_event e[100];
    carom_result_contact c[400];
    const long rows = carom_result_rows(r), events = carom_result_event_count(r),
               places = carom_result_contact_count(r);
    assert_true(rows <= 400 && events <= 100 && places <= 400);
    *sum = 0;
    if (what == 0) CAROM_TRY(carom_result_read(r, carom_result_find(r, "a.z"), 0, rows, x, err));
    if (what == 1) CAROM_TRY(carom_result_events(r, 0, events, e, err));
    if (what == 2) CAROM_TRY(carom_result_contacts(r, 0, places, c, err));
    for (long i = 0; what == 0 && i < rows; ++i) *sum += (double)(i + 1) * x[i];
    for (long i = 0; what == 1 && i < events; ++i) *sum += (double)(i + 1) * e[i].t;
    for (long i = 0; what == 2 && i < places; ++i) *sum += (double)(i + 1) * (c[i].t + c[i].force[2]);
    return CAROM_OK;
}

static void overwrite(const char *to, const char *from) { // the same file, with other bytes
    static char bytes[1 << 16];
    FILE *f = fopen(path(from), "rb"), *g = fopen(path(to), "r+b");
    assert_true(f && g);
    off_t size = 0;
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, f)) > 0; size += (off_t)n)
        assert_true(fwrite(bytes, 1, n, g) == n);
    assert_true(fflush(g) == 0 && ftruncate(fileno(g), size) == 0);
    fclose(f), fclose(g);
}

// A reader goes on with what it knows when a run has written more; where the file holds less, or other columns, it says
// that it was replaced.
static void a_reader_knows_its_file(void **state) {
    (void)state;
    static const struct { double end, every, restitution; const char *more; bool good; } other[] = {
        {0.6, 0.01, 0.5, "", true},   // longer; a file whose size is the same has not been written to
        {0.2, 0.01, 0.5, "", false},  // shorter
        {0.6, 0.05, 0.5, "", false},  // fewer snapshots
        {0.6, 0.01, 0, "", false},    // fewer events
        // more columns
        {0.6, 0.01, 0.5, "  d: {mass: 1, inertia: [1, 1, 1], at: [2, 0, 0.105], shape: {sphere: 0.1}}\n", false}};
    for (size_t i = 0; i < sizeof other / sizeof *other; ++i)
        for (int what = 0; what < 3; ++what) {
            carom_error err = {0};
            double before, after;
            time_t begun;
            do { // a file is that of the same run where both were started in the same second
                begun = time(NULL);
                simulate(bouncing(0.01, 0.5, ""), "moreau-midpoint", "read.h5", 1e-3, 0.3, 1, 0);
                simulate(bouncing(other[i].every, other[i].restitution, other[i].more), "moreau-midpoint", "other.h5",
                         1e-3, other[i].end, 1, 0);
            } while (other[i].good && time(NULL) != begun);
            carom_result *r = load("read.h5"), *x = load("other.h5");
            assert_true(carom_result_event_count(r) > 2 && carom_result_contact_count(r) > 20);
            if (i == 2) assert_true(carom_result_contact_count(x) < carom_result_contact_count(r));
            if (i == 3)
                assert_true(carom_result_event_count(x) < carom_result_event_count(r) &&
                            carom_result_contact_count(x) >= carom_result_contact_count(r));
            carom_result_close(x);
            assert_int_equal(read_all_of(r, what, &before, &err), CAROM_OK);
            overwrite("read.h5", "other.h5");
            for (int again = 0; again < 2; ++again) {
                const carom_status status = read_all_of(r, what, &after, &err);
                // the shorter run rounds its last step
                const bool same = status == CAROM_OK ? fabs(before - after) <= 1e-9 * fabs(before)
                                                     : strstr(err.text, "was replaced while it was read") != NULL;
                if (status != (other[i].good ? CAROM_OK : CAROM_IO) || !same)
                    fail_msg("file %zu, %d: %s, %.15g, %.15g", i, what, status == CAROM_OK ? "read" : err.text, before,
                             after);
            }
            carom_result_close(r);
        }
}

// Saved under another name a result has the same rows, events and snapshots; as .h5 the ledger, /run and the model,
// too.
static void a_saved_result_is_the_same(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nname: two balls\ngravity: [0, 0, -10]\nrecord: {contacts: 0.05}\nbodies:\n"
        "  s: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0.3], velocity: [1, 0, 0], shape: {sphere: 0.1}}\n"
        "  t: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [2, 0, 0.1], shape: {sphere: 0.1}}\n"
        "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {a: {between: [s, floor], restitution: 0.5}, b: {between: [t, "
        "floor], friction: 0.3}}\n";
    carom_error err = {0};
    simulate(text, "moreau-midpoint", "first.h5", 1e-3, 0.5, 0, 0);
    carom_result *r = load("first.h5");
    assert_true(carom_result_event_count(r) > 2 && carom_result_contact_count(r) > 5);
    assert_int_equal(carom_result_save(r, path("again.h5"), &err), CAROM_OK);
    assert_int_equal(carom_result_save(r, path("again.csv"), &err), CAROM_OK);
    assert_int_equal(carom_result_save(r, path("again.txt"), &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "ends neither in .h5 nor in .csv"));
    assert_int_equal(carom_result_save(r, NULL, &err), CAROM_BAD_INPUT);
    assert_int_equal(carom_result_save(NULL, "x.h5", &err), CAROM_BAD_INPUT);
    static const char *const copies[] = {"again.h5", "again.csv"};
    for (int k = 0; k < 2; ++k) {
        assert_same("first.h5", copies[k]);
        same_contacts("first.h5", copies[k]);
    }
    carom_result *c = load("again.h5");
    carom_ledger l, m;
    carom_ledger_names a, b;
    size_t n = 0;
    assert_true(carom_result_ledger(r, &l, &a) && carom_result_ledger(c, &m, &b));
    assert_memory_equal(&l.energy, &m.energy, sizeof l.energy);
    assert_string_equal(carom_result_model(c, &n), text);
    for (int i = 0; carom_result_attribute(r, i); ++i) {
        const char *name = carom_result_attribute(r, i), *word = carom_result_text(r, name);
        double x = NAN, y = NAN;
        if (word) assert_string_equal(carom_result_text(c, name), word);
        else assert_true(carom_result_number(r, name, &x) && carom_result_number(c, name, &y) && x == y);
    }
    carom_result_close(c);
    carom_result_close(r);
}

static void columns_are_those_of_chosen_bodies(void **state) {
    (void)state;
    static const struct {
        const char *record; int bodies; const char *there, *missing;
    } cases[] = {{"", 4, "s.2.vx", "u.x"},
                 {"record: {bodies: all}", 4, "t.x", "u.x"},
                 {"record: {bodies: none}", 0, "energy", "t.x"},
                 {"record: {bodies: t}", 1, "t.qz", "s.0.x"},
                 {"record: {bodies: [s]}", 3, "s.2.wz", "t.x"},
                 {"record: {bodies: [s.1, t]}", 2, "s.1.x", "s.2.x"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[2000];
        strcpy(text, text_of(3, cases[i].record));
        *strstr(text, "contacts: {all") = 0; // bodies fall
        simulate(text, "moreau-midpoint", "c.h5", 1e-3, 0.01, 0, 0);
        carom_result *r = load("c.h5");
        assert_int_equal(carom_result_columns(r), 4 + 13 * cases[i].bodies);
        assert_true(carom_result_find(r, cases[i].there) >= 0 && carom_result_find(r, cases[i].missing) < 0);
        carom_result_close(r);
    }
}

// 10 boxes and a ball: 66 pairs with the floor.  The columns are those of their entry, at every number of pairs.
static void pairs_have_columns_of_their_entry(void **state) {
    (void)state;
    for (int n = 9; n <= 10; ++n) {
        simulate(text_of(n, ""), "moreau-midpoint", "p.h5", 1e-3, 0.01, 0, 0);
        carom_result *r = load("p.h5");
        assert_true(carom_result_find(r, "all.1.gap") < 0 && carom_result_find(r, "all.gap") >= 0 &&
                    carom_result_find(r, "all.force") >= 0 && carom_result_find(r, "all.closed") >= 0);
        assert_true(carom_result_event_count(r) > 0);
        carom_result_close(r);
    }
}

// Entries have the same columns at every number of pairs, formulas or list; columns are selected by patterns.
static void entries_have_columns_at_every_size(void **state) {
    (void)state;
    static const char *const parts[] = {"all.gap", "all.force", "all.impulse", "all.closed"};
    static const int sizes[] = {2, 9, 10, 28, 35};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const int n = sizes[i], corners = n < 30 ? 4 : 1; // of a box on the floor
        simulate(text_of(n, ""), "moreau-midpoint", "p.h5", 1e-3, 0.05, 0, 0);
        carom_result *r = load("p.h5");
        const long last = carom_result_rows(r) - 1;
        double x[4];
        for (int k = 0; k < 4; ++k) {
            if (carom_result_find(r, parts[k]) < 0) fail_msg("%d: no column %s", n, parts[k]);
            double *y = column(r, parts[k]);
            x[k] = y[last];
            free(y);
        }
        // all of them lie on the floor: their weight, 20 N each, and the one of 10 N
        if (!(fabs(x[0]) < 1e-9 && fabs(x[1] - (20 * n + 10)) < 1e-6 && fabs(x[2] - 1e-3 * x[1]) < 1e-9 &&
              x[3] == n * corners + 1))
            fail_msg("%d: gap %g, force %.12g, impulse %g, %g closed", n, x[0], x[1], x[2], x[3]);
        carom_result_close(r);
        simulate(text_of(n, "record: {columns: [\"all.?orce\", \"t.z\"]}"), "moreau-midpoint", "p.h5", 1e-3, 0.05, 0,
                 0);
        r = load("p.h5");
        assert_int_equal(carom_result_columns(r), 3);
        assert_true(carom_result_find(r, "all.force") >= 0 && carom_result_find(r, "t.z") >= 0);
        carom_result_close(r);
    }
}

static void mistakes_are_explained(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"record: {bodies: [s.7]}", "unknown body 's.7' in `record`; did you mean"},
        {"record: {contacts: 0}", "the time between snapshots of contacts must be positive, got 0"},
        {"record: {bodies: [[s]]}", "record needs names of bodies"},
        {"record: {body: s}", "unknown key 'body'"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        carom_error err = {0};
        const char *text = text_of(3, wrong[i][0]);
        assert_null(
            carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"}, &err));
        if (!strstr(err.text, wrong[i][1])) fail_msg("'%s' does not say '%s'", err.text, wrong[i][1]);
    }
}

// Names of 60 letters, the longest there are: a contact between two such shapes is carried whole, in every form of a
// result, also where it is saved again.
static void the_longest_names_are_whole(void **state) {
    (void)state;
    char text[1200], ball[61], floor[61], wanted[130];
    memset(ball, 'b', 57), ball[57] = 0; // .34
    memset(floor, 'f', 60), floor[60] = 0;
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, 0, -10]\nrecord: {contacts: 0.1}\nbodies:\n  %s: {repeat: 35, body: {mass: 2, "
             "inertia: [0.1, 0.1, 0.1], at: [0, 0.5*i, 0.101], shape: {sphere: 0.1}}}\n"
             "shapes: {%s: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [%s, %s]}}\n",
             ball, floor, ball, floor);
    simulate(text, "moreau-midpoint", "long.h5", 1e-3, 0.2, 0, 0);
    simulate(text, "moreau-midpoint", "long.csv", 1e-3, 0.2, 0, 0);
    same_contacts("long.h5", "long.csv");
    carom_result *memory = remembered(text, "moreau-midpoint", 1e-3, 0.2);
    carom_error err = {0};
    assert_int_equal(carom_result_save(memory, path("again.h5"), &err), CAROM_OK);
    same_snapshots(memory, load("again.h5"));
    static const char *const files[] = {"long.h5", "long.csv", "again.h5"};
    for (int i = 0; i < 3; ++i) {
        carom_result *r = load(files[i]);
        carom_result_event e;
        carom_ledger l;
        carom_ledger_names names;
        assert_true(carom_result_event_count(r) >= 35);
        for (int k = 0; k < 35; ++k) {
            assert_int_equal(carom_result_events(r, k, 1, &e, &err), CAROM_OK);
            snprintf(wanted, sizeof wanted, "%s.%d-%s", ball, k, floor);
            assert_string_equal(e.contact, wanted);
        }
        if (i != 1) { // files of text have none
            assert_true(carom_result_ledger(r, &l, &names) && names.penetration);
            assert_non_null(strstr(names.penetration, floor));
        }
        carom_result_close(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_hold_places_and_forces),
        cmocka_unit_test(snapshots_of_hulls_carry_the_weight),
        cmocka_unit_test(snapshots_have_friction),
        cmocka_unit_test(a_resumed_run_repeats_its_snapshots),
        cmocka_unit_test(a_reader_knows_its_file),
        cmocka_unit_test(a_saved_result_is_the_same),
        cmocka_unit_test(columns_are_those_of_chosen_bodies),
        cmocka_unit_test(pairs_have_columns_of_their_entry),
        cmocka_unit_test(entries_have_columns_at_every_size),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(the_longest_names_are_whole),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
