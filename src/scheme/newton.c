// newton.c: see newton.h.
#include "scheme/newton.h"
#include <math.h>

enum { MOST = 49, DETAIL = 200 }; // corrections; characters

static bool diverged(const carom_iteration *I) { return !(carom_norm_max(I->x, I->n) < HUGE_VAL); }

static carom_status iterate(const carom_iteration *I, void *work, carom_step *s, const carom_traces *before, int *count) {
    for (int k = 0; k <= I->most; ++k) {
        bool done = false;
        CAROM_TRY(I->evaluate(work, s, k, &done));
        if (k > 0 && done) {
            if (count) *count += k;
            else carom_book_newton(s, k);
            return CAROM_OK;
        }
        if (k == I->most) break;
        carom_problem_take_back(s, before); // iterate k was not the answer
        if (!diverged(I)) CAROM_TRY(I->correct(work, s, k));
        if (diverged(I)) return carom_retry(s, "%s diverged", I->method);
    }
    char detail[DETAIL] = "";
    if (I->detail) I->detail(work, s, detail, sizeof detail);
    return carom_retry(s, "%s did not converge in %d iterations%s", I->method, I->most, detail);
}

carom_status carom_iterate(const carom_iteration *I, void *work, carom_step *s, int *count) {
    const carom_traces before = carom_problem_traces(s);
    const carom_status status = iterate(I, work, s, &before, count);
    if (status != CAROM_OK) carom_problem_take_back(s, &before);
    return status;
}

bool carom_motion_met(const carom_step *s, double left, double size, double share, carom_matrix K, carom_matrix M, const double *q, double *y) {
    return left <= s->newton_tol * size || (share > 0 && left <= share * carom_force_rounding(s, K, M, q, y));
}

carom_status carom_iteration_factor(carom_step *s, carom_factor *F, carom_matrix A) {
    return carom_factorise(F, A, NULL) == CAROM_OK ? CAROM_OK : carom_retry(s, "the iteration matrix is singular");
}

// -- on velocity level ---------------------------------------------------------------------------------------------------

carom_newton carom_allocate_newton(carom_arena *mem, const carom_system *sys) {
    carom_newton N = {.constant = sys->flags & CAROM_LINEAR && (sys->flags & CAROM_CONSTANT_DIRECTIONS || sys->ne + sys->nc == 0)};
    const size_t nv = (size_t)sys->nv;
    N.A = carom_allocate_matrix(mem, sys->tangent_shape);
    N.F = carom_allocate_factor(mem, sys->tangent_shape, false);
    N.L = carom_allocate_local(mem, sys);
    N.V = carom_allocate_local(mem, sys);
    CAROM_ALLOCATE(mem, nv, &N.R, &N.size, &N.x, &N.r);
    const size_t nl = (size_t)N.L.W.n;
    CAROM_ALLOCATE(mem, nl, &N.u_0, &N.u_1, &N.p);
    N.share = 0;
    return N;
}

// Is (v_1, p) the answer?  Both residuals are taken at the point just evaluated.
static bool done(carom_newton *N, carom_step *s) {
    const int nv = s->sys->nv;
    carom_copy(N->r, N->R, nv);
    carom_local_react(N->r, -1, &N->L, N->p);
    const double size = fmax(carom_momentum_size(N->size, N->M), carom_momentum_size(N->R, N->M));
    if (!carom_motion_met(s, carom_momentum_size(N->r, N->M), size, N->share, N->K, N->M, N->q, N->x)) return false;
    if (N->L.nb == 0) return true;
    carom_problem_restitution(s, &N->L, N->u_1, N->u_0);
    return carom_problem_met(s, carom_local_velocity_rounding(&N->L, N->v_1));
}

// The factor of A and V at the point just evaluated.
static carom_status linearise(carom_newton *N, carom_step *s) {
    if (N->F.ready && N->h == s->h) {
        carom_local_blend(&N->V, &N->L, 0, NULL);
        return CAROM_OK;
    }
    N->F.ready = false;
    CAROM_TRY(N->eval(N->work, s, N, N->v_1, true));
    CAROM_TRY(carom_iteration_factor(s, &N->F, N->A));
    N->F.ready = N->constant;
    N->h = s->h;
    return CAROM_OK;
}

static carom_status evaluate(void *newton, carom_step *s, int k, bool *answer) {
    carom_newton *N = newton;
    N->k = k;
    CAROM_TRY(N->eval(N->work, s, N, N->v_1, false));
    *answer = k > 0 && done(N, s);
    return CAROM_OK;
}

static carom_status correct(void *newton, carom_step *s, int k) {
    carom_newton *N = newton;
    const int nv = s->sys->nv, n = N->L.at[N->L.nb];
    CAROM_TRY(linearise(N, s));
    // (NEW-2)  x = A^-1 R;  u_1 - V'x is the local velocity without reactions
    carom_copy(N->x, N->R, nv);
    carom_factor_solve(&N->F, N->x);
    if (n > 0) {
        for (int i = 0; i < n; ++i) N->u_1[i] -= carom_column_dot(&N->V.W, i, N->x);
        carom_problem_form(s, &N->V, &N->L, &N->F, 1);
        if (k == 0) CAROM_TRY(carom_problem_bounce(s, &N->L, N->u_0));
        carom_problem_restitution(s, &N->L, N->u_1, N->u_0);
        CAROM_TRY(carom_problem_solve(s, &N->L));
        carom_copy(N->p, s->problem.p, n);
    }
    // dv = A^-1 W p - x
    carom_axpy(N->v_1, -1, N->x, nv);
    if (n > 0) carom_problem_apply(s, N->v_1, 1);
    return CAROM_OK;
}

carom_status carom_newton_solve(carom_newton *N, carom_step *s, double *v_1, carom_newton_eval *eval, void *work) {
    carom_local_same(&N->V, &N->L);
    carom_zero(N->p, N->L.at[N->L.nb]);
    N->v_1 = v_1;
    N->eval = eval;
    N->work = work;
    const carom_iteration I = {.method = "Newton's method", .most = MOST, .x = v_1, .n = s->sys->nv, .evaluate = evaluate, .correct = correct};
    return carom_iterate(&I, N, s, NULL);
}

// v_1 -= F^-1 R.  Is it finite?
static bool subtract(carom_newton *N, const carom_factor *F, int nv) {
    carom_copy(N->x, N->R, nv);
    carom_factor_solve(F, N->x);
    carom_axpy(N->v_1, -1, N->x, nv);
    return carom_norm_max(N->v_1, nv) < HUGE_VAL;
}

int carom_newton_chord(carom_newton *N, carom_step *s, double *v_1, const carom_factor *F, carom_newton_eval *eval, void *work) {
    N->L.nb = N->L.at[0] = 0;
    N->v_1 = v_1;
    N->eval = eval;
    N->work = work;
    N->k = 0;
    N->share = 0; // K is of another point
    for (; N->k <= CAROM_CHORDS; ++N->k) {
        if (eval(work, s, N, v_1, false) != CAROM_OK) return 0;
        if (N->k > 0 && done(N, s)) return N->k;
        if (N->k == CAROM_CHORDS || !subtract(N, F, s->sys->nv)) return 0;
    }
    return 0;
}
