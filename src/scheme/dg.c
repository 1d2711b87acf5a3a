// dg.c: time-discontinuous Galerkin schemes of any degree, D+ and D-.
//
// Spec: docs/METHODS.md, section DG (Schindler and Acary, Timestepping schemes for nonsmooth dynamics based on
// discontinuous Galerkin methods, 2014).  Velocities are polynomials of degree m in each step; contact forces hold on
// acceleration level at the m + 1 stages, impulses on velocity level at the end of the step.  Which contacts are closed
// at which stage is decided before the stages are solved, so that there is always one solution for small steps.
//
// m = 1 is the contemplating (D+) and the forecasting (D-) trapezoidal rule, m = 0 is moreau-jean with theta = 1 and 0.
// Where move() is not a sum (quaternions), displacements are integrated by their own rates, carom_lift().
#include "scheme/dg.h"
#include "scheme/schemes.h"
#include <assert.h>
#include <math.h>

enum { OPT_ORDER, OPT_REST };
static const carom_option options[] = {
    {.name = "order", .kind = CAROM_INTEGER, .fallback = 1, .low = 0, .high = CAROM_DG_MOST,
     .about = "degree m of the velocity polynomials; the order of accuracy is m + 1 (m + 2 for even m > 0)"},
    {.name = "rest", .kind = CAROM_CHOICE, .choices = "settle|paper",
     .about = "settle: a contact that returns without having left within a step stays; paper: it bounces again, for ever"},
    {0},
};

typedef struct work {
    bool plus;
    int m;
    _Alignas(max_align_t) unsigned char moreau[2048]; // work of moreau-jean, m = 0
    carom_dg dg;
    double *kept;                  // by id, kept: 1 for a lasting contact that the last step held
    carom_factor F;                // M at the stage treated last
    carom_local L;                 // candidates
    double *g, *sign, *u;          // by id: gaps; set as signs; local velocities
    double *a_0, *v_1;             // acceleration at t_0; new velocity
    double *u_0, *bias;            // by id: W(q_0)'v_0 + w; e u_0
    double *u_b, *u_f, *u_a;       // rows of the impulse: local velocity of the law before it; v_1 - w; v_1
    double *p_i, *p_f, *s;         // p counted as impulse, as force; h sum beta lambda
    bool have_u_0, plastic;        // u_0 is there; Newton's law had no solution: no restitution in this step
    bool *closed_0, *still;        // by id: closed at t_0; and at rest
    bool *kinked;                  // by id: meets a kink
    bool *carries;                 // by id: lasting contact, all stages
    bool *lasting;                 // by id: held at the end as well, (DG-10)
} work;

static void carve(work *w, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt, bool plus) {
    w->plus = plus;
    w->m = (int)opt[OPT_ORDER];
    if (w->m == 0) {
        assert(carom_scheme_moreau_jean.work_size <= sizeof w->moreau);
        carom_scheme_moreau_jean.carve(w->moreau, mem, keep, sys, (double[]){plus ? 1 : 0, 1});
        return;
    }
    const size_t nb = (size_t)(sys->ne + sys->nc), nv = (size_t)sys->nv;
    w->dg = carom_carve_dg(mem, sys, w->m, plus);
    w->kept = carom_carve(keep, nb);
    w->F = carom_carve_factor(mem, sys->mass_shape, true);
    w->L = carom_carve_local(mem, sys);
    w->a_0 = carom_carve(mem, nv);
    w->v_1 = carom_carve(mem, nv);
    double **by_id[] = {&w->g, &w->sign, &w->u, &w->u_0, &w->bias, &w->u_b, &w->u_f, &w->u_a, &w->p_i, &w->p_f, &w->s};
    for (size_t i = 0; i < sizeof by_id / sizeof *by_id; ++i) *by_id[i] = carom_carve(mem, nb);
    w->closed_0 = carom_carve_bytes(mem, nb * sizeof(bool));
    w->still = carom_carve_bytes(mem, nb * sizeof(bool));
    w->carries = carom_carve_bytes(mem, nb * sizeof(bool));
    w->kinked = carom_carve_bytes(mem, nb * sizeof(bool));
    w->lasting = carom_carve_bytes(mem, nb * sizeof(bool));
    w->dg.lasting = w->lasting;
    w->dg.bias = w->bias;
}

