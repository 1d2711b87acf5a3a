// alpha_forces.c: generalized-alpha with forces in lasting contact and impulses at impacts.
//
// Spec: docs/methods-alpha-forces.md, section AF.  A step has three levels.  Joints and lasting contacts have forces,
// which the generalized-alpha formulas carry like all others: second order, forces included.  Then positions are
// moved on the constraints, and velocities obey them; contacts that close have impulses.  After an event
// accelerations start anew.
#include "base/tolerance.h"
#include "scheme/alpha_forces/alpha_forces.h"
#include "linalg/matrix.h"
#include "scheme/friction.h"
#include "scheme/held.h"
#include "scheme/inside.h"
#include <math.h>

enum { OPT_RHO, OPT_LOCATE, OPT_BEFORE, OPT_REACTION };
static const carom_option options[] = {
    CAROM_RHO_OPTION,
    {.name = "locate", .kind = CAROM_CHOICE, .choices = "no|yes",
     .about = "yes: split a step at its first impact, at most three times; second order through impacts"},
    {.name = "before", .kind = CAROM_CHOICE, .choices = "start|crossing",
     .about = "approach velocity of an impact: at the start of the step; or where the gap is zero, by a cubic "
              "(always with locate=yes)"},
    {.name = "reaction", .kind = CAROM_CHOICE, .choices = "end|mean",
     .about = "recorded forces: those at the end of the step; or their mean over the step, smoother after a front"},
    {0},
};

enum { ROUNDS = 8, SPLITS = 3 };  // sets of slip that ends; parts of a step
static const double SPLIT = 1e-6; // of a step: shortest part
static const double SAME_MU = 1e-11; // relative: the residual that Newton leaves, with room

typedef carom_alpha_forces work;

static carom_alpha_state allocate_state(carom_arena *mem, const carom_system *sys, size_t recorded, bool positions) {
    carom_alpha_state z = {0};
    const size_t nv = (size_t)sys->nv;
    if (positions) {
        z.q = carom_allocate(mem, (size_t)sys->nq);
        z.v = carom_allocate(mem, nv);
    }
    CAROM_ALLOCATE(mem, nv, &z.s, &z.a);
    CAROM_ALLOCATE(mem, recorded, &z.lambda, &z.l);
    z.in = carom_allocate(mem, (size_t)sys->nc);
    z.h = carom_allocate(mem, 1);
    return z;
}

static void copy_state(carom_alpha_state *to, const carom_alpha_state *from, const carom_step *s) {
    const int nv = s->sys->nv, nd = s->dir[s->sys->ne + s->sys->nc];
    if (to->q && from->q) {
        carom_copy(to->q, from->q, s->sys->nq);
        carom_copy(to->v, from->v, nv);
    }
    carom_copy(to->s, from->s, nv);
    carom_copy(to->a, from->a, nv);
    carom_copy(to->lambda, from->lambda, nd);
    carom_copy(to->l, from->l, nd);
    carom_copy(to->in, from->in, s->sys->nc);
    *to->h = *from->h;
}

