// bounds.c: what the gaps that are written as expressions may be on a piece of a motion.
//
// Work: bounds of positions, least and largest, then bounds of all that the tape computes.
#include "model/model.h"
#include <float.h>
#include <math.h>

static double *least_positions(const carom_model *m, void *work) { return (double *)(void *)((unsigned char *)work + m->bounds_work); }

size_t carom_bounds_work(carom_model *m, size_t from) {
    const size_t line = 63;
    m->bounds_work = (from + line) & ~line;
    return m->bounds_work + 2 * (size_t)m->nq * sizeof(double) + (size_t)carom_tape_range_size(m->tape) * sizeof(carom_range);
}

static void spread(double *low, double *high, const double *q_0, const double *q_1, int i, double beyond) {
    low[i] = fmin(q_0[i], q_1[i]) - beyond;
    high[i] = fmax(q_0[i], q_1[i]) + beyond;
}

static double fastest(const double *v_low, const double *v_high, int first) {
    double square = 0;
    for (int i = first; i < first + 3; ++i) {
        const double w = fmax(fabs(v_low[i]), fabs(v_high[i]));
        square += w * w;
    }
    return sqrt(square);
}

static double turning(const body *b, const double *v_low, const double *v_high) { return b->v < 0 ? 0 : fastest(v_low, v_high, b->v + 3); }

// (SC-8)  A position is not farther beyond its ends than d (max v - min v)/4; components of a quaternion than d |w|/4; angles of joints than d (|w_A| + |w_B|)/2.
static void box(const carom_model *m, double d, const double *q_0, const double *q_1, const double *v_low, const double *v_high, double *low, double *high) {
    const int nq = carom_model_named_q(m), nv = carom_model_named_v(m);
    for (int i = 0; i < m->nq; ++i) {
        const int k = i >= nq ? nv + i - nq : m->velocity_of[i];
        if (k >= 0) spread(low, high, q_0, q_1, i, 0.25 * d * (v_high[k] - v_low[k]));
    }
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v < 0 || b->space != SPATIAL) continue;
        for (int k = 0; k < 4; ++k) spread(low, high, q_0, q_1, b->turn + k, 0.25 * d * turning(b, v_low, v_high));
    }
    for (int i = 0; i < m->njoints; ++i) {
        const joint *j = &m->joints[i];
        if (j->at >= 0) spread(low, high, q_0, q_1, j->at, 0.5 * d * (turning(j->A, v_low, v_high) + turning(j->B, v_low, v_high)));
    }
}

carom_status carom_model_bounds(const void *model, void *work, double t_0, double t_1, const double *q_0, const double *q_1, const double *v_low,
                                const double *v_high, double *least, double *slowest, double *fastest) {
    static const int groups[] = {GROUP_GAPS, GROUP_RATES};
    const carom_model *m = model;
    const int *gap = carom_tape_places(m->tape, GROUP_GAPS), *rate = carom_tape_places(m->tape, GROUP_RATES);
    double *low = least_positions(m, work), *high = low + m->nq;
    carom_range *x = (carom_range *)(void *)(high + m->nq);
    box(m, t_1 - t_0, q_0, q_1, v_low, v_high, low, high);
    x[0] = (carom_range){t_0, t_1, false};
    const visible *s = &m->visible;
    const int more = m->nmember ? 1 + s->compiled : 0, nq = s->nq_own + more, nv = s->nv_own + more; // of the tape
    for (int side = 0; side < 2; ++side) {
        const double *q = side ? high : low, *v = side ? v_high : v_low;
        carom_model_look(m, work, &q, &v, false);
        for (int i = 0; i < nq + nv; ++i) {
            const double y = i < nq ? q[i] : v[i - nq];
            if (side) x[1 + i].high = y;
            else x[1 + i] = (carom_range){.low = y};
        }
    }
    carom_tape_range(m->tape, work, groups, 2, x);
    for (int c = 0; c < m->nc; ++c) {
        const int id = m->ne + c;
        if (id >= m->own.links) {
            least[c] = NAN;
            continue;
        }
        const carom_range g = x[gap[id]], u = x[rate[m->links[id].dir]];
        least[c] = g.low;
        slowest[c] = g.jumps ? -HUGE_VAL : u.low;
        fastest[c] = g.jumps ? HUGE_VAL : u.high;
    }
    return CAROM_OK;
}
