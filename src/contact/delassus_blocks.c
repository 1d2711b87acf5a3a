// delassus_blocks.c: G = a V'F^-1 W by parts, dense or by blocks, where contacts come and go.
//
// F couples velocities of one part of the system only (a body).  So F^-1 is a block for each part, a constraint acts on
// a few parts (two bodies), and G_ij = sum over the parts that i and j share of A_i F^-1 W_j.  Nothing here grows with
// the square of anything.  Blocks beside the diagonal are most of it, and the solver of thousands of contacts does
// without them: they are made when another one needs them.
#include "contact/delassus_blocks.h"
#include "base/pages.h"
#include "base/team.h"
#include "linalg/matrix.h"
#include <carom/team.h>
#include <string.h>

// Blocks of G and numbers in them: for each constraint, and for some that share a part with very many.
enum { BLOCKS = 120, MORE = 1 << 20 };

// Room for links and numbers of most constraints: those that act on two bodies.
enum { LINKS = 8 };
static size_t numbers_of_row(const carom_assembly *x) { return 4 * (size_t)(x->largest > 6 ? x->largest : 6); }

carom_assembly carom_allocate_assembly(carom_arena *mem, const carom_system *sys, int nb, int n) {
    carom_assembly x = {.nparts = sys->nparts, .part = sys->part};
    if (!sys->listed || !sys->part) return x;
    const size_t b = (size_t)nb, parts = (size_t)sys->nparts;
    size_t numbers = 0;
    for (int i = 0; i < sys->nparts; ++i) {
        const int size = sys->part[i + 1] - sys->part[i];
        numbers += (size_t)(size * size);
        if (size > x.largest) x.largest = size;
    }
    x.blocks = BLOCKS * b + MORE;
    x.values = x.blocks * 9;
    x.links = LINKS * b + parts;
    x.numbers =
        numbers_of_row(&x) * (size_t)n + (size_t)x.largest * (parts + (size_t)(sys->ne + sys->nc - sys->listed));
    x.inverse = carom_allocate(mem, numbers > (size_t)sys->nv ? numbers : (size_t)sys->nv);
    x.inverse_at = carom_allocate_bytes(mem, parts * sizeof *x.inverse_at);
    x.part_of = carom_allocate_ints(mem, (size_t)sys->nv);
    x.first = carom_allocate_ints(mem, b + 1);
    x.link_part = carom_allocate_ints(mem, x.links);
    x.link_at = carom_allocate_bytes(mem, x.links * sizeof *x.link_at);
    x.link_of = carom_allocate_ints(mem, x.links);
    x.head = carom_allocate_ints(mem, parts);
    x.body_of = carom_allocate_ints(mem, parts);
    x.link_body = carom_allocate_ints(mem, x.links);
    x.next = carom_allocate_ints(mem, x.links);
    x.cursor = carom_allocate_ints(mem, x.links);
    x.place = carom_allocate_ints(mem, b);
    CAROM_ALLOCATE(mem, x.numbers, &x.A, &x.X);
    x.own = carom_allocate(mem, (1 + CAROM_TANGENTS) * (size_t)n);
    const size_t shared = CAROM_TEAM * (size_t)x.largest, both = 2 * (size_t)sys->nv;
    x.x = x.y = carom_allocate(mem, shared > both ? shared : both);
    x.start = carom_allocate_ints(mem, b + 1);
    x.diagonal = carom_allocate_ints(mem, b);
    x.col = carom_allocate_ints(mem, x.blocks);
    x.at = carom_allocate_ints(mem, x.blocks);
    x.value = carom_allocate(mem, x.values);
    return x;
}

// Which velocity belongs to which part.
static void begin(carom_assembly *x) {
    for (int i = 0; i < x->nparts; ++i)
        for (int k = x->part[i]; k < x->part[i + 1]; ++k) x->part_of[k] = i;
    x->begun = true;
}

