// closed.c: when a contact is closed, and when its approach is an impact.
//
// Spec: docs/METHODS.md, "When a contact is closed" and "What an impact is".  Both questions are answered here once,
// for all schemes: each scheme says where it stands (carom_evaluation_point) and gets the set, or the verdict.
#include "base/tolerance.h"
#include "linalg/matrix.h"
#include "scheme/inside.h"
#include "scheme/step.h"
#include <math.h>
#include "scheme/rules.inc"

// Append constraint id to L's set.
static void join(const carom_system *sys, carom_local *L, int id) {
    L->id[L->nb] = id;
    L->at[L->nb + 1] = L->at[L->nb] + carom_directions_of(sys, id);
    L->nb += 1;
}

// carom_close(); true: L's set was the same before.
static bool close_same(const carom_step *s, carom_local *L, const double *g) {
    const carom_system *sys = s->sys;
    const int ne = sys->ne, all = ne + sys->nc, before = L->nb;
    bool same = before >= ne;
    for (int k = 0; k < ne && same; ++k) same = L->id[k] == k;
    carom_join_joints(sys, L);
    for (int id = ne; id < all; ++id)
        if (carom_closed(s, g[id])) same = same && L->nb < before && L->id[L->nb] == id, join(sys, L, id);
    return same && L->nb == before;
}

void carom_close(const carom_step *s, carom_local *L, const double *g) { (void)close_same(s, L, g); }

void carom_close_kinds(const carom_step *s, carom_local *L, unsigned kinds) {
    const int ne = s->sys->ne;
    L->nb = L->at[0] = 0;
    if (kinds & CAROM_JOINTS) carom_join_joints(s->sys, L);
    for (int id = ne; kinds & CAROM_CONTACTS && id < ne + s->sys->nc; ++id) join(s->sys, L, id);
}

void carom_close_these(const carom_step *s, carom_local *L, const bool *in) {
    carom_close_kinds(s, L, CAROM_JOINTS);
    for (int c = 0; c < s->sys->nc; ++c)
        if (in[c]) join(s->sys, L, s->sys->ne + c);
}

bool carom_closes(const carom_step *s, const double *g_0, const double *g_1) {
    for (int id = s->sys->ne; id < s->sys->ne + s->sys->nc; ++id)
        if (!carom_closed(s, g_0[id]) && carom_closed(s, g_1[id])) return true;
    return false;
}

// -- magnitudes ------------------------------------------------------------------------------------------------------

double carom_local_magnitude(const carom_local *L, int k, const double *x) {
    const carom_entries W = carom_entries_of(&L->W, k);
    double sum = 0;
    for (int e = 0; e < W.n; ++e) sum += fabs(W.a[e] * x[carom_entry_row(&W, e)]);
    return sum;
}

// Four sums side by side where columns are dense: each is added up in the order of carom_local_magnitude.
void carom_local_magnitudes(double *y, const carom_local *L, int n, const double *x) {
    const carom_columns *W = &L->W;
    int k = 0;
    for (; !W->count && k + 4 <= n; k += 4) {
        const double *a = W->a + (size_t)k * (size_t)W->stride, *b = a + W->stride, *c = b + W->stride,
                     *d = c + W->stride;
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (int i = 0; i < W->rows; ++i) {
            const double z = x[i];
            s0 += fabs(a[i] * z), s1 += fabs(b[i] * z), s2 += fabs(c[i] * z), s3 += fabs(d[i] * z);
        }
        y[k] = s0, y[k + 1] = s1, y[k + 2] = s2, y[k + 3] = s3;
    }
    for (; k < n; ++k) y[k] = carom_local_magnitude(L, k, x);
}

double carom_local_rounding_within(const carom_local *L, int k, const double *x, int n, double size) {
    if (n == L->W.rows) return CAROM_ROUNDING_SUM * carom_local_magnitude(L, k, x);
    const carom_entries W = carom_entries_of(&L->W, k);
    double sum = 0;
    for (int e = 0; e < W.n; ++e)
        sum += L->lever ? fabs(W.a[e]) / L->lever[carom_entry_row(&W, e)] : fabs(W.a[e]);
    return CAROM_ROUNDING_SUM * sum * size;
}

