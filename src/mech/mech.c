// mech.c: mechanisms as a whole: made, copied, changed.
#include "base/missing.h"
#include "base/number.h"
#include "base/option.h"
#include "base/unit.h"
#include "mech/datum.h"
#include "mech/keys.h"
#include "mech/mech.h"
#include "mech/pool.h"
#include <carom/option.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const key_group *const top[] = {&carom_key_top, NULL};

carom_mech *carom_mech_create(const char *file) {
    carom_mech *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->memory = calloc(1, sizeof *m->memory);
    if (!file) file = "model";
    m->file = m->memory ? carom_pool_text(m->memory, file, strlen(file)) : NULL;
    if (m->file) return m;
    carom_mech_destroy(m);
    return NULL;
}

void carom_mech_destroy(carom_mech *m) {
    if (!m) return;
    if (m->memory) carom_pool_free(m->memory);
    free(m->memory);
    free(m);
}

void carom_mech_text_free(char *text) { free(text); }

// -- copies ------------------------------------------------------------------------------------------------------

/// A record that is copied, in place: its own data still belong to another mechanism.
typedef struct copying {
    pool *memory;
    void *record;
    bool failed;
} copying;

static void copy_text(copying *c, const char **text, size_t length) {
    if (!*text) return;
    *text = carom_pool_text(c->memory, *text, length);
    c->failed = c->failed || !*text;
}

static void *copy_block(copying *c, const void *from, size_t bytes) {
    void *to = carom_pool_take(c->memory, bytes);
    c->failed = c->failed || !to;
    return to ? memcpy(to, from, bytes) : NULL;
}

static void own_datum(copying *c, carom_datum *d) {
    copy_text(c, &d->text, d->length);
    copy_text(c, &d->of, d->of ? strlen(d->of) : 0);
    if (d->key) {
        carom_datum *key = copy_block(c, d->key, sizeof *key);
        if (key) own_datum(c, key);
        d->key = key;
    }
    if (!d->item) return;
    d->item = copy_block(c, d->item, (size_t)d->count * sizeof *d->item);
    for (int i = 0; i < d->count && !c->failed; ++i) own_datum(c, &d->item[i]);
}

bool carom_datum_own(pool *memory, carom_datum *d) {
    copying c = {.memory = memory};
    own_datum(&c, d);
    return !c.failed;
}

static void own_field(void *user, const carom_key *k) {
    copying *c = user;
    void *field = carom_key_field(c->record, k->at);
    if (c->failed) return;
    if (!carom_key_is_record(k)) {
        own_datum(c, field);
        return;
    }
    const int count = carom_key_count(c->record, k);
    *(void **)field = count ? copy_block(c, *(void **)field, (size_t)count * (*k->groups)->size) : NULL;
    for (int i = 0; i < count && !c->failed; ++i) {
        copying inner = {.memory = c->memory, .record = carom_key_record(c->record, k, i)};
        own_datum(&inner, inner.record); // its name
        carom_key_fields(k->groups, own_field, &inner);
        c->failed = inner.failed;
    }
}

static void own_matrix(copying *c, carom_matrix_text *x) {
    copy_text(c, &x->name, strlen(x->name));
    copy_text(c, &x->text, x->length);
    copy_text(c, &x->file, x->file ? strlen(x->file) : 0);
}

carom_mech *carom_mech_copy(const carom_mech *m) {
    carom_mech *to = m ? carom_mech_create(m->file) : NULL;
    if (!to) return NULL;
    const carom_mech empty = *to;
    copying c = {.memory = to->memory, .record = to};
    *to = *m;
    to->file = empty.file;
    to->memory = empty.memory;
    carom_key_fields(top, own_field, &c);
    if (m->nmatrices) to->matrices = copy_block(&c, m->matrices, (size_t)m->nmatrices * sizeof *m->matrices);
    for (int i = 0; i < m->nmatrices && !c.failed; ++i) own_matrix(&c, &to->matrices[i]);
    if (!c.failed) return to;
    *to = empty;
    carom_mech_destroy(to);
    return NULL;
}

// -- growth ------------------------------------------------------------------------------------------------------

static size_t room_for(size_t n) {
    size_t room = 1;
    while (room < n) room *= 2;
    return n ? room : 0;
}

