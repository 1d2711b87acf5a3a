// schatzman_paoli.c: the two-step scheme of Schatzman and Paoli, contact on position level.
//
// Spec: docs/METHODS.md, section SP.  Written in increments d_k = (q_k - q_{k-1})/h, which is the same scheme
// and also serves coordinates that are not vectors.  The scheme runs one position ahead of what it reports, so
// that the reported velocity is the central difference at the reported time.
#include <carom/scheme.h>
#include <math.h>

enum { MOST = 50 }; // iterations for curved gaps

typedef struct work {
    carom_factor F;               // M(q_k)
    carom_local L;                // directions at z
    double e;                     // the one restitution
    double *ahead, *d;            // kept: q_k (one ahead of the report), d_k
    double *d_f, *d_1, *dz;       // free and new increment; z = q_k + h/(1+e) dz
    double *z, *z_f, *g, *u, *u_0, *p;
    bool *in;                     // contacts that take part
} work;

static void carve(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)opt;
    work *w = memory;
    const size_t nv = (size_t)sys->nv, nq = (size_t)sys->nq, nc = (size_t)(sys->ne + sys->nc);
    w->e = sys->nc > 0 ? sys->contacts[0].restitution : 0;
    w->F = carom_carve_factor(mem, sys->mass_shape, true);
    w->L = carom_carve_local(mem, sys);
    w->ahead = carom_carve(keep, nq);
    w->d = carom_carve(keep, nv);
    w->d_f = carom_carve(mem, nv);
    w->d_1 = carom_carve(mem, nv);
    w->dz = carom_carve(mem, nv);
    w->z = carom_carve(mem, nq);
    w->z_f = carom_carve(mem, nq);
    w->g = carom_carve(mem, nc);
    const size_t nl = (size_t)w->L.W.n;
    w->u = carom_carve(mem, nl);
    w->u_0 = carom_carve(mem, nl);
    w->p = carom_carve(mem, nl);
    w->in = carom_carve_bytes(mem, nc * sizeof(bool));
}

// L's set: the contacts that take part.  Gaps of the others are made positive so that carom_close leaves them out.
static void choose(work *w, const carom_step *s) {
    for (int id = 0; id < s->sys->nc; ++id) w->g[id] = w->in[id] ? -1 : 1;
    carom_close(s, &w->L, w->g);
}

// From increment d (position q, time t) to d_1, with the force impulse weight x h.
static carom_status advance(work *w, carom_step *s, double t, const double *q, const double *d, double x) {
    const carom_system *sys = s->sys;
    const int nv = sys->nv, nc = sys->nc;
    const double h = s->h, e = w->e, t_z = t + h * (1 - e) / (1 + e);

    // (SP-1)  M(q_k) (d_f - d_k) = h f(t_k, q_k, d_k)
    CAROM_TRY(carom_free_motion(s, &w->F, w->d_f, NULL, t, q, d));
    carom_add(w->d_f, d, x * h, w->d_f, nv);

    // (SP-2)  z = (q_{k+1} + e q_{k-1})/(1 + e) = q_k + h/(1 + e) (d_{k+1} - e d_k)
    carom_add(w->dz, w->d_f, -e, d, nv);
    carom_move(s, w->z_f, q, h / (1 + e), w->dz);
    CAROM_TRY(carom_gaps(s, w->g, t_z, w->z_f));
    carom_copy(w->z, w->z_f, sys->nq);
    carom_copy(w->d_1, w->d_f, nv);
    int taking_part = 0;
    for (int id = 0; id < nc; ++id) taking_part += w->in[id] = carom_closed(s, w->g[id]);
    w->L.nb = w->L.at[0] = 0;
    if (taking_part == 0) return CAROM_OK;

    for (int k = 0; k < MOST; ++k) {
        // (SP-3)  0 <= g(z) _|_ p >= 0 with g linearised at the last z, M (d_{k+1} - d_f) = W(z) p.
        //         In velocity units: u = g(z)/h, G = W'M^-1 W/(1 + e).
        choose(w, s);
        CAROM_TRY(carom_directions(s, &w->L, t_z, w->z));
        CAROM_TRY(carom_gaps(s, w->g, t_z, w->z));
        carom_problem_form(s, &w->L, &w->L, &w->F, 1 / (1 + e));
        carom_add(w->dz, w->d_f, -1, w->d_1, nv); // from the last iterate back to the free increment
        for (int b = 0; b < w->L.nb; ++b) s->c[b] = w->g[w->L.id[b]] / h + carom_column_dot(&w->L.W, b, w->dz) / (1 + e);
        CAROM_TRY(carom_problem_solve(s, &w->L));
        carom_copy(w->d_1, w->d_f, nv);
        carom_problem_apply(s, w->d_1, 1);
        carom_copy(w->p, s->problem.p, s->problem.n);
        carom_add(w->dz, w->d_1, -e, d, nv);
        carom_move(s, w->z, q, h / (1 + e), w->dz);

        // Done when the law holds at the new z itself, within tolerance or the gap's own rounding, and no other
        // contact came into play.
        CAROM_TRY(carom_gaps(s, w->g, t_z, w->z));
        bool more = false, good = true;
        for (int id = 0; id < nc; ++id)
            if (!w->in[id] && w->g[id] < 0) w->in[id] = more = true;
        for (int b = 0; b < w->L.nb; ++b) {
            const double g = w->g[w->L.id[b]], rounding = carom_local_rounding(&w->L, b, w->z, sys->nq);
            const double allowed = fmax(s->tol * s->scale * h, rounding);
            if (g < -allowed || (w->p[b] > 0 && g > allowed)) good = false;
        }
        if (good && !more) {
            carom_book_newton(s, k + 1);
            return CAROM_OK;
        }
    }
    return carom_retry(s, "the position-level contact problem did not converge in %d iterations", MOST);
}

