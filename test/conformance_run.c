// conformance_run.c: what every scheme owes to whoever runs it: same bits every time, state that can be saved, ends
// that are met, smaller steps instead of failures, sentences instead of crashes.
#include "schemes.h"
#include <stdlib.h>

// -- same bits --------------------------------------------------------------------------------------------------------

static void crank_for(known *k, const carom_scheme *s) {
    known_slider_crank(k, 1e-3, 0.4, s->limitations & CAROM_NO_FRICTION ? 0 : 0.01, false);
}

static void same_state(const carom_scheme *s, const carom_sim *a, const carom_sim *b) {
    size_t na = 0, nb = 0;
    const void *pa = carom_sim_state(a, &na), *pb = carom_sim_state(b, &nb);
    assert_int_equal(na, nb);
    scheme_true(s->name, memcmp(pa, pb, na) == 0);
}

enum { STEPS = 600 }; // past the first impacts of the slider-crank into sliding contact
static const double H = 2e-5;

static void repeating_gives_the_same_bits(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        known k;
        crank_for(&k, s);
        carom_sim *a = sim_of(&k, s->name, NULL, H, STEPS * H), *b = sim_of(&k, s->name, NULL, H, STEPS * H);
        while (!carom_sim_done(a)) sim_step(a);
        while (!carom_sim_done(b)) sim_step(b);
        same_state(s, a, b);
        scheme_true(s->name, s->limitations & CAROM_NO_IMPACTS || sim_ledger(a).impacts > 0);
        carom_sim_destroy(a);
        carom_sim_destroy(b);
    }
}

static void interleaved_simulations_do_not_disturb_each_other(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        known k, other;
        crank_for(&k, s);
        known_rocking_block(&other);
        carom_sim *alone = sim_of(&k, s->name, NULL, H, STEPS * H), *mixed = sim_of(&k, s->name, NULL, H, STEPS * H);
        carom_sim *noise = sim_of(&other, s->name, NULL, 1e-3, STEPS * 1e-3);
        while (!carom_sim_done(alone)) sim_step(alone);
        while (!carom_sim_done(mixed)) {
            sim_step(mixed);
            sim_step(noise);
        }
        same_state(s, alone, mixed);
        carom_sim_destroy(alone);
        carom_sim_destroy(mixed);
        carom_sim_destroy(noise);
    }
}

static void saved_state_goes_on_with_the_same_bits(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        known k;
        crank_for(&k, s);
        carom_sim *whole = sim_of(&k, s->name, NULL, H, STEPS * H);
        while (!carom_sim_done(whole)) sim_step(whole);
        for (int cut = 1; cut < STEPS; cut += 149) { // 150, 299 are in the middle of contacts
            carom_sim *first = sim_of(&k, s->name, NULL, H, STEPS * H),
                      *second = sim_of(&k, s->name, NULL, H, STEPS * H);
            for (int i = 0; i < cut; ++i) sim_step(first);
            for (int i = 0; i < 7; ++i) sim_step(second); // whatever it did before is forgotten
            size_t bytes;
            carom_error err;
            const void *saved = carom_sim_state(first, &bytes);
            assert_int_equal(carom_sim_restore(second, saved, bytes, &err), CAROM_OK);
            while (!carom_sim_done(second)) sim_step(second);
            same_state(s, whole, second);
            carom_sim_destroy(first);
            carom_sim_destroy(second);
        }
        carom_sim_destroy(whole);
    }
}

// -- ends -------------------------------------------------------------------------------------------------------------

static void last_step_is_shortened_to_meet_the_end(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_STEP_CHANGE)) continue;
        known k;
        known_ball(&k, 1, -2, 0.5, 100);
        carom_sim *sim = sim_of(&k, s->name, NULL, 0.3, 1);
        assert_int_equal(carom_sim_total_steps(sim), 4);
        while (!carom_sim_done(sim)) sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        assert_true(now.t == 1);
        assert_int_equal(now.step, 4);
        scheme_near(s->name, now.v[0], -2, 1e-14); // constant force: v is exact for steps of any size
        carom_sim_destroy(sim);
    }
}

