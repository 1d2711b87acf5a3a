// delassus_blocks.c: W'F^-1 W by blocks, where contacts come and go and are many.
//
// F couples velocities of one part of the system only (a body).  So F^-1 is a block for each part, a constraint acts on a few parts (two
// bodies), and G_ij = sum over the parts that i and j share of A_i F^-1 W_j.  Nothing here grows with the square of anything.
#include "scheme/delassus_blocks.h"
#include <string.h>

// Blocks of G and numbers in them: for each constraint, and for some that share a part with very many.
enum { BLOCKS = 64, MORE = 1 << 20 };

carom_assembly carom_carve_assembly(carom_arena *mem, const carom_system *sys, int nb, int n) {
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
    x.links = 4 * b + parts;
    x.numbers = 2 * (size_t)(x.largest > 6 ? x.largest : 6) * (size_t)n + (size_t)x.largest * (parts + (size_t)(sys->ne + sys->nc - sys->listed));
    x.inverse = carom_carve(mem, numbers);
    x.inverse_at = carom_carve_bytes(mem, parts * sizeof *x.inverse_at);
    x.part_of = carom_carve_ints(mem, (size_t)sys->nv);
    x.x = carom_carve(mem, (size_t)sys->nv);
    x.first = carom_carve_ints(mem, b + 1);
    x.link_part = carom_carve_ints(mem, x.links);
    x.link_at = carom_carve_bytes(mem, x.links * sizeof *x.link_at);
    x.link_of = carom_carve_ints(mem, x.links);
    x.head = carom_carve_ints(mem, parts);
    x.body_of = carom_carve_ints(mem, parts);
    x.link_body = carom_carve_ints(mem, x.links);
    x.next = carom_carve_ints(mem, x.links);
    x.place = carom_carve_ints(mem, b);
    x.A = carom_carve(mem, x.numbers);
    x.X = carom_carve(mem, x.numbers);
    x.start = carom_carve_ints(mem, b + 1);
    x.diagonal = carom_carve_ints(mem, b);
    x.col = carom_carve_ints(mem, x.blocks);
    x.at = carom_carve_ints(mem, x.blocks);
    x.value = carom_carve(mem, x.values);
    return x;
}

// Which velocity belongs to which part.
static void begin(carom_assembly *x) {
    size_t at = 0;
    for (int i = 0; i < x->nparts; ++i) {
        const int size = x->part[i + 1] - x->part[i];
        x->inverse_at[i] = at;
        at += (size_t)(size * size);
        for (int k = x->part[i]; k < x->part[i + 1]; ++k) x->part_of[k] = i;
    }
    x->begun = true;
}

