// free.c: bodies that no expression knows.
//
// Where thousands of bodies touch (model/near.c), most of them are named nowhere but among those that touch: gravity
// and contacts move them, and nothing else.  Such a free body is numbers: no node of the graph, no instruction of the
// tape.  Its positions and velocities come after those of all others.  A body that an expression, a joint, a spring or
// a drawing names is derived as always.
#include "base/text.h"
#include "derive/bodies/body.h"
#include "derive/shapes/shapes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -- who is named -----------------------------------------------------------------------------------------------------

typedef struct marks {
    names of;      // bodies; or entries of `contacts` with shapes
    bool *named;   // by body or entry of the mechanism
    bool energies; // an expression asks for the energy of all
    const bool *entry; // by entry: it is named.  NULL: entries are looked for, by what is behind their names
} marks;

// Is it .gap, .slip, .force or .friction, or one of these behind a number?  (Slips of two directions have numbers.)
static bool of_contact(const char *rest, size_t length) {
    static const char *const parts[] = {"gap", "slip", "force", "friction"};
    size_t from = 1;
    while (from < length && carom_is_digit(rest[from])) ++from;
    if (from == 1 || from == length || rest[from] != '.') from = 0;
    for (int i = 0; i < 4; ++i) {
        const size_t n = strlen(parts[i]);
        if (length >= from + 1 + n && memcmp(rest + from + 1, parts[i], n) == 0) return true;
    }
    return false;
}

// Every name in a text, and all that it starts with: a.b.x may be x of a.b, or b.x of a.
static void mark_text(marks *k, const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        size_t end = i;
        while (end < length && carom_in_name(text[end])) ++end;
        for (size_t j = i + 1; j <= end; ++j) {
            if (j < end && text[j] != '.') continue;
            const name *n = carom_names_find(&k->of, text + i, j - i);
            if (n && (k->entry || of_contact(text + j, end - j))) k->named[n->index] = true;
        }
        static const char *const all[] = {"kinetic", "potential", "energy"};
        for (int w = 0; w < 3; ++w)
            k->energies = k->energies || (end - i == strlen(all[w]) && memcmp(text + i, all[w], end - i) == 0);
        i = end + 1;
    }
}

static void mark(marks *k, const carom_datum *d) {
    if (d->key && d->key->kind == CAROM_TEXT) mark_text(k, d->key->text, d->key->length);
    if (d->kind == CAROM_TEXT) mark_text(k, d->text, d->length);
    for (int i = 0; i < d->count && d->item; ++i) mark(k, &d->item[i]);
}

// Its texts, not its keys: `kinetic` is also a word of energies and of friction.
static void mark_values(marks *k, const carom_datum *d) {
    if (d->kind == CAROM_TEXT) mark_text(k, d->text, d->length);
    for (int i = 0; i < d->count && d->item; ++i) mark_values(k, &d->item[i]);
}

// All data of n records of `size` bytes, which consist of nothing else.
static void mark_records(marks *k, const void *records, int n, size_t size) {
    for (int i = 0; i < n; ++i)
        for (size_t f = 0; f < size / sizeof(carom_datum); ++f)
            mark(k, (const carom_datum *)(const void *)((const unsigned char *)records + (size_t)i * size) + f);
}

// Does this entry make pairs that come and go?  All its shapes belong to bodies that move freely or to the ground.
static bool comes_and_goes(const resolver *r, const marks *k, const carom_datum *list) {
    for (const carom_datum *c = carom_ones(list); c != carom_ones_end(list); ++c) {
        if (c->kind != CAROM_TEXT) return false;
        size_t length = c->length;
        const name *n = carom_names_find(&k->of, c->text, length);
        while (!n && length > 0) {
            while (length > 0 && c->text[--length] != '.') continue;
            n = length > 0 ? carom_names_find(&k->of, c->text, length) : NULL;
        }
        if (n && carom_body_given(r, n->index)->motion) return false;
        bool ground = false;
        for (int i = 0; !n && i < r->mech->nshapes && !ground; ++i)
            ground = carom_datum_is(&r->mech->shapes[i].name, c->text) && !carom_given(&r->mech->shapes[i].of);
        if (!n && !ground) return false;
    }
    return true;
}

