// moved.c: what first-order states do to expressions; states.c makes them.
#include "derive/resolver.h"
#include "expr/graph.h"

bool carom_depends_on_rates(const carom_model *m, carom_node x) {
    if (!carom_graph_depends(m->graph, x, CAROM_VELOCITY, -1)) return false;
    if (m->nstates == 0) return true;
    for (int i = 0; i < m->visible.nv; ++i)
        if (!carom_model_state(m, i) && carom_graph_depends(m->graph, x, CAROM_VELOCITY, i)) return true;
    return false;
}

carom_node carom_moved_by_states(const carom_model *m, carom_node x) {
    carom_graph *g = m->graph;
    carom_node sum = carom_graph_number(g, 0);
    for (int k = 0; k < m->nstates; ++k)
        if (carom_graph_depends(g, x, CAROM_VELOCITY, m->first_state + k))
            sum = n_add(g, sum,
                        n_mul(g, carom_node_derivative(g, x, CAROM_VELOCITY, m->first_state + k), m->state_rate[k]));
    return sum;
}
