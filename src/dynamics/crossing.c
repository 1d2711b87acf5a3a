// crossing.c: how variations jump at events.
//
// An event at h(t, q, v) = 0 that takes (q, v) to (q, v+) happens earlier or later along a variation, and its right
// limit follows:
//
//     dt = -dh/h',  dx = dx- + x'- dt,  dx+ = d(q, v+)(dx, dt) - x'+ dt  (VAR-2)
//
// with x'- and x'+ the motion on both sides.  h is the gap of a contact that arrives, the slip of one that comes to
// rest, what is left of the friction that holds it, the reaction of one that opens.  Where velocities and accelerations
// are continuous nothing jumps.
#include "base/tolerance.h"
#include "dynamics/dynamics.h"
#include "linalg/dense.h"
#include "linalg/matrix.h"
#include "scheme/step.h"
#include "system/system.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAME = 1e-7;       // accelerations on both sides, times of two columns, relative
static const double GRAZES = 1e-10;    // rate of what vanishes, relative: slower is a grazing contact, where
                                       // derivatives have no bound
static const double LEAST = 1e-3;      // of the typical size: a derivative below is judged by this size
static const double NOISE = 1e-9;      // of a derivative: what the integration of variations leaves
static const double ROUNDING = 1e-12;  // of the speeds: sums over joints and contacts
static const double LAST_BITS = 1e-14; // of the terms of one sum
static const double TOUCHES = 1e-13;   // of the speeds: an approach that an impact stops
static const double STOPPED = 1e-9;    // of the speed before: nothing is left of it
static const double DRIFT = 1e-6;      // of the speeds: what impulses of closed contacts take back
static const double LAW = 1e-6;        // of the approach: by how much a bounce may miss Newton's law
static const double YOUNG = 1e-5;      // of what the acceleration adds since the last event

static const char *name_of(const carom_path *w, int c) {
    return carom_model_constraint(w->model, carom_model_system(w->model)->ne + c);
}

static carom_direction of_column(const carom_path *w, int j) {
    const double *y = w->y + (size_t)j * 2 * (size_t)w->p.nv;
    return (carom_direction){0, y, y + w->p.nv, w->dp + (size_t)j * (size_t)w->np};
}

static carom_status no_number(carom_path *w, carom_status status) {
    return status == CAROM_OK
               ? CAROM_OK
               : carom_fail(w->err, status, "t = %.9g: the derivatives of the model have no finite value here", w->t);
}

// Event functions: of contact c, what falls to zero, as a function of a direction.  The phase before is evaluated.
typedef enum cause { ARRIVES, STOPS, BREAKS_AWAY, OPENS } cause;

static int block_of(const carom_path *w, int c) {
    const carom_local *L = &w->p.L;
    int b = 0;
    while (b < L->nb && L->id[b] != w->p.ne + c) ++b;
    return b;
}

// Along column j, -1: along the motion.
static carom_status change_of(carom_path *w, cause why, int c, carom_direction d, int j, double *dh) {
    carom_point *p = &w->p;
    const carom_local *L = &p->L;
    const int b = block_of(w, c), k = why == ARRIVES ? 0 : L->at[b],
              tangents = why == ARRIVES ? 0 : L->at[b + 1] - k - 1;
    if (why == ARRIVES) {
        CAROM_TRY(no_number(w, carom_variation_gaps(w->x, p->t, p->q, d, w->gaps)));
        *dh = w->gaps[carom_model_system(w->model)->ne + c];
        return CAROM_OK;
    }
    if (why == STOPS) { // along the direction in which it slid: that of its deceleration
        double e[CAROM_TANGENTS];
        CAROM_TRY(no_number(
            w, carom_variation_rates(w->x, p->t, p->q, p->v, (carom_direction){1, p->v, w->a, NULL}, w->full)));
        carom_copy(e, w->full + w->at_full[p->ne + c] + 1, tangents);
        const double size = carom_length(e, tangents);
        for (int i = 0; i < tangents && size > 0; ++i) e[i] /= size;
        CAROM_TRY(no_number(w, carom_variation_rates(w->x, p->t, p->q, p->v, d, w->full)));
        *dh = carom_dot(e, w->full + w->at_full[p->ne + c] + 1, tangents);
        return CAROM_OK;
    }
    CAROM_TRY(carom_path_differentiate(w, d, j, w->da, w->dlambda));
    int r = 0;
    while (w->row[r] != k) ++r;
    *dh = w->dlambda[r];
    if (why == OPENS) return CAROM_OK;
    CAROM_TRY(no_number(w, carom_variation_laws(w->x, p->t, p->q, p->v, d, NULL, NULL, NULL, w->dmu)));
    // mu lambda_N - |lambda_T|
    const double held = carom_length(w->lambda + k + 1, tangents), mu = p->contacts[c].friction;
    *dh = w->dmu[c] * w->lambda[k] + mu * w->dlambda[r] -
          carom_dot(w->lambda + k + 1, w->dlambda + r + 1, tangents) / held;
    return CAROM_OK;
}

