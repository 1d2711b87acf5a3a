// form.c: the Delassus operator (DLS-1) of a step's contact problem, and velocities from its reactions.
#include "scheme/inside.h"
#include "scheme/step.h"
#include "solver/solvers.h"

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

// The problem of an operator that is not dense.  Blocks of G were made at once where the chain of solvers begins with
// one that needs them.
static void present_parts(carom_step *s, bool formed, bool blocks) {
    carom_delassus *d = &s->inside->delassus;
    s->problem.G = NULL;
    s->problem.team = s->inside->team;
    s->problem.rows = formed && blocks ? &d->parts.rows : NULL;
    s->problem.parts = formed && d->symmetric ? &d->parts.parts : NULL;
    s->problem.assemble = formed && !blocks ? assemble : NULL;
    s->problem.assembly = d;
}

void carom_problem_form_as(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a,
                           long number) {
    carom_delassus *d = &s->inside->delassus;
    carom_delassus_way way = {.formed = number, .team = s->inside->team};
    carom_problem_blocks(s, L);
    s->inside->a = a;
    if (d->parts.blocks) {
        const double enough = fmax(s->inside->solved, carom_acceptable(s->inside, L->at[L->nb]));
        way.blocks = L != Lf || !carom_chain_loose(L->at[L->nb], enough, 1);
        way.parts = carom_chain_by_parts(s->inside->chain);
    } else {
        way.narrow = L->nb == s->sys->ne && !carom_chain_chosen(s->inside->chain); // joints alone, which need no more
        way.kept = d->keeps && F->ready && carom_responses_begin(&d->keep, s) == CAROM_OK;
    }
    const bool formed = carom_delassus_form(d, L, Lf, F, a, way); // if not, nothing can solve it
    s->problem.ld = d->ld;
    s->problem.first = d->first;
    s->problem.symmetric = d->symmetric && (d->storage == CAROM_BY_PRODUCTS || d->storage == CAROM_BY_PARTS);
    if (!d->dense) present_parts(s, formed, way.blocks);
}

void carom_problem_react(carom_step *s, double *v, double a, const double *p, int rows) {
    carom_delassus_react(&s->inside->delassus, v, a, p, rows, s->inside->team);
}

void carom_problem_apply(carom_step *s, double *v, double a) { carom_problem_react(s, v, a, s->p, s->problem.n); }
