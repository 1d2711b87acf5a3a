// test_narrow.c: forces and gaps that change and come back within a step of schemes that locate events.
#include "model_text.h"
#include <carom/event.h>

typedef struct run_of { const char *scheme, *options[4]; double off; } run_of;
static const run_of runs[] = {
    {"auto", {NULL}, 3e-6}, {"event-driven", {NULL}, 1e-8}, {"splitting", {"adaptive=on", NULL}, 1e-3}};

static void end_of(const char *text, const run_of *r, double h, double end, double *x, double *v, carom_ledger *l) {
    carom_error err = {0};
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, r->scheme, r->options, h, end);
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    *x = now.q[0], *v = now.v[0];
    if (carom_sim_ledger(sim, l, &err) != CAROM_OK) fail_msg("%s: %s", r->scheme, err.text);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A point with v = 1 and the energy 1/2 meets a barrier of the height A: it comes back with -1 where A > 1/2, and
// passes else, also a hollow.
static void narrow_barriers(void **state) {
    (void)state;
    static const struct {
        double A, width, at;
    } b[] = {{0.8, 2e-3, 0.5037}, {0.8, 1e-4, 0.31}, {0.6, 1e-5, 0.777}, {0.8, 3e-2, 0.6},
             {0.3, 1e-3, 0.45},   {-0.9, 1e-3, 0.5}, {0.7, 5e-3, 0.12}};
    static const double step[] = {1e-2, 0.1, 1};
    for (int i = 0; i < 7; ++i)
        for (int k = 0; k < 3; ++k)
            for (int j = 0; j < 3; ++j) {
                char text[300];
                double x, v;
                carom_ledger l;
                snprintf(text, sizeof text,
                         "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2, potential: "
                         "'%g*exp(-((x - %g)/%g)^2)'}\n",
                         b[i].A, b[i].at, b[i].width);
                end_of(text, &runs[k], step[j], 1, &x, &v, &l);
                const double exact = b[i].A > 0.5 ? -1 : 1;
                if (!(fabs(v - exact) <= runs[k].off))
                    fail_msg("%s, %g: barrier %g of the width %g at %g: v = %.9g", runs[k].scheme, step[j], b[i].A,
                             b[i].width, b[i].at, v);
            }
}

// `mixed` has no estimate of its error: energy is kept to 3e-4 of what the barrier takes and gives back, 1e-4 each by
// (HF-1), (HF-3) and what counts as none, where parts are no longer than what these see.
static void barriers_and_constant_steps(void **state) {
    (void)state;
    static const double step[] = {0.1, 1e-2, 5e-3, 2e-3, 1e-3}, width[] = {2e-3, 1e-4, 3e-2};
    static const run_of mixed = {"mixed", {NULL}, 0};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 5; ++j) {
            char text[300];
            double x, v;
            carom_ledger l;
            snprintf(text, sizeof text,
                     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2, potential: "
                     "'0.8*exp(-((x - 0.5037)/%g)^2)'}\n",
                     width[i]);
            end_of(text, &mixed, step[j], 1, &x, &v, &l);
            if (!(v < 0) || !(fabs(l.energy.balance) <= 3e-4 * 2 * 0.5)) // up, and down again
                fail_msg("mixed, %g, width %g: v = %g, balance %g", step[j], width[i], v, l.energy.balance);
        }
}

// Stages of a vibration that is too fast for the steps differ from the path, too, but its force is not narrow: steps of
// 3 rad are damped, and are not divided into parts that gain energy.
static void vibrations_are_not_narrow(void **state) {
    (void)state;
    static const run_of splitting = {"splitting", {NULL}, 0};
    double x, v;
    carom_ledger l;
    end_of("carom: 1\ncoordinates: {x: {at: 1e-3}}\nenergy: {kinetic: 1/2*x'^2, potential: 5e7*x^2/(1 + x^2)}\n",
           &splitting, 3e-4, 0.2, &x, &v, &l);
    assert_true(l.energy.end < 1e-6 * l.energy.start);
}

