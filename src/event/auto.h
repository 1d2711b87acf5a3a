// auto.h: the parts of the scheme `auto`.  Spec: docs/methods-auto.md.
//
// Three methods share one state: located events with an explicit or an implicit Runge-Kutta method, and time-stepping.
// auto.c the steps between records and who does them; auto_segment.c one step of the first two, and the state inside
// it; auto_stepping.c the third; auto_choice.c what suits the model, and the account of it.
#pragma once
#include "scheme/memory.h"
#include "event/phase.h"
#include "scheme/works.h"
#include <stddef.h>

/// Part of rtol to which events are enclosed and gaps looked at: their errors do not count beside that of the steps
/// (AU-3).
#define AUTO_ENCLOSED 1e-3

enum { AUTO_CROWD = 128 }; // directions of closed contacts beyond which matrices are too large for located events

enum { AUTO_RTOL, AUTO_ATOL, AUTO_LONGEST, AUTO_GROW, AUTO_OPTIONS }; // options

typedef enum auto_method { AUTO_EXPLICIT, AUTO_IMPLICIT, AUTO_STEPPING } auto_method;

typedef enum auto_why {
    AUTO_FEW,      // nothing speaks against it
    AUTO_STIFF,    // longer steps do with an implicit method
    AUTO_MILD,     // an explicit method does as well
    AUTO_LARGE,    // too many velocities, or contacts that are closed, for dense matrices
    AUTO_STIFF_LARGE, // stiff, and too many velocities for the implicit method
    AUTO_FLURRY,   // many events in a moment
    AUTO_STALL,    // events at one instant without end
    AUTO_REFUSED,  // no step, however short
    AUTO_QUIET,    // time-stepping has met no impact for a while
    AUTO_AGAIN     // one of the last ones, for the third time at once: also with a larger tolerance
} auto_why;

enum { AUTO_FLURRY_OF = 64, AUTO_CHANGES = 16 }; // events that make a flurry; changes of method whose times are kept

typedef struct auto_change {
    double t, method, why; // to which method
} auto_change;

enum { AUTO_WORKS = 4 }; // as many as carom_account has

/// Kept, so doubles only.
typedef struct auto_head {
    double begun, method;
    double next, last;           // length of the next step to try; error of the last one
    double size_q, size_v, size_p, length; // largest position, velocity, momentum; gap (time-stepping)
    double size_w;               // magnitude of the works so far
    // the segment under way: its polynomial lasts tau from t_a on; an event, or its end, is at t_b
    double there, t_a, tau, t_b, h;
    double event, from, to;      // an event between these times after t_a
    // works of the segment: all, booked so far, rates at both ends, quartic part
    double work[AUTO_WORKS], done[AUTO_WORKS], power_a[AUTO_WORKS], power_b[AUTO_WORKS], bend[AUTO_WORKS];
    double probe, wait;          // steps since the other method was tried, or how many more to wait
    double still;                // events in a row without progress
    double quiet, hold, since;   // time-stepping: parts without impact; how long it shall last; since when
    double lasted, returns;      // the last time; how often in a row trouble came back at once
    double before;               // the method before time-stepping; AUTO_STEPPING: there is none to go back to
    double seen, event_t[AUTO_FLURRY_OF]; // events, and the times of the last ones
    double prompt[AUTO_FLURRY_OF];        // of these 1: at the start of its segment
    double rtol;                 // in use; 0: not begun
    double changes;
    auto_change change[AUTO_CHANGES]; // the first one is the choice at the start
} auto_head;

