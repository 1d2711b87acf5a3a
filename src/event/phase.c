// phase.c: see phase.h.
#include "event/phase.h"
#include <float.h>
#include <math.h>

static carom_point carve_point(carom_arena *mem, const carom_system *sys) {
    const size_t nc = (size_t)sys->nc;
    carom_point P = {0};
    P.q = carom_carve(mem, (size_t)sys->nq);
    P.v = carom_carve(mem, (size_t)sys->nv);
    P.g = carom_carve(mem, nc + (size_t)sys->ne);
    P.u = carom_carve(mem, nc);
    P.phi = carom_carve(mem, 2 * nc);
    P.kink = carom_carve(mem, nc);
    return P;
}

carom_phase carom_carve_phase(carom_arena *mem, carom_arena *keep, const carom_system *sys, const carom_butcher *T) {
    carom_phase w = {0};
    const size_t nc = (size_t)sys->nc;
    w.kept = carom_carve(keep, CAROM_PHASE_HEAD + CAROM_PHASE_EACH * nc);
    w.now = carom_carve(mem, CAROM_PHASE_HEAD + CAROM_PHASE_EACH * nc);
    w.f = carom_carve_flow(mem, sys, T);
    w.all = carom_carve_local(mem, sys);
    w.scan = carom_allocate_scan(mem, sys);
    w.runs = carom_allocate_accumulation(mem, keep, sys);
    w.q = carom_carve(mem, (size_t)sys->nq);
    w.v = carom_carve(mem, (size_t)sys->nv);
    w.start = carve_point(mem, sys);
    w.a = carve_point(mem, sys);
    w.b = carve_point(mem, sys);
    w.trial = carve_point(mem, sys);
    double **by_contact[] = {&w.tol_g, &w.offset, &w.slow, &w.slow_T, &w.was, &w.u_before, &w.u_after, &w.p};
    for (size_t i = 0; i < sizeof by_contact / sizeof *by_contact; ++i) *by_contact[i] = carom_carve(mem, nc);
    w.scale = carom_carve(mem, 2 * nc);
    w.kappa = carom_carve(mem, (size_t)w.all.W.n);
    w.touching = carom_carve_bytes(mem, nc * sizeof *w.touching);
    return w;
}

void carom_phase_load(carom_phase *w, carom_step *s) {
    const int nc = s->sys->nc;
    carom_copy(w->now, w->kept, CAROM_PHASE_HEAD + CAROM_PHASE_EACH * nc);
    carom_flow_load(&w->f, s, w->now + CAROM_PHASE_HEAD);
    carom_accumulation_load(&w->runs, s);
    carom_copy(w->q, s->q, s->sys->nq);
    carom_copy(w->v, s->v, s->sys->nv);
    w->t = s->t;
    carom_close_all(s, &w->all);
}

void carom_phase_keep(carom_phase *w, const carom_step *s) {
    carom_copy(w->kept, w->now, CAROM_PHASE_HEAD + CAROM_PHASE_EACH * s->sys->nc);
    carom_accumulation_keep(&w->runs, s);
}

// -- event functions -----------------------------------------------------------------------------------------------

static carom_status gaps_and_rates(carom_phase *w, carom_step *s, double t, carom_point *P) {
    if (s->sys->nc == 0) return CAROM_OK;
    CAROM_TRY(carom_gaps(s, P->g, t, P->q));
    CAROM_TRY(carom_directions(s, &w->all, t, P->q));
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = w->all.at[s->sys->ne + c];
        P->u[c] = carom_column_dot(&w->all.W, k, P->v) + w->all.w[k];
    }
    return CAROM_OK;
}

// Friction: what a sticking contact has left, the speed of a sliding one along its direction.
static double friction_function(const carom_phase *w, const carom_step *s, int b, int c) {
    const carom_flow *f = &w->f;
    const int k = f->L.at[b], tangents = f->L.at[b + 1] - k - 1;
    const double *lambda = f->lambda + k, *u = f->u + k, *d = f->dir + CAROM_TANGENTS * c, mu = s->sys->contacts[c].friction;
    if (tangents == 0) return 1;
    if (f->mode[c] == CAROM_MODE_SLIP)
        return carom_dot(u + 1, d, tangents) + 16 * DBL_EPSILON * (carom_local_reach(&f->L, k + 1, w->v) + fabs(f->L.w[k + 1]));
    const double *Gamma = f->Gamma + k;
    if (f->shared) return carom_flow_resolution(f, s, k + 1) - carom_length(Gamma + 1, tangents);
    return mu * lambda[0] - carom_length(lambda + 1, tangents) + 1e-12 * (mu * f->noise[k] / f->D[k] + f->noise[k + 1] / f->D[k + 1]);
}