// The same with other functions, units, and a force that holds it back on the way: energy 1/2 v^2 - a x at the end.
static void narrow_barriers_of_other_kinds(void **state) {
    (void)state;
    static const char *const barrier[] = {"0.8/(1 + ((x - c)/w)^2)", "0.4*(tanh((x - c)/w + 3) - tanh((x - c)/w - 3))",
                                          "0.8/cosh((x - c)/w)"};
    for (int i = 0; i < 3; ++i)
        for (int u = -6; u <= 6; u += 6)
            for (int k = 0; k < 2; ++k) {
                char text[400];
                double x, v;
                carom_ledger l;
                const double L = pow(10, u);
                snprintf(text, sizeof text,
                         "carom: 1\nparameters: {L: %g, c: 0.437, w: 1e-3}\ncoordinates: {y: {at: 0, rate: L}}\nlet: "
                         "{x: y/L}\nenergy: {kinetic: 1/2*y'^2, potential: 'L^2*(%s + 0.1*x)'}\n",
                         L, barrier[i]);
                end_of(text, &runs[k], 0.1, 1, &x, &v, &l);
                if (!(v < 0) || !(fabs(l.energy.balance) <= 1e-5 * L * L))
                    fail_msg("%s, %s, unit 1e%d: v = %g, balance %g", runs[k].scheme, barrier[i], u, v / L,
                             l.energy.balance / L / L);
            }
}

// A wall comes out by 0.1 for a moment: it strikes a point at 0.05, which follows it until its speed is largest, 0.1
// sqrt(2/e)/w.  One at 0.07 is left at its impact, where the wall moves with 0.14 sqrt(log(1/0.7))/w.
static void narrow_pulses_of_a_wall(void **state) {
    (void)state;
    static const double width[] = {1e-2, 1e-3, 1e-4}, at[] = {0.5037, 0.21}, step[] = {1e-2, 1};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 2; ++j)
            for (int s = 0; s < 2; ++s)
                for (int k = 0; k < 3; ++k)
                    for (int place = 0; place < 2; ++place) {
                        char text[300];
                        double x, v;
                        carom_ledger l;
                        snprintf(text, sizeof text,
                                 "carom: 1\ncoordinates: {x: %g}\nenergy: {kinetic: 1/2*x'^2}\ncontacts: {c: {gap: 'x "
                                 "- 0.1*exp(-((t - %g)/%g)^2)', restitution: 0}}\n",
                                 place ? 0.07 : 0.05, at[j], width[i]);
                        end_of(text, &runs[k], step[s], 1, &x, &v, &l);
                        const double exact =
                            place ? 0.14 * sqrt(log(1 / 0.7)) / width[i] : 0.1 * sqrt(2 / exp(1)) / width[i];
                        if (!(fabs(v / exact - 1) <= fmax(runs[k].off, 1e-6)) || l.impacts < (k < 2))
                            fail_msg("%s, %g: pulse of %g at %g: v = %.9g instead of %.9g, %ld impacts", runs[k].scheme,
                                     step[s], width[i], at[j], v, exact, l.impacts);
                    }
}

// A point with v = 1 meets a force that jumps, or bends, and comes back within 1 mm: the work W of all of them is
// known, v^2 = 1 - 2 W.  Where forces jump the estimate of an error is of first order: `auto` to 1e-4, beyond kinks as
// elsewhere.
static const struct {
    const char *force;
    double work;
    bool jumps;
} spots[] = {{"-if((x - 0.403)*(0.404 - x) > 0, 400, 0)", 0.4, true},
             {"-if(x < 0.403, 0, if(x < 0.404, 400, 0))", 0.4, true},
             {"-if(abs(x - 0.4037) < 0.5e-3, 400, 0)", 0.4, true},
             {"-200*(sign(x - 0.403) - sign(x - 0.404))", 0.4, true},
             {"f(x)", 0.4, false},
             {"-800e3*max(0, 0.5e-3 - abs(x - 0.4037))", 0.2, false}};

