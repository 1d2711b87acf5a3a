// drawing.c: the shapes of a model at a state.
//
// The direction of a contact's force is found from J' f = W (J the derivative of its place p along velocities, W the
// contact's column) in the sense of least squares with the smallest f: f = (J J')^+ J W.  That is exact whenever the
// place belongs to the body that is pushed.
#include "derive/draw/draw.h"
#include "model/conditions.h"
#include "model/pairs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES, GRADIENTS, CONDITIONS, GROUPS };

struct carom_drawing {
    const carom_model *m;
    const struct drawn *d;
    carom_tape *tape;
    void *work;
    double *gradient; // J, W of every touch, in order
    double *visible;     // positions and velocities as the graph numbers them
    double *given;    // parameters and signals
    double *J, *W;    // of its place by component, one column; zeros between calls
    double *condition; // under which bodies are there
};

static carom_status compile(carom_drawing *x, carom_error *err) {
    const struct drawn *d = x->d;
    int n = 0;
    for (int i = 0; i < d->touches; ++i) n += d->touch[i].J.n + d->touch[i].W.n;
    carom_node *all = calloc((size_t)n + 1, sizeof *all);
    x->gradient = calloc((size_t)n + 1, sizeof *x->gradient);
    x->J = calloc(3 * (size_t)x->m->visible.nv + 1, sizeof *x->J);
    x->W = calloc((size_t)x->m->visible.nv + 1, sizeof *x->W);
    x->visible = calloc((size_t)x->m->visible.nq + (size_t)x->m->visible.nv + 1, sizeof *x->visible);
    x->given = calloc((size_t)x->m->np + 1, sizeof *x->given);
    x->condition = calloc((size_t)x->m->condition.n + 1, sizeof *x->condition);
    if (!all || !x->condition || !x->given || !x->visible || !x->gradient || !x->J || !x->W) {
        free(all);
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a drawing");
    }
    int k = 0;
    for (int i = 0; i < d->touches; ++i) {
        const terms *const both[2] = {&d->touch[i].J, &d->touch[i].W};
        for (int b = 0; b < 2; ++b)
            for (int e = 0; e < both[b]->n; ++e) all[k++] = both[b]->node[e];
    }
    const carom_group group[GROUPS] = {
        [VALUES] = {.count = d->values, .nodes = d->node},
        [GRADIENTS] = {.count = n, .nodes = all},
        [CONDITIONS] = {.count = x->m->condition.n, .nodes = x->m->signal.node + x->m->condition.first}};
    const bool all_named = x->m->nfree > 0; // free bodies are drawn by their own numbers
    x->tape = carom_tape_compile(x->m->graph, group, GROUPS, all_named ? x->m->nq : x->m->visible.nq,
                                 all_named ? x->m->nv : x->m->visible.nv, x->m->np, err);
    free(all);
    if (!x->tape) return CAROM_NO_MEMORY;
    const size_t size = (carom_tape_work_size(x->tape) + 63) & ~(size_t)63;
    x->work = aligned_alloc(64, size ? size : 64);
    if (!x->work) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a drawing");
    memset(x->work, 0, size);
    carom_copy(x->given, x->m->parameter, x->m->np);
    carom_tape_work_init(x->tape, x->work, x->given);
    return CAROM_OK;
}

carom_drawing *carom_drawing_create(const carom_model *m, carom_error *err) {
    if (!m) return carom_fail(err, CAROM_BAD_INPUT, "a drawing needs a model"), NULL;
    carom_drawing *x = calloc(1, sizeof *x);
    if (!x) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a drawing");
        return NULL;
    }
    x->m = m;
    x->d = carom_model_drawn(m, err);
    if (x->d && compile(x, err) == CAROM_OK) return x;
    carom_drawing_destroy(x);
    return NULL;
}

void carom_drawing_destroy(carom_drawing *x) {
    if (!x) return;
    if (x->tape) carom_tape_destroy(x->tape);
    free(x->work);
    free(x->gradient);
    free(x->visible);
    free(x->given);
    free(x->condition);
    free(x->J);
    free(x->W);
    free(x);
}

int carom_drawing_dim(const carom_drawing *x) { return x ? x->d->dim : 0; }

int carom_drawing_shapes(const carom_drawing *x) { return x ? x->d->count : 0; }

carom_drawn carom_drawing_shape(const carom_drawing *x, int i) {
    carom_drawn s = x ? x->d->shape[i] : (carom_drawn){0};
    if (s.id < -1) s.id = -1; // of a list: it has no id
    return s;
}

int carom_drawing_values(const carom_drawing *x) { return x ? x->d->values : 0; }

const char *carom_drawing_signal(const carom_drawing *x, int i) { return x ? carom_model_signal(x->m, i) : NULL; }

void carom_drawing_set_signal(carom_drawing *x, int i, double value) {
    if (!x) return;
    x->given[x->m->np_own + i] = value;
}

const char *carom_drawing_column(const carom_drawing *x, int i) { return x ? carom_draw_alias(x->m, i) : NULL; }

// -- directions of forces -----------------------------------------------------------------------------------

