// phase.h: the engine of schemes that locate events: phases of smooth motion from event to event.
//
// A phase starts at (t, q, v) with a mode for every contact (flow.h).  An integrator carries it on; the engine watches
// event functions, finds the first event in each step of the integrator, encloses it in an interval, and says what
// happens there: impact, which contacts stay, stick, slide or leave, how contacts that depend on each other share,
// where runs of impacts end.  How long steps are and how narrow intervals, is the scheme's business.  Spec:
// docs/methods-mixed.md, docs/methods-event.md.
//
// Files, each uses those before it alone: rk.c tables; accumulate.c runs of impacts and their limits; share.c reactions
// that are not unique; filippov.c surfaces where forces jump; flow*.c accelerations, projections, impacts, Runge-Kutta
// stages; scan.c gaps inside a step; tube.c which of them can be left out; hidden.c forces inside a step; feature.c
// contacts that switch features; change.c events for observers; watch.c event functions; side.c on which side of kinks
// phases begin; margin.c closed contacts inside a step; decide.c what happens at an event; phase.c steps and location;
// singular.c; cvode.c the integrator that needs SUNDIALS.
#pragma once
#include "event/state.h"

extern const carom_integrator carom_integrator_rk; // Runge-Kutta, explicit or implicit, by the table w->f.T: steps
                                                   // start at the start of the phase

carom_phase carom_allocate_phase(carom_arena *mem, carom_arena *keep, const carom_system *sys, const carom_butcher *T);

/// Modes as kept; the start of the phase at (s->t, s->q, s->v).
void carom_phase_load(carom_phase *w, carom_step *s);
void carom_phase_keep(carom_phase *w, const carom_step *s);

/// Constraint id is another contact now: nothing is known of it.
void carom_phase_forget(carom_phase *w, const carom_step *s, int id);
/// Is something known of it that may matter later: it is closed, or its run of impacts may go on?
bool carom_phase_recalls(const carom_phase *w, const carom_step *s, int id);
/// The motion from the start of the step of the integrator to P is accepted: are all contacts in the list that may
/// close on it?
void carom_phase_near(const carom_phase *w, carom_step *s, const carom_event_point *P);

/// The very first phase, for steps of h: all contacts open, sizes known.
carom_status carom_phase_begin(carom_phase *w, carom_step *s, double h);
/// The start of a step: the same where it is the first; a phase with contacts as they are where forces have jumped.
/// *changes: one of the two, and carom_phase_settle() is wanted.
carom_status carom_phase_enter(carom_phase *w, carom_step *s, double h, bool *changes);

/// Then: which contacts are closed from the beginning.  lasting[c] (NULL: none): known to be so although the gap is not
/// quite zero.
carom_status carom_phase_settle(carom_phase *w, carom_step *s, double delta, const bool *lasting);

/// The error that steps of constant length h make, relative to what moves.
double carom_phase_relative(const carom_phase *w, const carom_step *s);

/// Before steps are tried; none is longer than h.  exact: then the scheme says what is armed and what is added to gaps,
/// and arms.
carom_status carom_phase_start(carom_phase *w, carom_step *s, double h);
carom_status carom_phase_arm(carom_phase *w, carom_step *s);

/// One step of the integrator, to tau at most, into w->b, with its event functions.
carom_status carom_phase_advance(carom_phase *w, carom_step *s, double tau, double *error);

/// The state after tau, its event functions, the work on the way; error (NULL: not wanted): nq + nv estimates.  By
/// Runge-Kutta.
carom_status carom_phase_try(carom_phase *w, carom_step *s, double tau, carom_event_point *P, double *error);

/// After a step without event, for integrators that go on from its end.
carom_status carom_phase_next(carom_phase *w, carom_step *s);
/// The size of positions that are all zero, with the largest velocity v and acceleration a.
double carom_phase_first_size(const carom_step *s, double h, double v, double a);
/// Positions grow while a phase lasts, and with them the rounding of gaps.
void carom_phase_grow(carom_phase *w, const carom_step *s, const double *q);

/// Is there an event inside the step to w->b?  *found: then w->b lies beyond the first one; else w->a is the end of the
/// step.
carom_status carom_phase_look(carom_phase *w, carom_step *s, bool *found);

