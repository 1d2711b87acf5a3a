// saddle.c: see saddle.h.  The pattern follows from the structure of A, W and V alone: the same system, the same order,
// whatever was factorised before.
#include "linalg/saddle.h"
#include "linalg/matrix.h"
#include "linalg/order.h"
#include <math.h>
#include <string.h>

enum { MOST = CAROM_BLOCK_ROWS, NONE = -1 }; // rows of a block; no block
enum { PER_BLOCK = 24 };          // room for blocks of K, and of its factors, for each block
enum { REFINE = 2 };               // corrections of a solution
enum { WAYS = 4 };                 // structures of a column that are known: of W, with its derivatives, turned, both
static const double LEFT = 1e-10; // of the terms: what elimination without pivoting between blocks may leave
static const double SHARE = 1e-3; // of a solution that corrections may be: the factor has three digits at least
enum { ROUNDS = 3 };              // of levels: the second may be the first in which a level hears of those behind it
static const double TURN = 0.1;   // of a solution that the last round of levels may change

// Levels of either kind.
static size_t levels_of(const carom_saddle_levels *z) {
    return (size_t)(z->velocities > z->reactions ? z->velocities : z->reactions);
}

carom_saddle carom_allocate_saddle(carom_arena *mem, int nv, int ng, const int *group, int ne, carom_shape A,
                                   int stride, const carom_saddle_levels *levels) {
    static const carom_saddle_levels one = {
        .velocities = 1, .reactions = 1, .A = {{true}}, .W = {{true}}, .V = {{true}}};
    carom_saddle S = {.on = ne > 0 && group && stride < nv,
                      .nv = nv,
                      .ne = ne,
                      .ng = ng,
                      .group = group,
                      .levels = levels ? *levels : one};
    for (int g = 0; S.on && g < ng; ++g) S.on = group[g + 1] - group[g] <= MOST;
    if (!S.on) return S;
    const carom_saddle_levels *z = &S.levels;
    const size_t n = (size_t)(nv + ne), most = (size_t)(ng + ne), all = most * most, wide = (size_t)stride;
    const size_t N = (size_t)(z->velocities * nv + z->reactions * ne),
                 blocks = (size_t)(z->velocities * ng + z->reactions * ne);
    const size_t pairs = levels_of(z) * levels_of(z);
    S.entries = PER_BLOCK * most < all ? PER_BLOCK * most : all;
    S.values = PER_BLOCK * MOST * n < n * n ? PER_BLOCK * MOST * n : n * n;
    S.stored = carom_shape_size(A);
    int **by_block[] = {&S.size, &S.first, &S.start, &S.order};
    for (size_t i = 0; i < sizeof by_block / sizeof *by_block; ++i) *by_block[i] = carom_allocate_ints(mem, most + 1);
    S.of = carom_allocate_ints(mem, n);
    S.col = carom_allocate_ints(mem, S.entries);
    S.at = carom_allocate_ints(mem, S.entries);
    S.value = carom_allocate(mem, S.values * pairs);
    S.map_A = carom_allocate_ints(mem, S.stored);
    S.entry = carom_allocate_ints(mem, S.stored);
    carom_saddle_map *maps[] = {&S.W, &S.V};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; ++i) {
        maps[i]->to = carom_allocate_ints(mem, WAYS * (size_t)ne * (wide + 1));
        maps[i]->row = carom_allocate_ints(mem, WAYS * (size_t)ne * (wide + 1));
    }
    S.joint = carom_allocate_ints(mem, (size_t)ne + 1);
    S.joined = carom_allocate_ints(mem, 2 * (size_t)ne * wide);
    S.work =
        carom_allocate_ints(mem, 6 * most + 2 + S.entries + 2 * (size_t)ne * wide + carom_order_work(ng, S.entries));
    S.all_entries = S.entries * pairs;
    int **by_all[] = {&S.all_size, &S.all_first, &S.all_start, &S.all_order};
    for (size_t i = 0; i < sizeof by_all / sizeof *by_all; ++i) *by_all[i] = carom_allocate_ints(mem, blocks + 1);
    S.all_col = carom_allocate_ints(mem, S.all_entries);
    S.all_at = carom_allocate_ints(mem, S.all_entries);
    carom_allocate_block_lu(&S.F, mem, (int)N, (int)blocks, S.all_entries, S.values * pairs);
    CAROM_ALLOCATE(mem, N, &S.b, &S.x, &S.rest, &S.change);
    S.by_levels = z->velocities > 1 && z->velocities == z->reactions;
    for (int l = 0; S.by_levels && l < z->velocities; ++l)
        carom_allocate_block_lu(S.own + l, mem, (int)n, (int)most, S.entries, S.values);
    if (S.by_levels) CAROM_ALLOCATE(mem, n, &S.level_b, &S.level_x);
    S.lever = carom_allocate(mem, (size_t)ne);
    for (int j = 0; S.lever && j < ne; ++j) S.lever[j] = 1;
    bool *plain = carom_allocate_bytes(mem, blocks * sizeof *plain);
    for (size_t i = 0; plain && i < blocks; ++i) plain[i] = true;
    S.a = (carom_block_values){.value = S.value, .plain = plain};
    return S;
}

