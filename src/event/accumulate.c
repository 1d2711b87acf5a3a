// accumulate.c: see accumulate.h.
#include "base/tolerance.h"
#include "event/accumulate.h"
#include <float.h>
#include <math.h>

enum { CYCLES = 3 };                   // that a run must have before its limit is predicted: early slip may still
                                       // reverse
enum { LIMIT_T, LIMIT_R, LIMIT_HEAD }; // limit[...]; LIMIT_R is 0 without a prediction
static const double SLOWEST = 0.95;    // ratio of cycles: slower than that is no sequence to extrapolate
static const double STEADY = 0.05;     // change of the ratio between two predictions, of 1 - R
static const double FINEST = 1e-14;    // tolerance
static const double PUSHES = 1e-12;    // of the largest impulse: below is what a solver leaves of none
static const double LEAVES = 1e-9;     // of the largest speed of the run: below is what a plastic impact leaves of none
static const double ALONG = 0.9;       // cosine between slips that count as the same direction

carom_accumulation carom_allocate_accumulation(carom_arena *mem, carom_arena *keep, const carom_system *sys) {
    carom_accumulation z = {0};
    const size_t nc = (size_t)sys->nc, nv = (size_t)sys->nv;
    if (nc == 0) return z;
    z.size = LIMIT_HEAD + sys->nv;
    z.kept = carom_allocate_bytes(keep, nc * sizeof *z.kept);
    z.kept_limit = carom_allocate(keep, (size_t)z.size);
    z.run = carom_allocate_bytes(mem, nc * sizeof *z.run);
    z.limit = carom_allocate(mem, (size_t)z.size);
    z.F = carom_allocate_factor(mem, sys->mass_shape, true);
    z.L = carom_allocate_local(mem, sys);
    z.q = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, nv, &z.v, &z.v_1, &z.f);
    z.q_f = carom_allocate(mem, (size_t)sys->nq);
    z.side = carom_allocate(mem, nc + (size_t)sys->ne);
    z.closed = carom_allocate_bytes(mem, nc * sizeof *z.closed);
    z.late = carom_allocate(mem, nc);
    z.over = carom_allocate_bytes(mem, nc * sizeof *z.over);
    z.lasting = carom_allocate_bytes(mem, nc * sizeof *z.lasting);
    z.turns = carom_allocate_turns(mem, sys);
    return z;
}

void carom_accumulation_load(carom_accumulation *z, const carom_step *s) {
    for (int c = 0; c < s->sys->nc; ++c) z->run[c] = z->kept[c], z->over[c] = false;
    carom_copy(z->limit, z->kept_limit, z->size);
    z->recorded = s->t;
}

void carom_accumulation_keep(carom_accumulation *z, const carom_step *s) {
    for (int c = 0; c < s->sys->nc; ++c) z->kept[c] = z->run[c];
    carom_copy(z->kept_limit, z->limit, z->size);
}

// Record an event of this step.  Times do not go back.
static carom_status record(carom_accumulation *z, carom_step *s, carom_event e) {
    e.t = z->recorded = fmin(fmax(e.t, z->recorded), s->t + s->h);
    return carom_emit_event(s, e);
}

static void count(carom_impact_run *r, double t, double u) {
    const double flight = t - r->t;
    const bool sooner = r->count > 0 && (r->count == 1 || flight <= r->flight * (1 + CAROM_INSTANT));
    *r = (carom_impact_run){.count = sooner ? r->count + 1 : 1,
                     .first = sooner ? r->first : t,
                     .t = t,
                     .flight = flight,
                     .before = r->flight,
                     .speed = fmax(-u, sooner ? r->speed : 0),
                     .eps = sooner ? r->eps : 0,
                     .silent = sooner ? r->silent : 0};
}

