// choice.c: which solver goes first on large problems with moderate tolerances: `bodies` or `hybrid`.
//
// Spec: docs/solvers.md, "The chain", (SOL-28).  Spheres in motion are solved by sweeps, boxes at rest by Newton's
// method from the last answer; no count of bodies or contacts tells them apart.  So the work of both is remembered, and
// the one that is not in use is tried now and then.  Work is counted, in nanoseconds of a common machine, and not
// timed: the choice is the same on every computer and for any number of threads.
#include "solver/choice.h"
#include <math.h>

// Problems of a trial; problems between two trials at first and at most; problems until the next one where the solver
// in use has become slow.
enum { TRIAL = 4, PAUSE = 16, LONGEST = 1024, SOON = 4 };
enum { MANY = 20000 }; // contacts whose blocks of G take too much memory for a trial
// Work for each contact that is not worth a trial: 40 sweeps of `bodies`; more of `hybrid`, since the first answers of
// `bodies` cost nothing where contacts rest, and the next ones lose some of them.
static const double CHEAP[] = {[CAROM_BY_BODIES] = 3500, [CAROM_BY_HYBRID] = 6000};
static const double WORTH = 50000; // work for each contact that `hybrid` may do in the first problem of a run, and that
                                   // its precise answers are worth where they are asked for and rougher ones accepted
static const double ALLOWED = 2;   // work of a trial over that of the solver in use: its first start is a poor one
static const double PATIENCE = 4;  // work of `hybrid` in use over that of `bodies`
static const double SLOW = 3;      // work over that of the other solver, which is then tried soon
static const double BETTER = 0.7;  // work over that of the solver in use, which it then replaces

// Work for each contact that is not worth saving.
static double modest(const carom_allowance *turn) {
    return turn->precise && turn->who == CAROM_BY_HYBRID ? WORTH : 0;
}

carom_allowance carom_choice_next(carom_choice *c, int contacts, bool precise) {
    if (contacts > MANY) return (carom_allowance){.who = CAROM_BY_BODIES, .limit = INFINITY, .precise = precise};
    const carom_allowance hybrid = {.who = CAROM_BY_HYBRID, .precise = precise};
    if (c->pause == 0) { // answers of `bodies` would lose contacts that rest
        c->first = CAROM_BY_HYBRID;
        return (carom_allowance){.who = c->first, .limit = WORTH * contacts, .precise = precise};
    }
    const double cheap[] = {[CAROM_BY_BODIES] = modest(&hybrid) > CHEAP[CAROM_BY_HYBRID] ? 0 : CHEAP[CAROM_BY_BODIES],
                            [CAROM_BY_HYBRID] = fmax(CHEAP[CAROM_BY_HYBRID], modest(&hybrid))};
    const bool tries = c->trial > 0 || (c->cost[c->first] > cheap[c->first] && --c->wait < 0);
    const int who = tries ? !c->first : c->first;
    carom_allowance turn = {.who = who, .limit = INFINITY, .precise = precise};
    if (tries && c->trial == 0) c->trial = TRIAL;
    if (tries) turn.limit = ALLOWED * c->cost[c->first];
    else if (who == CAROM_BY_HYBRID) turn.limit = PATIENCE * (c->cost[!who] > 0 ? c->cost[!who] : WORTH);
    turn.limit = fmax(turn.limit, modest(&turn)) * contacts;
    return turn;
}

static void rest(carom_choice *c) {
    c->trial = 0;
    c->pause = c->pause < LONGEST ? 2 * c->pause : LONGEST;
    c->wait = c->pause;
}

void carom_choice_learn(carom_choice *c, carom_allowance turn, int contacts, double work, bool solved) {
    const double each = work / contacts;
    double *own = c->cost + turn.who;
    if (contacts > MANY) return;
    if (c->pause == 0) {
        *own = each;
        c->pause = PAUSE;
        c->wait = SOON;
        if (!solved) c->first = CAROM_BY_BODIES, c->wait = PAUSE;
        return;
    }
    if (turn.who != c->first) {
        *own = c->trial < TRIAL ? fmax(*own, each) : each; // its slowest problem counts
        if (solved && --c->trial > 0) return;
        if (solved && *own < fmax(BETTER * c->cost[c->first], modest(&turn))) c->first = turn.who;
        rest(c);
        return;
    }
    *own = each;
    if (!solved) c->wait = 0; // the other one solves it, and is tried from the next problem on
    else if (c->cost[!turn.who] > 0 && each > fmax(SLOW * c->cost[!turn.who], modest(&turn)) &&
             c->wait > SOON)
        c->wait = SOON;
}