void *carom_mech_extend(carom_mech *m, void *list, int n, int more, size_t size) {
    unsigned char *old = *(void **)list;
    const size_t count = (size_t)n, room = room_for(count + (size_t)more);
    if (room > room_for(count) || !old) {
        unsigned char *grown = carom_pool_take(m->memory, (room ? room : 1) * size);
        if (!grown) return NULL;
        if (n) memcpy(grown, old, count * size);
        *(void **)list = old = grown;
    }
    return old + count * size;
}

bool carom_datum_add(carom_mech *m, carom_datum *map, const carom_datum *more) {
    if (map->kind == CAROM_ABSENT) {
        *map = *more;
        return true;
    }
    carom_datum *item = carom_pool_take(m->memory, (size_t)(map->count + more->count) * sizeof *item);
    if (!item) return false;
    if (map->count) memcpy(item, map->item, (size_t)map->count * sizeof *item);
    if (more->count) memcpy(item + map->count, more->item, (size_t)more->count * sizeof *item);
    map->item = item;
    map->count += more->count;
    return true;
}

// -- changes -----------------------------------------------------------------------------------------------------

static carom_status no_memory(const carom_mech *m, carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the model %.200s", m->file);
}

static const char *settable_name(const void *user, int i) {
    const carom_mech *m = user;
    if (i < m->parameters.count) return m->parameters.item[i].key->text;
    i -= m->parameters.count;
    return i < m->ninputs ? m->inputs[i].name.text : NULL;
}

static bool is_number(const char *text) {
    char *end = NULL;
    double x;
    size_t at;
    carom_unit u;
    if (carom_quantity_read(text, strlen(text), &x, &u, &at) == CAROM_QUANTITY_READ) return true;
    carom_number(text, &end);
    return end != text && end[strspn(end, " ")] == 0;
}

static bool ends_in_csv(const carom_datum *d) {
    const char *end = d->length > 4 ? d->text + d->length - 4 : "";
    return end[0] == '.' && (end[1] | 32) == 'c' && (end[2] | 32) == 's' && (end[3] | 32) == 'v';
}

// A file of an input is a table of time, NAME.table.
static carom_status follow_table(carom_mech *m, carom_mech_input *in, const carom_datum *file, carom_error *err) {
    const size_t size = in->name.length + 16;
    char *name = carom_pool_take(m->memory, size), *text = carom_pool_take(m->memory, size);
    if (!name || !text) return no_memory(m, err);
    snprintf(name, size, "%s.table", in->name.text);
    snprintf(text, size, "%s(t)", name);
    carom_mech_table *table = NULL;
    for (int i = 0; i < m->ntables; ++i) // of a file that was given before this one
        if (strcmp(m->tables[i].name.text, name) == 0) table = &m->tables[i];
    if (!table) {
        table = carom_mech_extend(m, &m->tables, m->ntables, 1, sizeof *table);
        if (!table) return no_memory(m, err);
        ++m->ntables;
    }
    *table = (carom_mech_table){.name = {.kind = CAROM_TEXT, .text = name, .length = strlen(name), .of = file->of},
                                .file = *file};
    in->signal = (carom_datum){.kind = CAROM_TEXT, .text = text, .length = strlen(text), .of = file->of};
    return CAROM_OK;
}

static carom_status set_input(carom_mech *m, carom_mech_input *in, const carom_datum *value, carom_error *err) {
    in->start = in->signal = (carom_datum){.kind = CAROM_ABSENT};
    if (is_number(value->text)) in->start = *value;
    else if (ends_in_csv(value)) return follow_table(m, in, value, err);
    else in->signal = *value;
    return CAROM_OK;
}

/// Where a parameter stands as the value of a key that wants another unit.
typedef struct uses {
    const void *record;
    const key_group *const *groups; // its variants
    const char *name;               // of the parameter
    const carom_unit *unit;         // that it is given
    const carom_key *misfit;        // NULL: none was found
} uses;

// Keys of the same name may want different units in different variants: the value fits if it fits one of them.
static void see_use(uses *u, const carom_datum *d, const char *key) {
    const carom_key *misfit = NULL;
    carom_unit wanted;
    for (int i = 0; d->kind == CAROM_LIST && i < d->count; ++i) see_use(u, &d->item[i], key);
    if (d->kind != CAROM_TEXT || strcmp(d->text, u->name) != 0) return;
    for (const key_group *const *g = u->groups; *g; ++g)
        for (int i = 0; carom_key_at(*g, i); ++i) {
            const carom_key *k = carom_key_at(*g, i);
            if (strcmp(k->name, key) != 0) continue;
            if (!carom_unit_read(k->unit, strlen(k->unit), &wanted) || carom_unit_fits(u->unit, &wanted)) return;
            misfit = k;
        }
    if (misfit) u->misfit = misfit;
}

