// splitting.c: Runge-Kutta-Fehlberg 4(5) for the smooth motion, then an impact at its end.
//
// Spec: docs/methods-mixed.md (Acary: the lecture's splitting).  With constant steps the impact comes up to a step too
// late: first order.  adaptive=on divides the step so that the embedded error estimate and the penetration stay within
// tolerance; then the error follows the tolerance, whatever the step.
#include "event/scan.h"
#include <float.h>
#include <math.h>

enum { OPT_FORCES, OPT_ADAPTIVE, OPT_RTOL, OPT_ATOL, OPT_STEPS };
static const carom_option options[] = {
    [OPT_FORCES] = {.name = "forces", .kind = CAROM_CHOICE, .choices = "on|off",
                    .about = "contact forces in the smooth motion; off: impacts alone carry a resting body, and it sinks"},
    [OPT_ADAPTIVE] = {.name = "adaptive", .kind = CAROM_CHOICE, .choices = "off|on", .about = "divide steps by error and penetration"},
    [OPT_RTOL] = {.name = "rtol", .kind = CAROM_REAL, .fallback = 1e-6, .low = 1e-13, .high = 1, .about = "error of one part, relative to each component"},
    [OPT_ATOL] = {.name = "atol", .kind = CAROM_REAL, .fallback = 1e-6, .low = 1e-14, .high = 1e3,
                  .about = "error of one part, absolute; also the penetration allowed at an impact"},
    [OPT_STEPS] = {.name = "most-steps", .kind = CAROM_INTEGER, .fallback = 1e6, .low = 1, .high = 1e9, .about = "parts of one step before it is refused"},
    {0},
};

enum { NEXT, BEGUN, HEAD, EACH = CAROM_FLOW_EACH }; // kept: length of the next part, begun; by contact: what the flow keeps

typedef struct work {
    carom_flow f;
    carom_local all;
    double *kept, *now;        // HEAD + EACH nc
    double *q, *v, *q_1, *v_1; // at the start and at the end of a part
    double *g, *g_1;           // by id
    double *error;             // nq + nv
    double *slow, *slow_T, *still, *u_before, *u_after, *p, *kappa;
    bool *touching;
    carom_turns turns;         // of contacts that close in the same part
    carom_scan scan;           // of gaps inside a part
    double *offset;            // nc: event function of an open contact less its gap
    double t;                  // where the part begins
    bool laws;                 // a contact is closed: its laws hold in the stages
} work;

static void carve(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)opt;
    work *w = memory;
    const size_t nq = (size_t)sys->nq, nv = (size_t)sys->nv, nc = (size_t)sys->nc;
    w->kept = carom_carve(keep, HEAD + EACH * nc);
    w->now = carom_carve(mem, HEAD + EACH * nc);
    w->f = carom_carve_flow(mem, sys, carom_butcher_find(CAROM_RK_FEHLBERG, 5));
    w->all = carom_carve_local(mem, sys);
    w->scan = carom_allocate_scan(mem, sys);
    w->turns = carom_allocate_turns(mem, sys);
    w->q = carom_carve(mem, nq);
    w->q_1 = carom_carve(mem, nq);
    w->v = carom_carve(mem, nv);
    w->v_1 = carom_carve(mem, nv);
    w->g = carom_carve(mem, nc + (size_t)sys->ne);
    w->g_1 = carom_carve(mem, nc + (size_t)sys->ne);
    w->error = carom_carve(mem, nq + nv);
    double **by_contact[] = {&w->offset, &w->slow, &w->slow_T, &w->still, &w->u_before, &w->u_after, &w->p};
    for (size_t i = 0; i < sizeof by_contact / sizeof *by_contact; ++i) *by_contact[i] = carom_carve(mem, nc);
    w->kappa = carom_carve(mem, (size_t)w->all.W.n);
    w->touching = carom_carve_bytes(mem, nc * sizeof *w->touching);
}

