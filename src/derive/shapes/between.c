// between.c: `between` and `among`: which shapes of the model may touch, and whether their pairs are there for good or
// come and go.
#include "base/grow.h"
#include "derive/soft.h"
#include "derive/shapes/shapes.h"
#include <string.h>

enum { MOST_CONTACTS = 20000 }; // time and memory of their expressions: docs/limits.md
static const char TOO_MANY[] =
    "too many %s of shapes that bend, or are on bodies with `motion`; the maximum is %d.  Drive such a body by a joint "
    "with `motion` instead";

static bool room_for_one(carom_model *m) {
    if (m->npairs < m->pair_room) return true;
    const int room = 2 * m->pair_room + 16;
    pair *more = carom_pool_take(&m->memory, (size_t)room * sizeof *more);
    if (!more) return false;
    if (m->npairs) memcpy(more, m->pairs, (size_t)m->npairs * sizeof *more);
    m->pairs = more;
    m->pair_room = room;
    return true;
}

static carom_status add(resolver *r, const carom_mech_contact *entry, const carom_datum *b, const shape *A,
                        const shape *B, int *count) {
    carom_model *m = r->m;
    if (carom_patch_pair(A, B))
        return carom_fault(r, b, 0,
                           "'%s' is %s %s, which touches shapes of the ground and of bodies that move freely, in "
                           "`among: [A, B, ...]` or `between: [A, B]` where A and B may be lists",
                           (carom_patch_pair(A, A) ? A : B)->name,
                           carom_shape_article((carom_patch_pair(A, A) ? A : B)->kind),
                           carom_shape_word((carom_patch_pair(A, A) ? A : B)->kind));
    const int n = carom_pair_formulas(A, B);
    if (n == 0 && carom_pieces_never(A, B)) return CAROM_OK;
    if (n == 0)
        return carom_fault(r, b, 0, "contact between %s %s and %s %s is not supported", carom_shape_article(A->kind),
                           carom_shape_word(A->kind), carom_shape_article(B->kind), carom_shape_word(B->kind));
    if (*count + n > MOST_CONTACTS)
        return carom_fault(r, &entry->name, 0, TOO_MANY, "contacts", MOST_CONTACTS);
    pair_own *own = carom_pair_own(m, (rubbing){0});
    if (!own || !room_for_one(m)) return carom_fault_memory(r);
    const pair *last = m->npairs ? &m->pairs[m->npairs - 1] : NULL;
    const int number = last ? last->entry_number + (last->entry != entry) : 0;
    m->pairs[m->npairs++] =
        (pair){.A = A, .B = B, .entry = entry, .entry_number = number, .count = n, .own = own};
    *count += n;
    return CAROM_OK;
}

// Two skins: nodes of each on pieces of the other, and in space pieces against pieces.
static carom_status add_skins(resolver *r, const carom_mech_contact *entry, const carom_datum *b, const shape *A,
                              const shape *B, int *count) {
    for (int i = 0; i < 2 * A->nodes - 1; ++i)
        for (int j = 0; j < 2 * B->nodes - 1; ++j) {
            const shape *a = &A->part[i], *c = &B->part[j];
            const bool node = i < A->nodes, other = j < B->nodes;
            if ((node && other) || (!node && !other && A->space != SPATIAL) ||
                (!carom_shape_moves(r, a) && !carom_shape_moves(r, c)))
                continue;
            CAROM_TRY(add(r, entry, b, a, c, count));
        }
    return CAROM_OK;
}

// A skin against a shape that is convex from where its nodes are: the nodes.  Else nodes on the shape, and corners and
// edges of the shape on elements.
static carom_status add_skin(resolver *r, const carom_mech_contact *entry, const carom_datum *b, const shape *A,
                             const shape *B, int *count) {
    const bool first = A->part != NULL;
    const shape *skin = first ? A : B, *other = first ? B : A;
    const bool round = other->kind == SHAPE_POINT || other->kind == SHAPE_ROUND;
    const int before = *count;
    if (other->part) CAROM_TRY(add_skins(r, entry, b, A, B, count));
    for (int i = 0; i < 2 * skin->nodes - 1 && !other->part; ++i) {
        const shape *part = &skin->part[i];
        if ((i < skin->nodes ? round : !carom_shape_finite(other)) ||
            (!carom_shape_moves(r, part) && !carom_shape_moves(r, other)))
            continue;
        CAROM_TRY(add(r, entry, b, first ? part : other, first ? other : part, count));
    }
    if (*count > before) return CAROM_OK;
    return carom_fault(r, b, 0, "neither '%s' nor '%s' can move; remove this contact", A->name, B->name);
}

