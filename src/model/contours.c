// contours.c: see contours.h.
#include "model/contours.h"
#include "base/pi.h"
#include "model/conditions.h"
#include <math.h>
#include <string.h>

// -- shapes as contours -----------------------------------------------------------------------------------------------

// A capsule, or the inside of one.
static void long_round(const shape *s, carom_stretch *line) {
    const double e[2] = {s->X[0] * s->half[0], s->X[3] * s->half[0]},
                 n[2] = {-s->X[3] * s->radius, s->X[0] * s->radius};
    double p[4][2];
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 2; ++k) p[i][k] = s->at[k] + (i == 0 || i == 3 ? -e[k] : e[k]) + (i < 2 ? -n[k] : n[k]);
    const bool hollow = s->kind == SHAPE_SLOT;
    const double a[2] = {s->at[0] - e[0], s->at[1] - e[1]}, b[2] = {s->at[0] + e[0], s->at[1] + e[1]};
    if (hollow) {
        line[0] = carom_stretch_line(p[3], p[2]), line[1] = carom_stretch_round(p[2], b, -PI);
        line[2] = carom_stretch_line(p[1], p[0]), line[3] = carom_stretch_round(p[0], a, -PI);
    } else {
        line[0] = carom_stretch_line(p[0], p[1]), line[1] = carom_stretch_round(p[1], b, PI);
        line[2] = carom_stretch_line(p[2], p[3]), line[3] = carom_stretch_round(p[3], a, PI);
    }
}

int carom_shape_stretches(const shape *s, carom_stretch *out) {
    if (s->kind == SHAPE_CAPSULE || s->kind == SHAPE_SLOT) return long_round(s, out), 4;
    if (s->kind == SHAPE_ROUND) {
        const double from[2] = {s->at[0] + s->radius, s->at[1]}, to[2] = {s->at[0] - s->radius, s->at[1]};
        out[0] = carom_stretch_round(from, s->at, PI), out[1] = carom_stretch_round(to, s->at, PI);
        return 2;
    }
    for (int i = 0; i < s->ncorners; ++i) out[i] = carom_stretch_line(s->corner[i], s->corner[(i + 1) % s->ncorners]);
    return s->ncorners;
}

// A shape with a contour, where it is.
typedef struct placed {
    const shape *s;
    carom_stretch own[MOST_CORNERS]; // of shapes that are no outlines
    const carom_stretch *stretch;
    int n;                           // 0: a point
    bool closed, wall;               // wall: solid to a depth of its size, as far as contacts go
    double size;
    double r[3], R[9], centre[2];    // of its body; what the frame of the contour is moved by
} placed;

static const shape *owner(const shape *s) {
    while (carom_shape_piece(s) && !s->contour) --s;
    return s;
}

// Where bodies are: at t and q, those that are driven by the block; without one, at the start.
typedef struct moment {
    const carom_model *m;
    void *work;
    double t;
    const double *q;
} moment;

static void pose(const moment *now, const body *b, double *r, double *R) {
    carom_body_pose(b, now->q, r, R);
    if (!b->driven || !now->work) return;
    const double *q = now->q, *v = now->m->v0;
    if (now->m->nmember) carom_model_look(now->m, now->work, &q, &v, false);
    const carom_values x = carom_tape_values(now->m->tape, now->work, GROUP_DRIVEN, now->t, q, v);
    const int *at = x.place + 12 * (b->driven - 1);
    for (int i = 0; i < 12; ++i) *(i < 3 ? r + i : R + i - 3) = x.slot[at[i]];
}

// False: it has no contour, or it is a plane, a hole or a slot, whose contacts show every overlap.
static bool place(const moment *now, const shape *s, placed *x) {
    x->s = s, x->stretch = x->own, x->n = 0, x->closed = true, x->wall = false;
    x->centre[0] = x->centre[1] = 0;
    if (s->space != PLANAR || s->member || !s->body) return false;
    switch (s->kind) {
    case SHAPE_POINT: break;
    case SHAPE_ROUND:
    case SHAPE_CAPSULE:
    case SHAPE_POLYGON:
    case SHAPE_BOX: x->n = carom_shape_stretches(s, x->own); break;
    case SHAPE_LINE:
    case SHAPE_ARC:
    case SHAPE_HOLLOW:
        x->stretch = s->contour->stretch, x->n = s->contour->n, x->closed = s->contour->closed;
        x->wall = !x->closed || s->contour->hollow;
        memcpy(x->centre, s->body->centre, sizeof x->centre);
        break;
    default: return false;
    }
    x->size = x->n ? carom_outline_size(x->stretch, x->n) : 0;
    pose(now, s->body, x->r, x->R);
    return true;
}

