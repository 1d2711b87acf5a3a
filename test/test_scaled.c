// test_scaled.c: mechanisms with lengths from 1e-6 to 1e6, masses from 1e-12 to 1e6 and other units of time, all data
// scaled consistently: every scheme computes the scaled trajectory, with the same events and the same warnings.  The
// short test has two decimal scales and powers of two; `test_scaled long` the grid; `test_scaled list [SCENE [SCHEME]]`
// prints a table.
#include "model_text.h"
#include <carom/event.h>

typedef struct unit { double M, L, T; } unit;

// positions, velocities: 'L' has the unit of a length, 'A' that of an angle; a pattern is repeated.
typedef struct scene { const char *name; int steps; double h; const char *positions, *velocities, *text; } scene;

#define UNITS "carom: 1\nparameters: {M: %.17g, L: %.17g, T: %.17g, g: 9.81*L/T^2"
static const scene scenes[] = {
    {"ball", 120, 0.01, "L", "L",
     UNITS "}\ncoordinates: {q: {at: 0.97*L}}\nenergy: {kinetic: 1/2*M*q'^2, potential: 2*M*L/T^2*q}\ncontacts: "
           "{ground: {gap: q, restitution: 1/2}}\n"},
    {"crank", 100, 2e-4, "AAA", "AAA",
     UNITS ", l1: 0.153*L, l2: 0.306*L, a: 0.05*L, b: 0.025*L, c: 0.001*L, m1: 0.038*M, m2: 0.038*M, m3: 0.076*M, J1: "
           "7.4e-5*M*L^2, J2: 5.9e-4*M*L^2, J3: 2.7e-6*M*L^2}\n"
           "coordinates: {th1: {rate: 150/T}, th2: {rate: -75/T}, th3: 0}\n"
           "let: {x2: l1*cos(th1) + l2/2*cos(th2), y2: l1*sin(th1) + l2/2*sin(th2), x3: l1*cos(th1) + l2*cos(th2), y3: "
           "l1*sin(th1) + l2*sin(th2)}\n"
           "energy: {kinetic: \"1/2*(J1 + m1*l1^2/4)*th1'^2 + 1/2*J2*th2'^2 + 1/2*m2*(x2'^2 + y2'^2) + 1/2*J3*th3'^2 + "
           "1/2*m3*(x3'^2 + y3'^2)\", potential: g*(m1*l1/2*sin(th1) + m2*y2 + m3*y3)}\n"
           "contact defaults: {restitution: 0.4, friction: 0.01}\n"
           "contacts: {corner1: {gap: b + c - y3 + a*sin(th3) - b*cos(th3), slip: x3 - a*cos(th3) - b*sin(th3)}, "
           "corner2: {gap: b + c - y3 - a*sin(th3) - b*cos(th3), slip: x3 + a*cos(th3) - b*sin(th3)},\n"
           "  corner3: {gap: b + c + y3 - a*sin(th3) - b*cos(th3), slip: x3 - a*cos(th3) + b*sin(th3)}, corner4: {gap: "
           "b + c + y3 + a*sin(th3) - b*cos(th3), slip: x3 + a*cos(th3) + b*sin(th3)}}\n"},
    {"crank of bodies", 80, 2e-4, "LLA", "LLA",
     UNITS ", l1: 0.153*L, l2: 0.306*L}\ngravity: [0, -g]\nbodies: {crank: {mass: 0.038*M, inertia: 7.4e-5*M*L^2, at: "
           "[l1/2, 0], spin: 150/T}, rod: {mass: 0.038*M, inertia: 5.9e-4*M*L^2, at: [l1 + l2/2, 0]},\n"
           "  slider: {mass: 0.076*M, inertia: 2.7e-6*M*L^2, at: [l1 + l2, 0]}}\n"
           "joints: {main: {type: revolute, between: [ground, crank], at: [0, 0]}, big: {type: revolute, between: "
           "[crank, rod], at: [l1, 0]}, small: {type: revolute, between: [rod, slider], at: [l1 + l2, 0]},\n"
           "  guide: {type: prismatic, between: [ground, slider], at: [0, 0], axis: [1, 0]}}\n"
           "contacts: {stop: {gap: slider.x - 0.4*L, restitution: 0.3}}\n"},
    {"woodpecker", 100, 2e-4, "LAA", "LAA",
     UNITS ", mM: 3e-4*M, JM: 5e-9*M*L^2, mS: 4.5e-3*M, JS: 7e-7*M*L^2, c: 5.6e-3*M*L^2/T^2, r0: 2.5e-3*L, rM: "
           "3.1e-3*L, hM: 5.8e-3*L, lM: 0.01*L, lG: 0.015*L, hS: 0.02*L, lS: 0.0201*L}\n"
           "coordinates: {y: {rate: -0.3411*L/T}, sleeve: {at: -(rM - r0)/hM}, bird: {at: -0.2788, rate: -7.4583/T}}\n"
           "energy: {kinetic: \"1/2*mM*y'^2 + 1/2*JM*sleeve'^2 + 1/2*mS*(y' + lM*sleeve' + lG*bird')^2 + "
           "1/2*JS*bird'^2\", potential: mM*g*y + mS*g*(y + lM*sleeve + lG*bird) + 1/2*c*(sleeve - bird)^2}\n"
           "contact defaults: {friction: 0.3}\n"
           "contacts: {beak: {gap: lM + lG - lS - r0 - hS*bird, slip: y + lM*sleeve + (lG - lS)*bird, restitution: "
           "0.5}, lower: {gap: rM - r0 + hM*sleeve, slip: y + rM*sleeve}, upper: {gap: rM - r0 - hM*sleeve, slip: y + "
           "rM*sleeve}}\n"},
    {"block", 100, 4e-3, "LLA", "LLA",
     UNITS ", w: L, k: 1.5*L, J: M*(w^2 + k^2)/12}\ncoordinates: {x: {}, y: {at: L}, th: {at: 0.2}}\nenergy: {kinetic: "
           "\"1/2*M*(x'^2 + y'^2) + 1/2*J*th'^2\", potential: M*g*y}\n"
           "contact defaults: {restitution: 1/2}\ncontacts: {right: {gap: y - k/2*cos(th) + w/2*sin(th)}, left: {gap: "
           "y - k/2*cos(th) - w/2*sin(th)}}\n"},
    {"clearance", 60, 1e-4, "LLA", "LLA",
     UNITS ", l1: 0.1*L, l2: 0.3*L, l3: 0.25*L, l0: 0.3*L, r: 0.01*L, play: 5e-4*L, phi: 0.51216119318615, psi: "
           "1.7253864163355364, w2: 2*cos(psi)/(0.3*sin(psi - phi))/T, w3: 2*cos(phi)/(0.25*sin(psi - phi))/T}\n"
           "gravity: [0, -g]\nbodies: {crank: {mass: 0.3*M, inertia: 4e-4*M*L^2, at: [0, l1/2], angle: pi/2, spin: "
           "20/T, shapes: {pin: {circle: r, at: [l1/2, 0]}}},\n"
           "  coupler: {mass: 0.6*M, inertia: 4e-3*M*L^2, at: [l2/2*cos(phi), l1 + l2/2*sin(phi) - play/2], angle: "
           "phi, velocity: [-2*L/T - w2*l2/2*sin(phi), w2*l2/2*cos(phi)], spin: w2,\n"
           "    shapes: {one: {hole: r + play, at: [-l2/2, 0]}, two: {hole: r + play, at: [l2/2, 0]}}},\n"
           "  rocker: {mass: 0.5*M, inertia: 3e-3*M*L^2, at: [(l0 + l2*cos(phi))/2, (l1 + l2*sin(phi))/2], angle: psi, "
           "spin: w3, shapes: {pin: {circle: r, at: [l3/2, 0]}}}}\n"
           "joints: {main: {type: revolute, between: [ground, crank], at: [0, 0], motion: 20/T*t}, swing: {type: "
           "revolute, between: [ground, rocker], points: [[l0, 0], [-l3/2, 0]]}}\n"
           "contact defaults: {restitution: 0.3, friction: 0.05}\ncontacts: {big: {between: [crank.pin, coupler.one]}, "
           "small: {between: [rocker.pin, coupler.two]}}\n"},
    {"chain on a drum", 35, 2e-3, "LLA", "LLA",
     UNITS
     ", l: 0.06*L, r: 0.008*L, m: 0.05*M, J: m*l^2/10}\ngravity: [0, -g]\nshapes: {drum: {circle: 0.05*L, at: [0.12*L, "
     "-0.08*L]}}\n"
     "bodies: {a: {mass: m, inertia: J, at: [0.5*l, 0], shape: {capsule: [r, l]}}, b: {mass: m, inertia: J, at: "
     "[1.5*l, 0], shape: {capsule: [r, l]}}, c: {mass: m, inertia: J, at: [2.5*l, 0], shape: {capsule: [r, l]}},\n"
     "  d: {mass: m, inertia: J, at: [3.5*l, 0], shape: {capsule: [r, l]}}}\n"
     "joints: {p: {type: revolute, between: [ground, a], at: [0, 0]}, q: {type: revolute, between: [a, b], at: [l, "
     "0]}, s: {type: revolute, between: [b, c], at: [2*l, 0]}, u: {type: revolute, between: [c, d], at: [3*l, 0]}}\n"
     "contacts: {whip: {between: [[a, b, c, d], drum], restitution: 0.1, friction: 0.3}}\n"},
    {"rattle", 80, 2e-4, "LLA", "LLA",
     UNITS
     ", r1: 0.03*L, r2: 0.04*L, play: 2e-4*L, speed: 80/T, wobble: 0.02, w: 160/T}\n"
     "bodies: {idle: {mass: 0.2*M, inertia: 1e-4*M*L^2, at: [r1 + r2, 0], spin: -r1/r2*(speed + wobble*w)}}\njoints: "
     "{axle: {type: revolute, between: [ground, idle], at: [r1 + r2, 0]}}\n"
     "let: {lead: r1*(speed*t + wobble*sin(w*t)) + r2*axle.angle}\nforces: {idle.wz: -2e-4*M*L^2/T*idle.wz}\n"
     "contact defaults: {restitution: 0.7}\ncontacts: {front: {gap: play/2 - lead}, back: {gap: play/2 + lead}}\n"},
    {"spring pendulum", 100, 0.01, "LA", "LA",
     UNITS "}\ncoordinates: {r: {at: 1.1*L}, a: {at: 0.6}}\nenergy: {kinetic: \"1/2*M*(r'^2 + r^2*a'^2)\", potential: "
           "20*M/T^2*(r - L)^2 - M*g*r*cos(a)}\n"
           "contacts: {far: {gap: 1.3*L - r, restitution: 0.6}, side: {gap: r*sin(a) + 0.2*L, slip: -r*cos(a), "
           "friction: 0.2, restitution: 0.5}}\n"},
    {"spatial box", 60, 5e-3, "LLLAAAA", "LLLAAA",
     UNITS
     "}\ngravity: [0, 0, -g]\nbodies: {a: {mass: 2*M, inertia: [0.2*M*L^2, 0.3*M*L^2, 0.4*M*L^2], at: [0, 0, 0.8*L], "
     "axis: [1, 2, 0.5], angle: 0.4, velocity: [L/T, 0, -L/T], spin: [1/T, -2/T, 0.5/T], shape: {box: [L, 0.8*L, "
     "0.6*L]}}}\n"
     "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {f: {between: [a, floor], friction: 0.4, restitution: 0.3}}\n"},
    {"brake", 100, 0.01, "LLA", "LLA",
     UNITS "}\nbodies: {wheel: {mass: M, inertia: 0.2*M*L^2, at: [0.1*L, 0], spin: 3/T}, sled: {mass: 2*M, inertia: "
           "0.1*M*L^2, at: [0, L], velocity: [0.7*L/T, 0]}}\ngravity: [0, -g]\n"
           "joints: {axle: {type: revolute, between: [ground, wheel], at: [0, 0]}, rail: {type: prismatic, between: "
           "[ground, sled], at: [0, L], axis: [1, 0]}}\n"
           "contacts: {shoe: {joint: axle, radius: 0.1*L, friction: 0.3, normal force: 40*M*L/T^2}, guide: {joint: "
           "rail, friction: 0.1}, pad: {normal force: 2*M*L/T^2, slip: sled.x, friction: 0.1}}\n"},
    {"bearing", 100, 0.01, "LLLLALLA", "LLLLALLA",
     UNITS "}\ngravity: [0, -g]\nbodies: {a: {mass: M, inertia: 0.1*M*L^2, at: [0.5*L, 0]}, b: {mass: 2*M, inertia: "
           "0.2*M*L^2, at: [1.5*L, 0]}}\n"
           "joints: {p: {type: revolute, between: [ground, a], at: [0, 0]}, r: {type: revolute, between: [a, b], at: "
           "[L, 0]}}\ncontacts: {fp: {joint: p, radius: 0.05*L, friction: 0.3}, fr: {joint: r, radius: 0.05*L, "
           "friction: 0.3}}\n"},
    {"driven", 80, 5e-3, "LLA", "LLA",
     UNITS "}\ngravity: [0, -g]\nbodies: {a: {mass: M, inertia: 0.1*M*L^2, at: [0.5*L, 0], spin: 3/T}, b: {mass: 2*M, "
           "inertia: 0.2*M*L^2, at: [1.5*L, 0], shape: {circle: 0.2*L}}}\n"
           "joints: {p: {type: revolute, between: [ground, a], at: [0, 0], motion: 3*t/T + 0.2*sin(5*t/T)}, r: {type: "
           "revolute, between: [a, b], at: [L, 0]}}\nshapes: {floor: {plane: [0, 1], at: [0, -0.4*L]}}\n"
           "springs: {s: {between: [ground, b], points: [[0, L], [0, 0]], stiffness: 40*M/T^2, damping: M/T, length: "
           "L}}\ncontacts: {f: {between: [b, floor], friction: 0.3, restitution: 0.3}}\n"},
    {"energetic", 120, 5e-3, "LLA", "LLA",
     UNITS "}\ngravity: [0, -g]\nshapes: {w0: {plane: [0, 1]}, w1: {plane: [-1, 0], at: [1.52*L, 0]}}\n"
           "bodies: {a: {mass: 0.099*M, inertia: 0.0013*M*L^2, at: [-0.737*L, 1.17*L], angle: -0.48, shape: {capsule: "
           "[0.0773*L, 0.237*L]}}, b: {mass: 0.017*M, inertia: 0.00019*M*L^2, at: [-0.0214*L, 0.989*L], angle: 0.219, "
           "shape: {box: [0.344*L, 0.13*L]}}}\n"
           "joints: {j: {type: revolute, between: [a, b], at: [-0.379*L, 1.079*L]}}\ncontacts: {c: {between: [[a, b], "
           "[w0, w1]], restitution: 0.3, friction: 0.1, impact law: energetic}}\n"},
    {"poisson", 120, 5e-3, "LLA", "LLA",
     UNITS "}\ngravity: [0, -g]\nshapes: {w0: {plane: [0, 1]}}\n"
           "bodies: {a: {mass: 0.099*M, inertia: 0.0013*M*L^2, at: [-0.737*L, 1.17*L], angle: -0.48, shape: {capsule: "
           "[0.0773*L, 0.237*L]}}, b: {mass: 0.017*M, inertia: 0.00019*M*L^2, at: [-0.0214*L, 0.989*L], angle: 0.219, "
           "shape: {box: [0.344*L, 0.13*L]}}}\n"
           "joints: {j: {type: revolute, between: [a, b], at: [-0.379*L, 1.079*L]}}\ncontacts: {c: {between: [[a, b], "
           "w0], restitution: 0.3, friction: 0.1, impact law: poisson}}\n"},
    {"compliant", 100, 1e-3, "LLA", "LLA",
     UNITS "}\ngravity: [0, -g]\nbodies: {b: {mass: 2*M, inertia: 0.3*M*L^2, at: [0, 0.62*L], angle: 0.3, velocity: "
           "[L/T, -L/T], spin: -1/T, shape: {box: [L, 0.6*L]}}}\nshapes: {floor: {plane: [0, 1]}}\n"
           "contacts: {c: {between: [b, floor], stiffness: 3e4*M/T^2/L^0.5, exponent: 1.5, damping: 0.2*T/L, friction: "
           "0.4, stiction speed: 0.01*L/T}}\n"},
    {"beam", 60, 2e-4, "LLA", "LLA",
     UNITS "}\nflexible: {beam: {type: beam, length: L, elements: 4, density: 7800*M/L^3, area: 1e-4*L^2, inertia: "
           "1e-9*L^4, modulus: 2.1e7*M/L/T^2, fix: start, gravity: [0, -g], rate: {w: -2*s/T}}}\n"
           "contacts: {stop: {gap: beam.end.w + 0.01*L, restitution: 0.5}}\n"},
    {"distance", 60, 5e-3, "LLLAAAA", "LLLAAA",
     UNITS "}\ngravity: [0, 0, -g]\nbodies: {a: {mass: M, inertia: [0.1*M*L^2, 0.1*M*L^2, 0.02*M*L^2], at: [0.5*L, 0, "
           "0], spin: [0, 2/T, 9/T]}, b: {mass: 0.5*M, inertia: [0.02*M*L^2, 0.02*M*L^2, 0.02*M*L^2], at: [L, 0.3*L, "
           "0], shape: {sphere: 0.1*L}}}\n"
           "joints: {p: {type: spherical, between: [ground, a], at: [0, 0, 0]}, r: {type: universal, between: [a, b], "
           "at: [L, 0, 0], axis: [[0, 1, 0], [0, 0, 1]]}}\n"
           "shapes: {floor: {plane: [0, 0, 1], at: [0, 0, -0.5*L]}}\ncontacts: {f: {between: [b, floor], friction: "
           "0.3, restitution: 0.4, impact law: energetic}}\n"},
};

