// advice.h (private): schemes that are named for a purpose: in remedies of messages, and as defaults.
//
// Outside the tables of schemes, their names stand here and nowhere else (test/check_layers.c).  test/test_remedies.c
// follows the remedies, test/test_choice.c looks the names up.
#pragma once

#define CAROM_DEFAULT_SCHEME "auto"             // of a run that names none, where the program has it
#define CAROM_SCHEME_OF_DERIVATIVES "event-driven" // of runs that are differentiated
#define CAROM_SCHEME_OF_MODES "moreau-jean"     // that writes the rows of a mode: it only places them
#define CAROM_SCHEME_OF_IMPORTS "moreau-jean"   // of models that are made of robot descriptions

#define CAROM_LOCATING "auto, event-driven"             // located events, steps of their own
#define CAROM_LOCATING_EXACTLY "event-driven, mixed, auto" // events located to rounding: derivatives, rows at events
#define CAROM_LOCATING_ORBITS "event-driven, auto"      // orbits, branches, exponents
#define CAROM_STIFF "newmark, ggl-midpoint"             // a step that need not follow the fastest vibration
#define CAROM_IMPLICIT "moreau-jean, newmark"
#define CAROM_SECOND_ORDER "moreau-jean, half-explicit"
#define CAROM_OTHER_SECOND_ORDER "half-explicit, newmark" // where the scheme at hand is moreau-jean by another option
#define CAROM_CLOSED_JOINTS "ggl-midpoint, ggl-alpha"   // joints without drift
#define CAROM_POSITIONS "ggl-alpha, mixed"              // constraints on position level
#define CAROM_MASSLESS "ggl-alpha"                      // coordinates without inertia
