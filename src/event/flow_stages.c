// flow_stages.c: Runge-Kutta steps of the smooth motion, explicit and implicit; see flow.h.
#include "base/tolerance.h"
#include "linalg/dense.h"
#include "event/flow.h"
#include "linalg/matrix.h"
#include "scheme/newton.h"
#include "scheme/works.h"
#include <float.h>
#include <math.h>

enum { MOST = 50 }; // Newton iterations

double carom_flow_witness(const carom_flow *f, int b) {
    static const double weight[1 + CAROM_TANGENTS] = {1, 1, 0.5, 0.25, 0.125, 0.0625};
    double sum = 0;
    for (int k = f->L.at[b]; k < f->L.at[b + 1]; ++k) sum += weight[k - f->L.at[b]] * f->lambda[k];
    return sum;
}

void carom_flow_margins(const carom_flow *f, const carom_step *s, int b, double *normal, double *friction) {
    const int c = f->L.id[b] - s->sys->ne, k = f->L.at[b], tangents = f->L.at[b + 1] - k - 1;
    const double *lambda = f->lambda + k, *u = f->u + k + 1;
    *normal = lambda[0] * f->D[k];
    if (tangents == 0) *friction = 1;
    else if (f->mode[c] == CAROM_MODE_STICK)
        *friction = (s->sys->contacts[c].friction * lambda[0] - carom_length(lambda + 1, tangents)) * f->D[k + 1];
    else
        *friction = f->follows && tangents > 1 ? carom_length(u, tangents)
                                               : carom_dot(u, f->dir + CAROM_TANGENTS * c, tangents);
}

static void note_margins(carom_flow *f, const carom_step *s, int stage) {
    const int nc = s->sys->nc;
    for (int b = s->sys->ne; b < f->L.nb; ++b) {
        const int c = f->L.id[b] - s->sys->ne;
        carom_flow_margins(f, s, b, f->margin[stage] + c, f->margin[stage] + nc + c);
    }
}

static bool turning_slip(const carom_flow *f, const carom_step *s, int b) {
    const int c = f->L.id[b] - s->sys->ne;
    return c >= 0 && f->mode[c] == CAROM_MODE_SLIP && f->L.at[b + 1] - f->L.at[b] > 2;
}

// The largest W_k'M^-1 W_k of the tangents of block b.
static double lightest(const carom_flow *f, int b) {
    double most = 0;
    for (int k = f->L.at[b] + 1; k < f->L.at[b + 1]; ++k) {
        carom_column_expand(f->K_sum, &f->L.W, k);
        carom_factor_solve(&f->F, f->K_sum);
        most = fmax(most, carom_column_dot(&f->L.W, k, f->K_sum));
    }
    return most;
}

// How fast friction may turn a slip, times its velocity: mu lambda_N by that number, which is the same for all that is
// asked at one place.
static double strongest(const carom_flow *f, const carom_step *s, int b) {
    const int c = f->L.id[b] - s->sys->ne;
    if (f->lightest[c] < 0) f->lightest[c] = lightest(f, b);
    return s->sys->contacts[c].friction * fabs(f->lambda[f->L.at[b]]) * f->lightest[c];
}

// Slow slips at a stage: how far is the velocity from the direction that they keep, and its friction from that along
// the velocity?  Beyond the stop neither counts: an event ends the step before.
static void note_aside(carom_flow *f, const carom_step *s, int stage) {
    const int nc = s->sys->nc;
    double *aside = f->aside[stage];
    if (!f->slow) return;
    carom_zero(aside, 2 * nc);
    for (int b = s->sys->ne; b < f->L.nb; ++b) {
        const int c = f->L.id[b] - s->sys->ne, k = f->L.at[b] + 1, tangents = f->L.at[b + 1] - k;
        const double *u = f->u + k, *d = f->dir + CAROM_TANGENTS * c;
        if (!turning_slip(f, s, b) || f->live[c] != 0 || !(carom_dot(u, d, tangents) > 0)) continue;
        const double size = carom_length(u, tangents);
        for (int i = 0; i < tangents; ++i) aside[c] = hypot(aside[c], u[i] - size * d[i]);
        aside[nc + c] = strongest(f, s, b) * aside[c] / size;
    }
}

// Power of the reactions and of the forces without potential at the point just looked at.
static carom_status power_at(carom_flow *f, carom_step *s, double t, const double *q, const double *v,
                             carom_account *account) {
    *account = (carom_account){0};
    if (f->L.nb > 0) {
        const carom_account kept = s->record.account;
        const bool reacted = s->record.reacted;
        s->record.account = *account;
        carom_account_forces(s, &f->L, f->lambda, f->u, 1, false);
        *account = s->record.account;
        s->record.account = kept;
        s->record.reacted = reacted;
    }
    double in, out;
    CAROM_TRY(carom_filippov_power(&f->filippov, s, t, q, v, &in, &out));
    account->external += in;
    account->damping += out;
    return CAROM_OK;
}

