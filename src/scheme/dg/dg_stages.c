// dg_stages.c: the coupled stages of a time-discontinuous Galerkin step.  See dg.h; spec: docs/METHODS.md, section DG.
//
// One linear system holds the accelerations of all blocks, ordered so that a banded mass gives a banded matrix, and
// one contact problem the reactions of all blocks.  The matrix is kept while the iteration converges fast.
#include "base/tolerance.h"
#include "scheme/dg/dg.h"
#include "contact/residual.h"
#include "linalg/matrix.h"
#include "linalg/sum.h"
#include "scheme/friction.h"
#include "scheme/newton.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 49, FOLLOWED = 24, REPEATS = 50 }; // corrections; those that turn sliding directions; repetitions that
                                                 // make rates consistent

// Weight of the proximal term in (DG-16), relative to the diagonal of G.
static const double PROXIMAL = 1e-12;

// -- memory ------------------------------------------------------------------------------------------------

// Storage for `count` blocks: entry (i, l), (j, k) of coordinates i, j and blocks l, k is (i count + l, j count + k).
static carom_shape shape_of(const carom_system *sys, int count) {
    const carom_shape one = sys->tangent_shape;
    const int band = carom_shape_band(one), n = sys->nv * count;
    if (one.storage == CAROM_DENSE || (one.storage == CAROM_SPARSE && 4 * band >= sys->nv))
        return (carom_shape){CAROM_DENSE, n, 0, NULL};
    return (carom_shape){CAROM_BANDED, n, (band + 1) * count - 1, NULL};
}

int carom_dg_coupled(int m, bool plus) { return plus ? m + 2 : m > 1 ? m - 1 : 1; }

void carom_dg_degree(carom_dg *w, int m) {
    if (w->c.m == m) return;
    w->c = w->weights[m - w->lowest];
    for (int l = 0; l <= m + 1; ++l) w->block[l] = w->own[l];
    w->block[m + 1].q = w->own[m].q;
    w->block[m + 1].v = w->own[m].v;
    w->block[m + 1].M = w->own[m].M;
}

carom_dg carom_allocate_dg(carom_arena *mem, const carom_system *sys, int lowest, int m, bool plus) {
    carom_dg w = {.lowest = lowest, .highest = m};
    w.weights = carom_allocate_bytes(mem, (size_t)(m - lowest + 1) * sizeof *w.weights);
    for (int k = lowest; k <= m; ++k) {
        const carom_dg_weights c = carom_allocate_dg_weights(mem, k, plus);
        if (w.weights) w.weights[k - lowest] = c;
    }
    const size_t nv = (size_t)sys->nv, nb = (size_t)(sys->ne + sys->nc);
    size_t rows = 0;
    w.block = carom_allocate_bytes(mem, (size_t)(m + 2) * sizeof *w.block);
    w.own = carom_allocate_bytes(mem, (size_t)(m + 2) * sizeof *w.own);
    carom_dg_block b = {0};
    for (int l = 0; l <= m + 1; ++l) {
        if (l <= m) {
            b.q = carom_allocate(mem, (size_t)sys->nq);
            b.v = carom_allocate(mem, nv);
            b.M = carom_allocate_matrix(mem, sys->mass_shape);
        }
        CAROM_ALLOCATE(mem, nv, &b.a, &b.f, &b.R, &b.size);
        b.L = carom_allocate_local(mem, sys);
        b.D = carom_allocate_columns(mem, sys->nv, b.L.W.n, sys->column_stride);
        rows = (size_t)b.L.W.n;
        b.slides = carom_allocate_bytes(mem, nb * sizeof(bool));
        b.first = carom_allocate_ints(mem, (size_t)b.L.W.n);
        CAROM_ALLOCATE(mem, rows, &b.d, &b.lambda, &b.row, &b.kappa);
        if (w.own) w.own[l] = b;
    }
    const int count = carom_dg_coupled(m, plus);
    const size_t N = (size_t)count * nv, n = (size_t)count * rows;
    w.x = carom_allocate(mem, nv);
    w.d = sys->lift ? carom_allocate(mem, (size_t)(m + 1) * nv) : NULL;
    w.shift = sys->lift ? carom_allocate(mem, (size_t)(m + 1) * nv) : NULL;
    w.A = carom_allocate_matrix(mem, shape_of(sys, count));
    w.F = carom_allocate_factor(mem, shape_of(sys, count), false);
    w.K = carom_allocate_matrix(mem, sys->tangent_shape);
    w.C = carom_allocate_matrix(mem, sys->tangent_shape);
    if (count <= CAROM_SADDLE_LEVELS) {
        carom_saddle_levels levels = {.velocities = count, .reactions = count};
        for (int l = 0; l < count; ++l) {
            levels.W[l][l] = true;
            // the jump has its own mass alone
            for (int k = 0; k < count; ++k) levels.V[l][k] = true, levels.A[l][k] = k == l || !plus || l + 1 < count;
        }
        w.S = carom_allocate_saddle(mem, sys->nv, sys->nparts,
                                    sys->flags & CAROM_LINEAR ? NULL : carom_saddle_groups(sys), sys->ne,
                                    sys->tangent_shape, sys->column_stride, &levels);
        if (w.S.on) w.A_lk = carom_allocate_matrix(mem, sys->tangent_shape);
    }
    CAROM_ALLOCATE(mem, N, &w.r, &w.y);
    CAROM_ALLOCATE(mem, N * n, &w.X, &w.V);
    w.id = carom_allocate_ints(mem, n);
    w.of = carom_allocate_ints(mem, n);
    w.at_row = carom_allocate_ints(mem, n);
    w.at = carom_allocate_ints(mem, N);
    CAROM_ALLOCATE(mem, n, &w.r_p, &w.p_b);
    w.u = carom_allocate(mem, rows);
    if (w.own) carom_dg_degree(&w, m);
    return w;
}

