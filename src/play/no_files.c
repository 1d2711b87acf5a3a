// no_files.c: in the place of HDF5 and CSV files in a program whose records stay in memory: no record comes here.
#include "io/publish.h"
#include "io/result.h"
#include <stdlib.h>

#define NOT_HERE(result, call) result call { abort(); }

void h5_hush_begin(h5_hush *h) { (void)h; }
void h5_hush_end(h5_hush *h) { (void)h; }
void result_h5_close(carom_result *r) { (void)r; }

carom_status h5_fail(carom_error *err, const char *format, ...) {
    return carom_fail(err, CAROM_NO_MEMORY, "no memory (%s)", format);
}
carom_status result_h5_open(carom_result *r, carom_error *err) {
    return carom_fail(err, CAROM_UNSUPPORTED, "cannot read %.400s: file access is not available", r->file);
}
carom_status csv_read(csv_table *t, const char *file, carom_error *err) {
    return (void)t, carom_fail(err, CAROM_UNSUPPORTED, "cannot read %.400s: file access is not available", file);
}
h5_file *h5_create(const h5_def *def, carom_error *err) {
    return (void)def, carom_fail(err, CAROM_UNSUPPORTED, "file access is not available"), NULL;
}
h5_file *h5_reopen(const h5_def *def, carom_error *err) { return h5_create(def, err); }

csv_file *csv_create(const char *file, bool keep, FILE *stream, int columns, char *const *column, char *const *unit,
                     bool snapshots, carom_error *err) {
    (void)file, (void)keep, (void)stream, (void)columns, (void)column, (void)unit, (void)snapshots;
    return carom_fail(err, CAROM_UNSUPPORTED, "file access is not available"), NULL;
}

#pragma GCC diagnostic ignored "-Wunused-parameter"
NOT_HERE(carom_status, result_h5_rows(carom_result *r, int column, int columns, long first, long count, double *out,
                                      carom_error *err))
NOT_HERE(carom_status,
         result_h5_events(carom_result *r, long first, long count, carom_result_event *out, carom_error *err))
NOT_HERE(carom_status,
         result_h5_contacts(carom_result *r, long first, long count, carom_result_contact *out, carom_error *err))
NOT_HERE(carom_status,
         csv_rows(const csv_table *t, int column, int columns, long first, long count, double *out, carom_error *err))
NOT_HERE(carom_status, csv_read_events(const char *file, carom_result_event **event, long *count, carom_error *err))
NOT_HERE(carom_status,
         csv_read_contacts(const char *file, carom_result_contact **contact, long *count, carom_error *err))
NOT_HERE(carom_status, csv_row_done(csv_file *f, carom_error *err))
NOT_HERE(carom_status, csv_put_event(csv_file *f, const carom_event *e, const char *contact, carom_error *err))
NOT_HERE(carom_status, csv_put_contact(csv_file *f, const carom_result_contact *c, carom_error *err))
NOT_HERE(carom_status, csv_flush(csv_file *f, carom_error *err))
NOT_HERE(carom_status, csv_destroy(csv_file *f, carom_error *err))
NOT_HERE(void, csv_for_good(csv_file *f))
NOT_HERE(void, publish_for_good(const char *name))
NOT_HERE(carom_status, h5_publish(h5_file *f, bool keep, carom_error *err))
NOT_HERE(void, h5_abandon(const h5_file *f))
NOT_HERE(double *, h5_row(h5_file *f, carom_error *err))
NOT_HERE(carom_status, h5_row_done(h5_file *f, carom_error *err))
NOT_HERE(double *, h5_field_row(h5_file *f, int i, carom_error *err))
NOT_HERE(carom_status, h5_field_done(h5_file *f, int i, carom_error *err))
NOT_HERE(carom_status, h5_put_event(h5_file *f, const carom_event *e, const char *contact, carom_error *err))
NOT_HERE(carom_status, h5_put_contact(h5_file *f, const carom_result_contact *c, carom_error *err))
NOT_HERE(carom_status, h5_put_state(h5_file *f, int slot, const void *state, size_t size, carom_error *err))
NOT_HERE(carom_status, h5_get_state(h5_file *f, int slot, void *state, carom_error *err))
NOT_HERE(carom_status, h5_put_ledger(h5_file *f, const carom_ledger *l, carom_ledger_names names, carom_error *err))
NOT_HERE(carom_status, h5_cut(h5_file *f, hsize_t rows, hsize_t events, hsize_t contacts, carom_error *err))
NOT_HERE(carom_status, h5_flush(h5_file *f, carom_error *err))
NOT_HERE(void, h5_give_up(h5_file *f, const carom_error *why))
NOT_HERE(void, h5_destroy(h5_file *f))
NOT_HERE(bool, h5_put_text(hid_t at, const char *name, const char *text, size_t room))
NOT_HERE(bool, h5_put_real(hid_t at, const char *name, double x))
NOT_HERE(bool, h5_put_integer(hid_t at, const char *name, long long x))
NOT_HERE(bool, h5_get(hid_t at, const char *name, size_t most, double *number, char **text))
