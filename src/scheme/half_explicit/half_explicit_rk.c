// half_explicit_rk.c: half-explicit Runge-Kutta methods on velocity level, of orders 2 to 5.
//
// Spec: docs/METHODS.md, section HR (Schindler, Rezaei, Kursawe, Acary 2015, appendix B; methods of Brasey and Hairer).
// The force multiplier of a stage is found from the velocity constraint at the next stage.  Contacts closed at
// the start of a step stay candidates in all its stages (sets=start), or each stage has those that are closed at its
// position (sets=stage, the paper's).  One that still pushes at the end counts as closed at the start of the next
// step, whatever the sign of its rounding-size gap (CL-3): so lasting contact keeps the order of the table.  A step in
// which an open contact closes or a closed one meets a kink is an impact, as in half-explicit.
#include "scheme/half_explicit/half_explicit_rk.h"
#include "scheme/step.h"

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

typedef struct work {
    const carom_rk_table *T;
    bool by_stage;                      // sets=stage
    double row[STAGES + 1][STAGES];     // of the table for stages, then the weights b
    double c[STAGES + 1];               // their sums
    double *held_1;                     // nc: contact pushes at the end of the step
    double *kinked;                     // by constraint of a set: 1 for a contact that meets a kink
    carom_factor F;                     // M(Q_{l-1})
    carom_local L, L_next;              // closed contacts at Q_{l-1} and Q_l
    double *V[STAGES], *K[STAGES];      // stage velocities; stage accelerations with contact forces
    double *D[STAGES];                  // rates of the displacements from q_0: V where (+) is a sum
    double *K_E[STAGES];                // with bilateral forces alone, for an impact
    double *Q, *Q_next, *v_0, *v, *sum, *x; // v_0: after an impact at the start
    double *g_0, *g_1, *u_0, *u_1, *lambda;
    double *g_l, *held_0;               // sets=stage: gaps at a stage; nc: contact is closed at the start
} work;

// c_l = sum_{k<l} a_lk
static void read_table(work *w) {
    const carom_rk_table *T = w->T;
    for (int l = 0; l <= T->stages; ++l) {
        w->c[l] = carom_rk_place(T, l);
        for (int k = 0; k < l; ++k) w->row[l][k] = carom_rk_entry(T, l, k);
    }
}

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    work *w = memory;
    const size_t nv = (size_t)sys->nv, nb = (size_t)(sys->ne + sys->nc);
    w->T = carom_rk_find((int)opt[OPT_ORDER]);
    read_table(w);
    w->by_stage = opt[OPT_SETS] == 1;
    (void)keep;
    w->held_1 = carom_allocate(mem, (size_t)sys->nc);
    w->kinked = carom_allocate(mem, nb);
    w->v_0 = carom_allocate(mem, nv);
    w->F = carom_allocate_factor(mem, sys->mass_shape, true);
    w->L = carom_allocate_local(mem, sys);
    w->L_next = carom_allocate_local(mem, sys);
    for (int l = 0; l < w->T->stages; ++l) {
        w->V[l] = carom_allocate(mem, nv);
        w->D[l] = sys->lift ? carom_allocate(mem, nv) : w->V[l];
        CAROM_ALLOCATE(mem, nv, &w->K[l], &w->K_E[l]);
    }
    CAROM_ALLOCATE(mem, (size_t)sys->nq, &w->Q, &w->Q_next);
    CAROM_ALLOCATE(mem, nv, &w->v, &w->sum, &w->x);
    CAROM_ALLOCATE(mem, nb, &w->g_0, &w->g_1, &w->g_l);
    w->held_0 = carom_allocate(mem, (size_t)sys->nc);
    CAROM_ALLOCATE(mem, (size_t)w->L.W.n, &w->u_0, &w->u_1, &w->lambda);
}

// c_l h after t: where stage l stands.
static double stage_time(const work *w, const carom_step *s, int l) {
    return l == w->T->stages ? s->t + s->h : s->t + w->c[l] * s->h;
}

