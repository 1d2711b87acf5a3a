// path.c: a run together with its variations: the linearised equations along smooth motion, and how variations jump at
// events.
//
//     M a = f + B lambda,  W'a + kappa = 0:  M da = d(f - M a) + d(B lambda) + B dlambda,  W'da = -d(W'a + kappa)
//     (VAR-1)
//     dq' = dv + [dq, v],   dv' = da
//
// over joints, closed normals and sticking tangents; B has the friction of sliding contacts in it.  The scheme says
// where the motion goes and what happens; here the state is integrated once more, with its columns, from event to event
// (Dormand and Prince), and must arrive where the scheme did.
#include "base/block.h"
#include "base/control.h"
#include "base/grow.h"
#include "base/tolerance.h"
#include "dynamics/dynamics.h"
#include "event/rk.h"
#include "system/narrow.h"
#include "system/system.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RTOL = 1e-10;    // of one internal step
static const double ARRIVES = 1e-5;  // relative: the state must arrive where the scheme did
static const double STEPS = 1e3;     // whose errors may have come together on the way there
static const double STILL = 1e-8;    // of positions: who moves less in a step rests, and what is left is rounding
static const double NATURAL = 1e-3; // of the change of a motion that is proportional to the name
static const double DIFFERENCE = 1e-4; // of the size: second differences, where rounding and the error are equal
static const double JUMP = 1e-3;    // of an acceleration: what counts as one
static const double BESIDE = 1e-6;  // of a step or a name: how far beside a surface accelerations are looked at
static const double HELD = 1e-10;   // of what forces would do alone: less motion is none
static const double UNSEEN = 1e-14; // of the motion until it is looked at again: what rounding of forces may do
static const double UNFELT = 0.5;   // an error that is rounding, of what is allowed: steps may grow
static const double SHORTEST = 1e-14, SECOND = 1e-3; // steps, of the end of the run, which counts as SECOND at least:
                                                     // shorter ones no longer move t

// -- one step -----------------------------------------------------------------------------------------------------

static double *column(const carom_path *w, double *y, int j) { return y + (size_t)j * 2 * (size_t)w->p.nv; }

// [x, v], of positions that turn: lift(x, v) = v + [x, v]/2 + what is even in x.
static void bracket(carom_path *w, const double *x, const double *v, double *y) {
    const carom_system *s = &w->p.sys;
    const double size = carom_norm_max(x, s->nv), by = size > 0 ? DIFFERENCE / size : 0;
    carom_zero(y, s->nv);
    if (!s->lift || by == 0) return;
    for (int side = -1; side <= 1; side += 2) {
        for (int i = 0; i < s->nv; ++i) w->dv[i] = side * by * x[i];
        s->lift(s->model, w->dx, w->dv, v);
        carom_axpy(y, side / by, w->dx, s->nv);
    }
}

static carom_status rates(carom_path *w, double t, const double *q, const double *v, double *y, double *a, double *rate,
                          double *z) {
    const int nv = w->p.nv;
    CAROM_TRY(carom_path_evaluate(w, t, q, v));
    carom_copy(a, w->a, nv);
    for (int j = 0; j < w->n; ++j) {
        const double *dq = column(w, y, j), *dv = dq + nv;
        double *to = column(w, rate, j);
        bracket(w, dq, v, to);
        carom_axpy(to, 1, dv, nv);
        CAROM_TRY(carom_path_differentiate(w, (carom_direction){0, dq, dv, w->dp + (size_t)j * (size_t)w->np}, j,
                                           to + nv, w->dlambda));
    }
    return w->nz > 0 ? w->rate(w->user, w, t, q, v, y, z) : CAROM_OK;
}

static void move(const carom_path *w, double *q1, const double *q0, const double *x) {
    const carom_system *s = &w->p.sys;
    if (s->move) s->move(s->model, q1, q0, 1, x);
    else carom_add(q1, q0, 1, x, s->nv);
}