// -- the pattern -----------------------------------------------------------------------------------------------------

static void begin(carom_saddle *S) {
    for (int g = 0; g < S->ng; ++g) {
        S->first[g] = S->group[g], S->size[g] = S->group[g + 1] - S->group[g];
        for (int i = S->group[g]; i < S->group[g + 1]; ++i) S->of[i] = g;
    }
}

// Groups of columns k of W and V, without repetition; their number.
static int groups_of(const carom_saddle *S, const carom_columns *W, const carom_columns *V, int k, int *to) {
    const carom_columns *const both[2] = {W, V};
    int n = 0;
    for (int side = 0; side < 2; ++side)
        for (int e = 0; e < both[side]->count[k]; ++e) {
            const int g = S->of[carom_column_rows(both[side], k)[e]];
            int i = 0;
            while (i < n && to[i] != g) ++i;
            if (i == n) to[n++] = g;
        }
    return n;
}

static bool same_set(const int *a, int n, const int *b, int m) {
    for (int i = 0; i < n; ++i) {
        int j = 0;
        while (j < m && b[j] != a[i]) ++j;
        if (j == m) return false;
    }
    return n == m;
}

// Joints: rows one after the other that join the same groups.
static void find_joints(carom_saddle *S, const carom_columns *W, const carom_columns *V) {
    int used = 0, before = 0;
    S->nb = S->ng;
    for (int k = 0; k < S->ne; ++k) {
        int *to = S->joined + used;
        const int n = groups_of(S, W, V, k, to);
        const bool joins = k > 0 && S->size[S->nb - 1] < MOST && same_set(to, n, S->joined + before, used - before);
        if (!joins) {
            before = used, used += n;
            S->joint[S->nb - S->ng] = before;
            S->first[S->nb] = S->nv + k, S->size[S->nb] = 0;
            S->nb += 1;
        }
        S->size[S->nb - 1] += 1;
        S->of[S->nv + k] = S->nb - 1;
    }
    S->joint[S->nb - S->ng] = used;
}

// Adds block (i, j) unless mark says that row i has it.  False: no room.
static bool add(carom_saddle *S, int *mark, size_t *blocks, size_t *values, int i, int j) {
    const size_t size = (size_t)(S->size[i] * S->size[j]);
    if (mark[j] == i) return true;
    if (*blocks == S->entries || *values + size > S->values) return false;
    mark[j] = i;
    S->col[*blocks] = j, S->at[(*blocks)++] = (int)*values;
    *values += size;
    return true;
}

