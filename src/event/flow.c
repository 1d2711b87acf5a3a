// flow.c: accelerations, reactions and projections for a set of closed contacts; see flow.h.
#include "scheme/inside.h"
#include "contact/residual.h"
#include "linalg/matrix.h"
#include "scheme/friction.h"
#include "event/flow.h"
#include "linalg/balance.h"
#include "linalg/dense.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_ROWS = 4096 }; // of contacts that are closed at once: their matrices are dense
enum { MANY = 30 };        // rows from which on elimination keeps to the envelope of G
static const double SUSPECT = 3e-3; // 30 times CAROM_FLOW_SINGULAR: elimination by rows may end with a pivot so much
                                    // larger
static const double WEAK = 1e-4; // near a dead point: QR leaves less noise in the weak direction than elimination

void carom_flow_sizes(const carom_system *sys, size_t *size) {
    const size_t nc = (size_t)sys->nc, each[CAROM_FLOW_KEPT] = {nc, CAROM_TANGENTS * nc, nc, 0};
    memcpy(size, each, sizeof each);
    for (int id = 0; id < sys->ne + sys->nc; ++id) size[CAROM_FLOW_KEPT - 1] += (size_t)carom_system_recorded(sys, id);
}

static size_t size_of(const carom_system *sys) {
    size_t size[CAROM_FLOW_KEPT], n = 0;
    carom_flow_sizes(sys, size);
    for (int i = 0; i < CAROM_FLOW_KEPT; ++i) n += size[i];
    return n;
}

void carom_flow_forget(const carom_step *s, double *const *kept, int id) {
    const int c = id - s->sys->ne;
    kept[0][c] = CAROM_MODE_OPEN, kept[2][c] = 0;
    carom_zero(kept[1] + CAROM_TANGENTS * c, CAROM_TANGENTS);
    carom_zero(kept[3] + s->dir[id], s->dir[id + 1] - s->dir[id]);
}

carom_flow carom_allocate_flow(carom_arena *mem, const carom_system *sys, const carom_butcher *T) {
    carom_flow f = {.T = T, .room = sys->nc, .size = size_of(sys)};
    const size_t nq = (size_t)sys->nq, nv = (size_t)sys->nv, nc = (size_t)sys->nc, nb = nc + (size_t)sys->ne;
    f.F = carom_allocate_factor(mem, sys->mass_shape, true);
    f.L = carom_allocate_local(mem, sys);
    const size_t nl = (size_t)f.L.W.n, most = (size_t)sys->ne + MOST_ROWS, rows = nl < most ? nl : most;
    f.most = (int)rows;
    f.closed = carom_allocate_bytes(mem, nc * sizeof(bool));
    f.at.closed = carom_allocate_bytes(mem, nc * sizeof(bool));
    f.g = carom_allocate(mem, nb);
    CAROM_ALLOCATE(mem, nv, &f.a, &f.a_f, &f.dv, &f.V_sum, &f.K_sum, &f.a_0, &f.v_on, &f.at.v);
    CAROM_ALLOCATE(mem, nl, &f.u, &f.kappa, &f.lambda, &f.Gamma, &f.noise, &f.D, &f.x, &f.x_0, &f.b);
    f.row = carom_allocate_ints(mem, nl);
    f.col = carom_allocate_ints(mem, nl);
    f.order = carom_allocate_ints(mem, nl);
    f.G = carom_allocate_delassus(mem, sys, (int)rows, (int)nb, true, false);
    f.rows = carom_allocate_local(mem, sys);
    f.push_on = carom_allocate_local(mem, sys);
    f.push_few = f.push_on.W;
    f.push_all = carom_allocate_columns(mem, sys->nv, (int)rows, sys->nv);
    CAROM_ALLOCATE(mem, rows * rows, &f.S, &f.N);
    f.E = carom_allocate_envelope(mem, (int)rows, f.S);
    f.scratch = carom_allocate(mem, 3 * nl);
    f.balance = carom_allocate(mem, nl);
    CAROM_ALLOCATE(mem, nc, &f.range, &f.lightest);
    f.slip = carom_allocate(mem, CAROM_TANGENTS * nc);
    CAROM_ALLOCATE(mem, nq, &f.Q, &f.q_on, &f.q_last, &f.at.q);
    f.at.mode = carom_allocate(mem, f.size);
    for (int i = 0; i < T->stages; ++i) {
        CAROM_ALLOCATE(mem, nv, &f.V[i], &f.K[i]);
        f.lifted[i] = sys->lift ? carom_allocate(mem, nv) : f.V[i];
        f.shift[i] = sys->lift ? carom_allocate(mem, nv) : NULL;
        f.push[i] = carom_allocate(mem, nc);
        f.aside[i] = carom_allocate(mem, 2 * nc);
    }
    for (int i = 0; i <= T->stages; ++i) f.margin[i < T->stages ? i : CAROM_RK_STAGES] = carom_allocate(mem, 2 * nc);
    if (!carom_butcher_explicit(T)) carom_allocate_flow_implicit(&f, mem, sys, T);
    return f;
}

