// newmark_family.c: see newmark_family.h.
#include "base/tolerance.h"
#include "linalg/matrix.h"
#include "scheme/newmark/newmark_family.h"
#include "scheme/inside.h"
#include "scheme/newton.h"
#include "system/system.h"
#include <math.h>

enum { MOST = 50 };                         // Newton iterations
static const size_t ROOM = (size_t)1 << 22; // doubles for columns, unless all are fewer
enum { KEPT_FROM = 16, MANY = 8 };          // unknowns from which on columns are kept; a solution costs about so many
                                            // columns

carom_newmark_par carom_newmark_rho(double rho) {
    const carom_alpha_par a = carom_alpha_of_rho(rho);
    return (carom_newmark_par){.alpha_m = a.alpha_m, .alpha_f = a.alpha_f, .gamma = a.gamma, .beta = a.beta};
}

int carom_newmark_order(carom_newmark_par par) {
    return fabs(par.gamma - 0.5 - par.alpha_f + par.alpha_m) <= CAROM_SAME ? 2 : 1;
}

const char *carom_newmark_warning(carom_newmark_par par) {
    if (par.contact == CAROM_NEWMARK_POSITION)
        return "contact on position level inside the accelerations has no impact law: restitution is ignored, and the "
               "energy after an impact is a matter of chance; for comparison only";
    if (par.contact == CAROM_NEWMARK_VELOCITY)
        return "contact on velocity level inside the accelerations acts twice: bodies bounce with "
               "e + (1 + e)(1 - gamma)/gamma instead of e; for comparison only";
    if (par.gamma < 0.5 + par.alpha_f - par.alpha_m - CAROM_SAME)
        return "gamma below 1/2 + alpha_f - alpha_m makes vibrations grow at every step size; for comparison only";
    return NULL;
}

static bool splits(const carom_newmark *w) { return w->par.contact == CAROM_NEWMARK_NONSMOOTH; }
static bool on_position(const carom_newmark *w) { return w->par.contact == CAROM_NEWMARK_POSITION; }

void carom_newmark_allocate(carom_newmark *w, carom_newmark_par par, carom_arena *mem, carom_arena *keep,
                         const carom_system *sys) {
    const size_t nv = (size_t)sys->nv, nq = (size_t)sys->nq, nb = (size_t)(sys->ne + sys->nc);
    // (NM-14)  beta = gamma/2 with joints: s and a lack their reactions, and what joints hold drifts by h^2 (beta -
    //          gamma/2) (a_n - a_0)
    if (par.choose_beta && sys->ne > 0 && par.contact == CAROM_NEWMARK_NONSMOOTH) par.beta = 0.5 * par.gamma;
    w->par = par;
    w->c = (1 - par.alpha_f) / (1 - par.alpha_m);
    w->h_A = 0;
    w->have_M = false;
    CAROM_ALLOCATE(keep, nv, &w->a_0, &w->s_0);
    w->h_0 = carom_allocate(keep, 1);
    w->I =
        carom_allocate_identity(mem, sys, par.identity && par.contact == CAROM_NEWMARK_NONSMOOTH && par.alpha_m == 0);
    if (w->I.asked && par.alpha_f > 0) {
        CAROM_ALLOCATE(keep, nv, &w->dq_before, &w->df_before);
        w->before = carom_allocate(keep, 1);
    }
    w->L = carom_allocate_local(mem, sys);
    w->L_0 = carom_allocate_local(mem, sys);
    const size_t nl = (size_t)w->L.W.n;
    double **by_velocity[] = {&w->a_h, &w->a_p, &w->v_p, &w->x_p,  &w->s,   &w->dw,  &w->v_1, &w->x, &w->f,
                              &w->r_s, &w->r_w, &w->size, &w->y_s, &w->y_w, &w->dv,  &w->dx, &w->dx_0};
    for (size_t i = 0; i < sizeof by_velocity / sizeof *by_velocity; ++i) *by_velocity[i] = carom_allocate(mem, nv);
    w->q_1 = carom_allocate(mem, nq);
    w->turn = carom_allocate_increments(mem, sys);
    CAROM_ALLOCATE(mem, nb, &w->g, &w->sign);
    CAROM_ALLOCATE(mem, nl, &w->p, &w->u_0, &w->u);
    const size_t most = ROOM / nv + 1;
    w->room = (int)(nl < most ? nl : most);
    CAROM_ALLOCATE(mem, nv * (size_t)w->room, &w->X_s, &w->X_w);
    const bool mixed = on_position(w) && sys->nrates; // rows on both levels
    w->constant = sys->flags & CAROM_LINEAR && sys->flags & CAROM_CONSTANT_DIRECTIONS && sys->nv >= KEPT_FROM && !mixed;
    if (w->constant) w->keep = carom_allocate_responses(mem, sys, 1);
    w->bent = carom_allocate_bent(mem, sys);
    w->D = carom_allocate_columns(mem, sys->nv, w->L.W.n, sys->column_stride);
    w->M = carom_allocate_matrix(mem, sys->mass_shape);
    carom_matrix *tangents[] = {&w->K, &w->C, &w->E, &w->A};
    for (size_t i = 0; i < sizeof tangents / sizeof *tangents; ++i)
        *tangents[i] = carom_allocate_matrix(mem, sys->tangent_shape);
    w->F_A = carom_allocate_factor(mem, sys->tangent_shape, false);
    w->F_E = carom_allocate_factor(mem, sys->tangent_shape, false);
    w->F_0 = carom_allocate_factor(mem, sys->mass_shape, true);
    const carom_saddle_levels levels = {.velocities = 2,
                                        .reactions = 1,
                                        .A = {{true, true}, {false, true}},
                                        .W = {{true}, {true}},
                                        .V = {{true, true}}};
    w->S = carom_allocate_saddle(mem, sys->nv, sys->nparts, w->constant ? NULL : carom_saddle_groups(sys),
                                 sys->ne, sys->tangent_shape, sys->column_stride, &levels);
    if (w->S.on) {
        w->V = carom_allocate_local(mem, sys);
        w->TD = carom_allocate_columns(mem, sys->nv, w->L.W.n, sys->column_stride);
        w->at = carom_allocate_ints(mem, nb + 1);
        w->g_j = carom_allocate(mem, (size_t)sys->ne);
        if (splits(w)) w->past = carom_allocate_past(keep, sys);
    }
    w->by_saddle = false;
}

