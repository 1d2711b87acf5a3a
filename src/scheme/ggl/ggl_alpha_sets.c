// ggl_alpha_sets.c: the laws of contact in ggl-alpha: who is active, who slides and where to, and the certificate of
// both levels.
#include "scheme/friction.h"
#include "linalg/matrix.h"
#include "contact/residual.h"
#include "scheme/ggl/ggl_alpha.h"
#include "solver/local.h"
#include "system/system.h"
#include <math.h>

typedef carom_ggl_alpha work;

// (GA-12)  complementarity=modified:  0 <= g _|_ mu_1 >= 0 in place of nu,  nu = h theta (mu_1 + Lambda) + h (1 -
//          theta) mu_0; the part of nu that is not free
static double shared(const carom_ggl_alpha *w, const carom_step *s, int id) {
    return w->modified && id >= s->sys->ne ? s->h * (w->theta * w->Lambda[id] + (1 - w->theta) * w->mu_n[id]) : 0;
}

void carom_ggl_alpha_next_mu(carom_ggl_alpha *w, const carom_step *s) {
    const int ne = s->sys->ne;
    for (int id = ne; id < ne + s->sys->nc; ++id) w->scratch[id] = 0;
    for (int b = ne; b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        if (w->in_A[id]) w->scratch[id] = (w->nu[id] - shared(w, s, id)) / (s->h * w->theta);
    }
    for (int id = ne; id < ne + s->sys->nc; ++id) w->mu_n[id] = w->scratch[id];
}

static double at_row(const carom_columns *W, int k, int row) {
    const size_t start = (size_t)k * (size_t)W->stride;
    if (!W->count) return W->a[start + (size_t)row];
    for (int e = 0; e < W->count[k]; ++e)
        if (carom_column_rows(W, k)[e] == row) return W->a[start + (size_t)e];
    return 0;
}

// W_k'M^-1 W_l of two rows of L, with the diagonal of M where there is inertia.
static double coupling(const work *w, int k, int l) {
    const carom_entries W = carom_entries_of(&w->L.W, k);
    double D = 0;
    for (int e = 0; e < W.n; ++e) {
        const int i = carom_entry_row(&W, e);
        const double m = *carom_matrix_entry(w->M, i, i), x = W.a[e];
        if (m > 0) D += x * (k == l ? x : at_row(&w->L.W, l, i)) / m;
    }
    return D;
}

double carom_ggl_alpha_mobility(const carom_ggl_alpha *w, int k) { return coupling(w, k, k); }

// The local velocity that the law is about: u + e o u_0, or u - b.
double carom_ggl_alpha_law_velocity(const carom_ggl_alpha *w, const carom_step *s, int b, int k) {
    const int id = w->L.id[b];
    if (id < s->sys->ne) return w->u[w->L.at[b] + k];
    if (s->impacts) return w->u[w->L.at[b] + k] - w->b[w->L_0.at[id] + k];
    const carom_contact *c = s->sys->contacts + (id - s->sys->ne);
    return w->u[w->L.at[b] + k] + (k == 0 ? c->restitution : c->tangential_restitution) * w->u_0[w->L_0.at[id] + k];
}

int carom_ggl_alpha_tangents(const carom_ggl_alpha *w, int b) { return w->L.at[b + 1] - w->L.at[b] - 1; }

// (GA-14)  y = Lambda_T - r (u_T + e_T u_T0):  |y| <= mu Lambda_N sticks, u_T + e_T u_T0 = 0;  else Lambda_T = mu
//          Lambda_N s with (SOL-2), (SOL-3) for the velocities u_T + e_T u_T0 + r^-1 (Lambda_T' - Lambda_T) over
//          Lambda_T', for one tangent s = y/|y|;  r = (W_T'M^-1 W_T)^-1
static bool slides(const work *w, const carom_step *s, int b, const double *T, double limit, double *dir) {
    const int n = carom_ggl_alpha_tangents(w, b), at = w->L.at[b] + 1;
    double A[CAROM_TANGENTS * CAROM_TANGENTS], r[CAROM_TANGENTS];
    if (n == 1) {
        const double D = carom_ggl_alpha_mobility(w, at),
                     y = T[0] - (D > 0 ? carom_ggl_alpha_law_velocity(w, s, b, 1) / D : 0);
        dir[0] = y > 0 ? 1 : -1;
        return !(fabs(y) <= limit);
    }
    for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) A[k + l * n] = coupling(w, at + k, at + l);
    for (int k = 0; k < n; ++k) {
        r[k] = carom_ggl_alpha_law_velocity(w, s, b, 1 + k);
        for (int l = 0; l < n; ++l) r[k] -= A[k + l * n] * T[l];
    }
    return carom_local_slides(A, r, n, limit, dir);
}