// F^-1, all parts side by side: unit vectors of every part are solved at once.
static void invert(carom_assembly *x, const carom_factor *F, int nv) {
    size_t at = 0;
    if (F->ready && x->F == F && x->count == F->count) return;
    x->only_diagonal = F->shape.storage == CAROM_DIAGONAL;
    for (int i = 0; i < x->nparts; ++i) {
        const size_t size = (size_t)(x->part[i + 1] - x->part[i]);
        x->inverse_at[i] = x->only_diagonal ? (size_t)x->part[i] : at;
        at += size * size;
    }
    if (x->only_diagonal) {
        for (int i = 0; i < nv; ++i) x->inverse[i] = 1;
        carom_factor_solve(F, x->inverse);
    }
    for (int j = 0; j < x->largest && !x->only_diagonal; ++j) {
        carom_zero(x->x, nv);
        for (int i = 0; i < x->nparts; ++i)
            if (x->part[i] + j < x->part[i + 1]) x->x[x->part[i] + j] = 1;
        carom_factor_solve(F, x->x);
        for (int i = 0; i < x->nparts; ++i) {
            const int size = x->part[i + 1] - x->part[i];
            if (j < size) carom_copy(x->inverse + x->inverse_at[i] + (size_t)(j * size), x->x + x->part[i], size);
        }
    }
    x->F = F;
    x->count = F->count;
}

/// What threads share: each has a range of constraints.
typedef struct task {
    carom_assembly *x;
    const carom_local *L;
    const double *W; // directions of Lf by links: A or X
    double a;
    const carom_local *Lf;
    size_t last[CAROM_TEAM]; // links of each thread end here; NONE: there is no room
} task;

static void own_range(const task *t, int part, int parts, int *from, int *to) {
    *from = (int)((long)t->L->nb * part / parts);
    *to = (int)((long)t->L->nb * (part + 1) / parts);
}

static const size_t NONE = (size_t)-1;

/// Room for links and their numbers: from here on, to before there.
typedef struct room { size_t link, links, number, numbers; } room;

// Parts on which constraint b acts, with its directions there: A of A, X of W where that differs.  False: there is no
// room.
static bool link_parts(const task *t, int b, room *free) {
    carom_assembly *x = t->x;
    const carom_local *L = t->L;
    const int rows = L->at[b + 1] - L->at[b];
    const carom_columns *both[2] = {&L->W, &t->Lf->W};
    const size_t first = free->link;
    size_t l = first;
    x->first[b] = (int)first;
    for (int side = 0; side < (L == t->Lf ? 1 : 2); ++side)
        for (int r = 0; r < rows; ++r) {
            const carom_entries W = carom_entries_of(both[side], L->at[b] + r);
            for (int e = 0; e < W.n; ++e) {
                const double value = W.a[e];
                const int v = carom_entry_row(&W, e), part = x->part_of[v], size = x->part[part + 1] - x->part[part];
                if (value == 0) continue;
                if (l == free->link || x->link_part[l] != part) // else as the entry before
                    for (l = first; l < free->link && x->link_part[l] != part;) ++l;
                if (l == free->link) {
                    if (l == free->links || free->number + (size_t)(rows * size) > free->numbers) return false;
                    x->link_part[l] = part;
                    x->link_of[l] = b;
                    x->link_at[l] = free->number;
                    carom_zero(x->A + free->number, rows * size);
                    if (L != t->Lf) carom_zero(x->X + free->number, rows * size);
                    free->number += (size_t)(rows * size);
                    ++free->link;
                }
                (side ? x->X : x->A)[x->link_at[l] + (size_t)(r * size + v - x->part[part])] = value;
            }
        }
    return true;
}

// The same for directions that stand in W as A would have them: every row of the constraint has all velocities of the
// same parts, one after the other, and the first row acts on each.  False: they do not, or there is no room.
static bool link_in_place(const task *t, int b, room *free) {
    carom_assembly *x = t->x;
    const carom_columns *W = &t->L->W;
    const int at = t->L->at[b], rows = t->L->at[b + 1] - at, n = W->count[at];
    const size_t first = free->link, start = (size_t)at * (size_t)W->stride;
    const int *row = carom_column_rows(W, at);
    x->first[b] = (int)first;
    for (int r = 1; r < rows; ++r) {
        const int *other = carom_column_rows(W, at + r);
        if (W->count[at + r] != n || (other != row && memcmp(other, row, (size_t)n * sizeof *row) != 0)) return false;
    }
    for (int e = 0; e < n;) {
        const int part = x->part_of[row[e]], from = x->part[part], size = x->part[part + 1] - from;
        bool acts = false;
        if (e + size > n || free->link == free->links) return false;
        for (int i = 0; i < size; ++i) {
            if (row[e + i] != from + i) return false;
            acts = acts || W->a[start + (size_t)(e + i)] != 0;
        }
        for (size_t l = first; l < free->link; ++l)
            if (x->link_part[l] == part) return false;
        if (!acts) return false;
        x->link_part[free->link] = part;
        x->link_of[free->link] = b;
        x->link_at[free->link++] = start + (size_t)e;
        e += size;
    }
    return true;
}

