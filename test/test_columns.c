// test_columns.c: sparse columns say the same as dense ones, and so does G by parts.
#include "problems.h"
#include "contact/delassus_blocks.h"
#include "contact/operator.h"
#include "linalg/matrix.h"
#include <carom/matrix.h>
#include <carom/team.h>
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROWS = 9, N = 4, STRIDE = 3 };

typedef struct pair {
    carom_arena mem;
    carom_columns dense, sparse;
} pair;

static void allocate(pair *p) {
    p->dense = carom_allocate_columns(&p->mem, ROWS, N, ROWS);
    p->sparse = carom_allocate_columns(&p->mem, ROWS, N, STRIDE);
}

static pair create(uint64_t seed) {
    pair p = {0};
    allocate(&p);
    const size_t size = p.mem.used;
    p.mem = (carom_arena){.base = aligned_alloc(64, size), .size = size};
    assert_non_null(p.mem.base);
    memset(p.mem.base, 0, size);
    allocate(&p);
    for (int k = 0; k < N; ++k) {
        p.sparse.count[k] = k; // 0, 1, 2, 3 entries
        for (int e = 0; e < k; ++e) {
            const int row = (5 * k + 4 * e) % ROWS;
            const double x = symmetric_uniform(&seed);
            p.sparse.row[k * STRIDE + e] = row;
            p.sparse.a[k * STRIDE + e] = x;
            p.dense.a[k * ROWS + row] = x;
        }
    }
    return p;
}

static void storage_follows_the_stride(void **state) {
    (void)state;
    pair p = create(1);
    assert_null(p.dense.count);
    assert_int_equal(p.dense.stride, ROWS);
    assert_non_null(p.sparse.count);
    assert_int_equal(p.sparse.stride, STRIDE);
    carom_arena count = {0};
    assert_null(carom_allocate_columns(&count, ROWS, N, ROWS + 5).count); // wider than a column: dense
    free(p.mem.base);
}

static void sparse_and_dense_columns_agree(void **state) {
    (void)state;
    uint64_t seed = 9;
    pair p = create(2);
    double x[ROWS], y[ROWS], z[ROWS];
    for (int i = 0; i < ROWS; ++i) x[i] = symmetric_uniform(&seed);
    for (int k = 0; k < N; ++k) {
        assert_true(fabs(carom_column_dot(&p.dense, k, x) - carom_column_dot(&p.sparse, k, x)) <= ROWS * DBL_EPSILON);
        carom_copy(y, x, ROWS);
        carom_copy(z, x, ROWS);
        carom_column_axpy(y, -2.5, &p.dense, k);
        carom_column_axpy(z, -2.5, &p.sparse, k);
        assert_memory_equal(y, z, sizeof y);
        for (int i = 0; i < ROWS; ++i) assert_true(y[i] == x[i] + -2.5 * p.dense.a[k * ROWS + i]);
        carom_column_expand(z, &p.sparse, k);
        assert_memory_equal(z, p.dense.a + k * ROWS, sizeof z);
    }
    free(p.mem.base);
}