// A local velocity that is none: the last step left as much.
static double no_velocity(const work *w, const carom_step *s, int k) {
    return fmax(s->tol * *s->speed, carom_local_rounding(&w->L, k, w->v, s->sys->nv));
}

bool carom_ggl_alpha_lasts(const carom_ggl_alpha *w, const carom_step *s, int b) {
    const int id = w->L.id[b], k = w->L.at[b];
    return id >= s->sys->ne && w->in_A[id] && w->in_B[id] && w->u[k] <= no_velocity(w, s, k);
}

// The impulse that takes a slip that is none: a contact at rest that has no reaction yet sticks.
static double no_friction(const work *w, const carom_step *s, int b) {
    double most = 0;
    for (int k = w->L.at[b] + 1; k < w->L.at[b + 1]; ++k) {
        const double D = carom_ggl_alpha_mobility(w, k);
        if (D > 0) most = fmax(most, no_velocity(w, s, k) / D);
    }
    return most;
}

// A contact that has begun to slip so often in one iteration does so: with the static coefficient the answer that the
// coefficient of slip has made looks like sticking again, because normal forces depend on friction, too.
enum { OFTEN = 3 };

static void friction(work *w, const carom_step *s, int b) {
    const int id = w->L.id[b], n = carom_ggl_alpha_tangents(w, b);
    double *T = w->T + w->L_0.at[id] + 1, *slide = w->slide + w->L_0.at[id] + 1, dir[CAROM_TANGENTS] = {0};
    const bool stuck = w->sticks[id],
               still = w->slipped[id] < OFTEN && (stuck || carom_friction_still(s, id - s->sys->ne));
    carom_friction_set(s, id - s->sys->ne, still);
    double mu = s->sys->contacts[id - s->sys->ne].friction;
    const bool rubs = w->in_B[id] && mu > 0 && n > 0;
    w->sticks[id] = rubs && !slides(w, s, b, T, mu * fmax(w->Lambda[id], 0) + no_friction(w, s, b), dir);
    w->slipped[id] += stuck && rubs && !w->sticks[id];
    if (rubs) carom_friction_set(s, id - s->sys->ne, w->sticks[id]), mu = s->sys->contacts[id - s->sys->ne].friction;
    for (int k = 0; k < n; ++k) slide[k] = rubs && !w->sticks[id] ? mu * dir[k] : 0;
    for (int k = 0; k < n && !w->sticks[id]; ++k) T[k] = slide[k] * w->Lambda[id];
}

// (GA-17)  closed on velocity level:  g(q~) <= 0 or nu > 0 (corrected);  g(q~) <= 0 (smooth);  g(q_n) <= 0 (start);
//          g(q_n + h v_n) <= 0 (forecast); g(q_{n+1}) = 0, within rounding (end)
bool carom_ggl_alpha_closed(const carom_ggl_alpha *w, const carom_step *s, int id) {
    switch (w->active) {
    case CAROM_GGL_SMOOTH: return carom_closed(s, w->g_s[id]);
    case CAROM_GGL_START:
    case CAROM_GGL_FORECAST: return carom_closed(s, w->g_0[id]);
    case CAROM_GGL_END: return w->in_A[id];
    default: return carom_closed(s, w->g_s[id]) || w->nu[id] > 0;
    }
}

