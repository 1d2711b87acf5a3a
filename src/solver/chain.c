// chain.c: one solver after the other until the certificate is good enough.
//
// Spec: docs/solvers.md, "The chain".  The order depends on laws and size, and where two solvers may go
// first on the work that they took in this run (choice.c), so a run is reproducible.  All solvers share one piece of
// memory, since only one works at a time.  They see contacts alone: joints are eliminated before (border.c), but where
// G is sparse and S would not be.
#include "base/pages.h"
#include "contact/operator.h"
#include "contact/residual.h"
#include "solver/border.h"
#include "solver/choice.h"
#include <assert.h>
#include <stdalign.h>

// END: of a list
enum { DIRECT, JOINTS, ENUMERATE, LEMKE, NEWTON, GAUSS_SEIDEL, PROX, HYBRID, BODIES, HOMOTOPY, COUNT, END = -1 };

static const carom_solver *const solvers[COUNT] = {
    [DIRECT] = &carom_solver_direct,             [JOINTS] = &carom_solver_joints, [ENUMERATE] = &carom_solver_enumerate,
    [LEMKE] = &carom_solver_lemke,               [NEWTON] = &carom_solver_newton, [PROX] = &carom_solver_prox,
    [GAUSS_SEIDEL] = &carom_solver_gauss_seidel, [HYBRID] = &carom_solver_hybrid,
    [BODIES] = &carom_solver_bodies,             [HOMOTOPY] = &carom_solver_homotopy,
};

struct carom_chain {
    int n, nb; // largest problem
    int rigid; // joints of the largest one
    carom_choice *choice; // NULL: none
    const carom_solver *first;
    void *first_work;
    double *best;  // n
    double *kept;  // n: the answer with joints, or without
    double *dense; // view of a G that is given by blocks, up to CAROM_DENSE_ROWS rows
    carom_border border;
    void *shared;  // memory of the solvers, and its size
    size_t shared_size;
    alignas(64) unsigned char work[COUNT][CAROM_SOLVER_WORK];
};

// Orders.  Newton after Gauss-Seidel starts from its answer and finishes what that began.  The homotopy starts from
// none of them: where the best one has ended, the others may be trapped, too.  Newton finishes what dependent contacts
// leave.
static const signed char ONE[] = {DIRECT, NEWTON, ENUMERATE, HYBRID, GAUSS_SEIDEL, NEWTON, PROX, HOMOTOPY, NEWTON, END};
static const signed char RIGID[] = {JOINTS, HYBRID, PROX, END};
static const signed char SMOOTH_FEW[] = {LEMKE,  NEWTON, ENUMERATE, HYBRID, GAUSS_SEIDEL,
                                         NEWTON, PROX,   HOMOTOPY,  NEWTON, END};
static const signed char SMOOTH_MANY[] = {NEWTON, LEMKE, NEWTON,   HYBRID, GAUSS_SEIDEL,
                                          NEWTON, PROX,  HOMOTOPY, NEWTON, END};
static const signed char RUBBING[] = {NEWTON, ENUMERATE, HYBRID, GAUSS_SEIDEL, NEWTON, PROX, HOMOTOPY, NEWTON, END};
static const signed char LOOSE[] = {BODIES, HYBRID, NEWTON, LEMKE, GAUSS_SEIDEL, PROX, END};
static const signed char TURNED[] = {HYBRID, BODIES, HYBRID, NEWTON, LEMKE, GAUSS_SEIDEL, PROX, END};
static const signed char SPARSE[] = {HYBRID, NEWTON, LEMKE, GAUSS_SEIDEL, PROX, END};

// Rows from which on the hybrid is the fastest on piles: with friction, without.  Dense factors of dependent contacts
// take n^3 again and again: 12 spheres at rest take up to 17 times as long with `newton` first.
enum { RUBBING_ROWS = CAROM_FEW_ROWS, SMOOTH_ROWS = 300, DENSE_ROWS = 1500 };

static bool warm(const carom_problem *pb) {
    for (int i = 0; i < pb->n; i++)
        if (pb->p[i] != 0) return true;
    return false;
}

static const double MOST = 0.8; // three boxes on each other meet in 0.78