// Joints of each group: incident[start[g]] .. incident[start[g + 1] - 1].
static void list_joints(const carom_saddle *S, int *start, int *incident) {
    const int nj = S->nb - S->ng, used = S->joint[nj];
    for (int g = 0; g <= S->ng; ++g) start[g] = 0;
    for (int e = 0; e < used; ++e) start[S->joined[e] + 1]++;
    for (int g = 0; g < S->ng; ++g) start[g + 1] += start[g];
    for (int j = nj - 1; j >= 0; --j)
        for (int e = S->joint[j]; e < S->joint[j + 1]; ++e) incident[--start[S->joined[e] + 1]] = j;
    for (int g = 0; g < S->ng; ++g) start[g] = start[g + 1];
    start[S->ng] = used;
}

static bool find_blocks(carom_saddle *S, carom_matrix A, const int *start, const int *incident, int *mark) {
    const carom_pattern *P = A.shape.storage == CAROM_SPARSE ? A.shape.pattern : NULL;
    size_t blocks = 0, values = 0;
    for (int i = 0; i < S->nb; ++i) mark[i] = NONE;
    for (int i = 0; i < S->nb; ++i) {
        bool room = true;
        S->start[i] = (int)blocks;
        room = add(S, mark, &blocks, &values, i, i);
        for (int v = S->first[i]; P && i < S->ng && v < S->first[i] + S->size[i]; ++v) // the pattern is symmetric
            for (int e = P->start[v]; e < P->start[v + 1]; ++e)
                room = room && add(S, mark, &blocks, &values, i, S->of[P->row[e]]);
        for (int k = i < S->ng ? start[i] : 0; i < S->ng && k < start[i + 1]; ++k) {
            const int j = incident[k];
            room = room && add(S, mark, &blocks, &values, i, S->ng + j);
            for (int e = S->joint[j]; e < S->joint[j + 1]; ++e)
                room = room && add(S, mark, &blocks, &values, i, S->joined[e]);
        }
        for (int e = i < S->ng ? 0 : S->joint[i - S->ng]; i >= S->ng && e < S->joint[i - S->ng + 1]; ++e)
            room = room && add(S, mark, &blocks, &values, i, S->joined[e]);
        if (!room) return false;
    }
    S->start[S->nb] = (int)blocks;
    S->stride = values;
    return true;
}

// Groups that hang on one other alone, and not on the ground, from the outer ends of trees inwards: perm; their number.
// They become 0 in degree, the number of neighbours.
static int find_trees(const carom_saddle *S, const int *start, const int *incident, int *perm, int *degree) {
    const int ng = S->ng;
    int n = 0;
    for (int g = 0; g < ng; ++g) {
        degree[g] = 0;
        for (int k = S->start[g]; k < S->start[g + 1]; ++k) degree[g] += S->col[k] < ng && S->col[k] != g;
        for (int e = start[g]; e < start[g + 1]; ++e)
            if (S->joint[incident[e] + 1] - S->joint[incident[e]] == 1) degree[g] += ng; // it waits
        if (degree[g] == 1) perm[n++] = g;
    }
    for (int i = 0; i < n; ++i) {
        const int g = perm[i];
        degree[g] = 0;
        for (int k = S->start[g]; k < S->start[g + 1]; ++k) {
            const int to = S->col[k];
            if (to < ng && degree[to] > 0 && --degree[to] == 1) perm[n++] = to;
        }
    }
    return n;
}

