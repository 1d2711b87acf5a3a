// bar_yardstick.h: the elastic bar by hand: what C written for this one purpose costs.
//
// A uniform bar of N linear elements flies at a wall with its first node, restitution 0.  Moreau's midpoint rule:
//     q_M = q + h/2 v,   v+ = v + M^-1 (h f(q_M) + e_0 p),   q+ = q_M + h/2 v+
#pragma once
#include <stdbool.h>

typedef struct bar {
    int n;          // nodes: N + 1
    double k, m;    // stiffness and mass of an element
    bool lumped;    // else consistent mass
    double h;
    double *q, *v;  // state
    double *f, *a;  // forces; inverse masses, or L and 1/D of M = L D L' (2 n)
    double x_0;     // (M^-1)_00
    double *x;      // consistent: M^-1 e_0
} bar;

/// Memory for N elements; q = 0, v = -10.  False: no memory.
bool bar_make(bar *b, int elements, bool lumped);
void bar_free(bar *b);

/// As an engine would: element loop into an array of forces; right-hand side, then tridiagonal solution, then update.
void bar_engine_step(bar *b);
/// The fewest passes that plain C allows: the state is (q_M, v) then, see bar_floor_begin.
void bar_floor_step(bar *b);
void bar_floor_begin(bar *b); // q -> q_M
void bar_floor_end(bar *b);   // and back