enum { SCENES = sizeof scenes / sizeof *scenes, STEPS = 120, MOST = 16 };

typedef struct track {
    int n;
    long impacts;
    char warnings[200], error[300];
    double q[STEPS][MOST], v[STEPS][MOST];
} track;

static carom_model *make(const scene *s, unit u, carom_error *err) {
    char text[4000];
    snprintf(text, sizeof text, s->text, u.M, u.L, u.T);
    return model_of(text, err);
}

static void run(track *t, const scene *s, unit u, const carom_scheme *scheme, const char *const *options) {
    *t = (track){.n = -1};
    carom_error err = {0};
    carom_model *m = make(s, u, &err);
    if (!m) {
        snprintf(t->error, sizeof t->error, "%.299s", err.text);
        return;
    }
    carom_sim_def d = sim_def(m, scheme->name, options, s->h * u.T, s->steps * s->h * u.T);
    carom_sim *sim = carom_sim_create(&d, &err);
    const int nq = d.system->nq, nv = d.system->nv, pq = (int)strlen(s->positions), pv = (int)strlen(s->velocities);
    assert_true(nq <= MOST && nv <= MOST);
    for (t->n = sim ? 0 : -1; sim && t->n < s->steps && carom_sim_step(sim, &err) == CAROM_OK; ++t->n) {
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < nq; ++i) t->q[t->n][i] = now.q[i] / (s->positions[i % pq] == 'L' ? u.L : 1);
        for (int i = 0; i < nv; ++i) t->v[t->n][i] = now.v[i] / (s->velocities[i % pv] == 'L' ? u.L : 1) * u.T;
    }
    if (sim && t->n < s->steps) snprintf(t->error, sizeof t->error, "%.299s", err.text);
    carom_ledger ledger;
    carom_warning list[CAROM_WARNINGS];
    if (sim && carom_sim_ledger(sim, &ledger, &err) == CAROM_OK) {
        t->impacts = ledger.impacts;
        const int n = carom_sim_warnings(sim, &ledger, list);
        for (int i = 0; i < n; ++i) snprintf(t->warnings + strlen(t->warnings), 40, "%s ", list[i].kind);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// The largest difference between two tracks, of lengths and angles, over the largest of each; *row: where it passes
// 1e-8.
static double apart(const track *a, const track *b, const scene *s, int *row) {
    const int pq = (int)strlen(s->positions), pv = (int)strlen(s->velocities);
    double size[4] = {0}, most = 0;
    *row = -1;
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < a->n && k < b->n; ++k) {
            double d[4] = {0};
            for (int i = 0; i < MOST; ++i) {
                const int kq = s->positions[i % pq] == 'L', kv = 2 + (s->velocities[i % pv] == 'L');
                d[kq] = fmax(d[kq], fabs(a->q[k][i] - (pass ? b->q[k][i] : 0)));
                d[kv] = fmax(d[kv], fabs(a->v[k][i] - (pass ? b->v[k][i] : 0)));
            }
            for (int j = 0; j < 4; ++j)
                if (!pass) size[j] = fmax(size[j], d[j]);
                else if (d[j] > 0) most = fmax(most, d[j] / size[j]);
            if (most > 1e-8 && *row < 0) *row = k;
        }
    return a->n == b->n ? most : INFINITY;
}