// The same for a stage, with what else is wanted of it.  Stages that follow the laws have no event functions of closed
// contacts.
static carom_status power(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool laws,
                          int stage) {
    carom_zero(f->push[stage], s->sys->nc);
    if (f->L.nb > 0) {
        for (int b = s->sys->ne; b < f->L.nb; ++b) f->push[stage][f->L.id[b] - s->sys->ne] = carom_flow_witness(f, b);
        if (!laws) note_margins(f, s, stage);
        note_aside(f, s, stage);
    }
    return power_at(f, s, t, q, v, f->power + stage);
}

// (MX-24)  As strongest(), but for what the other reactions answer:  mu lambda_N max_k W_k'(y + M^-1 B x),  y = M^-1
//          W_k,  G x = -W'y.  A box that is held by the floor does not follow the friction of a load that slides on it,
//          however light it is.
static double strongest_held(carom_flow *f, carom_step *s, int b) {
    const carom_columns *W = &f->L.W;
    const int n = f->n;
    double most = 0, *y = f->K_sum;
    for (int k = f->L.at[b] + 1; k < f->L.at[b + 1]; ++k) {
        carom_column_expand(y, W, k);
        carom_factor_solve(&f->F, y);
        for (int r = 0; r < n; ++r) f->b[r] = -carom_column_dot(W, f->row[r], y);
        if (carom_flow_eliminate(f)) {
            carom_copy(f->x, f->b, n);
            carom_envelope_solve(&f->E, f->x);
        } else {
            carom_copy(f->S, f->G.G, (ptrdiff_t)n * n);
            carom_dense_shortest(f->S, n, n, CAROM_FLOW_CUT, f->col, f->scratch, f->b, f->x);
        }
        carom_delassus_react(&f->G, y, 1, f->x, n, NULL);
        most = fmax(most, carom_column_dot(W, k, y));
    }
    return s->sys->contacts[f->L.id[b] - s->sys->ne].friction * fabs(f->lambda[f->L.at[b]]) * most;
}

// Slip along more than one tangent that friction cannot stop within h follows the direction of its velocity.  A slow
// one keeps one direction for the phase, because friction turns a velocity u at the rate mu lambda_N/|u|: too stiff for
// the stages.
static void find_live(carom_flow *f, carom_step *s, double h) {
    for (int c = 0; c < s->sys->nc; ++c) f->live[c] = 0;
    for (int b = s->sys->ne; b < f->L.nb; ++b) {
        if (!turning_slip(f, s, b)) continue;
        const int c = f->L.id[b] - s->sys->ne, k = f->L.at[b] + 1, tangents = f->L.at[b + 1] - k;
        double x[CAROM_TANGENTS] = {0};
        for (int i = 0; i < tangents; ++i)
            x[i] = carom_column_dot(&f->L.W, k + i, f->a) - carom_column_dot(&f->L.W, k + i, f->a_f);
        const double size = carom_length(f->u + k, tangents);
        f->live[c] = size > h * carom_length(x, tangents) &&
                     (size > h * strongest(f, s, b) || size > h * strongest_held(f, s, b));
        if (f->live[c] == 0) f->slow = true;
        for (int i = 0; i < tangents && size > 0 && f->live[c] != 0; ++i)
            f->dir[CAROM_TANGENTS * c + i] = f->u[k + i] / size;
    }
}

static bool exhausted(const double *lambda, int tangents, double mu) {
    return carom_flow_exhausted(carom_length(lambda + 1, tangents), mu, lambda[0]);
}

// Friction over h is lambda_1, from rest lambda_0, and it is linear in 1/time between: that which is just exhausted
// stops all tangents at the same time, |lambda_0 + x (lambda_1 - lambda_0)|_T = mu (...)_N with x >= 1.  It replaces
// lambda_1.
static void shorten(const double *lambda_0, double *lambda_1, int tangents, double mu) {
    double aa = 0, ab = 0, bb = 0, d[1 + CAROM_TANGENTS];
    for (int i = 0; i <= tangents; ++i) {
        const double sign = i == 0 ? -mu * mu : 1;
        d[i] = lambda_1[i] - lambda_0[i];
        aa += sign * d[i] * d[i], ab += sign * d[i] * lambda_1[i], bb += sign * lambda_1[i] * lambda_1[i];
    }
    const double root = ab * ab - aa * bb; // of aa y^2 + 2 ab y + bb, y = x - 1; bb < 0
    if (!(aa > 0 && root >= 0)) return;
    const double y = ab > 0 ? -bb / (ab + sqrt(root)) : (-ab + sqrt(root)) / aa;
    for (int i = 0; i <= tangents; ++i) lambda_1[i] += y * d[i];
}

static bool marked(const carom_flow *f, int c) { return f->live[c] != 0 && f->mode[c] == CAROM_MODE_STICK; }

