// world.c: is a model a world, that is, many bodies that may hit each other?  Then single impacts do not matter, and a
// step follows from sizes and speeds.
#include "model/model.h"
#include "model/answers.h"
#include "model/pairs.h"
#include <carom/model.h>
#include <math.h>
#include <stdlib.h>

// Velocities of its bodies: ten in the plane, five in space.  Ten boxes on each other, and eight stones on a slope,
// take a located scheme a hundred times as long as time-stepping.
enum { WORLD = 30 };
static const double PASSED = 0.1;  // of half the width of the thinnest shape, in a step: a run warns of deeper overlaps
static const double FALLEN = 0.05; // step by the time in which something falls by that length from rest

typedef struct look {
    const carom_model *m;
    bool *hits; // by body: another one that moves may hit it
    double highest, lowest, width, speed;
} look;

static double height(const carom_model *m, const double *r) {
    const double g = sqrt(carom_dot(m->gravity, m->gravity, 3));
    return g > 0 ? -carom_dot(m->gravity, r, 3) / g : 0;
}

static void see(look *x, const shape *s, bool hits) {
    const body *b = s->body;
    if (b->v < 0) { // ground, or driven: things may fall as far as there
        const double r[3] = {b->r0[0] + s->at[0], b->r0[1] + s->at[1], b->r0[2] + s->at[2]};
        x->lowest = fmin(x->lowest, height(x->m, r));
        return;
    }
    const double width = carom_shape_thin(s), y = height(x->m, b->r0);
    if (width > 0) x->width = fmin(x->width, width);
    x->highest = fmax(x->highest, y);
    x->lowest = fmin(x->lowest, y);
    const double arm = isfinite(s->bound_radius) ? s->bound_radius : s->radius; // that of a hole is its rim
    x->speed = fmax(x->speed, carom_body_speed(b, x->m->v0, arm));
    if (hits) x->hits[b - x->m->bodies] = true;
}

static bool move(const pair *p) { return p->A->body->v >= 0 && p->B->body->v >= 0; }

// Is anything elastic that bodies touch or hang on?  Then a step has to resolve its vibrations.
static bool elastic(const carom_model *m) {
    if (m->nmember > 0 || m->ncompliant > 0 || (m->near && m->near->yields)) return true;
    for (const strut *s = m->struts; s; s = s->next)
        if (!s->rope) return true;
    return false;
}

static void see_pairs(look *x) {
    const carom_model *m = x->m;
    for (int i = 0; i < m->npairs; ++i) {
        see(x, m->pairs[i].A, move(&m->pairs[i]));
        see(x, m->pairs[i].B, move(&m->pairs[i]));
    }
    if (!m->near) return;
    bool hit = false;
    for (int i = 0; i < m->near->npairs; ++i) hit = hit || move(&m->near->pairs[i]);
    for (int i = 0; i < m->near->nshapes; ++i) see(x, m->near->shape[i], hit);
}

static int velocities(const body *b) { return b->space == SPATIAL ? 6 : 3; }

// Bodies that joints hold are a mechanism, and no part of a world.
static int count(look *x, carom_world *w) {
    int n = 0;
    for (int i = 0; i < x->m->njoints; ++i) {
        const body *const of[] = {x->m->joints[i].A, x->m->joints[i].B}; // a gear has none of its own
        for (int k = 0; k < 2; ++k)
            if (of[k]) x->hits[of[k] - x->m->bodies] = false;
    }
    for (int i = 0; i < x->m->nbodies; ++i)
        if (x->hits[i]) w->bodies += 1, n += velocities(&x->m->bodies[i]);
    return n;
}

// 1, 2 or 5 times a power of ten, not above x.
static double round_down(double x) {
    const double power = pow(10, floor(log10(x)));
    return (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1) * power;
}

// (WLD-1)  h <= PASSED w/u  and  h <= FALLEN (w/g)^(1/2), with w half the width of the thinnest shape that moves and u
//          the speed of the fastest body after a fall from the highest place to the lowest, u^2 = u_0^2 + 2 g H
bool carom_model_world(const carom_model *m, carom_world *w) {
    if (!m || !w || elastic(m)) return false;
    look x = {.m = m, .hits = calloc((size_t)m->nbodies, sizeof *x.hits), .highest = -HUGE_VAL, .lowest = HUGE_VAL,
              .width = HUGE_VAL};
    if (!x.hits) return false;
    see_pairs(&x);
    const double g = sqrt(carom_dot(m->gravity, m->gravity, 3)), H = fmax(0, x.highest - x.lowest);
    *w = (carom_world){.width = 2 * x.width, .speed = sqrt(x.speed * x.speed + 2 * g * H)};
    const int n = count(&x, w);
    free(x.hits);
    const double longest = fmin(w->speed > 0 ? PASSED * x.width / w->speed : HUGE_VAL,
                                g > 0 ? FALLEN * sqrt(x.width / g) : HUGE_VAL);
    if (n < WORLD || 2 * n < m->nv || !(longest > 0 && longest < HUGE_VAL)) return false;
    w->step = round_down(longest);
    return true;
}