static void load(work *w, const carom_step *s) {
    const int nc = s->sys->nc;
    carom_copy(w->now, w->kept, HEAD + EACH * nc);
    carom_flow_load(&w->f, s, w->now + HEAD);
    carom_copy(w->q, s->q, s->sys->nq);
    carom_copy(w->v, s->v, s->sys->nv);
    carom_close_all(s, &w->all);
}

static bool adaptive(const carom_step *s) { return s->opt[OPT_ADAPTIVE] == 1; }
static bool open_at(const work *w, int c) { return w->f.mode[c] == CAROM_MODE_OPEN; }

// (RKF-4)  eps_v = 2 |Gamma| h for constant steps; (2 |Gamma| atol)^1/2, the speed of a flight as high as the penetration
//          allowed, for adaptive ones
static carom_status slow_speeds(work *w, carom_step *s, double t, double h) {
    const int ne = s->sys->ne;
    carom_flow *f = &w->f;
    CAROM_TRY(carom_flow_rate(f, s, t, w->q_1, w->v_1, w->laws));
    CAROM_TRY(carom_directions(s, &w->all, t, w->q_1));
    carom_zero(w->kappa, w->all.at[w->all.nb]);
    CAROM_TRY(carom_curvature(s, w->kappa, &w->all, t, w->q_1, w->v_1));
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = w->all.at[ne + c];
        double press = fmax(0, -(carom_column_dot(&w->all.W, k, f->a) + w->kappa[k]));
        for (int b = ne; b < f->L.nb; ++b)
            if (f->L.id[b] == ne + c) press = fmax(press, f->lambda[f->L.at[b]] * f->D[f->L.at[b]]);
        const double residual = 4 * s->tol * s->scale + 64 * DBL_EPSILON * carom_local_reach(&w->all, k, w->v_1);
        w->slow[c] = residual + (adaptive(s) ? sqrt(2 * press * s->opt[OPT_ATOL]) : 2 * press * h);
        w->slow_T[c] = residual;
        w->still[c] = open_at(w, c) ? residual : w->slow[c]; // what a closed one has gained is drift
        // Sliding that turned round inside the part has stopped.
        if (f->mode[c] != CAROM_MODE_SLIP || w->all.at[ne + c + 1] - k < 2) continue;
        double along = 0;
        for (int i = k + 1; i < w->all.at[ne + c + 1]; ++i)
            along += f->dir[CAROM_TANGENTS * c + i - k - 1] * (carom_column_dot(&w->all.W, i, w->v_1) + w->all.w[i]);
        if (along <= 0) w->slow_T[c] = HUGE_VAL;
    }
    return CAROM_OK;
}

// Contacts that close in the same part hit one after the other.
static carom_status hit(work *w, carom_step *s, double t) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    bool some;
    int arrive = 0;
    for (int c = 0; c < nc; ++c) {
        w->turns.among[c] = w->touching[c] && open_at(w, c);
        w->turns.gap[c] = w->g_1[ne + c];
        arrive += w->turns.among[c];
    }
    if (arrive < 2) return carom_flow_impact(&w->f, s, t, w->q_1, w->v_1, w->touching, w->slow, false, &some, w->u_before, w->u_after, w->p);
    CAROM_TRY(carom_directions(s, &w->all, t, w->q_1));
    for (int c = 0; c < nc; ++c) {
        const int k = w->all.at[ne + c];
        w->turns.eps[c] = carom_local_rounding(&w->all, k, w->q_1, s->sys->nq) + s->h * carom_flow_no_approach(s, &w->all, k, w->v_1);
    }
    return carom_flow_impact_in_turn(&w->f, s, t, w->q_1, w->v_1, w->touching, w->slow, &w->turns, &w->all, &some, w->u_before, w->u_after, w->p);
}

