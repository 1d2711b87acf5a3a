// smooth.c: accelerations and reactions while nothing changes.
//
//     M v' = f + W lambda,   W'v' + kappa = 0 over the bilateral constraints, the normals of closed contacts and
//     the tangents of sticking ones; a sliding contact pushes along W_N - mu W_T d                        (EV-1)
//
// Where the constraints depend on each other the reactions are not unique; share.c picks them then.
#include "scheme/friction.h"
#include "event/event.h"
#include "linalg/dense.h"
#include <float.h>
#include <math.h>

static void choose_rows(event_work *w, const carom_step *s, int want) {
    const carom_local *L = &w->L;
    w->n = 0;
    for (int b = 0; b < L->nb; ++b) {
        w->row[w->n++] = L->at[b];
        const int contact = L->id[b] - s->sys->ne;
        if (contact < 0 || want == WANT_POSITION || w->contact[contact].mode != MODE_STICK) continue;
        for (int k = L->at[b] + 1; k < L->at[b + 1]; ++k) w->row[w->n++] = k;
    }
}

// Slip direction of block b: as kept for one tangent; for more that of the present velocity, once it is large enough.
// Before, the direction would be a stiff unknown: friction turns a velocity u at the rate mu lambda_N/|u|.
static void slip_direction(const event_work *w, const carom_step *s, int b, double *d) {
    const carom_local *L = &w->L;
    const event_contact *c = w->contact + (L->id[b] - s->sys->ne);
    const int tangents = L->at[b + 1] - L->at[b] - 1;
    carom_copy(d, c->dir, tangents);
    if (tangents < 2 || c->young) return;
    const double *u = w->u + L->at[b] + 1, size = carom_length(u, tangents);
    for (int i = 0; i < tangents && size > 0; ++i) d[i] = u[i] / size;
}

// Column r of B: the direction in which unknown r pushes.
static void push(event_work *w, const carom_step *s, int want, int r, int b) {
    const int nv = s->sys->nv, k = w->row[r], contact = w->L.id[b] - s->sys->ne;
    double *B = w->B + (size_t)r * (size_t)nv, d[CAROM_TANGENTS];
    carom_column_expand(B, &w->L.W, k);
    if (want != WANT_FORCE || contact < 0 || k != w->L.at[b] || w->contact[contact].mode != MODE_SLIP) return;
    slip_direction(w, s, b, d);
    for (int i = 0; k + 1 + i < w->L.at[b + 1]; ++i)
        carom_column_axpy(B, -s->sys->contacts[contact].friction * d[i], &w->L.W, k + 1 + i);
}

carom_status event_form(event_work *w, carom_step *s, int want, double t, const double *q, const double *v) {
    const carom_system *sys = s->sys;
    const int nv = sys->nv;
    carom_local *L = &w->L;
    CAROM_TRY(carom_mass_factor(s, &w->F, t, q));
    for (int id = 0; id < sys->ne + sys->nc; ++id)
        w->side[id] = id < sys->ne || w->contact[id - sys->ne].mode != MODE_OPEN ? -1 : 1;
    carom_close(s, L, w->side);
    CAROM_TRY(carom_directions(s, L, t, q));
    if (v) carom_local_velocity(w->u, L, v);
    if (v) CAROM_TRY(carom_friction_at(s, t, q, v));
    for (int c = 0; s->rub && v && c < sys->nc; ++c) carom_friction_set(s, c, w->contact[c].mode == MODE_STICK);
    choose_rows(w, s, want);
    for (int r = 0, b = 0; r < w->n; ++r) {
        while (w->row[r] >= L->at[b + 1]) ++b;
        push(w, s, want, r, b);
        double *X = w->X + (size_t)r * (size_t)nv;
        carom_copy(X, w->B + (size_t)r * (size_t)nv, nv);
        carom_factor_solve(&w->F, X);
    }
    for (int c = 0; c < w->n; ++c) {
        for (int r = 0; r < w->n; ++r)
            s->G[r + c * w->n] = carom_column_dot(&L->W, w->row[r], w->X + (size_t)c * (size_t)nv);
        w->D[w->row[c]] = fabs(s->G[c + c * w->n]);
    }
    return CAROM_OK;
}

