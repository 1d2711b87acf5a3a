// test_model_checks.c: checks, the ledger's names, and what `carom check` finds.
#include "model/answers.h"
#include "model_text.h"

static const char *const ball = "carom: 1\nparameters: {m: 2}\ncoordinates: {x: {at: 3, rate: -1}}\nlet: {y: "
                                "x^2}\nenergy: {kinetic: m*x'^2/2, potential: x}\n"
                                "contacts: {wall: {gap: x}}\noutputs: {z: 10*x}\n";

static carom_model *with_checks(const char *checks) {
    char text[1000];
    snprintf(text, sizeof text, "%schecks: [%s]\n", ball, checks);
    return good(text);
}

static void ledger_names_have_the_values_of_the_ledger(void **state) {
    (void)state;
    carom_ledger l = {.steps = 4,
                      .seconds = 2e-6,
                      .impacts = 3,
                      .accumulations = 1,
                      .penetration = 0.5,
                      .drift = 0.25,
                      .rejected = 7};
    l.energy.start = 1, l.energy.end = 2, l.energy.impact = 3, l.energy.friction = 4, l.energy.damping = 5,
    l.energy.external = 6, l.energy.balance = 7, l.energy.identity = 8;
    l.energy.lost = 17, l.energy.created = 18, l.sleep.falls = 19, l.sleep.wakes = 20, l.sleep.energy = 21;
    l.counts = (carom_counts){.problems = 11,
                              .iterations = 12,
                              .fallbacks = 13,
                              .residual = 1e-9,
                              .newton = 14,
                              .newton_max = 15,
                              .newton_median = 16};
    static const struct {
        const char *name;
        double value;
    } known[] = {{"steps", 4},
                 {"seconds", 2e-6},
                 {"impacts", 3},
                 {"accumulations", 1},
                 {"penetration", 0.5},
                 {"drift", 0.25},
                 {"energy.start", 1},
                 {"energy.end", 2},
                 {"energy.impact", 3},
                 {"energy.lost", 17},
                 {"energy.created", 18},
                 {"energy.friction", 4},
                 {"energy.damping", 5},
                 {"energy.external", 6},
                 {"energy.balance", 7},
                 {"energy.identity", 8},
                 {"contact.residual", 1e-9},
                 {"contact.problems", 11},
                 {"contact.iterations", 12},
                 {"contact.fallbacks", 13},
                 {"newton.iterations", 14},
                 {"newton.max", 15},
                 {"newton.median", 16},
                 {"sleep.falls", 19},
                 {"sleep.wakes", 20},
                 {"sleep.energy", 21},
                 {"rejected", 7},
                 {"ns_per_step", 500}};
    const int n = (int)(sizeof known / sizeof *known);
    for (int i = 0; i < n; ++i) {
        double value = -1;
        assert_true(carom_ledger_value(&l, known[i].name, &value));
        assert_close(value, known[i].value, 1e-12 * fabs(known[i].value));
    }
    double value = 0;
    assert_false(carom_ledger_value(&l, "step", &value));
    assert_null(carom_ledger_name(n));
    assert_non_null(carom_ledger_name(n - 1));
}

static void verdicts(const char *checks, const bool *met) {
    carom_model *m = with_checks(checks);
    void *work = work_of(m);
    const carom_ledger l = {.steps = 10, .energy.end = 4};
    const int n = carom_model_watched(m);
    double low[8], high[8];
    assert_true(n <= 8);
    for (int k = 0; k < 4; ++k) { // x runs over 1, 4, 3, 2
        static const double path[4] = {1, 4, 3, 2};
        carom_model_watch(m, work, 0.1 * k, &path[k], carom_model_v0(m), low, high, k == 0);
    }
    const double q = 2, v = 5;
    for (int i = 0; i < carom_model_count(m).checks; ++i) {
        const char *text = NULL;
        double left, right;
        const bool ok = carom_model_check(m, i, low, high, &l, work, 0.3, &q, &v, &text, &left, &right);
        if (ok != met[i]) fail_msg("%s is %d, with %g and %g", text, ok, left, right);
    }
    free(work);
    carom_model_destroy(m);
}

