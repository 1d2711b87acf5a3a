// settle.c: `settle: yes`: bodies whose shapes overlap at the start are moved apart.
//
// Rounds over the contacts that overlap: the shortest displacements x, by mass, that open them, without turning a body.
// (SET-1)  min sum m |x|^2  such that  d = s - g - n.(x_A - x_B) <= 0 at every contact, s a small gap
//          x_A = w_A sum n p,  x_B = -w_B sum n p,  w = 1/m;  0 <= p, d <= 0, p d = 0
// by projected gradients with Nesterov's acceleration: a row of n bodies takes of the order of n iterations.
#include "model/pairs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct overlap {
    const body *A, *B;
    carom_touch touch;
    double gap, step; // step: at most 1 over the row sum of the Delassus matrix
    double p, y;      // multiplier, and where the gradient is taken
} overlap;

typedef struct settling {
    carom_model *m;
    void *work;
    double *q, *shift;  // nq; 3 nbodies: of this round
    int *count;         // nbodies: overlaps of each
    overlap *list;
    int n, room, overlaps;
    double near, deepest; // contacts with a smaller gap are in the list: those that overlap, and those that others
                          // could be pushed into
    char who[140];      // the deepest
} settling;

static bool add(settling *s, const pair *p, int id, double gap) {
    if (s->n == s->room) {
        overlap *more = realloc(s->list, (size_t)(2 * s->room + 64) * sizeof *more);
        if (!more) return false;
        s->list = more;
        s->room = 2 * s->room + 64;
    }
    overlap *o = &s->list[s->n];
    *o = (overlap){.A = p->A->body, .B = p->B->body, .gap = gap};
    if (carom_model_touch(s->m, s->work, 0, s->q, id, &o->touch)) ++s->n;
    return true;
}

// Contacts that overlap at q or are near that, and the deepest of them.
static carom_status look(settling *s, carom_error *err) {
    carom_model *m = s->m;
    near_look x = {0};
    bool good = true;
    s->n = s->overlaps = 0;
    s->deepest = 0;
    if (m->near) CAROM_TRY(carom_near_open(m, s->work, s->q, 0, &x, err));
    else x.gap = calloc((size_t)(m->ne + m->nc) + 1, sizeof *x.gap);
    if (!x.gap) return carom_model_no_memory(m, err);
    carom_pairs_own_gaps(m, s->work, 0, s->q, x.gap);
    const int first = m->npairs ? m->pairs[0].first : m->ne + m->nc;
    for (int id = first; id < m->ne + m->nc + x.list.used && good; ++id) {
        const bool listed = id >= m->ne + m->nc;
        if (!(x.gap[id] < s->near)) continue;
        const pair *p = listed ? carom_near_pair(m, s->work, id) : &m->pairs[m->pair_of[id - first]];
        if (p) good = add(s, p, id, x.gap[id]);
        s->overlaps += x.gap[id] < 0;
        if (-x.gap[id] <= s->deepest) continue;
        s->deepest = -x.gap[id];
        if (listed) carom_near_slot_name(m, &x, id - m->ne - m->nc, s->who, sizeof s->who);
        else snprintf(s->who, sizeof s->who, "%.60s-%.60s", p->A->name, p->B->name);
    }
    carom_near_close(m, s->work, &x);
    return good ? CAROM_OK : carom_model_no_memory(m, err);
}

static double lightness(const body *b) { return b->v >= 0 && b->mass > 0 ? 1 / b->mass : 0; }

// x for the multipliers p, or y.
static void displace(settling *s, bool y) {
    memset(s->shift, 0, 3 * (size_t)s->m->nbodies * sizeof *s->shift);
    for (int k = 0; k < s->n; ++k) {
        const overlap *o = &s->list[k];
        double *a = s->shift + 3 * (o->A - s->m->bodies), *b = s->shift + 3 * (o->B - s->m->bodies);
        const double p = y ? o->y : o->p, wa = lightness(o->A) * p, wb = lightness(o->B) * p;
        for (int i = 0; i < 3; ++i) a[i] += o->touch.normal[i] * wa, b[i] -= o->touch.normal[i] * wb;
    }
}

// d of (SET-1)
static double lacks(const settling *s, const overlap *o, double margin) {
    const double *a = s->shift + 3 * (o->A - s->m->bodies), *b = s->shift + 3 * (o->B - s->m->bodies);
    double d = margin - o->gap;
    for (int i = 0; i < 3; ++i) d -= o->touch.normal[i] * (a[i] - b[i]);
    return d;
}

// One step for all contacts; does the acceleration still help?
static bool descend(settling *s, double margin, double momentum) {
    double back = 0;
    displace(s, true);
    for (int k = 0; k < s->n; ++k) {
        overlap *o = &s->list[k];
        const double next = fmax(0, o->y + o->step * lacks(s, o, margin)), change = next - o->p;
        if (o->step > 0) back += (o->y - next) * change / o->step;
        o->p = next;
        o->y = next + momentum * change;
    }
    return back <= 0;
}