// Slow slip of contact b has found its direction.  How far is its velocity from it?  That counts against the velocities
// there, and what friction would give on a way of |q|.
static void keep_direction(carom_flow *f, const carom_step *s, int b, const double *q, const double *v) {
    const int c = f->L.id[b] - s->sys->ne, k = f->L.at[b] + 1, tangents = f->L.at[b + 1] - k;
    const double size = carom_length(f->u + k, tangents), *d = f->dir + CAROM_TANGENTS * c;
    double off[CAROM_TANGENTS] = {0};
    f->mode[c] = CAROM_MODE_SLIP;
    f->live[c] = 0;
    for (int i = 0; i < tangents; ++i) off[i] = f->u[k + i] - size * d[i];
    f->range[c] = carom_local_magnitude(&f->L, k, v) + sqrt(carom_size_of_positions(s->sys, q) * strongest(f, s, b));
    if (size > 0) f->turn = fmax(f->turn, carom_length(off, tangents) / f->range[c]);
}

// Slow slips that stop inside the phase, still marked; lambda_1, their friction over the phase, is in f->x by
// directions of L.
static carom_status direct_stops(carom_flow *f, carom_step *s, double t, const double *q, const double *v) {
    const int ne = s->sys->ne;
    CAROM_TRY(carom_flow_rate(f, s, t, q, v, true));
    for (int b = ne; b < f->L.nb; ++b) {
        const int c = f->L.id[b] - ne, k = f->L.at[b], tangents = f->L.at[b + 1] - k - 1;
        if (!marked(f, c)) continue;
        const double mu = s->sys->contacts[c].friction, *lambda_0 = f->lambda + k;
        double *lambda_1 = f->x + k;
        if (exhausted(lambda_0, tangents, mu)) carom_copy(lambda_1, lambda_0, 1 + tangents); // forces draw it on
        else shorten(lambda_0, lambda_1, tangents, mu);
        const double used = carom_length(lambda_1 + 1, tangents);
        for (int i = 0; i < tangents && used > 0; ++i) f->dir[CAROM_TANGENTS * c + i] = -lambda_1[1 + i] / used;
        keep_direction(f, s, b, q, v);
    }
    return CAROM_OK;
}

// (MX-14)  The direction of slow slips is the one in which they end: the laws with Gamma_T + u_T/h, the velocity at the
//          end of the phase over h, with the forces in its middle, so that what they change by within h does not count.
//          From rest it is that of (MX-2); else friction also takes what they move across it.  Slips that stop before
//          are led straight to the stop, over a shorter time.
static carom_status direct_slow(carom_flow *f, carom_step *s, double t, double h, const double *q, const double *v) {
    const int ne = s->sys->ne;
    bool stops = false;
    for (int b = ne; b < f->L.nb; ++b)
        if (turning_slip(f, s, b) && f->live[f->L.id[b] - ne] == 0) // asked as if it stuck; live serves as mark
            f->mode[f->L.id[b] - ne] = CAROM_MODE_STICK, f->live[f->L.id[b] - ne] = 1;
    f->per_h = 1 / h;
    const carom_status status = carom_flow_rate(f, s, t + 0.5 * h, q, v, true);
    f->per_h = 0;
    CAROM_TRY(status);
    f->keeps = f->shared;
    if (f->shared) carom_flow_take(f, s, f->lambda); // (MX-15)
    for (int b = ne; b < f->L.nb; ++b) {
        const int c = f->L.id[b] - ne, k = f->L.at[b], tangents = f->L.at[b + 1] - k - 1;
        if (!marked(f, c)) continue;
        const double *lambda = f->lambda + k + 1, *end = f->Gamma + k + 1, *u = f->u + k + 1;
        const double used = carom_length(lambda, tangents), left = carom_length(end, tangents),
                     size = carom_length(u, tangents);
        const bool loaded = f->lambda[k] * f->D[k] > carom_flow_resolution(f, s, k);
        const bool drawn = loaded && used > 0 && carom_flow_exhausted(used, s->sys->contacts[c].friction, f->lambda[k]);
        const bool slides_on = left > carom_flow_resolution(f, s, k + 1); // one without load too
        if (loaded && !drawn && !f->shared && size > 0) { // it stops; reactions that are not unique would say nothing
                                                          // of how
            stops = true;
            continue;
        }
        for (int i = 0; i < tangents && (drawn || slides_on || size > 0); ++i)
            f->dir[CAROM_TANGENTS * c + i] = drawn ? -lambda[i] / used : slides_on ? end[i] / left : u[i] / size;
        keep_direction(f, s, b, q, v);
    }
    carom_copy(f->x, f->lambda, f->L.at[f->L.nb]);
    return stops ? direct_stops(f, s, t, q, v) : CAROM_OK;
}

