// lanes_members.c: flexible members in the text of lanes.
//
// All but exact beams are linear, shafts have products of rates as well:
//     f = f_0 - K q - C v - 1/2 sum_k v_k (dC/dv_k) v                                                       (LAN-1)
// written out by rows, with numbers that the members themselves give.  Exact beams: flex/exact_beam.inc, of the type at
// hand.
#include "sweep/lanes_members.h"
#include "expr/native.h"
#include "flex/flex.h"
#include "flex/member.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sheet {
    carom_write_text *write;
    void *user;
} sheet;

static void put(const sheet *t, const char *text) { t->write(t->user, text, strlen(text)); }

static void put_number(const sheet *t, double x) {
    char number[CAROM_NUMBER_TEXT];
    carom_native_number(x, number);
    put(t, number);
}

static bool exact(const carom_member *f) { return f->def.kind == CAROM_EXACT_BEAM; }

bool carom_lane_member_exact(const carom_model *m) {
    for (int k = 0; k < m->nmember; ++k)
        if (exact(m->members[k].flex)) return true;
    return false;
}

// -- numbers ----------------------------------------------------------------------------------------------------------

/// Of a member, dense and by columns.
typedef struct numbers {
    int n;
    double *M, *K, *C, *turn, *f;
} numbers; // turn: n matrices dC/dv_k

static void numbers_free(numbers *x) {
    double *const all[] = {x->M, x->K, x->C, x->turn, x->f};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free(all[i]);
}

static carom_matrix dense(double *a, int n) {
    return (carom_matrix){.shape = {.storage = CAROM_DENSE, .n = n}, .a = a};
}

// C of an exact beam without the damping of its strains: a M + Y Y'
static void damping_of_masses(const carom_member *f, numbers *x) {
    const int n = x->n;
    for (int i = 0; i < n * n; ++i) x->C[i] = f->damping_mass * x->M[i], x->K[i] = 0;
    for (int k = 0; k < f->nmodal; ++k)
        for (int i = 0; i < n * n; ++i) x->C[i] += f->modal[k * n + i % n] * f->modal[k * n + i / n];
}

static bool numbers_of(const carom_member *f, numbers *x) {
    const size_t n = (size_t)f->n, all = n * n + 1;
    *x = (numbers){f->n,
                   calloc(all, sizeof(double)),
                   calloc(all, sizeof(double)),
                   calloc(all, sizeof(double)),
                   calloc(all * (n + 1), sizeof(double)),
                   calloc(n + 1, sizeof(double))};
    double *zero = calloc(2 * n + 1, sizeof *zero), *K = calloc(all, sizeof *K);
    const bool good = x->M && x->K && x->C && x->turn && x->f && zero && K;
    if (good) {
        double *one = zero + n;
        carom_member_mass(f, dense(x->M, f->n), 0);
        if (exact(f)) {
            damping_of_masses(f, x);
            for (size_t i = 0; i < n && f->load; ++i) x->f[i] = f->load[i];
        } else {
            carom_member_tangent(f, zero, zero, dense(x->K, f->n), dense(x->C, f->n), 0);
            if (!carom_member_streams(f)) carom_member_force(f, zero, zero, x->f);
        }
        for (size_t k = 0; k < n && f->def.kind == CAROM_SHAFT; ++k) {
            double *turn = x->turn + k * n * n;
            one[k] = 1;
            carom_member_tangent(f, zero, one, dense(K, f->n), dense(turn, f->n), 0);
            for (size_t i = 0; i < n * n; ++i) turn[i] -= x->C[i];
            one[k] = 0;
        }
    }
    free(zero);
    free(K);
    return good;
}

// -- mass -------------------------------------------------------------------------------------------------------------

void carom_lane_mass_free(carom_lane_mass *x) {
    free(x->i), free(x->j), free(x->term), free(x->value);
    *x = (carom_lane_mass){0};
}

static void mass_add(carom_lane_mass *x, int i, int j, double value) {
    int e = 0;
    while (e < x->n && !(x->i[e] == i && x->j[e] == j)) ++e;
    if (e == x->n) x->i[e] = i, x->j[e] = j, x->term[e] = -1, ++x->n;
    x->value[e] += value;
}

