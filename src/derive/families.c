// families.c: names that stand for many parts: `repeat`, one entry for many; a body, for all its shapes.
//
// The mechanism keeps the family as it was given.  Here it becomes records like all others, in a mechanism of the
// model's own: a member is called NAME.0, and those of its expressions that use an index know what it stands for.  A
// family is named by its name where shapes of contacts are listed; a member by its own name or as NAME[expression of
// indices].
#include "derive/resolver.h"
#include "base/text.h"
#include "expr/expr.h"
#include "mech/keys.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_MEMBERS = 1000000 }; // a safeguard against mistakes

typedef struct family {
    const char *name;
    int count[3], n; // members along each of n indices
    char *member;    // names of all members, `stride` bytes each; NULL: not made yet
    size_t stride;
} family;

/// Bodies `first` to before `first + count` of a mechanism without families: members of one that share a record, the
/// first one's.  The places of the others are not touched and take no memory.
struct body_run {
    int first, count;
    carom_mech_body *record;
    carom_datum name;       // of the family
    carom_indices *indices; // of the one that the record is for
    const family *of;
};

typedef struct families {
    resolver *r;
    family *list;
    int n;
    const carom_indices *indices; // of the record that is made; NULL: it is of no family
    void *record;
    bool indexed;                 // look_for_index() found one
    carom_status status;
} families;

// A section whose records may be families.
typedef struct section {
    const char *key;
    size_t list, count, size, repeat, index, member;
    const char *each; // key of the record behind repeat
} section;

