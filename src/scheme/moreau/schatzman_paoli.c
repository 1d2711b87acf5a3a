// schatzman_paoli.c: the two-step scheme of Schatzman and Paoli, constraints on position level.
//
// Spec: docs/METHODS.md, section SP.  Written in increments d_k = (q_k - q_{k-1})/h, which is the same scheme
// and also serves coordinates that are not vectors.  The scheme runs one position ahead of what it reports, so
// that the reported velocity is the central difference at the reported time.
#include "scheme/inside.h"
#include "linalg/matrix.h"
#include "scheme/newton.h"
#include <math.h>

enum { OPT_THETA };
static const carom_option options[] = {
    {.name = "theta", .kind = CAROM_REAL, .fallback = NAN, .derived = "none", .low = 0, .high = 1,
     .about = "implicit: forces at k + theta, mass at k + 1; none: explicit, both at k"},
    {0},
};

enum { MOST = 50 }; // iterations for curved gaps and implicit forces

// A step from increment d, position q and time t, with the force impulse weight x h; t_z is the time of z.
typedef struct span {
    double t, x, t_z;
    const double *q, *d;
} span;

typedef struct work {
    span span;
    bool good;                    // the last reactions meet the laws
    carom_factor F;               // explicit: M(q_k); implicit: iteration matrix
    carom_local R;                // of constraints on rates: directions at q_k
    carom_local L, V;             // directions at z; implicit: the same as rows, because the iteration matrix is not
                                  // symmetric; walls that move: those of t_k
    bool implicit;
    double e, theta;              // the one restitution
    double *ahead, *d;            // kept: q_k (one ahead of the report), d_k
    double *power;                // kept: external and damping power at the last report
    double *since, *taken;        // kept: by contact, steps in a row that push it, at most 3; what the impact of the
                                  // last step has taken so far
    double *first, *law, *work, *booked; // kept, by contact, of its first step: velocity before it, impulse of the law,
                                         // work of the impulse; what was booked
    double *d_f, *d_1, *dz;       // new increment without reactions and with them; z = q_k + h/(1+e) dz
    double *z, *g, *u, *u_0, *u_f, *p;
    double *strikes;              // by row of L: 1 where a contact is struck
    bool *in;                     // by id: contacts that take part
    carom_matrix M, K, C, A;      // implicit, as what follows
    double *q_1, *q_t, *v_t;      // q_{k+1}, q_{k+theta}, v_{k+theta}
    double *y, *f, *r, *size;     // d_{k+1} - d_k; forces; residual and magnitude of its terms
} work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    work *w = memory;
    const size_t nv = (size_t)sys->nv, nq = (size_t)sys->nq, nb = (size_t)(sys->ne + sys->nc);
    w->e = sys->nc > 0 ? sys->contacts[0].restitution : 0;
    w->theta = opt[OPT_THETA];
    w->implicit = !isnan(w->theta);
    w->F = carom_allocate_factor(mem, w->implicit ? sys->tangent_shape : sys->mass_shape, !w->implicit);
    w->L = carom_allocate_local(mem, sys);
    if (sys->nrates) w->R = carom_allocate_local(mem, sys);
    w->ahead = carom_allocate(keep, nq);
    w->d = carom_allocate(keep, nv);
    w->power = carom_allocate(keep, 2);
    w->since = carom_allocate(keep, (size_t)sys->nc);
    w->taken = carom_allocate(keep, 1);
    CAROM_ALLOCATE(keep, (size_t)sys->nc, &w->first, &w->law, &w->work, &w->booked);
    CAROM_ALLOCATE(mem, nv, &w->d_f, &w->d_1, &w->dz);
    w->z = carom_allocate(mem, nq);
    w->g = carom_allocate(mem, nb);
    const size_t nl = (size_t)w->L.W.n;
    CAROM_ALLOCATE(mem, nl, &w->u, &w->u_0, &w->u_f, &w->p);
    w->in = carom_allocate_bytes(mem, nb * sizeof(bool));
    if (w->implicit || !(sys->flags & CAROM_TIMELESS_GAPS)) w->V = carom_allocate_local(mem, sys);
    w->strikes = carom_allocate(mem, nb);
    if (!w->implicit) return;
    w->M = carom_allocate_matrix(mem, sys->mass_shape);
    carom_matrix *tangents[] = {&w->K, &w->C, &w->A};
    for (size_t i = 0; i < sizeof tangents / sizeof *tangents; ++i)
        *tangents[i] = carom_allocate_matrix(mem, sys->tangent_shape);
    CAROM_ALLOCATE(mem, nq, &w->q_1, &w->q_t);
    CAROM_ALLOCATE(mem, nv, &w->v_t, &w->y, &w->f, &w->r, &w->size);
}

