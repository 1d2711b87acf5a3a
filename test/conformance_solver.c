// Every solver on every problem that it can do.
//
// The judge is the certificate alone.  Exact solvers must reach rounding; the iterative ones must reach 1e-7 on
// problems that are well conditioned, and on the others must end with finite numbers and an honest report.
#define _DEFAULT_SOURCE // mmap
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// cmocka wants the three above first
#include "contact/residual.h"
#include "problems.h"
#include "solver/solvers.h"
#include <cmocka.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

// -- problems ----------------------------------------------------------------------------------------------------

// A rigid block (x, y, angle) of half size a x b: normal and tangential directions of corners on the floor or ceiling.
static void corner(double *W, int dof, int at, double side, double up, double a, double b, bool friction) {
    double *n = W + (size_t)at * dof, *t = n + dof;
    n[0] = 0, n[1] = up, n[2] = up * side * a; // gap rate of a corner at (side a, -up b)
    if (friction) t[0] = 1, t[1] = 0, t[2] = up * b;
}

// Four corners of a block between floor and ceiling: 4 or 8 rows, 3 degrees of freedom.  ceiling 0: two corners, twice
// each (a doubled floor: four dependent contacts on one side).
static contact_problem block(carom_law law, double mu, bool ceiling) {
    const int rows = carom_law_rows(law), n = 4 * rows;
    contact_problem x = problem_create(n, 4);
    double W[3 * 8] = {0};
    const double w[3] = {2, 2, 6}, v[3] = {0.7, ceiling ? 0 : -1, 0.02};
    for (int k = 0; k < 4; k++)
        corner(W, 3, problem_add(&x, law, mu), k % 2 ? 1 : -1, ceiling && k > 1 ? -1 : 1, 1, 0.5, rows == 2);
    problem_from_directions(&x, 3, W, W, w, v);
    return x;
}

static contact_problem four_corners(carom_law law, double mu) { return block(law, mu, false); }

static contact_problem bar_in_slot(carom_law law, double mu) { return block(law, mu, true); }

// A hinge counted twice, a guide and contacts, on two bodies: redundant bilateral rows.
static contact_problem redundant_joints(carom_law law, double mu) {
    contact_problem x = problem_create(12, 8);
    const int dof = 6;
    double W[12 * 6] = {0}, w[6] = {1, 1, 3, 2, 2, 5}, v[6] = {0.3, -1, 0.5, -0.2, -0.7, 0.4};
    for (int k = 0; k < 4; k++) { // x and y of the hinge, then the same again
        double *y = W + (size_t)problem_add(&x, CAROM_BILATERAL, 0) * dof;
        y[k % 2] = 1, y[3 + k % 2] = -1;
        y[2] = k % 2 ? 1 : 0.2, y[5] = k % 2 ? 0.7 : -0.3;
    }
    for (int k = 0; k < 3; k++) {
        const int at = problem_add(&x, law, mu);
        double *y = W + (size_t)at * dof;
        y[3 * (k % 2) + 1] = 1, y[3 * (k % 2) + 2] = k - 0.8;
        if (carom_law_rows(law) == 2) y[dof + 3 * (k % 2)] = 1, y[dof + 3 * (k % 2) + 2] = 0.4;
    }
    problem_from_directions(&x, dof, W, W, w, v);
    return x;
}

// G = A' M^-1 W with A a little off W, as in the first stage of a half-explicit step.
static contact_problem nonsymmetric(carom_law law, double mu) {
    const int blocks = 4, n = blocks * carom_law_rows(law);
    contact_problem x = problem_create(n, blocks);
    for (int k = 0; k < blocks; k++) problem_add(&x, law, mu);
    enum { MOST = 4 * (1 + CAROM_TANGENTS) };
    double A[MOST * MOST], W[MOST * MOST], w[MOST], v[MOST];
    uint64_t seed = 31;
    for (int i = 0; i < n * n; i++) {
        W[i] = symmetric_uniform(&seed) + (i % (n + 1) == 0 ? 3 : 0);
        A[i] = W[i] + 0.05 * symmetric_uniform(&seed);
    }
    for (int i = 0; i < n; i++) w[i] = 0.5 + uniform(&seed), v[i] = symmetric_uniform(&seed);
    problem_from_directions(&x, n, A, W, w, v);
    return x;
}

// A contact that no impulse can move, already opening: G = 0, c >= 0.
static contact_problem immovable(carom_law law, double mu) {
    contact_problem x = problem_random(3, (int)law, mu, 1, 17);
    const int at = x.block[1].at;
    for (int r = 0; r < carom_law_rows(law); r++)
        for (int i = 0; i < x.pb.n; i++) PROBLEM_G(&x, at + r, i) = PROBLEM_G(&x, i, at + r) = 0;
    x.c[at] = 0.5;
    return x;
}

