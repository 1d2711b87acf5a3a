// test_scales.c: results know no units and no frame.  With masses, lengths or times in other units, by powers of two,
// every scheme gives the same motion to the bit; in a frame that moves steadily, the same motion beside its own.  And
// the start is a step like others.
//
// A threshold without its unit, a force that was not divided by a mass or a step that a formula lacks shows in other
// units, a wrong velocity of what moves by itself in another frame, whatever the model does.
#include "ignoring.h"
#include "model_text.h"
#include "problems.h"
#include "contact/energetic.h"
#include <carom/event.h>

typedef struct unit { double M, L, T; } unit;
static const unit one = {1, 1, 1}, others[] = {{0x1p12, 1, 1}, {0x1p-9, 1, 0x1p-4}, {1, 0x1p-7, 0x1p3}};

// positions, velocities: 'L' has the unit of a length, 'A' that of an angle.  A scene with both is not tried with other
// lengths: errors are measured together.
typedef struct scene { const char *name; int steps; const char *positions, *velocities, *text; } scene;

#define UNITS "carom: 1\nparameters: {M: %.17g, L: %.17g, T: %.17g, g: 9.81*L/T^2}\n"
static const scene scenes[] = {
    {"box", 40, "LLA", "LLA",
     UNITS "gravity: [0, -g]\nbodies: {b: {mass: 2*M, inertia: 0.3*M*L^2, at: [0, 0.7*L], angle: 0.2, velocity: "
           "[2*L/T, -L/T], spin: -1/T, shape: {box: [L, 0.6*L]}}}\n"
           "shapes: {floor: {plane: [0, 1]}}\ncontacts: {c: {between: [b, floor], friction: 0.4, restitution: 0.5}}\n"},
    {"chain", 40, "LLALLA", "LLALLA",
     UNITS
     "gravity: [0, -g]\nbodies: {a: {mass: M, inertia: 0.1*M*L^2, at: [0.5*L, 0]}, b: {mass: 2*M, inertia: 0.2*M*L^2, "
     "at: [1.5*L, 0], velocity: [0, -2*L/T], spin: -4/T}}\n"
     "joints: {p: {type: revolute, between: [ground, a], at: [0, 0]}, r: {type: revolute, between: [a, b], at: [L, "
     "0]}}\n"
     "springs: {s: {between: [ground, b], points: [[0, L], [2*L, 0]], stiffness: 40*M/T^2, damping: M/T, length: L}}\n"
     "contacts: {stop: {gap: b.y + 0.4*L, slip: b.x, friction: 0.3, restitution: 0.3}}\n"},
    {"stones", 18, "LLLAAAALLLAAAA", "LLLAAALLLAAA",
     UNITS "gravity: [0, 0, -g]\nbodies: {a: {mass: 2*M, inertia: [0.2*M*L^2, 0.3*M*L^2, 0.4*M*L^2], at: [0, 0, "
           "0.55*L], shape: {box: [L, L, L]}},\n"
           "  b: {mass: M, inertia: [0.1*M*L^2, 0.1*M*L^2, 0.1*M*L^2], at: [0.1*L, 0, 1.4*L], velocity: [L/T, 0.5*L/T, "
           "0], spin: [0, 3/T, 1/T], shape: {sphere: 0.3*L}}}\n"
           "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {f: {between: [a, floor], friction: 0.4}, c: {between: [b, "
           "a], friction: 0.2, restitution: 0.4}}\n"},
    {"belt", 40, "LL", "LL",
     UNITS "coordinates: {x: 0, y: {at: 0.02*L}}\nenergy: {kinetic: M/2*(x'^2 + y'^2), potential: M*g*y + "
           "3*M/T^2*x^2}\nforces: {x: -0.1*M/T*x'}\n"
           "contacts: {belt: {gap: y, slip: x - 2*L/T*t, friction: 0.2, restitution: 0.5}}\n"},
};

static carom_model *make(const scene *s, unit u) {
    char text[2000];
    snprintf(text, sizeof text, s->text, u.M, u.L, u.T);
    return good(text);
}

enum { STEPS = 40 };

typedef struct track { int n; double q[STEPS][14], v[STEPS][12]; } track;

