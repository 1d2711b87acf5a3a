// warnings.c: what a person should know before trusting a run, read off its ledger.
//
// All thresholds are here, with their reasons.  A warning says what happened, where, and what to do.
#include "base/option.h"
#include "base/tolerance.h"
#include "diagnosis/diagnosis.h"
#include "scheme/advice.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// Energy that impacts created, relative to the largest kinetic energy, or to what passed through: a gain that size is
// no rounding where events are located, and no error of first order in a step elsewhere.
static const double CREATED = 1e-2, CREATED_LOCATED = 1e-3;
// Of the energy, and of all that was given and taken, which are sums over steps: they are known no better.
static const double BOOKED = 1e-13, WORKED = 1e-2;
// (BK-11)  Unaccounted energy, relative to the largest kinetic energy that is explained: speeds are off by half of that
//          part, by 1 %.  One limit for all schemes, for energy that appears or disappears, for joints that drift and
//          for impacts after short flights.
static const double UNKNOWN = 0.02;
// Where nothing moves, rounding is all there is: energies below this part of what forces would give to all in a step
// (BK-6) are no motion.
static const double STILL = 1e-9;
// Beyond this part of the energy numerical damping does not concern fast vibrations alone.
static const double FADED = 0.5;
// Penetration relative to the smaller of two shapes: a tenth of a radius is seen with the eye.  Where events are
// located there is none but rounding and drift: a thousandth is an event that was missed.
static const double DEEP = 0.1, DEEP_LOCATED = 1e-3;
// Where sizes are not known it is compared with the largest gap of the run, and with the positions.  A contact that
// never opened by more than a few steps has no such length: it may be off by the way that a few steps had to prevent,
// or that bodies went in them, which is what a step's error can be.
static const double ROUNDING = 1e-6, FEW = 4;
// Contact residual relative to the largest local velocity.  Solvers stop at 1e-12; a millionth is still invisible in a
// plot.
static const double LOOSE = 1e-6;
// The same where no solver met its tolerance, relative to the velocities of its step alone: up to there it is below the
// error of a step of any scheme, and counted only.
static const double COUNTED = 1e-8;
// Damping in pulses of fewer steps than this, which take a tenth of the largest kinetic energy.  A contact that is hit
// damps twice, on the way in and on the way out, so it lasts fewer than 2 FEWEST steps: h omega > pi/(2 FEWEST) = 0.4.
// Where a force begins inside a step, the error of its impulse is of first order: a step's part of it.  Where a tenth
// of that energy is unaccounted for, pulses of fewer than FEW_UNBALANCED steps are the reason.
static const double FEWEST = 4, FEW_UNBALANCED = 10, PULSED = 0.1;

typedef struct writer {
    const carom_sim *sim;
    carom_warning *list;
    int n;
} writer;

static char *add(writer *w, const char *kind, long long id, double t) {
    const carom_sim_def *names = &w->sim->names;
    // numbers of contacts that come and go have no end
    const bool known = id >= 0 && (id < w->sim->sys->ne + w->sim->sys->nc || w->sim->list.slots);
    carom_warning *x = w->list + w->n++;
    *x = (carom_warning){.kind = kind,
                         .id = known ? id : -1,
                         .name = known && names->name ? names->name(names->name_user, id) : NULL,
                         .t = t};
    return x->text;
}

// Of a constraint as the system numbers it.
static const char *text_of(const carom_sim *sim, int id, char *space, size_t size) {
    if (sim->names.name) return sim->names.name(sim->names.name_user, carom_sim_known_as(sim, id));
    snprintf(space, size, "%s %d", id < sim->sys->ne ? "constraint" : "contact",
             1 + (id < sim->sys->ne ? id : id - sim->sys->ne));
    return space;
}

static bool told(const writer *w, const char *kind) {
    for (int i = 0; i < w->n; ++i)
        if (strcmp(w->list[i].kind, kind) == 0) return true;
    return false;
}

enum { ROOM = sizeof((carom_warning *)0)->text };

// Energies below this are no motion.
static double still(const carom_sim *sim) { return STILL * carom_sim_one_step(sim); }

// The energy that errors of single steps explain: where the scheme controls them, the work on an error of its
// tolerance, of positions or of what forces do in one step; elsewhere, at rest, that of the forces in one step.  Forces
// beyond those at the start, and beyond what moved and was given, are an effect of the growth, and no cause.
static double one_step(const carom_sim *sim, const carom_ledger *l, const carom_forces *x) {
    static const double REST = 1e-2; // of the work of forces in a step: less motion is rest
    const carom_kept *k = sim->kept;
    const int i = sim->scheme->controls_own_steps ? carom_option_find(sim->scheme->options, "rtol", 4) : -1;
    const double all = carom_sim_of_step(sim, x),
                 caused = fmin(all, k->one_step + k->explained + fabs(l->energy.external));
    const double e = i >= 0                                                 ? sim->opt[i] * fmax(x->work, caused)
                     : sim->scheme->emits_events || l->kinetic > REST * all ? 0
                                                                            : caused;
    return isfinite(e) ? e : 0;
}

