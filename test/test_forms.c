// test_forms.c: whether pairs of shapes are written out or come and go is nothing that a user sees.
//
// Each model is made in both forms, whatever the number of its pairs, and run: columns, rows, events, ledger, warnings,
// drawings and messages are the same.  With `long` every scheme, and the bundled models.
#define _POSIX_C_SOURCE 200809L
#include "derive/shapes/shapes.h"
#include "io/recording.h"
#include "model_text.h"
#include <carom/draw.h>
#include <carom/event.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// In the place of derive/shapes/form.c.
static bool written;
long carom_pairs_written(bool boxes) {
    (void)boxes;
    return written ? LONG_MAX : 0;
}

typedef struct sample {
    const char *name, *text;
    double h, end, tol; // of columns, relative to their largest value
    double located;     // the same of schemes that locate events
    const char *apart;  // schemes whose results do differ, as docs/limits.md says; NULL: none
} sample;

#define HEAD "carom: 1\ngravity: [0, -10]\n"
#define A "  a: {mass: 1, inertia: 0.01, at: [0, 0.3], velocity: [0.3, 0], spin: 1, shape: {circle: 0.1}}\n"
#define D "  d: {mass: 1, inertia: 0.01, at: [0.05, 0.7], angle: 0.3, shape: {box: [0.2, 0.1]}}\n"
#define FLOOR "shapes: {floor: {plane: [0, 1]}}\n"
#define SPACE "carom: 1\ngravity: [0, 0, -10]\nshapes: {floor: {plane: [0, 0, 1]}}\n"