double carom_local_rounding(const carom_local *L, int k, const double *x, int n) {
    double size = 0;
    // (LV-2)
    for (int i = 0; n != L->W.rows && i < n; ++i)
        size = fmax(size, fabs(x[i]) * (L->lever ? L->lever[L->W.rows + i] : 1));
    return carom_local_rounding_within(L, k, x, n, size);
}

double carom_local_reach(const carom_step *s, const carom_local *L, int k) {
    const carom_entries W = carom_entries_of(&L->W, k);
    double sum = 0;
    for (int e = 0; e < W.n; ++e) sum += fabs(W.a[e]) / carom_lever(s->sys, carom_entry_row(&W, e));
    return sum;
}

carom_status carom_run_off(carom_step *s, const carom_local *L, carom_evaluation_point from, carom_evaluation_point at,
                           const double *g, double *held, bool *keeps) {
    // 1e-6 sum |W| size_q: a gap so wide was opened by motion, and by no rounding or tolerance
    static const double ELSEWHERE = 1e-6;
    const double size = carom_size_of_positions(s->sys, at.q);
    bool known = false;
    for (int b = 0; b < L->nb && s->sys->events->freeze && size > 0; ++b) {
        const int id = L->id[b];
        if (id < s->sys->ne || !keeps[id]) continue;
        const double far = ELSEWHERE * carom_local_reach(s, L, L->at[b]) * size;
        if (!(g[id] > far)) continue;
        if (!known) {
            CAROM_TRY(carom_freeze_features(s, CAROM_FREEZE, from.t, from.q));
            const carom_status status = carom_gaps(s, held, at.t, at.q);
            CAROM_TRY(carom_freeze_features(s, CAROM_RELEASE, s->t, s->q));
            CAROM_TRY(status);
            known = true;
        }
        keeps[id] = !(g[id] - held[id] > far);
    }
    return CAROM_OK;
}

// (CL-8)  |g| <= eps_g:  g = W'x + h w where its terms are within eps_g, too, else 0;  eps_g = 16 eps sum |W| |q|
void carom_settle_gaps(const carom_step *s, double *g, const carom_local *L, const double *q, const double *x) {
    const int nq = s->sys->nq;
    const double size = nq == L->W.rows ? 0 : carom_size_of_positions(s->sys, q);
    for (int b = 0; b < L->nb; ++b) {
        const int id = L->id[b], k = L->at[b];
        if (id < s->sys->ne) continue;
        const double eps_g = carom_local_rounding_within(L, k, q, nq, size), way = s->h * L->w[k];
        if (!(fabs(g[id]) <= eps_g)) continue;
        g[id] = carom_local_magnitude(L, k, x) + fabs(way) <= eps_g ? carom_column_dot(&L->W, k, x) + way : 0;
    }
}

double carom_local_velocity_rounding(const carom_step *s, const carom_local *L, const double *v) {
    double most = 0;
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) {
            const double x = fabs(L->w[k]) + carom_local_magnitude(L, k, v);
            most = fmax(most, L->id[b] < s->sys->ne ? carom_row_lever(s, L, k) * x : x);
        }
    return CAROM_ROUNDING_SUM * most;
}

// -- acceleration without reactions -----------------------------------------------------------------------------------

// M^-1 f at the point, from what the scheme has at hand; found once per call.
static carom_status acceleration(carom_step *s, const double **a, const carom_evaluation_point *at) {
    if (at->f && !at->F) return *a = at->f, CAROM_OK;
    double *x = s->inside->a_free;
    if (!at->f) {
        const carom_status status = carom_free_motion(s, &s->inside->F_free, x, NULL, at->t, at->q, at->v);
        if (status == CAROM_SINGULAR) carom_zero(x, s->sys->nv); // without inertia there is no such acceleration
        else CAROM_TRY(status);
    } else {
        carom_copy(x, at->f, s->sys->nv);
        carom_factor_solve(at->F, x);
    }
    *a = x;
    return CAROM_OK;
}

