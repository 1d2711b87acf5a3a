// dg.c: time-discontinuous Galerkin schemes of any degree, D+ and D-.
//
// Spec: docs/METHODS.md, section DG (Schindler and Acary, Timestepping schemes for nonsmooth dynamics based on
// discontinuous Galerkin methods, 2014).  Velocities are polynomials of degree m in each step; contact forces hold on
// acceleration level at the m + 1 stages, impulses on velocity level at the end of the step.  Which contacts are closed
// at which stage is decided before the stages are solved, so that there is always one solution for small steps.
//
// m = 1 is the contemplating (D+) and the forecasting (D-) trapezoidal rule, m = 0 is moreau-jean with theta = 1 and 0.
// Where move() is not a sum (quaternions), displacements are integrated by their own rates, carom_lift().
#include "base/number.h"
#include "scheme/dg/dg_step.h"
#include <math.h>
#include <string.h>

enum { AUTO = CAROM_DG_MOST + 1, HIGHEST = 8 }; // order=auto, with degrees 1 to 8
static const carom_option options[] = {
    {.name = "order", .kind = CAROM_INTEGER, .fallback = 1, .low = 0, .high = CAROM_DG_MOST, .choices = "auto",
     .about = "degree m of the velocity polynomials; the order of accuracy is m + 1 (m + 2 for even m > 0); auto: "
              "from 1 to 8, by an error estimate in each step"},
    {.name = "rest", .kind = CAROM_CHOICE, .choices = "settle|paper",
     .about = "settle: a contact that returns without having left within a step stays; paper: it bounces again, for "
              "ever"},
    {.name = "order-tol", .kind = CAROM_REAL, .fallback = 1e-8, .low = 1e-14, .high = 1,
     .about = "order=auto: error of each rate allowed in a step, relative to the largest value of that rate so far"},
    {0},
};

static void allocate(carom_dg_work *w, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt,
                     bool plus) {
    w->plus = plus;
    w->automatic = opt[CAROM_DG_ORDER] == AUTO;
    w->m = w->automatic ? HIGHEST : (int)opt[CAROM_DG_ORDER];
    if (w->m == 0) {
        carom_theta_allocate(&w->moreau, (carom_theta_rule){.theta = plus ? 1 : 0, .gamma = 0.5}, mem, NULL, sys);
        w->q_0 = carom_allocate(mem, (size_t)sys->nq);
        w->v_0 = carom_allocate(mem, (size_t)sys->nv);
        return;
    }
    const size_t nb = (size_t)(sys->ne + sys->nc), nv = (size_t)sys->nv;
    w->dg = carom_allocate_dg(mem, sys, w->automatic ? 1 : w->m, w->m, plus);
    if (w->automatic) {
        w->degree = carom_allocate(keep, HIGHEST + 2);
        w->largest = carom_allocate(keep, nv);
    }
    w->kept = carom_allocate(keep, nb);
    w->F = carom_allocate_factor(mem, sys->mass_shape, true);
    w->L = carom_allocate_local(mem, sys);
    const size_t rows = (size_t)w->L.W.n;
    w->start = carom_allocate_ints(mem, nb + 1);
    if (w->start) carom_dg_directions(w, sys);
    w->rubs = rows > nb;
    CAROM_ALLOCATE(mem, nv, &w->a_0, &w->v_1);
    CAROM_ALLOCATE(mem, nb, &w->g, &w->sign);
    CAROM_ALLOCATE(mem, rows, &w->u, &w->u_0, &w->bias, &w->slow, &w->lambda_0, &w->u_b, &w->u_f, &w->u_a, &w->p_i,
                   &w->p_f, &w->s);
    w->closed_0 = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->still = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->carries = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->kinked = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->gives_none = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->lasting = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->slips = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->turns = carom_allocate_bytes(mem, nb * sizeof(bool));
    w->stays = carom_allocate_bytes(mem, nb * sizeof(bool));
    if (w->dg.S.on) w->dg.chord.whole = carom_allocate(keep, 1);
    if (plus && w->dg.S.on) w->past = carom_allocate_past(keep, sys), w->p_past = carom_allocate(mem, (size_t)sys->ne);
    w->dg.start = w->start;
    w->dg.lasting = w->lasting;
    w->dg.slow = w->slow;
    w->dg.lambda_0 = w->lambda_0;
    w->dg.bias = w->bias;
}