carom_status carom_lane_mass_find(const carom_model *m, carom_lane_mass *x) {
    size_t most = (size_t)m->mass.n + 1;
    for (int k = 0; k < m->nmember; ++k) most += (size_t)m->members[k].count * (size_t)m->members[k].count;
    *x = (carom_lane_mass){.i = calloc(most, sizeof *x->i),
                           .j = calloc(most, sizeof *x->j),
                           .term = calloc(most, sizeof *x->term),
                           .value = calloc(most, sizeof *x->value)};
    if (!x->i || !x->j || !x->term || !x->value) return CAROM_NO_MEMORY;
    for (int e = 0; e < m->mass.n; ++e) x->i[e] = m->mass.i[e], x->j[e] = m->mass.j[e], x->term[e] = e;
    x->n = m->mass.n;
    for (int k = 0; k < m->nmember; ++k) {
        numbers y;
        const bool good = numbers_of(m->members[k].flex, &y);
        for (int e = 0; good && e < y.n * y.n; ++e)
            if (e % y.n >= e / y.n && y.M[e] != 0)
                mass_add(x, m->members[k].v + e % y.n, m->members[k].v + e / y.n, y.M[e]);
        numbers_free(&y);
        if (!good) return CAROM_NO_MEMORY;
    }
    return CAROM_OK;
}

// -- text -------------------------------------------------------------------------------------------------------------

void carom_lane_member_tables(const carom_model *m, carom_write_text *write, void *user) {
    const sheet t = {write, user};
    for (int k = 0; k < m->nmember; ++k) {
        const carom_member *f = m->members[k].flex;
        if (!exact(f)) continue;
        PUT(&t, "CONSTANT carom_member MEMBER_%d = {", k);
        const double all[] = {f->l, f->section[0], f->section[1], f->section[2], f->damping_stiffness};
        for (int i = 0; i < 5; ++i) put_number(&t, all[i]), put(&t, i < 4 ? ", " : "};\n");
        PUT(&t, "CONSTANT int UNKNOWN_%d[] = {", k);
        for (int i = 0; i < f->nodes * f->per; ++i) PUT(&t, "%d, ", f->unknown[i]);
        PUT(&t, "0};\nCONSTANT double REST_%d[] = {", k);
        for (int i = 0; i < f->nodes * f->per; ++i)
            put_number(&t, member_rest(f, i / f->per, i % f->per)), put(&t, ", ");
        put(&t, "0};\n");
    }
}

// Elements of an exact beam, one after the other; `what` uses x, y and u.
static void put_elements(const sheet *t, const carom_model *m, int k, const char *what) {
    const member *b = &m->members[k];
    PUT(t,
        "    for (int e = 0; e < %d; ++e) {\n        const int *u = UNKNOWN_%d + %d * e;\n        real x[6], y[6];\n",
        b->flex->nodes - 1, k, b->flex->per);
    PUT(t,
        "        for (int i = 0; i < 6; ++i) {\n            x[i] = u[i] >= 0 ? q[%d + u[i]] : T(of)(REST_%d[%d * e + "
        "i]);\n",
        b->q, k, b->flex->per);
    PUT(t, "            y[i] = u[i] >= 0 ? v[%d + u[i]] : T(of)(0);\n        }\n", b->v);
    PUT(t, what, k, b->v, b->v);
    put(t, "    }\n");
}

// What row i of K q is: by differences where the rows of K have no sum, so that whoever moves as a whole feels nothing.
static void put_row(const sheet *t, const double *A, int n, int i, char of, int at) {
    double sum = 0, most = 0;
    for (int j = 0; j < n; ++j) sum += A[i + n * j], most = fmax(most, fabs(A[i + n * j]));
    static const double NONE = 1e-12; // of its largest entry: the sum of a row that has none, by rounding
    const bool differences = fabs(sum) <= NONE * most;
    for (int j = 0; j < n; ++j) {
        if (A[i + n * j] == 0 || (differences && j == i)) continue;
        put(t, " - ");
        put_number(t, A[i + n * j]);
        if (differences)
            PUT(t, " * (%c[%d] - %c[%d])", of, at + j, of, at + i);
        else
            PUT(t, " * %c[%d]", of, at + j);
    }
}