// (RKF-2)  q_1 stays;  v = v_1 + M^-1 W P with Newton's law over contacts with g(q_1) <= 0.  Then, with forces, the
//          contacts without normal velocity that push are the closed ones of the next part.
static carom_status impact(work *w, carom_step *s, double t, double h) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    carom_flow *f = &w->f;
    if (ne > 0) {
        carom_copy(w->slow, f->mode, nc);
        carom_zero(f->mode, nc); // open: joints alone
        CAROM_TRY(carom_flow_project_position(f, s, t, w->q_1));
        CAROM_TRY(carom_flow_project_velocity(f, s, t, w->q_1, w->v_1));
        carom_copy(f->mode, w->slow, nc);
    }
    if (nc == 0) return CAROM_OK;
    CAROM_TRY(carom_gaps(s, w->g_1, t, w->q_1));
    CAROM_TRY(carom_close_at(s, &f->L, w->g_1, (carom_place){.t = t, .q = w->q_1, .v = w->v_1}));
    for (int c = 0; c < nc; ++c) w->touching[c] = carom_closed(s, w->g_1[ne + c]) || !open_at(w, c);
    if (s->opt[OPT_FORCES] == 1) {
        carom_zero(w->slow, nc);
        return hit(w, s, t);
    }
    CAROM_TRY(slow_speeds(w, s, t, h));
    CAROM_TRY(hit(w, s, t));
    for (int c = 0; c < nc; ++c) f->mode[c] = w->touching[c] && fabs(w->u_after[c]) <= w->still[c] ? CAROM_MODE_STICK : CAROM_MODE_OPEN;
    CAROM_TRY(carom_flow_decide(f, s, t, w->q_1, w->v_1, w->slow_T));
    w->laws = false;
    for (int c = 0; c < nc; ++c) w->laws = w->laws || !open_at(w, c);
    return carom_flow_project_velocity(f, s, t, w->q_1, w->v_1);
}

// (RKF-1)  q_1, v_1 by the method of order 5 with the laws of the closed contacts in its stages; the error by that of order 4
static carom_status smooth(work *w, carom_step *s, double t, double h) {
    CAROM_TRY(carom_flow_begin(&w->f, s, t, h, w->q, w->v, w->laws));
    return carom_flow_step(&w->f, s, t, h, w->q, w->v, w->laws, w->q_1, w->v_1, w->error);
}

static void accept(work *w, carom_step *s, double h) {
    carom_flow_book(&w->f, s, h);
    carom_copy(w->q, w->q_1, s->sys->nq);
    carom_copy(w->v, w->v_1, s->sys->nv);
    carom_copy(w->g, w->g_1, s->sys->ne + s->sys->nc);
}

static carom_status sample(void *user, carom_step *s, double tau, carom_sample *P) {
    work *w = user;
    carom_scan *z = &w->scan;
    const double t = w->t + tau;
    P->tau = tau;
    carom_path_at(z, s, tau);
    CAROM_TRY(carom_gaps(s, w->g_1, t, z->q));
    CAROM_TRY(carom_directions(s, &w->all, t, z->q));
    return carom_sample_set(z, s, &w->all, t, z->q, z->v, z->a, w->g_1, w->offset, P);
}

