// follow_sudden.c: where contacts begin to do something else, and how the branch goes on behind it.
#include "dynamics/follow.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FURTHER[] = {1e-6, 1e-5, 1e-4}; // of a step: how far behind an event another solution is looked for
static const double SIDEWAYS[] = {1e-6, 1e-5, 1e-4}, FARTHER = 10, NOT_FAR = 1e3; // of the range: how far from the end
                                      // of a branch its other side is looked for; of that, states; and where they lie
static const double LEAP = 1e-6, ALONG = 2; // of sizes, and of the step: an event does not move the orbit by more
static const double CLOSE = 0.01, NOT_QUITE = 0.9; // a step at which an end is believed; of the way to where it seemed
                                                   // to be

// Is there a solution with other contacts just behind sigma?  Where an event has only begun it is hard to find: a
// little further on, too.  The curve ends there.  *only: there is one at sigma, and none where it would be clear.
// before: the last solution before the event.
//
// (FOL-10)  |u_1 - u_0| <= max(1e-6, 2 ds): what is farther from it lies on another branch, to which Newton's method
//           has leapt.
static carom_status look_behind(follow_walk *w, const double *before, double sigma, double ds, bool *found, bool *only,
                                double *at, carom_error *why) {
    enum { TIMES = 5 };
    // events that come at nearly the same time are told apart first
    const double further[TIMES] = {w->k.clear, 0, FURTHER[0], FURTHER[1], FURTHER[2]};
    *found = *only = false;
    bool leapt = false;
    for (int i = w->k.clear > 0 ? 0 : 1; i < (w->k.clear > 0 ? TIMES : 2) && !*found && !leapt; ++i) {
        int iterations;
        *at = sigma + further[i];
        if (i > 1 && *at > fmax(ds, sigma + w->k.clear)) break;
        const carom_status status = follow_go(w, w->place, w->tau, *at, &iterations);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (status != CAROM_OK) *why = *w->err;
        *found = status == CAROM_OK && !w->k.same(w->k.user);
        if (*found) {
            w->k.apart(w->k.user, before, w->by);
            leapt = carom_length(w->by, w->k.ntau) > fmax(LEAP, ALONG * further[i]);
            *found = !leapt;
        }
        *only = i == 0 ? status != CAROM_OK : *only && i == 1;
    }
    return CAROM_OK;
}

static carom_status note_fold(follow_walk *w, long row, const char *grazing) {
    static const char fold[] = " (nonsmooth fold)";
    char **text = &w->f->branch.column[5].text[row], *more = realloc(*text, strlen(grazing) + sizeof fold);
    if (!more) return follow_no_memory(w->err);
    *text = more;
    strcpy(more, grazing), strcat(more, fold);
    return CAROM_OK;
}

// Has something happened on the way from the solution before, of the branch behind grazing, to this one?
static bool went_over(const follow_walk *w, const follow_spot *before, const follow_spot *now) {
    const int last = w->k.ntau - 1;
    return before->look.unstable != now->look.unstable || before->tau[last] * now->tau[last] < 0;
}

static void swap_spots(follow_walk *w, follow_spot_name a, follow_spot_name b) {
    const follow_spot kept = w->spot[a];
    w->spot[a] = w->spot[b], w->spot[b] = kept;
}

// To a solution that was left.
static carom_status go_back(follow_walk *w, const follow_spot *to) {
    carom_copy(w->tau, to->tau, w->k.ntau);
    CAROM_TRY(w->k.restore(w->k.user, to->place));
    CAROM_TRY(w->k.linearise(w->k.user));
    return follow_stand(w);
}

