// test_rows.c: what is recorded when: rows at multiples of dt_out, forces of schemes that know impulses only.
#include "ignoring.h"
#include "model_text.h"
#include <carom/event.h>
#include <carom/result.h>

static const char *const BALL = "carom: 1\ncoordinates: {y: {at: 1, rate: 0}}\nenergy: {kinetic: 1/2*y'^2, potential: "
                                "9.81*y}\ncontacts: {c: {gap: y, restitution: 0.5}}\n";

// The times of all rows; *n of them, for free().
static double *times(const carom_model *m, const char *scheme, bool adaptive, double T, double h, double end, long *n) {
    static const char *const options[] = {"adaptive=on", NULL};
    carom_error err = {0};
    carom_sim *sim = model_sim(m, scheme, adaptive ? options : NULL, h, end);
    carom_record_def d = carom_record_default();
    d.model = m, d.sim = sim, d.memory = true, d.step = h, d.end = end, d.dt_out = T;
    carom_record *record = carom_record_create(&d, &err);
    if (!record || carom_record_advance(record, 0, 0, &err) != CAROM_OK ||
        carom_record_finish(record, "done", NULL, &err) != CAROM_OK)
        fail_msg("%s: %s", scheme, err.text);
    carom_result *result = carom_record_result(record, &err);
    *n = carom_result_rows(result);
    double *t = malloc(sizeof *t * (size_t)*n);
    assert_non_null(t);
    for (long i = 0; i < *n; ++i) t[i] = carom_result_values(result)[i * carom_result_columns(result)];
    carom_result_close(result);
    carom_record_destroy(record);
    carom_sim_destroy(sim);
    return t;
}

// Every multiple of T has its row, once: at k T itself where steps can end there; else at the first multiple of h, or
// the end, that is not before it.
static void every_multiple_has_its_row(void **state) {
    (void)state;
    static const double T[] = {0.05, 0.1, 0.01, 0.03, 1.0 / 3, 0.0999}, H[] = {1e-3, 7e-4, 0.0123, 0.05, 1e-3 / 3},
                        END[] = {3, 0.3, 1.1, 2.999};
    static const struct {
        const char *scheme;
        bool adaptive, exact;
    } cases[] = {{"half-explicit", false, false},
                 {"moreau-midpoint", false, false},
                 {"mixed", false, true},
                 {"event-driven", false, true},
                 {"half-explicit", true, true}};
    carom_model *m = good(BALL);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
        for (int i = 0; i < 6 * 5 * 4; ++i) {
            const double dt = T[i % 6], h = H[i / 6 % 5], end = END[i / 30];
            if (cases[c].exact && i % 3) continue; // slower ones
            long n, row = 0;
            double *t = times(m, cases[c].scheme, cases[c].adaptive, dt, h, end, &n), last = -1;
            const long rows = lround(floor(end / dt + 1e-9));
            for (long k = 0; k <= rows + 1; ++k) {
                double want = fmin((double)k * dt, end);
                if (!cases[c].exact) want = fmin(ceil(want / h - 1e-9) * h, end);
                if (want <= last * (1 + 1e-12)) continue; // the row of the multiple before
                const double off = cases[c].exact ? 4e-16 * fmax(want, 1) : 1e-12;
                if (row >= n || !(fabs(t[row] - want) <= off))
                    fail_msg("%s, dt_out %g, step %g, end %g: row %ld of %ld is at %.17g, not %.17g", cases[c].scheme,
                             dt, h, end, row, n, row < n ? t[row] : NAN, want);
                last = want, ++row;
            }
            if (row != n)
                fail_msg("%s, dt_out %g, step %g, end %g: %ld rows instead of %ld", cases[c].scheme, dt, h, end, n,
                         row);
            free(t);
        }
    carom_model_destroy(m);
}