// Does an open contact close and open again inside the part of *h from t?  Then *h is cut to end where it is closed.  The gaps
// at the end are in w->g_1 afterwards.
static carom_status look_inside(work *w, carom_step *s, double t, double *h) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    carom_scan *z = &w->scan;
    bool open = false, found = false;
    CAROM_TRY(carom_gaps(s, w->g_1, t + *h, w->q_1));
    for (int c = 0; c < nc; ++c) open |= z->watched[c] = open_at(w, c);
    if (!open) return CAROM_OK;
    double at = *h;
    w->t = t;
    CAROM_TRY(carom_scan_begin(z, s, t, w->q));
    carom_path_set(z, s, &w->f, *h, w->q, w->v, w->v_1);
    CAROM_TRY(carom_directions(s, &w->all, t, w->q));
    for (int c = 0; c < nc; ++c) w->offset[c] = fmax(0, -w->g[ne + c]) + carom_local_rounding(&w->all, w->all.at[ne + c], w->q, s->sys->nq);
    CAROM_TRY(sample(w, s, 0, &z->left));
    CAROM_TRY(sample(w, s, *h, z->right));
    CAROM_TRY(carom_scan_run(z, s, sample, w, 1e-9 * *h, &found, &at));
    if (!found || at == *h) return carom_gaps(s, w->g_1, t + *h, w->q_1);
    *h = at;
    s->counts->inner_rejected += 1;
    CAROM_TRY(carom_flow_step(&w->f, s, t, *h, w->q, w->v, w->laws, w->q_1, w->v_1, w->error));
    return carom_gaps(s, w->g_1, t + *h, w->q_1);
}

// Largest embedded estimate, relative to its tolerance.
static double estimate(const work *w, const carom_step *s) {
    double most = 0;
    for (int i = 0; i < s->sys->nq + s->sys->nv; ++i) {
        const int k = i - s->sys->nq;
        const double x = k < 0 ? fmax(fabs(w->q[i]), fabs(w->q_1[i])) : fmax(fabs(w->v[k]), fabs(w->v_1[k]));
        most = fmax(most, fabs(w->error[i]) / (s->opt[OPT_ATOL] + s->opt[OPT_RTOL] * x));
    }
    return most;
}

// Largest new penetration of an open contact, relative to its tolerance.  *cut: by how much to shorten the part, the
// secant to g = 0.
static double violation(const work *w, const carom_step *s, double *cut) {
    double most = 0;
    *cut = 1;
    for (int c = 0; c < s->sys->nc; ++c) {
        const int id = s->sys->ne + c;
        if (!open_at(w, c)) continue;
        const double deeper = fmin(0, w->g[id]) - w->g_1[id];
        if (deeper > s->opt[OPT_ATOL]) *cut = fmin(*cut, w->g[id] > 0 ? fmax(w->g[id] / (w->g[id] - w->g_1[id]), 0.02) : 0.5);
        most = fmax(most, deeper / s->opt[OPT_ATOL]);
    }
    return most;
}

// (RKF-3)  error = max(embedded estimate, violation); accepted up to 1.  Next part: safety error^-1/5 of this one, within
//          [shrink, grow]; when the violation is to blame, the secant to g = 0.
static carom_status divide(work *w, carom_step *s) {
    const double t_1 = s->t + s->h, shortest = 4 * DBL_EPSILON * (fabs(s->t) + s->h);
    double t = s->t, next = w->now[NEXT] > 0 ? w->now[NEXT] : 0.01 * s->h;
    bool refused = false;
    for (long n = 0; t_1 - t > shortest; ++n) {
        if ((double)n >= s->opt[OPT_STEPS]) return carom_retry(s, "more than %g parts in one step; looser tolerances or most-steps= may help", s->opt[OPT_STEPS]);
        const bool last = next >= t_1 - t;
        double h = last ? t_1 - t : next, cut;
        CAROM_TRY(smooth(w, s, t, h));
        const double error = estimate(w, s);
        const double safety = s->control.safety;
        const double factor = fmin(refused ? 1 : s->control.grow, fmax(s->control.shrink, safety * pow(fmax(error, 1e-10), -0.2)));
        if (error > 1) {
            next = h * fmin(factor, safety);
            refused = true;
            s->counts->inner_rejected += 1;
            if (next < shortest) return carom_retry(s, "tolerances rtol and atol cannot be met");
            continue;
        }
        // A part that only the contact or the end made short says nothing against the length that was good before.
        const double wish = last || refused ? fmax(next, h * factor) : h * factor;
        CAROM_TRY(look_inside(w, s, t, &h));
        while (violation(w, s, &cut) > 1 && h * cut > shortest) {
            h *= cut;
            s->counts->inner_rejected += 1;
            CAROM_TRY(carom_flow_step(&w->f, s, t, h, w->q, w->v, w->laws, w->q_1, w->v_1, w->error));
            CAROM_TRY(carom_gaps(s, w->g_1, t + h, w->q_1));
        }
        t = h == t_1 - t ? t_1 : t + h;
        CAROM_TRY(impact(w, s, t, h));
        accept(w, s, h);
        CAROM_TRY(carom_inner(s, t, w->q, w->v));
        next = wish;
        refused = false;
    }
    w->now[NEXT] = next;
    return CAROM_OK;
}