// -- kinematics ----------------------------------------------------------------------------------------------

// Entry of a matrix of weights; block m + 1 acts through the column of stage m.
static double weight(const carom_dg *w, const double *A, int l, int k) {
    const int m = w->c.m;
    return k <= m ? A[l * (m + 1) + k] : A[l * (m + 1) + m] / w->c.b[m];
}
static double end_weight(const carom_dg *w, int k) { return k <= w->c.m ? w->c.b[k] : 1; }

// Where (+) is no sum: shift_l = h sum_k beta_k(tau_l) d_k, d_k = lift(shift_k, v_k), by repetition, since d differs
// from v by about |shift| |v| only.
static void hang_together(carom_dg *w, const carom_step *s) {
    const int nv = s->sys->nv, m = w->c.m;
    for (int k = 0; k <= m; ++k) carom_copy(w->d + k * nv, w->block[k].v, nv);
    for (int i = 0; i < REPEATS; ++i) {
        double change = 0, size = 0;
        carom_zero(w->shift, (m + 1) * nv);
        for (int l = 0; l <= m; ++l)
            for (int k = 0; k <= m; ++k)
                carom_axpy(w->shift + l * nv, s->h * w->c.P[l * (m + 1) + k], w->d + k * nv, nv);
        for (int l = 0; l <= m; ++l) {
            carom_lift(s, w->x, w->shift + l * nv, w->block[l].v);
            for (int k = 0; k < nv; ++k) change = fmax(change, fabs(w->x[k] - w->d[l * nv + k]));
            size = fmax(size, carom_norm_max(w->x, nv));
            carom_copy(w->d + l * nv, w->x, nv);
        }
        if (!(change > CAROM_ROUNDING * size)) return;
    }
}

void carom_dg_move(carom_dg *w, const carom_step *s, int first, int last, int iterate) {
    const int nv = s->sys->nv, m = w->c.m;
    const double h = s->h;
    for (int l = 0; l <= m; ++l) {
        // (DG-5)  v_l = v_0 + h sum_k A_lk a_k + A_lm/beta_m w
        carom_copy(w->block[l].v, s->v, nv);
        for (int k = 0; k <= m + 1; ++k) {
            const double A = weight(w, w->c.A, l, k);
            if (A != 0) carom_axpy(w->block[l].v, h * A, w->block[k].a, nv);
        }
    }
    if (s->sys->lift) hang_together(w, s);
    for (int l = first; l <= last && l <= m; ++l) {
        // (DG-6)  q_l = q_0 (+) h sum_k beta_k(tau_l) v_k
        carom_dg_block *b = w->block + l;
        b->t = l == m ? s->t + h : s->t + w->c.tau[l] * h;
        carom_zero(w->x, nv);
        if (s->sys->lift) carom_copy(w->x, w->shift + l * nv, nv);
        else
            for (int k = 0; k <= m; ++k) carom_axpy(w->x, h * w->c.P[l * (m + 1) + k], w->block[k].v, nv);
        carom_move_iterate(s, b->q, s->q, 1, w->x, iterate);
    }
}

void carom_dg_end(const carom_dg *w, const carom_step *s, double *v) {
    carom_copy(v, s->v, s->sys->nv);
    for (int k = 0; k <= w->c.m; ++k) carom_axpy(v, s->h * w->c.b[k], w->block[k].a, s->sys->nv);
}

// -- evaluation ------------------------------------------------------------------------------------------------

static carom_status evaluate_stage(carom_dg *w, carom_step *s, int l) {
    carom_dg_block *b = w->block + l;
    const int nv = s->sys->nv;
    if (b->have_M) CAROM_TRY(carom_force(s, b->f, b->t, b->q, b->v));
    else CAROM_TRY(carom_motion(s, b->M, b->f, NULL, b->t, b->q, b->v));
    b->have_M = s->sys->flags & CAROM_CONSTANT_MASS;
    CAROM_TRY(carom_directions(s, &b->L, b->t, b->q));
    if (b->L.nb > 0) CAROM_TRY(carom_curvature(s, b->row, &b->L, b->t, b->q, b->v));
    carom_matrix_mul(b->R, b->M, b->a);
    for (int i = 0; i < nv; ++i) {
        b->size[i] = fabs(b->R[i]) + fabs(b->f[i]);
        b->R[i] -= b->f[i];
    }
    for (int k = 0; k < b->L.at[b->L.nb]; ++k) {
        b->kappa[k] = b->row[k];
        b->row[k] = s->h * (b->row[k] + carom_column_dot(&b->L.W, k, b->a));
    }
    for (int c = s->sys->ne; c < b->L.nb; ++c)
        for (int k = b->L.at[c] + 1; k < b->L.at[c + 1]; ++k)
            b->row[k] += w->slow[w->start[b->L.id[c]] + k - b->L.at[c]];
    return CAROM_OK;
}