static void whole_number_of_steps_stays_whole(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        known k;
        known_ball(&k, 1, -2, 0.5, 100);
        carom_sim *sim = sim_of(&k, s->name, NULL, 0.1, 0.3); // 0.3/0.1 is not 3 in binary
        assert_int_equal(carom_sim_total_steps(sim), 3);
        while (!carom_sim_done(sim)) sim_step(sim);
        assert_true(carom_sim_now(sim).t == 0.3);
        carom_error err;
        assert_int_equal(carom_sim_step(sim, &err), CAROM_END);
        carom_sim_destroy(sim);
    }
}

// -- smaller steps ----------------------------------------------------------------------------------------------------

// A model with a border: its mass is not defined deeper than 0.02 below the floor, where a long trial step gets to. The
// ball comes from 0.05 with velocity -1 and leaves with +1; no force.
static carom_status bordered_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t;
    *carom_matrix_entry(M, 0, 0) = 1;
    return q[0] < -0.02 ? CAROM_RETRY : CAROM_OK;
}

static void bordered_ball(known *k) {
    known_ball(k, 1, 0, 1, 0.05);
    k->v0[0] = -1;
    k->sys.flags = CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    k->sys.mass = bordered_mass;
}

static void failed_step_is_made_in_smaller_ones(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        known k;
        bordered_ball(&k);
        carom_error err;
        const carom_sim_def d = run_of(&k, s->name, 0.2, 1);
        carom_sim *sim = carom_sim_create(&d, &err);
        // the step before led there
        const bool late = (s->promises.forces | s->promises.gaps | s->promises.directions) == CAROM_AT_START;
        if (late || s->limitations & CAROM_NO_STEP_CHANGE) { // it must say so instead
            carom_status status = sim ? CAROM_OK : err.code;
            while (sim && status == CAROM_OK && !carom_sim_done(sim)) status = carom_sim_step(sim, &err);
            scheme_true(s->name, status == CAROM_NOT_CONVERGED && strstr(err.text, "mass"));
            carom_sim_destroy(sim);
            continue;
        }
        assert_non_null(sim);
        while (!carom_sim_done(sim)) sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        const carom_ledger l = sim_ledger(sim);
        scheme_true(s->name, l.rejected > 0 || s->controls_own_steps); // its own steps need not be too long
        assert_int_equal(l.steps, 5);
        assert_int_equal(l.impacts, 1);
        scheme_near(s->name, now.v[0], 1, 1e-13);
        // exact: 0.95.  The floor is met in a step of at most 0.1, so its time is wrong by that, and the way by twice
        // that
        scheme_near(s->name, now.q[0], 0.95, 0.2);
        scheme_near(s->name, l.energy.balance, 0, 1e-13);
        carom_sim_destroy(sim);
    }
}

static carom_status refusing_force(const void *model, void *work, double t, const double *q, const double *v,
                                   double *f) {
    (void)work, (void)q, (void)v;
    f[0] = -2;
    const int code = (int)((const known *)model)->par[6];
    return t > 0.5 ? (carom_status)code : CAROM_OK;
}