carom_status carom_path_try(carom_path *w, double h, double *error) {
    w->tried = h;
    const carom_butcher *T = carom_butcher_find(CAROM_RK_DORMAND, 5);
    const carom_system *s = &w->p.sys;
    const int nv = s->nv, m = 2 * nv * w->n;
    double *e = w->e;
    for (int i = 0; i <= T->stages; ++i) { // the last round is the end of the step
        const bool end = i == T->stages;
        carom_zero(w->shift, nv);
        carom_copy(w->v_1, w->v, nv), carom_copy(w->y_1, w->y, m), carom_copy(w->z_1, w->z, w->nz);
        for (int j = 0; j < i; ++j) {
            const double b = h * (end ? T->b[j] : carom_butcher_a(T, i, j));
            if (b == 0) continue;
            carom_axpy(w->shift, b, w->stage[j].shift, nv), carom_axpy(w->v_1, b, w->stage[j].a, nv),
                carom_axpy(w->y_1, b, w->stage[j].y, m), carom_axpy(w->z_1, b, w->stage[j].z, w->nz);
        }
        move(w, w->q_1, w->q, w->shift);
        if (end) break;
        if (i == 0 && w->ready) continue;
        if (s->lift) s->lift(s->model, w->stage[i].shift, w->shift, w->v_1);
        else carom_copy(w->stage[i].shift, w->v_1, nv);
        CAROM_TRY(rates(w, w->t + h * carom_butcher_c(T, i), w->q_1, w->v_1, w->y_1, w->stage[i].a, w->stage[i].y,
                        w->stage[i].z));
    }
    w->ready = true;
    if (!error) return CAROM_OK;
    carom_zero(e, 2 * nv + m);
    for (int j = 0; j < T->stages; ++j) {
        const double b = h * (T->b[j] - T->low[j]);
        carom_axpy(e, b, w->stage[j].shift, nv), carom_axpy(e + nv, b, w->stage[j].a, nv),
            carom_axpy(e + 2 * nv, b, w->stage[j].y, m);
    }
    *error = 0;
    // held: by what would move it
    const double moves = fmax(w->size_v, w->span * carom_norm_max(w->stage[0].a, nv)),
                 speed = moves > HELD * w->span * w->drive ? moves : w->span * w->drive;
    for (int part = 0; part < 2 * (w->n + 1); ++part) { // positions, velocities of the state and of every column
        const double *x = part == 0   ? w->q
                          : part == 1 ? w->v
                                      : w->y + (part - 2) * nv,
                     *x_1 = part == 0   ? w->q_1
                            : part == 1 ? w->v_1
                                        : w->y_1 + (part - 2) * nv;
        double rate = 0; // at the start or at the end, the last stage: what begins from rest has none yet
        for (int j = 0; j < T->stages; j += T->stages - 1) {
            const carom_path_stage *s_j = &w->stage[j];
            rate = fmax(rate, carom_norm_max(part == 0   ? s_j->shift
                                             : part == 1 ? s_j->a
                                                         : s_j->y + (part - 2) * nv,
                                             nv));
        }
        // what is nearly zero need not be better known than what it becomes until the motion is looked at again
        const double size =
            fmax(fmax(carom_norm_max(x, part == 0 ? w->p.nq : nv), carom_norm_max(x_1, part == 0 ? w->p.nq : nv)),
                 w->span * rate);
        // a column that is nothing but rounding has no digits: what counts is its part of the motion
        const double natural =
            part < 2 ? 0 : NATURAL * (part % 2 ? speed : fmax(w->size_q, w->span * speed)) / w->unit[(part - 2) / 2];
        // of forces that contacts hold
        const double rounding = part > 1 ? 0 : UNSEEN * w->span * w->drive * (part == 0 ? w->span : 1);
        const double wrong = carom_norm_max(e + part * nv, nv);
        double share = size + natural > 0 ? wrong / (w->rtol * (size + natural) + rounding) : 0;
        // at rest elsewhere than at 0, forces are what is left of larger terms: what moves no position by its last bit
        if (part < 2 && wrong * (part == 0 ? 1 : h) <= DBL_EPSILON * w->size_q) share = fmin(share, UNFELT);
        *error = fmax(*error, share);
    }
    return isfinite(*error) ? CAROM_OK
                            : carom_fail(w->err, CAROM_USER, "t = %.9g: the variations are not finite", w->t);
}