static carom_status evaluate_jump(carom_dg *w, carom_step *s) {
    carom_dg_block *b = w->block + w->c.m + 1;
    const int nv = s->sys->nv;
    b->t = s->t + s->h;
    CAROM_TRY(carom_directions(s, &b->L, b->t, b->q));
    carom_matrix_mul(b->R, b->M, b->a);
    for (int i = 0; i < nv; ++i) b->size[i] = fabs(b->R[i]);
    carom_zero(b->f, nv);
    for (int b_k = 0; b_k < b->L.nb; ++b_k)
        for (int k = b->L.at[b_k], i = w->start[b->L.id[b_k]]; k < b->L.at[b_k + 1]; ++k, ++i)
            // D+ ends with v_m, which holds the jump
            b->row[k] = carom_column_dot(&b->L.W, k, b->v) + b->L.w[k] + w->bias[i];
    return CAROM_OK;
}

// -- sliding ---------------------------------------------------------------------------------------------------

static double friction_of(const carom_step *s, int id) { return s->sys->contacts[id - s->sys->ne].friction; }

void carom_dg_follow(carom_dg_block *b, int k, const double *u) {
    const int first = b->L.at[k] + 1, tangents = b->L.at[k + 1] - first;
    const double size = carom_length(u + first, tangents);
    if (!(carom_dot(u + first, b->d + first, tangents) > 0)) return;
    for (int i = first; i < first + tangents; ++i) b->d[i] = u[i] / size;
}

// Tangential forces of constraint k, which slides: lambda_T = -mu lambda_N d.
static void rub(const carom_step *s, carom_dg_block *b, int k) {
    const int first = b->L.at[k];
    for (int i = first + 1; i < b->L.at[k + 1]; ++i)
        b->lambda[i] = -friction_of(s, b->L.id[k]) * b->lambda[first] * b->d[i];
}

// Directions of sliding from the velocities of the iterate, where there is more than one to choose from.
static void follow(carom_dg *w, const carom_step *s, carom_dg_block *b) {
    bool some = false;
    for (int k = s->sys->ne; k < b->L.nb; ++k) some = some || (b->slides[k] && b->L.at[k + 1] - b->L.at[k] > 2);
    if (!some) return;
    carom_local_velocity(w->u, &b->L, b->v);
    for (int k = s->sys->ne; k < b->L.nb; ++k) {
        if (!b->slides[k]) continue;
        carom_dg_follow(b, k, w->u);
        rub(s, b, k);
    }
}

// Rows that constraint k of the block has in the contact problem.
static int unknowns(const carom_dg_block *b, int k) { return b->slides[k] ? 1 : b->L.at[k + 1] - b->L.at[k]; }

static carom_block law_of(const carom_step *s, const carom_dg_block *b, int k, int at) {
    const int id = b->L.id[k];
    if (id < s->sys->ne) return (carom_block){CAROM_BILATERAL, at, 0};
    return (carom_block){carom_law_friction(unknowns(b, k) - 1), at,
                         b->stays && b->stays[id] ? carom_friction_static(s, id - s->sys->ne) : friction_of(s, id)};
}

carom_status carom_dg_react(carom_step *s, const carom_dg_block *b) {
    const carom_local *L = &b->L;
    carom_problem *pb = &s->problem;
    const int full = L->at[L->nb];
    int n = 0;
    for (int k = 0; k < L->nb; ++k) n += unknowns(b, k);
    if (n == full) return carom_problem_solve(s, L);
    // G <- G (1, -mu d), then without the tangential rows and columns of what slides; joints, which come first, stay
    // where they are
    const int joints = s->sys->ne;
    const size_t ld = (size_t)full;
    double *G = s->G;
    for (int k = joints; k < L->nb; ++k)
        for (int i = L->at[k] + 1; b->slides[k] && i < L->at[k + 1]; ++i)
            carom_axpy(G + (size_t)L->at[k] * ld, -friction_of(s, L->id[k]) * b->d[i], G + (size_t)i * ld, full);
    for (int k = 0, col = 0; k < L->nb; ++k) {
        s->blocks[k] = law_of(s, b, k, col);
        for (int j = 0; j < unknowns(b, k); ++j, ++col) {
            double *to = G + (size_t)col * ld;
            const double *from = G + (size_t)(L->at[k] + j) * ld;
            s->c[col] = s->c[L->at[k] + j];
            if (to != from) memmove(to, from, (size_t)joints * sizeof *to);
            for (int i = joints, row = joints; i < L->nb; ++i)
                for (int r = 0; r < unknowns(b, i); ++r) to[row++] = from[L->at[i] + r];
            b->first[col] = pb->first ? pb->first[L->at[k]] : 0;
            for (int r = L->at[k]; pb->first && r < L->at[k + 1]; ++r)
                if (pb->first[r] < b->first[col]) b->first[col] = pb->first[r];
            if (b->first[col] > joints) b->first[col] = joints;
        }
    }
    *pb = (carom_problem){.n = n,
                          .nb = L->nb,
                          .ld = full,
                          .block = s->blocks,
                          .G = s->G,
                          .c = s->c,
                          .first = b->first,
                          .p = s->p,
                          .u = s->u};
    carom_zero(s->p, n);
    const carom_status status = carom_problem_run(s, L->id);
    for (int k = 0; k < full; ++k) // what was moved: the next problem finds zeros where it writes nothing
        carom_zero(G + (size_t)k * ld + (k < joints ? joints : 0), full - (k < joints ? joints : 0));
    CAROM_TRY(status);
    pb->n = full, pb->first = NULL;
    for (int k = L->nb - 1; k >= 0; --k) {
        const int tangents = L->at[k + 1] - L->at[k] - 1;
        n -= unknowns(b, k);
        for (int j = tangents; j >= 0; --j) {
            const bool slides = b->slides[k] && j > 0;
            s->p[L->at[k] + j] = slides ? -friction_of(s, L->id[k]) * b->d[L->at[k] + j] * s->p[n] : s->p[n + j];
            s->u[L->at[k] + j] = slides ? 0 : s->u[n + j];
        }
    }
    return CAROM_OK;
}

