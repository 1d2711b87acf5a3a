// flex.h (private): what a member holds; one table per kind.
#pragma once
#include <carom/flex.h>

enum { MOST_NODE = CAROM_MEMBER_COMPONENTS, MOST_ELEMENT = 2 * MOST_NODE };

typedef struct flex_kind {
    const char *component[MOST_NODE];
    int per;         // components of a node
    int stresses;    // values of the stress field
    bool linear;
    /// Element mass and stiffness (stiffness: of linear kinds, and of others about the straight rest), by columns.
    void (*element)(const carom_member *m, double *Me, double *Ke);
    /// f -= element's internal and damping force, from the unknowns x and rates y of its two nodes; NULL: by Ke.
    void (*internal)(const carom_member *m, const double *x, const double *y, double *f);
    /// Ke = tangent by x, Ce = by y; NULL: constant.
    void (*tangent)(const carom_member *m, const double *x, const double *y, double *Ke, double *Ce);
    /// Potential energy and damping power of an element; NULL: by Ke.
    void (*energy)(const carom_member *m, const double *x, const double *y, double *potential, double *dissipation);
    void (*stress)(const carom_member *m, const double *x, double *stress);
    const struct flex_whole *whole; // kinds whose elements differ; NULL: by equal elements
} flex_kind;

typedef struct flex_matrices flex_matrices;

/// What a kind does for the whole member.
typedef struct flex_whole {
    bool (*build)(carom_member *m); // mass, and what the others need; false: no memory
    void (*force)(const carom_member *m, const double *q, const double *v, double *f); // f += all but loads
    void (*tangent)(const carom_member *m, const double *v, carom_matrix K, carom_matrix C, int at);
    void (*energy)(const carom_member *m, const double *q, const double *v, double *potential, double *dissipation);
    void (*stress)(const carom_member *m, int e, const double *x, double *stress);
} flex_whole;

/// An element of a shaft.
typedef struct flex_shaft {
    double s, l;      // where it starts, how long it is
    double mass;      // rho A l
    double turn;      // rho I: rotary inertia per length, about a diameter; twice that about the axis
    double EI, GJ;
    double K[16], M[16], R[16]; // bending in a plane: stiffness, mass (with the rotary part), rotary part
} flex_shaft;

/// A stretch of unknowns of a bar between fixed nodes.
typedef struct flex_run {
    int first, count;
    bool held[2]; // a fixed node follows at this end
} flex_run;

struct carom_member {
    carom_member_def def;
    const flex_kind *kind;
    int nodes, n, per;
    double l;             // length of an element
    double axes[3][3];    // rows: own axes in space
    int *unknown;         // nodes x per: index, -1: fixed
    int *place;           // n: node x per + component
    double *load;         // n, or NULL
    int mass_band, band;
    double *mass;         // (mass_band + 1) x n, lower band by columns
    flex_run *run;        // bar
    int nrun;
    flex_matrices *matrices; // CAROM_MATRICES, else NULL
    flex_shaft *shaft;    // elements of a shaft
    carom_flywheel *wheel;
    int nwheel;
    bool light;           // has massless nodes
    double *modal;        // n x nmodal, modal.c
    int nmodal;
    double modal_most;    // the largest ratio
    double Me[MOST_ELEMENT * MOST_ELEMENT], Ke[MOST_ELEMENT * MOST_ELEMENT];
    double Ce[MOST_ELEMENT * MOST_ELEMENT]; // b Ke
};

extern const flex_kind carom_flex_bar, carom_flex_beam, carom_flex_exact_beam, carom_flex_spatial_beam, carom_flex_shaft;

// modal.c: damping by modes.
carom_status carom_flex_modal_make(carom_member *m, const carom_member_def *def, carom_error *err);
/// y += s M x
void carom_flex_mass_add(const carom_member *m, double s, const double *x, double *y);

// matrices.c: the same verbs for CAROM_MATRICES.
carom_status carom_flex_matrices_check(const carom_member_def *d, carom_error *err);
carom_status carom_flex_matrices_make(carom_member *m, carom_error *err);
void carom_flex_matrices_free(flex_matrices *x);
void carom_flex_matrices_force(const carom_member *m, const double *q, const double *v, double *f);
void carom_flex_matrices_mass_add(const carom_member *m, double s, const double *x, double *y);
void carom_flex_matrices_mass(const carom_member *m, carom_matrix M, int at);
void carom_flex_matrices_tangent(const carom_member *m, carom_matrix K, carom_matrix C, int at);
void carom_flex_matrices_energy(const carom_member *m, const double *q, const double *v, double *kinetic, double *potential, double *power);
double carom_flex_matrices_fastest(const carom_member *m);
double carom_flex_matrices_typical(const carom_member *m);

/// Element at arc length s, and how far along it, 0 to 1; a node that is met by rounding is that node.
int carom_flex_element_at(const carom_member *m, double s, double *r);
/// Elements of a shaft, from the definition; false: no memory.
bool carom_flex_shaft_elements(carom_member *m);
/// Mass and stiffness of one.
void carom_flex_shaft_matrices(const flex_shaft *s, double *Me, double *Ke);
/// Where a component of a node is at rest.
double carom_flex_rest(const carom_member *m, int node, int component);
/// Cubic shape functions of a deflection and its slope over an element of length l, at r in [0, 1]: weights of
/// (w1, slope1, w2, slope2); and their derivatives by arc length.
void carom_flex_hermite(double l, double r, double *N, double *dN);
/// Streaming force of a bar; see bar.c.
void carom_flex_bar_force(const carom_member *m, const double *q, const double *v, double *f);