// -- closed -----------------------------------------------------------------------------------------------------------

// How fast row k of L may move in a step, and how far by it, times h: sum |W_ik| (|v_i| + h |a_i|) + |w_k|.
static double pace(const carom_step *s, const carom_local *L, int k, const double *v, const double *a) {
    return carom_local_magnitude(L, k, v) + s->h * carom_local_magnitude(L, k, a) + fabs(L->w[k]);
}

// (CL-2)  eps_u = 16 eps p + 4 tol U + 16 r: what rounding and the contact solver may leave of a local velocity
static double no_velocity(const carom_step *s, double p) { return rule_rounding(p) + carom_velocity_left(s); }

// Is a positive gap small, or did its contact react?
static bool gaps_doubtful(const carom_step *s, const double *g, const double *held) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    if (!held) held = s->active;
    g += ne;
    for (int c = 0; c < nc; ++c)
        if (g[c] > 0 && (g[c] < CAROM_NOTICED || held[c] != 0)) return true;
    return false;
}

bool carom_many_open(const double *g, const double *held, int nc) {
    int open = 1;
    // no way out: one branch instead of many
    for (int c = 0; c < nc; ++c) open &= (g[c] >= CAROM_NOTICED) & (held[c] == 0);
    return open;
}

// The contacts that may be closed although g > 0: gaps of the size of rounding, and contacts that reacted in the last
// step.  Gaps that are far from that are sorted out before W is asked for.  True: L's set was the same before.
static bool candidates(const carom_step *s, carom_local *L, const double *g, const carom_evaluation_point *at) {
    const int ne = s->sys->ne, all = ne + s->sys->nc;
    const double *held = at->active ? at->active : s->active;
    const double near =
        rule_near(carom_size_of_positions(s->sys, at->q), carom_size_of_rates(s->sys, at->v), s->h);
    const int before = L->nb;
    bool same = true;
    L->nb = L->at[0] = 0;
    for (int id = ne; id < all; ++id)
        if (rule_doubtful(g[id], held[id - ne] != 0, near))
            same = same && L->nb < before && L->id[L->nb] == id, join(s->sys, L, id);
    return same && L->nb == before;
}

// Of contacts whose wall moves by itself (w or d2g/dt2 is not zero): the largest |kappa| at the point and half a step
// before it, for it passes zero where the wall bends the other way.  Of the others: -1.
static carom_status curvatures(carom_step *s, const carom_local *L, const carom_evaluation_point *at) {
    carom_inside *in = s->inside;
    double *kappa = in->kappa, *other = in->kappa_before;
    const int rows = L->at[L->nb];
    if (s->sys->flags & CAROM_TIMELESS_GAPS) carom_zero(other, rows);
    else CAROM_TRY(carom_curvature(s, other, L, at->t, at->q, in->still));
    bool some = false;
    for (int k = 0; k < rows; ++k) {
        kappa[k] = L->w[k] != 0 || other[k] != 0 ? 0 : -1;
        some = some || kappa[k] == 0;
    }
    if (!some) return CAROM_OK;
    carom_move(s, in->q_before, at->q, -0.5 * s->h, at->v);
    for (int side = 0; side < 2; ++side) {
        CAROM_TRY(carom_curvature(s, other, L, side ? at->t : at->t - 0.5 * s->h, side ? at->q : in->q_before, at->v));
        for (int k = 0; k < rows; ++k)
            if (kappa[k] >= 0) kappa[k] = fmax(kappa[k], fabs(other[k]));
    }
    return CAROM_OK;
}

// Does a contact close here that did not react in the last step?
static bool one_closes(const carom_step *s, const double *g, const double *held) {
    const int ne = s->sys->ne;
    for (int c = 0; c < s->sys->nc; ++c)
        if (g[ne + c] <= 0 && held[c] == 0) return true;
    return false;
}

