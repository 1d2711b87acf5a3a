// graze.c: orbits with weak impacts.
//
// The map over a period has infinite slope at grazing, the branch has not: with y the approach speed, the state x
// before the impact, the instant t of it and the parameter p are smooth functions of y down to y = 0.  They solve
//
//     phi(R(x, y), t, T, p) = x,   g(x, t, p) = 0,   W'v + w = -y (GRZ-1)
//
// with R the impact and phi the motion over a period, in which the contact is not looked at just before its end.
// A symmetric orbit has several such impacts that vanish together.  phi is then the motion from one to the next, and
// y_0 is given,
//
//     phi(R(x_i, y_i), t_i, t_i+1, p) = x_i+1,   g_i(x_i, t_i, p) = 0,   W_i'v_i + w_i = -y_i (GRZ-2)
//
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
static const double TOGETHER = 1e-6;             // of typical speeds: impacts that vanish with the first one
enum { MOST = 25, HALVINGS = 8, CUTS = 40 }; // Newton steps: it is damped; of the way in y, where it fails; to an edge

typedef carom_weak_impact weak;

static double *column(double *A, int j, int n) { return A + (size_t)j * (size_t)n; }

// -- life -------------------------------------------------------------------------------------------------------------

static double apart(double t, double before, double T) {
    const double since = t - before;
    return since - T * floor(since / T);
}

// The time since the last event before the impact that is hardly touched, at most a period.
static double since_event(const carom_graze *g, const weak *h) {
    const carom_shooter *s = &g->c->s;
    double since = g->T;
    for (int i = 0; i < s->nhits + g->n; ++i) {
        const double by = apart(h->t, i < s->nhits ? s->hit[i].t : g->hit[i - s->nhits].t, g->T);
        if (fmin(by, g->T - by) > CAROM_INSTANT * g->T) since = fmin(since, by);
    }
    return since;
}

static double *take(double **at, size_t n) { return *at += n, *at - n; }

// The impacts in their order, from the first one on.
static void sort(carom_graze *g, const carom_touching *const *touch) {
    const carom_shooter *s = &g->c->s;
    const double first = touch[0]->t;
    for (int i = 0; i < g->n; ++i) {
        int before = 0;
        for (int k = 0; k < g->n; ++k)
            before += k != i && apart(touch[k]->t, first, g->T) < apart(touch[i]->t, first, g->T);
        weak *h = &g->hit[before];
        h->contact = touch[i]->contact, h->t = first + apart(touch[i]->t, first, g->T);
        carom_copy(h->x, touch[i]->x, s->nx), carom_copy(h->mode, touch[i]->mode, s->p.nc);
        for (int c = 0; c < s->p.nc; ++c) h->with[c] = h->mode[c] != CAROM_MODE_OPEN || c == h->contact;
    }
}

carom_status carom_graze_open(carom_graze *g, carom_cycle *c, const carom_touching *const *touch, int count,
                              double size) {
    const carom_shooter *s = &c->s;
    const size_t x = (size_t)s->nx, n = (size_t)s->n, nv = (size_t)s->nv, nc = (size_t)s->p.nc, k = (size_t)count,
                 N = k * (n + 2) + n + 2, one = 3 * x + 2 * nc + nv + 2 * n * n + 5 * n;
    *g = (carom_graze){.c = c, .n = count, .T = c->T, .size = size};
    g->hit = calloc(k, sizeof *g->hit), g->col = calloc(N, sizeof *g->col);
    g->block = calloc(k * one + n + 2 + N * (N + 1) + 2 * N + 4 * N + n + 2 * k * N + 1, sizeof *g->block);
    if (!g->hit || !g->col || !g->block) return carom_orbit_no_memory(c->err);
    double *at = g->block;
    for (int i = 0; i < count; ++i) {
        weak *h = &g->hit[i];
        h->x = take(&at, x), h->after = take(&at, x), h->last = take(&at, x), h->mode = take(&at, nc),
        h->mode_0 = take(&at, nc), h->kick = take(&at, nv), h->Z = take(&at, n * n), h->Y = take(&at, n * n),
        h->rate_0 = take(&at, n), h->rate_1 = take(&at, n), h->p_0 = take(&at, n), h->p_1 = take(&at, n),
        h->r = take(&at, n), h->with = calloc(nc + 1, sizeof *h->with);
        if (!h->with) return carom_orbit_no_memory(c->err);
    }
    g->way = take(&at, n + 2), g->A = take(&at, N * (N + 1)), g->b = take(&at, N), g->z = take(&at, N),
    g->rows = take(&at, 2 * k * N), g->work = at;
    sort(g, touch);
    for (int i = 0; i < count; ++i) g->hit[i].coast = fmin(COAST, REST * since_event(g, &g->hit[i]) / c->T);
    return CAROM_OK;
}

