// bounds.c: what the gaps, and forces, that are written as expressions may be on a piece of a motion.
//
// Work: how far positions are off their lines, what the tape sees where there are members, then bounds of all that it
// computes.
#include "expr/tape.h"
#include "model/model.h"
#include <math.h>
#include <stdlib.h>

static double *off_positions(const carom_model *m, void *work) {
    return (double *)(void *)((unsigned char *)work + m->at.bounds);
}

static const int *places(const carom_model *m, int group) { return carom_tape_places(m->tape, group); }
static int gap_place(const carom_model *m, int id) { return places(m, GROUP_GAPS)[id]; }
static int rate_place(const carom_model *m, int id) { return places(m, GROUP_RATES)[m->links[id].dir]; }

static carom_tape_part *part(const carom_model *m) {
    int n = 0, *place = malloc(2 * (size_t)m->own.links * sizeof *place);
    if (!place) return NULL;
    for (int id = m->ne; id < m->own.links; ++id) place[n++] = gap_place(m, id), place[n++] = rate_place(m, id);
    carom_tape_part *made = carom_tape_part_create(m->tape, place, n);
    free(place);
    return made;
}

static int seen(const carom_model *m) { return m->nmember ? 3 * (m->visible.nq + m->visible.nv) : 0; }

size_t carom_bounds_work(carom_model *m, bool gaps, bool forces, size_t from) {
    const size_t line = 63;
    m->bounds_part = gaps ? part(m) : NULL;
    m->force_part =
        forces ? carom_tape_part_create(m->tape, places(m, GROUP_FORCE), m->tape->group[GROUP_FORCE].count) : NULL;
    m->at.bounds = (from + line) & ~line;
    return (m->bounds_part || !gaps) && (m->force_part || !forces)
               ? m->at.bounds + (size_t)(m->nq + seen(m)) * sizeof(double) +
                     (size_t)carom_tape_range_size(m->tape) * sizeof(carom_range)
               : 0;
}

// What moves between two points within d at rates between two that differ by `spread` is not farther than this from the
// straight line.
static double astray(double d, double spread) { return 0.25 * d * spread; }

static double turning(const body *b, const double *v_0, const double *v_1, const double *v_off) {
    double square = 0;
    for (int i = b->v + 3; b->v >= 0 && i < b->v + 6; ++i) {
        const double w = fmax(fabs(v_0[i]), fabs(v_1[i])) + v_off[i];
        square += w * w;
    }
    return sqrt(square);
}

// (SC-8)  off = d |v_1 - v_0|/8 + d v_off/2;  components of a quaternion turn at rates within +-|w|/2, angles of joints
//         within +-(|w_A| + |w_B|).
static void positions_off(const carom_model *m, double d, const double *v_0, const double *v_1, const double *v_off,
                          double *off) {
    const int nq = carom_model_named_q(m), nv = carom_model_named_v(m);
    for (int i = 0; i < m->nq; ++i) {
        const int k = i >= nq ? nv + i - nq : m->velocity_of[i];
        if (k >= 0) off[i] = 0.125 * d * fabs(v_1[k] - v_0[k]) + astray(d, 2 * v_off[k]);
    }
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v < 0 || b->space != SPATIAL) continue;
        for (int k = 0; k < 4; ++k) off[b->orientation + k] = astray(d, turning(b, v_0, v_1, v_off));
    }
    for (int i = 0; i < m->njoints; ++i) {
        const joint *j = &m->joints[i];
        if (j->at >= 0) off[j->at] = astray(d, 2 * (turning(j->A, v_0, v_1, v_off) + turning(j->B, v_0, v_1, v_off)));
    }
}

// The motion as the tape sees it: values at the start, at the end, and how far they are off the lines between.
// Members' positions are picked into `seen`.
typedef struct side { const double *q, *v; } side;

static void inputs(const carom_model *m, void *work, const carom_tape_part *part, side at[3], double *seen,
                   carom_range *x) {
    const visible *s = &m->visible;
    const int more = m->nmember ? 1 + s->compiled : 0, nq = s->nq_own + more, nv = s->nv_own + more;
    for (int k = 0; m->nmember && k < 3; ++k, seen += nq + nv) {
        carom_model_look(m, work, &at[k].q, &at[k].v, false);
        carom_copy(seen, at[k].q, nq);
        carom_copy(seen + nq, at[k].v, nv);
        at[k] = (side){seen, seen + nq};
    }
    const int *slot, n = carom_tape_part_inputs(part, &slot);
    for (int e = 0; e < n; ++e) {
        const int i = slot[e] - 1, k = i - nq;
        if (i < 0) continue;
        x[slot[e]] = k < 0 ? carom_range_along(at[0].q[i], at[1].q[i], at[2].q[i])
                           : carom_range_along(at[0].v[k], at[1].v[k], at[2].v[k]);
    }
}

carom_status carom_model_bounds(const void *model, void *work, double t_0, double t_1, const double *q_0,
                                const double *q_1, const double *v_0, const double *v_1, const double *v_off,
                                double *least, double *slowest, double *fastest, double *turn) {
    const carom_model *m = model;
    double *q_off = off_positions(m, work);
    carom_range *x = (carom_range *)(void *)(q_off + m->nq + seen(m));
    positions_off(m, t_1 - t_0, v_0, v_1, v_off, q_off);
    x[0] = carom_range_along(t_0, t_1, 0);
    inputs(m, work, m->bounds_part, (side[]){{q_0, v_0}, {q_1, v_1}, {q_off, v_off}}, q_off + m->nq, x);
    carom_tape_range(m->tape, m->bounds_part, work, x);
    for (int c = 0; c < m->nc; ++c) {
        const int id = m->ne + c;
        least[c] = NAN;
        if (id >= m->own.links) continue;
        const carom_range *g = &x[gap_place(m, id)], *u = &x[rate_place(m, id)];
        least[c] = g->low;
        turn[c] = g->jumps ? 0 : 2 * u->slope;
        slowest[c] = g->jumps ? -HUGE_VAL : u->mid - u->slope - u->off;
        fastest[c] = g->jumps ? HUGE_VAL : u->mid - u->slope + u->off;
    }
    return CAROM_OK;
}

carom_status carom_model_force_bounds(const void *model, void *work, double t_0, double t_1, const double *q_0,
                                      const double *q_1, const double *v_0, const double *v_1, const double *v_off,
                                      double *mid, double *slope, double *off) {
    const carom_model *m = model;
    double *q_off = off_positions(m, work);
    carom_range *x = (carom_range *)(void *)(q_off + m->nq + seen(m));
    const int named = m->tape->group[GROUP_FORCE].count, *place = places(m, GROUP_FORCE);
    positions_off(m, t_1 - t_0, v_0, v_1, v_off, q_off);
    x[0] = carom_range_along(t_0, t_1, 0);
    inputs(m, work, m->force_part, (side[]){{q_0, v_0}, {q_1, v_1}, {q_off, v_off}}, q_off + m->nq, x);
    carom_tape_range(m->tape, m->force_part, work, x);
    for (int i = 0; i < m->nv; ++i) {
        const carom_range *f = i < named ? &x[place[i]] : NULL;
        // bodies that no expression names have no such forces
        mid[i] = f ? f->mid : 0, slope[i] = f ? f->slope : 0, off[i] = f ? (f->jumps ? HUGE_VAL : f->off) : 0;
    }
    return CAROM_OK;
}