// What steps of first order add up to: each is off by the energy of h a, a step's change of velocity, which in a
// vibration is omega^2 times the kinetic one.
static double first_order(const carom_sim *sim, const carom_ledger *l, const carom_forces *x) {
    if (carom_sim_order(sim->scheme, sim->opt) > 1 || sim->scheme->emits_events) return 0;
    return FEW * (sim->kept->t - sim->t0) * sim->h * (x->power + 0.5 * fmax(0, l->pace[0].stiffness) * l->kinetic);
}

// Energy that has passed through the model.
static double passed_through(const carom_ledger *l) {
    return fabs(l->energy.external) + fabs(l->energy.damping) + fabs(l->energy.friction) + fabs(l->energy.impact);
}

static double known_to(const carom_ledger *l) {
    return fmax(BOOKED * fmax(fabs(l->energy.start), fabs(l->energy.end)), WORKED * passed_through(l));
}

// Part of the velocities that contact problems may leave.
static double asked(const writer *w) { return fmax(fmax(LOOSE, w->sim->step.tol), w->sim->inside.limited); }

static void energy_created(writer *w, const carom_ledger *l) {
    const carom_account *a = &l->impulses;
    const carom_forces x = carom_sim_forces(w->sim);
    // the work of all forces on what solvers leave of velocities
    const double force = 2 * x.unit * x.a, residual = fmin(l->counts.residual, asked(w) * w->sim->kept->speed),
                 left = residual * force * (w->sim->kept->t - w->sim->t0);
    // what stands still creates its rounding
    const double exact = fmax(BOOKED * fmax(fabs(l->energy.start), fabs(l->energy.end)), left < HUGE_VAL ? left : 0);
    if (!(l->energy.created > fmax(exact, (w->sim->scheme->emits_events ? CREATED_LOCATED : CREATED) *
                                              fmax(fmax(l->kinetic, passed_through(l)), still(w->sim)))))
        return;
    snprintf(add(w, "energy-created", a->gain_id, a->gain_t), ROOM,
             "impacts created %.3g J, %.3g J of it in one at t = %.9g.  Newton's law of restitution with Coulomb "
             "friction can do that; "
             "`impact law: energetic` or `fremond` at this contact never does",
             l->energy.created, a->gain, a->gain_t);
}

// Steps outside the condition of their rule of dissipation (EN-6) have created energy.
static void rule_violated(writer *w) {
    const carom_rise *r = &w->sim->kept->rise;
    char rule[120];
    if (!(r->sum > CREATED * fmax(w->sim->kept->explained, still(w->sim)))) return;
    switch ((int)r->rule) {
    case CAROM_RULE_THETA: snprintf(rule, sizeof rule, "1/2 <= theta <= 1/(1 + e) does not hold, theta = %.4g and "
                                                       "1/(1 + e) = %.4g", r->x, r->y); break;
    case CAROM_RULE_MEAN: snprintf(rule, sizeof rule, "theta >= 1/2 does not hold, theta = %.4g", r->x); break;
    default: snprintf(rule, sizeof rule, "2 beta >= gamma >= 1/2 does not hold, gamma = %.4g and beta = %.4g",
                                         r->x, r->y); break;
    }
    snprintf(add(w, "scheme", -1, r->t), ROOM,
             "the scheme created %.3g J, %.3g J of it in the step to t = %.9g: the condition under which it "
             "dissipates, %s.  Choose options that meet it",
             r->sum, r->most, r->t, rule);
}

static const char *second_order(const carom_sim *sim, char *text, size_t size) {
    if (!sim->scheme->second_order) return "or a scheme of second order (" CAROM_SECOND_ORDER ")";
    snprintf(text, size, "%.40s, or another scheme of second order (" CAROM_OTHER_SECOND_ORDER ")",
             sim->scheme->second_order);
    return text;
}

// What helps where energy appears: a scheme that can do with the step, where it is known that this one cannot.
static const char *trusted(const carom_sim *sim, const carom_ledger *l) {
    carom_pace p;
    double longest;
    if (sim->scheme->controls_own_steps) return "smaller tolerances";
    return carom_diagnosis_unresolved(sim, l->pace, false, &p, &longest)
               ? "a smaller step, or a scheme for stiff models (" CAROM_DEFAULT_SCHEME ", " CAROM_STIFF ")"
               : carom_sim_finer(sim);
}