static int rows(const carom_local *L) { return L->at[L->nb]; }

// -- the set of active constraints ----------------------------------------------------------------------------------

// L's set from the signs; reactions of joints, which come first, stay, those of contacts start from zero.
static carom_status choose(carom_newmark *w, carom_step *s) {
    carom_close(s, &w->L, w->sign);
    w->chosen = true;
    w->bent.some = false;
    for (int b = 0; on_position(w) && b <= w->L.nb; ++b) w->L.at[b] = b; // normals only
    carom_local_same(&w->L_0, &w->L);
    if (w->L.nb == 0) return CAROM_OK;
    for (int k = s->sys->ne; k < rows(&w->L); ++k) w->p[k] = 0;
    CAROM_TRY(carom_directions(s, &w->L_0, s->t, s->q));
    carom_local_velocity(w->u_0, &w->L_0, s->v);
    return CAROM_OK;
}

// More contacts below zero than the set has?
static bool grow(carom_newmark *w, const carom_step *s) {
    bool more = false;
    for (int id = s->sys->ne; id < s->sys->ne + s->sys->nc; ++id) {
        const bool in = carom_closed(s, w->sign[id]);
        if (!in && w->g[id] < 0) w->sign[id] = -1, more = true;
    }
    return more;
}

// -- evaluation at (s, dw, p) ---------------------------------------------------------------------------------------

static carom_status local(carom_newmark *w, carom_step *s) {
    const double t_1 = s->t + s->h;
    if (w->L.nb == 0) return CAROM_OK;
    CAROM_TRY(carom_directions(s, &w->L, t_1, w->q_1));
    carom_bent_keep(&w->bent, &w->L);
    carom_local_velocity(w->u, &w->L, w->v_1);
    return on_position(w) ? carom_gaps(s, w->g, t_1, w->q_1) : CAROM_OK;
}

// u_0 along the directions at q_1 where the contact meets a kink.
static carom_status before(carom_newmark *w, carom_step *s) {
    if (on_position(w) || w->L.nb == 0) return CAROM_OK; // choose() has cleared w->bent
    const carom_evaluation_point at = {.t = s->t + s->h, .q = w->q_1, .v = s->v, .f = w->s};
    CAROM_TRY(carom_bent_find(&w->bent, s, w->u_0, &w->L, at));
    CAROM_TRY(carom_bent_leave(&w->bent, s, w->u_0, &w->L, at));
    if (w->bent.some) carom_local_velocity(w->u, &w->L, w->v_1);
    return CAROM_OK;
}

// (NM-6)  v_1 = v_p + h gamma c s + dw,  q_1 = q_0 + x_p + h^2 beta c s + h/2 dw,  c = (1 - alpha_f)/(1 - alpha_m)
static inline void kinematics(const carom_newmark *w, double h, int nv) {
    const double gc = w->par.gamma * w->c, bc = w->par.beta * w->c, *restrict v_p = w->v_p, *restrict x_p = w->x_p,
                 *restrict a = w->s, *restrict dw = w->dw;
    double *restrict v_1 = w->v_1, *restrict x = w->x;
    for (int i = 0; i < nv; ++i) {
        v_1[i] = v_p[i] + h * gc * a[i] + dw[i];
        x[i] = x_p[i] + h * h * bc * a[i] + 0.5 * h * dw[i];
    }
}

// r_s = h (M s - f) from M s; the magnitudes of its terms from M v_1.
static inline void residual(const carom_newmark *w, double h, int nv) {
    const double *restrict r_w = w->r_w, *restrict f = w->f;
    double *restrict r_s = w->r_s, *restrict size = w->size;
    for (int i = 0; i < nv; ++i) {
        size[i] = fabs(size[i]) + fabs(r_w[i]) + h * (fabs(r_s[i]) + fabs(f[i]));
        r_s[i] = h * (r_s[i] - f[i]);
    }
}

static carom_status evaluate(carom_newmark *w, carom_step *s, int k) {
    const int nv = s->sys->nv;
    const double h = s->h, t_1 = s->t + h;
    kinematics(w, h, nv);
    carom_move_iterate(s, w->q_1, s->q, 1, w->x, k);
    if (w->have_M) CAROM_TRY(carom_force(s, w->f, t_1, w->q_1, w->v_1));
    else CAROM_TRY(carom_motion(s, w->M, w->f, NULL, t_1, w->q_1, w->v_1));
    w->have_M = s->sys->flags & CAROM_CONSTANT_MASS;
    CAROM_TRY(local(w, s));
    // (NM-7)  r_s = h (M s - f), r_w = M dw - W p;  contact inside: r_s = h (M s - f) - W p, p = h lambda
    carom_matrix_mul(w->r_s, w->M, w->s);
    if (splits(w) && w->L.nb > 0)
        carom_matrix_mul(w->r_w, w->M, w->dw);
    else
        carom_zero(w->r_w, nv);
    carom_matrix_mul(w->size, w->M, w->v_1);
    residual(w, h, nv);
    if (w->L.nb > 0) carom_local_react(splits(w) ? w->r_w : w->r_s, -1, &w->L, w->p);
    return CAROM_OK;
}

// -- Newton ---------------------------------------------------------------------------------------------------------

