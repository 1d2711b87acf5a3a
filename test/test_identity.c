// test_identity.c: discrete energy balances hold to rounding on linear systems, and a wrong sign would be noticed.
#include "chain.h"
#include "linalg/matrix.h"
#include "model_text.h"
#include "scheme/identity.h"
#include "scheme/inside.h"
#include "schemes.h"

#define WITH(...)                                                                                                      \
    (const char *const[]) { __VA_ARGS__, NULL }

static const struct {
    const char *scheme, *a, *b;
} checked[] = {
    {"moreau-jean", "theta=0.5", "identity=on"},
    {"moreau-jean", "theta=0.7", "identity=on"},
    {"moreau-jean", "theta=1", "identity=on"},
    {"moreau-jean", "theta=0.6", "at=start"},
    {"moreau-dissipative", "theta=0.5", "identity=on"},
    {"moreau-dissipative", "theta=0.8", "identity=on"},
    {"newmark", "gamma=0.5", "beta=0.25"},
    {"newmark", "gamma=0.7", "beta=0.4"},
    {"newmark", "gamma=0.6", "active=half"},
    {"hht", "alpha=0", "identity=on"},
    {"hht", "alpha=0.1", "identity=on"},
    {"hht", "alpha=0.333", "active=half"},
};
enum { CHECKED = sizeof checked / sizeof *checked };

// Damped, driven, bouncing: every term of the balances is there.
static void lively_chain(chain *c) {
    chain_make(c, 12, 300, 0.25, false);
    c->contact.restitution = 0.6;
    c->gap = 0.02;
    c->damping = 2e-3;
    c->load = -8;
    c->frequency = 5;
    for (int i = 0; i <= 12; ++i) c->q0[i] = 0.01 * sin(i), c->v0[i] = -0.5 + 0.05 * cos(3 * i);
}

// Newton's residual is at most 1e-12 of the terms of the equation of motion; on linear systems one iteration leaves
// rounding.
static const double allowed = 1e-12;

static void balances_hold_on_a_driven_damped_chain(void **state) {
    (void)state;
    static chain c;
    lively_chain(&c);
    for (int i = 0; i < CHECKED; ++i) {
        carom_error err;
        carom_sim *sim = chain_sim(&c, checked[i].scheme, WITH(checked[i].a, checked[i].b), 2.3e-3, 4, &err);
        if (!sim) fail_msg("%s", err.text);
        while (!carom_sim_done(sim)) sim_step(sim);
        const carom_ledger l = sim_ledger(sim);
        print_message("    %s %s: %.1e, %ld impacts\n", checked[i].scheme, checked[i].a, l.energy.identity, l.impacts);
        scheme_true(checked[i].scheme, l.energy.identity <= allowed);
        scheme_true(checked[i].scheme, l.impacts > 0 && l.energy.impact > 0);
        carom_sim_destroy(sim);
    }
}

