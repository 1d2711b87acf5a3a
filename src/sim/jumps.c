// jumps.c: steps in pieces, where forces, walls or energies jump or have a kink, or a pulse is short.
//
// A comparison like t > c has its old value at c, t >= c the new one, and the slope of |t - c| neither.  So steps end
// before such times and begin behind them.
#include "sim/sim.h"
#include <math.h>
#include <string.h>

// Power of forces that no scheme has booked: the trapezoidal rule over the h before a jump.
static carom_status book_power(carom_sim *sim, double h, carom_error *err) {
    carom_kept *k = sim->kept;
    double in, out;
    if (sim->scheme->accounts_power || sim->inside.power.accounted) return CAROM_OK;
    CAROM_TRY(carom_sim_observe(sim, &in, &out, err));
    k->ledger.energy.external += 0.5 * h * (k->power_in + in);
    k->ledger.energy.damping += 0.5 * h * (k->power_out + out);
    k->power_in = in;
    k->power_out = out;
    return CAROM_OK;
}

// Books from one side to the other: what the jump adds to the energy is external work.  Driven joints may be struck.
carom_status carom_sim_pass(carom_sim *sim, double h, double before, double behind, carom_error *err) {
    carom_kept *k = sim->kept;
    const double t = k->t;
    double T[2], V[2];
    k->t = before;
    carom_status status = carom_sim_account_works(sim, h, err);
    if (status == CAROM_OK) status = book_power(sim, h, err);
    if (status == CAROM_OK) status = carom_sim_energy(sim, &T[0], &V[0], err);
    k->t = behind;
    if (status == CAROM_OK && sim->switches.piece) status = carom_sim_switch(sim, behind, err);
    if (status == CAROM_OK) status = carom_sim_energy(sim, &T[1], &V[1], err);
    if (status == CAROM_OK) status = carom_sim_account_works(sim, 0, err);
    if (status == CAROM_OK) status = book_power(sim, 0, err);
    k->t = t;
    CAROM_TRY(status);
    const bool starts = k->n == 0 && behind <= t + 8 * carom_sim_instant(sim, t);
    *(!starts ? &k->ledger.energy.external : &k->ledger.energy.start) += (T[1] + V[1]) - (T[0] + V[0]);
    sim->behind = behind;
    return carom_sim_jerk(sim, before, behind, err);
}

carom_status carom_sim_pass_end(carom_sim *sim, double h, double to, double t_1, carom_error *err) {
    CAROM_TRY(carom_sim_pass(sim, h, to, t_1, err));
    return carom_sim_jerked(sim, to, t_1) ? CAROM_OK
                                          : carom_sim_jerk(sim, to, to + 2 * carom_sim_instant(sim, t_1), err);
}

// -- steps in pieces --------------------------------------------------------------------------------------------------

// (JT-4)  The first jump behind t_0, not behind t_1; all of them, or only those of a driven joint's velocity and those
//         that are values at a single instant (JT-6).
static double next(carom_sim *sim, bool all, double t_0, double t_1) {
    double at = carom_sim_jump(sim, t_0, t_1);
    for (double e; !all && at < HUGE_VAL; at = carom_sim_jump(sim, at + e, t_1))
        if (e = carom_sim_instant(sim, at), carom_sim_jerked(sim, at - e, at + e) || carom_sim_alone(sim, at)) break;
    return at;
}

