// hidden.c: forces that change and come back inside a step; see hidden.h.
//
// A narrow barrier of a potential between two stages leaves no trace in them, nor in the estimate of the error.  Bounds
// of the forces along the path of the step tell where
// one may be, and samples whether it is.
#include "event/hidden.h"
#include "base/swap.h"
#include "system/narrow.h"
#include <math.h>

enum { LOOKS = 96 };               // samples in one step; bounds that are still wide then say nothing
static const double CURVED = 4;    // times the deviation that the middle of a piece shows: what bounds may add to it
static const double UNKNOWN = 0.01; // of (HF-3), below: the scheme has no estimate of its error
static const double SLIGHT = 1e-4; // of the forces at the samples: what no bump is looked for below

static carom_hidden_sample allocate_sample(carom_arena *mem, const carom_system *sys) {
    carom_hidden_sample P = {0};
    P.q = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &P.v, &P.a, &P.f);
    return P;
}

carom_hidden carom_allocate_hidden(carom_arena *mem, const carom_system *sys) {
    carom_hidden z = {0};
    if (!carom_system_hides(sys)) return z;
    z.left = allocate_sample(mem, sys);
    for (int i = 0; i < CAROM_HIDDEN_DEPTH; ++i) z.right[i] = allocate_sample(mem, sys);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &z.mid, &z.slope, &z.off, &z.v_off, &z.low, &z.high, &z.none);
    return z;
}

static carom_status sample(carom_phase *w, carom_step *s, double tau, carom_hidden_sample *P) {
    const carom_scan *z = &w->scan;
    CAROM_TRY(w->integrator->path(w, s, tau));
    P->tau = tau;
    carom_copy(P->q, z->q, s->sys->nq);
    carom_copy(P->v, z->v, s->sys->nv);
    carom_copy(P->a, z->a, s->sys->nv);
    return carom_force(s, P->f, w->t + tau, P->q, P->v);
}

// Velocities are parabolas along the path:  v is not farther off than d |a_1 - a_0|/8; twice that for others.
static carom_status bounds(carom_hidden *z, carom_step *s, double t, const carom_hidden_sample *A,
                           const carom_hidden_sample *B) {
    const carom_system *sys = s->sys;
    for (int i = 0; i < sys->nv; ++i) z->v_off[i] = 0.25 * (B->tau - A->tau) * fabs(B->a[i] - A->a[i]);
    return sys->events->force_bounds(sys->model, s->sys_work, t + A->tau, t + B->tau, A->q, B->q, A->v, B->v, z->v_off,
                                     z->mid, z->slope, z->off);
}

// (HF-1)  no bump where  off <= none,  none = max(1e-4 |f|, part M_ii size_v/h)
static bool flat(const carom_hidden *z, int nv) {
    for (int i = 0; i < nv; ++i)
        if (!(z->off[i] <= z->none[i])) return false;
    return true;
}

// (HF-2)  none where  off <= 4 |f_m - (f_0 + f_1)/2| + none:  the bounds are explained by the curvature that the middle
//         shows
static bool explained(const carom_hidden *z, int nv, const carom_hidden_sample *A, const carom_hidden_sample *M,
                      const carom_hidden_sample *B) {
    for (int i = 0; i < nv; ++i)
        if (!(z->off[i] <= CURVED * fabs(M->f[i] - 0.5 * (A->f[i] + B->f[i])) + z->none[i])) return false;
    return true;
}

// (HF-3)  a bump where one of the samples in the quarters of the step is farther from the cubic through the other four
//         samples than `wide` of what these span: 1 where the scheme knows its error, 1/4 where it sees forces at the
//         ends of steps alone, 1e-4 where nothing else tells that the step does not follow a force
static bool stands_out(const carom_hidden *z, int nv, const carom_hidden_sample *const x[5], int k, double wide) {
    static const double cubic[3][5] = {{1. / 4, 0, 3. / 2, -1, 1. / 4},
                                       {-1. / 6, 2. / 3, 0, 2. / 3, -1. / 6},
                                       {1. / 4, -1, 3. / 2, 0, 1. / 4}};
    for (int i = 0; i < nv; ++i) {
        double low = x[0]->f[i], high = low, sum = 0;
        for (int j = 0; j < 5; ++j) {
            sum += cubic[k - 1][j] * x[j]->f[i];
            if (j != k) low = fmin(low, x[j]->f[i]), high = fmax(high, x[j]->f[i]);
        }
        if (fabs(x[k]->f[i] - sum) > wide * (high - low) + z->none[i]) return true;
    }
    return false;
}

