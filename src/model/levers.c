// levers.c: lengths by which angles count in the size of a state, carom_system.lever.
//
//     lever = sqrt(M_ii/m)                                                                     (LV-1)
//
// with the mass M of the angle at the start: of a body, m is its mass; of a flexible member, the mean of M over its
// displacements; of a coordinate of which the model takes a sine or cosine, the mean over the other coordinates, or
// where there are none over bodies.  What is no angle, or nothing is known of, counts as a length.
#include "expr/graph.h"
#include "linalg/dense.h"
#include "linalg/matrix.h"
#include "model/model.h"
#include <carom/arena.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct mean { double sum; int n; } mean;

static void count(mean *x, double m) {
    if (m > 0 && m < HUGE_VAL) x->sum += m, x->n += 1;
}

static double lever(double M, mean of) {
    const double x = of.n ? sqrt(M / (of.sum / of.n)) : 1;
    return !(x > 0 && x < HUGE_VAL) ? 1 : x == 1 && of.n ? 1 + DBL_EPSILON : x; // 1 itself is for lengths (LV-3)
}

static mean of_body(const carom_model *m, const double *M, double *to) {
    mean all = {0};
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        const int lengths = b->space == SPATIAL ? 3 : 2, angles = b->space == SPATIAL ? 3 : 1;
        if (b->v < 0) continue;
        mean own = {0};
        double most = 0, *q = to + m->nv + b->orientation;
        for (int k = 0; k < lengths; ++k) count(&own, M[b->v + k]);
        for (int k = 0; k < angles; ++k) most = fmax(most, to[b->v + lengths + k] = lever(M[b->v + lengths + k], own));
        for (int k = 0; k < (b->space == SPATIAL ? 4 : 1); ++k) q[k] = most;
        if (own.n) count(&all, own.sum / own.n);
    }
    for (int i = 0; i < m->njoints; ++i) { // angles that are counted
        const joint *j = &m->joints[i];
        if (j->at < 0 || !j->A || !j->B) continue; // gears are between joints
        const body *b = j->B->v >= 0 ? j->B : j->A;
        if (b->v >= 0) to[m->nv + j->at] = to[m->nv + b->orientation];
    }
    return all;
}

// "beam.angle3", "shaft.ry2"
static bool is_angle(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && (strncmp(dot + 1, "angle", 5) == 0 || (dot[1] == 'r' && dot[2] >= 'x' && dot[2] <= 'z'));
}

static void of_members(const carom_model *m, const double *M, double *to) {
    for (int i = 0; i < m->nmember; ++i) {
        const member *x = &m->members[i];
        mean own = {0};
        for (int k = 0; k < x->count; ++k)
            if (!is_angle(x->unknown_name + (size_t)k * x->stride)) count(&own, M[x->v + k]);
        for (int k = 0; k < x->count; ++k)
            if (is_angle(x->unknown_name + (size_t)k * x->stride))
                to[x->v + k] = to[m->nv + x->q + k] = lever(M[x->v + k], own);
    }
}

static void of_coordinates(const carom_model *m, const double *M, double *to, mean bodies) {
    const int n = m->first_pressed; // coordinates of the section come first
    mean lengths = {0};
    for (int i = 0; i < n; ++i)
        if (!carom_graph_turns(m->graph, i)) count(&lengths, M[i]);
    for (int i = 0; i < n; ++i)
        if (carom_graph_turns(m->graph, i)) to[i] = to[m->nv + i] = lever(M[i], lengths.n ? lengths : bodies);
}

carom_status carom_model_levers(carom_model *m, void *work, carom_error *err) {
    const size_t n = (size_t)m->nv + (size_t)m->nq;
    carom_arena mem = {0};
    (void)carom_allocate_matrix(&mem, m->sys.mass_shape);
    const size_t size = (mem.used + 63) & ~(size_t)63;
    if (!m->lever) m->lever = carom_pool_take(&m->memory, (n + 1) * sizeof *m->lever);
    double *diagonal = calloc((size_t)m->nv + 1, sizeof *diagonal);
    mem = (carom_arena){.base = aligned_alloc(64, size ? size : 64), .size = size};
    const bool good = m->lever && diagonal && mem.base;
    if (good) {
        const carom_matrix M = carom_allocate_matrix(&mem, m->sys.mass_shape);
        for (size_t i = 0; i < n; ++i) m->lever[i] = 1;
        carom_matrix_zero(M);
        const bool known = m->sys.mass(m, work, 0, m->q0, M) == CAROM_OK;
        for (int i = 0; known && i < m->nv; ++i) diagonal[i] = *carom_matrix_entry(M, i, i);
        of_members(m, diagonal, m->lever);
        of_coordinates(m, diagonal, m->lever, of_body(m, diagonal, m->lever));
        for (int k = 0; k < m->state.n; ++k) { // (STA-2)  they count by their scales, their integrals hardly
            static const double HARDLY = 1e-12; // not 0: sizes are divided by levers
            m->lever[m->state.first + k] = 1 / m->state.scale[k];
            m->lever[m->nv + m->state.first + k] = HARDLY / m->state.scale[k];
        }
        m->sys.lever = m->lever;
    }
    free(diagonal);
    free(mem.base);
    return good ? CAROM_OK : carom_model_no_memory(m, err);
}