// c = W'a_f + kappa: accelerations of the constraints without reactions.
static carom_status free_accelerations(event_work *w, carom_step *s, double t, const double *q, const double *v) {
    CAROM_TRY(carom_force(s, w->a_f, t, q, v));
    carom_factor_solve(&w->F, w->a_f);
    if (w->n == 0) return CAROM_OK;
    carom_zero(w->kappa, w->L.at[w->L.nb]);
    CAROM_TRY(carom_curvature(s, w->kappa, &w->L, t, q, v));
    for (int r = 0; r < w->n; ++r) s->c[r] = carom_column_dot(&w->L.W, w->row[r], w->a_f) + w->kappa[w->row[r]];
    return CAROM_OK;
}

// From the unknowns to all directions of L, and to the accelerations.  G was multiplied by h.
static void spread(event_work *w, const carom_step *s, const double *x, const double *Gamma, double h) {
    const carom_local *L = &w->L;
    const int m = L->at[L->nb];
    carom_zero(w->lambda, m);
    carom_zero(w->Gamma, m);
    carom_zero(w->noise, m);
    carom_copy(w->a, w->a_f, s->sys->nv);
    for (int r = 0, b = 0; r < w->n; ++r) {
        const int k = w->row[r];
        while (k >= L->at[b + 1]) ++b;
        w->lambda[k] = x[r] + 0.0; // no negative zeros
        w->Gamma[k] = Gamma ? Gamma[r] : 0;
        w->noise[k] = carom_local_reach(L, k, w->a_f) + fabs(w->kappa[k]);
        for (int i = 0; i < w->n; ++i) w->noise[k] += fabs(s->G[r + i * w->n] * x[i]) / h;
        carom_axpy(w->a, x[r], w->X + (size_t)r * (size_t)s->sys->nv, s->sys->nv);
        const int contact = L->id[b] - s->sys->ne;
        if (contact < 0 || k != L->at[b] || w->contact[contact].mode != MODE_SLIP) continue;
        double d[CAROM_TANGENTS];
        slip_direction(w, s, b, d);
        for (int i = 0; k + 1 + i < L->at[b + 1]; ++i)
            w->lambda[k + 1 + i] = -s->sys->contacts[contact].friction * x[r] * d[i];
    }
}

// (EV-5)  The contact laws between accelerations and reactions.  A sliding contact has its friction in B and is
// unilateral; a sticking one, or one that may stick, has its disc.
static carom_status solve_law(event_work *w, carom_step *s) {
    const carom_system *sys = s->sys;
    const carom_local *L = &w->L;
    int n = 0;
    for (int b = 0; b < L->nb; ++b) {
        const int contact = L->id[b] - sys->ne, tangents = L->at[b + 1] - L->at[b] - 1;
        const bool stick = contact >= 0 && w->contact[contact].mode == MODE_STICK;
        s->blocks[b] = (carom_block){contact < 0 ? CAROM_BILATERAL : carom_law_friction(stick ? tangents : 0), n,
                                     stick ? sys->contacts[contact].friction : 0};
        n += stick ? 1 + tangents : 1;
    }
    // Times h, so that the residual is a velocity like every other.
    const double h = s->h;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n * n; ++i) s->G[i] *= h;
    for (int i = 0; i < n; ++i) s->c[i] *= h, s->p[i] = 0;
    s->problem =
        (carom_problem){.n = n, .nb = L->nb, .ld = n, .block = s->blocks, .G = s->G, .c = s->c, .p = s->p, .u = s->u};
    double size = 0;
    for (int r = 0; r < n; ++r)
        size = fmax(size, h * (carom_local_reach(L, w->row[r], w->a_f) + fabs(w->kappa[w->row[r]])));
    const carom_report r = carom_chain_solve(s->chain, &s->problem, s->tol * size + DBL_MIN);
    s->counts->problems += 1;
    s->counts->iterations += r.iterations;
    s->counts->fallbacks += r.fallbacks;
    if (!r.converged && !carom_problem_accepted(s, r.residual, size))
        return carom_retry(s,
                           "the contact laws of %d constraints have no solution on acceleration level that a solver "
                           "finds (residual %.3g); "
                           "with large friction there may be none (Painleve), and a smaller step does not help: moreau-jean and "
                           "moreau-midpoint pass such states by an impulse",
                           L->nb, r.residual);
    if (r.residual > s->counts->residual) {
        s->counts->residual = r.residual;
        s->counts->residual_id = r.worst >= 0 ? L->id[r.worst] : -1;
    }
    for (int i = 0; i < n; ++i) s->u[i] /= h;
    spread(w, s, s->p, s->u, h);
    return CAROM_OK;
}

