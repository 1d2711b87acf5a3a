// yielding.c: contacts of finite stiffness among pairs that come and go: forces, which derive/soft.c writes down where
// pairs are few.
//
//     d = max(0, -g),   V = k/(n + 1) d^(n+1),   F_N = k d^n max(0, 1 - c u_N)                                 (CC-1)
//     F_T = -mu F_N u_T/sqrt(|u_T|^2 + v_s^2),   f = W F                                                       (CC-2)
//
// To schemes these contacts are never closed.
#include "model/pairs.h"
#include <math.h>

// contacts of a pair: each corner of two polygons on the other; of space
enum { MOST = 2 * MOST_CORNERS + 3, DIRECTIONS = 3 };

/// One contact that presses.
typedef struct pressing {
    const pair *p;
    const yielding *law;
    const double *W;        // of its kind
    int part, d, n;         // its number, first direction, and how many it has
    double depth, w[DIRECTIONS], u[DIRECTIONS];
} pressing;

typedef void visit(const carom_model *m, const pressing *x, void *to);

static const carom_model *two_of(const carom_model *m, const pressing *x) { return m->kinds[x->p->kind].two; }

// u = W'v + w of a contact
static void move(const carom_model *m, pressing *x, const double *v, const double *s) {
    const pair_kind *k = &m->kinds[x->p->kind];
    for (int i = 0; i < x->n; ++i) {
        x->w[i] = x->u[i] = i && s ? carom_belt_along(k->two, x->p, x->d + i, x->W, s) : 0;
        for (int e = k->two->place.W[x->d + i]; e < k->two->place.W[x->d + i + 1]; ++e)
            x->u[i] += x->W[e] * v[carom_kind_velocity(k, x->p, k->two->W.i[e])];
    }
}

// Can contacts press?  Most models have none, and are asked often.
static inline bool can_press(const carom_model *m) { return m->near && m->near->yields; }

// All contacts that press, one after the other.  Nonzero: one is not finite.
static int each(const carom_model *m, void *work, double t, const double *q, const double *v, visit *call, void *to) {
    const carom_list *list = can_press(m) ? carom_near_list(m, work) : NULL;
    double *W = carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv, gap[MOST], s[3];
    int bad = 0;
    if (list && v) carom_belts_at(m, work, t, q);
    for (int k = 0, n = list ? list->pairs : 0; k < n; ++k) {
        pressing x = {.p = carom_near_at(list, k), .W = W};
        if (!(x.law = x.p->soft) || carom_near_off(m, work, x.p)) continue;
        bool known = false, belt = false;
        bad |= carom_pair_eval(m, work, x.p, PAIR_GAPS, q, m->v0, gap);
        for (int i = 0; i < x.p->count; ++i) {
            if (!(gap[i] < 0)) continue;
            const constraint *c = &two_of(m, &x)->links[i];
            x.part = i, x.depth = -gap[i], x.d = c->dir, x.n = c->ndir;
            if (v && !known)
                bad |= carom_pair_eval(m, work, x.p, PAIR_DIRECTIONS, q, m->v0, W),
                    belt = carom_pair_belt(m, work, x.p, q, NULL, s, NULL), known = true;
            if (v) move(m, &x, v, belt ? s : NULL);
            call(m, &x, to);
        }
    }
    return bad;
}

// Forces along the directions of a contact whose rates are u; *elastic: what is derived from the potential.
static void press(const pressing *x, const double *u, double *F, double *elastic) {
    const yielding *l = x->law;
    *elastic = l->stiffness * pow(x->depth, l->exponent);
    F[0] = *elastic * fmax(0, 1 - l->damping * u[0]);
    double sum = l->speed * l->speed;
    for (int i = 1; i < x->n; ++i) sum += u[i] * u[i];
    for (int i = 1; i < x->n; ++i) F[i] = -l->friction * F[0] * u[i] / sqrt(sum);
}