// Columns that share a list of row numbers are those that have it each; where one gets row numbers of its own again,
// the others keep theirs.
static void columns_may_share_their_rows(void **state) {
    (void)state;
    enum { LISTS = 2 };
    static const int list[LISTS][STRIDE] = {{0, 4, 8}, {1, 2, 7}};
    carom_arena mem = {.base = aligned_alloc(64, 4096), .size = 4096};
    assert_non_null(mem.base);
    memset(mem.base, 0, mem.size);
    carom_columns own = carom_allocate_columns(&mem, ROWS, N, STRIDE),
                  both = carom_allocate_sharing_columns(&mem, ROWS, N, STRIDE, LISTS);
    assert_null(own.share);
    assert_non_null(both.share);
    double x[ROWS], y[ROWS] = {0}, z[ROWS] = {0}, u[N], w[N];
    uint64_t seed = 7;
    for (int i = 0; i < ROWS; ++i) x[i] = symmetric_uniform(&seed);
    for (int j = 0; j < LISTS; ++j) memcpy(both.row + (N + j) * STRIDE, list[j], sizeof list[j]);
    for (int last = 0; last < 2; ++last) {
        for (int k = 0; k < N; ++k) {
            memcpy(carom_column_own_rows(&own, k, STRIDE), list[k / 2], sizeof *list);
            both.count[k] = STRIDE, both.share[k] = 1 + k / 2;
            for (int e = 0; e < STRIDE; ++e) own.a[k * STRIDE + e] = both.a[k * STRIDE + e] = symmetric_uniform(&seed);
        }
        if (last)
            memcpy(carom_column_own_rows(&own, 2, 2), list[0], sizeof *list),
                memcpy(carom_column_own_rows(&both, 2, 2), list[0], sizeof *list);
        for (int k = 0; k < N; ++k) {
            assert_memory_equal(carom_column_rows(&both, k), carom_column_rows(&own, k), sizeof *list);
            assert_true(carom_column_dot(&both, k, x) == carom_column_dot(&own, k, x));
            carom_column_axpy(y, 1 + k, &both, k), carom_column_axpy(z, 1 + k, &own, k);
        }
        assert_true(carom_column_rows(&both, 0) == carom_column_rows(&both, 1) &&
                    carom_column_rows(&both, 2) != carom_column_rows(&both, 0));
        carom_columns_dot(u, &both, 0, N, x), carom_columns_dot(w, &own, 0, N, x);
        assert_memory_equal(y, z, sizeof y);
        assert_memory_equal(u, w, sizeof u);
    }
    free(mem.base);
}

// Reactions of a constant banded system are added up by columns, or in one solution where more than 8 of them act: as
// many as act count, not as many as there are. The columns here are twice what the solution gives, which tells the two
// ways apart.
static void what_acts_decides_how_reactions_are_added_up(void **state) {
    (void)state;
    enum { ALL = 30 };
    double one[ALL], x[ALL], columns[ALL * ALL] = {0}, W[ALL * ALL] = {0};
    int which[ALL];
    // M = 2, M^-1 W = 1
    for (int i = 0; i < ALL; ++i) one[i] = columns[i * (ALL + 1)] = 2, which[i] = i, W[i * (ALL + 1)] = 2;
    carom_arena mem = {.base = aligned_alloc(64, 1 << 14), .size = 1 << 14};
    assert_non_null(mem.base);
    carom_factor F = carom_allocate_factor(&mem, (carom_shape){CAROM_BANDED, ALL, 0, NULL}, true);
    assert_int_equal(carom_factorise(&F, (carom_matrix){F.shape, one}, NULL), CAROM_OK);
    const carom_columns w = {.rows = ALL, .n = ALL, .stride = ALL, .a = W},
                        doubled = {.rows = ALL, .n = ALL, .stride = ALL, .a = columns};
    const carom_local L = {.W = w};
    carom_delassus d = {.storage = CAROM_BY_KEPT_COLUMNS,
                        .columns = doubled,
                        .column = which,
                        .from = which,
                        .F = &F,
                        .W = &L,
                        .x = x,
                        .keep = {.all = L}};
    for (int acting = 0; acting <= ALL; ++acting) {
        double p[ALL] = {0}, v[ALL] = {0};
        for (int k = 0; k < acting; ++k) p[7 * k % ALL] = 1;
        carom_delassus_react(&d, v, 3, p, ALL, NULL);
        for (int i = 0; i < ALL; ++i) assert_true(v[i] == (acting > 8 ? 3 : 6) * p[i]);
    }
    free(mem.base);
}

// -- G by parts -------------------------------------------------------------------------------------------------------

enum { PARTS = 5, NV = 18, BLOCKS = 9, SIZE = 22 }; // velocities, constraints, and their rows

static const int part[PARTS + 1] = {0, 3, 9, 10, 16, 18}, at[BLOCKS + 1] = {0, 1, 4, 6, 12, 13, 16, 19, 21, 22};

// Constraint b acts on two parts; the fourth on all: more than there is room for in its thread's share.
static bool acts(int b, int i) { return b == 3 || i == b % PARTS || i == (2 * b + 1) % PARTS; }

