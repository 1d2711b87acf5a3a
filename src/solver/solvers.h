// solvers.h (private): the tables of solvers.def; which solver the chain begins with.
#pragma once
#include "contact/law.h"

#define CAROM_SOLVER(table, name) extern const carom_solver table;
#include "solver/solvers.def"
#undef CAROM_SOLVER

/// Does the chosen solver need G by parts?
bool carom_chain_by_parts(const carom_chain *chain);
/// Did the caller choose the first solver?
bool carom_chain_chosen(const carom_chain *chain);
/// Give the memory of the solvers back to the machine; the next problem takes it anew.
void carom_chain_forget(const carom_chain *chain);

/// What a run has learnt about the work of the solvers `bodies` (0) and `hybrid` (1), and which of them goes first
/// where both may (choice.c).  All zero at the start; part of the state of a run.
typedef struct carom_choice {
    double cost[2]; // work for each contact in the last problem, or the most of a trial, ns; 0: not known
    short first;    // the one in use
    short worked;   // 1: the last problem was not solved by its start (SOL-31)
    int trial;      // problems left in a trial of the other one
    int wait;       // problems until the next trial
    int pause;      // and between the trials after that; 0: nothing was learnt yet
} carom_choice;

/// (SOL-31)  A start that is good enough, with more than this part of the target left, is made better by Newton's
///           method: with a proximal term that leaves this part of an error, and in so many steps, of which the first
///           may find other contacts open.
#define CAROM_IMPROVED 0.1
#define CAROM_IMPROVING 1e-7
enum { CAROM_IMPROVEMENTS = 2 };
static inline bool carom_improvable(const carom_problem *pb, double error, double target) {
    return pb->improve && error > CAROM_IMPROVED * target && error <= target;
}

/// (SOL-18)  The proximal term: at first, at most and of the square root of the error; times these after problems that
///           took up to two steps, up to four, more; times GROWS after one that failed, up to MOST.  Chosen: one that
///           falls fast saves problems of the sequence, one that falls too fast makes them fail.
#define CAROM_DELTA_FIRST 0.05
#define CAROM_DELTA_ROOT 0.1
#define CAROM_DELTA_EASY 0.2
#define CAROM_DELTA_FAIR 0.4
#define CAROM_DELTA_HARD 0.5
#define CAROM_DELTA_GROWS 3
#define CAROM_DELTA_MOST 10
/// (SOL-16)  Of the error at the start of such a problem: then it is solved.
#define CAROM_INNER 0.1
/// (CP-9)  Where rounding sets the target: part of it, so that the certificate excuses what is left; at most so many
///         tolerances, as more is a failure to report.
#define CAROM_LOWERED 0.7
#define CAROM_LOWERED_MOST 500

/// Where the chain keeps it; NULL: the order depends on each problem alone.  It must outlive the solutions.
void carom_chain_set_choice(carom_chain *chain, carom_choice *choice);

/// How the prox iteration goes on and ends (solver `prox`); zeros are the defaults.
typedef struct carom_prox_rule {
    double r;    // step of all rows, in units of 1/G (kg for impulses); 0: of each row 1 / sum_j |G_ij|
    int test;    // CAROM_PROX_*
    double stop; // ends as soon as |p - proj(p - r u)| of all rows is at most this, an impulse; 0: by the residual in
                 // velocities
} carom_prox_rule;
// length of its steps: by the residual; by the natural monotonicity test; constant
enum { CAROM_PROX_RESIDUAL, CAROM_PROX_NATURAL, CAROM_PROX_CONSTANT };

/// The rule of the prox iteration of a chain, or of its work alone.  The rule must outlive the solutions; NULL: the
/// defaults.
void carom_chain_set_prox(carom_chain *chain, const carom_prox_rule *rule);
void carom_prox_set(void *work, const carom_prox_rule *rule);

/// Does this solver support the laws, the size and the storage of G of this problem?
bool carom_solver_fits(const carom_solver *solver, const carom_problem *pb);