static bool *allocate_bools(carom_arena *mem, size_t n) { return carom_allocate_bytes(mem, n * sizeof(bool)); }

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    work *w = memory;
    const size_t nv = (size_t)sys->nv, nq = (size_t)sys->nq, nc = (size_t)sys->nc, nb = (size_t)sys->ne + nc;
    w->par = carom_newmark_rho(opt[OPT_RHO]);
    w->c = (1 - w->par.alpha_f) / (1 - w->par.alpha_m);
    w->locates = opt[OPT_LOCATE] == 1;
    w->crossing = w->locates || opt[OPT_BEFORE] == 1;
    w->mean_recorded = opt[OPT_REACTION] == 1;
    w->have_M = w->massless = w->seen = false;
    size_t recorded = 0;
    for (int id = 0; id < (int)nb; ++id) recorded += (size_t)carom_system_recorded(sys, id);
    w->kept = allocate_state(keep, sys, recorded, false);
    w->now = allocate_state(mem, sys, recorded, true);
    w->next = allocate_state(mem, sys, recorded, true);
    w->N = carom_allocate_newton(mem, keep, sys);
    w->N.M = w->M = carom_allocate_matrix(mem, sys->mass_shape);
    carom_matrix *tangents[] = {&w->K, &w->C, &w->A, &w->B};
    for (size_t i = 0; i < sizeof tangents / sizeof *tangents; ++i)
        *tangents[i] = carom_allocate_matrix(mem, sys->tangent_shape);
    w->D = carom_allocate_columns(mem, sys->nv, w->N.L.W.n, sys->column_stride);
    CAROM_ALLOCATE(mem, nv, &w->a_n, &w->a_p, &w->v_p, &w->x_p, &w->x, &w->s, &w->v_s, &w->v_f, &w->f, &w->v_1, &w->x_v,
                   &w->y, &w->a_r, &w->v_r);
    CAROM_ALLOCATE(mem, recorded, &w->l_n, &w->l_p, &w->kap, &w->slip, &w->lambda_r);
    CAROM_ALLOCATE(mem, nq, &w->q_s, &w->q_r);
    CAROM_ALLOCATE(mem, nc, &w->mu, &w->mu_before);
    carom_local *locals[] = {&w->L_0, &w->L_v, &w->L_r, &w->L_a, &w->push};
    for (size_t i = 0; i < sizeof locals / sizeof *locals; ++i) *locals[i] = carom_allocate_local(mem, sys);
    const int nl = w->L_0.W.n;
    w->push.W = carom_allocate_columns(mem, sys->nv, nl, 3 * sys->column_stride);
    double **rows[] = {&w->lambda,   &w->off,    &w->u_0, &w->mean, &w->u,     &w->u_s,    &w->u_free,
                       &w->u_before, &w->u_book, &w->u_r, &w->p,    &w->kappa, &w->rows_r, &w->z};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) *rows[i] = carom_allocate(mem, (size_t)nl);
    w->row = carom_allocate_ints(mem, (size_t)nl);
    CAROM_ALLOCATE(mem, nb, &w->g_s, &w->g_0);
    bool **sets[] = {&w->in, &w->turns, &w->holds, &w->hit, &w->due, &w->plastic, &w->stuck, &w->slides, &w->pick};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) *sets[i] = allocate_bools(mem, nb);
    w->P = carom_allocate_projection(mem, sys);
    w->F_M = carom_allocate_factor(mem, sys->mass_shape, true);
    w->F_A = carom_allocate_factor(mem, sys->tangent_shape, false);
    w->F_B = carom_allocate_factor(mem, sys->tangent_shape, false);
}

// -- forces -----------------------------------------------------------------------------------------------------------

// (AF-1)  a_p = (alpha_f s_n - alpha_m a_n)/(1 - alpha_m), l_p likewise;  a_1 = a_p + c s
// (AF-5)  kap = ((1 - gamma) l_n + gamma l_p)/(gamma c):  h gamma c (lambda + kap) is the reaction's impulse over the
//         step
// (AF-15)  after a step of another size h_n:  a_n <- s_n + (h/h_n) (a_n - s_n), l_n likewise
static void predict(work *w, const carom_step *s) {
    const carom_newmark_par *p = &w->par;
    const carom_alpha_state *z = &w->now;
    const double h = s->h, x = h / fabs(*z->h);
    for (int i = 0; i < s->sys->nv; ++i) {
        const double a = w->a_n[i] = x == 1 ? z->a[i] : z->s[i] + x * (z->a[i] - z->s[i]);
        w->a_p[i] = (p->alpha_f * z->s[i] - p->alpha_m * a) / (1 - p->alpha_m);
        w->v_p[i] = z->v[i] + h * ((1 - p->gamma) * a + p->gamma * w->a_p[i]);
        w->x_p[i] = h * z->v[i] + h * h * ((0.5 - p->beta) * a + p->beta * w->a_p[i]);
        w->v_s[i] = w->v_p[i] + h * p->gamma * w->c * z->s[i]; // first guess
    }
    for (int k = 0; k < s->dir[s->sys->ne + s->sys->nc]; ++k) {
        const double l = w->l_n[k] = x == 1 ? z->l[k] : z->lambda[k] + x * (z->l[k] - z->lambda[k]);
        w->l_p[k] = (p->alpha_f * z->lambda[k] - p->alpha_m * l) / (1 - p->alpha_m);
        w->kap[k] = ((1 - p->gamma) * l + p->gamma * w->l_p[k]) / (p->gamma * w->c);
    }
}

