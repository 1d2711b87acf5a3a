// half_explicit.c: the half-explicit timestepping scheme on velocity level.
//
// Spec: docs/METHODS.md, section HE (Schindler, Rezaei, Kursawe, Acary 2015).  Contact forces act at both ends
// of a step and are found from the velocity constraint, so smooth motion with lasting contact is of second
// order; a step in which a contact closes gives up the forces and solves an impact instead.  Without contact it
// is the velocity Verlet scheme.
//
// active=predicted decides on the explicit prediction q_P, before anything is computed, and takes the
// impulsive part of a step only impulsive-step times as long; the rest of the step follows as usual.
#include "base/tolerance.h"
#include "linalg/matrix.h"
#include "scheme/stepping.h"
#include <math.h>

enum { OPT_ACTIVE, OPT_IMPULSIVE, OPT_POWER, OPT_TIME, OPT_DAMPING };
enum { APPROACH = 40 }; // attempts to end a part before a contact closes
static const double LEAST = 1e-6; // impulsive step, of h
static const carom_option options[] = {
    {.name = "active", .kind = CAROM_CHOICE, .choices = "current|predicted",
     .about = "closed contacts and impacts are decided at the current position, or at the prediction q_0 + h v_0"},
    {.name = "impulsive-step", .kind = CAROM_REAL, .fallback = 1, .low = 1e-6, .high = 1,
     .about = "length of an impulsive step as a fraction of h (active=predicted only)"},
    {.name = "impulsive-power", .kind = CAROM_INTEGER, .fallback = 0, .low = 0, .high = 6,
     .about = "p > 0: impulsive steps of impulsive-step h (h/impulsive-time)^p, with steps that end before contacts "
              "close; 1: second order through impacts (active=predicted only)"},
    {.name = "impulsive-time", .kind = CAROM_REAL, .fallback = 1, .low = 1e-12, .high = 1e12,
     .about = "unit of h in impulsive-power, in s"},
    {.name = "damping", .kind = CAROM_REAL, .fallback = 0, .low = 0, .high = 0.5,
     .about = "numerical damping of high frequencies, eta: radius sqrt(1 - eta (omega h)^4/2); 0: none, 0.2: much; "
              "one force evaluation more"},
    {0},
};

typedef struct step_work {
    carom_stage *S_0, *S_1, S[2];  // the two ends of a step; the second is the first of the next one
    carom_local L_P;               // directions of S_0's set at the prediction
    double t, h, *q, *v;           // a part of the step: its start, its length, the state there
    double *q_P, *q_1;             // prediction; end
    double *v_1, *v_m;             // stage velocity; mean velocity, then v-
    double *g_P;                   // gaps at the prediction
    double *a_0;                   // M_0^-1 (f_0 + W_0 lambda+)
    double *lambda_0, *lambda_1;   // contact forces at the two ends
    double *held;                  // nc: contacts that push at q_0
    double *u_0, *u_1;             // local velocities
    carom_local joints;            // of S_1's set
    double shortest;               // impulsive step, active=predicted; else the step
    double *kappa;                 // curvatures at q_0 of contacts, rows of S_0's set
    int *at;                       // first rows of contacts, counted from the first contact on
    bool curved;                   // the last part needed curvatures: this one will, too, as a rule
} step_work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)keep, (void)opt;
    step_work *w = memory;
    w->S[0] = carom_allocate_stage(mem, sys, true);
    w->L_P = carom_allocate_local(mem, sys);
    w->S[1] = carom_allocate_stage(mem, sys, true);
    w->S_0 = w->S, w->S_1 = w->S + 1;
    CAROM_ALLOCATE(mem, (size_t)sys->nq, &w->q, &w->q_P, &w->q_1);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &w->v, &w->v_1, &w->v_m, &w->a_0);
    w->g_P = carom_allocate(mem, (size_t)(sys->ne + sys->nc));
    w->held = carom_allocate(mem, (size_t)sys->nc);
    w->at = carom_allocate_ints(mem, (size_t)sys->nc + 1);
    CAROM_ALLOCATE(mem, (size_t)w->L_P.W.n, &w->lambda_0, &w->lambda_1, &w->u_0, &w->u_1, &w->kappa);
}