static const sample samples[] = {
    {"circle and box", HEAD FLOOR "bodies:\n" A D "contacts: {c: {among: [a, d, floor], restitution: 0.6, friction: "
     "0.2}}\n", 1e-3, 0.5, 1e-9, 1e-8, NULL},
    {"box named first", HEAD FLOOR "bodies:\n" A D "contacts:\n  one: {between: [floor, d], friction: 0.2}\n"
     "  two: {between: [[floor, d], a], restitution: 0.3}\n", 1e-3, 0.4, 1e-9, 1e-8, NULL},
    {"capsule, polygon", HEAD FLOOR "bodies:\n"
     "  a: {mass: 1, inertia: 0.01, at: [0, 0.3], angle: 0.5, shape: {capsule: [0.05, 0.2]}}\n"
     "  d: {mass: 1, inertia: 0.01, at: [0.05, 0.7], shape: {polygon: [[-0.1, 0], [0.1, 0], [0, 0.1]]}}\n"
     "contacts: {c: {among: [a, d, floor], restitution: 0.4, friction: 0.2}}\n", 1e-3, 0.4, 1e-9, 1e-8, NULL},
    // a list lacks a feature whose gap jumps within the step, and splitting ends a part elsewhere; rows that stick
    // share friction in another way
    {"outlines", HEAD FLOOR "bodies:\n"
     "  a: {mass: 1, inertia: 0.01, at: [0, 0.3], spin: 2, shape: {outline: [[-0.1, -0.1], [0.1, -0.1], [0, 0], [0.1, "
     "0.1], [-0.1, 0.1]], round: 0.01}}\n"
     "  d: {mass: 1, inertia: 0.01, at: [0.02, 0.6], shape: {circle: 0.1}}\n"
     "contacts: {c: {among: [a, d, floor], restitution: 0.4, friction: 0.2}}\n", 1e-3, 0.4, 1e-9, 1e-8,
     "splitting dg-plus"},
    // where the first contact begins at the end of a step, rounding decides in which one, and which steps auto repeats,
    // each with an error of 1e-7
    {"compliant", HEAD FLOOR "bodies:\n"
     "  a: {mass: 1, inertia: 0.01, at: [0, 0.31], velocity: [0.3, 0], spin: 1, shape: {circle: 0.1}}\n" D "contacts:\n"
     "  one: {between: [a, floor], stiffness: 1e4, damping: 0.1, friction: 0.2, stiction speed: 0.5}\n"
     "  two: {between: [d, [floor, a]], stiffness: 1e4, exponent: 1.5}\n", 1e-3, 0.4, 1e-9, 1e-6, NULL},
    {"named by expressions", HEAD FLOOR "bodies:\n" A D "contacts:\n"
     "  one: {between: [a, floor], restitution: 0.3, friction: 0.2}\n"
     "  two: {between: [d, [floor, a]], restitution: 0.3}\n"
     "outputs: {g: one.gap, both: one.gap + two.5.gap, s: \"one.slip'\"}\nchecks: [max(one.gap) < 1]\n", 1e-3, 0.4,
     1e-9, 1e-8, NULL},
    {"families", HEAD FLOOR "bodies:\n"
     "  o: {repeat: 4, index: i, body: {mass: 1, inertia: 0.01, at: [0.11*i, 0.2 + 0.25*i], shape: {circle: 0.1}}}\n"
     "contacts: {c: {among: [o, floor], restitution: 0.5, friction: 0.3}}\n", 1e-3, 0.4, 1e-9, 1e-8, NULL},
    {"joints, fixed on a start that is projected", HEAD FLOOR "start: project\nbodies:\n" A D
     "joints: {j: {type: revolute, between: [a, d], at: [0, 0.5]}}\n"
     "contacts: {c: {between: [[a, d], floor], restitution: 0.2, friction: 0.2}}\n", 1e-3, 0.4, 1e-9, 1e-8, NULL},
    {"a start in contact", HEAD FLOOR "bodies:\n"
     "  a: {mass: 1, inertia: 0.01, at: [0, 0.1], velocity: [1, 0], shape: {circle: 0.1}}\n"
     "  d: {mass: 1, inertia: 0.01, at: [2, 0.05], velocity: [-1, 0], shape: {box: [0.2, 0.1]}}\n"
     "contacts: {c: {among: [a, d, floor], friction: 0.1}}\n", 1e-3, 0.3, 1e-9, 1e-8, NULL},
    {"a start with impacts", HEAD FLOOR "bodies:\n"
     "  a: {mass: 1, inertia: 0.01, at: [0, 0.1], velocity: [1, -1], shape: {circle: 0.1}}\n"
     "  d: {mass: 1, inertia: 0.01, at: [0.2, 0.1], velocity: [-1, -0.5], shape: {circle: 0.1}}\n"
     "contacts: {c: {among: [a, d, floor], restitution: 0.5}}\n", 1e-3, 0.3, 1e-9, 1e-8, NULL},
    {"parts that come and go", HEAD FLOOR "bodies:\n" A
     "  d: {mass: 1, inertia: 0.01, at: [0.3, 0.5], shape: {circle: 0.1}, exists while: t > 0.1}\n"
     "contacts:\n  c: {between: [[a, d], floor], restitution: 0.5}\n"
     "  e: {between: [a, d], restitution: 0.5, exists while: t < 0.3}\n", 1e-3, 0.4, 1e-9, 1e-8, NULL},
    {"spheres, directions of friction", SPACE "bodies:\n"
     "  a: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0, 0.3], velocity: [1, 1, 0], shape: {sphere: 0.1}}\n"
     "  d: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.05, 0.02, 0.6], spin: [1, 2, 3], shape: {capsule: [0.1, "
     "0.1]}}\n"
     "contacts:\n  c: {between: [[a, d], floor], friction: {along: 0.3, across: 0.1, direction: [1, 0, 0]}}\n"
     "  e: {between: [a, d], restitution: 0.3, friction: 0.2, rolling: 1e-3}\n", 1e-3, 0.4, 1e-9, 1e-8, NULL},
    {"a belt", "carom: 1\ngravity: [0, 0, -10]\n"
     "shapes: {floor: {plane: [0, 0, 1], surface velocity: [0.5*cos(3*t), 0, 0]}}\n"
     "bodies:\n  a: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0, 0.11], shape: {sphere: 0.1}}\n"
     "  d: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.3, 0, 0.11], spin: [1, 2, 3], shape: {sphere: 0.1}}\n"
     "contacts: {c: {among: [a, d, floor], restitution: 0.3, friction: 0.4}}\n", 1e-3, 0.4, 1e-9, 1e-8, NULL},
    {"laws of impact", SPACE "bodies:\n"
     "  a: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0, 0.3], velocity: [1, 0, 0], shape: {sphere: 0.1}}\n"
     "  d: {mass: 2, inertia: [0.01, 0.01, 0.01], at: [0.05, 0, 0.6], shape: {sphere: 0.1}}\n"
     "contacts:\n  c: {between: [[a, d], floor], restitution: 0.6, friction: 0.2, impact law: poisson}\n"
     "  e: {between: [a, d], restitution: 0.7, friction: 0.2, tangential restitution: 0.3}\n", 1e-3, 0.4, 1e-9, 1e-8,
     NULL},
    {"a function of speed", HEAD FLOOR "parameters: {mu: 0.3}\nbodies:\n" A D "contacts:\n"
     "  c: {between: [[a, d], floor], restitution: 0.3, friction: mu/(1 + slip.speed)}\n"
     "  e: {between: [a, d], restitution: 0.3, friction: mu}\n", 1e-3, 0.4, 1e-9, 1e-8, NULL},
    {"a carried body", HEAD FLOOR "bodies:\n" A
     "  d: {motion: {at: [0.1*sin(5*t), 0]}, shape: {circle: 0.1}}\n"
     "contacts: {c: {between: [a, d], restitution: 0.3, friction: 0.2}, e: {between: [a, floor]}}\n", 1e-3, 0.4, 1e-9,
     1e-8, NULL},
};