// (VAR-2)  dt of every column; a second cause must agree.
static carom_status shift(carom_path *w, cause why, int c, double scale, bool first) {
    double rate, dh;
    CAROM_TRY(change_of(w, why, c, (carom_direction){1, w->p.v, w->a, NULL}, -1, &rate));
    if (!(fabs(rate) > GRAZES * scale))
        return carom_fail(
            w->err, CAROM_NOT_CONVERGED,
            "t = %.9g: the event at '%.60s' is not transversal (grazing): the trajectory is not differentiable here",
            w->t, name_of(w, c));
    for (int j = 0; j < w->n; ++j) {
        CAROM_TRY(change_of(w, why, c, of_column(w, j), j, &dh));
        const double dt = -dh / rate,
                     size = carom_norm_max(of_column(w, j).q, w->p.nv) + LEAST * w->size_q / w->unit[j];
        // of gaps that vary: slow contacts have much of it
        const double noise = why == ARRIVES ? NOISE * size / fabs(rate) : 0;
        if (!first && fabs(dt - w->dt[j]) > SAME * (fabs(dt) + fabs(w->dt[j])) + NOISE * w->scale_dt[j] + noise)
            return w->separate = true, carom_fail(w->err, CAROM_NOT_CONVERGED,
                                                  "t = %.9g: '%.60s' meets another event at the same time, and the two "
                                                  "separate when '%.60s' changes: the motion has no derivative here",
                                                  w->t, name_of(w, c), w->label ? w->label(w->user, j) : "the start");
        w->dt[j] = dt;
        w->scale_dt[j] = fmax(w->scale_dt[j], fabs(dt));
    }
    return CAROM_OK;
}

// -- impacts ------------------------------------------------------------------------------------------------------

// Impulses: M (v+ - v-) = W p over joints and the contacts that were struck; are they those of Newton's law?
static carom_status find_impulses(carom_path *w, const carom_change *x) {
    carom_point *p = &w->p;
    const carom_local *L = &p->L;
    const int nv = p->nv;
    for (int c = 0; c < p->nc; ++c) w->with[c] = x->impulse[c] > 0;
    CAROM_TRY(carom_path_stand(w, x->t, x->q, x->v, w->with));
    const int n = L->at[L->nb] - w->nj;
    for (int k = 0; k < n; ++k) {
        w->row[k] = w->nj + k;
        carom_column_expand(w->X + (size_t)k * (size_t)nv, &L->W, w->row[k]);
    }
    carom_path_respond(w, n, true);
    for (int i = 0; i < nv; ++i) w->b[i] = x->v[i] - x->v_before[i];
    for (int k = 0; k < L->at[L->nb]; ++k) {
        w->lambda[k] = carom_column_dot(&L->W, k, w->b);
        w->before[k] = w->u[k] - w->lambda[k];
    }
    carom_zero(w->da, nv);
    carom_path_push(w, w->da, w->lambda + w->nj, w->lambda);
    for (int i = 0; i < nv; ++i) w->da[i] = w->b[i] - w->da[i];
    if (carom_norm_max(w->da, nv) <= SAME * carom_norm_max(w->b, nv) + ROUNDING * w->size_v) return CAROM_OK;
    return carom_fail(
        w->err, CAROM_UNSUPPORTED,
        "t = %.9g: contacts hit one after the other at one instant; derivatives of this are not supported", w->t);
}

// Restitution in use and its change; contacts that were closed give nothing back.
static carom_status restitution(carom_path *w, const carom_change *x, int c, double u, double u_after, double rounding,
                                carom_direction d, double du, double *e, double *de) {
    const carom_system *s = &w->p.sys;
    *e = *de = 0;
    if (x->mode_before[c] != CAROM_MODE_OPEN || !(u < 0)) return CAROM_OK;
    const carom_contact *law = s->contacts + c;
    const double given = law->varies ? s->restitution(s->model, w->p.work, c, -u) : law->restitution;
    if ((law->impact != CAROM_NEWTON && law->impact != CAROM_FREMOND) || law->sequential)
        return carom_fail(
            w->err, CAROM_UNSUPPORTED,
            "t = %.9g: '%.60s' follows an impact law other than Newton's or Fremond's at once; its derivatives are not "
            "supported",
            w->t, name_of(w, c));
    // too slow to bounce: the end of a run of impacts
    if (fabs(u_after) <= STOPPED * fabs(u) + rounding && given > 0) return CAROM_OK;
    if (fabs(u_after + given * u) > LAW * fabs(u) + rounding)
        return carom_fail(
            w->err, CAROM_UNSUPPORTED,
            "t = %.9g: contacts hit one after the other at one instant; derivatives of this are not supported", w->t);
    *e = given;
    return no_number(w, carom_variation_restitution(w->x, c, -u, -du, d.p, de));
}