// (EN-6)  Two balls with a spring, restitution 0.8 and 1: outside the condition of its rule a scheme creates energy,
//         and the warning names the
// condition; inside it creates none but where an impulse acts on a contact that separates (order h^2), and there is no
// warning.
static void violated_rules_of_dissipation_are_named(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *a, *b; double e; const char *named;
    } rows[] = {{"moreau-jean", "theta=0.5", "identity=on", 0.8, NULL},
                {"moreau-jean", "theta=0.55", "identity=on", 0.8, NULL},
                {"moreau-jean", "theta=0.4", "identity=on", 0.8, "1/2 <= theta <= 1/(1 + e) does not hold"},
                {"moreau-jean", "theta=1", "identity=on", 1, "theta = 1 and 1/(1 + e) = 0.5"},
                {"moreau-dissipative", "theta=0.5", "identity=on", 1, NULL},
                {"moreau-dissipative", "theta=0.8", "identity=on", 0.8, NULL},
                {"moreau-dissipative", "theta=0.45", "identity=on", 0.8, "theta >= 1/2 does not hold"},
                {"newmark", "gamma=0.5", "beta=0.25", 1, NULL},
                {"newmark", "gamma=0.6", "beta=0.3", 0.8, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        known k;
        known_two_balls(&k, 1e3);
        k.sys.flags |= CAROM_LINEAR | CAROM_TIMELESS_GAPS;
        k.contact[0].restitution = rows[i].e;
        carom_sim *sim = sim_of(&k, rows[i].scheme, WITH(rows[i].a, rows[i].b), 1e-3, 5);
        double energy = sim_energy(sim), most = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const double now = sim_energy(sim);
            most = fmax(most, now - energy);
            energy = now;
        }
        const carom_ledger l = sim_ledger(sim);
        carom_warning list[CAROM_WARNINGS];
        const char *text = NULL;
        for (int j = 0, n = carom_sim_warnings(sim, &l, list); j < n; ++j)
            if (strcmp(list[j].kind, "scheme") == 0) text = list[j].text;
        print_message("    %s %s e = %g: at most %.2g J in a step; %s\n", rows[i].scheme, rows[i].a, rows[i].e, most,
                      text ? text : "-");
        if (rows[i].named) assert_true(text && strstr(text, rows[i].named) && most > 2e-3);
        else assert_true(!text && most < 2e-4);
        carom_sim_destroy(sim);
    }
}

static void balances_hold_on_small_systems(void **state) {
    (void)state;
    for (int system = 0; system < 4; ++system) {
        known k;
        if (system == 0) known_ball_a(&k);
        if (system == 1) known_oscillator(&k, 0.5);
        if (system == 2) known_two_balls(&k, 1e3);
        if (system == 3) {
            known_slope(&k, 1, 0.3, 0.2); // friction too
            k.q0[1] = 0.3;
            k.contact[0].restitution = 0.5;
        }
        k.sys.flags |= CAROM_LINEAR;
        for (int i = 0; i < CHECKED; ++i) {
            carom_sim *sim = sim_of(&k, checked[i].scheme, WITH(checked[i].a, checked[i].b), 1.3e-3, 1.3e-3 * 3000);
            while (!carom_sim_done(sim)) sim_step(sim);
            const carom_ledger l = sim_ledger(sim);
            scheme_true(checked[i].scheme, l.energy.identity <= allowed);
            carom_sim_destroy(sim);
        }
    }
}

// -- would a wrong sign be noticed? ---------------------------------------------------------------------------------

typedef struct lab {
    chain c;
    carom_identity I;
    carom_step s;
    carom_inside inside;
    carom_error err;
    _Alignas(64) unsigned char memory[32768];
    double q[3][CHAIN_MOST], v[3][CHAIN_MOST], f[3][CHAIN_MOST]; // three states in a row; loads there
    double a[3][CHAIN_MOST], r[CHAIN_MOST];                      // accelerations; impulse of the second step
} lab;

static void lab_load(lab *x, int i, double t, bool damped) {
    double F[CHAIN_MOST] = {0};
    chain_force(&x->c, NULL, t, x->q[i], x->v[i], F);
    const int n = x->c.elements + 1;
    carom_zero(x->f[i], n);
    x->f[i][n - 1] = x->c.load * cos(x->c.frequency * t);
    if (damped) carom_matrix_muladd(x->f[i], -1, x->I.C, x->v[i]);
    // M a = F, by the mass of the chain: Gauss-Seidel converges fast on consistent mass
    for (int sweep = 0; sweep < 200; ++sweep)
        for (int k = 0; k < n; ++k) {
            double sum = F[k];
            for (int j = 0; j < n; ++j) {
                const double *m = carom_matrix_entry(x->I.M, k, j);
                if (m && j != k) sum -= *m * x->a[i][j];
            }
            x->a[i][k] = sum / *carom_matrix_entry(x->I.M, k, k);
        }
}

