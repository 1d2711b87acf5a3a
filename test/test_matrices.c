// test_matrices.c: flexible members by their matrices: Matrix Market texts, members in C, models, results.
#define _DEFAULT_SOURCE // mkstemp
#include "flex/member.h"
#include "model_text.h"
#include <carom/event.h>
#include <carom/result.h>
#include <unistd.h>

// -- Matrix Market --------------------------------------------------------------------------------------------

#define HEAD "%%MatrixMarket matrix "
#define HEAD_FORMAT "%%%%MatrixMarket matrix " // for printf

static carom_triplets read_good(const char *text) {
    carom_triplets t;
    carom_error err = {0};
    if (carom_triplets_read(text, strlen(text), "a.mtx", &t, &err) != CAROM_OK) fail_msg("%s", err.text);
    return t;
}

// The matrix, row by row.
static void spread(const carom_triplets *t, double *A) {
    for (int i = 0; i < t->rows * t->cols; ++i) A[i] = 0;
    for (size_t k = 0; k < t->count; ++k) A[t->row[k] * t->cols + t->col[k]] += t->value[k];
}

static void every_form_of_a_file_gives_its_matrix(void **state) {
    (void)state;
    static const struct { const char *text; int rows, cols; double A[6]; } files[] = {
        {HEAD "coordinate real general\n% comment\n\n2 3 3\n1 1 1.5\n2 3 -2e1\r\n  1\t2  3  \n",
         2,
         3,
         {1.5, 3, 0, 0, 0, -20}},
        {"%%matrixmarket MATRIX Coordinate Integer Symmetric\n2 2 2\n1 1 4\n2 1 -3", 2, 2, {4, -3, -3, 0}},
        {HEAD "coordinate real skew-symmetric\n2 2 1\n2 1 5\n", 2, 2, {0, -5, 5, 0}},
        {HEAD "array real general\n2 2\n1\n2\n3\n4\n% end\n\n", 2, 2, {1, 3, 2, 4}},
        {HEAD "array real symmetric\n2 2\n1\n2\n3\n", 2, 2, {1, 2, 2, 3}},
        {HEAD "array real skew-symmetric\n3 3\n1\n0\n3\n", 3, 3, {0}},
        {HEAD "array integer general\n3 1\n7\n8\n9\n", 3, 1, {7, 8, 9}},
    };
    for (size_t f = 0; f < sizeof files / sizeof *files; ++f) {
        carom_triplets t = read_good(files[f].text);
        double A[9];
        assert_int_equal(t.rows, files[f].rows);
        assert_int_equal(t.cols, files[f].cols);
        spread(&t, A);
        if (t.rows == 3 && t.cols == 3) {
            assert_true(A[1 * 3 + 0] == 1 && A[0 * 3 + 1] == -1 && A[2 * 3 + 1] == 3 && A[1 * 3 + 2] == -3 &&
                        A[2 * 3] == 0 && A[0] == 0);
        } else {
            for (int i = 0; i < t.rows * t.cols; ++i) assert_true(A[i] == files[f].A[i]);
        }
        carom_triplets_free(&t);
    }
}