void carom_flow_load(carom_flow *f, const carom_step *s, double *kept) {
    const int nc = f->room;
    f->mode = kept;
    f->dir = f->mode + nc;
    f->live = f->dir + CAROM_TANGENTS * nc;
    f->choice = f->live + nc;
    f->keeps = false;
    if (s->jumped || s->renumbers || f->at.what == CAROM_KNOWN_PLACE) f->at.what = CAROM_KNOWN_NOTHING;
}

void carom_allocate_flow_implicit(carom_flow *f, carom_arena *mem, const carom_system *sys, const carom_butcher *T) {
    const size_t nv = (size_t)sys->nv, n = (size_t)T->stages * nv;
    CAROM_ALLOCATE(mem, nv * nv, &f->Jq, &f->Jv);
    f->J = carom_allocate(mem, n * n);
    f->r = carom_allocate(mem, n);
    f->J_pivot = carom_allocate_ints(mem, n);
}

enum { FOR_POSITION, FOR_VELOCITY, FOR_FORCE }; // what form() is wanted for

// Slip direction of block b: as kept, or that of the present velocity.
static const double *slip_direction(const carom_flow *f, const carom_step *s, int b) {
    const int c = f->L.id[b] - s->sys->ne;
    const int tangents = f->L.at[b + 1] - f->L.at[b] - 1;
    double *d = f->slip + CAROM_TANGENTS * c;
    carom_copy(d, f->dir + CAROM_TANGENTS * c, tangents);
    if (f->live[c] == 0) return d;
    const double *u = f->u + f->L.at[b] + 1, size = carom_length(u, tangents);
    // a trial beyond the stop keeps the old one
    const bool onward = f->follows ? size > 0 : carom_dot(u, d, tangents) > 0.5 * size;
    for (int i = 0; i < tangents && onward; ++i) d[i] = u[i] / size;
    return d;
}

static bool slides(const carom_flow *f, const carom_step *s, int id) {
    return id >= s->sys->ne && f->mode[id - s->sys->ne] == CAROM_MODE_SLIP;
}

static void choose_rows(carom_flow *f, const carom_step *s, int want) {
    f->n = 0;
    for (int b = 0; b < f->L.nb; ++b) {
        f->row[f->n++] = f->L.at[b];
        if (want == FOR_POSITION || slides(f, s, f->L.id[b])) continue;
        for (int k = f->L.at[b] + 1; k < f->L.at[b + 1]; ++k) f->row[f->n++] = k;
    }
}

// Column r of W: direction row[r] of L.
static void take_rows(carom_flow *f) {
    const carom_columns *from = &f->L.W;
    carom_columns *to = &f->rows.W;
    for (int r = 0; r < f->n; ++r) {
        const size_t at = (size_t)f->row[r] * (size_t)from->stride,
                     count = (size_t)(from->count ? from->count[f->row[r]] : from->rows);
        memcpy(to->a + (size_t)r * (size_t)to->stride, from->a + at, count * sizeof *to->a);
        if (from->count)
            memcpy(carom_column_own_rows(to, r, (int)count), carom_column_rows(from, f->row[r]),
                   count * sizeof *to->row);
    }
}

