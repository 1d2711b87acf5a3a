// test_equilibrium.c: states of rest with known answers, what is said where there is none, and states in files.
#define _DEFAULT_SOURCE // mkdtemp
#include "model_text.h"
#include "program.h"

static carom_equilibrium find(carom_model *m, carom_status expected, carom_error *err) {
    carom_equilibrium rest;
    const carom_status status = carom_equilibrium_find(&rest, m, NULL, err);
    if (status != expected) fail_msg("status %d instead of %d: %s", status, expected, err->text);
    if (status == CAROM_OK && !(rest.residual < 1e-10)) fail_msg("residual %g", rest.residual);
    return rest;
}

static carom_equilibrium rest_of(carom_model *m) {
    carom_error err = {0};
    return find(m, CAROM_OK, &err);
}

static const carom_equilibrium_force *force(const carom_equilibrium *r, const char *name) {
    for (int i = 0; i < r->nforce; ++i)
        if (strcmp(r->force[i].name, name) == 0) return &r->force[i];
    fail_msg("there is no force '%s'", name);
    return NULL;
}

static void drop(carom_equilibrium *r, carom_model *m) {
    carom_equilibrium_free(r);
    carom_model_destroy(m);
}

// A crate on a conveyor, held by a spring: it slides at x = mu m g/k and lies flat; friction at its base shifts the
// load: N_1 - N_2 = 2 mu m g h/w.
static void conveyor(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\ngravity: [0, -10]\nbodies: {crate: {mass: 1, inertia: 0.1, at: [0, 0.25], shape: {box: [1, 0.5]}}}\n"
        "shapes: {belt: {plane: [0, 1], surface velocity: [2, 0]}}\ncontacts: {c: {between: [crate, belt], friction: "
        "0.5}}\n"
        "loads: {s: {on: crate, force: [-10*crate.x, 0]}}\n");
    carom_equilibrium r = rest_of(m);
    assert_close(r.q[0], 0.5, 1e-9);
    assert_close(r.q[1], 0.25, 1e-12);
    assert_close(r.q[2], 0, 1e-12);
    assert_close(fabs(force(&r, "c.1.force")->value - force(&r, "c.2.force")->value), 2.5, 1e-9);
    drop(&r, m);
}

// Two balls that touch the floor at first; a spring lifts one of them by 1.4, k (2 - y) = m g.  The other one's force
// is its own weight, and moves the first nowhere.
static void one_of_two_leaves(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ngravity: [0, -10]\nshapes: {floor: {plane: [0, 1]}}\nbodies:\n  a: {mass: 1, inertia: 0.1, at: "
             "[0, 0.5], shape: {circle: 0.5}}\n"
             "  b: {mass: 1, inertia: 0.1, at: [3, 0.5], shape: {circle: 0.5}}\nloads: {s: {on: a, force: [1 - "
             "100*a.x, 100*(2 - a.y)]}, r: {on: b, force: [100*(3 - b.x), 0]}}\n"
             "contacts: {fa: {between: [a, floor], friction: 0.5}, fb: {between: [b, floor], friction: 0.5}}\n");
    carom_equilibrium r = rest_of(m);
    assert_close(r.q[0], 0.01, 1e-12), assert_close(r.q[1], 1.9, 1e-12), assert_close(r.q[3], 3, 1e-12),
        assert_close(r.q[4], 0.5, 1e-12);
    assert_close(force(&r, "fb.force")->value, 10, 1e-9);
    drop(&r, m);
}

// A pendulum that starts almost upright hangs down.
static void pendulum(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {th: 3.1}\nenergy: {kinetic: \"th'^2\", potential: -20*cos(th)}\n");
    carom_equilibrium r = rest_of(m);
    assert_close(remainder(r.q[0], 2 * acos(-1)), 0, 1e-12);
    drop(&r, m);
}

