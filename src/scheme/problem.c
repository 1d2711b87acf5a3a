// problem.c: the contact problem of a step: its blocks, the Delassus operator (DLS-1), its solution, and velocities
// from its reactions.
#include "scheme/inside.h"
#include "base/tolerance.h"
#include "contact/operator.h"
#include "contact/residual.h"
#include "linalg/matrix.h"
#include "scheme/discs.h"
#include "scheme/impact.h"
#include "scheme/step.h"
#include "solver/solvers.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

double *carom_problem_matrix(carom_step *s, int n) { return carom_delassus_matrix(&s->inside->delassus, n); }

long carom_problem_number(const carom_step *s) { return s->inside->delassus.formed; }

void carom_problem_form(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a) {
    carom_problem_form_as(s, L, Lf, F, a, 0);
}

static bool assemble(carom_problem *pb) {
    pb->rows = carom_delassus_rows(pb->assembly, pb->team);
    if (!pb->rows) pb->assemble = NULL; // not again
    return pb->rows;
}

// The problem of an operator that is not dense.  Blocks of G are made when a solver needs them.
static void present_parts(carom_step *s, bool formed, bool blocks) {
    carom_delassus *d = &s->inside->delassus;
    s->problem.G = NULL;
    s->problem.team = s->inside->team;
    s->problem.rows = formed && blocks ? &d->parts.rows : NULL;
    s->problem.parts = formed && d->symmetric ? &d->parts.parts : NULL;
    s->problem.assemble = formed && !blocks ? assemble : NULL;
    s->problem.assembly = d;
}

// own: no columns of Lf are those of the system's directions, so none are kept.
static void form(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a,
                 long number, bool own) {
    carom_delassus *d = &s->inside->delassus;
    carom_delassus_way way = {.formed = number, .team = s->inside->team};
    carom_problem_blocks(s, L);
    s->inside->a = a;
    if (d->parts.blocks) {
        way.blocks = L != Lf;
        way.parts = carom_chain_by_parts(s->inside->chain);
    } else {
        way.narrow = L->nb == s->sys->ne && !carom_chain_chosen(s->inside->chain); // joints alone, which need no more
        way.kept = d->keeps && F->ready && !own && carom_responses_begin(&d->keep, s) == CAROM_OK;
    }
    const bool formed = carom_delassus_form(d, L, Lf, F, a, way); // if not, nothing can solve it
    s->problem.ld = d->ld;
    s->problem.first = d->first;
    s->problem.symmetric = d->symmetric && (d->storage == CAROM_BY_PRODUCTS || d->storage == CAROM_BY_PARTS);
    if (!d->dense) present_parts(s, formed, way.blocks);
}

void carom_problem_form_as(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a,
                           long number) {
    form(s, L, Lf, F, a, number, false);
}

void carom_problem_form_pushed(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F,
                               double a) {
    form(s, L, Lf, F, a, 0, true);
}

void carom_problem_blocks(carom_step *s, const carom_local *L) {
    const int nb = L->nb, n = L->at[nb], ne = s->sys->ne, *restrict id = L->id, *restrict at = L->at;
    const carom_contact *contacts = s->sys->contacts;
    carom_block *restrict block = s->blocks;
    int b = 0;
    for (; b < nb && id[b] < ne; ++b) { // they come first
        block[b] = (carom_block){CAROM_BILATERAL, at[b], 0};
        s->inside->row_lever[id[b]] = carom_row_lever(s, L, at[b]);
    }
    for (; b < nb; ++b)
        block[b] =
            (carom_block){carom_law_with(carom_directions_of(s->sys, id[b]) - 1), at[b], contacts[id[b] - ne].friction};
    s->inside->a = 1;
    carom_problem *pb = &s->problem; // set in place: a struct that is built and then copied is read in other pieces
                                     // than it was written in, for which processors wait
    memset(pb, 0, sizeof *pb);
    pb->n = pb->ld = n;
    pb->nb = nb;
    pb->block = s->blocks;
    pb->G = s->G, pb->c = s->c;
    pb->p = s->p, pb->u = s->u;
    if (s->inside->discs) s->problem.disc = carom_discs_find(s->inside->discs, s->sys, L->id, L->nb);
}