static void what_is_wrong_in_a_file_is_told_with_its_line(void **state) {
    (void)state;
    static const struct { const char *text, *say; } files[] = {
        {"", "a.mtx:1: the first line"},
        {"1 1 1\n", "a.mtx:1: the first line"},
        {"%%MatrixMarket vector coordinate real general\n", "a.mtx:1: the first line"},
        {HEAD "coordinate real\n", "a.mtx:1: the first line"},
        {HEAD "sparse real general\n", "a.mtx:1: the format"},
        {HEAD "coordinate complex general\n", "a.mtx:1: the entries"},
        {HEAD "coordinate pattern general\n", "a.mtx:1: the entries"},
        {HEAD "coordinate real hermitian\n", "a.mtx:1: the matrix is neither"},
        {HEAD "coordinate real general\n% c\n", "a.mtx:3: the file ends where the size"},
        {HEAD "coordinate real general\n2 2\n", "a.mtx:2: the size is three"},
        {HEAD "array real general\n2 2 4\n", "a.mtx:2: the size of an array is two"},
        {HEAD "coordinate real general\n-2 2 1\n1 1 1\n", "a.mtx:2: the size"},
        {HEAD "coordinate real general\n0 0 0\n", "a.mtx:2: the size"},
        {HEAD "coordinate real general\n2e9 2 1\n", "a.mtx:2: the size"},
        {HEAD "coordinate real symmetric\n2 3 1\n1 1 1\n", "a.mtx:2: a symmetric matrix"},
        {HEAD "coordinate real general\n2 2 5\n", "a.mtx:2: there are more entries"},
        {HEAD "coordinate real general\n100000000 100000000 1000000000000\n1 1 1\n", "a.mtx:2: the file is too short"},
        {HEAD "array real general\n100000000 100000000\n1\n", "a.mtx:2: the file is too short"},
        {HEAD "coordinate real general\n2 2 2\n1 1 1         \n", "a.mtx:4: the file ends where another entry"},
        {HEAD "coordinate real general\n2 2 1\n3 1 1\n", "a.mtx:3: an entry is"},
        {HEAD "coordinate real general\n2 2 1\n0 1 1\n", "a.mtx:3: an entry is"},
        {HEAD "coordinate real general\n2 2 1\n1 1.5 1\n", "a.mtx:3: an entry is"},
        {HEAD "coordinate real general\n2 2 1\n1 1 x\n", "a.mtx:3: an entry is"},
        {HEAD "coordinate real general\n2 2 1\n1 1 nan\n", "a.mtx:3: an entry is"},
        {HEAD "coordinate real general\n2 2 1\n1 1 0x10\n", "a.mtx:3: an entry is"},
        {HEAD "coordinate real general\n2 2 1\n1 1 1e999\n", "a.mtx:3: an entry is"},
        {HEAD "coordinate real general\n2 2 1\n1 1 1 1\n", "a.mtx:3: an entry is"},
        {HEAD "coordinate real symmetric\n2 2 1\n1 2 1\n", "a.mtx:3: a symmetric file"},
        {HEAD "coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "a.mtx:3: a skew-symmetric"},
        {HEAD "coordinate real general\n2 2 2\n1 1 1\n%\n1 1 2\n", "a.mtx:5: duplicate entry"},
        {HEAD "coordinate real general\n3 3 4\n2 1 1\n1 2 1\n3 3 1\n2 1 5\n", "a.mtx:6: duplicate entry"},
        {HEAD "coordinate real general\n2 2 1\n1 1 1\n1 2 1\n", "a.mtx:4: the file continues after its last entry"},
        {HEAD "array real general\n2 1\n1 2\n", "a.mtx:3: an entry of an array"},
    };
    for (size_t f = 0; f < sizeof files / sizeof *files; ++f) {
        carom_triplets t;
        carom_error err = {0};
        assert_int_equal(carom_triplets_read(files[f].text, strlen(files[f].text), "a.mtx", &t, &err), CAROM_BAD_INPUT);
        if (!strstr(err.text, files[f].say)) fail_msg("'%s' does not say '%s'", err.text, files[f].say);
        assert_null(t.row);
    }
    static char line[3000];
    carom_triplets t;
    carom_error err = {0};
    snprintf(line, sizeof line, HEAD_FORMAT "coordinate real general\n2 2 1\n1 1 %01200d\n", 1);
    assert_int_equal(carom_triplets_read(line, strlen(line), "a.mtx", &t, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "a.mtx:3: this line is no text"));
}

// Bytes changed, cut off or doubled: an answer or a sentence, never more.
static void damaged_files_are_read_or_refused(void **state) {
    (void)state;
    static const char whole[] =
        HEAD "coordinate real symmetric\n% a spring\n3 3 5\n1 1 1e3\n2 1 -1e3\n2 2 2e3\n3 2 -1e3\n3 3 1e3\n";
    unsigned seed = 1;
    for (int round = 0; round < 20000; ++round) {
        char text[sizeof whole];
        memcpy(text, whole, sizeof whole);
        size_t length = sizeof whole - 1;
        for (int hit = 0; hit < 1 + round % 3; ++hit) {
            seed = seed * 1664525u + 1013904223u;
            const size_t at = (seed >> 8) % length;
            text[at] = (seed >> 24 & 1 ? whole[(seed >> 12) % length] : (char)(seed >> 16));
        }
        if (round % 5 == 0) length = (seed >> 9) % length;
        carom_triplets t;
        carom_error err = {0};
        if (carom_triplets_read(text, length, "a.mtx", &t, &err) == CAROM_OK) {
            for (size_t k = 0; k < t.count; ++k)
                assert_true(t.row[k] >= 0 && t.row[k] < t.rows && t.col[k] >= 0 && t.col[k] < t.cols &&
                            isfinite(t.value[k]));
            carom_triplets_free(&t);
        } else {
            assert_non_null(strstr(err.text, "a.mtx:"));
        }
    }
}

// -- members ------------------------------------------------------------------------------------------------------

enum { N = 9 };

static carom_triplets triplets_of(int n, carom_matrix A) {
    carom_triplets t = {.rows = n,
                        .cols = n,
                        .row = calloc((size_t)(n * n), sizeof(int)),
                        .col = calloc((size_t)(n * n), sizeof(int)),
                        .value = calloc((size_t)(n * n), sizeof(double))};
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
            if (*carom_matrix_entry(A, i, j) != 0)
                t.row[t.count] = i, t.col[t.count] = j, t.value[t.count++] = *carom_matrix_entry(A, i, j);
    return t;
}

static carom_matrix dense(double *a, int n) {
    memset(a, 0, sizeof *a * (size_t)(n * n));
    return (carom_matrix){.shape = {.storage = CAROM_DENSE, .n = n}, .a = a};
}

static void assert_vectors(const double *a, const double *b, int n, double scale) {
    for (int i = 0; i < n; ++i) assert_close(a[i], b[i], 1e-13 * scale);
}

// The matrices of a beam act like the beam, with any of its unknowns fixed.
static void matrices_act_like_the_beam_they_were_taken_from(void **state) {
    (void)state;
    carom_error err = {0};
    carom_member_def d = carom_member_default(CAROM_BEAM);
    d.elements = 2, d.length = 2, d.density = 3, d.area = 0.2, d.modulus = 70, d.inertia = 0.3, d.damping_mass = 0.1,
    d.damping_stiffness = 0.02;
    for (int held = 0; held < 8; ++held) {
        bool fixed[N] = {[0] = held & 1, [4] = held >> 1 & 1, [8] = held >> 2 & 1};
        d.fixed = NULL;
        carom_member *whole = carom_member_create(&d, &err);
        d.fixed = fixed;
        carom_member *beam = carom_member_create(&d, &err);
        double a[N * N], b[N * N], c[N * N], zero[N] = {0};
        carom_matrix M = dense(a, N), K = dense(b, N), C = dense(c, N);
        carom_member_mass(whole, M, 0);
        carom_member_tangent(whole, zero, zero, K, C, 0);
        carom_triplets tM = triplets_of(N, M), tK = triplets_of(N, K), tC = triplets_of(N, C);
        carom_member_def e = carom_member_default(CAROM_MATRICES);
        e.mass = &tM, e.stiffness = &tK, e.damping = &tC, e.fixed = fixed;
        for (int own = 0; own < 2; ++own) { // damping by its matrix, and by its two numbers
            if (own) e.damping = NULL, e.damping_mass = d.damping_mass, e.damping_stiffness = d.damping_stiffness;
            carom_member *m = carom_member_create(&e, &err);
            if (!m) fail_msg("%s", err.text);
            const int n = carom_member_unknowns(m);
            assert_int_equal(n, carom_member_unknowns(beam));
            double q[N], v[N], f[N] = {0}, g[N] = {0}, T[2], V[2], x[N * N], y[N * N], z[N * N], w[N * N],
                               index_weight[CAROM_MEMBER_POINT], constant;
            for (int i = 0; i < n; ++i) q[i] = sin(3 * i + 1), v[i] = cos(5 * i);
            carom_member_force(m, q, v, f);
            carom_member_force(beam, q, v, g);
            assert_vectors(f, g, n, 1e3);
            carom_member_energy(m, q, v, &T[0], &V[0]);
            carom_member_energy(beam, q, v, &T[1], &V[1]);
            assert_close(T[0], T[1], 1e-13 * T[1]);
            assert_close(V[0], V[1], 1e-12 * V[1]);
            assert_close(carom_member_dissipation(m, q, v), carom_member_dissipation(beam, q, v),
                         1e-12 * carom_member_dissipation(beam, q, v));
            carom_matrix A = dense(x, n), B = dense(y, n), D = dense(z, n), E = dense(w, n);
            carom_member_mass(m, A, 0);
            carom_member_mass(beam, B, 0);
            assert_vectors(x, y, n * n, 1);
            A = dense(x, n), B = dense(y, n);
            carom_member_tangent(m, q, v, A, D, 0);
            carom_member_tangent(beam, q, v, B, E, 0);
            assert_vectors(x, y, n * n, 1e3);
            assert_vectors(z, w, n * n, 1e2);
            double slow[2], quick[2];
            assert_int_equal(carom_member_frequencies(m, 2, slow), 2);
            assert_int_equal(carom_member_frequencies(beam, 2, quick), 2);
            for (int i = 0; i < 2; ++i) assert_close(slow[i], quick[i], 1e-6 * (1 + quick[i]));
            int index[CAROM_MEMBER_POINT];
            assert_int_equal(carom_member_point(m, 5, 0, index, index_weight, &constant), fixed[4] ? 0 : 1);
            if (!fixed[4]) assert_int_equal(index[0], carom_member_unknown(m, 4, 0, NULL));
            assert_true(constant == 0);
            carom_member_destroy(m);
        }
        carom_triplets_free(&tM);
        carom_triplets_free(&tK);
        carom_triplets_free(&tC);
        carom_member_destroy(whole);
        carom_member_destroy(beam);
    }
}

static void wrong_matrices_are_refused(void **state) {
    (void)state;
    int row[] = {0, 1, 0, 1}, col[] = {0, 1, 1, 0};
    double one[] = {1, 1, 0.5, 0.5}, skew[] = {1, 1, 0.5, 0.4}, minus[] = {-1, 1, 0, 0}, odd[] = {1, NAN, 0, 0};
    const carom_triplets good = {2, 2, 4, row, col, one}, bent = {2, 2, 4, row, col, skew},
                         less = {2, 2, 4, row, col, minus}, no = {2, 2, 4, row, col, odd},
                         wide = {2, 3, 4, row, col, one}, small = {1, 1, 1, row, col, one},
                         out = {1, 1, 4, row, col, one};
    const struct { const carom_triplets *M, *K, *C; const char *say; } cases[] = {
        {NULL, &good, NULL, "are needed"},
        {&good, NULL, NULL, "are needed"},
        {&wide, &good, NULL, "mass matrix has 2 rows and 3"},
        {&good, &small, NULL, "stiffness matrix has 1 rows, the mass matrix 2"},
        {&good, &bent, NULL, "stiffness matrix is not symmetric: entry (1, 2) is 0.5"},
        {&bent, &good, NULL, "mass matrix is not symmetric"},
        {&less, &good, NULL, "it must not be negative"},
        {&good, &no, NULL, "entry 2 of the stiffness matrix"},
        {&out, &small, NULL, "entry 2 of the mass matrix"},
        {&good, &good, &small, "damping matrix has 1 rows"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        carom_member_def d = carom_member_default(CAROM_MATRICES);
        carom_error err = {0};
        d.mass = cases[k].M, d.stiffness = cases[k].K, d.damping = cases[k].C;
        assert_null(carom_member_create(&d, &err));
        if (!strstr(err.text, cases[k].say)) fail_msg("'%s' does not say '%s'", err.text, cases[k].say);
    }
    carom_member_def d = carom_member_default(CAROM_MATRICES);
    carom_error err = {0};
    d.mass = &good, d.stiffness = &good, d.damping = &bent; // damping need not be symmetric
    carom_member *m = carom_member_create(&d, &err);
    assert_non_null(m);
    carom_member_destroy(m);
}

// -- models -------------------------------------------------------------------------------------------------------

enum { ELEMENTS = 30 };

// The bar of the text below as matrices.
static void bar_texts(char *M, char *K, size_t size) {
    const double l = 10.0 / ELEMENTS, k = 900 / l, m = l / 6;
    size_t a = (size_t)snprintf(M, size, HEAD_FORMAT "coordinate real symmetric\n%d %d %d\n", ELEMENTS + 1,
                                ELEMENTS + 1, 2 * ELEMENTS + 1);
    size_t b = (size_t)snprintf(K, size, HEAD_FORMAT "coordinate real symmetric\n%d %d %d\n", ELEMENTS + 1,
                                ELEMENTS + 1, 2 * ELEMENTS + 1);
    for (int i = 0; i <= ELEMENTS; ++i) {
        const int ends = i == 0 || i == ELEMENTS ? 1 : 2;
        a += (size_t)snprintf(M + a, size - a, "%d %d %.17g\n", i + 1, i + 1, 2 * ends * m);
        b += (size_t)snprintf(K + b, size - b, "%d %d %.17g\n", i + 1, i + 1, ends * k);
        if (i == 0) continue;
        a += (size_t)snprintf(M + a, size - a, "%d %d %.17g\n", i + 1, i, m);
        b += (size_t)snprintf(K + b, size - b, "%d %d %.17g\n", i + 1, i, -k);
    }
    assert_true(a < size && b < size);
}

static char M_text[8192], K_text[8192];

static carom_model *with_matrices(const char *text, carom_error *err) {
    bar_texts(M_text, K_text, sizeof M_text);
    static const char x[] =
        HEAD "array real general\n31 "
             "1\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n"
             "-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n-10\n";
    const carom_matrix_text list[] = {{"M", M_text, strlen(M_text), "m.mtx"},
                                      {"K", K_text, strlen(K_text), "k.mtx"},
                                      {"v", x, sizeof x - 1, "v.mtx"}};
    return carom_model_create(&(carom_model_def){.text = text,
                                                 .length = strlen(text),
                                                 .file = "m.yaml",
                                                 .matrices = list,
                                                 .nmatrices = strstr(text, "vector") ? 3 : 2},
                              err);
}

#define CONTACTS                                                                                                       \
    "contacts: {wall: {gap: bar.start.u + 0.003, restitution: 0}, stop: {gap: 0.4 - bar.end.u, restitution: 0.5}}\n"
static const char by_matrices[] = "carom: 1\nflexible: {bar: {type: matrices, mass: M, stiffness: K, damping: "
                                  "{stiffness: 1e-4}, load: 0.2, rate: {vector: v},\n"
                                  "  points: {start: 1, middle: 16, end: 31}, record: displacement}}\n" CONTACTS
                                  "forces: {bar.middle.u: -3}\noutputs: {stretch: bar.end.u - bar.start.u}\n";
static const char by_elements[] = "carom: 1\nflexible: {bar: {type: bar, length: 10, elements: 30, density: 1, "
                                  "modulus: 900, area: 1, damping: {stiffness: 1e-4}, rate: -10,\n"
                                  "  points: {middle: 5}}}\n" CONTACTS "forces:\n";

// The load 0.2 on every row, as forces on the nodes of the bar.
static carom_model *bar_of_elements(void) {
    char text[4000], *at = text + sprintf(text, "%s", by_elements);
    for (int i = 0; i <= ELEMENTS; ++i) at += sprintf(at, "  bar.u%d: %s\n", i, i == 15 ? "0.2 - 3" : "0.2");
    return good(text);
}

static void a_bar_as_matrices_moves_like_the_bar(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit",     "moreau-jean",
                                          "newmark",         "generalized-alpha", "ggl-alpha"};
    carom_error err = {0};
    carom_model *a = with_matrices(by_matrices, &err), *b = bar_of_elements();
    if (!a) fail_msg("%s", err.text);
    const carom_system *s = carom_model_system(a);
    assert_int_equal(s->nv, ELEMENTS + 1);
    assert_int_equal(s->mass_shape.storage, CAROM_BANDED);
    assert_int_equal(s->flags & (CAROM_LINEAR | CAROM_CONSTANT_MASS), CAROM_LINEAR | CAROM_CONSTANT_MASS);
    assert_string_equal(carom_model_coordinate(a, 0), "bar.u1");
    assert_string_equal(carom_model_coordinate(a, ELEMENTS), "bar.u31");
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        carom_sim *x = model_sim(a, schemes[k], NULL, 1e-3, 1), *y = model_sim(b, schemes[k], NULL, 1e-3, 1);
        assert_int_equal(carom_sim_run(x, NULL, NULL, &err), CAROM_OK);
        assert_int_equal(carom_sim_run(y, NULL, NULL, &err), CAROM_OK);
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(x, &l, &err), CAROM_OK);
        assert_true(l.impacts >= 2 && l.energy.damping > 0);
        // Sums in another order, over a thousand steps with forces of the size k u; impacts are few and no contact
        // stays at g = 0, where rounding would decide.
        for (int i = 0; i < s->nq; ++i) assert_close(carom_sim_now(x).q[i], carom_sim_now(y).q[i], 1e-11);
        carom_sim_destroy(x);
        carom_sim_destroy(y);
    }
    carom_model_destroy(a);
    carom_model_destroy(b);
}

