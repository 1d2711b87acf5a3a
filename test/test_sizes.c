// test_sizes.c: what carom does does not change at a count.
//
// Families of growing size: a few bodies that fall on a floor and on each other, and others that fly elsewhere.  Their
// number decides whether pairs of shapes are written as formulas or come and go, and whether operators are made body by
// body.  It must decide nothing else: neither schemes, commands nor events.
#define _POSIX_C_SOURCE 200809L
#include "model_text.h"
#include <carom/event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_EVENTS = 400 };
// times of impacts and accumulations
typedef struct outcome { int n, states; bool listed; double t[MOST_EVENTS], x[64]; } outcome;

typedef struct family {
    const char *name, *gravity, *actor, *other, *floor, *law; // body of an actor i, of another one i
    int actors, few, some, many, nq;                          // so many others that pairs are written, that they come
                                                              // and go, and many more; positions of a body
    double end;
} family;

static const family families[] = {
    {"circles", "[0, -10]", "mass: 1, inertia: 0.01, at: [0.05*i, 0.4 + 0.35*i], spin: i, shape: {circle: 0.1}",
     "mass: 1, inertia: 0.01, at: [9 + i, 9], shape: {circle: 0.1}", "[0, 1]", "restitution: 0.8, friction: 0.3", 3, 8,
     11, 31, 3, 0.6},
    {"boxes in the plane", "[0, -10]",
     "mass: 1, inertia: 0.01, at: [0.02*i, 0.4 + 0.4*i], angle: 0.3 + i, shape: {box: [0.2, 0.15]}",
     "mass: 1, inertia: 0.01, at: [9 + i, 9], shape: {circle: 0.1}", "[0, 1]", "restitution: 0.7", 2, 8, 11, 31, 3,
     0.4},
    {"spheres", "[0, 0, -10]",
     "mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.05*i, 0.02*i, 0.4 + 0.35*i], spin: [1, i, 0], shape: {sphere: 0.1}",
     "mass: 1, inertia: [0.01, 0.01, 0.01], at: [2 + 0.25*i, 2, 2], shape: {sphere: 0.1}", "[0, 0, 1]",
     "restitution: 0.8, friction: 0.3", 3, 8, 11, 31, 7, 0.6},
    {"capsules", "[0, 0, -10]",
     "mass: 1, inertia: [0.01, 0.02, 0.02], at: [0.08*i, 0.05*i, 0.5 + 0.5*i], spin: [2*i, 1, 3*i], shape: {capsule: "
     "[0.1, 0.2]}",
     "mass: 1, inertia: [0.01, 0.01, 0.01], at: [2 + 0.25*i, 2, 2], shape: {sphere: 0.1}", "[0, 0, 1]",
     "restitution: 0.7", 2, 8, 11, 31, 7, 0.4},
};

static carom_model *make(const family *f, int others) {
    char text[2000];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: %s\nbodies:\n  a: {repeat: %d, index: i, body: {%s}}\n  o: {repeat: %d, index: i, "
             "body: {%s}}\nshapes: {floor: {plane: %s}}\ncontacts: {c: {among: [a, o, floor], %s}}\n",
             f->gravity, f->actors, f->actor, others, f->other, f->floor, f->law);
    return good(text);
}