// F^-1, all parts side by side: unit vectors of every part are solved at once.
static void invert(carom_assembly *x, const carom_factor *F, int nv) {
    if (F->ready && x->F == F && x->count == F->count) return;
    for (int j = 0; j < x->largest; ++j) {
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

// Parts on which constraint b acts, with its directions there: A of A, X of F^-1 W.  False: there is no room.
static bool link_parts(carom_assembly *x, const carom_local *L, const carom_local *Lf, int b, size_t *numbers) {
    const int rows = L->at[b + 1] - L->at[b];
    const carom_columns *both[2] = {&L->W, &Lf->W};
    x->first[b + 1] = x->first[b];
    for (int side = 0; side < 2; ++side)
        for (int r = 0; r < rows; ++r) {
            const carom_columns *W = both[side];
            const size_t start = (size_t)(L->at[b] + r) * (size_t)W->stride;
            for (int e = 0; e < (W->count ? W->count[L->at[b] + r] : W->rows); ++e) {
                const double value = W->a[start + (size_t)e];
                const int v = W->count ? W->row[start + (size_t)e] : e, part = x->part_of[v], size = x->part[part + 1] - x->part[part];
                if (value == 0) continue;
                int l = x->first[b];
                while (l < x->first[b + 1] && x->link_part[l] != part) ++l;
                if (l == x->first[b + 1]) {
                    if ((size_t)l == x->links || *numbers + (size_t)(rows * size) > x->numbers) return false;
                    x->link_part[l] = part;
                    x->link_of[l] = b;
                    x->link_at[l] = *numbers;
                    carom_zero(x->A + *numbers, rows * size);
                    carom_zero(x->X + *numbers, rows * size);
                    *numbers += (size_t)(rows * size);
                    ++x->first[b + 1];
                }
                (side ? x->X : x->A)[x->link_at[l] + (size_t)(r * size + v - x->part[part])] = value;
            }
        }
    return true;
}

// X = a F^-1 W, part by part.
static void solve_parts(carom_assembly *x, const carom_local *L, double a) {
    for (int b = 0; b < L->nb; ++b)
        for (int l = x->first[b]; l < x->first[b + 1]; ++l) {
            const int part = x->link_part[l], size = x->part[part + 1] - x->part[part];
            const double *F = x->inverse + x->inverse_at[part];
            for (int r = 0; r < L->at[b + 1] - L->at[b]; ++r) {
                double *w = x->X + x->link_at[l] + (size_t)(r * size), *y = x->x;
                for (int i = 0; i < size; ++i) {
                    y[i] = 0;
                    for (int j = 0; j < size; ++j) y[i] += F[i + j * size] * w[j];
                }
                for (int i = 0; i < size; ++i) w[i] = a * y[i];
            }
        }
}

static void sort(int *x, int n) {
    for (int i = 1; i < n; ++i)
        for (int j = i; j > 0 && x[j - 1] > x[j]; --j) {
            const int y = x[j];
            x[j] = x[j - 1], x[j - 1] = y;
        }
}

// Columns of block row b: constraints that share a part with it.  place: 1 + block of a column, 0 elsewhere.  False: there is no room.
static bool find_columns(carom_assembly *x, const carom_local *L, int b, size_t *values) {
    const int from = x->start[b], rows = L->at[b + 1] - L->at[b];
    int n = from;
    if ((size_t)n == x->blocks) return false;
    x->col[n++] = b;
    x->place[b] = 1;
    for (int l = x->first[b]; l < x->first[b + 1]; ++l)
        for (int m = x->head[x->link_part[l]]; m >= 0; m = x->next[m]) {
            const int c = x->link_of[m];
            if (x->place[c]) continue;
            if ((size_t)n == x->blocks) return false;
            x->place[c] = 1;
            x->col[n++] = c;
        }
    sort(x->col + from, n - from);
    for (int k = from; k < n; ++k) {
        const int c = x->col[k], size = rows * (L->at[c + 1] - L->at[c]);
        if (*values + (size_t)size > x->values) return false;
        if (c == b) x->diagonal[b] = k;
        x->at[k] = (int)*values;
        *values += (size_t)size;
        x->place[c] = k + 1;
        carom_zero(x->value + x->at[k], size);
    }
    x->start[b + 1] = n;
    return true;
}

// G_bc += A_b X_c' of a part with `size` velocities
static inline void add_product(double *restrict G, const double *restrict A, const double *restrict X, int rows, int columns, int size) {
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
            double sum = 0;
            for (int k = 0; k < size; ++k) sum += A[i * size + k] * X[j * size + k];
            G[i + j * rows] += sum;
        }
}

static void fill_row(carom_assembly *x, const carom_local *L, int b) {
    const int rows = L->at[b + 1] - L->at[b];
    for (int l = x->first[b]; l < x->first[b + 1]; ++l) {
        const int part = x->link_part[l], size = x->part[part + 1] - x->part[part];
        for (int m = x->head[part]; m >= 0; m = x->next[m]) {
            const int c = x->link_of[m], columns = L->at[c + 1] - L->at[c];
            double *G = x->value + x->at[x->place[c] - 1];
            if (rows == 3 && columns == 3 && size == 6) add_product(G, x->A + x->link_at[l], x->X + x->link_at[m], 3, 3, 6);
            else add_product(G, x->A + x->link_at[l], x->X + x->link_at[m], rows, columns, size);
        }
    }
    for (int k = x->start[b]; k < x->start[b + 1]; ++k) x->place[x->col[k]] = 0;
}

bool carom_assembly_form(carom_assembly *x, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a, int nv) {
    size_t numbers = 0, values = 0;
    if (!x->begun) begin(x);
    x->nb = L->nb;
    x->first[0] = x->start[0] = 0;
    for (int i = 0; i < x->nparts; ++i) x->head[i] = -1;
    for (int b = 0; b < L->nb; ++b) x->place[b] = 0;
    for (int b = 0; b < L->nb; ++b)
        if (!link_parts(x, L, Lf, b, &numbers)) return false;
    for (int l = x->first[L->nb] - 1; l >= 0; --l) x->next[l] = x->head[x->link_part[l]], x->head[x->link_part[l]] = l;
    invert(x, F, nv);
    solve_parts(x, L, a);
    int uniform = L->nb > 0 ? L->at[1] - L->at[0] : 0;
    for (int b = 0; b < L->nb; ++b) {
        if (L->at[b + 1] - L->at[b] != uniform) uniform = 0;
        if (!find_columns(x, L, b, &values)) return false;
        fill_row(x, L, b);
    }
    x->rows = (carom_block_rows){.start = x->start, .col = x->col, .at = x->at, .diagonal = x->diagonal, .value = x->value, .uniform = uniform};
    x->scale = a;
    x->parts = (carom_parts){.part = x->part, .first = x->first, .link_part = x->link_part, .link_body = x->link_body, .link_at = x->link_at,
                             .inverse_at = x->inverse_at, .A = x->A, .inverse = x->inverse, .scale = a};
    for (int i = 0; i < x->nparts; ++i)
        if (x->head[i] >= 0) x->body_of[i] = x->parts.bodies++;
    for (int l = 0; l < x->first[L->nb]; ++l) x->link_body[l] = x->body_of[x->link_part[l]];
    return true;
}

void carom_assembly_react(const carom_assembly *x, const carom_local *L, double *v, double a, const double *p, int rows) {
    const double s = a / x->scale;
    for (int b = 0; b < x->nb && L->at[b] < rows; ++b)
        for (int l = x->first[b]; l < x->first[b + 1]; ++l) {
            const int part = x->link_part[l], size = x->part[part + 1] - x->part[part];
            const double *X = x->X + x->link_at[l];
            double *to = v + x->part[part];
            for (int k = L->at[b]; k < L->at[b + 1]; ++k, X += size)
                for (int i = 0; i < size; ++i) to[i] += s * p[k] * X[i];
        }
}