static void carve_plus(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    carve(memory, mem, keep, sys, opt, true);
}
static void carve_minus(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    carve(memory, mem, keep, sys, opt, false);
}

// -- sets ------------------------------------------------------------------------------------------------------

static int constraints(const carom_step *s) { return s->sys->ne + s->sys->nc; }

// L's set: bilateral constraints and the contacts that `in` names.
static void set(work *w, const carom_step *s, carom_local *L, const bool *in) {
    for (int id = 0; id < constraints(s); ++id) w->sign[id] = in[id] ? -1 : 1;
    carom_close(s, L, w->sign);
}

// u_0 = W(q_0)'v_0 + w of every constraint, once per step and only when needed.
static carom_status before(work *w, carom_step *s) {
    if (w->have_u_0) return CAROM_OK;
    carom_close_all(s, &w->L);
    CAROM_TRY(carom_directions(s, &w->L, s->t, s->q));
    carom_local_velocity(w->u_0, &w->L, s->v);
    w->have_u_0 = true;
    return CAROM_OK;
}

// (CL-5)  A contact closed at t_0 that meets a kink on the way to q_0 + h v_0 approaches with the velocity along the directions
//         there, and does not rest.
static carom_status kinks(work *w, carom_step *s) {
    carom_dg_block *b = w->dg.block;
    set(w, s, &b->L, w->closed_0);
    carom_move(s, b->q, s->q, s->h, s->v);
    CAROM_TRY(carom_directions(s, &b->L, s->t + s->h, b->q));
    for (int k = 0; k < b->L.nb; ++k) w->u[k] = w->u_0[b->L.id[k]];
    CAROM_TRY(carom_velocity_before(s, w->u, &b->L, (carom_place){.t = s->t + s->h, .q = b->q, .v = s->v}));
    for (int k = 0; k < b->L.nb; ++k) {
        const int id = b->L.id[k];
        w->kinked[id] = w->u[k] < 0 && w->u[k] != w->u_0[id];
        if (w->kinked[id]) w->u_0[id] = w->u[k];
    }
    return CAROM_OK;
}

// Is the contact at rest: no velocity but the rounding of W_k'v?
static bool at_rest(const work *w, const carom_step *s, int id) {
    return fabs(w->u_0[id]) <= s->tol * fmax(s->scale, carom_local_reach(&w->L, id, s->v));
}

// -- one stage whose state is known ------------------------------------------------------------------------------

// (DG-7)  M_l a_l = f_l + W_l lambda_l,   0 <= lambda_l _|_ W_l'a_l + kappa_l >= 0 on the set of the block
static carom_status explicit_stage(work *w, carom_step *s, int l) {
    carom_dg_block *b = w->dg.block + l;
    CAROM_TRY(carom_free_motion(s, &w->F, b->a, NULL, b->t, b->q, b->v));
    if (b->L.nb == 0) return CAROM_OK;
    CAROM_TRY(carom_directions(s, &b->L, b->t, b->q));
    CAROM_TRY(carom_curvature(s, s->c, &b->L, b->t, b->q, b->v));
    carom_problem_form(s, &b->L, &b->L, &w->F, 1);
    for (int k = 0; k < b->L.nb; ++k) s->c[k] = s->h * (s->c[k] + carom_column_dot(&b->L.W, k, b->a));
    CAROM_TRY(carom_problem_solve(s, &b->L));
    for (int k = 0; k < b->L.nb; ++k) b->lambda[k] = s->p[k] / s->h, b->row[k] = s->problem.u[k];
    carom_problem_apply(s, b->a, 1 / s->h);
    return CAROM_OK;
}

