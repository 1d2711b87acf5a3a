// test_described.c: results that describe themselves: units, scales, format; compressed tables; CSV files with a line
// of units.
#define _DEFAULT_SOURCE // mkdtemp
#include "cli_rig.h"
#include <hdf5.h>
#include <math.h>
#include <sys/stat.h>

static const char swing[] =
    "carom: 1\nparameters: {k: 3 N/m}\ncoordinates: {x: {at: 5 mm, rate: 1 m/s}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + "
    "y'^2), potential: k/2*x^2}\ncontacts: {wall: {gap: 1 - x}}\n"
    "simulation: {scheme: moreau-jean, step: 1e-3, end: 5}\n";

static void get_text(hid_t at, const char *name, char *text, size_t size) {
    const hid_t a = H5Aopen(at, name, H5P_DEFAULT), type = H5Aget_type(a);
    assert_true(a >= 0 && H5Tget_size(type) < size);
    memset(text, 0, size);
    assert_true(H5Aread(a, type, text) >= 0);
    H5Tclose(type), H5Aclose(a);
}

static void a_result_describes_itself(void **state) {
    (void)state;
    char text[2000];
    put("swing.yaml", swing);
    assert_int_equal(carom("run swing.yaml --out s.h5"), 0);
    const hid_t f = H5Fopen("s.h5", H5F_ACC_RDONLY, H5P_DEFAULT), data = H5Dopen2(f, "data", H5P_DEFAULT),
                t = H5Dopen2(f, "t", H5P_DEFAULT), column = H5Dopen2(f, "column", H5P_DEFAULT);
    assert_true(f >= 0 && data >= 0 && t >= 0 && column >= 0);
    get_text(f, "format", text, sizeof text), assert_string_equal(text, "carom result");
    get_text(f, "conventions", text, sizeof text), assert_non_null(strstr(text, "right limits"));
    get_text(t, "units", text, sizeof text), assert_string_equal(text, "s");
    get_text(t, "CLASS", text, sizeof text), assert_string_equal(text, "DIMENSION_SCALE");
    // The text of the model ends with a NUL in the file: netCDF's library reads on until it finds one.
    const hid_t model = H5Dopen2(f, "model", H5P_DEFAULT), words = H5Dget_type(model);
    assert_int_equal(H5Tget_size(words), sizeof swing);
    memset(text, 'x', sizeof text);
    assert_true(H5Dread(model, words, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    assert_memory_equal(text, swing, sizeof swing);
    H5Tclose(words), H5Dclose(model);
    // Units of columns, one text of equal size each.
    const hid_t a = H5Aopen(data, "units", H5P_DEFAULT), type = H5Aget_type(a), space = H5Aget_space(a);
    const size_t size = H5Tget_size(type), n = (size_t)H5Sget_simple_extent_npoints(space);
    char *units = calloc(n, size + 1);
    assert_true(H5Aread(a, type, units) >= 0);
    static const char *const known[] = {"s", "m", "", "m/s", ""};
    for (size_t i = 0; i < 5; ++i) assert_int_equal(strncmp(units + i * size, known[i], size), 0);
    free(units), H5Tclose(type), H5Sclose(space), H5Aclose(a);
    // The dimensions of /data are /t and /column.
    const hid_t list = H5Aopen(data, "DIMENSION_LIST", H5P_DEFAULT), vlen = H5Aget_type(list);
    hvl_t of[2];
    char path[40];
    assert_true(H5Aread(list, vlen, of) >= 0);
    for (int i = 0; i < 2; ++i) {
        const hid_t scale = H5Rdereference2(f, H5P_DEFAULT, H5R_OBJECT, of[i].p);
        H5Iget_name(scale, path, sizeof path);
        assert_string_equal(path, i ? "/column" : "/t");
        H5Dclose(scale);
    }
    H5Tclose(vlen), H5Aclose(list);
    // The values of /t are the first column, to the last row.
    hsize_t rows[2] = {0, 0}, times = 0;
    const hid_t all = H5Dget_space(data), one = H5Dget_space(t);
    H5Sget_simple_extent_dims(all, rows, NULL), H5Sget_simple_extent_dims(one, &times, NULL);
    assert_true(times == rows[0] && times > 100);
    double *x = malloc(rows[0] * rows[1] * sizeof *x), *y = malloc(times * sizeof *y);
    assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0 &&
                H5Dread(t, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, y) >= 0);
    for (hsize_t i = 0; i < times; ++i) assert_true(x[i * rows[1]] == y[i]);
    free(x), free(y), H5Sclose(all), H5Sclose(one), H5Dclose(data), H5Dclose(t), H5Dclose(column), H5Fclose(f);
}

static long size_of(const char *name) {
    struct stat about;
    assert_int_equal(stat(name, &about), 0);
    return (long)about.st_size;
}

static void assert_equal_rows(const char *one, const char *two) {
    carom_result *a = load(one), *b = load(two);
    carom_error err = {0};
    const long n = carom_result_rows(a), m = carom_result_columns(a);
    assert_int_equal(n, carom_result_rows(b));
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    for (int i = 0; i < m; ++i) {
        assert_int_equal(carom_result_read(a, i, 0, n, x, &err), CAROM_OK);
        assert_int_equal(carom_result_read(b, i, 0, n, y, &err), CAROM_OK);
        assert_memory_equal(x, y, (size_t)n * sizeof *x);
    }
    free(x), free(y), carom_result_close(a), carom_result_close(b);
}

static void compressed(void **state) {
    (void)state;
    put("swing.yaml", swing);
    assert_int_equal(carom("run swing.yaml --every 1 --out plain.h5"), 0);
    assert_int_equal(carom("run swing.yaml --every 1 --out packed.h5 --compress"), 0);
    assert_equal_rows("plain.h5", "packed.h5");
    assert_true(size_of("packed.h5") < 0.8 * size_of("plain.h5"));
    assert_int_equal(carom("run swing.yaml --every 1 --end 2 --out half.h5 --compress"), 0); // and it goes on
    assert_int_equal(carom("run --resume half.h5 --end 5"), 0);
    assert_equal_rows("plain.h5", "half.h5");
    assert_int_equal(carom("info packed.h5"), 0);
}

static void a_line_of_units(void **state) {
    (void)state;
    char text[3000];
    put("swing.yaml", swing);
    assert_int_equal(carom("run swing.yaml --out plain.csv"), 0);
    assert_int_equal(carom("run swing.yaml --out units.csv --units"), 0);
    get("units.csv", text, sizeof text);
    assert_non_null(strstr(text, "\ns,m,-,m/s,-,J,J,J,"));
    assert_equal_rows("plain.csv", "units.csv");
    get("plain.csv", text, sizeof text);
    assert_null(strstr(text, "\ns,m,"));
    put("bad.csv", "t,x\n0,1\ns,m\n1,2\n"); // not behind the header
    assert_int_not_equal(carom("info bad.csv"), 0);
    put("bad.csv", "t,x\ns,3\n1,2\n"); // a number is no unit
    assert_int_not_equal(carom("info bad.csv"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_result_describes_itself), cmocka_unit_test(compressed),
                                       cmocka_unit_test(a_line_of_units)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