// (HF-4)  a bump where f is outside of what these five samples span, by more than they span
static bool outside(const carom_hidden *z, int nv, const carom_hidden_sample *P) {
    for (int i = 0; i < nv; ++i) {
        const double more = z->high[i] - z->low[i] + z->none[i];
        if (P->f[i] > z->high[i] + more || P->f[i] < z->low[i] - more) return true;
    }
    return false;
}

static void span(carom_hidden *z, int nv, const carom_hidden_sample *P, bool first) {
    for (int i = 0; i < nv; ++i) {
        z->low[i] = first ? P->f[i] : fmin(z->low[i], P->f[i]);
        z->high[i] = first ? P->f[i] : fmax(z->high[i], P->f[i]);
    }
}

// Forces that give no velocity of `part` of the largest in the step are none:  M_ii part |v|/h
static carom_status set_none(carom_phase *w, carom_step *s, double part, double h) {
    carom_hidden *z = &w->hidden;
    CAROM_TRY(carom_mass(s, s->M, w->t + w->b.tau, w->b.q));
    for (int i = 0; i < s->sys->nv; ++i)
        z->none[i] = fmax(SLIGHT * fmax(fabs(z->low[i]), fabs(z->high[i])),
                          part * fabs(*carom_matrix_entry(s->M, i, i)) * w->now[CAROM_PHASE_SIZE_V] / h);
    return CAROM_OK;
}

// Is a force narrow on the straight way from the start of the step to stage k: is it off a line halfway, by more than
// 0.4 of its change?  A cubic is off by 3/8.
static carom_status narrow(carom_phase *w, carom_step *s, int k, bool *is) {
    static const double NARROW = 0.4;
    const carom_flow *f = &w->f;
    const carom_system *sys = s->sys;
    const double h = w->tried, at = carom_butcher_c(f->T, k) * h;
    carom_hidden_sample *A = &w->hidden.left, *B = w->hidden.right, *M = w->hidden.right + 1;
    carom_zero(f->dv, sys->nv);
    for (int j = 0; j < k; ++j) carom_axpy(f->dv, carom_butcher_a(f->T, k, j), f->lifted[j], sys->nv);
    carom_move(s, B->q, w->q, h, f->dv);
    carom_move(s, M->q, w->q, 0.5 * h, f->dv);
    for (int i = 0; i < sys->nv; ++i) M->v[i] = 0.5 * (w->v[i] + f->V[k][i]);
    CAROM_TRY(carom_force(s, A->f, w->t, w->q, w->v));
    CAROM_TRY(carom_force(s, B->f, w->t + at, B->q, f->V[k]));
    CAROM_TRY(carom_force(s, M->f, w->t + 0.5 * at, M->q, M->v));
    CAROM_TRY(carom_mass(s, s->M, w->t, w->q));
    *is = false;
    for (int i = 0; i < sys->nv; ++i) {
        const double change = fabs(B->f[i] - A->f[i]);
        *is = *is || (fabs(M->f[i] - 0.5 * (A->f[i] + B->f[i])) > NARROW * change &&
                      change * h * carom_lever(sys, i) >
                          fabs(*carom_matrix_entry(s->M, i, i)) * w->now[CAROM_PHASE_SPEED]);
    }
    return CAROM_OK;
}