static carom_columns directions(carom_arena *mem, bool sparse, uint64_t seed) {
    carom_columns W = carom_allocate_columns(mem, NV, SIZE, sparse ? NV - 1 : NV);
    for (int b = 0; b < BLOCKS; ++b)
        for (int k = at[b]; k < at[b + 1]; ++k) {
            if (sparse) W.count[k] = 0;
            for (int i = 0; i < PARTS; ++i)
                for (int v = part[i]; v < part[i + 1]; ++v) {
                    const double x = acts(b, i) && !(b == 3 && v == 17) ? symmetric_uniform(&seed) : 0;
                    if (!sparse) W.a[k * W.stride + v] = x;
                    else if (x != 0) W.row[k * W.stride + W.count[k]] = v, W.a[k * W.stride + W.count[k]++] = x;
                }
        }
    return W;
}

// Symmetric, positive, and couples velocities of one part only; or diagonal.
static carom_factor factor(carom_arena *mem, bool diagonal) {
    double *M = carom_allocate(mem, NV * NV);
    uint64_t seed = 5;
    for (int i = 0; i < PARTS; ++i)
        for (int k = part[i]; k < part[i + 1]; ++k)
            for (int l = part[i]; l <= k; ++l)
                M[k + l * NV] = M[l + k * NV] = k == l ? 2 : 0.3 * symmetric_uniform(&seed);
    for (int i = 0; i < NV && diagonal; ++i) M[i] = 1 + 0.5 * symmetric_uniform(&seed);
    carom_factor F =
        carom_allocate_factor(mem, (carom_shape){diagonal ? CAROM_DIAGONAL : CAROM_DENSE, NV, 0, NULL}, true);
    assert_int_equal(carom_factorise(&F, (carom_matrix){F.shape, M}, NULL), CAROM_OK);
    return F;
}

static void in_turn(carom_team *team, void (*work)(void *user, int part, int parts), void *user) {
    for (int k = team->n - 1; k >= 0; --k) work(user, k, team->n);
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-13; }

// G is what its dense product is, block by block; blocks that are not there are zero.
static void assert_rows(const carom_block_rows *R, const double G[SIZE][SIZE]) {
    assert_int_equal(R->uniform, 0);
    for (int b = 0; b < BLOCKS; ++b) {
        bool there[BLOCKS] = {false};
        for (int k = R->start[b]; k < R->start[b + 1]; ++k) {
            const int c = R->col[k];
            assert_true(!there[c] && (k == R->start[b] || c > R->col[k - 1]));
            there[c] = true;
            if (c == b) assert_int_equal(R->diagonal[b], k);
            for (int j = at[c]; j < at[c + 1]; ++j)
                for (int i = at[b]; i < at[b + 1]; ++i)
                    assert_true(near(R->value[R->at[k] + i - at[b] + (j - at[c]) * (at[b + 1] - at[b])], G[i][j]));
        }
        for (int c = 0; c < BLOCKS; ++c)
            for (int i = at[b]; !there[c] && i < at[b + 1]; ++i)
                for (int j = at[c]; j < at[c + 1]; ++j) assert_true(G[i][j] == 0);
    }
}

// Diagonal blocks that are made alone have the bits of those among all.
static void assert_diagonal(const carom_assembly *x, const double *value) {
    for (int b = 0; b < BLOCKS; ++b) {
        const int rows = at[b + 1] - at[b];
        assert_memory_equal(x->parts.diagonal + x->parts.max_rows * at[b], value + x->at[x->diagonal[b]],
                            (size_t)(rows * rows) * sizeof(double));
    }
}

// The certificate by bodies has the u of the dense product.
static void assert_velocities(const carom_parts *parts, const double G[SIZE][SIZE], double *p) {
    carom_block block[BLOCKS];
    double c[SIZE], u[SIZE];
    for (int b = 0; b < BLOCKS; ++b) block[b] = (carom_block){carom_law_friction(at[b + 1] - at[b] - 1), at[b], 0.3};
    for (int i = 0; i < SIZE; ++i) c[i] = cos(i);
    carom_residual(&(carom_problem){.n = SIZE, .nb = BLOCKS, .block = block, .c = c, .parts = parts, .p = p, .u = u},
                   NULL);
    for (int i = 0; i < SIZE; ++i) {
        double sum = c[i];
        for (int j = 0; j < SIZE; ++j) sum += G[i][j] * p[j];
        assert_true(near(u[i], sum));
    }
}