#define LADDER                                                                                                         \
    "carom: 1\nparameters: {L: 2, m: 10, g: 9.81, mu: 0.6, a: 1.1}\ncoordinates: {x: L/2*cos(a), y: L/2*sin(a), phi: " \
    "a}\n"                                                                                                             \
    "energy: {kinetic: \"1/2*m*(x'^2 + y'^2) + 1/24*m*L^2*phi'^2\", potential: m*g*y}\ncontacts:\n"                    \
    "  floor: {gap: y - L/2*sin(phi), slip: x + L/2*cos(phi), friction: mu}\n  wall: {gap: x - L/2*cos(phi), slip: y " \
    "+ L/2*sin(phi), friction: mu}\n"

// Moments about the foot: N_w tan a = m g/2 - T_w, and |T_w| <= mu N_w: m g/2/(tan a + mu) <= N_w <= m g/2/(tan a -
// mu); the floor allows more.
static void ladder(void **state) {
    (void)state;
    carom_model *m = good(LADDER);
    carom_equilibrium r = rest_of(m);
    const double half = 10 * 9.81 / 2, mu = 0.6, low = half / (tan(1.1) + mu), high = half / (tan(1.1) - mu);
    const carom_equilibrium_force *wall = force(&r, "wall.force");
    assert_int_equal(r.free, 1);
    assert_close(wall->low, low, 1e-6);
    assert_close(wall->high, high, 1e-6);
    assert_true(wall->value >= low - 1e-9 && wall->value <= high + 1e-9);
    assert_close(force(&r, "floor.force")->value + force(&r, "wall.friction")->value, 2 * half, 1e-9);
    assert_close(force(&r, "floor.friction")->value + wall->value, 0, 1e-9);
    assert_close(force(&r, "wall.friction")->low, -mu * high, 1e-6);
    drop(&r, m);
}

#define SLOPE                                                                                                          \
    "carom: 1\nparameters: {m: 2, g: 9.81, mu: %s, a: 0.4}\ncoordinates: {x: 0, y: 0}\n"                               \
    "energy: {kinetic: \"1/2*m*(x'^2 + y'^2)\", potential: m*g*(y*cos(a) + x*sin(a))}\ncontacts: {plane: {gap: y, "    \
    "slip: x, friction: mu}}\n"

// On a slope: tan 0.4 = 0.4228.  With less friction m g (sin a - mu cos a) pulls it down, and nothing holds it.
static void slope(void **state) {
    (void)state;
    char text[600];
    carom_error err = {0};
    snprintf(text, sizeof text, SLOPE, "0.43");
    carom_model *m = good(text);
    carom_equilibrium r = rest_of(m);
    assert_int_equal(r.free, 0);
    assert_close(force(&r, "plane.force")->value, 2 * 9.81 * cos(0.4), 1e-9);
    assert_close(force(&r, "plane.friction")->value, 2 * 9.81 * sin(0.4), 1e-9);
    assert_int_equal(r.contact[0], CAROM_EQUILIBRIUM_STICKS);
    drop(&r, m);
    snprintf(text, sizeof text, SLOPE, "0.3");
    m = good(text);
    r = find(m, CAROM_NOT_CONVERGED, &err);
    assert_int_equal(r.unbalanced, 0);
    assert_close(r.force_left, -2 * 9.81 * (sin(0.4) - 0.3 * cos(0.4)), 1e-9);
    assert_non_null(strstr(err.text, "'x'"));
    assert_non_null(strstr(err.text, "friction of contact 'plane'"));
    drop(&r, m);
}

// A block on a belt that runs on: friction mu m g stretches the spring, whichever way the block started.
static void belt(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nparameters: {m: 2, g: 9.81, k: 100, mu: 0.2}\ncoordinates: {x: -1, y: 0.3}\n"
                          "energy: {kinetic: \"1/2*m*(x'^2 + y'^2)\", potential: m*g*y + 1/2*k*x^2}\ncontacts: {belt: "
                          "{gap: y, slip rate: \"x' - 1\", friction: mu}}\n");
    carom_equilibrium r = rest_of(m);
    assert_close(r.q[0], 0.2 * 2 * 9.81 / 100, 1e-12);
    assert_int_equal(r.contact[0], CAROM_EQUILIBRIUM_SLIDES);
    drop(&r, m);
}