// Coefficients of friction at an iterate, and those at the one before.
static carom_status rub(work *w, carom_step *s, double t, const double *q, const double *v) {
    if (!s->inside->friction) return CAROM_OK;
    CAROM_TRY(carom_friction_at(s, t, q, v));
    for (int c = 0; c < s->sys->nc; ++c) {
        w->mu_before[c] = w->mu[c];
        w->mu[c] = s->sys->contacts[c].friction;
    }
    return CAROM_OK;
}

static carom_status eval(void *memory, carom_step *s, carom_newton *N, const double *v, bool matrix) {
    work *w = memory;
    const int nv = s->sys->nv;
    const double h = s->h, t_1 = s->t + h, g = h * w->par.gamma * w->c, x = h * w->par.beta / w->par.gamma;
    if (!matrix) {
        // (AF-2)  s = (v~ - v_p)/(h gamma c),  q~ = q_n + x_p + h beta/gamma (v~ - v_p)
        for (int i = 0; i < nv; ++i) {
            w->s[i] = (v[i] - w->v_p[i]) / g;
            w->x[i] = w->x_p[i] + x * (v[i] - w->v_p[i]);
        }
        carom_move_iterate(s, w->q_s, w->now.q, 1, w->x, N->k);
        if (w->have_M)
            CAROM_TRY(carom_force(s, w->f, t_1, w->q_s, v));
        else
            CAROM_TRY(carom_motion(s, w->M, w->f, NULL, t_1, w->q_s, v));
        w->have_M = s->sys->flags & CAROM_CONSTANT_MASS;
        // (AF-3)  R = h gamma c (M s - f + W off) = W P,  P = h gamma c (lambda + off)
        carom_matrix_mul(N->R, w->M, w->s);
        carom_matrix_mul(N->size, w->M, v);
        for (int i = 0; i < nv; ++i) {
            N->size[i] = fabs(N->size[i]) + g * (fabs(N->R[i]) + fabs(w->f[i]));
            N->R[i] = g * (N->R[i] - w->f[i]);
        }
        if (N->L.nb == 0) return CAROM_OK;
        CAROM_TRY(carom_directions(s, &N->L, t_1, w->q_s));
        carom_local_react(N->R, g, &N->L, w->off);
        // (AF-4)  E: u = 0;  F: 0 <= u_N _|_ P_N >= 0, Coulomb's law of (u_T, P_T, mu P_N), without restitution
        carom_zero(N->u_0, N->L.at[N->L.nb]);
        carom_local_velocity(N->u_1, &N->L, v);
        return rub(w, s, t_1, w->q_s, v);
    }
    // (AF-16)  d(R - W P)/dv~ = M + h gamma c C + h^2 beta c (K + d(M s - W lambda)/dq),  V = W + h beta/gamma du/dq
    const double bc = h * h * w->par.beta * w->c;
    CAROM_TRY(carom_tangent(s, w->K, w->C, t_1, w->q_s, v));
    N->K = w->K, N->q = w->q_s, N->share = g;
    carom_matrix_zero(N->A);
    carom_matrix_add(N->A, 1, w->M);
    carom_matrix_add(N->A, g, w->C);
    carom_matrix_add(N->A, bc, w->K);
    CAROM_TRY(carom_mass_gradient(s, N->A, bc, t_1, w->q_s, w->s));
    for (int k = 0; k < N->L.at[N->L.nb]; ++k) w->lambda[k] = N->p[k] / g - w->off[k];
    CAROM_TRY(carom_reaction_gradient(s, N->A, -bc, &N->L, w->lambda, t_1, w->q_s));
    if (N->L.nb == 0) return CAROM_OK;
    CAROM_TRY(carom_rate_gradient(s, &w->D, &N->L, t_1, w->q_s, v));
    carom_local_blend(&N->V, &N->L, x, &w->D);
    return CAROM_OK;
}