// (HR-1)  Q_l = q_0 + h sum_{k<l} a_lk V_k, where (+) is no sum with D_k instead of V_k
static void position(work *w, const carom_step *s, int l) {
    carom_zero(w->sum, s->sys->nv);
    for (int k = 0; k < l; ++k) carom_axpy(w->sum, w->row[l][k], w->D[k], s->sys->nv);
    carom_move(s, w->Q_next, s->q, s->h, w->sum);
}

// D_l, with the sum of Q_l still at hand.
static void lift(work *w, const carom_step *s, int l) {
    if (!s->sys->lift) return;
    carom_zero(w->x, s->sys->nv);
    if (l > 0) carom_axpy(w->x, s->h, w->sum, s->sys->nv);
    carom_lift(s, w->D[l], w->x, w->V[l]);
}

// (HR-2)  velocity at stage l (l = stages: at the end) with M_{l-1}, f_{l-1} at hand in F and K[l-1]:
//         V_l = v_0 + h sum_{k<l-1} a_lk K_k + h a_{l,l-1} (M^-1 f + M^-1 W lambda),  law(W(Q_l)'V_l, lambda)
static carom_status velocity(work *w, carom_step *s, int l, const carom_local *L, const carom_local *L_next,
                             double *const *K, double *v) {
    const double h = s->h, *row = w->row[l], a = row[l - 1];
    carom_copy(v, w->v_0, s->sys->nv);
    for (int k = 0; k < l; ++k) carom_axpy(v, h * row[k], K[k], s->sys->nv);
    if (L->nb == 0) return CAROM_OK;
    carom_problem_form(s, L_next, L, &w->F, h * a);
    carom_local_velocity(s->c, L_next, v);
    CAROM_TRY(carom_problem_solve(s, L));
    carom_problem_apply(s, v, h * a);
    carom_problem_apply(s, K[l - 1], 1);
    carom_copy(w->lambda, s->problem.p, s->problem.n);
    return CAROM_OK;
}

// K[l] = K_E[l] = M_l^-1 f_l
static carom_status free_stage(work *w, carom_step *s, int l, double t) {
    CAROM_TRY(carom_free_motion(s, &w->F, w->K[l], NULL, t, w->Q, w->V[l]));
    carom_copy(w->K_E[l], w->K[l], s->sys->nv);
    return CAROM_OK;
}

// K_E[l] gets the bilateral part of the forces just found; the forces are booked for their share b_l of the step.
static void keep_stage(work *w, carom_step *s, int l, bool last) {
    carom_problem_react(s, w->K_E[l], 1, w->lambda, s->sys->ne);
    carom_contact_velocity(s, w->u_0, &w->L, last ? w->v : w->V[l]);
    carom_account_forces(s, &w->L, w->lambda, w->u_0, s->h * w->T->b[l], last);
}

// (HE-6)  an impact at the start of the step; L holds the closed contacts and their directions.
static carom_status impact_at_start(work *w, carom_step *s) {
    bool struck;
    carom_local_velocity(w->u_0, &w->L, w->v_0);
    CAROM_TRY(
        carom_struck(s, &struck, NULL, &w->L, w->u_0, (carom_evaluation_point){.t = s->t, .q = s->q, .v = w->v_0}));
    if (!struck) return CAROM_OK;
    CAROM_TRY(carom_mass_factor(s, &w->F, s->t, s->q));
    return carom_impact(s, &w->L, &w->F, w->v_0, w->u_0, NULL, w->u_1);
}

// (HE-7)  a kink: a contact that is closed at (t, q_0) has W(Q_l)'v_0 + w < -theta at a stage.
static carom_status meets_kink(work *w, carom_step *s, int l, bool *kink) {
    carom_contact_velocity(s, w->u_0, &w->L_next, w->v_0);
    const carom_evaluation_point at = {.t = stage_time(w, s, l), .q = w->Q_next, .v = w->v_0, .f = w->K_E[l - 1]};
    return carom_struck(s, kink, w->kinked, &w->L_next, w->u_0, at);
}