// B_r += x W_k, entry by entry.  False: there is no room.
static bool add_entries(carom_columns *B, int r, double x, const carom_columns *W, int k) {
    const size_t stride = (size_t)B->stride, from = (size_t)k * (size_t)W->stride;
    double *a = B->a + (size_t)r * stride;
    int *row = B->row + (size_t)r * stride, *count = B->count + r;
    for (size_t e = from; e < from + (size_t)W->count[k]; ++e) {
        int i = 0;
        while (i < *count && row[i] != W->row[e]) ++i;
        if (i == B->stride) return false;
        if (i == *count) row[i] = W->row[e], a[i] = 0, ++*count;
        a[i] += x * W->a[e];
    }
    return true;
}

// Column r of B: W_N - mu W_T d of a contact that slides, else W.  few: with the entries of W alone; false: there are
// others.
static bool take_pushes(carom_flow *f, const carom_step *s, bool few) {
    const carom_local *L = &f->L;
    carom_columns *B = &f->push_on.W;
    *B = few ? f->push_few : f->push_all;
    for (int r = 0, b = 0; r < f->n; ++r) {
        const int k = f->row[r];
        while (k >= L->at[b + 1]) ++b;
        double *column = B->a + (size_t)r * (size_t)B->stride;
        if (few) B->count[r] = 0, add_entries(B, r, 1, &L->W, k);
        else carom_column_expand(column, &L->W, k);
        if (!slides(f, s, L->id[b])) continue;
        const double mu = s->sys->contacts[L->id[b] - s->sys->ne].friction, *d = slip_direction(f, s, b);
        for (int i = 0; k + 1 + i < L->at[b + 1]; ++i)
            if (!few) carom_column_axpy(column, -mu * d[i], &L->W, k + 1 + i);
            else if (!add_entries(B, r, -mu * d[i], &L->W, k + 1 + i)) return false;
    }
    return true;
}

// Blocks of W or B: rows of each constraint of L.
static void take_blocks(const carom_flow *f, carom_local *to) {
    to->nb = f->L.nb;
    for (int b = 0, r = 0; b <= f->L.nb; ++b) {
        while (r < f->n && f->row[r] < f->L.at[b]) ++r;
        to->at[b] = r;
        if (b < f->L.nb) to->id[b] = f->L.id[b];
    }
}

static bool same(const double *x, const double *y, size_t n) { return memcmp(x, y, n * sizeof *x) == 0; }

void carom_flow_leave(carom_flow *f) {
    if (f->at.what >= CAROM_KNOWN_PLACE) f->at.what = CAROM_KNOWN_NOTHING;
}

carom_status carom_flow_look(carom_flow *f, carom_step *s, double t, const double *q, const bool *closed) {
    carom_flow_known *at = &f->at;
    const size_t nq = (size_t)s->sys->nq, nc = (size_t)s->sys->nc * sizeof *closed;
    const bool there = at->what >= CAROM_KNOWN_PLACE && t == at->t && s->inside->frozen == at->held &&
                       same(q, at->q, nq) && memcmp(closed, at->closed, nc) == 0;
    at->what = there ? CAROM_KNOWN_PLACE : CAROM_KNOWN_NOTHING; // the rest may be another one from here on
    if (there) return CAROM_OK;
    CAROM_TRY(carom_mass_factor(s, &f->F, t, q));
    carom_close_these(s, &f->L, closed);
    CAROM_TRY(carom_directions(s, &f->L, t, q));
    at->what = CAROM_KNOWN_PLACE;
    at->n = -1;
    for (int c = 0; c < s->sys->nc; ++c) f->lightest[c] = -1;
    at->held = s->inside->frozen;
    at->t = t;
    memcpy(at->q, q, nq * sizeof *q);
    memcpy(at->closed, closed, nc);
    return CAROM_OK;
}

static bool make_operator(carom_flow *f, carom_step *s, bool narrow) {
    // as unsymmetric as with slip: elimination near a singular position sees rounding, not symmetry
    const carom_delassus_way way = {.whole = true, .narrow = narrow, .team = s->inside->team};
    return carom_delassus_form(&f->G, f->of_G[0], f->of_G[1], &f->F, 1, way);
}

// All of G, where it was narrow: pivots must be looked for.
static void widen(carom_flow *f, carom_step *s) {
    if (f->G.ld < f->n) make_operator(f, s, false);
}

