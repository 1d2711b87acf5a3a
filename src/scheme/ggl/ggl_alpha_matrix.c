// ggl_alpha_matrix.c: the matrix of (GA-11) as a whole, for small systems, and its solution.
#include "linalg/balance.h"
#include "linalg/dense.h"
#include "linalg/matrix.h"
#include "linalg/sum.h"
#include "scheme/ggl/ggl_alpha.h"
#include <math.h>

static const double SINGULAR = 1e-13;  // pivots that have cancelled to this, relatively: elimination is not to be
                                       // trusted
static const double DEPENDENT = 1e-11; // columns of the shortest solution that count as dependent

typedef carom_ggl_alpha work;

static void add_matrix(const work *w, int row, int col, double x, carom_matrix A) {
    carom_matrix_add_block(w->S + row + (size_t)col * (size_t)w->N, w->N, x, A);
}

// x W_k as a column, x W_k' as a row.
static void add_column(const work *w, int row, int col, double x, const carom_columns *W, int k) {
    carom_column_axpy(w->S + row + (size_t)col * (size_t)w->N, x, W, k);
}
static void add_row(work *w, int row, int col, double x, const carom_columns *W, int k) {
    carom_column_expand(w->scratch, W, k);
    for (int j = 0; j < W->rows; ++j) w->S[row + (size_t)(col + j) * (size_t)w->N] += x * w->scratch[j];
}

// The same for derivatives by q: W_k'T (NEW-4).
static void add_turned(work *w, int row, int col, double x, const carom_columns *W, int k) {
    double *y = w->scratch + W->rows;
    carom_column_expand(w->scratch, W, k);
    carom_increments_row(&w->turn, y, w->scratch, W->rows);
    for (int j = 0; j < W->rows; ++j) w->S[row + (size_t)(col + j) * (size_t)w->N] += x * y[j];
}

// (GA-21)  d_i = 1/sqrt(|S_ii|) where that is not 0, else d_k = 1/sqrt(sum_i (S_ki d_i)^2), about:  d_i S_ij d_j has no
//          units, whatever those of coordinates and constraints
static void balance(work *w, int N, double *x) {
    double *d = w->balance;
    for (int i = 0; i < N; ++i)
        d[i] = w->S[i + (size_t)i * (size_t)N] != 0 ? carom_inverse_root(fabs(w->S[i + (size_t)i * (size_t)N]), 1) : 0;
    for (int k = 0; k < N; ++k) {
        double sum = 0;
        if (w->S[k + (size_t)k * (size_t)N] != 0) continue;
        for (int i = 0; i < N; ++i) {
            const double own = w->S[i + (size_t)i * (size_t)N] != 0 ? w->S[k + (size_t)i * (size_t)N] * d[i] : 0;
            sum += own * own;
        }
        d[k] = carom_inverse_root(sum, 1);
    }
    for (int j = 0; j < N; ++j)
        for (int i = 0; i < N; ++i) w->S[i + (size_t)j * (size_t)N] *= d[i] * d[j];
    for (int i = 0; i < N; ++i) x[i] *= d[i];
}

void carom_ggl_alpha_solve(carom_ggl_alpha *w, int N, double *x) {
    balance(w, N, x);
    carom_copy(w->S_copy, w->S, (ptrdiff_t)N * N);
    if (carom_dense_lu(w->S, N, N, SINGULAR, w->pivot)) {
        carom_dense_lu_solve(w->S, N, N, w->pivot, x);
    } else {
        carom_dense_shortest(w->S_copy, N, N, DEPENDENT, w->pivot, w->scratch, x, w->x_N);
        carom_copy(x, w->x_N, N);
    }
    for (int i = 0; i < N; ++i) x[i] *= -w->balance[i];
}

// Rows and columns of a contact on velocity level: its normal, with the friction that goes with it when it slides;
// tangents when it sticks.
static void assemble_jump(work *w, const carom_step *s, int b, int *l, int blocks) {
    const int id = w->L.id[b], k = w->L.at[b], tangents = carom_ggl_alpha_tangents(w, b);
    const double h = s->h, bg = w->beta / w->gamma;
    for (int i = 0; i <= (w->sticks[id] ? tangents : 0); ++i, ++*l) {
        add_column(w, w->at_w, *l, 1, &w->L.W, k + i);
        if (blocks & POSITION && i > 0) add_column(w, w->at_U, *l, 0.5, &w->L.W, k + i); // (GA-18)
        for (int j = 1; i == 0 && j <= tangents; ++j) {
            const double slide = w->slide[w->L_0.at[id] + j];
            add_column(w, w->at_w, *l, slide, &w->L.W, k + j);
            if (blocks & POSITION) add_column(w, w->at_U, *l, 0.5 * slide, &w->L.W, k + j);
        }
        if (blocks & SMOOTH) add_row(w, *l, 0, 1, &w->L.W, k + i), add_turned(w, *l, 0, h * bg, &w->D_v, k + i);
        if (blocks & POSITION) add_turned(w, *l, w->at_U, h, &w->D_v, k + i);
        add_row(w, *l, w->at_w, 1, &w->L.W, k + i);
    }
}

