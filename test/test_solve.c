// Contact problems in files: formats, hostile files, `carom solve` and `carom run --dump-problems`.
#define _DEFAULT_SOURCE // mkdtemp
#include "host.h"
#include "io/problem_file.h"
#include "program.h"
#include "walls.h"
#include <carom/problem_file.h>
#include <hdf5.h>

static void put_bytes(const char *name, const void *bytes, size_t length) {
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    fclose(f);
}

static carom_problem_list *load(const char *file) {
    carom_error err = {0};
    carom_problem_list *list = carom_problems_read(file, &err);
    if (!list) fail_msg("%s", err.text);
    return list;
}

static double entry(const carom_problem *pb, int i, int j) {
    double *G = malloc(sizeof(double) * (size_t)pb->n * (size_t)pb->n);
    carom_problem_expand(pb, G, pb->n);
    const double x = G[i + (size_t)j * (size_t)pb->n];
    free(G);
    return x;
}

static void assert_same_problem(const carom_problem *a, const carom_problem *b) {
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->nb, b->nb);
    double *A = malloc(sizeof(double) * (size_t)a->n * (size_t)a->n),
           *B = malloc(sizeof(double) * (size_t)a->n * (size_t)a->n);
    for (int i = 0; i < a->nb; i++)
        assert_true(a->block[i].law == b->block[i].law && a->block[i].at == b->block[i].at &&
                    (a->block[i].law < CAROM_PLANAR || a->block[i].mu == b->block[i].mu));
    carom_problem_expand(a, A, a->n), carom_problem_expand(b, B, a->n);
    for (int i = 0; i < a->n * a->n; i++) assert_true(A[i] == B[i]);
    for (int i = 0; i < a->n; i++) assert_true(a->c[i] == b->c[i] && a->p[i] == b->p[i]);
    free(A), free(B);
}

// A disc with a rod; by hand: u = G p + c = 0 for the normal and the rod, slip forward.
static const char disc[] = "carom-problem 1\ntitle a disc\nblocks 2 planar 0.3 bilateral\nc -1 2  0.25\nG 4\n"
                           "0 0  2 0 0 3   # entries row by row\n0 1  1 0\n1 0  1 0\n1 1  2\nend\n";

static void a_problem_is_read_as_it_is_written(void **state) {
    (void)state;
    put_bytes("disc.txt", disc, strlen(disc));
    carom_problem_list *list = load("disc.txt");
    const carom_problem *pb = carom_problems_at(list, 0);
    assert_int_equal(carom_problems_count(list), 1);
    assert_string_equal(carom_problems_title(list, 0), "a disc");
    assert_true(pb->n == 3 && pb->nb == 2 && pb->block[0].law == CAROM_PLANAR && pb->block[0].mu == 0.3 &&
                pb->block[1].law == CAROM_BILATERAL);
    assert_true(entry(pb, 0, 0) == 2 && entry(pb, 1, 1) == 3 && entry(pb, 0, 2) == 1 && entry(pb, 2, 0) == 1 &&
                entry(pb, 2, 2) == 2 && entry(pb, 2, 1) == 0);
    assert_true(pb->c[0] == -1 && pb->c[1] == 2 && pb->c[2] == 0.25 && pb->p[0] == 0);
    carom_problems_destroy(list);
}

static void text_keeps_every_bit(void **state) {
    (void)state;
    wall w = wall_of_bricks(3, 3, 1.0 / 3, 7);
    wall_tie(&w, 0, 4, false);
    block_problem x = wall_problem(&w);
    contact_problem y = problem_random(4, -1, 0.7, 0.3, 5); // dense, all laws
    carom_problem_list *list = carom_problems_create();
    carom_error err = {0};
    double start[64];
    uint64_t seed = 9;
    for (int i = 0; i < 64; i++) start[i] = uniform(&seed) / 3;
    assert_true(carom_problems_add(list, block_view(&x), NULL, NULL, &err) == CAROM_OK &&
                carom_problems_add(list, &y.pb, start, "second", &err) == CAROM_OK);
    assert_true(carom_problems_write(list, "both.txt", &err) == CAROM_OK);
    carom_problem_list *again = load("both.txt");
    assert_int_equal(carom_problems_count(again), 2);
    assert_string_equal(carom_problems_title(again, 1), "second");
    for (int i = 0; i < 2; i++) assert_same_problem(carom_problems_at(list, i), carom_problems_at(again, i));
    assert_true(carom_problems_at(again, 1)->p[2] == start[2]);
    assert_true(carom_problems_write(list, "both.hdf5", &err) == CAROM_BAD_INPUT); // FCLIB has one
    carom_problems_remove(again, 0);
    assert_true(carom_problems_count(again) == 1 && carom_problems_at(again, 0)->nb == 4);
    carom_problems_destroy(list), carom_problems_destroy(again);
    problem_destroy(&y);
    block_problem_destroy(&x);
    wall_destroy(&w);
}

