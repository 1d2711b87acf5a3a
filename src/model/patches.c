// patches.c: pairs of convex solids, whose contacts are found by search and not by formulas.
//
// A hull has any number of corners, so its contacts are no expressions: collide/patch.c finds the features that touch
// at a position, and here they become gaps, directions and their derivatives.  Directions are exact: a contact's gap
// changes by n.(v_A - v_B) at its point (SHP-17).  Their derivatives are central differences with the features held,
// right to nine digits.  Such pairs always come and go (near.c).
#include "model/pairs.h"
#include <math.h>
#include <string.h>
#include "model/touch.inc"

_Static_assert(TOUCH_ENTRIES == (1 + CAROM_TANGENTS) * 12, "directions of a contact");

bool carom_patch_kind_of(shape_kind kind) {
    return kind == SHAPE_HULL || kind == SHAPE_HEIGHTS || kind == SHAPE_ELLIPSOID;
}

bool carom_patch_pair(const shape *A, const shape *B) {
    return carom_patch_kind_of(A->kind) || carom_patch_kind_of(B->kind);
}

static bool solid_box(const shape *s) { return s->kind == SHAPE_BOX && s->space == SPATIAL; }

bool carom_patch_listed(const shape *A, const shape *B) {
    return carom_patch_pair(A, B) || (solid_box(A) && solid_box(B));
}

double carom_patch_extent(const shape *s, const double *A, int i) {
    double most = 0;
    for (int k = 0; k < s->hull->nv; ++k) {
        double y = 0;
        for (int j = 0; j < 3; ++j) y += A[3 * i + j] * (s->hull->v[k][j] - s->at[j]);
        most = fmax(most, fabs(y));
    }
    return most;
}

static carom_convex solid(const shape *s) {
    return (carom_convex){s->hull, s->kind == SHAPE_ROUND || s->kind == SHAPE_CAPSULE ? s->radius : 0, s->grid,
                          s->kind == SHAPE_ELLIPSOID ? s->half : NULL, s->X};
}

// -- where it touches -------------------------------------------------------------------------------------------------

static both frames(const pair *p, const double *q) {
    both x;
    carom_body_pose(p->A->body, q, x.f[0].r, x.f[0].R);
    carom_body_pose(p->B->body, q, x.f[1].r, x.f[1].R);
    return x;
}

static bool finite(const both *x) {
    for (int i = 0; i < 24; ++i)
        if (!isfinite(((const double *)x)[i])) return false;
    return true;
}

// The features at these positions: those that are held; those that were found last, if the positions are the same.
static const carom_feature *features(const pair *p, const both *x) {
    patch *last = p->patch;
    if (last->held) return last->keep;
    if (last->known && memcmp(&last->r, x, sizeof *x) == 0) return last->f;
    const carom_convex A = solid(p->A), B = solid(p->B);
    carom_patch_find(&A, &x->f[0], &B, &x->f[1], last->f);
    memcpy(&last->r, x, sizeof *x);
    last->known = true;
    return last->f;
}

// -- answers ----------------------------------------------------------------------------------------------------------

// dW_id / dq_l of a contact for all l
static void touch_gradient(const touch_pair *p, const both *x, const carom_feature *f, double *D) {
    const int directions = p->directions, nv = p->nv;
    double W[2][TOUCH_ENTRIES];
    for (int l = 0; l < nv; ++l) {
        const double h = TOUCH_STEP * (l % 6 < 3 ? p->length : 1);
        double v[6] = {0};
        v[l % 6] = 1;
        for (int side = 0; side < 2; ++side) {
            both y = *x;
            touch_move(&y.f[l / 6], side ? -h : h, v);
            touch_columns(p, &y, f, W[side]);
        }
        for (int e = 0; e < directions * nv; ++e) D[e * nv + l] = (W[0][e] - W[1][e]) / (2 * h);
    }
}

static double length(const pair *p) {
    return fmin(p->A->bound_radius > 0 ? p->A->bound_radius : INFINITY,
                p->B->bound_radius > 0 ? p->B->bound_radius : INFINITY);
}