// The curve stands at a solution that nearly grazes a contact.  Through the orbit that does, to those on the other
// side, until the branch can be followed as usual; *passed: it could; *ended: it leaves the range there.
static carom_status pass_grazing(follow_walk *w, int branch, const follow_spot *at, bool *passed, bool *ended) {
    enum { MOST = 14 };
    const int last = w->k.ntau - 1;
    const double range[2] = {w->low, w->high};
    carom_table *t = &w->f->branch;
    char text[120] = "grazing";
    const double way = at->tau[last];
    const long row = t->rows;
    bool clear = false, edge = false;
    *passed = false;
    carom_status status = w->k.graze(w->k.user, range, text, sizeof text);
    if (status != CAROM_OK) return follow_fatal(status) ? status : CAROM_OK;
    if (text[0]) CAROM_TRY(follow_add_row(w, branch, &at->look, text));
    swap_spots(w, FOLLOW_HERE, FOLLOW_LOWEST);
    for (int i = 0; i < MOST && !clear && !edge && status == CAROM_OK; ++i) {
        const follow_spot *now = &w->spot[FOLLOW_HERE], *before = &w->spot[FOLLOW_MIDDLE];
        status = w->k.leave(w->k.user, range, w->tau, &clear, &edge);
        if (status == CAROM_OK) status = follow_stand(w);
        if (status != CAROM_OK) break;
        const bool over = i > 0 && went_over(w, before, now);
        if (over) { // from the solution before it is found as usual
            edge = false, clear = true;
            status = go_back(w, before);
            continue;
        }
        if (i == 0 && text[0] && way * w->tau[last] < 0) CAROM_TRY(note_fold(w, row, text));
        status = follow_add_row(w, branch, &now->look, "");
        swap_spots(w, FOLLOW_HERE, FOLLOW_MIDDLE);
    }
    *passed = status == CAROM_OK && (clear || edge), *ended = *passed && edge;
    if (status == CAROM_OK || follow_fatal(status)) return status;
    while (t->rows > row) free(t->column[5].text[--t->rows]); // as if it had not been tried
    swap_spots(w, FOLLOW_HERE, FOLLOW_LOWEST);
    carom_copy(w->place, w->spot[FOLLOW_HERE].place, w->k.nplace);
    carom_copy(w->tau, w->spot[FOLLOW_HERE].tau, w->k.ntau);
    return CAROM_OK;
}

// Between a and b contacts begin to do something else.  What the linearised motion alone has seen, and where no
// solution is found behind it, is located again with all accuracy there is.
static carom_status locate_sudden(follow_walk *w, double ds, double *a, double *b, bool *exact) {
    double low = *a, high = *b;
    int iterations;
    if (!w->k.roughly) return CAROM_OK;
    carom_status status = follow_go(w, w->place, w->tau, *b, &iterations);
    const bool none = status != CAROM_OK;
    if (follow_fatal(status) || (!none && !w->k.roughly(w->k.user))) return follow_fatal(status) ? status : CAROM_OK;
    CAROM_TRY(w->k.precise(w->k.user, true));
    bool before = false, behind = false;
    status = CAROM_OK;
    // a bracket of the more accurate event
    const double reach = none ? fmax(ds, FOLLOW_SHORT) : ds;
    static const double NARROW = 1e-7, WIDE = 1e-3; // of a step: what the more accurate event may be off
    for (double by = NARROW * reach; by < WIDE * reach && !(before && behind) && status == CAROM_OK; by *= 10) {
        low = fmax(0, *a - by), high = *b + by;
        status = follow_go(w, w->place, w->tau, low, &iterations);
        before = status == CAROM_OK && w->k.same(w->k.user);
        if (status == CAROM_OK) status = follow_go(w, w->place, w->tau, high, &iterations);
        behind = none ? status != CAROM_OK : status == CAROM_OK && !w->k.same(w->k.user);
        if (none && !follow_fatal(status)) status = CAROM_OK;
    }
    for (int i = 0; i < 60 && high - low > FOLLOW_EXACT && before && behind && status == CAROM_OK; ++i) {
        const double sigma = (low + high) / 2;
        status = follow_go(w, w->place, w->tau, sigma, &iterations);
        if (status == CAROM_OK && w->k.same(w->k.user)) low = sigma;
        else high = sigma;
        if (none && !follow_fatal(status)) status = CAROM_OK;
    }
    // else it is where it was, or Newton's method has its limits there
    *exact = status == CAROM_OK && before && behind && fabs(low - *a) > 4 * FOLLOW_EXACT;
    if (*exact) *a = low, *b = high;
    const carom_status off = w->k.precise(w->k.user, false);
    return follow_fatal(status) ? status : off;
}