// Two steps of a scheme, the second with an impact in it.
static void lab_run(lab *x, const char *scheme, const char *a, const char *b, double h, bool damped) {
    memset(x, 0, sizeof *x);
    lively_chain(&x->c);
    carom_arena mem = {.base = x->memory, .size = sizeof x->memory};
    x->I = carom_allocate_identity(&mem, &x->c.sys, true);
    x->s = (carom_step){.sys = &x->c.sys, .q = x->c.q0, .v = x->c.v0, .inside = &x->inside, .err = &x->err};
    assert_int_equal(carom_identity_begin(&x->I, &x->s), CAROM_OK);
    assert_true(x->I.on);
    carom_sim *sim = chain_sim(&x->c, scheme, WITH(a, b, "identity=off"), h, 4, &x->err);
    if (!sim) fail_msg("%s", x->err.text);
    const int n = x->c.elements + 1;
    double t[3] = {0};
    while (x->r[0] == 0) {
        if (carom_sim_done(sim)) fail_msg("no impact");
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < 2; ++i) {
            t[i] = t[i + 1];
            memcpy(x->q[i], x->q[i + 1], sizeof x->q[i]);
            memcpy(x->v[i], x->v[i + 1], sizeof x->v[i]);
        }
        t[2] = now.t;
        carom_copy(x->q[2], now.q, n);
        carom_copy(x->v[2], now.v, n);
        x->r[0] = now.impulse[0];
        assert_true(isnan(sim_ledger(sim).energy.identity));
    }
    for (int i = 0; i < 3; ++i) lab_load(x, i, t[i], damped);
    carom_sim_destroy(sim);
}

typedef double identity_of(lab *x, const carom_balance *b, double *scale);
static double by_theta(lab *x, const carom_balance *b, double *scale) {
    return carom_identity_theta(&x->I, b, 0.7, scale);
}
static double by_newmark(lab *x, const carom_balance *b, double *scale) {
    return carom_identity_newmark(&x->I, b, 0.7, 0.4, 0, NULL, NULL, scale);
}
static double by_hht(lab *x, const carom_balance *b, double *scale) {
    double dq[CHAIN_MOST], df[CHAIN_MOST];
    carom_add(dq, x->q[1], -1, x->q[0], x->c.elements + 1);
    carom_add(df, x->f[1], -1, x->f[0], x->c.elements + 1);
    return carom_identity_newmark(&x->I, b, 0.6, 0.25 * 1.1 * 1.1, 0.1, dq, df, scale);
}

static double relative(lab *x, identity_of *identity, const carom_balance *b) {
    double scale;
    const double off = identity(x, b, &scale);
    return fabs(off) / scale;
}

static void negate(double *x, int n) {
    for (int i = 0; i < n; ++i) x[i] = -x[i];
}

static void flip(carom_matrix A) { negate(A.a, (int)carom_shape_size(A.shape)); }

// Every single sign in a step, turned round, must be seen a million times above rounding.
static void check_signs(lab *x, identity_of *identity, double h, bool damped) {
    const int n = x->c.elements + 1;
    const carom_balance b = {.h = h,
                             .q_0 = x->q[1],
                             .v_0 = x->v[1],
                             .q_1 = x->q[2],
                             .v_1 = x->v[2],
                             .f_0 = x->f[1],
                             .f_1 = x->f[2],
                             .r = x->r,
                             .a_0 = x->a[1],
                             .a_1 = x->a[2]};
    const double right = relative(x, identity, &b);
    assert_true(right <= 1e-12);
    struct {
        const char *what;
        double *vector;
    } signs[] = {{"impulse", x->r},
                 {"old velocity", x->v[1]},
                 {"new velocity", x->v[2]},
                 {"new load", x->f[2]},
                 {"old load", x->f[1]}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; ++i) {
        negate(signs[i].vector, n);
        const double off = relative(x, identity, &b);
        if (!(off > 1e-6)) fail_msg("a wrong sign of the %s leaves only %g", signs[i].what, off);
        negate(signs[i].vector, n);
    }
    flip(x->I.K);
    assert_true(relative(x, identity, &b) > 1e-6);
    flip(x->I.K);
    if (!damped) { // damping is not part of the loads
        flip(x->I.C);
        assert_true(relative(x, identity, &b) > 1e-6);
        flip(x->I.C);
    }
    assert_true(relative(x, identity, &b) == right);
}

