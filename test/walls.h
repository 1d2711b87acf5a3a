// walls.h: contact problems of many bodies with G by blocks, as mechanics makes them: G_ij = sum of J_i M^-1 J_j' over
// shared bodies.
//
// Walls of bricks and towers of boxes rest on more points than they have degrees of freedom, so reactions are not
// unique.  v = 0 is admissible, so a solution exists, unless something is added that moves.
#pragma once
#include "problems.h"

typedef struct wall_contact {
    int body[2];              // -1: ground
    carom_law law;
    double mu;
    double J[2][6][6];        // side, row, degree of freedom
} wall_contact;

typedef struct wall {
    int bodies, contacts, room;
    wall_contact *contact;
    double *v;                // 6 for each body
    double turn;              // inverse inertia of rotations; masses are 1
    double skew;              // levers of velocities are longer than those of impulses by this part: G is not symmetric
} wall;

static inline wall wall_create(int bodies) {
    return (wall){.bodies = bodies, .v = calloc((size_t)bodies * 6 + 1, sizeof(double)), .turn = 3};
}

static inline void wall_destroy(wall *w) { free(w->contact), free(w->v); }

static inline wall_contact *wall_add(wall *w, int a, int b, carom_law law, double mu) {
    if (w->contacts == w->room)
        w->contact = realloc(w->contact, sizeof *w->contact * (size_t)(w->room = 2 * w->room + 16));
    wall_contact *c = w->contact + w->contacts++;
    *c = (wall_contact){.body = {a, b}, .law = law, .mu = mu};
    return c;
}

// A contact at a place (from the centres: r_a, r_b) with normal y, tangents x and z; body a is above.
static inline void wall_touch(wall *w, int a, int b, carom_law law, double mu, const double *r_a, const double *r_b) {
    static const double direction[3][3] = {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
    wall_contact *c = wall_add(w, a, b, law, mu);
    for (int side = 0; side < 2; side++) {
        const double *r = side ? r_b : r_a, sign = side ? -1 : 1;
        for (int k = 0; k < carom_law_rows(law) && k < 3; k++) {
            const double *d = direction[k];
            double *J = c->J[side][k];
            for (int i = 0; i < 3; i++) J[i] = sign * d[i];
            J[3] = sign * (r[1] * d[2] - r[2] * d[1]), J[4] = sign * (r[2] * d[0] - r[0] * d[2]),
            J[5] = sign * (r[0] * d[1] - r[1] * d[0]);
        }
    }
}

// Bricks of 2 x 1 in rows, every other row shifted by half a brick: four points each, eight planar rows for three
// degrees of freedom.
static inline wall wall_of_bricks(int columns, int rows, double mu, uint64_t seed) {
    wall w = wall_create(columns * rows);
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < columns; k++) {
            const int a = r * columns + k, left = r % 2 ? k : k - 1;
            double *v = w.v + 6 * a;
            v[0] = 0.3 * symmetric_uniform(&seed), v[1] = -1 + 0.1 * symmetric_uniform(&seed),
            v[5] = 0.1 * symmetric_uniform(&seed);
            for (int side = 0; side < 2; side++) { // supports: the bricks to the left and right below
                const int under =
                    r > 0 && left + side >= 0 && left + side < columns ? (r - 1) * columns + left + side : -1;
                for (int end = 0; end < 2; end++) {
                    const double x = side - 1 + end, below = side ? x - 1 : x + 1;
                    if (r == 0 && end != side) continue; // two points on the ground
                    if (r > 0 && under < 0) continue;
                    wall_touch(&w, a, under, CAROM_PLANAR, mu, (double[]){x, -0.5, 0}, (double[]){below, 0.5, 0});
                }
            }
        }
    return w;
}

// Towers of cubes, four corners each: twelve rows for six degrees of freedom.
static inline wall wall_of_towers(int towers, int high, double mu, uint64_t seed) {
    wall w = wall_create(towers * high);
    for (int t = 0; t < towers; t++)
        for (int k = 0; k < high; k++) {
            const int a = t * high + k, under = k > 0 ? a - 1 : -1;
            double *v = w.v + 6 * a;
            for (int i = 0; i < 6; i++) v[i] = 0.2 * symmetric_uniform(&seed);
            v[1] -= 1;
            for (int corner = 0; corner < 4; corner++) {
                const double x = corner & 1 ? 0.5 : -0.5, z = corner & 2 ? 0.5 : -0.5;
                wall_touch(&w, a, under, CAROM_SPATIAL, mu, (double[]){x, -0.5, z}, (double[]){x, 0.5, z});
            }
        }
    return w;
}

// A rod between the centres of two bodies, along x and y; counted twice if `redundant`.
static inline void wall_tie(wall *w, int a, int b, bool redundant) {
    for (int k = 0; k < (redundant ? 4 : 2); k++) {
        wall_contact *c = wall_add(w, a, b, CAROM_BILATERAL, 0);
        c->J[0][0][k % 2] = 1, c->J[1][0][k % 2] = -1;
    }
}

// A problem whose G is given by blocks, with its memory.
typedef struct block_problem {
    carom_problem pb;
    carom_block_rows rows;
    carom_block *block;
    int *start, *col, *at, *diagonal;
    double *value, *c, *p, *u;
} block_problem;