static contact_problem three_random(carom_law law, double mu) { return problem_random(3, (int)law, mu, 0.3, 101); }

static contact_problem two_random(carom_law law, double mu) { return problem_random(2, (int)law, mu, 0.3, 1033); }

static contact_problem one_random(carom_law law, double mu) {
    contact_problem x = problem_random(1, (int)law, mu, 0.3, 977);
    x.c[0] = -0.8;
    return x;
}

static contact_problem small_pile(carom_law law, double mu) { return problem_pile(5, 5, law, mu, 4242); }

static contact_problem hyperstatic_pile(carom_law law, double mu) { return problem_pile(6, 2, law, mu, 4243); }

static contact_problem mixed(carom_law law, double mu) {
    (void)law;
    return problem_random(7, -1, mu, 0.3, 5);
}

// A joint, a frictionless contact, and contacts with one to five tangents.
static contact_problem all_laws(carom_law law, double mu) {
    (void)law;
    contact_problem x = problem_random(7, CAROM_BALL_5, fmin(mu, 0.3), 0.3, 51);
    for (int b = 0, at = 0; b < 7; at += carom_law_rows(x.block[b++].law))
        x.block[b].law = (carom_law)b, x.block[b].at = at;
    x.pb.n = 1 + 1 + 2 + 3 + 4 + 5 + 6;
    return x;
}

typedef struct {
    const char *name;
    contact_problem (*make)(carom_law law, double mu);
    bool regular; // well conditioned: the iterative solvers must solve it too
    bool planar;  // made for one tangential direction at most
} recipe;

static const recipe RECIPES[] = {
    {"one random contact", one_random, true, false},
    {"two random contacts", two_random, true, false},
    {"three random contacts", three_random, true, false},
    {"mixed laws", mixed, true, false},
    {"all laws", all_laws, true, false},
    {"small pile", small_pile, false, false},
    {"hyperstatic pile", hyperstatic_pile, false, false},
    {"four corners on a floor", four_corners, false, true},
    {"bar in a slot", bar_in_slot, false, true},
    {"redundant joints", redundant_joints, false, true},
    {"nonsymmetric", nonsymmetric, true, false},
    {"immovable contact", immovable, true, false},
};

typedef struct {
    const char *name;
    carom_law law;
    double mu;
} flavour;

static const flavour FLAVOURS[] = {
    {"frictionless", CAROM_UNILATERAL, 0},     {"planar", CAROM_PLANAR, 0.3},   {"planar, mu = 0", CAROM_PLANAR, 0},
    {"planar, mu = 1e6", CAROM_PLANAR, 1e6},   {"spatial", CAROM_SPATIAL, 0.3}, {"spatial, mu = 0", CAROM_SPATIAL, 0},
    {"spatial, mu = 1e6", CAROM_SPATIAL, 1e6}, {"spinning", CAROM_BALL_3, 0.3},  {"rolling", CAROM_BALL_4, 0.3},
    {"rolling and spinning", CAROM_BALL_5, 0.3}, {"rolling and spinning, mu = 0", CAROM_BALL_5, 0},
    {"rolling and spinning, mu = 3", CAROM_BALL_5, 3},
};

enum { NRECIPES = sizeof RECIPES / sizeof *RECIPES, NFLAVOURS = sizeof FLAVOURS / sizeof *FLAVOURS };

static bool iterative(const carom_solver *s) {
    return strcmp(s->name, "gauss-seidel") == 0 || strcmp(s->name, "prox") == 0;
}

// Is a friction coefficient of a million beyond it?  The hybrid solves independent contacts even so.
static bool tame(const carom_solver *s, bool regular) {
    return strcmp(s->name, "homotopy") == 0 || iterative(s) || (!regular && strcmp(s->name, "hybrid") == 0);
}

// Formulas know two contacts only without friction.
static bool can(const carom_solver *s, const carom_problem *pb) {
    if (!carom_solver_fits(s, pb)) return false;
    if (strcmp(s->name, "direct") != 0) return true;
    for (int b = 0; b < pb->nb; b++)
        if (pb->nb > 1 && pb->block[b].law >= CAROM_PLANAR && pb->block[b].mu > 0) return false;
    return true;
}

static carom_report run(const carom_solver *s, contact_problem *x, double tol) {
    solver_memory m = memory_for_solver(s, x->pb.n, x->pb.nb);
    const carom_report r = carom_solver_solve(s, m.work, &x->pb, tol);
    memory_free(&m);
    return r;
}

