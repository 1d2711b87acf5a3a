// record_state.c: the saved state of a run: what must survive to go on, and whether it belongs to this run.
//
// There are two places for it in a file, written in turn, each with a number and a checksum: a write that was cut off
// leaves the other one.
#define _POSIX_C_SOURCE 200809L
#include "base/pages.h"
#include "io/record.h"
#include "io/snapshots.h"
#include "sim/inspect.h"
#include <carom/version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct state_head {
    uint64_t magic, sequence, checksum; // checksum over all that follows
    int64_t rows, events, contacts, step, row_step, k, sim_bytes, doubles;
} state_head;

static const uint64_t state_magic = UINT64_C(0x326574617473726d); // "mrstate2", read on a machine of this byte order

static uint64_t fnv(uint64_t sum, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) sum = (sum ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return sum;
}

// Of a state and of the run it belongs to: neither goes with another.
static uint64_t checksum(const carom_record *r, const unsigned char *state) {
    const size_t from = offsetof(state_head, checksum) + sizeof(uint64_t);
    return fnv(r->about, state + from, r->state_size - from);
}

// What decides how a run goes on: model, parameters, scheme, options, step.
static uint64_t about_run(const char *text, size_t length, const char *set, const char *scheme, const char *options,
                          double step) {
    const char *const words[] = {set, scheme, options};
    uint64_t sum = fnv(UINT64_C(0xcbf29ce484222325), text ? text : "", text ? strnlen(text, length) : 0);
    for (int i = 0; i < 3; ++i) sum = fnv(sum, words[i] ? words[i] : "", (words[i] ? strlen(words[i]) : 0) + 1);
    return fnv(sum, &step, sizeof step);
}

int record_doubles(const carom_record *r) {
    return r->ndir + 2 * r->nwatched + CAROM_GROUP_ROWS * r->groups->n;
}

size_t record_state_size(const carom_record *r, size_t bytes) {
    return sizeof(state_head) + bytes + sizeof(double) * (size_t)record_doubles(r);
}

// Room for a state of the simulation of so many bytes, which may grow while contacts come and go.
static bool make_room(carom_record *r, size_t bytes) {
    const size_t size = record_state_size(r, bytes);
    if (size == r->state_size) return true;
    unsigned char *more = calloc(1, size);
    if (!more) return false;
    free(r->state);
    r->state = more;
    r->state_size = size;
    return true;
}

carom_status record_pack_state(carom_record *r, carom_error *err) {
    size_t bytes = 0;
    const void *sim = carom_sim_state(r->sim, &bytes);
    if (!make_room(r, bytes)) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory to save the state of the run");
    const state_head head = {.magic = state_magic,
                             .rows = r->rows,
                             .events = r->events,
                             .contacts = r->contacts,
                             .step = r->step,
                             .row_step = r->row_step,
                             .k = r->k,
                             .sim_bytes = (int64_t)bytes,
                             .doubles = record_doubles(r)};
    memcpy(r->state, &head, sizeof head);
    carom_copy_changes(r->state + sizeof head, sim, bytes); // slots without a contact stay untouched
    if (record_doubles(r)) memcpy(r->state + sizeof head + bytes, r->acc, sizeof(double) * (size_t)record_doubles(r));
    r->packed = true;
    return CAROM_OK;
}

carom_status record_put_state(carom_record *r, carom_error *err) {
    state_head head;
    carom_sim_trim(r->sim); // the state of many contacts is large, twice: here, and in pages that the file holds back
                            // until they are whole
    if (!r->packed) CAROM_TRY(record_pack_state(r, err));
    memcpy(&head, r->state, sizeof head);
    head.sequence = ++r->sequence;
    head.checksum = checksum(r, r->state);
    memcpy(r->state, &head, sizeof head);
    const carom_status status = h5_put_state(r->h5, (int)(r->sequence % 2), r->state, r->state_size, err);
    carom_forget(r->state, r->state_size); // it is in the file now
    r->packed = false;
    return status;
}

// Slot is whole, of this model, and speaks only of rows that the file has.
static bool sound(const carom_record *r, const unsigned char *slot, state_head *head) {
    memcpy(head, slot, sizeof *head);
    return head->magic == state_magic && head->checksum == checksum(r, slot) && head->rows >= 0 && head->events >= 0 &&
           head->contacts >= 0 && (r->snapshots == 0 || (uint64_t)head->contacts <= r->h5->contacts.base) &&
           (uint64_t)head->rows <= r->h5->data.base && (uint64_t)head->events <= r->h5->events.base &&
           head->doubles == record_doubles(r) &&
           sizeof *head + (uint64_t)head->sim_bytes + sizeof(double) * (uint64_t)head->doubles == r->state_size;
}

