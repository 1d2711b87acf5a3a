// impact.h: what the laws of impact need beside the words of a step (impact.c).
#pragma once
#include "scheme/words.h"

struct carom_impacts {
    double *G;             // n x n: W'M^-1 W of the set
    double *u, *p;         // n: local velocities at this point of the impact, impulses so far
    double *b;             // n: local velocities after the impact, of contacts that it strikes; 0 for the others
    bool *plastic, *in;    // by block: gives nothing back; stands in the part
    int n, nb;             // of the part: all bilateral constraints and some contacts
    int *row, *id, *of;    // its rows in the set; by block: its constraint, its block in the set
    carom_block *block;
    double *part, *c, *p_part, *u_part; // its problem
    double *least;         // by block: the impulse that expansion gives at least
    bool *given;           // by block: it is exactly that
    double *x;             // ne x (1 + CAROM_TANGENTS): impulses of bilateral constraints for unit impulses of one contact
};

/// Does a contact follow another law than Newton's, all at once, with a constant restitution?
bool carom_impacts_differ(const carom_system *sys);
/// For problems up to n rows.
struct carom_impacts *carom_carve_impacts(carom_arena *mem, const carom_system *sys, int n);