// Has damping taken half as much again as there was to take, or more?  What steps of an unresolved decay make of its
// rates is no rest, whatever forces do in a step.
static bool overdrawn(const carom_ledger *l) {
    const double there = l->energy.damping - l->energy.balance;
    return there > 0 && l->energy.balance > fmax(known_to(l), FADED * there);
}

// Do forces have kinks at some states, as those of soft contacts and stops where they begin?  What steps make of these
// is no damping of vibrations.
static bool kinked(const carom_system *sys) {
    bool some = sys->events->kinks_per_slot > 0;
    for (int i = 0; sys->events->kinks && i < sys->events->nk; ++i) some = some || carom_system_kink_of(sys, i) == -1;
    return some;
}

// Does the step resolve all vibrations and decays, whenever it was looked at?
static bool resolved(const carom_sim *sim, const carom_ledger *l) {
    return sim->resolution.on && carom_resolution_short_enough(sim, l->pace[0]) &&
           carom_resolution_short_enough(sim, l->pace[1]);
}

// Does the scheme damp away what the step does not resolve?  Then that is said by resolution().
static bool damps(const carom_sim *sim, const carom_ledger *l, carom_pace *p, double *longest) {
    return !sim->scheme->emits_events && !sim->scheme->controls_own_steps && !sim->control.on &&
           carom_diagnosis_unresolved(sim, l->pace, true, p, longest);
}

static void energy_lost(writer *w, const carom_ledger *l, double lost, double size) {
    const carom_sim *sim = w->sim;
    const bool own = sim->scheme->controls_own_steps,
               kinks = !sim->scheme->emits_events && kinked(sim->sys) && lost <= FADED * size;
    carom_pace p;
    double longest;
    if (!kinks && damps(sim, l, &p, &longest)) {
        if (lost > FADED * size)
            snprintf(add(w, "unaccounted-energy", -1, sim->kept->t), ROOM,
                     "%.3g J are unaccounted for (lost); the largest kinetic energy is %.3g J. Numerical damping "
                     "dominates: try a smaller step, or a scheme that keeps the energy of vibrations (" CAROM_STIFF ")",
                     lost, size);
        return;
    }
    char *text = add(w, "unaccounted-energy", -1, sim->kept->t);
    const int used =
        snprintf(text, ROOM, "%.3g J are unaccounted for (lost); the largest kinetic energy is %.3g J. ", lost, size);
    const size_t room = ROOM - (size_t)used;
    if (kinks)
        snprintf(text + used, room,
                 "The steps do not follow a force that begins or ends suddenly, as that of a soft contact or a stop: "
                 "try %s",
                 own               ? "smaller tolerances"
                 : sim->list.slots ? "a smaller step"
                                   : "a smaller step, or a scheme that chooses its own (" CAROM_DEFAULT_SCHEME ")");
    else if (own)
        snprintf(text + used, room, "Try smaller tolerances");
    else
        snprintf(text + used, room, "%s %.9g %s: forces or directions change too much within a step. Try %s",
                 resolved(sim, l) ? "The model has no vibration that the step" : "The step", sim->h,
                 resolved(sim, l) ? "would damp" : "does not follow the motion",
                 sim->sys->ne > 0 && sim->sys->nc > 0 ? "a smaller step" : carom_sim_finer(sim));
}

static void unaccounted(writer *w, const carom_ledger *l) {
    const double rest = still(w->sim), t = w->sim->kept->t;
    const double size = fmax(w->sim->kept->explained, rest); // energy from nowhere does not make its own measure
    char other[120];
    const carom_forces x = carom_sim_forces(w->sim);
    const double exact = fmax(known_to(l), one_step(w->sim, l, &x));
    const double excess = carom_sim_excess(l, l->energy.end), lost = -l->energy.balance,
                 order = fmin(first_order(w->sim, l, &x), FEW * size); // beyond, it is no error
    if (excess > fmax(UNKNOWN * size, exact) && excess <= order)
        snprintf(add(w, "unaccounted-energy", -1, t), ROOM,
                 "the energy has changed from %.3g J to %.3g J, %.3g J more than impacts, friction, damping and "
                 "external work explain: the error of first order that %s makes with the step %.9g.  "
                 "Try a smaller step, %s",
                 l->energy.start, l->energy.end, excess, w->sim->scheme->name, w->sim->h,
                 second_order(w->sim, other, sizeof other));
    else if (excess > UNKNOWN * size && overdrawn(l))
        snprintf(add(w, "unaccounted-energy", -1, t), ROOM,
                 "damping dissipated %.3g J, %.3g J more than was available: the step does not resolve the damped "
                 "rates. Try %s",
                 l->energy.damping, l->energy.balance,
                 w->sim->scheme->controls_own_steps ? "smaller tolerances"
                 : w->sim->list.slots               ? "a smaller step"
                                      : "a smaller step, or a scheme that chooses its own (" CAROM_DEFAULT_SCHEME ")");
    else if (excess > fmax(UNKNOWN * size, exact))
        snprintf(add(w, "unaccounted-energy", -1, t), ROOM,
                 "the energy has changed from %.3g J to %.3g J, %.3g J more than impacts, friction, damping and "
                 "external work explain. Do not trust this result; try %s",
                 l->energy.start, l->energy.end, excess, trusted(w->sim, l));
    else if (lost > fmax(UNKNOWN * size, exact))
        energy_lost(w, l, lost, size);
}