static void matrices_by_parts_are_those_of_columns(void **state) {
    (void)state;
    static const double a = 0.7;
    carom_team three = {.n = 3, .run = in_turn};
    const carom_system sys = {.nv = NV, .nc = BLOCKS, .listed = BLOCKS, .part = part, .nparts = PARTS,
                              .contact_list = &(carom_system_list){.sleeps = false}};
    carom_arena count = {0};
    carom_allocate_assembly(&count, &sys, BLOCKS, SIZE);
    const size_t size = count.used + (1 << 16);
    carom_system world = sys;
    world.nv = 64;
    assert_int_equal(carom_delassus_dense_rows(&world, CAROM_FEW_ROWS, false), CAROM_FEW_ROWS);
    // beyond: by blocks
    assert_int_equal(carom_delassus_dense_rows(&world, CAROM_FEW_ROWS + 1, false), CAROM_FEW_ROWS);
    assert_int_equal(carom_delassus_dense_rows(&sys, 91, false), 91);
    assert_int_equal(carom_delassus_dense_rows(&(carom_system){.nv = NV, .nc = BLOCKS}, 91, false), 91);
    for (int variant = 0; variant < 16; ++variant) {
        const bool sparse = variant & 1, even = variant & 2, diagonal = variant & 8;
        carom_team *team = variant & 4 ? &three : NULL;
        carom_arena mem = {.base = aligned_alloc(64, size / 64 * 64 + 64), .size = size};
        assert_non_null(mem.base);
        memset((char *)mem.base, 0, 1 << 16);
        const carom_factor F = factor(&mem, diagonal);
        int id[BLOCKS] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, starts[BLOCKS + 1];
        memcpy(starts, at, sizeof at);
        const carom_local L = {.nb = BLOCKS, .id = id, .at = starts, .W = directions(&mem, sparse, 3)},
                          M = {.nb = BLOCKS, .id = id, .at = starts, .W = directions(&mem, sparse, 4)},
                          *Lf = even ? &L : &M;
        double G[SIZE][SIZE], X[SIZE][NV], p[SIZE], v[NV] = {0};
        for (int j = 0; j < SIZE; ++j) {
            carom_column_expand(X[j], &Lf->W, j);
            carom_factor_solve(&F, X[j]);
            for (int i = 0; i < SIZE; ++i) G[i][j] = a * carom_column_dot(&L.W, i, X[j]);
            p[j] = sin(j);
        }
        carom_assembly x = carom_allocate_assembly(&mem, &sys, BLOCKS, SIZE);
        assert_true(carom_assembly_form(&x, &L, Lf, &F, a, team) && carom_assembly_rows(&x, team));
        assert_rows(&x.rows, G);
        assert_int_equal(x.parts.max_rows, 6);
        assert_int_equal(x.parts.bodies, PARTS);
        assert_true(x.parts.only_diagonal == diagonal);
        const size_t values =
            (size_t)(x.at[x.start[BLOCKS] - 1] + (at[BLOCKS] - at[BLOCKS - 1]) * (at[BLOCKS] - at[BLOCKS - 1])) *
            sizeof(double);
        double *kept = malloc(values);
        memcpy(kept, x.value, values);
        carom_assembly_react(&x, &L, v, 2, p, at[BLOCKS - 2], team); // all but the last two
        for (int i = 0; i < NV; ++i) {
            double sum = 0;
            for (int j = 0; j < at[BLOCKS - 2]; ++j) sum += 2 * X[j][i] * p[j];
            assert_true(near(v[i], sum));
        }
        if (even) { // made later
            assert_true(carom_assembly_form(&x, &L, Lf, &F, a, team));
            carom_assembly_diagonal(&x, team);
            assert_diagonal(&x, kept);
            assert_velocities(&x.parts, G, p);
            memset(x.value, 0, values);
            assert_true(carom_assembly_rows(&x, team));
            assert_memory_equal(x.value, kept, values);
        }
        double dense[SIZE * SIZE];
        assert_true(carom_assembly_form(&x, &L, Lf, &F, a, team));
        carom_assembly_dense(&x, dense);
        for (int i = 0; i < SIZE; ++i)
            for (int j = 0; j < SIZE; ++j) {
                assert_true(near(dense[i + j * SIZE], G[i][j]));
                if (even) assert_true(dense[i + j * SIZE] == dense[j + i * SIZE]);
            }
        carom_delassus d = {.parts = x, .G = dense};
        double by_blocks[NV] = {0}, by_dense[NV] = {0};
        assert_true(
            carom_delassus_form(&d, &L, Lf, &F, a, (carom_delassus_way){.parts = true, .blocks = true, .team = team}));
        assert_true(!d.dense && d.storage == CAROM_BY_PARTS);
        assert_rows(carom_delassus_rows(&d, team), G);
        carom_delassus_react(&d, by_blocks, 2, p, SIZE, team);
        memset(dense, 0, sizeof dense);
        assert_true(carom_delassus_form(&d, &L, Lf, &F, a, (carom_delassus_way){.blocks = true, .team = team}));
        assert_true(d.dense && d.symmetric == even && !carom_delassus_rows(&d, team));
        carom_delassus_react(&d, by_dense, 2, p, SIZE, team);
        for (int i = 0; i < SIZE * SIZE; ++i) assert_true(near(dense[i], G[i % SIZE][i / SIZE]));
        for (int i = 0; i < NV; ++i) assert_true(by_dense[i] == by_blocks[i]);
        free(kept);
        free(mem.base);
    }
}

