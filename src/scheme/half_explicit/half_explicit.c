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
#include "scheme/step.h"
#include <math.h>
#include <string.h>

enum { OPT_ACTIVE, OPT_IMPULSIVE, OPT_POWER, OPT_TIME, OPT_DAMPING };
enum { APPROACH = 40 }; // attempts to end a part before a contact closes
static const double LEAST = 1e-6; // impulsive step, of h
static const carom_option options[] = {
    {.name = "active",
     .kind = CAROM_CHOICE,
     .choices = "current|predicted",
     .about = "closed contacts and impacts are decided at the current position, or at the prediction q_0 + h v_0"},
    {.name = "impulsive-step",
     .kind = CAROM_REAL,
     .fallback = 1,
     .low = 1e-6,
     .high = 1,
     .about = "length of an impulsive step as a fraction of h (active=predicted only)"},
    {.name = "impulsive-power",
     .kind = CAROM_INTEGER,
     .fallback = 0,
     .low = 0,
     .high = 6,
     .about = "p > 0: impulsive steps of impulsive-step h (h/impulsive-time)^p, with steps that end before contacts "
              "close; 1: second order through impacts (active=predicted only)"},
    {.name = "impulsive-time",
     .kind = CAROM_REAL,
     .fallback = 1,
     .low = 1e-12,
     .high = 1e12,
     .about = "unit of h in impulsive-power, in s"},
    {.name = "damping",
     .kind = CAROM_REAL,
     .fallback = 0,
     .low = 0,
     .high = 0.5,
     .about = "numerical damping of high frequencies, eta: radius sqrt(1 - eta (omega h)^4/2); 0: none, 0.2: much; "
              "one force evaluation more"},
    {0},
};

typedef struct work {
    carom_factor *F_0, *F_1, F[2];     // M(q_0), M(q_1).  The end of a step is the start of the next: pointers change
                                       // places, structs stay where they are
    double t_F;                        // F_1 belongs to (t_F, q_1), where the next step starts; NAN: to none
    bool seen;                         // so does L_1
    double *g_F;                       // gaps there, as the system gives them
    bool known;                        // the step starts there, and L_1 is seen
    long number;                       // the problem with F_1^-1 W_1, then with F_0^-1 W_0, which may be the same; 0:
                                       // none
    carom_local *L_0, *L_1, L[2], L_P; // directions at q_0, at q_1; at the prediction
    double *q_P, *q_1, *v_1, *v_m;     // positions; stage velocity; mean velocity, then v-
    double *g_0, *g_P, *g_1;           // gaps
    double *a_f, *a_0, *a_1;           // accelerations: M_0^-1 f_0; with contact forces; M_1^-1 f_1
    double *lambda_0, *lambda_1;       // contact forces at the two ends, rows of L_0 and L_1
    double *held;                      // nc: contacts that push at q_0
    bool holding;                      // not all of them are zero
    int contacts;                      // most: a list may have fewer in use
    double *u_0, *u_1;                 // local velocities
    bool u_known;                      // u_0 has those of L_0's contacts at v
    double *kappa;                     // curvatures at q_0, rows of L_0: those of contacts
    int *at;                           // first rows of contacts, counted from the first contact on
    bool curved;                       // the last step needed them: this one will, too, as a rule
    double *q, *v;                     // the state at the start of the part of a step; q: that of the simulation, or
                                       // q_parts
    double *q_parts;                   // where a step may have several parts: a later one may fail
} work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)keep, (void)opt;
    work *w = memory;
    w->t_F = NAN;
    w->F[0] = carom_allocate_factor(mem, sys->mass_shape, true);
    w->F[1] = carom_allocate_factor(mem, sys->mass_shape, true);
    w->L[0] = carom_allocate_local(mem, sys);
    w->L_P = carom_allocate_local(mem, sys);
    w->L[1] = carom_allocate_local(mem, sys);
    w->F_0 = w->F, w->F_1 = w->F + 1;
    w->L_0 = w->L, w->L_1 = w->L + 1;
    CAROM_ALLOCATE(mem, (size_t)sys->nq, &w->q_P, &w->q_1, &w->q_parts);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &w->v_1, &w->v_m, &w->a_f, &w->a_0, &w->a_1, &w->v);
    CAROM_ALLOCATE(mem, (size_t)(sys->ne + sys->nc), &w->g_0, &w->g_P, &w->g_1, &w->g_F);
    w->held = carom_allocate(mem, (size_t)sys->nc);
    w->at = carom_allocate_ints(mem, (size_t)sys->nc + 1);
    w->holding = true;
    w->contacts = sys->nc;
    CAROM_ALLOCATE(mem, (size_t)w->L_0->W.n, &w->lambda_0, &w->lambda_1, &w->u_0, &w->u_1, &w->kappa);
}