// A grid of springs has no narrow band: its matrices are sparse, and all entries are where they belong.
static void matrices_without_order_are_sparse(void **state) {
    (void)state;
    enum { SIDE = 50, ALL = SIDE * SIDE };
    static char M[50000], K[150000];
    size_t a = (size_t)sprintf(M, HEAD_FORMAT "coordinate real symmetric\n%d %d %d\n", ALL, ALL, ALL);
    size_t b =
        (size_t)sprintf(K, HEAD_FORMAT "coordinate real symmetric\n%d %d %d\n", ALL, ALL, ALL + 2 * SIDE * (SIDE - 1));
    for (int i = 0; i < ALL; ++i) {
        a += (size_t)sprintf(M + a, "%d %d 2\n", i + 1, i + 1);
        b += (size_t)sprintf(K + b, "%d %d 50\n", i + 1, i + 1);
        if (i % SIDE) b += (size_t)sprintf(K + b, "%d %d -10\n", i + 1, i);
        if (i >= SIDE) b += (size_t)sprintf(K + b, "%d %d -10\n", i + 1, i + 1 - SIDE);
    }
    static const char text[] =
        "carom: 1\nflexible: {grid: {type: matrices, mass: M, stiffness: K, at: 0.001*s, rate: 0.01*s - 25, points: "
        "{corner: 1, far: 2500}}}\n"
        "contacts: {c: {gap: 1 + grid.corner.u, restitution: 0.5}}\nconstraints: {held: grid.far.u - 2.5}\n";
    const carom_matrix_text list[] = {{"M", M, a, NULL}, {"K", K, b, NULL}};
    carom_error err = {0};
    carom_model *m = carom_model_create(
        &(carom_model_def){.text = text, .length = sizeof text - 1, .file = "g", .matrices = list, .nmatrices = 2},
        &err);
    if (!m) fail_msg("%s", err.text);
    const carom_system *s = carom_model_system(m);
    assert_int_equal(s->mass_shape.storage, CAROM_DIAGONAL);
    assert_int_equal(s->tangent_shape.storage, CAROM_SPARSE);
    carom_sim *x = model_sim(m, "moreau-jean", NULL, 1e-2, 1);
    assert_int_equal(carom_sim_run(x, NULL, NULL, &err), CAROM_OK);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(x, &l, &err), CAROM_OK);
    assert_close(l.energy.balance, 0, 1e-9 * l.energy.start); // theta = 1/2: the discrete balance holds
    assert_true(l.impacts > 0);
    carom_sim_destroy(x);
    carom_model_destroy(m);
}