// -- the start of the step ------------------------------------------------------------------------------------------

// First guess of the stages: the acceleration at t_0, no jump.
static void guess(work *w, const carom_step *s) {
    for (int l = 0; l <= w->m; ++l) carom_copy(w->dg.block[l].a, w->a_0, s->sys->nv);
    carom_zero(w->dg.block[w->m + 1].a, s->sys->nv);
}

// (DG-8)  closed and not opening at t_0:  I_0 = { j : kept, or g_j <= 0 and u_j <= 0 },  lambda_0 on it.
//         Carrying: bilateral constraints and those of I_0 at rest that do not open, lambda_0j > 0 or u'_0j <= 0.
static carom_status begin(work *w, carom_step *s) {
    carom_dg_block *b = w->dg.block;
    const int ne = s->sys->ne, all = constraints(s);
    bool any = false;
    w->have_u_0 = w->plastic = false;
    CAROM_TRY(carom_gaps(s, w->g, s->t, s->q));
    for (int id = 0; id < all; ++id) {
        w->closed_0[id] = id < ne || w->kept[id] != 0 || carom_closed(s, w->g[id]);
        any = any || w->closed_0[id];
        w->carries[id] = w->lasting[id] = w->kinked[id] = false;
    }
    if (any) CAROM_TRY(before(w, s));
    if (any && s->sys->nc > 0) CAROM_TRY(kinks(w, s));
    for (int id = 0; id < all; ++id) {
        w->still[id] = w->closed_0[id] && !w->kinked[id] && (id < ne || w->kept[id] != 0 || at_rest(w, s, id));
        w->lasting[id] = w->still[id] || (w->closed_0[id] && w->u_0[id] <= 0);
    }
    set(w, s, &b->L, w->lasting);

    b->t = s->t;
    carom_copy(b->q, s->q, s->sys->nq);
    carom_copy(b->v, s->v, s->sys->nv);
    CAROM_TRY(explicit_stage(w, s, 0));
    for (int k = 0; k < b->L.nb; ++k) {
        const int id = b->L.id[k];
        w->carries[id] = w->still[id] && (id < ne || b->lambda[k] > 0 || b->row[k] <= 0);
    }
    for (int id = 0; id < all; ++id) w->lasting[id] = id >= ne && w->carries[id];
    carom_copy(w->a_0, b->a, s->sys->nv);
    guess(w, s);
    return CAROM_OK;
}

// (DG-11)  restitution of contact id in this step: none at rest, and none when it was closed all the time (rest=settle)
static double restitution(const work *w, const carom_step *s, int id) {
    if (id < s->sys->ne || w->still[id] || w->plastic) return 0;
    const bool settles = s->opt[OPT_REST] == 0 && w->u_0[id] >= 0 && (w->plus || w->closed_0[id]);
    return settles ? 0 : s->sys->contacts[id - s->sys->ne].restitution;
}

// Do the exceptions of (DG-11) give contacts of the impulse different coefficients?  Only then can contacts that oppose each
// other leave Newton's law without a solution, or with one that creates energy.
static bool mixed(const work *w, const carom_step *s) {
    const carom_local *L = &w->dg.block[w->m + 1].L;
    bool some = false, none = false;
    for (int k = 0; k < L->nb; ++k)
        if (L->id[k] >= s->sys->ne) *(restitution(w, s, L->id[k]) > 0 ? &some : &none) = true;
    return some && none;
}

// u_f = u(q_m, v_1 - w)
static void free_velocity(work *w, const carom_step *s, const double *v_1) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    carom_local_velocity(w->u_f, &e->L, v_1);
    for (int k = 0; k < e->L.nb; ++k) w->u_f[k] -= s->h * carom_column_dot(&e->L.W, k, e->a);
}

