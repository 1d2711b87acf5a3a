// ggl_alpha_solver.c: position and velocity level of ggl-alpha by the contact solvers, where Newton's method on active
// sets fails.
//
// The sets of (GA-9) and (GA-14) may be exchanged in a circle: many contacts with friction that depend on each other,
// and friction in space whose direction lags.  With q~, v~ and the directions of the present iterate both levels are
// contact problems like those of all other schemes, which solvers of several kinds treat in turn.  Wants inertia
// everywhere.
#include "scheme/friction.h"
#include "scheme/ggl/ggl_alpha.h"
#include "scheme/impact.h"
#include "system/system.h"
#include <math.h>

void carom_ggl_alpha_allocate_solver(carom_ggl_alpha *w, carom_arena *mem, const carom_system *sys) {
    w->F_M = carom_allocate_factor(mem, sys->mass_shape, true);
    w->L_p = carom_allocate_local(mem, sys);
}

// U_T = h/2 M^-1 W_T Lambda_T
static void rub(carom_ggl_alpha *w, const carom_step *s, double *U_T) {
    carom_zero(U_T, s->sys->nv);
    for (int b = 0; b < w->L.nb; ++b)
        for (int i = 1; i <= carom_ggl_alpha_tangents(w, b); ++i)
            carom_column_axpy(U_T, 0.5 * s->h * w->T[w->L_0.at[w->L.id[b]] + i], &w->L.W, w->L.at[b] + i);
    carom_factor_solve(&w->F_M, U_T);
}

// (GA-15)  G = W'M^-1 W of normals,  0 <= nu/h _|_ (g - W'(U - U_T))/h + G nu/h >= 0,  U = M^-1 W nu + U_T
// Friction alone, without the normal reactions that it comes with, throws light bodies far: such a c is the scale of
// this problem, and no velocity of the run.
carom_status carom_ggl_alpha_positions(carom_ggl_alpha *w, carom_step *s) {
    carom_local *L = &w->L_p;
    const double t_1 = s->t + s->h;
    double *U_T = w->scratch;
    CAROM_TRY(carom_mass_factor(s, &w->F_M, t_1, w->q));
    rub(w, s, U_T);
    carom_axpy(w->U, -1, U_T, s->sys->nv);
    L->nb = L->at[0] = 0;
    for (int b = 0; b < w->L.nb; ++b) { // of each constraint with a gap its normal
        if (carom_on_rates(s->sys, w->L.id[b])) continue;
        L->id[L->nb++] = w->L.id[b];
        L->at[L->nb] = L->nb;
    }
    CAROM_TRY(carom_directions(s, L, t_1, w->q_W));
    carom_bent_keep(&w->bent, L);
    carom_problem_form(s, L, L, &w->F_M, 1);
    for (int b = 0; b < L->nb; ++b) {
        if (s->blocks[b].law != CAROM_BILATERAL) s->blocks[b].law = CAROM_UNILATERAL;
        s->c[b] = (w->g[L->id[b]] - carom_column_dot(&L->W, b, w->U)) / s->h;
        s->p[b] = w->judged ? w->nu[L->id[b]] / s->h : 0;
    }
    const double scale = s->scale;
    const carom_status status = carom_problem_run(s, L->id);
    s->scale = scale;
    CAROM_TRY(status);
    w->accepted = s->contact.last; // of this iteration, which begins with positions
    carom_copy(w->U, U_T, s->sys->nv);
    carom_problem_apply(s, w->U, s->h);
    for (int b = 0; b < L->nb; ++b) w->nu[L->id[b]] = s->h * s->p[b];
    return CAROM_OK;
}

// The problem of the velocity level, over joints and what is closed at q~ or pushed out; u is u_0 of its rows.
static carom_status form(carom_ggl_alpha *w, carom_step *s, const double *set, double *u) {
    carom_local *L = &w->L_p;
    const double t_1 = s->t + s->h;
    CAROM_TRY(carom_mass_factor(s, &w->F_M, t_1, w->q));
    carom_close(s, L, set);
    CAROM_TRY(carom_directions(s, L, t_1, w->q_W));
    carom_bent_keep(&w->bent, L);
    carom_local_pick(u, L, w->u_0, &w->L_0);
    carom_problem_form(s, L, L, &w->F_M, 1);
    return CAROM_OK;
}

static double side(const carom_ggl_alpha *w, const carom_step *s, int id) {
    return id < s->sys->ne || carom_ggl_alpha_closed(w, s, id) ? -1 : 1;
}

carom_status carom_ggl_alpha_bounce(carom_ggl_alpha *w, carom_step *s, bool afresh) {
    const carom_local *L = &w->L_p;
    bool same = !afresh;
    for (int id = 0; id < s->sys->ne + s->sys->nc; ++id) {
        same = same && w->closed[id] == side(w, s, id);
        w->closed[id] = side(w, s, id);
    }
    if (same) return CAROM_OK;
    CAROM_TRY(form(w, s, w->closed, w->scratch));
    CAROM_TRY(carom_problem_bounce(s, L, w->scratch));
    carom_zero(s->u, s->problem.n);
    carom_problem_restitution(s, L, s->u, w->scratch); // c = -b
    carom_zero(w->b, w->L_0.W.n);
    for (int k = 0; k < L->nb; ++k)
        for (int i = L->at[k]; i < L->at[k + 1]; ++i) w->b[w->L_0.at[L->id[k]] + i - L->at[k]] = -s->c[i];
    return CAROM_OK;
}

// Solve from the answer of the iterate before: dependent contacts share a load in many ways, and must keep to one.
static carom_status resume(carom_ggl_alpha *w, carom_step *s) {
    const carom_local *L = &w->L_p;
    if (s->problem.n > CAROM_WARM) return carom_problem_solve(s, L);
    for (int b = 0; b < L->nb; ++b) {
        s->p[L->at[b]] = w->Lambda[L->id[b]];
        for (int k = 1; k < L->at[b + 1] - L->at[b]; ++k) s->p[L->at[b] + k] = w->T[w->L_0.at[L->id[b]] + k];
    }
    return carom_problem_rub(s, L->id);
}

// (GA-16)  over joints and what is closed at q~ or pushed out, nu > 0:  u = W'v~ + G (Lambda, Lambda_T),  law(u + e o
//          u_0, (Lambda, Lambda_T)),  w = M^-1 W (Lambda, Lambda_T)
carom_status carom_ggl_alpha_velocities(carom_ggl_alpha *w, carom_step *s) {
    carom_local *L = &w->L_p;
    for (int id = 0; id < s->sys->ne + s->sys->nc; ++id) w->scratch[id] = side(w, s, id);
    CAROM_TRY(form(w, s, w->scratch, w->u));
    carom_local_velocity(w->u_s, L, w->v_s);
    // as found with the set, not anew at every iterate
    if (s->impacts) carom_local_pick(s->impacts->b, L, w->b, &w->L_0);
    carom_problem_restitution(s, L, w->u_s, w->u);
    CAROM_TRY(resume(w, s));
    w->accepted = fmax(w->accepted, s->contact.last);
    carom_zero(w->w, s->sys->nv);
    carom_problem_apply(s, w->w, 1);
    carom_zero(w->Lambda, s->sys->ne + s->sys->nc);
    carom_zero(w->T, w->L_0.W.n);
    for (int b = 0; b < L->nb; ++b) {
        const int id = L->id[b];
        w->Lambda[id] = s->p[L->at[b]];
        for (int k = 1; k < L->at[b + 1] - L->at[b]; ++k) w->T[w->L_0.at[id] + k] = s->p[L->at[b] + k];
    }
    return CAROM_OK;
}