// Rows of block b of A dp = r: Newton's law and Coulomb's, linearised.  full_1, full_0: d(W'v + w) at v+ (with the
// change of v-) and at v-.
static carom_status laws(carom_path *w, const carom_change *x, int b, carom_direction d, const double *after,
                         const double *before) {
    const carom_point *p = &w->p;
    const carom_local *L = &p->L;
    const int n = w->n_rows, k = L->at[b], tangents = L->at[b + 1] - k - 1, c = L->id[b] - p->ne, first = k - w->nj;
    double *r = w->r + first, *A = w->A + first;
    const double *G = w->G + first;
    for (int i = 0; i <= tangents; ++i) {
        for (int j = 0; j < n; ++j) A[i + j * n] = G[i + j * n];
        r[i] = -carom_column_dot(&L->W, k + i, w->da) - after[i];
    }
    if (c < 0) return CAROM_OK;
    double e, de, xi[CAROM_TANGENTS] = {0}, dxi[CAROM_TANGENTS] = {0};
    const double rounding = LAST_BITS * (carom_local_magnitude(L, k, p->v) + fabs(L->w[k]));
    CAROM_TRY(restitution(w, x, c, w->before[k], w->u[k], rounding, d, before[0], &e, &de));
    r[0] -= e * before[0] + de * w->before[k];
    if (tangents == 0) return CAROM_OK;
    // (IL-9)
    const double back = p->contacts[c].impact == CAROM_FREMOND ? 1 : p->contacts[c].tangential_restitution;
    CAROM_TRY(no_number(w, carom_variation_laws(w->x, p->t, p->q, p->v, d, NULL, w->de, w->dmu, NULL)));
    for (int i = 0; i < tangents; ++i) { // u_T + e_T u_T-
        xi[i] = w->u[k + 1 + i] + back * w->before[k + 1 + i];
        dxi[i] = -r[1 + i] + back * before[1 + i] + w->de[c] * w->before[k + 1 + i];
        r[1 + i] = -dxi[i];
    }
    const double speed = carom_length(xi, tangents), held = carom_length(w->lambda + k + 1, tangents),
                 mu = held / w->lambda[k];
    if (!(speed > STOPPED * w->size_v)) return CAROM_OK; // it sticks
    if (p->contacts[c].friction_varies)
        return carom_fail(
            w->err, CAROM_UNSUPPORTED,
            "t = %.9g: '%.60s' slides in an impact with friction that varies; derivatives of this are not supported",
            w->t, name_of(w, c));
    double along = 0;
    for (int i = 0; i < tangents; ++i) xi[i] /= speed, along += xi[i] * dxi[i];
    for (int i = 0; i < tangents; ++i) { // p_T + mu p_N xi/|xi| = 0
        const int row = 1 + i;
        const double stiff = tangents > 1 ? mu * w->lambda[k] / speed : 0;
        r[row] = -w->dmu[c] * w->lambda[k] * xi[i] - stiff * (dxi[i] - along * xi[i]);
        for (int j = 0; j < n; ++j) {
            double turn = G[row + j * n];
            for (int l = 0; l < tangents; ++l) turn -= xi[i] * xi[l] * G[1 + l + j * n];
            A[row + j * n] = stiff * turn + (j == first + row) + (j == first ? mu * xi[i] : 0);
        }
    }
    return CAROM_OK;
}

