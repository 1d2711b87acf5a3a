// conformance_points.c: every scheme evaluates its model where its table says, and stays stable up to the step that it
// says.
//
// Errors of first order hide evaluations at a wrong point of the step: both are right to O(h).  So the model watches
// where it is evaluated.
#include "base/option.h"
#include "schemes.h"

// A unit mass slides along a floor, without forces: q(t) = q_0 + v (t - t_0) exactly, whatever the scheme, and the
// contact is closed all the time.
typedef struct watch {
    const carom_scheme *scheme;
    bool on;            // inside a step
    double t, h, q[2], v[2];
    unsigned forces, gaps, directions; // points of steps so far
} watch;

static watch seen; // a step knows its scheme only

static void note(unsigned *points, double t, const double *q, const char *what) {
    static const struct {
        double x;
        unsigned point;
    } places[] = {{0, CAROM_AT_START}, {0.5, CAROM_AT_MIDDLE}, {1, CAROM_AT_END}};
    if (!seen.on) return;
    const double x = (t - seen.t) / seen.h, off = 1e-3 * seen.h * seen.v[0]; // differences move q by far less
    for (int i = 0; i < 2; ++i)
        if (!(fabs(q[i] - seen.q[i] - (t - seen.t) * seen.v[i]) <= off))
            fail_msg("%s: %s at t_0 + %.3f h, but at the position of t_0 + %.3f h", seen.scheme->name, what, x,
                     (q[0] - seen.q[0]) / seen.v[0] / seen.h);
    unsigned point = CAROM_AT_OTHERS;
    for (int i = 0; i < 3; ++i)
        if (fabs(x - places[i].x) < 1e-3) point = places[i].point;
    *points |= point;
}

static carom_status mass(const void *m, void *w, double t, const double *q, carom_matrix M) {
    (void)m, (void)w;
    unsigned any = 0;
    note(&any, t, q, "mass");
    for (int i = 0; i < 2; ++i) *carom_matrix_entry(M, i, i) = 1;
    return CAROM_OK;
}
static carom_status force(const void *m, void *w, double t, const double *q, const double *v, double *f) {
    (void)m, (void)w, (void)v, (void)f;
    note(&seen.forces, t, q, "forces");
    return CAROM_OK;
}
static carom_status gaps(const void *m, void *w, double t, const double *q, double *g) {
    (void)m, (void)w;
    note(&seen.gaps, t, q, "gaps");
    g[0] = q[1];
    return CAROM_OK;
}
static carom_status directions(const void *m, void *w, double t, const double *q, carom_local *L) {
    (void)m, (void)w;
    if (L->nb > 0) {
        note(&seen.directions, t, q, "directions");
        L->W.a[0] = 0;
        L->W.a[1] = 1;
    }
    return CAROM_OK;
}

static carom_status watched_step(void *work, carom_step *s) {
    seen.on = s->n > 0; // the first one may start in another way
    seen.t = s->t, seen.h = s->h;
    carom_copy(seen.q, s->q, 2);
    carom_copy(seen.v, s->v, 2);
    const carom_status status = seen.scheme->step(work, s);
    seen.on = false;
    return status;
}

static void points(char *text, unsigned set) {
    static const char *const names[] = {" start", " middle", " end", " others"};
    text[0] = 0;
    for (int i = 0; i < 4; ++i)
        if (set >> i & 1) strcat(text, names[i]);
}

static void evaluated_at(const carom_scheme *s, const char *what, unsigned declared, unsigned found) {
    char a[64], b[64];
    points(a, declared);
    points(b, found);
    if (declared ? declared != found : s->order < 3 && !s->emits_events)
        fail_msg("%s: %s are evaluated at%s, its table says%s", s->name, what, b, declared ? a : " nothing");
}

static void evaluations_are_where_the_table_says(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        carom_system sys = carom_system_default(2, 2, 0, 1);
        const carom_contact contact = {.restitution = 0.5};
        sys.contacts = &contact;
        sys.mass = mass, sys.force = force, sys.gaps = gaps, sys.directions = directions;
        carom_scheme table = *s;
        const carom_scheme *const schemes[] = {&table, NULL};
        table.step = watched_step;
        seen = (watch){.scheme = s};
        carom_sim_def d = carom_sim_default();
        d.system = &sys, d.schemes = schemes, d.scheme = s->name, d.options = ignoring_impacts(s->name, &sys, NULL);
        d.h = 0.01, d.t_end = 0.1, d.q0 = (const double[]){0.2, 0}, d.v0 = (const double[]){3, 0};
        carom_error err;
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim) fail_msg("%s", err.text);
        while (!carom_sim_done(sim)) sim_step(sim);
        scheme_near(s->name, carom_sim_now(sim).q[0], 0.5, 1e-12);
        carom_sim_destroy(sim);
        evaluated_at(s, "forces", s->promises.forces, seen.forces);
        evaluated_at(s, "gaps", s->promises.gaps, seen.gaps);
        evaluated_at(s, "directions", s->promises.directions, seen.directions);
    }
}

// x'' = -x: below the limit that a scheme declares, amplitudes stay; of the leapfrog family at 0.99 of it, 1/sqrt(1 -
// 0.99^2) = 7.1 times the start.
static void oscillations_are_stable_up_to_the_declared_step(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        double opt[16];
        assert_true(carom_option_count(s->options) <= 16);
        carom_option_defaults(s->options, opt);
        const double limit = s->stable_of ? s->stable_of(opt) : s->stable;
        if (!(limit > 0 && isfinite(limit))) continue;
        known k;
        known_oscillator(&k, 1);
        k.sys.nc = 0;
        carom_sim *sim = sim_of(&k, s->name, NULL, 0.99 * limit, 0.99 * limit * 1000);
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            scheme_near(s->name, carom_sim_now(sim).q[0], 0, 10);
        }
        carom_sim_destroy(sim);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluations_are_where_the_table_says),
        cmocka_unit_test(oscillations_are_stable_up_to_the_declared_step),
    };
    return cmocka_run_group_tests_name("schemes: where they evaluate", tests, NULL, NULL);
}