carom_status carom_flow_begin(carom_flow *f, carom_step *s, double t, double h, const double *q, const double *v,
                              bool laws) {
    f->keeps = false;
    f->turn = 0;
    f->slow = false;
    if (laws || !carom_flow_remembers(f, s, t, q, v)) CAROM_TRY(carom_flow_rate(f, s, t, q, v, laws));
    if (!f->follows) find_live(f, s, h);
    if (f->slow) {
        CAROM_TRY(direct_slow(f, s, t, h, q, v));
        CAROM_TRY(carom_flow_rate(f, s, t, q, v, laws));
    }
    f->ready = false;
    if (!laws) note_margins(f, s, CAROM_RK_STAGES);
    if (!carom_butcher_explicit(f->T)) return power_at(f, s, t, q, v, &f->power_0);
    carom_copy(f->K[0], f->a, s->sys->nv);
    carom_copy(f->V[0], v, s->sys->nv);
    if (s->sys->lift) carom_copy(f->lifted[0], v, s->sys->nv);
    return power(f, s, t, q, v, laws, 0);
}

// Where (+) is no sum, stages of an implicit method hang together: X_i = tau sum_j a_ij D_j, D_j = lift(X_j, V_j), by
// repetition, since D differs from V by about |X| |V| only.
static void hang_together(carom_flow *f, const carom_step *s, double tau, const double *v) {
    const int nv = s->sys->nv, stages = f->T->stages;
    for (int i = 0; i < stages; ++i) {
        carom_copy(f->V[i], v, nv);
        for (int j = 0; j < stages; ++j) carom_axpy(f->V[i], tau * carom_butcher_a(f->T, i, j), f->K[j], nv);
        carom_copy(f->lifted[i], f->V[i], nv);
    }
    for (int k = 0; k < MOST; ++k) {
        double change = 0, size = 0;
        for (int i = 0; i < stages; ++i) {
            carom_zero(f->shift[i], nv);
            for (int j = 0; j < stages; ++j)
                carom_axpy(f->shift[i], tau * carom_butcher_a(f->T, i, j), f->lifted[j], nv);
        }
        for (int i = 0; i < stages; ++i) {
            carom_lift(s, f->V_sum, f->shift[i], f->V[i]);
            for (int l = 0; l < nv; ++l)
                change = fmax(change, carom_lever(s->sys, l) * fabs(f->V_sum[l] - f->lifted[i][l]));
            size = fmax(size, carom_size_of_motion(s->sys, f->V_sum));
            carom_copy(f->lifted[i], f->V_sum, nv);
        }
        if (!(change > CAROM_ROUNDING * size)) return;
    }
}

// y = x + sum_j w_j X_j over n vectors (x NULL: 0); a few components at a time, so that sums stay in registers.
static void combine(double *restrict y, const double *restrict x, const double *w, double *const *X, int n, int nv) {
    enum { WIDE = 4 };
    int i = 0;
    for (; i + WIDE <= nv; i += WIDE) {
        double sum[WIDE] = {0};
        for (int k = 0; x && k < WIDE; ++k) sum[k] = x[i + k];
        for (int j = 0; j < n; ++j)
            for (int k = 0; k < WIDE; ++k) sum[k] += w[j] * X[j][i + k];
        for (int k = 0; k < WIDE; ++k) y[i + k] = sum[k];
    }
    for (; i < nv; ++i) {
        double sum = x ? x[i] : 0;
        for (int j = 0; j < n; ++j) sum += w[j] * X[j][i];
        y[i] = sum;
    }
}

// (MX-3)  Q_i = q + tau sum_j a_ij V_j,  V_i = v + tau sum_j a_ij K_j,  K_i from (MX-1) at (t + c_i tau, Q_i, V_i)
static void place(carom_flow *f, const carom_step *s, int i, double tau, const double *q, const double *v) {
    const int nv = s->sys->nv, stages = f->T->stages;
    if (s->sys->lift) { // V_i, X_i are there
        carom_move(s, f->Q, q, 1, f->shift[i]);
        return;
    }
    carom_zero(f->V_sum, nv);
    carom_copy(f->V[i], v, nv);
    for (int j = 0; j < stages; ++j) carom_axpy(f->V[i], tau * carom_butcher_a(f->T, i, j), f->K[j], nv);
    for (int j = 0; j < stages; ++j) {
        const double a = carom_butcher_a(f->T, i, j);
        if (a == 0) continue;
        for (int k = 0; k < stages; ++k) carom_axpy(f->V_sum, a * tau * carom_butcher_a(f->T, j, k), f->K[k], nv);
        carom_axpy(f->V_sum, a, v, nv);
    }
    carom_move(s, f->Q, q, tau, f->V_sum);
}

