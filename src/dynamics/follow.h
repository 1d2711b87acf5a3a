// follow.h (private): the parts of the continuation of branches.
//
// follow.c the steps along a branch, and all branches one after the other; follow_rows.c the table that is made;
// follow_tasks.c what is left to do; follow_step.c solutions along a tangent; follow_events.c events of a smooth
// branch; follow_crossing.c crossings of branches; follow_sudden.c where contacts do something else; follow_switch.c
// the first solutions of other branches; follow_ends.c where branches of orbits end; follow_file.c branches in files.
#pragma once
#include "dynamics/curve.h"
#include <stdbool.h>

/// Steps: the longest, of it the first, the shortest; where an event of contacts is located.
#define FOLLOW_STEP 0.05
#define FOLLOW_FIRST (1.0 / 40)
#define FOLLOW_SMALLEST 1e-6
#define FOLLOW_EXACT 1e-10
/// Of a tangent: a part of it that is rounding.
#define FOLLOW_NOUGHT 1e-9
/// Of a step: farther from where the points before and behind lead is another branch.
#define FOLLOW_ASTRAY 0.15
/// Of a step: the tangent may turn by more.
#define FOLLOW_SHORT 1e-5
/// Of the parameter's range: the way to the first orbit beside a Hopf point.
#define FOLLOW_FELT 1e-5
/// Of the parameter's range and of sizes: the same point.
#define FOLLOW_KNOWN 1e-5

/// Of a row: branch, parameter, period, stable, multiplier, event; coordinates and rates; ranges; all multipliers;
/// where the event lies; its coefficient; the response.  So many are before the coordinates.
enum { FOLLOW_COLUMNS = 6 };

/// Of a task: branch, step, kind, failures, the step before, the branch that it doubles, the row of its event, orbits
/// or equilibria; from FOLLOW_TASK on the tests of the step before, from FOLLOW_FIXED on the look; then tau, bend,
/// place.  Branch 0: it has not begun.
enum { FOLLOW_TASK = 8, FOLLOW_FIXED = FOLLOW_TASK + 2 * CAROM_TESTS };

typedef enum follow_kind { FOLLOW_GO_ON, FOLLOW_DOUBLE, FOLLOW_CROSS, FOLLOW_FROM_HOPF, FOLLOW_START } follow_kind;

/// A solution on the way from the last point: s along its tangent.
typedef struct follow_spot { double s, *place, *tau; carom_curve_look look; } follow_spot;
typedef enum follow_spot_name {
    FOLLOW_HERE, FOLLOW_THERE, FOLLOW_TRIED, FOLLOW_MIDDLE, FOLLOW_LOWEST, FOLLOW_SPOTS
} follow_spot_name;

typedef struct follow_walk {
    carom_branch *f;
    const carom_follow_def *def;
    carom_curve k, curve[2];     // k: that of the branch, equilibria or orbits
    bool orbits;                 // k is that of orbits
    carom_follow_def grown;      // of orbits from Hopf points
    int neig;                    // of orbits, in the table
    const carom_model *m;
    int nq, nv, head, length, ntasks;  // head: of a task, before tau, bend, place; length: of a task
    double *task, low, high, size, longest;
    int kept_tasks, kept_branches; // when the last point was complete: what an interruption leaves behind
    long kept_rows;
    int parent;                  // the branch whose orbits are doubled; 0: none
    bool joined;                 // it has come back to that branch
    int failures;                // steps to go until they may grow again
    double before;               // length of the step before; 0: none
    carom_signed last[CAROM_TESTS]; // tests at the point before
    follow_spot spot[FOLLOW_SPOTS]; // the last point, the next one, and those in between
    bool strayed, locating;      // the curve has left the end of the step; an event is being located
    bool wary, leapt;            // the step may be shortened; its ends lie on two branches
    double *half, *half_1;       // of a doubled orbit: from its start to the state after half its period, at the last
                                 // point and at the next one
    double *tau, *bend, *tau_1, *by, *place, *place_1, *x, *least, *most; // tau, place: those of the last point
    double low_event, high_event; // the interval of the event of the next row
    int hidden, hidden_v;        // positions and velocities without a column
    long room;
    carom_error *err;
} follow_walk;

// -- follow_rows.c ---------------------------------------------------------------------------------------------------
carom_status follow_no_memory(carom_error *err);
/// One more column, for which t has room; format has one %s, for the name.  False: no memory.
bool follow_name_column(carom_table *t, carom_column_kind kind, const char *format, const char *name);
/// How many columns the table of the branch has.
int follow_columns(const follow_walk *w);
/// Have position i, velocity i a column?
bool follow_shown(const follow_walk *w, int i);
bool follow_shown_v(const follow_walk *w, int i);
/// The table of the branch, without rows.
carom_status follow_make_table(follow_walk *w);
/// The solution where the curve stands, which looks like l; event "": none.  Changes place_1, by, x, least, most, and
/// forgets the interval of the event.
carom_status follow_add_row(follow_walk *w, int branch, const carom_curve_look *l, const char *event);
/// The event of a row is named more closely; no such row: nothing happens.
carom_status follow_amend(follow_walk *w, double row, const char *word, double coefficient);
const char *follow_word_of(double supercritical); // below 0: subcritical, 0: undecided
/// Why a branch ends; reasons are kept for the caller, as many as there is room for.
void follow_note_end(follow_walk *w, int branch, const carom_error *why);