// (SP-2)  z = (q_{k+1} + e q_{k-1})/(1 + e) = q_k + h/(1 + e) (d_{k+1} - e d_k), and the gaps there
static carom_status gaps_at_z(work *w, carom_step *s) {
    const span *a = &w->span;
    carom_add(w->dz, w->d_1, -w->e, a->d, s->sys->nv);
    carom_move(s, w->z, a->q, s->h / (1 + w->e), w->dz);
    return carom_gaps(s, w->g, a->t_z, w->z);
}

// One iteration of Newton's method at d_1: d_f and the factor of its matrix.  *small: is the equation met with the
// reactions p?
static carom_status linearise(work *w, carom_step *s, int k, bool *small) {
    const span *a = &w->span;
    const int nv = s->sys->nv;
    const double h = s->h, theta = w->theta, t_1 = a->t + h, t_t = a->t + theta * h;
    // (SP-6)  q_{k+theta} = q_k + theta h d_{k+1},   v_{k+theta} = (1 - theta) v_k + theta (d_k + d_{k+1})/2
    carom_move_iterate(s, w->q_1, a->q, h, w->d_1, k);
    carom_move_iterate(s, w->q_t, a->q, theta * h, w->d_1, k);
    for (int i = 0; i < nv; ++i) w->v_t[i] = (1 - theta) * s->v[i] + 0.5 * theta * (a->d[i] + w->d_1[i]);
    carom_add(w->y, w->d_1, -1, a->d, nv);
    CAROM_TRY(carom_mass(s, w->M, t_1, w->q_1));
    CAROM_TRY(carom_force(s, w->f, t_t, w->q_t, w->v_t));
    // (SP-7)  R = M(q_{k+1}) (d_{k+1} - d_k) - h f(t_{k+theta}, q_{k+theta}, v_{k+theta}),   R - W(z) p = 0
    carom_matrix_mul(w->r, w->M, w->y);
    carom_matrix_mul(w->size, w->M, w->d_1);
    for (int i = 0; i < nv; ++i) {
        w->r[i] -= a->x * h * w->f[i];
        w->size[i] = fabs(w->size[i]) + a->x * h * fabs(w->f[i]);
    }
    carom_local_react(w->r, -1, &w->L, w->p);
    *small = carom_motion_met(s, carom_momentum_size(w->r, w->M), carom_momentum_size(w->size, w->M),
                              k > 0 ? a->x * h : 0, w->K, w->M, a->q, w->d_f);
    // (SP-8)  A = M + x h theta (C/2 + h K) + h d(M y)/dq - h/(1 + e) d(W p)/dq
    CAROM_TRY(carom_tangent(s, w->K, w->C, t_t, w->q_t, w->v_t));
    carom_matrix_zero(w->A);
    carom_matrix_add(w->A, 1, w->M);
    carom_matrix_add(w->A, 0.5 * a->x * h * theta, w->C);
    carom_matrix_add(w->A, a->x * h * h * theta, w->K);
    CAROM_TRY(carom_mass_gradient(s, w->A, h, t_1, w->q_1, w->y));
    CAROM_TRY(carom_reaction_gradient(s, w->A, -h / (1 + w->e), &w->L, w->p, a->t_z, w->z));
    CAROM_TRY(carom_iteration_factor(s, &w->F, w->A));
    carom_local_react(w->r, 1, &w->L, w->p);
    carom_factor_solve(&w->F, w->r);
    carom_add(w->d_f, w->d_1, -1, w->r, nv);
    return CAROM_OK;
}

// The rows of W'M^-1 W: where M is an iteration matrix that is not symmetric, directions of their own.
static const carom_local *rows(work *w) {
    if (!w->implicit) return &w->L;
    carom_local_same(&w->V, &w->L);
    carom_local_blend(&w->V, &w->L, 0, NULL);
    return &w->V;
}