// (NM-8)  A = M + h gamma c C + h^2 beta c K,  K = d(M s - f - W lambda)/dq;   M + h/2 E,  E = d(M dw - W p)/dq
static carom_status matrices(carom_newmark *w, carom_step *s) {
    const carom_system *sys = s->sys;
    const double h = s->h, t_1 = s->t + h;
    const bool straight = sys->flags & CAROM_CONSTANT_DIRECTIONS || w->L.nb == 0;
    const bool constant = sys->flags & CAROM_LINEAR && (splits(w) || straight);
    w->turn.ready = false;
    if (w->L.nb > 0) carom_increments_at(&w->turn, s, w->x);
    if (!(constant && w->h_A == h)) {
        CAROM_TRY(carom_tangent(s, w->K, w->C, t_1, w->q_1, w->v_1));
        CAROM_TRY(carom_mass_gradient(s, w->K, 1, t_1, w->q_1, w->s));
        if (!splits(w)) CAROM_TRY(carom_reaction_gradient(s, w->K, -1 / h, &w->L, w->p, t_1, w->q_1));
        carom_matrix_zero(w->A);
        carom_matrix_add(w->A, 1, w->M);
        carom_matrix_add(w->A, h * w->par.gamma * w->c, w->C);
        carom_matrix_add(w->A, h * h * w->par.beta * w->c, w->K);
        w->h_A = constant ? h : 0;
        w->factored = false;
        if (w->constant) carom_responses_forget(&w->keep);
    }
    if (!splits(w) || w->L.nb == 0 || w->F_E.ready) return CAROM_OK;
    carom_matrix_zero(w->E);
    CAROM_TRY(carom_mass_gradient(s, w->E, 0.5 * h, t_1, w->q_1, w->dw));
    CAROM_TRY(carom_reaction_gradient(s, w->E, -0.5 * h, &w->L, w->p, t_1, w->q_1));
    carom_matrix_add(w->E, 1, w->M);
    return CAROM_OK;
}

// Their factors, where joints are not in the linear system.
static carom_status factorise(carom_newmark *w, carom_step *s) {
    const carom_system *sys = s->sys;
    if (!w->factored) CAROM_TRY(carom_iteration_factor(s, &w->F_A, w->A));
    w->factored = true;
    if (!splits(w) || w->L.nb == 0 || w->F_E.ready) return CAROM_OK;
    if (carom_factorise(&w->F_E, w->E, NULL) != CAROM_OK) return carom_retry(s, "the mass matrix is singular");
    w->F_E.ready = sys->flags & CAROM_CONSTANT_MASS && sys->flags & CAROM_CONSTANT_DIRECTIONS;
    return CAROM_OK;
}

// dv = gamma c y + dw,  dx = h beta c y + h/2 dw
static inline void effect(const carom_newmark *w, double *restrict dv, double *restrict dx, double h,
                          const double *restrict y, const double *restrict dw, int nv) {
    const double gamma = w->par.gamma, beta = w->par.beta, c = w->c;
    for (int i = 0; i < nv; ++i) {
        dv[i] = gamma * c * y[i] + dw[i];
        dx[i] = h * beta * c * y[i] + 0.5 * h * dw[i];
    }
}

// Increments for right-hand sides, in place:  dw = (M + h/2 E)^-1 r_w,  y = h ds = A^-1 (r_s - h (C + h/2 K) dw); and
// what they do to velocity and position.  The effect of ds on the directions of dw, of second order in h, is left to
// the next iteration.
static void respond(carom_newmark *w, const carom_step *s, double *y, double *dw) {
    const int nv = s->sys->nv;
    const double h = s->h;
    if (splits(w) && w->L.nb > 0) {
        carom_factor_solve(&w->F_E, dw);
        carom_matrix_muladd(y, -h, w->C, dw);
        carom_matrix_muladd(y, -0.5 * h * h, w->K, dw);
    }
    carom_factor_solve(&w->F_A, y);
    double *dx = w->turn.ready ? w->dx_0 : w->dx;
    effect(w, w->dv, dx, h, y, dw, nv);
    if (w->turn.ready) carom_increments_move(&w->turn, w->dx, dx, nv); // at q_1 (NEW-4)
}

// Row i of the constraint for the (dv, dx) of the last respond().  On position level rows are constraints (choose()).
static double row(const carom_newmark *w, const carom_step *s, int i) {
    if (on_position(w) && !carom_on_rates(s->sys, w->L.id[i])) return carom_column_dot(&w->L.W, i, w->dx) / s->h;
    return carom_column_dot(&w->L.W, i, w->dv) + carom_column_dot(&w->D, i, w->dx);
}

// c: the constraints at the present iterate.
static void constraints(carom_newmark *w, carom_step *s) {
    if (on_position(w))
        for (int b = 0; b < w->L.nb; ++b)
            s->c[b] = carom_on_rates(s->sys, w->L.id[b]) ? w->u[b] : w->g[w->L.id[b]] / s->h;
    else
        carom_problem_restitution(s, &w->L, w->u, w->u_0);
}

// The answer to a unit impulse in direction k of W: in column `to` when there is room, and as (dv, dx) in any case.
static void unit_response(carom_newmark *w, const carom_step *s, const carom_columns *W, int k, int to) {
    const int nv = s->sys->nv;
    double *y = to < w->room ? w->X_s + (size_t)to * (size_t)nv : w->y_s,
           *dw = to < w->room ? w->X_w + (size_t)to * (size_t)nv : w->y_w;
    carom_zero(y, nv);
    carom_zero(dw, nv);
    carom_column_axpy(splits(w) ? dw : y, 1, W, k);
    respond(w, s, y, dw);
}