carom_status event_law(event_work *w, carom_step *s, double t, const double *q, const double *v) {
    CAROM_TRY(event_form(w, s, WANT_FORCE, t, q, v));
    CAROM_TRY(free_accelerations(w, s, t, q, v));
    if (w->n > 0) return solve_law(w, s);
    spread(w, s, NULL, NULL, 1);
    return CAROM_OK;
}

// x: G x = -c.  Where a pivot is small, full pivoting says how near to singular G is.
static void solve_reactions(event_work *w, carom_step *s) {
    static const double SUSPECT = 1e-2;
    const int n = w->n;
    bool small = false;
    carom_copy(w->S, s->G, (ptrdiff_t)n * n);
    for (int r = 0; r < n; ++r) w->x[r] = -s->c[r];
    w->pivot_least = 1;
    w->shared = n > 0 && !carom_dense_lu(w->S, n, n, EVENT_CUT, w->pivot);
    for (int r = 0; r < n && !w->shared; ++r) small = small || fabs(w->S[r + (ptrdiff_t)r * n]) < SUSPECT * w->D[w->row[r]];
    if (small) {
        carom_copy(w->S, s->G, (ptrdiff_t)n * n);
        carom_copy(w->b, w->x, n);
        w->shared = carom_dense_full(w->S, n, n, EVENT_CUT, w->order, w->pivot, w->scratch) < n;
        w->pivot_least = fabs(w->S[n - 1 + (ptrdiff_t)(n - 1) * n]);
    }
    if (w->shared) w->pivot_least = 0, event_share(w, s);
    else if (small) carom_dense_full_solve(w->S, n, n, n, w->order, w->pivot, w->scratch, w->b, w->x);
    else if (n > 0) carom_dense_lu_solve(w->S, n, n, w->pivot, w->x);
}

carom_status event_smooth(event_work *w, carom_step *s, double t, const double *q, const double *v) {
    CAROM_TRY(event_form(w, s, WANT_FORCE, t, q, v));
    CAROM_TRY(free_accelerations(w, s, t, q, v));
    solve_reactions(w, s);
    spread(w, s, w->x, NULL, 1);
    return CAROM_OK;
}

// (EV-19)  Near a singular position accelerations are those of the nearest state on the constraints.  What the integrator's
// tolerance leaves in W'v stands in kappa, and the reactions divide it by the distance to that position: the integrator
// would follow that error with ever smaller steps.
static carom_status smooth_on_constraints(event_work *w, carom_step *s, double t, const double *q, const double *v) {
    carom_copy(w->q_on, q, s->sys->nq);
    carom_copy(w->v_on, v, s->sys->nv);
    CAROM_TRY(event_project_position(w, s, t, w->q_on));
    CAROM_TRY(event_project_velocity(w, s, t, w->q_on, w->v_on, NULL));
    return event_smooth(w, s, t, w->q_on, w->v_on);
}

// The least pivot of W'M^-1 W at q + tau v.
static carom_status pivot_ahead(event_work *w, carom_step *s, double tau, double *least) {
    carom_move(s, w->q_on, w->q, tau, w->v);
    CAROM_TRY(event_smooth(w, s, w->t + tau, w->q_on, w->v));
    *least = w->pivot_least;
    return CAROM_OK;
}

