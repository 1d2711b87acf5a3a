// settle.c: `settle: yes`: bodies whose shapes overlap at the start are moved apart.
//
// Sweeps over the contacts that overlap: the two bodies of each move along its normal, without turning, the lighter one more, until the gap is open.
// (SET-1)  d = max(0, s - g - n.(x_A - x_B)),  x_A += n d w_A/(w_A + w_B),  x_B -= n d w_B/(w_A + w_B),  w = 1/m, s a small gap
#include "derive/shapes/solids.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct overlap { int id; const body *A, *B; carom_touch touch; double gap; } overlap;

typedef struct settling {
    carom_model *m;
    void *work;
    double *q, *shift;  // nq; 3 nbodies: of this round
    overlap *list;
    int n, room;
    double deepest;
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
    *o = (overlap){.id = id, .A = p->A->body, .B = p->B->body, .gap = gap};
    if (carom_model_touch(s->m, s->work, 0, s->q, id, &o->touch)) ++s->n;
    return true;
}

// Contacts that overlap at q, and the deepest of them.
static carom_status look(settling *s, carom_error *err) {
    carom_model *m = s->m;
    near_look x = {0};
    bool good = true;
    s->n = 0;
    s->deepest = 0;
    if (m->near) CAROM_TRY(carom_near_open(m, s->work, s->q, &x, err));
    else x.gap = calloc((size_t)(m->ne + m->nc) + 1, sizeof *x.gap);
    if (!x.gap) return carom_fail(err, CAROM_NO_MEMORY, "no memory for the model %.200s", m->file);
    carom_pairs_own_gaps(m, s->work, 0, s->q, x.gap);
    const int first = m->npairs ? m->pairs[0].first : m->ne + m->nc;
    for (int id = first; id < m->ne + m->nc + x.list.used && good; ++id) {
        const bool listed = id >= m->ne + m->nc;
        if (!(x.gap[id] < 0)) continue;
        const pair *p = listed ? carom_near_pair(m, s->work, id) : &m->pairs[m->pair_of[id - first]];
        if (p) good = add(s, p, id, x.gap[id]);
        if (-x.gap[id] <= s->deepest) continue;
        s->deepest = -x.gap[id];
        if (listed) carom_near_slot_name(m, &x, id - m->ne - m->nc, s->who, sizeof s->who);
        else snprintf(s->who, sizeof s->who, "%.60s-%.60s", p->A->name, p->B->name);
    }
    carom_near_close(m, s->work, &x);
    return good ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "no memory for the model %.200s", m->file);
}

static double lightness(const body *b) { return b->v >= 0 && b->mass > 0 ? 1 / b->mass : 0; }

// (SET-1)
static void push(settling *s, const overlap *o, double margin) {
    const body *first = s->m->bodies;
    double *a = s->shift + 3 * (o->A - first), *b = s->shift + 3 * (o->B - first), d = margin - o->gap;
    const double wa = lightness(o->A), wb = lightness(o->B);
    for (int i = 0; i < 3; ++i) d -= o->touch.normal[i] * (a[i] - b[i]);
    if (!(d > 0) || !(wa + wb > 0)) return;
    for (int i = 0; i < 3; ++i) {
        a[i] += o->touch.normal[i] * d * wa / (wa + wb);
        b[i] -= o->touch.normal[i] * d * wb / (wa + wb);
    }
}

static void move(settling *s) {
    for (int k = 0; k < s->m->nbodies; ++k) {
        const body *b = &s->m->bodies[k];
        const int n = b->space == SPATIAL ? 3 : 2;
        for (int i = 0; i < n && b->v >= 0; ++i) s->q[b->turn - n + i] += s->shift[3 * k + i];
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
        for (int i = 0; i < n && b->v >= 0; ++i) sum += pow(s->q[b->turn - n + i] - s->m->q0[b->turn - n + i], 2);
        count += sum > 0;
        if (sqrt(sum) > *farthest) *farthest = sqrt(sum), *who = b->name;
    }
    return count;
}

static carom_status settle(settling *s, carom_error *err) {
    enum { ROUNDS = 2000, SWEEPS = 4 };
    static const double MARGIN = 1e-6; // of the deepest overlap
    carom_model *m = s->m;
    memcpy(s->q, m->q0, (size_t)m->nq * sizeof *s->q);
    CAROM_TRY(look(s, err));
    if (s->n == 0) return CAROM_OK;
    const double start = s->deepest;
    char who[sizeof s->who];
    memcpy(who, s->who, sizeof who);
    int round = 0;
    for (; s->n > 0 && round < ROUNDS; ++round) {
        memset(s->shift, 0, 3 * (size_t)m->nbodies * sizeof *s->shift);
        for (int k = 0; k < SWEEPS; ++k)
            for (int i = 0; i < s->n; ++i) push(s, &s->list[k % 2 ? s->n - 1 - i : i], MARGIN * start);
        move(s);
        CAROM_TRY(look(s, err));
    }
    if (s->n > 0)
        return carom_model_fault(m, err, carom_mech_start(m->mech), "settle: '%s' still overlap by %.3g after %d rounds (%.3g at the start); there is not enough room: make more of it, or use smaller shapes", s->who,
                                 s->deepest, ROUNDS, start);
    double farthest;
    const char *body = "";
    const int count = moved(s, &farthest, &body);
    snprintf(m->settled, sizeof m->settled, "settle: the deepest overlap was %.3g, of '%.140s'; %d %s moved, '%.60s' farthest, by %.3g", start, who, count, count == 1 ? "body was" : "bodies were", body, farthest);
    memcpy(m->q0, s->q, (size_t)m->nq * sizeof *s->q);
    return CAROM_OK;
}

carom_status carom_model_settle(carom_model *m, void *work, carom_error *err) {
    if (m->npairs == 0 && !m->near) return CAROM_OK;
    if (m->ne > 0) return carom_model_fault(m, err, carom_mech_start(m->mech), "settle moves bodies one by one, and this model has joints or constraints; move the bodies that overlap by hand");
    settling s = {.m = m, .work = work, .q = calloc((size_t)m->nq + 1, sizeof *s.q), .shift = calloc(3 * (size_t)m->nbodies, sizeof *s.shift)};
    const carom_status status = s.q && s.shift ? settle(&s, err) : carom_fail(err, CAROM_NO_MEMORY, "no memory for the model %.200s", m->file);
    free(s.q), free(s.shift), free(s.list);
    return status;
}
