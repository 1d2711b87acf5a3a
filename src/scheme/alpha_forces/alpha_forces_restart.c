// alpha_forces_restart.c: accelerations and reactions that fit each other, at the start and after events.
#include "scheme/alpha_forces/alpha_forces.h"
#include "linalg/matrix.h"
#include "scheme/friction.h"
#include <math.h>

typedef carom_alpha_forces work;

carom_status carom_alpha_metric(work *w, carom_step *s) {
    carom_newton *N = &w->N;
    const double h = s->h, gc = w->par.gamma * w->c, bc = w->par.beta * w->c;
    struct carom_newton_inside *in = N->inside;
    w->F = N->constant ? &in->F : &w->F_A;
    if (N->constant && in->F.ready && in->h == h) return CAROM_OK;
    carom_matrix A = N->constant ? N->A : w->A;
    carom_factor *F = N->constant ? &in->F : &w->F_A;
    carom_matrix_zero(A);
    carom_matrix_add(A, 1, w->M);
    carom_matrix_add(A, h * gc, w->C);
    carom_matrix_add(A, h * h * bc, w->K);
    F->ready = false;
    CAROM_TRY(carom_iteration_factor(s, F, A));
    F->ready = N->constant;
    if (N->constant) in->h = h;
    return CAROM_OK;
}

// The same at a point.
static carom_status metric_at(work *w, carom_step *s, double t, const double *q, const double *v) {
    if (!w->have_M) CAROM_TRY(carom_mass(s, w->M, t, q));
    w->have_M = s->sys->flags & CAROM_CONSTANT_MASS;
    if (!(w->N.constant && w->N.inside->F.ready)) CAROM_TRY(carom_tangent(s, w->K, w->C, t, q, v));
    w->N.K = w->K, w->N.q = w->q_s, w->N.share = s->h * w->par.gamma * w->c; // Newton's method may do with these
    return carom_alpha_metric(w, s);
}

// -- rows ------------------------------------------------------------------------------------------------------------

// Which contacts of L slide at local velocities u, and where to.
static void classify(work *w, const carom_step *s, const carom_local *L, const double *u, const double *v) {
    for (int b = s->sys->ne; b < L->nb; ++b) {
        const int id = L->id[b], first = L->at[b] + 1, n = L->at[b + 1] - first;
        const double length = carom_length(u + first, n);
        double none = 0;
        for (int k = first; k < first + n; ++k) none = fmax(none, carom_alpha_no_velocity(s, L, k, v));
        w->slides[id] = n > 0 && !w->stuck[id] && length > none;
        for (int k = 0; k < n; ++k) w->slip[s->dir[id] + 1 + k] = w->slides[id] ? u[first + k] / length : 0;
    }
}

// The directions of slip at u; a contact that would have been reversed keeps its own.
static void turn(work *w, const carom_step *s, const carom_local *L, const double *u) {
    for (int b = s->sys->ne; b < L->nb; ++b) {
        const int id = L->id[b], first = L->at[b] + 1, n = L->at[b + 1] - first;
        double *d = w->slip + s->dir[id] + 1, along = 0;
        const double length = carom_length(u + first, n);
        for (int k = 0; k < n; ++k) along += d[k] * u[first + k];
        for (int k = 0; w->slides[id] && along > 0 && k < n; ++k) d[k] = u[first + k] / length;
    }
}

// L_r: joints, normals, and tangents of contacts that stick; push: the same, of a contact that slides W_N - mu W_T d.
static void choose_rows(work *w, const carom_step *s, const carom_local *L) {
    carom_local *R = &w->L_r, *B = &w->push;
    R->nb = B->nb = L->nb;
    R->at[0] = B->at[0] = 0;
    for (int b = 0; b < L->nb; ++b) {
        const int id = L->id[b], at = R->at[b], contact = id - s->sys->ne;
        const bool slides = contact >= 0 && w->slides[id];
        const int n = slides ? 1 : L->at[b + 1] - L->at[b];
        R->id[b] = B->id[b] = id;
        R->at[b + 1] = B->at[b + 1] = at + n;
        for (int k = 0; k < n; ++k) {
            w->row[at + k] = L->at[b] + k;
            carom_local_take_row(R, at + k, L, L->at[b] + k);
            carom_local_take_row(B, at + k, L, L->at[b] + k);
        }
        const double mu = slides ? s->sys->contacts[contact].friction : 0;
        for (int k = L->at[b] + 1; slides && k < L->at[b + 1]; ++k)
            carom_alpha_add_row(B, at, -mu * w->slip[s->dir[id] + k - L->at[b]], L, k);
    }
}

// -- accelerations ----------------------------------------------------------------------------------------------------

// a, accelerations without reactions, becomes that with them.
static carom_status react(work *w, carom_step *s, double *a) {
    const carom_local *R = &w->L_r;
    const int n = R->at[R->nb];
    if (n == 0) return CAROM_OK;
    for (int k = 0; k < n; ++k) s->c[k] = s->h * (carom_column_dot(&R->W, k, a) + w->kappa[w->row[k]]);
    carom_zero(s->p, n);
    CAROM_TRY(carom_problem_rub(s, R->id));
    carom_copy(w->z, s->p, n);
    carom_problem_apply(s, a, 1);
    return CAROM_OK;
}