static const char *only_scene, *only_scheme;

// Sizes of energies that warnings compare with still count radians as metres.
static bool warns_by_units(const scene *s, const carom_scheme *scheme) {
    return (strcmp(s->name, "spring pendulum") == 0 || strcmp(s->name, "crank") == 0) &&
           scheme->promises.forces == CAROM_AT_START;
}

static int compare(const track *a, const scene *s, unit u, const carom_scheme *scheme, double tol) {
    static track b;
    int row;
    run(&b, s, u, scheme, NULL);
    const double d = apart(a, &b, s, &row);
    const bool events = a->impacts != b.impacts,
               warned = strcmp(a->warnings, b.warnings) != 0 && !warns_by_units(s, scheme);
    if (d <= tol && !events && !warned) return 0;
    print_error("%-16s %-26s M %-6.0e L %-6.0e T %-6.0e: %.1e", s->name, scheme->name, u.M, u.L, u.T, d);
    if (row >= 0) print_error(" from row %d", row);
    if (events) print_error(", impacts %ld, %ld", a->impacts, b.impacts);
    if (warned) print_error(", warnings '%s', '%s'", a->warnings, b.warnings);
    if (*b.error) print_error(", %s", b.error);
    print_error("\n");
    return 1;
}

static int try(const unit *units, int n, double tol) {
    int wrong = 0;
    static track a;
    for (int k = 0; k < SCENES; ++k)
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
            if ((only_scene && strcmp(only_scene, scenes[k].name) != 0) ||
                (only_scheme && strcmp(only_scheme, (*s)->name) != 0))
                continue;
            run(&a, &scenes[k], (unit){1, 1, 1}, *s, NULL);
            if (a.n < 0) continue;
            if (a.n < scenes[k].steps) print_error("%s, %s: %s\n", scenes[k].name, (*s)->name, a.error);
            for (int j = 0; j < n; ++j) wrong += compare(&a, &scenes[k], units[j], *s, tol);
        }
    return wrong;
}