// (GA-11)  the matrix for the increments (dv, -h dlambda~, dU/h, -dnu/h, dw, -dLambda)
void carom_ggl_alpha_assemble(carom_ggl_alpha *w, const carom_step *s, int blocks) {
    const double h = s->h, bg = w->beta / w->gamma;
    if (w->L.nb > 0) carom_increments_at(&w->turn, s, w->x);
    const bool smooth = blocks & SMOOTH, position = blocks & POSITION, velocity = blocks & VELOCITY;
    carom_zero(w->S, (ptrdiff_t)w->N * w->N);
    if (smooth) {
        add_matrix(w, 0, 0, 1 / (w->gamma * w->c), w->M);
        add_matrix(w, 0, 0, h, w->C);
        add_matrix(w, 0, 0, h * h * bg, w->K);
        if (position) add_matrix(w, 0, w->at_U, h * h, w->K);
        if (velocity) add_matrix(w, 0, w->at_w, h, w->C);
        for (int b = 0; b < s->sys->ne; ++b) {
            add_column(w, 0, w->at_l + b, 1, &w->L.W, b);
            add_row(w, w->at_l + b, 0, 1, &w->L.W, b);
            add_turned(w, w->at_l + b, 0, h * bg, &w->D_s, b);
            if (position) add_turned(w, w->at_l + b, w->at_U, h, &w->D_s, b);
        }
    }
    if (position) {
        if (smooth) add_matrix(w, w->at_U, 0, bg, w->P);
        add_matrix(w, w->at_U, w->at_U, 1, w->M);
        add_matrix(w, w->at_U, w->at_U, 1, w->P);
    }
    if (velocity) {
        if (smooth) add_matrix(w, w->at_w, 0, h * bg, w->V);
        if (position) add_matrix(w, w->at_w, w->at_U, h, w->V);
        add_matrix(w, w->at_w, w->at_w, 1, w->M);
    }
    for (int b = 0, a = w->at_nu, l = w->at_L; b < w->L.nb; ++b) {
        const int id = w->L.id[b], k = w->L.at[b];
        if (position && w->in_A[id]) {
            add_column(w, w->at_U, a, 1, &w->L.W, k);
            if (smooth) add_turned(w, a, 0, bg, &w->L.W, k);
            add_turned(w, a++, w->at_U, 1, &w->L.W, k);
        } else if (position && velocity && w->modified && w->in_B[id] && id >= s->sys->ne) {
            add_column(w, w->at_U, l, w->theta, &w->L.W, k); // nu = h theta Lambda and what does not change
        }
        if (velocity && w->in_B[id]) assemble_jump(w, s, b, &l, blocks);
    }
}

// Rows of a momentum, from `to` on, += r W_k times row `row`.
static void add_multiple(work *w, int to, int row, int k) {
    const int nv = w->L.W.rows, N = w->N;
    carom_zero(w->scratch, nv);
    carom_column_axpy(w->scratch, w->penalty, &w->L.W, k);
    for (int j = 0; j < N; ++j) {
        double *S = w->S + (size_t)j * (size_t)N;
        carom_axpy(S + to, S[row], w->scratch, nv);
    }
    carom_axpy(w->r + to, w->r[row], w->scratch, nv);
}

// (GA-23)  penalty=r:  h lambda~ - r u~_E,  nu - r g,  Lambda - r (u + e u_0) in the momenta of (GA-10):  multiples of
//          the rows of the constraints
void carom_ggl_alpha_augment(carom_ggl_alpha *w, const carom_step *s, int blocks) {
    for (int b = 0; blocks & SMOOTH && b < s->sys->ne; ++b) add_multiple(w, 0, w->at_l + b, b);
    for (int b = 0, a = w->at_nu, l = w->at_L; b < w->L.nb; ++b) {
        const int id = w->L.id[b], k = w->L.at[b];
        if (blocks & POSITION && w->in_A[id]) add_multiple(w, w->at_U, a++, k);
        if (!(blocks & VELOCITY && w->in_B[id])) continue;
        const int tangents = w->sticks[id] ? carom_ggl_alpha_tangents(w, b) : 0;
        for (int i = 0; i <= tangents; ++i) add_multiple(w, w->at_w, l++, k + i);
    }
}

// (GA-2)  [A W_E; W_E' 0],  A = M + h gamma c C + h^2 beta c K
void carom_ggl_alpha_assemble_start(carom_ggl_alpha *w, const carom_step *s) {
    const int nv = s->sys->nv, ne = s->sys->ne;
    w->N = nv + ne;
    carom_zero(w->S, (ptrdiff_t)w->N * w->N);
    add_matrix(w, 0, 0, 1, w->M);
    add_matrix(w, 0, 0, s->h * w->gamma * w->c, w->C);
    add_matrix(w, 0, 0, s->h * s->h * w->beta * w->c, w->K);
    for (int b = 0; b < ne; ++b) {
        add_column(w, 0, nv + b, 1, &w->L.W, b);
        add_row(w, nv + b, 0, 1, &w->L.W, b);
    }
}
