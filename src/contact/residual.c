// residual.c: the certificate of a contact problem.
//
// Spec: docs/solvers.md, "Certificate".  Everything is in velocity units: an impulse p_i counts as d_i p_i, the
// velocity that it makes in its own row, d_i = G_ii (a zero or negative diagonal falls back to the largest
// one, and that to 1).  No solver uses these functions, so a mistake in a solver cannot hide here.
#include "base/team.h"
#include "base/tolerance.h"
#include "contact/operator.h"
#include "contact/residual.h"
#include <carom/problem.h>
#include <carom/team.h>
#include <math.h>
#include "contact/natural.inc"

int carom_law_rows(carom_law law) {
    return law > CAROM_UNILATERAL ? 1 + (int)(law - CAROM_UNILATERAL) : 1;
}

carom_law carom_law_friction(int tangents) { return (carom_law)(CAROM_UNILATERAL + tangents); }

// (CP-1)  u = G p + c, `rows` rows at a time in registers, from the last ones to the first.  Zeros of p are not
// skipped: whatever is not finite
// in G must show in u.
#define MULTIPLY(rows, begin)                                                                                          \
    while (i - (rows) >= (begin)) {                                                                                    \
        double a[rows];                                                                                                \
        i -= (rows);                                                                                                   \
        carom_span_of(&x, pb, i, i + (rows));                                                                          \
        const double *g = pb->G + i + (size_t)x.from * (size_t)pb->ld;                                                 \
        for (int k = 0; k < (rows); k++) a[k] = pb->c[i + k];                                                          \
        for (int j = x.from; j < x.last; j++, g += pb->ld)                                                             \
            for (int k = 0; k < (rows); k++) a[k] += g[k] * p[j];                                                      \
        const int more = carom_span_more(&x, pb);                                                                      \
        g = pb->G + i + (size_t)more * (size_t)pb->ld;                                                                 \
        for (int j = more; j < n; j++, g += pb->ld)                                                                    \
            for (int k = 0; k < (rows); k++) a[k] += g[k] * p[j];                                                      \
        for (int k = 0; k < (rows); k++) u[i + k] = a[k];                                                              \
    }

// The same by blocks; threads share the rows.
static void multiply_blocks(void *user, int part, int parts) {
    const carom_problem *pb = user;
    const carom_block_rows *R = pb->rows;
    for (int b = (int)((long)pb->nb * part / parts); b < (int)((long)pb->nb * (part + 1) / parts); b++) {
        const int at = pb->block[b].at, rows = carom_law_rows(pb->block[b].law);
        for (int i = 0; i < rows; i++) pb->u[at + i] = pb->c[at + i];
        for (int k = R->start[b]; k < R->start[b + 1]; k++) {
            const carom_block *other = pb->block + R->col[k];
            const double *g = R->value + R->at[k], *p = pb->p + other->at;
            for (int j = 0; j < carom_law_rows(other->law); j++)
                for (int i = 0; i < rows; i++) pb->u[at + i] += *g++ * p[j];
        }
    }
}

// The same by bodies: y = F A'p, part by part, its contacts in their order,
static void push_parts(void *user, int own, int parts) {
    const carom_problem *pb = user;
    const carom_parts *x = pb->parts;
    for (int part = (int)((long)x->nparts * own / parts); part < (int)((long)x->nparts * (own + 1) / parts); part++) {
        const int size = x->part[part + 1] - x->part[part];
        double *y = x->y + x->part[part], *to = y + x->part[x->nparts];
        if (x->head[part] < 0) continue;
        for (int i = 0; i < size; i++) to[i] = y[i] = 0;
        for (int l = x->head[part]; l >= 0; l = x->next[l]) {
            const carom_block *b = pb->block + x->link_of[l];
            const double *A = x->A + x->link_at[l];
            for (int r = 0; r < carom_law_rows(b->law); r++, A += x->ld ? x->ld : size)
                for (int i = 0; i < size; i++) to[i] += A[i] * pb->p[b->at + r];
        }
        const double *F = x->inverse + x->inverse_at[part];
        for (int i = 0; i < size && x->only_diagonal; i++) y[i] += x->scale * F[i] * to[i];
        for (int j = 0; j < size && !x->only_diagonal; j++)
            for (int i = 0; i < size; i++) y[i] += x->scale * F[i + j * size] * to[j];
    }
}