static void mark_contact(const resolver *r, marks *k, const carom_mech_contact *of, bool named) {
    const carom_datum *const written[] = {&of->exists_while, &of->gap,   &of->slip,  &of->slip_rate,
                                          &of->point,        &of->side, &of->radius},
                             *two = carom_given(&of->between);
    for (size_t i = 0; i < sizeof written / sizeof *written; ++i) mark(k, written[i]);
    mark_values(k, &of->friction);
    if (!k->entry) return;
    const bool pairs = !named && two && two->kind == CAROM_LIST && two->count == 2,
               among = !named && of->among.kind == CAROM_LIST;
    if (two && !(pairs && comes_and_goes(r, k, two->item) && comes_and_goes(r, k, two->item + 1))) mark(k, two);
    if (carom_given(&of->among) && !(among && comes_and_goes(r, k, &of->among))) mark(k, &of->among);
}

static void mark_all(const resolver *r, marks *k) {
    const carom_mech *x = r->mech;
    const carom_datum *const maps[] = {&x->checks, &x->let, &x->forces, &x->constraints, &x->outputs, &x->exact};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; ++i) mark(k, maps[i]);
    const carom_datum *const energies[] = {x->energy ? &x->energy->kinetic : NULL,
                                           x->energy ? &x->energy->potential : NULL};
    for (int i = 0; i < 2; ++i)
        if (energies[i]) mark_values(k, energies[i]);
    if (x->defaults) mark_values(k, &x->defaults->friction);
    for (int i = 0; i < x->nmaterials; ++i) {
        mark_values(k, &x->materials[i].own.friction);
        for (int w = 0; w < x->materials[i].nwith; ++w) mark_values(k, &x->materials[i].with[w].friction);
    }
    mark_records(k, x->joints, x->njoints, sizeof *x->joints);
    for (int i = 0; i < x->njoints; ++i)
        if (x->joints[i].limits) mark_records(k, x->joints[i].limits, 1, sizeof *x->joints[i].limits);
    mark_records(k, x->ropes, x->nropes, sizeof *x->ropes);
    mark_records(k, x->springs, x->nsprings, sizeof *x->springs);
    mark_records(k, x->motors, x->nmotors, sizeof *x->motors);
    mark_records(k, x->loads, x->nloads, sizeof *x->loads);
    mark_records(k, x->states, x->nstates, sizeof *x->states);
    mark_records(k, x->controllers, x->ncontrollers, sizeof *x->controllers);
    mark_records(k, x->figures, x->nfigures, sizeof *x->figures);
    mark_records(k, x->touches, x->ntouches, sizeof *x->touches);
    for (int i = 0; i < x->ncontacts; ++i) mark_contact(r, k, &x->contacts[i], k->entry && k->entry[i]);
    for (int i = 0; i < x->nbodies; ++i) mark_values(k, &carom_body_given(r, i)->exists_while);
    for (const char *const *text = r->observe; text && *text; ++text) mark_text(k, *text, strlen(*text));
}

// Shapes of the list that do not belong to the body of this name.
static int count_others(const carom_datum *list, const char *body) {
    const size_t n = strlen(body);
    int others = 0;
    for (const carom_datum *c = carom_ones(list); c != carom_ones_end(list); ++c)
        others += c->kind == CAROM_TEXT &&
                  !(strncmp(c->text, body, n) == 0 && (c->text[n] == 0 || c->text[n] == '.'));
    return others;
}

// Is a direction of friction fixed in a body that some pair of the entry has nothing to do with?  Two bodies are all
// that a contact knows that comes and goes.
static bool is_of_another(const resolver *r, const carom_mech_contact *entry) {
    const carom_datum *friction = carom_given(&entry->friction), *two = carom_given(&entry->between),
                      *each = carom_given(&entry->among);
    if (!friction && r->mech->defaults) friction = carom_given(&r->mech->defaults->friction);
    const carom_datum *of = friction ? carom_datum_get(friction, "of") : NULL;
    bool known = false;
    for (int i = 0; of && of->kind == CAROM_TEXT && i < r->mech->nbodies && !known; ++i)
        known = strcmp(carom_body_named(r, i), of->text) == 0;
    if (!known) return false;
    if (each && each->kind == CAROM_LIST) return count_others(each, of->text) > 1;
    return two && two->kind == CAROM_LIST && two->count == 2 && count_others(&two->item[0], of->text) > 0 &&
           count_others(&two->item[1], of->text) > 0;
}

