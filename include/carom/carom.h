// carom.h: simulation of mechanical systems that hit things.
//
//   models       model.h   read from text      build.h   from C calls           functions.h  from plain functions
//   runs         run.h     settings resolved   sim.h     simulation, ledger     result.h     recording, reading
//   studies      study.h   comparing schemes   sweep.h   over parameters        dynamics.h   rest, modes, orbits, fits
//   drawing      draw.h    what a model looks like        table.h   tables in results
//   speed        compile.h models as machine code         team.h    threads of one simulation
//   own systems  system.h  what a scheme sees  matrix.h  matrices, columns      sparse.h     factorisation
//                flex.h    flexible members    structure.h  systems of them     variation.h  derivatives of a model
//   own schemes  scheme.h  the step            event.h   event-driven           problem.h    contact problems, solvers
//   everywhere   status.h  failures            option.h  described settings     arena.h      one block of memory
//
// Start with carom_model_create() for a model in text or with carom_system_default() for one in C,
// then carom_sim_create() and carom_sim_run().  Symbols: docs/notation.md.
#pragma once
#include <carom/arena.h>
#include <carom/build.h>
#include <carom/compile.h>
#include <carom/draw.h>
#include <carom/dynamics.h>
#include <carom/event.h>
#include <carom/flex.h>
#include <carom/functions.h>
#include <carom/layout.h>
#include <carom/matrix.h>
#include <carom/mech.h>
#include <carom/model.h>
#include <carom/option.h>
#include <carom/problem.h>
#include <carom/problem_file.h>
#include <carom/result.h>
#include <carom/run.h>
#include <carom/scheme.h>
#include <carom/sim.h>
#include <carom/sparse.h>
#include <carom/status.h>
#include <carom/structure.h>
#include <carom/study.h>
#include <carom/sweep.h>
#include <carom/system.h>
#include <carom/team.h>
#include <carom/table.h>
#include <carom/variation.h>

#include <carom/version.h>
