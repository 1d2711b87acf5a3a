// patches.c: pairs of convex solids, whose contacts are found by search and not by formulas.
//
// A hull has any number of corners, so its contacts are no expressions: collide/patch.c finds the features that touch at a position, and here they
// become gaps, directions and their derivatives.  Directions are exact: a contact's gap changes by n.(v_A - v_B) at its point (SHP-17).  Their
// derivatives are central differences with the features held, right to nine digits.  Such pairs always come and go (near.c).
#include "model/pairs.h"
#include <math.h>
#include <string.h>

bool carom_patch_kind_of(shape_kind kind) { return kind == SHAPE_HULL || kind == SHAPE_HEIGHTS || kind == SHAPE_ELLIPSOID; }

bool carom_patch_pair(const shape *A, const shape *B) { return carom_patch_kind_of(A->kind) || carom_patch_kind_of(B->kind); }

static bool solid_box(const shape *s) { return s->kind == SHAPE_BOX && s->space == SPATIAL; }

bool carom_patch_listed(const shape *A, const shape *B) { return carom_patch_pair(A, B) || (solid_box(A) && solid_box(B)); }

double carom_patch_extent(const shape *s, const double *A, int i) {
    double most = 0;
    for (int k = 0; k < s->hull->nv; ++k) {
        double y = 0;
        for (int j = 0; j < 3; ++j) y += A[3 * i + j] * (s->hull->v[k][j] - s->at[j]);
        most = fmax(most, fabs(y));
    }
    return most;
}

static carom_convex solid(const shape *s) { return (carom_convex){s->hull, s->kind == SHAPE_ROUND || s->kind == SHAPE_CAPSULE ? s->radius : 0, s->grid, s->kind == SHAPE_ELLIPSOID ? s->half : NULL, s->X}; }

// -- where it touches -----------------------------------------------------------------------------------------------------

typedef struct both { carom_frame f[2]; } both;

static both frames(const pair *p, const double *q) {
    both x;
    carom_body_pose(p->A->body, q, x.f[0].r, x.f[0].R);
    carom_body_pose(p->B->body, q, x.f[1].r, x.f[1].R);
    return x;
}

// The features at these positions; those that were found last, if they are the same.
static const carom_feature *features(const pair *p, const both *x) {
    patch *last = p->patch;
    if (last->known && memcmp(&last->r, x, sizeof *x) == 0) return last->f;
    const carom_convex A = solid(p->A), B = solid(p->B);
    carom_patch_find(&A, &x->f[0], &B, &x->f[1], last->f);
    memcpy(&last->r, x, sizeof *x);
    last->known = true;
    return last->f;
}

// (SHP-9)
static void tangents(const double *n, double (*t)[3]) {
    const double s = n[2] > -0.6 ? 1 : -1, a = -1 / (s + n[2]), b = a * n[0] * n[1];
    memcpy(t[0], (double[]){1 + s * a * n[0] * n[0], s * b, -s * n[0]}, sizeof *t);
    memcpy(t[1], (double[]){b, s + a * n[1] * n[1], -n[1]}, sizeof *t);
}

// Force f at the arm (NULL: a moment) on one body, as a column of W.
static void put_column(const carom_frame *b, const double *p, const double *f, double sign, double *w) {
    double moment[3] = {f[0], f[1], f[2]};
    if (p) {
        const double arm[3] = {p[0] - b->r[0], p[1] - b->r[1], p[2] - b->r[2]};
        for (int i = 0; i < 3; ++i) moment[i] = arm[(i + 1) % 3] * f[(i + 2) % 3] - arm[(i + 2) % 3] * f[(i + 1) % 3];
    }
    for (int i = 0; i < 3; ++i) {
        w[i] = p ? sign * f[i] : 0;
        w[3 + i] = sign * (b->R[i] * moment[0] + b->R[3 + i] * moment[1] + b->R[6 + i] * moment[2]);
    }
}

// Columns of one contact: n, sliding, and (SHP-13) rolling and spinning.
static void columns(const pair *p, const both *x, const carom_feature *f, int directions, int nv, double *W) {
    const carom_convex A = solid(p->A), B = solid(p->B);
    carom_patch_point t;
    double along[3][3];
    carom_patch_place(&A, &x->f[0], &B, &x->f[1], f, &t);
    memcpy(along[0], t.n, sizeof t.n);
    tangents(t.n, along + 1);
    for (int d = 0; d < directions; ++d) {
        const bool slides = d < 3, spins = !slides && (p->own->rub.roll <= 0 || d == 5);
        double force[3];
        for (int i = 0; i < 3; ++i) force[i] = slides ? along[d][i] : spins ? p->own->rub.spin * t.n[i] : p->own->rub.roll * along[d - 2][i];
        for (int side = 0; side < nv / 6; ++side) put_column(&x->f[side], slides ? t.p : NULL, force, side ? -1 : 1, W + d * nv + 6 * side);
    }
}

// -- derivatives --------------------------------------------------------------------------------------------------------