// The order of elimination, see saddle.h.  A group whose joints were placed behind it while others of it were still
// there is held by them: no joint may follow it alone.
static void find_order(carom_saddle *S, const int *start, const int *incident, int *work) {
    const int ng = S->ng, nj = S->nb - ng;
    int *begin = work, *perm = begin + ng + 1, *when = perm + ng, *open = when + ng, *held = open + ng,
        *placed = held + ng, *adj = placed + nj, *rest = when, *number = open, n = 0, m = 0;
    const int trees = find_trees(S, start, incident, perm, number);
    for (int k = 0; k < trees; ++k) number[perm[k]] = NONE;
    for (int g = 0; g < ng; ++g)
        if (number[g] != NONE) number[g] = n, rest[n++] = g;
    for (int i = 0; i < n; ++i) {
        begin[i] = m;
        for (int k = S->start[rest[i]]; k < S->start[rest[i] + 1]; ++k) {
            const int j = S->col[k] < ng ? number[S->col[k]] : NONE;
            if (j != NONE && j != i) adj[m++] = j;
        }
    }
    begin[n] = m;
    carom_order(n, begin, adj, perm + trees, adj + m);
    for (int k = trees; k < ng; ++k) perm[k] = rest[perm[k]];
    for (int k = 0; k < ng; ++k) when[perm[k]] = k;
    for (int g = 0; g < ng; ++g) open[g] = start[g + 1] - start[g], held[g] = 0;
    for (int j = 0; j < nj; ++j) placed[j] = 0;
    int to = 0;
    for (int k = 0; k < ng; ++k) {
        const int g = perm[k];
        S->order[to++] = g;
        for (int e = start[g]; e < start[g + 1]; ++e) {
            const int j = incident[e], *groups = S->joined + S->joint[j], n = S->joint[j + 1] - S->joint[j];
            bool last = true;
            for (int i = 0; i < n; ++i) last = last && when[groups[i]] <= k;
            if (placed[j]) continue;
            const bool outer = !last && n == 2 && !held[g] && open[g] == 1;
            for (int i = 0; i < n && !outer; ++i) held[groups[i]] = 1;
            if (!last && !outer) continue;
            placed[j] = 1;
            S->order[to++] = ng + j;
            for (int i = 0; i < n; ++i) open[groups[i]] -= 1;
        }
    }
}

static int place(const carom_saddle *S, int i, int j) {
    const int a = S->of[i], b = S->of[j];
    for (int k = S->start[a]; k < S->start[a + 1]; ++k)
        if (S->col[k] == b) return S->at[k] + (i - S->first[a]) + (j - S->first[b]) * S->size[a];
    return NONE;
}

enum { WITHIN, BETWEEN, NOWHERE };

// Entries of one kind behind those that are listed.
static size_t list_entry(carom_saddle *S, size_t n, int kind, size_t e, int i, int j) {
    const int to = i < 0 ? NONE : place(S, i, j);
    if (kind != (to == NONE ? NOWHERE : S->of[i] == S->of[j] ? WITHIN : BETWEEN)) return n;
    S->entry[n] = (int)e, S->map_A[n] = to;
    return n + 1;
}

static size_t list_entries(carom_saddle *S, carom_matrix A, size_t n, int kind) {
    const carom_pattern *P = A.shape.pattern;
    int i, j;
    if (A.shape.storage == CAROM_SPARSE)
        for (j = 0; j < P->n; ++j)
            for (int e = P->start[j]; e < P->start[j + 1]; ++e) n = list_entry(S, n, kind, (size_t)e, P->row[e], j);
    else
        for (size_t e = 0; e < S->stored; ++e)
            n = carom_shape_entry(A.shape, e, &i, &j) ? list_entry(S, n, kind, e, i, j)
                                                      : list_entry(S, n, kind, e, NONE, NONE);
    return n;
}

static void map_matrix(carom_saddle *S, carom_matrix A) {
    S->within = list_entries(S, A, 0, WITHIN);
    S->mapped = list_entries(S, A, S->within, BETWEEN);
    list_entries(S, A, S->mapped, NOWHERE);
}

// Where what is known of column k begins.
static size_t at_column(const carom_saddle *S, const carom_columns *W, int k, int way) {
    return (size_t)(way * S->ne + k) * (size_t)(W->stride + 1);
}

static bool same_column(const carom_columns *W, int k, const int *known) {
    const int n = W->count[k];
    return n == known[0] && memcmp(carom_column_rows(W, k), known + 1, (size_t)n * sizeof *known) == 0;
}