static void allocate_plus(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys,
                          const double *opt) {
    allocate(memory, mem, keep, sys, opt, true);
}
static void allocate_minus(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys,
                           const double *opt) {
    allocate(memory, mem, keep, sys, opt, false);
}

// -- books ------------------------------------------------------------------------------------------------------------

// (DG-12)  p of a lasting contact is an impulse when it exceeds what the force transmitted, else a part of the force; p
//          of a bilateral constraint is an impulse in a step in which a contact has one.
static void sort_impulses(carom_dg_work *w, const carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    bool impact = false;
    for (int b = e->L.nb - 1; b >= 0; --b) { // contacts first, bilateral constraints after them
        const int id = e->L.id[b], first = e->L.at[b];
        const double p = s->h * e->lambda[first];
        const bool impulse = id < s->sys->ne ? impact : !w->lasting[id] || p > w->s[first];
        impact = impact || (impulse && p > 0);
        for (int k = first; k < e->L.at[b + 1]; ++k) {
            w->p_i[k] = impulse ? s->h * e->lambda[k] : 0;
            w->p_f[k] = impulse ? 0 : s->h * e->lambda[k];
        }
    }
}

static void book_stages(carom_dg_work *w, carom_step *s) {
    const carom_dg *dg = &w->dg;
    const int m = w->m;
    for (int l = 0; l <= m; ++l) {
        carom_dg_block *b = dg->block + l;
        if (b->L.nb == 0) continue;
        // Forces work at the velocity of the stage without the jump.
        carom_copy(dg->x, b->v, s->sys->nv);
        carom_axpy(dg->x, -s->h * dg->c.A[l * (m + 1) + m] / dg->c.b[m], dg->block[m + 1].a, s->sys->nv);
        carom_local_velocity(w->u, &b->L, dg->x);
        carom_account_forces(s, &b->L, b->lambda, w->u, s->h * dg->c.b[l], l == m);
    }
}

// D-: what forces without potential do at the stages, along the velocities between which they act; D+ has the
// velocities of its motion.
static carom_status book_power(carom_dg_work *w, carom_step *s) {
    const carom_dg *dg = &w->dg;
    if (w->plus || !s->sys->accounts->power_along) return CAROM_OK;
    carom_power_begin(s);
    for (int l = 0; l <= w->m; ++l)
        CAROM_TRY(carom_power_stage(s, s->h * dg->c.b[l], dg->block[l].t, dg->block[l].q, dg->block[l].v));
    carom_copy(dg->x, w->v_1, s->sys->nv);
    if (dg->block[w->m + 1].L.nb > 0) carom_axpy(dg->x, -s->h, dg->block[w->m + 1].a, s->sys->nv);
    carom_account_power(s, s->v, dg->x);
    return CAROM_OK;
}

// (DG-23)  e of the law of direction i, D+: its u_0 is older than the impulse by the step.  D-: its velocity is without
//          the forces of the stages, which u_f has: 0.
static double returned(const carom_dg_work *w, int id, int i, double u) {
    return w->plus && u != 0 ? fmin(fmax(w->bias[w->start[id] + i] / u, 0), 1) : 0;
}

static void book_impulses(carom_dg_work *w, carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    const carom_local *L = &e->L;
    carom_local_velocity(w->u_a, L, w->v_1);
    if (w->plus) carom_dg_free_velocity(w, s, w->v_1);
    for (int b = 0; w->plus && b < L->nb; ++b)
        carom_copy(w->u_b + L->at[b], w->u_0 + w->start[L->id[b]], L->at[b + 1] - L->at[b]);
    sort_impulses(w, s);
    carom_account_impulses(s, L, w->p_i, w->u_b, w->u_a);
    for (int b = 0; b < L->nb; ++b) {
        const int id = L->id[b], first = L->at[b];
        const bool counts = carom_account_counts(s, L, b, w->p_i, w->u_b);
        for (int k = first; k < L->at[b + 1]; ++k) {
            // The energy jumps between v_1 - w and v_1: what the law takes of it is counted, with D+ without the error
            // of giving back e u_b where u_f arrives.
            const double more =
                counts ? 0.5 * (1 - returned(w, id, k - first, w->u_b[k])) * (w->u_b[k] - w->u_f[k]) * w->p_i[k] : 0;
            *(k == first ? &s->record.account.impact : &s->record.account.friction) += more;
            if (k == first && id >= s->sys->ne) s->record.lost[id - s->sys->ne] += more;
            w->u[k] = 0.5 * (w->u_f[k] + w->u_a[k]);
        }
        // A contact that leaves with a bounce has no force after it; rounding is no bounce, as in (DG-8).
        const double none = fmax(s->tol * fmax(s->scale, carom_local_magnitude(L, first, w->v_1)),
                                 carom_impulse_rounding(s));
        if (id >= s->sys->ne && w->p_i[first] > 0 && w->u_a[first] > none)
            carom_zero(s->record.force + s->dir[id], L->at[b + 1] - first);
    }
    carom_account_forces(s, L, w->p_f, w->u, 1, false);
}

