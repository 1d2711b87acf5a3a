// flex.h: flexible members: bars and beams of finite elements, or matrices of any other linear structure, as unknowns,
// matrices, forces and energies.
//
// A member is a straight line of equal elements with constant section; those of a shaft may differ.  Its unknowns are
// those of its nodes, node by node, without the fixed ones:
//
//     CAROM_BAR           u                        along the axis; linear
//     CAROM_BEAM          u, w, angle              planar, Euler-Bernoulli, small displacements; linear
//     CAROM_EXACT_BEAM    x, y, angle              planar, geometrically exact, shear-deformable: any rotation
//     CAROM_SPATIAL_BEAM  u, v, w, rx, ry, rz      Euler-Bernoulli with torsion, small displacements; linear
//     CAROM_SHAFT         v, w, rx, ry, rz         round, turns about its axis: rx of any size; gyroscopic effect
//     CAROM_MATRICES  u  every row of M, K, C is a node; places are row numbers, from 1; linear
//
// u, v, w are displacements along the member's own axes, x and y places in the plane.  The forces are
//
//     f = load - dV/dq - C v,     C = a M + b K     (Rayleigh; the exact beam damps its strain rates)     (FLX-1)
//
// and, of a shaft, the gyroscopic force, which has no power.
//
// A member is constant after creation: several threads may use it.  docs/methods-flexible.md has the elements.
#pragma once
#include <carom/matrix.h>
#include <carom/status.h>
#include <carom/system.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_member carom_member;

typedef enum carom_member_kind {
    CAROM_BAR,
    CAROM_BEAM,
    CAROM_EXACT_BEAM,
    CAROM_SPATIAL_BEAM,
    CAROM_SHAFT,
    CAROM_MATRICES
} carom_member_kind;

enum { CAROM_MEMBER_COMPONENTS = 6, CAROM_MEMBER_POINT = 12 }; // most components of a node; most unknowns of a point

/// A matrix by its entries: row and col count from 0.
typedef struct carom_triplets {
    int rows, cols;
    size_t count;
    int *row, *col;
    double *value;
} carom_triplets;

/// From a Matrix Market text (coordinate or array; real or integer; general, symmetric or skew-symmetric: both
/// triangles are given then).  err is `file:line: what`.
carom_status carom_triplets_read(const char *text, size_t length, const char *file, carom_triplets *t,
                                 carom_error *err);
void carom_triplets_free(carom_triplets *t);

/// One element of a shaft: its length, radius and that of its bore (0: none).
typedef struct carom_shaft_element { double length, radius, bore; } carom_shaft_element;

/// A rigid wheel on a node of a shaft; polar: inertia about the shaft's axis, diametral: across.
typedef struct carom_flywheel {
    int node;
    double mass, polar, diametral;
} carom_flywheel;

enum { CAROM_MEMBER_MODES = 16 }; // most modes with a damping ratio

typedef struct carom_member_def {
    carom_member_kind kind;
    int elements;
    double length;                     // m, undeformed
    double density, area, modulus;     // kg/m^3, m^2, N/m^2
    double inertia;                    // planar beams: second moment of area (m^4); spatial: of w, about the own y axis
    double inertia_v;                  // spatial: of v, about the own z axis
    double shear_modulus;              // exact beam and torsion (N/m^2)
    double shear_area;                 // exact beam (m^2)
    double torsion;                    // torsion constant (m^4)
    double origin[3], direction[3];    // where it starts and where it goes; planar: in x and y
    double up[3];                      // spatial: its own z axis lies in the plane of direction and up
    bool lumped;                       // mass at the nodes; else consistent
    double damping_mass, damping_stiffness; // a (1/s), b (s)
    const double *modal;               // nmodal damping ratios of the lowest modes, besides a and b
    int nmodal;                        // at most CAROM_MEMBER_MODES
    double gravity[3];                 // m/s^2
    const bool *fixed;                 // components x (elements + 1), node by node (rows); NULL: nothing is fixed
    const bool *massless;              // elements + 1: nodes that give their mass to their neighbours; NULL: none
    const carom_triplets *mass, *stiffness, *damping; // CAROM_MATRICES alone, which needs the first two; elements is
                                                      // then ignored
    void (*load)(void *user, double s, double *p); // force per length along the components at arc length s (force on
                                                   // row s); NULL: none
    void *load_user;
    // Shafts.  Without a list the elements are equal, of length, area, inertia and torsion above.
    const carom_shaft_element *shaft;  // elements of them
    const carom_flywheel *flywheels;
    int nflywheels;
    double damping_torsion;            // torque by the difference of rx' over an element (N m s)
} carom_member_def;

/// Zeros, an axis along x, its own z axis along z.
carom_member_def carom_member_default(carom_member_kind kind);
/// NULL: err gives the reason.
carom_member *carom_member_create(const carom_member_def *def, carom_error *err);
void carom_member_destroy(carom_member *m);

const char *carom_member_component(carom_member_kind kind, int c); // "u", "angle", ...
int carom_member_unknowns(const carom_member *m);
/// Index of a node's component, -1 when it is fixed; *value is then where (NULL allowed).
int carom_member_unknown(const carom_member *m, int node, int component, double *value);
/// The node and component of unknown i.
void carom_member_place(const carom_member *m, int i, int *node, int *component);
/// Where the member is at rest: displacements 0, places on the straight line.
void carom_member_rest(const carom_member *m, double *q);

/// M += the member's mass, at rows and columns from `at` on.
void carom_member_mass(const carom_member *m, carom_matrix M, int at);

/// A component at arc length s by the element's shape functions: value = constant + sum_k weight[k] q[index[k]].
/// Returns the number of terms, at most CAROM_MEMBER_POINT.
int carom_member_point(const carom_member *m, double s, int component, int *index, double *weight, double *constant);

/// The lowest circular frequencies of the undamped linear member (about its straight rest), ascending; rigid motions
/// come as 0.  At most `most`; returns how many, or -1 without memory.
int carom_member_frequencies(const carom_member *m, int most, double *omega);
/// The largest step with which a scheme stays stable that treats the member's forces explicitly and an oscillator up to
/// h omega = stable: h = stable/omega (sqrt(1 + z^2) - z), z = b omega/2 from damping.
double carom_member_step(const carom_member *m, double stable);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

const carom_member_def *carom_member_default_view(carom_member_kind kind);
carom_member *carom_member_create_sized(size_t size, const carom_member_def *def, carom_error *err);
#ifndef CAROM_INSIDE
#define carom_member_default(...) (*carom_member_default_view(__VA_ARGS__))
#define carom_member_create(...) carom_member_create_sized(sizeof(carom_member_def), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