// Do blocks meet fewer than most of the others?  Judged by normal directions alone where G is dense.
static bool sparse(const carom_problem *pb) {
    const double most = MOST * (double)pb->nb * pb->nb;
    double meet = 0;
    if (pb->rows) return pb->rows->start[pb->nb] < most;
    for (int j = 0; j < pb->nb; j++) {
        const double *column = pb->G + (size_t)pb->block[j].at * (size_t)pb->ld;
        for (int i = 0; i < pb->nb; i++) meet += column[pb->block[i].at] != 0;
    }
    return meet < most;
}

enum { LARGE = 700 }; // contacts from which on the memory of a solver is given back before the next one
static const double TIGHT = 3e-5; // relative to the largest |c|: below it Newton's method wins

bool carom_chain_chosen(const carom_chain *chain) { return !chain || chain->first; }

bool carom_chain_by_parts(const carom_chain *chain) { return chain && chain->first && chain->first->parts; }

static double largest_velocity(const carom_problem *pb) {
    double size = 0;
    for (int i = 0; i < pb->n; i++) size = fmax(size, fabs(pb->c[i]));
    return size;
}

static bool loose(const carom_problem *pb, double tol) {
    return pb->parts && pb->n > RUBBING_ROWS && fmax(tol, pb->acceptable) >= TIGHT * largest_velocity(pb);
}

static const signed char *order(carom_problem *pb, carom_kind k, double tol) {
    if (loose(pb, tol) || !carom_problem_rows(pb)) return LOOSE;
    if (k.friction == 0) {
        if (k.unilateral == 0) return RIGID;
        if (k.unilateral <= 2) return ONE;
        if (pb->n > SMOOTH_ROWS && sparse(pb)) return SPARSE;
        return k.unilateral <= 20 && !warm(pb) ? SMOOTH_FEW : SMOOTH_MANY;
    }
    if (pb->nb == 1) return ONE;
    return pb->n > DENSE_ROWS || (pb->n > RUBBING_ROWS && sparse(pb)) ? SPARSE : RUBBING;
}

// Orders that begin with G by blocks or by bodies.
static bool by_blocks(const signed char *next) { return next == LOOSE || next == SPARSE; }

static int largest(const carom_solver *s, int n, int rigid) {
    if (s->laws == 1u << CAROM_BILATERAL && rigid < n) n = rigid > DENSE_ROWS ? rigid : n < DENSE_ROWS ? n : DENSE_ROWS;
    return s->max_rows > 0 && n > s->max_rows ? s->max_rows : n;
}

static bool fits(const carom_chain *chain, const carom_solver *s, const carom_problem *pb, carom_kind k) {
    if (!s || (!pb->G && !s->sparse) || (s->parts ? !pb->parts : !pb->G && !pb->rows)) return false;
    if (carom_problem_narrow(pb) && s != &carom_solver_joints) return false;
    return (k.laws & ~s->laws) == 0 && (s->max_blocks == 0 || k.unilateral <= s->max_blocks) &&
           pb->n <= largest(s, chain->n, chain->rigid);
}

// Allocate one solver into the shared piece that starts at `mark`; *top is the end of the longest.
static void allocate_one(const carom_solver *s, void *work, carom_arena *mem, size_t mark, size_t *top, int n, int nb,
                         int rigid) {
    assert(s->work_size <= CAROM_SOLVER_WORK);
    mem->used = mark;
    s->allocate(work, mem, largest(s, n, rigid), nb);
    if (mem->used > *top) *top = mem->used;
}

carom_chain *carom_allocate_chain(carom_arena *mem, int n, int nb, int rigid, const carom_solver *first) {
    alignas(64) unsigned char scratch[CAROM_SOLVER_WORK];
    carom_chain *chain = carom_allocate_bytes(mem, sizeof(carom_chain));
    double *best = carom_allocate(mem, (size_t)n), *kept = carom_allocate(mem, (size_t)n);
    const size_t view = n < CAROM_DENSE_ROWS ? (size_t)n : CAROM_DENSE_ROWS;
    double *dense = carom_allocate(mem, view * view);
    void *first_work = carom_allocate_bytes(mem, CAROM_SOLVER_WORK);
    carom_border aside;
    carom_allocate_border(chain ? &chain->border : &aside, mem, n, rigid);
    const size_t mark = mem->used;
    size_t top = mark;
    for (int i = 0; i < COUNT; i++)
        allocate_one(solvers[i], chain ? chain->work[i] : scratch, mem, mark, &top, n, nb, rigid);
    if (first) allocate_one(first, chain ? first_work : scratch, mem, mark, &top, n, nb, rigid);
    mem->used = top;
    if (!chain) return NULL;
    chain->n = n;
    chain->nb = nb;
    chain->rigid = rigid;
    chain->choice = NULL;
    chain->first = first;
    chain->first_work = first_work;
    chain->best = best;
    chain->kept = kept;
    chain->dense = dense;
    chain->shared = mem->base + mark;
    chain->shared_size = top - mark;
    return chain;
}

