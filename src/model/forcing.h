// forcing.h (private): time in a model, decided by its expressions and not by values at some state.
#pragma once
#include <carom/model.h>

typedef struct carom_forcing {
    bool
        forced; // time enters masses, forces, gaps, directions, friction or prescribed motions, or a controller samples
    double period;   // after which all of them repeat themselves; 0: not known
    char where[120]; // the first of them, for messages: "the force along 'x'"
} carom_forcing;

/// With the parameters of the model as they are.  free: number of one that may change, -1: none.
carom_status carom_model_forcing(const carom_model *m, int free, carom_forcing *x, carom_error *err);
/// Does the model repeat itself after T?  *known false: its expressions do not tell.
bool carom_forcing_repeats(const carom_forcing *x, double T, bool *known);
/// All that moves the mechanism: masses, forces, constraints, friction, prescribed motions; a list that the caller
/// frees.  energies: those, too.  -1: no memory.
int carom_model_roots(const carom_model *m, bool energies, int **list);
