// visible.c: between positions and velocities of a model and those that its expressions see.
#include "base/grow.h"
#include "flex/member.h"
#include "model/model.h"
#include <stdlib.h>

void carom_model_visible_own(carom_model *m, bool members) {
    m->visible = (visible){.nq = m->nq, .nv = m->nv, .nq_own = m->nq, .nv_own = m->nv};
    if (!members) return;
    const carom_node one = carom_graph_number(m->graph, 1);
    // energies: only variations move them
    carom_graph_course(m->graph, carom_graph_input(m->graph, CAROM_POSITION, m->nq), 1, &m->nv, &one);
    ++m->visible.nq, ++m->visible.nv;
}

int carom_model_see(carom_model *m, member *b, int i, carom_node *position, carom_node *velocity) {
    visible *s = &m->visible;
    carom_graph *g = m->graph;
    if (!b->visible[i]) {
        if (!CAROM_GROW(s->q, s->n) || !CAROM_GROW(s->v, s->n)) return -1;
        s->q[s->n] = b->q + i;
        s->v[s->n] = b->v + i;
        b->visible[i] = ++s->n;
        const carom_node one = carom_graph_number(g, 1);
        if (s->nq != s->nv) carom_graph_course(g, carom_graph_input(g, CAROM_POSITION, s->nq), 1, &s->nv, &one);
        ++s->nq, ++s->nv;
    }
    const int k = b->visible[i];
    *position = carom_graph_input(g, CAROM_POSITION, s->nq_own + k);
    *velocity = carom_graph_input(g, CAROM_VELOCITY, s->nv_own + k);
    return s->nv_own + k;
}

static void gather(const visible *s, int n, const double *q, const double *v, double *x, double *y) {
    carom_copy(x, q, s->nq_own);
    carom_copy(y, v, s->nv_own);
    x += s->nq_own, y += s->nv_own;
    *x++ = *y++ = 0; // energies
    for (int k = 0; k < n; ++k) {
        x[k] = q[s->q[k]];
        y[k] = v[s->v[k]];
    }
}

void carom_model_gather(const carom_model *m, const double *q, const double *v, double *x, double *y) {
    gather(&m->visible, m->visible.n, q, v, x, y);
}

void carom_model_look(const carom_model *m, void *work, const double **q, const double **v, bool energies) {
    const visible *s = &m->visible;
    if (m->nmember == 0) return;
    double *x = (double *)(void *)((unsigned char *)work + m->at.visible), *y = x + s->nq_own + 1 + s->compiled;
    gather(s, s->compiled, *q, *v, x, y);
    double *kinetic = y + s->nv_own, *potential = x + s->nq_own;
    for (int k = 0; energies && m->member_energies && k < m->nmember; ++k) {
        double T, V;
        const member *b = &m->members[k];
        carom_member_energy(b->flex, *q + b->q, *v + b->v, &T, &V);
        *potential += V;
        *kinetic += T;
    }
    *q = x;
    *v = y;
}

void carom_model_eval(const carom_model *m, void *work, int group, double t, const double *q, const double *v,
                      double *out) {
    carom_model_look(m, work, &q, &v, group == GROUP_OUTPUTS || group == GROUP_WATCH);
    carom_tape_eval(m->tape, work, group, t, q, v, out);
}

static void map(const carom_model *m, int *index, int n) {
    for (int e = 0; e < n; ++e) index[e] = carom_model_visible(m, index[e]);
}

void carom_model_renumber(carom_model *m) {
    if (m->nmember == 0) return;
    terms *const by_two[] = {&m->mass, &m->K, &m->C};
    for (int k = 0; k < 3; ++k) {
        map(m, by_two[k]->i, by_two[k]->n);
        map(m, by_two[k]->j, by_two[k]->n);
    }
    map(m, m->dM.i, m->dM.n);
    map(m, m->dM.j, m->dM.n);
    map(m, m->dM.l, m->dM.n);
    map(m, m->W.i, m->W.n);
    map(m, m->dW.i, m->dW.n);
    map(m, m->dW.l, m->dW.n);
    map(m, m->dw.j, m->dw.n);
    map(m, m->place.D_row, m->place.D[m->ndir]);
}

void carom_members_free(carom_model *m) {
    for (int k = 0; k < m->nmember; ++k) {
        carom_member_destroy(m->members[k].flex);
        free(m->members[k].visible);
        free(m->members[k].unknown_name);
    }
    free(m->visible.q);
    free(m->visible.v);
}
