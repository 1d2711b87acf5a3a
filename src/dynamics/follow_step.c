// follow_step.c: solutions along a tangent, and what is known of the one where the curve stands.
#include "dynamics/follow.h"
#include <math.h>

static const double SLANT = 0.3; // of a tangent: its part along that of the step, from which it leads to any s

carom_status follow_go(follow_walk *w, const double *place, const double *tau, double sigma, int *iterations) {
    CAROM_TRY(w->k.restore(w->k.user, place));
    carom_add(w->tau_1, tau, sigma / 2, w->bend, w->k.ntau);
    CAROM_TRY(w->k.predict(w->k.user, w->tau_1, sigma));
    return w->k.correct(w->k.user, tau, iterations);
}

double follow_value_now(follow_walk *w) {
    w->k.save(w->k.user, w->place_1);
    return w->place_1[0];
}

bool follow_fatal(carom_status status) { return status == CAROM_STOPPED || status == CAROM_NO_MEMORY; }

carom_status follow_look_at(follow_walk *w, follow_spot *to) {
    const int last = w->k.ntau - 1;
    carom_curve_look *l = &to->look;
    carom_signed border = {0, 0};
    carom_copy(to->tau, w->tau, w->k.ntau);
    const bool unique = w->k.tangent(w->k.user, to->tau, &border);
    if (!unique) carom_copy(to->tau, w->tau, w->k.ntau);
    if (!unique && !w->locating) border.sign = 0; // where an event is located it vanishes; else it does so everywhere
    CAROM_TRY(w->k.look(w->k.user, l));
    const double slope = to->tau[last];
    l->test[CAROM_FOLD] = (carom_signed){unique && fabs(slope) > FOLLOW_NOUGHT ? slope > 0 ? 1 : -1 : 0,
                                         log(fmax(fabs(slope), CAROM_NOT_ZERO))};
    l->test[CAROM_BRANCH] = border;
    w->k.save(w->k.user, to->place);
    w->k.apart(w->k.user, w->place, w->by);
    to->s = carom_dot(w->tau, w->by, w->k.ntau);
    return unique ? CAROM_OK : CAROM_SINGULAR;
}

carom_status follow_solve_at(follow_walk *w, const follow_spot *from, double s, follow_spot *to) {
    int iterations;
    const double along = carom_dot(from->tau, w->tau, w->k.ntau), by = (s - from->s) / fmax(along, SLANT),
                 rest = s - from->s - by * along; // where the branch is nearly perpendicular to w->tau
    w->strayed = true;
    CAROM_TRY(w->k.restore(w->k.user, from->place));
    CAROM_TRY(w->k.predict(w->k.user, from->tau, by));
    if (along < SLANT) CAROM_TRY(w->k.predict(w->k.user, w->tau, rest));
    CAROM_TRY(w->k.correct(w->k.user, w->tau, &iterations));
    if (!w->k.same(w->k.user)) return carom_fail(w->err, CAROM_NOT_CONVERGED, "the sequence of contacts changes");
    const carom_status status = follow_look_at(w, to);
    return status == CAROM_SINGULAR ? CAROM_OK : status;
}

carom_status follow_solve_between(follow_walk *w, const follow_spot *a, const follow_spot *b, double s,
                                  follow_spot *to) {
    const bool left = s - a->s <= b->s - s;
    carom_status status = follow_solve_at(w, left ? a : b, s, to);
    if (status != CAROM_OK && !follow_fatal(status)) status = follow_solve_at(w, left ? b : a, s, to);
    return status;
}

carom_status follow_turn_forward(follow_walk *w) {
    return w->k.tangent(w->k.user, w->tau, NULL)
               ? CAROM_OK
               : carom_fail(w->err, CAROM_SINGULAR, "the branch has no unique tangent at %s = %.9g", w->def->by,
                            follow_value_now(w));
}

carom_status follow_settle(follow_walk *w, bool *moved) {
    const int last = w->k.ntau - 1;
    CAROM_TRY(w->k.settle(w->k.user, moved));
    if (!*moved) return CAROM_OK;
    const double way = w->tau[last] < 0 ? -1 : 1;
    carom_zero(w->tau, w->k.ntau), carom_zero(w->bend, w->k.ntau);
    w->tau[last] = way;
    return follow_turn_forward(w);
}

carom_status follow_stand(follow_walk *w) {
    w->k.save(w->k.user, w->place);
    const carom_status status = follow_look_at(w, &w->spot[FOLLOW_HERE]);
    return status == CAROM_SINGULAR ? CAROM_OK : status;
}