static void see_field(void *user, const carom_key *k) {
    uses *u = user;
    if (!carom_key_is_record(k)) {
        const carom_datum *d = carom_key_field(u->record, k->at);
        if ((k->kind == KEY_NUMBER || k->kind == KEY_EXPRESSION || k->kind == KEY_FORM) && d->key)
            see_use(u, d, d->key->text);
        return;
    }
    for (int i = 0; i < carom_key_count(u->record, k); ++i) {
        uses inner = {.record = carom_key_record(u->record, k, i),
                      .groups = k->groups,
                      .name = u->name,
                      .unit = u->unit,
                      .misfit = u->misfit};
        carom_key_fields(k->groups, see_field, &inner);
        u->misfit = inner.misfit;
    }
}

// The parameter is given a unit: do all keys want it whose value it is?
static carom_status see_uses(const carom_mech *m, const char *name, const carom_unit *unit, const char *of,
                             carom_error *err) {
    uses u = {.record = m, .groups = top, .name = name, .unit = unit};
    carom_key_fields(top, see_field, &u);
    if (!u.misfit) return CAROM_OK;
    if (strcmp(u.misfit->unit, "1") == 0)
        return carom_fail(err, CAROM_BAD_INPUT, "%s: '%.60s' is given for %s, which is a number without a unit", of,
                          name, u.misfit->name);
    return carom_fail(err, CAROM_BAD_INPUT, "%s: '%.60s' is given for %s, which is in %s", of, name, u.misfit->name,
                      u.misfit->unit);
}

// Component k of a vector of n numbers, which is zero where it is not given.
static carom_datum *component(carom_mech *m, carom_datum *list, int n, int k) {
    carom_datum *item = carom_pool_take(m->memory, (size_t)n * sizeof *item);
    if (!item) return NULL;
    for (int j = 0; j < n; ++j)
        item[j] =
            list->kind == CAROM_LIST ? list->item[j] : (carom_datum){.kind = CAROM_NUMBER, .text = "", .of = "`set`"};
    list->kind = CAROM_LIST, list->count = n, list->item = item;
    return &item[k];
}

// Where the initial value stands: x and x' of a coordinate; of a state; of a body whose place is given b.x, b.y, b.z,
// b.vx, b.vy, b.vz and, of a planar one, b.angle.  NULL: there is no such name.
static carom_datum *initial(carom_mech *m, const char *word) {
    const size_t n = strlen(word);
    const bool rate = n > 1 && word[n - 1] == '\'';
    for (int i = 0; i < m->ncoordinates; ++i) {
        const char *name = m->coordinates[i].name.text;
        if (strlen(name) == n - rate && strncmp(name, word, n - rate) == 0)
            return rate ? &m->coordinates[i].rate : &m->coordinates[i].at;
    }
    for (int i = 0; i < m->nstates; ++i)
        if (strcmp(m->states[i].name.text, word) == 0) return &m->states[i].at;
    const char *dot = strrchr(word, '.');
    for (int i = 0; i < m->nbodies && dot; ++i) {
        carom_mech_body *b = &m->bodies[i];
        if (strlen(b->name.text) != (size_t)(dot - word) || strncmp(b->name.text, word, (size_t)(dot - word)) != 0 ||
            b->motion || b->at.kind != CAROM_LIST)
            continue;
        const bool fast = dot[1] == 'v';
        const char *const axes = "xyz", *axis = dot[1 + fast] && !dot[2 + fast] ? strchr(axes, dot[1 + fast]) : NULL;
        if (b->at.count == 2 && strcmp(dot, ".angle") == 0) return &b->angle;
        if (axis && axis - axes < b->at.count &&
            (!fast || b->velocity.kind != CAROM_LIST || b->velocity.count == b->at.count))
            return component(m, fast ? &b->velocity : &b->at, b->at.count, (int)(axis - axes));
    }
    return NULL;
}

// What the file says of its runs: simulation.end, simulation.step.  NULL: the name is another one.
static carom_datum *setting(carom_mech *m, const char *word) {
    const bool end = strcmp(word, "simulation.end") == 0;
    if (!end && strcmp(word, "simulation.step") != 0) return NULL;
    if (!m->simulation) m->simulation = carom_pool_take(m->memory, sizeof *m->simulation);
    if (!m->simulation) return NULL;
    return end ? &m->simulation->end : &m->simulation->step;
}

