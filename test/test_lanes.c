// test_lanes.c: many runs at once: the same results as runs one by one, up to rounding, and the same bits wherever a
// run stands.
//
// With "long" all schemes, laws and sections; with "bundled" every model that comes with carom in every scheme
// (LANES_MODEL, LANES_SCHEME: that one alone), with "card" the same on a GPU; with "cuda" the CUDA text goes through
// nvcc, if it is installed.
#define _POSIX_C_SOURCE 200809L
#include "io/table.h"
#include "model_text.h"
#include "sweep/book.h"
#include "sweep/lanes.h"
#include "sweep/shards.h"
#include <dirent.h>
#include <unistd.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpsabi" // vectors wider than the processor's: all functions that take them are
                                           // static
#endif
#include "sweep/lanes/head_c.inc"

#include "base/scalar.inc" // behind it: DEVICE is its
#undef real
#undef T
#define real V
#define T(name) V_##name
#include "sweep/lanes/math.inc"
#undef real
#undef T
#define real double
#define T(name) D_##name
#include "sweep/lanes/math.inc"
#undef real
#undef T

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

// -- sine and cosine --------------------------------------------------------------------------------------------------

static double ulps(double x, long double exact) {
    const double size = fabs((double)exact);
    return (double)(fabsl((long double)x - exact) / (long double)(nextafter(size, INFINITY) - size));
}

static void check_sine(double x, double *worst) {
    double s, c;
    V a = V_of(1), vs, vc;
    D_sincos(1, &x, &s, &c, 0);
    a[LANES - 1] = x;
    V_sincos(1, &a, &vs, &vc, 0);
    V ws, wc;
    V_mask far = V_not(V_equal(a, a) | V_not(V_equal(a, a)));
    V_sincos(1, &a, &ws, &wc, &far); // the same, or it says that it is not
    for (int l = 0; l < LANES; ++l) {
        assert_int_equal(far[l] != 0, !(fabs(a[l]) < 0x1p20));
        if (!far[l]) assert_true(ws[l] == vs[l] && wc[l] == vc[l]);
    }
    assert_memory_equal(&s, &(double){vs[LANES - 1]}, sizeof s);
    assert_memory_equal(&c, &(double){vc[LANES - 1]}, sizeof c);
    if (!isfinite(x)) {
        assert_true(isnan(s) && isnan(c));
        return;
    }
    *worst = fmax(*worst, fmax(ulps(s, sinl(x)), ulps(c, cosl(x))));
}

static void sines_are_right_to_one_and_a_half_units(void **state) {
    (void)state;
    double worst = 0;
    unsigned long long seed = 1;
    for (int i = 0; i < 400000; ++i) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        const double u = (double)(seed >> 11) * 0x1p-53, size = ldexp(1, i % 26 - 5);
        check_sine((2 * u - 1) * size, &worst);
    }
    for (int n = 0; n < 100000; ++n) check_sine(n * 1.5707963267948966, &worst); // next to zeros
    const double odd[] = {
        0, -0.0, 1e-300, 0x1p20, 1e300, INFINITY, NAN, 0x1.921fb54442d18p0, 573204.0, 0x1.fffffffffffffp19};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; ++i) check_sine(odd[i], &worst);
    if (!(worst < 1.5)) fail_msg("%g units in the last place", worst);
}

// -- sweeps -----------------------------------------------------------------------------------------------------------

// A driven oscillator with a stop.
static const char oscillator[] =
    "carom: 1\nparameters: {m: 1, k: 1, e: 0.5, F: 0.5, w: 2, c: 0.1, s: 0.2, period: 2*pi/w}\ncoordinates: {x: {at: "
    "s/2, rate: 0}}\n"
    "energy: {kinetic: \"1/2*m*x'^2\", potential: 1/2*k*x^2}\nforces: {x: \"F*cos(w*t) - c*x'\"}\n"
    "contacts: {stop: {gap: s + x, restitution: 1 - e}}\nsimulation: {scheme: moreau-midpoint, step: 0.01, end: 15}\n";

// A bead on a rotating rod, between two walls, with friction; a joint written as a constraint: a pendulum; and a ball
// that stays on a shaking floor.
static const char mixture[] =
    "carom: 1\nparameters: {mu: 0.3, L: 1, e: 0.3, d: 0.2}\ncoordinates: {x: {at: L*cos(d), rate: 0}, y: {at: "
    "-L*sin(d), rate: 0}, z: {at: 0.3, rate: 1}, u: {at: 0, rate: 0.5}, r: {rate: 0.2}}\n"
    "energy: {kinetic: \"1/2*(x'^2 + y'^2 + z'^2 + u'^2 + r'^2 + 0.1*x^2*z'^2)\", potential: 9.81*y + 9.81*z + "
    "9.81*r}\nconstraints: {rod: x^2 + y^2 - L^2}\n"
    "contact defaults: {restitution: e, friction: mu}\ncontacts: {wall: {gap: x + 0.5*z + 0.4, slip: y}, floor: {gap: "
    "z, slip: u}, lid: {gap: 0.5 - z, slip: [u, x - y]}, shaker: {gap: r - 0.01*sin(20*t), friction: 0}}\n"
    "simulation: {scheme: half-explicit, step: 0.002, end: 1}\n";

// A block that slides and spins on a floor, in space, and bounces.
static const char puck[] =
    "carom: 1\nparameters: {mu: 0.2, v: 1.5}\ncoordinates: {x: {rate: v}, y: {rate: 1}, z: {at: 0.02, rate: 0}}\n"
    "energy: {kinetic: \"1/2*(x'^2 + 2*y'^2 + z'^2)\", potential: 9.81*z}\nforces: {y: \"-x\"}\n"
    "contacts: {floor: {gap: z + 0.01*x, slip: [x, y], friction: mu, restitution: 0.4}}\nsimulation: {scheme: "
    "moreau-midpoint, step: 0.001, end: 0.8}\n";