// (CL-11)  Where one closes, so do those with  g <= -1e-9 h u_N: they would within an instant.
static void close_with(const carom_step *s, double *g, const carom_local *L, const double *v) {
    for (int b = 0; b < L->nb; ++b) {
        const int id = L->id[b], k = L->at[b];
        if (rule_at_once(g[id], carom_column_dot(&L->W, k, v) + L->w[k], s->h)) g[id] = 0;
    }
}

carom_status carom_close_together(carom_step *s, carom_local *L, double *g, carom_evaluation_point at) {
    const double *held = at.active ? at.active : s->active;
    if (s->strict || s->sys->nc < 2 || !gaps_doubtful(s, g, held) || !one_closes(s, g, held)) return CAROM_OK;
    candidates(s, L, g, &at);
    if (L->nb == 0) return CAROM_OK;
    CAROM_TRY(carom_directions(s, L, at.t, at.q));
    close_with(s, g, L, at.v);
    return CAROM_OK;
}

// (CL-1)  eps_g = 16 eps (sum |W| |q| + h p),  p = sum |W| (|v| + h |a|) + |w|
// (CL-3)  closed:  g <= eps_g,  or  reacted in the last step, u_N <= max(eps_u, d |v|) and g <= max(2^16 eps_g, d h
//         |v|),
// (CL-7)  or  reacted on a wall that moves by itself,  u_N <= max(eps_u, 2 h |kappa|)  and  g <= n h^2 (|W'a| +
//         |kappa|)
static carom_status round_gaps(carom_step *s, double *g, carom_local *L, bool *known,
                               const carom_evaluation_point *at) {
    const int ne = s->sys->ne;
    const double *held = at->active ? at->active : s->active, *a, *kappa = NULL, h = s->h,
                 n = at->steps > 0 ? at->steps : 1;
    *known = candidates(s, L, g, at) && *known;
    if (L->nb == 0) return CAROM_OK;
    CAROM_TRY(acceleration(s, &a, at));
    if (!*known) CAROM_TRY(carom_directions(s, L, at->t, at->q));
    *known = true;
    const double size = carom_size_of_positions(s->sys, at->q);
    const double drift = at->drift > 0 ? at->drift * carom_size_of_rates(s->sys, at->v) : 0;
    for (int b = 0; b < L->nb; ++b) {
        const int id = L->id[b], k = L->at[b];
        const double moves = pace(s, L, k, at->v, a), u = carom_column_dot(&L->W, k, at->v) + L->w[k],
                     eps_u = fmax(no_velocity(s, moves), drift);
        const double eps_g = carom_local_rounding_within(L, k, at->q, s->sys->nq, size) + rule_rounding(h * moves);
        bool closed = rule_closed(g[id], u, held[id - ne] != 0, eps_g, eps_u, drift, h);
        if (!closed && held[id - ne] != 0) {
            if (!kappa) CAROM_TRY(curvatures(s, L, at));
            kappa = s->inside->kappa;
            closed = kappa[k] >= 0 && rule_rides(g[id], u, carom_column_dot(&L->W, k, a), kappa[k], eps_u, n, h);
        }
        if (closed) g[id] = 0;
    }
    if (s->sys->nc > 1 && one_closes(s, g, held)) close_with(s, g, L, at->v);
    return CAROM_OK;
}

// -- an approach that is an impact ------------------------------------------------------------------------------------

typedef struct judge {
    carom_step *s;
    const carom_local *L;
    const carom_evaluation_point *at;
    const double *a;     // NULL: not found yet
    const double *kappa; // the curvatures; NULL: s->inside->kappa will hold them
    bool curved;         // they were needed
} judge;