// A step as one part; as several where a contact closes and opens again inside.
static carom_status whole(work *w, carom_step *s) {
    const double t_1 = s->t + s->h, shortest = 4 * DBL_EPSILON * (fabs(s->t) + s->h);
    for (double t = s->t; t_1 - t > shortest;) {
        const double left = t_1 - t;
        double h = left;
        CAROM_TRY(smooth(w, s, t, h));
        if (s->sys->nc > 0) CAROM_TRY(look_inside(w, s, t, &h));
        t = h == left ? t_1 : t + h;
        CAROM_TRY(impact(w, s, t, h));
        accept(w, s, h);
    }
    return CAROM_OK;
}

static carom_status begin(work *w, carom_step *s) {
    const int nc = s->sys->nc;
    w->now[BEGUN] = 1;
    for (int c = 0; c < nc; ++c) w->f.mode[c] = CAROM_MODE_OPEN;
    carom_copy(w->q_1, w->q, s->sys->nq);
    carom_copy(w->v_1, w->v, s->sys->nv);
    if (s->opt[OPT_FORCES] == 1 || nc == 0) return CAROM_OK;
    CAROM_TRY(impact(w, s, s->t, s->h));
    carom_copy(w->v, w->v_1, s->sys->nv);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    load(w, s);
    if (w->now[BEGUN] == 0) CAROM_TRY(begin(w, s));
    w->laws = false;
    for (int c = 0; c < s->sys->nc; ++c) w->laws = w->laws || !open_at(w, c);
    CAROM_TRY(carom_gaps(s, w->g, s->t, w->q));
    if (adaptive(s)) {
        CAROM_TRY(divide(w, s));
    } else {
        CAROM_TRY(whole(w, s));
    }
    CAROM_TRY(carom_flow_finish(&w->f, s, s->t + s->h, w->q, w->v, w->laws));
    carom_copy(s->q, w->q, s->sys->nq);
    carom_copy(s->v, w->v, s->sys->nv);
    carom_copy(w->kept, w->now, HEAD + EACH * s->sys->nc);
    return CAROM_OK;
}

const carom_scheme carom_scheme_splitting = {
    .name = "splitting",
    .about = "Runge-Kutta-Fehlberg 4(5) for the smooth motion, then an impact; constant or adaptive",
    .text = "q_1, v_1 = Fehlberg's step of order 5 of  M v' = f + W lambda,  contact laws on acceleration level in the stages\n"
            "(forces=on, for contacts that are closed without normal velocity) or no contact forces at all (forces=off)\n"
            "v = v_1 + M^-1 W P,   Newton's law over contacts with g(q_1) <= 0, one after the other where several close in a step\n\n"
            "Constant steps: order 5 in smooth motion, first order across impacts, penetration up to h times the approach\n"
            "speed; rebounds below 2 |Gamma| h close a contact.  adaptive=on divides each step by the embedded error estimate\n"
            "and the penetration (rtol, atol): the error is about ten times the tolerance, and the step is only the interval\n"
            "between records.  forces=off: a resting body sinks with about h |a| (1/2 - e/(1 + e)).",
    .order = 5,
    .powers = true,
    .options = options,
    .work_size = sizeof(work),
    .carve = carve,
    .step = step,
};
