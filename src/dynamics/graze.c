// graze.c: orbits with a weak impact.
//
// The map over a period has infinite slope at grazing, the branch has not: with y the approach speed, the state x
// before the impact, the instant t of it and the parameter p are smooth functions of y down to y = 0.  They solve
//
//     phi(R(x, y), t, T, p) = x,   g(x, t, p) = 0,   W'v + w = -y (GRZ-1)
//
// with R the impact and phi the motion over a period, in which the contact is not looked at just before its end.
// Newton's method takes dR/dx for 1: its error is of the order of y.
#include "dynamics/graze.h"
#include "base/tolerance.h"
#include "linalg/dense.h"
#include "linalg/matrix.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double COAST = 0.05, REST = 0.5;    // of the period, and of the time since the event before it: the time
                                                 // before the impact in which no contact is looked at
static const double GOOD = 1e-12, ENOUGH = 1e-9; // residuals: to end with; where they fall no further
static const double WORSE = 1e3;                // times the least residual: Newton's method diverges
static const double FAR = 0.3;                   // of a step, in typical sizes
static const double CUT = 1e-12;                 // of a matrix that has cancelled
static const double AT_EDGE = 1e-9;              // of the parameter's size: there
enum { MOST = 25, HALVINGS = 8, CUTS = 40 }; // Newton steps: it is damped; of the way in y, where it fails; to an edge

static double *column(double *A, int j, int n) { return A + (size_t)j * (size_t)n; }

// The time since the last event before the one that is hardly touched, at most a period.
static double since_event(const carom_shooter *s, double t, double T) {
    double since = T;
    for (int i = 0; i < s->nhits; ++i) {
        const double before = t - s->hit[i].t, by = before - T * floor(before / T);
        if (fmin(by, T - by) > CAROM_INSTANT * T) since = fmin(since, by);
    }
    return since;
}

carom_status carom_graze_open(carom_graze *g, carom_cycle *c, const carom_touching *touch, double size) {
    const carom_shooter *s = &c->s;
    const size_t x = (size_t)s->nx, n = (size_t)s->n, N = 2 * n + 4, nc = (size_t)s->p.nc;
    *g = (carom_graze){.c = c, .contact = touch->contact, .t = touch->t, .T = c->T, .size = size};
    g->coast = fmin(COAST, REST * since_event(s, touch->t, c->T) / c->T);
    double **part[] = {&g->x, &g->after, &g->last, &g->mode, &g->way, &g->A, &g->b, &g->z, &g->work};
    const size_t length[] = {x, x, x, nc, n + 2, N * N, N, N, 4 * N + n};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        *part[i] = calloc(length[i] + 1, sizeof(double));
        if (!*part[i]) return carom_orbit_no_memory(c->err);
    }
    g->with = calloc(nc + 1, sizeof *g->with), g->col = calloc(N, sizeof *g->col);
    if (!g->with || !g->col) return carom_orbit_no_memory(c->err);
    carom_copy(g->x, touch->x, s->nx), carom_copy(g->mode, touch->mode, s->p.nc);
    for (int i = 0; i < s->p.nc; ++i) g->with[i] = g->mode[i] != CAROM_MODE_OPEN || i == g->contact;
    return CAROM_OK;
}

void carom_graze_close(carom_graze *g) {
    free(g->x), free(g->after), free(g->last), free(g->mode), free(g->way), free(g->A), free(g->b), free(g->z),
        free(g->work), free(g->with), free(g->col);
    *g = (carom_graze){0};
}

// Gap and its rate at x.
static carom_status look(carom_graze *g, double *gap, double *rate) {
    carom_shooter *s = &g->c->s;
    const int at = carom_model_system(s->task.base)->ne + g->contact;
    carom_path *w = &s->path;
    CAROM_TRY(carom_shooter_stand(s, g->t, g->x, g->mode, g->with));
    *gap = w->p.g[w->p.ne + g->contact];
    if (carom_variation_gaps(s->x, g->t, g->x, (carom_direction){1, g->x + s->nq, NULL, NULL}, w->gaps) != CAROM_OK)
        return carom_fail(s->err, CAROM_USER, "t = %.9g: the derivatives of the model have no finite value here", g->t);
    *rate = w->gaps[at];
    return CAROM_OK;
}