// The same for stage i of an explicit method.
static void place_explicit(carom_flow *f, const carom_step *s, int i, double tau, const double *q, const double *v) {
    const int nv = s->sys->nv;
    const double *a = f->T->a + i * (i - 1) / 2;
    double w[CAROM_RK_STAGES];
    for (int j = 0; j < i; ++j) w[j] = tau * a[j];
    combine(f->V[i], v, w, f->K, i, nv);
    combine(f->V_sum, NULL, a, f->lifted, i, nv);
    carom_move(s, f->Q, q, tau, f->V_sum);
    if (!s->sys->lift) return;
    for (int k = 0; k < nv; ++k) f->shift[i][k] = tau * f->V_sum[k];
    carom_lift(s, f->lifted[i], f->shift[i], f->V[i]);
}

static carom_status explicit_stages(carom_flow *f, carom_step *s, double t, double tau, const double *q,
                                    const double *v, bool laws) {
    for (int i = 1; i < f->T->stages; ++i) {
        const double t_i = t + carom_butcher_c(f->T, i) * tau, *q_i = f->Q, *v_i = f->V[i];
        place_explicit(f, s, i, tau, q, v);
        CAROM_TRY(carom_flow_rate_near(f, s, t_i, &q_i, &v_i, laws));
        carom_copy(f->K[i], f->a, s->sys->nv);
        CAROM_TRY(power(f, s, t_i, q_i, v_i, laws, i));
        if (v_i == f->V[i]) continue;
        carom_copy(f->V[i], v_i, s->sys->nv);
        if (s->sys->lift) carom_lift(s, f->lifted[i], f->shift[i], f->V[i]);
    }
    return CAROM_OK;
}

// What is nowhere, or stands still, has no size of its own.
static double size_or_one(double x) { return x > 0 ? x : 1; }

// Derivatives of the accelerations at the start of the phase, by central differences.
static carom_status derive(carom_flow *f, carom_step *s, double t, const double *q, const double *v) {
    const int nv = s->sys->nv;
    const double little = cbrt(DBL_EPSILON), q_size = size_or_one(carom_size_of_positions(s->sys, q)),
                 v_size = size_or_one(carom_size_of_rates(s->sys, v));
    for (int j = 0; j < 2 * nv; ++j) {
        const bool by_v = j >= nv;
        double *column = (by_v ? f->Jv : f->Jq) + (size_t)(by_v ? j - nv : j) * (size_t)nv;
        const double e = little * (by_v ? v_size : q_size) / carom_lever(s->sys, by_v ? j - nv : j);
        for (int side = 0; side < 2; ++side) {
            carom_copy(f->V_sum, v, nv);
            carom_copy(f->Q, q, s->sys->nq);
            if (by_v) f->V_sum[j - nv] += side ? -e : e;
            else {
                carom_zero(f->K_sum, nv);
                f->K_sum[j] = 1;
                carom_move(s, f->Q, q, side ? -e : e, f->K_sum);
            }
            CAROM_TRY(carom_flow_rate(f, s, t, f->Q, f->V_sum, false));
            if (side == 0) carom_copy(column, f->a, nv);
        }
        for (int i = 0; i < nv; ++i) column[i] = (column[i] - f->a[i]) / (2 * e);
    }
    f->ready = true;
    return CAROM_OK;
}

// (MX-4)  J = I - tau A (x) dK/dv - tau^2 A^2 (x) dK/dq, factorised
static carom_status newton_matrix(carom_flow *f, carom_step *s, double tau) {
    const int nv = s->sys->nv, stages = f->T->stages, n = stages * nv;
    for (int j = 0; j < stages; ++j)
        for (int i = 0; i < stages; ++i) {
            const double a = tau * carom_butcher_a(f->T, i, j);
            double a_2 = 0;
            for (int k = 0; k < stages; ++k)
                a_2 += tau * tau * carom_butcher_a(f->T, i, k) * carom_butcher_a(f->T, k, j);
            for (int y = 0; y < nv; ++y)
                for (int x = 0; x < nv; ++x) {
                    const size_t at = (size_t)(i * nv + x) + (size_t)(j * nv + y) * (size_t)n,
                                 from = (size_t)x + (size_t)y * (size_t)nv;
                    f->J[at] = (i == j && x == y) - a * f->Jv[from] - a_2 * f->Jq[from];
                }
        }
    carom_factored(s, n);
    if (!carom_dense_lu(f->J, n, n, DBL_EPSILON, f->J_pivot))
        return carom_retry(s, "the iteration matrix of the stages is singular");
    return CAROM_OK;
}

// r_i = K_i(Q_i, V_i) - K_i
static carom_status residual(carom_flow *f, carom_step *s, double t, double tau, const double *q, const double *v) {
    const int nv = s->sys->nv;
    if (s->sys->lift) hang_together(f, s, tau, v);
    for (int i = 0; i < f->T->stages; ++i) {
        const double t_i = t + carom_butcher_c(f->T, i) * tau;
        place(f, s, i, tau, q, v);
        CAROM_TRY(carom_flow_rate(f, s, t_i, f->Q, f->V[i], false));
        for (int k = 0; k < nv; ++k) f->r[i * nv + k] = f->a[k] - f->K[i][k];
        CAROM_TRY(power(f, s, t_i, f->Q, f->V[i], false, i));
    }
    return CAROM_OK;
}

