// event_driven.c: the scheme `event-driven`: from t to t + h exactly, through all events on the way.
//
// Spec: docs/methods-event.md.  h is the interval between outputs; how finely it is divided is the integrator's
// business.  Every step starts afresh from (q, v) and the kept modes of the contacts, so a run that was
// interrupted goes on bit for bit.
#include "event/event.h"
#include <float.h>
#include <math.h>

static const carom_option options[] = {
    [OPT_METHOD] = {.name = "method",
                    .kind = CAROM_CHOICE,
                    .choices = "adams|bdf",
                    .about = "multistep formulas of the smooth phases: Adams' (up to order 12), or backward "
                             "differences for stiff models"},
    [OPT_RTOL] = {.name = "rtol",
                  .kind = CAROM_REAL,
                  .fallback = 1e-12,
                  .low = 1e-14,
                  .high = 1e-2,
                  .about = "error allowed in one internal step, relative to each component"},
    [OPT_ATOL] = {.name = "atol",
                  .kind = CAROM_REAL,
                  .fallback = 0,
                  .low = 0,
                  .high = 1e-2,
                  .about = "the same, relative to the largest position (velocity) of the run; 0: a hundredth of rtol"},
    [OPT_GAP] =
        {.name = "gap-tol",
         .kind = CAROM_REAL,
         .fallback = 1e-13,
         .low = 0,
         .high = 1e-3,
         .about =
             "contacts this near to the wall take part in an impact, relative to the positions (at the start: rtol)"},
    [OPT_VELOCITY] =
        {.name = "velocity-tol",
         .kind = CAROM_REAL,
         .fallback = 1e-9,
         .low = 1e-14,
         .high = 1e-2,
         .about = "local velocities below this, relative to the largest of the run, count as none: ends accumulations; at "
                  "least 10 rtol"},
    [OPT_TIME] =
        {.name = "time-tol",
         .kind = CAROM_REAL,
         .fallback = 1e-10,
         .low = 0,
         .high = 1e-2,
         .about =
             "flights shorter than this, relative to largest position over largest velocity, end the accumulation of a single contact too"},
    [OPT_DECIDE] = {.name = "decide-tol",
                    .kind = CAROM_REAL,
                    .fallback = 1e-8,
                    .low = 1e-12,
                    .high = 1e-2,
                    .about = "accelerations and reactions below this, relative to their terms, decide nothing"},
    [OPT_LONGEST] = {.name = "max-step",
                     .kind = CAROM_REAL,
                     .fallback = 0,
                     .low = 0,
                     .high = 1e12,
                     .about =
                         "longest internal step (time); 0: no limit"},
    [OPT_EVENTS] = {.name = "most-events",
                    .kind = CAROM_INTEGER,
                    .fallback = 4000,
                    .low = 1,
                    .high = 1e9,
                    .about = "events in one step before it is refused"},
    [OPT_STEPS] = {.name = "most-steps",
                   .kind = CAROM_INTEGER,
                   .fallback = 1e5,
                   .low = 1,
                   .high = 1e9,
                   .about = "internal steps in one step before it is refused"},
    {0},
};

enum { STANDSTILL = 40 }; // events at one instant before the step is refused

