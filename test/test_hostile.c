// test_hostile.c: result files that were made to mislead: parts in other files, links, virtual sets, filters, sizes
// without data.
//
// Each file is a sound result in which one object is replaced; it is refused when it is read or when a run shall go on
// in it, and no other file is read or changed.
#define _DEFAULT_SOURCE // mkdtemp
#include "result_rig.h"
#include "io/h5.h"
#include "io/h5_driver.h"
#include <sys/stat.h>
#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

typedef enum attack { EXTERNAL_STORAGE, EXTERNAL_LINK, SOFT_LINK, VIRTUAL, FILTER, HUGE, ATTACKS } attack;
static const char *const attack_name[] = {"external storage", "external link", "soft link",
                                          "virtual set",      "filter",        "size without data"};

static void copy(const char *from, const char *to) {
    char command[400];
    snprintf(command, sizeof command, "cp %s %s", path(from), path(to));
    assert_int_equal(system(command), 0);
}

// All attributes of one object at another.
static herr_t copy_attribute(hid_t from, const char *name, const H5A_info_t *info, void *user) {
    (void)info;
    const hid_t a = H5Aopen(from, name, H5P_DEFAULT), type = H5Aget_type(a), space = H5Aget_space(a);
    const hid_t b = H5Acreate2(*(hid_t *)user, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    void *bytes = malloc((size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type));
    H5Aread(a, type, bytes);
    H5Awrite(b, type, bytes);
    free(bytes);
    H5Aclose(a), H5Aclose(b), H5Tclose(type), H5Sclose(space);
    return 0;
}

// A set of the same type and shape that is stored as the attack says; false: this HDF5 cannot.
static bool store(hid_t file, const char *name, attack how) {
    const hid_t real = H5Dopen2(file, "real", H5P_DEFAULT), type = H5Dget_type(real), space = H5Dget_space(real);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t size[2] = {0, 0}, most[2];
    const int rank = H5Sget_simple_extent_dims(space, size, NULL);
    hid_t shape = H5Scopy(space);
    bool good = true;
    if (rank > 0) H5Sset_extent_simple(shape, rank, size, size);
    if (how == EXTERNAL_STORAGE) {
        H5Pset_external(dcpl, path("victim.txt"), 0, H5F_UNLIMITED);
    } else if (how == VIRTUAL) {
        good = rank > 0;
        H5Pset_virtual(dcpl, shape, path("other.h5"), name, shape);
    } else if (how == FILTER) {
        good = rank > 0;
        H5Pset_chunk(dcpl, rank, size);
        H5Pset_fletcher32(dcpl);
    } else if (how == HUGE) {
        good = rank > 0;
        const hsize_t chunk[2] = {256, size[1]};
        most[0] = H5S_UNLIMITED, most[1] = size[1];
        size[0] = (hsize_t)1 << 33;
        H5Pset_chunk(dcpl, rank, chunk);
        H5Sset_extent_simple(shape, rank, size, most);
    }
    const hid_t set = good ? H5Dcreate2(file, name, type, shape, H5P_DEFAULT, dcpl, H5P_DEFAULT) : -1;
    good = good && set >= 0;
    if (good && how == FILTER) {
        void *bytes = calloc((size_t)H5Sget_simple_extent_npoints(space), H5Tget_size(type));
        H5Dread(real, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
        free(bytes);
    }
    if (good) H5Aiterate2(real, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_attribute, (void *)(size_t)&set);
    if (set >= 0) H5Dclose(set);
    H5Pclose(dcpl), H5Sclose(shape), H5Sclose(space), H5Tclose(type), H5Dclose(real);
    return good;
}

// "bad.h5": the good result with one object replaced.
static bool attack_object(const char *name, attack how, bool group) {
    copy("good.h5", "bad.h5");
    const hid_t file = H5Fopen(path("bad.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(H5Lmove(file, name, file, "real", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    bool good = true;
    if (how == EXTERNAL_LINK) H5Lcreate_external(path("other.h5"), name, file, name, H5P_DEFAULT, H5P_DEFAULT);
    else if (how == SOFT_LINK) H5Lcreate_soft("/real", file, name, H5P_DEFAULT, H5P_DEFAULT);
    else good = !group && store(file, name, how);
    H5Fclose(file);
    return good;
}

static bool opens(void) {
    carom_error err = {0};
    carom_result *r = carom_result_open(path("bad.h5"), &err);
    const carom_matrix_text *list;
    int n;
    bool good = r && carom_result_matrices(r, &list, &n, &err) == CAROM_OK;
    if (!good && strlen(err.text) < 10) fail_msg("no reason given");
    carom_result_close(r);
    return good;
}

static carom_error refusal; // why resumes() is false

static bool resumes(void) {
    carom_error err = {0};
    rig g = make(ball, "moreau-midpoint", "mine.h5", 1e-3, 0.4, 1, 0, false);
    carom_record_def rd = {.model = g.m,
                           .sim = g.sim,
                           .file = path("bad.h5"),
                           .step = 1e-3,
                           .end = 0.4,
                           .text = ball,
                           .length = strlen(ball)};
    carom_record *r = carom_record_resume(&rd, &err);
    const bool good = r != NULL;
    refusal = err;
    if (r) carom_record_finish(r, "interrupted", NULL, &err);
    carom_record_destroy(r);
    finish(&g);
    return good;
}

static long size_of(const char *name) {
    struct stat st;
    return stat(path(name), &st) == 0 ? (long)st.st_size : -1;
}

static void only_plain_sets_behind_hard_links_are_taken(void **state) {
    (void)state;
    // read: by carom_result_open, not by resuming alone
    static const struct {
        const char *name; bool group, read;
    } object[] = {{"data", false, true},   {"events", false, true}, {"model", false, true},
                  {"state", false, false}, {"run", true, true},     {"ledger", true, false}};
    simulate(ball, "moreau-midpoint", "good.h5", 1e-3, 0.3, 1, 0);
    copy("good.h5", "bad.h5");
    assert_true(opens() && resumes());
    int tried = 0;
    for (size_t i = 0; i < sizeof object / sizeof *object; ++i)
        for (attack how = EXTERNAL_STORAGE; how < ATTACKS; ++how) {
            copy("good.h5", "other.h5");
            FILE *f = fopen(path("victim.txt"), "w");
            for (int k = 0; k < 20000; ++k) fputs("do not touch\n", f);
            fclose(f);
            const long victim = size_of("victim.txt"), other = size_of("other.h5");
            H5E_auto2_t report;
            void *data;
            H5Eget_auto2(H5E_DEFAULT, &report, &data);
            H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
            const bool made = attack_object(object[i].name, how, object[i].group);
            H5Eset_auto2(H5E_DEFAULT, report, data);
            if (!made) continue;
            ++tried;
            if (object[i].read && opens()) fail_msg("%s by %s is read", object[i].name, attack_name[how]);
            if (how != HUGE && resumes() && strcmp(object[i].name, "model") != 0)
                fail_msg("a run goes on with %s by %s", object[i].name, attack_name[how]);
            assert_int_equal(size_of("victim.txt"), victim);
            assert_int_equal(size_of("other.h5"), other);
            f = fopen(path("victim.txt"), "r");
            char line[40];
            while (fgets(line, sizeof line, f)) assert_string_equal(line, "do not touch\n");
            fclose(f);
        }
    assert_true(tried >= 20);
}

// A result of another version is read; a run does not go on in it.
static void other_versions_are_read_and_not_resumed(void **state) {
    (void)state;
    simulate(ball, "moreau-midpoint", "good.h5", 1e-3, 0.3, 1, 0);
    for (int known = 1; known >= 0; --known) {
        copy("good.h5", "bad.h5");
        const hid_t file = H5Fopen(path("bad.h5"), H5F_ACC_RDWR, H5P_DEFAULT), run = H5Gopen2(file, "run", H5P_DEFAULT);
        assert_true(H5Adelete(run, "version") >= 0 && (!known || h5_put_text(run, "version", "0.0.9", 8)));
        H5Gclose(run), H5Fclose(file);
        assert_true(opens() && !resumes());
        assert_non_null(strstr(refusal.text, known ? "bad.h5 was computed by carom 0.0.9, this is carom "
                                                   : "bad.h5 was computed by an unknown version, this is carom "));
        assert_non_null(strstr(refusal.text, "; run its model again"));
    }
}

// The time that a run took so far is that of its ledger, unless one of the two cannot be true.
static void times_before_the_start_do_not_count(void **state) {
    (void)state;
    static const double said[][2] = {{1000, 2000}, {-1000, 2000}, {1000, -2000}, {NAN, 2000}, {1000, NAN}};
    simulate(ball, "moreau-midpoint", "good.h5", 1e-3, 0.3, 1, 0);
    for (int k = 0; k < 5; ++k) {
        copy("good.h5", "bad.h5");
        const hid_t file = H5Fopen(path("bad.h5"), H5F_ACC_RDWR, H5P_DEFAULT),
                    ledger = H5Gopen2(file, "ledger", H5P_DEFAULT);
        assert_true(h5_put_real(ledger, "seconds", said[k][0]) && h5_put_real(ledger, "wall", said[k][1]));
        H5Gclose(ledger), H5Fclose(file);
        assert_true(resumes());
        carom_ledger l;
        carom_ledger_names names;
        carom_result *r = load("bad.h5");
        assert_true(carom_result_ledger(r, &l, &names));
        for (int i = 0; i < 2; ++i) {
            const double spent = i ? l.wall : l.seconds;
            assert_true(k == 0 ? spent >= said[0][i] && spent < said[0][i] + 500 : spent >= 0 && spent < 500);
        }
        carom_result_close(r);
    }
}

// A set far larger than the file is no reason to ask for its memory; nor is what is no file at all.
static void what_is_no_regular_file_is_refused(void **state) {
    (void)state;
    carom_error err = {0};
    static const char *const names[] = {"/dev/zero", "/dev/null", "/"};
    for (int i = 0; i < 3; ++i) {
        assert_null(carom_result_open(names[i], &err));
        assert_true(strlen(err.text) > 10);
    }
}

// Rows that fill up a chunk are written past HDF5, also into pages of which something else has changed since the last
// commit: both changes are in the file.  Places that the last commit did not have are refused.
static void rows_are_filled_in_beside_other_changes(void **state) {
    (void)state;
    enum { ALL = 20000 };
    static const struct {
        int written, size, filled, more;
    } cases[] = {{5000, 10, 5100, 200},   {5000, 10, 5000, 10},     {0, 9000, 4000, 5000},
                 {8000, 400, 8100, 9000}, {19990, 10, 12000, 7900}, {100, 50, 16000, 4000}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        static unsigned char want[ALL], have[ALL], bytes[ALL];
        const hid_t fapl = h5_driver_access(), dcpl = H5Pcreate(H5P_DATASET_CREATE),
                    space = H5Screate_simple(1, (hsize_t[]){ALL}, NULL);
        assert_true(fapl >= 0 && H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0);
        hid_t file = H5Fcreate(path("fill.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, fapl),
              set = H5Dcreate2(file, "x", H5T_NATIVE_UCHAR, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
        for (int i = 0; i < ALL; ++i) want[i] = (unsigned char)(i % 251), bytes[i] = (unsigned char)(255 - i % 199);
        assert_true(set >= 0 && H5Dwrite(set, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, want) >= 0 &&
                    H5Fflush(file, H5F_SCOPE_LOCAL) >= 0 && h5_driver_commit(file));
        const haddr_t place = H5Dget_offset(set);
        const hsize_t at = (hsize_t)cases[k].written, size = (hsize_t)cases[k].size;
        const hid_t part = H5Screate_simple(1, &size, NULL);
        memset(want + cases[k].written, 7, (size_t)cases[k].size);
        assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &size, NULL) >= 0 &&
                    H5Dwrite(set, H5T_NATIVE_UCHAR, part, space, H5P_DEFAULT, want + cases[k].written) >= 0);
        assert_true(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0); // the driver holds its pages now
        assert_true(h5_driver_fill(file, place + (haddr_t)cases[k].filled, bytes, (size_t)cases[k].more));
        assert_false(h5_driver_fill(file, place + ((haddr_t)1 << 40), bytes, 10));
        memcpy(want + cases[k].filled, bytes, (size_t)cases[k].more);
        assert_true(h5_driver_commit(file));
        h5_close(set), h5_close(file);
        file = H5Fopen(path("fill.h5"), H5F_ACC_RDONLY, fapl), set = H5Dopen2(file, "x", H5P_DEFAULT);
        assert_true(set >= 0 && H5Dread(set, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, have) >= 0);
        assert_memory_equal(have, want, ALL);
        const hid_t ids[] = {set, file, part, space, dcpl, fapl};
        for (size_t i = 0; i < sizeof ids / sizeof *ids; ++i) h5_close(ids[i]);
    }
}

// Bytes outside of what HDF5 has allocated are neither read nor written, also where place and size together are beyond
// all numbers.
static void places_outside_the_file_are_refused(void **state) {
    (void)state;
    enum { ALL = 10000 };
    static const struct {
        haddr_t at;
        size_t size;
        bool good;
    } cases[] = {{0, ALL, true},
                 {ALL - 1, 1, true},
                 {ALL, 0, true},
                 {ALL, 1, false},
                 {1, ALL, false},
                 {100, SIZE_MAX - 50, false},
                 {ALL - 1, SIZE_MAX, false},
                 {HADDR_MAX, 1, false}};
    static unsigned char bytes[ALL];
    const hid_t fapl = h5_driver_access();
    H5E_auto2_t report;
    void *data;
    H5Eget_auto2(H5E_DEFAULT, &report, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5FD_t *file = H5FDopen(path("places.bin"), H5F_ACC_CREAT | H5F_ACC_TRUNC | H5F_ACC_RDWR, fapl, HADDR_MAX);
    assert_true(file && H5FDset_eoa(file, H5FD_MEM_DEFAULT, ALL) >= 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        for (int write = 1; write >= 0; --write) {
            const herr_t done = write
                                    ? H5FDwrite(file, H5FD_MEM_DEFAULT, H5P_DEFAULT, cases[i].at, cases[i].size, bytes)
                                    : H5FDread(file, H5FD_MEM_DEFAULT, H5P_DEFAULT, cases[i].at, cases[i].size, bytes);
            if ((done >= 0) != cases[i].good)
                fail_msg("%zu bytes at %llu: %s", cases[i].size, (unsigned long long)cases[i].at,
                         done >= 0 ? "taken" : "refused");
        }
    assert_true(H5FDclose(file) >= 0 && size_of("places.bin") == ALL);
    H5Eset_auto2(H5E_DEFAULT, report, data);
    h5_close(fapl);
}

// Other files of carom are named, with the verb that takes them.
static void other_files_of_carom_are_named(void **state) {
    (void)state;
    static const struct {
        const char *part, *said;
    } kinds[] = {{"runs", "is a sweep"},
                 {"branch", "is a branch of `carom follow`"},
                 {"fclib_local", "`carom solve` solves it"},
                 {"fclib_global", "`carom solve` solves it"},
                 {"other", "is not a result of carom"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        carom_error err = {0};
        const hid_t file = H5Fcreate(path("kind.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                    group = H5Gcreate2(file, kinds[i].part, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        h5_close(group), h5_close(file);
        assert_null(carom_result_open(path("kind.h5"), &err));
        if (!strstr(err.text, kinds[i].said)) fail_msg("%s: %s", kinds[i].part, err.text);
    }
}

// A scalar attribute is one number or one text of bounded length.  Nothing else is taken for one.
static void attributes_are_numbers_or_texts(void **state) {
    (void)state;
    const hid_t file = H5Fcreate(path("odd.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                scalar = H5Screate(H5S_SCALAR), none = H5Screate(H5S_NULL);
    const hid_t one = H5Screate_simple(1, (hsize_t[]){1}, NULL), two = H5Screate_simple(1, (hsize_t[]){2}, NULL),
                text = h5_text_type(5, H5T_STR_NULLPAD), any = H5Tcopy(H5T_C_S1);
    const hid_t record = H5Tcreate(H5T_COMPOUND, 16), opaque = H5Tcreate(H5T_OPAQUE, 8);
    H5Tset_size(any, H5T_VARIABLE);
    H5Tinsert(record, "a", 8, H5T_NATIVE_DOUBLE);
    const double x[2] = {2.5, 7};
    const int16_t i[2] = {-3, 4};
    const char *const word = "words";
    // kind 1: a number, 2: a text
    const struct { const char *name; hid_t type, space; const void *value; int kind; } all[] = {
        {"real", H5T_NATIVE_DOUBLE, scalar, x, 1},
        {"list of one", H5T_NATIVE_DOUBLE, one, x, 1},
        {"integer", H5T_NATIVE_INT16, scalar, i, 1},
        {"text", text, scalar, "words", 2},
        {"list", H5T_NATIVE_DOUBLE, two, x, 0},
        {"integers", H5T_NATIVE_INT16, two, i, 0},
        {"texts", text, two, "wordsagain", 0},
        {"any text", any, scalar, &word, 0},
        {"record", record, scalar, x, 0},
        {"opaque", opaque, scalar, x, 0},
        {"none", H5T_NATIVE_DOUBLE, none, x, 0},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        const hid_t a = H5Acreate2(file, all[k].name, all[k].type, all[k].space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(a >= 0 && (all[k].space == none || H5Awrite(a, all[k].type, all[k].value) >= 0));
        H5Aclose(a);
        double number = 0;
        char *found = NULL;
        if (h5_get(file, all[k].name, 5, &number, &found) != (all[k].kind > 0) || (found != NULL) != (all[k].kind == 2))
            fail_msg("'%s' is %s", all[k].name, all[k].kind ? "refused" : "taken");
        if (all[k].kind == 1) assert_true(number == (all[k].value == i ? -3 : 2.5));
        if (all[k].kind == 2) assert_string_equal(found, "words");
        free(found);
    }
    double number = 0;
    char *found = NULL;
    assert_false(h5_get(file, "nothing", 5, &number, &found) || found);
    assert_false(h5_get(file, "text", 4, &number, &found) || found); // too long
    // Once written an attribute keeps its room.
    assert_true(h5_put_text(file, "said", "a few words", 5) && h5_get(file, "said", 5, &number, &found));
    assert_string_equal(found, "a few");
    free(found);
    // What stands behind the end of a text is not written.
    char stored[5] = ".....";
    assert_true(h5_put_text(file, "short", "ab\0xyz", 5));
    const hid_t a = H5Aopen(file, "short", H5P_DEFAULT), own = H5Aget_type(a);
    assert_true(H5Tget_size(own) == sizeof stored && H5Aread(a, own, stored) >= 0);
    assert_memory_equal(stored, "ab\0\0\0", sizeof stored);
    H5Aclose(a), H5Tclose(own);
    assert_true(h5_put_real(file, "real", -1.5) && h5_get(file, "real", 5, &number, &found) && number == -1.5 &&
                !found);
    assert_true(h5_put_integer(file, "count", 7) && h5_put_integer(file, "count", 8) &&
                h5_get(file, "count", 5, &number, &found) && number == 8);
    const hid_t ids[] = {scalar, none, one, two, text, any, record, opaque, file};
    for (size_t k = 0; k < sizeof ids / sizeof *ids; ++k) h5_close(ids[k]);
}

// Numbers whose parts do not lie inside them: sign, exponent and mantissa of a real one, the digits of an integer.
// HDF5 makes no such types; bytes of a file may say so.
static void numbers_that_lie_outside_of_themselves_are_refused(void **state) {
    (void)state;
    // precision, exponent and mantissa: where and how long, bias
    static const unsigned char real[] = {0x40, 0, 52, 11, 0, 52, 0xff, 3};
    static const struct {
        int at, value;
        bool good;
    } change[] = {{0, 0x40, true}, {2, 54, false}, {2, 58, false}, {2, 255, false},
                  {3, 13, false},  {4, 13, false}, {5, 65, false}, {0, 0x41, false}};
    for (size_t k = 0; k < sizeof change / sizeof *change; ++k) {
        const hid_t file = H5Fcreate(path("real.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(h5_put_real(file, "x", 2.5));
        H5Fclose(file);
        char bytes[4096];
        FILE *f = fopen(path("real.h5"), "r+b");
        const size_t n = fread(bytes, 1, sizeof bytes, f);
        size_t at = 0;
        while (at + sizeof real <= n && memcmp(bytes + at, real, sizeof real) != 0) ++at;
        assert_true(at + sizeof real <= n);
        fseek(f, (long)at + change[k].at, SEEK_SET);
        fputc(change[k].value, f);
        fclose(f);
        const hid_t again = H5Fopen(path("real.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
        double number = 0;
        char *found = NULL;
        const bool taken = again >= 0 && h5_get(again, "x", 5, &number, &found);
        h5_close(again);
        if (taken != change[k].good || (taken && number != 2.5))
            fail_msg("byte %d = %d: %s", change[k].at, change[k].value, taken ? "taken" : "refused");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_plain_sets_behind_hard_links_are_taken),
        cmocka_unit_test(times_before_the_start_do_not_count),
        cmocka_unit_test(other_versions_are_read_and_not_resumed),
        cmocka_unit_test(what_is_no_regular_file_is_refused),
        cmocka_unit_test(other_files_of_carom_are_named),
        cmocka_unit_test(places_outside_the_file_are_refused),
        cmocka_unit_test(rows_are_filled_in_beside_other_changes),
        cmocka_unit_test(attributes_are_numbers_or_texts),
        cmocka_unit_test(numbers_that_lie_outside_of_themselves_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
