// table.c: tables as compound datasets, for other programs by columns as well, and as CSV.
#define _POSIX_C_SOURCE 200809L
#include "base/missing.h"
#include "base/number.h"
#include "base/text.h"
#include "io/h5.h"
#include "io/h5_driver.h"
#include "io/publish.h"
#include "io/table.h"
#include <carom/table.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// bytes of a text, columns: safeguards against damaged files; rows written at once
enum { LONGEST_TEXT = 1024, MOST_COLUMNS = 4096, CHUNK = 4096 };

carom_status carom_table_reserve(carom_table *t, long rows, carom_error *err) {
    if (!t) return CAROM_MISSING(err);
    const size_t n = (size_t)rows + 1;
    t->rows = rows;
    for (int i = 0; i < t->columns; ++i) {
        carom_column *c = &t->column[i];
        if (c->kind == CAROM_COLUMN_REAL) c->real = calloc(n, sizeof *c->real);
        if (c->kind == CAROM_COLUMN_INTEGER) c->integer = calloc(n, sizeof *c->integer);
        if (c->kind == CAROM_COLUMN_TEXT) c->text = calloc(n, sizeof *c->text);
        if (!c->real && !c->integer && !c->text)
            return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %ld rows", rows);
    }
    return CAROM_OK;
}

void carom_table_free(carom_table *t) {
    if (!t) return;
    for (int i = 0; t->column && i < t->columns; ++i) {
        carom_column *c = &t->column[i];
        for (long k = 0; c->text && k < t->rows; ++k) free(c->text[k]);
        free(c->text);
        free(c->real);
        free(c->integer);
        free(c->name);
    }
    free(t->column);
    free(t->name);
    *t = (carom_table){0};
}

carom_column *carom_table_column(const carom_table *t, const char *name) {
    if (!t) return NULL;
    for (int i = 0; i < t->columns; ++i)
        if (strcmp(t->column[i].name, name) == 0) return &t->column[i];
    return NULL;
}

// -- CSV -----------------------------------------------------------------------------------------------------------

static void put_text(FILE *f, const char *text) {
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; ++text) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static carom_status write_csv(const char *file, const carom_table *t, carom_error *err) {
    const int fd = part_open(file);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f) return carom_fail(err, CAROM_IO, "cannot create %.400s: %s", file, strerror(errno));
    for (int i = 0; i < t->columns; ++i) {
        if (i) fputc(',', f);
        put_text(f, t->column[i].name);
    }
    fputc('\n', f);
    const carom_locale locale = carom_locale_begin();
    for (long k = 0; k < t->rows; ++k)
        for (int i = 0; i < t->columns; ++i) {
            const carom_column *c = &t->column[i];
            if (i) fputc(',', f);
            if (c->kind == CAROM_COLUMN_REAL) fprintf(f, "%.17g", c->real[k]);
            else if (c->kind == CAROM_COLUMN_INTEGER) fprintf(f, "%lld", c->integer[k]);
            else put_text(f, c->text[k] ? c->text[k] : "");
            if (i == t->columns - 1) fputc('\n', f);
        }
    carom_locale_end(locale);
    const bool good = !ferror(f);
    if (fclose(f) != 0 || !good) return carom_fail(err, CAROM_IO, "cannot write %.400s: %s", file, strerror(errno));
    return CAROM_OK;
}

// -- HDF5 ------------------------------------------------------------------------------------------------------------

static size_t width_of(const carom_column *c, long rows) {
    size_t most = 1;
    for (long k = 0; c->kind == CAROM_COLUMN_TEXT && k < rows; ++k)
        if (c->text[k] && strlen(c->text[k]) > most) most = strlen(c->text[k]);
    return c->kind == CAROM_COLUMN_TEXT ? (most < LONGEST_TEXT ? most : LONGEST_TEXT) + 1 : 8;
}

static hid_t type_of(const carom_column *c, size_t width) {
    if (c->kind == CAROM_COLUMN_REAL) return H5Tcopy(H5T_NATIVE_DOUBLE);
    if (c->kind == CAROM_COLUMN_INTEGER) return H5Tcopy(H5T_NATIVE_LLONG);
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0) H5Tset_size(type, width);
    return type;
}

