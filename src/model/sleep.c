// sleep.c: `sleep: V`: bodies that have touched each other and the ground for a while, all slower than V and without
// acceleration, fall asleep.
//
// Bodies that are near each other, directly or through others, sleep and wake together: so no body that is awake is
// near one that sleeps.  A body asleep has no velocity, no force and no contact; the simulation books the energy that
// it had.  Pairs of bodies asleep do not change and are not searched for: a body remembers its group, by the lowest
// number of a body in it.  It wakes, with all of its group, when a body that is awake comes near.
#include "model/pairs.h"
#include <math.h>

static const double AFTER = 0.5;   // seconds
static const double STEADY = 1e-2; // of V: a body that gains less in that time is in equilibrium

static int find_root(int *root, int k) {
    while (root[k] != k) k = root[k] = root[root[k]];
    return k;
}

// (SLP-1)  a = 12/T^3 (int v tau - T/2 int v): the slope of the line that fits v(tau) best, tau = 0 .. T since the body
//          is slow
static double slope(const double *sums, int i, int nv, double T) {
    return 12 / (T * T * T) * (sums[nv + i] - 0.5 * T * sums[i]);
}

// The integrals of a body that is slow go on; else they start anew.  v: what it had for `since` seconds, before which
// it was slow for `calm`.
static void integrate(double *sums, int at, int n, int nv, const double *v, double calm, double since) {
    for (int i = at; i < at + n; ++i) {
        sums[i] = calm < 0 ? 0 : sums[i] + since * v[i];
        sums[nv + i] = calm < 0 ? 0 : sums[nv + i] + since * (calm + 0.5 * since) * v[i];
    }
}

// How long each body has been slow, and at the end of that time steady.
static void count_calm(const carom_model *m, carom_list *list, double *calm, double t, double h, const double *v) {
    const struct near_pairs *x = m->near;
    const double since = fmin(t - list->sleep_timers[0], h); // 0: this time has been counted
    double *sums = list->sleep_timers + 1 + m->sys.nparts, a[6];
    list->sleep_timers[0] = t;
    for (int k = 0; k < m->nbodies; ++k) {
        const int part = x->part_of[k];
        calm[k] = part < 0 ? 0 : list->asleep[part] ? AFTER : list->sleep_timers[1 + part] + since;
    }
    for (int i = 0; i < x->nshapes; ++i) {
        const shape *s = x->shape[i];
        if (x->group[i] < 0 || carom_near_rests(m, list, s->body)) continue;
        const double arm = sqrt(s->at[0] * s->at[0] + s->at[1] * s->at[1] + s->at[2] * s->at[2]) + s->bound_radius;
        if (carom_body_speed(s->body, v, arm) >= x->sleep) calm[s->body - m->bodies] = 0;
    }
    for (int k = 0; k < m->nbodies; ++k) {
        const int part = x->part_of[k];
        if (part < 0 || list->asleep[part]) continue;
        integrate(sums, m->sys.part[part], m->sys.part[part + 1] - m->sys.part[part], m->nv, v,
                  calm[k] > 0 ? list->sleep_timers[1 + part] : -1, since);
    }
    for (int i = 0; i < x->nshapes; ++i) {
        const shape *s = x->shape[i];
        const int k = (int)(s->body - m->bodies), part = s->body->v < 0 ? -1 : x->part_of[k];
        if (x->group[i] < 0 || part < 0 || list->asleep[part] || calm[k] < AFTER) continue;
        const double arm = sqrt(s->at[0] * s->at[0] + s->at[1] * s->at[1] + s->at[2] * s->at[2]) + s->bound_radius;
        const int at = m->sys.part[part], n = m->sys.part[part + 1] - at;
        for (int j = 0; j < n; ++j) a[j] = slope(sums, at + j, m->nv, calm[k]);
        const body still = {.v = 0, .space = s->body->space};
        if (!(AFTER * carom_body_speed(&still, a, arm) <= STEADY * x->sleep))
            calm[k] = 0, integrate(sums, at, n, m->nv, v, -1, 0);
    }
}

// Groups, by root: bodies asleep stay in theirs, and those of pairs are in one.
static void unite(const carom_model *m, const carom_list *list, int *root, double *calm, const long long *found,
                  int n) {
    const struct near_pairs *x = m->near;
    double *least = calm + m->nbodies; // by root; -1: it touches nothing
    for (int k = 0; k < m->nbodies; ++k) {
        const int group = x->part_of[k] < 0 ? 0 : list->asleep[x->part_of[k]];
        root[k] = group ? group - 1 : k, least[k] = group ? AFTER : -1;
    }
    for (int i = 0; i < n; ++i) {
        const long long both = (found[i] - 1) / x->nrules;
        const int i_A = (int)(both / x->nshapes), i_B = (int)(both % x->nshapes);
        const body *A = x->shape[i_A]->body, *B = x->shape[i_B]->body;
        if (x->belt[i_A] >= 0 || x->belt[i_B] >= 0) calm[A - m->bodies] = 0; // a conveyor may start at any time
        const int a = find_root(root, (int)(A - m->bodies)), b = B->v >= 0 ? find_root(root, (int)(B - m->bodies)) : a;
        root[a < b ? b : a] = a < b ? a : b;
        least[a] = least[b] = AFTER;
    }
    for (int k = 0; k < m->nbodies; ++k) {
        const int r = find_root(root, k);
        if (m->bodies[k].v >= 0 && least[k] >= 0) least[r] = fmin(least[r], calm[k]);
    }
}

bool carom_near_sleep(const carom_model *m, carom_list *list, int *root, double *calm, long long *found, int *n,
                      double t, double h, const double *v) {
    const struct near_pairs *x = m->near;
    const double *least = calm + m->nbodies;
    int kept = 0;
    bool woke = false;
    count_calm(m, list, calm, t, h, v);
    unite(m, list, root, calm, found, *n);
    for (int k = 0; k < m->nbodies; ++k) {
        const int part = x->part_of[k], r = find_root(root, k);
        if (part < 0) continue;
        const bool wakes = list->asleep[part] && least[r] < AFTER;
        list->asleep[part] = least[r] >= AFTER ? 1 + r : 0;
        list->sleep_timers[1 + part] = wakes ? 0 : calm[k];
        woke |= wakes;
    }
    for (int i = 0; i < *n; ++i)
        if (!carom_near_rests(m, list, x->shape[(found[i] - 1) / x->nrules / x->nshapes]->body))
            found[kept++] = found[i];
    *n = kept;
    return woke;
}

void carom_near_still(const carom_model *m, const void *work, double *f) {
    const carom_list *list = carom_near_list(m, work);
    for (int i = 0; list && list->asleep && i < m->sys.nparts; ++i)
        if (list->asleep[i]) carom_zero(f + m->sys.part[i], m->sys.part[i + 1] - m->sys.part[i]);
}