// What a solver has left behind in the piece that all share.  Each puts its vectors elsewhere, and factors of large
// problems take much: the memory of all of them at once would be used from then on.
static void tidy(const carom_chain *chain, const carom_problem *pb) {
    if (pb->nb > LARGE) carom_chain_forget(chain);
}

void carom_chain_forget(const carom_chain *chain) { carom_forget(chain->shared, chain->shared_size); }

// (SOL-28)  What `hybrid` aims at where it may stop much earlier, relative to the largest |c|.  Newton's method gains
// the last digits in one or two iterations, and contacts that rest start from them in the next step; with answers of
// 1e-3 they never come to rest.
static const double PRECISE = 1e-8;

static double precise_aim(const carom_problem *pb) { return PRECISE * largest_velocity(pb); }

// (SOL-32)  Does the start stand as `hybrid` would leave it, at half of what is asked for?  One product tells before
//           blocks of G are made or gathered, which cost more.
static bool start_stands(carom_problem *pb, double tol, carom_report *report) {
    const double target = CAROM_AIM * tol * (pb->improve ? CAROM_IMPROVED : 1);
    int worst;
    if (pb->rows || !(pb->G ? pb->n > RUBBING_ROWS && !carom_problem_narrow(pb) : pb->parts && pb->assemble))
        return false;
    const double residual = carom_residual(pb, &worst);
    if (residual <= target)
        *report = (carom_report){.converged = true, .residual = residual, .worst_block = worst, .solver = "hybrid"};
    return residual <= target;
}

static carom_report solve_hybrid(carom_chain *chain, carom_problem *pb, double tol) {
    const double enough = pb->acceptable, precise = precise_aim(pb);
    pb->acceptable = fmin(enough, fmax(tol, precise)); // below it stagnation ends its work
    carom_report report = carom_solver_solve(&carom_solver_hybrid, chain->work[HYBRID], pb, fmin(tol, precise));
    pb->acceptable = enough;
    report.converged = carom_solved(pb, report.residual, tol);
    return report;
}

// The slow road: the solver that went first has failed with `report`.
static carom_report go_on(carom_chain *chain, carom_problem *pb, double tol, const signed char *next, carom_kind kind,
                          carom_report report) {
    const int n = pb->n;
    const bool rough =
        chain->choice && pb->acceptable > tol && loose(pb, tol); // no more is asked of those that help out
    carom_report best = report;
    int tried = report.fallbacks + 1, iterations = report.iterations, worst;
    int gains = 0, since[COUNT]; // gains of all solvers when each one last ended, from where it would get no farther;
                                 // -1: it has not run
    for (int k = 0; k < COUNT; k++) since[k] = solvers[k] == chain->first ? 0 : -1;
    for (int i = 0; i < n; i++) chain->best[i] = pb->p[i];

    // The certificate of p = 0 is infinite only when the problem itself holds something that is not a number: then so
    // is that of every p, and the report has it.
    for (int i = 0; i < n; i++) pb->p[i] = 0;
    const double rest = carom_residual(pb, &worst);
    if (!(rest < INFINITY)) {
        best.worst_block = worst;
        return best;
    }
    if (!(best.residual < rest)) {
        best.residual = rest;
        best.worst_block = worst;
        for (int i = 0; i < n; i++) chain->best[i] = 0;
    }
    for (; *next != END && !best.converged; next++) {
        const carom_solver *s = solvers[*next];
        if (pb->acceptable > 0 && best.residual <= pb->acceptable) break;
        if (!s->parts) carom_problem_rows(pb);
        if (since[*next] == gains || !fits(chain, s, pb, kind)) continue;
        for (int i = 0; i < n; i++) pb->p[i] = chain->best[i];
        tidy(chain, pb);
        report = carom_solver_solve(s, chain->work[*next], pb, rough ? pb->acceptable : tol);
        if (rough) report.converged = carom_solved(pb, report.residual, tol);
        report.fallbacks = tried++;
        iterations += report.iterations;
        if (report.converged || report.residual < best.residual) {
            best = report;
            gains++;
            for (int i = 0; i < n; i++) chain->best[i] = pb->p[i];
        }
        since[*next] = gains;
    }
    tidy(chain, pb);
    for (int i = 0; i < n; i++) pb->p[i] = chain->best[i];
    best.residual = carom_residual(pb, &best.worst_block);
    best.fallbacks = best.converged ? best.fallbacks : tried - 1;
    best.iterations = iterations;
    return best;
}