// M b = W p along column j, moved to the time of the impact: dv becomes that behind it.
static carom_status strike(carom_path *w, const carom_change *x, carom_direction d, double *dv) {
    carom_point *p = &w->p;
    const carom_local *L = &p->L;
    const int n = w->n_rows, nv = p->nv;
    // d(W p) - d(M b): of d(f - M b), f does not count
    CAROM_TRY(no_number(w, carom_variation_motion(w->x, p->t, p->q, p->v, w->b, d, w->da)));
    carom_zero(w->dx, nv);
    CAROM_TRY(no_number(w, carom_variation_motion(w->x, p->t, p->q, p->v, w->dx, d, w->dv)));
    carom_axpy(w->da, -1, w->dv, nv);
    carom_path_spread(w, w->lambda);
    CAROM_TRY(no_number(w, carom_variation_reaction(w->x, p->t, p->q, w->full, d, w->dv)));
    carom_axpy(w->da, 1, w->dv, nv);
    CAROM_TRY(no_number(w, carom_variation_rates(w->x, p->t, p->q, x->v, d, w->full)));
    CAROM_TRY(no_number(w, carom_variation_rates(w->x, p->t, p->q, x->v_before, d, w->full_0)));
    for (int k = 0; k < w->nj; ++k) w->joint[k] = -w->full[w->at_full[k]];
    carom_path_invert(w, w->da, w->joint);
    for (int b = w->nj; b < L->nb; ++b)
        CAROM_TRY(laws(w, x, b, d, w->full + w->at_full[L->id[b]], w->full_0 + w->at_full[L->id[b]]));
    if (n > 0) carom_path_solve(w, w->A, n, w->r);
    carom_axpy(dv, 1, w->da, nv);
    for (int k = 0; k < n; ++k) carom_axpy(dv, w->r[k], w->X + (size_t)k * (size_t)nv, nv);
    return CAROM_OK;
}

// -- what happens -------------------------------------------------------------------------------------------------

static bool jumps(const double *a, const double *b, int n, double size) {
    for (int i = 0; i < n; ++i)
        if (fabs(a[i] - b[i]) > size) return true;
    return false;
}

// An approach that is slow for the time since the contact was last touched only grazes; in runs of impacts both are
// small.
static carom_status check_approach(carom_path *w, int c) {
    double u, Gamma;
    const carom_direction along = {1, w->p.v, w->a, NULL};
    CAROM_TRY(change_of(w, ARRIVES, c, along, -1, &u));
    CAROM_TRY(no_number(w, carom_variation_rates(w->x, w->p.t, w->p.q, w->p.v, along, w->full)));
    Gamma = w->full[w->at_full[w->p.ne + c]];
    const double since = w->t - w->touched[c];
    w->touched[c] = w->t;
    if (u < -YOUNG * fabs(Gamma) * since && u < -TOUCHES * w->size_v) return CAROM_OK;
    return carom_fail(
        w->err, CAROM_NOT_CONVERGED,
        "t = %.9g: grazing contact at '%.60s' (approach speed %.2g): the trajectory is not differentiable here", w->t,
        name_of(w, c), fabs(u));
}

// Slip along several tangents begins against the friction that held it, in e = -lambda_T/|lambda_T|, which changes with
// every column.
static carom_status begin_slip(carom_path *w, int c) {
    const carom_local *L = &w->p.L;
    const int b = block_of(w, c), k = L->at[b], tangents = L->at[b + 1] - k - 1, nv = w->p.nv;
    const double held = carom_length(w->lambda + k + 1, tangents), *e = w->lambda + k + 1;
    if (tangents < 2 || held == 0) return CAROM_OK;
    w->starts[c] = true;
    int r = 0;
    while (w->row[r] != k) ++r;
    for (int j = 0; j < w->n; ++j) {
        const carom_direction of = of_column(w, j);
        carom_copy(w->b, of.q, nv), carom_copy(w->shift, of.v, nv);
        carom_axpy(w->b, w->dt[j], w->p.v, nv), carom_axpy(w->shift, w->dt[j], w->a, nv);
        CAROM_TRY(carom_path_differentiate(w, (carom_direction){w->dt[j], w->b, w->shift, of.p}, j, w->da, w->dlambda));
        const double *d = w->dlambda + r + 1, along = carom_dot(d, e, tangents) / (held * held);
        for (int i = 0; i < tangents; ++i) carom_path_turn(w, j, c)[i] = -(d[i] - along * e[i]) / held;
    }
    return CAROM_OK;
}