int carom_patch_grain(const carom_model *m, const pair *p) {
    const body *of = p->own->rub.ellipse->of;
    return !of ? 2 : of == m->kinds[p->kind].first->B->body;
}

static touch_grain grain(const carom_model *m, const pair *p) {
    const ellipse *e = p->own->rub.ellipse;
    touch_grain x = {.of = 2};
    if (!e) return x;
    memcpy(x.factor, e->factor, sizeof x.factor);
    memcpy(x.direction, e->direction, sizeof x.direction);
    x.of = carom_patch_grain(m, p);
    return x;
}

static touch_pair touch(const carom_model *m, const pair *p) {
    const carom_model *two = m->kinds[p->kind].two;
    return (touch_pair){.A = solid(p->A), .B = solid(p->B), .length = length(p), .roll = p->own->rub.roll,
                        .spin = p->own->rub.spin, .directions = two->links->ndir, .nv = two->nv,
                        .grain = grain(m, p)};
}

int carom_patch_eval(const carom_model *m, const pair *p, pair_group group, const double *q, const double *v,
                     double *out) {
    const touch_pair y = touch(m, p);
    const int nv = y.nv, directions = y.directions;
    const both x = frames(p, q);
    if (!finite(&x)) return 1;
    const carom_feature *f = features(p, &x);
    double u[12] = {0};
    for (int i = 0; i < nv && v; ++i) u[i] = v[p->v_at[i / 6] + i % 6];
    for (int k = 0; k < p->count; ++k) {
        switch (group) {
        case PAIR_GAPS: out[k] = touch_gap(&y, &x, &f[k]); break;
        case PAIR_DIRECTIONS: touch_columns(&y, &x, &f[k], out + k * directions * nv); break;
        case PAIR_CURVATURE: touch_curvature(&y, &x, &f[k], u, out + k * directions); break;
        case PAIR_REACTION_GRADIENT:
        case PAIR_RATE_GRADIENT: touch_gradient(&y, &x, &f[k], out + k * directions * nv * nv); break;
        case PAIR_PLACES: { // point, normal, two tangents
            double *at = out + 12 * k, along[2][3];
            carom_patch_point t;
            carom_patch_place(&y.A, &x.f[0], &y.B, &x.f[1], &f[k], &t);
            touch_tangents(&y.grain, &x, t.n, along);
            memcpy(at, t.p, sizeof t.p);
            memcpy(at + 3, t.n, sizeof t.n);
            memcpy(at + 6, along, sizeof along);
            break;
        }
        case PAIR_RATES: touch_rates(&y, &x, &f[k], u, out + k * directions); break;
        case PAIR_GROUPS: return 1;
        }
    }
    return 0;
}

// -- features that are held -------------------------------------------------------------------------------------------

static bool among(const carom_feature *f, const carom_feature *list, int n) {
    for (int i = 0; i < n; ++i)
        if (!list[i].spare && list[i].kind == f->kind && list[i].a == f->a && list[i].b == f->b) return true;
    return false;
}

// The contact that is farthest open: one that is spare, if there is any.
static int farthest(const touch_pair *y, const both *x, const carom_feature *f, int n) {
    int best = 0;
    for (int i = 1; i < n && !f[best].spare; ++i)
        if (f[i].spare || touch_gap(y, x, &f[i]) > touch_gap(y, x, &f[best])) best = i;
    return best;
}

void carom_patch_freeze(const carom_model *m, const pair *p, carom_freeze what, const double *q) {
    patch *z = p->patch;
    const both x = frames(p, q);
    z->held = false;
    if (what == CAROM_RELEASE || !finite(&x)) return;
    const carom_feature *f = features(p, &x);
    const touch_pair y = touch(m, p);
    for (int k = 0; what == CAROM_FREEZE_AGAIN && k < p->count; ++k)
        if (!f[k].spare && touch_gap(&y, &x, &f[k]) < 0 && !among(&f[k], z->keep, p->count))
            z->keep[farthest(&y, &x, z->keep, p->count)] = f[k];
    if (what == CAROM_FREEZE) memcpy(z->keep, f, sizeof z->keep);
    z->held = true;
}