// G from columns that are kept; those of directions that act for the first time are computed.
static carom_status kept_matrix(carom_newmark *w, carom_step *s) {
    const int n = rows(&w->L);
    carom_responses *keep = &w->keep;
    double *G = carom_problem_matrix(s, n);
    CAROM_TRY(carom_responses_begin(keep, s));
    for (int b = 0; b < w->L.nb; ++b)
        for (int k = w->L.at[b]; k < w->L.at[b + 1]; ++k) {
            const int d = carom_responses_at(keep, &w->L, b, k);
            if (!keep->known[d])
                unit_response(w, s, &keep->all.W, d, d),
                    carom_responses_put(keep, 0, d, on_position(w) ? w->dx : w->dv);
            const double *column = carom_responses_column(keep, 0, d);
            for (int c = 0; c < w->L.nb; ++c)
                for (int i = w->L.at[c]; i < w->L.at[c + 1]; ++i)
                    G[i + k * (size_t)n] = column[carom_responses_at(keep, &w->L, c, i)];
            for (int i = 0; on_position(w) && i < n; ++i) G[i + k * (size_t)n] /= s->h;
        }
    return CAROM_OK;
}

// Blocks of L, all or contacts alone.
static void blocks(const carom_newmark *w, carom_step *s, const carom_local *L) {
    carom_problem_blocks(s, L);
    for (int b = 0; on_position(w) && b < L->nb; ++b)
        if (s->blocks[b].law != CAROM_BILATERAL) s->blocks[b].law = CAROM_UNILATERAL;
}

static carom_status contact_problem(carom_newmark *w, carom_step *s) {
    const int n = rows(&w->L);
    blocks(w, s, &w->L);
    if (w->constant) return kept_matrix(w, s);
    double *G = carom_problem_matrix(s, n);
    for (int k = 0; k < n; ++k) {
        unit_response(w, s, &w->L.W, k, k);
        for (int i = 0; i < n; ++i) G[i + k * (size_t)n] = row(w, s, i);
    }
    return CAROM_OK;
}

// y_s, y_w: increments with the reactions p in place of those of the present iterate.
static void increments(carom_newmark *w, const carom_step *s, const double *p) {
    for (int i = 0; i < s->sys->nv; ++i) w->y_s[i] = -w->r_s[i], w->y_w[i] = -w->r_w[i];
    if (w->L.nb > 0) carom_local_react(splits(w) ? w->y_w : w->y_s, -1, &w->L, w->p);
    if (p) carom_local_react(splits(w) ? w->y_w : w->y_s, 1, &w->L, p);
    respond(w, s, w->y_s, w->y_w);
}

// The increments that stand, and those of the reactions p: by columns, or by solving again when columns are many or not
// stored.
static void add_reactions(carom_newmark *w, const carom_step *s, const double *p) {
    const int nv = s->sys->nv;
    bool solve = w->constant && rows(&w->L) > MANY && w->F_A.shape.storage != CAROM_DENSE;
    for (int b = 0; b < w->L.nb; ++b)
        for (int k = w->L.at[b]; k < w->L.at[b + 1]; ++k)
            solve = solve || (w->constant ? carom_responses_at(&w->keep, &w->L, b, k) : k) >= w->room;
    if (solve) {
        increments(w, s, p);
        return;
    }
    for (int b = 0; b < w->L.nb; ++b)
        for (int k = w->L.at[b]; k < w->L.at[b + 1]; ++k) {
            const size_t column = (size_t)(w->constant ? carom_responses_at(&w->keep, &w->L, b, k) : k) * (size_t)nv;
            carom_axpy(w->y_s, p[k], w->X_s + column, nv);
            carom_axpy(w->y_w, p[k], w->X_w + column, nv);
        }
}

// Gaps of redundant joints contradict each other by their rounding, which no solver can mend: it is allowed, and is no
// velocity of the run.
static carom_status solve(carom_newmark *w, carom_step *s, const carom_local *L) {
    const double scale = s->scale, size = s->sys->nq == s->sys->nv ? 0 : carom_size_of_positions(s->sys, w->q_1);
    for (int b = 0; on_position(w) && b < L->nb; ++b)
        s->scale = fmax(s->scale, carom_local_rounding_within(L, b, w->q_1, s->sys->nq, size) / (s->h * s->tol));
    const carom_status status = carom_problem_solve(s, L);
    s->scale = fmax(scale, s->contact.scale);
    return status;
}

// -- joints in the linear system --------------------------------------------------------------------------------------

// (NM-16)  A y + h (C + h/2 K) dw = -r_s,  (M + h/2 E) dw - W_j dp_j = -r_w + W_c dp_c,  (gamma c W_j + h beta c
//          T'D_j)'y + (W_j + h/2 T'D_j)'dw = -c_j
// with the rows c_j of joints at the present iterate.  Contact inside: W dp in the first equation and dw = 0; on
// position level (beta c T'W_j)'y, and for those on rates, times beta/gamma, (beta c (W_j + h beta/gamma T'D_j))'y.
// False: there is no factor.
static bool factorise_joints(carom_newmark *w, carom_step *s) {
    carom_saddle *S = &w->S;
    const double h = s->h, gc = w->par.gamma * w->c, bc = w->par.beta * w->c;
    const int nj = carom_joints_of(s, &w->L).nb, level = splits(w) ? 1 : 0;
    if (!S->on || nj != S->ne || (w->L.nb > nj && s->impacts)) return false;
    if (!splits(w)) carom_matrix_zero(w->E), carom_matrix_add(w->E, 1, w->M);
    carom_local_same(&w->V, &w->L);
    const bool mixed = on_position(w) && s->sys->nrates;
    carom_increments_columns(&w->turn, &w->TD, on_position(w) && !mixed ? &w->L.W : &w->D, rows(&w->L));
    carom_local_blend(&w->V, &w->L, mixed ? h * bc / gc : on_position(w) ? 0 : 0.5 * h, &w->TD);
    if (mixed) carom_increments_columns(&w->turn, &w->V.W, &w->L.W, nj - s->sys->nrates);
    if (!carom_saddle_begin(S, w->A, &w->L.W, &w->V.W) || !carom_saddle_add_matrix(S, 0, 0, 1, w->A) ||
        !carom_saddle_add_matrix(S, 1, 1, 1, w->E))
        return false;
    if (!carom_saddle_add_forces(S, level, 0, 1, &w->L.W)) return false;
    if (splits(w) &&
        !(carom_saddle_add_matrix(S, 0, 1, h, w->C) && carom_saddle_add_matrix(S, 0, 1, 0.5 * h * h, w->K) &&
          carom_saddle_add_rates(S, 0, 1, 1, &w->V.W)))
        return false;
    if (!on_position(w) && !(carom_saddle_add_rates(S, 0, 0, gc, &w->L.W))) return false;
    return carom_saddle_add_rates(S, 0, 0, on_position(w) ? bc : h * bc, mixed ? &w->V.W : &w->TD) &&
           carom_saddle_finish(S);
}