// The causes of an event, and with them w->dt.  struck: velocities jump.
static carom_status find_shift(carom_path *w, const carom_change *x, bool struck) {
    bool first = true;
    for (int c = 0; c < w->p.nc; ++c) {
        const bool was_open = x->mode_before[c] == CAROM_MODE_OPEN, is_open = x->mode[c] == CAROM_MODE_OPEN;
        const double *e = x->phase_before + w->p.nc + CAROM_TANGENTS * c,
                     *e_1 = x->phase + w->p.nc + CAROM_TANGENTS * c;
        const bool slid = x->mode_before[c] == CAROM_MODE_SLIP,
                   one = carom_system_directions(&w->p.sys, w->p.ne + c) == 2;
        const bool turns = slid && x->mode[c] == CAROM_MODE_SLIP && one && carom_dot(e, e_1, CAROM_TANGENTS) < 0;
        cause why = ARRIVES;
        double scale = 0;
        if (was_open && (x->impulse[c] > 0 || !is_open)) {
            CAROM_TRY(check_approach(w, c));
        } else if (struck || was_open) {
            continue;
        } else if (slid && (x->mode[c] == CAROM_MODE_STICK || turns)) {
            why = STOPS, scale = carom_norm_max(w->a, w->p.nv);
        } else if (is_open || (x->mode_before[c] == CAROM_MODE_STICK && x->mode[c] == CAROM_MODE_SLIP)) {
            why = is_open ? OPENS : BREAKS_AWAY;
        } else {
            continue;
        }
        CAROM_TRY(shift(w, why, c, scale, first));
        if (why == BREAKS_AWAY) CAROM_TRY(begin_slip(w, c));
        first = false;
    }
    if (!first) return CAROM_OK;
    for (int c = 0; c < w->p.nc; ++c) // slip along several tangents has got a direction of its own
        if (x->mode_before[c] == CAROM_MODE_SLIP && x->mode[c] == CAROM_MODE_SLIP &&
            carom_system_directions(&w->p.sys, w->p.ne + c) > 2)
            return CAROM_OK;
    return carom_fail(w->err, CAROM_UNSUPPORTED, "t = %.9g: %s; derivatives of this are not supported", w->t,
                      struck ? "velocities jump although no contact arrives"
                             : "forces jump although no contact changes");
}

// At the start contacts may be closed: variations must not open or press them.
static carom_status check_start(carom_path *w) {
    carom_point *p = &w->p;
    const carom_local *L = &p->L;
    const int ne = carom_model_system(w->model)->ne;
    for (int j = 0; j < w->n; ++j) {
        const carom_direction d = of_column(w, j);
        // A start by differences of models is known to 1e-10 of its size.
        const double size_q = carom_norm_max(d.q, p->nv) + LEAST * w->size_q / w->unit[j];
        const double size_v = carom_norm_max(d.v, p->nv) + size_q * w->size_v / fmax(w->size_q, CAROM_NOT_ZERO) +
                              LEAST * w->size_v / w->unit[j];
        CAROM_TRY(no_number(w, carom_variation_gaps(w->x, p->t, p->q, d, w->gaps)));
        CAROM_TRY(no_number(w, carom_variation_rates(w->x, p->t, p->q, p->v, d, w->full)));
        for (int b = 0; b < L->nb; ++b) {
            const int id = L->id[b],
                      rows = id >= p->ne && w->phase[id - p->ne] == CAROM_MODE_SLIP ? 1 : L->at[b + 1] - L->at[b];
            double most = 0;
            for (int k = 0; k < rows; ++k) most = fmax(most, fabs(w->full[w->at_full[id] + k]));
            if (fabs(w->gaps[carom_point_id(p, id)]) > SAME * size_q + ROUNDING || most > SAME * size_v + ROUNDING)
                return carom_fail(
                    w->err, CAROM_BAD_INPUT,
                    "'%.60s' %s at the start, and '%.60s' alone would violate it: the motion has no derivative by it",
                    carom_model_constraint(w->model, carom_point_id(p, id)),
                    carom_point_id(p, id) < ne ? "holds" : "is closed", w->label ? w->label(w->user, j) : "the start");
        }
    }
    return CAROM_OK;
}

static carom_status side(carom_path *w, carom_side which) {
    return w->on_side ? w->on_side(w->user, w, which) : CAROM_OK;
}

// Slip along several tangents that begins has no direction of its own before it is fast enough.
static void begin_young(carom_path *w, const carom_change *x) {
    for (int c = 0; c < w->p.nc; ++c) {
        if (x->mode_before[c] == CAROM_MODE_SLIP || x->mode[c] != CAROM_MODE_SLIP) continue;
        w->starts[c] = false;
        w->young[c] = carom_system_directions(&w->p.sys, w->p.ne + c) > 2;
        carom_copy(w->first + CAROM_TANGENTS * c, x->phase + w->p.nc + CAROM_TANGENTS * c, CAROM_TANGENTS);
        for (int j = 0; j < w->n; ++j) carom_zero(carom_path_turn(w, j, c), CAROM_TANGENTS);
    }
}

static bool stops(const carom_path *w, const carom_change *x, int c) {
    return x->mode_before[c] == CAROM_MODE_SLIP && x->mode[c] == CAROM_MODE_STICK &&
           carom_system_directions(&w->p.sys, w->p.ne + c) > 2;
}

