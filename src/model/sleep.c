// sleep.c: `sleep: V`: bodies that have touched each other and the ground for a while, all slower than V, fall asleep.
//
// Bodies that are near each other, directly or through others, sleep and wake together: so no body that is awake is near one that sleeps.  A body asleep has no
// velocity, no force and no contact; the simulation books the energy that it had.  It wakes, with all its neighbours, when a body that is awake comes near.
#include "model/pairs.h"
#include <math.h>

static const double AFTER = 0.5; // seconds

static int find_root(int *root, int k) {
    while (root[k] != k) k = root[k] = root[root[k]];
    return k;
}

// How long each body has been slow.
static void count_calm(const carom_model *m, carom_list *list, double *calm, double t, double h, const double *v) {
    const struct near_pairs *x = m->near;
    const double since = fmin(t - list->calm[0], h); // 0: this time has been counted
    list->calm[0] = t;
    for (int k = 0; k < m->nbodies; ++k) {
        const int part = x->part_of[k];
        calm[k] = part < 0 ? 0 : list->asleep[part] ? AFTER : list->calm[1 + part] + since;
    }
    for (int i = 0; i < x->nshapes; ++i) {
        const shape *s = x->shape[i];
        if (x->group[i] >= 0 && carom_body_speed(s->body, v, sqrt(s->at[0] * s->at[0] + s->at[1] * s->at[1] + s->at[2] * s->at[2]) + s->bound_radius) >= x->sleep) calm[s->body - m->bodies] = 0;
    }
}

int carom_near_sleep(const carom_model *m, carom_list *list, int *root, double *calm, long long *found, int n, double t, double h, const double *v) {
    const struct near_pairs *x = m->near;
    int kept = 0;
    count_calm(m, list, calm, t, h, v);
    double *least = calm + m->nbodies; // by root; -1: it touches nothing
    for (int k = 0; k < m->nbodies; ++k) root[k] = k, least[k] = -1;
    for (int i = 0; i < n; ++i) {
        const long long both = (found[i] - 1) / x->nrules;
        const body *A = x->shape[both / x->nshapes]->body, *B = x->shape[both % x->nshapes]->body;
        const int a = find_root(root, (int)(A - m->bodies)), b = B->v >= 0 ? find_root(root, (int)(B - m->bodies)) : a;
        root[a < b ? b : a] = a < b ? a : b;
        least[a] = least[b] = AFTER;
    }
    for (int k = 0; k < m->nbodies; ++k) {
        const int r = find_root(root, k);
        if (m->bodies[k].v >= 0 && least[k] >= 0) least[r] = fmin(least[r], calm[k]);
    }
    for (int k = 0; k < m->nbodies; ++k) {
        const int part = x->part_of[k], r = find_root(root, k);
        if (part < 0) continue;
        const bool was = list->asleep[part];
        list->asleep[part] = least[r] >= AFTER;
        list->calm[1 + part] = was && !list->asleep[part] ? 0 : calm[k];
    }
    for (int i = 0; i < n; ++i) {
        const int part = x->part_of[x->shape[(found[i] - 1) / x->nrules / x->nshapes]->body - m->bodies];
        if (part < 0 || !list->asleep[part]) found[kept++] = found[i];
    }
    return kept;
}

void carom_near_still(const carom_model *m, const void *work, double *f) {
    const carom_list *list = carom_near_list(m, work);
    for (int i = 0; list && list->asleep && i < m->sys.nparts; ++i)
        if (list->asleep[i]) carom_zero(f + m->sys.part[i], m->sys.part[i + 1] - m->sys.part[i]);
}