static void put_force(const sheet *t, const member *b, const numbers *x) {
    for (int i = 0; i < x->n; ++i) {
        PUT(t, "    f[%d] = T(of)(", b->v + i);
        put_number(t, x->f[i]);
        put(t, ")");
        put_row(t, x->K, x->n, i, 'q', b->q);
        put_row(t, x->C, x->n, i, 'v', b->v);
        for (int k = 0; k < x->n; ++k)
            for (int j = 0; j < x->n; ++j) {
                const double y = x->turn[(size_t)k * (size_t)(x->n * x->n) + (size_t)(i + x->n * j)];
                if (y == 0) continue;
                put(t, " - ");
                put_number(t, 0.5 * y);
                PUT(t, " * v[%d] * v[%d]", b->v + k, b->v + j);
            }
        put(t, ";\n");
    }
}

carom_status carom_lane_member_forces(const carom_model *m, carom_write_text *write, void *user) {
    static const char elements[] =
        "        real r[6];\n        for (int i = 0; i < 6; ++i) r[i] = T(of)(0);\n"
        "        T(exact_beam_internal)(&MEMBER_%d, x, y, r);\n"
        "        for (int i = 0; i < 6; ++i)\n            if (u[i] >= 0) f[%d + u[i]] = f[%d + u[i]] + r[i];\n";
    const sheet t = {write, user};
    for (int i = 0; i < m->visible.nv_own; ++i) PUT(&t, "    f[%d] = T(of)(0);\n", i);
    for (int k = 0; k < m->nmember; ++k) {
        numbers x;
        const bool good = numbers_of(m->members[k].flex, &x);
        if (good) put_force(&t, &m->members[k], &x);
        numbers_free(&x);
        if (!good) return CAROM_NO_MEMORY;
        if (exact(m->members[k].flex)) put_elements(&t, m, k, elements);
    }
    for (int k = 0; k < m->visible.nv_own + 1 + m->visible.compiled; ++k) {
        const int i = carom_model_visible(m, k);
        if (i >= 0) PUT(&t, "    f[%d] = f[%d] + e[%d];\n", i, i, k);
    }
    return CAROM_OK;
}

carom_status carom_lane_member_tangents(const carom_model *m, carom_write_text *write, void *user) {
    static const char elements[] =
        "        real Ke[36], Ce[36];\n        T(exact_beam_tangent)(&MEMBER_%d, x, y, Ke, Ce);\n"
        "        for (int j = 0; j < 36; ++j) {\n            if (u[j %% 6] < 0 || u[j / 6] < 0) continue;\n"
        "            const int to = (%d + u[j %% 6]) * NV + %d + u[j / 6];\n"
        "            K[to] = K[to] + Ke[j], C[to] = C[to] + Ce[j];\n        }\n";
    const sheet t = {write, user};
    for (int k = 0; k < m->nmember; ++k) {
        const member *b = &m->members[k];
        numbers x;
        const bool good = numbers_of(b->flex, &x);
        for (int e = 0; good && e < x.n * x.n; ++e) {
            const int at = (b->v + e % x.n) * m->nv + b->v + e / x.n;
            if (x.K[e] != 0) {
                PUT(&t, "    K[%d] = K[%d] + ", at, at);
                put_number(&t, x.K[e]);
                put(&t, ";\n");
            }
            if (x.C[e] != 0) {
                PUT(&t, "    C[%d] = C[%d] + ", at, at);
                put_number(&t, x.C[e]);
                put(&t, ";\n");
            }
            for (int i = 0; i < x.n; ++i) {
                const double y = x.turn[(size_t)i * (size_t)(x.n * x.n) + (size_t)e];
                if (y == 0) continue;
                PUT(&t, "    C[%d] = C[%d] + ", at, at);
                put_number(&t, y);
                PUT(&t, " * v[%d];\n", b->v + i);
            }
        }
        numbers_free(&x);
        if (!good) return CAROM_NO_MEMORY;
        if (exact(b->flex)) put_elements(&t, m, k, elements);
    }
    return CAROM_OK;
}
