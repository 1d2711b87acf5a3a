// phase.h: phases of smooth motion from event to event: what falls below zero, where, and what happens there.
//
// A phase starts at (t, q, v) with a mode for every contact.  Steps are tried from that start; the first event inside is
// enclosed in an interval and passed with Moreau's impact law.  How long steps are and how narrow intervals, is the
// caller's business.  Shared by `mixed` and `auto`.  Spec: docs/methods-mixed.md.
#pragma once
#include "event/accumulate.h"
#include "event/scan.h"

/// A state tau after the start of the phase.
typedef struct carom_point {
    double tau;
    double *q, *v, *g;  // g by id
    double *u;          // nc: normal velocities
    double *phi;        // 2 nc: event functions, negative beyond the event
    double *kink;       // nc: approach of a closed contact that no force explains, else 0
    carom_account work; // done on the way
} carom_point;

typedef struct carom_phase {
    carom_flow f;
    carom_local all;
    carom_scan scan;
    double *kept, *now;            // CAROM_PHASE_HEAD + CAROM_PHASE_EACH nc: state of the contacts, kept and of this step
    carom_accumulation runs;
    double tol;                    // error allowed in the limit of a run, relative to its velocities and length
    double t, *q, *v;              // start of the phase
    carom_point start, a, b, trial;
    double *tol_g;                 // nc: rounding of gaps
    double *offset;                // nc: event function of an open contact less its gap
    double *scale, *slow, *slow_T, *was, *u_before, *u_after, *p, *kappa;
    bool *touching;
    double none;                   // normal velocities after an impact that count as none whatever else says so
    double tried;                  // length of the last step that was tried: to it belong the stages of f
    bool pulled;                   // a closed contact pulled in a stage of the whole rest of the step
    bool ended;                    // the last event was the limit of a run: the phase starts there
} carom_phase;

enum { CAROM_PHASE_BEGUN, CAROM_PHASE_START, CAROM_PHASE_SIZE_V, CAROM_PHASE_SIZE_A, CAROM_PHASE_HEAD }; // now[...]
enum { CAROM_PHASE_EACH = CAROM_FLOW_EACH };

carom_phase carom_carve_phase(carom_arena *mem, carom_arena *keep, const carom_system *sys, const carom_butcher *T);

/// Modes as kept; the start of the phase at (s->t, s->q, s->v).
void carom_phase_load(carom_phase *w, carom_step *s);
void carom_phase_keep(carom_phase *w, const carom_step *s);

static inline bool carom_phase_open(const carom_phase *w, int c) { return w->f.mode[c] == CAROM_MODE_OPEN; }

/// The very first phase, for steps of h: all contacts open, sizes known.
carom_status carom_phase_begin(carom_phase *w, carom_step *s, double h);

/// Then: which contacts are closed from the beginning.  lasting[c] (NULL: none): known to be so although the gap is not quite zero.
carom_status carom_phase_settle(carom_phase *w, carom_step *s, double delta, const bool *lasting);

/// Before steps are tried; none is longer than h.
carom_status carom_phase_start(carom_phase *w, carom_step *s, double h);

/// The state after tau, its event functions, the work on the way; error (NULL: not wanted): nq + nv estimates.
carom_status carom_phase_try(carom_phase *w, carom_step *s, double tau, carom_point *P, double *error);

/// Is there an event inside the step of h that was tried last, into w->b?  *found: then w->b lies beyond the first one; else w->a is
/// the end of the step.
carom_status carom_phase_look(carom_phase *w, carom_step *s, double h, bool *found);

/// w->b lies beyond an event.  Then w->a before it, w->b beyond, b - a <= delta.
carom_status carom_phase_enclose(carom_phase *w, carom_step *s, double delta);

/// Across the event between w->a and w->b: impact, who stays; the next phase starts behind it, or behind the limit of a run of impacts.
carom_status carom_phase_event(carom_phase *w, carom_step *s, double delta);

/// Without event: the next phase starts at w->a, put on its constraints.
carom_status carom_phase_end(carom_phase *w, carom_step *s, double t);