// The curve stands at the last solution before contacts do something else, and there is none beyond it.  Solutions with
// other contacts may lie on either side of that value, as where a slip phase begins to stick: from states a little
// beside it, from which contacts do something else.  *found: the curve ends there, and w->tau leads on.
static carom_status look_beside_end(follow_walk *w, const follow_spot *at, bool *found, bool *back) {
    enum { MOST = 12 };
    const int last = w->k.ntau - 1, n = last - 1 < MOST ? last - 1 : MOST;
    const double way = at->tau[last] < 0 ? -1 : 1;
    for (int k = 0; k < 3; ++k)
        for (int turned = 0; turned < 2; ++turned)
            for (int i = 0; i < 2 * n; ++i) {
                const double by = SIDEWAYS[k] * (turned ? -way : way);
                bool other = false;
                CAROM_TRY(w->k.restore(w->k.user, at->place));
                carom_zero(w->tau_1, w->k.ntau);
                w->tau_1[last] = 1;
                carom_status status = w->k.predict(w->k.user, w->tau_1, by);
                w->tau_1[last] = 0, w->tau_1[i / 2] = 1;
                if (status == CAROM_OK)
                    status = w->k.beside(w->k.user, w->tau_1, (i % 2 ? -FARTHER : FARTHER) * fabs(by), &other);
                if (follow_fatal(status)) return status;
                if (status != CAROM_OK || !other || w->k.same(w->k.user)) continue;
                w->k.apart(w->k.user, at->place, w->by);
                if (!(carom_length(w->by, w->k.ntau) < NOT_FAR * fabs(by))) continue;
                carom_zero(w->tau, w->k.ntau);
                w->tau[last] = turned ? -way : way;
                *found = true, *back = turned;
                return CAROM_OK;
            }
    return CAROM_OK;
}

// The same from a solution beside it, if it has derivatives.
static carom_status try_grazing(follow_walk *w, int branch, const follow_spot *at, bool *passed, bool *ended) {
    carom_status status = w->k.restore(w->k.user, at->place);
    if (status == CAROM_OK) status = w->k.linearise(w->k.user);
    return status == CAROM_OK ? pass_grazing(w, branch, at, passed, ended) : follow_fatal(status) ? status : CAROM_OK;
}

// The last solution before the event, a along the tangent; smooth events on the way there are then in the table.
// text: what happens there; NULL: that is known.
static carom_status stand_before(follow_walk *w, int branch, double a, bool exact, follow_spot *at, char *text,
                                 size_t size) {
    bool good;
    int iterations;
    if (exact) CAROM_TRY(w->k.precise(w->k.user, true));
    carom_status status = follow_go(w, w->place, w->tau, a, &iterations);
    if (status == CAROM_OK) status = follow_look_at(w, at);
    if (exact) CAROM_TRY(w->k.precise(w->k.user, false));
    if (text) w->k.describe(w->k.user, true, text, size);
    if (status != CAROM_OK && status != CAROM_SINGULAR) return status;
    w->wary = false;
    return a > FOLLOW_SMALLEST ? follow_smooth_events(w, branch, &good) : CAROM_OK;
}

// The curve goes to the solution behind the event.  Where nothing moves any more, there is no orbit: the branch ends.
static carom_status go_on_behind(follow_walk *w, int branch, const follow_spot *at, double behind, bool *ended) {
    static const carom_error still = {
        .code = CAROM_SINGULAR,
        .text = "friction holds everything from there on, and states of rest form a set"};
    int iterations;
    CAROM_TRY(follow_go(w, w->place, w->tau, behind, &iterations));
    *ended = w->k.held && w->k.held(w->k.user);
    if (!*ended) return CAROM_OK;
    CAROM_TRY(w->k.restore(w->k.user, at->place));
    follow_note_end(w, branch, &still);
    return CAROM_OK;
}