static void map_column(const carom_saddle *S, const carom_columns *W, int k, carom_saddle_map map, bool below,
                       int way) {
    const size_t at = at_column(S, W, k, way);
    int *known = map.row + at, *to = map.to + at;
    known[0] = W->count[k];
    for (int e = 0; e < W->count[k]; ++e) {
        const int i = known[1 + e] = carom_column_rows(W, k)[e];
        to[1 + e] = below ? place(S, S->nv + k, i) : place(S, i, S->nv + k);
    }
}

// Where the numbers of levels l and m begin.
static size_t at_levels(const carom_saddle *S, int l, int m) {
    return ((size_t)l * levels_of(&S->levels) + (size_t)m) * S->stride;
}

// Blocks of all levels: those of block i stand together.
static int whole(const carom_saddle *S, int i, int level) {
    const int nx = S->levels.velocities, ny = S->levels.reactions;
    return i < S->ng ? i * nx + level : S->ng * nx + (i - S->ng) * ny + level;
}

static bool there(const carom_saddle *S, int i, int l, int j, int m) {
    const carom_saddle_levels *z = &S->levels;
    if (i < S->ng && j < S->ng) return z->A[l][m] && (i == j || S->couples[l][m]);
    return (i == j && l == m) || (i < S->ng ? z->W[l][m] : j < S->ng ? z->V[l][m] : false);
}

static bool expand(carom_saddle *S) {
    const int nx = S->levels.velocities, ny = S->levels.reactions;
    size_t n = 0;
    for (int i = 0; i < S->nb; ++i)
        for (int l = 0; l < (i < S->ng ? nx : ny); ++l) {
            const int block = whole(S, i, l);
            S->all_size[block] = S->size[i];
            S->all_first[block] = i < S->ng ? l * S->nv + S->first[i] : nx * S->nv + l * S->ne + S->first[i] - S->nv;
            S->all_start[block] = (int)n;
            for (int k = S->start[i]; k < S->start[i + 1]; ++k)
                for (int m = 0; m < (S->col[k] < S->ng ? nx : ny); ++m) {
                    if (!there(S, i, l, S->col[k], m)) continue;
                    if (n == S->all_entries) return false;
                    S->all_col[n] = whole(S, S->col[k], m);
                    S->all_at[n++] = (int)(at_levels(S, l, m) + (size_t)S->at[k]);
                }
        }
    const int blocks = S->ng * nx + (S->nb - S->ng) * ny;
    S->all_start[blocks] = (int)n;
    for (int k = 0, to = 0; k < S->nb; ++k)
        for (int l = 0; l < (S->order[k] < S->ng ? nx : ny); ++l) S->all_order[to++] = whole(S, S->order[k], l);
    S->all = (carom_block_pattern){.nb = blocks,
                                   .start = S->all_start,
                                   .col = S->all_col,
                                   .at = S->all_at,
                                   .size = S->all_size,
                                   .first = S->all_first};
    return carom_block_lu_analyse_in(&S->F, &S->all, S->all_order);
}

static bool analyse(carom_saddle *S, carom_matrix A, const carom_columns *W, const carom_columns *V) {
    begin(S);
    find_joints(S, W, V);
    int *start = S->work, *incident = start + S->ng + 1, *mark = incident + S->joint[S->nb - S->ng];
    list_joints(S, start, incident);
    if (!find_blocks(S, A, start, incident, mark)) return false;
    find_order(S, start, incident, mark);
    if (!expand(S)) return false;
    const carom_block_pattern one = {
        .nb = S->nb, .start = S->start, .col = S->col, .at = S->at, .size = S->size, .first = S->first};
    for (int l = 0; S->by_levels && l < S->levels.velocities; ++l)
        S->by_levels = carom_block_lu_analyse_in(S->own + l, &one, S->order);
    map_matrix(S, A);
    for (int k = 0; k < S->ne; ++k)
        for (int way = 0; way < WAYS; ++way) {
            map_column(S, W, k, S->W, false, way);
            map_column(S, V, k, S->V, true, way);
        }
    return true;
}