static void accept(carom_path *w, double t) {
    const carom_butcher *T = carom_butcher_find(CAROM_RK_DORMAND, 5);
    const int nv = w->p.nv, m = 2 * nv * w->n;
    w->t = t;
    carom_copy(w->q, w->q_1, w->p.nq), carom_copy(w->v, w->v_1, nv), carom_copy(w->y, w->y_1, m),
        carom_copy(w->z, w->z_1, w->nz);
    const carom_path_stage first = w->stage[0];
    // the last stage is the first of the next step
    w->stage[0] = w->stage[T->stages - 1], w->stage[T->stages - 1] = first;
    if (w->p.sys.lift) carom_copy(w->stage[0].shift, w->v, nv);
}

static double apart(const double *a, const double *b, int n) {
    double most = 0;
    for (int i = 0; i < n; ++i) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

// The functions of the state on whose sides forces may be different ones, at (t, q, v).
static carom_status sides(carom_path *w, double t, const double *q, const double *v, double *k) {
    const carom_system *s = &w->p.sys;
    const carom_status status = s->events->kinks(s->model, w->p.work, t, q, v, k);
    return status == CAROM_OK ? status : carom_fail(w->err, status, "t = %.9g: the kinks of forces have no value", t);
}

static bool other_side(double k_0, double k_1) { return (k_0 > 0) != (k_1 > 0); }

// The accelerations at t + tau, on the tangent of the motion at t.
static carom_status beside(carom_path *w, double tau, double *a) {
    carom_zero(w->shift, w->p.nv), carom_axpy(w->shift, tau, w->stage[0].shift, w->p.nv);
    move(w, w->q_1, w->q, w->shift);
    carom_add(w->v_1, w->v, tau, w->stage[0].a, w->p.nv);
    CAROM_TRY(carom_path_evaluate(w, w->t + tau, w->q_1, w->v_1));
    carom_copy(a, w->a, w->p.nv);
    return CAROM_OK;
}

// Do forces jump where function i changes its sign, in the tried step or where it begins?  They do if accelerations on
// both sides differ, however near these are.  Those on the surface itself are of either side.
static carom_status jumps_at(carom_path *w, int i, double tau, bool *jumps) {
    enum { HALVINGS = 30 };
    const int nv = w->p.nv, last = carom_butcher_find(CAROM_RK_DORMAND, 5)->stages - 1;
    double low = 0, high = tau, most = 0, *a = w->a_before, *b = w->a_after;
    for (int j = 0; j <= last; ++j) most = fmax(most, carom_norm_max(w->stage[j].a, nv));
    CAROM_TRY(sides(w, w->t, w->q, w->v, w->kink));
    const bool begins = w->kink[i] == 0 || other_side(w->side[i], w->kink[i]);
    if (begins) {
        CAROM_TRY(beside(w, -BESIDE * tau, a));
        CAROM_TRY(beside(w, BESIDE * tau, b));
    } else carom_copy(a, w->stage[0].a, nv), carom_copy(b, w->stage[last].a, nv);
    for (int j = 0; j < HALVINGS && !begins; ++j) {
        const double mid = (low + high) / 2;
        CAROM_TRY(carom_path_try(w, mid, NULL));
        CAROM_TRY(sides(w, w->t + mid, w->q_1, w->v_1, w->kink));
        if (w->kink[i] == 0) break;
        const bool behind = other_side(w->side[i], w->kink[i]);
        if (behind) high = mid;
        else low = mid;
        CAROM_TRY(carom_path_evaluate(w, w->t + mid, w->q_1, w->v_1)); // a stage ends there but for rounding
        carom_copy(behind ? b : a, w->a, nv);
    }
    *jumps = apart(a, b, nv) > JUMP * most;
    return carom_path_try(w, tau, NULL);
}

// How far accelerations are apart at the neighbours of the start, on either side of it in the direction of column j.
static carom_status across_start(carom_path *w, int j, double by, double *difference, double *most) {
    const int nv = w->p.nv;
    const double *dq = column(w, w->y, j), *dv = dq + nv;
    double *side[] = {w->a_before, w->a_after};
    for (int k = 0; k < 2; ++k, by = -by) {
        carom_zero(w->shift, nv), carom_axpy(w->shift, by, dq, nv);
        move(w, w->q_1, w->q, w->shift);
        carom_add(w->v_1, w->v, by, dv, nv);
        CAROM_TRY(carom_path_evaluate(w, w->t, w->q_1, w->v_1));
        carom_copy(side[k], w->a, nv);
    }
    *difference = apart(side[0], side[1], nv);
    *most = fmax(carom_norm_max(side[0], nv), carom_norm_max(side[1], nv));
    return CAROM_OK;
}

// Do forces jump between the neighbours of the start, in the direction of some column?  Then the difference stays where
// they come nearer; without a jump it is proportional to how far they are apart.
static carom_status jumps_at_start(carom_path *w, bool *jumps) {
    enum { NEARER = 100 };
    for (int j = 0; j < w->n && !*jumps; ++j) {
        double far, near, most, by = BESIDE * w->unit[j];
        if (carom_norm_max(column(w, w->y, j), 2 * w->p.nv) == 0) continue;
        CAROM_TRY(across_start(w, j, by, &far, &most));
        if (!(far > JUMP * most)) continue;
        CAROM_TRY(across_start(w, j, by / NEARER, &near, &most));
        *jumps = near > 0.5 * far; // a hundred times nearer: without a jump it would be a hundredth
    }
    return CAROM_OK;
}

// Has the tried step crossed a surface where forces jump, or do neighbours of the motion start behind one?
static carom_status crosses_jump(carom_path *w, double tau, bool *jumps) {
    const carom_system *s = &w->p.sys;
    const int nk = s->events ? s->events->nk : 0;
    bool some = false;
    for (int i = 0; i < nk; ++i) some = some || carom_system_kink_of(s, i) == CAROM_JUMPS;
    if (!some) return CAROM_OK;
    CAROM_TRY(sides(w, w->t + tau, w->q_1, w->v_1, w->kink_1));
    if (!w->sided) {
        CAROM_TRY(sides(w, w->t, w->q, w->v, w->side));
        CAROM_TRY(jumps_at_start(w, jumps));
        CAROM_TRY(carom_path_try(w, tau, NULL));
    }
    w->sided = true;
    for (int i = 0; i < nk; ++i) {
        if (carom_system_kink_of(s, i) != CAROM_JUMPS || w->kink_1[i] == 0) continue; // on it: on neither side
        if (!*jumps && w->side[i] != 0 && other_side(w->side[i], w->kink_1[i])) CAROM_TRY(jumps_at(w, i, tau, jumps));
        w->side[i] = w->kink_1[i];
    }
    return CAROM_OK;
}

// Smooth motion to t_1.
static carom_status integrate(carom_path *w, double t_1) {
    enum { MOST = 1000000 }; // a message instead of a run without an end
    const double longest = w->longest > 0 ? w->longest : INFINITY;
    // chosen: a hundredth to begin with; errors correct it
    double h = fmin(longest, w->h > 0 ? fmin(w->h, t_1 - w->t) : 0.01 * (t_1 - w->t));
    w->ready = false;
    w->span = t_1 - w->t;
    for (int i = 0; w->t < t_1; ++i) {
        if (i == MOST)
            return carom_fail(w->err, CAROM_NOT_CONVERGED, "t = %.9g: more than %d steps of the linearised motion",
                              w->t, MOST);
        const bool last = w->t + h * (1 + CAROM_INSTANT) >= t_1;
        const double tau = last ? t_1 - w->t : h;
        double error = 0;
        CAROM_TRY(carom_path_try(w, tau, &error));
        const double age = carom_path_age(w); // the last stage is the end of the step
        if (age > 4 && tau > SHORTEST * fmax(fabs(t_1), SECOND)) {
            h = tau * fmax(0.1, sqrt(2 / age)); // a tenth at least, as by errors
            continue;
        }
        // order 5; safety, least and largest factor as usual
        const double next = fmin(longest, tau * carom_step_factor(fmax(error, CAROM_ESTIMATE), 5, 0.9, 0.1, 4));
        if (!last || error > 1) w->h = next;
        if (error > 1 && tau > SHORTEST * fmax(fabs(t_1), SECOND)) {
            h = next;
            continue;
        }
        bool jumps = false;
        if (!w->plain) CAROM_TRY(crosses_jump(w, tau, &jumps));
        if (jumps)
            return carom_fail(w->err, CAROM_UNSUPPORTED,
                              "t = %.9g: forces jump; derivatives through such a jump are not supported", w->t);
        if (w->on_step) {
            CAROM_TRY(w->on_step(w->user, w, tau));
            if (w->tried != tau) CAROM_TRY(carom_path_try(w, tau, NULL));
        }
        accept(w, last ? t_1 : w->t + tau);
        if (age > 1) CAROM_TRY(carom_path_grow_up(w));
        h = next;
    }
    return CAROM_OK;
}

// The state that was integrated must be that of the scheme, and is that from here on.
static carom_status arrive(carom_path *w, double t, const double *q, const double *v) {
    const int nq = w->p.nq, nv = w->p.nv;
    double wrong = 0;
    w->size_q = fmax(w->size_q, carom_point_largest(&w->p, q, nq)),
    w->size_v = fmax(w->size_v, carom_point_largest(&w->p, v, nv));
    // what begins from rest is small
    const double speed = fmax(fmax(w->size_v, w->span * w->drive), w->span > 0 ? STILL * w->size_q / w->span : 0),
                 size = fmax(w->size_q, w->span * speed);
    for (int i = 0; i < nq; ++i) wrong = fmax(wrong, fabs(q[i] - w->q[i]) / fmax(size, DBL_MIN));
    for (int i = 0; i < nv; ++i) wrong = fmax(wrong, fabs(v[i] - w->v[i]) / fmax(speed, DBL_MIN));
    if (!(wrong < fmax(ARRIVES, STEPS * w->rtol)))
        return carom_fail(w->err, CAROM_NOT_CONVERGED,
                          "t = %.9g: the linearised motion does not follow that of the scheme (they differ by %.2g): "
                          "tighten its tolerances or shorten its steps",
                          t, wrong);
    w->t = t;
    carom_copy(w->q, q, nq), carom_copy(w->v, v, nv);
    return CAROM_OK;
}

carom_status carom_path_arrives(carom_path *w, double within, bool *arrives) {
    carom_point *p = &w->p;
    for (int c = 0; c < p->nc; ++c) w->with[c] = w->phase[c] == CAROM_MODE_OPEN;
    CAROM_TRY(carom_path_look(w, w->t, w->q, w->v, w->with)); // no matrix of all that is open
    *arrives = false;
    for (int b = 0; b < p->L.nb; ++b)
        *arrives = *arrives || (p->L.id[b] >= p->ne && p->g[p->L.id[b]] <= -within * w->u[p->L.at[b]]);
    return CAROM_OK;
}

// -- the run ------------------------------------------------------------------------------------------------------

static void allocate(carom_path *w, carom_arena *mem) {
    const carom_point *p = &w->p;
    const size_t nv = (size_t)p->nv, nq = (size_t)p->nq, nl = (size_t)p->n, n = (size_t)w->n, nz = (size_t)w->nz,
                 nc = (size_t)p->nc, full = (size_t)w->nfull;
    w->F = carom_allocate_factor(mem, p->sys.mass_shape, true);
    double **by_velocity[] = {&w->v,  &w->v_1,   &w->a, &w->dv,       &w->dx,
                              &w->da, &w->shift, &w->b, &w->a_before, &w->a_after};
    double **local[] = {&w->u, &w->kappa, &w->lambda, &w->r, &w->rhs, &w->dlambda, &w->before};
    double **columns[] = {&w->y, &w->y_1};
    double **by_column[] = {&w->dt, &w->scale_dt, &w->unit}, **by_contact[] = {&w->dmu, &w->de, &w->touched};
    for (size_t i = 0; i < sizeof by_velocity / sizeof *by_velocity; ++i) *by_velocity[i] = carom_allocate(mem, nv);
    for (size_t i = 0; i < sizeof local / sizeof *local; ++i) *local[i] = carom_allocate(mem, nl);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; ++i) *columns[i] = carom_allocate(mem, 2 * nv * n);
    for (size_t i = 0; i < sizeof by_column / sizeof *by_column; ++i) *by_column[i] = carom_allocate(mem, n);
    for (size_t i = 0; i < sizeof by_contact / sizeof *by_contact; ++i) *by_contact[i] = carom_allocate(mem, nc);
    w->q = carom_allocate(mem, nq), w->q_1 = carom_allocate(mem, nq);
    w->q_0 = carom_allocate(mem, nq), w->q_end = carom_allocate(mem, nq);
    w->v_0 = carom_allocate(mem, nv), w->v_end = carom_allocate(mem, nv);
    const size_t nk = p->sys.events ? (size_t)p->sys.events->nk : 0;
    w->side = carom_allocate(mem, nk), w->kink = carom_allocate(mem, nk), w->kink_1 = carom_allocate(mem, nk);
    w->z = carom_allocate(mem, nz), w->z_1 = carom_allocate(mem, nz);
    w->e = carom_allocate(mem, 2 * nv * (n + 1));
    w->joint = carom_allocate(mem, (size_t)p->ne);
    w->scratch = carom_allocate(mem, 3 * nl);
    w->pivot = carom_allocate_ints(mem, nl), w->row = carom_allocate_ints(mem, nl);
    w->full = carom_allocate(mem, full), w->full_0 = carom_allocate(mem, full);
    w->gaps = carom_allocate(mem, (size_t)(carom_model_system(w->model)->ne + p->nc));
    w->at_full = carom_allocate_ints(mem, (size_t)(p->ne + p->nc));
    w->with = carom_allocate_bytes(mem, nc * sizeof *w->with),
    w->young = carom_allocate_bytes(mem, nc * sizeof *w->young),
    w->starts = carom_allocate_bytes(mem, nc * sizeof *w->starts);
    w->turn = carom_allocate(mem, CAROM_TANGENTS * n * nc), w->first = carom_allocate(mem, CAROM_TANGENTS * nc);
    for (int i = 0; i < CAROM_PATH_STAGES; ++i)
        w->stage[i] = (carom_path_stage){carom_allocate(mem, nv), carom_allocate(mem, nv),
                                         carom_allocate(mem, 2 * nv * n), carom_allocate(mem, nz)};
}

