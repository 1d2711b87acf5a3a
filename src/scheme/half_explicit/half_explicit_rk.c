// half_explicit_rk.c: half-explicit Runge-Kutta methods on velocity level, of orders 2 to 5.
//
// Spec: docs/METHODS.md, section HR (Schindler, Rezaei, Kursawe, Acary 2015, appendix B; methods of Brasey and Hairer).
// The force multiplier of a stage is found from the velocity constraint at the next stage.  Contacts closed at
// the start of a step stay candidates in all its stages (sets=start), or each stage has those that are closed at its
// position (sets=stage, the paper's).  One that still pushes at the end counts as closed at the start of the next
// step, whatever the sign of its rounding-size gap (CL-3): so lasting contact keeps the order of the table.  A step in
// which an open contact closes or a closed one meets a kink is an impact, as in half-explicit.
#include "scheme/half_explicit/half_explicit_rk.h"
#include "scheme/stepping.h"

static const carom_rk_table tables[] = {
#define CAROM_TABLE(order, stages, a, b) {order, stages, a, b},
#include "scheme/half_explicit_rk.def"
#undef CAROM_TABLE
};

enum { STAGES = 8 }; // of the largest table

const carom_rk_table *carom_rk_find(int order) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i)
        if (tables[i].order == order) return tables + i;
    return NULL;
}

enum { OPT_ORDER, OPT_SETS };
static const carom_option options[] = {
    {.name = "order", .kind = CAROM_INTEGER, .fallback = 3, .low = 2, .high = 5,
     .about = "order of the table between impacts"},
    {.name = "sets", .kind = CAROM_CHOICE, .choices = "start|stage",
     .about = "contacts that react in a stage: those closed at the start of the step; or those closed at the "
              "position of the stage, as in the paper"},
    {0},
};

typedef struct step_work {
    const carom_rk_table *T;
    bool by_stage;                      // sets=stage
    double row[STAGES + 1][STAGES];     // of the table for stages, then the weights b
    double c[STAGES + 1];               // their sums
    double *held_1;                     // nc: contact pushes at the end of the step
    double *kinked;                     // by constraint of a set: 1 for a contact that meets a kink
    carom_stage P;                      // at Q_{l-1}: M, closed contacts
    carom_local N, joints;              // those at Q_l; of N
    carom_account booked;               // before the stages
    double *V[STAGES], *K[STAGES];      // stage velocities; stage accelerations with contact forces
    double *D[STAGES];                  // rates of the displacements from q_0: V where (+) is a sum
    double *K_E[STAGES];                // with bilateral forces alone, for an impact
    double *Q, *Q_next, *v_0, *v, *sum, *x; // v_0: after an impact at the start
    double *g_0, *g_1, *u_0, *u_1, *lambda;
    double *g_l, *held_0;               // sets=stage: gaps at a stage; nc: contact is closed at the start
} step_work;
typedef double *const step_rows;

// c_l = sum_{k<l} a_lk
static void read_table(step_work *w) {
    const carom_rk_table *T = w->T;
    for (int l = 0; l <= T->stages; ++l) {
        w->c[l] = carom_rk_place(T, l);
        for (int k = 0; k < l; ++k) w->row[l][k] = carom_rk_entry(T, l, k);
    }
}

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    step_work *w = memory;
    const size_t nv = (size_t)sys->nv, nb = (size_t)(sys->ne + sys->nc);
    w->T = carom_rk_find((int)opt[OPT_ORDER]);
    read_table(w);
    w->by_stage = opt[OPT_SETS] == 1;
    (void)keep;
    w->held_1 = carom_allocate(mem, (size_t)sys->nc);
    w->kinked = carom_allocate(mem, nb);
    w->v_0 = carom_allocate(mem, nv);
    w->P.F = carom_allocate_factor(mem, sys->mass_shape, true);
    w->P.L = carom_allocate_local(mem, sys);
    w->N = carom_allocate_local(mem, sys);
    for (int l = 0; l < w->T->stages; ++l) {
        w->V[l] = carom_allocate(mem, nv);
        w->D[l] = sys->lift ? carom_allocate(mem, nv) : w->V[l];
        CAROM_ALLOCATE(mem, nv, &w->K[l], &w->K_E[l]);
    }
    CAROM_ALLOCATE(mem, (size_t)sys->nq, &w->Q, &w->Q_next);
    CAROM_ALLOCATE(mem, nv, &w->v, &w->sum, &w->x);
    CAROM_ALLOCATE(mem, nb, &w->g_0, &w->g_1, &w->g_l);
    w->held_0 = carom_allocate(mem, (size_t)sys->nc);
    CAROM_ALLOCATE(mem, (size_t)w->N.W.n, &w->u_0, &w->u_1, &w->lambda);
}

