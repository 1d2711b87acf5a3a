// memory.c: a result that grows in memory.
#define _POSIX_C_SOURCE 200809L
#include "base/grow.h"
#include "sim/ledger.h"
#include "io/result.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static carom_status no_memory(carom_error *err, long rows) {
    return carom_fail(err, CAROM_NO_MEMORY,
                      "not enough memory for more than %ld rows; record fewer (every, dt_out) or to a file", rows);
}

carom_result *memory_create(int columns, char *const *column, long room, const char *text, size_t length,
                            carom_error *err) {
    carom_result *r = calloc(1, sizeof *r);
    if (!r) {
        no_memory(err, 0);
        return NULL;
    }
    r->h5 = r->data = r->event_set = r->contact_set = -1;
    r->file = strdup("the record in memory");
    r->table.column = calloc((size_t)columns, sizeof *r->table.column);
    bool good = r->file && r->table.column;
    for (int i = 0; good && i < columns; ++i) {
        good = (r->table.column[i] = strdup(column[i])) != NULL;
        r->table.columns = i + 1;
    }
    r->room = room > 0 ? room : 1;
    const bool fits = (size_t)r->room <= SIZE_MAX / sizeof(double) / (size_t)columns;
    r->table.value = good && fits ? malloc(sizeof(double) * (size_t)r->room * (size_t)columns) : NULL;
    if (good && text) {
        r->model = strndup(text, length);
        r->model_length = r->model ? strlen(r->model) : 0;
        good = r->model != NULL;
    }
    if (good && r->table.value) return r;
    no_memory(err, r->room);
    carom_result_close(r);
    return NULL;
}

double *memory_row(carom_result *r, carom_error *err) {
    csv_table *t = &r->table;
    if (t->rows == r->room) {
        const size_t width = sizeof(double) * (size_t)t->columns;
        double *more = (size_t)r->room <= SIZE_MAX / 2 / width ? realloc(t->value, 2 * (size_t)r->room * width) : NULL;
        if (!more) return no_memory(err, r->room), NULL;
        t->value = more;
        r->room *= 2;
    }
    return t->value + (size_t)t->rows * (size_t)t->columns;
}

void memory_row_done(carom_result *r) {
    ++r->table.rows;
}

carom_status memory_put_event(carom_result *r, const carom_event *e, const char *contact, carom_error *err) {
    if (!CAROM_GROW(r->event, r->events)) return no_memory(err, r->table.rows);
    carom_result_event *to = &r->event[r->events++];
    memset(to, 0, sizeof *to); // also behind the names: the bytes are looked at as a whole
    to->t = e->t;
    to->before = e->before;
    to->after = e->after;
    to->impulse = e->impulse;
    snprintf(to->contact, sizeof to->contact, "%s", contact);
    snprintf(to->kind, sizeof to->kind, "%s", carom_event_word(e->kind));
    return CAROM_OK;
}

carom_status memory_put_contact(carom_result *r, const carom_result_contact *c, carom_error *err) {
    if (!CAROM_GROW(r->contact, r->contacts)) return no_memory(err, r->table.rows);
    r->contact[r->contacts++] = *c;
    return CAROM_OK;
}

// The attribute of this name, or a new one; NULL: no memory.
static result_attribute *attribute_of(result_attribute *a, int *n, const char *name) {
    for (int i = 0; i < *n; ++i)
        if (strcmp(a[i].name, name) == 0) return &a[i];
    if (*n == RESULT_ATTRIBUTES) return NULL;
    a[*n] = (result_attribute){.name = strdup(name)};
    return a[*n].name ? &a[(*n)++] : NULL;
}

static bool put_text(result_attribute *a, const char *text) {
    char *copy = a ? strdup(text) : NULL;
    if (!copy) return false;
    free(a->text);
    a->text = copy;
    return true;
}

bool memory_put_text(carom_result *r, const char *name, const char *text) {
    return put_text(attribute_of(r->run, &r->nrun, name), text);
}

bool memory_put_real(carom_result *r, const char *name, double x) {
    result_attribute *a = attribute_of(r->run, &r->nrun, name);
    if (a) a->number = x;
    return a != NULL;
}

carom_status memory_put_ledger(carom_result *r, const carom_ledger *l, carom_ledger_names names, carom_error *err) {
    for (const ledger_entry *e = ledger_table; e->name; ++e) {
        result_attribute *a = attribute_of(r->ledger, &r->nledger, e->name);
        const char *text = ledger_is_text(e) ? ledger_get_name(&names, e) : NULL;
        if (!a || (ledger_is_text(e) && !put_text(a, text ? text : ""))) return no_memory(err, r->table.rows);
        if (!ledger_is_text(e)) a->number = ledger_get(l, e);
    }
    return CAROM_OK;
}
