// reduce.h: a contact problem without the tangential rows of contacts that have no friction: their p is 0.
#pragma once
#include "contact/law.h"

typedef struct carom_reduced {
    int n;               // rows that are left
    const double *S, *s; // n x n, n: where all are, the problem's own arrays
    int ld;              // of S
    int *row;            // their numbers in the problem, ascending
    double *S_own, *s_own;
} carom_reduced;

void carom_allocate_reduced(carom_reduced *r, carom_arena *mem, int n);
void carom_reduce(carom_reduced *r, const carom_problem *pb);
/// pb->p from that of the rows that are left.
void carom_reduced_expand(const carom_reduced *r, const carom_problem *pb, const double *p);