// (MX-17)  A kink: the direction of a closed contact jumps, and it approaches by more than the reactions of the step explain,
//          u < -4 tau G lambda - 1e-6 sum |W v|, and than the solver resolves.  What integration leaves of u is far below that.
//          Contacts between shapes go from feature to feature on their own: models that have some are left out.
static double kink(const carom_phase *w, const carom_step *s, const carom_point *P, int c, int b) {
    const carom_flow *f = &w->f;
    const int k = f->L.at[b];
    if (s->sys->hold) return 0;
    const double theta = 4 * P->tau * fabs(f->lambda[k]) * f->D[k] + 1e-6 * (carom_local_reach(&f->L, k, P->v) + fabs(f->L.w[k])) +
                         carom_flow_no_approach(s, &f->L, k, P->v);
    return P->u[c] < -theta ? P->u[c] : 0;
}

// (MX-8)  open: phi = g - min(0, g_0);  closed: lambda_N;  sticking: mu lambda_N - |lambda_T|;  sliding: u_T.d; all plus
//         what rounding may take
static carom_status measure(carom_phase *w, carom_step *s, double t, carom_point *P) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    if (nc == 0) return CAROM_OK;
    CAROM_TRY(gaps_and_rates(w, s, t, P));
    bool closed = false;
    for (int c = 0; c < nc; ++c) {
        closed = closed || !carom_phase_open(w, c);
        P->phi[c] = P->g[ne + c] + w->offset[c];
        P->phi[nc + c] = 1;
        P->kink[c] = 0;
    }
    if (!closed) return CAROM_OK;
    const carom_flow *f = &w->f;
    CAROM_TRY(carom_flow_rate(&w->f, s, t, P->q, P->v, false));
    for (int b = ne; b < f->L.nb; ++b) {
        const int c = f->L.id[b] - ne, k = f->L.at[b];
        // Where reactions are not unique the laws were asked; then it is the acceleration that tells who leaves.
        P->phi[c] = f->lambda[k] + (1e-12 * f->noise[k] - fmax(0, f->Gamma[k] - carom_flow_resolution(f, s, k))) / f->D[k];
        P->phi[nc + c] = friction_function(w, s, b, c);
        P->kink[c] = kink(w, s, P, c, b);
        if (P->kink[c] < 0) P->phi[c] = P->kink[c];
    }
    return CAROM_OK;
}

carom_status carom_phase_start(carom_phase *w, carom_step *s, double h) {
    const int nc = s->sys->nc, nv = s->sys->nv;
    CAROM_TRY(carom_flow_begin(&w->f, s, w->t, h, w->q, w->v, false));
    w->now[CAROM_PHASE_SIZE_V] = fmax(w->now[CAROM_PHASE_SIZE_V], carom_norm_max(w->v, nv));
    w->now[CAROM_PHASE_SIZE_A] = fmax(w->now[CAROM_PHASE_SIZE_A], carom_norm_max(w->f.a, nv));
    carom_point *P = &w->start;
    carom_copy(P->q, w->q, s->sys->nq);
    carom_copy(P->v, w->v, nv);
    P->tau = 0;
    if (nc == 0) return CAROM_OK;
    CAROM_TRY(carom_scan_begin(&w->scan, s, w->t, w->q));
    CAROM_TRY(gaps_and_rates(w, s, w->t, P));
    // eps_g: what positions, way and fall round to
    for (int c = 0; c < nc; ++c) {
        const int k = w->all.at[s->sys->ne + c];
        w->tol_g[c] = carom_local_rounding(&w->all, k, w->q, s->sys->nq) + h * carom_local_rounding(&w->all, k, w->v, nv) +
                      h * h * carom_local_rounding(&w->all, k, w->f.a_f, nv);
        w->offset[c] = w->tol_g[c] - fmin(0, P->g[s->sys->ne + c]);
        w->scan.watched[c] = carom_phase_open(w, c);
    }
    w->scan.left.tau = 0;
    return carom_sample_set(&w->scan, s, &w->all, w->t, w->q, w->v, w->f.a, P->g, w->offset, &w->scan.left);
}

