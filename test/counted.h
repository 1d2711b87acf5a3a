// counted.h: a system that counts the calls of its functions.
//
// Much of what a scheme decides shows in no result, only in how often it evaluates the model: whether it searches an
// interval for an event, how long a bound holds, when an iteration ends.  The number of calls is exact, so a test can
// tell one decision from another.
#pragma once
#include "extended.h"

static carom_system counted_system; // whose functions are called
static long counted_calls;          // since counted(): each with a weight that tells functions apart

#define COUNTED_ALL(X)                                                                                                 \
    X(carom_status, SYSTEM, mass, 101, (const void *m, void *w, double t, const double *q, carom_matrix A),            \
      (m, w, t, q, A))                                                                                                 \
    X(carom_status, SYSTEM, force, 103,                                                                                \
      (const void *m, void *w, double t, const double *q, const double *v, double *f), (m, w, t, q, v, f))             \
    X(carom_status, SYSTEM, gaps, 107, (const void *m, void *w, double t, const double *q, double *g),                 \
      (m, w, t, q, g))                                                                                                 \
    X(carom_status, SYSTEM, directions, 109, (const void *m, void *w, double t, const double *q, carom_local *L),      \
      (m, w, t, q, L))                                                                                                 \
    X(carom_status, SYSTEM, curvature, 113,                                                                            \
      (const void *m, void *w, double t, const double *q, const double *v, const carom_local *L, double *k),           \
      (m, w, t, q, v, L, k))                                                                                           \
    X(carom_status, SYSTEM, tangent, 127,                                                                              \
      (const void *m, void *w, double t, const double *q, const double *v, carom_matrix K, carom_matrix C),            \
      (m, w, t, q, v, K, C))                                                                                           \
    X(carom_status, SYSTEM, mass_gradient, 131,                                                                        \
      (const void *m, void *w, double t, const double *q, const double *x, double s, carom_matrix D),                  \
      (m, w, t, q, x, s, D))                                                                                           \
    X(carom_status, SYSTEM, reaction_gradient, 137,                                                                    \
      (const void *m, void *w, double t, const double *q, const carom_local *L, const double *p, double s,             \
       carom_matrix D),                                                                                                \
      (m, w, t, q, L, p, s, D))                                                                                        \
    X(carom_status, SYSTEM, rate_gradient, 139,                                                                        \
      (const void *m, void *w, double t, const double *q, const double *v, const carom_local *L, carom_columns *D),    \
      (m, w, t, q, v, L, D))                                                                                           \
    X(carom_status, SPEED, rates, 149,                                                                                 \
      (const void *m, void *w, double t, const double *q, const double *v, double *u), (m, w, t, q, v, u))             \
    X(carom_status, SYSTEM, energy, 163,                                                                               \
      (const void *m, void *w, double t, const double *q, const double *v, double *T, double *V),                      \
      (m, w, t, q, v, T, V))                                                                                           \
    X(carom_status, SYSTEM, power, 167,                                                                                \
      (const void *m, void *w, double t, const double *q, const double *v, double *external, double *damping),         \
      (m, w, t, q, v, external, damping))                                                                              \
    X(carom_status, SPEED, motion, 173,                                                                                \
      (const void *m, void *w, double t, const double *q, const double *v, carom_matrix A, double *f, double *g),      \
      (m, w, t, q, v, A, f, g))                                                                                        \
    X(carom_status, SPEED, free_motion, 179,                                                                           \
      (const void *m, void *w, double t, const double *q, const double *v, double *a, double *g),                      \
      (m, w, t, q, v, a, g))                                                                                           \
    X(carom_status, SPEED, motion_directions, 229,                                                                     \
      (const void *m, void *w, double t, const double *q, const double *v, carom_matrix A, double *f, double *g,       \
       carom_local *L),                                                                                                \
      (m, w, t, q, v, A, f, g, L))                                                                                     \
    X(carom_status, SPEED, observe, 181,                                                                               \
      (const void *m, void *w, double t, const double *q, const double *v, double *g, double *external,                \
       double *damping),                                                                                               \
      (m, w, t, q, v, g, external, damping))                                                                           \
    X(carom_status, EVENTS, freeze, 191, (const void *m, void *w, carom_freeze what, double t, const double *q),       \
      (m, w, what, t, q))                                                                                              \
    X(carom_status, EVENTS, gap_bounds, 193,                                                                           \
      (const void *m, void *w, double t_0, double t_1, const double *q_0, const double *q_1, const double *v_0,        \
       const double *v_1, const double *off, double *least, double *slowest, double *fastest, double *turn),           \
      (m, w, t_0, t_1, q_0, q_1, v_0, v_1, off, least, slowest, fastest, turn))                                        \
    X(carom_status, SYSTEM, friction, 197,                                                                             \
      (const void *m, void *w, double t, const double *q, const double *v, const double *p, double *law),              \
      (m, w, t, q, v, p, law))                                                                                         \
    X(double, SYSTEM, restitution, 199, (const void *m, void *w, int contact, double speed), (m, w, contact, speed))   \
    X(carom_status, EVENTS, kinks, 211,                                                                                \
      (const void *m, void *w, double t, const double *q, const double *v, double *k), (m, w, t, q, v, k))             \
    X(double, EVENTS, next_jump, 223, (const void *m, void *w, double t_0, double t_1), (m, w, t_0, t_1))              \
    X(double, EVENTS, limit_step, 227,                                                                                 \
      (const void *m, void *w, const double *run, double share, double t_0, double t_1), (m, w, run, share, t_0, t_1))

#define COUNTED(type, group, name, weight, parameters, arguments)                                                      \
    static type counted_##name parameters {                                                                            \
        counted_calls += weight;                                                                                       \
        return counted_system.CALLED_##group(name) arguments;                                                          \
    }
COUNTED_ALL(COUNTED)
#undef COUNTED

static void counted_move(const void *m, double *q1, const double *q0, double h, const double *v) {
    counted_calls += 151;
    counted_system.move(m, q1, q0, h, v);
}

static void counted_lift(const void *m, double *dx, const double *x, const double *v) {
    counted_calls += 157;
    counted_system.lift(m, dx, x, v);
}

/// *sys with functions that count their calls from here on.  One at a time.
__attribute__((unused)) static carom_system counted(const carom_system *sys) {
    static carom_extensions own;
    carom_system s = counted_system = *sys;
    carom_system_extend(&s, &own);
    counted_calls = 0;
#define COUNTED(type, group, name, weight, parameters, arguments) \
    if (s.CALLED_##group(name)) SET_##group(s, own, name) = counted_##name;
    COUNTED_ALL(COUNTED)
#undef COUNTED
    if (s.move) s.move = counted_move;
    if (s.lift) s.lift = counted_lift;
    return s;
}