// q_P = q_0 + h v_0 and the directions of the first set there.
static carom_status predict(step_work *w, carom_step *s, double h) {
    carom_move(s, w->q_P, w->q, h, w->v);
    if (carom_straight(s->sys)) {
        w->L_P = w->S_0->L; // they are only read
        return CAROM_OK;
    }
    carom_local_same(&w->L_P, &w->S_0->L);
    CAROM_TRY(carom_directions(s, &w->L_P, w->S_0->t + h, w->q_P));
    if (carom_local_complete(&w->S_0->L, &w->L_P, s->sys->ne)) w->S_0->number = 0;
    return CAROM_OK;
}

// (HE-7)  a kink: a contact closed at q_0 with W(q_P)'v_0 + w < -theta.  The step is an impact.
//         Curvatures at q_0 cost least before the prediction is evaluated: models keep what they know of one position.
static carom_status meets_kink(step_work *w, carom_step *s, double h, bool *kink) {
    const carom_local *L = &w->S_0->L;
    const bool first = w->curved;
    if (first) { // those of joints are not needed
        const int joints = carom_joints_of(s, L).nb, from = L->at[joints];
        const carom_local contacts = {.nb = L->nb - joints, .id = L->id + joints, .at = w->at};
        for (int b = 0; b <= contacts.nb; ++b) w->at[b] = L->at[joints + b] - from;
        CAROM_TRY(carom_curvature(s, w->kappa + from, &contacts, w->S_0->t, w->q, w->v));
    }
    CAROM_TRY(predict(w, s, h));
    carom_contact_velocity(s, w->u_1, &w->L_P, w->v);
    return carom_struck_on(s, kink, &w->curved, L, w->u_1, first ? w->kappa : NULL, carom_stage_point(w->S_0));
}

// (HE-9)  impulsive-power > 0:  a contact closes after tau = h g_0/(g_0 - g_P), by the prediction over h.  While tau >
//         2 h~, h~ being the impulsive step:  h <- tau - h~, and the part is an ordinary one if none closes in it.
static carom_status approach(step_work *w, carom_step *s, double *h, double shortest, bool *hits) {
    const carom_stage *S = w->S_0;
    const int ne = s->sys->ne;
    for (int i = 0; *hits && i < APPROACH; ++i) {
        double tau = *h;
        for (int id = ne; id < ne + s->sys->nc; ++id)
            if (!carom_closed(s, S->g[id]) && carom_closed(s, w->g_P[id]))
                tau = fmin(tau, *h * (S->g[id] / (S->g[id] - w->g_P[id])));
        if (!(tau > 2 * shortest)) return CAROM_OK;
        *h = tau - shortest;
        carom_move(s, w->q_P, w->q, *h, w->v);
        CAROM_TRY(carom_gaps(s, w->g_P, S->t + *h, w->q_P));
        CAROM_TRY(carom_close_place(s, &w->S_1->L, w->g_P,
                                    (carom_evaluation_point){.t = S->t + *h, .q = w->q_P, .v = w->v, .f = S->a}));
        *hits = carom_closes(s, S->g, w->g_P);
    }
    return CAROM_OK;
}

// (HE-1)  active=predicted: the set at q_P, and whether a contact closes there, which shortens h.  Directions are those
//         at hand where set and h stay.
static carom_status decide_at_prediction(step_work *w, carom_step *s, double *h, double shortest, bool *hits) {
    carom_stage *S = w->S_0;
    carom_local *L_P = &w->S_1->L; // free until the end
    if (S->L.nb == 0) carom_move(s, w->q_P, w->q, *h, w->v); // else it has been predicted
    CAROM_TRY(carom_gaps(s, w->g_P, S->t + *h, w->q_P));
    CAROM_TRY(carom_close_place(s, L_P, w->g_P,
                                (carom_evaluation_point){.t = S->t + *h, .q = w->q_P, .v = w->v, .f = S->a}));
    const bool kink = *hits, whole = !carom_closes(s, S->g, w->g_P);
    *hits = kink || !whole;
    if (!kink && *hits && s->opt[OPT_POWER] > 0) CAROM_TRY(approach(w, s, h, shortest, hits));
    if (!*hits && whole && carom_local_alike(L_P, &S->L)) return CAROM_OK;
    if (*hits) *h = fmin(*h, shortest);
    carom_local_same(&S->L, L_P);
    if (*hits) S->L.nb = carom_joints_of(s, &S->L).nb;
    S->number = 0;
    CAROM_TRY(carom_directions(s, &S->L, S->t, w->q));
    return predict(w, s, *h);
}