static void wrong_signs_are_noticed(void **state) {
    (void)state;
    static lab x;
    const double h = 2.3e-3;
    lab_run(&x, "moreau-jean", "theta=0.7", "closed=nonstrict", h, false);
    check_signs(&x, by_theta, h, false);
    lab_run(&x, "newmark", "gamma=0.7", "beta=0.4", h, true);
    check_signs(&x, by_newmark, h, true);
    lab_run(&x, "newmark", "gamma=0.7", "beta=0.4", h, true); // the identity of another scheme does not hold
    assert_true(relative(&x, by_hht,
                         &(carom_balance){.h = h,
                                          .q_0 = x.q[1],
                                          .v_0 = x.v[1],
                                          .q_1 = x.q[2],
                                          .v_1 = x.v[2],
                                          .f_0 = x.f[1],
                                          .f_1 = x.f[2],
                                          .r = x.r,
                                          .a_0 = x.a[1],
                                          .a_1 = x.a[2]}) > 1e-6);
}

// End to end: a model whose stiffness has the wrong sign (Newton's method still finds its way at this step) is told by
// the ledger.
static carom_status wrong_tangent(const void *model, void *work, double t, const double *q, const double *v,
                                  carom_matrix K, carom_matrix C) {
    const carom_status status = chain_tangent(model, work, t, q, v, K, C);
    flip(K);
    return status;
}

static void ledger_tells_a_wrong_sign(void **state) {
    (void)state;
    static chain c;
    for (int i = 0; i < CHECKED; ++i) {
        lively_chain(&c);
        c.sys.tangent = wrong_tangent;
        carom_error err;
        carom_sim *sim = chain_sim(&c, checked[i].scheme, WITH(checked[i].a, checked[i].b), 2.3e-4, 0.2, &err);
        if (!sim) fail_msg("%s", err.text);
        while (!carom_sim_done(sim)) sim_step(sim);
        scheme_true(checked[i].scheme, sim_ledger(sim).energy.identity > 1e-6);
        carom_sim_destroy(sim);
    }
}

// -- where there is nothing to check --------------------------------------------------------------------------------

static carom_status follower_tangent(const void *model, void *work, double t, const double *q, const double *v,
                                     carom_matrix K, carom_matrix C) {
    const carom_status status = chain_tangent(model, work, t, q, v, K, C);
    *carom_matrix_entry(K, 0, 1) *= 1.5;
    return status;
}

static void unchecked_runs_say_so(void **state) {
    (void)state;
    static chain c;
    lively_chain(&c);
    carom_error err;
    static const struct {
        const char *scheme, *option;
    } runs[] = {{"moreau-jean", "identity=off"},
                {"newmark", "identity=off"},
                {"generalized-alpha", "rho=0.8"},
                {"newmark", "contact=velocity"},
                {"half-explicit", "closed=strict"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        carom_sim *sim = chain_sim(&c, runs[i].scheme, WITH(runs[i].option), 1e-3, 0.05, &err);
        while (!carom_sim_done(sim)) sim_step(sim);
        scheme_true(runs[i].scheme, isnan(sim_ledger(sim).energy.identity));
        carom_sim_destroy(sim);
    }
    c.sys.tangent = follower_tangent; // no energy belongs to a stiffness that is not symmetric
    carom_sim *sim = chain_sim(&c, "newmark", NULL, 1e-3, 0.01, &err);
    while (!carom_sim_done(sim)) sim_step(sim);
    assert_true(isnan(sim_ledger(sim).energy.identity));
    carom_sim_destroy(sim);
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0, true);
    sim = sim_of(&k, "moreau-jean", NULL, 1e-5, 1e-3);
    while (!carom_sim_done(sim)) sim_step(sim);
    assert_true(isnan(sim_ledger(sim).energy.identity));
    carom_sim_destroy(sim);
}