/// Does an open contact touch and leave again inside the step to w->b?  *found: then w->b is where it is closed.
carom_status carom_phase_look_inside(carom_phase *w, carom_step *s, bool *found);

/// Is w->b beyond a kink of forces?  Is a stage of the Runge-Kutta step just made, by more than that part of the way to
/// one where they do not jump?
bool carom_phase_kink(const carom_phase *w, const carom_step *s);
/// After carom_phase_look(): that, or a stage beyond a jump of forces, w->strays?
bool carom_phase_meets_kink(const carom_phase *w, const carom_step *s);
/// Is the kink that w->b is beyond the one at which the phase begins, by rounding (EV-45)?  Parts to it lead nowhere:
/// shorter ones rest on it.
carom_status carom_phase_begins_at_kink(carom_phase *w, carom_step *s, bool *at);
/// Is w->b beyond a place where forces or friction jump?
bool carom_phase_jump(const carom_phase *w, const carom_step *s);
/// (MX-25)  w->b, the end of a step just beyond a kink of forces, gets the velocity and the works of w->a, just before.
carom_status carom_phase_before_kink(carom_phase *w, carom_step *s);
carom_status carom_phase_stages_kink(carom_phase *w, carom_step *s, double part, bool *met);
#define CAROM_PHASE_FINE 16 // steps, at least, between two kinks of forces that one step would pass over (EV-25)
#define CAROM_PHASE_FAR 0.1 // of the way to a kink: stages beyond it by more know too much of what is there

/// How a step is divided where forces have kinks (MX-18).
typedef struct carom_kinked_parts {
    double cap;      // no part is longer; HUGE_VAL: any
    double thin;     // nor longer than this, where a force was met that no stage had seen; twice as long after every
                     // part without one; 0: any.  Such a part is short against the time to and from a kink, too
    bool kinked;     // the part begins at a kink
    double *last;    // kept: [0] 1, if the run has met a kink; [1] when it met the last one
} carom_kinked_parts;
/// A part from t on, `left` at most.
double carom_kinked_part(const carom_step *s, const carom_kinked_parts *p, double t, double left);
/// The part ends at t, at a kink.
void carom_kinked_begin(carom_kinked_parts *p, double t);
/// Does the part begin at a kink that parts have led to?  Then a longer one may be tried.
bool carom_kinked_passing(const carom_phase *w, carom_kinked_parts *p);
/// A part over tau, to a kink (which a stage may have met), or without one: is a shorter part to be tried?  Then p->cap
/// or p->thin is its length.
bool carom_kinked_divide(const carom_step *s, double tau, bool kink, bool met, carom_kinked_parts *p);
/// (MX-22)  The part to w->b, of a scheme without tolerance: is there a force in it that no stage has met (HF)?  Then
///          p->thin is the length of a shorter part to be tried.
carom_status carom_phase_divide_hidden(carom_phase *w, carom_step *s, carom_kinked_parts *p, bool *shorter);

/// w->b lies beyond an event.  Then w->a before it, w->b beyond, b - a <= delta, or the event functions at b are
/// rounding.  w->strays: w->b is not beyond it, but stages of the step to it are beyond a jump of forces; the phase may
/// end at w->a, and the next one comes nearer.
carom_status carom_phase_enclose(carom_phase *w, carom_step *s, double delta);

/// Across the event between w->a and w->b: impact, which contacts stay; the next phase starts behind it, or behind the
/// limit of a run of impacts.
carom_status carom_phase_event(carom_phase *w, carom_step *s, double delta);

/// Is all as it was before the event just passed: contacts that share a load, one of which loses it and has it again?
bool carom_phase_unchanged(const carom_phase *w, const carom_step *s);
enum { CAROM_PHASE_UNCHANGED = 200 }; // such events in a row before a step is refused

/// At P, where open contacts w->hit[c] arrive.
carom_status carom_phase_impact(carom_phase *w, carom_step *s, const carom_event_point *P);

/// Without event: the next phase starts at w->a.
void carom_phase_end(carom_phase *w, carom_step *s, double t);
/// At the end of a phase without event, or of a step: (w->q, w->v) is put on its constraints; delta: the interval of
/// (MX-11), where contacts are decided on anew.
carom_status carom_phase_project(carom_phase *w, carom_step *s, double delta);

void carom_phase_account(carom_step *s, const carom_account *work);