static void carve(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)opt;
    event_work *w = memory;
    const size_t nq = (size_t)sys->nq, nv = (size_t)sys->nv, nc = (size_t)sys->nc, nb = nc + (size_t)sys->ne;
    w->kept_head = carom_carve_bytes(keep, sizeof *w->kept_head);
    w->kept = carom_carve(keep, CAROM_FLOW_EACH * nc);
    w->now = carom_carve(mem, CAROM_FLOW_EACH * nc);
    w->ny = sys->nq + sys->nv + sys->nc + WORKS;
    w->T = carom_butcher_find(CAROM_RK_DORMAND, 5);
    w->f = carom_carve_flow(mem, sys, w->T);
    w->all = carom_carve_local(mem, sys);
    w->C = carom_carve_local(mem, sys);
    w->scan = carom_allocate_scan(mem, sys);
    w->runs = carom_allocate_accumulation(mem, keep, sys);
    const size_t nl = (size_t)w->f.L.W.n;
    double **by_state[] = {&w->y, &w->atol, &w->y_1, &w->y_2};
    for (size_t i = 0; i < sizeof by_state / sizeof *by_state; ++i) *by_state[i] = carom_carve(mem, (size_t)w->ny);
    for (int i = 0; i < w->T->stages; ++i) w->k[i] = carom_carve(mem, (size_t)w->ny);
    double **by_position[] = {&w->dq, &w->q_1, &w->q_on};
    for (size_t i = 0; i < sizeof by_position / sizeof *by_position; ++i) *by_position[i] = carom_carve(mem, nq);
    double **by_velocity[] = {&w->span, &w->v_1, &w->v_on};
    for (size_t i = 0; i < sizeof by_velocity / sizeof *by_velocity; ++i) *by_velocity[i] = carom_carve(mem, nv);
    w->g = carom_carve(mem, nb);
    double **by_contact[] = {&w->offset, &w->was, &w->left, &w->pull, &w->slow, &w->before, &w->after, &w->impulse};
    for (size_t i = 0; i < sizeof by_contact / sizeof *by_contact; ++i) *by_contact[i] = carom_carve(mem, nc);
    double **by_function[] = {&w->phi, &w->floor, &w->slack, &w->phi_a, &w->phi_b};
    for (size_t i = 0; i < sizeof by_function / sizeof *by_function; ++i) *by_function[i] = carom_carve(mem, 2 * nc);
    double **local[] = {&w->b, &w->u_all, &w->kappa_all, &w->p, &w->u_minus, &w->u_plus, &w->lambda_0, &w->Gamma_0, &w->noise_0, &w->D_0};
    for (size_t i = 0; i < sizeof local / sizeof *local; ++i) *local[i] = carom_carve(mem, nl);
    w->kept_choice = carom_carve(keep, nl);
    w->choice = carom_carve(mem, nl);
    w->x_0 = carom_carve(mem, nl);
    w->N = carom_carve(mem, nl * nl);
    w->order = carom_carve_ints(mem, nl);
    w->hit = carom_carve_ints(mem, 2 * nc);
    w->armed = carom_carve_bytes(mem, 2 * nc * sizeof *w->armed);
    w->in = carom_carve_bytes(mem, nc * sizeof *w->in);
    w->over = carom_carve_bytes(mem, nc * sizeof *w->over);
}

static carom_status start(void *memory, carom_step *s) {
    const double longest = s->opt[OPT_LONGEST], most = s->opt[OPT_STEPS];
    if (longest > 0 && s->h > most * longest)
        return carom_fail(s->err, CAROM_BAD_INPUT, "max-step=%g would divide every step of %g into %.3g, which is more than most-steps=%g: give a larger max-step, or a smaller step",
                          longest, s->h, s->h / longest, most);
    return event_ode_create(memory, s);
}
static void finish(void *memory) { event_ode_destroy(memory); }