static void spot_text(char *text, size_t room, int i) {
    snprintf(text, room,
             "carom: 1\ntables: {f: {x: [-1, 0.403, 0.4032, 0.4038, 0.404, 3], y: [0, 0, -500, -500, 0, 0]}}\n"
             "coordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: '%s'}\n",
             spots[i].force);
}

static void forces_that_jump_and_come_back(void **state) {
    (void)state;
    static const run_of run[] = {{"auto", {NULL}, 1e-4},
                                 {"event-driven", {NULL}, 1e-8},
                                 {"mixed", {NULL}, 3e-4}, // as for barriers
                                 {"splitting", {NULL}, 3e-4}};
    static const double step[] = {1e-3, 1e-2, 0.1};
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j < (k < 3 ? 3 : 2); ++j) { // a step of `splitting` has a limit of parts, and says so
                char text[500];
                double x, v;
                carom_ledger l;
                spot_text(text, sizeof text, i);
                end_of(text, &run[k], step[j], 1, &x, &v, &l);
                const double exact = sqrt(1 - 2 * spots[i].work), off = k == 0 && !spots[i].jumps ? 3e-6 : run[k].off;
                if (!(fabs(v - exact) <= off))
                    fail_msg("%s, %g: %s: v = %.9g instead of %.9g", run[k].scheme, step[j], spots[i].force, v, exact);
            }
}

// A body of v = 1 slides on a floor with g = 10, lengths in units of L.
static void slide_text(char *text, size_t room, double L, const char *mu) {
    snprintf(text, room,
             "carom: 1\nparameters: {L: %g}\ncoordinates: {X: {at: 0, rate: L}, Y: 0}\nlet: {x: X/L}\nenergy: "
             "{kinetic: 1/2*(X'^2 + Y'^2), potential: 10*L*Y}\ncontacts: {c: {gap: Y, slip: X, friction: '%s'}}\n",
             L, mu);
}

// mu from 0.01 to 0.5 for good; and a strip of 1 mm, which holds the body, or lets it go with  v^2 = 1 - 2 g (mu L +
// mu_1 1 mm)  at its end.  Constant deceleration is exact for every scheme, and so is where it changes.  Stages of
// `splitting` on both sides of a jump move it there by some of h^2/2 times the difference, 400 h^2/2 of a part of 1e-3
// s, times 400: 2e-3 of a velocity of which the strip takes most.
static void friction_that_depends_on_places(void **state) {
    (void)state;
    static const char *const scheme[] = {"auto", "event-driven", "mixed", "splitting"};
    static const struct {
        const char *mu;
        double end, x, v;
    } c[] = {{"if(x < 0.3037, 0.01, 0.5)", 0.35, 0.33964679899995, 0.76144074621762},
             {"0.01 + 50*(x > 0.4032)*(x < 0.4042)", 1, 0.4032 + 0.91936 / 2 / 500.1, 0},
             {"0.01 + if(abs(x - 0.3037) < 0.5e-3, 40, 0)", 1, 0.537966523033, 0.303984695985}};
    static const double step[] = {1e-3, 1e-2, 1e-1}, unit[] = {1e-6, 1, 1e6};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j < 3; ++j) {
                char text[400];
                double x, v;
                carom_ledger l;
                slide_text(text, sizeof text, unit[j], c[i].mu);
                const run_of run = {scheme[k], {NULL}, i == 2 && k == 3 ? 5e-3 : k == 3 ? 3e-6 : 1e-6};
                end_of(text, &run, step[j], c[i].end, &x, &v, &l);
                x /= unit[j], v /= unit[j];
                if (!(fabs(v - c[i].v) <= run.off && fabs(x - c[i].x) <= run.off))
                    fail_msg("%s, %g: mu = %s: x = %.12g, v = %.12g", scheme[k], step[j], c[i].mu, x, v);
            }
}

static carom_status count(void *user, const carom_change *c) {
    (void)c;
    *(int *)user += 1;
    return CAROM_OK;
}

