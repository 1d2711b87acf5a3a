// result_h5.c: reading results in HDF5 files.  A file may be damaged or made to mislead: every type, shape and size is
// checked before memory is asked for or a value is used.
#define _POSIX_C_SOURCE 200809L
#include "io/h5_driver.h"
#include "io/result.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// bytes of an attribute, of a model; columns: those of a safeguard against damaged files
enum { MOST_TEXT = 1 << 20, MOST_MODEL = 1 << 28, MOST_COLUMNS = 1 << 24 };

// Extent of a set of this rank; false when it has another.
static bool extent(hid_t set, int rank, hsize_t *size) {
    const hid_t space = H5Dget_space(set);
    const bool good = space >= 0 && H5Sis_simple(space) > 0 && H5Sget_simple_extent_ndims(space) == rank &&
                      H5Sget_simple_extent_dims(space, size, NULL) == rank;
    h5_close(space);
    return good;
}

static size_t element_bytes(hid_t set) { // of an element
    const hid_t type = H5Dget_type(set);
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    h5_close(type);
    return size;
}

static bool class_is(hid_t set, H5T_class_t want) {
    const hid_t type = H5Dget_type(set);
    const bool same = type >= 0 && H5Tget_class(type) == want;
    h5_close(type);
    return same;
}

// Does the file hold that many bytes of this set?  Chunks without data would read as rows of nothing.
// Deflate makes no more of a byte than 1032.
static bool stored(hid_t set, double bytes, off_t file_size) {
    const hid_t dcpl = H5Dget_create_plist(set);
    const double most = dcpl >= 0 && H5Pget_nfilters(dcpl) > 0 ? 1032 : 1;
    h5_close(dcpl);
    return bytes <= most * (double)H5Dget_storage_size(set) && bytes <= most * (double)file_size;
}

static bool read_columns(carom_result *r) {
    const hid_t a = H5Aexists(r->data, "columns") > 0 ? H5Aopen(r->data, "columns", H5P_DEFAULT) : -1;
    const hid_t type = a >= 0 ? H5Aget_type(a) : -1, space = a >= 0 ? H5Aget_space(a) : -1;
    const int n = r->table.columns;
    const size_t size =
        type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 ? H5Tget_size(type) : 0;
    bool good =
        space >= 0 && H5Sget_simple_extent_npoints(space) == n && size >= 1 && size <= 4096 && n <= MOST_COLUMNS;
    char *all = good ? calloc((size_t)n, size) : NULL;
    r->table.column = good ? calloc((size_t)n, sizeof *r->table.column) : NULL;
    good = good && all && r->table.column && H5Aread(a, type, all) >= 0;
    for (int i = 0; good && i < n; ++i) good = (r->table.column[i] = strndup(all + (size_t)i * size, size)) != NULL;
    if (!r->table.column) r->table.columns = 0;
    free(all);
    h5_close(space);
    h5_close(type);
    h5_close(a);
    return good;
}

static bool open_data(carom_result *r, off_t file_size) {
    hsize_t size[2] = {0, 0};
    r->data = h5_open_set(r->h5, "data");
    if (r->data < 0 || !class_is(r->data, H5T_FLOAT) || !extent(r->data, 2, size)) return false;
    if (size[1] < 1 || size[1] > MOST_COLUMNS || size[0] > (hsize_t)1 << 48) return false;
    if (!stored(r->data, (double)element_bytes(r->data) * (double)size[0] * (double)size[1], file_size)) return false;
    r->table.rows = (long)size[0];
    r->table.columns = (int)size[1];
    return read_columns(r);
}

// Events or contacts, records one behind the other; a result without them is still one.
static bool open_records(const carom_result *r, const char *name, off_t file_size, hid_t *set, long *count) {
    hsize_t size = 0;
    *set = h5_open_set(r->h5, name);
    if (*set < 0) return !h5_has(r->h5, name);
    if (!class_is(*set, H5T_COMPOUND) || !extent(*set, 1, &size)) return false;
    if (size > (hsize_t)1 << 40 || !stored(*set, (double)element_bytes(*set) * (double)size, file_size)) return false;
    *count = (long)size;
    return true;
}

