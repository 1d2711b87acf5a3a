// test_export.c: `carom export c`: every shipped model becomes a C file that compiles without a warning, and its functions give the bits of the library.
#define _POSIX_C_SOURCE 200809L
#include "model/pairs.h"
#include "model_text.h"
#include <dlfcn.h>
#include <unistd.h>

#ifndef CAROM_SHIPPED
#define CAROM_SHIPPED "" // names of models/, one space each; from CMake
#endif

typedef void exported(double t, const double *q, const double *v, const double *p, double *out);
typedef void subscripts(int *i, int *j);

static void write_text(void *user, const char *text, size_t length) { assert_int_equal(fwrite(text, 1, length, user), length); }

// The model's C file, compiled strictly and loaded.
static void *load(const carom_model *m, const char *name) {
    static const char source[] = CAROM_BINARY_DIR "/test/test_export_model.c", object[] = CAROM_BINARY_DIR "/test/test_export_model.so";
    carom_error err = {0};
    FILE *f = fopen(source, "w");
    assert_non_null(f);
    if (carom_model_write_c(m, "model", "", 0, write_text, f, &err) != CAROM_OK) fail_msg("%s: %s", name, err.text);
    assert_int_equal(fclose(f), 0);
    unlink(object);
    if (system("cc -std=c17 -Wall -Wextra -Werror -O0 -ffp-contract=off -fPIC -shared -o '" CAROM_BINARY_DIR "/test/test_export_model.so' '" CAROM_BINARY_DIR "/test/test_export_model.c' -lm") != 0)
        fail_msg("the C file of %s does not compile", name);
    void *code = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!code) fail_msg("%s", dlerror());
    return code;
}

static void same(const char *model, const char *what, const double *a, const double *b, int n) {
    for (int i = 0; i < n; ++i)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0) fail_msg("%s, %s: number %d is %.17g in C and %.17g in the library", model, what, i, a[i], b[i]);
}

// -- the library and the C file at one point ------------------------------------------------------------------------

typedef struct point { double t; double *q, *v; } point;

typedef struct rig {
    const char *name;
    const carom_model *m;
    const carom_system *s;
    void *code, *work;
    const double *p;
    double *out, *dense, *full; // of the C file; nv x nv from its entries, and from the library
    int *i, *j;
    carom_matrix A, B, M;
} rig;

enum { ROOM = 1 << 21 };

static void *symbol(const rig *r, const char *name) {
    char text[100];
    snprintf(text, sizeof text, "model_%s", name);
    return dlsym(r->code, text);
}

static void call(const rig *r, const char *name, const point *x) {
    exported *f = NULL;
    *(void **)&f = symbol(r, name);
    if (!f) fail_msg("%s has no %s", r->name, name);
    f(x->t, x->q, x->v, r->p, r->out);
}

// Subscripts of a list: tables, or the function that writes them.
static void find_subscripts(const rig *r, const char *name, int n) {
    char text[100];
    subscripts *f = NULL;
    snprintf(text, sizeof text, "%s_subscripts", name);
    *(void **)&f = symbol(r, text);
    assert_true(n <= ROOM);
    if (f) {
        f(r->i, r->j);
        return;
    }
    snprintf(text, sizeof text, "%s_i", name);
    memcpy(r->i, symbol(r, text), (size_t)n * sizeof(int));
    snprintf(text, sizeof text, "%s_j", name);
    memcpy(r->j, symbol(r, text), (size_t)n * sizeof(int));
}

// Sums that start from 0 have no -0.
static void no_minus_zero(double *x, int n) {
    for (int i = 0; i < n; ++i) x[i] += 0;
}

static void expand(const rig *r, carom_matrix A) {
    const int n = r->s->nv;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            const double *x = carom_matrix_entry(A, i, j);
            r->full[i + (size_t)j * (size_t)n] = x ? *x : 0;
        }
    no_minus_zero(r->full, n * n);
}

static void gather(const rig *r, int from, int to, bool lower) {
    const size_t n = (size_t)r->s->nv;
    memset(r->dense, 0, n * n * sizeof *r->dense);
    for (int e = from; e < to; ++e) {
        assert_in_range(r->i[e], 0, n - 1);
        assert_in_range(r->j[e], 0, n - 1);
        if (lower) assert_true(r->i[e] >= r->j[e]);
        r->dense[(size_t)r->i[e] + (size_t)r->j[e] * n] += r->out[e];
        if (lower && r->i[e] != r->j[e]) r->dense[(size_t)r->j[e] + (size_t)r->i[e] * n] += r->out[e];
    }
}

