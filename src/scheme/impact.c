// impact.c: the laws of impact beside Newton's law for all contacts at once.
//
// Spec: docs/METHODS.md, "Laws of impact".  Here is what a set is made of, and what schemes are told; the strikes are
// in impact.inc.
#include "base/tolerance.h"
#include "scheme/impact.h"
#include "contact/energetic.h"
#include "contact/operator.h"
#include "contact/residual.h"
#include "scheme/inside.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct carom_impacts impacts;

bool carom_impacts_differ(const carom_system *sys) {
    for (int i = 0; i < sys->nc; ++i)
        if (sys->contacts[i].impact != CAROM_NEWTON || sys->contacts[i].sequential || sys->contacts[i].varies)
            return true;
    return false;
}

// The part's matrix: dense, or by blocks where the set's has more rows than are dense.
static void allocate_matrix(impacts *to, carom_arena *mem, const carom_system *sys, int n,
                            const carom_delassus *of) {
    const size_t rows = carom_delassus_dense_rows(sys, (size_t)n, of->whole), nb = (size_t)(sys->ne + sys->nc),
                 blocks = of->parts.blocks, values = of->parts.values;
    to->R = NULL;
    CAROM_ALLOCATE(mem, rows * rows, &to->G, &to->part);
    if (!blocks) return;
    to->place = carom_allocate_ints(mem, nb);
    to->space = (carom_rows_space){.blocks = blocks,
                                   .values = values,
                                   .start = carom_allocate_ints(mem, nb + 1),
                                   .diagonal = carom_allocate_ints(mem, nb),
                                   .col = carom_allocate_ints(mem, blocks),
                                   .at = carom_allocate_ints(mem, blocks),
                                   .value = carom_allocate(mem, values)};
}

impacts *carom_allocate_impacts(carom_arena *mem, const carom_system *sys, int n, const carom_delassus *of) {
    impacts *I = carom_allocate_bytes(mem, sizeof *I);
    impacts scratch, *to = I ? I : &scratch;
    const size_t rows = (size_t)n, blocks = (size_t)(sys->ne + sys->nc);
    double **lines[] = {&to->u, &to->p, &to->b, &to->c, &to->p_part, &to->u_part};
    allocate_matrix(to, mem, sys, n, of);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) *lines[i] = carom_allocate(mem, rows);
    to->plastic = carom_allocate_bytes(mem, blocks * sizeof *to->plastic);
    to->in = carom_allocate_bytes(mem, blocks * sizeof *to->in);
    to->given = carom_allocate_bytes(mem, blocks * sizeof *to->given);
    to->least = carom_allocate(mem, blocks);
    to->row = carom_allocate_ints(mem, rows);
    to->id = carom_allocate_ints(mem, blocks);
    to->of = carom_allocate_ints(mem, blocks);
    to->block = carom_allocate_bytes(mem, blocks * sizeof *to->block);
    to->x = carom_allocate(mem, (size_t)sys->ne * (1 + CAROM_TANGENTS));
    return I;
}

double carom_restitution(const carom_step *s, int contact, double u_N) {
    const carom_contact *c = s->sys->contacts + contact;
    return c->varies ? s->sys->restitution(s->sys->model, s->sys_work, contact, fmax(0, -u_N)) : c->restitution;
}

static carom_status impact_restitution(const impacts *I, int b, double u_N, double *e) {
    carom_step *s = I->s;
    const int contact = I->L->id[b] - s->sys->ne;
    *e = carom_restitution(s, contact, u_N);
    if (*e >= 0 && *e <= 1) return CAROM_OK;
    char space[40];
    snprintf(space, sizeof space, "contact %d", contact + 1);
    return carom_fail(
        s->err, CAROM_USER, "t = %.9g: restitution of '%s' must lie between 0 and 1, got %g at an approach speed of %g",
        s->t, s->inside->name ? s->inside->name(s->inside->name_user, s->sys->ne + contact) : space, *e, fmax(0, -u_N));
}

// -- a part of the set ------------------------------------------------------------------------------------------------