// T = { j in F : slip stops or is reversed }.  Does one join?
static bool find_turns(work *w, const carom_step *s) {
    const carom_local *L = &w->N.L;
    bool more = false;
    for (int b = s->sys->ne; b < L->nb; ++b) {
        const int id = L->id[b], first = L->at[b] + 1, n = L->at[b + 1] - first;
        double none = 0, none_0 = 0, along = 0;
        if (n < 1 || w->turns[id] || !(w->N.p[L->at[b]] > 0) ||
            carom_alpha_sticks(s, id, w->now.lambda + s->dir[id], n))
            continue;
        for (int k = first; k < first + n; ++k) {
            none = fmax(none, carom_alpha_no_velocity(s, L, k, w->v_s));
            none_0 = fmax(none_0, carom_alpha_no_velocity(s, &w->L_0, k, w->now.v));
            along += w->u_0[k] * w->N.u_1[k];
        }
        const bool slid = carom_length(w->u_0 + first, n) > none_0, slides = carom_length(w->N.u_1 + first, n) > none;
        if (slid && (!slides || along < 0)) w->turns[id] = more = true;
    }
    return more;
}

// Are the coefficients of contacts that slide those of the answer?
static bool rubbed(const work *w, const carom_step *s) {
    const carom_local *L = &w->N.L;
    for (int b = s->sys->ne; s->inside->friction && b < L->nb; ++b) {
        const int c = L->id[b] - s->sys->ne;
        if (w->N.p[L->at[b]] > 0 && fabs(w->mu[c] - w->mu_before[c]) > SAME_MU * w->mu[c]) return false;
    }
    return true;
}

// (AF-5)  Solve with T empty, add, solve again, until none joins; and while coefficients of friction follow reactions.
static carom_status forces(work *w, carom_step *s) {
    carom_newton *N = &w->N;
    const double g = s->h * w->par.gamma * w->c;
    bool settled = false;
    for (int id = 0; id < s->sys->ne + s->sys->nc; ++id) w->turns[id] = false;
    for (int round = 0, sets = 0; !settled; ++round) {
        for (int b = 0; b < N->L.nb; ++b)
            for (int k = N->L.at[b]; k < N->L.at[b + 1]; ++k)
                w->off[k] = w->turns[N->L.id[b]] ? w->kap[s->dir[N->L.id[b]] + k - N->L.at[b]] : 0;
        CAROM_TRY(carom_newton_solve(N, s, w->v_s, eval, w));
        for (int k = 0; k < N->L.at[N->L.nb]; ++k) w->lambda[k] = N->p[k] / g - w->off[k];
        CAROM_TRY(carom_friction_settle(s, &N->L, w->lambda, round, &settled));
        settled = settled && rubbed(w, s);
        if (!settled && round >= CAROM_FRICTION_ROUNDS)
            return carom_retry(s, "fixed-point iteration between friction and velocities did not converge");
        if (sets < ROUNDS && find_turns(w, s)) settled = false, ++sets;
    }
    carom_copy(w->v_f, w->v_s, s->sys->nv);
    return CAROM_OK;
}

