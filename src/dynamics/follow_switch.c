// follow_switch.c: the first solutions of other branches.
//
// Where branches cross, the other one leaves the tangent tau along phi, [F_x F_p] phi = 0, tau.phi = 0.  Beside a Hopf
// point and a period doubling orbits have the amplitude r, or u:
//
//     u(s) = u_0 + s phi + ...: p - p_0 = a r^2;  sigma'(p - p_0) + Re c1 r^2/4 = 0;  -lambda'(p - p_0) = c u^2
//     (SWI-1)
//
// with sigma' and lambda' the changes of the eigenvalue along the branch that was followed.  Re c1 < 0, and c > 0:
// supercritical, the new orbits are beside solutions that have lost their stability.
#include "dynamics/follow.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double AWAY = 1e-3, SLANT = 10; // (SWI-1)  how far from a crossing other branches are looked for at first;
                                             // of that: they are no farther
static const double NEAREST = 1e-9, FARTHEST = 1e7; // the same of equilibria, whose lengths are not known where all
                                                    // coordinates vanish
static const double PRONG = 1e-3;  // of a tangent: its part along the parameter, where prongs are followed
static const double SHORTER = 0.1; // of a length: the new branch has one of its own
static const double MIRROR = 1e-4;  // of the way to both halves of a branch, and of eigenvalues: they are alike
static const double AGREE = 0.2;    // of a coefficient: that of the normal form and that of the first orbits
static const double NOTICED = 1e-9; // of the parameter's range: what rounding does not make
static const double HARDLY = 1e-8;  // the same: what runs may be off by
static const double BESIDE = 1e-4;  // of the range: how far beside an event eigenvalues are looked at

void follow_choose(follow_walk *w, bool orbits) { w->orbits = orbits, w->k = w->curve[orbits]; }

// Beside an event, s along the tangent: the parameter, how many eigenvalues are unstable, and the critical one: of
// orbits that nearest to -1, of equilibria the growth of the pair.
typedef struct beside { double value, critical; int unstable; } beside;

static carom_status look_beside(follow_walk *w, const double *place, const double *tau, double s, beside *to) {
    carom_curve_look *l = &w->spot[FOLLOW_TRIED].look;
    int iterations;
    CAROM_TRY(w->k.restore(w->k.user, place));
    CAROM_TRY(w->k.predict(w->k.user, tau, s));
    CAROM_TRY(w->k.correct(w->k.user, tau, &iterations));
    CAROM_TRY(w->k.look(w->k.user, l));
    *to = (beside){.value = follow_value_now(w), .unstable = l->unstable};
    double least = INFINITY;
    for (int i = 0; i < l->n; ++i) {
        if ((l->im[i] != 0) == w->orbits) continue;
        const double off = w->orbits ? fabs(l->re[i] + 1) : fabs(l->re[i]);
        if (off < least) least = off, to->critical = l->re[i];
    }
    return CAROM_OK;
}

// Both sides of it.  False: there is none, or the parameter does not change.
static bool both_sides(follow_walk *w, const double *place, const double *tau, beside side[2]) {
    const double slope = fabs(tau[w->k.ntau - 1]), s = BESIDE / fmax(slope, 0.1);
    for (int i = 0; i < 2; ++i)
        if (look_beside(w, place, tau, i ? s : -s, &side[i]) != CAROM_OK) return false;
    return fabs(side[1].value - side[0].value) > 0.01 * s * w->size; // less: the parameter turns round here
}

static double slope_of(const beside side[2]) {
    return (side[1].critical - side[0].critical) / (side[1].value - side[0].value);
}

// One half of the branch that crosses: its place, parameter and look.  Nearer than usual lengths are shorter.
static carom_status cross_at(follow_walk *w, const double *place, const double *phi, double s, bool *good, beside *to) {
    int iterations;
    *good = false;
    CAROM_TRY(w->k.restore(w->k.user, place));
    const double unit = w->k.resize ? fmin(1, fabs(s) / AWAY) : 1;
    if (unit < 1) w->k.resize(w->k.user, unit), s /= unit;
    carom_status status = w->k.predict(w->k.user, phi, s);
    if (status == CAROM_OK) status = w->k.correct(w->k.user, phi, &iterations);
    if (status == CAROM_OK) status = w->k.look(w->k.user, &w->spot[FOLLOW_TRIED].look);
    if (status != CAROM_OK) return follow_fatal(status) ? status : CAROM_OK;
    *to = (beside){.value = follow_value_now(w),
                   .unstable = w->spot[FOLLOW_TRIED].look.unstable,
                   .critical = w->spot[FOLLOW_TRIED].look.largest};
    w->k.apart(w->k.user, place, w->by);
    *good = carom_length(w->by, w->k.ntau) < SLANT * fabs(s);
    return CAROM_OK;
}