// The compound type of a row; *size bytes.
static hid_t row_type(const carom_table *t, size_t *offset, size_t *size) {
    *size = 0;
    for (int i = 0; i < t->columns; ++i) {
        offset[i] = *size;
        *size += (width_of(&t->column[i], t->rows) + 7) & ~(size_t)7;
    }
    const hid_t type = H5Tcreate(H5T_COMPOUND, *size ? *size : 8);
    for (int i = 0; i < t->columns && type >= 0; ++i) {
        const hid_t field = type_of(&t->column[i], width_of(&t->column[i], t->rows));
        if (field < 0 || H5Tinsert(type, t->column[i].name, offset[i], field) < 0)
            return h5_close(field), h5_close(type), -1;
        h5_close(field);
    }
    return type;
}

// Into a row of zeros, which ends the texts.
static void pack(const carom_table *t, const size_t *offset, long row, unsigned char *to) {
    for (int i = 0; i < t->columns; ++i) {
        const carom_column *c = &t->column[i];
        if (c->kind == CAROM_COLUMN_REAL) memcpy(to + offset[i], &c->real[row], sizeof(double));
        else if (c->kind == CAROM_COLUMN_INTEGER) memcpy(to + offset[i], &c->integer[row], sizeof(long long));
        else if (c->text[row]) memcpy(to + offset[i], c->text[row], strnlen(c->text[row], LONGEST_TEXT));
    }
}

static bool write_rows(hid_t set, hid_t type, const carom_table *t, const size_t *offset, size_t size) {
    unsigned char *block = malloc(size * CHUNK);
    const hid_t space = H5Dget_space(set);
    bool good = block && space >= 0;
    for (long k = 0; good && k < t->rows; k += CHUNK) {
        const hsize_t from = (hsize_t)k, n = (hsize_t)(t->rows - k < CHUNK ? t->rows - k : CHUNK);
        memset(block, 0, size * CHUNK);
        for (hsize_t i = 0; i < n; ++i) pack(t, offset, k + (long)i, block + i * size);
        const hid_t memory = H5Screate_simple(1, &n, NULL);
        good = memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &n, NULL) >= 0 &&
               H5Dwrite(set, type, memory, space, H5P_DEFAULT, block) >= 0;
        h5_close(memory);
    }
    h5_close(space);
    free(block);
    return good;
}

// -- HDF5: the same by columns --------------------------------------------------------------------------------------
//
// netCDF's library reads neither a compound type without a name nor texts of fixed length: /columns/TABLE has a set for
// each column, with unit and dimension, as netCDF-4 has variables.

enum { LONGEST_NAME = 200, UNIT = 80 }; // netCDF allows 256

// A name that HDF5 and netCDF take: no path, not too long, and not there yet.
static void variable_name(hid_t group, const char *name, int i, char to[LONGEST_NAME + 20]) {
    size_t n = strlen(name) < LONGEST_NAME ? strlen(name) : LONGEST_NAME;
    while (name[n] && n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80) --n; // within a letter of UTF-8
    for (size_t k = 0; k < n; ++k) to[k] = name[k] == '/' ? ':' : name[k];
    to[n] = 0;
    if (name[n] || H5Lexists(group, to, H5P_DEFAULT) > 0) snprintf(to + n, 20, "~%d", i);
}

static bool write_values(hid_t set, const carom_column *c, hid_t type, long rows) {
    if (c->kind == CAROM_COLUMN_REAL) return H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, c->real) >= 0;
    if (c->kind == CAROM_COLUMN_INTEGER) return H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, c->integer) >= 0;
    const char **text = calloc((size_t)rows + 1, sizeof *text);
    for (long k = 0; text && k < rows; ++k) text[k] = c->text[k] ? c->text[k] : "";
    const bool good = text && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    free(text);
    return good;
}

