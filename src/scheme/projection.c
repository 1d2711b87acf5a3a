// projection.c: see projection.h.  Spec: docs/methods-ggl-newmark.md, section GP.
//
// Only contacts that the step leaves, or the correction brings, below zero take part in the projection.
#include "base/tolerance.h"
#include "scheme/projection.h"
#include "scheme/inside.h"
#include "linalg/matrix.h"
#include "scheme/newton.h"
#include <math.h>

enum {
    MOST = 50,
    LONG = 40,
    STALLS = 3
}; // iterations; those after which a kink is to blame; those without progress after which rounding is to blame

enum { CHORDS = 8 }; // corrections of joints with a factor of another point

carom_projection carom_allocate_projection(carom_arena *mem, const carom_system *sys) {
    carom_projection w = {0};
    const size_t nv = (size_t)sys->nv, nq = (size_t)sys->nq, nb = (size_t)(sys->ne + sys->nc);
    w.L_f = carom_allocate_local(mem, sys);
    w.L = carom_allocate_local(mem, sys);
    w.bent = carom_allocate_bent(mem, sys);
    CAROM_ALLOCATE(mem, nq, &w.q_P, &w.q);
    CAROM_ALLOCATE(mem, nv, &w.x, &w.moved);
    w.u = carom_allocate(mem, (size_t)w.L.W.n);
    CAROM_ALLOCATE(mem, nb, &w.g, &w.sign, &w.Psi);
    w.at = carom_allocate_ints(mem, nb + 1);
    return w;
}

// Is constraint id held like a joint, in this attempt?
static bool held(const carom_projection *w, const carom_step *s, int id) {
    return id < s->sys->ne || (w->equal && w->equal[id] && !w->free);
}

// Normals of the set only: the correction knows no friction.
static void normals(carom_local *L) {
    for (int b = 0; b <= L->nb; ++b) L->at[b] = b;
}

// (GP-4)  What rounding may leave in gap b at most: its terms may be larger than |W||q| (constants, cosines of small
//         angles), but none is larger than |W| max |q| by much; and no rounding is larger than MOVED times the motion
//         of the step.
static const double MOVED = 1e-8;
static double rounding_at_most(const carom_projection *w, const carom_step *s, int b, double q) {
    const double size = carom_local_magnitude(&w->L, b, w->x) * q; // x = 1/lever
    return fmax(CAROM_ROUNDING_SUM * size, MOVED * s->h * carom_local_magnitude(&w->L, b, w->v_0));
}

// Are all gaps met at q?  Those that take part to tolerance or to their own rounding; others that are below zero
// join.  Where iterations no longer halve the largest gap, to the rounding that there may be at most.
static bool met(carom_projection *w, const carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    bool good = true;
    double most = 0;
    for (int b = 0; b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        most = fmax(most, held(w, s, id) || w->Psi[id] > 0 ? fabs(w->g[id]) : fmax(0, -w->g[id]));
    }
    w->stalls = most < 0.5 * w->least ? 0 : w->stalls + 1;
    w->least = fmin(w->least, most);
    for (int id = ne; id < ne + nc; ++id)
        if (w->sign[id] > 0 && w->g[id] < 0) w->sign[id] = -1, good = false;
    const double q = carom_size_of_positions(s->sys, w->q);
    for (int i = 0; i < s->sys->nv; ++i) w->x[i] = 1 / carom_lever(s->sys, i);
    for (int b = 0; good && b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        const double rounding = 0.5 * carom_local_rounding_within(&w->L, b, w->q, s->sys->nq, q);
        const bool tight = held(w, s, id) || w->Psi[id] > 0;
        const double off = tight ? fabs(w->g[id]) : fmax(0, -w->g[id]);
        good = off <= fmax(s->h * s->tol * s->scale, w->stalls >= STALLS ? rounding_at_most(w, s, b, q) : rounding);
    }
    return good;
}

// (GP-7)  0 <= Psi _|_ g(t_1, q_1) + penetration >= 0 for contacts: w->g becomes the sum.
static void tolerate(carom_projection *w, const carom_step *s) {
    const double depth = w->depth;
    for (int id = s->sys->ne; depth > 0 && id < s->sys->ne + s->sys->nc; ++id) w->g[id] += depth;
}

