// answers.h: what the library asks a model; users: <carom/model.h>.
#pragma once
#include "expr/expr.h"
#include <carom/model.h>

/// All tapes that evaluate the model, at most `room` of them into list (NULL: only count); returns how many there are.
int carom_model_tapes(const carom_model *m, carom_tape **list, int room);
/// What one evaluation of the equations of motion costs, in instructions of the tape.
long carom_model_motion_instructions(const carom_model *m);
/// Evaluate m with the compiled code of another model that must outlive it, wherever the two have equal tapes.
void carom_model_adopt(carom_model *m, const carom_model *other);
/// Solutions of the model are followed over a parameter: from here on carom_model_set() leaves an initial state that
/// has no value there as it was.
void carom_model_follow(carom_model *m);
/// Something the model needs while it lives; release(thing) is called when it is destroyed.  One thing; a second
/// replaces it.
void carom_model_own(carom_model *m, void *thing, void (*release)(void *thing));
/// Rates q' of all positions; and back.  Without spatial bodies these are the velocities themselves.
void carom_model_rates(const carom_model *m, const double *q, const double *v, double *dq);
void carom_model_velocities(const carom_model *m, const double *q, const double *dq, double *v);
/// The first of four positions of a quaternion to which position i belongs; -1: it does not.
int carom_model_quaternion(const carom_model *m, int i);
/// Its number under the name of its entry, for columns: one with members of families is known by its shapes else.
const char *carom_model_numbered(const carom_model *m, int id);
/// Bytes of the longest name of a contact, of those that come and go, too.
size_t carom_model_longest_contact(const carom_model *m);
/// Does contact id, one that is always there, have columns of its own in results by default?  Those of declared gaps
/// do, and those of entries that name all their shapes one by one.
bool carom_model_shown(const carom_model *m, int id);
/// Pattern i of the columns that the model wants in results (record: columns), "all" alone: every one; NULL: no more.
const char *carom_model_columns(const carom_model *m, int i);
/// Entries of contacts, 0 .. carom_model_entries() - 1: the name of one that makes rigid pairs of shapes, else
/// NULL; and the one that makes contact id (work: of the simulation, for contacts that come and go), -1: none.
int carom_model_entries(const carom_model *m);
const char *carom_model_entry_name(const carom_model *m, int entry);
int carom_model_entry_of(const carom_model *m, const void *work, int id);
/// Name of a contact of finite stiffness, as carom_system_checks.compliant_overlap numbers them.  Valid as that of
/// carom_model_constraint().
const char *carom_model_compliant(const carom_model *m, long long which);
/// Does an event at `contact` belong to what carom_model_contact() has found?
bool carom_model_contact_is(const carom_model *m, long long found, long long contact);
/// Flexible member i: its name, itself, its first position and velocity; fields (a bit 1 << carom_field each) that
/// results hold.
typedef struct carom_model_member {
    const char *name;
    const carom_member *flex;
    int q, v;
    unsigned fields;
} carom_model_member;
carom_model_member carom_model_member_at(const carom_model *m, int i);
/// A world: rigid bodies that no joint holds and that may hit each other, ten or more in the plane, five in space, and
/// half of all that moves; nothing in it is elastic.  Single impacts do not matter in it; in `step` nothing passes a
/// tenth of the half width of the thinnest shape, at the speed of the fastest body after a fall through all of the
/// world.
typedef struct carom_world {
    int bodies;
    double width, speed, step;
} carom_world;
/// False: it is none, and *w is not complete.
bool carom_model_world(const carom_model *m, carom_world *w);
/// In one evaluation what a row of a record holds: energies (kinetic, potential), the velocities of all recorded
/// directions, the gaps of pairs of shapes (at their ids in gap; far ones too are exact here), outputs.  CAROM_USER:
/// one of them is not finite.
carom_status carom_model_row(const carom_model *m, void *work, double t, const double *q, const double *v,
                             double energy[2], double *u, double *gap, double *out);
/// Does carom_model_reactions() do anything?
bool carom_model_turned(const carom_model *m);
/// Reactions x over all n recorded directions (dir: first one of every constraint) with those of joints in the joints'
/// frames.
void carom_model_reactions(const carom_model *m, void *work, double t, const double *q, const int *dir, int n,
                           const double *x, double *y);
/// The exact solution at t (only when the file gives one): positions and, by differentiation, rates.
void carom_model_exact(const carom_model *m, void *work, double t, double *q, double *v);
/// Checks.  Watched expressions are the arguments of min(x) and max(x): evaluate them at every step end
/// (and the start) and keep the extremes.
int carom_model_watched(const carom_model *m);
void carom_model_watch(const carom_model *m, void *work, double t, const double *q, const double *v, double *low,
                       double *high, bool first);
/// Entry i of `contacts` whose pairs come and go: its name, and the law of one of its rigid pairs (NULL: it has none);
/// *alike: all of them have that.  NULL: there are no more.
const char *carom_model_list_entry(const carom_model *m, int i, const carom_contact **law, bool *alike);

/// Is check i met?  *text is the check as written, *left and *right its two sides.  Names of the model have their
/// values at (t, q, v), the end of the run; low and high are what carom_model_watch() has kept.
bool carom_model_check(const carom_model *m, int i, const double *low, const double *high,
                       const carom_ledger *ledger, void *work, double t, const double *q, const double *v,
                       const char **text, double *left, double *right);
/// Of a watched expression.  carom_model_average() follows them from step end to step end; a holds
/// carom_model_watched() of them.
typedef struct carom_average {
    double low, high;
    double integral, square; // of x and of x^2 over time, by the trapezoidal rule
    double x, t, start;      // the last value, its time, the first time
} carom_average;
void carom_model_average(const carom_model *m, void *work, double t, const double *q, const double *v, carom_average *a,
                         bool first);
void carom_model_observe(const carom_model *m, const carom_average *a, const carom_ledger *ledger, void *work, double t,
                         const double *q, const double *v, double *out);
/// Does observed expression i depend on the state or on time (not on parameters, the ledger and averages alone)?
bool carom_model_observes_state(const carom_model *m, int i);