static carom_status is_listed(resolver *r, const carom_datum *list, const shape *s, bool *is) {
    *is = false;
    for (const carom_datum *c = carom_ones(list); c != carom_ones_end(list); ++c) {
        const shape *one = NULL;
        CAROM_TRY(carom_find_shape(r, c, &one));
        *is = *is || one == s;
    }
    return CAROM_OK;
}

// Does the entry ignore this pair?
static carom_status is_ignored(resolver *r, const carom_mech_contact *entry, const shape *A, const shape *B,
                               bool *ignored) {
    *ignored = false;
    for (int i = 0; i < carom_count(&entry->ignore); ++i) {
        const carom_datum *both = entry->ignore.item[i].item;
        bool is[4];
        for (int k = 0; k < 4; ++k) CAROM_TRY(is_listed(r, &both[k & 1], k & 2 ? B : A, &is[k]));
        *ignored = *ignored || (is[0] && is[3]) || (is[1] && is[2]);
    }
    return CAROM_OK;
}

// A shape that is there twice would have each contact twice.
static carom_status check_once(resolver *r, const carom_datum *list) {
    names seen = {0};
    carom_status status = CAROM_OK;
    for (const carom_datum *c = carom_first(list); c != carom_end(list) && status == CAROM_OK; ++c) {
        if (c->kind != CAROM_TEXT) continue;
        if (carom_names_find(&seen, c->text, c->length)) status = carom_listed_twice(r, c);
        else if (!carom_names_add(&seen, c->text, NAME_QUANTITY, 0, 0)) status = carom_fault_memory(r);
    }
    carom_names_free(&seen);
    return status;
}

static carom_status add_pair(resolver *r, const carom_mech_contact *entry, const carom_datum *a, const carom_datum *b,
                             int *count) {
    const shape *A = NULL, *B = NULL;
    CAROM_TRY(carom_find_shape(r, a, &A));
    CAROM_TRY(carom_find_shape(r, b, &B));
    bool ignored;
    CAROM_TRY(is_ignored(r, entry, A, B, &ignored));
    if (ignored) return CAROM_OK;
    CAROM_TRY(carom_pair_check(r, b, A, B));
    if (A->part || B->part) return add_skin(r, entry, b, A, B, count);
    const int pieces_A = carom_shape_piece(A) ? A->parts : 0, pieces_B = carom_shape_piece(B) ? B->parts : 0;
    for (int i = 0; i <= pieces_A; ++i)
        for (int k = 0; k <= pieces_B; ++k) CAROM_TRY(add(r, entry, b, A + i, B + k, count));
    return CAROM_OK;
}

// What becomes of a pair of shapes a and b; *count: of contacts so far.
typedef carom_status (*pair_function)(resolver *r, const carom_mech_contact *entry, const carom_datum *a,
                                      const carom_datum *b, int *count);

// between: [A, B], either may be a list: every one of the first with every one of the second; three and more: each
// with its neighbour.
static carom_status read_between(resolver *r, const carom_mech_contact *entry, const carom_datum *list,
                                 pair_function each, int *count) {
    if (list->kind != CAROM_LIST || list->count < 2)
        return carom_fault(r, list, 0, "between is a list of two shapes: between: [ball, floor]");
    for (const carom_datum *a = list->item; a != carom_end(list); ++a)
        if (a->kind == CAROM_LIST) CAROM_TRY(check_once(r, a));
    for (const carom_datum *a = list->item, *b = a + 1; b != carom_end(list); ++a, ++b)
        for (const carom_datum *x = carom_ones(a); x != carom_ones_end(a); ++x)
            for (const carom_datum *y = carom_ones(b); y != carom_ones_end(b); ++y)
                CAROM_TRY(each(r, entry, x, y, count));
    return CAROM_OK;
}