// The direction in which slip along several tangents stops, which its velocity no longer tells: that of its
// deceleration, Gamma_T(e) = -c e.  With K above mu lambda_N W_T'M^-1 W_T, e = (Gamma_T(e) + K e)/|...| converges.  The
// phase before is evaluated, and again with these directions.
static carom_status find_last_direction(carom_path *w, const carom_change *x) {
    carom_point *p = &w->p;
    const carom_local *L = &p->L;
    enum { MOST = 100 }; // a fixed point that contracts by a third each time is at rounding by then
    double change = 1;
    bool some = false;
    for (int c = 0; c < p->nc; ++c) some = some || stops(w, x, c);
    for (int i = 0; some && i < MOST && change > LAST_BITS; ++i) {
        change = 0;
        for (int b = 0; b < L->nb; ++b) {
            const int c = L->id[b] - p->ne, k = L->at[b] + 1, tangents = L->at[b + 1] - k;
            if (c < 0 || !stops(w, x, c)) continue;
            double *e = w->first + CAROM_TANGENTS * c, was[CAROM_TANGENTS], K = 0;
            const double speed = carom_length(w->u + k, tangents);
            for (int l = 0; l < tangents; ++l) was[l] = w->young[c] ? e[l] : speed > 0 ? w->u[k + l] / speed : 0;
            for (int l = 0; l < tangents; ++l) {
                carom_column_expand(w->dx, &L->W, k + l);
                carom_factor_solve(&w->F, w->dx);
                K += p->contacts[c].friction * fabs(w->lambda[k - 1]) * carom_column_dot(&L->W, k + l, w->dx);
            }
            for (int l = 0; l < tangents; ++l)
                e[l] = carom_column_dot(&L->W, k + l, w->a) + w->kappa[k + l] + K * was[l];
            const double size = carom_length(e, tangents);
            for (int l = 0; l < tangents && size > 0; ++l) e[l] /= size, change = fmax(change, fabs(e[l] - was[l]));
            w->young[c] = true;
            for (int j = 0; j < w->n; ++j) carom_zero(carom_path_turn(w, j, c), CAROM_TANGENTS);
        }
        CAROM_TRY(carom_path_evaluate(w, w->t, w->q, w->v));
    }
    return CAROM_OK;
}

// Behind an event.  The direction of slip along several tangents that stops is lost to rounding: what its friction has
// changed across is taken back, d(W'v + w) = 0.
static carom_status settle(carom_path *w, const carom_change *x) {
    carom_point *p = &w->p;
    const carom_local *L = &p->L;
    bool stopped = false, young = false;
    for (int c = 0; c < p->nc; ++c) {
        w->young[c] = w->young[c] && x->mode[c] == CAROM_MODE_SLIP;
        young = young || w->young[c];
        stopped = stopped || stops(w, x, c);
    }
    if (!stopped && !young) return CAROM_OK;
    CAROM_TRY(carom_path_grow_up(w));
    for (int j = 0; stopped && j < w->n; ++j) {
        double *dv = w->y + ((size_t)j * 2 + 1) * (size_t)p->nv;
        CAROM_TRY(no_number(w, carom_variation_rates(w->x, p->t, p->q, p->v, of_column(w, j), w->full)));
        for (int r = 0, b = 0; r < w->n_rows; ++r) {
            while (w->row[r] >= L->at[b + 1]) ++b;
            w->r[r] = -w->full[w->at_full[L->id[b]] + w->row[r] - L->at[b]];
        }
        for (int k = 0; k < w->nj; ++k) w->joint[k] = -w->full[w->at_full[k]];
        carom_zero(w->da, p->nv);
        carom_path_push(w, w->da, w->r, w->joint);
        carom_axpy(dv, 1, w->da, p->nv);
    }
    return CAROM_OK;
}

// Where time alone is the cause: have forces jumped?  What is behind depends on when that is, which variations do not
// see.  In the phase before, at w->t.
static carom_status check_time(carom_path *w) {
    // well above the rounding of times in expressions, so that a jump there is behind it
    const double little = 64 * DBL_EPSILON * fmax(fabs(w->t), fabs(w->span));
    carom_copy(w->a_after, w->a, w->p.nv);
    CAROM_TRY(carom_path_evaluate(w, w->t - little, w->q, w->v));
    if (!jumps(w->a, w->a_after, w->p.nv, SAME * (carom_norm_max(w->a, w->p.nv) + carom_norm_max(w->a_after, w->p.nv))))
        return carom_path_evaluate(w, w->t, w->q, w->v);
    return carom_fail(w->err, CAROM_UNSUPPORTED,
                      "t = %.9g: forces jump; derivatives through such a jump are not supported", w->t);
}