// What (HE-7), then active=predicted, say of the step: *hits, an impact.
static carom_status step_predict(step_work *w, carom_step *s, int *hits) {
    const carom_stage *S = w->S_0;
    bool kink = false;
    if (step_contacts(s, S) && !carom_straight(s->sys)) CAROM_TRY(meets_kink(w, s, w->h, &kink));
    else if (S->L.nb > 0) CAROM_TRY(predict(w, s, w->h));
    *hits = kink;
    return CAROM_OK;
}
static carom_status step_decide(step_work *w, carom_step *s, int *hits) {
    bool strikes = *hits;
    if (s->opt[OPT_ACTIVE] == 1) CAROM_TRY(decide_at_prediction(w, s, &w->h, w->shortest, &strikes));
    else if (strikes) w->S_0->L.nb = carom_joints_of(s, &w->S_0->L).nb; // no contact forces in an impulsive step
    w->L_P.nb = w->S_0->L.nb;
    *hits = strikes;
    return CAROM_OK;
}

// -- what half_explicit.inc asks for ----------------------------------------------------------------------------------

static carom_status step_start(step_work *w, carom_step *s) {
    return carom_stage_start(&w->S_0, &w->S_1, s, w->t, w->q, w->v);
}
static carom_stage *step_first(const step_work *w) { return w->S_0; }
static carom_stage *step_last(const step_work *w) { return w->S_1; }

// Contacts that push at q_0.
static void step_release(step_work *w, const carom_step *s) { carom_zero(w->held, s->sys->nc); }
static void step_hold(step_work *w, const carom_step *s) {
    const carom_local *L = &w->S_0->L;
    for (int b = s->sys->ne; b < L->nb; ++b) w->held[L->id[b] - s->sys->ne] = w->lambda_0[L->at[b]] > 0;
}

// (HE-10) a_1 = M_1^-1 f(t_1, q_1 + d, v_1),  d = -eta h^2 (a_1 - a_f), with the a_1 of (HE-3): numerical damping of
//         high frequencies
static carom_status step_arrive(step_work *w, carom_step *s, double t, double h) {
    const double eta = s->opt[OPT_DAMPING];
    w->S_1->stands = false;
    CAROM_TRY(carom_stage_end(w->S_1, s, t, w->q_1, w->v_1));
    if (!(eta > 0)) return CAROM_OK;
    for (int i = 0; i < s->sys->nv; ++i) w->v_m[i] = -eta * h * h * (w->S_1->a[i] - w->S_0->a[i]);
    carom_move(s, w->q_P, w->q_1, 1, w->v_m);
    return step_accelerate(s, w->S_1, w->q_P, w->v_1);
}

// a_0 = a_f + M_0^-1 W_0 lambda+ of joints
static void step_give_up(step_work *w, const carom_step *s) {
    carom_stage *S_0 = w->S_0;
    carom_copy(w->a_0, S_0->a, s->sys->nv);
    for (int b = 0; b < s->sys->ne; ++b) { // joints come first
        carom_column_expand(w->v_m, &S_0->L.W, b);
        carom_factor_solve(&S_0->F, w->v_m);
        carom_axpy(w->a_0, w->lambda_0[b], w->v_m, s->sys->nv);
    }
}

static carom_local *step_second(step_work *w, const carom_step *s, bool joints) {
    w->joints = carom_joints_of(s, &w->S_1->L);
    return joints ? &w->joints : &w->S_1->L;
}
static carom_status step_strike_second(step_work *w, carom_step *s) {
    return w->S_1->L.nb > 0 ? step_strike(s, w->S_1, w->v_m, w->u_0, w->u_1) : CAROM_OK;
}

// Forces lambda of a set act for `weight` at its end of the step, where u is the local velocity; v is the velocity at
// the other end.
// (BK-4)  Friction works along (v_0 + v)/2, as other forces do: where a body jams, lambda+ stops it in no time and
//         lambda- is none.
static void account(carom_step *s, const carom_local *L, const double *lambda, const double *u, const double *v,
                    double weight, bool last) {
    carom_account_forces(s, L, lambda, u, weight, last);
    for (int b = 0; b < L->nb; ++b) // joints have one row
        for (int k = L->at[b] + 1; k < L->at[b + 1]; ++k)
            s->record.account.friction -= 0.5 * weight * lambda[k] * (carom_column_dot(&L->W, k, v) + L->w[k] - u[k]);
}