carom_status carom_path_open(carom_path *w, const carom_model *m, carom_sim *sim, int n, const double *dp, int np,
                             const int *parameter, int nz, carom_error *err) {
    const carom_system *s = carom_model_system(m);
    w->t_event = -1;
    if (!(w->rtol > 0)) w->rtol = RTOL;
    w->model = m, w->sim = sim, w->n = n, w->dp = dp, w->np = np, w->nz = nz, w->err = err;
    if (!w->borrowed) CAROM_TRY(carom_point_uncontrolled(m, "derivatives of a run", err));
    CAROM_TRY(carom_point_open(&w->p, m, err));
    if (!w->borrowed) w->x = carom_variation_create(m, np, parameter, err);
    if (!w->x) return err->code;
    w->nfull = carom_variation_directions(w->x);
    allocate(w, &w->mem);
    if (!carom_arena_begin(&w->mem))
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d variations of the motion", n);
    allocate(w, &w->mem);
    if (!carom_joined_open(&w->joined, &w->p.sys, w->p.sys.mass_shape, true, &w->p.L.W))
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d joints", w->p.ne);
    CAROM_TRY(carom_path_rows(w, w->joined.on));
    for (int id = 0, at = 0, k = 0; id < s->ne + s->nc; ++id) {
        if (k < w->p.ne + w->p.nc && carom_point_id(&w->p, k) == id) w->at_full[k++] = at;
        at += carom_system_directions(s, id);
    }
    for (int j = 0; j < n; ++j) w->unit[j] = 1;
    return CAROM_OK;
}