static void checks_are_judged_at_the_end_and_over_all_steps(void **state) {
    (void)state;
    const char *checks =
        "steps == 10, steps < 10, z > 17 + m, min(x) >= 1, max(y) <= 15, max(y) < 17, x' == 5, wall.gap != 2, "
        "energy.end/2 < energy, "
        "max(x) - min(x) == 3, 'max(x, 7) == 7', sqrt(x - 3) < 1, sqrt(x - 3) != 1, t <= 0.3, y' == 20";
    verdicts(checks, (const bool[]){true, false, true, true, false, true, true, false, true, true, true, false, false,
                                    true, true});
}

// Contacts and constraints stand in expressions by their quantities only, never bare: the name of a function is free
// for them.
static void a_contact_may_be_called_like_a_function(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\ncoordinates: {x: {at: 2.5}, y: 1}\nenergy: {kinetic: x'^2 + y'^2, potential: x}\n"
        "contacts: {floor: {gap: x, restitution: 0.5}}\nconstraints: {sign: y - 1}\n"
        "outputs: {both: floor(floor.gap) + sign.gap}\nchecks: [floor.gap > 2, floor(x) == 2, max(floor.gap) < 3]\n");
    assert_string_equal(carom_model_constraint(m, 1), "floor");
    void *work = work_of(m);
    double out = -1;
    carom_model_outputs(m, work, 0, carom_model_q0(m), carom_model_v0(m), &out);
    assert_close(out, 2, 0);
    free(work);
    carom_model_destroy(m);
    carom_error err = {0}; // bare it is the function, which needs arguments
    assert_null(model_of(
        "carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: x'^2}\ncontacts: {floor: {gap: x}}\noutputs: {z: 2*floor}\n",
        &err));
    assert_non_null(strstr(err.text, "floor is a function and needs arguments"));
}

static void a_value_that_is_no_number_fails_over_all_steps(void **state) {
    (void)state;
    // not a number at the first state, and in between
    verdicts(
        "max(sqrt(x - 1.5)) < 9, min(sqrt(x - 1.5)) > -9, max(sqrt(3.5 - x)) < 9, min(sqrt(3.5 - x)) > -9, max(x) < 9",
        (const bool[]){false, false, false, false, true});
}

// -- carom check -------------------------------------------------------------------------------------------

typedef struct heard {
    int fine, warnings, faults;
    char text[8000];
} heard;

static void hear(void *user, carom_finding kind, const char *sentence) {
    heard *h = user;
    h->fine += kind == CAROM_FINE, h->warnings += kind == CAROM_WARNING, h->faults += kind == CAROM_FAULT;
    snprintf(h->text + strlen(h->text), sizeof h->text - strlen(h->text), "%s\n", sentence);
}

static heard examined(carom_model *m) {
    heard h = {0};
    carom_error err = {0};
    const int faults = carom_model_examine(m, hear, &h, &err);
    assert_int_equal(faults, h.faults);
    carom_model_destroy(m);
    return h;
}

static void says(const heard *h, const char *sentence) {
    if (!strstr(h->text, sentence)) fail_msg("nobody says '%s' in\n%s", sentence, h->text);
}

static void shipped_models_are_sound(void **state) {
    (void)state;
    for (int k = 0; shipped[k]; ++k) {
        const heard h = examined(shipped_model(shipped[k]));
        if (h.faults || h.warnings) fail_msg("%s:\n%s", shipped[k], h.text);
    }
}