// S->x = (y, dw, -dp_j) for the right-hand side in S->b; with its effect on velocity and position.
static bool solve_joints(carom_newmark *w, const carom_step *s, bool check) {
    carom_saddle *S = &w->S;
    const int nv = s->sys->nv;
    if (check) carom_joints_weigh(s, S, &w->L);
    if (!check) carom_saddle_solve(S);
    else if (!carom_saddle_solve_checked(S, carom_joints_small(s))) return false;
    double *dx = w->turn.ready ? w->dx_0 : w->dx;
    effect(w, w->dv, dx, s->h, S->x, S->x + nv, nv);
    if (w->turn.ready) carom_increments_move(&w->turn, w->dx, dx, nv);
    return true;
}

// The problem of the contacts L alone, behind nj joints, with c of all without reactions of contacts in w->u.
static carom_status solve_contacts(carom_newmark *w, carom_step *s, const carom_local *L, int nj) {
    carom_saddle *S = &w->S;
    const int nv = s->sys->nv, n = rows(L);
    blocks(w, s, L);
    double *G = carom_problem_matrix(s, n);
    for (int k = 0; k < n; ++k) {
        carom_zero(S->b, 2 * nv + nj);
        carom_column_axpy(S->b + (splits(w) ? nv : 0), 1, &L->W, k);
        solve_joints(w, s, false);
        for (int i = 0; i < n; ++i) G[i + k * (size_t)n] = row(w, s, nj + i);
    }
    carom_copy(s->c, w->u + nj, n);
    return solve(w, s, L);
}

// The right-hand side at the present iterate, with the reactions p of the contacts L instead of w->p: NULL: none.
static void right_hand_side(carom_newmark *w, const carom_step *s, const carom_local *L, const double *p, int nj) {
    const int nv = s->sys->nv;
    double *b = w->S.b, *forced = b + (splits(w) ? nv : 0);
    for (int i = 0; i < nv; ++i) b[i] = -w->r_s[i], b[nv + i] = -w->r_w[i];
    carom_local_react(forced, -1, L, w->p + nj);
    if (p) carom_local_react(forced, 1, L, p);
    for (int j = 0; j < nj; ++j)
        b[2 * nv + j] = -s->c[j] * (on_position(w) && carom_on_rates(s->sys, j) ? w->par.beta / w->par.gamma : 1);
}

// (TOL-1)  Impulses make dw, and with contact inside y, of which velocities have gamma c and positions over h beta c.
static double free_joints(carom_newmark *w) {
    const double share = splits(w) ? 1 : w->c * (on_position(w) ? w->par.beta : w->par.gamma),
                 *y = w->S.x + 2 * w->S.nv;
    return share * carom_joints_free(&w->S, &w->L.W, splits(w) ? w->E : w->A, w->p, y, w->y_s);
}

// Increments y_s and y_w, and reactions w->p.  again: the factor of an iterate before serves.  *done is false where
// joints are rows of the contact problem.
static carom_status correct_joints(carom_newmark *w, carom_step *s, bool again, bool *done) {
    carom_saddle *S = &w->S;
    const int nv = s->sys->nv, n = rows(&w->L), nj = S->ne, nc = w->L.nb - nj;
    *done = false;
    if (!again && !factorise_joints(w, s)) return CAROM_OK;
    const carom_local L = carom_contacts_of(s, &w->L, w->at);
    constraints(w, s);
    right_hand_side(w, s, &L, NULL, nj);
    if (!solve_joints(w, s, !again)) return CAROM_OK;
    if (!again) w->free = free_joints(w);
    carom_problem_scale(s, &w->free, 1);
    s->counts->problems += nc == 0; // else that of contacts counts
    if (nc > 0) {
        carom_copy(w->g_j, s->c, nj);
        for (int i = nj; i < n; ++i) w->u[i] = s->c[i] + row(w, s, i); // u is evaluated anew at the next iterate
        CAROM_TRY(solve_contacts(w, s, &L, nj));
        carom_copy(w->u + nj, s->problem.p, n - nj);
        carom_copy(s->c, w->g_j, nj);
        right_hand_side(w, s, &L, w->u + nj, nj);
        carom_copy(w->p + nj, w->u + nj, n - nj);
        solve_joints(w, s, false);
    }
    carom_copy(w->y_s, S->x, nv);
    carom_copy(w->y_w, S->x + nv, nv);
    for (int j = 0; j < nj; ++j) w->p[j] -= S->x[2 * nv + j];
    w->chosen = false;
    *done = true;
    return CAROM_OK;
}