carom_status carom_mech_set(carom_mech *m, const char *set, carom_error *err) {
    if (!set) return CAROM_MISSING(err);
    const char *sign = strchr(set, '=');
    char word[128];
    if (!sign || sign == set) return carom_fail(err, CAROM_BAD_INPUT, "`set %.100s`: expected NAME=VALUE", set);
    snprintf(word, sizeof word, "%.*s", (int)(sign - set < 127 ? sign - set : 127), set);
    carom_datum *d = (carom_datum *)carom_datum_get(&m->parameters, word);
    carom_mech_input *in = NULL;
    for (int i = 0; i < m->ninputs && !in; ++i)
        if (strcmp(m->inputs[i].name.text, word) == 0) in = &m->inputs[i];
    carom_datum *start = d || in ? NULL : initial(m, word);
    if (!d && !in && !start) start = setting(m, word);
    if (!d && !in && !start) {
        const char *near = carom_nearest(word, settable_name, m), *option = m->ninputs ? "`set` or `input`" : "`set`",
                   *what = m->ninputs ? "parameter, input or initial value" : "parameter or initial value";
        if (near)
            return carom_fail(err, CAROM_BAD_INPUT, "%s %.100s: the model has no %s '%.60s'; did you mean '%s'?",
                              option, set, what, word, near);
        return carom_fail(err, CAROM_BAD_INPUT, "%s %.100s: the model has no %s '%.60s'; `carom info` lists them",
                          option, set, what, word);
    }
    const char *option = in ? "`input`" : "`set`";
    char *of = carom_pool_take(m->memory, strlen(set) + 9),
         *text = carom_pool_text(m->memory, sign + 1, strlen(sign + 1));
    if (!of || !text) return no_memory(m, err);
    if (start && start == setting(m, word))
        snprintf(of, strlen(set) + 9, "`%s` %.100s", strchr(word, '.') + 1, sign + 1);
    else snprintf(of, strlen(set) + 9, "%s %.100s", option, set);
    const carom_datum value = {.kind = CAROM_TEXT,
                               .text = text,
                               .length = strlen(text),
                               .key = d       ? d->key
                                      : start ? start->key
                                              : NULL,
                               .of = of};
    if (start) return *start = value, CAROM_OK;
    const carom_datum *old = d ? d : carom_given(&in->start);
    carom_unit was, is;
    double x;
    size_t at;
    const bool has_unit = carom_quantity_read(text, strlen(text), &x, &is, &at) == CAROM_QUANTITY_READ;
    if (has_unit && old && old->kind == CAROM_TEXT &&
        carom_quantity_read(old->text, old->length, &x, &was, &at) == CAROM_QUANTITY_READ &&
        !carom_unit_fits(&is, &was))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "%s: '%.60s' is %.60s in the model, which is a quantity of another kind", of, word,
                          old->text);
    if (has_unit && d) CAROM_TRY(see_uses(m, word, &is, of, err));
    if (in) return set_input(m, in, &value, err);
    *d = value;
    return CAROM_OK;
}

carom_status carom_mech_add_matrix(carom_mech *m, const carom_matrix_text *matrix, carom_error *err) {
    if (!m || !matrix || !matrix->name || !matrix->text) return CAROM_MISSING(err);
    carom_error own;
    if (!err) err = &own;
    for (int i = 0; i < m->nmatrices; ++i)
        if (strcmp(m->matrices[i].name, matrix->name) == 0)
            return carom_fail(err, CAROM_BAD_INPUT, "%.300s: the matrix '%.60s' is given twice", m->file, matrix->name);
    copying c = {.memory = m->memory};
    carom_matrix_text *list = carom_pool_take(m->memory, ((size_t)m->nmatrices + 1) * sizeof *list);
    if (!list) return no_memory(m, err);
    if (m->nmatrices) memcpy(list, m->matrices, (size_t)m->nmatrices * sizeof *list);
    list[m->nmatrices] = *matrix;
    // byte order mark
    if (matrix->length >= 3 && memcmp(matrix->text, "\xEF\xBB\xBF", 3) == 0)
        list[m->nmatrices].text += 3, list[m->nmatrices].length -= 3;
    if (!matrix->file) list[m->nmatrices].file = matrix->name;
    own_matrix(&c, &list[m->nmatrices]);
    if (c.failed) return no_memory(m, err);
    m->matrices = list;
    ++m->nmatrices;
    return CAROM_OK;
}
