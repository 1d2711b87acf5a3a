// linear.c: the equations of motion about a point.
//
//     M(q) v' = f(t, q, v) + W lambda   about (q, v, a = v', lambda):
//     M x'' + C x' + (K + d(M a)/dq) x = out mu,   in'x = 0,   K = -d(f + W lambda)/dq, C = -df/dv             (LIN-1)
//
// A contact that slides, lambda_T = mu(t, q, v) d lambda_N with d = -u_T/|u_T|, adds by its coefficient and by its
// direction
//
//     C -= lambda_N W_T d (dmu/dv)',  K -= lambda_N W_T d (dmu/dq)',  C += mu lambda_N/|u_T| W_T (1 - d d') W_T'
//     (LIN-2)
//
// The equations are those of frozen coefficients where the point moves.
#include "base/grow.h"
#include "dynamics/steady.h"
#include "linalg/matrix.h"
#include <math.h>
#include <stdlib.h>

static const double TURNED = 1e-4;     // rad: differences about no rotation
static const double REST = 1e-9;       // of the model's size, of its forces: results at rest are not exact
static const double GIVEN = 1e-6;      // of the size, of the speeds: states that a person wrote
static const double SOLVED = 1e-13, USABLE = 1e-8; // residuals of the contact problem, relative: asked for, enough
static const double CARRIES = 1e-9;    // of the largest force: contacts with less are left out

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the linearised equations");
}

// -- which contacts hold ------------------------------------------------------------------------------------------

// What forces reach over REST of the model's size counts as rounding: results at rest have such velocities.
static carom_status find_noise(carom_linear *l) {
    carom_grip *h = &l->grip;
    carom_point *p = &h->p;
    CAROM_TRY(carom_grip_weigh(h));
    p->noise = REST * sqrt(h->length * carom_point_largest(p, h->a, p->nv));
    const bool still = carom_point_largest(p, p->v, p->nv) <= p->noise;
    for (int i = 0; still && i < p->nv; ++i)
        if (!carom_model_state(p->model, i)) p->v[i] = 0;
    return carom_point_look(p, h->err);
}

// Closed, neither opening nor closing.
static carom_status find_closed(carom_linear *l, const carom_modes_def *def) {
    carom_grip *h = &l->grip;
    carom_point *p = &h->p;
    const double close = def->q ? GIVEN : CAROM_CLOSE;
    for (int c = 0; c < p->nc; ++c) {
        h->with[c] = p->contacts[c].friction_only ||
                     (def->closed ? def->closed[c] : !def->open && p->g[p->ne + c] <= close * h->length);
        if (p->contacts[c].friction_only && def->open)
            p->contacts[c].friction = CAROM_NO_FRICTION; // it has no gap to open
    }
    if (def->closed) return CAROM_OK;
    CAROM_TRY(carom_grip_gather(h));
    const double fastest = carom_point_largest(p, p->v, p->nv);
    for (int b = 0; b < p->L.nb; ++b) {
        const int id = p->L.id[b], k = p->L.at[b];
        const double u = carom_column_dot(&p->L.W, k, p->v);
        if (id >= p->ne && fabs(u + p->L.w[k]) > GIVEN * (fastest + fabs(p->L.w[k])) + p->noise)
            h->with[id - p->ne] = false;
    }
    return CAROM_OK;
}

static carom_status solve(carom_linear *l) {
    carom_grip *h = &l->grip;
    CAROM_TRY(carom_grip_accelerate(h));
    carom_zero(h->x, h->rows);
    carom_problem pb = carom_grip_problem(h);
    const double scale = fmax(carom_norm_max(h->c, h->rows), h->nj > 0 ? carom_norm_max(h->a, h->p.nv) : 0);
    const carom_report report =
        h->rows > 0 ? carom_chain_solve(h->chain, &pb, SOLVED * scale) : (carom_report){.converged = true};
    if (!report.converged && !(report.residual <= USABLE * scale))
        return carom_fail(h->err, CAROM_NOT_CONVERGED,
                          "the contact forces in this state were not found: residual %.3g of the accelerations",
                          report.residual / scale);
    carom_grip_spread(h);
    return CAROM_OK;
}

