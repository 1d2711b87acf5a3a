// test_misfit.c: results in which one object is missing or of another type, shape, size or value.  Each is read or
// refused, resumed or refused, as the table says.
#define _DEFAULT_SOURCE // mkdtemp
#include "io/h5.h"
#include "result_rig.h"

// Rows, events, snapshots of contacts and a field along a bar.
static const char text[] = "carom: 1\ngravity: [0, -10]\nrecord: {contacts: 0.05}\nbodies: {s: {mass: 1, inertia: 0.1, "
                           "at: [0, 0.15], shape: {circle: 0.1}}}\n"
                           "shapes: {floor: {plane: [0, 1]}}\ncontacts: {a: {between: [s, floor], restitution: 0.5}}\n"
                           "flexible: {r: {type: bar, length: 2, elements: 4, density: 1, modulus: 3, area: 1, fix: "
                           "start, rate: s, record: displacement}}\n";
static const double STEP = 1e-3, END = 0.4, LATER = 0.6;

static void copy(const char *from, const char *to) {
    char command[400];
    snprintf(command, sizeof command, "cp %s %s", path(from), path(to));
    assert_int_equal(system(command), 0);
}

static herr_t copy_attribute(hid_t from, const char *name, const H5A_info_t *info, void *user) {
    (void)info;
    const hid_t a = H5Aopen(from, name, H5P_DEFAULT), type = H5Aget_type(a), space = H5Aget_space(a),
                b = H5Acreate2(*(hid_t *)user, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    void *bytes = calloc((size_t)H5Sget_simple_extent_npoints(space), H5Tget_size(type));
    H5Aread(a, type, bytes), H5Awrite(b, type, bytes);
    free(bytes);
    H5Aclose(a), H5Aclose(b), H5Tclose(type), H5Sclose(space);
    return 0;
}

// -- how an object is changed -----------------------------------------------------------------------------------------

// The same set with another type (< 0: its own), extent and storage; its values are zero, its attributes those it had.
// rank 0: a scalar.
static void remake(hid_t file, const char *name, hid_t type, int rank, const hsize_t *size, bool chunked) {
    const hid_t old = H5Dopen2(file, name, H5P_DEFAULT), own = H5Dget_type(old), list = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t most[3] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED}, piece[3] = {256, rank > 1 ? size[1] : 1, 1};
    const hid_t space = rank ? H5Screate_simple(rank, size, chunked ? most : size) : H5Screate(H5S_SCALAR),
                kind = type < 0 ? own : type;
    if (chunked) H5Pset_chunk(list, rank, piece);
    H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t set = H5Dcreate2(file, name, kind, space, H5P_DEFAULT, list, H5P_DEFAULT);
    void *zero = calloc((size_t)H5Sget_simple_extent_npoints(space), H5Tget_size(kind));
    assert_true(set >= 0 && H5Dwrite(set, kind, H5S_ALL, H5S_ALL, H5P_DEFAULT, zero) >= 0);
    free(zero);
    hid_t to = set;
    H5Aiterate2(old, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_attribute, &to);
    h5_close(set), h5_close(space), h5_close(list), h5_close(own), h5_close(old);
}

static void extent_of(hid_t file, const char *name, hsize_t size[2]) {
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    size[0] = size[1] = 1;
    H5Sget_simple_extent_dims(space, size, NULL);
    H5Sclose(space), H5Dclose(set);
}

static void missing(hid_t file, const char *name) { assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0); }

static void of_type(hid_t file, const char *name, hid_t type, bool chunked) {
    hsize_t size[2];
    extent_of(file, name, size);
    const bool flat = strcmp(name, "events") == 0 || strcmp(name, "contacts") == 0;
    const bool scalar = strcmp(name, "model") == 0;
    remake(file, name, type, scalar ? 0 : flat ? 1 : 2, size, chunked && !scalar);
}
// with zeros for values
static void equal(hid_t file, const char *name) { of_type(file, name, -1, strcmp(name, "state") != 0); }
static void whole(hid_t file, const char *name) { of_type(file, name, -1, false); }                     // not in chunks
static void integers(hid_t file, const char *name) { of_type(file, name, H5T_NATIVE_INT64, true); }
static void reals(hid_t file, const char *name) { of_type(file, name, H5T_NATIVE_DOUBLE, strcmp(name, "state") != 0); }
static void short_reals(hid_t file, const char *name) { of_type(file, name, H5T_NATIVE_FLOAT, true); }

