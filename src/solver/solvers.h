// solvers.h (private): the tables of solvers.def; which solver the chain begins with.
#pragma once
#include "contact/law.h"

#define CAROM_SOLVER(table) extern const carom_solver table;
#include "solver/solvers.def"
#undef CAROM_SOLVER

/// Does the chain begin in the space of bodies, which needs no blocks of G?  That pays where the problem is large and the tolerance moderate: n rows, size the
/// largest |c|.
bool carom_chain_loose(int n, double tol, double size);
/// Does the chosen solver need G by parts?
bool carom_chain_by_parts(const carom_chain *chain);
/// Give the memory of the solvers back to the machine; the next problem takes it anew.
void carom_chain_forget(const carom_chain *chain);
