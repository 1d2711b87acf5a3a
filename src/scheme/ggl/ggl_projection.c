// ggl_projection.c: Moreau's midpoint rule and, after it, a projection of the positions on the constraints.
//
// Spec: docs/methods-ggl-newmark.md, section GP (Schoeder, Ulbrich, Schindler 2013, the decoupled scheme).  Velocities
// are those of moreau-midpoint; positions are moved along the directions at the midpoint until no gap is negative and
// every joint is closed.  The correction has no friction and does no work on velocities.
//
// Only contacts that the step leaves, or the correction brings, below zero take part in the projection.
#include "scheme/bent.h"
#include "scheme/inside.h"
#include "scheme/moreau/moreau.h"
#include "scheme/newton.h"
#include <float.h>
#include <math.h>

enum { OPT_LOCAL, OPT_ACTIVE, OPT_METRIC, OPT_PENETRATION };
enum { MOST = 50, LONG = 40, STALLS = 3 }; // iterations of the projection; those after which a kink is to blame; those without progress after which rounding is to blame
static const carom_option options[] = {
    {.name = "local",
     .kind = CAROM_CHOICE,
     .choices = "exact|paper",
     .about = "exact: one direction W_M for both local velocities; paper: u_0 at q_0, u_1 = u_0 + W_M'(v_1 - v_0)"},
    {.name = "active",
     .kind = CAROM_CHOICE,
     .choices = "lasting|midpoint",
     .about = "contacts closed at the explicit midpoint, with lasting ones that would be below zero at the end of the step; the former alone (the paper's, never rests with restitution)"},
    {.name = "metric",
     .kind = CAROM_CHOICE,
     .choices = "kinetic|euclidean",
     .about = "length of a position correction: by the mass matrix, in any unit; by the coordinates (the paper's), which depends on the unit of length"},
    {.name = "penetration",
     .kind = CAROM_REAL,
     .fallback = 0,
     .low = 0,
     .high = 1e6,
     .about = "penetration that is left alone, in units of the gaps: positions are corrected to gaps of at least "
              "minus this"},
    {0},
};

typedef struct work {
    bool euclidean; // option metric
    carom_midpoint midpoint;
    carom_factor I;                                     // metric=euclidean: the identity
    carom_local L_M, L;                                 // normal directions at q_M, at the present position
    double *q_0, *v_0;                                  // the start, to go back to
    double *q_M, *q_P, *q, *x; // midpoint; position of moreau-midpoint; projected; scratch
    double *moved, *u;         // displacement from q_P; velocities at q_M
    carom_bent bent;           // at q_P
    double *g, *sign, *Psi;    // gaps; -1 for those that take part; multipliers over h, by id
    double *join;              // gaps at the midpoint, -1 for contacts that are thrown back within the step
    double least;              // largest gap of the best iterate; iterates in turn that did not halve it
    int stalls;
} work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)keep;
    work *w = memory;
    const size_t nv = (size_t)sys->nv, nq = (size_t)sys->nq, nb = (size_t)(sys->ne + sys->nc);
    carom_midpoint_allocate(&w->midpoint, mem, sys);
    w->euclidean = opt[OPT_METRIC] == 1;
    if (w->euclidean) w->I = carom_allocate_factor(mem, (carom_shape){CAROM_DIAGONAL, sys->nv, 0, NULL}, true);
    w->L_M = carom_allocate_local(mem, sys);
    w->L = carom_allocate_local(mem, sys);
    CAROM_ALLOCATE(mem, nq, &w->q_0, &w->q_M, &w->q_P, &w->q);
    CAROM_ALLOCATE(mem, nv, &w->v_0, &w->x, &w->moved);
    w->u = carom_allocate(mem, (size_t)w->L.W.n);
    if (!sys->listed) w->bent = carom_allocate_bent(mem, sys);
    CAROM_ALLOCATE(mem, nb, &w->g, &w->sign, &w->Psi, &w->join);
}

// Normals of the set only: the correction knows no friction.
static void normals(carom_local *L) {
    for (int b = 0; b <= L->nb; ++b) L->at[b] = b;
}

// (GP-4)  What rounding may leave in gap b at most: its terms may be larger than |W||q| (constants, cosines of small angles), but none is
//         larger than |W| max |q| by much; and no rounding is larger than MOVED times the motion of the step.
static const double MOVED = 1e-8;
static double rounding_at_most(const work *w, const carom_step *s, int b, double q) {
    const double size = carom_local_magnitude(&w->L, b, w->x) * q; // x = 1/lever
    return fmax(16 * DBL_EPSILON * size, MOVED * s->h * carom_local_magnitude(&w->L, b, w->v_0));
}

