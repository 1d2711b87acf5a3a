// test_relays.c: forces that jump with the state, and motions that these hold where they jump; closed forms.
#include "model_text.h"
#include <carom/event.h>

static const char *const scheme[] = {"auto", "event-driven", "mixed", "splitting"};
enum { SCHEMES = 4 };

static void end_of(const char *text, const char *scheme_of, double h, double end, carom_now *now, double q[2],
                   double v[2], carom_ledger *l) {
    carom_error err = {0};
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, scheme_of, NULL, h, end);
    model_sim_run(sim);
    *now = carom_sim_now(sim);
    for (int i = 0; i < 2 && i < carom_model_system(m)->nv; ++i) q[i] = now->q[i], v[i] = now->v[i];
    if (carom_sim_ledger(sim, l, &err) != CAROM_OK) fail_msg("%s: %s", scheme_of, err.text);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// One coordinate in units of L, from x_0 with v_0, m = 1.
static void text_of(char *text, size_t room, double L, double x, double v, const char *potential, const char *force) {
    snprintf(text, room,
             "carom: 1\nparameters: {L: %g}\ncoordinates: {X: {at: %g*L, rate: %g*L}}\nlet: {x: X/L, u: X'/L}\nenergy: "
             "{kinetic: 1/2*X'^2, potential: 'L^2*(%s)'}\nforces: {X: 'L*(%s)'}\n",
             L, x, v, potential, force);
}

// x'' = -sign(x) from 1: parabolas of the period 4 sqrt(2)
static double swing(double t, double *v) {
    const double T = sqrt(2), phase = fmod(t, 4 * T), s = fmod(phase, 2 * T),
                 side = phase < T || phase >= 3 * T ? 1 : -1;
    const double from = s < T ? s : s - 2 * T; // since the last turning point, or until the next one
    *v = -side * from;
    return side * (1 - 0.5 * from * from);
}

// x'' = -floor(4 x)/2, from 0.1 with 2: stair by stair, upwards
static double stairs(double t, double *v) {
    double x = 0.1, u = 2;
    for (int k = 0;; ++k) {
        const double a = -0.5 * k, way = 0.25 * (k + 1) - x, after = sqrt(u * u + 2 * a * way),
                     tau = 2 * way / (u + after);
        if (!(tau < t)) return *v = u + a * t, x + u * t + 0.5 * a * t * t;
        t -= tau, x += way, u = after;
    }
}

// Every phase has a constant acceleration, which all schemes follow exactly: what is left is where the jumps are.
static void jumps_of_forces_are_located(void **state) {
    (void)state;
    static const double step[] = {0.1, 1e-2}, unit[] = {1, 1e-6, 1e6};
    static const struct {
        double x, v, end;
        const char *potential, *force;
    } c[] = {{1, 0, 10, "0", "-sign(x)"},
             {1, 0, 10, "abs(x)", "0"},
             {0, 1, 1, "0", "-40*(x > 0.4032)*(x < 0.4082)"},
             {0.1, 2, 0.9, "0", "-0.5*floor(4*x)"},
             {0, 1, 2, "if(x < 0.5, 0, 0.75*(x - 0.5))", "0"}};
    for (int i = 0; i < 5; ++i)
        for (int k = 0; k < SCHEMES; ++k)
            for (int j = 0; j < (i < 3 ? 6 : 2); ++j) {
                char text[500];
                double q[2], v[2], x, u, L = unit[j / 2];
                carom_now now;
                carom_ledger l;
                text_of(text, sizeof text, L, c[i].x, c[i].v, c[i].potential, c[i].force);
                end_of(text, scheme[k], step[j % 2], c[i].end, &now, q, v, &l);
                const double strip = 0.005, slow = sqrt(0.6), inside = 2 * strip / (1 + slow);
                if (i < 2) x = swing(c[i].end, &u);
                else if (i == 2) u = slow, x = 0.4082 + slow * (1 - 0.4032 - inside);
                else if (i == 3) x = stairs(c[i].end, &u);
                else u = 1 - 0.75 * 1.5, x = 0.5 + 1.5 - 0.375 * 2.25;
                if (!(fabs(q[0] / L - x) <= 5e-7 && fabs(v[0] / L - u) <= 5e-7))
                    fail_msg("%s, %g, L = %g, %s, %s: x = %.12g, v = %.12g, not %.12g, %.12g", scheme[k], step[j % 2],
                             L, c[i].potential, c[i].force, q[0] / L, v[0] / L, x, u);
            }
}