// u = A y + c
static void multiply_parts(void *user, int own, int parts) {
    const carom_problem *pb = user;
    const carom_parts *x = pb->parts;
    for (int b = (int)((long)pb->nb * own / parts); b < (int)((long)pb->nb * (own + 1) / parts); b++) {
        const int at = pb->block[b].at, rows = carom_law_rows(pb->block[b].law);
        for (int i = 0; i < rows; i++) pb->u[at + i] = pb->c[at + i];
        for (int l = x->first[b]; l < x->first[b + 1]; l++) {
            const int from = x->part[x->link_part[l]], size = x->part[x->link_part[l] + 1] - from;
            const double *A = x->A + x->link_at[l];
            for (int r = 0; r < rows; r++, A += x->ld ? x->ld : size)
                for (int i = 0; i < size; i++) pb->u[at + r] += A[i] * x->y[from + i];
        }
    }
}

static void multiply(const carom_problem *pb) {
    const int n = pb->n;
    const double *restrict p = pb->p;
    double *restrict u = pb->u;
    carom_span x = carom_span_begin(pb);
    int i = n;
    MULTIPLY(1, n & ~1) // the same rows side by side as in a loop over eights, then four, two and one
    MULTIPLY(2, n & ~3)
    MULTIPLY(4, n & ~7)
    MULTIPLY(8, 0)
}

// G_ii of row k of block b
static inline double diagonal(const carom_problem *pb, int b, int k) {
    const int rows = carom_law_rows(pb->block[b].law), at = pb->block[b].at;
    if (pb->rows) return pb->rows->value[pb->rows->at[pb->rows->diagonal[b]] + k * (rows + 1)];
    return pb->G ? pb->G[(size_t)(at + k) * (size_t)(pb->ld + 1)]
                 : pb->parts->diagonal[(size_t)pb->parts->max_rows * (size_t)at + (size_t)(k * (rows + 1))];
}

static double largest_diagonal(const carom_problem *pb) {
    double d = 0;
    for (int b = 0; b < pb->nb; b++)
        for (int k = 0; k < carom_law_rows(pb->block[b].law); k++) {
            const double g = diagonal(pb, b, k);
            if (g > d) d = g;
        }
    return d > 0 ? d : 1;
}

// (CP-6)  d of one row.
static inline double scale(const carom_problem *pb, int b, int k) {
    const double d = diagonal(pb, b, k);
    return d > 0 ? d : largest_diagonal(pb);
}

static inline double unilateral(const carom_problem *pb, int b) {
    const int i = pb->block[b].at;
    return natural_normal(scale(pb, b, 0), pb->p[i], pb->u[i]);
}

// natural_disc() of one row
static inline double planar(const carom_problem *pb, int b) {
    const int i = pb->block[b].at;
    const double mu = pb->block[b].mu, d = scale(pb, b, 1), y = d * pb->p[i + 1], z = y - pb->u[i + 1];
    const double rho = pb->p[i] > 0 ? mu * d * pb->p[i] : 0;
    return fabs(y - (z > rho ? rho : z < -rho ? -rho : z));
}

// All tangential rows take the largest of their d, so that the ball stays a ball.
static double ball(const carom_problem *pb, int b, int first, int tangents) {
    const int i = pb->block[b].at;
    double d = scale(pb, b, first);
    for (int k = 1; k < tangents; k++) d = fmax(d, scale(pb, b, first + k));
    return natural_disc(d, pb->block[b].mu, pb->p[i], pb->p + i + first, pb->u + i + first, tangents);
}

// Sliding, rolling and spinning one by one.
static double discs(const carom_problem *pb, int b) {
    static const int one[2] = {0, 0};
    const int *disc = pb->disc ? pb->disc[b] : one,
              size[3] = {disc[0], disc[1], carom_law_rows(pb->block[b].law) - 1 - disc[0] - disc[1]};
    double most = 0;
    for (int k = 0, at = 1; k < 3; at += size[k++]) {
        const double e = size[k] > 0 ? ball(pb, b, at, size[k]) : 0;
        most = fmax(most, e < INFINITY ? e : INFINITY); // or not a number
    }
    return most;
}

static inline double lever(const carom_problem *pb, int i) { return pb->lever ? pb->lever[i] : 1; }

static inline double block_residual(const carom_problem *pb, int k) {
    const carom_block *b = pb->block + k;
    if (b->law == CAROM_BILATERAL) return lever(pb, b->at) * fabs(pb->u[b->at]); // (CP-2)
    const double e = unilateral(pb, k);                       // (CP-3)
    if (b->law == CAROM_UNILATERAL) return e;
    const double t = b->law == CAROM_PLANAR ? planar(pb, k) : discs(pb, k); // (CP-4), (CP-5)
    // A negative, infinite or missing mu makes the law meaningless; the comparison is false for NaN too.
    return !(b->mu >= 0 && b->mu < INFINITY) ? INFINITY : e > t ? e : t;
}