// Are all gaps met at q?  Those that take part to tolerance or to their own rounding; others that are below zero join.  Where iterations no
// longer halve the largest gap, to the rounding that there may be at most.
static bool met(work *w, const carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    bool good = true;
    double most = 0;
    for (int b = 0; b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        most = fmax(most, id < ne || w->Psi[id] > 0 ? fabs(w->g[id]) : fmax(0, -w->g[id]));
    }
    w->stalls = most < 0.5 * w->least ? 0 : w->stalls + 1;
    w->least = fmin(w->least, most);
    for (int id = ne; id < ne + nc; ++id)
        if (w->sign[id] > 0 && w->g[id] < 0) w->sign[id] = -1, good = false;
    const double q = carom_size_of_positions(s->sys, w->q);
    for (int i = 0; i < s->sys->nv; ++i) w->x[i] = 1 / carom_lever(s->sys, i);
    for (int b = 0; good && b < w->L.nb; ++b) {
        const int id = w->L.id[b];
        const double rounding = 0.5 * carom_local_rounding_within(&w->L, b, w->q, s->sys->nq, q);
        const bool tight = id < ne || w->Psi[id] > 0;
        const double off = tight ? fabs(w->g[id]) : fmax(0, -w->g[id]);
        good = off <= fmax(s->h * s->tol * s->scale, w->stalls >= STALLS ? rounding_at_most(w, s, b, q) : rounding);
    }
    return good;
}

// (GP-7)  0 <= Psi _|_ g(t_1, q_1) + penetration >= 0 for contacts: w->g becomes the sum.
static void tolerate(work *w, const carom_step *s) {
    const double depth = s->opt[OPT_PENETRATION];
    for (int id = s->sys->ne; depth > 0 && id < s->sys->ne + s->sys->nc; ++id) w->g[id] += depth;
}

// (GP-5)  Where there is no answer, or the iteration does not end, and smaller steps have not helped, contacts may have met a kink on the way from q_P.  It begins again: they are moved along the directions at q_P, and their
//         gap is the plane there (CL-10).  So are those that met one between the middle of the step and q_P.
static carom_status kinks(work *w, carom_step *s) {
    bool all;
    carom_copy(w->q, w->q_P, s->sys->nq);
    carom_zero(w->Psi, s->sys->ne + s->sys->nc);
    carom_zero(w->moved, s->sys->nv);
    CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, w->q));
    tolerate(w, s);
    for (int way = 0; way < 2 && !w->bent.some; ++way) {
        carom_local_velocity(w->u, way == 0 ? &w->L : &w->L_M, w->v_0);
        CAROM_TRY(carom_directions(s, &w->L, s->t + s->h, w->q));
        CAROM_TRY(carom_bent_find(&w->bent, s, w->u, &w->L, (carom_place){.t = s->t + s->h, .q = w->q_P, .v = w->v_0}));
    }
    CAROM_TRY(carom_bent_plane(&w->bent, s, &all, w->g, w->moved, w->q_0));
    w->bent.some = w->bent.some && all;
    return CAROM_OK;
}

// (GP-3)  one step of Newton: with G = N(q)'Q^-1 N_M over the set,  0 <= Psi _|_ (g(q) - G Psi_old + G Psi)/h >= 0
static carom_status correct(void *memory, carom_step *s, int k) {
    work *w = memory;
    carom_close(s, &w->L, w->sign);
    normals(&w->L);
    carom_local_same(&w->L_M, &w->L);
    CAROM_TRY(carom_directions(s, &w->L_M, s->t + 0.5 * s->h, w->q_M));
    CAROM_TRY(carom_directions(s, &w->L, s->t + s->h, w->q));
    carom_bent_keep(&w->bent, &w->L_M);
    carom_bent_keep(&w->bent, &w->L);
    carom_problem_form(s, &w->L, &w->L_M, w->euclidean ? &w->I : &w->midpoint.F, 1); // (GP-6)
    const int n = w->L.nb;
    for (int b = 0; b < n; ++b) {
        if (s->blocks[b].law != CAROM_BILATERAL) s->blocks[b].law = CAROM_UNILATERAL;
        s->c[b] = w->g[w->L.id[b]] / s->h;
        s->p[b] = w->Psi[w->L.id[b]];
    }
    carom_problem_subtract(s, s->p);
    carom_zero(s->p, n);
    const carom_status status = carom_problem_run(s, w->L.id);
    if ((status == CAROM_RETRY || k == LONG) && s->inside->last && !w->bent.some && !s->sys->listed) {
        CAROM_TRY(kinks(w, s));
        if (w->bent.some) return CAROM_OK;
    }
    CAROM_TRY(status);
    carom_zero(w->moved, s->sys->nv);
    carom_problem_apply(s, w->moved, s->h);
    carom_move(s, w->q, w->q_P, 1, w->moved);
    for (int b = 0; b < n; ++b) w->Psi[w->L.id[b]] = s->p[b];
    return CAROM_OK;
}

static carom_status evaluate(void *memory, carom_step *s, int k, bool *answer) {
    work *w = memory;
    if (k == 0) return CAROM_OK;
    CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, w->q));
    tolerate(w, s);
    carom_bent_gaps(&w->bent, w->g, w->moved);
    *answer = met(w, s);
    return CAROM_OK;
}