static carom_status evaluate(carom_dg *w, carom_step *s, int k) {
    carom_dg_move(w, s, w->first, w->last, k);
    for (int l = w->first; l <= w->last; ++l) CAROM_TRY(l <= w->c.m ? evaluate_stage(w, s, l) : evaluate_jump(w, s));
    for (int l = w->first; l <= w->last && k > 0 && k < FOLLOWED; ++l) follow(w, s, w->block + l);
    return CAROM_OK;
}

// -- the matrix ---------------------------------------------------------------------------------------------------

static double entry(carom_matrix A, int i, int j) {
    const double *a = carom_matrix_entry(A, i, j);
    return a ? *a : 0;
}

static carom_status gradients(carom_dg *w, carom_step *s, const carom_dg_block *b) {
    CAROM_TRY(carom_tangent(s, w->K, w->C, b->t, b->q, b->v));
    CAROM_TRY(carom_mass_gradient(s, w->K, 1, b->t, b->q, b->a));
    return carom_reaction_gradient(s, w->K, -1, &b->L, b->lambda, b->t, b->q);
}

// (DG-14)  row l, column k of A:  delta_lk M + h A_lk C + h^2 Q_lk (K + d(M a)/dq - d(W lambda)/dq)
static carom_status assemble_stage(carom_dg *w, carom_step *s, int l) {
    carom_dg_block *b = w->block + l;
    const int nv = s->sys->nv, band = carom_shape_band(s->sys->tangent_shape);
    const double h = s->h;
    CAROM_TRY(gradients(w, s, b));
    for (int j = 0; j < nv; ++j)
        for (int i = j > band ? j - band : 0; i < nv && i <= j + band; ++i) {
            const double K = entry(w->K, i, j), C = entry(w->C, i, j), M = entry(b->M, i, j);
            for (int k = w->first; k <= w->last; ++k) {
                double *a = carom_matrix_entry(w->A, i * w->count + l - w->first, j * w->count + k - w->first);
                *a = h * weight(w, w->c.A, l, k) * C + h * h * weight(w, w->c.Q, l, k) * K + (k == l ? M : 0);
            }
        }
    return CAROM_OK;
}

// Does the factor that stands belong to these blocks?  constant: A depends on nothing else.
static bool stands(const carom_dg *w, const carom_step *s, bool constant) {
    return constant && w->of_F.h == s->h && w->of_F.m == w->c.m && w->of_F.first == w->first && w->of_F.last == w->last;
}

// -- joints in the linear system --------------------------------------------------------------------------------------

// (DG-24)  sum_k A_lk da_k - W_l dlambda_l = W_l lambda_l - R_l,  sum_k V_lk'da_k = -row_l  of the joints of each
//          block, A of (DG-14) and V of (DG-15)
static bool add_block(carom_dg *w, carom_step *s, int l) {
    const carom_dg_block *b = w->block + l;
    carom_saddle *S = &w->S;
    const double h = s->h;
    const int at = l - w->first;
    const bool stage = l <= w->c.m;
    bool good = carom_saddle_add_forces(S, at, at, 1, &b->L.W);
    for (int k = w->first; good && k <= w->last; ++k) {
        const int to = k - w->first;
        const double by_C = stage ? h * weight(w, w->c.A, l, k) : 0, by_K = stage ? h * h * weight(w, w->c.Q, l, k) : 0;
        if (k == l || by_C != 0 || by_K != 0) {
            if (stage) carom_matrix_sum(w->A_lk, by_C, w->C, by_K, w->K);
            else carom_matrix_zero(w->A_lk);
            if (k == l) carom_matrix_add(w->A_lk, 1, b->M);
            good = carom_saddle_add_matrix(S, at, to, 1, w->A_lk);
        }
        const double on = stage ? (k == l ? h : 0) : h * end_weight(w, k),
                     turn = stage ? 2 * h * h * weight(w, w->c.A, l, k) : h * h * weight(w, w->c.Q, w->c.m, k);
        good = good && (on == 0 || carom_saddle_add_rates(S, at, to, on, &b->L.W)) &&
               (turn == 0 || carom_saddle_add_rates(S, at, to, turn, &b->D));
    }
    return good;
}

