// The certificate of problems by bodies, and with threads: what it says of the same problem with a dense matrix, and by
// one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// cmocka wants the three above first
#include "problems.h"
#include <carom/team.h>
#include <cmocka.h>
#include <stdio.h>
#include "solver/local.h"

// -- a problem by bodies ------------------------------------------------------------------------------------------

// Parts of 3, 7, 2 and 9 velocities; nothing touches the third.  More contacts than one thread judges alone, of every
// law, on one part or on two.
enum {
    PARTS = 4,
    SPEEDS = 21,
    BLOCKS = 40,
    LINKS = 2 * BLOCKS,
    ROWS = 1 + CAROM_TANGENTS,
    MOST = ROWS * BLOCKS,
    WIDE = 10
};
static const int part_at[PARTS + 1] = {0, 3, 10, 12, SPEEDS}, touched[3] = {0, 1, 3};
static const double SCALE = 2;

typedef struct world {
    contact_problem dense;
    carom_problem by_bodies;
    carom_parts parts;
    int first[BLOCKS + 1], part_of[LINKS], link_of[LINKS], next[LINKS], head[PARTS];
    size_t link_at[LINKS], inverse_at[PARTS];
    double A[LINKS * ROWS * WIDE], inverse[SPEEDS * SPEEDS], diagonal[MOST * ROWS];
    double W[SPEEDS * MOST], F[SPEEDS * SPEEDS]; // the same in full: G = 2 W'F W
    double scratch[6 * SPEEDS];                  // two numbers for every velocity; as many before and behind them must
                                                 // stay as they are
} world;

static int size_of(int part) { return part_at[part + 1] - part_at[part]; }

static void act(world *w, int *links, int *last, int block, int part, int ld, uint64_t *seed) {
    const carom_block *b = w->dense.block + block;
    const int l = (*links)++, size = size_of(part);
    w->part_of[l] = part, w->link_of[l] = block, w->next[l] = -1, w->link_at[l] = (size_t)l * ROWS * WIDE;
    if (last[part] < 0) w->head[part] = l;
    else w->next[last[part]] = l;
    last[part] = l;
    for (int r = 0; r < carom_law_rows(b->law); ++r)
        for (int i = 0; i < size; ++i)
            w->A[w->link_at[l] + (size_t)(r * (ld ? ld : size) + i)] = w->W[(b->at + r) * SPEEDS + part_at[part] + i] =
                symmetric_uniform(seed);
}

static void put_inverses(world *w, uint64_t *seed) {
    size_t at = 0;
    for (int k = 0; k < PARTS; ++k) {
        w->inverse_at[k] = at;
        for (int j = 0; j < size_of(k); ++j)
            for (int i = 0; i < size_of(k); ++i) // need not be symmetric
                w->inverse[at++] = w->F[part_at[k] + i + (part_at[k] + j) * SPEEDS] =
                    (i == j) + 0.2 * symmetric_uniform(seed);
    }
}

static void put_matrix(world *w) {
    contact_problem *x = &w->dense;
    for (int i = 0; i < x->pb.n; ++i)
        for (int j = 0; j < x->pb.n; ++j) {
            double sum = 0;
            for (int k = 0; k < SPEEDS; ++k)
                for (int l = 0; l < SPEEDS; ++l)
                    sum += w->W[i * SPEEDS + k] * w->F[k + l * SPEEDS] * w->W[j * SPEEDS + l];
            PROBLEM_G(x, i, j) = SCALE * sum;
        }
    for (int b = 0; b < BLOCKS; ++b) {
        const int at = x->block[b].at, rows = carom_law_rows(x->block[b].law);
        for (int j = 0; j < rows; ++j)
            for (int i = 0; i < rows; ++i) w->diagonal[ROWS * at + j * rows + i] = PROBLEM_G(x, at + i, at + j);
    }
}

// ld: from one row of a link to the next; 0: they follow each other.
static world *make(int ld) {
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    uint64_t seed = 77;
    int links = 0, last[PARTS];
    w->dense = problem_create(MOST, BLOCKS);
    for (int b = 0; b < BLOCKS; ++b) problem_add(&w->dense, (carom_law)(b % (CAROM_BALL_5 + 1)), 0.1 + 0.02 * b);
    for (int k = 0; k < PARTS; ++k) last[k] = w->head[k] = -1;
    for (int b = 0; b < BLOCKS; w->first[++b] = links) {
        act(w, &links, last, b, touched[b % 3], ld, &seed);
        if (b % 2) act(w, &links, last, b, touched[(b + 1) % 3], ld, &seed);
    }
    put_inverses(w, &seed);
    put_matrix(w);
    for (int i = 0; i < w->dense.pb.n; ++i)
        w->dense.c[i] = symmetric_uniform(&seed), w->dense.p[i] = symmetric_uniform(&seed);
    for (int i = 0; i < 6 * SPEEDS; ++i) w->scratch[i] = 7;
    w->parts = (carom_parts){.bodies = 3,
                             .ld = ld,
                             .part = part_at,
                             .first = w->first,
                             .link_part = w->part_of,
                             .link_body = w->part_of,
                             .link_at = w->link_at,
                             .inverse_at = w->inverse_at,
                             .A = w->A,
                             .inverse = w->inverse,
                             .scale = SCALE,
                             .nparts = PARTS,
                             .max_rows = ROWS,
                             .head = w->head,
                             .next = w->next,
                             .link_of = w->link_of,
                             .diagonal = w->diagonal,
                             .y = w->scratch + 2 * SPEEDS};
    w->by_bodies = w->dense.pb;
    w->by_bodies.G = NULL, w->by_bodies.parts = &w->parts;
    return w;
}