typedef struct auto_work {
    bool large;                  // time-stepping alone
    auto_head *kept_head, head;
    double *kept, *now;          // the segment: positions, velocities, accelerations at both ends, way between them
    size_t kept_size;
    double *q_a, *v_a, *a_a, *q_b, *v_b, *a_b, *way; // in now
    carom_phase P;
    const carom_butcher *explicit, *implicit; // tables; implicit NULL: too large for it
    double *error, *x, *y;       // nq + nv; nv, nv
    double *q, *v;               // the state at a record
    bool went_on;                // this step did more than read off the segment under way
    bool *lasting;
    double opt[AUTO_OPTIONS];    // options with the tolerance in use

    // time-stepping
    carom_memory *kept_memory, *memory; // nc
    double *held;                // nc: 1 for contacts that reacted in the last part
    bool *struck;                // nc: an impact in it
    carom_local L_s;             // scratch
    carom_works works;           // of the last part that was tried,
    double work_size;            // and their magnitude
    double t;
    const carom_scheme *stepper;
    double stepper_opt[16];
    double *q_s, *v_s;           // present state
    carom_factor F_s;            // of M, and accelerations without contacts: for the size of what stands still
    double *a_s;
    double *q_w, *v_w, *q_h, *v_h; // after the whole part; after its halves
    double *g_0, *g_1;
    double *impulse, *force, *u_before, *u_after; // recorded directions: books of the halves
    double *whole[4];            // the same of the whole part
    int nl;
    _Alignas(max_align_t) unsigned char room[8192]; // memory of the stepper
} auto_work;

// -- auto_segment.c ------------------------------------------------------------------------------------
/// From the start of the phase: a step whose error is within tolerance, and the first event in it.  t_1: where the next
/// record is.  A CAROM_RETRY: no step is short enough.
carom_status auto_plan(auto_work *w, carom_step *s, double t_1);
/// The segment under way again, when it turns out to hold an event before t: *missed, and it ends at the latest there.
carom_status auto_plan_until(auto_work *w, carom_step *s, double t, bool *missed);
/// To the end of the segment and across its event; the next phase starts there.
carom_status auto_pass(auto_work *w, carom_step *s);
/// The state at t inside the segment, to w->q, w->v; the work done until then is booked.
carom_status auto_inside(auto_work *w, carom_step *s, double t);
/// Largest estimate relative to its tolerance; the estimates are in w->error.
double auto_error(const auto_work *w, const carom_step *s, const double *q_0, const double *v_0, const double *q_1,
                  const double *v_1);
/// Sizes that scale the tolerances.
void auto_measure(auto_work *w, const carom_step *s, const double *q, const double *v, const double *a);
/// Normal velocities after an impact that count as none: a part of rtol of the fastest that was struck.
double auto_none(const auto_work *w, const carom_step *s);
/// Width of the interval around an event; time that time can resolve.
double auto_delta(const auto_work *w, const carom_step *s, double h);
double auto_shortest(const carom_step *s, double t);
/// Steps that are not shortened any more for works, or in time-stepping for an impact: powers may jump where nobody
/// knows of it.
double auto_coarse(const auto_work *w, const carom_step *s);
/// A time of the motion at t that accelerations of contacts have no part in.
double auto_time(const auto_work *w, double t);

// -- auto_stepping.c ------------------------------------------------------------------------------------
void auto_stepping_allocate(auto_work *w, carom_arena *mem, carom_arena *keep, const carom_system *sys);
/// Are more contacts closed than located events are for?
bool auto_stepping_crowded(const auto_work *w, const carom_step *s);
/// A part that ends at t_1 at the latest.
carom_status auto_stepping_part(auto_work *w, carom_step *s, double t_1);
/// The phase is over: time-stepping goes on from its start.  And back.
void auto_stepping_begin(auto_work *w, const carom_step *s);
carom_status auto_stepping_end(auto_work *w, carom_step *s);

// -- auto_choice.c --------------------------------------------------------------------------------------
void auto_change_to(auto_work *w, double t, auto_method method, auto_why why);
/// The choice at the start.
carom_status auto_choose(auto_work *w, carom_step *s);
/// Has the explicit method become too short of breath, or the implicit one too good?  After a step.
void auto_reconsider(auto_work *w, carom_step *s);
/// Events come too thick: the reason, or AUTO_FEW.
auto_why auto_too_many(const auto_work *w, const carom_step *s);
/// What was chosen and changed, in words.
void auto_describe(const void *memory, char *text, size_t size);