// (HF-5)  A stage that has met a narrow force where the path of the step does not: the acceleration of some stage
//         differs from that of the path by more than half of the largest of all.  The step is no step of the motion,
//         and bounds along it say nothing.  Stages of vibrations that are too fast for the step differ so, too, but
//         their forces are not narrow: parts of the step would follow them badly, without a word.
static carom_status strays(carom_phase *w, carom_step *s, bool *some) {
    static const double HALF = 0.5;
    const carom_flow *f = &w->f;
    const double length = w->b.tau - w->from.tau;
    bool off = false;
    *some = false;
    if (!carom_butcher_explicit(f->T) || w->tried != w->b.tau) return CAROM_OK;
    for (int i = 0; i < s->sys->nv; ++i) w->hidden.low[i] = 0;
    for (int k = 0; k < f->T->stages; ++k)
        for (int i = 0; i < s->sys->nv; ++i) w->hidden.low[i] = fmax(w->hidden.low[i], fabs(f->K[k][i]));
    for (int k = 0; k < f->T->stages && !off; ++k) {
        CAROM_TRY(w->integrator->path(w, s, w->from.tau + carom_butcher_c(f->T, k) * length));
        for (int i = 0; i < s->sys->nv; ++i)
            off = off || (fabs(f->K[k][i] - w->scan.a[i]) > HALF * w->hidden.low[i] &&
                          w->hidden.low[i] * length * carom_lever(s->sys, i) > w->now[CAROM_PHASE_SPEED]);
    }
    for (int k = 1; k < f->T->stages && off && !*some; ++k) CAROM_TRY(narrow(w, s, k, some));
    return CAROM_OK;
}

carom_status carom_phase_hidden(carom_phase *w, carom_step *s, double part, double wide, bool *hidden, double *at,
                                double *width) {
    carom_hidden *z = &w->hidden;
    const int nv = s->sys->nv;
    const double from = w->from.tau, to = w->b.tau, quarter = 0.25 * (to - from);
    *hidden = false;
    // where forces hold the motion their jump is none
    if (!carom_system_hides(s->sys) || !(to > from) || w->f.filippov.n > 0) return CAROM_OK;
    CAROM_TRY(w->integrator->look(w, s, &w->b));
    if (wide < UNKNOWN) CAROM_TRY(strays(w, s, hidden));
    *at = from, *width = quarter;
    if (*hidden) return CAROM_OK;
    CAROM_TRY(sample(w, s, from, &z->left));
    CAROM_TRY(sample(w, s, to, z->right));
    span(z, nv, &z->left, true);
    span(z, nv, z->right, false);
    CAROM_TRY(set_none(w, s, part, to - from));
    CAROM_TRY(bounds(z, s, w->t, &z->left, z->right));
    if (flat(z, nv)) return CAROM_OK;
    // The stack holds the end, three quarters, the middle, a quarter.
    for (int k = 1; k <= 3; ++k) CAROM_TRY(sample(w, s, to - k * quarter, z->right + k));
    const carom_hidden_sample *const x[5] = {&z->left, z->right + 3, z->right + 2, z->right + 1, z->right};
    for (int k = 1; k <= 3 && !*hidden; ++k)
        *hidden = stands_out(z, nv, x, k, wide), *at = x[k - 1]->tau, *width = quarter;
    if (*hidden || explained(z, nv, x[0], x[2], x[4])) return CAROM_OK;
    for (int k = 1; k <= 3; ++k) span(z, nv, x[k], false);
    for (int n = 4, looks = 0; n > 0 && looks < LOOKS;) {
        carom_hidden_sample *P = z->right + n - 1, *M = z->right + n;
        CAROM_TRY(bounds(z, s, w->t, &z->left, P));
        bool clear = flat(z, nv) || n == CAROM_HIDDEN_DEPTH;
        if (!clear) {
            CAROM_TRY(sample(w, s, 0.5 * (z->left.tau + P->tau), M));
            ++looks;
            *hidden = outside(z, nv, M);
            *at = z->left.tau;
            *width = P->tau - z->left.tau;
            if (*hidden) return CAROM_OK;
            clear = explained(z, nv, &z->left, M, P);
        }
        if (clear) CAROM_SWAP(carom_hidden_sample, &z->left, P);
        n += clear ? -1 : 1;
    }
    return CAROM_OK;
}
