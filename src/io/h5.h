// h5.h: HDF5 in carom's terms: quiet, checked, with sentences; shared by the writer and the reader.
//
// Attributes that change during a run keep their size, so that rewriting one moves nothing in the file.
#pragma once
#include <carom/result.h>
#include <hdf5.h>

/// HDF5 prints its errors by default.  Between these two it is quiet, and h5_fail() knows the reason of the last
/// failure.
typedef struct h5_hush { H5E_auto2_t function; void *data; char reason[200]; } h5_hush;
void h5_hush_begin(h5_hush *h);
void h5_hush_end(h5_hush *h);

/// CAROM_IO with `what` and HDF5's own reason.
carom_status h5_fail(carom_error *err, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/// Close whatever id is; ids < 0 are fine.
void h5_close(hid_t id);

/// Write an attribute, creating it when it is not there.  Texts are padded to `room` bytes and cut there.
bool h5_put_real(hid_t at, const char *name, double x);
bool h5_put_integer(hid_t at, const char *name, long long x);
bool h5_put_text(hid_t at, const char *name, const char *text, size_t room);

/// Read a scalar attribute: *number, or *text (to be freed) when it is a string of at most `most` bytes.
/// False: not there, or neither.
bool h5_get(hid_t at, const char *name, size_t most, double *number, char **text);

/// A text of so many bytes, UTF-8; pad: H5T_STR_NULLPAD in files, H5T_STR_NULLTERM in memory.  < 0: no such type.
hid_t h5_text_type(size_t size, H5T_str_t pad);
/// A record of numbers and texts.  < 0: no such type.
typedef struct h5_member { const char *name; size_t at, text; } h5_member; // text: its bytes; 0: a double
hid_t h5_record_type(size_t size, const h5_member *member, int n, H5T_str_t pad);

// -- dimensions (h5_scales.c) -----------------------------------------------------------------------

/// A set becomes the scale of a dimension.
bool h5_make_scale(hid_t set, const char *name);
/// A scale without values, with chunk > 0 one that can grow; < 0: failed.
hid_t h5_bare_scale(hid_t at, const char *name, hsize_t size, hsize_t chunk);
/// The dimensions of a set of rank 1 or 2 are these scales.
bool h5_attach_scales(hid_t set, const hid_t *scale, int rank);

/// Open what a path of hard links leads to.  Everything else is refused (< 0): soft, external and user-defined links,
/// data in other files (external storage, virtual sets), filters (unless packed; else deflate and shuffle alone), types
/// whose parts do not lie inside them.  A result needs none of these, and they can make a program read or write other
/// files or memory.
hid_t h5_open_group(hid_t at, const char *path);
hid_t h5_open_set(hid_t at, const char *path);
hid_t h5_open_packed(hid_t at, const char *path);
/// Is there a link of this path, of whatever kind?
bool h5_has(hid_t at, const char *path);

// -- the writer (h5_write.c) ------------------------------------------------------------------------

/// An extendible table of equal rows with a buffer of one chunk.  Rows base .. base + fill - 1 are in the
/// buffer; chunks are written whole, straight from it.  Where a flush has left a part of a chunk in the file, only the
/// rows behind it are written.
typedef struct h5_table {
    hid_t set;
    hsize_t width;    // second dimension; 0: the table has one
    size_t row_bytes;
    hsize_t chunk;    // rows
    hsize_t base, fill;
    unsigned char *buffer;
    hsize_t flushed;  // rows of the chunk that the last flush has written; 0: none
    haddr_t place;    // of the chunk in the file, where flushed > 0
    bool packed;      // compressed: HDF5 writes the rows
    hid_t scale;      // of its rows, which grows with it; < 0: none, or a table of its own
} h5_table;

/// What varies along a flexible member: `/fields/NAME`, a row for every row of /data.
typedef struct h5_field_def {
    char name[160];         // "rod.displacement"
    char components[80];    // "u w angle"
    size_t places, width;   // nodes or elements, values in each
    double *place;          // arc lengths
} h5_field_def;

typedef struct h5_file {
    char *name;
    hid_t file, run, ledger, state;
    h5_table data, events, contacts; // contacts.set < 0: none
    h5_table time;                   // the scale of rows; .set < 0: the file has none
    h5_table *field;
    int nfield;
    size_t contact_size, kind_size; // bytes of the two names in a row of /events
    size_t state_size;              // bytes of one of the two slots of /state
    carom_error broken;             // why nothing is written any more; CAROM_OK: it is
} h5_file;

typedef struct h5_def {
    const char *file;
    size_t columns;
    char *const *column;
    char *const *unit;      // of columns, "": unknown; NULL: all are
    char *const *role;      // of columns: what they are
    bool compress;
    long rows;              // expected, to choose a chunk
    size_t contact_size;    // longest name of a contact
    const h5_field_def *field;
    int nfield;
    const char *text;
    size_t length;
    const carom_matrix_text *matrices;
    int nmatrices;
    size_t state_size;
    bool snapshots;         // of contacts
    bool grows;             // the state may have become larger than that
} h5_def;

bool h5_put_matrices(hid_t file, const carom_matrix_text *list, int n); // h5_matrices.c

h5_file *h5_create(const h5_def *def, carom_error *err);
/// The file is complete enough: give it its name.  keep: see publish().
carom_status h5_publish(h5_file *f, bool keep, carom_error *err);
/// Remove what was not published (h5_destroy() is still due).
void h5_abandon(const h5_file *f);
/// Open a result for writing on; columns must be those of def.
h5_file *h5_reopen(const h5_def *def, carom_error *err);
/// The compound type of a row of /contacts whose name has so many bytes; in memory: as carom_result_contact.
hid_t h5_contact_type(size_t name, bool memory);
carom_status h5_put_contact(h5_file *f, const carom_result_contact *c, carom_error *err);
/// Cut to that many rows, events and rows of contacts, and load what the buffers must hold to go on.
carom_status h5_cut(h5_file *f, hsize_t rows, hsize_t events, hsize_t contacts, carom_error *err);
/// A buffered row to be filled in; h5_row_done() when it is.  NULL: an earlier write failed.
double *h5_row(h5_file *f, carom_error *err);
carom_status h5_row_done(h5_file *f, carom_error *err);
/// The same for field i; its row belongs to the row of /data that is filled in next.
double *h5_field_row(h5_file *f, int i, carom_error *err);
carom_status h5_field_done(h5_file *f, int i, carom_error *err);
carom_status h5_put_event(h5_file *f, const carom_event *e, const char *contact, carom_error *err);
carom_status h5_put_state(h5_file *f, int slot, const void *state, size_t size, carom_error *err);
carom_status h5_get_state(h5_file *f, int slot, void *state, carom_error *err);
carom_status h5_put_ledger(h5_file *f, const carom_ledger *l, carom_ledger_names names, carom_error *err);
/// Everything buffered goes to the file, and the file to the system: all of it, or nothing.
carom_status h5_flush(h5_file *f, carom_error *err);
/// Write nothing any more: what was flushed is the file.
void h5_give_up(h5_file *f, const carom_error *why);
/// Close; what was not flushed is written if nothing failed, and no failure is reported.
void h5_destroy(h5_file *f);