// Does the jump w give energy to the system, walls that move aside?
static bool gains(const work *w, const carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    double given = 0, size = 0;
    for (int k = 0; k < e->L.nb; ++k) {
        const double p = s->h * e->lambda[k], mean = w->u_f[k] + 0.5 * s->h * carom_column_dot(&e->L.W, k, e->a) - e->L.w[k];
        given += p * mean;
        size += fabs(p);
    }
    return given > s->tol * s->scale * size; // with the velocities of this step: it may hold the first impact of the run
}

// -- the stages -----------------------------------------------------------------------------------------------------

// (DG-9)  I_l = carrying, and those with g_j(q_l) <= 0 and u_j(q_l, v_l) <= 0; D+: not those that bounce, e u_0 < 0.
//         *changed: the set of block l changed.
static carom_status close_stage(work *w, carom_step *s, int l, bool *changed) {
    carom_dg_block *b = w->dg.block + l;
    const int ne = s->sys->ne, nc = s->sys->nc;
    CAROM_TRY(carom_gaps(s, w->g, b->t, b->q));
    bool fresh = false;
    for (int id = 0; id < ne + nc; ++id) {
        const bool candidate = id >= ne && !w->carries[id] && carom_closed(s, w->g[id]);
        w->sign[id] = id < ne || w->carries[id] || candidate ? -1 : 1;
        fresh = fresh || candidate;
    }
    const int was = b->L.nb;
    if (fresh) {
        if (w->plus) CAROM_TRY(before(w, s));
        carom_close(s, &w->L, w->sign);
        CAROM_TRY(carom_directions(s, &w->L, b->t, b->q));
        carom_local_velocity(w->u, &w->L, b->v);
        for (int k = 0; k < w->L.nb; ++k) {
            const int id = w->L.id[k];
            if (id < ne || w->carries[id]) continue;
            const bool bounces = w->plus && restitution(w, s, id) * w->u_0[id] < 0;
            if (w->u[k] > 0 || bounces) w->sign[id] = 1;
        }
    }
    carom_close(s, &b->L, w->sign);
    *changed = *changed || b->L.nb != was;
    return CAROM_OK;
}

// The set of the impulse: bilateral constraints, lasting contacts, and those with g_j(q_m) <= 0.
static void close_end(work *w, const carom_step *s) {
    for (int id = 0; id < constraints(s); ++id)
        if (id < s->sys->ne || w->carries[id]) w->g[id] = -1;
    carom_close(s, &w->dg.block[w->m + 1].L, w->g);
}

// Held at the end only where the last stage carries: an opening contact is not pulled.
static bool release(work *w, const carom_step *s) {
    const carom_dg_block *b = w->dg.block + w->m;
    bool changed = false;
    for (int k = 0; k < b->L.nb; ++k) {
        const int id = b->L.id[k];
        if (id < s->sys->ne || !w->lasting[id] || b->lambda[k] > 0) continue;
        w->lasting[id] = false;
        changed = true;
    }
    return changed;
}

static carom_status stages_minus(work *w, carom_step *s, int *iterations) {
    carom_dg *dg = &w->dg;
    const int m = w->m;
    bool changed = false;
    if (m > 1) {
        for (int l = 1; l < m; ++l) set(w, s, &dg->block[l].L, w->carries);
        CAROM_TRY(carom_dg_solve(dg, s, 1, m - 1, iterations));
        for (int l = 1; l < m; ++l) CAROM_TRY(close_stage(w, s, l, &changed));
        if (changed) CAROM_TRY(carom_dg_solve(dg, s, 1, m - 1, iterations));
    }
    carom_dg_move(dg, s, m, m, 0);
    CAROM_TRY(close_stage(w, s, m, &changed));
    CAROM_TRY(explicit_stage(w, s, m));
    carom_dg_end(dg, s, w->v_1);
    release(w, s);
    close_end(w, s); // the gaps are those of stage m
    return CAROM_OK;
}