// (EV-13)  Sizes that the problem has shown so far, and the absolute tolerances that follow from them.
static carom_status scale(event_work *w, carom_step *s) {
    const carom_system *sys = s->sys;
    event_head *h = &w->head;
    CAROM_TRY(event_smooth(w, s, w->t, w->q, w->v));
    const double v = carom_norm_max(w->v, sys->nv), a = carom_norm_max(w->f.a, sys->nv);
    h->size_q = fmax(h->size_q, carom_norm_max(w->q, sys->nq));
    if (h->size_q == 0) h->size_q = fmax(v * s->h, a * s->h * s->h);
    if (h->size_q == 0) h->size_q = 1;
    h->size_v = fmax(fmax(h->size_v, v), sqrt(h->size_q * a));
    if (h->size_v == 0) h->size_v = h->size_q / s->h;
    event_grow(w, s);
    // Works follow what moves: their size is that of the kinetic energy at size_v.
    CAROM_TRY(carom_mass(s, s->M, w->t, w->q));
    for (int i = 0; i < sys->nv; ++i) w->v_1[i] = h->size_v;
    carom_matrix_mul(w->f.a, s->M, w->v_1);
    const double energy = fmax(carom_norm_max(w->f.a, sys->nv) * h->size_v, DBL_MIN);
    const double atol = s->opt[OPT_ATOL] > 0 ? s->opt[OPT_ATOL] : 0.01 * s->opt[OPT_RTOL];
    for (int i = 0; i < sys->nq; ++i) w->atol[i] = atol * h->size_q;
    for (int i = 0; i < sys->nv; ++i) w->atol[sys->nq + i] = atol * h->size_v;
    for (int i = 0; i < WORKS; ++i) w->atol[w->ny - WORKS + i] = s->opt[OPT_RTOL] * energy;
    w->size_p = energy / h->size_v;
    return CAROM_OK;
}

static void load(event_work *w, const carom_step *s) {
    w->head = *w->kept_head;
    carom_copy(w->now, w->kept, CAROM_FLOW_EACH * s->sys->nc);
    carom_flow_load(&w->f, s, w->now);
    w->f.follows = w->f.fine = true;
    carom_accumulation_load(&w->runs, s);
    carom_close_all(s, &w->all);
    carom_copy(w->choice, w->kept_choice, w->all.at[w->all.nb]);
    w->q = w->y;
    w->v = w->y + s->sys->nq;
    carom_copy(w->q, s->q, s->sys->nq);
    carom_copy(w->v, s->v, s->sys->nv);
    carom_zero(w->y + s->sys->nq + s->sys->nv, s->sys->nc + WORKS);
    w->t = s->t;
    w->events = w->steps = 0;
    for (int i = 0; i < 2 * s->sys->nc; ++i) w->hit[i] = 0;
}

// Constraints hold at the end; reactions of the end and works of the step are booked.
static carom_status store(event_work *w, carom_step *s) {
    CAROM_TRY(event_project_position(w, s, w->t, w->q));
    CAROM_TRY(event_project_velocity(w, s, w->t, w->q, w->v, NULL));
    CAROM_TRY(event_smooth(w, s, w->t, w->q, w->v));
    carom_book_forces(s, &w->f.L, w->f.lambda, w->f.u, 0, true);
    const double *work = w->y + w->ny - WORKS;
    s->account.friction += work[WORK_FRICTION];
    s->account.external += work[WORK_EXTERNAL];
    s->account.damping += work[WORK_DAMPING];
    carom_copy(s->q, w->q, s->sys->nq);
    carom_copy(s->v, w->v, s->sys->nv);
    *w->kept_head = w->head;
    carom_copy(w->kept, w->now, CAROM_FLOW_EACH * s->sys->nc);
    carom_accumulation_keep(&w->runs, s);
    carom_copy(w->kept_choice, w->choice, w->all.at[w->all.nb]);
    return CAROM_OK;
}

// One phase: to t_1 or to an event.
static carom_status phase(event_work *w, carom_step *s, double t_1, bool *found) {
    double T, height, crossing, blur;
    int who;
    bool done = false;
    w->switched = false;
    CAROM_TRY(scale(w, s));
    CAROM_TRY(event_begin(w, s, found, &T, &height, &who));
    if (!*found) CAROM_TRY(event_limit(w, s, found));
    if (*found) return CAROM_OK;
    CAROM_TRY(event_crossing(w, s, t_1, &crossing, &blur));
    CAROM_TRY(event_short(w, s, crossing > 0 ? w->t + crossing : t_1, blur, T, height, who, &done, found));
    if (done && blur > 0 && !*found) { // what is not known across the constraints goes
        CAROM_TRY(event_project_position(w, s, w->t, w->q));
        CAROM_TRY(event_project_velocity(w, s, w->t, w->q, w->v, NULL));
    }
    if (done) return *found ? CAROM_OK : carom_inner(s, w->t, w->q, w->v);
    // A contact that has just left must not come back inside one internal step.
    double longest = T < t_1 - w->t ? 0.25 * T : 0;
    if (s->opt[OPT_LONGEST] > 0) longest = longest > 0 ? fmin(longest, s->opt[OPT_LONGEST]) : s->opt[OPT_LONGEST];
    return event_ode_run(w, s, t_1, longest, found);
}