// Is the other half of a branch the image of the first one by a symmetry?  At the same parameter it then has the same
// eigenvalues.
static carom_status are_images(follow_walk *w, const double *other, const beside *half, bool *alike) {
    carom_curve_look *l = &w->spot[FOLLOW_TRIED].look;
    int iterations;
    *alike = false;
    CAROM_TRY(w->k.restore(w->k.user, other));
    carom_zero(w->tau_1, w->k.ntau);
    w->tau_1[w->k.ntau - 1] = 1;
    CAROM_TRY(w->k.predict(w->k.user, w->tau_1, (half->value - other[0]) / w->size));
    carom_status status = w->k.correct(w->k.user, NULL, &iterations);
    if (status == CAROM_OK) status = w->k.look(w->k.user, l);
    if (status != CAROM_OK) return follow_fatal(status) ? status : CAROM_OK;
    *alike =
        l->unstable == half->unstable && fabs(l->largest - half->critical) <= MIRROR * fabs(half->critical) + l->noise;
    return CAROM_OK;
}

// Half the way between two solutions at t = 0, of the coordinate that has the longest one; the curve ends at b.
static carom_status largest_way(follow_walk *w, const double *a, const double *b, double *r) {
    double period, *x = calloc((size_t)(w->nq + w->nv) + 1, sizeof *x);
    carom_status status = x ? w->k.restore(w->k.user, a) : follow_no_memory(w->err);
    if (status == CAROM_OK) status = w->k.row(w->k.user, &period, x, w->least, w->most);
    if (status == CAROM_OK) status = w->k.restore(w->k.user, b);
    if (status == CAROM_OK) status = w->k.row(w->k.user, &period, w->x, w->least, w->most);
    for (int i = 0; i < w->nq && status == CAROM_OK; ++i) *r = fmax(*r, fabs(w->x[i] - x[i]) / 2);
    free(x);
    return status;
}

carom_status follow_begin_doubled(follow_walk *w, double *t) {
    beside side[2];
    const double *place = t + w->head + 2 * w->k.ntau, value = place[0];
    const bool known = both_sides(w, place, w->tau, side);
    CAROM_TRY(w->k.restore(w->k.user, place));
    double by_normal_form = NAN;
    const carom_error before = *w->err;
    if (w->k.linearise(w->k.user) != CAROM_OK || w->k.keep(w->k.user, w->tau) != CAROM_OK ||
        w->k.first_lyapunov(w->k.user, &by_normal_form) != CAROM_OK)
        by_normal_form = NAN, *w->err = before;
    CAROM_TRY(w->k.restore(w->k.user, place));
    CAROM_TRY(w->k.twice(w->k.user, w->tau));
    const double off = follow_value_now(w) - value;
    double *doubled = malloc((size_t)w->k.nplace * sizeof *doubled), u = 0;
    if (!doubled) return follow_no_memory(w->err);
    carom_copy(doubled, w->place_1, w->k.nplace);
    carom_status status = largest_way(w, place, doubled, &u); // half of it
    // the first orbit may be so near that the parameter has hardly changed
    const double orbits = known ? -slope_of(side) * off / (4 * u * u) : NAN,
                 doubt = known ? fabs(slope_of(side)) * HARDLY * w->size / (4 * u * u) : 0,
                 c = fabs(by_normal_form - orbits) <= AGREE * fabs(orbits) + doubt ? by_normal_form : orbits;
    if (status == CAROM_OK) status = w->k.linearise(w->k.user);
    free(doubled);
    CAROM_TRY(status);
    return follow_amend(w, t[6], follow_word_of(isnan(c) || fabs(off) < NOTICED * w->size ? 0 : c), c);
}