// Was the contact that is deepest open at the start?  That gap is no error of steps, however long these are.
static bool opened(const carom_sim *sim, const carom_ledger *l) {
    const long long id = l->penetration_id;
    return id >= sim->sys->ne && id < sim->sys->ne + carom_sim_fixed_contacts(sim) &&
           sim->gaps.first[id] > sim->gaps.touches;
}

// (BK-7)  What is off at a joint, times its reaction, is the work that the reaction has done, or would do, where there
//         is no work: the exact motion differs by that energy from the drifted one.  It counts as unaccounted.
static void drift(writer *w, const carom_ledger *l) {
    static const double NONE = 1e-6, // of what forces do in a step
        EXACT = 1e-12;               // of the positions: what stands still has its rounding
    const carom_sim *sim = w->sim;
    const carom_kept *k = sim->kept;
    const double size = fmax(fmax(k->explained, passed_through(l)), NONE * carom_sim_one_step(sim));
    const double least = fmax(known_to(l), EXACT * carom_size_moving(sim->sys, sim->q, sim->sys->nq) * k->joints.force);
    if (!(k->joints.work > fmax(UNKNOWN * size, least))) return;
    const double part = UNKNOWN * size / k->joints.work;
    char other[120];
    if (sim->scheme->controls_own_steps) snprintf(other, sizeof other, "smaller tolerances");
    else
        snprintf(other, sizeof other, "a step below %.3g%s", 0.5 * part * sim->h,
                 // joints under load and contacts that contradict them may be more than those schemes solve
                 sim->sys->nc > 0 ? "" : ", or a scheme that keeps joints closed (" CAROM_CLOSED_JOINTS ")");
    snprintf(add(w, "drift", k->joints.id, k->joints.t), ROOM,
             "joints drift by up to %.3g; the sum of drift times reaction is %.3g J at t = %.9g, where the energy of "
             "the motion is %.3g J. Do not trust this result; try %s",
             l->drift, k->joints.work, k->joints.t, size, other);
}

static void penetration(writer *w, const carom_ledger *l) {
    const carom_sim *sim = w->sim;
    const double size = sim->size && l->penetration_id >= 0 ? sim->size(sim->names.name_user, l->penetration_id) : 0;
    const carom_forces x = carom_sim_forces(sim);
    const double pushed = STILL * sim->h * sim->h * x.a; // of what forces move in a step: where coordinates are 0,
                                                         // nothing else says what rounding is
    const double length = size > 0 ? size : fmax(0, l->gap),
                 least =
                     size > 0 ? 0
                              : ROUNDING * carom_size_moving(sim->sys, sim->q, sim->sys->nq) +
                                    (pushed < HUGE_VAL ? pushed : 0);
    // its wall, or a curve: the approach says nothing of how fast they move
    const bool follows = size == 0 && !sim->scheme->emits_events && l->impacts == 0 && l->gap < l->penetration;
    // in a step
    const double moves = follows && x.unit > 0 && l->kinetic < HUGE_VAL ? sqrt(fmax(0, l->kinetic) / x.unit) : 0,
                 way = fmax(sim->kept->speed, moves) * sim->h;
    const double prevented =
        size > 0 || opened(sim, l) || (l->impacts > 0 && l->gap > FEW * way) ? STILL * way : FEW * way;
    if (!(l->penetration > (sim->scheme->emits_events ? DEEP_LOCATED : DEEP) * length + least + prevented)) return;
    snprintf(add(w, "penetration", l->penetration_id, l->penetration_t), ROOM,
             "contacts overlap by %.3g at t = %.9g, where %s %.3g.  Try %s", l->penetration, l->penetration_t,
             size > 0 ? "the smaller shape has a radius of" : "the largest gap of the run is", length,
             sim->scheme->controls_own_steps ? "max-step= to limit the internal steps" : carom_sim_finer(sim));
}

