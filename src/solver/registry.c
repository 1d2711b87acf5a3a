// registry.c: the list of solvers, from solvers.def.
#include "contact/residual.h"
#include "solver/solvers.h"
#include <string.h>

static const carom_solver *const list[] = {
#define CAROM_SOLVER(table, name) &table,
#include "solver/solvers.def"
#undef CAROM_SOLVER
};

enum { COUNT = sizeof list / sizeof *list };

const carom_solver *carom_solver_at(int i) {
    return i >= 0 && i < COUNT ? list[i] : NULL;
}

const carom_solver *carom_solver_find(const char *name) {
    for (int i = 0; name && i < COUNT; i++)
        if (strcmp(list[i]->name, name) == 0) return list[i];
    return NULL;
}

bool carom_solver_fits(const carom_solver *s, const carom_problem *pb) {
    const carom_kind kind = carom_problem_kind(pb);
    return (pb->G || s->sparse) && (pb->parts || !s->parts) && (kind.laws & ~s->laws) == 0 &&
           (s->max_blocks == 0 || kind.unilateral <= s->max_blocks) && (s->max_rows == 0 || pb->n <= s->max_rows);
}

carom_report carom_solver_solve(const carom_solver *s, void *work, carom_problem *pb, double tol) {
    int worst;
    const int iterations = s->solve(work, pb, tol).iterations;
    double residual = carom_residual(pb, &worst);
    if (s->refine && residual > CAROM_AIM * tol && s->refine(work, pb)) residual = carom_residual(pb, &worst);
    return (carom_report){.converged = carom_solved(pb, residual, tol),
                          .iterations = iterations,
                          .residual = residual,
                          .worst_block = worst,
                          .solver = s->name};
}