// w->joined: there is a factor.
static carom_status factorise_joints(carom_dg *w, carom_step *s, bool first) {
    const carom_dg_block *b = w->block + w->first;
    bool contacts = false;
    for (int l = w->first; l <= w->last; ++l) contacts = contacts || w->block[l].L.nb > s->sys->ne;
    w->joined = w->S.on && w->count == w->S.levels.velocities;
    for (int l = w->first; l <= w->last && w->joined; ++l) w->joined = carom_joints_of(s, &w->block[l].L).nb == w->S.ne;
    w->joined = w->joined && carom_saddle_begin(&w->S, w->K, &b->L.W, &b->D);
    for (int l = w->first; l <= w->last && w->joined; ++l) {
        if (l <= w->c.m) CAROM_TRY(gradients(w, s, w->block + l));
        w->joined = add_block(w, s, l);
    }
    w->joined = w->joined && carom_chord_finish(&w->chord, &w->S, first, contacts);
    return CAROM_OK;
}

// Joints of a block that are in the linear system; they come first, of one row each.
static int joined_rows(const carom_dg *w) { return w->joined ? w->S.ne : 0; }

// Solution for the right-hand side in y, in place, blocks side by side; with the rows of joints and their reactions at
// the present iterate, or none.
static bool solve_joined(carom_dg *w, const carom_step *s, double *y, bool present, bool check) {
    carom_saddle *S = &w->S;
    const int nv = s->sys->nv, ne = S->ne, count = w->count;
    for (int l = 0; l < count; ++l) {
        const carom_dg_block *b = w->block + w->first + l;
        double *to = S->b + l * nv, *joints = S->b + count * nv + l * ne;
        for (int i = 0; i < nv; ++i) to[i] = y[i * count + l];
        for (int j = 0; j < ne; ++j) {
            joints[j] = present ? b->row[j] : 0;
            if (present) carom_column_axpy(to, -b->lambda[j], &b->L.W, j);
        }
    }
    if (check) carom_joints_weigh(s, S, &w->block[w->first].L);
    if (!check) carom_saddle_solve(S);
    else if (!carom_chord_solve_checked(&w->chord, S, carom_joints_small(s))) return false;
    for (int l = 0; l < count; ++l)
        for (int i = 0; i < nv; ++i) y[i * count + l] = S->x[l * nv + i];
    return true;
}

static double joints_free(carom_dg *w, const carom_step *s) {
    double most = 0;
    for (int l = w->first; l <= w->last; ++l) {
        const carom_dg_block *b = w->block + l;
        most = fmax(most, s->h * carom_joints_free(&w->S, &b->L.W, b->M, b->lambda, NULL, w->x));
    }
    return most;
}

// The factor of A, with joints as rows of the contact problem.
static carom_status factorise_rows(carom_dg *w, carom_step *s) {
    w->joined = false;
    w->of_F.h = 0;
    carom_matrix_zero(w->A);
    for (int l = w->first; l <= w->last; ++l) {
        if (l <= w->c.m) {
            CAROM_TRY(assemble_stage(w, s, l));
            continue;
        }
        const carom_dg_block *b = w->block + l;
        const int band = carom_shape_band(s->sys->mass_shape), nv = s->sys->nv;
        for (int j = 0; j < nv; ++j)
            for (int i = j > band ? j - band : 0; i < nv && i <= j + band; ++i)
                *carom_matrix_entry(w->A, i * w->count + w->count - 1, j * w->count + w->count - 1) = entry(b->M, i, j);
    }
    if (carom_factorise(&w->F, w->A, NULL) != CAROM_OK)
        return carom_retry(s, "the iteration matrix of the stages is singular");
    return CAROM_OK;
}

static carom_status factorise(carom_dg *w, carom_step *s, bool first) {
    bool constant = s->sys->flags & CAROM_LINEAR;
    for (int l = w->first; l <= w->last; ++l) {
        carom_dg_block *b = w->block + l;
        constant = constant && (b->L.nb == 0 || s->sys->flags & CAROM_CONSTANT_DIRECTIONS);
        CAROM_TRY(carom_rate_gradient(s, &b->D, &b->L, b->t, b->q, b->v));
    }
    CAROM_TRY(factorise_joints(w, s, first));
    if (w->joined || stands(w, s, constant)) return CAROM_OK;
    CAROM_TRY(factorise_rows(w, s));
    if (constant) w->of_F.h = s->h, w->of_F.m = w->c.m, w->of_F.first = w->first, w->of_F.last = w->last;
    return CAROM_OK;
}

// -- the contact problem -----------------------------------------------------------------------------------------

// y[block k] += x W_i
static void scatter(carom_dg *w, double *y, int k, double x, const carom_columns *W, int i) {
    if (x == 0) return;
    carom_column_expand(w->x, W, i);
    for (int j = 0; j < W->rows; ++j) y[j * w->count + k - w->first] += x * w->x[j];
}