// A dense view of a G that is narrow or given by blocks, for solvers that need it.
static carom_problem *expand(carom_chain *chain, carom_problem *pb, carom_problem *view) {
    const bool narrow = carom_problem_narrow(pb);
    if ((pb->G && !narrow) || pb->n > CAROM_DENSE_ROWS || !carom_problem_rows(pb)) return pb;
    *view = *pb;
    if (narrow) carom_problem_copy(pb, chain->dense, pb->n);
    else carom_problem_expand(pb, chain->dense, pb->n);
    view->G = chain->dense;
    view->ld = pb->n > 0 ? pb->n : 1;
    return view;
}

static const double LOOK = 100; // work of (SOL-32) for each contact, ns

// The solver in use, or the other one on trial; the rest of the order in *next.
static carom_report by_choice(carom_chain *chain, carom_problem *pb, double tol, const signed char **next) {
    const carom_allowance turn = carom_choice_next(chain->choice, pb->nb, tol < pb->acceptable);
    const bool hybrid = turn.who == CAROM_BY_HYBRID;
    carom_report report = {.residual = INFINITY, .worst_block = -1, .fallbacks = -1, .solver = "none"};
    double work = 0;
    *next = (hybrid ? TURNED : LOOSE) + 1;
    if (!hybrid) {
        carom_bodies_limit(chain->work[BODIES], turn.limit);
        report = carom_solver_solve(&carom_solver_bodies, chain->work[BODIES], pb, fmax(tol, pb->acceptable));
        report.converged = carom_solved(pb, report.residual, tol);
        carom_bodies_limit(chain->work[BODIES], INFINITY);
        work = carom_bodies_spent(chain->work[BODIES]);
    } else if (start_stands(pb, fmin(tol, precise_aim(pb)), &report)) {
        work = LOOK * pb->nb;
    } else if (carom_problem_rows(pb)) { // else there is no room for them
        carom_hybrid_limit(chain->work[HYBRID], turn.limit);
        report = solve_hybrid(chain, pb, tol);
        carom_hybrid_limit(chain->work[HYBRID], INFINITY);
        work = carom_hybrid_spent(chain->work[HYBRID]);
    }
    const bool solved = report.converged || report.residual <= pb->acceptable;
    if (!solved && turn.limit < INFINITY) report.fallbacks = -1; // a trial, which does not count
    carom_choice_learn(chain->choice, turn, pb->nb, work, solved);
    return report;
}

// Any order, from its first solver that fits.
static carom_report in_order(carom_chain *chain, carom_problem *given, double tol) {
    carom_problem view, *pb = given;
    const carom_kind kind = carom_problem_kind(pb);
    carom_report stands;
    // joints alone are no problem for a solver of contacts
    const carom_solver *first = kind.unilateral > 0 || fits(chain, chain->first, pb, kind) ? chain->first : NULL;
    if (!first && kind.friction > 0 && !loose(pb, tol) && start_stands(pb, tol, &stands)) return stands;
    const signed char *next = order(pb, kind, tol);
    const double enough = given->acceptable;
    if (!by_blocks(next)) given->acceptable = 0; // (TOL-5): solvers of dense matrices cost little, all are tried
    if (first && !first->parts) carom_problem_rows(pb);
    if (!carom_problem_narrow(pb) && !(first ? first : solvers[*next])->sparse)
        pb = expand(chain, pb, &view);
    carom_report report = {.residual = INFINITY, .worst_block = -1, .fallbacks = -1, .solver = "none"};
    if (first) {
        report.fallbacks = 0;
        if (fits(chain, first, pb, kind)) report = carom_solver_solve(first, chain->first_work, pb, tol);
    } else if (next == LOOSE && chain->choice && (kind.laws & ~carom_solver_bodies.laws) == 0) {
        report = by_choice(chain, pb, tol, &next);
    } else {
        while (!fits(chain, solvers[*next], pb, kind)) next++;
        report = carom_solver_solve(solvers[*next], chain->work[*next], pb, tol);
        next++;
    }
    if (!report.converged && !(given->acceptable > 0 && report.residual <= given->acceptable))
        report = go_on(chain, expand(chain, pb, &view), tol, next, kind, report);
    given->acceptable = enough;
    return report;
}