static void link_range(void *user, int own, int parts) {
    task *t = user;
    const carom_assembly *x = t->x;
    const bool last = own + 1 == parts;
    int from, to;
    own_range(t, own, parts, &from, &to);
    room free = {LINKS * (size_t)from, last ? x->links : LINKS * (size_t)to, numbers_of_row(x) * (size_t)t->L->at[from],
                 last ? x->numbers : numbers_of_row(x) * (size_t)t->L->at[to]};
    t->last[own] = NONE;
    for (int b = from; b < to; ++b)
        if (!(x->ld ? link_in_place(t, b, &free) : link_parts(t, b, &free))) return;
    t->last[own] = free.link;
}

// Links of each thread, one after the other.  False: there is no room.
static bool join_links(task *t, int parts) {
    carom_assembly *x = t->x;
    size_t at = 0;
    for (int own = 0; own < parts; ++own) {
        int from, to;
        own_range(t, own, parts, &from, &to);
        if (t->last[own] == NONE) return false;
        const size_t first = LINKS * (size_t)from, n = t->last[own] - first;
        memmove(x->link_part + at, x->link_part + first, n * sizeof *x->link_part);
        memmove(x->link_of + at, x->link_of + first, n * sizeof *x->link_of);
        memmove(x->link_at + at, x->link_at + first, n * sizeof *x->link_at);
        for (int b = from; b < to; ++b) x->first[b] -= (int)(first - at);
        at += n;
    }
    x->first[t->L->nb] = (int)at;
    return true;
}

static bool link_all(task *t, struct carom_team *team) {
    carom_assembly *x = t->x;
    const carom_columns *W = &t->L->W;
    x->from = W->a;
    // X has the places of A
    x->ld = t->L == t->Lf && W->count && (size_t)t->L->at[t->L->nb] * (size_t)W->stride <= x->numbers ? W->stride : 0;
    if (x->ld) {
        carom_team_run(team, link_range, t);
        if (join_links(t, team && team->n > 1 ? team->n : 1)) return true;
    }
    x->from = x->A;
    x->ld = 0;
    carom_team_run(team, link_range, t);
    if (join_links(t, team && team->n > 1 ? team->n : 1)) return true;
    link_range(t, 0, 1); // a constraint acts on more parts than most: the room of all
    return join_links(t, 1);
}

// y = F w
static inline void multiply(const double *restrict F, bool only_diagonal, const double *restrict w, double *restrict y,
                            int n) {
    for (int i = 0; i < n; ++i) y[i] = only_diagonal ? F[i] * w[i] : 0;
    if (only_diagonal) return;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) y[i] += F[i + j * n] * w[j];
}

static int row_step(const carom_assembly *x, int size) { return x->ld ? x->ld : size; }

// X = a F^-1 W, part by part.
static void solve_parts(void *user, int own, int parts) {
    const task *t = user;
    carom_assembly *x = t->x;
    int from, to;
    own_range(t, own, parts, &from, &to);
    for (int b = from; b < to; ++b)
        for (int l = x->first[b]; l < x->first[b + 1]; ++l) {
            const int part = x->link_part[l], size = x->part[part + 1] - x->part[part];
            const double *F = x->inverse + x->inverse_at[part];
            for (int r = 0; r < t->L->at[b + 1] - t->L->at[b]; ++r) {
                const size_t at = x->link_at[l] + (size_t)(r * row_step(x, size));
                double *y = x->x + (size_t)own * (size_t)x->largest;
                if (size == 6) multiply(F, x->only_diagonal, t->W + at, y, 6);
                else multiply(F, x->only_diagonal, t->W + at, y, size);
                for (int i = 0; i < size; ++i) x->X[at + (size_t)i] = t->a * y[i];
            }
        }
}