// (SP-3)  0 <= g(z) _|_ p >= 0 with g linearised at the last z, M (d_{k+1} - d_f) = W(z) p; joints: g(z) = 0.
//         In velocity units: u = g(z)/h, G = W'M^-1 W/(1 + e).
static carom_status react(work *w, carom_step *s) {
    const int nv = s->sys->nv;
    if (w->L.nb > 0) {
        carom_problem_form(s, rows(w), &w->L, &w->F, 1 / (1 + w->e));
        carom_add(w->dz, w->d_f, -1, w->d_1, nv); // from the last iterate back to the free increment
        for (int b = 0; b < w->L.nb; ++b)
            s->c[b] = w->g[w->L.id[b]] / s->h + carom_column_dot(&w->L.W, b, w->dz) / (1 + w->e);
        for (int b = s->sys->ne - s->sys->nrates; b < s->sys->ne; ++b) // (SP-15)
            s->c[b] = (carom_column_dot(&w->L.W, b, w->d_f) + carom_column_dot(&w->L.W, b, w->span.d) +
                       2 * w->L.w[b]) / (1 + w->e);
        CAROM_TRY(carom_problem_solve(s, &w->L));
    }
    carom_copy(w->d_1, w->d_f, nv);
    if (w->L.nb == 0) return CAROM_OK;
    carom_problem_apply(s, w->d_1, 1);
    carom_copy(w->p, s->problem.p, s->problem.n);
    return CAROM_OK;
}

// What rounding may leave in the gap of row b.  Gaps may hold lengths larger than what moves, and z may be a small
// difference of large terms: from the fourth iterate on the largest of them stands for all.
// Before, `size` is that of positions.
static double rounding(const work *w, const carom_step *s, int b, int k, double size) {
    if (k < 3) return carom_local_rounding_within(&w->L, b, w->z, s->sys->nq, size);
    return carom_local_rounding(&w->L, b, w->dz, s->sys->nv);
}

// Does the law hold at the new z itself, within tolerance or the gap's own rounding, and no other contact come into
// play?
static bool met(work *w, carom_step *s, int k) {
    const carom_system *sys = s->sys;
    const double size = sys->nq == sys->nv ? 0 : carom_size_of_positions(sys, w->z),
                 most = fmax(carom_size_moving(sys, w->span.q, sys->nq),
                             s->h * fmax(carom_norm_max(w->d_1, sys->nv), carom_norm_max(w->span.d, sys->nv)));
    bool more = false, good = true;
    for (int i = 0; k >= 3 && i < sys->nv; ++i) w->dz[i] = most;
    for (int id = sys->ne; id < sys->ne + sys->nc; ++id)
        if (!w->in[id] && w->g[id] < 0) w->in[id] = more = true;
    for (int b = 0; b < w->L.nb; ++b) {
        const double lever = w->L.id[b] < sys->ne ? carom_row_lever(s, &w->L, b) : 1; // (LV-4)
        const double g = w->g[w->L.id[b]], allowed = fmax(s->tol * s->scale * s->h / lever, rounding(w, s, b, k, size));
        if (g < -allowed || ((w->p[b] > 0 || w->L.id[b] < sys->ne) && g > allowed)) good = false;
    }
    if (more) carom_zero(w->p, w->L.W.n); // they belong to another set
    return good && !more;
}

// (SP-15)  constraints on rates:  W(q_k)'(d_k + d_{k+1})/2 + w(t_k, q_k) = 0, that of the velocity v_k of the report
static carom_status rates_at_report(work *w, carom_step *s) {
    const carom_system *sys = s->sys;
    if (!sys->nrates) return CAROM_OK;
    carom_local_same(&w->R, &w->L);
    CAROM_TRY(carom_directions(s, &w->R, w->span.t, w->span.q));
    for (int b = sys->ne - sys->nrates; b < sys->ne; ++b) carom_local_take_row(&w->L, b, &w->R, b);
    return CAROM_OK;
}

// The directions at z; the gaps there are known.
static carom_status evaluate(void *memory, carom_step *s, int k, bool *answer) {
    work *w = memory;
    bool small = true;
    *answer = w->good && !w->implicit;
    if (*answer) return CAROM_OK;
    carom_close_these(s, &w->L, w->in + s->sys->ne);
    CAROM_TRY(carom_directions(s, &w->L, w->span.t_z, w->z));
    CAROM_TRY(rates_at_report(w, s));
    if (w->implicit) CAROM_TRY(linearise(w, s, k, &small));
    *answer = w->good && small;
    return CAROM_OK;
}

static carom_status correct(void *memory, carom_step *s, int k) {
    work *w = memory;
    CAROM_TRY(react(w, s));
    CAROM_TRY(gaps_at_z(w, s));
    w->good = met(w, s, k);
    return CAROM_OK;
}