static bool finite_answer(const contact_problem *x) {
    for (int i = 0; i < x->pb.n; i++)
        if (!isfinite(x->p[i])) return false;
    return true;
}

// -- tests ---------------------------------------------------------------------------------------------------------

static void every_solver_solves_every_problem_it_can(void **state) {
    (void)state;
    int solved = 0;
    for (int i = 0; i < NRECIPES; i++)
        for (int f = 0; f < NFLAVOURS; f++) {
            if (RECIPES[i].planar && FLAVOURS[f].law >= CAROM_SPATIAL) continue;
            for (int k = 0; carom_solver_at(k); k++) {
                const carom_solver *s = carom_solver_at(k);
                contact_problem x = RECIPES[i].make(FLAVOURS[f].law, FLAVOURS[f].mu);
                if (can(s, &x.pb)) {
                    const bool slow = iterative(s), wild = FLAVOURS[f].mu > 1e3;
                    const bool must = !(wild && tame(s, RECIPES[i].regular)) && (RECIPES[i].regular || !slow);
                    const carom_report r = run(s, &x, slow ? 1e-7 : 1e-12);
                    if (must && !r.converged)
                        fail_msg("%s, %s: %s stops after %d iterations at %.2e", RECIPES[i].name, FLAVOURS[f].name,
                                 s->name, r.iterations, r.residual);
                    assert_true(finite_answer(&x));
                    assert_true(r.residual < 10); // all speeds are about 1
                    solved += r.converged;
                }
                problem_destroy(&x);
            }
        }
    assert_true(solved > 200);
}

// Impulses that pull, drive and rub where nothing does are no hindrance: what is solved from rest is solved from them,
// and a contact without friction ends without any.
static void a_bad_start_is_overcome(void **state) {
    (void)state;
    for (int i = 0; i < NRECIPES; i++)
        for (int f = 0; f < NFLAVOURS; f++) {
            if (RECIPES[i].planar && carom_law_rows(FLAVOURS[f].law) > 2) continue;
            for (int k = 0; carom_solver_at(k); k++) {
                const carom_solver *s = carom_solver_at(k);
                contact_problem x = RECIPES[i].make(FLAVOURS[f].law, FLAVOURS[f].mu);
                const double tol = iterative(s) ? 1e-7 : 1e-11;
                if (can(s, &x.pb) && run(s, &x, tol).converged) {
                    for (int j = 0; j < x.pb.n; j++) x.p[j] = 3 * sin(2 * j + 4);
                    if (!run(s, &x, tol).converged && RECIPES[i].regular && !(FLAVOURS[f].mu > 1e3 && tame(s, true)))
                        fail_msg("%s, %s: %s", RECIPES[i].name, FLAVOURS[f].name, s->name);
                    for (int b = 0; b < x.pb.nb; b++)
                        for (int r = 1; x.block[b].mu == 0 && r < carom_law_rows(x.block[b].law); r++)
                            assert_true(x.p[x.block[b].at + r] == 0);
                }
                problem_destroy(&x);
            }
        }
}

// Two contacts with the directions (1, s) and (1, -s) of a body of mass 1 that arrives with (-1, 0): each takes p =
// 1/(2 + 2 s^2), and nothing is left.  One alone would leave 2 s^2/(1 + s^2) = 2e-10 at the other.  The smaller pivot
// is 4 s^2 = 4e-10 of the larger one: far above rounding, so they are two.  With a third one that has nothing to do
// with them, and without.
static void nearly_dependent_contacts_are_two(void **state) {
    (void)state;
    const double s = 1e-5, W[9] = {1, s, 0, 1, -s, 0, 0, 0, 1}, w[3] = {1, 1, 1}, v[3] = {-1, 0, -1};
    int solved = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; carom_solver_at(k); k++) {
            const int n = 2 + i / 2;
            contact_problem x = problem_create(n, n);
            for (int b = 0; b < n; b++) problem_add(&x, i % 2 ? CAROM_UNILATERAL : CAROM_BILATERAL, 0);
            problem_from_directions(&x, 3, W, W, w, v);
            if (!iterative(carom_solver_at(k)) && can(carom_solver_at(k), &x.pb)) {
                const carom_report r = run(carom_solver_at(k), &x, 1e-12);
                if (!r.converged) fail_msg("%s leaves %g", carom_solver_at(k)->name, r.residual);
                // the velocities that tol leaves
                for (int j = 0; j < 2; j++) assert_true(fabs(x.p[j] - 1 / (2 + 2 * s * s)) <= 1e-12 / (2 * s * s));
                solved++;
            }
            problem_destroy(&x);
        }
    assert_true(solved >= 14);
}

