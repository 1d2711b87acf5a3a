// range.c: the set of equilibria that friction allows: the least and the largest value of a coordinate on it.
//
//     f(q, 0) + W lambda = 0,   g = 0 over joints and closed contacts,   |lambda_T| <= mu lambda_N where a contact
//     sticks     (RSE-1)
//
// Beside an equilibrium the equations are linearised: their null space holds all that friction leaves free.  A linear
// program in it, within a trust region, and Newton's method back to the equations, until nothing is gained.  Friction
// along two tangents is a polygon, with a side where the force is at present.
#include "dynamics/shoot.h"
#include "linalg/dense.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double CUT = 1e-11;      // of a matrix that has cancelled
static const double GAINED = 1e-12;   // of the size of the model: a step that gains less is the last one
static const double FEASIBLE = 1e-10; // of forces and lengths: a law that is kept
static const double CORRECTED = 1e-12; // of forces and lengths: where Newton's method ends, well within FEASIBLE
static const double BEYOND = 1e6;      // sizes of the model: the set has no end
static const double DEPENDENT = 1e-9;  // of a row: what is left of one that follows from others
static const double ACROSS = 1e-10;    // of the aim: no direction along the active laws gains more
static const double PULLS = 1e-12;     // relative: multipliers and rates smaller than that are rounding
enum { SIDES = 16, MOST = 200, PIVOTS = 2000 }; // a polygon within 2 % of the circle; bounds of the work

typedef struct set {
    carom_point p;
    const carom_equilibrium *rest;
    int nv, nl, n, rows; // n = nv + nl unknowns, rows equations
    double *lambda, *E, *J, *A, *b, *z, *work, *basis, *c, *G, *h, *y, *d, *row;
    int *col, m, k; // inequalities; free directions
    double length, force;
    carom_error *err;
} set;

static double *entry(const set *s, int i, int j) { return s->J + (size_t)i * (size_t)s->n + (size_t)j; } // by rows

// Equations and their derivatives at the point, in units of length and force.
static carom_status evaluate(set *s) {
    carom_point *p = &s->p;
    carom_local *L = &p->L;
    CAROM_TRY(carom_point_look(p, s->err));
    CAROM_TRY(carom_point_directions(p, L, s->err));
    CAROM_TRY(carom_point_tangent(p, s->lambda, s->err));
    carom_zero(s->J, (ptrdiff_t)s->n * s->n), carom_zero(s->E, s->n);
    carom_copy(s->E, p->f, s->nv);
    for (int j = 0; j < s->nv; ++j) {
        carom_zero(s->d, s->nv), carom_zero(s->row, s->nv);
        s->d[j] = 1;
        carom_matrix_muladd(s->row, -1, p->K, s->d);
        for (int i = 0; i < s->nv; ++i) *entry(s, i, j) = s->row[i] * s->length / s->force;
    }
    s->rows = s->nv;
    for (int b = 0; b < L->nb; ++b) {
        double d[CAROM_TANGENTS] = {0};
        const int first = L->at[b], tangents = L->at[b + 1] - first - 1;
        const bool slides = L->id[b] >= p->ne && tangents > 0 &&
                            s->rest->contact[carom_point_id(p, L->id[b]) - carom_model_system(p->model)->ne] ==
                                CAROM_EQUILIBRIUM_SLIDES &&
                            carom_point_slides(p, b, d);
        for (int k = first; k < L->at[b + 1]; ++k) {
            carom_zero(s->d, s->nv), carom_column_axpy(s->d, 1, &L->W, k);
            carom_axpy(s->E, s->lambda[k], s->d, s->nv);
            for (int i = 0; i < s->nv; ++i) *entry(s, i, s->nv + k) = s->d[i];
            if (k == first)
                for (int i = 0; i < s->nv; ++i) *entry(s, s->rows, i) = s->d[i];
        }
        s->E[s->rows++] = p->g[L->id[b]] / s->length;
        for (int k = 0; k < tangents && slides; ++k) { // its friction follows from its force
            const double mu = p->contacts[L->id[b] - p->ne].friction;
            *entry(s, s->rows, s->nv + first + 1 + k) = 1, *entry(s, s->rows, s->nv + first) = -mu * d[k];
            s->E[s->rows++] = (s->lambda[first + 1 + k] - mu * d[k] * s->lambda[first]) / s->force;
        }
    }
    for (int i = 0; i < s->nv; ++i) s->E[i] /= s->force;
    return CAROM_OK;
}