carom_status follow_sudden_event(follow_walk *w, int branch, double ds, double *shorter, bool *ended) {
    double a = 0, b = ds, behind = 0;
    bool found = false;
    int iterations;
    char text[120] = "end";
    carom_error why = {.code = CAROM_NOT_CONVERGED,
                       .text =
                           "the sequence of contacts changes, and no solution with another one was found after it"};
    for (int i = 0; i < 60 && b - a > FOLLOW_EXACT; ++i) {
        const double sigma = (a + b) / 2;
        const carom_status status = follow_go(w, w->place, w->tau, sigma, &iterations);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (status != CAROM_OK) why = *w->err;
        if (status == CAROM_OK && w->k.same(w->k.user)) a = sigma;
        else b = sigma;
    }
    bool exact = false;
    CAROM_TRY(locate_sudden(w, ds, &a, &b, &exact));
    if (a > FOLLOW_SMALLEST) { // is it the start of the orbit that meets an event, and nothing else?
        bool moved = false;
        const carom_status there = follow_go(w, w->place, w->tau, a, &iterations);
        if (follow_fatal(there)) return there;
        const carom_status settled = there == CAROM_OK ? follow_settle(w, &moved) : there;
        if (follow_fatal(settled) || (moved && settled == CAROM_OK)) return settled;
    }
    bool only = false;
    carom_status status = follow_go(w, w->place, w->tau, a, &iterations);
    if (follow_fatal(status)) return status;
    w->k.save(w->k.user, w->spot[FOLLOW_TRIED].place);
    if (status == CAROM_OK)
        CAROM_TRY(look_behind(w, w->spot[FOLLOW_TRIED].place, b, ds, &found, &only, &behind, &why));
    // far ahead Newton's method may fail, or leap to another branch, where the branch has no end
    *shorter = !found && ds > CLOSE ? fmin(NOT_QUITE * a, ds / 3) : 0;
    if (*shorter > 0) return w->k.restore(w->k.user, w->place);
    if (found) w->k.describe(w->k.user, false, text, sizeof text);
    const bool touches = w->k.graze && (!found || strncmp(text, "grazing", 7) == 0);
    follow_spot *at = &w->spot[FOLLOW_THERE];
    status = stand_before(w, branch, a, exact, at, found ? NULL : text, sizeof text);
    if (follow_fatal(status)) return status;
    bool passed = false;
    if (touches && status == CAROM_OK) CAROM_TRY(try_grazing(w, branch, at, &passed, ended));
    // so near to it that there are no derivatives
    if (touches && !passed) CAROM_TRY(try_grazing(w, branch, &w->spot[FOLLOW_HERE], &passed, ended));
    if (passed) return CAROM_OK;
    CAROM_TRY(status);
    CAROM_TRY(w->k.restore(w->k.user, at->place));
    CAROM_TRY(w->k.linearise(w->k.user));
    bool beside = false, back = false;
    // where orbits with a phase of sticking and those without it meet, one within the errors of Newton's method is no
    // branch that goes on
    const bool meet = found && only && strncmp(text, "grazing-sliding", 15) == 0;
    if ((!found || meet) && w->k.beside) CAROM_TRY(look_beside_end(w, at, &beside, &back));
    if (beside) {
        w->k.describe(w->k.user, false, text, sizeof text);
        if (back) strcat(text, " (nonsmooth fold)");
        w->k.save(w->k.user, w->spot[FOLLOW_TRIED].place);
    }
    CAROM_TRY(w->k.restore(w->k.user, at->place));
    CAROM_TRY(w->k.linearise(w->k.user));
    CAROM_TRY(follow_add_row(w, branch, &at->look, text));
    if (beside) {
        CAROM_TRY(w->k.restore(w->k.user, w->spot[FOLLOW_TRIED].place));
        return w->k.linearise(w->k.user);
    }
    *ended = !found;
    if (!found) follow_note_end(w, branch, &why);
    return found ? go_on_behind(w, branch, at, behind, ended) : CAROM_OK;
}