// c_l h after t: where stage l stands.
static double stage_time(const step_work *w, const carom_step *s, int l) {
    return l == w->T->stages ? s->t + s->h : s->t + w->c[l] * s->h;
}

static double step_entry(const step_work *w, int l, int k) { return w->row[l][k]; }
static int step_last(const step_work *w) { return w->T->stages; }
static bool step_by_stage(const step_work *w, const carom_step *s) { return w->by_stage && s->sys->nc > 0; }

static void step_position(step_work *w, const carom_step *s, int l) {
    carom_zero(w->sum, s->sys->nv);
    for (int k = 0; k < l; ++k) carom_axpy(w->sum, w->row[l][k], w->D[k], s->sys->nv);
    carom_move(s, w->Q_next, s->q, s->h, w->sum);
}

// D_l, with the sum of Q_l still at hand.
static void lift(step_work *w, const carom_step *s, int l) {
    if (!s->sys->lift) return;
    carom_zero(w->x, s->sys->nv);
    if (l > 0) carom_axpy(w->x, s->h, w->sum, s->sys->nv);
    carom_lift(s, w->D[l], w->x, w->V[l]);
}

// q_0 and v_0 are stage 0.
static void step_begin(step_work *w, const carom_step *s) {
    carom_copy(w->Q, s->q, s->sys->nq);
    lift(w, s, 0);
}

// K[l] = K_E[l] = M_l^-1 f_l, and its share of the powers.
static carom_status step_free_stage(step_work *w, carom_step *s, int l) {
    const double t = stage_time(w, s, l);
    w->P.number = 0;
    CAROM_TRY(carom_free_motion(s, &w->P.F, w->K[l], NULL, t, w->Q, w->V[l]));
    carom_copy(w->K_E[l], w->K[l], s->sys->nv);
    return carom_power_stage(s, s->h * w->T->b[l], t, w->Q, w->V[l]);
}

// K_E[l] gets the bilateral part of the forces just found; the forces are booked for their share b_l of the step.
static void step_keep_stage(step_work *w, carom_step *s, int l) {
    const bool last = l + 1 == w->T->stages;
    if (w->P.L.nb == 0) return;
    carom_problem_react(s, w->K_E[l], 1, w->lambda, s->sys->ne);
    carom_contact_velocity(s, w->u_0, &w->P.L, last ? w->v : w->V[l]);
    carom_account_forces(s, &w->P.L, w->lambda, w->u_0, s->h * w->T->b[l], last);
}

static carom_status step_strike_first(step_work *w, carom_step *s) {
    CAROM_TRY(carom_mass_factor(s, &w->P.F, s->t, s->q));
    return step_strike(s, &w->P, w->v_0, w->u_0, w->u_1);
}

// The directions at stage l, and (HE-7).
static carom_status step_look_ahead(step_work *w, carom_step *s, int l, int *kink) {
    const carom_evaluation_point at = {.t = stage_time(w, s, l), .q = w->Q_next, .v = w->v_0, .f = w->K_E[l - 1]};
    bool meets = false;
    carom_local_same(&w->N, &w->P.L);
    CAROM_TRY(carom_directions(s, &w->N, at.t, at.q));
    if (carom_some_contact(s, &w->P.L)) {
        carom_contact_velocity(s, w->u_0, &w->N, w->v_0);
        CAROM_TRY(carom_struck(s, &meets, w->kinked, &w->N, w->u_0, at));
    }
    if (!meets) carom_local_complete(&w->P.L, &w->N, s->sys->ne);
    *kink = meets;
    return CAROM_OK;
}