static void a_refusal_is_told(void **state) {
    (void)state;
    contact_problem x = two_random(CAROM_PLANAR, 0.3);
    assert_false(carom_solver_find("direct")->solve(NULL, &x.pb, 1e-12).converged);
    assert_false(carom_solver_fits(carom_solver_find("lemke"), &x.pb));
    assert_false(carom_solver_fits(carom_solver_find("enumerate"), &(carom_problem){.n = 700, .G = x.G}));
    problem_destroy(&x);
}

// Without friction and with G semi-definite u is the same for all solutions.
static void velocities_agree_where_they_are_unique(void **state) {
    (void)state;
    for (int i = 0; i < NRECIPES; i++) {
        contact_problem x = RECIPES[i].make(CAROM_UNILATERAL, 0);
        if (!carom_solver_fits(carom_solver_find("lemke"), &x.pb)) { // mixed laws bring friction
            problem_destroy(&x);
            continue;
        }
        double u[64];
        assert_true(run(carom_solver_find("lemke"), &x, 1e-12).converged);
        memcpy(u, x.u, (size_t)x.pb.n * sizeof(double));
        for (int k = 0; carom_solver_at(k); k++) {
            const carom_solver *s = carom_solver_at(k);
            problem_cold(&x);
            if (!can(s, &x.pb)) continue;
            const carom_report r = run(s, &x, iterative(s) ? 1e-9 : 1e-12);
            // |u - u*|^2 <= C residual for semi-definite G, and better when it is definite.
            for (int j = 0; j < x.pb.n && r.converged; j++)
                if (fabs(u[j] - x.u[j]) > (iterative(s) ? 1e-3 : 1e-5))
                    fail_msg("%s: %s has u[%d] = %.12g, lemke %.12g", RECIPES[i].name, s->name, j, x.u[j], u[j]);
        }
        problem_destroy(&x);
    }
}

static void infeasible_problems_end_and_are_told(void **state) {
    (void)state;
    for (int f = 0; f < NFLAVOURS; f++)
        for (int k = 0; carom_solver_at(k); k++) {
            const carom_solver *s = carom_solver_at(k);
            for (int blocks = 1; blocks <= 4; blocks += 3) {
                contact_problem x = problem_random(blocks, (int)FLAVOURS[f].law, FLAVOURS[f].mu, 1, 17);
                const int at = x.block[blocks / 2].at; // no impulse moves this one, and it approaches
                for (int r = 0; r < carom_law_rows(FLAVOURS[f].law); r++)
                    for (int i = 0; i < x.pb.n; i++) PROBLEM_G(&x, at + r, i) = PROBLEM_G(&x, i, at + r) = 0;
                x.c[at] = -0.5;
                if (carom_solver_fits(s, &x.pb)) {
                    const carom_report r = run(s, &x, 1e-12);
                    assert_false(r.converged);
                    assert_true(r.residual >= 0.5);
                    assert_true(finite_answer(&x));
                }
                problem_destroy(&x);
            }
        }
}

static void what_is_not_a_number_ends_with_an_infinite_residual(void **state) {
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int f = 0; f < NFLAVOURS; f++)
        for (int k = 0; carom_solver_at(k); k++)
            for (int where = 0; where < 6; where++)
                for (int blocks = 1; blocks <= 5; blocks += 2) {
                    contact_problem x = problem_random(blocks, (int)FLAVOURS[f].law, FLAVOURS[f].mu, 1, 17);
                    if (where < 3)
                        x.c[x.pb.n - 1] = bad[where];
                    else
                        PROBLEM_G(&x, 0, x.pb.n - 1) = bad[where - 3];
                    if (carom_solver_fits(carom_solver_at(k), &x.pb)) {
                        const carom_report r = run(carom_solver_at(k), &x, 1e-12);
                        assert_false(r.converged);
                        assert_true(r.residual == INFINITY);
                    }
                    problem_destroy(&x);
                }
}