static carom_status cross(carom_path *w, const carom_change *x, bool first) {
    const int nq = w->p.nq, nv = w->p.nv;
    double most = 0;
    w->change = x;
    carom_zero(w->dt, w->n);
    bool arrives = false;
    for (int c = 0; c < w->p.nc; ++c) {
        most = fmax(most, x->impulse[c]);
        arrives = arrives || (x->impulse[c] > 0 && x->mode_before[c] == CAROM_MODE_OPEN);
    }
    // The limit of a run of impacts that the scheme predicts lies ahead of the last one.
    if (x->t - x->t_before > CAROM_INSTANT * fmax(w->size_q / fmax(w->size_v, CAROM_NOT_ZERO), fabs(x->t)) && !first &&
        !w->plain)
        return carom_fail(
            w->err, CAROM_UNSUPPORTED,
            "t = %.9g: impacts of several contacts accumulate, and derivatives of their limit are not supported", x->t);
    if (!first) {
        CAROM_TRY(carom_path_evaluate(w, w->t, w->q, w->v)); // in the phase before
        if (x->jumped && !w->plain) CAROM_TRY(check_time(w));
        CAROM_TRY(find_last_direction(w, x));
        carom_copy(w->a_before, w->a, nv);
    }
    // closed contacts also have impulses against errors of the motion
    const bool struck = !w->plain && most > 0 && jumps(x->v, x->v_before, nv, (arrives ? TOUCHES : DRIFT) * w->size_v);
    if (first && struck)
        return carom_fail(w->err, CAROM_UNSUPPORTED,
                          "contacts hit at the very start; derivatives of this are not supported");
    begin_young(w, x);
    // Behind it, for the accelerations there.
    carom_copy(w->phase_1, x->phase, (ptrdiff_t)w->phase_size);
    double *phase = w->phase;
    w->phase = w->phase_1;
    const carom_status status = carom_path_evaluate(w, x->t, x->q, x->v);
    carom_copy(w->a_after, w->a, nv);
    if (status == CAROM_OK && first) {
        w->phase_1 = phase;
        if (w->on_start) CAROM_TRY(w->on_start(w->user, w));
        CAROM_TRY(carom_path_grow_up(w));
        return check_start(w);
    }
    w->phase = phase;
    CAROM_TRY(status);
    bool closes = false;
    for (int c = 0; c < w->p.nc; ++c)
        closes = closes || (x->mode_before[c] == CAROM_MODE_OPEN && x->mode[c] != CAROM_MODE_OPEN);
    const double size = SAME * (carom_norm_max(w->a_before, nv) + carom_norm_max(w->a_after, nv));
    const bool some =
        !w->plain && (struck || closes || jumps(w->a_before, w->a_after, nv, size) || (w->asks && w->asks(w->user, x)));
    if (some) {
        CAROM_TRY(carom_path_evaluate(w, w->t, w->q, w->v));
        CAROM_TRY(find_shift(w, x, struck || closes));
    }
    CAROM_TRY(side(w, CAROM_LEFT));
    if (struck) CAROM_TRY(find_impulses(w, x));
    for (int j = 0; j < w->n && some; ++j) {
        double *dq = w->y + (size_t)j * 2 * (size_t)nv, *dv = dq + nv;
        carom_axpy(dq, w->dt[j], x->v_before, nv), carom_axpy(dv, w->dt[j], w->a_before, nv);
        if (struck) CAROM_TRY(strike(w, x, (carom_direction){w->dt[j], dq, dv, w->dp + (size_t)j * (size_t)w->np}, dv));
        carom_axpy(dq, -w->dt[j], x->v, nv), carom_axpy(dv, -w->dt[j], w->a_after, nv);
    }
    if (some || (w->plain && (most > 0 || closes))) w->t_event = x->t;
    w->t = x->t;
    carom_copy(w->q, x->q, nq), carom_copy(w->v, x->v, nv);
    w->phase = w->phase_1, w->phase_1 = phase;
    CAROM_TRY(settle(w, x));
    if (w->on_cross) CAROM_TRY(w->on_cross(w->user, w, x));
    return side(w, CAROM_RIGHT);
}

// -- contacts that do not couple ----------------------------------------------------------------------------------

typedef struct parts {
    double *y, *y_1, *v, *phase, *impulse, *b; // columns before, and behind the events in one order; of one contact's
                                               // event; velocities that each contact adds
} parts;