// -- G of sparse columns ----------------------------------------------------------------------------------------------

enum { LONG = 12, MOST = 70, ENTRIES = 4, TRIES = 40 };

static void *zeroed(size_t size) {
    void *block = aligned_alloc(64, size);
    return block ? memset(block, 0, size) : NULL;
}

// Columns of random numbers in rows that begin anywhere, or all in the first few.
static void fill(carom_local *L, int n, bool crowded, uint64_t *rows, uint64_t *seed) {
    L->nb = n;
    for (int k = 0; k < n; ++k) {
        const int count = crowded ? ENTRIES : 1 + (int)(uniform(rows) * ENTRIES),
                  start = crowded ? 0 : (int)(uniform(rows) * (LONG - ENTRIES));
        L->id[k] = L->at[k] = k, L->at[k + 1] = k + 1;
        if (!L->W.count) carom_zero(L->W.a + k * LONG, LONG);
        else L->W.count[k] = count;
        for (int e = 0; e < count; ++e) {
            const double x = symmetric_uniform(seed);
            if (!L->W.count) L->W.a[k * LONG + start + e] = x;
            else L->W.row[k * ENTRIES + e] = start + e, L->W.a[k * ENTRIES + e] = x;
        }
    }
}

// G = a A'F^-1 W of sparse columns: A and W the same, other numbers in the same rows, other rows; few products, and
// more than are remembered.
static void sparse_columns_make_the_matrix_of_the_problem(void **state) {
    (void)state;
    static double dense[2][MOST * LONG], mass[LONG];
    static const int sizes[] = {7, MOST};
    uint64_t seed = 5, rows = 6;
    for (int i = 0; i < LONG; ++i) mass[i] = 1 + i;
    const carom_system sys = {
        .nq = LONG, .nv = LONG, .ne = MOST, .column_stride = ENTRIES, .mass_shape = {CAROM_DIAGONAL, LONG, 0, NULL}};
    carom_arena mem = {.base = zeroed(1 << 20), .size = 1 << 20};
    assert_non_null(mem.base);
    carom_delassus d = carom_allocate_delassus(&mem, &sys, MOST, MOST, false, true);
    const double *G = d.G;
    carom_factor F = carom_allocate_factor(&mem, sys.mass_shape, true);
    assert_int_equal(carom_factorise(&F, (carom_matrix){sys.mass_shape, mass}, NULL), CAROM_OK);
    carom_local L[2] = {carom_allocate_local(&mem, &sys), carom_allocate_local(&mem, &sys)};
    assert_true(mem.used <= mem.size);
    for (int t = 0; t < TRIES; ++t) {
        const int n = sizes[t % 2], kind = t % 3;
        uint64_t again = rows;
        fill(L, n, n == MOST, &rows, &seed);
        fill(L + 1, n, n == MOST, kind == 1 ? &again : &rows, &seed);
        const carom_local *A = L, *W = kind == 0 ? L : L + 1;
        assert_true(carom_delassus_form(&d, A, W, &F, 0.5, (carom_delassus_way){0}));
        assert_true(d.dense && d.symmetric == (kind == 0) && d.storage == CAROM_BY_PRODUCTS);
        for (int k = 0; k < n; ++k)
            carom_column_expand(dense[0] + k * LONG, &A->W, k), carom_column_expand(dense[1] + k * LONG, &W->W, k);
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k) {
                double sum = 0;
                for (int r = 0; r < LONG; ++r) sum += dense[0][i * LONG + r] * dense[1][k * LONG + r] / mass[r];
                assert_true(fabs(G[i + k * n] - 0.5 * sum) <= 8 * DBL_EPSILON);
                assert_true(G[i + k * n] == 0 || (d.first[k > i ? k : i] <= (k < i ? k : i)));
            }
    }
    free(mem.base);
}