static void move(set *s, const double *z) {
    carom_point *p = &s->p;
    for (int i = 0; i < s->nv; ++i) s->d[i] = s->length * z[i];
    if (p->sys.move) p->sys.move(p->sys.model, p->q, p->q, 1, s->d);
    else carom_axpy(p->q, 1, s->d, s->nv);
    for (int k = 0; k < s->nl; ++k) s->lambda[k] += s->force * z[s->nv + k];
}

// Newton's method to the nearest solution.
static carom_status correct(set *s) {
    for (int round = 0; round < 20; ++round) {
        CAROM_TRY(evaluate(s));
        if (carom_norm_max(s->E, s->rows) < CORRECTED) return CAROM_OK;
        for (int j = 0; j < s->n; ++j)
            for (int i = 0; i < s->n; ++i)
                s->A[(size_t)j * (size_t)s->n + (size_t)i] = i < s->rows ? *entry(s, i, j) : 0;
        for (int i = 0; i < s->n; ++i) s->b[i] = i < s->rows ? -s->E[i] : 0;
        carom_dense_shortest(s->A, s->n, s->n, CUT, s->col, s->work, s->b, s->z);
        move(s, s->z);
    }
    return carom_norm_max(s->E, s->rows) < FEASIBLE ? CAROM_OK : CAROM_NOT_CONVERGED;
}

// Orthonormal rows of J, then what is perpendicular to them: the free directions, s->k of them from *first on.
static int free_directions(set *s) {
    int rank = 0;
    for (int r = 0; r < s->rows && rank < s->n; ++r) {
        double *x = s->basis + (size_t)rank * (size_t)s->n;
        carom_copy(x, entry(s, r, 0), s->n);
        const double size = carom_length(x, s->n), left = size > 0 ? carom_basis_reject(s->basis, rank, x, s->n) : 0;
        if (!(left > DEPENDENT * size) || size == 0) continue;
        for (int i = 0; i < s->n; ++i) x[i] /= left;
        ++rank;
    }
    carom_basis_complete(s->basis, rank, s->n, s->d);
    s->k = s->n - rank;
    return rank;
}

// x.z <= bound, in free directions.
static void add_limit(set *s, const double *x, double bound, int first) {
    double *g = s->G + (size_t)s->m * (size_t)s->n;
    for (int i = 0; i < s->k; ++i) g[i] = carom_dot(s->basis + (size_t)(first + i) * (size_t)s->n, x, s->n);
    s->h[s->m++] = fmax(0, bound);
}

// Coulomb's law of contacts that stick, and the trust region.
static carom_status limits(set *s, int first, double trust) {
    carom_point *p = &s->p;
    carom_local *L = &p->L;
    const carom_system *all = carom_model_system(p->model);
    s->m = 0;
    for (int b = 0; b < L->nb; ++b) {
        const int k = L->at[b], tangents = L->at[b + 1] - k - 1, c = L->id[b] - p->ne;
        if (c < 0) continue;
        carom_zero(s->row, s->n);
        s->row[s->nv + k] = -1;
        add_limit(s, s->row, s->lambda[k] / s->force, first);
        if (tangents == 0 || s->rest->contact[carom_point_id(p, L->id[b]) - all->ne] != CAROM_EQUILIBRIUM_STICKS)
            continue;
        const double mu = p->contacts[c].friction, now = tangents > 1 ? atan2(s->lambda[k + 2], s->lambda[k + 1]) : 0;
        for (int side = 0; side < (tangents > 1 ? SIDES : 2); ++side) {
            const double angle = now + side * 8 * atan(1) / (tangents > 1 ? SIDES : 2),
                         e[2] = {cos(angle), tangents > 1 ? sin(angle) : 0};
            carom_zero(s->row, s->n);
            double bound = mu * s->lambda[k];
            s->row[s->nv + k] = -mu;
            for (int t = 0; t < tangents; ++t) s->row[s->nv + k + 1 + t] = e[t], bound -= e[t] * s->lambda[k + 1 + t];
            add_limit(s, s->row, bound / s->force, first);
        }
    }
    for (int i = 0; i < s->k; ++i)
        for (int side = -1; side <= 1; side += 2) {
            double *g = s->G + (size_t)s->m * (size_t)s->n;
            carom_zero(g, s->k);
            g[i] = side, s->h[s->m++] = trust;
        }
    return CAROM_OK;
}