// Every contact is open by half of the margin at least, or there were too many iterations.
static bool open_enough(settling *s, double margin) {
    displace(s, false);
    for (int k = 0; k < s->n; ++k)
        if (lacks(s, &s->list[k], margin) > margin / 2) return false;
    return true;
}

// (SET-1)  for one round
static void push_apart(settling *s, double margin) {
    enum { ITERATIONS = 4000, LOOK = 8 };
    memset(s->count, 0, (size_t)s->m->nbodies * sizeof *s->count);
    for (int k = 0; k < s->n; ++k) ++s->count[s->list[k].A - s->m->bodies], ++s->count[s->list[k].B - s->m->bodies];
    for (int k = 0; k < s->n; ++k) {
        overlap *o = &s->list[k];
        const double sum =
            lightness(o->A) * s->count[o->A - s->m->bodies] + lightness(o->B) * s->count[o->B - s->m->bodies];
        o->step = sum > 0 ? 1 / sum : 0;
    }
    double age = 1;
    for (int i = 0; i < ITERATIONS && !(i % LOOK == 1 && open_enough(s, margin)); ++i) {
        const double next = (1 + sqrt(1 + 4 * age * age)) / 2, momentum = (age - 1) / next;
        age = descend(s, margin, momentum) ? next : 1;
    }
    displace(s, false);
}

static void move(settling *s) {
    for (int k = 0; k < s->m->nbodies; ++k) {
        const body *b = &s->m->bodies[k];
        const int n = b->space == SPATIAL ? 3 : 2;
        for (int i = 0; i < n && b->v >= 0; ++i) s->q[b->orientation - n + i] += s->shift[3 * k + i];
    }
}

// How many bodies have moved, and how far the farthest.
static int moved(const settling *s, double *farthest, const char **who) {
    int count = 0;
    *farthest = 0;
    for (int k = 0; k < s->m->nbodies; ++k) {
        const body *b = &s->m->bodies[k];
        const int n = b->space == SPATIAL ? 3 : 2;
        double sum = 0;
        for (int i = 0; i < n && b->v >= 0; ++i)
            sum += pow(s->q[b->orientation - n + i] - s->m->q0[b->orientation - n + i], 2);
        count += sum > 0;
        if (sqrt(sum) > *farthest) *farthest = sqrt(sum), *who = b->name;
    }
    return count;
}

static carom_status settle(settling *s, carom_error *err) {
    enum { ROUNDS = 400, PATIENCE = 40 }; // chosen: passes over all overlaps; see below
    static const double MARGIN = 1e-6; // of the deepest overlap
    carom_model *m = s->m;
    memcpy(s->q, m->q0, (size_t)m->nq * sizeof *s->q);
    CAROM_TRY(look(s, err));
    if (s->overlaps == 0) return CAROM_OK;
    const double start = s->near = s->deepest;
    double least = start;
    char who[sizeof s->who];
    memcpy(who, s->who, sizeof who);
    int round = 0;
    // a fifth less within so many rounds, or it does not get better
    for (int since = 0; s->overlaps > 0 && round < ROUNDS && since < PATIENCE; ++round) {
        push_apart(s, MARGIN * start);
        move(s);
        CAROM_TRY(look(s, err));
        since = s->deepest < 0.8 * least ? 0 : since + 1;
        if (since == 0) least = s->deepest;
    }
    if (s->overlaps > 0)
        return carom_model_fault(m, err, carom_mech_start(m->mech),
                                 "settle: '%s' still overlap by %.3g after %d rounds (%.3g initially); there is not "
                                 "enough room: enlarge it, or use smaller shapes",
                                 s->who, s->deepest, round, start);
    double farthest;
    const char *body = "";
    const int count = moved(s, &farthest, &body);
    snprintf(m->settled, sizeof m->settled,
             "settle: the deepest overlap was %.3g, of '%.140s'; %d %s moved, '%.60s' farthest, by %.3g", start, who,
             count, count == 1 ? "body was" : "bodies were", body, farthest);
    memcpy(m->q0, s->q, (size_t)m->nq * sizeof *s->q);
    return CAROM_OK;
}

carom_status carom_model_settle(carom_model *m, void *work, carom_error *err) {
    if (m->npairs == 0 && !m->near) return CAROM_OK;
    if (m->ne > 0)
        return carom_model_fault(m, err, carom_mech_start(m->mech),
                                 "settle moves bodies one by one, and this model has joints or constraints; move the "
                                 "bodies that overlap by hand");
    settling s = {.m = m,
                  .work = work,
                  .q = calloc((size_t)m->nq + 1, sizeof *s.q),
                  .shift = calloc(3 * (size_t)m->nbodies, sizeof *s.shift),
                  .count = calloc((size_t)m->nbodies, sizeof *s.count)};
    const carom_status status = s.q && s.shift && s.count ? settle(&s, err) : carom_model_no_memory(m, err);
    free(s.q), free(s.shift), free(s.count), free(s.list);
    return status;
}
