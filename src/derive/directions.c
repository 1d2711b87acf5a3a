// directions.c: directions of constraints and contacts, and their derivatives (derive.c has the equations).
#include "derive/shapes/shapes.h"
#include "expr/graph.h"
#include <stdlib.h>

bool carom_node_zero(const carom_graph *g, carom_node x) {
    double value = 1;
    return carom_graph_is_number(g, x, &value) && value == 0;
}

// Derivative by an input; CAROM_POSITION: along velocity i.  Without walking the graph when there is no dependence.
carom_node carom_node_derivative(carom_graph *g, carom_node x, carom_input kind, int i) {
    if (kind == CAROM_POSITION)
        return carom_graph_moves(g, x, i) ? carom_graph_along(g, x, i) : carom_graph_number(g, 0);
    return carom_graph_depends(g, x, kind, i) ? carom_graph_diff(g, x, kind, i) : carom_graph_number(g, 0);
}

// Append d x/d input(kind, l), as carom_node_derivative() takes it, for all l where it is not zero; (i, j) are the
// subscripts of x, l the third (or second) one.
bool carom_terms_gradient(carom_model *m, terms *t, carom_node x, carom_input kind, int sign, int i, int j) {
    carom_graph *g = m->graph;
    if (!carom_graph_depends(g, x, kind, -1)) return true;
    int n, *way = carom_graph_ways(g, x, kind, &n);
    bool good = way != NULL;
    for (int k = 0; k < n && good; ++k) {
        const int l = way[k];
        carom_node d = carom_node_derivative(g, x, kind, l);
        if (carom_node_zero(g, d)) continue;
        if (sign < 0) d = carom_graph_apply(g, CAROM_OP_NEG, d, CAROM_NONE, CAROM_NONE);
        good = carom_terms_add(t, d, i, j < 0 ? l : j, j < 0 ? 0 : l);
    }
    free(way);
    return good;
}

// Rows of columns ascend as velocities, which need not be the order in which expressions see them.
static void by_velocity(const carom_model *m, int *way, int n) {
    for (int k = 1; k < n; ++k)
        for (int j = k; j > 0 && carom_model_visible(m, way[j - 1]) > carom_model_visible(m, way[j]); --j) {
            const int x = way[j];
            way[j] = way[j - 1], way[j - 1] = x;
        }
}

// Where lists of direction k start; it is what a pair of a kind has of them.
static void begin_direction(carom_model *m, int k) {
    m->place.W[k] = m->W.n;
    m->place.dW[k] = m->dW.n;
    m->place.dw[k] = m->dw.n;
    m->place.w[k] = -1;
}

// One local direction: its column of W, its w, and their derivatives.  (RT-1)  x is a rate: W its coefficients, w what
// it is at v = 0.
static bool derive_direction(carom_model *m, carom_node x, bool rate, int k, carom_node *kappa) {
    carom_graph *g = m->graph;
    const carom_input by = rate ? CAROM_VELOCITY : CAROM_POSITION;
    g->sided = true;
    carom_node u = rate ? carom_graph_at_rest(g, x) : carom_node_derivative(g, x, CAROM_TIME, 0);
    g->sided = false;
    begin_direction(m, k);
    if (!carom_node_zero(g, u)) m->place.w[k] = m->w.n;
    if (!carom_node_zero(g, u) && !carom_terms_add(&m->w, u, k, 0, 0)) return false;
    if (!carom_terms_gradient(m, &m->dw, u, CAROM_POSITION, 1, k, -1)) return false;
    int n, *way = carom_graph_ways(g, x, by, &n);
    bool good = way != NULL;
    by_velocity(m, way, n);
    for (int e = 0; e < n && good; ++e) {
        const carom_node c = carom_node_derivative(g, x, by, way[e]);
        if (carom_node_zero(g, c)) continue;
        good =
            carom_terms_add(&m->W, c, way[e], k, 0) && carom_terms_gradient(m, &m->dW, c, CAROM_POSITION, 1, way[e], k);
        u = n_add(g, u, n_mul(g, c, carom_graph_input(g, CAROM_VELOCITY, way[e])));
    }
    free(way);
    if (!good) return false;
    m->u[k] = u;
    *kappa = carom_graph_motion(g, u);
    return true;
}

// Rows in which d(W_k'v + w_k)/dq may differ from zero, by column, ascending.
static carom_status derive_pattern(carom_model *m, carom_error *err) {
    m->place.D = carom_pool_take(&m->memory, ((size_t)m->ndir + 1) * sizeof(int));
    m->place.D_row = carom_pool_take(&m->memory, ((size_t)m->dW.n + (size_t)m->dw.n + 1) * sizeof(int));
    int *visible = calloc((size_t)m->visible.nv + 1, sizeof *visible);
    if (!m->place.D || !m->place.D_row || !visible) {
        free(visible);
        return carom_model_no_memory(m, err);
    }
    int n = 0;
    for (int k = 0; k < m->ndir; ++k) {
        m->place.D[k] = n;
        for (int e = m->place.dW[k]; e < m->place.dW[k + 1]; ++e)
            if (visible[m->dW.l[e]] != k + 1) visible[m->dW.l[e]] = k + 1, m->place.D_row[n++] = m->dW.l[e];
        for (int e = m->place.dw[k]; e < m->place.dw[k + 1]; ++e)
            if (visible[m->dw.j[e]] != k + 1) visible[m->dw.j[e]] = k + 1, m->place.D_row[n++] = m->dw.j[e];
        by_velocity(m, m->place.D_row + m->place.D[k], n - m->place.D[k]);
    }
    m->place.D[m->ndir] = n;
    free(visible);
    return CAROM_OK;
}

carom_status carom_model_derive_directions(carom_model *m, carom_node **kappa, carom_error *err) {
    m->ndir = 0;
    for (int id = 0; id < m->ne + m->nc; ++id) {
        constraint *c = &m->links[id];
        c->dir = m->ndir;
        c->ndir = 1 + (id >= m->ne && m->contacts[id - m->ne].friction > 0 ? c->tangents : 0);
        m->ndir += c->ndir;
    }
    const size_t n = (size_t)m->ndir + 1;
    m->place.W = carom_pool_take(&m->memory, n * sizeof(int));
    m->place.dW = carom_pool_take(&m->memory, n * sizeof(int));
    m->place.dw = carom_pool_take(&m->memory, n * sizeof(int));
    m->place.w = carom_pool_take(&m->memory, n * sizeof(int));
    m->u = carom_pool_take(&m->memory, n * sizeof(carom_node));
    *kappa = carom_pool_take(&m->memory, n * sizeof(carom_node));
    if (!m->u || !m->place.W || !m->place.w || !m->place.dW || !m->place.dw || !*kappa)
        return carom_model_no_memory(m, err);
    for (int id = 0; id < m->ne + m->nc; ++id) {
        const constraint *c = &m->links[id];
        const bool elsewhere = carom_pair_shared(m, id) != NULL;
        for (int k = 0; k < c->ndir && elsewhere; ++k) begin_direction(m, c->dir + k);
        for (int k = 0; k < c->ndir && !elsewhere; ++k)
            if (!derive_direction(m, k ? c->slip[k - 1] : c->on_rates ? c->slip[0] : c->gap,
                                  k ? c->rate[k - 1] : c->on_rates, c->dir + k, &(*kappa)[c->dir + k]))
                return carom_model_no_memory(m, err);
    }
    m->place.W[m->ndir] = m->W.n;
    m->place.dW[m->ndir] = m->dW.n;
    m->place.dw[m->ndir] = m->dw.n;
    return derive_pattern(m, err);
}