// d_1 of w->span.
static carom_status advance(work *w, carom_step *s) {
    const int nv = s->sys->nv, ne = s->sys->ne, nb = ne + s->sys->nc;
    span *a = &w->span;
    a->t_z = a->t + s->h * (1 - w->e) / (1 + w->e);
    w->good = false;
    if (w->implicit) {
        carom_copy(w->d_1, a->d, nv);
    } else {
        // (SP-1)  M(q_k) (d_f - d_k) = h f(t_k, q_k, d_k)
        CAROM_TRY(carom_free_motion(s, &w->F, w->d_f, NULL, a->t, a->q, a->d));
        carom_add(w->d_f, a->d, a->x * s->h, w->d_f, nv);
        carom_copy(w->d_1, w->d_f, nv);
    }
    CAROM_TRY(gaps_at_z(w, s));
    int taking_part = ne;
    for (int id = ne; id < nb; ++id) taking_part += w->in[id] = carom_closed(s, w->g[id]);
    w->L.nb = w->L.at[0] = 0;
    if (taking_part == 0 && !w->implicit) return CAROM_OK;

    carom_zero(w->p, w->L.W.n);
    const carom_iteration I = {.method = "the position-level contact problem",
                               .most = MOST,
                               .x = w->d_1,
                               .n = nv,
                               .evaluate = evaluate,
                               .correct = correct};
    return carom_iterate(&I, w, s, NULL);
}

// (SP-9)  Is a drive struck, which changes its speed at once?  |W'd_k + w| > theta (CL-4) at z, and with the theta of
//         q_k: that of one place may be 0 in passing. g(z) = 0 takes some steps to reach the new speed; what their
//         impulses take is lost to impact.
static carom_status drives_struck(work *w, carom_step *s, bool *struck) {
    const span *a = &w->span;
    CAROM_TRY(
        carom_joints_struck(s, struck, &w->L, w->u_0, (carom_evaluation_point){.t = a->t_z, .q = w->z, .v = a->d}));
    if (*struck)
        CAROM_TRY(
            carom_joints_struck(s, struck, &w->L, w->u_0, (carom_evaluation_point){.t = a->t, .q = a->q, .v = a->d}));
    return CAROM_OK;
}

// Does the impact of the last step go on: is some contact in the second step that pushes it?  *strikes: some is in the
// first or the second.
static bool going_on(work *w, const carom_step *s, bool *strikes) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    bool some = false;
    *strikes = false;
    for (int id = ne; id < ne + nc; ++id) w->in[id] = false;
    for (int b = 0; b < w->L.nb; ++b) w->in[w->L.id[b]] = w->p[b] > 0;
    for (int c = 0; c < nc; ++c) {
        const double since = !w->in[ne + c] ? 0 : w->since[c] < 3 ? w->since[c] + 1 : 3;
        w->since[c] = since;
        some = some || since == 2;
        *strikes = *strikes || since == 1 || since == 2;
    }
    return some;
}

// (SP-10)  g(z) = 0 takes two steps from u to -e u: u_1 = e u - (1 + e) g/h, u_2 = e u_1 - (1 + e) g_1/h = -e u with
//          g_1 = g + h u_1.  The first takes too much, the second gives some of it back.  Both are one impact:
// (SP-11)      P = sum p (u_1 - u_0)/(u_1 - u_f),   taken = e (-1/2 (u + u_2) P) + (1 - e) (- sum 1/2 (u_0 + u_1) p)
//          The first is what the law takes at the velocity u, P being p without what holds forces; the second has the
//          work of forces until the impact in it, of which the law takes 1 - e as well.  The rest of the work of p is
//          an error of the scheme, and stays in the balance: with e = 1 an impact takes nothing.
static double taken_by_law(work *w, int c, int b, double work) {
    if (w->since[c] > 2) return work;
    const double moved = w->u[b] - w->u_f[b], p = moved != 0 ? w->p[b] * ((w->u[b] - w->u_0[b]) / moved) : w->p[b];
    if (w->since[c] == 1) w->first[c] = w->u_0[b], w->law[c] = w->work[c] = w->booked[c] = 0;
    w->law[c] += p;
    w->work[c] += work;
    const double taken = w->e * (-0.5 * (w->first[c] + w->u[b]) * w->law[c]) + (1 - w->e) * w->work[c],
                 before = w->booked[c];
    w->booked[c] = taken;
    return taken - before;
}