carom_status carom_entries_named(resolver *r, bool *named) {
    const carom_mech *x = r->mech;
    marks k = {.named = named};
    bool good = true;
    for (int i = 0; i < x->ncontacts && good; ++i) {
        const carom_mech_contact *c = &x->contacts[i];
        const bool pairs = carom_given(&c->between) || carom_given(&c->among);
        if (pairs && !carom_names_find(&k.of, c->name.text, c->name.length))
            good = carom_names_add(&k.of, c->name.text, NAME_QUANTITY, i, 0) != NULL;
    }
    if (good && k.of.count > 0) mark_all(r, &k);
    for (int i = 0; i < x->ncontacts; ++i) named[i] = named[i] || is_of_another(r, &x->contacts[i]);
    for (int i = 0; i < x->ntouches && good; ++i) { // `draw` says where they are: NAME or NAME.3
        const carom_datum *of = &x->touches[i].name;
        const char *dot = strchr(of->text, '.');
        const name *n = carom_names_find(&k.of, of->text, dot ? (size_t)(dot - of->text) : of->length);
        if (n) named[n->index] = true;
    }
    carom_names_free(&k.of);
    return good ? CAROM_OK : carom_fault_memory(r);
}

carom_status carom_free_find(resolver *r, bool *is_free) {
    const carom_mech *x = r->mech;
    bool *entry = calloc((size_t)x->ncontacts + 1, sizeof *entry);
    marks k = {.named = calloc((size_t)x->nbodies + 1, sizeof *k.named), .entry = entry};
    bool good = k.named != NULL && entry != NULL && carom_entries_named(r, entry) == CAROM_OK;
    for (int i = 0; i < x->nbodies && good; ++i) // a name that is there twice is a mistake of which others speak
        if (!carom_names_find(&k.of, carom_body_named(r, i), strlen(carom_body_named(r, i))))
            good = carom_names_add(&k.of, carom_body_named(r, i), NAME_QUANTITY, i, 0) != NULL;
    if (good) mark_all(r, &k);
    for (int i = 0; i < x->nbodies && good; ++i) {
        const carom_mech_body *b = carom_body_given(r, i);
        is_free[i] = !k.energies && !k.named[i] && !b->motion && carom_count(&b->points) == 0;
    }
    carom_names_free(&k.of);
    free(k.named), free(entry);
    return good ? CAROM_OK : carom_fault_memory(r);
}

// -- where they are ---------------------------------------------------------------------------------------------------

// Is a name of its positions and velocities another's?  Nobody looks for these by name: a body that is named is not
// free.
static carom_status check_columns(resolver *r, const body *b, names *bodies) {
    const name *twice = carom_names_find(bodies, b->name, strlen(b->name));
    free_names *all = r->m->free_names;
    for (const char *const *part = carom_body_columns[b->space == SPATIAL]; *part; ++part) {
        char text[140];
        const size_t length = (size_t)snprintf(text, sizeof text, "%.60s.%s", b->name, *part);
        const name *other = twice ? twice : carom_names_find(&r->m->names, text, length);
        if (other) return carom_body_name_taken(r, b, text, other);
        if (length >= all->stride) all->stride = length + 1;
    }
    return carom_names_add(bodies, b->name, NAME_VELOCITY, 0, b->place->line) ? CAROM_OK : carom_fault_memory(r);
}

static carom_status place_all(resolver *r, names *bodies) {
    carom_model *m = r->m;
    for (int i = 0; i < m->nbodies; ++i) {
        body *b = &m->bodies[i];
        const int spatial = b->space == SPATIAL, n = spatial ? 3 : 2, nv = spatial ? 6 : 3, nq = spatial ? 7 : 3;
        if (!b->free) continue;
        CAROM_TRY(check_columns(r, b, bodies));
        b->v = m->nv;
        b->orientation = m->nq + n;
        for (int k = 0; k < nv; ++k) m->given[m->nv] = true, m->v0[m->nv++] = b->start->v[k];
        for (int k = 0; k < nq; ++k) {
            m->velocity_of[m->nq] = k < n || !spatial ? b->v + k : -1;
            m->q0[m->nq++] = k < n ? b->r0[k] : b->start->orientation[k - n];
        }
        b->start = NULL;
        m->free_body[m->nfree++] = i;
    }
    return CAROM_OK;
}

carom_status carom_free_place(resolver *r) {
    names bodies = {0};
    r->m->free_body = carom_pool_take(&r->m->memory, (size_t)r->m->nbodies * sizeof *r->m->free_body);
    r->m->free_names = carom_pool_take(&r->m->memory, sizeof *r->m->free_names);
    const carom_status status = r->m->free_body && r->m->free_names ? place_all(r, &bodies) : carom_fault_memory(r);
    carom_names_free(&bodies);
    return status;
}

// -- how they move ----------------------------------------------------------------------------------------------------
