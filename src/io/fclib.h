// fclib.h: HDF5 files of the Friction Contact Library, from the inside.
//
// V. Acary, M. Bremond, T. Koziara, F. Perignon, "FCLIB: a collection of discrete 3D frictional contact problems"
// (2014). Normal components come first, as here.
#pragma once
#include "io/h5.h"
#include "io/problem_data.h"

/// A matrix as its entries.
typedef struct fclib_matrix {
    int m, n;
    problem_entry *entry;
    size_t count;
} fclib_matrix;

/// u = W r + V l + q, 0 = V' r + R l + s.  A global problem is brought to this form.
typedef struct fclib_local {
    int spacedim, nc, ne;  // contacts, equations
    fclib_matrix W, V, R;
    double *q, *s, *mu;
    double *r, *l;         // a start; NULL: none
    char *title;
} fclib_local;

/// M v = H r + G l + f, u = H' v + w, 0 = G' v + b, with M factorised and v eliminated.
carom_status fclib_eliminate(fclib_local *p, const fclib_matrix *M, const fclib_matrix *H, const fclib_matrix *G,
                             const double *f, const double *w, const double *b, const char *file, carom_error *err);