// Contacts that carry nothing are open, unless the caller knows better.
static carom_status find_forces(carom_linear *l, const carom_modes_def *def) {
    carom_grip *h = &l->grip;
    carom_point *p = &h->p;
    CAROM_TRY(solve(l));
    const double most = fmax(carom_norm_max(h->x, h->rows), carom_norm_max(h->lambda, h->nj));
    bool again = false;
    for (int b = 0; b < p->L.nb && !def->closed; ++b)
        if (p->L.id[b] >= p->ne && !p->contacts[p->L.id[b] - p->ne].friction_only &&
            !(h->x[h->row[b]] > CARRIES * most))
            h->with[p->L.id[b] - p->ne] = false, again = true;
    if (again) CAROM_TRY(solve(l));
    for (int k = 0; k < h->rows; ++k) carom_axpy(h->a, h->x[k], h->X + (size_t)k * (size_t)p->nv, p->nv);
    for (int b = 0; b < p->L.nb; ++b) {
        if (p->L.id[b] < p->ne) ++l->joints;
        else if (p->contacts[p->L.id[b] - p->ne].friction_only &&
                 p->contacts[p->L.id[b] - p->ne].friction <= CAROM_NO_FRICTION)
            continue; // released
        else if (h->slides[b]) ++l->sliding;
        else ++l->sticking;
    }
    return CAROM_OK;
}

// The force M a that is left, against the terms of f + W lambda and the forces of a displacement by the model's size.
static void find_balance(carom_linear *l) {
    const carom_grip *h = &l->grip;
    const carom_point *p = &h->p;
    double *size = p->difference.a, *x = p->difference.b, left = 0, all = 0;
    for (int i = 0; i < p->nv; ++i) x[i] = h->length;
    carom_matrix_magnitude(size, p->K, x);
    for (int i = 0; i < p->nv; ++i) size[i] += fabs(p->f[i]);
    for (int k = 0; k < l->steady.m; ++k) { // controllers answer a displacement, too
        const carom_steady *c = &l->steady;
        double z = fabs(c->z[k]);
        for (int j = 0; j < p->nv; ++j) z += fabs(c->H[k + j * c->m]) * h->length;
        for (int i = 0; i < p->nv; ++i) size[i] += fabs(c->F[i + k * p->nv]) * z;
    }
    for (int k = 0; k < h->nj; ++k)
        for (int e = 0; e < p->L.W.count[k]; ++e)
            size[carom_column_rows(&p->L.W, k)[e]] +=
                fabs(p->L.W.a[(size_t)k * (size_t)p->L.W.stride + (size_t)e] * h->lambda[k]);
    for (int k = 0; k < h->rows; ++k)
        for (int i = 0; i < p->nv; ++i) size[i] += fabs(h->out[(size_t)i + (size_t)k * (size_t)p->nv] * h->x[k]);
    carom_matrix_mul(x, p->M, h->a);
    for (int i = 0; i < p->nv; ++i) {
        const double mass = *carom_matrix_entry(p->M, i, i);
        left += x[i] * x[i] / mass, all += size[i] * size[i] / mass;
    }
    l->unbalanced = all > 0 ? sqrt(left / all) : 0;
}

// -- friction that varies -----------------------------------------------------------------------------------------

static struct carom_rank *add_rank(carom_linear *l, bool rate) {
    if (!CAROM_GROW(l->rank, l->nrank)) return NULL;
    struct carom_rank *r = &l->rank[l->nrank];
    *r = (struct carom_rank){rate, calloc(2 * (size_t)l->grip.p.nv, sizeof(double)), NULL};
    r->right = r->left ? r->left + l->grip.p.nv : NULL;
    l->nrank += r->left != NULL;
    return r->left ? r : NULL;
}

// s W_T x for the tangential directions of block b.
static void tangential(const carom_linear *l, int b, double s, const double *x, double *y) {
    const carom_local *L = &l->grip.p.L;
    for (int k = L->at[b] + 1; k < L->at[b + 1]; ++k) carom_column_axpy(y, s * x[k - L->at[b] - 1], &L->W, k);
}

// The coefficient of the contact in block b changes along velocity i, in a rate or in a position.
static carom_status varying(carom_linear *l, carom_variation *x, int b, bool rate) {
    carom_point *p = &l->grip.p;
    const int c = p->L.id[b] - p->ne;
    struct carom_rank *r = add_rank(l, rate);
    if (!r) return no_memory(l->grip.err);
    tangential(l, b, -l->grip.lambda[p->L.at[b]], l->grip.direction + CAROM_TANGENTS * b, r->left);
    double *along = p->difference.a, *dmu = p->law;
    carom_zero(along, p->nv);
    for (int i = 0; i < p->nv; ++i) {
        along[i] = 1;
        const carom_direction d = {0, rate ? NULL : along, rate ? along : NULL, NULL};
        if (carom_variation_laws(x, p->t, p->q, p->v, d, NULL, NULL, dmu, NULL) != CAROM_OK)
            return carom_fail(l->grip.err, CAROM_USER, "a derivative of the friction has no finite value here");
        along[i] = 0;
        r->right[i] = dmu[c];
    }
    return CAROM_OK;
}