static void missed_contact(writer *w, const carom_ledger *l) {
    const carom_counts *n = &l->counts;
    if (n->missed == 0) return;
    if (!w->sim->scheme->emits_events) {
        snprintf(add(w, "missed-contact", n->missed_id, n->missed_t), ROOM,
                 "in %ld step%s, first at t = %.9g, a contact closed and opened within the step and the scheme missed "
                 "the impact (tunnelling). Try %s",
                 n->missed, n->missed == 1 ? "" : "s", n->missed_t, carom_sim_finer(w->sim));
        return;
    }
    snprintf(add(w, "missed-contact", n->missed_id, n->missed_t), ROOM,
             "in %ld step%s of the scheme a gap changes too fast to be followed, first at t = %.9g: an obstacle may "
             "have been missed.  Try a smaller step, or max-step= where the scheme has it",
             n->missed, n->missed == 1 ? "" : "s", n->missed_t);
}

// Walls that signals move have no speed.  Schemes that hold positions follow them all the same.
static void moved(writer *w, const carom_ledger *l) {
    const carom_scheme *scheme = w->sim->scheme;
    if (!(l->moved > ROUNDING * l->gap) || scheme->emits_events || scheme->promises.contacts == CAROM_POSITION_LEVEL)
        return;
    snprintf(add(w, "moved", l->moved_id, l->moved_t), ROOM,
             "a signal displaces the wall by a jump (at t = %.9g, %.3g): %s cannot see the wall's velocity, so it "
             "penetrates or separates without an impact. Move it by an expression of time or by a table, or "
             "use a scheme with position-level constraints (" CAROM_POSITIONS ")",
             l->moved_t, l->moved, scheme->name);
}

static void unconverged(writer *w, const carom_ledger *l) {
    const double speed = w->sim->kept->speed;
    if (l->counts.accepted > 0 && l->counts.accepted_residual > fmax(COUNTED, w->sim->inside.limited)) {
        snprintf(add(w, "unconverged", l->counts.residual_id, l->residual_t), ROOM,
                 "in %ld step%s a contact problem missed the tolerance and was accepted; the largest residual is %.3g "
                 "of the velocities in its step.  Try a smaller step or another "
                 "solver=",
                 l->counts.accepted, l->counts.accepted == 1 ? "" : "s", l->counts.accepted_residual);
        return;
    }
    if (!(l->counts.residual > asked(w) * speed && speed > 0)) return;
    snprintf(add(w, "unconverged", l->counts.residual_id, l->residual_t), ROOM,
             "a contact problem was solved to a residual of %.3g only, in velocity units; the largest local velocity "
             "is %.3g.  Try a smaller step or another solver=",
             l->counts.residual, speed);
}

// The answer is whether there is one.
static bool short_pulse(writer *w) {
    const carom_sim *sim = w->sim;
    const carom_step *s = &sim->step;
    carom_pulse p = {0};
    char what[100], name[80];
    if (!carom_sim_short_pulse(sim, &p)) return false;
    const int first = p.i - sim->sys->nv, links = sim->sys->ne + sim->sys->nc,
              id = first < links ? first : sim->sys->ne + (first - links) / CAROM_FRICTION_LAW;
    if (id < 0) snprintf(what, sizeof what, "the force on %s", carom_rate_text(s, p.i, name, sizeof name));
    else if (first >= links) snprintf(what, sizeof what, "friction of '%.60s'", text_of(sim, id, name, sizeof name));
    else snprintf(what, sizeof what, "the gap of '%.60s'", text_of(sim, id, name, sizeof name));
    if (p.width == 0)
        snprintf(add(w, "resolution", carom_sim_known_as(sim, id), p.t), ROOM,
                 "%s has a value at the instant t = %.9g alone.  Where a step meets it, %s takes it for one that "
                 "lasts.  Try a step that does not, or another scheme: they pass over it",
                 what, p.t, sim->scheme->name);
    else
        snprintf(add(w, "resolution", carom_sim_known_as(sim, id), p.t), ROOM,
                 "%s has a pulse of %.3g s at t = %.9g, which is shorter than the step %.9g: %s misses it or sees too "
                 "much of it.  Try a step below %.3g, or a scheme that cuts its steps there (mixed, auto)",
                 what, p.width, p.t, sim->h, sim->scheme->name, p.width / 20); // (JT-7) wants 8 at half its height
    return true;
}