static track run(const scene *s, unit u, const carom_scheme *scheme) {
    track t = {.n = -1};
    carom_model *m = make(s, u);
    carom_error err = {0};
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m), d.schemes = carom_schemes(), d.scheme = scheme->name, d.h = 0.01 * u.T,
    d.t_end = s->steps * d.h;
    d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, &err);
    for (t.n = sim ? 0 : -1; sim && t.n < s->steps && carom_sim_step(sim, &err) == CAROM_OK; ++t.n) {
        for (int i = 0; i < d.system->nq; ++i)
            t.q[t.n][i] = carom_sim_now(sim).q[i] / (s->positions[i] == 'L' ? u.L : 1);
        for (int i = 0; i < d.system->nv; ++i)
            t.v[t.n][i] = carom_sim_now(sim).v[i] / (s->velocities[i] == 'L' ? u.L : 1) * u.T;
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return t;
}

// The largest difference between two tracks over the size of the first; rows where both ended early count.
static double apart(const track *a, const track *b, int *row) {
    double most = 0;
    for (*row = 0; *row < a->n && *row < b->n; ++*row) {
        const double *x = a->q[*row], *y = b->q[*row]; // q and v of a row: their difference and their size
        double size = 0, d = 0;
        for (int i = 0; i < 14; ++i) size = fmax(size, fabs(x[i])), d = fmax(d, fabs(x[i] - y[i]));
        for (int i = 0; i < 12; ++i)
            size = fmax(size, fabs(a->v[*row][i])), d = fmax(d, fabs(a->v[*row][i] - b->v[*row][i]));
        most = fmax(most, d / size);
        if (most > 1e-7) return most;
    }
    return a->n == b->n ? most : INFINITY;
}

static void units_change_no_bit(void **state) {
    (void)state;
    int pairs = 0, wrong = 0, row;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k)
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
            const track a = run(&scenes[k], one, *s);
            if (a.n < 0) continue;
            ++pairs;
            assert_int_equal(a.n, scenes[k].steps);
            for (size_t j = 0; j < sizeof others / sizeof *others; ++j) {
                if (others[j].L != 1 && strchr(scenes[k].positions, 'A')) continue;
                const track b = run(&scenes[k], others[j], *s);
                const double d = apart(&a, &b, &row);
                // Rows of one matrix of ggl-alpha have several units: its pivots are others.
                if (d <= (strcmp((*s)->name, "ggl-alpha") == 0 ? 1e-8 : 0)) continue;
                ++wrong;
                print_error("%s, %s, masses by %g, lengths by %g, times by %g: row %d differs, %g\n", scenes[k].name,
                            (*s)->name, others[j].M, others[j].L, others[j].T, row, d);
            }
        }
    assert_true(pairs > 60);
    if (wrong) fail_msg("%d differ", wrong);
}

// A body slides and bounces on a floor, hits a wall, and pulls another one on a rail; all of it in a frame that moves
// with (U, V).
static const char moving[] = "carom: 1\nparameters: {U: %.17g, V: %.17g}\ncoordinates: {x: {rate: 2 + U}, y: {at: "
                             "0.02, rate: V}, z: {at: 0.3, rate: U}}\n"
                             "energy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 9.81*y + 20*(x + 0.3 - "
                             "z)^2}\nconstraints: {rail: z - 0.3 - U*t}\n"
                             "contacts: {floor: {gap: y - V*t, slip: x - U*t, friction: 0.2, restitution: 0.5}, wall: "
                             "{gap: 0.2 + U*t - x, slip: y - V*t, friction: 0.1, restitution: 0.3}}\n";

static track run_moving(double U, double V, const carom_scheme *scheme) {
    track t = {.n = -1};
    char text[1000];
    snprintf(text, sizeof text, moving, U, V);
    carom_model *m = good(text);
    carom_error err = {0};
    carom_sim_def d = sim_def(m, scheme->name, NULL, 0.01, 0.4);
    carom_sim *sim = carom_sim_create(&d, &err);
    for (t.n = sim ? 0 : -1; sim && !carom_sim_done(sim) && carom_sim_step(sim, &err) == CAROM_OK; ++t.n)
        for (int i = 0; i < 3; ++i) {
            const carom_now now = carom_sim_now(sim);
            const double of = i == 1 ? V : U;
            t.q[t.n][i] = now.q[i] - of * now.t, t.v[t.n][i] = now.v[i] - of;
        }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return t;
}