static void copy_point(carom_point *A, const carom_point *B, const carom_step *s) {
    A->tau = B->tau;
    A->work = (carom_account){0};
    carom_copy(A->q, B->q, s->sys->nq);
    carom_copy(A->v, B->v, s->sys->nv);
    carom_copy(A->g, B->g, s->sys->ne + s->sys->nc);
    carom_copy(A->u, B->u, s->sys->nc);
}

carom_status carom_phase_try(carom_phase *w, carom_step *s, double tau, carom_point *P, double *error) {
    w->tried = tau;
    if (tau == 0) {
        copy_point(P, &w->start, s);
        return measure(w, s, w->t, P);
    }
    P->tau = tau;
    CAROM_TRY(carom_flow_step(&w->f, s, w->t, tau, w->q, w->v, false, P->q, P->v, error));
    const carom_account kept = s->account;
    s->account = (carom_account){0};
    carom_flow_book(&w->f, s, tau);
    P->work = s->account;
    s->account = kept;
    return measure(w, s, w->t + tau, P);
}

static void book(carom_step *s, const carom_account *work) {
    s->account.impact += work->impact;
    s->account.friction += work->friction;
    s->account.external += work->external;
    s->account.damping += work->damping;
}

static bool violated(const carom_step *s, const carom_point *P) {
    for (int j = 0; j < 2 * s->sys->nc; ++j)
        if (P->phi[j] < 0) return true;
    return false;
}

static void swap(carom_point *A, carom_point *B) {
    const carom_point P = *A;
    *A = *B;
    *B = P;
}

static bool negative(const carom_step *s, const carom_sample *P, const carom_scan *z, const carom_local *all) {
    for (int c = 0; c < s->sys->nc; ++c)
        if (z->watched[c] && P->phi[c] < carom_local_reach(all, all->at[s->sys->ne + c], z->doubt)) return true;
    return false;
}

// A sample inside the step: by its path, and where that leaves in doubt whether a gap is negative, by a step of that length.
static carom_status sample(void *user, carom_step *s, double tau, carom_sample *P) {
    carom_phase *w = user;
    carom_scan *z = &w->scan;
    const double t = w->t + tau;
    P->tau = tau;
    carom_path_at(z, s, tau);
    CAROM_TRY(carom_gaps(s, w->trial.g, t, z->q));
    CAROM_TRY(carom_directions(s, &w->all, t, z->q));
    CAROM_TRY(carom_sample_set(z, s, &w->all, t, z->q, z->v, z->a, w->trial.g, w->offset, P));
    if (!negative(s, P, z, &w->all)) return CAROM_OK;
    CAROM_TRY(carom_phase_try(w, s, tau, &w->trial, NULL));
    return carom_sample_set(z, s, &w->all, t, w->trial.q, w->trial.v, z->a, w->trial.g, w->offset, P);
}

// Open contacts that touch and leave again inside the step of tau.
static carom_status look_inside(carom_phase *w, carom_step *s, double tau, bool *found) {
    carom_scan *z = &w->scan;
    const int nc = s->sys->nc;
    bool open = false;
    for (int c = 0; c < nc; ++c) open = open || z->watched[c];
    if (!open) return CAROM_OK;
    double at = tau;
    carom_path_set(z, s, &w->f, tau, w->start.q, w->start.v, w->b.v);
    carom_path_at(z, s, tau);
    z->right[0].tau = tau;
    CAROM_TRY(carom_sample_set(z, s, &w->all, w->t + tau, w->b.q, w->b.v, z->a, w->b.g, w->offset, z->right));
    CAROM_TRY(carom_scan_run(z, s, sample, w, 1e-9 * tau, found, &at));
    if (!*found || at == tau) return CAROM_OK;
    CAROM_TRY(carom_phase_try(w, s, at, &w->b, NULL));
    return CAROM_OK;
}

// -- enclosing the event -----------------------------------------------------------------------------------------------