// The shipped chain starts out straight and level; at rest its ten links of 0.1 m and 0.1 kg hang below each other.
static void chain(void **state) {
    (void)state;
    carom_model *m = shipped_model("chain");
    carom_equilibrium r = rest_of(m);
    for (int i = 0; i < r.nq; ++i)
        if (strcmp(carom_model_coordinate(m, i), "b10.z") == 0) assert_close(r.q[i], -0.95, 1e-9);
    double pull = 0;
    for (int k = 1; k <= 3; ++k) {
        char name[20];
        snprintf(name, sizeof name, "j1.force%d", k);
        pull = hypot(pull, force(&r, name)->value);
    }
    assert_close(pull, 10 * 0.1 * 9.81, 1e-8);
    drop(&r, m);
}

// A parallelogram with a torsion spring: m g l cos a + k (a - a_0) = 0; one of its two closing conditions is redundant.
static void four_bar(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\nparameters: {m: 3, g: 9.81, l: 0.5, k: 20, a0: 1}\ncoordinates: {a: 1, b: 1}\n"
             "energy: {kinetic: \"1/2*m*l^2*a'^2 + 0.01*b'^2\", potential: m*g*l*sin(a) + 1/2*k*(a - a0)^2}\n"
             "constraints: {level: l*sin(a) - l*sin(b), closed: l*cos(a) - l*cos(b)}\n");
    double low = -1, high = 1;
    for (int i = 0; i < 80; ++i) {
        const double a = 0.5 * (low + high);
        if (3 * 9.81 * 0.5 * cos(a) + 20 * (a - 1) > 0) high = a;
        else low = a;
    }
    carom_equilibrium r = rest_of(m);
    assert_close(r.q[0], low, 1e-12);
    assert_close(r.q[1], low, 1e-9);
    assert_int_equal(r.free, 1);
    drop(&r, m);
}

// Two planes that differ by 2e-6 rad: their directions are almost dependent, and the forces must balance all the same.
static void almost(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: 0, y: 0.1}\nenergy: {kinetic: \"x'^2 + y'^2\", potential: "
                          "y}\ncontacts: {a: {gap: y}, b: {gap: y + 2e-6*x}}\n");
    carom_equilibrium r = rest_of(m);
    assert_close(force(&r, "a.force")->value + force(&r, "b.force")->value, 1, 1e-9);
    drop(&r, m);
}

// Nothing holds what falls; a driven joint never rests.
static void none(void **state) {
    (void)state;
    carom_error err = {0};
    carom_model *m = good("carom: 1\ncoordinates: {x: 0, y: 1}\nenergy: {kinetic: \"x'^2 + y'^2\", potential: 20*y}\n");
    carom_equilibrium r = find(m, CAROM_NOT_CONVERGED, &err);
    assert_non_null(strstr(err.text, "unbalanced force -20 on 'y'"));
    drop(&r, m);
    m = good(
        "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: \"x'^2\"}\nconstraints: {drive: x - t}\n");
    r = find(m, CAROM_NOT_CONVERGED, &err);
    assert_non_null(strstr(err.text, "'drive' depends on time"));
    drop(&r, m);
    // A cam that stands still at t = 0 and is about to move.
    m = good("carom: 1\ncoordinates: {y: 0}\nenergy: {kinetic: \"y'^2\", potential: y}\ncontacts: {cam: {gap: y - "
             "0.01*(1 - cos(10*t))}}\n");
    r = find(m, CAROM_NOT_CONVERGED, &err);
    assert_non_null(strstr(err.text, "'cam' depends on time"));
    drop(&r, m);
}

// -- the program --------------------------------------------------------------------------------------------------