carom_status carom_accumulation_impacts(carom_accumulation *z, carom_step *s, double t, const carom_local *L,
                                        const double *v, const double *before, const double *after, const double *p) {
    const double most = carom_norm_max(p, s->sys->nc);
    for (int b = s->sys->ne; b < L->nb; ++b) {
        const int c = L->id[b] - s->sys->ne, k = L->at[b] + 1;
        if (!(p[c] > PUSHES * most) || z->lasting[c]) continue;
        if (!z->over[c]) count(z->run + c, t, before[c]);
        for (int i = k; i < L->at[b + 1]; ++i) z->run[c].slip[i - k] = carom_column_dot(&L->W, i, v) + L->w[i];
        if (z->run[c].silent != 0 && !z->over[c]) continue;
        CAROM_TRY(record(
            z, s, (carom_event){t, c, z->over[c] ? CAROM_ACCUMULATION : CAROM_IMPACT, before[c], after[c], p[c]}));
    }
    return CAROM_OK;
}

// A run that ends closed is an accumulation, unless it was recorded at its limit.
static carom_status close_contact(carom_accumulation *z, carom_step *s, double t, int c, double u, double rest) {
    if (z->run[c].count >= CAROM_RUN && !z->over[c]) {
        t += rest;
        CAROM_TRY(record(z, s, (carom_event){t, c, CAROM_ACCUMULATION, u, 0, 0}));
    }
    z->run[c].count = z->run[c].silent = 0;
    return record(z, s, (carom_event){t, c, CAROM_CLOSE, u, 0, 0});
}

carom_status carom_accumulation_changes(carom_accumulation *z, carom_step *s, double t, const double *was,
                                        const double *is, const double *u, const double *rest) {
    for (int c = 0; c < s->sys->nc; ++c) {
        if (was[c] == is[c]) continue;
        if (was[c] == CAROM_MODE_OPEN) {
            CAROM_TRY(close_contact(z, s, t, c, u[c], rest ? rest[c] : 0));
            continue;
        }
        const bool open = is[c] == CAROM_MODE_OPEN;
        const carom_event_kind kind = open ? CAROM_OPEN : is[c] == CAROM_MODE_STICK ? CAROM_STICK : CAROM_SLIP;
        CAROM_TRY(record(z, s, (carom_event){t, c, kind, 0, open ? u[c] : 0, 0}));
    }
    return CAROM_OK;
}

// -- the limit --------------------------------------------------------------------------------------------------------

// Z: the contacts that were hit since the hit before of the one hit now, at least two, each for the third cycle.
static int members(carom_accumulation *z, const carom_step *s, double t) {
    int j = -1, n = 0;
    for (int c = 0; c < s->sys->nc; ++c)
        if (!z->closed[c] && z->run[c].count > 0 && z->run[c].t == t && (j < 0 || z->run[c].flight < z->run[j].flight))
            j = c;
    for (int c = 0; c < s->sys->nc; ++c) {
        z->over[c] = j >= 0 && !z->closed[c] && z->run[c].count > 0 && z->run[c].t > t - z->run[j].flight;
        n += z->over[c];
        if (z->over[c] && z->run[c].count <= CYCLES) return -1;
    }
    return n > 1 ? j : -1;
}

// (AC-1)  u_N = 0 and Coulomb's law with M (v - v_f) = W P over joints, Z and the closed contacts: a plastic impact.
//         It must push every member of Z and open no closed contact: else impacts are finite in number.  v goes to v_1.
static carom_status plastic(carom_accumulation *z, carom_step *s, bool *pushes) {
    const int ne = s->sys->ne;
    carom_local *L = &z->L;
    *pushes = false;
    CAROM_TRY(carom_mass_factor(s, &z->F, z->t, z->q));
    for (int id = 0; id < ne + s->sys->nc; ++id)
        z->side[id] = id < ne || z->over[id - ne] || z->closed[id - ne] ? -1 : 1;
    carom_close(s, L, z->side);
    CAROM_TRY(carom_directions(s, L, z->t, z->q));
    carom_local_velocity(s->u, L, z->v);
    carom_problem_form(s, L, L, &z->F, 1);
    carom_copy(s->c, s->u, L->at[L->nb]);
    CAROM_TRY(carom_problem_solve(s, L));
    carom_copy(z->v_1, z->v, s->sys->nv);
    carom_problem_apply(s, z->v_1, 1);
    const double *p = s->problem.p, most = carom_norm_max(p, s->problem.n);
    for (int b = ne; b < L->nb; ++b)
        if (!(p[L->at[b]] > (z->over[L->id[b] - ne] ? PUSHES * most : -1)) ||
            s->problem.u[L->at[b]] > LEAVES * fmax(*s->speed, s->scale))
            return CAROM_OK;
    *pushes = true;
    return CAROM_OK;
}