void carom_graze_close(carom_graze *g) {
    for (int i = 0; i < g->n && g->hit; ++i) free(g->hit[i].with);
    free(g->hit), free(g->col), free(g->block);
    *g = (carom_graze){0};
}

// -- one impact -------------------------------------------------------------------------------------------------------

// Gap and its rate at x.
static carom_status look(carom_graze *g, weak *h, double *gap, double *rate) {
    carom_shooter *s = &g->c->s;
    const int at = carom_model_system(s->task.base)->ne + h->contact;
    carom_path *w = &s->path;
    CAROM_TRY(carom_shooter_stand(s, h->t, h->x, h->mode, h->with));
    *gap = w->p.g[w->p.ne + h->contact];
    if (carom_variation_gaps(s->x, h->t, h->x, (carom_direction){1, h->x + s->nq, NULL, NULL}, w->gaps) != CAROM_OK)
        return carom_fail(s->err, CAROM_USER, "t = %.9g: the derivatives of the model have no finite value here", h->t);
    *rate = w->gaps[at];
    return CAROM_OK;
}

carom_status carom_graze_speed(carom_graze *g) {
    double gap = 0, rate = 0;
    for (int i = 0; i < g->n; ++i) {
        CAROM_TRY(look(g, &g->hit[i], &gap, &rate));
        g->hit[i].y = -rate;
    }
    return CAROM_OK;
}

double carom_graze_typical(carom_graze *g) {
    carom_shooter *s = &g->c->s;
    const carom_point *p = &s->path.p;
    weak *h = &g->hit[0];
    double speed = 0;
    if (carom_shooter_stand(s, h->t, h->x, h->mode, h->with) != CAROM_OK) return 0;
    for (int b = 0; b < p->L.nb; ++b) {
        if (p->L.id[b] != p->ne + h->contact) continue;
        carom_column_expand(g->work, &p->L.W, p->L.at[b]);
        for (int i = 0; i < s->nv; ++i) speed = fmax(speed, fabs(g->work[i]) * s->scale[s->nv + i]);
    }
    return speed;
}

