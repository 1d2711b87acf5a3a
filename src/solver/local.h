// local.h: one contact with friction, solved by formula.
//
// g is column-major with leading dimension ld, rows normal then tangential; c and p likewise.  Always writes a p;
// when the contact has no solution it is the least wrong one, and the certificate will say so.
#pragma once
#include <carom/problem.h>
#include <stdbool.h>

/// How the slip of a contact, u_T = -alpha p_T, is searched: the relative error of |p_T| that is allowed, and where
/// alpha is thought to be (0: no idea).
typedef struct carom_slip { double tol, alpha; } carom_slip;
#define CAROM_SLIP_EXACT ((carom_slip){1e-15, 0}) // to rounding, from nothing

void carom_local_planar(const double *g, int ld, const double *c, double mu, double *p);
void carom_local_spatial(const double *g, int ld, const double *c, double mu, carom_slip how, double *p);
// 3 tangents and more
void carom_local_ball(const double *g, int ld, const double *c, int tangents, double mu, carom_slip how, double *p);
/// Friction alone, with impulses up to `limit`: does u_T = A p_T + r slide?  Then s is the direction of p_T; else A p_T
/// = -r is inside.
bool carom_local_slides(const double *A, const double *r, int tangents, double limit, double *s);
/// y = projection of x on |y_T| <= mu y_N; bilateral: all of space.
void carom_cone_project(const carom_block *b, const double *x, double *y);

/// One row without friction, from the impulse p and the velocity u that is there.  A row that its own impulse does not
/// move, g <= 0, keeps its impulse unless the contact opens.
static inline double carom_local_normal(carom_law law, double g, double u, double p) {
    const double q = g > 0 ? p - u / g : p;
    if (law == CAROM_BILATERAL) return q;
    return q > 0 && (g > 0 || u <= 0) ? q : 0;
}

static inline void carom_local_friction(const double *g, int ld, const double *c, int tangents, double mu,
                                        carom_slip how, double *p) {
    if (tangents == 1) carom_local_planar(g, ld, c, mu, p);
    else if (tangents == 2) carom_local_spatial(g, ld, c, mu, how, p);
    else carom_local_ball(g, ld, c, tangents, mu, how, p);
}