// -- numbers ----------------------------------------------------------------------------------------------------------

// The way in which column k stands; of one that is new, instead of the oldest.
static int way_of(carom_saddle *S, const carom_columns *W, int k, carom_saddle_map map, bool below) {
    int way = 0;
    while (way < WAYS && !same_column(W, k, map.row + at_column(S, W, k, way))) ++way;
    if (way < WAYS) return way;
    const size_t size = (size_t)(W->stride + 1) * sizeof(int);
    for (way = WAYS - 1; way > 0; --way) {
        const size_t to = at_column(S, W, k, way), from = at_column(S, W, k, way - 1);
        memcpy(map.row + to, map.row + from, size), memcpy(map.to + to, map.to + from, size);
    }
    map_column(S, W, k, map, below, 0);
    return 0;
}

// value += x W.  A column of another structure than before is looked at anew.  False: it joins other groups.
static bool add_columns(carom_saddle *S, int l, int m, double x, const carom_columns *W, carom_saddle_map map,
                        bool below) {
    double *restrict to = S->value + at_levels(S, l, m);
    const int n_k = S->ne - (S->levels.lacks[below ? l : m] ? S->levels.absent : 0);
    for (int k = 0; k < n_k; ++k) {
        const double *restrict a = W->a + (size_t)k * (size_t)W->stride;
        const int *restrict at = map.to + at_column(S, W, k, way_of(S, W, k, map, below)) + 1, n = W->count[k];
        for (int e = 0; e < n; ++e) {
            if (at[e] != NONE) to[at[e]] += x * a[e];
            else if (a[e] != 0) return false;
        }
    }
    return true;
}

bool carom_saddle_begin(carom_saddle *S, carom_matrix A, const carom_columns *W, const carom_columns *V) {
    if (!S->on || !W->count || !V->count) return false;
    if (!S->known && !(S->known = analyse(S, A, W, V))) return S->on = false; // nor will it be next time
    memset(S->value, 0, at_levels(S, (int)levels_of(&S->levels), 0) * sizeof *S->value);
    for (int m = 0; m < S->levels.reactions; ++m) // (SDL-3)
        for (int k = S->ne - S->levels.absent; k < S->ne && S->levels.lacks[m]; ++k)
            S->value[at_levels(S, m, m) + (size_t)place(S, S->nv + k, S->nv + k)] = 1;
    return true;
}

bool carom_saddle_add_matrix(carom_saddle *S, int l, int m, double x, carom_matrix A) {
    const double *restrict a = A.a;
    double *restrict to = S->value + at_levels(S, l, m);
    size_t k = 0;
    for (; k < S->within; ++k) to[S->map_A[k]] += x * a[S->entry[k]];
    for (; k < S->mapped; ++k) {
        const double own = a[S->entry[k]];
        if (own == 0) continue;
        to[S->map_A[k]] += x * own;
        if (!S->couples[l][m]) S->couples[l][m] = S->grown = true;
    }
    for (; k < S->stored; ++k)
        if (a[S->entry[k]] != 0) return false;
    return true;
}

bool carom_saddle_add_forces(carom_saddle *S, int l, int m, double x, const carom_columns *W) {
    return add_columns(S, l, m, x, W, S->W, false);
}
bool carom_saddle_add_rates(carom_saddle *S, int m, int l, double x, const carom_columns *V) {
    return add_columns(S, m, l, x, V, S->V, true);
}

// (SDL-6)  The pattern of all levels with what has come to it; false: there is no room.
static bool grow(carom_saddle *S) {
    if (S->grown) S->on = expand(S);
    S->grown = false;
    return S->on;
}

bool carom_saddle_finish_levels(carom_saddle *S) {
    S->refined = 0;
    S->by_level = S->by_levels && grow(S);
    for (int l = 0; S->by_level && l < S->levels.velocities; ++l) {
        carom_block_values a = S->a;
        a.value = S->value + at_levels(S, l, l);
        S->by_level = carom_block_lu_factor(S->own + l, &a);
    }
    return S->by_level;
}

