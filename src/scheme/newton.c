// newton.c: see newton.h.
#include "scheme/newton.h"
#include <math.h>

enum { MOST = 50 }; // iterations; a step that needs more is better made smaller

carom_newton carom_carve_newton(carom_arena *mem, const carom_system *sys) {
    carom_newton N = {.constant = sys->flags & CAROM_LINEAR && (sys->flags & CAROM_CONSTANT_DIRECTIONS || sys->ne + sys->nc == 0)};
    const size_t nv = (size_t)sys->nv;
    N.A = carom_carve_matrix(mem, sys->tangent_shape);
    N.F = carom_carve_factor(mem, sys->tangent_shape, false);
    N.L = carom_carve_local(mem, sys);
    N.V = carom_carve_local(mem, sys);
    N.R = carom_carve(mem, nv);
    N.size = carom_carve(mem, nv);
    N.x = carom_carve(mem, nv);
    N.r = carom_carve(mem, nv);
    const size_t nl = (size_t)N.L.W.n;
    N.u_0 = carom_carve(mem, nl);
    N.u_1 = carom_carve(mem, nl);
    N.p = carom_carve(mem, nl);
    N.share = 0;
    return N;
}

// Is (v_1, p) the answer?  Both residuals are taken at the point just evaluated.
static bool done(carom_newton *N, carom_step *s, const double *v_1) {
    const int nv = s->sys->nv;
    carom_copy(N->r, N->R, nv);
    carom_local_react(N->r, -1, &N->L, N->p);
    const double left = carom_norm_max(N->r, nv);
    if (!(left <= s->newton_tol * fmax(carom_norm_max(N->size, nv), carom_norm_max(N->R, nv))) &&
        !(N->share > 0 && left <= N->share * carom_force_rounding(s, N->K, N->q, N->x)))
        return false;
    if (N->L.nb == 0) return true;
    carom_problem_restitution(s, &N->L, N->u_1, N->u_0);
    return carom_problem_met(s, carom_local_velocity_rounding(&N->L, v_1));
}

// The factor of A and V at the point just evaluated.
static carom_status linearise(carom_newton *N, carom_step *s, const double *v_1, carom_newton_eval *eval, void *work) {
    if (N->F.ready && N->h == s->h) {
        carom_local_blend(&N->V, &N->L, 0, NULL);
        return CAROM_OK;
    }
    N->F.ready = false;
    CAROM_TRY(eval(work, s, N, v_1, true));
    if (carom_factorise(&N->F, N->A, NULL) != CAROM_OK) return carom_retry(s, "the iteration matrix is singular");
    N->F.ready = N->constant;
    N->h = s->h;
    return CAROM_OK;
}

carom_status carom_newton_solve(carom_newton *N, carom_step *s, double *v_1, carom_newton_eval *eval, void *work) {
    const int nv = s->sys->nv, n = N->L.at[N->L.nb];
    carom_local_same(&N->V, &N->L);
    carom_zero(N->p, n);
    for (int k = 0; k < MOST; ++k) {
        N->k = k;
        CAROM_TRY(eval(work, s, N, v_1, false));
        if (k > 0 && done(N, s, v_1)) {
            carom_book_newton(s, k);
            return CAROM_OK;
        }
        CAROM_TRY(linearise(N, s, v_1, eval, work));
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
        carom_axpy(v_1, -1, N->x, nv);
        if (n > 0) carom_problem_apply(s, v_1, 1);
        if (!(carom_norm_max(v_1, nv) < HUGE_VAL)) return carom_retry(s, "Newton's method diverged");
    }
    return carom_retry(s, "Newton's method did not converge in %d iterations", MOST);
}