// Largest c.y with G y <= h from y = 0, which keeps all of them: along the projected gradient from limit to limit.
// Limits that hold back are dropped by their multipliers.
static void climb(set *s, double *work, int *active) {
    const int k = s->k;
    int n = 0;
    double *A = work, *x = A + (size_t)k * (size_t)k, *d = x + k, *B = d + k, *scratch = B + (size_t)k * (size_t)k;
    carom_zero(s->y, k);
    for (int round = 0; round < PIVOTS; ++round) {
        for (int j = 0; j < n; ++j) { // multipliers: A A' x = A c
            x[j] = carom_dot(s->G + (size_t)active[j] * (size_t)s->n, s->c, k);
            for (int i = 0; i < n; ++i)
                A[i + j * n] =
                    carom_dot(s->G + (size_t)active[i] * (size_t)s->n, s->G + (size_t)active[j] * (size_t)s->n, k);
        }
        if (n > 0) {
            carom_copy(B, x, n);
            carom_dense_shortest(A, n, n, CUT, s->col, scratch, B, x);
        }
        carom_copy(d, s->c, k);
        for (int j = 0; j < n; ++j) carom_axpy(d, -x[j], s->G + (size_t)active[j] * (size_t)s->n, k);
        if (carom_length(d, k) <= ACROSS * carom_length(s->c, k) || n == k) {
            int worst = -1;
            for (int j = 0; j < n; ++j)
                if (x[j] < -PULLS * carom_length(s->c, k) && (worst < 0 || x[j] < x[worst])) worst = j;
            if (worst < 0) return;
            active[worst] = active[--n];
            continue;
        }
        double step = INFINITY;
        int hit = -1;
        for (int i = 0; i < s->m; ++i) {
            const double *g = s->G + (size_t)i * (size_t)s->n, rate = carom_dot(g, d, k),
                         room = s->h[i] - carom_dot(g, s->y, k);
            bool held = false;
            for (int j = 0; j < n; ++j) held = held || active[j] == i;
            if (held || !(rate > PULLS * carom_length(g, k) * carom_length(d, k))) continue;
            if (fmax(0, room) / rate < step) step = fmax(0, room) / rate, hit = i;
        }
        if (hit < 0) return;
        carom_axpy(s->y, step, d, k);
        active[n++] = hit;
    }
}

static carom_status extreme(set *s, int at, double way, double *value, double *work, int *active) {
    double trust = 1, best;
    CAROM_TRY(correct(s));
    best = s->p.q[at];
    double *q = work, *lambda = q + s->p.nq;
    work = lambda + s->nl;
    for (int round = 0; round < MOST; ++round) {
        const int first = free_directions(s);
        carom_copy(q, s->p.q, s->p.nq), carom_copy(lambda, s->lambda, s->nl);
        if (s->k == 0) break;
        carom_zero(s->row, s->n);
        s->row[at] = way;
        for (int i = 0; i < s->k; ++i) s->c[i] = carom_dot(s->basis + (size_t)(first + i) * (size_t)s->n, s->row, s->n);
        if (!(carom_length(s->c, s->k) > DEPENDENT)) break; // friction does not move it
        CAROM_TRY(limits(s, first, trust));
        climb(s, work, active);
        carom_zero(s->z, s->n);
        for (int i = 0; i < s->k; ++i) carom_axpy(s->z, s->y[i], s->basis + (size_t)(first + i) * (size_t)s->n, s->n);
        carom_copy(s->E, s->z, s->n);
        move(s, s->E);
        const carom_status status = correct(s);
        const double gain = way * (s->p.q[at] - best);
        if (status != CAROM_OK || gain < 0) { // too far
            carom_copy(s->p.q, q, s->p.nq), carom_copy(s->lambda, lambda, s->nl);
            CAROM_TRY(correct(s));
            trust /= 4;
            if (trust < GAINED) break;
            continue;
        }
        best = s->p.q[at];
        if (fabs(best) > BEYOND * s->length) return *value = way * INFINITY, CAROM_OK;
        if (gain < GAINED * s->length) break;
        if (carom_norm_max(s->y, s->k) > 0.9 * trust) trust *= 2; // the step was held by it
    }
    *value = best;
    for (int id = s->p.ne; id < s->p.ne + s->p.nc; ++id)
        if (s->p.g[id] < -FEASIBLE * s->length)
            return carom_fail(
                s->err, CAROM_UNSUPPORTED,
                "'%.60s' closes inside the range, which ends there or continues with it closed; this is not supported",
                carom_model_constraint(s->p.model, carom_point_id(&s->p, id)));
    return CAROM_OK;
}