bool carom_saddle_finish(carom_saddle *S) {
    S->refined = 0;
    S->by_level = false;
    return grow(S) && carom_block_lu_factor(&S->F, &S->a);
}

bool carom_saddle_factor(carom_saddle *S, carom_matrix A, const carom_columns *W, const carom_columns *V) {
    return carom_saddle_begin(S, A, W, V) && carom_saddle_add_matrix(S, 0, 0, 1, A) &&
           carom_saddle_add_forces(S, 0, 0, 1, W) && carom_saddle_add_rates(S, 0, 0, 1, V) && carom_saddle_finish(S);
}

typedef long long two_bits __attribute__((vector_size(16)));
CAROM_INLINE carom_two magnitude(carom_two x) {
    const long long but_sign = 0x7fffffffffffffff;
    return (carom_two)((two_bits)x & (two_bits){but_sign, but_sign});
}

// sum -= a x, size += |a x|: rows that are known where this is written out.
CAROM_INLINE void terms(double *restrict sum, double *restrict size, const double *restrict a,
                        const double *restrict x, const int rows, int columns) {
    carom_two rest[MOST / 2], all[MOST / 2];
    for (int i = 0; i < rows / 2; ++i) rest[i] = carom_load_two(sum + 2 * i), all[i] = carom_load_two(size + 2 * i);
    for (int c = 0; c < columns; ++c, a += rows) {
        for (int i = 0; i < rows / 2; ++i) {
            const carom_two y = carom_load_two(a + 2 * i) * x[c];
            rest[i] -= y, all[i] += magnitude(y);
        }
        if (rows % 2) sum[rows - 1] -= a[rows - 1] * x[c], size[rows - 1] += fabs(a[rows - 1] * x[c]);
    }
    for (int i = 0; i < rows / 2; ++i) carom_store_two(sum + 2 * i, rest[i]), carom_store_two(size + 2 * i, all[i]);
}

// S->rest = b - K x.  Is it small against its terms, in rows of motion and in those of joints?
static bool small_rest(carom_saddle *S, double small) {
    const carom_block_pattern *P = &S->all;
    double most[2] = {0, 0}, rest[2] = {0, 0};
    for (int i = 0; i < P->nb; ++i) {
        const int rows = P->size[i], at = P->first[i], kind = at >= S->levels.velocities * S->nv;
        double *restrict sum = S->rest + at, size[MOST];
        for (int q = 0; q < rows; ++q) sum[q] = S->b[at + q], size[q] = fabs(sum[q]);
        for (int k = P->start[i]; k < P->start[i + 1]; ++k) {
            const double *a = S->value + P->at[k], *x = S->x + P->first[P->col[k]];
            const int columns = P->size[P->col[k]];
            switch (rows) {
            case 1: terms(sum, size, a, x, 1, columns); break;
            case 2: terms(sum, size, a, x, 2, columns); break;
            case 3: terms(sum, size, a, x, 3, columns); break;
            case 4: terms(sum, size, a, x, 4, columns); break;
            case 5: terms(sum, size, a, x, 5, columns); break;
            default: terms(sum, size, a, x, 6, columns);
            }
        }
        for (int q = 0; q < rows; ++q) {
            const double lever = kind ? S->lever[(at + q - S->levels.velocities * S->nv) % S->ne] : 1;
            if (!(fabs(sum[q]) * lever <= rest[kind])) rest[kind] = fabs(sum[q]) * lever;
            most[kind] = fmax(most[kind], size[q] * lever);
        }
    }
    return rest[0] <= LEFT * most[0] && rest[1] <= fmax(LEFT * most[1], small);
}