// u = G p + c with (a G, b c) has the answer (b / a) p: the solvers may not know about units.
static void answers_scale_with_the_problem(void **state) {
    (void)state;
    const double masses[] = {1e-8, 1, 1e8}, speeds[] = {1e-6, 1, 1e6};
    for (int f = 0; f < NFLAVOURS; f++)
        for (int k = 0; carom_solver_at(k); k++) {
            const carom_solver *s = carom_solver_at(k);
            for (int i = 0; i < 9; i++) {
                contact_problem x = three_random(FLAVOURS[f].law, FLAVOURS[f].mu);
                if (can(s, &x.pb) && !(FLAVOURS[f].mu > (iterative(s) ? 1 : 1e3) && tame(s, true))) {
                    const double a = masses[i % 3], b = speeds[i / 3], tol = iterative(s) ? 1e-8 : 1e-12;
                    double p[3 * (1 + CAROM_TANGENTS)];
                    assert_true(run(s, &x, tol).converged);
                    memcpy(p, x.p, (size_t)x.pb.n * sizeof(double));
                    problem_cold(&x);
                    for (int j = 0; j < x.pb.n * x.pb.ld; j++) x.G[j] *= a;
                    for (int j = 0; j < x.pb.n; j++) x.c[j] *= b;
                    assert_true(run(s, &x, tol * b).converged);
                    for (int j = 0; j < x.pb.n; j++) assert_true(fabs(x.p[j] * a / b - p[j]) < 1e4 * tol);
                }
                problem_destroy(&x);
            }
        }
}

// Turning the tangential frame of every contact turns the answer and nothing else.
static void friction_has_no_preferred_direction_among(carom_law law) {
    const int rows = carom_law_rows(law), last = rows - 1;
    for (int blocks = 1; blocks <= 3; blocks++)
        for (int k = 0; carom_solver_at(k); k++) {
            const carom_solver *s = carom_solver_at(k);
            contact_problem x = problem_random(blocks, (int)law, 0.3, 0.5, 60 + (uint64_t)blocks);
            contact_problem y = problem_random(blocks, (int)law, 0.3, 0.5, 60 + (uint64_t)blocks);
            x.c[0] = y.c[0] = -1;
            if (can(s, &x.pb)) {
                const int n = x.pb.n;
                double R[9 * (1 + CAROM_TANGENTS) * (1 + CAROM_TANGENTS)] = {0};
                for (int b = 0; b < blocks; b++) { // the first tangent with the last
                    const double angle = 0.7 + b, c = cos(angle), d = sin(angle);
                    const int i = rows * b;
                    for (int r = 0; r < rows; r++) R[i + r + (i + r) * n] = r == 1 || r == last ? c : 1;
                    R[i + 1 + (i + last) * n] = -d, R[i + last + (i + 1) * n] = d;
                }
                for (int i = 0; i < n; i++) {
                    y.c[i] = 0;
                    for (int j = 0; j < n; j++) {
                        y.c[i] += R[i + j * n] * x.c[j];
                        double g = 0;
                        for (int a = 0; a < n; a++)
                            for (int b = 0; b < n; b++) g += R[i + a * n] * PROBLEM_G(&x, a, b) * R[j + b * n];
                        PROBLEM_G(&y, i, j) = g;
                    }
                }
                const double tol = iterative(s) ? 1e-9 : 1e-13;
                assert_true(run(s, &x, tol).converged);
                assert_true(run(s, &y, tol).converged);
                for (int i = 0; i < n; i++) {
                    double p = 0;
                    for (int j = 0; j < n; j++) p += R[i + j * n] * x.p[j];
                    assert_true(fabs(p - y.p[i]) < 1e3 * tol); // smallest eigenvalue 0.5, so errors grow little
                }
            }
            problem_destroy(&x);
            problem_destroy(&y);
        }
}

static void the_friction_disc_has_no_preferred_direction(void **state) {
    (void)state;
    for (int law = CAROM_SPATIAL; law < CAROM_LAWS; law++) friction_has_no_preferred_direction_among((carom_law)law);
}

// One contact, G = 1: p_N = 1, it sticks up to |c_T| = mu.
static void a_billionth_decides_between_stick_and_slip(void **state) {
    (void)state;
    for (int law = CAROM_PLANAR; law < CAROM_LAWS; law++)
        for (int k = 0; carom_solver_at(k); k++) {
            const carom_solver *s = carom_solver_at(k);
            for (int slips = 0; slips < 2; slips++) {
                contact_problem x = problem_create(1 + CAROM_TANGENTS, 1);
                problem_add(&x, (carom_law)law, 0.25);
                for (int i = 0; i < x.pb.n; i++) PROBLEM_G(&x, i, i) = 1;
                x.c[0] = -1;
                x.c[1] = 0.25 + (slips ? 0.5e-9 : -0.5e-9);
                if (can(s, &x.pb)) {
                    assert_true(run(s, &x, 1e-14).converged);
                    assert_true(fabs(x.u[1] - (slips ? 0.5e-9 : 0)) < 1e-13);
                    assert_true(slips == (x.u[1] > 0.25e-9));
                }
                problem_destroy(&x);
            }
        }
}