// The closed contacts (by their modes) at a point, their directions and G = W'M^-1 B, where column r of B is the
// direction in which unknown r pushes; v, where given: their velocities.  Rows: of positions the normals alone; of
// velocities and forces also the tangents that stick.  Without slip, what is wanted for one purpose serves the others
// that have as many rows.
static carom_status form(carom_flow *f, carom_step *s, int want, double t, const double *q, const double *v) {
    const carom_system *sys = s->sys;
    carom_local *L = &f->L;
    bool slip = false;
    for (int c = 0; c < sys->nc; ++c)
        f->closed[c] = f->mode[c] != CAROM_MODE_OPEN, slip = slip || f->mode[c] == CAROM_MODE_SLIP;
    CAROM_TRY(carom_flow_look(f, s, t, q, f->closed));
    if (v) carom_local_velocity(f->u, L, v);
    if (v) CAROM_TRY(carom_friction_at(s, t, q, v));
    for (int c = 0; s->inside->friction && v && c < sys->nc; ++c)
        carom_friction_set(s, c, f->mode[c] == CAROM_MODE_STICK);
    choose_rows(f, s, want);
    if (f->n > f->most)
        return carom_retry(s,
                           "%d reactions of joints and closed contacts are too many for the dense matrices of a scheme "
                           "that locates events, %d at most; use moreau-midpoint or moreau-jean",
                           f->n, f->most);
    if (!slip && f->n == f->at.n) return CAROM_OK;
    const bool all = f->n == L->at[L->nb], pushes = slip && want == FOR_FORCE;
    const carom_local *W = all ? L : &f->rows, *B = pushes ? &f->push_on : W;
    if (!all) take_blocks(f, &f->rows), take_rows(f);
    if (pushes) {
        take_blocks(f, &f->push_on);
        if (!(sys->ne >= MANY && L->W.count && take_pushes(f, s, true))) take_pushes(f, s, false);
    }
    f->of_G[0] = W, f->of_G[1] = B;
    if (!make_operator(f, s, L->nb == sys->ne))
        return carom_fail(s->err, CAROM_NO_MEMORY, "t = %.9g: too many of %d contacts act on the same body", s->t,
                          L->nb);
    if (!all) carom_zero(f->D, L->at[L->nb]);
    for (int r = 0; r < f->n; ++r) f->D[f->row[r]] = fabs(f->G.G[(size_t)r * (size_t)(f->G.ld + 1)]);
    f->at.n = slip ? -1 : f->n;
    return CAROM_OK;
}

bool carom_flow_free(carom_flow *f, const carom_step *s) {
    if (s->sys->ne > 0 || s->inside->friction) return false;
    for (int c = 0; c < s->sys->nc; ++c)
        if (f->mode[c] != CAROM_MODE_OPEN) return false;
    f->n = f->L.nb = f->L.at[0] = 0;
    carom_flow_leave(f);
    f->pivot = 1;
    f->shared = false;
    return true;
}

bool carom_flow_eliminate(carom_flow *f) {
    if (f->n < MANY) return false;
    if (f->of_E != f->G.formed)
        f->of_E = carom_envelope_factor(&f->E, f->G.G, f->n, f->G.ld, f->G.first, SUSPECT) > 0 ? f->G.formed : 0;
    return f->of_E != 0;
}

// noise += |G| |x|, by rows.
static void add_noise(carom_flow *f, const double *restrict G, const double *restrict x) {
    const int n = f->n;
    double *restrict sum = f->scratch;
    for (int r = 0; r < n; ++r) sum[r] = f->noise[f->row[r]];
    if (f->of_E == f->G.formed) carom_envelope_magnitude(&f->E, sum, G, f->G.ld, x);
    else for (int i = 0; i < n; ++i, G += n)
        for (int r = 0; r < n; ++r) sum[r] += fabs(G[r] * x[i]);
    for (int r = 0; r < n; ++r) f->noise[f->row[r]] = sum[r];
}

// v += M^-1 B x
static void push(carom_flow *f, const carom_step *s, double *v, const double *x) {
    carom_delassus_react(&f->G, v, 1, x, f->n, s->inside->team);
}