void carom_problem_subtract(carom_step *s, const double *x) {
    carom_problem *pb = &s->problem;
    carom_problem_rows(pb);
    const carom_block_rows *R = pb->rows;
    const int n = pb->n;
    carom_span span = carom_span_begin(pb); // within the envelope, where that is known
    for (int i = n - 1; i >= 0 && pb->G; --i) {
        carom_span_of(&span, pb, i, i + 1);
        for (int k = span.from; k < span.last; ++k) s->c[i] -= s->G[i + k * (size_t)pb->ld] * x[k];
        for (int k = carom_span_more(&span, pb); k < n; ++k) s->c[i] -= s->G[i + k * (size_t)pb->ld] * x[k];
    }
    for (int b = 0; b < pb->nb && !pb->G && R; ++b) {
        const int at = pb->block[b].at, rows = (b + 1 < pb->nb ? pb->block[b + 1].at : n) - at;
        const double *g = R->value + R->at[R->start[b]];
        for (int k = R->start[b]; k < R->start[b + 1]; ++k) {
            const int c = R->col[k], from = pb->block[c].at, end = c + 1 < pb->nb ? pb->block[c + 1].at : n;
            for (int j = from; j < end; ++j, g += rows)
                for (int i = 0; i < rows; ++i) s->c[at + i] -= g[i] * x[j];
        }
    }
}

void carom_problem_restitution(carom_step *s, const carom_local *L, const double *u_free, const double *u_before) {
    int b = 0;
    for (; b < L->nb && L->id[b] < s->sys->ne; ++b) s->c[L->at[b]] = u_free[L->at[b]]; // joints come first
    for (; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k)
            s->c[k] = u_free[k] + (s->impacts ? -s->impacts->b[k]
                                              : carom_row_restitution(s->sys, L, b, k) * u_before[k]);
}

// (TOL-3), (TOL-6)  The largest residual that is accepted, over contact.scale.
static double acceptable(const carom_step *s) {
    const carom_inside *x = s->inside;
    return carom_limited(x) ? fmax(x->accept, x->limited_most) : x->accept;
}

// No solver came below tolerance: is a residual accepted in a step of this scale?  Then it is counted.
static bool accepted(carom_step *s, double residual, double scale) {
    if (!(residual <= acceptable(s) * scale)) return false;
    s->contact.last = residual;
    s->contact.most = fmax(s->contact.most, residual / scale);
    return true;
}

// The message names a remedy: an answer that is nearly one can be accepted, another cannot.
static carom_status refuse(carom_step *s, const carom_report *r, const int *id) {
    static const double NEARLY = 1e-6; // problems without an answer come as near as 3e-6
    const double scale = s->contact.scale;
    char space[40], advice[160];
    s->contact.refused = scale;
    if (r->residual <= NEARLY * scale)
        snprintf(advice, sizeof advice, "the option accept=%.0e accepts such residuals and counts them",
                 10 * r->residual / scale);
    else
        snprintf(advice, sizeof advice,
                 "its constraints may contradict each other, or contacts jam: look at '%s' at this time",
                 carom_constraint_text(s, id[r->worst_block], space, sizeof space));
    return carom_retry(
        s,
        "contact problem (%d constraints) not solved: residual %.3g at '%s', velocity scale %.3g, tolerance %.3g; %s",
        s->problem.nb, r->residual, carom_constraint_text(s, id[r->worst_block], space, sizeof space), scale,
        acceptable(s) * scale, advice);
}

// (TOL-2)
static carom_report solve_as_is(carom_step *s, carom_problem *pb) {
    if (!s->inside->on_problem) return carom_chain_solve(s->inside->chain, pb, s->tol * s->scale);
    carom_problem_rows(pb);
    s->inside->on_problem(s->inside->problem_user, s->t, pb, NULL);
    const carom_report r = carom_chain_solve(s->inside->chain, pb, s->tol * s->scale);
    s->inside->on_problem(s->inside->problem_user, s->t, pb, &r);
    return r;
}

static carom_report solve(carom_step *s, carom_problem *pb, const int *id) {
    carom_discs *discs = s->inside->discs;
    carom_problem parts;
    if (!discs) return solve_as_is(s, pb);
    pb->disc = carom_discs_find(discs, s->sys, id, pb->nb);
    if (!carom_problem_rows(pb) || !carom_discs_split(discs, pb, &parts))
        return (carom_report){.residual = INFINITY, .worst_block = 0};
    carom_report r = solve_as_is(s, &parts);
    carom_discs_join(discs, &parts, pb);
    if (r.worst_block >= 0) r.worst_block = discs->of[r.worst_block];
    return r;
}

void carom_problem_scale(carom_step *s, const double *c, int n) {
    const double size = carom_norm_max(c, n);
    if (size < HUGE_VAL) s->scale = fmax(s->scale, size), s->contact.scale = fmax(s->contact.scale, size); // (TOL-1)
    s->contact.last = 0;
}