// (SDL-4)  x += K^-1 (b - K x), with S->rest as it is.  False: the correction is no small part of x, K is singular.
static bool refine(carom_saddle *S) {
    const int n = S->levels.velocities * S->nv, all = n + S->levels.reactions * S->ne;
    carom_block_lu_solve(&S->F, S->rest, S->change);
    const bool part = carom_norm_max(S->change, n) <= SHARE * carom_norm_max(S->x, n) &&
                      carom_norm_max(S->change + n, all - n) <= SHARE * carom_norm_max(S->x + n, all - n);
    if (part) carom_axpy(S->x, 1, S->change, all);
    return part;
}

// -- levels one after the other ---------------------------------------------------------------------------------------

// y -= K_lm (x_m, y_m) for rows of level l.
static void take_level(const carom_saddle *S, int l, int m, double *y) {
    const double *value = S->value + at_levels(S, l, m), *x_m = S->x + m * S->nv,
                 *y_m = S->x + (S->levels.velocities - 1) * S->nv + m * S->ne; // joints are counted from nv on
    const bool by_kind[2][2] = {{S->levels.A[l][m], S->levels.W[l][m]}, {S->levels.V[l][m], false}};
    for (int i = 0; i < S->nb; ++i) {
        const int r = S->size[i];
        double *to = y + S->first[i];
        for (int k = S->start[i]; k < S->start[i + 1]; ++k) {
            const int j = S->col[k];
            if (!by_kind[i >= S->ng][j >= S->ng] || (i != j && i < S->ng && j < S->ng && !S->couples[l][m])) continue;
            const double *a = value + S->at[k], *x = (j < S->ng ? x_m : y_m) + S->first[j];
            carom_subtract_product(to, a, x, r, S->size[j]);
        }
    }
}

// One round of (SDL-5); the first one begins with nothing.  change: the largest of velocities and of reactions.
static void round_of_levels(carom_saddle *S, bool first, double change[2]) {
    const int n = S->levels.velocities, nv = S->nv, ne = S->ne;
    change[0] = change[1] = 0;
    for (int l = 0; l < n; ++l) {
        double *x = S->x + l * nv, *y = S->x + n * nv + l * ne;
        memcpy(S->level_b, S->b + l * nv, (size_t)nv * sizeof *x);
        memcpy(S->level_b + nv, S->b + n * nv + l * ne, (size_t)ne * sizeof *x);
        for (int m = 0; m < (first ? l : n); ++m)
            if (m != l) take_level(S, l, m, S->level_b);
        carom_block_lu_solve(S->own + l, S->level_b, S->level_x);
        for (int i = 0; !first && i < nv; ++i) change[0] = fmax(change[0], fabs(S->level_x[i] - x[i]));
        for (int i = 0; !first && i < ne; ++i) change[1] = fmax(change[1], fabs(S->level_x[nv + i] - y[i]));
        memcpy(x, S->level_x, (size_t)nv * sizeof *x);
        memcpy(y, S->level_x + nv, (size_t)ne * sizeof *x);
    }
}

// False: levels are not to be solved one after the other.
static bool solve_levels(carom_saddle *S) {
    const int n = S->levels.velocities * S->nv;
    double change[2];
    round_of_levels(S, true, change);
    for (int k = 1; k < ROUNDS; ++k) {
        round_of_levels(S, false, change);
        if (change[0] <= TURN * carom_norm_max(S->x, n) &&
            change[1] <= TURN * carom_norm_max(S->x + n, S->levels.reactions * S->ne))
            return true;
    }
    return false;
}

void carom_saddle_solve(carom_saddle *S) {
    if (S->by_level) {
        solve_levels(S);
        return;
    }
    carom_block_lu_solve(&S->F, S->b, S->x);
    for (int k = 0; k < S->refined; ++k)
        if (small_rest(S, 0) || !refine(S)) return;
}

bool carom_saddle_solve_checked(carom_saddle *S, double small) {
    S->refined = 0;
    if (S->by_level) return solve_levels(S);
    carom_saddle_solve(S);
    while (!small_rest(S, small)) {
        if (S->refined == REFINE || !refine(S)) return false;
        ++S->refined;
    }
    return true;
}