// (GP-5)  Where there is no answer, or the iteration does not end, and smaller steps have not helped, contacts may
//         have met a kink on the way from q_P.  It begins again: they are moved along the directions at q_P, and
//         their gap is the plane there (CL-10).  So are those that met one between the middle of the step and q_P.
static carom_status kinks(carom_projection *w, carom_step *s) {
    bool all;
    carom_copy(w->q, w->q_P, s->sys->nq);
    carom_zero(w->Psi, s->sys->ne + s->sys->nc);
    carom_zero(w->moved, s->sys->nv);
    CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, w->q));
    tolerate(w, s);
    for (int way = 0; way < 2 && !w->bent.some; ++way) {
        carom_local_velocity(w->u, way == 0 ? &w->L : &w->L_f, w->v_0);
        CAROM_TRY(carom_directions(s, &w->L, s->t + s->h, w->q));
        CAROM_TRY(carom_bent_find(&w->bent, s, w->u, &w->L,
                                  (carom_evaluation_point){.t = s->t + s->h, .q = w->q_P, .v = w->v_0}));
    }
    CAROM_TRY(carom_bent_plane(&w->bent, s, &all, w->g, w->moved, w->q_0));
    w->bent.some = w->bent.some && all;
    return CAROM_OK;
}

// (GP-8)  joints alone, by the factor of the linear system with V' for N(q)':  A z = N p,  V'z = -g,  moved += z
static carom_status correct_joints(carom_projection *w, carom_step *s) {
    carom_saddle *S = w->joints;
    const int nv = s->sys->nv, ne = s->sys->ne;
    CAROM_TRY(carom_directions(s, &w->L, s->t + s->h, w->q));
    carom_zero(S->b, nv);
    for (int j = 0; j < ne; ++j) S->b[nv + j] = -w->g[j];
    carom_saddle_solve(S);
    carom_axpy(w->moved, 1, S->x, nv);
    carom_move(s, w->q, w->q_P, 1, w->moved);
    for (int j = 0; j < ne; ++j) w->Psi[j] -= S->x[nv + j] / s->h;
    return CAROM_OK;
}

// (GP-9)  joints by that factor, contacts by their own problem:  A z = N (p - p_old),  V'z = -g of joints,
//         0 <= Psi _|_ (g + N'z)/h >= 0  of contacts,  or g + N'z = 0 of those that are held
static carom_status correct_contacts(carom_projection *w, carom_step *s) {
    carom_saddle *S = w->joints;
    const int nv = s->sys->nv, ne = s->sys->ne;
    carom_local_same(&w->L_f, &w->L);
    CAROM_TRY(carom_directions(s, &w->L_f, w->t_f, w->q_f));
    CAROM_TRY(carom_directions(s, &w->L, s->t + s->h, w->q));
    const carom_local C = carom_contacts_of(s, &w->L, w->at);
    const carom_columns N = C.W, N_f = carom_contacts_of(s, &w->L_f, w->at).W;
    const int n = C.nb;
    carom_problem_blocks(s, &C);
    double *G = carom_problem_matrix(s, n);
    for (int k = 0; k < n; ++k) {
        carom_column_expand(S->b, &N_f, k);
        carom_zero(S->b + nv, ne);
        carom_saddle_solve(S);
        for (int i = 0; i < n; ++i) G[i + (size_t)k * (size_t)n] = carom_column_dot(&N, i, S->x);
    }
    carom_zero(S->b, nv);
    for (int j = 0; j < ne; ++j) S->b[nv + j] = -w->g[j];
    carom_saddle_solve(S);
    for (int b = 0; b < n; ++b) {
        s->blocks[b].law = held(w, s, C.id[b]) ? CAROM_BILATERAL : CAROM_UNILATERAL;
        s->c[b] = (w->g[C.id[b]] + carom_column_dot(&N, b, S->x)) / s->h;
        for (int k = 0; k < n; ++k) s->c[b] -= G[b + (size_t)k * (size_t)n] * w->Psi[C.id[k]];
        s->p[b] = 0;
    }
    CAROM_TRY(carom_problem_run(s, C.id));
    carom_zero(S->b, nv);
    for (int b = 0; b < n; ++b) carom_column_axpy(S->b, s->h * (s->p[b] - w->Psi[C.id[b]]), &N_f, b);
    for (int j = 0; j < ne; ++j) S->b[nv + j] = -w->g[j];
    carom_saddle_solve(S);
    carom_axpy(w->moved, 1, S->x, nv);
    carom_move(s, w->q, w->q_P, 1, w->moved);
    for (int j = 0; j < ne; ++j) w->Psi[j] -= S->x[nv + j] / s->h;
    for (int b = 0; b < n; ++b) w->Psi[C.id[b]] = s->p[b];
    return CAROM_OK;
}

