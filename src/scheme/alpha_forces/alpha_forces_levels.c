// alpha_forces_levels.c: position and velocity level of a step of alpha-forces.
#include "linalg/matrix.h"
#include "scheme/alpha_forces/alpha_forces.h"
#include <math.h>

typedef carom_alpha_forces work;

// -- positions --------------------------------------------------------------------------------------------------------

// The size of row k of L as of a momentum (NEW-5).
static double reach(const work *w, const carom_local *L, int k) {
    const carom_entries W = carom_entries_of(&L->W, k);
    double most = 0;
    for (int e = 0; e < W.n; ++e) {
        const int i = carom_entry_row(&W, e);
        const double m = *carom_matrix_entry(w->M, i, i);
        if (m > 0) most = fmax(most, fabs(W.a[e]) / sqrt(m));
    }
    return most;
}

static const double NONE = 1e-11; // of the momentum of a step, or of a reaction's impulse: what iterations may leave

// (AF-13)  H = { j in F : h gamma c (lambda_N (+ kap)) |W_N| > 1e-11 p },  p the momentum of a step:  forces that are
//          no rounding
static void find_held(work *w, const carom_step *s) {
    const carom_local *L = &w->N.L;
    const double size = carom_momentum_size(w->N.size, w->M);
    for (int id = 0; id < s->sys->ne + s->sys->nc; ++id) w->holds[id] = false;
    for (int b = s->sys->ne; b < L->nb; ++b) {
        const int k = L->at[b];
        const double along = reach(w, L, k);
        w->holds[L->id[b]] = w->N.p[k] > 0 && (along > 0 ? w->N.p[k] * along > NONE * size : true);
    }
}

// (AF-7)  (M + h gamma c C) ds = -K x,  s += ds, v~ += h gamma c ds:  the elastic answer to x.  What has neither
//         inertia nor damping stays.
static carom_status answer(work *w, carom_step *s) {
    const int nv = s->sys->nv;
    const double g = s->h * w->par.gamma * w->c, *x = w->P.moved;
    double *r = w->y;
    carom_matrix_mul(r, w->K, x);
    const double size = carom_momentum_size(r, w->M);
    if (!(g * size > s->newton_tol * carom_momentum_size(w->N.size, w->M))) return CAROM_OK;
    carom_matrix_zero(w->B);
    carom_matrix_add(w->B, 1, w->M);
    carom_matrix_add(w->B, g, w->C);
    for (int i = 0; i < nv; ++i) {
        double *own = carom_matrix_entry(w->B, i, i);
        if (*carom_matrix_entry(w->M, i, i) == 0 && *own == 0) *own = 1, r[i] = 0;
    }
    if (carom_factorise(&w->F_B, w->B, NULL) == CAROM_OK)
        carom_factor_solve(&w->F_B, r);
    else
        carom_factor_solve(w->F, r); // singular without a zero on its diagonal
    carom_axpy(w->s, -1, r, nv);
    carom_axpy(w->v_s, -g, r, nv);
    return CAROM_OK;
}

// (AF-6)  q_1 = q~ + x, A x = W nu;  E and H: g = 0;  other contacts: 0 <= g(q_1) _|_ nu >= 0
carom_status carom_alpha_positions(work *w, carom_step *s) {
    carom_projection *P = &w->P;
    const int ne = s->sys->ne, nc = s->sys->nc;
    const double t_1 = s->t + s->h;
    bool some;
    find_held(w, s);
    CAROM_TRY(carom_gaps(s, P->g, t_1, w->q_s));
    CAROM_TRY(carom_close_together(s, &P->L, P->g,
                                   (carom_evaluation_point){.t = t_1, .q = w->q_s, .v = w->v_s, .active = w->now.in}));
    carom_note_gaps(s, P->g, w->q_s);
    carom_copy(w->g_s, P->g, ne + nc);
    bool needed = w->N.L.nb > 0;
    for (int id = ne; id < ne + nc; ++id) needed = needed || P->g[id] < 0;
    if (needed) CAROM_TRY(carom_alpha_metric(w, s));
    P->F = w->F;
    P->t_f = t_1, P->q_f = w->q_s;
    P->q_0 = w->now.q, P->v_0 = w->now.v;
    P->equal = w->holds;
    P->joints = w->N.inside->by_saddle ? &w->N.inside->S : NULL;
    carom_copy(P->q_P, w->q_s, s->sys->nq);
    CAROM_TRY(carom_project(P, s, &some));
    for (int id = ne; id < ne + nc; ++id)
        w->hit[id] = !w->in[id] && (carom_closed(s, w->g_s[id]) || P->Psi[id] > 0 || w->due[id]);
    return some ? answer(w, s) : CAROM_OK;
}

// -- velocities -------------------------------------------------------------------------------------------------------