// (CL-4)  theta_j = 4 h (|W_j'a| + |kappa_j|) + eps_u: the change of a local velocity that the forces of a few steps
//         explain.  *beyond: size > theta of row k.  kappa is asked for only where the rest does not explain it.
static carom_status exceeds(judge *j, int k, double size, bool *beyond) {
    carom_step *s = j->s;
    double theta = no_velocity(s, 0);
    if (!(*beyond = size > theta)) return CAROM_OK;
    if (!j->a) CAROM_TRY(acceleration(s, &j->a, j->at));
    theta = rule_explained(no_velocity(s, pace(s, j->L, k, j->at->v, j->a)), carom_column_dot(&j->L->W, k, j->a), s->h);
    if (!(*beyond = size > theta)) return CAROM_OK;
    if (!j->kappa && !j->curved) CAROM_TRY(carom_curvature(s, s->inside->kappa, j->L, j->at->t, j->at->q, j->at->v));
    j->curved = true;
    *beyond = size > rule_explained(theta, (j->kappa ? j->kappa : s->inside->kappa)[k], s->h);
    return CAROM_OK;
}

carom_status carom_explained(carom_step *s, double *theta, carom_local *L, int id, bool flew,
                             carom_evaluation_point at) {
    const double *a;
    L->nb = L->at[0] = 0;
    join(s->sys, L, id);
    CAROM_TRY(acceleration(s, &a, &at));
    CAROM_TRY(carom_directions(s, L, at.t, at.q));
    s->inside->kappa[0] = 0;
    if (!flew) CAROM_TRY(carom_curvature(s, s->inside->kappa, L, at.t, at.q, at.v));
    *theta = rule_explained(no_velocity(s, pace(s, L, 0, at.v, a)), carom_column_dot(&L->W, 0, a), s->h);
    *theta = rule_explained(*theta, s->inside->kappa[0], s->h);
    return CAROM_OK;
}

static carom_status struck(judge *j, bool *some, double *which, const double *u) {
    const carom_local *L = j->L;
    *some = false;
    for (int b = 0; b < L->nb && (which || !*some); ++b) {
        bool strikes = false;
        if (L->id[b] >= j->s->sys->ne) CAROM_TRY(exceeds(j, L->at[b], -u[L->at[b]], &strikes));
        if (which) which[b] = strikes;
        *some = *some || strikes;
    }
    return CAROM_OK;
}

carom_status carom_struck(carom_step *s, bool *some, double *which, const carom_local *L, const double *u,
                          carom_evaluation_point at) {
    return struck(&(judge){.s = s, .L = L, .at = &at}, some, which, u);
}

carom_status carom_struck_on(carom_step *s, bool *some, bool *curved, const carom_local *L, const double *u,
                             const double *kappa, carom_evaluation_point at) {
    judge j = {.s = s, .L = L, .at = &at, .kappa = kappa};
    CAROM_TRY(struck(&j, some, NULL, u));
    *curved = j.curved;
    return CAROM_OK;
}

carom_status carom_joints_struck(carom_step *s, bool *some, const carom_local *L, const double *u,
                                 carom_evaluation_point at) {
    judge j = {.s = s, .L = L, .at = &at};
    *some = false;
    for (int b = 0; b < L->nb && L->id[b] < s->sys->ne && !*some; ++b)
        CAROM_TRY(exceeds(&j, L->at[b], fabs(u[L->at[b]]), some));
    return CAROM_OK;
}

// (CL-5)  u_j = W_j(q_0)'v_0 + w, but W_j(q_1)'v_0 + w where the two differ by more than theta_j: a kink
carom_status carom_velocity_before(carom_step *s, double *u, const carom_local *L, carom_evaluation_point at) {
    judge j = {.s = s, .L = L, .at = &at};
    if (s->sys->flags & CAROM_CONSTANT_DIRECTIONS && s->sys->flags & CAROM_TIMELESS_GAPS) return CAROM_OK;
    for (int b = 0; b < L->nb; ++b) {
        const int first = L->at[b];
        bool jumps;
        if (L->id[b] < s->sys->ne) continue;
        CAROM_TRY(exceeds(&j, first, fabs(carom_column_dot(&L->W, first, at.v) + L->w[first] - u[first]), &jumps));
        for (int k = first; jumps && k < L->at[b + 1]; ++k) u[k] = carom_column_dot(&L->W, k, at.v) + L->w[k];
    }
    return CAROM_OK;
}