static const unit short_units[] = {{1e-12, 1e-6, 1}, {1e6, 1e6, 1e-3}};
static const unit binary_units[] = {{0x1p-40, 1, 1}, {1, 0x1p-20, 1}, {1, 0x1p20, 1}, {1, 1, 0x1p10}};

static void scaled_models_move_alike(void **state) {
    (void)state;
    const int wrong = try(short_units, 2, 1e-8);
    if (wrong) fail_msg("%d differ", wrong);
}

static void the_grid_moves_alike(void **state) {
    (void)state;
    static const double lengths[] = {1e-6, 1e-3, 1, 1e3, 1e6}, masses[] = {1e-12, 1e-6, 1, 1e6}, times[] = {1, 1e-3};
    unit units[40];
    int n = 0;
    for (int l = 0; l < 5; ++l)
        for (int m = 0; m < 4; ++m)
            for (int t = 0; t < 2; ++t) units[n++] = (unit){masses[m], lengths[l], times[t]};
    const int wrong = try(units, n, 1e-8);
    if (wrong) fail_msg("%d differ", wrong);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "list") == 0) {
        only_scene = argc > 2 && *argv[2] ? argv[2] : NULL, only_scheme = argc > 3 && *argv[3] ? argv[3] : NULL;
        printf("decimal:\n"), fflush(stdout);
        const int decimal = try(short_units, 2, 1e-8);
        if (argc > 4) return decimal > 0;
        printf("binary:\n"), fflush(stdout);
        const int binary = try(binary_units, 4, 0);
        printf("%d and %d differ\n", decimal, binary);
        return 0;
    }
    const struct CMUnitTest quick[] = {cmocka_unit_test(scaled_models_move_alike)},
                            grid[] = {cmocka_unit_test(the_grid_moves_alike)};
    return argc > 1 && strcmp(argv[1], "long") == 0 ? cmocka_run_group_tests(grid, NULL, NULL)
                                                    : cmocka_run_group_tests(quick, NULL, NULL);
}