static void set_bias(work *w, const carom_step *s) {
    const carom_local *L = &w->dg.block[w->m + 1].L;
    for (int k = 0; k < L->nb; ++k) w->bias[L->id[k]] = restitution(w, s, L->id[k]) * w->u_0[L->id[k]];
}

static carom_status stages_plus(work *w, carom_step *s, int *iterations) {
    carom_dg *dg = &w->dg;
    const int m = w->m;
    for (int l = 1; l <= m + 1; ++l) set(w, s, &dg->block[l].L, w->carries);
    set_bias(w, s);
    CAROM_TRY(carom_dg_solve(dg, s, 0, dg->block[m + 1].L.nb > 0 ? m + 1 : m, iterations));
    bool changed = release(w, s);
    for (int l = 1; l <= m; ++l) CAROM_TRY(close_stage(w, s, l, &changed));
    const int was = dg->block[m + 1].L.nb;
    close_end(w, s); // the gaps are those of stage m
    if (dg->block[m + 1].L.nb == was && !changed) return CAROM_OK;
    CAROM_TRY(before(w, s));
    set_bias(w, s);
    const int last = dg->block[m + 1].L.nb > 0 ? m + 1 : m;
    const carom_status status = carom_dg_solve(dg, s, 0, last, iterations);
    if (status == CAROM_OK) free_velocity(w, s, dg->block[m].v);
    if (!(mixed(w, s) && (status == CAROM_RETRY || (status == CAROM_OK && gains(w, s))))) return status;
    w->plastic = true;
    set_bias(w, s);
    guess(w, s);
    return carom_dg_solve(dg, s, 0, last, iterations);
}

// -- the impulse ---------------------------------------------------------------------------------------------------------

// s_j = h sum_l beta_l lambda_lj of the constraints of the impulse
static void transmitted(work *w, const carom_step *s) {
    const carom_local *L = &w->dg.block[w->m + 1].L;
    carom_zero(w->s, L->nb);
    for (int l = 0; l <= w->m; ++l) {
        const carom_dg_block *b = w->dg.block + l;
        for (int k = 0, i = 0; k < b->L.nb; ++k) {
            while (i < L->nb && L->id[i] < b->L.id[k]) ++i;
            if (i < L->nb && L->id[i] == b->L.id[k]) w->s[i] += s->h * w->dg.c.b[l] * b->lambda[k];
        }
    }
}

// (DG-10)  v_1 = v_0 + h sum beta_l a_l + M_m^-1 W_m p,   0 <= u_1 + e o u_m _|_ p >= 0,
//          lasting contacts: 0 <= u_1 _|_ p + h sum beta_l lambda_l >= 0
static carom_status impulse_problem(work *w, carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    const carom_local *L = &e->L;
    const int n = L->nb;
    for (int k = 0; k < n; ++k) s->c[k] = w->u_f[k] + restitution(w, s, L->id[k]) * w->u_b[k];
    for (int k = 0; k < n; ++k)
        if (w->lasting[L->id[k]])
            for (int i = 0; i < n; ++i) s->c[i] -= s->G[i + k * (size_t)n] * w->s[k];
    CAROM_TRY(carom_problem_solve(s, L));
    for (int k = 0; k < n; ++k) {
        if (w->lasting[L->id[k]]) s->p[k] -= w->s[k];
        e->lambda[k] = s->p[k] / s->h;
    }
    carom_zero(e->a, s->sys->nv);
    carom_problem_apply(s, e->a, 1 / s->h);
    return CAROM_OK;
}