// F of this step: contacts that carry forces, less those that meet a kink (HE-7): their approach is an impact.
static carom_status choose(work *w, carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    const bool straight = s->sys->flags & CAROM_CONSTANT_DIRECTIONS && s->sys->flags & CAROM_TIMELESS_GAPS;
    carom_local *L = &w->N.L;
    bool some = false;
    for (int id = 0; id < ne + nc; ++id) w->in[id] = w->hit[id] = false;
    for (int c = 0; c < nc; ++c) {
        w->pick[c] = w->now.in[c] != 0;
        some = some || w->pick[c];
    }
    carom_close_these(s, L, w->pick);
    if (some && !straight) {
        carom_move(s, w->q_s, w->now.q, s->h, w->now.v);
        CAROM_TRY(carom_directions(s, L, s->t + s->h, w->q_s));
        carom_local_velocity(w->u_0, L, w->now.v);
        double *strikes = w->u_s; // by constraint of L
        CAROM_TRY(carom_struck(s, &some, strikes, L, w->u_0,
                               (carom_evaluation_point){.t = s->t, .q = w->now.q, .v = w->now.v, .f = w->now.s}));
        for (int b = ne; some && b < L->nb; ++b)
            if (strikes[b] != 0) w->pick[L->id[b] - ne] = false;
        if (some) carom_close_these(s, L, w->pick);
    }
    for (int c = 0; c < nc; ++c) w->in[ne + c] = w->pick[c];
    carom_local_same(&w->L_0, L);
    if (L->nb == 0) return CAROM_OK;
    CAROM_TRY(carom_directions(s, &w->L_0, s->t, w->now.q));
    carom_local_velocity(w->u_0, &w->L_0, w->now.v);
    return CAROM_OK;
}

// At the start of a step, with contacts that stick as their reactions lambda say.
static carom_status restart(work *w, carom_step *s, carom_alpha_state *z, const double *lambda) {
    for (int id = s->sys->ne; id < s->sys->ne + s->sys->nc; ++id)
        w->stuck[id] = carom_alpha_sticks(s, id, lambda + s->dir[id], carom_directions_of(s->sys, id) - 1);
    return carom_alpha_restart(w, s, s->t, z);
}

// -- a part of a step -------------------------------------------------------------------------------------------------

// F of the next step: held or hit and still on its feature (CL-12), or closed, and not leaving.  *left: one has left.
static carom_status find_next(work *w, carom_step *s, bool *left) {
    const carom_local *L = &w->L_v;
    const int ne = s->sys->ne, nq = s->sys->nq;
    const double size = carom_size_of_positions(s->sys, w->P.q);
    *left = false;
    carom_zero(w->next.in, s->sys->nc);
    for (int id = 0; id < ne + s->sys->nc; ++id) w->pick[id] = w->holds[id] || w->hit[id];
    CAROM_TRY(carom_run_off(s, L, (carom_evaluation_point){.t = s->t, .q = w->now.q},
                            (carom_evaluation_point){.t = s->t + s->h, .q = w->P.q}, w->P.g, w->g_0, w->pick));
    for (int b = ne; b < L->nb; ++b) {
        const int id = L->id[b], k = L->at[b];
        const bool closed =
            w->pick[id] || w->P.g[id] <= carom_local_rounding_within(L, k, w->P.q, nq, size);
        w->next.in[id - ne] = closed && w->u[k] <= carom_alpha_no_velocity(s, L, k, w->v_1);
    }
    for (int c = 0; c < s->sys->nc; ++c) *left = *left || (w->now.in[c] != 0 && w->next.in[c] == 0);
    return CAROM_OK;
}

// The three levels.
static carom_status levels(void *memory, carom_step *s) {
    work *w = memory;
    predict(w, s);
    CAROM_TRY(choose(w, s));
    CAROM_TRY(forces(w, s));
    CAROM_TRY(carom_alpha_positions(w, s));
    return carom_alpha_velocities(w, s);
}

// What they leave of gaps.
static double left_of_gaps(const void *memory, carom_step *s) {
    const work *w = memory;
    const double size = carom_size_of_positions(s->sys, w->P.q);
    double left = s->h * fmax(s->tol, CAROM_ROUNDING) * s->scale;
    for (int b = s->sys->ne; b < w->L_v.nb; ++b)
        left = fmax(left, carom_local_rounding_within(&w->L_v, w->L_v.at[b], w->P.q, s->sys->nq, size));
    return left;
}