static void step_book_forces(step_work *w, carom_step *s, double h, bool joints) {
    const carom_local joints_0 = carom_joints_of(s, &w->S_0->L), *L_0 = joints ? &joints_0 : &w->S_0->L,
                      *L_1 = joints ? &w->joints : &w->S_1->L;
    carom_contact_velocity(s, w->u_0, L_0, w->v);
    carom_contact_velocity(s, w->u_1, L_1, w->v_m);
    account(s, L_0, w->lambda_0, w->u_0, w->v_m, 0.5 * h, false);
    account(s, L_1, w->lambda_1, w->u_1, w->v, 0.5 * h, true);
}

static void step_take(step_work *w, const carom_step *s) {
    carom_copy(w->q, w->q_1, s->sys->nq);
    carom_copy(w->v, w->v_m, s->sys->nv);
}

#include "scheme/half_explicit/half_explicit.inc"

static carom_status step(void *memory, carom_step *s) {
    step_work *w = memory;
    // (HE-8)  h~ = impulsive-step h (h/impulsive-time)^p
    const double part_of_h =
        fmax(LEAST, fmin(1, s->opt[OPT_IMPULSIVE] * pow(s->h / s->opt[OPT_TIME], s->opt[OPT_POWER])));
    w->shortest = s->opt[OPT_ACTIVE] == 1 ? part_of_h * s->h : s->h;
    carom_copy(w->q, s->q, s->sys->nq); // a later part may fail
    carom_copy(w->v, s->v, s->sys->nv);
    for (double left = s->h; left > CAROM_SAME * s->h; left -= w->h) {
        w->t = s->t + (s->h - left), w->h = left;
        carom_zero(s->record.force, s->dir[s->sys->ne + s->sys->nc]); // forces of the last part count
        CAROM_TRY(step_whole(w, s));
        if (w->h < left) s->counts->substeps += 1; // shortened: impulsive
    }
    carom_copy(s->q, w->q, s->sys->nq);
    carom_copy(s->v, w->v, s->sys->nv);
    return CAROM_OK;
}

// (HE-11)  (omega h)^2 <= (sqrt(1 + 16 eta) - 1)/(2 eta)
static double stable_of(const double *opt) {
    const double eta = opt[OPT_DAMPING];
    return eta > 0 ? sqrt((sqrt(1 + 16 * eta) - 1) / (2 * eta)) : 2;
}

const carom_scheme carom_scheme_half_explicit = {
    .name = "half-explicit",
    .about = "half-explicit scheme on velocity level: second order between impacts, with friction",
    .text = "q_P = q_0 + h v_0\n"
            "v_1 = v_0 + h M_0^-1 (f_0 + W_0 lambda+),   contact law between W(q_P)'v_1 and lambda+, contacts closed "
            "at q_0\n"
            "q_1 = q_0 + h/2 (v_0 + v_1)\n"
            "v   = v_0 + h/2 M_0^-1 (f_0 + W_0 lambda+) + h/2 M_1^-1 (f(q_1, v_1) + W_1 lambda-),\n"
            "      contact law between W_1'v and lambda-, contacts closed at q_1\n"
            "a contact closes between q_0 and q_1: lambda+ = lambda- = 0 (joints keep theirs), v- = v, then\n"
            "v+  = v- + M_1^-1 W_1 Lambda with Newton's law\n\n"
            "Second order in positions and velocities while the set of contacts does not change, contact forces\n"
            "first order; first order across impacts.  Explicit: stable for omega h < 2 (velocity Verlet).  A\n"
            "contact enters by at most h times its approach speed and then stays there without sinking.",
    .order = 2,
    .promises = {.joint_order = 2,
                 .limited_steps = true,
                 .forces = CAROM_AT_START | CAROM_AT_END,
                 .gaps = CAROM_AT_START | CAROM_AT_END,
                 .directions = CAROM_AT_START | CAROM_AT_END},
    .stable = 2,
    .stable_of = stable_of,
    .lanes = CAROM_LANE_HALF_EXPLICIT,
    .options = options,
    .work_size = sizeof(step_work),
    .allocate = allocate,
    .step = step,
};