// Equations come after the contacts in FCLIB, whatever their order was.
static void fclib_keeps_every_bit(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        wall w = wall_of_towers(2, 2, 0.4, 3);
        if (kind) wall_tie(&w, 0, 3, false);
        block_problem x = wall_problem(&w);
        carom_problem_list *list = carom_problems_create();
        carom_error err = {0};
        for (int i = 0; i < x.pb.n; i++) x.p[i] = kind == 2 ? 0.1 * i : 0;
        assert_true(carom_problems_add(list, block_view(&x), x.p, "towers", &err) == CAROM_OK);
        assert_true(carom_problems_write(list, "towers.hdf5", &err) == CAROM_OK);
        carom_problem_list *again = load("towers.hdf5");
        assert_same_problem(carom_problems_at(list, 0), carom_problems_at(again, 0));
        assert_string_equal(carom_problems_title(again, 0), "towers");
        carom_problems_destroy(list), carom_problems_destroy(again);
        block_problem_destroy(&x);
        wall_destroy(&w);
    }
    carom_problem_list *list = load("disc.txt");
    carom_error err = {0};
    assert_true(carom_problem_write_answer(carom_problems_at(list, 0), "disc.h5", &err) == CAROM_OK);
    carom_problems_destroy(list);
    contact_problem y = problem_random(3, CAROM_UNILATERAL, 0, 0.3, 5);
    list = carom_problems_create();
    assert_true(carom_problems_add(list, &y.pb, NULL, NULL, &err) == CAROM_OK);
    assert_true(carom_problems_write(list, "no.h5", &err) == CAROM_BAD_INPUT);
    assert_says(err.text, "text form");
    carom_problems_destroy(list);
    problem_destroy(&y);
}

// -- FCLIB, made by hand ----------------------------------------------------------------------------------------------