// One change along M^-1 out, over joints, closed contacts and the one that is struck, whose normal row asks for `want`;
// the others keep what they have.
static carom_status change(carom_graze *g, const weak *h, bool impact, double want, double *dx) {
    carom_shooter *s = &g->c->s;
    carom_path *w = &s->path;
    const carom_point *p = &w->p;
    const carom_local *L = &p->L;
    int n = 0;
    for (int b = w->nj; b < L->nb; ++b) {
        double d[CAROM_TANGENTS] = {0};
        const bool contact = L->id[b] >= p->ne, hit = L->id[b] == p->ne + h->contact,
                   slides = contact && impact && carom_point_slides(p, b, d);
        const int rows =
            hit || (contact && (slides || h->mode[L->id[b] - p->ne] == CAROM_MODE_SLIP)) ? 1 : L->at[b + 1] - L->at[b];
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
static carom_status strike(carom_graze *g, weak *h) {
    carom_shooter *s = &g->c->s;
    const carom_system *sys = carom_model_system(s->task.base);
    double gap = 0, rate = 0, most = 0, *dx = g->work + s->n;
    for (int round = 0; round < 3; ++round) {
        CAROM_TRY(look(g, h, &gap, &rate));
        CAROM_TRY(change(g, h, false, -gap, dx));
        if (sys->move) sys->move(sys->model, h->x, h->x, 1, dx);
        else carom_axpy(h->x, 1, dx, s->nv);
    }
    CAROM_TRY(look(g, h, &gap, &rate));
    CAROM_TRY(change(g, h, false, -h->y - rate, dx));
    carom_axpy(h->x + s->nq, 1, dx, s->nv);
    CAROM_TRY(look(g, h, &gap, &rate));
    const carom_contact *law = &s->path.p.contacts[h->contact];
    const double e = law->varies && h->y > 0 ? sys->restitution(sys->model, s->path.p.work, h->contact, h->y)
                                             : law->restitution;
    CAROM_TRY(change(g, h, true, 1 + e, h->kick));
    for (int i = 0; i < s->nv; ++i) most = fmax(most, fabs(h->kick[i]) / s->scale[s->nv + i]);
    h->speed = 1 / fmax(most, CAROM_NOT_ZERO);
    carom_copy(h->after, h->x, s->nx);
    carom_axpy(h->after + s->nq, h->y > 0 ? h->y : h->y / (1 + e), h->kick, s->nv); // it leaves in any case
    return CAROM_OK;
}

// How gap and rate change along a direction; the rate is that of W'v + w.
static carom_status slopes(carom_graze *g, const weak *h, carom_direction d, double *gap, double *rate) {
    carom_shooter *s = &g->c->s;
    carom_path *w = &s->path;
    if (carom_variation_gaps(s->x, h->t, h->x, d, w->gaps) != CAROM_OK ||
        carom_variation_rates(s->x, h->t, h->x, h->x + s->nq, d, w->full) != CAROM_OK)
        return carom_fail(s->err, CAROM_USER, "t = %.9g: the derivatives of the model have no finite value here", h->t);
    *gap = w->gaps[carom_model_system(s->task.base)->ne + h->contact],
    *rate = w->full[w->at_full[w->p.ne + h->contact]];
    return CAROM_OK;
}

// -- the equations ----------------------------------------------------------------------------------------------------

// All runs, each from behind one impact to the next.
static carom_status shoot(carom_graze *g, double *residual) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    const int n = s->n;
    for (int i = 0; i < g->n; ++i) CAROM_TRY(strike(g, &g->hit[i]));
    *residual = 0, g->M = 0;
    for (int i = 0; i < g->n; ++i) {
        const bool last = i + 1 == g->n;
        weak *h = &g->hit[i];
        const weak *to = &g->hit[last ? 0 : i + 1];
        s->coast = to->coast * g->T;
        const carom_status status = carom_shoot(s, h->t, last ? g->hit[0].t + g->T - h->t : to->t - h->t, h->after,
                                                true, 1);
        s->coast = 0;
        CAROM_TRY(status);
        if (last) carom_cycle_return(c, to->x, true, h->r);
        else carom_shooter_apart(s, to->x, s->end, h->r);
        *residual = fmax(*residual, carom_norm_max(h->r, n));
        h->m = s->m, h->at = g->M, g->M += s->m;
        carom_copy(h->Z, s->Z, (ptrdiff_t)n * s->m), carom_copy(h->Y, s->Y, (ptrdiff_t)n * s->m);
        carom_copy(h->rate_0, s->rate_0, n), carom_copy(h->rate_1, s->rate_1, n), carom_copy(h->p_0, s->p_0, n),
            carom_copy(h->p_1, s->p_1, n), carom_copy(h->mode_0, s->mode_0, s->p.nc);
        // the energy is what it must be: (ORB-5)
        if (i == 0 && c->conservative) CAROM_TRY(carom_cycle_slope(c, h->after));
    }
    g->N = g->M + 2 * g->n + c->nsym;
    return CAROM_OK;
}

// Z'x at the end of a run, added to column j.
static void put_end(carom_graze *g, const weak *to, int j, double part, const double *x) {
    const int n = g->c->s.n;
    for (int i = 0; i < to->m; ++i) column(g->A, j, g->N)[to->at + i] += part * carom_dot(column(to->Z, i, n), x, n);
}

// The run from h starts moved by x, in units of scale: at its end, Y Z'x.
static void put_start(carom_graze *g, const weak *h, const weak *to, int j, double part, const double *x) {
    const int n = g->c->s.n;
    for (int k = 0; k < h->m; ++k)
        put_end(g, to, j, part * carom_dot(column(h->Z, k, n), x, n), column(h->Y, k, n));
}

// Columns of one run, and the rows of gap and rate where it begins.
static carom_status put_run(carom_graze *g, int i, double *gap_row, double *rate_row) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    const int n = s->n, time = g->M + i, y = i > 0 ? g->M + g->n + c->nsym + i - 1 : g->N, par = g->N - 1;
    const weak *h = &g->hit[i], *to = &g->hit[(i + 1) % g->n];
    double *d = g->work, *along = g->work + n;
    for (int j = 0; j < h->m; ++j) {
        put_end(g, to, h->at + j, 1, column(h->Y, j, n));
        column(g->A, h->at + j, g->N)[h->at + j] -= 1;
        for (int k = 0; k < n; ++k) d[k] = s->scale[k] * column(h->Z, j, n)[k];
        CAROM_TRY(slopes(g, h, (carom_direction){0, d, d + s->nv, NULL}, &gap_row[h->at + j], &rate_row[h->at + j]));
    }
    put_end(g, to, g->M + (i + 1) % g->n, g->T, h->rate_1);
    if (i > 0 || !c->timeless) { // where the period is unknown, the first impact stays
        put_start(g, h, to, time, -g->T, h->rate_0);
        CAROM_TRY(slopes(g, h, (carom_direction){1, NULL, NULL, NULL}, &gap_row[time], &rate_row[time]));
        gap_row[time] *= g->T, rate_row[time] *= g->T;
    }
    carom_zero(along, n);
    for (int k = 0; k < s->nv; ++k) along[s->nv + k] = h->speed * h->kick[k] / s->scale[s->nv + k];
    put_start(g, h, to, y, 1, along);
    if (i > 0) rate_row[y] = h->speed;
    if (c->conservative) return CAROM_OK;
    for (int k = 0; k < n; ++k)
        along[k] = g->size * (h->p_1[k] - to->p_0[k] +
                              (i + 1 == g->n && c->expression ? h->rate_1[k] * c->T_p : 0)),
        d[k] = s->scale[k] * h->p_0[k];
    put_end(g, to, par, 1, along);
    CAROM_TRY(slopes(g, h, (carom_direction){0, d, d + s->nv, s->way}, &gap_row[par], &rate_row[par]));
    gap_row[par] *= g->size, rate_row[par] *= g->size;
    return CAROM_OK;
}