static void fall(const family *f, int others, const char *scheme, double h, outcome *x) {
    carom_model *m = make(f, others);
    carom_error err = {0};
    carom_sim_def def = sim_def(m, scheme, NULL, h, f->end);
    carom_sim *sim = carom_sim_create(&def, &err);
    if (!sim) fail_msg("%s, %s, %d: %s", f->name, scheme, others, err.text);
    *x = (outcome){.listed = carom_model_system(m)->listed > 0};
    while (!carom_sim_done(sim)) {
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s, %s, %d: %s", f->name, scheme, others, err.text);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents && x->n < MOST_EVENTS; ++i) // slip of what does not move is rounding
            if (now.events[i].kind == CAROM_IMPACT || now.events[i].kind == CAROM_ACCUMULATION)
                x->t[x->n++] = now.events[i].t;
    }
    x->states = f->nq * f->actors;
    int first = 0;
    while (strcmp(carom_model_coordinate(m, first), "a.0.x") != 0) ++first;
    for (int i = 0; i < x->states; ++i) x->x[i] = carom_sim_now(sim).q[first + i];
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Impacts of one scheme, on both sides of the count: in number and time.
static void events_do_not_change_at_a_count(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double h, tol;
    } by[] = {{"mixed", 0.005, 1e-9}, {"auto", 0.02, 1e-9}, {"event-driven", 0.02, 1e-9}, {"splitting", 0.002, 1e-9}};
    for (size_t k = 0; k < sizeof families / sizeof *families; ++k)
        for (size_t s = 0; s < sizeof by / sizeof *by; ++s) {
            const family *f = &families[k];
            static outcome few, many;
            if (!carom_schemes_find(by[s].scheme)) continue;
            fall(f, f->few, by[s].scheme, by[s].h, &few);
            for (int size = 0; size < 2; ++size) {
                fall(f, size ? f->many : f->some, by[s].scheme, by[s].h, &many);
                assert_true(!few.listed && many.listed && few.n > 0);
                if (few.n != many.n)
                    fail_msg("%s, %s: %d events of pairs, %d of the list", f->name, by[s].scheme, few.n, many.n);
                double apart = 0, later = 0;
                for (int i = 0; i < few.n; ++i) later = fmax(later, fabs(few.t[i] - many.t[i]));
                for (int i = 0; i < few.states; ++i) apart = fmax(apart, fabs(few.x[i] - many.x[i]));
                print_message("%s, %s: %d events, times to %.1e, positions to %.1e\n", f->name, by[s].scheme, few.n,
                              later, apart);
                if (!(later < by[s].tol && apart < 100 * by[s].tol))
                    fail_msg("%s, %s: events differ by %g, positions by %g", f->name, by[s].scheme, later, apart);
            }
        }
}

// Every scheme that has impacts: positions at the end, on both sides of the count.
static void no_scheme_declines_a_count(void **state) {
    (void)state;
    static const family plain = {"circles without friction",
                                 "[0, -10]",
                                 "mass: 1, inertia: 0.01, at: [0.05*i, 0.4 + 0.35*i], spin: i, shape: {circle: 0.1}",
                                 "mass: 1, inertia: 0.01, at: [9 + i, 9], shape: {circle: 0.1}",
                                 "[0, 1]",
                                 "restitution: 0.8",
                                 3,
                                 8,
                                 11,
                                 31,
                                 3,
                                 0.6};
    for (int s = 0; carom_schemes()[s]; ++s) {
        const carom_scheme *scheme = carom_schemes()[s];
        static outcome few, many;
        if (scheme->limitations & CAROM_NO_IMPACTS) continue;
        for (int k = 0; k < 2; ++k) {
            const family *f = k ? &families[2] : &plain;
            if (k && scheme->limitations & CAROM_NO_FRICTION) continue;
            fall(f, f->few, scheme->name, 0.004, &few);
            for (int size = 0; size < 2; ++size) {
                fall(f, size ? f->many : f->some, scheme->name, 0.004, &many);
                assert_true(!few.listed && many.listed && few.n > 0);
                double apart = 0;
                for (int i = 0; i < few.states; ++i) apart = fmax(apart, fabs(few.x[i] - many.x[i]));
                if (few.n != many.n || !(apart < 1e-9))
                    fail_msg("%s, %s: %d and %d events, positions differ by %g", f->name, scheme->name, few.n, many.n,
                             apart);
            }
        }
    }
}

