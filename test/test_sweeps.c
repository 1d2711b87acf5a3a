// test_sweeps.c: many runs of one model: lists, sections, chains, journals, tables.
#define _POSIX_C_SOURCE 200809L
#include "io/table.h"
#include "model_text.h"
#include "sweep/book.h"
#include <carom/sweep.h>
#include <unistd.h>

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char JOURNAL[] = CAROM_BINARY_DIR "/test/sweep.journal";

static const char oscillator[] = "carom: 1\nparameters: {m: 1, k: 1, d: 0}\ncoordinates: {x: {at: 1, rate: 0}}\n"
                                 "energy: {kinetic: \"1/2*m*x'^2\", potential: 1/2*k*x^2}\nforces: {x: \"-d*x'\"}\n"
                                 "simulation: {scheme: mixed, step: 0.05, end: 20}\n";

// A ball on a table that vibrates, started on the orbit that is hit once a period: it leaves the table with g T/2 = pi
// at the phase phi with cos phi = pi (1 - e)/(Gamma (1 + e)).
static const char ball[] =
    "carom: 1\nparameters: {Gamma: 1.3, e: 0.5, phi: acos(pi*(1 - e)/(Gamma*(1 + e))), s: 2*pi - phi}\n"
    "coordinates: {x: {at: Gamma*sin(phi) + pi*s - s^2/2, rate: pi - s}}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
    "x}\n"
    "contacts: {table: {gap: x - Gamma*sin(t), restitution: e}}\nsimulation: {scheme: mixed, step: 0.05, end: 100}\n";

static carom_sweep_def def_of(const char *text, const char *const *vary, const char *const *observe) {
    carom_sweep_def d = carom_sweep_default();
    d.model = (carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"};
    d.vary = vary;
    d.observe = observe;
    return d;
}

typedef struct done { carom_sweep *s; carom_journal *book; carom_table t[2]; int n; long stop; } done;

static bool on_row(void *user, const carom_sweep_row *row) {
    done *r = user;
    assert_true(carom_journal_add(r->book, row));
    return r->stop == 0 || carom_journal_rows(r->book) < r->stop;
}

static done run(const carom_sweep_def *d, const char *journal, long stop) {
    carom_error err = {0};
    done r = {.stop = stop};
    r.s = carom_sweep_create(d, &err);
    if (!r.s) fail_msg("%s", err.text);
    r.book = carom_journal_create(journal, "what", 4, &err);
    if (!r.book) fail_msg("%s", err.text);
    assert_int_equal(carom_journal_bind(r.book, r.s, &err), CAROM_OK);
    const carom_sweep_watch watch = {.user = &r, .row = on_row};
    assert_int_equal(carom_sweep_run(r.s, &watch, &err), stop ? CAROM_STOPPED : CAROM_OK);
    assert_int_equal(carom_journal_flush(r.book, &err), CAROM_OK);
    assert_int_equal(carom_journal_tables(r.book, r.t, &r.n, &err), CAROM_OK);
    return r;
}

static void end(done *r) {
    for (int i = 0; i < 2; ++i) carom_table_free(&r->t[i]);
    carom_journal_destroy(r->book);
    carom_sweep_destroy(r->s);
}

static double real(const carom_table *t, const char *column, long row) {
    const carom_column *c = carom_table_column(t, column);
    if (!c) fail_msg("no column %s", column);
    assert_true(row < t->rows);
    return c->kind == CAROM_COLUMN_INTEGER ? (double)c->integer[row] : c->real[row];
}

static void same_tables(const carom_table *a, const carom_table *b) {
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns, b->columns);
    for (int i = 0; i < a->columns; ++i)
        for (long k = 0; k < a->rows; ++k) {
            const carom_column *x = &a->column[i], *y = &b->column[i];
            assert_string_equal(x->name, y->name);
            if (x->kind == CAROM_COLUMN_REAL) assert_memory_equal(&x->real[k], &y->real[k], sizeof(double));
            if (x->kind == CAROM_COLUMN_INTEGER) assert_int_equal(x->integer[k], y->integer[k]);
            if (x->kind == CAROM_COLUMN_TEXT) assert_string_equal(x->text[k], y->text[k]);
        }
}