// Reaction columns X = A^-1 W/h and row derivatives V of all blocks, one after the other; of contacts alone where
// joints are in the linear system.
static void columns(carom_dg *w, carom_step *s) {
    const size_t N = (size_t)(s->sys->nv * w->count);
    const double h = s->h;
    int n = 0, blocks = 0;
    for (int l = w->first; l <= w->last; ++l) {
        const carom_dg_block *b = w->block + l;
        for (int c = joined_rows(w); c < b->L.nb; ++c, ++blocks) {
            w->id[blocks] = b->L.id[c];
            s->blocks[blocks] = law_of(s, b, c, n);
            for (int i = b->L.at[c]; i < b->L.at[c] + unknowns(b, c); ++i, ++n) {
                double *x = w->X + (size_t)n * N, *v = w->V + (size_t)n * N;
                carom_zero(x, (int)N);
                carom_zero(v, (int)N);
                scatter(w, x, l, 1 / h, &b->L.W, i);
                for (int t = i + 1; b->slides[c] && t < b->L.at[c + 1]; ++t)
                    scatter(w, x, l, -friction_of(s, b->L.id[c]) * b->d[t] / h, &b->L.W, t);
                if (w->joined) solve_joined(w, s, x, false, false);
                else carom_factor_solve(&w->F, x);
                // (DG-15)  d(h (W'a + kappa)) = h W'da_l + 2 h D'dv_l,   d(u_1) = W'dv_1 + D'dx_1
                for (int k = w->first; k <= w->last; ++k) {
                    if (l <= w->c.m) {
                        scatter(w, v, k, k == l ? h : 0, &b->L.W, i);
                        scatter(w, v, k, 2 * h * h * weight(w, w->c.A, l, k), &b->D, i);
                    } else {
                        scatter(w, v, k, h * end_weight(w, k), &b->L.W, i);
                        scatter(w, v, k, h * h * weight(w, w->c.Q, w->c.m, k), &b->D, i);
                    }
                }
                w->of[n] = l;
                w->at_row[n] = i;
            }
        }
    }
    s->problem =
        (carom_problem){.n = n, .nb = blocks, .ld = n, .block = s->blocks, .G = s->G, .c = s->c, .p = s->p, .u = s->u};
}

// Constraint of the last block that is lasting and has this id, -1 if there is none.
static int lasting_at_end(const carom_dg *w, int id) {
    const carom_local *L = &w->block[w->c.m + 1].L;
    for (int j = 0; j < L->nb; ++j)
        if (L->id[j] == id) return w->lasting[id] ? j : -1;
    return -1;
}

// The unknown of a lasting contact is P = p + h sum beta_l lambda_l: the reaction column of each lambda_l loses beta_l
// times that of P.  What slides at the end has one column there; else a sliding stage takes its share (1, -mu d_l) of
// all of them.
static void share(const carom_dg *w, const carom_step *s) {
    const carom_dg_block *e = w->block + w->c.m + 1;
    const size_t N = (size_t)(s->sys->nv * w->count);
    if (w->last <= w->c.m) return;
    const int nb = s->problem.nb, nj = joined_rows(w), ends = nb - (e->L.nb - nj);
    for (int b = 0, l = w->first, c = nj; b < ends; ++b, ++c) {
        while (c == w->block[l].L.nb) ++l, c = nj;
        const carom_dg_block *at = w->block + l;
        const int j = lasting_at_end(w, at->L.id[c]);
        if (j < 0) continue;
        const int from = s->blocks[ends + j - nj].at, own = s->blocks[b].at;
        for (int i = 0; i < unknowns(at, c); ++i)
            carom_axpy(w->X + (size_t)(own + i) * N, -w->c.b[l], w->X + (size_t)(from + i) * N, (int)N);
        if (!at->slides[c] || e->slides[j]) continue;
        for (int i = 1; i < unknowns(e, j); ++i)
            carom_axpy(w->X + (size_t)own * N, w->c.b[l] * friction_of(s, at->L.id[c]) * at->d[at->L.at[c] + i],
                       w->X + (size_t)(from + i) * N, (int)N);
    }
}

// lambda of all blocks from the unknowns of the problem, (DG-10) undone.
static void spread(carom_dg *w, const carom_step *s) {
    carom_dg_block *e = w->block + w->c.m + 1;
    for (int i = 0; i < s->problem.n; ++i) w->block[w->of[i]].lambda[w->at_row[i]] = s->p[i] / s->h;
    for (int l = w->first; l <= w->last && l <= w->c.m; ++l) {
        carom_dg_block *b = w->block + l;
        for (int c = joined_rows(w); c < b->L.nb; ++c) {
            if (b->slides[c]) rub(s, b, c);
            const int j = w->last > w->c.m ? lasting_at_end(w, b->L.id[c]) : -1;
            for (int i = 0; j >= 0 && i < unknowns(e, j); ++i)
                e->lambda[e->L.at[j] + i] -= w->c.b[l] * b->lambda[b->L.at[c] + i];
        }
    }
    for (int j = 0; w->last > w->c.m && j < e->L.nb; ++j)
        if (e->slides[j]) rub(s, e, j);
}