carom_status follow_begin_crossing(follow_walk *w, double *t, bool *known) {
    const int n = w->k.ntau;
    const bool met = t[1] == 0; // from its other end
    const long row = (long)t[6];
    *known = false;
    // chosen: of orbits, five decades
    const double nearest = w->orbits ? AWAY : NEAREST, farthest = w->orbits ? 1e5 * AWAY : FARTHEST;
    const int times = 1 + (int)round(2 * log10(farthest / nearest));
    double *place = malloc((4 * (size_t)w->k.nplace + (size_t)n + 1) * sizeof *place), *other = place + w->k.nplace,
           *first = other + w->k.nplace, *prong = first + w->k.nplace, *phi = prong + w->k.nplace;
    if (!place) return follow_no_memory(w->err);
    carom_copy(place, t + w->head + 2 * n, w->k.nplace);
    beside half[2] = {{0}}, side[2];
    bool good = false;
    carom_status status = w->k.linearise(w->k.user);
    if (status == CAROM_OK && !w->k.cross(w->k.user, w->tau, phi)) status = follow_no_memory(w->err);
    bool felt = false;
    // (SWI-1)  the parameter's change and r^2, and those one distance nearer
    double away = 0, unit = 1, here[2] = {0, 0}, before[2] = {0, 0};
    for (int i = 0; i < times && !felt && status == CAROM_OK; ++i) { // as near as the parameter allows to tell
        const double by = nearest * pow(10, i / 2.0);
        beside now[2] = {{0}};
        bool both = false;
        status = cross_at(w, place, phi, -by, &both, &now[1]);
        if (status == CAROM_OK && both)
            w->k.save(w->k.user, w->place), status = cross_at(w, place, phi, by, &both, &now[0]);
        if (status != CAROM_OK || !both) continue;
        good = true, half[0] = now[0], half[1] = now[1];
        carom_copy(other, w->place, w->k.nplace), w->k.save(w->k.user, first);
        before[0] = here[0], before[1] = here[1];
        here[0] = (half[0].value + half[1].value) / 2 - place[0], here[1] = 0;
        status = largest_way(w, other, first, &here[1]);
        here[1] *= here[1];
        away = by, felt = fabs(half[0].value - place[0]) + fabs(half[1].value - place[0]) > FOLLOW_FELT * w->size;
    }
    if (status == CAROM_OK && !good)
        status = carom_fail(w->err, CAROM_NOT_CONVERGED, "the branch that crosses was not found");
    if (status == CAROM_OK) {
        const double up = half[0].value - place[0], down = half[1].value - place[0];
        double r = 0; // half the way between the two, of the coordinate that changes most
        status = largest_way(w, other, first, &r);
        const bool pitchfork = fabs(up - down) < fabs(up + down);
        bool alike = false;
        // (SWI-1) tells how far it is until the parameter has changed by its range: a length of the new branch
        const double part = (fabs(up) + fabs(down)) / 2 / w->size;
        if (felt && w->k.resize) unit = fmin(1, away / (pitchfork ? sqrt(part) : part)) / fmin(1, away / AWAY);
        if (pitchfork && status == CAROM_OK) status = are_images(w, other, &half[0], &alike);
        const bool prongs = !pitchfork && fabs(w->tau[n - 1]) < PRONG;
        char text[60] = "transcritical";
        double by = (up + down) / 2;
        if (prongs && status == CAROM_OK) { // of those that cross, the ones on their side have lost more or less
            status = look_beside(w, place, w->tau, -10 * AWAY, &side[0]);
            if (status == CAROM_OK) w->k.save(w->k.user, w->place);
            if (status == CAROM_OK) status = look_beside(w, place, w->tau, 10 * AWAY, &side[1]);
            if (status == CAROM_OK) {
                w->k.save(w->k.user, prong);
                r = 0, by = (side[0].value + side[1].value) / 2 - place[0];
                snprintf(text, sizeof text, "%s pitchfork",
                         follow_word_of((half[0].unstable - half[1].unstable) * (up - down) * by));
                status = largest_way(w, w->place, prong, &r);
            }
        }
        if (pitchfork) {
            double sense = 0; // of the solutions that were followed, those on the side of the new ones have lost more
                              // or less of their stability than the others
            if (both_sides(w, place, w->tau, side))
                sense = (side[1].unstable - side[0].unstable) * (up + down) * (side[1].value - side[0].value);
            snprintf(text, sizeof text, "%s pitchfork", follow_word_of(sense));
        }
        double a = pitchfork || prongs ? by / (r * r) : NAN;
        // of a + b r^2 the first term
        if (pitchfork && good && before[1] > 0 && fabs(before[0]) > NOTICED * w->size)
            a = (before[0] / before[1] * r * r - a * before[1]) / (r * r - before[1]);
        if (status == CAROM_OK) status = follow_amend(w, t[6], text, a);
        *known = met && (alike || !pitchfork);
        if (met) t[1] = w->longest * FOLLOW_FIRST;
        if (status == CAROM_OK && !alike && !*known && w->ntasks < 16) { // the other half
            status = w->k.restore(w->k.user, other);
            for (int i = 0; i < n; ++i) w->tau_1[i] = -phi[i];
            if (status == CAROM_OK && !(unit > SHORTER && unit < 1 / SHORTER)) w->k.resize(w->k.user, unit);
            if (status == CAROM_OK) status = follow_add_task(w, 0, w->longest * FOLLOW_FIRST, FOLLOW_START, w->tau_1);
            if (status == CAROM_OK) follow_task_at(w, w->ntasks - 1)[6] = (double)(-2 - row);
        }
    }
    if (status == CAROM_OK) carom_copy(w->tau, phi, n), status = w->k.restore(w->k.user, first);
    if (status == CAROM_OK && !(unit > SHORTER && unit < 1 / SHORTER)) w->k.resize(w->k.user, unit);
    if (status == CAROM_OK) status = w->k.linearise(w->k.user);
    free(place);
    return status;
}