static void to_world(const placed *x, const double *p, double *out) {
    const double a[2] = {p[0] - x->centre[0], p[1] - x->centre[1]};
    for (int k = 0; k < 2; ++k) out[k] = x->r[k] + x->R[3 * k] * a[0] + x->R[3 * k + 1] * a[1];
}

// Of a place in the world; negative: it is solid there.
static double distance(const placed *x, const double *p) {
    const double a[2] = {p[0] - x->r[0], p[1] - x->r[1]};
    double own[2];
    for (int k = 0; k < 2; ++k) own[k] = x->centre[k] + x->R[k] * a[0] + x->R[3 + k] * a[1];
    if (x->n == 0) return hypot(own[0] - x->s->at[0], own[1] - x->s->at[1]);
    const double d = carom_outline_distance(x->stretch, x->n, x->closed, own);
    return x->wall && -d > x->size ? -d : d;
}

// -- gaps that are distances ------------------------------------------------------------------------------------------

static const double ROUND = 1e-9; // of the radii: they are bounds

// (SHP-10)  A gap of two pieces lies between the least and the largest distance of the balls that hold them.
static bool may_be(const moment *now, const pair *p, double gap) {
    double r[2][3], R[2][9], d[2];
    const shape *const both[2] = {p->A, p->B};
    if (!(p->A->bound_radius < HUGE_VAL && p->B->bound_radius < HUGE_VAL)) return true;
    for (int i = 0; i < 2; ++i) pose(now, both[i]->body, r[i], R[i]);
    for (int k = 0; k < 2; ++k) {
        d[k] = r[0][k] - r[1][k];
        for (int j = 0; j < 2; ++j) d[k] += R[0][3 * k + j] * p->A->at[j] - R[1][3 * k + j] * p->B->at[j];
    }
    return fabs(gap - hypot(d[0], d[1])) <= (p->A->bound_radius + p->B->bound_radius) * (1 + ROUND);
}

bool carom_contours_apart(const carom_model *m, void *work, const pair *p, int k, double gap, double t,
                          const double *q) {
    static const double ON = 1e-6; // of the size; the gap of pieces that do not touch is off by 1e-3
    // contacts of a pair: between two polygons, each corner on the other
    enum { MOST = PAIR_PLACE * (2 * MOST_CORNERS + 3) };
    double all[MOST];
    placed x[2];
    if (!(gap > 0) || (!carom_shape_piece(p->A) && !carom_shape_piece(p->B))) return true;
    const moment now = {m, work, t, q};
    if (!may_be(&now, p, gap)) return false;
    carom_pair_places(m, work, p, t, q, all);
    const double *at = all + PAIR_PLACE * k, *n = at + 3;
    const bool is[2] = {place(&now, owner(p->A), &x[0]), place(&now, owner(p->B), &x[1])};
    for (int on = 0; on < 2; ++on) { // the place lies on A, or on B where that is the arc and A is the line
        bool both = true;
        for (int i = 0; i < 2; ++i) {
            const double way = on == i ? 0 : i ? -gap : gap, foot[2] = {at[0] + way * n[0], at[1] + way * n[1]};
            both = both && (!is[i] || fabs(distance(&x[i], foot)) <= ON * fmax(x[i].size, fabs(gap)));
        }
        if (both) return true;
    }
    return false;
}

bool carom_contours_show(const carom_model *m, void *work, int id, double gap, double t, const double *q) {
    const int end = m->ne + m->nc, first = m->npairs ? m->pairs[0].first : end;
    if (id < first) return true;
    const pair *p = id < end ? &m->pairs[m->pair_of[id - first]] : carom_near_pair(m, work, id);
    return !p || carom_contours_apart(m, work, p, id - p->first, gap, t, q);
}

// -- one inside the other ---------------------------------------------------------------------------------------------

// The least distance of points of the contour of `of` from x.
static double least_distance(const placed *x, const placed *of) {
    enum { SAMPLES = 8 }; // points of a stretch
    double least = HUGE_VAL, p[2], world[2];
    if (of->n == 0) return to_world(of, of->s->at, world), distance(x, world);
    for (int i = 0; i < of->n; ++i)
        for (int k = 0; k < SAMPLES + (!of->closed && i == of->n - 1); ++k) {
            carom_stretch_at(&of->stretch[i], (double)k / SAMPLES, p, NULL);
            to_world(of, p, world);
            least = fmin(least, distance(x, world));
        }
    return least;
}

double carom_contours_gap(const carom_model *m, void *work, const shape *a, const shape *b, double t,
                          const double *q) {
    const moment now = {m, work, t, q};
    placed A, B;
    return place(&now, a, &A) && place(&now, b, &B) ? fmin(least_distance(&A, &B), least_distance(&B, &A)) : NAN;
}