// A block of 2 kg at rest: the contact carries 2 g and, at rest on a slope of 0.1 with friction, m g sin 0.1.  The
// pendulum's joint carries m (g + v^2/l) at the bottom.
static void a_body_at_rest_shows_its_weight(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0, rate: 0}, y: {at: 0, rate: 0}}\nenergy: {kinetic: x'^2 + "
                          "y'^2, potential: 2*9.81*(y*cos(0.1) + x*sin(0.1))}\n"
                          "contacts: {c: {gap: y, slip: x, friction: 0.5, restitution: 0.3}}\n");
    carom_model *smooth = good("carom: 1\ncoordinates: {y: {at: 0, rate: 0}}\nenergy: {kinetic: y'^2, potential: "
                               "2*9.81*y}\ncontacts: {c: {gap: y, restitution: 0.3}}\n");
    for (int i = 0; carom_schemes()[i]; ++i) {
        const carom_scheme *s = carom_schemes()[i];
        const bool friction = !(s->limitations & CAROM_NO_FRICTION);
        const carom_model *model = friction ? m : smooth;
        carom_sim *sim =
            model_sim(model, s->name, ignoring_impacts(s->name, carom_model_system(model), NULL), 1e-3, 0.1);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        const double weight = 2 * 9.81 * (friction ? cos(0.1) : 1);
        if (!(fabs(now.lasting[0] - weight) <= 1e-6 * weight))
            fail_msg("%s: force %.9g instead of %.9g", s->name, now.lasting[0], weight);
        if (friction && !(fabs(now.lasting[1] - 2 * 9.81 * sin(0.1)) <= 1e-6 * weight))
            fail_msg("%s: friction %.9g instead of %.9g", s->name, now.lasting[1], 2 * 9.81 * sin(0.1));
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
    carom_model_destroy(smooth);
}