// w->lambda_r from the reactions of L_r's rows: friction of a contact that slides is -mu lambda_N d.
static void book_rows(work *w, const carom_step *s, const carom_local *L) {
    const carom_local *R = &w->L_r;
    carom_zero(w->lambda_r, s->dir[s->sys->ne + s->sys->nc]);
    for (int b = 0; b < R->nb; ++b) {
        const int id = R->id[b], d = s->dir[id];
        for (int k = R->at[b]; k < R->at[b + 1]; ++k) w->lambda_r[d + k - R->at[b]] = w->z[k];
        if (id < s->sys->ne || !w->slides[id]) continue;
        const double mu = s->sys->contacts[id - s->sys->ne].friction;
        for (int k = 1; k < L->at[b + 1] - L->at[b]; ++k) w->lambda_r[d + k] = -mu * w->z[R->at[b]] * w->slip[d + k];
    }
}

// (AF-10)  A s = f + W lambda;  W's + kappa: 0 of joints, the law of contact of normals, Coulomb's law of tangents
//          that stick, lambda_T = -mu lambda_N d of those that slide;  then once more with f + E s, E = A - M, where
//          that changes s by less than half:  what is not stiff has M s = f + W lambda up to E^2
static carom_status solve(work *w, carom_step *s, const carom_local *L) {
    const int nv = s->sys->nv;
    carom_copy(w->a_r, w->f, nv);
    carom_factor_solve(w->F, w->a_r);
    choose_rows(w, s, L);
    if (L->nb > 0) {
        carom_problem_form_pushed(s, &w->L_r, &w->push, w->F, s->h);
        for (int b = s->sys->ne; b < L->nb; ++b)
            if (w->slides[L->id[b]]) s->blocks[b].law = CAROM_UNILATERAL;
    }
    CAROM_TRY(react(w, s, w->a_r));
    carom_matrix_mul(w->y, w->N.constant ? w->N.A : w->A, w->a_r);
    carom_matrix_mul(w->x_v, w->M, w->a_r);
    for (int i = 0; i < nv; ++i) w->y[i] -= w->x_v[i];
    const double off = carom_momentum_size(w->y, w->M), size = carom_momentum_size(w->x_v, w->M);
    if (off > 0 && off <= 0.5 * size) { // beyond, the iteration does not contract
        for (int i = 0; i < nv; ++i) w->a_r[i] = w->f[i] + w->y[i];
        carom_factor_solve(w->F, w->a_r);
        CAROM_TRY(react(w, s, w->a_r));
    }
    book_rows(w, s, L);
    return CAROM_OK;
}

// At a point, with the contacts of z; anew: whether they slide is found there.
static carom_status accelerate(work *w, carom_step *s, double t, const double *q, const double *v,
                               const carom_alpha_state *z, bool anew) {
    carom_local *L = &w->L_a;
    bool settled = false;
    for (int c = 0; c < s->sys->nc; ++c) w->pick[c] = z->in[c] != 0;
    carom_close_these(s, L, w->pick);
    CAROM_TRY(carom_friction_at(s, t, q, v));
    CAROM_TRY(carom_force(s, w->f, t, q, v));
    if (L->nb > 0) {
        CAROM_TRY(carom_directions(s, L, t, q));
        CAROM_TRY(carom_curvature(s, w->kappa, L, t, q, v));
        carom_local_velocity(w->u_r, L, v);
        if (anew)
            classify(w, s, L, w->u_r, v);
        else
            turn(w, s, L, w->u_r);
    }
    for (int round = 0; !settled; ++round) {
        CAROM_TRY(solve(w, s, L));
        if (L->nb > 0) carom_alpha_gather(w->rows_r, s, L, w->lambda_r);
        CAROM_TRY(carom_friction_settle(s, L, w->rows_r, round, &settled));
        if (!settled) CAROM_TRY(carom_friction_at(s, t, q, v));
    }
    return CAROM_OK;
}

// (AF-11)  a = 2 s - s(t + tau), l = 2 lambda - lambda(t + tau),  tau = (alpha_f - alpha_m) h:  a stands at t - tau.
//          The later state is that which s leads to, with contacts that slide and stick as now.  Where s changes by
//          half, forces are too stiff for that:  a = s, l = lambda
carom_status carom_alpha_restart(work *w, carom_step *s, double t, carom_alpha_state *z) {
    const int nv = s->sys->nv, nd = s->dir[s->sys->ne + s->sys->nc];
    const double tau = (w->par.alpha_f - w->par.alpha_m) * s->h;
    CAROM_TRY(metric_at(w, s, t, z->q, z->v));
    CAROM_TRY(accelerate(w, s, t, z->q, z->v, z, true));
    carom_copy(z->s, w->a_r, nv);
    carom_copy(z->a, w->a_r, nv);
    carom_copy(z->lambda, w->lambda_r, nd);
    carom_copy(z->l, w->lambda_r, nd);
    *z->h = -s->h;
    if (!(tau > 0)) return CAROM_OK;
    for (int i = 0; i < nv; ++i) {
        w->x_v[i] = tau * (z->v[i] + 0.5 * tau * z->s[i]);
        w->v_r[i] = z->v[i] + tau * z->s[i];
    }
    carom_move(s, w->q_r, z->q, 1, w->x_v);
    CAROM_TRY(accelerate(w, s, t + tau, w->q_r, w->v_r, z, false));
    for (int i = 0; i < nv; ++i) w->y[i] = w->a_r[i] - z->s[i];
    // chosen: more is a jump, no slope
    if (!(carom_velocity_size(w->y, w->M) <= 0.5 * carom_velocity_size(z->s, w->M))) return CAROM_OK;
    for (int i = 0; i < nv; ++i) z->a[i] -= w->y[i];
    for (int k = 0; k < nd; ++k) z->l[k] = 2 * z->lambda[k] - w->lambda_r[k];
    return CAROM_OK;
}