static void steady_frames_change_nothing(void **state) {
    (void)state;
    int pairs = 0, wrong = 0, row;
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        const track a = run_moving(0, 0, *s), b = run_moving(1.5, -0.75, *s);
        assert_int_equal(a.n < 0, b.n < 0);
        if (a.n < 0) continue;
        ++pairs;
        assert_int_equal(a.n, 40);
        const double d = apart(&a, &b, &row);
        // they keep a tolerance
        if (d <= (strcmp((*s)->name, "mixed") == 0 || strcmp((*s)->name, "auto") == 0 ? 1e-6 : 1e-9)) continue;
        ++wrong;
        print_error("%s: row %d differs, %g\n", (*s)->name, row, d);
    }
    assert_true(pairs > 15);
    if (wrong) fail_msg("%d differ", wrong);
}

// -- spectators -------------------------------------------------------------------------------------------------------

// Scenes that slide, stop, stick, are torn loose, turn their slip in space, bounce and come to rest, hang on a joint.
// Before them, in every list, stands a system that has nothing to do with them, or nothing: a coordinate that moves as
// a constraint says, and a body that slides on a floor of its own.
static const struct {
    const char *name, *coordinates, *kinetic, *potential, *forces, *constraints, *contacts;
} scene_parts[] = {
    {"stick and slip", "x: {rate: 0.6}, y: 0", "1/2*(x'^2 + y'^2)", "9.81*y", "x: 4*sin(25*t)", "",
     "f: {gap: y, slip: x, friction: 0.3}"},
    {"turning slip", "x: {rate: 0.5}, y: {rate: 0.1}, z: 0", "1/2*(x'^2 + y'^2 + z'^2)", "9.81*z",
     "y: 4*cos(9*t), x: -1.5", "", "f: {gap: z, slip: [x, y], friction: 0.3}"},
    {"bounces", "x: {rate: 1}, y: {at: 0.02}, u: {at: 0.5, rate: -2}", "1/2*(x'^2 + y'^2 + u'^2)", "9.81*y", "", "",
     "f: {gap: y, slip: x, friction: 0.2, restitution: 0.5}, g: {gap: u - x, restitution: 0.8}"},
    {"joint", "x: {at: 1}, y: {at: 0, rate: -2}", "1/2*(x'^2 + y'^2)", "9.81*y", "", "c: x^2 + y^2 - 1",
     "f: {gap: y + 0.4, slip: x, friction: 0.2, restitution: 0.3}"},
};

static track run_beside(size_t k, bool spectator, const carom_scheme *scheme) {
    track t = {.n = -1};
    char text[2000];
    const char *const own = scene_parts[k].constraints;
    snprintf(
        text, sizeof text,
        "carom: 1\ncoordinates: {%s%s}\nenergy: {kinetic: %s%s, potential: %s%s}\n%s%s%s%s%s%s%s%scontacts: {%s%s}\n",
        spectator ? "p: {rate: 0.2}, r: {rate: 0.9}, w: 0, " : "", scene_parts[k].coordinates,
        spectator ? "p'^2 + r'^2 + w'^2 + " : "", scene_parts[k].kinetic, spectator ? "20*w + " : "",
        scene_parts[k].potential, *scene_parts[k].forces ? "forces: {" : "", scene_parts[k].forces,
        *scene_parts[k].forces ? "}\n" : "", spectator || *own ? "constraints: {" : "",
        spectator ? "s0: p - 0.1*sin(2*t)" : "", spectator && *own ? ", " : "", own, spectator || *own ? "}\n" : "",
        spectator ? "s1: {gap: w, slip: r, friction: 0.1}, " : "", scene_parts[k].contacts);
    carom_model *m = good(text);
    carom_error err = {0};
    carom_sim_def d = sim_def(m, scheme->name, NULL, 0.01, 0.4);
    // Schemes choose beta by whether the model has joints (NM-14), of whatever bodies: it is given to them.
    static const char *const beta[] = {"beta=0.3", NULL};
    if (has_option(scheme, "beta")) d.options = beta;
    carom_sim *sim = carom_sim_create(&d, &err);
    const int from = spectator ? 3 : 0;
    for (t.n = sim ? 0 : -1; sim && !carom_sim_done(sim) && carom_sim_step(sim, &err) == CAROM_OK; ++t.n)
        for (int i = from; i < d.system->nv; ++i)
            t.q[t.n][i - from] = carom_sim_now(sim).q[i], t.v[t.n][i - from] = carom_sim_now(sim).v[i];
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return t;
}