static void mistakes_in_models_are_told_with_their_place(void **state) {
    (void)state;
    static const struct { const char *member, *say; } cases[] = {
        {"mass: M, stiffness: K, points: {a: 0}", "m.yaml:2:"},
        {"mass: M, stiffness: K, points: {a: 32}", "rows 1 to 31"},
        {"mass: M, stiffness: K, points: {a: 1.5}", "rows 1 to 31"},
        {"mass: M", "has no stiffness; add `stiffness: NAME`"},
        {"stiffness: K", "has no mass"},
        {"mass: N, stiffness: K", "no matrix 'N' is given"},
        {"mass: 3, stiffness: K", "mass is the name of a matrix"},
        {"mass: M, stiffness: K, rate: {vector: M}", "'M' has 31 rows and 31 columns; rate is a column of 31 rows"},
        {"mass: M, stiffness: K, rate: {vector: }", "rate is the name of a matrix"},
        {"mass: M, stiffness: K, rate: {}", "rate is empty"},
        {"mass: M, stiffness: K, rate: {u: 1}", "vector"},
        {"mass: M, stiffness: K, fix: start", "not a point of the member"},
        {"mass: M, stiffness: K, record: stress", "stresses are not available"},
        {"mass: M, stiffness: K, length: 3", "length"},
        {"mass: M, stiffness: M, load: 1", "no matrix 'K'"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[600];
        carom_error err = {0};
        snprintf(text, sizeof text, "carom: 1\nflexible: {bar: {type: matrices, %s}}\n", cases[k].member);
        carom_model *m = with_matrices(text, &err);
        if (m) fail_msg("no complaint about: %s", cases[k].member);
        if (k + 1 < sizeof cases / sizeof *cases && !strstr(err.text, cases[k].say))
            fail_msg("'%s' does not say '%s'", err.text, cases[k].say);
        if (k + 1 == sizeof cases / sizeof *cases) assert_non_null(strstr(err.text, "names no matrix 'K'"));
    }
    carom_error err = {0};
    static const char bad[] = HEAD "coordinate real general\n1 1 1\n1 1 x\n",
                      text[] = "carom: 1\nflexible: {bar: {type: matrices, mass: M, stiffness: M}}\n";
    const carom_matrix_text list[] = {{"M", bad, sizeof bad - 1, "bad.mtx"}, {"M", bad, sizeof bad - 1, "bad.mtx"}};
    for (int n = 1; n <= 2; ++n) {
        assert_null(carom_model_create(
            &(carom_model_def){
                .text = text, .length = sizeof text - 1, .file = "m.yaml", .matrices = list, .nmatrices = n},
            &err));
        assert_non_null(strstr(err.text, n == 1 ? "bad.mtx:3: an entry" : "'M' is given twice"));
    }
}

// -- results --------------------------------------------------------------------------------------------------------

static void run_part(const carom_model *m, const char *file, double end, bool resume) {
    carom_sim *sim = model_sim(m, "moreau-jean", NULL, 1e-3, end);
    carom_record_def d = carom_record_default();
    d.model = m, d.sim = sim, d.step = 1e-3, d.end = end, d.every = 1, d.file = file, d.text = by_matrices,
    d.length = sizeof by_matrices - 1;
    carom_error err = {0};
    carom_record *rec = resume ? carom_record_resume(&d, &err) : carom_record_create(&d, &err);
    if (!rec) fail_msg("%s", err.text);
    assert_int_equal(carom_sim_run(sim, carom_record_step, rec, &err), CAROM_OK);
    assert_int_equal(carom_record_finish(rec, "done", NULL, &err), CAROM_OK);
    carom_record_destroy(rec);
    carom_sim_destroy(sim);
}

// Everything that the second part needs comes from the file of the first.
static void a_result_holds_the_matrices_and_goes_on_with_them(void **state) {
    (void)state;
    char file[2][64] = {"/tmp/carom-matrices-XXXXXX", "/tmp/carom-matrices-XXXXXX"};
    for (int k = 0; k < 2; ++k) {
        const int fd = mkstemp(file[k]);
        assert_true(fd >= 0);
        close(fd);
    }
    carom_error err = {0};
    carom_model *m = with_matrices(by_matrices, &err);
    if (!m) fail_msg("%s", err.text);
    run_part(m, file[0], 0.3, false);
    run_part(m, file[1], 0.7, false);
    carom_model_destroy(m);
    carom_result *r = carom_result_open(file[0], &err);
    const carom_matrix_text *list;
    int n = 0;
    size_t length;
    assert_int_equal(carom_result_matrices(r, &list, &n, &err), CAROM_OK);
    assert_int_equal(n, 3);
    for (int i = 0; i < n; ++i)
        if (strcmp(list[i].name, "K") == 0)
            assert_true(list[i].length == strlen(K_text) && strcmp(list[i].text, K_text) == 0 &&
                        strcmp(list[i].file, "k.mtx") == 0);
    const char *text = carom_result_model(r, &length);
    m = carom_model_create(
        &(carom_model_def){.text = text, .length = length, .file = "again", .matrices = list, .nmatrices = n}, &err);
    if (!m) fail_msg("%s", err.text);
    carom_result_close(r);
    run_part(m, file[0], 0.7, true);
    carom_model_destroy(m);
    carom_result *a = carom_result_open(file[0], &err), *b = carom_result_open(file[1], &err);
    assert_int_equal(carom_result_rows(a), 701);
    assert_int_equal(carom_result_columns(a), carom_result_columns(b));
    assert_true(carom_result_find(a, "bar.middle.u'") > 0);
    double x[701], y[701], u[ELEMENTS + 1];
    for (int c = 0; c < carom_result_columns(a); ++c) {
        assert_int_equal(carom_result_read(a, c, 0, 701, x, &err), CAROM_OK);
        assert_int_equal(carom_result_read(b, c, 0, 701, y, &err), CAROM_OK);
        assert_memory_equal(x, y, sizeof x);
    }
    assert_int_equal(carom_result_field_size(a, "bar.displacement"), ELEMENTS + 1);
    assert_int_equal(carom_result_field_read(a, "bar.displacement", 700, u, &err), CAROM_OK);
    assert_int_equal(carom_result_read(a, carom_result_find(a, "bar.end.u"), 700, 1, x, &err), CAROM_OK);
    assert_true(u[ELEMENTS] == x[0]);
    carom_result_close(a);
    carom_result_close(b);
    for (int k = 0; k < 2; ++k) remove(file[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_a_file_gives_its_matrix),
        cmocka_unit_test(what_is_wrong_in_a_file_is_told_with_its_line),
        cmocka_unit_test(damaged_files_are_read_or_refused),
        cmocka_unit_test(matrices_act_like_the_beam_they_were_taken_from),
        cmocka_unit_test(wrong_matrices_are_refused),
        cmocka_unit_test(a_bar_as_matrices_moves_like_the_bar),
        cmocka_unit_test(matrices_without_order_are_sparse),
        cmocka_unit_test(mistakes_in_models_are_told_with_their_place),
        cmocka_unit_test(a_result_holds_the_matrices_and_goes_on_with_them),
    };
    return cmocka_run_group_tests_name("matrices", tests, NULL, NULL);
}