carom_status carom_graze_speed(carom_graze *g, double *y) {
    double gap = 0, rate = 0;
    CAROM_TRY(look(g, &gap, &rate));
    *y = -rate;
    return CAROM_OK;
}

double carom_graze_typical(const carom_graze *g) {
    carom_shooter *s = &g->c->s;
    const carom_point *p = &s->path.p;
    double speed = 0;
    if (carom_shooter_stand(s, g->t, g->x, g->mode, g->with) != CAROM_OK) return 0;
    for (int b = 0; b < p->L.nb; ++b) {
        if (p->L.id[b] != p->ne + g->contact) continue;
        carom_column_expand(g->work, &p->L.W, p->L.at[b]);
        for (int i = 0; i < s->nv; ++i) speed = fmax(speed, fabs(g->work[i]) * s->scale[s->nv + i]);
    }
    return speed;
}

// One change along M^-1 out, over joints, closed contacts and the one that is struck, whose normal row asks for `want`;
// the others keep what they have.
static carom_status change(carom_graze *g, bool impact, double want, double *dx) {
    carom_shooter *s = &g->c->s;
    carom_path *w = &s->path;
    const carom_point *p = &w->p;
    const carom_local *L = &p->L;
    int n = 0;
    for (int b = w->nj; b < L->nb; ++b) {
        double d[CAROM_TANGENTS] = {0};
        const bool contact = L->id[b] >= p->ne, hit = L->id[b] == p->ne + g->contact,
                   slides = contact && impact && carom_point_slides(p, b, d);
        const int rows =
            hit || (contact && (slides || g->mode[L->id[b] - p->ne] == CAROM_MODE_SLIP)) ? 1 : L->at[b + 1] - L->at[b];
        for (int k = L->at[b]; k < L->at[b] + rows; ++k) {
            double *X = w->X + (size_t)n * (size_t)s->nv;
            carom_column_expand(X, &L->W, k);
            for (int i = k + 1; slides && i < L->at[b + 1]; ++i)
                carom_column_axpy(X, p->contacts[L->id[b] - p->ne].friction * d[i - k - 1], &L->W, i);
            carom_path_invert(w, X, NULL);
            w->r[n] = hit ? want : 0;
            w->row[n++] = k;
        }
    }
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            w->G[i + k * n] = carom_column_dot(&L->W, w->row[i], w->X + (size_t)k * (size_t)s->nv);
    carom_path_solve(w, w->G, n, w->r);
    carom_zero(dx, s->nv);
    for (int k = 0; k < n; ++k) carom_axpy(dx, w->r[k], w->X + (size_t)k * (size_t)s->nv, s->nv);
    return CAROM_OK;
}

// x is on the contact and approaches it with y, exactly; `after` is the state behind the impact.
static carom_status strike(carom_graze *g, double y) {
    carom_shooter *s = &g->c->s;
    const carom_system *sys = carom_model_system(s->task.base);
    double gap = 0, rate = 0, *dx = g->work + s->n;
    for (int round = 0; round < 3; ++round) {
        CAROM_TRY(look(g, &gap, &rate));
        CAROM_TRY(change(g, false, -gap, dx));
        if (sys->move) sys->move(sys->model, g->x, g->x, 1, dx);
        else carom_axpy(g->x, 1, dx, s->nv);
    }
    CAROM_TRY(look(g, &gap, &rate));
    CAROM_TRY(change(g, false, -y - rate, dx));
    carom_axpy(g->x + s->nq, 1, dx, s->nv);
    CAROM_TRY(look(g, &gap, &rate));
    const carom_contact *law = &s->path.p.contacts[g->contact];
    const double e =
        law->varies && y > 0 ? sys->restitution(sys->model, s->path.p.work, g->contact, y) : law->restitution;
    CAROM_TRY(change(g, true, (1 + e) * y, dx));
    carom_copy(g->after, g->x, s->nx);
    carom_axpy(g->after + s->nq, 1, dx, s->nv);
    return CAROM_OK;
}

// How gap and rate change along a direction; the rate is that of W'v + w.
static carom_status slopes(carom_graze *g, carom_direction d, double *gap, double *rate) {
    carom_shooter *s = &g->c->s;
    carom_path *w = &s->path;
    if (carom_variation_gaps(s->x, g->t, g->x, d, w->gaps) != CAROM_OK ||
        carom_variation_rates(s->x, g->t, g->x, g->x + s->nq, d, w->full) != CAROM_OK)
        return carom_fail(s->err, CAROM_USER, "t = %.9g: the derivatives of the model have no finite value here", g->t);
    *gap = w->gaps[carom_model_system(s->task.base)->ne + g->contact],
    *rate = w->full[w->at_full[w->p.ne + g->contact]];
    return CAROM_OK;
}

