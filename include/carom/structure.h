// structure.h: a system of flexible members, in C alone: members, and constraints and contacts between their points.
//
// A point is a member's component (or place) at an arc length; gaps, constraints and slips are sums of such points with
// factors:
//
//     g = constant + sum_k factor_k x_k(s_k),     x_k a component, or the place along an axis                (FLX-13)
//
// so that W is constant.  Gaps of another form and forces of any kind are added with carom_functions_create().
#pragma once
#include <carom/flex.h>
#include <carom/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One summand of (FLX-13).
typedef struct carom_sum_term {
    int member;    // which, in the order of the definition
    double s;      // arc length; a row's number of CAROM_MATRICES
    int component; // by carom_member_component(); with `place` the axis: 0, 1, 2 for x, y, z
    bool place;
    double factor;
} carom_sum_term;

/// A sum of points.
typedef struct carom_sum {
    double constant;
    const carom_sum_term *point;
    int n;
} carom_sum;

typedef struct carom_structure_contact {
    carom_sum gap;
    carom_sum slip;  // n = 0: none; its constant is without effect
    carom_contact law;  // `tangents` is without effect
} carom_structure_contact;

typedef struct carom_structure_def {
    const carom_member *const *members; // nmembers; they must live as long as the structure
    int nmembers;
    const carom_sum *constraints;    // ne: these remain 0
    int ne;
    const carom_structure_contact *contacts; // nc: gaps do not become negative
    int nc;
    void (*load)(void *user, double t, double *f); // adds forces that depend on time alone; NULL: none
    void *load_user;
    const carom_direct *direct; // for matrices without a narrow band: carom_direct_klu(); NULL: these are dense
} carom_structure_def;

typedef struct carom_structure carom_structure;

/// NULL: err gives the reason.
carom_structure *carom_structure_create(const carom_structure_def *def, carom_error *err);
void carom_structure_destroy(carom_structure *s);
/// Valid as long as s.
const carom_system *carom_structure_system(const carom_structure *s);
/// The first unknown of a member.
int carom_structure_first(const carom_structure *s, int member);
/// Where all members are at rest: nq numbers to start from.
void carom_structure_rest(const carom_structure *s, double *q);
/// The sum at positions q; its rate at velocities v.
double carom_structure_value(const carom_structure *s, const carom_sum *sum, const double *q);
double carom_structure_rate(const carom_structure *s, const carom_sum *sum, const double *v);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

carom_structure *carom_structure_create_sized(size_t size, const carom_structure_def *def, carom_error *err);
#ifndef CAROM_INSIDE
#define carom_structure_create(...) carom_structure_create_sized(sizeof(carom_structure_def), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