static void set(hid_t at, const char *name, hid_t type, size_t count, const void *x) {
    const hsize_t size = count;
    const hid_t space = H5Screate_simple(1, &size, NULL),
                s = H5Dcreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(s, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
    H5Dclose(s), H5Sclose(space);
}

typedef struct { int m, n, nz, nzmax, p[8], i[8]; double x[8]; } sample;

static void set_matrix(hid_t at, const char *name, const sample *s) {
    const hid_t g = H5Gcreate2(at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const size_t lines = s->nz >= 0 ? (size_t)s->nz : (size_t)(s->nz == -1 ? s->n : s->m) + 1;
    set(g, "m", H5T_NATIVE_INT, 1, &s->m), set(g, "n", H5T_NATIVE_INT, 1, &s->n),
        set(g, "nz", H5T_NATIVE_INT, 1, &s->nz), set(g, "nzmax", H5T_NATIVE_INT, 1, &s->nzmax);
    set(g, "p", H5T_NATIVE_INT, lines, s->p), set(g, "i", H5T_NATIVE_INT, (size_t)s->nzmax, s->i),
        set(g, "x", H5T_NATIVE_DOUBLE, (size_t)s->nzmax, s->x);
    H5Gclose(g);
}

// G: equations of a global problem; NULL: none
static void make_fclib_with(const char *file, bool global, const sample *W, const sample *H, const sample *G,
                            int spacedim) {
    const double q[] = {-1, 2}, mu = 0.3, f[] = {4, -2}, w[] = {-1, 0.5}, b = 0.5;
    const hid_t h = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                g = H5Gcreate2(h, global ? "fclib_global" : "fclib_local", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t v = H5Gcreate2(g, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    set(g, "spacedim", H5T_NATIVE_INT, 1, &spacedim);
    set_matrix(g, global ? "M" : "W", W);
    if (global) set_matrix(g, "H", H), set(v, "f", H5T_NATIVE_DOUBLE, 2, f), set(v, "w", H5T_NATIVE_DOUBLE, 2, w);
    else set(v, "q", H5T_NATIVE_DOUBLE, 2, q);
    if (G) set_matrix(g, "G", G), set(v, "b", H5T_NATIVE_DOUBLE, 1, &b);
    set(v, "mu", H5T_NATIVE_DOUBLE, 1, &mu);
    H5Gclose(v), H5Gclose(g), H5Fclose(h);
}

static void make_fclib(const char *file, bool global, const sample *W, const sample *H, int spacedim) {
    make_fclib_with(file, global, W, H, NULL, spacedim);
}

static const sample ROWS = {2, 2, -2, 3, {0, 2, 3}, {0, 1, 1}, {2, 0.5, 3}},
                    COLUMNS = {2, 2, -1, 3, {0, 1, 3}, {0, 0, 1}, {2, 0.5, 3}},
                    TRIPLETS = {2, 2, 3, 3, {0, 1, 1}, {0, 0, 1}, {2, 0.5, 3}}; // columns in p, rows in i

static void fclib_has_three_kinds_of_matrices(void **state) {
    (void)state;
    const sample *kinds[] = {&ROWS, &COLUMNS, &TRIPLETS};
    for (int k = 0; k < 3; k++) {
        make_fclib("kinds.hdf5", false, kinds[k], NULL, 2);
        carom_problem_list *list = load("kinds.hdf5");
        const carom_problem *pb = carom_problems_at(list, 0);
        assert_true(pb->n == 2 && entry(pb, 0, 0) == 2 && entry(pb, 0, 1) == 0.5 && entry(pb, 1, 0) == 0 &&
                    entry(pb, 1, 1) == 3 && pb->block[0].mu == 0.3);
        carom_problems_destroy(list);
    }
}

// M = [2 1; 0 4], H = [1 1; 0 2]:  M^-1 H = [0.5 0.25; 0 0.5],  W = H'M^-1 H = [0.5 0.25; 0.5 1.25],  M^-1 f = (2.25,
// -0.5), q = w + H'M^-1 f = (1.25, 1.75)
static void global_problems_become_local(void **state) {
    (void)state;
    const sample M = {2, 2, -2, 3, {0, 2, 3}, {0, 1, 1}, {2, 1, 4}}, H = {2, 2, 3, 3, {0, 1, 1}, {0, 0, 1}, {1, 1, 2}};
    make_fclib("global.hdf5", true, &M, &H, 2);
    carom_problem_list *list = load("global.hdf5");
    const carom_problem *pb = carom_problems_at(list, 0);
    const double W[2][2] = {{0.5, 0.25}, {0.5, 1.25}}, q[2] = {1.25, 1.75};
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(pb->c[i] - q[i]) < 1e-15);
        for (int j = 0; j < 2; j++) assert_true(fabs(entry(pb, i, j) - W[i][j]) < 1e-15);
    }
    carom_problems_destroy(list);
    const sample singular = {2, 2, -2, 2, {0, 2, 2}, {0, 1}, {2, 1}};
    make_fclib("singular.hdf5", true, &singular, &H, 2);
    carom_error err = {0};
    assert_null(carom_problems_read("singular.hdf5", &err));
    assert_says(err.text, "singular");
}

// Numbers come from the file itself: not by links, nor from other files.
// M = [2 1; 1 4], H = [1 1; 0 2], G = (1, 3):  7 M^-1 = [4 -1; -1 2],  7 W = 7 H'M^-1 H = [4 2; 2 8],  7 V = 7 H'M^-1 G
// = (1, 11),  7 R = 7 G'M^-1 G = 16,
// 7 M^-1 f = (18, -8),  q = w + H'M^-1 f,  s = b + G'M^-1 f
static void equations_of_global_problems_become_joints(void **state) {
    (void)state;
    const sample M = {2, 2, -2, 4, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 4}},
                 H = {2, 2, 3, 3, {0, 1, 1}, {0, 0, 1}, {1, 1, 2}}, G = {2, 1, 2, 2, {0, 0}, {0, 1}, {1, 3}};
    make_fclib_with("equations.hdf5", true, &M, &H, &G, 2);
    carom_problem_list *list = load("equations.hdf5");
    const carom_problem *pb = carom_problems_at(list, 0);
    assert_true(pb->n == 3 && pb->nb == 2);
    const int joint = pb->block[0].law == CAROM_BILATERAL ? 0 : 1;
    assert_true(pb->block[joint].law == CAROM_BILATERAL && pb->block[1 - joint].law == CAROM_PLANAR);
    const double W[3][3] = {{4, 2, 1}, {2, 8, 11}, {1, 11, 16}}, c[3] = {-1 + 18.0 / 7, 0.5 + 2.0 / 7, 0.5 - 6.0 / 7};
    const int at[3] = {pb->block[1 - joint].at, pb->block[1 - joint].at + 1, pb->block[joint].at};
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(pb->c[at[i]] - c[i]) < 1e-14);
        for (int j = 0; j < 3; j++) assert_true(fabs(entry(pb, at[i], at[j]) - W[i][j] / 7) < 1e-14);
    }
    carom_problems_destroy(list);
    const sample tall = {3, 1, 2, 2, {0, 0}, {0, 1}, {1, 3}};
    make_fclib_with("tall.hdf5", true, &M, &H, &tall, 2);
    carom_error err = {0};
    assert_null(carom_problems_read("tall.hdf5", &err));
    assert_says(err.text, "G");
}

