// hybrid.h: the parts of the hybrid solver.  Spec: docs/solvers.md, "hybrid".
#pragma once
#include "contact/law.h"
#include "linalg/block_lu.h"
#include "solver/anderson.h"

typedef struct carom_hybrid {
    carom_problem pb;            // the problem with G by blocks; p is the point being looked at, u its velocities
    carom_rows_space space;      // memory for the blocks of a dense G
    carom_block_rows rows;
    carom_block_lu lu;
    int *size, *first;           // of blocks: rows, first row                                    nb
    double *d, *f;               // scales, natural map                                           n
    double *p, *u, *best;        // see pb; the best point so far                                 n
    double error;                // of `best`
    double target, tol, speed;   // error to reach, error asked for, largest |c|
    double *T, *S;               // linearised laws: T u + S p = rhs                              6 n
    bool *plain;                 // T is the identity                                             nb
    double *rhs, *x, *r;         // n
    double *centre;              // of the proximal term                                          n
    double *kept;                // the best p of an inner problem                                n
    carom_anderson anderson;
    int iterations;
    double spent, limit;         // work so far, and its limit, see choice.h
} carom_hybrid;

/// Work of a sweep and of a factorisation with its solutions, in nanoseconds.
double carom_hybrid_sweep_work(const carom_hybrid *w);
double carom_hybrid_factor_work(const carom_hybrid *w);
static inline bool carom_hybrid_tired(const carom_hybrid *w) { return w->spent > w->limit; }
/// u = G p + c and the error of p; keeps p if it is the best so far.  Not a number: infinite.
double carom_hybrid_look(carom_hybrid *w);
/// Sweeps with Anderson acceleration from `best`, at most so many.
void carom_hybrid_accelerate(carom_hybrid *w, int most);
/// ADMM from the start that the caller gave, at most so many iterations: it needs impulses that belong together, which
/// sweeps spoil.
void carom_hybrid_split(carom_hybrid *w, int most);
/// Newton within a proximal sequence, from `best`.
void carom_hybrid_newton(carom_hybrid *w);
/// Steps of it that make a start in w->p better (SOL-31).
void carom_hybrid_polish(carom_hybrid *w);