double carom_alpha_crossing(double g_0, double u_0, double g_1, double u_1, double h, double *u) {
    // g(x) = g_0 (1 + 2x)(1 - x)^2 + h u_0 x (1 - x)^2 + g_1 x^2 (3 - 2x) - h u_1 x^2 (1 - x),  x from 0 to 1
    double low = 0, high = 1;
    for (int i = 0; i < 60; ++i) {
        const double x = 0.5 * (low + high), y = 1 - x;
        if (g_0 * (1 + 2 * x) * y * y + h * u_0 * x * y * y + g_1 * x * x * (3 - 2 * x) - h * u_1 * x * x * y > 0)
            low = x;
        else
            high = x;
    }
    const double x = high, y = 1 - x;
    *u = 6 * x * y * (g_1 - g_0) / h + u_0 * y * (1 - 3 * x) + u_1 * x * (3 * x - 2);
    return x;
}

// u^-, local velocities before the impact: at the start of the step, along the directions at q_1 where a contact
// meets a kink, or (AF-12) where the gap is zero; none for F.  Contacts that are captured give nothing back.
static carom_status before(work *w, carom_step *s) {
    const carom_local *L = &w->L_v;
    const int ne = s->sys->ne;
    const double t_1 = s->t + s->h;
    carom_local_same(&w->L_r, L);
    CAROM_TRY(carom_directions(s, &w->L_r, s->t, w->now.q));
    carom_local_velocity(w->u_before, &w->L_r, w->now.v);
    CAROM_TRY(carom_velocity_before(s, w->u_before, L, (carom_evaluation_point){.t = t_1, .q = w->P.q, .v = w->now.v}));
    if (w->crossing) CAROM_TRY(carom_gaps(s, w->g_0, s->t, w->now.q));
    w->captured = false;
    carom_copy(w->u_book, w->u_s, L->at[L->nb]);
    for (int b = 0; b < L->nb; ++b) {
        const int id = L->id[b], k = L->at[b], n = L->at[b + 1] - k;
        double *u = w->u_before + k, there;
        const double u_s = w->u_free[k];
        w->plastic[b] = false;
        if (id < ne || !w->hit[id]) {
            carom_zero(u, n);
            continue;
        }
        if (w->now.in[id - ne] != 0) // it meets a kink: along the directions there, and with the wall as it moves there
            for (int i = 0; i < n; ++i) u[i] = carom_column_dot(&L->W, k + i, w->now.v) + L->w[k + i];
        if (w->due[id]) {
            u[0] = fmin(u_s, 0);
        } else if (w->crossing && w->g_0[id] > 0 && w->g_s[id] < 0) {
            carom_alpha_crossing(w->g_0[id], u[0], w->g_s[id], u_s, s->h, &there);
            if (there < 0) u[0] = fmax(there, -fmax(fabs(u[0]), fabs(u_s)));
        }
        carom_copy(w->u_book + k, u, n);
        // (AF-14)  e = 0 where e |u^-| <= (u^- - u(q~, v~))/2:  the next flight would be shorter than a step
        if (carom_restitution(s, id - ne, u[0]) * fabs(u[0]) > 0.5 * (u[0] - u_s)) continue;
        u[0] = 0;
        w->plastic[b] = w->captured = true;
    }
    return CAROM_OK;
}

// The rows of L_v that a step without impact corrects: joints and normals of H.
static void choose_rows(work *w, const carom_step *s) {
    const carom_local *L = &w->L_v;
    carom_local *R = &w->L_r;
    R->nb = R->at[0] = 0;
    for (int b = 0; b < L->nb; ++b) {
        if (L->id[b] >= s->sys->ne && !w->holds[L->id[b]]) continue;
        w->row[R->nb] = L->at[b];
        carom_local_take_row(R, R->nb, L, L->at[b]);
        R->id[R->nb] = L->id[b];
        R->nb += 1;
        R->at[R->nb] = R->nb;
    }
}

// Joints alone, by the factor of the linear system: what is left of their velocities is small, and its metric does
// not matter.
static carom_status settle_joints(work *w, carom_step *s) {
    carom_saddle *S = &w->N.inside->S;
    const int nv = s->sys->nv;
    carom_zero(S->b, nv);
    for (int j = 0; j < s->sys->ne; ++j) S->b[nv + j] = -w->u_s[w->row[j]];
    carom_saddle_solve(S);
    carom_axpy(w->v_1, 1, S->x, nv);
    return CAROM_OK;
}

// (AF-8) without impact:  u = 0 on E and H.  Where dependent contacts contradict each other they may open.
static carom_status settle(work *w, carom_step *s, const carom_factor *F) {
    const carom_local *R = &w->L_r;
    bool some = false;
    choose_rows(w, s);
    for (int k = 0; k < R->nb; ++k) some = some || fabs(w->u_s[w->row[k]]) > carom_alpha_no_velocity(s, R, k, w->v_1);
    if (!some) return CAROM_OK;
    if (w->N.inside->by_saddle && R->nb == s->sys->ne) return settle_joints(w, s);
    carom_problem_form(s, R, R, F, 1);
    for (int round = 0; round < 2; ++round) {
        for (int k = 0; k < R->nb; ++k) {
            s->blocks[k].law = round == 0 || R->id[k] < s->sys->ne ? CAROM_BILATERAL : CAROM_UNILATERAL;
            s->c[k] = w->u_s[w->row[k]];
            s->p[k] = 0;
        }
        const carom_status status = carom_problem_run(s, R->id);
        if (status == CAROM_RETRY && round == 0) continue;
        CAROM_TRY(status);
        break;
    }
    carom_problem_apply(s, w->v_1, 1);
    return CAROM_OK;
}