// (GA-9)  A = { nu_j >= r g_j },  B = { (g_j(q~) <= 0 or nu_j > 0) and Lambda_j >= r (u_j + e u_0j) },  r = 1/(W'M^-1
//         W)_jj with the
// diagonal of M: r only decides who is active.  Bilateral constraints are in both, those on rates in B alone.
void carom_ggl_alpha_sets(carom_ggl_alpha *w, const carom_step *s) {
    const double size = carom_size_of_positions(s->sys, w->q);
    for (int b = 0; b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        const double D = w->D[b] = id < s->sys->ne ? 0 : carom_ggl_alpha_mobility(w, w->L.at[b]); // joints need none
        if (w->judged || id < s->sys->ne) {
            w->in_A[id] = id < s->sys->ne ? !carom_on_rates(s->sys, id) : w->nu[id] > 0;
            w->in_B[id] = id < s->sys->ne || w->Lambda[id] > 0;
            w->sticks[id] = false;
            continue;
        }
        // Contacts that rest on each other start without reactions, gap and velocity: those are in.
        const double none = no_velocity(w, s, w->L.at[b]),
                     none_g = carom_local_rounding_within(&w->L, w->L.at[b], w->q, s->sys->nq, size);
        w->in_A[id] = (w->nu[id] - shared(w, s, id)) * D >= w->g[id] - none_g;
        if (!w->in_A[id]) w->nu[id] = shared(w, s, id);
        w->in_B[id] = carom_ggl_alpha_closed(w, s, id) &&
                      w->Lambda[id] * D >= carom_ggl_alpha_law_velocity(w, s, b, 0) - none;
        if (!w->in_B[id]) w->Lambda[id] = 0;
        friction(w, s, b);
    }
}

// The independent certificate of both laws, contact by contact with the diagonal of W'M^-1 W.  Gaps that are rounding
// are none; size: largest |q|.
static double certificate(work *w, const carom_step *s, int b, double size) {
    const int id = w->L.id[b], n = 1 + carom_ggl_alpha_tangents(w, b);
    enum { MOST = 1 + CAROM_TANGENTS }; // the normal and its tangents
    double G[MOST * MOST] = {0}, p[MOST], u[MOST];
    for (int k = 0; k < n; ++k) G[k + k * n] = k == 0 ? w->D[b] : carom_ggl_alpha_mobility(w, w->L.at[b] + k);
    carom_block block = {id < s->sys->ne ? CAROM_BILATERAL : CAROM_UNILATERAL, 0, 0};
    carom_problem pb = {.n = 1, .nb = 1, .ld = 1, .block = &block, .G = G, .p = p, .u = u};
    const bool none = fabs(w->g[id]) <= carom_local_rounding_within(&w->L, w->L.at[b], w->q, s->sys->nq, size);
    p[0] = (w->nu[id] - shared(w, s, id)) / s->h, u[0] = none ? 0 : w->g[id] / s->h;
    const double position = carom_residual_at(&pb, NULL);
    if (id >= s->sys->ne && !carom_ggl_alpha_closed(w, s, id)) return position;
    p[0] = w->Lambda[id], u[0] = id < s->sys->ne ? w->u[w->L.at[b]] : carom_ggl_alpha_law_velocity(w, s, b, 0);
    for (int k = 1; k < n; ++k) p[k] = w->T[w->L_0.at[id] + k], u[k] = carom_ggl_alpha_law_velocity(w, s, b, k);
    if (n > 1) block.law = carom_law_friction(n - 1), block.mu = s->sys->contacts[id - s->sys->ne].friction;
    pb.n = pb.ld = n;
    return fmax(position, carom_residual_at(&pb, NULL));
}

double carom_ggl_alpha_residual(carom_ggl_alpha *w, const carom_step *s, int *id) {
    const double size = carom_size_of_positions(s->sys, w->q);
    double worst = 0;
    *id = -1;
    for (int b = 0; b < w->L.nb; ++b) {
        const double r = certificate(w, s, b, size);
        if (r > worst) worst = r, *id = w->L.id[b];
    }
    return worst;
}

void carom_ggl_alpha_certify(carom_ggl_alpha *w, carom_step *s) {
    int id;
    const double worst = carom_ggl_alpha_residual(w, s, &id);
    s->counts->problems += w->L.nb > 0;
    if (worst > s->counts->residual) s->counts->residual = worst, s->counts->residual_id = id;
}