static carom_status correct(void *memory, carom_step *s, int k) {
    carom_newmark *w = memory;
    const int nv = s->sys->nv, n = rows(&w->L);
    const bool again = k > 0 && w->by_saddle && !w->chosen && carom_chord_serves(&w->chord);
    if (again) w->chord.age += 1;
    else {
        w->chord.age = 0;
        CAROM_TRY(matrices(w, s));
        if (n > 0 && (!on_position(w) || s->sys->nrates))
            CAROM_TRY(carom_rate_gradient(s, &w->D, &w->L, s->t + s->h, w->q_1, w->v_1));
        carom_bent_rates(&w->bent, &w->D, &w->L);
    }
    if (n > 0 && w->S.on) {
        CAROM_TRY(correct_joints(w, s, again, &w->by_saddle));
    }
    if (!w->by_saddle) CAROM_TRY(factorise(w, s));
    if (n == 0) increments(w, s, NULL); // without reactions
    if (n > 0 && !w->by_saddle) {
        CAROM_TRY(contact_problem(w, s));
        increments(w, s, NULL);
        if (w->chosen && !on_position(w)) CAROM_TRY(carom_problem_bounce(s, &w->L, w->u_0));
        w->chosen = false;
        constraints(w, s);
        for (int i = 0; i < n; ++i) s->c[i] += row(w, s, i);
        CAROM_TRY(solve(w, s, &w->L));
        add_reactions(w, s, s->problem.p);
        carom_copy(w->p, s->problem.p, n);
    }
    carom_axpy(w->s, 1 / s->h, w->y_s, nv);
    if (splits(w)) carom_axpy(w->dw, 1, w->y_w, nv);
    return CAROM_OK;
}

// What rounding leaves in local velocities and in gaps over h.
static double rounding(const carom_newmark *w, const carom_step *s) {
    const double size = s->sys->nq == s->sys->nv ? 0 : carom_size_of_positions(s->sys, w->q_1);
    double most = carom_local_velocity_rounding(s, &w->L, w->v_1);
    for (int k = 0; on_position(w) && k < rows(&w->L); ++k)
        most = fmax(most, carom_local_rounding_within(&w->L, k, w->q_1, s->sys->nq, size) / s->h);
    return most;
}

// Is it no more than what rounding leaves in forces: by that of the position, or of the displacement, in steps of many
// periods a small difference of large terms?
static bool rounding_of_forces(carom_newmark *w, const carom_step *s, double left) {
    const double h = s->h, bc = w->par.beta * w->c;
    if (left <= h * carom_force_rounding(s, w->K, w->M, w->q_1, w->dx)) return true;
    for (int i = 0; i < s->sys->nv; ++i)
        w->dv[i] = fabs(w->x_p[i]) + h * h * bc * fabs(w->s[i]) + 0.5 * h * fabs(w->dw[i]);
    return left <= h * carom_force_rounding(s, w->K, w->M, w->dv, w->dx);
}

static bool done(carom_newmark *w, carom_step *s) {
    const int n = rows(&w->L);
    const double size = carom_momentum_size(w->size, w->M), allowed = s->newton_tol * size,
                 left = carom_momentum_size(w->r_s, w->M);
    if (w->by_saddle)
        carom_chord_note(&w->chord, (left + carom_momentum_size(w->r_w, w->M)) / size +
                                        carom_joints_size(&w->S, w->u) / s->scale);
    if (!(left <= allowed) && !rounding_of_forces(w, s, left)) return false;
    if (n == 0) return true;
    if (splits(w) && !(carom_momentum_size(w->r_w, w->M) <= allowed)) return false;
    constraints(w, s);
    const int nj = w->by_saddle ? w->S.ne : 0;
    if (nj > 0) {
        const double size = carom_joints_size(&w->S, s->c);
        if (!carom_joints_met(s, size, 0) && !carom_joints_met(s, size, rounding(w, s))) return false;
        for (int i = nj; i < n; ++i) s->c[i - nj] = s->c[i];
    }
    if (nj == n) return true;
    carom_copy(s->p, w->p + nj, n - nj);
    return carom_problem_met(s, w->L.id + nj, rounding(w, s));
}

// The contact is closed at q_0, or has reacted and is open by rounding.
static bool rests(const carom_newmark *w, const carom_step *s, int id) {
    return carom_closed(s, w->g[id]) || s->active[id - s->sys->ne] != 0;
}

// (NM-17)  Do others close, beside contacts that rest, by no more than what forces do in the step, in whatever
//          direction,  |g_j| <= 4 sum |W_j| max |x - h v_0|?  What rests may have sunk beside them: shapes with sides
//          and corners have other directions there.
static bool sunk(carom_newmark *w, const carom_step *s) {
    double *fall = w->dv;
    bool some = false, shallow = false;
    if (!s->sys->events->freeze) return false;
    carom_add(fall, w->x, -s->h, s->v, s->sys->nv);
    const double most = carom_size_of_rates(s->sys, fall);
    for (int b = s->sys->ne; b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        const bool in = rests(w, s, id);
        some = some || in;
        shallow = shallow || (!in && -w->sign[id] <= 4 * carom_local_reach(s, &w->L, w->L.at[b]) * most);
    }
    return some && shallow;
}

// Contacts from gaps at q_1, and from those at q_0 in w->g.
static carom_status decide(carom_newmark *w, carom_step *s) {
    const int ne = s->sys->ne, all = ne + s->sys->nc;
    CAROM_TRY(carom_gaps(s, w->sign, s->t + s->h, w->q_1));
    if (!on_position(w)) {
        CAROM_TRY(carom_close_together(s, &w->L, w->sign,
                                       (carom_evaluation_point){.t = s->t + s->h, .q = w->q_1, .v = w->v_1}));
        for (int id = ne; id < all; ++id) w->sign[id] = fmin(w->sign[id], w->g[id]);
    }
    CAROM_TRY(choose(w, s));
    CAROM_TRY(local(w, s));
    w->decided = w->supported || on_position(w) || !sunk(w, s);
    if (!w->decided) {
        for (int id = ne; id < all; ++id)
            if (!rests(w, s, id)) w->sign[id] = w->g[id];
        CAROM_TRY(choose(w, s));
        CAROM_TRY(local(w, s));
    }
    w->supported = true;
    return before(w, s);
}