// (AF-20)  P = h gamma c (lambda + kap) of F,  where a contact of I is captured; else none.  By rows of L_v.
static void carried(work *w, const carom_step *s, double *P) {
    const carom_local *L = &w->N.L, *L_v = &w->L_v;
    carom_zero(P, L_v->at[L_v->nb]);
    if (!w->captured) return;
    carom_alpha_mean(w, s);
    for (int b = s->sys->ne, c = b; b < L_v->nb; ++b) {
        while (c < L->nb && L->id[c] < L_v->id[b]) ++c;
        if (c == L->nb || L->id[c] != L_v->id[b] || !(w->mean[L->at[c]] > 0)) continue;
        for (int k = 0; k < L->at[c + 1] - L->at[c]; ++k) P[L_v->at[b] + k] = s->h * w->mean[L->at[c] + k];
    }
}

// (AF-9)  M w = W Lambda over E, F and I;  E: u = 0;  F: 0 <= u_N _|_ Lambda_N >= 0;  I: 0 <= u_N + e u^- _|_
//         Lambda_N >= 0, or the contacts' own laws of impact;  friction within mu Lambda_N
static carom_status strike(work *w, carom_step *s, const carom_factor *F) {
    const carom_local *L = &w->L_v;
    CAROM_TRY(before(w, s));
    carom_problem_form(s, L, L, F, 1);
    CAROM_TRY(carom_problem_bounce_from(s, L, w->u_before, w->plastic));
    carom_problem_restitution(s, L, w->u_s, w->u_before);
    carried(w, s, w->z);
    if (w->captured) carom_problem_subtract(s, w->z);
    CAROM_TRY(carom_problem_solve(s, L));
    for (int k = 0; k < s->problem.n; ++k) {
        w->p[k] = s->problem.p[k] - w->z[k];
        if (fabs(w->p[k]) <= NONE * fabs(w->z[k])) w->p[k] = 0;
    }
    carom_problem_react(s, w->v_1, 1, w->p, s->problem.n);
    for (int b = s->sys->ne; b < L->nb; ++b) w->struck = w->struck || (w->hit[L->id[b]] && w->p[L->at[b]] > 0);
    return CAROM_OK;
}

// E, F and I with their directions at q_1.
static carom_status choose(work *w, carom_step *s, bool *impact) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    *impact = false;
    for (int c = 0; c < nc; ++c) {
        w->pick[c] = w->in[ne + c] || w->hit[ne + c];
        *impact = *impact || w->hit[ne + c];
    }
    carom_close_these(s, &w->L_v, w->pick);
    return w->L_v.nb > 0 ? carom_directions(s, &w->L_v, s->t + s->h, w->P.q) : CAROM_OK;
}

// (AF-19)  less those of I that x has taken off the feature that closed at q~, and those of F that have run off theirs
//          (CL-12).  Features found by search are held, and have no gaps that jump.
static carom_status leave(work *w, carom_step *s, bool *impact) {
    const carom_evaluation_point middle = {.t = s->t + s->h, .q = w->q_s}, end = {.t = s->t + s->h, .q = w->P.q},
                                 start = {.t = s->t, .q = w->now.q};
    if (!s->sys->events->freeze || s->sys->contact_list->freeze_searched) return CAROM_OK;
    CAROM_TRY(carom_run_off(s, &w->L_v, middle, end, w->P.g, w->g_0, w->hit));
    CAROM_TRY(carom_run_off(s, &w->L_v, start, end, w->P.g, w->g_0, w->in));
    return choose(w, s, impact);
}

carom_status carom_alpha_velocities(work *w, carom_step *s) {
    carom_local *L = &w->L_v;
    const double t_1 = s->t + s->h;
    bool impact;
    w->struck = w->captured = false;
    CAROM_TRY(choose(w, s, &impact));
    if (impact) CAROM_TRY(leave(w, s, &impact));
    carom_copy(w->v_1, w->v_s, s->sys->nv);
    if (L->nb == 0) return CAROM_OK;
    carom_local_velocity(w->u_free, L, w->v_f);
    carom_local_velocity(w->u_s, L, w->v_s);
    carom_zero(w->p, L->at[L->nb]);
    if (!w->massless) CAROM_TRY(carom_mass_factor(s, &w->F_M, t_1, w->P.q));
    const carom_factor *F = w->massless ? w->F : &w->F_M;
    CAROM_TRY(impact ? strike(w, s, F) : settle(w, s, F));
    carom_local_velocity(w->u, L, w->v_1);
    return CAROM_OK;
}