static bool read_model(carom_result *r, off_t file_size) {
    const hid_t set = h5_open_set(r->h5, "model");
    if (set < 0) return !h5_has(r->h5, "model");
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    const size_t size =
        type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 ? H5Tget_size(type) : 0;
    bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && size >= 1 && size <= MOST_MODEL &&
                stored(set, (double)size, file_size);
    r->model = good ? calloc(1, size + 1) : NULL;
    good = good && r->model && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->model) >= 0;
    if (good) r->model_length = strlen(r->model);
    h5_close(space);
    h5_close(type);
    h5_close(set);
    return good;
}

typedef struct shelf { result_attribute *a; int *n; } shelf;

static herr_t keep(hid_t at, const char *name, const H5A_info_t *info, void *user) {
    (void)info;
    shelf *s = user;
    if (*s->n >= RESULT_ATTRIBUTES) return 1;
    result_attribute *a = &s->a[*s->n];
    *a = (result_attribute){.name = NULL, .text = NULL, .number = NAN};
    if (!h5_get(at, name, MOST_TEXT, &a->number, &a->text)) return 0; // an attribute of somebody else's
    a->name = strdup(name);
    if (!a->name) {
        free(a->text);
        return -1;
    }
    ++*s->n;
    return 0;
}

static bool read_group(carom_result *r, const char *name, result_attribute *a, int *n) {
    const hid_t group = h5_open_group(r->h5, name);
    if (group < 0) return !h5_has(r->h5, name);
    shelf s = {a, n};
    hsize_t start = 0;
    const bool good = H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &start, keep, &s) >= 0;
    h5_close(group);
    return good;
}

static hid_t open_file(const char *file) {
    const hid_t fapl = h5_driver_access();
    const hid_t h5 = H5Fopen(file, H5F_ACC_RDONLY, fapl);
    h5_close(fapl);
    return h5;
}