// Does a contact that is open at g_0 close at g_1?
static bool closes(const carom_step *s, const double *g_0, const double *g_1) {
    for (int id = s->sys->ne; id < s->sys->ne + s->sys->nc; ++id)
        if (!carom_closed(s, g_0[id]) && carom_closed(s, g_1[id])) return true;
    return false;
}

// Are all bits the same?  Few numbers one at a time: a call takes longer.
static bool unmoved(const double *a, const double *b, int n) {
    enum { FEW = 8 };
    int i = 0;
    if (n > FEW) return memcmp(a, b, (size_t)n * sizeof *a) == 0;
    while (i < n && memcmp(a + i, b + i, sizeof *a) == 0) ++i;
    return i == n;
}

// M(q_0) was factorised at the end of the last step, unless somebody moved the state in between, or a signal has
// changed, on which masses may depend.  t + h and the time at which the next step starts often differ by rounding;
// where time enters nothing of what was seen, that does not matter.  Gaps may depend on signals, which a restored state
// replaces: then the time decides.
static carom_status factor_start(work *w, carom_step *s, double t) {
    const bool timeless =
        s->sys->flags & CAROM_CONSTANT_MASS && s->sys->flags & CAROM_TIMELESS_GAPS && s->sys->signals->ni == 0;
    w->known = w->u_known = false;
    if ((timeless ? !isnan(w->t_F) : w->t_F == t) && !s->jumped && unmoved(w->q_1, w->q, s->sys->nq)) {
        carom_factor *F = w->F_0;
        w->F_0 = w->F_1;
        w->F_1 = F;
        w->t_F = NAN;
        w->known = w->seen && !s->renumbers;
        return CAROM_OK;
    }
    return carom_mass_factor(s, w->F_0, t, w->q);
}

// W_0 was W_1 in the last step, where the set is the same.
static carom_status directions_start(work *w, carom_step *s, double t) {
    if (!w->known || !carom_local_alike(w->L_0, w->L_1)) {
        w->number = 0;
        return carom_directions(s, w->L_0, t, w->q);
    }
    carom_local *L = w->L_0;
    w->L_0 = w->L_1;
    w->L_1 = L;
    return CAROM_OK;
}

// g_0 was g_1 in the last step.  Joints alone need no gaps: nothing closes.
static carom_status gaps_start(work *w, carom_step *s, double t) {
    if (s->sys->nc == 0) return CAROM_OK;
    if (!w->known) return carom_gaps(s, w->g_0, t, w->q);
    carom_copy(w->g_0, w->g_F, s->sys->ne + s->sys->nc);
    return CAROM_OK;
}

// Newton's law over L's set at the directions and the mass at hand: v changes in place.
static carom_status strike(work *w, carom_step *s, const carom_local *L, const carom_factor *F, double *v) {
    carom_problem_form(s, L, L, F, 1);
    carom_local_velocity(w->u_0, L, v);
    CAROM_TRY(carom_problem_impact(s, L, w->u_0, w->u_0));
    carom_problem_apply(s, v, 1);
    carom_local_velocity(w->u_1, L, v);
    carom_account_impulses(s, L, s->problem.p, w->u_0, w->u_1);
    return CAROM_OK;
}

// (HE-6)  a contact closed at q_0 approaches, u(q_0, v_0) < -theta: an impact now, before the step.  Forces may depend
//         on v_0.
static carom_status impact_at_start(work *w, carom_step *s, double t) {
    bool struck;
    carom_contact_velocity(s, w->u_0, w->L_0, w->v);
    CAROM_TRY(carom_struck(s, &struck, NULL, w->L_0, w->u_0,
                           (carom_evaluation_point){.t = t, .q = w->q, .v = w->v, .f = w->a_f}));
    w->u_known = !struck;
    if (!struck) return CAROM_OK;
    CAROM_TRY(strike(w, s, w->L_0, w->F_0, w->v));
    CAROM_TRY(carom_force(s, w->a_f, t, w->q, w->v));
    carom_factor_solve(w->F_0, w->a_f);
    return CAROM_OK;
}