typedef struct stages {
    carom_flow *f;
    double t, tau;
    const double *q, *v;
    double change, last, size; // largest correction of an acceleration, the one before it, magnitude
    double rounding;           // of an acceleration that puts q where it is, to the last digits: eps |q|/tau^2
} stages;

// It ends when a correction is below LITTLE of the tolerance, or when corrections no longer fall and are CLOSE to it.
static carom_status judge(void *memory, carom_step *s, int k, bool *answer) {
    // errors of stages then hide in that of the step; a stall at more is no rounding
    static const double LITTLE = 0.01, CLOSE = 1e3;
    const stages *x = memory;
    // not halved: it no longer falls
    const bool stalled = x->change > 0.5 * x->last && x->change <= CLOSE * s->newton_tol * x->size;
    *answer = k > 0 && (x->change <= fmax(LITTLE * s->newton_tol * x->size, x->rounding) || stalled);
    return CAROM_OK;
}

static carom_status correct(void *memory, carom_step *s, int k) {
    (void)k;
    stages *x = memory;
    carom_flow *f = x->f;
    const int nv = s->sys->nv, n = f->T->stages * nv;
    CAROM_TRY(residual(f, s, x->t, x->tau, x->q, x->v));
    carom_dense_lu_solve(f->J, n, n, f->J_pivot, f->r);
    x->size = carom_size_of_motion(s->sys, x->v) / x->tau;
    for (int i = 0; i < f->T->stages; ++i) {
        x->size = fmax(x->size, carom_size_of_motion(s->sys, f->K[i]));
        carom_axpy(f->K[i], 1, f->r + i * nv, nv);
    }
    x->last = x->change;
    x->change = 0;
    for (int i = 0; i < f->T->stages; ++i) x->change = fmax(x->change, carom_size_of_motion(s->sys, f->r + i * nv));
    return CAROM_OK;
}

// Simplified Newton.
static carom_status implicit_stages(carom_flow *f, carom_step *s, double t, double tau, const double *q,
                                    const double *v) {
    const int nv = s->sys->nv, n = f->T->stages;
    if (!f->ready) CAROM_TRY(derive(f, s, t, q, v));
    CAROM_TRY(carom_flow_rate(f, s, t, q, v, false));
    carom_copy(f->a_0, f->a, nv);
    for (int i = 0; i < n; ++i) carom_copy(f->K[i], f->a, nv);
    CAROM_TRY(newton_matrix(f, s, tau));
    struct stages x = {.f = f,
                       .t = t,
                       .tau = tau,
                       .q = q,
                       .v = v,
                       .change = HUGE_VAL,
                       .rounding = CAROM_ROUNDING_SUM * carom_size_of_positions(s->sys, q) / (tau * tau)};
    carom_zero(f->r, n * nv);
    const carom_iteration I = {.method = "Newton's method for the stages",
                               .most = MOST,
                               .x = f->r,
                               .n = n * nv,
                               .evaluate = judge,
                               .correct = correct};
    CAROM_TRY(carom_iterate(&I, &x, s, NULL));
    if (s->sys->lift) hang_together(f, s, tau, v);
    for (int i = 0; i < n; ++i) place(f, s, i, tau, q, v);
    return CAROM_OK;
}

// (MX-13)  error = (gamma/tau I - F')^-1 (F(y_0) + sum_i e_i (Y_i - y_0)/tau) for y = (q, v), F = (v, v'); Radau IIA of
//          order 5. The matrix is that of the velocities alone, after positions are eliminated.
static double radau_gamma(void) { return 30 / (6 + cbrt(81) - cbrt(9)); } // the real eigenvalue of A^-1

// sum_i e_i (Y_i - y_0)/tau = sum_j w_j Y'_j
static void radau_weights(const carom_butcher *T, double *w) {
    const double r6 = sqrt(6), e[3] = {-(13 + 7 * r6) / 3, (-13 + 7 * r6) / 3, -1. / 3};
    for (int j = 0; j < 3; ++j) w[j] = 0;
    for (int i = 0; i < T->stages; ++i) // Y_i - y_0 = tau sum_j a_ij Y'_j
        for (int j = 0; j < T->stages; ++j) w[j] += e[i] * carom_butcher_a(T, i, j);
}