static void fclib_reads_no_other_file(void **state) {
    (void)state;
    for (int how = 0; how < 4; how++) {
        make_fclib("other.hdf5", false, &ROWS, NULL, 2);
        make_fclib("links.hdf5", false, &ROWS, NULL, 2);
        const hsize_t two = 2;
        const hid_t h = H5Fopen("links.hdf5", H5F_ACC_RDWR, H5P_DEFAULT), dcpl = H5Pcreate(H5P_DATASET_CREATE),
                    space = H5Screate_simple(1, &two, NULL);
        static const char q[] = "fclib_local/vectors/q";
        assert_true(H5Lmove(h, q, h, "q", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        if (how == 0) H5Lcreate_soft("/q", h, q, H5P_DEFAULT, H5P_DEFAULT);
        if (how == 1) H5Lcreate_external("other.hdf5", q, h, q, H5P_DEFAULT, H5P_DEFAULT);
        if (how == 2) H5Pset_external(dcpl, "other.hdf5", 0, H5F_UNLIMITED);
        if (how == 3) H5Pset_virtual(dcpl, space, "other.hdf5", q, space);
        if (how >= 2) H5Dclose(H5Dcreate2(h, q, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
        H5Sclose(space), H5Pclose(dcpl), H5Fclose(h);
        carom_error err = {0};
        assert_null(carom_problems_read("links.hdf5", &err));
        assert_says(err.text, "no numbers in 'q'");
    }
}

// The beginning of a text is refused wherever it ends, also where memory still holds the rest of it.
static void half_a_text_is_refused(void **state) {
    (void)state;
    for (size_t n = strlen("carom-problem 1\n"); n <= strlen(disc) - strlen("d\n"); ++n) {
        put_bytes("whole.txt", disc, strlen(disc));
        carom_problems_destroy(load("whole.txt"));
        put_bytes("half.txt", disc, n);
        carom_error err = {0};
        if (carom_problems_read("half.txt", &err)) fail_msg("%zu bytes are accepted", n);
        assert_says(err.text, "half.txt");
    }
}

// -- what is wrong with a file is said --------------------------------------------------------------------------------

static void refuse_text(const char *text, const char *words) {
    carom_error err = {0};
    put_bytes("bad.txt", text, strlen(text));
    if (carom_problems_read("bad.txt", &err)) fail_msg("accepted: %s", text);
    assert_says(err.text, words);
}

static void wrong_texts_are_refused(void **state) {
    (void)state;
    refuse_text("", "not a contact problem");
    refuse_text("name: Ball\n", "not a contact problem");
    refuse_text("carom-problem 2\n", "bad.txt:1: expected a version");
    refuse_text("carom-problem 1\nc 1\n", "bad.txt:2: expected 'blocks'");
    refuse_text("carom-problem 1\nblocks 1000000000\n", "bad.txt:2: expected a number of blocks");
    // of two characters each at least
    refuse_text("carom-problem 1\nblocks 100000\nbilateral\nbilateral\n",
                "bad.txt:2: expected a number of blocks from 0 to 14");
    refuse_text("carom-problem 1\nblocks 1\nround 3\n", "bad.txt:3: expected a law");
    refuse_text("carom-problem 1\nblocks 1\nplanar -1\n", "must not be negative");
    refuse_text("carom-problem 1\nblocks 1\nplanar 0.1\nc 1\nend",
                "bad.txt:5: expected a finite number but found 'end'");
    refuse_text("carom-problem 1\nblocks 1\nplanar 0.1\nc 1 nan\n", "finite number but found 'nan'");
    refuse_text("carom-problem 1\nblocks 1\nunilateral\nc 1\nG 1\n0 1 2\nend",
                "expected a column of blocks from 0 to 0 but found '1'");
    refuse_text("carom-problem 1\nblocks 1\nunilateral\nc 1\nG 1\n0 0 ", "the file ends");
    refuse_text("carom-problem 1\nblocks 1\nunilateral\nc 1\nend\n", "has no G");
    refuse_text("carom-problem 1\nblocks 1\nunilateral\nc 1\nc 1\n", "given twice");
    refuse_text("carom-problem 1\nblocks 0\nc\nG 0\nend\nmore\n", "expected 'carom-problem' or the end");
}

static void wrong_matrices_are_refused(void **state) {
    (void)state;
    const struct { sample W; const char *words; } cases[] = {
        {{2, 3, -2, 3, {0, 2, 3}, {0, 1, 1}, {2, 0.5, 3}}, "W does not fit"},
        {{2, 2, -2, 3, {0, 2, 7}, {0, 1, 1}, {2, 0.5, 3}}, "do not fit into 3 entries"},
        {{2, 2, -2, 3, {0, 5, 3}, {0, 1, 1}, {2, 0.5, 3}}, "no valid place"},
        {{2, 2, -2, 3, {0, 2, 3}, {0, 9, 1}, {2, 0.5, 3}}, "has an entry at (0, 9)"},
        {{2, 2, -2, 3, {0, 2, 3}, {0, -1, 1}, {2, 0.5, 3}}, "has an entry at (0, -1)"},
        {{2, 2, 3, 3, {0, 0, 4}, {0, 1, 1}, {2, 0.5, 3}}, "has an entry at (1, 4)"},
        {{2, 2, -7, 3, {0, 2, 3}, {0, 1, 1}, {2, 0.5, 3}}, "has impossible sizes"},
        {{-2, -2, -2, 3, {0, 2, 3}, {0, 1, 1}, {2, 0.5, 3}}, "has impossible sizes"},
        {{2, 2, -2, 3, {0, 2, 3}, {0, 1, 1}, {2, NAN, 3}}, "not a finite number"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        carom_error err = {0};
        sample W = cases[k].W;
        const int m = W.m; // what is written must have room
        if (m < 0) W.m = W.n = 2, make_fclib("bad.hdf5", false, &W, NULL, 2), W.m = m;
        else make_fclib("bad.hdf5", false, &W, NULL, 2);
        if (m < 0) {
            const hid_t f = H5Fopen("bad.hdf5", H5F_ACC_RDWR, H5P_DEFAULT),
                        s = H5Dopen2(f, "fclib_local/W/m", H5P_DEFAULT);
            H5Dwrite(s, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &m);
            H5Dclose(s), H5Fclose(f);
        }
        if (carom_problems_read("bad.hdf5", &err)) fail_msg("accepted: case %d", (int)k);
        assert_says(err.text, cases[k].words);
    }
    carom_error err = {0};
    make_fclib("bad.hdf5", false, &ROWS, NULL, 5);
    assert_null(carom_problems_read("bad.hdf5", &err));
    assert_says(err.text, "spacedim must be 2 or 3, got 5");
    // A vector of 200 million numbers of which none is stored.
    make_fclib("bad.hdf5", false, &ROWS, NULL, 2);
    hid_t f = H5Fopen("bad.hdf5", H5F_ACC_RDWR, H5P_DEFAULT);
    const hsize_t many = 200000000;
    const hid_t space = H5Screate_simple(1, &many, NULL);
    H5Ldelete(f, "fclib_local/W/x", H5P_DEFAULT);
    const hid_t x = H5Dcreate2(f, "fclib_local/W/x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(x), H5Sclose(space), H5Fclose(f);
    assert_null(carom_problems_read("bad.hdf5", &err));
    assert_says(err.text, "more than the file can contain");
    f = H5Fcreate("bad.hdf5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(f);
    assert_null(carom_problems_read("bad.hdf5", &err));
    assert_says(err.text, "without a group fclib_local or fclib_global");
}

// FC01: one frictionless contact, p = 0.5; then the same cut off and with wrong numbers.
// Two contacts with friction in the plane and in space, every entry of every block another number.
static void the_binary_form_has_friction(void **state) {
    (void)state;
    for (int d = 2; d <= 3; d++) {
        unsigned char bytes[600];
        const int head[] = {d, 2, 3, 0, 2, 3, 0, 1, 1}; // d, nc, nb; blocks (0, 0), (0, 1), (1, 1)
        double value[27], c[6], mu[] = {0.3, 0.7}, rolling[] = {0, 0};
        for (int k = 0; k < 27; k++) value[k] = 1 + k;
        for (int k = 0; k < 6; k++) c[k] = -1 - k;
        size_t n = 4, blocks = 3 * (size_t)(d * d) * sizeof *value, vector = 2 * (size_t)d * sizeof *c;
        memcpy(bytes, "FC01", 4), memcpy(bytes + n, head, sizeof head), n += sizeof head;
        memcpy(bytes + n, value, blocks), n += blocks;
        memcpy(bytes + n, c, vector), n += vector;
        memcpy(bytes + n, mu, sizeof mu), n += sizeof mu;
        memcpy(bytes + n, rolling, sizeof rolling), n += sizeof rolling;
        put_bytes("two.fc", bytes, n);
        carom_problem_list *list = load("two.fc");
        const carom_problem *pb = carom_problems_at(list, 0);
        assert_true(pb->n == 2 * d && pb->nb == 2);
        for (int i = 0; i < 2; i++)
            assert_true(pb->block[i].mu == mu[i] && pb->block[i].at == i * d &&
                        pb->block[i].law == (d == 2 ? CAROM_PLANAR : CAROM_SPATIAL));
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) {
                assert_true(entry(pb, i, j) == value[i + d * j] && entry(pb, i, d + j) == value[d * d + i + d * j]);
                assert_true(entry(pb, d + i, d + j) == value[2 * d * d + i + d * j] && entry(pb, d + i, j) == 0);
            }
        for (int i = 0; i < 2 * d; i++) assert_true(pb->c[i] == c[i]);
        carom_problems_destroy(list);
        carom_error err = {0};
        const double negative = -0.7, rolls = 0.1;
        memcpy(bytes + n - sizeof rolls, &rolls, sizeof rolls), put_bytes("two.fc", bytes, n); // of the second contact
        assert_null(carom_problems_read("two.fc", &err));
        assert_says(err.text, "contact 1 has rolling friction");
        memcpy(bytes + n - 3 * sizeof negative, &negative, sizeof negative), put_bytes("two.fc", bytes, n);
        assert_null(carom_problems_read("two.fc", &err));
        assert_says(err.text, "contact 1 has friction -0.7");
    }
}

// Three contacts, each with a block of its own; then rows that go back.
static void rows_of_the_binary_form_follow_each_other(void **state) {
    (void)state;
    for (int back = 0; back < 2; back++) {
        unsigned char bytes[4 + 10 * 4 + 12 * 8];
        const int head[] = {1, 3, 3, 0, back ? 2 : 1, back ? 1 : 2, 3, 0, 1, 2}; // d, nc, nb; where rows start; columns
        const double numbers[12] = {2, 3, 4, -1, -2, -3}; // G, c; no friction
        memcpy(bytes, "FC01", 4), memcpy(bytes + 4, head, sizeof head),
            memcpy(bytes + 4 + sizeof head, numbers, sizeof numbers);
        put_bytes("three.fc", bytes, sizeof bytes);
        carom_error err = {0};
        carom_problem_list *list = carom_problems_read("three.fc", &err);
        if (back) assert_says(err.text, "row 1 has no valid place");
        else if (!list) fail_msg("%s", err.text);
        for (int i = 0; list && i < 3; i++) assert_true(entry(carom_problems_at(list, 0), i, i) == numbers[i]);
        carom_problems_destroy(list);
    }
}

// Each of three blocks in turn is in a column before the first or behind the last.
static void columns_of_the_binary_form_exist(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int col = -1; col <= 3; col += 4) {
            unsigned char bytes[4 + 10 * 4 + 12 * 8];
            int head[] = {1, 3, 3, 0, 1, 2, 3, 0, 1, 2}; // d, nc, nb; where rows start; columns
            const double numbers[12] = {2, 3, 4, -1, -2, -3}; // G, c; no friction
            char text[80];
            head[7 + k] = col;
            memcpy(bytes, "FC01", 4), memcpy(bytes + 4, head, sizeof head),
                memcpy(bytes + 4 + sizeof head, numbers, sizeof numbers);
            put_bytes("columns.fc", bytes, sizeof bytes);
            carom_error err = {0};
            assert_null(carom_problems_read("columns.fc", &err));
            snprintf(text, sizeof text, "block %d is in column %d of 3", k, col);
            assert_says(err.text, text);
        }
}

static void the_binary_form_is_checked(void **state) {
    (void)state;
    struct {
        char magic[4];
        int d, nc, nb, start[2], col, value_low;
    } head = {{'F', 'C', '0', '1'}, 1, 1, 1, {0, 1}, 0, 0};
    unsigned char bytes[28 + 4 * 8];
    const double numbers[4] = {2, -1, 0, 0}; // G, c, mu, rolling
    memcpy(bytes, &head, 28), memcpy(bytes + 28, numbers, sizeof numbers);
    put_bytes("one.fc", bytes, sizeof bytes);
    carom_problem_list *list = load("one.fc");
    assert_true(entry(carom_problems_at(list, 0), 0, 0) == 2 && carom_problems_at(list, 0)->c[0] == -1);
    carom_problems_destroy(list);
    for (size_t cut = 0; cut < sizeof bytes; cut++) {
        carom_error err = {0};
        put_bytes("cut.fc", bytes, cut);
        assert_null(carom_problems_read("cut.fc", &err));
    }
    for (int at = 4; at < 28; at++)
        for (int value = 0; value < 256; value += 51) {
            carom_error err = {0};
            unsigned char copy[sizeof bytes];
            memcpy(copy, bytes, sizeof bytes);
            copy[at] = (unsigned char)value;
            put_bytes("changed.fc", copy, sizeof copy);
            carom_problems_destroy(carom_problems_read("changed.fc", &err)); // no crash is all that is asked
        }
}

// -- the program ------------------------------------------------------------------------------------------------------

static void solve_answers(void **state) {
    (void)state;
    put_bytes("disc.txt", disc, strlen(disc));
    assert_int_equal(carom("solve disc.txt"), 0);
    assert_says(out, "problem 1 (a disc): 1 contact, 1 equation");
    assert_int_equal(carom("solve disc.txt --json --tol 1e-10 -o answer.csv"), 0);
    for (int k = 0; k < 5; k++)
        assert_says(out, ((const char *[]){"\"converged\": true", "\"residual\": ", "\"iterations\": ",
                                           "\"solver\": \"", "\"seconds\": "})[k]);
    // u_N = 2 p + l - 1 = 0 and 2 l + p + 0.25 = 0: p = 0.75, l = -0.5; slip: p_T = -0.3 p, u_T = 2 + 3 p_T
    get("answer.csv", out, sizeof out);
    double u = 0, p = 0;
    assert_true(strncmp(out, "block,row,u,p\n", 14) == 0);
    assert_int_equal(sscanf(strstr(out, "\n0,0,") + 5, "%lf,%lf", &u, &p), 2);
    assert_true(fabs(u) < 1e-14 && fabs(p - 0.75) < 1e-14);
    assert_int_equal(sscanf(strstr(out, "\n0,1,") + 5, "%lf,%lf", &u, &p), 2);
    assert_true(fabs(p + 0.225) < 1e-14 && fabs(u - 1.325) < 1e-13);
    assert_int_equal(sscanf(strstr(out, "\n1,0,") + 5, "%lf,%lf", &u, &p), 2);
    assert_true(fabs(p + 0.5) < 1e-14);
    assert_int_equal(carom("solve disc.txt -q -o disc.hdf5"), 0);
    assert_int_equal(carom("solve disc.hdf5 --json --solver gauss-seidel --tol 1e-8"), 0);
    assert_says(out, "\"solver\": \"gauss-seidel\"");
}

static void solve_refuses(void **state) {
    (void)state;
    // A contact that nothing can move, closing.
    const char *stuck = "carom-problem 1 blocks 1 unilateral c -1 G 0 end\n";
    put_bytes("stuck.txt", stuck, strlen(stuck));
    assert_int_equal(carom("solve stuck.txt --json"), 1);
    assert_says(out, "\"converged\": false");
    assert_says(out, "\"infeasible\": true");
    assert_says(
        complaints,
        "problem 1 is infeasible: its constraints contradict each other (largest weights in the proof: block 0)");
    assert_int_equal(carom("solve disc.txt --tol 1e-16 --json"), 0); // feasible
    assert_says(out, "\"infeasible\": false");
    assert_int_equal(carom("solve nowhere.txt"), 2);
    assert_says(complaints, "cannot read nowhere.txt");
    assert_int_equal(carom("solve disc.txt --solver newtno"), 2);
    assert_says(complaints, "did you mean 'newton'");
    assert_int_equal(carom("solve disc.txt --tol 0"), 2);
    assert_int_equal(carom("solve disc.txt --problem 2"), 2);
    assert_says(complaints, "has 1 problem");
    assert_int_equal(carom("solve"), 2);
    const char *empty = "carom-problem 1 blocks 0 c G 0 end\n";
    put_bytes("empty.txt", empty, strlen(empty));
    assert_int_equal(carom("solve empty.txt"), 0);
    make_fclib("gone.hdf5", false, &ROWS, NULL, 2);
    const hid_t h = H5Fopen("gone.hdf5", H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(h, "fclib_local/vectors/q", H5P_DEFAULT), H5Fclose(h);
    assert_int_equal(carom("solve gone.hdf5"), 2);
    assert_says(complaints, "gone.hdf5: no numbers in 'q'");
    assert_null(strchr(strchr(complaints, '\n') + 1, '\n')); // one line: HDF5 says nothing
}

// G = W'W, c = W'v + w of `nc` contacts and joints; `clash` turns the last normal into minus a sum of others, with
// weights y >= 0 (joints: of any sign),
// and y'w = -squeeze: only then there is no solution.
static contact_problem squeezed(int nc, int joints, int tangents, bool clash, double squeeze, uint64_t seed) {
    enum { DOF = 12 };
    const int nb = nc + joints, rows = nc * (1 + tangents) + joints;
    double W[40][DOF] = {{0}}, y[40] = {0}, v[DOF];
    contact_problem x = problem_create(rows, nb);
    int last = 0;
    for (int b = 0; b < nb; b++) {
        const int at = problem_add(&x, b < nc ? carom_law_friction(tangents) : CAROM_BILATERAL, b < nc ? 0.4 : 0);
        if (b == nc - 1) last = at;
        y[at] = b < nc ? 0.1 + uniform(&seed) : symmetric_uniform(&seed);
        if (b > 0 && b < nc - 1 && uniform(&seed) < 0.4) y[at] = 0;
    }
    y[last] = 1;
    for (int d = 0; d < DOF; d++) v[d] = symmetric_uniform(&seed);
    for (int i = 0; i < rows; i++)
        for (int d = 0; d < DOF; d++) W[i][d] = symmetric_uniform(&seed);
    for (int d = 0; clash && d < DOF; d++) W[last][d] = 0;
    for (int i = 0; clash && i < rows; i++)
        for (int d = 0; i != last && d < DOF; d++) W[last][d] -= y[i] * W[i][d];
    for (int i = 0; i < rows; i++) {
        for (int d = 0; d < DOF; d++) x.c[i] += W[i][d] * v[d];
        for (int j = 0; j < rows; j++)
            for (int d = 0; d < DOF; d++) x.G[i + (size_t)j * (size_t)x.pb.ld] += W[i][d] * W[j][d];
    }
    x.c[last] -= squeeze;
    return x;
}

// Contradictions are proved, whatever the laws and joints; where constraints touch without contradiction, or do not
// meet, nothing is claimed.
static void contradictions_are_proved(void **state) {
    (void)state;
    double y[40];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const int nc = 2 + (int)(seed % 4), joints = (int)(seed % 3), tangents = (int)(seed / 3 % 3);
        const double squeeze = seed % 2 ? 0.5 : 1e-4;
        for (int kind = 0; kind < 3; kind++) { // contradiction, room to give way, independent directions
            contact_problem x = squeezed(nc, joints, tangents, kind < 2, kind == 1 ? -squeeze : squeeze, 977 * seed);
            if (carom_infeasible(&x.pb, 1e-10, y) != (kind == 0))
                fail_msg("seed %d, kind %d: %s", (int)seed, kind, kind ? "claimed" : "not found");
            double drive = 0;
            for (int i = 0; kind == 0 && i < x.pb.n; i++) drive += y[i] * x.c[i];
            assert_true(kind > 0 || drive < 0);
            problem_destroy(&x);
        }
    }
    // A solution of a problem with an unsymmetric G; the transpose of G has none.
    const carom_block two[] = {{.law = CAROM_UNILATERAL, .at = 0}, {.law = CAROM_UNILATERAL, .at = 1}};
    const double G[] = {0, 1, 0, 1}, T[] = {0, 0, 1, 1}, c[] = {-1, 1};
    double p[2] = {0}, u[2];
    carom_problem pb = {.n = 2, .nb = 2, .ld = 2, .block = two, .G = G, .c = c, .p = p, .u = u};
    assert_true(carom_infeasible(&pb, 1e-10, y)); // u_1 = -1 whatever p is
    pb.G = T;                                     // u_1 = p_2 - 1
    assert_false(carom_infeasible(&pb, 1e-10, y));
}

static void solve_measures(void **state) {
    (void)state;
    put_bytes("disc.txt", disc, strlen(disc));
    assert_int_equal(carom("solve disc.txt --repeat 7"), 0);
    assert_says(out, "in 7 solutions from the same start");
    assert_says(out, "in 7 solutions from the solution");
    assert_int_equal(carom("solve disc.txt --repeat 4 --json -o answer.csv"), 0);
    const char *repeat = strstr(out, "\"repeat\": {\"count\": 4, \"start\": {\"minimum\": ");
    assert_non_null(repeat);
    double start[2] = {0}, warm[2] = {0};
    const char *form = "\"repeat\": {\"count\": 4, \"start\": {\"minimum\": %lf, \"median\": %lf}, \"warm\": "
                       "{\"minimum\": %lf, \"median\": %lf}}";
    assert_int_equal(sscanf(repeat, form, start, start + 1, warm, warm + 1), 4);
    assert_true(0 < start[0] && start[0] <= start[1] && 0 < warm[0] && warm[0] <= warm[1]);
    get("answer.csv", out, sizeof out);
    double u = 0, p = 0;
    assert_int_equal(sscanf(strstr(out, "\n0,0,") + 5, "%lf,%lf", &u, &p), 2);
    assert_true(fabs(u) < 1e-14 && fabs(p - 0.75) < 1e-14);
    assert_int_equal(carom("solve disc.txt --repeat 1.5"), 2);
    assert_says(complaints, "--repeat: expected an integer from 1 to 1000000, got 1.5");
    assert_int_equal(carom("solve disc.txt --json"), 0);
    assert_null(strstr(out, "repeat"));
}

// A run writes its hardest problems; solving them again needs the same solver and finds the same residual.
static void a_run_dumps_its_problems(void **state) {
    (void)state;
    const char *model =
        "carom: 1\nparameters: {m: 1}\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0}, a: {at: 0}}\n"
        "energy: {kinetic: 1/2*m*(x'^2 + y'^2 + a'^2/6), potential: 9.81*m*y}\n"
        "contacts: {left: {gap: y - a/2, slip: x, friction: 0.3}, right: {gap: y + a/2, slip: x, friction: 0.3}}\n"
        "simulation: {scheme: moreau-midpoint, step: 1e-2, end: 0.3}\n";
    put_bytes("slide.yaml", model, strlen(model));
    assert_int_equal(carom("run slide.yaml --quiet --dump-problems hard.txt"), 0);
    carom_problem_list *list = load("hard.txt");
    assert_int_equal(carom_problems_count(list), 10);
    assert_true(carom_problems_at(list, 0)->nb == 2 && carom_problems_at(list, 0)->block[1].law == CAROM_PLANAR);
    carom_problems_destroy(list);
    assert_int_equal(carom("solve hard.txt --json"), 0);
    assert_says(out, "\"problems\": [");
    assert_int_equal(carom("solve hard.txt -o a.csv"), 2); // ten answers
    assert_int_equal(carom("solve hard.txt --problem 3 -o a.csv"), 0);
    assert_int_equal(carom("run slide.yaml --quiet --dump-problems hard.hdf5"), 0);
    assert_int_equal(carom("solve hard.hdf5 --quiet"), 0);
    assert_int_equal(carom("run slide.yaml --quiet --dump-problems nowhere/hard.txt"), 1);
    assert_says(complaints, "cannot write nowhere/hard.txt");
}

int main(void) {
    char folder[] = "/tmp/carom-solve-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_is_read_as_it_is_written),
        cmocka_unit_test(text_keeps_every_bit),
        cmocka_unit_test(fclib_keeps_every_bit),
        cmocka_unit_test(fclib_has_three_kinds_of_matrices),
        cmocka_unit_test(global_problems_become_local),
        cmocka_unit_test(half_a_text_is_refused),
        cmocka_unit_test(equations_of_global_problems_become_joints), cmocka_unit_test(fclib_reads_no_other_file),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(wrong_matrices_are_refused),
        cmocka_unit_test(the_binary_form_has_friction),
        cmocka_unit_test(rows_of_the_binary_form_follow_each_other),
        cmocka_unit_test(columns_of_the_binary_form_exist), cmocka_unit_test(the_binary_form_is_checked),
        cmocka_unit_test(solve_answers),
        cmocka_unit_test(solve_refuses),
        cmocka_unit_test(contradictions_are_proved),
        cmocka_unit_test(solve_measures),
        cmocka_unit_test(a_run_dumps_its_problems),
        cmocka_unit_test(the_host_is_as_before),
    };
    const int failed = cmocka_run_group_tests(tests, host_begin, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? failed : 1;
}
