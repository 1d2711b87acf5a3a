// h5_write.c: a result file that can be read at any moment.
//
// (1) A flush changes the file as a whole or not at all (h5_driver.h): it is always that of the last flush that
// succeeded. (2) After the first failure nothing is written any more, and no row is accepted. (3) The file gets its
// name by renaming, once it can be read. The format is that of HDF5 1.8: its metadata carry checksums, and no mark of
// an open file that a kill would leave.
#define _POSIX_C_SOURCE 200809L
#include "base/pages.h"
#include "io/h5.h"
#include "io/h5_driver.h"
#include "sim/ledger.h"
#include "io/publish.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK_BYTES = 1 << 20, // of a chunk at most, and rows of one: chosen, what is in memory against calls of HDF5
    CHUNK_ROWS = 4096,
    FEW_ROWS = 256,    // chosen: of a chunk of a short run
    EVENT_ROWS = 1024, // chosen: how many events come is not known before
    NAME_ROOM = sizeof((carom_result_event *)0)->contact,
    PAGE = 4096 // bytes: a page of the system
};

static hid_t access_list(void) {
    const hid_t fapl = h5_driver_access();
    H5Pset_libver_bounds(fapl, H5F_LIBVER_V18, H5F_LIBVER_V18);
    H5Pset_meta_block_size(fapl, PAGE); // a flush changes few pages
    H5Pset_alignment(fapl, PAGE / 2, PAGE);
    return fapl;
}

static size_t event_bytes(const h5_file *f) {
    return 4 * sizeof(double) + f->contact_size + f->kind_size;
}

static hid_t event_type(const h5_file *f) {
    const size_t contact = sizeof(double), kind = contact + f->contact_size, rest = kind + f->kind_size;
    const h5_member member[] = {{"time", 0, 0},
                                {"contact", contact, f->contact_size},
                                {"kind", kind, f->kind_size},
                                {"velocity_before", rest, 0},
                                {"velocity_after", rest + sizeof(double), 0},
                                {"impulse", rest + 2 * sizeof(double), 0}};
    return h5_record_type(event_bytes(f), member, 6, H5T_STR_NULLPAD);
}

// A row of the file is the name behind the numbers.
enum { CONTACT_NUMBERS = 11 };
hid_t h5_contact_type(size_t name, bool memory) {
    enum { NUMBERS = CONTACT_NUMBERS };
    static const char *const word[NUMBERS + 1] = {"time", "x",   "y",  "z",  "nx", "ny",
                                                  "nz",   "gap", "fx", "fy", "fz", "contact"};
    h5_member member[NUMBERS + 1];
    for (size_t i = 0; i <= NUMBERS; ++i) member[i] = (h5_member){word[i], i * sizeof(double), i == NUMBERS ? name : 0};
    return h5_record_type(memory ? sizeof(carom_result_contact) : NUMBERS * sizeof(double) + name, member, NUMBERS + 1,
                          memory ? H5T_STR_NULLTERM : H5T_STR_NULLPAD);
}

static bool table_create(h5_table *t, hid_t file, const char *name, hid_t type, hsize_t width, size_t row_bytes,
                         hsize_t chunk, bool packed) {
    const int rank = width ? 2 : 1;
    const hsize_t now[2] = {0, width}, most[2] = {H5S_UNLIMITED, width}, piece[2] = {chunk, width};
    const hid_t space = H5Screate_simple(rank, now, most), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, rank, piece);
    if (packed) H5Pset_shuffle(dcpl), H5Pset_deflate(dcpl, 4);
    H5Pset_obj_track_times(dcpl, false);
    H5Pset_attr_phase_change(dcpl, 0, 0); // names of columns stay out of the header, which is rewritten
    const double nothing = NAN;
    if (width) H5Pset_fill_value(dcpl, H5T_NATIVE_DOUBLE, &nothing);
    *t = (h5_table){.set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT),
                    .width = width,
                    .row_bytes = row_bytes,
                    .chunk = chunk,
                    .buffer = calloc((size_t)chunk, row_bytes),
                    .packed = packed,
                    .scale = -1};
    h5_close(dcpl);
    h5_close(space);
    return t->set >= 0 && t->buffer;
}