// F^-1 W of the last problem serves the next one, with the bits of one that solves again, and is not solved for:
// another F changes nothing.  Sparse columns and dense ones.
static void a_problem_takes_over_what_the_last_one_has_solved(void **state) {
    (void)state;
    static double fresh[MOST * MOST], mass[2][LONG];
    uint64_t seed = 7, rows = 8;
    for (int i = 0; i < LONG; ++i) mass[0][i] = 1 + i, mass[1][i] = 3 + i;
    for (int dense = 0; dense < 2; ++dense) {
        const carom_system sys = {.nq = LONG,
                                  .nv = LONG,
                                  .ne = MOST,
                                  .column_stride = dense ? LONG : ENTRIES,
                                  .mass_shape = {CAROM_DIAGONAL, LONG, 0, NULL}};
        carom_arena mem = {.base = zeroed(1 << 20), .size = 1 << 20};
        assert_non_null(mem.base);
        carom_delassus d = carom_allocate_delassus(&mem, &sys, MOST, MOST, false, true);
        const double *G = d.G;
        carom_factor F[2];
        for (int i = 0; i < 2; ++i) {
            F[i] = carom_allocate_factor(&mem, sys.mass_shape, true);
            assert_int_equal(carom_factorise(F + i, (carom_matrix){sys.mass_shape, mass[i]}, NULL), CAROM_OK);
        }
        carom_local A = carom_allocate_local(&mem, &sys), W = carom_allocate_local(&mem, &sys);
        assert_true(mem.used <= mem.size);
        for (int t = 0; t < TRIES; ++t) {
            const int n = 3 + t % 5;
            uint64_t again = rows;
            fill(&W, n, false, &rows, &seed);
            fill(&A, n, false, t % 2 ? &again : &rows, &seed); // in the same rows, or in others
            assert_true(carom_delassus_form(&d, &A, &W, F, 0.5, (carom_delassus_way){0}));
            memcpy(fresh, G, sizeof fresh);
            assert_true(carom_delassus_form(&d, &W, &W, F, 1, (carom_delassus_way){0}));
            assert_true(carom_delassus_form(&d, &A, &W, F + 1, 0.5, (carom_delassus_way){.formed = d.formed}));
            assert_memory_equal(G, fresh, (size_t)(n * n) * sizeof *G);
            // it is not the last: solved
            assert_true(carom_delassus_form(&d, &A, &W, F + 1, 0.5, (carom_delassus_way){.formed = d.formed - 1}));
            if (t % 2) assert_memory_not_equal(G, fresh, (size_t)(n * n) * sizeof *G); // in other rows all may be zero
        }
        free(mem.base);
    }
}