// G_bc += A_b X_c' of a part with `size` velocities; ld: from row to row of A and X; to: from column to column of G
static inline void add_product(double *restrict G, int to, const double *restrict A, const double *restrict X, int rows,
                               int columns, int size, int ld) {
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
            double even = 0, odd = 0;
            int k = 0;
            for (; k + 1 < size; k += 2)
                even += A[i * ld + k] * X[j * ld + k], odd += A[i * ld + k + 1] * X[j * ld + k + 1];
            if (k < size) even += A[i * ld + k] * X[j * ld + k];
            G[i + (size_t)j * (size_t)to] += even + odd;
        }
}

// G_bb, bit for bit as fill_rows() makes it.
static void fill_own(void *user, int own, int parts) {
    const task *t = user;
    const carom_assembly *x = t->x;
    double *y = x->x + (size_t)own * (size_t)x->largest;
    int from, to;
    own_range(t, own, parts, &from, &to);
    for (int b = from; b < to; ++b) {
        const int rows = t->L->at[b + 1] - t->L->at[b];
        double *G = x->own + (size_t)x->parts.max_rows * (size_t)t->L->at[b];
        carom_zero(G, rows * rows);
        for (int l = x->first[b]; l < x->first[b + 1]; ++l) {
            const int part = x->link_part[l], size = x->part[part + 1] - x->part[part], ld = row_step(x, size);
            const double *A = x->from + x->link_at[l], *F = x->inverse + x->inverse_at[part];
            for (int j = 0; j < rows; ++j) {
                if (size == 6) multiply(F, x->only_diagonal, A + j * ld, y, 6);
                else multiply(F, x->only_diagonal, A + j * ld, y, size);
                for (int i = 0; i < size; ++i) y[i] *= t->a;
                if (size == 6) add_product(G + j * rows, rows, A, y, rows, 1, 6, ld);
                else add_product(G + j * rows, rows, A, y, rows, 1, size, ld);
            }
        }
    }
}

// The columns of block row b are the constraints that share a part with it: the lists of its parts, which ascend, are
// merged.  cursor: where each stands.
static void begin_row(carom_assembly *x, int b) {
    for (int l = x->first[b]; l < x->first[b + 1]; ++l) x->cursor[l] = x->head[x->link_part[l]];
}

static int next_column(const carom_assembly *x, int b) {
    int least = x->nb;
    for (int l = x->first[b]; l < x->first[b + 1]; ++l)
        if (x->cursor[l] >= 0 && x->link_of[x->cursor[l]] < least) least = x->link_of[x->cursor[l]];
    return least;
}

// Blocks and numbers of each row.
static void count_rows(void *user, int own, int parts) {
    const task *t = user;
    carom_assembly *x = t->x;
    int from, to;
    own_range(t, own, parts, &from, &to);
    for (int b = from; b < to; ++b) {
        const int rows = t->L->at[b + 1] - t->L->at[b];
        int blocks = 0, values = 0;
        begin_row(x, b);
        for (int c; (c = next_column(x, b)) < x->nb; ++blocks) {
            values += rows * (t->L->at[c + 1] - t->L->at[c]);
            for (int l = x->first[b]; l < x->first[b + 1]; ++l)
                if (x->cursor[l] >= 0 && x->link_of[x->cursor[l]] == c) x->cursor[l] = x->next[x->cursor[l]];
        }
        x->start[b + 1] = blocks ? blocks : 1; // acts on nothing: a diagonal block of zeros
        x->place[b] = blocks ? values : rows * rows;
    }
}

// Where each row starts.  False: there is no room.
static bool place_rows(carom_assembly *x) {
    size_t blocks = 0, values = 0;
    x->start[0] = 0;
    for (int b = 0; b < x->nb; ++b) {
        const size_t own = (size_t)x->place[b];
        blocks += (size_t)x->start[b + 1];
        if (blocks > x->blocks || values + own > x->values) return false;
        x->start[b + 1] = (int)blocks;
        x->place[b] = (int)values;
        values += own;
    }
    return true;
}