// One contact, or two without friction, most problems of small models: the order is ONE, and its first solver fits.
static bool by_formula(const carom_problem *pb) {
    const carom_block *b = pb->block;
    if (!pb->G || pb->nb < 1 || pb->nb > 2 || b->law == CAROM_BILATERAL) return false;
    return pb->nb == 1 || (!carom_has_friction(b) && !carom_has_friction(b + 1));
}

void carom_chain_set_choice(carom_chain *chain, carom_choice *choice) { chain->choice = choice; }

void carom_chain_set_prox(carom_chain *chain, const carom_prox_rule *rule) {
    carom_prox_set(chain->work[PROX], rule);
    if (chain->first == &carom_solver_prox) carom_prox_set(chain->first_work, rule);
}

// (SOL-31)  Impulses that took away what earlier steps had left in the velocities leave as much in the next step.  Were
//           that accepted again, every second step would have to be solved, at any tolerance.  So what follows work is
//           made better than it need be, once, and the steps after it begin with impulses that leave nothing.
static carom_report solve(carom_chain *chain, carom_problem *pb, double tol) {
    const bool direct = !chain->first && by_formula(pb);
    carom_report report; // returned by every way: it is made where the caller wants it, and not copied
    pb->improve = chain->choice && chain->choice->worked;
    if (direct) report = carom_solver_solve(solvers[DIRECT], chain->work[DIRECT], pb, tol);
    else report = in_order(chain, pb, tol);
    if (direct && !report.converged) {
        const double enough = pb->acceptable;
        pb->acceptable = 0; // (TOL-5)
        report = go_on(chain, pb, tol, ONE + 1, carom_problem_kind(pb), report);
        pb->acceptable = enough;
    }
    if (chain->choice) chain->choice->worked = report.iterations > 0;
    return report;
}

static bool holds(const carom_problem *pb, const carom_report *r) {
    return r->converged || r->residual <= pb->acceptable;
}

// (SOL-30)  Contacts alone.
static carom_report solve_contacts(carom_chain *chain, carom_problem *given, double tol) {
    carom_border *w = &chain->border;
    carom_problem view, *pb = expand(chain, given, &view);
    carom_report report = {.residual = INFINITY, .worst_block = -1, .solver = "none"};
    if (!carom_border_split(w, pb)) return report;
    report = solve(chain, &w->contacts, tol);
    report.residual = carom_border_join(w, pb, tol, &report.worst_block);
    report.converged = carom_solved(pb, report.residual, tol);
    return report;
}

static bool has_joints(const carom_problem *pb) {
    for (int b = 0; b < pb->nb; b++)
        if (pb->block[b].law == CAROM_BILATERAL) return true;
    return false;
}

carom_report carom_chain_solve(carom_chain *chain, carom_problem *pb, double tol) {
    assert(pb->n <= chain->n && pb->nb <= chain->nb);
    if (carom_problem_joints(pb) == pb->nb || !has_joints(pb)) return solve(chain, pb, tol);
    const carom_kind kind = carom_problem_kind(pb);
    const bool whole = !carom_border_pays(pb, kind.bilateral) && by_blocks(order(pb, kind, tol));
    const carom_report report = whole ? solve(chain, pb, tol) : solve_contacts(chain, pb, tol);
    if (holds(pb, &report)) return report;
    for (int i = 0; i < pb->n; i++) chain->kept[i] = pb->p[i];
    carom_report other = whole ? solve_contacts(chain, pb, tol) : solve(chain, pb, tol);
    if (other.residual < report.residual) return other;
    for (int i = 0; i < pb->n; i++) pb->p[i] = chain->kept[i];
    other = report;
    other.residual = carom_residual(pb, &other.worst_block);
    return other;
}