static double worst(const carom_phase *w, const carom_step *s, const carom_point *P) {
    double least = HUGE_VAL;
    for (int j = 0; j < 2 * s->sys->nc; ++j) least = fmin(least, P->phi[j] / w->scale[j]);
    return least;
}

// On entry w->b lies beyond an event.  Then w->a before, w->b beyond and b - a <= delta.  By the method of Oliveira and
// Takahashi (interpolate, truncate, project): superlinear, and never slower than bisection by more than one evaluation.
carom_status carom_phase_enclose(carom_phase *w, carom_step *s, double delta) {
    for (int j = 0; j < 2 * s->sys->nc; ++j) w->scale[j] = fmax(fabs(w->b.phi[j]), DBL_MIN);
    CAROM_TRY(measure(w, s, w->t, &w->start));
    double y_a = fmax(worst(w, s, &w->start), DBL_EPSILON), y_b = worst(w, s, &w->b);
    copy_point(&w->a, &w->start, s); // where nothing has happened yet
    const double b_0 = w->b.tau, k_1 = 0.2 / b_0;
    double reach = 0.5 * delta; // eps 2^(n_max - j)
    while (reach < b_0) reach *= 2;
    for (; w->b.tau - w->a.tau > delta; reach *= 0.5) {
        const double a = w->a.tau, b = w->b.tau, half = 0.5 * (a + b), r = fmax(reach - 0.5 * (b - a), 0);
        const double x_f = (y_b * a - y_a * b) / (y_b - y_a), side = x_f < half ? 1 : -1, cut = k_1 * (b - a) * (b - a);
        const double x_t = cut <= fabs(half - x_f) ? x_f + side * fmax(cut, 0.25 * delta) : half;
        double x = fabs(x_t - half) <= r ? x_t : half - side * r;
        if (!(x > a && x < b)) x = half;
        if (!(x > a && x < b)) break; // neighbours in floating point
        CAROM_TRY(carom_phase_try(w, s, x, &w->trial, NULL));
        const double y = worst(w, s, &w->trial);
        swap(&w->trial, y < 0 ? &w->b : &w->a);
        *(y < 0 ? &y_b : &y_a) = y < 0 ? y : fmax(y, DBL_EPSILON);
    }
    return CAROM_OK;
}

// -- what happens there -------------------------------------------------------------------------------------------------

// (MX-11)  eps_v = 2 |Gamma| delta + sqrt(2 k |Gamma| eps_g): flights and slips that last no longer than the interval, and
//          flights that the rounding eps_g of the gap hides.  Each of those falls too deep by eps_g, which feeds speeds up to
//          (2 |Gamma| eps_g e^2/(1 - e^2))^1/2; k is above that.
static carom_status slow_speeds(carom_phase *w, carom_step *s, double t, const double *q, const double *v, double delta) {
    const int ne = s->sys->ne;
    carom_flow *f = &w->f;
    CAROM_TRY(carom_flow_rate(f, s, t, q, v, false));
    CAROM_TRY(carom_directions(s, &w->all, t, q));
    carom_zero(w->kappa, w->all.at[w->all.nb]);
    CAROM_TRY(carom_curvature(s, w->kappa, &w->all, t, q, v));
    const double residual = 4 * s->tol * s->scale;
    for (int c = 0; c < s->sys->nc; ++c) {
        const int first = w->all.at[ne + c], end = w->all.at[ne + c + 1];
        double Gamma_T = 0;
        for (int i = first + 1; i < end; ++i) Gamma_T = hypot(Gamma_T, carom_column_dot(&w->all.W, i, f->a) + w->kappa[i]);
        const double Gamma = carom_column_dot(&w->all.W, first, f->a) + w->kappa[first];
        const double e = s->sys->contacts[c].restitution, k = fmin(fmax(16, 2 * e * e / (1 - e * e)), 1e4);
        double press = fmax(0, -Gamma);
        for (int b = ne; b < f->L.nb; ++b) // a closed one: what its reaction prevents
            if (f->L.id[b] == ne + c) press = fmax(press, f->lambda[f->L.at[b]] * f->D[f->L.at[b]]);
        w->slow[c] = 2 * press * delta + sqrt(2 * k * press * w->tol_g[c]) + residual + w->none + 64 * DBL_EPSILON * carom_local_reach(&w->all, first, v);
        w->slow_T[c] = 2 * Gamma_T * delta + residual;
    }
    return CAROM_OK;
}