// (GRZ-1)  Unknowns: z, time/T, sigma, parameter/size; the last two equations are those of gap and rate.
static carom_status assemble(carom_graze *g, double *gap_row, double *rate_row) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    const int n = s->n, m = s->m, N = m + c->nsym + 2, time = m, par = N - 1;
    double *d = g->work, *along = g->work + n, *A = g->A;
    carom_zero(A, (ptrdiff_t)N * N);
    for (int j = 0; j < m; ++j) {
        for (int i = 0; i < m; ++i)
            column(A, j, N)[i] = carom_dot(cycle_column(s->Z, i, n), cycle_column(s->Y, j, n), n) - (i == j);
        for (int i = 0; i < n; ++i) d[i] = s->scale[i] * cycle_column(s->Z, j, n)[i];
        CAROM_TRY(slopes(g, (carom_direction){0, d, d + s->nv, NULL}, &gap_row[j], &rate_row[j]));
    }
    for (int i = 0; i < m; ++i) {
        double x = carom_dot(cycle_column(s->Z, i, n), s->rate_1, n);
        for (int j = 0; j < m && !c->timeless; ++j)
            x -= (column(A, j, N)[i] + (i == j)) * carom_dot(cycle_column(s->Z, j, n), s->rate_0, n);
        column(A, time, N)[i] = x * g->T;
    }
    gap_row[time] = rate_row[time] = 0;
    if (!c->timeless) {
        CAROM_TRY(slopes(g, (carom_direction){1, NULL, NULL, NULL}, &gap_row[time], &rate_row[time]));
        gap_row[time] *= g->T, rate_row[time] *= g->T;
    }
    for (int k = 0; k < c->nsym; ++k) {
        gap_row[time + 1 + k] = rate_row[time + 1 + k] = 0;
        for (int j = 0; j < m; ++j)
            column(A, time + 1 + k, N)[j] = -carom_dot(cycle_column(s->Z, j, n), cycle_column(c->sym, k, n), n);
    }
    if (c->conservative) { // the energy is what it must be: (ORB-5)
        CAROM_TRY(carom_cycle_slope(c, g->after));
        const double steep = fmax(carom_length(c->slope, m), CAROM_NOT_ZERO);
        for (int i = 0; i < m; ++i) column(A, par, N)[i] = c->slope[i] / steep;
        gap_row[par] = rate_row[par] = 0;
        for (int k = 0; k < c->nsym; ++k)
            for (int j = 0; j < m; ++j) column(A, j, N)[m + k] = column(A, time + 1 + k, N)[j];
        return CAROM_OK;
    }
    for (int i = 0; i < n; ++i)
        along[i] = g->size * (s->p_1[i] - s->p_0[i] + s->rate_1[i] * (c->expression ? c->T_p : 0)),
        d[i] = s->scale[i] * s->p_0[i];
    for (int i = 0; i < m; ++i) column(A, par, N)[i] = carom_dot(cycle_column(s->Z, i, n), along, n);
    CAROM_TRY(slopes(g, (carom_direction){0, d, d + s->nv, s->way}, &gap_row[par], &rate_row[par]));
    gap_row[par] *= g->size, rate_row[par] *= g->size;
    // one row for each direction that the model does not depend on
    for (int k = 0; k < c->nsym; ++k)
        for (int j = 0; j < m; ++j) column(A, j, N)[m + k] = column(A, time + 1 + k, N)[j];
    return CAROM_OK;
}

static void put_row(carom_graze *g, int row, const double *x, int N) {
    const double size = carom_norm_max(x, N);
    for (int j = 0; j < N; ++j) column(g->A, j, N)[row] = x[j] / fmax(size, CAROM_NOT_ZERO);
}