// (GRZ-2)  Unknowns: z of all states, times/T (models without time: first the period), sigma, speeds but the first one,
// parameter/size.  Rows: the runs, one for each direction that the model does not depend on, gaps, rates.
static carom_status assemble(carom_graze *g) {
    carom_cycle *c = g->c;
    const int n = c->s.n, N = g->N, sigma = g->M + g->n, par = N - 1;
    carom_zero(g->A, (ptrdiff_t)N * (N + 1)), carom_zero(g->rows, (ptrdiff_t)2 * g->n * N);
    for (int i = 0; i < g->n; ++i) CAROM_TRY(put_run(g, i, column(g->rows, i, N), column(g->rows, g->n + i, N)));
    const weak *h = &g->hit[0];
    for (int k = 0; k < c->nsym; ++k)
        for (int j = 0; j < h->m; ++j)
            column(g->A, sigma + k, N)[h->at + j] = column(g->A, h->at + j, N)[g->M + k] =
                -carom_dot(column(h->Z, j, n), cycle_column(c->sym, k, n), n);
    if (!c->conservative) return CAROM_OK;
    const double steep = fmax(carom_length(c->slope, h->m), CAROM_NOT_ZERO);
    for (int j = 0; j < h->m; ++j) column(g->A, par, N)[h->at + j] = c->slope[j] / steep;
    return CAROM_OK;
}

static void put_row(carom_graze *g, int row, const double *x, int N) {
    const double size = carom_norm_max(x, N);
    for (int j = 0; j < N; ++j) column(g->A, j, N)[row] = x[j] / fmax(size, CAROM_NOT_ZERO);
}

// The orbit beside it that is not struck, by the parameter: the same without the rows of gaps and without impacts, at
// phases where gaps are least.
static bool find_way(carom_graze *g) {
    const carom_cycle *c = g->c;
    const carom_shooter *s = &c->s;
    const int N = g->N, gaps = N - 2 * g->n, y = g->M + g->n + c->nsym;
    carom_zero(g->b, N);
    for (int i = 0; i < g->n; ++i) {
        put_row(g, gaps + i, column(g->rows, g->n + i, N), N);
        for (int j = 0; j < N; ++j) column(g->A, j, N)[gaps + g->n + i] = j == (i == 0 ? N - 1 : y + i - 1);
    }
    g->b[gaps + g->n] = 1;
    if (carom_dense_shortest(g->A, N, N, CUT, g->col, g->work, g->b, g->z) < N) return false;
    carom_zero(g->way, s->n + 2);
    const weak *h = &g->hit[0];
    for (int j = 0; j < h->m; ++j) carom_axpy(g->way, g->z[h->at + j], column(h->Z, j, s->n), s->n);
    for (int i = 0; i < s->n; ++i) g->way[i] += g->size * h->p_0[i];
    g->way[s->n] = g->z[g->M], g->way[s->n + 1] = 1;
    g->rises = carom_dot(g->rows, g->z, N);
    return true;
}