static bool write_column(hid_t group, const carom_table *t, int i, hid_t scale, const carom_table_units *units) {
    const carom_column *c = &t->column[i];
    const hsize_t rows = (hsize_t)t->rows;
    const hid_t type = c->kind == CAROM_COLUMN_TEXT ? h5_text_type(H5T_VARIABLE, H5T_STR_NULLTERM) : type_of(c, 8),
                space = H5Screate_simple(1, &rows, NULL), plain = H5Pcreate(H5P_DATASET_CREATE);
    char name[LONGEST_NAME + 20], unit[UNIT] = "";
    variable_name(group, c->name, i, name);
    bool good = type >= 0 && space >= 0 && plain >= 0 && H5Pset_obj_track_times(plain, false) >= 0;
    const hid_t set = good ? H5Dcreate2(group, name, type, space, H5P_DEFAULT, plain, H5P_DEFAULT) : -1;
    good = set >= 0 && write_values(set, c, type, t->rows) && h5_attach_scales(set, &scale, 1) &&
           h5_put_text(set, "long_name", c->name, strlen(c->name));
    if (good && c->kind == CAROM_COLUMN_REAL && units && units->find(units->user, c->name, unit, sizeof unit) && *unit)
        good = h5_put_text(set, "units", unit, strlen(unit));
    h5_close(set);
    h5_close(plain);
    h5_close(space);
    h5_close(type);
    return good;
}