// among: [A, B, C, ...]: each with each.
static carom_status read_among(resolver *r, const carom_mech_contact *entry, const carom_datum *list,
                               pair_function each, int *count) {
    if (list->kind == CAROM_TEXT)
        return carom_fault(r, list, 0,
                           "among is a list of shapes, each of which may touch each other one: among: [a, b, c], or a "
                           "family; unknown family '%.60s'",
                           list->text);
    if (list->kind != CAROM_LIST || list->count < 2)
        return carom_fault(r, list, 0,
                           "among is a list of shapes, each of which may touch each other one: among: [a, b, c]");
    CAROM_TRY(check_once(r, list));
    for (const carom_datum *x = carom_first(list); x != carom_end(list); ++x)
        for (const carom_datum *y = x + 1; y != carom_end(list); ++y) CAROM_TRY(each(r, entry, x, y, count));
    return CAROM_OK;
}

// -- contacts with columns of their own ------------------------------------------------------------------------------

// Does the name have the number of a member of a family: NAME.3, NAME.3.SHAPE?
static bool numbered(const char *name) {
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        const size_t n = strspn(dot + 1, "0123456789");
        if (n > 0 && (dot[1 + n] == 0 || dot[1 + n] == '.')) return true;
    }
    return false;
}

static bool some_numbered(const carom_datum *list) {
    for (const carom_datum *c = carom_ones(list); c != carom_ones_end(list); ++c)
        if (c->kind == CAROM_LIST ? some_numbered(c) : c->kind == CAROM_TEXT && numbered(c->text)) return true;
    return false;
}

// Pairs of pieces of outlines and members whose contacts have columns: the page draws forces where they act by them.
enum { MOST_FEATURES = 64 };
// Pairs of an entry whose contacts have columns where they come and go: a list of a thousand names makes half a million
// pairs, and five million columns.
enum { MOST_NAMED = 500 };

// Are its contacts corners of two shapes, as many as these have whatever else the model holds?  Those of members,
// outlines, meshes and boxes in space against each other are features of finer ones, or found by search.
static bool has_corners(const shape *A, const shape *B) {
    const shape *const both[2] = {A, B};
    for (int i = 0; i < 2; ++i)
        if (both[i]->member || both[i]->part || both[i]->parts || carom_shape_piece(both[i])) return false;
    return !carom_patch_listed(A, B);
}

// A pair that comes and goes: its contacts are numbered as if it were always there.
static carom_status number_pair(resolver *r, const carom_mech_contact *entry, const carom_datum *a,
                                const carom_datum *b, int *count) {
    struct near_pairs *x = r->m->near;
    const shape *A = NULL, *B = NULL;
    bool ignored;
    CAROM_TRY(carom_find_shape(r, a, &A));
    CAROM_TRY(carom_find_shape(r, b, &B));
    CAROM_TRY(is_ignored(r, entry, A, B, &ignored));
    if (ignored || carom_patch_pair(A, B)) return CAROM_OK;
    const int pieces_A = carom_shape_piece(A) ? A->parts : 0, pieces_B = carom_shape_piece(B) ? B->parts : 0;
    const bool swapped = carom_near_swapped(A, B);
    for (int i = 0; i <= pieces_A; ++i)
        for (int k = 0; k <= pieces_B; ++k) {
            const int n = carom_pair_formulas(A + i, B + k), a = (int)(A + i - r->m->shapes),
                      b = (int)(B + k - r->m->shapes);
            for (int c = 0; c < n && !carom_patch_listed(A, B); ++c) {
                if (!CAROM_GROW(x->named, x->nnamed)) return carom_fault_memory(r);
                x->named[x->nnamed++] = (near_named){.rule = x->nrules - 1,
                                                     .a = swapped ? b : a,
                                                     .b = swapped ? a : b,
                                                     .part = swapped ? carom_pair_part(A + i, B + k, c) : c,
                                                     .number = *count + c + 1,
                                                     .own = c,
                                                     .swapped = swapped};
            }
            *count += n;
        }
    return CAROM_OK;
}