// From the unknowns x, and their accelerations (NULL: none), to all directions; f->a becomes the acceleration with
// reactions.
static void spread(carom_flow *f, const carom_step *s, const double *x, const double *Gamma) {
    const carom_local *L = &f->L;
    carom_zero(f->lambda, L->at[L->nb]);
    add_noise(f, f->G.G, x);
    push(f, s, f->a, x);
    for (int r = 0, b = 0; r < f->n; ++r) {
        const int k = f->row[r];
        while (k >= L->at[b + 1]) ++b;
        f->lambda[k] = x[r] + 0.0; // no negative zeros
        f->Gamma[k] = Gamma ? Gamma[r] : 0;
        if (!slides(f, s, L->id[b])) continue;
        const double mu = s->sys->contacts[L->id[b] - s->sys->ne].friction,
                     *d = f->slip + CAROM_TANGENTS * (L->id[b] - s->sys->ne);
        for (int i = 0; k + 1 + i < L->at[b + 1]; ++i) f->lambda[k + 1 + i] = -mu * x[r] * d[i] + 0.0;
    }
}

static bool all_slide(const carom_flow *f, const carom_step *s) {
    for (int b = s->sys->ne; b < f->L.nb; ++b)
        if (!slides(f, s, f->L.id[b])) return false;
    return true;
}

// (MX-15)  The reactions nearest to the choice that do the same, if no contact pulls then.
static void keep_choice(carom_flow *f, carom_step *s) {
    const int n = f->n;
    carom_zero(s->c, n);
    for (int k = 0; k < n; ++k) carom_axpy(s->c, -s->p[k], f->G.G + (ptrdiff_t)k * n, n);
    carom_flow_share(f, s);
    for (int b = s->sys->ne; b < n; ++b)
        if (f->x[b] < 0) return;
    carom_copy(s->p, f->x, n);
}

// The scale of the laws by their own terms, times h.
static double finest(const carom_flow *f, const carom_step *s) {
    double most = DBL_MIN / s->tol;
    for (int r = 0; r < f->n; ++r) most = fmax(most, s->h * f->noise[f->row[r]]);
    return most;
}

// (MX-2)  0 <= Gamma_N _|_ lambda_N >= 0, Coulomb's law between Gamma_T and lambda_T where the contact may stick;
//         joints Gamma = 0.  Times h, so that the residual is a velocity like every other.
static carom_status solve_laws(carom_flow *f, carom_step *s) {
    const carom_system *sys = s->sys;
    const carom_local *L = &f->L;
    const int n = f->n;
    for (int b = 0, at = 0; b < L->nb; ++b) {
        const int c = L->id[b] - sys->ne,
                  tangents = c >= 0 && f->mode[c] == CAROM_MODE_STICK ? L->at[b + 1] - L->at[b] - 1 : 0;
        s->blocks[b] = (carom_block){c < 0 ? CAROM_BILATERAL : carom_law_friction(tangents), at,
                                     tangents > 0 ? sys->contacts[c].friction : 0};
        at += 1 + tangents;
    }
    for (int i = 0; i < n; ++i) s->c[i] *= s->h, s->p[i] = 0;
    s->problem =
        (carom_problem){.n = n, .nb = L->nb, .ld = n, .block = s->blocks, .G = f->S, .c = s->c, .p = s->p, .u = s->u};
    const bool many = sys->ne >= MANY; // as it is, with h lambda: S is what elimination has left
    if (many) {
        s->problem.G = f->G.G, s->problem.ld = f->G.ld;
        s->problem.first = f->G.first, s->problem.symmetric = f->G.symmetric;
    } else {
        f->of_E = 0;
        for (ptrdiff_t i = 0; i < (ptrdiff_t)n * n; ++i) f->S[i] = s->h * f->G.G[i];
    }
    const double scale = s->scale, of_step = s->contact.scale;
    s->scale = s->contact.scale = finest(f, s);
    const carom_status status = carom_problem_run(s, L->id);
    const double size = f->follows ? 0 : carom_norm_max(s->c, n); // velocities that the forces of a step explain
    s->scale = fmax(scale, size), s->contact.scale = fmax(of_step, size);
    if (status == CAROM_RETRY && L->nb > s->sys->ne)
        return carom_retry(s,
                           "the contact laws of %d constraints have no solution on acceleration level that a solver "
                           "finds; with large friction there may be "
                           "none (Painleve), and a smaller step does not help: moreau-jean and moreau-midpoint pass "
                           "such states by an impulse",
                           L->nb);
    CAROM_TRY(status);
    for (int i = 0; i < n; ++i) s->u[i] /= s->h;
    for (int i = 0; i < n && many; ++i) s->p[i] /= s->h;
    if (f->keeps && f->shared && all_slide(f, s)) keep_choice(f, s);
    spread(f, s, s->p, s->u);
    return CAROM_OK;
}