// V_i'X_k for all k; a row of a mechanism has entries of few bodies.
static void row_products(carom_dg *w, double *G, size_t ld, const double *V, int N, int n) {
    int entries = 0;
    for (int j = 0; j < N; ++j)
        if (V[j] != 0) w->at[entries] = j, w->r[entries++] = V[j];
    for (int k = 0; k < n; ++k) {
        const double *X = w->X + (size_t)k * (size_t)N;
        double sum = 0;
        for (int e = 0; e < entries; ++e) sum += w->r[e] * X[w->at[e]];
        G[(size_t)k * ld] = sum;
    }
}

// (DG-16)  G = V'X + r,  c = rows - V'A^-1 R - r p_before,  r = 1e-12 diag(V'X).  The term in r vanishes with
//          convergence; without it, opposing contacts that are parallel to rounding can be jammed by enormous forces.
static void form(carom_dg *w, carom_step *s) {
    const int N = s->sys->nv * w->count, n = s->problem.n;
    const size_t stride = (size_t)N, ld = (size_t)n;
    double *G = carom_problem_matrix(s, n);
    share(w, s);
    for (int i = 0; i < n; ++i) row_products(w, G + i, ld, w->V + (size_t)i * stride, N, n);
    for (int i = 0; i < n; ++i)
        s->c[i] = w->block[w->of[i]].row[w->at_row[i]] - carom_dot(w->V + (size_t)i * stride, w->y, N);
    for (int i = 0; i < n; ++i) {
        w->r_p[i] = PROXIMAL * G[i + i * ld];
        s->c[i] -= w->r_p[i] * s->p[i];
        G[i + i * ld] += w->r_p[i];
    }
}

// The first guess of the forces: none in a small problem; else contacts that are closed at t_0 have those of t_0.
// Where many share a load these are one of many answers, and the proximal term keeps to it.
static void guess(carom_dg *w, carom_step *s) {
    int n = 0;
    carom_zero(s->p, s->problem.n);
    if (s->problem.n <= CAROM_WARM) return;
    for (int l = w->first; l <= w->last; ++l) {
        const carom_dg_block *b = w->block + l;
        for (int c = joined_rows(w); c < b->L.nb; ++c) {
            const int id = b->L.id[c];
            const bool known = id >= s->sys->ne && (l <= w->c.m || w->lasting[id]);
            for (int i = 0; i < unknowns(b, c); ++i, ++n)
                if (known) s->p[n] = s->h * w->lambda_0[w->start[id] + i];
        }
    }
}

// Forces of the next iterate.  At the first one the proximal term may not be small: solve it twice.
static carom_status react(carom_dg *w, carom_step *s, bool first) {
    const int n = s->problem.n;
    if (n == 0) return CAROM_OK;
    if (first) guess(w, s);
    carom_copy(w->p_b, s->p, n);
    form(w, s);
    CAROM_TRY(carom_problem_run(s, w->id));
    if (first) {
        for (int i = 0; i < n; ++i) s->c[i] -= w->r_p[i] * (s->p[i] - w->p_b[i]);
        CAROM_TRY(carom_problem_run(s, w->id));
    }
    spread(w, s);
    return CAROM_OK;
}

// -- Newton -----------------------------------------------------------------------------------------------------------

// Largest residual of the equations of motion relative to their terms, at the point just evaluated.
static double motion_residual(carom_dg *w, const carom_step *s) {
    const int nv = s->sys->nv;
    double most = 0, size = 0;
    for (int l = w->first; l <= w->last; ++l) {
        const carom_dg_block *b = w->block + l;
        carom_copy(w->y, b->R, nv);
        carom_local_react(w->y, -1, &b->L, b->lambda);
        most = fmax(most, carom_momentum_size(w->y, b->M));
        size = fmax(size, carom_momentum_size(b->size, b->M));
    }
    return size > 0 ? most / size : most;
}

// Magnitude of the terms of kappa, sum_i |D_i v_i| with the D that stands, but at least |kappa|.
static double curving(const carom_dg_block *b, int k) {
    const carom_local D = {.W = b->D};
    return fmax(fabs(b->kappa[k]), carom_local_magnitude(&D, k, b->v));
}

// Rounding of the rows, in m/s.
static double noise(const carom_dg *w, const carom_step *s) {
    static const double DIFFERENCE = 1e-9; // of u per unit of distance: curvatures by differences are good to about a
                                           // tenth of it
    const int nv = s->sys->nv;
    double most = 0;
    for (int l = w->first; l <= w->last; ++l) {
        const carom_dg_block *b = w->block + l;
        if (l > w->c.m) {
            most = fmax(most, carom_local_velocity_rounding(s, &b->L, b->v));
            continue;
        }
        const double fast = s->sys->curvature ? 0 : fmax(1, carom_norm_max(b->v, nv));
        for (int k = 0; k < b->L.at[b->L.nb]; ++k) {
            const double kappa = s->sys->curvature ? CAROM_ROUNDING_SUM * curving(b, k)
                                                   : DIFFERENCE * carom_local_magnitude(&b->L, k, b->v) * fast;
            most = fmax(most, s->h * (carom_local_rounding(&b->L, k, b->a, nv) + kappa));
        }
    }
    return most;
}