carom_status record_get_state(carom_record *r, const char *file, carom_error *err) {
    state_head best = {0}, head;
    int slot = -1;
    if (!make_room(r, r->h5->state_size - sizeof best - sizeof(double) * (size_t)record_doubles(r)))
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the state in %s", file);
    for (int i = 0; i < 2; ++i) {
        CAROM_TRY(h5_get_state(r->h5, i, r->state, err));
        if (sound(r, r->state, &head) && head.sequence > best.sequence) {
            best = head;
            slot = i;
        }
    }
    if (slot < 0)
        return carom_fail(err, CAROM_IO,
                          "%s contains no state to resume from: it was saved from another result, or its model, "
                          "parameters or options "
                          "were changed; begin at its last row with `start %s`, or run the model again",
                          file, file);
    CAROM_TRY(h5_get_state(r->h5, slot, r->state, err));
    CAROM_TRY(carom_sim_restore(r->sim, r->state + sizeof best, (size_t)best.sim_bytes, err));
    if (record_doubles(r))
        memcpy(r->acc, r->state + sizeof best + best.sim_bytes, sizeof(double) * (size_t)record_doubles(r));
    carom_forget(r->state, r->state_size);
    r->rows = (long)best.rows;
    r->events = (long)best.events;
    r->contacts = (long)best.contacts;
    if (r->snapshots > 0) r->snapped = snapshots_due(carom_sim_now(r->sim).t, r->snapshots, r->h);
    r->step = (long)best.step;
    r->row_step = (long)best.row_step;
    r->k = (long)best.k;
    r->sequence = best.sequence;
    r->next = r->every > 0 ? (r->step / r->every + 1) * r->every : 0;
    r->reacted = true;
    if (r->ndir) carom_copy(r->force, carom_sim_now(r->sim).lasting, r->ndir);
    return h5_cut(r->h5, (hsize_t)best.rows, (hsize_t)best.events, (hsize_t)best.contacts, err);
}

char *record_join(const char *const *list) {
    size_t size = 1;
    for (int i = 0; list && list[i]; ++i) size += strlen(list[i]) + 1;
    char *text = calloc(1, size), *at = text;
    for (int i = 0; text && list && list[i]; ++i) {
        if (i) *at++ = '\n';
        for (const char *s = list[i]; *s; ++s) *at++ = *s == '\n' ? ' ' : *s; // to an expression it is the same
    }
    return text;
}

bool record_identify(carom_record *r, const carom_record_def *def) {
    char *set = record_join(def->set), *options = record_join(def->options);
    const bool good = set && options;
    if (good) r->about = about_run(def->text, def->length, set, carom_sim_scheme(r->sim)->name, options, def->step);
    free(set);
    free(options);
    return good;
}

// What the file says of itself.  The state was saved inside a run; the time that took stands in the ledger of the file.
carom_status record_recall(carom_record *r, const char *file, carom_ledger *l, bool *known, carom_error *err) {
    carom_ledger_names names;
    carom_result *old = carom_result_open(file, err);
    if (!old) return CAROM_IO;
    size_t length = 0;
    double step = NAN;
    const char *text = carom_result_model(old, &length), *version = carom_result_text(old, "version");
    carom_status status = CAROM_OK;
    *known = carom_result_ledger(old, l, &names) && l->seconds >= 0 && l->wall >= 0;
    carom_result_number(old, "step", &step);
    r->about = about_run(text, length, carom_result_text(old, "set"), carom_result_text(old, "scheme"),
                         carom_result_text(old, "options_given"), step);
    if (!version || strcmp(version, CAROM_VERSION) != 0)
        status =
            carom_fail(err, CAROM_BAD_INPUT,
                       "%s was computed by %s%s, this is carom %s, which may round differently; run its model again",
                       file, version ? "carom " : "an unknown version", version ? version : "", CAROM_VERSION);
    double format = 0;
    if (!carom_result_number(old, "state_format", &format)) format = 0; // before they had a number
    if (status == CAROM_OK && format != RECORD_STATE_FORMAT)
        status = carom_fail(err, CAROM_BAD_INPUT,
                            "%s: its saved state has the format of another release (%g, this carom reads %d); begin at "
                            "its last row with `start %s`, or run its model again",
                            file, format, RECORD_STATE_FORMAT, file);
    carom_result_close(old);
    return status;
}