// (EV-20)  A step over the singular position: to where, along q + tau v, the least pivot is as large again as it is here.  It stops a
// little short of that, so that the position lies between two stages.  At the position, and behind it: to where it is near no more.
// Velocities across the constraints are known to rounding over the distance, which is the root of the pivot; accelerations, which act
// during the step, to rounding over its square.  That goes when the state is put on the constraints farther away.
carom_status event_crossing(event_work *w, carom_step *s, double t_1, double *time, double *blur) {
    enum { DOUBLINGS = 18, HALVINGS = 6 };
    static const double FIRST = 1e-6, AT = 1e-2, SHORT = 0.9, AWAY = 0.25; // FIRST: of the time that velocities need for positions
    static const double ROUNDINGS = 1024, MORE = 1e6, UNKNOWN = 1e-2; // MORE: a stage may lie at the position itself
    const double left = t_1 - w->t, here = w->pivot_least;
    double a = 0, b = fmin(FIRST * w->head.size_q / w->head.size_v, left), ahead = 0;
    *time = *blur = 0;
    if (here >= EVENT_SINGULAR) return CAROM_OK;
    CAROM_TRY(pivot_ahead(w, s, b, &ahead));
    const bool comes = ahead < here && here > AT * EVENT_SINGULAR;
    const double enough = comes ? here : EVENT_SINGULAR;
    double most = fmax(here, ahead), least = fmin(here, ahead);
    for (int i = 0; i < DOUBLINGS && ahead < enough && b < left; ++i) {
        a = b, b = fmin(2 * b, left);
        CAROM_TRY(pivot_ahead(w, s, b, &ahead));
        most = fmax(most, ahead), least = fmin(least, ahead);
    }
    for (int i = 0; i < HALVINGS && ahead >= enough; ++i) {
        const double tau = 0.5 * (a + b);
        double middle;
        CAROM_TRY(pivot_ahead(w, s, tau, &middle));
        if (middle >= enough) b = tau, ahead = middle;
        else a = tau;
    }
    // Redundant everywhere, or near to that all the time: no position to step over.
    if (ahead >= enough || (b == left && most > EVENT_CUT && least < AWAY * most)) {
        *time = comes && ahead >= enough ? SHORT * b : b;
        const double nearer = fmin(here, ahead), distance = sqrt(fmax(nearer, EVENT_CUT)), turn = *time * w->head.size_v / w->head.size_q;
        *blur = (ahead >= enough && here > AT * EVENT_SINGULAR ? ROUNDINGS : MORE) * DBL_EPSILON / distance * (1 + turn / distance);
        if (nearer < EVENT_CUT) *blur = UNKNOWN; // there the acceleration across the constraints is not known at all
    }
    return event_smooth(w, s, w->t, w->q, w->v);
}

// (EV-2)  q' = Y(q) v.  Where only the motion along v is known, its rate by a difference of fourth order.
static void position_rate(event_work *w, const carom_step *s, const double *q, const double *v, double *rate) {
    const carom_system *sys = s->sys;
    if (!sys->move) {
        carom_copy(rate, v, sys->nq);
        return;
    }
    static const double weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
    const double h = 1e-3 * fmax(carom_norm_max(q, sys->nq), DBL_MIN) / fmax(carom_norm_max(v, sys->nv), DBL_MIN);
    carom_zero(rate, sys->nq);
    for (int i = 0; i < 4; ++i) {
        carom_move(s, w->dq, q, at[i] * h, v);
        carom_axpy(rate, weight[i] / (12 * h), w->dq, sys->nq);
    }
}

// (EV-15)  Witnesses: a reaction may change while nothing moves, and so may a gap to a wall that moves.  Their
// integrals are part of the state, so that the integrator takes steps short enough to see events come.
static carom_status witness(event_work *w, carom_step *s, double t, const double *q, const double *v, double *rate) {
    static const double weight[1 + CAROM_TANGENTS] = {1, 1, 0.5, 0.25, 0.125, 0.0625}; // of normal and tangents: one number stands for all
    const carom_system *sys = s->sys;
    carom_zero(rate, sys->nc);
    for (int b = sys->ne; b < w->L.nb; ++b)
        for (int k = w->L.at[b]; k < w->L.at[b + 1]; ++k)
            rate[w->L.id[b] - sys->ne] += weight[k - w->L.at[b]] * w->lambda[k];
    if (sys->flags & CAROM_TIMELESS_GAPS || w->L.nb == sys->ne + sys->nc) return CAROM_OK;
    carom_close_all(s, &w->all);
    CAROM_TRY(event_hold(s, CAROM_FREE, t, q));
    CAROM_TRY(carom_directions(s, &w->all, t, q));
    CAROM_TRY(event_hold(s, CAROM_HELD, t, q));
    for (int c = 0; c < sys->nc; ++c) {
        const int k = w->all.at[sys->ne + c];
        if (w->contact[c].mode == MODE_OPEN) rate[c] = carom_column_dot(&w->all.W, k, v) + w->all.w[k];
    }
    return CAROM_OK;
}