// Are directions the same everywhere?  Then there are no kinks, and those of a set are evaluated once.
static bool straight(const carom_step *s) {
    return s->sys->flags & CAROM_CONSTANT_DIRECTIONS && s->sys->flags & CAROM_TIMELESS_GAPS;
}

// q_P = q_0 + h v_0 and the directions of L_0's set there.
static carom_status look_ahead(work *w, carom_step *s, double t, double h) {
    carom_move(s, w->q_P, w->q, h, w->v);
    if (straight(s)) {
        w->L_P = *w->L_0; // they are only read
        return CAROM_OK;
    }
    carom_local_same(&w->L_P, w->L_0);
    return carom_directions(s, &w->L_P, t + h, w->q_P);
}

// The directions of L_1's set at q_1.  Where they and the mass are those of stage 1, so is F_1^-1 W_1.
static carom_status directions_end(work *w, carom_step *s, double t_1) {
    w->number = 0;
    if (w->L_1->nb == 0) return CAROM_OK;
    if (!straight(s) || !carom_local_alike(w->L_1, w->L_0)) return carom_directions(s, w->L_1, t_1, w->q_1);
    carom_local_blend(w->L_1, w->L_0, 0, NULL);
    if (s->sys->flags & CAROM_CONSTANT_MASS) w->number = carom_problem_number(s); // that of stage 1
    return CAROM_OK;
}

// The curvatures of L_0's contacts at q_0; those of joints are not looked at.
static carom_status curvatures_start(work *w, carom_step *s, double t) {
    const int joints = carom_joints_of(s, w->L_0).nb, first = w->L_0->at[joints];
    const carom_local contacts = {.nb = w->L_0->nb - joints, .id = w->L_0->id + joints, .at = w->at};
    for (int b = 0; b <= contacts.nb; ++b) w->at[b] = w->L_0->at[joints + b] - first;
    return carom_curvature(s, w->kappa + first, &contacts, t, w->q, w->v);
}

// (HE-7)  a kink: a contact closed at q_0 with W(q_P)'v_0 + w < -theta.  The step is an impact.
//         Curvatures at q_0 cost least before the prediction is evaluated: models keep what they know of one position.
static carom_status meets_kink(work *w, carom_step *s, double t, double h, bool *kink) {
    const bool first = w->curved;
    if (first) CAROM_TRY(curvatures_start(w, s, t));
    CAROM_TRY(look_ahead(w, s, t, h));
    carom_contact_velocity(s, w->u_1, &w->L_P, w->v);
    return carom_struck_on(s, kink, &w->curved, w->L_0, w->u_1, first ? w->kappa : NULL,
                           (carom_evaluation_point){.t = t, .q = w->q, .v = w->v, .f = w->a_f});
}

// (HE-2)  v_1 = v_0 + h M_0^-1 (f_0 + W_0 lambda+),  law(W_P'v_1, lambda+) over L_0's set: the force acts along the
// old directions, the constraint holds along the predicted ones.  Leaves a_0.
static carom_status stage_1(work *w, carom_step *s, double h) {
    const int nv = s->sys->nv, ne = s->sys->ne;
    carom_copy(w->a_0, w->a_f, nv);
    if (w->holding) carom_zero(w->held, w->contacts);
    w->holding = w->L_0->nb > ne;
    if (w->L_0->nb == 0) return CAROM_OK;
    carom_problem_form_as(s, &w->L_P, w->L_0, w->F_0, h, w->number);
    carom_add(w->v_1, w->v, h, w->a_f, nv);
    carom_local_velocity(s->c, &w->L_P, w->v_1);
    CAROM_TRY(carom_problem_solve(s, w->L_0));
    carom_copy(w->lambda_0, s->problem.p, s->problem.n);
    carom_problem_apply(s, w->a_0, 1);
    for (int b = ne; b < w->L_0->nb; ++b) w->held[w->L_0->id[b] - ne] = w->lambda_0[w->L_0->at[b]] > 0;
    return CAROM_OK;
}