static void fill_rows(void *user, int own, int parts) {
    const task *t = user;
    carom_assembly *x = t->x;
    int from, to;
    own_range(t, own, parts, &from, &to);
    for (int b = from; b < to; ++b) {
        const int rows = t->L->at[b + 1] - t->L->at[b];
        int at = x->place[b];
        begin_row(x, b);
        for (int k = x->start[b]; k < x->start[b + 1]; ++k) {
            const int next = next_column(x, b), c = next < x->nb ? next : b, columns = t->L->at[c + 1] - t->L->at[c];
            double *G = x->value + at;
            if (c == b) x->diagonal[b] = k;
            x->col[k] = c;
            x->at[k] = at;
            at += rows * columns;
            carom_zero(G, rows * columns);
            for (int l = x->first[b]; l < x->first[b + 1]; ++l) {
                const int m = x->cursor[l], part = x->link_part[l], size = x->part[part + 1] - x->part[part];
                if (m < 0 || x->link_of[m] != c) continue;
                const double *A = x->from + x->link_at[l], *X = x->X + x->link_at[m];
                if (rows == 3 && columns == 3 && size == 6) add_product(G, 3, A, X, 3, 3, 6, row_step(x, 6));
                else add_product(G, rows, A, X, rows, columns, size, row_step(x, size));
                x->cursor[l] = x->next[m];
            }
        }
    }
}

// Parts by number, among those on which some constraint acts, and what solvers get to see of them.
static void show_parts(carom_assembly *x, int most) {
    x->parts = (carom_parts){.part = x->part,
                             .first = x->first,
                             .link_part = x->link_part,
                             .link_body = x->link_body,
                             .link_at = x->link_at,
                             .inverse_at = x->inverse_at,
                             .A = x->from,
                             .ld = x->ld,
                             .inverse = x->inverse,
                             .only_diagonal = x->only_diagonal,
                             .scale = x->scale,
                             .nparts = x->nparts,
                             .max_rows = most,
                             .head = x->head,
                             .next = x->next,
                             .link_of = x->link_of,
                             .y = x->y};
    for (int i = 0; i < x->nparts; ++i)
        if (x->head[i] >= 0) x->body_of[i] = x->parts.bodies++;
    for (int l = 0; l < x->first[x->nb]; ++l) x->link_body[l] = x->body_of[x->link_part[l]];
}

// The blocks of an earlier problem, which a solver asked for that seldom does.
static void forget_blocks(carom_assembly *x) {
    carom_forget(x->X, x->numbers * sizeof *x->X);
    carom_forget(x->col, x->blocks * sizeof *x->col);
    carom_forget(x->at, x->blocks * sizeof *x->at);
    carom_forget(x->value, x->values * sizeof *x->value);
    x->full = false;
}

bool carom_assembly_form(carom_assembly *x, const carom_local *L, const carom_local *Lf, const carom_factor *F,
                         double a, struct carom_team *team) {
    task t = {.x = x, .L = L, .Lf = Lf, .a = a};
    int most = 1;
    if (!x->begun) begin(x);
    x->nb = L->nb, x->L = L, x->even = L == Lf, x->scale = a;
    for (int i = 0; i < x->nparts; ++i) x->head[i] = -1;
    for (int b = 0; b < L->nb; ++b)
        if (L->at[b + 1] - L->at[b] > most) most = L->at[b + 1] - L->at[b];
    if (!link_all(&t, team)) return false;
    for (int l = x->first[L->nb] - 1; l >= 0; --l) x->next[l] = x->head[x->link_part[l]], x->head[x->link_part[l]] = l;
    invert(x, F, x->part[x->nparts]);
    show_parts(x, most);
    return true;
}

void carom_assembly_diagonal(carom_assembly *x, struct carom_team *team) {
    task t = {.x = x, .L = x->L, .Lf = x->L, .a = x->scale};
    if (x->full) forget_blocks(x);
    carom_team_run(team, fill_own, &t);
    x->parts.diagonal = x->own;
}

