// ggl_projection.c: Moreau's midpoint rule and, after it, a projection of the positions on the constraints.
//
// Spec: docs/methods-ggl-newmark.md, section GP (Schoeder, Ulbrich, Schindler 2013, the decoupled scheme).  Velocities
// are those of moreau-midpoint; positions are moved along the directions at the midpoint until no gap is negative and
// every joint is closed.  The correction has no friction and does no work on velocities.
#include "scheme/moreau/moreau.h"
#include "scheme/projection.h"

enum { OPT_LOCAL, OPT_ACTIVE, OPT_METRIC, OPT_PENETRATION };
static const carom_option options[] = {
    {.name = "local", .kind = CAROM_CHOICE, .choices = "exact|paper",
     .about = "exact: one direction W_M for both local velocities; paper: u_0 at q_0, u_1 = u_0 + W_M'(v_1 - v_0)"},
    {.name = "active", .kind = CAROM_CHOICE, .choices = "lasting|midpoint",
     .about = "contacts closed at the explicit midpoint, with lasting ones that would be below zero at the end of "
              "the step; the former alone (the paper's, never rests with restitution)"},
    {.name = "metric", .kind = CAROM_CHOICE, .choices = "kinetic|euclidean",
     .about = "length of a position correction: by the mass matrix, in any unit; by the coordinates (the paper's), "
              "which depends on the unit of length"},
    {.name = "penetration", .kind = CAROM_REAL, .fallback = 0, .low = 0, .high = 1e6,
     .about = "penetration that is left alone, in units of the gaps: positions are corrected to gaps of at least "
              "minus this"},
    {0},
};

typedef struct work {
    bool euclidean; // option metric
    carom_midpoint midpoint;
    carom_factor I;                                     // metric=euclidean: the identity
    carom_projection P;
    double *q_0, *v_0, *q_M;                            // the start, to go back to; the midpoint
    double *join; // gaps at the midpoint, -1 for contacts that are thrown back within the step
} work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)keep;
    work *w = memory;
    const size_t nv = (size_t)sys->nv, nq = (size_t)sys->nq, nb = (size_t)(sys->ne + sys->nc);
    carom_midpoint_allocate(&w->midpoint, mem, sys);
    w->euclidean = opt[OPT_METRIC] == 1;
    if (w->euclidean) w->I = carom_allocate_factor(mem, (carom_shape){CAROM_DIAGONAL, sys->nv, 0, NULL}, true);
    w->P = carom_allocate_projection(mem, sys);
    CAROM_ALLOCATE(mem, nq, &w->q_0, &w->q_M);
    w->v_0 = carom_allocate(mem, nv);
    w->join = carom_allocate(mem, nb);
}

// (GP-10)  External work along the correction x:  x . F(t_1, q_1, 0) of the forces without potential.
static carom_status book_power(const carom_projection *P, carom_step *s) {
    double *none = P->x, along, still, damping; // scratch
    if (!s->sys->power) return CAROM_OK;
    carom_zero(none, s->sys->nv);
    CAROM_TRY(carom_power(s, s->t + s->h, P->q, P->moved, &along, &damping));
    CAROM_TRY(carom_power(s, s->t + s->h, P->q, none, &still, &damping));
    s->record.account.external += along - still;
    return CAROM_OK;
}

// (GP-2)
static carom_status project(work *w, carom_step *s) {
    carom_projection *P = &w->P;
    bool some;
    P->F = w->euclidean ? &w->I : &w->midpoint.M.F; // (GP-6)
    P->t_f = s->t + 0.5 * s->h, P->q_f = w->q_M;
    P->q_0 = w->q_0, P->v_0 = w->v_0;
    P->depth = s->opt[OPT_PENETRATION];
    CAROM_TRY(carom_project(P, s, &some));
    for (int id = 0; some && id < s->sys->ne + s->sys->nc; ++id) carom_account_position(s, id, s->h * P->Psi[id]);
    return some ? book_power(P, s) : CAROM_OK;
}

static carom_status make_identity(work *w) {
    if (w->I.ready || !w->euclidean) return CAROM_OK;
    w->I.ready = true;
    for (int i = 0; i < w->I.shape.n; ++i) w->P.x[i] = 1;
    return carom_factorise(&w->I, (carom_matrix){w->I.shape, w->P.x}, NULL);
}

// (GP-1)  v_1 and q_P = q_M + h/2 v_1 by moreau-midpoint; g at q_P.  With contacts that are thrown back (CL-9).
static carom_status velocities(work *w, carom_step *s) {
    const int nq = s->sys->nq, nv = s->sys->nv;
    w->midpoint.M.join = NULL;
    for (;;) {
        bool more = false;
        CAROM_TRY(carom_midpoint_take(&w->midpoint, s, s->opt[OPT_LOCAL] == 1));
        CAROM_TRY(carom_gaps(s, w->P.g, s->t + s->h, s->q));
        if (s->opt[OPT_ACTIVE] == 0)
            CAROM_TRY(carom_close_thrown(s, &more, w->midpoint.M.g, w->P.g, &w->P.L, w->P.sign,
                                         (carom_evaluation_point){.t = s->t, .q = w->q_0, .v = w->v_0}));
        if (!more) break;
        carom_copy(w->join, w->midpoint.M.g, s->sys->ne + s->sys->nc);
        w->midpoint.M.join = w->join;
        carom_copy(s->q, w->q_0, nq);
        carom_copy(s->v, w->v_0, nv);
    }
    carom_midpoint_account(&w->midpoint, s);
    carom_copy(w->P.q_P, s->q, nq);
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
    carom_copy(s->q, w->P.q, s->sys->nq);
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
    .promises = {.contacts = CAROM_POSITION_LEVEL,
                 .joints = CAROM_POSITION_LEVEL,
                 .limited_steps = true,
                 .gain = 0.2,
                 .no_piles = true,
                 .forces = CAROM_AT_MIDDLE,
                 .gaps = CAROM_AT_MIDDLE | CAROM_AT_END,
                 .directions = CAROM_AT_MIDDLE},
    .impulses = true,
    .stable = 2,
    .positions = true,
    .options = options,
    .work_size = sizeof(work),
    .allocate = allocate,
    .step = step,
};