// Impact of the touching contacts when one approaches, a move by dt with the new velocity, then who stays.  in_turn: they hit one by one.
static carom_status resolve(carom_phase *w, carom_step *s, double t, double dt, bool in_turn) {
    const int nc = s->sys->nc;
    carom_flow *f = &w->f;
    bool some;
    CAROM_TRY(carom_beside(s, CAROM_LEFT, t, w->q, w->v));
    if (in_turn) CAROM_TRY(carom_flow_impact_in_turn(f, s, t, w->q, w->v, w->touching, w->slow, &w->runs.turns, &w->all, &some, w->u_before, w->u_after, w->p));
    else CAROM_TRY(carom_flow_impact(f, s, t, w->q, w->v, w->touching, w->slow, false, &some, w->u_before, w->u_after, w->p));
    if (some) CAROM_TRY(carom_accumulation_impacts(&w->runs, s, t, &w->all, w->v, w->u_before, w->u_after, w->p));
    carom_copy(w->was, f->mode, nc);
    if (dt > 0) {
        carom_move(s, w->q, w->q, dt, w->v);
        for (int c = 0; c < nc; ++c) f->mode[c] = w->touching[c] ? CAROM_MODE_STICK : CAROM_MODE_OPEN;
        CAROM_TRY(carom_flow_project_position(f, s, t, w->q));
    }
    for (int c = 0; c < nc; ++c) f->mode[c] = w->touching[c] && fabs(w->u_after[c]) <= w->slow[c] ? CAROM_MODE_STICK : CAROM_MODE_OPEN;
    CAROM_TRY(carom_flow_decide(f, s, t, w->q, w->v, w->slow_T));
    CAROM_TRY(carom_flow_project_position(f, s, t, w->q));
    CAROM_TRY(carom_flow_project_velocity(f, s, t, w->q, w->v));
    CAROM_TRY(carom_beside(s, CAROM_RIGHT, t, w->q, w->v));
    return carom_accumulation_changes(&w->runs, s, t, w->was, f->mode, w->u_after, NULL);
}

static carom_status ahead(void *user, carom_step *s, double tau, const bool *without, double *q, double *v, bool *clear) {
    carom_phase *w = user;
    const int nc = s->sys->nc;
    CAROM_TRY(carom_phase_start(w, s, tau));
    CAROM_TRY(carom_phase_try(w, s, tau, &w->trial, NULL));
    for (int c = 0; c < nc; ++c) *clear = *clear && (without[c] || !(w->trial.phi[c] < 0 || w->trial.phi[nc + c] < 0));
    carom_copy(q, w->trial.q, s->sys->nq);
    carom_copy(v, w->trial.v, s->sys->nv);
    return CAROM_OK;
}

// If the impact just made belongs to a run whose limit is known: there.
static carom_status end_run(carom_phase *w, carom_step *s, double delta) {
    carom_accumulation *z = &w->runs;
    const int nc = s->sys->nc;
    for (int c = 0; c < nc; ++c) z->closed[c] = !carom_phase_open(w, c);
    CAROM_TRY(carom_accumulation_limit(z, s, w->t, w->tol, ahead, w, &w->ended));
    if (!w->ended) return CAROM_OK;
    carom_copy(w->q, z->q, s->sys->nq);
    carom_copy(w->v, z->v, s->sys->nv);
    w->t = z->t;
    book(s, &w->trial.work);
    CAROM_TRY(slow_speeds(w, s, w->t, w->q, w->v, delta));
    for (int c = 0; c < nc; ++c) {
        w->touching[c] = z->closed[c] || z->over[c];
        if (z->over[c]) w->slow[c] = HUGE_VAL;
    }
    CAROM_TRY(resolve(w, s, w->t, 0, false));
    carom_accumulation_end(z, s, w->q);
    return CAROM_OK;
}