double carom_residual(const carom_problem *pb, int *worst) {
    if (pb->rows) carom_team_run(pb->team, multiply_blocks, (void *)pb);
    else if (pb->G) multiply(pb);
    else carom_team_run(pb->team, push_parts, (void *)pb), carom_team_run(pb->team, multiply_parts, (void *)pb);
    return carom_residual_at(pb, worst);
}

/// The largest residual of each thread's blocks.
typedef struct verdict { double largest; int where, bad; } verdict;
typedef struct judgement {
    const carom_problem *pb;
    verdict own[CAROM_TEAM];
} judgement;

// Rows i to before n, blocks b to before nb.
static inline verdict judge(const carom_problem *pb, int i, int n, int b, int nb) {
    double largest = -1;
    int where = -1, bad = 0;
    for (; i < n; i++) bad |= !(fabs(pb->u[i]) < INFINITY) | !(fabs(pb->p[i]) < INFINITY); // no way out: no branch
    for (; b < nb; b++) {
        const double e = block_residual(pb, b);
        if (!(e <= largest)) {
            largest = e < INFINITY ? e : INFINITY; // or not a number: no later one may hide it
            where = b;
        }
    }
    return (verdict){largest, where, bad};
}

static void judge_blocks(void *user, int own, int parts) {
    judgement *j = user;
    const long n = j->pb->n, nb = j->pb->nb;
    j->own[own] = judge(j->pb, (int)(n * own / parts), (int)(n * (own + 1) / parts), (int)(nb * own / parts),
                        (int)(nb * (own + 1) / parts));
}

// By all threads; the first of the largest.
static verdict judge_shared(const carom_problem *pb) {
    judgement j;
    verdict all = {.largest = -1, .where = -1};
    j.pb = pb;
    carom_team_run(pb->team, judge_blocks, &j);
    for (int i = 0; i < pb->team->n; i++) {
        all.bad |= j.own[i].bad;
        if (!(j.own[i].largest <= all.largest)) all.largest = j.own[i].largest, all.where = j.own[i].where;
    }
    return all;
}

double carom_residual_at(const carom_problem *pb, int *worst) {
    enum { FEW = 32 }; // blocks that one thread judges sooner than it wakes others
    const verdict v = pb->team && pb->nb > FEW ? judge_shared(pb) : judge(pb, 0, pb->n, 0, pb->nb);
    if (worst) *worst = v.where;
    if (v.bad || !(v.largest < INFINITY)) return INFINITY;
    return v.largest > 0 ? v.largest : 0;
}

// |c_i| + sum_j |G_ij p_j|, the largest of all rows, by blocks
static double largest_sum(const carom_problem *pb) {
    const carom_block_rows *R = pb->rows;
    double largest = 0;
    for (int b = 0; b < pb->nb; b++) {
        const int at = pb->block[b].at, rows = carom_law_rows(pb->block[b].law);
        double sum[1 + CAROM_TANGENTS];
        for (int i = 0; i < rows; i++) sum[i] = fabs(pb->c[at + i]);
        for (int k = R->start[b]; k < R->start[b + 1]; k++) {
            const carom_block *other = pb->block + R->col[k];
            const double *g = R->value + R->at[k], *p = pb->p + other->at;
            for (int j = 0; j < carom_law_rows(other->law); j++)
                for (int i = 0; i < rows; i++) sum[i] += fabs(*g++ * p[j]);
        }
        for (int i = 0; i < rows; i++) largest = fmax(largest, sum[i]);
    }
    return largest;
}

double carom_rounding(const carom_problem *pb) {
    double largest = pb->rows ? largest_sum(pb) : 0;
    carom_span x = carom_span_begin(pb);
    for (int i = pb->n - 1; !pb->rows && i >= 0; i--) {
        double sum = fabs(pb->c[i]); // by bodies it is less than it might be, and excuses less
        carom_span_of(&x, pb, i, i + 1);
        for (int j = x.from; pb->G && j < x.last; j++) sum += fabs(pb->G[i + (size_t)j * pb->ld] * pb->p[j]);
        for (int j = carom_span_more(&x, pb); pb->G && j < pb->n; j++)
            sum += fabs(pb->G[i + (size_t)j * pb->ld] * pb->p[j]);
        largest = fmax(largest, lever(pb, i) * sum);
    }
    return natural_rounding(pb->n, largest);
}

bool carom_solved(const carom_problem *pb, double residual, double tol) {
    if (residual <= tol) return true;
    double size = 0;
    for (int i = 0; i < pb->n; i++) size = fmax(size, lever(pb, i) * fabs(pb->c[i]));
    return natural_excused(residual, size) && residual <= carom_rounding(pb);
}