// A frame moved by h along velocities v (6): r + h v, R exp(h w).
static void move(carom_frame *f, double h, const double *v) {
    const double *w = v + 3, angle = h * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    for (int i = 0; i < 3; ++i) f->r[i] += h * v[i];
    if (angle == 0) return;
    const double s = h * sin(angle) / angle, half = sin(angle / 2) / (angle / 2), c = 0.5 * h * h * half * half;
    for (int i = 0; i < 3; ++i) { // y' = y + s y x w + c (y x w) x w by rows
        double *y = f->R + 3 * i, a[3], b[3];
        for (int k = 0; k < 3; ++k) a[k] = y[(k + 1) % 3] * w[(k + 2) % 3] - y[(k + 2) % 3] * w[(k + 1) % 3];
        for (int k = 0; k < 3; ++k) b[k] = a[(k + 1) % 3] * w[(k + 2) % 3] - a[(k + 2) % 3] * w[(k + 1) % 3];
        for (int k = 0; k < 3; ++k) y[k] += s * a[k] + c * b[k];
    }
}

static const double STEP = 1e-5; // of the size

static double length(const pair *p) { return fmin(p->A->bound_radius > 0 ? p->A->bound_radius : INFINITY, p->B->bound_radius > 0 ? p->B->bound_radius : INFINITY); }

// dW_id / dq_l of a contact for all l
static void gradient(const pair *p, const both *x, const carom_feature *f, int directions, int nv, double *D) {
    double W[2][(1 + CAROM_TANGENTS) * 12];
    for (int l = 0; l < nv; ++l) {
        const double h = STEP * (l % 6 < 3 ? length(p) : 1);
        double v[6] = {0};
        v[l % 6] = 1;
        for (int side = 0; side < 2; ++side) {
            both y = *x;
            move(&y.f[l / 6], side ? -h : h, v);
            columns(p, &y, f, directions, nv, W[side]);
        }
        for (int e = 0; e < directions * nv; ++e) D[e * nv + l] = (W[0][e] - W[1][e]) / (2 * h);
    }
}

// (d/dt W)' v along v
static void curvature(const pair *p, const both *x, const carom_feature *f, int directions, int nv, const double *v, double *kappa) {
    double W[2][(1 + CAROM_TANGENTS) * 12], most = 0;
    for (int i = 0; i < nv; ++i) most = fmax(most, fabs(v[i]) / (i % 6 < 3 ? length(p) : 1));
    for (int d = 0; d < directions; ++d) kappa[d] = 0;
    if (!(most > 0)) return;
    const double h = STEP / most;
    for (int side = 0; side < 2; ++side) {
        both y = *x;
        for (int b = 0; b < nv / 6; ++b) move(&y.f[b], side ? -h : h, v + 6 * b);
        columns(p, &y, f, directions, nv, W[side]);
    }
    for (int e = 0; e < directions * nv; ++e) kappa[e / nv] += (W[0][e] - W[1][e]) / (2 * h) * v[e % nv];
}

// -- answers ------------------------------------------------------------------------------------------------------------

int carom_patch_eval(const carom_model *m, const pair *p, pair_group group, const double *q, const double *v, double *out) {
    const carom_model *two = m->kinds[p->kind].two;
    const int nv = two->nv, directions = two->links->ndir;
    const both x = frames(p, q);
    for (int i = 0; i < 24; ++i)
        if (!isfinite(((const double *)&x)[i])) return 1;
    const carom_feature *f = features(p, &x);
    const carom_convex A = solid(p->A), B = solid(p->B);
    double u[12] = {0};
    for (int i = 0; i < nv && v; ++i) u[i] = v[p->v_at[i / 6] + i % 6];
    for (int k = 0; k < p->count; ++k) {
        carom_patch_point t;
        switch (group) {
        case PAIR_GAPS:
            carom_patch_place(&A, &x.f[0], &B, &x.f[1], &f[k], &t);
            out[k] = f[k].spare ? fmax(t.gap, 0) + length(p) : t.gap; // open, by a finite gap: schemes compare gaps within a step
            break;
        case PAIR_DIRECTIONS: columns(p, &x, &f[k], directions, nv, out + k * directions * nv); break;
        case PAIR_CURVATURE: curvature(p, &x, &f[k], directions, nv, u, out + k * directions); break;
        case PAIR_REACTION_GRADIENT:
        case PAIR_RATE_GRADIENT: gradient(p, &x, &f[k], directions, nv, out + k * directions * nv * nv); break;
        case PAIR_PLACES: { // point, normal, two tangents
            double *at = out + 12 * k, along[2][3];
            carom_patch_place(&A, &x.f[0], &B, &x.f[1], &f[k], &t);
            tangents(t.n, along);
            memcpy(at, t.p, sizeof t.p);
            memcpy(at + 3, t.n, sizeof t.n);
            memcpy(at + 6, along, sizeof along);
            break;
        }
        case PAIR_RATES: { // W'v
            double W[(1 + CAROM_TANGENTS) * 12];
            columns(p, &x, &f[k], directions, nv, W);
            for (int d = 0; d < directions; ++d) out[k * directions + d] = 0;
            for (int e = 0; e < directions * nv; ++e) out[k * directions + e / nv] += W[e] * u[e % nv];
            break;
        }
        case PAIR_GROUPS: return 1;
        }
    }
    return 0;
}