// (LV-4)  Rows of angles as lengths, and back: powers of two, so that nothing is rounded.  Within the envelope alone:
//         beyond it a narrow G has no entries.
static void weigh(carom_step *s, const int *id, bool back) {
    carom_problem *pb = &s->problem;
    carom_span span = carom_span_begin(pb);
    for (int b = pb->nb - 1; b >= 0 && pb->G == s->G; --b) {
        if (id[b] >= s->sys->ne) continue;
        const double x = back ? 1 / s->inside->row_lever[id[b]] : s->inside->row_lever[id[b]];
        const int i = pb->block[b].at;
        carom_span_of(&span, pb, i, i + 1);
        if (x == 1) continue;
        for (int j = span.from; j < pb->n; ++j) {
            if (j == span.last) j = carom_span_more(&span, pb);
            if (j == pb->n) break;
            if (j > i && pb->first && pb->first[j] > i) continue;
            s->G[i + (size_t)j * (size_t)pb->ld] *= x;
            s->G[j + (size_t)i * (size_t)pb->ld] *= x;
        }
        s->c[i] *= x, s->u[i] *= x, s->p[i] /= x;
    }
}

// Joints alone: elimination does not ask for units, the certificate does.
static bool is_rigid(const carom_step *s, const carom_problem *pb) {
    return pb->G == s->G && pb->nb == s->sys->ne && pb->n == pb->nb && carom_problem_joints(pb) == pb->nb &&
           !carom_chain_chosen(s->inside->chain) && !s->inside->on_problem;
}

// As carom_problem_scale() of the velocities of joints.
static void scale_joints(carom_step *s, const carom_problem *pb) {
    double most = 0;
    for (int i = 0; i < pb->n; ++i) {
        const double x = s->inside->row_lever[i] * fabs(s->c[i]);
        most = x > most ? x : most;
    }
    carom_problem_scale(s, carom_norm_max(s->c, pb->n) < HUGE_VAL ? &most : s->c, 1);
}

carom_status carom_problem_run(carom_step *s, const int *id) {
    carom_problem *pb = &s->problem;
    if (pb->n == 0) return CAROM_OK;
    if (!pb->G && !pb->rows && !pb->parts)
        return carom_fail(s->err, CAROM_NO_MEMORY, "t = %.9g: too many of %d contacts act on the same body", s->t,
                          pb->nb);
    const bool rigid = is_rigid(s, pb);
    if (rigid) scale_joints(s, pb);
    else weigh(s, id, false), carom_problem_scale(s, pb->c, pb->n);
    pb->lever = rigid ? s->inside->row_lever : NULL;
    pb->acceptable =
        fmax(s->inside->solved * s->scale, carom_acceptable(s->inside) * s->contact.scale); // (TOL-5)
    carom_chain_set_prox(s->inside->chain, &s->inside->prox);
    carom_chain_set_choice(s->inside->chain, s->inside->choice);
    carom_report r = solve(s, pb, id);
    pb->lever = NULL;
    const bool again = rigid && !r.converged; // by others, which ask for units
    if (again) weigh(s, id, false), r = solve(s, pb, id);
    if (!rigid || again) weigh(s, id, true);
    carom_counts *counts = s->counts;
    counts->problems += 1;
    counts->iterations += r.iterations;
    carom_factored(s, pb->n);
    s->inside->multiplied += (double)r.iterations * pb->n * pb->n;
    counts->fallbacks += r.fallbacks;
    s->contact.last = 0;
    if (!r.converged && r.residual <= s->inside->solved * s->scale) s->contact.last = r.residual; // (TOL-2)
    else if (!r.converged && !accepted(s, r.residual, s->contact.scale)) return refuse(s, &r, id);
    if (r.residual > counts->residual) {
        counts->residual = r.residual;
        counts->residual_id = id[r.worst_block];
    }
    return CAROM_OK;
}

carom_traces carom_problem_traces(const carom_step *s) {
    return (carom_traces){.scale = s->scale,
                          .step_scale = s->contact.scale,
                          .most = s->contact.most,
                          .residual = s->counts->residual,
                          .residual_id = s->counts->residual_id};
}

void carom_problem_take_back(carom_step *s, const carom_traces *before) {
    s->scale = before->scale;
    s->contact.scale = before->step_scale;
    s->contact.most = before->most;
    s->counts->residual = before->residual;
    s->counts->residual_id = before->residual_id;
}

bool carom_problem_met(carom_step *s, const int *id, double rounding) {
    const carom_problem *pb = &s->problem;
    if (pb->n == 0) return true;
    carom_copy(s->u, s->c, pb->n);
    for (int b = 0; b < pb->nb; ++b) // (LV-4)
        if (id[b] < s->sys->ne) s->u[pb->block[b].at] *= s->inside->row_lever[id[b]];
    const double residual = carom_residual_at(pb, NULL);
    // (CP-10), but c is what is left of U
    return residual <= fmax(fmax(s->tol * s->scale, rounding), 2 * s->contact.last) ||
           (residual <= CAROM_EXCUSED * s->contact.scale && residual <= carom_rounding(pb));
}

void carom_problem_react(carom_step *s, double *v, double a, const double *p, int rows) {
    carom_delassus_react(&s->inside->delassus, v, a, p, rows, s->inside->team);
}

void carom_problem_apply(carom_step *s, double *v, double a) { carom_problem_react(s, v, a, s->p, s->problem.n); }