// (SP-12)  Joints hold some of the forces as well: u_f = W'(d_f + M^-1 W_J p_f), the velocity without contacts, with
//          p_f from W_J'(d_f + M^-1 W_J p_f - d_{k+1}) = 0.
static carom_status free_velocity(work *w, carom_step *s) {
    const carom_local J = carom_joints_of(s, &w->L), V = carom_joints_of(s, rows(w));
    if (J.nb > 0) {
        carom_problem_form(s, &V, &J, &w->F, 1 / (1 + w->e));
        carom_add(w->dz, w->d_f, -1, w->d_1, s->sys->nv);
        for (int b = 0; b < J.nb; ++b) s->c[b] = carom_column_dot(&w->L.W, b, w->dz) / (1 + w->e);
        CAROM_TRY(carom_problem_solve(s, &J));
        carom_problem_apply(s, w->d_f, 1);
    }
    carom_local_velocity(w->u_f, &w->L, w->d_f);
    return CAROM_OK;
}

// An impact creates what its second step gives beyond what the first took.  Joints take nothing by law, u = 0 before
// and after: their part of (SP-11) is (1 - e) of their work.
static void split_by_impacts(work *w, carom_step *s, bool same, double of_joints) {
    carom_account *a = &s->record.account;
    const bool joints = carom_account_counts(s, &w->L, 0, w->p, w->u_0);
    double taken = 0;
    for (int b = 0; b < w->L.nb; ++b) {
        const int c = w->L.id[b] - s->sys->ne;
        const double work = -0.5 * (w->u_0[b] + w->u[b]) * w->p[b];
        if (c < 0) {
            a->impact += of_joints * work - (joints ? work : 0);
            continue;
        }
        const double now = w->p[b] > 0 ? taken_by_law(w, c, b, work) : work;
        a->impact += now - work;
        s->record.lost[c] += now - work;
        taken += now;
    }
    if (!same) *w->taken = 0;
    a->lost = fmax(taken, -*w->taken);
    a->created = a->gain = fmax(0, -taken - *w->taken);
    *w->taken += a->lost;
}

// (SP-13)  The work of p is that at v_k = (d_k + d_{k+1})/2: walls and drives have their velocity w of t_k, too, not
//          that of t_z, unless they are struck: that of a wall may jump between the two.
static carom_status walls_at_report(work *w, carom_step *s) {
    const span *a = &w->span;
    bool struck;
    if (s->sys->flags & CAROM_TIMELESS_GAPS) return CAROM_OK;
    CAROM_TRY(carom_struck(s, &struck, w->strikes, &w->L, w->u_0,
                           (carom_evaluation_point){.t = a->t_z, .q = w->z, .v = a->d}));
    carom_local_same(&w->V, &w->L);
    CAROM_TRY(carom_directions(s, &w->V, a->t, a->q));
    for (int b = 0; b < w->L.nb; ++b)
        for (int k = w->L.at[b]; k < w->L.at[b + 1] && w->strikes[b] == 0; ++k) w->L.w[k] = w->V.w[k];
    carom_local_velocity(w->u_0, &w->L, a->d);
    return CAROM_OK;
}

static carom_status book(work *w, carom_step *s) {
    bool struck = false, strikes;
    if (w->L.nb == 0) {
        carom_zero(w->since, s->sys->nc);
        return CAROM_OK;
    }
    carom_local_velocity(w->u_0, &w->L, w->span.d);
    if (s->sys->ne > 0 && !(s->sys->flags & CAROM_TIMELESS_GAPS)) CAROM_TRY(drives_struck(w, s, &struck));
    if (!struck) CAROM_TRY(walls_at_report(w, s));
    carom_local_velocity(w->u, &w->L, w->d_1);
    carom_account_impulses(s, &w->L, w->p, w->u_0, w->u);
    const bool same = going_on(w, s, &strikes);
    if (strikes) CAROM_TRY(free_velocity(w, s));
    split_by_impacts(w, s, same, struck ? 1 : strikes ? 1 - w->e : 0);
    return CAROM_OK;
}

// (SP-14)  Forces without potential give h/2 (P_{k-1} + P_k), P_k at the report k with the signals that d_{k+1} was
//          made with: those that a controller changes at t_k act from d_{k+2} on.
static carom_status book_power(work *w, carom_step *s, double t, double h) {
    double in, out;
    if (!s->sys->power) return CAROM_OK;
    CAROM_TRY(carom_power(s, t, s->q, s->v, &in, &out));
    s->record.account.external += 0.5 * h * (w->power[0] + in);
    s->record.account.damping += 0.5 * h * (w->power[1] + out);
    w->power[0] = in, w->power[1] = out;
    s->inside->power.accounted = true;
    return CAROM_OK;
}