// Who sticks after this part, by forces, or by the impulses of an impact.
static void find_stuck(work *w, const carom_step *s) {
    for (int id = 0; id < s->sys->ne + s->sys->nc; ++id) w->stuck[id] = false;
    for (int way = 0; way < 1 + w->struck; ++way) {
        const carom_local *L = way == 0 ? &w->N.L : &w->L_v;
        const double *p = way == 0 ? w->N.p : w->p;
        for (int b = s->sys->ne; b < L->nb; ++b)
            if (way == 0 || p[L->at[b]] > 0)
                w->stuck[L->id[b]] = carom_alpha_sticks(s, L->id[b], p + L->at[b], L->at[b + 1] - L->at[b] - 1);
    }
}

// From w->now at s->t over s->h to w->next.
static carom_status part(work *w, carom_step *s) {
    const int nv = s->sys->nv, ne = s->sys->ne, nc = s->sys->nc, nd = s->dir[ne + nc];
    const carom_local *L = &w->N.L;
    carom_alpha_state *z = &w->next;
    bool event;
    if (*w->now.h < 0 && -*w->now.h != s->h)
        CAROM_TRY(restart(w, s, &w->now, w->now.lambda)); // stiff forces accelerate as over this step
    carom_move(s, w->P.q, w->now.q, s->h, w->now.v);
    CAROM_TRY(carom_held_solve(
        &(carom_held_step){.solve = levels, .work = w, .q = w->P.q, .left = left_of_gaps, .g = w->g_0}, s));
    CAROM_TRY(carom_mass_still_positive(s, w->M));
    CAROM_TRY(find_next(w, s, &event));
    event = event || w->struck;
    for (int id = ne; id < ne + nc; ++id) event = event || w->turns[id];
    carom_copy(z->q, w->P.q, s->sys->nq);
    carom_copy(z->v, w->v_1, nv);
    *z->h = s->h;
    if (event) {
        find_stuck(w, s);
        return carom_alpha_restart(w, s, s->t + s->h, z);
    }
    carom_copy(z->s, w->s, nv);
    carom_add(z->a, w->a_p, w->c, w->s, nv);
    carom_zero(z->lambda, nd);
    carom_zero(z->l, nd);
    carom_alpha_scatter(z->lambda, s, L, w->lambda);
    for (int b = 0; b < L->nb; ++b)
        for (int k = 0; k < L->at[b + 1] - L->at[b]; ++k)
            z->l[s->dir[L->id[b]] + k] = w->l_p[s->dir[L->id[b]] + k] + w->c * w->lambda[L->at[b] + k];
    return CAROM_OK;
}

// -- books ------------------------------------------------------------------------------------------------------------

// What (AF-20) takes from reactions of the step is in the books, and no impulse that results show.
static void hide_taken(const work *w, carom_step *s) {
    const carom_local *L = &w->L_v;
    for (int b = s->sys->ne; b < L->nb; ++b)
        for (int k = L->at[b]; w->in[L->id[b]] && w->p[L->at[b]] < 0 && k < L->at[b + 1]; ++k)
            s->record.impulse[s->dir[L->id[b]] + k - L->at[b]] -= w->p[k];
}

// Local velocities along which reactions do their work, at the start and at q~.  A contact that has opened: those of
// the start, for it may have run off its feature, and its directions at q~ are others.  One that left at the start:
// none.
static void velocities_of_work(double *u_0, double *u_1, const work *w, const carom_step *s) {
    const carom_local *L = &w->N.L;
    carom_copy(u_1, w->N.u_1, L->at[L->nb]);
    for (int b = s->sys->ne; b < L->nb; ++b) {
        const int first = L->at[b], n = L->at[b + 1] - first;
        if (w->N.p[first] > 0) continue;
        if (u_0[first] > carom_alpha_no_velocity(s, &w->L_0, first, w->now.v)) carom_zero(u_0 + first, n);
        carom_copy(u_1 + first, u_0 + first, n);
    }
}

