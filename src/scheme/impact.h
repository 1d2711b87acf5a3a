// impact.h: what the laws of impact need beside the words of a step (impact.c).
#pragma once
#include "contact/delassus.h"
#include "contact/operator.h"
#include "scheme/step.h"

struct carom_impacts {
    carom_step *s;         // the step, and the set that is struck
    const carom_local *L;
    double none;           // approaches that are rounding
    double *G;             // n x n: W'M^-1 W of the set; NULL: it is given by blocks
    const carom_block_rows *R; // the same by blocks, where contacts come and go; else NULL
    carom_rows_space space; // then: memory of the part's blocks
    carom_block_rows rows; // of the part
    int *place;            // by block: its number in the part, -1: it is not there
    bool even;             // the part's matrix is symmetric
    double *u, *p;         // n: local velocities at this point of the impact, impulses so far
    double *b;             // n: local velocities after the impact, of contacts that it strikes; 0 for the others
    bool *plastic, *in;    // by block: gives nothing back; stands in the part
    int n, nb;             // of the part: all bilateral constraints and some contacts
    int *row, *id, *of;    // its rows in the set; by block: its constraint, its block in the set
    carom_block *block;
    double *part, *c, *p_part, *u_part; // its problem
    double *least;         // by block: the impulse that expansion gives at least
    bool *given;           // by block: it is exactly that
    double *x;             // ne x (1 + CAROM_TANGENTS): impulses of bilateral constraints for unit impulses of one
                           // contact
};

/// Does a contact follow another law than Newton's, all at once, with a constant restitution?
bool carom_impacts_differ(const carom_system *sys);
/// For problems up to n rows whose operator is `of`.
struct carom_impacts *carom_allocate_impacts(carom_arena *mem, const carom_system *sys, int n,
                                             const carom_delassus *of);