// A ball that bounces has no force in any row of its flight, with any scheme; joints have theirs.
static void an_impact_is_no_force(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {y: {at: 0.1, rate: 0}, x: {at: 1, rate: 0}, z: {at: 0, rate: "
                          "0}}\nenergy: {kinetic: 1/2*(y'^2 + x'^2 + z'^2), potential: 9.81*(y + z)}\n"
                          "constraints: {rod: (x^2 + z^2 - 1)/2}\ncontacts: {c: {gap: y, restitution: 0.8}}\n");
    for (int i = 0; carom_schemes()[i]; ++i) {
        const carom_scheme *s = carom_schemes()[i];
        if (s->limitations & (CAROM_NO_IMPACTS | CAROM_NO_BILATERAL)) continue;
        carom_sim *sim = model_sim(m, s->name, NULL, 1e-3, 0.4);
        carom_error err = {0};
        while (!carom_sim_done(sim)) {
            assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
            if (carom_sim_now(sim).lasting[1] != 0)
                fail_msg("%s: force %g at t = %g", s->name, carom_sim_now(sim).lasting[1], carom_sim_now(sim).t);
        }
        // 3 sin of the angle times g: tension of a pendulum let go from the horizontal.
        const carom_now now = carom_sim_now(sim);
        const double tension = 3 * 9.81 * -now.q[2];
        if (!(fabs(-now.lasting[0] - tension) <= 0.05 * tension))
            fail_msg("%s: rod %.9g instead of %.9g", s->name, -now.lasting[0], tension);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Two boxes that pass each other far away and meet in the end: what is recorded is their distance, on the way from far
// to near too.
static void gaps_of_far_pairs_are_distances(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nbodies:\n  a: {mass: 1, inertia: 1, at: [0, 0], shape: {box: [1, 1]}}\n  b: "
                          "{mass: 1, inertia: 1, at: [8, 0.3], velocity: [-3, 0], spin: 0.5, shape: {box: [1, 1]}}\n"
                          "contacts: {hit: {between: [a, b], restitution: 1}}\noutputs: {first: hit.1.gap, eighth: "
                          "hit.8.gap, rate: \"hit.8.gap'\"}\n");
    carom_error err = {0};
    carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 1e-2, 3);
    carom_record_def d = carom_record_default();
    d.model = m, d.sim = sim, d.memory = true, d.step = 1e-2, d.end = 3, d.every = 1;
    carom_record *record = carom_record_create(&d, &err);
    assert_non_null(record);
    assert_int_equal(carom_record_advance(record, 0, 0, &err), CAROM_OK);
    static const char *const pairs[3][2] = {{"hit.1.gap", "first"}, {"hit.8.gap", "eighth"}, {"hit.8.gap'", "rate"}};
    double nearest = 1e9;
    for (int k = 0; k < 3; ++k) {
        int at[2] = {-1, -1};
        for (int i = 0; i < carom_record_columns(record); ++i)
            for (int j = 0; j < 2; ++j)
                if (strcmp(carom_record_column(record, i), pairs[k][j]) == 0) at[j] = i;
        assert_true(at[0] >= 0 && at[1] >= 0);
        for (long row = 0; row < carom_record_rows(record); ++row) {
            const double *x = carom_record_row(record, row);
            assert_close(x[at[0]], x[at[1]], 1e-12);
            if (k < 2) nearest = fmin(nearest, x[at[0]]);
        }
    }
    assert_true(nearest < 0.1); // they met
    carom_record_destroy(record);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A ball that falls from 1 m hits at t = sqrt(2/g) with sqrt(2 g) and leaves with half of it.  Both sides stand in the
// record, at the time of the impact, once each; the other rows are those of a run without them, bit for bit.
static void both_sides_of_an_event_have_rows_on_request(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "mixed", "auto"};
    carom_model *m = good(BALL);
    const double hit = sqrt(2 / 9.81), u = sqrt(2 * 9.81), tolerance[] = {1e-7, 1e-5, 1e-5};
    for (int k = 0; k < 3; ++k) {
        carom_error err = {0};
        carom_record *record[2];
        carom_sim *sim[2];
        for (int with = 0; with < 2; ++with) {
            sim[with] = model_sim(m, schemes[k], NULL, 1e-2, 0.8);
            carom_record_def d = carom_record_default();
            d.model = m, d.sim = sim[with], d.memory = true, d.step = 1e-2, d.end = 0.8, d.every = 1,
            d.event_rows = with;
            record[with] = carom_record_create(&d, &err);
            if (!record[with] || carom_record_advance(record[with], 0, 0, &err) != CAROM_OK)
                fail_msg("%s: %s", schemes[k], err.text);
        }
        const long rows = carom_record_rows(record[1]);
        assert_int_equal(rows, carom_record_rows(record[0]) + 2);
        const size_t width = sizeof(double) * (size_t)carom_record_columns(record[0]);
        long plain = 0, beside = 0;
        for (long i = 0; i < rows; ++i) {
            const double *x = carom_record_row(record[1], i);
            if (plain < carom_record_rows(record[0]) && memcmp(x, carom_record_row(record[0], plain), width) == 0) {
                ++plain;
                continue;
            }
            if (fabs(x[0] - hit) > tolerance[k] || fabs(x[2] - (beside ? 0.5 * u : -u)) > 100 * tolerance[k])
                fail_msg("%s: row beside the impact: t = %.9g, v = %.9g", schemes[k], x[0], x[2]);
            assert_true(isnan(x[8]) && isnan(x[9])); // c.force, c.impulse
            ++beside;
        }
        assert_int_equal(beside, 2);
        assert_int_equal(plain, carom_record_rows(record[0]));
        for (int with = 0; with < 2; ++with) carom_record_destroy(record[with]), carom_sim_destroy(sim[with]);
    }
    carom_error err = {0};
    carom_sim *sim = model_sim(m, "half-explicit", NULL, 1e-2, 0.8);
    carom_record_def d = carom_record_default();
    d.model = m, d.sim = sim, d.memory = true, d.step = 1e-2, d.end = 0.8, d.event_rows = true;
    assert_null(carom_record_create(&d, &err));
    assert_non_null(strstr(err.text, "does not locate events"));
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Contacts that come and go: there are more of them at an event than at the start, when room was made.
static void sides_of_events_of_contacts_that_come(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ngravity: [0, 0, -9.81]\nbodies: {b: {mass: 1, inertia: [1, 1, 1], at: [0.01, 0, "
                          "1], "
                          "shape: {hull: [[0.2, 0.2, 0], [-0.2, 0.2, 0], [0.2, -0.2, 0], [-0.2, -0.2, 0], [0, 0, 0.2]]}"
                          "}}\nshapes: {f: {box: [4, 4, 0.2]}}\ncontacts: {c: {between: [b, f]}}\n");
    carom_error err = {0};
    carom_sim *sim = model_sim(m, "event-driven", NULL, 1e-2, 0.6);
    carom_record_def d = carom_record_default();
    d.model = m, d.sim = sim, d.memory = true, d.step = 1e-2, d.end = 0.6, d.event_rows = true;
    carom_record *record = carom_record_create(&d, &err);
    assert_non_null(record);
    assert_int_equal(carom_sim_run(sim, carom_record_step, record, &err), CAROM_OK);
    assert_true(carom_record_rows(record) > 61 + 1); // both sides of an impact at least
    carom_record_destroy(record);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_multiple_has_its_row),
        cmocka_unit_test(a_body_at_rest_shows_its_weight),
        cmocka_unit_test(an_impact_is_no_force),
        cmocka_unit_test(gaps_of_far_pairs_are_distances),
        cmocka_unit_test(both_sides_of_an_event_have_rows_on_request),
        cmocka_unit_test(sides_of_events_of_contacts_that_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