static void reshape(hid_t file, const char *name, int rank, int rows, int columns) {
    hsize_t size[3] = {1, 1, 1};
    extent_of(file, name, size);
    if (rank == 1) size[0] *= size[1];
    size[0] += (hsize_t)rows, size[1] += (hsize_t)columns;
    remake(file, name, -1, rank, size, strcmp(name, "state") != 0 && strcmp(name, "model") != 0);
}
static void rank_1(hid_t file, const char *name) { reshape(file, name, 1, 0, 0); }
static void rank_2(hid_t file, const char *name) { reshape(file, name, 2, 0, 0); }
static void rank_3(hid_t file, const char *name) { reshape(file, name, 3, 0, 0); }
static void wider(hid_t file, const char *name) { reshape(file, name, 2, 0, 1); }
static void narrower(hid_t file, const char *name) { reshape(file, name, 2, 0, -1); }
static void longer(hid_t file, const char *name) { reshape(file, name, 2, 1, 0); }
static void two(hid_t file, const char *name) { reshape(file, name, 1, 1, 0); }

// Without its last rows, or without any.  The last saved state needs them; the one before it, of the start, needs one
// row and nothing else.
static void shorten(hid_t file, const char *name, bool all) {
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    hsize_t size[2];
    extent_of(file, name, size);
    size[0] = all ? 0 : size[0] - 3;
    assert_true(H5Dset_extent(set, size) >= 0);
    H5Dclose(set);
}
static void cut(hid_t file, const char *name) { shorten(file, name, false); }
static void empty(hid_t file, const char *name) { shorten(file, name, true); }

// A record without one of its members, or with one of another kind.
static void remember(hid_t file, const char *name, unsigned leave_out, unsigned other) {
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), old = H5Dget_type(set),
                type = H5Tcreate(H5T_COMPOUND, H5Tget_size(old));
    hsize_t size[2];
    for (unsigned i = 0; i < (unsigned)H5Tget_nmembers(old); ++i) {
        char *member = H5Tget_member_name(old, i);
        const hid_t kind = H5Tget_member_type(old, i), text4 = h5_text_type(4, H5T_STR_NULLPAD);
        if (i != leave_out)
            H5Tinsert(type, member, H5Tget_member_offset(old, i),
                      i != other                         ? kind
                      : H5Tget_class(kind) == H5T_STRING ? H5T_NATIVE_INT8
                                                         : text4);
        H5free_memory(member), H5Tclose(kind), H5Tclose(text4);
    }
    H5Tclose(old), H5Dclose(set);
    extent_of(file, name, size);
    remake(file, name, type, 1, size, true);
    H5Tclose(type);
}
enum { NONE = 99 };
static void without_0(hid_t file, const char *name) { remember(file, name, 0, NONE); }
static void without_1(hid_t file, const char *name) { remember(file, name, 1, NONE); }
static void without_last(hid_t file, const char *name) {
    remember(file, name, strcmp(name, "events") == 0 ? 5 : 11, NONE);
}
static void other_0(hid_t file, const char *name) { remember(file, name, NONE, 0); }
static void other_2(hid_t file, const char *name) { remember(file, name, NONE, 2); }
static void other_last(hid_t file, const char *name) {
    remember(file, name, NONE, strcmp(name, "events") == 0 ? 5 : 11);
}