// A circle of radius r falls on a floor with (1, -1), no gravity, J = m r^2/2: Lambda = 1 + e, and friction mu stops
// less slip than there is (3 mu (1 + e) < 1): vx = 1 - mu (1 + e), vy = e, impact at 1 - r.
static void laws_and_shapes_follow_parameters(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {e: 0.9, mu: 0.9, r: 0.01}\nbodies: {ball: {mass: 1, inertia: r^2/2, at: [0, 1], "
        "velocity: [1, -1], shape: {circle: r}}}\n"
        "shapes: {floor: {plane: [0, 1]}}\ncontacts: {c: {between: [ball, floor], restitution: e, friction: mu}}\n"
        "simulation: {scheme: mixed, step: 0.01, end: 2}\n";
    const carom_sweep_def d =
        def_of(text, LIST("e=0.25,0.5,1", "mu=0,0.1", "r=0.1,0.3"), LIST("ball.vx", "ball.vy", "ball.y"));
    done r = run(&d, NULL, 0);
    assert_int_equal(r.t[0].rows, 12);
    for (long i = 0; i < 12; ++i) {
        const double e = real(&r.t[0], "e", i), mu = real(&r.t[0], "mu", i), R = real(&r.t[0], "r", i);
        assert_true(real(&r.t[0], "status", i) == 0);
        assert_close(real(&r.t[0], "ball.vx", i), 1 - mu * (1 + e), 1e-10);
        assert_close(real(&r.t[0], "ball.vy", i), e, 1e-10);
        assert_close(real(&r.t[0], "ball.y", i), R + e * (1 + R), 1e-9);
    }
    end(&r);
}

// -- what is varied -------------------------------------------------------------------------------------------------

static void lists_and_grids(void **state) {
    (void)state;
    carom_sweep_def d = def_of(oscillator, LIST("m=1:2:3", "k=log:1:100:3", "x=5,7"), LIST("x"));
    carom_error err = {0};
    carom_sweep *s = carom_sweep_create(&d, &err);
    if (!s) fail_msg("%s", err.text);
    assert_int_equal(carom_sweep_runs(s), 18);
    double v[3];
    carom_sweep_values(s, 0, v);
    assert_true(v[0] == 1 && v[1] == 1 && v[2] == 5);
    carom_sweep_values(s, 1, v);
    assert_true(v[2] == 7); // the last one runs fastest
    carom_sweep_values(s, 17, v);
    assert_true(v[0] == 2 && v[1] == 100 && v[2] == 7);
    carom_sweep_values(s, 9, v);
    assert_true(v[0] == 1.5);
    assert_close(v[1], 10, 1e-13);
    carom_sweep_destroy(s);

    d = def_of(oscillator, LIST("m=1,2", "k=3,4"), LIST("x"));
    d.zip = true;
    s = carom_sweep_create(&d, &err);
    assert_non_null(s);
    assert_int_equal(carom_sweep_runs(s), 2);
    carom_sweep_values(s, 1, v);
    assert_true(v[0] == 2 && v[1] == 4);
    carom_sweep_destroy(s);

    // Samples: mean and deviation of 20 000 values within four standard errors; the seed decides.
    d = def_of(oscillator, LIST("m=uniform:2:4:20000:1", "k=normal:5:0.5:20000:7"), LIST("x"));
    d.zip = true;
    s = carom_sweep_create(&d, &err);
    assert_non_null(s);
    double sum[2] = {0}, square[2] = {0};
    for (long i = 0; i < 20000; ++i) {
        carom_sweep_values(s, i, v);
        assert_true(v[0] > 2 && v[0] < 4);
        for (int k = 0; k < 2; ++k) sum[k] += v[k], square[k] += v[k] * v[k];
    }
    assert_close(sum[0] / 20000, 3, 4 * 0.577 / sqrt(20000));
    assert_close(sum[1] / 20000, 5, 4 * 0.5 / sqrt(20000));
    assert_close(sqrt(square[1] / 20000 - pow(sum[1] / 20000, 2)), 0.5, 4 * 0.5 / sqrt(40000));
    carom_sweep_destroy(s);
}

static char *csv(void *user, const char *name, carom_error *err) {
    if (strcmp(name, "loads.csv") != 0) return carom_fail(err, CAROM_IO, "cannot read %s", name), NULL;
    return strdup(user);
}

static void a_column_of_a_file(void **state) {
    (void)state;
    carom_error err = {0};
    carom_sweep_def d = def_of(oscillator, LIST("m=loads.csv:b"), LIST("x"));
    d.read_file = csv;
    d.read_user = (void *)"a,\"b\"\n1,2\n3,4.5\r\n5,6\n";
    carom_sweep *s = carom_sweep_create(&d, &err);
    if (!s) fail_msg("%s", err.text);
    double v;
    assert_int_equal(carom_sweep_runs(s), 3);
    carom_sweep_values(s, 1, &v);
    assert_true(v == 4.5);
    carom_sweep_destroy(s);
    static const struct {
        const char *text, *why;
    } wrong[] = {{"a,b\n1,x\n", "'x' is not a number"},
                 {"a,c\n1,2\n", "no column 'b'"},
                 {"a,b\n", "no rows"},
                 {"a,b\n1\n", "is not a number"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        d.read_user = (void *)wrong[i].text;
        assert_null(carom_sweep_create(&d, &err));
        if (!strstr(err.text, wrong[i].why)) fail_msg("%s", err.text);
    }
}

static void wrong_words_are_told(void **state) {
    (void)state;
    static const struct {
        const char *vary, *observe, *section;
        long count;
        carom_follow follow;
        const char *why;
    } wrong[] = {
        {NULL, "x", NULL, 0, 0, "nothing to vary"},
        {"mm=1:2:3", "x", NULL, 0, 0, "did you mean 'm'?"},
        {"m", "x", NULL, 0, 0, "write NAME=SPEC"},
        {"m=", "x", NULL, 0, 0, "no values"},
        {"m=1:2", "x", NULL, 0, 0, "two ends and a number of values"},
        {"m=1:2:0", "x", NULL, 0, 0, "at least 1"},
        {"m=1:2:2.5", "x", NULL, 0, 0, "must be an integer of at least 1"},
        {"m=1:2:1", "x", NULL, 0, 0, "both ends"},
        {"m=1:2:1e12", "x", NULL, 0, 0, "at most"},
        {"m=log:0:1:3", "x", NULL, 0, 0, "positive"},
        {"m=uniform:0:1:3", "x", NULL, 0, 0, "a seed"},
        {"m=one,two", "x", NULL, 0, 0, "'one' is not a number"},
        {"m=1,nan", "x", NULL, 0, 0, "not a finite number"},
        {"m=1,2", "y", NULL, 0, 0, "unknown name 'y'"},
        {"m=1,2", "seconds", NULL, 0, 0, "computing times cannot be observed"},
        {"m=1,2", "mean(x, 2)", NULL, 0, 0, "one argument"},
        {"m=1,2", "x", "every x", 0, 0, "depends on the state"},
        {"m=1,2", "x", "now and then", 0, 0, "write `every PERIOD`"},
        {"m=1,2", "x", "impact wall", 0, 0, "no contact 'wall'"},
        {"m=1,2", "x", NULL, 5, 0, "give `section`"},
        {"m=1,2", NULL, "every 1", 0, 0, "`section` without `observe`"},
        {"x=1,2", "x", NULL, 0, CAROM_FOLLOW_UP, "cannot be varied"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        carom_sweep_def d = def_of(oscillator, LIST(wrong[i].vary), LIST(wrong[i].observe));
        carom_error err = {0};
        d.section = wrong[i].section;
        d.count = wrong[i].count;
        d.follow = wrong[i].follow;
        assert_null(carom_sweep_create(&d, &err));
        if (!strstr(err.text, wrong[i].why)) fail_msg("'%s' does not say '%s'", err.text, wrong[i].why);
    }
}

// A scheme or an option that no run can have is an error of the sweep, not of its runs; a value that some cannot have
// is theirs.
static void wrong_schemes_and_options_end_the_sweep(void **state) {
    (void)state;
    static const struct { const char *vary, *scheme, *option, *why; } wrong[] = {
        {"m=1,2", "moreau-jeam", NULL, "did you mean 'moreau-jean'?"},
        {"m=1,2", "moreau-jean", "thta=1", "did you mean 'theta'?"},
        {"m=1,2", "moreau-jean", "theta=2", "option theta"},
        {"option.thta=0.5,1", "moreau-jean", NULL, "did you mean 'theta'?"},
        {"option.theta=0.5,1", "moreau-midpoint", NULL, "unknown option 'theta'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        carom_sweep_def d = def_of(oscillator, LIST(wrong[i].vary), LIST("x"));
        carom_error err = {0};
        d.run.scheme = wrong[i].scheme;
        d.run.options = LIST(wrong[i].option);
        assert_null(carom_sweep_create(&d, &err));
        assert_int_equal(err.code, CAROM_BAD_INPUT);
        if (!strstr(err.text, wrong[i].why)) fail_msg("'%s' does not say '%s'", err.text, wrong[i].why);
    }
    carom_sweep_def d = def_of(oscillator, LIST("option.theta=0.5,2"), LIST("x"));
    carom_error err = {0};
    d.run.scheme = "moreau-jean";
    carom_sweep *s = carom_sweep_create(&d, &err);
    assert_non_null(s);
    carom_sweep_destroy(s);
}

// -- sections ---------------------------------------------------------------------------------------------------------

// x = cos(w t), w = sqrt(k/m): every 1.3 s its value, after a transient.  Until t = 10.4 the phase of a Runge-Kutta
// scheme of order 4 is late by t w (w h)^4/120 = 4e-6, that of one of order 2 by t w (w h)^2/24 = 4e-3.
static void values_at_equal_times(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double tolerance;
    } tries[] = {
        {"mixed", 5e-6}, {"event-driven", 1e-7}, {"auto", 1e-5}, {"moreau-midpoint", 5e-3}, {"half-explicit", 5e-3}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; ++i) {
        carom_sweep_def d = def_of(oscillator, LIST("k=1,2.25"), LIST("x", "x'"));
        d.run.scheme = tries[i].scheme;
        d.run.step = 0.05;
        d.section = "every 13/10";
        d.transient = 4;
        d.count = 5;
        done r = run(&d, NULL, 0);
        assert_int_equal(r.t[1].rows, 10);
        for (long k = 0; k < 10; ++k) {
            const double w = k < 5 ? 1 : 1.5, t = real(&r.t[1], "t", k);
            assert_close(t, 1.3 * (double)(4 + k % 5), 1e-12); // 5.2 is the first at or after 4
            assert_close(real(&r.t[1], "x", k), cos(w * t), tries[i].tolerance);
            assert_close(real(&r.t[1], "x'", k), -w * sin(w * t), 1.5 * tries[i].tolerance);
        }
        end(&r);
    }
}

// x falls through 1/2 at t = pi/3 + 2 pi n, rises through it at 5 pi/3 + 2 pi n.
static void crossings(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double tolerance;
    } tries[] = {{"mixed", 1e-6}, {"event-driven", 1e-7}, {"moreau-midpoint", 1e-2}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; ++i) {
        carom_sweep_def d = def_of(oscillator, LIST("k=1,1"), LIST("x", "t"));
        d.run.scheme = tries[i].scheme;
        d.run.step = 0.05;
        d.section = "x = k/2 rising";
        done r = run(&d, NULL, 0);
        assert_int_equal(r.t[1].rows, 6); // until t = 20
        for (long k = 0; k < 3; ++k) {
            assert_close(real(&r.t[1], "t", k), (5.0 / 3 + 2 * (double)k) * 3.14159265358979324, tries[i].tolerance);
            assert_close(real(&r.t[1], "x", k), 0.5, 1e-12); // it is on the section
        }
        end(&r);
        d.section = "  x = k/2  falling ";
        r = run(&d, NULL, 0);
        assert_int_equal(r.t[1].rows, 8);
        for (long k = 0; k < 3; ++k)
            assert_close(real(&r.t[1], "t", k), (1.0 / 3 + 2 * (double)k) * 3.14159265358979324, tries[i].tolerance);
        end(&r);
        d.section = "x = k/2";
        r = run(&d, NULL, 0);
        assert_int_equal(r.t[1].rows, 14); // falling at 1.047, 7.33, 13.6, 19.9 too
        end(&r);
    }
}

// (exact)  x' = pi behind every impact, one impact in 2 pi, as long as Gamma < sqrt((pi (1-e)/(1+e))^2 + (2
// (1+e^2)/(1+e)^2)^2) = 1.5268
static void impacts_of_a_bouncing_ball(void **state) {
    (void)state;
    static const char *const schemes[] = {"mixed", "event-driven", "auto"};
    for (size_t i = 0; i < 3; ++i) {
        carom_sweep_def d = def_of(ball, LIST("Gamma=1.2,1.5"), LIST("x'", "impacts"));
        d.run.scheme = schemes[i];
        d.section = "impact table";
        d.count = 6;
        d.transient = 20;
        done r = run(&d, NULL, 0);
        assert_int_equal(r.t[1].rows, 12);
        for (long k = 0; k < 12; ++k) {
            assert_close(real(&r.t[1], "x'", k), 3.14159265358979324, 2e-6);
            if (k % 6) assert_close(real(&r.t[1], "t", k) - real(&r.t[1], "t", k - 1), 2 * 3.14159265358979324, 2e-6);
        }
        assert_true(real(&r.t[0], "impacts", 0) == 6); // from the transient on
        end(&r);
    }
}

// A point between walls that are the contacts of one gap strikes one of them, or two at once in a corner, at t = (2 k -
// 1)/u.
static void impacts_of_a_gap_with_several_parts(void **state) {
    (void)state;
    static const char *const schemes[] = {"mixed", "event-driven", "half-explicit"};
    for (size_t i = 0; i < 3; ++i) {
        carom_sweep_def d = def_of("carom: 1\nparameters: {u: 1, both: 0}\ncoordinates: {x: {at: 0, rate: u}, y: {at: "
                                   "0, rate: both*u}}\nenergy: {kinetic: \"x'^2 + y'^2\"}\n"
                                   "contacts: {walls: {gap: \"1 - max(abs(x), abs(y))\", restitution: 1}}\n"
                                   "simulation: {step: 0.0125, end: 6}\n",
                                   LIST("u=1,2"), LIST("x", "x'"));
        d.run.scheme = schemes[i];
        for (int k = 0; k < 2; ++k) {
            d.section = "impact walls";
            d.model.set = k ? LIST("both=1") : LIST("both=0");
            done r = run(&d, NULL, 0);
            assert_int_equal(r.t[1].rows, 9); // 1, 3, 5; 0.5, 1.5, ..., 5.5
            for (long n = 0; n < 9; ++n) {
                const double u = n < 3 ? 1 : 2, hit = 2 * (double)(n < 3 ? n : n - 3) + 1;
                assert_close(real(&r.t[1], "t", n), hit / u, i < 2 ? 2e-6 : 0.0126);
                assert_close(real(&r.t[1], "x'", n), (long)hit % 4 == 1 ? -u : u, 1e-9);
            }
            end(&r);
        }
    }
}

// Period doubling: beyond the bound the orbit is left, below it stays.
// The same ball with a contact of its own and, beside 40 others, with one that comes and goes: impacts and crossings
// are the same; and a start inside the floor is a row that fails.
static void sections_where_contacts_come_and_go(void **state) {
    (void)state;
    static const char *const sections[] = {"impact all", "impact a-floor", "a.z = 3/10", "every 3/10"},
                             *const observe[] = {"a.z", "a.vz", NULL},
                             *const vary[] = {"e=0.5,0.8", "a.z=0.05,1.1", NULL};
    for (int s = 0; s < 4; ++s) {
        done r[2];
        for (int many = 0; many < 2; ++many) {
            static char text[700];
            snprintf(text, sizeof text,
                     "carom: 1\ngravity: [0, 0, -10]\nparameters: {e: 0.5}\nbodies:\n  a: {mass: 1, inertia: [1, 1, "
                     "1], at: [0, 0, 1.1], shape: {sphere: 0.1}}\n"
                     "  c: {repeat: %d, body: {mass: 1, inertia: [1, 1, 1], at: [i, 9, 99], shape: {sphere: "
                     "0.1}}}\nshapes: {floor: {plane: [0, 0, 1]}}\n"
                     "contacts: {all: {%s: [a, %s], restitution: e}}\nsimulation: {scheme: moreau-midpoint, step: "
                     "1e-3, end: 2}\n",
                     many ? 40 : 1, many ? "among" : "between", many ? "c, floor" : "floor");
            carom_sweep_def d = def_of(text, vary, observe);
            d.section = s == 1 && !many ? "impact all" : sections[s];
            d.count = 3;
            r[many] = run(&d, NULL, 0);
        }
        assert_int_equal(r[0].t[1].rows, 6);
        same_tables(&r[0].t[1], &r[1].t[1]);
        for (int k = 0; k < 4; ++k) assert_true(real(&r[1].t[0], "status", k) == (k % 2 ? 0 : 2));
        end(&r[0]), end(&r[1]);
    }
}

static void period_doubling_is_where_theory_has_it(void **state) {
    (void)state;
    carom_sweep_def d = def_of(ball, LIST("Gamma=1.515,1.540"), LIST("x'"));
    d.model.set = LIST("s=2*pi - phi + 1e-3"); // beside it
    d.section = "impact table";
    d.transient = 1500;
    d.count = 2;
    done r = run(&d, NULL, 0);
    assert_close(real(&r.t[1], "x'", 0), real(&r.t[1], "x'", 1), 1e-4);
    assert_true(fabs(real(&r.t[1], "x'", 2) - real(&r.t[1], "x'", 3)) > 0.1);
    end(&r);
}

// -- averages, ledger, failures ---------------------------------------------------------------------------------------

static void averages_over_time(void **state) {
    (void)state;
    carom_sweep_def d =
        def_of(oscillator, LIST("m=1,1"), LIST("mean(x^2)", "rms(x)", "integral(x')", "max(abs(x)) - min(x)", "steps"));
    d.run.end = 20 * 3.14159265358979324; // ten periods
    d.run.step = d.run.end / 4000;
    d.transient = d.run.end / 2;
    done r = run(&d, NULL, 0);
    assert_close(real(&r.t[0], "mean(x^2)", 0), 0.5, 1e-6);
    assert_close(real(&r.t[0], "rms(x)", 1), sqrt(0.5), 1e-6);
    assert_close(real(&r.t[0], "integral(x')", 0), 0, 1e-6);
    assert_close(real(&r.t[0], "max(abs(x)) - min(x)", 0), 2, 1e-4);
    assert_true(real(&r.t[0], "steps", 0) == 2000);
    end(&r);
}

static void a_run_that_fails_is_a_row(void **state) {
    (void)state;
    carom_sweep_def d = def_of(oscillator, LIST("m=0,1,-1", "option.order=4,99"), LIST("x"));
    done r = run(&d, NULL, 0);
    assert_int_equal(r.t[0].rows, 6);
    long run_ = -1;
    const char *message = carom_journal_message(r.book, &run_);
    assert_int_equal(run_, 0);
    assert_non_null(message);
    assert_true(real(&r.t[0], "status", 0) != 0 && real(&r.t[0], "status", 4) != 0);
    assert_true(real(&r.t[0], "status", 2) == 0);
    assert_close(real(&r.t[0], "x", 2), cos(20), 1e-5);
    assert_true(real(&r.t[0], "status", 3) == 2); // no order 99
    assert_non_null(strstr(carom_table_column(&r.t[0], "message")->text[3], "order"));
    end(&r);
}

// -- chains -----------------------------------------------------------------------------------------------------------

// A free body with velocity v: run k ends v_0 + ... + v_k away.
static void runs_that_follow_each_other(void **state) {
    (void)state;
    static const char body[] = "carom: 1\nparameters: {a: 0}\ncoordinates: {x: {at: 0, rate: 0}}\nenergy: {kinetic: "
                               "\"1/2*x'^2\"}\nforces: {x: a}\n"
                               "simulation: {scheme: half-explicit, step: 0.1, end: 1}\n";
    carom_sweep_def d = def_of(body, LIST("a=1,2,3"), LIST("x'"));
    d.follow = CAROM_FOLLOW_BOTH;
    done r = run(&d, NULL, 0);
    static const double velocity[] = {1, 3, 6, 9, 11, 12}, a[] = {1, 2, 3, 3, 2, 1};
    assert_int_equal(r.t[0].rows, 6);
    for (long k = 0; k < 6; ++k) {
        assert_close(real(&r.t[0], "x'", k), velocity[k], 1e-12);
        assert_true(real(&r.t[0], "a", k) == a[k]);
        assert_string_equal(carom_table_column(&r.t[0], "direction")->text[k], k < 3 ? "up" : "down");
    }
    end(&r);
    d.follow = CAROM_FOLLOW_DOWN;
    r = run(&d, NULL, 0);
    assert_close(real(&r.t[0], "x'", 0), 3, 1e-12);
    assert_close(real(&r.t[0], "x'", 2), 6, 1e-12);
    end(&r);
}

// x'' + 0.2 x' + x^3 = F cos(w t): the small motion ends at the fold F = 0.46139, the large one at 0.22832 (known to 12
// digits), when time goes on from run to run and the phase of the drive with it.  The ends of runs are no whole
// periods.
static void driven_runs_continue_the_phase(void **state) {
    (void)state;
    static const char duffing[] = "carom: 1\nparameters: {F: 0.3, w: 1}\ncoordinates: {x: 0}\nenergy: {kinetic: "
                                  "\"1/2*x'^2\", potential: x^4/4}\nforces: {x: \"F*cos(w*t) - 0.2*x'\"}\n"
                                  "simulation: {scheme: event-driven, step: 0.5, end: 120}\n";
    static const double up[] = {0.3, 0.4, 0.44, 0.455, 0.465};
    carom_sweep_def d = def_of(duffing, LIST("F=0.3,0.4,0.44,0.455,0.465"), LIST("max(x)"));
    d.follow = CAROM_FOLLOW_UP, d.transient = 100;
    done r = run(&d, NULL, 0);
    for (long k = 0; k < 5; ++k) assert_true((real(&r.t[0], "max(x)", k) > 1) == (up[k] > 0.46139));
    end(&r);
    d = def_of(duffing, LIST("F=0.222,0.235,0.3,0.5"), LIST("max(x)"));
    d.follow = CAROM_FOLLOW_DOWN, d.transient = 100;
    r = run(&d, NULL, 0);
    for (long k = 0; k < 4; ++k) assert_true((real(&r.t[0], "max(x)", k) > 0.95) == (k < 3));
    end(&r);
    // With other frequencies the phase goes on: a linear oscillator at resonance far above does not feel that its
    // neighbour ended anywhere in a period.
    static const char linear[] = "carom: 1\nparameters: {w: 1}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", "
                                 "potential: 5000*x^2}\nforces: {x: \"cos(w*t) - 20*x'\"}\n"
                                 "simulation: {scheme: event-driven, step: 0.1, end: 7.7}\n";
    d = def_of(linear, LIST("w=1,1.5,2"), LIST("max(abs(x - cos(w*t)/10000))", "t"));
    d.follow = CAROM_FOLLOW_UP;
    r = run(&d, NULL, 0);
    // 1e-4 at w t = 0
    for (long k = 1; k < 3; ++k) assert_true(real(&r.t[0], "max(abs(x - cos(w*t)/10000))", k) < 1e-6);
    assert_close(real(&r.t[0], "t", 1), 7.7 + (7.7 / (2 * 3.14159265358979) - 1) * 2 * 3.14159265358979 / 1.5, 1e-9);
    end(&r);
}

// -- the same bytes ---------------------------------------------------------------------------------------------------

static carom_sweep_def chaotic(void) {
    static const char *const vary[] = {"Gamma=1.3:2.2:7", "e=0.45,0.6", NULL}, *const observe[] = {"x'", "impacts",
                                                                                                   NULL};
    carom_sweep_def d = def_of(ball, vary, observe);
    d.section = "every 2*pi";
    d.transient = 10;
    d.count = 4;
    return d;
}

static void threads_and_parts_make_the_same_tables(void **state) {
    (void)state;
    for (int follow = 0; follow < 2; ++follow) {
        carom_sweep_def d = chaotic();
        d.follow = follow ? CAROM_FOLLOW_UP : CAROM_FOLLOW_NONE;
        done one = run(&d, NULL, 0);
        assert_int_equal(one.t[0].rows, 14);
        d.jobs = 3;
        done three = run(&d, NULL, 0);
        for (int i = 0; i < 2; ++i) same_tables(&one.t[i], &three.t[i]);
        end(&three);
        long rows = 0;
        for (d.part = 1, d.parts = 3; d.part <= 3; ++d.part) { // every run is in one part, in order
            done part = run(&d, NULL, 0);
            for (long k = 0; k < part.t[0].rows; ++k, ++rows) {
                assert_true(real(&part.t[0], "run", k) == (double)rows);
                assert_true(real(&part.t[0], "x'", k) == real(&one.t[0], "x'", rows));
            }
            end(&part);
        }
        assert_int_equal(rows, 14);
        end(&one);
    }
}

// A journal that ends anywhere: the sweep goes on and its tables are those of one that was never interrupted.
static void journals_end_anywhere(void **state) {
    (void)state;
    for (int follow = 0; follow < 2; ++follow) {
        carom_sweep_def d = chaotic();
        carom_error err = {0};
        d.follow = follow ? CAROM_FOLLOW_BOTH : CAROM_FOLLOW_NONE;
        done whole = run(&d, NULL, 0);
        unlink(JOURNAL);
        done broken = run(&d, JOURNAL, 5);
        end(&broken);
        assert_null(carom_journal_create(JOURNAL, "", 0, &err)); // never over an interrupted one
        FILE *f = fopen(JOURNAL, "rb");
        assert_non_null(f);
        static char bytes[1 << 16];
        const size_t size = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        for (size_t cut = size; cut > 60; cut = cut > 700 ? cut - 311 : cut - 61) {
            f = fopen(JOURNAL, "wb");
            assert_int_equal(fwrite(bytes, 1, cut, f), cut);
            if (cut % 2) fputc(77, f); // and dirt behind it
            assert_int_equal(fclose(f), 0);
            done r = {.s = carom_sweep_create(&d, &err)};
            char *definition = NULL;
            size_t length = 0;
            assert_non_null(r.s);
            r.book = carom_journal_open(JOURNAL, &definition, &length, &err);
            if (!r.book) fail_msg("%s", err.text);
            assert_int_equal(length, 4);
            assert_memory_equal(definition, "what", 4);
            free(definition);
            assert_int_equal(carom_journal_bind(r.book, r.s, &err), CAROM_OK);
            assert_true(carom_journal_rows(r.book) <= 5);
            const carom_sweep_watch watch = {.user = &r, .row = on_row};
            assert_int_equal(carom_sweep_run(r.s, &watch, &err), CAROM_OK);
            assert_int_equal(carom_journal_tables(r.book, r.t, &r.n, &err), CAROM_OK);
            for (int i = 0; i < 2; ++i) same_tables(&whole.t[i], &r.t[i]);
            end(&r);
        }
        unlink(JOURNAL);
        end(&whole);
    }
}

// What a record of a run says of itself must be possible: each number of its head, and its length, out of range.
static void records_of_runs_are_checked(void **state) {
    (void)state;
    carom_sweep_def d = chaotic();
    done r = run(&d, NULL, 1);
    double observed[8] = {1, 2, 3}, section[24] = {0}, end_state[16] = {0};
    carom_sweep_row row = {.run = 3,
                           .points = 0,
                           .observed = observed,
                           .section = section,
                           .end = end_state,
                           .message = "said"},
                    back;
    size_t n = 0;
    unsigned char *bytes = carom_row_pack(r.s, &row, &n);
    assert_non_null(bytes);
    assert_true(carom_row_unpack(r.s, bytes, n, &back));
    assert_int_equal(back.run, 3);
    assert_string_equal(back.message, "said");
    static const int64_t run_no[] = {-1, 14, INT64_MAX}, points[] = {-1, INT64_MIN, INT64_MAX},
                         message[] = {0, -1, 4, 6, INT64_MAX};
    static const struct {
        size_t at;
        const int64_t *value;
        int count;
    } wrong[] = {{0, run_no, 3}, {2, points, 3}, {3, message, 5}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        for (int k = 0; k < wrong[i].count; ++k) {
            unsigned char *forged = malloc(n);
            assert_non_null(forged);
            memcpy(forged, bytes, n);
            memcpy(forged + wrong[i].at * sizeof(int64_t), &wrong[i].value[k], sizeof(int64_t));
            if (carom_row_unpack(r.s, forged, n, &back))
                fail_msg("number %zu of the head: %lld is taken", wrong[i].at, (long long)wrong[i].value[k]);
            free(forged);
        }
    for (size_t length = 0; length < n; ++length) assert_false(carom_row_unpack(r.s, bytes, length, &back));
    free(bytes);
    end(&r);
}

// Velocities of what comes with that of the model are not varied; those of what stands before and behind it are.
static void velocities_of_what_comes_are_not_varied(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {w: 1}\nbodies:\n  a: {mass: 1, inertia: 1, at: [0, 0], shape: {circle: 0.1}}\n"
        "  b: {mass: 1, inertia: 1, at: [1, 0], shape: {circle: 0.1}, exists while: t > 0.1}\n"
        "  c: {mass: 1, inertia: 1, at: [2, 0], shape: {circle: 0.1}}\n"
        "simulation: {scheme: moreau-midpoint, step: 0.01, end: 0.05}\n";
    static const char *const names[] = {"a.vx", "a.vy", "b.vx", "b.vy", "c.vx", "c.vy"};
    for (int i = 0; i < 6; ++i) {
        char vary[20];
        carom_error err = {0};
        snprintf(vary, sizeof vary, "%s=1,2", names[i]);
        carom_sweep_def d = def_of(text, LIST(vary), LIST("a.x"));
        carom_sweep *s = carom_sweep_create(&d, &err);
        if ((i / 2 == 1) == (s != NULL)) fail_msg("%s: %s", names[i], s ? "is varied" : err.text);
        if (!s) assert_non_null(strstr(err.text, "'b' has `exists while`"));
        carom_sweep_destroy(s);
    }
}

// -- files ------------------------------------------------------------------------------------------------------------

static void tables_survive_a_file(void **state) {
    (void)state;
    static const char file[] = CAROM_BINARY_DIR "/test/sweep.h5";
    carom_sweep_def d = chaotic();
    carom_error err = {0};
    done r = run(&d, NULL, 0);
    const carom_table_note note = {"runs", "14"};
    assert_int_equal(carom_tables_write(file, r.t, r.n, &note, 1, &err), CAROM_OK);
    for (int i = 0; i < 2; ++i) {
        carom_table t;
        assert_int_equal(carom_table_read(file, r.t[i].name, &t, &err), CAROM_OK);
        same_tables(&r.t[i], &t);
        carom_table_free(&t);
    }
    char *text = carom_table_note_read(file, "runs");
    assert_string_equal(text, "14");
    free(text);
    carom_table t;
    assert_int_equal(carom_table_read(file, "nothing", &t, &err), CAROM_BAD_INPUT);
    assert_int_equal(carom_table_read(CAROM_SOURCE_DIR "/README.md", "runs", &t, &err), CAROM_BAD_INPUT);
    assert_int_equal(carom_tables_write("/no/such/folder/x.csv", r.t, r.n, NULL, 0, &err), CAROM_IO);
    end(&r);
}

int main(void) {
    setenv("XDG_CACHE_HOME", CAROM_BINARY_DIR "/test/cache-sweeps", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_and_shapes_follow_parameters),
        cmocka_unit_test(lists_and_grids),
        cmocka_unit_test(a_column_of_a_file),
        cmocka_unit_test(wrong_words_are_told),
        cmocka_unit_test(wrong_schemes_and_options_end_the_sweep),
        cmocka_unit_test(values_at_equal_times),
        cmocka_unit_test(crossings),
        cmocka_unit_test(impacts_of_a_bouncing_ball),
        cmocka_unit_test(impacts_of_a_gap_with_several_parts),
        cmocka_unit_test(sections_where_contacts_come_and_go),
        cmocka_unit_test(period_doubling_is_where_theory_has_it),
        cmocka_unit_test(averages_over_time),
        cmocka_unit_test(a_run_that_fails_is_a_row),
        cmocka_unit_test(runs_that_follow_each_other),
        cmocka_unit_test(driven_runs_continue_the_phase),
        cmocka_unit_test(threads_and_parts_make_the_same_tables),
        cmocka_unit_test(journals_end_anywhere),
        cmocka_unit_test(records_of_runs_are_checked),
        cmocka_unit_test(velocities_of_what_comes_are_not_varied),
        cmocka_unit_test(tables_survive_a_file),
    };
    return cmocka_run_group_tests_name("sweeps", tests, NULL, NULL);
}
