// direct.c: one or two contacts by formula.
//
// Spec: docs/solvers.md, "direct".  Frictionless: one or two contacts.  With friction: one contact.
// Anything else is refused at once.
#include "contact/law.h"
#include "linalg/dense.h"
#include "solver/local.h"

static const double DEPENDENT = 1e-13; // determinant of two contacts that are one, relative

// (SOL-4)  Two contacts without friction: the four sets in the order none, both, first, second.  i, j are the
// normal rows, p = 0 on entry.
static bool pair(const carom_problem *pb, int i, int j, double tol) {
    const double *G = pb->G, *c = pb->c;
    const size_t ld = (size_t)pb->ld;
    const double a = G[i + i * ld], b = G[i + j * ld], e = G[j + i * ld], d = G[j + j * ld];
    double *p = pb->p;
    if (c[i] >= 0 && c[j] >= 0) return true;
    double x, y;
    if (a > 0 && d > 0 && carom_dense_two(a, b, e, d, -c[i], -c[j], DEPENDENT, &x, &y) && x >= 0 && y >= 0) {
        p[i] = x;
        p[j] = y;
        return true;
    }
    if (c[i] < 0 && a > 0 && c[j] - e / a * c[i] >= -tol) {
        p[i] = -c[i] / a;
        return true;
    }
    if (c[j] < 0 && d > 0 && c[i] - b / d * c[j] >= -tol) {
        p[j] = -c[j] / d;
        return true;
    }
    return false;
}

static bool single(const carom_problem *pb, int i) {
    const double a = carom_diagonal(pb, i), c = pb->c[i];
    pb->p[i] = c < 0 && a > 0 ? -c / a : 0; // (SOL-5)  p = max(0, -c / G)
    return c >= 0 || a > 0;
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    (void)work;
    bool done = false;
    if (pb->nb == 1) {
        const carom_block *b = pb->block;
        if (!carom_has_friction(b)) {
            done = single(pb, 0);
            for (int i = 1; i < pb->n; i++) pb->p[i] = 0;
        } else {
            carom_local_friction(pb->G, pb->ld, pb->c, pb->n - 1, b->mu, CAROM_SLIP_EXACT, pb->p);
            done = true;
        }
    } else if (pb->nb == 2) {
        const carom_block *b = pb->block, *k = b + 1;
        if (carom_has_friction(b) || carom_has_friction(k)) return (carom_report){.converged = false};
        for (int i = 0; i < pb->n; i++) pb->p[i] = 0;
        done = pair(pb, b->at, k->at, CAROM_AIM * tol);
    }
    return (carom_report){.converged = done, .iterations = 1};
}

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    (void)work, (void)mem, (void)n, (void)nb;
}

const carom_solver carom_solver_direct = {
    .name = "direct",
    .about = "one or two contacts by formula",
    .laws = CAROM_CONTACT_LAWS,
    .max_blocks = 2,
    .work_size = 1,
    .allocate = allocate,
    .solve = solve,
};
