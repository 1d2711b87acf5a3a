// follow_file.c: branches in files, and what a branch must have in common with its file to go on.
#include "base/number.h"
#include "dynamics/follow.h"
#include "io/table.h"
#include "mech/mech.h"
#include "scheme/advice.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of texts, as many digits as tell them apart (Fowler, Noll and Vo).
static char *put_sum(char *at, const carom_matrix_text *m) {
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < m->length; ++i) sum = (sum ^ (unsigned char)m->text[i]) * 1099511628211u;
    return at + sprintf(at, "%s %016" PRIx64 "\n", m->name, sum);
}

static size_t list_size(const char *const *list) {
    size_t size = 1;
    for (int i = 0; list && list[i]; ++i) size += strlen(list[i]) + 1;
    return size;
}

// A line for each; behind it.
static char *put_list(char *at, const char *const *list) {
    for (int i = 0; list && list[i]; ++i) at += sprintf(at, "%s\n", list[i]);
    return at + 1;
}

// What a branch depends on beside the model, for the file: texts that must be the same when it goes on.
enum { NOTES = 12, NUMBERS = 300 };
static bool take_notes(const carom_follow_def *def, carom_table_note note[NOTES], char **own) {
    size_t size = NUMBERS + list_size(def->model.set) + list_size(def->exchange) + list_size(def->run.options) + 1;
    for (int i = 0; i < def->model.nmatrices; ++i) size += strlen(def->model.matrices[i].name) + 20;
    char *text = *own = calloc(size, 1);
    if (!text) return false;
    char *range = text, *step = text + 200, *set = text + NUMBERS, *exchange = put_list(set, def->model.set),
         *options = put_list(exchange, def->exchange);
    carom_format(range, 200, "%.17g:%.17g", def->from, def->to);
    carom_format(step, 60, "%.17g", def->step > 0 ? def->step : FOLLOW_STEP);
    snprintf(step + 60, NUMBERS - 260, "%d", def->switches);
    char *files = put_list(options, def->run.options), *at = files;
    for (int i = 0; i < def->model.nmatrices; ++i) at = put_sum(at, &def->model.matrices[i]);
    const carom_table_note all[NOTES] = {{"by", def->by},
                                         {"model", def->model.text},
                                         {"period", def->period ? def->period : ""},
                                         {"range", range},
                                         {"set", set},
                                         {"exchange", exchange},
                                         {"options", options},
                                         {"scheme", def->run.scheme ? def->run.scheme : CAROM_SCHEME_OF_DERIVATIVES},
                                         {"step", step},
                                         {"switch", step + 60},
                                         {"files", files},
                                         {"response", def->response ? def->response : ""}};
    memcpy(note, all, sizeof all);
    return true;
}

carom_status carom_follow_write(const carom_branch *f, const carom_follow_def *def, const char *file,
                                carom_error *err) {
    if (!f || !def || !file)
        return carom_fail(err, CAROM_BAD_INPUT, "a branch, its definition or the name of a file is missing");
    const size_t n = strlen(file);
    const bool csv = n > 4 && strcmp(file + n - 4, ".csv") == 0;
    char number[40];
    snprintf(number, sizeof number, "%d", f->branches);
    const carom_table tables[2] = {f->branch, f->queue};
    carom_table_note notes[NOTES + 1];
    char *own;
    if (!take_notes(def, notes, &own)) return follow_no_memory(err);
    notes[NOTES] = (carom_table_note){"branches", number};
    carom_mech *mech = carom_mech_read(def->model.text, def->model.length, file, NULL);
    const carom_table_units units = {carom_mech_column_unit, mech};
    const carom_status status = carom_tables_write_units(file, tables, csv || f->queue.columns == 0 ? 1 : 2, notes,
                                                         csv ? 0 : NOTES + 1, &units, err);
    carom_mech_destroy(mech);
    free(own);
    return status;
}

// The file must be of the same model, parameter, range and settings.
static carom_status compare_notes(const carom_follow_def *def, const char *file, carom_error *err) {
    static const char *const word[NOTES] = {"parameter of `by`",
                                            "model",
                                            "`period`",
                                            "range of `by`",
                                            "`set` or `input`",
                                            "`exchange`",
                                            "`option`",
                                            "`scheme`",
                                            "`step`",
                                            "choice of `switch`",
                                            "`matrix` or file of the model",
                                            "`response`"};
    carom_table_note notes[NOTES];
    char *own;
    if (!take_notes(def, notes, &own)) return follow_no_memory(err);
    carom_status status = CAROM_OK;
    for (int i = 0; i < NOTES && status == CAROM_OK; ++i) {
        char *was = carom_table_note_read(file, notes[i].name);
        if (strcmp(was ? was : "", notes[i].text) != 0)
            status =
                carom_fail(err, CAROM_BAD_INPUT,
                           "%.200s was made with another %s; a branch continues with its first settings", file,
                           word[i]);
        free(was);
    }
    free(own);
    return status;
}

carom_status carom_follow_read(carom_branch *f, const carom_follow_def *def, const char *file, carom_error *err) {
    if (!f || !file) return carom_fail(err, CAROM_BAD_INPUT, "a branch or the name of its file is missing");
    *f = (carom_branch){0};
    carom_status status = carom_table_read(file, "branch", &f->branch, err);
    if (status == CAROM_OK) status = carom_table_read(file, "queue", &f->queue, err);
    if (status == CAROM_OK && def) status = compare_notes(def, file, err);
    if (status != CAROM_OK) {
        carom_branch_free(f);
        return status;
    }
    char *number = carom_table_note_read(file, "branches");
    f->branches = number ? atoi(number) : 0;
    free(number);
    return CAROM_OK;
}

void carom_branch_free(carom_branch *f) {
    if (!f) return;
    carom_table_free(&f->branch);
    carom_table_free(&f->queue);
    *f = (carom_branch){0};
}