static void add_force(const carom_model *m, const pressing *x, void *to) {
    const pair_kind *k = &m->kinds[x->p->kind];
    double F[DIRECTIONS], elastic, *f = to;
    press(x, x->u, F, &elastic);
    for (int i = 0; i < x->n; ++i)
        for (int e = k->two->place.W[x->d + i]; e < k->two->place.W[x->d + i + 1]; ++e)
            f[carom_kind_velocity(k, x->p, k->two->W.i[e])] += F[i] * x->W[e];
}

// Forces have kinks where contacts begin to press, and where they would begin to pull: g and 1 - c u_N.  Features of
// patches come and go by jumps, and have none.
int carom_soft_kinks(const carom_model *m, void *work, const double *q, const double *v, double *k) {
    const carom_list *list = can_press(m) ? carom_near_list(m, work) : NULL;
    double *u = carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv, gap[MOST];
    int bad = 0;
    for (int i = 0, n = !can_press(m) ? 0 : list ? list->used : m->near->slots; i < SOFT_KINKS * n; ++i) k[i] = 1;
    for (int i = 0, n = list ? list->pairs : 0; i < n; ++i) {
        const pair *p = carom_near_at(list, i);
        if (!p->soft || m->kinds[p->kind].patch || carom_near_off(m, work, p)) continue;
        const constraint *c = m->kinds[p->kind].two->links;
        double *to = k + SOFT_KINKS * (p->first - m->ne - m->nc);
        bad |= carom_pair_eval(m, work, p, PAIR_GAPS, q, m->v0, gap);
        if (p->soft->damping > 0) bad |= carom_pair_eval(m, work, p, PAIR_RATES, q, v, u);
        for (int j = 0; j < p->count; ++j, to += SOFT_KINKS) {
            to[0] = gap[j];
            if (p->soft->damping > 0) to[1] = 1 - p->soft->damping * u[c[j].dir];
        }
    }
    return bad;
}

int carom_soft_force(const carom_model *m, void *work, double t, const double *q, const double *v, double *f) {
    return can_press(m) ? each(m, work, t, q, v, add_force, f) : 0;
}

void carom_soft_outputs(const carom_model *m, void *work, double t, const double *q, const double *v, double *out) {
    const struct near_pairs *near = m->near;
    double *W = carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv, gap[MOST], s[3], F[DIRECTIONS] = {0};
    pressing x = {.W = W};
    double g = 0;
    pair p;
    for (int i = 0; near && i < near->nsoft; ++i) {
        const soft_output *o = &near->soft[i];
        const near_named *of = &near->named[o->named];
        if (i == 0 || near->soft[i - 1].named != o->named) {
            p = near->pairs[*carom_near_kind_of(near, of->rule, near->group[of->a], near->group[of->b])];
            p.A = near->shape[of->a], p.B = near->shape[of->b];
            carom_pair_place(m, &p);
            x.p = &p, x.law = p.soft;
            const constraint *c = &two_of(m, &x)->links[of->part];
            int bad = carom_pair_eval(m, work, &p, PAIR_GAPS, q, m->v0, gap);
            bad |= carom_pair_eval(m, work, &p, PAIR_DIRECTIONS, q, m->v0, W);
            g = bad ? NAN : gap[of->part];
            x.d = c->dir, x.n = c->ndir, x.depth = fmax(0, -g);
            carom_belts_at(m, work, t, q);
            move(m, &x, v, carom_pair_belt(m, work, &p, q, NULL, s, NULL) ? s : NULL);
            double elastic;
            press(&x, x.u, F, &elastic);
            for (int k = 0; k < x.n && carom_near_off(m, work, &p); ++k) F[k] = 0;
        }
        const double scale = o->tangent ? x.law->factor[o->tangent - 1] : 1,
                     value[] = {g, x.u[0], F[0], x.u[o->tangent] / scale, scale * F[o->tangent]};
        out[near->soft_from + i] = value[o->part];
    }
}