// Eigenvalues on the diagonal of A (symmetric 3 x 3, by Jacobi's rotations), eigenvectors in the columns of V.
static void jacobi(double A[3][3], double V[3][3]) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) V[i][j] = i == j;
    for (int sweep = 0; sweep < 12; ++sweep) {
        for (int p = 0; p < 2; ++p) {
            for (int q = p + 1; q < 3; ++q) {
                if (A[p][q] == 0) continue;
                const double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                const double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1),
                             s = t * c;
                for (int k = 0; k < 3; ++k) {
                    const double x = A[k][p], y = A[k][q];
                    A[k][p] = c * x - s * y;
                    A[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; ++k) {
                    const double x = A[p][k], y = A[q][k], u = V[k][p], w = V[k][q];
                    A[p][k] = c * x - s * y;
                    A[q][k] = s * x + c * y;
                    V[k][p] = c * u - s * w;
                    V[k][q] = s * u + c * w;
                }
            }
        }
    }
}

// f = (J J')^+ b for every direction of a touch; J and W are its entries.
static void solve(carom_drawing *x, const touch *t, const double *J, const double *W, double *directions) {
    const int dim = x->d->dim, nv = x->m->visible.nv;
    double A[3][3] = {{0}}, V[3][3], most = 0;
    for (int e = 0; e < t->J.n; ++e) x->J[t->J.i[e] * nv + t->J.j[e]] = J[e];
    for (int e = 0; e < t->J.n; ++e)
        for (int k = 0; k < dim; ++k) A[t->J.i[e]][k] += J[e] * x->J[k * nv + t->J.j[e]];
    for (int e = 0; e < t->J.n; ++e) x->J[t->J.i[e] * nv + t->J.j[e]] = 0;
    static const double STANDS = 1e-9; // of the largest: a direction in which the point does not move
    jacobi(A, V);
    for (int k = 0; k < 3; ++k) most = fmax(most, A[k][k]);
    for (int dir = 0; dir < t->directions; ++dir) {
        if (t->given[dir]) continue;
        double b[3] = {0}, f[3] = {0};
        for (int e = 0; e < t->W.n; ++e)
            if (t->W.i[e] == dir) x->W[t->W.j[e]] = W[e];
        for (int e = 0; e < t->J.n; ++e) b[t->J.i[e]] += J[e] * x->W[t->J.j[e]];
        for (int e = 0; e < t->W.n; ++e) x->W[t->W.j[e]] = 0;
        for (int k = 0; k < 3; ++k) {
            if (!(A[k][k] > STANDS * most)) continue;
            const double y = (V[0][k] * b[0] + V[1][k] * b[1] + V[2][k] * b[2]) / A[k][k];
            for (int i = 0; i < 3; ++i) f[i] += V[i][k] * y;
        }
        memcpy(directions + dir * dim, f, (size_t)dim * sizeof *f);
    }
}

// Is what it shows, a body or a contact, not there?
static bool is_off(const carom_drawing *x, const carom_drawn *s) {
    const carom_model *m = x->m;
    const near_named *listed = s->id < -1 ? &m->near->named[-2 - s->id] : NULL; // draw_shapes.c
    const int c = s->id - m->ne,
              body[CAROM_NEEDS] = {listed  ? m->near->shape[listed->a]->body->condition
                                   : s->of ? m->bodies[s->of].condition
                                           : 0,
                                   listed ? m->near->shape[listed->b]->body->condition : 0,
                                   listed ? m->near->rule[listed->rule].condition : 0},
              *needs = s->figure == CAROM_CONTACT_MARKER && c >= 0 && c < m->nc ? m->condition.system->needs[c] : body;
    for (int k = 0; k < CAROM_NEEDS; ++k)
        if (needs[k] > 0 && !(x->condition[needs[k] - 1] > 0)) return true;
    return false;
}

// Parts that are not there have no place.
static void leave_out(carom_drawing *x, double t, const double *q, const double *v, double *out) {
    const struct drawn *d = x->d;
    if (!x->m->condition.system) return;
    carom_tape_eval(x->tape, x->work, CONDITIONS, t, q, v, x->condition);
    for (int i = 0; i < d->count; ++i) {
        const carom_drawn *s = &d->shape[i];
        const int n = is_off(x, s) ? s->sizes + s->points * d->dim + s->rotation : 0;
        for (int k = 0; k < n; ++k) out[s->first + k] = NAN;
    }
}

void carom_drawing_eval(carom_drawing *x, double t, const double *q, const double *v, double *out) {
    if (!x || !q || !out) return;
    const struct drawn *d = x->d;
    if (x->m->signal.n) carom_tape_work_parameters(x->tape, x->work, x->given);
    if (x->m->nmember) {
        double *y = x->visible + x->m->visible.nq;
        carom_model_gather(x->m, q, v, x->visible, y);
        q = x->visible, v = y;
    }
    if (d->values) carom_tape_eval(x->tape, x->work, VALUES, t, q, v, out), leave_out(x, t, q, v, out);
    if (!d->touches) return;
    carom_tape_eval(x->tape, x->work, GRADIENTS, t, q, v, x->gradient);
    const double *at = x->gradient;
    for (int i = 0; i < d->touches; ++i) {
        const touch *c = &d->touch[i];
        solve(x, c, at, at + c->J.n, out + d->shape[c->shape].first + d->dim);
        at += c->J.n + c->W.n;
    }
}
