// impulses.c: impulses of forces inside steps that a scheme has not evaluated.
//
// A scheme evaluates forces at a point or two of a step.  A barrier or a pulse may lie between, or be met at one point
// alone; the energy may come out right all the same, by chance.  Bounds of the forces along the motion show where there
// may be one, as where events are located (HF), and samples show its impulse.
#include "diagnosis/diagnosis.h"
#include "linalg/matrix.h"
#include "system/system.h"
#include <math.h>

enum {
    DEPTH = 24,    // halvings of a step
    LOOKS = 96,    // samples of a step
    FEW_LOOKS = 8, // once a run has taken more than ALWAYS, and more than OFTEN for each step: it then costs no
    OFTEN = 4,     // more than a few evaluations of a step
    ALWAYS = 1000
};
static const double SLIGHT = 1e-4, // of the largest momentum: smaller impulses count as none
    WIDE = 30,                     // times that: the width of bounds that the middle may explain,
    CURVED = 4;                    // by this multiple of its distance from a line

typedef struct place {
    double x, *q, *v, *f;
} place;

// The step of h from t_0 on, and scratch of nv each.
typedef struct motion {
    carom_sim *sim;
    double t_0, h, *mid, *slope, *off, *none, *sum, *v_off;
    long looks;
} motion;

size_t carom_diagnosis_impulses_size(const carom_system *sys) {
    const size_t nq = (size_t)sys->nq, nv = (size_t)sys->nv;
    return (DEPTH + 3) * (nq + 2 * nv) + 6 * nv;
}

static place place_of(const carom_sim *sim, int k, double x) {
    const int nq = sim->sys->nq, nv = sim->sys->nv;
    double *at = sim->unseen.scratch + (size_t)k * (size_t)(nq + 2 * nv);
    return (place){x, at, at + nq, at + nq + nv};
}

static motion motion_of(carom_sim *sim, double t_0) {
    motion p = {.sim = sim, .t_0 = t_0, .h = sim->kept->t - t_0};
    double *x = place_of(sim, DEPTH + 3, 0).q, **const to[] = {&p.mid, &p.slope, &p.off, &p.none, &p.sum, &p.v_off};
    for (int i = 0; i < 6; ++i) *to[i] = x + i * sim->sys->nv;
    p.looks = sim->kept->unseen.looks > ALWAYS + OFTEN * sim->kept->n ? FEW_LOOKS : LOOKS;
    return p;
}

// v_0 + x (v_1 - v_0), and the position that goes with it; what that misses q_1 by is spread over the step where
// positions are numbers, and left to its middle where they turn.
static void go(const motion *p, place *at) {
    const carom_sim *sim = p->sim;
    const double x = at->x, y = 1 - x;
    const bool turns = sim->sys->move, back = turns && x > 0.5;
    for (int i = 0; i < sim->sys->nv; ++i) {
        const double v_0 = sim->undo.v[i], dv = sim->v[i] - v_0;
        at->v[i] = v_0 + x * dv;
        sim->whole.v[i] = back ? 0.5 * y * y * dv - y * sim->v[i] : x * v_0 + 0.5 * x * x * dv;
        if (!turns) sim->whole.v[i] += x * ((sim->q[i] - sim->undo.q[i]) / p->h - v_0 - 0.5 * dv);
    }
    carom_move(&sim->step, at->q, back ? sim->q : sim->undo.q, p->h, sim->whole.v);
}

static carom_status look(const motion *p, const place *at) {
    return carom_force(&p->sim->step, at->f, p->t_0 + at->x * p->h, at->q, at->v);
}

static carom_status bounds(const motion *p, const place *A, const place *B) {
    const carom_system *sys = p->sim->sys;
    carom_zero(p->v_off, sys->nv);
    const double from = p->t_0 + A->x * p->h, to = p->t_0 + B->x * p->h;
    return sys->events->force_bounds(sys->model, p->sim->step.sys_work, from, to, A->q, B->q, A->v, B->v, p->v_off,
                                     p->mid, p->slope, p->off);
}

static bool flat(const motion *p) {
    for (int i = 0; i < p->sim->sys->nv; ++i)
        if (!(p->off[i] <= p->none[i])) return false;
    return true;
}

static bool explained(const motion *p, const place *A, const place *M, const place *B) {
    for (int i = 0; i < p->sim->sys->nv; ++i) {
        const double bent = CURVED * fabs(M->f[i] - 0.5 * (A->f[i] + B->f[i]));
        if (!(p->off[i] <= p->none[i] + fmin(bent, WIDE * p->none[i]))) return false;
    }
    return true;
}

