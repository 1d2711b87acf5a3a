// problem_file.c: lists of contact problems, and which format a file has.
#define _POSIX_C_SOURCE 200809L
#include "base/missing.h"
#include "base/number.h"
#include "base/text.h"
#include "contact/residual.h"
#include "io/problem_data.h"
#include "io/problem_file.h"
#include "io/whole.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t MOST_TEXT = (size_t)1 << 31; // bytes

// -- lists -------------------------------------------------------------------------------------------------------

carom_problem_list *carom_problems_create(void) { return calloc(1, sizeof(carom_problem_list)); }

void carom_problems_destroy(carom_problem_list *list) {
    if (!list) return;
    for (int i = 0; i < list->n; ++i) problem_data_destroy(list->item[i]);
    free(list->item);
    free(list);
}

int carom_problems_count(const carom_problem_list *list) { return list ? list->n : 0; }
carom_problem *carom_problems_at(carom_problem_list *list, int i) { return list ? &list->item[i]->pb : NULL; }
const char *carom_problems_title(const carom_problem_list *list, int i) {
    if (!list) return NULL;
    return list->item[i]->title ? list->item[i]->title : "";
}

void carom_problems_remove(carom_problem_list *list, int i) {
    if (!list) return;
    problem_data_destroy(list->item[i]);
    for (--list->n; i < list->n; ++i) list->item[i] = list->item[i + 1];
}

carom_status carom_problems_add(carom_problem_list *list, const carom_problem *pb, const double *start,
                                const char *title, carom_error *err) {
    if (!list || !pb) return CAROM_MISSING(err);
    const size_t count = problem_entries(pb, NULL);
    problem_entry *entry = calloc(count + 1, sizeof *entry);
    problem_data *d = NULL;
    if (entry) problem_entries(pb, entry), d = problem_data_create(pb->block, pb->nb, entry, count);
    free(entry);
    for (int i = 0; d && i < pb->n; ++i) d->c[i] = pb->c[i], d->p[i] = start ? start[i] : 0;
    if (d && title && !(d->title = strdup(title))) problem_data_destroy(d), d = NULL;
    return problem_list_append(list, d, err);
}

// -- files -------------------------------------------------------------------------------------------------------

// Every number must be one.
static carom_status check(const problem_data *d, const char *file, carom_error *err) {
    for (int i = 0; i < d->pb.n; ++i)
        if (!isfinite(d->c[i]) || !isfinite(d->p[i]))
            return carom_fail(err, CAROM_BAD_INPUT, "%.200s: row %d of c, or of the start, is not a finite number",
                              file, i);
    for (size_t i = 0; i < d->values; ++i)
        if (!isfinite(d->value[i]))
            return carom_fail(err, CAROM_BAD_INPUT, "%.200s: G has an entry that is not a finite number", file);
    return CAROM_OK;
}

carom_problem_list *carom_problems_read(const char *file, carom_error *err) {
    if (!file) return carom_fail(err, CAROM_BAD_INPUT, "missing file name"), NULL;
    carom_problem_list *list = carom_problems_create();
    carom_status status = CAROM_OK;
    if (!list) return problem_no_memory(err, file), NULL;
    if (fclib_probe(file)) status = fclib_read(list, file, err);
    else {
        size_t length = 0;
        char *text = whole_read(file, MOST_TEXT, &length, err);
        status = !text                                ? CAROM_IO
                 : problem_binary_probe(text, length) ? problem_binary_read(list, text, length, file, err)
                                                      : problem_text_read(list, text, length, file, err);
        free(text);
    }
    for (int i = 0; status == CAROM_OK && i < list->n; ++i) status = check(list->item[i], file, err);
    if (status == CAROM_OK) return list;
    carom_problems_destroy(list);
    return NULL;
}

// Is it a file in the format of FCLIB, by its name?
static bool is_fclib(const char *file) {
    return carom_ends(file, ".h5") || carom_ends(file, ".hdf5");
}

carom_status carom_problems_write(const carom_problem_list *list, const char *file, carom_error *err) {
    if (!list || !file)
        return carom_fail(err, CAROM_BAD_INPUT, "missing problems or file name");
    if (is_fclib(file)) {
        if (list->n == 1) return fclib_write(&list->item[0]->pb, file, list->item[0]->title, false, err);
        return carom_fail(
            err, CAROM_BAD_INPUT,
            "an FCLIB file contains one problem, and there are %d; name a file that ends neither in .h5 nor in .hdf5",
            list->n);
    }
    whole_file w;
    CAROM_TRY(whole_open(&w, file, err));
    const carom_locale locale = carom_locale_begin();
    for (int i = 0; i < list->n; ++i) problem_text_write(w.f, &list->item[i]->pb, list->item[i]->title);
    carom_locale_end(locale);
    return whole_close(&w, true, err);
}

carom_status carom_problem_write_answer(const carom_problem *pb, const char *file, carom_error *err) {
    if (!pb || !file) return carom_fail(err, CAROM_BAD_INPUT, "missing problem or file name");
    if (is_fclib(file)) return fclib_write(pb, file, NULL, true, err);
    whole_file w;
    CAROM_TRY(whole_open(&w, file, err));
    const carom_locale locale = carom_locale_begin();
    fputs("block,row,u,p\n", w.f);
    for (int b = 0; b < pb->nb; ++b)
        for (int i = 0; i < carom_law_rows(pb->block[b].law); ++i)
            fprintf(w.f, "%d,%d,%.17g,%.17g\n", b, i, pb->u[pb->block[b].at + i], pb->p[pb->block[b].at + i]);
    carom_locale_end(locale);
    return whole_close(&w, true, err);
}