// With friction and dependent contacts neither p nor u is unique; each answer must be admissible and must not create
// energy: the work of the impulses at the mean velocity, with c = W'v, is p.(u + c)/2 <= 0 for zero restitution.
static void dependent_contacts_with_friction_do_not_create_energy(void **state) {
    (void)state;
    contact_problem (*const make[])(carom_law, double) = {four_corners, bar_in_slot, hyperstatic_pile};
    for (int i = 0; i < 3; i++)
        for (int k = 0; carom_solver_at(k); k++) {
            const carom_solver *s = carom_solver_at(k);
            contact_problem x = make[i](CAROM_PLANAR, 0.3);
            if (can(s, &x.pb)) {
                const carom_report r = run(s, &x, iterative(s) ? 1e-8 : 1e-12);
                double work = 0, size = 0;
                for (int j = 0; j < x.pb.n; j++) {
                    work += 0.5 * x.p[j] * (x.u[j] + x.c[j]);
                    size += fabs(x.p[j]);
                }
                assert_true(iterative(s) || r.converged);
                if (r.converged) assert_true(work <= size * 2 * (iterative(s) ? 1e-8 : 1e-12));
            }
            problem_destroy(&x);
        }
}

static void the_same_problem_gives_the_same_bits(void **state) {
    (void)state;
    for (int f = 0; f < NFLAVOURS; f++)
        for (int k = 0; carom_solver_at(k); k++) {
            const carom_solver *s = carom_solver_at(k);
            contact_problem x = small_pile(FLAVOURS[f].law, FLAVOURS[f].mu),
                            other = three_random(FLAVOURS[f].law, FLAVOURS[f].mu);
            if (can(s, &x.pb)) {
                double p[5 * (1 + CAROM_TANGENTS)];
                solver_memory m = memory_for_solver(s, x.pb.n, x.pb.nb);
                s->solve(m.work, &x.pb, 1e-12);
                memcpy(p, x.p, (size_t)x.pb.n * sizeof(double));
                s->solve(m.work, &other.pb, 1e-12); // what another problem leaves behind must not matter
                problem_cold(&x);
                s->solve(m.work, &x.pb, 1e-12);
                assert_memory_equal(p, x.p, (size_t)x.pb.n * sizeof(double));
                memory_free(&m);
            }
            problem_destroy(&x);
            problem_destroy(&other);
        }
}

// Numbers with a page on either side that nobody may touch; they are as near to it as they can be, at the end or at the
// start.
typedef struct { unsigned char *map; size_t bytes; double *x; } guarded;

static guarded guarded_copy(const double *x, size_t n, bool end) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (n * sizeof *x + page - 1) / page * page;
    guarded g = {.bytes = bytes + 2 * page};
    g.map = mmap(NULL, g.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED && mprotect(g.map, page, PROT_NONE) == 0 &&
                mprotect(g.map + page + bytes, page, PROT_NONE) == 0);
    g.x = (double *)(void *)(g.map + page + (end ? bytes - n * sizeof *x : 0));
    memcpy(g.x, x, n * sizeof *x);
    return g;
}

// No solver reads what is before or behind the matrix and the vectors, and no answer depends on it.
static void nothing_else_is_read(void **state) {
    (void)state;
    static const carom_law laws[] = {CAROM_BILATERAL, CAROM_UNILATERAL, CAROM_PLANAR, CAROM_SPATIAL};
    for (int i = 0; i < NRECIPES; i++)
        for (int l = 0; l < 4; l++)
            for (int k = 0; carom_solver_at(k) && !(RECIPES[i].planar && laws[l] == CAROM_SPATIAL); k++) {
                const carom_solver *s = carom_solver_at(k);
                contact_problem x = RECIPES[i].make(laws[l], 0.3);
                const size_t n = (size_t)x.pb.n;
                x.pb.ld = x.pb.n;
                for (size_t j = 0; j < n; j++) memmove(x.G + j * n, x.G + j * (size_t)x.capacity, n * sizeof *x.G);
                for (int end = 0; end < 2 && can(s, &x.pb); end++) {
                    guarded G = guarded_copy(x.G, n * n, end), c = guarded_copy(x.c, n, end),
                            p = guarded_copy(x.p, n, end), u = guarded_copy(x.u, n, end);
                    contact_problem y = x;
                    y.pb.G = G.x, y.pb.c = c.x, y.pb.p = p.x, y.pb.u = u.x;
                    run(s, &y, 1e-10);
                    problem_cold(&x);
                    run(s, &x, 1e-10);
                    assert_memory_equal(p.x, x.p, n * sizeof *x.p);
                    problem_cold(&x);
                    munmap(G.map, G.bytes), munmap(c.map, c.bytes), munmap(p.map, p.bytes), munmap(u.map, u.bytes);
                }
                problem_destroy(&x);
            }
}