// (HR-5)  sets=stage:  the set of lambda_{l-1} is { j : g_j(t_l, Q_l) <= 0 } (CL-3); P then has it, with directions at
//         Q_{l-1}.
//         *closes: one of them was open at the start.  Its force would stop it without restitution: the step is an
//         impact.
static carom_status step_close_stage(step_work *w, carom_step *s, int l, int *closes) {
    const int ne = s->sys->ne;
    const double t_l = stage_time(w, s, l);
    CAROM_TRY(carom_gaps(s, w->g_l, t_l, w->Q_next));
    const carom_evaluation_point at = {
        .t = t_l, .q = w->Q_next, .v = w->V[l - 1], .active = w->held_0, .drift = CAROM_RK_DRIFT};
    CAROM_TRY(carom_close_at(s, &w->N, w->g_l, at));
    for (int b = ne; b < w->N.nb && !*closes; ++b) *closes = w->held_0[w->N.id[b] - ne] == 0;
    if (*closes) carom_zero(w->kinked, ne + s->sys->nc);
    if (*closes || carom_local_alike(&w->P.L, &w->N)) return CAROM_OK;
    carom_local_same(&w->P.L, &w->N);
    return carom_directions(s, &w->P.L, stage_time(w, s, l - 1), w->Q);
}

// Directions at the next stage are those at this one, when it comes.
static void step_pass(step_work *w, const carom_step *s, int l) {
    const carom_local L = w->P.L;
    lift(w, s, l);
    carom_copy(w->Q, w->Q_next, s->sys->nq);
    w->P.L = w->N;
    w->N = L;
}

// (HR-4)  a jam (Painleve): the slip u_T of a contact turns round, from more than theta_T = 4 h (|W_T'a| + 4 mu
//         |W_N'a|), which the forces of a few steps explain.  Forces that stop it at a stage are of order 1/h, and with
//         the weights of the others they throw it back.  a = M^-1 f at the last stage; L_next holds the directions at
//         (t_1, q_1).
static bool step_jams(step_work *w, const carom_step *s) {
    const carom_local *L = &w->N;
    const double *a = w->K_E[w->T->stages - 1];
    bool some = false;
    if (!carom_some_contact(s, &w->P.L)) return false;
    carom_contact_velocity(s, w->u_0, L, w->v_0);
    carom_contact_velocity(s, w->u_1, L, w->v);
    for (int b = s->sys->ne; b < L->nb && !some; ++b) {
        const int first = L->at[b] + 1, tangents = L->at[b + 1] - first;
        if (tangents < 1 || !(carom_dot(w->u_0 + first, w->u_1 + first, tangents) < 0)) continue;
        double theta =
            4 * s->sys->contacts[L->id[b] - s->sys->ne].friction * fabs(carom_column_dot(&L->W, first - 1, a));
        for (int i = first; i < first + tangents; ++i) theta += fabs(carom_column_dot(&L->W, i, a));
        some = carom_length(w->u_0 + first, tangents) > carom_velocity_left(s) + 4 * s->h * theta;
    }
    if (some) carom_zero(w->kinked, w->P.L.nb);
    return some;
}

// Contacts closed at the start, with directions there.
static carom_status step_start(step_work *w, carom_step *s) {
    bool known = false; // P holds directions of its set at q_0
    w->P.t = s->t, w->P.q = s->q, w->P.v = w->v_0;
    CAROM_TRY(carom_gaps_before(s, w->g_0));
    CAROM_TRY(carom_close_knowing(s, &w->P.L, w->g_0, &known,
                                  (carom_evaluation_point){.t = s->t, .q = s->q, .v = s->v, .drift = CAROM_RK_DRIFT}));
    for (int c = 0; w->by_stage && c < s->sys->nc; ++c) w->held_0[c] = carom_closed(s, w->g_0[s->sys->ne + c]);
    return known ? CAROM_OK : carom_directions(s, &w->P.L, s->t, s->q);
}

static void step_keep_books(step_work *w, const carom_step *s) { w->booked = s->record.account; }

// Who pushes at the end of the step.
static void step_hold(step_work *w, const carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    for (int c = 0; c < nc; ++c) w->held_1[c] = s->record.force[s->dir[ne + c]] > 0;
}