static carom_status go(event_work *w, carom_step *s) {
    const double t_1 = s->t + s->h;
    load(w, s);
    CAROM_TRY(carom_scan_begin(&w->scan, s, w->t, w->q));
    CAROM_TRY(event_hold(s, CAROM_HOLD, w->t, w->q));
    CAROM_TRY(scale(w, s));
    if (w->head.begun == 0) {
        CAROM_TRY(event_resolve(w, s, true));
        w->head.begun = 1;
    }
    double last = w->t;
    for (int still = 0; w->t < t_1;) {
        bool found = false;
        CAROM_TRY(phase(w, s, t_1, &found));
        if (w->steps > s->opt[OPT_STEPS])
            return carom_retry(
                s, "more than %g internal steps in one step; a smaller one, looser tolerances or most-steps= may help",
                s->opt[OPT_STEPS]);
        if (!found) continue;
        still = w->t - last > 4 * DBL_EPSILON * fabs(w->t) ? 0 : still + 1;
        last = w->t;
        if (still > STANDSTILL)
            return carom_retry(s, "%d events at t = %.12g and no decision: contacts there contradict each other", still,
                               w->t);
        if (++w->events > s->opt[OPT_EVENTS])
            return carom_retry(s, "more than %g events in one step; take a smaller step", s->opt[OPT_EVENTS]);
        CAROM_TRY(event_resolve(w, s, false));
        CAROM_TRY(carom_inner(s, w->t, w->q, w->v));
    }
    return store(w, s);
}

// Whoever asks the system between steps gets what is.
static carom_status step(void *memory, carom_step *s) {
    const carom_status status = go(memory, s), freed = event_hold(s, CAROM_FREE, s->t, s->q);
    return status == CAROM_OK ? freed : status;
}

const carom_scheme carom_scheme_event_driven = {
    .name = "event-driven",
    .about =
        "adaptive integration between events, each located to rounding (SUNDIALS): ten digits where impacts are few",
    .text =
        "M v' = f + W lambda,   W'v' + kappa = 0 over joints, closed normals and sticking tangents,\n"
        "lambda_T = -mu lambda_N u_T/|u_T| at sliding contacts: integrated with CVODE until an event function falls to "
        "zero:\n"
        "g of an open contact, lambda_N of a closed one, mu lambda_N - |lambda_T| when it sticks, u_T when it slides.\n"
        "Then Newton's impact law on all contacts at the wall, the contact laws on acceleration level for those that "
        "are\n"
        "left without normal velocity, and the next phase.\n\n"
        "The step is the interval between outputs and does not enter the error.  Positions and velocities follow rtol "
        "and\n"
        "atol; joints and closed gaps are projected at every event and step end.  Where impacts accumulate, flights "
        "too low\n"
        "for the integrator are taken in one Runge-Kutta step each until velocity-tol ends them in a plastic impulse;\n"
        "contacts that take turns end in the limit of their sequence once two predictions of it agree to rtol.  Slow where impacts are many.",
    .order = 5, // of its Runge-Kutta steps; the multistep method chooses
    .own_steps = true,
    .tells = true,
    .redundant = true, // positions are projected to rounding, and event_share() knows
    .powers = true,
    .options = options,
    .work_size = sizeof(event_work),
    .carve = carve,
    .start = start,
    .step = step,
    .finish = finish,
};