static void the_table_is_complete(void **state) {
    (void)state;
    static const struct { const carom_solver *table; const char *name; } listed[] = {
#define CAROM_SOLVER(table, name) {&table, name},
#include "solver/solvers.def"
#undef CAROM_SOLVER
    };
    for (size_t k = 0; k < sizeof listed / sizeof *listed; k++) {
        assert_string_equal(listed[k].table->name, listed[k].name); // by which the option `solver` finds it
        assert_ptr_equal(carom_solver_at((int)k), listed[k].table);
    }
    assert_null(carom_solver_find("no such solver"));
    assert_null(carom_solver_at(-1));
    int count = 0;
    for (; carom_solver_at(count); count++) {
        const carom_solver *s = carom_solver_at(count);
        assert_ptr_equal(carom_solver_find(s->name), s);
        assert_true(s->work_size <= CAROM_SOLVER_WORK && s->laws != 0 && strlen(s->about) > 10);
    }
    assert_int_equal(count, sizeof listed / sizeof *listed);
}

// Two contacts of which one alone is pushed: G = [1 2; 2 5], c = (-1, -10).  Both: p_1 = -15; the first: u_2 = -8; the
// second: p = (0, 2), u = (3, 0).
static void one_of_two_is_pushed(void **state) {
    (void)state;
    for (int turned = 0; turned < 2; turned++)
        for (int k = 0; carom_solver_at(k); k++) {
            const carom_solver *s = carom_solver_at(k);
            contact_problem x = problem_create(2, 2);
            problem_add(&x, CAROM_UNILATERAL, 0), problem_add(&x, CAROM_UNILATERAL, 0);
            const int i = turned, j = 1 - turned;
            PROBLEM_G(&x, i, i) = 1, PROBLEM_G(&x, j, j) = 5, PROBLEM_G(&x, i, j) = PROBLEM_G(&x, j, i) = 2;
            x.c[i] = -1, x.c[j] = -10;
            if (can(s, &x.pb)) {
                const double tol = iterative(s) ? 1e-9 : 1e-13;
                if (!run(s, &x, tol).converged) fail_msg("%s", s->name);
                assert_true(fabs(x.p[i]) <= 10 * tol && fabs(x.p[j] - 2) <= 10 * tol);
            }
            problem_destroy(&x);
        }
}

// A small first pivot that is not exchanged costs seven digits of sixteen; one refinement brings them back.  G p + c =
// 0 with p = (1, 2).
static void what_elimination_loses_is_refined(void **state) {
    (void)state;
    contact_problem x = problem_create(2, 2);
    problem_add(&x, CAROM_BILATERAL, 0), problem_add(&x, CAROM_BILATERAL, 0);
    PROBLEM_G(&x, 0, 0) = 0.7e-7, PROBLEM_G(&x, 0, 1) = PROBLEM_G(&x, 1, 0) = 0.9, PROBLEM_G(&x, 1, 1) = 1.1;
    x.c[0] = -(0.7e-7 + 1.8), x.c[1] = -3.1;
    const carom_report r = run(carom_solver_find("joints"), &x, 1e-13);
    if (!(r.residual <= 1e-13)) fail_msg("%g is left", r.residual);
    assert_true(fabs(x.p[0] - 1) <= 1e-13 && fabs(x.p[1] - 2) <= 1e-13);
    problem_destroy(&x);
}

// Joints whose G is a triangle, upper or lower: entries on one side of the diagonal alone; or skew beside it.  G p + c
// = 0 with p = (1, 2, 3).
static void one_sided_joints(void **state) {
    (void)state;
    for (int below = -1; below < 2; below++) { // times those above
        static const double G[3][3] = {{2, 1, 0.5}, {0, 3, 1}, {0, 0, 4}};
        contact_problem x = problem_create(3, 3);
        for (int i = 0; i < 3; i++) problem_add(&x, CAROM_BILATERAL, 0);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) PROBLEM_G(&x, i, j) = below > 0 ? G[j][i] : i > j ? below * G[j][i] : G[i][j];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) x.c[i] -= PROBLEM_G(&x, i, j) * (j + 1);
        const carom_report r = run(carom_solver_find("joints"), &x, 1e-12);
        assert_true(r.converged && r.residual < 1e-14);
        for (int i = 0; i < 3; i++) assert_true(fabs(x.p[i] - (i + 1)) < 1e-14);
        problem_destroy(&x);
    }
}

