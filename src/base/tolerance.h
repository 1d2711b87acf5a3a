// tolerance.h: small numbers that several folders share, each with its reason.  What one file alone uses is named
// there.
#pragma once
#include <float.h>

/// Rounding of a value that a few operations make, such as t + h, relative to it: what differs by less is the same, and
/// no tolerance asks for less.  Powers of 2, so that products with them are exact.
#define CAROM_ROUNDING (4 * DBL_EPSILON)

/// Of a sum of products, such as a row of W'v, relative to the sum of their sizes.  Chosen: sums of a few hundred terms
/// round by less, as roundings cancel.
#define CAROM_ROUNDING_SUM (16 * DBL_EPSILON)

/// Of a local velocity behind a solution with the mass matrix, relative to the same sum.  Chosen: four times as much,
/// as impulses round, too.
#define CAROM_ROUNDING_SOLVED (64 * DBL_EPSILON)

/// Part of a step, or of the time between two, by which instants may differ and are one.  Sums of steps round by far
/// less, and nothing that a user or a scheme chooses lies so close to something else by intent.
#define CAROM_INSTANT 1e-9

/// Part of a quotient of times by which it may miss a whole number from below and count as it: the rounding of a few
/// operations.
#define CAROM_QUOTIENT 1e-12

/// Part of two numbers by which they may differ and are the same: the rounding of a few operations on them.
#define CAROM_SAME 1e-12

/// Divisors are no smaller: what is divided is zero, too, where they are.
#define CAROM_NOT_ZERO 1e-300

/// No length, coefficient or square reaches it: where infinity would be a number that formulas and C text cannot write,
/// or would make 0 times infinity.
#define CAROM_LARGEST 1e300

/// Error estimates below this part of the tolerance are taken for it: the next step is limited by other means by then,
/// and 0 has no power.
#define CAROM_ESTIMATE 1e-10

/// (CP-10)  Part of the velocities that a contact problem has to take away, up to which a residual is excused by the
///          rounding of its impulses: where more is left, the impulses are no answer.
#define CAROM_EXCUSED 1e-8

/// (TOL-6)  Part of the velocities of a step: the residual with which work on a large contact problem ends, and the
///          largest one with which the step goes on.
#define CAROM_LIMITED 1e-4
#define CAROM_LIMITED_MOST 1e-3