// A wall that moves in a pulse of fewer steps than FEWEST_WALL throws bodies with the wrong speed: measured over phases
// of the steps, the speed is off by up to 100 % in 2 steps, 13 to 44 % in 4, 5 to 18 % in 6, 2 to 7 % in 8 and 0.5 % in
// 16, with schemes of every order.  Only where something touches.
static const double FEWEST_WALL = 8, ENOUGH_WALL = 16;
static bool coarse_pulse(writer *w, const carom_ledger *l) {
    const carom_sim *sim = w->sim;
    carom_pulse p = {0};
    char name[80];
    if (l->counts.problems == 0 && l->impacts == 0 && !(l->penetration > 0)) return false;
    if (sim->scheme->accounts_power && l->impacts == 0) return false; // splitting follows walls that bodies rest on
    if (told(w, "penetration")) return false;                 // the same steps are too long, and it says so
    if (!carom_sim_coarse_pulse(sim, FEWEST_WALL, &p)) return false;
    const int id = p.i - sim->sys->nv;
    snprintf(add(w, "resolution", carom_sim_known_as(sim, id), p.t), ROOM,
             "the wall of '%.60s' moves in a pulse of %.3g s at t = %.9g, which is %.2g steps of %.9g: too few for %s "
             "to find its speed where it strikes.  Try a step below %.3g, or a scheme that locates events (mixed, "
             "auto)",
             text_of(sim, id, name, sizeof name), p.width, p.t, p.width / sim->h, sim->h, sim->scheme->name,
             p.width / ENOUGH_WALL);
    return true;
}

// Millions of internal steps follow a vibration that hardly moves.
static void toil(writer *w, const carom_ledger *l) {
    const double inner = (double)l->counts.substeps;
    if (!carom_diagnosis_toils(w->sim, l)) return;
    char rough[300];
    if (carom_diagnosis_discontinuity(w->sim, false, rough, sizeof rough)) {
        snprintf(add(w, "resolution", -1, NAN), ROOM, "%s has taken %.3g internal steps, %.3g for each of the run: %s",
                 w->sim->scheme->name, inner, inner / fmax(1, (double)l->steps), rough);
        return;
    }
    snprintf(add(w, "resolution", -1, NAN), ROOM,
             "%s has taken %.3g internal steps, %.3g for each of the run: it follows the fastest vibration of the "
             "model.  Where that does not matter, try a scheme for stiff models (%s" CAROM_STIFF ")",
             // that one says what it chose
             w->sim->scheme->name, inner, inner / fmax(1, (double)l->steps),
             w->sim->scheme->describe ? "" : CAROM_DEFAULT_SCHEME ", ");
}

// (BK-5)  Damping acts in pulses of about N = 2 damping/uneven steps: are these too few?
static void pulsed(writer *w, const carom_ledger *l) {
    const carom_sim *sim = w->sim;
    const double uneven = sim->kept->uneven, steps = 2 * fabs(l->energy.damping) / uneven,
                 much = PULSED * fmax(l->kinetic, still(sim));
    if (sim->scheme->accounts_power ||
        !(uneven > much && steps < (fabs(l->energy.balance) > fmax(known_to(l), much) ? FEW_UNBALANCED : FEWEST)))
        return;
    char step[60] = "a smaller step"; // where damping takes and gives back, pulses have no length
    if (steps > 0) snprintf(step, sizeof step, "a step below %.3g", 0.1 * steps * sim->h); // ten steps in a pulse
    snprintf(add(w, "resolution", -1, NAN), ROOM,
             "damping dissipated %.3g J in pulses of about %.2g step%s, too few to follow the forces or their work: a "
             "soft contact or a stop that is hit.  Try %s%s",
             l->energy.damping, steps, steps == 1 ? "" : "s", step,
             sim->list.slots ? "" : ", or a scheme that chooses its own (auto)");
}

// The scheme is not stable for this mode with its step; longest: with which it is, 0: with none.
static void unstable(writer *w, carom_pace p, double longest, const char *when) {
    const carom_sim *sim = w->sim;
    char what[120], remedy[120];
    if (sim->h * sqrt(fmax(p.stiffness, 0)) > sim->h * p.damping)
        snprintf(what, sizeof what, "a vibration of %.3g rad/s", sqrt(p.stiffness));
    else
        snprintf(what, sizeof what, "a decay at the rate %.3g 1/s", p.damping),
            longest *= 0.5; // just below the limit, what should decay changes its sign from step to step
    // what is named to all others is unstable by its option alone
    const char *other = sim->scheme->second_order ? CAROM_STIFF : CAROM_IMPLICIT;
    if (longest > 0) snprintf(remedy, sizeof remedy, "a step below %.3g, or an implicit scheme (%s)", longest, other);
    else snprintf(remedy, sizeof remedy, "an implicit scheme (%s)", other);
    snprintf(add(w, "resolution", -1, NAN), ROOM,
             "the model has %s, with which %s is not stable with the step %.9g; %s.  Try %s", what, sim->scheme->name,
             sim->h, when, remedy);
}