static carom_model *make(const sample *s, bool out) {
    carom_error err = {0};
    written = out;
    carom_model *m = carom_model_create(
        &(carom_model_def){.text = s->text, .length = strlen(s->text), .file = "form.yaml"}, &err);
    if (!m) fail_msg("%s: %s", s->name, err.text);
    return m;
}

// All differences are told; any fails the test.
static int faults;
static void differs(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void differs(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    ++faults;
}

/// What a user sees of a run.
typedef struct outcome { carom_result *rows; carom_ledger ledger; int warnings; bool listed, refused; } outcome;

static double size_of(const void *user, long long id) { return carom_model_contact_size(user, id); }

static outcome run(const sample *s, carom_model *m, const char *scheme) {
    carom_error err = {0};
    outcome x = {.listed = carom_model_lists(m)};
    carom_sim_def def = sim_def(m, scheme, NULL, s->h, s->end);
    def.name_user = m, def.size = size_of; // as a run has them
    carom_sim *sim = carom_sim_create(&def, &err);
    if (!sim) return (outcome){.refused = true};
    carom_record *r = carom_record_create(
        &(carom_record_def){.sim = sim, .model = m, .memory = true, .step = s->h, .end = s->end, .every = 1}, &err);
    if (!r || carom_record_advance(r, 0, 0, &err) != CAROM_OK) fail_msg("%s, %s: %s", s->name, scheme, err.text);
    x.rows = carom_record_result(r, &err);
    carom_warning list[CAROM_WARNINGS];
    assert_int_equal(carom_sim_ledger(sim, &x.ledger, &err), CAROM_OK);
    x.warnings = carom_sim_warnings(sim, &x.ledger, list);
    carom_record_destroy(r);
    carom_sim_destroy(sim);
    return x;
}

static void compare_columns(const char *name, const char *scheme, carom_result *x, carom_result *y, double tol) {
    const int nx = carom_result_columns(x), ny = carom_result_columns(y);
    for (int i = 0; i < nx + ny; ++i) {
        const char *column = i < nx ? carom_result_column(x, i) : carom_result_column(y, i - nx);
        if (carom_result_find(i < nx ? y : x, column) < 0)
            differs("%s, %s: column %s is %s alone", name, scheme, column, i < nx ? "written out" : "of the list");
    }
    if (carom_result_rows(x) != carom_result_rows(y)) {
        differs("%s, %s: %ld and %ld rows", name, scheme, carom_result_rows(x), carom_result_rows(y));
        return;
    }
    for (int i = 0; i < nx; ++i) {
        const char *column = carom_result_column(x, i);
        char units[2][40] = {"", ""};
        const int k = carom_result_find(y, column);
        if (k < 0) continue;
        assert_true(carom_result_unit(x, column, units[0], sizeof units[0]) ==
                    carom_result_unit(y, column, units[1], sizeof units[1]));
        assert_string_equal(units[0], units[1]);
        double most = 1;
        for (long row = 0; row < carom_result_rows(x); ++row) {
            const double a = carom_result_values(x)[row * nx + i], b = carom_result_values(y)[row * ny + k];
            if (isfinite(a)) most = fmax(most, fabs(a));
            if (!(fabs(a - b) <= tol * most) && !(isnan(a) && isnan(b))) {
                differs("%s, %s: %s in row %ld is %.17g written out, %.17g in a list", name, scheme, column, row, a, b);
                break;
            }
        }
    }
}

// Events of an instant have no order that means anything.
static int by_time_and_name(const void *a, const void *b) {
    const carom_result_event *x = a, *y = b;
    if (fabs(x->t - y->t) > 1e-9) return x->t < y->t ? -1 : 1;
    if (strcmp(x->contact, y->contact) != 0) return strcmp(x->contact, y->contact);
    return strcmp(x->kind, y->kind);
}

static carom_result_event *events_of(carom_result *r, long *n) {
    carom_error err = {0};
    *n = carom_result_event_count(r);
    carom_result_event *list = calloc((size_t)*n + 1, sizeof *list);
    for (long i = 0; i < *n; ++i) assert_int_equal(carom_result_events(r, i, 1, &list[i], &err), CAROM_OK);
    qsort(list, (size_t)*n, sizeof *list, by_time_and_name);
    return list;
}

static void compare_events(const char *name, const char *scheme, carom_result *x, carom_result *y) {
    long n[2];
    carom_result_event *list[2] = {events_of(x, &n[0]), events_of(y, &n[1])};
    for (long i = 0; i < n[0] && i < n[1]; ++i)
        if (by_time_and_name(&list[0][i], &list[1][i]) != 0) {
            differs("%s, %s: event %ld is that of %s at %.12g written out, of %s at %.12g in a list", name, scheme, i,
                    list[0][i].contact, list[0][i].t, list[1][i].contact, list[1][i].t);
            break;
        }
    if (n[0] != n[1]) differs("%s, %s: %ld and %ld events", name, scheme, n[0], n[1]);
    free(list[0]), free(list[1]);
}

static void compare_ledgers(const char *name, const char *scheme, const outcome *x, const outcome *y, double tol) {
    const struct { const char *what; double x, y; } list[] = {
        {"impacts", (double)x->ledger.impacts, (double)y->ledger.impacts},
        {"accumulations", (double)x->ledger.accumulations, (double)y->ledger.accumulations},
        {"warnings", x->warnings, y->warnings},
        {"penetration", x->ledger.penetration, y->ledger.penetration},
        {"energy.start", x->ledger.energy.start, y->ledger.energy.start},
        {"energy.end", x->ledger.energy.end, y->ledger.energy.end},
        {"energy.impact", x->ledger.energy.impact, y->ledger.energy.impact},
        {"energy.friction", x->ledger.energy.friction, y->ledger.energy.friction},
        {"energy.damping", x->ledger.energy.damping, y->ledger.energy.damping}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i)
        if (!(fabs(list[i].x - list[i].y) <= tol * fmax(1, fabs(list[i].x))))
            differs("%s, %s: %s is %.12g written out, %.12g in a list", name, scheme, list[i].what, list[i].x,
                     list[i].y);
}

static void compare_drawings(const char *name, carom_model *const m[2]) {
    carom_error err = {0};
    carom_drawing *d[2];
    double *x[2];
    for (int k = 0; k < 2; ++k) {
        written = k == 0;
        d[k] = carom_drawing_create(m[k], &err);
        if (!d[k]) fail_msg("%s: %s", name, err.text);
        x[k] = calloc((size_t)carom_drawing_values(d[k]) + 1, sizeof(double));
        // coordinates of bodies that no expression names come last: their names find them
        carom_drawing_eval(d[k], 0, carom_model_q0(m[k]), carom_model_v0(m[k]), x[k]);
    }
    assert_int_equal(carom_drawing_shapes(d[0]), carom_drawing_shapes(d[1]));
    for (int i = 0; i < carom_drawing_shapes(d[0]); ++i) {
        const carom_drawn a = carom_drawing_shape(d[0], i);
        int k = 0;
        while (k < carom_drawing_shapes(d[1]) && (carom_drawing_shape(d[1], k).figure != a.figure ||
                                                  strcmp(carom_drawing_shape(d[1], k).name, a.name) != 0))
            ++k;
        if (k == carom_drawing_shapes(d[1])) fail_msg("%s: %s is not drawn in a list", name, a.name);
        const carom_drawn b = carom_drawing_shape(d[1], k);
        assert_true(a.sizes == b.sizes && a.points == b.points && a.rotation == b.rotation);
        for (int j = 0; j < a.sizes + a.points * carom_drawing_dim(d[0]) + a.rotation; ++j)
            if (fabs(x[0][a.first + j] - x[1][b.first + j]) > 1e-12)
                differs("%s: number %d of %s is drawn at %g written out, %g in a list", name, j, a.name,
                         x[0][a.first + j], x[1][b.first + j]);
    }
    for (int k = 0; k < 2; ++k) free(x[k]), carom_drawing_destroy(d[k]);
}

/// What `carom check` says of the contacts at the start.
typedef struct start { double gap; char nearest[80], impact[10][200]; int n; } start;

static void hear(void *user, carom_finding kind, const char *sentence) {
    (void)kind;
    start *x = user;
    const char *gap = strstr(sentence, "smallest gap ");
    double g;
    char name[80];
    if (gap && sscanf(gap, "smallest gap %lf at '%79[^']", &g, name) == 2 && g < x->gap)
        x->gap = g, strcpy(x->nearest, name);
    if (strstr(sentence, "the run starts with an impact"))
        snprintf(x->impact[x->n++], sizeof *x->impact, "%.199s", sentence);
}

static int by_sentence(const void *a, const void *b) { return strcmp(a, b); }

static void compare_starts(const char *name, carom_model *const m[2]) {
    start x[2] = {{.gap = INFINITY}, {.gap = INFINITY}};
    for (int k = 0; k < 2; ++k) assert_int_equal(carom_model_examine(m[k], hear, &x[k], NULL), 0);
    if (fabs(x[0].gap - x[1].gap) > 1e-12 || (x[0].gap > 0 && strcmp(x[0].nearest, x[1].nearest) != 0))
        differs("%s: the smallest gap is %g of %s written out, %g of %s in a list", name, x[0].gap, x[0].nearest,
                x[1].gap, x[1].nearest);
    for (int k = 0; k < 2; ++k) qsort(x[k].impact, (size_t)x[k].n, sizeof *x[k].impact, by_sentence);
    if (x[0].n != x[1].n) differs("%s: %d impacts at the start, %d in a list", name, x[0].n, x[1].n);
    for (int i = 0; i < x[0].n && i < x[1].n; ++i)
        if (strcmp(x[0].impact[i], x[1].impact[i]) != 0)
            differs("%s: '%s' written out, '%s' in a list", name, x[0].impact[i], x[1].impact[i]);
}

static bool all_schemes;

static void both_forms_are_one(void **state) {
    (void)state;
    static const char *const few[] = {"moreau-midpoint", "auto", "event-driven", "ggl-projection", "newmark", NULL};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        const sample *s = &samples[i];
        carom_model *m[2] = {make(s, true), make(s, false)};
        assert_false(carom_model_lists(m[0]));
        compare_drawings(s->name, m);
        compare_starts(s->name, m);
        for (int k = 0; all_schemes ? carom_schemes()[k] != NULL : few[k] != NULL; ++k) {
            const char *scheme = all_schemes ? carom_schemes()[k]->name : few[k];
            const carom_scheme *z = carom_schemes_find(scheme);
            if (!z || (s->apart && strstr(s->apart, scheme))) continue;
            outcome x[2] = {run(s, m[0], scheme), run(s, m[1], scheme)};
            assert_int_equal(x[0].refused, x[1].refused);
            if (x[0].refused) continue;
            if (all_schemes) print_message("%s, %s\n", s->name, scheme);
            const bool located = carom_schemes_find(scheme)->emits_events;
            const double tol = located ? s->located : s->tol;
            compare_events(s->name, scheme, x[0].rows, x[1].rows);
            compare_columns(s->name, scheme, x[0].rows, x[1].rows, tol);
            compare_ledgers(s->name, scheme, &x[0], &x[1], tol);
            carom_result_close(x[0].rows), carom_result_close(x[1].rows);
        }
        carom_model_destroy(m[0]), carom_model_destroy(m[1]);
    }
    assert_int_equal(faults, 0);
}