// Kept: the contacts that the end of the step holds at u_1 = 0, on the features that they had at its start (CL-12).
static carom_status keep(carom_dg_work *w, carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    const double *q_1 = w->dg.block[w->m].q;
    bool some = false;
    for (int id = 0; id < s->sys->ne + s->sys->nc; ++id) w->still[id] = false;
    for (int b = 0; b < e->L.nb; ++b) {
        const int id = e->L.id[b], k = e->L.at[b];
        const double p = s->h * e->lambda[k];
        w->still[id] = id >= s->sys->ne && (w->lasting[id] ? p + w->s[k] > 0 : p > 0 && w->bias[w->start[id]] == 0);
        some = some || w->still[id];
    }
    if (some && s->sys->events->freeze) {
        CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, q_1));
        CAROM_TRY(carom_run_off(s, &e->L, (carom_evaluation_point){.t = s->t, .q = s->q},
                                (carom_evaluation_point){.t = s->t + s->h, .q = q_1}, w->g, w->sign, w->still));
    }
    for (int id = 0; id < s->sys->ne + s->sys->nc; ++id) w->kept[id] = w->still[id];
    return CAROM_OK;
}

// -- order=auto -------------------------------------------------------------------------------------------------------

// Coefficient k of Chebyshev's polynomials in the accelerations of coordinate i, which stand at the extreme points.
static double coefficient(const carom_dg_work *w, int k, int i) {
    const int m = w->m;
    double sum = 0;
    for (int l = 0; l <= m; ++l)
        sum += (l % m == 0 ? 0.5 : 1) * w->dg.block[l].a[i] * cos(3.14159265358979323846 * (double)(k * l) / m);
    return fabs(sum) * (k % m == 0 ? 1 : 2) / m;
}

// (DG-19)  a(x) = sum c_k T_k:  e_m = h c_m r,  r = min(1, c_m/c_(m-1)) the decay; no less than the coefficients before
//          promise, so that one that happens to vanish does not count.  *error: e_m over the tolerance.
//          *enough: the lowest degree k with  h c_j <= 1/4 of it  for all j > k
static void estimate(carom_dg_work *w, const carom_step *s, double *error, double *decay, int *enough) {
    static const double SAFE = 0.25, LEAST = 1e-6; // LEAST: of the fastest velocity: slower ones are not resolved any
                                                   // better
    const double floor = LEAST * carom_size_of_rates(s->sys, w->largest);
    *error = 0;
    *decay = *enough = 1;
    for (int i = 0; i < s->sys->nv; ++i) {
        const double size = fmax(fmax(fabs(w->v_1[i]), w->largest[i]), floor / carom_lever(s->sys, i)),
                     unit = s->h / (s->opt[CAROM_DG_ORDER_TOL] * size);
        double before = 0, below = coefficient(w, 0, i), c = below;
        for (int k = 1; k <= w->m; ++k, before = below, below = c) {
            c = coefficient(w, k, i);
            if (k > 1 && k == w->m) c = fmax(c, fmin(1, below / before) * below);
            if (size > 0 && c * unit > SAFE && k > *enough) *enough = k;
            if (k < w->m || !(size > 0 && c > 0)) continue;
            const double r = fmin(1, c / below);
            if (unit * c * r > *error) *error = unit * c * r, *decay = r;
        }
    }
}

// Did an impulse of an impact act?  Then no degree helps.
static bool jumped(const carom_dg_work *w, const carom_step *s) {
    const carom_dg_block *e = w->dg.block + w->m + 1;
    for (int b = s->sys->ne; b < e->L.nb; ++b)
        if (!w->lasting[e->L.id[b]] && !w->still[e->L.id[b]] && e->lambda[e->L.at[b]] > 0) return true;
    return false;
}