// The orbit beside it that is not struck, by the parameter: (P - 1) z + ... = 0 without the rows of the gap, at the
// phase where the gap is least.
static bool find_way(carom_graze *g, const double *gap_row, const double *rate_row) {
    const carom_cycle *c = g->c;
    const carom_shooter *s = &c->s;
    const int N = s->m + c->nsym + 2;
    carom_zero(g->b, N);
    put_row(g, N - 2, rate_row, N);
    for (int j = 0; j < N; ++j) column(g->A, j, N)[N - 1] = j == N - 1;
    g->b[N - 1] = 1;
    if (carom_dense_shortest(g->A, N, N, CUT, g->col, g->work, g->b, g->z) < N) return false;
    carom_zero(g->way, s->n + 2);
    for (int j = 0; j < s->m; ++j) carom_axpy(g->way, g->z[j], cycle_column(s->Z, j, s->n), s->n);
    for (int i = 0; i < s->n; ++i) g->way[i] += g->size * s->p_0[i];
    g->way[s->n] = g->z[s->m], g->way[s->n + 1] = 1;
    g->rises = carom_dot(gap_row, g->z, N);
    return true;
}

static carom_status newton(carom_graze *g, double y, double *residual) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    double last = INFINITY, rows[2][64], *row[2] = {rows[0], rows[1]}, *more = NULL;
    carom_status status = CAROM_OK;
    if (2 * s->n + 4 > 64) {
        more = calloc(2 * (size_t)(2 * s->n + 4), sizeof *more);
        if (!more) return carom_orbit_no_memory(c->err);
        row[0] = more, row[1] = more + 2 * s->n + 4;
    }
    for (int i = 0; i < MOST && status == CAROM_OK; ++i) {
        status = strike(g, y);
        s->coast = g->coast * g->T;
        if (status == CAROM_OK) status = carom_shoot(s, g->t, g->T, g->after, true, 1);
        s->coast = 0;
        if (status != CAROM_OK) break;
        carom_cycle_return(c, g->x, true, c->r);
        *residual = carom_norm_max(c->r, s->n);
        const int N = s->m + c->nsym + 2;
        status = assemble(g, row[0], row[1]);
        const bool done = *residual < GOOD || (*residual<ENOUGH && * residual> 0.5 * last);
        if (done || status != CAROM_OK) {
            if (status == CAROM_OK && (c->conservative || !find_way(g, row[0], row[1]))) g->rises = 0;
            break;
        }
        if (!(*residual < WORSE * last)) status = CAROM_NOT_CONVERGED;
        last = fmin(last, *residual);
        put_row(g, N - 2, row[0], N), put_row(g, N - 1, row[1], N);
        carom_zero(g->b, N);
        for (int k = 0; k < s->m; ++k) g->b[k] = -carom_dot(cycle_column(s->Z, k, s->n), c->r, s->n);
        carom_dense_shortest(g->A, N, N, CUT, g->col, g->work, g->b, g->z);
        // the range of the parameter does not tell how far equations are linear; an energy is no unknown of its own
        const double far = carom_norm_max(g->z, c->conservative ? N : N - 1), by = far > FAR ? FAR / far : 1;
        if (!isfinite(far)) status = CAROM_NOT_CONVERGED;
        if (status != CAROM_OK) break;
        const double dp = c->conservative ? 0 : by * g->z[N - 1] * g->size;
        carom_zero(c->by, s->n);
        for (int j = 0; j < s->m; ++j) carom_axpy(c->by, by * g->z[j], cycle_column(s->Z, j, s->n), s->n);
        carom_axpy(c->by, dp, s->p_0, s->n);
        carom_copy(c->y, g->x, s->nx);
        if (c->timeless) g->T *= 1 + by * g->z[s->m];
        else g->t += by * g->z[s->m] * g->T;
        status = c->conservative ? CAROM_OK : carom_cycle_set(c, s->value + dp);
        if (c->expression) g->T = c->T;
        if (status == CAROM_OK) status = carom_shooter_move(s, c->y, c->by, g->x);
        if (c->conservative) s->value = carom_cycle_energy(c, g->x);
        if (i == MOST - 1) status = CAROM_NOT_CONVERGED;
    }
    free(more);
    return status;
}

carom_status carom_graze_solve(carom_graze *g, double y) {
    double residual = INFINITY;
    const carom_status status = newton(g, y, &residual);
    g->y = y;
    if (status == CAROM_NOT_CONVERGED)
        return carom_fail(g->c->err, CAROM_NOT_CONVERGED,
                          "no orbit with an impact of speed %.3g was found near the one that grazes (residual %.2g)",
                          y, residual);
    return status;
}

