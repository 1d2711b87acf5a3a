// save.c: a result that is open, from memory or from a file, written to a file of another name.  What it says of the
// run goes with it; a saved result cannot be resumed, since the state of the scheme is not part of a result.
#define _POSIX_C_SOURCE 200809L
#include "base/text.h"
#include "sim/ledger.h"
#include "io/result.h"
#include <stdlib.h>
#include <string.h>

typedef struct target {
    h5_file *h5; // or
    csv_file *csv;
} target;

static carom_event_kind kind_of(const char *word) {
    for (int k = 0; carom_event_word((carom_event_kind)k); ++k)
        if (strcmp(carom_event_word((carom_event_kind)k), word) == 0) return (carom_event_kind)k;
    return (carom_event_kind)-1; // no word
}

static carom_status put_rows(carom_result *r, const target *to, carom_error *err) {
    for (long i = 0; i < carom_result_rows(r); ++i) {
        double *row = to->h5 ? h5_row(to->h5, err) : to->csv->row;
        if (!row) return CAROM_IO;
        CAROM_TRY(carom_result_read_rows(r, i, 1, row, err));
        CAROM_TRY(to->h5 ? h5_row_done(to->h5, err) : csv_row_done(to->csv, err));
    }
    return CAROM_OK;
}

static carom_status put_events(carom_result *r, const target *to, carom_error *err) {
    carom_result_event e;
    for (long i = 0; i < carom_result_event_count(r); ++i) {
        CAROM_TRY(carom_result_events(r, i, 1, &e, err));
        const carom_event event = {
            .t = e.t, .kind = kind_of(e.kind), .before = e.before, .after = e.after, .impulse = e.impulse};
        CAROM_TRY(to->h5 ? h5_put_event(to->h5, &event, e.contact, err)
                         : csv_put_event(to->csv, &event, e.contact, err));
    }
    carom_result_contact c;
    for (long i = 0; i < carom_result_contact_count(r); ++i) {
        CAROM_TRY(carom_result_contacts(r, i, 1, &c, err));
        CAROM_TRY(to->h5 ? h5_put_contact(to->h5, &c, err) : csv_put_contact(to->csv, &c, err));
    }
    return CAROM_OK;
}

static carom_status put_run(const carom_result *r, h5_file *f, carom_error *err) {
    h5_hush h;
    h5_hush_begin(&h);
    bool good = true;
    for (int i = 0; good && i < r->nrun; ++i)
        good = r->run[i].text ? h5_put_text(f->run, r->run[i].name, r->run[i].text, strlen(r->run[i].text))
                              : h5_put_real(f->run, r->run[i].name, r->run[i].number);
    const carom_status status = good ? CAROM_OK : h5_fail(err, "cannot write %s", f->name);
    h5_hush_end(&h);
    carom_ledger ledger;
    carom_ledger_names names;
    if (status == CAROM_OK && carom_result_ledger(r, &ledger, &names)) return h5_put_ledger(f, &ledger, names, err);
    return status;
}

// Bytes of the longest name of a contact.
static size_t longest_contact(const carom_result *r) {
    size_t most = 1;
    if (r->h5 >= 0) return sizeof r->event->contact - 1; // they are in a file
    for (long i = 0; i < r->events; ++i) {
        const size_t length = strlen(r->event[i].contact);
        if (length > most) most = length;
    }
    for (long i = 0; i < r->contacts; ++i) {
        const size_t length = strlen(r->contact[i].contact);
        if (length > most) most = length;
    }
    return most;
}

static carom_status save_h5(carom_result *r, const char *file, carom_error *err) {
    h5_def def = {.file = file,
                  .columns = (size_t)r->table.columns,
                  .column = r->table.column,
                  .rows = r->table.rows + 1,
                  .contact_size = longest_contact(r),
                  .text = r->model,
                  .length = r->model_length,
                  .state_size = 1,
                  .snapshots = r->contacts > 0};
    CAROM_TRY(carom_result_matrices(r, &def.matrices, &def.nmatrices, err));
    enum { ROOM = 80 }; // bytes of a unit
    char *units = calloc((size_t)r->table.columns, ROOM), **unit = calloc((size_t)r->table.columns, sizeof *unit);
    for (int i = 0; units && unit && i < r->table.columns; ++i) {
        unit[i] = units + (size_t)i * ROOM;
        if (!carom_result_unit(r, r->table.column[i], unit[i], ROOM)) unit[i][0] = 0;
    }
    def.unit = units && unit ? unit : NULL;
    const target to = {.h5 = h5_create(&def, err)};
    free(units), free(unit);
    if (!to.h5) return CAROM_IO;
    carom_status status = put_rows(r, &to, err);
    if (status == CAROM_OK) status = put_events(r, &to, err);
    if (status == CAROM_OK) status = result_h5_copy_fields(r, to.h5->file, err);
    if (status == CAROM_OK) status = put_run(r, to.h5, err);
    if (status == CAROM_OK) status = h5_flush(to.h5, err);
    if (status == CAROM_OK) status = h5_publish(to.h5, false, err);
    else h5_abandon(to.h5);
    h5_destroy(to.h5);
    return status;
}

static carom_status save_csv(carom_result *r, const char *file, carom_error *err) {
    const target to = {
        .csv = csv_create(file, false, NULL, r->table.columns, r->table.column, NULL, r->contacts > 0, err)};
    if (!to.csv) return CAROM_IO;
    carom_status status = put_rows(r, &to, err);
    if (status == CAROM_OK) status = put_events(r, &to, err);
    const carom_status closed = csv_destroy(to.csv, status == CAROM_OK ? err : NULL);
    return status == CAROM_OK ? closed : status;
}

carom_status carom_result_save(carom_result *r, const char *file, carom_error *err) {
    if (!r || !file) return carom_fail(err, CAROM_BAD_INPUT, "a result is saved under a name");
    if (carom_ends(file, ".csv")) return save_csv(r, file, err);
    if (carom_ends(file, ".h5")) return save_h5(r, file, err);
    return carom_fail(err, CAROM_BAD_INPUT, "'%.400s' ends neither in .h5 nor in .csv", file);
}