// The names of columns: n of them, texts of `size` bytes (0: numbers), the i-th another one.
static void columns(hid_t file, int more, int longer_by, bool numbers, int other) {
    const hid_t set = H5Dopen2(file, "data", H5P_DEFAULT), a = H5Aopen(set, "columns", H5P_DEFAULT),
                type = H5Aget_type(a), space = H5Aget_space(a);
    const size_t size = H5Tget_size(type), room = size + (size_t)longer_by;
    const hsize_t n = (hsize_t)H5Sget_simple_extent_npoints(space), count = n + (hsize_t)more;
    char *names = calloc(n + 2, room > 8 ? room : 8);
    const hid_t kind = h5_text_type(room, H5T_STR_NULLPAD), shape = H5Screate_simple(1, &count, NULL);
    H5Aread(a, longer_by ? kind : type, names);
    if (other >= 0) names[(size_t)other * size] ^= 1;
    H5Aclose(a), H5Adelete(set, "columns");
    const hid_t b = H5Acreate2(set, "columns", numbers ? H5T_NATIVE_DOUBLE : kind, shape, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(b >= 0 && H5Awrite(b, numbers ? H5T_NATIVE_DOUBLE : kind, names) >= 0);
    free(names);
    H5Aclose(b), H5Sclose(shape), H5Tclose(kind), H5Sclose(space), H5Tclose(type), H5Dclose(set);
}
static void same_names(hid_t file, const char *name) { (void)name, columns(file, 0, 0, false, -1); }
static void names_with_room(hid_t file, const char *name) { (void)name, columns(file, 0, 1, false, -1); }
static void a_name_more(hid_t file, const char *name) { (void)name, columns(file, 1, 0, false, -1); }
static void a_name_less(hid_t file, const char *name) { (void)name, columns(file, -1, 0, false, -1); }
static void numbered_names(hid_t file, const char *name) { (void)name, columns(file, 0, 0, true, -1); }
static void another_first_name(hid_t file, const char *name) { (void)name, columns(file, 0, 0, false, 0); }
static void another_last_name(hid_t file, const char *name) { (void)name, columns(file, 0, 0, false, 4); }
static void no_names(hid_t file, const char *name) {
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(H5Adelete(set, "columns") >= 0);
    H5Dclose(set);
}

// read: opened, and all rows, events and contacts read
static const struct {
    const char *name;
    void (*change)(hid_t file, const char *name);
    bool read, resumed;
} changes[] = {
    {"data", missing, false, false},
    {"data", equal, true, true},
    {"data", whole, true, false},
    {"data", integers, false, false},
    {"data", short_reals, true, false},
    {"data", rank_1, false, false},
    {"data", rank_3, false, false},
    {"data", wider, false, false},
    {"data", narrower, false, false},
    {"data", cut, true, true},
    {"data", empty, true, false},
    {"data", same_names, true, true},
    {"data", names_with_room, true, false},
    {"data", a_name_more, false, false},
    {"data", a_name_less, false, false},
    {"data", numbered_names, false, false},
    {"data", another_first_name, true, false},
    {"data", another_last_name, true, false},
    {"data", no_names, false, false},
    {"events", missing, true, false},
    {"events", equal, true, true},
    {"events", whole, true, false},
    {"events", reals, false, false},
    {"events", rank_2, false, false},
    {"events", cut, true, true},
    {"events", empty, true, true},
    {"events", without_0, false, false},
    {"events", without_1, false, false},
    {"events", without_last, false, false},
    {"events", other_0, false, false},
    {"events", other_2, false, false},
    {"events", other_last, false, false},
    {"contacts", missing, true, false},
    {"contacts", equal, true, true},
    {"contacts", whole, true, false},
    {"contacts", reals, false, false},
    {"contacts", rank_2, false, false},
    {"contacts", cut, true, true},
    {"contacts", empty, true, true},
    {"contacts", without_0, false, false},
    {"contacts", without_1, false, false},
    {"contacts", without_last, false, false},
    {"contacts", other_0, false, false},
    {"contacts", other_2, false, false},
    {"contacts", other_last, false, false},
    {"fields/r.displacement", missing, true, false},
    {"fields/r.displacement", equal, true, true},
    {"fields/r.displacement", whole, true, false},
    {"fields/r.displacement", integers, true, false},
    {"fields/r.displacement", short_reals, true, false},
    {"fields/r.displacement", rank_1, true, false},
    {"fields/r.displacement", wider, true, false},
    {"fields/r.displacement", cut, true, false},
    {"model", missing, true, false},
    {"model", equal, true, false},
    {"model", reals, false, false},
    {"model", two, false, false},
    {"state", missing, true, false},
    {"state", equal, true, false},
    {"state", reals, true, false},
    {"state", rank_1, true, false},
    {"state", wider, true, false},
    {"state", narrower, true, false},
    {"state", longer, true, false},
    {"run", missing, true, false},
    {"ledger", missing, true, false},
};

// -- reading and going on ---------------------------------------------------------------------------------------------

static bool reads(const char *name) {
    carom_error err = {0};
    carom_result *r = carom_result_open(path(name), &err);
    if (!r)
        return assert_true(strstr(err.text, "is not a result of carom, or it is damaged; run its model again") != NULL),
               false;
    const long rows = carom_result_rows(r), events = carom_result_event_count(r),
               contacts = carom_result_contact_count(r);
    double *x = calloc((size_t)rows * (size_t)carom_result_columns(r) + 1, sizeof *x);
    carom_result_event *e = calloc((size_t)events + 1, sizeof *e);
    carom_result_contact *c = calloc((size_t)contacts + 1, sizeof *c);
    assert_int_equal(carom_result_read_rows(r, 0, rows, x, &err), CAROM_OK);
    const bool has_events = carom_result_events(r, 0, events, e, &err) == CAROM_OK,
               has_contacts = carom_result_contacts(r, 0, contacts, c, &err) == CAROM_OK;
    if (!has_events || !has_contacts)
        assert_non_null(strstr(err.text, has_events ? "cannot read the contacts of " : "cannot read the events of "));
    free(x), free(e), free(c);
    carom_result_close(r);
    return has_events && has_contacts;
}

// Why a run does not go on in a file; "": it does.
static carom_error refusal;

static bool resumes(const char *name) {
    rig g = make(text, "moreau-midpoint", NULL, STEP, LATER, 1, 0, false);
    carom_record_def rd = {.model = g.m,
                           .sim = g.sim,
                           .file = path(name),
                           .step = STEP,
                           .end = LATER,
                           .text = text,
                           .length = sizeof text - 1};
    refusal = (carom_error){0};
    carom_record *r = carom_record_resume(&rd, &refusal);
    const bool good = r != NULL;
    carom_error err = {0};
    if (good) {
        assert_int_equal(carom_record_advance(r, 0, 0, &err), CAROM_OK);
        assert_int_equal(carom_record_finish(r, "done", NULL, &err), CAROM_OK);
        carom_record_destroy(r), carom_record_destroy(g.r), carom_sim_destroy(g.sim), carom_model_destroy(g.m);
    } else {
        finish(&g);
    }
    return good;
}

// The host's own report of errors: HDF5 does not call it for carom, and it stays in its place.
static int reports;

static herr_t report(hid_t stack, void *user) {
    (void)stack, (void)user;
    return ++reports, 0;
}

static void assert_quiet(void) {
    H5E_auto2_t function = NULL;
    void *data = NULL;
    assert_true(H5Eget_auto2(H5E_DEFAULT, &function, &data) >= 0 && function == report && data == &reports);
    assert_int_equal(reports, 0);
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0); // nothing stays open
}