// (GP-2)  q_1 = q_P + Q^-1 N_M Psi,  0 <= Psi _|_ g(t_1, q_1) >= 0 over all contacts, g = 0 for joints; N_M stays, g is that at q_P
static carom_status project(work *w, carom_step *s) {
    const int ne = s->sys->ne, all = ne + s->sys->nc;
    carom_copy(w->q, w->q_P, s->sys->nq);
    tolerate(w, s);
    int some = 0;
    while (some < all && some >= ne && !(w->g[some] < 0)) ++some;
    if (some == all) return CAROM_OK;
    carom_zero(w->Psi, all);
    carom_zero(w->moved, s->sys->nv);
    w->bent.some = false;
    for (int id = 0; id < all; ++id) w->sign[id] = id < ne || w->g[id] < 0 ? -1 : 1;
    w->least = HUGE_VAL;
    w->stalls = 0;
    const carom_iteration I = {.method = "the projection of the positions on the constraints", .most = MOST, .x = w->q, .n = s->sys->nq, .evaluate = evaluate, .correct = correct};
    CAROM_TRY(carom_iterate(&I, w, s, NULL));
    for (int id = 0; id < all; ++id) carom_book_position(s, id, s->h * w->Psi[id]);
    return CAROM_OK;
}

static carom_status make_identity(work *w) {
    if (w->I.ready || !w->euclidean) return CAROM_OK;
    w->I.ready = true;
    for (int i = 0; i < w->I.shape.n; ++i) w->x[i] = 1;
    return carom_factorise(&w->I, (carom_matrix){w->I.shape, w->x}, NULL);
}

// (GP-1)  v_1 and q_P = q_M + h/2 v_1 by moreau-midpoint; g at q_P.  With contacts that are thrown back (CL-9).
static carom_status velocities(work *w, carom_step *s) {
    const int nq = s->sys->nq, nv = s->sys->nv;
    w->midpoint.join = NULL;
    for (;;) {
        bool more = false;
        CAROM_TRY(carom_midpoint_take(&w->midpoint, s, s->opt[OPT_LOCAL] == 1));
        CAROM_TRY(carom_gaps(s, w->g, s->t + s->h, s->q));
        if (s->opt[OPT_ACTIVE] == 0)
            CAROM_TRY(carom_close_thrown(s, &more, w->midpoint.g, w->g, &w->L, w->sign, (carom_place){.t = s->t, .q = w->q_0, .v = w->v_0}));
        if (!more) break;
        carom_copy(w->join, w->midpoint.g, s->sys->ne + s->sys->nc);
        w->midpoint.join = w->join;
        carom_copy(s->q, w->q_0, nq);
        carom_copy(s->v, w->v_0, nv);
    }
    carom_midpoint_book(&w->midpoint, s);
    carom_copy(w->q_P, s->q, nq);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    CAROM_TRY(make_identity(w));
    carom_copy(w->q_0, s->q, s->sys->nq);
    carom_copy(w->v_0, s->v, s->sys->nv);
    carom_move(s, w->q_M, s->q, 0.5 * s->h, s->v);

    carom_status status = velocities(w, s);
    if (status == CAROM_OK) status = project(w, s);
    if (status != CAROM_OK) { // a step that fails leaves the state as it was
        carom_copy(s->q, w->q_0, s->sys->nq);
        carom_copy(s->v, w->v_0, s->sys->nv);
        return status;
    }
    carom_copy(s->q, w->q, s->sys->nq);
    return CAROM_OK;
}

const carom_scheme carom_scheme_ggl_projection = {
    .name = "ggl-projection",
    .about = "Moreau's midpoint rule, then positions projected on the constraints: no penetration, no drift",
    .text =
        "v_1, q_P by moreau-midpoint (with friction)\n"
        "q_1 = q_P + Q^-1 N_M Psi,   0 <= Psi _|_ g(q_1) >= 0 for all contacts,  g(q_1) = 0 for joints\n\n"
        "No gap is negative and no joint open at step ends, to solver tolerance.  The correction follows the normals\n"
        "at the midpoint.  metric=kinetic: Q = M(q_M), the shortest correction for the inertia; metric=euclidean (the\n"
        "paper's): Q = I, which depends on the unit of length.  It changes potential energy a little, either way.\n"
        "First order, like moreau-midpoint.  Contacts that last, closed at q_0 or\n"
        "pushing in the step before, take part where q_P would be below zero: bodies come to rest, which they\n"
        "never do with active=midpoint (the paper's) and restitution.",
    .order = 1,
    .promises = {.contacts = CAROM_POSITION_LEVEL, .joints = CAROM_POSITION_LEVEL, .limited_steps = true, .gain = 0.2, .no_piles = true,
                 .forces = CAROM_AT_MIDDLE, .gaps = CAROM_AT_MIDDLE | CAROM_AT_END, .directions = CAROM_AT_MIDDLE},
    .impulses = true,
    .stable = 2,
    .positions = true,
    .options = options,
    .many = CAROM_MANY,
    .work_size = sizeof(work),
    .allocate = allocate,
    .step = step,
};