// What jumps holds the motion: dry friction that is written as a force, from rest and until it stops; a sliding mode,
// x' = -x; a force that pulls it away again; flights to and fro that accumulate.  Errors are those of smooth motion at
// these steps.
static void forces_hold_where_they_jump(void **state) {
    (void)state;
    static const double unit[] = {1e-6, 1, 1e6};
    const double t_s = (sqrt(15) - 3) / 3, x_s = 1 - 1.5 * t_s * t_s, slid = x_s * exp(t_s - 3);
    const struct {
        double x, v, end, x_1, v_1, lost; // lost: by what the force is less than at rest; -1: not asked
        const char *potential, *force;
    } c[] = {{1, 0, 5, 0.04, 0, 4.992, "5*x^2", "-1.2*sign(u)"},
             {1, 0, 3, slid, -slid, -1, "0", "-3*sign(u + x)"},
             {0, 0, 3, 8. / 6, 2, 8. / 6, "0", "t - sign(u)"},
             {0, 0, 3, 8. / 6, 2, 16. / 6, "0", "t + if(u > 0, -1, 1)"},
             {1, 0, 12, 0, 0, 2, "2*abs(x)", "-0.5*sign(u)"}};
    for (int i = 0; i < 5; ++i)
        for (int k = 0; k < SCHEMES; ++k)
            for (int j = 0; j < 3; ++j) {
                char text[500];
                double q[2], v[2], L = unit[j];
                carom_now now;
                carom_ledger l;
                text_of(text, sizeof text, L, c[i].x, c[i].v, c[i].potential, c[i].force);
                end_of(text, scheme[k], 1e-2, c[i].end, &now, q, v, &l);
                if (!(fabs(q[0] / L - c[i].x_1) <= 1e-6 && fabs(v[0] / L - c[i].v_1) <= 1e-6))
                    fail_msg("%s, L = %g, %s, %s: x = %.12g, v = %.12g, not %.12g, %.12g", scheme[k], L, c[i].potential,
                             c[i].force, q[0] / L, v[0] / L, c[i].x_1, c[i].v_1);
                if (c[i].lost >= 0 && !(fabs(l.energy.damping / L / L - c[i].lost) <= 1e-5))
                    fail_msg("%s, L = %g, %s, %s: damping %.12g, not %.12g", scheme[k], L, c[i].potential, c[i].force,
                             l.energy.damping / L / L, c[i].lost);
            }
}

// A relay with damping: flights become shorter for ever, and are held once they are below what the run resolves.
// Their height falls like exp(-2 c t/3); at the end it is below 1e-5.
static void flights_to_and_fro_end(void **state) {
    (void)state;
    static const struct { const char *force; double to; } c[] = {{"-sign(x) - 2*u", 0},
                                                                 {"if(x < 0.3, 1, -1) - 2*u", 0.3}};
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < SCHEMES; ++k) {
            char text[500];
            double q[2], v[2];
            carom_now now;
            carom_ledger l;
            text_of(text, sizeof text, 1, 1, 0, "0", c[i].force);
            end_of(text, scheme[k], 1e-2, 12, &now, q, v, &l);
            if (!(fabs(q[0] - c[i].to) <= 1e-5 && fabs(v[0]) <= 4e-3))
                fail_msg("%s, %s: x = %.12g, v = %.12g", scheme[k], c[i].force, q[0], v[0]);
        }
}

// Two that hold each other by their masses and a spring, and stop one after the other; and a state.  By schemes that
// have nothing in common but the engine of events: CVODE and Runge-Kutta of three kinds.
static void several_surfaces(void **state) {
    (void)state;
    static const char two[] = "carom: 1\ncoordinates: {x: {at: 1, rate: 0.5}, y: {at: -0.5, rate: 1}}\nenergy: "
                              "{kinetic: \"1/2*(x'^2 + y'^2 + x'*y')\", potential: 3*(x - y)^2/2}\n"
                              "forces: {x: \"-0.7*sign(x')\", y: \"-0.9*sign(y')\"}\n",
                      warm[] = "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\"}\nstates: {T: {at: 15, "
                               "rate: 'if(T < 20, 2, 0) - 0.05*(T - 10)'}}\nforces: {x: 0.1*T}\n";
    for (int k = 0; k < SCHEMES; ++k) {
        double q[2], v[2], x[2], u[2];
        carom_now now;
        carom_ledger l;
        end_of(two, "event-driven", 1e-2, 5, &now, x, u, &l);
        end_of(two, scheme[k], 1e-2, 5, &now, q, v, &l);
        if (!(fabs(q[0] - x[0]) <= 1e-6 && fabs(q[1] - x[1]) <= 1e-6 && fabs(v[0]) <= 1e-12 && fabs(v[1]) <= 1e-12))
            fail_msg("%s: x = %.12g, y = %.12g, not %.12g, %.12g", scheme[k], q[0], q[1], x[0], x[1]);
        end_of(warm, scheme[k], 0.1, 20, &now, q, v, &l);
        if (!(fabs(v[1] - 20) <= 1e-9)) fail_msg("%s: T = %.12g", scheme[k], v[1]);
    }
}