static void book(work *w, carom_step *s, const double *d) {
    if (w->L.nb == 0) return;
    carom_local_velocity(w->u_0, &w->L, d);
    carom_local_velocity(w->u, &w->L, w->d_1);
    carom_book_impulses(s, &w->L, w->p, w->u_0, w->u);
}

static carom_status start(void *memory, carom_step *s) {
    work *w = memory;
    // (SP-4)  the first increment: half the force, d_0 = v_0
    CAROM_TRY(advance(w, s, s->t, s->q, s->v, 0.5));
    book(w, s, s->v);
    carom_copy(w->d, w->d_1, s->sys->nv);
    carom_move(s, w->ahead, s->q, s->h, w->d);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    const int nv = s->sys->nv;
    CAROM_TRY(advance(w, s, s->t + s->h, w->ahead, w->d, 1));
    book(w, s, w->d);
    // (SP-5)  report q_k and v_k = (q_{k+1} - q_{k-1})/(2h) = (d_k + d_{k+1})/2
    carom_copy(s->q, w->ahead, s->sys->nq);
    for (int i = 0; i < nv; ++i) s->v[i] = 0.5 * (w->d[i] + w->d_1[i]);
    carom_copy(w->d, w->d_1, nv);
    carom_move(s, w->ahead, s->q, s->h, w->d);
    return CAROM_OK;
}

const carom_scheme carom_scheme_schatzman_paoli = {
    .name = "schatzman-paoli",
    .about = "two-step scheme on position level, one restitution for all contacts",
    .text = "M(q_k) (q_{k+1} - 2 q_k + q_{k-1}) = h^2 f(t_k, q_k, (q_k - q_{k-1})/h) + h W(z) p\n"
            "z = (q_{k+1} + e q_{k-1})/(1 + e),   0 <= g(z) _|_ p >= 0,   v_k = (q_{k+1} - q_{k-1})/(2h)\n\n"
            "Explicit (stable for omega h < 2), central differences without contact; first order when forces\n"
            "depend on velocity.  The constraint holds for z, so q penetrates with order h.  Velocities inside\n"
            "contact episodes are noisy: a central difference across a jump.",
    .order = 1,
    .impulses = true,
    .stable = 2,
    .lacks = CAROM_NO_FRICTION | CAROM_NO_BILATERAL | CAROM_NO_UNEQUAL_RESTITUTION | CAROM_NO_IMPACT_LAWS | CAROM_NO_STEP_CHANGE | CAROM_NO_ADAPTIVE,
    .work_size = sizeof(work),
    .carve = carve,
    .start = start,
    .step = step,
};