static carom_status impulse_minus(work *w, carom_step *s) {
    carom_dg_block *e = w->dg.block + w->m + 1;
    const int n = e->L.nb;
    if (n == 0) return CAROM_OK;
    e->t = s->t + s->h;
    CAROM_TRY(before(w, s));
    CAROM_TRY(carom_directions(s, &e->L, e->t, e->q));
    carom_local_velocity(w->u_b, &e->L, e->v);
    carom_local_velocity(w->u_f, &e->L, w->v_1);
    carom_problem_form(s, &e->L, &e->L, &w->F, 1); // F is the mass of stage m, treated last
    const carom_status status = impulse_problem(w, s);
    if (mixed(w, s) && (status == CAROM_RETRY || (status == CAROM_OK && gains(w, s)))) {
        w->plastic = true;
        CAROM_TRY(impulse_problem(w, s));
    } else if (status != CAROM_OK) {
        return status;
    }
    carom_axpy(w->v_1, s->h, e->a, s->sys->nv);
    return CAROM_OK;
}

// -- books ---------------------------------------------------------------------------------------------------------------

// (DG-12)  p of a lasting contact is an impulse when it exceeds what the force transmitted, else a part of the force; p of a
//          bilateral constraint is an impulse in a step in which a contact has one.
static void sort_impulses(work *w, const carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    bool impact = false;
    for (int k = e->L.nb - 1; k >= 0; --k) { // contacts first, bilateral constraints after them
        const int id = e->L.id[k];
        const double p = s->h * e->lambda[k];
        const bool impulse = id < s->sys->ne ? impact : !w->lasting[id] || p > w->s[k];
        impact = impact || (impulse && p > 0);
        w->p_i[k] = impulse ? p : 0;
        w->p_f[k] = impulse ? 0 : p;
    }
}

static void book_stages(work *w, carom_step *s) {
    const carom_dg *dg = &w->dg;
    const int m = w->m;
    for (int l = 0; l <= m; ++l) {
        carom_dg_block *b = dg->block + l;
        if (b->L.nb == 0) continue;
        // Forces work at the velocity of the stage without the jump.
        carom_axpy(b->v, -s->h * dg->c.A[l * (m + 1) + m] / dg->c.b[m], dg->block[m + 1].a, s->sys->nv);
        carom_local_velocity(w->u, &b->L, b->v);
        carom_book_forces(s, &b->L, b->lambda, w->u, s->h * dg->c.b[l], l == m);
    }
}

static void book_impulses(work *w, carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    const int n = e->L.nb;
    carom_local_velocity(w->u_a, &e->L, w->v_1);
    if (w->plus) free_velocity(w, s, w->v_1);
    for (int k = 0; w->plus && k < n; ++k) w->u_b[k] = w->u_0[e->L.id[k]];
    sort_impulses(w, s);
    carom_book_impulses(s, &e->L, w->p_i, w->u_b, w->u_a);
    for (int k = 0; k < n; ++k) {
        // u_b is the velocity that the law compares; the energy jumps between v_1 - w and v_1.
        const double more = carom_book_counts(s, &e->L, k, w->p_i, w->u_b) ? 0.5 * (w->u_b[k] - w->u_f[k]) * w->p_i[k] : 0;
        s->account.impact += more;
        if (e->L.id[k] >= s->sys->ne) s->lost[e->L.id[k] - s->sys->ne] += more;
        w->u[k] = 0.5 * (w->u_f[k] + w->u_a[k]);
        // A contact that leaves with a bounce has no force after it.
        if (e->L.id[k] >= s->sys->ne && w->p_i[k] > 0 && w->u_a[k] > 0) s->force[s->dir[e->L.id[k]]] = 0;
    }
    carom_book_forces(s, &e->L, w->p_f, w->u, 1, false);
}

