// choice.h: which of two solvers goes first, by the work that they took in this run.
#pragma once
#include "solver/solvers.h"

enum { CAROM_BY_BODIES, CAROM_BY_HYBRID };

/// A solver and the work that it may do before it gives up, in nanoseconds of a common machine.
typedef struct carom_allowance { int who; double limit; bool precise; } carom_allowance;

/// Who goes first on the next problem, of so many contacts?  precise: more is asked for than is accepted.
carom_allowance carom_choice_next(carom_choice *c, int contacts, bool precise);
/// How that went.
void carom_choice_learn(carom_choice *c, carom_allowance turn, int contacts, double work, bool solved);

/// Of solutions from now on: the most work that a solver may do; and what it has done.
void carom_bodies_limit(void *work, double limit);
double carom_bodies_spent(const void *work);
void carom_hybrid_limit(void *work, double limit);
double carom_hybrid_spent(const void *work);