// (EV-3)  Works: friction takes -lambda_T u_T, moving walls give -w lambda, forces without potential as the system
// says.
carom_status event_rhs(event_work *w, carom_step *s, double t, const double *y, double *rate) {
    const carom_system *sys = s->sys;
    const double *q = y, *v = y + sys->nq;
    double *work = rate + w->ny - WORKS, given = 0, taken = 0;
    CAROM_TRY(event_smooth(w, s, t, q, v));
    if (w->pivot_least < EVENT_SINGULAR && !w->shared) {
        CAROM_TRY(smooth_on_constraints(w, s, t, q, v));
        q = w->q_on, v = w->v_on;
    }
    position_rate(w, s, q, v, rate);
    carom_copy(rate + sys->nq, w->a, sys->nv);
    CAROM_TRY(witness(w, s, t, q, v, rate + sys->nq + sys->nv));
    carom_zero(work, WORKS);
    for (int b = 0; b < w->L.nb; ++b)
        for (int k = w->L.at[b]; k < w->L.at[b + 1]; ++k) {
            work[WORK_EXTERNAL] -= w->L.w[k] * w->lambda[k];
            if (k > w->L.at[b]) work[WORK_FRICTION] -= w->lambda[k] * w->u[k];
        }
    if (!sys->power) return CAROM_OK;
    const carom_status status = sys->power(sys->model, s->sys_work, t, q, v, &given, &taken);
    if (status != CAROM_OK) return carom_fail(s->err, status, "t = %.9g: the model failed to give its power", t);
    work[WORK_EXTERNAL] += given;
    work[WORK_DAMPING] = taken;
    return CAROM_OK;
}

// (EV-4)  q <- q - M^-1 W (W'M^-1 W)^+ g,   v <- v - M^-1 W (W'M^-1 W)^+ u: the nearest in the metric of M.
carom_status event_project_position(event_work *w, carom_step *s, double t, double *q) {
    const int nv = s->sys->nv;
    for (int iteration = 0; iteration < 4; ++iteration) {
        CAROM_TRY(event_form(w, s, WANT_POSITION, t, q, NULL));
        if (w->n == 0) return CAROM_OK;
        CAROM_TRY(carom_gaps(s, w->g, t, q));
        bool good = true;
        for (int b = 0; b < w->n; ++b) {
            w->b[b] = -w->g[w->L.id[b]];
            good = good && fabs(w->b[b]) <= 2 * DBL_EPSILON * carom_local_reach(&w->L, w->row[b], w->span);
        }
        if (good) return CAROM_OK;
        carom_copy(w->S, s->G, w->n * w->n);
        carom_dense_shortest(w->S, w->n, w->n, EVENT_CUT, w->pivot, w->scratch, w->b, w->x);
        carom_zero(w->a, nv);
        for (int r = 0; r < w->n; ++r) carom_axpy(w->a, w->x[r], w->X + (size_t)r * (size_t)nv, nv);
        carom_move(s, q, q, 1, w->a);
    }
    return CAROM_OK;
}

carom_status event_project_velocity(event_work *w, carom_step *s, double t, const double *q, double *v, double *p) {
    const int nv = s->sys->nv;
    CAROM_TRY(event_form(w, s, WANT_VELOCITY, t, q, v));
    if (p) carom_zero(p, w->L.at[w->L.nb]);
    if (w->n == 0) return CAROM_OK;
    for (int r = 0; r < w->n; ++r) w->b[r] = -w->u[w->row[r]];
    carom_copy(w->S, s->G, w->n * w->n);
    carom_dense_shortest(w->S, w->n, w->n, EVENT_CUT, w->pivot, w->scratch, w->b, w->x);
    for (int r = 0; r < w->n; ++r) {
        carom_axpy(v, w->x[r], w->X + (size_t)r * (size_t)nv, nv);
        if (p) p[w->row[r]] = w->x[r];
    }
    return CAROM_OK;
}
