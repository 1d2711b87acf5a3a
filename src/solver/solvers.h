// solvers.h (private): the tables of solvers.def.
#pragma once
#include "contact/law.h"

#define CAROM_SOLVER(table) extern const carom_solver table;
#include "solver/solvers.def"
#undef CAROM_SOLVER