// (GP-3)  one step of Newton: with G = N(q)'Q^-1 N_M over the set,  0 <= Psi _|_ (g(q) - G Psi_old + G Psi)/h >= 0
static carom_status correct(void *memory, carom_step *s, int k) {
    carom_projection *w = memory;
    carom_close(s, &w->L, w->sign);
    normals(&w->L);
    if (w->joints && k < CHORDS && w->L.nb == s->sys->ne) return correct_joints(w, s);
    if (w->joints && k < CHORDS && !w->bent.some) {
        const carom_status status = correct_contacts(w, s);
        if (status != CAROM_RETRY) return status;
    }
    carom_local_same(&w->L_f, &w->L);
    CAROM_TRY(carom_directions(s, &w->L_f, w->t_f, w->q_f));
    CAROM_TRY(carom_directions(s, &w->L, s->t + s->h, w->q));
    carom_bent_keep(&w->bent, &w->L_f);
    carom_bent_keep(&w->bent, &w->L);
    carom_problem_form(s, &w->L, &w->L_f, w->F, 1);
    const int n = w->L.nb;
    for (int b = 0; b < n; ++b) {
        s->blocks[b].law = held(w, s, w->L.id[b]) ? CAROM_BILATERAL : CAROM_UNILATERAL;
        s->c[b] = w->g[w->L.id[b]] / s->h;
        s->p[b] = w->Psi[w->L.id[b]];
    }
    carom_problem_subtract(s, s->p);
    carom_zero(s->p, n);
    const carom_status status = carom_problem_run(s, w->L.id);
    if ((status == CAROM_RETRY || k == LONG) && s->inside->last && !w->bent.some) {
        CAROM_TRY(kinks(w, s));
        if (w->bent.some) return CAROM_OK;
    }
    CAROM_TRY(status);
    carom_zero(w->moved, s->sys->nv);
    carom_problem_apply(s, w->moved, s->h);
    carom_move(s, w->q, w->q_P, 1, w->moved);
    for (int b = 0; b < n; ++b) w->Psi[w->L.id[b]] = s->p[b];
    return CAROM_OK;
}

static carom_status evaluate(void *memory, carom_step *s, int k, bool *answer) {
    carom_projection *w = memory;
    if (k == 0) return CAROM_OK;
    CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, w->q));
    tolerate(w, s);
    carom_bent_gaps(&w->bent, w->g, w->moved);
    *answer = met(w, s);
    return CAROM_OK;
}

static carom_status attempt(carom_projection *w, carom_step *s) {
    const int ne = s->sys->ne, all = ne + s->sys->nc;
    carom_copy(w->q, w->q_P, s->sys->nq);
    carom_zero(w->Psi, all);
    carom_zero(w->moved, s->sys->nv);
    w->bent.some = false;
    for (int id = 0; id < all; ++id) w->sign[id] = id < ne || w->g[id] < 0 || (w->equal && w->equal[id]) ? -1 : 1;
    w->least = HUGE_VAL;
    w->stalls = 0;
    const carom_iteration I = {.method = "the projection of the positions on the constraints",
                               .most = MOST,
                               .x = w->q,
                               .n = s->sys->nq,
                               .evaluate = evaluate,
                               .correct = correct};
    return carom_iterate(&I, w, s, NULL);
}

carom_status carom_project(carom_projection *w, carom_step *s, bool *some) {
    const int ne = s->sys->ne, all = ne + s->sys->nc;
    bool equals = false;
    tolerate(w, s);
    w->free = false;
    *some = ne > 0;
    for (int id = ne; id < all; ++id) {
        equals = equals || (w->equal && w->equal[id]);
        *some = *some || w->g[id] < 0;
    }
    *some = *some || equals;
    if (!*some) {
        carom_copy(w->q, w->q_P, s->sys->nq);
        carom_zero(w->Psi, all);
        carom_zero(w->moved, s->sys->nv);
        for (int id = ne; id < all; ++id) w->sign[id] = 1;
        return CAROM_OK;
    }
    const carom_status status = attempt(w, s);
    if (status != CAROM_RETRY || !equals) return status;
    // Contacts that depend on each other cannot all be held: they may open.
    w->free = true;
    CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, w->q_P));
    tolerate(w, s);
    return attempt(w, s);
}