// Block (b, c) of the set; NULL: it is zero.
static const double *block_of(const impacts *I, int b, int c) {
    const carom_block_rows *R = I->R;
    int low = R->start[b], high = R->start[b + 1];
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (R->col[middle] < c) low = middle + 1;
        else high = middle;
    }
    return low < R->start[b + 1] && R->col[low] == c ? R->value + R->at[low] : NULL;
}

// The part's rows of G, by blocks.  There is room: it has no more than the set.
static void choose_blocks(impacts *I, int nb) {
    const carom_block_rows *R = I->R;
    carom_rows_space *x = &I->space;
    int k = 0, used = 0, uniform = I->nb ? carom_rows_of(I->block) : 0;
    for (int b = 0; b < nb; ++b) I->place[b] = -1;
    for (int b = 0; b < I->nb; ++b) I->place[I->of[b]] = b;
    for (int b = 0; b < I->nb; ++b) {
        const int rows = carom_rows_of(I->block + b);
        if (rows != uniform) uniform = 0;
        x->start[b] = k;
        for (int m = R->start[I->of[b]]; m < R->start[I->of[b] + 1]; ++m) {
            const int c = I->place[R->col[m]];
            if (c < 0) continue;
            const int size = rows * carom_rows_of(I->block + c);
            if (c == b) x->diagonal[b] = k;
            x->col[k] = c;
            x->at[k++] = used;
            carom_copy(x->value + used, R->value + R->at[m], size);
            used += size;
        }
    }
    x->start[I->nb] = k;
    I->even = true;
    I->rows = (carom_block_rows){
        .start = x->start, .col = x->col, .at = x->at, .diagonal = x->diagonal, .value = x->value, .uniform = uniform};
}

// The problem of bilateral constraints and the contacts with in[b]; velocities c are the caller's business.
static void impact_choose(impacts *I) {
    const carom_local *L = I->L;
    const int n = L->at[L->nb];
    I->n = I->nb = 0;
    for (int b = 0; b < L->nb; ++b) {
        if (L->id[b] >= I->s->sys->ne && !I->in[b]) continue;
        I->block[I->nb] = I->s->blocks[b];
        I->block[I->nb].at = I->n;
        I->id[I->nb] = L->id[b];
        I->of[I->nb++] = b;
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) I->row[I->n++] = k;
    }
    if (I->R) choose_blocks(I, L->nb);
    for (int k = 0; !I->R && k < I->n; ++k)
        for (int i = 0; i < I->n; ++i)
            I->part[i + (size_t)k * (size_t)I->n] = I->G[I->row[i] + (size_t)I->row[k] * (size_t)n];
}

// Impulses of the part for the velocities in c.
static carom_status impact_solve(impacts *I) {
    carom_step *s = I->s;
    const carom_problem set = s->problem;
    carom_zero(I->p_part, I->n);
    s->problem = (carom_problem){.n = I->n,
                                 .nb = I->nb,
                                 .ld = I->n,
                                 .block = I->block,
                                 .G = I->R ? NULL : I->part,
                                 .rows = I->R ? &I->rows : NULL,
                                 .symmetric = I->R && I->even,
                                 .c = I->c,
                                 .p = I->p_part,
                                 .u = I->u_part};
    const carom_status status = carom_problem_run(s, I->id);
    s->problem = set;
    return status;
}

// The columns of G are velocities per impulse: they leave the scale of the velocities of the run as it is.
static carom_status impact_solve_columns(impacts *I) {
    const carom_traces before = carom_problem_traces(I->s);
    I->s->scale = I->s->contact.scale = 0;
    const carom_status status = impact_solve(I);
    carom_problem_take_back(I->s, &before);
    return status;
}