// Reactions do their work along the mean of the velocities at both ends of the part: half of it at each.
static void book(work *w, carom_step *s) {
    const carom_local *L = &w->N.L, *L_v = &w->L_v;
    const int nb = s->sys->ne + s->sys->nc;
    const double h = s->h;
    carom_zero(s->record.force, s->dir[nb]); // those of the last part count
    s->record.t = s->t + h;
    if (w->struck) carom_account_impulses(s, L_v, w->p, w->u_book, w->u), hide_taken(w, s);
    for (int id = s->sys->ne; id < nb; ++id)
        if (w->hit[id]) s->inside->entered = fmax(s->inside->entered, -w->g_s[id]);
    carom_alpha_mean(w, s);
    velocities_of_work(w->u_0, w->z, w, s);
    carom_account_forces(s, &w->L_0, w->mean, w->u_0, 0.5 * h, false);
    carom_account_forces(s, L, w->mean, w->z, 0.5 * h, false);
    carom_copy(w->lambda_r, w->next.lambda, s->dir[nb]);
    if (w->mean_recorded) carom_alpha_scatter(w->lambda_r, s, L, w->mean);
    carom_alpha_gather(w->z, s, L_v, w->lambda_r);
    carom_account_forces(s, L_v, w->z, w->u, 0, true);
    for (int id = 0; id < nb; ++id) carom_account_position(s, id, h * w->P.Psi[id]);
}

// -- the step ---------------------------------------------------------------------------------------------------------

static carom_status inertia(work *w, carom_step *s) {
    if (w->seen) return CAROM_OK;
    const carom_status status = carom_mass_factor(s, &w->F_M, s->t, s->q);
    w->massless = status == CAROM_SINGULAR;
    w->seen = true;
    return w->massless ? CAROM_OK : status;
}

// (AF-10) at the start: contacts that are closed and neither leave nor are struck carry forces.
static carom_status start(void *memory, carom_step *s) {
    work *w = memory;
    const int ne = s->sys->ne;
    carom_alpha_state *z = &w->now;
    carom_local *L = &w->L_v;
    bool struck;
    CAROM_TRY(inertia(w, s));
    carom_copy(z->q, s->q, s->sys->nq);
    carom_copy(z->v, s->v, s->sys->nv);
    carom_zero(z->in, s->sys->nc);
    CAROM_TRY(carom_gaps(s, w->g_0, s->t, s->q));
    CAROM_TRY(carom_close_at(s, L, w->g_0, (carom_evaluation_point){.t = s->t, .q = s->q, .v = s->v}));
    if (L->nb > ne) {
        CAROM_TRY(carom_directions(s, L, s->t, s->q));
        carom_local_velocity(w->u, L, s->v);
        double *strikes = w->u_s; // by constraint of L
        CAROM_TRY(
            carom_struck(s, &struck, strikes, L, w->u, (carom_evaluation_point){.t = s->t, .q = s->q, .v = s->v}));
        for (int b = ne; b < L->nb; ++b)
            z->in[L->id[b] - ne] = strikes[b] == 0 && w->u[L->at[b]] <= carom_alpha_no_velocity(s, L, L->at[b], s->v);
    }
    CAROM_TRY(restart(w, s, z, w->kept.lambda));
    copy_state(&w->kept, z, s);
    return CAROM_OK;
}

// (AF-12)  The first impact of the part just made: when, of it.  Contacts that close then are due.
static carom_status first_impact(work *w, carom_step *s, double *x) {
    const carom_local *L = &w->L_v;
    const int ne = s->sys->ne;
    double u;
    *x = 1;
    CAROM_TRY(carom_gaps(s, w->g_0, s->t, w->now.q));
    carom_local_same(&w->L_r, L);
    CAROM_TRY(carom_directions(s, &w->L_r, s->t, w->now.q));
    carom_local_velocity(w->u_before, &w->L_r, w->now.v);
    for (int round = 0; round < 2; ++round)
        for (int b = ne; b < L->nb; ++b) {
            const int id = L->id[b], k = L->at[b];
            if (w->in[id] || !(w->g_0[id] > 0) || !(w->g_s[id] < 0)) continue;
            const double y = carom_alpha_crossing(w->g_0[id], w->u_before[k], w->g_s[id], w->u_free[k], s->h, &u);
            if (round == 0)
                *x = fmin(*x, y);
            else
                w->due[id] = y <= *x * (1 + CAROM_INSTANT);
        }
    return CAROM_OK;
}