// (MX-12)  Across the enclosed event.  A contact that closes: the Moreau step  v = v_a + M^-1 W P at q_a,  q = q_a + (t_b - t_a) v,
//          then the contacts that touch are put on the wall.  The velocity is that of t_a and no height is left over, so that a
//          short flight never gains speed from the length of the interval.  Else the state beyond the event is taken as it is.
carom_status carom_phase_event(carom_phase *w, carom_step *s, double delta) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    const double t = w->t + w->b.tau;
    bool hits = false, kinks = false;
    int arrive = 0;
    for (int c = 0; c < nc; ++c) hits = hits || (carom_phase_open(w, c) && w->b.phi[c] < 0), kinks = kinks || w->b.kink[c] < 0;
    hits = hits && !kinks;
    const carom_point *P = hits ? &w->a : &w->b;
    carom_copy(w->q, P->q, s->sys->nq);
    carom_copy(w->v, P->v, s->sys->nv);
    book(s, &P->work);
    CAROM_TRY(carom_flow_project_position(&w->f, s, t, w->q));
    if (!kinks) CAROM_TRY(carom_flow_project_velocity(&w->f, s, t, w->q, w->v)); // else the approach is an impact
    for (int c = 0; c < nc; ++c)
        w->touching[c] = !carom_phase_open(w, c) || w->b.phi[c] < 0 || fmin(P->g[ne + c], w->b.g[ne + c]) <= 4 * w->tol_g[c];
    for (int c = 0; c < nc; ++c) w->f.doubt[c] = !carom_phase_open(w, c) && w->b.phi[c] < 0 && w->b.kink[c] == 0;
    CAROM_TRY(slow_speeds(w, s, t, w->q, w->v, delta));
    for (int c = 0; c < nc; ++c) {
        carom_turns *z = &w->runs.turns;
        const double since = w->runs.run[c].count > 0 ? t - w->runs.run[c].t : 0;
        z->among[c] = w->touching[c] && carom_phase_open(w, c);
        z->gap[c] = P->g[ne + c];
        z->eps[c] = w->tol_g[c] + since * carom_flow_no_approach(s, &w->all, w->all.at[ne + c], w->v);
        arrive += z->among[c];
    }
    CAROM_TRY(resolve(w, s, t, hits ? w->b.tau - w->a.tau : 0, hits && arrive > 1));
    w->t = t;
    w->ended = false;
    return hits ? end_run(w, s, delta) : CAROM_OK;
}

carom_status carom_phase_begin(carom_phase *w, carom_step *s, double h) {
    for (int c = 0; c < s->sys->nc; ++c) w->f.mode[c] = CAROM_MODE_OPEN, w->runs.run[c].count = 0;
    if (w->now[CAROM_PHASE_BEGUN] == 0) w->now[CAROM_PHASE_START] = w->t;
    w->now[CAROM_PHASE_BEGUN] = 1;
    return carom_phase_start(w, s, h);
}

carom_status carom_phase_settle(carom_phase *w, carom_step *s, double delta, const bool *lasting) {
    const int nc = s->sys->nc;
    if (nc == 0) return CAROM_OK;
    for (int c = 0; c < nc; ++c) w->touching[c] = (lasting && lasting[c]) || w->start.g[s->sys->ne + c] <= 4 * w->tol_g[c];
    CAROM_TRY(slow_speeds(w, s, w->t, w->q, w->v, delta));
    return resolve(w, s, w->t, 0, false);
}

carom_status carom_phase_look(carom_phase *w, carom_step *s, double h, bool *found) {
    w->pulled = w->f.pulled;
    *found = false;
    CAROM_TRY(look_inside(w, s, h, found));
    *found = *found || violated(s, &w->b);
    if (*found) return CAROM_OK;
    swap(&w->a, &w->b);
    // A reaction that changed its sign in a stage may have done so for good and come back.
    if (!w->pulled) return CAROM_OK;
    CAROM_TRY(carom_phase_try(w, s, 0.5 * h, &w->b, NULL));
    *found = violated(s, &w->b);
    return CAROM_OK;
}

carom_status carom_phase_end(carom_phase *w, carom_step *s, double t) {
    carom_copy(w->q, w->a.q, s->sys->nq);
    carom_copy(w->v, w->a.v, s->sys->nv);
    book(s, &w->a.work);
    w->t = t;
    CAROM_TRY(carom_flow_project_position(&w->f, s, t, w->q));
    return carom_flow_project_velocity(&w->f, s, t, w->q, w->v);
}