// A model that refuses for good: the run stops with a sentence, at the last good state.
static void hopeless_step_ends_with_a_sentence(void **state) {
    (void)state;
    static const struct {
        carom_status given, expected;
    } cases[] = {{CAROM_RETRY, CAROM_NOT_CONVERGED}, {CAROM_USER, CAROM_USER}};
    const carom_scheme *s;
    for (EACH_SCHEME(s))
        for (int i = 0; i < 2; ++i) {
            known k;
            known_ball(&k, 1, -2, 0.5, 100);
            k.sys.force = refusing_force;
            k.par[6] = cases[i].given;
            carom_sim *sim = sim_of(&k, s->name, NULL, 0.1, 1);
            carom_error err = {0};
            assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), cases[i].expected);
            assert_int_equal(err.code, cases[i].expected);
            scheme_true(s->name, strstr(err.text, "t = 0.") && strstr(err.text, "forces"));
            const carom_now now = carom_sim_now(sim);
            scheme_true(s->name, now.t > 0.35 && now.t < 0.75);
            scheme_near(s->name, now.t, 0.1 * (double)now.step, 1e-12);
            scheme_true(s->name, isfinite(now.q[0]) && isfinite(now.v[0]));
            carom_sim_destroy(sim);
        }
}

// The first half of a refused step succeeds, the second never does: the simulation still stands at the start of that
// step.
static carom_status late_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t, (void)v;
    f[0] = -2;
    return q[0] < -3.45 ? CAROM_RETRY : CAROM_OK; // reached at t = 0.55, from 1 with velocity -8 and force -2
}

static void failure_in_the_middle_of_a_step_undoes_all_of_it(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        known k;
        known_ball(&k, 1, -2, 0.5, 1);
        k.v0[0] = -8;
        k.sys.nc = 0;
        k.sys.force = late_force;
        carom_sim *sim = sim_of(&k, s->name, NULL, 0.1, 1);
        carom_error err = {0};
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_NOT_CONVERGED);
        const carom_now now = carom_sim_now(sim);
        // velocities are exact under constant force, at the time that is told
        scheme_near(s->name, now.v[0], -8 - 2 * now.t, 1e-13);
        scheme_near(s->name, now.t, 0.1 * (double)now.step, 1e-12);
        carom_sim_destroy(sim);
    }
}

// A step that explodes is told, not passed on.
static carom_status exploding_force(const void *model, void *work, double t, const double *q, const double *v,
                                    double *f) {
    (void)model, (void)work, (void)q, (void)v;
    f[0] = t > 0.5 ? NAN : 0;
    return CAROM_OK;
}

static void numbers_that_are_none_stop_the_run(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        known k;
        known_ball(&k, 1, -2, 0.5, 100);
        k.sys.force = exploding_force;
        carom_sim *sim = sim_of(&k, s->name, NULL, 0.1, 1);
        carom_error err = {0};
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_NOT_CONVERGED);
        scheme_true(s->name, strstr(err.text, "t = 0."));
        const carom_now now = carom_sim_now(sim); // the last good state
        scheme_true(s->name, isfinite(now.q[0]) && isfinite(now.v[0]));
        carom_sim_destroy(sim);
    }
}

// -- what a scheme lacks ----------------------------------------------------------------------------------------------

static void refused(const carom_scheme *s, const known *k, double h, double T, const char *what) {
    carom_error err;
    const carom_sim_def d = run_of(k, s->name, h, T);
    carom_sim *sim = carom_sim_create(&d, &err);
    scheme_true(s->name, !sim);
    assert_int_equal(err.code, CAROM_UNSUPPORTED);
    if (!strstr(err.text, what) || !strstr(err.text, s->name))
        fail_msg("%s: '%s' does not name '%s'", s->name, err.text, what);
    scheme_true(s->name, strstr(err.text, "moreau-jean")); // a scheme that can do everything is offered
}

static void lacking_schemes_refuse_and_name_others(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        known k;
        known_slope(&k, 1, 0.1, 0.5);
        if (s->limitations & CAROM_NO_FRICTION) refused(s, &k, 1e-2, 1, "friction");
        known_pendulum_free(&k);
        if (s->limitations & CAROM_NO_BILATERAL) refused(s, &k, 1e-2, 1, "bilateral");
        known_rocking_block(&k);
        k.contact[1].restitution = 0.7;
        if (s->limitations & CAROM_NO_UNEQUAL_RESTITUTION) refused(s, &k, 1e-2, 1, "restitution");
        known_ball_a(&k);
        if (s->limitations & CAROM_NO_STEP_CHANGE) refused(s, &k, 0.3, 1, "whole number");
    }
}