static void drop(carom_path *w) {
    for (int i = 0; i < w->npending; ++i) free(w->pending[i].store);
    w->npending = 0;
}

void carom_path_close(carom_path *w) {
    drop(w);
    free(w->pending);
    free(w->phases);
    if (!w->borrowed) carom_variation_destroy(w->x);
    carom_joined_close(&w->joined);
    carom_arena_release(&w->mem);
    free(w->of_rows.base), free(w->mem.base);
    carom_point_close(&w->p);
}

// Keep an event until its step is done; a step that is halved repeats some.
static carom_status keep(void *user, const carom_change *c) {
    carom_path *w = user;
    while (w->npending > 0 && (w->pending[w->npending - 1].c.t > c->t_before ||
                               (w->npending == 1 && !w->begun && c->t == w->pending[0].c.t && c->t_before == c->t)))
        free(w->pending[--w->npending].store);
    if (!CAROM_GROW(w->pending, w->npending)) return CAROM_NO_MEMORY;
    const size_t nq = (size_t)w->p.nq, nv = (size_t)w->p.nv, nc = (size_t)w->p.nc, size = c->phase_size;
    double *store = malloc((2 * (nq + nv + size) + nc + 1) * sizeof *store), *at = store;
    if (!store) return CAROM_NO_MEMORY;
    carom_change x = *c;
    const double **part[] = {&x.q_before, &x.q, &x.v_before, &x.v, &x.phase_before, &x.phase, &x.impulse};
    const size_t length[] = {nq, nq, nv, nv, size, size, nc};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        carom_copy(at, *part[i], (ptrdiff_t)length[i]);
        *part[i] = at, at += length[i];
    }
    x.mode_before = x.phase_before, x.mode = x.phase, x.in = NULL;
    w->pending[w->npending++] = (carom_path_event){x, store};
    return CAROM_OK;
}