static carom_status number_contacts(resolver *r, const carom_mech_contact *entry, const carom_datum *list,
                                    const carom_datum *each, bool shown) {
    struct near_pairs *x = r->m->near;
    const int from = x->nnamed;
    int count = 0, pairs = 0;
    CAROM_TRY(list ? read_between(r, entry, list, number_pair, &count)
                   : read_among(r, entry, each, number_pair, &count));
    for (int i = from; i < x->nnamed; ++i)
        pairs += i == from || x->named[i].a != x->named[i - 1].a || x->named[i].b != x->named[i - 1].b;
    for (int i = from; i < x->nnamed; ++i) {
        const near_named *c = &x->named[i];
        x->named[i].shown = shown && (pairs <= MOST_FEATURES || has_corners(x->shape[c->a], x->shape[c->b]));
    }
    if (count == 1 && x->nnamed && x->named[x->nnamed - 1].rule == x->nrules - 1) x->named[x->nnamed - 1].number = 0;
    return CAROM_OK;
}

// Pieces of the shape that is called this; 1 of all but outlines.  What is wrong with one is said elsewhere.
static long pieces_of(resolver *r, const carom_mech_shape *x) {
    int n = 1;
    return carom_outline_given(x) && carom_outline_parts(r, x, &n) != CAROM_OK ? 1 : n;
}

static long pieces_called(resolver *r, const carom_datum *d) {
    const carom_mech *x = r->mech;
    long sum = 0;
    for (const carom_datum *c = carom_ones(d); d->kind == CAROM_LIST && c != carom_ones_end(d); ++c)
        sum += pieces_called(r, c);
    if (d->kind == CAROM_LIST) return sum;
    if (d->kind != CAROM_TEXT) return 1;
    for (int i = 0; i < x->nshapes; ++i)
        if (strcmp(x->shapes[i].name.text, d->text) == 0) return pieces_of(r, &x->shapes[i]);
    for (int i = 0; i < x->nbodies; ++i) {
        const carom_mech_body *b = carom_body_given(r, i);
        const size_t n = b->name.length;
        if (b->shape && strcmp(b->name.text, d->text) == 0) return pieces_of(r, b->shape);
        for (int k = 0; k < b->nshapes; ++k)
            if (strncmp(b->name.text, d->text, n) == 0 && d->text[n] == '.' &&
                strcmp(b->shapes[k].name.text, d->text + n + 1) == 0)
                return pieces_of(r, &b->shapes[k]);
    }
    return 1;
}

static bool some_bodies_with(const resolver *r, bool (*given)(const carom_mech_shape *)) {
    for (int i = 0; i < r->mech->nbodies; ++i) {
        const carom_mech_body *b = carom_body_given(r, i);
        if (b->shape && given(b->shape)) return true;
        for (int k = 0; k < b->nshapes; ++k)
            if (given(&b->shapes[k])) return true;
    }
    return false;
}

static bool some_outlines(const resolver *r) {
    for (int i = 0; i < r->mech->nshapes; ++i)
        if (carom_outline_given(&r->mech->shapes[i])) return true;
    return some_bodies_with(r, carom_outline_given);
}

// Pairs of shapes, of outlines pairs of their pieces.
static long count_pairs(resolver *r, const carom_mech_contact *entry, bool outlines) {
    const carom_datum *list = &entry->between;
    long sum = 0;
    if (entry->among.kind == CAROM_LIST && !outlines) return (long)entry->among.count * (entry->among.count - 1) / 2;
    if (entry->among.kind == CAROM_LIST) {
        for (int i = 0; i < entry->among.count; ++i)
            for (int k = 0; k < i; ++k)
                sum += pieces_called(r, &entry->among.item[i]) * pieces_called(r, &entry->among.item[k]);
        return sum;
    }
    if (list->kind != CAROM_LIST || list->count < 2) return 0;
    for (const carom_datum *a = list->item, *b = a + 1; b != carom_end(list); ++a, ++b)
        sum += outlines ? pieces_called(r, a) * pieces_called(r, b)
                        : (long)(a->kind == CAROM_LIST ? a->count : 1) * (b->kind == CAROM_LIST ? b->count : 1);
    return sum;
}