// (NM-9)  active=free:  I = { j : g_j(q_1) <= 0 } with q_1 after one iteration without contacts, or (NM-17) another one
//         with those that rest at q_0; and the contacts that rest at q_0: bodies on each other fall together without
//         contacts
//         active=half:  I = { j : g_j(q_0 + h/2 v_0) <= 0 }
static carom_status judge(void *memory, carom_step *s, int k, bool *answer) {
    carom_newmark *w = memory;
    CAROM_TRY(evaluate(w, s, k));
    if (k == 0) return w->decided ? before(w, s) : CAROM_OK;
    bool same = true;
    if (!w->decided) {
        CAROM_TRY(decide(w, s));
        same = w->decided && w->L.nb == s->sys->ne;
    }
    *answer = same && done(w, s);
    if (!*answer || !on_position(w)) return CAROM_OK;
    CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, w->q_1));
    *answer = !grow(w, s);
    if (*answer) return CAROM_OK;
    CAROM_TRY(choose(w, s));
    return evaluate(w, s, k);
}

static carom_status iterate(carom_newmark *w, carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    w->supported = false;
    w->decided = nc == 0 || (w->par.half && !on_position(w));
    if (w->decided && nc > 0) {
        carom_move(s, w->q_1, s->q, 0.5 * s->h, s->v);
        CAROM_TRY(carom_gaps(s, w->sign, s->t + 0.5 * s->h, w->q_1));
        CAROM_TRY(carom_close_place(
            s, &w->L, w->sign, (carom_evaluation_point){.t = s->t + 0.5 * s->h, .q = w->q_1, .v = s->v, .f = w->s_0}));
    } else {
        if (nc > 0 && !on_position(w)) {
            CAROM_TRY(carom_gaps_before(s, w->g));
            CAROM_TRY(carom_close_resting(s, &w->L, w->g,
                                          (carom_evaluation_point){.t = s->t, .q = s->q, .v = s->v, .f = w->s_0}));
        }
        for (int id = 0; id < ne + nc; ++id) w->sign[id] = 1;
    }
    CAROM_TRY(choose(w, s));
    w->by_saddle = false;
    const carom_iteration I = {
        .method = "Newton's method", .most = MOST, .x = w->v_1, .n = s->sys->nv, .evaluate = judge, .correct = correct};
    return carom_iterate(&I, w, s, NULL);
}

// -- start and step -------------------------------------------------------------------------------------------------

// F s = r, in place;  with contact inside the accelerations also the reactions of joints, such that W's = -kappa.
static carom_status accelerate(carom_newmark *w, carom_step *s, const carom_factor *F, double *r, const double *kappa) {
    const int ne = s->sys->ne;
    carom_factor_solve(F, r);
    if (splits(w) || ne == 0) return CAROM_OK;
    carom_problem_form(s, &w->L, &w->L, F, 1);
    for (int k = 0; k < ne; ++k) s->c[k] = s->h * (kappa[k] + carom_column_dot(&w->L.W, k, r));
    CAROM_TRY(carom_problem_solve(s, &w->L));
    carom_problem_apply(s, r, 1 / s->h);
    return CAROM_OK;
}

carom_status carom_newmark_start(void *memory, carom_step *s) {
    carom_newmark *w = memory;
    const int ne = s->sys->ne, nc = s->sys->nc, nv = s->sys->nv;
    if (on_position(w)) {
        if (w->par.beta == 0)
            return carom_fail(
                s->err, CAROM_BAD_INPUT,
                "contact=position needs beta > 0: with beta = 0 accelerations do not move the new position");
        for (int i = 0; i < nc; ++i)
            if (s->sys->contacts[i].friction > 0)
                return carom_fail(s->err, CAROM_BAD_INPUT,
                                  "contact=position does not support friction; remove it from the model");
    } else if (!splits(w) && w->par.gamma == 0) {
        return carom_fail(
            s->err, CAROM_BAD_INPUT,
            "contact=velocity needs gamma > 0: with gamma = 0 accelerations do not change the new velocity");
    }
    if (!splits(w) && ne > 0) {
        for (int id = 0; id < ne + nc; ++id) w->sign[id] = 1;
        carom_close(s, &w->L, w->sign);
        CAROM_TRY(carom_directions(s, &w->L, s->t, s->q));
        CAROM_TRY(carom_curvature(s, w->u, &w->L, s->t, s->q, s->v));
    }
    // (NM-10)  from_force:  M s_0 = f_0, with which (EN-4) and (EN-5) begin;  else  A s = f_0, A ds = E s, s_0 = s +
    //          ds, E = A - M with A of (NM-8):
    //          a stiff force that is not in balance accelerates as over a step, and what is not stiff has M s_0 = f_0
    //          up to E^2;  a_0 = s_0
    if (w->par.from_force) {
        CAROM_TRY(carom_motion_factor(s, &w->F_0, w->s_0, NULL, s->t, s->q, s->v));
        CAROM_TRY(accelerate(w, s, &w->F_0, w->s_0, w->u));
    } else {
        const double h = s->h;
        CAROM_TRY(carom_motion(s, w->M, w->s_0, NULL, s->t, s->q, s->v));
        CAROM_TRY(carom_tangent(s, w->K, w->C, s->t, s->q, s->v));
        carom_matrix_zero(w->E);
        carom_matrix_add(w->E, h * w->par.gamma * w->c, w->C);
        carom_matrix_add(w->E, h * h * w->par.beta * w->c, w->K);
        carom_matrix_zero(w->A);
        carom_matrix_add(w->A, 1, w->M);
        carom_matrix_add(w->A, 1, w->E);
        CAROM_TRY(carom_iteration_factor(s, &w->F_A, w->A));
        w->h_A = 0; // the matrix of a step is another
        CAROM_TRY(accelerate(w, s, &w->F_A, w->s_0, w->u));
        carom_matrix_mul(w->r_s, w->E, w->s_0);
        if (!splits(w)) carom_zero(w->u, ne);
        CAROM_TRY(accelerate(w, s, &w->F_A, w->r_s, w->u));
        carom_axpy(w->s_0, 1, w->r_s, nv);
    }
    carom_copy(w->a_0, w->s_0, nv);
    w->h_0[0] = 0;
    return CAROM_OK;
}