// (DG-20)  from the degree of the last step up until e_m is within tolerance, there is an impact, or e_m has not halved
//          twice
static carom_status choose(carom_dg_work *w, carom_step *s, int *iterations) {
    enum { LEAP = 3 };
    int m = w->degree[0] > 0 ? (int)w->degree[0] : 1, again = 0, stalls = 0, enough;
    double error, decay, last = HUGE_VAL;
    for (bool calmer = false;; again += 1) {
        const carom_status status = carom_dg_attempt(w, s, m, iterations);
        if (status == CAROM_RETRY && m > 1) { // the lowest degree is the most robust
            m = 1, calmer = true;
            continue;
        }
        CAROM_TRY(status);
        estimate(w, s, &error, &decay, &enough);
        stalls += error > 0.5 * last; // not halved
        if (calmer || jumped(w, s) || error <= 1 || m == HIGHEST || stalls == 2) break;
        const double missing = decay < 1 ? ceil(log(error) / -log(decay)) : 1;
        m += (int)fmin(fmin(fmax(missing, 1), LEAP), HIGHEST - m);
        last = error;
    }
    w->degree[m] += 1;
    w->degree[HIGHEST + 1] += again;
    w->degree[0] = enough;
    for (int i = 0; i < s->sys->nv; ++i) w->largest[i] = fmax(w->largest[i], fabs(w->v_1[i]));
    return CAROM_OK;
}

static void say(const void *memory, char *text, size_t size) {
    const carom_dg_work *w = memory;
    double steps = 0, sum = 0;
    if (!w->automatic) return;
    for (int m = 1; m <= HIGHEST; ++m) steps += w->degree[m], sum += m * w->degree[m];
    if (steps == 0) return;
    carom_format(text, size, "mean degree %.2f, %.0f attempts repeated; steps by degree", sum / steps,
                 w->degree[HIGHEST + 1]);
    for (int m = 1; m <= HIGHEST; ++m) {
        const size_t used = strlen(text);
        carom_format(text + used, size - used, "%s %d: %.0f", m > 1 ? "," : "", m, w->degree[m]);
    }
}

// -- the step ---------------------------------------------------------------------------------------------------------

static carom_status step(void *memory, carom_step *s) {
    carom_dg_work *w = memory;
    if (!w->automatic && w->m == 0) {
        carom_copy(w->q_0, s->q, s->sys->nq);
        carom_copy(w->v_0, s->v, s->sys->nv);
        return carom_theta_step(&w->moreau, s);
    }
    int iterations = 0;
    CAROM_TRY(w->automatic ? choose(w, s, &iterations) : carom_dg_attempt(w, s, w->m, &iterations));
    CAROM_TRY(book_power(w, s)); // before anything is kept
    book_stages(w, s);
    if (w->dg.block[w->m + 1].L.nb > 0) book_impulses(w, s);
    if (iterations > 0) carom_account_newton(s, iterations);
    CAROM_TRY(keep(w, s));
    carom_copy(s->q, w->dg.block[w->m].q, s->sys->nq);
    carom_copy(s->v, w->v_1, s->sys->nv);
    return CAROM_OK;
}

static void forget(void *memory, carom_step *s, int id) {
    (void)s;
    carom_dg_work *w = memory;
    if (w->kept) w->kept[id] = 0;
}

// v(x) = sum L_k(x) v_k,  q(x) = q_0 (+) h sum beta_k(x) v_k; m = 0: v constant, v_1 (D+) or v_0 (D-)
static void dense(void *memory, const carom_step *s, double x, double *q, double *v) {
    carom_dg_work *w = memory;
    const carom_dg *dg = &w->dg;
    const int nv = s->sys->nv;
    double value[CAROM_DG_MOST + 1], integral[CAROM_DG_MOST + 1];
    if (!w->automatic && w->m == 0) {
        carom_copy(v, w->plus ? s->v : w->v_0, nv);
        carom_move(s, q, w->q_0, x * s->h, v);
        return;
    }
    carom_dg_basis(&dg->c, x, value, integral);
    carom_zero(v, nv);
    for (int k = 0; k <= w->m; ++k) carom_axpy(v, integral[k], s->sys->lift ? dg->d + k * nv : dg->block[k].v, nv);
    carom_move(s, q, dg->block[0].q, s->h, v);
    carom_zero(v, nv);
    for (int k = 0; k <= w->m; ++k) carom_axpy(v, value[k], dg->block[k].v, nv);
}

