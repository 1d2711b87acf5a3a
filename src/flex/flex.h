// flex.h (private): what a member holds; one table per kind.
#pragma once
#include <carom/flex.h>

#ifndef TABLE
#define TABLE // in the C text of a model: const
#endif
#include "flex/types.inc"

enum { MOST_NODE = CAROM_MEMBER_COMPONENTS };

typedef struct flex_kind {
    const char *component[MOST_NODE];
    int per;         // components of a node
    int stresses;    // values of the stress field
    bool linear;
    /// Element mass and stiffness (stiffness: of linear kinds, and of others about the straight rest), by columns.
    void (*element)(const carom_member *m, double *Me, double *Ke);
    flex_rule rule;
    void (*stress)(const carom_member *m, const double *x, double *stress);
    /// f += the change of the element's forces with its unknowns and rates, by strains; NULL: by tangents.
    void (*change)(const carom_member *m, const double *x, const double *y, const double *dx, const double *dy,
                   double *f);
    const struct flex_whole *whole; // kinds whose elements differ; NULL: by equal elements
} flex_kind;

/// What a kind does for the whole member.
typedef struct flex_whole {
    bool (*build)(carom_member *m); // mass, and what the others need; false: no memory
    void (*stress)(const carom_member *m, int e, const double *x, double *stress);
} flex_whole;

struct carom_member {
    carom_member_def def;
    const flex_kind *kind;
    double axes[3][3];    // rows: own axes in space
    int *place;           // n: node x per + component
    bool light;           // has massless nodes
    double modal_most;    // the largest modal damping ratio
    double Me[MOST_ELEMENT * MOST_ELEMENT]; // mass of an element, by columns
#include "flex/fields.inc"
};

#include "flex/rest.inc"

extern const flex_kind carom_flex_bar, carom_flex_beam, carom_flex_exact_beam, carom_flex_spatial_beam,
    carom_flex_shaft, carom_flex_matrices;

// forces.c
/// f += df/dq dq + df/dv dv; dq, dv: NULL: 0.  It is made of changes of strains: entries of the tangent may be much
/// larger than it, and their rounding, too.  False: this kind has tangents only.
bool carom_flex_change(const carom_member *m, const double *q, const double *v, const double *dq, const double *dv,
                       double *f);

// modal.c: damping by modes.
carom_status carom_flex_modal_make(carom_member *m, const carom_member_def *def, carom_error *err);
/// y += s M x
void carom_flex_mass_add(const carom_member *m, double s, const double *x, double *y);

// matrices.c: the same verbs for CAROM_MATRICES.
carom_status carom_flex_matrices_check(const carom_member_def *d, carom_error *err);
carom_status carom_flex_matrices_make(carom_member *m, carom_error *err);
void carom_flex_matrices_free(flex_matrices *x);
void carom_flex_matrices_mass_add(const carom_member *m, double s, const double *x, double *y);
void carom_flex_matrices_mass(const carom_member *m, carom_matrix M, int at);
double carom_flex_matrices_fastest(const carom_member *m);
double carom_flex_matrices_typical(const carom_member *m);

/// Elements of a shaft, from the definition; false: no memory.
bool carom_flex_shaft_elements(carom_member *m);
/// Mass and stiffness of one.
void carom_flex_shaft_matrices(const flex_shaft *s, double *Me, double *Ke);
/// Cubic shape functions of a deflection and its slope over an element of length l, at r in [0, 1]: weights of
/// (w1, slope1, w2, slope2); and their derivatives by arc length.
void carom_flex_hermite(double l, double r, double *N, double *dN);