// Models that are wrong are wrong in either form, by the same message.
static void mistakes_are_the_same(void **state) {
    (void)state;
    static const char *const texts[] = {
        FLOOR "bodies: {a: {mass: 1, inertia: 1, at: [0, 1], shape: {hollow: yes, outline: [[0.5, 0], {arc: [-0.5, 0], "
              "radius: -0.5}, {arc: [0.5, 0], radius: -0.5}]}}}\ncontacts: {c: {between: [a, floor]}}\n",
        FLOOR "bodies:\n" A D "contacts: {c: {between: [[a, d, a], floor]}}\n",
        FLOOR "bodies:\n" A D "contacts: {c: {between: [[a, d], [a, floor]]}}\n",
        FLOOR "bodies:\n" A D "contacts: {c: {among: [a, floor, a]}}\n",
        FLOOR "bodies:\n" A D "contacts: {c: {among: [a, floor]}}\noutputs: {F: c.force}\n",
        FLOOR "bodies:\n" A D "contacts: {c: {among: [a, nothing]}}\n",
        FLOOR "bodies:\n" A D "contacts: {c: {among: [a, d, floor], restitution: 2}}\n",
        FLOOR "bodies:\n" A "  d: {mass: 1, inertia: 0.01, at: [0.05, 0.7], shape: {hole: 0.1}}\n"
              "contacts: {c: {among: [a, d]}}\n",
        FLOOR "bodies:\n" A D "contacts: {c: {among: [a, d, floor], ignore: [[a, d], [a, floor], [d, floor]]}}\n",
        // friction along the normal: of a pair whose normal stays, and at the start
        SPACE "bodies: {b: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 5], shape: {sphere: 0.5}}}\n"
              "contacts: {c: {between: [b, floor], friction: {along: 0.1, across: 0.2, direction: [0, 0, 2]}}}\n",
        SPACE "bodies: {b: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 0.5], shape: {sphere: 0.5}}}\n"
              "contacts: {c: {between: [b, floor], friction: {along: 0.1, across: 0.2, direction: [0, 0, 1], of: "
              "b}}}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        char text[2000];
        carom_error err[2] = {{0}, {0}};
        snprintf(text, sizeof text, "%s%s", strncmp(texts[i], "carom", 5) == 0 ? "" : HEAD, texts[i]);
        for (int k = 0; k < 2; ++k) {
            written = k == 0;
            carom_model *m = carom_model_create(
                &(carom_model_def){.text = text, .length = strlen(text), .file = "form.yaml"}, &err[k]);
            if (m) fail_msg("nothing is wrong with %s", text);
        }
        assert_string_equal(err[0].text, err[1].text);
    }
}