static int begin_here(void **state) {
    if (begin(state) != 0) return -1;
    H5Eset_auto2(H5E_DEFAULT, report, &reports);
    simulate(text, "moreau-midpoint", "good.h5", STEP, END, 1, 0);
    simulate(text, "moreau-midpoint", "whole.h5", STEP, LATER, 1, 0);
    return 0;
}

static void objects_of_another_kind(void **state) {
    (void)state;
    copy("good.h5", "bad.h5");
    assert_true(reads("bad.h5") && resumes("bad.h5"));
    assert_same("whole.h5", "bad.h5");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
        copy("good.h5", "bad.h5");
        const hid_t file = H5Fopen(path("bad.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
        changes[i].change(file, changes[i].name);
        assert_true(H5Fclose(file) >= 0);
        if (reads("bad.h5") != changes[i].read)
            fail_msg("change %d, of %s: %s", (int)i, changes[i].name, changes[i].read ? "refused" : "read");
        if (resumes("bad.h5") != changes[i].resumed)
            fail_msg("change %d, of %s: %s", (int)i, changes[i].name,
                     changes[i].resumed ? refusal.text : "a run goes on");
        // nothing of it was lost
        if (changes[i].resumed && (changes[i].change == cut || changes[i].change == empty))
            assert_same("whole.h5", "bad.h5");
        assert_quiet();
    }
}

// A field is read where it is numbers in rows; rows and fields that are not there are refused.
static void fields_of_another_kind(void **state) {
    (void)state;
    static const struct {
        void (*change)(hid_t file, const char *name);
        long size;
    } cases[] = {{NULL, 5},  {equal, 5},    {whole, 5},     {short_reals, 5},
                 {wider, 6}, {missing, -1}, {integers, -1}, {rank_1, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        copy("good.h5", "bad.h5");
        const hid_t file = H5Fopen(path("bad.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
        if (cases[i].change) cases[i].change(file, "fields/r.displacement");
        H5Fclose(file);
        carom_result *r = load("bad.h5");
        carom_error err = {0};
        double x[6] = {1, 1, 1, 1, 1, 1};
        const long rows = carom_result_rows(r);
        assert_int_equal(carom_result_field_size(r, "r.displacement"), cases[i].size);
        assert_int_equal(carom_result_field_size(r, "../data"), -1);
        static const struct {
            long row, of_rows;
            bool there;
        } asked[] = {{0, 0, true}, {-1, 1, true}, {-1, 0, false}, {0, 1, false}};
        for (size_t k = 0; k < sizeof asked / sizeof *asked; ++k)
            assert_int_equal(
                carom_result_field_read(r, "r.displacement", asked[k].row + asked[k].of_rows * rows, x, &err),
                asked[k].there && cases[i].size > 0 ? CAROM_OK : CAROM_BAD_INPUT);
        if (i == 0) { // u = 0 at the start, which is held; at the end the bar moves
            assert_int_equal(carom_result_field_read(r, "r.displacement", rows - 1, x, &err), CAROM_OK);
            assert_true(x[0] == 0 && x[4] > 0.1);
        }
        assert_non_null(strstr(err.text, "has no row"));
        // A copy has the same field; one that cannot be read is not left out in silence.
        const bool copied = carom_result_save(r, path("copy.h5"), &err) == CAROM_OK;
        assert_int_equal(copied, cases[i].size > 0 || cases[i].change == missing);
        if (!copied) assert_non_null(strstr(err.text, "cannot copy the fields of"));
        if (copied && cases[i].size > 0) {
            carom_result *c = load("copy.h5");
            for (long row = 0; row < rows; row += rows / 3) {
                double y[6] = {2, 2, 2, 2, 2, 2};
                assert_true(carom_result_field_read(r, "r.displacement", row, x, &err) == CAROM_OK &&
                            carom_result_field_read(c, "r.displacement", row, y, &err) == CAROM_OK);
                assert_memory_equal(x, y, sizeof *x * (size_t)cases[i].size);
            }
            carom_result_close(c);
        }
        carom_result_close(r);
        assert_quiet();
    }
}

// Bytes in a row are a matrix, whatever they say; nothing else is.
static void matrices_of_another_kind(void **state) {
    (void)state;
        for (int k = 0; k < 8; ++k) {
        copy("good.h5", "bad.h5");
        const hsize_t size[2] = {k == 6 ? 1 << 30 : 3, 1};
        const hid_t file = H5Fopen(path("bad.h5"), H5F_ACC_RDWR, H5P_DEFAULT),
                    group = k ? H5Gcreate2(file, "matrices", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1,
                    list = H5Pcreate(H5P_DATASET_CREATE);
        if (k > 1) { // bytes with a file's name, without, two dimensions, wider numbers, more than the file holds, a
                     // link
            const hid_t space = H5Screate_simple(k == 4 ? 2 : 1, size, NULL);
            const hid_t set = H5Dcreate2(group, "dir\\\\a", k == 5 ? H5T_NATIVE_INT16 : H5T_STD_U8LE, space,
                                         H5P_DEFAULT, list, H5P_DEFAULT);
            if (k != 6)
                assert_true(H5Dwrite(set, k == 5 ? H5T_NATIVE_INT16 : H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                     "1 2\n3 ") >= 0);
            if (k == 2) assert_true(h5_put_text(set, "file", "a.mtx", 5));
            if (k == 7) assert_true(H5Lcreate_soft("/matrices/dir\\\\a", group, "b", H5P_DEFAULT, H5P_DEFAULT) >= 0);
            H5Dclose(set), H5Sclose(space);
        }
        h5_close(list), h5_close(group), h5_close(file);
        carom_result *r = load("bad.h5");
        carom_error err = {0};
        const carom_matrix_text *matrix;
        int n = -1;
        const bool good = carom_result_matrices(r, &matrix, &n, &err) == CAROM_OK;
        if (good != (k < 4)) fail_msg("case %d: %s", k, good ? "read" : err.text);
        if (good) assert_int_equal(n, k > 1);
        else
            assert_true(strstr(err.text, "bad.h5: what is in /matrices is damaged") && n == 0 &&
                        carom_result_matrices(r, &matrix, &n, &err) == CAROM_IO); // also when asked again
        if (good && n) {
            assert_string_equal(matrix->name, "dir//a"), assert_string_equal(matrix->text, "1 2"),
                assert_string_equal(matrix->file, k == 2 ? "a.mtx" : "dir\\\\a");
            assert_int_equal(matrix->length, 3);
        }
        carom_result_close(r);
        assert_quiet();
    }
}

// What /run says of rows and steps is believed where it makes sense.
static void numbers_of_the_run(void **state) {
    (void)state;
    static const struct { const char *name; double x; const char *why; } cases[] = {{"every", 1, NULL},
                 {"every", 7, NULL},
                 {"every", 0, "/run has no valid record interval"},
                 {"every", -1, "/run has no valid record interval"},
                 {"every", 0.5, "/run has no valid record interval"},
                 {"every", NAN, "/run has no valid record interval"},
                 {"every", 1e19, "/run has no valid record interval"},
                 {"every", 9e18, "/run has no valid record interval"},
                 {"dt_out", 0, NULL},
                 {"dt_out", 0.01, NULL},
                 {"dt_out", -0.01, "/run has no valid record interval"},
                 {"dt_out", NAN, "/run has no valid record interval"},
                 {"dt_out", INFINITY, "/run has no valid record interval"},
                 {"dt_out", 1e-300, "/run has no valid record interval"},
                 {"dt_out", 0.9 * 0.6e-15, "/run has no valid record interval"},
                 {"dt_out", 1.1 * 0.6e-15, NULL},
                 {"step", 1e-3, NULL},
                 {"step", 2e-3, "was computed with step 0.002"},
                 {"event_rows", 0, NULL},
                 {"event_rows", 2, NULL},
                 {"wall", NAN, NULL},
                 {"end", -1, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        for (int text_instead = 0; text_instead < 2; ++text_instead) {
            if (text_instead && i > 0 && strcmp(cases[i].name, cases[i - 1].name) == 0) continue; // once for each name
            const bool needed = strcmp(cases[i].name, "every") == 0 || strcmp(cases[i].name, "dt_out") == 0 ||
                                strcmp(cases[i].name, "step") == 0;
            copy("good.h5", "bad.h5");
            const hid_t file = H5Fopen(path("bad.h5"), H5F_ACC_RDWR, H5P_DEFAULT),
                        run = H5Gopen2(file, "run", H5P_DEFAULT);
            assert_true(
                H5Adelete(run, cases[i].name) >= 0 &&
                (text_instead ? h5_put_text(run, cases[i].name, "1", 1) : h5_put_real(run, cases[i].name, cases[i].x)));
            H5Gclose(run), H5Fclose(file);
            if (text_instead && !needed) continue;
            const char *why = text_instead ? "/run has no valid record interval" : cases[i].why;
            if (resumes("bad.h5") != !why)
                fail_msg("%s = %g: %s", cases[i].name, cases[i].x, why ? "a run goes on" : refusal.text);
            if (why && !strstr(refusal.text, why)) fail_msg("%s = %g: %s", cases[i].name, cases[i].x, refusal.text);
            assert_quiet();
        }
}

// A result that grows while it is read: rows, events, contacts and fields are those that were there when it was opened,
// and nothing of it stays open.
static void a_result_that_grows(void **state) {
    (void)state;
    carom_error err = {0};
    carom_result *whole = load("whole.h5");
    rig g = make(text, "moreau-midpoint", "live.h5", STEP, LATER, 1, 0, false);
    const ssize_t open = H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL);
    assert_int_equal(carom_record_advance(g.r, 300, 0, &err), CAROM_OK);
    assert_int_equal(carom_record_flush(g.r, &err), CAROM_OK);
    carom_result *early = load("live.h5");
    const long rows = carom_result_rows(early), events = carom_result_event_count(early),
               contacts = carom_result_contact_count(early);
    assert_true(rows == 301 && events > 1 && contacts > 1 && events < carom_result_event_count(whole) &&
                contacts < carom_result_contact_count(whole));
    for (int more = 0; more < 3; ++more) {
        const size_t width = (size_t)carom_result_columns(early);
        double *x = calloc((size_t)rows * width, sizeof *x), *y = calloc((size_t)rows * width, sizeof *y), u[5], w[5];
        carom_result_event e = {0}, f = {0};
        carom_result_contact c = {0}, d = {0};
        assert_true(carom_result_read_rows(early, 0, rows, x, &err) == CAROM_OK &&
                    carom_result_read_rows(whole, 0, rows, y, &err) == CAROM_OK);
        assert_memory_equal(x, y, (size_t)rows * width * sizeof *x);
        assert_true(carom_result_events(early, events - 1, 1, &e, &err) == CAROM_OK &&
                    carom_result_events(whole, events - 1, 1, &f, &err) == CAROM_OK);
        assert_memory_equal(&e, &f, sizeof e);
        assert_true(carom_result_contacts(early, contacts - 1, 1, &c, &err) == CAROM_OK &&
                    carom_result_contacts(whole, contacts - 1, 1, &d, &err) == CAROM_OK);
        assert_memory_equal(&c, &d, sizeof c);
        assert_true(carom_result_field_read(early, "r.displacement", rows - 1, u, &err) == CAROM_OK &&
                    carom_result_field_read(whole, "r.displacement", rows - 1, w, &err) == CAROM_OK);
        assert_memory_equal(u, w, sizeof u);
        free(x), free(y);
        assert_int_equal(carom_record_advance(g.r, 100, 0, &err), CAROM_OK);
        assert_int_equal(carom_record_flush(g.r, &err), CAROM_OK);
    }
    assert_true(carom_result_rows(early) == rows && carom_result_event_count(early) == events &&
                carom_result_contact_count(early) == contacts);
    carom_result_close(early);
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), open);
    finish(&g);
    assert_same("whole.h5", "live.h5");
    carom_result_close(whole);
    assert_quiet();
}

// A file that changes while it is open is read on where it has grown; where rows, events or contacts are gone it was
// replaced, and that is said.
static void a_result_that_is_replaced(void **state) {
    (void)state;
    static const struct {
        const char *name; void (*change)(hid_t file, const char *name); bool good;
    } cases[] = {{NULL, NULL, true},           {"data", cut, false},       {"data", missing, false},
                 {"data", wider, false},       {"data", rank_1, false},    {"events", cut, false},
                 {"events", missing, false},   {"events", rank_2, false},  {"contacts", cut, false},
                 {"contacts", missing, false}, {"contacts", rank_2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        copy("good.h5", "bad.h5");
        carom_result *r = load("bad.h5");
        const hid_t file = H5Fopen(path("bad.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
        if (cases[i].change) cases[i].change(file, cases[i].name);
        const hsize_t size = 100000; // and it grows
        const hid_t space = H5Screate_simple(1, &size, NULL),
                    set = H5Dcreate2(file, "more", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        double *all = calloc(size, sizeof *all);
        assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
        free(all);
        h5_close(set), h5_close(space), h5_close(file);
        carom_error err[3] = {{0}};
        double x, y[5];
        carom_result_event e;
        carom_result_contact c;
        const carom_status want = cases[i].good ? CAROM_OK : CAROM_IO;
        const carom_status found[] = {carom_result_read(r, 0, 0, 1, &x, &err[0]),
                                      carom_result_events(r, 0, 1, &e, &err[1]),
                                      carom_result_contacts(r, 0, 1, &c, &err[2])};
        for (int k = 0; k < 3; ++k) {
            if (found[k] != want) fail_msg("case %d, %d: %s", (int)i, k, found[k] == CAROM_OK ? "read" : err[k].text);
            if (want != CAROM_OK && !strstr(err[k].text, "bad.h5 was replaced while it was read; open it again"))
                fail_msg("case %d, %d: %s", (int)i, k, err[k].text);
        }
        assert_int_equal(carom_result_field_read(r, "r.displacement", 0, y, &err[0]),
                         cases[i].good ? CAROM_OK : CAROM_BAD_INPUT);
        carom_result_close(r);
        assert_quiet();
    }
}

// Another result of the same size in its place, in the same file of the file system: another model, or the same at
// another time.  A file that was only touched is read on.
static void a_result_that_is_written_over(void **state) {
    (void)state;
    static const char *const text[] = {"carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: 1/2*x'^2, potential: 9*x}\n",
                                       "carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: 1/2*x'^2, potential: 8*x}\n"};
    simulate(text[0], "moreau-midpoint", "first.h5", 0.125, 1, 1, 0);
    simulate(text[1], "moreau-midpoint", "second.h5", 0.125, 1, 1, 0);
    for (int i = 0; i < 2; ++i) {
        copy("first.h5", "over.h5");
        carom_result *r = load("over.h5");
        usleep(20000); // clocks of file systems have steps of some milliseconds
        copy(i ? "second.h5" : "first.h5", "over.h5");
        carom_error err = {0};
        double x[2];
        const carom_status status = carom_result_read(r, 1, 7, 1, x, &err);
        assert_int_equal(status, i ? CAROM_IO : CAROM_OK);
        if (i) assert_non_null(strstr(err.text, "over.h5 was replaced while it was read; open it again"));
        carom_result_close(r);
        assert_quiet();
    }
}

// -- text -------------------------------------------------------------------------------------------------------------

static void spill(const char *name, const char *lines) {
    FILE *f = fopen(path(name), "wb");
    assert_true(f && fputs(lines, f) >= 0 && fclose(f) == 0);
}

// Lines of events and of contacts have their fields, each a number but for names; every field finds its place, and any
// other line is refused with its number.
static void lines_beside_a_table(void **state) {
    (void)state;
    static const struct {
        const char *file, *head, *what;
        int fields, texts;
    } kinds[] = {{"x.csv.events.csv", "time,contact,kind,velocity_before,velocity_after,impulse",
                  "x.csv.events.csv:3: not an event", 6, 2},
                 {"x.csv.contacts.csv", "time,contact,x,y,z,nx,ny,nz,gap,fx,fy,fz",
                  "x.csv.contacts.csv:3: not a contact", 12, 1}};
    spill("x.csv", "t,x\r\n0,1\n\n1,\"2\"\n");
    for (int k = 0; k < 2; ++k)
        for (int bad = -4; bad < kinds[k].fields; ++bad) { // -1: sound, -2: a field less, -3: one more, -4: none; else
                                                           // that field is no number
            char line[600] = "", text[1500];
            const int n = bad == -4 ? 0 : kinds[k].fields + (bad == -3) - (bad == -2);
            for (int i = 0; i < n; ++i) {
                char field[40];
                if (i == bad) snprintf(field, sizeof field, i % 2 ? "1.5x" : "");
                else if (i >= 1 && i <= kinds[k].texts) snprintf(field, sizeof field, "\"a,%d\"", i);
                else snprintf(field, sizeof field, "%d.5", i + 1);
                snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", i ? "," : "", field);
            }
            snprintf(text, sizeof text, "%s\n%s\n%s\n", kinds[k].head,
                     k ? "1,w,3,4,5,6,7,8,9,10,11,12" : "1,w,impact,4,5,6", line);
            spill(kinds[k].file, text);
            carom_error err = {0};
            carom_result *r = carom_result_open(path("x.csv"), &err);
            const bool good = bad == -1 || (bad >= 1 && bad <= kinds[k].texts);
            if ((r != NULL) != good) fail_msg("%s: %s", line, r ? "taken" : err.text);
            if (!good && !strstr(err.text, kinds[k].what)) fail_msg("%s", err.text);
            if (bad == -1 && k == 0) {
                carom_result_event e;
                assert_int_equal(carom_result_event_count(r), 2);
                assert_int_equal(carom_result_events(r, 1, 1, &e, &err), CAROM_OK);
                assert_true(e.t == 1.5 && e.before == 4.5 && e.after == 5.5 && e.impulse == 6.5 &&
                            strcmp(e.contact, "a,1") == 0 && strcmp(e.kind, "a,2") == 0);
            } else if (bad == -1) {
                carom_result_contact c;
                assert_int_equal(carom_result_contact_count(r), 2);
                assert_int_equal(carom_result_contacts(r, 1, 1, &c, &err), CAROM_OK);
                assert_true(c.t == 1.5 && c.gap == 9.5 && strcmp(c.contact, "a,1") == 0);
                for (int i = 0; i < 3; ++i)
                    assert_true(c.point[i] == 3.5 + i && c.normal[i] == 6.5 + i && c.force[i] == 10.5 + i);
            }
            carom_result_close(r);
            if (bad == kinds[k].fields - 1) unlink(path(kinds[k].file));
        }
}

// Tables: numbers in every field, as many as the header names; quotes in names; lines of many lengths, and none at the
// end.
static void lines_of_a_table(void **state) {
    (void)state;
    static const struct { const char *text; long rows; const char *why; } cases[] = {{"t,x\n0,1\n1,2\n", 2, NULL},
                 {"t,x\r\n0,1\r\n", 1, NULL},
                 {"t\n0\n", 1, NULL},
                 {"\"t\",\"a\"\"b\"\n0,1\n", 1, NULL},
                 {"t,x\n0\n", 0, "x.csv:2: 1 values where the header names 2"},
                 {"t,x\n0,1\n0,1,2\n", 0, "x.csv:3: more values than the header names (2)"},
                 {"t,x\n0,\n", 0, "x.csv:2: '' in column 2 is not a number"},
                 {"t,x\n1e,1\n", 0, "x.csv:2: '1e' in column 1 is not a number"},
                 {"\n0,1\n", 0, "x.csv"},
                 {"run,x\n0,1\n", 0, "is the table of a sweep"},
                 {"run\n0\n", 1, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_error err = {0};
        spill("x.csv", cases[i].text);
        carom_result *r = carom_result_open(path("x.csv"), &err);
        if ((r != NULL) != !cases[i].why || (r && carom_result_rows(r) != cases[i].rows) ||
            (!r && !strstr(err.text, cases[i].why)))
            fail_msg("case %d: %s", (int)i, r ? "read" : err.text);
        if (i == 3) assert_int_equal(carom_result_find(r, "a\"b"), 1);
        carom_result_close(r);
    }
    // Names of all lengths around the sizes of buffers, in a header of a thousand columns; equal names: the first
    // counts.
    char *text_of = calloc(1, 600000), *at = text_of;
    for (int i = 0; i < 1000; ++i) at += sprintf(at, "%s%0*d", i ? "," : "", 1 + i % 300, i == 700 ? 600 : i);
    at += sprintf(at, "\n");
    for (int i = 0; i < 1000; ++i) at += sprintf(at, "%s%d", i ? "," : "", i);
    sprintf(at, "\n");
    spill("x.csv", text_of);
    carom_result *r = load("x.csv");
    carom_error err = {0};
    assert_int_equal(carom_result_columns(r), 1000);
    for (int i = 0; i < 1000; ++i) {
        char name[400];
        double x = -1;
        sprintf(name, "%0*d", 1 + i % 300, i);
        if (i == 700) continue;
        if (carom_result_find(r, name) != i) fail_msg("column %d is found at %d", i, carom_result_find(r, name));
        assert_true(carom_result_read(r, i, 0, 1, &x, &err) == CAROM_OK && x == i);
    }
    carom_result_close(r);
    spill("x.csv", "a,b,a,b\n1,2,3,4\n");
    r = load("x.csv");
    assert_true(carom_result_find(r, "a") == 0 && carom_result_find(r, "b") == 1);
    carom_result_close(r);
    free(text_of);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(objects_of_another_kind),
                                       cmocka_unit_test(fields_of_another_kind),
                                       cmocka_unit_test(matrices_of_another_kind),
                                       cmocka_unit_test(numbers_of_the_run),
                                       cmocka_unit_test(a_result_that_grows),
                                       cmocka_unit_test(a_result_that_is_replaced),
                                       cmocka_unit_test(a_result_that_is_written_over),
                                       cmocka_unit_test(lines_beside_a_table),
                                       cmocka_unit_test(lines_of_a_table)};
    return cmocka_run_group_tests_name("misfits", tests, begin_here, end);
}