// An orbit to which Newton's method returns; its x is g->last.
typedef struct solution {
    double y, t, T, value;
} solution;

static solution keep(carom_graze *g) {
    carom_copy(g->last, g->x, g->c->s.nx);
    return (solution){g->y, g->t, g->T, g->c->s.value};
}

static carom_status put_back(carom_graze *g, const solution *to) {
    carom_copy(g->x, g->last, g->c->s.nx);
    g->y = to->y, g->t = to->t, g->T = to->T;
    return carom_cycle_set(g->c, to->value);
}

// On the chord from there to the present orbit, where the speed is y.
static carom_status guess(carom_graze *g, const solution *from, double y) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    const double back = (y - g->y) / (g->y - from->y);
    carom_shooter_apart(s, g->last, g->x, c->by);
    for (int i = 0; i < s->n; ++i) c->by[i] *= back;
    carom_copy(c->y, g->x, s->nx);
    CAROM_TRY(carom_shooter_move(s, c->y, c->by, g->x));
    g->t += back * (g->t - from->t), g->T += back * (g->T - from->T);
    CAROM_TRY(carom_cycle_set(c, s->value + back * (s->value - from->value)));
    if (c->expression) g->T = c->T;
    return CAROM_OK;
}

// The speed at which the parameter is `edge`, between that of `from` and the present one, by regula falsi.
static carom_status to_edge(carom_graze *g, const solution *from, double edge) {
    carom_bracket k = {
        .a = from->y, .b = g->y, .f_a = from->value - edge, .f_b = g->c->s.value - edge};
    for (int i = 0; i < CUTS && fabs(g->c->s.value - edge) > AT_EDGE * g->size; ++i) {
        const double y = carom_bracket_next(&k);
        CAROM_TRY(guess(g, from, y));
        CAROM_TRY(carom_graze_solve(g, y));
        const double f = g->c->s.value - edge;
        carom_bracket_cut(&k, y, f, (f < 0) == (k.f_a < 0));
    }
    return CAROM_OK;
}

// Newton's method may end at another orbit.
static bool is_near(carom_graze *g, const double *from) {
    carom_shooter *s = &g->c->s;
    carom_shooter_apart(s, from, g->x, g->work);
    return carom_norm_max(g->work, s->n) < FAR;
}

carom_status carom_graze_reach(carom_graze *g, double y, const double *range, bool *edge) {
    const carom_shooter *s = &g->c->s;
    double by = y - g->y;
    for (int halvings = 0; g->y != y;) {
        const solution from = keep(g);
        const carom_status status = carom_graze_solve(g, fabs(y - from.y) > 1.5 * fabs(by) ? from.y + by : y);
        if (status == CAROM_OK && is_near(g, g->last)) {
            const double inside = range ? fmin(fmax(s->value, range[0]), range[1]) : s->value;
            if (s->value == inside) {
                by *= 2;
                continue;
            }
            return *edge = true, to_edge(g, &from, inside);
        }
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (++halvings > HALVINGS) return status != CAROM_OK ? status : CAROM_NOT_CONVERGED;
        by /= 2;
        CAROM_TRY(put_back(g, &from));
    }
    return CAROM_OK;
}

carom_status carom_graze_orbit(carom_graze *g, double clear) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    carom_copy(c->x, g->after, s->nx);
    if (g->y == 0 && clear > 0) {
        if (g->rises == 0)
            return carom_fail(c->err, CAROM_SINGULAR, "the gap does not change with the parameter where it is touched");
        const double by = clear / g->rises;
        for (int i = 0; i < s->n; ++i) c->by[i] = by * g->way[i];
        CAROM_TRY(carom_cycle_set(c, s->value + by * g->size));
        if (c->expression) g->T = c->T;
        if (c->timeless) g->T *= 1 + by * g->way[s->n];
        else g->t += by * g->way[s->n] * g->T;
        carom_copy(c->y, g->x, s->nx);
        CAROM_TRY(carom_shooter_move(s, c->y, c->by, c->x));
    }
    c->T = g->T, c->t_0 = c->timeless ? 0 : fmod(g->t, g->T);
    if (c->t_0 < 0) c->t_0 += g->T;
    s->linear = false;
    return carom_cycle_away(c);
}