// A force or a mode that is too fast at the end alone, as regularised friction that sticks, does not grow but never
// rests: a warning where more than UNSTEADY of the energy is unaccounted for.
static bool restless(writer *w, const carom_ledger *l) {
    static const double UNSTEADY = 1e-2; // of the energy: a run that is read to two digits is wrong in the second
    carom_sim *sim = (carom_sim *)w->sim; // what is looked at is scratch
    carom_pace now[2] = {{0}}, p;
    double longest;
    char when[120], rough[300];
    if (!(fabs(l->energy.balance) > fmax(known_to(l), UNSTEADY * fmax(l->kinetic, still(sim))))) return false;
    if (carom_diagnosis_discontinuity(sim, false, rough, sizeof rough)) {
        snprintf(add(w, "resolution", -1, NAN), ROOM,
                 "steps of %.9g do not resolve a force, and %.3g J are unaccounted for: %s", sim->h,
                 fabs(l->energy.balance), rough);
        return true;
    }
    carom_resolution_look(sim, now, true);
    if (!carom_diagnosis_unresolved(sim, now, false, &p, &longest)) return false;
    snprintf(when, sizeof when, "that is so at t = %.9g, and %.3g J are unaccounted for", sim->kept->t,
             fabs(l->energy.balance));
    unstable(w, p, longest, when);
    return true;
}

// The smallest gap of the contacts that results show as this one: slots of a pair, pieces of a contour take turns.
static double pair_gap(const carom_sim *sim, int id) {
    const long long known = carom_sim_known_as(sim, id);
    double least = sim->gaps.now[id];
    for (int i = sim->sys->ne; i < sim->sys->ne + sim->sys->nc; ++i)
        if (sim->gaps.now[i] < least && carom_sim_known_as(sim, i) == known) least = sim->gaps.now[i];
    return least;
}

// A contact that pushes while it is open by much and neither closes nor opens: forces move bodies through the gap in
// one step, and a scheme that decides by positions ahead holds them where they are.  Rest leaves gaps of what forces
// move in a step; those of a millionth of it are meant to be 0.
static bool hovers(writer *w, const carom_ledger *l) {
    static const double NONE = 1e-6;
    const carom_sim *sim = w->sim;
    const carom_step *s = &sim->step;
    const double moved = sim->h * sim->h * carom_sim_forces(sim).a,
                 far = fmax(l->gap, carom_size_moving(sim->sys, sim->q, sim->sys->nq));
    if (sim->scheme->emits_events || sim->gaps.stale) return false; // what reacted in the step may have left since
    for (int c = 0; c < sim->sys->nc; ++c) {
        const int id = sim->sys->ne + c, d = sim->dir[id];
        if (!(sim->held[c] > 0 && sim->gaps.now[id] > 0)) continue;
        double least = fmax(NONE * moved, FEW * sim->h * fmax(fabs(s->record.u_before[d]), fabs(s->record.u_after[d])));
        if (!(sim->gaps.now[id] > least)) continue;
        const double size = sim->size ? sim->size(sim->names.name_user, carom_sim_known_as(sim, id)) : 0;
        least = fmax(least, DEEP * (size > 0 ? size : far));
        if (!(sim->gaps.now[id] > least)) continue;
        const double gap = pair_gap(sim, id); // it looks at all contacts, and few come here
        if (!(gap > least)) continue;
        snprintf(
            add(w, "resolution", carom_sim_known_as(sim, id), sim->kept->t), ROOM,
            "the contact pushes although it is open by %.3g at t = %.9g: in one step of %.9g forces move bodies "
            "farther than that, and %s stops them on the way.  Try a smaller step, or a scheme that chooses its own "
            "(auto)",
            gap, sim->kept->t, sim->h, sim->scheme->name);
        return true;
    }
    return false;
}

// (BK-8)  An impact that leaves bodies before the wall, behind it, or late: penetration shows only one of these.  By
//         the gaps until then, later flights may be far longer; but a twentieth of these is no matter.  What touched
//         until then and opens by no more than that (a taut rope whose winch starts) has no gap to compare with, and no
//         step would be short enough: how deep it ends, the penetration says.
static bool displaced(writer *w, const carom_ledger *l) {
    static const double MATTERS = 0.05; // as said above: a twentieth
    const carom_sim *sim = w->sim;
    const carom_kept *k = sim->kept;
    const bool shapes = k->off.size > 0;
    const double length = shapes ? k->off.size : fmax(k->off.gap, MATTERS / DEEP * l->gap);
    const double least = shapes ? 0 : ROUNDING * carom_size_moving(sim->sys, sim->q, sim->sys->nq);
    if (told(w, "penetration")) return false; // the same steps are too long, and it says so
    if (!shapes && k->off.gap <= sim->gaps.touches && l->gap <= k->off.way + sim->gaps.touches) return false;
    if (!(k->off.way > DEEP * length + least)) return false;
    snprintf(add(w, "resolution", k->off.id, k->off.t), ROOM,
             "the impact in the step to t = %.9g leaves bodies %.3g away from where it should, and %s %.3g: the step "
             "%.9g is too long for their speed.  Try %s",
             k->off.t, k->off.way, shapes ? "the smaller shape has a radius of" : "the largest gap until then is",
             shapes ? length : k->off.gap, sim->h, carom_sim_finer(sim));
    return true;
}

