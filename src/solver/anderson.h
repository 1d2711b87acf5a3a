// anderson.h: Anderson acceleration of a fixed point x = g(x).
//
// Source: H. F. Walker, P. Ni, SIAM J. Numer. Anal. 49 (2011) 1715-1735.
#pragma once
#include <carom/arena.h>

enum { CAROM_ANDERSON_BACK = 8 }; // most steps to look back

typedef struct carom_anderson {
    int n, back, count, next; // columns: most, those there are, the one to be replaced
    bool have;                // column `next` holds the last step and the last g
    double last;              // size of the last step
    double *dF, *dG;          // changes of steps and of g, back n; in column `next`, whose change is used no more, the
                              // last step and the last g
    double (*A)[CAROM_ANDERSON_BACK]; // products of changes of steps
    double (*sum)[2][CAROM_ANDERSON_BACK]; // of pieces: with the last change; with f
    struct carom_team *team;
} carom_anderson;

void carom_allocate_anderson(carom_anderson *a, carom_arena *mem, int n, int back);
void carom_anderson_reset(carom_anderson *a, int n, struct carom_team *team);
/// The next x from g(x) and the step f, scaled as wanted, of a size that grows with |f|.  A step that has grown by more
/// than `growth` starts afresh from the last g.
void carom_anderson_next(carom_anderson *a, double *x, const double *g, const double *f, double size, double growth);