// Counts stand in the C file as enumeration constants, which a library does not hold: from its text.
static int count_of(const char *name) {
    static char text[1 << 22];
    char key[100];
    FILE *f = fopen(CAROM_BINARY_DIR "/test/test_export_model.c", "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    snprintf(key, sizeof key, "model_%s = ", name);
    const char *at = strstr(text, key);
    if (!at) fail_msg("the C file has no %s", key);
    return atoi(at + strlen(key));
}

static void same_matrices(const rig *r, const point *x, int mass, int K, int tangent) {
    const carom_matrix M = r->M, A = r->A, B = r->B;
    carom_matrix_zero(M), carom_matrix_zero(A), carom_matrix_zero(B);
    assert_int_equal(r->s->mass(r->m, r->work, x->t, x->q, M), CAROM_OK);
    call(r, "mass", x);
    find_subscripts(r, "mass", mass);
    gather(r, 0, mass, true);
    expand(r, M);
    const int n2 = r->s->nv * r->s->nv;
    same(r->name, "mass", r->dense, r->full, n2);
    assert_int_equal(r->s->tangent(r->m, r->work, x->t, x->q, x->v, A, B), CAROM_OK);
    call(r, "tangent", x);
    find_subscripts(r, "tangent", tangent);
    gather(r, 0, K, false);
    expand(r, A);
    same(r->name, "-df/dq", r->dense, r->full, n2);
    gather(r, K, tangent, false);
    expand(r, B);
    same(r->name, "-df/dv", r->dense, r->full, n2);
}

// All directions of the model's own contacts.
static void same_directions(const rig *r, const point *x, int W, int nw) {
    carom_arena mem;
    carom_local L = local_of(r->m, &mem);
    const int *w = symbol(r, "w_i"), n = r->s->nv;
    L.nb = r->s->ne + count_of("nc"); // without those that come and go
    if (L.nb == 0) {
        free(mem.base);
        return;
    }
    assert_int_equal(r->s->directions(r->m, r->work, x->t, x->q, &L), CAROM_OK);
    call(r, "directions", x);
    find_subscripts(r, "directions", W);
    double *column = r->full, *kappa = r->full + n;
    const int ndir = count_of("directions_n");
    memset(r->dense, 0, (size_t)n * (size_t)ndir * sizeof *r->dense);
    for (int e = 0; e < W; ++e) r->dense[(size_t)r->i[e] + (size_t)r->j[e] * (size_t)n] += r->out[e];
    const struct { double restitution, friction; int direction, directions; } *contact = symbol(r, "contact");
    for (int b = 0; b < L.nb; ++b)
        for (int k = L.at[b]; k < L.at[b + 1]; ++k) {
            const int d = (L.id[b] < r->s->ne ? L.id[b] : contact[L.id[b] - r->s->ne].direction) + k - L.at[b];
            double shift = 0;
            carom_column_expand(column, &L.W, k);
            no_minus_zero(column, n);
            same(r->name, "W", r->dense + (size_t)d * (size_t)n, column, n);
            for (int e = 0; e < nw; ++e)
                if (w[e] == d) shift = r->out[W + e];
            same(r->name, "w", &shift, &L.w[k], 1);
        }
    assert_non_null(r->s->curvature);
    assert_int_equal(r->s->curvature(r->m, r->work, x->t, x->q, x->v, &L, kappa), CAROM_OK);
    call(r, "curvature", x);
    for (int b = 0; b < L.nb; ++b)
        for (int k = L.at[b]; k < L.at[b + 1]; ++k) same(r->name, "curvature", &r->out[(L.id[b] < r->s->ne ? L.id[b] : contact[L.id[b] - r->s->ne].direction) + k - L.at[b]], &kappa[k], 1);
    free(mem.base);
}

// Pairs of shapes that are near: what two shapes make, and all functions of the pair.
static void same_pairs(const rig *r, const point *x, int *pairs) {
    typedef void of_pair(int kind, int a, int b, const double *q, double *out);
    typedef void of_moving_pair(int kind, int a, int b, const double *q, const double *v, double *out);
    const carom_model *m = r->m;
    near_look look;
    carom_error err = {0};
    if (!m->near) return;
    of_pair *gaps = NULL, *directions = NULL;
    of_moving_pair *rates = NULL, *curvature = NULL;
    int (*pair_kind_of)(int rule, int *a, int *b) = NULL;
    void (*pair_subscripts)(int kind, int a, int b, int *i, int *j) = NULL;
    *(void **)&gaps = symbol(r, "pair_gaps"), *(void **)&directions = symbol(r, "pair_directions"), *(void **)&rates = symbol(r, "pair_rates"), *(void **)&curvature = symbol(r, "pair_curvature");
    *(void **)&pair_kind_of = symbol(r, "pair"), *(void **)&pair_subscripts = symbol(r, "pair_subscripts");
    const struct { int contacts, directions, entries, first; double restitution, friction; } *kinds = symbol(r, "kind");
    assert_true(gaps && directions && rates && curvature && pair_kind_of && pair_subscripts && kinds);
    if (carom_near_open(m, r->work, x->q, &look, &err) != CAROM_OK) fail_msg("%s: %s", r->name, err.text);
    for (int k = 0; k < look.list.pairs; ++k, ++*pairs) {
        const pair *p = carom_near_at(&look.list, k);
        const carom_model *two = m->kinds[p->kind].two;
        const int rule = (int)((look.list.holds[p->first - m->ne - m->nc] - 1) % m->near->nrules);
        int a = (int)(p->B - m->shapes), b = (int)(p->A - m->shapes); // in the wrong order
        const int kind = pair_kind_of(rule, &a, &b), per = two->links->ndir;
        assert_int_equal(kind, carom_near_kind(m, r->work, p->first - m->ne - m->nc));
        assert_true(a == p->A - m->shapes && b == p->B - m->shapes);
        assert_true(kinds[kind].contacts == p->count && kinds[kind].directions == per && kinds[kind].entries == two->W.n);
        same(r->name, "law", &kinds[kind].restitution, &m->near->law[kind].restitution, 1);
        same(r->name, "law", &kinds[kind].friction, &m->near->law[kind].friction, 1);
        gaps(kind, a, b, x->q, r->out);
        same(r->name, "gaps of a pair", r->out, look.gap + p->first, p->count);
        directions(kind, a, b, x->q, r->out);
        assert_int_equal(carom_pair_eval(m, r->work, p, PAIR_DIRECTIONS, x->q, x->v, r->full), 0);
        same(r->name, "W of a pair", r->out, r->full, two->W.n);
        pair_subscripts(kind, a, b, r->i, r->j);
        for (int d = 0; d < two->ndir; ++d)
            for (int e = two->W_at[d]; e < two->W_at[d + 1]; ++e) assert_true(r->j[e] == d && r->i[e] == carom_kind_velocity(&m->kinds[p->kind], p, two->W.i[e]));
        rates(kind, a, b, x->q, x->v, r->out);
        assert_int_equal(carom_pair_eval(m, r->work, p, PAIR_RATES, x->q, x->v, r->full), 0);
        same(r->name, "rates of a pair", r->out, r->full, two->ndir);
        curvature(kind, a, b, x->q, x->v, r->out);
        assert_int_equal(carom_pair_eval(m, r->work, p, PAIR_CURVATURE, x->q, x->v, r->full), 0);
        same(r->name, "curvature of a pair", r->out, r->full, two->ndir);
    }
    carom_near_close(m, r->work, &look);
}

static void same_functions(const rig *r, const point *x, int nout) {
    const int n = r->s->nv;
    double two[2], *y = r->full;
    memset(y, 0, (size_t)n * sizeof *y);
    assert_int_equal(r->s->force(r->m, r->work, x->t, x->q, x->v, y), CAROM_OK);
    call(r, "force", x);
    same(r->name, "force", r->out, y, n);
    if (r->s->gaps && r->s->ne + count_of("nc")) {
        assert_int_equal(r->s->gaps(r->m, r->work, x->t, x->q, y), CAROM_OK);
        call(r, "gaps", x);
        same(r->name, "gaps", r->out, y, r->s->ne + count_of("nc"));
        assert_int_equal(r->s->rates(r->m, r->work, x->t, x->q, x->v, y), CAROM_OK);
        call(r, "rates", x);
        same(r->name, "rates", r->out, y, count_of("directions_n"));
    }
    assert_int_equal(r->s->energy(r->m, r->work, x->t, x->q, x->v, &two[0], &two[1]), CAROM_OK);
    call(r, "energy", x);
    same(r->name, "energy", r->out, two, 2);
    call(r, "power", x);
    if (r->s->power) {
        assert_int_equal(r->s->power(r->m, r->work, x->t, x->q, x->v, &two[0], &two[1]), CAROM_OK);
        no_minus_zero(r->out, 2), no_minus_zero(two, 2);
        same(r->name, "power", r->out, two, 2);
    }
    carom_model_outputs(r->m, r->work, x->t, x->q, x->v, y);
    call(r, "outputs", x);
    same(r->name, "outputs", r->out, y, nout);
}

static carom_matrix matrix(carom_shape shape) {
    const carom_matrix A = {.a = calloc(carom_shape_size(shape) + 1, sizeof(double)), .shape = shape};
    assert_non_null(A.a);
    return A;
}

// Points along a motion with velocities that change: bodies turn, come near each other and part.
static void same_bits(const carom_model *m, const char *name, double pace) {
    const carom_system *s = carom_model_system(m);
    const size_t n = (size_t)(s->nv > s->nq ? s->nv : s->nq) + 1000;
    rig r = {.name = name, .m = m, .s = s, .code = load(m, name), .work = work_of(m), .out = calloc(ROOM, sizeof(double)), .dense = calloc(n * n, sizeof(double)), .full = calloc(n * n, sizeof(double)),
             .i = calloc(ROOM, sizeof(int)), .j = calloc(ROOM, sizeof(int))};
    r.M = matrix(s->mass_shape), r.A = matrix(s->tangent_shape), r.B = matrix(s->tangent_shape);
    assert_true(r.out && r.dense && r.full && r.i && r.j);
    r.p = symbol(&r, "p0");
    same(name, "q0", symbol(&r, "q0"), carom_model_q0(m), s->nq);
    same(name, "v0", symbol(&r, "v0"), carom_model_v0(m), s->nv);
    const int mass = count_of("mass_n"), K = count_of("tangent_K"), tangent = count_of("tangent_n"), W = count_of("directions_entries"), w = count_of("w_n"), nout = count_of("nout");
    double *q = calloc(n, sizeof *q), *v = calloc(n, sizeof *v), *q1 = calloc(n, sizeof *q1);
    void (*move)(double *q1, const double *q0, double h, const double *v) = NULL;
    *(void **)&move = symbol(&r, "move");
    assert_true(q && v && q1 && move);
    int pairs = 0;
    carom_copy(q, carom_model_q0(m), s->nq);
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < s->nv; ++i) v[i] = carom_model_v0(m)[i] + pace * sin(0.1 + k + 0.37 * i);
        const point x = {0.013 * k, q, v};
        same_functions(&r, &x, nout);
        same_matrices(&r, &x, mass, K, tangent);
        same_directions(&r, &x, W, w);
        same_pairs(&r, &x, &pairs);
        move(q1, q, 0.03, v);
        if (s->move) s->move(m, q, q, 0.03, v);
        else carom_add(q, q, 0.03, v, s->nq);
        same(name, "move", q1, q, s->nq);
        carom_copy(q, q1, s->nq);
    }
    assert_int_equal(m->near != NULL, pairs > 0);
    dlclose(r.code);
    free(r.M.a), free(r.A.a), free(r.B.a), free(r.work), free(r.out), free(r.dense), free(r.full), free(r.i), free(r.j), free(q), free(v), free(q1);
}

static void every_shipped_model_has_the_bits_of_the_library(void **state) {
    (void)state;
    char names[] = CAROM_SHIPPED, *rest = names;
    int models = 0;
    for (char *end; *rest; rest = end, ++models) {
        end = rest + strcspn(rest, " ");
        if (*end) *end++ = 0;
        carom_model *m = shipped_model(rest);
        same_bits(m, rest, 0.4);
        carom_model_destroy(m);
    }
    assert_true(models > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shipped_model_has_the_bits_of_the_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