// The reason why nothing is written any more (2).
static carom_status still_broken(const h5_file *f, carom_error *err) {
    if (err) *err = f->broken;
    return f->broken.code;
}

static carom_status broken(h5_file *f, carom_error *err) {
    const char *reason = h5_driver_failed(f->file);
    if (reason) carom_fail(&f->broken, CAROM_IO, "cannot write %s: %s", f->name, reason);
    else h5_fail(&f->broken, "cannot write %s", f->name);
    h5_driver_abandon(f->file);
    return still_broken(f, err);
}

// All rows of the chunk so far: HDF5 compresses it anew.
static bool write_packed(const h5_table *t) {
    const int rank = t->width ? 2 : 1;
    const hsize_t at[2] = {t->base, 0}, count[2] = {t->fill, t->width};
    const hid_t file = H5Dget_space(t->set), memory = H5Screate_simple(rank, count, NULL), type = H5Dget_type(t->set);
    const bool good = H5Sselect_hyperslab(file, H5S_SELECT_SET, at, NULL, count, NULL) >= 0 &&
                      H5Dwrite(t->set, type, memory, file, H5P_DEFAULT, t->buffer) >= 0;
    h5_close(type);
    h5_close(memory);
    h5_close(file);
    return good;
}

// The buffered rows that are not in the file yet; the whole chunk if there is nothing of it.
static bool write_rows(h5_file *f, h5_table *t) {
    const hsize_t at[2] = {t->base, 0};
    if (t->packed) return write_packed(t);
    if (t->flushed == 0)
        return H5Dwrite_chunk(t->set, H5P_DEFAULT, 0, at, (size_t)t->chunk * t->row_bytes, t->buffer) >= 0;
    const size_t done = (size_t)t->flushed * t->row_bytes, all = (size_t)t->fill * t->row_bytes;
    return all == done || h5_driver_fill(f->file, t->place + done, t->buffer + done, all - done);
}

static carom_status table_write(h5_file *f, h5_table *t, carom_error *err) {
    const hsize_t size[2] = {t->base + t->fill, t->width};
    if (t->fill == 0) return CAROM_OK;
    if (H5Dset_extent(t->set, size) < 0 || !write_rows(f, t) || (t->scale >= 0 && H5Dset_extent(t->scale, size) < 0) ||
        h5_driver_failed(f->file))
        return broken(f, err);
    if (t->fill == t->chunk) {
        t->base += t->chunk;
        t->fill = t->flushed = 0;
    }
    return CAROM_OK;
}

// After a commit: rows that follow in the same chunk are none of the file's yet, and need no log.
static void table_flushed(h5_table *t) {
#if H5_VERSION_GE(1, 10, 5)
    const hsize_t at[2] = {t->base, 0};
    unsigned mask;
    hsize_t bytes;
    const bool known = !t->packed && t->fill > 0 &&
                       H5Dget_chunk_info_by_coord(t->set, at, &mask, &t->place, &bytes) >= 0 &&
                       t->place != HADDR_UNDEF && bytes == t->chunk * t->row_bytes;
    t->flushed = known ? t->fill : 0;
#else
    (void)t;
#endif
}

// HDF5 is not spoken to before the buffer is full: even hushing it takes as long as a step.
static carom_status table_next(h5_file *f, h5_table *t, carom_error *err) {
    if (++t->fill < t->chunk) return CAROM_OK;
    h5_hush h;
    h5_hush_begin(&h);
    const carom_status status = table_write(f, t, err);
    h5_hush_end(&h);
    return status;
}

static hsize_t choose_chunk(size_t columns, long rows) {
    hsize_t chunk = CHUNK_BYTES / (sizeof(double) * columns);
    if (chunk > CHUNK_ROWS) chunk = CHUNK_ROWS;
    const hsize_t enough = rows < FEW_ROWS ? FEW_ROWS : (hsize_t)rows;
    if (chunk > enough) chunk = enough;
    return chunk ? chunk : 1;
}