// Saved on the way and restored, also in a simulation whose list has been longer, a run has the bits of the whole one.
static void a_resumed_run_has_the_bits_of_the_whole_one(void **state) {
    (void)state;
    static const char *const by[] = {
        "mixed",   "auto",         "event-driven", "splitting",         "newmark",
        "dg-plus", "ggl-midpoint", "dg-minus",     "generalized-alpha", "moreau-dissipative"};
    for (size_t s = 0; s < sizeof by / sizeof *by; ++s) {
        const family *f = &families[s % 2 ? 0 : 1];
        carom_error err = {0};
        if (!carom_schemes_find(by[s])) continue;
        carom_model *m = make(f, f->many);
        const int nq = carom_model_system(m)->nq, nv = carom_model_system(m)->nv;
        const carom_sim_def def = sim_def(m, by[s], NULL, 0.005, f->end);
        carom_sim *whole = carom_sim_create(&def, &err), *again = carom_sim_create(&def, &err);
        if (!whole || !again) fail_msg("%s: %s", by[s], err.text);
        enum { STATES = 8 };
        void *kept[STATES];
        size_t bytes[STATES];
        int n = 0;
        for (int i = 1; !carom_sim_done(whole); ++i) {
            if (carom_sim_step(whole, &err) != CAROM_OK) fail_msg("%s: %s", by[s], err.text);
            if (i % 9 != 0 || n == STATES) continue;
            const void *now = carom_sim_state(whole, &bytes[n]);
            kept[n] = malloc(bytes[n]);
            memcpy(kept[n], now, bytes[n]);
            ++n;
        }
        for (int k = n - 1; k >= 0; --k) {
            if (carom_sim_restore(again, kept[k], bytes[k], &err) != CAROM_OK ||
                carom_sim_run(again, NULL, NULL, &err) != CAROM_OK)
                fail_msg("%s, from state %d on: %s", by[s], k, err.text);
            if (memcmp(carom_sim_now(whole).q, carom_sim_now(again).q, (size_t)nq * sizeof(double)) != 0 ||
                memcmp(carom_sim_now(whole).v, carom_sim_now(again).v, (size_t)nv * sizeof(double)) != 0)
                fail_msg("%s: from state %d on the end is another one", by[s], k);
            free(kept[k]);
        }
        carom_sim_destroy(whole);
        carom_sim_destroy(again);
        carom_model_destroy(m);
    }
}

// -- copies -----------------------------------------------------------------------------------------------------------

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...) {
    const size_t at = strlen(text);
    va_list args;
    va_start(args, format);
    assert_true((size_t)vsnprintf(text + at, size - at, format, args) < size - at);
    va_end(args);
}

// n oscillators that bounce and slide on a floor, whose masses couple both; their contacts are declared.
static void write_oscillators(char *text, size_t size, int n) {
    append(text, size, "carom: 1\ncoordinates:\n");
    for (int i = 0; i < n; ++i) append(text, size, "  x%d: {rate: 1}\n  y%d: {at: 0.02, rate: -0.3}\n", i, i);
    append(text, size, "energy:\n  kinetic: \"0");
    for (int i = 0; i < n; ++i) append(text, size, " + 0.5*(x%d'^2 + y%d'^2) + 0.1*x%d'*y%d'", i, i, i, i);
    append(text, size, "\"\n  potential: \"0");
    for (int i = 0; i < n; ++i) append(text, size, " + 10*y%d + 5*x%d^2", i, i);
    append(text, size, "\"\ncontacts:\n");
    for (int i = 0; i < n; ++i)
        append(text, size, "  c%d: {gap: y%d, slip: x%d, friction: 0.3, restitution: 0.4}\n", i, i, i);
}

// n pendulums on joints that hit a floor and slide on it.
static void write_pendulums(char *text, size_t size, int n) {
    append(text, size, "carom: 1\ngravity: [0, -10]\nbodies:\n");
    for (int i = 0; i < n; ++i)
        append(text, size, "  p%d: {mass: 1, inertia: 0.1, at: [%d.5, 0], spin: 1}\n", i, 3 * i);
    append(text, size, "joints:\n");
    for (int i = 0; i < n; ++i)
        append(text, size, "  j%d: {type: revolute, between: [ground, p%d], at: [%d, 0]}\n", i, i, 3 * i);
    append(text, size, "contacts:\n");
    for (int i = 0; i < n; ++i)
        append(text, size, "  c%d: {gap: p%d.y + 0.05, slip: p%d.x, friction: 0.2, restitution: 0.3}\n", i, i, i);
}