// (HE-3)  v_1 = v_0 + h a_0,  q_1 = q_0 + h/2 (v_0 + v_1),  a_1 = M_1^-1 f(t_1, q_1, v_1)
static void move_on(work *w, const carom_step *s, double h) {
    w->t_F = NAN;
    carom_add(w->v_1, w->v, h, w->a_0, s->sys->nv);
    for (int i = 0; i < s->sys->nv; ++i) w->v_m[i] = 0.5 * (w->v[i] + w->v_1[i]);
    carom_move(s, w->q_1, w->q, h, w->v_m);
}

static carom_status see_end(work *w, carom_step *s, double t_1) {
    w->seen = false;
    CAROM_TRY(carom_free_motion(s, w->F_1, w->a_1, s->sys->nc > 0 ? w->g_1 : NULL, t_1, w->q_1, w->v_1));
    w->t_F = t_1;
    if (s->sys->nc > 0) carom_copy(w->g_F, w->g_1, s->sys->ne + s->sys->nc);
    return CAROM_OK;
}

// (HE-10)  a_1 = M_1^-1 f(t_1, q_1 + d, v_1),  d = -eta h^2 (a_1 - a_f), with the a_1 of (HE-3): numerical damping of
//          high frequencies
static carom_status damp(work *w, carom_step *s, double t_1, double h, double eta) {
    double *d = w->v_m, *q_d = w->q_P; // not needed any more, not needed yet
    for (int i = 0; i < s->sys->nv; ++i) d[i] = -eta * h * h * (w->a_1[i] - w->a_f[i]);
    carom_move(s, q_d, w->q_1, 1, d);
    CAROM_TRY(carom_force(s, w->a_1, t_1, q_d, w->v_1));
    carom_factor_solve(w->F_1, w->a_1);
    return CAROM_OK;
}

// (HE-4)  v = v_0 + h/2 (a_0 + a_1) + h/2 M_1^-1 W_1 lambda-,  law(W_1'v, lambda-) over the set, L_1's or its joints
static carom_status stage_2(work *w, carom_step *s, const carom_local *L, double h) {
    for (int i = 0; i < s->sys->nv; ++i) w->v_m[i] = w->v[i] + 0.5 * h * (w->a_0[i] + w->a_1[i]);
    if (L->nb == 0) return CAROM_OK;
    carom_problem_form_as(s, L, L, w->F_1, 0.5 * h, w->number);
    w->number = carom_problem_number(s);
    carom_local_velocity(s->c, L, w->v_m);
    CAROM_TRY(carom_problem_solve(s, L));
    carom_copy(w->lambda_1, s->problem.p, s->problem.n);
    carom_problem_apply(s, w->v_m, 0.5 * h);
    return CAROM_OK;
}

// (HE-5)  an impact: contact forces are given up, bilateral ones stay.  v- = v_0 + h/2 (a_0 + a_1) with those
// alone, then  v+ = v- + M_1^-1 W_1 Lambda  with Newton's law over L_1's set.
static carom_status impact(work *w, carom_step *s, double h) {
    const carom_local joints = carom_joints_of(s, w->L_1);
    carom_copy(w->a_0, w->a_f, s->sys->nv);
    for (int b = 0; b < s->sys->ne; ++b) { // joints come first
        carom_column_expand(w->v_m, &w->L_0->W, b);
        carom_factor_solve(w->F_0, w->v_m);
        carom_axpy(w->a_0, w->lambda_0[b], w->v_m, s->sys->nv);
    }
    CAROM_TRY(stage_2(w, s, &joints, h));
    carom_account_power(s, w->v, w->v_m);
    return w->L_1->nb > 0 ? strike(w, s, w->L_1, w->F_1, w->v_m) : CAROM_OK;
}

// (BK-4)  Friction works along (v_0 + v)/2, as other forces do: where a body jams, lambda+ stops it in no time and
//         lambda- is none.  u is booked, of this end; v the velocity at the other.
static void book_mean_slip(const carom_local *L, carom_step *s, const double *lambda, const double *u, const double *v,
                           double weight) {
    for (int b = carom_joints_of(s, L).nb; b < L->nb; ++b)
        for (int k = L->at[b] + 1; k < L->at[b + 1]; ++k)
            s->record.account.friction -= 0.5 * weight * lambda[k] * (carom_column_dot(&L->W, k, v) + L->w[k] - u[k]);
}