// What rests on a kink, or on the border of friction, by rounding on either side: no event but the start, whatever the
// interval between records, and it stays where it is, but for what rounding makes of a stiff force.
static void rest_at_kinks(void **state) {
    (void)state;
    static const char *const scheme[] = {"auto", "event-driven", "mixed", "splitting"}, *const model[] = {
        "coordinates: {x: 0.3}\nenergy: {kinetic: 1/2*x'^2, potential: '50*(x - 0.1*3)^2 + 200*max(0, x - 0.1*3)^2'}\n",
        "coordinates: {x: 0.3}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: '100*abs(x - 0.3) - 200*(x - 0.3)'}\n",
        "coordinates: {x: 0.3}\nenergy: {kinetic: 1/2*x'^2}\ncontacts: {c: {gap: x - 0.1*3, stiffness: 1e4, damping: "
        "0.1, friction: 0}}\n",
        "coordinates: {x: 0.3, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 10*y - 2*x}\ncontacts: {c: {gap: "
        "y, slip: x, friction: 'if(x < 0.1*3, 0.3, 0.5)'}}\n"};
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 4; ++k)
            for (int j = 0; j < 2; ++j) {
                char text[400];
                int events = 0;
                snprintf(text, sizeof text, "carom: 1\n%s", model[i]);
                carom_model *m = good(text);
                carom_sim *sim = model_sim(m, scheme[k], NULL, j ? 0.1 : 1e-3, 1);
                carom_sim_watch_changes(sim, count, &events);
                model_sim_run(sim);
                const carom_now now = carom_sim_now(sim);
                if (events > 1 || !(fabs(now.q[0] - 0.3) <= 1e-12) || !(fabs(now.v[0]) <= 1e-12))
                    fail_msg("%s, model %d: %d events, x = %.17g, v = %g", scheme[k], i, events, now.q[0], now.v[0]);
                carom_sim_destroy(sim);
                carom_model_destroy(m);
            }
}

// A circle of 1 kg that touches a floor of 1e4 N/m from the start, by 0 or by 1e-17 m, sinks into it:
// y = 0.1 - g/w^2 (1 - cos(w t)), w = 100.  Parts that led to the kink at which it begins ended before the circle left
// the rounding of the gap, and stayed as short, 1e-10 s, to the end.  The phase of fourth order is off by
// w t (w h)^4/120 = 2.5e-5.
static void starts_at_kinks(void **state) {
    (void)state;
    static const char *const scheme[] = {"mixed", "splitting", "auto", "event-driven"}, *const at[] = {"0.1", "0.3/3"};
    const double g = 9.81, w = 100, y = 0.1 - g / (w * w) * (1 - cos(w * 0.3));
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 4; ++k) {
            char text[400];
            snprintf(text, sizeof text,
                     "carom: 1\ngravity: [0, -9.81]\nbodies: {c: {mass: 1, inertia: 0.01, at: [1, %s], shape: "
                     "{circle: 0.1}}}\nshapes: {f: {plane: [0, 1]}}\ncontacts: {c: {between: [c, f], stiffness: "
                     "1e4}}\n",
                     at[i]);
            carom_model *m = good(text);
            carom_sim *sim = model_sim(m, scheme[k], NULL, 1e-3, 0.3);
            model_sim_run(sim);
            const double off = fabs(carom_sim_now(sim).q[1] - y);
            if (!(off <= 5e-5 * g / (w * w))) fail_msg("%s from %s: off by %g", scheme[k], at[i], off);
            carom_sim_destroy(sim);
            carom_model_destroy(m);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forces_that_jump_and_come_back),
                                       cmocka_unit_test(friction_that_depends_on_places),
                                       cmocka_unit_test(rest_at_kinks), cmocka_unit_test(starts_at_kinks),
                                       cmocka_unit_test(narrow_barriers),
                                       cmocka_unit_test(barriers_and_constant_steps),
                                       cmocka_unit_test(vibrations_are_not_narrow),
                                       cmocka_unit_test(narrow_barriers_of_other_kinds),
                                       cmocka_unit_test(narrow_pulses_of_a_wall)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