// Iterations of each solver over all problems that it must solve: a mistake that only slows a solver shows nowhere
// else.  The limits are what the solvers need, and a hundredth more; lower a limit when its solver gets faster.
static void iterations_are_few(void **state) {
    (void)state;
    static const struct {
        const char *name; int most;
    } limits[] = {{"direct", 16},        {"enumerate", 4700}, {"lemke", 117},  {"prox", 1365},
                  {"gauss-seidel", 287}, {"newton", 340},     {"hybrid", 606}, {"homotopy", 32000}};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        const carom_solver *s = carom_solver_find(limits[l].name);
        int count = 0;
        for (int i = 0; i < NRECIPES; i++)
            for (int f = 0; f < NFLAVOURS; f++) {
                // wild ones are not solved by all
                if ((RECIPES[i].planar && FLAVOURS[f].law >= CAROM_SPATIAL) || (iterative(s) && !RECIPES[i].regular) ||
                    (l > 2 && FLAVOURS[f].mu > 1e3))
                    continue;
                contact_problem x = RECIPES[i].make(FLAVOURS[f].law, FLAVOURS[f].mu);
                if (can(s, &x.pb)) count += run(s, &x, iterative(s) ? 1e-7 : 1e-12).iterations;
                problem_destroy(&x);
            }
        if (count > limits[l].most) fail_msg("%s needs %d iterations", s->name, count);
    }
}

// What a solver says of its own answer is what the certificate says.
static void opinions_are_honest(void **state) {
    (void)state;
    int good = 0;
    for (int i = 0; i < NRECIPES; i++)
        for (int f = 0; f < NFLAVOURS; f++)
            for (int k = 0; carom_solver_at(k) && !(RECIPES[i].planar && FLAVOURS[f].law >= CAROM_SPATIAL); k++) {
                const carom_solver *s = carom_solver_at(k);
                const double tol = iterative(s) ? 1e-7 : 1e-11;
                contact_problem x = RECIPES[i].make(FLAVOURS[f].law, FLAVOURS[f].mu);
                if (can(s, &x.pb)) {
                    solver_memory m = memory_for_solver(s, x.pb.n, x.pb.nb);
                    const bool opinion = s->solve(m.work, &x.pb, tol).converged;
                    const double residual = carom_residual(&x.pb, NULL);
                    if (opinion ? !(residual <= 2 * tol) : residual <= 0.5 * tol)
                        fail_msg("%s, %s: %s says %s of %.2e", RECIPES[i].name, FLAVOURS[f].name, s->name,
                                 opinion ? "yes" : "no", residual);
                    good += opinion;
                    memory_free(&m);
                }
                problem_destroy(&x);
            }
    assert_true(good > 200);
}

// An attempt in vain ends: 500 passes, and as many more as forty million products allow.
static void prox_gives_up_in_time(void **state) {
    (void)state;
    contact_problem x = problem_pile(150, 50, CAROM_UNILATERAL, 0, 7);
    const carom_report r = run(carom_solver_find("prox"), &x, 1e-13);
    assert_false(r.converged);
    assert_true(r.iterations > 500 && r.iterations <= 500 + 4e7 / (150 * 150));
    problem_destroy(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_are_few),
        cmocka_unit_test(one_sided_joints),
        cmocka_unit_test(what_elimination_loses_is_refined),
        cmocka_unit_test(one_of_two_is_pushed),
        cmocka_unit_test(the_table_is_complete),
        cmocka_unit_test(every_solver_solves_every_problem_it_can),
        cmocka_unit_test(a_bad_start_is_overcome),
        cmocka_unit_test(nearly_dependent_contacts_are_two),
        cmocka_unit_test(a_refusal_is_told),
        cmocka_unit_test(velocities_agree_where_they_are_unique),
        cmocka_unit_test(infeasible_problems_end_and_are_told),
        cmocka_unit_test(what_is_not_a_number_ends_with_an_infinite_residual),
        cmocka_unit_test(answers_scale_with_the_problem),
        cmocka_unit_test(the_friction_disc_has_no_preferred_direction),
        cmocka_unit_test(a_billionth_decides_between_stick_and_slip),
        cmocka_unit_test(dependent_contacts_with_friction_do_not_create_energy),
        cmocka_unit_test(the_same_problem_gives_the_same_bits),
        cmocka_unit_test(nothing_else_is_read),
        cmocka_unit_test(opinions_are_honest),
        cmocka_unit_test(prox_gives_up_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