#define HANGING                                                                                                        \
    "carom: 1\nparameters: {k: 50, m: 2}\ncoordinates: {y: {at: 0.4, rate: 1}}\nenergy: {kinetic: \"1/2*m*y'^2\", "    \
    "potential: 1/2*k*y^2 + m*9.81*y}\n"                                                                               \
    "simulation: {scheme: mixed, step: 0.01, end: 1}\n"

// A run from the saved state stays there; states with other names, other joints or without numbers are refused with
// exit status 2.
static void files(void **state) {
    (void)state;
    char folder[] = "/tmp/carom-equilibrium-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    put("m.yaml", HANGING);
    assert_int_equal(carom("equilibrium m.yaml --save rest.state --json"), 0);
    assert_says(out, "\"y\": -0.3924");
    assert_says(out, "\"unique\": true");
    assert_int_equal(carom("run m.yaml --start rest.state --out a.csv --every 50"), 0);
    get("a.csv", out, sizeof out);
    const char *last = strstr(out, "\n1,");
    assert_non_null(last);
    assert_close(strtod(last + 3, NULL), -2 * 9.81 / 50, 1e-14);
    // results of schemes with velocity constraints penetrate a little
    put("f.yaml", "carom: 1\ncoordinates: {x: 1, y: 0}\nenergy: {kinetic: x'^2 + y'^2, potential: y}\ncontacts: "
                  "{floor: {gap: y}}\nsimulation: {scheme: moreau-midpoint, step: 1e-3, end: 0.01}\n");
    put("deep.csv", "t,x,y,x',y'\n0,1,-5e-3,0,0\n");
    assert_int_equal(carom("run f.yaml --start deep.csv --out f.csv"), 0);
    put("deep.csv", "t,x,y,x',y'\n0,1,-2e-2,0,0\n");
    assert_int_equal(carom("run f.yaml --start deep.csv --out f.csv"), 2);
    assert_says(complaints, "the gap of 'floor' is -0.02 there");
    assert_int_equal(carom("run m.yaml --out b.h5"), 0); // on from the end of a result
    assert_int_equal(carom("run m.yaml --out b.csv"), 0);
    assert_int_equal(carom("run m.yaml --start b.h5 --out c.csv --end 0.01"), 0);
    get("b.csv", out, sizeof out);
    last = strstr(out, "\n1,");
    assert_non_null(last);
    const double end = strtod(last + 3, NULL);
    get("c.csv", out, sizeof out);
    assert_close(strtod(strstr(out, "\n0,") + 3, NULL), end, 0);
    // all runs begin there
    assert_int_equal(carom("sweep m.yaml --start rest.state --vary k=50,50 --observe 'max(y)' --out s.csv"), 0);
    get("s.csv", out, sizeof out);
    assert_says(out, "-0.39240");
    assert_int_equal(carom("sweep m.yaml --start rest.state --vary k=50,50 --observe y --lanes on --out s.csv"), 2);
    // A brake that can hold 1 N m stops a pendulum where gravity pulls with that much; its own coordinate is in no
    // file.
    put("brake.yaml",
        "carom: 1\ncoordinates: {th: {at: 1, rate: 0.2}}\nenergy: {kinetic: \"1/2*th'^2\", potential: -3*cos(th)}\n"
        "contacts: {brake: {normal force: 10, slip: th, friction: 0.1}}\nsimulation: {scheme: moreau-jean, step: 1e-3, "
        "end: 0.1}\n");
    assert_int_equal(carom("equilibrium brake.yaml --save brake.state --json"), 0);
    assert_says(out, "\"th\": 0.339836909454");
    assert_says(out, "\"forces\": {\n    \"brake.friction\": ");
    assert_int_equal(carom("run brake.yaml --start brake.state --out e.csv"), 0);
    assert_int_equal(carom("run brake.yaml --start e.csv --out f.csv"), 0);
    put("wrong.state", "t,x,x'\n0,1,0\n");
    assert_int_equal(carom("run m.yaml --start wrong.state"), 2);
    assert_says(complaints, "wrong.state has no column 'y'");
    put("nan.state", "t,y,y'\n0,nan,0\n");
    assert_int_equal(carom("run m.yaml --start nan.state"), 2);
    assert_says(complaints, "'y' is nan");
    put("no.state", "t,y,y'\n");
    assert_int_equal(carom("run m.yaml --start no.state"), 2);
    assert_says(complaints, "no rows");
    assert_int_equal(carom("run m.yaml --start missing.state"), 2);
    assert_int_equal(carom("run m.yaml --start rest.state --resume b.h5"), 2);
    put("l.yaml", LADDER);
    put("l.state", "t,x,y,phi,x',y',phi'\n0,1,-1,0,0,0,0\n");
    assert_int_equal(carom("equilibrium l.yaml --from l.state"), 2);
    assert_says(complaints, "does not fit the model: the gap of 'floor' is -1");
    // The same of a contact that a search finds: an ellipsoid above a floor, and below it.
    static const char egg[] = "carom: 1\nparameters: {z: 0}\nshapes: {floor: {plane: [0, 0, 1], at: [0, 0, z]}}\n"
                              "bodies: {egg: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 1], shape: {ellipsoid: "
                              "[0.2, 0.1, 0.1]}}}\n"
                              "contacts: {c: {between: [egg, floor]}}\n"
                              "simulation: {scheme: moreau-midpoint, step: 1e-3, end: 0.01}\n";
    put("egg.yaml", egg);
    assert_int_equal(carom("run egg.yaml --out egg.csv"), 0);
    assert_int_equal(carom("run egg.yaml --set z=0.9 --start egg.csv --out e.csv"), 0);
    assert_int_equal(carom("run egg.yaml --set z=2 --set egg.z=3 --start egg.csv"), 2);
    assert_says(complaints, "egg.csv does not fit the model: the gap of 'egg-floor' is -1.1");
    put("d.yaml",
        "carom: 1\ncoordinates: {x: {at: 3, rate: 1}}\nenergy: {kinetic: \"x'^2\"}\nconstraints: {drive: x - t - 3}\n");
    assert_int_equal(carom("equilibrium d.yaml --json"), 1);
    assert_says(out, "\"found\": false");
    assert_says(out, "\"x\": 3");
    assert_says(out, "\"forces\": {\n  }");
    // A state holds bodies that results leave out, and a result that lacks them is none; a brake has no coordinate to
    // vary.
    put("r.yaml", "carom: 1\ngravity: [0, -10]\nrecord: {bodies: [a]}\nbodies:\n  a: {mass: 1, inertia: 1, at: [0, 1], "
                  "shape: {circle: 0.1}}\n  b: {mass: 1, inertia: 1, at: [5, 1], shape: {circle: 0.1}}\n"
                  "shapes: {floor: {plane: [0, 1]}}\ncontacts: {f: {among: [a, b, floor]}, stop: {normal force: 3, "
                  "slip: a.angle, friction: 0.1}}\nsimulation: {scheme: moreau-midpoint, step: 1e-3, end: 0.01}\n");
    assert_int_equal(carom("equilibrium r.yaml --save both.state"), 0);
    assert_says(out, "b.y                      0.1");
    assert_int_equal(carom("run r.yaml --start both.state --out r.h5"), 0);
    assert_says(out, "energy       start 2, end 2");
    assert_int_equal(carom("run r.yaml --start r.h5 --out r2.h5"), 2);
    assert_says(complaints, "has no column 'b.x'");
    assert_int_equal(carom("sweep r.yaml --vary stop.press=0,1 --observe a.y"), 2);
    put("l.yaml", "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: \"x'^2\", potential: x}\n");
    assert_int_equal(carom("equilibrium l.yaml --save best.state"), 1);
    assert_says(complaints, "the best state so far is in best.state");
    assert_int_equal(carom("run l.yaml --start best.state --end 0.1 --step 0.01 --out d.csv"), 0);
    assert_int_equal(chdir("/"), 0);
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

// The range of a coordinate in the output, [low, high].
static void range_is(const char *name, double low, double high) {
    char words[60];
    double a = 0, b = 0;
    snprintf(words, sizeof words, "\"%s\": [", name);
    const char *part = strstr(out, "\"range\": {"), *at = part ? strstr(part, words) : NULL;
    if (!at || sscanf(at + strlen(words), "%lf, %lf", &a, &b) != 2) fail_msg("no range of %s in: %s", name, out);
    if (fabs(a - low) > 1e-9 || fabs(b - high) > 1e-9) fail_msg("%s: %.12g .. %.12g", name, a, b);
}

// Friction holds blocks on springs: |k x| <= mu m g; of two in a row |k x1 - k (x2 - x1)| and |k (x2 - x1)|.  On the
// parabola y = x^2/2 a bead rests where the slope, x, is at most mu.
static void sets_of_equilibria(void **state) {
    (void)state;
    put("block.yaml", "carom: 1\nparameters: {P: 0}\ncoordinates: {x: 0.3, y: 0}\nenergy: {kinetic: \"1/2*(x'^2 + "
                      "y'^2)\", potential: 9.81*y + 5*x^2 + P*x}\ncontacts: {p: {gap: y, slip: x, friction: 0.5}}\n");
    put("row.yaml", "carom: 1\ncoordinates: {x1: 0.1, y1: 0, x2: 0.2, y2: 0}\nenergy: {kinetic: \"1/2*(x1'^2 + y1'^2 + "
                    "x2'^2 + y2'^2)\", potential: 9.81*(y1 + y2) + 5*x1^2 + 5*(x2 - x1)^2}\n"
                    "contacts: {p: {gap: y1, slip: x1, friction: 0.5}, r: {gap: y2, slip: x2, friction: 0.5}}\n");
    put("bowl.yaml",
        "carom: 1\nparameters: {mu: 0.4}\ncoordinates: {x: 0.1, y: 0.005}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2)\", "
        "potential: 9.81*y}\n"
        "contacts: {bowl: {gap: (y - x^2/2)/sqrt(1 + x^2), slip rate: \"(x' + x*y')/sqrt(1 + x^2)\", friction: mu}}\n");
    put("spring.yaml", "carom: 1\ncoordinates: {x: 0.3}\nenergy: {kinetic: \"1/2*x'^2\", potential: 5*x^2 - x}\n");
    assert_int_equal(carom("equilibrium block.yaml --range x --json"), 0);
    range_is("x", -0.4905, 0.4905);
    assert_says(out, "\"unique\": false");
    assert_int_equal(carom("equilibrium block.yaml --range x,y --set P=2 --json"), 0);
    range_is("x", -0.6905, 0.2905);
    range_is("y", 0, 0);
    assert_int_equal(carom("equilibrium row.yaml --range x1,x2 --json"), 0);
    range_is("x1", -0.981, 0.981);
    range_is("x2", -1.4715, 1.4715);
    assert_int_equal(carom("equilibrium bowl.yaml --range x,y --json"), 0);
    range_is("x", -0.4, 0.4);
    assert_int_equal(carom("equilibrium spring.yaml --range x --json"), 0);
    range_is("x", 0.1, 0.1);
    assert_says(out, "\"unique\": true");
    assert_int_equal(carom("equilibrium block.yaml"), 0);
    assert_says(out, "one of a set");
    assert_int_equal(carom("equilibrium block.yaml --range z"), 2);
    assert_says(complaints, "no coordinate 'z'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_equilibria),
        cmocka_unit_test(pendulum),
        cmocka_unit_test(conveyor),
        cmocka_unit_test(one_of_two_leaves),
        cmocka_unit_test(ladder),
        cmocka_unit_test(slope),
        cmocka_unit_test(belt),
        cmocka_unit_test(chain),
        cmocka_unit_test(four_bar),
        cmocka_unit_test(almost),
        cmocka_unit_test(none),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