// (AC-2)  Slip: in the last cycle every member slid as it does in the limit, or stuck if it does so there.  v_1 is the
//         limit.
static bool slides_alike(const carom_accumulation *z, const carom_step *s, double tol) {
    for (int b = s->sys->ne; b < z->L.nb; ++b) {
        const int c = z->L.id[b] - s->sys->ne, k = z->L.at[b], tangents = z->L.at[b + 1] - k - 1;
        double u[CAROM_TANGENTS];
        if (!z->over[c] || tangents == 0) continue;
        for (int i = 0; i < tangents; ++i) u[i] = carom_column_dot(&z->L.W, k + 1 + i, z->v_1) + z->L.w[k + 1 + i];
        const double none = tol * z->run[c].speed + carom_local_rounding(&z->L, k + 1, z->v, s->sys->nv);
        const double size = carom_length(u, tangents), size_0 = carom_length(z->run[c].slip, tangents);
        if (size <= none ? size_0 > none : carom_dot(u, z->run[c].slip, tangents) < ALONG * size * size_0) return false;
    }
    return true;
}

// (AC-3)  max |W'(v - v_old)| <= tol max |u-|,  |t - t_old| <= tol (length of the run),  |R - R_old| <= 0.05 (1 - R):
//         local velocities and times, in which no other coordinate takes part, however fast it is.  v_old is not needed
//         any more.
// (AC-8)  Or  |t - t_old| <= (1 + 4 R/(1 - R)^2) dt,  dt what is not known of the time of an impact: the error of t
//         that errors dt of three impacts make in (AC-4).  Later flights are shorter, and known less well: predictions
//         do not come nearer to each other than that, and rounding would decide after which impact they do.
static bool agrees(carom_accumulation *z, const carom_step *s, const carom_impact_run *r, double R, double tol) {
    const double *old = z->limit;
    double *apart = z->limit + LIMIT_HEAD, speed = 0;
    for (int c = 0; c < s->sys->nc; ++c) speed = fmax(speed, z->over[c] ? z->run[c].speed : 0);
    if (old[LIMIT_R] == 0 || fabs(R - old[LIMIT_R]) > STEADY * (1 - R)) return false;
    const double unknown = (1 + 4 * R / ((1 - R) * (1 - R))) * z->late[r - z->run];
    if (fabs(z->t - old[LIMIT_T]) <= unknown) return true;
    // instants round (AC-6)
    if (fabs(z->t - old[LIMIT_T]) > tol * (z->t - r->first) + 16 * DBL_EPSILON * fabs(z->t)) return false;
    for (int i = 0; i < s->sys->nv; ++i) apart[i] -= z->v_1[i];
    for (int k = z->L.at[s->sys->ne]; k < z->L.at[z->L.nb]; ++k)
        if (fabs(carom_column_dot(&z->L.W, k, apart)) > tol * speed + carom_local_rounding(&z->L, k, z->v, s->sys->nv))
            return false;
    return true;
}

// (AC-4)  t = t_k + T R/(1 - R), T the time of the last cycle, R its ratio to the one before; not before what is left
//         of the run is at most sqrt(tol) of it, so that errors of second order are within tol
static bool extrapolate(carom_accumulation *z, double t, int j, double tol, double *R) {
    *R = z->run[j].flight / z->run[j].before;
    if (!(*R <= SLOWEST)) return false;
    const double left = z->run[j].flight * *R / (1 - *R);
    z->t = t + left;
    return left <= sqrt(tol) * (t - z->run[j].first) && z->t > t;
}

