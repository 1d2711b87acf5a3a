// carom.h: simulation of mechanical systems with impacts and dry friction.
//
// For users:
//   models       model.h    read from text       compile.h  as machine code
//   runs         run.h      settings resolved    sim.h      simulation         event.h    the schemes
//   results      result.h   recording, reading, ledger      table.h    tables in results
//   studies      study.h    comparing schemes    sweep.h    runs over parameters
//                dynamics.h equilibria, modes, gradients, fits, orbits, continuation
//
// Not included here, by reader:
//   models in C  build.h, mech.h  mechanisms     functions.h  from plain functions   structure.h, flex.h  members
//   front ends   observe.h, inspect.h, record.h, estimate.h, draw.h, binding.h, layout.h, team.h
//   own systems  system.h, matrix.h, sparse.h, variation.h
//   own schemes  scheme.h, implicit.h, problem.h, problem_file.h, option.h, arena.h
//
// Start with carom_model_create() for a model in text, or with carom_system_default() (carom/system.h) for one in C,
// then carom_sim_create() and carom_sim_run().  Symbols: docs/notation.md.
//
// Conventions
// - Definitions (carom_..._def) are structs of the caller.  Begin with carom_..._default() where there is one, else
//   with zeros.  Arguments are copied, unless a comment says otherwise.
// - The creator of an object destroys it.  An object belongs to one thread at a time; a model may be shared by threads
//   that do not change it.
// - Functions that can fail return a carom_status, or NULL; the message is in err (carom/status.h).  CAROM_STOPPED from
//   a callback stops a run.
// - Texts are UTF-8.  Lists of texts end in NULL.
//
// Versions.  A program may be older than the library that it runs with: structs only grow at their end.  So every call
// that passes a definition or fills a struct also passes the size that the struct had when the program was compiled,
// and structs that functions return are copied as far as the program knows them: the macros at the end of each header.
// The library reads and writes no more than that; fields that a program does not know are zero.  Elements of arrays
// (carom_warning, carom_result_event, carom_fit_point, ...), carom_error, carom_event and carom_table never change.
// Systems, schemes and solvers of a program (the last two lines of the list above) are compiled with the version that
// they run with.
#pragma once
#include <carom/compile.h>
#include <carom/dynamics.h>
#include <carom/event.h>
#include <carom/model.h>
#include <carom/result.h>
#include <carom/run.h>
#include <carom/sim.h>
#include <carom/status.h>
#include <carom/study.h>
#include <carom/sweep.h>
#include <carom/table.h>
#include <carom/types.h>
#include <carom/version.h>

#ifdef CAROM_INSIDE
#include <carom/arena.h>
#include <carom/build.h>
#include <carom/draw.h>
#include <carom/flex.h>
#include <carom/functions.h>
#include <carom/layout.h>
#include <carom/matrix.h>
#include <carom/problem.h>
#include <carom/problem_file.h>
#include <carom/sparse.h>
#include <carom/structure.h>
#include <carom/team.h>
#include <carom/variation.h>
#endif