static carom_status close_near(carom_step *s, carom_local *L, double *g, bool *known,
                               const carom_evaluation_point *at) {
    if (!s->strict && gaps_doubtful(s, g, at->active)) CAROM_TRY(round_gaps(s, g, L, known, at));
    *known = close_same(s, L, g) && *known;
    return CAROM_OK;
}

carom_status carom_close_near(carom_step *s, carom_local *L, double *g, const carom_evaluation_point *at) {
    return close_near(s, L, g, &(bool){false}, at);
}

void carom_note_gaps(const carom_step *s, const double *g, const double *q) {
    carom_noted *x = &s->inside->noted;
    if (!x->on) return;
    x->seen = true;
    carom_copy(x->q, q, s->sys->nq);
    carom_copy(x->g, g + s->sys->ne, s->sys->nc);
}

carom_status carom_close_at(carom_step *s, carom_local *L, double *g, carom_evaluation_point at) {
    return carom_close_place(s, L, g, at);
}

carom_status carom_close_knowing(carom_step *s, carom_local *L, double *g, bool *known, carom_evaluation_point at) {
    const int ne = s->sys->ne;
    if (!carom_all_open(g + ne, at.active ? at.active : s->active, s->sys->nc)) return close_near(s, L, g, known, &at);
    *known = *known && L->nb == ne; // joints come first
    carom_join_joints(s->sys, L);
    return CAROM_OK;
}

carom_status carom_close_resting(carom_step *s, carom_local *L, double *g, carom_evaluation_point at) {
    const int ne = s->sys->ne;
    const double *a = NULL;
    bool known = false;
    CAROM_TRY(carom_close_knowing(s, L, g, &known, at));
    if (L->nb == ne) return CAROM_OK;
    if (!known) CAROM_TRY(carom_directions(s, L, at.t, at.q));
    CAROM_TRY(acceleration(s, &a, &at));
    for (int b = ne; b < L->nb; ++b) {
        const int k = L->at[b];
        if (carom_column_dot(&L->W, k, at.v) + L->w[k] > no_velocity(s, pace(s, L, k, at.v, a))) g[L->id[b]] = 1;
    }
    return CAROM_OK;
}

// Does contact id approach no faster than 4 h sum |W| |a|?  Reactions may hold one body and not the other: their
// accelerations do not cancel.
static carom_status slow(carom_step *s, bool *is, carom_local *L, int id, carom_evaluation_point at) {
    const double *a;
    L->nb = L->at[0] = 0;
    join(s->sys, L, id);
    CAROM_TRY(acceleration(s, &a, &at));
    CAROM_TRY(carom_directions(s, L, at.t, at.q));
    *is = -(carom_column_dot(&L->W, 0, at.v) + L->w[0]) <= rule_explained(0, carom_local_magnitude(L, 0, a), s->h);
    return CAROM_OK;
}

// (CL-9)  j joins the set I of the step where  g_j(q_0) <= 0  or  reacted in the last step  or  u_j >= -4 h sum |W_j|
//         |a|,  j not in I,  g_j(q_1) < 0
carom_status carom_close_thrown(carom_step *s, bool *some, double *sign, const double *g_1, carom_local *L, double *g_0,
                                carom_evaluation_point start) {
    const int ne = s->sys->ne, all = ne + s->sys->nc;
    bool seen = false; // g_0 is known; for contacts that reacted nobody needs it
    *some = false;
    for (int id = ne; id < all; ++id) {
        if (!(g_1[id] < 0) || carom_closed(s, sign[id])) continue;
        bool lasts = s->active[id - ne] != 0;
        if (!lasts && !seen) {
            CAROM_TRY(carom_gaps(s, g_0, start.t, start.q));
            CAROM_TRY(carom_close_place(s, L, g_0, start));
            seen = true;
        }
        if (!lasts) lasts = carom_closed(s, g_0[id]);
        if (!lasts) CAROM_TRY(slow(s, &lasts, L, id, start));
        if (lasts) sign[id] = -1, *some = true;
    }
    return CAROM_OK;
}