// Forces of the sets at both ends of the step act half a step each.  u: local velocities of L_1's set at the end; NULL:
// not known.
static void book(work *w, carom_step *s, const carom_local *L_0, const carom_local *L_1, const double *u, double h) {
    if (L_0->nb > s->sys->ne && !w->u_known) carom_contact_velocity(s, w->u_0, L_0, w->v);
    if (!u) carom_local_velocity(w->u_1, L_1, w->v_m);
    carom_account_forces(s, L_0, w->lambda_0, w->u_0, 0.5 * h, false);
    carom_account_forces(s, L_1, w->lambda_1, u ? u : w->u_1, 0.5 * h, true);
    book_mean_slip(L_0, s, w->lambda_0, w->u_0, w->v_m, 0.5 * h);
    book_mean_slip(L_1, s, w->lambda_1, u ? u : w->u_1, w->v, 0.5 * h);
}

// (HE-9)  impulsive-power > 0:  a contact closes after tau = h g_0/(g_0 - g_P), by the prediction over h.  While tau >
//         2 h~, h~ being the impulsive
//         step:  h <- tau - h~, and the part is an ordinary one if none closes in it.
static carom_status approach(work *w, carom_step *s, double t, double *h, double shortest, bool *hits) {
    const int ne = s->sys->ne;
    for (int i = 0; *hits && i < APPROACH; ++i) {
        double tau = *h;
        for (int id = ne; id < ne + s->sys->nc; ++id)
            if (!carom_closed(s, w->g_0[id]) && carom_closed(s, w->g_P[id]))
                tau = fmin(tau, *h * (w->g_0[id] / (w->g_0[id] - w->g_P[id])));
        if (!(tau > 2 * shortest)) return CAROM_OK;
        *h = tau - shortest;
        carom_move(s, w->q_P, w->q, *h, w->v);
        CAROM_TRY(carom_gaps(s, w->g_P, t + *h, w->q_P));
        CAROM_TRY(carom_close_place(s, w->L_1, w->g_P,
                                    (carom_evaluation_point){.t = t + *h, .q = w->q_P, .v = w->v, .f = w->a_f}));
        *hits = closes(s, w->g_0, w->g_P);
    }
    return CAROM_OK;
}

// (HE-1)  active=predicted: the set at q_P, and whether a contact closes there, which shortens h.  Directions are those
//         at hand where set and h stay.
static carom_status look_at_prediction(work *w, carom_step *s, double t, double *h, double shortest, bool *hits) {
    if (w->L_0->nb == 0) carom_move(s, w->q_P, w->q, *h, w->v); // else it has been looked ahead
    CAROM_TRY(carom_gaps(s, w->g_P, t + *h, w->q_P));
    CAROM_TRY(carom_close_place(s, w->L_1, w->g_P,
                                (carom_evaluation_point){.t = t + *h, .q = w->q_P, .v = w->v, .f = w->a_f}));
    const bool kink = *hits, whole = !closes(s, w->g_0, w->g_P);
    *hits = kink || !whole;
    if (!kink && *hits && s->opt[OPT_POWER] > 0) CAROM_TRY(approach(w, s, t, h, shortest, hits));
    if (!*hits && whole && carom_local_alike(w->L_1, w->L_0)) return CAROM_OK;
    if (*hits) *h = fmin(*h, shortest);
    carom_local_same(w->L_0, w->L_1);
    if (*hits) w->L_0->nb = carom_joints_of(s, w->L_0).nb;
    w->number = 0;
    w->u_known = false;
    CAROM_TRY(carom_directions(s, w->L_0, t, w->q));
    return look_ahead(w, s, t, *h);
}