// n balls on one floor, that come and go from 81 on.
static void write_balls(char *text, size_t size, int n) {
    append(text, size,
           "carom: 1\ngravity: [0, 0, -10]\nbodies:\n  a: {repeat: %d, body: {mass: 1, inertia: "
           "[0.004, 0.004, 0.004], at: [i, 0, 0.11], velocity: [1, 0.3, 0], spin: [3, 1, 2], shape: {sphere: 0.1}}}\n"
           "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {between: [a, floor], restitution: 0.4, friction: "
           "0.2}}\n",
           n);
}

enum { MOST_SCHEMES = 64, STATES_OF_ONE = 16 };

// Where the first of n copies is at the end, by scheme; without those whose dense matrices take long.
static void move_copies(const carom_model *m, int n, double x[][STATES_OF_ONE]) {
    const carom_system *sys = carom_model_system(m);
    const int nq = sys->nq / n, nv = sys->nv / n;
    for (int s = 0; carom_schemes()[s]; ++s) {
        const carom_scheme *z = carom_schemes()[s];
        assert_in_range(s, 0, MOST_SCHEMES - 1);
        x[s][0] = NAN;
        if (z->limitations & (CAROM_NO_IMPACTS | CAROM_NO_FRICTION | (sys->ne ? CAROM_NO_BILATERAL : 0)) ||
            (n > 8 && strncmp(z->name, "dg-", 3) == 0) || (n > 33 && z->emits_events))
            continue;
        carom_sim *sim = model_sim(m, z->name, NULL, 4e-3, 0.16);
        carom_error err = {0};
        if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s, %d copies: %s", z->name, n, err.text);
        memcpy(x[s], carom_sim_now(sim).q, (size_t)nq * sizeof(double));
        memcpy(x[s] + nq, carom_sim_now(sim).v, (size_t)nv * sizeof(double));
        carom_sim_destroy(sim);
    }
}

// Copies that have nothing to do with each other: the first does not know how many there are.  Their numbers pass 16,
// 64 and 200 velocities, 16, 24, 30, 96 and 300 rows, 81 pairs, and 600 multipliers of ggl-alpha.
static void copies_do_not_depend_on_their_number(void **state) {
    (void)state;
    static void (*const writes[])(char *, size_t, int) = {write_oscillators, write_pendulums, write_balls};
    static const int sizes[] = {2, 8, 33, 101};
    static double x[2][MOST_SCHEMES][STATES_OF_ONE];
    static char text[1 << 16];
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 4; ++i) {
            *text = 0;
            writes[k](text, sizeof text, sizes[i]);
            carom_model *m = good(text);
            const int n = (carom_model_system(m)->nq + carom_model_system(m)->nv) / sizes[i];
            assert_in_range(n, 1, STATES_OF_ONE);
            move_copies(m, sizes[i], x[i > 0]);
            for (int s = 0; i > 0 && carom_schemes()[s]; ++s) {
                const carom_scheme *z = carom_schemes()[s];
                double apart = 0;
                for (int j = 0; j < n && !isnan(x[1][s][0]); ++j) apart = fmax(apart, fabs(x[0][s][j] - x[1][s][j]));
                if (!(apart < (z->emits_events ? 1e-7 : 1e-10)))
                    fail_msg("%s, family %d: %g between 2 and %d copies", z->name, k, apart, sizes[i]);
            }
            carom_model_destroy(m);
        }
}

// -- commands ---------------------------------------------------------------------------------------------------------