// Bundled models, with their own schemes: for a while, as small errors grow in most of them.
static void bundled_models_are_the_same(void **state) {
    (void)state;
    static const struct { const char *name, *scheme; double h, end, tol; } models[] = {
        {"billiards", "auto", 1e-2, 0.5, 1e-9},        {"bouncing-bar", "moreau-midpoint", 1e-3, 0.3, 1e-9},
        {"cam-follower", "auto", 1e-2, 0.2, 1e-8},     {"chain-drum", "ggl-projection", 2e-4, 0.2, 1e-9},
        {"door-latch", "auto", 1e-3, 0.06, 1e-8},      {"falling-top", "moreau-midpoint", 1e-3, 0.5, 1e-9},
        {"geneva-drive", "auto", 1e-2, 0.2, 1e-8},     {"gear-rattle", "auto", 1e-3, 0.05, 1e-8},
        {"ratchet", "auto", 4e-3, 0.1, 1e-8},          {"rocking-block", "moreau-midpoint", 1e-3, 0.5, 1e-9},
        {"slider-crank-clearance", "moreau-midpoint", 1e-5, 0.01, 1e-9}, {"stack", "moreau-midpoint", 1e-3, 0.1, 1e-9},
    };
    for (size_t i = 0; all_schemes && i < sizeof models / sizeof *models; ++i) {
        size_t length = 0;
        const char *name = models[i].name;
        char *text = shipped_text(name, &length);
        const sample s = {name, text, models[i].h, models[i].end, models[i].tol, models[i].tol, NULL};
        if (!carom_schemes_find(models[i].scheme)) continue;
        carom_model *m[2] = {make(&s, true), make(&s, false)};
        outcome x[2] = {run(&s, m[0], models[i].scheme), run(&s, m[1], models[i].scheme)};
        print_message("%s, %s: %ld rows\n", name, models[i].scheme, carom_result_rows(x[0].rows));
        compare_columns(name, models[i].scheme, x[0].rows, x[1].rows, s.tol);
        compare_ledgers(name, models[i].scheme, &x[0], &x[1], s.tol);
        for (int k = 0; k < 2; ++k) carom_result_close(x[k].rows), carom_model_destroy(m[k]);
        free(text);
    }
    assert_int_equal(faults, 0);
}

int main(int argc, char **argv) {
    all_schemes = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_forms_are_one), cmocka_unit_test(mistakes_are_the_same),
                                       cmocka_unit_test(bundled_models_are_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