// A box in space: two of them have 25 contacts.
static bool box_given(const carom_mech_shape *x) {
    return carom_given(&x->size) && carom_datum_is(x->size.key, "box") && x->size.kind == CAROM_LIST &&
           x->size.count == 3;
}

// one of its shapes; NULL: any of them
static bool has_searched(const carom_mech_body *b, const char *name, size_t length) {
    for (int k = 0; k < b->nshapes; ++k)
        if (carom_patch_given(&b->shapes[k]) &&
            (!name || (b->shapes[k].name.length == length && memcmp(b->shapes[k].name.text, name, length) == 0)))
            return true;
    return false;
}

// Names of what has a shape whose contacts are found by search: bodies by their number, shapes of the ground and of
// members by -1.
static bool name_searched(const resolver *r, names *found) {
    const carom_mech *x = r->mech;
    for (int i = 0; i < x->nshapes; ++i)
        if (carom_patch_given(&x->shapes[i]) && !carom_names_add(found, x->shapes[i].name.text, NAME_QUANTITY, -1, 0))
            return false;
    for (int i = 0; i < x->nbodies; ++i) {
        const carom_mech_body *b = carom_body_given(r, i);
        if (((b->shape && carom_patch_given(b->shape)) || has_searched(b, NULL, 0)) &&
            !carom_names_add(found, b->name.text, NAME_QUANTITY, i, 0))
            return false;
    }
    return true;
}

// Does the datum name one of them: SHAPE, BODY or BODY.SHAPE?
static bool names_searched(const resolver *r, const names *found, const carom_datum *d) {
    for (int i = 0; d->kind >= CAROM_LIST && i < d->count; ++i)
        if (names_searched(r, found, &d->item[i])) return true;
    if (d->kind != CAROM_TEXT) return false;
    const name *n = carom_names_find(found, d->text, d->length);
    const carom_mech_shape *own = n && n->index >= 0 ? carom_body_given(r, n->index)->shape : NULL;
    if (n && (n->index < 0 || (own && carom_patch_given(own)))) return true;
    for (size_t dot = 1; dot + 1 < d->length; ++dot)
        if (d->text[dot] == '.' && (n = carom_names_find(found, d->text, dot)) && n->index >= 0 &&
            has_searched(carom_body_given(r, n->index), d->text + dot + 1, d->length - dot - 1))
            return true;
    return false;
}

static bool some_searched(const resolver *r) {
    const carom_mech *x = r->mech;
    names found = {0};
    bool some = !name_searched(r, &found); // without memory: others will say so
    for (int i = 0; i < x->ncontacts && found.count && !some; ++i)
        some = names_searched(r, &found, &x->contacts[i].between) || names_searched(r, &found, &x->contacts[i].among);
    carom_names_free(&found);
    return some;
}

static bool some_boxes(const resolver *r) { return some_bodies_with(r, box_given); }

// Bodies of a list alone fall asleep.
static bool some_sleep(const resolver *r) {
    const carom_datum *sleep = carom_given(&r->mech->sleep);
    return sleep && !carom_datum_is(sleep, "0") && !r->m->written;
}

bool carom_pairs_many(resolver *r) {
    const bool outlines = some_outlines(r);
    long total = 0;
    for (int i = 0; i < r->mech->ncontacts; ++i) total += count_pairs(r, &r->mech->contacts[i], outlines);
    const long most = r->m->written ? MOST_CONTACTS : carom_pairs_written(some_boxes(r));
    return total > most || some_searched(r) || (total > 0 && some_sleep(r));
}

static carom_status read_sleep(resolver *r, bool many) {
    const carom_datum *sleep = carom_given(&r->mech->sleep);
    if (!sleep) return CAROM_OK;
    CAROM_TRY(carom_resolve_number(r, sleep, "sleep", &r->m->sleep));
    if (!(r->m->sleep >= 0))
        return carom_fault(r, sleep, 0,
                           "sleep is %g; it is the speed below which bodies fall asleep, and must not be negative",
                           r->m->sleep);
    if (!many) r->m->sleep = 0; // carom_model_examine() says so, or it is a model without motion
    return CAROM_OK;
}