// One contact's part of an event: what it takes over, its impulse.
static carom_status cross_one(carom_path *w, const carom_change *x, int c, parts *k) {
    const int nv = w->p.nv, nc = w->p.nc;
    carom_copy(k->phase, w->phase, (ptrdiff_t)x->phase_size);
    k->phase[c] = x->phase[c];
    carom_copy(k->phase + nc + CAROM_TANGENTS * c, x->phase + nc + CAROM_TANGENTS * c, CAROM_TANGENTS);
    carom_copy(k->phase + (1 + CAROM_TANGENTS) * nc + c, x->phase + (1 + CAROM_TANGENTS) * nc + c, 1);
    double *before = k->phase + x->phase_size, *v = before + x->phase_size;
    carom_copy(before, w->phase, (ptrdiff_t)x->phase_size);
    carom_copy(k->v, w->v, nv);
    carom_add(v, w->v, 1, k->b + (size_t)c * (size_t)nv, nv);
    carom_zero(k->impulse, nc);
    k->impulse[c] = x->impulse[c];
    carom_change one = *x;
    one.v_before = k->v, one.v = v, one.q_before = x->q;
    one.mode_before = one.phase_before = before, one.mode = one.phase = k->phase, one.impulse = k->impulse;
    return cross(w, &one, false);
}

// All of them, one after the other, from the state before.
static carom_status cross_in_order(carom_path *w, const carom_change *x, bool forward, parts *k) {
    const int nc = w->p.nc, m = 2 * w->p.nv * w->n;
    w->t = x->t_before;
    carom_copy(w->q, x->q_before, w->p.nq), carom_copy(w->v, x->v_before, w->p.nv), carom_copy(w->y, k->y, m);
    carom_copy(w->phase, x->phase_before, (ptrdiff_t)w->phase_size);
    for (int i = 0; i < nc; ++i) {
        const int c = forward ? i : nc - 1 - i;
        if (x->mode_before[c] != x->mode[c] || x->impulse[c] > 0) CAROM_TRY(cross_one(w, x, c, k));
    }
    return CAROM_OK;
}

// Events of contacts at one time that separate along a column: where their order makes no difference, because they do
// not couple, there is a derivative.
static carom_status cross_apart(carom_path *w, const carom_change *x, parts *k) {
    const carom_local *L = &w->p.L;
    const int nv = w->p.nv, m = 2 * nv * w->n;
    CAROM_TRY(find_impulses(w, x));
    for (int b = 0; b < L->nb; ++b) {
        const int c = L->id[b] - w->p.ne;
        for (int i = L->at[b]; i < L->at[b + 1]; ++i) {
            carom_column_expand(w->dx, &L->W, i);
            carom_factor_solve(&w->F, w->dx);
            // joints couple
            if (c < 0 && fabs(w->lambda[i]) * carom_norm_max(w->dx, nv) > ROUNDING * w->size_v)
                return CAROM_UNSUPPORTED;
            if (c >= 0) carom_axpy(k->b + (size_t)c * (size_t)nv, w->lambda[i], w->dx, nv);
        }
    }
    carom_status (*on_side)(void *, carom_path *, carom_side) = w->on_side;
    w->on_side = NULL;
    const carom_status status = cross_in_order(w, x, false, k);
    w->on_side = on_side;
    CAROM_TRY(status);
    carom_copy(k->y_1, w->y, m);
    CAROM_TRY(cross_in_order(w, x, true, k));
    for (int j = 0; j < w->n; ++j) {
        const double *a = k->y_1 + (size_t)j * 2 * (size_t)nv, *b = w->y + (size_t)j * 2 * (size_t)nv;
        for (int half = 0; half < 2; ++half, a += nv, b += nv)
            if (jumps(a, b, nv, SAME * (carom_norm_max(a, nv) + (half ? w->size_v : w->size_q) / w->unit[j])))
                return CAROM_NOT_CONVERGED;
    }
    carom_copy(w->v, x->v, nv), carom_copy(w->q, x->q, w->p.nq),
        carom_copy(w->phase, x->phase, (ptrdiff_t)w->phase_size);
    return CAROM_OK;
}

carom_status carom_path_cross(carom_path *w, const carom_change *x, bool first) {
    w->separate = false;
    const carom_status status = cross(w, x, first);
    if (status == CAROM_OK || !w->separate) return status;
    const carom_error why = *w->err;
    const size_t nv = (size_t)w->p.nv, nc = (size_t)w->p.nc, m = 2 * nv * (size_t)w->n, size = x->phase_size;
    double *block = calloc(2 * m + nv + (2 * size + nv) + nc + nc * nv, sizeof *block);
    if (!block) return status;
    parts k = {.y = block, .y_1 = block + m, .v = block + 2 * m};
    k.phase = k.v + nv, k.impulse = k.phase + 2 * size + nv, k.b = k.impulse + nc;
    carom_copy(k.y, w->y, (ptrdiff_t)m);
    const carom_status apart = cross_apart(w, x, &k);
    if (apart != CAROM_OK) *w->err = why;
    w->change = x;
    free(block);
    return apart == CAROM_OK ? CAROM_OK : status;
}
