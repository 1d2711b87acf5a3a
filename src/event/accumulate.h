// accumulate.h: impacts that follow each other ever faster, and the limit of such a sequence.
//
// One contact loses speed by its restitution at every impact, and its speed says when the sequence is over.  Contacts
// that take turns (the corners of a slider in a narrow guide) may keep most of their speed while flights halve.  Such a
// sequence has a limit all the same, which is known long before the last impact that floating-point time can resolve.
// Spec: docs/methods-event.md, AC.  Shared by `event-driven`, `mixed`, `auto` and `splitting`.
#pragma once
#include "scheme/memory.h"

/// The impacts of one contact so far.  Kept, so doubles.
typedef struct carom_impact_run {
    double count;                // impacts in a row, each sooner after its predecessor than that one was
    double first, t;             // time of the first and of the last of them
    double flight, before;       // time between the last two, and between the two before
    double speed;                // largest approach of the run
    double eps;                  // what was not known of the gap at the last of them (EV-35); 0: it was not asked
    double silent;               // 1: its limit is known, so that further impacts are not recorded
    double slip[CAROM_TANGENTS]; // tangential velocity after the last impact
} carom_impact_run;

/// Contacts that arrive within one interval of time, in the model with constant directions.
typedef struct carom_turns {
    bool *among, *now;           // nc: those contacts, the caller's; those that hit next
    double *gap, *u;             // nc: their gaps, at first the caller's, and velocities
    double *none;                // nc: speeds that count as none
    double *eps;                 // nc, the caller's: what is not known of the gaps: rounding, and what `none` adds in
                                 // the time since the last impact
    double *p, *before, *slow;   // nc: impulses so far; velocities before the first; speeds without restitution
} carom_turns;

typedef struct carom_accumulation {
    carom_impact_run *kept, *run;       // nc; of the step under way
    double *kept_limit, *limit;  // the last prediction: time, ratio, velocity
    int size;                    // of that
    bool *closed;                // nc, the caller's: in lasting contact
    bool *lasting;               // nc, the caller's: was closed and approaches by no more than what counts as none, or
                                 // no contact approaches by more than a trace; its impulse is no impact
    double *late;                // nc, the caller's: what is not known of the time of its next impact; 0: not struck
    bool *over;                  // nc: contacts whose run ends at the limit
    double t, *q, *v;            // the limit, just before its plastic impulse
    double recorded;             // time of the last event recorded

    carom_turns turns;
    carom_factor F;
    carom_local L;
    double *side, *v_1;          // by id; nv
    double *f, *q_f;             // forces and position at the limit, before impulses on the way have moved the contacts
                                 // back to the wall
} carom_accumulation;

carom_accumulation carom_allocate_accumulation(carom_arena *mem, carom_arena *keep, const carom_system *sys);
void carom_accumulation_load(carom_accumulation *z, const carom_step *s);
void carom_accumulation_keep(carom_accumulation *z, const carom_step *s);

/// After an impact at t: its impulses p (nc), with normal velocities before and after it, count in the runs and are
/// recorded; at the limit of a run (z->over) as accumulations.  L: a set that has all of these contacts, with their
/// directions; v: the velocity after the impact.
carom_status carom_accumulation_impacts(carom_accumulation *z, carom_step *s, double t, const carom_local *L,
                                        const double *v, const double *before, const double *after, const double *p);

/// Record what contacts have become: was[c] and is[c] are modes, u[c] normal velocities, rest[c] (NULL: none) the time
/// that a run which is closed now would have lasted.
carom_status carom_accumulation_changes(carom_accumulation *z, carom_step *s, double t, const double *was,
                                        const double *is, const double *u, const double *rest);

/// The state tau after the present one, in the present modes and without any contact of `without`; *clear: nothing else
/// happens before.
typedef carom_status (*carom_ahead)(void *user, carom_step *s, double tau, const bool *without, double *q, double *v,
                                    bool *clear);

/// After an impact at t, does the run of several contacts end within the step?  Then *ends, false on entry, becomes
/// true: z->over are the contacts that close at z->t, where z->q and z->v wait for a plastic impact.  tol: error
/// allowed, relative to the velocities and the length of the run.
carom_status carom_accumulation_limit(carom_accumulation *z, carom_step *s, double t, double tol, carom_ahead ahead,
                                      void *user, bool *ends);

/// The impact at the limit is made and the contacts are on the wall, at q.  What forces gave on the way there is not
/// lost to the impact.
void carom_accumulation_end(carom_accumulation *z, carom_step *s, const double *q);

carom_turns carom_allocate_turns(carom_arena *mem, const carom_system *sys);

/// Contacts that arrive within one interval of time hit one after the other.  now[] are those of among[] that are next;
/// gaps go to that instant.  first: what is not known of the gaps makes arrivals simultaneous.  false: none approaches.
enum { CAROM_TURNS = 256 }; // impacts after which a sequence counts as infinite
bool carom_turns_next(carom_turns *z, int nc, bool first);