// -- pairs ------------------------------------------------------------------------------------------------------------

static bool is_off(const carom_model *m, const void *work, const shape *a, const shape *b, int condition) {
    const int needs[CAROM_NEEDS] = {condition, a->body->condition, b->body->condition};
    for (int k = 0; k < CAROM_NEEDS && m->condition.system && work; ++k)
        if (needs[k] > 0 && carom_conditions_off(m, work)[needs[k] - 1]) return true;
    return false;
}

// Do the two shapes, or their pieces, meet by this rule, without yielding?
static bool meet(const struct near_pairs *x, int rule, int a, int b) {
    for (int i = 0; i <= x->shape[a]->parts; ++i)
        for (int k = 0; k <= x->shape[b]->parts; ++k) {
            if (x->group[a + i] < 0 || x->group[b + k] < 0 || !carom_near_meet(x, rule, a + i, b + k)) continue;
            const bool swap = carom_near_swapped(x->shape[a], x->shape[b]);
            const int A = x->group[swap ? b + k : a + i], B = x->group[swap ? a + i : b + k],
                      kind = *carom_near_kind_of(x, rule, A, B);
            if (kind >= 0) return !x->pairs[kind].soft;
        }
    return false;
}

carom_status carom_contours_each(const carom_model *m, const void *work,
                                 carom_status (*visit)(void *user, const contour_pair *p), void *user) {
    const struct near_pairs *x = m->near;
    contour_pair last = {0};
    for (int i = 0; i < m->npairs; ++i) { // pairs of pieces of two outlines follow each other
        const pair *p = &m->pairs[i];
        if (!carom_shape_piece(p->A) && !carom_shape_piece(p->B)) continue;
        const contour_pair now = {p->entry, owner(p->A), owner(p->B)};
        if (now.entry == last.entry && now.a == last.a && now.b == last.b) continue;
        last = now;
        if (!is_off(m, work, now.a, now.b, m->links[p->first].condition)) CAROM_TRY(visit(user, &now));
    }
    for (int i = 0; x && i < x->nshapes; ++i) {
        const shape *a = x->shape[i];
        for (int k = 0; a->contour && k < x->nshapes; ++k) {
            const shape *b = x->shape[k];
            if (b->body == a->body || (b->contour && k <= i) || (carom_shape_piece(b) && !b->contour)) continue;
            for (int rule = 0; rule < x->nrules; ++rule)
                if (meet(x, rule, i, k) && !is_off(m, work, a, b, x->rule[rule].condition))
                    CAROM_TRY(visit(user, &(contour_pair){x->rule[rule].entry, a, b}));
        }
    }
    return CAROM_OK;
}

// -- at the start -----------------------------------------------------------------------------------------------------

typedef struct start { const carom_model *m; double scale; carom_error *err; } start;

// Some point of its contour, and how far the others, and the solid of a wall, are at most.
static double around(const placed *x, double *at) {
    to_world(x, x->n ? x->stretch[0].from : x->s->at, at);
    return (x->wall ? 3 : 2) * x->size;
}

static carom_status check_pair(void *user, const contour_pair *p) {
    static const double TOLERANCE = 1e-9; // as gaps have
    const start *s = user;
    placed a, b;
    double at_a[2], at_b[2];
    const moment now = {s->m, NULL, 0, s->m->q0};
    if (!place(&now, p->a, &a) || !place(&now, p->b, &b)) return CAROM_OK;
    const double reach = around(&a, at_a) + around(&b, at_b);
    if (hypot(at_a[0] - at_b[0], at_a[1] - at_b[1]) > reach) return CAROM_OK;
    const double in_a = -least_distance(&a, &b), in_b = -least_distance(&b, &a), depth = fmax(in_a, in_b);
    if (!(depth > TOLERANCE * fmax(s->scale, fmax(a.size, b.size)))) return CAROM_OK;
    const shape *outer = in_a > in_b ? p->a : p->b, *inner = in_a > in_b ? p->b : p->a;
    return carom_model_fault(s->m, s->err, &p->entry->name,
                             "contact '%.60s': '%.60s' starts inside the solid of '%.60s', by %.6g; move one%s",
                             p->entry->name.text, inner->name, outer->name, depth,
                             carom_shape_piece(outer) ? " (an outline is solid on the left of its direction)" : "");
}

carom_status carom_contours_start(const carom_model *m, const void *work, double scale, carom_error *err) {
    start s = {m, scale, err};
    return carom_contours_each(m, work, check_pair, &s);
}