static void forget(world *w) {
    problem_destroy(&w->dense);
    free(w);
}

static carom_team *some_threads(int n) {
    carom_error err = {0};
    carom_team *team = carom_team_create(n, &err);
    assert_non_null(team);
    return team;
}

// -- tests --------------------------------------------------------------------------------------------------------

// u = G p + c, the residual and the worst block are those of the dense matrix, to the rounding of sums of at most 2 x
// 21 x 21 + 240 products of numbers near 1; bits do not depend on threads.
static void by_bodies_it_is_the_dense_matrix(void **state) {
    (void)state;
    static const int strides[] = {0, WIDE};
    for (int k = 0; k < 2; ++k) {
        world *w = make(strides[k]);
        int worst[2];
        const double dense = carom_residual(&w->dense.pb, &worst[0]);
        double u[MOST], alone[MOST], largest = 0;
        const int n = w->dense.pb.n;
        for (int i = 0; i < n; ++i) {
            double size = fabs(w->dense.c[i]);
            for (int j = 0; j < n; ++j) size += fabs(PROBLEM_G(&w->dense, i, j) * w->dense.p[j]);
            largest = fmax(largest, size), u[i] = w->dense.u[i], w->dense.u[i] = 7;
        }
        const double rounding = 1200 * 0x1p-53 * largest, first = carom_residual(&w->by_bodies, &worst[1]);
        for (int i = 0; i < n; ++i) assert_true(fabs(w->dense.u[i] - u[i]) <= rounding), alone[i] = w->dense.u[i];
        assert_true(dense > 0.1 && fabs(first - dense) <= ROWS * rounding);
        assert_int_equal(worst[0], worst[1]);
        for (int threads = 2; threads <= 4; ++threads) {
            w->by_bodies.team = some_threads(threads);
            assert_true(carom_residual(&w->by_bodies, &worst[1]) == first && worst[1] == worst[0]);
            for (int i = 0; i < n; ++i) assert_true(w->dense.u[i] == alone[i]);
            carom_team_destroy(w->by_bodies.team);
        }
        for (int i = 0; i < 6 * SPEEDS; ++i) assert_true(w->scratch[i] == 7 || (i >= 2 * SPEEDS && i < 4 * SPEEDS));
        forget(w);
    }
}

// Without impulses a contact that approaches at 0.25 leaves 0.25, whichever thread judges it.
static void the_worst_block_is_found_in_every_place(void **state) {
    (void)state;
    world *w = make(0);
    w->by_bodies.team = some_threads(3);
    for (int i = 0; i < w->dense.pb.n; ++i) w->dense.c[i] = w->dense.p[i] = 0;
    int worst = 7;
    assert_true(carom_residual(&w->by_bodies, &worst) == 0);
    for (int b = 0; b < BLOCKS; ++b) {
        w->dense.c[w->dense.block[b].at] = -0.25;
        assert_true(carom_residual(&w->by_bodies, &worst) == 0.25);
        assert_int_equal(worst, b);
        w->dense.c[w->dense.block[b].at] = 0;
    }
    carom_team_destroy(w->by_bodies.team);
    forget(w);
}

// An open contact may slip at any speed, but not at an infinite one: no row is passed over.
static void no_row_that_is_not_finite_is_passed_over(void **state) {
    (void)state;
    world *w = make(0);
    carom_team *teams[] = {NULL, some_threads(2), some_threads(3)};
    for (int i = 0; i < w->dense.pb.n; ++i) w->dense.c[i] = w->dense.p[i] = 0;
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < w->dense.pb.n; ++i) {
            w->by_bodies.team = teams[k];
            w->dense.c[i] = INFINITY;
            assert_true(carom_residual(&w->by_bodies, NULL) == INFINITY);
            w->dense.c[i] = 0;
        }
    for (int k = 1; k < 3; ++k) carom_team_destroy(teams[k]);
    forget(w);
}

// A lever with one velocity v, struck at a point that approaches with v and slips with t v: G = [1 t; t t^2] is
// singular and c = -[1 t], so p_N + t p_T = 1 whatever the friction does.  Nothing says in which direction it would
// slip.  With p_T = mu p_N, against a slip that does not come, p_N = 1/(1 + mu |t|); the other direction would need 1 -
// mu |t| > 0.
static void a_lever_that_jams(void **state) {
    (void)state;
    static const double slips[] = {2, -2, 0.5, -0.5, 3.7, -3.7};
    for (int k = 0; k < 6; ++k)
        for (int side = -1; side <= 1; side += 2) {
            // a rounding to either side
            const double t = slips[k], g[4] = {1, t, t, t * t}, mu = 1.5, c[2] = {-1, -t * (1 + side * 0x1p-52)};
            double p[2] = {NAN, NAN};
            carom_local_planar(g, 2, c, mu, p);
            assert_true(p[0] > 0 && fabs(p[1]) <= mu * p[0] * (1 + 4e-16));
            assert_true(fabs(p[0] + t * p[1] - 1) <= 1e-15 * (2 + mu * fabs(t)));
            if (mu * fabs(t) >= 1) assert_true(fabs(p[0] - 1 / (1 + mu * fabs(t))) <= 1e-15);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_bodies_it_is_the_dense_matrix),
        cmocka_unit_test(the_worst_block_is_found_in_every_place),
        cmocka_unit_test(no_row_that_is_not_finite_is_passed_over),
        cmocka_unit_test(a_lever_that_jams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