static void add_energy(const carom_model *m, const pressing *x, void *to) {
    (void)m;
    *(double *)to += x->law->stiffness / (x->law->exponent + 1) * pow(x->depth, x->law->exponent + 1);
}

void carom_soft_energy(const carom_model *m, void *work, const double *q, double *energy) {
    if (can_press(m)) each(m, work, 0, q, NULL, add_energy, energy);
}

// Forces without a potential: surfaces that move with w give -F w, damping and friction take -F u.
static void add_power(const carom_model *m, const pressing *x, void *to) {
    double F[DIRECTIONS], elastic, *power = to;
    (void)m;
    press(x, x->u, F, &elastic);
    F[0] -= elastic;
    for (int i = 0; i < x->n; ++i) {
        power[0] -= F[i] * x->w[i];
        power[1] -= F[i] * x->u[i];
    }
}

void carom_soft_power(const carom_model *m, void *work, double t, const double *q, const double *v, double *external,
                      double *damping) {
    double power[2] = {0};
    if (can_press(m)) each(m, work, t, q, v, add_power, power);
    *external += power[0];
    *damping += power[1];
}

typedef struct deepest { double *most; const pair *p; int part; } deepest;

static void look_deeper(const carom_model *m, const pressing *x, void *to) {
    deepest *d = to;
    (void)m;
    if (x->depth > *d->most) *d->most = x->depth, d->p = x->p, d->part = x->part;
}

void carom_soft_deepest(const carom_model *m, void *work, const double *q, double *most, long long *which) {
    deepest d = {.most = most};
    if (!can_press(m)) return;
    each(m, work, 0, q, NULL, look_deeper, &d);
    if (!d.p) return;
    int a = 0, b = 0;
    while (m->near->shape[a] != d.p->A) ++a;
    while (m->near->shape[b] != d.p->B) ++b;
    *which = m->ncompliant + carom_near_pair_number(m, a, b, d.p->entry_number, d.part);
}

/// Where power goes that is asked in parts.
typedef struct parts { double weight, *external, *damping; int constant; } parts;

// The same along any velocity x, with u = W'x + w: external -F w, damping -F w - F W'x.
static void add_along(const carom_model *m, const pressing *x, void *to) {
    const pair_kind *k = &m->kinds[x->p->kind];
    const parts *s = to;
    double F[DIRECTIONS], elastic;
    press(x, x->u, F, &elastic);
    F[0] -= elastic;
    for (int i = 0; i < x->n; ++i) {
        s->external[s->constant] -= s->weight * F[i] * x->w[i];
        s->damping[s->constant] -= s->weight * F[i] * x->w[i];
        for (int e = k->two->place.W[x->d + i]; e < k->two->place.W[x->d + i + 1]; ++e)
            s->damping[carom_kind_velocity(k, x->p, k->two->W.i[e])] -= s->weight * F[i] * x->W[e];
    }
}

void carom_soft_along(const carom_model *m, void *work, double t, const double *q, const double *v, double weight,
                      double *external, double *damping) {
    each(m, work, t, q, v, add_along, &(parts){weight, external, damping, m->sys.nv});
}

/// Where K and C go; the derivatives dW of a pair's directions, along velocities v, of the pair `of`.
typedef struct tangents {
    carom_matrix K, C;
    void *work;
    const double *q, *v;
    double *dW;
    const pair *of;
    int bad;
} tangents;

// In a world there is no room for what couples two bodies, and Newton's method does without.
static void put(const carom_model *m, const pressing *x, carom_matrix A, int i, int l, double a) {
    const pair_kind *k = &m->kinds[x->p->kind];
    if (!m->near->couples && (i < k->nv[0]) != (l < k->nv[0])) return;
    A.a[carom_model_place(A.shape, carom_kind_velocity(k, x->p, i), carom_kind_velocity(k, x->p, l))] += a;
}