// (EV-30)  S = d G d,  d_r about sqrt(G_00/G_rr):  one unit, though rows are of lengths and of angles
static void balance(carom_flow *f) {
    const int n = f->n;
    double *d = f->balance;
    const double *G = f->G.G;
    f->of_E = 0;
    for (int r = 0; r < n; ++r) d[r] = carom_inverse_root(G[r + (ptrdiff_t)r * n], G[0]);
    for (int k = 0; k < n; ++k)
        for (int r = 0; r < n; ++r) f->S[r + (ptrdiff_t)k * n] = d[r] * G[r + (ptrdiff_t)k * n] * d[k];
}

// x = d x
static void scale(carom_flow *f) {
    for (int r = 0; r < f->n; ++r) f->x[r] *= f->balance[r];
}

// x = G^+ x; with dependent rows the shortest answer of rows over sqrt(G_rr).
static void solve_symmetric(carom_flow *f, carom_step *s) {
    const int n = f->n;
    if (carom_flow_eliminate(f)) {
        carom_envelope_solve(&f->E, f->x);
        return;
    }
    widen(f, s);
    balance(f);
    scale(f);
    carom_factored(s, n);
    if (carom_dense_lu(f->S, n, n, WEAK, f->col)) {
        carom_dense_lu_solve(f->S, n, n, f->col, f->x);
        scale(f);
        return;
    }
    balance(f);
    carom_copy(s->c, f->x, n);
    carom_dense_shortest(f->S, n, n, CAROM_FLOW_CUT, f->col, f->scratch, s->c, f->x);
    scale(f);
}

// (MX-14)  Gamma_T + u_T/h instead of Gamma_T
static void add_slow_slips(const carom_flow *f, carom_step *s) {
    const carom_local *L = &f->L;
    for (int r = 0, b = 0; r < f->n; ++r) {
        const int k = f->row[r];
        while (k >= L->at[b + 1]) ++b;
        const int c = L->id[b] - s->sys->ne;
        if (c >= 0 && k > L->at[b] && f->live[c] != 0) s->c[r] += f->per_h * f->u[k];
    }
}

static carom_status force(carom_flow *f, carom_step *s, double t, const double *q, const double *v) {
    if (!f->filippov.gives) return carom_force(s, f->a_f, t, q, v);
    carom_copy(f->a_f, f->filippov.given, s->sys->nv);
    return CAROM_OK;
}

// That for forces; accelerations without reactions, f->a and f->a_f, and those of the rows, s->c.
static carom_status prepare(carom_flow *f, carom_step *s, double t, const double *q, const double *v) {
    const carom_local *L = &f->L;
    CAROM_TRY(form(f, s, FOR_FORCE, t, q, v));
    CAROM_TRY(force(f, s, t, q, v));
    carom_factor_solve(&f->F, f->a_f);
    carom_copy(f->a, f->a_f, s->sys->nv);
    if (f->n == 0) return CAROM_OK;
    const int m = L->at[L->nb];
    CAROM_TRY(carom_curvature(s, f->kappa, L, t, q, v));
    carom_local_magnitudes(f->noise, L, m, f->a_f);
    for (int k = 0; k < m; ++k) f->noise[k] += fabs(f->kappa[k]);
    if (f->n == m) carom_columns_dot(s->c, &L->W, 0, m, f->a_f); // every row, in order
    else
        for (int r = 0; r < f->n; ++r) s->c[r] = carom_column_dot(&L->W, f->row[r], f->a_f);
    for (int r = 0; r < f->n; ++r) s->c[r] += f->kappa[f->row[r]];
    return CAROM_OK;
}

