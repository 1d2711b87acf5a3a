// test_layout.c: the files that carom writes, object by object and letter by letter: names, types, sizes, storage and
// attributes in HDF5, and text.
//
//     build/test/test_layout print >test/layout.txt        where a change is meant
#define _DEFAULT_SOURCE // mkdtemp, open_memstream
#include "io/h5.h"
#include "contact/residual.h"
#include "sim/ledger.h"
#include "io/table.h"
#include "letters.h"
#include "result_rig.h"
#include <carom/problem_file.h>
#include <carom/table.h>

// -- HDF5 as text -----------------------------------------------------------------------------------------------------

static void show_type(FILE *f, hid_t type) {
    const size_t size = H5Tget_size(type);
    switch (H5Tget_class(type)) {
    case H5T_FLOAT: fprintf(f, "real%zu", size); break;
    case H5T_INTEGER: fprintf(f, "%s%zu", H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned" : "integer", size); break;
    case H5T_STRING:
        fprintf(f, "text%zu %s%s", size, H5Tget_strpad(type) == H5T_STR_NULLPAD ? "padded" : "ended",
                H5Tget_cset(type) == H5T_CSET_UTF8 ? " utf8" : "");
        break;
    case H5T_COMPOUND:
        fprintf(f, "{%zu:", size);
        for (unsigned i = 0; i < (unsigned)H5Tget_nmembers(type); ++i) {
            char *name = H5Tget_member_name(type, i);
            const hid_t member = H5Tget_member_type(type, i);
            fprintf(f, " %zu %s ", H5Tget_member_offset(type, i), name);
            show_type(f, member);
            H5free_memory(name), H5Tclose(member);
        }
        fputc('}', f);
        break;
    default: fputs("?", f);
    }
}

static void show_space(FILE *f, hid_t space) {
    hsize_t size[4] = {0}, most[4] = {0};
    const int rank = H5Sget_simple_extent_dims(space, size, most);
    for (int i = 0; i < rank; ++i) {
        fprintf(f, "%s%llu", i ? " x " : " [", (unsigned long long)size[i]);
        if (most[i] == H5S_UNLIMITED) fputs("..", f);
        else if (most[i] != size[i]) fprintf(f, "..%llu", (unsigned long long)most[i]);
    }
    if (rank > 0) fputc(']', f);
}

// Values of numbers that are the same on every machine, and of texts; `bytes` of the type `type`, one after the other.
static void show_values(FILE *f, hid_t type, const char *bytes, size_t n) {
    const size_t size = H5Tget_size(type);
    for (size_t i = 0; i < n; ++i) {
        double x = 0;
        if (H5Tget_class(type) == H5T_STRING) {
            fprintf(f, " '%.*s'", (int)size, bytes + i * size);
            continue;
        }
        char one[8];
        memcpy(one, bytes + i * size, size);
        H5Tconvert(type, H5T_NATIVE_DOUBLE, 1, one, NULL, H5P_DEFAULT);
        memcpy(&x, one, sizeof x);
        fprintf(f, " %.17g", x);
    }
}

// What depends on the clock, the machine or the version is not shown.
static bool varies(const char *name) {
    static const char *const names[] = {"options", "version", "started", "wall"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static void show_attributes(FILE *f, hid_t at) {
    H5O_info_t info;
    assert_true(H5Oget_info(at, &info) >= 0);
    for (hsize_t i = 0; i < info.num_attrs; ++i) {
        const hid_t a = H5Aopen_by_idx(at, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT),
                    type = H5Aget_type(a), space = H5Aget_space(a);
        char name[100] = "";
        H5Aget_name(a, sizeof name, name);
        fprintf(f, "  %s: ", name);
        const H5T_class_t kind = H5Tget_class(type);
        if (kind == H5T_VLEN || kind == H5T_COMPOUND) fputs("references", f); // of dimensions
        else if (!varies(name)) {
            const size_t n = (size_t)H5Sget_simple_extent_npoints(space);
            char *bytes = calloc(n, H5Tget_size(type));
            assert_true(H5Aread(a, type, bytes) >= 0);
            show_type(f, type), show_space(f, space), show_values(f, type, bytes, n);
            free(bytes);
        }
        fputc('\n', f);
        H5Sclose(space), H5Tclose(type), H5Aclose(a);
    }
}

static void show_set(FILE *f, hid_t set, bool values) {
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set), list = H5Dget_create_plist(set);
    const int rank = H5Sget_simple_extent_ndims(space);
    hsize_t piece[4] = {0};
    H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
    double nothing = 0;
    H5D_alloc_time_t when = H5D_ALLOC_TIME_LATE;
    hbool_t times = 1;
    show_type(f, type), show_space(f, space);
    if (H5Pget_layout(list) == H5D_CHUNKED && H5Pget_chunk(list, rank, piece) == rank)
        for (int i = 0; i < rank; ++i) fprintf(f, "%s%llu", i ? " x " : ", chunks of ", (unsigned long long)piece[i]);
    if (H5Pfill_value_defined(list, &fill) >= 0 && fill == H5D_FILL_VALUE_USER_DEFINED &&
        H5Pget_fill_value(list, H5T_NATIVE_DOUBLE, &nothing) >= 0)
        fprintf(f, ", filled with %s", isnan(nothing) ? "NaN" : "a number");
    if (H5Pget_alloc_time(list, &when) >= 0 && when == H5D_ALLOC_TIME_EARLY) fputs(", allocated at once", f);
    if (H5Pget_layout(list) == H5D_CHUNKED && H5Pget_obj_track_times(list, &times) >= 0)
        fputs(times ? ", with times" : "", f);
    if (values) {
        const size_t n = (size_t)H5Sget_simple_extent_npoints(space);
        char *bytes = calloc(n + 1, H5Tget_size(type));
        assert_true(n == 0 || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
        fputc(':', f), show_values(f, type, bytes, n);
        free(bytes);
    }
    fputc('\n', f);
    H5Pclose(list), H5Sclose(space), H5Tclose(type);
}

// As large as the state, so without sizes.  They are there from the start, and do not tell when.
static void show_slots(FILE *f, hid_t set) {
    const hid_t list = H5Dget_create_plist(set);
    H5D_alloc_time_t when = H5D_ALLOC_TIME_LATE;
    hbool_t times = 1;
    assert_true(H5Pget_alloc_time(list, &when) >= 0 && when == H5D_ALLOC_TIME_EARLY);
    assert_true(H5Pget_obj_track_times(list, &times) >= 0 && !times);
    fputs("two slots\n", f);
    H5Pclose(list);
}

// All that is in a group, by names; `values`: those of sets too.
static void show_group(FILE *f, hid_t group, const char *path_there, bool values) {
    H5G_info_t info;
    assert_true(H5Gget_info(group, &info) >= 0);
    for (hsize_t i = 0; i < info.nlinks; ++i) {
        char name[200] = "", where[400];
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
        snprintf(where, sizeof where, "%s/%s", path_there, name);
        const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
        const bool set = H5Iget_type(object) == H5I_DATASET;
        fprintf(f, "%s%s", where, set ? ": " : "\n");
        const bool bytes = strcmp(where, "/byte") == 0; // the scale of slots: its size is in its name, too
        if (strcmp(where, "/state") == 0) show_slots(f, object);
        else if (bytes) fputs("the bytes of a slot\n", f);
        else if (set) show_set(f, object, values);
        if (strcmp(where, "/ledger") != 0 && !bytes) show_attributes(f, object);
        if (!set) show_group(f, object, where, values);
        H5Oclose(object);
    }
}

// own: in the format that carom chooses; others have that of the library.
static void show_file(FILE *f, const char *name, bool values, bool own) {
    const hid_t file = H5Fopen(path(name), H5F_ACC_RDONLY, H5P_DEFAULT), list = H5Fget_create_plist(file),
                root = H5Gopen2(file, "/", H5P_DEFAULT);
    assert_true(file >= 0 && root >= 0);
    H5F_info2_t about;
    unsigned k = 0;
    assert_true(H5Fget_info2(file, &about) >= 0 && H5Pget_istore_k(list, &k) >= 0);
    fprintf(f, "-- %s\n", name);
    if (own) fprintf(f, "superblock %u, %u chunks to a node\n", about.super.version, 2 * k);
    show_attributes(f, root);
    show_group(f, root, "", values);
    H5Gclose(root), H5Pclose(list), H5Fclose(file);
}

static void show_text(FILE *f, const char *name) {
    fprintf(f, "-- %s\n", name);
    FILE *from = fopen(path(name), "r");
    assert_non_null(from);
    for (int c = fgetc(from); c != EOF; c = fgetc(from)) fputc(c, f);
    fclose(from);
}

// -- what is written --------------------------------------------------------------------------------------------------

// Steps of 1/8 and g = 1: every number is exact.  Ball a falls on the floor and comes back, ball b rests and weighs 1
// N.
static const char exact[] =
    "carom: 1\nname: exact\ngravity: [0, 0, -1]\nrecord: {contacts: 0.25}\nbodies:\n"
    "  a: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 1.25], velocity: [0, 0, -2], shape: {sphere: 0.5}}\n"
    "  b: {mass: 1, inertia: [1, 1, 1], at: [4, 0, 0.5], shape: {sphere: 0.5}}\n"
    "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {hit: {between: [a, floor], restitution: 1}, rest: {between: [b, "
    "floor]}}\n";

// Fields of a member of elements and of one of matrices.
static const char fields[] =
    "carom: 1\ntables: {push: dir/F.csv}\nforces: {f.u2: push(t)}\nflexible:\n  bar: {type: bar, length: 2, elements: "
    "2, density: 1, modulus: 1, area: 1, fix: start, record: [displacement, velocity, stress]}\n"
    "  beam: {type: beam, length: 1, elements: 1, density: 1, modulus: 1, area: 1, inertia: 1, record: [velocity, "
    "stress]}\n"
    "  f: {type: matrices, mass: M, stiffness: K, record: displacement}\nconstraints: {tie: bar.end.u - f.u1}\n";
static const char M[] = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n0\n2\n",
                  K[] = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 100\n2 1 -50\n2 2 50\n",
                  F[] = "0, 0\n1, 2\n";

static carom_model *model_of_fields(void) {
    const carom_matrix_text list[] = {{"M", M, sizeof M - 1, "masses.mtx"},
                                      {"K", K, sizeof K - 1, "k.mtx"},
                                      {"dir/F.csv", F, sizeof F - 1, "dir/F.csv"}};
    carom_error err = {0};
    carom_model *m = carom_model_create(
        &(carom_model_def){
            .text = fields, .length = sizeof fields - 1, .file = "fields.yaml", .matrices = list, .nmatrices = 3},
        &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

static void write_fields(const char *name) {
    static const char *const set[] = {"a=1", "b=2\n", NULL}, *const options[] = {"tol=1e-9", NULL};
    carom_error err = {0};
    carom_model *m = model_of_fields();
    carom_sim_def sd = carom_sim_default();
    sd.system = carom_model_system(m), sd.scheme = "moreau-midpoint", sd.options = options;
    sd.h = 0.125, sd.t_end = 0.5, sd.q0 = carom_model_q0(m), sd.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&sd, &err);
    if (!sim) fail_msg("%s", err.text);
    carom_record_def rd = carom_record_default();
    rd.model = m, rd.sim = sim, rd.file = path(name), rd.step = 0.125, rd.end = 0.5, rd.every = 2, rd.text = fields,
    rd.length = sizeof fields - 1, rd.model_file = "fields.yaml", rd.set = set, rd.options = options;
    carom_record *r = carom_record_create(&rd, &err);
    if (!r) fail_msg("%s", err.text);
    assert_int_equal(carom_record_advance(r, 0, 0, &err), CAROM_OK);
    assert_int_equal(carom_record_finish(r, "interrupted", "by a test", &err), CAROM_OK);
    carom_record_destroy(r), carom_sim_destroy(sim), carom_model_destroy(m);
}

// Two contacts and two equations, one of which stands between the contacts: G = [2 .. ], of whole numbers.
static void write_problems(carom_law law, const char *const *names) {
    enum { MOST = 8 };
    const int rows = carom_law_rows(law), n = 2 * rows + 2;
    const carom_block block[] = {{.law = law, .at = 0, .mu = 0.25},
                                 {.law = CAROM_BILATERAL, .at = rows},
                                 {.law = law, .at = rows + 1, .mu = 0.5},
                                 {.law = CAROM_BILATERAL, .at = 2 * rows + 1}};
    double G[MOST * MOST], c[MOST], p[MOST], u[MOST];
    for (int i = 0; i < n; ++i) {
        c[i] = i - 3, p[i] = 2 * i + 1, u[i] = -i;
        for (int j = 0; j < n; ++j) G[i + j * n] = i == j ? 20 + i : i + j == 5 || i + j == 6 ? i + j : 0;
    }
    carom_problem pb = {.n = n, .nb = 4, .ld = n, .block = block, .G = G, .c = c, .symmetric = true, .p = p, .u = u};
    carom_error err = {0};
    carom_problem_list *list = carom_problems_create();
    assert_int_equal(carom_problems_add(list, &pb, law == CAROM_PLANAR ? p : NULL, "two contacts", &err), CAROM_OK);
    for (int i = 0; i < 2; ++i)
        if (carom_problems_write(list, path(names[i]), &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_problem *own = carom_problems_at(list, 0);
    for (int i = 0; i < n; ++i) own->p[i] = p[i], own->u[i] = u[i];
    for (int i = 2; i < 4; ++i)
        if (carom_problem_write_answer(own, path(names[i]), &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_problems_destroy(list);
}

static bool metres(const void *user, const char *column, char *text, size_t size) {
    if (strcmp(column, user) != 0) return false;
    snprintf(text, size, "m");
    return true;
}

// Two names are one where they may hold no '/'.
static void write_tables(const char *name) {
    carom_error err = {0};
    carom_column column[] = {{.name = "x", .kind = CAROM_COLUMN_REAL},
                             {.name = "count", .kind = CAROM_COLUMN_INTEGER},
                             {.name = "word, \"w\"", .kind = CAROM_COLUMN_TEXT},
                             {.name = "x/2", .kind = CAROM_COLUMN_REAL},
                             {.name = "x:2", .kind = CAROM_COLUMN_REAL}};
    carom_table t = {.name = "runs", .columns = 5, .column = column};
    const carom_table_units units = {metres, "x"};
    assert_int_equal(carom_table_reserve(&t, 2, &err), CAROM_OK);
    char word[] = "a, \"b\"", empty[] = "";
    column[0].real[0] = 0.5, column[0].real[1] = -1e300, column[1].integer[0] = -7, column[1].integer[1] = 1LL << 60,
    column[2].text[0] = word, column[2].text[1] = empty;
    const carom_table_note note = {"about", "what it is"};
    assert_int_equal(carom_tables_write_units(path(name), &t, 1, &note, 1, &units, &err), CAROM_OK);
    free(column[0].real), free(column[1].integer), free(column[2].text), free(column[3].real), free(column[4].real);
}

static void show_all(FILE *f) {
    static const char *const planar[] = {"planar.h5", "planar.txt", "planar-answer.hdf5", "planar-answer.csv"},
                             *const spatial[] = {"spatial.hdf5", "spatial.txt", "spatial-answer.h5",
                                                 "spatial-answer.csv"};
    carom_error err = {0};
    simulate(exact, "moreau-midpoint", "exact.h5", 0.125, 1, 1, 0);
    simulate(exact, "moreau-midpoint", "exact.csv", 0.125, 1, 1, 0);
    show_file(f, "exact.h5", false, true);
    show_text(f, "exact.csv"), show_text(f, "exact.csv.events.csv"), show_text(f, "exact.csv.contacts.csv");
    carom_result *r = load("exact.csv");
    assert_int_equal(carom_result_save(r, path("saved.h5"), &err), CAROM_OK);
    carom_result_close(r);
    show_file(f, "saved.h5", false, true);
    write_fields("fields.h5");
    show_file(f, "fields.h5", false, true);
    r = load("fields.h5");
    assert_int_equal(carom_result_save(r, path("saved-fields.h5"), &err), CAROM_OK);
    carom_result_close(r);
    show_file(f, "saved-fields.h5", false, true);
    write_problems(CAROM_PLANAR, planar), write_problems(CAROM_SPATIAL, spatial);
    for (int i = 0; i < 4; ++i) i % 2 ? show_text(f, planar[i]) : show_file(f, planar[i], true, false);
    for (int i = 0; i < 4; ++i) i % 2 ? show_text(f, spatial[i]) : show_file(f, spatial[i], true, false);
    write_tables("table.h5"), write_tables("table.csv");
    show_file(f, "table.h5", false, false), show_text(f, "table.csv");
}

// -- tests ------------------------------------------------------------------------------------------------------------

static void letter_by_letter(void **state) {
    (void)state;
    same_letters_of(show_all, CAROM_SOURCE_DIR "/test/layout.txt");
}

// Numbers of the ledger are of eight bytes, whole ones integers; names have room for 128 bytes, warnings for all.
static void the_ledger_has_room(void **state) {
    (void)state;
    simulate(exact, "moreau-midpoint", "exact.h5", 0.125, 1, 1, 0);
    const hid_t file = H5Fopen(path("exact.h5"), H5F_ACC_RDONLY, H5P_DEFAULT),
                group = H5Gopen2(file, "ledger", H5P_DEFAULT);
    H5O_info_t info;
    hsize_t entries = 0;
    assert_true(H5Oget_info(group, &info) >= 0);
    for (const ledger_entry *e = ledger_table; e->name; ++e, ++entries) {
        if (strcmp(e->name, "estimate") == 0) { // there is one where it was asked for
            assert_true(H5Aexists(group, e->name) == 0);
            --entries;
            continue;
        }
        const hid_t a = H5Aopen(group, e->name, H5P_DEFAULT), type = H5Aget_type(a);
        assert_true(a >= 0 && type >= 0);
        const H5T_class_t class = ledger_is_text(e)                                 ? H5T_STRING
                                  : e->kind == LEDGER_LONG || e->kind == LEDGER_INT ? H5T_INTEGER
                                                                                    : H5T_FLOAT;
        if (H5Tget_class(type) != class || H5Tget_size(type) != (class != H5T_STRING      ? 8
                                                                 : e->kind == LEDGER_JSON ? CAROM_WARNINGS_ROOM
                                                                                          : 128))
            fail_msg("%s", e->name);
        H5Tclose(type), H5Aclose(a);
    }
    assert_int_equal(entries, info.num_attrs);
    H5Gclose(group), H5Fclose(file);
}

// The matrices of a model come back from its result, byte for byte and under their own names, and from a copy of it;
// asked for twice they are the same.
static void matrices_come_back(void **state) {
    (void)state;
    write_fields("fields.h5");
    carom_error err = {0};
    carom_result *r = load("fields.h5");
    assert_int_equal(carom_result_save(r, path("saved-fields.h5"), &err), CAROM_OK);
    carom_result_close(r);
    static const char *const files[] = {"fields.h5", "saved-fields.h5"};
    for (int k = 0; k < 2; ++k) {
        const carom_matrix_text *list, *again;
        int n = 0;
        r = load(files[k]);
        for (int twice = 0; twice < 2; ++twice) {
            if (carom_result_matrices(r, twice ? &again : &list, &n, &err) != CAROM_OK) fail_msg("%s", err.text);
            assert_int_equal(n, 3);
        }
        assert_ptr_equal(list, again);
        // by names
        static const carom_matrix_text want[] = {{"K", K, sizeof K - 1, "k.mtx"},
                                                 {"M", M, sizeof M - 1, "masses.mtx"},
                                                 {"dir/F.csv", F, sizeof F - 1, "dir/F.csv"}};
        for (int i = 0; i < 3; ++i) {
            assert_string_equal(list[i].name, want[i].name), assert_string_equal(list[i].file, want[i].file),
                assert_string_equal(list[i].text, want[i].text);
            assert_int_equal(list[i].length, want[i].length);
        }
        carom_result_close(r);
    }
}

// FCLIB holds contacts of one kind and equations, one problem to a file, and one matrix for both sides of a coupling.
// Other problems are refused with the reason, and no file is left.
static void what_fclib_cannot_hold_is_refused(void **state) {
    (void)state;
    enum { N = 4 };
    // G[row][3] and G[3][row] of the equation and the second contact
    static const struct {
        carom_law first, second; double one, other; const char *why;
    } cases[] = {{CAROM_UNILATERAL, CAROM_PLANAR, 1, 1, "contacts that are all planar or all spatial"},
                 {CAROM_BILATERAL, CAROM_PLANAR, 1, 1, NULL},
                 {CAROM_BILATERAL, CAROM_PLANAR, 1, 2, "coupled to contacts symmetrically, and equation 2 is not"},
                 {CAROM_BILATERAL, CAROM_PLANAR, 0, 2, "coupled to contacts symmetrically"},
                 {CAROM_BILATERAL, CAROM_PLANAR, 2, 0, "coupled to contacts symmetrically"},
                 {CAROM_BILATERAL, CAROM_PLANAR, 0, 0, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        for (int row = 1; row < 3; ++row) { // normal and tangent
            const carom_block block[] = {{.law = cases[i].first, .at = 0},
                                         {.law = cases[i].second, .at = 1, .mu = 0.5},
                                         {.law = CAROM_BILATERAL, .at = 3}};
            double G[N * N] = {0}, c[N] = {0}, p[N] = {0}, u[N] = {0};
            for (int k = 0; k < N; ++k) G[k + k * N] = 4;
            G[row + 3 * N] = cases[i].one, G[3 + row * N] = cases[i].other;
            const carom_problem pb = {.n = N, .nb = 3, .ld = N, .block = block, .G = G, .c = c, .p = p, .u = u};
            carom_error err = {0};
            carom_problem_list *list = carom_problems_create();
            assert_int_equal(carom_problems_add(list, &pb, NULL, NULL, &err), CAROM_OK);
            const bool written = carom_problems_write(list, path("refused.h5"), &err) == CAROM_OK;
            if (written != !cases[i].why || (!written && !strstr(err.text, cases[i].why)))
                fail_msg("case %d: %s", (int)i, written ? "written" : err.text);
            assert_int_equal(unlink(path("refused.h5")), written ? 0 : -1);
            assert_int_equal(carom_problems_add(list, &pb, NULL, NULL, &err), CAROM_OK);
            assert_int_equal(carom_problems_write(list, path("refused.hdf5"), &err), CAROM_BAD_INPUT);
            assert_non_null(strstr(err.text, "contains one problem, and there are 2"));
            assert_int_equal(carom_problems_write(list, path("two.txt"), &err), CAROM_OK);
            carom_problems_destroy(list);
        }
}

// -- contact problems that are damaged --------------------------------------------------------------------------------

// One number of a set in the file becomes another.
static void set_number(const char *name, const char *set_name, size_t at, double value) {
    const hid_t file = H5Fopen(path(name), H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(file, set_name, H5P_DEFAULT),
                space = H5Dget_space(set);
    const size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    double x[100];
    assert_true(set >= 0 && n <= 100 && at < n &&
                H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    x[at] = value;
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Sclose(space), H5Dclose(set), H5Fclose(file);
}

// The sum of all that a file's problem says, weighted by place; NAN: it is refused, with a reason.
static double weigh(const char *name) {
    carom_error err = {0};
    carom_problem_list *list = carom_problems_read(path(name), &err);
    if (!list) return assert_true(strlen(err.text) > 20 && strstr(err.text, name)), NAN;
    assert_int_equal(carom_problems_count(list), 1);
    const carom_problem *pb = carom_problems_at(list, 0);
    double G[64], sum = 0;
    assert_true(pb->n <= 8);
    carom_problem_expand(pb, G, pb->n);
    for (int i = 0; i < pb->n * pb->n; ++i) sum += (i + 1) * G[i];
    for (int i = 0; i < pb->n; ++i) sum += 1000 * (i + 1) * pb->c[i] + 1e5 * (i + 1) * pb->p[i];
    for (int i = 0; i < pb->nb; ++i) sum += 1e8 * (i + 1) * pb->block[i].mu;
    carom_problems_destroy(list);
    return sum;
}

// Of two planar contacts and two equations: W is 4 x 4 with 16 entries, V is 4 x 2, R is 2 x 2.
static void damaged_problems_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"planar.h5", "planar.txt", "answer.h5", "answer.csv"};
    // fate 0: refused, 1: the same problem, 2: another
    static const struct { const char *set; size_t at; double value; int fate; } cases[] = {{"W/m", 0, 5, 0},
                 {"W/m", 0, 3, 0},
                 {"W/m", 0, -1, 0},
                 {"W/n", 0, 3, 0},
                 {"W/n", 0, 5, 0},
                 {"W/n", 0, -1, 0},
                 {"W/nz", 0, -2, 1},
                 {"W/nz", 0, -3, 0},
                 {"W/nz", 0, 16, 0},
                 {"W/nz", 0, 17, 0},
                 {"W/nzmax", 0, 15, 0},
                 {"W/nzmax", 0, 17, 1},
                 {"W/nzmax", 0, -1, 0},
                 {"W/p", 0, 1, 0},
                 {"W/p", 1, -1, 0},
                 {"W/p", 1, 9, 0},
                 {"W/p", 4, 17, 0},
                 {"W/p", 4, -1, 0},
                 {"W/p", 4, 15, 2},
                 {"W/i", 0, -1, 0},
                 {"W/i", 0, 4, 0},
                 {"W/i", 15, 4, 0},
                 {"W/i", 0, 1, 2},
                 {"W/x", 0, NAN, 0},
                 {"W/x", 15, INFINITY, 0},
                 {"W/x", 0, 21, 2},
                 {"V/m", 0, 5, 0},
                 {"V/n", 0, 1, 0},
                 {"V/i", 0, 4, 0},
                 {"V/i", 0, 3, 2},
                 {"V/x", 3, 7, 2},
                 {"R/m", 0, 3, 0},
                 {"R/n", 0, 1, 0},
                 {"R/i", 1, 0, 2},
                 {"R/x", 0, 23, 2},
                 {"spacedim", 0, 1, 0},
                 {"spacedim", 0, 3, 0},
                 {"spacedim", 0, 4, 0},
                 {"vectors/mu", 0, -0.1, 0},
                 {"vectors/mu", 1, NAN, 0},
                 {"vectors/mu", 1, INFINITY, 0},
                 {"vectors/mu", 1, 0, 2},
                 {"vectors/q", 0, NAN, 0},
                 {"vectors/q", 3, 5, 2},
                 {"vectors/s", 1, INFINITY, 0},
                 {"vectors/s", 0, 4, 2},
                 {"../guesses/1/r", 3, 5, 2},
                 {"../guesses/1/l", 1, 5, 2}};
    write_problems(CAROM_PLANAR, names);
    const double whole = weigh("planar.h5");
    assert_true(isfinite(whole));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char set[100];
        snprintf(set, sizeof set, cases[i].set[0] == '.' ? "%s" : "fclib_local/%s",
                 cases[i].set[0] == '.' ? cases[i].set + 3 : cases[i].set);
        write_problems(CAROM_PLANAR, names);
        set_number("planar.h5", set, cases[i].at, cases[i].value);
        const double sum = weigh("planar.h5");
        if (isnan(sum) != (cases[i].fate == 0) || (cases[i].fate == 1 && sum != whole) ||
            (cases[i].fate == 2 && sum == whole))
            fail_msg("%s[%zu] = %g: %s", set, cases[i].at, cases[i].value, isnan(sum) ? "refused" : "read");
    }
    // What is missing, shorter, or text.
    static const struct {
        const char *set;
        bool needed;
    } sets[] = {{"fclib_local/W/m", true},        {"fclib_local/W/n", true},
                {"fclib_local/W/nz", true},       {"fclib_local/W/nzmax", true},
                {"fclib_local/W/p", true},        {"fclib_local/W/i", true},
                {"fclib_local/W/x", true},        {"fclib_local/V/x", true},
                {"fclib_local/R/p", true},        {"fclib_local/spacedim", true},
                {"fclib_local/vectors/q", true},  {"fclib_local/vectors/s", true},
                {"fclib_local/vectors/mu", true}, {"fclib_local/info/title", false},
                {"guesses/1/r", false},           {"guesses/1/l", false}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i)
        for (int how = 0; how < 3; ++how) {
            write_problems(CAROM_PLANAR, names);
            const hid_t file = H5Fopen(path("planar.h5"), H5F_ACC_RDWR, H5P_DEFAULT),
                        type = h5_text_type(8, H5T_STR_NULLPAD),
                        space = how == 2 ? H5Screate_simple(1, (hsize_t[]){20}, NULL)
                                         : H5Screate_simple(1, (hsize_t[]){0}, NULL);
            assert_true(H5Ldelete(file, sets[i].set, H5P_DEFAULT) >= 0);
            // none, or 20 texts
            if (how)
                H5Dclose(H5Dcreate2(file, sets[i].set, how == 1 ? H5T_NATIVE_DOUBLE : type, space, H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT));
            H5Sclose(space), H5Tclose(type), H5Fclose(file);
            if (isnan(weigh("planar.h5")) != sets[i].needed)
                fail_msg("%s, %d: %s", sets[i].set, how, sets[i].needed ? "read" : "refused");
        }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "print") == 0) {
        if (begin(NULL) != 0) return 1;
        show_all(stdout);
        return end(NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letter_by_letter), cmocka_unit_test(the_ledger_has_room), cmocka_unit_test(matrices_come_back),
        cmocka_unit_test(what_fclib_cannot_hold_is_refused), cmocka_unit_test(damaged_problems_are_refused)};
    return cmocka_run_group_tests_name("files", tests, begin, end);
}
