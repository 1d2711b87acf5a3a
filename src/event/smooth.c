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

// (EV-5)  The contact laws between accelerations and reactions.
carom_status event_law(event_work *w, carom_step *s, double t, const double *q, const double *v) {
    return carom_flow_rate(&w->f, s, t, q, v, true);
}

// x: G x = -c.  Where a pivot is small, full pivoting says how near to singular G is.
static void solve_reactions(event_work *w, carom_step *s) {
    static const double SUSPECT = 1e-2;
    const int n = w->f.n;
    bool small = false;
    carom_copy(w->f.S, s->G, (ptrdiff_t)n * n);
    for (int r = 0; r < n; ++r) w->f.x[r] = -s->c[r];
    w->pivot_least = 1;
    w->f.shared = n > 0 && !carom_dense_lu(w->f.S, n, n, EVENT_CUT, w->f.pivot);
    for (int r = 0; r < n && !w->f.shared; ++r) small = small || fabs(w->f.S[r + (ptrdiff_t)r * n]) < SUSPECT * w->f.D[w->f.row[r]];
    if (small) {
        carom_copy(w->f.S, s->G, (ptrdiff_t)n * n);
        carom_copy(w->b, w->f.x, n);
        w->f.shared = carom_dense_full(w->f.S, n, n, EVENT_CUT, w->order, w->f.pivot, w->f.scratch) < n;
        w->pivot_least = fabs(w->f.S[n - 1 + (ptrdiff_t)(n - 1) * n]);
    }
    if (w->f.shared) w->pivot_least = 0, event_share(w, s);
    else if (small) carom_dense_full_solve(w->f.S, n, n, n, w->order, w->f.pivot, w->f.scratch, w->b, w->f.x);
    else if (n > 0) carom_dense_lu_solve(w->f.S, n, n, w->f.pivot, w->f.x);
}

carom_status event_smooth(event_work *w, carom_step *s, double t, const double *q, const double *v) {
    bool settled = false;
    for (int round = 0; !settled; ++round) {
        CAROM_TRY(carom_flow_prepare(&w->f, s, t, q, v));
        solve_reactions(w, s);
        carom_flow_spread(&w->f, s, w->f.x, NULL, 1);
        CAROM_TRY(carom_friction_settle(s, &w->f.L, w->f.lambda, round, &settled));
    }
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
    for (int b = sys->ne; b < w->f.L.nb; ++b)
        for (int k = w->f.L.at[b]; k < w->f.L.at[b + 1]; ++k)
            rate[w->f.L.id[b] - sys->ne] += weight[k - w->f.L.at[b]] * w->f.lambda[k];
    if (sys->flags & CAROM_TIMELESS_GAPS || w->f.L.nb == sys->ne + sys->nc) return CAROM_OK;
    carom_close_all(s, &w->all);
    CAROM_TRY(event_hold(s, CAROM_FREE, t, q));
    CAROM_TRY(carom_directions(s, &w->all, t, q));
    CAROM_TRY(event_hold(s, CAROM_HELD, t, q));
    for (int c = 0; c < sys->nc; ++c) {
        const int k = w->all.at[sys->ne + c];
        if (w->f.mode[c] == CAROM_MODE_OPEN) rate[c] = carom_column_dot(&w->all.W, k, v) + w->all.w[k];
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
    if (w->pivot_least < EVENT_SINGULAR && !w->f.shared) {
        CAROM_TRY(smooth_on_constraints(w, s, t, q, v));
        q = w->q_on, v = w->v_on;
    }
    position_rate(w, s, q, v, rate);
    carom_copy(rate + sys->nq, w->f.a, sys->nv);
    CAROM_TRY(witness(w, s, t, q, v, rate + sys->nq + sys->nv));
    carom_zero(work, WORKS);
    for (int b = 0; b < w->f.L.nb; ++b)
        for (int k = w->f.L.at[b]; k < w->f.L.at[b + 1]; ++k) {
            work[WORK_EXTERNAL] -= w->f.L.w[k] * w->f.lambda[k];
            if (k > w->f.L.at[b]) work[WORK_FRICTION] -= w->f.lambda[k] * w->f.u[k];
        }
    if (!sys->power) return CAROM_OK;
    const carom_status status = sys->power(sys->model, s->sys_work, t, q, v, &given, &taken);
    if (status != CAROM_OK) return carom_fail(s->err, status, "t = %.9g: the model failed to compute its power", t);
    work[WORK_EXTERNAL] += given;
    work[WORK_DAMPING] = taken;
    return CAROM_OK;
}

// (EV-4)  q <- q - M^-1 W (W'M^-1 W)^+ g,   v <- v - M^-1 W (W'M^-1 W)^+ u: the nearest in the metric of M.
carom_status event_project_position(event_work *w, carom_step *s, double t, double *q) { return carom_flow_project_position(&w->f, s, t, q); }

carom_status event_project_velocity(event_work *w, carom_step *s, double t, const double *q, double *v, double *p) {
    CAROM_TRY(carom_flow_stop(&w->f, s, t, q, v));
    if (p) carom_zero(p, w->f.L.at[w->f.L.nb]);
    for (int r = 0; r < w->f.n && p; ++r) p[w->f.row[r]] = w->f.x[r];
    return CAROM_OK;
}
