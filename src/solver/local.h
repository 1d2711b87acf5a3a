// local.h: one contact with friction, solved by formula.
//
// g is column-major with leading dimension ld, rows normal then tangential; c and p likewise.  Always writes a p;
// when the contact has no solution it is the least wrong one, and the certificate will say so.
#pragma once
void carom_local_planar(const double *g, int ld, const double *c, double mu, double *p);
void carom_local_spatial(const double *g, int ld, const double *c, double mu, double *p);