static carom_status radau_error(carom_flow *f, carom_step *s, double tau, const double *v, double *error) {
    const double gamma = radau_gamma();
    const int nv = s->sys->nv;
    double *r_q = error, *r_v = error + nv, w[3];
    radau_weights(f->T, w);
    carom_copy(r_q, v, nv);
    carom_copy(r_v, f->a_0, nv);
    for (int j = 0; j < f->T->stages; ++j) carom_axpy(r_q, w[j], f->V[j], nv), carom_axpy(r_v, w[j], f->K[j], nv);
    const double x = tau / gamma;
    for (int j = 0; j < nv; ++j) {
        const double *q_column = f->Jq + (size_t)j * (size_t)nv, *v_column = f->Jv + (size_t)j * (size_t)nv;
        carom_axpy(r_v, x * r_q[j], q_column, nv);
        for (int i = 0; i < nv; ++i)
            f->J[(size_t)i + (size_t)j * (size_t)nv] = (i == j) / x - v_column[i] - x * q_column[i];
    }
    carom_factored(s, nv);
    if (!carom_dense_lu(f->J, nv, nv, DBL_EPSILON, f->J_pivot))
        return carom_retry(s, "the matrix of the error estimate is singular");
    carom_dense_lu_solve(f->J, nv, nv, f->J_pivot, r_v);
    for (int i = 0; i < nv; ++i) r_q[i] = x * (r_q[i] + r_v[i]);
    return CAROM_OK;
}

// (MX-5)  q_1 = q + tau sum b_i V_i,  v_1 = v + tau sum b_i K_i
carom_status carom_flow_step(carom_flow *f, carom_step *s, double t, double tau, const double *q, const double *v,
                             bool laws, double *q_1, double *v_1, double *error) {
    const carom_butcher *T = f->T;
    const int nq = s->sys->nq, nv = s->sys->nv;
    CAROM_TRY(carom_butcher_explicit(T) ? explicit_stages(f, s, t, tau, q, v, laws)
                                        : implicit_stages(f, s, t, tau, q, v));
    const bool embedded = error && T->low;
    if (error && !embedded) CAROM_TRY(radau_error(f, s, tau, v, error));
    if (embedded) {
        double w[CAROM_RK_STAGES];
        for (int i = 0; i < T->stages; ++i) w[i] = tau * (T->b[i] - T->low[i]);
        combine(f->V_sum, NULL, T->low, f->lifted, T->stages, nv);
        combine(error + nq, NULL, w, f->K, T->stages, nv);
        carom_move(s, f->Q, q, tau, f->V_sum);
    }
    combine(f->V_sum, NULL, T->b, f->lifted, T->stages, nv);
    combine(f->K_sum, NULL, T->b, f->K, T->stages, nv);
    carom_move(s, q_1, q, tau, f->V_sum);
    carom_add(v_1, v, tau, f->K_sum, nv);
    if (embedded) carom_add(error, q_1, -1, f->Q, nq);
    if (!(carom_norm_max(q_1, nq) < HUGE_VAL && carom_norm_max(v_1, nv) < HUGE_VAL))
        return carom_retry(
            s,
            "a coordinate became infinite or not a number; the step is probably too large for this scheme and model");
    return CAROM_OK;
}

carom_account carom_flow_work(const carom_flow *f, double tau) {
    carom_account work = {0};
    for (int i = 0; i < f->T->stages; ++i) {
        const carom_account *p = f->power + i;
        work.friction += tau * f->T->b[i] * p->friction;
        work.external += tau * f->T->b[i] * p->external;
        work.damping += tau * f->T->b[i] * p->damping;
    }
    return work;
}

// Estimates of the errors of friction, external and damping work, and the sum of the magnitudes of all three.
static void work_errors(const carom_flow *f, double tau, double *e, double *size) {
    const carom_butcher *T = f->T;
    const bool radau = T->family == CAROM_RK_RADAU && T->stages == 3;
    double w[CAROM_RK_STAGES];
    *size = e[0] = e[1] = e[2] = 0;
    if (radau) {
        radau_weights(T, w);
        e[0] = f->power_0.friction, e[1] = f->power_0.external, e[2] = f->power_0.damping;
    }
    for (int i = 0; i < T->stages; ++i) {
        const double P[CAROM_WORKS] = {f->power[i].friction, f->power[i].external, f->power[i].damping},
                     d = radau    ? w[i]
                         : T->low ? T->b[i] - T->low[i]
                                  : 0;
        for (int k = 0; k < CAROM_WORKS; ++k) e[k] += d * P[k], *size += tau * fabs(T->b[i] * P[k]);
    }
    for (int k = 0; k < CAROM_WORKS; ++k) e[k] = fabs((radau ? tau / radau_gamma() : tau) * e[k]);
}

// Kinetic energy, and what the present accelerations would give on a way of |q|.
static carom_status energy_size(carom_flow *f, carom_step *s, double t, const double *q, const double *v,
                                double *size) {
    const int nv = s->sys->nv;
    const double *a = carom_butcher_explicit(f->T) ? f->K[0] : f->a_0;
    CAROM_TRY(carom_mass(s, s->M, t, q));
    carom_matrix_mul(f->dv, s->M, v);
    carom_zero(f->dv + s->sys->first_state, s->sys->nstates); // they have a mass and no energy
    *size = 0.5 * fabs(carom_dot(f->dv, v, nv));
    carom_matrix_mul(f->dv, s->M, a);
    *size += carom_size_moving(s->sys, f->dv, nv) * carom_size_moving(s->sys, q, s->sys->nq);
    return CAROM_OK;
}

