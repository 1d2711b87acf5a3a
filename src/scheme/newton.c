// newton.c: see newton.h.
#include "linalg/matrix.h"
#include "scheme/newton.h"
#include "system/system.h"
#include <math.h>

enum { MOST = 49, DETAIL = 200 }; // corrections; characters

static bool diverged(const carom_iteration *I) { return !(carom_norm_max(I->x, I->n) < HUGE_VAL); }

static carom_status iterate(const carom_iteration *I, void *work, carom_step *s, const carom_traces *before,
                            int *count) {
    for (int k = 0; k <= I->most; ++k) {
        bool done = false;
        CAROM_TRY(I->evaluate(work, s, k, &done));
        if (k > 0 && done) {
            if (count) *count += k;
            else carom_account_newton(s, k);
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

bool carom_motion_met(const carom_step *s, double left, double size, double share, carom_matrix K, carom_matrix M,
                      const double *q, double *y) {
    return left <= s->newton_tol * size || (share > 0 && left <= share * carom_force_rounding(s, K, M, q, y));
}

carom_status carom_iteration_factor(carom_step *s, carom_factor *F, carom_matrix A) {
    return carom_factorise(F, A, NULL) == CAROM_OK ? CAROM_OK : carom_retry(s, "the iteration matrix is singular");
}

const int *carom_joined_groups(const carom_system *sys) {
    enum { JOINTS = 20 }; // rows from which on the factor costs less than rows of the contact problem
    return carom_system_world(sys) || sys->ne < JOINTS ? NULL : sys->part;
}

const int *carom_saddle_groups(const carom_system *sys) {
    // then G has that of the mechanism, and costs no more
    const bool envelope = sys->tangent_shape.storage == CAROM_DIAGONAL;
    return envelope ? NULL : carom_joined_groups(sys);
}

carom_local carom_contacts_of(const carom_step *s, const carom_local *of, int *at) {
    const int nj = carom_joints_of(s, of).nb; // they come first, of one row each
    carom_local L = *of;
    const size_t from = (size_t)nj * (size_t)L.W.stride;
    L.nb -= nj, L.id += nj, L.w += nj;
    L.at = at;
    for (int b = 0; b <= L.nb; ++b) L.at[b] = of->at[nj + b] - nj;
    L.W.n -= nj, L.W.a += from;
    if (L.W.count) L.W.count += nj, L.W.row += from;
    if (L.W.share) L.W.share += nj;
    return L;
}

enum { A_WHILE = 4 }; // steps: a factor by levels that is tried in vain costs a fifth of a whole one

bool carom_chord_finish(carom_chord *c, carom_saddle *S, bool first, bool contacts) {
    bool levels = c->whole && first && !contacts;
    if (c->whole && !first) *c->whole = A_WHILE;
    else if (levels && *c->whole > 0) levels = false, *c->whole -= 1;
    c->age = 0;
    return (levels && carom_saddle_finish_levels(S)) || carom_saddle_finish(S);
}

bool carom_chord_solve_checked(carom_chord *c, carom_saddle *S, double small) {
    if (carom_saddle_solve_checked(S, small)) return true;
    if (!S->by_level) return false;
    *c->whole = A_WHILE;
    return carom_saddle_finish(S) && carom_saddle_solve_checked(S, small);
}

double carom_joints_size(const carom_saddle *S, const double *u) {
    double most = 0;
    for (int j = 0; j < S->ne; ++j) most = fmax(most, S->lever[j] * fabs(u[j]));
    return carom_norm_max(u, S->ne) < HUGE_VAL ? most : HUGE_VAL;
}

double carom_joints_free(const carom_saddle *S, const carom_columns *W, carom_matrix A, const double *p,
                         const double *y, double *x) {
    double most = 0;
    carom_zero(x, S->nv);
    for (int j = 0; j < S->ne; ++j) carom_column_axpy(x, p[j] - (y ? y[j] : 0), W, j);
    for (int i = 0; i < S->nv; ++i) {
        const double a = fabs(*carom_matrix_entry(A, i, i));
        x[i] = a > 0 ? x[i] / a : 0;
    }
    for (int j = 0; j < S->ne; ++j) most = fmax(most, S->lever[j] * fabs(carom_column_dot(W, j, x)));
    return most;
}

// -- the first iterate ------------------------------------------------------------------------------------------------

enum { STEPS = 3 }; // increments, for an extrapolation of second order (NEW-7)

carom_past carom_allocate_past(carom_arena *keep, const carom_system *sys) {
    carom_past past = {.head = carom_allocate_bytes(keep, sizeof *past.head)};
    CAROM_ALLOCATE(keep, (size_t)sys->nv, &past.dv[0], &past.dv[1], &past.dv[2]);
    past.p = carom_allocate(keep, (size_t)sys->ne);
    return past;
}

// Has the motion of the last steps been smooth: no increment jumps against the one before?
static bool smooth(const carom_past *past, int nv) {
    for (int k = 0; k + 1 < STEPS; ++k) {
        double change = 0;
        for (int i = 0; i < nv; ++i) change = fmax(change, fabs(past->dv[k][i] - past->dv[k + 1][i]));
        // half of it: an extrapolation would be worse than none
        if (!(change <= 0.5 * carom_norm_max(past->dv[k], nv))) return false;
    }
    return true;
}

static bool goes_on(const carom_past *past, const carom_step *s, int nb) {
    return past->head->h == s->h && past->head->nb == nb && !s->jumped;
}

// (NEW-7)
bool carom_past_continue(const carom_past *past, const carom_step *s, int nb, double *v_1, double *p) {
    const int nv = s->sys->nv;
    if (!past->head || past->head->steps < STEPS || !goes_on(past, s, nb) || !smooth(past, nv)) return false;
    for (int i = 0; i < nv; ++i) v_1[i] = s->v[i] + 3 * (past->dv[0][i] - past->dv[1][i]) + past->dv[2][i];
    carom_copy(p, past->p, s->sys->ne);
    return true;
}

void carom_past_note(carom_past *past, const carom_step *s, int nb, const double *v_1, const double *p) {
    const int nv = s->sys->nv;
    if (!past->head) return;
    if (!goes_on(past, s, nb)) past->head->steps = 0; // an impact is no motion to continue
    else if (past->head->steps < STEPS) past->head->steps += 1;
    past->head->h = s->h, past->head->nb = nb;
    for (int k = STEPS - 1; k > 0; --k) carom_copy(past->dv[k], past->dv[k - 1], nv);
    carom_add(past->dv[0], v_1, -1, s->v, nv);
    carom_copy(past->p, p, s->sys->ne);
}

// -- on velocity level ------------------------------------------------------------------------------------------------

typedef struct carom_newton_inside inside;

carom_newton carom_allocate_newton(carom_arena *mem, carom_arena *keep, const carom_system *sys) {
    carom_newton N = {.constant = sys->flags & CAROM_LINEAR &&
                                  (sys->flags & CAROM_CONSTANT_DIRECTIONS || sys->ne + sys->nc == 0)};
    inside in = {.have_A = false};
    const size_t nv = (size_t)sys->nv;
    N.A = carom_allocate_matrix(mem, sys->tangent_shape);
    in.F = carom_allocate_factor(mem, sys->tangent_shape, false);
    N.L = carom_allocate_local(mem, sys);
    N.V = carom_allocate_local(mem, sys);
    in.S = carom_allocate_saddle(mem, sys->nv, sys->nparts, N.constant ? NULL : carom_saddle_groups(sys), sys->ne,
                                 sys->tangent_shape, sys->column_stride, NULL);
    in.at = in.S.on ? carom_allocate_ints(mem, (size_t)(sys->ne + sys->nc) + 1) : NULL;
    CAROM_ALLOCATE(mem, nv, &N.R, &N.size, &in.x, &in.r);
    const size_t nl = (size_t)N.L.W.n;
    CAROM_ALLOCATE(mem, nl, &N.u_0, &N.u_1, &N.p);
    if (in.S.on) in.past = carom_allocate_past(keep, sys);
    N.inside = carom_allocate_bytes(mem, sizeof *N.inside);
    if (N.inside) *N.inside = in;
    return N;
}

// -- joints as part of the linear system -----------------------------------------------------------------------------

// The right-hand side of (NEW-6) at the present iterate, with the reactions p_c of the contacts L instead of those that
// stand; NULL: none.
static void right_hand_side(carom_newton *N, int nv, int nj, const carom_local *L, const double *p_c) {
    inside *in = N->inside;
    double *b = in->S.b;
    for (int i = 0; i < nv; ++i) b[i] = -N->R[i];
    for (int j = 0; j < nj; ++j) carom_column_axpy(b, N->p[j], &N->L.W, j), b[nv + j] = -N->u_1[j];
    if (p_c) carom_local_react(b, 1, L, p_c);
}

// The contact problem of the contacts L alone, u_free their velocities without their reactions; V: V_c.
static carom_status solve_contacts(carom_newton *N, carom_step *s, const carom_local *L, const carom_columns *V,
                                   double *u_free, int nj) {
    inside *in = N->inside;
    carom_saddle *S = &in->S;
    const int nv = s->sys->nv, n = L->at[L->nb];
    for (int i = 0; i < n; ++i) u_free[i] += carom_column_dot(V, i, S->x);
    carom_problem_blocks(s, L);
    double *G = carom_problem_matrix(s, n);
    carom_zero(S->b + nv, nj);
    for (int k = 0; k < n; ++k) {
        carom_column_expand(S->b, &L->W, k);
        carom_saddle_solve(S);
        carom_columns_dot(G + (size_t)k * (size_t)n, V, 0, n, S->x);
    }
    carom_problem_restitution(s, L, u_free, N->u_0 + nj);
    CAROM_TRY(carom_problem_solve(s, L));
    carom_copy(N->p + nj, s->problem.p, n);
    return CAROM_OK;
}

// S at the point just evaluated.
static carom_status factorise_joints(carom_newton *N, carom_step *s, bool *good) {
    inside *in = N->inside;
    CAROM_TRY(in->eval(in->work, s, N, in->v_1, true));
    in->have_A = true;
    in->chord.age = 0;
    *good = carom_saddle_factor(&in->S, N->A, &N->L.W, &N->V.W);
    return CAROM_OK;
}

// (NEW-6)  *done is false where the factor does not exist, or does not serve: joints are rows of the contact problem
//          then.
static carom_status correct_joints(carom_newton *N, carom_step *s, int k, bool *done) {
    inside *in = N->inside;
    carom_saddle *S = &in->S;
    const int nv = s->sys->nv, nj = carom_joints_of(s, &N->L).nb, nc = N->L.nb - nj;
    bool good = S->on && nj == S->ne && !(nc > 0 && s->impacts);
    const bool again = good && k > 0 && in->by_saddle && carom_chord_serves(&in->chord);
    *done = false;
    if (again)
        in->chord.age += 1;
    else if (good) CAROM_TRY(factorise_joints(N, s, &good));
    if (!good) return CAROM_OK;
    right_hand_side(N, nv, nj, NULL, NULL);
    if (!again) carom_joints_weigh(s, S, &N->L);
    if (again) carom_saddle_solve(S);
    else if (!carom_saddle_solve_checked(S, carom_joints_small(s))) return CAROM_OK;
    if (!again) in->free = carom_joints_free(S, &N->L.W, N->A, N->p, S->x + nv, in->x);
    carom_problem_scale(s, &in->free, 1);
    s->counts->problems += nc == 0; // else that of contacts counts
    if (nc > 0) {
        const carom_local L = carom_contacts_of(s, &N->L, in->at);
        carom_columns V = N->V.W;
        V.a += (size_t)nj * (size_t)V.stride, V.n -= nj, V.count += nj, V.row += (size_t)nj * (size_t)V.stride;
        CAROM_TRY(solve_contacts(N, s, &L, &V, N->u_1 + nj, nj));
        right_hand_side(N, nv, nj, &L, N->p + nj);
        carom_saddle_solve(S);
    }
    for (int j = 0; j < nj; ++j) N->p[j] -= S->x[nv + j];
    carom_axpy(in->v_1, 1, S->x, nv);
    *done = true;
    return CAROM_OK;
}

// Do joints hold, with velocities up to `joints`, and do contacts meet their laws, to the tolerance of contact
// problems?
static bool laws_met(carom_newton *N, carom_step *s, double joints) {
    inside *in = N->inside;
    const int nj = in->by_saddle ? carom_joints_of(s, &N->L).nb : 0;
    if (nj > 0 && nj == N->L.nb && carom_joints_met(s, joints, 0)) return true; // whatever rounding leaves
    const double rounding = carom_local_velocity_rounding(s, &N->L, in->v_1);
    if (!in->by_saddle) {
        carom_problem_restitution(s, &N->L, N->u_1, N->u_0);
        return carom_problem_met(s, N->L.id, rounding);
    }
    if (!carom_joints_met(s, joints, rounding)) return false;
    if (nj == N->L.nb) return true;
    const carom_local L = carom_contacts_of(s, &N->L, in->at);
    carom_problem_restitution(s, &L, N->u_1 + nj, N->u_0 + nj);
    return carom_problem_met(s, L.id, rounding);
}

// -- Newton's method -------------------------------------------------------------------------------------------------

// Is (v_1, p) the answer?  Both residuals are taken at the point just evaluated.
static bool done(carom_newton *N, carom_step *s) {
    inside *in = N->inside;
    const int nv = s->sys->nv;
    carom_copy(in->r, N->R, nv);
    carom_local_react(in->r, -1, &N->L, N->p);
    const double size = fmax(carom_momentum_size(N->size, N->M), carom_momentum_size(N->R, N->M)),
                 left = carom_momentum_size(in->r, N->M);
    const double joints = in->by_saddle ? carom_joints_size(&in->S, N->u_1) : 0;
    if (in->by_saddle) carom_chord_note(&in->chord, left / size + joints / s->scale);
    if (!carom_motion_met(s, left, size, N->share, N->K, N->M, N->q, in->x)) return false;
    return N->L.nb == 0 || laws_met(N, s, joints);
}

// The factor of A and V at the point just evaluated.
static carom_status linearise(carom_newton *N, carom_step *s) {
    inside *in = N->inside;
    if (in->F.ready && in->h == s->h) {
        carom_local_blend(&N->V, &N->L, 0, NULL);
        return CAROM_OK;
    }
    in->F.ready = false;
    if (!in->have_A) CAROM_TRY(in->eval(in->work, s, N, in->v_1, true));
    CAROM_TRY(carom_iteration_factor(s, &in->F, N->A));
    in->F.ready = N->constant;
    in->h = s->h;
    return CAROM_OK;
}

static carom_status evaluate(void *newton, carom_step *s, int k, bool *answer) {
    carom_newton *N = newton;
    inside *in = N->inside;
    N->k = k;
    in->have_A = false;
    CAROM_TRY(in->eval(in->work, s, N, in->v_1, false));
    *answer = k > 0 && done(N, s);
    return CAROM_OK;
}

static carom_status correct(void *newton, carom_step *s, int k) {
    carom_newton *N = newton;
    inside *in = N->inside;
    const int nv = s->sys->nv, n = N->L.at[N->L.nb];
    if (n > 0 && in->S.on) {
        CAROM_TRY(correct_joints(N, s, k, &in->by_saddle));
        if (in->by_saddle) return CAROM_OK;
    }
    CAROM_TRY(linearise(N, s));
    // (NEW-2)  x = A^-1 R;  u_1 - V'x is the local velocity without reactions
    carom_copy(in->x, N->R, nv);
    carom_factor_solve(&in->F, in->x);
    if (n > 0) {
        for (int i = 0; i < n; ++i) N->u_1[i] -= carom_column_dot(&N->V.W, i, in->x);
        carom_problem_form(s, &N->V, &N->L, &in->F, 1);
        if (k == 0) CAROM_TRY(carom_problem_bounce(s, &N->L, N->u_0));
        carom_problem_restitution(s, &N->L, N->u_1, N->u_0);
        CAROM_TRY(carom_problem_solve(s, &N->L));
        carom_copy(N->p, s->problem.p, n);
    }
    // dv = A^-1 W p - x
    carom_axpy(in->v_1, -1, in->x, nv);
    if (n > 0) carom_problem_apply(s, in->v_1, 1);
    return CAROM_OK;
}

carom_status carom_newton_solve(carom_newton *N, carom_step *s, double *v_1, carom_newton_eval *eval, void *work) {
    inside *in = N->inside;
    carom_local_same(&N->V, &N->L);
    carom_zero(N->p, N->L.at[N->L.nb]);
    in->v_1 = v_1;
    in->eval = eval;
    in->work = work;
    in->by_saddle = false;
    carom_past_continue(&in->past, s, N->L.nb, v_1, N->p);
    const carom_iteration I = {
        .method = "Newton's method", .most = MOST, .x = v_1, .n = s->sys->nv, .evaluate = evaluate, .correct = correct};
    CAROM_TRY(carom_iterate(&I, N, s, NULL));
    carom_past_note(&in->past, s, N->L.nb, v_1, N->p);
    return CAROM_OK;
}

// v_1 -= F^-1 R.  Is it finite?
static bool subtract(carom_newton *N, const carom_factor *F, int nv) {
    inside *in = N->inside;
    carom_copy(in->x, N->R, nv);
    carom_factor_solve(F, in->x);
    carom_axpy(in->v_1, -1, in->x, nv);
    return carom_norm_max(in->v_1, nv) < HUGE_VAL;
}

int carom_newton_chord(carom_newton *N, carom_step *s, double *v_1, const carom_factor *F, carom_newton_eval *eval,
                       void *work) {
    inside *in = N->inside;
    N->L.nb = N->L.at[0] = 0;
    in->v_1 = v_1;
    in->eval = eval;
    in->work = work;
    N->k = 0;
    N->share = 0; // K is of another point
    for (; N->k <= CAROM_CHORDS; ++N->k) {
        if (eval(work, s, N, v_1, false) != CAROM_OK) return 0;
        if (N->k > 0 && done(N, s)) return N->k;
        if (N->k == CAROM_CHORDS || !subtract(N, F, s->sys->nv)) return 0;
    }
    return 0;
}