// u += G p of the part's impulses, by blocks
static void apply_blocks(impacts *I) {
    for (int j = 0; j < I->nb; ++j) {
        const int c = I->of[j], columns = carom_rows_of(I->block + j);
        const double *p = I->p_part + I->block[j].at;
        if (carom_norm_max(p, columns) == 0) continue;
        for (int m = I->R->start[c]; m < I->R->start[c + 1]; ++m) { // the pattern is symmetric
            const int b = I->R->col[m], rows = carom_rows_of(I->s->blocks + b);
            const double *g = block_of(I, b, c);
            double *u = I->u + I->s->blocks[b].at;
            for (int k = 0; k < columns && g; ++k, g += rows)
                for (int i = 0; i < rows; ++i) u[i] += g[i] * p[k];
        }
    }
}

static void impact_apply(impacts *I) {
    const int n = I->L->at[I->L->nb];
    if (I->R) apply_blocks(I);
    for (int k = 0; I->R && k < I->n; ++k) I->p[I->row[k]] += I->p_part[k];
    for (int k = 0; !I->R && k < I->n; ++k) {
        const double p = I->p_part[k], *G = I->G + (size_t)I->row[k] * (size_t)n;
        I->p[I->row[k]] += p;
        for (int i = 0; i < n && p != 0; ++i) I->u[i] += G[i] * p;
    }
}

// Row of the normal of block b: p_N = least, whatever its velocity.  u_N = D (p_N - least) _|_ p_N says that.
static void give_blocks(impacts *I, int b) {
    const int at = I->block[b].at, rows = carom_rows_of(I->block + b), *start = I->space.start;
    double *own = I->space.value + I->space.at[I->space.diagonal[b]];
    const double D = own[0];
    for (int m = start[b]; m < start[b + 1]; ++m)
        for (int k = 0; k < carom_rows_of(I->block + I->space.col[m]); ++k)
            I->space.value[I->space.at[m] + k * rows] = 0;
    own[0] = D;
    I->even = false;
    I->c[at] = -D * I->least[b];
}

static void impact_give(impacts *I, int b) {
    if (I->R) {
        give_blocks(I, b);
        return;
    }
    const int at = I->block[b].at;
    const double D = I->part[at + (size_t)at * (size_t)I->n];
    for (int k = 0; k < I->n; ++k) I->part[at + (size_t)k * (size_t)I->n] = 0;
    I->part[at + (size_t)at * (size_t)I->n] = D;
    I->c[at] = -D * I->least[b];
}

// The normal velocity of the part's block b with its impulses.
static double impact_normal(const impacts *I, int b) {
    const int n = I->L->at[I->L->nb];
    const int at = I->block[b].at, rows = carom_rows_of(I->block + b);
    double u = I->u[I->row[at]];
    for (int j = 0; !I->R && j < I->n; ++j) u += I->G[I->row[at] + (size_t)I->row[j] * (size_t)n] * I->p_part[j];
    for (int m = I->R ? I->space.start[b] : 0; I->R && m < I->space.start[b + 1]; ++m) {
        const carom_block *other = I->block + I->space.col[m];
        // of the set: the part's own may have been changed
        const double *g = block_of(I, I->of[b], I->of[I->space.col[m]]);
        for (int k = 0; k < carom_rows_of(other); ++k) u += g[k * rows] * I->p_part[other->at + k];
    }
    return u;
}

// Entry (i, j) of G between rows i of block b and j of block c of the set.
static double impact_entry(const impacts *I, int b, int i, int c, int j) {
    const carom_local *L = I->L;
    if (!I->R) return I->G[L->at[b] + i + (size_t)(L->at[c] + j) * (size_t)L->at[L->nb]];
    const double *g = block_of(I, b, c);
    return g ? g[i + j * (L->at[b + 1] - L->at[b])] : 0;
}

// -- the strikes ------------------------------------------------------------------------------------------------------