static void write_to(const char *file, const char *text) {
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

// What a command says, as a whole; its status is to be `expected`.  Models have n others, results have them already.
static void say(const char *command, int n, int expected, char *said, size_t size) {
    char text[900];
    char set[30] = "";
    if (strstr(command, ".yaml")) snprintf(set, sizeof set, "--set n=%d", n);
    snprintf(text, sizeof text, "%s/carom %s %s 2>&1", CAROM_BINARY_DIR, command, set);
    FILE *f = popen(text, "r");
    assert_non_null(f);
    said[fread(said, 1, size - 1, f)] = 0;
    char more[300];
    while (fgets(more, sizeof more, f)) {}
    const int status = WEXITSTATUS(pclose(f));
    if (status != expected) fail_msg("%s: status %d: %s", text, status, said);
}

// The number behind `key`.
static double number_after(const char *said, const char *key) {
    const char *at = strstr(said, key);
    double x = NAN;
    if (!at || sscanf(at + strlen(key), " %lf", &x) != 1) fail_msg("no %s in: %s", key, said);
    return x;
}

// A ball on a soft floor is pressed periodically, another one bounces beside it on a hard one; n others lie elsewhere
// on soft ground.  With 8 of them there are 55 pairs, with 11 others 91.
static const char shaken[] =
    "carom: 1\nparameters: {n: 31, F: 2, e: 0.6, v: 0.3}\ngravity: [0, -10]\nbodies:\n"
    "  a: {mass: 1, inertia: 0.01, at: [0, 0.3], velocity: [v, 0], shape: {circle: 0.1}}\n"
    "  d: {mass: 1, inertia: 0.01, at: [0.25, 0.1], shape: {circle: 0.1}}\n"
    "  o: {repeat: n, index: i, body: {mass: 1, inertia: 0.01, at: [9 + i, 0.08], shape: {circle: 0.1}}}\n"
    "shapes: {floor: {plane: [0, 1]}}\n"
    "contacts:\n  c: {among: [a, d, o], restitution: e}\n  h: {between: [[a, d], floor], restitution: e, friction: "
    "0.2}\n"
    "  s: {between: [o, floor], stiffness: 500, damping: 5}\nloads: {p: {on: d, force: [F*sin(10*t), 0]}}\n"
    "simulation: {scheme: auto, step: 1e-2, end: 0.3}\n";

// The same without friction: a ball on soft ground is pressed periodically, others lie there.
static const char pressed[] =
    "carom: 1\nparameters: {n: 8, F: 2}\ngravity: [0, -10]\nbodies:\n"
    "  d: {mass: 1, inertia: 0.01, at: [0.25, 0.08], shape: {circle: 0.1}}\n"
    "  o: {repeat: n, index: i, body: {mass: 1, inertia: 0.01, at: [9 + i, 0.08], shape: {circle: 0.1}}}\n"
    "shapes: {floor: {plane: [0, 1]}}\n"
    "contacts:\n  c: {among: [d, o]}\n  s: {between: [[d, o], floor], stiffness: 500, damping: 5}\n"
    "loads: {p: {on: d, force: [0, F*sin(50*t)]}}\nsimulation: {scheme: auto, step: 1e-2, end: 0.3}\n";

static void no_command_declines_a_count(void **state) {
    (void)state;
    static const int sizes[] = {8, 11, 31};
    static const struct {
        const char *command;
        const char *key[3]; // numbers behind these are the same at every size
        double tol;
        int sizes;
    } commands[] = {
        {"run sizes.yaml --scheme auto --out sizes.csv --force", {"impacts "}, 0, 3},
        {"run sizes.yaml --scheme newmark --out sizes.csv --force", {"impacts "}, 0, 3},
        {"run sizes.yaml --scheme dg-plus --out sizes.csv --force", {"impacts "}, 0, 3},
        {"gradient sizes.yaml --of a.x --by v,e", {"a.x =", "by v", "by e"}, 1e-7, 3},
        {"equilibrium pressed.yaml --set F=0", {"residual", " d.y "}, 1e-12, 3},
        {"modes pressed.yaml --set F=0 --count 1000 --json", {"[0, 0], [-"}, 1e-12, 3}, // the slowest decay
        {"orbit pressed.yaml --period 2*pi/50", {"period", " d.y "}, 1e-12, 2},
        {"lyapunov pressed.yaml --end 0.05", {"0.01 "}, 1e-9, 2},
        {"check sizes.yaml", {NULL}, 0, 3},
        {"sweep sizes.yaml --vary v=0.3,0.4 --observe a.x --jobs 1 --out sizes.csv", {NULL}, 0, 3},
        {"export fmu sizes.yaml --compile off -o sizes.fmu", {NULL}, 0, 3},
        {"export c sizes.yaml -o sizes.c", {NULL}, 0, 3},
    };
    static char first[20000], said[20000];
    write_to("sizes.yaml", shaken);
    write_to("pressed.yaml", pressed);
    for (size_t k = 0; k < sizeof commands / sizeof *commands; ++k)
        for (int i = 0; i < commands[k].sizes; ++i) {
            remove("sizes.fmu"), remove("sizes.c"), remove("sizes.csv");
            say(commands[k].command, sizes[i], 0, i ? said : first, sizeof said);
            for (int j = 0; i && j < 3 && commands[k].key[j]; ++j) {
                const double x = number_after(first, commands[k].key[j]), y = number_after(said, commands[k].key[j]);
                if (!(fabs(x - y) <= commands[k].tol))
                    fail_msg("%s: %s %.12g with %d, %.12g with %d", commands[k].command, commands[k].key[j], x,
                             sizes[0], y, sizes[i]);
            }
        }
    remove("sizes.yaml"), remove("pressed.yaml"), remove("sizes.csv"), remove("sizes.csv.events.csv");
    remove("sizes.fmu"), remove("sizes.c");
}

// The value of a column in the last row of a table.
static double last_of(const char *file, const char *column) {
    static char head[1 << 16], row[1 << 16];
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    assert_non_null(fgets(head, sizeof head, f));
    while (fgets(row, sizeof row, f)) {}
    fclose(f);
    const char *name = head, *value = row;
    for (size_t n = strlen(column); name && value; ++name, ++value) {
        if (strncmp(name, column, n) == 0 && (name[n] == ',' || name[n] == '\n')) return atof(value);
        name = strchr(name, ','), value = strchr(value, ',');
        if (!name || !value) break;
    }
    fail_msg("%s has no %s", file, column);
    return NAN;
}

// What reads a result finds the same of the balls, and the same contact columns, at every size.
static void results_are_read_at_every_size(void **state) {
    (void)state;
    static const char *const commands[] = {"run sizes.yaml --out sizes.h5 --force", "info sizes.h5",
                                           "view sizes.h5 -o sizes.html", "export vtk sizes.h5 -o sizes.pvd",
                                           "export csv sizes.h5 -o sizes.csv"},
                             *const columns[] = {"a.x", "a.y", "d.y", "a.vx", "c.gap", "h.gap", "h.closed", "h.force"};
    enum { COMMANDS = sizeof commands / sizeof *commands, COLUMNS = sizeof columns / sizeof *columns };
    static const int sizes[] = {8, 11, 31};
    static char said[20000];
    double first[COLUMNS] = {0};
    write_to("sizes.yaml", shaken);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < COMMANDS; ++k) say(commands[k], sizes[i], 0, said, sizeof said);
        for (int c = 0; c < COLUMNS; ++c) {
            const double x = last_of("sizes.csv", columns[c]);
            if (i == 0) first[c] = x;
            if (!(fabs(x - first[c]) < 1e-7))
                fail_msg("%s is %.12g with %d, %.12g with %d", columns[c], first[c], sizes[0], x, sizes[i]);
        }
    }
    if (system("rm -rf sizes.yaml sizes.h5 sizes.html sizes.pvd sizes.contacts.pvd sizes.vtk sizes.csv*") != 0) return;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_do_not_change_at_a_count),
                                       cmocka_unit_test(no_scheme_declines_a_count),
                                       cmocka_unit_test(a_resumed_run_has_the_bits_of_the_whole_one),
                                       cmocka_unit_test(copies_do_not_depend_on_their_number),
                                       cmocka_unit_test(no_command_declines_a_count),
                                       cmocka_unit_test(results_are_read_at_every_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