// A rod, a disc and a ball are at the edges of what exists; turned, too: J = diag(1, 1, 2) turned by 45 degrees about y
// has the entries 1.5 and 0.5, and with 2.2 instead of 2 the turned tensor is that of no solid.
static void inertias_that_no_solid_has_are_told(void **state) {
    (void)state;
    static const struct { const char *inertia; int warnings; } cases[] = {
        {"[1e-9, 1, 1]", 0}, {"[1, 1, 2]", 0}, {"[0.4, 0.4, 0.4]", 0}, {"[1.5, 1, 1.5, 0, 0.5, 0]", 0},
        {"[0.02, 0.03, 0.4]", 1}, {"[1, 1, 2.01]", 1}, {"[1.6, 1, 1.6, 0, 0.6, 0]", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[200];
        snprintf(text, sizeof text, "carom: 1\nbodies: {b: {mass: 1, inertia: %s}}\n", cases[i].inertia);
        const heard h = examined(good(text));
        if (h.faults || h.warnings != cases[i].warnings) fail_msg("%s:\n%s", cases[i].inertia, h.text);
        if (h.warnings) says(&h, "inertia of body 'b' is unphysical");
    }
}

static void degrees_of_freedom_and_redundant_constraints_are_counted(void **state) {
    (void)state;
    heard h = examined(shipped_model("pendulum"));
    says(&h, "1 degree of freedom: 3 coordinates, 2 independent of 2 constraints");
    h = examined(good("carom: 1\ncoordinates: {x: 0, y: 0, z: 0}\nenergy: {kinetic: x'^2 + y'^2 + z'^2}\nconstraints: "
                      "{a: x - y, b: y - z, c: x - z, d: x*y}\n"));
    says(&h, "1 degree of freedom: 3 coordinates, 2 independent of 4 constraints");
    says(&h, "constraint 'c' is redundant initially");
    says(&h, "constraint 'd' is redundant initially");
    assert_int_equal(h.faults, 0);
}

static void unused_names_and_idle_coefficients_are_named(void **state) {
    (void)state;
    const heard h = examined(good("carom: 1\nparameters: {a: 1, b: 2*a, idle: 3}\ncoordinates: {x: 0}\nlet: {y: b*x, "
                                  "lazy: y}\nenergy: {kinetic: x'^2}\n"
                                  "contacts: {wall: {gap: y, slip: x, tangential restitution: 1/2}}\n"));
    says(&h, "a parameter 'idle' (line 2) is not used anywhere");
    says(&h, "a let name 'lazy' (line 4) is not used anywhere");
    says(&h, "tangential restitution of 'wall' has no effect: its friction is 0");
    says(&h, "1 of 1 contacts initially closed; smallest gap 0 at 'wall'");
    assert_int_equal(h.warnings, 3);
    assert_int_equal(h.faults, 0);
    // of a contact that a conveyor has
    static const char *const slides[] = {"}", ", friction: 0.2}",
                                         ", friction: 0.2, stiffness: 1e5, stiction speed: 0.01}"};
    for (int few = 0; few < 2; ++few)
        for (int i = 0; i < 3; ++i) {
            char text[500];
            snprintf(
                text, sizeof text,
                "carom: 1\ngravity: [0, -9.81]\n%sshapes: {belt: {plane: [0, 1], surface velocity: [1, 0]}}\nbodies: "
                "{ball: {repeat: %d, body: {mass: 1, inertia: 1, at: [3*i, 1.1], shape: {circle: 1}}}}\n"
                "contacts: {c: {among: ball}, b: {between: [ball, belt]%s}\n",
                i < 2 ? "sleep: 0.1\n" : "", few ? 2 : 40, slides[i]);
            const heard k = examined(good(text));
            if (i == 0) says(&k, "the surface velocity of 'belt' has no effect: its contacts have no friction");
            assert_int_equal(k.warnings, i == 0);
        }
    const heard k = examined(good("carom: 1\nsleep: 0.1\ncoordinates: {x: 1}\nenergy: {kinetic: x'^2}\n"
                                  "contacts: {wall: {gap: x}}\n"));
    says(&k, "sleep has no effect");
    assert_int_equal(k.warnings, 1);
    assert_int_equal(examined(good("carom: 1\nsleep: 0\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2}\n")).warnings, 0);
}

static void unused_tables_inputs_and_controllers_are_named(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ntables: {f: {x: [0, 1], y: [0, 1]}, spare: {x: [0, 1], y: [0, 1]}}\ninputs: "
                               "{push: 0, loose: {signal: f(t)}}\n"
                               "coordinates: {x: 0}\nenergy: {kinetic: x'^2}\nforces: {x: push + u}\n"
                               "controllers:\n  acts: {sample: 1, outputs: {u: -x}}\n  watch: {sample: 1, states: {s: "
                               "s + x}, outputs: {w: s}}\n";
    const heard h = examined(good(text));
    says(&h, "a table 'spare' (line 2) is not used anywhere");
    says(&h, "an input 'loose' (line 3) is not used anywhere");
    says(&h, "no expression uses the outputs of controller 'watch'; they are only recorded");
    assert_int_equal(h.warnings, 3);
    assert_int_equal(h.faults, 0);
}

static void an_indefinite_mass_matrix_is_a_fault(void **state) {
    (void)state;
    const heard h = examined(good("carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: x'^2 + 4*x'*y' + y'^2}\n"));
    says(&h, "the mass matrix is not positive definite at coordinate 'y'");
    assert_int_equal(h.faults, 1);
}

// A coordinate without inertia is a matter of the scheme; an indefinite matrix is not.
static void a_singular_mass_matrix_is_judged_by_the_scheme(void **state) {
    (void)state;
    static const struct { const char *kinetic, *scheme, *says; int faults, warnings; } cases[] = {
        {"1/2*(x'^2 + J*y'^2 + z'^2)", "ggl-alpha", "coordinate 'y' has no inertia; ggl-alpha allows that", 0, 1},
        {"1/2*(x'^2 + J*y'^2 + z'^2)", "moreau-jean", "coordinate 'y' has no inertia; give it some, or use ggl-alpha",
         1, 0},
        {"1/2*(x'^2 + J*y'^2 - z'^2)", "ggl-alpha", "not positive definite at coordinate 'z'", 1, 0},
        {"1/2*(x'^2 + J*y'^2 + z'^2) + y'*z'", "ggl-alpha", "not positive definite at coordinate 'y'", 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[600];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {J: 0}\ncoordinates: {x: 1, y: 1, z: 0}\nenergy: {kinetic: \"%s\", potential: "
                 "x + y^2 + z^2}\nconstraints: {rod: x - y}\n"
                 "simulation: {scheme: %s, step: 1e-3, end: 1}\n",
                 cases[i].kinetic, cases[i].scheme);
        const heard h = examined(good(text));
        says(&h, cases[i].says);
        assert_int_equal(h.faults, cases[i].faults);
        assert_int_equal(h.warnings, cases[i].warnings);
    }
}

// A mass of 1 - t, and determinants of 1 - t^2 with two velocities and with five: M is not positive definite from t = 1
// on.  Every scheme with steps of the size given ends there with an error, at the latest when its kinetic energy is
// looked at again: about step 1000 that is every 32nd.
static void a_mass_that_becomes_negative_ends_the_run(void **state) {
    (void)state;
    static const struct { const char *text; double from, to; } cases[] = {
        {"carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: 1/2*(1 - t)*x'^2}\n", 0.99, 1.002},
        {"carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0}\nenergy: {kinetic: 1/2*x'^2 + 1/2*y'^2 + t*x'*y'}\n", 0.99,
         1.002},
        {"carom: 1\ncoordinates: {a: 0, b: {at: 0, rate: 1}, c: 0, x: {at: 0, rate: 1}, y: 0}\nenergy: {kinetic: "
         "1/2*(a'^2 + b'^2 + c'^2 + x'^2 + y'^2) + t*x'*y'}\n",
         0.99, 1.033},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_model *m = good(cases[i].text);
        for (int k = 0; carom_schemes()[k]; ++k) {
            const carom_scheme *scheme = carom_schemes()[k];
            if (scheme->controls_own_steps) continue;
            carom_sim *sim = model_sim(m, scheme->name, NULL, 1e-3, 2);
            carom_error err = {0};
            const carom_status status = carom_sim_run(sim, NULL, NULL, &err);
            const double t = carom_sim_now(sim).t;
            if (status == CAROM_OK || !(t > cases[i].from && t < cases[i].to))
                fail_msg("%d, %s: status %d at t = %g: %s", (int)i, scheme->name, (int)status, t, err.text);
            carom_sim_destroy(sim);
        }
        carom_model_destroy(m);
    }
}

static void a_kink_at_the_start_is_a_warning(void **state) {
    (void)state;
    const heard h = examined(good(
        "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2, potential: 3*abs(x) + 4*x}\nforces: {x: abs(x)}\n"));
    says(&h, "derivatives and differences disagree at one state, as at a kink");
    assert_int_equal(h.faults, 0);
}

// |t - c| has a kink at the time c of a state that is examined (they lie 0.01 apart), |x| at the start: each is an
// entry of its own at a state of its own.
#define KINKS                                                                                                          \
    "carom: 1\ncoordinates: {x: 0, y: 0, z: 0}\nenergy: {kinetic: x'^2 + y'^2 + z'^2, potential: 3*abs(x) + 4*x}\n"    \
    "contacts: {a: {gap: 10 + x + abs(t - 0.01)}, b: {gap: 10 + y + 2*z + abs(t - 0.02)}}\n"

static void kinks_at_several_states_are_a_warning(void **state) {
    (void)state;
    const heard h = examined(good(KINKS));
    says(&h, "derivatives and differences disagree at 3 states, as at a kink");
    assert_int_equal(h.faults, 0);
    assert_int_equal(h.warnings, 1);
}

// Boxes one upon the other: corners on corners, with a direction that turns by 90 degrees within any step of a
// difference.
static void boxes_exactly_stacked_have_no_fault(void **state) {
    (void)state;
    enum { BOXES = 40 };
    char text[8000];
    int n = snprintf(text, sizeof text, "carom: 1\ngravity: [0, -9.81]\nbodies:\n");
    for (int i = 0; i < BOXES; ++i)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  b%d: {mass: 1, inertia: 0.01, at: [0, 0.1*%d], shape: {box: [0.2, 0.1]}}\n", i, i);
    n += snprintf(text + n, sizeof text - (size_t)n, "contacts: {pile: {between: [b0");
    for (int i = 1; i < BOXES; ++i) n += snprintf(text + n, sizeof text - (size_t)n, ", b%d", i);
    snprintf(text + n, sizeof text - (size_t)n, "], friction: 0.5}}\n");
    assert_int_equal(examined(good(text)).faults, 0);
}

// -- wrong derivatives ---------------------------------------------------------------------------------------

// A system whose derivatives are right but for one entry, which is off by this part of itself.
static carom_system right;
static const double OFF = 1e-3;

static carom_status wrong_tangent(const void *model, void *work, double t, const double *q, const double *v,
                                  carom_matrix K, carom_matrix C) {
    const carom_status status = right.tangent(model, work, t, q, v, K, C);
    *carom_matrix_entry(K, 1, 0) *= 1 + OFF;
    return status;
}

static carom_status wrong_damping(const void *model, void *work, double t, const double *q, const double *v,
                                  carom_matrix K, carom_matrix C) {
    const carom_status status = right.tangent(model, work, t, q, v, K, C);
    *carom_matrix_entry(C, 2, 2) *= 1 + OFF;
    return status;
}

static carom_status wrong_mass(const void *model, void *work, double t, const double *q, const double *y, double x,
                               carom_matrix D) {
    const carom_status status = right.mass_gradient(model, work, t, q, y, x, D);
    *carom_matrix_entry(D, 0, 1) *= 1 + OFF;
    return status;
}

static carom_status wrong_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    const carom_status status = right.directions(model, work, t, q, L);
    for (int b = 0; b < L->nb; ++b)
        // a constant, so that its own derivatives stay right
        if (L->id[b] == 1) L->W.a[(size_t)L->at[b] * (size_t)L->W.stride + 2] += OFF;
    return status;
}

static carom_status wrong_curvature(const void *model, void *work, double t, const double *q, const double *v,
                                    const carom_local *L, double *kappa) {
    const carom_status status = right.curvature(model, work, t, q, v, L, kappa);
    for (int b = 0; b < L->nb; ++b)
        if (L->id[b] == 0) kappa[L->at[b]] *= 1 + OFF;
    return status;
}

// Three coordinates that all act on each other, with a joint and a contact that curve.
static heard examined_with(void (*spoil)(carom_system *)) {
    carom_model *m =
        good("carom: 1\ncoordinates: {x: {at: 0.3, rate: 0.9}, y: {at: 0.7, rate: -0.1}, z: {at: -0.4, rate: 0.5}}\n"
             "energy: {kinetic: (1 + y^2)*x'^2 + (2 + x^2)*y'^2 + z'^2, potential: 3*x^2*y + 2*x*y*z + z^2*y}\n"
             "forces: {z: -3*z' - z'^2*x, y: -2*x'*y'}\n"
             "constraints: {rod: x^2 + y^2 + z^2 - 0.74}\ncontacts: {wall: {gap: 1 + x + 2*y + 3*z + x*z}}\n");
    carom_system *sys = (carom_system *)carom_model_system(m); // it is this test's own
    right = *sys;
    if (spoil) spoil(sys);
    return examined(m);
}

static void spoil_tangent(carom_system *sys) { sys->tangent = wrong_tangent; }
static void spoil_damping(carom_system *sys) { sys->tangent = wrong_damping; }
static void spoil_mass(carom_system *sys) { sys->mass_gradient = wrong_mass; }
static void spoil_directions(carom_system *sys) { sys->directions = wrong_directions; }
static void spoil_curvature(carom_system *sys) { sys->curvature = wrong_curvature; }

static void the_worst_entry_of_a_wrong_derivative_is_named(void **state) {
    (void)state;
    static const struct { void (*spoil)(carom_system *); const char *told; } cases[] = {
        {spoil_tangent, "derivatives and differences disagree: the force of 'y' by 'x' (exact"},
        {spoil_damping, "derivatives and differences disagree: the force (by rates) of 'z' by 'z' (exact"},
        {spoil_mass, "derivatives and differences disagree: the mass matrix of 'x' by 'y' (exact"},
        {spoil_directions, "derivatives and differences disagree: the gap of 'wall' by 'z' (exact"},
        {spoil_curvature, "derivatives and differences disagree: the local acceleration of 'rod' by 't' (exact"},
    };
    heard h = examined_with(NULL);
    says(&h, "derivatives agree with differences");
    assert_int_equal(h.faults, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        h = examined_with(cases[i].spoil);
        says(&h, cases[i].told);
        assert_int_equal(h.faults, 1);
    }
}

// Kinks hide no wrong term: it is wrong beside them.
static void a_wrong_term_among_kinks_is_a_fault(void **state) {
    (void)state;
    carom_model *m = good(KINKS);
    carom_system *sys = (carom_system *)carom_model_system(m);
    right = *sys;
    spoil_directions(sys);
    const heard h = examined(m);
    says(&h, "derivatives and differences disagree: the gap of 'b' by 'z' (exact 2.001, difference 2)");
    assert_int_equal(h.faults, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ledger_names_have_the_values_of_the_ledger),
        cmocka_unit_test(checks_are_judged_at_the_end_and_over_all_steps),
        cmocka_unit_test(a_contact_may_be_called_like_a_function),
        cmocka_unit_test(a_value_that_is_no_number_fails_over_all_steps),
        cmocka_unit_test(shipped_models_are_sound),
        cmocka_unit_test(inertias_that_no_solid_has_are_told),
        cmocka_unit_test(degrees_of_freedom_and_redundant_constraints_are_counted),
        cmocka_unit_test(unused_names_and_idle_coefficients_are_named),
        cmocka_unit_test(unused_tables_inputs_and_controllers_are_named),
        cmocka_unit_test(an_indefinite_mass_matrix_is_a_fault),
        cmocka_unit_test(a_singular_mass_matrix_is_judged_by_the_scheme),
        cmocka_unit_test(a_mass_that_becomes_negative_ends_the_run),
        cmocka_unit_test(a_kink_at_the_start_is_a_warning),
        cmocka_unit_test(kinks_at_several_states_are_a_warning),
        cmocka_unit_test(boxes_exactly_stacked_have_no_fault),
        cmocka_unit_test(the_worst_entry_of_a_wrong_derivative_is_named),
        cmocka_unit_test(a_wrong_term_among_kinks_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