// (HR-5)  sets=stage:  the set of lambda_{l-1} is { j : g_j(t_l, Q_l) <= 0 } (CL-3); L and L_next then have it, with
//         directions at Q_{l-1} and Q_l.
//         *closes: one of them was open at the start.  Its force would stop it without restitution: the step is an
//         impact.
static carom_status close_stage(work *w, carom_step *s, int l, bool *closes) {
    const int ne = s->sys->ne;
    const double t_l = stage_time(w, s, l);
    CAROM_TRY(carom_gaps(s, w->g_l, t_l, w->Q_next));
    const carom_evaluation_point at = {
        .t = t_l, .q = w->Q_next, .v = w->V[l - 1], .active = w->held_0, .drift = CAROM_RK_DRIFT};
    CAROM_TRY(carom_close_at(s, &w->L_next, w->g_l, at));
    for (int b = ne; b < w->L_next.nb && !*closes; ++b) *closes = w->held_0[w->L_next.id[b] - ne] == 0;
    if (*closes) return CAROM_OK;
    bool same = w->L.nb == w->L_next.nb;
    for (int b = 0; same && b < w->L.nb; ++b) same = w->L.id[b] == w->L_next.id[b];
    if (same) return CAROM_OK;
    carom_local_same(&w->L, &w->L_next);
    return carom_directions(s, &w->L, stage_time(w, s, l - 1), w->Q);
}

// Directions at the next stage are those at this one, when it comes.
static void pass_directions(work *w) {
    const carom_local L = w->L;
    w->L = w->L_next;
    w->L_next = L;
}

// The stages with the forces of the first nb constraints of L, with directions at (t, q_0), or, unless those are the
// joints alone, with those of (HR-5);
// they end early at a kink.
static carom_status stages(work *w, carom_step *s, int nb, bool by_stage, bool *kink) {
    const int last = w->T->stages, ne = s->sys->ne;
    carom_copy(w->V[0], w->v_0, s->sys->nv);
    carom_copy(w->Q, s->q, s->sys->nq);
    lift(w, s, 0);
    carom_power_begin(s);
    *kink = false;
    w->L.nb = nb;
    for (int l = 1; l <= last; ++l) {
        CAROM_TRY(free_stage(w, s, l - 1, stage_time(w, s, l - 1)));
        CAROM_TRY(carom_power_stage(s, s->h * w->T->b[l - 1], stage_time(w, s, l - 1), w->Q, w->V[l - 1]));
        position(w, s, l);
        if (by_stage) CAROM_TRY(close_stage(w, s, l, kink));
        else carom_local_same(&w->L_next, &w->L);
        if (*kink) carom_zero(w->kinked, ne + s->sys->nc);
        if (*kink) return CAROM_OK;
        CAROM_TRY(carom_directions(s, &w->L_next, stage_time(w, s, l), w->Q_next));
        if (w->L.nb > ne) CAROM_TRY(meets_kink(w, s, l, kink));
        if (*kink) return CAROM_OK;
        carom_local_complete(&w->L, &w->L_next, ne);
        CAROM_TRY(velocity(w, s, l, &w->L, &w->L_next, w->K, l < last ? w->V[l] : w->v));
        if (w->L.nb > 0) keep_stage(w, s, l - 1, l == last);
        if (l == last) break;
        lift(w, s, l);
        carom_copy(w->Q, w->Q_next, s->sys->nq);
        pass_directions(w);
    }
    return CAROM_OK;
}

// (HR-4)  a jam (Painleve): the slip u_T of a contact turns round, from more than theta_T = 4 h (|W_T'a| + 4 mu
//         |W_N'a|), which the forces of a few steps explain.  Forces that stop it at a stage are of order 1/h, and with
//         the weights of the others they throw it back.  a = M^-1 f at the last stage; L_next holds the directions at
//         (t_1, q_1).
static bool jams(work *w, const carom_step *s) {
    const carom_local *L = &w->L_next;
    const double *a = w->K_E[w->T->stages - 1];
    bool some = false;
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
    return some;
}