static carom_status begin(carom_path *w, const carom_change *x) {
    w->begun = true;
    w->phase_size = x->phase_size;
    w->phases = calloc(2 * w->phase_size + 1, sizeof *w->phases);
    if (!w->phases) return carom_fail(w->err, CAROM_NO_MEMORY, "not enough memory for the modes of the contacts");
    w->phase = w->phases, w->phase_1 = w->phases + w->phase_size;
    w->t = x->t;
    for (int c = 0; c < w->p.nc; ++c) w->touched[c] = x->t;
    w->size_q = carom_point_largest(&w->p, x->q, w->p.nq), w->size_v = carom_point_largest(&w->p, x->v, w->p.nv);
    carom_copy(w->q, x->q, w->p.nq), carom_copy(w->v, x->v, w->p.nv);
    return carom_path_cross(w, x, true);
}

// A scheme that has no contacts to look at may be silent about the start.
static carom_status begin_alone(carom_path *w) {
    const size_t nc = (size_t)w->p.nc, size = (2 + CAROM_TANGENTS) * nc;
    double *none = calloc(size + 1, sizeof *none);
    if (!none) return carom_fail(w->err, CAROM_NO_MEMORY, "not enough memory for the modes of the contacts");
    const carom_status status = begin(w, &(carom_change){.t = w->t,
                                                         .t_before = w->t,
                                                         .kind = CAROM_CHANGE_NONE,
                                                         .q_before = w->q,
                                                         .v_before = w->v,
                                                         .q = w->q,
                                                         .v = w->v,
                                                         .mode_before = none,
                                                         .mode = none,
                                                         .phase_before = none,
                                                         .phase = none,
                                                         .phase_size = size,
                                                         .impulse = none});
    free(none);
    return status;
}