// Done when the equations hold to tolerance, or when the last correction h da was rounding of the velocities; and the
// laws.
static bool done(carom_dg *w, carom_step *s) {
    double v = 0;
    int worst;
    for (int l = 0; l <= w->c.m; ++l) v = fmax(v, carom_size_of_motion(s->sys, w->block[l].v));
    // 2: corrections are the last digit
    if (!(motion_residual(w, s) <= s->newton_tol || s->h * w->correction <= 2 * DBL_EPSILON * v)) return false;
    const double rounding = noise(w, s);
    for (int l = w->first; l <= w->last && w->joined; ++l) {
        const carom_dg_block *b = w->block + l;
        if (!carom_joints_met(s, carom_joints_size(&w->S, b->row), rounding)) return false;
    }
    if (w->joined && s->problem.n == 0) return true;
    for (int i = 0; i < s->problem.n; ++i) s->c[i] = w->block[w->of[i]].row[w->at_row[i]];
    if (!carom_problem_met(s, w->id, rounding)) return false;
    const double residual = carom_residual_at(&s->problem, &worst);
    if (residual > s->counts->residual) s->counts->residual = residual, s->counts->residual_id = w->id[worst];
    return true;
}

static carom_status judge(void *memory, carom_step *s, int k, bool *answer) {
    carom_dg *w = memory;
    CAROM_TRY(evaluate(w, s, k));
    *answer = k > 0 && done(w, s);
    return CAROM_OK;
}

// w->y = R, blocks side by side; without the reactions of the contacts of L, where joints are in the linear system and
// contacts have been found.
static void right_hand_side(carom_dg *w, const carom_step *s, bool contacts) {
    const int nv = s->sys->nv, first = w->first;
    for (int l = first; l <= w->last; ++l) {
        const carom_dg_block *b = w->block + l;
        carom_copy(w->x, b->R, nv);
        for (int k = joined_rows(w); contacts && k < b->L.at[b->L.nb]; ++k)
            carom_column_axpy(w->x, -b->lambda[k], &b->L.W, k);
        for (int i = 0; i < nv; ++i) w->y[i * w->count + l - first] = w->x[i];
    }
}

// The correction with joints in the linear system.  *done is false where its factor does not serve.
static carom_status correct_joints(carom_dg *w, carom_step *s, bool fresh, bool first, bool *done) {
    const int N = s->sys->nv * w->count, ne = w->S.ne, levels = w->count;
    columns(w, s);
    right_hand_side(w, s, false);
    *done = solve_joined(w, s, w->y, true, fresh);
    if (!*done) return CAROM_OK;
    if (s->problem.n > 0) {
        CAROM_TRY(react(w, s, first));
        right_hand_side(w, s, true);
        solve_joined(w, s, w->y, true, false);
    } else s->counts->problems += 1;
    for (int l = 0; l < levels; ++l)
        for (int j = 0; j < ne; ++j) w->block[w->first + l].lambda[j] += w->S.x[N + l * ne + j];
    if (fresh) w->free = joints_free(w, s);
    carom_problem_scale(s, &w->free, 1);
    for (int i = 0; i < N; ++i) w->r[i] = -w->y[i];
    return CAROM_OK;
}

static carom_status correct(void *memory, carom_step *s, int k) {
    carom_dg *w = memory;
    const int nv = s->sys->nv, N = nv * w->count, first = w->first, last = w->last;
    const bool fresh = k == 0 || w->correction > 0.1 * w->before; // chosen: a slower fall pays for new derivatives
    bool done = false;
    if (fresh) CAROM_TRY(factorise(w, s, k == 0));
    if (w->joined) CAROM_TRY(correct_joints(w, s, fresh, k == 0, &done));
    if (w->joined && !done) CAROM_TRY(factorise_rows(w, s));
    if (!done) {
        columns(w, s);
        // (DG-13)  da = A^-1 (W lambda - R)
        right_hand_side(w, s, false);
        carom_factor_solve(&w->F, w->y);
        CAROM_TRY(react(w, s, k == 0));
        carom_zero(w->r, N);
        carom_axpy(w->r, -1, w->y, N);
        for (int i = 0; i < s->problem.n; ++i) carom_axpy(w->r, s->p[i], w->X + (size_t)i * (size_t)N, N);
    }
    for (int l = first; l <= last; ++l)
        for (int i = 0; i < nv; ++i) w->block[l].a[i] += w->r[i * w->count + l - first];
    w->before = w->correction;
    w->correction = 0;
    for (int k = 0; k < N; ++k) w->correction = fmax(w->correction, fabs(w->r[k]) * carom_lever(s->sys, k / w->count));
    return CAROM_OK;
}

carom_status carom_dg_solve(carom_dg *w, carom_step *s, int first, int last, int *iterations) {
    w->first = first;
    w->last = last;
    w->count = last - first + 1;
    w->A.shape = w->F.shape = shape_of(s->sys, w->count);
    for (int l = first; l <= last; ++l) carom_zero(w->block[l].lambda, w->block[l].L.at[w->block[l].L.nb]);
    w->correction = w->before = HUGE_VAL;
    carom_zero(w->r, s->sys->nv * w->count);
    const carom_iteration I = {.method = "Newton's method for the stages",
                               .most = MOST,
                               .x = w->r,
                               .n = s->sys->nv * w->count,
                               .evaluate = judge,
                               .correct = correct};
    return carom_iterate(&I, w, s, iterations);
}