#define SECTION(list_, record_)                                                                                        \
    {                                                                                                                  \
#list_, offsetof(carom_mech, list_), offsetof(carom_mech, n##list_), sizeof(carom_mech_##record_),             \
            offsetof(carom_mech_##record_, repeat), offsetof(carom_mech_##record_, index),                             \
            offsetof(carom_mech_##record_, record_), #record_                                                          \
    }
static const section sections[] = {SECTION(bodies, body), SECTION(joints, joint), SECTION(ropes, rope),
                                   SECTION(springs, spring),
                                   SECTION(contacts, contact)};
enum { SECTIONS = sizeof sections / sizeof *sections };

static const carom_datum *datum_at(const void *record, size_t at) { return carom_given(carom_key_field(record, at)); }
static const unsigned char *records_of(const carom_mech *x, const section *s) {
    return *(void *const *)carom_key_field(x, s->list);
}
static int count_of(const carom_mech *x, const section *s) { return *(const int *)carom_key_field(x, s->count); }

static int members(const family *f) { return f->count[0] * f->count[1] * f->count[2]; }

// ".1.0.2" of member k; the last index runs fastest.
static void number(const family *f, int k, int *at) {
    for (int i = f->n - 1; i >= 0; --i) at[i] = k % f->count[i], k /= f->count[i];
}

static size_t spell_member(const family *f, int k, char *text, size_t room) {
    int at[3];
    number(f, k, at);
    size_t used = (size_t)snprintf(text, room, "%.80s", f->name);
    for (int i = 0; i < f->n; ++i) used += (size_t)snprintf(text + used, room - used, ".%d", at[i]);
    return used;
}

static const char *member_name(const family *f, int k) { return f->member + (size_t)k * f->stride; }

// The last name is the longest.  NULL: no memory
static const char *name_of(const families *x, family *f, int k) {
    enum { ROOM = 128 };
    char text[ROOM];
    if (!f->member) {
        f->stride = spell_member(f, members(f) - 1, text, ROOM) + 1;
        f->member = carom_pool_take(&x->r->m->memory, (size_t)members(f) * f->stride);
        for (int i = 0; f->member && i < members(f); ++i)
            spell_member(f, i, f->member + (size_t)i * f->stride, f->stride);
    }
    return f->member ? member_name(f, k) : NULL;
}

// -- what is given of a family ----------------------------------------------------------------------------------------

static carom_status read_repeat(resolver *r, const carom_datum *repeat, family *f) {
    double all = 1;
    if (repeat->kind == CAROM_MAP || (repeat->kind == CAROM_LIST && (repeat->count < 1 || repeat->count > 3)))
        return carom_fault(r, repeat, 0, "repeat is a number, or a list of up to three: repeat: [10, 10]");
    for (const carom_datum *c = carom_ones(repeat); c != carom_ones_end(repeat); ++c, ++f->n) {
        double x = 0;
        CAROM_TRY(carom_resolve_number(r, c, "repeat", &x));
        if (!(x >= 1 && x == floor(x)))
            return carom_fault(r, c, 0, "repeat must be an integer of at least 1, got %g", x);
        all *= x;
        if (all > MOST_MEMBERS) return carom_fault(r, c, 0, "'%.60s' has more than %d members", f->name, MOST_MEMBERS);
        f->count[f->n] = (int)x;
    }
    for (int i = f->n; i < 3; ++i) f->count[i] = 1;
    return CAROM_OK;
}

static carom_status read_index(resolver *r, const carom_datum *repeat, const carom_datum *index, const family *f,
                               const char **name) {
    static const char *const usual[] = {"i", "j", "k"};
    if (index && (index->kind == CAROM_MAP || (index->kind == CAROM_LIST ? index->count : 1) != f->n))
        return carom_fault(r, index, 0, "index names each of the %d indices once", f->n);
    for (int i = 0; i < f->n; ++i) {
        carom_datum d = index ? carom_ones(index)[i] : *repeat;
        if (!index) d.kind = CAROM_TEXT, d.text = usual[i], d.length = 1;
        if (d.kind != CAROM_TEXT) return carom_fault(r, &d, 0, "the name of an index is a word");
        if (!index && carom_names_find(&r->m->names, usual[i], 1))
            return carom_fault(
                r, repeat, 0,
                "'%s' is an index here, and the model has a name '%s' of its own; name the indices: index: [a, b, c]",
                usual[i], usual[i]);
        if (index) CAROM_TRY(carom_new_name(r, &d, false, &r->m->names));
        name[i] = d.text;
        for (int k = 0; k < i; ++k)
            if (strcmp(name[k], name[i]) == 0) return carom_fault(r, &d, 0, "two indices are called '%.60s'", name[i]);
    }
    return CAROM_OK;
}

// -- names of members -------------------------------------------------------------------------------------------------

static family *find(const families *x, const char *text, size_t length) {
    for (int i = 0; i < x->n; ++i)
        if (strlen(x->list[i].name) == length && strncmp(x->list[i].name, text, length) == 0) return &x->list[i];
    return NULL;
}

// One of the numbers in brackets: an expression of indices and parameters from byte `from` to `to` of d.
static carom_status read_place(families *x, const carom_datum *d, size_t from, size_t to, const family *f, int k,
                               int *at) {
    carom_node node = CAROM_NONE;
    double value = 0;
    CAROM_TRY(carom_resolve_part(x->r, d, from, to, NAME_PARAMETER | SCOPE_VALUES, "the number of a member", &node));
    if (!carom_graph_is_number(x->r->values, node, &value) || value != floor(value))
        return carom_fault(x->r, d, from, "this is %g; the number of a member is a whole one", value);
    if (!(value >= 0 && value < f->count[k]))
        return carom_fault(x->r, d, from, "'%.60s' has no member %g here; they are numbered from 0 to %d", f->name,
                           value, f->count[k] - 1);
    *at = (int)value;
    return CAROM_OK;
}

// NAME[a, b] at byte `from` of d, whose bracket opens at `open`: puts NAME.1.2 to `to`; *end: behind the bracket.
static carom_status read_member(families *x, const carom_datum *d, size_t from, size_t open, char *to, size_t room,
                                size_t *end) {
    const family *f = find(x, d->text + from, open - from);
    if (!f)
        return carom_fault(x->r, d, from, "unknown family '%.*s'; only members of families have numbers",
                           (int)(open - from < 60 ? open - from : 60), d->text + from);
    int used = snprintf(to, room, "%.80s", f->name), depth = 0, k = 0;
    size_t start = open + 1, i = start;
    for (; i < d->length && (depth > 0 || d->text[i] != ']' || k < f->n); ++i) {
        const char c = d->text[i];
        depth += (c == '(') - (c == ')');
        if (depth > 0 || (c != ',' && c != ']')) continue;
        if (k == f->n || (c == ']') != (k == f->n - 1))
            return carom_fault(x->r, d, i, "'%.60s' has %d %s", f->name, f->n, f->n == 1 ? "index" : "indices");
        int at = 0;
        CAROM_TRY(read_place(x, d, start, i, f, k++, &at));
        used += snprintf(to + used, room - (size_t)used, ".%d", at);
        start = i + 1;
        if (c == ']') break;
    }
    if (i == d->length) return carom_fault(x->r, d, open, "the bracket is not closed");
    *end = i + 1;
    return CAROM_OK;
}

static carom_status name_members(families *x, carom_datum *d) {
    char text[2000];
    size_t used = 0;
    for (size_t i = 0; i < d->length;) {
        size_t name = i;
        while (name < d->length && carom_in_name(d->text[name])) ++name;
        if (name > i && name < d->length && d->text[name] == '[') {
            if (used + 300 > sizeof text)
                return carom_fault(x->r, d, 0, "this expression is too long for numbers of members");
            CAROM_TRY(read_member(x, d, i, name, text + used, 140, &i));
            used += strlen(text + used);
        } else {
            const size_t length = name > i ? name - i : 1;
            if (used + length + 160 > sizeof text)
                return carom_fault(x->r, d, 0, "this expression is too long for numbers of members");
            memcpy(text + used, d->text + i, length);
            used += length;
            i += length;
        }
        text[used] = 0;
    }
    d->text = carom_pool_text(&x->r->m->memory, text, used);
    d->length = used;
    d->aligned = false;
    return d->text ? CAROM_OK : carom_fault_memory(x->r);
}

// -- members ----------------------------------------------------------------------------------------------------------

static bool uses(const carom_datum *d, const carom_indices *indices) {
    if (d->kind >= CAROM_LIST) {
        for (const carom_datum *c = carom_first(d); c != carom_end(d); ++c)
            if (uses(c, indices)) return true;
        return false;
    }
    if (d->kind != CAROM_TEXT) return false;
    if (strchr(d->text, '[')) return true;
    for (const char *c = d->text; indices && *c;) {
        const char *end = c;
        while (carom_in_name(*end)) ++end;
        for (int i = 0; i < indices->n; ++i)
            if ((size_t)(end - c) == strlen(indices->name[i]) && strncmp(c, indices->name[i], (size_t)(end - c)) == 0)
                return true;
        c = end + (end == c);
    }
    return false;
}

static carom_status bind(families *x, carom_datum *d) {
    if (!uses(d, x->indices)) return CAROM_OK;
    if (d->kind == CAROM_TEXT) {
        d->indices = x->indices;
        return strchr(d->text, '[') ? name_members(x, d) : CAROM_OK;
    }
    carom_datum *item = carom_pool_take(&x->r->m->memory, (size_t)d->count * sizeof *item);
    if (!item) return carom_fault_memory(x->r);
    memcpy(item, d->item, (size_t)d->count * sizeof *item);
    d->item = item;
    for (int i = 0; i < d->count; ++i) CAROM_TRY(bind(x, &item[i]));
    return CAROM_OK;
}

// Does a field of the record use an index?  Then x->indexed.
static void look_for_index(void *user, const carom_key *k) {
    families *x = user;
    if (!carom_key_is_record(k)) {
        x->indexed = x->indexed || uses(carom_key_field(x->record, k->at), x->indices);
        return;
    }
    for (int i = 0; i < carom_key_count(x->record, k) && !x->indexed; ++i) {
        families inner = *x;
        inner.record = carom_key_record(x->record, k, i);
        carom_key_fields(k->groups, look_for_index, &inner);
        x->indexed = inner.indexed;
    }
}

// Records inside that use no index are the same for all members.
static void bind_field(void *user, const carom_key *k) {
    families *x = user;
    void *field = carom_key_field(x->record, k->at);
    if (x->status != CAROM_OK) return;
    if (!carom_key_is_record(k)) {
        x->status = bind(x, field);
        return;
    }
    const size_t size = (*k->groups)->size;
    const int count = carom_key_count(x->record, k);
    x->indexed = false;
    look_for_index(x, k);
    if (!x->indexed) return;
    unsigned char *list = carom_pool_take(&x->r->m->memory, (size_t)count * size);
    if (!list) x->status = carom_fault_memory(x->r);
    if (!list) return;
    memcpy(list, *(void **)field, (size_t)count * size);
    *(void **)field = list;
    for (int i = 0; i < count && x->status == CAROM_OK; ++i) {
        families inner = *x;
        inner.record = list + (size_t)i * size;
        carom_key_fields(k->groups, bind_field, &inner);
        x->status = inner.status;
    }
}

static const key_group *const *groups_of(const section *s) {
    const carom_key *k;
    for (int i = 0; (k = carom_key_at(&carom_key_top, i)); ++i)
        if (strcmp(k->name, s->key) == 0) break;
    return k->groups;
}

// -- bodies that share a record ---------------------------------------------------------------------------------------

typedef struct sharing { const carom_mech_body *of; const carom_indices *indices; bool good; } sharing;

static void look_at_field(void *user, const carom_key *k) {
    sharing *x = user;
    static const size_t evaluated[] = {offsetof(carom_mech_body, mass),     offsetof(carom_mech_body, inertia),
                                       offsetof(carom_mech_body, at),       offsetof(carom_mech_body, angle),
                                       offsetof(carom_mech_body, velocity), offsetof(carom_mech_body, spin)};
    if (carom_key_is_record(k)) {
        families inner = {.indices = x->indices, .record = (void *)(uintptr_t)x->of};
        look_for_index(&inner, k);
        x->good = x->good && !inner.indexed;
        return;
    }
    const carom_datum *d = carom_key_field(x->of, k->at);
    bool at_once = false;
    for (size_t i = 0; i < sizeof evaluated / sizeof *evaluated; ++i) at_once = at_once || k->at == evaluated[i];
    // without indices: is a member of a family named there?
    x->good = x->good && (at_once ? !uses(d, NULL) : !uses(d, x->indices));
}

// Do members differ in numbers alone that are evaluated when their body is derived?
static bool may_share(const section *s, const carom_mech_body *of, const carom_indices *indices) {
    sharing x = {.of = of, .indices = indices, .good = true};
    carom_key_fields(groups_of(s), look_at_field, &x);
    return x.good;
}

// Those of body i; NULL: it has a record of its own.
static const struct body_run *run_of(const resolver *r, int i) {
    const struct body_run *runs = r->m->runs;
    int a = 0, b = r->m->nruns;
    while (a < b) {
        const int middle = (a + b) / 2;
        if (runs[middle].first + runs[middle].count <= i) a = middle + 1;
        else b = middle;
    }
    return a < r->m->nruns && runs[a].first <= i ? &runs[a] : NULL;
}

const carom_mech_body *carom_body_given(const resolver *r, int i) {
    const struct body_run *run = run_of(r, i);
    if (!run) return &r->mech->bodies[i];
    number(run->of, i - run->first, run->indices->at);
    run->record->name.text = member_name(run->of, i - run->first);
    run->record->name.length = strlen(run->record->name.text);
    return run->record;
}

const char *carom_body_named(const resolver *r, int i) {
    const struct body_run *run = run_of(r, i);
    return run ? member_name(run->of, i - run->first) : r->mech->bodies[i].name.text;
}

const carom_datum *carom_body_written(const resolver *r, int i) {
    const struct body_run *run = run_of(r, i);
    return run ? &run->name : &r->mech->bodies[i].name;
}

// -- families where shapes are listed ---------------------------------------------------------------------------------

// Names of families in a list become the names of their members; `apart`: each family a list of its own.
static carom_status spread(families *x, carom_datum *d, bool apart) {
    long count = 0;
    bool any = false;
    for (const carom_datum *c = carom_ones(d); c != carom_ones_end(d); ++c) {
        const family *f = c->kind == CAROM_TEXT ? find(x, c->text, c->length) : NULL;
        any = any || f || (apart && c->kind == CAROM_LIST);
        count += f && !apart ? members(f) : 1;
    }
    if (!any) return CAROM_OK;
    carom_datum *item = carom_pool_take(&x->r->brief, (size_t)count * sizeof *item), *next = item;
    if (!item) return carom_fault_memory(x->r);
    for (const carom_datum *c = carom_ones(d); c != carom_ones_end(d); ++c) {
        family *f = c->kind == CAROM_TEXT ? find(x, c->text, c->length) : NULL;
        if (apart && (f || c->kind == CAROM_LIST)) {
            *next = *c;
            CAROM_TRY(spread(x, next, false));
            ++next;
            continue;
        }
        if (!f) *next++ = *c;
        for (int k = 0; f && k < members(f); ++k) {
            *next = *c;
            next->text = name_of(x, f, k);
            if (!next->text) return carom_fault_memory(x->r);
            next->length = strlen(next->text);
            ++next;
        }
    }
    d->kind = CAROM_LIST;
    d->item = item;
    d->count = (int)count;
    return CAROM_OK;
}

// ignore: [[A, B], ...], each pair as `between` has it.
static carom_status spread_ignored(families *x, carom_datum *d) {
    if (d->kind != CAROM_LIST || d->count == 0) return CAROM_OK;
    carom_datum *item = carom_pool_take(&x->r->brief, (size_t)d->count * sizeof *item);
    if (!item) return carom_fault_memory(x->r);
    memcpy(item, d->item, (size_t)d->count * sizeof *item);
    d->item = item;
    for (int i = 0; i < d->count; ++i)
        if (item[i].kind == CAROM_LIST) CAROM_TRY(spread(x, &item[i], true));
    return CAROM_OK;
}

static carom_status spread_contact(families *x, carom_mech_contact *c) {
    struct given_lists *given = carom_pool_take(&x->r->brief, sizeof *given);
    if (!given) return carom_fault_memory(x->r);
    *given = (struct given_lists){c->between, c->among, c->ignore, x->r->given};
    x->r->given = given;
    CAROM_TRY(spread_ignored(x, &c->ignore));
    if (carom_given(&c->among)) CAROM_TRY(spread(x, &c->among, false));
    return c->between.kind == CAROM_LIST ? spread(x, &c->between, true) : CAROM_OK;
}

// -- all --------------------------------------------------------------------------------------------------------------

static carom_status make_record(families *x, const section *s, const void *of, void *record) {
    memcpy(record, of, s->size);
    x->record = record;
    carom_key_fields(groups_of(s), bind_field, x);
    if (x->status != CAROM_OK) return x->status;
    return strcmp(s->key, "contacts") == 0 ? spread_contact(x, record) : CAROM_OK;
}

static carom_status name_member(families *x, family *f, int k, const carom_datum *name, carom_datum *to) {
    *to = *name;
    to->text = name_of(x, f, k);
    if (!to->text) return carom_fault_memory(x->r);
    to->length = strlen(to->text);
    return CAROM_OK;
}

// One record for all members.
static carom_status make_shared(families *x, const section *s, family *f, const carom_datum *name,
                                carom_indices *indices, const void *each, carom_mech_body *to, int first) {
    resolver *r = x->r;
    const int n = members(f);
    number(f, n - 1, indices->at);
    x->indices = indices;
    CAROM_TRY(make_record(x, s, each, to));
    x->indices = NULL;
    CAROM_TRY(name_member(x, f, 0, name, &to->name));
    r->m->runs[r->m->nruns++] = (struct body_run){first, n, to, *name, indices, f};
    return CAROM_OK;
}

// Members of a family, from record `first` of the section on, which `to` is.
static carom_status make_family(families *x, const section *s, family *f, const void *of, unsigned char *to,
                                int first) {
    resolver *r = x->r;
    const carom_datum *name = of, *repeat = datum_at(of, s->repeat), *index = datum_at(of, s->index);
    const void *each = *(void *const *)carom_key_field(of, s->member);
    const char *names[3] = {NULL};
    if (!each)
        return carom_fault(r, name, 0, "the family '%.60s' has nothing to repeat; add `%s: {...}`", f->name, s->each);
    CAROM_TRY(read_index(r, repeat, index, f, names));
    const carom_indices any = {.n = f->n, .name = {names[0], names[1], names[2]}};
    const bool shared = strcmp(s->key, "bodies") == 0 && may_share(s, each, &any);
    carom_indices *indices = carom_pool_take(&r->m->memory, (size_t)(shared ? 1 : members(f)) * sizeof *indices);
    if (!indices) return carom_fault_memory(r);
    *indices = any;
    if (shared) return make_shared(x, s, f, name, indices, each, (carom_mech_body *)(void *)to, first);
    for (int k = 0; k < members(f); ++k, to += s->size) {
        indices[k] = any;
        number(f, k, indices[k].at);
        x->indices = &indices[k];
        CAROM_TRY(make_record(x, s, each, to));
        CAROM_TRY(name_member(x, f, k, name, (carom_datum *)(void *)to));
    }
    x->indices = NULL;
    return CAROM_OK;
}

static carom_status make_section(families *x, carom_mech *whole, const section *s, family *f) {
    const carom_mech *from = x->r->mech;
    const unsigned char *old = records_of(from, s);
    const int n = count_of(from, s);
    long count = 0;
    int next = 0;
    for (int i = 0; i < n; ++i) count += datum_at(old + (size_t)i * s->size, s->repeat) ? members(&f[next++]) : 1;
    unsigned char *list = carom_pool_take(&x->r->m->memory, (size_t)(count ? count : 1) * s->size), *to = list;
    if (!list) return carom_fault_memory(x->r);
    next = 0;
    for (int i = 0; i < n; ++i) {
        const void *record = old + (size_t)i * s->size;
        const bool many = datum_at(record, s->repeat);
        CAROM_TRY(many ? make_family(x, s, &f[next], record, to, (int)((to - list) / (ptrdiff_t)s->size))
                       : make_record(x, s, record, to));
        to += (size_t)(many ? members(&f[next++]) : 1) * s->size;
    }
    *(void **)carom_key_field(whole, s->list) = list;
    *(int *)carom_key_field(whole, s->count) = (int)count;
    return CAROM_OK;
}

carom_status carom_derive_families(resolver *r) {
    int n = 0, first[SECTIONS + 1] = {0};
    for (int k = 0; k < SECTIONS; ++k) {
        first[k] = n;
        for (int i = 0; i < count_of(r->mech, &sections[k]); ++i)
            n += datum_at(records_of(r->mech, &sections[k]) + (size_t)i * sections[k].size, sections[k].repeat) != NULL;
    }
    if (n == 0) return CAROM_OK;
    family *list = carom_pool_take(&r->m->memory, (size_t)n * sizeof *list), *next = list;
    carom_mech *whole = carom_pool_take(&r->m->memory, sizeof *whole);
    r->m->runs = carom_pool_take(&r->m->memory, (size_t)n * sizeof *r->m->runs);
    if (!list || !whole || !r->m->runs) return carom_fault_memory(r);
    for (int k = 0; k < SECTIONS; ++k) {
        const section *s = &sections[k];
        for (int i = 0; i < count_of(r->mech, s); ++i) {
            const unsigned char *record = records_of(r->mech, s) + (size_t)i * s->size;
            const carom_datum *repeat = datum_at(record, s->repeat);
            if (!repeat) continue;
            next->name = ((const carom_datum *)record)->text;
            CAROM_TRY(carom_part_name(r, (const carom_datum *)record));
            CAROM_TRY(read_repeat(r, repeat, next++));
        }
    }
    families x = {.r = r, .list = list, .n = n, .status = CAROM_OK};
    *whole = *r->mech;
    for (int k = 0; k < SECTIONS; ++k) CAROM_TRY(make_section(&x, whole, &sections[k], list + first[k]));
    r->mech = whole;
    return CAROM_OK;
}

void carom_forget_brief(resolver *r) {
    carom_mech_contact *c = r->mech->contacts;
    for (const struct given_lists *of = r->given; of; of = of->next) ++c;
    for (const struct given_lists *of = r->given; of; of = of->next)
        --c, c->between = of->between, c->among = of->among, c->ignore = of->ignore;
    for (int i = 0; i < r->m->nfree; ++i) r->m->bodies[r->m->free_body[i]].R0 = NULL;
    carom_pool_free(&r->brief);
}

// -- bodies where shapes are listed -----------------------------------------------------------------------------------

/// Shapes of one body, or of the ground: names as `between` has them.
typedef struct shapes_of { carom_datum *item; int count; } shapes_of;

typedef struct owners {
    resolver *r;
    names named;     // of those that have more shapes than the one that is called like them
    shapes_of *list; // by index of these
    carom_mech_contact *contact;
} owners;

static bool belongs(const carom_mech_shape *s, const char *body) {
    return body ? carom_datum_is(&s->of, body) : !carom_given(&s->of);
}

static bool spell(owners *o, shapes_of *list, const char *body, const char *shape) {
    char text[200];
    const int length = snprintf(text, sizeof text, "%.80s%s%.80s", body, *body && *shape ? "." : "", shape);
    carom_datum *d = &list->item[list->count++];
    *d = (carom_datum){.kind = CAROM_TEXT, .length = (size_t)length};
    return (d->text = carom_pool_text(&o->r->m->memory, text, (size_t)length)) != NULL;
}

// body NULL: the ground
static carom_status list_shapes(owners *o, const carom_mech_body *body) {
    const carom_mech *x = o->r->mech;
    const char *called = body ? body->name.text : "ground";
    int count = body ? body->nshapes + (body->shape != NULL) : 0, others = body ? body->nshapes : 0;
    for (int i = 0; i < x->nshapes; ++i) {
        const bool is = belongs(&x->shapes[i], body ? called : NULL);
        if (is && strcmp(x->shapes[i].name.text, called) == 0) return CAROM_OK; // that shape alone is meant
        count += is, others += is;
    }
    if (others == 0 || carom_names_find(&o->named, called, strlen(called))) return CAROM_OK;
    shapes_of *list = &o->list[o->named.count];
    list->item = carom_pool_take(&o->r->m->memory, (size_t)count * sizeof *list->item);
    bool good = list->item && carom_names_add(&o->named, called, NAME_QUANTITY, o->named.count, 0);
    if (good && body && body->shape) good = spell(o, list, called, "");
    for (int i = 0; good && body && i < body->nshapes; ++i) good = spell(o, list, called, body->shapes[i].name.text);
    for (int i = 0; good && i < x->nshapes; ++i)
        if (belongs(&x->shapes[i], body ? called : NULL)) good = spell(o, list, "", x->shapes[i].name.text);
    return good ? CAROM_OK : carom_fault_memory(o->r);
}

static const shapes_of *owned_by(const owners *o, const carom_datum *d) {
    const name *n = d->kind == CAROM_TEXT ? carom_names_find(&o->named, d->text, d->length) : NULL;
    return n ? &o->list[n->index] : NULL;
}

// Copies of an owner's shapes at the place where it is named.
static carom_datum *put_shapes(const shapes_of *s, const carom_datum *at, carom_datum *to) {
    for (int i = 0; i < s->count; ++i) {
        *to = *at;
        to->text = s->item[i].text, to->length = s->item[i].length, to->aligned = false;
        ++to;
    }
    return to;
}

// Names of bodies in a list, or alone, become those of their shapes; `deep`: lists inside it, too.
static carom_status name_shapes(owners *o, carom_datum *d, bool deep) {
    long count = 0;
    bool any = false;
    for (const carom_datum *c = carom_ones(d); c != carom_ones_end(d); ++c) {
        const shapes_of *s = owned_by(o, c);
        any = any || s || (deep && c->kind == CAROM_LIST);
        count += s && !deep ? s->count : 1;
    }
    if (!any) return CAROM_OK;
    carom_datum *item = carom_pool_take(&o->r->m->memory, (size_t)count * sizeof *item), *to = item;
    if (!item) return carom_fault_memory(o->r);
    for (const carom_datum *c = carom_ones(d); c != carom_ones_end(d); ++c) {
        const shapes_of *s = owned_by(o, c);
        if (!deep && s) {
            to = put_shapes(s, c, to);
            continue;
        }
        *to = *c;
        if (deep && (s || c->kind == CAROM_LIST)) CAROM_TRY(name_shapes(o, to, false));
        ++to;
    }
    d->kind = CAROM_LIST;
    d->item = item;
    d->count = (int)count;
    return CAROM_OK;
}

// among: shapes of one body do not touch each other.
static carom_status ignore_own(owners *o, carom_mech_contact *c) {
    int more = 0;
    for (const carom_datum *d = carom_ones(&c->among); d != carom_ones_end(&c->among); ++d)
        more += owned_by(o, d) != NULL;
    const int old = carom_count(&c->ignore);
    carom_datum *item = carom_pool_take(&o->r->m->memory, ((size_t)old + 3 * (size_t)more) * sizeof *item),
                *pair = item + old + more;
    if (!item) return carom_fault_memory(o->r);
    if (old) memcpy(item, c->ignore.item, (size_t)old * sizeof *item);
    int n = old;
    for (const carom_datum *d = carom_ones(&c->among); d != carom_ones_end(&c->among); ++d) {
        if (!owned_by(o, d)) continue;
        item[n] = *d;
        item[n].kind = CAROM_LIST, item[n].item = pair, item[n].count = 2;
        pair[0] = pair[1] = *d;
        pair += 2, ++n;
    }
    if (n == old) return CAROM_OK;
    c->ignore = (carom_datum){.kind = CAROM_LIST, .item = item, .count = n, .line = c->name.line, .text = ""};
    return CAROM_OK;
}

static carom_status name_shapes_of(owners *o, carom_mech_contact *c) {
    if (carom_given(&c->among)) {
        CAROM_TRY(ignore_own(o, c));
        CAROM_TRY(name_shapes(o, &c->among, false));
    }
    if (c->between.kind == CAROM_LIST) CAROM_TRY(name_shapes(o, &c->between, true));
    if (c->ignore.kind != CAROM_LIST || c->ignore.count == 0) return CAROM_OK;
    carom_datum *item = carom_pool_take(&o->r->m->memory, (size_t)c->ignore.count * sizeof *item);
    if (!item) return carom_fault_memory(o->r);
    memcpy(item, c->ignore.item, (size_t)c->ignore.count * sizeof *item);
    c->ignore.item = item;
    for (int i = 0; i < c->ignore.count; ++i)
        if (item[i].kind == CAROM_LIST) CAROM_TRY(name_shapes(o, &item[i], true));
    return CAROM_OK;
}

static carom_status derive_owners(owners *o) {
    resolver *r = o->r;
    const carom_mech *x = r->mech;
    carom_mech *whole = carom_pool_take(&r->m->memory, sizeof *whole);
    o->list = carom_pool_take(&r->m->memory, ((size_t)x->nbodies + 1) * sizeof *o->list);
    o->contact = carom_pool_take(&r->m->memory, (size_t)x->ncontacts * sizeof *o->contact);
    if (!whole || !o->list || !o->contact) return carom_fault_memory(r);
    CAROM_TRY(list_shapes(o, NULL));
    for (int i = 0; i < x->nbodies; ++i)
        if (carom_body_given(r, i)->nshapes || x->nshapes) CAROM_TRY(list_shapes(o, carom_body_given(r, i)));
    if (o->named.count == 0) return CAROM_OK;
    memcpy(o->contact, x->contacts, (size_t)x->ncontacts * sizeof *o->contact);
    for (int i = 0; i < x->ncontacts; ++i) CAROM_TRY(name_shapes_of(o, &o->contact[i]));
    *whole = *x;
    whole->contacts = o->contact;
    r->mech = whole;
    return CAROM_OK;
}

carom_status carom_derive_owners(resolver *r) {
    bool any = r->mech->nshapes > 0;
    for (int i = 0; i < r->mech->nbodies && !any; ++i) any = carom_body_given(r, i)->nshapes > 0;
    if (!any || r->mech->ncontacts == 0) return CAROM_OK;
    owners o = {.r = r};
    const carom_status status = derive_owners(&o);
    carom_names_free(&o.named);
    return status;
}