// sum += integral of f over a piece of the step, by Simpson's rule over parts whose bounds their middle explains.
static carom_status integrate(motion *p, int depth, const place *A, const place *B) {
    place M = place_of(p->sim, depth + 2, 0.5 * (A->x + B->x));
    go(p, &M);
    CAROM_TRY(look(p, &M));
    p->looks -= 1;
    if (depth > 0) CAROM_TRY(bounds(p, A, B));
    if (depth < DEPTH && p->looks > 0 && !explained(p, A, &M, B)) {
        CAROM_TRY(integrate(p, depth + 1, A, &M));
        return integrate(p, depth + 1, &M, B);
    }
    for (int i = 0; i < p->sim->sys->nv; ++i) p->sum[i] += (B->x - A->x) * p->h / 6 * (A->f[i] + 4 * M.f[i] + B->f[i]);
    return CAROM_OK;
}

// Inertia of each rate by itself, in steps whose kinetic energy is looked at.
static carom_status weigh(carom_sim *sim) {
    const carom_system *sys = sim->sys;
    if (!carom_sim_sampled(sim->kept->n)) return CAROM_OK;
    carom_matrix_zero(sim->unseen.M);
    CAROM_TRY(sys->mass(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->unseen.M));
    for (int i = 0; i < sys->nv; ++i) sim->unseen.mass[i] = fabs(*carom_matrix_entry(sim->unseen.M, i, i));
    return CAROM_OK;
}

// slope = h^2/12 f', along the motion from a place on
static carom_status rates(const motion *p, const place *at, double *slope) {
    static const double SOON = 1e-6; // of a step
    const carom_sim *sim = p->sim;
    const int nv = sim->sys->nv;
    place next = place_of(sim, DEPTH + 2, at->x + SOON);
    for (int i = 0; i < nv; ++i) next.v[i] = at->v[i] + SOON * (sim->v[i] - sim->undo.v[i]);
    carom_move(&sim->step, next.q, at->q, SOON * p->h, at->v);
    CAROM_TRY(look(p, &next));
    for (int i = 0; i < nv; ++i) slope[i] = p->h / 12 * (next.f[i] - at->f[i]) / SOON;
    return CAROM_OK;
}

// (BK-10)  D = sum over steps of (integral of f along v_0 + x (v_1 - v_0)  -  h (f_0 + f_1)/2),  impulses that the
//          motion should have had, or  D + h^2/12 (f'_1 - f'(t_0)),  without what the trapezoidal rule leaves out of a
//          force that steps follow, which comes back.  They are worth  |D v| + sum D_i^2/(2 M_ii),  by the lesser of
//          both.
static carom_status add(carom_sim *sim, double t_0) {
    carom_kept *k = sim->kept;
    const int nv = sim->sys->nv;
    motion p = motion_of(sim, t_0);
    place A = place_of(sim, 0, 0), B = place_of(sim, 1, 1);
    CAROM_TRY(weigh(sim));
    if (!(p.h > 0) || sim->unbooked < HUGE_VAL || carom_sim_jump(sim, t_0, k->t) < HUGE_VAL) return CAROM_OK;
    carom_copy(A.q, sim->undo.q, sim->sys->nq), carom_copy(A.v, sim->undo.v, nv);
    carom_copy(B.q, sim->q, sim->sys->nq), carom_copy(B.v, sim->v, nv);
    CAROM_TRY(bounds(&p, &A, &B));
    for (int i = 0; i < nv; ++i) p.none[i] = SLIGHT * sqrt(2 * sim->unseen.mass[i] * k->explained) / p.h;
    if (flat(&p)) return CAROM_OK;
    const long looks = p.looks;
    CAROM_TRY(look(&p, &A));
    CAROM_TRY(look(&p, &B));
    carom_zero(p.sum, nv);
    CAROM_TRY(integrate(&p, 0, &A, &B));
    k->unseen.looks += looks - p.looks;
    carom_zero(p.off, nv);
    if (k->n == 1) CAROM_TRY(rates(&p, &A, p.off));
    CAROM_TRY(rates(&p, &B, p.slope));
    double power[2] = {0}, worth[2] = {0};
    for (int i = 0; i < nv; ++i) {
        const double v = fabs(sim->v[i]) > fabs(sim->undo.v[i]) ? sim->v[i] : sim->undo.v[i], m = sim->unseen.mass[i];
        sim->unseen.impulse[i] += p.sum[i] - 0.5 * p.h * (A.f[i] + B.f[i]);
        if (k->n == 1) sim->unseen.slope[i] = p.off[i];
        const double D[2] = {sim->unseen.impulse[i], sim->unseen.impulse[i] + p.slope[i] - sim->unseen.slope[i]};
        for (int j = 0; j < 2; ++j) power[j] += D[j] * v, worth[j] += D[j] != 0 ? 0.5 * D[j] * D[j] / m : 0;
    }
    const double least = fmin(worth[0] + fabs(power[0]), worth[1] + fabs(power[1]));
    if (least > k->unseen.worth && least < HUGE_VAL) k->unseen.worth = least, k->unseen.t = k->t;
    return CAROM_OK;
}

void carom_diagnosis_after_forces(carom_sim *sim, double t_0) {
    (void)add(sim, t_0); // a force that has no value there is no force that was missed
}