// A piece of a step, cut again where functions of time have short pulses.  After a failure the simulation goes back to
// the start of the step.  *from: moved to the start of the last part, whose works are not booked yet.
static carom_status piece(carom_sim *sim, double *from, double to, carom_error *err) {
    static const double GRADE = 2; // halving and doubling: seven parts to a hundredth
    for (double last = HUGE_VAL; *from < to;) {
        // A part is at most GRADE times as long as those beside it: the foot of a pulse grows by a constant factor over
        // its own width.
        double end = carom_sim_even(sim, true, *from, to),
               next = end < to ? carom_sim_even(sim, true, end, to) - end : HUGE_VAL;
        end = fmin(end, *from + GRADE * last);
        while (end - *from > GRADE * next) {
            end = *from + 0.5 * (end - *from);
            next = carom_sim_even(sim, true, end, to) - end;
        }
        last = end - *from;
        const double t = sim->kept->t;
        CAROM_TRY(carom_sim_advance_halving(sim, *from, end - *from, err));
        sim->unbooked = to - *from;
        if (!(end < to)) break;
        sim->kept->t = end;
        const carom_status status = carom_sim_account_works(sim, end - *from, err);
        sim->kept->t = t;
        CAROM_TRY(status);
        *from = end;
    }
    return CAROM_OK;
}

// Is a step cut for short pulses?  Those beside it are, too: the feet of a pulse as wide as a step lie there.
static bool cut_for_pulses(const carom_sim *sim, double t, double t_1) {
    const double h = t_1 - t;
    if (!sim->sys->events->limit_step) return false;
    for (int k = -1; k <= 1; ++k) {
        const double from = t + k * h, to = k ? from + h : t_1;
        if (from < sim->t0 - 0.5 * h) continue; // nothing was there
        if ((k == 0 || (sim->scheme->accounts_power && !sim->scheme->controls_own_steps)) &&
            carom_sim_even(sim, false, from, to) < to)
            return true;
    }
    return false;
}

// From t over h to t_1, in pieces where forces jump on the way.
//
// (JT-1)  A jump at c: before it up to c - d, behind it from c + d on, with nothing but the books between; d = 4 eps
//         max(|t|, h/1000).  Near the end of a step it is left to the next one to begin behind it.  Schemes that do not
//         locate events have pieces only where driven joints are struck (JT-4), but begin and end beside jumps; those
//         with impulses alone look at forces inside a step.
// (JT-6)  A value at a single instant is no value of the motion: all schemes pass it like that, but those whose steps
//         are all equal.
// (JT-3)  Where jumps follow each other within rounding, operands differ by no more, and time goes on over twice as
//         many of them each time.
carom_status carom_sim_pieces(carom_sim *sim, double t, double h, double t_1, carom_error *err) {
    const double d = carom_sim_instant(sim, t), e = carom_sim_instant(sim, t_1);
    double from = t;
    const bool beside = !sim->scheme->impulses, cut = cut_for_pulses(sim, t, t_1),
               jumps = sim->sys->events->next_jump && next(sim, beside, t - 4 * d, t_1 + e) < HUGE_VAL;
    if (!jumps) return cut ? piece(sim, &from, t_1, err) : carom_sim_advance_halving(sim, t, h, err);
    double at = next(sim, beside, t - 4 * d, t + d), blur = 0;
    if (at < HUGE_VAL) {
        from = fmax(t, at + d);
        CAROM_TRY(carom_sim_pass(sim, 0, t, from, err));
    }
    while ((at = next(sim, sim->scheme->accounts_power, from + blur, t_1 - 4 * e)) < HUGE_VAL) {
        const double to = fmax(from, at - e);
        blur = at - from <= 16 * fmax(blur, e) ? 2 * fmax(blur, e) : 0; // (JT-3)
        if (to > from) CAROM_TRY(piece(sim, &from, to, err));
        CAROM_TRY(carom_sim_pass(sim, to - from, to, at + e, err));
        from = at + e;
    }
    const double to = fmin(next(sim, beside, fmax(from, t_1 - 4 * e), t_1 + e) - e, t_1);
    if (from == t && to == t_1 && !cut) return carom_sim_advance_halving(sim, t, h, err);
    CAROM_TRY(piece(sim, &from, to, err));
    if (to < t_1) sim->unbooked = 0;
    return to < t_1 ? carom_sim_pass_end(sim, to - from, to, t_1, err) : CAROM_OK;
}