// A crank, a rod and a slider with play in its guide: bodies, joints, shapes, a spring; one friction, restitution and
// start for all by parameters.
static const char clearance[] =
    "carom: 1\nparameters: {m: 0.08, e: 0.4, mu: 0.1, k: 20, y0: 2e-4}\ngravity: [0, -9.81]\n"
    "bodies:\n  crank: {mass: 0.04, inertia: 7e-5, at: [0.05, 0], spin: 60}\n"
    "  rod: {mass: m/2, inertia: m*0.01, at: [0.2, 0]}\n  slider: {mass: m, inertia: 3e-5, at: [0.3, 0]}\n"
    "  weight: {mass: m, inertia: 1e-4, at: [0.5, 0.05 + y0], velocity: [0.3, 0]}\n"
    "joints:\n  main: {type: revolute, between: [ground, crank], at: [0, 0]}\n"
    "  big: {type: revolute, between: [crank, rod], at: [0.1, 0]}\n"
    "  small: {type: revolute, between: [rod, slider], at: [0.3, 0]}\n"
    "springs: {pull: {between: [slider, weight], points: [[0, 0], [0, 0]], stiffness: k, damping: 0.1, length: 0.2}}\n"
    "shapes: {low: {plane: [0, 1], at: [0, -0.021]}, high: {plane: [0, -1], at: [0, 0.021]}, table: {plane: [0, 1]},\n"
    "  block: {box: [0.06, 0.04], of: slider}, ball: {circle: 0.05, of: weight}}\n"
    "contact defaults: {restitution: e, friction: mu}\n"
    "contacts: {below: {between: [block, low]}, above: {between: [block, high]}, on: {between: [ball, table]}}\n"
    "simulation: {scheme: moreau-midpoint, step: 5e-5, end: 0.05}\n";

// A die that falls on a floor, beside a flywheel that turns about a hinge in space.  The end is before the die lies on
// four corners: how they share the load, and with friction the turning, is not unique then.
static const char die[] =
    "carom: 1\nparameters: {m: 0.01, e: 0.5, mu: 0.3, w: 4, z0: 0.03}\ngravity: [0, 0, -9.81]\n"
    "bodies:\n  die: {mass: m, inertia: [m*1e-4, 1.2*m*1e-4, 0.9*m*1e-4], at: [0, 0, z0], spin: [9, -7, 3], velocity: "
    "[0.4, 0.1, -0.2]}\n"
    "  wheel: {mass: 1, inertia: [0.01, 0.02, 0.03], at: [1, 0.1, 0]}\n"
    "joints: {hinge: {type: revolute, between: [ground, wheel], at: [1, 0, 0], axis: [1, 0, 0]}}\n"
    "loads: {drive: {on: wheel, torque: [50*sin(hinge.angle) + 100*w, 0, 0]}}\n"
    "shapes: {floor: {plane: [0, 0, 1]}, cube: {box: [0.02, 0.02, 0.02], of: die}}\n"
    "contacts: {throw: {between: [cube, floor], restitution: e, friction: mu}}\n"
    "simulation: {scheme: moreau-midpoint, step: 2e-4, end: 0.11}\n";

// A ball and a box on compliant contacts with friction, Hertz' exponent and damping.
static const char compliant[] =
    "carom: 1\nparameters: {m: 1, k: 2e4, c: 0.2, s: 0.01}\ngravity: [0, -9.81]\n"
    "bodies:\n  ball: {mass: m, inertia: 0.004, at: [0, 0.3], velocity: [0.5, 0], spin: 3}\n"
    "  block: {mass: 2, inertia: 0.01, at: [1, 0.3], angle: 0.3, spin: 1}\n"
    "shapes: {disc: {circle: 0.1, of: ball}, box: {box: [0.2, 0.1], of: block}, floor: {plane: [0, 1]}}\n"
    "contacts:\n  a: {between: [disc, floor], stiffness: k, damping: c, friction: 0.3, stiction speed: s}\n"
    "  b: {between: [box, floor], stiffness: 5*k, exponent: 1.5, friction: 0.4, stiction speed: 0.01}\n"
    "simulation: {scheme: moreau-midpoint, step: 1e-4, end: 0.4}\n";

// A block on a belt, whose friction depends on the slip and on time, held by a spring; a brake with static friction.
static const char stribeck[] =
    "carom: 1\nparameters: {m: 1, k: 100, vb: 0.2, mus: 0.4, muk: 0.2, vs: 0.05}\n"
    "coordinates: {x: {at: 0.01}, y: {at: 0.02}, z: {at: 1, rate: 2}}\n"
    "energy: {kinetic: \"1/2*m*(x'^2 + y'^2 + z'^2)\", potential: 1/2*k*x^2 + m*9.81*y + 15*z^2}\n"
    "contacts:\n  belt: {gap: y, slip rate: \"x' - vb*(1 + sin(t))\", restitution: 0.4,\n"
    "    friction: muk + (mus - muk)/(1 + (slip.speed/vs)^2) + 0.05*sin(3*t)}\n"
    "  brake: {slip: z, normal force: 5, friction: {static: 0.5, kinetic: 0.3, stribeck: 0.1}}\n"
    "simulation: {scheme: moreau-midpoint, step: 1e-3, end: 3}\n";

// A rod, two discs on a hinge with friction, which depends on its reaction, a disc that comes later and a crate: each
// strikes the floor by another law of impact.  The end is before something lies flat: how corners share an impulse is
// not unique then.
static const char laws[] =
    "carom: 1\nparameters: {e: 0.6, mu: 0.3, w: 2, c: 0.002}\ngravity: [0, -9.81]\n"
    "contact defaults: {friction: mu, restitution: e}\n"
    "bodies:\n  rod: {mass: 1, inertia: 0.02, at: [0, 0.15], angle: 0.3, spin: w, velocity: [0.5, -1]}\n"
    "  left: {mass: 0.5, inertia: 0.001, at: [0.6, 0.2], velocity: [-0.6, 0]}\n"
    "  right: {mass: 0.5, inertia: 0.001, at: [0.8, 0.3]}\n"
    "  late: {mass: 0.3, inertia: 0.001, at: [2, 0.1], velocity: [e, 1], exists while: t > 0.05}\n"
    "  crate: {mass: 1, inertia: 0.02, at: [-1, 0.15], angle: 0.2}\n"
    "joints: {hinge: {type: revolute, between: [left, right], at: [0.7, 0.25], friction: 0.2, radius: 0.02}}\n"
    "shapes: {floor: {plane: [0, 1]}, box: {box: [0.4, 0.05], of: rod}, a: {circle: 0.05, of: left}, b: {circle: "
    "0.05, of: right},\n  d: {circle: 0.05, of: late}, f: {box: [0.2, 0.2], of: crate}}\n"
    "contacts:\n  poisson: {between: [box, floor], impact law: poisson}\n"
    "  energetic: {between: [a, floor], impact law: energetic}\n"
    "  sequential: {between: [b, floor], impact order: sequential}\n"
    "  fremond: {between: [d, floor], impact law: fremond}\n"
    "  varying: {between: [f, floor], restitution: 0.8/(1 + approach.speed), friction: mu - c*normal.force}\n"
    "  across: {between: [a, box], impact law: poisson, exists while: t < 0.3}\n"
    "simulation: {scheme: moreau-midpoint, step: 1e-3, end: 0.4}\n";