// From (w->q, w->v) over h.  With active=predicted a predicted closing shortens h; *taken is what was done.
static carom_status part(work *w, carom_step *s, double t, double h, double shortest, double *taken) {
    const bool predicted = s->opt[OPT_ACTIVE] == 1;

    // (HE-1)  a_f = M_0^-1 f_0,  q_P = q_0 + h v_0,  closed at q_0
    CAROM_TRY(factor_start(w, s, t));
    CAROM_TRY(carom_force(s, w->a_f, t, w->q, w->v));
    carom_factor_solve(w->F_0, w->a_f);
    CAROM_TRY(gaps_start(w, s, t));
    if (!carom_close_open(s, w->L_0, w->g_0, NULL))
        CAROM_TRY(
            carom_close_near(s, w->L_0, w->g_0, &(carom_evaluation_point){.t = t, .q = w->q, .v = w->v, .f = w->a_f}));
    bool kink = false;
    const bool contacts = w->L_0->nb > s->sys->ne; // joints neither strike nor kink
    if (w->L_0->nb > 0) {
        CAROM_TRY(directions_start(w, s, t));
        if (contacts) CAROM_TRY(impact_at_start(w, s, t));
        if (contacts && !straight(s)) CAROM_TRY(meets_kink(w, s, t, h, &kink));
        else CAROM_TRY(look_ahead(w, s, t, h));
    }
    bool hits = kink;
    if (predicted) CAROM_TRY(look_at_prediction(w, s, t, &h, shortest, &hits));
    else if (hits) w->L_0->nb = carom_joints_of(s, w->L_0).nb; // no contact forces in an impulsive step
    *taken = h;
    w->L_P.nb = w->L_0->nb;

    const bool power = s->sys->accounts->power_along; // else the functions below have nothing to do
    if (power) {
        carom_power_begin(s);
        CAROM_TRY(carom_power_stage(s, 0.5 * h, t, w->q, w->v));
    }
    CAROM_TRY(stage_1(w, s, h));
    move_on(w, s, h);
    CAROM_TRY(see_end(w, s, t + h));
    if (s->opt[OPT_DAMPING] > 0) CAROM_TRY(damp(w, s, t + h, h, s->opt[OPT_DAMPING]));
    if (power) CAROM_TRY(carom_power_stage(s, 0.5 * h, t + h, w->q_1, w->v_1));
    if (!carom_close_open(s, w->L_1, w->g_1, w->held))
        CAROM_TRY(carom_close_near(
            s, w->L_1, w->g_1,
            &(carom_evaluation_point){.t = t + h, .q = w->q_1, .v = w->v_1, .f = w->a_1, .active = w->held}));
    hits = hits || closes(s, w->g_0, w->g_1); // predicted: forces may have closed one that the prediction left open
    CAROM_TRY(directions_end(w, s, t + h));
    w->seen = true;
    if (hits) {
        CAROM_TRY(impact(w, s, h));
        const carom_local before = carom_joints_of(s, w->L_0), after = carom_joints_of(s, w->L_1);
        book(w, s, &before, &after, NULL, h);
    } else {
        CAROM_TRY(stage_2(w, s, w->L_1, h));
        if (power) carom_account_power(s, w->v, w->v_m);
        // of joints alone nobody needs more digits
        if (w->L_0->nb + w->L_1->nb > 0) book(w, s, w->L_0, w->L_1, w->L_1->nb > s->sys->ne ? NULL : s->problem.u, h);
    }
    carom_copy(w->q, w->q_1, s->sys->nq);
    carom_copy(w->v, w->v_m, s->sys->nv);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    // (HE-8)  h~ = impulsive-step h (h/impulsive-time)^p
    const double part_of_h =
        fmax(LEAST, fmin(1, s->opt[OPT_IMPULSIVE] * pow(s->h / s->opt[OPT_TIME], s->opt[OPT_POWER])));
    const double shortest = s->opt[OPT_ACTIVE] == 1 ? part_of_h * s->h : s->h;
    const bool parts = shortest < s->h;
    w->q = parts ? w->q_parts : s->q; // positions change when a part has succeeded
    if (parts) carom_copy(w->q, s->q, s->sys->nq);
    carom_copy(w->v, s->v, s->sys->nv);
    for (double left = s->h, taken = 0; left > CAROM_SAME * s->h; left -= taken) {
        carom_zero(s->record.force, s->dir[s->sys->ne + s->sys->nc]); // forces of the last part count
        CAROM_TRY(part(w, s, s->t + (s->h - left), left, shortest, &taken));
        if (taken < left) s->counts->substeps += 1; // shortened: impulsive
    }
    if (parts) carom_copy(s->q, w->q, s->sys->nq);
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
    .work_size = sizeof(work),
    .allocate = allocate,
    .step = step,
};