// (NM-11)  prediction:  a_p = (alpha_f s_0 - alpha_m a_0)/(1 - alpha_m);  v_p and x_p with a_0 and a_p.  Newton's
//          method starts from s_0, and with joints from the dw that keeps v: s_0 knows nothing of reactions, and where
//          joints hold stiff members it would lead far away, to another root
// (NM-15)  a is the acceleration at a time that differs from t_0 by a multiple of the step; after a step of
//          another size h_0:  a_0 <- s_0 + (h/h_0) (a_0 - s_0)
static void predict(carom_newmark *w, const carom_step *s) {
    const carom_newmark_par *par = &w->par;
    const double h = s->h, ratio = w->h_0[0] > 0 ? h / w->h_0[0] : 1;
    for (int i = 0; i < s->sys->nv; ++i) {
        const double a = ratio == 1 ? w->a_0[i] : w->s_0[i] + ratio * (w->a_0[i] - w->s_0[i]);
        w->a_h[i] = a;
        w->a_p[i] = (par->alpha_f * w->s_0[i] - par->alpha_m * a) / (1 - par->alpha_m);
        w->v_p[i] = s->v[i] + h * ((1 - par->gamma) * a + par->gamma * w->a_p[i]);
        w->x_p[i] = h * s->v[i] + h * h * ((0.5 - par->beta) * a + par->beta * w->a_p[i]);
        w->s[i] = splits(w) ? w->s_0[i] : 0; // with contact inside, s_0 may hold an impact
        w->dw[i] = splits(w) && s->sys->ne > 0 ? s->v[i] - w->v_p[i] - h * par->gamma * w->c * w->s[i] : 0;
    }
    carom_zero(w->p, w->L.W.n);
    if (carom_past_continue(&w->past, s, s->sys->ne, w->v_1, w->p)) // (NEW-7)
        for (int i = 0; i < s->sys->nv; ++i) w->dw[i] = w->v_1[i] - w->v_p[i] - h * par->gamma * w->c * w->s[i];
}

// Called while s->q, s->v are still those of the start, with a_1 in a_p.
static carom_status check_identity(carom_newmark *w, carom_step *s) {
    carom_identity *I = &w->I;
    const int nv = s->sys->nv;
    const double alpha = w->par.alpha_f;
    CAROM_TRY(carom_identity_begin(I, s));
    if (!I->on) return CAROM_OK;
    CAROM_TRY(carom_identity_loads(I, s, s->t, s->t + s->h));
    double *f_0 = w->dv, *f_1 = w->dx; // with damping
    const double ratio = w->h_0[0] > 0 ? s->h / w->h_0[0] : 1;
    carom_copy(f_0, I->f_0, nv);
    carom_copy(f_1, I->f_1, nv);
    if (I->damped) {
        carom_matrix_muladd(f_0, -1, I->C, s->v);
        carom_matrix_muladd(f_1, -1, I->C, w->v_1);
    }
    carom_zero(w->r_w, nv);
    carom_local_react(w->r_w, 1, &w->L, w->p);
    const carom_balance b = {.h = s->h,
                             .q_0 = s->q,
                             .v_0 = s->v,
                             .q_1 = w->q_1,
                             .v_1 = w->v_1,
                             .f_0 = f_0,
                             .f_1 = f_1,
                             .r = w->r_w,
                             .a_0 = w->a_h,
                             .a_1 = w->a_p};
    double scale;
    if (alpha > 0 && *w->before != 0 && ratio != 1) { // by (NM-15) M a_0 = f_0 - alpha (h/h_0) df_before, as if the
                                                      // step before had been as long
        for (int i = 0; i < nv; ++i) w->dq_before[i] *= ratio, w->df_before[i] *= ratio;
    }
    if (alpha == 0 || *w->before != 0) {
        const double off =
            carom_identity_newmark(I, &b, w->par.gamma, w->par.beta, alpha, w->dq_before, w->df_before, &scale);
        carom_account_identity(s, off, scale);
        const double gamma = w->par.gamma, beta = w->par.beta;
        const bool holds = 2 * beta >= gamma - CAROM_SAME && gamma >= 0.5;
        if (alpha == 0 && !holds && s->sys->flags & CAROM_TIMELESS_GAPS)
            carom_account_rise(s, carom_rise_newmark(I, &b, gamma, beta), CAROM_RULE_NEWMARK, gamma, beta);
    }
    if (alpha > 0) {
        carom_add(w->dq_before, w->q_1, -1, s->q, nv);
        carom_add(w->df_before, f_1, -1, f_0, nv);
        *w->before = 1;
    }
    return CAROM_OK;
}

carom_status carom_newmark_step(void *memory, carom_step *s) {
    carom_newmark *w = memory;
    const int nv = s->sys->nv;
    if (s->jumped) CAROM_TRY(carom_newmark_start(w, s));
    predict(w, s);
    CAROM_TRY(iterate(w, s));
    carom_past_note(&w->past, s, w->L.nb, w->v_1, w->p);
    // The last evaluation was at the answer.
    CAROM_TRY(carom_mass_still_positive(s, w->M));
    if (splits(w)) {
        carom_account_impulses(s, &w->L, w->p, w->u_0, w->u);
    } else {
        for (int k = 0; k < rows(&w->L); ++k) w->u_0[k] = w->p[k] / s->h;
        carom_account_forces(s, &w->L, w->u_0, w->u, s->h, true);
    }
    // (NM-12)  a_1 = a_p + c s_1
    carom_axpy(w->a_p, w->c, w->s, nv);
    if (w->I.asked) CAROM_TRY(check_identity(w, s));
    carom_copy(w->a_0, w->a_p, nv);
    w->h_0[0] = s->h;
    carom_copy(w->s_0, w->s, nv);
    carom_copy(s->q, w->q_1, s->sys->nq);
    carom_copy(s->v, w->v_1, nv);
    return CAROM_OK;
}