// (AC-5)  q = q_f + T' d,  d = M^-1 W P: in the time T' that is left, impulses move Z back to the wall.  P is that of
//         (AC-1) with g/T' for u_N: Coulomb's law holds for distances of slip.  The contact problem is that of
//         plastic(), but for the normals.
static carom_status move_back(carom_accumulation *z, carom_step *s, double left) {
    const int ne = s->sys->ne, nv = s->sys->nv;
    const carom_local *L = &z->L;
    double *d = z->v_1;
    carom_copy(z->q_f, z->q, s->sys->nq);
    CAROM_TRY(carom_force(s, z->f, z->t, z->q, z->v));
    CAROM_TRY(carom_gaps(s, z->side, z->t, z->q));
    for (int b = 0; b < L->nb; ++b) s->c[L->at[b]] = b >= ne && z->over[L->id[b] - ne] ? z->side[L->id[b]] / left : 0;
    CAROM_TRY(carom_problem_solve(s, L));
    carom_zero(d, nv);
    carom_problem_apply(s, d, left);
    if (s->sys->move) s->record.account.impact += carom_dot(z->f, d, nv);
    carom_move(s, z->q, z->q, 1, d);
    return CAROM_OK;
}

void carom_accumulation_end(carom_accumulation *z, carom_step *s, const double *q) {
    for (int i = 0; i < s->sys->nv && !s->sys->move; ++i) s->record.account.impact += z->f[i] * (q[i] - z->q_f[i]);
    for (int c = 0; c < s->sys->nc; ++c) z->over[c] = false;
}

carom_status carom_accumulation_limit(carom_accumulation *z, carom_step *s, double t, double tol, carom_ahead ahead,
                                      void *user, bool *ends) {
    tol = fmax(tol, FINEST);
    if (s->sys->nc < 2) return CAROM_OK;
    const int j = members(z, s, t);
    double R = 0;
    bool fine = j >= 0 && extrapolate(z, t, j, tol, &R);
    const bool inside = z->t <= s->t + s->h;
    carom_status status = fine ? ahead(user, s, z->t - t, z->over, z->q, z->v, &fine) : CAROM_OK;
    if (fine && status == CAROM_OK) status = plastic(z, s, &fine);
    // what lies behind the step is only looked at
    if (status != CAROM_OK && status != CAROM_RETRY && (inside || status == CAROM_STOPPED)) return status;
    fine = fine && status == CAROM_OK;
    const bool known = fine && slides_alike(z, s, tol) && agrees(z, s, z->run + j, R, tol);
    *ends = known && inside;
    for (int c = 0; c < s->sys->nc; ++c) {
        // A run whose limit is known has no more impacts to record, also where the limit lies behind the step.
        if (z->over[c] && known) z->run[c].silent = 1;
        z->over[c] = z->over[c] && *ends;
    }
    z->limit[LIMIT_T] = fine ? z->t : 0;
    z->limit[LIMIT_R] = fine && !*ends ? R : 0;
    if (fine) carom_copy(z->limit + LIMIT_HEAD, z->v_1, s->sys->nv);
    return *ends ? move_back(z, s, z->t - t) : CAROM_OK;
}

// -- one after the other ----------------------------------------------------------------------------------------------

carom_turns carom_allocate_turns(carom_arena *mem, const carom_system *sys) {
    carom_turns z = {0};
    const size_t nc = (size_t)sys->nc;
    z.among = carom_allocate_bytes(mem, nc * sizeof *z.among);
    z.now = carom_allocate_bytes(mem, nc * sizeof *z.now);
    CAROM_ALLOCATE(mem, nc, &z.gap, &z.u, &z.none, &z.eps, &z.p, &z.before, &z.slow);
    return z;
}

// (AC-6)  next: least g_j/(-u_j); with it all that arrive at the same time as far as is known, |t_i - t_j| <=
//         eps_i/|u_i|
bool carom_turns_next(carom_turns *z, int nc, bool first) {
    double time = HUGE_VAL;
    for (int c = 0; c < nc; ++c)
        if (z->among[c] && z->u[c] < -z->none[c]) time = fmin(time, -z->gap[c] / z->u[c]);
    if (time == HUGE_VAL) return false;
    for (int c = 0; c < nc; ++c) {
        z->now[c] = z->among[c] && z->u[c] < -z->none[c] && z->gap[c] + time * z->u[c] <= (first ? z->eps[c] : 0);
        // a scheme without projection may have it deeper
        if (z->among[c]) z->gap[c] = z->now[c] ? 0 : fmax(0, z->gap[c] + time * z->u[c]);
    }
    return true;
}