// What has happened, and the motion to (t, q, v) behind it.
static carom_status follow(carom_path *w, double t, const double *q, const double *v) {
    for (int i = 0; i < w->npending; ++i) {
        const carom_change *x = &w->pending[i].c;
        if (!w->begun) {
            CAROM_TRY(begin(w, x));
            continue;
        }
        CAROM_TRY(integrate(w, x->t_before));
        CAROM_TRY(arrive(w, x->t_before, x->q_before, x->v_before));
        CAROM_TRY(carom_path_cross(w, x, false));
    }
    if (!w->records) drop(w);
    if (!w->begun) CAROM_TRY(begin_alone(w));
    CAROM_TRY(integrate(w, t));
    return arrive(w, t, q, v);
}

static carom_status on_step(void *user, const carom_now *now) {
    carom_path *w = user;
    (void)now;
    if (w->records) return CAROM_OK;
    const carom_now here = carom_sim_now(w->sim);
    CAROM_TRY(follow(w, here.t, here.q, here.v));
    return w->on_row ? w->on_row(w->user, w) : CAROM_OK;
}

carom_status carom_path_jump(carom_path *w, const carom_change *x, double size_q, double size_v) {
    if (!w->phases) {
        w->phase_size = x->phase_size;
        w->phases = calloc(2 * w->phase_size + 1, sizeof *w->phases);
        if (!w->phases) return carom_fail(w->err, CAROM_NO_MEMORY, "not enough memory for the modes of the contacts");
        w->phase = w->phases, w->phase_1 = w->phases + w->phase_size;
    }
    w->begun = true, w->ready = false;
    w->t = x->t_before, w->size_q = size_q, w->size_v = size_v;
    carom_copy(w->q, x->q_before, w->p.nq), carom_copy(w->v, x->v_before, w->p.nv);
    carom_copy(w->phase, x->phase_before, (ptrdiff_t)w->phase_size);
    return carom_path_cross(w, x, false);
}