// A += W_i a W_j'
static void add_product(const carom_model *m, const pressing *x, int i, int j, double a, carom_matrix A) {
    const carom_model *two = two_of(m, x);
    for (int e = two->place.W[x->d + i]; e < two->place.W[x->d + i + 1]; ++e)
        for (int l = two->place.W[x->d + j]; l < two->place.W[x->d + j + 1]; ++l)
            put(m, x, A, two->W.i[e], two->W.i[l], a * x->W[e] * x->W[l]);
}

// What turning of the directions does: K -= F_i dW_i/dq + W_i a_i (du_j/dq)',  u_j' = d(W_j'v)/dq,  a_i = dF_i/du_j.
static void add_turning(const carom_model *m, const pressing *x, const tangents *t, int j, double F, const double *a) {
    const carom_model *two = two_of(m, x);
    const pair_kind *k = &m->kinds[x->p->kind];
    for (int e = two->place.dW[x->d + j]; e < two->place.dW[x->d + j + 1]; ++e) {
        const double by_v = t->dW[e] * t->v[carom_kind_velocity(k, x->p, two->dW.i[e])];
        put(m, x, t->K, two->dW.i[e], two->dW.l[e], -F * t->dW[e]);
        for (int i = 0; i < x->n; ++i)
            for (int r = two->place.W[x->d + i]; r < two->place.W[x->d + i + 1] && a[i] != 0; ++r)
                put(m, x, t->K, two->W.i[r], two->dW.l[e], -a[i] * x->W[r] * by_v);
    }
}

// (CC-3)  d' = -W_N', F = F(d, u):  K = W_i dF_i/dd W_N' - F_i dW_i/dq - W_i dF_i/du_j du_j/dq,
//         C = -W_i dF_i/du_j W_j',  dF_N/dd = n F_N/d,  dF_N/du_N = -c k d^n where F_N > 0,  dF_T = -mu u_T/s dF_N,
//         dF_T/du_T = -mu F_N (I/s - u_T u_T'/s^3),  s^2 = |u_T|^2 + v_s^2
static void add_tangent(const carom_model *m, const pressing *x, void *to) {
    const yielding *l = x->law;
    tangents *t = to;
    double F[DIRECTIONS], elastic, sum = l->speed * l->speed, part[DIRECTIONS] = {1};
    if (t->of != x->p) t->bad |= carom_pair_eval(m, t->work, t->of = x->p, PAIR_REACTION_GRADIENT, t->q, m->v0, t->dW);
    press(x, x->u, F, &elastic);
    for (int i = 1; i < x->n; ++i) sum += x->u[i] * x->u[i];
    const double s = sqrt(sum);
    for (int i = 1; i < x->n; ++i) part[i] = -l->friction * x->u[i] / s;
    for (int i = 0; i < x->n; ++i) add_product(m, x, i, 0, part[i] * l->exponent * F[0] / x->depth, t->K);
    for (int j = 0; j < x->n; ++j) {
        double a[DIRECTIONS] = {0};
        for (int i = j ? 1 : 0; i < x->n; ++i)
            a[i] = j ? -l->friction * F[0] * ((i == j) - x->u[i] * x->u[j] / sum) / s
                     : F[0] > 0 ? -part[i] * l->damping * elastic : 0;
        for (int i = 0; i < x->n; ++i)
            if (a[i] != 0) add_product(m, x, i, j, -a[i], t->C);
        add_turning(m, x, t, j, F[j], a);
    }
}

int carom_soft_tangent(const carom_model *m, void *work, double t, const double *q, const double *v, carom_matrix K,
                       carom_matrix C) {
    tangents to = {.K = K, .C = C, .work = work, .q = q, .v = v};
    if (!can_press(m)) return 0;
    to.dW = carom_model_scratch(m, work) + m->scratch_count + 2 * m->nv + m->pair_count;
    return each(m, work, t, q, v, add_tangent, &to) | to.bad;
}
