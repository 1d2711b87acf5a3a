// times.c: the times at which a model jumps or has a kink whatever its state is, and functions of time that may have short pulses, as written in its expressions.
#include "derive/resolver.h"
#include "expr/parts.h"
#include <stdlib.h>
#include <string.h>

typedef struct roots {
    carom_node *node;
    int count;
} roots;

static void append(roots *x, const carom_node *node, int n) {
    if (n > 0) memcpy(x->node + x->count, node, (size_t)n * sizeof *node);
    x->count += n > 0 ? n : 0;
}

// All that moves the mechanism: energies, forces, constraints, friction, prescribed motions.  Outputs and checks do not.
static carom_status gather(const carom_model *m, roots *x) {
    const carom_node energy[2] = {m->kinetic, m->potential};
    const size_t room = 2 + (size_t)m->visible.nv + (size_t)m->nv + (size_t)(m->ne + m->nc) + (size_t)m->W.n + (size_t)m->w.n +
                        CAROM_FRICTION_LAW * (size_t)m->nrub + 13 * (size_t)m->nbodies;
    x->node = malloc(room * sizeof *x->node);
    if (!x->node) return CAROM_NO_MEMORY;
    append(x, energy, 2);
    append(x, m->f, m->visible.nv);
    for (int id = 0; id < m->ne + m->nc; ++id) append(x, &m->links[id].gap, 1);
    append(x, m->W.node, m->W.n);
    append(x, m->w.node, m->w.n);
    append(x, m->rub, CAROM_FRICTION_LAW * m->nrub);
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v >= 0) continue;
        append(x, b->r, 3);
        append(x, b->R, 9);
        append(x, &b->angle, 1);
    }
    return CAROM_OK;
}

// Knots of tables in time: kinks that time passes.
static carom_status with_knots(carom_model *m, carom_node **list, int *n) {
    carom_graph *g = m->graph;
    carom_node *all = realloc(*list, ((size_t)*n + (size_t)m->nkinks + 1) * sizeof *all);
    if (!all) return CAROM_NO_MEMORY;
    *list = all;
    for (int i = 0; i < m->nkinks; ++i) {
        const carom_node k = m->kink[i];
        if (!carom_graph_depends(g, k, CAROM_TIME, 0) || carom_graph_depends(g, k, CAROM_POSITION, -1) || carom_graph_depends(g, k, CAROM_VELOCITY, -1)) continue;
        all[*n] = carom_graph_apply(g, CAROM_OP_SIGN, k, CAROM_NONE, CAROM_NONE);
        bool known = false;
        for (int j = 0; j < *n; ++j) known = known || all[j] == all[*n];
        *n += !known;
    }
    return carom_graph_failed(g) ? CAROM_NO_MEMORY : CAROM_OK;
}

static carom_status compile(carom_model *m, const carom_node *switches, const carom_node *pulses, carom_error *err) {
    const carom_group group[] = {{.count = m->nswitches, .nodes = switches}, {.count = m->npulses, .nodes = pulses}};
    m->times_tape = carom_tape_compile(m->graph, group, 2, 0, 0, m->np, err);
    for (int k = 0; m->times_tape && k < 2; ++k) {
        const int *place = carom_tape_places(m->times_tape, k);
        m->times_part[k] = carom_tape_part_of_each(m->times_tape, place, group[k].count);
    }
    return m->times_part[0] && m->times_part[1] ? CAROM_OK : CAROM_NO_MEMORY;
}

carom_status carom_times_make(carom_model *m, carom_error *err) {
    roots x = {0};
    carom_node *switches = NULL, *pulses = NULL;
    carom_status status = gather(m, &x);
    if (status == CAROM_OK) m->nswitches = carom_graph_switches(m->graph, x.count, x.node, &switches), m->npulses = carom_graph_pulses(m->graph, x.count, x.node, &pulses);
    if (m->nswitches < 0 || m->npulses < 0) status = CAROM_NO_MEMORY;
    if (status == CAROM_OK) status = with_knots(m, &switches, &m->nswitches);
    if (status == CAROM_OK && m->nswitches + m->npulses > 0) status = compile(m, switches, pulses, err);
    free(x.node);
    free(switches);
    free(pulses);
    return status == CAROM_OK ? CAROM_OK : carom_model_no_memory(m, err);
}