carom_status follow_begin_grown(follow_walk *w, double *t) {
    enum { TIMES = 9 }; // amplitudes: by sqrt(10) each, up to 1e4 of the first
    double *x = calloc((size_t)w->nq + 3 * (size_t)w->nv + 1, sizeof *x), *shape = x + w->nq + w->nv, rate = 0;
    if (!x) return follow_no_memory(w->err);
    beside side[2];
    const double *place = t + w->head + 2 * w->k.ntau, value = place[0];
    carom_status status = w->k.pair(w->k.user, x, shape, &rate);
    const bool known = status == CAROM_OK && both_sides(w, place, w->tau, side);
    const double slope = known ? slope_of(side) : NAN;
    // by derivatives, where the contacts allow it; else from the orbits
    double by_normal_form = NAN;
    if (status == CAROM_OK) {
        const carom_error before = *w->err;
        status = w->k.restore(w->k.user, place);
        if (status == CAROM_OK && w->k.first_lyapunov &&
            w->k.first_lyapunov(w->k.user, &by_normal_form) != CAROM_OK)
            by_normal_form = NAN, *w->err = before;
        if (status == CAROM_OK) status = w->k.restore(w->k.user, place);
    }
    const double length = w->k.natural ? w->k.natural(w->k.user) : 0;
    static const double STILL = 1e-3; // size of a model whose positions are zero, in its units
    // chosen: the first amplitude, where cubic terms are 1e-4
    double size = 0.01 * (length > 0 ? length : fmax(carom_norm_max(x, w->nq), STILL)), c[2] = {NAN, NAN}, off = 0;
    int most = 0, good = -1;
    for (int i = 0; i < w->nv; ++i)
        if (hypot(shape[i], shape[w->nv + i]) > hypot(shape[most], shape[w->nv + most])) most = i;
    follow_choose(w, true);
    t[7] = 1;
    for (int i = 0; i < TIMES && status == CAROM_OK && good < 0; ++i) {
        const double by = size * pow(10, i / 2.0);
        status = w->k.grow(w->k.user, value, x, shape, rate, by, w->tau);
        if (follow_fatal(status)) break;
        off = follow_value_now(w) - value;
        if (status == CAROM_OK && (fabs(off) > FOLLOW_FELT * w->size || i == TIMES - 1)) good = i, size = by;
        if (i < TIMES - 1) status = CAROM_OK;
    }
    if (status == CAROM_OK && good < 0)
        status = carom_fail(w->err, CAROM_NOT_CONVERGED, "no orbit was found near the equilibrium");
    // amplitudes size/2 and size: c1 without its next term
    for (int half = 1; half >= 0 && status == CAROM_OK; --half) {
        double period;
        status = w->k.grow(w->k.user, value, x, shape, rate, half ? size / 2 : size, w->tau);
        if (status == CAROM_OK) status = w->k.row(w->k.user, &period, w->x, w->least, w->most);
        const double r = (w->most[most] - w->least[most]) / 2;
        if (status == CAROM_OK) off = follow_value_now(w) - value, c[half] = -4 * slope * off / (r * r);
    }
    const double orbits = (4 * c[1] - c[0]) / 3,
                 c1 = fabs(by_normal_form - orbits) <= AGREE * fabs(orbits) ? by_normal_form : orbits;
    if (status == CAROM_OK)
        status = follow_amend(w, t[6], follow_word_of(isnan(c1) || fabs(off) < NOTICED * w->size ? 0 : -c1), c1);
    free(x);
    return status;
}
