// problems.h: contact problems for tests and benchmarks, with their memory.
//
// A pile is G = W' M^-1 W, c = W'v of round bodies that touch each other and the ground at random places: the
// structure that mechanics produces, with as many degrees of freedom as asked for.  v = 0 is admissible, so a
// solution exists.
#pragma once
#include "contact/residual.h"
#include <carom/problem.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct contact_problem {
    carom_problem pb;
    carom_block *block;
    double *G, *c, *p, *u;
    int capacity;
} contact_problem;

// xorshift: the same numbers on every machine.
static inline double uniform(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-53;
}

static inline double symmetric_uniform(uint64_t *seed) {
    return 2 * uniform(seed) - 1;
}

static inline contact_problem problem_create(int rows, int blocks) {
    contact_problem x;
    memset(&x, 0, sizeof x);
    x.capacity = rows;
    x.block = calloc((size_t)blocks + 1, sizeof *x.block);
    x.G = calloc((size_t)rows * rows + 1, sizeof(double));
    x.c = calloc((size_t)rows + 1, sizeof(double));
    x.p = calloc((size_t)rows + 1, sizeof(double));
    x.u = calloc((size_t)rows + 1, sizeof(double));
    x.pb = (carom_problem){.ld = rows > 0 ? rows : 1, .block = x.block, .G = x.G, .c = x.c, .p = x.p, .u = x.u};
    return x;
}

static inline void problem_destroy(contact_problem *x) {
    free(x->block);
    free(x->G);
    free(x->c);
    free(x->p);
    free(x->u);
}

static inline int problem_add(contact_problem *x, carom_law law, double mu) {
    const int at = x->pb.n;
    x->block[x->pb.nb++] = (carom_block){law, at, mu};
    x->pb.n += carom_law_rows(law);
    return at;
}

#define PROBLEM_G(x, i, j) ((x)->G[(i) + (size_t)(j) * (x)->pb.ld])

static inline void problem_cold(contact_problem *x) {
    memset(x->p, 0, (size_t)x->pb.n * sizeof(double));
}

// G = W' diag(w) W (or A' diag(w) W), W is dof x n, column-major; c = W'v.
static inline void problem_from_directions(contact_problem *x, int dof, const double *A, const double *W,
                                           const double *w, const double *v) {
    const int n = x->pb.n;
    for (int i = 0; i < n; i++) {
        x->c[i] = 0;
        for (int k = 0; k < dof; k++) x->c[i] += A[k + (size_t)i * dof] * v[k];
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < dof; k++) s += A[k + (size_t)i * dof] * w[k] * W[k + (size_t)j * dof];
            PROBLEM_G(x, i, j) = s;
        }
    }
}

