// carom.h: simulation of mechanical systems that hit things.
//
//   status.h   how failures are reported        option.h  settings that are described
//   arena.h    one block of memory              matrix.h  matrices, columns, vectors
//   system.h   the system that a scheme sees    problem.h contact problems and their solvers
//   scheme.h   the step and its vocabulary      sim.h     a simulation and its ledger
//   expr.h     expressions and tapes            model.h   models read from text
//   event.h    event-driven integration         result.h  recording and reading results
//   study.h    comparing schemes                difference.h  derivatives by differences
//   sparse.h   factorisation of sparse matrices draw.h    what a model looks like
//   flex.h     flexible members                 structure.h  a system of flexible members
//   build.h    mechanisms from C calls              variation.h  how terms of a model change with state and parameters
//   functions.h  a system from plain functions, alone or added to another
//   problem_file.h  contact problems in files  dynamics.h  states of rest, modes, fits
//   team.h     threads of one simulation
//   layout.h   sizes of structs, for other languages
//
// Start with carom_model_create() for a model in text or with carom_system_default() for one in C,
// then carom_sim_create() and carom_sim_run().  Symbols: docs/notation.md.
#pragma once
#include <carom/arena.h>
#include <carom/book.h>
#include <carom/build.h>
#include <carom/compile.h>
#include <carom/draw.h>
#include <carom/dynamics.h>
#include <carom/event.h>
#include <carom/expr.h>
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