// `set`: the table.
static bool write_columns(hid_t file, hid_t set, const carom_table *t, const carom_table_units *units) {
    char name[LONGEST_NAME];
    snprintf(name, sizeof name, "%.100s_row", t->name);
    const hid_t scale = h5_bare_scale(file, name, (hsize_t)t->rows, 0),
                all = H5Lexists(file, "columns", H5P_DEFAULT) > 0
                          ? h5_open_group(file, "columns")
                          : H5Gcreate2(file, "columns", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                group = all >= 0 ? H5Gcreate2(all, t->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    bool good = scale >= 0 && group >= 0 && h5_attach_scales(set, &scale, 1);
    for (int i = 0; good && i < t->columns; ++i) good = write_column(group, t, i, scale, units);
    h5_close(group);
    h5_close(all);
    h5_close(scale);
    return good;
}

static bool write_table(hid_t file, const carom_table *t, const carom_table_units *units) {
    size_t *offset = calloc((size_t)t->columns + 1, sizeof *offset), size = 0;
    const hsize_t rows = (hsize_t)t->rows;
    const hid_t type = offset ? row_type(t, offset, &size) : -1, space = H5Screate_simple(1, &rows, NULL),
                plain = H5Pcreate(H5P_DATASET_CREATE);
    bool good = type >= 0 && space >= 0 && plain >= 0 && H5Pset_obj_track_times(plain, false) >= 0;
    const hid_t set = good ? H5Dcreate2(file, t->name, type, space, H5P_DEFAULT, plain, H5P_DEFAULT) : -1;
    good = set >= 0 && write_rows(set, type, t, offset, size) && write_columns(file, set, t, units);
    h5_close(set);
    h5_close(plain);
    h5_close(space);
    h5_close(type);
    free(offset);
    return good;
}

static carom_status write_h5(const char *file, const carom_table *tables, int n, const carom_table_note *notes,
                             int nnotes, const carom_table_units *units, carom_error *err) {
    h5_hush hush;
    h5_hush_begin(&hush);
    const hid_t fapl = h5_driver_access();
    unlink(file); // see part_open()
    const hid_t f = H5Fcreate(file, H5F_ACC_EXCL, H5P_DEFAULT, fapl);
    bool good = f >= 0;
    h5_close(fapl);
    for (int i = 0; good && i < n; ++i) good = write_table(f, &tables[i], units);
    for (int i = 0; good && i < nnotes; ++i)
        good = h5_put_text(f, notes[i].name, notes[i].text, strlen(notes[i].text) + 1);
    good = good && H5Fflush(f, H5F_SCOPE_LOCAL) >= 0 && h5_driver_commit(f);
    const char *reason = f >= 0 ? h5_driver_failed(f) : NULL;
    carom_status status = CAROM_OK;
    if (reason) status = carom_fail(err, CAROM_IO, "cannot write %.400s: %s", file, reason);
    else if (!good) status = h5_fail(err, "cannot write %.400s", file);
    h5_close(f);
    h5_hush_end(&hush);
    return status;
}

// -- files ---------------------------------------------------------------------------------------------------------

// The i-th file that the tables make: its name, and the one it has while it is written.
static void names(const char *file, const carom_table *t, int i, char *name, char *part, size_t size) {
    if (i == 0) snprintf(name, size, "%s", file);
    else snprintf(name, size, "%s.%s.csv", file, t->name);
    snprintf(part, size, "%s.%ld.part", name, (long)getpid());
}

carom_status carom_tables_write(const char *file, const carom_table *tables, int n, const carom_table_note *notes,
                                int nnotes, carom_error *err) {
    return carom_tables_write_units(file, tables, n, notes, nnotes, NULL, err);
}

carom_status carom_tables_write_units(const char *file, const carom_table *tables, int n, const carom_table_note *notes,
                                      int nnotes, const carom_table_units *units, carom_error *err) {
    if (!file || n < 0 || (n > 0 && !tables))
        return carom_fail(err, CAROM_BAD_INPUT, "tables or the name of their file are missing");
    const bool csv = carom_ends(file, ".csv");
    const int files = csv ? n : 1;
    const size_t size = strlen(file) + 100;
    char *name = malloc(2 * size), *part = name + size;
    if (!name) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a file name");
    carom_status status = CAROM_OK;
    for (int i = 0; i < files && status == CAROM_OK; ++i) {
        names(file, &tables[i], i, name, part, size);
        status = csv ? write_csv(part, &tables[i], err) : write_h5(part, tables, n, notes, nnotes, units, err);
    }
    for (int i = files - 1; i >= 0; --i) { // the main file last: where it is, the others are
        names(file, &tables[i], i, name, part, size);
        if (status == CAROM_OK && rename(part, name) != 0)
            status = carom_fail(err, CAROM_IO, "cannot create %.400s: %s", name, strerror(errno));
        if (status != CAROM_OK) unlink(part);
    }
    free(name);
    return status;
}

// -- reading HDF5: a file that nobody vouches for ---------------------------------------------------------------------

static bool read_column(hid_t type, int i, carom_column *c) {
    char *name = H5Tget_member_name(type, (unsigned)i);
    const hid_t field = H5Tget_member_type(type, (unsigned)i);
    const H5T_class_t class = field >= 0 ? H5Tget_class(field) : H5T_NO_CLASS;
    c->name = name ? strdup(name) : NULL;
    c->kind = class == H5T_FLOAT ? CAROM_COLUMN_REAL : class == H5T_INTEGER ? CAROM_COLUMN_INTEGER : CAROM_COLUMN_TEXT;
    const bool good =
        c->name && (class == H5T_FLOAT || class == H5T_INTEGER ||
                    (class == H5T_STRING && H5Tis_variable_str(field) == 0 && H5Tget_size(field) <= LONGEST_TEXT + 1));
    if (name) H5free_memory(name);
    h5_close(field);
    return good;
}

// What HDF5 converts rows in: as much as it needs, where it would clear a MiB for every column.
static hid_t small_buffer(hid_t type) {
    const size_t row = H5Tget_size(type), least = 1 << 14, width = LONGEST_TEXT + 2;
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    if (H5Pset_buffer(transfer, row + width > least ? row + width : least, NULL, NULL) >= 0) return transfer;
    h5_close(transfer);
    return -1;
}

// One column at a time, converted by HDF5.
static bool read_values(hid_t set, carom_column *c, long rows, hid_t transfer) {
    size_t width = 8;
    if (c->kind == CAROM_COLUMN_TEXT) width = LONGEST_TEXT + 2;
    const hid_t memory = H5Tcreate(H5T_COMPOUND, width), field = type_of(c, width);
    unsigned char *block = malloc(width * (size_t)(rows + 1));
    bool good = memory >= 0 && field >= 0 && block && H5Tinsert(memory, c->name, 0, field) >= 0 &&
                H5Dread(set, memory, H5S_ALL, H5S_ALL, transfer, block) >= 0;
    for (long k = 0; good && k < rows; ++k) {
        const unsigned char *at = block + (size_t)k * width;
        if (c->kind == CAROM_COLUMN_REAL) memcpy(&c->real[k], at, sizeof(double));
        else if (c->kind == CAROM_COLUMN_INTEGER) memcpy(&c->integer[k], at, sizeof(long long));
        else good = (c->text[k] = strndup((const char *)at, LONGEST_TEXT)) != NULL;
    }
    free(block);
    h5_close(field);
    h5_close(memory);
    return good;
}

static bool read_table(hid_t file, const char *name, carom_table *t, carom_error *err) {
    const hid_t set = h5_open_set(file, name);
    const hid_t type = set >= 0 ? H5Dget_type(set) : -1, space = set >= 0 ? H5Dget_space(set) : -1;
    const int columns = type >= 0 && H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : -1;
    const hssize_t rows =
        space >= 0 && H5Sget_simple_extent_ndims(space) == 1 ? H5Sget_simple_extent_npoints(space) : -1;
    bool good = columns > 0 && columns <= MOST_COLUMNS && rows >= 0 &&
                (hsize_t)rows * H5Tget_size(type) <= H5Dget_storage_size(set);
    t->name = strdup(name);
    t->column = good ? calloc((size_t)columns, sizeof *t->column) : NULL;
    good = good && t->name && t->column;
    for (; good && t->columns < columns; ++t->columns) good = read_column(type, t->columns, &t->column[t->columns]);
    good = good && carom_table_reserve(t, (long)rows, err) == CAROM_OK;
    const hid_t transfer = good && rows > 0 ? small_buffer(type) : -1;
    for (int i = 0; good && rows > 0 && i < columns; ++i)
        good = transfer >= 0 && read_values(set, &t->column[i], (long)rows, transfer);
    h5_close(transfer);
    h5_close(space);
    h5_close(type);
    h5_close(set);
    return good;
}

static hid_t open_file(const char *file) {
    struct stat st;
    // a pipe would keep us waiting
    return stat(file, &st) == 0 && S_ISREG(st.st_mode) ? H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT) : H5I_INVALID_HID;
}

carom_status carom_table_read(const char *file, const char *name, carom_table *t, carom_error *err) {
    if (!file || !name || !t)
        return carom_fail(err, CAROM_BAD_INPUT, "a table, its name or that of its file is missing");
    *t = (carom_table){0};
    h5_hush hush;
    h5_hush_begin(&hush);
    const hid_t f = open_file(file);
    const bool good = f >= 0 && read_table(f, name, t, err);
    h5_close(f);
    h5_hush_end(&hush);
    if (good) return CAROM_OK;
    carom_table_free(t);
    return carom_fail(err, CAROM_BAD_INPUT, "%.400s has no table /%.60s that can be read", file, name);
}

bool carom_table_probe(const char *file, const char *name) {
    h5_hush hush;
    h5_hush_begin(&hush);
    const hid_t f = open_file(file);
    const hid_t set = f >= 0 ? h5_open_set(f, name) : -1;
    const bool there = set >= 0;
    h5_close(set);
    h5_close(f);
    h5_hush_end(&hush);
    return there;
}

char *carom_table_note_read(const char *file, const char *name) {
    char *text = NULL;
    double number;
    h5_hush hush;
    h5_hush_begin(&hush);
    const hid_t f = open_file(file);
    if (f >= 0) h5_get(f, name, (size_t)1 << 20, &number, &text);
    h5_close(f);
    h5_hush_end(&hush);
    return text;
}

bool carom_table_unit_read(const void *user, const char *column, char *text, size_t size) {
    static const char *const group[] = {"columns/runs", "columns/section", "columns/branch"};
    char name[LONGEST_NAME + 20], *unit = NULL;
    double number;
    h5_hush hush;
    h5_hush_begin(&hush);
    const hid_t f = open_file(user);
    for (int i = 0; f >= 0 && i < 3 && !unit; ++i) {
        const hid_t g = h5_open_group(f, group[i]);
        variable_name(-1, column, 0, name);
        const hid_t set = g >= 0 ? h5_open_set(g, name) : -1;
        if (set >= 0) h5_get(set, "units", UNIT, &number, &unit);
        h5_close(set);
        h5_close(g);
    }
    h5_close(f);
    h5_hush_end(&hush);
    if (unit) snprintf(text, size, "%s", unit);
    const bool known = unit != NULL;
    free(unit);
    return known;
}