// W_T P W_T' with P = 1 - d d', row by row.
static carom_status turning(carom_linear *l, int b) {
    carom_point *p = &l->grip.p;
    const int first = p->L.at[b] + 1, tangents = p->L.at[b + 1] - first;
    const double *d = l->grip.direction + CAROM_TANGENTS * b;
    double speed = 0, row[CAROM_TANGENTS];
    for (int i = 0; i < tangents; ++i)
        speed = hypot(speed, carom_column_dot(&p->L.W, first + i, p->v) + p->L.w[first + i]);
    const double s = p->contacts[p->L.id[b] - p->ne].friction * l->grip.lambda[first - 1] / speed;
    for (int i = 0; i < tangents; ++i) {
        struct carom_rank *r = add_rank(l, true);
        if (!r) return no_memory(l->grip.err);
        for (int k = 0; k < tangents; ++k) row[k] = (i == k) - d[i] * d[k];
        carom_column_axpy(r->left, s, &p->L.W, first + i);
        tangential(l, b, 1, row, r->right);
    }
    return CAROM_OK;
}

static bool slides(const carom_linear *l, int b) {
    return l->grip.slides[b] && carom_length(l->grip.direction + CAROM_TANGENTS * b, CAROM_TANGENTS) > 0;
}

static carom_status add_friction(carom_linear *l, carom_variation *x) {
    const carom_point *p = &l->grip.p;
    for (int b = 0; b < p->L.nb; ++b) {
        if (!slides(l, b)) continue;
        if (p->contacts[p->L.id[b] - p->ne].friction_varies) {
            CAROM_TRY(varying(l, x, b, true));
            CAROM_TRY(varying(l, x, b, false));
        }
        if (p->L.at[b + 1] - p->L.at[b] > 2) CAROM_TRY(turning(l, b));
    }
    return CAROM_OK;
}

// (LIN-2)
static carom_status friction(carom_linear *l) {
    const carom_point *p = &l->grip.p;
    bool varies = false;
    for (int b = 0; b < p->L.nb; ++b)
        varies = varies || (slides(l, b) && p->contacts[p->L.id[b] - p->ne].friction_varies);
    if (!varies || l->steady.m > 0) return add_friction(l, l->steady.x);
    carom_variation *x = carom_variation_create(p->model, 0, NULL, l->grip.err);
    if (!x) return l->grip.err->code;
    const carom_status status = add_friction(l, x);
    carom_variation_destroy(x);
    return status;
}

// -- where the point moves ----------------------------------------------------------------------------------------

// q = q_0(t) moved by x: x' = v - v_0 + [x, v_0].  lift() gives x' = v + 1/2 [x, v] + ...
static carom_status find_frame(carom_linear *l) {
    carom_point *p = &l->grip.p;
    const size_t nv = (size_t)p->nv;
    if (!p->sys.lift || carom_point_largest(p, p->v, p->nv) == 0) return CAROM_OK;
    l->frame = calloc(nv * nv + 3 * nv, sizeof *l->frame);
    if (!l->frame) return no_memory(l->grip.err);
    double *x = l->frame + nv * nv, *up = x + nv, *down = up + nv;
    const double s = TURNED; // what follows the bracket in lift() is even in x
    for (size_t j = 0; j < nv; ++j) {
        x[j] = s;
        p->sys.lift(p->sys.model, up, x, p->v);
        x[j] = -s;
        p->sys.lift(p->sys.model, down, x, p->v);
        x[j] = 0;
        for (size_t i = 0; i < nv; ++i) l->frame[i + j * nv] = (up[i] - down[i]) / s;
    }
    return CAROM_OK;
}