// Other files of carom, and the verb that takes them.
static carom_status not_a_result(const carom_result *r, carom_error *err) {
    static const struct { const char *part, *what; } kinds[] = {
        {"runs", "a sweep, not the result of a run; `carom plot` draws it, `carom info` lists its columns"},
        {"branch",
         "a branch of `carom follow`, not the result of a run; `carom plot` draws it, `carom info` lists its columns"},
        {"fclib_local", "a contact problem, not the result of a run; `carom solve` solves it"},
        {"fclib_global", "a contact problem, not the result of a run; `carom solve` solves it"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (h5_has(r->h5, kinds[i].part)) return carom_fail(err, CAROM_IO, "%.300s is %s", r->file, kinds[i].what);
    return h5_fail(err, "%.400s is not a result of carom, or it is damaged; run its model again", r->file);
}

static carom_status open_quietly(carom_result *r, carom_error *err) {
    struct stat st;
    if (stat(r->file, &st) != 0 || access(r->file, R_OK) != 0)
        return carom_fail(err, CAROM_IO, "cannot read %.400s: %s", r->file, strerror(errno));
    r->h5 = open_file(r->file);
    if (r->h5 < 0) return h5_fail(err, "cannot read %.400s, which may be damaged; run its model again", r->file);
    // rows without one still serve
    if (!read_group(r, "ledger", r->ledger, &r->nledger)) result_drop_attributes(r->ledger, &r->nledger);
    if (!open_data(r, st.st_size) || !open_records(r, "events", st.st_size, &r->event_set, &r->events) ||
        !open_records(r, "contacts", st.st_size, &r->contact_set, &r->contacts) || !read_model(r, st.st_size) ||
        !read_group(r, "run", r->run, &r->nrun))
        return not_a_result(r, err);
    h5_driver_share(r->h5, false);
    return CAROM_OK;
}

// Are so many records still there?
static bool has_records(hid_t set, long count) {
    hsize_t size = 0;
    return count == 0 || (set >= 0 && extent(set, 1, &size) && size >= (hsize_t)count);
}

static const result_attribute *found(const carom_result *r, const char *name) {
    for (int i = 0; i < r->nrun; ++i)
        if (strcmp(r->run[i].name, name) == 0) return &r->run[i];
    return NULL;
}

static bool same_attribute(const result_attribute *a, const result_attribute *b) {
    if (!a || !b || !a->text || !b->text)
        return !a == !b && (!a || (!a->text == !b->text && memcmp(&a->number, &b->number, sizeof a->number) == 0));
    return strcmp(a->text, b->text) == 0;
}

// Is the file, open again, that of the same run?  One that goes on changes its end and how it went, not how it began.
static bool same_run(const carom_result *r) {
    static const char *const begun[] = {"started", "version", "scheme", "options",   "set",
                                        "step",    "every",   "dt_out", "event_rows"};
    carom_result now = {.h5 = r->h5};
    struct stat st;
    bool same = stat(r->file, &st) == 0 && read_model(&now, st.st_size) && read_group(&now, "run", now.run, &now.nrun);
    for (size_t i = 0; i < sizeof begun / sizeof *begun && same; ++i)
        same = same_attribute(found(r, begun[i]), found(&now, begun[i]));
    same = same && !r->model == !now.model && (!r->model || strcmp(r->model, now.model) == 0);
    result_drop_attributes(now.run, &now.nrun);
    free(now.model);
    return same;
}

// A run may be writing the file.  While it is read there is no commit; what HDF5 remembers from before a commit is
// forgotten.
static bool read_begin(carom_result *r, h5_hush *h) {
    h5_hush_begin(h);
    h5_driver_share(r->h5, true);
    if (r->replaced || !h5_driver_changed(r->h5)) return !r->replaced;
    hsize_t size[2] = {0, 0};
    const hid_t old[] = {r->data, r->event_set, r->contact_set, r->h5};
    for (int i = 0; i < 4; ++i) h5_close(old[i]);
    r->h5 = open_file(r->file);
    r->data = r->h5 >= 0 ? h5_open_set(r->h5, "data") : -1;
    r->event_set = r->h5 >= 0 ? h5_open_set(r->h5, "events") : -1;
    r->contact_set = r->h5 >= 0 && r->contacts ? h5_open_set(r->h5, "contacts") : -1;
    r->replaced = !(r->data >= 0 && extent(r->data, 2, size) && size[0] >= (hsize_t)r->table.rows &&
                    size[1] == (hsize_t)r->table.columns && has_records(r->event_set, r->events) &&
                    has_records(r->contact_set, r->contacts) && same_run(r));
    return !r->replaced;
}

static carom_status replaced(const carom_result *r, carom_error *err) {
    return carom_fail(err, CAROM_IO, "%.400s was replaced while it was read; open it again", r->file);
}

static void read_end(carom_result *r, h5_hush *h) {
    h5_driver_share(r->h5, false);
    h5_hush_end(h);
}

static carom_status read_rows(carom_result *r, int column, int columns, long first, long count, double *out,
                              carom_error *err) {
    const hsize_t at[2] = {(hsize_t)first, (hsize_t)column}, n[2] = {(hsize_t)count, (hsize_t)columns};
    const hid_t file = H5Dget_space(r->data), memory = H5Screate_simple(2, n, NULL);
    const bool good = file >= 0 && memory >= 0 && H5Sselect_hyperslab(file, H5S_SELECT_SET, at, NULL, n, NULL) >= 0 &&
                      H5Dread(r->data, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, out) >= 0;
    h5_close(memory);
    h5_close(file);
    return good ? CAROM_OK : h5_fail(err, "cannot read the rows of %.400s; the file is damaged", r->file);
}

static hid_t event_type(void) {
#define MEMBER(name, field, text) {name, offsetof(carom_result_event, field), text}
    static const h5_member member[] = {MEMBER("time", t, 0),
                                       MEMBER("contact", contact, sizeof((carom_result_event *)0)->contact),
                                       MEMBER("kind", kind, sizeof((carom_result_event *)0)->kind),
                                       MEMBER("velocity_before", before, 0),
                                       MEMBER("velocity_after", after, 0),
                                       MEMBER("impulse", impulse, 0)};
#undef MEMBER
    return h5_record_type(sizeof(carom_result_event), member, 6, H5T_STR_NULLTERM); // the last byte of a text is NUL
}

// Have the file's records all members of the wanted type, numbers and texts that HDF5 can turn into ours?
static bool has_members(hid_t set, hid_t want) {
    const hid_t type = H5Dget_type(set);
    bool good = type >= 0;
    for (int i = 0; good && i < H5Tget_nmembers(want); ++i) {
        char *name = H5Tget_member_name(want, (unsigned)i);
        const int k = name ? H5Tget_member_index(type, name) : -1;
        const hid_t member = k >= 0 ? H5Tget_member_type(type, (unsigned)k) : -1;
        good = member >= 0 && H5Tget_class(member) == H5Tget_member_class(want, (unsigned)i) &&
               (H5Tget_class(member) != H5T_STRING || H5Tis_variable_str(member) == 0);
        h5_close(member);
        H5free_memory(name);
    }
    h5_close(type);
    return good;
}

// Closes the type.
static carom_status read_records(const carom_result *r, hid_t set, hid_t type, const char *what, long first, long count,
                                 void *out, carom_error *err) {
    const hsize_t at = (hsize_t)first, n = (hsize_t)count;
    const hid_t file = H5Dget_space(set), memory = H5Screate_simple(1, &n, NULL);
    const bool good = type >= 0 && file >= 0 && memory >= 0 && has_members(set, type) &&
                      H5Sselect_hyperslab(file, H5S_SELECT_SET, &at, NULL, &n, NULL) >= 0 &&
                      H5Dread(set, type, memory, file, H5P_DEFAULT, out) >= 0;
    h5_close(type);
    h5_close(memory);
    h5_close(file);
    return good ? CAROM_OK : h5_fail(err, "cannot read the %s of %.400s; the file is damaged", what, r->file);
}

// -- what result.c asks for ----------------------------------------------------------------------------------

carom_status result_h5_open(carom_result *r, carom_error *err) {
    h5_hush h;
    h5_hush_begin(&h);
    const carom_status status = open_quietly(r, err);
    h5_hush_end(&h);
    return status;
}

void result_h5_close(carom_result *r) {
    h5_hush h;
    h5_hush_begin(&h);
    h5_close(r->data);
    h5_close(r->event_set);
    h5_close(r->contact_set);
    h5_close(r->h5);
    h5_hush_end(&h);
}

carom_status result_h5_rows(carom_result *r, int column, int columns, long first, long count, double *out,
                            carom_error *err) {
    h5_hush h;
    const carom_status status =
        read_begin(r, &h) ? read_rows(r, column, columns, first, count, out, err) : replaced(r, err);
    read_end(r, &h);
    return status;
}

carom_status result_h5_events(carom_result *r, long first, long count, carom_result_event *out, carom_error *err) {
    h5_hush h;
    const carom_status status = read_begin(r, &h)
                                    ? read_records(r, r->event_set, event_type(), "events", first, count, out, err)
                                    : replaced(r, err);
    read_end(r, &h);
    for (long i = 0; status == CAROM_OK && i < count; ++i)
        out[i].contact[sizeof out[i].contact - 1] = out[i].kind[sizeof out[i].kind - 1] = 0;
    return status;
}

carom_status result_h5_contacts(carom_result *r, long first, long count, carom_result_contact *out, carom_error *err) {
    h5_hush h;
    const carom_status status = read_begin(r, &h)
                                    ? read_records(r, r->contact_set, h5_contact_type(sizeof out->contact, true),
                                                   "contacts", first, count, out, err)
                                    : replaced(r, err);
    read_end(r, &h);
    for (long i = 0; status == CAROM_OK && i < count; ++i) out[i].contact[sizeof out[i].contact - 1] = 0;
    return status;
}

// -- fields -----------------------------------------------------------------------------------------------------

// The set of a field with its extent, < 0: none that is sound.
static hid_t open_field(const carom_result *r, const char *name, hsize_t size[2]) {
    char path[200];
    snprintf(path, sizeof path, "fields/%.180s", name);
    if (r->h5 < 0 || strchr(name, '/')) return -1;
    const hid_t set = h5_open_set(r->h5, path);
    if (set >= 0 && extent(set, 2, size) && class_is(set, H5T_FLOAT) && size[0] < (hsize_t)1 << 48 &&
        size[1] <= MOST_COLUMNS &&
        stored(set, (double)element_bytes(set) * (double)size[0] * (double)size[1], (off_t)1 << 60))
        return set;
    h5_close(set);
    return -1;
}

long carom_result_field_size(carom_result *r, const char *name) {
    if (!r) return 0;
    hsize_t size[2];
    h5_hush h;
    const hid_t set = r->h5 >= 0 && read_begin(r, &h) ? open_field(r, name, size) : -1;
    h5_close(set);
    if (r->h5 >= 0) read_end(r, &h);
    return set < 0 ? -1 : (long)size[1];
}

carom_status carom_result_field_read(carom_result *r, const char *name, long row, double *x, carom_error *err) {
    hsize_t size[2] = {0, 0};
    h5_hush h;
    if (!r || !name || !x)
        return carom_fail(err, CAROM_BAD_INPUT, "a result, the name of a field or a place for it is missing");
    const bool file = r->h5 >= 0;
    const hid_t set = file && read_begin(r, &h) ? open_field(r, name, size) : -1;
    carom_status status = CAROM_OK;
    if (set < 0 || row < 0 || (hsize_t)row >= size[0]) {
        status = carom_fail(err, CAROM_BAD_INPUT, "%s has no row %ld of a field '%.120s'", r->file, row, name);
    } else {
        const hsize_t at[2] = {(hsize_t)row, 0}, count[2] = {1, size[1]};
        const hid_t from = H5Dget_space(set), memory = H5Screate_simple(2, count, NULL);
        if (H5Sselect_hyperslab(from, H5S_SELECT_SET, at, NULL, count, NULL) < 0 ||
            H5Dread(set, H5T_NATIVE_DOUBLE, memory, from, H5P_DEFAULT, x) < 0)
            status = h5_fail(err, "cannot read %s", r->file);
        h5_close(memory);
        h5_close(from);
    }
    h5_close(set);
    if (file) read_end(r, &h);
    return status;
}

typedef struct field_copy { const carom_result *r; hid_t from, to; } field_copy;

static herr_t copy_field(hid_t group, const char *name, const H5L_info_t *info, void *user) {
    (void)group, (void)info;
    const field_copy *c = user;
    hsize_t size[2];
    const hid_t set = open_field(c->r, name, size);
    const bool good = set >= 0 && H5Ocopy(c->from, name, c->to, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    h5_close(set);
    return good ? 0 : -1;
}

carom_status result_h5_copy_fields(carom_result *r, hid_t to, carom_error *err) {
    if (r->h5 < 0) return CAROM_OK;
    h5_hush h;
    bool good = read_begin(r, &h);
    if (good && h5_has(r->h5, "fields")) {
        field_copy c = {.r = r,
                        .from = h5_open_group(r->h5, "fields"),
                        .to = H5Gcreate2(to, "fields", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)};
        good = c.from >= 0 && c.to >= 0 && H5Literate(c.from, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_field, &c) >= 0;
        h5_close(c.to);
        h5_close(c.from);
    }
    const carom_status status = good ? CAROM_OK : h5_fail(err, "cannot copy the fields of %.400s", r->file);
    read_end(r, &h);
    return status;
}