static int impact_blocks(const impacts *I) { return I->L->nb; }
static int impact_first(const impacts *I, int b) { return I->L->at[b]; }
static int impact_at(const impacts *I, int b) { return I->block[b].at; }
static int impact_rows(const impacts *I, int b) { return carom_rows_of(I->block + b); }
static bool impact_contact(const impacts *I, int b) { return I->L->id[b] >= I->s->sys->ne; }
static const carom_contact *contact_of(const impacts *I, int b) {
    return I->s->sys->contacts + (I->L->id[b] - I->s->sys->ne);
}
static int impact_law(const impacts *I, int b) { return (int)contact_of(I, b)->impact; }
static bool impact_sequential(const impacts *I, int b) { return contact_of(I, b)->sequential; }
static double impact_tangential(const impacts *I, int b) { return contact_of(I, b)->tangential_restitution; }
static double impact_mu(const impacts *I, int b) { return I->s->blocks[b].mu; }
static carom_status impact_stuck(const impacts *I, int b) {
    const carom_inside *x = I->s->inside;
    return carom_retry(I->s, "the impact at '%s' has no solution: its effective mass is not positive",
                       x->name ? x->name(x->name_user, I->L->id[b]) : "a contact");
}

#define ENERGETIC_ROWS (1 + CAROM_TANGENTS)
#include "scheme/impact.inc"

// The set starts with the velocities u; I->u and I->p are what the impact makes of it.
static carom_status run(impacts *I, carom_step *s, const carom_local *L, const double *u) {
    const int n = L->at[L->nb];
    const carom_problem *pb = &s->problem;
    if (!carom_problem_rows(&s->problem))
        return carom_fail(s->err, CAROM_NO_MEMORY, "t = %.9g: too many of %d contacts act on the same body", s->t,
                          pb->nb);
    I->s = s, I->L = L;
    I->R = pb->G ? NULL : pb->rows;
    for (int k = 0; pb->G && k < n; ++k)
        carom_copy(I->G + (size_t)k * (size_t)n, pb->G + (size_t)k * (size_t)pb->ld, n);
    carom_copy(I->u, u, n);
    I->none = 4 * s->tol * fmax(s->scale, carom_norm_max(u, n)) + CAROM_ROUNDING_SOLVED * carom_norm_max(u, n);
    return impact_run(I);
}

// -- words ------------------------------------------------------------------------------------------------------------

carom_status carom_problem_bounce_from(carom_step *s, const carom_local *L, const double *u_before,
                                       const bool *plastic) {
    impacts *I = s->impacts;
    if (!I || !carom_some_contact(s, L)) return CAROM_OK;
    for (int b = 0; b < L->nb; ++b) I->plastic[b] = plastic && plastic[b];
    CAROM_TRY(run(I, s, L, u_before));
    impact_after(I, I->b);
    return CAROM_OK;
}

carom_status carom_problem_bounce(carom_step *s, const carom_local *L, const double *u_before) {
    return carom_problem_bounce_from(s, L, u_before, NULL);
}

carom_status carom_problem_step(carom_step *s, const carom_local *L, const carom_factor *F, const double *u_free,
                                const double *u_before) {
    carom_problem_form(s, L, L, F, 1);
    CAROM_TRY(carom_problem_bounce(s, L, u_before));
    carom_problem_restitution(s, L, u_free, u_before);
    return carom_problem_solve(s, L);
}

carom_status carom_problem_impact(carom_step *s, const carom_local *L, const double *u, const double *u_back) {
    impacts *I = s->impacts;
    const int n = L->at[L->nb];
    if (!I) {
        carom_problem_restitution(s, L, u, u_back);
        return carom_problem_solve(s, L);
    }
    for (int b = 0; b < L->nb; ++b) I->plastic[b] = u[L->at[b]] < 0 && u_back[L->at[b]] == 0;
    CAROM_TRY(run(I, s, L, u));
    carom_copy(s->p, I->p, n);
    return CAROM_OK;
}

carom_status carom_impact(carom_step *s, const carom_local *L, const carom_factor *F, double *v, double *u_0,
                          const double *u_back, double *u_1) {
    carom_problem_form(s, L, L, F, 1);
    carom_local_velocity(u_0, L, v);
    CAROM_TRY(carom_problem_impact(s, L, u_0, u_back ? u_back : u_0));
    carom_problem_apply(s, v, 1);
    carom_local_velocity(u_1, L, v);
    carom_account_impulses(s, L, s->problem.p, u_0, u_1);
    return CAROM_OK;
}