// (MX-1), (EV-1)  x: G x = -c.  Where a pivot is small, full pivoting says how near to singular G is; dependent
//                 constraints share (EV-16).
static void solve_reactions(carom_flow *f, carom_step *s) {
    const int n = f->n;
    bool small = false;
    for (int r = 0; r < n; ++r) f->x[r] = -s->c[r];
    if (carom_flow_eliminate(f)) {
        carom_envelope_solve(&f->E, f->x);
        return;
    }
    widen(f, s);
    balance(f);
    carom_factored(s, n);
    f->shared = !carom_dense_lu(f->S, n, n, CAROM_FLOW_CUT, f->col);
    for (int r = 0; r < n && !f->shared; ++r)
        small = small || fabs(f->S[r + (ptrdiff_t)r * n]) < SUSPECT * f->D[f->row[r]] * f->balance[r] * f->balance[r];
    if (small) {
        carom_copy(f->S, f->G.G, (ptrdiff_t)n * n);
        carom_copy(f->b, f->x, n);
        f->shared = carom_dense_full(f->S, n, n, CAROM_FLOW_CUT, f->order, f->col, f->scratch) < n;
        f->pivot = fabs(f->S[n - 1 + (ptrdiff_t)(n - 1) * n]);
    }
    if (f->shared) f->pivot = 0, carom_flow_share(f, s);
    else if (small) carom_dense_full_solve(f->S, n, n, n, f->order, f->col, f->scratch, f->b, f->x);
    else {
        scale(f);
        carom_dense_lu_solve(f->S, n, n, f->col, f->x);
        scale(f);
    }
}

static bool is_at(const carom_flow *f, const carom_step *s, double t, const double *q, const double *v) {
    return t == f->at.t && same(q, f->at.q, (size_t)s->sys->nq) && same(v, f->at.v, (size_t)s->sys->nv);
}

void carom_flow_remember(carom_flow *f, const carom_step *s, const double *v) {
    if (s->inside->friction || s->sys->events->freeze || f->filippov.n > 0) return; // those change what is held
    carom_copy(f->at.v, v, s->sys->nv); // its place is known
    carom_copy(f->at.mode, f->mode, (ptrdiff_t)f->size);
    f->at.what = CAROM_KNOWN_ALL;
}

bool carom_flow_remembers(const carom_flow *f, const carom_step *s, double t, const double *q, const double *v) {
    return f->at.what == CAROM_KNOWN_ALL && is_at(f, s, t, q, v) && same(f->mode, f->at.mode, f->size);
}

// M a = f.  A step begins where the last one ended, and what happens there asks again: the answer is kept for that
// point, unless it is a stage.
static carom_status rate_free(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool stage) {
    if (!f->filippov.gives && f->at.what == CAROM_KNOWN_FREE && is_at(f, s, t, q, v)) return CAROM_OK;
    f->at.what = CAROM_KNOWN_NOTHING;
    CAROM_TRY(carom_mass_factor(s, &f->F, t, q));
    CAROM_TRY(force(f, s, t, q, v));
    carom_factor_solve(&f->F, f->a_f);
    carom_copy(f->a, f->a_f, s->sys->nv);
    if (stage) return CAROM_OK;
    f->at.what = CAROM_KNOWN_FREE;
    f->at.t = t;
    carom_copy(f->at.q, q, s->sys->nq);
    carom_copy(f->at.v, v, s->sys->nv);
    return CAROM_OK;
}

static carom_status rate(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool laws) {
    f->pivot = 1;
    f->shared = false;
    CAROM_TRY(prepare(f, s, t, q, v));
    const int n = f->n;
    if (n == 0) return CAROM_OK;
    if (f->per_h > 0) add_slow_slips(f, s);
    if (laws && f->L.nb > s->sys->ne) {
        if (!carom_flow_eliminate(f)) {
            balance(f);
            carom_factored(s, n);
            f->shared = !carom_dense_lu(f->S, n, n, CAROM_FLOW_CUT, f->col);
        }
        return solve_laws(f, s);
    }
    solve_reactions(f, s);
    spread(f, s, f->x, NULL);
    return CAROM_OK;
}