// Records and steps in between say nothing of where jumps are.
static void records_do_not_matter(void **state) {
    (void)state;
    char text[500];
    text_of(text, sizeof text, 1, 1, 0, "5*x^2", "-1.2*sign(u) - 0.3*sign(x - 0.2)");
    for (int k = 0; k < 2; ++k) {
        double q[2], v[2], x[2], u[2];
        carom_now now;
        carom_ledger l;
        end_of(text, scheme[k], 1, 3.7, &now, x, u, &l);
        end_of(text, scheme[k], 0.037, 3.7, &now, q, v, &l);
        if (!(fabs(q[0] - x[0]) <= 1e-6 && fabs(v[0] - u[0]) <= 1e-5))
            fail_msg("%s: x = %.12g, v = %.12g, not %.12g, %.12g", scheme[k], q[0], v[0], x[0], u[0]);
    }
}

// x'' = -F sign(x + T x') from x_0: it crosses the surface while x' < -F T and slides along it then: x ~ exp(-t/T).
// What drifts from the surface by rounding is put back: each step stays on it.  Between sides that both push back a
// multistep method would go on in steps of rounding: also where a step is the whole run.
static void surfaces_are_not_lost(void **state) {
    (void)state;
    static const struct {
        double F, T, x, h, end;
        int schemes;
    } c[] = {{8, 0.12, 0.2, 1e-2, 0.5, SCHEMES},
             {8, 0.15, 0.2, 1e-2, 0.5, SCHEMES},
             {8, 0.3, 0.2, 1e-2, 0.5, SCHEMES},
             {10, 0.03, 0.3, 1, 1, 2}}; // those that choose their steps
    for (int i = 0; i < (int)(sizeof c / sizeof *c); ++i)
        for (int k = 0; k < c[i].schemes; ++k) {
            const double F = c[i].F, T = c[i].T, end = c[i].end;
            char text[400], force[80];
            carom_now now;
            carom_ledger l;
            double q[2], v[2];
            snprintf(force, sizeof force, "-%g*sign(x + %g*u)", F, T);
            text_of(text, sizeof text, 1, c[i].x, 0, "0", force);
            end_of(text, scheme[k], c[i].h, end, &now, q, v, &l);
            double t = 0, x = c[i].x, u = 0;
            for (double side = -1, tau; t < end; side = -side, t += tau) { // parabolas, until it slides
                tau = t > 0 ? 2 * (-side * u / F - T) : sqrt(T * T + 2 * x / F) - T;
                x += u * tau + F / 2 * side * tau * tau, u += F * side * tau;
                if (fabs(u) < F * T) {
                    t += tau;
                    break;
                }
            }
            const double exact = x * exp(-(end - t) / T);
            if (!(fabs(q[0] - exact) <= 1e-6 * c[i].x))
                fail_msg("T %g, %s: %.12g, not %.12g", T, scheme[k], q[0], exact);
            if (!(l.counts.substeps <= 20000))
                fail_msg("T %g, %s: %ld steps", T, scheme[k], l.counts.substeps);
        }
}

// max(0, x - 1/2) is zero on a whole side: what compares it jumps where x - 1/2 does.
static void zero_on_a_whole_side(void **state) {
    (void)state;
    static const char *const where[] = {"x > 0.5", "max(0, x - 0.5) > 0", "0 < max(x - 0.5, 0)"};
    for (int k = 0; k < SCHEMES; ++k) {
        double first[2] = {0};
        for (int i = 0; i < 3; ++i) {
            char text[400], force[120];
            carom_now now;
            carom_ledger l;
            double q[2], v[2];
            snprintf(force, sizeof force, "if(%s, -50*max(0, x - 0.5) - 0.4*u, 0)", where[i]);
            text_of(text, sizeof text, 1, 0, 1, "x^2/2", force);
            end_of(text, scheme[k], 1e-2, 3, &now, q, v, &l);
            if (i == 0) first[0] = q[0], first[1] = v[0];
            if (!(fabs(q[0] - first[0]) <= 1e-9 && fabs(v[0] - first[1]) <= 1e-9))
                fail_msg("%s, %s: %.12g, not %.12g", scheme[k], where[i], q[0], first[0]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_of_forces_are_located), cmocka_unit_test(forces_hold_where_they_jump),
        cmocka_unit_test(flights_to_and_fro_end), cmocka_unit_test(several_surfaces),
        cmocka_unit_test(records_do_not_matter), cmocka_unit_test(surfaces_are_not_lost),
        cmocka_unit_test(zero_on_a_whole_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