// -- follow_tasks.c --------------------------------------------------------------------------------------------------
/// Valid until the next one is added.
double *follow_task_at(const follow_walk *w, int i);
/// At the end of the queue: from the place of the curve now.
carom_status follow_add_task(follow_walk *w, int branch, double step, follow_kind what, const double *tau);
/// Numbers of a task before tau, with so many eigenvalues.
int follow_head_size(int neig);
/// From the numbers of a task; the first returns what is behind them.
const double *follow_get_tests(const double *from, carom_signed *x);
void follow_get_look(const follow_walk *w, const double *from, carom_curve_look *l);
/// The last point is complete.
void follow_mark(follow_walk *w);
/// Back to the last point that was complete: what was found behind it is found again when the branch goes on.
void follow_forget_unfinished(follow_walk *w);
/// The first task is done.
void follow_drop_task(follow_walk *w);
/// Task i is not needed.
void follow_skip_task(follow_walk *w, int i);
/// What is left to do, where a file can hold it; and back, into a walk without tasks.
carom_status follow_write_queue(follow_walk *w);
carom_status follow_read_queue(follow_walk *w);
/// A point is complete: all that the next one depends on goes into the task t, so that a branch that goes on later is
/// the same branch.  Calls on_point().
carom_status follow_accept(follow_walk *w, double *t, double step);

// -- follow_step.c ---------------------------------------------------------------------------------------------------
/// The curve to the solution `sigma` along tau from a place.  Changes tau_1.
carom_status follow_go(follow_walk *w, const double *place, const double *tau, double sigma, int *iterations);
/// The parameter where the curve stands, with its place in place_1.
double follow_value_now(follow_walk *w);
/// Nothing else can be tried.
bool follow_fatal(carom_status status);
/// The curve stands at a solution: all that is known of it.  CAROM_SINGULAR: it has no unique tangent, all else is
/// known.  Changes by.
carom_status follow_look_at(follow_walk *w, follow_spot *to);
/// The solution at s along the tangent of the last point, from a spot on the way; the curve ends there.  from may be
/// to.  Where contacts do something else there is none.
carom_status follow_solve_at(follow_walk *w, const follow_spot *from, double s, follow_spot *to);
/// The same from the nearer end, then from the other one.
carom_status follow_solve_between(follow_walk *w, const follow_spot *a, const follow_spot *b, double s,
                                  follow_spot *to);
/// The curve stands at a solution: its tangent, in the direction of w->tau, to w->tau.
carom_status follow_turn_forward(follow_walk *w);
/// Better coordinates of the solution, in which the branch goes the same way.
carom_status follow_settle(follow_walk *w, bool *moved);
/// The curve stands at the point from which the next step goes: what it is like there.
carom_status follow_stand(follow_walk *w);

// -- follow_crossing.c -----------------------------------------------------------------------------------------------
/// From the curve's place, near a crossing of branches along tau, to the crossing; both directions in units of tau.
carom_status follow_cross_exactly(follow_walk *w, const double *tau, double *first, double *second);

// -- follow_events.c -------------------------------------------------------------------------------------------------
/// Has test k different signs?
bool follow_differs(const follow_spot *a, const follow_spot *b, int k);
/// The one event between two solutions, into the table, and into the queue what bifurcates there.  kind: a test;
/// CAROM_TESTS: by the number of unstable eigenvalues.  w->joined: it is where the branch comes back to its parent.
carom_status follow_locate(follow_walk *w, int branch, const follow_spot *a, const follow_spot *b, int kind);
/// Events of the step, also those that undo each other.  *good false: the ends do not lie on one branch, or too much
/// happens between them.  w->strayed: the curve has left the end of the step.
carom_status follow_smooth_events(follow_walk *w, int branch, bool *good);

// -- follow_sudden.c -------------------------------------------------------------------------------------------------
/// Contacts do something else before ds, or there is no solution: bisection.  *ended: there is none behind it; else the
/// curve stands where the branch goes on, mostly just behind it, and w->tau leads on.  *shorter above 0: a step that
/// will tell more, from the last point, where the curve stands.
carom_status follow_sudden_event(follow_walk *w, int branch, double ds, double *shorter, bool *ended);

// -- follow_switch.c -------------------------------------------------------------------------------------------------
/// The curve is now that of orbits, or of equilibria.
void follow_choose(follow_walk *w, bool orbits);
/// The curve stands at the event of the task t, with its tangent in w->tau: to the first solution of the branch that
/// begins there; w->tau then leads along it, and the event is named more closely.  *known: that branch is in the table
/// already.  Orbits of twice the period; the
/// branch that crosses, of which the other half may become a task of its own (t may then have moved); orbits beside a
/// Hopf point, as small as the parameter allows to tell.
carom_status follow_begin_doubled(follow_walk *w, double *t);
carom_status follow_begin_crossing(follow_walk *w, double *t, bool *known);
carom_status follow_begin_grown(follow_walk *w, double *t);

// -- follow_ends.c ---------------------------------------------------------------------------------------------------
/// Has the branch come back to its first point in the step at whose end the curve stands?  Then the curve stands
/// there, else where it was.
carom_status follow_closes(follow_walk *w, int branch, bool *closed);
/// Has the orbit shrunk so far, of what it was, that it may vanish in the next step?
bool follow_has_shrunk(const follow_walk *w, int branch);
/// Between the ends of the step the orbit turns itself over: it vanishes there, and the equilibrium is in the table.
/// The curve has left the end of the step; half and half_1 are changed.
carom_status follow_vanishes(follow_walk *w, int branch, const follow_spot *a, const follow_spot *b, bool *vanished);
/// Most of the period is spent where next to nothing moves: runs are then as accurate as they can be.
bool follow_lingers(const follow_walk *w);
/// By the last points of the branch that has just got a row.  sure: the branch ends here whatever this tells.
/// *ended: its period has no bound, and its end is in the table; else it is left alone.
carom_status follow_look_for_end(follow_walk *w, int branch, bool sure, bool *ended);