// (AU-16)  error = max_k |tau sum_i (b_i - low_i) P_ki|/(rtol S + atol E) over friction, external and damping, with
//          their powers P_ki at the stages; for Radau IIA
//          |tau/gamma (P_k0 + sum_i w_i P_ki)| as in (MX-13).  S = sum_k tau sum_i |b_i P_ki| of this step and of
//          those before it; E is the kinetic energy,
//          and what accelerations would give on a way of |q|: it is looked at where S alone refuses a step.
//
// (AU-22)  In steps of 1e-5 of the run or less, error <= max(1/10, most/(rtol E_run)),
//          E_run = sum_i M_ii (size_v/lever_i)^2/2: what is at rest has works of rounding, and powers may jump where
//          nobody knows of it; a pulse that short does work all the same.
carom_status carom_flow_work_error(carom_flow *f, carom_step *s, double t, double tau, const double *q, const double *v,
                                   double rtol, double atol, double size_v, double sum, double *error) {
    double e[CAROM_WORKS], size, E = 0;
    work_errors(f, tau, e, &size);
    const double most = fmax(fmax(e[0], e[1]), e[2]), allowed = rtol * (sum + size);
    *error = 0;
    if (most == 0 || most <= allowed) { // nothing is divided by nothing
        if (most > 0) *error = most / allowed;
        return CAROM_OK;
    }
    CAROM_TRY(energy_size(f, s, t, q, v, &E));
    *error = most / (allowed + atol * E);
    if (!(size_v > 0)) return CAROM_OK;
    E = 0;
    for (int i = 0; i < s->sys->first_state; ++i)
        E += 0.5 * fabs(*carom_matrix_entry(s->M, i, i)) * pow(size_v / carom_lever(s->sys, i), 2);
    *error = fmin(*error, fmax(CAROM_WORKS_COARSE, most / (rtol * E)));
    return CAROM_OK;
}

void carom_flow_work_add(const carom_flow *f, double tau, double *sum) {
    double e[CAROM_WORKS], size;
    work_errors(f, tau, e, &size);
    *sum += size;
}

// (AU-2)  error = max_i |estimate_i|/(rtol max(|x_0i|, |x_1i|) + atol size/lever), lever by (LV-3)
double carom_flow_error(const carom_step *s, const double *error, const double *q_0, const double *v_0,
                        const double *q_1, const double *v_1, double rtol, double atol, double size_q, double size_v) {
    const int nq = s->sys->nq, nv = s->sys->nv;
    double most = 0;
    for (int i = 0; i < nq + nv; ++i) {
        const bool position = i < nq;
        const double x = position ? fmax(fabs(q_0[i]), fabs(q_1[i])) : fmax(fabs(v_0[i - nq]), fabs(v_1[i - nq]));
        if (error[i] == 0) continue; // where all is zero there is nothing to divide by
        const double e = fabs(error[i]) / (rtol * x + carom_tolerance_of(s->sys, position, position ? i : i - nq, atol,
                                                                         position ? size_q : size_v, size_q));
        if (!(e <= most)) most = e == e ? e : HUGE_VAL;
    }
    return most;
}

// (AU-4)  |h sum (b_i - low_i) lambda_i|
double carom_flow_reaction_error(const carom_flow *f, const carom_step *s, double h, double size) {
    double most = 0;
    for (int c = 0; c < s->sys->nc && f->T->low && size > 0; ++c) {
        double e = 0;
        for (int i = 0; i < f->T->stages; ++i) e += h * (f->T->b[i] - f->T->low[i]) * f->push[i][c];
        most = fmax(most, fabs(e) / size);
    }
    return most;
}

// (AU-13)  min(h sum |b_i| S_i |u_i/|u_i| - d|, max_i |u_i - |u_i| d|), S = mu lambda_N D how fast friction turns a
//          slip: friction along d instead of u_i/|u_i| for h, unless friction turns the slip faster than that; then the
//          slip is off by what it moves across d
double carom_flow_turn_error(const carom_flow *f, const carom_step *s, double h) {
    const int nc = s->sys->nc;
    double most = f->turn;
    for (int c = 0; c < nc && f->slow; ++c) {
        double change = 0, across = 0;
        for (int i = 0; i < f->T->stages; ++i) {
            change += h * fabs(f->T->b[i]) * f->aside[i][nc + c];
            across = fmax(across, f->aside[i][c]);
        }
        if (across > 0) most = fmax(most, fmin(change, across) / f->range[c]);
    }
    return most;
}
