// schemes.h: for tests that take every scheme through the same physics.
#pragma once
#include "ignoring.h"
#include "systems.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define check_near(x, y, tol)                                                                                          \
    do {                                                                                                               \
        const double x_ = (x), y_ = (y), tol_ = (tol);                                                                 \
        if (!(fabs(x_ - y_) <= tol_)) fail_msg("%s = %.15g, expected %.15g +- %.2g", #x, x_, y_, tol_);                \
    } while (0)

// The same, with the name of a scheme in front.
#define scheme_near(scheme, x, y, tol)                                                                                 \
    do {                                                                                                               \
        const double x_ = (x), y_ = (y), tol_ = (tol);                                                                 \
        if (!(fabs(x_ - y_) <= tol_)) fail_msg("%s: %s = %.15g, expected %.15g +- %.2g", (scheme), #x, x_, y_, tol_);  \
    } while (0)

#define scheme_true(scheme, x)                                                                                         \
    do {                                                                                                               \
        if (!(x)) fail_msg("%s: not so: %s", (scheme), #x);                                                            \
    } while (0)

// The next scheme from *i on that lacks none of these; NULL: there is no more.
static inline const carom_scheme *scheme_with(int *i, unsigned needs) {
    const carom_scheme *s;
    while ((s = carom_schemes()[*i])) {
        ++*i;
        if (!(s->limitations & needs)) return s;
    }
    return NULL;
}

// Does the scheme lack one of these?  Then say so.
static inline bool skipped(const carom_scheme *s, unsigned needs) {
    static const struct {
        unsigned flag;
        const char *text;
    } names[] = {
        {CAROM_NO_FRICTION, " friction"},
        {CAROM_NO_BILATERAL, " bilateral constraints"},
        {CAROM_NO_IMPACTS, " an impact law"},
        {CAROM_NO_UNEQUAL_RESTITUTION, " unequal restitution"},
        {CAROM_NO_STEP_CHANGE, " steps of different size"},
    };
    char what[120] = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (s->limitations & needs & names[i].flag) strcat(what, names[i].text);
    if (what[0]) print_message("    %s: skipped, lacks%s\n", s->name, what);
    return what[0] != 0;
}

// The schemes that are tested: those of the core, or one that stands outside of it (test/new_scheme.cmake).
#ifdef NEW_SCHEME
extern const carom_scheme NEW_SCHEME;
static inline const carom_scheme *tested_scheme(int i) { return i == 0 ? &NEW_SCHEME : NULL; }
#else
static inline const carom_scheme *tested_scheme(int i) { return carom_scheme_at(i); }
#endif

// For carom_sim_def.schemes: these and all of the core.
__attribute__((unused)) static const carom_scheme *const *all_schemes(void) {
    static const carom_scheme *list[64];
    int n = 0;
    while (n < 62 && (list[n] = carom_scheme_at(n))) ++n;
    list[n] = tested_scheme(0);
    return list;
}

// for (EACH_SCHEME(s)) { if (skipped(s, ...)) continue; ... }
#define EACH_SCHEME(s)                                                                                                 \
    int i_ = 0;                                                                                                        \
    (s = tested_scheme(i_)) != NULL;                                                                                   \
    ++i_

static inline carom_sim_def run_of(const known *k, const char *scheme, double h, double t_end) {
    carom_sim_def d = known_run(k, scheme, h, t_end);
    d.schemes = all_schemes();
    return d;
}

static inline carom_sim *sim_of(const known *k, const char *scheme, const char *const *options, double h,
                                double t_end) {
    carom_error err;
    carom_sim_def d = run_of(k, scheme, h, t_end);
    d.options = ignoring_impacts(scheme, d.system, options);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

static inline void sim_step(carom_sim *sim) {
    carom_error err;
    if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s: %s", carom_sim_scheme(sim)->name, err.text);
}

static inline void sim_to(carom_sim *sim, double t) {
    while (!carom_sim_done(sim) && carom_sim_now(sim).t < t - 1e-9) sim_step(sim);
}

static inline double sim_energy(carom_sim *sim) {
    carom_error err;
    double kinetic, potential;
    if (carom_sim_energy(sim, &kinetic, &potential, &err) != CAROM_OK) fail_msg("%s", err.text);
    return kinetic + potential;
}

static inline carom_ledger sim_ledger(carom_sim *sim) {
    carom_error err;
    carom_ledger l;
    if (carom_sim_ledger(sim, &l, &err) != CAROM_OK) fail_msg("%s", err.text);
    return l;
}

// Impacts among the events of the last step.
static inline int sim_impacts(const carom_sim *sim) {
    const carom_now now = carom_sim_now(sim);
    int n = 0;
    for (int i = 0; i < now.nevents; ++i) n += now.events[i].kind == CAROM_IMPACT;
    return n;
}

// Slope of log y over log x by least squares.
static inline double slope(const double *x, const double *y, int n) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < n; ++i) {
        const double a = log(x[i]), b = log(y[i]);
        sx += a, sy += b, sxx += a * a, sxy += a * b;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}
