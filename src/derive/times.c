// times.c: the times at which a model jumps or has a kink whatever its state is, and functions of time that may have
// short pulses, as written in its expressions.
#include "derive/resolver.h"
#include "expr/parts.h"
#include "model/forcing.h"
#include <stdlib.h>
#include <string.h>

// Knots of tables in time: kinks that time passes.
static carom_status with_knots(carom_model *m, carom_node **list, int *n) {
    carom_graph *g = m->graph;
    carom_node *all = realloc(*list, ((size_t)*n + (size_t)m->nkinks + 1) * sizeof *all);
    if (!all) return CAROM_NO_MEMORY;
    *list = all;
    for (int i = 0; i < m->nkinks; ++i) {
        const carom_node k = m->kink[i];
        if (!carom_graph_depends(g, k, CAROM_TIME, 0) || carom_graph_depends(g, k, CAROM_POSITION, -1) ||
            carom_graph_depends(g, k, CAROM_VELOCITY, -1))
            continue;
        all[*n] = carom_graph_apply(g, CAROM_OP_SIGN, k, CAROM_NONE, CAROM_NONE);
        bool known = false;
        for (int j = 0; j < *n; ++j) known = known || all[j] == all[*n];
        *n += !known;
    }
    return carom_graph_failed(g) ? CAROM_NO_MEMORY : CAROM_OK;
}

static carom_status compile(carom_model *m, const carom_node *switches, const carom_node *pulses, carom_error *err) {
    const carom_group group[] = {{.count = m->times.nswitches, .nodes = switches},
                                 {.count = m->times.npulses, .nodes = pulses}};
    m->times.tape = carom_tape_compile(m->graph, group, 2, 0, 0, m->np, err);
    for (int k = 0; m->times.tape && k < 2; ++k) {
        const int *place = carom_tape_places(m->times.tape, k);
        m->times.part[k] = carom_tape_part_of_each(m->times.tape, place, group[k].count);
    }
    return m->times.part[0] && m->times.part[1] ? CAROM_OK : CAROM_NO_MEMORY;
}

carom_status carom_times_make(carom_model *m, carom_error *err) {
    carom_node *root = NULL, *switches = NULL, *pulses = NULL;
    const int roots = carom_model_roots(m, true, &root);
    carom_status status = roots < 0 ? CAROM_NO_MEMORY : CAROM_OK;
    if (status == CAROM_OK)
        m->times.nswitches = carom_graph_switches(m->graph, roots, root, &switches),
        m->times.npulses = carom_graph_pulses(m->graph, roots, root, &pulses);
    if (m->times.nswitches < 0 || m->times.npulses < 0) status = CAROM_NO_MEMORY;
    if (status == CAROM_OK) status = with_knots(m, &switches, &m->times.nswitches);
    if (status == CAROM_OK && m->times.nswitches > 0) {
        m->times.node = carom_pool_take(&m->memory, (size_t)m->times.nswitches * sizeof *m->times.node);
        if (m->times.node) memcpy(m->times.node, switches, (size_t)m->times.nswitches * sizeof *switches);
        else status = CAROM_NO_MEMORY;
    }
    if (status == CAROM_OK && m->times.nswitches + m->times.npulses > 0) status = compile(m, switches, pulses, err);
    free(root);
    free(switches);
    free(pulses);
    return status == CAROM_OK ? CAROM_OK : carom_model_no_memory(m, err);
}
