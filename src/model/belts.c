// belts.c: surfaces that move along their bodies (conveyors), of pairs that come and go.
//
// The tape of a kind knows the bodies alone.  What the surfaces add to the rate of a tangential direction is its part
// on the velocity of A, which is the direction t itself (SHP-9), times the velocity of one surface against the other:
//     u_T = W_T'v + w_T,   w_T = t . s,   s = R_A b_A - R_B b_B                                            (SHP-20)
#include "model/pairs.h"

static double *values(const carom_model *m, const void *work) {
    return (double *)(void *)((unsigned char *)work + m->near->belts_at);
}

void carom_belts_at(const carom_model *m, void *work, double t, const double *q) {
    if (m->near && m->near->nbelts) carom_model_eval(m, work, GROUP_BELTS, t, q, m->v0, values(m, work));
}

// s += sign R b,  rate += sign (R b' + w x R b)
static bool add(const carom_model *m, const void *work, const shape *of, double sign, const double *q, const double *v,
                double *s, double *rate) {
    const int k = m->near->belt[of - m->shapes];
    const body *b = of->body;
    double r[3], R[9], turns[3] = {0}, now[3];
    if (k < 0) return false;
    const double *belt = values(m, work) + 6 * (size_t)k, *u = v && b->v >= 0 ? v + b->v : NULL;
    carom_body_pose(b, q, r, R);
    for (int i = 0; i < 3; ++i) {
        now[i] = carom_dot(R + 3 * i, belt, 3);
        s[i] += sign * now[i];
        if (u) turns[i] = b->space == SPATIAL ? carom_dot(R + 3 * i, u + 3, 3) : i == 2 ? u[2] : 0;
    }
    for (int i = 0; i < 3 && v; ++i)
        rate[i] += sign * (carom_dot(R + 3 * i, belt + 3, 3) + turns[(i + 1) % 3] * now[(i + 2) % 3] -
                           turns[(i + 2) % 3] * now[(i + 1) % 3]);
    return true;
}

bool carom_pair_belt(const carom_model *m, const void *work, const pair *p, const double *q, const double *v, double *s,
                     double *rate) {
    if (!p->listed || !m->near->nbelts) return false;
    for (int i = 0; i < 3; ++i) s[i] = 0;
    for (int i = 0; i < 3 && v; ++i) rate[i] = 0;
    const bool A = add(m, work, p->A, 1, q, v, s, rate), B = add(m, work, p->B, -1, q, v, s, rate);
    return A || B;
}

double carom_belt_along(const carom_model *two, const pair *p, int d, const double *W, const double *s) {
    const int n = p->A->space == SPATIAL ? 3 : 2;
    double sum = 0;
    for (int e = two->place.W[d]; e < two->place.W[d + 1]; ++e) // A comes first
        if (two->W.i[e] < n) sum += W[e] * s[two->W.i[e]];
    return sum;
}

void carom_belt_rates(const carom_model *m, void *work, const pair *p, const double *q, double *u) {
    const carom_model *two = m->kinds[p->kind].two;
    double s[3], *W = u + two->ndir;
    if (!carom_pair_belt(m, work, p, q, NULL, s, NULL)) return;
    carom_pair_eval(m, work, p, PAIR_DIRECTIONS, q, m->v0, W);
    for (int i = 0; i < p->count; ++i)
        for (int k = 1; k < two->links[i].ndir; ++k)
            u[two->links[i].dir + k] += carom_belt_along(two, p, two->links[i].dir + k, W, s);
}