carom_status carom_path_coast(carom_path *w, double t_1) { return integrate(w, t_1); }

carom_status carom_path_run(carom_path *w) {
    const carom_now now = carom_sim_now(w->sim);
    w->t = w->t_0 = now.t;
    carom_copy(w->q, now.q, w->p.nq), carom_copy(w->v, now.v, w->p.nv);
    carom_copy(w->q_0, now.q, w->p.nq), carom_copy(w->v_0, now.v, w->p.nv);
    carom_sim_watch_changes(w->sim, keep, w);
    const carom_status status = carom_sim_run(w->sim, on_step, w, w->err);
    carom_sim_watch_changes(w->sim, NULL, NULL);
    const carom_now end = carom_sim_now(w->sim);
    w->t_end = end.t;
    carom_copy(w->q_end, end.q, w->p.nq), carom_copy(w->v_end, end.v, w->p.nv);
    return status;
}

carom_status carom_path_again(carom_path *w) {
    free(w->phases);
    w->phases = NULL, w->begun = w->ready = w->sided = false, w->t_event = -1, w->h = 0;
    for (int c = 0; c < w->p.nc; ++c) w->young[c] = w->starts[c] = false;
    w->t = w->t_0;
    carom_copy(w->q, w->q_0, w->p.nq), carom_copy(w->v, w->v_0, w->p.nv);
    return follow(w, w->t_end, w->q_end, w->v_end);
}