// Every storage gives the same G and the same velocities from reactions, to rounding: columns, kept columns, products
// of sparse columns, and the primitive, with rows in another order.
static void all_storages_give_one_operator(void **state) {
    (void)state;
    enum { VELOCITIES = 24, ROWS = 9 };
    static const carom_delassus_storage storages[] = {CAROM_BY_COLUMNS, CAROM_BY_KEPT_COLUMNS, CAROM_BY_PRODUCTS};
    uint64_t seed = 11;
    double mass[VELOCITIES], numbers[ROWS][ENTRIES], G[3][ROWS * ROWS], X[ROWS * VELOCITIES], again[ROWS * ROWS],
        v[3][VELOCITIES] = {{0}}, p[ROWS];
    int turned[ROWS];
    for (int i = 0; i < VELOCITIES; ++i) mass[i] = 1 + i % 5;
    for (int k = 0; k < ROWS; ++k) {
        p[k] = symmetric_uniform(&seed), turned[k] = ROWS - 1 - k;
        for (int e = 0; e < ENTRIES; ++e) numbers[k][e] = symmetric_uniform(&seed);
    }
    for (int way = 0; way < 3; ++way) {
        const bool sparse = way == 2;
        const carom_system sys = {.nq = VELOCITIES,
                                  .nv = VELOCITIES,
                                  .ne = ROWS,
                                  .column_stride = sparse ? ENTRIES : VELOCITIES,
                                  .mass_shape = {CAROM_DIAGONAL, VELOCITIES, 0, NULL},
                                  .flags = way == 1 ? CAROM_CONSTANT_DIRECTIONS | CAROM_CONSTANT_MASS : 0};
        carom_arena mem = {.base = zeroed(1 << 20), .size = 1 << 20};
        assert_non_null(mem.base);
        memset((char *)mem.base, 0, 1 << 20);
        carom_delassus d = carom_allocate_delassus(&mem, &sys, ROWS, ROWS, false, true);
        carom_factor F = carom_allocate_factor(&mem, sys.mass_shape, true);
        assert_int_equal(carom_factorise(&F, (carom_matrix){sys.mass_shape, mass}, NULL), CAROM_OK);
        F.ready = true;
        carom_local L = carom_allocate_local(&mem, &sys), *all = way == 1 ? &d.keep.all : &L;
        assert_true(mem.used <= mem.size);
        for (int side = 0; side < 2; ++side, all = &L) {
            all->nb = ROWS;
            for (int k = 0; k < ROWS; ++k) {
                int *row = sparse ? carom_column_own_rows(&all->W, k, ENTRIES) : NULL;
                all->id[k] = all->at[k] = k, all->at[k + 1] = k + 1;
                for (int e = 0; e < ENTRIES; ++e) {
                    if (row) row[e] = 2 * k + e;
                    all->W.a[(size_t)k * (size_t)all->W.stride + (size_t)(row ? e : 2 * k + e)] = numbers[k][e];
                }
            }
        }
        assert_true(carom_delassus_form(&d, &L, &L, &F, 0.7, (carom_delassus_way){.kept = way == 1}));
        assert_int_equal(d.storage, storages[way]);
        memcpy(G[way], d.G, sizeof G[way]);
        carom_delassus_react(&d, v[way], 2, p, ROWS - 1, NULL);
        for (int k = 0; k < ROWS; ++k) carom_column_expand(X + k * VELOCITIES, &L.W, turned[k]);
        carom_delassus_dense(again, ROWS, X, &L.W, turned, &F, 0.7, true);
        for (int i = 0; i < ROWS; ++i)
            for (int k = 0; k < ROWS; ++k) {
                assert_true(fabs(G[way][i + k * ROWS] - G[0][i + k * ROWS]) <= 8 * DBL_EPSILON);
                assert_true(fabs(again[turned[i] + turned[k] * ROWS] - G[0][i + k * ROWS]) <= 8 * DBL_EPSILON);
            }
        for (int i = 0; i < VELOCITIES; ++i) assert_true(fabs(v[way][i] - v[0][i]) <= 8 * DBL_EPSILON);
        free(mem.base);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_follows_the_stride),
        cmocka_unit_test(sparse_and_dense_columns_agree),
        cmocka_unit_test(columns_may_share_their_rows),
        cmocka_unit_test(matrices_by_parts_are_those_of_columns),
        cmocka_unit_test(sparse_columns_make_the_matrix_of_the_problem),
        cmocka_unit_test(a_problem_takes_over_what_the_last_one_has_solved),
        cmocka_unit_test(all_storages_give_one_operator),
        cmocka_unit_test(what_acts_decides_how_reactions_are_added_up),
    };
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