// (HR-3)  an impact: stages keep their states but lose their contact forces; then Newton's law at q_1
static carom_status impact(work *w, carom_step *s) {
    const int last = w->T->stages, ne = s->sys->ne;
    const double t_1 = s->t + s->h;
    for (int c = 0; c < s->sys->nc; ++c)
        if (w->held_1[c] > 0) w->g_1[ne + c] = -1; // resting contacts take part
    carom_zero(s->record.force, s->dir[ne + s->sys->nc]);
    carom_problem_react(s, w->K_E[last - 1], -1, w->lambda, ne); // found anew below
    carom_close(s, &w->L_next, w->g_1);
    CAROM_TRY(carom_directions(s, &w->L_next, t_1, w->Q_next));
    const carom_local joints = carom_joints_of(s, &w->L_next);
    w->L = carom_joints_of(s, &w->L);
    CAROM_TRY(velocity(w, s, last, &w->L, &joints, w->K_E, w->v));
    carom_account_forces(s, &w->L, w->lambda, NULL, s->h, true); // joints alone
    carom_account_power(s, w->v_0, w->v);
    CAROM_TRY(carom_mass_factor(s, &w->F, t_1, w->Q_next));
    carom_local_velocity(w->u_0, &w->L_next, w->v);
    // A contact that rested has no velocity to give back: what v- shows there is the force it lost.
    carom_copy(w->u_1, w->u_0, w->L_next.at[w->L_next.nb]);
    for (int b = ne; b < w->L_next.nb; ++b)
        if (w->held_1[w->L_next.id[b] - ne] > 0)
            carom_zero(w->u_1 + w->L_next.at[b], w->L_next.at[b + 1] - w->L_next.at[b]);
    return carom_impact(s, &w->L_next, &w->F, w->v, w->u_0, w->u_1, w->u_1);
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    const int nv = s->sys->nv, ne = s->sys->ne, nc = s->sys->nc;
    const double t_1 = s->t + s->h;

    carom_copy(w->v_0, s->v, nv);
    CAROM_TRY(carom_gaps_before(s, w->g_0));
    bool known = false; // L, L_next hold directions of their sets at q_0, q_1
    CAROM_TRY(carom_close_knowing(s, &w->L, w->g_0, &known,
                                  (carom_evaluation_point){.t = s->t, .q = s->q, .v = s->v, .drift = CAROM_RK_DRIFT}));
    const int nb = w->L.nb;
    if (!known) CAROM_TRY(carom_directions(s, &w->L, s->t, s->q));
    if (nb > ne) CAROM_TRY(impact_at_start(w, s));
    const carom_account booked = s->record.account;
    bool kink;
    for (int c = 0; w->by_stage && c < nc; ++c) w->held_0[c] = carom_closed(s, w->g_0[ne + c]);
    CAROM_TRY(stages(w, s, nb, w->by_stage && nc > 0, &kink));
    carom_zero(w->held_1, nc);
    if (!kink && w->L.nb > ne && jams(w, s)) carom_zero(w->kinked, w->L.nb), kink = true;
    if (kink) {
        for (int c = 0; w->by_stage && c < nc; ++c) w->held_1[c] = w->held_0[c];
        for (int b = ne; b < w->L.nb; ++b) w->held_1[w->L.id[b] - ne] = !w->kinked[b];
        s->record.account = booked;
        w->L.nb = ne;
        CAROM_TRY(carom_directions(s, &w->L, s->t, s->q));
        CAROM_TRY(stages(w, s, ne, false, &(bool){false}));
    } else {
        for (int c = 0; c < nc; ++c) w->held_1[c] = s->record.force[s->dir[ne + c]] > 0;
    }
    CAROM_TRY(carom_gaps(s, w->g_1, t_1, w->Q_next));
    known = true;
    CAROM_TRY(carom_close_knowing(
        s, &w->L_next, w->g_1, &known,
        (carom_evaluation_point){.t = t_1, .q = w->Q_next, .v = w->v, .active = w->held_1, .drift = CAROM_RK_DRIFT}));
    if (kink || carom_closes(s, w->g_0, w->g_1)) {
        s->record.account = booked;
        CAROM_TRY(impact(w, s));
    } else {
        carom_account_power(s, w->v_0, w->v);
    }
    carom_copy(s->q, w->Q_next, s->sys->nq);
    carom_copy(s->v, w->v, nv);
    return CAROM_OK;
}

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
    .work_size = sizeof(work),
    .allocate = allocate,
    .step = step,
};