// Kept: the contacts that the end of the step holds at u_1 = 0.
static void keep(work *w, const carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    carom_zero(w->kept, constraints(s));
    for (int k = 0; k < e->L.nb; ++k) {
        const int id = e->L.id[k];
        const double p = s->h * e->lambda[k], e_0 = restitution(w, s, id);
        w->kept[id] = id >= s->sys->ne && (w->lasting[id] ? p + w->s[k] > 0 : p > 0 && e_0 * w->u_b[k] == 0);
    }
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    if (w->m == 0) return carom_scheme_moreau_jean.step(w->moreau, s);
    carom_dg_block *end = w->dg.block + w->m, *e = end + 1;
    int iterations = 0;
    CAROM_TRY(begin(w, s));
    if (w->plus)
        CAROM_TRY(stages_plus(w, s, &iterations));
    else
        CAROM_TRY(stages_minus(w, s, &iterations));
    transmitted(w, s);
    if (w->plus)
        carom_copy(w->v_1, end->v, s->sys->nv);
    else
        CAROM_TRY(impulse_minus(w, s));

    book_stages(w, s);
    if (e->L.nb > 0) book_impulses(w, s);
    if (iterations > 0) carom_book_newton(s, iterations);
    keep(w, s);
    carom_copy(s->q, end->q, s->sys->nq);
    carom_copy(s->v, w->v_1, s->sys->nv);
    return CAROM_OK;
}

// -- the family -----------------------------------------------------------------------------------------------------------

static int order_of(const double *opt) { return (int)opt[OPT_ORDER] + 1; }
static int levels_plus(const double *opt) { return carom_dg_coupled((int)opt[OPT_ORDER], true); }
static int levels_minus(const double *opt) { return carom_dg_coupled((int)opt[OPT_ORDER], false); }

#define STAGES                                                                                                          \
    "q_l = q_0 + h sum_k beta_k(tau_l) v_k,   M_l a_l = f_l + W_l lambda_l,   l = 0..m\n"                               \
    "0 <= lambda_l _|_ W_l'a_l + kappa_l >= 0    closed, not opening contacts of stage l\n"
#define NOTES                                                                                                           \
    "Order m + 1 in smooth motion, with and without lasting contact; one more at the step ends for even m; 1 across\n"  \
    "impacts.  Stages are decided closed from the motion without newly closing contacts, so a step always has a\n"       \
    "solution.  A lasting contact is held by its force, and its velocity is exact at step ends; its gap drifts with\n"  \
    "the order of the scheme.  With rest=paper a contact that returns without having left bounces for ever.\n"
#define MEMBER(name_, about_, text_, carve_, levels_)                                                                   \
    {.name = name_, .about = about_, .text = text_, .order = 2, .order_of = order_of, .lacks = CAROM_NO_FRICTION | CAROM_NO_IMPACT_LAWS,       \
     .levels_of = levels_, .options = options, .work_size = sizeof(work), .carve = carve_, .step = step}

const carom_scheme carom_scheme_dg_plus = MEMBER(
    "dg-plus", "time-discontinuous Galerkin D+, velocity jump at the left: implicit",
    "v_l = v_0 + h beta_0 (a_0 - sum_k l~_k a_k) + h sum_k beta~_k(tau_l) a_k + (the same of p at stage m)\n" STAGES
    "v_1 = v_m,   g(q_m) <= 0: 0 <= u_1 + e u_0 _|_ p >= 0\n\n" NOTES
    "order=1 is the contemplating trapezoidal rule, order=0 moreau-jean with theta = 1.", carve_plus, levels_plus);

const carom_scheme carom_scheme_dg_minus = MEMBER(
    "dg-minus", "time-discontinuous Galerkin D-, velocity jump at the right: explicit for order=1",
    "v_l = v_0 + h sum_{k<m} beta~_k(tau_l) a_k\n" STAGES
    "v_1 = v_0 + h sum beta_l a_l + M_m^-1 W_m p,   g(q_m) <= 0: 0 <= u_1 + e u_m _|_ p >= 0\n\n" NOTES
    "order=1 is the forecasting trapezoidal rule (explicit, h omega < 2), order=0 moreau-jean with theta = 0.", carve_minus, levels_minus);