// One part, or with locate=yes parts up to impacts, of a step of h from t.
static carom_status parts(work *w, carom_step *s, double t, double h) {
    double left = h;
    for (int k = 0;; ++k) {
        double x = 1;
        const carom_traces before = carom_problem_traces(s);
        s->t = t + (h - left), s->h = left;
        for (int id = 0; id < s->sys->ne + s->sys->nc; ++id) w->due[id] = false;
        CAROM_TRY(part(w, s));
        if (w->locates && w->struck && !w->captured && k < SPLITS) CAROM_TRY(first_impact(w, s, &x));
        const bool split = x <= 1 - SPLIT;
        if (split) {
            carom_problem_take_back(s, &before);
            s->h = fmax(x, SPLIT) * left;
            CAROM_TRY(part(w, s));
            s->counts->substeps += 1;
        }
        book(w, s);
        copy_state(&w->now, &w->next, s);
        if (!split) return CAROM_OK;
        left -= s->h;
    }
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    const double t = s->t, h = s->h;
    CAROM_TRY(inertia(w, s));
    if (s->jumped) CAROM_TRY(start(w, s));
    carom_copy(w->now.q, s->q, s->sys->nq);
    carom_copy(w->now.v, s->v, s->sys->nv);
    copy_state(&w->now, &w->kept, s);
    const carom_status status = parts(w, s, t, h);
    s->t = t, s->h = h;
    CAROM_TRY(status);
    copy_state(&w->kept, &w->now, s);
    carom_copy(s->q, w->now.q, s->sys->nq);
    carom_copy(s->v, w->now.v, s->sys->nv);
    return CAROM_OK;
}

static void forget(void *memory, carom_step *s, int id) {
    work *w = memory;
    const int d = s->dir[id], n = s->dir[id + 1] - d;
    carom_zero(w->kept.lambda + d, n);
    carom_zero(w->kept.l + d, n);
    if (id >= s->sys->ne) w->kept.in[id - s->sys->ne] = 0;
}

const carom_scheme carom_scheme_alpha_forces = {
    .name = "alpha-forces",
    .about = "generalized-alpha, forces in lasting contact and impulses at impacts, no penetration",
    .text =
        "M s = f(q~, v~) + W lambda,  generalized-alpha in (q~, v~, s);  joints: W'v~ = 0,\n"
        "lasting contacts: contact law and Coulomb's law between W'v~ and lambda\n"
        "q_1 = q~ + x,  A x = W nu,  g = 0 for joints and contacts with a force,  0 <= g _|_ nu >= 0 for others\n"
        "v_1 = v~ + w,  M w = W Lambda,  contacts that close: 0 <= u + e u_0 _|_ Lambda >= 0, friction\n"
        "after an event s, lambda fit each other and start anew\n\n"
        "Second order in positions, velocities and reactions while contacts stick, slip or change between both, with\n"
        "joints; first order across impacts, second with locate=yes.  No penetration and no drift at step ends.\n"
        "Stiff systems: rho sets the damping of high frequencies.  A rebound shorter than a step ends in rest.",
    .order = 2,
    .promises = {.contacts = CAROM_POSITION_LEVEL,
                 .joints = CAROM_POSITION_LEVEL,
                 .joint_order = 2,
                 .forces = CAROM_AT_END,
                 .gaps = CAROM_AT_END,
                 .directions = CAROM_AT_START | CAROM_AT_END},
    .massless = true,
    .positions = true,
    .follows_features = true,
    .options = options,
    .limitations = CAROM_NO_REST,
    .reset_contact = forget,
    .work_size = sizeof(work),
    .allocate = allocate,
    .start = start,
    .step = step,
};