static carom_sweep_def def_of(const char *text, const char *const *vary, const char *const *observe) {
    carom_sweep_def d = carom_sweep_default();
    d.model = (carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"};
    d.vary = vary;
    d.observe = observe;
    return d;
}

typedef struct done {
    carom_table t[2];
    int n;
    long alone;
} done;

static bool on_row(void *user, const carom_sweep_row *row) { return carom_journal_add(user, row); }

static done run(const carom_sweep_def *d) {
    carom_error err = {0};
    done r = {0};
    carom_sweep *s = carom_sweep_create(d, &err);
    if (!s) fail_msg("%s", err.text);
    carom_journal *book = carom_journal_create(NULL, "what", 4, &err);
    assert_non_null(book);
    assert_int_equal(carom_journal_bind(book, s, &err), CAROM_OK);
    const carom_sweep_watch watch = {.user = book, .row = on_row};
    if (carom_sweep_run(s, &watch, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_int_equal(carom_journal_tables(book, r.t, &r.n, &err), CAROM_OK);
    r.alone = carom_sweep_alone(s);
    carom_journal_destroy(book);
    carom_sweep_destroy(s);
    return r;
}

static done run_lanes(carom_sweep_def d) {
    d.lanes = CAROM_LANES_ON;
    return run(&d);
}

static void end(done *r) {
    for (int i = 0; i < 2; ++i) carom_table_free(&r->t[i]);
}

// tol 0: the same bits.
static void same_table(const carom_table *a, const carom_table *b, double tol, const char *what) {
    assert_int_equal(a->columns, b->columns);
    if (a->rows != b->rows) fail_msg("%s: %ld and %ld rows", what, a->rows, b->rows);
    for (int i = 0; i < a->columns; ++i)
        for (long k = 0; k < a->rows; ++k) {
            const carom_column *x = &a->column[i], *y = &b->column[i];
            if (x->kind == CAROM_COLUMN_INTEGER) assert_int_equal(x->integer[k], y->integer[k]);
            if (x->kind == CAROM_COLUMN_TEXT) assert_string_equal(x->text[k], y->text[k]);
            if (x->kind != CAROM_COLUMN_REAL || memcmp(&x->real[k], &y->real[k], sizeof(double)) == 0) continue;
            if (!(fabs(x->real[k] - y->real[k]) <= tol * (1 + fabs(x->real[k]))))
                fail_msg("%s: %s in row %ld: %.17g and %.17g", what, x->name, k, x->real[k], y->real[k]);
        }
}

static void same(const done *a, const done *b, double tol, const char *what) {
    assert_int_equal(a->n, b->n);
    for (int i = 0; i < a->n; ++i) same_table(&a->t[i], &b->t[i], tol, what);
}

// In lanes and one by one; as many runs as said are left to the engine.
static void agree(carom_sweep_def d, double tol, long alone, const char *what) {
    done one = run(&d), many = run_lanes(d);
    same(&one, &many, tol, what);
    if (many.alone != alone) fail_msg("%s: %ld runs were left to the engine, not %ld", what, many.alone, alone);
    end(&one);
    end(&many);
}

static const char *const of_oscillator[] = {"x",           "x'",          "impacts",  "max(abs(x))", "rms(x')",
                                            "integral(x)", "penetration", "stop.gap", NULL};

// Impacts of a gap with several parts: those of all of them, once where two are struck at once.
static void impacts_of_all_parts_agree(void **state) {
    (void)state;
    static const char walls[] = "carom: 1\nparameters: {u: 1, w: 0.3}\ncoordinates: {x: {at: 0, rate: u}, y: {at: 0, "
                                "rate: w}}\nenergy: {kinetic: \"x'^2 + y'^2\"}\n"
                                "contacts: {walls: {gap: \"1 - max(abs(x), abs(y))\", restitution: 0.9}}\nsimulation: "
                                "{scheme: moreau-midpoint, step: 0.01, end: 6}\n";
    static const char *const observed[] = {"x'", "y'", "impacts", NULL};
    carom_sweep_def d = def_of(walls, LIST("u=1,1.3,2,3", "w=0.9,1,2"), observed);
    d.section = "impact walls";
    done r = run(&d);
    assert_true(r.t[1].rows > 4 * 3 * 3); // 6/2 impacts of the slowest, in each direction
    end(&r);
    agree(d, 1e-12, 0, "walls");
}

// A wall that curves away as fast as the steps can follow is struck after a flight of 25 steps, at t = 1 with the rate
// -u.  Curvature explains approaches of up to 4 h 10 = 1.6, but no first one.
static void impacts_on_curved_walls_agree(void **state) {
    (void)state;
    static const char curved[] = "carom: 1\nparameters: {u: 1}\ncoordinates: {x: {at: 1 - u, rate: u}, y: {at: -1, "
                                 "rate: 1}}\nenergy: {kinetic: \"(x'^2 + y'^2)/2\"}\n"
                                 "contacts: {wall: {gap: 1 - x + 5*y^2, restitution: 0.5}}\nsimulation: {scheme: "
                                 "moreau-midpoint, step: 0.04, end: 1.12}\n";
    const carom_sweep_def d = def_of(curved, LIST("u=0.9,1,1.1"), LIST("x'", "y'", "impacts"));
    done r = run(&d);
    for (long k = 0; k < 3; ++k) assert_true(carom_table_column(&r.t[0], "impacts")->real[k] == 1);
    end(&r);
    agree(d, 1e-12, 0, "curved wall");
}

// Parameters of parameters, laws and initial values by parameters, sections inside steps; jobs, parts and places in a
// vector do not matter. Angles of millions of turns, which vectors leave to steps of single systems, beside small ones,
// whose bits do not depend on their neighbours.
static void far_angles_agree(void **state) {
    (void)state;
    static const char rotor[] = "carom: 1\nparameters: {a: 0}\ncoordinates: {th: {at: a, rate: 30}, x: {at: "
                                "0.1}}\nenergy: {kinetic: \"1/2*th'^2 + 1/2*x'^2\", potential: x^2}\n"
                                "forces: {th: \"if(cos(th) > 0, 20, -10)*sin(3*th)\", x: sin(th)}\ncontacts: {stop: "
                                "{gap: x + 0.3}}\nsimulation: {scheme: moreau-midpoint, step: 0.001, end: 0.5}\n";
    static const char *const observed[] = {"x", "x'", "th'", "max(sin(th))", NULL};
    const carom_sweep_def d = def_of(rotor, LIST("a=0.5,2e6,1,1.5,-3e17,2,7e6,1e17"), observed);
    agree(d, 1e-6, 0, "far angles");
    done mixed = run_lanes(d), small = run_lanes(def_of(rotor, LIST("a=0.5,1,1.5,2"), observed));
    static const long row[] = {0, 2, 3, 5};
    for (int i = 0; observed[i]; ++i)
        for (int k = 0; k < 4; ++k) {
            const double x = carom_table_column(&mixed.t[0], observed[i])->real[row[k]],
                         y = carom_table_column(&small.t[0], observed[i])->real[k];
            assert_memory_equal(&x, &y, sizeof x);
        }
    end(&small), end(&mixed);
}

static void lanes_agree_with_single_runs(void **state) {
    (void)state;
    carom_sweep_def d = def_of(oscillator, LIST("w=0.9:3:11", "e=0.3,0.7"), of_oscillator);
    d.section = "every period", d.transient = 4, d.count = 2;
    agree(d, 1e-12, 0, "driven oscillator");
    done all = run_lanes(d);
    d.jobs = 3;
    done jobs = run_lanes(d);
    same(&all, &jobs, 0, "three threads");
    end(&jobs);
    d.jobs = 1, d.part = 2, d.parts = 3;
    done part = run_lanes(d);
    const long first = (long)carom_table_column(&part.t[0], "run")->integer[0];
    for (int i = 0; of_oscillator[i]; ++i)
        for (long k = 0; k < part.t[0].rows; ++k) {
            const double x = carom_table_column(&all.t[0], of_oscillator[i])->real[first + k],
                         y = carom_table_column(&part.t[0], of_oscillator[i])->real[k];
            assert_memory_equal(&x, &y, sizeof x);
        }
    end(&part);
    end(&all);
}

static void joints_and_friction_agree(void **state) {
    (void)state;
    agree(def_of(mixture, LIST("mu=0:0.5:5", "z'=0.5,1"), LIST("x", "y'", "z", "u", "u'", "r'", "impacts")), 1e-9, 0,
          "pendulum and bead");
}

static const char *const of_clearance[] = {"slider.x", "slider.y", "rod.angle", "weight.x",
                                           "crank.wz", "impacts",  NULL};
static const char *const of_die[] = {"die.x", "die.z", "die.qx", "die.wz", "wheel.wx", "hinge.angle", "impacts", NULL};

// Bodies, joints, springs and shapes.  What differs: a mass that is in inertias as well, a coefficient, laws, starts.
static void bodies_agree(void **state) {
    (void)state;
    agree(def_of(clearance, LIST("m=0.06:0.1:3", "e=0.3,0.5"), of_clearance), 1e-11, 0, "slider-crank with clearance");
    agree(def_of(die, LIST("m=0.01,0.02", "w=3,4", "z0=0.03,0.032"), of_die), 1e-10, 0, "die and flywheel");
}

// The forces of compliant contacts are those of the model.
static void compliant_contacts_agree(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit"};
    for (int i = 0; i < 2; ++i) {
        carom_sweep_def d = def_of(compliant, LIST("k=1e4,2e4", "c=0.1,0.2", "s=0.01,0.02"),
                                   LIST("ball.x", "ball.y", "ball.angle", "block.y", "block.angle"));
        d.run.scheme = schemes[i];
        agree(d, 1e-11, 0, schemes[i]);
    }
}

// (FV-1)  Coefficients of friction by slip and time: in slip, in stick, and where one ends.
static void varying_friction_agrees(void **state) {
    (void)state;
    static const char *const schemes[] = {"half-explicit", "moreau-jean"};
    for (int i = 0; i < 2; ++i) {
        carom_sweep_def d = def_of(stribeck, LIST("mus=0.25,0.4", "vs=0.02,0.05"),
                                   LIST("x", "x'", "y", "z", "rms(x)", "impacts"));
        d.run.scheme = schemes[i];
        agree(d, 1e-11, 0, schemes[i]);
    }
    agree(def_of(stribeck, LIST("muk=0.2,-0.1"), LIST("x")), 1e-11, 1, "a negative coefficient");
}

// (FV-6)  Two coefficients of friction are in the directions.
static const char grain[] = "carom: 1\nparameters: {a: 0.1, u: 1}\ncoordinates: {x: {rate: u}, y: {rate: 0.6}, z: {at: "
                            "0.01}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 10*z}\n"
                            "contacts: {floor: {gap: z, slip: [x, y], friction: [a, 0.4], restitution: 0.3}}\n"
                            "simulation: {scheme: moreau-midpoint, step: 2e-3, end: 1}\n";
static void two_coefficients_agree(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit-rk"};
    for (int i = 0; i < 2; ++i) {
        carom_sweep_def d = def_of(grain, LIST("u=0.2,1,2"), LIST("x", "y", "x'", "y'", "impacts"));
        d.run.scheme = schemes[i];
        agree(d, 1e-11, 0, schemes[i]);
    }
}

// A mass or stiffness out of its range, and a start that joints or shapes do not allow, are the engine's.
static void bodies_that_lanes_leave(void **state) {
    (void)state;
    agree(def_of(clearance, LIST("m=0.08,-0.1"), of_clearance), 1e-11, 1, "a negative mass");
    agree(def_of(clearance, LIST("k=20,0,-1"), of_clearance), 1e-11, 2, "no spring");
    agree(def_of(clearance, LIST("y0=1e-4,-1e-4"), of_clearance), 1e-11, 1, "an overlap");
    agree(def_of(clearance, LIST("mu=0.1,0"), of_clearance), 1e-11, 0, "no friction");
}

// (IL-1) to (IL-9), (FV-4), (SW-1); sections at the time of a switch, and inside the step before it.
static carom_sweep_def laws_in(const char *scheme) {
    static const char *const sharp[] = {"newton-tol=1e-13", NULL};
    static const char *const vary[] = {"w=1,2", "mu=0.2,0.4", NULL};
    static const char *const observe[] = {"rod.x",  "rod.angle", "left.x",      "right.y",
                                          "late.x", "late.vx",   "crate.angle", NULL};
    carom_sweep_def d = def_of(laws, vary, observe);
    d.run.scheme = scheme;
    d.section = "every 0.0125", d.count = 32;
    if (strcmp(scheme, "moreau-jean") == 0) d.run.options = sharp;
    return d;
}

static void laws_agree_in(const char *scheme) { agree(laws_in(scheme), 1e-11, 0, scheme); }

static void laws_of_impact_and_parts_that_come_agree(void **state) {
    (void)state;
    laws_agree_in("moreau-midpoint");
    laws_agree_in("half-explicit");
}

// What the engine refuses is its to say; a run without its section points says so.
static void runs_that_lanes_do_not_support(void **state) {
    (void)state;
    carom_sweep_def d = def_of(oscillator, LIST("e=0.5,1.5,-0.25", "m=1,-1", "x=0.1,-0.5"), LIST("x"));
    d.run.end = 0.5;
    agree(d, 1e-12, 11, "wrong laws, masses and starts");
    static const char unused[] = "carom: 1\nparameters: {a: 1, unused: sqrt(a)}\ncoordinates: {x: {at: a^2}}\nenergy: "
                                 "{kinetic: \"1/2*x'^2\", potential: a*x}\n"
                                 "simulation: {scheme: moreau-midpoint, step: 0.1, end: 1}\n";
    agree(def_of(unused, LIST("a=-1,1"), LIST("x")), 1e-12, 1, "a parameter without a value");
    d = def_of(oscillator, LIST("F=0,0.5"), LIST("x"));
    d.model.set = LIST("s=0.1", "m=2*k");
    d.section = "x = 0.3 rising", d.count = 50, d.run.end = 0.05;
    agree(d, 1e-12, 0, "too few section points");
}

static void refused(carom_sweep_def d, const char *why) {
    carom_error err = {0};
    d.lanes = CAROM_LANES_ON;
    assert_null(carom_sweep_create(&d, &err));
    assert_int_equal(err.code, CAROM_BAD_INPUT);
    if (!strstr(err.text, why)) fail_msg("'%s' does not say '%s'", err.text, why);
    d.lanes = CAROM_LANES_AUTO;
    carom_sweep *s = carom_sweep_create(&d, &err);
    assert_non_null(s);
    assert_int_equal(carom_sweep_alone(s), -1);
    carom_sweep_destroy(s);
}

static void sweeps_that_lanes_do_not_support(void **state) {
    (void)state;
    static const char sized[] = "carom: 1\nparameters: {r: 0.1}\nbodies: {b: {mass: 1, inertia: 1, at: [0, 1]}}\n"
                                "shapes: {ball: {circle: r, of: b}, floor: {plane: [0, 1]}}\ncontacts: {on: {between: "
                                "[ball, floor]}}\nsimulation: {scheme: moreau-midpoint, step: 0.1, end: 1}\n";
    static const char own_step[] = "carom: 1\nparameters: {h: 0.1}\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: "
                                   "\"1/2*x'^2\"}\nsimulation: {scheme: moreau-midpoint, step: h, end: 1}\n";
    carom_sweep_def d = def_of(oscillator, LIST("w=1,2"), LIST("x"));
    carom_sweep_def c = d;
    c.run.scheme = "mixed";
    refused(c, "lanes do not support the scheme mixed");
    c = d, c.follow = CAROM_FOLLOW_UP;
    refused(c, "`follow`");
    c = d, c.run.adaptive = true;
    refused(c, "`adaptive`");
    c = d, c.observe = LIST("energy.impact");
    refused(c, "energy.impact");
    c = d, c.run.options = LIST("local=paper");
    refused(c, "local=paper");
    refused(def_of(oscillator, LIST("option.tol=1e-12,1e-10"), LIST("x")), "options are the same");
    refused(def_of(sized, LIST("r=0.1,0.2"), LIST("b.x")), "other values of 'r'");
    refused(def_of(grain, LIST("a=0.1,0.2"), LIST("x")), "other values of 'a'");
    static const char jumps[] = "carom: 1\nparameters: {a: 1}\ncoordinates: {x: {at: 0}}\nenergy: {kinetic: "
                                "\"1/2*x'^2\"}\nforces: {x: sign(sin(a*t))}\nsimulation: {scheme: half-explicit, "
                                "step: 0.1, end: 1}\n";
    refused(def_of(jumps, LIST("a=1,2"), LIST("x")), "the times of the jumps depend on it");
    static const char sampled[] =
        "carom: 1\nparameters: {a: 1}\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: "
        "\"1/2*x'^2\"}\nforces: {x: u}\ncontrollers: {c: {sample: 0.25, outputs: {u: -a*x}}}\n"
        "simulation: {scheme: moreau-midpoint, step: 0.1, end: 1}\n";
    refused(def_of(sampled, LIST("a=1,2"), LIST("x")), "must be whole multiples");
    refused(def_of(own_step, LIST("h=0.1,0.2"), LIST("x")), "give `step`");
    carom_error err = {0};
    d = def_of(laws, LIST("late.vx=1,2"), LIST("late.x"));
    assert_null(carom_sweep_create(&d, &err)); // one by one neither
    assert_non_null(strstr(err.text, "comes with the velocity that the model gives it"));
    d = def_of(oscillator, LIST("w=1,2"), LIST("x"));
    setenv("CC", "there-is-no-such-compiler", 1);
    refused(d, "there is no C compiler");
    unsetenv("CC");
}

// -- CUDA -------------------------------------------------------------------------------------------------------------

// The CUDA text, on the processor: the same bits as lanes.
static void cuda_text_gives_the_same(void **state) {
    (void)state;
    if (system("g++ --version >/dev/null 2>&1") != 0) skip();
    carom_sweep_def d = def_of(oscillator, LIST("w=0.9:3:5", "e=0.4,1.2"), of_oscillator);
    d.section = "every period", d.transient = 4, d.count = 2;
    done lanes = run_lanes(d);
    setenv("CAROM_NVCC", CAROM_SOURCE_DIR "/test/cuda_stub/nvcc", 1);
    d.gpu = true;
    done gpu = run(&d);
    same(&lanes, &gpu, 0, "the GPU's text");
    assert_int_equal(gpu.alone, 5);
    end(&lanes);
    end(&gpu);
    unsetenv("CAROM_NVCC");
}

static void gpu_refuses(void **state) {
    (void)state;
    carom_error err = {0};
    carom_sweep_def d = def_of(oscillator, LIST("w=1,2"), LIST("x"));
    d.gpu = true;
    setenv("CAROM_NVCC", "there-is-no-such-compiler", 1);
    assert_null(carom_sweep_create(&d, &err));
    assert_int_equal(err.code, CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "CAROM_NVCC"));
    d.section = "impact stop";
    assert_null(carom_sweep_create(&d, &err));
    assert_non_null(strstr(err.text, "`count`"));
    unsetenv("CAROM_NVCC");
}

// -- at length --------------------------------------------------------------------------------------------------------

static const char *const schemes[] = {"moreau-midpoint", "moreau-explicit", "half-explicit", "moreau-jean",
                                      "half-explicit-rk"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

static void all_schemes_agree(void **state) {
    (void)state;
    static const char *const sections[] = {"every period", "impact stop", "x = 0.1 rising", "x' = 0"};
    for (int k = 0; k < SCHEMES; ++k) {
        carom_sweep_def d = def_of(oscillator, LIST("w=0.9:3:7", "e=0.4,0.6"), of_oscillator);
        d.run.scheme = schemes[k];
        d.section = sections[k % 4], d.transient = 3;
        agree(d, 1e-11, 0, schemes[k]);
        d = def_of(mixture, LIST("mu=0:0.5:4", "d=0.2,0.7"), LIST("x", "y'", "z", "u", "u'", "impacts"));
        d.run.scheme = schemes[k];
        agree(d, 1e-8, 0, schemes[k]);
        d = def_of(puck, LIST("mu=0:0.6:4", "v=0.5,2"), LIST("x", "y", "z'", "x'", "y'"));
        d.run.scheme = schemes[k];
        agree(d, 1e-9, 0, schemes[k]);
        d = def_of(clearance, LIST("m=0.06,0.1", "k=10,30"), of_clearance);
        d.run.scheme = schemes[k];
        agree(d, 1e-11, 0, schemes[k]);
        d = def_of(die, LIST("e=0.2,0.6", "mu=0.1,0.4"), of_die);
        d.run.scheme = schemes[k];
        agree(d, 1e-9, 0, schemes[k]);
        laws_agree_in(schemes[k]);
    }
}

static void options_agree(void **state) {
    (void)state;
    carom_sweep_def d = def_of(oscillator, LIST("w=0.9:3:5"), LIST("x", "x'"));
    d.run.scheme = "moreau-jean", d.run.options = LIST("theta=1");
    agree(d, 1e-11, 0, "theta=1");
    d.run.options = LIST("theta=0");
    agree(d, 1e-11, 0, "theta=0");
    d.run.scheme = "moreau-explicit", d.run.options = LIST("forces=end");
    agree(d, 1e-11, 0, "forces=end");
    static const char *const orders[] = {"order=2", "order=3", "order=4", "order=5"};
    for (int i = 0; i < 4; ++i)
        for (int stage = 0; stage < 2; ++stage) {
            d = def_of(mixture, LIST("mu=0:0.5:4", "d=0.2,0.7"), LIST("x", "y'", "z", "u", "u'", "impacts"));
            d.run.scheme = "half-explicit-rk";
            d.run.options = LIST(orders[i], stage ? "sets=stage" : "sets=start");
            agree(d, 1e-9, 0, orders[i]);
        }
}

// -- bundled models
// -----------------------------------------------------------------------------------------------------

// Every model that comes with carom: what is varied and observed, or why lanes refuse it.  Ends are before impacts
// multiply rounding.
typedef struct bundled {
    const char *file, *vary, *observe[4];
    double end, step;
    const char *refusal;
} bundled;

#define SIZE "at most 60 rates"
#define SEARCH "contacts that a search finds"
static const bundled models[] = {
    {"arch", "thick=0.11", {"1"}, 0, 0, SIZE},
    {"arch-collapse", "thick=0.1", {"1"}, 0, 0, SIZE},
    {"balancing-cart", "m=0.2,0.21", {"x", "th", "u"}, 1.5, 1e-3, NULL},
    {"ball-in-box", "m=1,1.1", {"x", "y"}, 1, 1e-3, NULL},
    {"billiards", "m=0.2,0.21", {"white.x", "white.wz", "yellow.x"}, 0.3, 1e-3, NULL},
    {"bouncing-ball", "e=0.5,0.6", {"q", "q'"}, 2, 1e-3, NULL},
    {"bouncing-ball-b", "e=0.7,0.8", {"y", "y'"}, 1, 1e-3, NULL},
    {"bouncing-bar", "E=900", {"1"}, 0, 0, SIZE},
    {"cam-follower", "follower.y=0.03,0.0301", {"follower.y", "follower.vy"}, 0.02, 1e-4, NULL},
    {"chain", "m=0.1,0.12", {"b10.x", "b10.z", "b1.qx"}, 0.02, 1e-3, NULL},
    {"chain-drum", "m=0.05,0.06", {"k1.x", "k6.x"}, 0.05, 1e-4, NULL},
    {"compass-walker", "slope=0.009,0.0091", {"x", "a", "b"}, 4, 0.01, NULL},
    {"crawler-track", "r=0.012", {"1"}, 0, 0, SIZE},
    {"delta-robot", "stiffness=120,121", {"platform.x", "platform.z"}, 0.55, 1e-3, NULL},
    {"dominoes", "m=0.01,0.011", {"d1.angle", "d7.angle"}, 0.1, 1e-4, NULL},
    {"door-latch", "M=2,2.1", {"door.x", "bolt.y"}, 0.1, 1e-3, NULL},
    {"drum", "mu=0.5", {"1"}, 0, 0, SIZE},
    {"elastic-bar", "gap0=5.0005e-5,5.1e-5", {"1e4*bar.start.u", "1e4*bar.middle.u"}, 8e-4, 1e-6, NULL},
    {"euler-disk", "m=0.3:0.5:2", {"disk.qw", "disk.z"}, 0.1, 1e-4, NULL},
    {"falling-top", "m=0.1:0.3:2", {"top.qw", "top.z"}, 0.3, 1e-4, NULL},
    {"flexible-rod", "m1=0.5,0.6", {"slider.x", "crank.angle"}, 1e-3, 1e-6, NULL},
    {"four-bar", "crank.wz=12", {"phi", "psi"}, 0.1, 1e-3, NULL},
    {"four-bar-clearance", "w2=-3:-1:2", {"1"}, 0.05, 1e-4, NULL},
    {"gear-pair", "torque=2", {"1"}, 0, 0, SEARCH},
    {"gear-rattle", "J=1e-4:2e-4:2", {"idle.angle", "1"}, 0.05, 1e-5, NULL},
    {"geneva-drive", "driver.wz=10,10.1", {"wheel.angle", "driver.angle"}, 0.2, 2e-4, NULL},
    {"hopper", "mu=0.3", {"1"}, 0, 0, SIZE},
    {"impacting-oscillator", "w=1,1.1", {"q", "q'"}, 8, 1e-3, NULL},
    {"motor-current", "U=12,11", {"lever.angle", "i"}, 1.3, 1e-3, NULL},
    {"newtons-cradle", "m=0.1:0.2:2", {"b1.x", "b5.x"}, 0.2, 1e-4, NULL},
    {"pendulum", "J=0.1,0.12", {"x", "th"}, 0.3, 1e-4, NULL},
    {"ratchet", "torque=0.4,0.41", {"wheel.angle", "pawl.angle"}, 0.05, 1e-4, NULL},
    {"rockfall", "a=0.45", {"1"}, 0, 0, SEARCH},
    {"rocking-block", "y'=0:0.1:2", {"x", "th"}, 0.4, 1e-3, NULL},
    {"rotating-beam", "beam.angle0'=0,0.01", {"beam.end.x", "beam.end.y"}, 2e-5, 1e-6, NULL}, // explicit: unstable
    {"rotor", "T_D=100,101", {"1e4*axle.start.v", "1e4*y_B", "axle.end.rx"}, 1e-3, 5e-6, NULL},
    {"slider-crank", "c=0.0005:0.001:3", {"th1", "th2"}, 0.02, 1e-5, NULL},
    {"slider-crank-bilateral", "m3=0.076,0.08", {"th1", "th2"}, 0.02, 1e-4, NULL},
    {"slider-crank-bodies", "m3=0.05:0.1:2", {"rod.angle", "slider.x"}, 0.03, 1e-5, NULL},
    {"slider-crank-clearance", "m3=0.05:0.1:2", {"rod.angle", "slider.x"}, 0.02, 1e-5, NULL},
    {"slider-crank-frictionless", "m3=0.076,0.08", {"th1", "th3"}, 0.02, 1e-5, NULL},
    {"spinning-top", "m=0.4:0.6:2", {"top.qw", "top.qx"}, 0.2, 1e-4, NULL},
    {"stack", "m=1,1.1", {"b10.x", "ball.x"}, 0.02, 5e-4, NULL},
    {"stones", "a=0.1", {"1"}, 0, 0, SIZE},
    {"two-ball-oscillator", "y1'=0:0.1:2", {"y1", "y2"}, 0.5, 1e-4, NULL},
    {"woodpecker", "y=0:0.001:2", {"y", "bird"}, 0.2, 1e-4, NULL},
};
enum { MODELS = sizeof models / sizeof *models };

static char *text_of(const char *file) {
    char name[400], *text = calloc(1, 1 << 16);
    snprintf(name, sizeof name, "%s/models/%s.yaml", CAROM_SOURCE_DIR, file);
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

static carom_sweep_def def_of_model(const bundled *m, const char *text, const char *scheme) {
    static const char *const plain[] = {"active=current", "impulsive-step=1", NULL};
    static const char *const sharp[] = {"newton-tol=1e-13", NULL}; // first iterates differ, answers by its tolerance
    static const char *one[2], *observe[5];
    one[0] = m->vary;
    int n = 0;
    for (; n < 4 && m->observe[n]; ++n) observe[n] = m->observe[n];
    observe[n] = NULL;
    carom_sweep_def d = def_of(text, one, observe);
    d.run.scheme = scheme, d.run.end = m->end > 0 ? m->end : 0.01, d.run.step = m->step > 0 ? m->step : 1e-3;
    // the model's own options of this scheme are none of lanes
    if (strcmp(m->file, "rotor") == 0 && strcmp(scheme, "half-explicit") == 0) d.run.options = plain;
    if (strcmp(scheme, "moreau-jean") == 0) d.run.options = sharp;
    return d;
}

// No model falls out, and a new one has its line here.
static void bundled_models_are_taken_or_refused(void **state) {
    (void)state;
    DIR *folder = opendir(CAROM_SOURCE_DIR "/models");
    assert_non_null(folder);
    for (const struct dirent *e; (e = readdir(folder));) {
        const char *dot = strstr(e->d_name, ".yaml");
        int i = 0;
        while (dot && i < MODELS &&
               !(strlen(models[i].file) == (size_t)(dot - e->d_name) &&
                 strncmp(models[i].file, e->d_name, strlen(models[i].file)) == 0))
            ++i;
        if (dot && i == MODELS) fail_msg("%s is not in the list", e->d_name);
    }
    closedir(folder);
    for (int i = 0; i < MODELS; ++i) {
        char *text = text_of(models[i].file);
        for (int k = 0; k < SCHEMES; k += models[i].refusal ? SCHEMES : 1) {
            carom_error err = {0};
            const carom_sweep_def d = def_of_model(&models[i], text, schemes[k]);
            carom_sweep *s = carom_sweep_create(&d, &err);
            if (!s) fail_msg("%s, %s: %s", models[i].file, schemes[k], err.text);
            carom_lanes *l = NULL;
            const carom_status status = carom_lanes_create(s, &l, &err);
            if (!models[i].refusal && status != CAROM_OK) fail_msg("%s, %s: %s", models[i].file, schemes[k], err.text);
            if (models[i].refusal && (status == CAROM_OK || !strstr(err.text, models[i].refusal)))
                fail_msg("%s: '%s' is not '%s'", models[i].file, status == CAROM_OK ? "taken" : err.text,
                         models[i].refusal);
            carom_lanes_destroy(l);
            carom_sweep_destroy(s);
        }
        free(text);
    }
}

static double furthest(const done *a, const done *b) {
    double most = 0;
    for (int i = 0; i < a->n; ++i)
        for (int c = 0; c < a->t[i].columns; ++c)
            for (long k = 0; k < a->t[i].rows && a->t[i].column[c].kind == CAROM_COLUMN_REAL; ++k) {
                const double x = a->t[i].column[c].real[k], y = b->t[i].column[c].real[k];
                most = fmax(most, fabs(x - y) / (1 + fabs(x)));
            }
    return most;
}

static void agree_for(const char *file, const char *scheme, double end) {
    int i = 0;
    while (strcmp(models[i].file, file) != 0) ++i;
    char *text = text_of(file);
    carom_sweep_def d = def_of_model(&models[i], text, scheme);
    d.run.end = end;
    agree(d, 1e-11, 0, file);
    free(text);
}

// The matrix of moreau-jean with flexible members, whose rows are exchanged more than once.
static void exchanged_rows_agree(void **state) {
    (void)state;
    agree_for("flexible-rod", "moreau-jean", 1e-5);
}

// sign(sin(w t)) is 0 at the start, and 1 behind it.
static void values_at_the_start_alone_agree(void **state) {
    (void)state;
    agree_for("motor-current", "moreau-jean", 2e-3);
}

// In every scheme of lanes, up to rounding.  Moreau-explicit leaves runs to the engine where features end (MEX-7).
static void agree_all(bool card) {
    const char *only = getenv("LANES_MODEL"), *scheme = getenv("LANES_SCHEME");
    for (int i = 0; i < MODELS; ++i) {
        if (models[i].refusal || (only && strcmp(only, models[i].file) != 0)) continue;
        char *text = text_of(models[i].file);
        for (int k = 0; k < SCHEMES; ++k) {
            if (scheme && strcmp(scheme, schemes[k]) != 0) continue;
            carom_sweep_def d = def_of_model(&models[i], text, schemes[k]);
            done one = run(&d);
            d.gpu = card;
            done many = run_lanes(d);
            char what[100];
            snprintf(what, sizeof what, "%s, %s", models[i].file, schemes[k]);
            if (card) print_message("%s: %.1e\n", what, furthest(&one, &many));
            same(&one, &many, 1e-11, what);
            if (many.alone != 0 && k != 1) fail_msg("%s: %ld runs were left to the engine", what, many.alone);
            end(&one);
            end(&many);
        }
        free(text);
    }
}

static void bundled_models_agree(void **state) {
    (void)state;
    agree_all(false);
}

static void bundled_models_agree_on_a_card(void **state) {
    (void)state;
    agree_all(true);
}

static void laws_agree_on_a_card(void **state) {
    (void)state;
    const char *only = getenv("LANES_MODEL"), *scheme = getenv("LANES_SCHEME");
    for (int k = 0; k < SCHEMES && (!only || strcmp(only, "laws") == 0); ++k) {
        if (scheme && strcmp(scheme, schemes[k]) != 0) continue;
        carom_sweep_def d = laws_in(schemes[k]);
        done one = run(&d);
        d.gpu = true;
        done many = run_lanes(d);
        print_message("laws, %s: %.1e\n", schemes[k], furthest(&one, &many));
        same(&one, &many, 1e-11, schemes[k]);
        end(&one);
        end(&many);
    }
}

// -- nvcc -------------------------------------------------------------------------------------------------------------

static void write_text(void *user, const char *text, size_t length) {
    assert_true(fwrite(text, 1, length, user) == length);
}

static void nvcc_compiles_the_text(void **state) {
    (void)state;
    if (system("nvcc --version >/dev/null 2>&1") != 0) skip();
    static const char FILE_NAME[] = CAROM_BINARY_DIR "/test/lanes.cu";
    carom_error err = {0};
    carom_sweep_def d = def_of(mixture, LIST("mu=0:0.5:1000"), LIST("x", "impacts", "max(z)"));
    d.section = "z = 0.2 rising", d.count = 5;
    carom_sweep *s = carom_sweep_create(&d, &err);
    assert_non_null(s);
    FILE *f = fopen(FILE_NAME, "w");
    assert_non_null(f);
    assert_int_equal(carom_sweep_write_cuda(s, write_text, f, &err), CAROM_OK);
    assert_int_equal(fclose(f), 0);
    carom_sweep_destroy(s);
    assert_int_equal(system("nvcc -O1 -std=c++17 -Werror all-warnings -o '" CAROM_BINARY_DIR
                            "/test/lanes.cuda' '" CAROM_BINARY_DIR "/test/lanes.cu'"),
                     0);
    unlink(FILE_NAME);
    unlink(CAROM_BINARY_DIR "/test/lanes.cuda");
}

int main(int argc, char **argv) {
    const struct CMUnitTest quick[] = {
        cmocka_unit_test(sines_are_right_to_one_and_a_half_units),
        cmocka_unit_test(lanes_agree_with_single_runs),
        cmocka_unit_test(impacts_of_all_parts_agree),
        cmocka_unit_test(impacts_on_curved_walls_agree),
        cmocka_unit_test(far_angles_agree),
        cmocka_unit_test(joints_and_friction_agree),
        cmocka_unit_test(bodies_agree),
        cmocka_unit_test(compliant_contacts_agree),
        cmocka_unit_test(varying_friction_agrees),
        cmocka_unit_test(two_coefficients_agree),
        cmocka_unit_test(laws_of_impact_and_parts_that_come_agree),
        cmocka_unit_test(sweeps_that_lanes_do_not_support),
        cmocka_unit_test(gpu_refuses),
        cmocka_unit_test(bundled_models_are_taken_or_refused),
        cmocka_unit_test(exchanged_rows_agree),
        cmocka_unit_test(values_at_the_start_alone_agree),
    };
    const struct CMUnitTest at_length[] = {
        cmocka_unit_test(runs_that_lanes_do_not_support),
        cmocka_unit_test(bodies_that_lanes_leave),
        cmocka_unit_test(cuda_text_gives_the_same),
        cmocka_unit_test(all_schemes_agree),
        cmocka_unit_test(options_agree),
    };
    const struct CMUnitTest all[] = {cmocka_unit_test(bundled_models_agree)};
    const struct CMUnitTest card[] = {cmocka_unit_test(bundled_models_agree_on_a_card),
                                      cmocka_unit_test(laws_agree_on_a_card)};
    const struct CMUnitTest cuda[] = {cmocka_unit_test(nvcc_compiles_the_text)};
    setenv("XDG_CACHE_HOME", CAROM_BINARY_DIR "/test/cache", 1);
    if (argc > 1 && strcmp(argv[1], "long") == 0) return cmocka_run_group_tests(at_length, NULL, NULL);
    if (argc > 1 && strcmp(argv[1], "bundled") == 0) return cmocka_run_group_tests(all, NULL, NULL);
    if (argc > 1 && strcmp(argv[1], "card") == 0) return cmocka_run_group_tests(card, NULL, NULL);
    if (argc > 1 && strcmp(argv[1], "cuda") == 0) return cmocka_run_group_tests(cuda, NULL, NULL);
    return cmocka_run_group_tests(quick, NULL, NULL);
}
