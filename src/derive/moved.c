// moved.c: what first-order states do to expressions (states.c makes them), and expressions at the start.
#include "derive/resolver.h"
#include "expr/expr.h"
#include "expr/graph.h"
#include <stdlib.h>
#include <string.h>

bool carom_depends_on_rates(const carom_model *m, carom_node x) {
    if (!carom_graph_depends(m->graph, x, CAROM_VELOCITY, -1)) return false;
    if (m->state.n == 0) return true;
    for (int i = 0; i < m->visible.nv; ++i)
        if (!carom_model_state(m, i) && carom_graph_depends(m->graph, x, CAROM_VELOCITY, i)) return true;
    return false;
}

carom_node carom_moved_by_states(const carom_model *m, carom_node x) {
    carom_graph *g = m->graph;
    carom_node sum = carom_graph_number(g, 0);
    for (int k = 0; k < m->state.n; ++k)
        if (carom_graph_depends(g, x, CAROM_VELOCITY, m->state.first + k))
            sum = n_add(g, sum,
                        n_mul(g, carom_node_derivative(g, x, CAROM_VELOCITY, m->state.first + k), m->state.rate[k]));
    return sum;
}

bool carom_values_at_start(const carom_model *m, const carom_node *x, int n, double *value) {
    const int nq = m->visible.nq, nv = m->visible.nv, np = m->np + m->friction.nreacting;
    const carom_group group = {.count = n, .nodes = x};
    carom_error err = {0};
    carom_tape *tape = carom_tape_compile(m->graph, &group, 1, nq, nv, np, &err);
    void *work = tape ? calloc(1, carom_tape_work_size(tape)) : NULL;
    // reactions and unknowns of members: 0
    double *given = calloc((size_t)np + (size_t)nq + (size_t)nv + 1, sizeof *given);
    const bool good = work && given;
    if (good) {
        double *q = given + np, *v = q + nq;
        memcpy(given, m->parameter, (size_t)m->np * sizeof *given);
        memcpy(q, m->q0, (size_t)m->visible.nq_own * sizeof *q);
        memcpy(v, m->v0, (size_t)m->visible.nv_own * sizeof *v);
        carom_tape_work_init(tape, work, given);
        carom_tape_eval(tape, work, 0, 0, q, v, value);
    }
    carom_tape_destroy(tape);
    free(work);
    free(given);
    return good;
}