static carom_status find_drift(carom_linear *l) {
    carom_grip *h = &l->grip;
    carom_point *p = &h->p;
    const carom_system *s = &p->sys;
    if (carom_grip_all(h) == 0 || carom_point_largest(p, p->v, p->nv) == 0) return CAROM_OK;
    const size_t nv = (size_t)p->nv;
    carom_columns D = {.rows = p->nv, .n = p->L.at[p->L.nb], .stride = p->L.W.stride};
    const size_t stride = p->L.W.count ? (size_t)D.stride : nv, n = (size_t)D.n;
    D.a = calloc(stride * n + 1, sizeof *D.a);
    D.row = p->L.W.count ? calloc(stride * n + n + 1, sizeof *D.row) : NULL;
    D.count = D.row ? D.row + stride * n : NULL;
    l->drift = calloc(nv * (size_t)(carom_grip_all(h) + 2), sizeof *l->drift);
    carom_status status = D.a && l->drift && (D.row || !p->L.W.count) ? CAROM_OK : no_memory(h->err);
    if (status == CAROM_OK)
        status = s->rate_gradient
                     ? s->rate_gradient(s->model, p->work, p->t, p->q, p->v, &p->L, &D)
                     : carom_difference_rate_gradient(&p->difference, s, p->work, p->t, p->q, p->v, &p->L, &D);
    double *in = l->drift ? l->drift + nv * (size_t)carom_grip_all(h) : NULL;
    for (int b = 0, row = 0; status == CAROM_OK && b < p->L.nb; ++b)
        for (int k = 0; k < (b < h->nj ? 1 : h->row[b + 1] - h->row[b]); ++k, ++row) {
            double *y = l->drift + (size_t)row * nv;
            carom_column_expand(y, &D, p->L.at[b] + k);
            carom_grip_row(h, row, in, in + nv);
            for (size_t j = 0; l->frame && j < nv; ++j) y[j] -= carom_dot(in, l->frame + j * nv, p->nv);
        }
    free(D.a);
    free(D.row);
    return status;
}

// -- all of it ----------------------------------------------------------------------------------------------------

static carom_status linearise(carom_linear *l, const carom_modes_def *def) {
    carom_grip *h = &l->grip;
    carom_point *p = &h->p;
    const carom_system *s = &p->sys;
    if (def->v) carom_copy(p->v, def->v, p->nv);
    CAROM_TRY(carom_point_look(p, h->err));
    carom_grip_measure(h);
    // at rest all may be zero up to rounding
    if (!def->q) h->length = fmax(h->length, carom_norm_max(carom_model_q0(p->model), p->nq));
    CAROM_TRY(find_noise(l));
    CAROM_TRY(find_closed(l, def));
    CAROM_TRY(find_forces(l, def));
    CAROM_TRY(carom_point_tangent(p, h->lambda, h->err));
    if (l->steady.m > 0) CAROM_TRY(carom_steady_linearise(&l->steady, p, h->err));
    find_balance(l);
    if (l->unbalanced > REST) {
        const carom_status status =
            s->mass_gradient ? s->mass_gradient(s->model, p->work, p->t, p->q, h->a, 1, p->K)
                             : carom_difference_mass_gradient(&p->difference, s, p->work, p->t, p->q, h->a, 1, p->K);
        if (status != CAROM_OK)
            return carom_fail(h->err, status, "the derivatives of the masses have no finite value here");
    }
    CAROM_TRY(friction(l));
    CAROM_TRY(find_frame(l));
    return find_drift(l);
}

carom_status carom_linear_make(carom_linear *l, const carom_model *m, const carom_modes_def *def, carom_error *err) {
    *l = (carom_linear){.nrank = 0};
    carom_equilibrium rest = {.q = NULL};
    carom_status status = def->q ? CAROM_OK : carom_equilibrium_find(&rest, m, NULL, err);
    if (status == CAROM_OK) status = carom_grip_open(&l->grip, m, err);
    if (status == CAROM_OK) {
        carom_copy(l->grip.p.q, def->q ? def->q : rest.q, l->grip.p.nq);
        carom_model_at_rest(m, l->grip.p.q, l->grip.p.v);
        status = carom_steady_open(&l->steady, &l->grip.p, true, err);
    }
    if (status == CAROM_OK) {
        if (!def->q) carom_copy(l->steady.z, rest.signals, l->steady.m);
        carom_steady_hold(&l->steady, &l->grip.p);
        status = linearise(l, def);
    }
    carom_equilibrium_free(&rest);
    return status;
}

void carom_linear_free(carom_linear *l) {
    for (int i = 0; i < l->nrank; ++i) free(l->rank[i].left);
    free(l->rank);
    free(l->frame);
    free(l->drift);
    carom_steady_close(&l->steady);
    carom_grip_close(&l->grip);
    *l = (carom_linear){.nrank = 0};
}

void carom_linear_multiply(const carom_linear *l, carom_linear_part part, const double *x, double *y) {
    const carom_point *p = &l->grip.p;
    carom_matrix_mul(y, part == CAROM_LINEAR_M ? p->M : part == CAROM_LINEAR_C ? p->C : p->K, x);
    for (int i = 0; part != CAROM_LINEAR_M && i < l->nrank; ++i)
        if (l->rank[i].rate == (part == CAROM_LINEAR_C))
            carom_axpy(y, carom_dot(l->rank[i].right, x, p->nv), l->rank[i].left, p->nv);
}