void carom_assembly_dense(carom_assembly *x, double *G) {
    const int *at = x->L->at, n = at[x->nb];
    task t = {.x = x, .L = x->L, .W = x->even ? x->from : x->X, .a = x->scale};
    solve_parts(&t, 0, 1);
    carom_zero(G, (ptrdiff_t)n * n);
    for (int part = 0; part < x->nparts; ++part) {
        const int size = x->part[part + 1] - x->part[part], ld = row_step(x, size);
        for (int m = x->head[part]; m >= 0; m = x->next[m])
            for (int l = x->even ? m : x->head[part]; l >= 0; l = x->next[l]) { // the same: below the diagonal
                const int b = x->link_of[l], c = x->link_of[m], rows = at[b + 1] - at[b], columns = at[c + 1] - at[c];
                const double *A = x->from + x->link_at[l], *X = x->X + x->link_at[m];
                double *to = G + at[b] + (size_t)at[c] * (size_t)n;
                if (rows == 3 && columns == 3 && size == 6) add_product(to, n, A, X, 3, 3, 6, ld);
                else add_product(to, n, A, X, rows, columns, size, ld);
            }
    }
    for (int k = 0; x->even && k < n; ++k)
        for (int i = k + 1; i < n; ++i) G[k + (size_t)i * (size_t)n] = G[i + (size_t)k * (size_t)n];
}

bool carom_assembly_rows(carom_assembly *x, struct carom_team *team) {
    const carom_local *L = x->L;
    task t = {.x = x, .L = L, .W = x->even ? x->from : x->X, .a = x->scale};
    int uniform = L->nb > 0 ? L->at[1] - L->at[0] : 0;
    for (int b = 0; b < L->nb; ++b)
        if (L->at[b + 1] - L->at[b] != uniform) uniform = 0;
    carom_team_run(team, solve_parts, &t);
    carom_team_run(team, count_rows, &t);
    if (!place_rows(x)) return false;
    carom_team_run(team, fill_rows, &t);
    x->full = true;
    x->rows = (carom_block_rows){
        .start = x->start, .col = x->col, .at = x->at, .diagonal = x->diagonal, .value = x->value, .uniform = uniform};
    return true;
}

/// v += s F^-1 W p
typedef struct reaction {
    const carom_assembly *x;
    const carom_local *L;
    double *v, s;
    const double *p;
    int rows;
} reaction;

// Part by part; the constraints of each in their order: F^-1 of the sum of W p, or the sum of the columns that are
// there.
static void react(void *user, int own, int parts) {
    const reaction *t = user;
    const carom_assembly *x = t->x;
    const int from = (int)((long)x->nparts * own / parts), end = (int)((long)x->nparts * (own + 1) / parts);
    for (int part = from; part < end; ++part) {
        const int size = x->part[part + 1] - x->part[part];
        const double *W = x->even ? x->from : x->X, *F = x->inverse + x->inverse_at[part];
        double *v = t->v + x->part[part], *sum = x->x + (size_t)own * (size_t)x->largest, *to = x->even ? sum : v;
        if (x->head[part] < 0) continue;
        if (x->even) carom_zero(sum, size);
        for (int l = x->head[part]; l >= 0; l = x->next[l]) {
            const int b = x->link_of[l];
            const double *w = W + x->link_at[l];
            if (t->L->at[b] >= t->rows) break;
            for (int k = t->L->at[b]; k < t->L->at[b + 1]; ++k, w += row_step(x, size))
                for (int i = 0; i < size; ++i) to[i] += t->s * t->p[k] * w[i];
        }
        for (int i = 0; i < size && x->even && x->only_diagonal; ++i) v[i] += x->scale * F[i] * sum[i];
        for (int j = 0; j < size && x->even && !x->only_diagonal; ++j)
            for (int i = 0; i < size; ++i) v[i] += x->scale * F[i + j * size] * sum[j];
    }
}

void carom_assembly_react(const carom_assembly *x, const carom_local *L, double *v, double a, const double *p, int rows,
                          struct carom_team *team) {
    reaction t = {x, L, v, a / x->scale, p, rows};
    carom_team_run(team, react, &t);
}