// Contacts of `law` between `bodies` discs (3 dof) or balls (6 dof, from CAROM_SPATIAL on) and the ground.  Balls may
// resist spinning (CAROM_BALL_3), rolling (4) or both (5), with a lever of a tenth of their radius.  Their directions,
// dof x n, and inverse masses, dof, go to *directions and *inverse, for free(), unless these are NULL.
static inline contact_problem problem_pile_of(int contacts, int bodies, carom_law law, double mu, uint64_t seed,
                                              double **directions, double **inverse) {
    const int rows = carom_law_rows(law), each = law >= CAROM_SPATIAL ? 6 : 3, dof = each * bodies, n = contacts * rows;
    contact_problem x = problem_create(n, contacts);
    double *W = calloc((size_t)dof * n + 1, sizeof(double)), *w = calloc((size_t)dof, sizeof(double));
    double *v = calloc((size_t)dof, sizeof(double));
    for (int k = 0; k < bodies; k++) {
        const double mass = 0.5 + uniform(&seed);
        for (int i = 0; i < each; i++) {
            const bool rotation = i >= each / 2 + (each == 3);
            w[k * each + i] = (rotation ? (each == 3 ? 2 : 2.5) : 1) / mass;
            v[k * each + i] = rotation ? symmetric_uniform(&seed) : symmetric_uniform(&seed);
        }
        v[k * each + 1] -= 1; // gravity
    }
    for (int c = 0; c < contacts; c++) {
        const int at = problem_add(&x, law, mu), a = c < bodies ? c : (int)(uniform(&seed) * bodies);
        int b = (int)(uniform(&seed) * (bodies + bodies / 3 + 1)); // beyond the last: ground
        if (b == a) b = bodies;
        double n1[3], t1[3], t2[3];
        const double angle = (b < bodies ? 2 : 0.2) * 3.141592653589793 * symmetric_uniform(&seed) * 0.5;
        n1[0] = sin(angle), n1[1] = cos(angle), n1[2] = 0;
        t1[0] = cos(angle), t1[1] = -sin(angle), t1[2] = 0;
        if (law >= CAROM_SPATIAL) { // turn about y
            const double r = 3.141592653589793 * symmetric_uniform(&seed), s = sin(r), k = cos(r);
            n1[2] = -s * n1[0], n1[0] *= k;
            t1[2] = -s * t1[0], t1[0] *= k;
        }
        t2[0] = n1[1] * t1[2] - n1[2] * t1[1], t2[1] = n1[2] * t1[0] - n1[0] * t1[2],
        t2[2] = n1[0] * t1[1] - n1[1] * t1[0];
        const double *dir[1 + CAROM_TANGENTS] = {n1, t1, t2, law == CAROM_BALL_3 ? n1 : t1, t2, n1};
        for (int side = 0; side < 2; side++) {
            const int body = side ? b : a;
            if (body >= bodies) continue;
            for (int r = 0; r < rows; r++) {
                double *y = W + (size_t)(at + r) * dof + body * each;
                const double sign = side ? -1 : 1;
                for (int k = 0; r > 2 && k < 3; k++) y[3 + k] = 0.1 * sign * dir[r][k];
                if (r > 2) continue;
                for (int k = 0; k < each / 2 + (each == 3); k++) y[k] = sign * dir[r][k];
                if (each == 3) y[2] = r == 1 ? 1 : 0; // both radii turn the contact point the same way
                else if (r > 0) { // (-n) x t on either side
                    const double *t = dir[r];
                    y[3] = -(n1[1] * t[2] - n1[2] * t[1]);
                    y[4] = -(n1[2] * t[0] - n1[0] * t[2]);
                    y[5] = -(n1[0] * t[1] - n1[1] * t[0]);
                }
            }
        }
    }
    problem_from_directions(&x, dof, W, W, w, v);
    if (directions) *directions = W;
    else free(W);
    if (inverse) *inverse = w;
    else free(w);
    free(v);
    return x;
}

static inline contact_problem problem_pile(int contacts, int bodies, carom_law law, double mu, uint64_t seed) {
    return problem_pile_of(contacts, bodies, law, mu, seed, NULL, NULL);
}

// Dense random G = B'B / n + shift, c in [-1, 1]; every block has the given law, or those up to CAROM_SPATIAL in turn
// (law < 0).
static inline contact_problem problem_random(int blocks, int law, double mu, double shift, uint64_t seed) {
    contact_problem x = problem_create((1 + CAROM_TANGENTS) * blocks, blocks);
    for (int k = 0; k < blocks; k++) problem_add(&x, law < 0 ? (carom_law)((k + 1) % 4) : (carom_law)law, mu);
    const int n = x.pb.n;
    double *B = malloc(((size_t)n * n + 1) * sizeof(double)), *one = malloc(((size_t)n + 1) * sizeof(double));
    for (int i = 0; i < n * n; i++) B[i] = symmetric_uniform(&seed);
    for (int i = 0; i < n; i++) one[i] = 1.0 / n;
    problem_from_directions(&x, n, B, B, one, one);
    for (int i = 0; i < n; i++) {
        PROBLEM_G(&x, i, i) += shift;
        x.c[i] = symmetric_uniform(&seed);
    }
    free(B);
    free(one);
    return x;
}

// Memory for one solver or one chain.
typedef struct solver_memory {
    carom_arena mem;
    void *work;
    carom_chain *chain;
} solver_memory;

static inline solver_memory memory_for_solver(const carom_solver *s, int n, int nb) {
    solver_memory m = {{0}, calloc(1, CAROM_SOLVER_WORK), NULL};
    s->allocate(m.work, &m.mem, n, nb);
    const size_t size = m.mem.used + 64;
    m.mem = (carom_arena){.base = aligned_alloc(64, (size + 63) / 64 * 64), .size = size};
    memset(m.mem.base, 0xff, size); // scratch may hold anything: these are NaNs
    s->allocate(m.work, &m.mem, n, nb);
    return m;
}

static inline solver_memory memory_for_chain(const carom_solver *first, int n, int nb) {
    solver_memory m = {{0}, NULL, NULL};
    carom_allocate_chain(&m.mem, n, nb, n, first);
    const size_t size = m.mem.used + 64;
    m.mem = (carom_arena){.base = aligned_alloc(64, (size + 63) / 64 * 64), .size = size};
    memset(m.mem.base, 0xff, size);
    m.chain = carom_allocate_chain(&m.mem, n, nb, n, first);
    return m;
}

static inline void memory_free(solver_memory *m) {
    free(m->mem.base);
    free(m->work);
}