static void text_models_know_whether_they_are_linear(void **state) {
    (void)state;
    for (int i = 0; shipped[i]; ++i) {
        carom_model *m = shipped_model(shipped[i]);
        static const char *const linear[] = {"bouncing-ball",        "bouncing-ball-b",     "ball-in-box",
                                             "impacting-oscillator", "two-ball-oscillator", "pendulum",
                                             "rocking-block"}; // the last two: constant mass and weight, curved gaps
                                                               // only
        bool expected = false;
        for (size_t j = 0; j < sizeof linear / sizeof *linear; ++j)
            expected = expected || strcmp(linear[j], shipped[i]) == 0;
        if (((carom_model_system(m)->flags & CAROM_LINEAR) != 0) != expected)
            fail_msg("%s: linear or not?", shipped[i]);
        carom_model_destroy(m);
    }
    static const struct {
        const char *force;
        bool linear;
    } cases[] = {{"-3*x - 2*x'", true},  {"-3*x + sin(t)", true}, {"-3*x*(1 + t)", false}, {"-x^3", false},
                 {"-x'*abs(x')", false}, {"-x*x'", false},        {"-2*(x - 1)", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 1, rate: 0}}\nenergy: {kinetic: \"1/2*x'^2\"}\nforces: {x: \"%s\"}\n"
                 "simulation: {step: 1e-3, end: 1}\n",
                 cases[i].force);
        carom_model *m = good(text);
        if (((carom_model_system(m)->flags & CAROM_LINEAR) != 0) != cases[i].linear)
            fail_msg("%s: linear or not?", cases[i].force);
        carom_model_destroy(m);
    }
}

// What HHT's balance remembers of the step before is part of the state.
static void saved_runs_go_on_checking(void **state) {
    (void)state;
    static chain c;
    lively_chain(&c);
    carom_error err;
    carom_sim *whole = chain_sim(&c, "hht", NULL, 2.3e-3, 0.46, &err),
              *first = chain_sim(&c, "hht", NULL, 2.3e-3, 0.46, &err);
    while (!carom_sim_done(whole)) sim_step(whole);
    for (int i = 0; i < 77; ++i) sim_step(first);
    carom_sim *second = chain_sim(&c, "hht", NULL, 2.3e-3, 0.46, &err);
    size_t bytes, other;
    const void *saved = carom_sim_state(first, &bytes);
    assert_int_equal(carom_sim_restore(second, saved, bytes, &err), CAROM_OK);
    while (!carom_sim_done(second)) sim_step(second);
    const void *a = carom_sim_state(whole, &bytes), *b = carom_sim_state(second, &other);
    assert_int_equal(bytes, other);
    assert_memory_equal(a, b, bytes);
    carom_sim_destroy(whole);
    carom_sim_destroy(first);
    carom_sim_destroy(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balances_hold_on_a_driven_damped_chain),
        cmocka_unit_test(balances_hold_on_small_systems),
        cmocka_unit_test(violated_rules_of_dissipation_are_named),
        cmocka_unit_test(wrong_signs_are_noticed),
        cmocka_unit_test(ledger_tells_a_wrong_sign),
        cmocka_unit_test(unchecked_runs_say_so),
        cmocka_unit_test(text_models_know_whether_they_are_linear),
        cmocka_unit_test(saved_runs_go_on_checking),
    };
    return cmocka_run_group_tests_name("energy identities", tests, NULL, NULL);
}