// (BK-9)
static bool brief_flights(writer *w, const carom_ledger *l) {
    const carom_sim *sim = w->sim;
    const carom_kept *k = sim->kept;
    const double unknown = sqrt(k->brief.squares), size = fmax(k->explained, passed_through(l));
    if (!(unknown > fmax(UNKNOWN * size, still(sim)))) return false;
    snprintf(add(w, "resolution", k->brief.id, k->brief.t), ROOM,
             "impacts follow each other within few steps of %.9g, the hardest at t = %.9g: what becomes of %.3g J of "
             "%.3g J depends on the step.  Try %s",
             sim->h, k->brief.t, unknown, size, carom_sim_finer(sim));
    return true;
}

// (BK-10)
static bool unseen_forces(writer *w, const carom_ledger *l) {
    const carom_sim *sim = w->sim;
    const double worth = sim->kept->unseen.worth,
                 size = fmax(fmax(sim->kept->explained, passed_through(l)), still(sim));
    if (!(worth > UNKNOWN * size)) return false;
    snprintf(add(w, "resolution", -1, sim->kept->unseen.t), ROOM,
             "forces change inside steps of %.9g and %s does not see it: by t = %.9g that is worth %.3g J of %.3g J.  "
             "Try %s",
             sim->h, sim->scheme->name, sim->kept->unseen.t, worth, size, carom_sim_finer(sim));
    return true;
}

static void resolution(writer *w, const carom_ledger *l) {
    const carom_sim *sim = w->sim;
    carom_pace p;
    double longest;
    const double length = sim->t_end - sim->t0;
    if (sim->scheme->controls_own_steps) toil(w, l);
    if (sim->scheme->controls_own_steps || sim->control.on) return;
    if (sim->h > length * (1 + CAROM_INSTANT)) {
        snprintf(add(w, "resolution", -1, NAN), ROOM,
                 "the step %.9g is longer than the run, which is a single step of %.9g.  Try a smaller step", sim->h,
                 length);
        return;
    }
    if (-l->energy.balance > fmax(known_to(l), UNKNOWN * fmax(sim->kept->explained, still(sim))) &&
        damps(sim, l, &p, &longest)) {
        char step[60] = "";
        if (longest > 0) snprintf(step, sizeof step, "a step below %.3g, or ", longest);
        snprintf(add(w, "resolution", -1, NAN), ROOM,
                 "%s damps the model's vibration of %.3g rad/s away with the step %.9g; %.3g J have disappeared that "
                 "way.  Try %sa scheme that keeps the energy of vibrations "
                 "(" CAROM_STIFF ")",
                 sim->scheme->name, sqrt(p.stiffness), sim->h, -l->energy.balance, step);
        return;
    }
    if (brief_flights(w, l) || hovers(w, l) || short_pulse(w) || coarse_pulse(w, l) || displaced(w, l)) return;
    if (carom_diagnosis_unresolved(sim, l->pace, false, &p, &longest))
        unstable(w, p, longest, "that was so whenever it was looked at");
    else if (!unseen_forces(w, l) && !restless(w, l))
        pulsed(w, l);
}

int carom_sim_warnings(const carom_sim *sim, const carom_ledger *ledger, carom_warning *list) {
    if (!sim || !ledger) return 0;
    writer w = {.sim = sim, .list = list};
    energy_created(&w, ledger);
    unaccounted(&w, ledger);
    drift(&w, ledger);
    penetration(&w, ledger);
    missed_contact(&w, ledger);
    moved(&w, ledger);
    unconverged(&w, ledger);
    resolution(&w, ledger);
    const char *scheme = carom_sim_warning(sim);
    const bool matters = sim->sys->nc > 0 || !(sim->scheme->limitations & CAROM_NO_IMPACTS);
    if (scheme && matters) snprintf(add(&w, "scheme", -1, NAN), ROOM, "%s", scheme);
    else rule_violated(&w);
    return w.n;
}

// A program has room for as many warnings as its version had kinds.
int carom_sim_warnings_sized(int most, const carom_sim *sim, const carom_ledger *ledger, carom_warning *list) {
    if (!list) return 0;
    carom_warning all[CAROM_WARNINGS];
    const int found = carom_sim_warnings(sim, ledger, all), n = found < most ? found : most;
    for (int i = 0; i < n; ++i) list[i] = all[i];
    return n;
}