// -- the family -------------------------------------------------------------------------------------------------------

// the least of them
static int order_of(const double *opt) { return opt[CAROM_DG_ORDER] == AUTO ? 2 : (int)opt[CAROM_DG_ORDER] + 1; }
static int highest(const double *opt) { return opt[CAROM_DG_ORDER] == AUTO ? HIGHEST : (int)opt[CAROM_DG_ORDER]; }
static int levels_plus(const double *opt) { return carom_dg_coupled(highest(opt), true); }
static int levels_minus(const double *opt) { return carom_dg_coupled(highest(opt), false); }

#define STAGES                                                                                                         \
    "q_l = q_0 + h sum_k beta_k(tau_l) v_k,   M_l a_l = f_l + W_l lambda_l,   l = 0..m\n"                              \
    "0 <= lambda_l _|_ W_l'a_l + kappa_l >= 0    closed, not opening contacts of stage l\n"
#define NOTES                                                                                                          \
    "Order m + 1 in smooth motion, with and without lasting contact; one more at the step ends for even m; 1 across\n" \
    "impacts.  Stages are decided closed from the motion without newly closing contacts, so a step always has a\n"     \
    "solution.  A lasting contact is held by its force, and its velocity is exact at step ends; its gap drifts with\n" \
    "the order of the scheme.  With rest=paper a contact that returns without having left bounces for ever.\n"         \
    "Friction: lasting contacts that slide do so at all stages, lambda_T = -mu lambda_N u_T/|u_T|, and keep the "      \
    "order;\n"                                                                                                         \
    "those that stick, and impacts, obey Coulomb's law.  order=auto chooses m from 1 to 8 in each step by the decay "  \
    "of\n"                                                                                                             \
    "the accelerations' Chebyshev coefficients; the ledger counts the degrees.  Other laws of impact than Newton's: "  \
    "the\n"                                                                                                            \
    "velocities that the impact leaves take the place of -e u.\n"
#define MEMBER(name_, about_, text_, allocate_, levels_, plus_)                                                        \
    {                                                                                                                  \
        .name = name_, .about = about_, .text = text_, .order = 2, .order_of = order_of,                               \
        .promises = {.contacts = CAROM_ACCELERATION_LEVEL,                                                             \
                     .joint_order = 2,                                                                                 \
                     .limited_steps = true,                                                                            \
                     .forces = CAROM_AT_START | CAROM_AT_END,                                                          \
                     .gaps = CAROM_AT_END,                                                                             \
                     .directions = CAROM_AT_START | CAROM_AT_END,                                                      \
                     .slow_piles = plus_,                                                                              \
                     .no_piles = plus_},                                                                               \
        .levels_of = levels_, .full_levels = true, .limitations = CAROM_NO_REST, .dense_operator = true,               \
        .options = options, .work_size = sizeof(carom_dg_work), .allocate = allocate_, .step = step,                   \
        .reset_contact = forget, .dense = dense, .describe = say, .follows_features = true                             \
    }

const carom_scheme carom_scheme_dg_plus = MEMBER(
    "dg-plus", "time-discontinuous Galerkin D+, velocity jump at the left: implicit",
    "v_l = v_0 + h beta_0 (a_0 - sum_k l~_k a_k) + h sum_k beta~_k(tau_l) a_k + (the same of p at stage m)\n" STAGES
    "v_1 = v_m,   g(q_m) <= 0: 0 <= u_1 + e u_0 _|_ p >= 0\n\n" NOTES
    "order=1 is the contemplating trapezoidal rule, order=0 moreau-jean with theta = 1.",
    allocate_plus, levels_plus, true);

const carom_scheme carom_scheme_dg_minus =
    MEMBER("dg-minus", "time-discontinuous Galerkin D-, velocity jump at the right: explicit for order=1",
           "v_l = v_0 + h sum_{k<m} beta~_k(tau_l) a_k\n" STAGES
           "v_1 = v_0 + h sum beta_l a_l + M_m^-1 W_m p,   g(q_m) <= 0: 0 <= u_1 + e u_m _|_ p >= 0\n\n" NOTES
           "order=1 is the forecasting trapezoidal rule (explicit, h omega < 2), order=0 moreau-jean with theta = 0.",
           allocate_minus, levels_minus, false);