// -- bodies that stop ------------------------------------------------------------------------------------

// Three unit masses without forces run into three oblique walls with e = 0 and stand still: momentum is cancelled to
// nothing, so no tolerance may be relative to what is left of it.  n.k walls: g = off + sum n_i q_i.
typedef struct corner {
    double n[3][3];
} corner;

static carom_status corner_mass(const void *m, void *w, double t, const double *q, carom_matrix M) {
    (void)m, (void)w, (void)t, (void)q;
    for (int i = 0; i < 3; ++i) *carom_matrix_entry(M, i, i) = 1;
    return CAROM_OK;
}
static carom_status corner_force(const void *m, void *w, double t, const double *q, const double *v, double *f) {
    (void)m, (void)w, (void)t, (void)q, (void)v, (void)f;
    return CAROM_OK;
}
static carom_status corner_gaps(const void *m, void *w, double t, const double *q, double *g) {
    const corner *c = m;
    (void)w, (void)t;
    for (int k = 0; k < 3; ++k) g[k] = 0.1 + carom_dot(c->n[k], q, 3);
    return CAROM_OK;
}
static carom_status corner_directions(const void *m, void *w, double t, const double *q, carom_local *L) {
    const corner *c = m;
    (void)w, (void)t, (void)q;
    for (int b = 0; b < L->nb; ++b) carom_copy(L->W.a + 3 * b, c->n[L->id[b]], 3);
    return CAROM_OK;
}

static double uniform(unsigned *seed) { // in [0, 1), the same everywhere
    *seed = *seed * 1664525u + 1013904223u;
    return *seed / 4294967296.0;
}

static void bodies_may_stop_in_a_corner(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        unsigned seed = 1;
        for (int i = 0; i < 60; ++i) {
            corner c;
            carom_contact contacts[3] = {{0}};
            double q[3] = {0}, v[3];
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b < 3; ++b) c.n[a][b] = (a == b) + 0.8 * (uniform(&seed) - 0.5);
            for (int a = 0; a < 3; ++a) v[a] = -1 - uniform(&seed);
            carom_system sys = carom_system_default(3, 3, 0, 3);
            sys.contacts = contacts, sys.model = &c;
            sys.mass = corner_mass, sys.force = corner_force, sys.gaps = corner_gaps,
            sys.directions = corner_directions;
            carom_sim_def def = carom_sim_default();
            def.schemes = all_schemes(), def.system = &sys, def.scheme = s->name,
            def.options = ignoring_impacts(s->name, &sys, NULL), def.h = 1e-2, def.t_end = 1, def.q0 = q, def.v0 = v;
            carom_error err = {0};
            carom_sim *sim = carom_sim_create(&def, &err);
            if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK)
                fail_msg("%s, case %d: %s", s->name, i, err.text);
            carom_sim_destroy(sim);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeating_gives_the_same_bits),
        cmocka_unit_test(interleaved_simulations_do_not_disturb_each_other),
        cmocka_unit_test(saved_state_goes_on_with_the_same_bits),
        cmocka_unit_test(last_step_is_shortened_to_meet_the_end),
        cmocka_unit_test(whole_number_of_steps_stays_whole),
        cmocka_unit_test(failed_step_is_made_in_smaller_ones),
        cmocka_unit_test(hopeless_step_ends_with_a_sentence),
        cmocka_unit_test(failure_in_the_middle_of_a_step_undoes_all_of_it),
        cmocka_unit_test(numbers_that_are_none_stop_the_run),
        cmocka_unit_test(lacking_schemes_refuse_and_name_others),
        cmocka_unit_test(bodies_may_stop_in_a_corner),
    };
    return cmocka_run_group_tests_name("schemes: running them", tests, NULL, NULL);
}
