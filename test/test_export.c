// test_export.c: `carom export c`: every shipped model becomes a C file that compiles without a warning, and its
// functions give the bits of the library; quick runs leave out the largest.
#define _POSIX_C_SOURCE 200809L
#include "exported.h"
#include "linalg/matrix.h"
#include "model/pairs.h"
#include "model_text.h"
#include <dlfcn.h>
#include <unistd.h>

#ifndef CAROM_SHIPPED
#define CAROM_SHIPPED "" // names of models/, one space each; from CMake
#endif

typedef void subscripts(int *i, int *j);

static void same(const char *model, const char *what, const double *a, const double *b, int n) {
    for (int i = 0; i < n; ++i)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            fail_msg("%s, %s: number %d is %.17g in C and %.17g in the library", model, what, i, a[i], b[i]);
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
        for (int k = L.at[b]; k < L.at[b + 1]; ++k)
            same(r->name, "curvature",
                 &r->out[(L.id[b] < r->s->ne ? L.id[b] : contact[L.id[b] - r->s->ne].direction) + k - L.at[b]],
                 &kappa[k], 1);
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
    *(void **)&gaps = symbol(r, "pair_gaps"), *(void **)&directions = symbol(r, "pair_directions"),
           *(void **)&rates = symbol(r, "pair_rates"), *(void **)&curvature = symbol(r, "pair_curvature");
    *(void **)&pair_kind_of = symbol(r, "pair"), *(void **)&pair_subscripts = symbol(r, "pair_subscripts");
    const struct { int contacts, directions, entries, first; double restitution, friction; } *kinds = symbol(r, "kind");
    assert_true(gaps && directions && rates && curvature && pair_kind_of && pair_subscripts && kinds);
    if (carom_near_open(m, r->work, x->q, 0, &look, &err) != CAROM_OK) fail_msg("%s: %s", r->name, err.text);
    for (int k = 0; k < look.list.pairs; ++k, ++*pairs) {
        const pair *p = carom_near_at(&look.list, k);
        const carom_model *two = m->kinds[p->kind].two;
        const int rule = (int)((look.list.key[p->first - m->ne - m->nc] - 1) % m->near->nrules);
        int a = (int)(p->B - m->shapes), b = (int)(p->A - m->shapes); // in the wrong order
        const int kind = pair_kind_of(rule, &a, &b), per = two->links->ndir;
        assert_int_equal(kind, carom_near_kind(m, r->work, p->first - m->ne - m->nc));
        assert_true(a == p->A - m->shapes && b == p->B - m->shapes);
        assert_true(kinds[kind].contacts == p->count && kinds[kind].directions == per &&
                    kinds[kind].entries == two->W.n);
        same(r->name, "law", &kinds[kind].restitution, &m->near->law[kind].restitution, 1);
        same(r->name, "law", &kinds[kind].friction, &m->near->law[kind].friction, 1);
        gaps(kind, a, b, x->q, r->out);
        same(r->name, "gaps of a pair", r->out, look.gap + p->first, p->count);
        directions(kind, a, b, x->q, r->out);
        assert_int_equal(carom_pair_eval(m, r->work, p, PAIR_DIRECTIONS, x->q, x->v, r->full), 0);
        same(r->name, "W of a pair", r->out, r->full, two->W.n);
        pair_subscripts(kind, a, b, r->i, r->j);
        for (int d = 0; d < two->ndir; ++d)
            for (int e = two->place.W[d]; e < two->place.W[d + 1]; ++e)
                assert_true(r->j[e] == d && r->i[e] == carom_kind_velocity(&m->kinds[p->kind], p, two->W.i[e]));
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
        assert_int_equal(r->s->speed->rates(r->m, r->work, x->t, x->q, x->v, y), CAROM_OK);
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
    rig r = {.name = name,
             .m = m,
             .s = s,
             .code = load_exported(m, "", "test_export_model", "-O0", name),
             .work = work_of(m),
             .out = calloc(ROOM, sizeof(double)),
             .dense = calloc(n * n, sizeof(double)),
             .full = calloc(n * n, sizeof(double)),
             .i = calloc(ROOM, sizeof(int)),
             .j = calloc(ROOM, sizeof(int))};
    r.M = matrix(s->mass_shape), r.A = matrix(s->tangent_shape), r.B = matrix(s->tangent_shape);
    assert_true(r.out && r.dense && r.full && r.i && r.j);
    r.p = symbol(&r, "p0");
    same(name, "q0", symbol(&r, "q0"), carom_model_q0(m), s->nq);
    same(name, "v0", symbol(&r, "v0"), carom_model_v0(m), s->nv);
    const int mass = count_of("mass_n"), K = count_of("tangent_K"), tangent = count_of("tangent_n"),
              W = count_of("directions_entries"), w = count_of("w_n"), nout = count_of("nout");
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
    free(r.M.a), free(r.A.a), free(r.B.a), free(r.work), free(r.out), free(r.dense), free(r.full), free(r.i), free(r.j),
        free(q), free(v), free(q1);
}

static bool at_length; // "long": these, too

// Half of all that is compiled is of seven models whose kinds of shapes, joints and contacts others have.
static bool has_a_smaller_like_it(const char *name) {
    static const char *const larger[] = {"gear-pair", "stack",         "stones", "crawler-track",
                                         "door-latch", "arch-collapse", "chain"};
    for (size_t i = 0; i < sizeof larger / sizeof *larger; ++i)
        if (strcmp(name, larger[i]) == 0) return true;
    return false;
}

static void every_shipped_model_has_the_bits_of_the_library(void **state) {
    (void)state;
    char names[] = CAROM_SHIPPED, *rest = names;
    int models = 0;
    for (char *end; *rest; rest = end, ++models) {
        end = rest + strcspn(rest, " ");
        if (*end) *end++ = 0;
        if ((BRIEF && models % 4 != 0) || (!at_length && has_a_smaller_like_it(rest))) continue;
        carom_model *m = shipped_model(rest);
        same_bits(m, rest, 0.4);
        carom_model_destroy(m);
    }
    assert_true(models > 30);
}

// Every kind of member, with all that they may have; the second bar is at rest but for its stiffness.
static const char all_members[] =
    "carom: 1\nparameters: {k: 30}\ncoordinates: {x: 0.1}\ntables: {push: dir/F.csv}\nflexible:\n"
    "  rod: {type: bar, length: 1.5, elements: 5, density: 2, modulus: 50, area: 1, gravity: 9, fix: start, damping: "
    "{mass: 0.3, stiffness: 0.01}, load: 2*s, at: 0.1*s^2, points: {p: 0.75}}\n"
    "  still: {type: bar, length: 1, elements: 6, density: 1, modulus: 4, area: 1, fix: [start, end], at: \"s*(1 - "
    "s)\", mass: lumped, points: {p: 0.5}, massless: p}\n"
    "  tuned: {type: bar, length: 1, elements: 8, density: 1, modulus: 4, area: 1, fix: start, modal damping: [0.1, "
    "0.05]}\n"
    "  beam: {type: beam, length: 2, elements: 3, density: 1, modulus: 20, area: 1, inertia: 0.1, fix: {start: all, "
    "end: u}, load: {w: 1 - s}, damping: {mass: 1, stiffness: 1e-3}}\n"
    "  arm: {type: exact beam, length: 1, elements: 3, density: 10, area: 1e-1, inertia: 1e-2, modulus: 2e3, shear "
    "modulus: 1e3, shear area: 0.08, gravity: [0, -9], fix: start, damping: {mass: 0.1, stiffness: 0.01}}\n"
    "  mast: {type: spatial beam, length: 1, elements: 2, density: 10, area: 1e-1, inertia: [1e-2, 2e-2], modulus: "
    "2e3, shear modulus: 1e3, torsion: 1e-2, gravity: [0, 0, -9], fix: start, damping: {mass: 0.1, stiffness: 0.01}}\n"
    "  frame: {type: matrices, mass: M, stiffness: K, damping: {mass: 0.2, stiffness: 0.01}}\n"
    "  drum: {type: matrices, mass: M, stiffness: K, modal damping: [0.1]}\n"
    "energy: {kinetic: 1/2*x'^2 + 2*rod.end.u'^2, potential: k/2*(x - rod.end.u)^2 + 3*rod.p.u^2}\nforces: {rod.p.u: "
    "push(t) - rod.p.u', frame.u2: x'}\n"
    "constraints: {tie: beam.end.w - frame.u1 + 0.001 - 0.1*x^2}\ncontacts: {wall: {gap: (0.5 - rod.end.u)*(1 + "
    "still.p.u^2)}, rub: {gap: 1 + arm.end.x, slip: arm.end.y, friction: 0.3}}\n"
    "outputs: {T: kinetic, V: potential, y: mast.end.v + tuned.end.u}\n";

static void every_kind_of_member_is_exported(void **state) {
    (void)state;
    static const char M[] = "%%MatrixMarket matrix array real symmetric\n3 3\n1\n0.1\n0\n2\n0\n1\n",
                      K[] =
                          "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 100\n3 1 -50\n2 2 50\n3 3 80\n",
                      F[] = "0, 0\n1, 2\n";
    const carom_matrix_text list[] = {
        {"M", M, sizeof M - 1, "m.mtx"}, {"K", K, sizeof K - 1, "k.mtx"}, {"dir/F.csv", F, sizeof F - 1, "dir/F.csv"}};
    carom_error err = {0};
    carom_model *m = carom_model_create(
        &(carom_model_def){
            .text = all_members, .length = sizeof all_members - 1, .file = "members", .matrices = list, .nmatrices = 3},
        &err);
    if (!m) fail_msg("%s", err.text);
    same_bits(m, "members", 0.4);
    carom_model_destroy(m);
}

// Contacts with tapes of their own (skins, a floating member, a body with a prescribed motion, a surface that moves);
// rings; few shapes that are found by search, among them ellipsoids and a surface of heights; many shapes, of which
// some are found by search.
static void every_kind_of_pair_is_exported(void **state) {
    (void)state;
    static const char *const text[] = {
        "carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1], at: [0, -0.1]}, cover: {skin: 0.05, of: rod}, "
        "knob: {circle: 0.02, of: arm.end}, belt: {plane: [0, 1], at: [0, -0.2], surface velocity: [2 + t, 0]}}\n"
        "flexible: {arm: {type: beam, frame: floating, length: 1, elements: 2, density: 7800, modulus: 2e9, area: "
        "1e-4, inertia: 1e-9, velocity: [1, 2], spin: 3},\n"
        "  rod: {type: beam, length: 1, elements: 3, density: 1, modulus: 1, area: 1, inertia: 1, fix: start}}\n"
        "bodies:\n  ball: {mass: 1, inertia: 0.1, at: [0.4, 0.12], shape: {circle: 0.06}}\n  hand: {motion: {at: [0.4 "
        "+ t, 0.25], angle: t}, shape: {box: [0.2, 0.1]}}\n"
        "contacts: {a: {between: [cover, floor], friction: 0.2}, e: {between: [knob, floor], friction: 0.2}, b: "
        "{between: [ball, cover], friction: 0.1}, c: {between: [ball, hand], friction: 0.3}, d: {between: [ball, "
        "belt], friction: 0.5}}\n",
        "carom: 1\nsettle: yes\nbodies:\n  can: {mass: 1, inertia: [1, 1, 2], at: [0, 0, 0.5], spin: [1, 0, 0], shape: "
        "{cylinder: [0.3, 0.6], axis: [0, 1, 0.3]}}\n"
        "  rod: {mass: 1, inertia: [1, 1, 2], at: [0.1, 0.2, 1], shape: {capsule: [0.1, 1], axis: [1, 0, 0.1]}}\n"
        "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {a: {between: [can, rod]}}\n",
        "carom: 1\nsettle: yes\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}, hill: {heights: [[0, 0.1, "
        "0], [0.1, 0.2, 0], [0, 0, 0]], cell: 1, at: [-1, -1, -0.1]}}\nbodies:\n"
        "  a: {density: 1000, at: [0, 0, 0.3], shape: {ellipsoid: [0.1, 0.2, 0.3]}}\n  b: {density: 1000, at: [0.25, "
        "0, 0.2], spin: [0, 3, 0], shape: {ellipsoid: [0.1, 0.2, 0.1]}}\n"
        "  c: {density: 1000, at: [0.3, 0.4, 0.4], shape: {box: [0.3, 0.2, 0.1]}}\n  d: {density: 1000, at: [0.35, "
        "0.45, 0.55], spin: [1, 0, 0], shape: {hull: [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]}}\n"
        "  e: {density: 1000, at: [0.3, 0.42, 0.6], shape: {capsule: [0.05, 0.3], axis: [1, 0, 0]}}\n  f: {density: "
        "1000, at: [0.1, 0.4, 0.45], shape: {sphere: 0.05}}\n"
        "contacts: {p: {between: [[a, b, c, d, e, f], floor], friction: 0.5}, q: {between: [a, b]}, r: {among: [d, e, "
        "f], friction: 0.3, ignore: [[d, f]]}, w: {between: [c, d], friction: {along: 0.1, across: 0.2, direction: [1, "
        "0, 0], of: d}}, v: {between: [d, f], friction: "
        "0.3, rolling: 0.01, spinning: 0.02}, s: {between: [[c, d, e, f], hill]}}\n",
        "carom: 1\nsettle: yes\ngravity: [0, 0, -9.81]\nbodies:\n  s: {repeat: 45, body: {mass: 1 + i, inertia: [1, 1, "
        "1], at: [0.19*i, 0, 0.1], shape: {sphere: 0.1}}}\n"
        "  t: {repeat: 3, body: {density: 10, at: [0.3*i, 0.19, 0.1], shape: {hull: [[0, 0, 0], [0.3, 0, 0], [0, 0.3, "
        "0], [0, 0, 0.3]]}}}\nshapes: {floor: {plane: [0, 0, 1]}}\n"
        "contacts: {c: {among: [s, t, floor], restitution: 0.3, friction: 0.2}}\n"};
    for (size_t i = 0; i < sizeof text / sizeof *text; ++i) {
        char name[20];
        snprintf(name, sizeof name, "pairs %zu", i);
        carom_model *m = good(text[i]);
        same_bits(m, name, 0.4);
        carom_model_destroy(m);
    }
}

static void what_has_no_text_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *law, *why;
    } refused[] = {{"stiffness: 1e4, damping: 1", "stiffness"},
                   {"friction: 0.1 + 0.2*exp(-slip.speed)", "friction that varies"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        char text[600];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\nbodies:\n  s: {repeat: 45, body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, 0.1], shape: "
                 "{sphere: 0.1}}}\nshapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {among: [s, floor], %s}}\n",
                 refused[i].law);
        carom_model *m = good(text);
        assert_int_equal(carom_model_write_c(m, "model", "", 0, write_text, NULL, &err), CAROM_BAD_INPUT);
        if (!strstr(err.text, refused[i].why)) fail_msg("%s", err.text);
        carom_model_destroy(m);
    }
}

int main(int argc, char **argv) {
    at_length = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shipped_model_has_the_bits_of_the_library),
                                       cmocka_unit_test(every_kind_of_member_is_exported),
                                       cmocka_unit_test(every_kind_of_pair_is_exported),
                                       cmocka_unit_test(what_has_no_text_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