static carom_status start(void *memory, carom_step *s) {
    work *w = memory;
    CAROM_TRY(book_power(w, s, s->t, 0));
    // (SP-4)  the first increment: half the force, d_0 = v_0
    w->span = (span){.t = s->t, .x = 0.5, .q = s->q, .d = s->v};
    CAROM_TRY(advance(w, s));
    CAROM_TRY(book(w, s));
    carom_copy(w->d, w->d_1, s->sys->nv);
    carom_move(s, w->ahead, s->q, s->h, w->d);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    const int nv = s->sys->nv;
    if (s->jumped && s->sys->conditional->nswitches) CAROM_TRY(start(w, s)); // parts have come or gone (SW-3)
    w->span = (span){.t = s->t + s->h, .x = 1, .q = w->ahead, .d = w->d};
    CAROM_TRY(advance(w, s));
    CAROM_TRY(book(w, s));
    // (SP-5)  report q_k and v_k = (q_{k+1} - q_{k-1})/(2h) = (d_k + d_{k+1})/2
    carom_copy(s->q, w->ahead, s->sys->nq);
    for (int i = 0; i < nv; ++i) s->v[i] = 0.5 * (w->d[i] + w->d_1[i]);
    carom_copy(w->d, w->d_1, nv);
    carom_move(s, w->ahead, s->q, s->h, w->d);
    return book_power(w, s, w->span.t, s->h);
}

static void forget(void *memory, carom_step *s, int id) {
    work *w = memory;
    const int c = id - s->sys->ne;
    w->since[c] = w->first[c] = w->law[c] = w->work[c] = w->booked[c] = 0;
}

// (1 + theta w) r^2 - (2 - (1 - theta) w) r + 1 = 0 has a root -1 at w = (h omega)^2 = 4/(1 - 2 theta).
static double stable_of(const double *opt) {
    const double theta = isnan(opt[OPT_THETA]) ? 0 : opt[OPT_THETA];
    return theta < 0.5 ? 2 / sqrt(1 - 2 * theta) : 0;
}

const carom_scheme carom_scheme_schatzman_paoli = {
    .name = "schatzman-paoli",
    .about = "two-step scheme on position level, one restitution for all contacts",
    .text =
        "M(q_k) (q_{k+1} - 2 q_k + q_{k-1}) = h^2 f(t_k, q_k, (q_k - q_{k-1})/h) + h W(z) p\n"
        "with theta:  M(q_{k+1}) (q_{k+1} - 2 q_k + q_{k-1}) = h^2 f(t, q, v at k + theta) + h W(z) p\n"
        "z = (q_{k+1} + e q_{k-1})/(1 + e),   0 <= g(z) _|_ p >= 0,   v_{k+1} = (q_{k+1} - q_{k-1})/(2h)\n"
        "joints: g(z) = 0\n\n"
        "Without theta explicit (stable for omega h < 2), central differences without contact; first order when\n"
        "forces depend on velocity.  theta > 0 is implicit, first order and damps; stable for every step from\n"
        "1/2 on, below for omega h < 2/sqrt(1 - 2 theta).  The central difference is reported as the velocity at\n"
        "t_k, which it approximates.\n"
        "The constraints hold for z, so q penetrates with order h, and joints are off by order h^2 (by rounding when\n"
        "e = 0).  Velocities inside contact episodes are noisy: a central difference across a jump.  The law is a\n"
        "normal cone to the set of admissible positions; Coulomb's friction, a law for velocities, has no place in it.",
    .order = 1,
    .promises = {.limited_steps = true,
                 .forces = CAROM_AT_END,
                 .gaps = CAROM_AT_OTHERS,
                 .directions = CAROM_AT_END | CAROM_AT_OTHERS},
    .impulses = true,
    .leads = true,
    .stable = 2,
    .stable_of = stable_of,
    .limitations = CAROM_NO_FRICTION | CAROM_NO_UNEQUAL_RESTITUTION | CAROM_NO_IMPACT_LAWS | CAROM_NO_STEP_CHANGE |
             CAROM_NO_ADAPTIVE | CAROM_NO_REST,
    .options = options,
    .work_size = sizeof(work),
    .allocate = allocate,
    .start = start,
    .step = step,
    .reset_contact = forget,
};