// The branch by y, at a solution.
static void find_slope(carom_graze *g) {
    const int N = g->N, gaps = N - 2 * g->n;
    for (int k = 0; k < 2 * g->n; ++k) put_row(g, gaps + k, column(g->rows, k, N), N);
    for (int i = 0; i < N; ++i) g->b[i] = -column(g->A, N, N)[i];
    g->b[gaps + g->n] -= g->hit[0].speed / fmax(carom_norm_max(column(g->rows, g->n, N), N), CAROM_NOT_ZERO);
    carom_dense_shortest(g->A, N, N, CUT, g->col, g->work, g->b, g->z);
    g->leads = g->z[N - 1] / g->hit[0].speed;
}

// `by` of the step z.
static carom_status move(carom_graze *g, double by) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    const double dp = c->conservative ? 0 : by * g->z[g->N - 1] * g->size, T = g->T;
    for (int i = 0; i < g->n; ++i) {
        weak *h = &g->hit[i];
        if (i > 0 || !c->timeless) h->t += by * g->z[g->M + i] * T;
        else g->T *= 1 + by * g->z[g->M];
        if (i > 0) h->y += by * g->z[g->M + g->n + c->nsym + i - 1] * h->speed;
    }
    if (!c->conservative) CAROM_TRY(carom_cycle_set(c, s->value + dp));
    if (c->expression) g->T = c->T;
    for (int i = 0; i < g->n; ++i) {
        weak *h = &g->hit[i];
        carom_zero(c->by, s->n);
        for (int j = 0; j < h->m; ++j) carom_axpy(c->by, by * g->z[h->at + j], column(h->Z, j, s->n), s->n);
        carom_axpy(c->by, dp, h->p_0, s->n);
        carom_copy(c->y, h->x, s->nx), carom_copy(s->mode_0, h->mode_0, s->p.nc);
        s->t_0 = h->t;
        CAROM_TRY(carom_shooter_move(s, c->y, c->by, h->x));
    }
    if (c->conservative) s->value = carom_cycle_energy(c, g->hit[0].x);
    return CAROM_OK;
}

static carom_status newton(carom_graze *g, double *residual) {
    const carom_cycle *c = g->c;
    double last = INFINITY;
    for (int i = 0; i < MOST; ++i) {
        CAROM_TRY(shoot(g, residual));
        CAROM_TRY(assemble(g));
        const int N = g->N, gaps = N - 2 * g->n;
        if (*residual < GOOD || (*residual < ENOUGH && *residual > 0.5 * last)) {
            if (c->conservative) return CAROM_OK;
            if (!find_way(g)) g->rises = 0;
            CAROM_TRY(assemble(g));
            return find_slope(g), CAROM_OK;
        }
        if (!(*residual < WORSE * last)) return CAROM_NOT_CONVERGED;
        last = fmin(last, *residual);
        carom_zero(g->b, N);
        for (int k = 0; k < 2 * g->n; ++k) put_row(g, gaps + k, column(g->rows, k, N), N);
        for (int k = 0; k < g->n; ++k) {
            const weak *to = &g->hit[(k + 1) % g->n];
            for (int j = 0; j < to->m; ++j)
                g->b[to->at + j] = -carom_dot(column(to->Z, j, c->s.n), g->hit[k].r, c->s.n);
        }
        carom_dense_shortest(g->A, N, N, CUT, g->col, g->work, g->b, g->z);
        // the range of the parameter does not tell how far equations are linear; an energy is no unknown of its own
        const double far = carom_norm_max(g->z, c->conservative ? N : N - 1);
        if (!isfinite(far)) return CAROM_NOT_CONVERGED;
        CAROM_TRY(move(g, far > FAR ? FAR / far : 1));
    }
    return CAROM_NOT_CONVERGED;
}

carom_status carom_graze_solve(carom_graze *g, double y) {
    double residual = INFINITY;
    g->hit[0].y = y;
    const carom_status status = newton(g, &residual);
    if (status == CAROM_NOT_CONVERGED)
        return carom_fail(g->c->err, CAROM_NOT_CONVERGED,
                          "no orbit with an impact of speed %.3g was found near the one that grazes (residual %.2g)",
                          y, residual);
    for (int i = 1; i < g->n && status == CAROM_OK; ++i) {
        const weak *h = &g->hit[i];
        if (y > 0 ? !(h->y > 0) : fabs(h->y) > TOGETHER * h->speed)
            return carom_fail(g->c->err, CAROM_NOT_CONVERGED, "contacts that are nearly grazed are not so together");
    }
    return status;
}