// Arc lengths and components, as attributes.
static bool put_field_places(hid_t set, const h5_field_def *d) {
    const hsize_t n = d->places;
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t a = H5Acreate2(set, "s", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = a >= 0 && H5Awrite(a, H5T_NATIVE_DOUBLE, d->place) >= 0;
    h5_close(a);
    h5_close(space);
    return good && h5_put_text(set, "components", d->components, strlen(d->components));
}

static bool create_fields(h5_file *f, const h5_def *def) {
    if (def->nfield == 0) return true;
    const hid_t group = H5Gcreate2(f->file, "fields", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0;
    for (int i = 0; i < def->nfield && good; ++i) {
        const h5_field_def *d = &def->field[i];
        const size_t columns = d->places * d->width;
        good = table_create(&f->field[i], group, d->name, H5T_NATIVE_DOUBLE, columns, sizeof(double) * columns,
                            choose_chunk(columns, def->rows), def->compress) &&
               put_field_places(f->field[i].set, d);
    }
    h5_close(group);
    return good;
}

static size_t longest(const h5_def *def) {
    size_t size = 1;
    for (size_t i = 0; i < def->columns; ++i)
        if (strlen(def->column[i]) > size) size = strlen(def->column[i]);
    return size;
}

// One text for each column: an attribute of /data.
static bool put_texts(h5_file *f, size_t n_texts, char *const *text, const char *name) {
    size_t size = 1;
    for (size_t i = 0; i < n_texts; ++i)
        if (strlen(text[i]) > size) size = strlen(text[i]);
    char *all = calloc(n_texts, size);
    if (!all) return false;
    for (size_t i = 0; i < n_texts; ++i) memcpy(all + i * size, text[i], strlen(text[i]));
    const hsize_t n = n_texts;
    const hid_t type = h5_text_type(size, H5T_STR_NULLPAD), space = H5Screate_simple(1, &n, NULL);
    const hid_t a = H5Acreate2(f->data.set, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = a >= 0 && H5Awrite(a, type, all) >= 0;
    h5_close(a);
    h5_close(space);
    h5_close(type);
    free(all);
    return good;
}

// The same as a set of its own, for other programs; of variable length, because netCDF's library knows no other texts.
// < 0: failed.
static hid_t put_names(h5_file *f, size_t n_texts, char *const *text, const char *name) {
    const hsize_t n = n_texts;
    const hid_t type = h5_text_type(H5T_VARIABLE, H5T_STR_NULLTERM), space = H5Screate_simple(1, &n, NULL),
                dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(dcpl, false);
    const hid_t set = H5Dcreate2(f->file, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    const bool good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    h5_close(dcpl);
    h5_close(space);
    h5_close(type);
    if (good) return set;
    h5_close(set);
    return -1;
}

// Names and units of columns; the scales of rows, columns, events and snapshots.
static bool put_columns(h5_file *f, const h5_def *def) {
    hid_t column = -1, unit = -1;
    bool good = put_texts(f, def->columns, def->column, "columns") &&
                (column = put_names(f, def->columns, def->column, "column")) >= 0 && h5_make_scale(column, "column") &&
                h5_make_scale(f->time.set, "t") &&
                h5_attach_scales(f->data.set, (const hid_t[]){f->time.set, column}, 2);
    if (good && def->unit)
        good = put_texts(f, def->columns, def->unit, "units") &&
               (unit = put_names(f, def->columns, def->unit, "unit")) >= 0 && h5_attach_scales(unit, &column, 1) &&
               (!*def->unit[0] || h5_put_text(f->time.set, "units", def->unit[0], strlen(def->unit[0])));
    if (good && def->role) good = put_texts(f, def->columns, def->role, "roles");
    good = good && (f->events.scale = h5_bare_scale(f->file, "event", 0, EVENT_ROWS)) >= 0 &&
           h5_attach_scales(f->events.set, &f->events.scale, 1);
    if (good && def->snapshots)
        good = (f->contacts.scale = h5_bare_scale(f->file, "snapshot", 0, EVENT_ROWS)) >= 0 &&
               h5_attach_scales(f->contacts.set, &f->contacts.scale, 1);
    h5_close(unit);
    h5_close(column);
    return good;
}

// What a file is, for programs and people that know nothing of carom.
static bool put_format(h5_file *f) {
    static const char *const text[][2] = {{"format", "carom result"},
                                          {"Conventions", "carom-1"},
                                          {"conventions",
                                           "Numbers are in SI units unless `units` of /data names another one; angles "
                                           "in radians. Rates and velocities are right limits (after an impact). "
                                           "Quaternions are (w, x, y, z), from the body frame to the world; angular "
                                           "velocities are in the body frame. Gaps are positive when open, "
                                           "forces and impulses of contacts positive when they push. Forces exclude "
                                           "impulses; impulses are sums since the previous row."}};
    for (size_t i = 0; i < sizeof text / sizeof *text; ++i)
        if (!h5_put_text(f->file, text[i][0], text[i][1], strlen(text[i][1]))) return false;
    return h5_put_integer(f->file, "format_version", 1);
}

// The text of the model, with a NUL behind it in the file: netCDF's library reads on until it finds one.
static bool put_model(h5_file *f, const h5_def *def) {
    const hid_t have = h5_text_type(def->length, H5T_STR_NULLPAD), space = H5Screate(H5S_SCALAR),
                type = h5_text_type(def->length + 1, H5T_STR_NULLPAD);
    const hid_t set = H5Dcreate2(f->file, "model", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = set >= 0 && H5Dwrite(set, have, H5S_ALL, H5S_ALL, H5P_DEFAULT, def->length ? def->text : "") >= 0;
    h5_close(set);
    h5_close(type);
    h5_close(space);
    h5_close(have);
    return good;
}

static bool create_state(h5_file *f) {
    const hsize_t size[2] = {2, f->state_size};
    const hid_t space = H5Screate_simple(2, size, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    H5Pset_obj_track_times(dcpl, false);
    f->state = H5Dcreate2(f->file, "state", H5T_NATIVE_UINT8, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    h5_close(dcpl);
    h5_close(space);
    if (f->state < 0 || (H5Lexists(f->file, "byte", H5P_DEFAULT) > 0 && H5Ldelete(f->file, "byte", H5P_DEFAULT) < 0))
        return false;
    const bool known = H5Lexists(f->file, "slot", H5P_DEFAULT) > 0;
    const hid_t slot = known ? H5Dopen2(f->file, "slot", H5P_DEFAULT) : h5_bare_scale(f->file, "slot", 2, 0),
                byte = h5_bare_scale(f->file, "byte", f->state_size, 0);
    const bool good = slot >= 0 && byte >= 0 && h5_attach_scales(f->state, (const hid_t[]){slot, byte}, 2);
    h5_close(slot);
    h5_close(byte);
    return good;
}

static bool create_all(h5_file *f, const h5_def *def) {
    const size_t row = sizeof(double) * def->columns;
    f->file = -1;
    char *part = part_name(f->name);
    if (!part) return false;
    const hid_t fapl = access_list(), fcpl = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_istore_k(fcpl, 128); // a node of the chunk index then splits only every 256 chunks
    unlink(part); // see part_open()
    f->file = H5Fcreate(part, H5F_ACC_EXCL, fcpl, fapl);
    h5_close(fcpl);
    h5_close(fapl);
    free(part);
    if (f->file < 0) return false;
    const hid_t event = event_type(f);
    bool good = table_create(&f->data, f->file, "data", H5T_NATIVE_DOUBLE, def->columns, row,
                             choose_chunk(def->columns, def->rows), def->compress) &&
                table_create(&f->time, f->file, "t", H5T_NATIVE_DOUBLE, 0, sizeof(double), choose_chunk(1, def->rows),
                             def->compress) &&
                table_create(&f->events, f->file, "events", event, 0, event_bytes(f), EVENT_ROWS, def->compress);
    // rows that the run will write, at most CHUNK_BYTES
    if (good) carom_supply_pages(f->data.buffer, (size_t)f->data.chunk * row);
    h5_close(event);
    const hid_t contact = h5_contact_type(f->contact_size, false);
    if (good && def->snapshots)
        good = table_create(&f->contacts, f->file, "contacts", contact, 0, H5Tget_size(contact), EVENT_ROWS,
                            def->compress);
    h5_close(contact);
    good = good && put_format(f) && put_columns(f, def) && create_fields(f, def) && put_model(f, def) &&
           h5_put_matrices(f->file, def->matrices, def->nmatrices) && create_state(f);
    const hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_attr_phase_change(gcpl, 64, 32);
    f->run = H5Gcreate2(f->file, "run", H5P_DEFAULT, gcpl, H5P_DEFAULT);
    f->ledger = H5Gcreate2(f->file, "ledger", H5P_DEFAULT, gcpl, H5P_DEFAULT);
    h5_close(gcpl);
    return good && f->run >= 0 && f->ledger >= 0;
}

static h5_file *blank(const h5_def *def) {
    h5_file *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->file = f->run = f->ledger = f->state = f->data.set = f->events.set = f->contacts.set = f->time.set = -1;
    f->data.scale = f->events.scale = f->contacts.scale = f->time.scale = -1;
    f->contact_size = def->contact_size < 1 ? 1 : def->contact_size > NAME_ROOM - 1 ? NAME_ROOM - 1 : def->contact_size;
    f->kind_size = 12; // "accumulation"
    f->state_size = def->state_size;
    f->name = strdup(def->file);
    f->nfield = def->nfield;
    f->field = calloc((size_t)def->nfield + 1, sizeof *f->field);
    if (!f->name || !f->field) {
        free(f->name);
        free(f->field);
        free(f);
        return NULL;
    }
    for (int i = 0; i < f->nfield; ++i) f->field[i].set = -1;
    return f;
}

h5_file *h5_create(const h5_def *def, carom_error *err) {
    h5_hush h;
    h5_hush_begin(&h);
    h5_file *f = blank(def);
    if (!f || !create_all(f, def)) {
        h5_fail(err, "cannot create %s", def->file);
        if (f && f->file >= 0) h5_abandon(f);
        if (f) h5_destroy(f);
        f = NULL;
    }
    h5_hush_end(&h);
    return f;
}

void h5_abandon(const h5_file *f) {
    publish_not(f->name);
}

carom_status h5_publish(h5_file *f, bool keep, carom_error *err) {
    return publish(f->name, keep, err);
}

// -- going on -----------------------------------------------------------------------------------------

static bool table_open(h5_table *t, hid_t file, const char *name, hsize_t width, size_t row_bytes) {
    const int rank = width ? 2 : 1;
    *t = (h5_table){.set = h5_open_set(file, name), .width = width, .row_bytes = row_bytes, .scale = -1};
    const hid_t dcpl = t->set >= 0 ? H5Dget_create_plist(t->set) : -1, space = t->set >= 0 ? H5Dget_space(t->set) : -1;
    hsize_t piece[2] = {0, 0}, size[2] = {0, 0};
    const bool good = row_bytes > 0 && dcpl >= 0 && space >= 0 && H5Pget_layout(dcpl) == H5D_CHUNKED &&
                      H5Pget_chunk(dcpl, rank, piece) == rank && H5Sget_simple_extent_ndims(space) == rank &&
                      H5Sget_simple_extent_dims(space, size, NULL) == rank &&
                      (!width || (size[1] == width && piece[1] == width)) && piece[0] >= 1 &&
                      piece[0] <= (1u << 24) / row_bytes + 1;
    const bool packed = good && H5Pget_nfilters(dcpl) > 0;
    h5_close(space);
    h5_close(dcpl);
    if (!good) return false;
    t->packed = packed;
    t->chunk = piece[0];
    t->base = size[0]; // until h5_cut()
    t->buffer = calloc((size_t)t->chunk, row_bytes);
    return t->buffer != NULL;
}

static bool same_type(hid_t set, hid_t want) {
    const hid_t have = H5Dget_type(set);
    const bool same = have >= 0 && H5Tequal(have, want) > 0;
    h5_close(have);
    return same;
}

static bool same_columns(hid_t data, const h5_def *def) {
    const size_t size = longest(def);
    const hid_t a = H5Aopen(data, "columns", H5P_DEFAULT), space = a >= 0 ? H5Aget_space(a) : -1,
                have = a >= 0 ? H5Aget_type(a) : -1;
    const hid_t type = h5_text_type(size, H5T_STR_NULLPAD);
    char *all = calloc(def->columns, size);
    bool same = all && a >= 0 && space >= 0 && have >= 0 && H5Tequal(have, type) > 0 &&
                H5Sget_simple_extent_npoints(space) == (hssize_t)def->columns && H5Aread(a, type, all) >= 0;
    for (size_t i = 0; same && i < def->columns; ++i) same = strncmp(all + i * size, def->column[i], size) == 0;
    free(all);
    h5_close(type);
    h5_close(have);
    h5_close(space);
    h5_close(a);
    return same;
}

static bool open_all(h5_file *f, const h5_def *def) {
    const hid_t fapl = access_list();
    f->file = H5Fopen(f->name, H5F_ACC_RDWR, fapl);
    h5_close(fapl);
    if (f->file < 0) return false;
    const hid_t event = event_type(f);
    bool good = table_open(&f->data, f->file, "data", def->columns, sizeof(double) * def->columns) &&
                table_open(&f->events, f->file, "events", 0, event_bytes(f)) && same_type(f->events.set, event) &&
                same_type(f->data.set, H5T_NATIVE_DOUBLE) && same_columns(f->data.set, def);
    h5_close(event);
    const hid_t contact = h5_contact_type(f->contact_size, false);
    if (good && H5Lexists(f->file, "t", H5P_DEFAULT) > 0) { // a file of an older version has no scales
        good = table_open(&f->time, f->file, "t", 0, sizeof(double)) && same_type(f->time.set, H5T_NATIVE_DOUBLE);
        f->events.scale = h5_open_set(f->file, "event");
    }
    if (good && def->snapshots)
        good = contact >= 0 && table_open(&f->contacts, f->file, "contacts", 0, H5Tget_size(contact)) &&
               same_type(f->contacts.set, contact);
    if (good && def->snapshots && f->time.set >= 0) f->contacts.scale = h5_open_set(f->file, "snapshot");
    h5_close(contact);
    for (int i = 0; i < def->nfield && good; ++i) {
        char name[200];
        const size_t columns = def->field[i].places * def->field[i].width;
        snprintf(name, sizeof name, "fields/%s", def->field[i].name);
        good = table_open(&f->field[i], f->file, name, columns, sizeof(double) * columns) &&
               same_type(f->field[i].set, H5T_NATIVE_DOUBLE);
    }
    if (!good) return false;
    f->run = h5_open_group(f->file, "run");
    f->ledger = h5_open_group(f->file, "ledger");
    f->state = h5_open_set(f->file, "state");
    const hid_t space = f->state >= 0 ? H5Dget_space(f->state) : -1;
    hsize_t size[2] = {0, 0};
    good = f->run >= 0 && f->ledger >= 0 && space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
           H5Sget_simple_extent_dims(space, size, NULL) == 2 && size[0] == 2 &&
           (def->grows ? size[1] >= f->state_size : size[1] == f->state_size) && same_type(f->state, H5T_NATIVE_UINT8);
    f->state_size = size[1];
    h5_close(space);
    return good;
}

h5_file *h5_reopen(const h5_def *def, carom_error *err) {
    h5_hush h;
    h5_hush_begin(&h);
    h5_file *f = blank(def);
    if (!f || !open_all(f, def)) {
        h5_fail(err,
                "cannot continue %s: it is not a result of this model, scheme and version of carom, or it is damaged; "
                "run its model again",
                def->file);
        if (f) h5_destroy(f);
        f = NULL;
    }
    h5_hush_end(&h);
    return f;
}

static carom_status table_cut(h5_table *t, hsize_t rows, carom_error *err) {
    const hsize_t size[2] = {rows, t->width};
    if (t->base < rows) return carom_fail(err, CAROM_IO, "the result file is damaged: rows are missing");
    t->base = rows - rows % t->chunk;
    t->fill = rows % t->chunk;
    if (t->fill) {
        const int rank = t->width ? 2 : 1;
        const hsize_t at[2] = {t->base, 0}, count[2] = {t->fill, t->width};
        const hid_t file = H5Dget_space(t->set), memory = H5Screate_simple(rank, count, NULL),
                    type = H5Dget_type(t->set);
        const bool good = H5Sselect_hyperslab(file, H5S_SELECT_SET, at, NULL, count, NULL) >= 0 &&
                          H5Dread(t->set, type, memory, file, H5P_DEFAULT, t->buffer) >= 0;
        h5_close(type);
        h5_close(memory);
        h5_close(file);
        if (!good) return h5_fail(err, "cannot read the result file");
    }
    if (H5Dset_extent(t->set, size) < 0 || (t->scale >= 0 && H5Dset_extent(t->scale, size) < 0))
        return h5_fail(err, "cannot write results");
    return CAROM_OK;
}

carom_status h5_cut(h5_file *f, hsize_t rows, hsize_t events, hsize_t contacts, carom_error *err) {
    h5_hush h;
    h5_hush_begin(&h);
    carom_status status = table_cut(&f->data, rows, err);
    if (status == CAROM_OK && f->time.set >= 0) status = table_cut(&f->time, rows, err);
    for (int i = 0; i < f->nfield && status == CAROM_OK; ++i) status = table_cut(&f->field[i], rows, err);
    if (status == CAROM_OK) status = table_cut(&f->events, events, err);
    if (status == CAROM_OK && f->contacts.set >= 0) status = table_cut(&f->contacts, contacts, err);
    h5_hush_end(&h);
    return status;
}

// -- writing --------------------------------------------------------------------------------------------

// The place of the next row in its buffer; NULL: nothing is written any more.
static unsigned char *table_row(const h5_file *f, const h5_table *t, carom_error *err) {
    if (f->broken.code == CAROM_OK) return t->buffer + (size_t)t->fill * t->row_bytes;
    still_broken(f, err);
    return NULL;
}

double *h5_row(h5_file *f, carom_error *err) {
    return (double *)(void *)table_row(f, &f->data, err);
}

carom_status h5_row_done(h5_file *f, carom_error *err) {
    if (f->time.set >= 0) { // the first column is the time
        memcpy(f->time.buffer + (size_t)f->time.fill * sizeof(double),
               f->data.buffer + (size_t)f->data.fill * f->data.row_bytes, sizeof(double));
        CAROM_TRY(table_next(f, &f->time, err));
    }
    return table_next(f, &f->data, err);
}

double *h5_field_row(h5_file *f, int i, carom_error *err) {
    return (double *)(void *)table_row(f, &f->field[i], err);
}

carom_status h5_field_done(h5_file *f, int i, carom_error *err) {
    return table_next(f, &f->field[i], err);
}

static unsigned char *put_bytes(unsigned char *at, const void *from, size_t size) {
    memcpy(at, from, size);
    return at + size;
}

static unsigned char *put_name(unsigned char *at, const char *name, size_t size) {
    const size_t length = strlen(name);
    memset(at, 0, size);
    memcpy(at, name, length < size ? length : size);
    return at + size;
}

carom_status h5_put_event(h5_file *f, const carom_event *e, const char *contact, carom_error *err) {
    const char *kind = carom_event_word(e->kind);
    unsigned char *at = table_row(f, &f->events, err);
    if (!at) return CAROM_IO;
    at = put_bytes(at, &e->t, sizeof e->t);
    at = put_name(at, contact, f->contact_size);
    at = put_name(at, kind ? kind : "", f->kind_size);
    at = put_bytes(at, &e->before, sizeof e->before);
    at = put_bytes(at, &e->after, sizeof e->after);
    put_bytes(at, &e->impulse, sizeof e->impulse);
    return table_next(f, &f->events, err);
}

carom_status h5_put_contact(h5_file *f, const carom_result_contact *c, carom_error *err) {
    unsigned char *at = table_row(f, &f->contacts, err);
    if (!at) return CAROM_IO;
    put_name(put_bytes(at, c, CONTACT_NUMBERS * sizeof(double)), c->contact, f->contact_size);
    return table_next(f, &f->contacts, err);
}

// The state has become larger.
static bool replace_state(h5_file *f, size_t size) {
    h5_close(f->state);
    f->state = -1;
    f->state_size = size;
    return H5Ldelete(f->file, "state", H5P_DEFAULT) >= 0 && create_state(f);
}

static bool slot_transfer(h5_file *f, int slot, void *in, const void *out) {
    const hsize_t at[2] = {(hsize_t)slot, 0}, count[2] = {1, f->state_size};
    const hid_t file = H5Dget_space(f->state), memory = H5Screate_simple(2, count, NULL);
    bool good = H5Sselect_hyperslab(file, H5S_SELECT_SET, at, NULL, count, NULL) >= 0;
    if (good && in) good = H5Dread(f->state, H5T_NATIVE_UINT8, memory, file, H5P_DEFAULT, in) >= 0;
    if (good && out) good = H5Dwrite(f->state, H5T_NATIVE_UINT8, memory, file, H5P_DEFAULT, out) >= 0;
    h5_close(memory);
    h5_close(file);
    return good;
}

carom_status h5_put_state(h5_file *f, int slot, const void *state, size_t size, carom_error *err) {
    h5_hush h;
    h5_hush_begin(&h);
    const carom_status status = (size == f->state_size || replace_state(f, size)) && slot_transfer(f, slot, NULL, state)
                                    ? CAROM_OK
                                    : h5_fail(err, "cannot write results");
    h5_hush_end(&h);
    return status;
}

carom_status h5_get_state(h5_file *f, int slot, void *state, carom_error *err) {
    h5_hush h;
    h5_hush_begin(&h);
    const carom_status status =
        slot_transfer(f, slot, state, NULL) ? CAROM_OK : h5_fail(err, "cannot read the state in %s", f->name);
    h5_hush_end(&h);
    return status;
}

carom_status h5_put_ledger(h5_file *f, const carom_ledger *l, carom_ledger_names names, carom_error *err) {
    h5_hush h;
    h5_hush_begin(&h);
    bool good = true;
    for (const ledger_entry *e = ledger_table; e->name && good; ++e) {
        const char *text = ledger_is_text(e) ? ledger_get_name(&names, e) : NULL;
        const size_t room = e->kind != LEDGER_JSON                        ? NAME_ROOM
                            : text && strlen(text) >= CAROM_WARNINGS_ROOM ? strlen(text) + 1
                                                                          : CAROM_WARNINGS_ROOM;
        if (e->kind == LEDGER_JSON && !text) continue; // it was not estimated
        if (ledger_is_text(e))
            good = h5_put_text(f->ledger, e->name, text, room);
        else if (e->kind == LEDGER_LONG || e->kind == LEDGER_INT)
            good = h5_put_integer(f->ledger, e->name, (long long)ledger_get(l, e));
        else
            good = h5_put_real(f->ledger, e->name, ledger_get(l, e));
    }
    const carom_status status = good ? CAROM_OK : h5_fail(err, "cannot write the ledger to %s", f->name);
    h5_hush_end(&h);
    return status;
}

static void tables_flushed(h5_file *f) {
    table_flushed(&f->data);
    if (f->time.set >= 0) table_flushed(&f->time);
    table_flushed(&f->events);
    if (f->contacts.set >= 0) table_flushed(&f->contacts);
    for (int i = 0; i < f->nfield; ++i) table_flushed(&f->field[i]);
}

carom_status h5_flush(h5_file *f, carom_error *err) {
    if (f->broken.code != CAROM_OK) return still_broken(f, err);
    h5_hush h;
    h5_hush_begin(&h);
    carom_status status = table_write(f, &f->data, err);
    if (status == CAROM_OK && f->time.set >= 0) status = table_write(f, &f->time, err);
    if (status == CAROM_OK) status = table_write(f, &f->events, err);
    if (status == CAROM_OK && f->contacts.set >= 0) status = table_write(f, &f->contacts, err);
    for (int i = 0; i < f->nfield && status == CAROM_OK; ++i) status = table_write(f, &f->field[i], err);
    if (status == CAROM_OK && (H5Fflush(f->file, H5F_SCOPE_LOCAL) < 0 || !h5_driver_commit(f->file)))
        status = broken(f, err);
    if (status == CAROM_OK) tables_flushed(f);
    h5_hush_end(&h);
    return status;
}

void h5_give_up(h5_file *f, const carom_error *why) {
    if (f->broken.code == CAROM_OK) f->broken = *why;
    h5_driver_abandon(f->file);
}

void h5_destroy(h5_file *f) {
    h5_hush h;
    h5_hush_begin(&h);
    const hid_t inner[] = {f->data.set,       f->time.set, f->events.set, f->events.scale, f->contacts.set,
                           f->contacts.scale, f->run,      f->ledger,     f->state};
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; ++i) h5_close(inner[i]);
    for (int i = 0; i < f->nfield; ++i) {
        h5_close(f->field[i].set);
        free(f->field[i].buffer);
    }
    h5_close(f->file);
    h5_hush_end(&h);
    free(f->data.buffer);
    free(f->events.buffer);
    free(f->time.buffer);
    free(f->contacts.buffer);
    free(f->field);
    free(f->name);
    free(f);
}