static inline void block_problem_destroy(block_problem *x) {
    void *parts[] = {x->block, x->start, x->col, x->at, x->diagonal, x->value, x->c, x->p, x->u};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) free(parts[i]);
}

// Does contact j share a body with contact i?
static inline bool wall_meet(const wall_contact *a, const wall_contact *b) {
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++)
            if (a->body[s] >= 0 && a->body[s] == b->body[t]) return true;
    return false;
}

static inline double wall_entry(const wall *w, int i, int r, int j, int q) {
    const wall_contact *a = w->contact + i, *b = w->contact + j;
    double sum = 0;
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++)
            if (a->body[s] >= 0 && a->body[s] == b->body[t])
                for (int k = 0; k < 6; k++)
                    sum += a->J[s][r][k] * (k < 3 ? 1 : (1 + w->skew) * w->turn) * b->J[t][q][k];
    return sum;
}

// Contacts of bodies are found by lists, so that the cost grows with the number of blocks.
static inline block_problem wall_problem(const wall *w) {
    block_problem x = {0};
    const int nb = w->contacts;
    int *first = malloc(sizeof(int) * ((size_t)w->bodies + 1)), *next = malloc(sizeof(int) * (2 * (size_t)nb + 1)),
        *mark = malloc(sizeof(int) * ((size_t)nb + 1));
    x.block = calloc((size_t)nb + 1, sizeof *x.block), x.start = calloc((size_t)nb + 1, sizeof(int)),
    x.diagonal = calloc((size_t)nb + 1, sizeof(int));
    int n = 0, count = 0, used = 0, uniform = nb > 0 ? carom_law_rows(w->contact[0].law) : 0;
    for (int i = 0; i < w->bodies; i++) first[i] = -1;
    for (int i = nb - 1; i >= 0; i--)
        for (int s = 0; s < 2; s++)
            if (w->contact[i].body[s] >= 0)
                next[2 * i + s] = first[w->contact[i].body[s]], first[w->contact[i].body[s]] = 2 * i + s;
    for (int i = 0; i < nb; i++) {
        x.block[i] = (carom_block){w->contact[i].law, n, w->contact[i].mu};
        n += carom_law_rows(w->contact[i].law);
        if (carom_law_rows(w->contact[i].law) != uniform) uniform = 0;
        mark[i] = -1;
    }
    for (int pass = 0; pass < 2; pass++) { // counts, then fills
        if (pass)
            x.col = calloc((size_t)count + 1, sizeof(int)), x.at = calloc((size_t)count + 1, sizeof(int)),
            x.value = calloc((size_t)used + 1, sizeof(double));
        count = used = 0;
        for (int i = 0; i < nb; i++) mark[i] = -1;
        for (int i = 0; i < nb; i++) {
            const int rows = carom_law_rows(x.block[i].law), begin = count;
            x.start[i] = count;
            for (int s = 0; s < 3; s++) { // both bodies, and itself
                const int body = s < 2 ? w->contact[i].body[s] : -1;
                for (int e = s == 2 ? 2 * i : body >= 0 ? first[body] : -1; e >= 0; e = s == 2 ? -1 : next[e]) {
                    if (mark[e / 2] == i) continue;
                    mark[e / 2] = i;
                    if (!pass) {
                        count++, used += rows * carom_law_rows(x.block[e / 2].law);
                        continue;
                    }
                    int k = count++;
                    for (; k > begin && x.col[k - 1] > e / 2; k--) x.col[k] = x.col[k - 1];
                    x.col[k] = e / 2;
                }
            }
            for (int k = begin; pass && k < count; k++) {
                const int j = x.col[k], cols = carom_law_rows(x.block[j].law);
                if (j == i) x.diagonal[i] = k;
                x.at[k] = used;
                for (int q = 0; q < cols; q++)
                    for (int r = 0; r < rows; r++) x.value[used++] = wall_entry(w, i, r, j, q);
            }
        }
        x.start[nb] = count;
    }
    x.c = calloc((size_t)n + 1, sizeof(double)), x.p = calloc((size_t)n + 1, sizeof(double)),
    x.u = calloc((size_t)n + 1, sizeof(double));
    for (int i = 0; i < nb; i++)
        for (int r = 0; r < carom_law_rows(x.block[i].law); r++)
            for (int s = 0; s < 2; s++)
                for (int k = 0; w->contact[i].body[s] >= 0 && k < 6; k++)
                    x.c[x.block[i].at + r] +=
                        w->contact[i].J[s][r][k] * (k < 3 ? 1 : 1 + w->skew) * w->v[6 * w->contact[i].body[s] + k];
    free(first), free(next), free(mark);
    x.rows = (carom_block_rows){
        .start = x.start, .col = x.col, .at = x.at, .diagonal = x.diagonal, .value = x.value, .uniform = uniform};
    x.pb = (carom_problem){.n = n, .nb = nb, .ld = n > 0 ? n : 1, .block = x.block, .c = x.c, .p = x.p, .u = x.u};
    return x;
}

// The problem is returned by value: its view must point to its own rows.
static inline carom_problem *block_view(block_problem *x) {
    x->pb.rows = &x->rows;
    return &x->pb;
}