// Contacts that expressions name, or that must know a third body, are written out, where formulas exist.
static carom_status find_written(resolver *r, bool *written) {
    names searched = {0};
    CAROM_TRY(carom_entries_named(r, written));
    const bool good = name_searched(r, &searched);
    for (int i = 0; i < r->mech->ncontacts && good; ++i) {
        const carom_mech_contact *c = &r->mech->contacts[i];
        if (written[i] && (count_pairs(r, c, false) > MOST_CONTACTS || names_searched(r, &searched, &c->between) ||
                           names_searched(r, &searched, &c->among)))
            written[i] = false;
    }
    carom_names_free(&searched);
    return good ? CAROM_OK : carom_fault_memory(r);
}

// `among` of entry i is a family, of one member as it happens: it has no pair.  A list that is written with one shape
// is a mistake.
static bool lonely(const resolver *r, int i) {
    const carom_datum *each = &r->mech->contacts[i].among;
    const struct given_lists *of = r->given;
    if (!of || each->kind != CAROM_LIST || each->count != 1) return false;
    for (int k = r->mech->ncontacts - 1; k > i; --k) of = of->next;
    return of->among.kind == CAROM_TEXT || strcmp(carom_first(&of->among)->text, each->item->text) != 0;
}

carom_status carom_derive_pairs(resolver *r, int *count) {
    carom_model *m = r->m;
    const bool many = carom_pairs_many(r);
    CAROM_TRY(read_sleep(r, many));
    bool *written = carom_pool_take(&m->memory, (size_t)r->mech->ncontacts + 1);
    m->idle_entry = carom_pool_take(&m->memory, ((size_t)r->mech->ncontacts + 1) * sizeof *m->idle_entry);
    if (!written || !m->idle_entry) return carom_fault_memory(r);
    if (many) CAROM_TRY(find_written(r, written));
    for (int i = 0; i < r->mech->ncontacts; ++i) {
        const carom_mech_contact *entry = &r->mech->contacts[i];
        const carom_datum *list = carom_given(&entry->between), *each = carom_given(&entry->among);
        if (list && each)
            return carom_fault(r, each->key, 0,
                               "`between` and `among` are mutually exclusive; use two contact entries");
        if (!list && !each && carom_given(&entry->ignore))
            return carom_fault(r, entry->ignore.key, 0, "`ignore` requires `between` or `among`");
        if (!list && !each) continue;
        CAROM_TRY(carom_ignore_check(r, entry));
        CAROM_TRY(carom_part_name(r, &entry->name));
        if (lonely(r, i)) {
            if (!carom_contact_soft(entry)) m->idle_entry[m->nidle++] = entry->name.text;
            continue;
        }
        bool near = false;
        const bool named = !some_numbered(list ? list : each);
        if (many && !written[i]) CAROM_TRY(carom_near_read(r, entry, &near));
        if (near && count_pairs(r, entry, false) <= MOST_NAMED)
            CAROM_TRY(number_contacts(r, entry, list, each, named));
        if (near) continue;
        if (count_pairs(r, entry, false) > MOST_CONTACTS)
            return carom_fault(r, &entry->name, 0, TOO_MANY, "pairs", MOST_CONTACTS);
        const int from = m->npairs, before = *count;
        CAROM_TRY(list ? read_between(r, entry, list, add_pair, count) : read_among(r, entry, each, add_pair, count));
        if (m->npairs == from) return carom_pairs_never(r, entry);
        const bool few = m->npairs - from <= MOST_FEATURES;
        for (int k = from; k < m->npairs; ++k)
            m->pairs[k].named = named && (few || has_corners(m->pairs[k].A, m->pairs[k].B));
        for (int k = from, number = 1; k<m->npairs && * count> before + 1; number += m->pairs[k++].count)
            m->pairs[k].number = number;
    }
    if (m->near && m->near->nrules == 0) m->near = NULL;
    return CAROM_OK;
}