// An orbit to which Newton's method returns, with what is kept with its impacts.
typedef struct solution {
    double y, T, value;
} solution;

static solution keep(carom_graze *g) {
    for (int i = 0; i < g->n; ++i) {
        weak *h = &g->hit[i];
        carom_copy(h->last, h->x, g->c->s.nx);
        h->t_last = h->t, h->y_last = h->y;
    }
    return (solution){g->hit[0].y, g->T, g->c->s.value};
}

static carom_status put_back(carom_graze *g, const solution *to) {
    for (int i = 0; i < g->n; ++i) {
        weak *h = &g->hit[i];
        carom_copy(h->x, h->last, g->c->s.nx);
        h->t = h->t_last, h->y = h->y_last;
    }
    g->T = to->T;
    return carom_cycle_set(g->c, to->value);
}

// On the chord from there to the present orbit, where the speed is y.
static carom_status guess(carom_graze *g, const solution *from, double y) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    const double back = (y - g->hit[0].y) / (g->hit[0].y - from->y);
    for (int k = 0; k < g->n; ++k) {
        weak *h = &g->hit[k];
        carom_shooter_apart(s, h->last, h->x, c->by);
        for (int i = 0; i < s->n; ++i) c->by[i] *= back;
        carom_copy(c->y, h->x, s->nx), carom_copy(s->mode_0, h->mode_0, s->p.nc);
        s->t_0 = h->t;
        CAROM_TRY(carom_shooter_move(s, c->y, c->by, h->x));
        h->t += back * (h->t - h->t_last), h->y += back * (h->y - h->y_last);
    }
    g->T += back * (g->T - from->T);
    CAROM_TRY(carom_cycle_set(c, s->value + back * (s->value - from->value)));
    if (c->expression) g->T = c->T;
    return CAROM_OK;
}

// The speed at which the parameter is `edge`, between that of `from` and the present one, by regula falsi.
static carom_status to_edge(carom_graze *g, const solution *from, double edge) {
    carom_bracket k = {
        .a = from->y, .b = g->hit[0].y, .f_a = from->value - edge, .f_b = g->c->s.value - edge};
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
static bool is_near(carom_graze *g) {
    carom_shooter *s = &g->c->s;
    double far = 0;
    for (int i = 0; i < g->n; ++i) {
        carom_shooter_apart(s, g->hit[i].last, g->hit[i].x, g->work);
        far = fmax(far, carom_norm_max(g->work, s->n));
    }
    return far < FAR;
}

carom_status carom_graze_reach(carom_graze *g, double y, const double *range, bool *edge) {
    const carom_shooter *s = &g->c->s;
    double by = y - g->hit[0].y;
    for (int halvings = 0; g->hit[0].y != y;) {
        const solution from = keep(g);
        const carom_status status = carom_graze_solve(g, fabs(y - from.y) > 1.5 * fabs(by) ? from.y + by : y);
        if (status == CAROM_OK && is_near(g)) {
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
    weak *h = &g->hit[0];
    carom_copy(c->x, h->after, s->nx);
    if (h->y == 0 && clear > 0) {
        if (g->rises == 0)
            return carom_fail(c->err, CAROM_SINGULAR, "the gap does not change with the parameter where it is touched");
        const double by = clear / g->rises;
        for (int i = 0; i < s->n; ++i) c->by[i] = by * g->way[i];
        CAROM_TRY(carom_cycle_set(c, s->value + by * g->size));
        if (c->expression) g->T = c->T;
        if (c->timeless) g->T *= 1 + by * g->way[s->n];
        else h->t += by * g->way[s->n] * g->T;
        carom_copy(c->y, h->x, s->nx), carom_copy(s->mode_0, h->mode_0, s->p.nc);
        s->t_0 = h->t;
        CAROM_TRY(carom_shooter_move(s, c->y, c->by, c->x));
    }
    c->T = g->T, c->t_0 = c->timeless ? 0 : fmod(h->t, g->T);
    if (c->t_0 < 0) c->t_0 += g->T;
    s->linear = false;
    return carom_cycle_away(c);
}