// Stages without forces of contacts: P's set is that of joints, at q_0.
static carom_status step_give_up(step_work *w, carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    for (int c = 0; c < nc; ++c) w->held_1[c] = w->by_stage && w->held_0[c] != 0;
    for (int b = ne; b < w->P.L.nb; ++b) w->held_1[w->P.L.id[b] - ne] = !w->kinked[b];
    s->record.account = w->booked;
    w->P.L.nb = ne;
    return carom_directions(s, &w->P.L, s->t, s->q);
}

// Gaps at the end, and the set there, in N.
static carom_status step_arrive(step_work *w, carom_step *s) {
    const carom_evaluation_point at = {
        .t = s->t + s->h, .q = w->Q_next, .v = w->v, .active = w->held_1, .drift = CAROM_RK_DRIFT};
    CAROM_TRY(carom_gaps(s, w->g_1, at.t, at.q));
    return carom_close_knowing(s, &w->N, w->g_1, &(bool){true}, at);
}

// All reactions of the last stage are forgotten; those of joints are found anew.
static carom_status step_lose_forces(step_work *w, carom_step *s) {
    const int ne = s->sys->ne;
    s->record.account = w->booked;
    for (int c = 0; c < s->sys->nc; ++c)
        if (w->held_1[c] > 0) w->g_1[ne + c] = -1; // resting contacts take part
    carom_zero(s->record.force, s->dir[ne + s->sys->nc]);
    carom_problem_react(s, w->K_E[w->T->stages - 1], -1, w->lambda, ne);
    carom_close(s, &w->N, w->g_1);
    CAROM_TRY(carom_directions(s, &w->N, s->t + s->h, w->Q_next));
    w->joints = carom_joints_of(s, &w->N);
    w->P.L = carom_joints_of(s, &w->P.L);
    w->P.number = 0;
    return CAROM_OK;
}
static const carom_local *step_next_joints(const step_work *w) { return &w->joints; }

static carom_status step_strike_last(step_work *w, carom_step *s) {
    const int ne = s->sys->ne;
    const carom_local *L = &w->N;
    carom_account_forces(s, &w->P.L, w->lambda, NULL, s->h, true); // joints alone
    carom_account_power(s, w->v_0, w->v);
    CAROM_TRY(carom_mass_factor(s, &w->P.F, s->t + s->h, w->Q_next));
    carom_local_velocity(w->u_0, L, w->v);
    // A contact that rested has no velocity to give back: what v- shows there is the force it lost.
    carom_copy(w->u_1, w->u_0, L->at[L->nb]);
    for (int b = ne; b < L->nb; ++b)
        if (w->held_1[L->id[b] - ne] > 0) carom_zero(w->u_1 + L->at[b], L->at[b + 1] - L->at[b]);
    return carom_impact(s, L, &w->P.F, w->v, w->u_0, w->u_1, w->u_1);
}

#include "scheme/half_explicit/half_explicit_rk.inc"

static carom_status step(void *memory, carom_step *s) { return step_whole(memory, s); }

static int order_of(const double *opt) { return (int)opt[OPT_ORDER]; }

const carom_scheme carom_scheme_half_explicit_rk = {
    .name = "half-explicit-rk",
    .about = "half-explicit Runge-Kutta on velocity level, order 2 to 5 between impacts",
    .text =
        "Q_l = q_0 + h sum_{k<l} a_lk V_k\n"
        "V_l = v_0 + h sum_{k<l} a_lk M_k^-1 (f_k + W_k lambda_k),   contact law between W(Q_l)'V_l and lambda_{l-1}\n"
        "q_1, v- with the weights b; a contact closes: contact forces zero, then Newton's law\n\n"
        "The order of the table in positions and velocities while the set of contacts does not change; first\n"
        "order across impacts.  Explicit.",
    .order = 3,
    .promises = {.joint_order = 3, .limited_steps = true},
    .order_of = order_of,
    .lanes = CAROM_LANE_HALF_EXPLICIT_RK,
    .options = options,
    .work_size = sizeof(step_work),
    .allocate = allocate,
    .step = step,
};