carom_status carom_flow_rate_given(carom_flow *f, carom_step *s, double t, const double *q, const double *v,
                                   bool laws, bool stage) {
    bool settled = false;
    if (carom_flow_free(f, s)) return rate_free(f, s, t, q, v, stage || f->filippov.gives);
    for (int round = 0; !settled; ++round) {
        CAROM_TRY(rate(f, s, t, q, v, laws));
        CAROM_TRY(carom_friction_settle(s, &f->L, f->lambda, round, &settled));
    }
    return CAROM_OK;
}

enum { CORRECTIONS = 8 }; // quadratic: more mean that there is no solution
static const double WORSE = 4; // times the gaps before: a correction that has not come nearer, by more than rounding

// (MX-6), (EV-4)  q <- q - M^-1 W (W'M^-1 W)^-1 g until g is rounding, v <- v - M^-1 W (W'M^-1 W)^-1 u
carom_status carom_flow_project_position(carom_flow *f, carom_step *s, double t, double *q) {
    const int nv = s->sys->nv;
    double last = HUGE_VAL;
    if (carom_flow_free(f, s)) return CAROM_OK;
    for (int i = 0; i < CORRECTIONS; ++i) {
        CAROM_TRY(form(f, s, FOR_POSITION, t, q, NULL));
        if (f->n == 0) return CAROM_OK;
        CAROM_TRY(carom_gaps(s, f->g, t, q));
        const double size = carom_size_of_positions(s->sys, q);
        double most = 0;
        bool met = true;
        for (int b = 0; b < f->L.nb; ++b) {
            const double g = f->g[f->L.id[b]];
            f->x[b] = -g;
            most = fmax(most, fabs(g) / sqrt(f->G.G[(size_t)b * (size_t)(f->G.ld + 1)])); // angles and lengths
            // chosen: well within it, so that gaps count as closed later (CL-1)
            met = met && fabs(g) <= 0.25 * carom_local_rounding_within(&f->L, f->L.at[b], q, s->sys->nq, size);
        }
        if (most > WORSE * last) carom_copy(q, f->q_last, s->sys->nq); // gaps do not follow their directions there
        if (met || !(most < 0.5 * last)) return CAROM_OK; // it does not get better than rounding
        last = most;
        solve_symmetric(f, s);
        carom_zero(f->dv, nv);
        push(f, s, f->dv, f->x);
        carom_copy(f->q_last, q, s->sys->nq);
        carom_move(s, q, q, 1, f->dv);
    }
    return CAROM_OK;
}

// Where a joint is driven, impulses x that bring u to 0 give -w x, which is of first order in the drift.  The -u x/2
// that they take is the error of the step: it stays in the balance.
static void book_projection(const carom_flow *f, carom_step *s) {
    for (int r = 0; r < f->n; ++r) s->record.account.external -= f->L.w[f->row[r]] * f->x[r];
}

carom_status carom_flow_stop(carom_flow *f, carom_step *s, double t, const double *q, double *v) {
    if (carom_flow_free(f, s)) return CAROM_OK;
    CAROM_TRY(form(f, s, FOR_VELOCITY, t, q, v));
    if (f->n == 0) return CAROM_OK;
    for (int r = 0; r < f->n; ++r) f->x[r] = -f->u[f->row[r]];
    solve_symmetric(f, s);
    push(f, s, v, f->x);
    return CAROM_OK;
}

carom_status carom_flow_jerk(carom_flow *f, carom_step *s, double t, const double *q, double *v, double *open) {
    const int nc = s->sys->nc;
    if (s->sys->ne == 0 || !s->sys->events->next_jump) return CAROM_OK;
    carom_copy(open, f->mode, nc);
    carom_zero(f->mode, nc);
    const carom_status status = carom_flow_stop(f, s, t, q, v);
    carom_copy(f->mode, open, nc);
    CAROM_TRY(status);
    book_projection(f, s);
    for (int r = 0; r < f->n; ++r) s->record.account.impact -= 0.5 * f->u[f->row[r]] * f->x[r];
    return CAROM_OK;
}

carom_status carom_flow_project_velocity(carom_flow *f, carom_step *s, double t, const double *q, double *v) {
    CAROM_TRY(carom_flow_stop(f, s, t, q, v));
    book_projection(f, s);
    return CAROM_OK;
}