static void begin(set *s) {
    const carom_equilibrium *r = s->rest;
    carom_copy(s->p.q, r->q, s->p.nq);
    for (int b = 0; b < s->p.L.nb; ++b) {
        const int of = carom_point_id(&s->p, s->p.L.id[b]);
        for (int i = 0, k = s->p.L.at[b]; i < r->nforce && k < s->p.L.at[b + 1]; ++i)
            if (r->force[i].id == of) s->lambda[k++] = r->force[i].value;
    }
}

carom_status carom_equilibrium_range(const carom_model *m, const carom_equilibrium *rest, int coordinate,
                                     double range[2], carom_error *err) {
    carom_error own = {0};
    if (!err) err = &own;
    if (!m || !rest || !rest->q || !range)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "a range needs a model, an equilibrium of it and a result pointer");
    if (rest->nq != rest->nv || coordinate < 0 || coordinate >= rest->nq)
        return carom_fail(err, CAROM_UNSUPPORTED, "ranges of coordinates are not supported with rotations in space");
    CAROM_TRY(carom_point_uncontrolled(m, "ranges of coordinates", err));
    set s = {.rest = rest, .err = err};
    carom_status status = carom_point_open(&s.p, m, err);
    if (status != CAROM_OK) return carom_point_close(&s.p), status;
    const carom_system *all = carom_model_system(m);
    for (int id = 0; id < s.p.ne + s.p.nc; ++id)
        if (id < s.p.ne || rest->contact[carom_point_id(&s.p, id) - all->ne] != CAROM_EQUILIBRIUM_OPEN)
            s.p.L.id[s.p.L.nb++] = id;
    carom_copy(s.p.q, rest->q, s.p.nq);
    status = carom_point_look(&s.p, err);
    if (status == CAROM_OK) status = carom_point_directions(&s.p, &s.p.L, err);
    s.nv = s.p.nv, s.nl = s.p.L.at[s.p.L.nb], s.n = s.nv + s.nl;
    for (int i = 0; i < s.p.nq; ++i) s.length = fmax(s.length, fabs(rest->q[i]));
    for (int i = 0; i < rest->nforce; ++i) s.force = fmax(s.force, fabs(rest->force[i].value));
    if (!(s.length > 0)) s.length = 1;
    if (!(s.force > 0)) s.force = 1;
    const size_t n = (size_t)s.n, m_most = (size_t)(s.p.nc + 1) * (SIDES + 2) + 2 * n;
    double **part[] = {&s.lambda, &s.E, &s.J, &s.A, &s.b, &s.z, &s.work,
                       &s.basis,  &s.c, &s.G, &s.h, &s.y, &s.d, &s.row};
    const size_t size[] = {n, n, n * n, n * n, n, n, 3 * n, n * n, n, m_most * n, m_most, n, n, n};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        *part[i] = calloc(size[i] + 1, sizeof(double));
        if (!*part[i]) status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the range of an equilibrium");
    }
    double *work = calloc(2 * n * n + 8 * n + (size_t)s.p.nq + 1, sizeof *work);
    int *active = calloc(n + 1, sizeof *active);
    s.col = calloc(n + 1, sizeof *s.col);
    if (!work || !active || !s.col)
        status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the range of an equilibrium");
    for (int side = 0; side < 2 && status == CAROM_OK; ++side) {
        begin(&s);
        status = extreme(&s, coordinate, side ? 1 : -1, &range[side], work, active);
        if (status == CAROM_NOT_CONVERGED)
            carom_fail(err, status, "the neighbouring equilibria could not be followed");
    }
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) free(*part[i]);
    free(work), free(active), free(s.col);
    carom_point_close(&s.p);
    return status;
}