static void spectators_change_nothing(void **state) {
    (void)state;
    int pairs = 0, wrong = 0, row;
    for (size_t k = 0; k < sizeof scene_parts / sizeof *scene_parts; ++k)
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
            const track a = run_beside(k, false, *s), b = run_beside(k, true, *s);
            if (a.n < 0 || b.n < 0) continue;
            ++pairs;
            const double d = apart(&a, &b, &row);
            // the first two keep a tolerance
            const double tol = strcmp((*s)->name, "auto") == 0 ? 1e-5 : strcmp((*s)->name, "mixed") == 0 ? 1e-6 : 1e-9;
            if (a.n == 40 && d <= tol) continue;
            ++wrong;
            print_error("%s, %s: row %d of %d differs, %g\n", scene_parts[k].name, (*s)->name, row, a.n, d);
        }
    assert_true(pairs > 60);
    if (wrong) fail_msg("%d differ", wrong);
}

// A ball that touches the floor with -1 m/s at the start has bounced after the first step, with any scheme: e = 1/2, no
// step late.
static void impacts_at_the_start_are_not_late(void **state) {
    (void)state;
    int wrong = 0;
    carom_model *m = good("carom: 1\ncoordinates: {y: {rate: -1}}\nenergy: {kinetic: 1/2*y'^2, potential: "
                          "9.81*y}\ncontacts: {floor: {gap: y, restitution: 0.5}}\n");
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        // the latter bounces over two steps
        if ((*s)->limitations & CAROM_NO_IMPACTS || strcmp((*s)->name, "schatzman-paoli") == 0) continue;
        carom_sim *sim = model_sim(m, (*s)->name, NULL, 1e-3, 0.01);
        carom_error err = {0};
        assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        const carom_now now = carom_sim_now(sim);
        if (!(fabs(now.v[0] - 0.5) < 0.02 && fabs(now.q[0]) < 1.1e-3))
            ++wrong, print_error("%s: y = %g, y' = %g\n", (*s)->name, now.q[0], now.v[0]);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
    if (wrong) fail_msg("%d are late", wrong);
}

// Bodies that are 1024 times as heavy take 1024 times the impulse, to the bit; velocities 16 times as large 16 times.
static void impacts_by_energy_scale_with_masses_and_speeds(void **state) {
    (void)state;
    for (int tangents = 1; tangents <= 2; ++tangents)
        for (uint64_t k = 1; k <= 20; ++k) {
            uint64_t seed = 10 * k + (uint64_t)tangents;
            contact_problem x = problem_random(1, CAROM_UNILATERAL + tangents, 0, 0.05, 7 * k);
            const double mu = 0.8 * uniform(&seed), e = uniform(&seed);
            double u[3], G[9], p[3], q[3];
            for (int i = 0; i < 3; ++i) u[i] = i == 0 ? -0.1 - uniform(&seed) : symmetric_uniform(&seed);
            assert_true(carom_energetic_impact(x.pb.G, x.pb.ld, tangents, mu, e, u, p));
            for (int i = 0; i <= tangents; ++i) {
                for (int j = 0; j <= tangents; ++j) G[i + j * 3] = x.pb.G[i + j * x.pb.ld] / 1024;
                u[i] *= 16;
            }
            assert_true(carom_energetic_impact(G, 3, tangents, mu, e, u, q));
            for (int i = 0; i <= tangents; ++i) assert_true(q[i] == 16 * 1024 * p[i]);
            problem_destroy(&x);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_change_no_bit), cmocka_unit_test(steady_frames_change_nothing),
        cmocka_unit_test(spectators_change_nothing), cmocka_unit_test(impacts_at_the_start_are_not_late),
        cmocka_unit_test(impacts_by_energy_scale_with_masses_and_speeds)};
    return cmocka_run_group_tests_name("scales", tests, NULL, NULL);
}
